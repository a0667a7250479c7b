"""How far one record can move whitened features, anywhere in [-1, 1], with a certificate.

The features are trigonometric polynomials of theta: of degree K + 1 with u = -cos(theta) for Legendre polynomials
and moments, with u = 2 theta / pi - 1 for sines, and of degree 4 with u = -cos(theta) on each piece of a spline. A
real trigonometric polynomial T of degree n satisfies |T(theta)| >= max |T| cos(n (theta - theta_0)) around a place
theta_0 of its largest absolute value, as long as n |theta - theta_0| <= pi / 2 (M. Riesz). So its largest value on a
grid of m steps in [0, pi] is at least cos(n pi / (2 m)) times the largest anywhere, once per variable. Cosines
integrate to sines and a linear function; there second derivatives bound what a grid may miss.
`docs/proofs/projection.md` has all of it.
"""

from __future__ import annotations

import math

import numpy as np

from ogive.arrays import Float64
from ogive.strategies.projection.form import Form

STEPS, ABSOLUTE_STEPS = 2000, 1000
# far above what the rounding of the certificate itself may amount to
_ROOM = 1e-9
_ROWS = 512


def certified(form: Form, whitening: Float64, *, replaced: bool) -> float:
    """Bound what one record changes in the whitened features: squared L2 norm, or L1 norm if `form.absolute`.

    Args:
        form: The strategy that is measured.
        whitening: Shape (M, M), applied to `form.record`.
        replaced: Whether a record is replaced by another, or added or removed.
    """
    points, steps, order = grid(form)
    rows = whitening @ form.record(points)
    largest = (largest_absolute if form.absolute else largest_squared)(rows, differences=replaced)
    if form.basis == "cosine":
        bound = _with_curvature(form, whitening, points, largest, math.pi / steps, replaced=replaced)
    else:
        degree = order if form.absolute else 2 * order
        bound = largest * math.cos(degree * math.pi / (2 * steps)) ** -(2 if replaced else 1)
    return bound * (1 + _ROOM)


def grid(form: Form) -> tuple[Float64, int, int]:
    """Points of the certificate, its steps in theta (on each piece), and the degree of the features there."""
    steps = ABSOLUTE_STEPS if form.absolute else STEPS
    if form.basis == "legendre":
        return cosine_points(steps), steps, form.degree + 1
    if form.basis == "splines":
        pieces = form.degree - 2
        steps = max(steps // 10, steps * 4 // (5 * pieces))
        return np.concatenate([(2 * k + 1 + cosine_points(steps)) / pieces - 1 for k in range(pieces)]), steps, 4
    return 2 * np.arange(steps + 1) / steps - 1, steps, form.degree + 1


def cosine_points(steps: int) -> Float64:
    """Points u = -cos(pi j / steps), j = 0..steps."""
    points: Float64 = -np.cos(np.pi * np.arange(steps + 1) / steps)
    return points


def largest_squared(rows: Float64, *, differences: bool) -> float:
    """The largest squared L2 norm of a column, or of a difference of two columns."""
    norms = np.einsum("ij,ij->j", rows, rows)
    if not differences:
        return float(norms.max())
    largest = 0.0
    for start in range(0, rows.shape[1], _ROWS):
        part = slice(start, start + _ROWS)
        squared = norms[part, None] + norms[None, start:] - 2 * (rows[:, part].T @ rows[:, start:])
        largest = max(largest, float(squared.max()))
    return largest


def largest_absolute(rows: Float64, *, differences: bool) -> float:
    """The largest L1 norm of a column, or of a difference of two columns."""
    if not differences:
        return float(np.abs(rows).sum(axis=0).max())
    gaps = (np.abs(rows[:, start:] - rows[:, start : start + 1]).sum(axis=0).max() for start in range(rows.shape[1]))
    return float(max(gaps))


def _with_curvature(
    form: Form, whitening: Float64, points: Float64, largest: float, step: float, *, replaced: bool
) -> float:
    """Bound the largest value from that on a grid of equal steps, for cosine features.

    An inner maximum has slope 0, so the nearest point of the grid misses at most step^2 / 8 times the largest second
    derivative, once per variable.
    """
    missed = step**2 / 8 * (2 if replaced else 1)
    degree, counted = form.degree, int(form.counted)
    weights = np.abs(whitening[:, counted:])
    if form.absolute:
        return largest + missed * 2 / math.pi * float((weights @ np.arange(degree + 1)).sum())
    values = form.system.values(points, degree)
    # cos(k theta) once more differentiated; sines at the points are cosines shifted by a quarter
    turned = np.stack([k * np.sin(k * math.pi * (1 + points) / 2) for k in range(degree + 1)])
    miss = 1 / math.cos(2 * degree * step / 2)
    slope = miss * largest_squared(whitening[:, counted:] @ values, differences=False) * 4 / math.pi**2
    bend = math.sqrt(miss * largest_squared(whitening[:, counted:] @ turned, differences=False)) * 2 / math.pi
    # s^2 <= largest + 2 missed (slope + s bend) for s the largest norm itself
    half = missed * bend
    return (half + math.sqrt(half**2 + largest + 2 * missed * slope)) ** 2
