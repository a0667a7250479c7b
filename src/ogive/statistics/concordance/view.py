"""What people see of the concordance of a score: a table of measures, areas over time, and calibration in groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Unpack

import numpy as np

from ogive.core.digits import percent
from ogive.errors import ParameterError
from ogive.showing.axis import plain_number
from ogive.showing.parts import Html
from ogive.showing.pictures import BLUE, GRAY, ORANGE, Style, new_axes, styled
from ogive.showing.view import MeasuresView, Numbers, ends, level, shown
from ogive.statistics.concordance.estimate import ConcordanceEstimate
from ogive.statistics.confidence import Number

_LESS = "observed less predicted"
MOST_TIMES = 12
"""Times of the table, at most."""


class ConcordanceEstimateView(MeasuresView):
    """Indices and areas with their intervals; calibration where the score is a predicted chance."""

    estimate: ConcordanceEstimate
    judged = "uno"
    apart = ("Harrell's index", "Uno's index")
    table_title = "Measures of the score"

    @property
    def name(self) -> str:
        return f"concordance of {self.subject} with {self.estimate.time} until {self.estimate.event}"

    @property
    def short(self) -> str:
        estimate = self.estimate
        return f"of {estimate.score[:40]}: {estimate.grid.bins} intervals, {estimate.score_grid.bins} bins"

    @cached_property
    def ranks(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Indices, and areas at some times."""
        times = self.estimate.grid.thresholds[:: -1 - (self.estimate.grid.bins - 1) // MOST_TIMES][::-1].tolist()
        areas = {f"AUC at {plain_number(time)}": ("auc", {"horizon": time}) for time in times}
        return {"Harrell's index": ("harrell", {}), "Uno's index": ("uno", {}), **areas}

    @property
    def measures(self) -> dict[str, tuple[str, dict[str, Any]]]:
        if self.estimate.predicts is None:
            return self.ranks
        at = f"at {plain_number(self.estimate.predicts)}"
        return self.ranks | {f"Brier score {at}": ("brier", {}), f"{_LESS} {at}": ("mean_calibration", {})}

    @property
    def rows(self) -> list[tuple[str, ...]]:
        rows, estimate = super().rows, self.estimate
        for each in estimate.calibration() if estimate.predicts is not None and estimate.other is None else ():
            mean = "" if math.isnan(each.predicted) else f", predicted {percent(each.predicted)}"
            name = f"observed of scores {plain_number(each.low)} to {plain_number(each.high)}{mean}"
            rows.append((name, shown(each.observed, shares=True), ends(each.observed, shares=True)))
        return rows

    @property
    def notes(self) -> list[str]:
        estimate, notes = self.estimate, super().notes
        if any(math.isnan(estimate.measure(name, **where).value) for name, where in self.ranks.values()):
            why = "noise may hide that there are" if estimate.private else "there are no"
            notes.append(f"a measure is missing where {why} records with an event before its time or without one")
        tied = "count one half" if estimate.ties == "half" else "are not compared"
        return [*notes, f"two events of one interval of time {tied}; scores of one bin count one half"]

    def number(self, confidence_level: float, probability: float) -> Number:
        """Uno's index."""
        return Number(f"Uno's index of {self.estimate.score}", *self.estimate.uno(confidence_level=confidence_level))

    @property
    def columns(self) -> dict[str, Any]:
        value, low, high = self.estimate.auc_band()
        areas = [self.estimate.auc(float(time)) for time in self.estimate.grid.thresholds]
        return {
            "time": self.estimate.grid.thresholds.tolist(),
            "auc": value.tolist(),
            "auc_low": [each.low for each in areas],
            "auc_high": [each.high for each in areas],
            "band_low": low.tolist(),
            "band_high": high.tolist(),
        }

    @property
    def numbers(self) -> Numbers | None:
        values = [(title, *self.estimate.measure(name, **at)[:3]) for title, (name, at) in self.ranks.items()]
        return Numbers(
            "Chance that the record with the earlier event has the higher score",
            [(name, None if math.isnan(value) else value, low, high) for name, value, low, high in values],
            summary="Concordance of the score, and areas below ROC curves at some times.",
        )

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        """Draw the area below the ROC curve over time, with a band that holds all of it at once."""
        estimate = self.estimate
        value, low, high = estimate.auc_band()
        known = np.isfinite(value)
        if not known.any():
            raise ParameterError("noise leaves no areas to draw")
        axes, times = new_axes(ax), estimate.grid.thresholds
        look = styled(style, color=BLUE, linewidth=1.8, label="released" if estimate.private else "exact")
        axes.fill_between(times[known], low[known], high[known], color=look["color"], alpha=0.18, linewidth=0)
        axes.plot(times[known], value[known], marker="o", markersize=3, **look)
        if self.truth is not None:
            axes.plot(times, self.truth.auc_band()[0], color=ORANGE, linewidth=1, label="exact")
        axes.axhline(0.5, color=GRAY, linewidth=0.8, linestyle=":")
        axes.set_ylim(max(0.0, min(0.45, float(low[known].min()) - 0.02)), 1.0)
        axes.set_ylabel("AUC of events up to then")
        axes.set_xlabel(estimate.time)
        return self.finish(axes, grid="y")

    @property
    def headline(self) -> str:
        value = self.estimate.uno()
        if math.isnan(value.value):
            return "Noise leaves too few records to say how well the score ranks them."
        return (
            f"Of two records, the one with the earlier event has the higher {self.estimate.score} with a chance of "
            f"{shown(value)} (Uno's index, {level(self.estimate)} interval {ends(value)})."
        )

    @property
    def released(self) -> Sequence[Html | str]:
        grid, scores = self.estimate.grid, self.estimate.score_grid
        each = "" if self.estimate.other is None else ", for each of two scores"
        return (
            f"How many records had an event, and how many were censored, in each of {grid.bins:,} public intervals of "
            f"time and later, with scores in each of {scores.bins:,} public bins{each}. All measures are computed from "
            "these counts at no further cost.",
        )

    def alike(self, truth: ConcordanceEstimate) -> bool:
        return all(getattr(truth, each) == getattr(self.estimate, each) for each in ("grid", "score_grid", "ties"))
