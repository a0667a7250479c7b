"""The band of a curve: around an unbiased estimate, or of what an approximating strategy has measured."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator
from fractions import Fraction
from typing import cast

import numpy as np

from ogive.columns.grids import Grid
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import Progress, among, whole
from ogive.errors import ParameterError, UnsupportedError
from ogive.noise.laws import draw_public
from ogive.statistics.confidence import TARGETS, check_level, simulations_needed
from ogive.statistics.curve.bands.approximating import common_ends, moved_out
from ogive.statistics.curve.bands.simultaneous import (
    APPROXIMATION,
    MOST_SIMULATIONS,
    Band,
    band_ends,
    one_sided_distances,
    simulate_maxima,
    simulations_for,
    tidy,
    upper_quantile,
)
from ogive.strategies import Approximating, Strategy
from ogive.strategies.base import approximates
from ogive.strategies.composed import SHARE_ROUNDING

# --- A band for the population that is narrow in the tails
#
# The sampling error of a curve at a threshold where it is u has variance u (1 - u) / n, little in the tails. A band of
# one width does not use that; and it adds the largest noise to the largest sampling error, which seldom meet. Both
# depend on the true curve F, so this band is made in two steps:
#
# 1. A band of one width holds F with error probability b = a / 10. It says between which L_i and U_i each F_i lies.
# 2. For any F between those, the errors of both kinds are simulated together. With A the error of the distribution
#    function of n uniform numbers, e the noise in records, s_i(u)^2 = var(e_i) / n^2 + (u (1 - u) + d) / n and d
#    public,
#
#        z = quantile of max over i of (e_i / n + max of A over [L_i, U_i]) / min of s_i over [L_i, U_i]
#
#    is at least the same quantile of (e_i / n + A(F_i)) / s_i(F_i). Those u of [L_i, U_i] remain for which the estimate
#    is at most z s_i(u) above u, and, with the z of the errors of the other sign, at most that below u.
#
# The two steps together are wrong with probability a at most, for every F and n. Proof: `docs/proofs/narrowing.md`.
#
# Source:
#     Berger and Boos 1994 for maximizing over a confidence set.

FIRST = Fraction(1, 10)
"""Part of the error probability that the first band takes."""

FLOOR = 4.0
LEAST_FLOOR = 0.02
"""d is this multiple of the half-width of the first band, or this number if that is more: less makes tails narrower and
the middle wider."""

_CELLS = 1 << 13
_ROUNDING = 2.0**-23
"""More than what errors are off by that are kept with 24 digits."""
SIMULATIONS = 1999
MOST_RUNS = 150_000
"""Simulations by default at the highest level, two minutes of a processor for 10,000 records and 1024 thresholds."""
_EXCEED = 20
_SEED = 0x6E6172726F77  # public and fixed
_BATCH_VALUES = 1 << 22
_ONE_BY_ONE = 1 << 16
"""Records up to which it is faster to draw the cell of each."""
_KEPT = 2
_Float32 = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


def narrowing_ends(
    raw: Float64,
    *,
    strategy: Strategy | None,
    n: int,
    tail: Fraction,
    simulations: int | None = None,
    progress: Progress | None = None,
) -> tuple[Float64, Float64]:
    """Ends of the band, shape (N,) each.

    Args:
        raw: Unbiased estimate of the cumulative counts, shape (N,).
        strategy: What was measured; None where there is no noise.
        n: Number of records, public.
        tail: Error probability.
        simulations: Number of simulated releases; by default 1999, more for high confidence.
        progress: Called with simulations done and to do.
    """
    if n == 0:
        return np.zeros(len(raw)), np.ones(len(raw))
    runs = _runs(tail) if simulations is None else simulations
    width = _first_width(strategy, n, tail)
    low, high = tidy(raw / n, width)
    low[-1] = high[-1] = 1.0
    floor = max(FLOOR * width, LEAST_FLOOR)
    ends = tuple(np.clip(each, 0.0, 1.0) for each in (low, high))
    least = np.minimum(*(each * (1 - each) for each in ends))
    noise = np.zeros(len(raw)) if strategy is None else strategy.variance(total_known=True) / n**2
    above, below = _largest(strategy, n, ends, np.sqrt(noise + (least + floor) / n), runs, progress)
    part = tail * (1 - FIRST) / 2
    narrow = _solved(raw / n, noise + floor / n, n, upper_quantile(above, part), upper_quantile(below, part))
    return _both(ends, narrow)


def _first_width(strategy: Strategy | None, n: int, tail: Fraction) -> float:
    """Half-width of the first band, a public number; `tail` is the error probability of the whole."""
    share = FIRST / 2
    if strategy is None:
        runs = simulations_needed(1 - tail, share=share, nodes=1, usual=MOST_SIMULATIONS)
        return upper_quantile(one_sided_distances(n, runs), tail * share)
    runs = simulations_for(strategy, 1 - tail, share=share)
    maxima = simulate_maxima(strategy, total_known=True, simulations=runs)
    return upper_quantile(maxima.above / n + one_sided_distances(n, runs), tail * share)


def _runs(tail: Fraction) -> int:
    """How many simulations: enough that 20 exceed the wanted quantile."""
    needed = 2 * _EXCEED / (1 - FIRST)
    if int(needed / tail) >= MOST_RUNS:
        most = math.floor((1 - needed / MOST_RUNS) * 10_000) / 10_000
        raise ParameterError(
            f"`confidence_level` of a narrowing band must be at most {most:g}, beyond which it takes several minutes, "
            f"got {float(1 - tail):g}; use `width='even'`"
        )
    return max(SIMULATIONS, int(needed / tail) + 1)


def _largest(
    strategy: Strategy | None,
    n: int,
    ends: tuple[Float64, ...],
    scale: Float64,
    runs: int,
    progress: Progress | None,
) -> tuple[Float64, Float64]:
    """The largest errors of each simulation in units of `scale`, of either sign, shape (runs,) each."""
    random = np.random.Generator(np.random.PCG64(_SEED))
    first = np.minimum(np.floor(ends[0] * _CELLS).astype(np.int64), _CELLS - 1)
    last = np.maximum(np.ceil(ends[1] * _CELLS).astype(np.int64) - 1, first)
    above, below = np.empty(runs), np.empty(runs)
    step = max(1, _BATCH_VALUES // (2 * _CELLS + len(scale)))
    sampled = _sampling_errors(n, runs, step)
    # thresholds with the same cells have the same largest errors
    ranges, which = np.unique(np.stack([first, last]), axis=1, return_inverse=True)
    for start, drawn_errors in zip(range(0, runs, step), sampled, strict=True):
        rows = slice(start, start + len(drawn_errors))
        errors = drawn_errors.astype(np.float64)
        noise = np.zeros((len(errors), len(scale)))
        if strategy is not None:
            drawn = tuple(draw_public(level.law, (len(errors), level.nodes), random) for level in strategy.levels)
            noise = strategy.estimate(strategy.spread(drawn), 0) / n
        over, under = (_range_maxima(each, *ranges) + _ROUNDING for each in _within_cells(errors, n, random))
        above[rows] = ((noise + over[:, which.ravel()]) / scale).max(axis=1)
        below[rows] = ((-noise + under[:, which.ravel()]) / scale).max(axis=1)
        if progress is not None:
            progress(rows.stop, runs)
    return np.maximum(above, 0), np.maximum(below, 0)


_kept: OrderedDict[tuple[int, int], _Float32] = OrderedDict()


def _sampling_errors(n: int, runs: int, step: int) -> Iterator[_Float32]:
    """F_n(u) - u of n uniform numbers at the ends of all cells, in batches of shape (step, cells + 1) or fewer.

    Those of as many runs as are usual are kept for the numbers of records used last; more are drawn batch by batch.
    """
    random = np.random.Generator(np.random.PCG64(_SEED + 1))
    if runs > SIMULATIONS:
        yield from (_drawn_errors(n, min(step, runs - start), random) for start in range(0, runs, step))
        return
    key = (n, runs)
    if key not in _kept:
        _kept[key] = _drawn_errors(n, runs, random)
    _kept.move_to_end(key)
    while len(_kept) > _KEPT:
        _kept.popitem(last=False)
    whole = _kept[key]
    yield from (whole[start : start + step] for start in range(0, runs, step))


def _drawn_errors(n: int, runs: int, random: np.random.Generator) -> _Float32:
    result = np.zeros((runs, _CELLS + 1), dtype=np.float32)
    uniform, even = np.arange(1, _CELLS + 1) / _CELLS, np.full(_CELLS, 1 / _CELLS)
    for row in result:
        if n <= _ONE_BY_ONE:
            cells = random.integers(0, _CELLS, n, dtype=np.uint16)
            counts = np.bincount(cells, minlength=_CELLS)
        else:
            counts = random.multinomial(n, even)
        row[1:] = np.cumsum(counts) / n - uniform
    return result


def _within_cells(errors: Float64, n: int, random: np.random.Generator) -> tuple[Float64, Float64]:
    """At least the largest F_n(u) - u of each cell, and the largest u - F_n(u), from those at its ends.

    The curve of a sample rises, so it strays by the length of a cell more at most. Where a cell has c records it also
    strays from the line between its ends by at most c / n times the largest error of the distribution function of c
    uniform numbers, which exceeds x with probability exp(-2 c x^2) at most, where that is 1/2 or less (Massart 1990).

    Args:
        errors: F_n(u) - u at the ends of the cells, shape (runs, cells + 1).
        n: Number of records.
        random: Draws how far the records of a cell stray.

    Returns:
        Bounds, shape (runs, cells) each.
    """
    before, after = errors[:, :-1], errors[:, 1:]
    counts = (after - before + 1 / _CELLS + _ROUNDING) * n
    strays = np.sqrt(counts / 2 * np.maximum(random.exponential(size=counts.shape), math.log(2))) / n
    over = np.minimum(np.maximum(before, after) + strays, after + 1 / _CELLS)
    under = np.minimum(np.maximum(-before, -after) + strays, -before + 1 / _CELLS)
    return over, under


def _range_maxima(values: Float64, first: Int64, last: Int64) -> Float64:
    """The largest of each row's values from `first` to `last`, both included, shape (rows, ranges)."""
    powers = np.floor(np.log2(last - first + 1)).astype(np.int64)
    result = np.empty((len(values), len(first)))
    table = values
    for power in range(int(powers.max()) + 1):
        here = powers == power
        result[:, here] = np.maximum(table[:, first[here]], table[:, last[here] + 1 - (1 << power)])
        if table.shape[1] > 1 << power:
            table = np.maximum(table[:, : -(1 << power)], table[:, 1 << power :])
    return result


