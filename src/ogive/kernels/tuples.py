"""Kernels of more than two records: tables over triples, and the volume under the ROC surface of ordered classes.

A statistic of degree three is the mean over all triples of different records. With the counts of the symbols the sum
over triples is a sum over the multisets of three symbols, exact in whole numbers.

The volume is how often one score of each of K classes is in the right order; with K = 2 it is the AUC. Of m consecutive
classes with one score, one of the m! orders is right, so ties count 1/m!. `vus` is linear in the histogram of every
class, so independent unbiased histograms give an unbiased volume.

Source:
    Methods file, section 2: the recursion over bins, and its tree.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from ogive.columns import Binning, Column, Domain
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import array_of, plain_fields, refuse_masked
from ogive.errors import DataError, ParameterError, quoted
from ogive.kernels.base import BITS, Measure, Scale, check_bits, check_count, finite_rows, middles

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


def vus(histograms: ArrayLike) -> float:
    """Volume under the surface of one histogram of each class, lowest class first, in O(K^2 k).

    Args:
        histograms: Shares of each class in each bin of the score, shape (K, k), rows that add up to 1. Noisy shares may
            be negative.

    Returns:
        Probability that one score of each class is in the order of the classes; 1/K! for uninformative scores.

    Raises:
        ParameterError: there are fewer than two classes, or a share is not finite.

    Example:
        >>> round(vus([[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0.5, 0, 0.5]]), 6)
        0.520833
    """
    shares = _checked(histograms)
    return float(_forward(shares, _orders(len(shares)))[-1, -1])


def vus_extremes(histograms: ArrayLike, wide: ArrayLike) -> tuple[float, float]:
    """Smallest and largest volume if scores may lie anywhere in some bins.

    Scores of a row of classes that share such a bin are all in order, or none are. In other bins they are equal.

    Args:
        histograms: As of `vus`.
        wide: Whether each bin holds more than one score, shape (k,).

    Raises:
        ParameterError: as `vus`.

    Example:
        >>> vus_extremes([[0.5, 0.5], [0.5, 0.5]], np.array([True, True]))
        (0.25, 0.75)
    """
    shares = _checked(histograms)
    orders = _orders(len(shares))
    if np.shape(wide) != shares.shape[1:]:
        raise ParameterError(
            f"`wide` must say of each of {shares.shape[1]} bins whether it is, got shape {np.shape(wide)}"
        )
    open_rows = np.asarray(wide, dtype=np.bool_) & (orders < 1)
    least, largest = (float(_forward(shares, np.where(open_rows, each, orders))[-1, -1]) for each in (0.0, 1.0))
    return least, largest


def vus_gradient(histograms: ArrayLike) -> Float64:
    """Derivative of `vus` in every share, shape (K, k), for the delta method.

    Raises:
        ParameterError: as `vus`.
    """
    shares = _checked(histograms)
    classes = len(shares)
    orders = _orders(classes)
    before, after = _forward(shares, orders), _forward(shares[::-1, ::-1], orders)[::-1, ::-1]
    gradient = np.zeros_like(shares)
    for start in range(classes):
        for end in range(start + 1, classes + 1):
            # classes start..end - 1 share one bin
            outside = before[:-1, start] * after[1:, end] / math.factorial(end - start)
            for number in range(start, end):
                others = [other for other in range(start, end) if other != number]
                gradient[number] += outside * np.prod(shares[others], axis=0)
    return gradient


def vus_tree(histograms: ArrayLike) -> float:
    """The same volume from the tree of the bins, whose nodes are sums of their children: K (K + 1)/2 sums a node.

    The number of bins is padded with empty bins to a power of two.

    Raises:
        ParameterError: as `vus`.
    """
    shares = _checked(histograms)
    classes, bins = shares.shape
    size = 1 << (bins - 1).bit_length()
    shares = np.concatenate([shares, np.zeros((classes, size - bins))], axis=1)
    # ordered[first, last, node]: chance that scores of these classes are all in the node and in order
    ordered = np.zeros((classes, classes, size))
    for first in range(classes):
        product = np.ones(size)
        for last in range(first, classes):
            product = product * shares[last]
            ordered[first, last] = product / math.factorial(last - first + 1)
    while size > 1:
        size //= 2
        left, right = ordered[..., 0::2], ordered[..., 1::2]
        above = left + right
        for first in range(classes):
            for last in range(first + 1, classes):
                for cut in range(first, last):
                    above[first, last] += left[first, cut] * right[cut + 1, last]
        ordered = above
    return float(ordered[0, classes - 1, 0])


def exact_vus(scores: ArrayLike, classes: ArrayLike, count: int | None = None) -> float:
    """Volume under the surface of exact scores, in O(n log n).

    Args:
        scores: Shape (n,).
        classes: Of each record, 0..count-1, in the order that scores should have; shape (n,).
        count: Number of classes; None takes the largest class that occurs.

    Raises:
        DataError: a class has no record, or a score is not finite.
        ParameterError: there are fewer than two classes, or a class outside 0..count-1, or not one for each score.
    """
    counts = class_counts(scores, classes, count)
    return vus(counts / counts.sum(axis=1, keepdims=True))


def class_counts(scores: ArrayLike, classes: ArrayLike, count: int | None = None) -> Int64:
    """Records of each class at each score that occurs, scores in order; shape (count, scores)."""
    scores, classes = finite_rows(np.reshape(scores, (-1, 1)), 1)[:, 0], array_of(classes)
    if classes.shape != scores.shape:
        raise ParameterError(f"give the class of each of {len(scores)} scores, got {classes.size} classes")
    if len(classes) and not np.issubdtype(classes.dtype, np.integer):
        raise ParameterError(f"`classes` must be whole numbers, got an array of {classes.dtype}")
    number = int(classes.max(initial=0)) + 1 if count is None else count
    if len(classes) and not 0 <= classes.min() <= classes.max() < number:
        raise ParameterError(f"`classes` must be whole numbers from 0 to {number - 1}")
    places = np.unique(scores, return_inverse=True)[1]
    values = int(places.max(initial=0)) + 1
    counts = np.bincount(classes * values + places, minlength=number * values).reshape(number, values)
    empty = np.flatnonzero(counts.sum(axis=1) == 0)
    if empty.size:
        raise DataError(f"class {int(empty[0])} has no record; each class needs one")
    return counts.astype(np.int64)


def count_in_order(counts: Int64) -> int:
    """Exact sum over all tuples of one record of each class, in units of 1/K!.

    Args:
        counts: Records of each class at each score, shape (K, scores).
    """
    classes, values = counts.shape
    # results[m]: m! times the sum for the first m classes, over scores below each one
    results = [np.full(values + 1, 1, dtype=object)]
    for last in range(1, classes + 1):
        steps = np.zeros(values, dtype=object)
        product = np.ones(values, dtype=object)
        for first in range(last - 1, -1, -1):
            product = product * counts[first].astype(object)
            steps = steps + math.comb(last, first) * results[first][:-1] * product
        results.append(np.concatenate([np.zeros(1, dtype=object), np.cumsum(steps)]))
    return int(results[-1][-1])


def _checked(histograms: ArrayLike) -> Float64:
    refuse_masked(histograms)
    try:
        shares = np.asarray(histograms, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("`histograms` must be numbers, as many for each class") from None
    if shares.ndim != 2 or shares.shape[0] < 2 or shares.shape[1] < 1:
        raise ParameterError("`histograms` must be one row of shares for each of at least two classes")
    if not np.isfinite(shares).all():
        raise ParameterError("shares of bins must be finite numbers")
    return shares


def _orders(classes: int) -> Float64:
    """What m classes in a row in one bin weigh, of which one of m! orders is right; shape (K, 1)."""
    return np.array([[1 / math.factorial(number + 1)] for number in range(classes)])


def _forward(shares: Float64, orders: Float64) -> Float64:
    """F[b, m]: chance that scores of the first m classes are in bins below b and in order; shape (k + 1, K + 1).

    Row m - 1 of `orders` is what m classes in a row in a bin weigh, for each bin or for all.
    """
    classes, bins = shares.shape
    result = np.zeros((bins + 1, classes + 1))
    result[:, 0] = 1.0
    for last in range(1, classes + 1):
        steps = np.zeros(bins)
        product = np.ones(bins)
        for first in range(last - 1, -1, -1):
            product = product * shares[first]
            # the chance for the first classes was computed in an earlier turn, for all bins at once
            steps += result[:-1, first] * product * orders[last - first - 1]
        result[1:, last] = np.cumsum(steps)
    return result


# --- Exact variance of the volume
#
# The volume is a sum over chains of bins, one of each class, that never fall; m classes in a row in one bin weigh 1/m!.
# Its square is a sum over pairs of chains, which are followed class by class, by their bin and how many classes in a
# row that were in it; what the means alone give is left out at every step, so that nothing cancels.
# Time is O(K^3 k^2). Source: docs/proofs/hierarchy.md.


def excess(means: Float64, covariances: Sequence[Float64]) -> float:
    """Mean of the squared volume of independent histograms less the squared volume of their means, shape (K, k).

    With the covariances of histograms, shape (k, k) each, it is the variance of the volume; with unbiased histograms
    and negated covariances, on average, the squared volume of the true shares less that of the histograms.
    """
    bins = means.shape[1]
    # products of the means along one chain, and what covariances add to them along two
    chain, pair = np.ones((1, bins)), np.zeros((1, bins, 1, bins))
    for number, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
        if number:
            chain = _advanced(chain)
            pair = _advanced(_advanced(pair).transpose(2, 3, 0, 1))
        pair = pair * (np.outer(mean, mean) + covariance)[:, None]
        pair += np.multiply.outer(chain, chain) * covariance[:, None]
        chain = chain * mean
    return float(pair.sum())


def multinomial(shares: Float64, records: float) -> Float64:
    """Covariance of the shares of this many records that are drawn from a distribution, shape (k, k)."""
    return (np.diag(shares) - np.outer(shares, shares)) / records


def _advanced(chains: Float64) -> Float64:
    """Chains, shape (runs, k, ...), before their next class: it starts a new bin above, or joins the others."""
    started = np.zeros_like(chains[:1])
    started[0, 1:] = np.cumsum(chains.sum(axis=0), axis=0)[:-1]
    rows = np.arange(2, len(chains) + 2).reshape(-1, *(1,) * (chains.ndim - 1))
    return np.concatenate([started, chains / rows])


# --- The kernel: one score of each class, in the right order or not

MOST_CLASSES = 10


@dataclass(frozen=True)
class InOrder(NoPairs):
    """1 if one score of each class increases with the class; m equal consecutive scores count 1/m!.

    It depends on one record of each class, so it has no matrix between two symbols; `ogive.kernels.vus` uses
    histograms of the classes. With two classes it equals `Greater`, the positive class last.

    Fields:
        classes: Number of classes, 2 to 10.

    Raises:
        ParameterError: classes is out of range.
    """

    classes: int = 3

    name: ClassVar[str] = "in_order"

    def __post_init__(self) -> None:
        if type(self.classes) is not int or not 2 <= self.classes <= MOST_CLASSES:
            raise ParameterError(
                f"`classes` must be a whole number from 2 to {MOST_CLASSES}, got {quoted(self.classes)}"
            )

    @property
    def samples(self) -> int:
        """One for each class."""
        return self.classes

    def check(self, columns: Domain) -> None:
        """Refuse anything but one column of scores."""
        check_count(columns, 1, "the volume under the ROC surface")

    def range(self, columns: Domain) -> tuple[float, float]:
        """From 0 to 1."""
        return 0.0, 1.0

    def _no_pairs(self) -> ParameterError:
        return ParameterError(
            f"{self.name} looks at a record of each of {self.classes} classes, not at pairs; "
            "use the classes' histograms (ogive.kernels.vus)"
        )

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Volume under the surface of exact scores, in O(n log n)."""
        return exact_vus(finite_rows(rows, 1)[:, 0], _given(classes), self.classes)

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Steps of 1/K!; one record changes each tuple that it is in by at most 1."""
        orders = math.factorial(self.classes)
        return Scale(Fraction(1, orders), Fraction(0), orders)

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Exact sum over all tuples, in units of `scale`; partners are the product of the other classes' sizes."""
        return count_in_order(class_counts(rows[:, 0], _given(classes), self.classes))


def _given(classes: Int64 | None) -> Int64:
    if classes is None:
        raise ParameterError("a volume under the ROC surface needs the class of each record")
    return classes
