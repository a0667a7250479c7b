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
from scipy.special import log_ndtr

from ogive.arrays import Float64
from ogive.checks import among, array_of
from ogive.errors import ParameterError, quoted

Noise = Literal["continuous", "discrete", "scaled"]
"""Continuous noise, integer noise on the votes, or integer noise on the votes multiplied by 2^`SCALE_BITS`.

"scaled" is what GNMax and its kin draw; LNMax draws "discrete" noise.
"""

NOISES: tuple[Noise, ...] = ("continuous", "discrete", "scaled")

SCALE_BITS = 16
"""Votes are multiplied by 2 to this power before they get integer noise, where the noise is "scaled"."""

_CHUNK = 1 << 22


def unit_of(noise: Noise) -> float:
    """The grid of the noise, in votes; 0 for continuous noise.

    Raises:
        ParameterError: no such noise.
    """
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

    Raises:
        ParameterError: sigma or noise is out of range.
    """
    unit = unit_of(noise)
    check_scale(sigma, "sigma")
    return _union(votes, lambda gaps: log_ndtr((unit - gaps) / (math.sqrt(2) * sigma)))


def logq_lnmax(votes: ArrayLike, scale: float, *, noise: Noise = "continuous") -> Float64:
    """Bound ln Pr[the answer is not the plurality] for Laplace noise on every count.

    Args:
        votes: Counts, shape (queries, classes), at least two classes.
        scale: Of the Laplace noise, in votes; the papers' gamma is its inverse.
        noise: Which noise is meant.

    Returns:
        ln q, at most ln(1 - 1/classes), shape (queries,).

    Raises:
        ParameterError: scale or noise is out of range.
    """
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
        found = fixed - ratio * steps + np.log(steps + shift)
        # a tie of the counts: the rival has the higher index, so it must be strictly above
        return np.where(steps < 1, math.log(0.5), found)

    return _union(votes, overtakes)


def check_scale(value: float, name: str) -> None:
    """Refuse a size of noise that is not a finite number above 0.

    Raises:
        ParameterError: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise ParameterError(f"`{name}` must be a number above 0, got {quoted(value)}")
    if not (math.isfinite(value) and value > 0):
        raise ParameterError(f"`{name}` must be a finite number above 0, got {quoted(value)}")


def _union(votes: ArrayLike, overtakes: Callable[[Float64], Float64]) -> Float64:
    """Add up the chances of all rivals of the first largest count, in log space, a bounded number of rows at a time."""
    counts = array_of(votes)
    queries, classes = counts.shape
    found = np.empty(queries)
    step = max(1, _CHUNK // classes)
    for start in range(0, queries, step):
        part = np.asarray(counts[start : start + step], dtype=np.float64)
        rows = np.arange(part.shape[0])
        first = part.argmax(axis=1)
        terms = overtakes(part[rows, first][:, None] - part)
        terms[rows, first] = -np.inf
        largest = terms.max(axis=1)
        terms -= largest[:, None]
        found[start : start + step] = largest + np.log(np.exp(terms, out=terms).sum(axis=1))
    return np.minimum(found, math.log1p(-1 / classes))
