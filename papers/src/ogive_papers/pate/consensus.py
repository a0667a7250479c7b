"""Figures 1 and 5 on votes that stand in for Glyph: price against answers, and which queries a check lets pass."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.pate.aggregators import ConfidentGNMax, LNMax
from ogive.pate.costs.answers import ORDERS, Converted, GnmaxBound, epsilon_of_rdp, logq_gnmax, logq_lnmax, rdp_lnmax
from ogive.pate.costs.cost import privacy_cost
from ogive.pate.costs.threshold import rdp_threshold
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.pate.prices import chances
from ogive_papers.pate.printed import DELTAS, GLYPH
from ogive_papers.pate.stand_in import accuracy, drawn
from ogive_papers.randomness import streams

LAPLACE, CONFIDENT, MODERATE, AGGRESSIVE = "LNMax", "Confident-GNMax", "moderate check", "aggressive check"
MECHANISMS: Mapping[str, LNMax | ConfidentGNMax] = {
    LAPLACE: LNMax(50),
    CONFIDENT: ConfidentGNMax(1000, 500, 100),
    MODERATE: ConfidentGNMax(3500, 1500, 100),
    AGGRESSIVE: ConfidentGNMax(5000, 1500, 100),
}

PRICE, SHARES = "price", "consensus"

ANSWERED, RIGHT, STUDENT = "answers", "right among answers", "student's accuracy"
PAPER, JOINT = "epsilon, the paper's accounting", "epsilon, joint"
CHECKS = "part of checks in the Renyi cost"
ASKED_IN, COST_IN = "queries", "log10 of the mean Renyi cost"
COMPARED = (LAPLACE, MODERATE, AGGRESSIVE)
"""What is counted by shares."""

CONSENSUS_QUERIES = 4000
COST_ORDER, COST_SIGMA = 50.0, 100.0
LEAST_LOG10 = -300.0
"""What is drawn for smaller mean costs."""

CODE = (
    "pate/aggregators.py", "pate/costs/*.py", "noise/*.py", "papers/pate/characters.py",
    "papers/pate/checked.py",
    "papers/pate/consensus.py", "papers/pate/prices.py", "papers/pate/printed.py",
    "papers/pate/students/discriminants.py", "papers/pate/stand_in.py", "papers/pate/votes.py",
)  # fmt: skip


def price_settings(mechanism: str, *asked: int) -> tuple[Setting, ...]:
    """Price and labels of a mechanism after so many queries."""
    return tuple({"panel": PRICE, "mechanism": mechanism, "asked": each} for each in asked)


def share_setting(bins: int, *, asked: int = CONSENSUS_QUERIES) -> Setting:
    """Answers by the share of the plurality, in equal bins."""
    return {"panel": SHARES, "bins": bins, "asked": asked}


def in_bin(quantity: str, place: int, bins: int, mechanism: str = "") -> str:
    """How a quantity of one bin is called, for example "answers of moderate check, share 0.2 to 0.4"."""
    return f"{quantity}{mechanism and f' of {mechanism}'}, share {place / bins:g} to {(place + 1) / bins:g}"


def measure(setting: Setting, seed: int, data: Places) -> Numbers:
    """One run at one place of a panel."""
    generator, source = streams(seed)
    result = drawn(data, generator, int(setting["asked"]))
    if setting["panel"] == SHARES:
        bins, compared = int(setting["bins"]), {name: MECHANISMS[name] for name in COMPARED}
        return {**by_share(result.votes, bins, compared), **_costs_by_share(result.votes, bins)}
    mechanism = MECHANISMS[str(setting["mechanism"])]
    labels = mechanism.answer(result.votes, source=source)
    answered = labels >= 0
    taught = {} if result.rows is None else {STUDENT: accuracy(data, result.rows, labels)}
    return {
        **taught,
        ANSWERED: float(answered.sum()),
        RIGHT: float((labels == result.truth)[answered].mean()),
        **prices(result.votes, mechanism, DELTAS[GLYPH]),
    }


def lnmax_price(votes: Int64, scale: float, delta: float) -> Converted:
    """The paper's epsilon of LNMax answers: its curve and conversion at all orders."""
    costs = rdp_lnmax(logq_lnmax(votes, scale), scale, ORDERS, curve="paper").sum(axis=0)
    return epsilon_of_rdp(costs, ORDERS, target_delta=delta, rule="paper")


def prices(votes: Int64, mechanism: LNMax | ConfidentGNMax, delta: float) -> Numbers:
    """Epsilon by the paper's accounting and jointly, and what part of the cost is that of checks."""
    joint = privacy_cost(votes, mechanism, target_delta=delta, mode="joint").epsilon
    if isinstance(mechanism, LNMax):
        return {PAPER: lnmax_price(votes, float(mechanism.scale), delta).value, JOINT: joint}
    result = privacy_cost(votes, mechanism, target_delta=delta, mode="expected")
    assert result.order is not None
    highest = votes.max(axis=1)
    checks = rdp_threshold(highest, float(mechanism.threshold), float(mechanism.sigma_1), result.order, "theorem3")
    return {PAPER: result.epsilon, JOINT: joint, CHECKS: float(checks.sum()) / result.by_order[result.order]}


def by_share(votes: Int64, bins: int, compared: Mapping[str, LNMax | ConfidentGNMax]) -> Numbers:
    """Queries whose plurality has a share in each bin: how many, and how many each mechanism is expected to answer."""
    places = _places(votes, bins)
    numbers = {}
    for place in range(bins):
        inside = places == place
        numbers[in_bin(ASKED_IN, place, bins)] = float(inside.sum())
        for name, mechanism in compared.items():
            passes = inside if isinstance(mechanism, LNMax) else chances(mechanism, votes[inside])
            numbers[in_bin(ANSWERED, place, bins, name)] = float(passes.sum())
    return numbers


def _costs_by_share(votes: Int64, bins: int) -> Numbers:
    """What an answer costs on average, in each bin that has queries."""
    places = _places(votes, bins)
    costs = GnmaxBound(COST_SIGMA, COST_ORDER).beta(logq_gnmax(votes, COST_SIGMA))
    means = {place: float(costs[places == place].mean()) for place in np.unique(places).tolist()}
    return {
        in_bin(COST_IN, place, bins): max(math.log10(mean), LEAST_LOG10) if mean > 0 else LEAST_LOG10
        for place, mean in means.items()
    }


def _places(votes: Int64, bins: int) -> Int64:
    """The bin of every query's plurality, shape (queries,)."""
    share: Float64 = votes.max(axis=1) / votes.sum(axis=1)
    return np.asarray(np.minimum(share * bins, bins - 1), dtype=np.int64)
