"""One estimate of all that a release measured: blocks of noisy integers that share the numbers of records of groups.

Every block, such as the sums behind a mean or the counts of categories, tells how many records its group has, with
noise of its own, and the number of all records may be public. The generalized least-squares estimate of everything is
found without a matrix of all of it: each block is conditioned on what all others and the total say of its number of
records, with weights of the inverse variances. What is shown of counts is moved to numbers of at least 0 that still add
up.

Source:
    `docs/proofs/posterior.md`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from ogive.core.arrays import Float64, Int64
from ogive.statistics.sums.measured import Measured, scaled

_SWEEPS = 200
_CLOSE = 1e-9


def but_one(known: Float64, total: int | None) -> Float64 | None:
    """What all other blocks say of the number of records that each block measures, and the total besides.

    Args:
        known: What each block says, as `Known`, shape (4, groups, blocks).
        total: The records of all groups, where that is public.

    Returns:
        Shape as `known`; None where nothing else says anything.
    """
    _, groups, blocks = known.shape
    precision = 1 / known[1]
    weighted, whole = scaled(known, precision), precision.sum(axis=1, keepdims=True)
    pooled = scaled(weighted.sum(axis=2, keepdims=True), 1 / whole)
    others = None
    if blocks > 1:
        others = scaled(weighted.sum(axis=2, keepdims=True) - weighted, 1 / (whole - precision))
    if total is None:
        return others
    rest = pooled.sum(axis=1, keepdims=True) - pooled if groups > 1 else np.zeros_like(pooled)
    rest[0] = total - rest[0]
    if others is None:
        return rest
    share = others[1] / (others[1] + rest[1])
    return scaled(others, 1 - share) + scaled(rest, share)


def joined(blocks: Sequence[Sequence[Measured]], total: int | None) -> list[list[Measured]]:
    """Blocks of each group that measure all of its records, each conditioned on all that the others say.

    Args:
        blocks: The blocks of one group after the other, as many of each.
        total: The records of all groups, where that is public.

    Privacy:
        Post-processing.
    """
    if any(each.law is None for row in blocks for each in row) or not blocks or not blocks[0]:
        return [list(row) for row in blocks]
    if any(each.total is not None for row in blocks for each in row):
        return [[given_total(each) for each in row] for row in blocks]
    known = np.array([[each.known(each.size) for each in row] for row in blocks])
    others = but_one(np.moveaxis(known, 2, 0), total)
    if others is None:
        return [list(row) for row in blocks]
    return [
        [each.given(each.size, others[:, group, block].tolist()) for block, each in enumerate(row)]
        for group, row in enumerate(blocks)
    ]


def given_total(measured: Measured) -> Measured:
    """Measured numbers of records that add up to the public one; what says nothing of it stays as it is."""
    size = measured.size
    if measured.total is None or measured.law is None or not any(size.coefficients):
        return measured
    # sums that are independent of their number of records are not moved by it
    return (
        measured.given(size, (measured.total, 0.0, 0.0, 0.0))
        if measured.form == "cells" or measured.beside
        else measured
    )


def agreed(measured: Measured, shape: tuple[int, int] | None = None) -> Measured:
    """Counts of a table that add up to the number of records, at least 0 where they are shown.

    `shape`: Rows and columns, whose sums then are at least 0 first.
    """
    if measured.exact or measured.shown is not None:
        return measured
    result = measured if measured.beside else given_total(measured)
    whole = np.maximum(result.at(result.records), 0.0)
    counts = result.counts
    if shape is None:
        shown = at_least_zero(counts, whole)
    else:
        counts = counts.reshape(shape)
        shown = at_least_zero_both(counts, *(at_least_zero(counts.sum(axis=axis), whole) for axis in (1, 0)))
    return dataclasses.replace(result, shown=tuple(map(float, shown.ravel())))


# --- Counts that are at least 0, and add up


def sizes_of(measured: Sequence[float | None], total: int | None) -> list[int] | None:
    """The least-squares numbers of records of groups, at least 0 and whole, that add up to the public number of all.

    Each was measured with noise of one size. None where the number of all is private, or one of them was not measured.
    """
    known = [each for each in measured if each is not None]
    if total is None or len(known) < len(measured):
        return None
    values = np.array(known)
    even: Float64 = values + (total - values.sum()) / len(values)
    return list(map(int, whole_numbers(at_least_zero(even, np.array(float(total))), total)))


def at_least_zero(values: Float64, wholes: Float64) -> Float64:
    """The nearest numbers of at least 0 along the last axis that add up to these wholes of at least 0."""
    return np.maximum(values - _moves(values, wholes), 0.0)


def _moves(values: Float64, wholes: Float64) -> Float64:
    """What is taken off the numbers of each row, of which those below 0 then become 0."""
    ordered = -np.sort(-values, axis=-1)
    moves = (np.cumsum(ordered, axis=-1) - wholes[..., None]) / np.arange(1, values.shape[-1] + 1)
    last = np.maximum((ordered > moves).sum(axis=-1, keepdims=True) - 1, 0)
    result: Float64 = np.take_along_axis(moves, last, axis=-1)
    return result


def at_least_zero_both(values: Float64, rows: Float64, columns: Float64) -> Float64:
    """The nearest table of numbers of at least 0 with these sums of rows and, as nearly as 200 sweeps do, of columns.

    It is max(0, v - a - b) with multipliers a of the rows and b of the columns, each found given the other in turns.
    """
    of_columns = np.zeros_like(columns)[None]
    for _ in range(_SWEEPS):
        of_rows = _moves(values - of_columns, rows)
        result = np.maximum(values - of_columns - of_rows, 0.0)
        if np.abs(result.sum(axis=0) - columns).max() <= _CLOSE * max(1.0, columns.sum()):
            break
        of_columns = _moves((values - of_rows).T, columns).T
    return result


def whole_numbers(values: Float64, total: int) -> Int64:
    """Values of at least 0 that add up to about a whole number, as whole numbers that add up to it exactly."""
    result = np.floor(values).astype(np.int64)
    result[np.argsort(result - values, kind="stable")[: max(0, total - int(result.sum()))]] += 1
    return result
