"""Adding reports up, compiled: the hot loops of aggregators, which owners never import.

Nothing is added of a report before all of it was checked. `table` has a column for each level and the rows of `ROWS`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.core.arrays import Bool, Int64, UInt8
from ogive.core.compiling import njit
from ogive.errors import ParameterError
from ogive.local.base import FIRST, GOLDEN, HEADER_BYTES, SECOND, TAG_BYTES, VERSION

ROWS = ("nodes", "unary", "exponents", "tallies", "starts", "offsets", "widths")
_NODES, _UNARY, _EXPONENTS, _TALLIES, _STARTS, _OFFSETS, _WIDTHS = range(len(ROWS))
_GOLDEN, _FIRST, _SECOND = np.uint64(GOLDEN), np.uint64(FIRST), np.uint64(SECOND)
_ONE, _27, _30, _31, _32 = (np.uint64(value) for value in (1, 27, 30, 31, 32))


@njit(nogil=True)
def hashed(key: Any, place: Any) -> Any:
    """As `hashed` of `local.base`, of one place."""
    value = key + (np.uint64(place) + _ONE) * _GOLDEN
    value = (value ^ (value >> _30)) * _FIRST
    value = (value ^ (value >> _27)) * _SECOND
    return np.int64((value ^ (value >> _31)) >> _32)


@njit(nogil=True)
def level_of(number: int, bounds: Int64, key: Any, even: bool) -> Any:
    """As `Assignment.of`, of one participant."""
    levels = bounds.size - 1
    if even:
        block = number // levels
        level = number - block * levels + (hashed(key, block) * levels >> 32)
        return level - levels if level >= levels else level
    value = hashed(key, number)
    level = 0
    while value >= bounds[level + 1]:
        level += 1
    return level


@njit(nogil=True)
def read(payloads: UInt8, row: int, start: int, stop: int) -> Any:
    """A little-endian number of at most 7 bytes."""
    value = np.int64(0)
    for place in range(start, stop):
        value |= np.int64(payloads[row, place]) << (8 * (place - start))
    return value


@njit(nogil=True)
def well_formed(payloads: UInt8, row: int, table: Int64, level: int) -> Any:
    """Whether no bit is set of a field that has no meaning."""
    start, width = table[_OFFSETS, level], table[_WIDTHS, level]
    if table[_UNARY, level]:
        spare = 8 * width - table[_NODES, level]
        return payloads[row, start + width - 1] >> (8 - spare) == 0
    return read(payloads, row, start, start + width) >> (table[_EXPONENTS, level] + 1) == 0


@njit(nogil=True)
def add_field(sums: Int64, payloads: UInt8, row: int, table: Int64, level: int) -> None:
    """Add one well-formed field to its level's tally."""
    if table[_TALLIES, level] == 0:
        return
    start, first = table[_OFFSETS, level], table[_STARTS, level]
    if table[_UNARY, level]:
        for node in range(table[_NODES, level]):
            sums[first + node] += payloads[row, start + (node >> 3)] >> (node & 7) & 1
        return
    value = read(payloads, row, start, start + table[_WIDTHS, level])
    sums[first + (value >> 1)] += 1 - 2 * (value & 1)


@njit(nogil=True)
def add_single(
    sums: Int64,
    counts: int,
    numbers: Int64,
    payloads: UInt8,
    table: Int64,
    bounds: Int64,
    key: Any,
    even: bool,
    good: Bool,
) -> None:
    """Add reports about one level each; `counts` is where reports per level are counted."""
    for row in range(payloads.shape[0]):
        level = level_of(numbers[row], bounds, key, even)
        fine = well_formed(payloads, row, table, level)
        for place in range(table[_WIDTHS, level], payloads.shape[1]):
            fine = fine and payloads[row, place] == 0
        good[row] = fine
        if fine:
            add_field(sums, payloads, row, table, level)
            sums[counts + level] += 1


