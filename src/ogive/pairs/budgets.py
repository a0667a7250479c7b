"""What each pair may spend: of either user's epsilon one part in as many as there are pairs of that user.

Degrees are those of the actual design, or of what users agreed to, and never their mean: a user in more pairs than the
mean would spend more than epsilon. They are public and have nothing to do with values.

Source:
    `ustatistics.md`, 7.4 and correction 20.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Int64
from ogive.checks import whole
from ogive.errors import ParameterError
from ogive.pairs.design import Design
from ogive.pairs.noise import PairNoise


def divisors(design: Design, agreed: Int64 | None = None) -> Int64:
    """In how many parts epsilon is divided at each pair, shape (N,): the larger of both users' degrees.

    Pairs of the same divisor run the same circuit.

    Args:
        design: Whose pairs spend.
        agreed: Degrees that users agreed to, shape (users,), after dropouts those of the first design; None takes the
            actual ones.

    Raises:
        ParameterError: a user is in more pairs than agreed.

    Privacy: a pair's release at epsilon / divisor costs either user at most 1 / degree of epsilon, so that all of a
        user's pairs cost at most epsilon.
    """
    degrees = design.degrees if agreed is None else agreed
    if degrees.shape != (design.users,):
        raise ParameterError(f"agreed degrees must be one a user, got shape {degrees.shape}")
    above = np.flatnonzero(design.degrees > degrees)
    if above.size:
        user = int(above[0])
        raise ParameterError(f"user {user} agreed to {degrees[user]} pairs and is in {design.degrees[user]}")
    largest: Int64 = degrees[design.pairs].max(axis=1)
    return largest


def capped(design: Design, most: int) -> Design:
    """The pairs that are among the first so many of both their users; nobody is in more.

    Args:
        design: Any.
        most: At least 1.

    Raises:
        ParameterError: `most` is below 1.
    """
    most = whole(most, "most", 1)
    kept = (_place(design.pairs) < most).all(axis=1)
    return Design(design.users, design.pairs[kept], design.between)


def noise_variance(design: Design, epsilon: float, noise: PairNoise, agreed: Int64 | None = None) -> float:
    """Variance that the noise of an actual design adds to the unweighted mean over its pairs.

    Raises:
        ParameterError: as `divisors`; epsilon is not above 0.
    """
    parts, counts = np.unique(divisors(design, agreed), return_counts=True)
    total = sum(int(count) * noise.variance(epsilon / int(part)) for part, count in zip(parts, counts, strict=True))
    return float(total) / len(design) ** 2


def _place(pairs: Int64) -> Int64:
    """Of each end of a pair, which of its user's pairs this is, 0-based, shape (N, 2)."""
    ends = pairs.ravel()
    order = np.argsort(ends, kind="stable")
    ordered = ends[order]
    start = np.searchsorted(ordered, ordered, side="left")
    place = np.empty(len(ends), dtype=np.int64)
    place[order] = np.arange(len(ends)) - start
    return place.reshape(-1, 2)
