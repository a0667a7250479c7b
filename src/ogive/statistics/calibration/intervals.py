"""Shares of positives that hold for all groups at once, counting noise and sampling.

Half of the error probability goes to the noise. With t a simulated quantile of the largest noise of any group on
observed counts, on their differences from the expected ones and on numbers of records, each in units of its
average, all true counts lie within t such sizes of the published ones. A true number of positives is
then in the intersection of two ranges: around the published number, and around difference plus
records times a probability between the group's ends.

The other half goes to sampling, group by group: Clopper and Pearson's interval for a positives and b negatives,
which grows with a and falls with b, at the least favorable whole numbers that the noise leaves. Records with
unequal probabilities stray less than binomial counts do (Hoeffding 1956), so the level holds for them as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import betainccinv, betaincinv

from ogive.core.arrays import Float64
from ogive.noise import KeyedSource
from ogive.statistics.calibration.sums import Measured, Sums, Within
from ogive.statistics.confidence import check_level
from ogive.statistics.curve.bands.simultaneous import upper_quantile

SIMULATIONS, FEWEST_SIMULATIONS = 9999, 999
_SIMULATED_VALUES = 20_000_000  # fewer simulations where there are so many groups
_SEED = 0x72656C6961626C65  # public and fixed
_BATCH_VALUES = 1 << 20
_SLACK = 1e-6  # room for rounding before whole numbers are taken


def share_intervals(
    sums: Sums,
    within: Within,
    measured: Measured,
    *,
    total: int | None,
    confidence_level: float,
    rows_of_one: int = 1,
) -> tuple[Float64, Float64]:
    """Ends of the intervals for each group's chance of a positive label, each shape (Q,)."""
    groups = sums.expected.shape[-1]
    tail = 1 - check_level(confidence_level)
    margins = Margins(0.0, 0.0, 0.0)
    if measured.expected is not None:
        tail = tail / 2
        margins = noise_margins(measured, groups, total_known=total is not None, tail=tail)
    records = sums.expected.sum(axis=0)
    fewest, most = np.maximum(records - margins.records, 0), np.maximum(records + margins.records, 0)
    ends = ((1 - within.high, 1 - within.low), (within.low, within.high))
    ranges = []
    for observed, difference, (low, high) in zip(sums.observed, sums.difference, ends, strict=True):
        few = np.maximum(observed - margins.observed, fewest * low + difference - margins.difference)
        many = np.minimum(observed + margins.observed, most * high + difference + margins.difference)
        ranges.append((np.maximum(np.ceil(few - _SLACK), 0), np.maximum(np.floor(many + _SLACK), 0)))
    (few_negative, many_negative), (few, many) = ranges
    each = float(tail) / (2 * groups)
    k = rows_of_one
    start = np.where(few > 0, betaincinv(np.maximum(few, 1) / k, many_negative / k + 1, each), 0.0)
    end = np.where(few_negative > 0, betainccinv(many / k + 1, np.maximum(few_negative, 1) / k, each), 1.0)
    return start, end


@dataclass(frozen=True)
class Margins:
    """Bounds that the noise of every group stays within, all at once, in records.

    Fields:
        observed, difference, records: On observed counts, their differences from the expected ones, and their sum.
    """

    observed: float
    difference: float
    records: float


def noise_margins(measured: Measured, groups: int, *, total_known: bool, tail: Fraction) -> Margins:
    """Simulate the bounds that hold except with probability `tail`."""
    affordable = min(SIMULATIONS, max(FEWEST_SIMULATIONS, _SIMULATED_VALUES // (4 * groups)))
    simulations = max(affordable, math.ceil(2 / tail))
    source = KeyedSource.from_seed(_SEED)
    batch = max(1, _BATCH_VALUES // (4 * groups))
    largest = np.empty((3, simulations))
    for start in range(0, simulations, batch):
        runs = min(batch, simulations - start)
        noise = measured.consistent(measured.noise(runs, groups, source), 0 if total_known else None)
        here = slice(start, start + runs)
        largest[0, here] = np.abs(noise.observed).max(axis=(-2, -1))
        largest[1, here] = np.abs(noise.difference).max(axis=(-2, -1))
        largest[2, here] = np.abs(noise.expected.sum(axis=-2)).max(axis=-1)
    scales = np.maximum(largest.mean(axis=1), 1e-300)
    reach = upper_quantile((largest / scales[:, None]).max(axis=0), tail)
    observed, difference, records = (reach * scales).tolist()
    return Margins(observed, difference, records)
