"""Published costs: what they estimate, what they cost, what they say and what they refuse."""

import dataclasses
import json
import math

import numpy as np
import pytest
from helpers.scope import size

from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.noise import KeyedSource
from ogive.pate.aggregators import ConfidentGNMax, GNMax, InteractiveGNMax, LargestMargins, LNMax
from ogive.pate.costs.answers import epsilon_of_rdp
from ogive.pate.costs.cost import privacy_cost
from ogive.pate.sensitivity import sanitize as sanitizing
from ogive.pate.sensitivity.sanitize import SanitizedCost, gnss_rdp, sanitize
from ogive.pate.sensitivity.smooth import smooth_cost

CONFIDENT = ConfidentGNMax(40, 20, 8)


def some_votes(queries=60, teachers=60, classes=4, seed=1):
    rng = np.random.default_rng(seed)
    return np.array([rng.multinomial(teachers, rng.dirichlet(np.full(classes, 0.2))) for _ in range(queries)])


def sanitized(seed=1, votes=None, aggregator=CONFIDENT, **options):
    settings = {"target_delta": 1e-5, "source": KeyedSource.from_seed(seed)} | options
    return sanitize(some_votes() if votes is None else votes, aggregator, **settings)


# name, queries, aggregator, order, planned epsilon, cap; joint cost, SS, sd and total; answers, cost, epsilon, SS and
# total of the additive form for the transcript "answered iff a class has 200 votes"
REAL = [
    (
        ("mnist_250", 640, ConfidentGNMax(200, 150, 40), 14.0, 2.0, 300),
        (1.1419300, 0.1055, 0.684, 2.2677),
        (204, 0.2955106, 1.181120, 0.05219, 1.6984),
    ),
    (
        ("adult_250", 1500, ConfidentGNMax(300, 200, 40), 15.5, 1.7, 600),
        (0.8548739, 0.0810, 0.602, 1.8338),
        (1202, 0.3005464, 1.094541, 0.12443, 1.5352),
    ),
]


@pytest.mark.parametrize(("run", "joint", "additive"), REAL, ids=["mnist", "adult"])
def test_the_sanitized_rows_of_the_specification_on_real_votes(run, joint, additive, shared_data):
    name, queries, aggregator, order, planned, cap = run
    votes = np.load(shared_data("pate_teacher_votes.npz"))[name][:queries].astype(np.int64)
    settings = {"order": order, "smoothness": 0.35 / order}
    found = smooth_cost(votes, aggregator, **settings)
    cost, sensitivity, width, total = joint
    assert found.cost == pytest.approx(cost, abs=6e-8)
    assert found.sensitivity == pytest.approx(sensitivity, rel=0.005)
    public = sanitized(
        votes=votes,
        aggregator=aggregator,
        order=order,
        planned_epsilon=planned,
        max_answers=cap,
        noise="continuous",
        upper_limit=False,
    )
    assert public.scale * found.sensitivity == pytest.approx(width, rel=0.005)
    without_noise = dataclasses.replace(public, rdp=found.cost)
    assert without_noise.epsilon == pytest.approx(total, abs=6e-5)
    assert abs(public.epsilon - total) < 6 * width
    assert public.independent_epsilon == pytest.approx({300: 2.606957, 600: 3.813948}[cap], abs=2e-6)

    answers, cost, epsilon, sensitivity, total = additive
    answered = votes.max(axis=1) >= 200
    assert answered.sum() == answers
    found = smooth_cost(votes, aggregator, **settings, form="additive", answered=answered)
    assert found.method == "algorithms"
    assert found.cost == pytest.approx(cost, abs=6e-8)
    assert epsilon_of_rdp([found.cost], [order], target_delta=1e-5, rule="paper").value == pytest.approx(
        epsilon, abs=1e-6
    )
    assert found.sensitivity == pytest.approx(sensitivity, abs=6e-6)
    public = sanitized(
        votes=votes,
        aggregator=aggregator,
        order=order,
        planned_epsilon=planned,
        form="additive",
        answered=answered,
        upper_limit=False,
    )
    assert dataclasses.replace(public, rdp=found.cost).epsilon == pytest.approx(total, abs=6e-5)


