"""Variance of a mean over some pairs, exactly: it is decided by how many pairs share users.

A mean over pairs varies with who the users happen to be. With independent users, two pairs without a common user are
independent; two that share one have the covariance zeta1, the variance of the kernel's mean given one of its records;
two of the same users have zeta2, the variance of the kernel. So the ordered pairs of pairs of both kinds are counted,
in a design as it was drawn, or on average over all that can be drawn: two uniform pairs are of the same users with the
chance 1 / C and share exactly one with 2 (n - 2) / C, C being all pairs. Given any design the mean is unbiased, so that
the average of variances is the variance.

Between classes, sharing the first user and sharing the second are two different things.

Source:
    Blom, Some properties of incomplete U-statistics, Biometrika 1976; `ustatistics.md`, 7.2 and 7.4. Theorem 5 of Bell,
    Bellet, Gascon and Kulkarni 2020 is `Overlaps.permutations`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import whole
from ogive.errors import ParameterError, quoted
from ogive.pairs.designs import Design, most_rounds, pair_keys


@dataclass(frozen=True)
class Overlaps:
    """What pairs of one sample share.

    Fields:
        pairs: N.
        one: f1, the ordered pairs of pairs that share exactly one user; an average may be a fraction.
        both: f2, those of the same two users, among them each pair with itself.
    """

    pairs: int
    one: Fraction
    both: Fraction

    def variance(self, zeta1: float, zeta2: float) -> float:
        """Variance of the unweighted mean, without noise."""
        return (float(self.one) * zeta1 + float(self.both) * zeta2) / self.pairs**2

    @staticmethod
    def round_robin(users: int, rounds: int) -> Overlaps:
        """Of every tournament, not only on average; of an odd number of users one rests in each round."""
        resting = rounds * (users % 2)
        pairs = rounds * (users // 2)
        squares = (users - resting) * rounds**2 + resting * (rounds - 1) ** 2
        return Overlaps(pairs, Fraction(squares - 2 * pairs), Fraction(pairs))

    @staticmethod
    def permutations(users: int, rounds: int) -> Overlaps:
        """On average over independent rounds: pairs of one round share nothing, pairs of two are uniform."""
        pairs = rounds * (users // 2)
        return _uniform(users, pairs, rounds * (rounds - 1) * (users // 2) ** 2)

    @staticmethod
    def with_replacement(users: int, pairs: int) -> Overlaps:
        """On average over independent uniform pairs."""
        return _uniform(users, pairs, pairs * (pairs - 1))

    @staticmethod
    def sampled_partners(users: int, partners: int) -> Overlaps:
        """On average over independent partners of each user.

        A user is drawn by others a binomial number of times, with mean `partners`; a pair is drawn again by the user
        who drew it and by the one who was drawn.
        """
        pairs = users * partners
        both = pairs + Fraction(pairs * (2 * partners - 1), users - 1)
        drawn = partners * (1 - Fraction(1, users - 1))
        return Overlaps(pairs, users * (4 * partners**2 + drawn) - 2 * both, both)

    @staticmethod
    def all_pairs(users: int) -> Overlaps:
        """Of the complete U-statistic: Hoeffding's variance."""
        pairs = users * (users - 1) // 2
        return Overlaps(pairs, Fraction(2 * (users - 2) * pairs), Fraction(pairs))


@dataclass(frozen=True)
class TwoSampleOverlaps:
    """What pairs between two classes share.

    Fields:
        pairs: N.
        first: N_10, the ordered pairs of pairs that share only the user who is first.
        second: N_01, those that share only the second.
        both: N_=, those of the same two users, among them each pair with itself.
    """

    pairs: int
    first: Fraction
    second: Fraction
    both: Fraction

    def variance(self, sigma10: float, sigma01: float, sigma11: float) -> float:
        """Variance of the unweighted mean, without noise.

        Args:
            sigma10: Variance of the kernel's mean given its first record.
            sigma01: Given its second.
            sigma11: Variance of the kernel.
        """
        shared = float(self.first) * sigma10 + float(self.second) * sigma01 + float(self.both) * sigma11
        return shared / self.pairs**2

    @staticmethod
    def injections(first: int, second: int, rounds: int) -> TwoSampleOverlaps:
        """On average over independent injections between users of the first class and of the second."""
        small, large = min(first, second), max(first, second)
        turns = rounds * (rounds - 1)
        pairs = rounds * small
        again = Fraction(turns * small, large)
        of_small, of_large = turns * small - again, again * (small - 1)
        ends = (of_small, of_large) if first == small else (of_large, of_small)
        return TwoSampleOverlaps(pairs, ends[0], ends[1], pairs + again)

    @staticmethod
    def balanced_injections(first: int, second: int, rounds: int) -> TwoSampleOverlaps:
        """Of every such design, not only on average: nobody meets twice, and degrees differ by at most one."""
        small, large = min(first, second), max(first, second)
        pairs = rounds * small
        less, more = divmod(pairs, large)
        of_small = Fraction(small * rounds**2 - pairs)
        of_large = Fraction((large - more) * less**2 + more * (less + 1) ** 2 - pairs)
        ends = (of_small, of_large) if first == small else (of_large, of_small)
        return TwoSampleOverlaps(pairs, ends[0], ends[1], Fraction(pairs))


