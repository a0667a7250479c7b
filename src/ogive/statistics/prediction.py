"""How far off a release will be: what `plan` asks of a statistic.

Planning knows no particular statistic. It simulates whole releases of imagined records, which serves all of them, and
leaves to a statistic what it knows better: errors that hold for all records, which imagined records stand in where none
are given, and how errors are called. A statistic says so by a class `Prediction` in `plan.py` of its folder, or
`NamePrediction` beside its question or its estimate, a subclass of the one here, whose defaults are those of a
statistic that can only be simulated.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from ogive.core.arrays import Float64, Int64
from ogive.errors import ParameterError
from ogive.noise import DiscreteLaplace, Geometric
from ogive.privacy import Adjacency, Loss, PrivacyUnit
from ogive.queries import Aggregate, Answer, Query, ReportsQuery
from ogive.statistics.base import Estimate, Statistic, Terms

if TYPE_CHECKING:
    from ogive.records.imagined import Shape

Span = tuple[float, float]
"""Smallest and largest error over the public shapes."""

Sums = Callable[[Aggregate], Int64]
"""Exact integers of the known records for each aggregate."""

CONFIDENCE = Fraction(95, 100)
"""Of predicted bands, and of errors that most releases stay within."""

FEWEST_CURVES = 199
"""How many curves of noise are simulated at least."""

SIMULATED_RELEASES = 200
"""How many whole releases are simulated for a row by default."""


@dataclass(frozen=True)
class Metric:
    """One kind of error.

    Fields:
        squared: Whether simulated errors are summed up as a root mean square, as those of single estimates are;
            otherwise as a mean.
        of_range: Whether it is a share of the distance between the bounds. A page shows it as a distance of values.
        of_curve: Whether it is of a published curve on public shapes, or without a span over these, of the raw curve.
    """

    title: str
    words: str
    squared: bool = False
    of_range: bool = False
    of_curve: bool = False


UNITS = "in units of the column"
"""Words of an error that is a distance of values; who knows the unit is told it in their place."""

UNDEFINED = Metric("undefined", "share of releases that are undefined; the other errors leave them out")


class Errors(dict[str, float]):
    """Predicted errors by name."""

    def __init__(
        self, errors: Mapping[str, float], spans: Mapping[str, Span] | None = None, basis: tuple[str, ...] = ()
    ) -> None:
        super().__init__(errors)
        self.spans = dict(spans or {})
        self.basis = basis

    @staticmethod
    def over_shapes(values: Mapping[str, Float64]) -> Errors:
        """The largest of the values of each error, one for each shape, with the span."""
        spans = {name: (float(each.min()), float(each.max())) for name, each in values.items()}
        return Errors({name: most for name, (_, most) in spans.items()}, spans)


@dataclass(frozen=True)
class Rehearsal:
    """One procedure from the first query to the estimate.

    Fields:
        queries: The first query of each measurement, in the order asked, with the noise that answers will have.
    """

    estimate: Estimate
    queries: tuple[Query, ...]
    questions: tuple[Query, ...]
    price: Loss
    terms: Terms


class Rehearse(Protocol):
    """Runs a statistic's questions on known sums, as `planning.rehearsal.rehearse` does."""

    def __call__(self, statistic: Statistic[Any], terms: Terms, sums: Sums, *, run: int | None) -> Rehearsal:
        """The rehearsal with the noise of that run; with exact answers where it is None."""
        ...


@dataclass(frozen=True)
class Setting:
    """What is planned for.

    Fields:
        given: Whether somebody gave them; then errors are those of these records, and simulated.
        answer: Answers one query about records with these integers in the imagined release of that number.
    """

    records: int
    unit: PrivacyUnit
    shape: Shape
    given: bool
    distributed: bool
    rehearse: Rehearse
    answer: Callable[[Query, Int64, Terms, int | None], Answer]

    @property
    def total_known(self) -> bool:
        """Whether the number of records is public."""
        return self.unit.adjacency is Adjacency.REPLACE


