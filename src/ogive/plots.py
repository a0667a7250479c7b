"""Draw distribution functions with matplotlib; computes nothing about them.

Only asks what it draws for arrays and captions, so it knows no statistic. Figures are made
without pyplot and its global state.
"""

from __future__ import annotations

import importlib
import io
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ogive.errors import ParameterError
from ogive.files import write_atomically
from ogive.grids import Grid

Float64 = NDArray[np.float64]

# Okabe and Ito's palette, told apart by all common kinds of color vision
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#5A5A5A"
_SUFFIXES = {".png": "png", ".svg": "svg"}


class DrawnBand(Protocol):
    """Two curves with something between them."""

    @property
    def low(self) -> Float64:
        """Lower ends at the thresholds."""
        ...

    @property
    def high(self) -> Float64:
        """Upper ends at the thresholds."""
        ...


class DrawnCurve(Protocol):
    """What can be drawn."""

    @property
    def grid(self) -> Grid:
        """Thresholds."""
        ...

    @property
    def column(self) -> str:
        """What the axis is called."""
        ...

    @property
    def probabilities(self) -> Float64:
        """Value at each threshold."""
        ...

    @property
    def private(self) -> bool:
        """Whether noise was added."""
        ...

    @property
    def caption(self) -> str:
        """The guarantee in a clause, or "not private"."""
        ...

    def band(self, confidence_level: float, *, target: str) -> DrawnBand:
        """What the true curve lies in."""
        ...


def plot_curve(
    curve: DrawnCurve,
    ax: Any = None,
    *,
    confidence_level: float | None = 0.95,
    target: str = "population",
    truth: DrawnCurve | None = None,
) -> Any:
    """Draw a curve as steps, with the band that holds the true one.

    Args:
        curve: What to draw.
        ax: Axes to draw into; new ones by default.
        confidence_level: Of the band; None for no band.
        target: Of the band, "population" or "sample".
        truth: An exact curve to compare with, drawn dashed; only where it may be shown.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, or confidence_level or target is out of range.
    """
    axes = new_axes(ax)
    edges = _edges(curve.grid)
    if confidence_level is not None:
        band = curve.band(confidence_level, target=target)
        axes.fill_between(
            edges,
            np.concatenate(([0.0], band.low)),
            np.concatenate((band.high, [1.0])),
            step="post",
            color=BLUE,
            alpha=0.22,
            linewidth=0,
            label=f"{100 * confidence_level:.6g} % band, {target}",
        )
    if truth is not None:
        axes.step(
            _edges(truth.grid),
            np.concatenate(([0.0], truth.probabilities)),
            where="post",
            color=ORANGE,
            linewidth=1.4,
            linestyle=(0, (5, 2)),
            label="exact (not private)",
            zorder=3,
        )
    axes.step(
        edges,
        np.concatenate(([0.0], curve.probabilities)),
        where="post",
        color=BLUE,
        linewidth=1.8,
        label="released" if curve.private else "exact (not private)",
    )
    _frame(axes, curve, "Share at or below")
    if confidence_level is not None or truth is not None:
        axes.legend(loc="lower right", frameon=False)
    return axes


def plot_steps(curve: DrawnCurve, values: Float64, before: float, ax: Any = None) -> Any:
    """Draw one step function on the grid of a curve.

    Args:
        curve: Where grid, column and caption are taken from.
        values: Value at each threshold, shape (N,).
        before: Value below all thresholds.
        ax: Axes to draw into; new ones by default.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed.
    """
    axes = new_axes(ax)
    axes.step(_edges(curve.grid), np.concatenate(([before], values)), where="post", color=BLUE, linewidth=1.8)
    _frame(axes, curve, "Share at or below" if before == 0 else "Share above")
    return axes


