"""U-statistics from pairs of people who compute their kernel in a circuit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

import numpy as np

from ogive.accounting.losses import pure_epsilon
from ogive.columns import Domain
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import among, is_whole, one_of, whole
from ogive.errors import ParameterError, UnsupportedError, quoted
from ogive.kernels import Kernel
from ogive.kernels.base import MAX_BITS, Measure, step
from ogive.kernels.circuits import kernel_circuit
from ogive.pairs import (
    Design,
    DiscreteLaplaceNoise,
    ResponseNoise,
    expected,
    injections,
    noise_variance,
    optimal_injections,
    optimal_pairs,
    with_replacement,
)
from ogive.pairs.designs import most_rounds, pair_keys
from ogive.pairs.variance import PairNoise
from ogive.privacy import ApproxDP, Privacy, PureDP
from ogive.queries import Answer, PairsQuery
from ogive.queries.pairs import DESIGNS, NOISES, DesignName
from ogive.statistics.ustatistic.base import (
    ANY_BINS,
    KernelMeans,
    MeanMethod,
    MeanTask,
    MethodOptions,
    ShapeMeans,
    best,
    check_pairs,
    check_served,
    check_simple,
    sampling_of,
    shape_means,
)
from ogive.statistics.ustatistic.means import nearest_covariance

# --- Options

DEFAULT_BITS = 16


@dataclass(frozen=True)
class Paired(MethodOptions):
    """Options of method "paired": people meet in pairs and compute the kernel with noise inside a circuit.

    `Ustatistic(method="paired")` uses the default options.

    Fields:
        rounds: Number of pairs of each person, each with a part of epsilon; "auto" for the smallest predicted error,
            which is one pair unless epsilon is large. For an AUC with public labels, the number of pairs of each
            person in the smaller class.
        design: "round_robin" (nobody meets the same person twice), "permutations" (a random person in every round,
            perhaps again) or "independent" (this number of independent random pairs; the epsilon of a pair is divided
            by the larger number of pairs of its two persons).
        noise: "response" (randomized response; a distance is first turned into a random bit with the distance as its
            probability, so that there is no delta), "laplace" (discrete Laplace noise, whose truncation costs a
            delta), or "auto" for the smaller predicted error.
        bits: Resolution of distances: 2^-bits of the distance between the bounds, 1 to 30. Order comparisons use exact
            values.

    Raises:
        ParameterError: a field is out of range.

    Source: Bell, Bellet, Gascon and Kulkarni 2020, section 5.3, corrected; `docs/proofs/pairs.md`.

    Example:
        >>> import ogive
        >>> asked = ogive.Ustatistic(("score", "ill"), "auc", bounds=(0, 1), method=ogive.Paired(rounds=2))
    """

    name: ClassVar[str] = "paired"

    rounds: int | Literal["auto"] = "auto"
    design: DesignName = one_of(*DESIGNS)
    noise: Literal["auto", "response", "laplace"] = one_of("auto", *NOISES)
    bits: int = DEFAULT_BITS

    def __post_init__(self) -> None:
        among(self.design, "design", DESIGNS)
        if self.rounds != "auto" and not (is_whole(self.rounds) and self.rounds >= 1):
            raise ParameterError(f"`rounds` must be auto or a whole number of at least 1, got {quoted(self.rounds)}")
        among(self.noise, "noise", ("auto", *NOISES))
        whole(self.bits, "bits", 1, MAX_BITS)


# --- Means over pairs of people, and their errors
#
# The mean of unbiased values w over N pairs varies with the noise, with who met whom, and with who the people are.
# Values of two pairs without a common person are independent, so all of it is in the products of pairs that share one:
#
#     sum over related pairs a, b of (w_a - m)(w_b - m) / (N^2 - R),
#
# R being how many ordered pairs of pairs are related, each with itself among them; the divisor counts that m is
# estimated too. Of disjoint pairs it is the variance of a mean. What part of it the sample has is told by pairs that
# share one person: noise of different pairs is independent, so that their products estimate the covariance of the
# kernel.
#
# Source:
#     `docs/proofs/pairs.md`; Blom 1976; Aronow, Samii and Assenova 2015 on variances of dyadic data.


@dataclass(frozen=True)
class PairedMeans:
    """Means of some kernels over pairs of people.

    Fields:
        values: Shape (m,).
        variance: Covariance around the population's means, shape (m, m).
        sampling: The part of it that the statistic of all pairs of these people has, as far as pairs tell: nothing
            where nobody was in two pairs; shape (m, m).
    """

    values: Float64
    variance: Float64
    sampling: Float64


def paired_means(design: Design, values: Float64, *, people: Sequence[int]) -> PairedMeans:
    """The means of values of shape (pairs, m), with their errors."""
    count = len(design)
    means = values.mean(axis=0)
    centred = values - means
    own = centred.T @ centred
    repeated = _group_products(pair_keys(design.pairs, design.users), centred)
    shared: list[Float64]
    met: list[Int64]
    if design.between:
        shared = [_group_products(design.pairs[:, side], centred) - repeated for side in (0, 1)]
        met = [design.first_degrees, design.second_degrees]
    else:
        ends = np.concatenate([design.pairs[:, 0], design.pairs[:, 1]])
        shared = [_group_products(ends, np.concatenate([centred, centred])) - 2 * repeated]
        met = [design.degrees]
    repeats = _squares(np.unique(pair_keys(design.pairs, design.users), return_counts=True)[1].astype(np.int64))
    related = [_squares(degrees) - (1 if design.between else 2) * repeats for degrees in met]
    # what pairs that share nobody would have: no sharing makes it less
    floor = own / (count * max(1, count - 1))
    every = count**2 - repeats - sum(related)
    variance = floor
    if every > 0:
        variance = floor + nearest_covariance((repeated + sum(shared)) / every - floor)
    sampling = np.zeros_like(floor)
    for products, pairs, size in zip(shared, related, people, strict=True):
        if pairs:
            covariance = nearest_covariance(products / pairs + variance)  # products around the mean lack its variance
            sampling += covariance * ((1 if design.between else 4) / size)
    return PairedMeans(means, variance, _at_most(sampling, variance))


def _group_products(keys: Int64, values: Float64) -> Float64:
    """Sum over groups of the outer square of the sum of a group's values, shape (m, m)."""
    groups = np.unique(keys, return_inverse=True)[1]
    sums = [np.bincount(groups, weights=column).astype(np.float64) for column in values.T]
    return np.asarray(np.array(sums) @ np.array(sums).T)


