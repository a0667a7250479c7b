"""Draw ROC curves."""

from __future__ import annotations

from typing import Any, Unpack

from ogive.pictures import BLUE, GRAY, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.confidence import Target
from ogive.statistics.roc.estimate import RocEstimate


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
        confidence_level: Of the band; None for no band.
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
    legend(axes, loc="lower right")
    lighten(axes)
    return axes
