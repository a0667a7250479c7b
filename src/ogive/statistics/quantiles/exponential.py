"""Single quantiles and their intervals by selections: the bin whose rank is nearest to the wanted one, with noise.

A curve is exact to some noise at every threshold at once. Where a few quantiles alone are wanted, that is more than is
needed: each of them is selected among the bins by a noisy maximum with exponential noise (permute-and-flip), so its
error grows with the logarithm of the number of bins. Bins are compared by how many records their rank is off, on both
sides, so that many records of one value lead to that value.

The ends of an interval are selections too, of ranks that lie outside by what sampling and the selection can be off.

Source:
    Ding et al. 2021 and McKenna and Sheldon 2020 for the selection. Prices and intervals: `docs/proofs/selection.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from ogive.accounting import pure_epsilon
from ogive.columns import Binning
from ogive.errors import ParameterError
from ogive.privacy import PureDP, ZeroConcentratedDP, exact
from ogive.queries import NoisyMaxQuery, QuantileScore, design_noisy_max
from ogive.statistics.base import Terms
from ogive.statistics.methods.together import Asked, Procedure, ask_together, check_served

MOST_QUANTILES = 9
"""Of one release; more are read off a curve with less noise."""

POINT, END = Fraction(4), Fraction(1)
"""Weights of a quantile and of each end of its interval."""

USUAL_RECORDS = 10_000
"""The number of records for which intervals are best where neither it nor a guess of it is public."""

_STEPS = 1000
_ROOM = 1 + 1e-9


def scores_of(probabilities: Sequence[float], bins: int) -> tuple[QuantileScore, ...]:
    """How bins are compared for each quantile.

    Raises:
        ParameterError: there are too many, or one is no fraction with a small denominator.
    """
    if len(probabilities) > MOST_QUANTILES:
        raise ParameterError(
            f"`method='exponential'` is for at most {MOST_QUANTILES} quantiles, got {len(probabilities)}; every other "
            "method has all quantiles at one price"
        )
    return tuple(QuantileScore(exact(share, "a probability"), first=0, last=bins - 1) for share in probabilities)


@dataclass(frozen=True)
class Selected:
    """The bins that were found: of each quantile, and of the ends of its interval."""

    found: list[int]
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
    """Select each quantile, and then the ends of its interval.

    Args:
        binning: Column and grid; its bins are the candidates.
        probabilities: Wanted shares, in [0, 1].
        confidence_level: Of all intervals at once, for the population's quantiles.
        guess: A public guess of the number of records.
        terms: What all of it may cost together.

    Privacy:
        `terms.privacy` for all selections together.
    """
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
        answer = yield _query(binning, replace(score, shift=side * (margin.records + strays)), shared)
        return int(answer.values[0])

    # below all records and above them nothing has to be found
    ends = [(number, side) for number, score in enumerate(scores) for side in (-1, 1) if _has_end(score, side)]
    asked: list[Asked[Any]] = [Asked(POINT, partial(point, number)) for number in range(len(scores))]
    asked += [Asked(END, partial(end, number, side)) for number, side in ends]
    tried = replace(terms, simulations=0)
    check_served(ask_together(asked, tried), tried)
    told = yield from ask_together(asked, terms)
    found = told[: len(scores)]
    outer = dict(zip(ends, told[len(scores) :], strict=True))
    low = [outer.get((number, -1), 0) for number in range(len(scores))]
    high = [outer.get((number, 1), bins - 1) for number in range(len(scores))]
    return _in_order(scores, found, low, high)


def _in_order(scores: Sequence[QuantileScore], found: list[int], low: list[int], high: list[int]) -> Selected:
    """The bins, increasing with the probability as quantiles do, and each within its interval; post-processing."""
    order = sorted(range(len(scores)), key=lambda number: scores[number].probability)
    columns: list[list[int]] = []
    for each in (found, low, high):
        column = [0] * len(each)
        for number, place in zip(order, sorted(each), strict=True):
            column[number] = place
        columns.append(column)
    found, low, high = columns
    return Selected(found, list(map(min, low, found)), list(map(max, high, found)))


def _has_end(score: QuantileScore, side: int) -> bool:
    return score.probability > 0 if side < 0 else score.probability < 1


def _query(binning: Binning, score: QuantileScore, terms: Terms) -> NoisyMaxQuery:
    """One selection at the whole of a pure or concentrated guarantee."""
    concentrated = isinstance(terms.privacy, ZeroConcentratedDP)
    privacy = pure_epsilon(terms.privacy) if isinstance(terms.privacy, ZeroConcentratedDP) else terms.privacy
    assert isinstance(privacy, PureDP), "guarantees are divided as pure or concentrated ones"
    return design_noisy_max(binning, score, privacy=privacy, unit=terms.unit, concentrated=concentrated)


def _sampling(room: Fraction, total: int | None, guess: int | None, chance: float) -> _Margin:
    """What a sample's count below a point is off, with a small chance of more: Hoeffding's sqrt(n ln(1 / chance) / 2).

    Where n is private, a line lies above that root for every n: a share s of the records and ln(1 / chance) / (8 s).

    Args:
        room: The largest share there can be, above 0.
        total: The number of records where it is public.
        guess: A public guess of it.
        chance: How often it may be off by more.
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
