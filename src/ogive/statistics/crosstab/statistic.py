"""How many records have each combination of values of two columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from ogive.columns import LISTING_POLICIES, Domain, LabelValues, Listed, ListingPolicy
from ogive.core.checks import one_of
from ogive.queries import Answer, Query
from ogive.statistics.base import Terms
from ogive.statistics.confidence import check_level
from ogive.statistics.crosstab.estimate import CrosstabEstimate, of_both
from ogive.statistics.histogram.statistic import declared
from ogive.statistics.kinds import Command
from ogive.statistics.sums.statistic import ask_table

MOST_CELLS = 2500

ListingPolicies = ListingPolicy | Mapping[str, ListingPolicy]
"""One policy for both columns, or policies by column."""


@dataclass(frozen=True)
class Crosstab:
    """Number of the records with each combination of values of two columns, and a test of whether they are independent.

    Fields:
        row: Column whose values are the rows of the table: numbers, truth values or text.
        column: Column whose values are the columns of the table, another one.
        rows: The values of the first column, public, in the order in which they are shown.
        columns: The values of the second column, public.
        other: What a value that is not declared means, in both columns: "refuse" (an error), "count" (a row or column
            of its own) or "drop" (the record is not counted; ADD_OR_REMOVE only).
        missing: What a missing value means: "refuse" (an error), "count" (a row or column of its own) or "drop" (the
            record is not counted; ADD_OR_REMOVE only), for both columns; or policies by column, {"ward": "count"},
            where the other column refuses.
        confidence_level: Of the intervals, above 0 and at most 0.9999.
    """

    name: ClassVar[str] = "crosstab"

    row: str
    column: str
    _: KW_ONLY
    rows: LabelValues | None = None
    columns: LabelValues | None = None
    other: ListingPolicy = one_of(*LISTING_POLICIES)
    missing: ListingPolicies = "refuse"
    confidence_level: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))
        Domain(self.listed).check_size(MOST_CELLS)

    @property
    def listed(self) -> tuple[Listed, Listed]:
        """Which row and which column of the table a record is of."""
        first, second = of_both(self.missing, self.row, self.column)
        return (
            Listed(self.row, declared(self.rows, "rows"), self.other, first),
            Listed(self.column, declared(self.columns, "columns"), self.other, second),
        )

    def canonical(self) -> Crosstab:
        """The one spelling that stands for all of the same question."""
        row, column = self.listed
        return dataclasses.replace(self, rows=row.values, columns=column.values, missing=self._policies)

    @property
    def _policies(self) -> Any:
        """What a missing value means, in one word where both columns have the same policy."""
        row, column = self.listed
        return (
            row.missing if row.missing == column.missing else {row.column: row.missing, column.column: column.missing}
        )

    def alternatives(self) -> dict[str, Crosstab]:
        """There is one way, which the trust model decides."""
        return {"crosstab": self}

    def questions(self, terms: Terms) -> Generator[Query, Answer, CrosstabEstimate]:
        """Count every combination once.

        Privacy: one measurement at the whole of `terms.privacy`, or one report of every owner.
        """
        row, column = self.listed
        measured = yield from ask_table((row, column), terms)
        return CrosstabEstimate(
            self.row,
            self.column,
            measured,
            rows=row.values,
            columns=column.values,
            other=self.other,
            missing=self._policies,
            confidence_level=self.confidence_level,
        )


# --- For the command line

COMMAND = Command(
    help={
        "rows": "The values of the first column, public: words, or one word with commas.",
        "columns": "The values of the second column, public: words, or one word with commas.",
    },
    groups=dict.fromkeys(("rows", "columns", "other", "missing"), "What is measured"),
    owner_help={
        "other": "What a value that is not declared means: refuse or count.",
        "missing": "What a missing value means: refuse or count.",
    },
    owners={"other": ("refuse", "count"), "missing": ("refuse", "count")},
)