def _uniform(users: int, pairs: int, others: int) -> Overlaps:
    """Each pair with itself, and `others` ordered pairs of uniform pairs."""
    every = users * (users - 1) // 2
    return Overlaps(pairs, Fraction(others * 2 * (users - 2), every), pairs + Fraction(others, every))


def overlaps(design: Design) -> Overlaps:
    """What the pairs of an actual design share, counted.

    Raises:
        ParameterError: the design is between classes.
    """
    if design.between:
        raise ParameterError("a design between classes has two_sample_overlaps")
    both = _repeats(design)
    # a pair and itself share two users: each was counted once for either of them
    return Overlaps(len(design), Fraction(_squares(design.degrees) - 2 * both), Fraction(both))


def two_sample_overlaps(design: Design) -> TwoSampleOverlaps:
    """What the pairs of an actual design between classes share, counted.

    Raises:
        ParameterError: the design is of one sample.
    """
    if not design.between:
        raise ParameterError("a design of one sample has overlaps")
    both = _repeats(design)
    first, second = _squares(design.first_degrees), _squares(design.second_degrees)
    return TwoSampleOverlaps(len(design), Fraction(first - both), Fraction(second - both), Fraction(both))


def _repeats(design: Design) -> int:
    """Ordered pairs of pairs of the same two users."""
    return _squares(np.unique(pair_keys(design.pairs, design.users), return_counts=True)[1].astype(np.int64))


def _squares(counts: Int64) -> int:
    return int(counts @ counts)


# --- Variance of a mean over random pairs of given records
#
# Only who meets whom is drawn here. What stands above takes records for drawn too, which is right for an error against
# what they were drawn from. An error against the statistic of these very records does not vary with them: pairs are
# then drawn out of finitely many, and two pairs without a common user are not independent but vary a little against
# each other. Whatever the design, places are given to users at random, so that any two pairs that share as many users
# are any two such pairs; each kind has its one covariance, and expected counts say how often it occurs. All
# pairs together do not vary at all.
#
# Source:
#     Derived here, after Blom 1976; exact for every design whose users are in random places.


@dataclass(frozen=True)
class FixedRecords:
    """How the kernel varies over pairs of users in random places, whose records are given.

    Fields:
        users: n.
        mean: The complete U-statistic, which a mean over random pairs has for its expectation.
        none: Covariance of two pairs that share no user; usually below 0.
        one: Of two that share exactly one.
        both: Of a pair with itself: the variance.
    """

    users: int
    mean: float
    none: float
    one: float
    both: float

    def variance(self, shared: Overlaps) -> float:
        """Variance of the unweighted mean over a random design's pairs, without noise.

        Args:
            shared: On average over the designs that can be drawn.
        """
        none = shared.pairs**2 - shared.one - shared.both
        total = float(none) * self.none + float(shared.one) * self.one + float(shared.both) * self.both
        return total / shared.pairs**2


def fixed_records(kernel: NDArray[Any], counts: Int64) -> FixedRecords:
    """Covariances of the kernel over pairs of given records.

    Args:
        kernel: Its value between two records of each two kinds, shape (kinds, kinds), symmetric.
        counts: Records of each kind, shape (kinds,), at least two in all; a kind may be a single record.

    Raises:
        ParameterError: shapes do not fit, the kernel is not symmetric, a count is negative, or there is no pair.
    """
    if counts.ndim != 1 or kernel.shape != (counts.size, counts.size) or not np.array_equal(kernel, kernel.T):
        shapes = f"{kernel.shape} and {counts.shape}"
        raise ParameterError(f"the kernel must be symmetric, (kinds, kinds), and counts (kinds,), got shapes {shapes}")
    users = int(counts.sum())
    if users < 2 or (counts < 0).any():
        raise ParameterError("`counts` must be at least 0 and add up to two records")
    held = counts.astype(np.float64)
    values = kernel.astype(np.float64)
    mean = _over_others(values, held) @ held / (users * (users - 1))
    # around the mean, for large products that nearly cancel lose digits
    values = values - mean
    sums = _over_others(values, held)
    squares = float(_over_others(values**2, held) @ held)
    ends = float(sums**2 @ held)
    # sums of products over ordered pairs of pairs with two users in common, with one, and with none
    both, one, none = squares, ends - squares, 2 * squares - 4 * ends
    ways = [users * (users - 1)]
    ways += [ways[0] * (users - 2), ways[0] * (users - 2) * (users - 3)]
    results = [each / count if count else 0.0 for each, count in zip((both, one, none), ways, strict=True)]
    return FixedRecords(users, float(mean), results[2], results[1], results[0])


