"""Several quantiles at once: bins that together divide the records as the wanted quantiles would.

A candidate is a bin for every quantile, in order, and its cost is how far the parts between them are from what they
should hold (`joint_choice.Ranks`). One is chosen by the exponential mechanism, with probability proportional to
exp(-cost / scale), exactly (`joint_choice`). With costs that move by at most d between adjacent data sets that costs

    epsilon = 2 d / scale,   and rho = epsilon^2 / 8 in zCDP, since the logarithms of all probabilities
                             move within a range of epsilon.

Source: McSherry and Talwar 2007; Gillenwater, Joseph and Kulesza 2021 for quantiles; Cesar and Rogers 2021 for zCDP of
a bounded range. The proof is in the manual, under joint selection of quantiles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ogive.columns import Binning
from ogive.core.arrays import Int64
from ogive.core.checks import truth
from ogive.errors import DataError, ParameterError
from ogive.noise import Geometric, round_up_scale
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, Loss, Privacy, PrivacyUnit, PureDP, Rational, ZeroConcentratedDP, exact
from ogive.queries import base
from ogive.queries.joint_choice import Costs, Ranks, choose_bins
from ogive.strategies.base import Level

MOST_QUANTILES = 9
MOST_BINS = 1 << 16
MOST_UNIT = 1 << 13
"""Largest common denominator of the probabilities: products of its square with numbers of records stay integers."""

_STEEPEST = 8  # scales that one part of a record may cost; more would only slow the choice down


@dataclass(frozen=True, init=False)
class JointQuantilesQuery(base.Described, base.CuratorQuery):
    """The bins of several quantiles; the answer has shape (quantiles,) and holds their numbers, not decreasing.

    It is not linear: only who sees all records can answer it.

    Fields:
        binning: How a record is mapped to a bin.
        probabilities: Which quantiles, exact, not decreasing.
        law: Its scale is that of the choice.
        free_total: Whether costs are records to be added or removed, which suits ADD_OR_REMOVE, and not records to be
            replaced.
        concentrated: Whether the price is stated in zCDP, where it is less.

    Raises:
        ParameterError: there are too many quantiles or bins, or probabilities are not in order, or not so short.
    """

    digested: ClassVar[str] = "joint quantiles"
    method: ClassVar[str] = "joint_exponential"

    selects: ClassVar[bool] = True
    binning: Binning
    probabilities: tuple[Fraction, ...]
    law: Geometric
    free_total: bool
    concentrated: bool

    def __init__(
        self,
        binning: Binning,
        probabilities: Sequence[Rational],
        law: Geometric,
        free_total: bool = False,
        concentrated: bool = False,
    ) -> None:
        shares = tuple(exact(share, "a probability") for share in probabilities)
        common_unit(shares)
        if binning.grid.bins > MOST_BINS:
            raise ParameterError(f"`bins` must be at most {MOST_BINS} for a joint selection, got {binning.grid.bins}")
        if list(shares) != sorted(shares):
            raise ParameterError("the probabilities of a joint selection must not decrease")
        object.__setattr__(self, "binning", binning)
        object.__setattr__(self, "probabilities", shares)
        object.__setattr__(self, "law", law)
        object.__setattr__(self, "free_total", truth(free_total, "free_total"))
        object.__setattr__(self, "concentrated", truth(concentrated, "concentrated"))

    @property
    def aggregate(self) -> Binning:
        """Records per bin."""
        return self.binning

    @property
    def levels(self) -> tuple[Level, ...]:
        """One choice."""
        return (Level(1, self.law),)

    def price(self, unit: PrivacyUnit) -> Loss:
        """Exact privacy loss of telling the bins.

        Raises:
            ParameterError: missing values are dropped although the adjacency makes the number of records public.
        """
        base.check_missing(self.binning, unit.adjacency)
        epsilon = self.epsilon(unit.adjacency) * unit.max_rows_per_person
        return ZeroConcentratedDP(epsilon**2 / 8) if self.concentrated else PureDP(epsilon)

    def epsilon(self, adjacency: Adjacency) -> Fraction:
        """The range within which logarithms of probabilities move for one row."""
        return 2 * _moved(self.probabilities, adjacency, free_total=self.free_total) / self.law.scale

    def description(self) -> dict[str, Any]:
        return {
            "binning": self.binning.to_dict(),
            "probabilities": [str(share) for share in self.probabilities],
            "law": self.law.to_dict(),
            "free_total": self.free_total,
        }

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """Numbers of the bins; without noise the lowest ones that are exactly right.

        Raises:
            DataError: there are so many records that costs would not fit.
        """
        unit = common_unit(self.probabilities)
        if int(sums.sum()) >= (1 << 59) // unit**2:
            raise DataError("costs of this many records do not fit; select fewer quantiles, with short probabilities")
        ranks = Ranks.of(sums, unit, [int(share * unit) for share in self.probabilities])
        if nodes is None:
            return np.array(
                [np.argmin(np.maximum(ranks.too_high(k), ranks.too_low(k))) for k in range(len(ranks.wanted))], np.int64
            )
        factor, slope = _factors(self.probabilities, free_total=self.free_total)

        def cost(bins: Int64) -> Int64:
            if self.free_total:
                return factor * ranks.free_lengths(bins)
            return factor * ranks.lengths(bins, np.full(len(bins), ranks.records, np.int64))

        # with a free total walks are shorter, at least 1 / 2 (1 - s) of those with the fixed one
        per_length = Fraction(unit, 2) if self.free_total else Fraction(factor)
        return choose_bins(ranks, Costs(self.law, slope, per_length, cost), nodes)


def common_unit(probabilities: Sequence[Fraction]) -> int:
    """The least common denominator of some probabilities."""
    if not 1 <= len(probabilities) <= MOST_QUANTILES:
        raise ParameterError(
            f"a joint selection is of 1 to {MOST_QUANTILES} quantiles, got {len(probabilities)}; every method of a "
            "whole curve has all quantiles at one price"
        )
    for share in probabilities:
        if not 0 <= share <= 1:
            raise ParameterError(f"`probabilities` must be in [0, 1], got {_given(share)}")
    unit = math.lcm(*(share.denominator for share in probabilities))
    if unit > MOST_UNIT:
        longest = max(probabilities, key=lambda share: share.denominator)
        given = [longest] if longest.denominator > MOST_UNIT else probabilities
        raise ParameterError(
            f"a joint selection needs probabilities with a common denominator of at most {MOST_UNIT}, got "
            + ", ".join(map(_given, given))
        )
    return unit


def _given(share: Fraction) -> str:
    """A probability as it was given: as a decimal number where that is the same number, else as a fraction."""
    number = repr(float(share))
    return number if Fraction(number) == share else str(share)


def _factors(probabilities: Sequence[Fraction], *, free_total: bool) -> tuple[int, int]:
    """What the length of a walk is multiplied by, and the least cost of a candidate that is off by one part.

    Somebody who is off by r records needs r of them replaced, and a walk of twice that length; or r / (1 - s) added
    or removed, s being the smallest share of a part.
    """
    if not free_total:
        return 1, 2
    unit = common_unit(probabilities)
    cuts = [0, *(int(share * unit) for share in probabilities), unit]
    largest = unit - min(after - before for before, after in pairwise(cuts))
    return largest, unit


def _moved(probabilities: Sequence[Fraction], adjacency: Adjacency, *, free_total: bool) -> int:
    """Most that a cost changes between adjacent data sets."""
    unit = common_unit(probabilities)
    factor, _ = _factors(probabilities, free_total=free_total)
    # a walk with a free total is longer by one record at most for one added, one with a fixed total by two for any
    return factor * unit * (1 if free_total and adjacency is Adjacency.ADD_OR_REMOVE else 2)


def design_joint(
    binning: Binning, probabilities: Sequence[Rational], *, privacy: Privacy, unit: PrivacyUnit
) -> JointQuantilesQuery:
    """The query that costs at most a pure or concentrated guarantee.

    Args:
        binning: How a record is mapped to a bin.
        probabilities: Which quantiles, not decreasing.
        privacy: What the answer may cost; a pure epsilon or a rho.
        unit: Privacy unit of the guarantee.

    Raises:
        ScaleError: more noise would be needed than can be drawn.
        ParameterError: a field is out of range.
    """
    concentrated = isinstance(privacy, ZeroConcentratedDP)
    if isinstance(privacy, ZeroConcentratedDP):
        step = 1 << 60
        epsilon = Fraction(math.isqrt(math.floor(8 * privacy.rho * step * step)), step)
    else:
        assert isinstance(privacy, PureDP), "guarantees are divided as pure or concentrated ones"
        epsilon = privacy.epsilon
    shares = tuple(exact(share, "a probability") for share in probabilities)
    free = unit.adjacency is Adjacency.ADD_OR_REMOVE
    moved = _moved(shares, unit.adjacency, free_total=free)
    _, slope = _factors(shares, free_total=free)
    scale = 2 * moved * unit.max_rows_per_person / epsilon
    law = Geometric(round_up_scale(max(scale, Fraction(slope, _STEEPEST))))
    return JointQuantilesQuery(binning, shares, law, free, concentrated)
