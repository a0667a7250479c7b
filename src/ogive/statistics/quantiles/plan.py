"""How quantiles are planned: by the curve that they are read off, or by the points that a bisection opens."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, cast

from ogive.statistics.base import Statistic, Terms
from ogive.statistics.ecdf.plan import curve_errors, curve_is_decided
from ogive.statistics.methods.plan import CURVE_METRICS, CurvePrediction, decided_by_noise, errors_of_one_curve
from ogive.statistics.prediction import Errors, Metric
from ogive.statistics.quantiles.statistic import Quantiles


class Prediction(CurvePrediction):
    """Errors of the curve, and by simulation of the quantiles."""

    metrics: ClassVar[Mapping[str, Metric]] = CURVE_METRICS | {
        "rank": Metric("rank", "largest distance of a quantile from its wanted share, on average, simulated")
    }

    @staticmethod
    def measured(statistic: Quantiles) -> Statistic[Any]:
        """The curve, whose intervals need not be simulated to know what is asked of the records."""
        return statistic if statistic.method == "bisection" else statistic.ecdf()

    @property
    def decided(self) -> bool:
        """Whether the predicted errors decide: one noisy curve is measured, or owners report."""
        return decided_by_noise(self.queries) if self._bisected else curve_is_decided(self.rehearsal)

    def errors(self) -> Errors:
        """Errors of the whole curve, or of the curve of which a bisection opens some points."""
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
