"""How teachers' votes become a label: five aggregators, as frozen parameters.

Every teacher casts one vote per query; an aggregator returns a noisy label, or -1 where it refuses. Parameters are in
votes and exact: a float is read as the decimal it prints as. Noise is drawn in integers: discrete Gaussian noise on
votes that count 2^16 each, so that it is as good as continuous noise, and discrete Laplace noise on votes.

`answer` answers vote counts that somebody holds; `ogive.pate.label` does so against a ledger.

A threshold above the number of teachers is allowed: no count reaches it without noise. With little noise nearly all
queries are then refused; with sigma_1 as wide as the distance many pass, the more the teachers agree. Where everything
shall be answered, use an aggregator without a threshold: one of 0 or less refuses hardly any, and costs more. To keep
or answer more queries than there are is to keep or answer all. Drawing labels gives no such warning.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ogive.accounting.losses import LEAST_SIGMA
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import whole
from ogive.errors import ParameterError, quoted
from ogive.noise import DerivedNodes, DiscreteGaussian, DiscreteLaplace, SystemSource, round_up_scale
from ogive.noise.base import RandomSource
from ogive.pate.costs.answers import check_probabilities
from ogive.pate.votes import check_votes
from ogive.privacy import Adjacency, PrivacyUnit, PureDP, Rational, exact, number_text
from ogive.queries import Ballots as Ballots
from ogive.queries import LabelsQuery, VotesQuery, design_votes
from ogive.queries.labels import REFUSED, Check

if TYPE_CHECKING:
    from ogive.statistics import Terms


# --- What aggregators share: laws of integer noise, thresholds, and what students expect

BITS = 16
"""Votes count 2^16 where Gaussian noise is added."""

_LARGEST = 1 << 62


def answered(aggregator: _Answering, votes: Any, *, source: RandomSource | None, probabilities: Any) -> Int64:
    """Labels of vote counts that somebody holds, with fresh noise and no limit to their number.

    `votes`: Counts, shape (queries, classes); every row adds up to the number of teachers. `source`: Where the noise
    comes from; the operating system unless a test replays one. `probabilities`: Of the student, shape (queries,
    classes), where the aggregator is interactive.

    Returns:
        Labels, shape (queries,), -1 where the aggregator refuses.

    Privacy: as the aggregator states, for every query and answer; nothing keeps count. `ogive.pate.label` does.
    """
    from ogive.statistics import Terms  # slow to import, and those who count costs need no statistics

    counts = check_votes(votes)
    ballots = Ballots(tuple(map(str, range(len(counts)))), counts.shape[1])
    teachers = int(counts[0].sum())
    terms = Terms(PureDP(1), PrivacyUnit(Adjacency.REPLACE), lambda query: None, count=lambda: teachers)
    query = aggregator.query(ballots, terms, probabilities=probabilities)
    key = (SystemSource() if source is None else source).key()
    opened = query.answer(counts, DerivedNodes(key, b"ogive pate answers"))
    return aggregator.labels(opened, probabilities=probabilities)


def scaled_noise(sigma: Fraction, name: str) -> DiscreteGaussian:
    """Gaussian noise of a standard deviation in votes, for votes that count 2^BITS."""
    if sigma * 2**BITS < LEAST_SIGMA:
        raise ParameterError(f"`{name}` must be at least {LEAST_SIGMA / 2**BITS:.3g} votes, got {number_text(sigma)}")
    return DiscreteGaussian(round_up_scale(sigma * 2**BITS))


def threshold_check(threshold: Fraction, sigma: Fraction, expected: tuple[tuple[int, ...], ...] | None = None) -> Check:
    """The check of a threshold in votes; one that no noise ever reaches is as good as the largest number."""
    least = min(max(ceil(threshold * 2**BITS), -_LARGEST), _LARGEST)
    return Check(least, scaled_noise(sigma, "sigma_1"), expected)


def most_answers(name: str, ballots: Ballots, max_answers: int | None, probabilities: Any = None) -> int:
    """How many answers are paid for: as many as there are queries, or a smaller limit."""
    if probabilities is not None:
        raise ParameterError(f"aggregator {name} does not use a student's probabilities; leave them out")
    if max_answers is None:
        return len(ballots.queries)
    whole(max_answers, "max_answers", 1)
    return min(max_answers, len(ballots.queries))


def expected_votes(probabilities: Float64, teachers: int | None) -> tuple[tuple[int, ...], ...]:
    """Votes that a student expects, in units of 2^-BITS: rounded once, from public numbers alone."""
    if teachers is None:
        raise ParameterError(
            "this aggregator needs a public number of teachers, which `ADD_OR_REMOVE` keeps private; "
            "use `adjacency REPLACE`"
        )
    rounded = np.floor(probabilities * (teachers * 2**BITS) + 0.5).astype(np.int64)
    return tuple(map(tuple, rounded.tolist()))


# --- The aggregators


class _Answering:
    """An aggregator that answers vote counts; it labels whatever is not refused."""

    name: ClassVar[str]

    def query(
        self, ballots: Ballots, terms: Terms, *, max_answers: int | None = None, probabilities: Any = None
    ) -> LabelsQuery | VotesQuery:
        """The query of the labels, priced from its own fields."""
        raise NotImplementedError

    def labels(self, opened: Int64, *, probabilities: Any = None) -> Int64:
        """Labels from what came back, -1 where there is none, shape (queries,)."""
        return np.maximum(opened, REFUSED)

    def answer(self, votes: Any, *, source: RandomSource | None = None, probabilities: Any = None) -> Int64:
        """Labels of vote counts, shape (queries,) from (queries, classes); see `answered`."""
        return answered(self, votes, source=source, probabilities=probabilities)


@dataclass(frozen=True, init=False)
class LNMax(_Answering):
    """The label with the most votes after Laplace noise; answers every query.

    Args:
        scale: Scale b of the noise in votes, above 0; the papers' gamma is its inverse.

    Privacy: 2 / scale pure differential privacy per answer, replacing one teacher.

    Source: Papernot, Abadi, Erlingsson, Goodfellow and Talwar 2017.
    """

    name: ClassVar[str] = "lnmax"
    scale: Fraction

    def __init__(self, scale: Rational) -> None:
        object.__setattr__(self, "scale", _positive(scale, "scale"))

    def query(
        self, ballots: Ballots, terms: Terms, *, max_answers: int | None = None, probabilities: Any = None
    ) -> LabelsQuery:
        """The query of the labels, priced from its own fields."""
        most = most_answers(self.name, ballots, max_answers, probabilities)
        return LabelsQuery(ballots, DiscreteLaplace(round_up_scale(self.scale)), most)


@dataclass(frozen=True, init=False)
class GNMax(_Answering):
    """The label with the most votes after Gaussian noise; answers every query.

    Args:
        sigma: Standard deviation of the noise of every count, in votes, above 0.

    Privacy: order / sigma^2 Renyi differential privacy of every order per answer, replacing one teacher.

    Source: Papernot, Song, Mironov, Raghunathan, Talwar and Erlingsson 2018, section 3.
    """

    name: ClassVar[str] = "gnmax"
    sigma: Fraction

    def __init__(self, sigma: Rational) -> None:
        object.__setattr__(self, "sigma", _positive(sigma, "sigma"))

    def query(
        self, ballots: Ballots, terms: Terms, *, max_answers: int | None = None, probabilities: Any = None
    ) -> LabelsQuery:
        """The query of the labels, priced from its own fields."""
        most = most_answers(self.name, ballots, max_answers, probabilities)
        return LabelsQuery(ballots, scaled_noise(self.sigma, "sigma"), most, BITS)


@dataclass(frozen=True, init=False)
class ConfidentGNMax(_Answering):
    """GNMax with a confidence check: answers only if the largest count plus noise reaches a threshold.

    Args:
        threshold: Number of votes that the noisy largest count must reach; typically 0.6 to 0.8 of the number of
            teachers.
        sigma_1: Standard deviation of the check's noise, in votes, above 0.
        sigma_2: Standard deviation of the noise of every count of an answer, in votes, above 0.

    Privacy: order / (2 sigma_1^2) per query and order / sigma_2^2 per answer, Renyi, replacing one teacher.

    Source: Papernot and others 2018, algorithm 1.
    """

    name: ClassVar[str] = "confident"
    threshold: Fraction
    sigma_1: Fraction
    sigma_2: Fraction

    def __init__(self, threshold: Rational, sigma_1: Rational, sigma_2: Rational) -> None:
        object.__setattr__(self, "threshold", exact(threshold, "threshold"))
        object.__setattr__(self, "sigma_1", _positive(sigma_1, "sigma_1"))
        object.__setattr__(self, "sigma_2", _positive(sigma_2, "sigma_2"))

    def query(
        self, ballots: Ballots, terms: Terms, *, max_answers: int | None = None, probabilities: Any = None
    ) -> LabelsQuery:
        """The query of the labels, priced from its own fields."""
        most = most_answers(self.name, ballots, max_answers, probabilities)
        checked = threshold_check(self.threshold, self.sigma_1)
        return LabelsQuery(ballots, scaled_noise(self.sigma_2, "sigma_2"), most, BITS, checked)


@dataclass(frozen=True, init=False)
class InteractiveGNMax(_Answering):
    """GNMax if the teachers disagree with the student; else the student's own label if it is confident.

    The check uses the largest excess of votes over the student's expectation, n_j - M p_j, rounded half up. M p_j is
    first rounded to 2^-16, both here and in the computation of costs. A query that fails the check, and of which the
    student is not confident, gets no answer.

    Args:
        threshold: Number of votes that the noisy largest excess must reach.
        sigma_1: Standard deviation of the check's noise, in votes, above 0.
        sigma_2: Standard deviation of the noise of every count of an answer, in votes, above 0.
        confidence: The student's label is used if its largest probability exceeds this; strictly between 0 and 1.

    Privacy: As for `ConfidentGNMax`. The student is public, so its own labels cost nothing.

    Source: Papernot and others 2018, algorithm 2.
    """

    name: ClassVar[str] = "interactive"
    threshold: Fraction
    sigma_1: Fraction
    sigma_2: Fraction
    confidence: Fraction

    def __init__(self, threshold: Rational, sigma_1: Rational, sigma_2: Rational, confidence: Rational) -> None:
        object.__setattr__(self, "threshold", exact(threshold, "threshold"))
        object.__setattr__(self, "sigma_1", _positive(sigma_1, "sigma_1"))
        object.__setattr__(self, "sigma_2", _positive(sigma_2, "sigma_2"))
        sure = exact(confidence, "confidence")
        if not 0 < sure < 1:
            raise ParameterError(f"`confidence` must be strictly between 0 and 1, got {number_text(sure)}")
        object.__setattr__(self, "confidence", sure)

    def query(
        self, ballots: Ballots, terms: Terms, *, max_answers: int | None = None, probabilities: Any = None
    ) -> LabelsQuery:
        """The query of the labels, priced from its own fields.

        Raises:
            ParameterError: the probabilities of the student are missing, or the number of teachers is private.
            DataError: the probabilities are invalid or belong to other queries.
        """
        most = most_answers(self.name, ballots, max_answers)
        expected = expected_votes(check_probabilities(probabilities, ballots.shape), terms.records)
        checked = threshold_check(self.threshold, self.sigma_1, expected)
        return LabelsQuery(ballots, scaled_noise(self.sigma_2, "sigma_2"), most, BITS, checked)

    def labels(self, opened: Int64, *, probabilities: Any = None) -> Int64:
        """Labels of the answers, and the student's own for refused queries if confident, shape (queries,)."""
        scores = check_probabilities(probabilities, np.shape(probabilities))
        sure = scores.max(axis=1) > float(self.confidence)
        result = np.where((opened == REFUSED) & sure, scores.argmax(axis=1), opened)
        return np.maximum(result, REFUSED)


