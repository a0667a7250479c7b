"""Means of kernels over pairs, noisy and exact, and the noisy number of equal pairs.

The exact integer sum over all pairs is divided by what one record can change. A record is in n - 1 of the pairs.
(Where tuples have one record of each of several classes it is in as many as the other classes' sizes multiply to.) If
a kernel's whole numbers (`kernels.base.Scale`) swing by at most s when one of a pair's records is replaced, its sum S
moves by at most (n - 1) s. Measured is

    v = floor(2^bits S / ((n - 1) s) + 1/2),

an integer that one replaced record moves by at most 2^bits, whatever n is. So noise and price know nothing of the
records, and the mean U of the kernel has the sensitivity 2 w / n, w its swing; of several samples w / n_min. A record
is in (n - 1)(n - 2) / 2 triples, so of a kernel of three records the sensitivity is 3 w / n.

Several kernels are measured together. The pairs of a replaced record move by vectors whose convex hull bounds the
vector of all v; its extreme points are `moves`. Every number has noise of a scale of its own, so that a loss is

    epsilon = max over moves e of  sum_k (2^bits e_k + r) / b_k               (Laplace)
    mu^2    = max over moves e of  sum_k (2^bits e_k + r)^2 / sigma_k^2       (Gaussian)

with r = 1 for the rounding where the moves differ, else 0.

The share of pairs whose labels differ is n+ (n - n+) over all pairs, so where it is needed beside an order of scores,
n+ is measured instead: one record moves it by 1, and noise on it is multiplied by |n - 2 n+| only, not by n.

Source:
    `docs/proofs/central_pairs.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ogive.accounting import group_loss
from ogive.accounting.losses import DISTANCE, LEAST_SIGMA
from ogive.columns import Binning, Categories, Domain, Label
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import ROOM, Range, whole
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.kernels import ScoreOrder, SignProduct, Untied
from ogive.kernels.base import MAX_BITS, Kernel, Measure
from ogive.kernels.ranks import null_variance
from ogive.kernels.tuples import of_triples
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, GaussianDP, Loss, PrivacyUnit, PureDP
from ogive.queries import base
from ogive.queries.aggregates import Cells, RowValues
from ogive.strategies.base import Level
from ogive.strategies.counts import check_laws

MOST_BITS = 45
_ROOM_BITS = 61
_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class KernelQuery(base.Described, base.CuratorQuery):
    """A noisy number for the mean of every kernel of a measure, in units of 2^-bits of what one record can change.

    Fields:
        rows: Columns of the kernels; where these look at several classes then the column of classes, public.
        measure: Whose kernels.
        laws: Noise of every number, all Laplace, or all Gaussian of a sigma of at least 1000.
        bits: Fractional bits of the numbers, 0 to 45.

    Raises:
        ParameterError: the kernels do not fit the columns, or the laws do not fit the kernels.
    """

    digested: ClassVar[str] = "kernels"
    method: ClassVar[str] = "kernel"

    rows: RowValues
    measure: Measure
    laws: tuple[DiscreteLaplace | DiscreteGaussian, ...]
    bits: int

    def __post_init__(self) -> None:
        if len({kernel.samples for kernel in self.measure.kernels}) > 1:
            raise ParameterError("kernels that are measured together must look at one number of classes")
        if self.degree > 2 and len(self.measure.kernels) > 1:
            raise ParameterError("a kernel of three records is measured alone")
        if self.samples > 1 and _classes(self.rows.domain) != self.samples:
            raise ParameterError(f"{self.measure.name} needs a last column of {self.samples} classes")
        for kernel in self.measure.kernels:
            kernel.check(self.columns)
        whole(self.bits, "bits", 0, MOST_BITS)
        if len(self.laws) != len(self.measure.kernels):
            raise ParameterError(f"give one law for each of {len(self.measure.kernels)} kernels, got {len(self.laws)}")
        check_laws(self.laws)

    @property
    def samples(self) -> int:
        """Public classes of which a tuple has one record each; 1 for pairs of any records."""
        return self.measure.kernels[0].samples

    @property
    def classes(self) -> int:
        """Number of public classes; 0 for pairs of any records."""
        return self.samples if self.samples > 1 else 0

    @property
    def degree(self) -> int:
        """Records that a kernel looks at where there are no classes: two, or three."""
        return degree(self.measure)

    @cached_property
    def columns(self) -> Domain:
        """What the kernels look at."""
        columns = self.rows.domain.columns
        return Domain(columns[:-1]) if self.samples > 1 else self.rows.domain

    @property
    def counted(self) -> bool:
        """Whether the second number is that of records of the positive class, instead of pairs of different ones."""
        return counts_class(self.measure)

    @property
    def aggregate(self) -> RowValues:
        return self.rows

    @property
    def levels(self) -> tuple[Level, ...]:
        return tuple(Level(1, law) for law in self.laws)

    @property
    def public_columns(self) -> tuple[str, ...]:
        """The column of classes, where a kernel looks at a record of each."""
        return (self.rows.domain.columns[-1].column,) if self.samples > 1 else ()

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of all numbers together, where the number of records (of each public class) is public.

        Raises:
            ParameterError: the number of records would be private, or missing values are dropped.
        """
        if unit.adjacency is Adjacency.ADD_OR_REMOVE:
            raise ParameterError(
                "what one record can change in a mean over pairs depends on the number of records, which is private "
                "here; use method 'cells', or `adjacency REPLACE`"
            )
        for column in self.rows.domain.columns:
            if isinstance(column, Binning):
                base.check_missing(column, unit.adjacency)
        loss = numbers_loss(self.laws, moves(self.measure), self.bits)
        return group_loss(loss, unit.max_rows_per_person)

    def description(self) -> dict[str, Any]:
        functions = [kernel.digest(self.columns) for kernel in self.measure.kernels if hasattr(kernel, "digest")]
        return {**super().description(), "functions": functions}

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        """The number of records, or of each public class, the negative one first."""
        return _sizes(self.rows, sums, self.classes) if adjacency is Adjacency.REPLACE else None

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """The numbers with noise, shape (kernels,).

        Without noise they are those of the exact means in floating point; with it, values that kernels compute with are
        rounded to 2^-30 of their range first.

        Raises:
            DataError: there are fewer than two records, or a class is empty, or there are too many for these bits.
        """
        rows, classes = _parted(self.rows, sums, self.classes)
        totals = check_totals(_sizes(self.rows, sums, self.classes), self.degree)
        results = []
        for kernel in self.measure.kernels:
            if self.counted and isinstance(kernel, Untied):  # the second one
                exact = Fraction(int((self.rows.values(sums)[:, kernel.columns[0]] == 1).sum()))
            else:
                exact = self._changes(kernel, rows, classes, totals, exactly=nodes is None)
            results.append(math.floor(exact * (1 << self.bits) + _HALF))
        refusal = f"there are too many records for means with {self.bits} fractional bits; use fewer bits"
        Range(min(results), max(results)).check(ROOM, refusal)
        noise = 0 if nodes is None else np.concatenate(base.draw(nodes, self.levels))
        return np.array(results, dtype=np.int64) + noise

    def _changes(
        self, kernel: Kernel, rows: Float64, classes: Int64 | None, totals: tuple[int, ...], *, exactly: bool
    ) -> Fraction:
        """The sum of a kernel over pairs, in units of what one record can change."""
        scale = kernel.scale(self.columns, MAX_BITS)
        if exactly and scale != kernel.scale(self.columns, 1):  # values are rounded, counts are not
            return (
                (Fraction(kernel.exact(rows, classes)) - scale.zero)
                / (scale.unit * scale.swing)
                * reach(totals, self.degree)
            )
        total = kernel.pair_sum(rows, self.columns, bits=MAX_BITS, classes=classes)
        return Fraction(total, scale.swing * partners(totals, self.degree))


