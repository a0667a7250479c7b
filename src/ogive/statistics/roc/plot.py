"""Draw ROC curves."""

from __future__ import annotations

from typing import Any

from ogive.pictures import BLUE, GRAY, caption, lighten, new_axes
from ogive.statistics.roc.estimate import RocEstimate


def plot_roc(
    roc: RocEstimate, ax: Any = None, *, confidence_level: float | None = 0.95, target: str = "population"
) -> Any:
    """Draw a ROC curve, with the band that holds the true one.

    Args:
        roc: What to draw.
        ax: Axes to draw into; new ones by default.
        confidence_level: Of the band; None for no band.
        target: Of the band, "population" or "sample".

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, or confidence_level or target is out of range.
    """
    axes = new_axes(ax)
    if confidence_level is not None:
        band = roc.band(confidence_level, target=target)
        label = f"{100 * confidence_level:.6g} % band, {target}"
        axes.fill_between(band.fpr, band.low, band.high, step="post", color=BLUE, alpha=0.22, linewidth=0, label=label)
    axes.plot([0, 1], [0, 1], color=GRAY, linewidth=1, linestyle=(0, (1, 2)), label="chance")
    label = f"{'released' if roc.private else 'exact (not private)'}, AUC {roc.auc:.3f}"
    axes.plot(roc.fpr, roc.tpr, color=BLUE, linewidth=1.8, label=label)
    axes.set_xlabel("Share of false positives")
    axes.set_ylabel("Share of true positives")
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_aspect("equal")
    caption(axes, f"ROC curve of {roc.score}", roc.caption, private=roc.private)
    axes.legend(loc="lower right", frameon=False)
    lighten(axes)
    return axes
