"""Exact values are those of scipy, scikit-learn and of loops over pairs; whole sums change as little as they say."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.pairs import mean_over_pairs
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, somersd
from sklearn.metrics import roc_auc_score

from ogive import DataError, Grid, ParameterError, kernels
from ogive.columns import Binning, Categories, Domain, Label
from ogive.kernels import ranks
from ogive.kernels.base import exact_dot, rounded_sum

NUMBER = Binning("x", Grid.linear(0, 3, bins=6))
WHOLE = Binning("x", Grid.integers(0, 3))
SCORE = Binning("z", Grid.linear(0, 3, bins=6))
LABEL = Label("y", ("yes",), ("no",))
ONE_SAMPLE = [
    (kernels.AbsoluteDifference(), Domain((NUMBER,))),
    (kernels.HalfSquare(), Domain((NUMBER,))),
    (kernels.PairMeanKernel(), Domain((NUMBER,))),
    (kernels.Equal(), Domain((WHOLE,))),
    (kernels.Equal(), Domain((WHOLE, Categories("c", (1, 2, 3, 4))))),
    (kernels.SignProduct(), Domain((NUMBER, SCORE))),
    (kernels.Untied((0,)), Domain((NUMBER, SCORE))),
    (kernels.Untied((1,)), Domain((NUMBER, SCORE))),
    (kernels.Untied((1, 0)), Domain((NUMBER, SCORE))),
    (kernels.ScoreOrder("half"), Domain((NUMBER, LABEL))),
    (kernels.ScoreOrder("strict"), Domain((NUMBER, LABEL))),
    (kernels.FunctionKernel(lambda x, y: np.sqrt(abs(x - y)), "root", (0, 2)), Domain((NUMBER,))),
    (kernels.ClusteringLoss(((1.0,), (2.0,)), 0.75), Domain((NUMBER,))),
    (kernels.RankingLoss((0.5,), 1.5), Domain((NUMBER, LABEL))),
    (kernels.MetricLoss(((0.5,),), 1.25, 2.0), Domain((NUMBER, LABEL))),
]


def words(value):
    return "-".join(str(part) for part in value.to_dict().values()) if isinstance(value, Domain) is False else ""


def values(domain):
    """A few numbers of each column, ends among them."""
    return [
        np.arange(float(column.size)) if isinstance(column, Label) else np.array([0.0, 1, 3])
        for column in domain.columns
    ]


def some_rows(domain, count, seed=5):
    generator = np.random.default_rng(seed)
    return np.stack([generator.choice(each, count) for each in values(domain)], axis=-1)


@pytest.mark.parametrize(("kernel", "domain"), ONE_SAMPLE, ids=words)
def test_exact_values_are_means_over_pairs(kernel, domain):
    rows = some_rows(domain, 30)
    assert kernel.exact(rows) == pytest.approx(mean_over_pairs(kernel, rows), rel=1e-12)
    assert kernel.exact(rows[::-1]) == pytest.approx(kernel.exact(rows), rel=1e-12)


@pytest.mark.parametrize(("kernel", "domain"), ONE_SAMPLE, ids=words)
@pytest.mark.parametrize("bits", [1, 8, 30])
def test_whole_sums_are_the_mean_up_to_rounding(kernel, domain, bits):
    rows = some_rows(domain, 30)
    total, unit = kernels.numerator(kernel, rows, domain, bits=bits)
    scale = kernel.scale(domain, bits)
    assert isinstance(total, int)
    assert unit == scale.unit
    low, high = kernel.range(domain)
    counts = scale.swing <= 2
    assert scale.mean(total, math.comb(30, 2)) == pytest.approx(
        kernel.exact(rows), abs=1e-12 if counts and bits > 1 else 2 * (high - low) * 0.5**bits
    )


@pytest.mark.parametrize(("kernel", "domain"), ONE_SAMPLE, ids=words)
def test_no_replaced_record_changes_a_whole_sum_by_more_than_its_sensitivity(kernel, domain):
    """Every data set of four records on a few values, each record replaced by each value."""
    records, bits = 4, 3
    every = np.array(list(itertools.product(*values(domain))))
    every = every[:: max(1, len(every) // 5)] if len(every) > 6 else every
    sums = {}
    for chosen in itertools.product(range(len(every)), repeat=records):
        if list(chosen) == sorted(chosen):
            sums[chosen] = kernel.pair_sum(every[list(chosen)], domain, bits=bits)
    largest = 0
    for chosen, total in sums.items():
        for place, other in itertools.product(range(records), range(len(every))):
            changed = tuple(sorted((*chosen[:place], other, *chosen[place + 1 :])))
            largest = max(largest, abs(sums[changed] - total))
    sensitivity = kernel.scale(domain, bits).sensitivity(records - 1)
    assert 0 < largest <= sensitivity
    # a kernel that rounds once reaches its range on these values or comes close to it; the stated swing is not idle
    assert largest >= sensitivity / 3


def test_the_stated_sensitivities_are_reached():
    rows = np.zeros((4, 1))
    moved = np.array([[3.0], [0], [0], [0]])
    domain = Domain((NUMBER,))
    for kernel in (kernels.AbsoluteDifference(), kernels.HalfSquare(), kernels.PairMeanKernel()):
        change = kernel.pair_sum(moved, domain, bits=5) - kernel.pair_sum(rows, domain, bits=5)
        assert change == kernel.scale(domain, 5).sensitivity(3)
    pairs = np.array([[2.0, 2], [1, 1], [1, 1]])
    turned = np.array([[2.0, 0], [1, 1], [1, 1]])
    kendall = kernels.SignProduct()
    domain = Domain((NUMBER, SCORE))
    assert kendall.pair_sum(pairs, domain) - kendall.pair_sum(turned, domain) == kendall.scale(domain).sensitivity(2)


@pytest.mark.parametrize("ties", ["half", "strict"])
def test_the_sum_of_two_samples_changes_by_the_other_class_at_most(ties):
    kernel, domain = kernels.Greater(ties), Domain((NUMBER,))
    classes = np.array([1, 0, 0, 0])
    low, high = (np.array([[first], [1], [1], [1]]) for first in (0.0, 3.0))
    low_sum, high_sum = (kernel.pair_sum(rows, domain, classes=classes) for rows in (low, high))
    assert high_sum - low_sum == kernel.scale(domain).sensitivity(3)
    assert kernel.scale(domain).mean(high_sum, 3) == 1


coordinates = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=40)


@given(coordinates)
def test_counts_of_pairs_are_those_of_a_loop(listed):
    rows = np.array(listed, dtype=np.float64)
    expected = dict.fromkeys(("concordant", "discordant", "tied_first", "tied_second", "tied_both"), 0)
    for (x, y), (u, v) in itertools.combinations(listed, 2):
        expected["concordant"] += (x - u) * (y - v) > 0
        expected["discordant"] += (x - u) * (y - v) < 0
        expected["tied_first"] += x == u
        expected["tied_second"] += y == v
        expected["tied_both"] += (x, y) == (u, v)
    found = kernels.count_pairs(rows[:, 0], rows[:, 1])
    assert found == kernels.PairCounts(pairs=math.comb(len(listed), 2), **expected)


@pytest.mark.parametrize("levels", [3, 50, 10**9])
@pytest.mark.parametrize("count", [2, 3, 64, 1001])
def test_kendall_is_that_of_scipy(levels, count):
    generator = np.random.default_rng(count)
    first = generator.integers(levels, size=count).astype(np.float64)
    rows = np.stack([first, first // 2 + generator.integers(levels, size=count)], axis=-1)
    if len(set(rows[:, 0])) < 2 or len(set(rows[:, 1])) < 2:
        rows[0] = -1
        rows[1] = -2
    expected = kendalltau(rows[:, 0], rows[:, 1], variant="b").statistic
    assert kernels.KendallB().exact(rows) == pytest.approx(expected, abs=1e-13)
    table = kernels.count_pairs(rows[:, 0], rows[:, 1])
    gamma = (table.concordant - table.discordant) / (table.concordant + table.discordant)
    assert kernels.Gamma().exact(rows) == pytest.approx(gamma, abs=1e-13)


def test_somers_is_concordant_less_discordant_over_untied_pairs():
    generator = np.random.default_rng(2)
    rows = generator.integers(5, size=(400, 2)).astype(np.float64)
    found = kernels.SignProduct().exact(rows) / kernels.Untied((0,)).exact(rows)
    assert found == pytest.approx(somersd(rows[:, 0], rows[:, 1]).statistic, abs=1e-13)


@pytest.mark.parametrize("levels", [2, 20, 10**9])
def test_auc_is_that_of_scikit_learn(levels):
    generator = np.random.default_rng(levels % 97)
    classes = generator.integers(2, size=701)
    scores = (generator.integers(levels, size=701) + classes * (levels // 4)).astype(np.float64)
    expected = roc_auc_score(classes, scores)
    rows = scores[:, None]
    both = np.stack([scores, classes], axis=-1)
    assert kernels.measure_of("auc").exact(rows, classes) == pytest.approx(expected, abs=1e-13)
    assert kernels.measure_of("auc_private").exact(both) == pytest.approx(expected, abs=1e-13)
    factor = kernels.auc_factor(701, int(classes.sum()))
    assert kernels.ScoreOrder().exact(both) * factor == pytest.approx(expected, abs=1e-13)
    above = kernels.measure_of("auc", ties="strict").exact(rows, classes)
    below = kernels.measure_of("auc", ties="strict").exact(-rows, classes)
    assert above + (1 - above - below) / 2 == pytest.approx(expected, abs=1e-13)
    assert kernels.measure_of("auc_private", ties="strict").exact(both) == pytest.approx(above, abs=1e-13)


def test_variance_is_that_of_numpy_at_any_offset():
    values = np.random.default_rng(1).normal(size=500)
    assert kernels.HalfSquare().exact(values[:, None]) == np.var(values, ddof=1)
    shifted = kernels.AbsoluteDifference().exact(values[:, None] + 2**20)
    assert shifted == pytest.approx(kernels.AbsoluteDifference().exact(values[:, None]), rel=1e-9)


def test_many_records_do_not_overflow():
    """3 million values at 30 bits: their sum over pairs needs 72 bits."""
    count = 3_000_000
    rows = np.zeros((count, 1))
    rows[: count // 2] = 3.0
    domain = Domain((NUMBER,))
    pairs, half = math.comb(count, 2), count // 2
    assert kernels.AbsoluteDifference().pair_sum(rows, domain, bits=30) == half * half << 30
    assert kernels.HalfSquare().pair_sum(rows, domain, bits=30) == half * half << 60
    assert kernels.PairMeanKernel().pair_sum(rows, domain, bits=30) == (count - 1) * half << 30
    assert kernels.Equal().pair_sum(rows, domain) == pairs - half * half
    order = np.stack([rows[:, 0], -rows[:, 0]], axis=-1)
    assert kernels.SignProduct().pair_sum(order, domain) == -half * half


@given(st.lists(st.tuples(st.integers(-(2**32), 2**32), st.integers(0, 2**30)), max_size=30))
def test_dots_are_exact(pairs):
    left, right = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
    assert exact_dot(left, right) == sum(x * y for x, y in pairs)


def test_long_dots_are_exact():
    left, right = np.full(10_000, 2**32 - 1), np.full(10_000, 2**30)
    assert exact_dot(left, right) == 10_000 * (2**32 - 1) * 2**30


@given(st.lists(st.integers(0, 9), max_size=60))
def test_inversions_are_pairs_in_the_wrong_order(listed):
    expected = sum(x > y for x, y in itertools.combinations(listed, 2))
    assert ranks.inversions(np.array(listed, dtype=np.int64)) == expected


def test_the_scale_says_what_a_step_is():
    domain = Domain((Binning("x", Grid.linear(-1, 2, bins=2)),))
    assert kernels.AbsoluteDifference().scale(domain, 4) == kernels.Scale(Fraction(3, 16), Fraction(0), 16)
    assert kernels.PairMeanKernel().scale(domain, 4) == kernels.Scale(Fraction(3, 32), Fraction(-1), 16)
    assert kernels.HalfSquare().scale(domain, 4) == kernels.Scale(Fraction(9, 512), Fraction(0), 256)
    assert kernels.Greater("half").scale(domain) == kernels.Scale(Fraction(1, 2), Fraction(0), 2)
    with pytest.raises(ParameterError, match="bits must be a whole number from 1 to 30, got 31"):
        kernels.AbsoluteDifference().scale(domain, 31)


def test_values_outside_the_stated_range_do_not_count_for_more():
    """Whatever a kernel says, no pair adds more than its share, so the stated sensitivity holds."""
    wild = rounded_sum(lambda x, y: 1e9 * (x - y)[..., 0], np.array([[0.0], [1], [5]]), -1, 1, 4)
    assert wild == 0
    assert rounded_sum(lambda x, y: 1e9 * (y - x)[..., 0], np.array([[0.0], [1], [5]]), -1, 1, 4) == 3 * 16


def test_too_few_records_are_refused():
    for kernel, domain in ONE_SAMPLE:
        with pytest.raises(DataError, match="a mean over pairs needs at least two records, got 1"):
            kernel.exact(some_rows(domain, 1))
    rows = np.zeros((3, 1))
    with pytest.raises(DataError, match="the negative class has no record"):
        kernels.Greater().exact(rows, np.ones(3, dtype=np.int64))
    with pytest.raises(DataError, match="the positive class has no record"):
        kernels.Greater().exact(rows, np.zeros(3, dtype=np.int64))
    with pytest.raises(ParameterError, match="needs the class of each record"):
        kernels.Greater().exact(rows)
    with pytest.raises(DataError, match="an AUC needs a record of each class"):
        kernels.auc_factor(5, 5)


def test_unusable_parameters_are_refused():
    with pytest.raises(ParameterError, match="ties must be half or strict, got 'whole'"):
        kernels.Greater("whole")
    with pytest.raises(ParameterError, match="ties must be"):
        kernels.ScoreOrder("none")
    for places in ((), (0, 0), (0, 1, 2), (-1,), (True,), [0]):
        with pytest.raises(ParameterError, match="one or two different places of columns"):
            kernels.Untied(places)
    with pytest.raises(ParameterError, match="classes must be a whole number from 2 to 10, got 1"):
        kernels.InOrder(1)
