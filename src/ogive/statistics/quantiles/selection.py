"""Quantiles by private selection: one by one, or jointly, and when "auto" selects them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import pairwise
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np

from ogive.accounting import pure_epsilon
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64, Int64
from ogive.errors import OgiveError, ParameterError
from ogive.noise.laws import draw_public
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP, exact
from ogive.queries import (
    CurveQuery,
    JointQuantilesQuery,
    NoisyMaxQuery,
    QuantileScore,
    Query,
    design_joint,
    design_noisy_max,
)
from ogive.queries.selection import MOST_UNIT, common_unit
from ogive.statistics.base import Terms
from ogive.statistics.curve.quantile_intervals import quantile_bins
from ogive.statistics.methods.base import CurveTask, curve_from, mean_variance, simulations_of
from ogive.statistics.methods.choose import unbiased
from ogive.statistics.methods.together import Procedure, Weighted, ask_together, check_served, rehearse, share_of
from ogive.strategies import Strategy
from ogive.strategies.base import approximates

# --- Single quantiles and their intervals by selections
#
# A curve is exact to some noise at every threshold at once. Where a few quantiles alone are wanted, that is more than
# is needed: each of them is selected among the bins by a noisy maximum with exponential noise (permute-and-flip), so
# its error grows with the logarithm of the number of bins. Bins are compared by how many records their rank is off, on
# both sides, so that many records of one value lead to that value.
#
# The ends of an interval are selections too, of ranks that lie outside by what sampling and the selection can be off.
#
# Source:
#     Ding et al. 2021 and McKenna and Sheldon 2020 for the selection. Prices and intervals: `docs/proofs/selection.md`.

MOST_QUANTILES = 9
"""Of one release; more are read off a curve with less noise."""

POINT, END = Fraction(4), Fraction(1)
"""Weights of a quantile and of each end of its interval."""

USUAL_RECORDS = 10_000
"""The number of records for which intervals are best where neither it nor a guess of it is public."""

_STEPS = 1000
_ROOM = 1 + 1e-9


def scores_of(probabilities: Sequence[float], bins: int) -> tuple[QuantileScore, ...]:
    """How bins are compared for each quantile."""
    if len(probabilities) > MOST_QUANTILES:
        raise ParameterError(
            f"`method='exponential'` is for at most {MOST_QUANTILES} quantiles, got {len(probabilities)}; every other "
            "method has all quantiles at one price"
        )
    return tuple(QuantileScore(exact(share, "a probability"), first=0, last=bins - 1) for share in probabilities)


@dataclass(frozen=True)
class Selected:
    """The bins of each quantile and of the ends of its interval; bins number from 0."""

    places: list[int]
    low: list[int]
    high: list[int]


@dataclass(frozen=True)
class _Margin:
    """By how many records the target of an end lies outside, as a share of the records and a number of them."""

    share: Fraction
    records: int


def select_quantiles(
    binning: Binning, probabilities: Sequence[float], *, confidence_level: Fraction, guess: int | None, terms: Terms
) -> Procedure[Selected]:
    """Select each quantile, and then the ends of its interval, all within `terms.privacy`."""
    bins = binning.grid.bins
    scores = scores_of(probabilities, bins)
    chance = (1 - float(confidence_level)) / (4 * len(scores))
    points: dict[int, tuple[int, int | None, bool]] = {}

    def point(number: int, shared: Terms) -> Procedure[int]:
        answer = yield _query(binning, scores[number], shared)
        points[number] = (int(answer.values[0]), answer.total, answer.noisy)
        return points[number][0]

    def end(number: int, side: int, shared: Terms) -> Procedure[int]:
        _, total, noisy = points[number]
        wanted = scores[number].probability
        margin = _sampling(wanted if side < 0 else 1 - wanted, total, guess, chance)
        score = QuantileScore(wanted + side * margin.share, first=0, last=bins - 1)
        strays = _strays(_query(binning, score, shared), chance) if noisy else 0
        answer = yield _query(binning, dataclasses.replace(score, shift=side * (margin.records + strays)), shared)
        return int(answer.values[0])

    # below all records and above them nothing has to be found
    ends = [
        (number, side)
        for number, score in enumerate(scores)
        for side, outermost in ((-1, 0), (1, 1))
        if score.probability != outermost
    ]
    procedures: list[Weighted[Any]] = [Weighted(POINT, partial(point, number)) for number in range(len(scores))]
    procedures += [Weighted(END, partial(end, number, side)) for number, side in ends]
    tried = dataclasses.replace(terms, simulations=0)
    check_served(ask_together(procedures, tried), tried)
    answers = yield from ask_together(procedures, terms)
    result = answers[: len(scores)]
    outer = dict(zip(ends, answers[len(scores) :], strict=True))
    low = [outer.get((number, -1), 0) for number in range(len(scores))]
    high = [outer.get((number, 1), bins - 1) for number in range(len(scores))]
    return _in_order(probabilities, result, low, high)


def _in_order(wanted: Sequence[float | Fraction], result: list[int], low: list[int], high: list[int]) -> Selected:
    """The bins, increasing with the probability as quantiles do, and each within its interval; post-processing."""
    order = sorted(range(len(wanted)), key=wanted.__getitem__)
    columns: list[list[int]] = []
    for each in (result, low, high):
        column = [0] * len(each)
        for number, place in zip(order, sorted(each), strict=True):
            column[number] = place
        columns.append(column)
    result, low, high = columns
    return Selected(result, list(map(min, low, result)), list(map(max, high, result)))


def _query(binning: Binning, score: QuantileScore, terms: Terms) -> NoisyMaxQuery:
    """One selection at the whole of a pure or concentrated guarantee."""
    concentrated = isinstance(terms.privacy, ZeroConcentratedDP)
    privacy = pure_epsilon(terms.privacy) if isinstance(terms.privacy, ZeroConcentratedDP) else terms.privacy
    assert isinstance(privacy, PureDP), "guarantees are divided as pure or concentrated ones"
    return design_noisy_max(binning, score, privacy=privacy, unit=terms.unit, concentrated=concentrated)


def _sampling(room: Fraction, total: int | None, guess: int | None, chance: float) -> _Margin:
    """What a sample's count below a point is off, with a small chance of more: Hoeffding's sqrt(n ln(1 / chance) / 2).

    Where n is private, a line lies above that root for every n: a share s of the records and ln(1 / chance) / (8 s).
    """
    needed = -math.log(chance)
    if total is not None:
        return _Margin(Fraction(0), math.ceil(math.sqrt(total * needed / 2) * _ROOM))
    best = math.sqrt(needed / 8 / (guess or USUAL_RECORDS))
    share = min(Fraction(max(1, math.ceil(best * _STEPS)), _STEPS), room)
    return _Margin(share, math.ceil(needed / (8 * float(share)) * _ROOM))


def _strays(query: NoisyMaxQuery, chance: float) -> int:
    """By how many ranks a selection is off, with a small chance of more.

    Some bin is exactly right, and the one that leads is off by no more than its own noise. Some of N values of
    geometric noise is k or more with probability at most N exp(-k / scale).
    """
    score = query.score
    assert isinstance(score, QuantileScore)
    reach = float(query.law.scale) * math.log(score.candidates / chance)
    return math.ceil(reach / float(1 << query.bits) / score.probability.denominator * _ROOM)


# --- A few quantiles by one joint selection, with intervals from a curve
#
# The bins of all quantiles are chosen together, with a probability that falls exponentially with the number of records
# that would have to change until they were exactly right. Such a choice says nothing of places that were not chosen,
# and no interval follows from it. So a curve is measured besides, by an unbiased strategy at a share of the guarantee,
# whose quantiles have intervals, as those that are read off a curve.
#
# Source: `docs/proofs/joint.md`.

INTERVAL_SHARE = Fraction(1, 4)
"""Of the guarantee, for the curve that intervals are read off."""

LARGEST_INTERVAL_SHARE = Fraction(9, 10)


def short_shares(probabilities: Sequence[float]) -> tuple[Fraction, ...]:
    """The probabilities as fractions, in their order; one that is the nearest number to a short fraction is that.

    So 1 / 3 in floating point is one third, of which there is a joint selection.
    """
    shares = tuple(map(_short, probabilities))
    common_unit(shares)
    return shares


def _short(probability: float) -> Fraction:
    short = Fraction(probability).limit_denominator(MOST_UNIT)
    return short if float(short) == probability else exact(probability, "a probability")


def select_jointly(
    binning: Binning,
    probabilities: Sequence[float],
    *,
    confidence_level: Fraction,
    interval_share: Fraction,
    terms: Terms,
) -> Procedure[Selected]:
    """Select all quantiles together, and measure a curve for their intervals, both within `terms.privacy`."""
    shares = short_shares(probabilities)
    last = binning.grid.bins - 1
    order = sorted(range(len(shares)), key=lambda number: shares[number])

    def points(shared: Terms) -> Procedure[list[int]]:
        answer = yield design_joint(binning, sorted(shares), privacy=shared.privacy, unit=shared.unit)
        chosen = answer.values.tolist()
        return [chosen[order.index(number)] for number in range(len(shares))]

    def ends(shared: Terms) -> Procedure[tuple[list[int], list[int]]]:
        return (yield from _ends(binning, shares, confidence_level, shared))

    procedures: list[Weighted[Any]] = [Weighted(1 - interval_share, points)]
    if interval_share:
        procedures.append(Weighted(interval_share, ends))
    tried = dataclasses.replace(terms, simulations=0)
    check_served(ask_together(procedures, tried), tried)
    answers = yield from ask_together(procedures, terms)
    result = answers[0]
    low, high = answers[1] if interval_share else ([0] * len(shares), [last] * len(shares))
    # the interval of a quantile that was selected beyond it reaches to its bin, which only widens it
    return Selected(result, list(map(min, low, result)), list(map(max, high, result)))


def _ends(
    binning: Binning, shares: Sequence[Fraction], confidence_level: Fraction, terms: Terms
) -> Procedure[tuple[list[int], list[int]]]:
    """The bins in which the intervals of quantiles begin and end."""
    strategy = unbiased("auto", CurveTask(binning, terms))
    answer = yield CurveQuery(binning, strategy)
    wanted = np.array([float(share) for share in shares])
    if terms.simulations == 0:
        return [0] * len(shares), [binning.grid.bins - 1] * len(shares)
    curve = curve_from(answer, binning, strategy, terms, "isotonic")
    options = simulations_of(curve, float(confidence_level), terms)
    low, high = quantile_bins(curve, wanted, float(confidence_level), **options)
    return low.tolist(), high.tolist()


# --- A few quantiles by one joint selection, with intervals from counts at a few thresholds near them
#
# With each quantile two bins are selected, beyond which its interval hardly extends: they are as many ranks away as
# sampling and noise can be off. Records are then counted, with noise, at thresholds that lie between these bins and
# a little beyond. They are few, so their noise is much less than that of a whole curve. An interval closes in from both
# sides, from the outermost threshold on, as long as the counts refuse that the quantile lies beyond the next one.
#
# The targets and the number of thresholds follow from public quantities; the thresholds from what was selected, and the
# price from their number alone. Source: `docs/proofs/near.md`.

MOST_COUNTED = 3
"""Quantiles that are counted: of each three bins are selected."""

COUNTS = Fraction(1, 2)
"""Of the guarantee, for the counts."""

_RUNGS = (0.6, 0.8, 1.0, 1.6, 4.0)
"""Thresholds on each side, as parts of the way from the quantile's bin to the outer one."""

