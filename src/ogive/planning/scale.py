"""Errors of quantiles as distances of values: the range of the grid that a statistic counts on, and its unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ogive.errors import OgiveError
from ogive.grids import Grid
from ogive.statistics.prediction import UNITS, Metric

_DAY = 86_400_000_000  # microseconds
_EVEN = ("linear", "integers")


@dataclass(frozen=True)
class Scale:
    """The range between the bounds.

    Fields:
        span: Its length in the unit; 1 where no grid is known, so that shares of it stay shares.
        step: Distance of two thresholds; None where it is not the same everywhere.
        unit: Name of the unit, for people; None where nobody said it.
        known: Whether there is a grid.
    """

    span: float = 1.0
    step: float | None = None
    unit: str | None = None
    known: bool = False

    @staticmethod
    def of(statistic: Mapping[str, Any], unit: str | None) -> Scale:
        """The scale of a statistic's plain data, which need not be trusted; dates and times are told in days."""
        if not isinstance(statistic.get("grid"), dict):
            return Scale(unit=unit)
        try:
            grid = Grid.from_dict(statistic["grid"])
        except OgiveError:
            return Scale(unit=unit)
        divisor, named = {"date": (1.0, "days"), "datetime": (float(_DAY), "days")}.get(grid.unit, (1.0, unit))
        low, high = float(grid.thresholds[0]), float(grid.thresholds[-1])
        even = grid.kind in _EVEN and low < high
        step = (high - low) / (len(grid.thresholds) - 1) / divisor if even else None
        return Scale((float(grid.high) - float(grid.low)) / divisor, step, named, known=True)

    def within(self, share: float) -> str:
        """A share of the range and a step of the grid, with the unit."""
        assert self.step is not None
        return counted(share * self.span + self.step, self.unit or "")

    def words(self, metric: Metric) -> str:
        """What an error is measured in."""
        if metric.of_range and not self.known:
            return "as a share of the distance between the bounds"
        return UNITS if self.unit is None else f"in {self.unit}"


def counted(number: float, unit: str) -> str:
    """A number of units: one year, two years."""
    shown = f"{number:.2g}"
    one = shown == "1" and unit.endswith("s") and not unit.endswith(("ss", "us"))
    return f"{shown} {unit[:-1] if one else unit}".rstrip()
