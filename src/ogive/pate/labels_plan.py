"""What aggregators would bring: rows of a plan, and how they are kept in files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from ogive.errors import DataError, OgiveError
from ogive.pate.aggregators import ConfidentGNMax, GNMax, InteractiveGNMax, LargestMargins
from ogive.planning.base import BasePlan
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
    """The best of one kind of aggregator for one guarantee and number of answers.

    Fields:
        epsilon: That the labels cost at most at the plan's delta, whatever the votes are.
        aggregator: "confident", "interactive", "margins" or "gnmax".
        parameters: Of it, in votes; the confidence is a probability.
        asked: How many queries are asked, the first ones.
        max_answers: How many answers are paid for; for "margins" how many queries are labelled.
        answered: How many are expected to be answered.
        right: Expected share of these that agree with the truth, or with the plurality where that is not known.
        joint: The data-dependent cost of these votes, for comparison: no guarantee for others. None for "margins",
            which has none.
        corrected: How many answers are expected to be right where the student errs; None without a student.
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
        """What rows are chosen by: right answers, or those that correct the student where there is one."""
        return self.answered * self.right if self.corrected is None else self.corrected

    def made(self) -> PlannedAggregator:
        """The aggregator, to label with."""
        return _KINDS[self.aggregator](**self.parameters)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True, repr=False)
class LabelsPlan(BasePlan[LabelsPlanRow]):
    """What aggregators would bring.

    Fields:
        delta: Of every guarantee.
        queries: In the votes.
        teachers: In the votes.
        classes: In the votes.
        known: Whether labels are compared with the truth; else with the plurality.
        rows: By guarantee, number of answers, and aggregator.
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
        """For each epsilon, in increasing order, the row with the most right answers.

        Where there is a student, the row whose answers correct it most often.
        """
        budgets = sorted({row.epsilon for row in self.rows})
        return tuple(
            max((row for row in self.rows if row.epsilon == each), key=lambda row: row.gain) for each in budgets
        )

    @property
    def best(self) -> LabelsPlanRow:
        """The last of `best_by_epsilon`: that of the largest epsilon."""
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
