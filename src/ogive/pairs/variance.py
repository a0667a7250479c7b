"""Variance of a mean over some pairs, exactly: it is decided by how many pairs share users.

A mean over pairs varies with who the users happen to be. With independent users, two pairs without a common user are
independent; two that share one have the covariance zeta1, the variance of the kernel's mean given one of its records;
two of the same users have zeta2, the variance of the kernel. So the ordered pairs of pairs of both kinds are counted,
in a design as it was drawn, or on average over all that can be drawn (`expected.py`).

Between classes, sharing the first user and sharing the second are two different things.

Source:
    Blom, Some properties of incomplete U-statistics, Biometrika 1976; `ustatistics.md`, 7.2 and 7.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.core.arrays import Float64, Int64
from ogive.errors import ParameterError
from ogive.pairs.designs import Design, pair_keys


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
# then taken out of finitely many, and two pairs without a common user are not independent but vary a little against
# each other. Whatever the design, places are given to users at random, so that any two pairs that share as many users
# are any two such pairs; each kind has its one covariance, and the counts of `expected.py` say how often it occurs. All
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
            shared: On average over the designs that can be drawn, from `expected.py`.
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
    found = [each / count if count else 0.0 for each, count in zip((both, one, none), ways, strict=True)]
    return FixedRecords(users, float(mean), found[2], found[1], found[0])


def _over_others(values: Float64, held: Float64) -> Float64:
    """For a record of each kind, the sum of values over all other records."""
    found: Float64 = values @ held - np.diagonal(values)
    return found
