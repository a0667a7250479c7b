"""The largest Renyi divergence over all neighbours of a histogram, compiled.

Every pair of laws is a list of outcomes: ln p, the gain ln p - ln q, and how far integer noise may move each. With
both laws adding up to 1, the moment of a pair is

    sum p (p / q)^(order - 1) = 1 + sum p f(gain),   f(g) = e^((order - 1) g) - 1 - (order - 1) (1 - e^-g) >= 0,

and f falls below 0 and grows above. So where p and gains are known up to intervals, the largest p and the ends of the
gain's interval bound it, and since f is flat at 0 the bound is tight relative to the cost itself.

Source: docs/proofs/pate_costs.md, Section 8.
"""

from __future__ import annotations

import math

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.compiling import njit
from ogive.pate.costs.integer_noise import lift_of_complement, lifts_of_classes
from ogive.pate.costs.output_laws import Tables, neighbours

_ANCHORS = 16


@njit(error_model="numpy")
def log_moment(order: float, logs: Float64, masses: Float64, gains: Float64, drift: float, size: int) -> float:
    """Ln of 1 + sum p f(gain), precise where it is near 0.

    Args:
        order: Of the divergence.
        logs: ln p.
        masses: p.
        gains: ln p - ln q.
        drift: Sum of q - p, 0 but for integer noise.
        size: How many outcomes there are.
    """
    total = (order - 1) * drift
    for outcome in range(size):
        power = (order - 1) * gains[outcome]
        total += masses[outcome] * np.expm1(power) if power < 40 else np.exp(logs[outcome] + power)
    if total < 1e300:
        return math.log1p(total)
    peak = -np.inf
    for outcome in range(size):
        peak = max(peak, logs[outcome] + (order - 1) * gains[outcome])
    total = 0.0
    for outcome in range(size):
        total += np.exp(logs[outcome] + (order - 1) * gains[outcome] - peak)
    return peak + math.log(total)


@njit(error_model="numpy")
def widen(logs: Float64, gains: Float64, lifts: Float64, size: int) -> int:
    """Take every p at its largest and every gain at the end of its interval; at both ends where 0 lies between."""
    listed = size
    for outcome in range(size):
        width = 2 * lifts[outcome]
        logs[outcome] += lifts[outcome]
        if width > abs(gains[outcome]):
            logs[listed], gains[listed] = logs[outcome], gains[outcome] - width
            listed += 1
            gains[outcome] += width
        elif gains[outcome] > 0:
            gains[outcome] += width
        else:
            gains[outcome] -= width
    return listed


@njit(error_model="numpy")
def weigh(logs: Float64, gains: Float64, masses: Float64, size: int) -> float:
    """Fill p, and return the sum of q - p."""
    drift = 0.0
    for outcome in range(size):
        masses[outcome] = np.exp(logs[outcome])
        if abs(gains[outcome]) < 1:
            drift += masses[outcome] * np.expm1(-gains[outcome])
        else:
            drift += np.exp(logs[outcome] - gains[outcome]) - masses[outcome]
    return drift


