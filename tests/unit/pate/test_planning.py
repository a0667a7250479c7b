"""Plans of labels: what they predict is what happens, what they take costs no more than is granted, and less would."""

import dataclasses
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ogive.errors import BudgetError, DataError, ParameterError
from ogive.pate import LabelsPlan, LabelsPlanRow, label, plan_labels, simulated_votes
from ogive.pate.planning import Rehearsal, up
from ogive.privacy import ApproxDP

VOTES, TRUTH = simulated_votes(300, 250, 5, seed=8)
DELTA = 1e-5
EPSILONS, ANSWERS = (1, 3), (40, 150)
RUNS = 40


PLANNED = [
    (float(epsilon), most, name)
    for epsilon in EPSILONS
    for most in ANSWERS
    for name in ("confident", "margins", "gnmax")
]


@cache
def planned():
    """The plan that most tests are about."""
    return plan_labels(VOTES, truth=TRUTH, epsilons=EPSILONS, target_delta=DELTA, answers=ANSWERS)


def ran(row, votes, wanted):
    """What the aggregator itself does: answers until the cap, with noise of its own; means and their errors."""
    found = []
    for _ in range(RUNS):
        labels = row.made().answer(votes[: row.asked])
        given = np.flatnonzero(labels >= 0)[: row.max_answers]
        found.append((len(given), (labels[given] == wanted[given]).sum()))
    counts, right = np.array(found, dtype=float).T
    share = right.sum() / max(counts.sum(), 1)
    spread = np.sqrt(((right - share * counts) ** 2).mean() * RUNS) / max(counts.sum(), 1)
    return counts.mean(), counts.std() / np.sqrt(RUNS), share, spread


def agrees(row, votes, wanted):
    answered, answered_error, right, right_error = ran(row, votes, wanted)
    # the plan has errors of its own, of the same size: five deviations of the difference
    far = 5 * np.sqrt(2)
    return (
        abs(answered - row.answered) <= far * answered_error + 0.5
        and abs(right - row.right) <= far * right_error + 0.005
    )


@pytest.fixture(params=PLANNED, ids=lambda terms: "-".join(map(str, terms)))
def row(request):
    """Each row of the plan."""
    return next(row for row in planned().rows if (row.epsilon, row.max_answers, row.aggregator) == request.param)


def test_every_row_of_the_plans_is_looked_at():
    assert [(row.epsilon, row.max_answers, row.aggregator) for row in planned().rows] == PLANNED
    assert [(row.epsilon, row.aggregator) for row in second().rows] == CORRECTING


def test_what_is_predicted_is_what_aggregators_do(row):
    assert agrees(row, VOTES, TRUTH)


def test_the_comparison_sees_another_threshold_and_more_noise():
    row = next(row for row in planned().rows if row.aggregator == "confident" and row.max_answers == 150)
    shifted = row.parameters | {"threshold": 2 * row.parameters["threshold"]}
    assert not agrees(dataclasses.replace(row, parameters=shifted), VOTES, TRUTH)
    louder = row.parameters | {"sigma_2": 2 * row.parameters["sigma_2"]}
    assert not agrees(dataclasses.replace(row, parameters=louder), VOTES, TRUTH)


def test_labels_as_planned_cost_what_is_granted_and_nearly_all_of_it(row):
    most = None if row.aggregator == "margins" else row.max_answers
    asked = VOTES[: row.asked]
    found = label(asked, row.made(), privacy=ApproxDP(row.epsilon, DELTA), max_answers=most)
    assert found.provenance.privacy.epsilon == row.epsilon
    with pytest.raises(BudgetError):
        label(asked, row.made(), privacy=ApproxDP(row.epsilon * 0.998, DELTA), max_answers=most)


