"""What a student expects of the votes, and how far the votes exceed it: public scores, checked where they enter."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ogive.errors import DataError
from ogive.pate.costs.losing import SCALE_BITS, Noise

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

_ROOM = 1e-4
_SCALE = 1 << SCALE_BITS


def check_probabilities(probabilities: ArrayLike, shape: tuple[int, int]) -> Float64:
    """A student's probabilities as an array.

    Args:
        probabilities: Of each class for each query; rows sum to 1 up to 1e-4, as 32-bit scores do.
        shape: Queries and classes of the votes.

    Raises:
        DataError: they are not numbers from 0 to 1, have another shape, or rows do not sum to 1.
    """
    try:
        found = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("probabilities must be numbers, one for each query and class") from None
    if found.shape != shape:
        raise DataError(f"probabilities must have the votes' shape {shape}, got {found.shape}")
    wrong = ~np.isfinite(found).all(axis=1)
    if wrong.any():
        raise DataError(f"probabilities must be finite numbers; row {int(wrong.argmax())} has one that is not")
    wrong = ((found < 0) | (found > 1)).any(axis=1)
    if wrong.any():
        raise DataError(f"probabilities must be from 0 to 1; row {int(wrong.argmax())} has one that is not")
    wrong = np.abs(found.sum(axis=1) - 1) > _ROOM
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(f"probabilities of a query must sum to 1; row {row} sums to {found[row].sum():.6g}")
    return found


def largest_excess(votes: Int64, probabilities: Float64, *, noise: Noise = "continuous") -> Float64:
    """The largest excess of votes over those that the student expects, rounded half up.

    Rounding half to even would let one vote move it by 2: from 0.5 to 0, from 1.5 to 2.

    Args:
        votes: Counts, shape (queries, classes).
        probabilities: The student's, the same shape.
        noise: Where it is of integers, expected votes are first rounded to 2^-16.

    Returns:
        Whole numbers, shape (queries,).
    """
    expected = votes.sum(axis=1, keepdims=True) * probabilities
    if noise != "continuous":
        expected = np.rint(expected * _SCALE) / _SCALE
    return np.asarray(np.floor((votes - expected).max(axis=1) + 0.5))
