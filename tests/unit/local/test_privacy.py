"""The exact privacy loss of every oracle: all reports, under all symbols, by the code that owners run."""

from fractions import Fraction

import numpy as np
import pytest
from helpers.choices import law, randomizer, worst_ratio, worst_slack
from helpers.scope import is_everything, size
from scipy import stats

from ogive import Grid
from ogive.columns import Binning, Domain, Label
from ogive.errors import ParameterError
from ogive.local import (
    Description,
    HaarOracle,
    PublicClasses,
    RandomizedResponse,
    Randomizer,
    TreeOracle,
    UnaryOracle,
    design_tree,
)
from ogive.local import tree as tree_module
from ogive.local.base import WORD, exp_below
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
    TreeOracle(3, THIRD, branching=3, nodes="unary"),
    TreeOracle(7, ONE, branching=4),
]
NUMBERS = range(12)


def above(epsilon: Fraction) -> Fraction:
    """A number above e^epsilon, by one part in 10^50."""
    return exp_below(epsilon) * (1 + Fraction(2, 10**50))


def laws_of(oracle, number, monkeypatch):
    payloads = randomizer(oracle, monkeypatch)
    return [payloads(symbol, number) for symbol in range(oracle.size)]


def level_ratio(tree):
    """Largest ratio of one level's answer's chances under two symbols."""
    return (1 - tree.chance) / tree.chance


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
    # of each level one number in `make test`
    numbers = NUMBERS if is_everything() else np.unique(asked, return_index=True)[1].tolist()
    ratios = [worst_ratio(laws_of(oracle, number, monkeypatch)) for number in numbers]
    assert max(ratios) == level_ratio(oracle) <= exp_below(oracle.epsilon)


@pytest.mark.parametrize("nodes", ["hadamard", "unary"])
def test_all_levels_of_a_budget_together_cost_what_was_asked(nodes, monkeypatch):
    oracle = TreeOracle(4, ONE, split="budget", nodes=nodes)
    assert oracle.level_epsilon == Fraction(1, 2)
    ratio = worst_ratio(laws_of(oracle, 0, monkeypatch))
    assert ratio == level_ratio(oracle) ** 2 <= exp_below(ONE)


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
        for each in sorted(asked)[:: 1 if is_everything() else 7]
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


@pytest.mark.parametrize(
    "inner", [UnaryOracle(3, ONE), HaarOracle(5, ONE), TreeOracle(4, ONE), TreeOracle(4, ONE, nodes="unary")], ids=name
)
def test_within_every_class_the_level_of_a_number_costs_what_was_asked(inner, monkeypatch):
    payloads = randomizer(PublicClasses(inner, 2), monkeypatch)
    worst = Fraction(0)
    for number in range(6):
        for public in range(2):
            laws = [payloads(symbol * 2 + public, number) for symbol in range(inner.size)]
            worst = max(worst, worst_ratio(laws))
            assert {report[0] for law in laws for report in law} == {public}
    assert exp_below(ONE) * (1 - Fraction(1, 10**9)) < worst <= exp_below(ONE)


SCORE = Binning("score", Grid.linear(0, 1, bins=4))
SICK = Label("sick", (1,), (0,))
DEVICES = {
    "krr": (Domain((SCORE,)), RandomizedResponse(4, ONE)),
    "unary": (Domain((SCORE,)), UnaryOracle(4, ONE)),
    "haar": (Domain((SCORE,)), HaarOracle(4, ONE)),
    "tree": (Domain((SCORE,)), TreeOracle(4, ONE)),
    "classes": (Domain((SCORE, SICK)), PublicClasses(TreeOracle(4, ONE, nodes="unary"), 2)),
}


def study(kind, **fields):
    domain, oracle = DEVICES[kind]
    return Description(domain=domain, oracle=oracle, privacy=PureDP(1), participants=50, id="0" * 32, **fields)


class Words:
    """Random words that are chosen: small, middling or large, each as often."""

    def __init__(self, path):
        self.path = path

    def words(self, count):
        return np.array(
            [(0, 1 << 31, (1 << 32) - 1)[self.path.choose([THIRD] * 3)] for _ in range(count)], dtype=np.uint32
        )


@pytest.mark.parametrize("rounding", ["simple", "randomized"])
@pytest.mark.parametrize("kind", DEVICES)
def test_rounded_values_cost_what_was_asked_whatever_they_are(kind, rounding, monkeypatch):
    # rounding at random is walked through too
    asked = study(kind, rounding=rounding)
    inner = getattr(asked.oracle, "inner", asked.oracle)
    tossed = randomizer(asked.oracle, monkeypatch)
    worst = Fraction(0)
    for number in range(size(4, part=2)):
        for public in (0, 1) if kind == "classes" else (None,):
            laws = []
            for score in (0.0, 0.1, 0.3, 0.5, 0.9, 1.0):
                rows = np.array([[score] if public is None else [score, public]])
                symbols = law(lambda path, rows=rows: _symbol(asked, rows, path))
                mixed = {}
                for symbol, chance in symbols.items():
                    for payload, more in tossed(symbol, number).items():
                        mixed[payload] = mixed.get(payload, 0) + chance * more
                laws.append(mixed)
            worst = max(worst, worst_ratio(laws))
    assert worst <= exp_below(ONE)
    assert worst == (inner.ratio if hasattr(inner, "ratio") else level_ratio(inner))


def _symbol(asked, rows, path):
    from ogive.local.values import rounded

    return int(rounded(asked.domain, rows, asked.rounding, source=Words(path))[0])


@pytest.mark.parametrize("kind", DEVICES)
def test_secrets_give_reports_of_the_same_law(kind):
    # at 1e-6 a false alarm is rare, and seeds are fixed
    asked, number, runs = study(kind), 3, size(1500, part=400)
    with pytest.MonkeyPatch.context() as patch:
        symbol = 2 if kind != "classes" else 5
        expected = randomizer(asked.oracle, patch)(symbol, number)
        wrong = randomizer(asked.oracle, patch)(0 if kind != "classes" else 1, number)
    record = {"score": 0.6, "sick": 1} if kind == "classes" else 0.6
    counts = dict.fromkeys(expected, 0)
    for place in range(runs):
        report = Randomizer(asked, secret=place.to_bytes(32, "little")).report(record, number=number)
        assert report[:9] == bytes([1]) + asked.tag + number.to_bytes(4, "little")
        counts[report[9:]] += 1
    observed = np.array(list(counts.values()))

    def fit(chances):
        return stats.chisquare(observed, runs * np.array([float(chances[each]) for each in counts])).pvalue

    assert fit(expected) > 1e-6
    assert fit(wrong) < 1e-12, "the law of another value is told apart"


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
    assert worst_ratio(laws_of(wrong, 0, monkeypatch)) == level_ratio(TreeOracle(4, ONE)) ** 2 > above(ONE)


def test_a_unary_bit_that_is_kept_too_often_is_caught(monkeypatch):
    monkeypatch.setattr(tree_module, "HALF", WORD // 2 + WORD // 1000)
    assert worst_ratio(laws_of(UnaryOracle(3, ONE), 0, monkeypatch)) > above(ONE)
