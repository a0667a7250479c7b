"""Laws from plain data, uniform bits among them, and draws from laws for simulations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.core.arrays import Float64, Int64, UInt32
from ogive.core.checks import whole
from ogive.errors import ParameterError, quoted
from ogive.noise.base import Law, RandomSource, draw_stream
from ogive.noise.discrete_gaussian import DiscreteGaussian
from ogive.noise.discrete_laplace import DiscreteLaplace, Geometric, Polya
from ogive.noise.skellam import Skellam
from ogive.noise.source import KeyedSource
from ogive.privacy import exact

# --- Uniform bits, for choices whose chances are ratios of whole numbers

MOST_BITS = 62
_WORD = 32


@dataclass(frozen=True)
class UniformBits:
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
        """Fill rows of draws from rows of words; see `ogive.noise.base.Fill`."""
        rows, draws = out.shape
        each = int(self.words_per_draw)
        done = min(draws, words.shape[1] // each)
        parts = words[:, : done * each].reshape(rows, done, each).astype(np.uint64)
        drawn = parts[:, :, 0]
        if each > 1:
            drawn = drawn | parts[:, :, 1] << np.uint64(_WORD)
        out[:, :done] = (drawn & np.uint64((1 << self.bits) - 1)).astype(np.int64)
        return np.full(rows, done, np.int64), np.full(rows, done * each, np.int64)

    def sample(self, size: int, *, source: RandomSource) -> Int64:
        """`size` independent draws, shape (size,)."""
        return draw_stream(self.fill, self.words_per_draw, size, source)

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
