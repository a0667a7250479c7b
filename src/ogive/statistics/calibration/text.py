"""A calibration test for people: some lines of text and a small table."""

from __future__ import annotations

import math

from ogive.statistics.calibration.estimate import Calibration


def summary(calibration: Calibration) -> str:
    """Some lines of plain text."""
    return "\n".join([f"Calibration of {calibration.curve.column}", *_facts(calibration), "", *_table(calibration)])


def _facts(calibration: Calibration) -> list[str]:
    rows = [("privacy", calibration.caption)]
    if calibration.defined:
        rows.append(("statistic", f"{calibration.statistic:.4g} in {calibration.bounds.bins} groups"))
        if calibration.private:
            rows.append(
                (
                    "debiased",
                    f"{calibration.debiased_statistic:.4g}, with squared differences lowered by the noise's variance",
                )
            )
        rows.append(("p-value", f"{calibration.p_value:.4g} if the model is right, by simulation that knows the noise"))
    else:
        rows.append(("warning", "too few records are seen through the noise: the statistic is not defined"))
    return [f"  {name + ':':<12}{value}" for name, value in rows]


def _table(calibration: Calibration) -> list[str]:
    percent = f"{100 * calibration.confidence_level:g} % interval"
    lines = [f"{'probability':>18}  {'records':>9}  {'predicted':>9}  {'observed':>9}  {percent}"]
    for group in calibration.groups:
        low, high = group.interval
        lines.append(
            f"{group.low:>8.4g} to {group.high:<6.4g}  {sum(group.expected):>9.0f}  {_share(group.mean_predicted):>9}  "
            f"{_share(group.observed_share):>9}  {low:.4f} to {high:.4f}"
        )
    return lines


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"
