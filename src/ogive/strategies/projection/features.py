"""The integers that one record adds to a projection: functions, what is measured in which form, and how far it moves.

A basis e_0, ..., e_K is orthonormal in L2[-1, 1]. A record at u has the distribution function 1[u <= t], whose
coefficients are the `integrals` of e_k from u to 1; sums over records are the coefficients of the cumulative count.

All numbers come from additions, multiplications, divisions, square roots and roundings of single numbers in a
stated order, which IEEE 754 fixes to the last bit: parties on different machines compute the same features.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ogive.core.arrays import Float64, Int32, Int64
from ogive.core.checks import among, is_whole
from ogive.core.compiling import njit
from ogive.errors import DataError, ParameterError, quoted
from ogive.privacy import Adjacency

# --- Cubic splines with uniform knots on [-1, 1], orthonormal in L2
#
# With p = K - 2 pieces the K + 1 splines B_i(s) = beta(s - i), i = -3..p-1, span all cubic splines; s = p (1 + u) / 2,
# and beta is the cubic B-spline on [0, 4]. Their Gram matrix is G = R R' and e = R^-1 B is orthonormal.

# beta on [0, 1], [1, 2], [2, 3], [3, 4]: coefficients of 1, r, r^2, r^3 with r from the left end, times 6
_PIECES = ((0, 0, 0, 1), (1, 3, 3, -3), (4, 0, -6, 3), (1, -3, 3, -1))


def _product(one: tuple[int, ...], other: tuple[int, ...]) -> Fraction:
    """Integral of two pieces' product over [0, 1]."""
    terms = (Fraction(a * b, 36 * (i + j + 1)) for i, a in enumerate(one) for j, b in enumerate(other))
    return sum(terms, Fraction(0))


@lru_cache(maxsize=32)
def _factor(degree: int) -> list[list[float]]:
    """R, lower triangular, in single IEEE operations of a fixed order."""
    pieces = degree - 2
    table = [[_product(one, other) for other in _PIECES] for one in _PIECES]
    gram = [[Fraction(0)] * (degree + 1) for _ in range(degree + 1)]
    for cell in range(pieces):
        for one in range(4):
            for other in range(4):
                gram[cell + 3 - one][cell + 3 - other] += table[one][other] * 2 / pieces
    factor = [[0.0] * (degree + 1) for _ in range(degree + 1)]
    for row in range(degree + 1):
        for column in range(row + 1):
            rest = float(gram[row][column])
            for k in range(column):
                rest -= factor[row][k] * factor[column][k]
            factor[row][column] = math.sqrt(rest) if row == column else rest / factor[column][column]
    return factor


def _orthonormal(splines: Float64, degree: int) -> Float64:
    """R^-1 times the rows, by forward substitution; R is banded."""
    factor = _factor(degree)
    result = np.empty_like(splines)
    for row in range(degree + 1):
        rest = splines[row].copy()
        for k in range(max(0, row - 3), row):
            rest -= factor[row][k] * result[k]
        result[row] = rest / factor[row][row]
    return result


def _offsets(u: Float64, degree: int) -> Float64:
    """S - i, clipped to the support [0, 4], shape (K + 1, n)."""
    pieces = degree - 2
    places = (1 + u) * pieces / 2
    return np.asarray(np.clip(places - np.arange(-3, pieces)[:, None], 0, 4))


def spline_values(u: Float64, degree: int) -> Float64:
    """The orthonormal splines at points, shape (degree + 1, n)."""
    r = _offsets(u, degree)
    r = np.minimum(r, 4 - r)
    inner = np.maximum(r - 1, 0)
    return _orthonormal((r * r * r - 4 * inner * inner * inner) / 6, degree)


def _below(r: Float64) -> Float64:
    """Integral of beta from 0 to r in [0, 4]."""
    near = np.minimum(r, 4 - r)
    outer, inner = near * near, np.maximum(near - 1, 0)
    inner = inner * inner
    part = (outer * outer - 4 * inner * inner) / 24
    return np.asarray(np.where(r > 2, 1 - part, part))


def spline_integrals(u: Float64, degree: int) -> Float64:
    """Integrals of the orthonormal splines from points to 1, shape (degree + 1, n)."""
    ends = _below(_offsets(np.ones(1), degree))
    return _orthonormal((ends - _below(_offsets(u, degree))) * (2 / (degree - 2)), degree)


# --- The bases


@dataclass(frozen=True)
class Basis:
    """One orthonormal system.

    Fields:
        integrals: From points in [-1, 1], shape (n,), and the degree K: the integral of each function from the
            point to 1, shape (K + 1, n); of pinned ones less that of the chord, see `pinned`.
        values: The functions at points, shape (K + 1, n).
        pinned: The functions vanish at both ends and are for F(t) - (1 + t) / 2, so F(-1) = 0 and F(1) = 1 always.
    """

    name: str
    least: int
    integrals: Callable[[Float64, int], Float64]
    values: Callable[[Float64, int], Float64]
    pinned: bool = False


