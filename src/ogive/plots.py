"""Draw estimates with matplotlib; computes nothing about them.

Figures are made without pyplot and its global state.
"""

from ogive.showing.pictures import BLUE, GRAY, ORANGE, Style, caption, keep_private, lighten, new_axes, save
from ogive.statistics.boxplot.view import plot_boxes
from ogive.statistics.calibration.view import plot_reliability
from ogive.statistics.curve.view import plot_curve, plot_quantiles, plot_shares, plot_steps
from ogive.statistics.labels.view import plot_labels
from ogive.statistics.roc.view import plot_roc
from ogive.statistics.ustatistic.view import plot_interval

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
