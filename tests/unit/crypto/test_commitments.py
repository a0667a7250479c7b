"""Hashes of rows, against one hash at a time."""

import hashlib
import struct

import numpy as np
import pytest

from ogive.crypto.domains import hash_rows

KEY = bytes(range(32))


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_rows_are_hashed_with_the_key_before_them(rows):
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, 256, (rows, 3), np.uint8), rng.integers(0, 256, (rows, 40), np.uint8)
    found = hash_rows(KEY, left, right)
    assert found.shape == (rows, 32)
    for row in range(rows):
        assert found[row].tobytes() == hashlib.sha256(KEY + left[row].tobytes() + right[row].tobytes()).digest()


@pytest.mark.parametrize("rows", [1, 7, 4000])
def test_numbers_are_hashed_as_little_endian_rows_wherever_they_lie_in_memory(rows):
    rng = np.random.default_rng(2)
    seeds = rng.integers(0, 1 << 60, (rows, 2), np.uint64).astype(">u8")
    across, flat = rng.integers(0, 1 << 30, (50, rows), np.uint32).T, rng.integers(0, 256, rows, np.uint8)
    pairs, nothing = rng.integers(0, 1 << 60, (2 * rows, 3), np.uint64).reshape(rows, 2, 3), np.empty((rows, 0))
    found = hash_rows(KEY, seeds, across, flat, pairs, nothing)
    for row in {0, rows // 2, rows - 1}:
        told = [struct.pack("<2Q", *seeds[row]), struct.pack("<50I", *across[row]), bytes([flat[row]])]
        told.append(struct.pack("<6Q", *pairs[row].ravel()))
        assert found[row].tobytes() == hashlib.sha256(KEY + b"".join(told)).digest()
