"""Pictures of distribution functions, and their chapter of a report."""

from __future__ import annotations

import importlib
import math
from typing import Any, Unpack

import numpy as np

from ogive.columns.axis import band_steps
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64
from ogive.provenance import Provenance
from ogive.showing import words
from ogive.showing.axis import show, shown, ticks
from ogive.showing.chapter import Chapter, Picture
from ogive.showing.chart import CurveChart
from ogive.showing.parts import Html, Row, fine, say, strong, table
from ogive.showing.pictures import BLUE, GRAY, ORANGE, Style, caption, keep_private, legend, lighten, new_axes, styled
from ogive.statistics.confidence import Target
from ogive.statistics.curve.bands.simultaneous import Band
from ogive.statistics.curve.batches import list_batches
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.curve.figures import Figures, QuantileRow, figures_of
from ogive.statistics.curve.text import list_shares


def draw(
    curve: Curve,
    ax: Any = None,
    *,
    confidence_level: float | None = 0.95,
    target: Target = "population",
    width: str = "even",
    truth: Curve | None = None,
    **style: Unpack[Style],
) -> Any:
    """Draw a curve as steps, with the band that holds the true one.

    Args:
        curve: What to draw.
        ax: Axes to draw into; new ones by default.
        confidence_level: Confidence level of the band; None for no band.
        target: Of the band, "population" or "sample".
        width: Of the band, "even" or "narrowing" in the tails.
        truth: An exact curve to compare with, drawn dashed; only where it may be shown.
        style: Of the curve; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, the style is none, or confidence_level, target or width is out of
            range.
    """
    usual = {"color": BLUE, "linewidth": 1.8, "label": "released" if curve.private else "exact (not private)"}
    look = styled(style, **usual)
    axes = new_axes(ax)
    edges = _edges(curve.grid)
    if confidence_level is not None:
        band = curve.band(confidence_level, target=target, width=width)
        axes.fill_between(
            edges,
            *band_steps(curve.grid, band.low, band.high),
            step="post",
            color=look["color"],
            alpha=0.22,
            linewidth=0,
            label=f"{100 * confidence_level:.6g} % band, {target}" if "label" not in style else None,
        )
    if truth is not None:
        keep_private(axes)
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
        **look,
    )
    _frame(axes, curve, "Share at or below")
    if confidence_level is not None or truth is not None or "label" in style:
        legend(axes)
    return axes


def plot_steps(curve: Curve, values: Float64, before: float, ax: Any = None) -> Any:
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


def _edges(grid: Grid) -> Any:
    """Where the steps begin: the lower bound, then the thresholds, as matplotlib reads them."""
    return as_dates(grid, np.concatenate(([grid.low], grid.thresholds)))


def as_dates(grid: Grid, numbers: Float64) -> Any:
    """Numbers of a grid as matplotlib reads them: dates where they are dates."""
    match grid.unit:
        case "date":
            return np.floor(numbers).astype(np.int64).astype("datetime64[D]")
        case "datetime":
            return np.floor(numbers).astype(np.int64).astype("datetime64[us]")
        case _:
            return numbers


def _frame(axes: Any, curve: Curve, label: str) -> None:
    axes.set_xlabel(curve.column)
    axes.set_ylabel(label)
    axes.set_ylim(-0.02, 1.02)
    axes.margins(x=0.01)
    caption(axes, f"Distribution of {curve.column}", curve.caption, private=curve.private)
    scale_axis(axes.xaxis, curve.grid)
    lighten(axes, grid="y")


def scale_axis(axis: Any, grid: Grid) -> None:
    """Logarithms on an axis of a geometric grid; short dates on one of dates."""
    if grid.kind == "geometric":
        (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)("log")
    if grid.unit != "number":
        dates: Any = importlib.import_module("matplotlib.dates")
        locator = dates.AutoDateLocator()
        axis.set_major_locator(locator)
        axis.set_major_formatter(dates.ConciseDateFormatter(locator))


# --- Pictures of shape: a histogram, quantiles against those of another


