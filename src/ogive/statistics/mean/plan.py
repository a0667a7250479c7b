"""How a mean is planned: by the law of its noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ogive.statistics.prediction import UNITS, Metric
from ogive.statistics.sums.plan import NOISE, NumberPrediction


class Prediction(NumberPrediction):
    """The noise of a mean for all records; with records given, its distance from the exact one too."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        NOISE: Metric("noise SD", f"standard deviation of the noise of the mean, {UNITS}"),
        "mean": Metric("mean", f"root mean squared distance from the exact mean, simulated, {UNITS}", squared=True),
    }