def _over_others(values: Float64, held: Float64) -> Float64:
    """For a record of each kind, the sum of values over all other records."""
    result: Float64 = values @ held - np.diagonal(values)
    return result


# --- What a pair may release of its value, and how far that varies: unbiased, at the part of epsilon that is the pair's
#
# Source:
#     `ustatistics.md`, 7.2.


class PairNoise(Protocol):
    """A kind of noise; its variance at epsilon / k, divided by k, does not fall with k."""

    def variance(self, epsilon: float) -> float:
        """Variance that the noise adds to a pair's value."""


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
        result: Float64 = (values - (1 - keep) * values.mean()) / keep
        return result

    def variances(self, epsilon: float) -> Float64:
        """Variance of the decoded answer of a pair of each value, shape of the values."""
        values = np.array(self.values)
        keep, size = self.keep(epsilon), len(values)
        other = math.exp(-epsilon) / (1 + (size - 1) * math.exp(-epsilon))
        chances = keep * np.eye(size) + other
        # around each one's own mean, which is written as its value and a little: what nearly cancels loses digits
        apart = values - values[:, None] + other * (size * values - values.sum())[:, None]
        result: Float64 = (chances * apart**2).sum(axis=1) / keep**2
        return result

    def variance(self, epsilon: float) -> float:
        """Mean over the shares, or the largest."""
        result = self.variances(epsilon)
        return float(result.max() if self.shares is None else result @ np.array(self.shares))


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
    """The pairs that are among the first `most` of both their users; nobody is in more.

    Args:
        design: Any.
        most: At least 1.

    Raises:
        ParameterError: `most` is below 1.
    """
    most = whole(most, "most", 1)
    within = (_place(design.pairs) < most).all(axis=1)
    return Design(design.users, design.pairs[within], design.between)


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


# --- How many pairs each user should be in
#
# More pairs say more of the values, and each gets less of the epsilon. The search is over whole numbers, on the exact
# formula, and complete: no design has less variance than all pairs, and the noise of the mean does not fall with the
# rounds, so once both together exceed the best error no later one wins.
#
# Source:
#     `ustatistics.md`, 7.3. With a kernel in [0, 1] and Laplace noise one pair is best up to epsilon = 4.


def optimal_pairs(users: int, epsilon: float, zeta1: float, zeta2: float, noise: PairNoise) -> int:
    """Rounds of a tournament with the least mean squared error.

    Args:
        users: At least 2.
        epsilon: Of each user, divided by the rounds.
        zeta1: Variance of the kernel's mean given one of its records.
        zeta2: Variance of the kernel.
        noise: Of each pair.

    Raises:
        ParameterError: a number is out of range.
    """
    users = whole(users, "users", 2)
    return _least(
        lambda rounds: Overlaps.round_robin(users, rounds).variance(zeta1, zeta2),
        lambda rounds: noise.variance(epsilon / rounds) / (rounds * (users // 2)),
        most_rounds(users),
        Overlaps.all_pairs(users).variance(zeta1, zeta2),
    )


def optimal_injections(
    first: int, second: int, epsilon: float, sigma10: float, sigma01: float, sigma11: float, noise: PairNoise
) -> int:
    """Rounds of balanced injections with the least mean squared error.

    Args:
        first: Users of the first class, at least 1.
        second: Of the second, at least 1.
        epsilon: Of each user; a round takes a share of it, of every pair's user of the smaller class.
        sigma10: Variance of the kernel's mean given its first record.
        sigma01: Given its second.
        sigma11: Variance of the kernel.
        noise: Of each pair.

    Raises:
        ParameterError: a number is out of range.
    """
    small = min(whole(first, "first", 1), whole(second, "second", 1))
    large = max(first, second)

    def sampling(rounds: int) -> float:
        return TwoSampleOverlaps.balanced_injections(first, second, rounds).variance(sigma10, sigma01, sigma11)

    return _least(sampling, lambda rounds: noise.variance(epsilon / rounds) / (rounds * small), large, sampling(large))


def _least(sampling: Callable[[int], float], noise: Callable[[int], float], most: int, floor: float) -> int:
    """The first number from 1 to `most` with the least sum; `noise` does not fall and `sampling` is above the floor."""
    best, error = 1, sampling(1) + noise(1)
    for rounds in range(2, most + 1):
        noisy = noise(rounds)
        if noisy + floor >= error:
            break
        result = sampling(rounds) + noisy
        if result < error:
            best, error = rounds, result
    return best
