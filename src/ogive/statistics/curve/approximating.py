"""Bands of strategies that approximate: what all curves with these measurements have in common; and any curve's band.

The estimate of such a strategy has a bias that depends on the records, so nothing around it is known to hold the truth.
What is known is in the measurements: with probability 1 - a, the histogram x lies in
{x >= 0 : |A x - y| <= r}. If it does, the true curve lies between the smallest and the largest curve of that set, at
all thresholds at once. That is the band for the sample. It needs no assumption about the shape of the data, and it is
wide, because a few numbers say little about what lies between them: point masses could be anywhere.

- Where the measurements are counts at some thresholds, or of groups of bins (`prefixes`), sums of them are unbiased
  counts there. Around those the band is that of any unbiased estimate (`simultaneous`), and between two of them a
  curve lies between its values at both.
- Else the ends are found by linear programming.

For the population, the error probability is halved: a / 2 for the noise, a / 2 for the distance between the curves of a
sample of n records and of its population, which is at most w with that probability (its law is Kolmogorov's; where n is
private, Dvoretzky-Kiefer-Wolfowitz for the fewest records in the set). The ends move by w.

If no histogram at all fits, which has probability at most a, the radius is raised until one does: that only widens the
band. With target="approximation" the band holds what the noise was added to instead: the projection of the true curve
on the strategy's space, clipped to [0, 1], with its bias. It counts noise alone, is narrow, and says nothing about how
far that projection is from the records.

Proof that the band holds: `docs/distances.md`.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import numpy as np

from ogive.columns.grids import Grid
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import Progress, among, whole
from ogive.errors import ParameterError, UnsupportedError
from ogive.noise.laws import draw_public
from ogive.statistics.confidence import TARGETS, check_level
from ogive.statistics.curve.bands import (
    APPROXIMATION,
    Band,
    NoiseMaxima,
    band_ends,
    largest_errors,
    narrowing_ends,
    simulate_maxima,
    simulations_for,
    upper_quantile,
)
from ogive.strategies import Approximating, Strategy
from ogive.strategies.base import approximates
from ogive.strategies.composed import SHARE_ROUNDING, SummedApproximations

# --- The smallest and the largest curve, by linear programming
#
# All that is known of the records is that their histogram x lies in
#
#     { x >= 0 : |A x - y| <= r },   with sum x = n where the number of records is public.
#
# Divided by the number of records, p = x / n and s = 1 / n:
#
#     { p >= 0, sum p = 1, s in [s0, s1] :   -r s <= A p - y s <= r s }          (*)
#
# which is linear in (p, s) also where n is not known. F at threshold t is the sum of p up to t, so the ends of a band
# are the largest and the smallest value of a linear function on (*): moment problems, as of Chebyshev, Markov and
# Stieltjes.
#
# Every end comes with its proof. For any multipliers u, v >= 0 and any (p, s) in (*), adding up gives, for every c,
#
#     c p  <=  max_j (c - g)_j  +  max over s of s (u (y + r) - v (y - r)),      g = (u - v) A.
#
# The solver is used only to find good multipliers; the ends are the right-hand side, evaluated on all bins. So neither
# its tolerance nor solving on a part of the bins makes an end invalid, only a little wider. One pair of multipliers
# bounds F at all thresholds at once (c is 1 up to t, else 0), and the best bound of all pairs is taken.

_BINS = 160  # solved on about these many; certified on all
PROGRAMS = 96
"""Thresholds for which programs are solved, in both directions."""


@dataclass(frozen=True, eq=False)
class Feasible:
    """The set (*).

    Fields:
        features: A, shape (M, N).
        answer: y, shape (M,).
        radius: r, shape (M,).
        slack: What rounding may add to |A p - y s|, shape (M,).
        ends: s0 and s1.
    """

    features: Float64
    answer: Float64
    radius: Float64
    slack: Float64
    ends: tuple[float, float]

    def multipliers(self, objective: Float64, bins: Int64, *, scale: float = 0.0) -> Float64 | None:
        """Multipliers u and v that bound objective p + scale s well, solved on some bins; None where nothing fits."""
        from scipy.optimize import linprog  # slow to import, and needed for these bands only

        columns = self.features[:, bins]
        rows = np.concatenate(
            (
                np.concatenate((columns, -(self.answer + self.radius)[:, np.newaxis]), axis=1),
                np.concatenate((-columns, (self.answer - self.radius)[:, np.newaxis]), axis=1),
            )
        )
        least, most = self.ends
        unit = 1.0 / most  # the last variable is s / s1, of the size of the others
        rows[:, -1] *= most
        solved = linprog(
            -np.append(objective[bins], scale * most),
            A_ub=rows,
            b_ub=np.tile(self.slack, 2),
            A_eq=np.append(np.ones(len(bins)), 0.0)[np.newaxis],
            b_eq=[1.0],
            bounds=[(0, None)] * len(bins) + [(least * unit, 1.0)],
            method="highs-ds",
            options={"presolve": False},
        )
        if solved.status == 2:
            return None
        if solved.status != 0:
            return np.zeros((2, len(self.answer)))
        result: Float64 = np.maximum(-solved.ineqlin.marginals, 0.0).reshape(2, -1)
        return result

    def constant(self, multipliers: Float64, *, scale: float = 0.0) -> float:
        """The part of the bound that no bin enters."""
        u, v = multipliers
        slope = scale + float(u @ (self.answer + self.radius) - v @ (self.answer - self.radius))
        return max(end * slope for end in self.ends) + float((u + v) @ self.slack)

    def price(self, multipliers: Float64) -> Float64:
        """What the multipliers charge each bin, g, shape (N,)."""
        return np.asarray((multipliers[0] - multipliers[1]) @ self.features)


def most_mass(feasible: Feasible, thresholds: Int64) -> Float64 | None:
    """The largest F at every threshold, certified, shape (N,); None where nothing is feasible."""
    size = feasible.features.shape[1]
    best = np.ones(size)
    for threshold in thresholds.tolist():
        bins = some_bins(size, threshold)
        result = feasible.multipliers((np.arange(size) <= threshold).astype(np.float64), bins)
        if result is None:
            return None
        price = feasible.price(result)
        below = np.maximum.accumulate(1 - price)
        above = np.append(np.maximum.accumulate(-price[::-1])[::-1][1:], -np.inf)
        best = np.minimum(best, np.maximum(below, above) + feasible.constant(result))
    best[-1] = 1.0
    monotone: Float64 = np.minimum.accumulate(best[::-1])[::-1]
    return np.clip(monotone, 0.0, 1.0)


def fewest_records(feasible: Feasible) -> float:
    """A number that the records are not fewer than, if (*) holds them; 0 where nothing is known."""
    size = feasible.features.shape[1]
    result = feasible.multipliers(np.zeros(size), some_bins(size, 0), scale=1.0)
    if result is None:
        return 0.0
    largest = float(np.max(-feasible.price(result))) + feasible.constant(result, scale=1.0)
    return 0.0 if largest <= 0 else 1.0 / largest


def mass_ends(feasible: Feasible, thresholds: Int64) -> tuple[Float64, Float64] | None:
    """The smallest and the largest F at every threshold, shape (N,) each; None where nothing is feasible.

    The smallest is 1 less the largest mass above a threshold, which is the same problem with the axis reversed.
    """
    high = most_mass(feasible, thresholds)
    if high is None:
        return None
    size = len(high)
    mirrored = Feasible(feasible.features[:, ::-1], feasible.answer, feasible.radius, feasible.slack, feasible.ends)
    above = most_mass(mirrored, (size - 2 - thresholds)[thresholds < size - 1])
    if above is None:
        return None
    # the mass above threshold t is that of the first N - 1 - t bins from the other side
    low = np.append(1 - above[::-1][1:], 1.0)
    return np.minimum(low, high), high


def some_bins(size: int, threshold: int) -> Int64:
    """Bins on which a program is solved: all of few, else some, closer at both ends and at the threshold."""
    if size <= _BINS:
        return np.arange(size)
    spread = (1 - np.cos(np.linspace(0, np.pi, _BINS))) / 2
    near = threshold + np.array([-16, -8, -4, -2, -1, 0, 1, 2, 3, 5, 9, 17])
    chosen = np.concatenate((np.rint(spread * (size - 1)).astype(np.int64), near))
    return np.unique(chosen[(chosen >= 0) & (chosen < size)])


def some_thresholds(raw: Float64, programs: int | None = None) -> Int64:
    """Thresholds for which programs are solved: half of them evenly over the axis, half where the curve rises."""
    size, programs = len(raw), PROGRAMS if programs is None else programs
    if size <= programs:
        return np.arange(size)
    rising = np.maximum.accumulate(np.maximum(raw, 0)) + 1e-9 * np.arange(size)
    reached = np.searchsorted(rising, np.linspace(0, rising[-1], programs // 2))
    even = np.rint(np.linspace(0, size - 1, programs // 2)).astype(np.int64)
    return np.unique(np.clip(np.concatenate((reached, even)), 0, size - 1))


# --- Measurements as linear facts about the histogram
#
# With x the histogram (N bins), y the noisy measurements, A the features and e the noise,
#
#     y = A x + e,   so   |(y - A x)_m| <= q sd(e_m) for all m at once, with probability 1 - a,
#
# where q is the 1 - a quantile of max_m |e_m| / sd(e_m), found by simulation from public random numbers. The noise does
# not depend on the records, so this holds for every data set.
#
# Measurements of disjoint records add up, and so does their noise (`SummedApproximations`). Where the parts' features
# have different numbers of fractional bits, those of one part differ from the sum's by rounding: by `slack_m` per
# record.

SIMULATIONS = 9999
_SEED = 0x636F6D6D6F6E  # public and fixed, so that two bands of one curve come from one simulation
_BATCH_VALUES = 1 << 21
_MOST_NOISES = 16


@dataclass(frozen=True, eq=False)
class Measured:
    """Noisy linear measurements of one histogram, each on the scale where the largest feature is 1.

    Fields:
        features: What one record in each bin adds, A, shape (M, N).
        answer: What was measured, y, shape (M,).
        slack: How much one record may add beside its features, shape (M,).
        noise: Simulated errors e, shape (simulations, M).
    """

    features: Float64
    answer: Float64
    slack: Float64
    noise: Float64


def common_measurements(
    strategy: Approximating, measured: Int64, *, simulations: int, progress: Progress | None = None
) -> Measured:
    """Bring the measurements of a strategy to the scale of its features, and simulate their noise."""
    features = strategy.features
    if len(features) != len(measured):
        raise ParameterError(f"this strategy measures {len(features)} numbers, but the curve holds {len(measured)}")
    unit = np.abs(features).max(axis=1).astype(np.float64)
    unit[unit == 0] = 1.0
    noise = _simulated_noise(strategy, simulations, progress)
    return Measured(features / unit[:, np.newaxis], measured / unit, _rounding(strategy) / unit, noise / unit)


def _rounding(strategy: Approximating) -> Float64:
    """How far a part's features, on the sum's scale, are from those of the sum, per measurement."""
    largest = np.zeros(len(strategy.features))
    if isinstance(strategy, SummedApproximations):
        for part, shift in set(zip(strategy.parts, strategy.shifts, strict=True)):
            assert isinstance(part, Approximating)
            apart = np.abs((part.features << shift) - strategy.features).max(axis=1)
            largest = np.maximum(largest, apart)
    return largest


_noises: OrderedDict[tuple[Approximating, int], Float64] = OrderedDict()


def _simulated_noise(strategy: Approximating, simulations: int, progress: Progress | None) -> Float64:
    """Errors of the measurements in simulated releases, shape (simulations, M); kept for the strategies used last."""
    key = (strategy, simulations)
    if key in _noises:
        _noises.move_to_end(key)
        return _noises[key]
    random = np.random.Generator(np.random.PCG64(_SEED))
    batches = []
    step = max(1, _BATCH_VALUES // sum(level.nodes for level in strategy.levels))
    for start in range(0, simulations, step):
        rows = min(step, simulations - start)
        drawn = tuple(draw_public(level.law, (rows, level.nodes), random, rounded=True) for level in strategy.levels)
        batches.append(strategy.spread(drawn).astype(np.float64))
        if progress is not None:
            progress(start + rows, simulations)
    _noises[key] = np.concatenate(batches)
    while len(_noises) > _MOST_NOISES:
        _noises.popitem(last=False)
    return _noises[key]


# --- The ends of the band

Ends = tuple[Float64, Float64]

_WIDENED = 1.5  # by this factor at a time, where nothing fits
_ATTEMPTS = 12
_SURE = 1e-9  # room for rounding in radii, as a part of the measurements


def common_ends(
    raw: Float64,
    measured: Int64 | None,
    *,
    strategy: Approximating,
    total: int | None,
    tail: Fraction,
    target: str,
    simulations: int | None = None,
    progress: Progress | None = None,
    programs: int | None = None,
) -> Ends:
    """Ends of the band of an approximating strategy around its estimate `raw`, shape (N,) each.

    They are the best there are at a number of thresholds, `programs`, where linear programs must be solved.
    """
    if total == 0:
        return np.zeros(len(raw)), np.ones(len(raw))
    simulations = simulations_for(strategy, 1 - tail, usual=SIMULATIONS) if simulations is None else simulations
    if target == "approximation":
        maxima = simulate_maxima(strategy, total_known=total is not None, simulations=simulations, progress=progress)
        return _approximation_ends(raw, maxima, tail, total)
    if measured is None:
        raise ParameterError(
            "this curve was stored without its measurements, which its bands need; "
            "release it again, or take the band of what it approximates"
        )
    known = common_measurements(strategy, measured, simulations=simulations, progress=progress)
    if prefixes(known.features) is not None:
        return counted_ends(known, tail=tail, target=target, total=total, size=len(raw))
    return programmed_ends(known, raw, tail=tail, target=target, total=total, programs=programs)


def _approximation_ends(raw: Float64, maxima: NoiseMaxima, tail: Fraction, total: int | None) -> Ends:
    """Ends at a noise margin around the estimate; they are not made monotone, since a projection need not be."""
    if total is None:
        margin, records = upper_quantile(maxima.ratio, tail), float(raw[-1])
        if records <= margin:
            return np.zeros(len(raw)), np.ones(len(raw))
    else:
        margin, records = upper_quantile(maxima.either, tail), float(total)
    return np.clip((raw - margin) / records, 0, 1), np.clip((raw + margin) / records, 0, 1)


def prefixes(features: Float64) -> tuple[Int64, Float64] | None:
    """Increasing thresholds at which sums of the measurements are counts of the records, and which sums: weights.

    weights @ A is 1 up to each threshold and 0 beyond; None if the measurements are neither counts at thresholds nor of
    adjoining groups.
    """
    size = features.shape[1]
    if not np.isin(features, (0.0, 1.0)).all():
        return None
    width = features.sum(axis=1).astype(np.int64)
    first = np.argmax(features, axis=1)
    blocks = all(row[begin : begin + many].all() for row, begin, many in zip(features, first, width, strict=True))
    if not blocks or not width.all():
        return None
    order = np.argsort(first + width, kind="stable")
    last = (first + width)[order] - 1
    if not first.any():
        return last, np.eye(len(features))[order]
    if np.array_equal(first[order], np.append(0, last[:-1] + 1)) and last[-1] == size - 1:
        return last, np.tril(np.ones((len(order), len(order))))[:, np.argsort(order)]
    return None


def counts_at(known: Measured, total: int | None, size: int) -> tuple[Int64, Float64, Float64]:
    """Of measurements with `prefixes` thresholds, the last included, unbiased counts there, and their simulated errors.

    Shapes (P,), (P,) and (simulations, P).
    """
    counted = prefixes(known.features)
    assert counted is not None
    points, weights = counted
    estimate, errors = weights @ known.answer, known.noise @ weights.T
    if points[-1] < size - 1 and total is None:
        raise ParameterError("the number of records is private and was not measured, so this curve has no band")
    if total is not None:
        if points[-1] == size - 1:
            # the number of records is known, so what the noise made of it says something about the other counts
            together = errors.T @ errors[:, -1]
            share = together / together[-1]
            estimate = estimate - share * (estimate[-1] - total)
            errors = errors - np.outer(errors[:, -1], share)
        else:
            points, estimate = np.append(points, size - 1), np.append(estimate, float(total))
            errors = np.concatenate((errors, np.zeros((len(errors), 1))), axis=1)
        estimate[-1], errors[:, -1] = total, 0.0
    return points, estimate, errors


def counted_ends(known: Measured, *, tail: Fraction, target: str, total: int | None, size: int) -> Ends:
    """Ends where the measurements are counts at some thresholds: a band there, and its neighbors' ends between."""
    points, estimate, errors = counts_at(known, total, size)
    low, high = band_ends(estimate, NoiseMaxima(*largest_errors(errors)), tail, target, total)
    thresholds = np.arange(size)
    before = np.searchsorted(points, thresholds, side="right")
    after = np.searchsorted(points, thresholds, side="left")
    return np.append(0.0, low)[before], np.append(high, 1.0)[after]


