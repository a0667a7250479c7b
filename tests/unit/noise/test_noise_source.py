"""Random sources: fresh ones share nothing, keyed ones repeat."""

import os
import threading

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from ogive.errors import ParameterError
from ogive.noise import KeyedSource, SystemSource, source

KEY = bytes(range(32))


def test_keyed_words_are_the_counter_mode_keystream_whatever_the_portions():
    stream = Cipher(algorithms.AES(KEY), modes.CTR(bytes(16))).encryptor().update(bytes(400_000))
    keyed = KeyedSource(KEY)
    portions = [keyed.words(count) for count in (1, 0, 7, 16_384, 40_000, 3, 30_000)]
    joined = np.concatenate(portions)
    assert [part.size for part in portions] == [1, 0, 7, 16_384, 40_000, 3, 30_000]
    assert joined.dtype == np.uint32
    assert np.array_equal(joined, np.frombuffer(stream, "<u4")[: joined.size])


def test_keys_of_a_keyed_source_are_its_next_bytes():
    assert KeyedSource(KEY).key() == KeyedSource(KEY).words(8).tobytes()


def test_seeds_give_different_streams():
    assert KeyedSource.from_seed(1).key() == KeyedSource.from_seed(1).key() != KeyedSource.from_seed(2).key()
    with pytest.raises(ParameterError, match="seed"):
        KeyedSource.from_seed(-1)


def test_system_source_never_repeats_words_or_keys():
    first, second = SystemSource(), SystemSource()
    drawn = np.concatenate([first.words(50_000).reshape(-1, 4), second.words(50_000).reshape(-1, 4)])
    assert np.unique(drawn, axis=0).shape == drawn.shape
    assert len({first.key(), first.key(), second.key()}) == 3


def test_words_fill_all_bits_evenly():
    words = SystemSource().words(1 << 16)
    shares = np.unpackbits(words.view(np.uint8)).reshape(-1, 32).mean(axis=0)
    # standard deviation 1/512 each; 7 of them
    assert np.abs(shares - 0.5).max() < 7 / 512


def test_forked_child_does_not_repeat_its_parents_words():
    fresh = SystemSource()
    fresh.words(10)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, fresh.words(64).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = np.frombuffer(os.read(reading, 256), np.uint32)
    assert theirs.size == 64
    assert not np.intersect1d(theirs, fresh.words(64)).size


def test_child_with_its_parents_number_does_not_repeat_words_either(monkeypatch):
    fresh = SystemSource()
    fresh.words(10)
    kept = np.frombuffer(fresh._stream()._rest.tobytes(), np.uint32)[:64]
    source._count_fork()
    assert not np.intersect1d(fresh.words(64), kept).size


def test_threads_do_not_share_words():
    fresh = SystemSource()
    drawn = [fresh.words(64)]
    other = threading.Thread(target=lambda: drawn.append(fresh.words(64)))
    other.start()
    other.join()
    assert not np.intersect1d(*drawn).size
