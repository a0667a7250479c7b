"""Which class wins after Gaussian noise, at a histogram and at all its neighbours, compiled.

Histograms are given by their distinct counts in falling order and how many classes have each: classes with one count
have one chance. Points lie on a grid in votes that is aligned with whole votes, so that every factor of an integrand
is a table's entry.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from ogive.arrays import Float64, Int64
from ogive.compiling import njit

SIDE = 13.0
"""Standard deviations from a count beyond which its noise is left out, e^-84 of the mass."""

_STEP = 0.1


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
        unit: Grid of the noise in votes, 0 for continuous noise.
        bend: Largest change of the slope of a ln chance, per vote, between the votes and a neighbour.
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
    unit: float
    bend: float

    @staticmethod
    def make(teachers: int, sigma: float, unit: float) -> Tables:
        """Tables for counts from 0 to a number of teachers, and noise on a grid of so many votes."""
        per_vote = max(1, math.ceil(1 / (_STEP * sigma)))
        place = 1 / (per_vote * sigma)
        stride = max(1, math.floor(_STEP / place))
        half = math.ceil((9 + 2 / sigma) / place) + stride
        middle = (teachers + 2) * per_vote + math.ceil(SIDE / place) + half + 2 * stride
        z = np.arange(-middle, middle + 1) * place
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
                math.log(stride * place) - math.log(2 * math.pi) / 2,
                unit,
                1.5 / sigma**2,
            )


@njit(error_model="numpy", fastmath={"reassoc", "contract"})
def _dot(one: Float64, other: Float64, size: int) -> float:
    total = 0.0
    for place in range(size):
        total += one[place] * other[place]
    return total


@njit(error_model="numpy")
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


@njit(error_model="numpy")
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


@njit(error_model="numpy")
def _complement(logs: Float64, times: Int64) -> float:
    """Ln of the first class's chance: what the others leave."""
    others = 0.0
    for which in range(logs.size):
        others += (times[which] - (which == 0)) * np.exp(logs[which])
    return math.log1p(-min(others, 1.0))


@njit(error_model="numpy")
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


@njit(error_model="numpy")
def _gather(table: Float64, tables: Tables, value: int, first: int, size: int, out: Float64) -> None:
    own = tables.middle - value * tables.per_vote + first
    for step in range(size):
        out[step] = table[own + step * tables.stride]


@njit(error_model="numpy")
def neighbours(values: Int64, times: Int64, tables: Tables, plain: Float64, giver: Float64, taker: Float64) -> Float64:
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
