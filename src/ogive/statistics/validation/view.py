"""What people see of a validation: a table of measures, the calibration curve, the decision curve, a chapter."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
from ogive.showing.view import MeasuresView, with_ends
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
USELESS = 0.2
"""An interval of the AUC that is wider says little."""


class ValidationEstimateView(MeasuresView):
    """Measures with their intervals; of two models also their difference."""

    estimate: ValidationEstimate

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
            return [("warning", "undefined: the noise leaves no records of a class; use a larger budget")]
        return [*super().facts, ("positive", with_ends(self.estimate.measure("prevalence")))]

    @property
    def notes(self) -> list[str]:
        estimate = self.estimate
        return [*super().notes, f"scores are those of {estimate.bins} bins, at most {estimate.binning:g} off"]

    @property
    def line(self) -> list[tuple[str, str]]:
        return [(SHOWN[name], with_ends(self.estimate.measure(name))) for name in ("brier", "auc", "slope")]

    def number(self, confidence_level: float, probability: float) -> Number:
        """The Brier score."""
        return Number(f"Brier score of {self.estimate.score}", *self.estimate.measure("brier", confidence_level))

    @property
    def columns(self) -> dict[str, Any]:
        values = {name: self.estimate.measure(name) for name in SHOWN}
        return {
            "measure": list(values),
            **{field: [getattr(each, field) for each in values.values()] for field in Value._fields},
        }

    # pictures

    def curve(self) -> tuple[Any, Any, Any, Any]:
        """Of groups of bins mean score, share of positives, and both ends of its interval."""
        estimate = self.estimate
        groups = measures.grouped(estimate.counts, min(10, estimate.bins), "ece")
        if groups is None:
            raise ParameterError("noise leaves no calibration curve to draw")
        number, middle = estimate.counts.histograms.sum(axis=0), measures.midpoints(estimate.bins)
        points = []
        for first, last in pairwise(groups.ends):
            inside = (middle > first) & (middle < last)
            weights = measures.positives(estimate.bins, inside)
            ratio = measures.Ratio(weights, weights + weights[::-1], share=True)
            share, low, high, _ = ratio.estimate(estimate.counts, estimate.confidence_level)
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
        look = styled(style, color=BLUE, linewidth=1.8, label="released" if estimate.private else "exact")
        axes.plot([0, 1], [0, 1], color=GRAY, linewidth=1, linestyle=(0, (1, 2)), label="perfect calibration")
        axes.vlines(scores, low, high, color=look["color"], linewidth=1.2)
        axes.plot(scores, shares, marker="o", markersize=4, **look)
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
        curve = estimate.decision_curve(thresholds, together=True)
        if not np.isfinite(curve.net_benefit).any():
            raise ParameterError("noise leaves no decision curve to draw")
        axes, look = new_axes(ax), styled(style, color=BLUE, linewidth=1.8, label=estimate.score)
        axes.fill_between(curve.thresholds, curve.low, curve.high, color=look["color"], alpha=0.18, linewidth=0)
        plain = {"color": GRAY, "linewidth": 1}
        axes.plot(curve.thresholds, curve.treat_all, linestyle=(0, (1, 2)), label="treat everybody", **plain)
        axes.axhline(0.0, label="treat nobody", **plain)
        axes.plot(curve.thresholds, curve.net_benefit, **look)
        if second is not None:
            other = second.decision_curve(thresholds).net_benefit
            axes.plot(curve.thresholds, other, color=COLORS[2], linewidth=1.4, label=second.score)
        top = max(float(np.nanmax([curve.high, curve.treat_all])), 0.01)
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
        ends, (scores, *others) = np.array([0.0, 1.0]), self.curve()
        calibration = self._chart(
            ("Calibration curve", "Share of positive records for each predicted probability."),
            ("Predicted probability", "Share that is positive"),
            (scores, *others),
            Line("chance", ends, ends),
            ("intervals", "Perfect calibration"),
            None if exact is None else exact.curve()[:2],
        )
        places, benefit, low, high, everybody = self.estimate.decision_curve(together=True)
        top = 1.2 * max(float(everybody[0]), float(benefit.max()), 0.01)
        step = nice_step(top, 5)
        decisions = self._chart(
            ("Decision curve", "Net benefit of treating records above a threshold, for each threshold."),
            ("Threshold", "Net benefit"),
            (places, benefit, low, high),
            Line("chance", places, np.where(everybody < 0, math.nan, everybody)),
            ("band", "Treating everybody; the bottom line is treating nobody"),
            None if exact is None else exact.estimate.decision_curve()[:2],
            sizes=SMALL,
            x_top=float(places[-1]),
            y_top=math.ceil(top / step - 1e-9) * step,
        )
        return Picture(calibration), Picture(decisions, name=decisions.title)

    def _chart(
        self, what: Any, labels: Any, points: Any, chance: Line, said: Any, truth: Any, **more: Any
    ) -> SquareChart:
        """A chart of points with their intervals, a line to compare them with, and the exact points where known."""
        word, sure = "Exact values of these records", words.percent(self.estimate.confidence_level)
        named = [
            ("curve", "Released" if self.estimate.private else word),
            ("band", f"{sure} {said[0]} for the population"),
        ]
        return SquareChart(
            *what,
            *labels,
            lines=(chance, Line("curve", *points[:2]), *(() if truth is None else (Line("truth", *truth),))),
            ribbon=Ribbon(points[0], *points[2:]),
            legend=(*named, ("chance", said[1]), *(() if truth is None else (("truth", word),))),
            **more,
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

    @property
    def useless(self) -> str | None:
        estimate = self.estimate
        if not estimate.private:
            return None
        help_ = "Use a larger privacy budget or more records."
        if not estimate.defined:
            return f"The noise leaves no records of a class. {help_}"
        value = estimate.measure("auc")
        return f"The interval of the AUC is wide. {help_}" if value.high - value.low > USELESS else None
