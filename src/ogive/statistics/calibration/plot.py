"""Draw calibration tests."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ogive.pictures import BLUE, GRAY, caption, lighten, new_axes

Float64 = NDArray[np.float64]


class DrawnPoints(Protocol):
    """Observed against predicted shares with intervals."""

    @property
    def mean_predicted(self) -> Float64:
        """Where the points are; NaN for none."""
        ...

    @property
    def observed_share(self) -> Float64:
        """How high they are; NaN for none."""
        ...

    @property
    def low(self) -> Float64:
        """Lower ends of the intervals."""
        ...

    @property
    def high(self) -> Float64:
        """Upper ends of the intervals."""
        ...

    @property
    def confidence_level(self) -> float:
        """Of all intervals together."""
        ...


class DrawnReliability(Protocol):
    """A calibration test that can be drawn."""

    @property
    def probability(self) -> str:
        """What was predicted with."""
        ...

    @property
    def private(self) -> bool:
        """Whether noise was added."""
        ...

    @property
    def caption(self) -> str:
        """The guarantee in a clause, or "not private"."""
        ...

    def reliability(self) -> DrawnPoints:
        """The points and their intervals."""
        ...


def plot_reliability(calibration: DrawnReliability, ax: Any = None) -> Any:
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
