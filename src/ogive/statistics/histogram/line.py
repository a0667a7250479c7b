"""A histogram in one line of a table, beside those of other groups: the share of each category."""

from __future__ import annotations

from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.histogram.text import percent


def about(found: HistogramEstimate) -> str:
    """What was released."""
    return f"histogram of {found.column}"


def titles(found: HistogramEstimate) -> tuple[str, ...]:
    """Headings of the cells: the categories."""
    return found.categories


def cells(found: HistogramEstimate) -> tuple[str, ...]:
    """Count and share of each category."""
    if not found.defined:
        return ("-",) * len(found.categories)
    pairs = zip(found.counts, found.shares, strict=True)
    return tuple(f"{count:,.0f} ({percent(share)})" for count, share in pairs)
