"""Circuits on counts in shares: over all counts of small widths, with shares that wrap around and that do not."""

import itertools

import numpy as np
import pytest

from ogive.crypto import field
from ogive.crypto.circuits.arithmetic import MOST_BITS, first_largest, reaches, share_bits
from ogive.crypto.circuits.circuit import evaluate
from ogive.errors import ParameterError

SHAPES = [(2, 1), (2, 3), (3, 1), (3, 2), (4, 2), (5, 1)]


def all_counts(classes, width):
    return np.array([*itertools.product(range(1 << width), repeat=classes)])


def shares_of(counts, first):
    """Both parties' shares, where the first party has these."""
    own = np.broadcast_to(np.asarray(first, np.uint64), counts.shape)
    return own.copy(), field.differences(counts.astype(np.uint64), own)


def firsts(width):
    """Shares next to where a sum does and does not exceed the prime, and next to the largest count."""
    top = (1 << width) - 1
    return [*range(top + 3), field.P // 2, *range(field.P - top - 2, field.P)]


def places(found):
    return found @ (1 << np.arange(found.shape[1]))


@pytest.mark.parametrize(("classes", "width"), SHAPES)
def test_the_first_largest_of_all_counts_whatever_the_shares_are(classes, width):
    counts = all_counts(classes, width)
    circuit = first_largest(classes, width)
    for first in firsts(width):
        ours, theirs = shares_of(counts, first)
        found = evaluate(circuit, share_bits(ours, width), share_bits(theirs, width))
        assert np.array_equal(places(found), counts.argmax(axis=1))


@pytest.mark.parametrize(("classes", "width"), SHAPES)
def test_every_share_of_every_class_may_wrap_or_not(classes, width):
    counts = all_counts(classes, width)
    rng = np.random.default_rng(3)
    own = rng.choice(np.array(firsts(width), np.uint64), counts.shape)
    ours, theirs = shares_of(counts, own)
    found = evaluate(first_largest(classes, width), share_bits(ours, width), share_bits(theirs, width))
    assert np.array_equal(places(found), counts.argmax(axis=1))


@pytest.mark.parametrize(("classes", "width"), [(2, 2), (3, 2), (4, 1)])
@pytest.mark.parametrize("shift", [0, 1, 3])
def test_the_largest_count_is_compared_with_every_threshold(classes, width, shift):
    counts = all_counts(classes, width)
    bits = width + shift + 2
    circuit = reaches(classes, width, offset_width=bits, shift=shift)
    rng = np.random.default_rng(4)
    top = (1 << width) - 1 << shift
    for offset in range(-top - 1, top + 2):
        if not -(1 << bits - 1) <= offset <= (1 << bits - 1) - 1 - top:
            continue
        one = rng.integers(0, 1 << bits, len(counts))
        sides = one, (offset - one) % (1 << bits)
        given = [
            share_bits(shares, width, offsets=each.astype(np.uint64), offset_width=bits)
            for shares, each in zip(
                shares_of(counts, rng.integers(0, field.P, counts.shape, np.uint64)), sides, strict=True
            )
        ]
        found = evaluate(circuit, *given)[:, 0]
        assert np.array_equal(found, (counts.max(axis=1) << shift) + offset >= 0)


def test_without_the_bits_of_small_shares_a_sum_that_does_not_wrap_is_one_too_large():
    counts = all_counts(2, 2)
    ours, theirs = shares_of(counts, 0)
    given = [share_bits(each, 2) for each in (ours, theirs)]
    for bits in given:
        bits[:, [2, 5]] = False  # after the two bits of each share
    found = places(evaluate(first_largest(2, 2), *given))
    right = counts.argmax(axis=1)
    # one more than 3 is 0 in two bits
    assert np.array_equal(found, ((counts + 1) % 4).argmax(axis=1))
    assert not np.array_equal(found, right)


@pytest.mark.parametrize(("classes", "width"), [(2, 5), (10, 27), (15, 8), (16, 8)])
def test_gates_are_no_more_than_stated(classes, width):
    digits = (classes - 1).bit_length()
    comparisons = 2 * (classes - 1) * width
    assert first_largest(classes, width).ands <= classes * width + comparisons + (classes - 1) * digits
    for shift in (0, 16):
        found = reaches(classes, width, offset_width=width + shift + 3, shift=shift).ands
        assert found <= classes * width + comparisons + 2 * (width + shift + 3) - shift


def test_widths_out_of_range_are_refused_in_one_line():
    for make in (
        lambda: first_largest(1, 5), lambda: first_largest(2, 0), lambda: first_largest(2, MOST_BITS + 1),
        lambda: reaches(1, 5, offset_width=8, shift=0), lambda: reaches(2, 5, offset_width=8, shift=8),
        lambda: reaches(2, 5, offset_width=63, shift=0),
    ):  # fmt: skip
        with pytest.raises(ParameterError) as why:
            make()
        assert "\n" not in str(why.value)
