"""Draw estimates with matplotlib; computes nothing about them.

Only asks what it draws for arrays and captions, so it knows no statistic. Figures are made
without pyplot and its global state.
"""

from ogive.plots.axes import BLUE, GRAY, ORANGE, caption, keep_private, lighten, new_axes, save
from ogive.plots.boxplot import plot_boxes
from ogive.plots.calibration import plot_reliability
from ogive.plots.curves import plot_curve, plot_steps
from ogive.plots.distribution import plot_quantiles, plot_shares
from ogive.plots.interval import plot_interval
from ogive.plots.labels import plot_labels
from ogive.plots.roc import plot_roc

__all__ = [
    "BLUE",
    "GRAY",
    "ORANGE",
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
