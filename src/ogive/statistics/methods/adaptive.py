"""Adaptive quantiles: counts at a few thresholds, each chosen where the counts before it leave the largest gap.

The axis is that of the bins' numbers, on which linear grids are to scale. Every round takes the two neighboring
thresholds whose shares lie farthest apart and asks for the count halfway between them; shares and thresholds that
noise put out of order are matched by rank. In the end the curve is drawn straight from threshold to threshold.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from ogive.arrays import Int64
from ogive.checks import among, whole
from ogive.errors import ParameterError, UnsupportedError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.privacy import Adjacency, Privacy, PureDP
from ogive.queries import Answer, Query
from ogive.queries.threshold import ThresholdQuery
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.base import NOISES, CurveTask, allowed_grants, curve_from
from ogive.statistics.methods.expected_error import guessed, public_noise, shares
from ogive.statistics.methods.reference_shapes import Expected, Shapes
from ogive.strategies import OpenedThresholds
from ogive.strategies.counted_noise import counted_noise
from ogive.strategies.histogram import ACCOUNTINGS, equal_share
from ogive.strategies.smoothing import unsmoothable

FEWEST_ROUNDS, MOST_ROUNDS = 4, 100
_GUESSED_RECORDS = 10_000
_SEED = 0x6164617074


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
        whole = replace(answer, values=np.array(values, dtype=np.int64))
        return curve_from(whole, task.binning, strategy, task.terms, task.smooth)

    def errors(self, task: CurveTask, shapes: Shapes, records: int) -> Expected:
        """Errors by simulation, since the thresholds depend on the noise."""
        terms = task.terms
        plan = _planned(self, task.size, terms.privacy, terms.adjacency, task.rows, guessed(task))
        total = records if terms.adjacency is Adjacency.REPLACE else None
        return _errors(terms.noise_of(plan), task.size, records, total, shapes)


class Search:
    """Which threshold is asked for next; sees noisy counts alone.

    Args:
        size: Number of thresholds.
    """

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
    """Rounds and noise.

    Raises:
        ParameterError: the grid has a single bin, or Gaussian noise is wanted for a pure guarantee, or more finely than
            it can be drawn.
        ScaleError: the noise is larger than can be drawn.
    """
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
    """More rounds the more records there are for each unit of noise.

    Args:
        grant: What all rounds together may cost.
        rows: How many records of one person are hidden together.
        records: How many there are, as far as is public; else 10 000 are assumed.
    """
    law, bits = counted_noise(grant, l1=1, l2_squared=1, integers=1, rows=rows)
    ratio = max(1, _GUESSED_RECORDS if records is None else records) * 2**bits / math.sqrt(law.variance)
    # fitted to energy distances on the reference shapes; noise grows with the rounds, of Laplace noise faster
    wanted = 0.7 * ratio**0.6 if isinstance(law, DiscreteGaussian) else 0.65 * ratio**0.45
    return int(min(max(round(wanted), FEWEST_ROUNDS), MOST_ROUNDS))


@lru_cache(maxsize=256)
def _errors(plan: _Plan, size: int, records: int, total: int | None, shapes: Shapes) -> Expected:
    counts = shapes.counts(size, records)
    cumulative = np.cumsum(counts, axis=-1)
    random = np.random.Generator(np.random.PCG64([_SEED, records]))
    noise = public_noise(plan.law, counts.shape[0] * shapes.runs * plan.counts, random)
    noise = noise.reshape(-1, shapes.runs, plan.counts)
    found = np.empty(counts.shape)
    for shape, run in np.ndindex(counts.shape[:2]):
        answers = _rehearsed(cumulative[shape, run], plan, noise[shape, run], total)
        strategy = OpenedThresholds(size, tuple(answers), plan.law, plan.bits)
        measured = np.array(list(answers.values()), dtype=np.int64)
        found[shape, run] = shares(strategy.matched(measured, total))
    return shapes.errors(found, counts)


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
