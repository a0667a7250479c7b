"""From numbers to bins and sums, in exact agreement with `Grid.bin_of`, and what a binning refuses.

A column is float64 here, with NaN for every missing value, whatever it was read from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.arrays import Float64, Int64
from ogive.columns import Binning
from ogive.compiling import njit
from ogive.errors import DataError, quoted
from ogive.grids import Grid

LOW_OR_HIGH = "`missing='low'`, `'high'` or a public value within the bounds"
"""What missing values may always mean, as a message marks it."""
DROP_TOO = (
    f"{LOW_OR_HIGH} under either adjacency, or `'drop'` under `ADD_OR_REMOVE` alone; the first release of an account "
    "fixes its adjacency"
)
"""What missing values may mean where the statistic can do without a record."""


def bins_of(values: Float64, grid: Grid, place: int) -> tuple[Int64, int]:
    """The 0-based bin of each value, and how many were missing.

    Args:
        values: Any floats; infinities are clipped to the grid's bounds like every other value outside.
        grid: Thresholds; the bin of a value is exactly `grid.bin_of(value)`.
        place: What stands for the bin of a value that is missing, NaN.
    """
    found = np.empty(len(values), dtype=np.int64)
    return found, int(_place(values, grid.thresholds, grid.per_unit, place, found))


def _searched(values: Float64, thresholds: Float64, per_unit: float, place: int, found: Int64) -> int:
    """What `_place` does, by bisection of all values at once."""
    missing = np.isnan(values)
    found[:] = np.minimum(np.searchsorted(thresholds, values, side="left"), len(thresholds) - 1)
    found[missing] = place
    return int(np.count_nonzero(missing))


def _counted(counts: Int64, cells: Int64) -> None:
    """What `add_cells` does, for all cells at once."""
    counts += np.bincount(cells + 1, minlength=len(counts) + 1)[1:]


def _in_class_plain(bins: Int64, classes: NDArray[np.integer[Any]], size: int) -> Int64:
    """What `in_class` does, for all records at once."""
    return np.where(bins >= 0, classes.astype(np.int64) * size + bins, -1)


def _fixed_point_plain(values: Float64, substitute: float, bits: int) -> Int64:
    """What `fixed_point` does, for all values at once."""
    filled = np.where(np.isnan(values), substitute, values)
    return np.rint(np.minimum(np.maximum(filled, 0.0), 1.0) * float(1 << bits)).astype(np.int64)


def _add_amounts_plain(sums: Int64, cells: Int64, amounts: Int64, bits: int) -> None:
    """What `add_amounts` does, for all records at once."""
    labels, groups = np.divmod(cells, sums.shape[1])
    np.add.at(sums[0], groups, (1 << bits) - amounts)
    np.add.at(sums[1], groups, amounts)
    np.add.at(sums, (2 + labels, groups), 1)


@njit(nogil=True, steps=lambda bins, *rest: len(bins) // 50, twin=_in_class_plain)
def in_class(bins: Int64, classes: NDArray[np.integer[Any]], size: int) -> Int64:
    """Flat cells of a table of shape (classes, size), from bins and numbers of classes; bins of -1 stay -1."""
    cells = np.empty_like(bins)
    for i in range(len(bins)):
        cells[i] = np.int64(classes[i]) * size + bins[i] if bins[i] >= 0 else -1
    return cells


@njit(nogil=True, steps=lambda values, *rest: len(values) // 20, twin=_fixed_point_plain)
def fixed_point(values: Float64, substitute: float, bits: int) -> Int64:
    """Probabilities rounded once to multiples of 2^-bits, in that unit.

    Args:
        values: Those outside [0, 1] are clipped.
        substitute: What a missing one stands for.
        bits: Fractional bits.
    """
    one = float(1 << bits)
    amounts = np.empty(len(values), dtype=np.int64)
    for i in range(len(values)):
        value = substitute if np.isnan(values[i]) else values[i]
        amounts[i] = np.int64(np.rint(min(max(value, 0.0), 1.0) * one))
    return amounts


@njit(nogil=True, steps=lambda counts, cells: len(cells) // 50 + len(counts) // 200, twin=_counted)
def add_cells(counts: Int64, cells: Int64) -> None:
    """Count flat cells, in place; those of -1 count nowhere."""
    for i in range(len(cells)):
        if cells[i] >= 0:
            counts[cells[i]] += 1


@njit(nogil=True, steps=lambda sums, cells, *rest: len(cells) // 5, twin=_add_amounts_plain)
def add_amounts(sums: Int64, cells: Int64, amounts: Int64, bits: int) -> None:
    """Add records to sums of shape (4, groups), in place; see `GroupSums` and `Contributions`."""
    groups = sums.shape[1]
    for i in range(len(cells)):
        label, group = divmod(cells[i], groups)
        sums[0, group] += (1 << bits) - amounts[i]
        sums[1, group] += amounts[i]
        sums[2 + label, group] += 1


@njit(nogil=True)
def _bin(value: float, thresholds: Float64, per_unit: float) -> int:
    """The first threshold at or above a value, or the last: guessed by arithmetic on an even grid, else by bisection.

    A guess is moved to where the comparisons with the thresholds hold.
    """
    last = len(thresholds) - 1
    if value <= thresholds[0]:
        return 0
    if value >= thresholds[last]:
        return last
    if per_unit > 0:
        guess = min(int((value - thresholds[0]) * per_unit) + 1, last)
        while thresholds[guess] < value:
            guess += 1
        while guess > 0 and thresholds[guess - 1] >= value:
            guess -= 1
        return guess
    first, end = 0, last
    while first < end:
        middle = (first + end) >> 1
        if thresholds[middle] < value:
            first = middle + 1
        else:
            end = middle
    return first


@njit(nogil=True, steps=lambda values, *grid: len(values) // 4, twin=_searched)
def _place(values: Float64, thresholds: Float64, per_unit: float, place: int, found: Int64) -> int:
    missing = 0
    for i in range(len(values)):
        if np.isnan(values[i]):
            missing += 1
            found[i] = place
        else:
            found[i] = _bin(values[i], thresholds, per_unit)
    return missing


def refuse_outside(values: Float64, binning: Binning, advice: str = "") -> None:
    """Refuse values outside the bounds where the policy says so.

    Args:
        values: Numbers of the grid, NaN where missing.
        binning: The bounds and the policy. Numbers that may not leave 0 to 1, and for which no advice is
            given, are probabilities.
        advice: What would be right, where values outside could be allowed.

    Raises:
        DataError: there is one.
    """
    grid = binning.grid
    if binning.outside == "refuse" and bool(np.any((values < grid.low) | (values > grid.high))):
        if not advice and grid.span == "0 to 1":
            raise DataError(
                f"column {quoted(binning.column)} has values outside 0 to 1, which are not probabilities; "
                "percentages must be divided by 100"
            )
        raise DataError(
            f"column {quoted(binning.column)} has values outside {grid.span}; {advice or 'widen the bounds'}",
            parameter="bounds",
        )


def refuse_fractions(values: Float64, binning: Binning) -> None:
    """Refuse numbers that are not whole where a grid of integers holds nothing else.

    Args:
        values: Numbers of the grid, NaN where missing.
        binning: The grid and the policy.

    Raises:
        DataError: there is one.
    """
    if binning.holds_fractions(values):
        raise DataError(
            f"column {quoted(binning.column)} has values that are not whole, which a grid of integers does not hold; "
            "use `grid='linear'`"
        )


def missing_message(binning: Binning, choices: str) -> str:
    """What is said of missing values that a policy refuses."""
    return f"column {quoted(binning.column)} has missing values; choose their treatment with {choices}"
