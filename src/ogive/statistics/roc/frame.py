"""A ROC curve as columns of a data frame: a row for each threshold."""

from __future__ import annotations

from typing import Any

from ogive.statistics.roc.estimate import RocEstimate


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
