"""What every method of measuring a pairwise statistic has in common, and the shapes that they are compared on."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from scipy.special import betaincinv, ndtr

from ogive.columns import Binning, Categories, Column, Domain, Label
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import completed, written_fields
from ogive.errors import BudgetError, OgiveError, ParameterError, ScaleError, UnsupportedError
from ogive.kernels.base import Measure, are_points, widths
from ogive.kernels.tuples import InOrder, of_triples
from ogive.local.base import Oracle
from ogive.queries import Answer, Query, ReportsQuery, RowValues
from ogive.statistics.base import Terms
from ogive.statistics.ustatistic.means import Means

USUAL_RECORDS = 10_000  # where their number is private and nobody guessed it
ANY_BINS = 2  # of a domain whose number of bins does not matter

DOES_NOT_FIT = (ParameterError, UnsupportedError, ScaleError, BudgetError)


@dataclass(frozen=True)
class Described:
    """One column, with two bins where their number is free, which is left to the method.

    On a grid of integers it refuses fractions: each bin stands for a single number, as kernels take it.
    """

    column: Column
    free: bool = False

    def __post_init__(self) -> None:
        column = self.column
        if isinstance(column, Binning) and column.grid.kind == "integers" and column.fractions != "refuse":
            object.__setattr__(self, "column", dataclasses.replace(column, fractions="refuse"))

    def with_bins(self, bins: int) -> Column:
        if not self.free:
            return self.column
        assert isinstance(self.column, Binning)
        return dataclasses.replace(self.column, grid=dataclasses.replace(self.column.grid, bins=bins))

    def to_dict(self) -> dict[str, Any]:
        [column] = Domain((self.column,)).to_dict()["columns"]
        return {**column, "free": self.free}

    @staticmethod
    def from_dict(data: Any) -> Described:
        if not isinstance(data, dict) or not isinstance(data.get("free"), bool):
            raise ParameterError("a described column must be an object that says whether its bins are free")
        column = Domain.from_dict({"columns": [data]}).columns[0]
        if data["free"] and not (isinstance(column, Binning) and column.grid.kind in ("linear", "geometric")):
            raise ParameterError("only linear and geometric grids leave their bins to the method")
        return Described(column, data["free"])


def domain_of(columns: Sequence[Described], bins: int) -> Domain:
    """The domain of some columns, with this number of bins wherever it is free."""
    return Domain(tuple(each.with_bins(bins) for each in columns))


MeanMethodT = TypeVar("MeanMethodT", bound="MeanMethod")
QueryT = TypeVar("QueryT", bound=Query)


@dataclass(frozen=True)
class MeanTask:
    """A question about the records, and under which terms; `classes` are public.

    `matrix` says how a kernel is read off two bins, `rounding` whether values go to one of the two nearest nodes at
    random, and `expected` is a public guess of the number of records.
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
        return 0 if self.classes is None else self.classes.size

    @property
    def free(self) -> int:
        return sum(each.free for each in self.columns)

    @property
    def exactly_binned(self) -> bool:
        """Whether every bin holds one value, as of categories and whole numbers, so that bins round nothing."""
        return are_points(self.domain(ANY_BINS))

    def domain(self, bins: int) -> Domain:
        return domain_of(self.columns, bins)

    @property
    def shapes(self) -> tuple[ShapeMeans, ...]:
        """The measure on the public reference shapes."""
        return shape_means(self.measure, self.domain(ANY_BINS), self.number_of_classes)

    @property
    def tuples(self) -> Literal["pairs", "triples", "classes"]:
        """What the kernels look at: pairs or triples of records, or a record of each class."""
        if of_triples(self.measure):
            return "triples"
        return "classes" if of_classes(self.measure) else "pairs"

    def check(self, name: str, *, pairs: bool = False) -> None:
        """Refuse randomized rounding for a method without reports, and for one of pairs other kernels."""
        if pairs and self.tuples != "pairs":
            looks = "three; use `method='kernel'` of a curator, or `method='krr'` of owners"
            if self.tuples == "classes":
                looks = "one of each class; use `method='kernel'`"
            raise ParameterError(f"method {name} is for pairs of records, and {self.measure.name} looks at {looks}")
        if self.rounding != "simple":
            raise ParameterError(f"method {name} rounds nothing at random; leave out `rounding='randomized'`")

    def served(self, query: QueryT) -> QueryT:
        """The query, if the trust model serves it and somebody could pay for it."""
        reason = self.terms.refusal(query)
        if reason is not None:
            raise UnsupportedError(reason)
        query.price(self.terms.unit)
        return query

    def reports(self, bins: int, oracle: Oracle) -> ReportsQuery:
        """Reports of all records by an oracle, if they are served."""
        return self.served(ReportsQuery(self.rows(bins), oracle, self.rounding))

    def best_bins(self, make: Callable[[int], MeanMethodT], *, most: int, powers: bool = False) -> MeanMethodT:
        """The best number of bins of the free columns, with at most `most` symbols.

        Noise grows with bins, so that two numbers in a row which are worse than the best are the last.
        """
        fixed = self.domain(1).size
        steps = [2**power * part // 2 for power in range(1, 24) for part in ((2,) if powers else (2, 3))]
        fitting = [step for step in steps if step >= 2 and fixed * step**self.free <= most] or [2]
        return best((partial(make, bins) for bins in (fitting if self.free else [1])), patience=2)

    def rows(self, bins: int) -> RowValues:
        """What is read of every record: the kernels' columns, then the public class."""
        columns: tuple[Column, ...] = self.domain(bins).columns
        return RowValues(Domain(columns if self.classes is None else (*columns, self.classes)))


@dataclass(frozen=True)
class MeanMethod(ABC):
    """A method of release: one query, its error that public quantities predict, and the means of its answer."""

    rounded: ClassVar[bool] = False  # to bins

    task: MeanTask
    query: Query
    bins: int

    @property
    @abstractmethod
    def name(self) -> str:
        """As in `Ustatistic(method=...)` and on the command line."""

    @abstractmethod
    def means(self, answer: Answer) -> Means:
        """Means of the kernels from the answer."""

    @cached_property
    def domain(self) -> Domain:
        return self.task.domain(self.bins)

    @cached_property
    def predicted(self) -> float:
        """Mean squared error of the measure that is expected on the reference shapes, of rounding too."""
        return float(np.mean([self._predicted(shape) for shape in self.task.shapes]))

    def _predicted(self, shape: ShapeMeans) -> float:
        raise NotImplementedError


class BinnedMethod(MeanMethod):
    """A method that reads kernels off bins, by a matrix between symbols for each."""

    rounded: ClassVar[bool] = True

    @cached_property
    def matrices(self) -> tuple[Float64, ...]:
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

    @cached_property
    def reach(self) -> tuple[Float64, ...]:
        """How far each kernel may be from its matrix."""
        return farthest(self.task, self.domain, self.matrices)

    def _within_reach(self, result: Means) -> Means:
        """The means, of which rounding moves none farther than it can between two symbols."""
        moved = np.minimum(result.quantization**2, [each.max() for each in self.reach])
        return dataclasses.replace(result, quantization=moved)


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


def of_classes(measure: Measure) -> bool:
    """Whether a measure looks at a record of each of several ordered classes, not at pairs."""
    return any(isinstance(kernel, InOrder) for kernel in measure.kernels)


def best(makers: Iterable[Callable[[], MeanMethodT]], *, patience: int | None = None) -> MeanMethodT:
    """The method with the smallest predicted error of those that fit, until `patience` in a row are worse."""
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


def farthest(task: MeanTask, domain: Domain, matrices: Sequence[Float64]) -> tuple[Float64, ...]:
    """How far every kernel may be from its matrix within two bins, each of shape (k, k).

    A value that is rounded at random to one of two nodes h apart is moved by 2 u (1 - u) h <= h / 2 on average.
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
# 1/2, and records of the positive class have larger values.

ROWS = 600
# parameters of the beta distributions that columns have, and where bins round: most values in a tenth of the bounds at
# one end, or a fifth in the middle
SHAPES = ((2.0, 5.0), (1.0, 1.0))
NARROW = ((2.0, 30.0), (40.0, 40.0))

_SEED = 0x75737461


@dataclass(frozen=True, eq=False)
class Reference:
    """Imagined records of one shape: positions in (0, 1), shape (rows, columns), and classes, shape (rows,)."""

    positions: Float64
    classes: Int64

    def rows(self, domain: Domain) -> Float64:
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
    below, results = np.nextafter(1.0, 0.0), []
    for shape in shapes:
        placed = [np.clip(betaincinv(*each, row), 0.0, below) for row, each in zip(ranks, shape, strict=True)]
        own_classes = np.zeros(ROWS, dtype=np.int64) if places is None else places.astype(np.int64)
        results.append(Reference(np.column_stack(placed), own_classes))
    return tuple(results)


@dataclass(frozen=True, eq=False)
class ShapeMeans:
    """Exact means of a measure's kernels on one shape and its derivatives in them, shape (m,), with the records."""

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
