"""Noise of imagined releases: the laws of real noise from public random numbers, quickly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ogive.noise import DerivedNodes, DiscreteGaussian, KeyedSource
from ogive.noise.base import Law, NodeNoise
from ogive.noise.simulated import draw_public
from ogive.queries import CurveQuery, LabelsQuery, Query
from ogive.queries.selection import NoisyMaxQuery
from ogive.queries.threshold import ThresholdQuery

Int64 = NDArray[np.int64]

_SEED = 0x706C616E  # public and fixed: a plan is the same whenever it is made
_SELECTION = 1 << 31
_WIDE = 64  # variance of a discrete Gaussian from which a rounded normal number has it up to 1 / (12 * 64)


def nodes_for(query: Query, run: int) -> NodeNoise:
    """Noise of one imagined release, the same for the same query and run.

    Where points are opened one by one, or counts of a few queries are compared, their nodes are derived one by one, as
    those of a real release, so that a search among very many points need not draw them all.
    """
    if isinstance(query, LabelsQuery) or (isinstance(query, CurveQuery) and query.points is not None):
        return DerivedNodes(KeyedSource.from_seed(_SEED + run).key(), b"plan")
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
        """Noise of all nodes of a level, same shape as `nodes`."""
        random = np.random.Generator(np.random.SFC64([_SEED, *self._seed, level]))
        if isinstance(law, DiscreteGaussian) and law.variance >= _WIDE:
            drawn: Int64 = np.rint(random.normal(0.0, law.variance**0.5, len(nodes))).astype(np.int64)
            return drawn
        whole: Int64 = draw_public(law, (1, len(nodes)), random)[0]
        return whole
