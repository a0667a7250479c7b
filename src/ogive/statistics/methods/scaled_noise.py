"""Largest errors of simulated noise, drawn once for each shape of a strategy and scaled to the guarantee.

A method asks for the same sums under every guarantee, with noise that is wider or narrower by one factor. Estimates
are linear, so their errors have that factor too, but for the rounding of noise to integers: from a standard
deviation of 8 on that changes little, and narrower noise is simulated as it is.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any

import numpy as np

from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.base import Law
from ogive.statistics.curve.bands.simultaneous import NoiseMaxima, simulate_maxima
from ogive.strategies import Strategy

_WIDE = 8.0  # standard deviation of integer noise that is as good as continuous
_STEPS = 1 << 14  # scale of the first level's noise in the simulation; ratios of scales are rounded to one over it


def noise_maxima(strategy: Strategy, *, total_known: bool, simulations: int) -> NoiseMaxima:
    """Largest errors of simulated releases of a strategy, in records.

    Args:
        strategy: What is measured.
        total_known: Whether the number of records is public and used by the estimate.
        simulations: Number of releases to simulate.
    """
    wide = _widened(strategy)
    if wide is None:
        return simulate_maxima(strategy, total_known=total_known, simulations=simulations)
    maxima = simulate_maxima(wide, total_known=total_known, simulations=simulations)
    factor = _spread(strategy.levels[0].law) / _spread(wide.levels[0].law)
    return NoiseMaxima(maxima.above * factor, maxima.either * factor, maxima.ratio * factor)


def _spread(law: Law) -> float:
    return float(np.sqrt(law.variance))


def _widened(strategy: Any) -> Any:
    """The strategy with noise of one standard size, the same for every guarantee; None where that is another shape."""
    names = [name for name in ("law", "laws") if hasattr(strategy, name)]
    if not names or min(_spread(level.law) for level in strategy.levels) < _WIDE:
        return None
    first = _spread(strategy.levels[0].law)
    held = getattr(strategy, names[0])
    laws = [_widened_law(law, _spread(law) / first) for law in (held if isinstance(held, tuple) else (held,))]
    return dataclasses.replace(strategy, **{names[0]: tuple(laws) if isinstance(held, tuple) else laws[0]})


def _widened_law(law: Law, ratio: float) -> Law:
    steps = max(1, round(_STEPS * ratio))
    return DiscreteLaplace(Fraction(steps)) if isinstance(law, DiscreteLaplace) else DiscreteGaussian(Fraction(steps))
