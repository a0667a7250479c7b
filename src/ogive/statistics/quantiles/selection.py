"""Quantiles by private selection: one by one, or jointly, and when "auto" selects them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np

from ogive.accounting import pure_epsilon
from ogive.columns import Binning
from ogive.errors import OgiveError, ParameterError
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
from ogive.statistics.curve import readings as curve_bins
from ogive.statistics.methods.base import CurveTask, curve_from, interval_band, mean_variance
from ogive.statistics.methods.choose import unbiased
from ogive.statistics.methods.together import Procedure, Weighted, ask_together, check_served

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
    return _in_order(scores, result, low, high)


def _in_order(scores: Sequence[QuantileScore], result: list[int], low: list[int], high: list[int]) -> Selected:
    """The bins, increasing with the probability as quantiles do, and each within its interval; post-processing."""
    order = sorted(range(len(scores)), key=lambda number: scores[number].probability)
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
# and its band is inverted at the wanted shares, as for quantiles that are read off a curve.
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
    band = interval_band(curve, float(confidence_level), terms)
    low, high = curve_bins.interval_bins(wanted, band)
    return low.tolist(), high.tolist()


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

Few = Literal["selected", "curve"]
Selection = Literal["exponential", "joint"]
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
