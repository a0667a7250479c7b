"""Private selection: the place of a noisy maximum, a bound by a sparse vector, and several quantiles at once."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar, Protocol

import numpy as np

from ogive.accounting import as_concentrated, group_loss
from ogive.columns import Binning
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import ROOM, WIDE, Range, among, refuse_sums, truth, whole
from ogive.errors import ParameterError, UnsupportedError, quoted
from ogive.noise import DiscreteLaplace, Geometric, round_up_scale
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, Loss, Privacy, PrivacyUnit, PureDP, Rational, ZeroConcentratedDP, exact
from ogive.queries import base
from ogive.queries.joint_choice import Costs, Ranks, choose_bins
from ogive.strategies import Strategy
from ogive.strategies.base import Level, approximates

# --- Scores of public candidates, in integers

MAX_DENOMINATOR = 1000
"""Largest denominator of a quantile's probability: products of it with numbers of records must stay integers."""

MAX_SHIFT = 1 << 40
"""Most records by which a wanted rank is shifted."""


class Score(Hashable, Protocol):
    """Interface; frozen plain data with no subclass."""

    @property
    def candidates(self) -> int:
        """How many candidates there are, numbered from 0; public."""

    def scores(self, sums: Int64) -> Int64:
        """The score of each candidate for a histogram, int64 of shape (candidates,); higher is better."""

    def sensitivity(self, adjacency: Adjacency) -> int:
        """Most that any score changes between adjacent data sets, at least 1."""

    def monotone(self, adjacency: Adjacency) -> bool:
        """Whether between any two adjacent data sets all scores that change do so in one direction."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data that says all that fixes the scores."""


@dataclass(frozen=True)
class QuantileScore:
    """How near each bin's upper end is to a quantile: minus the number of records that it is off.

    With c(t) records at or below t, an end t is exactly right where c(before t) <= q n <= c(t), before t being the
    end of the bin below. Else it is off by the number of records between q n and the nearer of the two. Looking at both
    sides matters where many records have one value: only that value is then right, while `|c(t) - q n|` would call
    a threshold far below it as good. Ranks are multiplied by the denominator of q, which makes them integers.

    Records outside the candidates count as clipped to them.

    Args:
        probability: Which quantile, in [0, 1], with a denominator of at most 1000.
        first, last: Numbers of the first and last bin that are candidates.
        shift: A public number of records by which the wanted rank lies above q n, or below it. The outermost bins are
            exactly right for ranks outside 0 to n.

    Raises:
        ParameterError: the probability is out of range or not so short, or there is no candidate.
    """

    probability: Fraction
    _: KW_ONLY
    first: int
    last: int
    shift: int = 0

    def __post_init__(self) -> None:
        share = exact(self.probability, "probability")
        if not 0 <= share <= 1:
            raise ParameterError(f"`probability` must be in [0, 1], got {self.probability}")
        if share.denominator > MAX_DENOMINATOR:
            raise ParameterError(
                f"`probability` must be a fraction with a denominator of at most {MAX_DENOMINATOR}, "
                f"got {self.probability}"
            )
        if not 0 <= self.first <= self.last:
            raise ParameterError(f"`candidates` must be bins from first to last, got {self.first} to {self.last}")
        whole(self.shift, "shift", -MAX_SHIFT, MAX_SHIFT)
        object.__setattr__(self, "probability", share)
        object.__setattr__(self, "first", int(self.first))
        object.__setattr__(self, "last", int(self.last))

    @property
    def candidates(self) -> int:
        return self.last - self.first + 1

    def scores(self, sums: Int64) -> Int64:
        """Minus the ranks by which each bin is off, times the denominator of the probability.

        Raises:
            DataError: ranks, times the denominator of the probability, may not fit into 64 bits.
        """
        wanted, unit = self.probability.numerator, self.probability.denominator
        ranks = (Range.sums(sums) + Range(0, abs(self.shift))) * unit
        ranks.check(WIDE - 1, "ranks of this many records do not fit; select a quantile of a smaller denominator")
        at_or_below = np.cumsum(sums)[self.first : self.last + 1]
        below = np.concatenate(([0], at_or_below[:-1]))
        at_or_below[-1] = sums.sum()
        rank = wanted * int(at_or_below[-1]) + unit * self.shift
        too_high, too_low = unit * below - rank, rank - unit * at_or_below
        # a rank below all records, or above them, is that of the outermost bin
        too_high[0] = too_low[-1] = 0
        off = np.maximum(np.maximum(too_high, too_low), 0)
        return np.asarray(-off, dtype=np.int64)

    def sensitivity(self, adjacency: Adjacency) -> int:
        """A replaced record moves c(t) - q n by at most 1, an added one by 1 - q or by -q; a shift moves nothing."""
        wanted, unit = self.probability.numerator, self.probability.denominator
        return unit if adjacency is Adjacency.REPLACE else max(wanted, unit - wanted)

    def monotone(self, adjacency: Adjacency) -> bool:
        """Always false: scores on the two sides of the quantile may move in opposite directions."""
        return False

    def to_dict(self) -> dict[str, Any]:
        data = {"score": "quantile", "probability": str(self.probability), "first": self.first, "last": self.last}
        return data | ({"shift": self.shift} if self.shift else {})


