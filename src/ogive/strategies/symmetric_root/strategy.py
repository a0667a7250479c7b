"""The symmetric square root of prefix sums with columns of equal norm: Gaussian noise within 0.3 % of the least.

With A the matrix of prefix sums, A^T A has nearly cosines as eigenvectors. Measured is R D x: R is about the fourth
root of A^T A, a matrix of integers with these eigenvectors, and D a diagonal matrix of whole numbers that give all
columns nearly the same norm. So a record costs the same in every bin, and no noise is drawn for the sake of a few bins
alone. Norms are found exactly, in integers. The estimate A D^{-1} R^{-1} y is unbiased, whatever the rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.checks import whole
from ogive.errors import ParameterError
from ogive.noise import DiscreteGaussian, law_from_dict
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.base import (
    Level,
    batch,
    check_levels,
    check_privacy,
    gaussian,
    gaussian_law,
    given_total,
    histogram,
    measured_loss,
    variance_given_total,
)
from ogive.strategies.symmetric_root.integer import bin_weights, reflected_convolver, root_kernel, squared_sensitivity
from ogive.strategies.symmetric_root.reflected import Reflected, corner_sums, eigenvalues, kernel_of

_WHAT = "the symmetric root"
BITS, MORE_BITS = 14, 16
"""Fractional bits of the entries up to `_LARGE` bins, and above, where entries far from the diagonal are small."""
WEIGHT_BITS = 12
_LARGE = 1 << 18


@dataclass(frozen=True)
class SymmetricRoot:
    """Integer measurements by a weighted symmetric root, with discrete Gaussian noise.

    Fields:
        size: Number of bins, N.
        law: Noise of every measurement, on the scale of the integer matrix.
        bits: Fractional bits of the entries without weights, from 12 to 16.
        weight_bits: Bits of the largest weight, from 6 to 12.

    Source:
        The matrix mechanism: Li et al. (2015). Columns of equal norm at its optimum: Denisov et al. (2022).
    """

    size: int
    law: DiscreteGaussian
    bits: int = BITS
    weight_bits: int = WEIGHT_BITS

    name: ClassVar[str] = "symmetric"

    def __post_init__(self) -> None:
        check_levels(self.size, (), (self.law,), what="sizes")
        gaussian(self.law, _WHAT)
        whole(self.bits, "bits", 12, 16)
        whole(self.weight_bits, "weight_bits", 6, 12)

    @property
    def levels(self) -> tuple[Level, ...]:
        """One level: a noise variable per measurement."""
        return (Level(self.size, self.law),)

    @property
    def weights(self) -> Int64:
        """Whole numbers by which the counts of the bins are multiplied, shape (N,)."""
        return bin_weights(self.size, self.bits, self.weight_bits)

    @property
    def unit(self) -> float:
        """About what a record adds to the measurement of its bin."""
        return 2.0 ** (self.bits + self.weight_bits)

    @property
    def _inverse(self) -> Reflected:
        return inverse_root(self.size, self.bits)

    def measure(self, counts: Int64) -> Int64:
        """The integer matrix times the histogram, exactly, shape (N,).

        Raises:
            ParameterError: so many records that the sums would not fit.
        """
        counted = histogram(counts, self.size)
        largest = int(np.abs(counted).max())
        most = 62 - self.weight_bits
        if largest >> most:
            raise ParameterError(f"`counts` must be below 2^{most} for exact measurement, got {largest}")
        return reflected_convolver(self.size, self.bits).apply(counted * self.weights)

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        """The noise itself: every measurement has its own variable."""
        return noise[0]

    def loss(self, adjacency: Adjacency) -> ZeroConcentratedDP:
        """Exact loss under ADD_OR_REMOVE; under REPLACE a bound, a few percent above it.

        Privacy:
            Squared L2 sensitivity by `squared_sensitivity`, in integers.
        """
        change = squared_sensitivity(self.size, self.bits, self.weight_bits, adjacency is Adjacency.REPLACE)
        loss = measured_loss([self.law], l1=[0], l2_squared=[change])
        assert isinstance(loss, ZeroConcentratedDP)
        return loss

    def bins(self, rows: Float64) -> Float64:
        """The histogram whose measurements are the answers, shape (..., N), in time O(N log N)."""
        counts: Float64 = self._inverse.times(rows) / self.weights
        return counts

    def normal(self, values: Float64) -> Float64:
        """D R R D x, in units of `unit`."""
        root = Reflected(root_kernel(self.size, self.bits) / self.unit)
        product: Float64 = self.weights * root.times(root.times(self.weights * values))
        return product

    def outer(self, values: Float64) -> Float64:
        """The inverse of `normal`."""
        product: Float64 = self.unit**2 * self._inverse.times(self._inverse.times(values / self.weights)) / self.weights
        return product

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Unbiased cumulative counts, shape (..., N), in time O(N log N)."""
        rows, shape = batch(answer, self.size)
        values: Float64 = np.cumsum(self.bins(rows.astype(np.float64)), axis=1)
        if total is not None:
            values = given_total(values, self._total_covariance, total)
        return values.reshape(*shape, self.size)

    @cached_property
    def _total_covariance(self) -> Float64:
        """Covariance of each estimated cumulative count with the estimated total, shape (N,)."""
        values: Float64 = self.law.variance / self.unit**2 * np.cumsum(self.outer(np.ones(self.size)))
        return values

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of each cumulative count, shape (N,)."""
        values: Float64 = self.law.variance * unit_variances(self.size, self.bits, self.weight_bits)
        if total_known:
            values = variance_given_total(values, self._total_covariance)
        return values

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.name, "size": self.size, "bits": self.bits, "weight_bits": self.weight_bits,
            "law": self.law.to_dict(),
        }  # fmt: skip

    @staticmethod
    def from_dict(data: dict[str, Any]) -> SymmetricRoot:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is out of range or the law is not Gaussian.
        """
        law = gaussian(law_from_dict(data["law"]), _WHAT)
        return SymmetricRoot(data["size"], law, data["bits"], data["weight_bits"])


