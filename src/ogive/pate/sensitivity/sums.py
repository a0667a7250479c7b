"""Smooth sensitivity of a sum over queries.

One teacher may change its vote on every query, so the local sensitivities add; each is the largest within a distance of
AT MOST d, for a list of values at distance exactly d is not smooth once lists are added.

Source: Papernot et al. 2018, Theorem 7.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ogive.arrays import Float64


class Smoothed(NamedTuple):
    """A smooth bound on local sensitivity, and the distance at which its maximum is taken. Both are private."""

    value: float
    distance: int


def smooth_sensitivity_sum(profile: Float64, smoothness: float) -> Smoothed:
    """The largest of e^(-b d) profile[d].

    Args:
        profile: The sum over queries of the largest local sensitivity within d = 0, 1, ... changed teachers; never
            falling in d, and constant beyond.
        smoothness: b, above 0.

    Returns:
        A number that bounds the local sensitivity of the sum and changes by at most a factor e^b between neighbours.

    Privacy:
        The number itself is private.
    """
    weighted = np.exp(-smoothness * np.arange(profile.size)) * profile
    distance = int(np.argmax(weighted))
    return Smoothed(float(weighted[distance]), distance)
