"""The exact Renyi cost of a step with Gaussian noise: the output laws at the votes and at every neighbour of them.

For continuous noise; for the integers that are deployed an upper bound that is hardly above, from the same integrals.

Class i wins with chance

    p_i(n) = integral of phi((x - n_i) / sigma) prod_{j != i} Phi((x - n_j) / sigma) dx / sigma,

and a neighbour n - e_a + e_c changes two factors of the integrand. So with E_i the integrand at n, and the ratios of
factors shifted by one vote as weights, the chances at all m (m - 1) neighbours are sums of products on one grid,
which follows the mass of each class wherever it lies (a losing class's is half a gap from its own count). The sums
are spectrally accurate: with a step of a tenth of sigma their relative error is about e^(-200 pi^2 / m).

With a check the step has classes + 1 outcomes: no answer, or the check passed and a class. Chances and costs keep
their relative precision: the first class's chance is the complement of the others, and a sum near 1 is added up as
what it gains.

Source:
    Specification of the law: Papernot et al. 2018, Section 4.1; the cost and its precision: docs/proofs/pate_costs.md.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from ogive.core.arrays import Float64, Int64
from ogive.core.checks import array_of
from ogive.core.compiling import njit
from ogive.errors import UnsupportedError
from ogive.pate.costs.answers import check_orders, check_scale
from ogive.pate.costs.threshold import check_tails

# --- The largest Renyi divergence over all neighbours of a histogram, compiled
#
# Every pair of laws is a list of outcomes: ln p, the gain ln p - ln q, and how far integer noise may move each. With
# both laws adding up to 1, the moment of a pair is
#
#     sum p (p / q)^(order - 1) = 1 + sum p f(gain),   f(g) = e^((order - 1) g) - 1 - (order - 1) (1 - e^-g) >= 0,
#
# and f falls below 0 and grows above. So where p and gains are known up to intervals, the largest p and the ends of the
# gain's interval bound it, and since f is flat at 0 the bound is tight relative to the cost itself.
#
# Source: docs/proofs/pate_costs.md, Section 8.

_ANCHORS = 16


@njit(error_model="numpy")
def log_moment(order: float, logs: Float64, masses: Float64, gains: Float64, drift: float, size: int) -> float:
    """Ln of 1 + sum p f(gain), precise where it is near 0."""
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
    result = 0
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
                    logs[result, size], gains[result, size], counts[size] = here[u], plain[a, c, u], left
                    lifts[size] = of_class[u]
                    size += 1
            for u, there in ((a, giver[a, c]), (c, taker[a, c])):
                if lead < 0 and u == 0:
                    lead = size
                logs[result, size], gains[result, size], counts[size] = here[u], there, 1
                lifts[size] = of_class[u]
                size += 1
            others = 0.0
            for outcome in range(size):
                others += (counts[outcome] - (outcome == lead)) * np.exp(gains[result, outcome])
            if counts[lead] == 1:
                gains[result, lead] = np.log1p(-min(others, 1.0))
            if times[0] == 1 and tables.unit > 0:
                lifts[lead] = lift_of_complement(logs[result], gains[result], counts, lifts, lead, size)
            for outcome in range(size):
                gains[result, outcome] = logs[result, outcome] - gains[result, outcome]
                gains[result, outcome] += tails[0, before] - tails[0, after]
                logs[result, outcome] += tails[0, before] + math.log(counts[outcome])
                lifts[outcome] += max(tails[2, before], tails[2, after])
            if checked:
                logs[result, size], gains[result, size] = tails[1, before], tails[1, before] - tails[1, after]
                lifts[size] = max(tails[3, before], tails[3, after])
                size += 1
            ways = 2 if two_sided else 1
            if two_sided:
                for outcome in range(size):
                    logs[result + 1, outcome] = logs[result, outcome] - gains[result, outcome]
                    gains[result + 1, outcome] = -gains[result, outcome]
            for pair in range(result, result + ways):
                sizes[pair] = widen(logs[pair], gains[pair], lifts, size) if tables.unit > 0 else size
                drifts[pair] = weigh(logs[pair], gains[pair], masses[pair], sizes[pair])
            result += ways
    return result


@njit(error_model="numpy")
def most_divergent(
    ordered: Int64, tables: Tables, tails: Float64, orders: Float64, two_sided: bool, out: Float64
) -> None:
    """Fill the largest divergence over neighbours, for every histogram and order, into `out`, shape (queries, orders).

    The log moment is convex in the order, so its chord between two orders bounds it in between, and so does the chord
    of a bound: pairs whose chord stays below what another pair reaches are passed over. `ordered` are counts in falling
    order. `tails` are those of the check at the highest counts -1, 0, ..., shape (4, counts), as of `tails_of_check`;
    without a check 0, -inf, 0 and 0.
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
                        result = log_moment(order, logs[pair], masses[pair], gains[pair], drifts[pair], sizes[pair])
                        if result > best:
                            best, leader = result, pair
                out[query, place] = max(0.0, best) / (order - 1)
            low = high


