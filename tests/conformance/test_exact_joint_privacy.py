"""Prices of joint selections against all neighbors of small data sets, with exact probabilities of every candidate.

No price is exceeded, each is nearly reached, and weights without what the proof asks for exceed it.
"""

import functools
from fractions import Fraction

import numpy as np
import pytest
from helpers import joint
from helpers.exact_loss import histograms, neighbors

from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.privacy import Adjacency, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import Answer, design_joint
from ogive.queries.joint_choice import Ranks
from ogive.queries.selection import _factors, common_unit
from ogive.statistics import Quantiles, Terms
from ogive.statistics.methods.together import rehearse

BINS, RECORDS = 4, 5
BINNING = Binning("x", Grid.linear(0, BINS, bins=BINS))
SHARES = [
    (Fraction(1, 2),),
    (Fraction(1, 10),),
    (Fraction(1, 4), Fraction(3, 4)),
    (Fraction(1, 2), Fraction(1, 2)),
    (Fraction(0), Fraction(1, 3), Fraction(1)),
    (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)),
]
ORDERS = (1.01, 2, 5, 50)


def costs(histogram, shares, *, free):
    unit = common_unit(shares)
    ranks = Ranks.of(np.array(histogram), unit, [int(share * unit) for share in shares])
    every = joint.candidates(BINS, len(shares))
    factor, _ = _factors(shares, free_total=free)
    return factor * (ranks.free_lengths(every) if free else ranks.lengths(every, np.full(len(every), ranks.records)))


@functools.cache
def all_costs(shares, *, free):
    return {h: costs(h, shares, free=free) for n in range(RECORDS + 2) for h in histograms(BINS, n)}


def pairs(adjacency, shares, *, free):
    """Costs of all candidates for all pairs of adjacent histograms of at most five records, once each way."""
    known = all_costs(shares, free=free)
    for n in range(RECORDS + 1):
        for here in histograms(BINS, n):
            for there in neighbors(here, adjacency):
                yield known[here], known[there]


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("shares", SHARES, ids=str)
def test_no_cost_moves_more_between_neighbors_than_the_price_assumes(shares, free, adjacency):
    query = design_joint(BINNING, shares, privacy=PureDP(1), unit=PrivacyUnit(adjacency))
    query = type(query)(BINNING, shares, query.law, free)
    moved = query.epsilon(adjacency) * query.law.scale / 2
    most = max(np.abs(there - here).max() for here, there in pairs(adjacency, shares, free=free))
    assert most <= moved
    if free is (adjacency is Adjacency.ADD_OR_REMOVE):
        assert most >= 0.6 * moved


# all shares under each adjacency
@pytest.mark.covering("epsilon", shares=str, epsilon=lambda epsilon: "any")
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("epsilon", ["1/2", "2"])
@pytest.mark.parametrize("shares", SHARES, ids=str)
def test_a_joint_selection_costs_its_price_and_no_more(shares, epsilon, adjacency):
    unit = PrivacyUnit(adjacency)
    query = design_joint(BINNING, shares, privacy=PureDP(epsilon), unit=unit)
    assert query.price(unit) == PureDP(epsilon)
    rho = float(Fraction(epsilon)) ** 2 / 8
    largest = divergence = 0.0
    for here, there in pairs(adjacency, shares, free=query.free_total):
        p, q = (joint.chances(each, query.law.scale) for each in (here, there))
        ratios = np.log(p) - np.log(q)
        largest = max(largest, np.abs(ratios).max())
        assert np.ptp(ratios) <= float(Fraction(epsilon)) + 1e-9
        for order in ORDERS:
            divergence = max(divergence, np.log(np.sum(p * np.exp((order - 1) * ratios))) / (order - 1) / order)
    assert largest <= float(Fraction(epsilon)) + 1e-9
    assert largest >= 0.35 * float(Fraction(epsilon))
    assert divergence <= rho * (1 + 1e-9)


def test_control_costs_of_a_fixed_total_priced_as_those_of_a_free_one_exceed_the_price():
    shares = SHARES[-1]
    query = design_joint(BINNING, shares, privacy=PureDP(1), unit=PrivacyUnit(Adjacency.ADD_OR_REMOVE))
    factor, _ = _factors(shares, free_total=True)
    ranges = [
        np.ptp(factor * (there - here)) / float(query.law.scale)
        for here, there in pairs(Adjacency.ADD_OR_REMOVE, shares, free=False)
    ]
    assert max(ranges) > 1.3


def test_control_walks_of_one_end_of_each_bin_move_further_than_shortest_ones_say():
    """With records of a bin below its cut all or none of the time, shared values are not found at all."""
    histogram, shares = (1, 8, 1, 0), (Fraction(1, 4), Fraction(3, 4))
    every = joint.candidates(BINS, 2)
    ranks = np.cumsum(histogram)[every]
    parts = np.diff(np.column_stack((np.zeros(len(every)), ranks, np.full(len(every), 10))), axis=1)
    ends = np.abs(parts - np.diff([0, 0.25, 0.75, 1]) * 10).sum(axis=1)
    assert every[np.argmin(costs(histogram, shares, free=False))].tolist() == [1, 1]
    assert every[np.argmin(ends)].tolist() != [1, 1]


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("privacy", [PureDP(1), ZeroConcentratedDP("1/8")], ids=str)
@pytest.mark.parametrize("share", ["0", "1/4"])
def test_quantiles_with_their_curve_cost_the_guarantee_together(share, privacy, adjacency):
    terms = Terms(privacy, PrivacyUnit(adjacency), lambda query: None)
    statistic = Quantiles("x", (0.5, 0.25), bounds=(0, BINS), bins=BINS, method="joint", interval_share=share)
    queries = rehearse(statistic.questions(terms), terms)
    assert len(queries) == (1 if share == "0" else 2)
    prices = [query.price(terms.unit) for query in queries]
    spent = [
        float(getattr(price, "rho", None) or getattr(price, "epsilon", None) or price.mu_squared / 2)
        for price in prices
    ]
    granted = float(getattr(privacy, "rho", None) or privacy.epsilon)
    assert 0.999 * granted < sum(spent) <= granted * (1 + 1e-12)
    assert spent[0] == pytest.approx(granted * float(1 - Fraction(share)), rel=1e-3)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_a_count_near_a_selected_quantile_costs_the_same_wherever_that_is(adjacency):
    """All neighbors of small histograms: exact chances of each selection, and the price of the counts after it."""
    terms = Terms(PureDP(2), PrivacyUnit(adjacency), lambda query: None, count=lambda: RECORDS)
    statistic = Quantiles("x", (0.5,), bounds=(0, 16), bins=16, method="counted", expected_records=RECORDS)
    first, _ = rehearse(statistic.questions(terms), terms)
    assert first.price(terms.unit).epsilon <= 1
    prices = set()
    for chosen in joint.candidates(16, 3)[::7]:
        asked = statistic.questions(terms)
        next(asked)
        second = asked.send(Answer(chosen, (RECORDS,) if adjacency is Adjacency.REPLACE else None))
        prices.add(second.price(terms.unit))
    (price,) = prices
    assert 0.999 < float(price.epsilon) <= 1
    shares, free = first.probabilities, first.free_total
    small = [costs(h, shares, free=free) for h in [(1, 2, 0, 2), (1, 1, 1, 2), (2, 2, 0, 1), (0, 2, 0, 3)]]
    for there in small[1:] if adjacency is Adjacency.REPLACE else []:
        ratios = np.log(joint.chances(small[0], first.law.scale)) - np.log(joint.chances(there, first.law.scale))
        assert 0 < np.abs(ratios).max() <= 1 + 1e-9
