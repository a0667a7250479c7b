"""Measures of predicted probabilities as functions of class histograms: value, gradient, and what they need.

Bin b holds the scores above e_b and at most e_{b+1}, of equal width, with midpoint m_b. Let N_b and P_b be the negative
and the positive records of bin b, and n all of them. Scores are represented by midpoints; where what the bins hide
matters, an interval is that of the least and of the greatest value that the scores within the bins allow.

For reliability, resolution and the expected calibration error bins are merged to groups. With the deviations

    D_g = sum of (m_b N_b - (1 - m_b) P_b)   of the bins of group g, expected less observed positives,

they are norms of D: the error of a norm is at most the norm of the error, whose quantile is found by simulation. Such
an interval holds for whatever true values, 0 included, where no first-order variance would do. Noise and sampling make
a norm too large; the value is corrected for that, group by group.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ogive.core.arrays import Bool, Float64
from ogive.statistics.confidence import check_level, simulations_needed
from ogive.statistics.curve.bands import upper_quantile
from ogive.statistics.functionals import CLEAR, FEWEST, SIMULATIONS, ClassCounts, Function, Value, unknown

_STEPS = 60
_SETTLED = 1e-12
_STEEPEST = 30.0
"""Largest coefficient of a recalibration; classes that hardly overlap have none."""


def edges(bins: int) -> Float64:
    """Ends of the bins, shape (bins + 1,)."""
    return np.linspace(0.0, 1.0, bins + 1)


def midpoints(bins: int) -> Float64:
    """Midpoints of the bins, shape (bins,)."""
    return (np.arange(bins) + 0.5) / bins


def positives(bins: int, chosen: Bool | None = None) -> Float64:
    """Weights that count positive records, of all bins or of those chosen, shape (2, bins)."""
    return np.stack([np.zeros(bins), np.ones(bins) if chosen is None else chosen.astype(float)])


def negatives(bins: int, chosen: Bool | None = None) -> Float64:
    """Weights that count negative records."""
    return np.asarray(positives(bins, chosen)[::-1])


class Ratio(NamedTuple):
    """A weighted number of records over another one, with weights of shape (2, bins) and what is possible.

    A share is one whose numerator counts some of the records of the denominator.
    """

    part: Float64
    whole: Float64
    within: tuple[float, float] = (0.0, 1.0)
    share: bool = False

    def estimate(self, counts: ClassCounts, level: float) -> Value:
        """Its value with an interval."""

        def function(histograms: Float64) -> Function:
            below = float((self.whole * histograms).sum())
            value = float((self.part * histograms).sum()) / below if below else math.nan
            return Function(value, (self.part - value * self.whole) / below if below else self.part * math.nan)

        number = (lambda histograms: float((self.whole * histograms).sum())) if self.share else None
        return counts.estimate(function, level, needs=(self.whole,), within=self.within, share_of=number)


def between(counts: ClassCounts, ratios: list[Ratio], level: float) -> Value:
    """The first ratio, with an interval from the lower end of the second to the upper end of the third."""
    value, low, high = (each.estimate(counts, level) for each in ratios)
    return value._replace(low=min(low.low, value.low), high=max(high.high, value.high))


def brier(bins: int) -> list[Ratio]:
    """Mean squared error of the scores: of midpoints, and at least and at most of the scores within the bins."""
    ends, middle, whole = edges(bins), midpoints(bins), np.ones((2, bins))
    low, high = ends[:-1], ends[1:]
    results = (middle, 1 - middle), (low, 1 - high), (high, 1 - low)
    return [Ratio(np.square(each), whole) for each in results]


def mean_difference(bins: int) -> list[Ratio]:
    """Share of positives less the mean score: of midpoints, and at least and at most of the scores within the bins."""
    ends, whole = edges(bins), np.ones((2, bins))
    scores = midpoints(bins), ends[1:], ends[:-1]
    return [Ratio(np.stack([-each, 1 - each]), whole, (-1.0, 1.0)) for each in scores]


def at_threshold(name: str, bins: int, threshold: float) -> Ratio:
    """A measure of the decision to call scores above a threshold positive; at 0 everybody is, a score of 0 included."""
    chosen = np.arange(bins) >= round(threshold * bins)
    true, false = positives(bins, chosen), negatives(bins, chosen)
    missed, healthy = positives(bins, ~chosen), negatives(bins, ~chosen)
    shares = {
        "sensitivity": (true, true + missed),
        "specificity": (healthy, healthy + false),
        "ppv": (true, true + false),
        "npv": (healthy, healthy + missed),
    }
    if name in shares:
        return Ratio(*shares[name], share=True)
    odds = threshold / (1 - threshold)
    if name == "treat_all":
        true, false = positives(bins), negatives(bins)
    return Ratio(true - odds * false, np.ones((2, bins)), (-odds, 1.0))


# --- Logistic recalibration


def log_odds(bins: int) -> Float64:
    """Log odds of the midpoints."""
    return np.asarray(np.log(midpoints(bins) / (1 - midpoints(bins))))


def logistic(histograms: Float64, *, slope: bool) -> tuple[Float64, Float64, Float64] | None:
    """Intercept, and slope or 1, of the outcome's log odds on those of the score, by weighted maximum likelihood.

    With gradients, shape (coefficients, 2, bins), and fitted probabilities; None where there is no maximum.
    """
    bins = histograms.shape[1]
    x, number = log_odds(bins), histograms.sum(axis=0)
    design = np.stack([np.ones(bins), x]) if slope else np.ones((1, bins))
    theta = np.array([0.0, 1.0]) if slope else np.zeros(1)
    fixed = np.zeros(bins) if slope else x

    def fitted(given: Float64) -> Float64:
        return np.asarray(1 / (1 + np.exp(-np.clip(fixed + given @ design, -700, 700))))

    for _ in range(_STEPS):
        p = fitted(theta)
        score = design @ (histograms[1] - number * p)
        information = (design * (number * p * (1 - p))) @ design.T
        least, most = np.linalg.eigvalsh(information)[[0, -1]]
        if not least > 1e-9 * most:  # no records, or all in one bin
            return None
        step = np.linalg.solve(information, score)
        step *= min(1.0, 1.0 / max(float(np.abs(step).max()), 1e-300))
        theta = theta + step
        if np.abs(theta).max() > _STEEPEST:
            return None
        if np.abs(step).max() < _SETTLED:
            p = fitted(theta)
            residual = np.stack([-p, 1 - p])
            gradients = np.linalg.solve(information, design)[:, None, :] * residual[None]
            return theta, gradients, p
    return None


def coefficient(counts: ClassCounts, name: str, level: float) -> Value:
    """The calibration slope, its intercept, or the intercept where the slope is 1, with its interval."""
    bins = int(counts.raw.shape[1])
    within = (-math.inf, math.inf)
    result = logistic(counts.histograms, slope=name != "calibration_in_the_large")
    if result is None:
        return unknown(*within)
    theta, gradients, p = result
    place = 1 if name == "slope" else 0
    spread, number = p * (1 - p), counts.histograms.sum(axis=0)
    center = float((spread * number) @ log_odds(bins)) / float(spread @ number)
    informative = spread * (log_odds(bins) - center) ** 2 if name != "calibration_in_the_large" else spread
    if not counts.clear(np.stack([informative, informative]), 0.0):  # information, which is no number of records
        return unknown(*within)
    return counts.estimate(
        lambda _: Function(float(theta[place]), gradients[place]),
        level,
        needs=(positives(bins), negatives(bins)),
        within=within,
    )


# --- Norms of deviations in groups of bins


class Groups(NamedTuple):
    """Ends of groups of bins, records and deviation of each, and gradients of these, shape (groups, 2, bins)."""

    ends: Float64
    numbers: Float64
    deviations: Float64
    gradients: Float64


def grouped(counts: ClassCounts, wanted: int, name: str) -> Groups | None:
    """Groups of equal width, merged with the next while noise may hide that anybody is in them; None where none is."""
    bins = int(counts.raw.shape[1])
    number, ends = counts.histograms.sum(axis=0), edges(bins)
    middle = midpoints(bins)
    prevalence = float(counts.histograms[1].sum()) / max(float(number.sum()), 1e-9)
    expected = middle if name != "resolution" else np.full(bins, prevalence)
    kept, place = [0], 0
    for cut in sorted({round(end * bins / wanted) for end in range(1, wanted + 1)}):
        inside = np.zeros((2, bins))
        inside[:, place:cut] = 1.0
        noise = math.sqrt(float(counts.change(inside[None]).noise[0]))
        records = float(number[place:cut].sum())
        if records > CLEAR * noise and records >= (FEWEST if counts.strategy is not None else 1.0):
            kept.append(cut)
            place = cut
    if len(kept) == 1:
        return None
    kept[-1] = bins
    gradients = np.zeros((len(kept) - 1, 2, bins))
    for row, (first, last) in enumerate(pairwise(kept)):
        gradients[row, :, first:last] = np.stack([expected, expected - 1])[:, first:last]
    deviations = (gradients * counts.histograms).sum(axis=(1, 2))
    numbers = np.add.reduceat(number, kept[:-1])
    if name == "resolution":  # the prevalence is an estimate as well
        moves = -numbers[:, None, None] * np.stack([np.full(bins, prevalence), np.full(bins, prevalence - 1)])
        gradients = gradients + moves / float(number.sum())
    return Groups(ends[kept], numbers, deviations, gradients)


def norm(counts: ClassCounts, name: str, wanted: int, level: float) -> Value:
    """Reliability, resolution or the expected calibration error of groups of bins, with its interval."""
    groups = grouped(counts, wanted, name)
    if groups is None or not (groups.numbers > 0).all() or (name == "resolution" and len(groups.numbers) == 1 < wanted):
        return unknown()  # one group for all has no resolution, whatever smaller groups have
    total, moved = float(groups.numbers.sum()), groups.gradients.copy()
    moved -= (groups.deviations / total * (1.0 if name == "ece" else 0.5))[:, None, None]
    if name != "ece":  # these norms divide by the root of the records of each group, which are estimates
        middle = midpoints(moved.shape[2])
        for row, (first, last) in enumerate(pairwise(groups.ends)):
            moved[row, :, (middle > first) & (middle < last)] -= groups.deviations[row] / (2 * groups.numbers[row])
    error = counts.change(moved).deviations
    needed = simulations_needed(check_level(level), share=Fraction(1), nodes=counts.nodes, usual=SIMULATIONS)
    drawn = counts.errors(needed) @ moved.reshape(len(error), -1).T
    tail = 1 - check_level(level)
    if name == "ece":
        plain = float(np.abs(groups.deviations).sum()) / total
        reach = upper_quantile(np.abs(drawn).sum(axis=1) / total, tail)
        value = float(unfolded(np.abs(groups.deviations), error).sum()) / total
        low, high = plain - reach, plain + reach
    else:
        scale = np.sqrt(groups.numbers * total)
        plain = float(np.linalg.norm(groups.deviations / scale))
        reach = upper_quantile(np.linalg.norm(drawn / scale, axis=1), tail)
        value = max(0.0, plain**2 - float(np.sum((error / scale) ** 2)))
        low, high = max(plain - reach, 0.0) ** 2, (plain + reach) ** 2
    value = min(value, 1.0)
    return Value(value, min(max(low, 0.0), value), max(min(high, 1.0), value), float(np.linalg.norm(error)) / total)


def unfolded(values: Float64, errors: Float64) -> Float64:
    """Absolute values without what normal errors add on average: the mu of which |mu + error| has that mean."""
    low, high = np.zeros_like(values), values.copy()
    erf = np.vectorize(math.erf, otypes=[float])
    safe = np.where(errors > 0, errors, 1.0)
    for _ in range(50):
        mu = (low + high) / 2
        mean = errors * math.sqrt(2 / math.pi) * np.exp(-((mu / safe) ** 2) / 2) + mu * erf(mu / safe / math.sqrt(2))
        low, high = np.where(mean < values, mu, low), np.where(mean < values, high, mu)
    return np.asarray(np.where(errors > 0, (low + high) / 2, values))


# --- Isotonic recalibration


def isotonic(histograms: Float64) -> Float64:
    """Share of positives in each bin, not decreasing, by pooling neighbors; shape (bins,). Empty bins join others."""
    blocks: list[list[float]] = []  # records, positives, bins
    for number, positive in zip(histograms.sum(axis=0), histograms[1], strict=True):
        blocks.append([float(number), float(positive), 1])
        while len(blocks) > 1 and blocks[-1][1] * blocks[-2][0] <= blocks[-2][1] * blocks[-1][0]:
            last = blocks.pop()
            blocks[-1] = [one + other for one, other in zip(blocks[-1], last, strict=True)]
    shares = [positive / number if number > 0 else math.nan for number, positive, _ in blocks]
    known = [each for each in shares if not math.isnan(each)]
    filled = [known[0] if math.isnan(each) and known else each for each in shares]
    return np.asarray(np.clip(np.repeat(filled, [int(width) for *_, width in blocks]), 0.0, 1.0))


# --- Sets of labels that hold the true one


def binomial_at_most(count: int, trials: int, share: float) -> float:
    """Chance that independent trials have at most a number of successes."""
    if count < 0:
        return 0.0
    if count >= trials or share <= 0:
        return 1.0
    from scipy.stats import binom  # slow to import

    return 0.0 if share >= 1 else float(binom.cdf(count, trials, share))


def conformal_place(counts: ClassCounts, coverage: float, level: float) -> int:
    """The least k for which the labels of scores up to and from the k-th ends surely cover; the number of bins if none.

    Going down from all bins, a step is taken while so few records are left out that a share above 1 - coverage would
    have left out as few with probability at most 1 - level: noise has half of it, sampling the other half.
    """
    bins = int(counts.raw.shape[1])
    tail = (1 - check_level(level)) / 2
    private = counts.strategy is not None
    known = counts.total is not None or counts.sizes is not None
    reach = 0.0
    if private:
        needed = simulations_needed(check_level(level), share=Fraction(1, 4), nodes=counts.nodes, usual=SIMULATIONS)
        errors = counts.errors(needed, sampling=False).reshape(needed, 2, bins)
        up, down = errors[:, 0, ::-1].cumsum(axis=1)[:, ::-1], errors[:, 1].cumsum(axis=1)
        if not known:  # of the counted records, noise may have added up to this number
            reach = upper_quantile(up[:, 0] + down[:, -1], tail / 2)
    trials = math.floor(counts.records - reach + 1e-6)
    best = bins
    for k in range(bins - 1, 0, -1):
        left = np.stack([np.arange(bins) >= k, np.arange(bins) < bins - k]).astype(float)
        missed = float((left * counts.histograms).sum())
        if private:
            missed += upper_quantile(-(up[:, k] + down[:, bins - k - 1]), tail if known else tail / 2)
        chance = binomial_at_most(math.floor(max(missed, 0.0) + 1e-6), trials, 1 - coverage)
        if trials < 1 or chance > float(tail if private else 2 * tail):
            break
        best = k
    return best
