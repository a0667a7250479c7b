"""A ROC curve for people: a few lines of text and a small table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ogive.core.digits import number
from ogive.provenance import trust_rows
from ogive.showing.view import Card
from ogive.statistics.contrast import Number
from ogive.statistics.roc.estimate import RocEstimate
from ogive.statistics.roc.points import PartialAuc, Rate
from ogive.statistics.significance import brief, testable

_SHOWN = (0.05, 0.1, 0.2, 0.5)
_QUICK = 1 << 16
_DIGITS = 15
"""Enough to show any threshold as it is."""
_NO_INTERVAL = "auc_interval() simulates an interval, which is slow with this many thresholds"


def facts(estimate: RocEstimate, no_interval: str = _NO_INTERVAL) -> list[tuple[str, str]]:
    """What a reader should know before using the curve, as pairs of a name and a value."""
    about = "" if estimate.public_labels or not estimate.private else "about "
    negatives, positives = estimate.classes
    rows = [
        ("privacy", estimate.caption),
        (
            "classes",
            f"{about}{positives:,.0f} positive, {about}{negatives:,.0f} negative (column {estimate.label.column})",
        ),
    ]
    if estimate.provenance is not None:
        rows += trust_rows(estimate.provenance.assumption)
    if not estimate.defined:
        rows.append(("warning", "a class has no records, or cannot be told from noise: this curve is not defined"))
        return rows
    if estimate.strategy is not None:
        method = f"{estimate.strategy.name}, {estimate.budget} budget, smoothing {estimate.negatives.smoothing}"
        rows.append(("method", method))
    rows.append(("AUC", _area(estimate, no_interval)))
    if testable(estimate.provenance) and not _slow(estimate):
        rows.append(("test", brief(estimate.test())))
    ties = f"ties change the AUC by at most {estimate.tie_bound:.2g}, which its interval includes"
    rows.append(("grid", f"{estimate.grid.bins} thresholds; {ties}"))
    return rows


def _area(estimate: RocEstimate, no_interval: str) -> str:
    """The area with its interval, or why there is none where it would take long."""
    if _slow(estimate):
        return f"{estimate.auc:.4f} ({no_interval})"
    ends = estimate.auc_interval()
    area, low, high = (number(each, ends[1] - ends[0]) for each in (estimate.auc, *ends))
    level = f"{100 * estimate.confidence_level:.6g} %"
    return f"{area} ({level} CI {low} to {high}, for the population)"


def _slow(estimate: RocEstimate) -> bool:
    """Whether simulations of the noise take long."""
    return estimate.private and estimate.grid.bins > _QUICK


def operating_points(estimate: RocEstimate) -> list[tuple[str, str, str]]:
    """Threshold, sensitivity and specificity at some false positive rates, as texts."""
    sign = ">" if estimate.positive_when == "high" else "<="
    rows = []
    for share in _SHOWN:
        # the loosest threshold within that rate
        at = int(np.searchsorted(estimate.fpr, share, side="right")) - 1
        place = told_threshold(estimate, at)
        number = estimate.grid.unit == "number" or np.isinf(place)
        threshold = f"{place:,.{_DIGITS}g}" if number else _label(estimate, place)
        rows.append((f"{sign} {threshold}", f"{estimate.tpr[at]:.1%}", f"{1 - estimate.fpr[at]:.1%}"))
    return rows


def partial_lines(found: PartialAuc) -> list[str]:
    """The area over a range of false positive rates, and its standardized value, with their intervals."""
    if not math.isfinite(found.value):
        return [f"area, FPR {found.min_fpr:g} to {found.max_fpr:g}: not defined"]
    chance = "standardized, so that chance is 0.5 and a perfect score 1"
    return [
        f"area, FPR {found.min_fpr:g} to {found.max_fpr:g}: {_with_ends(Rate(found.value, found.low, found.high))}",
        f"{chance}: {_with_ends(found.standardized)}",
    ]


def rate_line(what: str, given: str, at: float, found: Rate) -> str:
    """One rate at a fixed value of the other, with its interval."""
    if not math.isfinite(found.value):
        return f"{what} at a {given} of {at:.6g}: not defined"
    return f"{what} at a {given} of {at:.6g}: {_with_ends(found)}"


def _with_ends(found: Rate) -> str:
    value, low, high = (number(each, found.high - found.low) for each in found)
    return f"{value} ({low} to {high})"


def told_threshold(estimate: RocEstimate, at: int) -> float:
    """A threshold rounded to three digits, or to as many as it takes to be nearer to it than to any other."""
    place = float(estimate.thresholds[at])
    if estimate.grid.unit != "number" or np.isinf(place):
        return place
    for digits in range(3, _DIGITS):
        rounded = float(f"{place:.{digits}g}")
        if estimate.thresholds[int(np.argmin(np.abs(estimate.thresholds - rounded)))] == place:
            return rounded
    return place


def _label(estimate: RocEstimate, place: float) -> str:
    return str(estimate.grid.label(float(np.floor(place))))


def summary(estimate: RocEstimate, no_interval: str = _NO_INTERVAL) -> str:
    """Some lines of plain text; `no_interval` stands in place of an interval that would take long."""
    lines = [f"ROC curve of {estimate.score}"]
    lines += [f"  {name + ':' if name else '':<12}{value}" for name, value in facts(estimate, no_interval)]
    if estimate.defined:
        lines.append(f"  {'called positive':>18}  {'sensitivity (TPR)':>17}  {'specificity (TNR)':>17}")
        lines += [f"  {a:>18}  {b:>17}  {c:>17}" for a, b, c in operating_points(estimate)]
    return "\n".join(lines)


def short(estimate: RocEstimate) -> str:
    """A few words."""
    return f"of {estimate.score}: AUC {estimate.auc:.4g}"


def card(estimate: RocEstimate) -> Card:
    """What notebooks show."""
    title = f"ROC curve of {estimate.score}"
    if not estimate.defined:
        return Card(title, facts(estimate))
    headings = ("called positive", "sensitivity (TPR)", "specificity (TNR)")
    return Card(title, facts(estimate), headings, operating_points(estimate))


# --- A line in a table of groups


def line_about(found: RocEstimate) -> str:
    """What was released."""
    return f"ROC curve of {found.score} for {found.label.column}"


def line_titles(found: RocEstimate) -> tuple[str, ...]:
    """Headings of the cells."""
    return "negatives", "positives", "AUC", f"{100 * found.confidence_level:.6g} % interval"


def line_cells(found: RocEstimate) -> tuple[str, ...]:
    """Numbers of both classes, and the area with its interval."""
    known = "" if found.public_labels or not found.private else "about "
    sizes = [f"{known}{size:.0f}" for size in found.classes]
    if not found.defined:
        return (*sizes, "-", "-")
    ends = found.auc_interval()
    area, low, high = (number(each, ends[1] - ends[0]) for each in (found.auc, *ends))
    return (*sizes, area, f"{low} to {high}")


def line_number(found: RocEstimate, confidence_level: float, probability: float) -> Number:
    """The area under the curve with its interval."""
    name = f"AUC of {found.score} for {found.label.column}"
    if not found.defined:
        return Number(name, math.nan, 0.0, 1.0)
    low, high = found.auc_interval(confidence_level)
    return Number(name, found.auc, low, high)


# --- Columns of a data frame


def columns(estimate: RocEstimate) -> dict[str, Any]:
    """Threshold, shares of false and true positives; precision and lift too where both classes have records."""
    found = {"threshold": estimate.thresholds, "fpr": estimate.fpr, "tpr": estimate.tpr}
    if not estimate.defined:
        return found
    lift = estimate.lift()
    return {
        **found,
        "precision": estimate.precision_recall().precision,
        "flagged": lift.flagged,
        "lift": lift.lift,
    }
