"""A calibration test as columns of a data frame: a row for each group."""

from __future__ import annotations

from typing import Any

from ogive.statistics.calibration.estimate import Calibration


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
