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
from ogive.kernels.base import MAX_BITS, step
from ogive.kernels.circuits import kernel_circuit
from ogive.pairs import designs, variance
from ogive.pairs.designs import Design, most_rounds, pair_keys
from ogive.pairs.variance import Overlaps, PairNoise, TwoSampleOverlaps
from ogive.privacy import ApproxDP, PureDP
from ogive.queries import Answer, PairsQuery
from ogive.queries.pairs import DESIGNS, NOISES, DesignName
from ogive.statistics.ustatistic.base import ANY_BINS, MeanMethod, MeanTask, MethodOptions, ShapeMeans, best
from ogive.statistics.ustatistic.means import Means, nearest_covariance

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
# Values of two pairs without a common person are independent, so the variance of their mean is in the products of pairs
# that share one; those that share one person alone show what part of it the sample has, since noise of different pairs
# is independent. Source: docs/proofs/pairs.md; Blom 1976; Aronow, Samii and Assenova 2015.


@dataclass(frozen=True)
class PairedMeans:
    """Means of some kernels over pairs of people, shape (m,), with their covariance around the population's, (m, m).

    `sampling` is the part of it that the statistic of all pairs of these people has: 0 where nobody was in two pairs.
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
    if design.between:
        shared = [_group_products(design.pairs[:, side], centred) - repeated for side in (0, 1)]
        counted = variance.two_sample_overlaps(design)
        related, repeats = [int(counted.first), int(counted.second)], int(counted.both)
    else:
        ends = np.concatenate([design.pairs[:, 0], design.pairs[:, 1]])
        shared = [_group_products(ends, np.concatenate([centred, centred])) - 2 * repeated]
        alike = variance.overlaps(design)
        related, repeats = [int(alike.one)], int(alike.both)
    # what pairs that share nobody would have: no sharing makes it less
    floor = own / (count * max(1, count - 1))
    every = count**2 - repeats - sum(related)
    covariance = floor
    if every > 0:
        covariance = floor + nearest_covariance((repeated + sum(shared)) / every - floor)
    sampling = np.zeros_like(floor)
    for products, pairs, size in zip(shared, related, people, strict=True):
        if pairs:  # products around the mean lack its variance
            sampling += nearest_covariance(products / pairs + covariance) * ((1 if design.between else 4) / size)
    if sampling.any():  # no more than leaves a covariance matrix of the whole
        sampling = covariance - nearest_covariance(covariance - sampling)
    return PairedMeans(means, covariance, sampling)


def _group_products(keys: Int64, values: Float64) -> Float64:
    """Sum over groups of the outer square of the sum of a group's values, shape (m, m)."""
    groups = np.unique(keys, return_inverse=True)[1]
    sums = [np.bincount(groups, weights=column).astype(np.float64) for column in values.T]
    return np.asarray(np.array(sums) @ np.array(sums).T)


# --- Predicted errors of pairs of people
# Source: `ustatistics.md`, 7.2 to 7.4; docs/proofs/pairs.md.

# of the designs that are drawn to predict their noise
_SEED = b"ogive predicts pairs"


@dataclass(frozen=True)
class Together:
    """Noise of a pair on a measure: of each kernel and shape its weight and the noise; the kernels share epsilon."""

    parts: tuple[tuple[float, PairNoise], ...]
    kernels: int

    def variance(self, epsilon: float) -> float:
        return sum(weight * noise.variance(epsilon / self.kernels) for weight, noise in self.parts)


