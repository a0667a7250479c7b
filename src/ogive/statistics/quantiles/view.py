"""What people see of quantiles: a table, points with their intervals, and the chapter of a curve where there is one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from ogive.errors import ParameterError
from ogive.showing.axis import shown
from ogive.showing.pictures import BLUE, Style, new_axes, styled
from ogive.showing.view import level
from ogive.statistics.confidence import Number, check_probability
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.curve.readings import lower_ends
from ogive.statistics.curve.view import DistributionView, QuantileRow, as_dates, scale_axis
from ogive.statistics.quantiles.estimate import QuantileEstimates

_SHOWN = 3


class QuantileEstimatesView(DistributionView):
    """Each quantile with its interval, and the digits that the width of the interval leaves; dashes without records."""

    estimate: QuantileEstimates

    @property
    def name(self) -> str:
        return f"quantiles of {self.estimate.column}"

    @property
    def title(self) -> str:
        return f"Quantiles of {self.estimate.column}"

    @property
    def short(self) -> str:
        listed = ", ".join(f"{share} at {value}" for share, value, _ in self.rows[:_SHOWN])
        return f"of {self.estimate.column}: {listed}{', ...' if len(self.rows) > _SHOWN else ''}"

    @property
    def curve(self) -> Curve | None:
        return self.estimate.curve

    @property
    def confidence(self) -> float:
        return self.estimate.confidence_level

    @property
    def quantiles(self) -> Sequence[QuantileRow]:
        estimate = self.estimate
        return (
            tuple(map(QuantileRow, estimate.probabilities, estimate.numbers, estimate.low, estimate.high))
            if estimate.told
            else ()
        )

    @property
    def guarantee(self) -> str:
        return str(self.estimate.provenance or self.estimate.caption)

    @property
    def headings(self) -> tuple[str, ...]:
        return "probability", "value", f"{level(self.estimate)} CI"

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        if not self.estimate.told:
            return [(f"{share:g}", "-", "-") for share in self.estimate.probabilities]
        lines = []
        for share, *numbers in self.quantiles:
            value, low, high = (shown(self.estimate.grid, each, numbers[2] - numbers[1]) for each in numbers)
            lines.append((f"{share:g}", value, f"{low} to {high}"))
        return lines

    @property
    def notes(self) -> Sequence[str]:
        """A warning where noise leaves no records, or where nothing tells that there are any beside a selection."""
        estimate, source = self.estimate, self.estimate.provenance
        if not estimate.told:
            return ("noise leaves no records: there are no quantiles",)
        if estimate.curve is not None or source is None or not source.private or source.total is not None:
            return ()
        bounds = float(lower_ends(estimate.grid)[0]), float(estimate.grid.thresholds[-1])
        if bounds not in zip(estimate.low, estimate.high, strict=True):
            return ()
        perhaps = "perhaps there are no records; check the condition, if any"
        return (f"an interval that is all of the bounds says nothing: {perhaps}",)

    @property
    def about(self) -> str:
        return f"{self.name} with {level(self.estimate)} intervals"

    @property
    def line(self) -> Sequence[tuple[str, str]]:
        names = ("median" if share == 0.5 else f"{100 * share:g} %" for share in self.estimate.probabilities)
        cells = (f"{value} ({interval})" if self.estimate.told else "-" for _, value, interval in self.rows)
        return list(zip(names, cells, strict=True))

    def number(self, confidence_level: float, probability: float) -> Number:
        estimate = self.estimate
        check_probability(probability, estimate.probabilities)
        if confidence_level != estimate.confidence_level:
            raise ParameterError(
                f"quantiles have intervals of one level alone, `confidence_level={estimate.confidence_level:g}`"
            )
        at = estimate.probabilities.index(probability)
        name = "median" if probability == 0.5 else f"{100 * probability:g} % quantile"
        value, low, high = estimate.numbers[at], estimate.low[at], estimate.high[at]
        if not estimate.told:
            value, low, high = math.nan, estimate.grid.low, estimate.grid.high
        return Number(f"{name} of {estimate.column}", value, low, high, probability=probability)

    @property
    def columns(self) -> dict[str, Any]:
        low, high = zip(*self.estimate.intervals, strict=True)
        columns = {"value": self.estimate.values, "low": list(low), "high": list(high)}
        if not self.estimate.told:
            columns = {name: [None] * len(low) for name in columns}
        return {"probability": list(self.estimate.probabilities), **columns}

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        """Draw each quantile at its probability, with its interval; none where noise leaves no records."""
        estimate = self.estimate
        look = styled(style, color=BLUE, linestyle="none", label="released" if estimate.private else "exact")
        axes = new_axes(ax)
        shares, *ends = np.array(self.quantiles, dtype=np.float64).reshape(-1, 4).T
        numbers, low, high = (as_dates(estimate.grid, each) for each in ends)
        label = f"{100 * estimate.confidence_level:.6g} % intervals"
        axes.hlines(shares, low, high, color=look["color"], linewidth=6, alpha=0.35, label=label)
        axes.plot(numbers, shares, marker="o", markersize=6, **look)
        axes.set_ylim(-0.05, 1.05)
        axes.set_xlabel(estimate.column)
        axes.set_ylabel("Probability")
        scale_axis(axes.xaxis, estimate.grid)
        return self.finish(axes, grid="both")
