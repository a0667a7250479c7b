"""The price of a run: modes, what goes with what, and that only data-independent numbers may be published."""

import json
import math

import numpy as np
import pytest

from ogive import pate
from ogive.accounting.losses import gaussian_delta
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.pate.aggregators import ConfidentGNMax, GNMax, InteractiveGNMax, LargestMargins, LNMax
from ogive.pate.costs import threshold as confident
from ogive.pate.costs.answers import (
    ORDERS,
    epsilon_of_rdp,
    largest_excess,
    logq_gnmax,
    logq_lnmax,
    rdp_gnmax,
    rdp_lnmax,
)
from ogive.pate.costs.cost import privacy_cost
from ogive.pate.costs.stated import PrivacyCost

RNG = np.random.default_rng(7)
VOTES = RNG.multinomial(250, RNG.dirichlet([9, 0.3, 0.3, 0.2], size=60).mean(axis=0), size=60)
SCORES = np.full((60, 4), 0.25)
CONFIDENT = ConfidentGNMax(200, 150, 40)
INTERACTIVE = InteractiveGNMax(100, 150, 40, 0.9)


def cost(aggregator=CONFIDENT, **options):
    return privacy_cost(VOTES, aggregator, target_delta=1e-5, **options)


@pytest.mark.parametrize(
    ("aggregator", "options", "mode"),
    [
        (CONFIDENT, {}, "exact"),
        (GNMax(40), {}, "exact"),
        (GNMax(0.3), {}, "joint"),
        (CONFIDENT, {"noise": "scaled"}, "exact"),
        (CONFIDENT, {"noise": "discrete"}, "joint"),
        (CONFIDENT, {"group": 2}, "joint"),
        (LNMax(20), {}, "joint"),
        (INTERACTIVE, {}, "independent"),
        (LargestMargins(40, 10), {}, "independent"),
    ],
)
def test_auto_takes_the_least_that_holds(aggregator, options, mode):
    found = cost(aggregator, **options)
    assert found.mode == mode
    assert found.publishable == (mode == "independent")
    assert found.noise == options.get("noise", "continuous")


def test_auto_is_joint_for_many_classes_and_for_much_work():
    many = np.zeros((2, 21), dtype=int)
    many[:, 0] = 250
    assert privacy_cost(many, GNMax(40), target_delta=1e-5).mode == "joint"
    assert privacy_cost(many, GNMax(40), target_delta=1e-5, mode="exact").mode == "exact"


def test_modes_are_in_order():
    found = {
        mode: cost(mode=mode).epsilon
        for mode in ("exact", "exact_two_sided", "joint", "joint_two_sided", "independent")
    }
    assert found["exact"] <= found["exact_two_sided"] <= found["joint_two_sided"]
    assert found["exact"] <= found["joint"] <= found["joint_two_sided"] <= found["independent"]


def test_joint_of_answers_alone_is_theorem_3():
    by_hand = rdp_gnmax(logq_gnmax(VOTES, 40), 40, ORDERS).sum(axis=0)
    found = cost(GNMax(40), mode="joint")
    assert found.rdp == pytest.approx(by_hand, rel=1e-12)
    assert found.by_order[14.0] == found.rdp[ORDERS.tolist().index(14.0)]
    assert (found.epsilon, found.order) == epsilon_of_rdp(by_hand, ORDERS, target_delta=1e-5)
    laplace = cost(LNMax(20), mode="joint", rule="paper", orders=range(2, 10))
    by_hand = rdp_lnmax(logq_lnmax(VOTES, 20), 20, range(2, 10)).sum(axis=0)
    assert laplace.rdp == pytest.approx(by_hand, rel=1e-12)


