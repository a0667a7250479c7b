"""Comparison keys against plain comparison, and against an implementation of its own."""

import os

import numpy as np
import pytest
from helpers import comparison_oracle as oracle

from ogive.crypto.comparison import KeyBatch, KeyShape, evaluate, evaluate_sums, generate
from ogive.crypto.comparison.keys import HEADER_BYTES
from ogive.errors import ParameterError

STUDY = bytes(range(32))
GROUPS = ("ring32", "ring64", "field")
SMALL = [(bits, early) for bits in range(1, 8) for early in range(bits + 1)]


def added(first, second, modulus):
    """Sums of shares as Python's whole numbers."""
    return (first.astype(object) + second.astype(object)) % modulus


def drawn_payloads(shape, count, seed=1):
    return np.random.default_rng(seed).integers(0, shape.modulus - 1, count, dtype=np.uint64, endpoint=True)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize(("bits", "early"), SMALL)
def test_shares_of_every_number_at_every_point_add_up_to_the_comparison(group, bits, early):
    shape = KeyShape(group=group, bits=bits, early=early)
    alphas = points = np.arange(shape.domain)
    for payloads in (None, drawn_payloads(shape, shape.domain)):
        keys = generate(alphas, shape=shape, study=STUDY, payloads=payloads)
        found = added(*(evaluate(key, points, server=server) for server, key in enumerate(keys)), shape.modulus)
        worth = np.ones(shape.domain, np.uint64) if payloads is None else payloads
        expected = np.where(points < alphas[:, None], worth[:, None], np.uint64(0)).astype(object)
        assert (found == expected).all()
        sums = added(*(evaluate_sums(key, points, server=server) for server, key in enumerate(keys)), shape.modulus)
        assert (sums == expected.sum(axis=0) % shape.modulus).all()


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize(("bits", "early"), [(1, 0), (1, 1), (3, 2), (4, 0), (5, 3), (6, 2), (7, 4), (20, 3), (40, 2)])
def test_keys_and_shares_are_those_of_the_slow_implementation(group, bits, early):
    shape, setting = KeyShape(group=group, bits=bits, early=early), oracle.Setting(group, bits, early, STUDY)
    generator = np.random.default_rng(bits)
    alphas = np.array([0, shape.domain - 1, *generator.integers(0, shape.domain, 4)])
    payloads = drawn_payloads(shape, alphas.size)
    points = np.array([0, shape.domain - 1, *generator.integers(0, shape.domain, 4), alphas[2], max(alphas[2] - 1, 0)])
    keys = generate(alphas, shape=shape, study=STUDY, payloads=payloads, random=np.random.default_rng(2).bytes)
    shares = [evaluate(key, points, server=server) for server, key in enumerate(keys)]
    for client, (alpha, payload) in enumerate(zip(alphas.tolist(), payloads.tolist(), strict=True)):
        roots = [int.from_bytes(key.roots[client].tobytes(), "little") for key in keys]
        slow = oracle.generate(setting, alpha, payload, tuple(roots))
        for server, (key, found) in enumerate(zip(slow, shares, strict=True)):
            wire = keys[server][client : client + 1].to_bytes()
            assert wire[44:] == key.to_bytes(setting)
            assert found[client].tolist() == [oracle.evaluate(setting, server, key, x) for x in points.tolist()]


def test_the_slow_implementation_compares():
    setting = oracle.Setting("ring32", 4, 1, STUDY)
    for alpha in range(16):
        keys = oracle.generate(setting, alpha, 5, (2**100 + 2, 2**90 + 4))
        for x in range(16):
            total = sum(oracle.evaluate(setting, server, key, x) for server, key in enumerate(keys))
            assert total % 2**32 == (5 if x < alpha else 0)


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("count", [1, 255, 257, 5000])
def test_sums_are_sums_of_shares_whatever_the_chunks_and_threads(group, count):
    shape = KeyShape(group=group, bits=9)
    alphas = np.random.default_rng(3).integers(0, shape.domain, count)
    keys = generate(alphas, shape=shape, study=STUDY, payloads=drawn_payloads(shape, count), threads=1)
    points = np.array([511, 3, 3, 200, 0, 201])
    for server, key in enumerate(keys):
        shares = evaluate(key, points, server=server, threads=1)
        expected = shares.astype(object).sum(axis=0) % shape.modulus
        for threads in (1, 2, 3):
            assert (evaluate(key, points, server=server, threads=threads) == shares).all()
            assert (evaluate_sums(key, points, server=server, threads=threads) == expected).all()


def test_points_in_any_order_and_repeated_have_the_shares_of_each_alone():
    shape = KeyShape(group="ring64", bits=12)
    key, _ = generate(np.arange(0, 4096, 97), shape=shape, study=STUDY)
    points = np.random.default_rng(4).integers(0, 4096, 50)
    together = evaluate(key, points, server=0)
    alone = np.concatenate([evaluate(key, [point], server=0) for point in points], axis=1)
    assert (together == alone).all()


def test_many_threads_generate_what_one_does():
    shape = KeyShape(group="field", bits=8)
    made = [
        generate(
            np.arange(5000) % 256, shape=shape, study=STUDY, random=np.random.default_rng(5).bytes, threads=threads
        )
        for threads in (1, 2)
    ]
    assert made[0][0].to_bytes() == made[1][0].to_bytes()
    assert made[0][1].to_bytes() == made[1][1].to_bytes()


