"""Methods that look before they go on: at thresholds one after the other, or at how methods suit the records."""

from __future__ import annotations

import dataclasses
import math
from bisect import insort
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ogive.accounting import gaussian_rho, pure_epsilon
from ogive.core.arrays import Int64
from ogive.core.checks import among, whole
from ogive.errors import OgiveError, ParameterError, ScaleError, UnsupportedError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.privacy import Adjacency, Privacy, PureDP, Rational, ZeroConcentratedDP, exact
from ogive.queries import Answer, Query
from ogive.queries.histograms import ThresholdQuery
from ogive.queries.selection import FRACTION_BITS, LARGEST_SIZE, ApproximationScore, NoisyMaxQuery, design_noisy_max
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.base import (
    NOISES,
    CurveTask,
    Expected,
    Shapes,
    allowed_grants,
    curve_from,
    guessed,
    measured_once,
    noise_energy,
    public_noise,
    shares,
    simulated_curve,
)
from ogive.statistics.methods.few_numbers import HistogramQueries, Projection
from ogive.statistics.methods.unbiased import candidates
from ogive.strategies import OpenedThresholds, Strategy
from ogive.strategies.counts import ACCOUNTINGS, counted_noise, equal_share
from ogive.strategies.smoothing import unsmoothable

# --- Adaptive quantiles: thresholds chosen one after the other
#
# The axis is that of the bins' numbers, on which linear grids are to scale. Every round takes the two neighboring
# thresholds whose shares lie farthest apart and asks for the count halfway between them; shares and thresholds that
# noise put out of order are matched by rank. In the end the curve is drawn straight from threshold to threshold.

FEWEST_ROUNDS, MOST_ROUNDS = 4, 100
_GUESSED_RECORDS = 10_000
_ADAPTIVE_SEED = 0x6164617074


@dataclass(frozen=True)
class AdaptiveQuantiles:
    """Noisy counts at thresholds that are chosen adaptively.

    Fields:
        rounds: Number of thresholds; None chooses it from the guarantee and the number of records. With much noise it
            is far below the 50 of the paper.
        accounting: "joint", or "naive" as in the paper: every round is charged separately.
        noise: "gaussian", "laplace", or "auto" for the smaller one that the guarantee allows.
    """

    name: ClassVar[str] = "adaptive"

    rounds: int | None = None
    accounting: str = "joint"
    noise: str = "auto"

    def __post_init__(self) -> None:
        rounds = self.rounds
        if rounds is not None:
            whole(rounds, "rounds", 1)
        among(self.accounting, "accounting", ACCOUNTINGS)
        among(self.noise, "noise", NOISES)

    def curve(self, task: CurveTask) -> Generator[Query, Answer, Curve]:
        """Request one count after the other; all counts together cost the guarantee.

        If the number of records is private, the first count is that of all records.
        """
        plan = _planned(self, task.size, task.terms.privacy, task.terms.adjacency, task.rows, task.records)
        shape = OpenedThresholds(task.size, (0,), plan.law, plan.bits)
        reason = unsmoothable(shape, task.smooth)
        if reason is not None:
            raise UnsupportedError(reason)
        values: list[int] = []
        points: list[int] = []
        search = Search(task.size)
        replaced = task.terms.adjacency is Adjacency.REPLACE
        point: int | None = task.size // 2 - 1 if replaced else task.size - 1
        answer: Answer | None = None
        while point is not None and len(points) < plan.counts:
            query = ThresholdQuery(task.binning, point, plan.law, plan.bits)
            reason = task.terms.refusal(query) if answer is None else None
            if reason is not None:
                raise UnsupportedError(reason)
            answer = yield query
            points.append(point)
            values.append(int(answer.values[0]))
            point = search.after(point, values[-1] / 2**plan.bits, answer.total)
        assert answer is not None, "a grid of two bins has a threshold to ask for"
        strategy = OpenedThresholds(task.size, tuple(points), plan.law, plan.bits)
        whole = dataclasses.replace(answer, values=np.array(values, dtype=np.int64))
        return curve_from(whole, task.binning, strategy, task.terms, task.smooth)

    def errors(self, task: CurveTask, shapes: Shapes, records: int) -> Expected:
        """Errors by simulation, since the thresholds depend on the noise."""
        terms = task.terms
        plan = _planned(self, task.size, terms.privacy, terms.adjacency, task.rows, guessed(task))
        total = records if terms.adjacency is Adjacency.REPLACE else None
        return _adaptive_errors(terms.noise_of(plan), task.size, records, total, shapes)


