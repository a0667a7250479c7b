"""Write the table of noise shapes for curves by projection.

    python benchmarks/projection_shapes.py

Takes a few minutes. The table is part of the format of released curves: a new one changes what stored answers mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ogive.core.arrays import Float64, Int32
from ogive.privacy import Adjacency
from ogive.strategies.projection.features import (
    BASES,
    LARGEST_DEGREE,
    MAX_DEGREE,
    SHAPE_ROOM,
    TABLE,
    UNIT,
    Form,
    certified,
    cosine_points,
    key,
)

# --- The noise of least variance that hides one record: multiplicative algorithms with certified gaps
#
# Gaussian: among covariances S with v' S^-1 v <= 1 for all changes v, the trace is least at
# S = tr(M^{1/2}) M^{1/2} for the weights xi on the changes that make tr(M^{1/2}) largest, M = sum of xi_j v_j v_j'.
#
# Laplace: among weights w with sum_k w_k |v_k| <= 1 for all changes v, the sum of w_k^-2 is least at w_k = s
# a_k^{-1/3}, a = sum of xi_j |v_j|, s so that sum_k a_k w_k = 1, for the weights xi that make that sum largest.

_TINY, _FORGOTTEN = 1e-18, 1e-12


def changes(form: Form) -> Float64:
    """What one record can change, between points of a coarse grid of the kind of the certificate's, shape (n, M)."""
    steps = 80 if form.degree <= 14 else 120
    points = cosine_points(steps) if form.basis == "legendre" else 2 * np.arange(steps + 1) / steps - 1
    rows = form.record(points).T
    if form.counted:
        return np.ascontiguousarray(rows)
    first, second = np.triu_indices(len(rows), 1)
    return rows[first] - rows[second]


def least_trace(vectors: Float64, *, gap: float = 1e-3) -> Float64:
    """Covariance S of nearly least trace with v' S^-1 v <= 1 + gap for the given vectors, shape (M, M)."""

    def best(weights: Float64, chosen: Float64) -> Float64:
        moment = (chosen.T * weights) @ chosen + _TINY * np.eye(chosen.shape[1])
        values, axes = np.linalg.eigh(moment)
        roots = np.sqrt(values)
        return np.asarray(roots.sum() * (axes * roots) @ axes.T)

    def reached(shape: Float64, chosen: Float64) -> Float64:
        return np.asarray(np.einsum("ij,ij->i", chosen @ np.linalg.inv(shape), chosen))

    return _balanced(vectors, best, reached, gap)


def least_spread(vectors: Float64, *, gap: float = 1e-3) -> Float64:
    """Weights w of nearly least sum of w^-2 with sum_k w_k |v_k| <= 1 + gap for the given vectors, shape (M,)."""

    def best(weights: Float64, chosen: Float64) -> Float64:
        means = weights @ chosen
        found = np.cbrt(1 / means)
        return np.asarray(found / (means @ found))

    def reached(found: Float64, chosen: Float64) -> Float64:
        return np.asarray(chosen @ found)

    return _balanced(np.abs(vectors), best, reached, gap)


def _balanced(
    vectors: Float64,
    best: Callable[[Float64, Float64], Float64],
    reached: Callable[[Float64, Float64], Float64],
    gap: float,
) -> Float64:
    """Raise the weight of vectors that reach more than 1 and lower that of others, until none reaches 1 + gap.

    Most weights tend to 0; their vectors are forgotten, since what is found is certified later anyway.
    """
    weights = np.full(len(vectors), 1 / len(vectors))
    while True:
        found = best(weights, vectors)
        ratio = reached(found, vectors)
        if ratio.max() < 1 + gap:
            return found
        weights = weights * ratio
        kept = weights >= _FORGOTTEN
        vectors, weights = vectors[kept], weights[kept] / weights[kept].sum()


def computed(form: Form, *, gap: float = 1e-3) -> Float64:
    """A nearly optimal whitening in whole multiples of 2^-20, scaled until it is certified; takes a second."""
    if form.noise != "shaped":
        matrix = np.eye(form.rows)
    elif form.absolute:
        matrix = np.diag(least_spread(changes(form), gap=gap))
    else:
        matrix = np.linalg.inv(np.linalg.cholesky(least_trace(changes(form), gap=gap)))
    bound = certified(form, matrix, replaced=not form.counted)
    matrix = matrix / (bound if form.absolute else math.sqrt(bound))
    while True:
        found = np.rint(matrix / UNIT) * UNIT
        if certified(form, found, replaced=not form.counted) <= 1 - SHAPE_ROOM:
            return np.asarray(found)
        matrix = matrix * (1 - 1e-6)


def packed(form: Form, matrix: Float64) -> Int32:
    """The numbers that make up a whitening, in units of 2^-20."""
    if form.noise != "shaped":
        numbers = matrix[0, :1]
    elif form.absolute:
        numbers = np.diag(matrix)
    else:
        numbers = matrix[np.tril_indices(form.rows)]
    return np.rint(numbers / UNIT).astype(np.int32)


def write_table(entries: dict[str, Int32], path: Path = TABLE) -> None:
    """Store packed whitenings by name."""
    np.savez_compressed(
        path,
        names=np.array(list(entries)),
        lengths=np.array([len(numbers) for numbers in entries.values()]),
        numbers=np.concatenate(list(entries.values())),
    )


def forms() -> list[Form]:
    """All forms whose whitening is in the table."""
    found = []
    for adjacency in Adjacency:
        for basis in BASES.values():
            for degree in range(basis.least, MAX_DEGREE + 1):
                found.append(Form(basis.name, degree, "shaped", "exact", adjacency))
                if basis.name != "splines":
                    found += [Form(basis.name, degree, n, "exact", adjacency, True) for n in ("shaped", "isotropic")]
        found += [Form("legendre", k, "moments", "exact", adjacency, True) for k in range(LARGEST_DEGREE + 1)]
    return found


def main() -> None:
    """Compute every entry and write the table."""
    entries = {}
    for form in forms():
        entries[key(form)] = packed(form, computed(form))
        print(key(form), flush=True)
    write_table(entries)
    print(f"{TABLE}: {TABLE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
