"""The integers that one record adds to the measurements of a projection, and how far they move with it."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ogive.core.arrays import Float64, Int32, Int64
from ogive.core.compiling import njit
from ogive.errors import DataError
from ogive.strategies.projection.form import Form

# --- How far one record can move whitened features, anywhere in [-1, 1], with a certificate
#
# The features are trigonometric polynomials of theta: of degree K + 1 with u = -cos(theta) for Legendre polynomials
# and moments, with u = 2 theta / pi - 1 for sines, and of degree 4 with u = -cos(theta) on each piece of a spline. A
# real trigonometric polynomial T of degree n satisfies |T(theta)| >= max |T| cos(n (theta - theta_0)) around a place
# theta_0 of its largest absolute value, as long as n |theta - theta_0| <= pi / 2 (M. Riesz). So its largest value on a
# grid of m steps in [0, pi] is at least cos(n pi / (2 m)) times the largest anywhere, once per variable. Cosines
# integrate to sines and a linear function; there second derivatives bound what a grid may miss.
# `docs/proofs/projection.md` has all of it.

STEPS, ABSOLUTE_STEPS = 2000, 1000
# far above what the rounding of the certificate itself may amount to
_ROOM = 1e-9
_ROWS = 512


def certified(form: Form, whitening: Float64, *, replaced: bool) -> float:
    """Bound what one record changes in the whitened features: squared L2 norm, or L1 norm if `form.absolute`."""
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
    return np.asarray(-np.cos(np.pi * np.arange(steps + 1) / steps))


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


# --- Whitening: the linear map after which independent noise of one scale hides a record
#
# Noise of covariance S on the features is noise of covariance 1 on W times the features, where W' W = S^-1. How W was
# found does not matter to privacy: what counts is that no change of a record moves W times the features by more than 1.
#
# Shapes are kept in a table, since parties must use the same integers and an optimum found anew would differ in its
# last bits from machine to machine. `benchmarks/projection_shapes.py` writes the table; each entry is certified before
# use.

TABLE = Path(__file__).with_name("projection_shapes.npz")
UNIT = 2.0**-20
# for the rounding of the functions, which leaves them orthonormal to 1e-12 only
SHAPE_ROOM = 1e-9


@lru_cache(maxsize=256)
def whitening(form: Form) -> Float64:
    """The certified whitening, lower triangular, shape (M, M); diagonal for Laplace noise; read only."""
    if not form.absolute and form.noise != "shaped":  # multiples of the identity are in closed form, not in the table
        matrix = np.eye(form.rows) * ((1 - SHAPE_ROOM) / math.sqrt(isotropic_squared(form)))
    else:
        matrix = unpacked(form, _table()[key(form)])
        if certified(form, matrix, replaced=not form.counted) > 1:
            raise DataError(
                f"the table {TABLE.name} is damaged: its noise would not hide a record; install ogive again"
            )
    matrix.flags.writeable = False
    return matrix


def isotropic_squared(form: Form) -> float:
    """The largest squared L2 norm of what one record changes in the features themselves, in closed form."""
    if form.noise == "moments":
        if form.constants == "paper":
            return (5 * form.degree + 8) / 2
        return form.degree + 2 if form.counted else 4 * (form.degree // 2 + 1)
    if form.system.pinned:
        step, factor = (1, 4) if form.counted else (2, 16)
        return form.counted + factor / math.pi**2 * sum(1 / k**2 for k in range(1, form.degree + 2, step))
    return 2 + form.counted


def key(form: Form) -> str:
    """Name of a form's table entry."""
    law = "laplace" if form.absolute else "gaussian"
    return f"{law}-{form.noise}-{form.basis}-{form.adjacency.value}-{form.degree}"


def unpacked(form: Form, numbers: Int32) -> Float64:
    """The whitening of a table's entry, shape (M, M)."""
    values = numbers.astype(np.float64) * UNIT
    if form.absolute:
        return np.diag(np.broadcast_to(values, (form.rows,))).copy()
    matrix = np.zeros((form.rows, form.rows))
    matrix[np.tril_indices(form.rows)] = values
    return matrix


