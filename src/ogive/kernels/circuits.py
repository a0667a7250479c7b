"""Kernels inside circuits of two people: what each of them enters, and the whole number that comes out.

The number is the one of `Kernel.scale`, so that a kernel says the same inside a circuit and at a curator. Distances are
of numbers in whole steps of their bounds. Orders and equality are of the numbers themselves: the 64 bits of a
floating-point number, in order, so that nothing is rounded and no bounds matter; of categories and of whole numbers
their places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.columns import Binning, Column, Domain
from ogive.crypto.circuits import Bit, Signed, Unsigned
from ogive.crypto.circuits.arithmetic import Number, add, all_of, equal, less
from ogive.crypto.circuits.kernels import auc_half, auc_strict, collision, gini, kendall, squared_difference
from ogive.errors import UnsupportedError
from ogive.kernels.base import Kernel
from ogive.kernels.equality import Equal, Untied
from ogive.kernels.exact import steps
from ogive.kernels.labeled import ScoreOrder
from ogive.kernels.numbers import AbsoluteDifference, HalfSquare, PairMeanKernel
from ogive.kernels.ranks import Greater, SignProduct

Bits = NDArray[np.bool_]
Float64 = NDArray[np.float64]
Person = tuple[Unsigned, ...]
"""What one of the two entered, a number for each column."""

ORDERED_BITS = 64
"""Bits of a floating-point number that is only compared."""


@dataclass(frozen=True)
class Wiring:
    """How the kernels of one type are computed.

    Fields:
        steps: Whether numbers enter in whole steps of their bounds, and not as they are.
        build: From the kernel and what the first and the second person entered, the whole number.
        wholes: All whole numbers that there are, where they are two or three, in the order of randomized responses;
            None where there are more.
        digits: Where there are more, k of numbers from 0 to 2^k, from the bits of the steps.
    """

    steps: bool
    build: Callable[[Any, Person, Person], Number | Bit]
    wholes: Callable[[Any], tuple[int, ...] | None]
    digits: Callable[[int], int] = int


def _score_order(kernel: ScoreOrder, left: Person, right: Person) -> Number | Bit:
    (score, label), (other, others) = left, right
    [ours], [theirs] = label.bits, others.bits
    one_of_each = ours ^ theirs
    # the positive's score is the greater one: where the left is positive if the right's is less
    rises = one_of_each & ~equal(score, other) & (less(other, score) ^ theirs)
    if kernel.ties == "strict":
        return rises
    return Unsigned((one_of_each & equal(score, other), rises))


def _of_ties(kernel: Greater | ScoreOrder) -> tuple[int, ...]:
    return (0, 1, 2) if kernel.ties == "half" else (0, 1)


def _greater(kernel: Greater, left: Person, right: Person) -> Number | Bit:
    return (auc_half if kernel.ties == "half" else auc_strict)(right[0], left[0])


def _untied(kernel: Untied, left: Person, right: Person) -> Bit:
    return all_of([~equal(left[place], right[place]) for place in kernel.columns])


def _sign_product(kernel: SignProduct, left: Person, right: Person) -> Signed:
    (y, z), (v, w) = left, right
    return kendall((y, z), (v, w))


def _two(kernel: Kernel) -> tuple[int, ...]:
    return (0, 1)


def _many(kernel: Kernel) -> None:
    return None


WIRINGS: dict[type, Wiring] = {
    AbsoluteDifference: Wiring(True, lambda kernel, left, right: gini(left[0], right[0]), _many),
    HalfSquare: Wiring(
        True, lambda kernel, left, right: squared_difference(left[0], right[0]), _many, lambda bits: 2 * bits
    ),
    PairMeanKernel: Wiring(True, lambda kernel, left, right: add(left[0], right[0]), _many, lambda bits: bits + 1),
    Equal: Wiring(False, lambda kernel, left, right: all_of([*map(collision, left, right)]), _two),
    Untied: Wiring(False, _untied, _two),
    Greater: Wiring(False, _greater, _of_ties),
    ScoreOrder: Wiring(False, _score_order, _of_ties),
    SignProduct: Wiring(False, _sign_product, lambda kernel: (0, 1, -1)),
}
"""Kernels that there are circuits of."""


def wiring_of(kernel: Kernel) -> Wiring:
    """How a kernel is computed inside a circuit.

    Raises:
        UnsupportedError: there is no circuit of it.
    """
    found = WIRINGS.get(type(kernel))
    if found is None:
        raise UnsupportedError(
            f"there is no circuit of {kernel.name}; between two people there are those of gini, gini_coefficient, "
            "variance, collision, kendall, kendall_b, gamma and auc; use trust central or local"
        )
    return found


@dataclass(frozen=True)
class Entries:
    """What a person enters: a number for each column, of public widths.

    Fields:
        columns: The columns that the kernels look at.
        steps: Whether numbers are in whole steps of their bounds.
        bits: Steps are 2^-bits of the bounds.
    """

    columns: Domain
    steps: bool
    bits: int

    @property
    def widths(self) -> tuple[int, ...]:
        """Bits of each column's number."""
        return tuple(self.bits + 1 if self.steps else _width(column) for column in self.columns.columns)

    def of(self, rows: Float64) -> Bits:
        """Bits of every person's numbers, one column after the other, the least significant first.

        Args:
            rows: Numbers of the columns, shape (people, columns), without NaN.

        Returns:
            Shape (people, sum of widths).
        """
        if self.steps:
            return _bits(steps(rows, self.columns, self.bits).astype(np.uint64), self.bits + 1)
        parts = [
            _bits(_ordered(column, rows[:, place]), _width(column)) for place, column in enumerate(self.columns.columns)
        ]
        return np.hstack(parts)


def entries_of(kernels: Sequence[Kernel], columns: Domain, bits: int) -> Entries:
    """What people enter for all of some kernels.

    Raises:
        UnsupportedError: there is no circuit of one of them.
    """
    kinds = {wiring_of(kernel).steps for kernel in kernels}
    assert len(kinds) == 1, "no measure looks at distances and at orders"
    return Entries(columns, kinds.pop(), bits)


def _width(column: Column) -> int:
    if isinstance(column, Binning) and column.grid.kind != "integers":
        return ORDERED_BITS
    return max(1, (column.size - 1).bit_length())


def _ordered(column: Column, values: Float64) -> NDArray[np.uint64]:
    """Whole numbers in the order of the values, equal for equal ones alone."""
    if _width(column) < ORDERED_BITS:
        return column.symbols(values).astype(np.uint64)
    raw = (values + 0.0).view(np.uint64)  # of the two zeros one
    sign = raw >> np.uint64(ORDERED_BITS - 1)
    return raw ^ np.where(sign, ~np.uint64(0), np.uint64(1) << np.uint64(ORDERED_BITS - 1))


def _bits(numbers: NDArray[np.uint64], width: int) -> Bits:
    return (numbers[:, None] >> np.arange(width, dtype=np.uint64) & np.uint64(1)).astype(np.bool_)
