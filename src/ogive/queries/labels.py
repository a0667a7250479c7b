"""Votes of teachers: noisy counts of them, and labels by noisy counts of which nothing else is opened."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ogive.accounting import discrete_loss, group_loss, total_loss
from ogive.core.arrays import Bool, Int64
from ogive.core.checks import ROOM, plain_fields, refuse_sums, whole
from ogive.errors import ParameterError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, Loss, Privacy, PrivacyUnit, PureDP
from ogive.queries import aggregates, base, histograms
from ogive.strategies.base import Level
from ogive.strategies.counts import check_counted, counted_noise

# --- Noisy counts of votes, a histogram for every query
#
# They are what several parties can open of teachers' votes. A teacher who votes otherwise moves one vote in every
# query: two counts by one each. That is what happens when somebody comes into a teacher's data or leaves it, so that it
# is paid for whether or not the number of teachers is public. Whatever is made of the noisy counts, labels and margins,
# costs nothing more.

VOTES_MOVED = 2
"""Counts of a query that change by one where a teacher votes otherwise."""


@dataclass(frozen=True)
class VotesQuery(histograms.CountsQuery, base.LinearQuery):
    """The votes for every class in every query, times 2^bits, each with noise of its own; shape (queries, classes).

    Fields:
        ballots: The queries and how many classes there are.
        law: Noise of every count, on the scale where a vote counts 2^bits.
        bits: Fractional bits of the counts: 0 for Laplace noise.

    Raises:
        ParameterError: the law and the bits do not go together.
    """

    digested: ClassVar[str] = "votes"
    method: ClassVar[str] = "votes"
    counted: ClassVar[str] = "votes"

    ballots: aggregates.Ballots
    law: DiscreteLaplace | DiscreteGaussian
    bits: int = 0

    def __post_init__(self) -> None:
        check_counted(self.levels[0].nodes, (self.law,), self.bits)

    @property
    def aggregate(self) -> aggregates.Ballots:
        return self.ballots

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of all counts together."""
        return self._loss(votes_changed(self.ballots), unit)


def design_votes(ballots: aggregates.Ballots, privacy: Privacy, unit: PrivacyUnit) -> VotesQuery:
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


def votes_changed(ballots: aggregates.Ballots) -> int:
    """By how much one teacher changes all counts at most, in absolute values and in squares."""
    return VOTES_MOVED * len(ballots.queries)


# --- Labels, for who may see all votes
#
# The queries are taken in order. Each may be checked first: whether the largest count, or the largest excess over what
# is expected, reaches a threshold with noise. Those that pass are answered by the class with the largest noisy count.
# The run ends when so many are answered as were allowed beforehand; queries after that are not asked.
#
# The price is that of as many checks as there are queries and as many answers as are allowed, however many there are in
# the end, since that number is found from the votes. Unused answers are paid for as padding. A teacher is priced as one
# who votes otherwise, which moves two counts: so does whoever comes into a teacher's data or leaves it.
#
# Source:
#     Papernot, Song, Mironov, Raghunathan, Talwar and Erlingsson 2018, algorithms 1 and 2.

REFUSED = -1
"""The label of a query whose check failed."""

NOT_ASKED = -2
"""The label of a query that came after the last answer that was allowed."""


