"""Whether the score has the same distribution in both classes: Mann and Whitney's test, with the noise of the release.

With P the pairs in order (ties one half) and n_0, n_1 the class sizes, the statistic is H = P - n_0 n_1 / 2, computed
from the linear estimates of both curves, so that no noisy number is divided by. Under the null hypothesis both classes
have one distribution F, and

    H = S + E,

S the sampling error, normal with the variance of `kernels.null_variance`, and E the noise. E is bilinear in the noise
of both curves and is simulated around n_0 F and n_1 F, with F read off both released curves together. Where class
sizes are private the largest that the noise allows are taken, and of every bin no more ties than it is sure to have:
both make p-values larger (`significance.tails`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ogive.arrays import Float64
from ogive.kernels import null_variance
from ogive.statistics.roc.noise import KNOWN_SIZES, KNOWN_SUM, SimulatedNoise, pairs_at_ends
from ogive.statistics.significance.result import Alternative
from ogive.statistics.significance.tails import p_value


class RankTest(NamedTuple):
    """What the test finds.

    Fields:
        area: Unsmoothed area under the curve.
        standard_error: Of the area under the null hypothesis.
        p_value: With sampling and noise.
    """

    area: float
    standard_error: float
    p_value: float


def rank_test(
    linear: Float64,
    noise: SimulatedNoise | None,
    *,
    known: str,
    total: int | None,
    positive_when: str,
    alternative: Alternative,
) -> RankTest:
    """Test that both classes have one distribution of scores.

    Args:
        linear: Linear estimates of both cumulative curves, shape (2, N).
        noise: Simulated releases; None for exact curves.
        known: What is public of the class sizes: KNOWN_SIZES, KNOWN_SUM or NOTHING_KNOWN.
        total: Number of records where it is public.
        positive_when: "high" or "low".
        alternative: "greater" for an area above one half.
    """
    pairs = float(pairs_at_ends(linear[0], linear[1], positive_when).mean())
    sizes = linear[:, -1]
    product = float(sizes[0] * sizes[1])
    if min(sizes) <= 0:
        return RankTest(math.nan, math.nan, math.nan)
    largest, records, bounded = _largest_sizes(sizes, noise, known, total)
    counts = np.diff(linear.sum(axis=0), prepend=0.0)
    if noise is not None:
        counts = counts - float(noise.bins.max())
        bounded += 1
    ties = null_variance.tie_share(counts, records)
    sampling = math.sqrt(null_variance.pairs_in_order(*largest, ties=ties))
    draws = None if noise is None else noise.null * max(largest[0] / sizes[0], largest[1] / sizes[1])
    found = p_value(pairs - product / 2, sampling, draws, alternative, bounded=bounded)
    spread = math.hypot(sampling, 0.0 if draws is None else float(np.sqrt(np.mean(draws**2))))
    return RankTest(pairs / product, spread / product, found)


def _largest_sizes(
    sizes: Float64, noise: SimulatedNoise | None, known: str, total: int | None
) -> tuple[tuple[float, float], float, int]:
    """Class sizes of the largest product that the noise allows, all records, and how many sizes that bounds."""
    negatives, positives = (float(each) for each in sizes)
    if noise is None or known == KNOWN_SIZES:
        return (negatives, positives), negatives + positives, 0
    reach = float(np.abs(noise.last).max())
    if known == KNOWN_SUM:
        assert total is not None
        nearest = min(max(total / 2, negatives - reach), negatives + reach)
        nearest = min(max(nearest, 0.0), float(total))
        return (nearest, total - nearest), float(total), 1
    return (negatives + reach, positives + reach), negatives + positives + 2 * reach, 2
