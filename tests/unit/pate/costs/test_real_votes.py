"""Every cost that the specification states for the published votes, in stored order."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import logsumexp

from ogive.pate.aggregators import ConfidentGNMax, LargestMargins
from ogive.pate.costs import threshold as confident
from ogive.pate.costs.answers import ORDERS, epsilon_of_rdp, logq_gnmax, rdp_gnmax
from ogive.pate.costs.cost import gaussian_epsilon, gaussian_loss, privacy_cost
from ogive.pate.costs.exact import rdp_exact
from ogive.pate.costs.threshold import check_tails, rdp_threshold, sup_threshold

HALVES = np.arange(4, 201) / 2
DELTA = 1e-5


class Row:
    """One row of the paper's Table 2: votes and what was run on them."""

    def __init__(self, published, name, queries, threshold, sigma_1, order):
        self.votes = np.load(published)[name][:queries].astype(np.int64)
        self.threshold, self.sigma_1, self.sigma_2, self.order = threshold, sigma_1, 40, order
        self.highest = self.votes.max(axis=1)
        self.aggregator = ConfidentGNMax(threshold, sigma_1, 40)
        self.log_pass, _ = check_tails(self.highest, threshold, sigma_1)

    def check(self, mode, orders=ORDERS):
        if mode == "sup":
            worst = sup_threshold(self.threshold, self.sigma_1, orders, teachers=250)
            return np.broadcast_to(worst, (self.highest.size, worst.size))
        return rdp_threshold(self.highest, self.threshold, self.sigma_1, orders, mode)

    def answer(self, orders=ORDERS, noise="continuous"):
        return rdp_gnmax(logq_gnmax(self.votes, 40, noise=noise), 40, orders)

    def joint(self, answers, orders=ORDERS):
        return confident.joint(self.highest, self.threshold, self.sigma_1, answers, orders)


@pytest.fixture(scope="module")
def rows(shared_data):
    published = shared_data("pate_teacher_votes.npz")
    return {
        "mnist": Row(published, "mnist_250", 640, 200, 150, 14),
        "adult": Row(published, "adult_250", 1500, 300, 200, 15.5),
    }


def converted(costs, orders=ORDERS):
    """Epsilon and order by both rules."""
    total = costs.sum(axis=0)
    return [
        number for rule in ("paper", "tight") for number in epsilon_of_rdp(total, orders, target_delta=DELTA, rule=rule)
    ]


def agrees(found, expected):
    assert found[0] == pytest.approx(expected[0], abs=1.5e-6)
    assert found[2] == pytest.approx(expected[2], abs=1.5e-6)
    assert found[1::2] == expected[1::2]


@pytest.mark.parametrize(
    ("name", "check", "expected"),
    [
        ("mnist", "theorem3", [1.998817, 14, 1.711902, 12.5]),
        ("mnist", "exact", [1.922131, 14.5, 1.642685, 13]),
        ("mnist", "sup", [1.924796, 14.5, 1.645133, 13]),
        ("adult", "theorem3", [1.678180, 15.5, 1.413617, 14]),
        ("adult", "exact", [1.558649, 16.5, 1.306979, 15]),
        ("adult", "sup", [1.564761, 16.5, 1.312591, 15]),
    ],
)
def test_expected_costs(rows, name, check, expected):
    votes = rows[name]
    agrees(converted(confident.expected(votes.check(check), votes.log_pass, votes.answer())), expected)


def _sub_gaussian(votes):
    """A looser bound that the library does not offer: the sum of exp(-gap^2 / (4 sigma^2)), clamped."""
    gaps = votes.max(axis=1, keepdims=True) - votes
    terms = -(gaps.astype(float) ** 2) / (4 * 40**2)
    terms[np.arange(len(votes)), votes.argmax(axis=1)] = -np.inf
    return np.minimum(logsumexp(terms, axis=1), math.log1p(-1 / votes.shape[1]))


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("mnist", "joint", [2.024434, 13.5, 1.725225, 12]),
        ("mnist", "integer", [2.048262, 13, 1.747335, 12]),
        ("mnist", "sub-gaussian", [3.063011, 9.5, 2.671431, 8.5]),
        ("mnist", "exact answer", [1.213728, 18, 0.976132, 16]),
        ("adult", "joint", [1.648105, 15, 1.376669, 13.5]),
        ("adult", "integer", [1.656295, 15, 1.383863, 13.5]),
        ("adult", "sub-gaussian", [2.015470, 13, 1.706285, 11.5]),
        ("adult", "exact answer", [1.244395, 17.5, 1.005292, 16]),
    ],
)
def test_joint_costs(rows, name, kind, expected):
    votes = rows[name]
    orders = HALVES if kind == "exact answer" else ORDERS
    answers = {
        "joint": votes.answer,
        "integer": lambda: votes.answer(noise="discrete"),
        "sub-gaussian": lambda: rdp_gnmax(_sub_gaussian(votes.votes), 40, ORDERS),
        "exact answer": lambda: rdp_exact(votes.votes, 40, HALVES),
    }[kind]()
    agrees(converted(votes.joint(answers, orders), orders), expected)