_LEAST = 1 / 128
"""The least way for the farther ones, as a part of all bins."""

_SLACK = 1.5
"""Deviations of selection and noise by which the outer bins lie beyond the ends that are expected."""

_APART = 1.2
"""How much wider intervals are than they would be if each rank had a threshold."""

_NOISES, _POINTS, _STEPS_OF_LAW, _HALVINGS = 10_000, 801, 8001, 30
_COUNTED_SEED = 0x6E656172


class Predicted(NamedTuple):
    """Of quantiles, in records: their expected distance from the ranks, and the largest half width of an interval."""

    error: float
    half: float


def counted_cells(quantiles: int) -> int:
    """In how many cells records are counted."""
    return 2 * len(_RUNGS) * quantiles + 1


def select_and_count(
    binning: Binning, probabilities: Sequence[float], *, confidence_level: Fraction, guess: int | None, terms: Terms
) -> Procedure[Selected]:
    """Select quantiles and thresholds near them together, and count at these, both within `terms.privacy`."""
    shares, last = check_counted(binning, probabilities), binning.grid.bins - 1
    chosen: list[int] = []

    def points(shared: Terms) -> Procedure[None]:
        counting = dataclasses.replace(shared, privacy=share_of(shared.privacy, COUNTS / (1 - COUNTS)))
        targets = _targets(binning, shares, confidence_level, guess, shared, counting)
        answer = yield design_joint(binning, sorted(targets), privacy=shared.privacy, unit=shared.unit)
        order = sorted(range(len(targets)), key=targets.__getitem__)
        chosen[:] = (answer.values[order.index(number)] for number in range(len(targets)))

    def ends(shared: Terms) -> Procedure[tuple[list[int], list[int]]]:
        places = _rungs(np.array(chosen).reshape(3, -1), counted_cells(len(shares)), last)
        grid = binning.grid
        near = Grid("explicit", grid.low, grid.high, len(places), grid.unit, tuple(grid.thresholds[places].tolist()))
        there = dataclasses.replace(binning, grid=near)
        strategy = unbiased("auto", CurveTask(there, shared))
        answer = yield CurveQuery(there, strategy)
        if terms.simulations == 0:
            return [0] * len(shares), [last] * len(shares)
        return closed_in(places, answer, strategy, shares, 1 - confidence_level, terms.unit.max_rows_per_person)

    procedures: list[Weighted[Any]] = [Weighted(1 - COUNTS, points), Weighted(COUNTS, ends)]
    tried = dataclasses.replace(terms, simulations=0)
    check_served(ask_together(procedures, tried), tried)
    _, (low, high) = yield from ask_together(procedures, terms)
    # counts say more than a selection that lies beyond them
    result = np.clip(chosen[: len(shares)], low, high).tolist()
    return _in_order(shares, result, low, high)


