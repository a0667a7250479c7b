"""Figures 1 and D1: one release at epsilon 0.1 to look at, and repeated ones to judge what it shows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ogive.core.arrays import Bool, Float64
from ogive_papers.items import Numbers, Places, Setting
from ogive_papers.projection.central import (
    AQ,
    AQ_NAIVE,
    CENTRAL_CODE,
    HQ,
    HQ_NAIVE,
    PP,
    RECORDS,
    SHAPED,
    measured,
    plain_curves,
    private_curves,
)
from ogive_papers.projection.shapes import POINTS, SHAPES
from ogive_papers.randomness import streams
from ogive_papers.summaries import Cell

EPSILON = 0.1
CURVES, ERRORS = "curves", "errors"
PRIVATE, PLAIN = "private", "without noise"
TRUE, IGNORANT = "true", "uniform"
SHOWN = (HQ_NAIVE, AQ_NAIVE, PP, HQ, AQ, SHAPED)
"""Methods whose curves are drawn."""

STRIDE = 5
"""Every so manieth point of a curve is kept for its picture."""

SINGLE_CODE = (*CENTRAL_CODE, "papers/projection/single.py")


def settings(shapes: tuple[str, ...], quick: bool) -> tuple[Setting, ...]:
    """For every distribution one release to look at, and repeated ones."""
    return tuple(
        {"data": shape, "epsilon": EPSILON, "show": show, **({"runs": 1} if show == CURVES else {})}
        for shape in shapes
        for show in (CURVES, ERRORS)
    )


def measure(setting: Setting, seed: int, data: Places) -> Numbers:
    """The curves of one release, or their distances from the truth and where adaptive quantiles asked."""
    shape = SHAPES[str(setting["data"])]
    generator, source = streams(seed)
    records = shape.records(generator, RECORDS)
    private, asked = private_curves(shape, records, EPSILON, generator, source)
    plain, plainly_asked = plain_curves(shape, records, EPSILON)
    truth = shape.truth
    result: Numbers = {}
    if setting["show"] == CURVES:
        result |= _points(TRUE, truth)
        for name in SHOWN:
            result |= _points(f"{name}, {PRIVATE}", private[name]) | _points(f"{name}, {PLAIN}", plain[name])
        for name, (places, shares) in asked.items():
            result |= _points(f"{name}, places", places, 1) | _points(f"{name}, shares", shares, 1)
        return result
    result |= measured(private, truth, shape.high - shape.low)
    result |= measured({f"{name}, {PLAIN}": curve for name, curve in plain.items()}, truth, shape.high - shape.low)
    result |= measured({IGNORANT: np.linspace(0.0, 1.0, POINTS)}, truth, shape.high - shape.low)
    axis, steep = shape.axis, steep_part(truth)
    result["steep part"] = float(steep.mean())
    for label, points in ((PRIVATE, asked), (PLAIN, plainly_asked)):
        for name, (places, _) in points.items():
            cell = np.clip(np.searchsorted(axis, places[1:-1]) - 1, 0, steep.size - 1)
            result[f"{name}, {label}: asked in the steep part"] = float(steep[cell].mean())
    return result


def steep_part(truth: Float64) -> Bool:
    """Where the true curve rises at least half as steeply as anywhere, shape (POINTS - 1,)."""
    slope = np.diff(truth)
    return np.asarray(slope >= slope.max() / 2)


def _points(name: str, values: Float64, stride: int = STRIDE) -> Numbers:
    return {f"{name} at {place}": float(value) for place, value in enumerate(values[::stride])}


def points(cells: Mapping[str, Cell], name: str) -> Float64:
    """What `measure` kept of a curve."""
    results: list[float] = []
    while f"{name} at {len(results)}" in cells:
        results.append(cells[f"{name} at {len(results)}"].mean)
    return np.array(results)
