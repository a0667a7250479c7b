"""A ROC curve for people: a few lines of text and a small table."""

from __future__ import annotations

import numpy as np

from ogive.provenance import trust_rows
from ogive.statistics.roc.estimate import RocEstimate
from ogive.statistics.showing import Card

_SHOWN = (0.05, 0.1, 0.2, 0.5)
_QUICK = 1 << 16
_NO_INTERVAL = "auc_interval() simulates an interval, which takes a while on so many thresholds"


def facts(estimate: RocEstimate, no_interval: str = _NO_INTERVAL) -> list[tuple[str, str]]:
    """What a reader should know before using the curve, as pairs of a name and a value."""
    about = "" if estimate.public_labels or not estimate.private else "about "
    negatives, positives = estimate.classes
    rows = [
        ("privacy", estimate.caption),
        (
            "classes",
            f"{about}{negatives:.0f} negative, {about}{positives:.0f} positive (column {estimate.label.column})",
        ),
    ]
    if estimate.provenance is not None:
        rows += trust_rows(estimate.provenance.assumption)
    if not estimate.defined:
        rows.append(("warning", "a class has no records, or noise may account for it: this curve is not defined"))
        return rows
    if estimate.strategy is not None:
        method = f"{estimate.strategy.name}, {estimate.budget} budget, smoothing {estimate.negatives.smoothing}"
        rows.append(("method", method))
    rows.append(("AUC", _area(estimate, no_interval)))
    ties = f"ties move the AUC by at most {estimate.tie_bound:.2g}, which its interval counts"
    rows.append(("grid", f"{estimate.grid.bins} thresholds; {ties}"))
    return rows


def _area(estimate: RocEstimate, no_interval: str) -> str:
    """The area, with its interval where that does not take long, and else why there is none."""
    if estimate.private and estimate.grid.bins > _QUICK:
        return f"{estimate.auc:.4f} ({no_interval})"
    low, high = estimate.auc_interval()
    level = f"{100 * estimate.confidence_level:.6g} %"
    return f"{estimate.auc:.4f} ({level} interval for the population {low:.4f} to {high:.4f})"


def operating_points(estimate: RocEstimate) -> list[tuple[str, str, str]]:
    """Threshold, false positives and true positives at some shares of false positives, as texts."""
    sign = ">" if estimate.positive_when == "high" else "<="
    rows = []
    for share in _SHOWN:
        # the loosest threshold within that share
        at = int(np.searchsorted(estimate.fpr, share, side="right")) - 1
        number = float(estimate.thresholds[at])
        threshold = f"{number:.6g}" if estimate.grid.unit == "number" or np.isinf(number) else _label(estimate, number)
        rows.append((f"{sign} {threshold}", f"{estimate.fpr[at]:.1%}", f"{estimate.tpr[at]:.1%}"))
    return rows


def _label(estimate: RocEstimate, number: float) -> str:
    return str(estimate.grid.label(float(np.floor(number))))


def summary(estimate: RocEstimate, no_interval: str = _NO_INTERVAL) -> str:
    """Some lines of plain text; `no_interval` is said of an area whose interval would take long."""
    lines = [f"ROC curve of {estimate.score}"]
    lines += [f"  {name + ':' if name else '':<12}{value}" for name, value in facts(estimate, no_interval)]
    if estimate.defined:
        lines.append(f"  {'called positive':>18}  {'false positives':>15}  {'true positives':>14}")
        lines += [f"  {a:>18}  {b:>15}  {c:>14}" for a, b, c in operating_points(estimate)]
    return "\n".join(lines)


def short(estimate: RocEstimate) -> str:
    """A few words."""
    return f"of {estimate.score}: AUC {estimate.auc:.4g}"


def card(estimate: RocEstimate) -> Card:
    """What notebooks show."""
    title = f"ROC curve of {estimate.score}"
    if not estimate.defined:
        return Card(title, facts(estimate))
    headings = ("called positive", "false positives", "true positives")
    return Card(title, facts(estimate), headings, operating_points(estimate))
