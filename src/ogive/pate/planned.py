"""What aggregators would bring: rows of a plan, and how they are kept in files."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from ogive.errors import DataError, OgiveError
from ogive.pate.aggregators import ConfidentGNMax, GNMax, InteractiveGNMax, LargestMargins
from ogive.rooms import room
from ogive.statistics import plain_json
from ogive.statistics.plain_json import Fields, is_number, is_whole

Planned = ConfidentGNMax | InteractiveGNMax | GNMax | LargestMargins

_KINDS: dict[str, Callable[..., Planned]] = {
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
_ROOM = 1 + 1e-9  # sums of chances may exceed the number of queries by rounding


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

    def made(self) -> Planned:
        """The aggregator, to label with."""
        return _KINDS[self.aggregator](**self.parameters)


@dataclass(frozen=True)
class LabelsPlan:
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

    delta: float
    queries: int
    teachers: int
    classes: int
    known: bool
    rows: tuple[LabelsPlanRow, ...]

    @property
    def best(self) -> LabelsPlanRow:
        """The row with the most right answers at the largest epsilon; that correct the student, where there is one."""
        most = max(row.epsilon for row in self.rows)
        return max((row for row in self.rows if row.epsilon == most), key=lambda row: row.gain)

    def plot(self, ax: Any = None) -> Any:
        """Draw the share of right labels against epsilon or the number of answers; returns matplotlib axes.

        Raises:
            ParameterError: matplotlib is not installed.
        """
        return room(LabelsPlan, "plot").plot_labels_plan(self, ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain data of the published schema."""
        return {"schema": self.schema, **asdict(self), "rows": [asdict(row) for row in self.rows]}

    def to_json(self, path: str | Path | None = None) -> str:
        """JSON text of `to_dict`; with a path, also written there, whole or not at all.

        Raises:
            ParameterError: the file cannot be written.
        """
        return plain_json.write(self.to_dict(), path, public=True, indent=1)

    @staticmethod
    def from_dict(data: Any) -> LabelsPlan:
        """Rebuild from `to_dict`. The data need not be trusted.

        Raises:
            DataError: this is no plan of labels that this version can read.
        """
        known = Fields.of(data, LabelsPlan.schema, "a plan of labels", (field.name for field in fields(LabelsPlan)))
        for name, least in (("queries", 1), ("teachers", 1), ("classes", 2)):
            if not is_whole(data[name]) or data[name] < least:
                raise DataError(f"the {name} of a plan of labels must be a whole number from {least}")
        if not isinstance(data["known"], bool):
            raise DataError("the field 'known' of a plan of labels must be true or false")
        if not isinstance(data["rows"], list) or not data["rows"]:
            raise DataError("the rows of a plan of labels must be a list of at least one object")
        return LabelsPlan(
            delta=known.chance("delta"),
            queries=data["queries"],
            teachers=data["teachers"],
            classes=data["classes"],
            known=data["known"],
            rows=tuple(_row(row, data["queries"]) for row in data["rows"]),
        )

    @staticmethod
    def from_json(source: str | bytes | Path) -> LabelsPlan:
        """Read a plan from JSON text, or from a file if given a Path. The text need not be trusted.

        Raises:
            DataError: this is no plan of labels that this version can read.
        """
        return LabelsPlan.from_dict(plain_json.parse(source))

    def __str__(self) -> str:
        what = "the truth" if self.known else "the plurality"
        taught = any(row.corrected is not None for row in self.rows)
        heads = "  corrects" if taught else ""
        lines = [
            f"{self.queries} queries, {self.teachers} teachers, {self.classes} classes, delta = {self.delta:g}",
            f"epsilon  at most  aggregator   asked  answered   right{heads}  joint  parameters",
        ]
        for row in self.rows:
            joint = "-" if row.joint is None else f"{row.joint:.3f}"
            corrected = "" if row.corrected is None else f"  {row.corrected:8.1f}"
            said = ", ".join(f"{name} {value:g}" for name, value in row.parameters.items())
            lines.append(
                f"{row.epsilon:7.4g}  {row.max_answers:7d}  {row.aggregator:11}  {row.asked:5d}  {row.answered:8.1f}"
                f"  {row.right:6.1%}{corrected}  {joint:>5}  {said}"
            )
        lines += [
            f"right: share of the answered that agree with {what}; margins and confident pick what is easy",
            "epsilon holds for all votes; joint, the data-dependent cost, only for votes like these",
        ]
        if taught:
            lines.append("corrects: how many answers are right where the student errs, which rows are chosen by")
        return "\n".join(lines)


def _row(row: Any, queries: int) -> LabelsPlanRow:
    names = [field.name for field in fields(LabelsPlanRow)]
    if not isinstance(row, dict) or set(row) != set(names):
        raise DataError(f"a row of a plan of labels must be an object with {', '.join(names)}")
    if not isinstance(row["aggregator"], str) or row["aggregator"] not in _KINDS:
        raise DataError(f"the aggregator of a plan's row must be {', '.join(_KINDS)}")
    for name in ("asked", "max_answers"):
        if not is_whole(row[name]) or not 1 <= row[name] <= queries:
            raise DataError(f"the {name} of a plan's row must be a whole number from 1 to {queries}")
    joint = None if row["joint"] is None else _from_zero(row, "joint", math.inf)
    corrected = None if row["corrected"] is None else _from_zero(row, "corrected", row["asked"] * _ROOM)
    found = LabelsPlanRow(
        epsilon=_from_zero(row, "epsilon", math.inf),
        aggregator=row["aggregator"],
        parameters=_parameters(row),
        asked=row["asked"],
        max_answers=row["max_answers"],
        answered=_from_zero(row, "answered", row["asked"] * _ROOM),
        right=_from_zero(row, "right", _ROOM),
        joint=joint,
        corrected=corrected,
    )
    try:
        found.made()
    except OgiveError as problem:
        raise DataError(f"the parameters of a plan's row: {problem}") from None
    return found


def _parameters(row: dict[str, Any]) -> dict[str, float]:
    wanted, found = _PARAMETERS[row["aggregator"]], row["parameters"]
    if not isinstance(found, dict) or set(found) != set(wanted) or not all(map(is_number, found.values())):
        raise DataError(f"the parameters of {row['aggregator']} in a plan's row must be numbers: {', '.join(wanted)}")
    return dict(found)


def _from_zero(row: dict[str, Any], name: str, most: float) -> float:
    value = row[name]
    if not is_number(value) or not 0 <= value <= most:
        limit = "" if most == math.inf else f" to {most / _ROOM:g}"
        raise DataError(f"the field {name!r} of a plan's row must be a number from 0{limit}")
    return float(value)
