"""How bounds are planned: by how many records an order of magnitude needs to be seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, cast

from ogive.statistics import prediction
from ogive.statistics.bounds.estimate import BoundsEstimate
from ogive.statistics.bounds.noise import reach
from ogive.statistics.prediction import CONFIDENCE, Errors, Metric


class Prediction(prediction.Prediction):
    """What bounds may miss, for all records; with records given, what they do miss, by simulation."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        "unseen": Metric(
            "unseen", "an outermost magnitude with a larger share of the records is found with 95 % probability"
        ),
        "outside": Metric("outside", "share of the records outside the bounds, on average, simulated"),
        "too_wide": Metric("too wide", "orders of magnitude without records that the bounds include, simulated"),
    }
    deciding = ("unseen",)

    @property
    def decided(self) -> bool:
        """The predicted numbers always decide."""
        return True

    def errors(self) -> Errors:
        """The share of the records that an outermost order of magnitude must hold to be seen in 95 of 100 releases.

        It is seen where its noisy count reaches the threshold t: with c records unless the noise is below t - c. The
        noise is symmetric, so c = t + r will do, with r reached by one draw in 20.
        """
        bounds = cast(BoundsEstimate, self.rehearsal.estimate)
        assert bounds.strategy is not None, "planned with noise"
        needed = bounds.threshold + reach(bounds.strategy.laws[0], 1, float(1 - CONFIDENCE)) - 1
        return Errors({"unseen": min(1.0, needed / self.setting.records)})
