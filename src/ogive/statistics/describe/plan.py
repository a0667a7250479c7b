"""How descriptions are planned: the law of the noise says how far every number of every variable will be off."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, cast

from ogive.errors import ParameterError, plain
from ogive.statistics import prediction
from ogive.statistics.base import Statistic, Terms
from ogive.statistics.bounds.estimate import BoundsEstimate
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.statistic import Describe
from ogive.statistics.describe.variables import KNOWN, SHARE_OF_BOUNDS, Number, Variable
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.prediction import Errors, Setting
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.sums.estimate import MeanEstimate, NumberEstimate
from ogive.statistics.sums.plan import OF_SPREAD, SPREAD_SHARE
from ogive.strategies import Strategy

_BASIS = "errors: largest standard deviations of the noise, in the units of the column or in percent"
_OF_NUMBERS = f"; of the median if values are spread evenly over the bounds; of the SD {OF_SPREAD}"
_GROUP = 1000
"""Records of a group whose errors are shown, where groups are found by the release."""


class Prediction(prediction.Prediction):
    """The noise of a mean, an SD and a median, or of a share, of each variable, for all records."""

    def __init__(self, statistic: Statistic[Any], terms: Terms, setting: Setting) -> None:
        if not cast(Describe, statistic).variables:
            raise ParameterError(
                "say which variables there are, by `bounds`, `values` or `numbers`, or name the table, whose columns "
                "then say it"
            )
        super().__init__(statistic, terms, setting)

    @property
    def decided(self) -> bool:
        """The law of the noise always decides."""
        return True

    def errors(self) -> Errors:
        """The noise of every number, in units of its column; of groups, that of one of a stated size."""
        result = cast(DescribeEstimate, self.rehearsal.estimate)
        size = self._size(result)
        errors: dict[str, float] = {}
        for variable in result:
            parts = result.of(variable.column, result.columns[0])
            for part, estimate in parts.items():
                unit, words = _unit(variable, part)
                errors[f"{variable.column}: {_NAMES[part]}{words}"] = unit * _noise(estimate, size)
                if isinstance(estimate, MeanEstimate) and part == "mean" and estimate.has_spread:
                    errors[f"{variable.column}: SD{words}"] = unit * _spread_noise(estimate, size)
        return Errors(errors, basis=tuple(self._basis(result, size)))

    @property
    def _open(self) -> bool:
        """Whether the release finds the groups."""
        asked = cast(Describe, self.statistic)
        return asked.by is not None and asked.groups is None

    def _size(self, result: DescribeEstimate) -> float:
        """How many records a group has, for which the errors hold."""
        return min(_GROUP, self.setting.records) if self._open else self.setting.records / len(result.columns)

    def _basis(self, result: DescribeEstimate, size: float) -> Iterator[str]:
        """What the errors rest on, and what cannot be known before the release."""
        asked = cast(Describe, self.statistic)
        basis = _BASIS + (_OF_NUMBERS if any(isinstance(each, Number) for each in result) else "")
        if self._open:
            yield f"{basis}; of a group of {size:,.0f} records"
            yield (
                f"not known beforehand: which groups of {plain(asked.by)} are found, and how many records they have; "
                f"errors of a group of n records are {size:,.0f} / n times as large, and a value that fewer than about "
                f"{result.threshold} records have will probably not be found"
            )
        else:
            groups = "" if result.by is None else f"; of one of {len(result.groups)} groups of {size:,.0f} records"
            yield f"{basis}{groups}"
        if result.finding:
            needed = max(each.threshold for each in result.found if isinstance(each, BoundsEstimate))
            yield (
                f"not known beforehand: bounds that are not declared; the release finds them at "
                f"{SHARE_OF_BOUNDS[asked.search]} of the variable's part, if about {needed:,} records or more are of "
                "one magnitude, and errors are then in % of the distance between them; `bounds=` declares them, for "
                "less noise"
            )
        if asked.guessed:
            yield f"what they are is guessed from the cells of the file: {plain(', '.join(asked.guessed))}"
        reasons: dict[str, list[str]] = {}
        for column, reason in (asked.left_out or {}).items():
            reasons.setdefault(reason, []).append(column)
        for reason, columns in reasons.items():
            yield f"not described: {plain(', '.join(columns))}, since {plain(reason)}"


_NAMES = {"mean": "mean", "quantiles": "median", "proportion": "%", "histogram": "%", KNOWN: "missing %"}


def _unit(variable: Variable, part: str) -> tuple[float, str]:
    """What an error as a share of the range is multiplied by, and the words for it."""
    if not isinstance(variable, Number) or part == KNOWN:
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


def _spread_noise(estimate: MeanEstimate, size: float) -> float:
    """Standard deviation of the noise of a standard deviation, as a share of the distance of the bounds."""
    reading = estimate.reading
    return estimate.expected_spread_error(size, SPREAD_SHARE) / reading.unit / (reading.high - reading.low)