def check_counted(binning: Binning, probabilities: Sequence[float]) -> tuple[Fraction, ...]:
    """The probabilities as fractions; refused where there are too many of them, or too few thresholds."""
    if len(probabilities) > MOST_COUNTED:
        raise ParameterError(f"`method='counted'` is for at most {MOST_COUNTED} quantiles, got {len(probabilities)}")
    if binning.grid.bins < counted_cells(len(probabilities)):
        raise ParameterError(
            f"`method='counted'` needs at least {counted_cells(len(probabilities))} thresholds, got "
            f"{binning.grid.bins}; a curve of so few has no more noise"
        )
    return short_shares(probabilities)


def _spread(
    binning: Binning, shares: Sequence[Fraction], level: Fraction, guess: int | None, terms: Terms, counting: Terms
) -> tuple[int, list[float], float]:
    """The number of records that is counted on, the half width at each quantile, and what selection and noise add."""
    records = terms.records or guess or USUAL_RECORDS
    cells = binning.on(Grid.linear(0, 1, bins=counted_cells(len(shares))))
    variance = _variance(unbiased("auto", CurveTask(cells, counting)), counting)
    off = joint_ranks_off(design_joint(binning, sorted(shares), privacy=terms.privacy, unit=terms.unit)).mean
    half = [_half(share, records, variance, level, len(shares)) for share in shares]
    return records, half, math.sqrt(variance + 4 * off**2)


