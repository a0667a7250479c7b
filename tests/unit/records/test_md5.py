"""MD5 in compiled loops against hashlib, and the texts of labels against their definition."""

import decimal
import hashlib

import numpy as np
import pytest

from ogive.records.bounding import label_text
from ogive.records.persons import buffer_bytes, first_half, write_whole


@pytest.mark.parametrize("size", [*range(70), 119, 120, 127, 128, 1000])
def test_a_digest_begins_as_that_of_hashlib(size):
    message = np.random.default_rng(size).integers(0, 256, size).astype(np.uint8)
    buffer = np.full(buffer_bytes(size), 255, dtype=np.uint8)
    buffer[:size] = message
    found = int(first_half(buffer, size, np.empty(4, dtype=np.uint64)))
    assert f"{found:016x}" == hashlib.md5(message.tobytes(), usedforsecurity=False).hexdigest()[:16]


@pytest.mark.parametrize("number", [0, 7, -1, 10, 99, -100, 10**18, 2**63 - 1, -(2**63) + 1])
def test_whole_numbers_are_written_in_digits(number):
    buffer = np.zeros(30, dtype=np.uint8)
    size = write_whole(buffer, 2, number)
    assert bytes(buffer[2:size]).decode() == str(number)


TEXTS = {
    "m": [None],
    "1": [1, 1.0, True, decimal.Decimal("1.00")],
    "0": [0, -0.0, False],
    "t3:ü|m": ["ü|m"],
    "t0:": [""],
    "-999999999999999999": [-(10**18) + 1],
    "f524288": [0.5, decimal.Decimal("0.50"), 0.5000001],
    "f-1": [-1e-9, -5e-324],
    "f4611686018427387904": [10**18, 1e300, float("inf")],
    "f-4611686018427387904": [-(10**18), -1e300],
}


@pytest.mark.parametrize("text", TEXTS)
def test_labels_are_written_as_documented(text):
    assert {label_text(each) for each in TEXTS[text]} == {text}
