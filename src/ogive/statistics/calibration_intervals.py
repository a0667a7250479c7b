"""Shares of positives that hold for all groups at once, counting noise and sampling.

Half of the error probability goes to the noise: a simulated bound m on the largest noise of any group's observed
counts, so that the true counts (a, b) of positives and negatives lie within m of the published ones. The
other half goes to sampling, group by group: Clopper and Pearson's interval for a of a + b, which grows
with a and falls with b, at the least favorable whole numbers that the noise leaves. Records with unequal
probabilities stray less than binomial counts do (Hoeffding 1956), so the level holds for them as well.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import scipy.stats
from numpy.typing import NDArray

from ogive.noise import KeyedSource
from ogive.privacy import exact
from ogive.statistics.bands import upper_quantile
from ogive.statistics.calibration_sums import Measured, Sums

Float64 = NDArray[np.float64]

_SIMULATIONS = 9999
_SEED = 0x72656C6961626C65  # public and fixed
_BATCH_VALUES = 1 << 20


def share_intervals(
    sums: Sums, measured: Measured, *, total: int | None, confidence_level: float
) -> tuple[Float64, Float64]:
    """Ends of the intervals for each group's chance of a positive label, each shape (Q,).

    Args:
        sums: Published counts, consistent.
        measured: Their noise.
        total: Number of records where that is public.
        confidence_level: Of all intervals together, strictly between 0 and 1.
    """
    groups = sums.expected.shape[-1]
    tail = 1 - exact(confidence_level, "confidence_level")
    margin = 0.0
    if measured.expected is not None:
        tail = tail / 2
        margin = noise_margin(measured, groups, total_known=total is not None, tail=tail)
    slack = 1e-6  # room for rounding before whole numbers are taken
    negatives, positives = sums.observed
    each = float(tail) / (2 * groups)
    few = np.maximum(np.ceil(positives - margin - slack), 0)
    many = np.maximum(np.floor(positives + margin + slack), 0)
    few_negative = np.maximum(np.ceil(negatives - margin - slack), 0)
    many_negative = np.maximum(np.floor(negatives + margin + slack), 0)
    low = np.where(few > 0, scipy.stats.beta.ppf(each, np.maximum(few, 1), many_negative + 1), 0.0)
    high = np.where(few_negative > 0, scipy.stats.beta.isf(each, many + 1, np.maximum(few_negative, 1)), 1.0)
    return low, high


def noise_margin(measured: Measured, groups: int, *, total_known: bool, tail: Fraction) -> float:
    """A bound that the noise on every group's observed counts stays within, except with probability `tail`."""
    simulations = max(_SIMULATIONS, math.ceil(4 / tail))
    source = KeyedSource.from_seed(_SEED)
    batch = max(1, _BATCH_VALUES // (4 * groups))
    largest = np.empty(simulations)
    for start in range(0, simulations, batch):
        runs = min(batch, simulations - start)
        noise = measured.consistent(measured.noise(runs, groups, source), 0 if total_known else None)
        largest[start : start + runs] = np.abs(noise.observed).max(axis=(-2, -1))
    return upper_quantile(largest, tail)
