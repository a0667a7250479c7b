"""The band of a curve: around an unbiased estimate, or of what an approximating strategy has measured."""

from __future__ import annotations

from typing import cast

from ogive.arrays import Float64, Int64
from ogive.checks import among, whole
from ogive.errors import ParameterError
from ogive.grids import Grid
from ogive.progress import Progress
from ogive.statistics.confidence import TARGETS, check_level
from ogive.statistics.curve.bands.approximating import common_ends
from ogive.statistics.curve.bands.simultaneous import (
    APPROXIMATION,
    Band,
    band_ends,
    simulate_maxima,
    simulations_for,
)
from ogive.strategies import Approximating, Strategy
from ogive.strategies.base import approximates


def simultaneous_band(
    grid: Grid,
    raw: Float64,
    *,
    strategy: Strategy | None,
    total: int | None,
    confidence_level: float,
    target: str,
    simulations: int | None = None,
    progress: Progress | None = None,
    measured: Int64 | None = None,
) -> Band:
    """Compute the band around a raw linear estimate, or that of an approximating strategy (`approximating`).

    Args:
        grid: Thresholds.
        raw: Unbiased estimate of the cumulative counts, not smoothed, shape (N,).
        strategy: What was measured; None where there is no noise.
        total: Number of records if public, else None.
        confidence_level: Confidence level, above 0 and at most 0.9999.
        target: "population" or "sample"; of an approximating strategy also "approximation".
        simulations: Number of simulated releases; by default what `default_simulations` says, and
            2 / a for high confidence. The level holds on average over the simulation; the achieved tail
            has a standard deviation of about sqrt(a (1 - a) / simulations) around a = 1 - confidence_level.
        progress: Called with simulations done and to do.
        measured: Noisy measurements of an approximating strategy.

    Raises:
        ParameterError: an argument is out of range.

    Privacy:
        Post-processing of the release; the simulation uses public random numbers.
    """
    level = check_level(confidence_level)
    approximate = strategy is not None and approximates(strategy)
    if target == APPROXIMATION and not approximate:
        raise ParameterError("only curves of methods that approximate have a band for the approximation; use sample")
    among(target, "target", (*TARGETS, APPROXIMATION))
    if simulations is not None:
        whole(simulations, "simulations", 1)
    if approximate:
        low, high = common_ends(
            raw,
            measured,
            strategy=cast(Approximating, strategy),
            total=total,
            tail=1 - level,
            target=target,
            simulations=simulations,
            progress=progress,
        )
        return Band(grid, low, high, float(level), target)
    maxima = None
    if strategy is not None:
        if simulations is None:
            simulations = simulations_for(strategy, level)
        maxima = simulate_maxima(strategy, total_known=total is not None, simulations=simulations, progress=progress)
    low, high = band_ends(raw, maxima, 1 - level, target, total)
    return Band(grid, low, high, float(level), target)