class Search:
    """Which threshold is asked for next; sees noisy counts alone."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._below: list[int] = [0, size]  # numbers of bins below the thresholds, with both ends of the axis
        self._shares = [0.0, 1.0]
        self._records = 1.0

    def after(self, point: int, count: float, total: int | None) -> int | None:
        """The next 0-based threshold after the noisy count of one; None where no gap can be halved."""
        if point == self._size - 1:
            self._records = max(1.0, count)
        else:
            records = self._records if total is None else max(1, total)
            insort(self._below, point + 1)
            insort(self._shares, min(1.0, max(0.0, count / records)))
        widest, middle = -1.0, None
        for low, high, left, right in zip(self._below, self._below[1:], self._shares, self._shares[1:], strict=False):
            if high - low >= 2 and right - left > widest:
                widest, middle = right - left, (low + high) // 2 - 1
        return middle


@dataclass(frozen=True)
class _Plan:
    """How many counts are asked for at most, and the noise of each."""

    counts: int
    law: DiscreteLaplace | DiscreteGaussian
    bits: int


@lru_cache(maxsize=256)
def _planned(
    method: AdaptiveQuantiles, size: int, privacy: Privacy, adjacency: Adjacency, rows: int, records: int | None
) -> _Plan:
    """Rounds and noise."""
    if size < 2:
        raise ParameterError("adaptive quantiles need a grid of at least 2 bins")
    extra = 0 if adjacency is Adjacency.REPLACE else 1
    noise = method.noise
    if noise == "auto" and method.accounting == "naive" and not isinstance(privacy, PureDP):
        noise = "gaussian"
    plans: list[_Plan] = []
    failed: ParameterError | None = None
    for grant in allowed_grants(privacy, noise):
        try:
            rounds = min(method.rounds or usual_rounds(grant, rows, records), size - 1)
            law, bits = _noise(method.accounting, grant, rounds + extra, rows)
        except ParameterError as error:
            failed = error
            continue
        plans.append(_Plan(rounds + extra, law, bits))
    if not plans:
        assert failed is not None
        raise failed
    return min(plans, key=lambda plan: plan.law.variance / 4.0**plan.bits)


def _noise(accounting: str, grant: Privacy, counts: int, rows: int) -> tuple[DiscreteLaplace | DiscreteGaussian, int]:
    if accounting == "naive":
        return counted_noise(equal_share(grant, counts), l1=1, l2_squared=1, integers=1, rows=rows)
    return counted_noise(grant, l1=counts, l2_squared=counts, integers=counts, rows=rows)


def usual_rounds(grant: Privacy, rows: int, records: int | None) -> int:
    """More rounds the more records there are for each unit of noise."""
    law, bits = counted_noise(grant, l1=1, l2_squared=1, integers=1, rows=rows)
    ratio = max(1, _GUESSED_RECORDS if records is None else records) * 2**bits / math.sqrt(law.variance)
    # fitted to energy distances on the reference shapes; noise grows with the rounds, of Laplace noise faster
    wanted = 0.7 * ratio**0.6 if isinstance(law, DiscreteGaussian) else 0.65 * ratio**0.45
    return int(min(max(round(wanted), FEWEST_ROUNDS), MOST_ROUNDS))


@lru_cache(maxsize=256)
def _adaptive_errors(plan: _Plan, size: int, records: int, total: int | None, shapes: Shapes) -> Expected:
    counts = shapes.counts(size, records)
    cumulative = np.cumsum(counts, axis=-1)
    random = np.random.Generator(np.random.PCG64([_ADAPTIVE_SEED, records]))
    noise = public_noise(plan.law, counts.shape[0] * shapes.runs * plan.counts, random)
    noise = noise.reshape(-1, shapes.runs, plan.counts)
    result = np.empty(counts.shape)
    for shape, run in np.ndindex(counts.shape[:2]):
        answers = _rehearsed(cumulative[shape, run], plan, noise[shape, run], total)
        strategy = OpenedThresholds(size, tuple(answers), plan.law, plan.bits)
        measured = np.array(list(answers.values()), dtype=np.int64)
        result[shape, run] = shares(strategy.matched(measured, total))
    return shapes.errors(result, counts)


def _rehearsed(cumulative: Int64, plan: _Plan, noise: Int64, total: int | None) -> dict[int, int]:
    """Thresholds asked for and their noisy counts, on imagined records."""
    size = len(cumulative)
    search, answers = Search(size), dict[int, int]()
    point: int | None = size - 1 if total is None else size // 2 - 1
    for drawn in noise:
        if point is None:
            break
        answers[point] = (int(cumulative[point]) << plan.bits) + int(drawn)
        point = search.after(point, answers[point] / 2**plan.bits, total)
    return answers


# --- Private selection of a method
#
# First a query tells the candidate with the largest noisy score (`NoisyMaxQuery` with an `ApproximationScore`), then
# the rest of the budget measures the curve by this candidate. The two losses add up: pure ones in epsilon, others in
# zCDP. For an (epsilon, delta) guarantee the first is pure with a share of epsilon, and the second either pure with the
# rest, or Gaussian with the rest of the guarantee's rho. Where an account pays, or several groups are asked, which of
# the two it is does not depend on the records, so that the whole can be charged before the selection.

_SELECTED_SEED = 0x73656C656374
_METHODS = (Projection(), Projection(degree=30), HistogramQueries(), HistogramQueries(groups=100))


@dataclass(frozen=True, init=False)
class PrivateSelection:
    """Selects a method privately, then uses it.

    Candidates are the best unbiased strategy, projections, and histograms.

    Args:
        share: Share of epsilon or rho for the selection, strictly between 0 and 1.
    """

    name: ClassVar[str] = "selected"

    share: Fraction

    def __init__(self, share: Rational = "0.1") -> None:
        value = exact(share, "share")
        if not 0 < value < 1:
            raise ParameterError(f"`share` must be strictly between 0 and 1, got {share}")
        object.__setattr__(self, "share", value)

    def curve(self, task: CurveTask) -> Generator[Query, Answer, Curve]:
        """Select with a share of the guarantee, then measure with the rest."""
        stages, designs = self._divided(task)
        query = _selection(stages, designs, task)
        # a smoothing that some candidate lacks is refused before anything is spent or told of the records
        lacking = (unsmoothable(design.strategy, task.smooth) for design in designs)
        reason = next(filter(None, lacking), None) or task.terms.refusal(query)
        if reason is not None:
            raise UnsupportedError(reason)
        answer = yield query
        return (yield from measured_once(designs[int(answer.values[0])].strategy, task))

    def errors(self, task: CurveTask, shapes: Shapes, records: int) -> Expected:
        """Errors by simulation, including the selection."""
        stages, designs = self._divided(task)
        query = _selection(stages, designs, task)
        scored = tuple(design.scored for design in designs)
        return _selected_errors(scored, query, records, task.terms.adjacency is Adjacency.REPLACE, shapes)

    def _divided(self, task: CurveTask) -> tuple[_Stages, tuple[_Candidate, ...]]:
        stages = _stages(self.share, task.terms.privacy)
        rest, public = stages.rest, (task.size, task.terms.adjacency, task.rows, guessed(task))
        if task.terms.one_loss_type and len(rest) > 1:
            # the type of noise that suits the unbiased candidate best, for all of them
            pure = isinstance(_least_noise(None, rest, *public).loss(task.terms.adjacency), PureDP)
            rest = tuple(grant for grant in rest if isinstance(grant, PureDP) is pure)
            stages = dataclasses.replace(stages, rest=rest, concentrated=not pure)
        return stages, _designs(rest, *public)


@dataclass(frozen=True)
class _Stages:
    """How a guarantee is divided.

    Fields:
        first: Pure epsilon of the selection.
        rest: What the measurement may cost: any one of these.
        concentrated: Whether the selection's price is stated in zCDP.
    """

    first: PureDP
    rest: tuple[PureDP | ZeroConcentratedDP, ...]
    concentrated: bool


def _stages(share: Fraction, privacy: Privacy) -> _Stages:
    if isinstance(privacy, PureDP):
        return _Stages(PureDP(privacy.epsilon * share), (PureDP(privacy.epsilon * (1 - share)),), False)
    if isinstance(privacy, ZeroConcentratedDP):
        first = pure_epsilon(ZeroConcentratedDP(privacy.rho * share))
        return _Stages(first, (ZeroConcentratedDP(privacy.rho - first.epsilon**2 / 2),), True)
    first = PureDP(privacy.epsilon * share)
    rest: list[PureDP | ZeroConcentratedDP] = [PureDP(privacy.epsilon - first.epsilon)]
    rho = gaussian_rho(privacy).rho - first.epsilon**2 / 2
    return _Stages(first, (*rest, ZeroConcentratedDP(rho)) if rho > 0 else tuple(rest), False)


@dataclass(frozen=True)
class _Candidate:
    """A candidate: what would be measured, and the same for the coarser grid on which candidates are scored."""

    strategy: Strategy
    scored: Strategy


@lru_cache(maxsize=128)
def _designs(
    rest: tuple[Privacy, ...], size: int, adjacency: Adjacency, rows: int, records: int
) -> tuple[_Candidate, ...]:
    """The candidates, each with the least noise that the rest of the guarantee allows."""
    results: list[_Candidate] = []
    problem: OgiveError | None = None
    for method in (None, *_METHODS):

        def best(bins: int, method: Projection | HistogramQueries | None = method) -> Strategy:
            return _least_noise(method, rest, bins, adjacency, rows, records)

        try:
            strategy = best(size)
            results.append(_Candidate(strategy, strategy if size <= LARGEST_SIZE else best(LARGEST_SIZE)))
        except OgiveError as error:
            problem = error
    if not results:
        assert problem is not None
        raise problem
    return tuple(dict.fromkeys(results))


def _least_noise(
    method: Projection | HistogramQueries | None,
    rest: tuple[Privacy, ...],
    size: int,
    adjacency: Adjacency,
    rows: int,
    records: int,
) -> Strategy:
    """Of the designs for any one guarantee of the rest the one with the least noise; None is the best unbiased one."""
    made: list[Strategy] = []
    problem: OgiveError | None = None
    for grant in rest:
        try:
            if method is None:
                made.append(candidates(size, grant, adjacency, rows=rows)[0])
            else:
                made.append(method.design(size, grant, adjacency, rows, records))
        except OgiveError as error:
            problem = error
    if not made:
        assert problem is not None
        raise problem
    known = adjacency is Adjacency.REPLACE
    return min(made, key=lambda each: float(each.variance(total_known=known).mean()))


def _selection(stages: _Stages, designs: tuple[_Candidate, ...], task: CurveTask) -> NoisyMaxQuery:
    """The query that selects, on a grid of at most 1024 bins."""
    records, known = guessed(task), task.terms.adjacency is Adjacency.REPLACE
    scored: list[Any] = [design.scored for design in designs]
    noise = tuple(round(records * noise_energy(each, records, total_known=known) * 2**FRACTION_BITS) for each in scored)
    score = ApproximationScore(task.size, tuple(scored), noise, known)
    try:
        return design_noisy_max(
            task.binning, score, privacy=stages.first, unit=task.terms.unit, concentrated=stages.concentrated
        )
    except ScaleError as error:
        raise ScaleError(
            f"a selection for {stages.first} needs more noise than can be drawn; "
            "give it a larger share, or allow a larger privacy loss",
            error.excess,
        ) from None


@lru_cache(maxsize=64)
def _selected_errors(
    scored: tuple[Any, ...], query: NoisyMaxQuery, records: int, total_known: bool, shapes: Shapes
) -> Expected:
    size = scored[0].size
    counts = shapes.counts(size, records)
    assert isinstance(query.score, ApproximationScore)
    score = ApproximationScore(size, scored, query.score.noise, total_known)
    random = np.random.Generator(np.random.PCG64([_SELECTED_SEED, records]))
    result = np.empty(counts.shape)
    for shape, run in np.ndindex(counts.shape[:2]):
        noise = public_noise(query.law, len(scored), random)
        design = scored[int(np.argmax((score.scores(counts[shape, run]) << query.bits) + noise))]
        result[shape, run] = simulated_curve(design, counts[shape, run], records if total_known else None, random)
    return shapes.errors(result, counts)
