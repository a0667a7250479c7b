import itertools
import math

import numpy as np
import pytest
from helpers.scope import is_everything
from helpers.scope import size as runs_of
from helpers.trees import ArrayTree
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from ogive.errors import ParameterError
from ogive.statistics.ustatistic.trees import (
    NodeNoise,
    all_bound,
    all_nodes_variance,
    auc_of_trees,
    best_a,
    closed_form_a,
    mse_bound,
    sizes_of,
    walk,
)

POSITIVE = ArrayTree(20, [np.array([6.5, 13.0]), np.array([1.0, 5.0, -2.0, 16.0])], (NodeNoise(9.0),) * 2)
NEGATIVE = ArrayTree(15, [np.array([11.0, 4.5]), np.array([8.0, 2.0, 3.0, 1.0])], (NodeNoise(4.0),) * 2)


def exact_levels(scores, depth, branching):
    leaves = np.bincount(scores, minlength=branching**depth).astype(float)
    return [leaves.reshape(branching**level, -1).sum(axis=1) for level in range(1, depth + 1)]


def exact_tree(scores, depth, branching, noise=0.0):
    return ArrayTree(len(scores), exact_levels(scores, depth, branching), (NodeNoise(noise),) * depth, branching)


def mann_whitney(positive, negative, tie):
    return sum((s > t) + tie * (s == t) for s in positive for t in negative)


def recursion(positive, negative, a, variant, tie, truth=None):
    """The estimate as it is written in the methods file, node by node; with `truth`, sums of the true counts."""
    depth, sums = len(positive.levels), truth or (positive, negative)
    root_v, v = (positive.noise[0].variance, negative.noise[0].variance), None

    def children(tree, level, node):
        return [tree.levels[level][node * tree.branching + i] for i in range(tree.branching)]

    def estimate(level, node, up, down):
        nonlocal v
        v = root_v if level == 0 else (positive.noise[level - 1].variance, negative.noise[level - 1].variance)
        if level == depth:
            return tie * sums[0].levels[-1][node] * sums[1].levels[-1][node]
        x, y = children(sums[0], level, node), children(sums[1], level, node)
        if a is not None:
            large = max(up, math.sqrt(a * v[0]) / 2) * max(down, math.sqrt(a * v[1]) / 2)
            if large < a * math.sqrt(v[0] * v[1]):
                return sum(x) * sum(y) / 2 if variant == "half" else 0.0
        found = sum(x[i] * y[j] for i in range(len(x)) for j in range(i))
        ups, downs = children(positive, level, node), children(negative, level, node)
        for i in range(positive.branching):
            found += estimate(level + 1, node * positive.branching + i, ups[i], downs[i])
        return found

    return estimate(0, 0, positive.records, negative.records)


@pytest.mark.parametrize("a", [1.5, 4.0])
@pytest.mark.parametrize("variant", ["half", "zero"])
@pytest.mark.parametrize(("ties", "pairs"), [("strict", 231), ("half", 245)])
def test_the_methods_files_trees_are_looked_into_everywhere(a, variant, ties, pairs):
    found = walk(POSITIVE, NEGATIVE, a=a, variant=variant, ties=ties)
    assert found.pairs == pytest.approx(pairs, abs=1e-12)
    assert found.recursed == (1, 2)
    assert found.discarded == (0, 0)


@pytest.mark.parametrize("ties", ["strict", "half"])
@pytest.mark.parametrize(("variant", "pairs"), [("half", 201), ("zero", 143)])
def test_both_children_of_the_methods_files_trees_are_discarded_at_30(ties, variant, pairs):
    found = walk(POSITIVE, NEGATIVE, a=30.0, variant=variant, ties=ties)
    assert found.pairs == pytest.approx(pairs, abs=1e-12)
    assert found.discarded == (0, 2)
    assert found.discarded_pairs == pytest.approx(2 * (201 - 143))


def test_exact_trees_of_the_methods_file():
    assert [list(level) for level in exact_levels(np.array([0, 1, 2, 2, 3]), 2, 2)] == [[2, 3], [1, 1, 2, 1]]
    positive, negative = exact_tree(np.array([1, 2, 3, 3]), 2, 2), exact_tree(np.array([0, 2, 3]), 2, 2)
    assert walk(positive, negative, a=None, variant="half", ties="strict").pairs == 6
    assert walk(positive, negative, a=None, variant="half", ties="half").pairs == 7.5
    assert auc_of_trees(
        exact_tree(np.array([1, 2, 3, 3]), 2, 2, 1e-9), exact_tree(np.array([0, 2, 3]), 2, 2, 1e-9), prune=False
    ).value == pytest.approx(0.625)


