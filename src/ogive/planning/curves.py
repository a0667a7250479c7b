"""Errors of one noisy curve before smoothing: the same for every data set.

The raw estimate of the cumulative counts is the truth plus noise whose law is known, so its
root mean squared error is exact, and its largest error is simulated from the noise alone. Strategies that approximate
have a bias too: `approximating`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import cast

import numpy as np

from ogive.planning.approximating import approximate_errors
from ogive.planning.metrics import Errors
from ogive.planning.scaled import noise_maxima
from ogive.privacy import Adjacency
from ogive.queries import CurveQuery
from ogive.statistics.curve.bands.simultaneous import NoiseMaxima, one_sided_distances, upper_quantile
from ogive.strategies import Approximating, Strategy
from ogive.strategies.base import approximates

CONFIDENCE = Fraction(95, 100)

# simulated noise values for one prediction, and how many whole curves that makes at least and at most
_VALUES = 5_000_000
FEWEST, MOST = 199, 499
_DISTANCES = 4999  # of samples from their population


def simulations_for(strategy: Strategy) -> int:
    """How many curves of noise are simulated: 499 up to some ten thousand noise nodes, fewer beyond."""
    return min(MOST, max(FEWEST, _VALUES // sum(level.nodes for level in strategy.levels)))


def total_known(query: CurveQuery, adjacency: Adjacency) -> bool:
    """Whether the estimate is conditioned on a public number of records; points opened one by one are not."""
    return adjacency is Adjacency.REPLACE and query.points is None


def curve_errors(query: CurveQuery, adjacency: Adjacency, records: int) -> Errors:
    """Errors of the raw curve by name; see `METRICS` for what each says."""
    known = total_known(query, adjacency)
    return strategy_errors(query.strategy, adjacency, records, known=known, whole=query.points is None)


def strategy_errors(
    strategy: Strategy, adjacency: Adjacency, records: int, *, known: bool, whole: bool = True
) -> Errors:
    """The same of what a strategy measures.

    Args:
        strategy: What is measured.
        adjacency: Which data sets are adjacent.
        records: How many records there are.
        known: Whether the estimate is conditioned on their public number.
        whole: Whether the curve is opened whole.
    """
    if approximates(strategy):
        return approximate_errors(cast(Approximating, strategy), records, known=known, tail=1 - CONFIDENCE)
    maxima = noise_maxima(strategy, total_known=known, simulations=simulations_for(strategy))
    return Errors(
        {
            "rmse": math.sqrt(float(np.mean(strategy.variance(total_known=known)))) / records,
            "ks": float(np.mean(maxima.either)) / records,
            "ks_95": abs(upper_quantile(maxima.either, 1 - CONFIDENCE)) / records,
            "band": _half_width(maxima, adjacency, records, whole=whole),
        }
    )


def _half_width(maxima: NoiseMaxima, adjacency: Adjacency, records: int, *, whole: bool) -> float:
    """Half width of the band for the population, before it is made monotone; at most 1."""
    tail = 1 - CONFIDENCE
    if adjacency is Adjacency.REPLACE:
        # noise and sampling are independent, so every pair of draws counts
        sums = np.add.outer(maxima.above / records, one_sided_distances(records, _DISTANCES))
        return min(1.0, upper_quantile(sums.ravel(), tail / 2))
    if whole:
        margin = upper_quantile(maxima.ratio, tail / 2)
        strays = math.sqrt(math.log(4 / tail) / (2 * max(1.0, records - margin)))
        return min(1.0, margin / records + strays)
    # single points are not divided by the same noisy total, so the widest interval is that of the largest share
    margin = upper_quantile(maxima.either, tail / 2)
    strays = math.sqrt(math.log(4 / tail) / (2 * max(1.0, records - margin)))
    return min(1.0, ((1 + strays) * (records + margin) + margin) / records - 1)