def plot_shares(curve: Curve, edges: Float64, shares: Float64, ax: Any = None) -> Any:
    """Draw shares of the records between edges as bars.

    Args:
        curve: Where grid, column and caption are taken from.
        edges: Numbers of the grid, increasing, shape (bins + 1,).
        shares: Share of the records in each bin, shape (bins,).
        ax: Axes to draw into; new ones by default.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed.
    """
    axes = new_axes(ax)
    axes.stairs(shares, as_dates(curve.grid, edges), fill=True, color=BLUE, alpha=0.35)
    axes.stairs(shares, as_dates(curve.grid, edges), color=BLUE, linewidth=1.2)
    axes.set_xlabel(curve.column)
    axes.set_ylabel("Share of the records")
    axes.set_ylim(bottom=0)
    axes.margins(x=0.01)
    caption(axes, f"Histogram of {curve.column}", curve.caption, private=curve.private)
    scale_axis(axes.xaxis, curve.grid)
    lighten(axes, grid="y")
    return axes


def plot_quantiles(curve: Curve, ours: Float64, others: Float64, name: str, ax: Any = None) -> Any:
    """Draw quantiles of a curve against those of another distribution, and the line on which equal ones lie.

    Args:
        curve: Where grid, column and caption are taken from.
        ours: Quantiles of the curve, numbers of its grid, shape (points,).
        others: Quantiles of the other at the same shares, shape (points,).
        name: Name of the other distribution.
        ax: Axes to draw into; new ones by default.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed.
    """
    axes = new_axes(ax)
    ends = as_dates(curve.grid, np.array([curve.grid.low, curve.grid.high]))
    axes.plot(ends, ends, color=GRAY, linewidth=1, linestyle=(0, (5, 2)), label="equal quantiles")
    axes.plot(
        as_dates(curve.grid, others),
        as_dates(curve.grid, ours),
        color=ORANGE if not curve.private else BLUE,
        marker="o",
        markersize=3.5,
        linewidth=0.8,
        label=f"{len(ours)} quantiles",
    )
    axes.set_xlabel(f"{curve.column}, {name}")
    axes.set_ylabel(f"{curve.column}, {'released' if curve.private else 'exact (not private)'}")
    caption(axes, f"Quantiles of {curve.column}", curve.caption, private=curve.private)
    scale_axis(axes.xaxis, curve.grid)
    scale_axis(axes.yaxis, curve.grid)
    legend(axes)
    lighten(axes)
    return axes


# --- The chapter of the report

THRESHOLD_ROWS = 10
USELESS = 0.25
"""A band with a larger half width carries little information: a quarter of all records either way."""


def chapter(curve: Curve, truth: Curve | None) -> Chapter:
    """What a curve says."""
    return chapter_of(figures_of(curve, truth), _batches(curve))


def chapter_of(figures: Figures, batches: tuple[tuple[str, str], ...]) -> Chapter:
    """Build the chapter from figures; `batches` are rows that name the released batches."""
    whole = figures.share is not None
    grid = figures.grid
    return Chapter(
        title=f"{'Distribution' if whole else 'Quantiles'} of {figures.column}",
        subject=figures.column,
        provenance=figures.provenance,
        headline=headline(figures),
        error=_error(figures),
        released=_released(figures),
        pictures=(_picture(figures),) if whole else (),
        tables=(_quantile_table(figures), _share_table(figures)),
        details=(
            ("Smoothing", words.SMOOTHINGS.get(figures.smoothing, figures.smoothing)),
            ("Thresholds", f"{grid.spacing}, {grid.bins:,} from {show(grid, grid.low)} to {show(grid, grid.high)}"),
            *batches,
        ),
        warning=_useless(figures),
        exact=figures.truth is not None,
    )


def _batches(curve: Curve) -> tuple[tuple[str, str], ...]:
    """The batch, if it has a name, or the merged batches."""
    if not curve.merged:
        return batch_of(curve.provenance)
    shares = list_shares(curve)
    mixture = () if shares is None else (("Mixture", shares),)
    return (("Batches", list_batches(curve.batches)), *mixture)


def batch_of(source: Provenance | None) -> tuple[tuple[str, str], ...]:
    """The batch that was counted, where it has a name."""
    return () if source is None or source.batch is None else (("Batch", source.batch),)