@dataclass(frozen=True)
class Check:
    """Whether a query is answered at all.

    Fields:
        threshold: What the largest count or excess must reach with noise, in units of 2^-bits votes.
        law: The noise, in the same units.
        expected: Votes that every class is expected to get, in the same units, for each query; the check then takes the
            largest excess over them, rounded half up to whole votes. None takes the largest count.
    """

    threshold: int
    law: DiscreteGaussian
    expected: tuple[tuple[int, ...], ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        return plain_fields(self)

    def heights(self, sums: Int64, bits: int) -> Int64:
        """What is compared with the threshold, without noise, in units of 2^-bits votes, shape (queries,).

        One vote that moves changes it by at most 2^bits: the maximum moves by at most that, and rounding half up
        takes whole votes apart from whole votes.
        """
        if self.expected is None:
            return np.asarray(sums.max(axis=1) << bits)
        excess = ((sums << bits) - np.array(self.expected, dtype=np.int64)).max(axis=1)
        half = (1 << bits) >> 1
        return np.asarray(((excess + half) >> bits) << bits)


@dataclass(frozen=True)
class LabelsQuery(base.Described, base.CuratorQuery):
    """A label for every query, or `REFUSED` or `NOT_ASKED`; answers have shape (queries,).

    Fields:
        ballots: The queries and how many classes there are.
        law: Noise of every count of an answer, on the scale where a vote counts 2^bits.
        max_answers: After so many answers the run ends.
        bits: Fractional bits of the counts; 0 for Laplace noise.
        check: Which queries are answered; None answers all.

    Raises:
        ParameterError: parameters do not fit each other.
    """

    digested: ClassVar[str] = "labels"
    method: ClassVar[str] = "labels"

    ballots: aggregates.Ballots
    law: DiscreteLaplace | DiscreteGaussian
    max_answers: int
    bits: int = 0
    check: Check | None = None

    def __post_init__(self) -> None:
        queries, classes = self.ballots.shape
        most, check = self.max_answers, self.check
        whole(most, "max_answers", 1, queries)
        check_counted(queries, (self.law,) if check is None else (self.law, check.law), self.bits)
        if check is not None and check.expected is not None:
            if np.shape(check.expected) != (queries, classes):
                raise ParameterError("expected votes must be a number for each class of each query")
            if not all(0 <= each <= ROOM for row in check.expected for each in row):
                raise ParameterError("expected votes must be from 0 to 2^61 - 1, in units of 2^-bits votes")

    @property
    def aggregate(self) -> aggregates.Ballots:
        return self.ballots

    @property
    def levels(self) -> tuple[Level, ...]:
        """One noise variable per query for the checks, if there are any; then one per query and class."""
        queries, classes = self.ballots.shape
        answers = Level(queries * classes, self.law)
        return (answers,) if self.check is None else (Level(queries, self.check.law), answers)

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of a check of every query and of as many answers as are allowed.

        Raises:
            ParameterError: votes are expected of a number of teachers that is private.
        """
        queries, classes = self.ballots.shape
        private = unit.adjacency is not Adjacency.REPLACE
        if self.check is not None and self.check.expected is not None and private:
            raise ParameterError(
                "this aggregator needs a public number of teachers, which `ADD_OR_REMOVE` keeps private; "
                "use `adjacency REPLACE`"
            )
        if isinstance(self.law, DiscreteLaplace):
            loss: Loss = PureDP(VOTES_MOVED * self.max_answers * 2**self.bits / self.law.scale)
        else:
            unit_squared = Fraction(4**self.bits)
            loss = discrete_loss(
                VOTES_MOVED * self.max_answers * unit_squared, self.law.sigma, self.max_answers * classes
            )
            if self.check is not None:
                loss = total_loss([discrete_loss(queries * unit_squared, self.check.law.sigma, queries), loss])
        return group_loss(loss, unit.max_rows_per_person)

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """Labels, with the noise of the release; noise of counts is drawn for queries that are answered alone.

        Ties go to the lowest class.

        Raises:
            DataError: there are too many votes for these bits.
        """
        refuse_sums(sums, 1 << self.bits, ROOM, f"there are too many votes for counts with {self.bits} fractional bits")
        answered = self._passing(sums, nodes)
        labels = np.where(answered, 0, REFUSED)
        chosen = np.flatnonzero(answered)
        if len(chosen) >= self.max_answers:
            last = chosen[self.max_answers - 1]
            labels[last + 1 :] = NOT_ASKED
            chosen = chosen[: self.max_answers]
        counts = sums[chosen] << self.bits
        if nodes is not None:
            classes = self.ballots.classes
            places = chosen[:, np.newaxis] * classes + np.arange(classes)
            counts = counts + nodes.values(self.law, len(self.levels) - 1, places)
        labels[chosen] = counts.argmax(axis=1)
        return labels.astype(np.int64)

    def _passing(self, sums: Int64, nodes: NodeNoise | None) -> Bool:
        """Which queries pass their check, shape (queries,)."""
        if self.check is None:
            return np.ones(len(sums), dtype=np.bool_)
        heights = self.check.heights(sums, self.bits)
        if nodes is not None:
            heights = heights + nodes.values(self.check.law, 0, np.arange(len(sums)))
        return np.asarray(heights >= self.check.threshold)


ServedQuery = base.LinearQuery | LabelsQuery
"""What several machines answer of which none sees records: what adds up, and labels of votes."""
