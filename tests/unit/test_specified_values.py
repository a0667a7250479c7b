"""The values that the specification of pairwise statistics prints (its section 12), by the code that releases run.

Kernels are read off grids, reports are added up by oracles, and statistics are computed from the sums, as for real
records; nothing is derived here. Values of the tests' own small matrices stand beside the functions that they are of.
Numbers in parentheses are those of the table. Its rows 26 and 28 to 36 are of protocols between two parties.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.conditional import conditional
from helpers.paper_bounds import boxed_bound, root_a
from helpers.trees import ArrayTree

import ogive
from ogive import kernels
from ogive.accounting import per_report_epsilon
from ogive.columns import Binning, Categories, Domain
from ogive.local import HaarOracle, PublicClasses, RandomizedResponse, TreeOracle, UnaryOracle, design_tree
from ogive.statistics.ustatistic import means
from ogive.statistics.ustatistic import means as bounds_generic
from ogive.statistics.ustatistic import means as predicted
from ogive.statistics.ustatistic.laws import law_of
from ogive.statistics.ustatistic.means import hoeffding
from ogive.statistics.ustatistic.trees import (
    NodeNoise,
    auc_of_trees,
    closed_form_a,
    mse_bound,
    node_noise,
    sizes_of,
    threshold_of,
)

GINI = kernels.AbsoluteDifference()
KRR = RandomizedResponse(3, 1)
CERTAIN = 64  # an epsilon at which reports say the truth but for one in 2^64


def grid(bins):
    return Domain((Binning("x", ogive.Grid.linear(0, 1, bins=bins)),))


def letters(*names):
    return Domain((Categories("x", names),))


def all_indices(oracle, symbols):
    """Sums of reports that ask about every index of every level, and how often each person is asked at each level."""
    sums = np.zeros(oracle.shape, dtype=np.int64)
    for level, exponent in enumerate(oracle.layout.exponents):
        number = int(np.flatnonzero(oracle.levels_of.of(np.arange(99)) == level)[0])
        for symbol in symbols:
            node = symbol // oracle.branching ** (oracle.levels - level - 1)
            for index in range(1 << exponent):
                sign = (index & node).bit_count() & 1
                payload = np.array([[index << 1 | sign]], dtype=np.uint8)
                assert oracle.add(sums, np.array([number]), payload).all()
    return sums


def test_chances_of_randomized_response():  # 1, 2
    four, three = RandomizedResponse(4, 1), RandomizedResponse(3, 1)
    other = (1 - four.keep) / 4
    assert [float(each) for each in (1 - four.keep, four.keep + other, other)] == pytest.approx(
        [0.6995108181, 0.4753668864, 0.1748777045], abs=1e-10
    )
    assert float(1 - three.keep) == pytest.approx(0.6358246729, abs=1e-10)


def test_means_from_randomized_responses():  # 3, 7
    matrices = [GINI.matrix(grid(3), "midpoint"), GINI.matrix(grid(3)), kernels.Equal().matrix(letters("a", "b", "c"))]
    spreads = [GINI.spread(grid(3)), GINI.spread(grid(3)), np.zeros((3, 3)), np.zeros((3, 3))]
    found = means.means(KRR, np.array([3, 1, 2]), [*matrices, np.ones((3, 3))], spreads)
    assert found.values[:3] == pytest.approx([0.7048907083, 0.7142986055, -0.1693421485], abs=1e-10)
    assert found.values[3] == 1
    assert found.quantization**2 == pytest.approx([0.1252229568, 0.1252229568, 0, 0], abs=1e-10)


def test_the_mean_and_the_conditional_variance_of_known_records():  # 4
    counts, midpoint = np.array([3, 1, 2]), GINI.matrix(grid(3), "midpoint")
    assert means.means(RandomizedResponse(3, CERTAIN), counts, [midpoint]).values == pytest.approx([0.4222222222])
    law = law_of(KRR)
    prepared = [law.prepare(each) for each in (midpoint, kernels.Equal().matrix(letters("a", "b", "c")))]
    stated = conditional(law, prepared, counts.astype(float))
    assert np.diagonal(stated) == pytest.approx([0.1133786281, 0.7454320152], abs=1e-10)


def test_errors_before_anything_is_collected():  # 5, 6
    shares = np.array([0.5, 0.2, 0.3])

    def stated(records):
        return predicted.variance(KRR, GINI.matrix(grid(3), "midpoint"), shares, records)

    assert stated(100) == pytest.approx(0.001452335094, rel=1e-9)
    # the two variances of Lemma 1, from its values for two numbers of records
    keep, small, large = float(KRR.keep), stated(2), stated(10**6)
    pairs = 10**6 * (10**6 - 1) / 2
    terms = np.linalg.solve(
        [[1 / keep**2, 1 / keep**4], [(2 * 10**6 - 3) / keep**2, 1 / keep**4]], [small, large * pairs]
    )
    assert terms == pytest.approx([0.003604167816, 0.03228302578], rel=1e-7)
    assert bounds_generic.variance_bound(3, 1, 100) == pytest.approx(0.08308494871, rel=1e-9)
    assert bounds_generic.variance_bound(10, 1, 10**4) == pytest.approx(0.004688077064, rel=1e-9)


def test_an_auc_from_randomized_responses():  # 8
    found = means.two_sample_means(
        PublicClasses(KRR, 2), np.array([[3, 2, 1], [1, 2, 4]]), [kernels.Greater().matrix(grid(3))]
    )
    assert found.values == pytest.approx([1.167457919], abs=1e-9)


def test_nodes_of_a_tree():  # 9
    oracle, scores = TreeOracle(4, CERTAIN), [0, 1, 2, 2, 3]
    counts = oracle.counts(all_indices(oracle, scores))
    # 2 and 4 indices a person, and everybody stands for those of the other level
    assert [(each * size / 30).tolist() for each, size in zip(counts, (5, 5), strict=True)] == [[2, 3], [1, 1, 2, 1]]


def test_exact_aucs():  # 10
    scores, classes = np.array([[1.0], [2], [3], [3], [0], [2], [3]]), np.array([1, 1, 1, 1, 0, 0, 0])
    half, strict = (kernels.measure_of(kernels.Greater(ties)).exact(scores, classes) for ties in ("half", "strict"))
    assert (12 * strict, 12 * half, half) == (6, 7.5, 0.625)


def test_aucs_of_noisy_trees():  # 11, 12
    levels = [[6.5, 13.0], [1.0, 5.0, -2.0, 16.0]], [[11.0, 4.5], [8.0, 2.0, 3.0, 1.0]]
    up = ArrayTree(20, [np.array(each) for each in levels[0]], (NodeNoise(9.0),) * 2)
    down = ArrayTree(15, [np.array(each) for each in levels[1]], (NodeNoise(4.0),) * 2)

    def pairs(a, **options):
        return 300 * auc_of_trees(up, down, a=a, prune=True, **options).value

    for a in (1.5, 4):
        for variant in ("half", "zero"):
            assert pairs(a, ties="strict", variant=variant) == pytest.approx(231)
            assert pairs(a, ties="half", variant=variant) == pytest.approx(245)
    for ties in ("half", "strict"):
        assert pairs(30, ties=ties, variant="half") == pytest.approx(201)
        assert pairs(30, ties=ties, variant="zero") == pytest.approx(143)
    assert threshold_of(sizes_of(up, down), 30) * 6 == 180


def test_hadamard_reports():  # 13, 14, 15
    oracle = TreeOracle(4, Fraction(math.log(3)))
    number = int(np.flatnonzero(oracle.levels_of.of(np.arange(9)) == 1)[0])
    sums = np.zeros(oracle.shape, dtype=np.int64)
    for index, negative in ((0, 0), (1, 1), (2, 0), (3, 0), (3, 1), (1, 0), (2, 0)):
        assert oracle.add(sums, np.array([number]), np.array([[index << 1 | negative]], dtype=np.uint8)).all()
    assert oracle.layout.tally(sums, 1).tolist() == [1, 0, 2, 0]
    sums[-2] = 7  # as many reports of the other level: everybody is counted twice
    assert oracle.counts(sums)[1] / 2 == pytest.approx([6, 6, -2, -2])
    squares = [TreeOracle(4, epsilon).scale ** 2 for epsilon in ("0.5", 1, 2, 4)]
    assert squares == pytest.approx([16.67079236, 4.682694377, 1.724061661, 1.07602183], rel=1e-9)
    alone = np.zeros(TreeOracle(2, 1).shape, dtype=np.int64)
    alone[-1] = 1
    noise = node_noise(TreeOracle(2, 1), alone)[0]
    assert noise.of(np.array([1.0, 0.0])) == pytest.approx([3.682694377, 4.682694377], rel=1e-9)


def test_bounds_of_aucs():  # 16, 17, 18
    case = 70_000, 30_000, TreeOracle(1 << 10, 1).scale ** 2, 10
    half, zero = closed_form_a(*case), closed_form_a(*case, variant="zero")
    assert (half, zero, root_a(*case)) == pytest.approx((2.302716293, 1.166070429, 2.05168956), abs=2e-9)
    noise = [NodeNoise(case[2] * 10 * records) for records in case[:2]]
    trees = [
        ArrayTree(records, [np.zeros(2**level) for level in range(1, 11)], (each,) * 10)
        for records, each in zip(case[:2], noise, strict=True)
    ]
    sizes = sizes_of(*trees, ties="strict")
    assert boxed_bound(*case, half, ties="strict", constants="paper") == pytest.approx(0.1405965254, abs=1e-10)
    assert mse_bound(sizes, half) == pytest.approx(0.1720829796, abs=1e-10)
    assert boxed_bound(*case, zero, variant="zero", ties="strict") == pytest.approx(0.1289265415, abs=1e-10)
    best = threshold_of(sizes, "auto")
    assert mse_bound(sizes, best) <= mse_bound(sizes, half)
    assert boxed_bound(*case, 2.0744741, ties="strict") == pytest.approx(0.1721862308, abs=1e-10)
    for other in (2.0734, 2.0755):
        assert boxed_bound(*case, other, ties="strict") > 0.1721862308


@pytest.mark.parametrize(
    ("levels", "delta", "exact", "advanced"),
    [
        (16, "1e-8", 0.06252503847, 0.03536213684),
        (64, "1e-8", 0.0253215331, 0.01768106842),
        (100, "1e-6", 0.0240110804, 0.01598332167),
    ],
)
def test_shares_of_a_budget(levels, delta, exact, advanced):  # 19, 20
    assert float(per_report_epsilon(1, delta, levels, "exact")) == pytest.approx(exact, rel=1e-9)
    assert float(per_report_epsilon(1, delta, levels, "advanced")) == pytest.approx(advanced, rel=2e-9)
    if levels == 16:
        tree = design_tree(1 << 16, 1, delta, split="budget", composition="exact")
        assert float(tree.level_epsilon) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "options", "rows", "value"),
    [
        ("kendall", {}, [(1, 1), (2, 3), (2, 2), (3, 3), (4, 2)], 0.3),  # 21
        ("kendall_b", {}, [(1, 1), (2, 3), (2, 2), (3, 3), (4, 2)], 0.3535533906),
        ("gini", {}, [(1,), (2,), (4,), (7,)], 10 / 3),  # 22
        ("gini_coefficient", {}, [(1,), (2,), (4,), (7,)], 0.3571428571),
        ("gini_coefficient", {"corrected": True}, [(1,), (2,), (4,), (7,)], 0.4761904762),
        ("collision", {}, [(0,), (0,), (1,), (1,), (1,), (2,)], 1.32175584),  # 23
    ],
)
def test_exact_values(name, options, rows, value):
    measure = kernels.measure_of(name, **options)
    assert measure.exact(np.array(rows, dtype=float)) == pytest.approx(value, abs=1e-9)


def test_a_volume_of_three_classes():  # 24
    histograms = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 1, 0, 1]]) / 2
    assert kernels.vus(histograms) == pytest.approx(0.5208333333, abs=1e-10)
    assert kernels.vus_tree(histograms) == pytest.approx(25 / 48, abs=1e-15)


def test_the_sampling_error_of_evenly_spread_records():  # 25, 27
    def stated(records):
        # what bins hide of a variance falls as their width squared, so two widths tell the limit
        coarse, fine = (
            hoeffding([GINI.matrix(grid(bins))], np.full(bins, 1 / bins), records)[0, 0] for bins in (200, 400)
        )
        return (4 * fine - coarse) / 3

    even = np.full(200, 1 / 200)
    assert even @ GINI.matrix(grid(200)) @ even == pytest.approx(1 / 3, abs=1e-12)
    assert stated(2) == pytest.approx(1 / 18, rel=1e-7)
    assert stated(10**12) * 10**12 / 4 == pytest.approx(1 / 180, rel=1e-8)
    assert stated(1000) == pytest.approx(2.231120009e-5, rel=1e-8)


def test_projected_unary_reports():  # 37
    oracle, sums = UnaryOracle(3, 1), np.array([4, 2, 3, 6])
    assert law_of(oracle).counts(sums) == pytest.approx([6.32790683, -2.32790683, 2], abs=1e-8)
    found = means.means(oracle, sums, [GINI.matrix(grid(3), "midpoint")])
    assert found.values == pytest.approx([0.8514044236], abs=1e-10)


def test_haar_reports():  # 38, 39
    oracle, midpoint = HaarOracle(4, 1, weights="uniform"), GINI.matrix(grid(4), "midpoint")
    level = oracle.assignment.of(np.arange(40))
    coarse, fine = np.flatnonzero(level == 0), np.flatnonzero(level == 1)
    numbers = np.array([coarse[0], fine[0], fine[1], coarse[1]])
    sums = np.zeros(oracle.shape, dtype=np.int64)
    assert oracle.add(sums, numbers, np.array([[0], [1 << 1 | 1], [0], [0]], dtype=np.uint8)).all()
    assert oracle.theta(sums) == pytest.approx([8.65581365, 0, 8.65581365], abs=1e-8)
    assert means.means(oracle, sums, [midpoint]).values == pytest.approx([-1.1949739038], abs=1e-10)
    prepared = law_of(oracle).prepare(midpoint)
    assert prepared.matrix.mean() == 0.34375
    assert prepared.left.mean(axis=1) == pytest.approx([0, 0.0625, -0.0625], abs=1e-15)
    assert np.diagonal(prepared.both) == pytest.approx([-0.15625, -0.0625, -0.0625], abs=1e-15)
