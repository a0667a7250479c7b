"""Two rounds cost what one does, and their costs are those that are said to add up."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr

from ogive.pate import privacy_cost
from ogive_papers.pate.prices import INDEPENDENT, JOINT, PAPER
from ogive_papers.pate.printed import PRICES
from ogive_papers.pate.students import rounds

ROWS = ("MNIST Confident-GNMax, 640 queries", "Adult Confident-GNMax, 1500 queries")


@pytest.mark.parametrize("name", ROWS)
def test_both_rounds_cost_what_the_row_does_and_one_about_what_the_other_does(name):
    found, row = rounds.halves(PRICES[name]), PRICES[name]
    (asked, more), (cap, last) = found.asked, found.caps
    one, noise, check = row.aggregator, found.second.sigma_2**2, found.second.sigma_1**2
    whole = Fraction(row.asked) / one.sigma_1**2 + Fraction(2 * row.cap) / one.sigma_2**2
    begun = Fraction(asked) / one.sigma_1**2 + Fraction(2 * cap) / one.sigma_2**2
    rest = Fraction(more) / check + Fraction(2 * last) / noise
    assert found.squared == begun + rest <= whole < found.squared + Fraction(2) / noise
    assert last < more
    assert begun / rest == pytest.approx(1, abs=0.01)
    assert (found.second.sigma_1 / one.sigma_1, found.second.sigma_2 / one.sigma_2) == (Fraction(4, 3), 2)
    assert found.epsilon <= found.price
    # Balle and Wang 2018, Theorem 8
    for squared, epsilon in ((found.squared, found.epsilon), (whole, found.price)):
        mu = math.sqrt(squared)

        def delta(epsilon, mu=mu):
            return ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)

        assert epsilon == pytest.approx(brentq(lambda x: delta(x) - row.delta, 0, 20), abs=1e-9)


def votes_and_probabilities(found, agreed):
    """Votes with so large a plurality, and a student who expects them."""
    queries = sum(found.asked)
    votes = np.zeros((queries, 10), dtype=np.int64)
    votes[:, 3], votes[:, 4] = agreed, 250 - agreed
    return votes, votes[found.asked[0] :] / 250


@pytest.mark.parametrize("agreed", [250, 200, 130])
def test_costs_add_up_order_by_order(agreed):
    found = rounds.halves(PRICES[ROWS[0]])
    votes, probabilities = votes_and_probabilities(found, agreed)
    costs = rounds.costs(found, votes, probabilities)
    parts = [
        privacy_cost(votes[:320], found.first, target_delta=1e-5, mode="expected").by_order,
        privacy_cost(
            votes[320:], found.second, target_delta=1e-5, mode="expected", probabilities=probabilities
        ).by_order,
    ]
    least = min(sum(part[order] for part in parts) + math.log(1e5) / (order - 1) for order in parts[0])
    assert costs[PAPER] == pytest.approx(least)
    assert costs[INDEPENDENT] == found.epsilon
    # the tight conversion of the first round's joint cost and of the second's largest one
    joint = privacy_cost(votes[:320], found.first, target_delta=1e-5, mode="joint").by_order
    largest = {a: a * (640 / (2 * 200**2) + 594 / 80**2) for a in joint}
    tight = min(
        joint[a] + largest[a] + (math.log(1e5) + (a - 1) * math.log(1 - 1 / a) - math.log(a)) / (a - 1) for a in joint
    )
    assert costs[JOINT] == pytest.approx(tight, rel=1e-6)
    alone = privacy_cost(votes[:320], found.first, target_delta=1e-5, mode="joint").epsilon
    assert costs[JOINT] > alone  # the second round is paid for


def test_agreement_makes_the_first_round_cheaper_at_the_votes_held_and_changes_no_other_price():
    found = rounds.halves(PRICES[ROWS[0]])
    agreed, split = (rounds.costs(found, *votes_and_probabilities(found, each)) for each in (250, 130))
    assert agreed[JOINT] < split[JOINT]
    assert agreed[PAPER] < split[PAPER]
    assert agreed[INDEPENDENT] == split[INDEPENDENT]
