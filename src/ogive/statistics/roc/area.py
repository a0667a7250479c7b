"""What noise does to the curves of two classes and to the area between them: its interval, and its test."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import NamedTuple, Protocol

import numpy as np

from ogive.core.arrays import Float64
from ogive.kernels.ranks import in_order_variance, tie_share
from ogive.noise.laws import draw_public
from ogive.statistics.curve.bands import NoiseMaxima, largest_errors, upper_quantile
from ogive.statistics.significance import Alternative, laplace_sum_reach, laplace_sum_tail, p_value, smallest_p_value
from ogive.strategies import Strategy

# --- Simulated noise of two class curves
#
# Raw class curves have independent noise of the same law. Three kinds of releases differ in what is known:
#
#     known sizes    public labels under REPLACE: each curve is conditioned on the size of its class
#     known sum      private labels under REPLACE: the estimated sizes should add up to n. Half of the excess
#                    r = est_0(N) + est_1(N) - n is taken from each size, T_k = est_k(N) - r / 2, and each curve is
#                    conditioned on its T_k: est_k(i) - (r / 2) Cov(i, N) / Var(N), the best linear use of n
#     nothing known  ADD_OR_REMOVE, or the paper's split budget
#
# Simulations use public, fixed random numbers, apart from every release's own.

KNOWN_SIZES, KNOWN_SUM, NOTHING_KNOWN = "sizes", "sum", "nothing"

SIMULATED_VALUES = 6_000_000
FEWEST_SIMULATIONS, MOST_SIMULATIONS = 399, 1999
_BATCH_VALUES = 1 << 20
_SEED = 0x726F63  # public and fixed


def default_simulations(strategy: Strategy) -> int:
    """1999 up to some 3000 noise nodes a class, fewer beyond, never below 399."""
    nodes = sum(level.nodes for level in strategy.levels)
    return min(MOST_SIMULATIONS, max(FEWEST_SIMULATIONS, SIMULATED_VALUES // nodes))


def pull_of_total(strategy: Strategy) -> Float64:
    """How much each point of a curve moves with a known total, Cov(i, N) / Var(N), shape (N,); the last is 1."""
    nothing = np.zeros(len(strategy.measure(np.zeros(strategy.size, dtype=np.int64))), dtype=np.int64)
    return strategy.estimate(nothing, 1)


def share_excess(raw: Float64, pull: Float64, total: float) -> Float64:
    """Raw curves of both classes, shape (2, ..., N), corrected so that their sizes add up to a known sum."""
    excess = raw[0, ..., -1] + raw[1, ..., -1] - total
    corrected: Float64 = raw - excess[..., None] / 2 * pull
    return corrected


def pairs_at_ends(negatives: Float64, positives: Float64, positive_when: str) -> Float64:
    """Pairs ranked rightly if all ties were ranked wrongly, and if all were ranked rightly; bilinear, shape (2, ...).

    Whatever the scores within the bins are, the pairs that they rank rightly are between the two.
    """
    steps = np.diff(negatives, axis=-1, prepend=0.0)
    before = np.einsum("...i,...i->...", steps[..., 1:], positives[..., :-1])
    upto = np.einsum("...i,...i->...", steps, positives)
    if positive_when == "low":
        return np.stack([before, upto])
    everything = negatives[..., -1] * positives[..., -1]
    return np.stack([everything - upto, everything - before])


@dataclass(frozen=True, eq=False)
class SimulatedNoise:
    """Functionals of the noise of simulated releases, shape (simulations,) unless stated otherwise.

    Fields:
        maxima: Largest errors of the curve of one class, in records; both classes have the same law.
        pairs: Errors of the numbers of pairs in order with ties ranked wrongly and rightly, shape (2, simulations).
        null: Error of the pairs in order, ties one half, less that of half of the products, if both classes had the
            distribution of all records.
        bins: Largest error of the records of both classes in one bin.
        parts: Of `null`, what bounds its tail; None where that is not known.
    """

    maxima: NoiseMaxima
    last: Float64
    pairs: Float64
    products: Float64
    null: Float64
    bins: Float64
    parts: NullParts | None = None


class NullParts(NamedTuple):
    """Deviations of the parts of the error under the null hypothesis, and how many variables the noise has.

    Fields:
        linear, crossed: Of the linear part, and of that which multiplies noise of both classes.
        sizes, tilts: Of the halves of the errors of the class sizes and of what they multiply, of one class: where the
            sizes are made to add up, noise of a class multiplies noise of the same class.
    """

    nodes: int
    linear: float
    crossed: float
    sizes: float = 0.0
    tilts: float = 0.0


def simulate_noise(
    strategy: Strategy, curves: Float64, *, known: str, positive_when: str, simulations: int
) -> SimulatedNoise:
    """Draw the noise of releases around curves of both classes, shape (2, N), for bands and intervals."""
    random = np.random.Generator(np.random.PCG64(_SEED))
    maxima = np.empty((4, simulations))
    last, products, null, bins = np.empty((4, simulations))
    pairs = np.empty((2, simulations))
    nodes = sum(level.nodes for level in strategy.levels)
    batch = max(1, _BATCH_VALUES // nodes)
    pull = pull_of_total(strategy) if known == KNOWN_SUM else None
    true_pairs = pairs_at_ends(curves[0], curves[1], positive_when)[:, None]
    true_product = curves[0, -1] * curves[1, -1]
    alike, squares = _alike(curves), np.zeros(4)

    def excess(negatives: Float64, positives: Float64) -> Float64:
        """Pairs in order, ties one half, less half of the product."""
        pairs = pairs_at_ends(negatives, positives, positive_when).mean(axis=0)
        return np.asarray(pairs - negatives[..., -1] * positives[..., -1] / 2)

    for start in range(0, simulations, batch):
        rows = min(batch, simulations - start)
        here = slice(start, start + rows)
        errors = np.empty((2, rows, strategy.size))
        for k in range(2):
            noise = tuple(draw_public(level.law, (rows, level.nodes), random) for level in strategy.levels)
            errors[k] = strategy.estimate(strategy.spread(noise), 0 if known == KNOWN_SIZES else None)
        within = np.zeros(rows)
        if pull is not None:
            halves = errors[:, :, -1] / 2
            rest = errors - halves[:, :, None] * pull
            tilts = np.stack([excess(rest[0], pull), excess(pull, rest[1])])
            within = (halves * tilts).sum(axis=0)
            squares[2:] += np.max(np.sum(halves**2, axis=1)), np.max(np.sum(tilts**2, axis=1))
            errors = share_excess(errors, pull, 0.0)
        maxima[:, here], last[here] = largest_errors(errors[0]), errors[0, :, -1]
        bins[here] = np.abs(np.diff(errors[0] + errors[1], prepend=0.0, axis=-1)).max(axis=-1)
        same = errors + alike[:, None, :]
        null[here], crossed = excess(same[0], same[1]), excess(errors[0], errors[1])
        squares[:2] += np.sum((null[here] - crossed) ** 2), np.sum((crossed + within) ** 2)
        errors += curves[:, None, :]
        pairs[:, here] = pairs_at_ends(errors[0], errors[1], positive_when) - true_pairs
        products[here] = errors[0, :, -1] * errors[1, :, -1] - true_product
    parts = NullParts(2 * nodes, *np.sqrt(squares / simulations).tolist())
    return SimulatedNoise(NoiseMaxima(*maxima), last, pairs, products, null, bins, parts)


def _alike(curves: Float64) -> Float64:
    """Curves of both classes, of the sizes that they have, if both had the distribution of all records."""
    sizes = curves[:, -1]
    whole = float(sizes.sum())
    return np.outer(sizes, curves.sum(axis=0) / whole) if whole > 0 else curves


# --- The interval of the area
#
# Let P be the number of pairs of a negative and a positive record that the score ranks rightly (ties one
# half), n_0 and n_1 the class sizes, and A = P / (n_0 n_1). Raw curves are unbiased and independent, so P and
# n_0 n_1 have unbiased estimates P^ and Q^, and for the true A
#
#     H(A) = P^ - A Q^
#
# has no other error than the noise: its law is that of (P^ - P) - A (Q^ - n_0 n_1), found by simulating the noise
# around the released curves. The interval holds every A for which H(A) is between two quantiles of that law; no
# quotient of noisy numbers is formed, so small classes widen the interval instead of breaking it. For the population, H
# gains the sampling error of A times n_0 n_1, taken as normal and independent of the noise. Its variance is Hanley and
# McNeil's for the candidate A, which does not vanish where the released curves happen to separate the classes, times
# the ratio of DeLong's to it on the released curves, as far as these have pairs in the wrong order to tell it from.
#
# The area that is held is that of the scores themselves, not of the bins that they were sorted into. Scores in one bin
# look tied, and how they rank within it is not measured: P is at least P_0, with all such pairs ranked wrongly, and at
# most P_1, with all ranked rightly. Both are bilinear in the two curves as well. The lower end is that of an interval
# for P_0 / (n_0 n_1), the upper end that of one for P_1 / (n_0 n_1), so that coarse grids widen the interval by what
# they hide, noise in the number of ties included. Both ends use one critical value c. An area at one of the two ends is
# d = (P_1 - P_0) / sd from the other, where the other end errs less often, so c is such that Phi(c + d) - Phi(-c) is
# the level: each end has half of the error probability where there are no ties, and all of it where there are many.
#
# The released A, with ties one half, is read off smoothed curves; where it is outside, the interval is extended to it.
#
# Source: Fieller 1954 for the inversion; DeLong, DeLong and Clarke-Pearson 1988; Hanley and McNeil 1982; Imbens and
# Manski 2004 for one critical value of both ends.

_CANDIDATES = 201
_WRONG = 10
"""Expected records in a pair of the wrong order at which DeLong's variance and Hanley and McNeil's count alike."""
_HALVINGS = 24
_SAMPLING_SEED = 0x617563  # public and fixed
_ROUNDING = 1e-12


class PairNoise(Protocol):
    """Errors of simulated releases around given curves."""

    @property
    def last(self) -> Float64:
        """Error of the size of a class, shape (simulations,)."""
        ...

    @property
    def pairs(self) -> Float64:
        """Errors of the numbers of pairs in order with ties ranked wrongly and rightly, shape (2, simulations)."""
        ...

    @property
    def products(self) -> Float64:
        """Error of the product of the class sizes, shape (simulations,)."""
        ...


def delong_variance(curves: Float64, positive_when: str, ties: float = 0.5) -> float:
    """DeLong's sampling variance of the area, of cumulative counts of both classes; `ties` is what a tie counts."""
    sizes = np.maximum(curves[:, -1], 1.0)
    steps = np.diff(curves, axis=1, prepend=0.0)
    before = (curves - steps) / sizes[:, None]  # share of a class below a bin
    within = steps / sizes[:, None]
    worst, best = pairs_at_ends(curves[0], curves[1], positive_when)
    area = float((1 - ties) * worst + ties * best) / float(sizes[0] * sizes[1])
    variance = 0.0
    for k in range(2):
        below, tied = before[1 - k], within[1 - k]
        strictly = below if (k == 0) == (positive_when == "low") else 1 - below - tied
        wins = strictly + ties * tied
        spread = float(np.sum(steps[k] / sizes[k] * (wins - area) ** 2))
        variance += spread / max(sizes[k] - 1, 1.0)
    return variance


