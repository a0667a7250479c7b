"""Whitening: the linear map after which independent noise of one scale hides a record.

Noise of covariance S on the features is noise of covariance 1 on W times the features, where W' W = S^-1. A whitening
is a matrix of whole multiples of 2^-20 with `certified_squared` at most 1; how it was found does not matter.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ogive.privacy import Adjacency
from ogive.strategies.projection_bases import Basis
from ogive.strategies.projection_optimum import changes, least_trace
from ogive.strategies.projection_sensitivity import certified_squared

Float64 = NDArray[np.float64]

FRACTION = 2.0**-20


def _steps(degree: int) -> int:
    return 80 if degree <= 14 else 120


@lru_cache(maxsize=256)
def whitening(basis: Basis, degree: int, adjacency: Adjacency, noise: str) -> Float64:
    """The certified whitening, lower triangular, shape (M, M); read only."""
    if noise == "isotropic":
        rows = degree + 1 if adjacency is Adjacency.REPLACE else degree + 2
        bound = 2 if adjacency is Adjacency.REPLACE else 3
        matrix = np.eye(rows) / math.sqrt(bound)
    else:
        shape = least_trace(changes(basis, degree, adjacency, _steps(degree)))
        matrix = np.linalg.inv(np.linalg.cholesky(shape))
        matrix /= math.sqrt(certified_squared(basis, degree, adjacency, matrix))
        matrix = np.rint(matrix / FRACTION) * FRACTION
        while certified_squared(basis, degree, adjacency, matrix) > 1:
            matrix = np.rint(matrix * (1 - 1e-6) / FRACTION) * FRACTION
    matrix.flags.writeable = False
    return matrix
