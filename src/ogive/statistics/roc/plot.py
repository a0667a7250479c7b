"""Draw ROC curves, precision against recall, and lift."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ogive.pictures import BLUE, GRAY, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.confidence import Target
from ogive.statistics.roc.estimate import RocEstimate
from ogive.statistics.roc.points import Lift, PrecisionRecall
from ogive.statistics.roc.readings import LiftBand, PrecisionRecallBand


def draw(
    roc: RocEstimate,
    ax: Any = None,
    *,
    confidence_level: float | None = 0.95,
    target: Target = "population",
    **style: Unpack[Style],
) -> Any:
    """Draw a ROC curve, with the band that holds the true one.

    Args:
        roc: What to draw.
        ax: Axes to draw into; new ones by default.
        confidence_level: Confidence level of the band; None for no band.
        target: Of the band, "population" or "sample".
        style: Of the curve; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, the style is none, or confidence_level or target is out of range.
    """
    usual = f"{'released' if roc.private else 'exact (not private)'}, AUC {roc.auc:.3f}"
    look = styled(style, color=BLUE, linewidth=1.8, label=usual)
    axes = new_axes(ax, size=(5.4, 5.6))
    if confidence_level is not None:
        band = roc.band(confidence_level, target=target)
        label = f"{100 * confidence_level:.6g} % band, {target}" if "label" not in style else None
        axes.fill_between(
            band.fpr, band.low, band.high, step="post", color=look["color"], alpha=0.22, linewidth=0, label=label
        )
    axes.plot([0, 1], [0, 1], color=GRAY, linewidth=1, linestyle=(0, (1, 2)), label="chance line")
    axes.plot(roc.fpr, roc.tpr, **look)
    axes.set_xlabel("False positive rate (1 - specificity)")
    axes.set_ylabel("True positive rate (sensitivity)")
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    if ax is None:
        axes.set_aspect("equal")
    caption(axes, f"ROC curve of {roc.score}", roc.caption, private=roc.private)
    legend(axes)
    lighten(axes)
    return axes


def draw_precision_recall(
    roc: RocEstimate,
    found: PrecisionRecall,
    band: PrecisionRecallBand | None,
    ax: Any = None,
    **style: Unpack[Style],
) -> Any:
    """Draw precision against recall.

    Args:
        roc: Where score and caption are taken from.
        found: What to draw.
        band: Its band; None for none.
        ax: Axes to draw into; new ones by default.
        style: Of the curve; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, or the style is none.
    """
    negatives, positives = roc.classes
    share = positives / (positives + negatives)
    label = f"{_word(roc)}, average precision {found.average_precision:.3f}"
    axes, look = new_axes(ax), styled(style, color=BLUE, linewidth=1.8, label=label)
    _shade(axes, band, look, "label" in style)
    axes.axhline(share, color=GRAY, linewidth=1, linestyle=(0, (1, 2)), label=f"chance, {share:.3f}")
    # precision where nothing is called positive is a convention, which no threshold has
    seen = found.recall > 0
    axes.plot(found.recall[seen], found.precision[seen], **look)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel("Recall (sensitivity)")
    axes.set_ylabel("Precision (positive predictive value)")
    return _finished(axes, roc, f"Precision and recall of {roc.score}")


def draw_lift(roc: RocEstimate, found: Lift, band: LiftBand | None, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw lift against the share of records that are called positive.

    Args:
        roc: Where score and caption are taken from.
        found: What to draw.
        band: Its band; None for none.
        ax: Axes to draw into; new ones by default.
        style: Of the curve; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, or the style is none.
    """
    axes, look = new_axes(ax), styled(style, color=BLUE, linewidth=1.8, label=_word(roc))
    _shade(axes, band, look, "label" in style)
    axes.axhline(1.0, color=GRAY, linewidth=1, linestyle=(0, (1, 2)), label="chance")
    seen = found.flagged > 0
    axes.plot(found.flagged[seen], found.lift[seen], **look)
    axes.set_xlim(-0.02, 1.02)
    # few records are flagged at the left, where ends are far apart
    axes.set_ylim(0, 1.25 * float(found.lift.max()))
    axes.set_xlabel("Share of the records called positive")
    axes.set_ylabel("Lift")
    return _finished(axes, roc, f"Lift of {roc.score}")


def key(roc: RocEstimate) -> str:
    """What a legend of several curves says of each."""
    return f"AUC {roc.auc:.2f}" if np.isfinite(roc.auc) else "AUC undefined"


def _word(roc: RocEstimate) -> str:
    return "released" if roc.private else "exact (not private)"


def _shade(axes: Any, band: PrecisionRecallBand | LiftBand | None, look: dict[str, Any], named: bool) -> None:
    if band is None:
        return
    places, low, high = band.outline()
    label = None if named else f"{100 * band.confidence_level:.6g} % band, {band.target}"
    shown = np.minimum(high, 1e6)  # an infinite end lies above the axes
    axes.fill_between(places, low, shown, step="post", color=look["color"], alpha=0.22, linewidth=0, label=label)


def _finished(axes: Any, roc: RocEstimate, title: str) -> Any:
    caption(axes, title, roc.caption, private=roc.private)
    legend(axes)
    lighten(axes)
    return axes
