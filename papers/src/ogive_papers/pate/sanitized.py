"""Table 2: the expected cost of a run, its smooth sensitivity, and what publishing it costs, as printed and in truth.

The printed formula for the noise's own cost is too small at every parameter of the table; both are worked out here.
"""

from __future__ import annotations

import math

import numpy as np

from ogive.core.arrays import Int64
from ogive.pate.aggregators import ConfidentGNMax
from ogive.pate.costs.answers import GnmaxBound, epsilon_of_rdp
from ogive.pate.costs.cost import privacy_cost
from ogive.pate.sensitivity.sanitize import gnss_rdp, gnss_rdp_printed, rule_of_scale, rule_of_smoothness
from ogive.pate.sensitivity.smooth import answer_profile, smooth_cost, smooth_sensitivity_sum
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.pate.prices import chances
from ogive_papers.pate.printed import GLYPH, ROUNDS, SANITIZED, SanitizedRow
from ogive_papers.pate.stand_in import drawn
from ogive_papers.pate.votes import VOTE_SETS, votes_of
from ogive_papers.randomness import streams

TWO_ROUNDS = "Glyph, two rounds"

PRINTED_PRICE, RIGHT_PRICE = "price of publishing by the printed formula", "price of publishing, corrected"
SHIFTED = "price of publishing, by integration"
EXPECTED, SENSITIVITY, NOISE = "expected epsilon", "smooth sensitivity", "noise"
PRINTED_TOTAL, RIGHT_TOTAL = "sanitized epsilon by the printed formula", "sanitized epsilon, corrected"
OUR_TOTAL, OUR_NOISE = "sanitized epsilon, ours", "noise, ours"
INDEPENDENT = "epsilon, whatever the votes"

CODE = (
    "pate/costs/*.py", "pate/sensitivity/*.py", "papers/pate/characters.py",
    "papers/pate/prices.py", "papers/pate/printed.py",
    "papers/pate/sanitized.py", "papers/pate/stand_in.py", "papers/pate/votes.py",
)  # fmt: skip


def settings(quick: bool) -> tuple[Setting, ...]:
    """Every row of the table; when quick, not those of votes that are simulated or not redone."""
    names = (*SANITIZED, TWO_ROUNDS)
    return tuple({"row": name} for name in names if not (quick and name in (GLYPH, TWO_ROUNDS)))


def measure(setting: Setting, seed: int, data: Places) -> Numbers:
    """What publishing costs, and the rest of the row where there are votes."""
    name = str(setting["row"])
    if name == TWO_ROUNDS:
        prices = [_prices(order, smoothness, scale) for order, smoothness, scale in ROUNDS]
        return {quantity: math.fsum(each[quantity] for each in prices) for quantity in prices[0]}
    row = SANITIZED[name]
    numbers = _prices(row.order, row.smoothness, row.scale)
    if name == GLYPH:
        return {**numbers, **_paper(row, drawn(data, streams(seed)[0], row.price.asked).votes, numbers)}
    votes = votes_of(VOTE_SETS[name], data, row.price.asked)
    return numbers if votes is None else {**numbers, **_paper(row, votes, numbers), **_ours(row, votes)}


def integrated_price(order: float, smoothness: float, scale: float) -> float:
    """Renyi divergence of two releases as far apart as neighbours may be, by integrating: an oracle.

    The one publishes N(0, s^2), its neighbour N(e^-b, e^-2b s^2), in units of the first one's smooth sensitivity.
    """
    narrow = math.exp(-smoothness) * scale
    points = np.linspace(-60 * scale, 60 * scale, 1 << 18)
    here = -0.5 * (points / scale) ** 2 - math.log(scale)
    there = -0.5 * ((points - math.exp(-smoothness)) / narrow) ** 2 - math.log(narrow)
    logs = order * here + (1 - order) * there - 0.5 * math.log(2 * math.pi)
    largest = float(logs.max())
    total = float(np.exp(logs - largest).sum() * (points[1] - points[0]))
    return (largest + math.log(total)) / (order - 1)


def _prices(order: float, smoothness: float, scale: float) -> Numbers:
    return {
        PRINTED_PRICE: gnss_rdp_printed(order, smoothness, scale),
        RIGHT_PRICE: gnss_rdp(order, smoothness, scale),
        SHIFTED: integrated_price(order, smoothness, scale),
    }


def _paper(row: SanitizedRow, votes: Int64, prices: Numbers) -> Numbers:
    """As the paper does: costs and sensitivities averaged over passing, at its parameters."""
    aggregator = row.price.aggregator
    assert isinstance(aggregator, ConfidentGNMax)
    cost = privacy_cost(votes, aggregator, target_delta=row.price.delta, mode="expected", order=row.order)
    bound = GnmaxBound(float(aggregator.sigma_2), row.order)
    profile = answer_profile(votes, bound, weights=chances(aggregator, votes))
    smooth = smooth_sensitivity_sum(profile.values, row.smoothness).value
    return {
        EXPECTED: cost.epsilon,
        SENSITIVITY: smooth,
        NOISE: smooth * row.scale,
        PRINTED_TOTAL: cost.epsilon + prices[PRINTED_PRICE],
        RIGHT_TOTAL: cost.epsilon + prices[RIGHT_PRICE],
    }


def _ours(row: SanitizedRow, votes: Int64) -> Numbers:
    """A release that is valid: the joint cost, the rules of thumb, and the tighter conversion."""
    aggregator = row.price.aggregator
    assert isinstance(aggregator, ConfidentGNMax)
    delta = row.price.delta
    smoothness = rule_of_smoothness(row.order)
    scale = rule_of_scale(row.order, smoothness, row.planned)
    result = smooth_cost(votes, aggregator, order=row.order, smoothness=smoothness)
    whole = result.cost + gnss_rdp(row.order, smoothness, scale)
    fixed = privacy_cost(votes, aggregator, target_delta=delta, mode="independent", max_answers=row.price.cap)
    return {
        OUR_TOTAL: epsilon_of_rdp([whole], [row.order], target_delta=delta).value,
        OUR_NOISE: result.sensitivity * scale,
        INDEPENDENT: fixed.epsilon,
    }
