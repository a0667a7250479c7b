"""Figure 4: right labels against price, for two noises and four sizes of ensembles, on simulated votes of Glyph.

The two noises are compared on the real votes on MNIST as well, of which there is one size of ensembles only.
"""

from __future__ import annotations

from ogive.pate.aggregators import GNMax, LNMax
from ogive.pate.costs.cost import privacy_cost
from ogive.reproduce.items import Numbers, Places, Setting
from ogive.reproduce.pate.consensus import lnmax_price
from ogive.reproduce.pate.printed import DELTAS, GLYPH
from ogive.reproduce.pate.stand_in import glyph, simulated
from ogive.reproduce.pate.votes import MNIST, TEACHERS, inputs_of, labels_of, votes_of
from ogive.reproduce.randomness import streams

GAUSSIAN, LAPLACE = "GNMax", "LNMax"
COMPARED = {GLYPH: 1000, MNIST.title: TEACHERS}
"""Teachers for whom the two noises are compared."""

SIZES = (100, 500, 1000, 5000)
NOISES = {
    GLYPH: {GAUSSIAN: (20, 40, 70, 100, 150, 200), LAPLACE: (15, 30, 50, 75, 100, 150)},
    MNIST.title: {GAUSSIAN: (10, 20, 30, 40, 60, 80), LAPLACE: (7, 10, 15, 20, 30, 40)},
}
"""Standard deviations of Gaussian noise, and scales of Laplace noise, in votes."""

QUERIES, FEWER_QUERIES = 4000, 500

RIGHT, LOST = "right labels", "right labels lost to noise"
EPSILON = "epsilon, the paper's accounting"

CODE = (
    "pate/aggregators.py", "pate/asking.py", "pate/costs/*.py", "noise/*.py", "reproduce/pate/consensus.py",
    "reproduce/pate/ensembles.py", "reproduce/pate/stand_in.py", "reproduce/pate/votes.py",
)  # fmt: skip


def inputs(places: Places) -> Setting:
    """What is read: simulated votes on Glyph, and what there is of MNIST."""
    return {**simulated(places), **inputs_of(MNIST.title)(places)}


def settings(quick: bool) -> tuple[Setting, ...]:
    """Every noise: of both kinds for one ensemble, Gaussian for all of Glyph's; fewer when quick."""
    step, sizes = (2, SIZES[2:]) if quick else (1, SIZES)
    places = [(votes, LAPLACE, COMPARED[votes]) for votes in NOISES]
    places += [(GLYPH, GAUSSIAN, size) for size in sizes]
    places.append((MNIST.title, GAUSSIAN, TEACHERS))
    asked = FEWER_QUERIES if quick else QUERIES
    return tuple(
        {"votes": votes, "mechanism": mechanism, "teachers": size, "noise": noise, "asked": asked}
        for votes, mechanism, size in places
        for noise in NOISES[votes][mechanism][::step]
    )


def measure(setting: Setting, seed: int, data: Places) -> Numbers:
    """One run: the price of all labels, and how many of them are right; nothing where there are no votes."""
    generator, source = streams(seed)
    asked, noise, delta = int(setting["asked"]), int(setting["noise"]), DELTAS[str(setting["votes"])]
    aggregator = LNMax(noise) if setting["mechanism"] == LAPLACE else GNMax(noise)
    if setting["votes"] == GLYPH:
        drawn = glyph(generator, asked, teachers=int(setting["teachers"]))
        votes, truth = drawn.votes, drawn.truth
        labels = aggregator.answer(votes, source=source)
        lost = drawn.lost(labels)
    else:
        found, known = votes_of(MNIST, data, asked), labels_of(MNIST, data, asked)
        if found is None or known is None:
            return {}
        votes, truth = found, known
        labels = aggregator.answer(votes, source=source)
        lost = float((votes.argmax(axis=1) == truth).mean() - (labels == truth).mean())
    if isinstance(aggregator, LNMax):
        price = lnmax_price(votes, noise, delta).value
    else:
        price = privacy_cost(votes, aggregator, target_delta=delta, mode="joint", rule="paper").epsilon
    return {RIGHT: float((labels == truth).mean()), LOST: lost, EPSILON: price}
