"""What a handful of noisy coefficients says besides the curve: moments, and a bound on the whole error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ogive.arrays import Float64
from ogive.errors import ParameterError
from ogive.strategies.projection.form import Form
from ogive.strategies.projection.moments import to_moments


class Moments(NamedTuple):
    """Means of u, u^2, ..., u^(K+1) over the records, u in [-1, 1], and the standard deviations of their noise."""

    values: Float64
    noise_sd: Float64


def moments_of(form: Form, sums: Float64, total: int | None, covariance: Float64) -> Moments:
    """Means of powers from unwhitened sums of features.

    Args:
        form: What was measured; of Legendre polynomials.
        sums: Shape (..., M).
        total: Number of records where it is public; else the noisy one is taken, and its noise counted.
        covariance: Of the noise in the sums, shape (M, M).

    Raises:
        ParameterError: the basis is another, no number of records is known, or the noise leaves none.
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
