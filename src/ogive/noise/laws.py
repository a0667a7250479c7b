"""Other laws: uniform bits, Skellam; laws from plain data, draws, shares of laws; how large noise may be."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt
from typing import Any, TypeVar

import numpy as np

from ogive.core.arrays import Float64, Int64, UInt32
from ogive.core.checks import WORD, whole
from ogive.core.compiling import njit
from ogive.errors import ParameterError, UnsupportedError, quoted
from ogive.noise.base import MAX_BOUND, Law, NodeNoise, round_up_root, uniform
from ogive.noise.discrete import DiscreteGaussian, DiscreteLaplace, Geometric, Polya, scale_of, sigma_of
from ogive.noise.source import KeyedSource
from ogive.privacy import Rational, exact

# --- Uniform bits, for choices whose chances are ratios of whole numbers

MOST_BITS = 62
_WORD = 32


@dataclass(frozen=True)
class UniformBits(Law):
    """Each whole number from 0 to 2^bits - 1 with the same chance.

    It is no noise for a number that is published: it is what a choice among public candidates is made with.

    Args:
        bits: 1 to 62.

    Raises:
        ParameterError: the number of bits is out of range.
    """

    bits: int

    def __post_init__(self) -> None:
        whole(self.bits, "bits", 1, MOST_BITS)

    @property
    def variance(self) -> float:
        """Exactly (4^bits - 1) / 12, to floating point."""
        return (4.0**self.bits - 1) / 12

    @property
    def words_per_draw(self) -> float:
        """Words that a draw takes."""
        return float(-(-self.bits // _WORD))

    def log_probability(self, values: Int64) -> Float64:
        """Natural log of the probability of each value, same shape; minus infinity outside 0 to 2^bits - 1."""
        inside = (values >= 0) & (values < 1 << self.bits)
        return np.where(inside, -self.bits * np.log(2.0), -np.inf)

    def fill(self, words: UInt32, out: Int64) -> tuple[Int64, Int64]:
        rows, draws = out.shape
        each = int(self.words_per_draw)
        done = min(draws, words.shape[1] // each)
        parts = words[:, : done * each].reshape(rows, done, each).astype(np.uint64)
        drawn = parts[:, :, 0]
        if each > 1:
            drawn = drawn | parts[:, :, 1] << np.uint64(_WORD)
        out[:, :done] = (drawn & np.uint64((1 << self.bits) - 1)).astype(np.int64)
        return np.full(rows, done, np.int64), np.full(rows, done * each, np.int64)

    def to_dict(self) -> dict[str, Any]:
        return {"law": "uniform_bits", "bits": str(self.bits)}


# --- Laws from plain data


def law_from_dict(data: dict[str, Any]) -> Law:
    """Rebuild a law from its `to_dict`.

    Raises:
        ParameterError: the law is unknown, a field is missing, or a parameter is out of range.
    """
    try:
        match data["law"]:
            case "discrete_laplace":
                return DiscreteLaplace(data["scale"])
            case "discrete_gaussian":
                return DiscreteGaussian(data["sigma"])
            case "geometric":
                return Geometric(data["scale"])
            case "polya":
                return Polya(data["scale"], data["shape"])
            case "skellam":
                return Skellam(data["variance"])
            case "uniform_bits":
                return UniformBits(int(exact(data["bits"], "bits")))
            case other:
                raise ParameterError(f"unknown noise law {quoted(str(other)[:40])}")
    except KeyError as missing:
        raise ParameterError(f"a noise law lacks the field {missing}") from None


# --- Draws for simulations, which need be neither secret nor exact


_TABLED_SIGMA, _TABLED_REACH = 16, 12


def draw_public(law: Law, shape: tuple[int, int], random: np.random.Generator, *, rounded: bool = False) -> Int64:
    """Draws of a law for a simulation, in the given shape.

    The whole part of an exponential number of mean b is geometric, and the difference of two such numbers has the
    discrete Laplace law of scale b.

    With `rounded` a discrete Gaussian is a rounded normal number of variance sigma^2 - 1/12, or where sigma is below 16
    one from a table of floats. By Euler's and Maclaurin's sums the two laws differ by some phi'''' / 2880 in each
    point, which is at most 0.001 / sigma^4 in total variation, or 2e-8.
    """
    if rounded and isinstance(law, DiscreteGaussian):
        sigma = float(law.sigma)
        if sigma >= _TABLED_SIGMA:
            normal = random.standard_normal(shape)
            normal *= math.sqrt(sigma * sigma - 1 / 12)
            return np.rint(normal, out=normal).astype(np.int64)
        reach = math.ceil(_TABLED_REACH * sigma)
        below = np.cumsum(np.exp(law.log_probability(np.arange(-reach, reach + 1))))[:-1]
        return np.searchsorted(below, random.random(shape), side="right") - reach
    if isinstance(law, DiscreteLaplace):
        scale = float(law.scale)
        drawn = np.floor(scale * random.standard_exponential(shape))
        drawn -= np.floor(scale * random.standard_exponential(shape))
        return drawn.astype(np.int64)
    source = KeyedSource.from_seed(int(random.integers(1 << 62)))
    return law.sample(shape[0] * shape[1], source=source).reshape(shape)


# --- Shares of a law: what each of several parties draws so that their sum follows the law, or is farther spread.
#
# Discrete Laplace noise divides exactly: shares of shape 1/H are Polya variables. A discrete Gaussian divides only
# nearly: the sum of H of them with variance s^2 each lies within the max-divergence
#
#     tau = 10 sum over k = 1 .. H - 1 of exp(-2 pi^2 s^2 k / (k + 1))
#
# of one with variance H s^2. Each share is drawn with a variance that is larger by a relative room, 2^-28 from s = 2
# on, and that noise makes up for tau: the price in zCDP or Gaussian DP stays as it is for a single curator.
#
# Where it would be so large that it takes less noise, shares are Skellam variables, whose sums are Skellam again. One
# of variance mu costs at most
#
#     order d^2 (1 / (2 mu) + 7 / (4 mu^2))
#
# in Renyi divergence of any order above 1 for a change of d, so where that is order d^2 / (2 sigma^2) the price in zCDP
# stays as it is too. (A price in Gaussian DP has a sigma of at least 1000, whose shares are never narrow.)
#
# Shares of more than H parties add further independent noise, which is post-processing.
#
# Source:
#     `docs/proofs/noise_shares.md`; Kairouz, Liu and Steinke 2021 for the sum of discrete Gaussians; Agarwal, Kairouz
#     and Liu 2021 for Skellam noise.

MOST_PARTIES = 10_000
WIDE_SIGMA = 2
"""Of a discrete Gaussian share; with at most `MOST_PARTIES` of them the proof needs no more than this room."""
WIDE_ROOM = Fraction(1, 1 << 28)

_SKELLAM_UNIT = Fraction(1, 1 << 30)
_FLOATS = 1e-9
"""More than what is lost to floating point in a room."""
_CONTINUOUS = 3
"""From this sigma on a discrete Gaussian has the variance of a continuous one."""


def share_of(law: Law, honest: int) -> Law:
    """The law that each party draws from, so that `honest` of them together make up the whole law."""
    whole(honest, "honest", 1, MOST_PARTIES)
    if honest == 1:
        return law
    if isinstance(law, DiscreteLaplace):
        return Polya(law.scale, Fraction(1, honest))
    if not isinstance(law, DiscreteGaussian):
        raise UnsupportedError(f"noise of the law {law.to_dict()['law']} cannot be drawn in shares; use trust central")
    return _gaussian_share(law.sigma, honest)


@lru_cache(maxsize=1024)
def _gaussian_share(sigma: Fraction, honest: int) -> DiscreteGaussian | Skellam:
    """Of the two kinds of shares that make up a discrete Gaussian the one that adds less."""
    variance = sigma**2
    if variance >= WIDE_SIGMA**2 * honest:
        return DiscreteGaussian(round_up_root(variance * (1 + WIDE_ROOM) / honest))
    skellam = (variance + round_up_root(variance * (variance + 14))) / 2
    room = _room(float(sigma), honest)
    if room is not None and variance * (1 + room) <= skellam:
        return DiscreteGaussian(round_up_root(variance * (1 + room) / honest))
    return Skellam(max(-(-skellam / honest // _SKELLAM_UNIT) * _SKELLAM_UNIT, MIN_VARIANCE))


def _room(sigma: float, honest: int) -> Fraction | None:
    """How much more variance makes up for the distance of a sum of narrow discrete Gaussians; None where nothing does.

    By the proof 1 + room = 1 / (1 - 2 tau sigma)^2.
    """
    squared = sigma**2 / honest
    if squared < 0.25:  # the distance is not known
        return None
    k = np.arange(1, honest)
    tau = 10 * float(np.exp(-2 * np.pi**2 * squared * k / (k + 1)).sum())
    gap = 2 * tau * sigma * (1 + _FLOATS)
    return Fraction(1 / (1 - gap) ** 2 * (1 + _FLOATS)) - 1 if gap < 0.5 else None


MeasuredT = TypeVar("MeasuredT")


def widened(measured: MeasuredT, adding: int, honest: int) -> MeasuredT:
    """The same measurements with the noise that they really have where this many parties add a share of 1/honest.

    It is described by a law of the same kind and the same variance. The sum of more shares of Laplace noise than needed
    lies between Laplace and Gaussian noise: intervals of a single number are wide enough from 90 percent on, and too
    narrow below, at twice the shares .44 where .5 is stated. That of Skellam shares is a little heavier than Gaussian.
    The 2^-28 in wide Gaussian shares is left out.
    """
    if adding == honest == 1:  # a curator's whole noise
        return measured
    held: Any = measured
    values = {field.name: getattr(held, field.name) for field in dataclasses.fields(held)}
    fields = {name: _wider(value, adding, honest) for name, value in values.items() if _is_noise(value)}
    if all(values[name] == value for name, value in fields.items()):
        return measured
    wider: MeasuredT = dataclasses.replace(held, **fields)
    return wider


def _is_noise(value: Any) -> bool:
    """Whether a field holds a law that parties draw in shares, or several."""
    if isinstance(value, tuple):
        return bool(value) and all(map(_is_noise, value))
    return isinstance(value, DiscreteLaplace | DiscreteGaussian)


def _wider(law: Any, adding: int, honest: int) -> Any:
    """The law of about the noise that so many shares of 1/honest add up to; of several laws each."""
    if isinstance(law, tuple):
        return tuple(_wider(each, adding, honest) for each in law)
    spread = Fraction(adding, honest)
    if isinstance(law, DiscreteGaussian) and honest > 1 and law.sigma**2 < WIDE_SIGMA**2 * honest:
        return DiscreteGaussian(sigma_of(adding * share_of(law, honest).variance))
    if spread == 1:
        return law
    if isinstance(law, DiscreteLaplace):
        return DiscreteLaplace(scale_of(float(spread) * law.variance))
    if law.sigma >= _CONTINUOUS:
        return DiscreteGaussian(round_up_root(law.sigma**2 * spread))
    return DiscreteGaussian(sigma_of(float(spread) * law.variance))


class ShareNodes:
    """One party's share of the noise of a release's nodes."""

    def __init__(self, nodes: NodeNoise, honest: int) -> None:
        self._nodes = nodes
        self._honest = honest

    def values(self, law: Law, level: int, nodes: Int64) -> Int64:
        """The share of the noise of the given 0-based nodes of a level, same shape as `nodes`."""
        return self._nodes.values(share_of(law, self._honest), level, nodes)


MAX_VARIANCE = 1 << 20
MIN_VARIANCE = Fraction(1, 1 << 20)


@njit(error_model="numpy")
def draw_unit_poisson(words: UInt32, at: int) -> Any:
    """A Poisson draw of mean 1 in 3.2 small uniform integers on average.

    The number of fixed points of a random permutation that grows without end, followed only as far as it can
    still change. Of the `place` elements so far the first `settled` are known to lie in longer cycles: a new
    element is a fixed point with probability 1 / (place + 1), or else joins the cycle of a uniform older one.

    Source: Duchon and Duvignau, Preserving the number of cycles of length 1 in a growing uniform permutation, 2016.
    """
    count = 1
    place = 1
    settled = 0
    while at <= words.size:
        choice, at = uniform(words, at, place + 1)
        if choice == place:
            count += 1
        elif choice >= settled:
            count -= 1
            settled = place + 1
        else:
            break
        place += 1
    return count, at


@njit(error_model="numpy")
def draw_poisson(words: UInt32, at: int, whole: int, part: int, parts: int) -> Any:
    """A Poisson draw of mean whole + part / parts: `whole` of mean 1, and one whose units are kept by chance."""
    total = 0
    for _ in range(whole):
        count, at = draw_unit_poisson(words, at)
        total += count
        if at > words.size:
            return total, at
    if part > 0:
        count, at = draw_unit_poisson(words, at)
        for _ in range(count):
            coin, at = uniform(words, at, parts)
            total += coin < part
    return total, at


@njit(error_model="numpy", steps=lambda words, out, whole, *rest: 60 * (whole + 1) * out.size)
def _fill_skellam(words: UInt32, out: Int64, whole: int, part: int, parts: int) -> tuple[Int64, Int64]:
    rows, draws = out.shape
    done = np.zeros(rows, np.int64)
    used = np.zeros(rows, np.int64)
    for row in range(rows):
        line = words[row]
        at = 0
        while done[row] < draws:
            up, at = draw_poisson(line, at, whole, part, parts)
            down, at = draw_poisson(line, at, whole, part, parts)
            if at > line.size:
                break
            out[row, done[row]] = up - down
            done[row] += 1
            used[row] = at
    return done, used


@dataclass(frozen=True, init=False)
class Skellam(Law):
    """The difference of two independent Poisson draws of mean variance / 2.

    Variances of independent shares add up and the sum is Skellam again, which neither the discrete Laplace nor the
    discrete Gaussian offers. A draw is exact and costs about 3.2 words per unit of variance, so this law is for
    shares of moderate variance.

    Args:
        variance: In [2^-20, 2^20], half of it with a denominator of at most 2^31 (see `round_up_scale`).

    Raises:
        ParameterError: the variance is out of range or has too many digits.

    Source: Agarwal, Kairouz and Liu, The Skellam mechanism for differentially private federated learning, 2021.
    """

    exact_variance: Fraction

    def __init__(self, variance: Rational) -> None:
        value = exact(variance, "variance")
        if not MIN_VARIANCE <= value <= MAX_VARIANCE:
            raise ParameterError(f"`variance` must be between 2^-20 and 2^20, got {float(value):.6g}")
        if (value / 2).denominator > MAX_BOUND:
            raise ParameterError(
                f"variance has too many digits for exact sampling: {value}; its half needs a "
                "denominator of at most 2^31"
            )
        object.__setattr__(self, "exact_variance", value)

    @property
    def variance(self) -> float:
        """The parameter as a float."""
        return float(self.exact_variance)

    @property
    def words_per_draw(self) -> float:
        """About how many words a draw takes."""
        return 7.0 + 3.2 * self.variance

    def log_probability(self, values: Int64) -> Float64:
        flat = np.abs(values).astype(np.float64).ravel()
        return np.asarray(_log_skellam(flat, self.variance)).reshape(np.shape(values))

    def fill(self, words: UInt32, out: Int64) -> tuple[Int64, Int64]:
        half = self.exact_variance / 2
        whole = int(half)
        return _fill_skellam(words, out, whole, half.numerator - whole * half.denominator, half.denominator)

    def to_dict(self) -> dict[str, Any]:
        return {"law": "skellam", "variance": str(self.exact_variance)}


@njit()
def _log_skellam(orders: Float64, variance: float) -> Float64:
    """Log of exp(-v) I_k(v) = exp(-v) * sum over j of (v/2)^(2j+k) / (j! (j+k)!), summed from its largest term on."""
    half = 0.5 * variance
    out = np.empty_like(orders)
    for index in range(orders.size):
        k = orders[index]
        top = np.floor(0.5 * (math.hypot(k, variance) - k))
        total = 1.0
        for upward in (True, False):
            j = top
            term = 1.0
            while term > 1e-17 * total and (upward or j > 0):
                if upward:
                    j += 1
                    term *= half * half / (j * (j + k))
                else:
                    term *= j * (j + k) / (half * half)
                    j -= 1
                total += term
        scale = (2 * top + k) * math.log(half) - math.lgamma(top + 1) - math.lgamma(top + k + 1)
        out[index] = math.log(total) + scale - variance
    return out


# --- How large noise may be, so that sums of it fit int64
#
# Noise is larger than its stated bound with a chance of at most 2^-64. A value beyond it is added as it is, and the sum
# wraps around 2^64 where there is no room for it. A sum that wraps is wrong by 2^64 and tells no more than the exact
# one, of which it is a function, so no delta is charged for that chance. Only the prices of a noisy maximum and of a
# sparse vector are not those of the numbers that they compare. There nothing wraps before a value is 2^15 times its
# scale, which has a chance of exp(-2^15): far below any delta that can be stated.

_NATURAL = 0.6931471806  # log 2, rounded up


def noise_bound(laws: Iterable[Law], *, adding: int = 1, honest: int = 1, tail_bits: int = 64) -> int:
    """A bound on the noise of one number of a measurement, exceeded with probability at most 2^-tail_bits.

    Source:
        Discrete Laplace noise of scale t exceeds T with probability below 2 exp(-T / t) / (1 + exp(-1 / t)), and m
        parties' shares are part of a sum of ceil(m / h) such variables, independent and symmetric. Sums of discrete
        Gaussians of variance v in all are subgaussian (Canonne, Kamath and Steinke 2020); Bernstein's inequality for
        sums of Poisson variables of the same variance needs 20 more.
    """
    counted = Counter(laws)
    extra = tail_bits + 1 + counted.total().bit_length()
    bound = 0
    for law, levels in counted.items():
        if isinstance(law, DiscreteLaplace | Geometric):
            whole = -(-adding // honest)
            largest = whole * (ceil((extra + whole.bit_length()) * _NATURAL * law.scale) + 1)
        else:
            deviation = isqrt(ceil(share_of(law, honest).variance * adding * 1.01)) + 1
            largest = ceil((2 * extra * _NATURAL) ** 0.5 * deviation + extra)
        bound += levels * largest
    return bound


def largest_share(laws: Iterable[Law], *, parties: int, honest: int) -> int:
    """How large one party's exact integers may be; 0 or less if there is no room even for the noise."""
    return (WORD - noise_bound(laws, adding=parties, honest=honest)) // parties
