"""Boxes: five numbers of a group and what lies beyond its whiskers, from a curve or found one by one.

A box of a curve is that of as many evenly spread values as there are records: value i of n is the point at which
the curve reaches (i - 1/2) / n. So the picture has no randomness of its own, and redrawing it tells nothing new. Where
the curve is flat, the first point counts; within a bin of numbers or times, mass lies evenly.
"""

from __future__ import annotations

import bisect
import dataclasses
import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ogive.accounting import gaussian_rho, pure_epsilon
from ogive.columns import Binning, LabelValue
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64
from ogive.privacy import ApproxDP, Privacy, PureDP, ZeroConcentratedDP
from ogive.queries import Answer, QuantileScore, Query, design_joint, design_noisy_max, design_sparse_vector
from ogive.statistics.base import FEWEST, Terms
from ogive.statistics.confidence import check_level
from ogive.statistics.curve import readings as curve_bins
from ogive.statistics.curve.bands.simultaneous import interval_simulations
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.curve.readings import lower_ends

WHISKER = 1.5
"""Whiskers reach to the outermost values within so many times the box's height of it."""

SHOWN_OUTLIERS = 50
"""Most values beyond each whisker that are listed; all are counted."""

_MOST_RECORDS = 1 << 53
"""Up to so many, the places of single values are different numbers."""

NUMBERS = ("low", "q1", "median", "q3", "high")
QUARTERS = (0.25, 0.5, 0.75)


class Interval(NamedTuple):
    """Ends between which a true quantile lies, as numbers of the grid."""

    low: float
    high: float


class Intervals(NamedTuple):
    """Of the quartiles and the median of one box; all three hold at once with the stated confidence."""

    q1: Interval
    median: Interval
    q3: Interval


@dataclass(frozen=True)
class Box:
    """One box: five numbers of the grid, not decreasing, and what lies beyond; nothing unless it is `told`.

    Fields:
        group: Value of the group; None where all records are in one box.
        low, high: Ends of the whiskers.
        q1, median, q3: Quartiles.
        below, above: How many records lie beyond each whisker, by estimate; None where that is not known.
        outliers: Some of those, at most 50 on either side, increasing; drawn from the curve, not records.
        records: Estimated or public number of records of the group; None where it is not known.
        flat: Whether both quartiles lie in one bin of the grid: the middle half of the records has one value, or
            values closer than the grid tells apart.
        intervals: Of q1, median and q3; None where they are not known, as for "five_numbers".
    """

    group: LabelValue | None
    low: float
    q1: float
    median: float
    q3: float
    high: float
    below: int | None = None
    above: int | None = None
    outliers: tuple[float, ...] = ()
    records: float | None = None
    flat: bool = False
    intervals: Intervals | None = None

    @property
    def numbers(self) -> tuple[float, float, float, float, float]:
        """The five numbers: low, q1, median, q3, high."""
        return self.low, self.q1, self.median, self.q3, self.high

    @property
    def defined(self) -> bool:
        """Whether the noisy count of the group is positive; files have numbers of such boxes alone."""
        return self.records is None or self.records > 0

    @property
    def told(self) -> bool:
        """Whether people are told the box: the number of records with its noise is at least 1, or not known."""
        return self.records is None or self.records >= FEWEST


def inverse(grid: Grid, probabilities: Float64, shares: Float64) -> Float64:
    """The first points at which a curve reaches some shares in (0, 1], as numbers of the grid."""
    bins = np.searchsorted(probabilities, shares, side="left")
    before = np.concatenate(([0.0], probabilities))[bins]
    mass = probabilities[bins] - before
    within = np.where(mass > 0, (shares - before) / np.where(mass > 0, mass, 1.0), 1.0)
    low, high = lower_ends(grid)[bins], grid.thresholds[bins]
    numbers = low + np.clip(within, 0, 1) * (high - low)
    if grid.unit != "number":
        numbers = np.minimum(np.ceil(numbers), np.floor(high))
    return np.asarray(numbers, dtype=np.float64)


def middle(grid: Grid, place: int) -> float:
    """The middle of a bin, where the median of its records is if they lie evenly; as a number of the grid."""
    low, high = float(lower_ends(grid)[place]), float(grid.thresholds[place])
    number = (low + high) / 2
    return number if grid.unit == "number" else min(math.ceil(number), math.floor(high))


