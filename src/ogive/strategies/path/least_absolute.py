"""Path noise smoothed by least absolute corrections (Eq. 3 with p = 1), exactly, in integers.

On the graph of `Intervals` the linear program is a transport problem. Increments of the noisy
counts are supplies; a noise node carries any amount between its two gaps at cost 1 each way;
what is left at every gap must not be negative. The dual gives each gap a price:

    max - sum steps_i lambda_i   subject to   lambda >= 0,   |lambda_a - lambda_b| <= 1 for every node (a, b).

Prices are whole numbers, at most the diameter of the graph (about 2 log2 M), and two ends of
an edge differ by at most 1. So the dual is solved by dynamic programming along the nested
order, over the prices of the two ends of an interval. By complementary slackness the primal
then is a question of feasibility: what an interval can deliver to its two ends is described
by bounds on either amount and on their sum, computed upward and resolved downward.
Equality of both objectives, in exact integers, certifies the result.
"""

from __future__ import annotations

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.compiling import njit
from ogive.errors import UnsupportedError
from ogive.strategies.path.intervals import Intervals
from ogive.strategies.path.least_squares import ANCHORED, UNKNOWN

MAX_WORK = 4_000_000_000
MAX_VALUE = float(2**52)
FORBIDDEN = -(2**61)


def smooth_path_absolute(answer: Int64, intervals: Intervals, *, total: int, bits: int, ending: int) -> Float64:
    """Find monotone cumulative counts that need the least total of absolute node corrections.

    The optimum may not be unique; ties are resolved toward moving little between intervals.

    Args:
        answer: Cumulative counts with path noise, times 2^bits, shape (M,).
        intervals: The noise nodes that touch the points.
        total: The number of records; ignored if `ending` is `UNKNOWN`.
        bits: Fractional bits of the answer. If they make the objective exceed 2^52, the lowest are rounded away.
        ending: `UNKNOWN`, `BOXED` or `ANCHORED`, as for `smooth_path`.

    Returns:
        Non-decreasing cumulative counts from 0 up, shape (M,).

    Raises:
        UnsupportedError: blocks have so many children that the dynamic program would take minutes.
        ArithmeticError: primal and dual objective differ (not known to happen).
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
