"""How quantiles are planned: by the curve that they are read off, the points that a bisection opens, or selections."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, cast

import numpy as np

from ogive.queries import JointQuantilesQuery, NoisyMaxQuery, QuantileScore
from ogive.statistics.base import Statistic, Terms
from ogive.statistics.ecdf.plan import curve_errors, curve_is_decided
from ogive.statistics.methods.plan import CURVE_METRICS, CurvePrediction, decided_by_noise, errors_of_one_curve
from ogive.statistics.prediction import Errors, Metric, Setting
from ogive.statistics.quantiles.selection import joint_ranks_off
from ogive.statistics.quantiles.statistic import Quantiles

_EVENLY = "rank of {}: on average, if values are spread evenly over the bounds"


class Prediction(CurvePrediction):
    """Errors of the curve, and by simulation of the quantiles."""

    metrics: ClassVar[Mapping[str, Metric]] = CURVE_METRICS | {
        "rank": Metric("rank", "largest distance of a quantile from its wanted share, on average, simulated")
    }

    def __init__(self, statistic: Quantiles, terms: Terms, setting: Setting) -> None:
        super().__init__(statistic.resolved(terms), terms, setting)

    @staticmethod
    def measured(statistic: Quantiles) -> Statistic[Any]:
        """The curve, whose intervals need not be simulated to know what is asked of the records."""
        return statistic if statistic.method in ("bisection", "exponential", "joint") else statistic.ecdf()

    @property
    def decided(self) -> bool:
        """Whether the predicted errors decide: one noisy curve is measured, or owners report."""
        if self._selected:
            return True
        return decided_by_noise(self.queries) if self._bisected else curve_is_decided(self.rehearsal)

    def errors(self) -> Errors:
        """Errors of the whole curve, or of the curve of which a bisection opens some points."""
        if self._selected:
            return self._rank_errors()
        if self._bisected:
            unit = self.setting.unit
            of_one = errors_of_one_curve(self.queries, unit.adjacency, self.setting.records)
            return Errors(of_one or {})
        return curve_errors(cast(Quantiles, self.statistic).ecdf(), self.rehearsal, self.setting)

    def simulated(self) -> tuple[Statistic[Any], Terms]:
        """The quantiles without their intervals, which no error depends on."""
        return self.statistic, dataclasses.replace(self.terms, simulations=0)

    @property
    def _bisected(self) -> bool:
        return cast(Quantiles, self.statistic).method == "bisection"

    def _rank_errors(self) -> Errors:
        """The largest expected error of selections, if values are spread evenly over the bins.

        For single ones of the exponential mechanism with the same loss, which is never below that of the selection.
        """
        first, records = self.queries[0], self.setting.records
        if isinstance(first, JointQuantilesQuery):
            rank = min(1.0, joint_ranks_off(first, records).largest / max(1, records))
            return Errors({"rank": rank}, basis=(_EVENLY.format("joint"),))
        errors = [
            _expected_rank(query, records)
            for query in self.queries[: len(cast(Quantiles, self.statistic).probabilities)]
            if isinstance(query, NoisyMaxQuery)
        ]
        return Errors({"rank": max(errors, default=float("nan"))}, basis=(_EVENLY.format("exponential"),))

    @property
    def _selected(self) -> bool:
        return cast(Quantiles, self.statistic).method in ("exponential", "joint")


def _expected_rank(query: NoisyMaxQuery, records: int) -> float:
    """Expected distance of the rank of the bin that is selected from the wanted one, as a share of the records."""
    score = query.score
    assert isinstance(score, QuantileScore)
    at = np.linspace(0, 1, score.candidates + 1)
    wanted, unit = float(score.probability), score.probability.denominator
    off = np.maximum(0.0, np.maximum(at[:-1] - wanted, wanted - at[1:]))
    weights = np.exp(-off * records * unit * 2**query.bits / float(query.law.scale))
    return float(np.sum(off * weights) / np.sum(weights))
