"""A square root of prefix sums on a ring: Gaussian noise close to the least where one record is replaced.

Measured are P = 3 N / 2 sums y = R x. Column j of the integer matrix R is one vector shifted by j places around a ring
of P places, so all columns have the same norm and two columns differ by what their distance alone decides. On the ring
the eigenvalues of R are near those of the square root of the square root of A^T A, for A the matrix of prefix sums.
The estimate is that of least squares, hence unbiased, whatever the rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.checks import whole
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
from ogive.strategies.ring.integer import inner_products, places, ring_convolver, ring_vector, squared_sensitivity
from ogive.strategies.ring.toeplitz import ToeplitzInverse

_WHAT = "the ring"
BITS = 20


@dataclass(frozen=True)
class RingRoot:
    """Integer measurements of a histogram on a ring with discrete Gaussian noise.

    Fields:
        size: Number of bins, N.
        law: Noise of every measurement, on the scale where a record adds 2^bits in its bin.
        bits: Fractional bits of the integer matrix, from 12 to 22.

    Source:
        The matrix mechanism: Li et al. (2015). The inverse of the Gram matrix: Gohberg and Semencul (1972).
    """

    size: int
    law: DiscreteGaussian
    bits: int = BITS

    name: ClassVar[str] = "ring"

    def __post_init__(self) -> None:
        check_levels(self.size, (), (self.law,), what="sizes")
        gaussian(self.law, _WHAT)
        whole(self.bits, "bits", 12, 22)

    @property
    def levels(self) -> tuple[Level, ...]:
        """One level: a noise variable per measurement, P of them."""
        return (Level(places(self.size), self.law),)

    @property
    def inverse(self) -> ToeplitzInverse:
        """The inverse of the Gram matrix R^T R / 4^bits."""
        return inverse_gram(self.size, self.bits)

    @cached_property
    def _total_covariance(self) -> Float64:
        """Covariance of each estimated cumulative count with the estimated total, shape (N,)."""
        values: Float64 = self._unit_variance * np.cumsum(self.inverse.times(np.ones(self.size)))
        return values

    @property
    def _unit_variance(self) -> float:
        return float(self.law.variance) / 4.0**self.bits

    def measure(self, counts: Int64) -> Int64:
        """The integer matrix R times the histogram, exactly, shape (P,).

        Raises:
            ParameterError: so many records that the sums would not fit.
        """
        return ring_convolver(self.size, self.bits).apply(histogram(counts, self.size))

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        """The noise itself: every measurement has its own variable."""
        return noise[0]

    def loss(self, adjacency: Adjacency) -> ZeroConcentratedDP:
        """Exact loss, from the columns of R.

        Privacy:
            Squared L2 sensitivity ||c||^2 of each column c (ADD_OR_REMOVE) or max_d ||c_0 - c_d||^2 (REPLACE).
        """
        change = squared_sensitivity(self.size, self.bits, adjacency is Adjacency.REPLACE)
        loss = measured_loss([self.law], l1=[0], l2_squared=[change])
        assert isinstance(loss, ZeroConcentratedDP)
        return loss

    def bins(self, rows: Float64) -> Float64:
        """The histogram of least squares for answers, shape (..., P), to shape (..., N), in time O(N log N)."""
        width = places(self.size)
        spectrum = np.fft.rfft(ring_vector(self.size, self.bits) / 2.0**self.bits)
        sums = np.fft.irfft(np.fft.rfft(rows / 2.0**self.bits) * spectrum, width)[..., : self.size]
        return self.inverse.times(sums)

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Unbiased cumulative counts, shape (..., N), by least squares."""
        rows, shape = batch(answer, places(self.size))
        values: Float64 = np.cumsum(self.bins(rows.astype(np.float64)), axis=1)
        if total is not None:
            values = given_total(values, self._total_covariance, total)
        return values.reshape(*shape, self.size)

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of each cumulative count, shape (N,)."""
        values: Float64 = self._unit_variance * self.inverse.corner_sums()
        if total_known:
            values = variance_given_total(values, self._total_covariance)
        return values

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, "size": self.size, "bits": self.bits, "law": self.law.to_dict()}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> RingRoot:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is out of range or the law is not Gaussian.
        """
        law = gaussian(law_from_dict(data["law"]), _WHAT)
        return RingRoot(data["size"], law, data["bits"])


@lru_cache(maxsize=4)
def inverse_gram(size: int, bits: int) -> ToeplitzInverse:
    """The inverse of R^T R / 4^bits; kept for the sizes used last."""
    return ToeplitzInverse(inner_products(size, bits) / 4.0**bits)


def design_ring(size: int, *, privacy: PureDP | ZeroConcentratedDP, adjacency: Adjacency) -> RingRoot:
    """Choose the noise of the ring at the cost of `privacy`.

    Args:
        size: Number of bins, N.
        privacy: Loss to spend, ZeroConcentratedDP.
        adjacency: Under REPLACE the total is public and the estimate is conditioned on it; under ADD_OR_REMOVE
            `design_symmetric_root` is more accurate.

    Raises:
        ParameterError: privacy is pure, or an argument is out of range.

    Privacy:
        `loss(adjacency)` of the result is at most `privacy`.
    """
    check_levels(size, (), (), what="sizes")
    check_privacy(privacy, adjacency)
    change = squared_sensitivity(size, BITS, adjacency is Adjacency.REPLACE)
    law = gaussian_law(privacy, change, _WHAT)
    inverse_gram(size, BITS)  # a failure comes before anything is paid; estimates use it again
    return RingRoot(size, law)