def degree(measure: Measure) -> int:
    """Records that a measure's kernels look at where there are no classes."""
    return 3 if of_triples(measure) else 2


def check_totals(totals: tuple[int, ...], size: int = 2) -> tuple[int, ...]:
    """The number of records, or of each class, if there is a tuple of them, of two or three without classes."""
    if len(totals) == 1 and totals[0] < size:
        what = "pairs needs at least two" if size == 2 else "triples needs at least three"
        raise DataError(f"a mean over {what} records, got {totals[0]}")
    if 0 in totals:
        empty = ("negative", "positive")[totals.index(0)] if len(totals) == 2 else "a"
        raise DataError(
            f"{'the ' if len(totals) == 2 else ''}{empty} class has no record; each class needs at least one"
        )
    return totals


def partners(totals: tuple[int, ...], size: int = 2) -> int:
    """Most tuples that one record is in: C(n - 1, size - 1), else the product of all classes' sizes but the least."""
    return math.comb(totals[0] - 1, size - 1) if len(totals) == 1 else math.prod(totals) // min(totals)


def reach(totals: tuple[int, ...], size: int = 2) -> Fraction:
    """Tuples over `partners`: what one replaced record changes a mean by is a kernel's swing over this."""
    return Fraction(totals[0], size) if len(totals) == 1 else Fraction(min(totals))


