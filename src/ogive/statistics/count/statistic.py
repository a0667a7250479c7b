"""How many records have a value, or one of the values named."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal, TypedDict, get_args

from ogive.columns import LabelValue, Membership
from ogive.parameters import one_of
from ogive.queries import Answer, Query
from ogive.statistics.base import Terms, canonical_class
from ogive.statistics.confidence import check_level
from ogive.statistics.sums.ask import ask_two_places, several
from ogive.statistics.sums.estimate import CountEstimate

CountMissing = Literal["no", "refuse"]
MISSING: tuple[CountMissing, ...] = get_args(CountMissing)


class CountOptions(TypedDict, total=False):
    """The fields of `Count` that are options."""

    among: LabelValue | tuple[LabelValue, ...] | None
    missing: CountMissing
    confidence_level: float


@dataclass(frozen=True)
class Count:
    """The number of records with a value, or with one of the values named.

    Fields:
        column: Column of numbers, truth values or text.
        among: The values that count, public; by default any value that is not missing.
        missing: What a missing value means: "no" (it does not count) or "refuse" (an error).
        confidence_level: Of the interval, above 0 and at most 0.9999.
    """

    name: ClassVar[str] = "count"

    column: str
    _: KW_ONLY
    among: LabelValue | tuple[LabelValue, ...] | None = None
    missing: CountMissing = one_of(*MISSING)
    confidence_level: float = 0.95

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))
        _ = self.membership

    @property
    def membership(self) -> Membership:
        """Whether a record counts."""
        return Membership(self.column, None if self.among is None else several(self.among), self.missing)

    def canonical(self) -> Count:
        """The canonical form of the statistic."""
        return dataclasses.replace(self, among=canonical_class(self.membership.values))

    def alternatives(self) -> dict[str, Count]:
        """None: the trust model and the adjacency determine the method."""
        return {"count": self}

    def questions(self, terms: Terms) -> Generator[Query, Answer, CountEstimate]:
        """Count once.

        Privacy: one measurement at the whole of `terms.privacy`, or one report of every owner.
        """
        column = self.membership
        measured = yield from ask_two_places(column, terms)
        return CountEstimate(
            self.column, measured, missing=self.missing, confidence_level=self.confidence_level, values=column.values
        )
