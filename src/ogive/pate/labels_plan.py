"""What aggregators would bring: rows of a plan, and how they are kept in files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from ogive.errors import DataError, OgiveError
from ogive.pate.aggregators import ConfidentGNMax, GNMax, InteractiveGNMax, LargestMargins
from ogive.releasing.planning.rows import BasePlan
from ogive.statistics.plain_json import Fields, is_number

PlannedAggregator = ConfidentGNMax | InteractiveGNMax | GNMax | LargestMargins

_KINDS: dict[str, Callable[..., PlannedAggregator]] = {
    "confident": ConfidentGNMax,
    "interactive": InteractiveGNMax,
    "gnmax": GNMax,
    "margins": LargestMargins,
}
_PARAMETERS = {
    "confident": ("threshold", "sigma_1", "sigma_2"),
    "interactive": ("threshold", "sigma_1", "sigma_2", "confidence"),
    "gnmax": ("sigma",),
    "margins": ("sigma", "keep"),
}


@dataclass(frozen=True)
class LabelsPlanRow:
    """The best aggregator of one kind for one guarantee and number of answers.

    Fields:
        epsilon: Upper bound of the cost of the labels at the plan's delta, for all votes.
        aggregator: "confident", "interactive", "margins" or "gnmax".
        parameters: Parameters of the aggregator, in votes; the confidence is a probability.
        asked: Number of queries asked, from the first.
        max_answers: Number of answers that are charged; for "margins" the number of labelled queries.
        answered: Expected number of answers.
        right: Expected share of answers that agree with the true class, or with the plurality if that is unknown.
        joint: The data-dependent cost of these votes, for comparison; it is not a guarantee for other votes. None for
            "margins".
        corrected: Expected number of correct answers where the student is wrong; None without a student.
    """

    epsilon: float
    aggregator: str
    parameters: dict[str, float]
    asked: int
    max_answers: int
    answered: float
    right: float
    joint: float | None
    corrected: float | None

    @property
    def gain(self) -> float:
        """The criterion for choosing rows: correct answers, or with a student those that correct it."""
        return self.answered * self.right if self.corrected is None else self.corrected

    def made(self) -> PlannedAggregator:
        """The aggregator of this row."""
        return _KINDS[self.aggregator](**self.parameters)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class LabelsPlan(BasePlan[LabelsPlanRow]):
    """Comparison of aggregators for planned labels.

    Fields:
        delta: Delta of every guarantee.
        queries: Number of queries in the votes.
        teachers: Number of teachers in the votes.
        classes: Number of classes in the votes.
        known: Whether labels are compared with the true classes; else with the plurality.
        rows: Rows by guarantee, number of answers and aggregator.
    """

    schema: ClassVar[str] = "ogive.labels_plan/1"
    kind: ClassVar[str] = "a plan of labels"

    delta: float
    queries: int
    teachers: int
    classes: int
    known: bool
    rows: tuple[LabelsPlanRow, ...]

    @property
    def best_by_epsilon(self) -> tuple[LabelsPlanRow, ...]:
        """For each epsilon, in increasing order, the row with the most correct answers.

        With a student, the row whose answers correct it most often.
        """
        budgets = sorted({row.epsilon for row in self.rows})
        return tuple(
            max((row for row in self.rows if row.epsilon == each), key=lambda row: row.gain) for each in budgets
        )

    @property
    def best(self) -> LabelsPlanRow:
        """The last row of `best_by_epsilon`, which has the largest epsilon."""
        return self.best_by_epsilon[-1]

    @property
    def chosen(self) -> LabelsPlanRow:
        """The same as `best`."""
        return self.best

    @classmethod
    def _arguments(cls, known: Fields) -> dict[str, Any]:
        queries = known.whole("queries", 1)
        names = [field.name for field in fields(LabelsPlanRow)]
        return {
            "delta": known.chance("delta"),
            "queries": queries,
            "teachers": known.whole("teachers", 1),
            "classes": known.whole("classes", 2),
            "known": known.flag("known"),
            "rows": tuple(_row(row, queries) for row in known.rows("rows", "a plan's row", names, nonempty=True)),
        }


def _row(row: Fields, queries: int) -> LabelsPlanRow:
    if row.text("aggregator") not in _KINDS:
        raise DataError(f"the aggregator of a plan's row must be {', '.join(_KINDS)}")
    asked = row.whole("asked", 1, queries)
    read = LabelsPlanRow(
        epsilon=row.number("epsilon"),
        aggregator=row.text("aggregator"),
        parameters=_parameters(row),
        asked=asked,
        max_answers=row.whole("max_answers", 1, queries),
        answered=row.number("answered", asked),
        right=row.number("right", 1),
        joint=None if row.data["joint"] is None else row.number("joint"),
        corrected=None if row.data["corrected"] is None else row.number("corrected", asked),
    )
    try:
        read.made()
    except OgiveError as problem:
        raise DataError(f"the parameters of a plan's row: {problem}") from None
    return read


def _parameters(row: Fields) -> dict[str, float]:
    wanted, given = _PARAMETERS[row.text("aggregator")], row.data["parameters"]
    if not isinstance(given, dict) or set(given) != set(wanted) or not all(map(is_number, given.values())):
        aggregator = row.text("aggregator")
        raise DataError(f"the parameters of {aggregator} in a plan's row must be numbers: {', '.join(wanted)}")
    return dict(given)
