"""What every method of measuring a pairwise statistic has in common, and the shapes that they are compared on.

A method is one query, an error that is predicted from public quantities alone, and what makes means of the answer.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from scipy.special import betaincinv, ndtr

from ogive.columns import Binning, Categories, Column, Domain, Label
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import completed, written_fields
from ogive.errors import BudgetError, OgiveError, ParameterError, ScaleError, UnsupportedError
from ogive.kernels.base import Measure
from ogive.kernels.cells import widths
from ogive.kernels.surface import InOrder
from ogive.kernels.triples import of_triples
from ogive.queries import Answer, Query, RowValues
from ogive.statistics.base import Terms
from ogive.statistics.ustatistic.columns import Described, domain_of
from ogive.statistics.ustatistic.means import Means

USUAL_RECORDS = 10_000
"""Records that methods and bins are chosen for where their number is private and nobody guessed it."""

ANY_BINS = 2
"""Of a domain whose number of bins does not matter."""

DOES_NOT_FIT = (ParameterError, UnsupportedError, ScaleError, BudgetError)


@dataclass(frozen=True)
class MeanTask:
    """What is asked of the records, and under which terms.

    Fields:
        measure: Which statistic.
        columns: What its kernels look at.
        classes: Column of classes that everybody may know; None where there is none.
        matrix: How a kernel is read off two bins.
        rounding: "simple", or "randomized" to one of the two nearest nodes.
        terms: Privacy, unit, and what the trust model can serve.
        expected: A public guess of the number of records where that is private.
    """

    measure: Measure
    columns: tuple[Described, ...]
    classes: Label | Categories | None
    matrix: str
    rounding: str
    terms: Terms
    expected: int | None = None

    @property
    def records(self) -> int:
        """Number of records, or the guess of it, that methods are compared for."""
        known = self.terms.records
        return max(2, self.expected or USUAL_RECORDS if known is None else known)

    @property
    def number_of_classes(self) -> int:
        """Of the classes that everybody may know; 0 where there are none."""
        return 0 if self.classes is None else self.classes.size

    @property
    def free(self) -> int:
        """How many columns leave their bins to the method."""
        return sum(each.free for each in self.columns)

    @property
    def exactly_binned(self) -> bool:
        """Whether every bin holds one value, as of categories and whole numbers, so that bins round nothing."""
        return not any(widths(column).any() for column in self.domain(ANY_BINS).columns)

    def domain(self, bins: int) -> Domain:
        """The domain that kernels look at, with so many bins of the free columns."""
        return domain_of(self.columns, bins)

    def rows(self, bins: int) -> RowValues:
        """What is read of every record: the kernels' columns, then the public class."""
        columns: tuple[Column, ...] = self.domain(bins).columns
        return RowValues(Domain(columns if self.classes is None else (*columns, self.classes)))


@dataclass(frozen=True)
class KernelMeans:
    """Means of the measure's kernels, read off an answer.

    Fields:
        values: One for each kernel, shape (m,).
        covariance: Of the noise, given the records, shape (m, m).
        sampling: Variance of the exact value around the population's, from the derivatives of the value in the means,
            shape (m,); at most so large where an answer does not tell. It gives None where nothing is known.
        quantization: How far rounding to bins may move each, shape (m,).
        records: Number of records; None where it is private.
        classes: Records of each public class, the negative one first; else None.
        null_variance: Of the first exact mean under the null hypothesis, with ties; None where noise hides it.
    """

    values: Float64
    covariance: Float64
    sampling: Callable[[Float64], float | None]
    quantization: Float64
    records: int | None
    classes: tuple[int, ...] | None = None
    null_variance: float | None = None


