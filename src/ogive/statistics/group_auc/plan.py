"""How areas between groups are planned: by the law of the noise, for records that are spread evenly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, cast

import numpy as np

from ogive.statistics import prediction
from ogive.statistics.group_auc.areas import Classes
from ogive.statistics.group_auc.estimate import GroupAucEstimate
from ogive.statistics.prediction import Errors, Metric
from ogive.statistics.sums.plan import NOISE


class Prediction(prediction.Prediction):
    """Noise of a count, and of the AUC within a group of average size; with records given, the largest error too."""

    deciding = ("noise_auc",)
    metrics: ClassVar[Mapping[str, Metric]] = {
        "noise_auc": Metric(
            "noise of an AUC",
            "standard deviation by noise of the AUC within a group, where groups, classes and bins have equally many "
            "records; larger in groups that are smaller",
        ),
        NOISE: Metric("noise of a count", "standard deviation of the noise of a count, in records"),
        "auc": Metric("AUC", "largest difference of a private and the exact area of a pair of groups, simulated"),
    }

    @property
    def decided(self) -> bool:
        """The law of the noise always decides."""
        return True

    def errors(self) -> Errors:
        """Of the noise alone, which does not depend on the records, and of an even spread of them."""
        estimate = cast(GroupAucEstimate, self.rehearsal.estimate)
        law, unit = estimate.measured.law, 2.0**-estimate.measured.bits
        assert law is not None, "plans are of releases with noise"
        even = self.setting.records / estimate.counts.size
        classes = Classes(np.full((2, estimate.score.grid.bins), even), (1, 1), law, unit, estimate.positive_when)
        return Errors({"noise_auc": classes.noise_error(), NOISE: unit * math.sqrt(float(law.variance))})
