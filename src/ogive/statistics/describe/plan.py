"""How descriptions are planned: the law of the noise says how far every number of every variable will be off."""

from __future__ import annotations

import math
from typing import Any, cast

from ogive.statistics import prediction
from ogive.statistics.base import Statistic, Terms
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.statistic import Describe
from ogive.statistics.describe.variables import Number, Variable
from ogive.statistics.groups.found import unplanned
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.prediction import Errors, Setting
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.sums.estimate import NumberEstimate
from ogive.strategies import Strategy

_BASIS = (
    "errors: largest standard deviations of the noise, in the units of the column or in percent; of the median "
    "if values are spread evenly over the bounds"
)


class Prediction(prediction.Prediction):
    """The noise of a mean and a median, or of a share, of each variable, for all records."""

    def __init__(self, statistic: Statistic[Any], terms: Terms, setting: Setting) -> None:
        asked = cast(Describe, statistic)
        if asked.by is not None and asked.groups is None:
            raise unplanned()
        super().__init__(statistic, terms, setting)

    @property
    def decided(self) -> bool:
        """The law of the noise always decides."""
        return True

    def errors(self) -> Errors:
        """The noise of every number, in units of its column; of groups, that of an average one."""
        found = cast(DescribeEstimate, self.rehearsal.estimate)
        size = self.setting.records / len(found.columns)
        errors: dict[str, float] = {}
        for variable in found:
            parts = found.of(variable.column, found.columns[0])
            unit, words = _unit(variable)
            for part, estimate in parts.items():
                errors[f"{variable.column}: {_NAMES[part]}{words}"] = unit * _noise(estimate, size)
        groups = "" if found.by is None else f"; of one of {len(found.groups)} groups of {size:,.0f} records"
        return Errors(errors, basis=(f"{_BASIS}{groups}",))


_NAMES = {"mean": "mean", "quantiles": "median", "proportion": "%", "histogram": "%"}


def _unit(variable: Variable) -> tuple[float, str]:
    """What an error as a share of the range is multiplied by, and what is said of it."""
    if not isinstance(variable, Number):
        return 100.0, ""
    if variable.bounds is None:
        return 100.0, ", % of the bounds found"
    low, high = (float(bound) for bound in variable.bounds)  # type: ignore[arg-type]
    return high - low, ""


def _noise(estimate: object, size: float) -> float:
    """Standard deviation of the noise of a number, as a share of its range."""
    if isinstance(estimate, QuantileEstimates):
        assert estimate.curve is not None
        strategy: Strategy | None = estimate.curve.strategy
        known = estimate.curve.total is not None
        return 0.0 if strategy is None else math.sqrt(float(strategy.variance(total_known=known).mean())) / size
    if isinstance(estimate, HistogramEstimate):
        return max(estimate.noise_errors) / size
    assert isinstance(estimate, NumberEstimate)
    reading = estimate.reading
    ratios = (reading.low, (reading.low + reading.high) / 2, reading.high)
    most = max(reading.deviation(ratio, sampling=False).standard_error for ratio in ratios)
    return most / size / (reading.high - reading.low)