# --- The place of the largest noisy score
#
# Every candidate's integer score gets integer noise of its own, geometric and one-sided, and only the number of the
# candidate that then leads is released. With scores that move by at most d between adjacent data sets and noise
# P(k) proportional to exp(-k / scale) that costs exactly
#
#     epsilon = 2 d / scale,   or d / scale where all scores move in one direction.
#
# Scores and noise are multiplied by 2^bits, so that ties, which the lowest number wins, hardly happen. In the
# limit this is permute-and-flip (McKenna and Sheldon 2020; Ding et al. 2021), which is never worse than the
# exponential mechanism of the same epsilon. The proof is in the manual, under selection.

RESOLUTION_BITS = 10
MAX_BITS = 20


class _Choice(base.Described):
    """What choices of bins share: how the price is stated says nothing of what is measured."""

    selects: ClassVar[bool] = True
    binning: Binning

    @property
    def aggregate(self) -> Binning:
        return self.binning

    def description(self) -> dict[str, Any]:
        fields = super().description()
        del fields["concentrated"]
        return fields


@dataclass(frozen=True)
class NoisyMaxQuery(_Choice, base.CuratorQuery):
    """The candidate with the largest noisy score; the answer has shape (1,) and holds its number.

    It is not linear: only who sees all records can answer it.

    Fields:
        binning: How a record is mapped to a bin.
        score: Candidates, and how good each is for a histogram.
        law: Noise of each score times 2^bits.
        bits: Fractional bits of the comparison.
        concentrated: Whether the price is stated in zCDP, where several of them add up to less, and not as a pure
            epsilon.
    """

    digested: ClassVar[str] = "noisy maximum"

    binning: Binning
    score: Score
    law: Geometric
    bits: int = RESOLUTION_BITS
    concentrated: bool = False

    def __post_init__(self) -> None:
        whole(self.bits, "bits", 0, MAX_BITS)

    @property
    def method(self) -> str:
        """Name of the mechanism, or of what the score selects."""
        return str(getattr(self.score, "method", "noisy_max"))

    @property
    def levels(self) -> tuple[Level, ...]:
        return (Level(self.score.candidates, self.law),)

    def price(self, unit: PrivacyUnit) -> Loss:
        """Exact privacy loss of telling which candidate leads.

        Raises:
            ParameterError: missing values are dropped although the adjacency makes the number of records public.
        """
        base.check_missing(self.binning, unit.adjacency)
        sides = 1 if self.score.monotone(unit.adjacency) else 2
        epsilon = sides * self.score.sensitivity(unit.adjacency) * 2**self.bits / self.law.scale
        return stated(PureDP(epsilon), unit, concentrated=self.concentrated)

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """Number of the leading candidate, the lowest where several lead; shape (1,).

        Raises:
            DataError: there are so many records that the scores would not fit.
        """
        scores = self.score.scores(sums)
        refusal = f"scores of this many records do not fit with {self.bits} fractional bits"
        (Range.of(scores) * (1 << self.bits)).check(ROOM, refusal)
        if nodes is not None:
            scores = (scores << self.bits) + base.draw(nodes, self.levels)[0]
        return np.array([np.argmax(scores)], dtype=np.int64)


def stated(loss: PureDP, unit: PrivacyUnit, *, concentrated: bool) -> Loss:
    """The loss of one row as that of a person's rows, as a pure epsilon or in zCDP."""
    whole = group_loss(loss, unit.max_rows_per_person)
    return as_concentrated(whole) if concentrated else whole


