"""Step functions on a grid, in the shape of the results of `scipy.stats.ecdf`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ogive.arrays import Float64
from ogive.axis import first_at_or_above, last_at_or_below, plain, to_labels, to_numbers
from ogive.grids import Grid
from ogive.rooms import room
from ogive.statistics.confidence import Target
from ogive.statistics.curve.base import CurveBase


@dataclass(frozen=True, eq=False)
class StepFunction:
    """Values at the thresholds, and what holds between them.

    Fields:
        grid: Thresholds.
        probabilities: Value at each threshold, shape (N,).
        outside: Value below all thresholds, or above all of them where `looks` is "ahead".
        looks: "back": between thresholds the value at the last one holds (right-continuous);
            "ahead": the value at the next one.
    """

    grid: Grid
    probabilities: Float64
    outside: float
    looks: str = "back"

    @property
    def quantiles(self) -> Any:
        """Thresholds as the user would write them, shape (N,)."""
        return to_labels(self.grid, self.grid.thresholds)

    def evaluate(self, x: Any) -> Any:
        """Value at each x (numbers, or dates on a grid of dates), same shape.

        Raises:
            ParameterError: x is missing or of another kind than the grid's bounds.
        """
        numbers = to_numbers(self.grid, x)
        if self.looks == "back":
            padded = np.concatenate(([self.outside], self.probabilities))
            return plain(padded[last_at_or_below(self.grid, numbers) + 1])
        padded = np.concatenate((self.probabilities, [self.outside]))
        return plain(padded[first_at_or_above(self.grid, numbers)])


class StepInterval(NamedTuple):
    """Two step functions that hold a whole true one between them with a stated confidence."""

    low: StepFunction
    high: StepFunction


@dataclass(frozen=True, eq=False)
class CurveFunction:
    """The distribution function ("cdf") or survival function ("sf") of a curve.

    Has what `scipy.stats.ecdf(...).cdf` has, with one difference: confidence intervals hold
    for all thresholds at once, not for one at a time.
    """

    curve: CurveBase
    name: str

    @property
    def quantiles(self) -> Any:
        """Thresholds as the user would write them, shape (N,)."""
        return self.curve.labels

    @property
    def probabilities(self) -> Float64:
        """Value at each threshold, shape (N,)."""
        return self._steps.probabilities

    def evaluate(self, x: Any) -> Any:
        """Value at each x, same shape; right-continuous between thresholds.

        Raises:
            ParameterError: x is missing or of another kind than the grid's bounds.
        """
        return self._steps.evaluate(x)

    def confidence_interval(self, confidence_level: float = 0.95, *, target: Target = "population") -> StepInterval:
        """Two step functions around the true one, at all thresholds at once; see `Curve.band`."""
        band = self.curve.band(confidence_level, target=target)
        if self.name == "cdf":
            return StepInterval(
                StepFunction(band.grid, band.low, 0.0), StepFunction(band.grid, band.high, 1.0, looks="ahead")
            )
        return StepInterval(
            StepFunction(band.grid, 1 - band.high, 0.0, looks="ahead"), StepFunction(band.grid, 1 - band.low, 1.0)
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw the steps; returns matplotlib axes."""
        return room(type(self), "plot").plot_steps(self.curve, self._steps.probabilities, self._steps.outside, ax)

    @property
    def _steps(self) -> StepFunction:
        if self.name == "cdf":
            return StepFunction(self.curve.grid, self.curve.probabilities, 0.0)
        return StepFunction(self.curve.grid, 1 - self.curve.probabilities, 1.0)
