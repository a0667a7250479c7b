"""Confident-GNMax against LNMax on the real votes on MNIST and Adult: what Figures 1 and 5 say of Glyph, asked there.

Both are run as in Table 1, LNMax on as many queries as the paper's Confident-GNMax answered.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ogive.pate.aggregators import LNMax
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.pate.consensus import ANSWERED, CONFIDENT, LAPLACE, RIGHT, by_share, prices
from ogive_papers.pate.printed import PRICES, PriceRow
from ogive_papers.pate.stand_in import stand_in
from ogive_papers.pate.votes import ADULT, MNIST, VOTE_SETS, inputs_of, labels_of, votes_of
from ogive_papers.randomness import streams

REAL = "real votes"
BINS = 5

RIGHT_OF_ALL = "right among answers to all queries of the check"

REPEATS = 20
"""Times that labels are drawn in a run; they are quickly drawn, and differ much."""

RUNS: Mapping[str, PriceRow] = {
    MNIST.title: PRICES["MNIST Confident-GNMax, 640 queries"],
    ADULT.title: PRICES["Adult Confident-GNMax, 1500 queries"],
}


def inputs(places: Places) -> Setting:
    """What Figures 1 and 5 read: what stands in for Glyph, and what there is of MNIST and Adult."""
    return {**stand_in(places), **inputs_of(*RUNS)(places)}


def real_settings() -> tuple[Setting, ...]:
    """Both mechanisms on both data sets."""
    return tuple(
        {"panel": REAL, "votes": title, "mechanism": name, "asked": row.asked if name == CONFIDENT else row.answered}
        for title, row in RUNS.items()
        for name in (LAPLACE, CONFIDENT)
    )


def measure(setting: Setting, seed: int, data: Places) -> Numbers:
    """Labels and price of one run, and who passes by the share of the plurality; nothing where there are no votes."""
    title, asked = str(setting["votes"]), int(setting["asked"])
    votes, truth = (of(VOTE_SETS[title], data, RUNS[title].asked) for of in (votes_of, labels_of))
    if votes is None or truth is None:
        return {}
    confident = RUNS[title].aggregator
    mechanism = confident if setting["mechanism"] == CONFIDENT else LNMax(20)
    source = streams(seed)[1]
    labels = np.stack([mechanism.answer(votes, source=source) for _ in range(REPEATS)])
    answered, right = labels >= 0, labels == truth
    return {
        ANSWERED: float(answered[:, :asked].sum()) / REPEATS,
        RIGHT: float(right[:, :asked][answered[:, :asked]].mean()),
        RIGHT_OF_ALL: float(right[answered].mean()),
        **prices(votes[:asked], mechanism, RUNS[title].delta),
        **by_share(votes[:asked], BINS, {str(setting["mechanism"]): mechanism}),
    }
