"""Votes in place of those of the Glyph teachers, which are private to the paper's authors.

They are those of 5000 teachers trained on characters where a file of them is among the data, else simulated ones. Of
the simulated, a query's first class has a share of the votes from Beta(14, 1.2) with chance `CLEAR`, else from
Beta(3, 3); the others share the rest by Dirichlet(0.4); votes are multinomial. The true class is drawn from the same
shares, so that a class is right as often as teachers vote for it. With `CLEAR` = 0.6 the paper's moderate check answers
about as many of 6000 queries as it prints, and the plurality is right on about three in four.

Nothing in simulated votes is learned from fewer records where there are fewer teachers: ensembles of all sizes share
their opinions. Ensembles of characters divide the same images.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive_papers.ecdf.data_sets import SIMULATED
from ogive_papers.items import Places, Setting, content_of
from ogive_papers.pate.characters import (
    CLASSES,
    TEACHERS,
    find_characters,
    read_characters,
    votes_on_characters,
)
from ogive_papers.pate.students.discriminants import SharedCovariance

CLEAR = 0.6

INPUT = "Glyph votes"
"""How the votes that stand in are called among the inputs."""

_ROWS = 2000


class Drawn(NamedTuple):
    """Votes and what they were drawn with.

    Fields:
        votes: Counts, shape (queries, classes).
        truth: True class of every query, shape (queries,).
        shares: Chance of every class to be voted for and to be the true one, shape (queries, classes); None for
            teachers that were trained.
        rows: Which of the file's queries these are, shape (queries,); None for simulated votes.
    """

    votes: Int64
    truth: Int64
    shares: Float64 | None
    rows: Int64 | None

    def lost(self, labels: Int64) -> float:
        """How much less often labels are right than without noise; of simulated votes on average over the true ones."""
        answered = labels >= 0
        if self.shares is None:
            plurality = self.votes[answered].argmax(axis=1)
            right = (plurality == self.truth[answered]).mean() - (labels == self.truth)[answered].mean()
            return float(right)
        best = self.shares[answered].max(axis=1)
        return float((best - self.shares[answered, labels[answered]]).mean())


def stand_in(places: Places) -> Setting:
    """What stands in for Glyph: a file of votes on characters by its content, else simulated votes."""
    path = find_characters(places)
    if path is not None:
        votes_on_characters(path, TEACHERS)
    return {INPUT: content_of(path, SIMULATED)}


def drawn(places: Places, generator: np.random.Generator, queries: int, *, teachers: int = TEACHERS) -> Drawn:
    """Votes on so many queries: some of the file's in random order, or simulated ones.

    Args:
        places: Folders and files with data.
        generator: Decides everything.
        queries: How many.
        teachers: How many vote.
    """
    path = find_characters(places)
    if path is None:
        return _simulated(generator, queries, teachers)
    truth = read_characters(path).truth
    rows = generator.permutation(len(truth))[:queries]
    return Drawn(votes_on_characters(path, teachers)[rows], truth[rows], None, rows)


def accuracy(places: Places, rows: Int64, labels: Int64) -> float:
    """Share of the judged characters on which a student of some of the file's queries is right.

    Args:
        places: Folders and files with data.
        rows: Which queries were asked, shape (queries,).
        labels: Their labels, -1 for refusals, shape (queries,).
    """
    path = find_characters(places)
    assert path is not None
    file = read_characters(path)
    answered = labels >= 0
    student = SharedCovariance().fit(file.queries[rows[answered]], labels[answered])
    return float((student.predict(file.judged) == file.judged_truth).mean())


def is_simulated(setting: Setting) -> bool:
    """Whether simulated votes stood in for Glyph in a run."""
    return setting.get(INPUT, SIMULATED) == SIMULATED


def standing(setting: Setting) -> str:
    """What stood in for Glyph in a run, for a mark beside its numbers: "SIMULATED" or "CHARACTERS"."""
    return "SIMULATED" if is_simulated(setting) else "CHARACTERS"


def seen(setting: Setting) -> str:
    """How a check says on whose votes it was decided."""
    return "on SIMULATED votes" if is_simulated(setting) else "on votes of teachers of CHARACTERS"


def _simulated(generator: np.random.Generator, queries: int, teachers: int) -> Drawn:
    """A bounded number of rows at a time."""
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
    return Drawn(votes, truth, shares, None)
