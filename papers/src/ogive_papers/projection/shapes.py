"""The distributions of the simulations, with their public bounds and their true distribution functions.

The paper names the normal and the beta distribution and shows three; their parameters and the third are not given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, ndtr

from ogive.core.arrays import Float64

POINTS = 2001
"""Places, evenly over the bounds, at which curves are compared."""


@dataclass(frozen=True)
class Shape:
    """A distribution on public bounds.

    Fields:
        name: Short name, used in settings.
        title: As pictures name it.
        low, high: The bounds. What is drawn beyond them is moved to them.
        draw: That many values.
        cdf: The true distribution function within the bounds.
    """

    name: str
    title: str
    low: float
    high: float
    draw: Callable[[np.random.Generator, int], Float64]
    cdf: Callable[[Float64], Float64]

    @property
    def axis(self) -> Float64:
        """Where curves are compared, shape (POINTS,)."""
        return axis_of(self.low, self.high)

    @property
    def truth(self) -> Float64:
        """The true distribution function there; 1 at the upper bound."""
        values = self.cdf(self.axis)
        values[-1] = 1.0
        return values

    def records(self, generator: np.random.Generator, size: int) -> Float64:
        """Simulated records within the bounds, shape (size,)."""
        return np.clip(self.draw(generator, size), self.low, self.high)


def axis_of(low: float, high: float) -> Float64:
    """The points between two bounds at which curves are compared, shape (POINTS,)."""
    return np.linspace(low, high, POINTS)


def _mixture(generator: np.random.Generator, size: int) -> Float64:
    centers: Float64 = np.where(generator.random(size) < 0.5, -2.0, 2.0)
    return centers + 0.5 * generator.standard_normal(size)


SHAPES = {
    shape.name: shape
    for shape in (
        Shape(
            "normal", "normal", -4.0, 4.0,
            lambda generator, size: generator.standard_normal(size),
            lambda x: np.asarray(ndtr(x)),
        ),
        Shape(
            "beta", "beta(2, 5)", 0.0, 1.0,
            lambda generator, size: generator.beta(2, 5, size),
            lambda x: np.asarray(betainc(2, 5, x)),
        ),
        Shape(
            "uniform", "uniform", 0.0, 1.0,
            lambda generator, size: generator.random(size),
            lambda x: np.array(x),
        ),
        Shape(
            "exponential", "exponential", 0.0, 8.0,
            lambda generator, size: generator.exponential(1.0, size),
            lambda x: -np.expm1(-x),
        ),
        Shape(
            "mixture", "normal mixture", -4.0, 4.0, _mixture,
            lambda x: np.asarray(0.5 * ndtr((x + 2) / 0.5) + 0.5 * ndtr((x - 2) / 0.5)),
        ),
    )
}  # fmt: skip
"""The five distributions by name."""
