"""What a pair may release of its value, and how far that varies: unbiased, at the part of epsilon that is the pair's.

Source:
    `ustatistics.md`, 7.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import whole
from ogive.errors import ParameterError, quoted
from ogive.pairs.designs import Design


class PairNoise(Protocol):
    """A kind of noise; its variance at epsilon / k, divided by k, does not fall with k."""

    def variance(self, epsilon: float) -> float:
        """Variance that the noise adds to a pair's value."""
        ...


@dataclass(frozen=True)
class LaplaceNoise:
    """Continuous Laplace noise.

    Fields:
        width: Range of the kernel, its maximum less its minimum.
    """

    width: float = 1.0

    def __post_init__(self) -> None:
        _positive(self.width, "width")

    def variance(self, epsilon: float) -> float:
        """Twice the squared scale."""
        return 2 * (self.width / _positive(epsilon, "epsilon")) ** 2


@dataclass(frozen=True)
class DiscreteLaplaceNoise:
    """Whole-number Laplace noise on a kernel in whole steps.

    Fields:
        steps: Range of the kernel in steps.
        unit: Size of a step.
    """

    steps: int
    unit: float = 1.0

    def __post_init__(self) -> None:
        _positive(self.steps, "steps")
        _positive(self.unit, "unit")

    def variance(self, epsilon: float) -> float:
        """2 lambda / (1 - lambda)^2 squared steps, with lambda = exp(-epsilon / steps)."""
        rate = _positive(epsilon, "epsilon") / self.steps
        return self.unit**2 * 2 * math.exp(-rate) / math.expm1(-rate) ** 2


@dataclass(frozen=True)
class ResponseNoise:
    """Randomized response on the few values that a kernel has: the value, or with a chance beta a uniform one.

    Fields:
        values: All of them, at least two, distinct: (0, 1), or (-1, 0, 1) of Kendall's tau.
        shares: How often pairs have each value, adding up to 1; None takes the value that varies most for all.
    """

    values: tuple[float, ...]
    shares: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if len(set(self.values)) != len(self.values) or len(self.values) < 2:
            raise ParameterError(f"`values` must be at least two, distinct, got {self.values}")
        if self.shares is not None and (
            len(self.shares) != len(self.values) or min(self.shares) < 0 or not math.isclose(sum(self.shares), 1)
        ):
            raise ParameterError(f"`shares` must be one a value and add up to 1, got {self.shares}")

    def keep(self, epsilon: float) -> float:
        """1 - beta: the chance of answering with the value itself, and not with a uniform one."""
        rate = -_positive(epsilon, "epsilon")
        return -math.expm1(rate) / (1 + (len(self.values) - 1) * math.exp(rate))

    def decoded(self, epsilon: float) -> Float64:
        """What each answer stands for, unbiased, shape of the values: beyond them, at both ends."""
        values = np.array(self.values)
        keep = self.keep(epsilon)
        found: Float64 = (values - (1 - keep) * values.mean()) / keep
        return found

    def variances(self, epsilon: float) -> Float64:
        """Variance of the decoded answer of a pair of each value, shape of the values."""
        values = np.array(self.values)
        keep, size = self.keep(epsilon), len(values)
        other = math.exp(-epsilon) / (1 + (size - 1) * math.exp(-epsilon))
        chances = keep * np.eye(size) + other
        # around each one's own mean, which is written as its value and a little: what nearly cancels loses digits
        apart = values - values[:, None] + other * (size * values - values.sum())[:, None]
        found: Float64 = (chances * apart**2).sum(axis=1) / keep**2
        return found

    def variance(self, epsilon: float) -> float:
        """Mean over the shares, or the largest."""
        found = self.variances(epsilon)
        return float(found.max() if self.shares is None else found @ np.array(self.shares))


def _positive(value: float, name: str) -> float:
    """The number, if it is above 0 and finite."""
    if not (value > 0 and math.isfinite(value)):
        raise ParameterError(f"`{name}` must be above 0 and finite, got {quoted(value)}")
    return value


# --- What each pair may spend
#
# Of either user's epsilon that is one part in as many as there are pairs of that user. Degrees are those of the actual
# design, or of what users agreed to, and never their mean: a user in more pairs than the mean would spend more than
# epsilon. They are public and have nothing to do with values.
#
# Source:
#     `ustatistics.md`, 7.4 and correction 20.


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
