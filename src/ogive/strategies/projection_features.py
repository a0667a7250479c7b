"""The integers that one record adds to the measurements of a projection, and how far they move with it."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ogive.privacy import Adjacency
from ogive.strategies.projection_bases import basis_named
from ogive.strategies.projection_sensitivity import record_features
from ogive.strategies.projection_shapes import whitening

Int64 = NDArray[np.int64]


@lru_cache(maxsize=16)
def integer_features(size: int, basis: str, degree: int, noise: str, adjacency: Adjacency, bits: int) -> Int64:
    """Compute z = rint(2^bits W c(u)) at the bins' middles, shape (M, N); the same on every machine, read only."""
    system = basis_named(basis)
    middles = (2 * np.arange(size, dtype=np.float64) + 1 - size) / size
    rows = record_features(system, degree, adjacency, middles)
    matrix = whitening(system, degree, adjacency, noise)
    found = np.empty(rows.shape, dtype=np.int64)
    for number, weights in enumerate(matrix):
        # in this order and no other: a matrix product adds in one that depends on the machine
        whitened = np.zeros(size)
        for weight, row in zip(weights, rows, strict=True):
            if weight:
                whitened += weight * row
        found[number] = np.rint(whitened * 2.0**bits)
    found.flags.writeable = False
    return found


@lru_cache(maxsize=256)
def squared_sensitivity(size: int, basis: str, degree: int, noise: str, adjacency: Adjacency, bits: int) -> Fraction:
    """Bound the squared L2 norm of what one record changes in the integers.

    A certified whitening moves by at most 2^bits; rounding moves each integer by at most 1/2 + 2^-10 a record.
    """
    replace = adjacency is Adjacency.REPLACE
    integers = degree + 1 if replace else degree + 2
    rounding = Fraction("1.002") if replace else Fraction("0.501")
    root = Fraction(math.isqrt(integers * 10**12) + 1, 10**6)
    largest: Fraction = 2**bits + rounding * root
    return largest * largest