def _solved(shares: Float64, flat: Float64, n: int, above: float, below: float) -> tuple[Float64, Float64]:
    """The least u with shares - u <= above s(u) and the largest with u - shares <= below s(u), or numbers further out.

    s(u) is sqrt(flat + u (1 - u) / n). Where no u is allowed, the end is infinite, so that the ends cross.
    """
    ends = []
    sides = ((above, -1.0, np.minimum, shares > 1), (below, 1.0, np.maximum, shares < 0))
    for z, sign, outermost, none_trivial in sides:
        # (u - r)^2 <= z^2 (flat + (u - u^2) / n), a quadratic in u
        weight = z * z / n
        square, linear, constant = 1 + weight, 2 * shares + weight, shares**2 - z * z * flat
        root = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0))
        # every u is allowed on the other side of the estimate, whatever the quadratic says
        end = outermost((linear + sign * root) / (2 * square), shares)
        none = none_trivial & (linear**2 < 4 * square * constant)
        ends.append(np.where(none, -sign * np.inf, end))
    return ends[0], ends[1]


def _both(wide: tuple[Float64, ...], narrow: tuple[Float64, Float64]) -> tuple[Float64, Float64]:
    """What is in both bands, made monotone; the wide band where nothing is."""
    low = np.maximum.accumulate(np.maximum(wide[0], narrow[0]))
    high = np.minimum.accumulate(np.minimum(wide[1], narrow[1])[::-1])[::-1]
    if np.any(low > high):
        low, high = wide[0].copy(), wide[1].copy()
    low[-1] = high[-1] = 1.0
    return low, high