@dataclass(frozen=True, init=False)
class LargestMargins(_Answering):
    """Releases one noisy histogram per query and labels the queries with the largest noisy margins.

    Only sums are released, so votes may stay with their teachers (secure aggregation). The margin is the largest noisy
    count minus the second largest. Large margins select easy queries, so the labelled queries are not representative
    of all queries.

    Args:
        sigma: Standard deviation of the noise of every count, in votes, above 0. None uses the smallest noise that the
            privacy guarantee allows when labels are released.
        keep: Number of labelled queries, at least 1, or all if there are fewer.

    Privacy: order / sigma^2 per query, Renyi, replacing one teacher, for any number of labelled queries.
    """

    name: ClassVar[str] = "margins"
    sigma: Fraction | None
    keep: int

    def __init__(self, sigma: Rational | None, keep: int) -> None:
        object.__setattr__(self, "sigma", None if sigma is None else _positive(sigma, "sigma"))
        whole(keep, "keep", 1)
        object.__setattr__(self, "keep", keep)

    def query(
        self, ballots: Ballots, terms: Terms, *, max_answers: int | None = None, probabilities: Any = None
    ) -> VotesQuery:
        """The query of the labels: noisy counts of all votes.

        Raises:
            ParameterError: the number of answers is limited, which would not change the price.
        """
        most_answers(self.name, ballots, None, probabilities)
        if max_answers is not None:
            raise ParameterError(
                "every histogram is released and charged; set the number of labelled queries with keep"
            )
        if self.sigma is None:
            return design_votes(ballots, terms.privacy, terms.unit)
        return VotesQuery(ballots, scaled_noise(self.sigma, "sigma"), BITS)

    def labels(self, opened: Int64, *, probabilities: Any = None) -> Int64:
        """Labels of the queries with the largest margins, -1 for the others; the first ones among equal margins."""
        largest = np.argsort(-margins(opened), kind="stable")[: self.keep]
        result = np.full(len(opened), REFUSED, dtype=np.int64)
        result[largest] = opened[largest].argmax(axis=1)
        return result

    def answer(self, votes: Any, *, source: RandomSource | None = None, probabilities: Any = None) -> Int64:
        """Labels of vote counts, shape (queries,) from (queries, classes); see `answered`.

        Raises:
            ParameterError: sigma is missing; only a release derives it from the privacy guarantee.
        """
        if self.sigma is None:
            raise ParameterError("give the standard deviation of the noise: sigma, in votes")
        return super().answer(votes, source=source, probabilities=probabilities)


def answer_sigma(aggregator: GNMax | ConfidentGNMax | InteractiveGNMax) -> Fraction:
    """Standard deviation of the noise of an answer's counts, in votes."""
    return aggregator.sigma if isinstance(aggregator, GNMax) else aggregator.sigma_2


def margins(opened: Int64) -> Int64:
    """The largest count of every query less its second largest, shape (queries,) from (queries, classes)."""
    top = np.partition(opened, -2, axis=1)
    return np.asarray(top[:, -1] - top[:, -2])


Aggregator = LNMax | GNMax | ConfidentGNMax | InteractiveGNMax | LargestMargins


def check_aggregator(aggregator: Any) -> None:
    """Refuse what is not an aggregator, such as its class or its name."""
    if not isinstance(aggregator, Aggregator):
        raise ParameterError(f"`aggregator` must be one such as GNMax(40), got {quoted(aggregator)}")


def _positive(value: Rational, name: str) -> Fraction:
    number = exact(value, name)
    if number <= 0:
        raise ParameterError(f"`{name}` must be above 0, got {number_text(number)}")
    return number
