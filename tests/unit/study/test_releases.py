"""Studies in one process: sums are those of all records, whoever restarts, and each party pays once."""

import json
import re

import numpy as np
import pytest
from helpers.scope import is_everything, size
from helpers.study import AGE, Trial, carry, text_of

from ogive import PureDP
from ogive.errors import BudgetError
from ogive.statistics.kinds import read_recorded
from ogive.study.course import over_budget
from ogive.study.document import Study
from ogive.study.frames import Stage
from ogive.study.store import Progress, Store

PARTIES = {"parties": size(4, part=3), "dropouts": int(is_everything())}
LARGE = AGE | {"privacy": "{ epsilon = 1000 }"}


def ages(trial, numbers):
    return np.concatenate([trial.sites[number].records["age"] for number in numbers])


def released(trial, name="age"):
    found = trial.coordinator.result(name)
    assert found is not None, trial.coordinator.progress()
    return read_recorded(found)


def test_a_curve_is_that_of_all_records_and_every_party_pays_once(tmp_path):
    trial = Trial(tmp_path, text_of(releases=(LARGE,), budget="{ epsilon = 2000 }"))
    trial.coordinator.request("age")
    carry(trial.coordinator, trial.agents)
    curve = released(trial)
    assert curve.total == 4000
    everybody = ages(trial, trial.sites)
    for age in (30, 50, 80):
        assert curve(age) == pytest.approx(np.mean(everybody <= age), abs=1e-3)
    for site in trial.sites.values():
        assert site.account.spent == PureDP(1000)
        assert site.agent.results()["age"] == trial.coordinator.result("age")
    assert curve.provenance.trust == "secagg"
    assert "simulated" not in curve.provenance.assumption


def test_the_noise_is_that_of_the_shares(tmp_path):
    errors = []
    count = size(3, part=2)
    asked = [AGE | {"name": f"age-{n}"} for n in range(count)]
    trial = Trial(tmp_path, text_of(releases=asked, budget="{ epsilon = 9 }"))
    for number in range(count):
        trial.coordinator.request(f"age-{number}")
    carry(trial.coordinator, trial.agents)
    everybody = ages(trial, trial.sites)
    for number in range(count):
        curve = released(trial, f"age-{number}")
        errors.append(np.mean([abs(curve(age) - np.mean(everybody <= age)) for age in range(20, 90, 10)]))
    assert 0 < np.mean(errors) < 0.02
    assert len(set(errors)) == count, "each release has noise of its own"
    assert all(site.account.spent == PureDP(count) for site in trial.sites.values())


@pytest.mark.everything
def test_equal_seeds_give_equal_numbers_and_other_seeds_others(tmp_path):
    found = []
    for number, seed in enumerate(("one", "one", "two")):
        trial = Trial(tmp_path / str(number), seed=seed)
        trial.coordinator.request("age")
        carry(trial.coordinator, trial.agents)
        found.append(json.dumps(trial.coordinator.result("age")))
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_a_party_that_never_comes_is_not_in_the_sum(tmp_path):
    trial = Trial(tmp_path, text_of(releases=(LARGE,), budget="{ epsilon = 2000 }"))
    trial.coordinator.request("age")
    present = {number: agent for number, agent in trial.agents.items() if number != 3}
    carry(trial.coordinator, present)
    assert trial.coordinator.waiting_for == (3,)
    for _ in range(5):
        trial.clock.now += 61
        carry(trial.coordinator, present)
    curve = released(trial)
    assert curve.total == 3000
    assert curve(50) == pytest.approx(np.mean(ages(trial, present) <= 50), abs=1e-3)
    assert trial.sites[3].account.spent is None
    assert trial.coordinator.progress()["age"].members == (1, 2, 4)


def test_too_few_parties_try_again_and_pay_once(tmp_path):
    trial = Trial(tmp_path)
    trial.coordinator.request("age")
    carry(trial.coordinator, {1: trial.agents[1], 2: trial.agents[2]})
    trial.clock.now += 61
    trial.coordinator.advance()
    assert trial.coordinator.progress()["age"].attempt == 1
    assert trial.sites[1].account.spent is None
    # three come, and one of them leaves after its vector; the two that are left are too few to open
    agents = {number: trial.agents[number] for number in (1, 2, 3)}
    stages = drive_until(trial, agents, "confirm")
    assert stages[-1] == "input"
    assert trial.sites[1].account.spent == PureDP(1)
    carry(trial.coordinator, trial.agents)
    assert released(trial).total == 3000
    assert trial.sites[1].account.spent == PureDP(1)


def drive_until(trial, agents, last):
    """Carry until the first question of a step is asked; says which steps were answered."""
    from ogive.study.frames import Question

    answered = []
    while True:
        moved = False
        for number, agent in agents.items():
            data = trial.coordinator.question(number)
            if data is None:
                continue
            stage = Question.from_bytes(data, coordinator=trial.study.coordinator).stage.word
            if stage == last:
                return answered
            trial.coordinator.receive(number, agent.answer(data))
            answered.append(stage)
            moved = True
        if not moved:
            trial.clock.now += 61


QUESTIONS = [
    {
        "name": "q",
        "statistic": "quantiles",
        "privacy": "{ epsilon = 1 }",
        "column": "'age'",
        "bounds": "[0, 120]",
        "bins": "12",
        "method": "'adaptive'",
    },
    {
        "name": "r",
        "statistic": "roc",
        "privacy": "{ rho = 0.5 }",
        "score": "'score'",
        "label": "'died'",
        "positive": "'yes'",
        "negative": "'no'",
        "bounds": "[0, 1]",
        "bins": str(size(1024, part=16)),
    },
    {
        "name": "m",
        "statistic": "mean",
        "privacy": "{ epsilon = 1, delta = 1e-6 }",
        "column": "'age'",
        "bounds": "[0, 120]",
        "by": "'ward'",
        "groups": "['A', 'B']",
    },
    {
        "name": "p",
        "statistic": "proportion",
        "privacy": "{ epsilon = 1 }",
        "column": "'died'",
        "positive": "'yes'",
        "where": '"age >= 65"',
    },
]


