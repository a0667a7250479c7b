"""Public linear forms of the columns of many clients, modulo p: what a server applies to its shares."""

from __future__ import annotations

import numpy as np

from ogive.arrays import UInt64
from ogive.compiling import njit
from ogive.crypto.field import accumulate, add, fold

_RUN = 64
"""Products of elements that fit 128 bits when added up."""

_TILE = 512


def project(columns: UInt64, weights: UInt64) -> UInt64:
    """Linear forms of columns.

    Fastest where one client's columns, or one column's clients, lie side by side in memory.

    Args:
        columns: Elements, shape (columns, n).
        weights: Elements, shape (forms, columns); zeros cost nothing where one column's clients lie side by side.

    Returns:
        weights @ columns modulo p, shape (forms, n).
    """
    found = np.zeros((len(weights), columns.shape[1]), dtype=np.uint64)
    if columns.T.flags.c_contiguous and not columns.flags.c_contiguous:
        _by_client(columns.T, np.ascontiguousarray(weights), found)
    else:
        _by_column(columns, np.ascontiguousarray(weights), found)
    return found


@njit(nogil=True)
def _by_client(rows: UInt64, weights: UInt64, found: UInt64) -> None:
    """Each client's columns in turn."""
    for client in range(len(rows)):
        for form in range(len(weights)):
            held = np.uint64(0)
            for start in range(0, rows.shape[1], _RUN):
                row, weight = rows[client, start : start + _RUN], weights[form, start : start + _RUN]
                low = high = np.uint64(0)
                for column in range(row.size):
                    low, high = accumulate(low, high, weight[column], row[column])
                held = add(held, fold(low, high))
            found[form, client] = held


@njit(nogil=True)
def _by_column(columns: UInt64, weights: UInt64, found: UInt64) -> None:
    """Each column in turn, of so many clients as stay in the cache."""
    lows, highs = np.zeros(_TILE, np.uint64), np.zeros(_TILE, np.uint64)
    for first in range(0, columns.shape[1], _TILE):
        for form in range(len(weights)):
            held, pending = found[form, first : first + _TILE], 0
            for column in np.flatnonzero(weights[form]):
                weight, values = weights[form, column], columns[column, first : first + _TILE]
                for client in range(values.size):
                    lows[client], highs[client] = accumulate(lows[client], highs[client], weight, values[client])
                pending += 1
                if pending == _RUN:
                    _flush(lows, highs, held)
                    pending = 0
            _flush(lows, highs, held)


@njit(nogil=True)
def _flush(lows: UInt64, highs: UInt64, held: UInt64) -> None:
    """Add sums of 128 bits to elements, and begin again."""
    for client in range(held.size):
        held[client] = add(held[client], fold(lows[client], highs[client]))
        lows[client] = highs[client] = 0
