"""Streams of words: AES in counter mode, whatever the number of words asked for."""

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ogive.crypto.domains import CHUNK_BYTES, WordStream, words

SEED = bytes(range(16))


def test_the_first_words_are_the_published_blocks_of_the_cipher():
    # FIPS 197, appendix C.1: key 00..0f; the block of counter 0 is the encryption of zeros
    encryptor = Cipher(algorithms.AES(SEED), modes.ECB()).encryptor()
    blocks = encryptor.update(bytes(16) + (1).to_bytes(16, "big"))
    assert words(SEED, 4).tolist() == np.frombuffer(blocks, "<u8").tolist()
    assert (
        encryptor.update(bytes.fromhex("00112233445566778899aabbccddeeff")).hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"
    )


@pytest.mark.parametrize("count", [0, 1, 5, CHUNK_BYTES // 8, CHUNK_BYTES // 8 + 1, 3 * CHUNK_BYTES // 8 + 7])
def test_how_many_words_are_asked_for_at_a_time_does_not_matter(count):
    whole = words(SEED, count + 3)
    stream = WordStream(SEED)
    assert np.array_equal(np.concatenate([stream.words(count), stream.words(3)]), whole)
    assert np.array_equal(words(SEED, count), whole[:count])
    assert whole.dtype == np.uint64


def test_streams_of_two_seeds_have_nothing_in_common():
    assert not np.isin(words(SEED, 1000), words(bytes(16), 1000)).any()


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 5, 2), (CHUNK_BYTES // 8 + 1,)])
def test_filling_an_array_takes_the_next_words(shape):
    stream, out = WordStream(SEED), np.zeros(shape, np.uint64)
    first = stream.words(7)
    stream.fill(out)
    assert np.array_equal(np.concatenate([first, out.ravel()]), words(SEED, 7 + out.size))