def save(figure: Any, path: str | Path) -> None:
    """Write a figure, or the figure of some axes, as PNG or SVG by suffix, whole or not at all.

    Raises:
        ParameterError: the suffix is another, or the file cannot be written.
    """
    path = Path(path)
    kind = _SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise ParameterError(f"a picture's name must end in {' or '.join(_SUFFIXES)}, got {path.name!r}")
    figure = getattr(figure, "figure", figure)
    content = io.BytesIO()
    # without a date and with fixed ids the same curve gives the same file
    with _matplotlib().rc_context({"svg.hashsalt": "ogive"}):
        figure.savefig(content, format=kind, dpi=160, metadata={"Date": None} if kind == "svg" else None)
    write_atomically(path, content.getvalue())


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise ParameterError('pictures need matplotlib; install it with: pip install "ogive[plots]"') from None
    return matplotlib


def new_axes(ax: Any = None) -> Any:
    """Axes to draw into: the given ones, or those of a new figure.

    Raises:
        ParameterError: matplotlib is not installed.
    """
    if ax is not None:
        return ax
    _matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(7.2, 4.4), layout="constrained").add_subplot()


def _edges(grid: Grid) -> Any:
    """Where the steps begin: the lower bound, then the thresholds, as matplotlib reads them."""
    numbers = np.concatenate(([grid.low], grid.thresholds))
    match grid.unit:
        case "date":
            return np.floor(numbers).astype(np.int64).astype("datetime64[D]")
        case "datetime":
            return np.floor(numbers).astype(np.int64).astype("datetime64[us]")
        case _:
            return numbers


def _frame(axes: Any, curve: DrawnCurve, label: str) -> None:
    axes.set_xlabel(curve.column)
    axes.set_ylabel(label)
    axes.set_ylim(-0.02, 1.02)
    axes.margins(x=0.01)
    if curve.grid.kind == "geometric":
        axes.set_xscale("log")
    axes.set_title(f"Distribution of {curve.column}", loc="left", fontsize=12, pad=22)
    color, weight = (GRAY, "normal") if curve.private else (ORANGE, "bold")
    axes.text(
        0, 1.02, curve.caption, transform=axes.transAxes, fontsize=8.5, color=color, fontweight=weight, va="bottom"
    )
    if curve.grid.unit != "number":
        dates: Any = importlib.import_module("matplotlib.dates")
        locator = dates.AutoDateLocator()
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    axes.grid(axis="y", color=GRAY, alpha=0.18, linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)


class DrawnRocBand(Protocol):
    """Two step functions of the share of false positives with something between them."""

    @property
    def fpr(self) -> Float64:
        """Where the ends may step."""
        ...

    @property
    def low(self) -> Float64:
        """Lower ends."""
        ...

    @property
    def high(self) -> Float64:
        """Upper ends."""
        ...


class DrawnRoc(Protocol):
    """A ROC curve that can be drawn."""

    @property
    def score(self) -> str:
        """What the curve is of."""
        ...

    @property
    def fpr(self) -> Float64:
        """Shares of false positives."""
        ...

    @property
    def tpr(self) -> Float64:
        """Shares of true positives."""
        ...

    @property
    def auc(self) -> float:
        """Area under the curve."""
        ...

    @property
    def private(self) -> bool:
        """Whether noise was added."""
        ...

    @property
    def caption(self) -> str:
        """The guarantee in a clause, or "not private"."""
        ...

    def band(self, confidence_level: float, *, target: str) -> DrawnRocBand:
        """What the true curve lies in."""
        ...


def plot_roc(
    roc: DrawnRoc, ax: Any = None, *, confidence_level: float | None = 0.95, target: str = "population"
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
    axes.set_title(f"ROC curve of {roc.score}", loc="left", fontsize=12, pad=22)
    color, weight = (GRAY, "normal") if roc.private else (ORANGE, "bold")
    axes.text(0, 1.02, roc.caption, transform=axes.transAxes, fontsize=8.5, color=color, fontweight=weight, va="bottom")
    axes.legend(loc="lower right", frameon=False)
    axes.grid(color=GRAY, alpha=0.18, linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


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
    axes.set_title("Predicted and observed shares", loc="left", fontsize=12, pad=22)
    color, weight = (GRAY, "normal") if calibration.private else (ORANGE, "bold")
    text = {"fontsize": 8.5, "color": color, "fontweight": weight, "va": "bottom"}
    axes.text(0, 1.02, calibration.caption, transform=axes.transAxes, **text)
    axes.grid(color=GRAY, alpha=0.18, linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left", frameon=False)
    return axes
