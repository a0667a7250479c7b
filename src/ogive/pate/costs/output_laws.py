"""Which class wins after Gaussian noise, at a histogram and at all its neighbours, compiled.

Histograms are given by their distinct counts in falling order and how many classes have each: classes with one count
have one chance. Points lie on a grid in votes that is aligned with whole votes, so that every factor of an integrand
is a table's entry.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import log_ndtr

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

SIDE = 13.0
"""Standard deviations from a count beyond which its noise is left out, e^-84 of the mass."""

_STEP = 0.1
_ANCHORS = 16


class Tables(NamedTuple):
    """Factors of integrands at every place of a fine grid, index `middle` being a class's own count.

    Fields:
        per_vote: Places per vote.
        stride: Places per step of the sums.
        middle: Index of 0.
        half: Half the width of the window that holds a class's mass at the votes and at every neighbour, in places.
        log_below: ln Phi(z).
        log_density: -z^2 / 2.
        fewer: Phi(z + 1/sigma) / Phi(z), the factor of a class that loses a vote.
        more: Phi(z - 1/sigma) / Phi(z), of a class that gets one.
        density_fewer: phi(z + 1/sigma) / phi(z).
        density_more: phi(z - 1/sigma) / phi(z).
        log_step: ln of a step times the normal density's constant.
    """

    per_vote: int
    stride: int
    middle: int
    half: int
    log_below: Float64
    log_density: Float64
    fewer: Float64
    more: Float64
    density_fewer: Float64
    density_more: Float64
    log_step: float

    @staticmethod
    def make(teachers: int, sigma: float) -> Tables:
        """Tables for counts from 0 to a number of teachers."""
        per_vote = max(1, math.ceil(1 / (_STEP * sigma)))
        unit = 1 / (per_vote * sigma)
        stride = max(1, math.floor(_STEP / unit))
        half = math.ceil((9 + 2 / sigma) / unit) + stride
        middle = (teachers + 2) * per_vote + math.ceil(SIDE / unit) + half + 2 * stride
        z = np.arange(-middle, middle + 1) * unit
        below, shift = log_ndtr(z), 1 / sigma
        with np.errstate(over="ignore"):
            return Tables(
                per_vote,
                stride,
                middle,
                half,
                below,
                -(z**2) / 2,
                np.exp(log_ndtr(z + shift) - below),
                np.exp(log_ndtr(z - shift) - below),
                np.exp(-z * shift - shift**2 / 2),
                np.exp(z * shift - shift**2 / 2),
                math.log(stride * unit) - math.log(2 * math.pi) / 2,
            )


@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _dot(one: Float64, other: Float64, size: int) -> float:
    total = 0.0
    for place in range(size):
        total += one[place] * other[place]
    return total


@njit(cache=True, error_model="numpy")
def _integrand(
    values: Int64, times: Int64, tables: Tables, total: Float64, start: int, which: int, out: Float64
) -> tuple[int, int, float]:
    """The integrand of one class around its peak, over its peak.

    Args:
        values: Distinct counts.
        times: How many classes have each.
        tables: Of the noise.
        total: Sum of `log_below` over all classes at every step from `start`.
        start: Place of the first step, count 0 being place 0.
        which: Index of the class's count.
        out: Filled from 0.

    Returns:
        Place of the first step of the window, number of its steps, and ln of the peak.
    """
    own = tables.middle - values[which] * tables.per_vote
    best, peak = 0, -np.inf
    for step in range(total.size):
        place = own + start + step * tables.stride
        found = total[step] - tables.log_below[place] + tables.log_density[place]
        if found > peak:
            best, peak = step, found
    reach = tables.half // tables.stride
    first, last = max(0, best - reach), min(total.size - 1, best + reach)
    for step in range(first, last + 1):
        place = own + start + step * tables.stride
        out[step - first] = np.exp(total[step] - tables.log_below[place] + tables.log_density[place] - peak)
    return start + first * tables.stride, last - first + 1, peak


@njit(cache=True, error_model="numpy")
def _totals(values: Int64, times: Int64, tables: Tables) -> tuple[int, Float64]:
    """Sum of `log_below` over all classes, on all steps where any class can have mass."""
    side = tables.middle - (values[0] - values[-1]) * tables.per_vote - tables.half
    margin = min(side, 2 * tables.half)
    start = values[-1] * tables.per_vote - margin
    steps = (values[0] * tables.per_vote + margin - start) // tables.stride + 1
    total = np.zeros(steps)
    for which in range(values.size):
        own = tables.middle - values[which] * tables.per_vote + start
        for step in range(steps):
            total[step] += times[which] * tables.log_below[own + step * tables.stride]
    return start, total


@njit(cache=True, error_model="numpy")
def _complement(logs: Float64, times: Int64) -> float:
    """Ln of the first class's chance: what the others leave."""
    others = 0.0
    for which in range(logs.size):
        others += (times[which] - (which == 0)) * np.exp(logs[which])
    return math.log1p(-min(others, 1.0))


