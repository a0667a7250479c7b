"""Votes of teachers, a row each with a column for every query, counted per query and class."""

from __future__ import annotations

import numpy as np

from ogive.arrays import Int64
from ogive.errors import DataError, quoted
from ogive.queries import Ballots
from ogive.records.labels import Columns


class BallotCounts:
    """Votes per query and class, shape (queries, classes)."""

    def __init__(self, ballots: Ballots) -> None:
        self._ballots = ballots
        self.sums = np.zeros(ballots.shape, dtype=np.int64)

    def add(self, columns: Columns) -> None:
        """Count the votes of some teachers.

        Raises:
            DataError: a vote is missing or no class.
        """
        classes = self._ballots.classes
        for query, votes in zip(self.sums, votes_of(self._ballots, columns), strict=True):
            query += np.bincount(votes, minlength=classes)


def votes_of(ballots: Ballots, columns: Columns) -> Int64:
    """The classes that some teachers vote for, shape (queries, teachers).

    Args:
        ballots: The queries and how many classes there are.
        columns: Numbers of each query's column, NaN where missing.

    Raises:
        DataError: a vote is missing or no class.
    """
    found = np.stack(columns)
    with np.errstate(invalid="ignore"):
        votes = found.astype(np.int64)
    wrong = (votes != found) | (votes < 0) | (votes >= ballots.classes)
    if wrong.any():
        number = int(np.flatnonzero(wrong.any(axis=1))[0])
        query = ballots.queries[number]
        if np.isnan(found[number]).any():
            raise DataError(
                f"column {quoted(query)} has missing votes; every teacher votes, if need be for a class of its own "
                "that means none of the others"
            )
        raise DataError(f"column {quoted(query)} has votes that are no classes; they are 0 to {ballots.classes - 1}")
    return np.asarray(votes)