def design_noisy_max(
    binning: Binning,
    score: Score,
    *,
    privacy: PureDP,
    unit: PrivacyUnit,
    bits: int = RESOLUTION_BITS,
    concentrated: bool = False,
) -> NoisyMaxQuery:
    """The query that costs at most a pure epsilon, exactly that where its noise needs no rounding.

    Args:
        binning: How a record is mapped to a bin.
        score: Candidates, and how good each is for a histogram.
        privacy: What the answer may cost.
        unit: Privacy unit of the guarantee.
        bits: Fractional bits of the comparison, 0 to 20.
        concentrated: Whether the price is stated in zCDP.

    Raises:
        ScaleError: more noise would be needed than can be drawn.
        ParameterError: bits is out of range.
    """
    sides = 1 if score.monotone(unit.adjacency) else 2
    moved = sides * score.sensitivity(unit.adjacency) * unit.max_rows_per_person
    law = Geometric(round_up_scale(moved * 2**bits / privacy.epsilon))
    return NoisyMaxQuery(binning, score, law, bits, concentrated)


# --- The score of ways to measure: how well each suits some records
#
# A linear way to measure has a noise-free image of the records' curve. With C the cumulative counts and R x the
# difference of image and curve, a linear map of the histogram x, the distance
#
#     d(x) = || R x ||,   || v ||^2 = 2 / N * sum of v_j^2
#
# is the bias in records, in L2 over the axis [-1, 1]. Being a norm of a linear map, it moves by at most
# || R (x - x') || between two histograms: by the largest distance between two columns of R if a record is
# replaced, by the largest norm of a column if one is added. Both are computed from R, for every strategy alike. (For an
# orthogonal projection I - P is a contraction, so the former is at most the norm of a step, sqrt(2); for an unbiased
# strategy R = 0.) The score minus sqrt(d^2 + c^2), with c the public size of the noise, moves by no more than d does.
#
# Scores are rounded to integers, of 2^-8 records each, so they move by at most one more, and by less than one more by
# the rounding of floating point, as long as there are at most 2^31 records.

FRACTION_BITS = 8
MOST_RECORDS = 1 << 31
LARGEST_SIZE = 1024
_UNIT = 1 << FRACTION_BITS
_ROOM = 1 + 1e-6


@dataclass(frozen=True)
class ApproximationScore:
    """Minus the predicted error of each way to measure, from its bias on the records and the size of its noise.

    Fields:
        strategies: The ways, each for at most 1024 bins, all for as many; bins are joined to as many first. Those
            that are unbiased have no distance whatever the records.
        noise: Of each, the public size of its noise in units of 2^-8 records, L2 on the axis [-1, 1].
        total_known: Whether the number of records is public, so that images are pinned to it.
    """

    size: int
    strategies: tuple[Strategy, ...]
    noise: tuple[int, ...]
    total_known: bool

    def __post_init__(self) -> None:
        sizes = {strategy.size for strategy in self.strategies}
        if not self.strategies or len(sizes) != 1 or len(self.noise) != len(self.strategies):
            raise ParameterError("`candidates` must all be for one number of bins, each with a size of its noise")
        if not 1 <= self._bins <= min(self.size, LARGEST_SIZE):
            raise ParameterError(f"`candidates` must be for 1 to {min(self.size, LARGEST_SIZE)} bins, got {self._bins}")
        if not all(isinstance(each, int) and 0 <= each < 1 << 50 for each in self.noise):
            raise ParameterError(f"sizes of noise must be whole numbers from 0 to 2^50, got {quoted(self.noise)}")

    @property
    def method(self) -> str:
        """What the selection is called in the provenance of a curve."""
        return "selected"

    @property
    def _bins(self) -> int:
        return self.strategies[0].size

    @property
    def candidates(self) -> int:
        return len(self.strategies)

    def scores(self, sums: Int64) -> Int64:
        """Minus sqrt(distance^2 + noise^2) of each way, in units of 2^-8 records, rounded."""
        counts = self._joined(sums)
        refuse_sums(counts, 1, MOST_RECORDS, "private selection is for at most 2^31 records", UnsupportedError)
        results = [
            -round(math.hypot(self._distance(strategy, counts) * _UNIT, noise))
            for strategy, noise in zip(self.strategies, self.noise, strict=True)
        ]
        return np.array(results, dtype=np.int64)

    def _joined(self, sums: Int64) -> Int64:
        """Records per bin of the coarser grid."""
        if self._bins == self.size:
            return sums
        starts = np.arange(self._bins, dtype=np.int64) * self.size // self._bins
        return np.asarray(np.add.reduceat(sums, starts))

    def _distance(self, strategy: Strategy, counts: Int64) -> float:
        if not approximates(strategy):
            return 0.0
        total = int(counts.sum()) if self.total_known else None
        gap = strategy.estimate(strategy.measure(counts), total) - np.cumsum(counts)
        return float(np.sqrt(2 * np.mean(gap**2)))

    def sensitivity(self, adjacency: Adjacency) -> int:
        """Largest change of a score by one record, from the columns of every candidate's map."""
        strategies: tuple[Any, ...] = self.strategies  # hashable, which the protocol does not say
        moved = max(_largest_change(strategy, self.total_known, adjacency) for strategy in strategies)
        return math.ceil(moved * _ROOM * _UNIT) + 2

    def monotone(self, adjacency: Adjacency) -> bool:
        """Always false: one record may raise one candidate's score and lower another's."""
        return False

    def to_dict(self) -> dict[str, Any]:
        return {
            "score": "approximation",
            "size": self.size,
            "strategies": [strategy.to_dict() for strategy in self.strategies],
            "noise": list(self.noise),
            "total_known": self.total_known,
        }


