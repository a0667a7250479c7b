"""What pairs of people would err, before anybody is asked: on public shapes, by the exact variance of a design.

Noise of a pair is one thing; how much pairs differ is another, and a distance that is answered by one random bit
differs more from pair to pair. The mean over some pairs varies with both, and with who meets whom.

Source:
    `ustatistics.md`, 7.2 to 7.4; `docs/proofs/pairs.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.arrays import Float64
from ogive.columns import Domain
from ogive.kernels import Kernel
from ogive.kernels.base import Measure
from ogive.kernels.circuits import kernel_circuit
from ogive.pairs import (
    DiscreteLaplaceNoise,
    Overlaps,
    ResponseNoise,
    expected,
    injections,
    noise_variance,
    optimal_injections,
    optimal_pairs,
    with_replacement,
)
from ogive.pairs.noise import PairNoise
from ogive.statistics.ustatistic.reference_shapes import ShapeMeans, shape_means

# of the designs that are drawn to predict their noise
_SEED = b"ogive predicts pairs"


@dataclass(frozen=True)
class Together:
    """Noise of a pair on what a measure makes of its kernels, as a mean over the reference shapes.

    Fields:
        parts: Of each kernel and shape its weight and the noise.
        kernels: Which share epsilon.
    """

    parts: tuple[tuple[float, PairNoise], ...]
    kernels: int

    def variance(self, epsilon: float) -> float:
        """Of a pair that spends so much on all kernels."""
        return sum(weight * noise.variance(epsilon / self.kernels) for weight, noise in self.parts)


@dataclass(frozen=True)
class PredictedPairs:
    """How a measure varies over pairs of people, as a mean over the reference shapes.

    Fields:
        first: Variance of its mean given one record; of two samples one of the positive class.
        second: Given one of the negative class; 0 for a single sample.
        pair: Its variance over pairs.
        rounding: What rounding a distance to one bit adds to that; 0 where nothing is rounded.
        noise: Of a pair.
        between: Whether there are two samples.
    """

    first: float
    second: float
    pair: float
    rounding: float
    noise: Together
    between: bool

    def best_rounds(self, people: int, epsilon: float) -> int:
        """In how many pairs each should be, of designs in which nobody meets the same person twice."""
        apart = self.pair + self.rounding
        if self.between:
            half = max(1, people // 2)
            return optimal_injections(half, people - half, epsilon, self.first, self.second, apart, self.noise)
        return optimal_pairs(people, epsilon, self.first, apart, self.noise)

    def variance(self, design: str, rounds: int, people: int, epsilon: float) -> float:
        """Of the mean over the pairs of a design, around that over all pairs of the same people."""
        if self.between:
            return self._between(design, min(rounds, people - max(1, people // 2)), people, epsilon)
        count = max(1, rounds * people // 2) if design == "independent" else rounds * (people // 2)
        met = _met(design, rounds, people, count)
        complete = expected.all_pairs(people).variance(self.first, self.pair)
        drawn = max(0.0, met.variance(self.first, self.pair + self.rounding) - complete)
        if design != "independent":
            return drawn + self.noise.variance(epsilon / rounds) / count
        return drawn + noise_variance(with_replacement(people, count, seed=_SEED), epsilon, self.noise)

    def _between(self, design: str, rounds: int, people: int, epsilon: float) -> float:
        half = max(1, people // 2)
        sizes = half, people - half
        regular = design == "round_robin"
        met = (expected.balanced_injections if regular else expected.injections)(*sizes, rounds)
        complete = expected.balanced_injections(*sizes, people - half).variance(self.first, self.second, self.pair)
        drawn = max(0.0, met.variance(self.first, self.second, self.pair + self.rounding) - complete)
        if regular:
            return drawn + self.noise.variance(epsilon / rounds) / (rounds * half)
        positive = np.arange(people) < half
        return drawn + noise_variance(injections(positive, rounds, seed=_SEED), epsilon, self.noise)


def predicted_pairs(measure: Measure, domain: Domain, classes: int, *, noise: str, bits: int) -> PredictedPairs:
    """How a measure varies and what noise it gets.

    Args:
        measure: What is asked.
        domain: What its kernels look at, with any number of bins.
        classes: How many public classes there are, 0 or 2.
        noise: "response" or "laplace".
        bits: Of the steps of distances.
    """
    shapes = shape_means(measure, domain, classes)
    moments, parts, rounding = [], [], 0.0
    for shape in shapes:
        values = [_over_pairs(shape, kernel, bool(classes)) for kernel in measure.kernels]
        moments.append(_moments(sum(slope * each for slope, each in zip(shape.gradient, values, strict=True))))
        for slope, kernel, found in zip(shape.gradient, measure.kernels, values, strict=True):
            weight = float(slope) ** 2 / len(shapes)
            law, rounded = _noise_of(kernel, domain, bits, noise, found)
            parts.append((weight, law))
            rounding += weight * rounded
    first, second, pair = np.mean(moments, axis=0).tolist()
    together = Together(tuple(parts), len(measure.kernels))
    return PredictedPairs(first, second if classes else 0.0, pair, rounding, together, between=bool(classes))


def _noise_of(kernel: Kernel, domain: Domain, bits: int, noise: str, values: Float64) -> tuple[PairNoise, float]:
    """A kernel's noise, and what rounding to one bit adds to its variance over pairs."""
    inside = kernel_circuit(kernel, domain)
    scale, wholes = inside.scale(bits), inside.wholes
    if noise == "laplace":
        return DiscreteLaplaceNoise(scale.swing, float(scale.unit)), 0.0
    if wholes is not None:
        answers = tuple(float(scale.zero + scale.unit * whole) for whole in wholes)
        counts = np.array([np.count_nonzero(values == answer) for answer in answers], dtype=np.float64)
        return ResponseNoise(answers, tuple((counts / counts.sum()).tolist())), 0.0
    low, high = (float(scale.zero + scale.unit * whole) for whole in (0, 1 << inside.digits(bits)))
    return ResponseNoise((low, high)), float(np.nanmean((values - low) * (high - values)))


def _met(design: str, rounds: int, people: int, count: int) -> Overlaps:
    if design == "independent":
        return expected.with_replacement(people, count)
    return (expected.round_robin if design == "round_robin" else expected.permutations)(people, rounds)


def _over_pairs(shape: ShapeMeans, kernel: Kernel, between: bool) -> Float64:
    """Values of a kernel over all pairs of imagined records; NaN of one with itself."""
    if between:
        return np.asarray(kernel(shape.rows[shape.classes == 1][:, None], shape.rows[shape.classes == 0][None]))
    values = np.array(kernel(shape.rows[:, None], shape.rows[None]), dtype=np.float64)
    np.fill_diagonal(values, np.nan)
    return values


def _moments(values: Float64) -> tuple[float, float, float]:
    """Variances of the means of rows and of columns, and of the values."""
    rows, columns = np.nanmean(values, axis=1), np.nanmean(values, axis=0)
    return float(np.var(rows)), float(np.var(columns)), float(np.nanvar(values))
