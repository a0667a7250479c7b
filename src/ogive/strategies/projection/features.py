"""The integers that one record adds to the measurements of a projection, and how far they move with it."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ogive.arrays import Int64
from ogive.compiling import njit
from ogive.strategies.projection.form import Form
from ogive.strategies.projection.sensitivity import certified
from ogive.strategies.projection.whitening import whitening

EXHAUSTIVE = 1024
"""Up to so many bins all pairs of bins are compared; beyond, the certified bound is taken."""


@lru_cache(maxsize=4)
def integer_features(form: Form, size: int, bits: int) -> Int64:
    """Round 2^bits W c(u) at the bins' middles, shape (M, N); the same on every machine, read only."""
    middles = (2 * np.arange(size, dtype=np.float64) + 1 - size) / size
    rows = form.record(middles)
    found = np.empty(rows.shape, dtype=np.int64)
    for number, weights in enumerate(whitening(form)):
        # in this order and no other: a matrix product adds in one that depends on the machine
        whitened = np.zeros(size)
        for weight, row in zip(weights, rows, strict=True):
            if weight:
                whitened += weight * row
        found[number] = np.rint(whitened * 2.0**bits)
    found.flags.writeable = False
    return found


def certified_change(form: Form, bits: int, *, replaced: bool | None = None) -> Fraction:
    """Bound the norm of what one record changes in the integers: L2, or L1 if `form.absolute`.

    Whitened features move by at most 1 under the adjacency that they were made for; rounding moves each integer by at
    most 1/2 + 2^-10 a record.

    Args:
        form: The strategy that is measured.
        bits: Fractional bits.
        replaced: Whether a record is replaced, or added or removed; by default what the form was made for.
    """
    replaced = not form.counted if replaced is None else replaced
    integers = Fraction(form.rows) if form.absolute else Fraction(math.isqrt(form.rows * 10**12) + 1, 10**6)
    rounding = Fraction("1.002") if replaced else Fraction("0.501")
    reach = Fraction(1) if replaced is not form.counted else _reach(form)
    bound: Fraction = 2**bits * reach + rounding * integers
    return bound


@lru_cache(maxsize=64)
def _reach(form: Form) -> Fraction:
    """Bound how far a replaced record moves features that were whitened for added and removed ones."""
    bound = certified(form, whitening(form), replaced=True)
    return Fraction(bound if form.absolute else math.sqrt(bound)) * Fraction(1 + 1e-12)


@lru_cache(maxsize=256)
def largest_change(form: Form, size: int, bits: int, *, replaced: bool | None = None) -> Fraction:
    """The largest squared L2 norm, or L1 norm, of what one record changes in the integers.

    Exactly, by comparing all pairs of bins, where there are few enough; else, and for the paper's constants, which
    are meant to be larger than they need be, what is certified.
    """
    replaced = not form.counted if replaced is None else replaced
    bound = certified_change(form, bits, replaced=replaced)
    if not form.absolute:
        bound = bound * bound
    if form.constants == "paper" or not 1 < size <= EXHAUSTIVE:
        return bound
    records = np.ascontiguousarray(integer_features(form, size, bits).T)
    exact = Fraction(int(_largest(records, form.absolute, replaced)))
    assert exact <= bound
    return exact


def _largest_plain(records: Int64, absolute: bool, replaced: bool) -> Any:
    """What `_largest` does, one row with all others at once."""
    largest = 0
    for first in range(len(records) if replaced else 1):
        changes = records[first:] - records[first] if replaced else records
        norms = np.abs(changes).sum(axis=1) if absolute else np.square(changes).sum(axis=1)
        largest = max(largest, int(norms.max()))
    return largest


@njit(
    steps=lambda records, absolute, replaced: records.size * (len(records) if replaced else 1) // 100,
    twin=_largest_plain,
)
def _largest(records: Int64, absolute: bool, replaced: bool) -> Any:
    """Largest norm of a row, or of a difference of two; sums stay below 2^62 for 30 bits."""
    largest = 0
    for first in range(len(records)):
        last = len(records) if replaced else first + 1
        for second in range(first, last):
            norm = 0
            for column in range(records.shape[1]):
                change = records[first, column]
                if replaced:
                    change -= records[second, column]
                norm += abs(change) if absolute else change * change
            largest = max(largest, norm)
    return largest
