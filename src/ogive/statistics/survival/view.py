"""What people see of a survival estimate: a table of times, steps with a band and the numbers at risk, a chapter."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from ogive.core.digits import number, percent
from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.axis import plain_number, ticks
from ogive.showing.chapter import Picture
from ogive.showing.chart import CurveChart
from ogive.showing.parts import Html, say, strong, table
from ogive.showing.pictures import BLUE, GRAY, ORANGE, Style, new_axes, styled
from ogive.showing.view import View, level
from ogive.statistics.confidence import Number
from ogive.statistics.survival.estimate import SurvivalEstimate

NOTED = 0.005
"""What grouping of times may add to survival before the text says so."""
ROWS = 8
"""Times in the table, about."""
USELESS = 0.5
"""A band that is wider than this on average says little."""


class SurvivalEstimateView(View):
    """Survival at some times, the median and the restricted mean."""

    estimate: SurvivalEstimate
    compares = True
    table_title = "Estimates at some times"

    @property
    def name(self) -> str:
        return f"survival, {self.estimate.time} until {self.estimate.event}"

    @property
    def title(self) -> str:
        return f"Kaplan-Meier estimate: {self.estimate.time} until {self.estimate.event}"

    @property
    def short(self) -> str:
        return f"of {self.estimate.time[:40]}: {self.estimate.grid.bins} thresholds"

    @property
    def subject(self) -> str:
        return self.estimate.time

    # text

    @cached_property
    def times(self) -> list[tuple[float, ...]]:
        """Times of the table, each with the number at risk, survival and both ends of its interval."""
        estimate, grid = self.estimate, self.estimate.grid
        if not estimate.defined:
            return []
        places = np.searchsorted(grid.thresholds, ticks(grid, grid.low, grid.high, ROWS), side="right") - 1
        known = np.unique(places[places >= 0])
        columns = (estimate.timeline, estimate.at_risk(estimate.timeline), estimate.probabilities)
        return list(zip(*(column[known].tolist() for column in (*columns, *estimate.intervals())), strict=True))

    @property
    def facts(self) -> list[tuple[str, str]]:
        estimate = self.estimate
        if not estimate.defined:
            return [("warning", "undefined: noise may hide that anybody is at risk")]
        return [("records", self._counted), *self._deaths, ("median", self._median), ("mean", self._restricted_mean)]

    @property
    def _counted(self) -> str:
        noisy = self.estimate.private and self.estimate.total is None
        return f"{'about ' if noisy else ''}{self.estimate.records:,.0f}"

    @property
    def _deaths(self) -> list[tuple[str, str]]:
        about, several = "about " if self.estimate.private else "", len(self.estimate.causes) > 1
        return [
            (f"events {cause}" if several else "events", f"{about}{max(0.0, float(each.cumulative[-2])):,.0f}")
            for cause, each in zip(self.estimate.causes, self.estimate.curves[1:], strict=True)
        ]

    @property
    def _median(self) -> str:
        value = self.estimate.median
        low, high = self.estimate.quantile_interval(0.5)
        ends_early = self.estimate.estimable < self.estimate.grid.bins
        shown = plain_number(value) if math.isfinite(value) else "unknown" if ends_early else "not reached"
        last = plain_number(high) if math.isfinite(high) else "beyond the last time"
        return f"{shown} ({level(self.estimate)} CI {plain_number(low)} to {last})"

    @property
    def _restricted_mean(self) -> str:
        mean, last = self.estimate.restricted_mean(), plain_number(self.estimate.last_time)
        return f"{self._with_ends(mean)} up to {last}" if mean.low < mean.high else f"unknown beyond {last}"

    def _with_ends(self, shown: Number) -> str:
        error = shown.standard_error or 0.0
        ends = " to ".join(number(each, error) for each in (shown.low, shown.high))
        return f"{number(shown.value, error)} ({level(self.estimate)} CI {ends})"

    @property
    def headings(self) -> tuple[str, ...]:
        return () if not self.times else (self.estimate.time, "at risk", "survival", f"{level(self.estimate)} interval")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        return [
            (
                plain_number(time),
                f"{at_risk:,.0f}",
                "-" if math.isnan(survival) else percent(survival),
                f"{percent(low)} to {percent(high)}",
            )
            for time, at_risk, survival, low, high in self.times
        ]

    @property
    def notes(self) -> list[str]:
        estimate = self.estimate
        if not estimate.defined:
            return []
        noise = " and noise" if estimate.private else ""
        notes = [f"intervals are for the population, one time at a time: sampling error{noise}"]
        most = float(estimate.grouping.max(initial=0.0))
        if most > NOTED:
            why = "who leaves within a bin is at risk in all of it; more bins say it closer"
            notes.append(f"survival is at most {percent(most)} too high, which its intervals count: {why}")
        if estimate.entries is not None:
            notes.append(f"a record is at risk from its {estimate.entries.column} on")
        if estimate.estimable < estimate.grid.bins:
            why = "noise may hide that anybody is at risk" if estimate.private else "nobody is at risk"
            notes.append(f"no estimates after {plain_number(estimate.last_time)}, where {why}")
        return notes

    @property
    def line(self) -> list[tuple[str, str]]:
        estimate = self.estimate
        if not estimate.defined:
            return [("records", self._counted), ("median", "-"), ("survival at the end", "-")]
        _, value, low, high, *_ = estimate.number(estimate.last_time)
        at_end = f"survival at {plain_number(estimate.last_time)}"
        ends = f"{percent(value)} ({percent(low)} to {percent(high)})"
        return [("records", self._counted), ("median", self._median), (at_end, ends)]

    def between(self, groups: Sequence[Any], estimates: Sequence[SurvivalEstimate]) -> list[str]:
        """The log-rank test of all groups, and of two the difference of their restricted means."""
        known = [(group, each) for group, each in zip(groups, estimates, strict=True) if each.defined]
        if len(known) < 2:
            return []
        names, (first, *others) = [str(group) for group, _ in known], [each for _, each in known]
        noise = " (noise included)" if first.private else ""
        test = first.log_rank(others)
        lines = [f"{first.time} is distributed alike in {', '.join(names)}: log-rank p {test.shown()}{noise}"]
        if not others[1:]:
            end = min(first.last_time, others[0].last_time)
            gap = self._with_ends(first.restricted_mean_difference(others[0], end))
            lines.append(f"mean {first.time} up to {plain_number(end)}, {names[0]} minus {names[1]}: {gap}")
        return lines

    def number(self, confidence_level: float, probability: float) -> Number:
        """A quantile of the time to the event."""
        name = f"{'median' if probability == 0.5 else f'{100 * probability:g} % quantile'} of {self.estimate.time}"
        ends = self.estimate.quantile_interval(probability, confidence_level)
        return Number(name, self.estimate.quantile(probability), *ends, probability=probability)

    @property
    def columns(self) -> dict[str, Any]:
        estimate, ends, band = self.estimate, self.estimate.intervals(), self.estimate.band()
        values = {
            "time": estimate.timeline,
            "at_risk": estimate.at_risk(estimate.timeline),
            "survival": estimate.probabilities,
            "survival_low": ends.low,
            "survival_high": ends.high,
            "band_low": band.low,
            "band_high": band.high,
        }
        return {name: column.tolist() for name, column in values.items()}

    # pictures

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        """Draw survival as steps with its band, marks where records were censored, and the numbers at risk below."""
        estimate = self.estimate
        if not estimate.defined:
            raise ParameterError("noise leaves no survival function to draw")
        axes = new_axes(ax)
        look = styled(style, color=BLUE, linewidth=1.8, label="released" if estimate.private else "exact")
        estimable, grid = estimate.estimable, estimate.grid
        times = np.concatenate(([grid.low], grid.thresholds[:estimable]))
        ends = (*estimate.band(), estimate.probabilities)
        low, high, values = (np.concatenate(([1.0], end[:estimable])) for end in ends)
        axes.fill_between(times, low, high, step="post", color=look["color"], alpha=0.18, linewidth=0)
        axes.step(times, values, where="post", **look)
        marked = estimate.censoring_times
        axes.plot(marked, estimate(marked), "|", color=look["color"], markersize=7, label="_censored")
        if self.truth is not None:
            axes.step(grid.thresholds, self.truth.probabilities, where="post", color=ORANGE, linewidth=1, label="exact")
        axes.set_ylim(-0.02, 1.02)
        axes.set_xlim(grid.low, grid.high)
        axes.set_ylabel("Survival")
        labels = {time: f"{plain_number(time)}\n{at_risk:,.0f}" for time, at_risk, *_ in self.times}
        axes.set_xticks(list(labels), list(labels.values()))
        axes.set_xlabel(f"{estimate.time}; below: number at risk", color=GRAY)
        return self.finish(axes, grid="y")

    def at(self, place: float) -> list[str]:
        """Survival, numbers at risk and the incidence of each of several causes at a time, and the mean up to it."""
        estimate = self.estimate
        value, (low, high) = estimate(place), estimate.interval(place)
        if math.isnan(value):
            return [f"{estimate.time} {plain_number(place)}: unknown"]
        texts = [f"survival {percent(value)} ({percent(low)} to {percent(high)})"]
        for cause in estimate.causes if len(estimate.causes) > 1 else ():
            share, both = (
                estimate.cumulative_incidence(place, cause),
                estimate.cumulative_incidence_interval(place, cause),
            )
            texts.append(f"{cause} {percent(share)} ({' to '.join(map(percent, both))})")
        if place in estimate.timeline:
            texts.append(f"mean up to then {self._with_ends(estimate.restricted_mean(place))}")
        return [f"{estimate.time} {plain_number(place)}: {', '.join(texts)}, at risk {estimate.at_risk(place):,.0f}"]

    def between_at(self, groups: Sequence[Any], estimates: Sequence[SurvivalEstimate], place: float) -> list[str]:
        """Differences of survival between all pairs of groups."""
        lines = []
        for (one, first), (other, second) in itertools.combinations(zip(groups, estimates, strict=True), 2):
            gap = first.difference(second, place)
            if not math.isnan(gap.value):
                ends = f"({percent(gap.low)} to {percent(gap.high)})"
                at = f"{self.estimate.time} {plain_number(place)}"
                lines.append(f"{at}: survival, {one} minus {other}: {percent(gap.value)} {ends}")
        return lines

    def mark_groups(self, axes: Any, groups: Sequence[Any], estimates: Sequence[SurvivalEstimate]) -> None:
        """The numbers at risk below the times, a line for each group."""
        known = [(str(group), each) for group, each in zip(groups, estimates, strict=True) if each.defined]
        times = [time for time, *_ in self.times or SurvivalEstimateView(known[0][1]).times]
        lines = [[f"{float(each.at_risk(time)):,.0f}" for time in times] for _, each in known]
        axes.set_xticks(
            times, ["\n".join([plain_number(time), *cells]) for time, *cells in zip(times, *lines, strict=True)]
        )
        names, label = "\n".join(["", *(group for group, _ in known)]), axes.xaxis.get_ticklabels()[0]
        style = {"ha": "right", "va": "top", "fontsize": label.get_fontsize(), "color": GRAY}
        axes.annotate(names, (0, 0), (-8, -7), xycoords="axes fraction", textcoords="offset points", **style)

    def pictures(self, exact: Any) -> Sequence[Picture]:
        estimate = self.estimate
        if not estimate.defined:
            return ()
        band, sure = estimate.band(), words.percent(estimate.confidence_level)
        start = estimate.grid.low
        chart = CurveChart(
            grid=estimate.grid,
            label=estimate.time,
            share=_held(estimate.probabilities),
            view=(start, estimate.last_time if estimate.last_time > start else estimate.grid.high),
            summary=f"Share of the records without an event at each time. {self.headline}",
            low=band.low,
            high=band.high,
            truth=None if exact is None else _held(exact.estimate.probabilities),
            legend=(
                ("curve", "Released survival" if estimate.private else "Exact values of these records"),
                ("band", f"{sure} band for the population"),
                *([("truth", "Exact values of these records")] if exact is not None else []),
            ),
            start=1.0,
            name=self.title,
            share_label="Share without an event",
        )
        return (Picture(chart),)

    # the chapter

    @property
    def headline(self) -> str:
        estimate = self.estimate
        if not estimate.defined:
            return "The noise leaves no records at risk, so that survival cannot be estimated."
        _, value, low, high, *_ = estimate.number(estimate.last_time)
        median = f"Half of the records have had the event by {plain_number(estimate.median)}. "
        return (
            f"{median if math.isfinite(estimate.median) else ''}{words.percent(value, 1)} have no event up to "
            f"{plain_number(estimate.last_time)} ({level(estimate)} interval {words.percent(low, 1)} to "
            f"{words.percent(high, 1)})."
        )

    @property
    def error(self) -> Sequence[Html | str]:
        estimate = self.estimate
        if not estimate.defined:
            return ("Nothing can be said.",)
        band, values, known = estimate.band(), estimate.probabilities, slice(estimate.estimable)
        reach = float(np.maximum(band.high - values, values - band.low)[known].max())
        return (
            say(
                strong(f"± {words.points(reach)}"),
                " from the survival of the population that the records are from, at all times at once, with "
                f"{words.percent(estimate.confidence_level)} confidence: sampling error"
                + (" and noise." if estimate.private else "."),
            ),
            "Records that leave observation before an event count as at risk until then; this is right if leaving does "
            "not depend on the time of the event.",
        )

    @property
    def released(self) -> Sequence[Html | str]:
        entered = "entered and " if self.estimate.entries is not None else ""
        return (
            f"How many records {entered}left observation, and how many had an event, up to each of "
            f"{self.estimate.grid.bins:,} public times. Survival, hazard, incidence, medians and means are computed "
            "from these at no further cost.",
        )

    @property
    def details(self) -> Sequence[tuple[str, str]]:
        grid, smoothing = self.estimate.grid, self.estimate.curves[0].smoothing
        thresholds = f"{grid.spacing}, {grid.bins:,} from {grid.span}"
        return ("Smoothing", words.SMOOTHINGS.get(smoothing, smoothing)), ("Thresholds", thresholds)

    def alike(self, truth: SurvivalEstimate) -> bool:
        return truth.grid == self.estimate.grid and truth.causes == self.estimate.causes

    def tables(self, exact: Any) -> Sequence[Html | None]:
        if not self.headings:
            return (None,)
        rows = [(cells[0], list(cells[1:])) for cells in self.rows]
        if exact is not None:
            for (_, cells), (time, *_) in zip(rows, self.times, strict=True):
                cells.append(percent(float(exact.estimate(time))))
        return (table(self.table_title, [*self.headings, *([] if exact is None else ["True"])], rows),)

    @property
    def useless(self) -> str | None:
        estimate = self.estimate
        if not estimate.private:
            return None
        help_ = "Use a larger privacy budget, more records, or fewer thresholds."
        if not estimate.defined:
            return f"The noise leaves no records at risk. {help_}"
        wide = float(np.mean(np.subtract(*estimate.band()[::-1]))) > USELESS
        return f"The band is wider than half of the range on average. {help_}" if wide else None


def _held(values: Any) -> Any:
    """Values with the last known one where nothing is estimable, for a chart that has no gaps."""
    known = values[np.isfinite(values)]
    return np.where(np.isfinite(values), values, known[-1] if len(known) else 0.0)
