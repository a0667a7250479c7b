"""Curves by projection: a handful of coefficients of orthogonal functions, with noise shaped to what a record changes.

Bin j of N covers [2 j / N - 1, 2 (j + 1) / N - 1] of the axis u, and a record counts at its bin's middle. Measured are
the sums over records of z = rint(2^bits W c(u)), integers, where c(u) are the coefficients of one record's distribution
function and W is a certified whitening: no change of a record moves W c by more than 1, so independent integer noise of
one scale suffices. Decoded, it is noise of covariance (W'W)^-1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ogive.accounting import discrete_loss, gaussian_grant, gaussian_mu
from ogive.accounting.losses import DISTANCE, LEAST_SIGMA
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import WIDE, refuse_sums, whole
from ogive.errors import ParameterError, quoted
from ogive.noise import DiscreteGaussian, DiscreteLaplace, law_from_dict, round_up_root, round_up_scale
from ogive.noise.base import Law
from ogive.privacy import Adjacency, ApproxDP, Loss, Privacy, PureDP, ZeroConcentratedDP, check_adjacency
from ogive.strategies.base import Level, PlainStrategy, Readers, batch, histogram
from ogive.strategies.projection.features import (
    Form,
    basis_named,
    integer_features,
    largest_change,
    to_moments,
    whitening,
)

# --- What a handful of noisy coefficients says besides the curve: moments, and a bound on the whole error


class Moments(NamedTuple):
    """Means of u, u^2, ..., u^(K+1) over the records, u in [-1, 1], and the standard deviations of their noise."""

    values: Float64
    noise_sd: Float64


def moments_of(form: Form, sums: Float64, total: int | None, covariance: Float64) -> Moments:
    """Means of powers from unwhitened sums of features, shape (..., M), whose noise has this covariance.

    A total that is not public is replaced by the noisy one, whose noise is counted.
    """
    if form.basis != "legendre":
        raise ParameterError(f"moments follow from the legendre basis only, not from {form.basis}")
    if total is None and not form.counted:
        raise ParameterError("moments need the number of records, which is public under `REPLACE`")
    # power sums are `count` times the number of records plus `matrix` times the sums of features
    if form.noise == "moments":
        count, matrix = 0.0, np.eye(form.degree + 1)
    else:
        count, matrix = 1.0, -to_moments(form.degree)
    noisy = total is None
    if form.counted:
        matrix = np.concatenate((np.full((form.degree + 1, 1), count if noisy else 0.0), matrix), axis=1)
    records = sums[..., :1] if noisy else np.full((*sums.shape[:-1], 1), float(total or 0))
    if np.any(records <= 0):
        raise ParameterError("there are no moments: the noise leaves no records")
    values = (sums @ matrix.T + (0.0 if noisy else count * records)) / records
    # to first order the noise of a ratio is that of the numerator less the ratio times the denominator
    slopes = np.broadcast_to(matrix, (*values.shape, form.rows)).copy()
    if noisy:
        slopes[..., 0] -= values
    sd = np.sqrt(np.einsum("...i,ij,...j->...", slopes, covariance, slopes)) / records
    return Moments(np.asarray(values), np.asarray(sd))


# --- The strategy

MAX_SIZE = 2**16
MAX_BITS = 30


@dataclass(frozen=True)
class OrthogonalProjection(PlainStrategy):
    """Noisy coefficients of the cumulative count.

    Fields:
        size: Number of bins, N, at most 2^16.
        basis: What is projected on: "legendre", "sine", "cosine" or "splines".
        degree: K; there are K + 1 functions.
        noise: "shaped" to what one record can change, "isotropic", or on the "moments".
        constants: "exact", or the "paper"'s sensitivity of moments.
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
    constants: str
    adjacency: Adjacency
    bits: int
    law: Law

    name: ClassVar[str] = "projection"
    readers: ClassVar[Readers] = {"adjacency": check_adjacency, "law": law_from_dict}

    def __post_init__(self) -> None:
        check_size(self.size)
        if self._form.degree >= max(self.size, 2):
            raise ParameterError(
                f"degree {self.degree} is too large for {self.size} bins; use at most {max(self.size - 1, 1)}"
            )
        check_bits(self.bits)
        if not isinstance(self.law, DiscreteGaussian | DiscreteLaplace):
            raise ParameterError(
                f"a projection takes DiscreteGaussian or DiscreteLaplace noise, got {quoted(self.law)}"
            )
        if isinstance(self.law, DiscreteGaussian) and self.law.sigma < LEAST_SIGMA:
            raise ParameterError(
                f"integers of {self.bits} fractional bits get noise of at least {LEAST_SIGMA}, "
                f"got {float(self.law.sigma):g}; use more bits"
            )

    @cached_property
    def _form(self) -> Form:
        absolute = isinstance(self.law, DiscreteLaplace)
        return Form(self.basis, self.degree, self.noise, self.constants, self.adjacency, absolute)

    @property
    def features(self) -> Int64:
        """What one record in each bin adds to the measurements, shape (M, N); read only."""
        return integer_features(self._form, self.size, self.bits)

    @property
    def levels(self) -> tuple[Level, ...]:
        """One level: the sums of the features, which share a law."""
        return (Level(self._form.rows, self.law),)

    def measure(self, counts: Int64) -> Int64:
        """Sums of the features over the records, exactly, shape (M,).

        Raises:
            DataError: there are so many records that the sums would not fit.
        """
        values = histogram(counts, self.size)
        largest = max(1, int(np.abs(self.features).max()))
        # how many there are may be private
        refusal = (
            f"with {self.bits} fractional bits a projection adds up at most {2**62 // largest:.3g} records; "
            "use fewer bits"
        )
        refuse_sums(np.abs(values), largest, WIDE, refusal)
        return self.features @ values

    def loss(self, adjacency: Adjacency) -> Loss:
        """Loss of the integers, from their largest change.

        One that was designed for added and removed records hides a replaced one too, at a loss of its own.

        Raises:
            ParameterError: the projection was designed for replaced records and does not hide how many there are.

        Privacy:
            See `docs/proofs/projection.md`.
        """
        replaced = check_adjacency(adjacency) is Adjacency.REPLACE
        if self.adjacency is Adjacency.REPLACE and not replaced:
            raise ParameterError(
                f"this projection is designed for {self.adjacency.value}, not for {check_adjacency(adjacency).value}"
            )
        change = largest_change(self._form, self.size, self.bits, replaced=replaced)
        if isinstance(self.law, DiscreteLaplace):
            return PureDP(change / self.law.scale)
        assert isinstance(self.law, DiscreteGaussian)
        return discrete_loss(change, self.law.sigma, self._form.rows)

    @cached_property
    def _unwhitened(self) -> Float64:
        """From measurements to feature sums, shape (M, M)."""
        return np.asarray(np.linalg.inv(whitening(self._form)) * 2.0**-self.bits)

    @cached_property
    def _synthesis(self) -> tuple[Float64, Float64]:
        """The curve at the bins' upper ends: per record, shape (N,), and per feature sum, shape (N, K + 1)."""
        return self._form.curve(2 * np.arange(1, self.size + 1) / self.size - 1)

    @cached_property
    def _decoder(self) -> Float64:
        """From measurements to the curve, but for a known number of records, shape (N, M)."""
        fixed, functions = self._synthesis
        if not self._form.counted:
            return np.asarray(functions @ self._unwhitened)
        rows = np.concatenate((fixed[:, None], functions), axis=1)
        rows[-1] = 0
        rows[-1, 0] = 1
        return np.asarray(rows @ self._unwhitened)

    def estimate(self, answer: Int64, total: int | None) -> Float64:
        """Cumulative counts at the bins' upper ends, shape (..., N): the noisy projection there.

        The last one is the number of records, exact or noisy; a REPLACE design without it has the projection there too.

        Raises:
            ParameterError: the number of records is needed and missing.
        """
        rows, shape = batch(answer, self._form.rows)
        self._check_total(total)
        values = rows @ self._decoder.T
        if total is not None:
            if self._form.counted:
                covariance = self._decoder @ self._decoder[-1]
                values += (covariance / covariance[-1]) * (total - values[:, -1:])
            else:
                values += total * self._synthesis[0]
            values[:, -1] = total
        return values.reshape(*shape, self.size)

    def variance(self, *, total_known: bool) -> Float64:
        """Exact variance of the noise in each cumulative count, shape (N,)."""
        decoder = self._decoder
        values = np.einsum("ij,ij->i", decoder, decoder)
        if total_known:
            if self._form.counted:
                values = np.maximum(values - (decoder @ decoder[-1]) ** 2 / values[-1], 0)
            values[-1] = 0
        return np.asarray(values * self.law.variance)

    def coefficients(self, answer: Int64, total: int | None) -> Float64:
        """Noisy coefficients of the cumulative count, unbiased, shape (..., K + 1); over the records those of F.

        Of the sine basis they are those of the cumulative count less its chord.

        Raises:
            ParameterError: the number of records is needed and missing.
        """
        rows, shape = batch(answer, self._form.rows)
        self._check_total(total)
        fixed, matrix = self._form.coefficients()
        sums = rows @ self._unwhitened.T
        records = sums[:, :1] if total is None else float(total)
        values = sums[:, self._form.counted :] @ matrix.T + (records * fixed if fixed.any() else 0.0)
        return np.asarray(values).reshape(*shape, self.degree + 1)

    def moments(self, answer: Int64, total: int | None) -> Moments:
        """Means of u, ..., u^(K+1) over the records, u in [-1, 1], unbiased, with the sd of their noise.

        Of values at their bins' middles. Subtract the squared sd of the first from the square of its value where that
        is squared: the square of a noisy mean is too large by as much on average.

        Raises:
            ParameterError: the basis is not Legendre, the number of records is missing, or noise leaves none.
        """
        rows, shape = batch(answer, self._form.rows)
        sums = (rows @ self._unwhitened.T).reshape(*shape, self._form.rows)
        covariance = self._unwhitened @ self._unwhitened.T * self.law.variance
        return moments_of(self._form, sums, total, covariance)

    def _check_total(self, total: int | None) -> None:
        if total is None and not self._form.counted and (self._form.system.pinned or self.noise == "moments"):
            raise ParameterError("this projection needs the number of records, which is public under `REPLACE`")


