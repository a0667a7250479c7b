"""A cross table in one line of a table, beside those of other groups: counts of the combinations, and the test."""

from __future__ import annotations

import itertools

from ogive.statistics.crosstab.estimate import CrosstabEstimate
from ogive.statistics.crosstab.text import independence_line


def about(found: CrosstabEstimate) -> str:
    """What was released."""
    return f"{found.row} by {found.column}"


def titles(found: CrosstabEstimate) -> tuple[str, ...]:
    """Headings of the cells."""
    return (*(f"{row}, {column}" for row, column in itertools.product(found.row_names, found.column_names)), "test")


def cells(found: CrosstabEstimate) -> tuple[str, ...]:
    """Counts, and the test of independence."""
    return (*(f"{count:,.0f}" for row in found.counts for count in row), independence_line(found))