def headline(figures: Figures) -> str:
    """The release in a sentence or two."""
    if not figures.defined:
        return "The noise is larger than the number of records, so the curve carries no information."
    if _useless(figures) is not None:
        return f"Noise hides the distribution of {figures.column}: the values below are little more than noise."
    records = figures.counted if figures.total is None else f"{figures.total:,} {figures.counted}"
    by_probability = {round(row.probability, 6): row for row in figures.quantiles}
    low, middle, high = (by_probability.get(probability) for probability in (0.1, 0.5, 0.9))
    if middle is None:
        row = figures.quantiles[len(figures.quantiles) // 2]
        return (
            f"In {words.percent(row.probability)} of the {records}, {figures.column} is at most {_value(figures, row)}."
        )
    of = "" if figures.total is None else f" in {records}"
    said = f"The median {figures.column}{of} is {_value(figures, middle)}."
    if low is not None and high is not None:
        said += (
            f" The 10th percentile is {_number(figures, low.number, low)}, "
            f"the 90th percentile {_number(figures, high.number, high)}."
        )
    return said


def _value(figures: Figures, row: QuantileRow) -> str:
    value = _number(figures, row.number, row)
    return value if row.low is None else f"{value} ({_level(figures)} CI {_interval(figures, row)})"


def _interval(figures: Figures, row: QuantileRow) -> str:
    assert row.low is not None
    assert row.high is not None
    first, last = (_number(figures, end, row) for end in (row.low, row.high))
    return first if first == last else f"{first} to {last}"


def _number(figures: Figures, number: float, row: QuantileRow) -> str:
    """A number with the digits that the interval of its row and the distance of the thresholds leave."""
    if not math.isfinite(number):
        return show(figures.grid, number)
    width = 0.0 if row.low is None or row.high is None else row.high - row.low
    return words.minus(shown(figures.grid, number, width))


def curve_chart(figures: Figures) -> CurveChart:
    """Draw the released steps, the band, and the exact curve where it is given."""
    assert figures.share is not None
    population = figures.population_band
    released = (
        ""
        if population is None
        else f" The band contains the curve of the population with {_level(figures)} confidence."
    )
    marks = tuple(
        (row.probability, row.number, row.low, row.high)
        for row in figures.quantiles
        if row.low is not None and row.high is not None and 0.05 < row.probability < 0.95
    )
    return CurveChart(
        grid=figures.grid,
        label=figures.column,
        share=figures.share,
        view=figures.view,
        summary=f"Share of records at or below each value of {figures.column}. {headline(figures)}{released}",
        low=None if population is None else population.low,
        high=None if population is None else population.high,
        truth=figures.truth if figures.provenance.private else None,
        marks=marks,
        legend=_legend(figures, bool(marks)),
    )


def _level(figures: Figures) -> str:
    return words.percent(figures.confidence_level)


def _legend(figures: Figures, marked: bool) -> tuple[tuple[str, str], ...]:
    entries = [("curve", "Released curve" if figures.provenance.private else "Exact curve")]
    if figures.population_band is not None:
        entries.append(("band", f"{_level(figures)} band for the population"))
    if marked:
        entries.append(("dot", "Quantile with its confidence interval"))
    if figures.truth is not None and figures.provenance.private:
        entries.append(("truth", "True curve of these records"))
    return tuple(entries)


def _picture(figures: Figures) -> Picture:
    if figures.view == figures.whole_axis:
        return Picture(curve_chart(figures))
    ends = f"{show(figures.grid, figures.grid.low)} to {show(figures.grid, figures.grid.high)}"
    note = f"The axis shows the part where the released curve rises; thresholds reach from {ends}."
    return Picture(curve_chart(figures), note=note)


def _quantile_table(figures: Figures) -> Html | None:
    if not figures.quantiles:
        return None
    grid = figures.grid
    intervals = any(row.low is not None for row in figures.quantiles)
    truth = any(row.truth is not None for row in figures.quantiles)
    head = ["Share", "Value"] + (["Interval"] if intervals else []) + (["True"] if truth else [])
    rows: list[Row] = []
    for row in figures.quantiles:
        cells: list[Html | str] = [_number(figures, row.number, row)]
        if intervals:
            cells.append("" if row.low is None else _interval(figures, row))
        if truth:
            cells.append("" if row.truth is None else _number(figures, row.truth, row))
        rows.append((words.percent(row.probability), cells))
    about = (
        f"Each share of the records lies at or below the value. The intervals contain the population's quantiles, "
        f"all simultaneously, with {_level(figures)} confidence."
        if intervals
        else "Each share of the records lies at or below the value."
    )
    if intervals and grid.kind != "integers":
        about += " An interval from a to b means above a and at most b."
    return table("Quantiles", head, rows, about)


def _share_table(figures: Figures) -> Html | None:
    if figures.share is None:
        return None
    thresholds, band = figures.grid.thresholds, figures.population_band
    wanted = ticks(figures.grid, *figures.view, THRESHOLD_ROWS)
    places = np.unique(np.clip(np.searchsorted(thresholds, wanted, side="right") - 1, 0, len(thresholds) - 1))
    truth = figures.truth if figures.provenance.private else None
    head = ["At most", "Share"] + (["Band"] if band is not None else []) + (["True"] if truth is not None else [])
    rows: list[Row] = []
    digits = words.digits(band.half_width if band is not None else 0.01)
    for i in places:
        cells: list[Html | str] = [words.percent(float(figures.share[i]), digits)]
        if band is not None:
            low, high = (words.percent(float(end[i]), digits) for end in (band.low, band.high))
            cells.append(f"{low.removesuffix(' %')} to {high}")
        if truth is not None:
            cells.append(words.percent(float(truth[i]), digits))
        rows.append((show(figures.grid, float(thresholds[i])), cells))
    about = f"A sample of the {figures.grid.bins:,} released thresholds." + (
        f" The band contains the whole curve of the population with {_level(figures)} confidence." if band else ""
    )
    return table("Shares", head, rows, about)


def _error(figures: Figures) -> tuple[Html, ...]:
    if not figures.provenance.private:
        return (say("The values are exact for these records, up to the spacing of the thresholds."),)
    found = []
    sample, population, noise = figures.sample_band, figures.population_band, figures.noise_band
    if noise is not None and sample is not None:
        return _approximate_error(figures, noise, sample)
    if sample is not None:
        reach = figures.reach(sample)
        found.append(
            say(
                strong(f"± {words.points(reach)}"),
                f" from the true curve of these records, simultaneously at every threshold, with {_level(figures)} "
                f"confidence. That is at most {words.in_a_thousand(reach)} {figures.counted}.",
            )
        )
    if population is not None:
        found.append(
            say(
                strong(f"± {words.points(figures.reach(population))}"),
                " from the curve of the population, if the records are a random sample of it: sampling error and "
                "noise.",
            )
        )
    if figures.typical_error is not None:
        found.append(
            fine(
                f"A single threshold is typically off by {words.points(figures.typical_error)}: the noise's standard "
                "deviation, before smoothing."
            )
        )
    return tuple(found) or (say("The intervals in the table include noise and sampling error."),)


def _approximate_error(figures: Figures, noise: Band, sample: Band) -> tuple[Html, ...]:
    """Explain noise and approximation error separately, since only the noise depends on the privacy loss."""
    return (
        say(
            strong(f"± {words.points(figures.reach(noise))}"),
            " from noise: the distance to the curve that this method would give for these records without noise, "
            f"simultaneously at every threshold, with {_level(figures)} confidence.",
        ),
        say(
            strong(f"± {words.points(figures.reach(sample))}"),
            " from the true curve of these records, whatever their values: the method measures a few numbers and "
            "approximates the rest. The error is far smaller for smooth distributions, but need not be if values "
            "concentrate at a few points.",
        ),
    )


def _useless(figures: Figures) -> str | None:
    """Why noise made the release useless, if it did: no records left, or a band as wide as half of all records."""
    if not figures.provenance.private:
        return None
    if not figures.defined:
        return "The noise is larger than the number of records. Use a larger privacy budget or more records."
    band = figures.sample_band if figures.noise_band is None else figures.noise_band
    if band is not None and figures.reach(band) >= USELESS:
        return (
            f"The true curve may lie {words.points(figures.reach(band))} away. "
            "Use a larger privacy budget, more records or fewer thresholds."
        )
    return None


def _released(figures: Figures) -> tuple[Html, ...]:
    grid = figures.grid
    span = f"{show(grid, grid.low)} to {show(grid, grid.high)}"
    if figures.share is None:
        what = f"{len(figures.quantiles)} quantiles of {figures.column}."
    else:
        what = (
            f"The whole distribution function of {figures.column}: the share of records at or below each of "
            f"{grid.bins:,} public thresholds. Quantiles, shares and the chart are computed from it at no further cost."
        )
    if figures.people:
        what += (
            " Each person counts once: all rows of a person share that weight, so a share is the chance that a random "
            "row of a random person is at or below a threshold. The guarantee is for a person with all rows."
        )
    return (say(what), fine(f"Public bounds: {span}. Values outside are clipped to the nearest bound."))