def moves(measure: Measure) -> tuple[tuple[Fraction, ...], ...]:
    """Extreme points of what one replaced record does to all numbers, in units of the most that each can change.

    The default is that all change most at once. Sign products s and untied pairs u of both columns go together: a pair
    that is tied has s = 0. So s changes by 2 only where every u stays, and by 1 where all change.
    """
    kernels, one = measure.kernels, Fraction(1)
    if kernels == (SignProduct(), Untied((0,)), Untied((1,))):
        return (one, Fraction(0), Fraction(0)), (_HALF, one, one)
    if kernels == (SignProduct(), Untied((0, 1))):
        return (one, Fraction(0)), (_HALF, one)
    return ((one,) * len(kernels),)


def numbers_loss(
    laws: tuple[DiscreteLaplace | DiscreteGaussian, ...], extremes: tuple[tuple[Fraction, ...], ...], bits: int
) -> PureDP | GaussianDP:
    """Loss of numbers with these laws that move by these vectors, in units of 2^bits; exact or rounded up."""
    rounding = int(len(extremes) > 1)
    changes = [[abs(each) * (1 << bits) + rounding for each in extreme] for extreme in extremes]
    scales = [law.scale for law in laws if isinstance(law, DiscreteLaplace)]
    if scales:
        return PureDP(max(sum(c / scale for c, scale in zip(change, scales, strict=True)) for change in changes))
    sigmas = [law.sigma for law in laws if isinstance(law, DiscreteGaussian)]
    squared = max(sum((c / sigma) ** 2 for c, sigma in zip(change, sigmas, strict=True)) for change in changes)
    return GaussianDP(squared, sum((DISTANCE / sigma**2 for sigma in sigmas), Fraction(0)))


def counts_class(measure: Measure) -> bool:
    """Whether a measure divides pairs in the right order by pairs of different labels."""
    kernels = measure.kernels
    return len(kernels) == 2 and isinstance(kernels[0], ScoreOrder) and isinstance(kernels[1], Untied)


def _parted(rows: RowValues, sums: Int64, classes: int) -> tuple[Float64, Int64 | None]:
    """The values that kernels look at, and the class of each row where there are classes."""
    values = rows.values(sums)
    return (values[:, :-1], values[:, -1].astype(np.int64)) if classes else (values, None)


def _sizes(rows: RowValues, sums: Int64, classes: int) -> tuple[int, ...]:
    """The number of records, or of each class where there are classes."""
    labels = _parted(rows, sums, classes)[1]
    return (len(sums),) if labels is None else tuple(np.bincount(labels, minlength=classes).tolist())


