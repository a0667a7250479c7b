"""A calibration test for people: some lines of text and a small table."""

from __future__ import annotations

import math
from typing import Any

from ogive.core.digits import number, p_value
from ogive.showing.view import Card
from ogive.statistics.calibration.estimate import Calibration, CalibrationGroup


def summary(calibration: Calibration) -> str:
    """Some lines of plain text."""
    lines = [f"  {name + ':':<12}{value}" for name, value in _facts(calibration)]
    return "\n".join([_title(calibration), *lines, "", *_table(calibration)])


def short(calibration: Calibration) -> str:
    """A few words."""
    return f"of {calibration.probability}: p {p_value(calibration.p_value, 3)}"


def card(calibration: Calibration) -> Card:
    """What notebooks show."""
    interval = f"{100 * calibration.confidence_level:g} % interval, all groups at once"
    rows = [
        (
            f"{group.low:.4g} to {group.high:.4g}",
            f"{sum(group.expected):,.0f}",
            *_shares(group),
        )
        for group in calibration.groups
    ]
    headings = ("probability", "records", "predicted", "observed", interval)
    return Card(_title(calibration), _facts(calibration), headings, rows)


def _title(calibration: Calibration) -> str:
    return f"Calibration of {calibration.probability}"


def _facts(calibration: Calibration) -> list[tuple[str, str]]:
    rows = [("privacy", calibration.caption)]
    if calibration.defined:
        rows.append(("statistic", f"{calibration.statistic:.4g} in {calibration.bounds.bins} groups"))
        if calibration.private:
            rows.append(
                (
                    "debiased",
                    f"{calibration.debiased_statistic:.4g}, corrected for the variance of the noise",
                )
            )
        shown = p_value(calibration.p_value, 4).removeprefix("= ")
        rows.append(("p-value", f"{shown} under perfect calibration, simulated with the same noise"))
        if calibration.too_wide:
            rows.append(("warning", "too noisy to use: almost any model would agree with intervals so wide"))
    else:
        rows.append(("warning", "the noise leaves too few records: the statistic is not defined"))
    return rows


def _table(calibration: Calibration) -> list[str]:
    percent = f"{100 * calibration.confidence_level:g} % CI, all groups at once"
    lines = [f"{'probability':>18}  {'records':>9}  {'predicted':>9}  {'observed':>9}  {percent}"]
    for group in calibration.groups:
        predicted, observed, interval = _shares(group)
        lines.append(
            f"{group.low:>8.4g} to {group.high:<6.4g}  {sum(group.expected):>9,.0f}  {predicted:>9}  {observed:>9}  "
            f"{interval}"
        )
    return lines


def _shares(group: CalibrationGroup) -> tuple[str, str, str]:
    """Predicted and observed share with the interval, in the digits that its width leaves."""
    low, high = group.interval
    predicted, observed = (
        "-" if math.isnan(each) else number(each, high - low) for each in (group.mean_predicted, group.observed_share)
    )
    return predicted, observed, f"{number(low, high - low)} to {number(high, high - low)}"


# --- A line in a table of groups


def line_about(found: Calibration) -> str:
    """What was released."""
    return f"calibration of {found.probability} for {found.label.column}"


def line_titles(found: Calibration) -> tuple[str, ...]:
    """Headings of the cells."""
    return "records", "expected", "observed", "statistic", "p-value"


def line_cells(found: Calibration) -> tuple[str, ...]:
    """Number of records, expected and observed positives, and the test."""
    known = "" if found.total is not None or not found.private else "about "
    size = found.sums.expected.sum()
    shown = f"{known}{size:,.0f}", f"{found.sums.expected[1].sum():,.0f}", f"{found.sums.observed[1].sum():,.0f}"
    if not found.defined:
        return (*shown, "-", "-")
    return (*shown, f"{found.statistic:.2f}", p_value(found.p_value, 3).removeprefix("= "))


# --- Columns of a data frame


def columns(calibration: Calibration) -> dict[str, Any]:
    """Ends of each group, its estimated counts, predicted and observed shares, and the interval of the latter."""
    groups = calibration.groups
    return {
        "low": [group.low for group in groups],
        "high": [group.high for group in groups],
        "records": [sum(group.expected) for group in groups],
        "expected_positives": [group.expected[1] for group in groups],
        "observed_positives": [group.observed[1] for group in groups],
        "mean_predicted": [group.mean_predicted for group in groups],
        "observed_share": [group.observed_share for group in groups],
        "interval_low": [group.interval[0] for group in groups],
        "interval_high": [group.interval[1] for group in groups],
    }
