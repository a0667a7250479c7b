"""What people see of a calibration test: its groups beside the line of perfect calibration."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np

from ogive.core.digits import number, p_value
from ogive.showing import words
from ogive.showing.axis import nice_step, plain_number
from ogive.showing.chapter import Chapter, Picture
from ogive.showing.chart import Dot, DotChart, Line, Mark, SquareChart
from ogive.showing.parts import Html, Row, fine, say, strong, table
from ogive.showing.pictures import BLUE, GRAY, Style, caption, legend, lighten, new_axes, styled
from ogive.showing.view import Rows, View, level
from ogive.statistics.calibration.estimate import SURPRISING, Calibration, CalibrationGroup
from ogive.statistics.calibration.sums import SMALLEST_P_VALUE

READING = (
    "How to read it: each point is a group of records with similar predicted probabilities. On the dotted diagonal "
    "(perfect calibration) the observed share equals the predicted one; above it the event is more frequent than "
    "predicted, below it less frequent. Each interval is about its group alone: where it misses the diagonal, that "
    "group is miscalibrated. The test is about all groups together: it adds up their differences, so that it may "
    "reject a model whose intervals all touch the diagonal."
)
_BESIDE = (
    "The same groups, in the order of their predictions, with equal room for each: to the right of 0 the event is more "
    "frequent than predicted, to the left less frequent."
)

_MOST_DOTS = 24
_HELP = "Use a larger privacy budget, more records or fewer groups."


def plot_reliability(calibration: Calibration, ax: Any = None, **style: Unpack[Style]) -> Any:
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
    axes = new_axes(ax, size=(7.2, 4.4) if ax is not None else (10.4, 4.6))
    points = calibration.reliability()
    seen = ~np.isnan(points.observed_share)
    across, up, low, high = (
        each[seen] for each in (points.mean_predicted, points.observed_share, points.low, points.high)
    )
    top = min(1.0, 1.05 * float(max([0.01, *across, *high])))
    if ax is None and seen.any():
        beside = axes.figure.add_subplot(1, 2, 2)
        axes.set_subplotspec(beside.get_gridspec()[0])
        places = (np.flatnonzero(seen) + 0.5) / len(seen)
        beside.axhline(0, color=GRAY, linewidth=1, linestyle=(0, (5, 2)))
        beside.vlines(places, low - across, high - across, color=look["color"], linewidth=1.4, alpha=0.6)
        beside.plot(places, up - across, marker="o", markersize=5, **look)
        beside.set_xlim(0, 1)
        beside.set_xlabel(f"Quantile of {calibration.probability}")
        beside.set_ylabel("Observed less predicted share")
        lighten(beside)
    axes.plot([0, top], [0, top], color=GRAY, linewidth=1, linestyle=(0, (5, 2)), label="perfect calibration")
    label = f"{100 * points.confidence_level:.6g} % intervals, all at once"
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


class CalibrationView(View):
    """A table of the groups, and the test above it."""

    estimate: Calibration
    guarantee_first = True
    exact: Calibration | None = None
    truth_words = "an exact calibration of the same columns"

    @property
    def name(self) -> str:
        return f"Calibration of {self.estimate.probability}"

    @property
    def chapter_title(self) -> str:
        return f"{self.name} against {self.estimate.label.column}"

    @property
    def short(self) -> str:
        return f"of {self.estimate.probability}: p {_p_value(self.estimate, 3)}"

    @property
    def subject(self) -> str:
        return f"{self.estimate.probability} and {self.estimate.label.column}"

    @property
    def facts(self) -> list[tuple[str, str]]:
        estimate = self.estimate
        if not estimate.defined:
            return [("warning", "the noise leaves too few records: the statistic is not defined")]
        rows = [("statistic", f"{estimate.statistic:.4g} in {estimate.bounds.bins} groups")]
        if estimate.private:
            rows.append(("debiased", f"{estimate.debiased_statistic:.4g}, corrected for the variance of the noise"))
        shown = _p_value(estimate, 4, least=SMALLEST_P_VALUE).removeprefix("= ")
        rows.append(("p-value", f"{shown} under perfect calibration with the same noise, of all groups together"))
        said = standing(estimate)
        rows.append(("groups", f"{said[0].lower()}{said[1:-1]}"))
        if estimate.too_wide:
            rows.append(("warning", "too noisy to use: almost any model would agree with intervals so wide"))
        return rows

    @property
    def headings(self) -> tuple[str, ...]:
        return "probability", "records", "predicted", "observed", f"{level(self.estimate)} CI, all groups at once"

    @property
    def rows(self) -> Rows:
        lines = []
        for group in self.estimate.groups:
            ends, shares = group.interval, (group.mean_predicted, group.observed_share)
            width = ends[1] - ends[0]
            predicted, observed = ("-" if math.isnan(each) else number(each, width) for each in shares)
            interval = " to ".join(number(end, width) for end in ends)
            name, records = f"{group.low:.4g} to {group.high:.4g}", f"{sum(group.expected):,.0f}"
            lines.append((name, records, predicted, observed, interval))
        return lines

    @property
    def about(self) -> str:
        return f"calibration of {self.estimate.probability} for {self.estimate.label.column}"

    @property
    def line(self) -> list[tuple[str, str]]:
        estimate = self.estimate
        known = "" if estimate.total is not None or not estimate.private else "about "
        test = ("-", "-")
        if estimate.defined:
            test = f"{estimate.statistic:.2f}", _p_value(estimate, 3).removeprefix("= ")
        return [
            ("records", f"{known}{estimate.sums.expected.sum():,.0f}"),
            ("expected", f"{estimate.sums.expected[1].sum():,.0f}"),
            ("observed", f"{estimate.sums.observed[1].sum():,.0f}"),
            *zip(("statistic", "p-value"), test, strict=True),
        ]

    @property
    def columns(self) -> dict[str, Any]:
        groups = self.estimate.groups
        return {
            "low": [group.low for group in groups],
            "high": [group.high for group in groups],
            "records": [sum(group.expected) for group in groups],
            "expected_positives": [group.expected[1] for group in groups],
            "observed_positives": [group.observed[1] for group in groups],
            "mean_predicted": [group.mean_predicted for group in groups],
            "observed_share": [group.observed_share for group in groups],
            "interval_low": [group.interval[0] for group in groups],
            "interval_high": [group.interval[1] for group in groups],
        }

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        return plot_reliability(self.estimate, ax, **style)

    def alike(self, truth: Calibration) -> bool:
        return (truth.probability, truth.label) == (self.estimate.probability, self.estimate.label)

    @property
    def truth_for(self) -> str:
        return self.estimate.probability

    @property
    def headline(self) -> str:
        estimate = self.estimate
        if not estimate.defined:
            return "The noise leaves too few records to compare predicted probabilities with outcomes."
        if self.useless is not None:
            return f"The noise is too large to judge the calibration of {estimate.probability}."
        expected, observed = (float(counts[1].sum()) for counts in (estimate.sums.expected, estimate.sums.observed))
        records = float(estimate.sums.expected.sum())
        shares = [words.percent(min(1.0, max(0.0, count / records)), 1) for count in (expected, observed)]
        return (
            f"The mean predicted probability is {shares[0]}, the observed share {shares[1]}. "
            f"{p_value_words(estimate.p_value, bound=estimate.p_value_is_bound)} {standing(estimate)}"
        )

    @property
    def error(self) -> list[Html]:
        estimate = self.estimate
        halves = [(group.interval[1] - group.interval[0]) / 2 for group in estimate.groups]
        typical, worst = words.points(float(np.median(halves))), words.points(max(halves))
        paragraphs = [
            say(
                strong(f"± {typical}"),
                f" for the observed share of a typical group, {worst} for the worst: sampling error and noise.",
            )
        ]
        if estimate.private and estimate.defined:
            extra = max(estimate.statistic - estimate.debiased_statistic, 0.0)
            paragraphs.append(
                say(
                    f"Noise adds about {plain_number(extra, 2)} to the statistic, which is "
                    f"{_number(estimate.statistic)}. The p-value accounts for this; the usual chi-square table does "
                    "not."
                )
            )
        return [*paragraphs, fine("The test is valid for a model that was fitted on other records.")]

    @property
    def released(self) -> list[Html | str]:
        estimate = self.estimate
        return [
            f"The distribution of {estimate.probability}, and in each of {estimate.bounds.bins} groups the sum of the "
            f"predicted probabilities and the number of records where {estimate.label.column} is positive. The plot, "
            "the table and the test are computed from these at no further cost.",
            fine("The limits of the groups come from the released distribution, so they reveal nothing more."),
        ]

    @property
    def details(self) -> list[tuple[str, str]]:
        estimate = self.estimate
        return [
            ("Groups", f"{estimate.bounds.bins}, limits from the released distribution"),
            ("Degrees of freedom", f"{estimate.degrees_of_freedom}"),
            ("Smallest expected count", plain_number(estimate.floor)),
            ("Form", estimate.measured.form),
        ]

    @property
    def useless(self) -> str | None:
        if not self.estimate.private:
            return None
        if not self.estimate.defined:
            return f"The noise is larger than the groups. {_HELP}"
        if self.estimate.too_wide:
            return f"The intervals of the groups are so wide that almost any model would agree with them. {_HELP}"
        return None

    def chapter(self, truth: Calibration | None = None) -> Chapter:
        self.exact = truth if self.estimate.private else None
        return dataclasses.replace(super().chapter(truth), alike=True)

    def pictures(self, exact: Any) -> tuple[Picture, ...]:
        """The points of all groups, above those of the exact groups."""
        estimate = self.estimate
        groups, true = _seen(estimate), [] if exact is None else _seen(exact.estimate)
        ends = [each for group in groups for each in (group.mean_predicted, group.observed_share, group.interval[1])]
        ends += [each for group in true for each in (group.mean_predicted, group.observed_share)]
        top = max([0.01, *ends])
        step = nice_step(top, 5)
        top = min(1.0, math.ceil(top / step - 1e-9) * step)
        shown = []
        for group in groups:
            low, high = group.interval
            name = f"{_pair(group)}, interval {words.percent(low, 1)} to {words.percent(high, 1)}"
            shown.append(Mark(group.mean_predicted, group.observed_share, name, low, high))
        known = [
            Mark(group.mean_predicted, group.observed_share, f"true: {_pair(group)}", kind="true-dot") for group in true
        ]
        chart = SquareChart(
            title=f"Calibration plot of {estimate.probability}",
            summary=f"Observed share against predicted probability, in {len(groups)} groups. {self.headline}",
            x_label="Predicted",
            y_label="Observed",
            lines=(Line("chance", np.array([0.0, top]), np.array([0.0, top])),),
            marks=(*known, *shown),
            legend=(
                ("dot", f"Group with its interval ({words.percent(estimate.confidence_level)}, simultaneous)"),
                ("chance", "Perfect calibration"),
                *((("true-dot", "True groups of these records"),) if true else ()),
            ),
            x_top=top,
            y_top=top,
        )
        dots = [
            Dot(
                f"Predicted {words.percent(group.mean_predicted, 1)}",
                group.observed_share - group.mean_predicted,
                *(end - group.mean_predicted for end in group.interval),
            )
            for group in groups
        ]
        beside = DotChart(
            title="Observed less predicted, group by group",
            label="Observed less predicted share",
            dots=tuple(dots),
            summary=f"Observed less predicted shares of {len(dots)} groups, with intervals. {standing(estimate)}",
            shares=True,
            legend=(("interval", f"Interval ({words.percent(estimate.confidence_level)}, simultaneous)"),),
        )
        return Picture(chart, note=READING), *((Picture(beside, note=_BESIDE),) if len(dots) <= _MOST_DOTS else ())

    def tables(self, exact: Any) -> list[Html]:
        rows: list[Row] = []
        for group in self.estimate.groups:
            start, end = (words.percent(edge, 1) for edge in group.interval)
            records = plain_number(max(0, round(sum(group.expected))), 9)
            cells = [records, *map(_share, (group.mean_predicted, group.observed_share))]
            name = f"{plain_number(100 * group.low, 3)} to {plain_number(100 * group.high, 3)} %"
            rows.append((name, [*cells, f"{start.removesuffix(' %')} to {end}"]))
        about = (
            "Records are grouped by predicted probability, above the first number and at most the second. "
            f"The intervals contain the probability of the event in all groups simultaneously, with "
            f"{words.percent(self.estimate.confidence_level)} confidence; they include noise and sampling error."
        )
        noisy = " The numbers of records are noisy." if self.estimate.private else ""
        head = ["Predicted between", "Records", "Predicted", "Observed", "Interval"]
        return [self._test(), table("Groups", head, rows, about + noisy)]

    def _test(self) -> Html:
        estimate, truth = self.estimate, self.exact
        lines: list[tuple[str, Callable[[float], str], Sequence[float]]] = [
            ("Statistic H", _number, (estimate.statistic, math.nan if truth is None else truth.statistic)),
            ("H corrected for noise", _number, (estimate.debiased_statistic, math.nan)),
        ]
        if not estimate.private:
            del lines[1]
        shown = 1 if truth is None else 2
        rows: list[Row] = [(name, list(map(text, values[:shown]))) for name, text, values in lines]
        known = [estimate] if truth is None else [estimate, truth]
        rows.append(("p-value", [_p_value(each).removeprefix("= ") for each in known]))
        about = (
            "H adds up the squared differences between predicted and observed counts of all groups, each divided "
            "by its variance; larger is worse. The p-value is that under perfect calibration with the same noise, so "
            "noise alone does not make it small."
        )
        return table("Test", ["Hosmer-Lemeshow test", "Released", "True"][: shown + 1], rows, about)


def standing(calibration: Calibration) -> str:
    """What the intervals say of single groups, beside what the test says of all, in a sentence."""
    groups = _seen(calibration)
    out = [each for each in groups if each.stands_out]
    if not out:
        hold = "The intervals of all groups hold the predicted probability"
        if calibration.rejected:
            return f"{hold}: no group stands out alone, but the differences of all groups together do."
        return f"{hold}."
    rest = "." if calibration.rejected else ", though the differences of all groups together are not surprising."
    return f"In {len(out)} of {len(groups)} groups the interval does not hold the predicted probability{rest}"


def p_value_words(value: float, *, bound: bool = False) -> str:
    """What a p-value says, in a sentence."""
    if value < 0.001:
        often, shown = "fewer than 1 of 1,000", f"p {p_value(value)}"
    elif value > 0.99:
        often, shown = "almost all", "p > 0.99"
    else:
        of = 1_000 if value < 0.01 else 100
        sign, about = ("<=", "at most") if bound else ("=", "about")
        often, shown = f"{about} {round(of * value)} of {of:,}", f"p {sign} {plain_number(value, 2)}"
    verdict = (
        "so the probabilities are probably miscalibrated"
        if value < SURPRISING
        else "so the test gives no evidence of miscalibration"
    )
    return (
        f"If the probabilities were perfectly calibrated, chance and noise alone would produce a disagreement at least "
        f"this large in {often} such tests ({shown}), {verdict}."
    )


def _seen(calibration: Calibration) -> list[CalibrationGroup]:
    return [group for group in calibration.groups if not math.isnan(group.observed_share)]


def _pair(group: CalibrationGroup) -> str:
    return f"predicted {words.percent(group.mean_predicted, 1)}, observed {words.percent(group.observed_share, 1)}"


def _share(value: float) -> str:
    return "–" if math.isnan(value) else words.percent(value, 1)


def _number(value: float) -> str:
    return "–" if math.isnan(value) else plain_number(value, 3)


def _p_value(calibration: Calibration, places: int = 2, least: float = 0.001) -> str:
    value = calibration.p_value
    return "–" if math.isnan(value) else p_value(value, places, bound=calibration.p_value_is_bound, least=least)