@pytest.mark.parametrize(
    ("name", "mode", "expected"),
    [
        ("mnist", "expected", [1.998817, 14, 1.711902, 12.5]),
        ("mnist", "joint", [2.024434, 13.5, 1.725225, 12]),
        ("mnist", "joint_two_sided", [2.078880, 13, 1.775988, 12]),
        ("mnist", "exact", [1.133693, 20, 0.913991, 17.5]),
        ("mnist", "exact_two_sided", [1.143853, 19.5, 0.922680, 17.5]),
        ("adult", "expected", [1.678180, 15.5, 1.413617, 14]),
        ("adult", "joint", [1.648105, 15, 1.376669, 13.5]),
        ("adult", "joint_two_sided", [1.668747, 15, 1.394921, 13.5]),
        ("adult", "exact", [1.172645, 19.5, 0.950023, 17.5]),
        ("adult", "exact_two_sided", [1.181280, 19.5, 0.957493, 17.5]),
    ],
)
def test_privacy_cost_has_them_all(rows, name, mode, expected):
    votes = rows[name]
    found = []
    for rule in ("paper", "tight"):
        cost = privacy_cost(votes.votes, votes.aggregator, target_delta=DELTA, mode=mode, rule=rule)
        assert not cost.publishable
        assert cost.answers == pytest.approx({"mnist": 282.7210292, "adult": 538.2613062}[name], abs=1e-6)
        found += [cost.epsilon, cost.order]
    agrees(found, expected)


@pytest.mark.each_value
@pytest.mark.parametrize("name", ["mnist", "adult"])
@pytest.mark.parametrize("mode", ["exact", "exact_two_sided"])
def test_exact_costs_of_the_integers_that_are_drawn_are_hardly_higher(rows, name, mode):
    votes = rows[name]
    continuous, drawn = (
        privacy_cost(votes.votes, votes.aggregator, target_delta=DELTA, mode=mode, noise=noise)
        for noise in ("continuous", "scaled")
    )
    assert 1 < drawn.epsilon / continuous.epsilon < 1 + 3e-5
    excess = np.array(drawn.rdp) / continuous.rdp - 1
    assert np.all((excess > 0) & (excess < 2e-4))
    joint = privacy_cost(votes.votes, votes.aggregator, target_delta=DELTA, mode="joint", noise="scaled")
    assert drawn.epsilon < 0.75 * joint.epsilon


def test_the_default_is_exact(rows):
    votes = rows["mnist"]
    cost = privacy_cost(votes.votes, votes.aggregator, target_delta=DELTA)
    assert (cost.mode, cost.rule, cost.order) == ("exact", "tight", 17.5)
    assert cost.epsilon == pytest.approx(0.913991, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "expected"), [("mnist", [3.786712, 7.5, 3.316724, 7]), ("adult", [4.696283, 6.5, 4.156740, 6])]
)
def test_largest_joint_cost_over_all_votes(rows, name, expected):
    votes = rows[name]
    worst = confident.joint(np.arange(251), votes.threshold, votes.sigma_1, ORDERS / 1600, ORDERS).max(axis=0)
    agrees(converted(len(votes.votes) * worst[None]), expected)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("mnist", [0.1991111, 0.1241824, 0.1267760, 0.9140958, 1.1132069, 1.1419300, 1.1990847, 282.7210292, 12.38]),
        ("adult", [0.2906250, 0.1763449, 0.1821250, 0.5935601, 0.8841851, 0.8548739, 0.8763203, 538.2613062, 18.43]),
    ],
)
def test_parts_at_the_orders_of_the_paper(rows, name, parts):
    votes = rows[name]
    grid = np.array([votes.order])
    chance = np.exp(votes.log_pass)
    answers = votes.answer(grid)
    passed = (chance[:, None] * answers).sum()
    two_sided = privacy_cost(
        votes.votes, votes.aggregator, target_delta=DELTA, mode="joint_two_sided", order=votes.order
    )
    found = [votes.check(mode, grid).sum() for mode in ("theorem3", "exact", "sup")]
    found += [passed, found[0] + passed, votes.joint(answers, grid).sum(), two_sided.rdp[0], chance.sum()]
    assert found == pytest.approx(parts[:-1], abs=1e-7)
    assert math.sqrt((chance * (1 - chance)).sum()) == pytest.approx(parts[-1], abs=5e-3)
    # the check's data-dependent form is never reached here
    assert np.all(votes.check("theorem3", grid) == votes.check("independent", grid))


