"""Checks of what oracles are made of and are given; hostile descriptions stop here."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from ogive.arrays import Int64, UInt8
from ogive.checks import any_whole, array_of
from ogive.errors import ParameterError
from ogive.privacy import exact

MIN_EPSILON = Fraction(1, 10**9)
MAX_SEED = (1 << 63) - 1


def check_size(value: Any, most: int) -> int:
    """How many symbols an oracle has, 2 to most.

    Raises:
        ParameterError: it is something else.
    """
    return any_whole(value, "the number of symbols (combinations of bins and categories)", 2, most)


def check_epsilon(value: Any, name: str = "epsilon") -> Fraction:
    """An epsilon that thresholds over 2^64 can follow.

    Raises:
        ParameterError: it is not a number, or below 1e-9.
    """
    number = exact(value, name)
    if number < MIN_EPSILON:
        raise ParameterError(f"`{name}` must be at least 1e-9, got {float(number):.3g}")
    return number


def check_symbols(symbols: Any, numbers: Any, size: int) -> tuple[Int64, Int64]:
    """Symbols and participant numbers as arrays of one length.

    Raises:
        ParameterError: a symbol is outside 0..size-1, a number is negative, or the lengths differ.
    """
    values, places = array_of(symbols), array_of(numbers)
    for found, name in ((values, "symbols"), (places, "numbers")):
        if found.ndim != 1 or found.dtype.kind not in "iu":
            raise ParameterError(f"`{name}` must be a one-dimensional array of whole numbers")
    if values.shape != places.shape:
        raise ParameterError(f"every symbol needs a number, got {values.size} symbols and {places.size} numbers")
    if values.size and (int(values.min()) < 0 or int(values.max()) >= size):
        raise ParameterError(f"`symbols` must be from 0 to {size - 1}")
    if places.size and int(places.min()) < 0:
        raise ParameterError("`numbers` must not be negative")
    return values.astype(np.int64, copy=False), places.astype(np.int64, copy=False)


def check_reports(
    sums: Int64, shape: tuple[int, ...], numbers: Any, payloads: Any, payload_bytes: int
) -> tuple[Int64, UInt8]:
    """Numbers and payloads as the kernels want them.

    Raises:
        ParameterError: sums or payloads have another shape than the oracle's.
    """
    if sums.shape != shape or sums.dtype != np.int64 or not sums.flags.c_contiguous:
        raise ParameterError(f"`sums` must be an array of 64-bit integers of shape {shape}")
    places, rows = array_of(numbers), array_of(payloads)
    if rows.dtype != np.uint8 or rows.shape != (places.size, payload_bytes) or places.ndim != 1:
        raise ParameterError(f"`payloads` must be bytes, {payload_bytes} for each report")
    return np.ascontiguousarray(places, dtype=np.int64), np.ascontiguousarray(rows)


def write_bytes(payloads: UInt8, values: Int64) -> None:
    """Write each value little-endian into its row."""
    for place in range(payloads.shape[1]):
        payloads[:, place] = (values >> (8 * place)) & 0xFF


def read_bytes(payloads: UInt8) -> Int64:
    """What `write_bytes` wrote, of at most 7 bytes."""
    found = np.zeros(len(payloads), dtype=np.int64)
    for place in range(payloads.shape[1]):
        found |= payloads[:, place].astype(np.int64) << (8 * place)
    return found


def check_sums(sums: Int64, shape: tuple[int, ...]) -> Int64:
    """Sums of an oracle's shape, as 64-bit integers.

    Raises:
        ParameterError: they have another.
    """
    found = array_of(sums)
    if found.shape != shape or found.dtype.kind not in "iu":
        raise ParameterError(f"`sums` must be whole numbers of shape {shape}, got shape {found.shape}")
    return np.ascontiguousarray(found, dtype=np.int64)