def cos_pi(turns: Float64) -> Float64:
    """cos(pi turns), within 1e-15, from the Taylor series: the same on every machine, unlike a library's cosine."""
    folded = np.abs(turns - 2 * np.rint(turns / 2))
    beyond = folded > 0.5
    square = np.where(beyond, 1 - folded, folded) * math.pi
    square *= square
    series = np.ones_like(square)
    for k in range(24, 0, -2):
        series = 1 - series * square / (k * (k - 1))
    return np.asarray(np.where(beyond, -series, series))


def sin_pi(turns: Float64) -> Float64:
    """sin(pi turns), as `cos_pi`."""
    return cos_pi(turns - 0.5)


def legendre_polynomials(u: Float64, degree: int) -> Float64:
    """P_0, ..., P_degree at points, shape (degree + 1, n), by the three-term recurrence, stable on [-1, 1]."""
    table = np.ones((degree + 1, len(u)))
    if degree:
        table[1] = u
    for k in range(1, degree):
        table[k + 1] = ((2 * k + 1) * u * table[k] - k * table[k - 1]) / (k + 1)
    return table


def _legendre_values(u: Float64, degree: int) -> Float64:
    table = legendre_polynomials(u, degree)
    for k in range(degree + 1):
        table[k] *= math.sqrt((2 * k + 1) / 2)
    return table


def _legendre_integrals(u: Float64, degree: int) -> Float64:
    table = legendre_polynomials(u, degree + 1)
    result = np.empty((degree + 1, len(u)))
    result[0] = (1 - u) / math.sqrt(2)
    for k in range(1, degree + 1):
        result[k] = (table[k - 1] - table[k + 1]) / math.sqrt(2 * (2 * k + 1))
    return result


def _cosine_values(u: Float64, degree: int) -> Float64:
    result = np.empty((degree + 1, len(u)))
    result[0] = 1 / math.sqrt(2)
    for k in range(1, degree + 1):
        result[k] = cos_pi(k * (1 + u) / 2)
    return result


def _cosine_integrals(u: Float64, degree: int) -> Float64:
    result = np.empty((degree + 1, len(u)))
    result[0] = (1 - u) / math.sqrt(2)
    for k in range(1, degree + 1):
        result[k] = sin_pi(k * (1 + u) / 2) * (-2 / (k * math.pi))
    return result


def _sine_values(u: Float64, degree: int) -> Float64:
    return np.stack([sin_pi(k * (1 + u) / 2) for k in range(1, degree + 2)])


def _sine_integrals(u: Float64, degree: int) -> Float64:
    return np.stack([cos_pi(k * (1 + u) / 2) * (2 / (k * math.pi)) for k in range(1, degree + 2)])


BASES = {
    basis.name: basis
    for basis in (
        Basis("legendre", 0, _legendre_integrals, _legendre_values),
        Basis("sine", 0, _sine_integrals, _sine_values, pinned=True),
        Basis("cosine", 0, _cosine_integrals, _cosine_values),
        Basis("splines", 3, spline_integrals, spline_values),
    )
}


def basis_named(name: str) -> Basis:
    """The basis of a name."""
    return BASES[among(name, "basis", BASES)]


# --- Legendre coefficients from moments and back: c = A (1 - mu), mu_i the mean of u^i, i = 1..K+1
#
# A[k, i] = alpha_k beta_{k,i} is computed from exact rationals. Its entries alternate in sign and grow like 2.4^K, and
# so does noise on the moments; `LARGEST_DEGREE` is where the digits end even without noise.

LARGEST_DEGREE = 15


def falling(r: Fraction, k: int) -> Fraction:
    """The binomial coefficient r over k for a rational r."""
    value = Fraction(1)
    for j in range(k):
        value *= (r - j) / Fraction(j + 1)
    return value


def alpha(k: int) -> float:
    """2^k sqrt((2 k + 1) / 2)."""
    return 2.0**k * math.sqrt((2 * k + 1) / 2)


def beta(k: int, i: int) -> Fraction:
    """Coefficient of t^i in P_k, over 2^k (i + 1)."""
    return Fraction(math.comb(k, i), i + 1) * falling(Fraction(k + i - 1, 2), k)


@lru_cache(maxsize=32)
def from_moments(degree: int) -> Float64:
    """A, lower triangular, shape (K + 1, K + 1); read only."""
    matrix = np.zeros((degree + 1, degree + 1))
    for k in range(degree + 1):
        for i in range(k + 1):
            matrix[k, i] = alpha(k) * float(beta(k, i))
    matrix.flags.writeable = False
    return matrix


@lru_cache(maxsize=32)
def to_moments(degree: int) -> Float64:
    """The inverse of A from integrals: row i - 1 holds i (t^{i-1} | e_k), shape (K + 1, K + 1); read only."""
    nodes, weights = np.polynomial.legendre.leggauss(degree + 2)
    values = np.polynomial.legendre.legvander(nodes, degree) * np.sqrt((2 * np.arange(degree + 1) + 1) / 2)
    powers = nodes[:, None] ** np.arange(degree + 1)
    matrix = np.tril((powers * weights[:, None]).T @ values) * np.arange(1, degree + 2)[:, None]
    matrix.flags.writeable = False
    return np.asarray(matrix)


