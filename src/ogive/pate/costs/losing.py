"""How likely an aggregator is to return another class than the plurality: bounds on ln q, never exponentiated.

The union bound over rivals, with the chance that one rival overtakes a gap:

- Gaussian noise on every count: erfc(gap / (2 sigma)) / 2;
- integer (discrete Gaussian) noise: the same with gap - 1, since a rival also wins some ties; on votes multiplied by
  2^16 a unit is 2^-16 votes;
- Laplace noise of scale b: (2 + gap/b) e^(-gap/b) / 4; integer Laplace noise: the exact sum, ties counted as lost.

Source:
    Papernot et al. 2018, Proposition 7; Papernot et al. 2017, Lemma 4. Integer noise: docs/proofs/pate_costs.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr, ndtri_exp

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import among, array_of, refuse_masked
from ogive.errors import DataError, ParameterError, quoted

Noise = Literal["continuous", "discrete", "scaled"]
"""Continuous noise, integer noise on the votes, or integer noise on the votes multiplied by 2^`SCALE_BITS`.

"scaled" is what GNMax and its kin draw; LNMax draws "discrete" noise.
"""

NOISES: tuple[Noise, ...] = ("continuous", "discrete", "scaled")

SCALE_BITS = 16
"""Votes are multiplied by 2 to this power before they get integer noise, where the noise is "scaled"."""

_CHUNK = 1 << 22


def unit_of(noise: Noise) -> float:
    """The grid of the noise, in votes; 0 for continuous noise."""
    among(noise, "noise", NOISES)
    return {"continuous": 0.0, "discrete": 1.0, "scaled": 2.0**-SCALE_BITS}[noise]


def logq_gnmax(votes: ArrayLike, sigma: float, *, noise: Noise = "continuous") -> Float64:
    """Bound ln Pr[the answer is not the plurality] for Gaussian noise on every count.

    Args:
        votes: Counts, shape (queries, classes), at least two classes.
        sigma: Standard deviation per count (the parameter of integer noise), in votes.
        noise: Which noise is meant.

    Returns:
        ln q, at most ln(1 - 1/classes), shape (queries,).
    """
    unit = unit_of(noise)
    check_scale(sigma, "sigma")
    return _union(votes, lambda gaps: log_ndtr((unit - gaps) / (math.sqrt(2) * sigma)))


def logq_lnmax(votes: ArrayLike, scale: float, *, noise: Noise = "continuous") -> Float64:
    """As `logq_gnmax` for Laplace noise of a scale in votes; the papers' gamma is its inverse."""
    unit = unit_of(noise)
    check_scale(scale, "scale")
    if not unit:
        return _union(votes, lambda gaps: np.log(2 + gaps / scale) - math.log(4) - gaps / scale)
    ratio = unit / scale
    a = math.exp(-ratio)
    # 1 - a and 1 - a^2 keep their digits where the scale is large
    fixed = math.log(-math.expm1(-ratio)) - 2 * math.log1p(a)
    shift = a / -math.expm1(-ratio) + (1 + a * a) / -math.expm1(-2 * ratio)

    def overtakes(gaps: Float64) -> Float64:
        steps = gaps / unit
        result = fixed - ratio * steps + np.log(steps + shift)
        # a tie of the counts: the rival has the higher index, so it must be strictly above
        return np.where(steps < 1, math.log(0.5), result)

    return _union(votes, overtakes)


