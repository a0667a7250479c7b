"""Adding reports up: against a slow reading of the layout, in any order, and with any bytes."""

import numpy as np
import pytest
from helpers.scope import size
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.errors import ParameterError
from ogive.local import HaarOracle, OwnerSource, PublicClasses, RandomizedResponse, TreeOracle, UnaryOracle
from ogive.noise import KeyedSource

ORACLES = [
    RandomizedResponse(5, 1),
    RandomizedResponse(300, 1),
    RandomizedResponse(1 << 16, 1),
    UnaryOracle(9, 1),
    UnaryOracle(16, 1),
    HaarOracle(2, 1),
    HaarOracle(100, 1),
    HaarOracle(1000, 1, weights="uniform"),
    TreeOracle(2, 1),
    TreeOracle(1000, 1),
    TreeOracle(1 << 15, 1, assignment="independent", seed=9),
    TreeOracle(100, 1, branching=3),
    TreeOracle(8**3, 1, branching=8),
    TreeOracle(1000, 2, split="budget"),
    TreeOracle(30, 1, branching=5, split="budget", nodes="unary"),
    TreeOracle(1 << 12, 1, nodes="unary"),
    PublicClasses(RandomizedResponse(5, 1), 3),
    PublicClasses(TreeOracle(70, 1), 2),
    PublicClasses(UnaryOracle(9, 1), 1),
]


def name(oracle):
    inner = f"-of-{name(oracle.inner)}" if isinstance(oracle, PublicClasses) else ""
    extra = "-".join(str(getattr(oracle, field, "")) for field in ("split", "nodes", "branching"))
    return f"{oracle.name}{inner}-{oracle.size}-{extra}"


