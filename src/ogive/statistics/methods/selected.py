"""Private selection: a part of the budget buys the choice between methods, by how they suit the records.

First a query tells the candidate with the largest noisy score (`NoisyMaxQuery` with an `ApproximationScore`), then the
rest of the budget measures the curve by this candidate. The two losses add up: pure ones in epsilon, others in zCDP.
For an (epsilon, delta) guarantee the first is pure with a share of epsilon, and the second either pure with the rest,
or Gaussian with the rest of the guarantee's rho. Where an account pays, or several groups are asked, which of the two
it is does not depend on the records, so that the whole can be charged before the selection.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ogive.accounting import gaussian_rho, pure_epsilon
from ogive.errors import OgiveError, ParameterError, ScaleError, UnsupportedError
from ogive.privacy import Adjacency, Privacy, PureDP, Rational, ZeroConcentratedDP, exact
from ogive.queries import Answer, Query
from ogive.queries.candidates import FRACTION_BITS, LARGEST_SIZE, ApproximationScore
from ogive.queries.selection import NoisyMaxQuery, design_noisy_max
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.base import CurveTask, measured_once
from ogive.statistics.methods.expected_error import guessed, noise_energy, public_noise, simulated_curve
from ogive.statistics.methods.histogram import HistogramQueries
from ogive.statistics.methods.projection import Projection
from ogive.statistics.methods.reference_shapes import Expected, Shapes
from ogive.statistics.methods.unbiased import candidates
from ogive.strategies import Strategy
from ogive.strategies.smoothing import unsmoothable

_SEED = 0x73656C656374
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
        return _errors(scored, query, records, task.terms.adjacency is Adjacency.REPLACE, shapes)

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
    """The candidates, each with the least noise that the rest of the guarantee allows.

    Raises:
        ParameterError: not even an unbiased strategy fits.
    """
    found: list[_Candidate] = []
    problem: OgiveError | None = None
    for method in (None, *_METHODS):

        def best(bins: int, method: Projection | HistogramQueries | None = method) -> Strategy:
            return _least_noise(method, rest, bins, adjacency, rows, records)

        try:
            strategy = best(size)
            found.append(_Candidate(strategy, strategy if size <= LARGEST_SIZE else best(LARGEST_SIZE)))
        except OgiveError as error:
            problem = error
    if not found:
        assert problem is not None
        raise problem
    return tuple(dict.fromkeys(found))


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
def _errors(scored: tuple[Any, ...], query: NoisyMaxQuery, records: int, total_known: bool, shapes: Shapes) -> Expected:
    size = scored[0].size
    counts = shapes.counts(size, records)
    assert isinstance(query.score, ApproximationScore)
    score = ApproximationScore(size, scored, query.score.noise, total_known)
    random = np.random.Generator(np.random.PCG64([_SEED, records]))
    found = np.empty(counts.shape)
    for shape, run in np.ndindex(counts.shape[:2]):
        noise = public_noise(query.law, len(scored), random)
        design = scored[int(np.argmax((score.scores(counts[shape, run]) << query.bits) + noise))]
        found[shape, run] = simulated_curve(design, counts[shape, run], records if total_known else None, random)
    return shapes.errors(found, counts)
