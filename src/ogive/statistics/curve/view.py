"""What people see of a distribution function, and the chapter that quantiles share with it."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Unpack

import numpy as np

from ogive.columns.axis import band_steps
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64
from ogive.errors import ParameterError
from ogive.provenance import trust_rows
from ogive.showing import words
from ogive.showing.axis import show, shown, span, ticks
from ogive.showing.chapter import Picture
from ogive.showing.chart import CurveChart
from ogive.showing.parts import Html, Row, fine, say, strong, table
from ogive.showing.pictures import BLUE, GRAY, ORANGE, Style, caption, keep_private, legend, lighten, new_axes, styled
from ogive.showing.view import View
from ogive.statistics.confidence import Number, Target
from ogive.statistics.curve.base import SHOWN, Batch
from ogive.statistics.curve.estimate import Curve
from ogive.strategies.base import LOUD
from ogive.strategies.composed import CountedPeople, SummedStrategies

CONFIDENCE_LEVEL = 0.95
PROBABILITIES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
"""Of the quantiles in the chapter of a curve."""

THRESHOLD_ROWS = 10
USELESS = 0.25
"""A band with a larger half width carries little information: a quarter of all records either way."""

_IN_TEXT = (0.05, 0.25, 0.5, 0.75, 0.95)
_QUARTERS = {"Q1": 0.25, "median": 0.5, "Q3": 0.75}


class QuantileRow(NamedTuple):
    """A quantile and the ends of its interval, as numbers of the grid."""

    probability: float
    number: float
    low: float
    high: float


class DistributionView(View):
    """A curve, or quantiles with the curve that they were read off, where there is one: what their chapters say."""

    compares = True

    @property
    def curve(self) -> Curve | None:
        """The whole curve; None where single quantiles were released."""
        raise NotImplementedError

    @property
    def confidence(self) -> float:
        """Level of bands and intervals."""
        return CONFIDENCE_LEVEL

    @property
    def quantiles(self) -> Sequence[QuantileRow]:
        """Of the table, in order."""
        raise NotImplementedError

    @property
    def chapter_title(self) -> str:
        return f"{'Quantiles' if self.curve is None else 'Distribution'} of {self.estimate.column}"

    @property
    def _counted(self) -> str:
        return "people" if self.curve is not None and self.curve.people else "records"

    @property
    def _level(self) -> str:
        return words.percent(self.confidence)

    def check_truth(self, truth: Any) -> None:
        if not isinstance(truth, Curve) or truth.private or truth.grid != self.estimate.grid:
            raise ParameterError(f"the truth for {self.estimate.column} must be an exact curve on the same thresholds")

    def reach(self, target: str) -> float:
        """Largest distance, as a share, of the released curve from any curve that its band for a target holds.

        A band is centered on the estimate before smoothing, so its half width alone would not do.
        """
        assert self.curve is not None
        band, share = self.curve.band(self.confidence, target=target), self.curve.probabilities
        return float(max(np.max(band.high - share), np.max(share - band.low)))

    @property
    def useless(self) -> str | None:
        if not self.estimate.private or self.curve is None:
            return None
        if not self.curve.told:
            return "The noise is larger than the number of records. Use a larger privacy budget or more records."
        reach = self.reach("approximation" if self.curve.approximates else "sample")
        if reach < USELESS:
            return None
        return (
            f"The true curve may lie {words.points(reach)} away. "
            "Use a larger privacy budget, more records or fewer thresholds."
        )

    @property
    def headline(self) -> str:
        column, curve = self.estimate.column, self.curve
        if not self.estimate.told:
            return "The noise is larger than the number of records, so the curve carries no information."
        if self.useless is not None:
            return f"Noise hides the distribution of {column}: the values below are little more than noise."
        total = self.estimate.provenance.total if curve is None else curve.total
        records = self._counted if total is None else f"{total:,} {self._counted}"
        by_probability = {round(row.probability, 6): row for row in self.quantiles}
        low, middle, high = (by_probability.get(probability) for probability in (0.1, 0.5, 0.9))
        if middle is None:
            row = self.quantiles[len(self.quantiles) // 2]
            return f"In {words.percent(row.probability)} of the {records}, {column} is at most {self._value(row)}."
        of = "" if total is None else f" in {records}"
        text = f"The median {column}{of} is {self._value(middle)}."
        if low is not None and high is not None:
            text += (
                f" The 10th percentile is {self._number(low.number, low)}, "
                f"the 90th percentile {self._number(high.number, high)}."
            )
        return text

    def _value(self, row: QuantileRow) -> str:
        return f"{self._number(row.number, row)} ({self._level} CI {self._interval(row)})"

    def _interval(self, row: QuantileRow) -> str:
        first, last = (self._number(end, row) for end in (row.low, row.high))
        return first if first == last else f"{first} to {last}"

    def _number(self, number: float, row: QuantileRow) -> str:
        """A number with the digits that the interval of its row and the distance of the thresholds leave."""
        return words.minus(shown(self.estimate.grid, number, row.high - row.low))

    @property
    def error(self) -> Sequence[Html | str]:
        curve = self.curve
        if not self.estimate.private:
            return ("The values are exact for these records, up to the spacing of the thresholds.",)
        if curve is None:
            return ("The intervals in the table include noise and sampling error.",)
        reach = self.reach("sample")
        of_sample = strong(f"± {words.points(reach)}")
        if curve.approximates:  # only the noise depends on the privacy loss
            return (
                say(
                    strong(f"± {words.points(self.reach('approximation'))}"),
                    " from noise: the distance to the curve that this method would give for these records without "
                    f"noise, simultaneously at every threshold, with {self._level} confidence.",
                ),
                say(
                    of_sample,
                    " from the true curve of these records, whatever their values: the method measures a few numbers "
                    "and approximates the rest. The error is far smaller for smooth distributions, but need not be if "
                    "values concentrate at a few points.",
                ),
            )
        results = [
            say(
                of_sample,
                f" from the true curve of these records, simultaneously at every threshold, with {self._level} "
                f"confidence. That is at most {words.in_a_thousand(reach)} {self._counted}.",
            ),
            say(
                strong(f"± {words.points(self.reach('population'))}"),
                " from the curve of the population, if the records are a random sample of it: sampling error and "
                "noise.",
            ),
        ]
        if curve.strategy is not None and curve.defined:
            variance = curve.strategy.variance(total_known=curve.total is not None)
            typical = math.sqrt(float(np.mean(variance))) / curve.records
            results.append(
                fine(
                    f"A single threshold is typically off by {words.points(typical)}: the noise's standard deviation, "
                    "before smoothing."
                )
            )
        return results

    @property
    def released(self) -> Sequence[Html | str]:
        estimate, curve = self.estimate, self.curve
        bounds = fine(f"Public bounds: {span(estimate.grid)}. Values outside are clipped to the nearest bound.")
        if curve is None:
            return f"{len(self.quantiles)} quantiles of {estimate.column}.", bounds
        people = (
            " Each person counts once: all rows of a person share that weight, so a share is the chance that a random "
            "row of a random person is at or below a threshold. The guarantee is for a person with all rows."
        )
        return (
            f"The whole distribution function of {estimate.column}: the share of records at or below each of "
            f"{estimate.grid.bins:,} public thresholds. Quantiles, shares and the chart are computed from it at no "
            f"further cost.{people if curve.people else ''}",
            bounds,
        )

    @property
    def details(self) -> Sequence[tuple[str, str]]:
        grid, curve = self.estimate.grid, self.curve
        smoothing = "none" if curve is None else curve.smoothing
        return (
            ("Smoothing", words.SMOOTHINGS.get(smoothing, smoothing)),
            ("Thresholds", f"{grid.spacing}, {grid.bins:,} from {span(grid)}"),
            *self._batches(),
        )

    def _batches(self) -> Iterator[tuple[str, str]]:
        """The batch, if it has a name, or the merged batches."""
        if self.curve is not None and self.curve.merged:
            yield "Batches", list_batches(self.curve.batches)
            if shares := list_shares(self.curve):
                yield "Mixture", shares
        elif self.estimate.provenance.batch is not None:
            yield "Batch", self.estimate.provenance.batch

    # its picture and tables

    @cached_property
    def _axis(self) -> tuple[float, float]:
        """The part of the axis worth drawing: where the released curve rises, with some room.

        All of it, unless that would leave almost a third of the axis empty.
        """
        assert self.curve is not None
        grid = self.estimate.grid
        low, high = self._whole_axis
        places = np.searchsorted(self.curve.probabilities, (0.005, 0.98))
        first, last = (float(value) for value in grid.thresholds[places])
        if grid.kind == "geometric":
            ratio = (last / first) ** 0.08
            first, last = max(low, first / ratio), min(high, last * ratio)
            part = math.log(last / first) / math.log(high / low)
        else:
            room = 0.08 * (last - first)
            first, last = max(low, first - room), min(high, last + room)
            part = (last - first) / (high - low)
        return (first, last) if 0 < part < 0.7 else (low, high)

    @property
    def _whole_axis(self) -> tuple[float, float]:
        """Bounds of the grid; one unit wide where there is a single threshold."""
        low, high = self.estimate.grid.low, self.estimate.grid.high
        return (low, high) if low < high else (high - 1.0, high)

    def pictures(self, exact: Any) -> Sequence[Picture]:
        curve, estimate = self.curve, self.estimate
        if curve is None:
            return ()
        band = curve.band(self.confidence)
        marks = tuple(row for row in self.quantiles if 0.05 < row.probability < 0.95)
        legends = (
            ("curve", "Released curve" if estimate.private else "Exact curve"),
            ("band", f"{self._level} band for the population"),
            *([("dot", "Quantile with its confidence interval")] if marks else []),
            *([("truth", "True curve of these records")] if exact is not None else []),
        )
        chart = CurveChart(
            grid=estimate.grid,
            label=estimate.column,
            share=curve.probabilities,
            view=self._axis,
            summary=f"Share of records at or below each value of {estimate.column}. {self.headline} "
            f"The band contains the curve of the population with {self._level} confidence.",
            low=band.low,
            high=band.high,
            truth=None if exact is None else exact.estimate.probabilities,
            marks=marks,
            legend=legends,
        )
        note = (
            f"The axis shows the part where the released curve rises; thresholds reach from {span(self.estimate.grid)}."
        )
        return (Picture(chart, note=None if self._axis == self._whole_axis else note),)

    def tables(self, exact: Any) -> Sequence[Html | None]:
        truth = None if exact is None else exact.estimate.probabilities
        return self._quantile_table(truth), self._share_table(truth)

    def _quantile_table(self, truth: Float64 | None) -> Html | None:
        if not self.quantiles:
            return None
        rows: list[Row] = []
        for row in self.quantiles:
            cells = [self._number(row.number, row), self._interval(row)]
            if truth is not None:
                # a share like 0.3 is not a float, and must not skip a threshold at which F is exactly that
                place = int(np.searchsorted(truth, row.probability - 1e-12))
                cells.append(self._number(float(self.estimate.grid.thresholds[place]), row))
            rows.append((words.percent(row.probability), cells))
        about = (
            "Each share of the records lies at or below the value. The intervals contain the population's quantiles, "
            f"all simultaneously, with {self._level} confidence."
        )
        if self.estimate.grid.kind != "integers":
            about += " An interval from a to b means above a and at most b."
        return table("Quantiles", ("Share", "Value", "Interval", *_true(truth)), rows, about)

    def _share_table(self, truth: Float64 | None) -> Html | None:
        if self.curve is None:
            return None
        grid, share, band = self.estimate.grid, self.curve.probabilities, self.curve.band(self.confidence)
        wanted = ticks(grid, *self._axis, THRESHOLD_ROWS)
        places = np.searchsorted(grid.thresholds, wanted, side="right") - 1
        digits = words.digits(band.half_width)
        rows: list[Row] = []
        for i in np.unique(np.clip(places, 0, grid.bins - 1)):
            known = (share, band.low, band.high, *([] if truth is None else [truth]))
            value, low, high, *exact = (words.percent(float(each[i]), digits) for each in known)
            cells = [value, f"{low.removesuffix(' %')} to {high}", *exact]
            rows.append((show(grid, float(grid.thresholds[i])), cells))
        about = (
            f"A sample of the {grid.bins:,} released thresholds. The band contains the whole curve of the population "
            f"with {self._level} confidence."
        )
        return table("Shares", ("At most", "Share", "Band", *_true(truth)), rows, about)


def _true(truth: Float64 | None) -> tuple[str, ...]:
    """The heading of a column of exact values, where there is one."""
    return () if truth is None else ("True",)


class CurveView(DistributionView):
    """A curve in some lines, as steps with a band, and as a chapter."""

    estimate: Curve
    guarantee_first = True

    @property
    def name(self) -> str:
        return f"distribution of {self.estimate.column}"

    @property
    def title(self) -> str:
        return f"Distribution function of {self.estimate.column}"

    @property
    def short(self) -> str:
        return f"of {self.estimate.column}: {self.estimate.grid.bins} thresholds"

    @property
    def curve(self) -> Curve:
        return self.estimate

    @cached_property
    def quantiles(self) -> Sequence[QuantileRow]:
        curve = self.estimate
        if not curve.told:
            return ()
        numbers = curve.thresholds[np.searchsorted(curve.probabilities, PROBABILITIES)]
        interval = curve.quantile_interval(np.array(PROBABILITIES), CONFIDENCE_LEVEL)
        low, high = ([curve.grid.number(label) for label in ends] for ends in interval)
        return tuple(map(QuantileRow, PROBABILITIES, map(float, numbers), low, high))

    @property
    def facts(self) -> list[tuple[str, str]]:
        curve, grid, counted = self.estimate, self.estimate.grid, self._counted
        size = curve.records if curve.told else 0
        records = f"{curve.total:,} (public)" if curve.total is not None else f"about {size:,.0f} (private)"
        rows = [(counted, records if curve.private else f"{curve.records:,.0f}")]
        if curve.merged or (curve.provenance is not None and curve.provenance.batch is not None):
            rows.append(("batches" if curve.merged else "batch", list_batches(curve.batches)))
        shares = list_shares(curve)
        if shares is not None:
            rows.append(("mixture", shares))
        rows.append(("grid", f"{grid.bins} thresholds, {grid.spacing}, {grid.span}"))
        if curve.provenance is not None:
            rows += trust_rows(curve.provenance.assumption)
        if not curve.told:
            rows.append(("warning", f"noise leaves no {counted}: this curve is not defined and carries no information"))
            return rows
        if curve.strategy is not None:
            measured = curve.strategy.strategy if isinstance(curve.strategy, CountedPeople) else curve.strategy
            rows.append(("method", f"{measured.name}, smoothing {curve.smoothing}"))
            rows.append(("noise", f"+/- {curve.rmse():.2g} of the {counted} (root mean square, before smoothing)"))
            share = curve.noise_share()
            if share >= LOUD:
                says = "this curve says little or nothing"
                rows.append(("warning", f"the noise is {share:.2g} of the {counted}: {says}"))
        if curve.people:
            rows.append(("counted", "each person once; all rows of a person share that weight"))
        if curve.approximates:
            rows.append(("bias", "this method approximates, besides its noise; band() bounds both errors"))
        marks = (f"{share:.0%} at {self._quantile(share)}" for share in _IN_TEXT)
        return [*rows, ("quantiles", ", ".join(marks))]

    def _quantile(self, share: float) -> str:
        return shown(self.estimate.grid, self.estimate.grid.number(self.estimate.quantile(share)))

    @property
    def line(self) -> Sequence[tuple[str, str]]:
        curve = self.estimate
        if not curve.told:
            return (("records", "0"), *((name, "-") for name in _QUARTERS))
        known = curve.total is not None or not curve.private
        size = f"{'' if known else 'about '}{curve.records:.0f}"
        return (("records", size), *((name, self._quantile(share)) for name, share in _QUARTERS.items()))

    def number(self, confidence_level: float, probability: float) -> Number:
        curve = self.estimate
        name = f"{'median' if probability == 0.5 else f'{100 * probability:g} % quantile'} of {curve.column}"
        if not curve.told:
            return Number(name, np.nan, curve.grid.low, curve.grid.high, probability=probability)
        low, high = curve.quantile_interval([probability], confidence_level)
        value, least, most = map(curve.grid.number, (curve.quantile(probability), low[0], high[0]))
        return Number(name, value, least, most, probability=probability)

    @property
    def columns(self) -> dict[str, Any]:
        labels = self.estimate.labels
        return {
            "threshold": labels if self.estimate.grid.unit == "number" else labels.tolist(),
            "count": self.estimate.cumulative,
            "share": self.estimate.probabilities,
        }

    def draw(self, ax: Any = None, **options: Any) -> Any:
        return plot_curve(self.estimate, ax, **options)


def list_batches(batches: tuple[Batch, ...]) -> str:
    """Names and sizes of batches."""
    sizes = (f"about {batch.records:.0f}" if batch.total is None else str(batch.total) for batch in batches[:SHOWN])
    shown = [f"{batch.words} ({size})" for batch, size in zip(batches, sizes, strict=False)]
    more = [f"and {len(batches) - SHOWN} more"] if len(batches) > SHOWN else []
    return ", ".join(shown + more)


def list_shares(curve: Curve) -> str | None:
    """What each curve counts for in a mixture; None where all records count alike."""
    strategy = curve.strategy
    if not isinstance(strategy, SummedStrategies) or strategy.weights is None:
        return None
    shares = [f"{float(weight):.4g}" for weight in strategy.weights[:SHOWN]]
    if len(curve.batches) == len(strategy.weights):
        shares = [f"{batch.words} {share}" for batch, share in zip(curve.batches, shares, strict=False)]
    more = [f"and {len(strategy.weights) - SHOWN} more"] if len(strategy.weights) > SHOWN else []
    return ", ".join(shares + more) + "; records have different weights"


# --- Pictures


def plot_curve(
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