@dataclass(frozen=True)
class MeanMethod(ABC):
    """A method of release: one query, its predicted error, and the means that its answer tells.

    Fields:
        task: The statistic and the terms.
        query: What is asked, with its noise.
        bins: Number of bins of the free columns.
    """

    rounded: ClassVar[bool] = False
    """Whether values are rounded to bins."""

    task: MeanTask
    query: Query
    bins: int

    @property
    @abstractmethod
    def name(self) -> str:
        """As in `Ustatistic(method=...)` and on the command line."""

    @abstractmethod
    def means(self, answer: Answer) -> KernelMeans:
        """Means of the kernels from the answer."""

    @cached_property
    def domain(self) -> Domain:
        """What the kernels look at, with its bins."""
        return self.task.domain(self.bins)

    @cached_property
    def shapes(self) -> tuple[ShapeMeans, ...]:
        """The measure on the public reference shapes."""
        return shape_means(self.task.measure, self.task.domain(ANY_BINS), self.task.number_of_classes)

    @cached_property
    def predicted(self) -> float:
        """Mean squared error of the measure that is expected on the reference shapes, of rounding too."""
        return float(np.mean([self._predicted(shape) for shape in self.shapes]))

    def _predicted(self, shape: ShapeMeans) -> float:
        """The same on one shape."""
        raise NotImplementedError


class BinnedMethod(MeanMethod):
    """A method that reads kernels off bins, by a matrix between symbols for each."""

    rounded: ClassVar[bool] = True

    @cached_property
    def matrices(self) -> tuple[Float64, ...]:
        """Every kernel between symbols."""
        return tuple(kernel.matrix(self.domain, self.task.matrix) for kernel in self.task.measure.kernels)

    def _on_bins(self, shape: ShapeMeans, symbols: Int64) -> tuple[float, Float64, list[Float64]]:
        """The squared bias of rounding, the kernels as one, and shares of symbols (of the positive class first)."""
        size, matrices = len(self.matrices[0]), self.matrices
        one_class = self.task.classes is None
        parts = [symbols] if one_class else [symbols[shape.classes == each] for each in (1, 0)]
        counts = [np.bincount(part, minlength=size).astype(np.float64) for part in parts]
        ones, others = counts[0], counts[-1]
        sums = np.array([ones @ matrix @ others - (ones @ np.diag(matrix) if one_class else 0) for matrix in matrices])
        means = sums / (ones.sum() * (others.sum() - one_class))
        bias = float(shape.gradient @ (means - shape.means))
        # a linear combination of kernels is a kernel, whose variance is that of the delta method
        combined = np.tensordot(shape.gradient, np.stack(matrices), axes=1)
        return bias**2, combined, [each / each.sum() for each in counts]

    def _kernel_means(
        self, result: Means, reach: Sequence[Float64], records: int | None, classes: tuple[int, ...] | None
    ) -> KernelMeans:
        """The means, of which rounding moves none farther than it can between two symbols."""
        moved = np.minimum(result.quantization**2, [each.max() for each in reach])
        return KernelMeans(result.values, result.covariance, sampling_of(result.sampling), moved, records, classes)


MeanMethodT = TypeVar("MeanMethodT", bound=MeanMethod)


