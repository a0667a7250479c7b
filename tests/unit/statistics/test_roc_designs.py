"""What both class curves cost together, and which strategy is chosen for them."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from helpers.dense import prefix_covariance

from ogive.accounting import covers
from ogive.errors import ParameterError, ScaleError, UnsupportedError
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import class_curves_price
from ogive.statistics.roc.designs import choose_for_classes, class_candidates, class_variance
from ogive.strategies import design_hats, design_path, design_tree
from ogive.strategies.path import squared_shift, uniform_tree

REPLACE, ADD = PrivacyUnit(Adjacency.REPLACE), PrivacyUnit(Adjacency.ADD_OR_REMOVE)
GRANTS = (PureDP(1), ZeroConcentratedDP("0.1"), ApproxDP(1, "1e-6"))


def designs(size, privacy, unit, *, public_labels=False, budget="joint", method="auto"):
    return class_candidates(size, privacy, unit, public_labels=public_labels, budget=budget, method=method)


@pytest.mark.covering(privacy=str, unit=str)
@pytest.mark.parametrize("unit", [REPLACE, ADD, PrivacyUnit(Adjacency.ADD_OR_REMOVE, "who", 3)], ids=str)
@pytest.mark.parametrize("privacy", GRANTS, ids=str)
@pytest.mark.parametrize(("public_labels", "budget"), [(False, "joint"), (True, "joint"), (False, "split")])
@pytest.mark.parametrize("size", [1, 2, 37, 256])
def test_every_design_fits_the_grant_and_the_best_comes_first(size, privacy, unit, public_labels, budget):
    found = designs(size, privacy, unit, public_labels=public_labels, budget=budget)
    errors = [class_variance(strategy, unit, public_labels, budget) for strategy in found]
    assert errors == sorted(errors)
    for strategy in found:
        assert strategy.size == size
        assert covers(privacy, class_curves_price(strategy, unit, public_labels=public_labels))


@pytest.mark.parametrize(("height", "constant"), [(3, 4), (4, 6), (10, 12), (15, 16)])
def test_path_noise_needs_the_joint_constant_and_no_more(height, constant):
    # the constants of all levels for odd heights, without the root for even ones
    strategy = design_path(
        1 << height, privacy=PureDP("1/2"), adjacency=Adjacency.ADD_OR_REMOVE, base=2, root=height % 2 == 1
    )
    assert strategy.law.scale == constant
    assert class_curves_price(strategy, REPLACE, public_labels=False) == PureDP(1)


@pytest.mark.parametrize(("height", "squared"), [(10, 3.582), (15, 4.693)])
def test_gaussian_path_noise_needs_the_larger_of_both_changes(height, squared):
    strategy = design_path(
        1 << height, privacy=ZeroConcentratedDP("1/2"), adjacency=Adjacency.ADD_OR_REMOVE, base=2, root=True
    )
    moved, joined = (squared_shift(uniform_tree(1 << height, 2), adjacency) for adjacency in Adjacency)
    assert max(moved, 2 * joined) == pytest.approx(squared, abs=6e-4)
    price = class_curves_price(strategy, REPLACE, public_labels=False)
    assert price.rho == max(strategy.loss(Adjacency.REPLACE).rho, 2 * strategy.loss(Adjacency.ADD_OR_REMOVE).rho)
    for found in designs(1 << height, price, REPLACE, method="path"):
        assert covers(price, class_curves_price(found, REPLACE, public_labels=False))


@pytest.mark.parametrize("method", ["path", "tree_ls", "hat_ls"])
@pytest.mark.parametrize("size", [3, 8, 100, 1000])
def test_a_replaced_record_costs_at_most_two_added_ones(method, size):
    for strategy in designs(size, PureDP(1), REPLACE, method=method):
        assert strategy.loss(Adjacency.REPLACE).epsilon <= 2 * strategy.loss(Adjacency.ADD_OR_REMOVE).epsilon


def test_the_joint_price_needs_a_quarter_of_the_variance_of_the_paper_s_split():
    paper = design_path(1024, privacy=PureDP("1/2"), adjacency=Adjacency.REPLACE, constants="paper")
    joint = designs(1024, PureDP(1), REPLACE, method="path")[0]
    split = class_variance(paper, REPLACE, False, "split")
    assert split == pytest.approx(2 * 11 * 22**2, rel=1e-3)
    assert class_variance(joint, REPLACE, False, "joint") <= 0.28 * split
    assert class_variance(designs(1024, PureDP(1), REPLACE)[0], REPLACE, False, "joint") <= 0.035 * split


@pytest.mark.parametrize("size", [64, 1000])
def test_no_design_for_an_added_record_at_half_the_grant_is_better(size):
    for privacy, half in ((PureDP(1), PureDP("1/2")), (ZeroConcentratedDP("0.1"), ZeroConcentratedDP("0.05"))):
        best = class_variance(designs(size, privacy, REPLACE)[0], REPLACE, False, "joint")
        for design in (design_path, design_tree, design_hats):
            strategy = design(size, privacy=half, adjacency=Adjacency.ADD_OR_REMOVE)
            if covers(privacy, class_curves_price(strategy, REPLACE, public_labels=False)):
                assert best <= class_variance(strategy, REPLACE, False, "joint") * (1 + 1e-9)


@pytest.mark.parametrize("size", [5, 16])
def test_the_predicted_error_is_that_of_dense_algebra(size):
    strategy = design_tree(size, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
    alone = prefix_covariance(strategy, total_known=False)
    half = alone - np.outer(alone[-1], alone[-1]) / alone[-1, -1] / 2
    assert class_variance(strategy, REPLACE, False, "joint") == pytest.approx(np.diag(half).mean())
    assert class_variance(strategy, REPLACE, False, "split") == pytest.approx(np.diag(alone).mean())
    known = prefix_covariance(strategy, total_known=True)
    assert class_variance(strategy, REPLACE, True, "joint") == pytest.approx(np.diag(known).mean())


def choose(privacy, *, method="auto", refusal=lambda strategy: None, size=64):
    return choose_for_classes(
        size, privacy, REPLACE, public_labels=False, budget="joint", method=method, refusal=refusal
    )


def test_the_trust_model_has_the_last_word():
    best = designs(64, PureDP(1), REPLACE)[0]
    other = choose(PureDP(1), refusal=lambda strategy: "not this one" if strategy.name == best.name else None)
    assert other.name != best.name
    with pytest.raises(UnsupportedError, match="not this one"):
        choose(PureDP(1), refusal=lambda strategy: "not this one")


def test_what_cannot_be_designed_is_refused_in_one_line():
    with pytest.raises(ParameterError, match="cannot give"):
        choose(PureDP(1), method="sqrt")
    with pytest.raises(ScaleError, match="noise"):
        choose(PureDP("1e-30"))
    by_hand = design_path(32, privacy=PureDP(1), adjacency=Adjacency.REPLACE)
    with pytest.raises(ParameterError, match="covers 32 thresholds but the grid has 64"):
        choose(PureDP(1), method=by_hand)
    assert choose(PureDP(1), method=by_hand, size=32) is by_hand


def test_several_rows_of_a_person_cost_their_number():
    unit = PrivacyUnit(Adjacency.ADD_OR_REMOVE, "who", 4)
    for one, many in itertools.product(
        designs(64, PureDP(1), ADD, method="path"), designs(64, PureDP(4), unit, method="path")
    ):
        assert one.law.scale == many.law.scale
        assert class_curves_price(many, unit, public_labels=False).epsilon == Fraction(4)
