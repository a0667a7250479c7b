"""How a histogram is planned: by the law of its noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, cast

from ogive.statistics import prediction
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.prediction import Errors, Metric
from ogive.statistics.sums.plan import NOISE

THRESHOLD = "threshold"
"""From about how many records on a value is found that nobody declared."""


class Prediction(prediction.Prediction):
    """The noise of each count; with records given, the largest distance from the exact ones too."""

    deciding = (NOISE,)
    metrics: ClassVar[Mapping[str, Metric]] = {
        NOISE: Metric("noise of a count", "largest standard deviation of the noise of a count, in records"),
        THRESHOLD: Metric(THRESHOLD, "records; values with fewer records will probably not be shown"),
        "share": Metric("share", "largest distance from an exact count, as a share of the records, simulated"),
    }

    @property
    def decided(self) -> bool:
        """The law of the noise always decides."""
        return True

    def errors(self) -> Errors:
        """The standard deviation for the count of a category; from reports it depends a little on the count."""
        estimate = cast(HistogramEstimate, self.rehearsal.estimate)
        noise = {NOISE: max(estimate.noise_errors)}
        return Errors(noise if estimate.threshold is None else {**noise, THRESHOLD: float(estimate.threshold)})
