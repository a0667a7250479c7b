"""Draw calibration tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.pictures import BLUE, GRAY, caption, lighten, new_axes
from ogive.statistics.calibration.estimate import Calibration


def plot_reliability(calibration: Calibration, ax: Any = None) -> Any:
    """Draw observed against predicted shares, group by group, beside the line of a model that is right.

    Args:
        calibration: What to draw.
        ax: Axes to draw into; new ones by default.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed.
    """
    axes = new_axes(ax)
    points = calibration.reliability()
    seen = ~np.isnan(points.observed_share)
    across, up = points.mean_predicted[seen], points.observed_share[seen]
    low, high = points.low[seen], points.high[seen]
    top = min(1.0, 1.05 * float(max([0.01, *across, *high])))
    axes.plot([0, top], [0, top], color=GRAY, linewidth=1, linestyle=(0, (5, 2)), label="a model that is right")
    label = f"{100 * points.confidence_level:.6g} % intervals"
    axes.vlines(across, low, high, color=BLUE, linewidth=1.4, alpha=0.6, label=label)
    axes.plot(across, up, "o", color=BLUE, markersize=5, label="released" if calibration.private else "exact")
    axes.set_xlim(-0.02 * top, 1.02 * top)
    axes.set_ylim(-0.02 * top, 1.02 * top)
    axes.set_xlabel(f"Predicted ({calibration.probability})")
    axes.set_ylabel("Observed share")
    caption(axes, "Predicted and observed shares", calibration.caption, private=calibration.private)
    lighten(axes)
    axes.legend(loc="upper left", frameon=False)
    return axes
