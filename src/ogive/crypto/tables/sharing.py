"""What a client does: share a vector of whole numbers so that all servers but one learn nothing of it.

Every server gets a seed, and the last one also the elements that the seeds do not determine. Nothing here
is secret from the client, which is free to upload anything else: see `ogive.crypto.sketch`.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ogive.arrays import Int64, UInt8, UInt64
from ogive.checks import whole
from ogive.crypto.field import differences, encode, products, sums
from ogive.crypto.tables.batch import ShareBatch
from ogive.crypto.tables.expansion import expand
from ogive.crypto.tables.shape import ShareShape
from ogive.crypto.wire import STUDY_BYTES
from ogive.errors import DataError, ParameterError

MOST_SERVERS = 255
_BLOCKS = 16


def share(
    columns: ArrayLike,
    *,
    shape: ShareShape,
    servers: int,
    study: bytes,
    random: Callable[[int], bytes] = os.urandom,
) -> tuple[ShareBatch, ...]:
    """Share the vectors of clients, with fresh material for verifications.

    Args:
        columns: The clients' vectors, whole numbers, shape (columns, n): one client a column of the array. Where
            clients share material alone (for comparison keys) the shape is (0, n).
        shape: Of the study.
        servers: How many servers, 2 to 255.
        study: Digest of the study, 32 bytes.
        random: Where seeds come from: bytes of a given number, uniform.

    Returns:
        What each server gets, in their order.

    Raises:
        ParameterError: the number of servers, the digest or the shape of the array is wrong.
    """
    whole(servers, "servers", 2, MOST_SERVERS)
    if not isinstance(study, bytes) or len(study) != STUDY_BYTES:
        raise ParameterError(f"`study` must be a digest of {STUDY_BYTES} bytes")
    values = np.asarray(columns)
    if values.ndim != 2 or len(values) != shape.columns:
        raise ParameterError(f"`columns` must have the shape ({shape.columns}, clients), got {values.shape}")
    clients = values.shape[1]
    seeds = np.frombuffer(random(16 * servers * clients), "<u8").reshape(servers, clients, 2).astype(np.uint64)
    explicit = np.empty((shape.explicit, clients), dtype=np.uint64)
    for block in range(0, shape.column_blocks, _BLOCKS):
        rows = slice(2 * block, min(2 * (block + _BLOCKS), shape.columns))
        held = _added(seeds[:-1], study, block, min(_BLOCKS, shape.column_blocks - block))
        explicit[rows] = differences(encode(values[rows]), held[: rows.stop - rows.start])
    for verification in range(shape.verifications):
        _add_material(explicit, seeds, shape, study, verification)
    return tuple(
        ShareBatch(shape, study, server, servers, seeds[server], explicit if server == servers - 1 else None)
        for server in range(servers)
    )


def one_hot_columns(symbols: Int64, *, cells: int) -> UInt8:
    """Vectors with a one in the cell of each client and zeros elsewhere, shape (cells, n).

    Raises:
        DataError: a symbol is not in [0, cells).
    """
    symbols = np.asarray(symbols)
    if symbols.size and (symbols.min() < 0 or symbols.max() >= cells):
        raise DataError(f"symbols must be from 0 to {cells - 1}, got {symbols.min()} to {symbols.max()}")
    found = np.zeros((cells, symbols.size), dtype=np.uint8)
    found[symbols, np.arange(symbols.size)] = 1
    return found


def amount_columns(symbols: Int64, amounts: Int64, *, groups: int, bits: int) -> Int64:
    """Vectors of clients that have an amount beside their cell, shape (3 groups + bits + 1, n).

    First one-hot over the 2 groups cells (label, group); then the amount in the row of its group; then the amount
    in digits 0 or 1 of weights 1, 2, 4, ..., 2^(bits - 1), 1.

    Args:
        symbols: label groups + group, shape (n,).
        amounts: Whole numbers from 0 to 2^bits, shape (n,).
        groups: How many groups.
        bits: Of the amounts.

    Raises:
        DataError: a symbol or an amount is out of its range.
    """
    symbols, amounts = np.asarray(symbols), np.asarray(amounts)
    if amounts.size and (amounts.min() < 0 or amounts.max() > 1 << bits):
        raise DataError(f"amounts must be from 0 to {1 << bits}, got {amounts.min()} to {amounts.max()}")
    clients = np.arange(symbols.size)
    found = np.zeros((3 * groups + bits + 1, symbols.size), dtype=np.int64)
    found[: 2 * groups] = one_hot_columns(symbols, cells=2 * groups)
    found[2 * groups + symbols % groups, clients] = amounts
    full = amounts == 1 << bits  # the digits add up to 2^bits - 1, and the last one adds 1
    digits = amounts - full
    found[3 * groups : -1] = digits >> np.arange(bits)[:, np.newaxis] & 1
    found[-1] = full
    return found


def _added(seeds: UInt64, study: bytes, block: int, count: int = 1) -> UInt64:
    """Blocks of elements, added up over the seeds of some servers; shape (2 count, n) from (servers, n, 2)."""
    found = expand(seeds[0], study=study, first=block, count=count)
    for others in seeds[1:]:
        found = sums(found, expand(others, study=study, first=block, count=count))
    return found


def _add_material(explicit: UInt64, seeds: UInt64, shape: ShareShape, study: bytes, verification: int) -> None:
    """Write what completes the squares and products of one verification."""
    row, block = shape.material_row(verification), shape.material_block(verification)
    for _ in range(shape.squares):
        others = _added(seeds[:-1], study, block)
        a = sums(others[0], expand(seeds[-1], study=study, first=block, count=1)[0])
        explicit[row] = differences(products(a, a), others[1])
        row, block = row + 1, block + 1
    for _ in range(shape.products):
        x, y = _added(seeds, study, block)
        explicit[row] = differences(products(x, y), _added(seeds[:-1], study, block + 1)[0])
        row, block = row + 1, block + 2