@njit(nogil=True)
def add_hadamard(
    sums: Int64,
    counts: int,
    numbers: Int64,
    payloads: UInt8,
    table: Int64,
    bounds: Int64,
    key: Any,
    even: bool,
    good: Bool,
) -> None:
    """As `add_single`, where no level is unary, so that a payload is one number: nothing here has to guess a branch."""
    width = payloads.shape[1]
    starts, tallied = table[_STARTS].copy(), np.empty(bounds.size - 1, dtype=np.bool_)
    shifts = np.empty(bounds.size - 1, dtype=np.uint64)
    result = np.zeros(bounds.size - 1, dtype=np.int64)
    for level in range(shifts.size):
        shifts[level] = np.uint64(table[_EXPONENTS, level] + 1)
        tallied[level] = table[_TALLIES, level] != 0
    for row in range(payloads.shape[0]):
        own = np.uint64(level_of(numbers[row], bounds, key, even))
        value = np.uint64(0)
        for place in range(width):
            value |= np.uint64(payloads[row, place]) << np.uint64(8 * place)
        fine = value >> shifts[own] == np.uint64(0)
        good[row] = fine
        if fine:
            result[own] += 1
            if tallied[own]:
                sums[np.uint64(starts[own]) + (value >> _ONE)] += 1 - 2 * np.int64(value & _ONE)
    sums[counts:] += result


@njit(nogil=True)
def add_joint(sums: Int64, counts: int, payloads: UInt8, table: Int64, good: Bool) -> None:
    """Add reports about every level."""
    levels = table.shape[1]
    for row in range(payloads.shape[0]):
        fine = True
        for level in range(levels):
            fine = fine and well_formed(payloads, row, table, level)
        good[row] = fine
        if fine:
            for level in range(levels):
                add_field(sums, payloads, row, table, level)
                sums[counts + level] += 1


@njit(nogil=True)
def add_symbols(sums: Int64, payloads: UInt8, good: Bool) -> None:
    """Count symbols."""
    for row in range(payloads.shape[0]):
        symbol = read(payloads, row, 0, payloads.shape[1])
        good[row] = symbol < sums.size
        if good[row]:
            sums[symbol] += 1


@njit(nogil=True)
def add_bits(sums: Int64, payloads: UInt8, good: Bool) -> None:
    """Count ones of each bit, and reports in the last place."""
    bits = sums.size - 1
    spare = 8 * payloads.shape[1] - bits
    for row in range(payloads.shape[0]):
        good[row] = payloads[row, payloads.shape[1] - 1] >> (8 - spare) == 0
        if good[row]:
            for bit in range(bits):
                sums[bit] += payloads[row, bit >> 3] >> (bit & 7) & 1
            sums[bits] += 1


@njit(nogil=True)
def count_levels(first: int, count: int, bounds: Int64, key: Any, even: bool) -> Any:
    """How many of consecutive participants are asked each level."""
    result = np.zeros(bounds.size - 1, dtype=np.int64)
    for number in range(first, first + count):
        result[level_of(number, bounds, key, even)] += 1
    return result


@njit(nogil=True)
def count_heard_levels(heard: UInt8, bounds: Int64, key: Any, even: bool) -> Any:
    """How many participants of a bitmap are asked each level."""
    result = np.zeros(bounds.size - 1, dtype=np.int64)
    for place in range(heard.size):
        byte = heard[place]
        if byte:
            for bit in range(8):
                if byte >> bit & 1:
                    result[level_of(8 * place + bit, bounds, key, even)] += 1
    return result


# --- Which reports count, compiled: header, range and the bitmap of participants that were heard

FOREIGN, OUT_OF_RANGE, ACCEPTED, REPEATED = range(4)
"""What a report is by its header alone; one that repeats a number of the same chunk may still count."""


