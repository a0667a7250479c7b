"""Privacy of integer measurements with independent noise, level by level.

If a change of one record moves the measurements of level l by at most `l1[l]` in sum of
absolute values, discrete Laplace noise of scale b_l there costs `l1[l] / b_l` of epsilon, and the
levels add up. Discrete Gaussian noise costs `l2_squared[l] / (2 sigma_l^2)` of rho. All exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ogive.arrays import Int64
from ogive.errors import ParameterError, quoted
from ogive.noise import DiscreteGaussian, DiscreteLaplace, round_up_root, round_up_scale
from ogive.noise.base import Law
from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP

MeasuredPrivacy = PureDP | ZeroConcentratedDP


def check_levels(size: Any, spacings: Sequence[Any], laws: Sequence[Law], *, what: str) -> None:
    """Refuse a size below 1, a wrong number of laws, or laws of two kinds.

    Raises:
        ParameterError: naming the value and what is allowed.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ParameterError(f"`size` must be a whole number of at least 1, got {quoted(size)}")
    if any(isinstance(value, bool) or not isinstance(value, int) or value < 1 for value in spacings):
        raise ParameterError(f"`{what}` must be whole numbers of at least 1, got {quoted(tuple(spacings))}")
    laplace = all(isinstance(law, DiscreteLaplace) for law in laws)
    if not laplace and not all(isinstance(law, DiscreteGaussian) for law in laws):
        raise ParameterError("`laws` must all be DiscreteLaplace or all DiscreteGaussian")


def measured_loss(laws: Sequence[Law], *, l1: Sequence[int], l2_squared: Sequence[int]) -> MeasuredPrivacy:
    """Add up the levels' losses exactly.

    Args:
        laws: Noise law of each level, all Laplace or all Gaussian.
        l1: Largest sum of absolute changes of each level's measurements.
        l2_squared: Largest sum of squared changes of each level's measurements.
    """
    epsilon, rho = Fraction(0), Fraction(0)
    for law, absolute, squared in zip(laws, l1, l2_squared, strict=True):
        if isinstance(law, DiscreteLaplace):
            epsilon += absolute / law.scale
        elif isinstance(law, DiscreteGaussian):
            rho += squared / (2 * law.sigma**2)
    return PureDP(epsilon) if epsilon else ZeroConcentratedDP(rho)


def measured_laws(
    privacy: MeasuredPrivacy, shares: Sequence[Fraction], *, l1: Sequence[int], l2_squared: Sequence[int]
) -> tuple[DiscreteLaplace | DiscreteGaussian, ...]:
    """Noise laws that spend at most `privacy`, divided between the levels by `shares` (sum 1).

    Scales are rounded up to ones that the samplers accept.

    Raises:
        ScaleError: a level needs more noise than can be drawn.
    """
    if isinstance(privacy, PureDP):
        scales = [change / (share * privacy.epsilon) for share, change in zip(shares, l1, strict=True)]
        round_up_scale(max(scales))  # a refusal says how far the largest is too large
        return tuple(DiscreteLaplace(round_up_scale(scale)) for scale in scales)
    variances = [change / (2 * share * privacy.rho) for share, change in zip(shares, l2_squared, strict=True)]
    round_up_root(max(variances))
    return tuple(DiscreteGaussian(round_up_root(variance)) for variance in variances)


def check_privacy(privacy: Any, adjacency: Any) -> None:
    """Refuse privacy or adjacency of another type.

    Raises:
        ParameterError: naming what would be right.
    """
    if isinstance(privacy, ApproxDP):
        raise ParameterError("noise is designed for `PureDP` or `ZeroConcentratedDP`; convert `ApproxDP` first")
    if not isinstance(privacy, PureDP | ZeroConcentratedDP):
        raise ParameterError(f"`privacy` must be `PureDP` or `ZeroConcentratedDP`, got {quoted(privacy)}")
    if not isinstance(adjacency, Adjacency):
        raise ParameterError(
            f"`adjacency` must be Adjacency.REPLACE or Adjacency.ADD_OR_REMOVE, got {quoted(adjacency)}"
        )


def batch(answer: Any, width: int) -> tuple[Int64, tuple[int, ...]]:
    """Answers as rows, shape (batch, width), and their leading dimensions.

    Raises:
        ParameterError: the last dimension is not `width`.
    """
    values = np.asarray(answer, dtype=np.int64)
    if values.ndim == 0 or values.shape[-1] != width:
        raise ParameterError(f"an answer must hold {width} measurements, got shape {values.shape}")
    return np.ascontiguousarray(values.reshape(-1, width)), values.shape[:-1]


def histogram(counts: Any, size: int) -> Int64:
    """Counts of the bins as contiguous int64.

    Raises:
        ParameterError: the shape is not (size,).
    """
    values = np.ascontiguousarray(counts, dtype=np.int64)
    if values.shape != (size,):
        raise ParameterError(f"a histogram must have shape ({size},), got {values.shape}")
    return values
