"""The trials and samplers, run on every outcome of their random choices at once.

The functions run as plain Python with their primitives replaced by branches of a tree whose weights are exact;
what comes out is a distribution, not a sample. Branches lighter than a cutoff are given up, and their mass bounds
the error.
"""

from collections import defaultdict

import mpmath
import numpy as np
import pytest
from helpers.scope import size as digits
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.noise import base as exact
from ogive.noise import discrete, laws

MANY = np.zeros(1 << 20, np.uint32)


class TooLightError(Exception):
    """The branch is too light to follow."""


class AgainError(Exception):
    """The first try of a rejection sampler was rejected."""


class Tree:
    """Runs a function once per branch: `choose` returns another choice every time the same place is reached."""

    def __init__(self, cutoff):
        self.cutoff = cutoff
        self.path = []
        self.depth = 0
        self.weight = mpmath.mpf(1)

    def choose(self, weights):
        """Index of the branch to take; weights sum to 1."""
        if self.depth == len(self.path):
            if self.weight < self.cutoff:
                raise TooLightError
            self.path.append([0, len(weights)])
        index = self.path[self.depth][0]
        self.weight *= weights[index]
        self.depth += 1
        return index

    def run(self, function):
        """Distribution of the function's value, and the mass of the branches given up."""
        found = defaultdict(mpmath.mpf)
        lost = mpmath.mpf(0)
        while True:
            self.depth, self.weight = 0, mpmath.mpf(1)
            try:
                value = function()
                found[value] += self.weight
            except AgainError:
                found["again"] += self.weight
            except TooLightError:
                lost += self.weight
            del self.path[self.depth :]
            while self.path and self.path[-1][0] == self.path[-1][1] - 1:
                self.path.pop()
            if not self.path:
                return found, lost
            self.path[-1][0] += 1

    def uniform(self, words, at, bound):
        return self.choose([mpmath.mpf(1) / bound] * int(bound)), at + 1

    def coin(self, chance):
        return self.choose([1 - chance, chance]) == 1