# --- The band of any curve

EVEN, NARROWING = "even", "narrowing"
WIDTHS = (EVEN, NARROWING)
"""How wide a band is: as wide everywhere, or narrower in the tails."""


def simultaneous_band(
    grid: Grid,
    raw: Float64,
    *,
    strategy: Strategy | None,
    total: int | None,
    confidence_level: float,
    target: str,
    simulations: int | None = None,
    progress: Progress | None = None,
    measured: Int64 | None = None,
    rows_per_person: int = 1,
    people: bool = False,
    width: str = EVEN,
) -> Band:
    """Compute the band around a raw linear estimate, or that of an approximating strategy (`approximating`).

    Args:
        grid: Thresholds.
        raw: Unbiased estimate of the cumulative counts, not smoothed, shape (N,).
        strategy: What was measured; None where there is no noise.
        total: Number of records if public, else None.
        confidence_level: Confidence level, above 0 and at most 0.9999.
        target: "population" or "sample"; of an approximating strategy also "approximation".
        simulations: Number of simulated releases; by default what `default_simulations` says, and
            2 / a for high confidence. The level holds on average over the simulation; the achieved tail
            has a standard deviation of about sqrt(a (1 - a) / simulations) around a = 1 - confidence_level.
        progress: Called with simulations done and to do.
        measured: Noisy measurements of an approximating strategy.
        rows_per_person: Most records of one person, which may all be alike; above 1, half of the error probability of a
            band for the population goes to the noise, and half to sampling: see `clustered_ends`.
        people: Whether people were counted, whose exact counts need not be whole, and whose shares were rounded: the
            ends are apart by twice `SHARE_ROUNDING` more.
        width: "even", or "narrowing" in the tails: see `narrowing_ends`.

    Privacy:
        Post-processing of the release; the simulation uses public random numbers.
    """
    level = check_level(confidence_level)
    approximate = strategy is not None and approximates(strategy)
    if target == APPROXIMATION and not approximate:
        raise ParameterError("only curves of methods that approximate have a band for the approximation; use sample")
    among(target, "target", (*TARGETS, APPROXIMATION))
    if simulations is not None:
        whole(simulations, "simulations", 1)
    among(width, "width", WIDTHS)
    if width == NARROWING:
        reason = _not_narrowing(strategy, total, target, rows_per_person, people)
        if reason is not None:
            raise UnsupportedError(f"a narrowing band is not known {reason}; use `width='even'`")
        low, high = narrowing_ends(
            raw, strategy=strategy, n=cast(int, total), tail=1 - level, simulations=simulations, progress=progress
        )
        return Band(grid, low, high, float(level), target)

    def ends(tail: Fraction, target: str) -> tuple[Float64, Float64]:
        if approximate:
            return common_ends(
                raw,
                measured,
                strategy=cast(Approximating, strategy),
                total=total,
                tail=tail,
                target=target,
                simulations=simulations,
                progress=progress,
            )
        maxima = None
        if strategy is not None:
            runs = simulations_for(strategy, 1 - tail) if simulations is None else simulations
            maxima = simulate_maxima(strategy, total_known=total is not None, simulations=runs, progress=progress)
        return band_ends(raw, maxima, tail, target, total, whole_counts=not people)

    tail = 1 - level
    if rows_per_person == 1 or target != "population":
        low, high = ends(tail, target)
    else:
        records = float(raw[-1]) if total is None else float(total)
        batches = getattr(strategy, "samples", ())  # of a mixture: as many records as stray like it
        if batches:
            records = 1 / sum(weight**2 / size for weight, size in batches)
        low, high = clustered_ends(*ends(tail / 2, "sample"), records / rows_per_person, tail / 2)
    if people:  # around the curve of their rounded shares
        low, high = moved_out(low, high, SHARE_ROUNDING)
    return Band(grid, low, high, float(level), target)