def _classes(domain: Domain) -> int:
    last = domain.columns[-1]
    return last.size if len(domain.columns) > 1 and isinstance(last, Label | Categories) else 0


# --- A noisy number of equal pairs, bounded by the most frequent value
#
# With counts c_a of the values, a record that joins value a adds c_a pairs. So what one record can change follows the
# largest count m, and not the number of records n. Measured are two numbers, one after the other:
#
#     v = 2^bits m + Z,                              which one replaced record moves by at most 2^bits,
#     w = floor(2^bits S_T / T + 1/2) + Z',          S_T = sum over a of  0 + 1 + ... , each term at most T, c_a terms,
#
# where T is v / 2^bits and a margin, rounded up, from 1 to n - 1. A replaced record moves S_T by at most T, whatever
# the counts, so w by at most 2^bits. S_T is the number of equal pairs, unless T < m - 1. The margin makes that as rare
# as `MISSED`; S_T is then too small. For T = n - 1 this is the noisy mean of `KernelQuery`.
#
# Source:
#     `docs/proofs/central_pairs.md`.

MISSED = 0.001
"""Probability that a value is more frequent than the noisy bound of its degree, at most."""

_BOTH = ((Fraction(1), Fraction(1)),)
"""What one replaced record does to both numbers, in units of 2^bits."""


