"""A calibration test in one line of a table, beside those of other groups."""

from __future__ import annotations

from ogive.digits import p_value
from ogive.statistics.calibration.estimate import Calibration


def about(found: Calibration) -> str:
    """What was released."""
    return f"calibration of {found.probability} for {found.label.column}"


def titles(found: Calibration) -> tuple[str, ...]:
    """Headings of the cells."""
    return "records", "expected", "observed", "statistic", "p-value"


def cells(found: Calibration) -> tuple[str, ...]:
    """Number of records, expected and observed positives, and the test."""
    known = "" if found.total is not None or not found.private else "about "
    size = found.sums.expected.sum()
    shown = f"{known}{size:,.0f}", f"{found.sums.expected[1].sum():,.0f}", f"{found.sums.observed[1].sum():,.0f}"
    if not found.defined:
        return (*shown, "-", "-")
    return (*shown, f"{found.statistic:.2f}", p_value(found.p_value, 3).removeprefix("= "))
