"""Errors of a curve that takes several rounds, each chosen after the answers before: whole rehearsals on public shapes.

Neither the noise nor the bias of such a curve is that of one strategy, so releases are imagined on every public shape,
and errors are the largest over the shapes, with the smallest beside it, as for strategies that approximate.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ogive.grids import Grid
from ogive.planning.metrics import Errors
from ogive.planning.rehearsal import answer_imagined
from ogive.queries import Int64
from ogive.statistics.base import Terms
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.ecdf.statistic import Ecdf
from ogive.statistics.methods.base import LARGEST_PREDICTED
from ogive.statistics.methods.reference_shapes import EVERY, Shapes

_SHAPES = Shapes(EVERY.names, runs=4)


def rehearsed_errors(way: Ecdf, terms: Terms, records: int) -> Errors:
    """Root mean squared and largest error of the published curve against the imagined records' own.

    Args:
        way: What would be released; on more than 4096 thresholds it is imagined on 4096.
        terms: Under which.
        records: How many records are imagined.
    """
    grid = way.binning().grid
    if grid.bins > LARGEST_PREDICTED:
        grid = Grid.linear(0, 1, bins=LARGEST_PREDICTED)
        way = dataclasses.replace(way, bounds=None, grid=grid)
    counts = _SHAPES.counts(grid.bins, records)
    squared, largest = np.empty(counts.shape[:2]), np.empty(counts.shape[:2])
    for shape, run in np.ndindex(counts.shape[:2]):
        imagined = counts[shape, run]
        curve = _released(way, terms, imagined, run=1 + run + _SHAPES.runs * shape)
        gap = curve.probabilities - np.cumsum(imagined) / records
        squared[shape, run], largest[shape, run] = np.mean(gap**2), np.abs(gap).max()
    return Errors.over_shapes({"rmse": np.sqrt(squared.mean(axis=1)), "ks": largest.mean(axis=1)})


def _released(way: Ecdf, terms: Terms, counts: Int64, *, run: int) -> Curve:
    """One imagined release; what it costs was looked at before."""
    procedure = way.questions(terms)
    query = next(procedure)
    while True:
        try:
            query = procedure.send(answer_imagined(query, counts, terms, run))
        except StopIteration as stop:
            curve: Curve = stop.value
            return curve
