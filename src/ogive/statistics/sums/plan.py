"""How numbers are planned: the law of the noise is known, so nothing has to be simulated."""

from __future__ import annotations

import math
from typing import cast

from ogive.statistics import prediction
from ogive.statistics.prediction import Errors
from ogive.statistics.sums.estimate import NumberEstimate

NOISE = "noise"

SPREAD_SHARE = 0.1
"""The SD of values, as a share of the distance between the bounds, for which the noise of the SD is predicted."""

OF_SPREAD = "if the SD is a tenth of the distance between the bounds, and larger if it is smaller"


class NumberPrediction(prediction.Prediction):
    """The standard deviation of what noise adds, for all records."""

    deciding = (NOISE,)

    @property
    def decided(self) -> bool:
        """The law of the noise always decides."""
        return True

    def errors(self) -> Errors:
        """The largest standard deviation, and the span, over all that the exact number can be.

        Where the number of records is private, what noise in it does to a ratio depends on the ratio.
        """
        estimate = cast(NumberEstimate, self.rehearsal.estimate)
        reading = estimate.reading
        if math.isinf(reading.high):
            return Errors({NOISE: self._error(estimate, 0.0, 1.0)})
        size = float(self.setting.records) if any(reading.denominator.coefficients) else reading.size
        ratios = (reading.low, (reading.low + reading.high) / 2, reading.high)
        found = [self._error(estimate, ratio, size) for ratio in ratios]
        if max(found) == min(found):
            return Errors({NOISE: found[0]})
        return Errors({NOISE: max(found)}, {NOISE: (min(found), max(found))})

    @staticmethod
    def _error(estimate: NumberEstimate, ratio: float, size: float) -> float:
        reading = estimate.reading
        return abs(reading.unit) * reading.deviation(ratio, sampling=False).standard_error / size
