"""Votes as they are imagined where none are public: on some queries most teachers agree, on the others they waver."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ogive.arrays import Int64
from ogive.checks import any_whole
from ogive.errors import ParameterError, quoted
from ogive.pate.costs.scores import check_probabilities
from ogive.pate.learners import check_seed

_AGREEING = (14.0, 1.2)
_WAVERING = (3.0, 3.0)
_OTHERS = 0.4
_MOST = 1 << 28


def simulated_votes(
    queries: int,
    teachers: int,
    classes: int,
    *,
    agreement: float = 0.85,
    probabilities: ArrayLike | None = None,
    seed: int = 0,
) -> tuple[Int64, Int64]:
    """Simulate vote counts of teachers.

    For a share `agreement` of the queries the probability of the true class has a Beta(14, 1.2) distribution (mean
    about 0.9), for the others Beta(3, 3). The other classes share the remaining probability unevenly.

    Args:
        queries: Number of queries, at least 1.
        teachers: Number of teachers, at least 1.
        classes: Number of classes, at least 2.
        agreement: Share of queries on which most teachers agree, from 0 to 1.
        probabilities: Predictions of a public student, from which true classes are drawn, shape (queries, classes);
            None makes all classes equally likely.
        seed: Seed of the simulation.

    Returns:
        Vote counts, int64, shape (queries, classes), and the true classes, shape (queries,).

    Raises:
        ParameterError: an argument is out of range.
        DataError: probabilities are invalid, or have another shape.

    Example:
        >>> from ogive.pate import simulated_votes
        >>> votes, truth = simulated_votes(100, 250, 10)
        >>> votes.shape, int(votes.sum(axis=1).min()), truth.shape
        ((100, 10), 250, (100,))
    """
    for name, value, least in (("queries", queries, 1), ("teachers", teachers, 1), ("classes", classes, 2)):
        any_whole(value, name, least)
    if queries * classes > _MOST:
        raise ParameterError(f"{queries} queries of {classes} classes are too many to simulate; use fewer")
    if isinstance(agreement, bool) or not math.isfinite(agreement) or not 0 <= agreement <= 1:
        raise ParameterError(f"`agreement` must be a share from 0 to 1, got {quoted(agreement)}")
    drawn = np.random.default_rng(check_seed(seed))
    agreeing = drawn.random(queries) < agreement
    chance = np.where(agreeing, drawn.beta(*_AGREEING, queries), drawn.beta(*_WAVERING, queries))
    truth = _truth(queries, classes, probabilities, drawn)
    others = drawn.dirichlet(np.full(classes - 1, _OTHERS), queries) * (1 - chance)[:, np.newaxis]
    law = np.empty((queries, classes))
    places = np.arange(classes)[np.newaxis, :] != truth[:, np.newaxis]
    law[places] = others.ravel()
    law[~places] = chance
    return drawn.multinomial(teachers, law / law.sum(axis=1, keepdims=True)).astype(np.int64), truth


def _truth(queries: int, classes: int, probabilities: ArrayLike | None, drawn: np.random.Generator) -> Int64:
    if probabilities is None:
        return drawn.integers(0, classes, queries)
    below = np.cumsum(check_probabilities(probabilities, (queries, classes)), axis=1)
    return np.asarray((below < drawn.random((queries, 1)) * below[:, -1:]).sum(axis=1), dtype=np.int64)
