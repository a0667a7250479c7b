"""Shares of a law: what each of several parties draws so that their sum follows the law, or is farther spread.

Discrete Laplace noise divides exactly: shares of shape 1/H are Polya variables. A discrete Gaussian divides only
nearly: the sum of H of them with variance s^2 each lies within the max-divergence

    tau = 10 sum over k = 1 .. H - 1 of exp(-2 pi^2 s^2 k / (k + 1))

of one with variance H s^2. Each share is drawn with a variance that is larger by the relative room 2^-28, and that
noise makes up for tau, whatever the mechanism: its price, pure, zCDP or Gaussian, stays as it is for a single curator.

Shares of more than H parties add further independent noise, which is post-processing.

Source:
    `docs/proofs/noise_shares.md`; Kairouz, Liu and Steinke 2021 for the sum of discrete Gaussians.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any, TypeVar

from ogive.errors import ParameterError, UnsupportedError
from ogive.noise.base import Int64, Law, NodeNoise
from ogive.noise.discrete_gaussian import DiscreteGaussian
from ogive.noise.discrete_laplace import DiscreteLaplace
from ogive.noise.polya import Polya
from ogive.noise.rounding import round_up_root

MOST_PARTIES = 10_000
LEAST_SIGMA = 2
"""Of a share of Gaussian noise; with `ROOM` and at most `MOST_PARTIES` the proof needs no more."""
ROOM = Fraction(1, 1 << 28)


def share_of(law: Law, honest: int) -> Law:
    """The law that each party draws from, so that `honest` of them together make up the whole law.

    Args:
        law: Discrete Laplace or discrete Gaussian.
        honest: How many parties draw their share and keep it to themselves, 1 to `MOST_PARTIES`.

    Raises:
        ParameterError: honest is out of range.
        UnsupportedError: the law cannot be divided, or the shares would be too narrow; says what would work.
    """
    if isinstance(honest, bool) or not isinstance(honest, int) or not 1 <= honest <= MOST_PARTIES:
        raise ParameterError(f"the number of honest parties must be from 1 to {MOST_PARTIES}, got {honest!r}")
    if honest == 1:
        return law
    if isinstance(law, DiscreteLaplace):
        return Polya(law.scale, Fraction(1, honest))
    if not isinstance(law, DiscreteGaussian):
        raise UnsupportedError(f"noise of the law {law.to_dict()['law']} cannot be drawn in shares; use trust central")
    share = DiscreteGaussian(round_up_root(law.sigma**2 * (1 + ROOM) / honest))
    if share.sigma < LEAST_SIGMA:
        most = int(law.sigma**2 / LEAST_SIGMA**2)
        fewer = f", or count on at most {most} honest parties" if most >= 1 else ""
        raise UnsupportedError(
            f"{honest} parties' shares of this Gaussian noise would be too narrow to add up to it: sigma "
            f"{float(share.sigma):.3g}, and at least {LEAST_SIGMA} is needed; ask for PureDP{fewer}"
        )
    return share


MeasuredT = TypeVar("MeasuredT")


def widened(measured: MeasuredT, spread: Fraction) -> MeasuredT:
    """The same measurements with noise of more variance: what they have where more parties than needed add a share.

    The sum of more shares of Laplace noise lies between Laplace and Gaussian noise; it is described as Laplace noise of
    the same variance, whose tails are heavier.

    Args:
        measured: A strategy or query, whose fields hold its laws.
        spread: How many times the variance, at least 1.
    """
    if spread == 1:
        return measured
    held: Any = measured
    wider: MeasuredT = dataclasses.replace(held, **{field.name: _wider(value, spread) for field, value in _laws(held)})
    return wider


def _laws(held: Any) -> list[tuple[Any, Any]]:
    """The fields that hold a law, or several."""
    values = [(field, getattr(held, field.name)) for field in dataclasses.fields(held)]
    return [(field, value) for field, value in values if _is_noise(value)]


def _is_noise(value: Any) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(map(_is_noise, value))
    return isinstance(value, DiscreteLaplace | DiscreteGaussian)


def _wider(law: Any, spread: Fraction) -> Any:
    if isinstance(law, tuple):
        return tuple(_wider(each, spread) for each in law)
    if isinstance(law, DiscreteGaussian):
        return DiscreteGaussian(round_up_root(law.sigma**2 * spread))
    return DiscreteLaplace(round_up_root(law.scale**2 * spread))


class ShareNodes:
    """One party's share of the noise of a release's nodes.

    Args:
        nodes: Where the party draws from; its own, independent of all others'.
        honest: How many parties' shares make up the whole noise.
    """

    def __init__(self, nodes: NodeNoise, honest: int) -> None:
        self._nodes = nodes
        self._honest = honest

    def values(self, law: Law, level: int, nodes: Int64) -> Int64:
        """The share of the noise of the given 0-based nodes of a level, same shape as `nodes`."""
        return self._nodes.values(share_of(law, self._honest), level, nodes)