def test_rows_are_the_best_of_what_was_tried():
    """Exhaustive and independent: no threshold of the grid beats the planned one at its own noise."""
    rehearsal = Rehearsal(VOTES, TRUTH)
    for row in planned().rows:
        if row.aggregator != "confident":
            continue
        said = row.parameters
        right = rehearsal.right(said["sigma_2"], asked=row.asked)
        gains = []
        for threshold in np.arange(100, 251, 25):
            one = rehearsal.confident(right, threshold=threshold, sigma_1=said["sigma_1"], most=row.max_answers)
            gains.append(one.answered * one.right)
        assert row.answered * row.right >= max(gains) - 1e-9


def test_margins_beat_the_check_at_equal_price_on_votes_like_the_specifications():
    """C31: one opened histogram per query, filtered by its margin, beats the threshold where many are answered."""
    rows = {row.aggregator: row for row in planned().rows if (row.epsilon, row.max_answers) == (3, 150)}
    gain = {name: row.answered * row.right for name, row in rows.items()}
    assert gain["margins"] > gain["confident"]
    assert gain["margins"] > gain["gnmax"]
    assert planned().best == rows["margins"]


def test_fewer_queries_are_asked_where_noise_is_loud():
    row = next(row for row in planned().rows if (row.epsilon, row.aggregator, row.max_answers) == (1, "margins", 40))
    assert row.asked < len(VOTES)
    mu = np.sqrt(2 * row.asked) / row.parameters["sigma"]
    rehearsal = Rehearsal(VOTES, TRUTH)
    whole = rehearsal.margins(np.sqrt(2 * len(VOTES)) / mu, asked=len(VOTES), keep=40)
    assert whole.right < row.right


def test_margins_are_never_worse_than_answers_to_as_many_queries():
    """To open the histograms of all that are answered costs what their labels cost."""
    for row in planned().rows:
        if row.aggregator == "gnmax":
            others = (
                each for each in planned().rows if (each.epsilon, each.max_answers) == (row.epsilon, row.max_answers)
            )
            margins = next(each for each in others if each.aggregator == "margins")
            assert margins.answered * margins.right >= row.answered * row.right - 1e-9


def test_margins_of_a_rehearsal_are_those_of_a_slow_oracle():
    rehearsal = Rehearsal(VOTES, TRUTH, seed=3)
    found = rehearsal.margins(30.0, asked=40, keep=9)
    noisy = VOTES[:40] + 30.0 * rehearsal._noise[:, :40].astype(float)
    right = []
    for run in noisy:
        top = np.sort(run, axis=1)
        kept = np.argsort(top[:, -2] - top[:, -1])[:9]
        right.append((run[kept].argmax(axis=1) == TRUTH[kept]).mean())
    assert found.answered == 9
    assert found.right == pytest.approx(np.mean(right), abs=1e-3)


def test_the_plurality_stands_in_for_the_truth_and_joint_costs_are_below_the_guarantee():
    plan = plan_labels(VOTES, epsilons=[3], target_delta=DELTA, answers=[100])
    assert not plan.known
    assert planned().known
    assert "agree with the plurality" in str(plan)
    assert "agree with the truth" in str(planned())
    for row in (*plan.rows, *planned().rows):
        assert (row.joint is None) == (row.aggregator == "margins")
        assert row.joint is None or 0 < row.joint <= row.epsilon


SCORES = np.random.default_rng(4).dirichlet(np.full(5, 0.2), 300)
SECOND_VOTES, SECOND_TRUTH = simulated_votes(300, 250, 5, probabilities=SCORES, seed=6)
SECOND_EPSILONS = (1, 4)


@cache
def second():
    """The plan for a student who has scores."""
    return plan_labels(
        SECOND_VOTES,
        truth=SECOND_TRUTH,
        probabilities=SCORES,
        epsilons=SECOND_EPSILONS,
        target_delta=DELTA,
        answers=[30],
    )