# --- The cost of steps

MOST_CLASSES = 60
"""Most classes whose neighbours are all visited; the work grows with the cube of the classes."""

LEAST_SIGMA = 0.25
"""Least noise: below it one vote moves the law by more than floating point can hold."""

_LARGEST_RATIO = 600.0


class Check(NamedTuple):
    """A threshold check before an answer: votes that the highest count must reach with noise of sigma_1."""

    threshold: float
    sigma_1: float


def is_feasible(teachers: int, classes: int, sigma: float) -> bool:
    """Whether exact costs can be computed; depends on public numbers only."""
    far = (teachers + SIDE * sigma) / sigma**2
    return classes <= MOST_CLASSES and sigma >= LEAST_SIGMA and far <= _LARGEST_RATIO


def rdp_exact(
    votes: ArrayLike,
    sigma: float,
    orders: ArrayLike,
    *,
    check: Check | None = None,
    two_sided: bool = False,
    unit: float = 0.0,
) -> Float64:
    """Largest Renyi divergence from the output law at the votes to that at a neighbour.

    Exact for continuous noise. For discrete Gaussian noise on a grid, the first of equal counts winning, it is an
    upper bound, above the exact cost by some units of a vote, relatively: about 0.0001 at 2^-16 and sigma 40.

    `votes`: Whole counts, shape (queries, classes), each row with the same sum. `orders`: Increasing orders above 1.
    `unit`: Grid of the noise in votes, 2^-16 as deployed; 0 for continuous noise.

    Privacy:
        From the data set held to every neighbour (and back). The costs depend on private votes, and no smooth bound
        on their sensitivity is known: they must not be published.
    """
    counts = array_of(votes, np.int64)
    grid = check_orders(orders)
    tables = _tables(counts, sigma, unit)
    ordered, places = np.unique(-np.sort(-counts, axis=1), axis=0, return_inverse=True)
    result = np.zeros((ordered.shape[0], grid.size))
    if ordered.size:
        heights = np.arange(-1, int(ordered.max()) + 2)
        if check is None:
            tails = np.repeat([[0], [-np.inf], [0], [0]], heights.size, axis=1)
        else:
            tails = tails_of_check(heights, check.threshold, check.sigma_1, unit=unit)
        most_divergent(ordered, tables, tails, grid, two_sided, result)
    return result[places.reshape(-1)]


def _tables(counts: Int64, sigma: float, unit: float) -> Tables:
    check_scale(sigma, "sigma")
    classes = counts.shape[1]
    teachers = int(counts[0].sum()) if counts.shape[0] else 0
    if classes > MOST_CLASSES:
        raise UnsupportedError(f"exact costs are for at most {MOST_CLASSES} classes, got {classes}; use mode joint")
    if not is_feasible(teachers, classes, sigma):
        # the root of teachers + SIDE sigma = `_LARGEST_RATIO` sigma^2
        root = (SIDE + math.sqrt(SIDE**2 + 4 * _LARGEST_RATIO * teachers)) / (2 * _LARGEST_RATIO)
        least = max(LEAST_SIGMA, root)
        raise UnsupportedError(
            f"exact costs of {teachers} teachers need sigma of at least {least:.3g}, got {sigma:g}; use mode joint"
        )
    return Tables.make(teachers, sigma, float(unit))


# --- Which class wins after Gaussian noise, at a histogram and at all its neighbours, compiled
#
# Histograms are given by their distinct counts in falling order and how many classes have each: classes with one count
# have one chance. Points lie on a grid in votes that is aligned with whole votes, so that every factor of an integrand
# is a table's entry.

SIDE = 13.0
"""Standard deviations from a count beyond which its noise is left out, e^-84 of the mass."""

_STEP = 0.1


class Tables(NamedTuple):
    """Factors of integrands at every place of a fine grid, index `middle` being a class's own count.

    Fields:
        middle: Index of 0.
        half: Half the width of the window that holds a class's mass at the votes and at every neighbour, in places.
        log_density: -z^2 / 2.
        fewer: Phi(z + 1/sigma) / Phi(z), the factor of a class that loses a vote.
        more: Phi(z - 1/sigma) / Phi(z), of a class that gets one.
        density_fewer: phi(z + 1/sigma) / phi(z).
        density_more: phi(z - 1/sigma) / phi(z).
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
    """A check's ln Pr[pass], ln Pr[refuse], and how far integer noise may move each, shape (4, counts)."""
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
