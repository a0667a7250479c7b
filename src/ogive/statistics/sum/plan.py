"""How a sum is planned: by the law of its noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ogive.statistics.prediction import Metric
from ogive.statistics.sums.plan import NOISE, NumberPrediction


class Prediction(NumberPrediction):
    """The noise of a sum for all records; with records given, its distance from the exact one too."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        NOISE: Metric(NOISE, "standard deviation of the noise of the sum, in units of the column"),
        "sum": Metric("sum", "root mean squared distance from the exact sum, simulated", squared=True),
    }
