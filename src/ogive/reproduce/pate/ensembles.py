"""Figure 4 on simulated votes of Glyph: right labels against price, for two noises and four sizes of ensembles."""

from __future__ import annotations

from ogive.pate.aggregators import GNMax, LNMax
from ogive.pate.costs.cost import privacy_cost
from ogive.reproduce.items import Numbers, Places, Setting
from ogive.reproduce.pate.consensus import lnmax_price
from ogive.reproduce.pate.printed import DELTAS, GLYPH
from ogive.reproduce.pate.stand_in import glyph
from ogive.reproduce.randomness import streams

GAUSSIAN, LAPLACE = "GNMax", "LNMax"
COMPARED = 1000
"""Teachers for whom the two noises are compared."""

SIZES = (100, 500, 1000, 5000)
NOISES = {GAUSSIAN: (20, 40, 70, 100, 150, 200), LAPLACE: (15, 30, 50, 75, 100, 150)}
"""Standard deviations of Gaussian noise, and scales of Laplace noise, in votes."""

QUERIES, FEWER_QUERIES = 4000, 500

RIGHT, LOST = "right labels", "right labels lost to noise"
EPSILON = "epsilon, the paper's accounting"

CODE = (
    "pate/aggregators.py", "pate/asking.py", "pate/costs/*.py", "noise/*.py", "reproduce/pate/consensus.py",
    "reproduce/pate/ensembles.py", "reproduce/pate/stand_in.py",
)  # fmt: skip


def settings(quick: bool) -> tuple[Setting, ...]:
    """Every noise: of both kinds for one ensemble, Gaussian for all; fewer when quick."""
    step, sizes = (2, SIZES[2:]) if quick else (1, SIZES)
    laplace = [(LAPLACE, COMPARED, noise) for noise in NOISES[LAPLACE][::step]]
    gaussian = [(GAUSSIAN, size, noise) for size in sizes for noise in NOISES[GAUSSIAN][::step]]
    return tuple(
        {"mechanism": mechanism, "teachers": size, "noise": noise, "asked": FEWER_QUERIES if quick else QUERIES}
        for mechanism, size, noise in laplace + gaussian
    )


def measure(setting: Setting, seed: int, data: Places) -> Numbers:
    """One run: the price of all labels, and how many of them are right."""
    generator, source = streams(seed)
    drawn = glyph(generator, int(setting["asked"]), teachers=int(setting["teachers"]))
    delta, noise = DELTAS[GLYPH], int(setting["noise"])
    if setting["mechanism"] == LAPLACE:
        labels = LNMax(noise).answer(drawn.votes, source=source)
        price = lnmax_price(drawn.votes, noise, delta).value
    else:
        aggregator = GNMax(noise)
        labels = aggregator.answer(drawn.votes, source=source)
        price = privacy_cost(drawn.votes, aggregator, target_delta=delta, mode="joint", rule="paper").epsilon
    return {RIGHT: float((labels == drawn.truth).mean()), LOST: drawn.lost(labels), EPSILON: price}