def hanley_mcneil_variance(area: Float64, negatives: float, positives: float) -> Float64:
    """Sampling variance of an area from class sizes alone, for candidates of any shape.

    Source:
        Hanley and McNeil 1982.
    """
    n0, n1 = max(negatives, 1.0), max(positives, 1.0)
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance: Float64 = (area * (1 - area) + (n1 - 1) * (q1 - area**2) + (n0 - 1) * (q2 - area**2)) / (n0 * n1)
    return np.maximum(variance, 0.0)


def _spread_ratio(curves: Float64, positive_when: str, ties: float) -> float:
    """DeLong's variance over Hanley and McNeil's, drawn towards 1 the fewer records there are in wrong order."""
    sizes = curves[:, -1]
    worst, best = pairs_at_ends(curves[0], curves[1], positive_when)
    area = float((1 - ties) * worst + ties * best) / float(max(sizes[0] * sizes[1], 1.0))
    usual = float(hanley_mcneil_variance(np.array(area), *sizes))
    wrong = 2 * float(sizes.min()) * min(area, 1 - area)
    if usual <= 0 or wrong <= 0:
        return 1.0
    return (wrong * delong_variance(curves, positive_when, ties) / usual + _WRONG) / (wrong + _WRONG)


def _one_side(apart: float, tail: Fraction) -> Fraction:
    """Error probability of each end of an interval for what lies between two numbers that many deviations apart."""
    normal, least, most = NormalDist(), tail / 2, tail
    for _ in range(_HALVINGS):
        middle = (least + most) / 2
        c = -normal.inv_cdf(float(middle))
        least, most = (middle, most) if normal.cdf(-c) + normal.cdf(-c - apart) <= tail else (least, middle)
    return least