@pytest.mark.parametrize("restarts", [pytest.param(False, marks=pytest.mark.everything), True])
def test_everybody_may_end_before_and_after_every_message(tmp_path, restarts):
    asked = QUESTIONS[1 : size(len(QUESTIONS), part=2)] if restarts else QUESTIONS  # the first asks many times
    text = text_of(**PARTIES, releases=asked, budget="{ epsilon = 20, delta = 1e-4 }")
    trial = Trial(tmp_path, text, seed="s")
    for each in asked:
        trial.coordinator.request(each["name"])
    steps, moved = 0, True
    while moved:
        moved = False
        for number in trial.sites:
            question = trial.coordinator.question(number)
            if question is None:
                continue
            steps += 1
            assert steps < 2000, "nobody refuses anything here"
            if restarts:
                trial.begin()
                assert trial.coordinator.question(number) == question
                trial.sites[number].begin()
            reply = trial.sites[number].agent.answer(question)
            if restarts:
                trial.sites[number].begin()
                assert trial.sites[number].agent.answer(question) == reply
                trial.begin()
                assert trial.coordinator.question(number) == question
            trial.coordinator.receive(number, reply)
            moved = True
    for each in asked:
        assert released(trial, each["name"]).provenance.trust == "secagg"
    if not restarts:
        median = released(trial, "q").values[4]
        assert median == pytest.approx(np.median(ages(trial, trial.sites)), abs=8)


SCORES = {
    "name": "roc",
    "statistic": "roc",
    "privacy": "{ epsilon = 1, delta = 1e-6 }",
    "score": "'score'",
    "label": "'died'",
    "positive": "'yes'",
    "negative": "'no'",
    "bounds": "[0, 1]",
    "bins": "8",
}
CURVES, PATHS = AGE | {"method": "'hat_ls'"}, AGE | {"name": "b", "method": "'path'"}


@pytest.mark.parametrize(
    ("releases", "more", "said"),
    [
        # of the same studies with less of a budget some releases are paid, too
        pytest.param((AGE, AGE | {"name": "b"}), {"budget": "{ epsilon = 2 }"}, None, marks=pytest.mark.everything),
        (
            (AGE, AGE | {"name": "b"}),
            {"budget": "{ epsilon = 1 }"},
            r"releases age \(epsilon = 1\) and b \(epsilon = 1\) together .*budget of epsilon = 1$",
        ),
        pytest.param((AGE,), {"budget": "{ rho = 0.5 }"}, None, marks=pytest.mark.everything),
        ((AGE,), {"budget": "{ rho = 0.4 }"}, r"release age \(epsilon = 1\) costs more than"),
        pytest.param((SCORES,), {"budget": "{ epsilon = 1, delta = 1e-6 }"}, None, marks=pytest.mark.everything),
        ((SCORES, SCORES | {"name": "b"}), {"budget": "{ epsilon = 1, delta = 1e-6 }"}, "releases roc"),
        pytest.param(
            (CURVES, PATHS), {"budget": "{ epsilon = 2 }", "trust": "'merge'"}, None, marks=pytest.mark.everything
        ),
        ((CURVES, PATHS), {"budget": "{ epsilon = 1 }", "trust": "'merge'"}, "releases age"),
        ((CURVES, CURVES | {"name": "b"}), {"budget": "{ epsilon = 1 }", "trust": "'merge'"}, None),
    ],
    ids=[
        "enough",
        "too little",
        "enough rho",
        "too little rho",
        "enough delta",
        "delta twice",
        "merging",
        "too many",
        "equal curves",
    ],
)
def test_whether_the_budget_pays_for_all_releases_is_what_an_account_says(tmp_path, releases, more, said):
    text = text_of(**PARTIES, releases=releases, **more)
    study = Study.parse(text if "trust" not in more else text.replace(b"colluding = 1\n", b""))
    over = over_budget(study, [release.name for release in study.releases])
    assert over is None if said is None else re.match(said, over)
    trial = Trial(tmp_path, study=study)
    with Store(tmp_path / "coordinator.db").write() as kept:  # whoever may ask, not the coordinator, refuses
        for number in range(len(releases)):
            kept.put(f"release/{number}/progress", Progress("requested").to_bytes())
    carry(trial.coordinator, trial.agents)
    states = [found.state for found in trial.coordinator.progress().values()]
    assert states == ["released"] * (len(releases) - 1) + ["released" if said is None else "running"]


def test_a_release_over_the_budget_is_refused_at_once_and_not_one_that_cost_nothing(tmp_path):
    trial = Trial(tmp_path, text_of(releases=(AGE, AGE | {"name": "b"}), budget="{ epsilon = 1 }"))
    trial.coordinator.request("age")
    with pytest.raises(BudgetError, match=r"^release b is refused: releases age .* and b .* budget of epsilon = 1$"):
        trial.coordinator.request("b")
    assert list(trial.coordinator.progress()) == ["age"]
    trial.coordinator.request("age")  # it was asked for, so nothing is added
    for stage, refused in ((Stage.INPUT, False), (Stage.CONFIRM, True)):
        over = Progress("over", stage=stage, reason="too few")
        assert over.is_paid is refused
