"""How curves are planned: what their errors are called, and errors of one noisy curve before smoothing.

The raw estimate of the cumulative counts is the truth plus noise whose law is known, so its root mean squared error is
exact and the same for every data set, and its largest error is simulated from the noise alone. Strategies that
approximate have a bias too: `biased_errors`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

import numpy as np

from ogive.privacy import Adjacency
from ogive.queries import CurveQuery, Query
from ogive.queries.selection import NoisyMaxQuery
from ogive.queries.threshold import ThresholdQuery
from ogive.statistics import prediction
from ogive.statistics.curve.bands.simultaneous import NoiseMaxima, one_sided_distances, upper_quantile
from ogive.statistics.methods.biased_errors import approximate_errors
from ogive.statistics.methods.scaled_noise import noise_maxima
from ogive.statistics.prediction import CONFIDENCE, FEWEST_CURVES, Errors, Metric
from ogive.strategies import Approximating, Strategy
from ogive.strategies.base import approximates

CURVE_METRICS = {
    "rmse": Metric(
        "rmse", "root mean squared error over the thresholds, before smoothing, as a share of the records", squared=True
    ),
    "ks": Metric("ks", "largest error at any threshold, on average, before smoothing, as a share of the records"),
    "ks_95": Metric("ks 95 %", "largest error that 95 of 100 releases stay within, before smoothing"),
    "band": Metric("band", "half width of the 95 % band for the population, which counts sampling error too"),
    "energy": Metric(
        "energy",
        "energy distance of the published curve from its population, with the bounds a distance of 1 apart, simulated",
    ),
    "rmse_smoothed": Metric("rmse smoothed", "root mean squared error of the published curve, simulated"),
    "ks_smoothed": Metric("ks smoothed", "largest error of the published curve, on average, simulated"),
}
"""What errors of a curve are, in the order of a table's columns."""

# simulated noise values for one prediction, and how many whole curves that makes at most
_VALUES = 5_000_000
_MOST_CURVES = 499
_DISTANCES = 4999  # of samples from their population


def simulations_for(strategy: Strategy) -> int:
    """How many curves of noise are simulated: 499 up to some ten thousand noise nodes, fewer beyond."""
    return min(_MOST_CURVES, max(FEWEST_CURVES, _VALUES // sum(level.nodes for level in strategy.levels)))


def total_known(query: CurveQuery, adjacency: Adjacency) -> bool:
    """Whether the estimate is conditioned on a public number of records; points opened one by one are not."""
    return adjacency is Adjacency.REPLACE and query.points is None


def curve_errors(query: CurveQuery, adjacency: Adjacency, records: int) -> Errors:
    """Errors of the raw curve by name; see `CURVE_METRICS` for what each says."""
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


def decided_by_noise(queries: Sequence[Query]) -> bool:
    """Whether the errors of one noisy curve are what one decides by."""
    selected = isinstance(queries[0], NoisyMaxQuery)
    one_curve = isinstance(queries[-1], CurveQuery) and (selected or len(queries) == 1)
    return one_curve or isinstance(queries[-1], ThresholdQuery)


def errors_of_one_curve(queries: Sequence[Query], adjacency: Adjacency, records: int) -> Errors | None:
    """Errors of the raw curve where nothing else is measured."""
    last = queries[-1]
    return curve_errors(last, adjacency, records) if isinstance(last, CurveQuery) and len(queries) == 1 else None


class CurvePrediction(prediction.Prediction):
    """A prediction for what is read off a curve."""

    metrics: ClassVar[Mapping[str, Metric]] = CURVE_METRICS
    deciding = ("ks", "rmse")

    def deviation(self, errors: Mapping[str, float]) -> float | None:
        """Standard deviation of the noise of cumulative counts alone, even where errors count a bias besides."""
        first, last = self.queries[0], self.queries[-1]
        if isinstance(last, ThresholdQuery):
            return math.sqrt(float(last.law.variance)) / float(2**last.bits)
        selected = isinstance(first, NoisyMaxQuery)
        if isinstance(last, CurveQuery) and (selected or approximates(last.strategy)):
            return math.sqrt(float(np.mean(last.strategy.variance(total_known=self.setting.total_known))))
        return super().deviation(errors)