@lru_cache(maxsize=4)
def root_eigenvalues(size: int, bits: int) -> Float64:
    """Eigenvalues of R, in floating point.

    Raises:
        ParameterError: entries of so few bits do not give an invertible matrix of this size.
    """
    values = eigenvalues(root_kernel(size, bits))
    if not values.min() > 0.0:
        raise ParameterError(f"the symmetric root of {size} bins needs more than {bits} bits")
    return values


@lru_cache(maxsize=4)
def inverse_root(size: int, bits: int) -> Reflected:
    """Products with the inverse of R; kept for the sizes used last."""
    return Reflected(kernel_of(1.0 / root_eigenvalues(size, bits)))


@lru_cache(maxsize=4)
def unit_variances(size: int, bits: int, weight_bits: int) -> Float64:
    """Variance of each cumulative count for noise of variance 1, shape (N,); kept for the sizes used last."""
    return corner_sums(kernel_of(root_eigenvalues(size, bits) ** -2.0), 1.0 / bin_weights(size, bits, weight_bits))


def design_symmetric_root(size: int, *, privacy: PureDP | ZeroConcentratedDP, adjacency: Adjacency) -> SymmetricRoot:
    """Choose the noise of the symmetric root at the cost of `privacy`.

    Args:
        size: Number of bins, N.
        privacy: Loss to spend, ZeroConcentratedDP.
        adjacency: Under REPLACE the total is public and the estimate is conditioned on it; `design_square_root` is
            more accurate there.

    Raises:
        ParameterError: privacy is pure, or an argument is out of range.

    Privacy:
        `loss(adjacency)` of the result is at most `privacy`.
    """
    check_levels(size, (), (), what="sizes")
    check_privacy(privacy, adjacency)
    bits = BITS if size <= _LARGE else MORE_BITS
    change = squared_sensitivity(size, bits, WEIGHT_BITS, adjacency is Adjacency.REPLACE)
    law = gaussian_law(privacy, change, _WHAT)
    return SymmetricRoot(size, law, bits)
