"""A cross table in one line of a table, beside those of other groups: counts of the combinations, and the test."""

from __future__ import annotations

import itertools

from ogive.statistics.crosstab.estimate import CrosstabEstimate
from ogive.statistics.crosstab.text import cell, independence


def about(found: CrosstabEstimate) -> str:
    """What was released."""
    return f"cross table of {found.row} and {found.column}, with shares of the rows"


def titles(found: CrosstabEstimate) -> tuple[str, ...]:
    """Headings of the cells."""
    names = itertools.product(found.row_names, found.column_names)
    return (*(f"{found.row} = {row}, {found.column} = {column}" for row, column in names), "independence")


def cells(found: CrosstabEstimate) -> tuple[str, ...]:
    """Counts with the share of the row, and the test of independence."""
    pairs = zip(itertools.chain(*found.counts), itertools.chain(*found.row_shares), strict=True)
    return (*(cell(count, share) for count, share in pairs), independence(found))
