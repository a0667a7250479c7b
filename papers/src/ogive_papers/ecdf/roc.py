"""Figures 1, 5, 8 and 9: ROC curves released from the scores of a logistic regression (the paper, Section 6.5).

As in the paper a lower score means more likely positive, and the curves of the two classes get half of
epsilon each, with its constants (N is not stated; here 1024 thresholds), raw and smoothed with p=1 and p=2. Beside
them ours: both curves under one epsilon, the default method and smoothing. Errors are against the
curve of the scores themselves, without a grid. Where noise leaves a class without records, nothing is known of
the curve, and the diagonal stands in for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ogive.columns.grids import Grid
from ogive.core.arrays import Bool, Float64, Int64
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PureDP
from ogive.records import Records
from ogive.releasing.release import release
from ogive.statistics.roc.points import area, distance
from ogive.statistics.roc.statistic import Roc
from ogive.strategies.smoothing import smooth
from ogive.trust import Central
from ogive_papers.ecdf.data_sets import DATA_SETS
from ogive_papers.ecdf.models import Evaluation, evaluate
from ogive_papers.ecdf.releases import CODE as RELEASE_CODE
from ogive_papers.ecdf.releases import measure, paper_strategy
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.randomness import streams
from ogive_papers.summaries import Cell

CODE = (
    *RELEASE_CODE,
    "queries/*.py",
    "releasing/release.py",
    "statistics/roc/*.py",
    "demo/data.py",
    "papers/ecdf/data_sets.py",
    "papers/ecdf/models.py",
    "papers/ecdf/roc.py",
)
"""Files that decide every number here."""

THRESHOLDS = 1024
SHOWN = 257
"""Points of a curve that are kept for a picture."""

TRUE, RAW, ABSOLUTE, SQUARES, OURS = "true", "paper, raw", "paper p=1", "paper p=2", "ours"
PRIVATE = (RAW, ABSOLUTE, SQUARES, OURS)
DIAGONAL = "diagonal"
CURVES, ERRORS = "curves", "errors"
HORIZONTAL, VERTICAL, HALVES = "horizontal error, raw", "vertical error, raw", "step between halves, share of noise"


@dataclass(frozen=True, eq=False)
class Points:
    """A ROC curve at every threshold, from (0, 0), shape (N + 1,); without a class, the diagonal."""

    x: Float64
    y: Float64
    defined: bool = True

    @classmethod
    def of(cls, cumulative: Float64) -> Points:
        """From counts at or below every threshold, negatives first, shape (2, N)."""
        if (cumulative[:, -1] <= 0).any():
            diagonal = np.linspace(0.0, 1.0, cumulative.shape[1] + 1)
            return cls(diagonal, diagonal, defined=False)
        shares = np.clip(cumulative / cumulative[:, -1:], 0.0, 1.0)
        x, y = np.hstack([np.zeros((2, 1)), shares])
        return cls(x, y)


def exact_curve(scores: Float64, positive: Bool) -> Points:
    """The curve of the scores themselves, ties as one point."""
    values, places = np.unique(scores, return_inverse=True)
    counts = [np.bincount(places[which], minlength=values.size) for which in (~positive, positive)]
    return Points.of(np.cumsum(np.stack(counts), axis=1).astype(np.float64))


@lru_cache(maxsize=8)
def scored(name: str, places: Places, records: int) -> tuple[Evaluation, Int64, Points]:
    """Predictions for records of a data set (0: all), their counts per class and bin, and their exact curve."""
    result = evaluate(DATA_SETS[name], places)
    if records:
        result = result.part(records)
    scores = 1.0 - result.probabilities
    bins = Grid.linear(0, 1, bins=THRESHOLDS).bin_of(scores)
    counts = [np.bincount(bins[which], minlength=THRESHOLDS) for which in (~result.positive, result.positive)]
    return result, np.stack(counts).astype(np.int64), exact_curve(scores, result.positive)


def release_curves(
    evaluation: Evaluation, counts: Int64, epsilon: float, seed: int
) -> tuple[Mapping[str, Points], Float64]:
    """One release with the paper's constants, as it is and smoothed in two ways, and one of ours.

    Returns:
        Curves by name, and the paper's noise at every threshold, negatives first, shape (2, N).
    """
    _, source = streams(seed)
    records = int(counts.sum())
    paper = paper_strategy(THRESHOLDS, epsilon / 2)
    answers = [measure(paper, row, source) for row in counts]
    raw = np.stack([paper.estimate(answer, None) for answer in answers])
    curves = {RAW: Points.of(raw)}
    for name, kind in ((ABSOLUTE, "least_absolute"), (SQUARES, "least_squares")):
        smoothed = [smooth(paper, answer, total=records, kind=kind, anchor=False) for answer in answers]
        curves[name] = Points.of(np.stack(smoothed))
    curves[OURS] = our_curve(evaluation, epsilon, source)
    return curves, raw - np.cumsum(counts, axis=1)


def our_curve(evaluation: Evaluation, epsilon: float, source: KeyedSource) -> Points:
    """The library's release at the same guarantee."""
    wanted = Roc("score", "label", bounds=(0, 1), bins=THRESHOLDS, positive_when="low")
    trust = Central(Records.of(evaluation.columns))
    result = release(wanted, trust=trust, privacy=PureDP(epsilon), adjacency=Adjacency.REPLACE, source=source)
    if not result.defined:
        return Points.of(np.zeros((2, THRESHOLDS)))
    return Points(result.fpr, result.tpr)