def _not_narrowing(
    strategy: Strategy | None, total: int | None, target: str, rows_per_person: int, people: bool
) -> str | None:
    """Why there is no narrowing band, as the end of a sentence, or None."""
    if target != "population":
        return f"for the {target}, which has no sampling error"
    if strategy is not None and approximates(strategy):
        return f"for method {strategy.name}, whose estimate has a bias"
    if getattr(strategy, "samples", ()):
        return "for mixtures"
    if people:
        return "where people are counted, whose sampling error has another law"
    if total is None:
        return "where the number of records is private"
    return None if rows_per_person == 1 else "where a person may have several rows"


def clustered_ends(low: Float64, high: Float64, persons: float, tail: Fraction) -> tuple[Float64, Float64]:
    """Ends for the population around those for the sample, where records of one person may be alike.

    The covariances of the curve of the sample are at most k times those of independent records, with k records of
    a person at most, so in large samples the curve strays at most as far as that of n / k independent records
    (Anderson 1955), for which the inequality of Dvoretzky, Kiefer and Wolfowitz holds with Massart's constant. Where
    every person has k equal records, it holds for every n.
    """
    strays = math.sqrt(math.log(2 / tail) / (2 * persons)) if persons >= 1 else 1.0
    return moved_out(low, high, strays)
