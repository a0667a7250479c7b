"""Which cells of an aggregate a query tells apart.

A query that opens a curve at some points, or counts wide groups, does not depend on where in a block between two of
them a record lies. Whoever counts records behind public thresholds needs the ends of these blocks only.
"""

from __future__ import annotations

import math

import numpy as np

from ogive.arrays import Int64
from ogive.queries.aggregates import GroupSums
from ogive.queries.base import Query
from ogive.queries.class_curves import ClassCurvesQuery
from ogive.queries.curve import CurveQuery
from ogive.strategies import GroupedHistogram, OpenedThresholds, OrthogonalProjection, Strategy


def block_ends(query: Query) -> Int64:
    """Last cells of the blocks that a query tells apart, increasing.

    Cells are numbered as those of `Contributions`: row by row, of sums per group of probabilities (label, group). The
    very last cell always ends a block. If the counts of every block are moved to its last cell, what a linear query
    measures stays as it is.

    Returns:
        Flat indices, shape (blocks,).
    """
    if isinstance(query.aggregate, GroupSums):
        return np.arange(2 * query.aggregate.shape[1])
    if isinstance(query, CurveQuery):
        if query.points is not None:
            return np.unique([*query.points, query.strategy.size - 1])
        return _strategy_ends(query.strategy)
    if isinstance(query, ClassCurvesQuery):
        starts = np.arange(query.classes.shape[0]) * query.strategy.size
        return np.asarray(starts[:, np.newaxis] + _strategy_ends(query.strategy)).ravel()
    return np.arange(math.prod(query.aggregate.shape))


def _strategy_ends(strategy: Strategy) -> Int64:
    match strategy:
        case OpenedThresholds():
            return np.unique([*strategy.points, strategy.size - 1])
        case GroupedHistogram():
            return strategy.edges[1:] - 1
        case OrthogonalProjection():
            changes = (np.diff(strategy.features, axis=1) != 0).any(axis=0)
            return np.append(np.flatnonzero(changes), strategy.size - 1)
    return np.arange(strategy.size)
