"""Hashes of rows, against one hash at a time."""

import hashlib

import numpy as np
import pytest

from ogive.crypto.commitments import hash_rows, octets

KEY = bytes(range(32))


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_rows_are_hashed_with_the_key_before_them(rows):
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, 256, (rows, 3), np.uint8), rng.integers(0, 256, (rows, 40), np.uint8)
    found = hash_rows(KEY, left, right)
    assert found.shape == (rows, 32)
    for row in range(rows):
        assert found[row].tobytes() == hashlib.sha256(KEY + left[row].tobytes() + right[row].tobytes()).digest()


def test_octets_are_little_endian_rows():
    assert octets(np.array([[1, 256], [2, 3]], ">u4"), "<u4").tolist() == [
        [1, 0, 0, 0, 0, 1, 0, 0],
        [2, 0, 0, 0, 3, 0, 0, 0],
    ]
    assert octets(np.array([7, 8], np.uint8), "u1").tolist() == [[7], [8]]
    assert octets(np.array([[1, 2], [3, 4]], "<u2").T, "<u2").tolist() == [[1, 0, 3, 0], [2, 0, 4, 0]]
    assert octets(np.empty((3, 0), np.uint64), "<u8").shape == (3, 0)
