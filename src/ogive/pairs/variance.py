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

import numpy as np

from ogive.errors import ParameterError
from ogive.pairs.design import Design, pair_keys


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
    return _squares(np.unique(pair_keys(design.pairs, design.users), return_counts=True)[1].astype(np.int64))


def _squares(counts: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> int:
    return int(counts @ counts)