def auc_interval(
    released: float,
    raw: Float64,
    curves: Float64,
    noise: PairNoise | None,
    *,
    positive_when: str,
    tail: Fraction,
    target: str,
    simulations: int,
    rows_of_one: int = 1,
) -> tuple[float, float]:
    """Ends between which the true area lies; 0 and 1 where noise may account for a whole class.

    `raw`: Linear estimates of both class curves, shape (2, N). `curves`: Released curves, shape (2, N), that stand in
    for the true ones. `noise`: Simulated around `curves`; None where nothing was added. `positive_when`: "high" or
    "low". `target`: "population" or "sample". `rows_of_one`: Most records of one person; where all are alike, the
    variance by sampling is as many times larger.
    """
    ends = pairs_at_ends(raw[0], raw[1], positive_when)
    product = float(raw[0, -1] * raw[1, -1])
    if noise is None and target == "sample":
        low, high = (ends / product).tolist()
        return max(0.0, low - _ROUNDING), min(1.0, high + _ROUNDING)
    if noise is not None and float(raw[:, -1].min()) <= upper_quantile(np.abs(noise.last), tail):
        return 0.0, 1.0  # a class may well be empty
    pairs = np.zeros((2, simulations)) if noise is None else noise.pairs
    products = np.zeros(simulations) if noise is None else noise.products
    sampling = np.zeros(len(products))
    sizes = curves[:, -1]
    ratios = [1.0, 1.0]
    if target == "population":
        sampling = np.random.Generator(np.random.PCG64(_SAMPLING_SEED)).standard_normal(len(products))
        sampling *= sizes[0] * sizes[1] * math.sqrt(rows_of_one)
        ratios = [_spread_ratio(curves, positive_when, ties) for ties in (0.0, 1.0)]

    def errors(area: float) -> list[Float64]:
        usual = float(hanley_mcneil_variance(np.array(area), *sizes))
        return [pairs[k] - area * products + math.sqrt(ratios[k] * usual) * sampling for k in range(2)]

    tied = max(0.0, float(ends[1] - ends[0] - (pairs[1] - pairs[0]).std()))
    deviation = max(float(each.std()) for each in errors(released))
    part = _one_side(tied / deviation if deviation > 0 else 0.0, tail)

    def accepts(area: float) -> bool:
        worst, best = errors(area)
        value = ends - area * product
        fits = value[0] <= upper_quantile(worst, part) and value[1] >= -upper_quantile(-best, part)
        return bool(fits)

    center = float(ends.mean()) / product if product > 0 else released
    tried = np.unique(np.concatenate((np.linspace(0, 1, _CANDIDATES), np.clip([center, released], 0, 1))))
    good = np.flatnonzero([accepts(area) for area in tried.tolist()])
    if not good.size:
        return 0.0, 1.0
    low, high = float(tried[good[0]]), float(tried[good[-1]])
    if good[0] > 0:
        low = _edge(accepts, float(tried[good[0] - 1]), low)
    if good[-1] < len(tried) - 1:
        high = _edge(accepts, float(tried[good[-1] + 1]), high)
    return min(low, released), max(high, released)