@lru_cache(maxsize=64)
def _largest_change(strategy: Any, total_known: bool, adjacency: Adjacency) -> float:
    """Largest change of the distance by one record; 0 for unbiased strategies."""
    if not approximates(strategy):
        return 0.0
    columns = residuals(strategy, total_known=total_known)
    squares = np.einsum("ij,ij->i", columns, columns)
    if adjacency is Adjacency.ADD_OR_REMOVE:
        return math.sqrt(float(squares.max()))
    between = squares[:, np.newaxis] + squares - 2 * (columns @ columns.T)
    return math.sqrt(max(0.0, float(between.max())))


def residuals(strategy: Strategy, *, total_known: bool) -> Float64:
    """The map R of a strategy for one record in each bin, shape (N, N), scaled so that plain norms are those of L2."""
    size = strategy.size
    each = np.eye(size, dtype=np.int64)
    measured = np.array([strategy.measure(row) for row in each])
    curves = strategy.estimate(measured, 1 if total_known else None)
    steps = np.cumsum(each, axis=1)
    return np.asarray((curves - steps) * math.sqrt(2 / size))


# --- A sparse vector with one answer: the bound beyond which hardly any record seems to lie
#
# Going through the thresholds from the other end, the number of records beyond each is compared, with fresh noise
# for each, with a limit that got noise of its own once; the first that seems to be at most the limit is told. One
# record moves all those numbers in the same direction by at most 1, so with discrete Laplace noise of scale a on
# the limit and b on each number this costs, however many thresholds are passed,
#
#     epsilon = 1 / a + 1 / b.
#
# Source: Dwork and Roth 2014, section 3.6; Lyu, Su and Li 2017, Theorem 5 for numbers that move together. The proof for
# integers is in the manual, under selection.

SIDES = ("low", "high")
MAX_BEYOND = 1 << 47


@dataclass(frozen=True)
class SparseVectorQuery(base.Described, base.CuratorQuery):
    """A bin at one end of the records; the answer has shape (1,) and holds its number.

    Side "high" tells a bin above which hardly any record seems to lie, searched from the lowest bin up, and the highest
    bin where none seems so; side "low" the mirror image. It is not linear: only who sees all records can answer it.

    Fields:
        binning: How a record is mapped to a bin.
        side: "low" or "high".
        limit_law: Noise of the limit, drawn once.
        count_law: Noise of each number of records.
        beyond: The limit: how many records may lie beyond the bound, public.
        concentrated: Whether the price is stated in zCDP, and not as a pure epsilon.
    """

    digested: ClassVar[str] = "sparse vector"
    method: ClassVar[str] = "sparse_vector"

    binning: Binning
    side: str
    limit_law: DiscreteLaplace
    count_law: DiscreteLaplace
    beyond: int = 0
    concentrated: bool = False

    def __post_init__(self) -> None:
        among(self.side, "side", SIDES)
        whole(self.beyond, "beyond", 0, MAX_BEYOND)

    @property
    def aggregate(self) -> Binning:
        return self.binning

    @property
    def levels(self) -> tuple[Level, ...]:
        """One noise variable for the limit, and one for each bin but the last."""
        return Level(1, self.limit_law), Level(self.binning.grid.bins - 1, self.count_law)

    def price(self, unit: PrivacyUnit) -> Loss:
        """Exact privacy loss of telling the bin.

        Raises:
            ParameterError: missing values are dropped although the adjacency makes the number of records public.
        """
        base.check_missing(self.binning, unit.adjacency)
        loss = PureDP(1 / self.limit_law.scale + 1 / self.count_law.scale)
        return stated(loss, unit, concentrated=self.concentrated)

    def description(self) -> dict[str, Any]:
        return {
            "binning": self.binning.to_dict(),
            "side": self.side,
            "laws": [self.limit_law.to_dict(), self.count_law.to_dict()],
            "beyond": self.beyond,
        }

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """Number of the first bin beyond which hardly any record seems to lie; shape (1,).

        Raises:
            DataError: there are too many records.
        """
        refuse_sums(sums, 1, WIDE - 1, "there are too many records to be counted with noise")
        counts = sums if self.side == "high" else sums[::-1]
        beyond = (counts.sum() - np.cumsum(counts))[:-1]
        limit = self.beyond
        if nodes is not None:
            raised, noise = base.draw(nodes, self.levels)
            beyond, limit = beyond + noise, limit - int(raised[0])
        result = np.flatnonzero(beyond <= limit)
        steps = int(result[0]) if result.size else counts.size - 1
        return np.array([steps if self.side == "high" else counts.size - 1 - steps], dtype=np.int64)