@dataclass(frozen=True)
class DegreesQuery(base.Described, base.CuratorQuery):
    """The noisy largest count of a value, and the noisy number of equal pairs with degrees that it bounds.

    Fields:
        cells: The columns in which records are equal or not.
        laws: Noise of the largest count and of the pairs, both Laplace, or both Gaussian of a sigma of at least 1000.
        bits: Fractional bits of both numbers, 0 to 45.

    Raises:
        ParameterError: there are other than two laws, or they do not fit together.
    """

    digested: ClassVar[str] = "degrees"
    method: ClassVar[str] = "degrees"

    cells: Cells
    laws: tuple[DiscreteLaplace | DiscreteGaussian, ...]
    bits: int

    def __post_init__(self) -> None:
        whole(self.bits, "bits", 0, MOST_BITS)
        gaussian = all(isinstance(law, DiscreteGaussian) and law.sigma >= LEAST_SIGMA for law in self.laws)
        if len(self.laws) != 2 or not (gaussian or all(isinstance(law, DiscreteLaplace) for law in self.laws)):
            raise ParameterError(
                f"`laws` must be two DiscreteLaplace, or two DiscreteGaussian of a sigma of at least {LEAST_SIGMA}"
            )

    @property
    def aggregate(self) -> Cells:
        return self.cells

    @property
    def levels(self) -> tuple[Level, ...]:
        return tuple(Level(1, law) for law in self.laws)

    @property
    def margin(self) -> int:
        """What is added to the noisy largest count, so that it is below the exact one as rarely as `MISSED`."""
        law, unit = self.laws[0], 1 << self.bits
        if isinstance(law, DiscreteLaplace):
            # P(Z <= -j) = e^(-j / b) / (1 + e^(-1 / b)) for whole j
            scale = float(law.scale)
            reach = scale * -math.log(MISSED * (1 + math.exp(-1 / scale)))
        else:
            reach = float(law.sigma) * math.sqrt(-2 * math.log(MISSED))  # the bound of Chernoff, which both laws have
        return max(0, math.ceil(reach / unit))

    def degree(self, largest: int, records: int) -> int:
        """The bound T of degrees that a noisy largest count gives, from 1 to records - 1."""
        result = -(-largest // (1 << self.bits)) + self.margin
        return min(max(result, 1), records - 1)

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of both numbers, the second of which is measured by what the first one says.

        Raises:
            ParameterError: the number of records would be private, or missing values are dropped.
        """
        if unit.adjacency is Adjacency.ADD_OR_REMOVE:
            raise ParameterError(
                "a mean over pairs divides by the number of records, which is private here; use `method='cells'`, or "
                "`adjacency REPLACE`"
            )
        for column in self.cells.domain.columns:
            base.check_missing(column, unit.adjacency)
        return numbers_loss(self.laws, _BOTH, self.bits)  # of the records of a person one alone is kept under REPLACE

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """Both numbers with noise, shape (2,).

        Raises:
            DataError: there are fewer than two records, or too many for these bits.
        """
        counts = sums.ravel()
        counted = Range.sums(counts)
        (records,) = check_totals((counted.high,))
        refusal = f"there are too many records for numbers with {self.bits} fractional bits; use fewer bits"
        (counted * (1 << self.bits)).check(ROOM, refusal)
        noise = np.zeros(2, dtype=np.int64) if nodes is None else np.concatenate(base.draw(nodes, self.levels))
        largest = (int(counts.max()) << self.bits) + int(noise[0])
        degree = self.degree(largest, records)
        pairs = Fraction(clipped_pairs(counts, degree) << self.bits, degree)
        return np.array([largest, math.floor(pairs + _HALF) + int(noise[1])], dtype=np.int64)


def clipped_pairs(counts: Int64, degree: int) -> int:
    """The sum over all values of min(0, T) + ... + min(c - 1, T): equal pairs where no count is above T + 1."""
    total = 0
    # of equal counts as many as there are, in whole numbers of any size
    for count, times in zip(*(each.tolist() for each in np.unique(counts, return_counts=True)), strict=True):
        full = min(count, degree + 1)
        total += times * (full * (full - 1) // 2 + (count - full) * degree)
    return total


# --- Exact means, which are never answered with privacy


@dataclass(frozen=True)
class ExactMeansQuery(base.Described, base.CuratorQuery):
    """The exact mean of every kernel, in floating point; only the trust model clear answers it.

    Answers hold the number of records, or of each class, then the bits of the means, and those of the first mean's
    variance under the null hypothesis, NaN where there is none.

    Fields:
        rows: Columns of the kernels, then the column of public classes where there is one.
        classes: How many public classes there are; 0 for none.
    """

    digested: ClassVar[str] = "exact means"
    method: ClassVar[str] = "exact"

    rows: RowValues
    measure: Measure
    classes: int = 0

    @property
    def aggregate(self) -> RowValues:
        return self.rows

    @property
    def levels(self) -> tuple[Level, ...]:
        """No levels, since there is no noise."""
        return ()

    def price(self, unit: PrivacyUnit) -> Loss:
        """Nominal price, used only where nothing is paid; a paid release gets no answer."""
        return PureDP(Fraction(1, 10**12))

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        """The number of records, or of each class, where that is public."""
        return _sizes(self.rows, sums, self.classes) if adjacency is Adjacency.REPLACE else None

    def description(self) -> dict[str, Any]:
        return {"rows": self.rows.to_dict(), "measure": self.measure.to_dict()}

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """Sizes, means, and the variance under the null hypothesis where a kernel has one: floats by their bits."""
        if nodes is not None:
            raise UnsupportedError("exact means are not private; only the trust model clear gives them")
        sizes = _sizes(self.rows, sums, self.classes)
        if self.classes and 0 in sizes:
            raise DataError(f"class {sizes.index(0)} of {self.classes} has no record; each class needs one")
        rows, labels = _parted(self.rows, sums, self.classes)
        means = [kernel.exact(rows, labels) for kernel in self.measure.kernels]
        variance = null_variance(self.measure.kernels[0], rows, labels)
        numbers = np.array([*means, *([] if variance is None else [variance])])
        return np.concatenate([np.array(sizes, dtype=np.int64), numbers.view(np.int64)])

    def read(self, values: Int64) -> tuple[tuple[int, ...], list[float], float | None]:
        """Sizes, means, and the variance under the null hypothesis from an answer."""
        first, kernels = self.classes or 1, len(self.measure.kernels)
        numbers = values[first:].view(np.float64).tolist()
        return tuple(values[:first].tolist()), numbers[:kernels], numbers[kernels] if len(numbers) > kernels else None
