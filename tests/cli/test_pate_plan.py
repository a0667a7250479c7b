"""`ogive pate plan`: simulated votes, public ones, and private ones only to who says that they are public."""

import json
from pathlib import Path

import numpy as np
import pytest
from helpers.schemas import fits

from ogive.cli import main
from ogive.pate import plan_labels, simulated_votes

VOTES, TRUTH = simulated_votes(80, 120, 3, seed=2)
DELTA = ("--delta", "1e-5")
IMAGINED = ("--teachers", 120, "--classes", 3, "--queries", 80)


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("votes.npy", VOTES)
    np.save("truth.npy", TRUTH)

    def run_it(*arguments):
        status = main(["pate", "plan", *map(str, arguments)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


def test_public_votes_are_planned_as_by_the_library(run):
    asked = ("votes.npy", "--public", "--epsilon", 1, 2, "--answers", 20, *DELTA)
    status, out, err = run(*asked, "--truth", "truth.npy", "--json")
    assert (status, err) == (0, "")
    expected = plan_labels(VOTES, truth=TRUTH, epsilons=[1, 2], target_delta=1e-5, answers=[20])
    assert fits(json.loads(out)) == json.loads(json.dumps(expected.to_dict()))
    status, out, _ = run(*asked)
    assert status == 0
    assert str(plan_labels(VOTES, epsilons=[1, 2], target_delta=1e-5, answers=[20])) in out
    best = [line for line in out.splitlines() if line.startswith("most right answers at epsilon = ")]
    assert [line.split(": ")[0].rpartition(" ")[2] for line in best] == ["1", "2"]


def test_simulated_votes_need_no_file_and_wanted_answers_no_epsilon(run):
    status, out, _ = run(*IMAGINED, "--agreement", "0.6", "--answers", 10, *DELTA, "--json")
    rows = json.loads(out)["rows"]
    assert status == 0
    assert [row["epsilon"] for row in rows] == [each for each in (0.5, 1, 2, 4, 8) for _ in range(3)]
    votes, truth = simulated_votes(80, 120, 3, agreement=0.6)
    expected = plan_labels(votes, truth=truth, epsilons=[8], target_delta=1e-5, answers=[10])
    assert rows[-3:] == json.loads(json.dumps(expected.to_dict()))["rows"]
    first = run(*IMAGINED, *DELTA)
    assert first == run(*IMAGINED, *DELTA)
    assert first[1] != run(*IMAGINED, *DELTA, "--seed", 1)[1]


def test_a_second_round_is_planned_for_a_student(run):
    scores = np.random.default_rng(2).dirichlet(np.full(3, 0.3), 80)
    np.save("student.npy", scores)
    asked = ("--student", "student.npy", "--answers", 10, "--epsilon", 2, *DELTA, "--json")
    status, out, err = run("--teachers", 120, *asked)
    assert (status, err) == (0, "")
    votes, truth = simulated_votes(80, 120, 3, probabilities=scores)
    expected = plan_labels(votes, truth=truth, probabilities=scores, epsilons=[2], target_delta=1e-5, answers=[10])
    assert json.loads(out) == json.loads(expected.to_json())
    status, out, _ = run("votes.npy", "--public", "--first", 60, "--confidence", "0.7", *asked)
    rows = {row["aggregator"]: row for row in json.loads(out)["rows"]}
    assert (status, rows["interactive"]["parameters"]["confidence"]) == (0, 0.7)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("votes.npy", *DELTA), "say --public if these votes are public"),
        (("votes.npy", "--public", "--teachers", 5, *DELTA), "--teachers is for simulated votes"),
        ((*IMAGINED, "--public", *DELTA), "no file is named"),
        ((*IMAGINED[:4], *DELTA), "say --queries"),
        ((*IMAGINED, "--answers", 81, *DELTA), "from 1 to 80, got 81"),
        ((*IMAGINED, "--answers", "some", *DELTA), "--answers must be whole numbers"),
        ((*IMAGINED, "--epsilon", "big", *DELTA), "--epsilon must be numbers"),
        ((*IMAGINED, "--epsilon", 0, *DELTA), "above 0"),
        ((*IMAGINED, "--agreement", 2, *DELTA), "from 0 to 1"),
        ((*IMAGINED, "--delta", 1), "delta"),
        ((*IMAGINED, "--confidence", "0.9", *DELTA), "--confidence is of a student"),
        ((*IMAGINED, "--student", "truth.npy", *DELTA), "probabilities must have the shape"),
        (("--teachers", 9, "--queries", 7, "--student", "student.npy", *DELTA), "no such file"),
        (("votes.npy", "--public", "--truth", "votes.npy", *DELTA), "a class for each of 80"),
    ],
    ids=lambda value: " ".join(map(str, value))[:50] if isinstance(value, tuple) else None,
)
def test_bad_wishes_are_refused_in_one_line(run, arguments, said):
    status, out, err = run(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_that_votes_are_public_is_said_on_the_command_line_only(run, monkeypatch):
    monkeypatch.setenv("OGIVE_PATE_PLAN_PUBLIC", "true")
    status, out, _ = run("votes.npy", *DELTA)
    assert (status, out) == (2, "")


def test_a_plan_is_drawn(run):
    status, out, err = run(*IMAGINED, "--answers", 10, *DELTA, "--plot", "plan.png")
    assert (status, err) == (0, "wrote plan.png\n")
    assert "most right answers" in out
    assert Path("plan.png").read_bytes().startswith(b"\x89PNG")
    assert run(*IMAGINED, *DELTA, "--plot", "plan.gif")[0] == 2
