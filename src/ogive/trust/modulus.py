"""Numbers in which servers hold shares, what is measured of them, and the room that sums and their noise need.

A share is as large as the modulus whatever it stands for, so measuring it in 64 bits would overflow. It is cut into
limbs of few bits; each is measured exactly, and the limbs' measurements are put together modulo the number.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ogive.core.arrays import Bool, Int64, UInt64
from ogive.core.checks import WIDE
from ogive.crypto import field
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.noise.laws import noise_bound
from ogive.privacy import Adjacency
from ogive.queries import aggregates, base, histograms
from ogive.strategies import GroupedHistogram, OpenedThresholds, OrthogonalProjection, Strategy

# --- Room in the numbers in which servers hold shares


def check_range(query: base.LinearQuery, *, records: int, servers: int, honest: int, modulus: int) -> None:
    """Check that measurements of this many records with the noise of all servers stay within a modulus."""
    room = modulus // 4
    cells = np.zeros(query.aggregate.shape, dtype=np.int64)
    once = int(np.abs(query.measure(cells + 1)).max(initial=0))  # what one record adds, where all add, is below it
    fits = max(once * records, noise_bound((each.law for each in query.levels), adding=servers, honest=honest)) < room
    try:
        for place in (0, -1) if fits else ():  # a query may look at some of its rows alone
            cells[...] = 0
            cells.flat[place] = records * -(-WIDE // room)
            query.measure(cells)
    except (DataError, ParameterError):
        fits = False
    if not fits:
        raise UnsupportedError(
            "sums of this many records and their noise may leave the range of the servers' numbers; "
            "ask for fewer fractional bits or for more privacy loss, or use trust central"
        )


# --- Numbers modulo 2^64, 2^32 or the prime of `ogive.crypto.field`


def added(x: UInt64, y: UInt64, modulus: int) -> UInt64:
    return field.sums(x, y) if modulus == field.P else np.asarray((x + y) & np.uint64(modulus - 1))


def subtracted(x: UInt64, y: UInt64, modulus: int) -> UInt64:
    return field.differences(x, y) if modulus == field.P else x - y


def residues(numbers: Int64, modulus: int) -> UInt64:
    if modulus == field.P:
        return field.encode(numbers)
    return np.asarray(numbers.astype(np.uint64) & np.uint64(modulus - 1))


def signed(shares: UInt64, modulus: int) -> Int64:
    """The whole numbers of least magnitude that have these residues."""
    return field.decode(shares) if modulus == field.P else np.ascontiguousarray(shares).view(np.int64)


# --- What servers measure of shares: sums known only modulo a number, of the cells that a query tells apart

LIMB_BITS = (32, 22, 16, 11, 8, 6, 4, 3, 2, 1)
"""Widths that are tried: those that need 2, 3, 4, 6, 8, 11, 16, 22, 32 and 64 limbs for a word."""

_ROOM_BITS = 60
"""Of the measurements of limbs, below 2^60 so that those of negative entries fit beside them."""
_TOTALS_BITS = 16
"""Of the limbs of what is only counted: all cells that there may be stay below 2^63."""


def measure_modulo(query: base.LinearQuery, shares: UInt64, modulus: int) -> UInt64:
    """`query.measure` of shares of the query's aggregate, in its shape, below the modulus, exactly.

    Shares that add up to the aggregate modulo the number give results that add up to its measurements.
    """
    if modulus not in (1 << 64, 1 << 32, field.P):
        raise ParameterError(f"`shares` must be modulo 2^64, 2^32 or 2^61 - 1, got {modulus}")
    width = _limb_bits(query, shares != 0)
    limb = np.uint64((1 << width) - 1)
    total: UInt64 | None = None
    for shift in reversed(range(0, (modulus - 1).bit_length(), width)):
        part = residues(query.measure(((shares >> np.uint64(shift)) & limb).astype(np.int64)), modulus)
        total = part if total is None else added(_doubled(total, width, modulus), part, modulus)
    assert total is not None
    return total


def totals_modulo(query: base.LinearQuery, shares: UInt64, adjacency: Adjacency, modulus: int) -> UInt64:
    """`query.totals` of such shares, exactly; empty where it tells none."""
    results: list[int] = []
    for shift in range(0, (modulus - 1).bit_length(), _TOTALS_BITS):
        limbs = ((shares >> np.uint64(shift)) & np.uint64((1 << _TOTALS_BITS) - 1)).astype(np.int64)
        some = query.totals(limbs, adjacency) or ()
        results = [before + (each << shift) for before, each in zip(results or [0] * len(some), some, strict=True)]
    return np.array([each % modulus for each in results], np.uint64)


def _limb_bits(query: base.LinearQuery, present: Bool) -> int:
    """The widest limbs of these cells that can be measured in 64 bits."""
    ones = present.astype(np.int64)
    for width in LIMB_BITS:
        try:
            largest = int(np.abs(query.measure(ones)).max(initial=0))
            query.measure(ones * ((1 << width) - 1))
        except (DataError, ParameterError):  # what would not fit is refused
            continue
        # where entries may be negative: projections and sums per group refuse by the sum of what they count
        if largest << width < 1 << _ROOM_BITS:
            return width
    raise UnsupportedError("the query has too many fractional bits to be measured in shares; use fewer bits")


def _doubled(values: UInt64, times: int, modulus: int) -> UInt64:
    if modulus == field.P:
        return field.products(values, np.uint64(1 << times))
    return np.asarray((values << np.uint64(times)) & np.uint64(modulus - 1))


# --- The cells of an aggregate that a query tells apart
#
# A query that opens a curve at some points, or counts wide groups, does not depend on where in a block between two of
# them a record lies. Whoever counts records behind public thresholds needs the ends of these blocks only.


def block_ends(query: base.Query) -> Int64:
    """Last cells of the blocks that a query tells apart, increasing, shape (blocks,).

    Cells are numbered as those of `Contributions`: row by row, of sums per group of probabilities (label, group). The
    very last cell always ends a block. If the counts of every block are moved to its last cell, what a linear query
    measures stays as it is.
    """
    if isinstance(query.aggregate, aggregates.GroupSums):
        return np.arange(2 * query.aggregate.shape[1])
    if isinstance(query, base.CurveQuery):
        if query.points is not None:
            return np.unique([*query.points, query.strategy.size - 1])
        return _strategy_ends(query.strategy)
    if isinstance(query, histograms.ClassCurvesQuery):
        starts = np.arange(query.shape[0]) * query.strategy.size
        return np.asarray(starts[:, np.newaxis] + _strategy_ends(query.strategy)).ravel()
    return np.arange(prod(query.aggregate.shape))


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