@njit(nogil=True)
def sift(
    reports: UInt8, tag: UInt8, participants: int, heard: UInt8, numbers: Int64, payloads: UInt8, repeated: Int64
) -> Any:
    """Take the first report of every participant that was not heard, and mark them as heard.

    Filled are `numbers` and `payloads` of those accepted, and the places of reports whose participant was heard,
    `repeated`; all have a row for each report.
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
            number |= np.int64(reports[row, 1 + TAG_BYTES + place]) << (8 * place)
        if number >= participants:
            counts[OUT_OF_RANGE] += 1
            continue
        bit = np.uint8(1 << (number & 7))
        if heard[number >> 3] & bit:
            repeated[counts[REPEATED]] = row
            counts[REPEATED] += 1
            continue
        heard[number >> 3] |= bit
        accepted = counts[ACCEPTED]
        numbers[accepted] = number
        for place in range(payloads.shape[1]):
            payloads[accepted, place] = reports[row, HEADER_BYTES + place]
        counts[ACCEPTED] += 1
    return counts


@njit(nogil=True)
def forget(heard: UInt8, numbers: Int64, good: Bool) -> None:
    """Take back the marks of participants whose report was malformed."""
    for row in range(numbers.size):
        if not good[row]:
            heard[numbers[row] >> 3] &= np.uint8(255 - (1 << (numbers[row] & 7)))


@njit(nogil=True)
def claim(heard: UInt8, numbers: Int64, good: Bool, counted: Bool) -> Any:
    """Mark participants as heard by their first well-formed report, in order; `counted` is filled with what counts."""
    duplicate, malformed = 0, 0
    for row in range(numbers.size):
        bit = np.uint8(1 << (numbers[row] & 7))
        place = numbers[row] >> 3
        counted[row] = False
        if heard[place] & bit:
            duplicate += 1
        elif not good[row]:
            malformed += 1
        else:
            heard[place] |= bit
            counted[row] = True
    return duplicate, malformed


@njit(nogil=True)
def count_bits(heard: UInt8) -> Any:
    """How many participants are marked."""
    result = 0
    for byte in heard:
        while byte:
            byte &= np.uint8(byte - 1)
            result += 1
    return result


# --- The Walsh-Hadamard transform, in place and in its natural order


def transform(values: Int64) -> Int64:
    """Multiply by the Hadamard matrix with entries (-1)^popcount(i AND j), in place.

    Args:
        values: Integers, shape (2^e,); their sizes must add up to less than 2^63.
    """
    if values.ndim != 1 or values.dtype != np.int64 or values.size < 1 or values.size & (values.size - 1):
        raise ParameterError(f"a transform needs 64-bit integers, a power of two of them, got shape {values.shape}")
    _transform(values)
    return values


@njit(nogil=True)
def _pass(values: Int64, start: int, stop: int, half: int) -> None:
    # two stages at a time: every value is read and written half as often
    for block in range(start, stop, 4 * half):
        for place in range(block, block + half):
            first, second = values[place], values[place + half]
            third, fourth = values[place + 2 * half], values[place + 3 * half]
            one, two, three, four = first + second, first - second, third + fourth, third - fourth
            values[place], values[place + half] = one + three, two + four
            values[place + 2 * half], values[place + 3 * half] = one - three, two - four


@njit(nogil=True)
def _transform(values: Int64) -> None:
    size = values.size
    # blocks that fit into a cache are finished first
    block = min(size, 1 << 12)
    for start in range(0, size, block):
        half = 1
        while 4 * half <= block:
            _pass(values, start, start + block, half)
            half *= 4
        if half < block:
            for place in range(start, start + half):
                low, high = values[place], values[place + half]
                values[place], values[place + half] = low + high, low - high
    half = block
    while 4 * half <= size:
        _pass(values, 0, size, half)
        half *= 4
    if half < size:
        for place in range(half):
            low, high = values[place], values[place + half]
            values[place], values[place + half] = low + high, low - high
