"""How a sum is planned: by the law of its noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ogive.statistics.prediction import UNITS, Metric
from ogive.statistics.sums.plan import NOISE, NumberPrediction


class Prediction(NumberPrediction):
    """The noise of a sum for all records; with records given, its distance from the exact one too."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        NOISE: Metric("noise of the sum", f"standard deviation of the noise of the sum, {UNITS}"),
        "sum": Metric("sum", f"root mean squared distance from the exact sum, simulated, {UNITS}", squared=True),
    }
