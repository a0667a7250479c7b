"""How a cross table is planned: by the law of its noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, cast

from ogive.statistics import prediction
from ogive.statistics.crosstab.estimate import CrosstabEstimate
from ogive.statistics.prediction import Errors, Metric
from ogive.statistics.sums.plan import NOISE


class Prediction(prediction.Prediction):
    """The noise of each count; with records given, the largest distance from the exact ones too."""

    deciding = (NOISE,)
    metrics: ClassVar[Mapping[str, Metric]] = {
        NOISE: Metric("noise of a count", "largest standard deviation of the noise of a count, in records"),
        "share": Metric("share", "largest distance from an exact count, as a share of the records, simulated"),
    }

    @property
    def decided(self) -> bool:
        """The law of the noise always decides."""
        return True

    def errors(self) -> Errors:
        """The standard deviation for the count of a combination; from reports it depends a little on the count."""
        estimate = cast(CrosstabEstimate, self.rehearsal.estimate)
        return Errors({NOISE: max(map(max, estimate.noise_errors))})