def test_tree_finds_the_law_of_two_dice_and_bounds_what_it_gives_up():
    tree = Tree(mpmath.mpf("1e-9"))
    found, lost = tree.run(lambda: tree.uniform(None, 0, 6)[0] + tree.uniform(None, 0, 6)[0])
    assert lost == 0
    assert {total: round(36 * p) for total, p in found.items()} == {k: 6 - abs(k - 5) for k in range(11)}
    tree = Tree(mpmath.mpf("1e-3"))

    def tosses():
        count = 0
        while tree.coin(mpmath.mpf("0.5")):
            count += 1
        return count

    found, lost = tree.run(tosses)
    assert abs(sum(found.values()) + lost - 1) < 1e-15
    assert 0 < lost < 1e-3


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 1000, 3 << 20, (1 << 31) - 1, 1 << 31])
def test_uniform_gives_every_value_the_same_number_of_words(bound):
    def accepted(word):
        value, at = exact.uniform(np.array([word, 0xFFFFFFFF], np.uint32), 0, bound)
        return int(value) if at == 1 else None

    fair = (1 << 32) // bound
    for value in {0, 1 % bound, bound // 3, bound // 2, bound - 1}:
        first = -(-(value << 32) // bound)
        last = -(-((value + 1) << 32) // bound) - 1
        # later words of the value have word * bound mod 2^32 of at least bound, so only the first can be refused
        refused = sum(accepted(word) is None for word in range(first, min(first + 3, last + 1)))
        assert last - first + 1 - refused == fair
        assert accepted(last) in (value, None if last == first else value)


def test_uniform_wide_keeps_high_and_low_bits_and_refuses_what_is_above_the_bound():
    bound = (1 << 40) + 5
    words = np.array([0x80_0000_00, 9, 0x80_0000_00, 4, 0, 7], np.uint32)
    # 41 bits are used: the first word gives the highest 9
    assert exact.uniform_wide(words, 0, bound) == ((1 << 40) + 4, 4)
    assert exact.uniform_wide(words, 4, bound) == (7, 6)


def test_bernoulli_settles_a_tie_by_the_rest():
    def outcome(*words):
        return exact.bernoulli(np.array(words, np.uint32), 0, 5, 2, 3)

    assert outcome(4) == (True, 1)
    assert outcome(6) == (False, 1)
    thirds = [1 << 20, (1 << 31), 0xF0000000]
    assert [outcome(5, word)[0] for word in thirds] == [True, True, False]


@settings(deadline=None)  # the first call compiles
@given(st.integers(1, 1 << 31), st.integers(0, (1 << 31) - 1), st.integers(0, (1 << 32) - 1))
def test_expansion_equals_division(unit, high, low):
    scaled = (high % unit << 32) + (low if unit > 1 << 30 else 0)
    assert exact.expand(scaled, unit, exact.reciprocal(unit)) == divmod(scaled, unit)


@pytest.mark.each_value
@pytest.mark.parametrize("bits", [0, 1, 2])
@pytest.mark.parametrize(("rest", "unit"), [(2, 3), (0, 1), (4, 5)])
def test_bernoulli_exp_has_probability_exp_of_minus_x_whatever_the_word_length(monkeypatch, bits, rest, unit):
    # nothing in the function depends on the length of a word; short words make nearly every comparison a tie
    mpmath.mp.dps = 30
    size = 1 << bits
    for digit in range(size):
        tree = Tree(mpmath.mpf(10) ** -digits(7, part=6))
        monkeypatch.setattr(exact, "word", lambda words, at: tree.uniform(words, at, size)[0])  # noqa: B023
        monkeypatch.setattr(exact, "uniform", tree.uniform)
        found, lost = tree.run(lambda: exact.bernoulli_exp.py_func(MANY, 0, digit, rest, unit)[0])  # noqa: B023
        x = (digit + mpmath.mpf(rest) / unit) / size
        assert lost < 1e-3
        assert abs(found[True] - mpmath.exp(-x)) <= lost + mpmath.mpf("1e-25")
        if rest:
            assert abs(found[True] - mpmath.exp(-mpmath.mpf(digit) / size)) > lost


@pytest.mark.parametrize(("base", "terms", "total", "bar"), [(1, 3, 6, 2), (2, 3, 48, 29), (3, 1, 3, 2)])
def test_series_trial_has_probability_exp_of_minus_one_over_base(monkeypatch, base, terms, total, bar):
    mpmath.mp.dps = 40
    tree = Tree(mpmath.mpf("1e-25"))
    monkeypatch.setattr(exact, "uniform", tree.uniform)
    found, lost = tree.run(lambda: exact._bernoulli_series.py_func(MANY, 0, base, terms, total, bar)[0])
    assert lost < 1e-20
    assert abs(found[True] - mpmath.exp(-mpmath.mpf(1) / base)) <= lost + mpmath.mpf("1e-35")


@pytest.mark.parametrize(
    ("trial", "base", "terms"), [(exact.bernoulli_inverse_e, 1, 11), (exact.bernoulli_inverse_root_e, 2, 9)]
)
def test_constants_of_the_series_trials_are_the_partial_sums(trial, base, terms):
    total = base**terms * int(mpmath.factorial(terms))
    bar = sum((-1) ** k * total // (base**k * int(mpmath.factorial(k))) for k in range(terms + 1))

    def on(*values_and_bounds):
        words = [-(-(value << 32) // bound) + 1 for value, bound in values_and_bounds]
        return trial(np.array(words, np.uint32), 0)

    following = [base * (terms + 1 + count) for count in range(3)]
    assert on((bar - 1, total)) == (True, 1)
    assert on((bar + 1, total)) == (False, 1)
    assert on((bar, total), (1, following[0])) == (False, 2)
    assert on((bar, total), (0, following[0]), (1, following[1])) == (True, 3)
    assert on((bar, total), (0, following[0]), (0, following[1]), (1, following[2])) == (False, 4)


def fraction(digit, rest, unit):
    return (digit + mpmath.mpf(int(rest)) / int(unit)) / mpmath.mpf(2) ** 32


def divide(scaled, unit, inverse):
    """What `expand` computes, also for a small unit with a shift, which only a tree small enough to walk has."""
    return divmod(scaled, unit)


def first_try(tree, draw):
    """A primitive that begins a try of a rejection sampler; a second try is a branch called `again`."""
    seen = []

    def guarded(*arguments):
        if tree.depth == 0:
            seen.clear()
        if seen:
            raise AgainError
        seen.append(True)
        return draw(*arguments)

    return guarded


def accepted(found):
    """The distribution given that the first try is accepted: that of the sampler, whose tries are independent."""
    found.pop("again", None)
    total = mpmath.fsum(found.values())
    return {value: weight / total for value, weight in found.items()}


@pytest.mark.parametrize(("unit", "divisor"), [(1, 1), (3, 2), (2, 3), (5, 1), (1, 2)])
def test_geometric_sampler_has_the_stated_law(monkeypatch, unit, divisor):
    mpmath.mp.dps = 30
    tree = Tree(mpmath.mpf("1e-18"))
    monkeypatch.setattr(discrete, "uniform", first_try(tree, tree.uniform))
    monkeypatch.setattr(discrete, "bernoulli_exp", lambda words, at, *x: (tree.coin(mpmath.exp(-fraction(*x))), at))
    monkeypatch.setattr(discrete, "bernoulli_inverse_e", lambda words, at: (tree.coin(mpmath.exp(-1)), at))
    found, lost = tree.run(
        lambda: int(discrete.draw_geometric.py_func(MANY, 0, unit, 0, divisor, exact.reciprocal(unit))[0])
    )
    found = accepted(found)
    ratio = mpmath.exp(-mpmath.mpf(divisor) / unit)
    assert lost < 1e-16
    for k in range(12):
        assert abs(found[k] - (1 - ratio) * ratio**k) < 1e-15


def test_geometric_sampler_with_a_shift_has_the_law_of_the_whole_numerator(monkeypatch):
    mpmath.mp.dps = 30
    tree = Tree(mpmath.mpf("1e-18"))
    monkeypatch.setattr(discrete, "uniform", first_try(tree, tree.uniform))
    monkeypatch.setattr(discrete, "word", lambda words, at: tree.choose([mpmath.mpf(1) / 4] * 4) << 30)
    monkeypatch.setattr(discrete, "expand", divide)
    monkeypatch.setattr(discrete, "bernoulli_exp", lambda words, at, *x: (tree.coin(mpmath.exp(-fraction(*x))), at))
    monkeypatch.setattr(discrete, "bernoulli_inverse_e", lambda words, at: (tree.coin(mpmath.exp(-1)), at))
    found, _ = tree.run(lambda: int(discrete.draw_geometric.py_func(MANY, 0, 3, 2, 5, exact.reciprocal(3))[0]))
    found = accepted(found)
    ratio = mpmath.exp(-mpmath.mpf(5) / 12)
    for k in range(12):
        assert abs(found[k] - (1 - ratio) * ratio**k) < 1e-15


def test_laplace_sampler_joins_two_geometric_halves_without_counting_zero_twice(monkeypatch):
    mpmath.mp.dps = 30
    tree = Tree(mpmath.mpf(0))
    weights = [mpmath.mpf(w) / 16 for w in (8, 4, 2, 1, 1)]
    monkeypatch.setattr(discrete, "draw_geometric", first_try(tree, lambda words, at, *_: (tree.choose(weights), at)))
    found, _ = tree.run(lambda: one_draw(monkeypatch, discrete, tree, 1, 0, 1, fill="_fill_laplace"))
    found = accepted(found)
    total = 2 * sum(weights) - weights[0]
    assert all(abs(found[k] - weights[abs(k)] / total) < 1e-25 for k in range(-4, 5))


@pytest.mark.parametrize(("unit", "shift", "divisor"), [(1, 0, 1), (3, 0, 2), (2, 0, 3), (7, 0, 1), (3, 2, 5)])
def test_gaussian_sampler_has_the_stated_law(monkeypatch, unit, shift, divisor):
    mpmath.mp.dps = 30
    tree = Tree(mpmath.mpf(0))
    blocks = [mpmath.exp(-(mpmath.mpf(k) ** 2) / 2) for k in range(11)]
    shares = [weight / mpmath.fsum(blocks) for weight in blocks]
    monkeypatch.setattr(discrete, "_draw_block", first_try(tree, lambda words, at: (tree.choose(shares), at)))
    monkeypatch.setattr(discrete, "uniform_wide", tree.uniform)

    def keep(words, at, block, *x):
        return tree.coin(mpmath.exp(-fraction(*x) * (2 * block + fraction(*x)) / 2)), at

    monkeypatch.setattr(discrete, "_keep_offset", keep)
    monkeypatch.setattr(discrete, "expand", divide)
    found, _ = tree.run(lambda: one_draw(monkeypatch, discrete, tree, unit, shift, divisor, fill="_fill_gaussian"))
    found = accepted(found)
    sigma = mpmath.mpf(unit << shift) / divisor
    stated = {k: mpmath.exp(-((k / sigma) ** 2) / 2) for k in range(-90, 91)}
    total = mpmath.fsum(stated.values())
    for k in range(-8, 9):
        assert abs(found.get(k, 0) - stated[k] / total) < 1e-25


def one_draw(monkeypatch, module, tree, *parameters, fill="_fill"):
    """The first value of a sampler's loop whose sign bit comes from the tree."""
    monkeypatch.setattr(module, "word", lambda words, at: tree.choose([mpmath.mpf(1) / 2] * 2))
    out = np.zeros((1, 1), np.int64)
    getattr(module, fill).py_func(MANY[np.newaxis], out, *parameters)
    return int(out[0, 0])


def test_gaussian_block_has_weights_exp_of_minus_half_its_square(monkeypatch):
    mpmath.mp.dps = 30
    tree = Tree(mpmath.mpf("3e-5"))
    root = mpmath.exp(mpmath.mpf(-1) / 2)
    monkeypatch.setattr(discrete, "bernoulli_inverse_root_e", lambda words, at: (tree.coin(root), at + 1))
    found, lost = tree.run(lambda: discrete._draw_block.py_func(MANY, 0)[0])
    total = mpmath.nsum(lambda k: mpmath.exp(-(k**2) / 2), [0, 30])
    assert lost < 0.05
    for k in range(5):
        assert abs(found[k] - mpmath.exp(-(mpmath.mpf(k) ** 2) / 2) / total) < lost


@pytest.mark.parametrize("block", [0, 1, 3])
def test_gaussian_offset_is_kept_with_the_stated_probability(monkeypatch, block):
    mpmath.mp.dps = 30
    tree = Tree(mpmath.mpf("1e-5"))
    x = mpmath.mpf(5) / 16

    def uniform(words, at, bound):
        # values on one side of 2 block are alike
        part = mpmath.mpf(1) / int(bound)
        side = tree.choose([2 * block * part, part, 1 - (2 * block + 1) * part])
        return 2 * block - 1 + side, at

    monkeypatch.setattr(discrete, "uniform", uniform)
    monkeypatch.setattr(discrete, "bernoulli", lambda words, at, *_: (tree.coin(x), at))
    keep = discrete._keep_offset.py_func
    found, lost = tree.run(lambda: keep(MANY, 0, block, 5 << 28, 0, 1)[0])
    assert lost < 2e-2
    assert abs(found[True] - mpmath.exp(-x * (2 * block + x) / 2)) < lost


def test_urn_share_of_a_total_is_beta_binomial(monkeypatch):
    mpmath.mp.dps = 30
    for part, parts in ((1, 2), (1, 3), (3, 4), (1, 1)):
        for total in range(6):
            tree = Tree(mpmath.mpf(0))
            monkeypatch.setattr(discrete, "uniform", tree.uniform)
            monkeypatch.setattr(discrete, "uniform_wide", tree.uniform)
            found, lost = tree.run(lambda: discrete.draw_share.py_func(MANY, 0, total, part, parts)[0])  # noqa: B023
            assert lost == 0
            r = mpmath.mpf(part) / parts
            for k in range(total + 1):
                stated = mpmath.binomial(total, k) * mpmath.rf(r, k) * mpmath.rf(1 - r, total - k)
                assert abs(found[k] - stated / mpmath.factorial(total)) < 1e-25


def test_poisson_of_mean_one_has_the_stated_law(monkeypatch):
    mpmath.mp.dps = 30
    tree = Tree(mpmath.mpf("1e-5"))
    monkeypatch.setattr(laws, "uniform", tree.uniform)
    found, lost = tree.run(lambda: laws.draw_unit_poisson.py_func(MANY, 0)[0])
    assert lost < 1e-2
    for k in range(4):
        assert stated_poisson(1, k) - lost <= found[k] <= stated_poisson(1, k) + mpmath.mpf("1e-15")


def test_poisson_of_any_mean_adds_whole_ones_and_thins_the_last(monkeypatch):
    mpmath.mp.dps = 30
    tree = Tree(mpmath.mpf(10) ** -digits(8, part=7))
    ones = [stated_poisson(1, k) for k in range(9)]
    ones[-1] += 1 - mpmath.fsum(ones)
    monkeypatch.setattr(laws, "draw_unit_poisson", lambda words, at: (tree.choose(ones), at))
    monkeypatch.setattr(laws, "uniform", lambda words, at, bound: (2 * tree.coin(mpmath.mpf(1) / 3), at))
    found, lost = tree.run(lambda: int(laws.draw_poisson.py_func(MANY, 0, 2, 2, 3)[0]))
    assert lost < 1e-4
    for k in range(8):
        assert abs(found[k] - stated_poisson(mpmath.mpf(8) / 3, k)) < 1e-4


def stated_poisson(mean, k):
    return mpmath.exp(-mean) * mpmath.mpf(mean) ** k / mpmath.factorial(k)


@pytest.mark.parametrize("size", [0, 1, 3])
def test_every_kernel_ends_on_words_that_are_all_ones_or_missing(size):
    words = np.full((1, size), 0xFFFFFFFF, np.uint32)
    fills = [
        lambda out: discrete._fill_laplace(words, out, 7, 0, 2),
        lambda out: discrete._fill_laplace(words, out, 1 << 31, 16, 1),
        lambda out: discrete._fill_laplace(words, out, 1, 0, 9),
        lambda out: discrete._fill_gaussian(words, out, 7, 0, 2),
        lambda out: discrete._fill_gaussian(words, out, 1 << 31, 16, 1),
        lambda out: discrete._fill_gaussian(words, out, 1, 0, 9),
        lambda out: discrete._fill_shares(words, out, 1 << 31, 16, 1, 1, 1 << 31),
        lambda out: discrete._fill_shares(words, out, 7, 0, 2, 1, 3),
        lambda out: laws._fill_skellam(words, out, 5, 1, 3),
    ]
    for fill in fills:
        done, used = fill(np.empty((1, 3), np.int64))
        assert used[0] <= size
        assert done[0] <= size