@dataclass(frozen=True)
class PredictedPairs:
    """How a measure varies over pairs of people, as a mean over the reference shapes.

    `first` and `second` are variances of its mean given one record (of the positive and the negative class), `pair` is
    that over pairs, to which rounding a distance to one bit adds `rounding`.
    """

    first: float
    second: float
    pair: float
    rounding: float
    noise: Together
    between: bool

    def best_rounds(self, people: int, epsilon: float) -> int:
        apart = self.pair + self.rounding
        if self.between:
            half = max(1, people // 2)
            return variance.optimal_injections(half, people - half, epsilon, self.first, self.second, apart, self.noise)
        return variance.optimal_pairs(people, epsilon, self.first, apart, self.noise)

    def variance(self, design: str, rounds: int, people: int, epsilon: float) -> float:
        """Of the mean over the pairs of a design, around that over all pairs of the same people."""
        half, moments = max(1, people // 2), [self.first]
        met: Any
        complete: Any
        if self.between:
            rounds, moments = min(rounds, people - half), [self.first, self.second]
            regular, count = design == "round_robin", rounds * half
            met = (TwoSampleOverlaps.balanced_injections if regular else TwoSampleOverlaps.injections)(
                half, people - half, rounds
            )
            complete = TwoSampleOverlaps.balanced_injections(half, people - half, people - half)
        else:
            regular = design != "independent"
            count = rounds * (people // 2) if regular else max(1, rounds * people // 2)
            regularly = {"round_robin": Overlaps.round_robin, "permutations": Overlaps.permutations}
            met = regularly[design](people, rounds) if regular else Overlaps.with_replacement(people, count)
            complete = Overlaps.all_pairs(people)
        whole: float = complete.variance(*moments, self.pair)
        drawn: float = max(0.0, met.variance(*moments, self.pair + self.rounding) - whole)
        if regular:
            return drawn + self.noise.variance(epsilon / rounds) / count
        if self.between:
            pairs = designs.injections(np.arange(people) < half, rounds, seed=_SEED)
        else:
            pairs = designs.with_replacement(people, count, seed=_SEED)
        return drawn + variance.noise_variance(pairs, epsilon, self.noise)


def predicted_pairs(task: MeanTask, *, noise: str, bits: int) -> PredictedPairs:
    """How a measure varies and what noise it gets."""
    measure, domain, classes = task.measure, task.domain(ANY_BINS), task.number_of_classes
    shapes, moments, parts, rounding = task.shapes, [], [], 0.0
    for shape in shapes:
        values = [_over_pairs(shape, kernel, bool(classes)) for kernel in measure.kernels]
        mixed = sum(slope * each for slope, each in zip(shape.gradient, values, strict=True))
        rows, columns = np.nanmean(mixed, axis=1), np.nanmean(mixed, axis=0)
        moments.append((float(np.var(rows)), float(np.var(columns)), float(np.nanvar(mixed))))
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
        return variance.DiscreteLaplaceNoise(scale.swing, float(scale.unit)), 0.0
    if wholes is not None:
        answers = tuple(float(scale.zero + scale.unit * whole) for whole in wholes)
        counts = np.array([np.count_nonzero(values == answer) for answer in answers], dtype=np.float64)
        return variance.ResponseNoise(answers, tuple((counts / counts.sum()).tolist())), 0.0
    low, high = (float(scale.zero + scale.unit * whole) for whole in (0, 1 << inside.digits(bits)))
    return variance.ResponseNoise((low, high)), float(np.nanmean((values - low) * (high - values)))


def _over_pairs(shape: ShapeMeans, kernel: Kernel, between: bool) -> Float64:
    """Values of a kernel over all pairs of imagined records; NaN of one with itself."""
    if between:
        return np.asarray(kernel(shape.rows[shape.classes == 1][:, None], shape.rows[shape.classes == 0][None]))
    values = np.array(kernel(shape.rows[:, None], shape.rows[None]), dtype=np.float64)
    np.fill_diagonal(values, np.nan)
    return values


# --- The method

DEFAULTS = Paired()
FEWEST = 4  # people, for an error of a mean over their pairs
LEAST_EPSILON = Fraction(1, 10**9)  # with less the answers of all people there are would say nothing
LARGEST_SCALE = 1 << 28  # of noise inside a circuit, in steps: the rarest of its bits is drawn to one part in 2^32


@dataclass(frozen=True)
class PeoplesPairs(MeanMethod):
    """One noisy value of every kernel from each pair of people."""

    name: ClassVar[str] = Paired.name

    query: PairsQuery
    guess: PredictedPairs

    @cached_property
    def predicted(self) -> float:
        query = self.query
        return self.guess.variance(query.design, query.rounds, self.task.records, float(query.epsilon))

    def means(self, answer: Answer) -> Means:
        assert answer.totals is not None, "under ADD_OR_REMOVE no price was named"
        rows, total = answer.values, sum(answer.totals)
        design = Design(total, rows[:, :2], between=self.query.classes)
        means = paired_means(design, self.query.read(rows), people=answer.totals[::-1])
        # steps move a kernel by half a step of either argument
        slopes = [kernel.lipschitz(self.domain) for kernel in self.task.measure.kernels]
        size = float(step(self.domain, self.query.bits)) if any(slopes) else 0.0
        moved = [0.0 if slope is None else slope * size for slope in slopes]
        classes = answer.totals if self.query.classes else None
        noise = means.variance - means.sampling
        # a few values may all be the same, and show no noise
        noise = noise + np.diag(np.maximum(0, self.query.least_noise(rows) - np.diag(noise)))
        return Means(means.values, noise, means.sampling, np.array(moved), total, classes)


def paired(task: MeanTask, options: Paired = DEFAULTS) -> PeoplesPairs:
    """Pairs of people, as many of each as err least, with the noise that errs least."""
    task.check(Paired.name, pairs=True)
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
    return best(partial(_with_noise, task, options, noise) for noise in noises)


def _with_noise(task: MeanTask, options: Paired, noise: str) -> PeoplesPairs:
    privacy, delta = task.terms.privacy, Fraction(0)  # no delta with randomized response
    if noise == "laplace":
        if not isinstance(privacy, ApproxDP):
            raise UnsupportedError(
                "Laplace noise that two people draw inside a circuit is cut off far out, which requires a delta; give "
                "one, for example `ApproxDP(1, \"1e-9\")`, or use `noise='response'`"
            )
        epsilon, delta = privacy.epsilon, privacy.delta
    else:
        epsilon = (privacy if isinstance(privacy, PureDP) else pure_epsilon(privacy)).epsilon
    if epsilon < LEAST_EPSILON:
        raise UnsupportedError(
            f"epsilon = {float(epsilon):.3g} is too small for noise inside a circuit; use a larger one"
        )
    classes, spent = task.number_of_classes, float(epsilon)
    guess = predicted_pairs(task, noise=noise, bits=options.bits)
    rounds = options.rounds if isinstance(options.rounds, int) else guess.best_rounds(task.records, spent)
    bits = _bits(task, options.bits, spent / rounds) if noise == "laplace" else options.bits
    query = PairsQuery(
        task.rows(ANY_BINS), task.measure, bool(classes), epsilon, delta, options.design, rounds, noise, bits
    )
    query.program(rounds)  # refuses noise that cannot be drawn
    return PeoplesPairs(task, task.served(query), ANY_BINS, guess)


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
