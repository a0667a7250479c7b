"""Draw estimates with matplotlib; computes nothing about them.

Figures are made without pyplot and its global state.
"""

from ogive.pictures import BLUE, GRAY, ORANGE, Style, caption, keep_private, lighten, new_axes, save
from ogive.statistics.boxplot.plot import draw as plot_boxes
from ogive.statistics.calibration.plot import draw as plot_reliability
from ogive.statistics.curve.plot import draw as plot_curve
from ogive.statistics.curve.plot import plot_steps
from ogive.statistics.curve.plot_shape import plot_quantiles, plot_shares
from ogive.statistics.labels.plot import draw as plot_labels
from ogive.statistics.roc.plot import draw as plot_roc
from ogive.statistics.ustatistic.plot import draw as plot_interval

__all__ = [
    "BLUE",
    "GRAY",
    "ORANGE",
    "Style",
    "caption",
    "keep_private",
    "lighten",
    "new_axes",
    "plot_boxes",
    "plot_curve",
    "plot_interval",
    "plot_labels",
    "plot_quantiles",
    "plot_reliability",
    "plot_roc",
    "plot_shares",
    "plot_steps",
    "save",
]
