"""How numbers are planned: the law of the noise is known, so nothing has to be simulated."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, cast

from ogive.statistics import prediction
from ogive.statistics.prediction import UNITS, Errors, Metric
from ogive.statistics.sums.estimate import MeanEstimate, NumberEstimate

NOISE = "noise"
SPREAD = "sd_noise"

SPREAD_SHARE = 0.1
"""The SD of values, as a share of the distance between the bounds, for which the noise of the SD is predicted."""

OF_SPREAD = "if the SD is a tenth of the distance between the bounds, and larger if it is smaller"


class NumberPrediction(prediction.Prediction):
    """The standard deviation of what noise adds, for all records."""

    deciding = (NOISE,)

    @property
    def decided(self) -> bool:
        """The law of the noise always decides."""
        return True

    def errors(self) -> Errors:
        """The largest standard deviation, and the span, over all that the exact number can be.

        Where the number of records is private, what noise in it does to a ratio depends on the ratio.
        """
        estimate = cast(NumberEstimate, self.rehearsal.estimate)
        reading = estimate.reading
        if math.isinf(reading.high):
            return Errors({NOISE: self._error(estimate, 0.0, 1.0)})
        size = float(self.setting.records) if any(reading.denominator.coefficients) else reading.size
        ratios = (reading.low, (reading.low + reading.high) / 2, reading.high)
        results = [self._error(estimate, ratio, size) for ratio in ratios]
        if max(results) == min(results):
            return Errors({NOISE: results[0]})
        return Errors({NOISE: max(results)}, {NOISE: (min(results), max(results))})

    @staticmethod
    def _error(estimate: NumberEstimate, ratio: float, size: float) -> float:
        reading = estimate.reading
        return abs(reading.unit) * reading.deviation(ratio, sampling=False).standard_error / size


class CountPrediction(NumberPrediction):
    """The noise of a count for all records; with records given, its distance from the exact one too."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        NOISE: Metric("noise of the count", "standard deviation of the noise of the count, in records"),
        "count": Metric("count", "root mean squared distance from the exact count, simulated", squared=True),
    }


class SumPrediction(NumberPrediction):
    """The noise of a sum for all records; with records given, its distance from the exact one too."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        NOISE: Metric("noise of the sum", f"standard deviation of the noise of the sum, {UNITS}"),
        "sum": Metric("sum", f"root mean squared distance from the exact sum, simulated, {UNITS}", squared=True),
    }


class ProportionPrediction(NumberPrediction):
    """The noise of a proportion for all records; with records given, its distance from the exact one too."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        NOISE: Metric("noise of the proportion", "standard deviation of the noise of the proportion, in shares of 1"),
        "proportion": Metric("proportion", "root mean squared distance from the exact one, simulated", squared=True),
    }


class MeanPrediction(NumberPrediction):
    """The noise of a mean and of the SD for all records; with records given, distance from the exact mean too."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        NOISE: Metric("noise of the mean", f"standard deviation of the noise of the mean, {UNITS}"),
        SPREAD: Metric(
            "noise of the SD",
            f"standard deviation of the noise of the SD, {UNITS}, {OF_SPREAD}",
        ),
        "mean": Metric("mean", f"root mean squared distance from the exact mean, simulated, {UNITS}", squared=True),
    }

    def errors(self) -> Errors:
        """The noise of the mean, and that of the standard deviation where one is released."""
        errors = super().errors()
        estimate = cast(MeanEstimate, self.rehearsal.estimate)
        if estimate.has_spread:
            errors[SPREAD] = estimate.expected_spread_error(float(self.setting.records), SPREAD_SHARE)
        return errors