def test_keys_of_another_study_or_level_are_of_no_use():
    shape = KeyShape(group="ring32", bits=8)
    first, second = generate(np.arange(256), shape=shape, study=STUDY)
    other = KeyBatch(shape, bytes(32), second.roots, second.seeds, second.values, second.controls, second.leaves)
    points = np.arange(256)
    found = added(evaluate(first, points, server=0), evaluate(other, points, server=1), shape.modulus)
    assert np.isin(found, [0, 1]).mean() < 0.01


def test_progress_is_told_of_every_key_once_and_in_order():
    shape = KeyShape(group="ring32", bits=6)
    key, _ = generate(np.zeros(20_000, int), shape=shape, study=STUDY)
    for threads in (1, 2):
        told: list[int] = []
        evaluate_sums(key, [1, 5], server=0, threads=threads, progress=told.append)
        assert told == sorted(set(told))
        assert told[-1] == 20_000
        assert len(told) > 1


def test_what_a_callback_raises_stops_the_work():
    shape = KeyShape(group="ring32", bits=6)
    key, _ = generate(np.zeros(20_000, int), shape=shape, study=STUDY)

    def stop(done):
        raise KeyboardInterrupt

    for threads in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            evaluate_sums(key, [1], server=0, threads=threads, progress=stop)


def test_slices_choices_and_joins_are_those_of_the_keys():
    shape = KeyShape(group="ring32", bits=10)
    key, _ = generate(np.arange(1000), shape=shape, study=STUDY)
    points = [5, 700]
    shares = evaluate(key, points, server=0)
    assert (evaluate(key[100:300], points, server=0) == shares[100:300]).all()
    chosen = np.arange(1000) % 3 == 1
    assert (evaluate(key[chosen], points, server=0) == shares[chosen]).all()
    assert len(key[chosen]) == chosen.sum()
    numbers = np.array([7, 3, 3])
    assert (evaluate(key[numbers], points, server=0) == shares[numbers]).all()
    for part in (key[chosen], key[numbers]):
        assert all(getattr(part, name).flags.c_contiguous for name in ("seeds", "values", "controls", "leaves"))
        assert KeyBatch.from_bytes(part.to_bytes(), shape=shape, study=STUDY).to_bytes() == part.to_bytes()


def test_no_keys_at_all_sum_to_zero():
    shape = KeyShape(group="field", bits=10)
    keys = generate(np.empty(0, int), shape=shape, study=STUDY)
    assert evaluate(keys[0], [1, 2], server=0).shape == (0, 2)
    assert evaluate_sums(keys[1], [1, 2], server=1).tolist() == [0, 0]
    assert len(KeyBatch.from_bytes(keys[0].to_bytes(), shape=shape, study=STUDY)) == 0


def test_pieces_are_all_bytes_of_every_key():
    shape = KeyShape(group="ring32", bits=8)
    batch, _ = generate(np.arange(9), shape=shape, study=STUDY)
    for client in range(9):
        told = b"".join(each[client].tobytes() for each in batch.pieces())
        assert len(told) == shape.key_bytes
        assert batch[client : client + 1].to_bytes()[HEADER_BYTES:] == told


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alphas": [256]}, "alphas must be in"),
        ({"alphas": [-1]}, "alphas must be in"),
        ({"alphas": [1.0]}, "alphas must be whole numbers"),
        ({"alphas": [[1]]}, "alphas must be whole numbers"),
        ({"payloads": [2**61 - 1]}, "payloads must be in"),
        ({"payloads": [1, 2]}, "as many as alphas"),
        ({"study": bytes(31)}, "32 bytes"),
        ({"study": "x" * 32}, "32 bytes"),
        ({"threads": 0}, "threads"),
    ],
)
def test_generate_refuses(change, message):
    given = {"alphas": [1], "shape": KeyShape(group="field", bits=8), "study": STUDY, **change}
    with pytest.raises(ParameterError, match=message):
        generate(given.pop("alphas"), **given)


@pytest.mark.parametrize(
    ("points", "server", "message"),
    [
        ([], 0, "points must be"),
        ([0.5], 0, "points must be"),
        ([[1]], 0, "points must be"),
        ([256], 0, "points must be in"),
        ([-1], 1, "points must be in"),
        ([1], 2, "server must be"),
        ([1], True, "server must be"),
    ],
)
def test_evaluation_refuses(points, server, message):
    key, _ = generate([1], shape=KeyShape(group="ring32", bits=8), study=STUDY)
    for function in (evaluate, evaluate_sums):
        with pytest.raises(ParameterError, match=message):
            function(key, points, server=server)


def test_randomness_is_the_operating_systems_unless_given():
    shape = KeyShape(group="ring32", bits=8)
    roots = [generate([1], shape=shape, study=STUDY)[0].roots.tobytes() for _ in range(2)]
    assert roots[0] != roots[1]
    asked = []
    generate([1] * 10_000, shape=shape, study=STUDY, random=lambda count: asked.append(count) or os.urandom(count))
    assert asked == [16]