def test_the_cost_is_the_one_that_is_reported():
    votes = some_votes()
    for noise in ("continuous", "discrete", "scaled"):
        reported = privacy_cost(votes, CONFIDENT, target_delta=1e-5, mode="joint", noise=noise, order=6.0)
        found = smooth_cost(votes, CONFIDENT, order=6.0, smoothness=0.05, noise=noise)
        assert found.cost == pytest.approx(reported.rdp[0], rel=1e-12)
        reported = privacy_cost(votes, GNMax(8), target_delta=1e-5, mode="joint", noise=noise, order=6.0)
        found = smooth_cost(votes, GNMax(8), order=6.0, smoothness=0.05, noise=noise)
        assert found.cost == pytest.approx(reported.rdp[0], rel=1e-12)


def test_estimates_scatter_around_the_truth_as_wide_as_the_sensitivity_says(monkeypatch):
    """Level about 1e-9 for each of two moments, 400 releases or 225; the control is a width 30 % off."""
    votes = some_votes()
    truth = smooth_cost(votes, CONFIDENT, order=6.0, smoothness=0.05)
    runs = size(400, part=225)
    # the same each time
    monkeypatch.setattr(sanitizing, "smooth_cost", lambda *_, **__: truth)
    source = KeyedSource.from_seed(9)
    found = [
        sanitize(votes, CONFIDENT, target_delta=1e-5, order=6, smoothness=0.05, scale=2, source=source)
        for _ in range(runs)
    ]
    errors = (np.array([cost.rdp for cost in found]) - truth.cost) / (2 * truth.sensitivity)
    assert abs(errors.mean()) < 6 / math.sqrt(runs)
    assert abs(errors.std() - 1) < 6 / math.sqrt(2 * runs) < 0.3
    logs = (np.array([cost.log_sensitivity for cost in found]) - math.log(truth.sensitivity)) / 0.5
    assert abs(logs.mean()) < 6 / math.sqrt(runs)
    assert abs(logs.std() - 1) < 6 / math.sqrt(2 * runs)
    assert abs(np.corrcoef(errors, logs)[0, 1]) < 6 / math.sqrt(runs)
    whole = truth.cost + found[0].release_rdp
    epsilon = epsilon_of_rdp([whole], [6.0], target_delta=1e-5).value
    limits = np.array([cost.upper_limit for cost in found])
    # two errors of 2.5 % at most: 0.95 of them, less five standard deviations
    assert (limits >= epsilon).sum() >= 0.95 * runs - 5 * math.sqrt(0.95 * 0.05 * runs)
    estimates = np.array([cost.epsilon for cost in found])
    assert 0.3 < (estimates < epsilon).mean() < 0.7


def test_the_price_of_publishing_is_counted():
    with_limit, without = sanitized(upper_limit=True), sanitized(upper_limit=False)
    paid = gnss_rdp(without.order, without.smoothness, without.scale)
    assert without.release_rdp == paid
    assert with_limit.release_rdp == pytest.approx(paid + with_limit.order / 200)
    assert without.log_sensitivity is without.upper_limit is None
    assert with_limit.upper_limit > with_limit.epsilon
    whole = max(without.rdp, 0) + paid
    expected = epsilon_of_rdp([whole], [without.order], target_delta=1e-5, rule="tight").value
    assert without.epsilon == pytest.approx(expected)


def test_choices_depend_on_public_numbers_alone():
    one, other = sanitized(votes=some_votes(seed=2)), sanitized(votes=some_votes(seed=3))
    for name in ("order", "smoothness", "scale", "independent_epsilon", "method", "reason", "max_answers"):
        assert getattr(one, name) == getattr(other, name)
    assert one.smoothness == pytest.approx(0.35 / one.order)
    planned = sanitized(planned_epsilon=3.0)
    assert planned.order == pytest.approx(1 + 2 * math.log(1e5) / 3, abs=0.26)