class MethodOptions:
    """Options of a method, frozen dataclasses, as plain data."""

    name: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Plain data; `from_dict` inverts it."""
        return {"name": self.name, **written_fields(self)}

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Rebuild from `to_dict`; the data need not be trusted.

        Raises:
            ParameterError: a field is missing, unknown or out of range.
        """
        names = {field.name for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        known = completed(cls, data) if isinstance(data, dict) else {}
        if set(known) != {"name", *names} or known["name"] != cls.name:
            raise ParameterError(f"a described method {cls.name} lacks a field, or has one that there is not")
        return cls(**{name: known[name] for name in names})


def sampling_of(covariance: Float64 | None) -> Callable[[Float64], float | None]:
    """`KernelMeans.sampling` where the covariance of the exact means is estimated."""

    def sampling(gradient: Float64) -> float | None:
        return None if covariance is None else max(0.0, float(gradient @ covariance @ gradient))

    return sampling


def of_classes(measure: Measure) -> bool:
    """Whether a measure looks at a record of each of several ordered classes, not at pairs."""
    return any(isinstance(kernel, InOrder) for kernel in measure.kernels)


def check_pairs(task: MeanTask, name: str) -> None:
    """Refuse kernels of a record of each class, or of three records, for a method that is for pairs.

    Raises:
        ParameterError: there is one.
    """
    if of_triples(task.measure):
        raise ParameterError(
            f"method {name} is for pairs of records, and {task.measure.name} looks at three; "
            "use `method='kernel'` of a curator, or `method='krr'` of owners"
        )
    if of_classes(task.measure):
        raise ParameterError(
            f"method {name} is for pairs of records, and {task.measure.name} looks at one of each class; "
            "use `method='kernel'`"
        )


def check_simple(task: MeanTask, name: str) -> None:
    """Refuse randomized rounding for a method without reports."""
    if task.rounding != "simple":
        raise ParameterError(f"method {name} rounds nothing at random; leave out `rounding='randomized'`")


def check_served(terms: Terms, query: Query) -> None:
    """Refuse a query that cannot be asked, or that nobody could pay for."""
    reason = terms.refusal(query)
    if reason is not None:
        raise UnsupportedError(reason)
    query.price(terms.unit)


def best(makers: Iterable[Callable[[], MeanMethodT]], *, patience: int | None = None) -> MeanMethodT:
    """The method with the smallest predicted error of those that fit, until so many in a row are worse."""
    result: MeanMethodT | None = None
    first: OgiveError | None = None
    worse = 0
    for make in makers:
        try:
            method = make()
            worse += 1
            if result is None or method.predicted < result.predicted:
                result, worse = method, 0
        except DOES_NOT_FIT as problem:
            first = first or problem
        if patience is not None and worse >= patience:
            break
    if result is None:
        assert first is not None, "there is at least one method to try"
        raise first
    return result


def best_bins(
    make: Callable[[int], MeanMethodT], columns: Sequence[Described], *, most: int, powers: bool = False
) -> MeanMethodT:
    """The best number of bins of the free columns, so that symbols stay at most so many.

    Noise grows with bins, so that two numbers in a row which are worse than the best are the last.
    """
    free, fixed = sum(each.free for each in columns), domain_of(columns, 1).size
    steps = [2**power * part // 2 for power in range(1, 24) for part in ((2,) if powers else (2, 3))]
    fitting = [step for step in steps if step >= 2 and fixed * step**free <= most] or [2]
    return best((partial(make, bins) for bins in (fitting if free else [1])), patience=2)


def farthest(task: MeanTask, domain: Domain, matrices: Sequence[Float64]) -> tuple[Float64, ...]:
    """How far every kernel may be from its matrix within two bins, each of shape (k, k).

    f lies within half its range of the middle of its extremes, so |f - A| is at most that plus |A - middle|. The mean
    over pairs of symbols bounds the bias of rounding, whatever the distribution within bins. A value that is rounded at
    random to one of two nodes h apart is moved by 2 u (1 - u) h <= h / 2 on average, and so are both arguments of f.
    """
    results = []
    for kernel, matrix in zip(task.measure.kernels, matrices, strict=True):
        if task.rounding == "randomized":
            low, high = kernel.range(domain)
            slope = kernel.lipschitz(domain)
            gaps = [np.diff(each.grid.nodes).max() for each in domain.columns if isinstance(each, Binning)]
            reach = high - low if slope is None else min(high - low, slope * sum(gaps))
            results.append(np.full_like(matrix, reach))
            continue
        results.append(np.sqrt(kernel.spread(domain)) + np.abs(matrix - kernel.matrix(domain, "midpoint")))
    return tuple(results)


# --- Public shapes of records
#
# Every column has one of a few distributions over its bounds, any two columns have a Gaussian copula with correlation
# 1/2, and records of the positive class have larger values. Where bins round values, there are shapes besides that fill
# only a part of the bounds, whose order few bins cannot tell.

ROWS = 600
SHAPES = ((2.0, 5.0), (1.0, 1.0))
"""Parameters of the beta distributions that columns have."""

NARROW = ((2.0, 30.0), (40.0, 40.0))
"""The same of columns whose bins round: most values in a tenth of the bounds at one end, or a fifth in the middle."""

_SEED = 0x75737461


@dataclass(frozen=True, eq=False)
class Reference:
    """Imagined records of one shape.

    Fields:
        positions: Of every record in every column, in (0, 1), shape (rows, columns).
        classes: Class of every record, shape (rows,), in 0..number-1.
    """

    positions: Float64
    classes: Int64

    def rows(self, domain: Domain) -> Float64:
        """The records as numbers of a domain, shape (rows, columns)."""
        columns = [self._column(column, number) for number, column in enumerate(domain.columns)]
        return np.column_stack(columns).astype(np.float64)

    def _column(self, column: Column, number: int) -> Float64:
        positions = self.positions[:, number]
        if isinstance(column, Label):
            return np.minimum(self.classes, 1).astype(np.float64)
        if isinstance(column, Categories):
            return np.floor(positions * column.size)
        assert isinstance(column, Binning), "statistics of pairs have no other columns"
        grid = column.grid
        if grid.kind == "linear":
            return grid.low + positions * (grid.high - grid.low)
        if grid.kind == "geometric":
            return np.asarray(grid.low * (grid.high / grid.low) ** positions)
        return grid.thresholds[np.floor(positions * grid.bins).astype(np.int64)]


@lru_cache(maxsize=16)
def references(columns: int, classes: int, rounding: tuple[bool, ...] = ()) -> tuple[Reference, ...]:
    """Imagined records of every shape, the same ones at all times."""
    rng = np.random.default_rng(_SEED)
    common, own = rng.standard_normal(ROWS), rng.standard_normal((columns, ROWS))
    hidden = common + rng.standard_normal(ROWS)
    places = np.searchsorted(np.quantile(hidden, np.arange(1, classes) / classes), hidden) if classes else None
    ranks = ndtr(np.sqrt(0.5) * (common + own))
    shapes = [(shape,) * columns for shape in SHAPES]
    if any(rounding):
        shapes += [tuple(shape if each else SHAPES[-1] for each in rounding) for shape in NARROW]
    return tuple(
        Reference(
            np.column_stack([_placed(*each) for each in zip(ranks, shape, strict=True)]),
            np.zeros(ROWS, dtype=np.int64) if places is None else places.astype(np.int64),
        )
        for shape in shapes
    )


def _placed(ranks: Float64, shape: tuple[float, float]) -> Float64:
    """Where a beta distribution has these ranks, below 1."""
    return np.asarray(np.clip(betaincinv(*shape, ranks), 0.0, np.nextafter(1.0, 0.0)))


@dataclass(frozen=True, eq=False)
class ShapeMeans:
    """What a measure is on one shape: its exact means, and how it changes with them.

    Fields:
        means: Exact means of the kernels, shape (m,).
        gradient: Derivatives of the measure, shape (m,).
        rows: The records, for which the domain's number of bins does not matter.
        classes: Their classes.
    """

    means: Float64
    gradient: Float64
    rows: Float64
    classes: Int64


@lru_cache(maxsize=64)
def shape_means(measure: Measure, domain: Domain, classes: int) -> tuple[ShapeMeans, ...]:
    """A measure on every shape."""
    results = []
    rounding = tuple(bool(widths(column).any()) for column in domain.columns)
    for reference in references(len(domain.columns), max(classes, 2), rounding):
        rows = reference.rows(domain)
        labels = reference.classes if classes else None
        means = np.array([kernel.exact(rows, labels) for kernel in measure.kernels])
        value = measure.of(means, columns=domain, records=ROWS)
        gradient = np.where(np.isfinite(value.gradient), value.gradient, 0.0)
        results.append(ShapeMeans(means, gradient, rows, reference.classes))
    return tuple(results)
