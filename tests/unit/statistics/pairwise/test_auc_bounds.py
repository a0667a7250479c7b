import math

import numpy as np
import pytest
from helpers.paper_bounds import boxed_bound, corollary_bound, root_a
from helpers.scope import size
from helpers.trees import ArrayTree
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.errors import ParameterError
from ogive.statistics.ustatistic.trees import (
    NodeNoise,
    Sizes,
    all_nodes_variance,
    best_a,
    closed_form_a,
    error_bound,
    least_a,
    looked_into,
    lost_bound,
    mse_bound,
    walk,
)

C = 4.682694377
CASE = (70_000, 30_000, C, 10)


def sizes(positives=70_000, negatives=30_000, c=C, levels=10, **more):
    return Sizes(positives, negatives, c * positives * levels, c * negatives * levels, levels, **more)


def test_closed_forms_of_the_methods_file():
    assert closed_form_a(*CASE) == pytest.approx(2.302716293, abs=1e-9)
    assert root_a(*CASE) == pytest.approx(2.05168956, abs=1e-8)
    assert closed_form_a(*CASE, variant="zero") == pytest.approx(1.166070429, abs=1e-9)


def test_bounds_of_the_methods_file():
    a, zero = closed_form_a(*CASE), closed_form_a(*CASE, variant="zero")
    assert boxed_bound(*CASE, a, ties="strict", constants="paper") == pytest.approx(0.1405965254, abs=1e-10)
    assert mse_bound(sizes(ties="strict"), a) == pytest.approx(0.1720829796, abs=1e-10)
    assert boxed_bound(*CASE, zero, variant="zero", ties="strict") == pytest.approx(0.1289265415, abs=1e-10)


def test_the_least_of_the_boxed_bound():
    around = np.linspace(2.07, 2.08, 1001)
    found = [boxed_bound(*CASE, a, ties="strict") for a in around]
    assert around[np.argmin(found)] == pytest.approx(2.0744741, abs=1e-5)
    assert min(found) == pytest.approx(0.1721862308, abs=1e-10)


def test_corollary_4_is_the_papers_theorem_at_its_threshold_and_its_14_is_too_small():
    a = closed_form_a(*CASE)
    at_threshold = boxed_bound(*CASE, a, ties="strict", constants="paper")
    assert corollary_bound(*CASE) == pytest.approx(at_threshold, rel=1e-12)
    assert corollary_bound(*CASE, constants="paper") < 0.999 * at_threshold


def test_corollary_5_is_the_theorem_at_its_threshold():
    a = closed_form_a(*CASE, variant="zero")
    at_threshold = boxed_bound(*CASE, a, variant="zero", ties="strict")
    assert corollary_bound(*CASE, variant="zero") == pytest.approx(at_threshold, rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(50, 10**6),
    st.integers(50, 10**6),
    st.floats(1.01, 100),
    st.integers(2, 30),
    st.floats(1.1, 20),
    st.sampled_from(["half", "zero"]),
    st.sampled_from(["half", "strict"]),
)
def test_the_boxed_form_is_above_the_general_one(positives, negatives, c, levels, a, variant, ties):
    exact = sizes(positives, negatives, c, levels, variant=variant, ties=ties)
    boxed = boxed_bound(positives, negatives, c, levels, a, variant=variant, ties=ties)
    # the boxed one takes B as if it were above 1, and by its largest value over the classes' sizes
    if looked_into(exact, a) > 1:
        assert mse_bound(exact, a) <= boxed * (1 + 1e-9)
    if positives == negatives and looked_into(exact, a) > 1:
        assert mse_bound(exact, a) == pytest.approx(boxed, rel=1e-9)


@pytest.mark.parametrize("branching", range(2, 9))
@pytest.mark.parametrize("variant", ["half", "zero"])
def test_the_best_threshold_is_the_least_over_a_grid(branching, variant):
    case = sizes(5000, 800, levels=6, branching=branching, variant=variant)
    found = mse_bound(case, best_a(case))
    least = math.sqrt(least_a(branching))
    grid = [(least + gap) ** 2 for gap in np.exp(np.linspace(-10, 8, 4000))]
    assert found <= min(mse_bound(case, a) for a in grid) * (1 + 1e-6)


def test_nothing_is_proved_below_the_least_threshold():
    for branching in range(2, 9):
        case = sizes(branching=branching)
        assert mse_bound(case, least_a(branching) * (1 - 1e-9)) == math.inf
        assert math.isfinite(mse_bound(case, least_a(branching) * 1.01))


