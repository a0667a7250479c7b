"""Whitening: the linear map after which independent noise of one scale hides a record.

Noise of covariance S on the features is noise of covariance 1 on W times the features, where W' W = S^-1. How W was
found does not matter to privacy: what counts is that no change of a record moves W times the features by more than 1.

Shapes are kept in a table, since parties must use the same integers and an optimum found anew would differ in its last
bits from machine to machine. `benchmarks/projection_shapes.py` writes the table; each entry is certified before use.
"""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path

import numpy as np

from ogive.arrays import Float64, Int32
from ogive.errors import DataError
from ogive.strategies.projection.form import Form
from ogive.strategies.projection.optimum import changes, least_spread, least_trace
from ogive.strategies.projection.sensitivity import certified

TABLE = Path(__file__).with_name("projection_shapes.npz")
UNIT = 2.0**-20
# for the rounding of the functions, which leaves them orthonormal to 1e-12 only
_ROOM = 1e-9


@lru_cache(maxsize=256)
def whitening(form: Form) -> Float64:
    """The certified whitening, lower triangular, shape (M, M); diagonal for Laplace noise; read only.

    Raises:
        DataError: the table that was installed is not the one that was written.
    """
    if not tabled(form):
        matrix = np.eye(form.rows) * ((1 - _ROOM) / math.sqrt(isotropic_squared(form)))
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


def computed(form: Form, *, gap: float = 1e-3) -> Float64:
    """A nearly optimal whitening in whole multiples of 2^-20, scaled until it is certified; takes a second.

    Args:
        form: The strategy that is measured.
        gap: Largest relative excess of the noise over the least one on the optimizer's own grid.
    """
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
        if certified(form, found, replaced=not form.counted) <= 1 - _ROOM:
            return np.asarray(found)
        matrix = matrix * (1 - 1e-6)


def tabled(form: Form) -> bool:
    """Whether the whitening is in the table; others are multiples of the identity in closed form."""
    return form.absolute or form.noise == "shaped"


def key(form: Form) -> str:
    """Name of a form's table entry."""
    law = "laplace" if form.absolute else "gaussian"
    return f"{law}-{form.noise}-{form.basis}-{form.adjacency.value}-{form.degree}"


def packed(form: Form, matrix: Float64) -> Int32:
    """The numbers that make up a whitening, in units of 2^-20."""
    if form.noise != "shaped":
        numbers = matrix[0, :1]
    elif form.absolute:
        numbers = np.diag(matrix)
    else:
        numbers = matrix[np.tril_indices(form.rows)]
    return np.rint(numbers / UNIT).astype(np.int32)


def unpacked(form: Form, numbers: Int32) -> Float64:
    """The whitening of `packed` numbers, shape (M, M)."""
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


def write_table(entries: dict[str, Int32], path: Path = TABLE) -> None:
    """Store packed whitenings by name."""
    np.savez_compressed(
        path,
        names=np.array(list(entries)),
        lengths=np.array([len(numbers) for numbers in entries.values()]),
        numbers=np.concatenate(list(entries.values())),
    )