def _half(share: float | Fraction, records: int, variance: float, level: Fraction, quantiles: int) -> float:
    """Half of the width of an interval in ranks, of several that hold at once."""
    far = NormalDist().inv_cdf(1 - float(1 - level) / (2 * quantiles))
    return far * math.sqrt(records * float(share * (1 - share)) + variance)


def _variance(strategy: Strategy, terms: Terms) -> float:
    """The largest variance of the noise of cumulative counts."""
    return float(np.max(strategy.variance(total_known=terms.adjacency is Adjacency.REPLACE)))


def _targets(
    binning: Binning, shares: Sequence[Fraction], level: Fraction, guess: int | None, terms: Terms, counting: Terms
) -> list[Fraction]:
    """The ranks of the quantiles, and of the outer bins below and above each."""
    records, half, slack = _spread(binning, shares, level, guess, terms, counting)
    unit = common_unit(shares)
    unit *= MOST_UNIT // unit
    steps = [max(1, math.ceil((each + _SLACK * slack) / records * unit)) for each in half]
    pairs = list(zip(shares, steps, strict=True))
    return [
        *shares,
        *(max(Fraction(0), share - Fraction(step, unit)) for share, step in pairs),
        *(min(Fraction(1), share + Fraction(step, unit)) for share, step in pairs),
    ]


