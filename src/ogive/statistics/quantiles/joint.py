"""A few quantiles by one joint selection, and their intervals by a curve that a part of the guarantee pays for.

The bins of all quantiles are chosen together, with a probability that falls exponentially with the number of records
that would have to change until they were exactly right. Such a choice says nothing of places that were not chosen, and
no interval follows from it. So a curve is measured besides, by an unbiased strategy at a share of the guarantee, and
its band is inverted at the wanted shares, as for quantiles that are read off a curve.

Source: `docs/proofs/joint.md`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ogive.columns import Binning
from ogive.privacy import exact
from ogive.queries import CurveQuery, design_joint
from ogive.queries.joint import MOST_UNIT, common_unit
from ogive.statistics.base import Terms
from ogive.statistics.curve import bins as curve_bins
from ogive.statistics.curve.bands.simultaneous import interval_simulations
from ogive.statistics.methods.base import curve_from
from ogive.statistics.methods.together import Asked, Procedure, ask_together, check_served
from ogive.statistics.methods.unbiased import choose
from ogive.strategies import Strategy

INTERVAL_SHARE = Fraction(1, 4)
"""Of the guarantee, for the curve that intervals are read off."""

LARGEST_INTERVAL_SHARE = Fraction(9, 10)


@dataclass(frozen=True)
class JointlySelected:
    """The bins that were found, and the bins between whose ends each interval lies; bins number from 0."""

    found: list[int]
    low: list[int]
    high: list[int]


def short_shares(probabilities: Sequence[float]) -> tuple[Fraction, ...]:
    """The probabilities as fractions, in their order; one that is the nearest number to a short fraction is that.

    So 1 / 3 in floating point is one third, of which there is a joint selection.

    Raises:
        ParameterError: a joint selection of them is not possible.
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
) -> Procedure[JointlySelected]:
    """Select all quantiles together, and measure a curve for their intervals.

    Args:
        binning: Column and grid; its bins are the candidates.
        probabilities: Wanted shares, in any order.
        confidence_level: Of all intervals at once, for the population's quantiles.
        interval_share: Of the guarantee, for the curve; with 0 there is none, and intervals are the bounds.
        terms: What all of it may cost together.

    Privacy:
        `terms.privacy` for both answers together.
    """
    shares = short_shares(probabilities)
    last = binning.grid.bins - 1
    order = sorted(range(len(shares)), key=lambda number: shares[number])

    def points(shared: Terms) -> Procedure[list[int]]:
        answer = yield design_joint(binning, sorted(shares), privacy=shared.privacy, unit=shared.unit)
        chosen = answer.values.tolist()
        return [chosen[order.index(number)] for number in range(len(shares))]

    def ends(shared: Terms) -> Procedure[tuple[list[int], list[int]]]:
        return (yield from _ends(binning, shares, confidence_level, shared))

    asked: list[Asked[Any]] = [Asked(1 - interval_share, points)]
    if interval_share:
        asked.append(Asked(interval_share, ends))
    tried = dataclasses.replace(terms, simulations=0)
    check_served(ask_together(asked, tried), tried)
    told = yield from ask_together(asked, terms)
    found = told[0]
    low, high = told[1] if interval_share else ([0] * len(shares), [last] * len(shares))
    # the interval of a quantile that was selected beyond it reaches to its bin, which only widens it
    return JointlySelected(found, list(map(min, low, found)), list(map(max, high, found)))


def unbiased_strategy(binning: Binning, terms: Terms) -> Strategy:
    """The unbiased strategy of a curve that is served and has the least error."""
    return choose(
        binning.grid.bins,
        terms.privacy,
        terms.adjacency,
        "auto",
        lambda candidate: terms.refusal(CurveQuery(binning, candidate)),
        rows=terms.unit.max_rows_per_person,
    )


def _ends(
    binning: Binning, shares: Sequence[Fraction], confidence_level: Fraction, terms: Terms
) -> Procedure[tuple[list[int], list[int]]]:
    """The bins in which the intervals of quantiles begin and end."""
    strategy = unbiased_strategy(binning, terms)
    answer = yield CurveQuery(binning, strategy)
    wanted = np.array([float(share) for share in shares])
    if terms.simulations == 0:
        return [0] * len(shares), [binning.grid.bins - 1] * len(shares)
    curve = curve_from(answer, binning, strategy, terms, "isotonic")
    simulations = interval_simulations(curve.strategy, confidence_level, terms.simulations)
    band = curve.band(float(confidence_level), simulations=simulations, rows_per_person=terms.unit.max_rows_per_person)
    low, high = curve_bins.interval_bins(wanted, band)
    return low.tolist(), high.tolist()
