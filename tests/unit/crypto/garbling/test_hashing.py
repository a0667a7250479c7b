"""The hash of half gates: its linear map, its keys, and known answers."""

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ogive.crypto.circuits import Gate
from ogive.crypto.garbling import GateKeys, garble, schedule, spread_held, spread_pairs

KEYS = GateKeys(b"session", 3)
WORD = (1 << 64) - 1


def sigma(block):
    """Of an integer of 128 bits."""
    low, high = block & WORD, block >> 64
    return high | (high ^ low) << 64


def words_of(block):
    return np.array([block & WORD, block >> 64], np.uint64)


def number_of(words):
    return int(words[0]) | int(words[1]) << 64


def rank(rows):
    """Over two elements."""
    rows, found = list(rows), 0
    while rows:
        pivot = rows.pop()
        if pivot:
            found += 1
            lowest = pivot & -pivot
            rows = [row ^ pivot if row & lowest else row for row in rows]
    return found


def images():
    """What the compiled pass makes of the 128 blocks with one bit."""
    labels = np.array([words_of(1 << bit) for bit in range(128)])[None]
    blocks = np.empty(4 * 128, np.uint64)
    zero = np.zeros(1, np.int32)
    spread_held(labels, zero, zero, blocks)
    halves = blocks.reshape(2, 128, 2)
    assert np.array_equal(halves[0], halves[1])
    return [number_of(row) for row in halves[0]]


def test_sigma_is_as_specified_and_it_and_its_sum_with_the_identity_are_invertible():
    found = images()
    assert found == [sigma(1 << bit) for bit in range(128)]
    assert rank(found) == 128
    assert rank(image ^ 1 << bit for bit, image in enumerate(found)) == 128
    # controls: the identity passes the first, and not the second
    assert rank(1 << bit for bit in range(128)) == 128
    assert rank(0 for _ in range(128)) == 0


def test_the_garbler_hashes_both_labels_of_both_inputs():
    rng = np.random.default_rng(1)
    labels = rng.integers(1 << 63, size=(2, 5, 2), dtype=np.uint64)
    deltas = rng.integers(1 << 63, size=(5, 2), dtype=np.uint64)
    blocks = np.empty(4 * 5 * 2, np.uint64)
    spread_pairs(labels, deltas, np.array([0], np.int32), np.array([1], np.int32), blocks)
    found = [number_of(row) for row in blocks.reshape(-1, 2)]
    wanted = [sigma(number_of(row)) for x in labels for both in (x, x ^ deltas) for row in both]
    assert found == wanted


def test_a_table_is_that_of_the_formulas():
    rng = np.random.default_rng(2)
    plan = schedule(*(np.array([v], np.int32) for v in (Gate.AND, 0, 1)), inputs=2, outputs=np.array([2], np.int32))
    for _ in range(8):
        zeros = rng.integers(1 << 63, size=(2, 1, 2), dtype=np.uint64)
        deltas = rng.integers(1 << 63, size=(1, 2), dtype=np.uint64) | np.uint64(1)
        a, b, delta = (number_of(row) for row in (zeros[0, 0], zeros[1, 0], deltas[0]))

        def hashed(half, block):
            aes = Cipher(algorithms.AES(KEYS.key(0, half)), modes.ECB()).encryptor()
            return int.from_bytes(aes.update(sigma(block).to_bytes(16, "little")), "little") ^ sigma(block)

        first = hashed(0, a) ^ hashed(0, a ^ delta) ^ (b & 1) * delta
        second = hashed(1, b) ^ hashed(1, b ^ delta) ^ a
        end = hashed(0, a) ^ (a & 1) * first ^ hashed(1, b) ^ (b & 1) * (second ^ a)
        tables, ends = garble(plan, zeros, deltas, KEYS)
        assert [number_of(row) for row in (*tables[0, 0], ends[0, 0])] == [first, second, end]


def test_keys_of_sessions_chunks_gates_and_halves_are_distinct():
    keys = {
        GateKeys(session, chunk).key(gate, half)
        for session in (b"one", b"two")
        for chunk in range(5)
        for gate in range(30)
        for half in range(2)
    }
    assert len(keys) == 2 * 5 * 30 * 2
    assert {len(key) for key in keys} == {16}
