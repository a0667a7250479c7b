"""Designs of pairs between two classes: in every round each user of the smaller class meets one of the larger.

Pairs of two users of one class would say nothing of an AUC.

Source:
    `ustatistics.md`, 7.4.
"""

from __future__ import annotations

import math

import numpy as np

from ogive.arrays import Bool, Int64
from ogive.checks import whole
from ogive.errors import ParameterError
from ogive.pairs.design import Design
from ogive.pairs.drawing import PublicDraws


def injections(positive: Bool, rounds: int, *, seed: bytes) -> Design:
    """Independent random injections of the smaller class into the larger.

    Users of the smaller class are in exactly so many pairs as there are rounds, those of the larger in a random number.

    Args:
        positive: The public class of each user, shape (users,); positives are first in their pairs.
        rounds: P, at least 1.
        seed: Public.

    Raises:
        ParameterError: a class is empty, or a number out of range.
    """
    small, large = _classes(positive)
    rounds = whole(rounds, "rounds", 1)
    draws = PublicDraws(seed, "injections")
    met = np.concatenate([draws.permutation(large.size)[: small.size] for _ in range(rounds)])
    return _between(positive, np.tile(small, rounds), large[met])


def balanced_injections(positive: Bool, rounds: int, *, seed: bytes) -> Design:
    """Injections in which no two users meet twice, and users of the larger class are in equally many pairs but for one.

    Both classes stand in a random order and are gone through side by side, over and over; each time that they come
    back to where they began, the larger moves on by one. So every pair comes up once before any comes up again.

    Args:
        positive: The public class of each user, shape (users,); positives are first in their pairs.
        rounds: P, 1 to the size of the larger class; then all meet all of the other class.
        seed: Public.

    Raises:
        ParameterError: a class is empty, or a number out of range.
    """
    small, large = _classes(positive)
    rounds = whole(rounds, "rounds", 1, large.size)
    draws = PublicDraws(seed, "balanced injections")
    small, large = small[draws.permutation(small.size)], large[draws.permutation(large.size)]
    step = np.arange(rounds * small.size)
    moved = step + step // math.lcm(small.size, large.size)
    return _between(positive, small[step % small.size], large[moved % large.size])


def _classes(positive: Bool) -> tuple[Int64, Int64]:
    """Numbers of the users of the smaller and of the larger class; of equal ones the positives are the smaller."""
    if positive.ndim != 1 or positive.dtype != np.bool_:
        raise ParameterError("the classes must be one truth value a user")
    found = sorted((np.flatnonzero(positive), np.flatnonzero(~positive)), key=len)
    if not found[0].size:
        raise ParameterError("pairs between classes need a user of each, got an empty class")
    return found[0], found[1]


def _between(positive: Bool, small: Int64, large: Int64) -> Design:
    ends = (small, large) if positive[small[0]] else (large, small)
    return Design(positive.size, np.stack(ends, axis=1), between=True)