def powers(u: Float64, degree: int) -> Float64:
    """u, u^2, ..., u^(degree + 1), shape (degree + 1, n)."""
    result = np.empty((degree + 1, len(u)))
    result[0] = u
    for k in range(degree):
        result[k + 1] = result[k] * u
    return result


# --- The form of a projection

MAX_DEGREE = 30
NOISES = ("shaped", "isotropic", "moments")
CONSTANTS = ("exact", "paper")


@dataclass(frozen=True)
class Form:
    """Frozen plain data, and the key of what is computed once.

    Fields:
        basis: "legendre", "sine", "cosine" or "splines".
        degree: K; there are K + 1 functions.
        noise: "shaped" to what one record changes, "isotropic", or on the "moments" (Legendre only).
        constants: "exact", or the "paper"'s larger sensitivity of moments.
        adjacency: Under ADD_OR_REMOVE the number of records is measured before all others.
        absolute: Whether changes are measured by absolute values (for Laplace noise), not by squares.
    """

    basis: str
    degree: int
    noise: str
    constants: str
    adjacency: Adjacency
    absolute: bool = False

    def __post_init__(self) -> None:
        basis_named(self.basis)
        among(self.noise, "noise", NOISES)
        among(self.constants, "constants", CONSTANTS)
        if not isinstance(self.adjacency, Adjacency):
            raise ParameterError(
                f"`adjacency` must be Adjacency.REPLACE or Adjacency.ADD_OR_REMOVE, got {quoted(self.adjacency)}"
            )
        check_degree(self.degree, self.basis, self.noise)
        if self.absolute and self.basis == "splines":
            raise ParameterError(
                "splines are for Gaussian noise: one record moves many of them, which costs Laplace noise dearly; "
                "use another basis, or `ApproxDP` or `ZeroConcentratedDP`"
            )
        if self.constants == "paper" and (self.noise != "moments" or self.counted or self.absolute):
            raise ParameterError(
                "`constants='paper'` is for Gaussian noise on moments with `adjacency REPLACE`; use `constants='exact'`"
            )

    @property
    def system(self) -> Basis:
        """The basis itself."""
        return basis_named(self.basis)

    @property
    def counted(self) -> bool:
        """Whether the number of records is the first of the measurements."""
        return self.adjacency is Adjacency.ADD_OR_REMOVE

    @property
    def rows(self) -> int:
        """Number of measurements, M."""
        return self.degree + 1 + self.counted

    def record(self, u: Float64) -> Float64:
        """What a record at each point in [-1, 1] adds to the measurements before whitening, shape (M, n)."""
        rows = powers(u, self.degree) if self.noise == "moments" else self.system.integrals(u, self.degree)
        if not self.counted:
            return rows
        return np.concatenate((np.ones((1, len(u))), rows))

    def coefficients(self) -> tuple[Float64, Float64]:
        """Coefficients of a cumulative count, as a vector times the records plus a matrix times the feature sums."""
        if self.noise == "moments":
            matrix = from_moments(self.degree)
            return matrix.sum(axis=1), -matrix
        return np.zeros(self.degree + 1), np.eye(self.degree + 1)

    def curve(self, t: Float64) -> tuple[Float64, Float64]:
        """A cumulative count at points, as a vector times the records, shape (n,), plus a matrix times the sums."""
        fixed, matrix = self.coefficients()
        functions = self.system.values(t, self.degree).T
        chord = (1 + t) / 2 if self.system.pinned else np.zeros(len(t))
        return chord + functions @ fixed, functions @ matrix


def check_degree(degree: Any, basis: str, noise: str) -> None:
    """Refuse a degree that a basis, or this kind of noise on it, does not have."""
    least = basis_named(basis).least
    largest = LARGEST_DEGREE if noise == "moments" else MAX_DEGREE
    if noise == "moments" and basis != "legendre":
        raise ParameterError(f"moments give Legendre coefficients only, not basis {quoted(basis)}")
    if is_whole(degree) and least <= degree <= largest:
        return
    lost = is_whole(degree) and largest < degree <= MAX_DEGREE
    reason = ": beyond, coefficients computed from moments lose their digits; use `noise='shaped'`" if lost else ""
    raise ParameterError(
        f"`degree` must be a whole number from {least} to {largest} for {basis} with {noise} noise, "
        f"got {quoted(degree)}{reason}"
    )


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
    result = np.empty(rows.shape, dtype=np.int64)
    for number, weights in enumerate(whitening(form)):
        # in this order and no other: a matrix product adds in one that depends on the machine
        whitened = np.zeros(size)
        for weight, row in zip(weights, rows, strict=True):
            if weight:
                whitened += weight * row
        result[number] = np.rint(whitened * 2.0**bits)
    result.flags.writeable = False
    return result


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
