"""How a count is planned: by the law of its noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ogive.statistics.prediction import Metric
from ogive.statistics.sums.plan import NOISE, NumberPrediction


class Prediction(NumberPrediction):
    """The noise of a count for all records; with records given, its distance from the exact one too."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        NOISE: Metric("noise of the count", "standard deviation of the noise of the count, in records"),
        "count": Metric("count", "root mean squared distance from the exact count, simulated", squared=True),
    }
