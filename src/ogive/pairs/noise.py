"""What a pair may release of its value, and how far that varies: unbiased, at an epsilon of the pair.

Source:
    `ustatistics.md`, 7.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ogive.arrays import Float64
from ogive.errors import ParameterError, quoted


class PairNoise(Protocol):
    """A kind of noise; its variance at epsilon / k, divided by k, does not fall with k."""

    def variance(self, epsilon: float) -> float:
        """Variance that the noise adds to a pair's value."""
        ...


@dataclass(frozen=True)
class LaplaceNoise:
    """Continuous Laplace noise.

    Fields:
        width: Range of the kernel, its maximum less its minimum.
    """

    width: float = 1.0

    def __post_init__(self) -> None:
        _positive(self.width, "width")

    def variance(self, epsilon: float) -> float:
        """Twice the squared scale."""
        return 2 * (self.width / _positive(epsilon, "epsilon")) ** 2


@dataclass(frozen=True)
class DiscreteLaplaceNoise:
    """Whole-number Laplace noise on a kernel in whole steps.

    Fields:
        steps: Range of the kernel in steps.
        unit: Size of a step.
    """

    steps: int
    unit: float = 1.0

    def __post_init__(self) -> None:
        _positive(self.steps, "steps")
        _positive(self.unit, "unit")

    def variance(self, epsilon: float) -> float:
        """2 lambda / (1 - lambda)^2 squared steps, with lambda = exp(-epsilon / steps)."""
        rate = _positive(epsilon, "epsilon") / self.steps
        return self.unit**2 * 2 * math.exp(-rate) / math.expm1(-rate) ** 2


@dataclass(frozen=True)
class ResponseNoise:
    """Randomized response on the few values that a kernel has: the value, or with a chance beta a uniform one.

    Fields:
        values: All of them, at least two, distinct: (0, 1), or (-1, 0, 1) of Kendall's tau.
        shares: How often pairs have each value, adding up to 1; None takes the value that varies most for all.
    """

    values: tuple[float, ...]
    shares: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if len(set(self.values)) != len(self.values) or len(self.values) < 2:
            raise ParameterError(f"`values` must be at least two, distinct, got {self.values}")
        if self.shares is not None and (
            len(self.shares) != len(self.values) or min(self.shares) < 0 or not math.isclose(sum(self.shares), 1)
        ):
            raise ParameterError(f"`shares` must be one a value and add up to 1, got {self.shares}")

    def keep(self, epsilon: float) -> float:
        """1 - beta: the chance of answering with the value itself, and not with a uniform one."""
        rate = -_positive(epsilon, "epsilon")
        return -math.expm1(rate) / (1 + (len(self.values) - 1) * math.exp(rate))

    def decoded(self, epsilon: float) -> Float64:
        """What each answer stands for, unbiased, shape of the values: beyond them, at both ends."""
        values = np.array(self.values)
        keep = self.keep(epsilon)
        found: Float64 = (values - (1 - keep) * values.mean()) / keep
        return found

    def variances(self, epsilon: float) -> Float64:
        """Variance of the decoded answer of a pair of each value, shape of the values."""
        values = np.array(self.values)
        keep, size = self.keep(epsilon), len(values)
        other = math.exp(-epsilon) / (1 + (size - 1) * math.exp(-epsilon))
        chances = keep * np.eye(size) + other
        # around each one's own mean, which is written as its value and a little: what nearly cancels loses digits
        apart = values - values[:, None] + other * (size * values - values.sum())[:, None]
        found: Float64 = (chances * apart**2).sum(axis=1) / keep**2
        return found

    def variance(self, epsilon: float) -> float:
        """Mean over the shares, or the largest."""
        found = self.variances(epsilon)
        return float(found.max() if self.shares is None else found @ np.array(self.shares))


def _positive(value: float, name: str) -> float:
    """The number, if it is above 0 and finite."""
    if not (value > 0 and math.isfinite(value)):
        raise ParameterError(f"`{name}` must be above 0 and finite, got {quoted(value)}")
    return value
