"""The share of the records that have one of the values named."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, TypedDict

from ogive.columns import MEMBERSHIP_POLICIES, LabelValue, Membership, MembershipPolicy
from ogive.parameters import added, one_of
from ogive.queries import Answer, Query
from ogive.statistics.base import Terms, canonical_class
from ogive.statistics.confidence import check_level
from ogive.statistics.sums.ask import ask_two_places, several
from ogive.statistics.sums.estimate import ProportionEstimate


class ProportionOptions(TypedDict, total=False):
    """The fields of `Proportion` that are options."""

    positive: LabelValue | tuple[LabelValue, ...]
    missing: MembershipPolicy
    confidence_level: float
    negative: LabelValue | tuple[LabelValue, ...] | None


@dataclass(frozen=True)
class Proportion:
    """The share of the records that have one of the values named, all other records being the rest.

    Fields:
        column: Column of numbers, truth values or text.
        positive: Value or values that count as positive, public; every other value does not, see `negative`.
        missing: What a missing value means: "refuse" (an error), "no" (it is not positive), or "drop" (not counted;
            ADD_OR_REMOVE only).
        confidence_level: Of the interval, above 0 and at most 0.9999.
        negative: Value or values that do not count as positive, public; where they are named, a value that is neither
            is an error. None takes every other value.
    """

    name: ClassVar[str] = "proportion"

    column: str
    _: KW_ONLY
    positive: LabelValue | tuple[LabelValue, ...] = 1
    missing: MembershipPolicy = one_of(*MEMBERSHIP_POLICIES)
    confidence_level: float = 0.95
    negative: LabelValue | tuple[LabelValue, ...] | None = added(None)

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))
        _ = self.membership

    @property
    def membership(self) -> Membership:
        """Whether a record is positive."""
        others = None if self.negative is None else several(self.negative)
        return Membership(self.column, several(self.positive), self.missing, others)

    def canonical(self) -> Proportion:
        """The canonical form of the statistic."""
        positive: Any = canonical_class(self.membership.values)
        return dataclasses.replace(self, positive=positive, negative=canonical_class(self.membership.others))

    def alternatives(self) -> dict[str, Proportion]:
        """None: the trust model and the adjacency determine the method."""
        return {"proportion": self}

    def questions(self, terms: Terms) -> Generator[Query, Answer, ProportionEstimate]:
        """Count once.

        Privacy: one measurement at the whole of `terms.privacy`, or one report of every owner.
        """
        column = self.membership
        measured = yield from ask_two_places(column, terms)
        return ProportionEstimate(
            self.column, measured, missing=self.missing, confidence_level=self.confidence_level, values=column.values
        )