def test_integers_have_a_price_also_where_their_distance_from_gaussian_noise_uses_up_delta():
    """e^epsilon times the distance is above delta from an epsilon of about 20 on; Renyi costs hold there too."""
    votes = np.tile([50, 5, 5], (1000, 1))
    found = {noise: privacy_cost(votes, GNMax(10), target_delta=1e-5, mode="independent", noise=noise)
             for noise in ("continuous", "scaled")}  # fmt: skip
    assert found["continuous"].rule == "gaussian"
    assert found["scaled"].rule == "tight"
    by_hand = epsilon_of_rdp(1000 * ORDERS / 100, ORDERS, target_delta=1e-5)
    assert (found["scaled"].epsilon, found["scaled"].order) == pytest.approx(by_hand, rel=1e-12)
    assert 1 < found["scaled"].epsilon / found["continuous"].epsilon < 1.1
    # few answers: both hold, and the smaller is taken
    few = privacy_cost(votes[:100], GNMax(10), target_delta=1e-5, mode="independent", noise="scaled")
    assert few.rule == "gaussian"
    wide = [privacy_cost(votes[:k], GNMax(10), target_delta=1e-5, mode="independent", noise="scaled").epsilon
            for k in range(500, 1000, 25)]  # fmt: skip
    assert np.all(np.diff(wide) > 0)


@pytest.mark.parametrize("mode", ["independent", "joint", "realised"])
def test_statements_never_promise_more_than_was_found(mode):
    options = {"order": 14.0, "answered": np.ones(60, bool)} if mode == "realised" else {}
    for threshold in range(180, 220, 2):
        found = cost(ConfidentGNMax(threshold, 37 + threshold / 7, 40), mode=mode, **options)
        words = found.statement.replace(". ", " ").split()
        at = words.index("<=") + 1 if mode == "realised" else words.index("epsilon") + 2
        assert found.epsilon <= float(words[at]) <= found.epsilon * (1 + 1e-5)
    odd = privacy_cost(VOTES, CONFIDENT, target_delta=1.23456123e-5, mode=mode, **options)
    assert "1.23457e-05" in odd.statement


def test_deployed_laplace_noise_is_priced_by_its_own_law():
    """Of votes (8, 20) the label is 0 also where both noisy counts tie; all pairs of integers are summed."""
    deployed = LNMax(1).query(pate.Ballots(("a", "b"), classes=2), None)
    assert (deployed.law.scale, deployed.bits) == (1, 0)
    points = np.arange(-200, 201)
    law = np.exp(-np.abs(points))
    law /= law.sum()
    lost = sum(law[place] * law[8 + points[place] >= 20 + points].sum() for place in range(points.size))
    votes = np.tile([8, 20], (100, 1))
    found = privacy_cost(votes, LNMax(1), target_delta=1e-5, noise="scaled")
    true = 100 * rdp_lnmax(np.log([lost]), 1, ORDERS)[0]
    assert found.rdp == pytest.approx(true, rel=1e-9)
    # the control: on votes times 2^16 ties would hardly be, and so it would cost less
    fine = 100 * rdp_lnmax(logq_lnmax(votes[:1], 1, noise="scaled"), 1, ORDERS)[0]
    assert fine[20] < 0.9 * true[20]
    assert found.noise == "discrete"
    assert "integer noise on the votes." in found.statement
    assert found == privacy_cost(votes, LNMax(1), target_delta=1e-5, noise="discrete")
    independent = privacy_cost(votes, LNMax(1), target_delta=1e-5, mode="independent", noise="scaled")
    assert independent.noise == "discrete"


def test_independent_costs_are_exact_for_gaussian_noise():
    found = cost(mode="independent", max_answers=7)
    mu = math.sqrt(60 / 150**2 + 2 * 7 / 40**2)
    assert gaussian_delta(mu, found.epsilon) == pytest.approx(1e-5, rel=1e-6)
    assert (found.rule, found.order, found.answers) == ("gaussian", None, 7)
    # Renyi costs are never below, and a fixed order is taken where it is asked for
    assert cost(mode="independent", max_answers=7, rule="tight").epsilon > found.epsilon
    assert cost(mode="independent", order=9).order == 9
    party = cost(mode="independent", max_answers=7, group=3)
    assert gaussian_delta(3 * mu, party.epsilon) == pytest.approx(1e-5, rel=1e-6)
    opened = cost(LargestMargins(40, 10))
    assert gaussian_delta(math.sqrt(2 * 60) / 40, opened.epsilon) == pytest.approx(1e-5, rel=1e-6)


