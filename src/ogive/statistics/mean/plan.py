"""How a mean is planned: by the law of its noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ogive.statistics.prediction import Metric
from ogive.statistics.sums.plan import NOISE, NumberPrediction


class Prediction(NumberPrediction):
    """The noise of a mean for all records; with records given, its distance from the exact one too."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        NOISE: Metric(NOISE, "standard deviation of the noise of the mean, in units of the column"),
        "mean": Metric("mean", "root mean squared distance from the exact mean, simulated", squared=True),
    }