@njit(cache=True, error_model="numpy")
def winning(values: Int64, times: Int64, tables: Tables) -> Float64:
    """Ln of the chance of winning of a class with each distinct count.

    Args:
        values: Distinct counts in falling order.
        times: How many classes have each.
        tables: Of the noise.
    """
    start, total = _totals(values, times, tables)
    scratch = np.empty(2 * (tables.half // tables.stride) + 3)
    found = np.empty(values.size)
    for which in range(values.size):
        _, size, peak = _integrand(values, times, tables, total, start, which, scratch)
        found[which] = peak + tables.log_step + np.log(scratch[:size].sum())
    if times[0] == 1:
        found[0] = _complement(found, times)
    return found


@njit(cache=True, error_model="numpy")
def _gather(table: Float64, tables: Tables, value: int, first: int, size: int, out: Float64) -> None:
    own = tables.middle - value * tables.per_vote + first
    for step in range(size):
        out[step] = table[own + step * tables.stride]


@njit(cache=True, error_model="numpy")
def _neighbours(values: Int64, times: Int64, tables: Tables, plain: Float64, giver: Float64, taker: Float64) -> Float64:
    """Fill ln of the chances at every neighbour, where a class of count a gives a vote to one of count c.

    Args:
        values: Distinct counts in falling order.
        times: How many classes have each.
        tables: Of the noise.
        plain: Filled with [a, c, u], the chance of a class of count u that keeps its votes.
        giver: Filled with [a, c], that of the class that gives.
        taker: Filled with [a, c], that of the class that takes.

    Returns:
        ln of the chances at the votes themselves.
    """
    kinds = values.size
    start, total = _totals(values, times, tables)
    width = 2 * (tables.half // tables.stride) + 3
    mass, weighted, weighted_giver = np.empty(width), np.empty(width), np.empty(width)
    fewer, more = np.empty((kinds, width)), np.empty((kinds, width))
    own_fewer, own_more = np.empty(width), np.empty(width)
    here = np.empty(kinds)
    for u in range(kinds):
        first, size, peak = _integrand(values, times, tables, total, start, u, mass)
        scale = peak + tables.log_step
        here[u] = scale + np.log(mass[:size].sum())
        for v in range(kinds):
            _gather(tables.fewer, tables, values[v], first, size, fewer[v])
            _gather(tables.more, tables, values[v], first, size, more[v])
        _gather(tables.density_fewer, tables, values[u], first, size, own_fewer)
        _gather(tables.density_more, tables, values[u], first, size, own_more)
        for step in range(size):
            weighted_giver[step] = mass[step] * own_fewer[step]
            own_more[step] *= mass[step]
        for c in range(kinds):
            giver[u, c] = scale + np.log(_dot(weighted_giver, more[c], size))
        for a in range(kinds):
            taker[a, u] = scale + np.log(_dot(own_more, fewer[a], size))
            for step in range(size):
                weighted[step] = mass[step] * fewer[a, step]
            for c in range(kinds):
                plain[a, c, u] = scale + np.log(_dot(weighted, more[c], size))
    if times[0] == 1:
        here[0] = _complement(here, times)
    return here


@njit(cache=True, error_model="numpy")
def _log_moment(order: float, logs: Float64, gains: Float64, times: Float64, size: int) -> float:
    """Ln of the sum of times p (p / q)^(order - 1), given ln p and ln p - ln q; precise where it is near 0."""
    total, largest = 0.0, -np.inf
    for outcome in range(size):
        power = (order - 1) * gains[outcome]
        largest = max(largest, power)
        total += times[outcome] * np.exp(logs[outcome]) * np.expm1(power)
    if largest < 500 and total < 1:
        return math.log1p(total)
    peak = -np.inf
    for outcome in range(size):
        peak = max(peak, logs[outcome] + (order - 1) * gains[outcome])
    total = 0.0
    for outcome in range(size):
        total += times[outcome] * np.exp(logs[outcome] + (order - 1) * gains[outcome] - peak)
    return peak + math.log(total)


@njit(cache=True, error_model="numpy")
def _pairs(
    values: Int64,
    times: Int64,
    tables: Tables,
    log_pass: Float64,
    log_refuse: Float64,
    two_sided: bool,
    logs: Float64,
    gains: Float64,
    counts: Float64,
    sizes: Int64,
) -> int:
    """List the outcomes of every pair of laws: ln p, ln p - ln q and how many outcomes are alike; count the pairs."""
    kinds = values.size
    plain = np.empty((kinds, kinds, kinds))
    giver, taker = np.empty((kinds, kinds)), np.empty((kinds, kinds))
    here = _neighbours(values, times, tables, plain, giver, taker)
    checked = log_refuse[values[0] + 1] > -np.inf
    found = 0
    for a in range(kinds):
        for c in range(kinds):
            if values[a] == 0 or (a == c and times[a] < 2):
                continue
            height = values[c] + 1
            for u in range(kinds):
                if times[u] - (u == a) > 0:
                    height = max(height, values[u])
            height = max(height, values[a] - 1)
            # every class that keeps its votes, then the giver, then the taker; the first class is the complement
            size, lead = 0, -1
            for u in range(kinds):
                left = times[u] - (u == a) - (u == c)
                if left > 0:
                    if lead < 0 and u == 0:
                        lead = size
                    logs[found, size], gains[found, size], counts[found, size] = here[u], plain[a, c, u], left
                    size += 1
            for u, there in ((a, giver[a, c]), (c, taker[a, c])):
                if lead < 0 and u == 0:
                    lead = size
                logs[found, size], gains[found, size], counts[found, size] = here[u], there, 1
                size += 1
            others = 0.0
            for outcome in range(size):
                others += (counts[found, outcome] - (outcome == lead)) * np.exp(gains[found, outcome])
            if counts[found, lead] == 1:
                gains[found, lead] = np.log1p(-min(others, 1.0))
            passed, passes = log_pass[values[0] + 1], log_pass[height + 1]
            for outcome in range(size):
                logs[found, outcome] += passed
                gains[found, outcome] = logs[found, outcome] - gains[found, outcome] - passes
            if checked:
                logs[found, size], counts[found, size] = log_refuse[values[0] + 1], 1
                gains[found, size] = log_refuse[values[0] + 1] - log_refuse[height + 1]
                size += 1
            sizes[found] = size
            found += 1
            if two_sided:
                for outcome in range(size):
                    logs[found, outcome] = logs[found - 1, outcome] - gains[found - 1, outcome]
                    gains[found, outcome] = -gains[found - 1, outcome]
                    counts[found, outcome] = counts[found - 1, outcome]
                sizes[found] = size
                found += 1
    return found


@njit(cache=True, error_model="numpy")
def most_divergent(
    ordered: Int64,
    tables: Tables,
    log_pass: Float64,
    log_refuse: Float64,
    orders: Float64,
    two_sided: bool,
    out: Float64,
) -> None:
    """Fill the largest divergence over neighbours, for every histogram and order.

    The log moment is convex in the order, so its chord between two orders bounds it in between: pairs whose chord
    stays below what another pair reaches are passed over.

    Args:
        ordered: Counts in falling order, shape (queries, classes).
        tables: Of the noise of an answer.
        log_pass: ln of the chance to pass at the highest counts -1, 0, ...; 0 without a check.
        log_refuse: Of not passing; -inf without a check.
        orders: Increasing.
        two_sided: Whether both directions count.
        out: Shape (queries, orders).
    """
    queries, classes = ordered.shape
    most = 2 * classes * classes
    logs, gains = np.empty((most, classes + 3)), np.empty((most, classes + 3))
    counts, sizes = np.empty((most, classes + 3)), np.empty(most, np.int64)
    left, right = np.empty(most), np.empty(most)
    values, times = np.empty(classes, np.int64), np.empty(classes, np.int64)
    for query in range(queries):
        kinds = 0
        for place in range(classes):
            if kinds and values[kinds - 1] == ordered[query, place]:
                times[kinds - 1] += 1
            else:
                values[kinds], times[kinds] = ordered[query, place], 1
                kinds += 1
        pairs = _pairs(
            values[:kinds], times[:kinds], tables, log_pass, log_refuse, two_sided, logs, gains, counts, sizes
        )
        for pair in range(pairs):
            right[pair] = _log_moment(orders[0], logs[pair], gains[pair], counts[pair], sizes[pair])
        out[query, 0] = max(0.0, right[:pairs].max()) / (orders[0] - 1)
        low = 0
        while low < orders.size - 1:
            high = min(low + _ANCHORS, orders.size - 1)
            for pair in range(pairs):
                left[pair] = right[pair]
                right[pair] = _log_moment(orders[high], logs[pair], gains[pair], counts[pair], sizes[pair])
            out[query, high] = max(0.0, right[:pairs].max()) / (orders[high] - 1)
            leader = int(right[:pairs].argmax())
            for place in range(low + 1, high):
                share = (orders[place] - orders[low]) / (orders[high] - orders[low])
                best = _log_moment(orders[place], logs[leader], gains[leader], counts[leader], sizes[leader])
                for pair in range(pairs):
                    if left[pair] + share * (right[pair] - left[pair]) > best and pair != leader:
                        found = _log_moment(orders[place], logs[pair], gains[pair], counts[pair], sizes[pair])
                        if found > best:
                            best, leader = found, pair
                out[query, place] = max(0.0, best) / (orders[place] - 1)
            low = high
