"""Path noise smoothed, on a graph with an edge for every block: by least squares, or by least absolute corrections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.core.arrays import Bool, Float64, Int64
from ogive.core.compiling import njit
from ogive.errors import UnsupportedError

# --- The graph: one edge for every block of points
#
# Number the gaps around the M points 0..M: gap i lies before point i, gap M after the last. A
# noise node that covers the points a..b-1 changes their values together, so it moves an amount
# from the increment at gap a to the increment at gap b (or back): it is an edge (a, b) between
# gaps. Blocks are nested, so the gaps can be removed one by one such that a gap has just two
# neighbors when it goes, and joins them. Both smoothers walk along that order: solving
# downward from the leaves, substituting back up.


@dataclass(frozen=True)
class Intervals:
    """Edges between gaps 0..M and an order of removing the gaps 1..M-1.

    Fields:
        neighbors: Noise nodes that cover exactly point i, shape (M,): the edges (i, i+1).
        order: Gap removed, its left and its right neighbor at that time, shape (3, M-1).
        joined: Noise nodes that cover exactly the points between those two neighbors, shape (M-1,).
    """

    neighbors: Int64
    order: Int64
    joined: Int64

    @property
    def points(self) -> int:
        """Number of points, M."""
        return int(self.neighbors.size)


def nested_intervals(points: Int64, blocks: Int64) -> Intervals:
    """The noise nodes that touch some increasing points, of levels with these block sizes, each dividing the next."""
    return Intervals(*_removal_order(points, blocks))


@njit()
def _ranks(points: Int64, blocks: Int64) -> tuple[Int64, Int64]:
    """Highest level at which a gap separates two blocks; and which gaps of that level go first.

    Gaps of one level inside one block of the next go in the order of the trailing zeros of
    their place, which keeps the order as balanced as a binary tree.
    """
    size, levels = points.size, blocks.size
    rank = np.full(size + 1, levels - 1, np.int64)
    turn = np.full(size + 1, 64, np.int64)
    for gap in range(1, size):
        before, after = points[gap - 1], points[gap]
        level = 0
        place = after
        while level + 1 < levels:
            ratio = blocks[level + 1] // blocks[level]
            before //= ratio
            after //= ratio
            if before == after:
                place -= after * ratio
                break
            place = after
            level += 1
        rank[gap] = level
        zeros = 0
        while place & 1 == 0 and zeros < 62:
            place >>= 1
            zeros += 1
        turn[gap] = zeros
    return rank, turn


@njit()
def _removal_order(points: Int64, blocks: Int64) -> tuple[Int64, Int64, Int64]:
    size = points.size
    rank, turn = _ranks(points, blocks)
    neighbors = np.empty(size, np.int64)
    for gap in range(size):
        neighbors[gap] = min(rank[gap], rank[gap + 1]) + 1
    order = np.empty((3, size - 1), np.int64)
    joined = np.empty(size - 1, np.int64)
    stack = np.empty(size + 1, np.int64)
    stack[0] = 0
    top = 0
    step = 0
    for right in range(1, size + 1):
        while top > 0:
            gap = stack[top]
            later = rank[gap] > rank[right] or (rank[gap] == rank[right] and turn[gap] >= turn[right])
            if later and right < size:
                break
            left = stack[top - 1]
            order[0, step], order[1, step], order[2, step] = gap, left, right
            # blocks of a level above the removed gap's, up to where one of the two ends is no boundary
            joined[step] = min(rank[left], rank[right]) - rank[gap]
            step += 1
            top -= 1
        top += 1
        stack[top] = right
    return neighbors, order, joined


# --- Generalized least squares (Eq. 3 with p = 2), exactly and in near-linear time
#
# With K the covariance of the noise, the problem is
#
#     min (f - y)^T K^{-1} (f - y)   subject to   x_i = f_i - f_{i-1} >= 0   for every gap i = 0..M,
#
# where f_{-1} = 0 and f_M = total. Let lambda_i be the multiplier of gap i. Stationarity is
# f = y + K mu with mu_i = lambda_i - lambda_{i+1}, and K = Z^T Z turns it into
#
#     x = increments(y) + G lambda,   x >= 0,   lambda >= 0,   x lambda = 0,
#
# with G the Laplacian of the graph of `Intervals`, every noise node an edge of conductance 1.
# G is a (weakly diagonally dominant) M-matrix. From lambda = 0 (but the last, where the total is
# imposed), hold at zero every increment that is negative, solve, and repeat: multipliers only
# grow, so an increment once held stays held, and the first iterate with x >= 0 is the optimum
# (Hintermueller, Ito and Kunisch 2003). In practice that takes 3 to 15 rounds, each a
# subtraction-free elimination along the nested order, O(M).

UNKNOWN, BOXED, ANCHORED = 0, 1, 2
"""What is demanded of the last increment, total - f_{M-1}: nothing, not negative, zero."""

TOLERANCE = 1e-7
"""Largest accepted violation of the optimality conditions, relative to the largest increment."""


def smooth_path(noisy: Float64, intervals: Intervals, *, total: float, ending: int) -> Float64:
    """Project noisy cumulative counts, shape (M,), onto the monotone curves, in the norm of the noise's precision.

    `ending` says what the total is: `UNKNOWN`, `BOXED` (the last value is at most that) or `ANCHORED` (it is that).
    """
    if ending != UNKNOWN and total == 0:
        return np.zeros(noisy.size)
    steps = np.diff(noisy, prepend=0.0, append=total if ending != UNKNOWN else noisy[-1])
    joined = intervals.joined.astype(np.float64)
    neighbors = intervals.neighbors.astype(np.float64)
    increments, multipliers, rounds = _complementary(steps, neighbors, intervals.order, joined, ending)
    wrong = _residual(steps, neighbors, intervals.order, joined, increments, multipliers)
    if rounds < 0 or wrong > TOLERANCE * (1.0 + float(np.abs(steps).max())):
        raise ArithmeticError(f"least-squares smoothing left a residual of {wrong:g} records")
    return np.cumsum(increments[:-1])


@njit()
def _complementary(
    steps: Float64, neighbors: Float64, order: Int64, joined: Float64, ending: int
) -> tuple[Float64, Float64, int]:
    """Increments and multipliers of the optimum, and the rounds it took (-1: not reached)."""
    last = neighbors.size
    held = np.zeros(last + 1, np.bool_)
    held[last] = ending == ANCHORED
    multipliers = np.zeros(last + 1)
    increments = np.empty(last + 1)
    for rounds in range(1, last + 3):
        _solve(steps, neighbors, order, joined, held, multipliers, increments)
        grown = False
        for gap in range(last if ending != BOXED else last + 1):
            if not held[gap] and increments[gap] < 0.0:
                held[gap] = True
                grown = True
        if not grown:
            for gap in range(last if ending == ANCHORED else last + 1):
                # rounding may leave a multiplier just below zero; the residual is checked with it at zero
                multipliers[gap] = max(multipliers[gap], 0.0)
            return increments, multipliers, rounds
    return increments, multipliers, -1


@njit()
def _solve(
    steps: Float64,
    neighbors: Float64,
    order: Int64,
    joined: Float64,
    held: Bool,
    multipliers: Float64,
    increments: Float64,
) -> None:
    """Multipliers that keep the held increments at zero, others zero; and all increments (in place)."""
    last = neighbors.size
    edge = neighbors.copy()
    ground = np.zeros(last + 1)
    load = -steps
    toward_left = np.empty(last)
    toward_right = np.empty(last)
    for step in range(last - 1):
        gap, left, right = order[0, step], order[1, step], order[2, step]
        before, after = edge[left], edge[gap]
        edge[left] = joined[step]
        if held[gap]:
            diagonal = before + after + ground[gap]
            p, q = before / diagonal, after / diagonal
            edge[left] += before * q
            ground[left] += p * ground[gap]
            ground[right] += q * ground[gap]
            load[left] += p * load[gap]
            load[right] += q * load[gap]
            load[gap] /= diagonal
            toward_left[step], toward_right[step] = p, q
        else:
            ground[left] += before
            ground[right] += after
            toward_left[step], toward_right[step] = before, after
    between = edge[0]
    multipliers[0] = multipliers[last] = 0.0
    if held[0] and held[last]:
        first, final = ground[0], ground[last]
        # (between + first)(between + final) - between^2, without the cancellation
        determinant = between * (first + final) + first * final
        multipliers[0] = (load[0] * (between + final) + between * load[last]) / determinant
        multipliers[last] = (load[last] * (between + first) + between * load[0]) / determinant
    elif held[0]:
        multipliers[0] = load[0] / (between + ground[0])
    elif held[last]:
        multipliers[last] = load[last] / (between + ground[last])
    increments[0] = 0.0 if held[0] else -load[0] - between * multipliers[last]
    increments[last] = 0.0 if held[last] else -load[last] - between * multipliers[0]
    for step in range(last - 2, -1, -1):
        gap, left, right = order[0, step], order[1, step], order[2, step]
        push = toward_left[step] * multipliers[left] + toward_right[step] * multipliers[right]
        if held[gap]:
            multipliers[gap] = load[gap] + push
            increments[gap] = 0.0
        else:
            multipliers[gap] = 0.0
            increments[gap] = -load[gap] - push


@njit()
def _residual(
    steps: Float64, neighbors: Float64, order: Int64, joined: Float64, increments: Float64, multipliers: Float64
) -> float:
    """Largest entry of |increments - steps - G multipliers|, with G applied edge by edge."""
    wrong = increments - steps
    for gap in range(neighbors.size):
        flow = neighbors[gap] * (multipliers[gap] - multipliers[gap + 1])
        wrong[gap] -= flow
        wrong[gap + 1] += flow
    for step in range(joined.size):
        left, right = order[1, step], order[2, step]
        flow = joined[step] * (multipliers[left] - multipliers[right])
        wrong[left] -= flow
        wrong[right] += flow
    return float(np.abs(wrong).max())


# --- Least absolute corrections (Eq. 3 with p = 1), exactly, in integers
#
# On the graph of `Intervals` the linear program is a transport problem. Increments of the noisy
# counts are supplies; a noise node carries any amount between its two gaps at cost 1 each way;
# what is left at every gap must not be negative. The dual gives each gap a price:
#
#     max - sum steps_i lambda_i   subject to   lambda >= 0,   |lambda_a - lambda_b| <= 1 for every node (a, b).
#
# Prices are whole numbers, at most the diameter of the graph (about 2 log2 M), and two ends of
# an edge differ by at most 1. So the dual is solved by dynamic programming along the nested
# order, over the prices of the two ends of an interval. By complementary slackness the primal
# then is a question of feasibility: what an interval can deliver to its two ends is described
# by bounds on either amount and on their sum, computed upward and resolved downward.
# Equality of both objectives, in exact integers, certifies the result.

MAX_WORK = 4_000_000_000
MAX_VALUE = float(2**52)
FORBIDDEN = -(2**61)


def smooth_path_absolute(answer: Int64, intervals: Intervals, *, total: int, bits: int, ending: int) -> Float64:
    """Find monotone cumulative counts that need the least total of absolute node corrections; see `smooth_path`.

    Answers are times 2^bits; if that makes the objective exceed 2^52, the lowest bits are rounded away. Of several
    optima it is one that moves little between intervals.
    """
    if ending != UNKNOWN and total == 0:
        return np.zeros(answer.size)
    widths, highest, depth, work = _extent(intervals.order, intervals.joined)
    if work > MAX_WORK:
        raise UnsupportedError("least_absolute smoothing needs blocks of few children; use least_squares")
    mass = float(np.abs(np.diff(answer, prepend=0).astype(np.float64)).sum()) + float(total) * 2.0**bits
    dropped = 0
    while mass * (highest + 2) * 0.5**dropped > MAX_VALUE:
        dropped += 1
    rounded = (answer + (1 << dropped >> 1)) >> dropped
    end = round(total * 2 ** (bits - dropped)) if ending != UNKNOWN else rounded[-1]
    steps = np.diff(rounded, prepend=0, append=end).astype(np.int64)
    ceiling = min(4, highest)
    while True:
        prices, best = _prices(steps, intervals.order, intervals.joined, widths, ceiling, depth, ending)
        # the dual is concave, so an optimum below the ceiling is the optimum without one
        if ceiling == highest or prices.max() < ceiling:
            break
        ceiling = min(2 * ceiling, highest)
    increments, cost = _deliver(steps.astype(np.float64), intervals.order, intervals.joined, prices, ending)
    if cost != best or increments[:-1].min() < 0 or (ending != UNKNOWN and increments[-1] < 0):
        raise ArithmeticError(f"least-absolute smoothing left a duality gap of {cost - best:g}")
    return np.ldexp(np.cumsum(increments[:-1]), dropped - bits)


@njit()
def _extent(order: Int64, joined: Int64) -> tuple[Int64, int, int, int]:
    """How far prices may differ, and how much room and work the dynamic program needs.

    Returns:
        For every removal the largest price difference (left to gap, gap to right, left to right),
        shape (3, M-1); the highest price; the deepest stack of intervals; the number of operations.
    """
    removals = joined.size
    widths = np.empty((3, removals), np.int64)
    width = np.ones(removals + 1, np.int64)
    for step in range(removals):
        gap, left = order[0, step], order[1, step]
        widths[0, step], widths[1, step] = width[left], width[gap]
        width[left] = 1 if joined[step] > 0 else width[left] + width[gap]
        widths[2, step] = width[left]
    distance = np.zeros(removals + 2, np.int64)
    distance[removals + 1] = width[0]
    deep = np.zeros(removals + 2, np.int64)
    for step in range(removals - 1, -1, -1):
        gap, left, right = order[0, step], order[1, step], order[2, step]
        distance[gap] = min(distance[left] + widths[0, step], distance[right] + widths[1, step])
        deep[gap] = deep[left] + 1
    highest = 2 * distance.max()
    work = 0
    for step in range(removals):
        work += (highest + 2) * (2 * widths[2, step] + 1) * (2 * min(widths[0, step], widths[1, step]) + 1)
    return widths, highest, deep.max() + 2, work


@njit()
def _prices(
    steps: Int64, order: Int64, joined: Int64, widths: Int64, ceiling: int, depth: int, ending: int
) -> tuple[Int64, int]:
    """Optimal prices of the gaps, none above the ceiling, and the value of the dual.

    Tables are indexed by the price of the left end plus 1 and by the difference to the right end.
    Price -1 is for the last gap alone, when the total is imposed.
    """
    last = steps.size - 1
    rows = ceiling + 2
    room = 1 if widths.size == 0 else max(1, widths.max())
    tables = np.full((depth + 1, rows, 2 * room + 1), FORBIDDEN)
    current = np.empty((rows, 2 * room + 1), np.int64)
    scratch = np.empty((rows, 2 * room + 1), np.int64)
    offsets = np.zeros(joined.size + 1, np.int64)
    for step in range(joined.size):
        offsets[step + 1] = offsets[step] + rows * (2 * widths[2, step] + 1)
    choices = np.empty(offsets[-1], np.int16)
    top, step = 0, 0
    width = 1
    for right in range(1, last + 1):
        # an interval of one point: its own noise node keeps the prices of its ends within 1
        current[:, :] = FORBIDDEN
        for i in range(rows):
            for j in range(max(0, i - 1), min(rows, i + 2)):
                current[i, j - i + 1] = 0
        while step < joined.size and order[2, step] == right:
            top -= 1
            before, after, wide = widths[0, step], widths[1, step], widths[2, step]
            price_of_gap = steps[order[0, step]]
            earlier = tables[top]
            columns = 2 * wide + 1
            scratch[:, :] = FORBIDDEN
            for i in range(rows):
                for j in range(max(0, i - wide), min(rows, i + wide + 1)):
                    best, chosen = FORBIDDEN, 0
                    for k in range(max(1, i - before, j - after), min(rows, i + before + 1, j + after + 1)):
                        value = earlier[i, k - i + before] + current[k, j - k + after] - price_of_gap * (k - 1)
                        if value > best:
                            best, chosen = value, k - i
                    scratch[i, j - i + wide] = max(best, FORBIDDEN)
                    choices[offsets[step] + i * columns + j - i + wide] = chosen
            current, scratch = scratch, current
            step += 1
        tables[top] = current
        top += 1
    width = 1 if joined.size == 0 else widths[2, joined.size - 1]
    best, first, final = FORBIDDEN, 1, 1
    lowest = 0 if ending == ANCHORED else 1
    for i in range(1, rows):
        for j in range(max(lowest, i - width), min(rows, i + width + 1)):
            if ending == UNKNOWN and j != 1:
                continue
            value = tables[0, i, j - i + width] - steps[0] * (i - 1) - steps[last] * (j - 1)
            if value > best:
                best, first, final = value, i, j
    prices = np.empty(last + 1, np.int64)
    prices[0], prices[last] = first, final
    for step in range(joined.size - 1, -1, -1):
        wide = widths[2, step]
        i, j = prices[order[1, step]], prices[order[2, step]]
        prices[order[0, step]] = i + choices[offsets[step] + i * (2 * wide + 1) + j - i + wide]
    return prices - 1, best


@njit()
def _edge(slope: int) -> tuple[float, float, float, float, float, float]:
    """What one noise node can deliver to its ends, given the price difference between them.

    Six bounds: lower and upper of what arrives at the left, at the right, and of their sum.
    """
    if slope == 1:
        return 0.0, np.inf, -np.inf, 0.0, 0.0, 0.0
    if slope == -1:
        return -np.inf, 0.0, 0.0, np.inf, 0.0, 0.0
    return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@njit()
def _through(one: Float64, two: Float64, low: float, high: float, out: Float64) -> None:
    """Bounds of two adjacent intervals that together leave an amount within [low, high] at their common gap."""
    left_low = max(one[0], one[4] + two[0] - high)
    left_high = min(one[1], one[5] + two[1] - low)
    right_low = max(two[2], one[2] + two[4] - high)
    right_high = min(two[3], one[3] + two[5] - low)
    sum_low, sum_high = one[4] + two[4] - high, one[5] + two[5] - low
    out[0], out[1] = max(left_low, sum_low - right_high), min(left_high, sum_high - right_low)
    out[2], out[3] = max(right_low, sum_low - left_high), min(right_high, sum_high - left_low)
    out[4], out[5] = max(sum_low, out[0] + out[2]), min(sum_high, out[1] + out[3])


@njit()
def _nearest_zero(low: float, high: float) -> float:
    return min(max(0.0, low), high)


@njit()
def _deliver(steps: Float64, order: Int64, joined: Int64, prices: Int64, ending: int) -> tuple[Float64, float]:
    """Increments left at the gaps when every node moves along its price slope only, and the amount moved."""
    last = steps.size - 1
    bounds = np.empty((last, 6))
    for gap in range(last):
        bounds[gap, :] = np.array(_edge(prices[gap] - prices[gap + 1]))
    parts = np.empty((joined.size, 3, 6))
    for step in range(joined.size):
        gap, left, right = order[0, step], order[1, step], order[2, step]
        parts[step, 0], parts[step, 1] = bounds[left], bounds[gap]
        high = np.inf if prices[gap] == 0 else -steps[gap]
        _through(parts[step, 0], parts[step, 1], -steps[gap], high, parts[step, 2])
        bounds[left] = parts[step, 2]
        if joined[step] > 0:
            bounds[left] += np.array(_edge(prices[left] - prices[right]))
    increments = np.zeros(last + 1)
    arriving = np.zeros((last, 2))
    low, high = -steps[0], np.inf if prices[0] == 0 else -steps[0]
    end_low = -np.inf if ending == UNKNOWN else -steps[last]
    end_high = np.inf if ending != ANCHORED and prices[last] == 0 else -steps[last]
    whole = bounds[0]
    low, high = max(low, whole[0]), min(high, whole[1])
    end_low, end_high = max(end_low, whole[2]), min(end_high, whole[3])
    arriving[0, 0] = _nearest_zero(max(low, whole[4] - end_high), min(high, whole[5] - end_low))
    arriving[0, 1] = _nearest_zero(max(end_low, whole[4] - arriving[0, 0]), min(end_high, whole[5] - arriving[0, 0]))
    increments[0] = steps[0] + arriving[0, 0]
    increments[last] = steps[last] + arriving[0, 1]
    moved = 0.0
    for step in range(joined.size - 1, -1, -1):
        gap, left, right = order[0, step], order[1, step], order[2, step]
        one, two, inner = parts[step, 0], parts[step, 1], parts[step, 2]
        at_left, at_right = arriving[left, 0], arriving[left, 1]
        if joined[step] > 0:
            edge = _edge(prices[left] - prices[right])
            flow_low = max(edge[0], at_left - inner[1], inner[2] - at_right)
            flow_high = min(edge[1], at_left - inner[0], inner[3] - at_right)
            flow = _nearest_zero(flow_low, flow_high)
            at_left, at_right, moved = at_left - flow, at_right + flow, moved + abs(flow)
        low, high = -steps[gap], np.inf if prices[gap] == 0 else -steps[gap]
        one_low, one_high = max(one[2], one[4] - at_left), min(one[3], one[5] - at_left)
        two_low, two_high = max(two[0], two[4] - at_right), min(two[1], two[5] - at_right)
        from_left = _nearest_zero(max(one_low, low - two_high), min(one_high, high - two_low))
        from_right = _nearest_zero(max(two_low, low - from_left), min(two_high, high - from_left))
        increments[gap] = steps[gap] + from_left + from_right
        arriving[left, 0], arriving[left, 1] = at_left, from_left
        arriving[gap, 0], arriving[gap, 1] = from_right, at_right
    return increments, moved + np.abs(arriving[:, 0]).sum()
