"""How a proportion is planned: by the law of its noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ogive.statistics.prediction import Metric
from ogive.statistics.sums.plan import NOISE, NumberPrediction


class Prediction(NumberPrediction):
    """The noise of a proportion for all records; with records given, its distance from the exact one too."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        NOISE: Metric("noise of the proportion", "standard deviation of the noise of the proportion, in shares of 1"),
        "proportion": Metric("proportion", "root mean squared distance from the exact one, simulated", squared=True),
    }
