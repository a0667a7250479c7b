"""Kernels between cells without a closed form: points of cells, drawn once with a fixed public seed.

Every cell is hit by a Latin hypercube: of R points, each column has one in every R-th part of the cell. Points of the
left and of the right cell are drawn independently. Only public cells are looked at, so nothing here costs privacy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ogive.columns import Domain
from ogive.kernels.cells import boxes, corners

Float64 = NDArray[np.float64]
Function = Callable[[Float64, Float64], Float64]

_SEED = 20201
_FEWEST, _MOST = 16, 1024
_EVALUATIONS = 1 << 22
_SLOW_EVALUATIONS = 1 << 17
_CORNERS = 16
_FOR_EXTREMES = 64
_PAIRS = 512


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
    lows, highs = boxes(columns)
    if np.array_equal(lows, highs):
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


def sampled_extremes(kernel: Function, columns: Domain, *, slow: bool = False) -> tuple[Float64, Float64]:
    """Least and largest value that a kernel takes over each pair of cells, on corners and points: an inner estimate."""
    lows, highs = boxes(columns)
    least = np.full((len(lows), len(lows)), np.inf)
    most = -least
    found = corners(columns)
    chosen = found[np.unique(np.linspace(0, len(found) - 1, min(len(found), _CORNERS)).astype(np.int64))]
    pairs = [(left, right) for left in chosen for right in chosen]
    if not np.array_equal(lows, highs):
        pairs += _hypercubes(columns, min(draws(columns, slow=slow), _FOR_EXTREMES))
    for left, right in pairs:
        values = kernel(left[:, None], right[None])
        np.minimum(least, values, out=least)
        np.maximum(most, values, out=most)
    return least, most


def pair_points(columns: Domain) -> tuple[Float64, Float64]:
    """Some pairs of public points of a domain, each of shape (pairs, columns): bounds and cells' points."""
    generator = np.random.default_rng(_SEED)
    places = [
        np.stack([generator.integers(column.size, size=_PAIRS) for column in columns.columns], axis=-1)
        for _ in range(2)
    ]
    for number, column in enumerate(columns.columns):
        # every bound meets every bound of its column
        places[0][:4, number] = [0, 0, column.size - 1, column.size - 1]
        places[1][:4, number] = [0, column.size - 1, 0, column.size - 1]
    rows = []
    for place in places:
        shares = generator.random(place.shape)
        shares[:4] = np.where(place[:4] > 0, 1.0, 0.0)
        parts = []
        for number, column in enumerate(columns.columns):
            lows, highs = column.cells()
            low, high = lows[place[:, number]], highs[place[:, number]]
            parts.append(low + (high - low) * shares[:, number])
        rows.append(np.stack(parts, axis=-1))
    return rows[0], rows[1]


def _hypercubes(columns: Domain, count: int) -> list[tuple[Float64, Float64]]:
    """Points of every cell, `count` times: left rows and right rows of shape (k, columns) each."""
    lows, highs = boxes(columns)
    generator = np.random.default_rng(_SEED)
    shape = (count, 2, lows.shape[1])
    order = generator.permuted(np.broadcast_to(np.arange(count)[:, None, None], shape), axis=0)
    shares = (order + generator.random(shape)) / count
    return [(lows + (highs - lows) * left, lows + (highs - lows) * right) for left, right in shares]