@njit(error_model="numpy")
def _pairs(
    values: Int64,
    times: Int64,
    tables: Tables,
    tails: Float64,
    two_sided: bool,
    logs: Float64,
    gains: Float64,
    masses: Float64,
    drifts: Float64,
    sizes: Int64,
) -> int:
    """List the outcomes of every pair of laws, alike ones as one; count the pairs."""
    kinds = values.size
    plain = np.empty((kinds, kinds, kinds))
    giver, taker = np.empty((kinds, kinds)), np.empty((kinds, kinds))
    here = neighbours(values, times, tables, plain, giver, taker)
    of_class = lifts_of_classes(here, giver, tables)
    lifts, counts = np.empty(logs.shape[1]), np.empty(logs.shape[1])
    before = values[0] + 1
    checked = tails[1, before] > -np.inf
    found = 0
    for a in range(kinds):
        for c in range(kinds):
            if values[a] == 0 or (a == c and times[a] < 2):
                continue
            height = values[c] + 1
            for u in range(kinds):
                if times[u] - (u == a) > 0:
                    height = max(height, values[u])
            after = max(height, values[a] - 1) + 1
            # every class that keeps its votes, then the giver, then the taker; the first class is the complement
            size, lead = 0, -1
            for u in range(kinds):
                left = times[u] - (u == a) - (u == c)
                if left > 0:
                    if lead < 0 and u == 0:
                        lead = size
                    logs[found, size], gains[found, size], counts[size] = here[u], plain[a, c, u], left
                    lifts[size] = of_class[u]
                    size += 1
            for u, there in ((a, giver[a, c]), (c, taker[a, c])):
                if lead < 0 and u == 0:
                    lead = size
                logs[found, size], gains[found, size], counts[size] = here[u], there, 1
                lifts[size] = of_class[u]
                size += 1
            others = 0.0
            for outcome in range(size):
                others += (counts[outcome] - (outcome == lead)) * np.exp(gains[found, outcome])
            if counts[lead] == 1:
                gains[found, lead] = np.log1p(-min(others, 1.0))
            if times[0] == 1 and tables.unit > 0:
                lifts[lead] = lift_of_complement(logs[found], gains[found], counts, lifts, lead, size)
            for outcome in range(size):
                gains[found, outcome] = logs[found, outcome] - gains[found, outcome]
                gains[found, outcome] += tails[0, before] - tails[0, after]
                logs[found, outcome] += tails[0, before] + math.log(counts[outcome])
                lifts[outcome] += max(tails[2, before], tails[2, after])
            if checked:
                logs[found, size], gains[found, size] = tails[1, before], tails[1, before] - tails[1, after]
                lifts[size] = max(tails[3, before], tails[3, after])
                size += 1
            ways = 2 if two_sided else 1
            if two_sided:
                for outcome in range(size):
                    logs[found + 1, outcome] = logs[found, outcome] - gains[found, outcome]
                    gains[found + 1, outcome] = -gains[found, outcome]
            for pair in range(found, found + ways):
                sizes[pair] = widen(logs[pair], gains[pair], lifts, size) if tables.unit > 0 else size
                drifts[pair] = weigh(logs[pair], gains[pair], masses[pair], sizes[pair])
            found += ways
    return found


@njit(error_model="numpy")
def most_divergent(
    ordered: Int64, tables: Tables, tails: Float64, orders: Float64, two_sided: bool, out: Float64
) -> None:
    """Fill the largest divergence over neighbours, for every histogram and order.

    The log moment is convex in the order, so its chord between two orders bounds it in between, and so does the chord
    of a bound: pairs whose chord stays below what another pair reaches are passed over.

    Args:
        ordered: Counts in falling order, shape (queries, classes).
        tables: Of the noise of an answer.
        tails: Of the check at the highest counts -1, 0, ..., shape (4, counts): ln of the chance to pass, of not
            passing, and how far integer noise may move each. Without a check 0, -inf, 0 and 0.
        orders: Increasing.
        two_sided: Whether both directions count.
        out: Shape (queries, orders).
    """
    queries, classes = ordered.shape
    most = 2 * classes * classes
    width = 2 * (classes + 3)
    logs, gains, masses = np.empty((most, width)), np.empty((most, width)), np.empty((most, width))
    drifts, sizes = np.empty(most), np.empty(most, np.int64)
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
        pairs = _pairs(values[:kinds], times[:kinds], tables, tails, two_sided, logs, gains, masses, drifts, sizes)
        for pair in range(pairs):
            right[pair] = log_moment(orders[0], logs[pair], masses[pair], gains[pair], drifts[pair], sizes[pair])
        out[query, 0] = max(0.0, right[:pairs].max()) / (orders[0] - 1)
        low = 0
        while low < orders.size - 1:
            high = min(low + _ANCHORS, orders.size - 1)
            for pair in range(pairs):
                left[pair] = right[pair]
                right[pair] = log_moment(orders[high], logs[pair], masses[pair], gains[pair], drifts[pair], sizes[pair])
            out[query, high] = max(0.0, right[:pairs].max()) / (orders[high] - 1)
            leader = int(right[:pairs].argmax())
            for place in range(low + 1, high):
                order = orders[place]
                share = (order - orders[low]) / (orders[high] - orders[low])
                best = log_moment(order, logs[leader], masses[leader], gains[leader], drifts[leader], sizes[leader])
                for pair in range(pairs):
                    if left[pair] + share * (right[pair] - left[pair]) > best and pair != leader:
                        found = log_moment(order, logs[pair], masses[pair], gains[pair], drifts[pair], sizes[pair])
                        if found > best:
                            best, leader = found, pair
                out[query, place] = max(0.0, best) / (order - 1)
            low = high
