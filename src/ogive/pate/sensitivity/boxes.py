"""Local sensitivity of the joint cost of a check and an answer within d changed teachers.

The joint cost J(v, beta(q)) depends on the check's value v, a whole number that a teacher moves by at most 1, and on
the chance q of losing the plurality. Within d changed teachers (v, q) stays in a box: |u - v| <= d, and q in the
interval of `ogive.pate.sensitivity.ranges`. Boxes of neighbours are nested, so the maximum over them is smooth, with no
condition on the cost but that J never falls in beta and beta never in q. Values reach from 0 to M, so that boxes grow
up to d = M, one step longer than the intervals do.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.compiling import njit
from ogive.pate.costs.gnmax import GnmaxBound
from ogive.pate.sensitivity.extremes import Rivals, log_extremes
from ogive.pate.sensitivity.neighbours import log_neighbour_bounds
from ogive.pate.sensitivity.ranges import Cells

CELLS = 2000


def box_sensitivities(
    bound: GnmaxBound, cells: Cells, log_pass: Float64, log_refuse: Float64, *, classes: int
) -> Float64:
    """A bound on the local sensitivity at every value of the check and every chance of a cell.

    Args:
        bound: Cost of an answer.
        cells: Cells of chances.
        log_pass: Log chances of passing at the values -1..M+1 of the check, shape (M + 3,).
        log_refuse: Of not passing.
        classes: At least 2.

    Returns:
        Shape (M + 1, cells).
    """
    small, large = cells.log_ends()
    low, _ = log_neighbour_bounds(small, bound.sigma, classes)
    _, high = log_neighbour_bounds(large, bound.sigma, classes)
    answers = np.stack([bound.beta(log_q) for log_q in (low, small, large, high)])
    out = np.empty((log_pass.size - 2, cells.count))
    _fill_boxes(log_pass, log_refuse, answers, bound.order, out)
    return out


def add_box_profiles(
    total: Float64, ordered: Int64, values: Int64, times: Float64, *, rivals: Rivals, cells: Cells, table: Float64
) -> None:
    """Add to `total` the sum over queries of the largest bound within d changed teachers, d = 0, 1, ...

    Args:
        total: Shape (teachers + 1,), changed in place.
        ordered: Counts of every query in falling order, shape (queries, classes).
        values: The check's value for every query, in [0, teachers].
        times: How often each query is counted.
        rivals: Chances by gap.
        cells: Cells of chances.
        table: Of `box_sensitivities`.
    """
    low, high = log_extremes(ordered, rivals)
    _add_maxima(total, values, times, cells.place(high), cells.place(low), table, table.max(axis=1), table.max(axis=0))


@njit(error_model="numpy")
def _log_add(one: float, other: float) -> float:
    more: float = max(one, other) + np.log1p(np.exp(-abs(one - other)))
    return more


@njit(error_model="numpy")
def _joint_row(
    log_pass: Float64, log_refuse: Float64, answers: Float64, order: float, value: int, out: Float64
) -> None:
    """J(value, r): the larger of both neighbours of the value."""
    at = value + 1
    fewer, more = order * log_refuse[at], order * log_pass[at]
    refuse_down = fewer - (order - 1) * log_refuse[at - 1]
    refuse_up = fewer - (order - 1) * log_refuse[at + 1]
    pass_down = more - (order - 1) * log_pass[at - 1]
    pass_up = more - (order - 1) * log_pass[at + 1]
    for cell in range(answers.size):
        paid = (order - 1) * answers[cell]
        most = max(_log_add(refuse_down, pass_down + paid), _log_add(refuse_up, pass_up + paid))
        out[cell] = most / (order - 1)


@njit(error_model="numpy")
def _fill_boxes(log_pass: Float64, log_refuse: Float64, answers: Float64, order: float, out: Float64) -> None:
    """The largest difference of costs from (value, cell) to a value at most 1 away and a chance within the bounds."""
    values, cells = out.shape
    # three rows of each cost, the row of value v at v mod 3
    costs = np.empty((3, 4, cells))
    for value in range(-1, values):
        ahead = value + 1
        if ahead < values:
            for kind in range(4):
                _joint_row(log_pass, log_refuse, answers[kind], order, ahead, costs[ahead % 3, kind])
        if value < 0:
            continue
        here = costs[value % 3]
        for cell in range(cells):
            out[value, cell] = 0.0
        for other in range(max(value - 1, 0), min(value + 2, values)):
            there = costs[other % 3]
            for cell in range(cells):
                rise = there[3, cell] - here[1, cell]
                fall = here[2, cell] - there[0, cell]
                out[value, cell] = max(out[value, cell], rise, fall)


@njit(error_model="numpy")
def _add_maxima(
    total: Float64,
    values: Int64,
    times: Float64,
    first: Int64,
    last: Int64,
    table: Float64,
    highest_value: Float64,
    highest_cell: Float64,
) -> None:
    """Maximum of the table over boxes that only widen; rows and columns that cannot raise it are passed over."""
    rows = table.shape[0]
    for query in range(values.size):
        middle = values[query]
        left, right = first[query, 0], first[query, 0]
        most = table[middle, left]
        for distance in range(total.size):
            bottom, top = max(middle - distance + 1, 0), min(middle + distance, rows)
            column = min(distance, first.shape[1] - 1)
            while left > first[query, column] or right < last[query, column]:
                if left > first[query, column]:
                    left -= 1
                    cell = left
                else:
                    right += 1
                    cell = right
                if highest_cell[cell] > most:
                    for value in range(bottom, top):
                        most = max(most, table[value, cell])
            for value in (middle - distance, middle + distance):
                if 0 <= value < rows and highest_value[value] > most:
                    for cell in range(left, right + 1):
                        most = max(most, table[value, cell])
            total[distance] += times[query] * most