def test_few_laplace_answers_cost_their_sum():
    found = privacy_cost(VOTES[:1], LNMax(20), target_delta=1e-5, mode="independent")
    assert (found.epsilon, found.rule, found.order) == (0.1, "pure", None)
    many = privacy_cost(np.tile(VOTES, (20, 1)), LNMax(20), target_delta=1e-5, mode="independent")
    assert many.rule == "tight"
    assert many.epsilon < 0.1 * 1200


def test_a_party_of_three_teachers_has_a_third_of_the_noise_on_its_curve():
    by_hand = rdp_gnmax(logq_gnmax(VOTES, 40), 40 / 3, ORDERS).sum(axis=0)
    assert cost(GNMax(40), mode="joint", group=3).rdp == pytest.approx(by_hand, rel=1e-12)
    by_hand = rdp_lnmax(logq_lnmax(VOTES, 20), 20 / 3, ORDERS).sum(axis=0)
    assert cost(LNMax(20), mode="joint", group=3).rdp == pytest.approx(by_hand, rel=1e-12)


def test_groups_pay_more():
    for mode in ("joint", "joint_two_sided", "independent"):
        costs = [cost(mode=mode, group=size).epsilon for size in (1, 2, 4)]
        assert costs == sorted(costs)
        assert costs[0] < costs[2]


def test_interactive_costs_are_those_of_the_excess():
    found = cost(INTERACTIVE, mode="joint", probabilities=SCORES)
    highest = VOTES.max(axis=1) - 62  # 62.5 expected, half up
    answers = rdp_gnmax(logq_gnmax(VOTES, 40), 40, ORDERS)
    assert found.rdp == pytest.approx(confident.joint(highest, 100, 150, answers, ORDERS).sum(axis=0), rel=1e-12)
    assert "scores of a student" in found.statement
    answered = np.arange(60) % 3 == 0
    realised = cost(INTERACTIVE, mode="realised", probabilities=SCORES, answered=answered, order=14)
    labels = np.where(answered, 2, -1)
    assert cost(INTERACTIVE, mode="realised", probabilities=SCORES, answered=labels, order=14) == realised
    assert (realised.order, realised.rule, realised.answers) == (14, "paper", 20)


def test_excess_is_rounded_half_up():
    votes = np.array([[1, 1], [2, 0], [3, 1], [0, 2]])
    scores = np.array([[0.25, 0.75], [0.75, 0.25], [0.375, 0.625], [0.5, 0.5]])
    assert largest_excess(votes, scores).tolist() == [1, 1, 2, 1]  # 0.5 to 1, 1.5 to 2


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (SCORES[:, :3], r"must have the shape \(queries, classes\) = \(60, 4\) of the votes, got \(60, 3\)"),
        (np.where(np.eye(60, 4) > 0, math.nan, SCORES), "query 0 hold NaN"),
        (SCORES * 1.01, "query 0 hold numbers that do not add up to 1"),
        (SCORES + np.array([1, -1, 0, 0]), "query 0 hold numbers outside 0 to 1"),
        ([["a"]], "array of numbers"),
    ],
)
def test_refuses_scores_that_are_no_probabilities(scores, message):
    with pytest.raises(DataError, match=message):
        cost(INTERACTIVE, mode="joint", probabilities=scores)


@pytest.mark.parametrize(
    ("aggregator", "options", "message"),
    [
        (CONFIDENT, {"mode": "rough"}, "mode must be one of auto, "),
        (CONFIDENT, {"noise": "pink"}, "noise must be one of"),
        (CONFIDENT, {"rule": "loose"}, "rule must be tight or paper"),
        (CONFIDENT, {"group": 0}, "group must be a whole number"),
        (CONFIDENT, {"mode": "realised", "order": 14}, "need answered, and one order"),
        (CONFIDENT, {"mode": "realised", "answered": [True] * 60}, "need answered, and one order"),
        (CONFIDENT, {"mode": "realised", "answered": [True] * 60, "order": 9, "rule": "tight"}, "rule must be paper"),
        (
            CONFIDENT,
            {"mode": "realised", "answered": [True] * 9, "order": 9},
            "answered must be 60 truth .*got 9 of them",
        ),
        (CONFIDENT, {"mode": "realised", "answered": [4] * 60, "order": 9}, "label of query 0 is 4, none of -1 to"),
        (CONFIDENT, {"mode": "realised", "answered": [-2] * 60, "order": 9}, "label of query 0 is -2, none of -1 to"),
        (CONFIDENT, {"answered": [True] * 60}, "answered goes with mode realised"),
        (CONFIDENT, {"max_answers": 9}, "max_answers goes with mode independent"),
        (CONFIDENT, {"mode": "independent", "max_answers": 0}, "max_answers must be a whole number"),
        (LargestMargins(40, 5), {"max_answers": 9}, "releases every histogram"),
        (LargestMargins(None, 5), {}, "needs its sigma"),
        (CONFIDENT, {"probabilities": SCORES}, "probabilities go with InteractiveGNMax"),
        (INTERACTIVE, {"mode": "joint"}, "require the student's probabilities"),
        (CONFIDENT, {"order": 1}, "orders must be numbers above 1"),
    ],
)
def test_refuses_what_does_not_go_together(aggregator, options, message):
    with pytest.raises(ParameterError, match=message):
        cost(aggregator, **options)


