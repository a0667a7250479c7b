"""The band of a curve: around an unbiased estimate, or of what an approximating strategy has measured."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import cast

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.checks import among, whole
from ogive.errors import ParameterError, UnsupportedError
from ogive.grids import Grid
from ogive.progress import Progress
from ogive.statistics.confidence import TARGETS, check_level
from ogive.statistics.curve.bands.approximating import common_ends
from ogive.statistics.curve.bands.narrowing import narrowing_ends
from ogive.statistics.curve.bands.simultaneous import (
    APPROXIMATION,
    Band,
    band_ends,
    simulate_maxima,
    simulations_for,
)
from ogive.strategies import Approximating, Strategy
from ogive.strategies.base import approximates
from ogive.strategies.people import SHARE_ROUNDING

EVEN, NARROWING = "even", "narrowing"
WIDTHS = (EVEN, NARROWING)
"""How wide a band is: as wide everywhere, or narrower in the tails."""


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
    rows_per_person: int = 1,
    people: bool = False,
    width: str = EVEN,
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
        rows_per_person: Most records of one person, which may all be alike; above 1, half of the error probability of a
            band for the population goes to the noise, and half to sampling: see `clustered_ends`.
        people: Whether people were counted, whose exact counts need not be whole, and whose shares were rounded: the
            ends are apart by twice `SHARE_ROUNDING` more.
        width: "even", or "narrowing" in the tails: see `narrowing`.

    Raises:
        ParameterError: an argument is out of range.
        UnsupportedError: no narrowing band is known for such a curve or target.

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
    among(width, "width", WIDTHS)
    if width == NARROWING:
        reason = _not_narrowing(strategy, total, target, rows_per_person, people)
        if reason is not None:
            raise UnsupportedError(f"a narrowing band is not known {reason}; use `width='even'`")
        low, high = narrowing_ends(
            raw, strategy=strategy, n=cast(int, total), tail=1 - level, simulations=simulations, progress=progress
        )
        return Band(grid, low, high, float(level), target)

    def ends(tail: Fraction, target: str) -> tuple[Float64, Float64]:
        if approximate:
            return common_ends(
                raw,
                measured,
                strategy=cast(Approximating, strategy),
                total=total,
                tail=tail,
                target=target,
                simulations=simulations,
                progress=progress,
            )
        maxima = None
        if strategy is not None:
            runs = simulations_for(strategy, 1 - tail) if simulations is None else simulations
            maxima = simulate_maxima(strategy, total_known=total is not None, simulations=runs, progress=progress)
        return band_ends(raw, maxima, tail, target, total, whole_counts=not people)

    tail = 1 - level
    if rows_per_person == 1 or target != "population":
        low, high = ends(tail, target)
    else:
        records = float(raw[-1]) if total is None else float(total)
        batches = getattr(strategy, "samples", ())  # of a mixture: as many records as stray like it
        if batches:
            records = 1 / sum(weight**2 / size for weight, size in batches)
        low, high = clustered_ends(*ends(tail / 2, "sample"), records / rows_per_person, tail / 2)
    if people:
        low, high = _around_rounded(low, high)
    return Band(grid, low, high, float(level), target)


def _not_narrowing(
    strategy: Strategy | None, total: int | None, target: str, rows_per_person: int, people: bool
) -> str | None:
    """Why there is no narrowing band, as the end of a sentence, or None."""
    if target != "population":
        return f"for the {target}, which has no sampling error"
    if strategy is not None and approximates(strategy):
        return f"for method {strategy.name}, whose estimate has a bias"
    if getattr(strategy, "samples", ()):
        return "for mixtures"
    if people:
        return "where people are counted, whose sampling error has another law"
    if total is None:
        return "where the number of records is private"
    return None if rows_per_person == 1 else "where a person may have several rows"


def _around_rounded(low: Float64, high: Float64) -> tuple[Float64, Float64]:
    """Ends for the curve of people as it is, around those for the curve of their rounded shares."""
    low, high = np.clip(low - SHARE_ROUNDING, 0, 1), np.clip(high + SHARE_ROUNDING, 0, 1)
    low[-1] = high[-1] = 1.0
    return low, high


def clustered_ends(low: Float64, high: Float64, persons: float, tail: Fraction) -> tuple[Float64, Float64]:
    """Ends for the population around those for the sample, where records of one person may be alike.

    The covariances of the curve of the sample are at most k times those of independent records, with k records of
    a person at most, so in large samples the curve strays at most as far as that of n / k independent records
    (Anderson 1955), for which the inequality of Dvoretzky, Kiefer and Wolfowitz holds with Massart's constant. Where
    every person has k equal records, it holds for every n.
    """
    strays = math.sqrt(math.log(2 / tail) / (2 * persons)) if persons >= 1 else 1.0
    low, high = np.clip(low - strays, 0, 1), np.clip(high + strays, 0, 1)
    low[-1] = high[-1] = 1.0
    return low, high
