"""Local sensitivity of an answer's cost, alone and together with its check, within d changed teachers.

Throughout, `ordered` are the counts of every query in falling order, shape (queries, classes), `rivals` the chances
that one rival wins by its gap, and `cells` intervals of chances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from ogive.core.arrays import Float64, Int64
from ogive.core.compiling import njit
from ogive.pate.costs.answers import GnmaxBound, log_neighbour_bounds

# --- Chances of losing the plurality within d changed teachers: the largest and the smallest, for every d
#
# The largest is at the histogram that moves d votes from the first class to the second; the smallest at the one that
# moves d votes to the first class, each from the class that is then second. Both are extreme in the order of prefix
# sums of sorted gaps (`docs/proofs/pate_sensitivity.md`).
#
# Every chance is a function of the sorted histogram alone, summed in one order: two ways to the same histogram give the
# same bits.

# below this log a chance is summed in logs, since its smaller terms would leave the doubles
_FAINT = -600.0


class Rivals(NamedTuple):
    """Chance that one rival wins over the first class, by the gap between them.

    Fields:
        logs: Natural logs, shape (teachers + 1,).
        log_cap: log(1 - 1/classes), above which no chance of losing the plurality lies.
    """

    logs: Float64
    chances: Float64
    log_cap: float

    @property
    def teachers(self) -> int:
        """Votes in a histogram."""
        return self.logs.size - 1

    @classmethod
    def of(cls, sigma: float, *, teachers: int, classes: int, tie_gap: float = 0.0) -> Rivals:
        """Tabulate Phi(-(gap - tie_gap) / (sqrt 2 sigma))."""
        logs = log_ndtr(-(np.arange(teachers + 1) - tie_gap) / (math.sqrt(2) * sigma))
        return cls(logs, np.exp(logs), math.log1p(-1 / classes))

    def log_unanimous(self, classes: int) -> float:
        """The smallest there is: all teachers agree."""
        row = np.zeros(classes, np.int64)
        row[0] = self.teachers
        return float(log_losing_row(row, self.logs, self.chances, self.log_cap))


def sorted_votes(votes: Int64) -> Int64:
    """Counts of every query in falling order, shape (queries, classes)."""
    return np.ascontiguousarray(np.sort(votes, axis=1)[:, ::-1])


def log_extremes(ordered: Int64, rivals: Rivals) -> tuple[Float64, Float64]:
    """The least and the largest log chance within d changed teachers, each shape (queries, teachers), d = 0, 1, ...

    Where the first two classes can be made equal the largest is the cap.
    """
    shape = (ordered.shape[0], rivals.teachers)
    low, high = np.empty(shape), np.empty(shape)
    _fill_extremes(ordered, rivals.logs, rivals.chances, rivals.log_cap, low, high)
    return low, high


@njit(error_model="numpy")
def log_losing_row(row: Int64, logs: Float64, chances: Float64, cap: float) -> float:
    """Log of the sum over rivals; classes without votes are one term."""
    first = row[0]
    least = logs[first - row[1]]
    total = 0.0
    at = 1
    if least > _FAINT:
        while at < row.size and row[at] > 0:
            total += chances[first - row[at]]
            at += 1
        total += (row.size - at) * chances[first]
        summed: float = min(math.log(total), cap)
        return summed
    while at < row.size and row[at] > 0:
        total += math.exp(logs[first - row[at]] - least)
        at += 1
    total += (row.size - at) * math.exp(logs[first] - least)
    faint: float = min(least + math.log(total), cap)
    return faint


@njit(error_model="numpy")
def raise_once(row: Int64) -> bool:
    """Move a vote from the first class to the second, if the first stays first."""
    if row[0] - row[1] < 2:
        return False
    row[0] -= 1
    row[1] += 1
    return True


@njit(error_model="numpy")
def lower_once(row: Int64) -> bool:
    """Move a vote from the second class to the first, if there is one; the last of those that tie, so order stays."""
    level = row[1]
    if level == 0:
        return False
    at = 1
    while at + 1 < row.size and row[at + 1] == level:
        at += 1
    row[at] -= 1
    row[0] += 1
    return True


@njit(error_model="numpy")
def _fill_extremes(ordered: Int64, logs: Float64, chances: Float64, cap: float, low: Float64, high: Float64) -> None:
    for query in range(ordered.shape[0]):
        row = ordered[query].copy()
        going = True
        for distance in range(high.shape[1]):
            high[query, distance] = log_losing_row(row, logs, chances, cap) if going else cap
            going = going and raise_once(row)
        row = ordered[query].copy()
        least = 0.0
        going = True
        for distance in range(low.shape[1]):
            if going:
                least = log_losing_row(row, logs, chances, cap)
            low[query, distance] = least
            going = going and lower_once(row)


# --- When Algorithms 3 to 5 bound what they should: critical points, preconditions and condition C6
#
# All of it follows from public numbers: noise, order, classes and teachers. Where a condition fails, Algorithm 4 may
# give less than the local sensitivity, and the range maximum of `range_profiles` takes its place.

_POINTS = 4000
_REACH = 6.0
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Landmarks:
    """Critical points of one cost of GNMax, with its plateau.

    Fields:
        bound: The cost: beta rises in q below q0 and is order / sigma^2 from q0 on.
        classes: At least 2.
        log_q0: log q0.
        log_q1: log B_L(q0): from here on a neighbour may reach q0.
        log_q2: log B_U(q0): up to here a neighbour may come below q0.
        plateau: Local sensitivity between q1 and q0: the larger of beta(q0) - beta(q1), with the jump that beta may
            have at q0, and beta(q1) - beta(B_L(q1)).
    """

    bound: GnmaxBound
    classes: int
    log_q0: float
    log_q1: float
    log_q2: float
    plateau: float

    def unmet(self, log_unanimous: float) -> str | None:
        """Why Algorithms 3 to 5 do not hold, in words; None where they do."""
        if not self.reached(log_unanimous):
            return "even unanimous votes cost what the noise alone does"
        if self.log_q0 > math.log(0.5):
            return "the critical chance q0 is above 1/2"
        if self.log_q2 >= 0:
            return "a neighbour of the critical chance q0 has no bound below 1"
        if not check_c6(self.bound, self.classes):
            return "condition C6 fails: the cost does not rise ever faster up to q1"
        return None

    def reached(self, log_unanimous: float) -> bool:
        """Whether any votes cost less than the noise alone does."""
        return log_unanimous < self.log_q0


@lru_cache(maxsize=256)
def landmarks(bound: GnmaxBound, classes: int) -> Landmarks:
    """Find the critical points of a cost."""
    low, high = log_neighbour_bounds(bound.log_q0, bound.sigma, classes)
    lower, _ = log_neighbour_bounds(low, bound.sigma, classes)
    at_q1, below_q1 = bound.beta(np.array([low, lower]))
    plateau = max(bound.independent - at_q1, at_q1 - below_q1)
    return Landmarks(bound, classes, bound.log_q0, float(low), float(high), float(plateau))


@lru_cache(maxsize=256)
def check_c6(bound: GnmaxBound, classes: int) -> bool:
    """Whether beta(B_U(q)) - beta(q) never falls in q up to q1, on a dense grid in sqrt(-log q).

    The grid is global, which a local minimiser of the derivative is not; what lies beyond six times its start is
    negligible.
    """
    low, _ = log_neighbour_bounds(bound.log_q0, bound.sigma, classes)
    root = math.sqrt(-float(low))
    log_q = -(np.linspace(root, _REACH * root, _POINTS) ** 2)
    _, high = log_neighbour_bounds(log_q, bound.sigma, classes)
    # B_U(q1) is q0 up to rounding, and must not meet the jump there
    high = np.minimum(high, bound.log_q0 * (1 + _ROUNDING))
    rise = bound.beta(high) - bound.beta(log_q)
    return bool(np.all(np.diff(rise) <= _ROUNDING * rise.max()))


# --- Local sensitivity of a GNMax answer's cost within d changed teachers: Algorithms 3 to 5
#
# They hold under the conditions above only; `range_profiles` needs none.
#
# Source: Papernot et al. 2018, appendix B, with the explicit plateau and the lowering step corrected.


def local_sensitivity(log_q: Float64, marks: Landmarks) -> Float64:
    """Algorithm 3: a bound on how much the cost differs at a neighbour, same shape."""
    bound = marks.bound
    low, high = log_neighbour_bounds(log_q, bound.sigma, marks.classes)
    here = bound.beta(log_q)
    result = np.maximum(bound.beta(high) - here, here - bound.beta(low))
    result = np.where(log_q > marks.log_q2, 0.0, result)
    return np.where((marks.log_q1 <= log_q) & (log_q <= marks.log_q0), marks.plateau, result)


def algorithm_profiles(ordered: Int64, rivals: Rivals, marks: Landmarks) -> Float64:
    """Algorithms 4 and 5 without the smoothing: the bound within d changed teachers, d = 0, 1, ..."""
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


# --- Local sensitivity of a GNMax answer's cost within d changed teachers, as a maximum over a range of chances
#
# The cost need only never fall in q. The chances q within d changed teachers fill an interval;
# the intervals of neighbours are nested, and so are the cells that cover them, for the cells are fixed beforehand by
# public numbers alone. Hence the maximum over them is smooth (`docs/proofs/pate_sensitivity.md`).

CELLS = 4000


@dataclass(frozen=True)
class Cells:
    """Cells of equal width in s = sqrt(-log q), from an even split to unanimous votes."""

    start: float
    width: float
    count: int

    @classmethod
    def of(cls, rivals: Rivals, *, classes: int, count: int = CELLS) -> Cells:
        """Cells that every histogram of as many teachers and classes shares."""
        start = math.sqrt(-rivals.log_cap)
        end = math.sqrt(-rivals.log_unanimous(classes))
        return cls(start, max(end - start, 1e-9) / count, count)

    def log_ends(self) -> tuple[Float64, Float64]:
        """Log chances at the smaller and at the larger end of every cell, each shape (count,)."""
        logs: Float64 = -((self.start + self.width * np.arange(self.count + 1, dtype=np.float64)) ** 2)
        return logs[1:], logs[:-1]

    def place(self, log_q: Float64) -> Int64:
        """The cell of each chance, same shape."""
        cell = np.floor((np.sqrt(-log_q) - self.start) / self.width).astype(np.int64)
        return np.clip(cell, 0, self.count - 1)


def cell_sensitivities(bound: GnmaxBound, cells: Cells, *, classes: int) -> Float64:
    """A bound on the local sensitivity at every chance of a cell, shape (cells,)."""
    small, large = cells.log_ends()
    low, _ = log_neighbour_bounds(small, bound.sigma, classes)
    _, high = log_neighbour_bounds(large, bound.sigma, classes)
    return np.asarray(np.maximum(bound.beta(high) - bound.beta(small), bound.beta(large) - bound.beta(low)))


def range_profiles(ordered: Int64, rivals: Rivals, cells: Cells, sensitivities: Float64) -> Float64:
    """Largest bound within d changed teachers, d = 0, 1, ..., from the sensitivity of each cell."""
    low, high = log_extremes(ordered, rivals)
    out = np.empty(low.shape)
    # small chances lie in late cells
    _fill_maxima(cells.place(high), cells.place(low), sensitivities, out)
    return out


@njit(error_model="numpy")
def _fill_maxima(first: Int64, last: Int64, values: Float64, out: Float64) -> None:
    """Maximum of values[first..last] for ranges that only widen along a row; every value is seen once a row."""
    for row in range(out.shape[0]):
        left, right = first[row, 0], first[row, 0]
        most = values[left]
        for column in range(out.shape[1]):
            while left > first[row, column]:
                left -= 1
                most = max(most, values[left])
            while right < last[row, column]:
                right += 1
                most = max(most, values[right])
            out[row, column] = most


# --- Local sensitivity of the joint cost of a check and an answer within d changed teachers
#
# The joint cost J(v, beta(q)) depends on the check's value v, a whole number that a teacher moves by at most 1, and on
# the chance q of losing the plurality. Within d changed teachers (v, q) stays in a box: |u - v| <= d, and q in the
# interval of `range_profiles`. Boxes of neighbours are nested, so the maximum over them is smooth, with no
# condition on the cost but that J never falls in beta and beta never in q. Values reach from 0 to M, so that boxes grow
# up to d = M, one step longer than the intervals do.

BOX_CELLS = 2000


def box_sensitivities(
    bound: GnmaxBound, cells: Cells, log_pass: Float64, log_refuse: Float64, *, classes: int
) -> Float64:
    """A bound on the local sensitivity at every value of the check and every chance of a cell.

    `log_pass` and `log_refuse` are log chances of the check at its values -1..M+1, shape (M + 3,).
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
    """Add to `total` the sum over queries of the largest bound within d = 0, 1, ...

    changes. `values` are those of the check for every query, `times` how often each query is counted.
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
