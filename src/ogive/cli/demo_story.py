"""The demonstration: two curves and their deciles under one epsilon, beside the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ogive.grids import Grid
from ogive.privacy import Adjacency, PureDP, number_text

if TYPE_CHECKING:
    from ogive.cli.demo_data import Table
    from ogive.statistics.curve import Curve
    from ogive.statistics.quantiles import QuantileEstimates

TOTAL = PureDP(1)
DECILES = tuple(k / 10 for k in range(1, 10))
CONFIDENCE_LEVEL = 0.95


def age_grid() -> Grid:
    """Every year from 18, since a bank's customers are adults, to 110, since nobody is older."""
    return Grid.integers(18, 110)


def balance_grid() -> Grid:
    """Fine steps where balances usually are, coarse ones far out; chosen without looking."""
    steps = ((-10_000, -2_000, 500), (-2_000, 5_000, 25), (5_000, 20_000, 250), (20_000, 110_000, 5_000))
    values = [value for low, high, step in steps for value in range(low + step, high + 1, step)]
    return Grid.explicit(values, low=-10_000)


@dataclass(frozen=True)
class Part:
    """One column of the story: what may be spent on it, its released quantiles and curve, and the truth."""

    column: str
    privacy: PureDP
    estimates: QuantileEstimates
    truth: Curve

    @property
    def curve(self) -> Curve:
        """The released curve, from which the deciles were read."""
        assert self.estimates.curve is not None
        return self.estimates.curve

    def errors(self) -> dict[str, float]:
        """Predicted and actual distance from the truth, as shares."""
        private, true = self.curve.probabilities, self.truth.probabilities
        gap = np.abs(private - true)
        band = self.curve.band(CONFIDENCE_LEVEL, target="sample")
        assert self.curve.strategy is not None
        assert self.curve.total is not None
        variance = self.curve.strategy.variance(total_known=True)
        return {
            "predicted_rms": math.sqrt(float(variance.mean())) / self.curve.total,
            "actual_rms": float(np.sqrt(np.mean(gap**2))),
            "predicted_ks": float(max(np.max(band.high - private), np.max(private - band.low))),
            "actual_ks": float(gap.max()),
        }

    def true_deciles(self) -> list[float]:
        """Deciles of the records themselves, as thresholds."""
        places = np.searchsorted(self.truth.probabilities, np.array(DECILES) - 1e-12)
        return [float(value) for value in self.truth.grid.thresholds[places]]

    def inside(self) -> list[bool]:
        """Whether each decile's interval holds the true decile."""
        ends = zip(self.estimates.low, self.true_deciles(), self.estimates.high, strict=True)
        return [low <= value <= high for low, value, high in ends]


def tell(table: Table, busy: Callable[[str], AbstractContextManager[None]]) -> tuple[Part, ...]:
    """Release both columns and look up the truth.

    The deciles are read off each column's curve, so they cost nothing and epsilon is only divided
    between the two curves: two fifths for age, whose 93 thresholds need less noise, and three
    fifths for balance, which has several hundred.

    Args:
        table: The records.
        busy: Shows what is being done.

    Privacy:
        epsilon = 1 for the released parts, one record replaced; the truth beside them has none.
    """
    from ogive.releasing import release
    from ogive.statistics.ecdf import Ecdf
    from ogive.statistics.quantiles import Quantiles
    from ogive.trust import Central, Clear

    plan = (("age", age_grid(), Fraction(2, 5)), ("balance", balance_grid(), Fraction(3, 5)))
    parts = []
    for column, grid, portion in plan:
        privacy = PureDP(TOTAL.epsilon * portion)
        with busy(f"releasing {column} at epsilon = {number_text(privacy.epsilon)}"):
            wanted = Quantiles(column, DECILES, grid=grid, confidence_level=CONFIDENCE_LEVEL)
            estimates = release(wanted, trust=Central(table.records), privacy=privacy, adjacency=Adjacency.REPLACE)
        with busy(f"looking up the true {column}, for comparison only"):
            truth = release(Ecdf(column, grid=grid), trust=Clear(table.records))
        parts.append(Part(column, privacy, estimates, truth))
    return tuple(parts)


def summary(parts: tuple[Part, ...], table: Table) -> dict[str, Any]:
    """The story as plain data."""
    return {
        "schema": "ogive.demo/1",
        "data": table.origin,
        "simulated": table.simulated,
        "epsilon": number_text(sum((part.privacy.epsilon for part in parts), Fraction(0))),
        "columns": [
            {
                "column": part.column,
                "epsilon": number_text(part.privacy.epsilon),
                "thresholds": part.curve.grid.bins,
                "errors": part.errors(),
                "deciles": [
                    {"probability": p, "private": value, "low": low, "high": high, "true": true, "inside": inside}
                    for p, value, low, high, true, inside in zip(
                        DECILES,
                        part.estimates.numbers,
                        part.estimates.low,
                        part.estimates.high,
                        part.true_deciles(),
                        part.inside(),
                        strict=True,
                    )
                ],
            }
            for part in parts
        ],
    }
