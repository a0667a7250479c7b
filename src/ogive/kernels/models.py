"""Losses of pairs: how badly a public model ranks, separates or groups records; their mean is the empirical risk.

A loss is clipped to [0, largest], which is its range; the model (weights, matrix, centers) is public. Gradients are
functions of pairs too, clipped to a ball, so a mean gradient is a U-statistic of vectors.
Here is what all losses share.

Source:
    Problems that Bell, Bellet, Gascón and Kulkarni (2020) name, in the forms of the methods file, section 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.columns import Domain
from ogive.errors import ParameterError, quoted
from ogive.kernels.cells import check_count, check_numbers
from ogive.kernels.exact import BITS, Scale, blocked_mean, rounded_scale, rounded_sum
from ogive.kernels.matrices import Named, symmetrized
from ogive.kernels.sampling import sampled_means

Gradient = Callable[[Float64, Float64], Float64]


class ClippedLoss(Named):
    """A loss in [0, largest] whose means over cells are estimated and whose sums are taken pair by pair."""

    samples: ClassVar[int] = 1
    largest: float

    def range(self, columns: Domain) -> tuple[float, float]:
        """From 0 to largest."""
        return 0.0, self.largest

    def lipschitz(self, columns: Domain) -> float | None:
        """None: it jumps with the class."""
        return None

    def cell_means(self, columns: Domain) -> Float64:
        """Estimated means over cells; see `sampling.sampled_means`."""
        return sampled_means(self, columns)[0]

    def matrix(self, columns: Domain, kind: str = "average") -> Float64:
        """A; see `Kernel.matrix`."""
        return symmetrized(super().matrix(columns, kind))

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Steps of 2^-bits of the range."""
        return rounded_scale(0.0, self.largest, bits)

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Exact sum of rounded losses, in O(n^2)."""
        return rounded_sum(self, rows, 0.0, self.largest, bits)


def vector(values: Any, name: str) -> tuple[float, ...]:
    """Finite numbers, at least one."""
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise ParameterError(f"`{name}` must be numbers, got {type(values).__name__}") from None
    if not numbers or not all(map(math.isfinite, numbers)):
        raise ParameterError(f"`{name}` must be at least one finite number")
    return numbers


def positive(value: Any, name: str) -> float:
    """A finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ParameterError(f"`{name}` must be a finite number above 0, got {quoted(value)}")
    return float(value)


def check_features(columns: Domain, features: int, name: str) -> None:
    """Refuse anything but so many columns of numbers and one more."""
    check_count(columns, features + 1, name)
    check_numbers(Domain(columns.columns[:-1]), name)


def within(gradients: Float64, norm: float, axes: int) -> Float64:
    """Gradients shortened to a length of `norm` where they are longer; the last `axes` axes are the components."""
    bound = positive(norm, "norm")
    lengths = np.sqrt((gradients**2).sum(axis=tuple(range(-axes, 0)), keepdims=True))
    return np.asarray(gradients * (bound / np.maximum(lengths, bound)))


def mean_of_components(gradient: Gradient, rows: Float64, shape: tuple[int, ...]) -> Float64:
    """Mean of a gradient of some shape over all pairs."""
    means = np.empty(math.prod(shape))
    for number in range(len(means)):
        means[number] = blocked_mean(partial(_component, gradient, shape, number), rows)
    return means.reshape(shape)


def _component(gradient: Gradient, shape: tuple[int, ...], place: int, left: Float64, right: Float64) -> Float64:
    found = gradient(left, right)
    return found.reshape(*found.shape[: found.ndim - len(shape)], -1)[..., place]
