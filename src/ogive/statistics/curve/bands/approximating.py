"""Bands of strategies that approximate: what all curves with these measurements have in common.

The estimate of such a strategy has a bias that depends on the records, so nothing around it is known to hold the truth.
What is known is in the measurements (`measured`): with probability 1 - a, the histogram x lies in
{x >= 0 : |A x - y| <= r}. If it does, the true curve lies between the smallest and the largest curve of that set, at
all thresholds at once. That is the band for the sample. It needs no assumption about the shape of the data, and it is
wide, because a few numbers say little about what lies between them: point masses could be anywhere.

- Where the measurements are counts at some thresholds, or of groups of bins (`prefixes`), sums of them are unbiased
  counts there. Around those the band is that of any unbiased estimate (`simultaneous`), and between two of them a
  curve lies between its values at both.
- Else the ends are found by linear programming (`programs`).

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
from fractions import Fraction

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.errors import ParameterError
from ogive.progress import Progress
from ogive.statistics.curve.bands.measured import Measured, common_measurements, simulations_for
from ogive.statistics.curve.bands.programs import Feasible, fewest_records, mass_ends, some_thresholds
from ogive.statistics.curve.bands.simultaneous import NoiseMaxima, band_ends, simulate_maxima, upper_quantile
from ogive.strategies import Approximating

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
    """Ends of the band of an approximating strategy, shape (N,) each.

    Args:
        raw: Its estimate of the cumulative counts, shape (N,).
        measured: Its noisy measurements, shape (M,); needed but for the approximation.
        strategy: What was measured.
        total: Number of records if public, else None.
        tail: Error probability.
        target: "population", "sample" or "approximation".
        simulations: Number of simulated releases; by default 9999, more for high confidence.
        progress: Called with simulations done and to do.
        programs: At how many thresholds the ends are the best there are, where programs must be solved.

    Raises:
        ParameterError: the measurements are missing or not those of the strategy, or the simulations are too few.
    """
    if total == 0:
        return np.zeros(len(raw)), np.ones(len(raw))
    simulations = simulations_for(strategy, 1 - tail) if simulations is None else simulations
    if target == "approximation":
        maxima = simulate_maxima(strategy, total_known=total is not None, simulations=simulations, progress=progress)
        return _approximation_ends(raw, maxima, tail, total)
    if measured is None:
        raise ParameterError(
            "this curve was stored without its measurements, which its bands need; "
            "release it again, or take the band of what it approximates"
        )
    known = common_measurements(strategy, measured, simulations=simulations, progress=progress)
    counted = prefixes(known.features)
    if counted is not None:
        return counted_ends(known, *counted, tail=tail, target=target, total=total, size=len(raw))
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
    """Thresholds at which sums of the measurements are counts of the records, and which sums.

    Returns:
        0-based thresholds, increasing, shape (P,), and weights, shape (P, M), so that weights @ A is 1 up to each
        threshold and 0 beyond; None if the measurements are neither counts at thresholds nor of adjoining groups.
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


def counted_ends(
    known: Measured, points: Int64, weights: Float64, *, tail: Fraction, target: str, total: int | None, size: int
) -> Ends:
    """Ends where the measurements are counts at some thresholds: a band there, and its neighbors' ends between."""
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
    highest, lowest, last = errors.max(axis=1), errors.min(axis=1), errors[:, -1]
    either = np.maximum(highest, -lowest)
    maxima = NoiseMaxima(np.maximum(highest, 0), either, np.maximum(either, np.maximum(highest - last, last - lowest)))
    low, high = band_ends(estimate, maxima, tail, target, total)
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
    low, high = np.clip(low - strays, 0, 1), np.clip(high + strays, 0, 1)
    low[-1] = high[-1] = 1.0
    return low, high


def _strays(tail: float, total: int | None, feasible: Feasible) -> float:
    """Distance between the curves of the records and of their population, exceeded with probability `tail` at most."""
    if total is None:
        fewest = max(1.0, math.floor(fewest_records(feasible)))
        return math.sqrt(math.log(2 / tail) / (2 * fewest))
    from scipy.stats import kstwo  # slow to import

    return float(kstwo.ppf(1 - tail, total))