def _edge(accepts: Callable[[float], bool], outside: float, inside: float) -> float:
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2
        if accepts(middle):
            inside = middle
        else:
            outside = middle
    return outside


# --- Mann and Whitney's test, with the noise of the release
#
# With P the pairs in order (ties one half) and n_0, n_1 the class sizes, the statistic is H = P - n_0 n_1 / 2, computed
# from the linear estimates of both curves, so that no noisy number is divided by. Under the null hypothesis both
# classes have one distribution F, and
#
#     H = S + E,
#
# S the sampling error, normal with the variance of `in_order_variance`, and E the noise. E is bilinear in the noise
# of both curves and is simulated around n_0 F and n_1 F, with F read off both released curves together. Where class
# sizes are private the largest that the noise allows are taken, and of every bin no more ties than it is sure to have:
# both make p-values larger (`significance.p_value`).
#
# A p-value that the simulation cannot show is bounded. The linear part of E has at most the moment generating function
# of one Laplace variable of its variance. Given the noise of one class, the part that multiplies noise of both is
# linear too, with a deviation of at most r times its own wherever each of the variables that it multiplies is at most
# r deviations from 0. What multiplies noise of one class is at most the product of two such bounds.


_MISSED = (1e-5, 1e-7, 1e-9, 1e-12)


