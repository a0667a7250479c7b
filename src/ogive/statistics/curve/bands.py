"""Bands that hold a whole distribution function with a stated confidence.

The noise of a release follows a law that does not depend on the records, so the size of its
largest error is found by simulation, from public random numbers, at no privacy cost. With

    e   the noise of the raw estimate at the thresholds, in records,
    A   the distance between the curves of a sample of n records and of its population,

a band for the sample adds a quantile of max |e| on both sides of the raw curve. A band for
the population needs more: the sample strays from the population too. The curve leaves such a
band on one side only, so each side gets half of the error probability:

    P(F0 above the band) <= P(max e- / n + A- > w),   P(F0 below it) <= P(max e+ / n + A+ > w),

and both are at most (1 - confidence_level) / 2 when w is that quantile of the sum of the two
independent one-sided maxima. The plain quantile of max |e| / n + max |A| also counts noise and
sampling error of opposite signs as if they added, and is wider: by 1.7 to 5.4 percent where measured.

Where the number of records is private, F_i = C_i / n is a ratio of two unknown counts. Its estimate
obeys R_i - F_i R_N = e_i - F_i e_N for the raw counts R, and since F_i lies in [0, 1] the right side
is at most max(|e_i|, |e_i - e_N|). The quantile q of the largest of these over all i gives the band
(R_i +/- q) / R_N for the sample. For the population, with F0 in place of F, the right side gains n A, and
both one-sided maxima are at most max(e_i, e_i - e_N) + n A: the quantile of that sum, for as many records as the
largest noise leaves possible, is the margin on each side. Proof: `docs/proofs/narrowing.md`.

What the level means: with R simulations, it holds on average over the simulation. The simulation's
random numbers are fixed and public, so for a given strategy and number of records the achieved error
probability is one number, the same at every release. Over simulations that number is at most a Beta
variable of mean at most the wanted tail a and standard deviation about sqrt(a (1 - a) / R): 0.0022 at
a = 0.05 and R = 9999, 0.013 at R = 299. A band for the population takes a/2 on each side, and each
side's error probability strays by that formula with a/2.

What is covered: the values at all thresholds at once, and by monotonicity everything between
them. Values outside the grid's bounds are clipped first, so at the last threshold the band
is 1, which is a statement about clipped values only.

All of this is for unbiased estimates. Strategies that approximate have no valid band around their estimate; theirs is
made of what all curves with their measurements have in common: `approximating`.

Source: Massart 1990 for the tail of the sampling error; simulation and monotone tidying.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from ogive.columns.axis import first_at_or_above, last_at_or_below, plain, to_numbers
from ogive.columns.grids import Grid
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import Progress
from ogive.core.files import remove_leftovers, write_atomically
from ogive.errors import ParameterError
from ogive.noise.laws import draw_public
from ogive.statistics.confidence import simulations_needed
from ogive.strategies import Strategy

APPROXIMATION = "approximation"

# Simulations by default: what these many noise values allow, within the two limits.
SIMULATED_VALUES = 60_000_000
FEWEST_SIMULATIONS, MOST_SIMULATIONS = 299, 9999
_BATCH_VALUES = 1 << 21
_SEED = 0x6F67697665  # public and fixed: two bands of one curve come from one simulation
_SMIRNOV_UP_TO = 256  # records for which the exact law is affordable; beyond, Massart's bound of it
_KEPT = 16
_STORED_VALUES = 1 << 21  # a simulation of fewer noise values takes less than a tenth of a second
MOST_STORED = 100
"""Files of maxima that a folder holds, of 320 KB each at the usual levels."""
_KILLED_SECONDS = 3600  # after which nobody still writes a file of maxima
_COMPARED = 4  # simulated releases whose errors are part of the name of a file
_PREFIX, _DIGEST_BYTES = "maxima-", 32
_NO_RECORD = 1e-6  # an estimated number of records at or below it is none: dividing by less could overflow


@dataclass(frozen=True, eq=False)
class Band:
    """Two curves that enclose the whole true curve with the stated confidence.

    Fields:
        grid: Thresholds.
        low, high: Ends at each threshold, as shares, shape (N,).
        confidence_level: Probability that the band contains the true curve at all thresholds at once, on average over
            the simulation (see the text of this module).
        target: "population" (from which the records were drawn), "sample" (the records themselves) or "approximation"
            (the result of an approximating strategy without noise).
    """

    grid: Grid
    low: Float64
    high: Float64
    confidence_level: float
    target: str

    def __post_init__(self) -> None:
        self.low.flags.writeable = False
        self.high.flags.writeable = False

    def __call__(self, t: Any) -> tuple[Any, Any]:
        """Ends of the band at any t, also between thresholds, each of the shape of t.

        Between two thresholds a monotone curve is at least its value at the last, at most its value
        at the next.

        Raises:
            ParameterError: t is missing or of another kind than the grid's bounds.
        """
        numbers = to_numbers(self.grid, t)
        low = np.concatenate(([0.0], self.low))[last_at_or_below(self.grid, numbers) + 1]
        high = np.concatenate((self.high, [1.0]))[first_at_or_above(self.grid, numbers)]
        return plain(low), plain(high)

    @property
    def half_width(self) -> float:
        """Half the largest distance between the two ends, as a share."""
        return float(np.max(self.high - self.low)) / 2

    def __str__(self) -> str:
        """One line: what is held between the ends, and how wide they are apart."""
        return f"{self.confidence_level:.6g} band for the {self.target} curve, at most +/- {self.half_width:.2g}"


@dataclass(frozen=True, eq=False)
class NoiseMaxima:
    """Largest errors of simulated releases, in records, each shape (simulations,).

    Fields:
        above: Largest error of each simulation, sign kept, at least 0.
        ratio: Largest absolute error when e_N may be taken away, max over i of max(|e_i|, |e_i - e_N|).
        ratio_above: The same with the sign kept, max over i of max(e_i, e_i - e_N), at least 0.
        samples: Of a mixture of batches, the weight and the number of records of each; else empty.
    """

    above: Float64
    either: Float64
    ratio: Float64
    ratio_above: Float64
    samples: tuple[tuple[float, int], ...] = ()


_simulated: OrderedDict[tuple[Strategy, bool, int], NoiseMaxima] = OrderedDict()


def default_simulations(strategy: Strategy) -> int:
    """9999 up to some 6000 noise nodes, fewer beyond, never below 299."""
    nodes = sum(level.nodes for level in strategy.levels)
    return min(MOST_SIMULATIONS, max(FEWEST_SIMULATIONS, SIMULATED_VALUES // nodes))


def simulations_for(
    strategy: Strategy, level: Fraction, *, share: Fraction = Fraction(1, 2), usual: int | None = None
) -> int:
    """Simulations for a band of that level, for sample and population alike."""
    nodes = sum(part.nodes for part in strategy.levels)
    usual = default_simulations(strategy) if usual is None else usual
    return simulations_needed(level, share=share, nodes=nodes, usual=usual)


def simulate_maxima(
    strategy: Strategy, *, total_known: bool, simulations: int, progress: Progress | None = None
) -> NoiseMaxima:
    """Draw the noise of whole releases and keep the largest errors of each.

    The random numbers are public and fixed, apart from every release's own. Results are kept in memory for the
    strategies used last, and in files, beside the compiled code, for later processes.
    """
    key = (strategy, total_known, simulations)
    if key in _simulated:
        _simulated.move_to_end(key)
        return _simulated[key]
    stored = _Stored(strategy, total_known, simulations)
    maxima = stored.read()
    if maxima is None:
        maxima = _simulate(strategy, total_known, simulations, progress)
        stored.write(maxima)
    _simulated[key] = replace(NoiseMaxima(*maxima), samples=getattr(strategy, "samples", ()))
    while len(_simulated) > _KEPT:
        _simulated.popitem(last=False)
    return _simulated[key]


def _simulate(strategy: Strategy, total_known: bool, simulations: int, progress: Progress | None) -> Float64:
    """The numbers of `NoiseMaxima`, shape (4, simulations)."""
    random = np.random.Generator(np.random.PCG64(_SEED))
    maxima = np.empty((4, simulations))
    nodes = sum(level.nodes for level in strategy.levels)
    batch = max(1, _BATCH_VALUES // nodes)
    for start in range(0, simulations, batch):
        rows = min(batch, simulations - start)
        maxima[:, start : start + rows] = largest_errors(_errors(strategy, total_known, rows, random))
        if progress is not None:
            progress(start + rows, simulations)
    return maxima


def largest_errors(errors: Float64) -> Float64:
    """The numbers of `NoiseMaxima` of simulated errors at all thresholds, shape (4, simulations)."""
    highest, lowest, last = errors.max(axis=-1), errors.min(axis=-1), errors[..., -1]
    either, above = np.maximum(highest, -lowest), np.maximum(highest, 0)
    ratio = np.maximum(either, np.maximum(highest - last, last - lowest))
    return np.stack([above, either, ratio, np.maximum(above, highest - last)])


def _errors(strategy: Strategy, total_known: bool, rows: int, random: np.random.Generator) -> Float64:
    """Errors of simulated releases at all thresholds, in records, shape (rows, N)."""
    noise = tuple(draw_public(level.law, (rows, level.nodes), random, rounded=True) for level in strategy.levels)
    return strategy.estimate(strategy.spread(noise), 0 if total_known else None)


class _Stored:
    """The file that holds the maxima of one simulation, beside the compiled code of this package.

    Its name is a digest of what the simulation follows from: versions, the sources of noise and strategies, laws and
    sizes, and the errors of a few simulated releases, which change when the estimator changes. The file holds a digest
    of the numbers, and the numbers. A damaged file is not read, and what cannot be stored is simulated again in the
    next process.
    """

    def __init__(self, strategy: Strategy, total_known: bool, simulations: int) -> None:
        from ogive.core.machine_code import folders_of  # slow to import, and loaded where noise is drawn

        self._simulations = simulations
        self._folders: list[Path] = []
        self._written: Path | None = None
        nodes = sum(level.nodes for level in strategy.levels)
        if simulations * nodes < _STORED_VALUES:
            return
        rows = min(_COMPARED, max(1, _BATCH_VALUES // nodes))
        few = _errors(strategy, total_known, rows, np.random.Generator(np.random.PCG64(_SEED)))
        laws = [(repr(level.law), level.nodes) for level in strategy.levels]
        # where there are no sources or versions, or no folder can be named, nothing is stored
        with contextlib.suppress(OSError, UnicodeEncodeError, PackageNotFoundError):
            versions = [version(name) for name in ("ogive", "numpy", "scipy")]
            what = repr((versions, strategy.name, laws, total_known, simulations)).encode()
            self._name = f"{_PREFIX}{sha256(_sources() + what + few.astype('<f8').tobytes()).hexdigest()[:40]}"
            self._folders, self._written = folders_of(Path(__file__))

    def read(self) -> Float64 | None:
        """The maxima; None if there is no such file, or it is damaged."""
        for folder in self._folders:
            path = folder / self._name
            try:
                data = path.read_bytes()
            except OSError:
                continue
            content = data[_DIGEST_BYTES:]
            if data[:_DIGEST_BYTES] == sha256(content).digest() and len(content) == 4 * 8 * self._simulations:
                with contextlib.suppress(OSError):  # of a folder that is only read
                    os.utime(path)  # what was used last is removed last
                return np.frombuffer(content, "<f8").astype(np.float64).reshape(4, -1)
        return None

    def write(self, maxima: Float64) -> None:
        """Store the maxima, and remove those that were used longest ago where there are too many."""
        if self._written is None:
            return
        content = maxima.astype("<f8").tobytes()
        with contextlib.suppress(OSError, ParameterError):  # a full disk, or a folder that was taken away
            write_atomically(self._written / self._name, sha256(content).digest() + content)
            # of processes that were killed while they wrote
            remove_leftovers(self._written / self._name, names=rf"{_PREFIX}[0-9a-f]{{40}}", after=_KILLED_SECONDS)
            times = {path: _last_used(path) for path in self._written.glob(f"{_PREFIX}*")}
            for path in sorted(times, key=lambda path: times[path])[:-MOST_STORED]:
                path.unlink(missing_ok=True)


def _last_used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # another process has just removed it
        return float("-inf")


@cache
def _sources() -> bytes:
    """A digest of this module, and of what draws noise and makes estimates of it."""
    package = Path(__file__).parents[2]
    paths = [path for part in ("noise", "strategies") for path in (package / part).rglob("*.py")]
    digest = sha256(Path(__file__).read_bytes())
    for path in sorted(paths):
        digest.update(path.read_bytes())
    return digest.digest()


def upper_quantile(values: Float64, tail: Fraction) -> float:
    """The ceil((1 - tail)(R + 1))-th smallest of R values.

    One more independent draw of the same law exceeds it with probability at most `tail`, whatever R, where the
    probability is over the R values too. Given the R values it strays around that, with a standard
    deviation of about sqrt(tail (1 - tail) / R).
    """
    rank = math.ceil((1 - tail) * (len(values) + 1))
    if rank > len(values):
        raise ParameterError(
            f"{len(values)} simulations are too few for this confidence level; use at least {math.ceil(1 / tail) - 1}"
        )
    return float(np.partition(values, rank - 1)[rank - 1])


def mixed_distances(samples: tuple[tuple[float, int], ...], size: int) -> Float64:
    """Draws of a bound on max (F - F0) for a mixture F of the curves of several samples, shape (size,).

    The mixture strays at most by the weighted sum of how far the samples stray, and these are independent.
    """
    drawn = [weight * one_sided_distances(records, size, stream=k) for k, (weight, records) in enumerate(samples)]
    return np.asarray(np.sum(drawn, axis=0))


def one_sided_distances(records: int, size: int, *, stream: int = 0) -> Float64:
    """Draws of max (F_n - F0) over a sample of n records, or of a law that lies above it, shape (size,).

    The law is exact for continuous F0 and at most 256 records (Smirnov), and lies above the truth
    for every F0 otherwise: P(sqrt(n) A > x) <= exp(-2 x^2) from x0 = min(sqrt(ln 2 / 2), 1.0841 n^(-1/6))
    on, below which draws are raised to x0. It does not depend on the random numbers of the noise.

    Source:
        Massart 1990, theorem 1.
    """
    from scipy.special import smirnov  # slow to import

    uniform = np.random.Generator(np.random.PCG64(_SEED + stream)).random(size)
    if records > _SMIRNOV_UP_TO:
        start = min(math.sqrt(math.log(2) / 2), 1.0841 * records ** (-1 / 6))
        bounded: Float64 = np.maximum(start, np.sqrt(-np.log1p(-uniform) / 2)) / math.sqrt(records)
        return bounded
    ends = np.linspace(0, 1, 4 * _SMIRNOV_UP_TO + 1)
    # each draw moves up to the end of its cell, so that rounding only widens the band
    reached = np.searchsorted(1 - smirnov(records, ends), uniform, side="left")
    drawn: Float64 = ends[np.minimum(reached, len(ends) - 1)]
    return drawn


def band_ends(
    raw: Float64,
    maxima: NoiseMaxima | None,
    tail: Fraction,
    target: str,
    total: int | None,
    *,
    whole_counts: bool = True,
) -> tuple[Float64, Float64]:
    """Ends of the band around a raw linear estimate, shape (N,) each; `maxima` are None where there is no noise.

    The exact counts of people are no whole numbers, those of records are (`whole_counts`).
    """
    if maxima is None:
        low, high = _without_noise(raw, tail, target)
    elif total is None:
        low, high = _private_total(raw, maxima, tail, target)
    else:
        low, high = _public_total(raw, maxima, tail, target, total, whole_counts=whole_counts)
    low[-1] = high[-1] = 1.0
    return low, high


def _public_total(
    raw: Float64, maxima: NoiseMaxima, tail: Fraction, target: str, n: int, *, whole_counts: bool
) -> tuple[Float64, Float64]:
    """Ends where the number of records is public."""
    if n == 0:
        return np.zeros(len(raw)), np.ones(len(raw))
    if target == "sample":
        margin = upper_quantile(maxima.either, tail)
        if not whole_counts:
            return tidy(raw / n, margin / n)
        low, high = _whole_counts(raw, margin)
        return np.clip(low / n, 0, 1), np.clip(high / n, 0, 1)
    draws = len(maxima.above)
    strays = mixed_distances(maxima.samples, draws) if maxima.samples else one_sided_distances(n, draws)
    sums = maxima.above / n + strays
    return tidy(raw / n, upper_quantile(sums, tail / 2))


def _private_total(raw: Float64, maxima: NoiseMaxima, tail: Fraction, target: str) -> tuple[Float64, Float64]:
    """Ends where the number of records is itself an estimate, the last of `raw`.

    Where it is not above its own margin, ratios to it say nothing, and the ends are 0 and 1.
    """
    margin = upper_quantile(maxima.ratio, tail)
    records = float(raw[-1])
    if records <= max(margin, _NO_RECORD):
        return np.zeros(len(raw)), np.ones(len(raw))
    if target == "population":
        margin = private_total_margin(maxima, records, tail)
    return tidy(raw / records, margin / records)


def private_total_margin(maxima: NoiseMaxima, records: float, tail: Fraction) -> float:
    """Margin of a band for the population where the number of records is an estimate, in records."""
    draws = len(maxima.ratio)
    # more noise in the total than in any simulation is an error too
    part = max((tail - Fraction(1, draws + 1)) / 2, Fraction(1, draws + 1))
    most = math.ceil(records + float(maxima.ratio.max()))
    return upper_quantile(maxima.ratio_above + most * one_sided_distances(most, draws), part)


def _without_noise(raw: Float64, tail: Fraction, target: str) -> tuple[Float64, Float64]:
    """Ends around exact counts: nothing for the sample, the two-sided Kolmogorov quantile for the population."""
    n = float(raw[-1])
    if n < 1:
        return np.zeros(len(raw)), np.ones(len(raw))
    strays = 0.0
    if target == "population":
        from scipy.stats import kstwo  # slow to import, and needed for exact curves only

        strays = float(kstwo.ppf(float(1 - tail), round(n)))
    return tidy(raw / n, strays)


def tidy(raw: Float64, margin: float) -> tuple[Float64, Float64]:
    """Ends at a margin from a raw curve, made monotone; from the curve as it is where they would cross."""
    low = np.maximum.accumulate(raw) - margin
    high = np.minimum.accumulate(raw[::-1])[::-1] + margin
    if np.any(low > high):
        low, high = raw - margin, raw + margin
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _whole_counts(raw: Float64, margin: float) -> tuple[Float64, Float64]:
    """Ends for the counts of the records, which are monotone and whole."""
    slack = 1e-6 + 1e-12 * float(np.max(np.abs(raw)))
    low = np.ceil(np.maximum.accumulate(raw) - margin - slack)
    high = np.floor(np.minimum.accumulate(raw[::-1])[::-1] + margin + slack)
    if np.any(low > high):
        return raw - margin, raw + margin
    return low, high


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
NARROWING_SIMULATIONS = 1999
MOST_RUNS = 150_000
"""Simulations by default at the highest level, two minutes of a processor for 10,000 records and 1024 thresholds."""
_EXCEED = 20
_NARROWING_SEED = 0x6E6172726F77  # public and fixed
_BATCH_CELLS = 1 << 22
_ONE_BY_ONE = 1 << 16
"""Records up to which it is faster to draw the cell of each."""
_KEPT_SAMPLES = 2
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
    """Ends of the band of `n` records around an unbiased estimate, shape (N,) each; no strategy: no noise."""
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
    return max(NARROWING_SIMULATIONS, int(needed / tail) + 1)


def _largest(
    strategy: Strategy | None,
    n: int,
    ends: tuple[Float64, ...],
    scale: Float64,
    runs: int,
    progress: Progress | None,
) -> tuple[Float64, Float64]:
    """The largest errors of each simulation in units of `scale`, of either sign, shape (runs,) each."""
    random = np.random.Generator(np.random.PCG64(_NARROWING_SEED))
    first = np.minimum(np.floor(ends[0] * _CELLS).astype(np.int64), _CELLS - 1)
    last = np.maximum(np.ceil(ends[1] * _CELLS).astype(np.int64) - 1, first)
    above, below = np.empty(runs), np.empty(runs)
    step = max(1, _BATCH_CELLS // (2 * _CELLS + len(scale)))
    sampled = _sampling_errors(n, runs, step)
    # thresholds with the same cells have the same largest errors
    ranges, which = np.unique(np.stack([first, last]), axis=1, return_inverse=True)
    for start, drawn_errors in zip(range(0, runs, step), sampled, strict=True):
        rows = slice(start, start + len(drawn_errors))
        errors = drawn_errors.astype(np.float64)
        noise = np.zeros((len(errors), len(scale)))
        if strategy is not None:
            drawn = tuple(
                draw_public(level.law, (len(errors), level.nodes), random, rounded=True) for level in strategy.levels
            )
            noise = strategy.estimate(strategy.spread(drawn), 0) / n
        over, under = (_range_maxima(each, *ranges) + _ROUNDING for each in _within_cells(errors, n, random))
        above[rows] = ((noise + over[:, which.ravel()]) / scale).max(axis=1)
        below[rows] = ((-noise + under[:, which.ravel()]) / scale).max(axis=1)
        if progress is not None:
            progress(rows.stop, runs)
    return np.maximum(above, 0), np.maximum(below, 0)


_sampled: OrderedDict[tuple[int, int], _Float32] = OrderedDict()


def _sampling_errors(n: int, runs: int, step: int) -> Iterator[_Float32]:
    """F_n(u) - u of n uniform numbers at the ends of all cells, in batches of shape (step, cells + 1) or fewer.

    Those of as many runs as are usual are kept for the numbers of records used last; more are drawn batch by batch.
    """
    random = np.random.Generator(np.random.PCG64(_NARROWING_SEED + 1))
    if runs > NARROWING_SIMULATIONS:
        yield from (_drawn_errors(n, min(step, runs - start), random) for start in range(0, runs, step))
        return
    key = (n, runs)
    if key not in _sampled:
        _sampled[key] = _drawn_errors(n, runs, random)
    _sampled.move_to_end(key)
    while len(_sampled) > _KEPT_SAMPLES:
        _sampled.popitem(last=False)
    whole = _sampled[key]
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
