"""How a distribution function is planned.

Most methods measure one curve, whose errors before smoothing follow from the noise. A curve may also take several
rounds, each chosen after the answers before: neither its noise nor its bias is that of one strategy. Then releases are
imagined on every public shape, and errors are the largest over the shapes, with the smallest beside it, as for
strategies that approximate.
"""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import numpy as np

from ogive.columns.grids import Grid
from ogive.errors import ParameterError, ScaleError, UnsupportedError
from ogive.privacy import PrivacyUnit
from ogive.queries import CurveQuery, PeopleQuery, ReportsQuery
from ogive.statistics.base import Terms
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.ecdf.statistic import Ecdf
from ogive.statistics.methods.base import EVERY, LARGEST_PREDICTED, REFERENCES, CurveTask, Shapes, typical
from ogive.statistics.methods.choose import MethodName, as_method, predicted_errors
from ogive.statistics.methods.plan import (
    CurvePrediction,
    decided_by_noise,
    errors_of_one_curve,
    strategy_errors,
)
from ogive.statistics.prediction import Errors, Rehearsal, Setting
from ogive.strategies import ReportedHistogram, ReportedTree

REFERENCE_WORDS = (
    "projection, histogram, adaptive and selected measure less than every threshold, so their errors depend on the "
    f"data: a..b is the smallest and the largest over {len(EVERY.names)} public reference shapes, from smooth ones "
    f"to all records on one value, with the bias counted; energy is simulated for every method on {len(REFERENCES)} "
    f"of them ({', '.join(REFERENCES)}); auto chooses such a method only if, on every shape, its ks error is at most "
    "1.5 times that of the best of the others"
)

_SHAPES = Shapes(EVERY.names, runs=4)


class Prediction(CurvePrediction):
    """Errors before smoothing, which hold for all records, and the energy distance, on public shapes."""

    @property
    def decided(self) -> bool:
        """Whether the predicted errors decide: one noisy curve is measured, or owners report."""
        return curve_is_decided(self.rehearsal)

    def errors(self) -> Errors:
        """Errors of the curve before smoothing, and its energy distance."""
        return curve_errors(cast(Ecdf, self.statistic), self.rehearsal, self.setting)


def curve_is_decided(rehearsal: Rehearsal) -> bool:
    """Whether predicted errors decide without a simulation."""
    return decided_by_noise(rehearsal.queries) or isinstance(rehearsal.queries[-1], ReportsQuery)


def curve_errors(curve: Ecdf, rehearsal: Rehearsal, setting: Setting) -> Errors:
    """Errors of a curve before smoothing, and its energy distance where the public shapes tell it."""
    strategy = cast(Curve, rehearsal.estimate).strategy
    adjacency, last = setting.unit.adjacency, rehearsal.queries[-1]
    of_one = errors_of_one_curve(rehearsal.queries, adjacency, setting.records)
    automatic = as_method(curve.method) == "auto"
    method = curve.method
    if isinstance(strategy, ReportedHistogram | ReportedTree):
        errors = strategy_errors(strategy, adjacency, setting.records, known=True)
        method = "reports" if automatic else method
    elif of_one is not None:
        errors = of_one
        method = last.strategy if automatic and isinstance(last, CurveQuery) else method
    else:
        errors = _rehearsed_errors(curve, rehearsal.terms, setting)
    terms = rehearsal.terms
    if isinstance(last, PeopleQuery):  # as where each person has one row
        method = cast(MethodName, last.method)
        terms = dataclasses.replace(terms, unit=PrivacyUnit(adjacency, terms.unit.person))
    task = CurveTask(curve.binning(), terms, curve.smooth, curve.expected_records or setting.records)
    try:
        energies = predicted_errors(method, task).energy
    except (ParameterError, ScaleError, UnsupportedError):
        return errors
    spans = errors.spans | {"energy": (min(energies), max(energies))}
    return Errors({**errors, "energy": typical(energies)}, spans, basis=(REFERENCE_WORDS,))


def _rehearsed_errors(curve: Ecdf, terms: Terms, setting: Setting) -> Errors:
    """Root mean squared and largest error of the published curve against the imagined records' own.

    A curve on more than 4096 thresholds is imagined on 4096.
    """
    grid = curve.binning().grid
    if grid.bins > LARGEST_PREDICTED:
        grid = Grid.linear(0, 1, bins=LARGEST_PREDICTED)
        curve = dataclasses.replace(curve, bounds=None, grid=grid, missing=curve.binning().on(grid).missing)
    counts = _SHAPES.counts(grid.bins, setting.records)
    squared, largest = np.empty(counts.shape[:2]), np.empty(counts.shape[:2])
    for shape, run in np.ndindex(counts.shape[:2]):
        imagined = counts[shape, run]
        released = _released(curve, terms, imagined, setting, run=1 + run + _SHAPES.runs * shape)
        gap = released.probabilities - np.cumsum(imagined) / setting.records
        squared[shape, run], largest[shape, run] = np.mean(gap**2), np.abs(gap).max()
    return Errors.over_shapes({"rmse": np.sqrt(squared.mean(axis=1)), "ks": largest.mean(axis=1)})


def _released(curve: Ecdf, terms: Terms, counts: Any, setting: Setting, *, run: int) -> Curve:
    """One imagined release of records with these counts, whose price is already known."""
    procedure = curve.questions(terms)
    query = next(procedure)
    while True:
        try:
            query = procedure.send(setting.answer(query, counts, terms, run))
        except StopIteration as stop:
            return cast(Curve, stop.value)