def check_scale(value: float, name: str) -> None:
    """Refuse a size of noise that is not a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise ParameterError(f"`{name}` must be a number above 0, got {quoted(value)}")
    if not (math.isfinite(value) and value > 0):
        raise ParameterError(f"`{name}` must be a finite number above 0, got {quoted(value)}")


def _union(votes: ArrayLike, overtakes: Callable[[Float64], Float64]) -> Float64:
    """Add up the chances of all rivals of the first largest count, in log space, a bounded number of rows at a time."""
    counts = array_of(votes)
    queries, classes = counts.shape
    result = np.empty(queries)
    step = max(1, _CHUNK // classes)
    for start in range(0, queries, step):
        part = np.asarray(counts[start : start + step], dtype=np.float64)
        rows = np.arange(part.shape[0])
        first = part.argmax(axis=1)
        terms = overtakes(part[rows, first][:, None] - part)
        terms[rows, first] = -np.inf
        largest = terms.max(axis=1)
        terms -= largest[:, None]
        result[start : start + step] = largest + np.log(np.exp(terms, out=terms).sum(axis=1))
    return np.minimum(result, math.log1p(-1 / classes))


# --- What a student expects of the votes: public scores, checked where they enter, and how far votes exceed them

_ROUNDING = 1e-3
"""How far probabilities of low precision may be from adding up to 1."""

_SCALE = 1 << SCALE_BITS


def check_probabilities(probabilities: ArrayLike | None, shape: tuple[int, ...]) -> Float64:
    """A student's probabilities as an array.

    Args:
        probabilities: Of each class for each query; rows add up to 1 as scores of low precision do.
        shape: Queries and classes of the votes.
    """
    if probabilities is None:
        raise ParameterError("aggregator interactive needs the student's probabilities, a row for every query")
    refuse_masked(probabilities)
    try:
        result = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("probabilities must be an array of numbers, a row for every query") from None
    if result.ndim != 2 or result.shape != shape:
        raise DataError(
            f"probabilities must have the shape (queries, classes) = {shape} of the votes, got {result.shape}"
        )
    for wrong, what in (
        (np.isnan(result).any(axis=1), "NaN"),
        (((result < 0) | (result > 1)).any(axis=1), "numbers outside 0 to 1"),
        (np.abs(result.sum(axis=1) - 1) > _ROUNDING, "numbers that do not add up to 1"),
    ):
        if wrong.any():
            raise DataError(f"the student's probabilities of query {int(np.argmax(wrong))} hold {what}")
    return result


def largest_excess(votes: Int64, probabilities: Float64) -> Float64:
    """The largest excess of votes over those that the student expects, rounded half up.

    Expected votes are first rounded to 2^-16, as the check that is deployed rounds them, whatever its noise. From
    there on everything is exact, so one vote moves the excess by at most 1. Floating-point differences would not do:
    2 less a bit more than 1/2 is 1.5, and 1 less as much is below 1/2, so that one vote would move it from 0 to 2. Nor
    would rounding half to even: from 0.5 to 0, from 1.5 to 2.

    Args:
        votes: Counts, shape (queries, classes).
        probabilities: The student's, the same shape.

    Returns:
        Whole numbers, shape (queries,).
    """
    expected = np.floor(votes.sum(axis=1, keepdims=True) * probabilities * _SCALE + 0.5) / _SCALE
    return np.asarray(np.floor((votes - expected).max(axis=1) + 0.5))


# --- How far the chance of losing the plurality can move when one teacher changes its vote
#
#     B_U(q) = min((m-1)/2 erfc(erfcinv(2 q/(m-1)) - 1/sigma), 1)
#     B_L(q) =     (m-1)/2 erfc(erfcinv(2 q/(m-1)) + 1/sigma)
#
# Every gap between the first class and another changes by at most 2, which is 1/sigma in the argument of erfc;
# `docs/proofs/pate_sensitivity.md` has the proof. Logs throughout: 5000 unanimous teachers have q far below the
# smallest double.
#
# Source: Papernot et al. 2018, proposition 27.


def log_neighbour_bounds(log_q: Float64 | float, sigma: float, classes: int) -> tuple[Float64, Float64]:
    """Bound the chance q of losing the plurality at every neighbour of a histogram.

    Args:
        log_q: Natural log of q at the histogram, at most log(1 - 1/classes); any shape.
        sigma: Standard deviation of the noise of a count of votes.
        classes: At least 2.

    Returns:
        Natural logs of B_L(q) and B_U(q), the same shape.
    """
    rivals = math.log(classes - 1)
    place = ndtri_exp(np.asarray(log_q, np.float64) - rivals)
    shift = math.sqrt(2) / sigma
    low = rivals + log_ndtr(place - shift)
    high = np.minimum(rivals + log_ndtr(place + shift), 0.0)
    return np.asarray(low), np.asarray(high)
