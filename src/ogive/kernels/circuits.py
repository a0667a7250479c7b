"""Kernels inside circuits of two people: what each of them enters, and the whole number that comes out.

The number is the one of `Kernel.scale`, so that a kernel says the same inside a circuit and at a curator. Distances are
of numbers in whole steps of their bounds. Orders and equality are of the numbers themselves: the 64 bits of a
floating-point number, in order, so that nothing is rounded and no bounds matter; of categories and of whole numbers
their places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ogive.columns import Binning, Column, Domain
from ogive.core.arrays import Bool, Float64, UInt64
from ogive.crypto.circuits import Bit, Builder, Circuit, Signed, Unsigned, arithmetic, evaluate, separate
from ogive.errors import ParameterError, UnsupportedError, plain
from ogive.kernels.base import Kernel, Scale, ends, step, steps, trial_points
from ogive.kernels.function import FunctionKernel
from ogive.kernels.numbers import AbsoluteDifference, HalfSquare, PairMeanKernel
from ogive.kernels.ranks import Equal, Greater, ScoreOrder, SignProduct, Untied

Person = tuple[Unsigned, ...]
"""What one of the two entered, a number for each column."""

_TRIED_BITS = 16

ORDERED_BITS = 64
"""Bits of a floating-point number that is only compared."""


# --- What the kernels of each type are in a circuit


def _score_order(kernel: ScoreOrder, left: Person, right: Person) -> arithmetic.Number | Bit:
    (score, label), (other, others) = left, right
    [ours], [theirs] = label.bits, others.bits
    one_of_each = ours ^ theirs
    # the positive's score is the greater one: where the left is positive if the right's is less
    rises = one_of_each & ~arithmetic.equal(score, other) & (arithmetic.less(other, score) ^ theirs)
    if kernel.ties == "strict":
        return rises
    return Unsigned((one_of_each & arithmetic.equal(score, other), rises))


def _of_ties(kernel: Greater | ScoreOrder) -> tuple[int, ...]:
    return (0, 1, 2) if kernel.ties == "half" else (0, 1)


def _greater(kernel: Greater, left: Person, right: Person) -> arithmetic.Number | Bit:
    return (arithmetic.auc_half if kernel.ties == "half" else arithmetic.less)(right[0], left[0])


def _sign_product(left: Person, right: Person) -> Signed:
    (y, z), (v, w) = left, right
    return arithmetic.kendall((y, z), (v, w))


WIRINGS: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    AbsoluteDifference: lambda kernel: (True, lambda left, right: arithmetic.absolute_difference(left[0], right[0])),
    HalfSquare: lambda kernel: (
        True,
        lambda left, right: arithmetic.square(arithmetic.absolute_difference(left[0], right[0])),
        None,
        lambda bits: 2 * bits,
    ),
    PairMeanKernel: lambda kernel: (
        True,
        lambda left, right: arithmetic.add(left[0], right[0]),
        None,
        lambda bits: bits + 1,
    ),
    Equal: lambda kernel: (False, lambda left, right: arithmetic.all_of([*map(arithmetic.equal, left, right)]), (0, 1)),
    Untied: lambda kernel: (
        False,
        lambda left, right: arithmetic.all_of([~arithmetic.equal(left[k], right[k]) for k in kernel.columns]),
        (0, 1),
    ),
    Greater: lambda kernel: (False, partial(_greater, kernel), _of_ties(kernel)),
    ScoreOrder: lambda kernel: (False, partial(_score_order, kernel), _of_ties(kernel)),
    SignProduct: lambda kernel: (False, _sign_product, (0, 1, -1)),
}
"""Kernels that there are circuits of, with the fields of a `KernelCircuit` from `steps` on."""


# --- A kernel in a circuit, over some columns


@dataclass(frozen=True)
class KernelCircuit:
    """A kernel inside a circuit, over some columns.

    Fields:
        steps: Whether numbers enter in whole steps of their bounds, and not as they are.
        make: From what the first and the second person entered, the whole number.
        wholes: All whole numbers that there are, where they are two or three, in the order of randomized responses;
            None where there are more.
        digits: Where there are more, k of numbers from 0 to 2^k, from the bits of the steps.
    """

    kernel: Kernel
    columns: Domain
    steps: bool
    make: Callable[[Person, Person], arithmetic.Number | Bit]
    wholes: tuple[int, ...] | None = None
    digits: Callable[[int], int] = int

    def build(self, left: Person, right: Person, bits: int) -> arithmetic.Number | Bit:
        """The whole number of what two people entered, where steps are 2^-bits of the bounds."""
        value = self.make(left, right)
        if not isinstance(self.kernel, FunctionKernel):
            return value
        # noise is for the range of a bit, or of a number without a sign
        if not isinstance(value, Unsigned if self.wholes is None else Bit):
            raise ParameterError(
                f"the circuit of {self.kernel.name} gives {type(value).__name__} for columns of {bits} bits, and "
                f"something else for {_TRIED_BITS}"
            )
        return _capped(value, bits)

    def scale(self, bits: int) -> Scale:
        """What whole numbers stand for."""
        whole = self.kernel.scale(self.columns, bits)
        if self.wholes == (0, 1) and isinstance(self.kernel, FunctionKernel):
            low, high = map(Fraction, self.kernel.bounds)
            return Scale(high - low, low, 1)
        return whole


def kernel_circuit(kernel: Kernel, columns: Domain) -> KernelCircuit:
    """A kernel inside a circuit."""
    return _kernel_circuit((kernel, columns))


@lru_cache(maxsize=64)
def _kernel_circuit(key: tuple[Kernel, Domain]) -> KernelCircuit:
    kernel, columns = key
    if isinstance(kernel, FunctionKernel) and kernel.circuit is not None:
        return _of_function(kernel, columns)
    result = WIRINGS.get(type(kernel))
    if result is None:
        raise UnsupportedError(
            f"there is no circuit of {kernel.name}; between two people there are those of gini, gini_coefficient, "
            "variance, collision, kendall, kendall_b, gamma and auc, and of functions that come with one of their own; "
            "use trust central or local"
        )
    return KernelCircuit(kernel, columns, *result(kernel))


def _of_function(kernel: FunctionKernel, columns: Domain) -> KernelCircuit:
    """A function with a circuit of its own, which is held to the function on public points."""
    entries = Entries(columns, steps=True, bits=_TRIED_BITS)
    builder = Builder()
    people = tuple(entries.read(side("values", entries.width)) for side in (builder.garbler, builder.evaluator))
    try:
        value = _called(kernel, *people)
    except Exception as problem:
        raise ParameterError(
            f"the circuit of {kernel.name} fails with {type(problem).__name__}: {plain(problem)}"
        ) from None
    if not isinstance(value, Bit | Unsigned):
        raise ParameterError(
            f"the circuit of {kernel.name} must give a bit, or a number without a sign in steps of its range, got "
            f"{type(value).__name__}"
        )
    wholes = (0, 1) if isinstance(value, Bit) else None
    result = KernelCircuit(kernel, columns, True, partial(_called, kernel), wholes)
    _check_agreement(result, builder.finish({"value": _capped(value, _TRIED_BITS)}), entries)
    return result


def _called(kernel: FunctionKernel, left: Person, right: Person) -> arithmetic.Number | Bit:
    assert kernel.circuit is not None
    one = len(left) == 1
    result: arithmetic.Number | Bit = kernel.circuit(left[0] if one else left, right[0] if one else right)
    return result


def _capped(value: arithmetic.Number | Bit, bits: int) -> arithmetic.Number | Bit:
    """A number that is no more than 2^bits, whatever two people entered."""
    if isinstance(value, Bit) or value.width <= bits:
        return value
    top = value.bits[0].builder.constant(1 << bits, bits + 1)
    return arithmetic.select(arithmetic.less(top, value), top, value)


def _check_agreement(result: KernelCircuit, circuit: Circuit, entries: Entries) -> None:
    kernel, points = result.kernel, trial_points(result.columns)
    left, right = (np.repeat(points, len(points), axis=0), np.tile(points, (len(points), 1)))
    outputs = evaluate(circuit, entries.of(left), entries.of(right))
    scale = result.scale(entries.bits)
    inside = float(scale.zero) + float(scale.unit) * separate(circuit.outputs, outputs)["value"]
    expected = kernel(entries.rounded(left), entries.rounded(right))
    # steps that the circuit of a function may be off, for divisions and the like
    near = (4 if result.wholes is None else 0.25) * float(scale.unit)
    wrong = np.flatnonzero(np.abs(inside - expected) > near)
    if wrong.size:
        place = int(wrong[0])
        raise ParameterError(
            f"the circuit of {kernel.name} says {inside[place]:.6g} where the function says {expected[place]:.6g}, of "
            f"{left[place].tolist()} and {right[place].tolist()}"
        )


@dataclass(frozen=True)
class Entries:
    """What a person enters: a number for each column, of public widths.

    Fields:
        bits: Steps are 2^-bits of the bounds.
    """

    columns: Domain
    steps: bool
    bits: int

    @property
    def widths(self) -> tuple[int, ...]:
        """Bits of each column's number."""
        return tuple(self.bits + 1 if self._stepped(column) else _width(column) for column in self.columns.columns)

    @property
    def width(self) -> int:
        """Bits of all of them."""
        return sum(self.widths)

    def read(self, values: Unsigned) -> Person:
        """The numbers among the wires of what somebody entered."""
        stops = np.cumsum(self.widths).tolist()
        return tuple(Unsigned(values.bits[stop - width : stop]) for width, stop in zip(self.widths, stops, strict=True))

    def rounded(self, rows: Float64) -> Float64:
        """The values that rows enter as, shape (people, columns)."""
        result = rows.copy()
        for place, column in enumerate(self.columns.columns):
            if self._stepped(column):
                alone = Domain((column,))
                low, _ = ends(column)
                result[:, place] = low + float(step(alone, self.bits)) * steps(rows[:, [place]], alone, self.bits)
        return result

    def _stepped(self, column: Column) -> bool:
        return self.steps and isinstance(column, Binning)

    def of(self, rows: Float64) -> Bool:
        """Bits of every person's numbers, one column after the other, the least significant first.

        Args:
            rows: Numbers of the columns, shape (people, columns), without NaN.
        """
        parts = []
        for place, column in enumerate(self.columns.columns):
            if self._stepped(column):
                whole = steps(rows[:, [place]], Domain((column,)), self.bits).astype(np.uint64)
                parts.append(_bits(whole, self.bits + 1))
            else:
                parts.append(_bits(_ordered(column, rows[:, place]), _width(column)))
        return np.hstack(parts)


def entries_of(kernels: Sequence[Kernel], columns: Domain, bits: int) -> Entries:
    """What people enter for all of some kernels."""
    kinds = {kernel_circuit(kernel, columns).steps for kernel in kernels}
    assert len(kinds) == 1, "no measure looks at distances and at orders"
    return Entries(columns, kinds.pop(), bits)


def _width(column: Column) -> int:
    if isinstance(column, Binning) and column.grid.kind != "integers":
        return ORDERED_BITS
    return max(1, (column.size - 1).bit_length())


def _ordered(column: Column, values: Float64) -> UInt64:
    """Whole numbers in the order of the values, equal for equal ones alone."""
    if _width(column) < ORDERED_BITS:
        return column.symbols(values).astype(np.uint64)
    raw = (values + 0.0).view(np.uint64)  # of the two zeros one
    sign = raw >> np.uint64(ORDERED_BITS - 1)
    return raw ^ np.where(sign, ~np.uint64(0), np.uint64(1) << np.uint64(ORDERED_BITS - 1))


def _bits(numbers: UInt64, width: int) -> Bool:
    return (numbers[:, None] >> np.arange(width, dtype=np.uint64) & np.uint64(1)).astype(np.bool_)