@pytest.mark.parametrize(
    ("name", "expectation", "cap", "figures"),
    [
        ("mnist", "282.7210292", 300, [2.527356, 2.606957, 3.848610, 2.709155]),
        ("adult", "538.2613062", 600, [3.594921, 3.813948, 6.325715, 3.917302]),
    ],
)
def test_data_independent_costs(rows, name, expectation, cap, figures):
    votes = rows[name]
    queries, classes = votes.votes.shape
    average = Fraction(queries, votes.sigma_1**2) + 2 * Fraction(expectation) / 1600
    capped = privacy_cost(votes.votes, votes.aggregator, target_delta=DELTA, mode="independent", max_answers=cap)
    opened = privacy_cost(votes.votes, LargestMargins(40, cap), target_delta=DELTA)
    twice = [
        gaussian_loss(answers=times, sigma_2=sigma, classes=classes)
        for times, sigma in ((queries, votes.sigma_1), (cap, 40))
    ]
    from ogive.privacy import GaussianDP

    found = [
        gaussian_epsilon(GaussianDP(average), "1e-5"),
        capped.epsilon,
        opened.epsilon,
        gaussian_epsilon(GaussianDP(twice[0].mu_squared + twice[1].mu_squared), "1e-5"),
    ]
    assert found == pytest.approx(figures, abs=1.5e-6)
    assert capped.publishable
    assert opened.publishable
    assert opened.rule == "gaussian"


def test_scaled_noise_as_deployed_costs_next_to_nothing_more(rows):
    votes = rows["mnist"]
    capped = [
        privacy_cost(
            votes.votes, votes.aggregator, target_delta=DELTA, mode="independent", max_answers=300, noise=noise
        ).epsilon
        for noise in ("continuous", "scaled", "discrete")
    ]
    assert 0 < capped[1] - capped[0] < 1e-4
    assert capped[2] > capped[1] + 0.1  # by Renyi costs
    joint = [
        privacy_cost(votes.votes, votes.aggregator, target_delta=DELTA, mode="joint", noise=noise).epsilon
        for noise in ("continuous", "scaled", "discrete")
    ]
    assert 0 < joint[1] - joint[0] < 1e-5
    assert joint[2] == pytest.approx(1.747335, abs=5e-3)  # there with a continuous check, which passes less often


@pytest.mark.parametrize(
    ("name", "answers", "cost", "epsilon"), [("mnist", 204, 0.2955106, 1.181120), ("adult", 1202, 0.3005464, 1.094541)]
)
def test_transcript_of_the_additive_form(rows, name, answers, cost, epsilon):
    votes = rows[name]
    answered = votes.highest >= 200
    assert answered.sum() == answers
    grid = np.array([votes.order])
    paid = confident.realised(votes.check("sup", grid), answered, votes.answer(grid)).sum(axis=0)
    assert paid[0] == pytest.approx(cost, abs=1e-7)
    assert epsilon_of_rdp(paid, grid, target_delta=DELTA, rule="paper").value == pytest.approx(epsilon, abs=1e-6)
    realised = privacy_cost(
        votes.votes, votes.aggregator, target_delta=DELTA, mode="realised", answered=answered, order=votes.order
    )
    assert epsilon - 0.01 < realised.epsilon < epsilon  # the check at its exact cost
    assert (realised.rule, realised.answers) == ("paper", answers)