class RankTest(NamedTuple):
    """What the test finds."""

    area: float
    standard_error: float
    p_value: float
    bound: bool = False


def rank_test(
    linear: Float64,
    noise: SimulatedNoise | None,
    *,
    known: str,
    total: int | None,
    positive_when: str,
    alternative: Alternative,
) -> RankTest:
    """Test that both classes have one distribution of scores.

    `linear` are linear estimates of both cumulative curves, shape (2, N); `noise` is None for exact curves; "greater"
    is for an area above one half.
    """
    pairs = float(pairs_at_ends(linear[0], linear[1], positive_when).mean())
    sizes = linear[:, -1]
    product = float(sizes[0] * sizes[1])
    if min(sizes) <= 0:
        return RankTest(math.nan, math.nan, math.nan)
    largest, records, bounded = _largest_sizes(sizes, noise, known, total)
    counts = np.diff(linear.sum(axis=0), prepend=0.0)
    if noise is not None:
        counts = counts - float(noise.bins.max())
        bounded += 1
    ties = tie_share(counts, records)
    sampling = math.sqrt(in_order_variance(*largest, ties=ties))
    draws = None if noise is None else noise.null * max(largest[0] / sizes[0], largest[1] / sizes[1])
    result = p_value(pairs - product / 2, sampling, draws, alternative, bounded=bounded)
    least = smallest_p_value(draws, bounded)
    if noise is not None and noise.parts is not None and result < 2 * least:
        distance = pairs - product / 2
        known_sizes = sizes, noise, known, total
        result = min(result, 2 * _bounded_tail(distance, known_sizes, noise.parts, alternative))  # one of two is taken
    spread = math.hypot(sampling, 0.0 if draws is None else float(np.sqrt(np.mean(draws**2))))
    return RankTest(pairs / product, spread / product, result, result <= least * (1 + 1e-9))


def _bounded_tail(
    distance: float,
    of_sizes: tuple[Float64, SimulatedNoise, str, int | None],
    parts: NullParts,
    alternative: Alternative,
) -> float:
    """A bound of the p-value by moment generating functions, ties not counted; the least of some bounds."""
    sizes, noise, *_ = of_sizes
    sides = 2 if alternative == "two-sided" else 1
    t = abs(distance) if sides == 2 else distance if alternative == "greater" else -distance
    deviation, best = float(np.sqrt(np.mean(noise.last**2))), 1.0
    for missed in _MISSED:
        few, many = laplace_sum_reach(missed), laplace_sum_reach(missed / parts.nodes)
        largest, _, bounded = _largest_sizes(*of_sizes, reach=few * deviation)
        scale = max(largest[0] / sizes[0], largest[1] / sizes[1]) if bounded else 1.0
        sampling = math.sqrt(in_order_variance(*largest))
        rest = t - scale * 2 * few**2 * parts.sizes * parts.tilts
        spread = scale * (parts.linear + many * parts.crossed)
        best = min(
            best, (bounded + 1 + 4 * bool(parts.sizes)) * missed + sides * laplace_sum_tail(rest, sampling, spread)
        )
    return best


def _largest_sizes(
    sizes: Float64, noise: SimulatedNoise | None, known: str, total: int | None, reach: float | None = None
) -> tuple[tuple[float, float], float, int]:
    """Class sizes of the largest product that the noise allows, all records, and how many sizes that bounds."""
    negatives, positives = (float(each) for each in sizes)
    if noise is None or known == KNOWN_SIZES:
        return (negatives, positives), negatives + positives, 0
    reach = float(np.abs(noise.last).max()) if reach is None else reach
    if known == KNOWN_SUM:
        assert total is not None
        nearest = min(max(total / 2, negatives - reach), negatives + reach)
        nearest = min(max(nearest, 0.0), float(total))
        return (nearest, total - nearest), float(total), 1
    return (negatives + reach, positives + reach), negatives + positives + 2 * reach, 2
