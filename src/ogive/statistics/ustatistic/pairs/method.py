"""A pairwise statistic from pairs of people, who compute its kernels with noise inside a circuit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar

import numpy as np

from ogive.accounting.losses import pure_epsilon
from ogive.columns import Domain
from ogive.errors import ParameterError, UnsupportedError
from ogive.kernels import Kernel
from ogive.kernels.circuits import kernel_circuit
from ogive.kernels.exact import step
from ogive.pairs import Design
from ogive.pairs.designs import most_rounds
from ogive.privacy import ApproxDP, Privacy, PureDP
from ogive.queries import Answer, PairsQuery
from ogive.queries.pairs import NOISES
from ogive.statistics.ustatistic.base import (
    KernelMeans,
    MeanTask,
    best,
    check_pairs,
    check_served,
    check_simple,
    sampling_of,
)
from ogive.statistics.ustatistic.pairs.expected_error import predicted_pairs
from ogive.statistics.ustatistic.pairs.options import Paired
from ogive.statistics.ustatistic.pairs.paired import paired_means

DEFAULTS = Paired()
FEWEST = 4
"""People below which nothing can be said of the error of a mean over their pairs."""

LEAST_EPSILON = Fraction(1, 10**9)
"""Of a person; with less the answers of all people there are would say nothing."""

LARGEST_SCALE = 1 << 28
"""Of noise inside a circuit, in steps: the rarest of its bits is still drawn to one part in 2^32."""

_ANY_BINS = 2


@dataclass(frozen=True)
class PeoplesPairs:
    """One noisy value of every kernel from each pair of people.

    Fields:
        task: The statistic and the terms.
        query: What is asked, with its noise.
        predicted: Mean over the reference shapes of the variance, around the statistic of all pairs of these people.
    """

    name: ClassVar[str] = Paired.name
    rounded: ClassVar[bool] = False

    task: MeanTask
    query: PairsQuery
    predicted: float

    @property
    def domain(self) -> Domain:
        """What the kernels look at; the number of bins does not matter."""
        return self.task.domain(_ANY_BINS)

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
        short = np.maximum(0, self.query.least_noise(rows) - np.diag(noise))
        noise = noise + np.diag(short)
        return KernelMeans(means.values, noise, sampling_of(means.sampling), np.array(moved), total, classes)


def paired(task: MeanTask, options: Paired = DEFAULTS) -> PeoplesPairs:
    """Pairs of people, as many of each as err least, with the noise that errs least.

    Raises:
        ParameterError, UnsupportedError: pairs cannot be asked for.
    """
    check_pairs(task, Paired.name)
    check_simple(task, Paired.name)
    for kernel in task.measure.kernels:
        kernel_circuit(kernel, task.domain(_ANY_BINS))
    people = task.records
    if people < FEWEST:
        raise ParameterError(f"pairs of people need at least {FEWEST} of them, got {people}")
    if task.classes is not None and options.design == "independent":
        raise ParameterError(
            "independent pairs are of any two people; between classes use design 'round_robin' or 'permutations'"
        )
    if task.classes is None and options.rounds != "auto" and int(options.rounds) > most_rounds(people):
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
    classes = 0 if task.classes is None else task.classes.size
    guess = predicted_pairs(task.measure, task.domain(_ANY_BINS), classes, noise=noise, bits=options.bits)
    whole = float(epsilon)
    rounds = options.rounds if isinstance(options.rounds, int) else guess.best_rounds(people, whole)
    bits = _bits(task, options.bits, whole / rounds) if noise == "laplace" else options.bits
    query = PairsQuery(
        task.rows(_ANY_BINS), task.measure, bool(classes), epsilon, delta, options.design, rounds, noise, bits
    )
    query.program(rounds)  # refuses noise that cannot be drawn
    check_served(task.terms, query)
    return PeoplesPairs(task, query, guess.variance(options.design, rounds, people, whole))


def _spent(privacy: Privacy, noise: str) -> tuple[Fraction, Fraction]:
    """Epsilon and delta of a person: no delta with randomized response.

    Raises:
        UnsupportedError: Laplace noise would need a delta.
    """
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
    """Finest steps whose noise can be drawn precisely: where there is more of it, finer ones would say nothing.

    Raises:
        UnsupportedError: there are none.
    """
    domain, kernels = task.domain(_ANY_BINS), task.measure.kernels
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
