"""What aggregators have in common when they are asked: laws of integer noise, thresholds, and what students expect."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from ogive.accounting.gaussian import LEAST_SIGMA
from ogive.arrays import Float64, Int64
from ogive.checks import whole
from ogive.errors import ParameterError
from ogive.noise import DerivedNodes, DiscreteGaussian, SystemSource, round_up_scale
from ogive.noise.base import RandomSource
from ogive.pate.votes import check_votes
from ogive.privacy import Adjacency, PrivacyUnit, PureDP, number_text
from ogive.queries import Ballots as Ballots
from ogive.queries.labels import Check

if TYPE_CHECKING:
    from ogive.statistics.labels.statistic import Aggregator


BITS = 16
"""Votes count 2^16 where Gaussian noise is added."""

_LARGEST = 1 << 62


def answered(aggregator: Aggregator, votes: Any, *, source: RandomSource | None, probabilities: Any) -> Int64:
    """Labels of vote counts that somebody holds, with fresh noise and no limit to their number.

    Args:
        aggregator: The aggregator that turns votes into labels.
        votes: Counts, shape (queries, classes); every row adds up to the number of teachers.
        source: Where the noise comes from; the operating system unless a test replays one.
        probabilities: Of the student, shape (queries, classes), where the aggregator is interactive.

    Returns:
        Labels, shape (queries,), -1 where the aggregator refuses.

    Raises:
        DataError: the votes are not vote counts.
        ParameterError: the student's probabilities are missing, none, or not asked for.

    Privacy: as the aggregator states, for every query and answer; nothing keeps count. `ogive.pate.label` does.
    """
    from ogive.statistics import Terms  # slow to import, and those who count costs need no statistics

    counts = check_votes(votes)
    ballots = Ballots(tuple(map(str, range(len(counts)))), counts.shape[1])
    teachers = int(counts[0].sum())
    terms = Terms(PureDP(1), PrivacyUnit(Adjacency.REPLACE), lambda query: None, count=lambda: teachers)
    query = aggregator.query(ballots, terms, probabilities=probabilities)
    key = (SystemSource() if source is None else source).key()
    opened = query.answer(counts, DerivedNodes(key, b"ogive pate answers"))
    return aggregator.labels(opened, probabilities=probabilities)


def scaled(sigma: Fraction, name: str) -> DiscreteGaussian:
    """Gaussian noise of a standard deviation in votes, for votes that count 2^BITS.

    Raises:
        ParameterError: there is too little of it for integers to stand for continuous noise.
    """
    if sigma * 2**BITS < LEAST_SIGMA:
        raise ParameterError(f"`{name}` must be at least {LEAST_SIGMA / 2**BITS:.3g} votes, got {number_text(sigma)}")
    return DiscreteGaussian(round_up_scale(sigma * 2**BITS))


def check(threshold: Fraction, sigma: Fraction, expected: tuple[tuple[int, ...], ...] | None = None) -> Check:
    """The check of a threshold in votes; one that no noise ever reaches is as good as the largest number."""
    least = min(max(ceil(threshold * 2**BITS), -_LARGEST), _LARGEST)
    return Check(least, scaled(sigma, "sigma_1"), expected)


def most_answers(name: str, ballots: Ballots, max_answers: int | None, probabilities: Any = None) -> int:
    """How many answers are paid for: as many as there are queries unless fewer are asked for.

    Raises:
        ParameterError: the cap is no number of answers, or there are probabilities that nobody asks for.
    """
    if probabilities is not None:
        raise ParameterError(f"aggregator {name} does not use a student's probabilities; leave them out")
    if max_answers is None:
        return len(ballots.queries)
    whole(max_answers, "max_answers", 1)
    return min(max_answers, len(ballots.queries))


def expected_votes(probabilities: Float64, teachers: int | None) -> tuple[tuple[int, ...], ...]:
    """Votes that a student expects, in units of 2^-BITS: rounded once, from public numbers alone.

    Raises:
        ParameterError: the number of teachers is private.
    """
    if teachers is None:
        raise ParameterError(
            "this aggregator needs a public number of teachers, which `ADD_OR_REMOVE` keeps private; "
            "use `adjacency REPLACE`"
        )
    rounded = np.floor(probabilities * (teachers * 2**BITS) + 0.5).astype(np.int64)
    return tuple(map(tuple, rounded.tolist()))