def curve_errors(setting: Setting, seed: int, data: Places) -> Numbers:
    """Distances of one release's curves from the true one, or the curves themselves for a picture."""
    evaluation, counts, true = scored(str(setting["data set"]), data, int(setting.get("records", 0)))
    curves, noise = release_curves(evaluation, counts, float(setting["epsilon"]), seed)
    if setting["show"] == CURVES:
        return picture_numbers({TRUE: Points.of(np.cumsum(counts, axis=1).astype(np.float64)), **curves}, counts)
    numbers = {name: distance(true.x, true.y, curves[name].x, curves[name].y) for name in PRIVATE[1:]}
    exact = area(true.x, true.y)
    for name in PRIVATE[1:]:
        numbers[f"AUC error, {name}"] = abs(area(curves[name].x, curves[name].y) - exact)
        numbers[f"undefined, {name}"] = float(not curves[name].defined)
    numbers[DIAGONAL] = distance(true.x, true.y, np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    return {**numbers, **point_errors(curves, counts), HALVES: halves_share(noise)}


def halves_share(noise: Float64) -> float:
    """Part of the noise's spread over thresholds that is a step between their two halves, averaged over classes.

    The noise of a tree makes such a step; noise drawn for every threshold alone makes 1 / N of it.
    """
    halves = noise.reshape(len(noise), 2, -1).mean(axis=2)
    steps, spread = np.square(halves[:, 0] - halves[:, 1]) / 4, noise.var(axis=1)
    return float(np.divide(steps, spread, out=np.zeros_like(steps), where=spread > 0).mean())


def point_errors(curves: Mapping[str, Points], counts: Int64) -> Numbers:
    """What noise does to the two coordinates at every threshold, averaged over records' scores."""
    binned = Points.of(np.cumsum(counts, axis=1).astype(np.float64))
    weights = counts.sum(axis=0) / counts.sum()
    numbers: Numbers = {}
    for name in PRIVATE:
        errors = [
            float(np.sqrt(weights @ np.square(each[1:] - exact[1:])))
            for each, exact in ((curves[name].x, binned.x), (curves[name].y, binned.y))
        ]
        numbers[f"point error, {name}"] = math.hypot(*errors)
        if name == RAW:
            numbers |= {HORIZONTAL: errors[0], VERTICAL: errors[1]}
        else:
            numbers[f"{name} - raw"] = numbers[f"point error, {name}"] - numbers[f"point error, {RAW}"]
    return numbers


def picture_numbers(curves: Mapping[str, Points], counts: Int64) -> Numbers:
    """Both coordinates of curves at thresholds that divide the records evenly."""
    shares = np.concatenate([[0.0], np.cumsum(counts.sum(axis=0)) / counts.sum()])
    places = np.searchsorted(shares, np.linspace(0.0, 1.0, SHOWN))
    places = np.unique(np.minimum(places, THRESHOLDS))
    return {
        f"{name}, {axis} {number}": float(values[place])
        for name, points in curves.items()
        for axis, values in (("x", points.x), ("y", points.y))
        for number, place in enumerate(places)
    }


def picture_points(cells: Mapping[str, Cell], name: str) -> tuple[Float64, Float64]:
    """Both coordinates of one curve, from a summary."""
    x, y = (
        np.array([cell.mean for quantity, cell in cells.items() if quantity.startswith(f"{name}, {axis} ")])
        for axis in ("x", "y")
    )
    return x, y
