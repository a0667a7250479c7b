"""A histogram in one line of a table, beside those of other groups: the share of each category."""

from __future__ import annotations

from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.histogram.text import level, percent


def about(found: HistogramEstimate) -> str:
    """What was released."""
    return f"histogram of {found.column} with {level(found)} intervals of the shares"


def titles(found: HistogramEstimate) -> tuple[str, ...]:
    """Headings of the cells: the categories."""
    return found.categories


def cells(found: HistogramEstimate) -> tuple[str, ...]:
    """Count of each category, and its share with the interval."""
    if not found.defined:
        return ("-",) * len(found.categories)
    rows = zip(found.counts, found.shares, found.intervals(), strict=True)
    return tuple(
        f"{count:,.0f} ({percent(share)}, {100 * low:.1f} to {100 * high:.1f})" for count, share, (low, high) in rows
    )
