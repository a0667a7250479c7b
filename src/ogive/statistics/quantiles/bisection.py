"""Quantiles and their intervals from the few points that a bisection visits."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.columns import Binning
from ogive.queries import Answer, CurveQuery, Query
from ogive.statistics.confidence import check_level
from ogive.statistics.curve.bands.simultaneous import (
    one_sided_distances,
    simulate_maxima,
    simulations_for,
    upper_quantile,
)
from ogive.statistics.curve.inverse import bisect_points
from ogive.strategies import Pointwise


def bisect_quantiles(
    binning: Binning, strategy: Pointwise, probabilities: Sequence[float], *, confidence_level: float
) -> Generator[Query, Answer, tuple[Int64, Int64, Int64]]:
    """Search for quantiles and for both ends of their intervals, together.

    With a margin that holds for all points of the release at once, the first point whose noisy
    share reaches p - margin is not above the quantile, and the first that reaches p + margin is not below
    it; so the ends are found by the same search, and points visited adaptively are covered.

    Args:
        binning: Column and grid.
        strategy: The path noise to open.
        probabilities: Wanted shares p, in [0, 1].
        confidence_level: Of all intervals at once, for the population's quantiles.

    Returns:
        0-based points (quantiles, lower ends, upper ends), each shape (len(probabilities),).
    """
    asked = strategy
    answer = yield CurveQuery(binning, asked, (strategy.size - 1,))
    total, noisy = answer.total, answer.noisy
    strategy = answer.noise_of(strategy)
    last = np.array([strategy.size - 1])
    records = max(1.0, float(strategy.estimate_at(answer.values, last, None)[0])) if total is None else max(1, total)
    wanted = np.array(probabilities)
    lower, upper = _targets(strategy, wanted, records, total is not None, noisy, confidence_level)
    targets = np.concatenate([wanted, lower, upper])
    search = bisect_points(targets, size=strategy.size)
    try:
        points = next(search)
        while True:
            answer = yield CurveQuery(binning, asked, tuple(points.tolist()))
            points = search.send(strategy.estimate_at(answer.values, points, None) / records)
    except StopIteration as stop:
        found, low, high = stop.value.reshape(3, -1)
    # the noise may cross targets in another order than they have; quantiles increase with p
    order = np.argsort(wanted, kind="stable")
    for row, accumulate in ((found, np.maximum.accumulate), (low, np.maximum.accumulate)):
        row[order] = accumulate(row[order])
    high[order] = np.minimum.accumulate(high[order][::-1])[::-1]
    return np.clip(found, low, np.maximum(low, high)), low, np.maximum(low, high)


def _targets(
    strategy: Pointwise, wanted: Float64, records: float, total_known: bool, noisy: bool, confidence_level: float
) -> tuple[Float64, Float64]:
    """Noisy shares below which a point is surely below the quantile, and from which on it surely is not."""
    level = check_level(confidence_level)
    tail = 1 - level
    simulations = simulations_for(strategy, level)
    maxima = simulate_maxima(strategy, total_known=False, simulations=simulations)
    noise = 1.0 if noisy else 0.0
    if total_known or not noisy:
        sums = noise * maxima.above / records + one_sided_distances(math.floor(records), simulations)
        margin = upper_quantile(sums, tail / 2)
        return wanted - margin, wanted + margin
    margin = upper_quantile(maxima.either, tail / 2)
    fewest, most = max(1.0, records - margin), records + margin
    strays = math.sqrt(math.log(4 / tail) / (2 * fewest))
    return ((wanted - strays) * fewest - margin) / records, ((wanted + strays) * most + margin) / records
