"""What a student expects of the votes, and how far the votes exceed it: public scores, checked where they enter."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ogive.arrays import Float64, Int64
from ogive.checks import refuse_masked
from ogive.errors import DataError, ParameterError
from ogive.pate.costs.losing import SCALE_BITS

_ROUNDING = 1e-3
"""How far probabilities of low precision may be from adding up to 1."""

_SCALE = 1 << SCALE_BITS


def check_probabilities(probabilities: ArrayLike | None, shape: tuple[int, ...]) -> Float64:
    """A student's probabilities as an array.

    Args:
        probabilities: Of each class for each query; rows add up to 1 as scores of low precision do.
        shape: Queries and classes of the votes.

    Raises:
        ParameterError: there are none.
        DataError: they are not numbers from 0 to 1, have another shape, or rows do not add up to 1.
    """
    if probabilities is None:
        raise ParameterError("aggregator interactive needs the student's probabilities, a row for every query")
    refuse_masked(probabilities)
    try:
        found = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("probabilities must be an array of numbers, a row for every query") from None
    if found.ndim != 2 or found.shape != shape:
        raise DataError(
            f"probabilities must have the shape (queries, classes) = {shape} of the votes, got {found.shape}"
        )
    for wrong, what in (
        (np.isnan(found).any(axis=1), "NaN"),
        (((found < 0) | (found > 1)).any(axis=1), "numbers outside 0 to 1"),
        (np.abs(found.sum(axis=1) - 1) > _ROUNDING, "numbers that do not add up to 1"),
    ):
        if wrong.any():
            raise DataError(f"the student's probabilities of query {int(np.argmax(wrong))} hold {what}")
    return found


def largest_excess(votes: Int64, probabilities: Float64) -> Float64:
    """The largest excess of votes over those that the student expects, rounded half up.

    Expected votes are first rounded to 2^-16, as the check that is deployed rounds them, whatever its noise. From
    there on everything is exact, so one vote moves the excess by at most 1. Floating-point differences would not do:
    2 less a bit more than 1/2 is 1.5, and 1 less as much is below 1/2, so that one vote would move it from 0 to 2. Nor
    would rounding half to even: from 0.5 to 0, from 1.5 to 2.

    Args:
        votes: Counts, shape (queries, classes).
        probabilities: The student's, the same shape.

    Returns:
        Whole numbers, shape (queries,).
    """
    expected = np.floor(votes.sum(axis=1, keepdims=True) * probabilities * _SCALE + 0.5) / _SCALE
    return np.asarray(np.floor((votes - expected).max(axis=1) + 0.5))
