"""Kernels of three records: a public table over the categories, whole numbers or bins of one column.

A statistic of degree three is the mean over all triples of different records. With the counts of the symbols the sum
over triples is a sum over the multisets of three symbols, exact in whole numbers.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

import numpy as np

from ogive.columns import Binning, Column, Domain
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import plain_fields, refuse_masked
from ogive.errors import DataError, ParameterError, quoted
from ogive.kernels.base import BITS, Measure, Scale, check_bits, finite_rows
from ogive.kernels.cells import check_count, middles

# --- Kernels of more than two records have nothing of a pair


class NoPairs(ABC):
    """A kernel that two records do not determine; values, matrices and spreads of pairs are refused."""

    name: ClassVar[str]

    def __call__(self, left: Float64, right: Float64) -> NoReturn:
        """Always refused: two records are too few."""
        raise self._no_pairs()

    def lipschitz(self, columns: Domain) -> float | None:
        """None: the kernel is not continuous."""
        return None

    def matrix(self, columns: Domain, kind: str = "average") -> NoReturn:
        """Always refused."""
        raise self._no_pairs()

    def spread(self, columns: Domain) -> NoReturn:
        """Always refused."""
        raise self._no_pairs()

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kernel": self.name, **plain_fields(self)}

    @abstractmethod
    def _no_pairs(self) -> ParameterError:
        """What the kernel looks at, and what to use instead."""


# --- A public table over three symbols

MOST_SYMBOLS = 32
"""Most symbols of a table, which then has 32,768 values."""

_ORDERS = tuple(itertools.permutations(range(3)))


@dataclass(frozen=True)
class TripleTable(NoPairs):
    """A function of three records by their categories, whole numbers or bins: f(x, y, z) = values[a][b][c].

    The table is made symmetric, which changes no mean over triples. Values are of symbols, so bins round nothing.

    Fields:
        values: Numbers, shape (k, k, k), of 2 to 32 symbols.
        edges: For a column of numbers the upper ends of all bins but the last, ascending, k - 1 of them; empty for
            categories.

    Raises:
        ParameterError: the table is of another shape, has a number that is not finite, or is the same everywhere, or
            the edges do not fit.

    Example:
        >>> from ogive import kernels
        >>> from ogive.columns import Categories
        >>> party = Categories("party", ("red", "green", "blue"))
        >>> differ = kernels.TripleTable.of(party, lambda x, y, z: len({x, y, z}) == 3)
        >>> differ.values[0][1][2], differ.values[0][1][1]
        (1.0, 0.0)
    """

    values: tuple[tuple[tuple[float, ...], ...], ...]
    edges: tuple[float, ...] = ()

    name: ClassVar[str] = "triple_table"
    samples: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _symmetric(self.values))
        try:
            edges = tuple(map(float, self.edges))
        except (TypeError, ValueError):
            raise ParameterError(f"`edges` must be numbers, got {quoted(self.edges)}") from None
        wrong = edges and (
            len(edges) != self.size - 1
            or not all(map(math.isfinite, edges))
            or any(left >= right for left, right in itertools.pairwise(edges))
        )
        if wrong:
            raise ParameterError(
                f"`edges` must be {self.size - 1} ascending numbers, the upper ends of all bins but the last of "
                f"{self.size}, got {quoted(self.edges)}"
            )
        object.__setattr__(self, "edges", edges)

    @staticmethod
    def of(column: Column, function: Callable[[Any, Any, Any], Any]) -> TripleTable:
        """The table of a function over a column.

        Args:
            column: Categories, whose values the function gets, or numbers in bins, of which it gets the middles; of
                whole numbers these are the numbers.
            function: Of three values; it need not be symmetric.

        Raises:
            ParameterError: the column has too many symbols, or the table is none.
        """
        if column.size > MOST_SYMBOLS:
            raise ParameterError(
                f"a table over triples takes at most {MOST_SYMBOLS} categories or bins, and column "
                f"{quoted(column.column)} has {column.size}"
            )
        points = middles(column).tolist() if isinstance(column, Binning) else getattr(column, "values", (0, 1))
        table = tuple(tuple(tuple(function(x, y, z) for z in points) for y in points) for x in points)
        return TripleTable(table, _edges(column))

    @property
    def size(self) -> int:
        """Number of symbols, k."""
        return len(self.values)

    @property
    def table(self) -> Float64:
        """The values, shape (k, k, k)."""
        return np.array(self.values)

    def check(self, columns: Domain) -> None:
        """Refuse any column but one with the table's symbols."""
        check_count(columns, 1, "a table over triples")
        [column] = columns.columns
        if column.size != self.size:
            advice = f"; give `bins={self.size}`" if isinstance(column, Binning) else ""
            raise ParameterError(
                f"the table over triples is of {self.size} categories or bins, and column {quoted(column.column)} has "
                f"{column.size}{advice}"
            )
        if _edges(column) != self.edges:
            raise ParameterError(
                f"the bins of column {quoted(column.column)} are not those of the table over triples; make the table "
                "with `kernels.TripleTable.of(column, function)`"
            )

    def symbols(self, rows: Float64) -> Int64:
        """Symbol of each row of one number, shape (n,)."""
        numbers = finite_rows(rows, 1)[:, 0]
        if self.edges:
            return np.searchsorted(np.array(self.edges), numbers, side="left")
        if len(numbers) and not np.isin(numbers, np.arange(self.size)).all():
            raise ParameterError(f"numbers of symbols must be whole, from 0 to {self.size - 1}")
        return numbers.astype(np.int64)

    def range(self, columns: Domain) -> tuple[float, float]:
        """Smallest and largest value of the table."""
        return float(self.table.min()), float(self.table.max())

    def _no_pairs(self) -> ParameterError:
        return ParameterError(f"{self.name} looks at three records, not at pairs; use its `table`")

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Mean over all triples of different records, in O(n + k^3)."""
        counts = self._counts(rows)
        triples = math.comb(sum(counts), 3)
        return math.fsum(times / triples * self.values[a][b][c] for a, b, c, times in _multisets(counts))

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """2^bits steps over the range; the swing is the largest change of the rounded table by one symbol."""
        check_bits(bits)
        low, high = map(Fraction, self.range(columns))
        numbers = self._numbers(bits)
        swing = int((numbers.max(axis=0) - numbers.min(axis=0)).max())
        return Scale((high - low) / (1 << bits), low, swing)

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Exact sum over all triples.

        Privacy:
            A record is in (n - 1)(n - 2) / 2 of n records' triples, whose other two records stay when it is replaced.
        """
        numbers = self._numbers(bits).tolist()
        return sum(times * numbers[a][b][c] for a, b, c, times in _multisets(self._counts(rows)))

    def _numbers(self, bits: int) -> Int64:
        """The table in steps of `scale`, each rounded once."""
        table = self.table
        low, high = float(table.min()), float(table.max())
        return np.rint((table - low) / (high - low) * (1 << bits)).astype(np.int64)

    def _counts(self, rows: Float64) -> list[int]:
        counts = np.bincount(self.symbols(rows), minlength=self.size).tolist()
        if sum(counts) < 3:
            raise DataError(f"a mean over triples needs at least three records, got {sum(counts)}")
        return [int(each) for each in counts]


