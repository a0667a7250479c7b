"""P-values of a normal sampling error with noise on top of it.

Let D be the distance of a statistic from its value under the null hypothesis. There D = S + E, with S normal of a known
standard deviation and E the noise, of which there are R draws E_1, ..., E_R. The p-value

    p = (1 + a + sum over r of P(|S + E_r| >= |D|)) / (R + 1)

averages the exact tail of S over the draws, and is never 0. Up to `a` unknown quantities, such as the size of a class,
were replaced by the worst of a range that is as wide as the largest of their errors in the same R draws; one more draw
exceeds that with a chance of 1 / (R + 1), which the p-value pays (Berger and Boos).

Source:
    Berger and Boos 1994, P values maximized over a confidence set for the nuisance parameter.
"""

from __future__ import annotations

import math

import numpy as np

from ogive.arrays import Float64
from ogive.statistics.significance.result import Alternative


def p_value(
    distance: float, sampling: float, noise: Float64 | None, alternative: Alternative, *, bounded: int = 0
) -> float:
    """Probability of a statistic at least as far from its expected value as this one.

    Args:
        distance: Of the statistic from its expected value, with its sign.
        sampling: Standard deviation of the normal part.
        noise: Draws of the noise; None where there is none, or all of it is in `sampling`.
        alternative: Which side counts.
        bounded: How many quantities were replaced by the worst of their range.
    """
    if math.isnan(distance):
        return math.nan
    if noise is None:
        return _tail(distance, sampling, np.zeros(1), alternative)
    mean = _tail(distance, sampling, noise, alternative)
    return min(1.0, (1 + bounded + mean * len(noise)) / (len(noise) + 1))


def _tail(distance: float, sampling: float, noise: Float64, alternative: Alternative) -> float:
    """Mean over the draws of the chance that sampling and noise together are as far out."""
    reach = abs(distance) if alternative == "two-sided" else distance if alternative == "greater" else -distance
    moved = -noise if alternative == "less" else noise
    if sampling <= 0:
        beyond = moved >= reach
        if alternative == "two-sided":
            beyond = beyond | (-moved >= reach)
        return float(beyond.mean())
    from scipy.special import ndtr  # slow to import, and what only asks for a statistic does without

    found = ndtr((moved - reach) / sampling)
    if alternative == "two-sided":
        found = np.minimum(found + ndtr((-moved - reach) / sampling), 1.0)
    return float(found.mean())
