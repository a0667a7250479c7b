"""Labels by a noisy vote of teachers (PATE), a row of votes for each teacher."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from ogive.core.arrays import Int64
from ogive.core.checks import KeptByType, array_of
from ogive.errors import ParameterError, quoted
from ogive.queries import Answer, Ballots, LabelsQuery, Query, VotesQuery
from ogive.queries.labels import NOT_ASKED
from ogive.statistics.base import Terms, describe
from ogive.statistics.labels.estimate import LabelsEstimate


@runtime_checkable
class Aggregator(Protocol, metaclass=KeptByType):
    """How votes become labels; frozen plain data."""

    name: ClassVar[str]

    def query(
        self, ballots: Ballots, terms: Terms, *, max_answers: int | None = None, probabilities: Any = None
    ) -> LabelsQuery | VotesQuery:
        """The question about the votes."""
        ...

    def labels(self, opened: Int64, *, probabilities: Any = None) -> Int64:
        """Labels from what came back, -1 where there is none, shape (queries,)."""
        ...


@dataclass(frozen=True)
class Labels:
    """Labels of public inputs by a noisy vote of teachers, each of whom learned from data of its own.

    Each record is a teacher; whoever has a record in one teacher's data alone is hidden with it.

    Fields:
        aggregator: How votes become labels, for example `ConfidentGNMax(200, sigma_1=150, sigma_2=40)`.
        ballots: The queries' columns, and how many classes there are.
        max_answers: After so many answers the run ends; they are paid for whether they are given or not. None is as
            many as there are queries.
        probabilities: Of a student that is public already, a row for every query; for `InteractiveGNMax`.
    """

    name: ClassVar[str] = "labels"

    aggregator: Aggregator
    ballots: Ballots
    _: KW_ONLY
    max_answers: int | None = None
    probabilities: Any = None

    def __post_init__(self) -> None:
        # a class has all that its instances have
        if isinstance(self.aggregator, type) or not isinstance(self.aggregator, Aggregator):
            raise ParameterError(f"`aggregator` must be one such as GNMax(40), got {quoted(self.aggregator)}")
        if not isinstance(self.ballots, Ballots):
            raise ParameterError(f"`ballots` must be Ballots(queries, classes), got {type(self.ballots).__name__}")
        if self.probabilities is not None:
            rows = array_of(self.probabilities).tolist()
            # as they are; the aggregator says what is wrong with them
            object.__setattr__(self, "probabilities", tuple(map(tuple, rows)) if np.ndim(rows) == 2 else rows)

    def alternatives(self) -> dict[str, Labels]:
        """Itself: what is opened follows from the aggregator."""
        return {self.aggregator.name: self}

    def questions(self, terms: Terms) -> Generator[Query, Answer, LabelsEstimate]:
        """Ask for the labels, or for noisy counts from which they are read.

        Privacy: one measurement. Its price follows from the noise and from how many queries and answers there may be.
        """
        query = self.aggregator.query(
            self.ballots, terms, max_answers=self.max_answers, probabilities=self.probabilities
        )
        answer = yield query
        counted = isinstance(query, VotesQuery)
        labels = self.aggregator.labels(answer.values, probabilities=self.probabilities)
        law = answer.noise_of(query).law if isinstance(query, VotesQuery) and answer.noisy else None
        return LabelsEstimate(
            aggregator=describe(self.aggregator),
            ballots=self.ballots,
            labels=labels,
            taught=labels >= 0 if counted else answer.values >= 0,
            asked=len(labels) if counted else int((answer.values != NOT_ASKED).sum()),
            opened=answer.values if counted else None,
            bits=query.bits if counted else 0,
            law=law,
            total=answer.total,
        )
