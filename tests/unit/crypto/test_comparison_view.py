"""What one server sees of a key, its bytes, looks like what a simulator makes that knows the shape of keys alone.

The simulator draws seeds, corrections and control bits uniformly and independently. Bytes of keys of two very different
numbers are compared with it and with each other: how often each byte has each value at each place, and how each pair of
bits goes together. Level: 1e-9 for the smallest p-value of a comparison, times the number of places, at 20 000 keys.
Controls that leave alpha in one bit, or a mask out, must fall below it.
"""

import numpy as np
import pytest
from scipy import stats
from scipy.linalg import blas

from ogive.crypto.comparison import KeyBatch, KeyShape, evaluate, generate

LEVEL = 1e-9
KEYS = 20_000
STUDY = bytes(range(32))
GROUPS = ("ring32", "ring64", "field")


def shape_of(group):
    return KeyShape(group=group, bits=7, early=2)


def keys_of(alpha, group, server, seed):
    shape = shape_of(group)
    random = np.random.default_rng(seed).bytes
    return generate(np.full(KEYS, alpha), shape=shape, study=STUDY, random=random)[server]


def simulated(group, seed):
    """Keys that nobody's number went into."""
    shape, generator = shape_of(group), np.random.default_rng(seed)

    def seeds(*size):
        return generator.integers(0, 2**64, size, dtype=np.uint64) & np.array([2**64 - 2, 2**64 - 1], np.uint64)

    def values(*size):
        return generator.integers(0, shape.modulus - 1, size, dtype=np.uint64, endpoint=True).astype(shape.dtype)

    return KeyBatch(
        shape,
        STUDY,
        seeds(KEYS, 2),
        seeds(shape.levels, KEYS, 2),
        values(shape.levels, KEYS),
        generator.integers(0, 4, (shape.levels, KEYS), dtype=np.uint8),
        values(KEYS, shape.leaf_values),
    )


def bytes_of(batch):
    """The bytes of every key, shape (keys, bytes of a key)."""
    count = len(batch)
    levels = [
        part[level] for level in range(batch.shape.levels) for part in (batch.seeds, batch.values, batch.controls)
    ]
    arrays = (batch.roots, *levels, batch.leaves)
    parts = [np.ascontiguousarray(array).view(np.uint8).reshape(count, -1) for array in arrays]
    found = np.concatenate(parts, axis=1)
    assert found.shape[1] == batch.shape.key_bytes
    return found


def counts_of(batch):
    """How often each byte has each value at each place, shape (bytes of a key, 256)."""
    found = bytes_of(batch)
    places = found.shape[1]
    numbers = found + np.arange(0, 256 * places, 256)
    return np.bincount(numbers.ravel(), minlength=256 * places).reshape(places, 256)


def places_differ(first, second):
    """P-value that bytes at all places of two batches have the same frequencies, corrected for the number of places.

    By the chi-square test of two samples of the same size, in which a value is as likely in one as in the other.
    """
    assert len(first) == len(second)
    one, two = counts_of(first), counts_of(second)
    both = one + two
    squares = ((one - two) ** 2 / np.maximum(both, 1)).sum(axis=1)
    degrees = (both > 0).sum(axis=1) - 1
    varies = degrees > 0
    return stats.chi2.sf(squares[varies], degrees[varies]).min(initial=1.0) * first.shape.key_bytes


def bits_go_together(batch):
    """P-value that no two bits of a key are correlated, times the number of pairs; bits that are constant aside."""
    bits = np.unpackbits(bytes_of(batch), axis=1).astype(np.float32)
    # how often each two bits are 1 together, above the diagonal; whole numbers, which a float holds exactly
    together = blas.ssyrk(1.0, bits.T).astype(np.float64) / len(bits)
    ones = np.diag(together)
    varies = (ones > 0) & (ones < 1)
    ones, together = ones[varies], together[np.ix_(varies, varies)]
    deviations = np.sqrt(ones * (1 - ones))
    correlations = np.triu((together - np.outer(ones, ones)) / np.outer(deviations, deviations), 1)
    largest = np.abs(correlations).max() * np.sqrt(len(bits))
    return 2 * stats.norm.sf(largest) * len(ones) ** 2 / 2


def leaking_bit(batch, alpha):
    """Control: the highest bit of alpha stands in a control bit."""
    controls = batch.controls.copy()
    controls[3] = controls[3] & 2 | alpha >> 6
    return KeyBatch(batch.shape, STUDY, batch.roots, batch.seeds, batch.values, controls, batch.leaves)


def unmasked_leaf(batch, alpha):
    """Control: the leaf says which of its values are below alpha, and nothing hides it."""
    leaves = np.zeros_like(batch.leaves)
    leaves[:] = np.arange(4) < alpha % 4
    return KeyBatch(batch.shape, STUDY, batch.roots, batch.seeds, batch.values, batch.controls, leaves)


def repeated_seed(batch, alpha):
    """Control: a correction repeats a bit of the root."""
    seeds = batch.seeds.copy()
    seeds[0, :, 1] = seeds[0, :, 1] & np.uint64(2**64 - 2) | batch.roots[:, 1] & np.uint64(1)
    return KeyBatch(batch.shape, STUDY, batch.roots, seeds, batch.values, batch.controls, batch.leaves)


@pytest.mark.each_value
@pytest.mark.parametrize("server", [0, 1])
@pytest.mark.parametrize("group", GROUPS)
def test_a_servers_bytes_are_alike_for_all_numbers_and_for_none(group, server):
    low, high, nobodys = keys_of(1, group, server, 1), keys_of(126, group, server, 2), simulated(group, 3)
    assert places_differ(low, high) > LEVEL
    assert places_differ(low, nobodys) > LEVEL
    assert places_differ(high, nobodys) > LEVEL


@pytest.mark.one_in(3)
@pytest.mark.parametrize("group", GROUPS)
def test_a_servers_bits_go_together_no_more_than_at_random(group):
    assert bits_go_together(keys_of(77, group, 1, 4)) > LEVEL
    assert bits_go_together(simulated(group, 5)) > LEVEL


@pytest.mark.parametrize("leak", [leaking_bit, unmasked_leaf])
def test_control_a_leak_of_alpha_is_seen(leak):
    low, high = keys_of(1, "ring32", 0, 6), keys_of(126, "ring32", 0, 7)
    assert places_differ(leak(low, 1), leak(high, 126)) < LEVEL


def test_control_bits_that_go_together_are_seen():
    assert bits_go_together(repeated_seed(keys_of(77, "ring32", 0, 8), 77)) < LEVEL


def test_a_servers_shares_are_alike_below_and_above_the_number():
    key = keys_of(64, "ring32", 0, 9)
    below, above = evaluate(key, [10, 100], server=0).T
    assert stats.ks_2samp(below, above).pvalue > LEVEL
    uniform = stats.kstest(below / 2**32, "uniform")
    assert uniform.pvalue > LEVEL


def test_both_servers_together_see_the_payload_where_it_is():
    pair = [keys_of(64, "ring32", server, 9) for server in (0, 1)]
    shares = [evaluate(key, [10, 100], server=server) for server, key in enumerate(pair)]
    assert (shares[0] + shares[1] == [1, 0]).all()