@settings(max_examples=80, deadline=None)
@given(st.integers(2, 8), st.integers(1, 3), st.data())
def test_without_noise_every_tree_gives_the_mann_whitney_statistic(branching, depth, data):
    scores = st.lists(st.integers(0, branching**depth - 1), min_size=1, max_size=12)
    up, down = np.array(data.draw(scores)), np.array(data.draw(scores))
    positive, negative = exact_tree(up, depth, branching), exact_tree(down, depth, branching)
    for ties, tie in (("half", 0.5), ("strict", 0.0)):
        found = walk(positive, negative, a=None, variant="half", ties=ties)
        assert found.pairs == pytest.approx(mann_whitney(up, down, tie), abs=1e-9)
        assert found.variance == 0
        assert found.discarded_pairs == 0


def test_without_noise_the_auc_is_that_of_scikit_learn():
    generator = np.random.default_rng(1)
    labels = generator.integers(0, 2, 500)
    scores = generator.binomial(31, 0.4 + 0.2 * labels)
    trees = [exact_tree(scores[labels == each], 5, 2, 1e-9) for each in (1, 0)]
    assert auc_of_trees(*trees, prune=False).value == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


@settings(max_examples=80, deadline=None)
@given(
    st.integers(2, 5), st.integers(1, 3), st.floats(1.01, 12), st.integers(0, 2**32), st.sampled_from(["half", "zero"])
)
def test_levels_at_once_give_what_the_recursion_gives(branching, depth, a, seed, variant):
    generator = np.random.default_rng(seed)
    trees = []
    for scale in (9.0, 4.0):
        levels = [generator.normal(10 / level, math.sqrt(scale), branching**level) for level in range(1, depth + 1)]
        trees.append(ArrayTree(15, levels, (NodeNoise(scale),) * depth, branching))
    for ties, tie in (("half", 0.5), ("strict", 0.0)):
        found = walk(*trees, a=a, variant=variant, ties=ties)
        assert found.pairs == pytest.approx(recursion(*trees, a, variant, tie), rel=1e-9, abs=1e-9)


def noisy_trees(up, down, depth, branching, widths):
    """Every outcome of node noise that is +width or -width, fairly and independently."""
    exact = [exact_tree(scores, depth, branching) for scores in (up, down)]
    sizes = [branching**level for level in range(1, depth + 1)]
    cuts = np.cumsum(sizes)[:-1]
    signs = [np.array(each) for each in itertools.product([-1, 1], repeat=sum(sizes))]
    sides = []
    for tree, width in zip(exact, widths, strict=True):
        noise = (NodeNoise(width**2),) * depth
        sides.append(
            [
                ArrayTree(
                    tree.records,
                    [level + width * part for level, part in zip(tree.levels, np.split(sign, cuts), strict=True)],
                    noise,
                    branching,
                )
                for sign in signs
            ]
        )
    return exact, itertools.product(*sides)


@pytest.mark.each_value
@pytest.mark.parametrize("ties", ["half", "strict"])
@pytest.mark.parametrize(
    ("branching", "depth"), [pytest.param(2, 2, marks=pytest.mark.everything), (3, 1), (4, 1), (5, 1)]
)
def test_looking_into_everything_is_unbiased_and_so_is_its_variance(branching, depth, ties):
    size = branching**depth
    up, down = np.arange(7) * 5 % size, np.arange(5) * 3 % size
    outcomes, again = itertools.tee(noisy_trees(up, down, depth, branching, (1.5, 0.7))[1])
    found = [walk(*trees, a=None, variant="half", ties=ties) for trees in outcomes]
    pairs, variances = (np.array([getattr(each, name) for each in found]) for name in ("pairs", "variance"))
    truth = mann_whitney(up, down, 0.5 if ties == "half" else 0.0)
    assert pairs.mean() == pytest.approx(truth, rel=1e-9)
    assert variances.mean() == pytest.approx(pairs.var(), rel=1e-9)
    # control: the term of the last level without its ties, as the paper has it, is another one
    other = "strict" if ties == "half" else "half"
    plain = [walk(*trees, a=None, variant="half", ties=other).variance for trees in itertools.islice(again, 0, None, 7)]
    assert abs(np.mean(plain) - pairs.var()) > 0.05 * pairs.var()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("variant", ["half", "zero"])
