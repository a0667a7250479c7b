"""How a mean and its standard deviation are planned: by the law of their noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, cast

from ogive.statistics.prediction import UNITS, Errors, Metric
from ogive.statistics.sums.estimate import MeanEstimate
from ogive.statistics.sums.plan import NOISE, OF_SPREAD, SPREAD_SHARE, NumberPrediction

SPREAD = "sd_noise"


class Prediction(NumberPrediction):
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