def check_bits(bits: Any) -> int:
    """Return fractional bits that there can be."""
    return whole(bits, "bits", 8, MAX_BITS)


def check_size(size: Any) -> None:
    """Refuse a size that is not a number of bins, or more than `MAX_SIZE`."""
    whole(size, "size", 1)
    if size > MAX_SIZE:
        raise ParameterError(
            f"a projection has no more detail than its degree; use fewer bins (at most {MAX_SIZE}), got {size}"
        )


# --- Design of projections: degree, fractional bits and noise for a guarantee

GUESSED_RECORDS = 10_000
PAPER_DEGREE = 6
LEAST_BITS = 20
LAPLACE = 4.0


def design_projection(
    size: int,
    *,
    privacy: Privacy,
    adjacency: Adjacency,
    rows: int = 1,
    records: int | None = None,
    basis: str = "legendre",
    degree: int | None = None,
    noise: str = "shaped",
    constants: str = "exact",
    bits: int | None = None,
) -> OrthogonalProjection:
    """Choose degree and noise of a projection at the cost of `privacy`.

    Args:
        size: Number of bins, N, at most 2^16.
        privacy: Privacy loss to spend, for all records of a person together.
        adjacency: Under ADD_OR_REMOVE the number of records is measured too.
        rows: Largest number of records of one person.
        records: Public guess of the number of records, for the degree and the bits; 10 000 by default.
        basis: Functions of the projection: "legendre", "sine" (F is 0 and 1 at the ends), "cosine" or cubic "splines".
        degree: K, with K + 1 functions; by default from the records and the guarantee.
        noise: "shaped" (covariance fitted to the change by one record), "isotropic", or "moments" (on raw moments, as
            in the paper; legendre only).
        constants: "exact", or "paper" for the paper's larger sensitivity of moments.
        bits: Fractional bits of the integers; by default enough that rounding is far below the noise.

    Raises:
        ParameterError: an argument is of the wrong kind or out of range.
        ScaleError: the noise for the guarantee is larger than can be drawn.

    Privacy:
        The loss for `rows` records is at most `privacy`.
    """
    check_size(size)
    whole(rows, "rows", 1)
    guess = GUESSED_RECORDS if records is None else records
    whole(guess, "records", 1)
    scale = noise_per_unit(privacy) * rows
    if degree is None:
        degree = PAPER_DEGREE if noise == "moments" else usual_degree(guess / scale)
        degree = max(min(degree, size - 1), basis_named(basis).least)
    form = Form(basis, degree, noise, constants, adjacency, isinstance(privacy, PureDP))
    chosen = max(_bits(guess, scale), _bits_of_noise(privacy, scale, form.rows)) if bits is None else check_bits(bits)
    if chosen > MAX_BITS:
        way_out = {
            ApproxDP: "a larger delta or a smaller epsilon, or PureDP, which implies it",
            ZeroConcentratedDP: "a smaller rho, or PureDP",
        }.get(type(privacy), "a smaller epsilon")
        raise ParameterError(
            f"{privacy} asks for more fractional bits of integer noise than there are ({MAX_BITS}); use {way_out}"
        )
    law = _law(privacy, largest_change(form, size, chosen), form.rows, rows)
    return OrthogonalProjection(size, basis, degree, noise, constants, adjacency, chosen, law)


