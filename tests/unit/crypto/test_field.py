"""Arithmetic modulo 2^61 - 1, against Python's integers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.core import compiling
from ogive.crypto import field
from ogive.crypto.field import P

EDGES = [0, 1, 2, 3, 7, 8, 2**29, 2**30, 2**31, 2**32 - 1, 2**32, 2**60 - 1, 2**60, P // 2, P // 2 + 1, P - 2, P - 1]
WORDS = [*EDGES, P, P + 1, 2**62, 2**63 - 1, 2**63, 8 * P - 1, 8 * P, 8 * P + 1, 2**64 - 1]
OPERATIONS = {
    "sums": (field.sums, field.add, lambda x, y: (x + y) % P),
    "differences": (field.differences, field.subtract, lambda x, y: (x - y) % P),
    "products": (field.products, field.multiply, lambda x, y: x * y % P),
}
elements = st.one_of(st.sampled_from(EDGES), st.integers(0, P - 1))


def array(values):
    return np.array(values, dtype=np.uint64)


@pytest.mark.parametrize("form", ["plain", "compiled"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_agrees_with_python_at_every_pair_of_edges(name, form):
    arrays, scalar, expected = OPERATIONS[name]
    with compiling.wrapping():
        agreed = getattr(arrays, form)(array(EDGES)[:, np.newaxis], array(EDGES))
    assert (agreed.dtype, agreed.tolist()) == (np.uint64, [[expected(x, y) for y in EDGES] for x in EDGES])
    found = arrays(array(EDGES)[:, np.newaxis], array(EDGES))
    assert found.dtype == np.uint64
    assert found.tolist() == [[expected(x, y) for y in EDGES] for x in EDGES]
    assert [[int(scalar(np.uint64(x), np.uint64(y))) for y in EDGES] for x in EDGES] == found.tolist()


@pytest.mark.parametrize("name", OPERATIONS)
def test_agrees_with_python_on_random_elements(name):
    arrays, _, expected = OPERATIONS[name]
    x, y = np.random.default_rng(1).integers(0, P, (2, 20_000), dtype=np.uint64)
    assert arrays(x, y).tolist() == [expected(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]


@settings(deadline=None)
@given(elements, elements, elements)
def test_products_distribute_over_sums(x, y, z):
    x, y, z = array([x]), array([y]), array([z])
    left = field.products(x, field.sums(y, z))
    assert left == field.sums(field.products(x, y), field.products(x, z))
    assert field.sums(field.differences(x, y), y) == x


@pytest.mark.parametrize("form", ["plain", "compiled"])
def test_both_forms_reduce_any_word_and_encode_any_number(form):
    assert getattr(field.residues, form)(array(WORDS)).tolist() == [word % P for word in WORDS]
    numbers = np.array([0, 1, -1, P, -P, 1 - P, 2**63 - 1, -(2**63), -(2**63) + 1])
    assert getattr(field._encoded, form)(numbers).tolist() == [number % P for number in numbers.tolist()]


def test_reduces_any_word():
    assert field.residues(array(WORDS)).tolist() == [word % P for word in WORDS]
    assert [int(field.reduce(np.uint64(word))) for word in WORDS] == [word % P for word in WORDS]
    drawn = np.random.default_rng(2).integers(0, 2**64, 10_000, dtype=np.uint64)
    assert field.residues(drawn).tolist() == [word % P for word in drawn.tolist()]


@pytest.mark.parametrize("count", [0, 1, 2, 63, 64])
def test_sums_of_up_to_64_products_fit_two_words(count):
    x, y = np.random.default_rng(count).integers(0, P, (2, count), dtype=np.uint64)
    for left, right in ((x, y), (np.full(count, P - 1, np.uint64),) * 2):
        low = high = np.uint64(0)
        for pair in zip(left, right, strict=True):
            low, high = (np.uint64(word) for word in field.accumulate(low, high, *pair))
        whole = sum(int(a) * int(b) for a, b in zip(left, right, strict=True))
        assert int(high) << 64 | int(low) == whole
        assert int(field.fold(low, high)) == whole % P
    assert int(field.fold(np.uint64(2**64 - 1), np.uint64(2**64 - 1))) == (2**128 - 1) % P


@pytest.mark.parametrize("axis", [0, 1])
def test_totals_do_not_wrap(axis):
    table = np.full((300, 7), P - 1, dtype=np.uint64)
    table[::3] = np.random.default_rng(3).integers(0, P, 7, dtype=np.uint64)
    expected = [sum(row) % P for row in (table.T if axis == 0 else table).tolist()]
    assert field.total(table, axis=axis).tolist() == expected
    assert field.total(np.zeros((0, 2), np.uint64), axis=0).tolist() == [0, 0]


def test_accepts_words_whose_upper_bits_are_an_element():
    words = array([0, 7, 8, (P - 1) << 3, ((P - 1) << 3) + 7, P << 3, 2**64 - 1, 16])
    assert field.accept(words).tolist() == [0, 0, 1, P - 1, P - 1, 2]


@settings(deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5))
def test_encodes_any_int64(numbers):
    assert field.encode(np.array(numbers, dtype=np.int64)).tolist() == [number % P for number in numbers]


@settings(deadline=None)
@given(st.lists(st.integers(-(P // 2), P // 2), max_size=5))
def test_decodes_what_is_below_half_of_the_modulus(numbers):
    found = field.decode(field.encode(np.array(numbers, dtype=np.int64)))
    assert found.dtype == np.int64
    assert found.tolist() == numbers
