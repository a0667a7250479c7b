"""Curves by projection: a handful of coefficients of orthogonal functions, with noise shaped to what a record changes.

Bin j of N covers [2 j / N - 1, 2 (j + 1) / N - 1] of the axis u, and a record counts at its bin's middle. Measured are
the sums over records of z = rint(2^bits W c(u)), integers, where c(u) are the coefficients of one record's distribution
function and W is a certified whitening: no change of a record moves W c by more than 1, so independent integer noise of
one scale suffices. Decoded, it is noise of covariance (W'W)^-1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ogive.accounting import discrete_loss
from ogive.errors import ParameterError
from ogive.noise import DiscreteGaussian, law_from_dict
from ogive.noise.base import Law
from ogive.privacy import Adjacency, Loss, check_adjacency
from ogive.strategies.base import Level
from ogive.strategies.measured import batch, check_levels, histogram
from ogive.strategies.projection_bases import Basis, basis_named
from ogive.strategies.projection_features import integer_features, squared_sensitivity
from ogive.strategies.projection_shapes import whitening

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]

MAX_SIZE = 2**16
MAX_DEGREE = 30
MAX_BITS = 30
NOISES = ("shaped", "isotropic")


class Moments(NamedTuple):
    """Means of the powers of u in [-1, 1], from the first one on, and the standard deviation of their noise."""

    values: Float64
    noise_sd: Float64


@dataclass(frozen=True)
class OrthogonalProjection:
    """Noisy coefficients of the cumulative count.

    Fields:
        size: Number of bins, N, at most 2^16.
        basis: What is projected on: "legendre".
        degree: K; there are K + 1 functions.
        noise: "shaped" to what one record can change, or "isotropic".
        adjacency: What the whitening is for; under ADD_OR_REMOVE the number of records is measured too.
        bits: Fractional bits of the integers.
        law: Noise of every integer.

    Source:
        Tao and Sarwate 2025, with noise on the orthonormal coefficients, of the optimal shape.
    """

    size: int
    basis: str
    degree: int
    noise: str
    adjacency: Adjacency
    bits: int
    law: Law

    name: ClassVar[str] = "projection"

    def __post_init__(self) -> None:
        check_form(self.size, self.basis, self.degree, self.noise)
        if not isinstance(self.adjacency, Adjacency):
            raise ParameterError(f"adjacency must be an Adjacency, got {self.adjacency!r}")
        if isinstance(self.bits, bool) or not isinstance(self.bits, int) or not 8 <= self.bits <= MAX_BITS:
            raise ParameterError(f"bits must be a whole number from 8 to {MAX_BITS}, got {self.bits!r}")
        if not isinstance(self.law, DiscreteGaussian):
            raise ParameterError(f"a projection takes DiscreteGaussian noise, got {self.law!r}")

    @cached_property
    def _basis(self) -> Basis:
        return basis_named(self.basis)

    @property
    def counted(self) -> bool:
        """Whether the number of records is the first of the measurements."""
        return self.adjacency is Adjacency.ADD_OR_REMOVE

    @property
    def features(self) -> Int64:
        """What one record in each bin adds to the measurements, shape (M, N); read only."""
        return integer_features(self.size, self.basis, self.degree, self.noise, self.adjacency, self.bits)

    @property
    def levels(self) -> tuple[Level, ...]:
        """One level: a noise variable per measurement."""
        return (Level(self.degree + 1 + self.counted, self.law),)

    def measure(self, counts: Int64) -> Int64:
        """Sums of the features over the records, exactly, shape (M,).

        Raises:
            ParameterError: so many records that the sums would not fit.
        """
        values = histogram(counts, self.size)
        records = int(np.abs(values).astype(object).sum()) if len(values) else 0
        if records >> (62 - self.bits):
            raise ParameterError(
                f"a projection of {self.bits} bits sums at most 2^{62 - self.bits} records, got {records}"
            )
        return self.features @ values

    def spread(self, noise: tuple[Int64, ...]) -> Int64:
        """The noise itself: every measurement has its own variable."""
        return noise[0]

    def loss(self, adjacency: Adjacency) -> Loss:
        """Loss of the integers, from their largest change.

        Raises:
            ParameterError: the projection was designed for the other adjacency.

        Privacy:
            See `docs/proofs/projection.md`.
        """
        if adjacency is not self.adjacency:
            raise ParameterError(
                f"this projection is designed for {self.adjacency.value}, not for {check_adjacency(adjacency).value}"
            )
        assert isinstance(self.law, DiscreteGaussian)
        change = squared_sensitivity(self.size, self.basis, self.degree, self.noise, self.adjacency, self.bits)
        return discrete_loss(change, self.law.sigma, self.levels[0].nodes)

    @cached_property
    def _unwhitened(self) -> Float64:
        """From measurements to feature sums, shape (M, M)."""
        matrix = whitening(self._basis, self.degree, self.adjacency, self.noise)
        return np.asarray(np.linalg.inv(matrix) * 2.0**-self.bits)

    @cached_property
    def _synthesis(self) -> tuple[Float64, Float64]:
        """Parts of the curve at the bins' upper ends: per record, shape (N,), and per function, shape (N, K + 1)."""
        ends = 2 * np.arange(1, self.size + 1) / self.size - 1
        chord = (1 + ends) / 2 if self._basis.pinned else np.zeros(self.size)
        return chord, self._basis.values(ends, self.degree).T

    @cached_property
    def _decoder(self) -> Float64:
        """From measurements to the curve, but for a known number of records, shape (N, M)."""
        chord, functions = self._synthesis
        if not self.counted:
            return functions @ self._unwhitened
        rows = np.concatenate((chord[:, None], functions), axis=1)
        rows[-1] = 0
        rows[-1, 0] = 1
        return np.asarray(rows @ self._unwhitened)

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Cumulative counts at the bins' upper ends, shape (..., N): the noisy projection there."""
        rows, shape = batch(answer, self.levels[0].nodes)
        values = rows @ self._decoder.T
        if total is not None:
            if self.counted:
                covariance = self._decoder @ self._decoder[-1]
                values += (covariance / covariance[-1]) * (total - values[:, -1:])
            else:
                values += total * self._synthesis[0]
            values[:, -1] = total
        return values.reshape(*shape, self.size)

    def variance(self, *, total_known: bool) -> Float64:
        """Variance of the noise in each cumulative count, shape (N,)."""
        decoder = self._decoder
        values = np.einsum("ij,ij->i", decoder, decoder)
        if total_known:
            if self.counted:
                values = np.maximum(values - (decoder @ decoder[-1]) ** 2 / values[-1], 0)
            values[-1] = 0
        return np.asarray(values * self.law.variance)

    def coefficients(self, answer: Int64, total: int | None) -> Float64:
        """Noisy coefficients of the cumulative count, unbiased, shape (..., K + 1); over the records those of F.

        Under ADD_OR_REMOVE the noisy number of records is the first measurement, left out here; of the pinned basis
        they are those of the cumulative count less its chord.
        """
        rows, shape = batch(answer, self.levels[0].nodes)
        sums = rows @ self._unwhitened.T
        return sums[:, -(self.degree + 1) :].reshape(*shape, self.degree + 1)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.name,
            "size": self.size,
            "basis": self.basis,
            "degree": self.degree,
            "noise": self.noise,
            "adjacency": self.adjacency.value,
            "bits": self.bits,
            "law": self.law.to_dict(),
        }

    @staticmethod
    def from_dict(data: dict[str, Any]) -> OrthogonalProjection:
        """Rebuild a projection from `to_dict`.

        Raises:
            ParameterError: a field is out of range.
        """
        return OrthogonalProjection(
            size=data["size"],
            basis=data["basis"],
            degree=data["degree"],
            noise=data["noise"],
            adjacency=check_adjacency(data["adjacency"]),
            bits=data["bits"],
            law=law_from_dict(data["law"]),
        )


def check_form(size: Any, basis: Any, degree: Any, noise: Any) -> None:
    """Refuse a size, basis, degree or noise that there is not.

    Raises:
        ParameterError: naming the value and what is allowed.
    """
    check_levels(size, (), (), what="sizes")
    if size > MAX_SIZE:
        raise ParameterError(
            f"a projection has no more detail than its degree; use fewer bins (at most {MAX_SIZE}), got {size}"
        )
    if noise not in NOISES:
        raise ParameterError(f"noise must be one of {', '.join(NOISES)}, got {noise!r}")
    least = basis_named(basis).least
    if isinstance(degree, bool) or not isinstance(degree, int) or not least <= degree <= MAX_DEGREE:
        raise ParameterError(f"degree must be a whole number from {least} to {MAX_DEGREE}, got {degree!r}")
    if degree >= max(size, 2):
        raise ParameterError(f"degree {degree} is too large for {size} bins; use at most {max(size - 1, 1)}")