def field_of(bits: int, layout, level: int, tally: np.ndarray) -> bool:
    """Add a field, written as one number, to a tally; False if a bit has no meaning. Slow and different."""
    nodes, exponent = layout.nodes[level], layout.exponents[level]
    if layout.unary[level]:
        if bits >= 1 << nodes:
            return False
        for node in range(nodes):
            tally[node] += bits >> node & 1
        return True
    if bits >= 2 << exponent:
        return False
    tally[bits // 2] += -1 if bits % 2 else 1
    return True


def slow(oracle, number: int, payload: bytes) -> np.ndarray | None:
    """Sums of one report; None if it is malformed."""
    sums = np.zeros(oracle.shape, dtype=np.int64)
    bits = int.from_bytes(payload, "little")
    if isinstance(oracle, PublicClasses):
        inner = slow(oracle.inner, number, payload[1:])
        if payload[0] >= oracle.classes or inner is None:
            return None
        sums[payload[0]] = inner
    elif isinstance(oracle, RandomizedResponse):
        if bits >= oracle.size:
            return None
        sums[bits] = 1
    elif isinstance(oracle, UnaryOracle):
        if bits >= 1 << oracle.size:
            return None
        sums[:] = [*(bits >> place & 1 for place in range(oracle.size)), 1]
    else:
        layout = oracle.layout
        who = oracle.assignment if isinstance(oracle, HaarOracle) else oracle.levels_of
        asked = range(oracle.levels) if who is None else who.of(np.array([number])).tolist()
        for level in asked:
            stop = layout.offsets[level] + layout.widths[level] if who is None else len(payload)
            value = int.from_bytes(payload[layout.offsets[level] : stop], "little")
            if not field_of(value, layout, level, layout.tally(sums, level)):
                return None
            layout.reports(sums)[level] += 1
    return sums


@pytest.mark.parametrize("oracle", ORACLES, ids=name)
def test_sums_are_what_the_layout_says_whatever_the_bytes(oracle):
    generator = np.random.default_rng(1)
    numbers = generator.integers(0, 2**32, 300)
    payloads = oracle.randomize(generator.integers(0, oracle.size, 300), numbers, source=KeyedSource.from_seed(1))
    assert payloads.shape == (300, oracle.payload_bytes)
    hostile = np.arange(100, 300)
    # one bit turned, then noise throughout, then everything set, then nothing
    places = generator.integers(0, 8 * oracle.payload_bytes, 100)
    payloads[np.arange(100, 200), places // 8] ^= (1 << places % 8).astype(np.uint8)
    payloads[200:280] = generator.integers(0, 256, (80, oracle.payload_bytes))
    payloads[280:290] = 255
    payloads[290:300] = 0
    expected = [slow(oracle, int(number), bytes(row)) for number, row in zip(numbers, payloads, strict=True)]
    sums = np.zeros(oracle.shape, dtype=np.int64)
    good = oracle.add(sums, numbers, payloads)
    assert good.tolist() == [each is not None for each in expected]
    assert good[:100].all()
    tight = isinstance(oracle, UnaryOracle | RandomizedResponse) and oracle.size in (16, 1 << 16)
    assert tight or not good[hostile].all(), "some of these were malformed"
    np.testing.assert_array_equal(sums, sum(each for each in expected if each is not None))
    assert oracle.reports(sums) == good.sum()


@pytest.mark.parametrize("oracle", ORACLES, ids=name)
def test_reports_may_come_in_any_order_and_in_any_pieces(oracle):
    generator = np.random.default_rng(2)
    numbers = np.arange(500)
    payloads = oracle.randomize(generator.integers(0, oracle.size, 500), numbers, source=OwnerSource())
    whole, pieces, one = (np.zeros(oracle.shape, dtype=np.int64) for _ in range(3))
    assert oracle.add(whole, numbers, payloads).all()
    order = generator.permutation(500)
    for part in np.array_split(order, [1, 1, 100, 499]):
        assert oracle.add(pieces, numbers[part], payloads[part]).all()
    np.testing.assert_array_equal(whole, pieces)
    oracle.add(one, numbers[:1], payloads[:1])
    assert oracle.reports(whole) == 500
    assert oracle.reports(one) == 1


@pytest.mark.parametrize("oracle", ORACLES, ids=name)
def test_a_report_moves_sums_no_more_than_an_honest_one_can(oracle):
    # whatever bytes are accepted, somebody honest might have sent them: every well-formed payload has a chance
    generator = np.random.default_rng(3)
    honest = oracle.randomize(np.arange(20) % oracle.size, np.full(20, 5), source=OwnerSource())
    hostile = generator.integers(0, 256, (200, oracle.payload_bytes)).astype(np.uint8)
    accepted = []
    for row in np.concatenate([honest, hostile]):
        sums = np.zeros(oracle.shape, dtype=np.int64)
        accepted.append(oracle.add(sums, np.array([5]), row[None])[0])
        assert abs(sums).max() <= accepted[-1]
    assert all(accepted[:20])


@settings(max_examples=size(200, part=40), deadline=None)
@given(st.integers(0, len(ORACLES) - 1), st.data())
def test_any_bytes_are_added_or_not_and_nothing_else(place, data):
    oracle = ORACLES[place]
    payload = data.draw(st.binary(min_size=oracle.payload_bytes, max_size=oracle.payload_bytes))
    number = data.draw(st.integers(0, 2**32 - 1))
    sums = np.zeros(oracle.shape, dtype=np.int64)
    good = oracle.add(sums, np.array([number]), np.frombuffer(payload, np.uint8)[None, :])
    expected = slow(oracle, number, payload)
    assert bool(good[0]) == (expected is not None)
    np.testing.assert_array_equal(sums, 0 if expected is None else expected)


def test_reading_says_what_reports_at_large_levels_hold():
    oracle = TreeOracle(1 << 40, 1, seed=4)
    numbers = np.arange(400)
    symbols = np.random.default_rng(4).integers(0, 1 << 40, 400)
    payloads = oracle.randomize(symbols, numbers, source=KeyedSource.from_seed(4))
    payloads[7] = 255
    levels, indices, signs = oracle.read(numbers, payloads)
    asked = oracle.levels_of.of(numbers) + 1
    assert levels[7] == 0
    kept = np.delete(numbers, 7)
    np.testing.assert_array_equal(levels[kept], asked[kept])
    for number in kept:
        value = int.from_bytes(bytes(payloads[number]), "little")
        assert (indices[number], signs[number]) == (value >> 1, 1 - 2 * (value & 1))
    # each sign agrees with the owner's node with a chance of e / (1 + e)
    agree = [
        signs[number] == (-1) ** int(indices[number] & symbols[number] >> int(40 - levels[number])).bit_count()
        for number in kept
    ]
    assert 0.6 < np.mean(agree) < 0.85


def test_reading_a_budget_gives_every_level():
    oracle = TreeOracle(30, 1, split="budget")
    payloads = oracle.randomize(np.full(9, 3), np.arange(9), source=OwnerSource())
    payloads[2] = 255
    levels, indices, signs = oracle.read(np.arange(9), payloads)
    assert levels[0].tolist() == [1, 2, 3, 4, 5]
    assert not levels[2].any()
    assert not indices[2].any()
    sums = np.zeros(oracle.shape, dtype=np.int64)
    oracle.add(sums, np.arange(9), payloads)
    for level in range(5):
        tally = np.bincount(indices[:, level], weights=signs[:, level], minlength=2 << level)
        np.testing.assert_array_equal(tally, oracle.layout.tally(sums, level))


@pytest.mark.parametrize(
    ("symbols", "numbers", "message"),
    [
        ([5], [0], "symbols must be from 0 to 4"),
        ([-1], [0], "symbols must be from 0 to 4"),
        ([0.5], [0], "whole numbers"),
        ([0], [-1], "must not be negative"),
        ([0, 1], [0], "2 symbols and 1 numbers"),
        ([[0]], [[0]], "one-dimensional"),
    ],
)
def test_refuses_symbols_that_there_are_not(symbols, numbers, message):
    for oracle in (RandomizedResponse(5, 1), UnaryOracle(5, 1), HaarOracle(5, 1), TreeOracle(5, 1)):
        with pytest.raises(ParameterError, match=message):
            oracle.randomize(np.array(symbols), np.array(numbers), source=OwnerSource())


def test_refuses_arrays_of_other_shapes():
    oracle = TreeOracle(5, 1)
    sums = np.zeros(oracle.shape, dtype=np.int64)
    with pytest.raises(ParameterError, match="payloads must be bytes, 1 for each"):
        oracle.add(sums, np.arange(3), np.zeros((3, 2), dtype=np.uint8))
    with pytest.raises(ParameterError, match="payloads must be bytes"):
        oracle.add(sums, np.arange(3), np.zeros((4, 1), dtype=np.uint8))
    with pytest.raises(ParameterError, match="sums must be"):
        oracle.add(sums[1:], np.arange(3), np.zeros((3, 1), dtype=np.uint8))
    with pytest.raises(ParameterError, match="sums must be whole numbers"):
        oracle.counts(np.zeros(oracle.shape))