@pytest.mark.parametrize("ties", ["half", "strict"])
def test_what_is_added_below_a_threshold_is_unbiased_given_what_was_looked_into(variant, ties):
    up, down = np.array([0, 1, 3, 3, 3, 3, 2]), np.array([0, 0, 0, 1, 2])
    exact, outcomes = noisy_trees(up, down, 2, 2, (1.5, 0.7))
    tie, a = (0.5 if ties == "half" else 0.0), 4.0
    errors, variances, discarded = [], [], 0
    for trees in outcomes:
        found = walk(*trees, a=a, variant=variant, ties=ties)
        errors.append(found.pairs - recursion(*trees, a, variant, tie, truth=exact))
        variances.append(found.variance)
        discarded += found.discarded[1]
    assert discarded > 0
    assert np.mean(errors) == pytest.approx(0, abs=1e-9)
    assert np.mean(np.square(errors)) == pytest.approx(np.mean(variances), rel=1e-9)
    # control: products of the nodes' own counts, which were selected for being small, are not unbiased
    again = noisy_trees(up, down, 2, 2, (1.5, 0.7))[1]
    selected = [_own_products(*trees, a) for trees in itertools.islice(again, 0, None, 1 if is_everything() else 7)]
    assert abs(np.mean(selected)) > 0.05


def _own_products(positive, negative, a):
    """Over discarded nodes of level 1: what their own counts' product is above the true one."""
    least = [math.sqrt(a * tree.noise[0].variance) / 2 for tree in (positive, negative)]
    exact = exact_levels(np.array([0, 1, 3, 3, 3, 3, 2]), 2, 2)[0] * exact_levels(np.array([0, 0, 0, 1, 2]), 2, 2)[0]
    x, y = positive.levels[0], negative.levels[0]
    dropped = np.maximum(x, least[0]) * np.maximum(y, least[1]) < 4 * least[0] * least[1]
    return float((x * y - exact)[dropped].sum())


def normal_trees(exact, generator, widths):
    return [
        ArrayTree(
            tree.records,
            [level + generator.normal(0, width, len(level)) for level in tree.levels],
            (NodeNoise(width**2),) * len(tree.levels),
            tree.branching,
        )
        for tree, width in zip(exact, widths, strict=True)
    ]


@pytest.mark.each_value
@pytest.mark.distribution
@pytest.mark.parametrize("shape", ["apart", "alike", "close"])
@pytest.mark.parametrize(("branching", "depth"), [(2, 6), (4, 3)])
@pytest.mark.parametrize("variant", ["half", "zero"])
def test_errors_stay_below_what_is_proved(shape, branching, depth, variant):
    generator = np.random.default_rng(7)
    size, n = branching**depth, 4000
    up, down = {
        "apart": (np.full(n, size - 1), np.zeros(n, dtype=int)),
        "alike": (generator.integers(0, size, n), generator.integers(0, size, n)),
        "close": (np.ones(n, dtype=int), np.zeros(n, dtype=int)),
    }[shape]
    exact = [exact_tree(scores, depth, branching) for scores in (up, down)]
    truth = recursion(*exact, None, variant, 0.5) / n**2
    widths = (math.sqrt(4.68 * depth * n),) * 2
    case = sizes_of(*normal_trees(exact, generator, widths), variant, "half")
    a, runs = best_a(case), runs_of(200, part=60)
    found = [
        auc_of_trees(*normal_trees(exact, generator, widths), a=a, variant=variant, prune=True) for _ in range(runs)
    ]
    errors = np.square([each.value - truth for each in found])
    assert errors.mean() + 5 * errors.std() / math.sqrt(runs) < mse_bound(case, a)
    assert found[0].bound("population") == pytest.approx(mse_bound(case, a))
    # control: a bound for a tenth of the variance is not one, where all records part at every level
    if shape == "apart":
        small = sizes_of(*normal_trees(exact, generator, (widths[0] / math.sqrt(50),) * 2), variant, "half")
        assert errors.mean() > mse_bound(small, best_a(small))


