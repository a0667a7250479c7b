"""The exact privacy loss of every oracle: all reports, under all symbols, by the code that owners run."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.choices import randomizer, worst_ratio, worst_slack

from ogive.errors import ParameterError
from ogive.local import HaarOracle, PublicClasses, RandomizedResponse, TreeOracle, UnaryOracle, design_tree
from ogive.local import levels as levels_module
from ogive.local.bits import WORD, exp_below
from ogive.local.tree import slack_of_responses
from ogive.privacy import ApproxDP, PureDP

THIRD, ONE = Fraction(1, 3), Fraction(1)
SINGLE = [
    RandomizedResponse(2, THIRD),
    RandomizedResponse(5, ONE),
    RandomizedResponse(20, Fraction(4)),
    UnaryOracle(2, ONE),
    UnaryOracle(5, THIRD),
    HaarOracle(8, ONE),
    HaarOracle(6, THIRD, weights="uniform"),
]
TREES = [
    TreeOracle(8, ONE),
    TreeOracle(8, THIRD, assignment="independent", seed=5),
    TreeOracle(9, ONE, branching=3),
    TreeOracle(4, ONE, nodes="unary"),
    TreeOracle(5, Fraction(2), branching=5),
]
NUMBERS = range(12)


def above(epsilon: Fraction) -> Fraction:
    """A number above e^epsilon, by one part in 10^50."""
    return exp_below(epsilon) * (1 + Fraction(2, 10**50))


def laws_of(oracle, number, monkeypatch):
    payloads = randomizer(oracle, monkeypatch)
    return [payloads(symbol, number) for symbol in range(oracle.size)]


def name(oracle):
    return f"{oracle.name}-{oracle.size}-{oracle.epsilon}"


@pytest.mark.parametrize("oracle", SINGLE, ids=name)
def test_no_report_is_likelier_than_was_asked_and_some_are_as_likely(oracle, monkeypatch):
    numbers = NUMBERS if oracle.name == "haar" else [0]
    ratios = [worst_ratio(laws_of(oracle, number, monkeypatch)) for number in numbers]
    assert max(ratios) == oracle.ratio <= exp_below(oracle.epsilon)
    assert oracle.ratio > exp_below(oracle.epsilon) * (1 - Fraction(1, 10**9)), "privacy is not thrown away"
    assert oracle.loss == PureDP(oracle.epsilon)


@pytest.mark.parametrize("oracle", TREES, ids=name)
def test_a_level_of_a_tree_costs_what_was_asked(oracle, monkeypatch):
    asked = oracle.levels_of.of(np.array(NUMBERS))
    assert set(asked.tolist()) == set(range(oracle.levels)), "the numbers reach every level"
    ratios = [worst_ratio(laws_of(oracle, number, monkeypatch)) for number in NUMBERS]
    assert max(ratios) == oracle.level_ratio <= exp_below(oracle.epsilon)


@pytest.mark.parametrize("nodes", ["hadamard", "unary"])
def test_all_levels_of_a_budget_together_cost_what_was_asked(nodes, monkeypatch):
    oracle = TreeOracle(4, ONE, split="budget", nodes=nodes)
    assert oracle.level_epsilon == Fraction(1, 2)
    ratio = worst_ratio(laws_of(oracle, 0, monkeypatch))
    assert ratio == oracle.level_ratio**2 <= exp_below(ONE)


def test_three_levels_of_a_budget_by_exact_composition(monkeypatch):
    oracle = design_tree(8, 1, "1/100", split="budget", composition="exact")
    assert oracle.loss == ApproxDP(1, "1/100")
    assert oracle.level_epsilon > THIRD, "more than basic composition gives"
    laws = laws_of(oracle, 0, monkeypatch)
    bound = slack_of_responses(oracle.chance, 3, ONE)
    assert Fraction(999, 100_000) < bound <= Fraction(1, 100), "nothing is given away"
    assert worst_slack(laws, exp_below(ONE)) < bound, "some indices tell nothing"
    asked = {bytes(value >> 1 for value in report) for report in laws[0]}
    given = [
        [{report: 64 * p for report, p in law.items() if bytes(value >> 1 for value in report) == each} for law in laws]
        for each in sorted(asked)
    ]
    assert max(worst_slack(each, exp_below(ONE)) for each in given) == bound, "and some tell everything"
    assert worst_ratio(laws) > above(ONE), "epsilon alone, without delta, would be a lie"


def test_a_share_that_costs_more_together_is_refused():
    fine = design_tree(1 << 10, 1, "1e-8", split="budget", composition="exact")
    fields = {**fine.to_dict(), "level_epsilon": str(fine.level_epsilon * Fraction(101, 100))}
    fields.pop("name")
    with pytest.raises(ParameterError, match="cost more than"):
        TreeOracle(**fields)


def test_advanced_composition_is_checked_by_the_exact_one():
    oracle = design_tree(1 << 20, 1, "1e-3", split="budget", composition="advanced")
    assert slack_of_responses(oracle.chance, 20, ONE) <= Fraction(1, 1000)
    with pytest.raises(ParameterError, match="cost more than"):
        TreeOracle(1 << 20, 1, "1e-3", split="budget", composition="advanced", level_epsilon="1/4")


def test_with_public_classes_every_class_has_the_inner_loss(monkeypatch):
    inner = RandomizedResponse(4, ONE)
    payloads = randomizer(PublicClasses(inner, 3), monkeypatch)
    for public in range(3):
        laws = [payloads(symbol * 3 + public, 0) for symbol in range(4)]
        assert worst_ratio(laws) == inner.ratio
        assert {report[0] for law in laws for report in law} == {public}


# Controls: oracles that are wrong by as little as can be are caught.


@pytest.mark.parametrize(
    ("oracle", "change"),
    [(RandomizedResponse(5, ONE), 1), (UnaryOracle(3, ONE), -1), (HaarOracle(4, ONE), -1), (TreeOracle(4, ONE), -1)],
    ids=["krr", "unary", "haar", "tree"],
)
def test_one_part_in_two_to_the_64_too_much_is_caught(oracle, change, monkeypatch):
    wrong = type(oracle)(oracle.size, oracle.epsilon)
    wrong.__dict__["_threshold"] = oracle._threshold + change
    ratio = max(worst_ratio(laws_of(wrong, number, monkeypatch)) for number in range(4))
    assert ratio > above(ONE)


def test_levels_that_each_spend_the_whole_budget_are_caught(monkeypatch):
    wrong = TreeOracle(4, ONE, split="budget")
    wrong.__dict__["_threshold"] = TreeOracle(4, ONE)._threshold
    assert worst_ratio(laws_of(wrong, 0, monkeypatch)) == TreeOracle(4, ONE).level_ratio ** 2 > above(ONE)


def test_a_unary_bit_that_is_kept_too_often_is_caught(monkeypatch):
    monkeypatch.setattr(levels_module, "HALF", WORD // 2 + WORD // 1000)
    assert worst_ratio(laws_of(UnaryOracle(3, ONE), 0, monkeypatch)) > above(ONE)
