"""How well a score separates two classes within groups and across them."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from ogive.columns import (
    LISTING_POLICIES,
    Binning,
    Domain,
    Label,
    LabelValue,
    LabelValues,
    Listed,
    ListingPolicy,
    Missing,
    OutsidePolicy,
)
from ogive.columns.grids import Bound, Grid, GridName
from ogive.core.checks import among, one_of
from ogive.queries import Answer, Query
from ogive.statistics.base import Terms, canonical_class
from ogive.statistics.confidence import check_level
from ogive.statistics.ecdf.statistic import make_grid
from ogive.statistics.group_auc.estimate import MOST_CELLS, GroupAucEstimate, check_groups
from ogive.statistics.histogram.statistic import declared
from ogive.statistics.kinds import Command
from ogive.statistics.roc.points import ORIENTATIONS, Orientation
from ogive.statistics.roc.statistic import class_values
from ogive.statistics.sums.statistic import ask_cells

BINS = 64
"""Of the score by default: ties within a bin then move an AUC by about 0.01, and noise grows with the root of bins."""


@dataclass(frozen=True)
class GroupAuc:
    """AUC of a score for the positives of each group against the negatives of each group, to see how fair the score is.

    Fields:
        score: Numeric or temporal column.
        label: Column with the class of each record.
        group: Column with the group of each record: numbers, truth values or text.
        bounds: Smallest and largest possible score, public.
        bins: Number of thresholds of the score.
        grid: "linear", "geometric", "integers", for dates and times "hours", "days", "weeks" or "months", or a `Grid`
            instead of bounds and bins.
        group_values: The groups, public, in the order in which they are shown.
        positive: Value or values of the positive class.
        negative: Value or values of the negative class. By default 0 if the positive class is 1, else the only other
            value in the records.
        positive_when: Scores that indicate the positive class, "high" or "low".
        other: What a group that is not declared means: "refuse" (an error), "count" (a group of its own) or "drop" (the
            record is not counted; ADD_OR_REMOVE only).
        missing_group: The same of a missing group.
        missing: What a missing score means: "refuse" (an error), "low" or "high" (the lower or the upper bound), or a
            public value within the bounds, as which it counts.
        outside: What a score outside the bounds means: "refuse" (an error), or "clip" (the nearer bound).
        confidence_level: Of the intervals, above 0 and at most 0.9999.
    """

    name: ClassVar[str] = "group_auc"

    score: str
    label: str
    group: str
    bounds: tuple[Bound, Bound] | None = None
    _: KW_ONLY
    bins: int = BINS
    grid: Grid | GridName = "linear"
    group_values: LabelValues | None = None
    positive: LabelValue | tuple[LabelValue, ...] = 1
    negative: LabelValue | tuple[LabelValue, ...] | None = None
    positive_when: Orientation = one_of(*ORIENTATIONS)
    other: ListingPolicy = one_of(*LISTING_POLICIES)
    missing_group: ListingPolicy = one_of(*LISTING_POLICIES)
    missing: Missing = one_of("refuse", "low", "high")
    outside: OutsidePolicy = one_of("refuse", "clip")
    confidence_level: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "positive", class_values(self.positive, "positive"))
        if self.negative is not None:
            object.__setattr__(self, "negative", class_values(self.negative, "negative"))
        elif self.positive == (1,):
            object.__setattr__(self, "negative", (0,))
        among(self.positive_when, "positive_when", ORIENTATIONS)
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))
        binning, listed, _ = self.columns()
        object.__setattr__(self, "missing", binning.missing)
        check_groups(listed)
        self.domain.check_size(MOST_CELLS)

    def columns(self) -> tuple[Binning, Listed, Label]:
        """Bin, group and class of a record."""
        assert isinstance(self.positive, tuple)
        assert self.negative is None or isinstance(self.negative, tuple)
        return (
            Binning(self.score, make_grid(self.bounds, self.bins, self.grid), self.missing, self.outside),
            Listed(self.group, declared(self.group_values, "group_values"), self.other, self.missing_group),
            Label(self.label, self.positive, self.negative),
        )

    @property
    def domain(self) -> Domain:
        """Every combination of bin, group and class."""
        return Domain(self.columns())

    def canonical(self) -> GroupAuc:
        """The one spelling that stands for all of the same question: the grid itself, and classes in one order."""
        binning, listed, label = self.columns()
        return dataclasses.replace(
            self,
            bounds=None,
            bins=binning.grid.bins,
            grid=binning.grid,
            group_values=listed.values,
            positive=canonical_class(label.positive),
            negative=canonical_class(label.negative),
        )

    def alternatives(self) -> dict[str, GroupAuc]:
        """There is one way: a count of every combination."""
        return {"cells": self}

    def questions(self, terms: Terms) -> Generator[Query, Answer, GroupAucEstimate]:
        """Count every combination of bin, group and class once.

        Privacy: one measurement at the whole of `terms.privacy`; all areas are post-processing.
        """
        binning, listed, label = self.columns()
        measured = yield from ask_cells(self.domain, terms)
        return GroupAucEstimate(
            binning,
            listed,
            label,
            measured,
            positive_when=self.positive_when,
            confidence_level=self.confidence_level,
        )


# --- For the command line

COMMAND = Command(
    help={
        "group_values": "The groups, public: words, or one word with commas.",
        "other": "What a group that is not declared means: refuse, count or drop.",
        "missing_group": "What a missing group means: refuse, count or drop.",
    },
    groups=dict.fromkeys(("group_values", "other", "missing_group"), "Groups that are compared"),
)
