"""Design of projections: degree, fractional bits and noise for a guarantee."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ogive.accounting import gaussian_grant, gaussian_mu
from ogive.accounting.gaussian import DISTANCE, LEAST_SIGMA
from ogive.checks import whole
from ogive.errors import ParameterError, quoted
from ogive.noise import DiscreteGaussian, DiscreteLaplace, round_up_root, round_up_scale
from ogive.noise.base import Law
from ogive.privacy import Adjacency, ApproxDP, Privacy, PureDP, ZeroConcentratedDP
from ogive.strategies.projection.bases import basis_named
from ogive.strategies.projection.features import largest_change
from ogive.strategies.projection.form import Form
from ogive.strategies.projection.strategy import MAX_BITS, OrthogonalProjection, check_bits, check_size

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
    """Standard deviation of Gaussian noise over the sensitivity: g of the literature.

    Raises:
        ParameterError: privacy is no guarantee that projections can be designed for.
    """
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
    wanted: int = round(5 * ratio**0.16)
    return min(max(wanted, 6), 30)


def _bits(records: int, scale: float) -> int:
    """So many that rounding moves no coefficient by more than 1/64 of its noise; never so many that sums overflow."""
    wanted = math.ceil(math.log2(32 * records / scale))
    room = 61 - records.bit_length()
    chosen: int = max(LEAST_BITS, min(wanted, room, MAX_BITS))
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
