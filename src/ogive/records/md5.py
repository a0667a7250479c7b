"""MD5 of short messages in compiled loops: a fixed public function that databases compute too.

It need not resist attacks here. It orders the rows of one person, who could choose those rows anyway.

Source: Rivest, The MD5 message-digest algorithm, RFC 1321, 1992.
"""

from __future__ import annotations

import math

import numpy as np

from ogive.arrays import Int64, UInt8, UInt64
from ogive.compiling import njit

BLOCK_BYTES = 64
_LENGTH_BYTES = 8
_WORD = np.uint64(0xFFFFFFFF)
_SINES = np.array([int(abs(math.sin(step + 1)) * 2**32) for step in range(64)], dtype=np.uint64)
_SHIFTS = np.array([[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]], dtype=np.uint64)


def buffer_bytes(longest: int) -> int:
    """Size of a buffer for messages of at most so many bytes, with their padding."""
    return (longest + _LENGTH_BYTES) // BLOCK_BYTES * BLOCK_BYTES + BLOCK_BYTES


@njit(nogil=True)
def _mixed(block: UInt8, state: UInt64) -> None:
    """Add one block of 64 bytes to the state of four words, in place."""
    a, b, c, d = state[0], state[1], state[2], state[3]
    for step in range(64):
        turn = step // 16
        if turn == 0:
            f, place = (b & c) | (~b & d), step
        elif turn == 1:
            f, place = (d & b) | (~d & c), (5 * step + 1) % 16
        elif turn == 2:
            f, place = b ^ c ^ d, (3 * step + 5) % 16
        else:
            f, place = c ^ (b | (~d & _WORD)), (7 * step) % 16
        word = np.uint64(0)
        for byte in range(4):
            word |= np.uint64(block[4 * place + byte]) << np.uint64(8 * byte)
        f = (f + a + _SINES[step] + word) & _WORD
        shift = _SHIFTS[turn, step % 4]
        a, d, c = d, c, b
        b = (b + ((f << shift) | (f >> (np.uint64(32) - shift)))) & _WORD
    state[0] = (state[0] + a) & _WORD
    state[1] = (state[1] + b) & _WORD
    state[2] = (state[2] + c) & _WORD
    state[3] = (state[3] + d) & _WORD


@njit(nogil=True)
def first_half(buffer: UInt8, size: int, state: UInt64) -> np.uint64:
    """The first 64 bits of a digest, in the order in which its hexadecimal digits are written.

    Args:
        buffer: The message, with room for its padding, which is written behind it: `buffer_bytes`.
        size: Number of bytes of the message.
        state: Four words to work with.
    """
    state[0], state[1] = np.uint64(0x67452301), np.uint64(0xEFCDAB89)
    state[2], state[3] = np.uint64(0x98BADCFE), np.uint64(0x10325476)
    end = (size + _LENGTH_BYTES) // BLOCK_BYTES * BLOCK_BYTES + BLOCK_BYTES
    buffer[size] = 0x80
    for place in range(size + 1, end):
        buffer[place] = 0
    for byte in range(_LENGTH_BYTES):
        buffer[end - _LENGTH_BYTES + byte] = ((8 * size) >> (8 * byte)) & 0xFF
    for start in range(0, end, BLOCK_BYTES):
        _mixed(buffer[start : start + BLOCK_BYTES], state)
    found = np.uint64(0)
    for word in range(2):
        for byte in range(4):
            found = (found << np.uint64(8)) | ((state[word] >> np.uint64(8 * byte)) & np.uint64(0xFF))
    return np.uint64(found)


@njit(nogil=True)
def write_whole(buffer: UInt8, size: int, number: int) -> int:
    """Write the decimal digits of a whole number above -2^63 behind so many bytes; the size with them."""
    if number < 0:
        buffer[size] = 45
        size += 1
        number = -number
    digits, rest = 1, number // 10
    while rest:
        digits += 1
        rest //= 10
    for place in range(size + digits - 1, size - 1, -1):
        buffer[place] = 48 + number % 10
        number //= 10
    return size + digits


@njit(nogil=True)
def write_text(buffer: UInt8, size: int, content: UInt8, ends: Int64, number: int) -> int:
    """Write one of several texts, which lie end to end, behind so many bytes; the size with it."""
    for place in range(ends[number], ends[number + 1]):
        buffer[size] = content[place]
        size += 1
    return size