def test_the_operating_system_gives_the_noise_by_default():
    votes = some_votes()
    found = {sanitize(votes, CONFIDENT, target_delta=1e-5).rdp for _ in range(8)}
    assert len(found) > 1
    assert sanitized(seed=5).rdp == sanitized(seed=5).rdp


@pytest.mark.parametrize("upper_limit", [True, False])
def test_a_published_cost_comes_back_from_json(upper_limit):
    cost = sanitized(upper_limit=upper_limit)
    data = json.loads(json.dumps(cost.to_dict(), allow_nan=False))
    assert SanitizedCost.from_dict(data) == cost
    assert data["epsilon"] == cost.epsilon
    assert data["statement"] == cost.statement == str(cost)
    for name, value in (("order", "6"), ("order", 1e9), ("queries", -1), ("form", "other"), ("rdp", None)):
        with pytest.raises(DataError, match=name):
            SanitizedCost.from_dict(data | {name: value})
    with pytest.raises(DataError, match="lacks the field 'rdp'"):
        SanitizedCost.from_dict({name: value for name, value in data.items() if name != "rdp"})
    for strange in (None, {}, {"schema": "ogive.labels/1"}, []):
        with pytest.raises(DataError, match="not a sanitized cost"):
            SanitizedCost.from_dict(strange)


def test_nothing_private_is_in_what_is_published():
    votes = some_votes()
    cost = sanitized(votes=votes)
    truth = smooth_cost(votes, CONFIDENT, order=cost.order, smoothness=cost.smoothness)
    numbers = [value for value in cost.to_dict().values() if isinstance(value, float)]
    private = (truth.cost, truth.sensitivity, math.log(truth.sensitivity), truth.sensitivity * cost.scale)
    assert all(abs(number - secret) > 1e-9 for number in numbers for secret in private)
    assert round(cost.rdp * 1000) == pytest.approx(cost.rdp * 1000, abs=1e-9)
    assert round(cost.log_sensitivity * 1000) == pytest.approx(cost.log_sensitivity * 1000, abs=1e-9)


def test_statements_say_what_the_number_means():
    joint = sanitized()
    votes = some_votes()
    additive = sanitized(votes=votes, form="additive", answered=votes.max(axis=1) >= 40)
    for cost in (joint, additive):
        text = cost.statement
        assert f"epsilon = {cost.epsilon:.3f}" in text
        assert f"epsilon = {math.ceil(1000 * cost.independent_epsilon) / 1000:.3f}" in text
        for words in (
            "an estimate with noise, not a bound",
            "half of the time it is below",
            "not differential privacy",
        ):
            assert words in text
        assert "must not be published" in text
        assert f"at most {math.ceil(1000 * cost.upper_limit) / 1000:.3f}" in text
    # what may be spent is rounded up
    above = dataclasses.replace(joint, independent_epsilon=2.5001, delta=1.23456123e-5).statement
    assert "epsilon = 2.501 with" in above
    assert "delta = 1.23457e-05 (" in above
    assert "Pr[M(D) in Y]" in joint.statement
    assert "ln(Pr_D[outputs]" in additive.statement
    assert f"of which {additive.answered} were answered" in additive.statement
    assert "95 %" not in sanitized(upper_limit=False).statement
    assert (joint.rule, additive.rule) == ("tight", "paper")


def test_labels_tell_which_queries_were_answered():
    votes = some_votes()
    answered = votes.max(axis=1) >= 40
    labels = np.where(answered, votes.argmax(axis=1), -1)
    one = sanitized(votes=votes, form="additive", answered=answered)
    assert one == sanitized(votes=votes, form="additive", answered=labels)
    nothing = sanitized(votes=votes, form="additive", answered=np.zeros(60, bool))
    assert nothing.answered == 0


