"""Sensitivity of a threshold check's cost, a function of the highest count alone.

No condition on the shape of the cost is needed. The running maximum over the distance is: without it the sum over
queries is not smooth.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]


def local_threshold(costs: Float64) -> Float64:
    """Local sensitivity at each highest count: the larger step to a count beside it.

    Args:
        costs: Cost of the check at the highest counts 0..M, shape (M + 1,).

    Returns:
        Shape (M + 1,).
    """
    steps = np.abs(np.diff(costs))
    edge = np.zeros(1)
    return np.asarray(np.maximum(np.concatenate((steps, edge)), np.concatenate((edge, steps))))


def threshold_profile(costs: Float64, highest: Int64 | int) -> Float64:
    """Largest local sensitivity within d changed teachers, for d = 0..M.

    Args:
        costs: As for `local_threshold`.
        highest: Highest counts of the queries, in [0, M]; a number or shape (queries,).

    Returns:
        Shape (M + 1,) or (queries, M + 1), never falling along the last axis.

    Privacy:
        Private, as the votes are.
    """
    local = local_threshold(costs)
    last = local.size - 1
    distance = np.arange(local.size)
    middle = np.asarray(highest, np.int64)[..., None]
    at = np.maximum(local[np.minimum(middle + distance, last)], local[np.maximum(middle - distance, 0)])
    return np.asarray(np.maximum.accumulate(at, axis=-1))
