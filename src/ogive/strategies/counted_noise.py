"""Noise for a few whole counts, with the constants of real-valued Gaussian noise.

Counts that get Gaussian noise are scaled by 2^20 first, so that the discrete Gaussian is as good as the continuous
one (`ogive.accounting.losses`) and an (epsilon, delta) guarantee is spent exactly. Counts that get discrete
Laplace noise stay as they are: that is pure differential privacy at any scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ogive.accounting import discrete_loss, gaussian_grant
from ogive.accounting.losses import LEAST_SIGMA
from ogive.core.checks import whole
from ogive.errors import ParameterError, quoted
from ogive.noise import DiscreteGaussian, DiscreteLaplace, law_from_dict, round_up_root, round_up_scale
from ogive.privacy import MAX_ROWS_PER_PERSON, ApproxDP, GaussianDP, Privacy, PureDP, ZeroConcentratedDP

BITS = 20
MOST_BITS = 30


def check_counted(size: Any, laws: Sequence[Any], bits: Any) -> None:
    """Refuse a size below 1, laws of two kinds, or fractional bits that do not go with them."""
    whole(size, "size", 1)
    whole(bits, "bits", 0, MOST_BITS)
    gaussian = all(isinstance(law, DiscreteGaussian) and law.sigma >= LEAST_SIGMA for law in laws)
    if not gaussian and not all(isinstance(law, DiscreteLaplace) for law in laws):
        raise ParameterError(
            f"`laws` must all be DiscreteLaplace, or all DiscreteGaussian of a sigma of at least {LEAST_SIGMA}"
        )


def read_counted_law(data: Any, who_takes: str) -> DiscreteLaplace | DiscreteGaussian:
    """The law of plain data, of a kind that counts get; `who_takes` begins the refusal of another."""
    law = law_from_dict(data)
    if not isinstance(law, DiscreteLaplace | DiscreteGaussian):
        raise ParameterError(f"{who_takes} DiscreteLaplace or DiscreteGaussian noise, got {quoted(law)}")
    return law


def check_rows(rows: Any) -> int:
    """How many records of one person are hidden together."""
    return whole(rows, "rows", 1, MAX_ROWS_PER_PERSON)


def counted_noise(
    privacy: Privacy, *, l1: int, l2_squared: int, integers: int, rows: int = 1, bits: int = BITS
) -> tuple[DiscreteLaplace | DiscreteGaussian, int]:
    """The least noise of every count that meets a guarantee, and the fractional bits of the counts."""
    if isinstance(privacy, PureDP):
        return DiscreteLaplace(round_up_scale(l1 * rows / privacy.epsilon)), 0
    change = Fraction(l2_squared * rows * rows) * 4**bits
    if isinstance(privacy, ZeroConcentratedDP):
        variance = change / (2 * privacy.rho)
    else:
        mu = _mu(privacy, integers, float(change) ** 0.5)
        variance = change / (Fraction(mu) ** 2 * (1 - Fraction(1, 1 << 48)))
    return DiscreteGaussian(max(round_up_root(variance), Fraction(LEAST_SIGMA))), bits


def _mu(privacy: ApproxDP, integers: int, per_unit: float) -> float:
    try:
        return gaussian_grant(privacy, integers=integers, per_unit=per_unit)
    except ParameterError:
        raise ParameterError(
            f"{privacy} asks for finer Gaussian noise than integers can have; "
            "use a larger delta or a smaller epsilon, or `PureDP`, which implies it"
        ) from None


def counted_loss(
    law: DiscreteLaplace | DiscreteGaussian, bits: int, *, l1: int, l2_squared: int, integers: int
) -> PureDP | GaussianDP:
    """The exact loss of counts that each get noise of one law; the inverse of `counted_noise`."""
    if isinstance(law, DiscreteLaplace):
        return PureDP(l1 * 2**bits / law.scale)
    return discrete_loss(Fraction(l2_squared * 4**bits), law.sigma, integers)
