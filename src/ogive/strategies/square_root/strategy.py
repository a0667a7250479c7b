"""The square-root factorization of prefix sums, in integers: Gaussian noise of nearly the least variance.

The matrix of prefix sums is A = C C with C lower-triangular Toeplitz, first column
r_k = binom(2k, k) / 4^k. Measured is C' x with the integer matrix C' = round(2^bits C), plus discrete
Gaussian noise; sensitivities are those of C' itself, so privacy is exact. The estimate A C'^{-1} is a
Toeplitz matrix too, whatever the rounding, hence unbiased.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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
)
from ogive.strategies.square_root.integer import Convolver, factor_column, fast_length, squared_sensitivity

_WHAT = "the square-root factorization"
BITS = 20


@dataclass(frozen=True)
class SquareRoot:
    """Integer square-root measurements of a histogram with discrete Gaussian noise.

    Fields:
        size: Number of bins, N.
        law: Noise of every measurement, on the scale where a record adds 2^bits in its bin.
        bits: Fractional bits of the integer factor, from 1 to 24.

    Source:
        Henzinger, Upadhyay and Upadhyay (2023); Fichtenberger, Henzinger and Upadhyay (2023).
    """

    size: int
    law: DiscreteGaussian
    bits: int = BITS

    name: ClassVar[str] = "sqrt"

    def __post_init__(self) -> None:
        check_levels(self.size, (), (self.law,), what="sizes")
        gaussian(self.law, _WHAT)
        whole(self.bits, "bits", 1, 24)

    @property
    def levels(self) -> tuple[Level, ...]:
        """One level: a noise variable per measurement."""
        return (Level(self.size, self.law),)

    @cached_property
    def _convolver(self) -> Convolver:
        return Convolver(factor_column(self.size, self.bits), self.size)

    @cached_property
    def _decoder(self) -> Float64:
        """First column of A C'^{-1}, shape (N,)."""
        return decoder(factor_column(self.size, self.bits), self.bits)

    @cached_property
    def _total_covariance(self) -> Float64:
        """Covariance of each estimated cumulative count with the estimated total, shape (N,)."""
        g = self._decoder
        length = fast_length(2 * self.size)
        spectrum = np.fft.rfft(g, length)
        lagged: Float64 = np.fft.irfft(spectrum * np.conj(spectrum), length)[: self.size]
        values: Float64 = self.law.variance * lagged[::-1]
        return values

    def measure(self, counts: Int64) -> Int64:
        """The integer matrix C' times the histogram, exactly, shape (N,).

        Raises:
            ParameterError: so many records that the sums would not fit.
        """
        return self._convolver.apply(histogram(counts, self.size))

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        """The noise itself: every measurement has its own variable."""
        return noise[0]

    def loss(self, adjacency: Adjacency) -> ZeroConcentratedDP:
        """Exact loss, from the columns of C'.

        Privacy:
            Squared L2 sensitivity max_s ||c_s||^2 (ADD_OR_REMOVE) or max_{s<t} ||c_s - c_t||^2 (REPLACE).
        """
        change = squared_sensitivity(self.size, self.bits, adjacency is Adjacency.REPLACE)
        loss = measured_loss([self.law], l1=[0], l2_squared=[change])
        assert isinstance(loss, ZeroConcentratedDP)
        return loss

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Unbiased cumulative counts, shape (..., N), by one Toeplitz product in time O(N log N)."""
        rows, shape = batch(answer, self.size)
        length = fast_length(2 * self.size)
        product = np.fft.irfft(
            np.fft.rfft(rows.astype(np.float64), length, axis=1) * np.fft.rfft(self._decoder, length), length, axis=1
        )
        values: Float64 = np.ascontiguousarray(product[:, : self.size])
        if total is not None:
            values = given_total(values, self._total_covariance, total)
        return values.reshape(*shape, self.size)

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of each cumulative count, shape (N,)."""
        values: Float64 = self.law.variance * np.cumsum(self._decoder**2)
        if total_known:
            covariance = self._total_covariance
            values = np.maximum(values - covariance**2 / values[-1], 0.0)
            values[-1] = 0.0
        return values

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, "size": self.size, "bits": self.bits, "law": self.law.to_dict()}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> SquareRoot:
        """Rebuild from `to_dict`.

        Raises:
            ParameterError: a field is out of range or the law is not Gaussian.
        """
        law = gaussian(law_from_dict(data["law"]), _WHAT)
        return SquareRoot(data["size"], law, data["bits"])


def decoder(column: Int64, bits: int) -> Float64:
    """First column of A C'^{-1} for the first column of C': cumulative sums of the inverse power series.

    The series 1 / c' is built by Newton's iteration g <- g (2 - c' g), doubling the known terms.
    """
    size = len(column)
    scaled = column.astype(np.float64) / 2.0**bits
    inverse = np.ones(1)
    while len(inverse) < size:
        count = min(2 * len(inverse), size)
        length = fast_length(2 * count + len(inverse))
        spectrum = np.fft.rfft(inverse, length)
        residual = np.fft.irfft(spectrum * np.fft.rfft(scaled[:count], length), length)[:count]
        residual = -residual
        residual[0] += 2.0
        inverse = np.fft.irfft(spectrum * np.fft.rfft(residual, length), length)[:count]
    values: Float64 = np.cumsum(inverse) / 2.0**bits
    return values


def design_square_root(size: int, *, privacy: PureDP | ZeroConcentratedDP, adjacency: Adjacency) -> SquareRoot:
    """Choose the noise of the square-root factorization at the cost of `privacy`.

    Args:
        size: Number of bins, N.
        privacy: Loss to spend, ZeroConcentratedDP.
        adjacency: Under REPLACE the total is public and the estimate is conditioned on it.

    Raises:
        ParameterError: privacy is pure, or an argument is out of range.

    Privacy:
        `loss(adjacency)` of the result is at most `privacy`.
    """
    check_levels(size, (), (), what="sizes")
    check_privacy(privacy, adjacency)
    change = squared_sensitivity(size, BITS, adjacency is Adjacency.REPLACE)
    law = gaussian_law(privacy, change, _WHAT)
    return SquareRoot(size, law)