def gambling_tree(generator, depth, branching, jump):
    """Nodes of nobody, whose estimates are rarely large, of variance 1 and mean 0; below a root of three."""
    chance = 1 / (1 + jump**2)
    levels = [np.where(generator.random(branching**level) < chance, jump, -1 / jump) for level in range(1, depth + 1)]
    return ArrayTree(3, levels, (NodeNoise(1.0),) * depth, branching)


def test_with_many_children_nodes_need_a_larger_threshold_to_be_few():
    # the bound for two children, taken for eight, would allow a threshold of 1.5 and 14 nodes a level
    generator = np.random.default_rng(5)
    a, branching, depth = 1.5, 8, 6
    two_children = 2 * 3 / (2 * (math.sqrt(a) - 1))
    jump = 2.001 * math.sqrt(a)
    found = [
        walk(*(gambling_tree(generator, depth, branching, jump) for _ in range(2)), a=a, variant="half", ties="half")
        for _ in range(80)
    ]
    deepest = np.array([each.recursed[-1] for each in found])
    assert deepest.mean() - 5 * deepest.std() / math.sqrt(80) > two_children
    assert looked_into(Sizes(3, 3, 1.0, 1.0, depth, branching), a) == math.inf


@pytest.mark.parametrize("branching", [2, 3, 4, 8])
def test_nodes_that_are_looked_into_are_as_few_as_is_proved(branching):
    generator = np.random.default_rng(6)
    a = 1.2 * least_a(branching)
    case = Sizes(3, 3, 1.0, 1.0, 4, branching)
    worst, runs = 0.0, size(150, part=40)
    for jump in (0.5, 1.0, math.sqrt(a), 2.001 * math.sqrt(a)):
        found = np.array(
            [
                walk(
                    *(gambling_tree(generator, 4, branching, jump) for _ in range(2)), a=a, variant="half", ties="half"
                ).recursed[1:]
                for _ in range(runs)
            ]
        )
        worst = max(worst, float((found.mean(axis=0) - 5 * found.std(axis=0) / math.sqrt(runs)).max()))
    assert 0 < worst <= looked_into(case, a)


def test_all_nodes_add_one_product_a_pair_of_children():
    case = Sizes(10, 20, 3.0, 5.0, 3, 4, ties="strict")
    assert all_nodes_variance(case) == pytest.approx((1 + 4 + 16) * 6 * 15 / 200**2)
    tied = Sizes(10, 20, 3.0, 5.0, 3, 4)
    assert all_nodes_variance(tied) == pytest.approx(((1 + 4 + 16) * 6 + 16) * 15 / 200**2)


def test_what_is_lost_does_not_depend_on_the_number_of_children():
    assert lost_bound(sizes(), 3.0) == lost_bound(sizes(branching=4), 3.0)
    assert lost_bound(sizes(variant="zero"), 3.0) == pytest.approx(4 * lost_bound(sizes(), 3.0))


def test_bounds_against_a_sample_and_a_population():
    case, a = sizes(), 2.0
    assert error_bound(case, a, shared=False, against="population") == mse_bound(case, a)
    assert error_bound(case, a, shared=False, against="sample") == 10 * mse_bound(case, a)
    assert error_bound(case, a, shared=True, against="sample") == mse_bound(case, a)
    whole = error_bound(case, a, shared=True, against="population")
    assert whole == pytest.approx((math.sqrt(mse_bound(case, a)) + math.sqrt(0.25 / 30_000)) ** 2)
    with pytest.raises(ParameterError, match="against must be sample or population, got 'all'"):
        error_bound(case, a, shared=True, against="all")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"positives": 0}, "needs a record of each class"),
        ({"levels": 0}, "needs a record of each class"),
        ({"branching": 9}, "2 to 8 children"),
        ({"variant": "most"}, "variant must be half or zero"),
        ({"ties": "none"}, "ties must be half or strict"),
        ({"c": math.inf}, "variances of nodes must be finite"),
    ],
)
def test_refuses_what_is_no_problem(fields, message):
    with pytest.raises(ParameterError, match=message):
        sizes(**fields)


def test_refuses_constants_of_nobody():
    with pytest.raises(ParameterError, match="constants must be corrected or paper"):
        boxed_bound(*CASE, 2.0, constants="mine")
