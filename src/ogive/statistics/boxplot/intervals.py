"""Intervals of a box's quartiles and median, by inverting the band of its curve.

With the stated confidence the band holds the whole true curve, and where it does, the true quantile of every share lies
between the points at which the band's two ends reach that share. So the three intervals of a box hold at once, whatever
was asked of the curve besides. An end is moved to the box's own number where smoothing left that outside, which only
widens the interval. Proof: `docs/proofs/boxes.md`.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ogive.statistics.base import Terms
from ogive.statistics.boxplot.boxes import QUARTERS, Box, Interval, Intervals
from ogive.statistics.confidence import check_level
from ogive.statistics.curve import bins as curve_bins
from ogive.statistics.curve.bands.simultaneous import interval_simulations
from ogive.statistics.curve.estimate import Curve

CONFIDENCE_LEVEL = 0.95
"""Chance that the intervals of one box hold the population's quartiles and median, all three."""


def with_intervals(box: Box, curve: Curve, terms: Terms) -> Box:
    """The box of a curve with its intervals; as it is where there is no box, or no interval is wanted.

    Privacy:
        Post-processing.
    """
    if not box.defined or terms.simulations == 0:
        return box
    simulations = interval_simulations(curve.strategy, check_level(CONFIDENCE_LEVEL), terms.simulations)
    rows = terms.unit.max_rows_per_person
    band = curve.band(CONFIDENCE_LEVEL, simulations=simulations, rows_per_person=rows)
    low, high = curve_bins.quantile_interval(np.array(QUARTERS), band)
    number = curve.grid.number
    ends = [
        Interval(min(number(a), at), max(number(b), at))
        for a, b, at in zip(low, high, (box.q1, box.median, box.q3), strict=True)
    ]
    return dataclasses.replace(box, intervals=Intervals(*ends))
