"""How calibration tests are planned: by the noise on a group's observed minus expected labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, cast

from ogive.queries import GroupSumsQuery
from ogive.statistics import prediction
from ogive.statistics.calibration.statistic import HosmerLemeshow
from ogive.statistics.calibration.sums import Measured
from ogive.statistics.prediction import Errors, Metric


class Prediction(prediction.Prediction):
    """Errors that hold for all records; with records given, those of the statistic by simulation."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        "difference": Metric(
            "D", "standard deviation of the noise on a group's observed minus expected labels, in records"
        ),
        "visible": Metric(
            "visible",
            "smallest miscalibration of one group that is detected through the noise with 95 % confidence, as a "
            "share of it",
        ),
        "observed": Metric("observed", "largest error of a group's observed share, simulated", squared=True),
        "statistic": Metric("statistic", "relative error of the debiased statistic, simulated", squared=True),
    }
    deciding = ("visible",)
    labeled = True
    runs = 40  # every release simulates a reference of its own

    @property
    def decided(self) -> bool:
        """The predicted noise on a group always decides."""
        return True

    def errors(self) -> Errors:
        """Noise on observed minus expected labels of a group, and the smallest miscalibration that stands out of it."""
        test = cast(HosmerLemeshow, self.statistic)
        sums = Measured.of(cast(GroupSumsQuery, self.queries[-1]), noisy=True, constants=test.constants)
        spread = math.sqrt(sums.difference_variance)
        return Errors({"difference": spread, "visible": 1.96 * spread * test.groups / self.setting.records})
