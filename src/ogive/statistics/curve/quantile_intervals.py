"""Intervals of quantiles of a curve: by tests at two thresholds each, not by a band of all thresholds.

A quantile of a share p is the first threshold i with F_i >= p, so it is refused only if one of two true statements is:
F_i >= p, or F_{i-1} < p. Both concern thresholds that are fixed by the population, so one quantile needs two tests,
each at half of the error probability, however many thresholds there are. With R the raw counts, e their noise and B a
binomial number of n records and the share p, for all weights w >= 0 that sum to 1

    F_i >= p:   sum of w_j R_j over j >= i   is stochastically at least   B + sum of w_j e_j,
    F_i <  p:   sum of w_j R_j over j <= i   is stochastically at most    B + sum of w_j e_j,

since curves do not decrease. Each test takes means over windows of several lengths, in units of their deviations, and
compares the largest with a quantile of its simulated law, so that monotony is used. Several quantiles share the error
probability by the law of all their tests together. Proof: `docs/proofs/quantile_intervals.md`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ogive.columns.axis import to_labels
from ogive.core.arrays import Float64, Int64
from ogive.noise.laws import draw_public
from ogive.statistics.confidence import TARGETS, check_level
from ogive.statistics.curve.approximating import common_measurements, counts_at, prefixes
from ogive.statistics.curve.bands import FEWEST_SIMULATIONS, SIMULATED_VALUES
from ogive.statistics.curve.readings import QuantileInterval, interval_bins, lower_ends
from ogive.strategies.base import Strategy, approximates
from ogive.strategies.composed import SHARE_ROUNDING

if TYPE_CHECKING:
    from ogive.statistics.curve.base import CurveBase

_SEED = 0x7175616E74  # public and fixed
_PLACES = 24  # thresholds at which laws are simulated: all of few, else evenly spaced ones
_GROWTH = 4  # of one length of a window to the next
_REACH = 1.0  # longest window, as a part of what an interval would be wide if records were spread evenly
_TAIL_RUNS = 10  # simulations in each tail, at least
_FEWEST_RUNS, _MOST_RUNS, _RUN_VALUES, _BATCH_VALUES = 999, 9999, 1 << 20, 1 << 19
_MOST_THRESHOLDS = 1 << 12  # beyond, a simulation takes seconds, and bands are inverted

_LEAST_VARIANCE = 1e-12  # where there is neither noise nor sampling error
_ROUNDING = 1e-9  # more than what a count is off by that was computed in floating point, as a part of the records


@dataclass(frozen=True, eq=False)
class _Side:
    """Means of the noise over windows on one side of a threshold; for the other, axis and signs are turned.

    Fields:
        variance, covariance: Of the means over the windows that end at each threshold, and with the noise of the number
            of records, shape (L, N).
        places: Thresholds at which means were simulated, shape (P,).
        means: Shape (L, runs, P).
        last: Noise of the number of records, shape (runs,).
    """

    variance: Float64
    covariance: Float64
    places: Int64
    means: Float64
    last: Float64


def _windows(values: Float64, lengths: Int64) -> Float64:
    """Means over the windows that end at each threshold, cut off at the first, shape (L, ..., N)."""
    sums = np.concatenate((np.zeros((*values.shape[:-1], 1)), np.cumsum(values, axis=-1)), axis=-1)
    ends = np.arange(1, values.shape[-1] + 1)
    starts = [np.maximum(ends - length, 0) for length in lengths.tolist()]
    return np.stack([(sums[..., ends] - sums[..., start]) / (ends - start) for start in starts])


def _lengths(size: int, reach: float) -> Int64:
    """Lengths of windows, as powers up to a part of the axis."""
    return _GROWTH ** np.arange(1 + int(math.log(max(1.0, reach * size), _GROWTH)))


@lru_cache(maxsize=8)
def _sides(strategy: Any, total_known: bool, runs: int, size: int) -> tuple[_Side, _Side]:
    """The noise before a threshold and after it, of counts at `size` thresholds."""
    if strategy is None:
        none, draws = np.zeros((1, size)), np.zeros((1, runs, 1))
        return (_Side(none, none, np.zeros(1, dtype=np.int64), draws, draws[0, :, 0]),) * 2
    lengths = _lengths(size, _REACH)
    places = np.unique(np.rint(np.linspace(0, size - 1, _PLACES)).astype(np.int64))
    sums: list[tuple[Float64, list[Float64], list[Float64]]]
    sums = [(np.zeros((2, len(lengths), size)), [], []) for _ in range(2)]
    for errors in _errors(strategy, total_known, runs):
        for (squares, means, last), sign in zip(sums, (1, -1), strict=True):
            windows, total = _windows(sign * errors[:, ::sign], lengths), sign * errors[:, -1]
            squares += np.stack((np.square(windows).sum(axis=1), total @ windows)) / runs
            means.append(windows[..., places])
            last.append(total)
    before, after = (
        _Side(squares[0], squares[1], places, np.concatenate(means, axis=1), np.concatenate(last))
        for squares, means, last in sums
    )
    return before, after


def _errors(strategy: Strategy, total_known: bool, runs: int) -> Iterator[Float64]:
    """Simulated errors of unbiased counts, in batches of shape (rows, N)."""
    if approximates(strategy):
        none = np.zeros(len(strategy.features), dtype=np.int64)
        known = common_measurements(strategy, none, simulations=runs)
        yield counts_at(known, 0 if total_known else None, strategy.size)[2]
        return
    random = np.random.Generator(np.random.PCG64(_SEED))
    step = max(1, _BATCH_VALUES // sum(level.nodes for level in strategy.levels))
    for start in range(0, runs, step):
        rows = min(step, runs - start)
        drawn = [draw_public(level.law, (rows, level.nodes), random, rounded=True) for level in strategy.levels]
        yield strategy.estimate(strategy.spread(tuple(drawn)), 0 if total_known else None)


# --- The tests


@dataclass(frozen=True, eq=False)
class _Asked:
    """What is asked of a curve.

    Fields:
        raw: Unbiased counts, shape (N,).
        sides: Their noise before a threshold, and after it.
        total: Number of records where that is public.
        sampled: Most records that may have been drawn; 0 where the records themselves are asked about.
        rows: Most records of one person, which may all be alike.
        rounding: How far the counts may be off beside their noise.
        whole: Whether counts of the records themselves are whole numbers, as those wanted are then.
    """

    raw: Float64
    sides: tuple[_Side, _Side]
    total: int | None
    sampled: float
    rows: int
    rounding: float
    whole: bool

    @property
    def size(self) -> float:
        return float(self.raw[-1]) if self.total is None else float(self.total)

    def deviation(self, side: _Side, share: float, lengths: slice, places: Any = slice(None)) -> Float64:
        """Of the means over windows and their sampling error, shape (L, ...)."""
        noise = side.variance[lengths, places]
        if self.total is None:
            last = float(np.mean(np.square(side.last)))
            noise = noise - 2 * share * side.covariance[lengths, places] + share**2 * last
        sampling = self.rows * self.sampled * share * (1 - share)
        return np.sqrt(np.maximum(noise + sampling, _LEAST_VARIANCE))

    def noise(self, side: _Side, share: float, lengths: slice) -> Float64:
        """Simulated errors of the means over windows, shape (L, runs, P)."""
        own = side.means[lengths]
        return own if self.total is not None else own - share * side.last[:, np.newaxis]

    def strays(self, shares: Float64) -> Float64:
        """Sampling errors of the counts of increasing shares of the population, together, shape (k, runs)."""
        random = np.random.Generator(np.random.PCG64(_SEED + 1))
        people = math.ceil(self.sampled / self.rows)
        counts, before = np.zeros((len(shares), len(self.sides[0].last)), dtype=np.int64), 0.0
        for k, share in enumerate(shares.tolist()):
            earlier = counts[k - 1] if k else counts[0]
            chance = min(1.0, (share - before) / (1 - before)) if before < 1 else 0.0
            counts[k], before = earlier + random.binomial(people - earlier, chance), share
        return self.rows * (counts - people * shares[:, np.newaxis])

    def refusal(
        self, turn: int, share: float, excess: Float64, strays: Float64, tail: float, lengths: slice
    ) -> Float64:
        """By how much each threshold's excess is beyond what noise and sampling explain, in deviations, shape (N,).

        `turn` is 1 for the thresholds before, and -1 for those after, for which counts that are too small refuse.
        """
        side, size = self.sides[turn < 0], len(self.raw)
        law = self.noise(side, share, lengths) + turn * strays[:, np.newaxis]
        law = (law / self.deviation(side, share, lengths, side.places)[:, np.newaxis]).max(axis=0)
        rank = math.ceil((1 - tail) * (len(law) + 1)) - 1
        most = np.interp(np.arange(size), side.places, np.partition(law, rank, axis=0)[rank])
        windows = _windows(turn * excess[::turn] - self.rounding, _GROWTH ** np.arange(lengths.stop))
        refused: Float64 = (windows / self.deviation(side, share, lengths)).max(axis=0) - most
        return refused[::turn]

    def ends(self, share: float, strays: Float64, tail: float) -> tuple[int, int]:
        """The first and the last threshold at which the quantile may be."""
        if share == 0:
            return 0, 0
        at_least = below = share * self.size
        if self.whole:
            at_least = math.ceil(at_least - self.rounding)
            below = at_least - 1
        typical = float(np.sqrt(np.mean(self.deviation(self.sides[0], share, slice(1)) ** 2)))
        reach = 4 * _REACH * typical / max(self.size, 1.0)
        lengths = slice(min(len(self.sides[0].variance), len(_lengths(len(self.raw), reach))))
        low = self.refusal(-1, share, self.raw - at_least, strays, tail, lengths)
        before = self.refusal(1, share, self.raw - below, strays, tail, lengths)
        low[-1] = -np.inf  # F is 1 at the last threshold
        refused = np.maximum(low, np.append(-np.inf, before[:-1]))
        allowed = np.flatnonzero(refused <= max(0.0, float(refused.min())))
        return int(allowed[0]), int(allowed[-1])

    def each_tail(self, shares: Float64, strays: Float64, tail: float) -> float:
        """The error probability of each test, so that all of them together have twice `tail`.

        Noise is taken to be independent at different quantiles, which is least favorable unless it is negatively
        correlated. It is never less than what Bonferroni's inequality gives.
        """
        side, runs = self.sides[0], strays.shape[1]
        if len(shares) == 1:
            return tail
        places = np.abs(self.raw - shares[:, np.newaxis] * self.size).argmin(axis=1)
        nearest = np.abs(side.places - places[:, np.newaxis]).argmin(axis=1)
        rows = []
        for k, (share, place) in enumerate(zip(shares.tolist(), nearest.tolist(), strict=True)):
            noise = np.roll(self.noise(side, share, slice(1))[0, :, place], k * (runs // len(shares)))
            rows.append((strays[k] + noise) / self.deviation(side, share, slice(1), place))
        tails = []
        for errors in (np.array(rows), -np.array(rows)):
            order = np.sort(errors, axis=1)
            beyond = [runs - np.searchsorted(o, e, side="left") for o, e in zip(order, errors, strict=True)]
            tails.append((np.sort(np.min(beyond, axis=0))[int(tail * runs)] - 1) / runs)
        return max(tail / len(shares), float(min(tails)))


def _runs(strategy: Strategy | None, tail: Fraction, simulations: int | None) -> int | None:
    """How many releases are simulated, so that some are in each tail; None where that takes too many."""
    nodes = 1 if strategy is None else sum(level.nodes for level in strategy.levels)
    most = max(SIMULATED_VALUES // nodes, FEWEST_SIMULATIONS)
    usual = min(most, max(_FEWEST_RUNS, min(_MOST_RUNS, _RUN_VALUES // nodes))) if simulations is None else simulations
    runs = max(usual, min(most, math.ceil(_TAIL_RUNS / tail)))
    return None if (runs + 1) * tail < 1 else runs


def _counts(curve: CurveBase, runs: int) -> tuple[Int64, Float64, tuple[_Side, _Side]] | None:
    """Thresholds with unbiased counts, these counts, and their noise; None where there are none, or of mixtures."""
    strategy, total = curve.strategy, curve.total
    points, raw = np.arange(curve.grid.bins), curve.raw
    mixed: Any = getattr(strategy, "samples", ())
    if total == 0 or mixed or curve.grid.bins > _MOST_THRESHOLDS:
        return None
    if strategy is not None and approximates(strategy):
        if curve.measured is None or strategy.features.min() < 0:
            return None
        known = common_measurements(strategy, curve.measured, simulations=runs)
        if prefixes(known.features) is None:
            return None
        points, raw, _ = counts_at(known, total, curve.grid.bins)
    return points, raw, _sides(cast(Hashable, strategy), total is not None, runs, len(points))


def quantile_bins(
    curve: CurveBase,
    shares: Float64,
    confidence_level: float,
    *,
    target: str = "population",
    simultaneous: bool = True,
    simulations: int | None = None,
    rows_per_person: int | None = None,
    width: str = "even",
) -> tuple[Int64, Int64]:
    """The bins in which the intervals of quantiles begin and end, each of the shape of `shares`; see `Curve`."""
    tail = 1 - check_level(confidence_level)
    rows = curve.rows_of_one if rows_per_person is None else rows_per_person
    distinct, where = np.unique(shares, return_inverse=True)
    many = len(distinct) if simultaneous else 1
    runs = _runs(curve.strategy, tail / (2 * many), simulations) if distinct.size else None
    counts = None if runs is None or width != "even" or target not in TARGETS else _counts(curve, runs)
    if counts is None:
        band = curve.band(
            confidence_level, target=target, simulations=simulations, rows_per_person=rows_per_person, width=width
        )
        return interval_bins(shares, band)
    points, raw, sides = counts
    off, spent = float(np.abs(sides[0].last).max()), float(tail)
    if curve.total is None:  # one more draw of the noise is farther off with this probability
        if raw[-1] <= off:
            return np.zeros(shares.shape, dtype=np.int64), np.full(shares.shape, curve.grid.bins - 1)
        spent -= 2 / (len(sides[0].last) + 1)
    size = float(raw[-1]) + off if curve.total is None else curve.total
    rounding = size * (_ROUNDING + SHARE_ROUNDING * curve.people)
    sampled = size if target == "population" else 0.0
    whole = not (sampled or curve.people or curve.total is None)
    asked = _Asked(raw, sides, curve.total, sampled, rows, rounding, whole)
    strays = asked.strays(distinct)
    each = asked.each_tail(distinct, strays, spent / 2) if simultaneous else spent / 2
    ends = np.array([asked.ends(share, strays[k], each) for k, share in enumerate(distinct.tolist())])
    own = np.searchsorted(curve.probabilities, distinct, side="left")
    first, last = np.append(0, points[:-1] + 1)[ends[:, 0]], points[ends[:, 1]]
    first, last = (end[where].reshape(shares.shape) for end in (np.minimum(first, own), np.maximum(last, own)))
    return first, last


def quantile_interval(curve: CurveBase, shares: Float64, confidence_level: float, **options: Any) -> QuantileInterval:
    """Ends between which true quantiles lie, as the user would write them; options as for `quantile_bins`."""
    first, last = quantile_bins(curve, shares, confidence_level, **options)
    grid = curve.grid
    return QuantileInterval(to_labels(grid, lower_ends(grid)[first]), to_labels(grid, grid.thresholds[last]))