class Prediction:
    """Price and errors of one method of a statistic under one guarantee.

    Attributes:
        queries: The first query of each measurement, in the order asked, with the noise that answers will have.
    """

    metrics: ClassVar[Mapping[str, Metric]] = {}
    """What the errors of the statistic are, in the order of a table's columns."""

    deciding: ClassVar[tuple[str, ...]] = ()
    """Errors by which one decides: a picture shows the first of them that a plan has."""

    shown: ClassVar[tuple[str, ...]] = ()
    """Errors that people are shown, where these are not all: the others are in JSON."""

    labeled: ClassVar[bool] = False
    """Whether imagined records have classes."""

    runs: ClassVar[int] = SIMULATED_RELEASES
    """How many whole releases are simulated by default."""

    queries: tuple[Query, ...]
    questions: tuple[Query, ...]
    price: Loss

    def __init__(self, statistic: Statistic[Any], terms: Terms, setting: Setting) -> None:
        self.statistic, self.terms, self.setting = statistic, terms, setting
        self.rehearsal = rehearsal = setting.rehearse(self.measured(statistic), terms, setting.shape.sums, run=0)
        self.queries, self.questions, self.price = rehearsal.queries, rehearsal.questions, rehearsal.price

    @classmethod
    def imagined(cls, statistic: Any, records: int, assumed: Mapping[str, float]) -> Shape:
        """The records that stand in where none are given."""
        for name, value in () if cls.labeled else assumed.items():
            raise ParameterError(f"nothing here is about records in two classes; leave out `{name}={value:g}`")
        from ogive.records.imagined import BinormalShape  # slow to import

        return BinormalShape(records, **assumed, labeled=cls.labeled)

    @staticmethod
    def measured(statistic: Any) -> Statistic[Any]:
        """What is asked of the records, where the statistic itself computes more than that from the answers."""
        measured: Statistic[Any] = statistic
        return measured

    @classmethod
    def closer(cls, trusted: Collection[str], adjacency: Adjacency) -> str | None:
        """A marked line that names another statistic for who needs a part of this one alone, where that errs less."""
        return None

    @property
    def decided(self) -> bool:
        """Whether the predicted errors decide between methods, so that only given records are simulated."""
        return False

    def errors(self) -> Errors:
        """Errors that hold for all records, or for public shapes of them."""
        return Errors({})

    def simulated(self) -> tuple[Statistic[Any], Terms]:
        """What is released in a simulation, and under which terms."""
        return self.statistic, self.terms

    def is_method_of(self, statistic: Any) -> bool:
        """Whether this is how the statistic is released that asks the same questions."""
        return True

    def noise(self, errors: Mapping[str, float]) -> str:
        """Kind and size of the noise in words, without the bias that some errors include."""
        deviation = self.deviation(errors)
        size = "" if deviation is None else f", +/- {deviation:.3g} records"
        if isinstance(self.queries[-1], ReportsQuery):
            return f"{self.setting.records} randomized reports{size}"
        levels = [level for query in self.queries for level in query.levels]
        named: dict[type, str] = {DiscreteLaplace: "Laplace", Geometric: "one-sided"}
        kinds = {named.get(type(level.law), "Gaussian") for level in levels}
        nodes = sum(level.nodes for level in levels)
        return f"{' and '.join(sorted(kinds))} on {nodes} sums{size}"

    def deviation(self, errors: Mapping[str, float]) -> float | None:
        """Standard deviation of the noise of cumulative counts before smoothing, as a root mean square."""
        return errors["rmse"] * self.setting.records if "rmse" in errors else None


@functools.cache
def simulated(estimate: type[Estimate]) -> type[Prediction]:
    """How a statistic is planned that has no more to say than what its errors are."""
    if not estimate.error_words:
        return Prediction
    metrics = {name: Metric(name.replace("_", " "), words) for name, words in estimate.error_words.items()}
    return type("Prediction", (Prediction,), {"metrics": metrics})
