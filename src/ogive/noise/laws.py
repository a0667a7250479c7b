"""Laws from plain data, uniform bits among them; draws for simulations; shares of laws; how large noise may be."""

from __future__ import annotations

import dataclasses
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
from ogive.errors import ParameterError, UnsupportedError, quoted
from ogive.noise.base import Law, NodeNoise, round_up_root
from ogive.noise.discrete_gaussian import DiscreteGaussian, sigma_of
from ogive.noise.discrete_laplace import DiscreteLaplace, Geometric, Polya, scale_of
from ogive.noise.skellam import MIN_VARIANCE, Skellam
from ogive.noise.source import KeyedSource
from ogive.privacy import exact

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
        """Plain data, exact."""
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


def draw_public(law: Law, shape: tuple[int, int], random: np.random.Generator) -> Int64:
    """Draws of a law for a simulation, in the given shape.

    The whole part of an exponential number of mean b is geometric, and the difference of two such numbers has the
    discrete Laplace law of scale b.
    """
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
    wanted = sigma**2
    if wanted >= WIDE_SIGMA**2 * honest:
        return DiscreteGaussian(round_up_root(wanted * (1 + WIDE_ROOM) / honest))
    skellam = (wanted + round_up_root(wanted * (wanted + 14))) / 2
    room = _room(float(sigma), honest)
    if room is not None and wanted * (1 + room) <= skellam:
        return DiscreteGaussian(round_up_root(wanted * (1 + room) / honest))
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
