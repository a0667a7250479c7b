"""What the groups say of all records together: sums of what was measured, for nothing.

Noisy integers of disjoint groups add up, and the noise of the sum is that many draws of one law. Curves of disjoint
groups add up as those of batches do, and are smoothed once, together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from ogive.provenance import Provenance
from ogive.statistics.base import Estimate
from ogive.statistics.curve import bins as curve_bins
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.sums.estimate import NumberEstimate
from ogive.statistics.sums.measured import Measured
from ogive.strategies.smoothing import smooth_sum
from ogive.strategies.summed import SummedStrategies


def added_up(each: Sequence[Any], provenance: Provenance | None) -> Estimate:
    """The estimate of all records from those of disjoint groups that together are all of them.

    Args:
        each: Estimates of one kind, of the groups.
        provenance: Of the release.

    Privacy:
        Post-processing.
    """
    first = each[0]
    if isinstance(first, NumberEstimate | HistogramEstimate):
        everyone = None if provenance is None else provenance.total
        measured = _sum([found.measured for found in each], everyone)
        return dataclasses.replace(first, measured=measured, provenance=provenance)
    assert isinstance(first, QuantileEstimates), "numbers, categories and quantiles are described"
    curve = _curve([found.curve for found in each])
    return _quantiles(first, dataclasses.replace(curve, provenance=provenance), provenance)


def _sum(each: Sequence[Measured], everyone: int | None) -> Measured:
    """The sums of all groups, whose records are `everyone` where that number is public."""
    return dataclasses.replace(
        each[0],
        values=tuple(map(sum, zip(*(found.values for found in each), strict=True))),
        total=everyone,
        draws=sum(found.draws for found in each),
    )


def _curve(each: Sequence[Curve]) -> Curve:
    first = each[0]
    totals = [found.total for found in each]
    total = None if None in totals else sum(filter(None, totals))
    raw = np.sum([found.raw for found in each], axis=0)
    strategies = tuple(found.strategy for found in each if found.strategy is not None)
    if not strategies:
        return dataclasses.replace(first, cumulative=raw, raw=raw, total=total, provenance=None)
    strategy = SummedStrategies(strategies)
    cumulative, smoothing = smooth_sum(strategy, raw, total=total)
    return dataclasses.replace(
        first, cumulative=cumulative, raw=raw, strategy=strategy, total=total, smoothing=smoothing, provenance=None
    )


def _quantiles(first: QuantileEstimates, curve: Curve, provenance: Provenance | None) -> QuantileEstimates:
    wanted = np.array(first.probabilities)
    number = curve.grid.number
    low, high = curve_bins.quantile_interval(wanted, curve.band(first.confidence_level))
    return dataclasses.replace(
        first,
        numbers=tuple(number(value) for value in curve.quantile(wanted)),
        low=tuple(number(value) for value in low),
        high=tuple(number(value) for value in high),
        curve=curve,
        provenance=provenance,
    )
