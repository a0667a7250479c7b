"""Telling reports that count from others, compiled: header, range and the bitmap of participants that were heard."""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.arrays import Bool, Int64, UInt8
from ogive.compiling import njit
from ogive.local.codec import HEADER_BYTES, TAG_BYTES, VERSION

FOREIGN, OUT_OF_RANGE, KEPT, REPEATED = range(4)
"""What a report is by its header alone; one that repeats a number of the same chunk may still count."""

_NUMBER = 1 + TAG_BYTES


@njit(nogil=True)
def sift(
    reports: UInt8, tag: UInt8, participants: int, heard: UInt8, numbers: Int64, payloads: UInt8, repeated: Int64
) -> Any:
    """Take the first report of every participant that was not heard, and mark them as heard.

    Args:
        reports: Shape (n, report bytes).
        tag: Of the description, shape (TAG_BYTES,).
        participants: Numbers are below this.
        heard: Bitmap of participants, changed in place.
        numbers: Filled with the participants that are taken, shape (n,).
        payloads: Filled with theirs, shape (n, payload bytes).
        repeated: Filled with the places of reports whose participant was heard, shape (n,).

    Returns:
        How many are foreign, out of range, taken and repeated.
    """
    counts = np.zeros(4, dtype=np.int64)
    for row in range(reports.shape[0]):
        known = reports[row, 0] == VERSION
        for place in range(TAG_BYTES):
            known = known and reports[row, 1 + place] == tag[place]
        if not known:
            counts[FOREIGN] += 1
            continue
        number = np.int64(0)
        for place in range(4):
            number |= np.int64(reports[row, _NUMBER + place]) << (8 * place)
        if number >= participants:
            counts[OUT_OF_RANGE] += 1
            continue
        bit = np.uint8(1 << (number & 7))
        if heard[number >> 3] & bit:
            repeated[counts[REPEATED]] = row
            counts[REPEATED] += 1
            continue
        heard[number >> 3] |= bit
        taken = counts[KEPT]
        numbers[taken] = number
        for place in range(payloads.shape[1]):
            payloads[taken, place] = reports[row, HEADER_BYTES + place]
        counts[KEPT] += 1
    return counts


@njit(nogil=True)
def forget(heard: UInt8, numbers: Int64, good: Bool) -> None:
    """Take back the marks of participants whose report was malformed."""
    for row in range(numbers.size):
        if not good[row]:
            heard[numbers[row] >> 3] &= np.uint8(255 - (1 << (numbers[row] & 7)))


@njit(nogil=True)
def claim(heard: UInt8, numbers: Int64, good: Bool, taken: Bool) -> Any:
    """Mark participants as heard by their first well-formed report, in order.

    Args:
        heard: Bitmap of participants, changed in place.
        numbers: Numbers of the participants, shape (n,).
        good: Which reports are well-formed, shape (n,).
        taken: Filled with which reports count, shape (n,).

    Returns:
        How many come after one that counts, and how many are malformed before any.
    """
    duplicate, malformed = 0, 0
    for row in range(numbers.size):
        bit = np.uint8(1 << (numbers[row] & 7))
        place = numbers[row] >> 3
        taken[row] = False
        if heard[place] & bit:
            duplicate += 1
        elif not good[row]:
            malformed += 1
        else:
            heard[place] |= bit
            taken[row] = True
    return duplicate, malformed


@njit(nogil=True)
def count_bits(heard: UInt8) -> Any:
    """How many participants are marked."""
    found = 0
    for byte in heard:
        while byte:
            byte &= np.uint8(byte - 1)
            found += 1
    return found
