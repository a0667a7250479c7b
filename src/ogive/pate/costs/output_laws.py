"""Which class wins after Gaussian noise, at a histogram and at all its neighbours, compiled.

Histograms are given by their distinct counts in falling order and how many classes have each: classes with one count
have one chance. Points lie on a grid in votes that is aligned with whole votes, so that every factor of an integrand
is a table's entry.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from ogive.core.arrays import Float64, Int64
from ogive.core.compiling import njit
from ogive.pate.costs.threshold import check_tails

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
        """Tables for counts from 0 to a number of teachers, and noise on a grid of this many votes."""
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
    """The integrand of one class around its peak, over its peak."""
    own = tables.middle - values[which] * tables.per_vote
    best, peak = 0, -np.inf
    for step in range(total.size):
        place = own + start + step * tables.stride
        result = total[step] - tables.log_below[place] + tables.log_density[place]
        if result > peak:
            best, peak = step, result
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
    """Ln of the chance of winning of a class with each distinct count."""
    start, total = _totals(values, times, tables)
    scratch = np.empty(2 * (tables.half // tables.stride) + 3)
    result = np.empty(values.size)
    for which in range(values.size):
        _, size, peak = _integrand(values, times, tables, total, start, which, scratch)
        result[which] = peak + tables.log_step + np.log(scratch[:size].sum())
    if times[0] == 1:
        result[0] = _complement(result, times)
    return result


@njit(error_model="numpy")
def _gather(table: Float64, tables: Tables, value: int, first: int, size: int, out: Float64) -> None:
    own = tables.middle - value * tables.per_vote + first
    for step in range(size):
        out[step] = table[own + step * tables.stride]


@njit(error_model="numpy")
def neighbours(values: Int64, times: Int64, tables: Tables, plain: Float64, giver: Float64, taker: Float64) -> Float64:
    """Fill ln of the chances at every neighbour, where a class of count a gives a vote to one of count c."""
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


# --- How far the chances under integer noise may be from those under continuous noise of the same scale
#
# Noise is discrete Gaussian on a grid of `unit` votes, and the first of equal counts wins. Then the chance that class i
# wins lies between its continuous chances at one unit less and one unit more of its own votes. The log of a continuous
# chance is concave in the votes, so that its slope, and with it what a unit changes, is at most what a whole vote
# changes; and the slope changes by at most 1 / sigma^2 from one vote to the next.
#
# Source: docs/proofs/pate_costs.md, Section 8.


def tails_of_check(highest: ArrayLike, threshold: float, sigma_1: float, *, unit: float) -> Float64:
    """A check's ln Pr[pass], ln Pr[refuse], and how far integer noise may move each; shape (4, counts).

    Args:
        highest: Whole counts.
        threshold: Votes that the count must reach with noise.
        sigma_1: Of the check's noise, in votes; at least 1000 units.
        unit: Grid of the noise in votes; 0 for continuous noise.
    """
    reached = unit * math.ceil(threshold / unit) - unit / 2 if unit else threshold
    log_pass, log_refuse = check_tails(highest, reached, sigma_1)
    distance = (np.asarray(highest, dtype=np.float64) - reached) / sigma_1
    bound = (distance**2 + 3) * (unit / sigma_1) ** 2 / 11
    # the likelier tail is the complement of the other
    likelier = np.exp(-np.abs(log_pass - log_refuse))
    passes, refuses = (np.where(log > math.log(0.5), bound * likelier, bound) for log in (log_pass, log_refuse))
    return np.stack([log_pass, log_refuse, passes, refuses])


@njit(error_model="numpy")
def lifts_of_classes(here: Float64, giver: Float64, tables: Tables) -> Float64:
    """How far ln of a class's chance may be off, at the votes and at every neighbour; by distinct counts."""
    result = np.empty(here.size)
    for which in range(here.size):
        slope = max(here[which] - giver[which].max(), 0.0)
        result[which] = tables.unit * (slope + tables.bend)
    return result


@njit(error_model="numpy")
def lift_of_complement(logs: Float64, others: Float64, counts: Float64, lifts: Float64, lead: int, size: int) -> float:
    """The same of the first class, whose chance is what the others leave, at the votes and at one neighbour."""
    moved_here, moved_there = 0.0, 0.0
    for outcome in range(size):
        if outcome != lead:
            moved = counts[outcome] * np.expm1(lifts[outcome])
            moved_here += moved * np.exp(logs[outcome])
            moved_there += moved * np.exp(others[outcome])
    share = max(moved_here * np.exp(-logs[lead]), moved_there * np.exp(-others[lead]))
    lift = float(lifts[lead])
    return min(lift, -math.log1p(-share)) if share < 1 else lift