def _squares(counts: Int64) -> int:
    return int(counts @ counts)


def _at_most(part: Float64, whole: Float64) -> Float64:
    """The largest share of a covariance matrix that leaves a covariance matrix of the whole."""
    if not part.any():
        return part
    return whole - nearest_covariance(whole - part)


# --- Predicted errors of pairs of people
#
# Noise of a pair is one thing; how much pairs differ is another, and a distance that is answered by one random bit
# differs more from pair to pair. The mean over some pairs varies with both, and with who meets whom.
#
# Source:
#     `ustatistics.md`, 7.2 to 7.4; `docs/proofs/pairs.md`.

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
        half, moments = max(1, people // 2), [self.first]
        met: Any
        complete: Any
        if self.between:
            rounds, moments = min(rounds, people - half), [self.first, self.second]
            regular, count = design == "round_robin", rounds * half
            met = (expected.balanced_injections if regular else expected.injections)(half, people - half, rounds)
            complete = expected.balanced_injections(half, people - half, people - half)
        else:
            regular = design != "independent"
            count = rounds * (people // 2) if regular else max(1, rounds * people // 2)
            designs = {"round_robin": expected.round_robin, "permutations": expected.permutations}
            met = designs[design](people, rounds) if regular else expected.with_replacement(people, count)
            complete = expected.all_pairs(people)
        whole: float = complete.variance(*moments, self.pair)
        drawn: float = max(0.0, met.variance(*moments, self.pair + self.rounding) - whole)
        if regular:
            return drawn + self.noise.variance(epsilon / rounds) / count
        if self.between:
            pairs = injections(np.arange(people) < half, rounds, seed=_SEED)
        else:
            pairs = with_replacement(people, count, seed=_SEED)
        return drawn + noise_variance(pairs, epsilon, self.noise)


def predicted_pairs(measure: Measure, domain: Domain, classes: int, *, noise: str, bits: int) -> PredictedPairs:
    """How a measure varies and what noise it gets."""
    shapes = shape_means(measure, domain, classes)
    moments, parts, rounding = [], [], 0.0
    for shape in shapes:
        values = [_over_pairs(shape, kernel, bool(classes)) for kernel in measure.kernels]
        moments.append(_moments(sum(slope * each for slope, each in zip(shape.gradient, values, strict=True))))
        for slope, kernel, result in zip(shape.gradient, measure.kernels, values, strict=True):
            weight = float(slope) ** 2 / len(shapes)
            law, rounded = _noise_of(kernel, domain, bits, noise, result)
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


# --- The method

DEFAULTS = Paired()
FEWEST = 4
"""People below which nothing can be said of the error of a mean over their pairs."""

LEAST_EPSILON = Fraction(1, 10**9)
"""Of a person; with less the answers of all people there are would say nothing."""

LARGEST_SCALE = 1 << 28
"""Of noise inside a circuit, in steps: the rarest of its bits is still drawn to one part in 2^32."""


@dataclass(frozen=True)
class PeoplesPairs(MeanMethod):
    """One noisy value of every kernel from each pair of people."""

    name: ClassVar[str] = Paired.name

    query: PairsQuery
    guess: PredictedPairs

    @cached_property
    def predicted(self) -> float:
        """Mean over the reference shapes of the variance, around the statistic of all pairs of these people."""
        query = self.query
        return self.guess.variance(query.design, query.rounds, self.task.records, float(query.epsilon))

    def means(self, answer: Answer) -> KernelMeans:
        """Means of the kernels, with the error that the pairs' values show."""
        assert answer.totals is not None, "under ADD_OR_REMOVE no price was named"
        rows, total = answer.values, sum(answer.totals)
        design = Design(total, rows[:, :2], between=self.query.classes)
        means = paired_means(design, self.query.read(rows), people=answer.totals[::-1])
        moved = [_rounded(kernel, self.domain, self.query.bits) for kernel in self.task.measure.kernels]
        classes = answer.totals if self.query.classes else None
        noise = means.variance - means.sampling
        # a few values may all be the same, and show no noise
        noise = noise + np.diag(np.maximum(0, self.query.least_noise(rows) - np.diag(noise)))
        return KernelMeans(means.values, noise, sampling_of(means.sampling), np.array(moved), total, classes)


def paired(task: MeanTask, options: Paired = DEFAULTS) -> PeoplesPairs:
    """Pairs of people, as many of each as err least, with the noise that errs least."""
    check_pairs(task, Paired.name)
    check_simple(task, Paired.name)
    for kernel in task.measure.kernels:
        kernel_circuit(kernel, task.domain(ANY_BINS))
    people = task.records
    if people < FEWEST:
        raise ParameterError(f"pairs of people need at least {FEWEST} of them, got {people}")
    if task.classes is not None and options.design == "independent":
        raise ParameterError(
            "independent pairs are of any two people; between classes use design 'round_robin' or 'permutations'"
        )
    if task.classes is None and options.rounds != "auto" and options.rounds > most_rounds(people):
        raise ParameterError(f"{people} people can meet in at most {most_rounds(people)} rounds, got {options.rounds}")
    noises = NOISES if options.noise == "auto" else (options.noise,)
    return best(partial(_made, task, options, noise) for noise in noises)


def _made(task: MeanTask, options: Paired, noise: str) -> PeoplesPairs:
    epsilon, delta = _spent(task.terms.privacy, noise)
    if epsilon < LEAST_EPSILON:
        raise UnsupportedError(
            f"epsilon = {float(epsilon):.3g} is too small for noise inside a circuit; use a larger one"
        )
    people = task.records
    classes = task.number_of_classes
    guess = predicted_pairs(task.measure, task.domain(ANY_BINS), classes, noise=noise, bits=options.bits)
    whole = float(epsilon)
    rounds = options.rounds if isinstance(options.rounds, int) else guess.best_rounds(people, whole)
    bits = _bits(task, options.bits, whole / rounds) if noise == "laplace" else options.bits
    query = PairsQuery(
        task.rows(ANY_BINS), task.measure, bool(classes), epsilon, delta, options.design, rounds, noise, bits
    )
    query.program(rounds)  # refuses noise that cannot be drawn
    check_served(task.terms, query)
    return PeoplesPairs(task, query, ANY_BINS, guess)


def _spent(privacy: Privacy, noise: str) -> tuple[Fraction, Fraction]:
    """Epsilon and delta of a person: no delta with randomized response."""
    if noise == "laplace":
        if isinstance(privacy, ApproxDP):
            return privacy.epsilon, privacy.delta
        raise UnsupportedError(
            "Laplace noise that two people draw inside a circuit is cut off far out, which requires a delta; give "
            "one, for example `ApproxDP(1, \"1e-9\")`, or use `noise='response'`"
        )
    pure = privacy if isinstance(privacy, PureDP) else pure_epsilon(privacy)
    return pure.epsilon, Fraction(0)


def _bits(task: MeanTask, most: int, epsilon: float) -> int:
    """Finest steps whose noise can be drawn precisely: where there is more of it, finer ones would say nothing."""
    domain, kernels = task.domain(ANY_BINS), task.measure.kernels
    for bits in range(most, 0, -1):
        scales = [kernel_circuit(kernel, domain).scale(bits).swing * len(kernels) / epsilon for kernel in kernels]
        if all(scale <= LARGEST_SCALE for scale in scales):
            return bits
    raise UnsupportedError(
        f"epsilon = {epsilon:.3g} for a pair needs more noise than circuits can draw; use a larger one"
    )


def _rounded(kernel: Kernel, domain: Domain, bits: int) -> float:
    """How far steps may move a kernel: half a step of either argument."""
    slope = kernel.lipschitz(domain)
    return 0.0 if slope is None else slope * float(step(domain, bits))