@lru_cache(maxsize=1)
def _table() -> dict[str, Int32]:
    with np.load(TABLE, allow_pickle=False) as stored:
        names, lengths, numbers = stored["names"], stored["lengths"], stored["numbers"]
    return dict(zip(names.tolist(), np.split(numbers, np.cumsum(lengths)[:-1]), strict=True))


# --- The integers that one record adds

EXHAUSTIVE = 1024
"""Up to so many bins all pairs of bins are compared; beyond, the certified bound is taken."""


@lru_cache(maxsize=4)
def integer_features(form: Form, size: int, bits: int) -> Int64:
    """Round 2^bits W c(u) at the bins' middles, shape (M, N); the same on every machine, read only."""
    middles = (2 * np.arange(size, dtype=np.float64) + 1 - size) / size
    rows = form.record(middles)
    found = np.empty(rows.shape, dtype=np.int64)
    for number, weights in enumerate(whitening(form)):
        # in this order and no other: a matrix product adds in one that depends on the machine
        whitened = np.zeros(size)
        for weight, row in zip(weights, rows, strict=True):
            if weight:
                whitened += weight * row
        found[number] = np.rint(whitened * 2.0**bits)
    found.flags.writeable = False
    return found


def certified_change(form: Form, bits: int, *, replaced: bool | None = None) -> Fraction:
    """Bound the norm of what one record changes in the integers: L2, or L1 if `form.absolute`.

    Whitened features move by at most 1 under the adjacency that they were made for; rounding moves each integer by at
    most 1/2 + 2^-10 a record.
    """
    replaced = not form.counted if replaced is None else replaced
    integers = Fraction(form.rows) if form.absolute else Fraction(math.isqrt(form.rows * 10**12) + 1, 10**6)
    rounding = Fraction("1.002") if replaced else Fraction("0.501")
    reach = Fraction(1) if replaced is not form.counted else _reach(form)
    bound: Fraction = 2**bits * reach + rounding * integers
    return bound


@lru_cache(maxsize=64)
def _reach(form: Form) -> Fraction:
    """Bound how far a replaced record moves features that were whitened for added and removed ones."""
    bound = certified(form, whitening(form), replaced=True)
    return Fraction(bound if form.absolute else math.sqrt(bound)) * Fraction(1 + 1e-12)


@lru_cache(maxsize=256)
def largest_change(form: Form, size: int, bits: int, *, replaced: bool | None = None) -> Fraction:
    """The largest squared L2 norm, or L1 norm, of what one record changes in the integers.

    Exactly, by comparing all pairs of bins, where there are few enough; else, and for the paper's constants, which
    are meant to be larger than they need be, what is certified.
    """
    replaced = not form.counted if replaced is None else replaced
    bound = certified_change(form, bits, replaced=replaced)
    if not form.absolute:
        bound = bound * bound
    if form.constants == "paper" or not 1 < size <= EXHAUSTIVE:
        return bound
    records = np.ascontiguousarray(integer_features(form, size, bits).T)
    exact = Fraction(int(_largest(records, form.absolute, replaced)))
    assert exact <= bound
    return exact


def _largest_plain(records: Int64, absolute: bool, replaced: bool) -> Any:
    """What `_largest` does, one row with all others at once."""
    largest = 0
    for first in range(len(records) if replaced else 1):
        changes = records[first:] - records[first] if replaced else records
        norms = np.abs(changes).sum(axis=1) if absolute else np.square(changes).sum(axis=1)
        largest = max(largest, int(norms.max()))
    return largest


@njit(
    steps=lambda records, absolute, replaced: records.size * (len(records) if replaced else 1) // 100,
    twin=_largest_plain,
)
def _largest(records: Int64, absolute: bool, replaced: bool) -> Any:
    """Largest norm of a row, or of a difference of two; sums stay below 2^62 for 30 bits."""
    largest = 0
    for first in range(len(records)):
        last = len(records) if replaced else first + 1
        for second in range(first, last):
            norm = 0
            for column in range(records.shape[1]):
                change = records[first, column]
                if replaced:
                    change -= records[second, column]
                norm += abs(change) if absolute else change * change
            largest = max(largest, norm)
    return largest
