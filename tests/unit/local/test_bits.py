"""Coins, symbols and thresholds: exact chances, never above the epsilon that was asked."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogive.errors import ParameterError
from ogive.local import OwnerSource
from ogive.local.base import WORD, bernoulli, exp_below, flip_threshold, keep_threshold, uniform, uniform_bits

EPSILONS = [
    Fraction(1, 10**9),
    Fraction(1, 100),
    Fraction(1, 3),
    Fraction(1),
    Fraction(22, 7),
    Fraction(9),
    Fraction(40),
]


class Scripted:
    """Words that a test wrote."""

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, count: int) -> np.ndarray:
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count
        return np.array(taken, dtype=np.uint32)


def power(epsilon: Fraction) -> mpmath.mpf:
    return mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)


def exactly(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_the_lower_bound_of_a_power_is_below_it_and_close(epsilon):
    with mpmath.workdps(120):
        below, truth = exactly(exp_below(epsilon)), power(epsilon)
        assert truth * (1 - mpmath.mpf(10) ** -50) < below < truth


def test_large_powers_are_capped():
    assert exp_below(Fraction(1000)) == exp_below(Fraction(64)) > 2**64
    assert flip_threshold(Fraction(1000)) == 1


@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_a_flip_keeps_to_epsilon_and_a_rarer_one_would_not(epsilon):
    threshold = flip_threshold(epsilon)
    with mpmath.workdps(120):
        odds = [exactly(Fraction(WORD - t, t)) for t in (threshold, threshold - 1)]
        assert odds[0] <= power(epsilon) < odds[1]
    assert 0 < threshold < WORD // 2


@pytest.mark.parametrize("size", [2, 5, 1 << 16])
@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_keeping_a_symbol_keeps_to_epsilon_and_keeping_it_more_often_would_not(epsilon, size):
    if keep_threshold(epsilon, size) < 1:
        pytest.fail("no threshold")
    with mpmath.workdps(120):
        ratios = [
            exactly(1 + size * Fraction(kept, WORD - kept)) if kept < WORD else mpmath.inf
            for kept in (keep_threshold(epsilon, size), keep_threshold(epsilon, size) + 1)
        ]
        assert ratios[0] <= power(epsilon) < ratios[1]


def test_refuses_an_epsilon_at_which_nothing_would_be_kept():
    with pytest.raises(ParameterError, match="too small for"):
        keep_threshold(Fraction(1, 10**18), 1 << 24)


@given(st.integers(0, WORD - 1), st.integers(0, WORD - 1))
def test_a_coin_is_a_comparison_of_64_bits(value, threshold):
    source = Scripted(value >> 32, value & 0xFFFFFFFF)
    assert bernoulli(source, 1, threshold)[0] == (value < threshold)
    assert len(source.left) == (value >> 32 != threshold >> 32), "the second half is for ties"


@pytest.mark.parametrize("off", [-1, 0, 1])
def test_a_coin_at_its_threshold(off):
    threshold = (123 << 32) + 456
    value = threshold + off
    assert bernoulli(Scripted(value >> 32, value & 0xFFFFFFFF), 1, threshold)[0] == (off < 0)


@given(st.integers(1, 1 << 32), st.lists(st.integers(0, (1 << 32) - 1), min_size=1, max_size=5))
def test_a_uniform_symbol_is_the_first_word_below_the_last_multiple(bound, words):
    whole = (1 << 32) // bound * bound
    accepted = [word for word in words if word < whole]
    assert uniform(Scripted(*words, 0), 1, bound)[0] == (accepted[0] % bound if accepted else 0)


def test_words_that_are_drawn_again_go_to_the_right_places():
    last = (1 << 32) - 1  # 3 does not divide 2^32, and this word is past the last multiple
    assert uniform(Scripted(1, last, 2, last, last, 4, 5), 4, 3).tolist() == [1, 2, 2, 1]


@given(st.integers(0, 41), st.integers(0, WORD - 1))
def test_uniform_bits_are_the_lowest_of_a_word(exponent, value):
    source = Scripted(value & 0xFFFFFFFF, value >> 32)
    assert uniform_bits(source, np.array([exponent]))[0] == value % (1 << exponent)


def test_the_owners_source_gives_words():
    words = OwnerSource().words(1000)
    assert words.shape == (1000,)
    assert words.dtype == np.uint32
    assert np.unique(words).size > 990
    assert 12_000 < np.bitwise_count(words).sum() < 20_000
