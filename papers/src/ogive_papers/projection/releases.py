"""Curves as the library releases them, and its strategies where the paper's way of smoothing is wanted.

A release of several sites, or of several batches, is the sum of their noisy integers, each with noise of its own.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, ApproxDP
from ogive.releasing.release import release
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.ecdf.statistic import Ecdf
from ogive.statistics.methods.curve_methods import AdaptiveQuantiles, HistogramQueries, Projection
from ogive.strategies import Strategy, design_projection
from ogive.trust import Central
from ogive_papers.projection.baselines import GROUPS, ROUNDS, valid_curve
from ogive_papers.projection.shapes import POINTS

SIZE = POINTS - 1
"""Bins over the bounds: their upper ends are the points at which curves are compared."""

DEGREE = 6
"""The degree of the paper's polynomials, K."""

Bounds = tuple[float, float]
ReleasedMethod = Projection | HistogramQueries | AdaptiveQuantiles

OUR_PROJECTION = Projection()
GAUSSIAN_HISTOGRAM = HistogramQueries(groups=GROUPS, noise="gaussian")
OUR_HISTOGRAM = HistogramQueries(groups=GROUPS)
OUR_QUANTILES = AdaptiveQuantiles(rounds=ROUNDS, noise="gaussian")

CODE = (
    "noise/*.py",
    "accounting/*.py",
    "queries/*.py",
    "releasing/release.py",
    "statistics/**/*.py",
    "strategies/**/*.py",
    "strategies/projection/*.npz",
    "trust/**/*.py",
    "papers/projection/baselines.py",
    "papers/projection/distances.py",
    "papers/projection/releases.py",
    "papers/projection/shapes.py",
)
"""Files that decide every curve made here."""


def histograms(parts: list[Float64], low: float, high: float) -> Int64:
    """How many records of each part lie in each bin between the bounds, shape (parts, SIZE)."""
    return np.array([np.histogram(records, SIZE, (low, high))[0] for records in parts], dtype=np.int64)


def guarantee(epsilon: float, delta: float) -> ApproxDP:
    """What everything about a person may cost together."""
    return ApproxDP(Fraction(str(epsilon)), Fraction(delta))


@lru_cache(maxsize=256)
def projection(
    privacy: ApproxDP, records: int, degree: int | None, noise: str = "shaped", constants: str = "exact"
) -> Strategy:
    """A projection on Legendre polynomials of those records; one record is replaced."""
    return design_projection(
        SIZE, privacy=privacy, adjacency=Adjacency.REPLACE, records=records, degree=degree, noise=noise,
        constants=constants,
    )  # fmt: skip


@lru_cache(maxsize=256)
def histogram(privacy: ApproxDP, method: HistogramQueries) -> Strategy:
    """The counts that a method of the library measures, whatever the number of records."""
    return method.design(SIZE, privacy, Adjacency.REPLACE, 1, None)


def released(strategy: Strategy, counts: Int64, source: KeyedSource) -> Float64:
    """The valid curve of the summed noisy answers of all parts, at all points, shape (POINTS,).

    Args:
        strategy: What each part measures.
        counts: Histograms of the parts, shape (parts, SIZE).
        source: Of the noise, drawn for each part.
    """
    answers = [strategy.measure(part) + strategy.spread(_noise(strategy, source)) for part in counts]
    return _curve(strategy, np.sum(answers, axis=0), int(counts.sum()))


def exact(strategy: Strategy, counts: Int64) -> Float64:
    """The same without noise."""
    return _curve(strategy, strategy.measure(counts.sum(axis=0)), int(counts.sum()))


def _noise(strategy: Strategy, source: KeyedSource) -> tuple[Int64, ...]:
    return tuple(level.law.sample(level.nodes, source=source) for level in strategy.levels)


def _curve(strategy: Strategy, answer: Int64, total: int) -> Float64:
    estimate = strategy.estimate(answer, total) / total
    return np.concatenate([[0.0], valid_curve(estimate)])


def released_curve(
    records: Float64, bounds: Bounds, privacy: ApproxDP, method: ReleasedMethod, source: KeyedSource
) -> Curve:
    """One release of all records by a method of the library, with everything else as it is by default."""
    statistic = Ecdf("value", bounds=bounds, bins=SIZE, method=method)
    return release(statistic, trust=Central({"value": records}), privacy=privacy, source=source)


def values_of(curve: Curve) -> Float64:
    """Shares at all points; none at the lower bound, shape (POINTS,)."""
    return np.concatenate([[0.0], curve.probabilities])
