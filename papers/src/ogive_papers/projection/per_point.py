"""Two methods that the paper names beside its baselines: noise at each point, and its refinement by smooth sensitivity.

The paper says of them that noise is added to each data point, with global or with smooth sensitivity. A count at a
threshold moves by one whatever the records are, so smooth sensitivity is no smaller there; what it refines is noise on
the values of quantiles. Noise is floating-point, and nothing is released.
"""

from __future__ import annotations

import math

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive_papers.projection.baselines import GROUPS, scale, valid_curve
from ogive_papers.projection.shapes import Shape
from ogive_papers.projection.smooth_sensitivity import cauchy_terms, laplace_terms, smooth_sensitivity

POINTS_NAIVE, POINTS_JOINT, POINTS_LAPLACE, ALL_POINTS = "points, naive", "points", "points, Laplace", "2000 points"
DECILES_GLOBAL, DECILES_CAUCHY, DECILES_LAPLACE = "deciles, global", "deciles, Cauchy", "deciles, Laplace"
PER_POINT = (POINTS_NAIVE, POINTS_JOINT, POINTS_LAPLACE, ALL_POINTS)
DECILES = (DECILES_GLOBAL, DECILES_CAUCHY, DECILES_LAPLACE)

QUANTILES = 9
"""Quantiles whose values get noise, evenly over the ranks. Of 4, 9, 19 and 30, 9 have the least error at epsilon 1."""

CODE = ("papers/projection/per_point.py", "papers/projection/smooth_sensitivity.py")


def per_point_curves(
    shape: Shape, records: Float64, epsilon: float, delta: float, generator: np.random.Generator
) -> dict[str, Float64]:
    """One release by each of `PER_POINT` and `DECILES`, at the points of the shape's axis."""
    ordered = np.sort(records)
    few = np.linspace(shape.low, shape.high, GROUPS + 1)
    places = len(few) - 2
    gaussian = scale(epsilon, delta)

    def noisy(points: Float64, noise: Float64) -> Float64:
        return points_curve(counts_at(ordered, points), records.size, points, shape.axis, noise)

    def normal(size: int, sigma: float) -> Float64:
        return np.asarray(sigma * generator.standard_normal(size))

    curves = {
        POINTS_NAIVE: noisy(few, normal(places, scale(epsilon, delta, parts=places))),
        POINTS_JOINT: noisy(few, normal(places, math.sqrt(places) * gaussian)),
        POINTS_LAPLACE: noisy(few, generator.laplace(scale=places / epsilon, size=places)),
        ALL_POINTS: noisy(shape.axis, normal(shape.axis.size - 2, math.sqrt(shape.axis.size - 2) * gaussian)),
    }
    ranks = quantile_ranks(records.size)
    width = shape.high - shape.low
    noises = {DECILES_GLOBAL: normal(QUANTILES, math.sqrt(QUANTILES) * gaussian * width)}
    cauchy, laplace = cauchy_terms(epsilon / QUANTILES), laplace_terms(epsilon / QUANTILES, delta / QUANTILES)
    for name, (smoothness, factor), drawn in (
        (DECILES_CAUCHY, cauchy, generator.standard_cauchy(QUANTILES)),
        (DECILES_LAPLACE, laplace, generator.laplace(size=QUANTILES)),
    ):
        bounds = [smooth_sensitivity(ordered, int(rank), shape.low, shape.high, smoothness) for rank in ranks]
        noises[name] = factor * np.array(bounds) * drawn
    for name, noise in noises.items():
        curves[name] = quantiles_curve(ordered[ranks - 1] + noise, shape)
    return curves


def counts_at(ordered: Float64, points: Float64) -> Int64:
    """Records at or below each point between the first and the last, shape (points - 2,).

    Privacy:
        One replaced record moves each count by one at most, and all of them where it passes all points. So the exact l2
        sensitivity is the root of their number, and the l1 sensitivity is their number.
    """
    return np.searchsorted(ordered, points[1:-1], side="right")


def points_curve(counts: Int64, records: int, points: Float64, axis: Float64, noise: Float64) -> Float64:
    """The nearest distribution function to noisy counts, with straight lines between the points."""
    raw = np.concatenate([[0.0], (counts + noise) / records, [1.0]])
    return np.asarray(np.interp(axis, points, valid_curve(raw)))


def quantile_ranks(records: int) -> Int64:
    """Ranks, from 1, of the quantiles that get noise."""
    return -(-np.arange(1, QUANTILES + 1) * records // (QUANTILES + 1))


def quantiles_curve(values: Float64, shape: Shape) -> Float64:
    """The distribution function through noisy quantiles, which are put in order and within the bounds."""
    shares = np.linspace(0.0, 1.0, QUANTILES + 2)
    places = np.concatenate([[shape.low], np.sort(np.clip(values, shape.low, shape.high)), [shape.high]])
    return np.asarray(np.interp(shape.axis, places, shares))
