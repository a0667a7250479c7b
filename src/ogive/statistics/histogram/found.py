"""Intervals of shares of values that were found: a value is told only if its noisy count reached a threshold.

Source:
    `docs/proofs/discovery.md`.
"""

from __future__ import annotations

import math
from statistics import NormalDist

Interval = tuple[float, float]


def share_interval(
    counted: Interval, records: Interval, size: float, *, threshold: int, confidence_level: float
) -> Interval:
    """The share of a value in the population, given that it is shown.

    Wilson's interval of the lowest and of the highest share that the records may have. A value of fewer records than
    the threshold is mostly shown where the sample has more of it than the population, so a lower end below the
    threshold is no end at all, and is 0. A value of the threshold or more is shown in at least half of all samples,
    which at most doubles the chance that its lower end is too high. So the interval fails with at most the chance that
    the number of records is outside of its interval and one and a half times that of Wilson's.

    Args:
        counted: Between which the number of records with the value lies, given that it is shown.
        records: Between which the number of all counted records lies.
        size: The number of all counted records that sampling errors are of.
        threshold: Least noisy count that is shown.
        confidence_level: Of Wilson's interval.
    """
    low = _wilson(min(1.0, counted[0] / max(1.0, records[1])), size, confidence_level)[0]
    high = _wilson(min(1.0, counted[1] / max(1.0, records[0])), size, confidence_level)[1]
    return low if low * size >= threshold else 0.0, high


def _wilson(share: float, size: float, confidence_level: float) -> Interval:
    normal = NormalDist().inv_cdf((1 + confidence_level) / 2) ** 2
    size = max(1.0, size)
    middle = (share + normal / (2 * size)) / (1 + normal / size)
    reach = math.sqrt(normal * share * (1 - share) / size + normal**2 / (4 * size**2)) / (1 + normal / size)
    return max(0.0, middle - reach), min(1.0, middle + reach)