def corrects(row, scores):
    """What the aggregator itself does: answers of teachers that are right where the student errs; mean and error."""
    errs = scores.argmax(axis=1) != SECOND_TRUTH
    found = []
    for _ in range(RUNS):
        made, asked = row.made(), SECOND_VOTES[: row.asked]
        if row.aggregator == "interactive":  # as sure as nobody is, so that no label is the student's own
            made = dataclasses.replace(row, parameters=row.parameters | {"confidence": 1 - 1e-9}).made()
        given = scores[: row.asked] if row.aggregator == "interactive" else None
        labels = made.answer(asked, probabilities=given)
        taught = np.flatnonzero(labels >= 0)[: row.max_answers]
        found.append(((labels == SECOND_TRUTH[: row.asked]) & errs[: row.asked])[taught].sum())
    return np.mean(found), np.std(found) / np.sqrt(RUNS)


CORRECTING = [
    (float(epsilon), name) for epsilon in SECOND_EPSILONS for name in ("confident", "interactive", "margins", "gnmax")
]


@pytest.mark.parametrize("terms", CORRECTING, ids=lambda terms: "-".join(map(str, terms)))
def test_what_corrects_a_student_is_predicted_too(terms):
    row = next(row for row in second().rows if (row.epsilon, row.aggregator) == terms)
    mean, error = corrects(row, SCORES)
    assert abs(mean - row.corrected) <= 7 * error + 0.5


def test_the_check_of_corrections_sees_another_student():
    """The control: a plan for one student predicts nothing about another."""
    row = next(row for row in second().rows if (row.epsilon, row.aggregator) == (4, "interactive"))
    mean, error = corrects(row, SCORES[::-1])
    assert abs(mean - row.corrected) > 7 * error + 0.5


def test_a_second_round_asks_what_the_student_does_not_know():
    for epsilon in (1, 4):
        rows = {row.aggregator: row for row in second().rows if row.epsilon == epsilon}
        assert list(rows) == ["confident", "interactive", "margins", "gnmax"]
        others = [row.corrected for name, row in rows.items() if name != "interactive"]
        assert rows["interactive"].corrected > 1.5 * max(others)
        assert rows["interactive"].parameters["confidence"] == 0.9
    assert second().best.aggregator == "interactive"
    assert "corrects" in str(second())
    assert "corrects" not in str(planned())
    assert LabelsPlan.from_json(second().to_json()) == second()


def test_a_second_round_costs_what_is_granted():
    for row in second().rows:
        if row.aggregator == "interactive":
            asked, scores = SECOND_VOTES[: row.asked], SCORES[: row.asked]
            granted = ApproxDP(row.epsilon, DELTA)
            label(asked, row.made(), privacy=granted, max_answers=row.max_answers, probabilities=scores)
            less = ApproxDP(row.epsilon * 0.998, DELTA)
            with pytest.raises(BudgetError):
                label(asked, row.made(), privacy=less, max_answers=row.max_answers, probabilities=scores)


def test_imagined_truths_follow_what_a_student_believes():
    scores = np.tile([0.6, 0.3, 0.1, 0.0], (20_000, 1))
    _, truth = simulated_votes(20_000, 10, 4, probabilities=scores)
    counts = np.bincount(truth, minlength=4)
    assert counts[3] == 0
    assert np.abs(counts[:3] - [12_000, 6000, 2000]).max() < 5 * np.sqrt(20_000 * 0.24)


def test_more_privacy_loss_brings_more_right_answers():
    for most in (40, 150):
        for name in ("confident", "margins", "gnmax"):
            low, high = (
                next(r for r in planned().rows if (r.epsilon, r.max_answers, r.aggregator) == (epsilon, most, name))
                for epsilon in (1, 3)
            )
            assert high.answered * high.right > low.answered * low.right


def test_a_plan_is_the_same_again_and_plain_data():
    again = plan_labels(VOTES, truth=TRUTH, epsilons=[1, 3], target_delta=DELTA, answers=[40, 150])
    assert again == planned()
    plain = planned().to_dict()
    assert [LabelsPlanRow(**row) for row in plain["rows"]] == list(planned().rows)
    told = []
    plan_labels(VOTES, epsilons=[1], target_delta=DELTA, progress=lambda *done: told.append(done))
    assert told == [(n, 6) for n in range(1, 7)]