def design_sparse_vector(
    binning: Binning, side: str, *, privacy: PureDP, unit: PrivacyUnit, beyond: int = 0, concentrated: bool = False
) -> SparseVectorQuery:
    """The query that costs at most a pure epsilon, half of it for the limit and half for the numbers.

    Args:
        binning: How a record is mapped to a bin.
        side: "low" or "high".
        privacy: What the answer may cost.
        unit: Privacy unit of the guarantee.
        beyond: How many records may lie beyond the bound.
        concentrated: Whether the price is stated in zCDP.

    Raises:
        ScaleError: more noise would be needed than can be drawn.
        ParameterError: a field is out of range.
    """
    law = DiscreteLaplace(round_up_scale(2 * unit.max_rows_per_person / privacy.epsilon))
    return SparseVectorQuery(binning, side, law, law, beyond, concentrated)


# --- Several quantiles at once: bins that together divide the records as the wanted quantiles would
#
# A candidate is a bin for every quantile, in order, and its cost is how far the parts between them are from what they
# should hold (`joint_choice.Ranks`). One is chosen by the exponential mechanism, with probability proportional to
# exp(-cost / scale), exactly (`joint_choice`). With costs that move by at most d between adjacent data sets that costs
#
#     epsilon = 2 d / scale,   and rho = epsilon^2 / 8 in zCDP, since the logarithms of all probabilities
#                              move within a range of epsilon.
#
# Source: McSherry and Talwar 2007; Gillenwater, Joseph and Kulesza 2021 for quantiles; Cesar and Rogers 2021 for zCDP
# of a bounded range. The proof is in the manual, under joint selection of quantiles.

MOST_QUANTILES = 9
MOST_BINS = 1 << 16
MOST_UNIT = 1 << 13
"""Largest common denominator of the probabilities: products of its square with numbers of records stay integers."""

_STEEPEST = 8  # scales that one part of a record may cost; more would only slow the choice down


@dataclass(frozen=True)
class JointQuantilesQuery(_Choice, base.CuratorQuery):
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

    binning: Binning
    probabilities: tuple[Fraction, ...]
    law: Geometric
    free_total: bool = False
    concentrated: bool = False

    def __post_init__(self) -> None:
        shares = tuple(exact(share, "a probability") for share in self.probabilities)
        common_unit(shares)
        if self.binning.grid.bins > MOST_BINS:
            raise ParameterError(
                f"`bins` must be at most {MOST_BINS} for a joint selection, got {self.binning.grid.bins}"
            )
        if list(shares) != sorted(shares):
            raise ParameterError("the probabilities of a joint selection must not decrease")
        object.__setattr__(self, "probabilities", shares)
        truth(self.free_total, "free_total")
        truth(self.concentrated, "concentrated")

    @property
    def levels(self) -> tuple[Level, ...]:
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

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """Numbers of the bins; without noise the lowest ones that are exactly right.

        Raises:
            DataError: there are so many records that costs would not fit.
        """
        unit = common_unit(self.probabilities)
        refusal = "costs of this many records do not fit; select fewer quantiles, with short probabilities"
        refuse_sums(sums, 1, (1 << 59) // unit**2 - 1, refusal)
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
