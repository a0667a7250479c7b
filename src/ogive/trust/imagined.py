"""A holder of imagined records, who answers as a release would: from public sums, with noise from public seeds.

Nothing here is a release, and nobody pays: plans ask this holder what they would ask of a trust model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import numpy as np

from ogive import noise, privacy, queries
from ogive.core.arrays import Int64
from ogive.crypto.circuits import circuit
from ogive.errors import UnsupportedError
from ogive.local.simulation import simulate
from ogive.noise.base import Law, NodeNoise
from ogive.noise.laws import draw_public, widened
from ogive.queries.histograms import ThresholdQuery
from ogive.queries.selection import JointQuantilesQuery, NoisyMaxQuery
from ogive.trust.models import ClearOptions

# public and fixed: a plan is the same whenever it is made
_NODES = 0x706C616E
_PEOPLE = 0x7265706F727473
_SELECTION = 1 << 31
_WIDE = 64  # variance of a discrete Gaussian from which a rounded normal number has it up to 1 / (12 * 64)

QueryT = TypeVar("QueryT", bound=queries.Query)


class Imagined:
    """Imagined records, and those who would answer for them."""

    def __init__(
        self,
        sums: Callable[[queries.Aggregate], Int64],
        adjacency: privacy.Adjacency,
        *,
        adding: int,
        honest: int,
        run: int | None,
    ) -> None:
        self._exact: Callable[[queries.Aggregate], Int64] = cache(sums)
        self._adjacency = adjacency
        self._adding = adding
        self._honest = honest
        self._run = run

    def pay(self, loss: privacy.Loss, query: queries.Query) -> None:
        """Pay nothing, since there are no real records."""

    def answer(self, query: queries.Query) -> queries.Answer:
        if self._run is None and (reason := ClearOptions().refusal(query)) is not None:
            raise UnsupportedError(reason)
        answers: dict[str, Callable[[Any], queries.Answer]] = {"reports": self._reported, "pairs": self._met}
        return answers.get(query.kind, self._counted)(query)

    def with_noise(self, query: QueryT) -> QueryT:
        strategy = getattr(query, "strategy", None)
        held: Any = query
        wider: QueryT
        if strategy is not None:
            wider = dataclasses.replace(held, strategy=widened(strategy, self._adding, self._honest))
            return wider
        held = widened(held, self._adding, self._honest)
        if isinstance(query, queries.LabelsQuery) and query.check is not None:
            held = dataclasses.replace(held, check=widened(query.check, self._adding, self._honest))
        wider = held
        return wider

    def _counted(self, query: queries.CuratorQuery) -> queries.Answer:
        exact, wider = self._exact(query.aggregate), self.with_noise(query)
        values = wider.answer(exact, None if self._run is None else nodes_for(wider, self._run))
        totals = query.totals(exact, self._adjacency)
        return queries.Answer(values, totals, noisy=self._run is not None, adding=self._adding, honest=self._honest)

    def _reported(self, query: queries.ReportsQuery) -> queries.Answer:
        """The sum of all owners' reports, simulated from how many owners have each symbol."""
        exact = self._exact(queries.Cells(query.rows.domain))
        sums = simulate(query.oracle, exact, generator=np.random.default_rng([_PEOPLE, self._seed]))
        return queries.Answer(sums, (int(exact.sum()),))

    def _met(self, query: queries.PairsQuery) -> queries.Answer:
        exact = self._exact(query.aggregate)
        source = noise.KeyedSource.from_seed(_PEOPLE + self._seed)
        design = query.drawn(exact, seed=source.key())
        values = query.compute(exact, design, design.degrees, source=source, evaluate=circuit.evaluate)
        return queries.Answer(values, query.totals(exact, self._adjacency))

    @property
    def _seed(self) -> int:
        assert self._run is not None, "exact answers of owners were refused"
        return self._run


def nodes_for(query: queries.Query, run: int) -> NodeNoise:
    """Noise of one imagined release, the same for the same query and run.

    Where points are opened one by one, or counts of a few queries are compared, their nodes are derived one by one, as
    those of a real release, so that a search among very many points need not draw them all.
    """
    if isinstance(query, queries.LabelsQuery | JointQuantilesQuery) or (
        isinstance(query, queries.CurveQuery) and query.points is not None
    ):
        return noise.DerivedNodes(noise.KeyedSource.from_seed(_NODES + run).key(), b"plan")
    if isinstance(query, ThresholdQuery):  # every threshold is a measurement of its own, with noise of its own
        return _WholeLevels(run, query.point)
    if isinstance(query, NoisyMaxQuery):  # apart from the noise of what it selects
        return _WholeLevels(run, _SELECTION)
    return _WholeLevels(run)


class _WholeLevels:
    """Noise of levels that are asked for whole."""

    def __init__(self, *seed: int) -> None:
        self._seed = seed

    def values(self, law: Law, level: int, nodes: Int64) -> Int64:
        random = np.random.Generator(np.random.SFC64([_NODES, *self._seed, level]))
        if isinstance(law, noise.DiscreteGaussian) and law.variance >= _WIDE:
            drawn: Int64 = np.rint(random.normal(0.0, law.variance**0.5, len(nodes))).astype(np.int64)
            return drawn
        whole: Int64 = draw_public(law, (1, len(nodes)), random)[0]
        return whole