def programmed_ends(
    known: Measured, raw: Float64, *, tail: Fraction, target: str, total: int | None, programs: int | None = None
) -> Ends:
    """Ends by linear programming over all curves that agree with the answer within its noise."""
    noise_tail = tail if target == "sample" else tail / 2
    deviation = known.noise.std(axis=0)
    deviation[deviation == 0] = 1.0
    radius = upper_quantile((np.abs(known.noise) / deviation).max(axis=1), noise_tail) * deviation
    radius = radius + _SURE * np.abs(known.answer)
    scales = (0.0, 1.0) if total is None else (1 / total, 1 / total)
    thresholds = some_thresholds(raw, programs)
    for _ in range(_ATTEMPTS):
        feasible = Feasible(known.features, known.answer, radius, known.slack, scales)
        ends = mass_ends(feasible, thresholds)
        if ends is not None:
            break
        radius = radius * _WIDENED
    else:
        return np.zeros(len(raw)), np.ones(len(raw))
    low, high = ends
    strays = 0.0
    if target == "population":
        strays = _strays(float(tail - noise_tail), total, feasible)
    return moved_out(low, high, strays)


def moved_out(low: Float64, high: Float64, distance: float) -> Ends:
    """Ends a distance further out, within 0 and 1; the last threshold has all records."""
    low, high = np.clip(low - distance, 0, 1), np.clip(high + distance, 0, 1)
    low[-1] = high[-1] = 1.0
    return low, high


def _strays(tail: float, total: int | None, feasible: Feasible) -> float:
    """Distance between the curves of the records and of their population, exceeded with probability `tail` at most."""
    if total is None:
        fewest = max(1.0, math.floor(fewest_records(feasible)))
        return math.sqrt(math.log(2 / tail) / (2 * fewest))
    from scipy.stats import kstwo  # slow to import

    return float(kstwo.ppf(1 - tail, total))


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
    """The band of `CurveBase.band`, around a raw linear estimate or of what an approximating strategy measured.

    Where records of one person may be alike, half of the error probability of a band for the population goes to the
    noise, and half to sampling (`clustered_ends`). Counts of people need not be whole, and their shares were rounded:
    the ends are apart by twice `SHARE_ROUNDING` more.
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
