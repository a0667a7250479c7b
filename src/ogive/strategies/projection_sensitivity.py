"""How far one record can move whitened features, with a certificate.

Written in theta with u = -cos(theta), features that are polynomials of degree d in u are trigonometric polynomials of
degree d. A real trigonometric polynomial T of degree n satisfies |T(theta)| >= max |T| cos(n (theta - theta_0)) around
a place theta_0 of its largest absolute value, as long as n |theta - theta_0| <= pi / 2 (M. Riesz). So the largest
value on a grid of m equal steps is at least cos(n pi / (2 m)) times the largest anywhere, once per variable.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ogive.privacy import Adjacency
from ogive.strategies.projection_bases import Basis

Float64 = NDArray[np.float64]

STEPS = 2000
# far above what the rounding of the certificate itself may amount to
_ROOM = 1e-9
_ROWS = 512


def record_features(basis: Basis, degree: int, adjacency: Adjacency, u: Float64) -> Float64:
    """What a record at each point measures before whitening, shape (M, n).

    One row a function; under ADD_OR_REMOVE a row of ones for the number of records comes first.
    """
    rows = basis.integrals(u, degree)
    if adjacency is Adjacency.REPLACE:
        return rows
    return np.concatenate((np.ones((1, len(u))), rows))


def cosine_points(steps: int) -> Float64:
    """Points u = -cos(pi j / steps), j = 0..steps."""
    points: Float64 = -np.cos(np.pi * np.arange(steps + 1) / steps)
    return points


def largest_squared(rows: Float64, adjacency: Adjacency) -> float:
    """The largest squared norm of a column (ADD_OR_REMOVE) or of a difference of two columns (REPLACE)."""
    norms = np.einsum("ij,ij->j", rows, rows)
    if adjacency is Adjacency.ADD_OR_REMOVE:
        return float(norms.max())
    largest = 0.0
    for start in range(0, rows.shape[1], _ROWS):
        part = slice(start, start + _ROWS)
        squared = norms[part, None] + norms[None, :] - 2 * (rows[:, part].T @ rows)
        largest = max(largest, float(squared.max()))
    return largest


def certified_squared(basis: Basis, degree: int, adjacency: Adjacency, whitening: Float64) -> float:
    """Bound the squared norm of what one record changes in the whitened features, over all of [-1, 1]."""
    points = cosine_points(STEPS)
    rows = whitening @ record_features(basis, degree, adjacency, points)
    order = 2 * (degree + 1)
    factor = math.cos(order * math.pi / (2 * STEPS)) ** -(2 if adjacency is Adjacency.REPLACE else 1)
    return largest_squared(rows, adjacency) * factor * (1 + _ROOM)
