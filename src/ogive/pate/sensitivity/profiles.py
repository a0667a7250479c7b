"""Local sensitivity of a GNMax answer's cost within d changed teachers: Algorithms 3 to 5.

They hold under the conditions of `ogive.pate.sensitivity.conditions` only; `ogive.pate.sensitivity.ranges` needs none.

Source: Papernot et al. 2018, appendix B, with the explicit plateau and the lowering step corrected.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.compiling import njit
from ogive.pate.sensitivity.conditions import Landmarks
from ogive.pate.sensitivity.extremes import Rivals, log_losing_row, lower_once, raise_once
from ogive.pate.sensitivity.neighbours import log_neighbour_bounds


def local_sensitivity(log_q: Float64, marks: Landmarks) -> Float64:
    """Algorithm 3: a bound on how much the cost differs at a neighbour, same shape.

    Args:
        log_q: Log chances of losing the plurality.
        marks: The cost and its critical points.
    """
    bound = marks.bound
    low, high = log_neighbour_bounds(log_q, bound.sigma, marks.classes)
    here = bound.beta(log_q)
    found = np.maximum(bound.beta(high) - here, here - bound.beta(low))
    found = np.where(log_q > marks.log_q2, 0.0, found)
    return np.where((marks.log_q1 <= log_q) & (log_q <= marks.log_q0), marks.plateau, found)


def algorithm_profiles(ordered: Int64, rivals: Rivals, marks: Landmarks) -> Float64:
    """Algorithms 4 and 5 without the smoothing: the bound within d changed teachers, d = 0, 1, ...

    Args:
        ordered: Counts of every query in falling order, shape (queries, classes).
        rivals: Chances by gap.
        marks: The cost and its critical points.

    Returns:
        Shape (queries, teachers), never falling along the last axis.
    """
    log_q = np.empty((ordered.shape[0], rivals.teachers))
    stops = np.empty(ordered.shape[0], np.int64)
    _walk(ordered, rivals.logs, rivals.chances, rivals.log_cap, marks.log_q0, marks.log_q1, log_q, stops)
    before = np.arange(rivals.teachers) < stops[:, None]
    profile = np.where(before, 0.0, marks.plateau)
    # beyond q2 no neighbour comes below q0
    telling = before & (log_q <= marks.log_q2)
    profile[telling] = local_sensitivity(log_q[telling], marks)
    return np.asarray(np.maximum.accumulate(profile, axis=1))


@njit(error_model="numpy")
def _walk(
    ordered: Int64,
    logs: Float64,
    chances: Float64,
    cap: float,
    log_q0: float,
    log_q1: float,
    out: Float64,
    stops: Int64,
) -> None:
    """Move votes towards [q1, q0] until it is reached: the log chance at every step before, and the number of steps.

    A step cannot pass over [q1, q0], as q1 = B_L(q0). Where raising runs out of votes, the first two classes can be
    made equal, which is beyond q0.
    """
    for query in range(ordered.shape[0]):
        row = ordered[query].copy()
        here = log_losing_row(row, logs, chances, cap)
        rising = here < log_q1
        distance = 0
        while distance < out.shape[1] and (here < log_q1 if rising else here > log_q0):
            out[query, distance] = here
            distance += 1
            if not (raise_once(row) if rising else lower_once(row)):
                break
            here = log_losing_row(row, logs, chances, cap)
        stops[query] = distance
        out[query, distance:] = 0.0