@pytest.mark.parametrize(
    ("aggregator", "options", "message"),
    [
        (LNMax(20), {"mode": "exact"}, "no exact cost of LNMax"),
        (INTERACTIVE, {"mode": "exact", "probabilities": SCORES}, "no exact cost of InteractiveGNMax"),
        (LNMax(20), {"mode": "joint_two_sided"}, "no two-sided cost of LNMax"),
        (GNMax(40), {"mode": "expected"}, "answers every query"),
        (LargestMargins(40, 5), {"mode": "joint"}, "opens noisy histograms"),
        (CONFIDENT, {"mode": "exact", "noise": "discrete"}, "continuous or scaled noise"),
        (CONFIDENT, {"mode": "exact", "group": 2}, "one teacher per party"),
    ],
)
def test_refuses_costs_that_there_are_not(aggregator, options, message):
    with pytest.raises(UnsupportedError, match=message):
        cost(aggregator, **options)


def test_refuses_votes_that_are_none():
    for votes in ([[1, 2], [2, 2]], [[-1, 4]], [[1.5, 2.5]], [[3]], np.zeros((0, 3))):
        with pytest.raises(DataError):
            privacy_cost(votes, GNMax(40), target_delta=1e-5)


def test_says_what_a_number_means():
    joint = cost(mode="joint").statement
    assert "For the data set actually held, D, for every neighbour D'" in joint
    assert "Pr[M(D) in Y] <= e^epsilon Pr[M(D') in Y] + delta" in joint
    assert "Pr[M(D') in Y] <=" not in joint
    assert "It is not differential privacy" in joint
    assert "do not publish it" in joint
    assert "Pr[M(D') in Y] <= e^epsilon Pr[M(D) in Y] + delta" in cost(mode="joint_two_sided").statement
    assert "it is not a bound" in cost(mode="expected").statement
    realised = cost(mode="realised", order=14, answered=np.zeros(60, dtype=bool)).statement
    assert "ln(Pr_D[outputs] / Pr_D'[outputs])" in realised
    independent = cost(mode="independent", max_answers=5, noise="scaled", group=2).statement
    assert "differentially private" in independent
    assert "after 5 answers" in independent
    assert "2^16" in independent
    assert "one party with 2 teachers" in independent


@pytest.mark.parametrize("mode", ["joint", "exact", "independent", "expected"])
def test_costs_round_trip_through_plain_data(mode):
    found = cost(mode=mode)
    data = json.loads(json.dumps(found.to_dict()))
    assert PrivacyCost.from_dict(data) == found


def test_unanimous_thousands_have_a_price():
    votes = np.zeros((50, 150), dtype=int)
    votes[:, 3] = 5000
    for aggregator in (GNMax(60), ConfidentGNMax(3500, 1500, 100), LNMax(50)):
        found = privacy_cost(votes, aggregator, target_delta=1e-8)
        assert found.mode == "joint"
        assert all(math.isfinite(part) and part >= 0 for part in found.rdp)
        assert found.epsilon < 0.2


def test_the_front_door_has_the_price():
    assert pate.privacy_cost is privacy_cost
    assert pate.PrivacyCost is PrivacyCost
    assert sorted(pate.__all__) == pate.__all__
