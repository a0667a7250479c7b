"""Figure 4: right labels against price, for two noises and sizes of ensembles, on votes that stand in for Glyph.

Noises and sizes are compared on the real votes on MNIST and Adult as well. A smaller ensemble is there some of the 250
teachers, drawn anew for every query: on average over queries as good as any other so many of them.
"""

from __future__ import annotations

import numpy as np

from ogive.core.arrays import Int64
from ogive.pate.aggregators import GNMax, LNMax
from ogive.pate.costs.cost import privacy_cost
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.pate.consensus import lnmax_price
from ogive_papers.pate.printed import DELTAS, GLYPH
from ogive_papers.pate.stand_in import drawn, stand_in
from ogive_papers.pate.votes import ADULT, MNIST, TEACHERS, VOTE_SETS, inputs_of, labels_of, votes_of
from ogive_papers.randomness import streams

GAUSSIAN, LAPLACE = "GNMax", "LNMax"
SHARED = (MNIST.title, ADULT.title)
"""Data sets whose votes are public."""

COMPARED = {GLYPH: 1000} | dict.fromkeys(SHARED, TEACHERS)
"""Teachers for whom the two noises are compared."""

SIZES = {GLYPH: (100, 500, 1000, 5000)} | dict.fromkeys(SHARED, (100, TEACHERS))
QUICK_SIZES = {GLYPH: (1000, 5000)} | dict.fromkeys(SHARED, (100, TEACHERS))

_OF_250 = {GAUSSIAN: (10, 20, 30, 40, 60, 80), LAPLACE: (7, 10, 15, 20, 30, 40)}
NOISES = {
    GLYPH: {GAUSSIAN: (20, 40, 70, 100, 150, 200), LAPLACE: (15, 30, 50, 75, 100, 150)},
} | dict.fromkeys(SHARED, _OF_250)  # fmt: skip
"""Standard deviations of Gaussian noise, and scales of Laplace noise, in votes."""

QUERIES, FEWER_QUERIES = 4000, 500

RIGHT, LOST = "right labels", "right labels lost to noise"
EPSILON = "epsilon, the paper's accounting"

CODE = (
    "pate/aggregators.py", "pate/costs/*.py", "noise/*.py", "papers/pate/consensus.py",
    "papers/pate/characters.py", "papers/pate/ensembles.py",
    "papers/pate/stand_in.py", "papers/pate/votes.py",
)  # fmt: skip


def inputs(places: Places) -> Setting:
    """What is read: what stands in for Glyph, and what there is of MNIST and Adult."""
    return {**stand_in(places), **inputs_of(*SHARED)(places)}


def settings(quick: bool) -> tuple[Setting, ...]:
    """Every noise: of both kinds for one ensemble, Gaussian for all sizes; fewer when quick."""
    step, sizes = (2, QUICK_SIZES) if quick else (1, SIZES)
    places = [(votes, LAPLACE, COMPARED[votes]) for votes in NOISES]
    places += [(votes, GAUSSIAN, size) for votes in NOISES for size in sizes[votes]]
    asked = FEWER_QUERIES if quick else QUERIES
    return tuple(
        {"votes": votes, "mechanism": mechanism, "teachers": size, "noise": noise, "asked": asked}
        for votes, mechanism, size in places
        for noise in NOISES[votes][mechanism][::step]
    )


def measure(setting: Setting, seed: int, data: Places) -> Numbers:
    """One run: the price of all labels, and how many of them are right; nothing where there are no votes."""
    generator, source = streams(seed)
    title, teachers, asked = str(setting["votes"]), int(setting["teachers"]), int(setting["asked"])
    noise, delta = int(setting["noise"]), DELTAS[title]
    aggregator = LNMax(noise) if setting["mechanism"] == LAPLACE else GNMax(noise)
    if title == GLYPH:
        result = drawn(data, generator, asked, teachers=teachers)
        votes, truth = result.votes, result.truth
        labels = aggregator.answer(votes, source=source)
        lost = result.lost(labels)
    else:
        published, known = (of(VOTE_SETS[title], data, asked) for of in (votes_of, labels_of))
        if published is None or known is None:
            return {}
        votes, truth = some_teachers(generator, published, teachers), known
        labels = aggregator.answer(votes, source=source)
        lost = float((votes.argmax(axis=1) == truth).mean() - (labels == truth).mean())
    if isinstance(aggregator, LNMax):
        price = lnmax_price(votes, noise, delta).value
    else:
        price = privacy_cost(votes, aggregator, target_delta=delta, mode="joint", rule="paper").epsilon
    return {RIGHT: float((labels == truth).mean()), LOST: lost, EPSILON: price}


def some_teachers(generator: np.random.Generator, votes: Int64, teachers: int) -> Int64:
    """Votes of so many of the teachers, drawn without replacement anew for every query."""
    if teachers == TEACHERS:
        return votes
    return np.stack([generator.multivariate_hypergeometric(counts, teachers) for counts in votes])