@pytest.mark.parametrize("ties", ["half", "strict"])
@pytest.mark.parametrize(("branching", "depth"), [(2, 3), (3, 2), (5, 1)])
def test_the_bound_of_looking_into_everything_is_attained_by_classes_in_the_outermost_leaves(branching, depth, ties):
    up, down = np.full(7, branching**depth - 1), np.zeros(5, dtype=int)
    trees = [exact_tree(scores, depth, branching, noise) for scores, noise in ((up, 2.0), (down, 3.0))]

    def pairs():
        return walk(*trees, a=None, variant="half", ties=ties).pairs

    exact, linear = pairs(), 0.0
    for tree in trees:
        for level in tree.levels:
            for node in range(level.size):
                level[node] += 1
                linear += tree.noise[0].variance * (pairs() - exact) ** 2
                level[node] -= 1
    case = sizes_of(*trees, "half", ties)
    assert all_bound(case) == pytest.approx(linear / 35**2 + all_nodes_variance(case))


def test_auto_prunes_where_looking_into_everything_costs_more_than_it_may_bias():
    generator = np.random.default_rng(8)
    for depth, pruned in ((4, False), (14, True)):
        size, n = 2**depth, 3000
        exact = [exact_tree(generator.integers(0, size, n), depth, 2) for _ in range(2)]
        trees = normal_trees(exact, generator, (math.sqrt(4.68 * depth * n),) * 2)
        found = auc_of_trees(*trees)
        assert (found.a is not None) is pruned
        assert (found.bias_bound > 0) is pruned
        assert (sum(found.discarded) > 0) is pruned


def test_thresholds_by_name_and_by_number():
    case = sizes_of(POSITIVE, NEGATIVE)
    assert auc_of_trees(POSITIVE, NEGATIVE, prune=True).a == best_a(case)
    assert auc_of_trees(POSITIVE, NEGATIVE, a=30, prune=True).value == pytest.approx(201 / 300)
    c = max(9 / 20, 4 / 15) / 2
    assert auc_of_trees(POSITIVE, NEGATIVE, a="paper", prune=True).a == pytest.approx(closed_form_a(20, 15, c, 2))


def test_the_result_tells_what_it_knows():
    found = auc_of_trees(POSITIVE, NEGATIVE, a=30.0, prune=True, variant="zero")
    assert found.standard_error == pytest.approx(math.sqrt(1729) / 300)
    assert found.discarded_share == pytest.approx(116 / 300)
    assert found.bias_estimate == pytest.approx(116 / 300)
    assert auc_of_trees(POSITIVE, NEGATIVE, a=30.0, prune=True).bias_estimate == pytest.approx(58 / 300)
    assert found.sampling_variance == pytest.approx(found.value * (1 - found.value) / 15)
    assert found.clipped == found.value
    large = ArrayTree(2, [np.array([-3.0, 9.0])], (NodeNoise(1.0),))
    assert auc_of_trees(large, ArrayTree(2, [np.array([9.0, -3.0])], (NodeNoise(1.0),)), prune=False).clipped == 1
    assert auc_of_trees(POSITIVE, NEGATIVE, prune=False).bound() > 0


def test_noise_that_depends_on_the_count_is_estimated_without_bias():
    noise, held = NodeNoise(5.0, -1.0, -0.25, 6.0), 2.0
    variance = 5 - held - 0.25 * held**2
    outcomes = held + math.sqrt(variance) * np.array([-1.0, 1.0])
    assert noise.of(outcomes).mean() == pytest.approx(variance)
    assert noise.most == 6
    assert NodeNoise(5.0).most == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"a": 1.0}, "a must be 'auto', 'paper' or a number above 1"),
        ({"a": "best"}, "a must be 'auto', 'paper' or a number above 1"),
        ({"a": True}, "a must be 'auto', 'paper' or a number above 1"),
        ({"a": math.nan}, "a must be 'auto', 'paper' or a number above 1"),
        ({"prune": "no"}, "prune must be 'auto', True or False"),
        ({"variant": "most"}, "variant must be half or zero"),
        ({"ties": "none"}, "ties must be half or strict"),
    ],
)
def test_refuses_options_that_there_are_not(arguments, message):
    with pytest.raises(ParameterError, match=message):
        auc_of_trees(POSITIVE, NEGATIVE, **arguments)


def test_refuses_trees_of_different_form():
    flat = ArrayTree(15, [np.array([11.0, 4.0])], (NodeNoise(4.0),))
    with pytest.raises(ParameterError, match="as many levels and children"):
        auc_of_trees(POSITIVE, flat)