def _edges(column: Column) -> tuple[float, ...]:
    """Upper ends of all bins but the last of a column of numbers."""
    return tuple(column.grid.thresholds[:-1].tolist()) if isinstance(column, Binning) else ()


def of_triples(measure: Measure) -> bool:
    """Whether a measure looks at three records at a time."""
    return any(isinstance(kernel, TripleTable) for kernel in measure.kernels)


def _multisets(counts: list[int]) -> Iterator[tuple[int, int, int, int]]:
    """Every multiset of three symbols with the number of triples of records that have it."""
    for a, b, c in itertools.combinations_with_replacement(range(len(counts)), 3):
        if a == b == c:
            yield a, b, c, math.comb(counts[a], 3)
        elif a == b:
            yield a, b, c, math.comb(counts[a], 2) * counts[c]
        elif b == c:
            yield a, b, c, counts[a] * math.comb(counts[b], 2)
        else:
            yield a, b, c, counts[a] * counts[b] * counts[c]


def _symmetric(given: Any) -> tuple[tuple[tuple[float, ...], ...], ...]:
    """The mean over all orders of the three symbols; a table that is symmetric stays as it is."""
    refuse_masked(given)
    try:
        table = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("a table over triples must hold numbers, of shape (k, k, k)") from None
    size = len(table) if table.ndim else 0
    if table.shape != (size,) * 3 or not 2 <= size <= MOST_SYMBOLS:
        raise ParameterError(
            f"a table over triples must be of shape (k, k, k) with k from 2 to {MOST_SYMBOLS}, got shape {table.shape}"
        )
    if not np.isfinite(table).all() or not math.isfinite(float(table.max()) - float(table.min())):
        raise ParameterError("a table over triples must hold finite numbers with finite differences")
    turned = [np.transpose(table, order) for order in _ORDERS]
    if not all(np.array_equal(table, each) for each in turned):
        # sums that are rounded once do not depend on the order
        columns = np.stack([each.ravel() for each in turned], axis=-1).tolist()
        table = np.array([math.fsum(column) / 6 for column in columns]).reshape(table.shape)
    if table.min() == table.max():
        raise ParameterError("a table over triples must hold different numbers; it is the same everywhere")
    return tuple(tuple(map(tuple, layer)) for layer in table.tolist())