def _rungs(chosen: Int64, cells: int, last: int) -> Int64:
    """The numbers of the thresholds at which records are counted: as many as cells, the last of which ends the last."""
    way = chosen[1:] - chosen[0]
    # records that share values may leave a side without any length
    far = np.maximum(np.maximum(np.abs(way), (chosen[2] - chosen[1]) / 2), last * _LEAST) * [[-1], [1]]
    wanted = np.rint(chosen[0] + np.array([part * (far if part > 1 else way) for part in _RUNGS])).astype(np.int64)
    wanted[:, 0] -= 1  # a lower end is right above a threshold
    distance = np.abs(np.arange(last) - np.clip(wanted, 0, last - 1).reshape(-1, 1)).min(axis=0)
    return np.append(np.sort(np.argsort(distance, kind="stable")[: cells - 1]), last)


def closed_in(
    places: Int64, answer: Any, strategy: Strategy, shares: Sequence[Fraction], tail: Fraction, rows: int = 1
) -> tuple[list[int], list[int]]:
    """The bins in which intervals begin and end, of one level for all; `rows` of a person may be alike."""
    noise = _Noise(answer.noise_of(strategy), answer.total is not None, answer.noisy)
    counts = strategy.estimate(answer.values, answer.total)
    records, room = answer.total, float(tail)
    if records is None:  # a bound of the private number, with a twentieth of what may fail
        records = max(1, math.ceil(counts[-1] + np.quantile(_simulated(noise)[-1], 1 - room / 20)))
        room *= 19 / 20
    low, high = [], []
    for share in map(float, shares):
        gap = (counts - share * counts[-1])[:-1]
        below, above = (_margin(noise, share, (records, rows), room / (2 * len(shares)), side) for side in (-1, 1))
        refused = int(np.argmin(np.append(gap < -below, False)))
        low.append(int(places[refused - 1]) + 1 if refused else 0)
        refused = int(np.argmin(np.append((gap > above)[::-1], False)))
        high.append(int(places[len(places) - 1 - refused]))
    return low, list(map(max, low, high))


class _Noise(NamedTuple):
    """What the noise of cumulative counts follows from."""

    strategy: Strategy
    total_known: bool
    noisy: bool


@lru_cache(maxsize=4)
def _simulated(noise: _Noise) -> Float64:
    """Simulated noise of the cumulative counts, shape (cells, releases), from public and fixed random numbers."""
    random, strategy = np.random.Generator(np.random.PCG64(_COUNTED_SEED)), noise.strategy
    drawn = tuple(draw_public(level.law, (_NOISES, level.nodes), random, rounded=True) for level in strategy.levels)
    return float(noise.noisy) * strategy.estimate(strategy.spread(drawn), 0 if noise.total_known else None).T


@lru_cache(maxsize=64)
def _margin(noise: _Noise, share: float, records: tuple[int, int], room: float, side: int) -> float:
    """How far below its rank (side -1), or above it, a noisy count may lie, but for a small chance.

    The thresholds were chosen after the records were seen, so for each number of records at or below the quantile the
    largest chance of any threshold counts.
    """
    drawn = _simulated(noise)
    rows = np.sort(-side * (drawn[:-1] - share * drawn[-1]), axis=1)
    off, weights = _binomial(share, math.ceil(records[0] / records[1]))
    off = off * records[1]
    reach = float(np.abs(rows).max() + np.abs(off).max()) + 1
    grid = np.linspace(-2 * reach, 2 * reach, _STEPS_OF_LAW)
    largest = np.max([np.searchsorted(row, grid, side="right") for row in rows], axis=0) / _NOISES
    low, high = 0.0, reach
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        chance = float(largest[np.searchsorted(grid, side * off - middle)] @ weights)
        low, high = (middle, high) if chance > room else (low, middle)
    return high


