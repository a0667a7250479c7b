"""Table 1: what a row's queries cost by the paper's accounting and by ours, and how many of its labels are right."""

from __future__ import annotations

import math

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.pate.aggregators import ConfidentGNMax, LargestMargins, LNMax
from ogive.pate.costs.answers import Converted, epsilon_of_rdp, logq_lnmax, rdp_lnmax
from ogive.pate.costs.cost import gaussian_epsilon, gaussian_loss, privacy_cost
from ogive.pate.costs.threshold import check_tails
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.pate.printed import GLYPH, PRICES, PriceRow
from ogive_papers.pate.stand_in import drawn, stand_in
from ogive_papers.pate.votes import VOTE_SETS, inputs_of, labels_of, votes_of
from ogive_papers.randomness import streams

PRICE, LABELS = "price", "labels"

PAPER, ORDER = "epsilon, the paper's accounting", "order"
EXPECTED, SPREAD = "answers, expected", "answers, standard deviation"
JOINT, EXACT, INDEPENDENT = "epsilon, joint", "epsilon, fully exact", "epsilon, whatever the votes"
AT_PRINTED = "epsilon, whatever the votes, at the printed answers"
ANSWERED, RIGHT, MARGINS = "answers", "right among answers", "right among as many largest margins"
PLURALITY = "right by plurality"

MOMENTS = np.arange(2.0, 10.0)
"""Orders of the 2017 paper, whose moments are 1 to 8."""

LABEL_RUNS = {GLYPH: 10}
"""Most runs of labels where they take long, by data set."""

CODE = (
    "pate/aggregators.py", "pate/costs/*.py", "noise/*.py", "papers/pate/characters.py",
    "papers/pate/prices.py",
    "papers/pate/printed.py", "papers/pate/stand_in.py", "papers/pate/votes.py",
)  # fmt: skip


def inputs(places: Places) -> Setting:
    """What Tables 1 and 2 read: what stands in for Glyph, and what there is of the paper's votes."""
    return {**stand_in(places), **inputs_of(*VOTE_SETS)(places)}


def settings(quick: bool) -> tuple[Setting, ...]:
    """Every row's price once, and labels of the rows that have a check; when quick, not of simulated votes."""
    rows = [row for row in PRICES.values() if not (quick and row.data == GLYPH)]
    prices: list[Setting] = [{"row": row.name, "of": PRICE, "runs": 1} for row in rows]
    labels: list[Setting] = [
        {"row": row.name, "of": LABELS} | ({"runs": LABEL_RUNS[row.data]} if row.data in LABEL_RUNS else {})
        for row in rows
        if isinstance(row.aggregator, ConfidentGNMax) and row.data != "SVHN"
    ]
    return (*prices, *labels)


def measure(setting: Setting, seed: int, data: Places) -> Numbers:
    """Prices, or labels of one run; nothing where there are no votes."""
    row = PRICES[str(setting["row"])]
    if setting["of"] == PRICE:
        return {**_known_price(row), **_price(row, _votes(row, seed, data)[0])}
    return _labels(row, seed, data)


def paper_lnmax(votes: Int64, scale: float, delta: float) -> Converted:
    """The 2017 paper's epsilon of LNMax answers: moments 1 to 8, its own curve and conversion."""
    costs = rdp_lnmax(logq_lnmax(votes, scale), scale, MOMENTS, curve="paper").sum(axis=0)
    return epsilon_of_rdp(costs, MOMENTS, target_delta=delta, rule="paper")


def chances(aggregator: ConfidentGNMax, votes: Int64) -> Float64:
    """Chance of every query to pass the check, shape (queries,)."""
    highest = votes.max(axis=1)
    return np.exp(check_tails(highest, float(aggregator.threshold), float(aggregator.sigma_1))[0])


def within(labels: Int64, cap: int) -> Int64:
    """Labels up to so many answers, and refusals after them, shape (queries,)."""
    return np.where(np.cumsum(labels >= 0) > cap, -1, labels)


def _votes(row: PriceRow, seed: int, data: Places) -> tuple[Int64 | None, Int64 | None]:
    """Votes and true labels of a row's queries, as far as there are."""
    if row.data == GLYPH:
        return drawn(data, streams(seed)[0], row.asked)[:2]
    votes = VOTE_SETS[row.data]
    return votes_of(votes, data, row.asked), labels_of(votes, data, row.asked)


def _known_price(row: PriceRow) -> Numbers:
    """What needs no votes."""
    if isinstance(row.aggregator, LNMax):
        return {}
    return {INDEPENDENT: _independent(row, row.cap), AT_PRINTED: _independent(row, row.answered)}


def _independent(row: PriceRow, answers: int) -> float:
    assert isinstance(row.aggregator, ConfidentGNMax)
    # the loss of continuous noise does not depend on the number of classes
    loss = gaussian_loss(
        checks=row.asked,
        sigma_1=row.aggregator.sigma_1,
        answers=answers,
        sigma_2=row.aggregator.sigma_2,
        classes=2,
    )
    return gaussian_epsilon(loss, row.delta)


def _price(row: PriceRow, votes: Int64 | None) -> Numbers:
    if votes is None:
        return {}
    if isinstance(row.aggregator, LNMax):
        result = paper_lnmax(votes, float(row.aggregator.scale), row.delta)
        ours = privacy_cost(votes, row.aggregator, target_delta=row.delta)
        fixed = privacy_cost(votes, row.aggregator, target_delta=row.delta, mode="independent")
        return {PAPER: result.value, ORDER: result.order, JOINT: ours.epsilon, INDEPENDENT: fixed.epsilon}
    paper = privacy_cost(votes, row.aggregator, target_delta=row.delta, mode="expected")
    joint = privacy_cost(votes, row.aggregator, target_delta=row.delta, mode="joint")
    numbers = {PAPER: paper.epsilon, ORDER: paper.order or math.nan, EXPECTED: paper.answers, JOINT: joint.epsilon}
    passes = chances(row.aggregator, votes)
    numbers[SPREAD] = math.sqrt(float((passes * (1 - passes)).sum()))
    if row.data != GLYPH:
        numbers[EXACT] = privacy_cost(votes, row.aggregator, target_delta=row.delta, mode="exact").epsilon
    return numbers


def _labels(row: PriceRow, seed: int, data: Places) -> Numbers:
    """Answers of one run up to the cap, and how often they are right; margins opened for the same price."""
    votes, truth = _votes(row, seed, data)
    if votes is None or truth is None:
        return {}
    assert isinstance(row.aggregator, ConfidentGNMax)
    source = streams(seed)[1]
    labels = within(row.aggregator.answer(votes, source=source), row.cap)
    answered = labels >= 0
    count = int(answered.sum())
    # opened histograms, of the noise at which they cost what the cap does
    loss = row.asked / float(row.aggregator.sigma_1) ** 2 + 2 * row.cap / float(row.aggregator.sigma_2) ** 2
    kept = LargestMargins(math.sqrt(2 * row.asked / loss), count).answer(votes, source=source)
    return {
        ANSWERED: float(count),
        RIGHT: float((labels[answered] == truth[answered]).mean()),
        MARGINS: float((kept[kept >= 0] == truth[kept >= 0]).mean()),
        PLURALITY: float((votes.argmax(axis=1) == truth).mean()),
    }
