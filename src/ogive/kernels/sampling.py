"""Kernels between cells without a closed form: points of cells, drawn once with a fixed public seed.

Every cell is hit by a Latin hypercube: of R points, each column has one in every R-th part of the cell. Points of the
left and of the right cell are drawn independently. Only public cells are looked at, so nothing here costs privacy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ogive.arrays import Float64
from ogive.columns import Domain
from ogive.kernels.cells import are_points, boxes, widths

Function = Callable[[Float64, Float64], Float64]

_SEED = 20201
_FEWEST, _MOST = 16, 1024
_EVALUATIONS = 1 << 22
_SLOW_EVALUATIONS = 1 << 17
_TRIALS = 64
_FEWEST_TRIALS = 8


def draws(columns: Domain, *, slow: bool = False) -> int:
    """How many points a cell has: more for small domains, 16 to 1024; fewer for kernels called pair by pair."""
    evaluations = _SLOW_EVALUATIONS if slow else _EVALUATIONS
    return int(np.clip(evaluations // columns.size**2, _FEWEST, _MOST))


def sampled_means(kernel: Function, columns: Domain, *, slow: bool = False) -> tuple[Float64, Float64]:
    """Mean of a kernel over each pair of cells.

    Args:
        kernel: Values of rows against rows.
        columns: The public domain.
        slow: Whether the kernel is called for every pair on its own.

    Returns:
        Means and their standard errors, each of shape (k, k); exact, with errors of 0, where all cells are points. The
        errors are those of independent points, which are larger than those of a Latin hypercube. The
        matrix of means is as symmetric as the kernel, up to its errors.
    """
    lows, _ = boxes(columns)
    if are_points(columns):
        values = np.asarray(kernel(lows[:, None], lows[None]), dtype=np.float64)
        return values, np.zeros_like(values)
    count = draws(columns, slow=slow)
    mean, squares = np.zeros((len(lows), len(lows))), np.zeros((len(lows), len(lows)))
    for number, (left, right) in enumerate(_hypercubes(columns, count), start=1):
        values = kernel(left[:, None], right[None])
        change = values - mean
        mean += change / number
        squares += change * (values - mean)
    return mean, np.sqrt(squares / (count * (count - 1)))


def trial_points(columns: Domain) -> Float64:
    """Public points that a function is tried on, shape (points, columns).

    All of a domain of up to 64 points, over and over to make at least 8; else 64, both bounds among them.
    """
    if are_points(columns) and columns.size <= _TRIALS:
        points = boxes(columns)[0]
        return np.tile(points, (-(-_FEWEST_TRIALS // len(points)), 1))
    generator = np.random.default_rng(_SEED)
    parts = []
    for column in columns.columns:
        lows, highs = column.cells()
        places = generator.integers(column.size, size=_TRIALS)
        shares = generator.random(_TRIALS)
        places[:2], shares[:2] = (0, column.size - 1), (0, 1)
        parts.append(lows[places] + (highs - lows)[places] * shares)
    return np.stack(parts, axis=-1)


def near_points(columns: Domain, points: Float64) -> Float64:
    """Points a thousandth of the way to another point, shape as `points`; columns of points stay as they are."""
    wide = np.array([widths(column).any() for column in columns.columns])
    return points + (np.roll(points, 1, axis=0) - points) * np.where(wide, 2.0**-10, 0.0)


def _hypercubes(columns: Domain, count: int) -> list[tuple[Float64, Float64]]:
    """Points of every cell, `count` times: left rows and right rows of shape (k, columns) each."""
    lows, highs = boxes(columns)
    generator = np.random.default_rng(_SEED)
    shape = (count, 2, lows.shape[1])
    order = generator.permuted(np.broadcast_to(np.arange(count)[:, None, None], shape), axis=0)
    shares = (order + generator.random(shape)) / count
    return [(lows + (highs - lows) * left, lows + (highs - lows) * right) for left, right in shares]