def _binomial(share: float, records: int) -> tuple[Float64, Float64]:
    """By how much a binomial number is off its mean, and with what chances; evenly spaced numbers stand for many."""
    from scipy.special import gammaln  # slow to import

    sd = math.sqrt(records * share * (1 - share))
    first, last = (math.floor(share * records + side * (9 * sd + 9)) for side in (-1, 1))
    numbers = np.arange(max(0, first), min(records, last) + 1, max(1, (last - first) // _POINTS), dtype=np.float64)
    if share in (0.0, 1.0):
        return np.zeros(1), np.ones(1)
    logs = numbers * math.log(share) + (records - numbers) * math.log1p(-share)
    logs += gammaln(records + 1) - gammaln(numbers + 1) - gammaln(records - numbers + 1)
    weights = np.exp(logs - logs.max())
    return numbers - share * records, weights / weights.sum()


# --- Predicted errors of selected quantiles
#
# The distances of a joint selection from the wanted ranks are then those of a continuous law that shrinks as 1 /
# epsilon, the same for all numbers of records. Its means were simulated, for evenly spaced quantiles; a test does so
# again.
#
# Of few records that is too little: where the parts between quantiles are no longer large beside these distances, a
# quantile may also be lost among the many bins beyond them. By how much was simulated, too, on average over smooth and
# lumpy records.


class RanksOff(NamedTuple):
    """Expected distances of quantiles from their ranks, in records: of one of them on average, and of the farthest."""

    mean: float
    largest: float


# times epsilon, for 1 to 9 quantiles
_FIXED = ((2.0, 2.0), (2.6, 3.6), (3.1, 4.9), (3.5, 6.1), (3.9, 7.2), (4.3, 8.2), (4.6, 9.1), (4.8, 9.9), (5.1, 10.7))
_FREE = ((1.0, 1.0), (1.4, 1.9), (1.5, 2.5), (1.8, 3.3), (2.0, 3.9), (2.1, 4.4), (2.2, 4.9), (2.3, 5.3), (2.4, 5.7))
_LOST, _MOST_LOST = 0.25, 3.0


def joint_ranks_off(query: JointQuantilesQuery, records: int | None = None) -> RanksOff:
    """What a joint selection is off by on average."""
    adjacency = Adjacency.ADD_OR_REMOVE if query.free_total else Adjacency.REPLACE
    quantiles = len(query.probabilities)
    mean, largest = (_FREE if query.free_total else _FIXED)[quantiles - 1]
    scale = 1.0 if records is None else _lost(query, records)
    if query.free_total:  # a smaller part than those of evenly spaced quantiles needs a larger scale
        scale *= (1 - min(_parts(query))) / (1 - 1 / (quantiles + 1))
    scale /= float(query.epsilon(adjacency))
    return RanksOff(mean * scale, largest * scale)


def smallest_part(query: JointQuantilesQuery, records: int) -> float:
    """How large the smallest part between quantiles is beside the distances of a selection from its ranks."""
    adjacency = Adjacency.ADD_OR_REMOVE if query.free_total else Adjacency.REPLACE
    smallest = min(part for part in _parts(query) if part > 0)
    return float(query.epsilon(adjacency)) * records * smallest / 2


def _lost(query: JointQuantilesQuery, records: int) -> float:
    """How many times farther off the quantiles of few records are than those of many."""
    return min(_MOST_LOST, 1 + _LOST * (math.log(query.binning.grid.bins) / smallest_part(query, records)) ** 2)


def _parts(query: JointQuantilesQuery) -> list[float]:
    """Shares of the records that the quantiles divide them into."""
    cuts = [0.0, *map(float, query.probabilities), 1.0]
    return [after - before for before, after in pairwise(cuts)]


# --- Whether "auto" selects quantiles or reads them off a curve
#
# Both errors are predicted in ranks, each with what its intervals cost: that of a selection by `joint_ranks_off`,
# that of a curve from the variance of the best unbiased strategy. A selection is asked for its first question on the
# given terms and gets no answer, so the noise that is compared is that of a release. `benchmarks/few_quantiles.py`
# measures what the choice takes.

Few = Literal["auto", "selected", "curve"]
Selection = Literal["exponential", "joint", "counted"]
Ask = Callable[[Selection, Terms], Generator[Query, Any, Any]]

_SMOOTHED = 0.6
"""What smoothing leaves of a curve's error at its quantiles, on average over smooth and lumpy records."""

_MEAN_OF_NORMAL = math.sqrt(2 / math.pi)

_MOST_QUICK = 6
"""Quantiles that are always drawn quickly."""

MOST_OF_UNKNOWN = 5
"""Quantiles that are selected where the number of records is neither public nor guessed: more of them are drawn slowly
if there are few records."""


def selection(binning: Binning, quantiles: int, ask: Ask, *, guess: int | None, terms: Terms) -> Selection | None:
    """The method that selects the quantiles, or None where they had better be read off a curve, or must be."""
    if not terms.private or terms.groups != 1:  # of groups, curves with all quantiles are compared
        return None
    records = terms.records if terms.records is not None else guess
    if records is None and quantiles > MOST_OF_UNKNOWN:
        return None
    try:
        joint = next(ask("joint", _quiet(terms)))
        assert isinstance(joint, JointQuantilesQuery)
        if records is not None and _slow(joint, records):
            return None
        if joint_ranks_off(joint, records).mean >= _curve_off(binning, terms):
            return None
        if quantiles > 1 or records is None or not _crowded(joint, records, terms):
            return "joint"
    except OgiveError:
        return None
    try:
        next(ask("exponential", _quiet(terms)))
    except OgiveError:  # a probability that is not a short fraction in decimals
        return "joint"
    return "exponential"


def counted_is_better(
    binning: Binning, probabilities: Sequence[float], ask: Ask, *, level: Fraction, guess: int | None, terms: Terms
) -> bool:
    """Whether quantiles had better be selected and counted than read off a curve, by error and width together."""
    records = terms.records or guess
    if not terms.private or terms.groups != 1 or not records:  # how wide intervals are is not known without a number
        return False
    try:
        check_counted(binning, probabilities)
        queries = rehearse(ask("counted", _quiet(terms)), _quiet(terms))
        curve = CurveQuery(binning, unbiased("auto", CurveTask(binning, terms)))
    except OgiveError:
        return False
    if isinstance(queries[0], JointQuantilesQuery) and _slow(queries[0], records):
        return False
    counted, read = (predicted(each, probabilities, records, level, terms.adjacency) for each in (queries, [curve]))
    return bool(counted and read and counted.half <= read.half and sum(counted) < sum(read))


def predicted(
    queries: Sequence[Query], probabilities: Sequence[float], records: int, level: Fraction, adjacency: Adjacency
) -> Predicted | None:
    """What is expected of quantiles that these queries are asked for; None where it depends on the records."""
    first, last = queries[0], queries[-1]
    selected = isinstance(first, JointQuantilesQuery)
    if not isinstance(last, CurveQuery) or last.points is not None or approximates(last.strategy):
        return None
    if len(queries) != 1 + selected:
        return None
    variance = np.asarray(last.strategy.variance(total_known=adjacency is Adjacency.REPLACE))
    half = max(_half(share, records, float(variance.max()), level, len(probabilities)) for share in probabilities)
    if isinstance(first, JointQuantilesQuery):
        off, half = joint_ranks_off(first, records).mean, _APART * half
    else:
        off = _SMOOTHED * _MEAN_OF_NORMAL * math.sqrt(float(variance.mean()))
    return Predicted(min(off, records / 2), min(half, records / 2))


def _slow(query: JointQuantilesQuery, records: int) -> bool:
    """Whether drawing may take seconds: many quantiles are proposed that are not in order, or lie among empty bins."""
    beyond = len(query.probabilities) - _MOST_QUICK
    return query.free_total and smallest_part(query, records) < beyond / 2 * math.log(query.binning.grid.bins)


def _crowded(query: JointQuantilesQuery, records: int, terms: Terms) -> bool:
    """Whether bins are so wide that a selection often finds the very one: there a noisy maximum errs less."""
    return records > query.binning.grid.bins * joint_ranks_off(query).mean / 4


def _quiet(terms: Terms) -> Terms:
    """The terms of a trial: nobody is told of a price, and no records are looked at."""
    return dataclasses.replace(terms, simulations=0, announce=lambda loss: None, preflight=lambda query: None)


def _curve_off(binning: Binning, terms: Terms) -> float:
    """By how many records a quantile is off that is read off a curve, on average."""
    strategy = unbiased("auto", CurveTask(binning, terms))
    return _SMOOTHED * _MEAN_OF_NORMAL * math.sqrt(mean_variance(strategy, terms.adjacency))
