"""Noisy counts of votes: what several parties can open of teachers' votes, a histogram for every query.

A teacher who votes otherwise moves one vote in every query: two counts by one each. That is what happens when somebody
comes into a teacher's data or leaves it, so that it is paid for whether or not the number of teachers is public.
Whatever is made of the noisy counts, labels and margins, costs nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.accounting import group_loss
from ogive.arrays import Int64
from ogive.errors import DataError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, Loss, Privacy, PrivacyUnit
from ogive.queries import base
from ogive.queries.aggregates import Ballots
from ogive.strategies.base import Level
from ogive.strategies.counted_noise import check_counted, counted_loss, counted_noise

VOTES_MOVED = 2
"""Counts of a query that change by one where a teacher votes otherwise."""

_ROOM_BITS = 61


@dataclass(frozen=True)
class VotesQuery(base.LinearQuery):
    """The votes for every class in every query, times 2^bits, each with noise of its own; shape (queries, classes).

    Fields:
        ballots: The queries and how many classes there are.
        law: Noise of every count, on the scale where a vote counts 2^bits.
        bits: Fractional bits of the counts: 0 for Laplace noise.

    Raises:
        ParameterError: the law and the bits do not go together.
    """

    ballots: Ballots
    law: DiscreteLaplace | DiscreteGaussian
    bits: int = 0

    def __post_init__(self) -> None:
        check_counted(self._integers, (self.law,), self.bits)

    @property
    def _integers(self) -> int:
        queries, classes = self.ballots.shape
        return queries * classes

    @property
    def method(self) -> str:
        """Name of this query."""
        return "votes"

    @property
    def aggregate(self) -> Ballots:
        """Votes per query and class."""
        return self.ballots

    @property
    def levels(self) -> tuple[Level, ...]:
        """One noise variable per query and class."""
        return (Level(self._integers, self.law),)

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of all counts together."""
        changed = votes_changed(self.ballots)
        loss = counted_loss(self.law, self.bits, l1=changed, l2_squared=changed, integers=self._integers)
        return group_loss(loss, unit.max_rows_per_person)

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of the votes, queries, noise and adjacency; as secret as the data."""
        return base.fields_digest("votes", self, sums, adjacency)

    def measure(self, sums: Int64) -> Int64:
        """Votes times 2^bits, shape (queries, classes).

        Raises:
            DataError: there are too many votes for these bits.
        """
        if int(sums.sum()) >> (_ROOM_BITS - self.bits):
            raise DataError(f"there are too many votes for counts with {self.bits} fractional bits")
        scaled: Int64 = sums << self.bits
        return scaled

    def noise(self, nodes: NodeNoise) -> Int64:
        """Independent noise of every count, shape (queries, classes)."""
        return np.asarray(base.draw(nodes, self.levels)[0].reshape(self.ballots.shape))


def design_votes(ballots: Ballots, privacy: Privacy, unit: PrivacyUnit) -> VotesQuery:
    """The least noise that meets a guarantee: discrete Laplace for a pure one, else discrete Gaussian.

    Raises:
        ScaleError: the noise is larger than can be drawn.
    """
    changed = votes_changed(ballots)
    queries, classes = ballots.shape
    law, bits = counted_noise(
        privacy, l1=changed, l2_squared=changed, integers=queries * classes, rows=unit.max_rows_per_person
    )
    return VotesQuery(ballots, law, bits)


def votes_changed(ballots: Ballots) -> int:
    """By how much one teacher changes all counts at most, in absolute values and in squares."""
    return VOTES_MOVED * len(ballots.queries)