def test_interactive_rounds_have_both_forms():
    votes = some_votes()
    aggregator = InteractiveGNMax(40, 20, 8, "0.9")
    even = np.full(votes.shape, 0.25)
    joint = smooth_cost(votes, aggregator, order=6.0, smoothness=0.05, probabilities=even)
    reported = privacy_cost(votes, aggregator, target_delta=1e-5, mode="joint", order=6.0, probabilities=even)
    assert joint.cost == pytest.approx(reported.rdp[0], rel=1e-12)
    answered = votes.max(axis=1) >= 50
    additive = smooth_cost(votes, aggregator, order=6.0, smoothness=0.05, form="additive", answered=answered)
    confident = smooth_cost(votes, CONFIDENT, order=6.0, smoothness=0.05, form="additive", answered=answered)
    assert additive == confident
    with pytest.raises(ParameterError, match="needs the student's probabilities"):
        sanitized(aggregator=aggregator)


def test_the_cost_is_that_of_labels_as_they_are_drawn(monkeypatch):
    """By default of integers on votes times 2^16; both the cost that is published and the one beside it."""
    meant = []

    def recorded(*arguments, noise, **options):
        meant.append(noise)
        return smooth_cost(*arguments, noise=noise, **options)

    monkeypatch.setattr(sanitizing, "smooth_cost", recorded)
    published = [sanitized(**options) for options in ({}, {"noise": "continuous"})]
    assert meant == ["scaled", "continuous"]
    for cost, noise in zip(published, meant, strict=True):
        independent = privacy_cost(some_votes(), CONFIDENT, target_delta=1e-5, mode="independent", noise=noise)
        assert cost.independent_epsilon == independent.epsilon
    assert published[0].independent_epsilon > published[1].independent_epsilon


def test_gnmax_says_which_method_was_used():
    assert sanitized(aggregator=GNMax(8), order=5).method == "algorithms"
    loose = sanitized(aggregator=GNMax(4), order=8)
    assert (loose.method, "C6" in loose.reason) == ("ranges", True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target_delta": 0}, "target_delta must be strictly between 0 and 1"),
        ({"target_delta": 1}, "target_delta must be strictly between 0 and 1"),
        ({"order": 1}, "order"),
        ({"order": 14, "smoothness": 0.04}, "below 1 / .* = 13.0"),
        ({"smoothness": -1}, "smoothness must be above 0"),
        ({"scale": 0}, "scale must be above 0"),
        ({"planned_epsilon": 0}, "planned_epsilon must be above 0"),
        ({"form": "both"}, "form must be joint or additive"),
        ({"form": "additive"}, "needs answered"),
        ({"form": "additive", "answered": [True]}, "must be 60 truth values"),
        ({"answered": np.ones(60, bool)}, "answered goes with the additive form"),
        ({"probabilities": np.full((60, 4), 0.25)}, "probabilities go with"),
        ({"noise": "loud"}, "noise must be one of"),
        ({"max_answers": 0}, "max_answers"),
    ],
)
def test_refuses_in_one_line(options, words):
    with pytest.raises(ParameterError, match=words) as caught:
        sanitized(**options)
    assert "\n" not in str(caught.value)


def test_refuses_what_has_no_smooth_sensitivity():
    for aggregator in (LNMax(20), LargestMargins(40, 10)):
        with pytest.raises(UnsupportedError, match="data-independent"):
            sanitized(aggregator=aggregator)
    with pytest.raises(DataError, match="3 or more teachers, got 2"):
        sanitized(votes=[[2, 0], [1, 1]])
    with pytest.raises(DataError, match="add up"):
        sanitized(votes=[[3, 1], [2, 1]])


def test_the_upper_limit_leaves_room_for_both_errors():
    cost = dataclasses.replace(sanitized(), rdp=0.4, log_sensitivity=-3.0)
    room = 1.959964 * cost.scale * math.exp(-3 + 0.0005 + 1.959964 * 10 * cost.smoothness)
    wanted = epsilon_of_rdp([0.4005 + room + cost.release_rdp], [cost.order], target_delta=1e-5).value
    assert cost.upper_limit == pytest.approx(wanted, rel=1e-6)
