"""Draw calibration tests."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from ogive.pictures import BLUE, GRAY, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.calibration.estimate import Calibration


def draw(calibration: Calibration, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw observed against predicted shares, group by group, beside the line of perfect calibration.

    Args:
        calibration: What to draw.
        ax: Axes to draw into; new ones by default.
        style: Of the points; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, or the style is none.
    """
    usual = "released" if calibration.private else "exact"
    look = styled(style, color=BLUE, linestyle="none", label=usual)
    axes = new_axes(ax)
    points = calibration.reliability()
    seen = ~np.isnan(points.observed_share)
    across, up = points.mean_predicted[seen], points.observed_share[seen]
    low, high = points.low[seen], points.high[seen]
    top = min(1.0, 1.05 * float(max([0.01, *across, *high])))
    axes.plot([0, top], [0, top], color=GRAY, linewidth=1, linestyle=(0, (5, 2)), label="perfect calibration")
    label = f"{100 * points.confidence_level:.6g} % intervals"
    axes.vlines(across, low, high, color=look["color"], linewidth=1.4, alpha=0.6, label=label)
    axes.plot(across, up, marker="o", markersize=5, **look)
    axes.set_xlim(-0.02 * top, 1.02 * top)
    axes.set_ylim(-0.02 * top, 1.02 * top)
    axes.set_xlabel(f"Predicted ({calibration.probability})")
    axes.set_ylabel("Observed share")
    noisy = " (too noisy to use)" if calibration.too_wide else ""
    caption(axes, f"Predicted and observed shares{noisy}", calibration.caption, private=calibration.private)
    lighten(axes)
    legend(axes)
    return axes
