"""Simulated votes in place of those of the Glyph teachers, which are private to the paper's authors.

5000 teachers vote over 150 classes. A query's first class has a share of the votes from Beta(14, 1.2) with chance
`CLEAR`, else from Beta(3, 3); the others share the rest by Dirichlet(0.4); votes are multinomial. The true class is
drawn from the same shares, so that a class is right as often as teachers vote for it. With `CLEAR` = 0.6 the paper's
moderate check answers about as many of 6000 queries as it prints, and the plurality is right on about three in four.

Nothing in it is learned from fewer records where there are fewer teachers: ensembles of all sizes share their opinions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.reproduce.ecdf.data_sets import SIMULATED
from ogive.reproduce.items import Places, Setting

TEACHERS, CLASSES = 5000, 150
CLEAR = 0.6

_ROWS = 2000


class Drawn(NamedTuple):
    """Votes and what they were drawn with.

    Fields:
        votes: Counts, shape (queries, classes).
        truth: True class of every query, shape (queries,).
        shares: Chance of every class to be voted for, and to be the true one, shape (queries, classes).
    """

    votes: Int64
    truth: Int64
    shares: Float64

    def lost(self, labels: Int64) -> float:
        """How much less often labels are right than the likeliest classes, on average over the true ones."""
        answered = labels >= 0
        best = self.shares[answered].max(axis=1)
        return float((best - self.shares[answered, labels[answered]]).mean())


def simulated(places: Places) -> Setting:
    """What an item on Glyph reads: a stand-in, whatever data there are."""
    return {"Glyph votes": SIMULATED}


def glyph(generator: np.random.Generator, queries: int, *, teachers: int = TEACHERS) -> Drawn:
    """Draw votes, a bounded number of rows at a time.

    Args:
        generator: Decides everything.
        queries: How many.
        teachers: How many vote.
    """
    votes = np.empty((queries, CLASSES), dtype=np.int64)
    truth = np.empty(queries, dtype=np.int64)
    shares = np.empty((queries, CLASSES))
    for start in range(0, queries, _ROWS):
        part = slice(start, min(start + _ROWS, queries))
        size = part.stop - start
        clear = generator.random(size) < CLEAR
        first = np.where(clear, generator.beta(14.0, 1.2, size), generator.beta(3.0, 3.0, size))
        rest = generator.dirichlet(np.full(CLASSES - 1, 0.4), size) * (1 - first)[:, None]
        both = np.column_stack([first, rest])
        shares[part] = both / both.sum(axis=1, keepdims=True)
        votes[part] = generator.multinomial(teachers, shares[part])
        below = shares[part].cumsum(axis=1) < generator.random(size)[:, None]
        truth[part] = below.sum(axis=1).clip(max=CLASSES - 1)
    return Drawn(votes, truth, shares)
