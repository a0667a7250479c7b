"""Sums over queries of local sensitivities within d changed teachers, in bounded memory.

Queries with the same sorted votes are worked out once, and profiles are added as they come: never are there queries x
teachers x classes, nor all queries x teachers, at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.checks import among
from ogive.pate.costs.gnmax import GnmaxBound
from ogive.pate.costs.losing import Noise, unit_of
from ogive.pate.sensitivity import boxes, ranges
from ogive.pate.sensitivity.conditions import landmarks
from ogive.pate.sensitivity.extremes import Rivals, sorted_votes
from ogive.pate.sensitivity.profiles import algorithm_profiles

Method = Literal["auto", "algorithms", "ranges"]

_ENTRIES = 1 << 20


@dataclass(frozen=True)
class Profile:
    """How much a cost may differ at a neighbour, within d changed teachers.

    Fields:
        values: Largest local sensitivity for d = 0, 1, ... as far as it grows, M-1, or M for "boxes"; summed over
            queries; private.
        method: "algorithms" (3 to 5), "ranges" or "boxes"; chosen by public numbers.
        reason: Why the range maximum was used; None where it was asked for or Algorithms 3 to 5 hold.
    """

    values: Float64
    method: str
    reason: str | None = None


def answer_profile(
    votes: Int64,
    bound: GnmaxBound,
    *,
    noise: Noise = "continuous",
    method: Method = "auto",
    weights: Float64 | None = None,
) -> Profile:
    """Profile of the sum of the costs of GNMax answers.

    Args:
        votes: Counts of the answered queries, shape (queries, classes), the same number of teachers in each.
        bound: The cost of an answer.
        noise: Of the counts.
        method: "auto" takes Algorithms 3 to 5 where they hold, else the range maximum; "algorithms" takes them
            wherever they end, for comparison.
        weights: Of the queries; 1 by default. Pass chances are for planning only, as they depend on votes too.

    Returns:
        The profile, and by which method.

    Raises:
        ParameterError: no such method or noise.
    """
    among(method, "method", ("auto", "algorithms", "ranges"))
    teachers, classes = int(votes[0].sum()), votes.shape[1]
    rivals = Rivals.of(bound.sigma, teachers=teachers, classes=classes, tie_gap=unit_of(noise))
    marks = landmarks(bound, classes)
    total = np.zeros(teachers)
    lowest = rivals.log_unanimous(classes)
    if not marks.reached(lowest):
        return Profile(total, "algorithms", marks.unmet(lowest))
    reason = marks.unmet(lowest) if method == "auto" else None
    if method == "algorithms" or (method == "auto" and reason is None):
        for part, times in _chunks(votes, teachers, weights):
            total += times @ algorithm_profiles(part, rivals, marks)
        return Profile(total, "algorithms")
    cells = ranges.Cells.of(rivals, classes=classes)
    sensitivities = ranges.cell_sensitivities(bound, cells, classes=classes)
    for part, times in _chunks(votes, teachers, weights):
        total += times @ ranges.range_profiles(part, rivals, cells, sensitivities)
    return Profile(total, "ranges", reason)


def joint_profile(
    votes: Int64,
    values: Int64,
    bound: GnmaxBound,
    *,
    log_pass: Float64,
    log_refuse: Float64,
    noise: Noise = "continuous",
) -> Profile:
    """Profile of the sum of the joint costs of a check and an answer.

    Args:
        votes: Counts of all queries, shape (queries, classes), the same number of teachers in each.
        values: The check's value for every query, in [0, teachers], shape (queries,).
        bound: The cost of an answer.
        log_pass: Log chances of passing at the values -1..teachers + 1, shape (teachers + 3,).
        log_refuse: Of not passing.
        noise: Of the counts.
    """
    teachers, classes = int(votes[0].sum()), votes.shape[1]
    rivals = Rivals.of(bound.sigma, teachers=teachers, classes=classes, tie_gap=unit_of(noise))
    cells = ranges.Cells.of(rivals, classes=classes, count=boxes.CELLS)
    table = boxes.box_sensitivities(bound, cells, log_pass, log_refuse, classes=classes)
    total = np.zeros(teachers + 1)
    with_values = np.column_stack([sorted_votes(votes), values])
    for part, times in _distinct(with_values, teachers, None):
        boxes.add_box_profiles(
            total, np.ascontiguousarray(part[:, :-1]), part[:, -1], times, rivals=rivals, cells=cells, table=table
        )
    return Profile(total, "boxes")


def _chunks(votes: Int64, teachers: int, weights: Float64 | None) -> Iterator[tuple[Int64, Float64]]:
    return _distinct(sorted_votes(votes), teachers, weights)


def _distinct(rows: Int64, teachers: int, weights: Float64 | None) -> Iterator[tuple[Int64, Float64]]:
    """Different rows with the sum of their weights, so many at a time that a profile of each fits."""
    kinds, place = np.unique(rows, axis=0, return_inverse=True)
    times = np.bincount(place.ravel(), weights=weights, minlength=kinds.shape[0]).astype(np.float64)
    step = max(1, _ENTRIES // teachers)
    for start in range(0, kinds.shape[0], step):
        yield kinds[start : start + step], times[start : start + step]