def test_simulated_votes_have_the_shape_that_was_asked_for():
    votes, truth = simulated_votes(20_000, 100, 4, agreement=0.7, seed=1)
    assert (votes.sum(axis=1) == 100).all()
    share = votes[np.arange(len(votes)), truth] / 100
    # means of the two beta laws, and of their mixture; five standard errors
    mean = 0.7 * 14 / 15.2 + 0.3 * 0.5
    assert abs(share.mean() - mean) < 5 * share.std() / np.sqrt(len(share))
    for agreement, expected in ((1, 14 / 15.2), (0, 0.5)):
        votes, truth = simulated_votes(20_000, 100, 4, agreement=agreement)
        share = votes[np.arange(len(votes)), truth] / 100
        assert abs(share.mean() - expected) < 5 * share.std() / np.sqrt(len(share))
    two, truth = simulated_votes(50, 30, 2)
    assert two.shape == (50, 2)
    assert np.bincount(truth).size == 2


def test_the_plan_in_the_manual_is_what_is_printed():
    page = (Path(__file__).parents[3] / "docs" / "pate.md").read_text()
    votes, truth = simulated_votes(400, 250, 10, seed=1)
    plan = plan_labels(votes, truth=truth, epsilons=[2], target_delta=1e-5, answers=[200])
    assert f"```text\n{plan}\n```" in page


@pytest.mark.parametrize("value", [1.0, 12.3456, 99.991, 0.00012345, 123456.7])
def test_noise_is_rounded_up_and_by_less_than_a_thousandth(value):
    assert value <= float(up(value)) <= value * 1.001


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"epsilons": []}, "above 0"),
        ({"epsilons": [0]}, "above 0"),
        ({"epsilons": [float("nan")]}, "above 0"),
        ({"target_delta": 0}, "delta"),
        ({"target_delta": 1}, "delta"),
        ({"answers": []}, "one or more"),
        ({"answers": [301]}, "answers must be a whole number from 1 to 300"),
        ({"answers": [0]}, "answers must be a whole number from 1 to 300"),
        ({"answers": [2.5]}, "answers must be a whole number from 1 to 300, got 2.5"),
        ({"seed": -1}, "seed"),
        ({"confidence": 1}, "confidence"),
    ],
)
def test_bad_wishes_are_refused(changed, said):
    wishes = {"epsilons": [1], "target_delta": DELTA, "answers": [5]} | changed
    with pytest.raises(ParameterError, match=said):
        plan_labels(VOTES, **wishes)


def test_bad_votes_and_truths_are_refused():
    for votes in ([[1, 2], [2, 2]], [[3], [3]], [[1.5, 1.5]], [[-1, 4]]):
        with pytest.raises(DataError):
            plan_labels(votes, epsilons=[1], target_delta=DELTA)
    with pytest.raises(DataError):
        plan_labels(VOTES, truth=TRUTH[:-1], epsilons=[1], target_delta=DELTA)
    with pytest.raises(DataError):
        plan_labels(VOTES, truth=TRUTH + 5, epsilons=[1], target_delta=DELTA)
    for scores in (np.full((300, 4), 0.25), np.full((300, 5), 0.3), np.full((300, 5), np.nan)):
        with pytest.raises(DataError, match="probabilities"):
            plan_labels(VOTES, probabilities=scores, epsilons=[1], target_delta=DELTA)
        with pytest.raises(DataError, match="probabilities"):
            simulated_votes(300, 250, 5, probabilities=scores)
    for bad in ({"queries": 0}, {"teachers": 0}, {"classes": 1}, {"agreement": 1.5}, {"agreement": float("nan")}):
        said = {"queries": 5, "teachers": 5, "classes": 2} | bad
        with pytest.raises(ParameterError):
            simulated_votes(said.pop("queries"), said.pop("teachers"), said.pop("classes"), **said)