def noise_per_unit(privacy: Any) -> float:
    """Standard deviation of Gaussian noise over the sensitivity: g of the literature."""
    match privacy:
        case ApproxDP():
            return 1 / gaussian_mu(privacy.epsilon, privacy.delta)
        case ZeroConcentratedDP():
            return 1 / math.sqrt(2 * privacy.rho)
        case PureDP():
            return LAPLACE / float(privacy.epsilon)
        case _:
            raise ParameterError(
                f"`privacy` must be `PureDP`, `ApproxDP` or `ZeroConcentratedDP`, got {quoted(privacy)}"
            )


def usual_degree(ratio: float) -> int:
    """The degree for a number of records over the noise per unit: more detail where the noise allows it."""
    degree: int = round(5 * ratio**0.16)
    return min(max(degree, 6), 30)


def _bits(records: int, scale: float) -> int:
    """So many that rounding moves no coefficient by more than 1/64 of its noise; never so many that sums overflow."""
    fine = math.ceil(math.log2(32 * records / scale))
    room = 61 - records.bit_length()
    chosen: int = max(LEAST_BITS, min(fine, room, MAX_BITS))
    return chosen


def _bits_of_noise(privacy: Privacy, scale: float, integers: int) -> int:
    """So many that integers stand for continuous noise, at a hundredth of a percent of delta or less."""
    if isinstance(privacy, PureDP):
        return LEAST_BITS
    least = math.log2(LEAST_SIGMA / scale) + 0.01
    if isinstance(privacy, ApproxDP):
        # distances count 1 + e^epsilon times
        grown = np.logaddexp(0, float(privacy.epsilon)) / math.log(2)
        distance = math.log2(integers * DISTANCE) - 2 * math.log2(scale)
        least = max(least, (distance + grown - math.log2(1e-4 * float(privacy.delta))) / 2)
    return math.ceil(least)


def _law(privacy: Privacy, change: Fraction, integers: int, rows: int) -> Law:
    if isinstance(privacy, PureDP):
        return DiscreteLaplace(round_up_scale(change * rows / privacy.epsilon))
    if isinstance(privacy, ApproxDP):
        per_unit = math.sqrt(change) * rows
        mu = gaussian_grant(privacy, integers=integers, per_unit=per_unit)
        return DiscreteGaussian(round_up_scale(Fraction(per_unit / mu) * (1 + Fraction(1, 10**12))))
    return DiscreteGaussian(round_up_root(change * rows * rows / (2 * privacy.rho)))
