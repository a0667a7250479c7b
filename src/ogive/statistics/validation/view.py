"""What people see of a validation: a table of measures, the calibration curve, the decision curve, a chapter."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Unpack

import numpy as np

from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.axis import nice_step
from ogive.showing.chapter import Picture
from ogive.showing.chart import SMALL, Line, Ribbon, SquareChart
from ogive.showing.parts import Html
from ogive.showing.pictures import BLUE, COLORS, GRAY, ORANGE, Style, caption, legend, lighten, new_axes, styled
from ogive.showing.view import MeasuresView, ends, shown, with_ends
from ogive.statistics.confidence import Number
from ogive.statistics.functionals import Value
from ogive.statistics.validation import measures
from ogive.statistics.validation.estimate import ValidationEstimate

SHOWN = {
    "brier": "Brier score",
    "reliability": "- reliability",
    "resolution": "- resolution",
    "uncertainty": "- uncertainty",
    "auc": "AUC",
    "ece": "calibration error (ECE)",
    "mean_difference": "observed less predicted",
    "calibration_in_the_large": "calibration in the large",
    "slope": "calibration slope",
    "intercept": "calibration intercept",
}

AT_THRESHOLD = {"sensitivity": "sensitivity", "specificity": "specificity", "ppv": "PPV", "npv": "NPV"}
"""Measures of a decision, as `at` names them."""


class ValidationEstimateView(MeasuresView):
    """Measures with their intervals; of two models also their difference."""

    estimate: ValidationEstimate
    judged = "auc"
    apart = ("Brier score", "AUC", "observed less predicted", "calibration slope")

    @property
    def name(self) -> str:
        return f"validation of {self.subject} against {self.estimate.label.column}"

    @property
    def short(self) -> str:
        return f"of {self.estimate.score[:40]}: {self.estimate.bins} bins"

    # text

    @property
    def measures(self) -> dict[str, tuple[str, dict[str, Any]]]:
        return {title: (name, {}) for name, title in SHOWN.items()}

    @property
    def facts(self) -> list[tuple[str, str]]:
        if not self.estimate.defined:
            return [
                (
                    "warning",
                    "noise may hide that there are records of both classes, so that only some measures are known",
                )
            ]
        return [*super().facts, ("positive", with_ends(self.estimate.measure("prevalence")))]

    @property
    def notes(self) -> list[str]:
        estimate = self.estimate
        return [*super().notes, f"scores are those of {estimate.bins} bins, at most {estimate.binning:g} off"]

    def at(self, place: float) -> list[str]:
        """Measures of the decision to call scores above a threshold positive."""
        try:
            measured = {title: self.estimate.measure(name, threshold=place) for name, title in AT_THRESHOLD.items()}
        except ParameterError as problem:  # it was released, and is not lost for that
            return [f"called positive above {place:g}: {problem}"]
        texts = [f"{title} {shown(each, shares=True)} ({ends(each, shares=True)})" for title, each in measured.items()]
        benefit, everybody = (self.estimate.measure(name, threshold=place) for name in ("net_benefit", "treat_all"))
        texts.append(f"net benefit {with_ends(benefit)}, of treating everybody {with_ends(everybody)}")
        return [f"called positive above {place:g}: {', '.join(texts)}"]

    def between_at(self, groups: Sequence[Any], estimates: Sequence[ValidationEstimate], place: float) -> list[str]:
        """Differences of these measures between all pairs of groups."""
        lines: list[str] = []
        if abs(place * self.estimate.bins - round(place * self.estimate.bins)) > 1e-9:
            return lines
        for (one, first), (other, second) in itertools.combinations(zip(groups, estimates, strict=True), 2):
            gaps = {title: first.difference(second, name, threshold=place) for name, title in AT_THRESHOLD.items()}
            texts = [f"{title} {with_ends(gap)}" for title, gap in gaps.items() if not math.isnan(gap.value)]
            lines += [f"called positive above {place:g}, {one} minus {other}: {', '.join(texts)}"] if texts else []
        return lines

    @property
    def line(self) -> list[tuple[str, str]]:
        return [(SHOWN[name], with_ends(self.estimate.measure(name))) for name in ("brier", "auc", "slope")]

    def number(self, confidence_level: float, probability: float) -> Number:
        """The Brier score."""
        return Number(f"Brier score of {self.estimate.score}", *self.estimate.measure("brier", confidence_level))

    @property
    def columns(self) -> dict[str, Any]:
        values = zip(*map(self.estimate.measure, SHOWN), strict=True)
        return {"measure": list(SHOWN), **dict(zip(Value._fields, map(list, values), strict=True))}

    # pictures

    def curve(self) -> tuple[Any, Any, Any, Any]:
        """Of groups of bins mean score, share of positives, and both ends of its interval."""
        estimate = self.estimate
        groups = measures.grouped(estimate.classes, min(10, estimate.bins), "ece")
        if groups is None:
            raise ParameterError("noise leaves no calibration curve to draw")
        number, middle = estimate.classes.histograms.sum(axis=0), measures.midpoints(estimate.bins)
        points = []
        for first, last in pairwise(groups.ends):
            inside = (middle > first) & (middle < last)
            weights = measures.positives(estimate.bins, inside)
            ratio = measures.Ratio(weights, weights + weights[::-1], share=True)
            share, low, high, _ = ratio.estimate(estimate.classes, estimate.confidence_level)
            score = float(number[inside] @ middle[inside] / number[inside].sum())
            points.append((np.clip(score, first, last), (low + high) / 2 if math.isnan(share) else share, low, high))
        scores, shares, lows, highs = np.array(points).T
        return scores, shares, lows, highs

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        """Draw the calibration curve: the share of positives in groups of scores, with intervals."""
        estimate = self.estimate
        if not estimate.defined:
            raise ParameterError("noise leaves no calibration curve to draw")
        scores, shares, low, high = self.curve()
        axes = new_axes(ax, size=(5.4, 5.6))
        other_name = None if estimate.second is None else estimate.second.score
        first = "released" if estimate.private else "exact"
        look = styled(style, color=BLUE, linewidth=1.8, label=first if other_name is None else estimate.score)
        axes.plot([0, 1], [0, 1], color=GRAY, linewidth=1, linestyle=(0, (1, 2)), label="perfect calibration")
        axes.vlines(scores, low, high, color=look["color"], linewidth=1.2)
        axes.plot(scores, shares, marker="o", markersize=4, **look)
        if estimate.second is not None and estimate.second.defined:
            other = ValidationEstimateView(estimate.second).curve()
            axes.vlines(other[0], other[2], other[3], color=COLORS[2], linewidth=1.2)
            axes.plot(other[0], other[1], marker="s", markersize=4, color=COLORS[2], linewidth=1.4, label=other_name)
        if self.truth is not None:
            known = self.truth.view().curve()
            axes.plot(known[0], known[1], color=ORANGE, linewidth=1, label="exact")
        axes.set_xlabel(f"Predicted probability, {estimate.score}")
        axes.set_ylabel(f"Share of {estimate.label.column} that is positive")
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(-0.02, 1.02)
        return self.finish(axes, grid="both")

    def draw_decisions(self, thresholds: Any = None, ax: Any = None, **style: Unpack[Style]) -> Any:
        """Draw net benefit over thresholds beside that of treating everybody and nobody, and of the second model."""
        estimate, second = self.estimate, self.estimate.second
        places, benefit, low, high, everybody = estimate.decision_curve(thresholds, together=True)
        if not np.isfinite(benefit).any():
            raise ParameterError("noise leaves no decision curve to draw")
        axes, plain = new_axes(ax), {"color": GRAY, "linewidth": 1}
        look = styled(style, color=BLUE, linewidth=1.8, label=estimate.score)
        axes.fill_between(places, low, high, color=look["color"], alpha=0.18, linewidth=0)
        axes.plot(places, everybody, linestyle=(0, (1, 2)), label="treat everybody", **plain)
        axes.axhline(0.0, label="treat nobody", **plain)
        axes.plot(places, benefit, **look)
        if second is not None:
            other = second.decision_curve(thresholds).net_benefit
            axes.plot(places, other, color=COLORS[2], linewidth=1.4, label=second.score)
        top = max(float(np.nanmax([high, everybody])), 0.01)
        axes.set_ylim(-0.15 * top, 1.05 * top)
        axes.set_xlabel("Threshold of the predicted probability above which a record is treated")
        axes.set_ylabel("Net benefit")
        caption(axes, f"Decision curve of {self.subject}", estimate.caption, private=estimate.private)
        lighten(axes)
        legend(axes)
        return axes

    def pictures(self, exact: Any) -> Sequence[Picture]:
        if not self.estimate.defined:
            return ()
        diagonal = np.array([0.0, 1.0])
        calibration = self._chart(
            ("Calibration curve", "Predicted probability", "Share that is positive", "intervals"),
            self.curve(),
            ("Perfect calibration", diagonal, diagonal),
            None if exact is None else exact.curve(),
        )
        places, benefit, low, high, everybody = self.estimate.decision_curve(together=True)
        top = 1.2 * max(float(everybody[0]), float(benefit.max()), 0.01)
        step = nice_step(top, 5)
        decisions = self._chart(
            ("Decision curve", "Threshold", "Net benefit", "band"),
            (places, benefit, low, high),
            ("Everybody treated; the bottom is nobody", places, np.where(everybody < 0, math.nan, everybody)),
            None if exact is None else exact.estimate.decision_curve(),
        )
        top = math.ceil(top / step - 1e-9) * step
        decisions = replace(decisions, sizes=SMALL, x_top=float(places[-1]), y_top=top)
        return Picture(calibration), Picture(decisions, name=decisions.title)

    def _chart(self, labels: Any, points: Any, beside: Any, exact: Any) -> SquareChart:
        """A chart of points with their intervals, a line to compare them with, and the exact points where known."""
        (title, x, y, held), word = labels, "Exact values of these records"
        drawn = (("chance", beside[1:]), ("curve", points), ("truth", exact))
        return SquareChart(
            title=title,
            summary=f"{y} for each {x.lower()}.",
            x_label=x,
            y_label=y,
            lines=tuple(Line(kind, *each[:2]) for kind, each in drawn if each is not None),
            ribbon=Ribbon(points[0], *points[2:]),
            legend=(
                ("curve", "Released" if self.estimate.private else word),
                ("band", f"{words.percent(self.estimate.confidence_level)} {held} for the population"),
                ("chance", beside[0]),
                *(() if exact is None else (("truth", word),)),
            ),
        )

    # the chapter

    @property
    def headline(self) -> str:
        estimate = self.estimate
        if not estimate.defined:
            return "The noise leaves no records of a class, so that nothing can be validated."
        auc, slope, less = (estimate.measure(name) for name in ("auc", "slope", "mean_difference"))
        fits = "right on average" if less.low <= 0 <= less.high else ("too low" if less.value > 0 else "too high")
        return (
            f"The score ranks a positive record above a negative one in {words.percent(auc.value, 1)} of all pairs. "
            f"Predicted probabilities are {fits}; the calibration slope is {with_ends(slope)}, where 1 is right and "
            "less means predictions that are too extreme."
        )

    @property
    def released(self) -> Sequence[Html | str]:
        estimate = self.estimate
        models = "" if estimate.other is None else " for each of two models"
        return (
            f"How many records of each class have a score up to each of {estimate.bins:,} public thresholds{models}. "
            "All measures are computed from these counts at no further cost.",
        )

    @property
    def details(self) -> Sequence[tuple[str, str]]:
        return (("Bins", f"{self.estimate.bins:,} of equal width from 0 to 1"),)

    def alike(self, truth: ValidationEstimate) -> bool:
        return truth.negatives.grid == self.estimate.negatives.grid and truth.label == self.estimate.label