def box_of(curve: Curve, group: LabelValue | None) -> Box:
    """The box of a curve; post-processing."""
    grid, shares = curve.grid, curve.probabilities
    n = min(max(1, round(curve.records)), _MOST_RECORDS)

    def value(number: int) -> float:
        return float(inverse(grid, shares, np.array((number - 0.5) / n)))

    q1, median, q3 = (float(number) for number in inverse(grid, shares, np.array(QUARTERS)))
    reach = WHISKER * (q3 - q1)
    numbers = range(1, n + 1)
    below = bisect.bisect_left(numbers, q1 - reach, key=value)
    within = bisect.bisect_right(numbers, q3 + reach, key=value)
    # of few records the outermost may lie inside the box
    low = min(value(min(below + 1, n)), q1)
    high = max(value(max(within, 1)), q3)
    shown = [*_spread(1, below), *_spread(within + 1, n)]
    first, last = np.searchsorted(shares, [0.25, 0.75], side="left")
    return Box(
        group,
        low,
        q1,
        median,
        q3,
        high,
        below=below,
        above=n - within,
        outliers=tuple(value(number) for number in shown),
        records=curve.records,
        flat=bool(first == last),
    )


def _spread(first: int, last: int) -> list[int]:
    """Whole numbers from first to last: all of a few, else evenly spaced ones with both ends."""
    if last - first < SHOWN_OUTLIERS:
        return list(range(first, last + 1))
    return [first + (last - first) * step // (SHOWN_OUTLIERS - 1) for step in range(SHOWN_OUTLIERS)]


def selection_grants(privacy: Privacy, shares: Sequence[Fraction]) -> tuple[tuple[PureDP, ...], bool]:
    """The epsilon of each of several selections that together keep a guarantee, and whether they are priced in zCDP.

    Epsilons add up; in zCDP halves of their squares do, which allows more where the guarantee is in zCDP, and
    where delta is large.
    """
    if isinstance(privacy, PureDP):
        return tuple(PureDP(privacy.epsilon * share) for share in shares), False
    rho = gaussian_rho(privacy) if isinstance(privacy, ApproxDP) else privacy
    squares = tuple(pure_epsilon(ZeroConcentratedDP(rho.rho * share)) for share in shares)
    if isinstance(privacy, ApproxDP):
        plain = tuple(PureDP(privacy.epsilon * share) for share in shares)
        if min(plain, key=_size).epsilon >= min(squares, key=_size).epsilon:
            return plain, False
    return squares, True


def _joined(grants: Sequence[PureDP], *, concentrated: bool) -> PureDP | ZeroConcentratedDP:
    """What several selections that are priced alike cost together."""
    if concentrated:
        return ZeroConcentratedDP(sum((grant.epsilon**2 / 2 for grant in grants), Fraction(0)))
    return PureDP(sum((grant.epsilon for grant in grants), Fraction(0)))


def _size(grant: PureDP) -> Fraction:
    return grant.epsilon


def five_numbers(
    binning: Binning,
    group: LabelValue | None,
    terms: Terms,
    *,
    shares: Sequence[Fraction],
    beyond: int,
    together: bool,
) -> Generator[Query, Answer, Box]:
    """Find both ends, each by a selection of its own, and then the quartiles between them.

    Privacy: the losses of three or five selections add up to at most `terms.privacy`.
    """
    grants, concentrated = selection_grants(terms.privacy, shares)
    ends = []
    for side, grant in (("low", grants[0]), ("high", grants[4])):
        answer = yield design_sparse_vector(
            binning, side, privacy=grant, unit=terms.unit, beyond=beyond, concentrated=concentrated
        )
        ends.append(int(answer.values[0]))
    first, last = min(ends), max(ends)
    results = []
    if together:
        quarters = [Fraction(quarter, 4) for quarter in (1, 2, 3)]
        answer = yield design_joint(
            binning, quarters, privacy=_joined(grants[1:4], concentrated=concentrated), unit=terms.unit
        )
        results = np.clip(answer.values, first, last).tolist()
    else:
        for quarter, grant in zip((1, 2, 3), grants[1:4], strict=True):
            score = QuantileScore(Fraction(quarter, 4), first=first, last=last)
            answer = yield design_noisy_max(binning, score, privacy=grant, unit=terms.unit, concentrated=concentrated)
            results.append(first + int(answer.values[0]))
    q1, median, q3 = (middle(binning.grid, place) for place in sorted(results))
    return Box(
        group,
        float(lower_ends(binning.grid)[first]),
        q1,
        median,
        q3,
        float(binning.grid.thresholds[last]),
        records=None if answer.total is None else float(answer.total),
        flat=min(results) == max(results),
    )


# --- Intervals of a box, by inverting the band of its curve
#
# With the stated confidence the band holds the whole true curve, and where it does, the true quantile of every share
# lies between the points at which the band's two ends reach that share. So the three intervals of a box hold at once,
# whatever was asked of the curve besides. An end is moved to the box's own number where smoothing left that outside,
# which only widens the interval. Proof: `docs/proofs/boxes.md`.

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
