"""`ogive pate label|cost|sanitize`: labels paid once, costs with what they mean, and bad votes in one line."""

import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest
from helpers.schemas import fits
from helpers.wording import speaks_python

from ogive.accounting import epsilon_of_gaussian
from ogive.cli import main
from ogive.ledger.account import Reservation
from ogive.pate import ConfidentGNMax, PrivacyCost, SanitizedCost, privacy_cost
from ogive.statistics.labels.estimate import LabelsEstimate

RNG = np.random.default_rng(3)
TEACHERS, QUERIES, CLASSES = 250, 60, 4
CAST = np.where(
    RNG.random((TEACHERS, QUERIES)) < np.linspace(0.4, 1, QUERIES),
    np.arange(QUERIES) % CLASSES,
    RNG.integers(0, CLASSES, (TEACHERS, QUERIES)),
)
VOTES = np.array([np.bincount(column, minlength=CLASSES) for column in CAST.T])
CONFIDENT = ("--threshold", "180", "--sigma1", "100", "--sigma2", "40")
DELTA = ("--delta", "1e-5")
STUDENT = ("--student", "student.npy", "--confidence", "0.9", *CONFIDENT)


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("votes.npy", VOTES)
    np.savez("two.npz", here=VOTES, there=VOTES[:20])
    np.save("student.npy", np.full((QUERIES, CLASSES), 0.25))
    names = ",".join(f"class{n}" for n in range(CLASSES))
    (tmp_path / "votes.csv").write_text("\n".join([names, *(",".join(map(str, row)) for row in VOTES.tolist())]) + "\n")
    (tmp_path / "twice.csv").write_text("2,2\n2,2\n0,4\n")
    (tmp_path / "bare.csv").write_text("3,1\n2,2\n0,4\n")
    columns = ",".join(f"q{n}" for n in range(QUERIES))
    (tmp_path / "table.csv").write_text("\n".join([columns, *(",".join(map(str, r)) for r in CAST.tolist())]) + "\n")

    def run_it(*arguments):
        status = main(["pate", *map(str, arguments)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


@pytest.mark.parametrize("file", [("votes.npy",), ("two.npz", "--name", "here"), ("votes.csv",)], ids=str)
def test_labels_of_every_kind_of_file_cost_the_same(run, file):
    status, out, err = run("label", *file, *CONFIDENT, *DELTA, "--max-answers", 20, "--json")
    assert (status, err) == (0, "")
    found = LabelsEstimate.from_dict(fits(json.loads(out)))
    assert len(found.labels) == QUERIES
    assert 1 <= found.answered <= 20
    assert found.total == TEACHERS
    loss = found.provenance.price
    assert float(loss.mu_squared) == pytest.approx(QUERIES / 100**2 + 2 * 20 / 40**2, rel=1e-6)
    assert found.provenance.privacy.epsilon == epsilon_of_gaussian(loss, found.provenance.privacy.delta)


def test_a_second_run_is_free_and_the_same_and_another_question_is_not(run):
    asked = ("label", "votes.npy", *CONFIDENT, *DELTA, "--ledger", "b.db", "--json")
    status, _, err = run(*asked)
    assert status == 2
    assert "--limit-epsilon" in err
    status, first, err = run(*asked, "--limit-epsilon", 9, "--limit-delta", "1e-4")
    assert status == 0
    assert "created account 'votes'" in err
    assert "votes: paid mu = " in err
    status, again, err = run(*asked)
    assert status == 0
    assert LabelsEstimate.from_json(again) == LabelsEstimate.from_json(first)
    assert "no cost" in err
    left = err.partition("no cost; ")[2]
    assert left
    status, fewer, err = run(*asked, "--first", 30)  # the same votes, so that nothing was updated
    assert status == 0
    assert "paid" in err
    assert left not in err
    assert len(LabelsEstimate.from_json(fewer).labels) == 30


def test_a_name_that_no_data_set_can_have_is_called_by_its_option(run):
    arguments = ("label", "two.npz", "--name", "here", *CONFIDENT, *DELTA, "--max-answers", 20)
    status, out, err = run(*arguments, "--ledger", "b.db", "--data-set", " ")
    assert (status, out) == (2, "")
    assert "--data-set must be what the data set is called in the ledger, got ' '" in err
    status, out, err = run("label", "votes.npy", "--name", "here", *arguments[4:])
    assert (status, out) == (2, "")
    assert "--name is for a file of several arrays (.npz)" in err


def test_an_account_that_is_spent_refuses_and_other_votes_are_not_the_same_account(run):
    paid = ("--ledger", "b.db", "--limit-epsilon", "0.5", "--limit-delta", "1e-4")
    status, out, err = run("label", "votes.npy", *CONFIDENT, *DELTA, *paid)
    assert (status, out) == (1, "")
    assert err.count("\n") <= 3
    assert run("label", "votes.npy", "--sigma", 400, *DELTA, *paid)[0] == 0
    np.save("votes.npy", VOTES[::-1])
    status, _, err = run("label", "votes.npy", "--sigma", 400, *DELTA, *paid)
    assert status != 0
    assert "--updated" in err
    assert run("label", "votes.npy", "--sigma", 400, *DELTA, *paid, "--updated")[0] == 0


def test_what_is_printed_says_how_many_were_answered_the_price_and_what_is_public(run):
    status, out, err = run("label", "votes.npy", "--keep", 25, "--epsilon", 2, *DELTA, "-o", "labels.json")
    assert status == 0
    assert out.startswith("labels of")
    assert err == "wrote labels.json\n"
    status, out, _ = run("label", "votes.npy", "--keep", 25, "--epsilon", 2, *DELTA)
    assert "25 of 60 asked queries answered by teachers" in out
    assert "price:    mu = " in out
    assert "the noisy votes" in out.partition("public:")[2].partition("private:")[0]
    out = run("label", "votes.npy", *CONFIDENT, *DELTA)[1]
    assert "the noisy votes" not in out


@pytest.mark.everything
def test_two_servers_label_a_table_of_single_votes_and_open_nothing_else(run):
    asked = ("label", "table.csv", "--classes", CLASSES, "--first", 12, *CONFIDENT, *DELTA, "--max-answers", 5)
    status, out, _ = run(*asked, "--trust", "servers", "--json")
    found = LabelsEstimate.from_dict(fits(json.loads(out)))
    alone = LabelsEstimate.from_dict(json.loads(run(*asked, "--json")[1]))
    assert status == 0
    assert found.provenance.price == alone.provenance.price
    assert "semi-honest" in found.provenance.assumption
    assert found.opened is None
    assert len(found.labels) == 12
    assert found.answered <= 5


@pytest.mark.parametrize("trust", ["central", "secagg", "servers", "clear"])
def test_a_table_of_single_votes_is_labelled_under_every_trust(run, trust):
    parties = ("--parties", 5) if trust in ("secagg", "servers") else ()
    granted = () if trust == "clear" else ("--epsilon", 8, *DELTA)
    asked = ("label", "table.csv", "--classes", CLASSES, "--first", 10, "--trust", trust, *parties, "--keep", 10)
    sigma = ("--sigma", 1) if trust == "clear" else ()
    status, out, err = run(*asked, *sigma, *granted, "--json")
    assert (status, err) == (0, "")
    found = LabelsEstimate.from_json(out)
    assert found.provenance.trust == trust
    assert found.ballots.queries == tuple(f"q{n}" for n in range(10))
    assert (found.labels == VOTES[:10].argmax(axis=1)).mean() >= 0.6


def test_a_ledger_keeps_books_of_a_table_too(run):
    asked = ("label", "table.csv", "--classes", CLASSES, "--keep", 5, "--epsilon", 2, *DELTA, "--ledger", "b.db")
    first = run(*asked, "--limit-epsilon", 3, "--limit-delta", "1e-4", "--json")
    again = run(*asked, "--json")
    assert first[0] == again[0] == 0
    assert LabelsEstimate.from_json(first[1]) == LabelsEstimate.from_json(again[1])
    assert "no cost" in again[2]


def test_every_teacher_may_be_a_client_of_servers(run):
    few = Path("table.csv").read_text(encoding="utf-8").splitlines()[:13]
    Path("few.csv").write_text("\n".join(few) + "\n", encoding="utf-8")
    asked = ("label", "few.csv", "--classes", CLASSES, "--first", 4, "--keep", 2, "--epsilon", 8, *DELTA)
    status, out, err = run(*asked, "--trust", "servers", "--json")
    assert (status, err) == (0, "")
    found = LabelsEstimate.from_json(out)
    assert (found.total, found.answered) == (12, 2)


def test_a_run_that_was_cut_off_is_paid_once_and_repeats_its_labels(run, monkeypatch):
    asked = ("label", "votes.npy", *CONFIDENT, *DELTA, "--ledger", "b.db", "--json")
    seen = []
    record = Reservation.record

    def killed(self, written):
        seen.append(written["labels"])
        raise KeyboardInterrupt

    monkeypatch.setattr(Reservation, "record", killed)
    status, out, err = run(*asked, "--limit-epsilon", 9, "--limit-delta", "1e-4")
    assert (status, out) == (130, "")
    assert "asking again costs nothing more" in err
    monkeypatch.setattr(Reservation, "record", record)
    status, out, err = run(*asked)
    assert status == 0
    assert "asked before: no cost" in err
    assert LabelsEstimate.from_json(out).labels.tolist() == seen[0]


def test_an_interactive_run_takes_the_students_probabilities(run):
    status, out, err = run("label", "votes.npy", *STUDENT, *DELTA, "--json")
    assert (status, err) == (0, "")
    assert LabelsEstimate.from_json(out).aggregator["name"] == "interactive"


def test_costs_are_the_librarys_and_private_ones_say_so(run):
    aggregator = ConfidentGNMax(180, 100, 40)
    for mode in ("auto", "joint", "independent", "expected"):
        status, out, err = run("cost", "votes.npy", *CONFIDENT, *DELTA, "--mode", mode, "--json")
        found = PrivacyCost.from_dict(fits(json.loads(out)))
        assert status == 0
        assert found == privacy_cost(VOTES, aggregator, target_delta=1e-5, mode=mode)
        assert (err == "") == (mode == "independent")
        assert mode == "independent" or "do not publish it" in err
        table = run("cost", "votes.npy", *CONFIDENT, *DELTA, "--mode", mode)[1]
        assert found.statement in table
        assert f"epsilon = {found.epsilon:.6g}" in table


@pytest.mark.parametrize(("mode", "permissions"), [("joint", 0o600), ("independent", 0o644)])
def test_a_file_with_a_private_cost_is_its_owners_alone(run, mode, permissions):
    before = os.umask(0o022)
    try:
        assert run("cost", "votes.npy", *CONFIDENT, *DELTA, "--mode", mode, "-o", "cost.json")[0] == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE(Path("cost.json").stat().st_mode) == permissions


def test_realised_costs_read_the_labels_that_were_released(run):
    run("label", "votes.npy", *CONFIDENT, *DELTA, "-o", "labels.json")
    labels = LabelsEstimate.from_json(Path("labels.json"))
    np.save("labels.npy", labels.labels)
    realised = ("cost", "votes.npy", *CONFIDENT, *DELTA, "--mode", "realised", "--order", 12, "--json")
    one, other = (json.loads(run(*realised, "--answered", name)[1]) for name in ("labels.json", "labels.npy"))
    assert one == other
    assert one["answers"] == labels.answered
    assert run(*realised)[0] == 2


@pytest.mark.each_value
@pytest.mark.parametrize("command", ["cost", "sanitize"])
@pytest.mark.parametrize(
    ("changed", "file", "said"),
    [
        (
            ("--threshold", "170", *CONFIDENT[2:]),
            "labels.json",
            "labels are of confident with threshold 180, sigma1 100",
        ),
        ((*CONFIDENT, "--first", 20), "labels.json", "of 60 queries and 4 classes, and the votes of 20 and 4"),
        ((*CONFIDENT, "--first", 20), "labels.npy", "--answered must be 20 truth values, or labels with -1"),
        (CONFIDENT, "many.npy", "many.npy: the label of query 0 is 99, none of -1 to 3"),
        (CONFIDENT, "empty.json", "empty.json: not JSON"),
        (CONFIDENT, "gone.json", "no such file: gone.json"),
        (CONFIDENT, "two.npz", "two.npz holds several arrays"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(map(str, value)),
)
def test_labels_of_another_run_and_damaged_ones_are_refused_by_name(run, command, changed, file, said):
    run("label", "votes.npy", *CONFIDENT, *DELTA, "-o", "labels.json")
    np.save("labels.npy", LabelsEstimate.from_json(Path("labels.json")).labels)
    np.save("many.npy", np.full(QUERIES, 99))
    Path("empty.json").write_text("", encoding="utf-8")
    form = ("--mode", "realised") if command == "cost" else ("--form", "additive")
    status, out, err = run(command, "votes.npy", *changed, *DELTA, *form, "--order", 12, "--answered", file)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert said in err
    assert err.count(file) == 1


def test_a_cost_is_published_with_its_meaning_and_not_twice_into_one_file(run):
    asked = ("sanitize", "votes.npy", *CONFIDENT, *DELTA, "--planned-epsilon", "2", "-o", "cost.json")
    status, out, err = run(*asked)
    assert status == 0
    assert out.startswith("epsilon about")
    assert "no ledger records" in err
    found = SanitizedCost.from_dict(fits(json.loads(Path("cost.json").read_text(encoding="utf-8"))))
    assert found.queries == QUERIES
    status, out, err = run(*asked)
    assert (status, out) == (1, "")
    assert "costs as much again" in err
    out = run(*asked[:-2])[1]
    assert "data-independent:" in out
    assert "not a bound" in out
    assert SanitizedCost.from_dict(json.loads(run(*asked[:-2], "--no-upper-limit", "--json")[1])).upper_limit is None


BAD_VOTES = {
    "other sum": [[5, 5], [5, 6]],
    "negative": [[11, -1], [5, 5]],
    "fractional": [[5.5, 4.5], [5, 5]],
    "one class": [[10], [10]],
    "nan": [[np.nan, 1], [5, 5]],
    "no query": np.zeros((0, 2)),
    "no teacher": [[0, 0]],
}


@pytest.mark.each_value
@pytest.mark.parametrize("command", ["label", "cost", "sanitize"])
@pytest.mark.parametrize("bad", BAD_VOTES)
def test_bad_votes_are_refused_in_one_line(run, command, bad):
    np.save("bad.npy", np.array(BAD_VOTES[bad]))
    status, out, err = run(command, "bad.npy", *CONFIDENT, *DELTA)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("ogive: error: ")
    assert not speaks_python(err)


def test_more_classes_than_teachers_and_thresholds_nobody_reaches_are_allowed(run):
    np.save("few.npy", np.eye(8, dtype=int) * 3)
    status, out, _ = run("label", "few.npy", *CONFIDENT, *DELTA, "--json")
    assert status == 0
    assert LabelsEstimate.from_json(out).total == 3
    high = ("--threshold", 5000, "--sigma1", 100, "--sigma2", 40)
    found = LabelsEstimate.from_json(run("label", "votes.npy", *high, *DELTA, "--json")[1])
    assert (found.answered, found.asked) == (0, QUERIES)


@pytest.mark.parametrize("wrong", [np.nan, -0.2, 0.9])
def test_what_is_no_probability_of_a_student_is_refused(run, wrong):
    scores = np.full((QUERIES, CLASSES), 0.25)
    scores[7, 1] = wrong
    np.save("student.npy", scores)
    status, out, err = run("label", "votes.npy", *STUDENT, *DELTA)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "query 7" in err


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("label", "votes.npy", *DELTA), 2, "how votes become labels"),
        (("label", "votes.npy", "--threshold", 5, *DELTA), 2, "needs --sigma1"),
        (("label", "votes.npy", "--sigma", 5, "--scale", 3, *DELTA), 2, "--sigma is for gnmax or margins"),
        (("label", "votes.npy", "--aggregator", "lnmax", "--sigma", 5), 2, "not for lnmax"),
        (("label", "votes.npy", *CONFIDENT), 2, "--delta alone"),
        (("label", "votes.npy", "--keep", 5, *DELTA), 2, "--epsilon"),
        (("label", "votes.npy", "--scale", 5, *DELTA), 2, "leave out --delta"),
        (("label", "votes.npy", "--sigma1", "-1", *CONFIDENT[:2], *CONFIDENT[4:], *DELTA), 2, "sigma1"),
        (("label", "votes.npy", *CONFIDENT, "--epsilon", "0.1", *DELTA), 1, "would cost"),
        (("label", "votes.npy", *CONFIDENT, *DELTA, "--max-answers", 0), 2, "--max-answers must be"),
        (("label", "votes.npy", *CONFIDENT, *DELTA, "--first", 61), 2, "--first must be from 1 to the 60"),
        (("label", "votes.npy", "--keep", 5, *DELTA, "--trust", "secagg", "--parties", 5), 2, "--classes"),
        (("label", "votes.npy", *CONFIDENT, *DELTA, "--max-rows-per-person", 2), 2, "needs --person"),
        (("label", "two.npz", *CONFIDENT, *DELTA), 2, "with --name: here, there"),
        (("label", "two.npz", "--name", "no", *CONFIDENT, *DELTA), 2, "no array 'no'"),
        (("label", "none.npy", *CONFIDENT, *DELTA), 2, "no such file"),
        (("label", "table.csv", "--classes", 2, *CONFIDENT, *DELTA), 2, "q"),
        (
            ("label", "table.csv", "--classes", 4, *CONFIDENT, *DELTA, "--trust", "secagg", "--parties", 5),
            1,
            "LargestMargins",
        ),
        (
            ("label", "table.csv", "--classes", 4, *CONFIDENT, *DELTA, "--trust", "servers", "--servers", 3),
            1,
            "use --servers 2",
        ),
        (("label", "votes.npy", "--classes", 4, *CONFIDENT, *DELTA), 2, "--classes is for a table of single votes"),
        (("label", "bare.csv", "--classes", 4, *CONFIDENT, *DELTA), 2, "bare.csv must name the columns"),
        (("cost", "bare.csv", *CONFIDENT, *DELTA), 2, "bare.csv must name the columns"),
        (("label", "votes.npy", *STUDENT[2:], "--student", "votes.csv", *DELTA), 2, "votes.csv must be an .npy file"),
        (("label", "votes.npy", *CONFIDENT, *DELTA, "-o", "votes.npy"), 2, "overwrite"),
        (("cost", "votes.npy", "--scale", 20, *DELTA, "--mode", "exact"), 1, "LNMax"),
        (("cost", "votes.npy", *CONFIDENT, "--delta", 2), 2, "--delta must be strictly between 0 and 1"),
        (("cost", "votes.npy", *CONFIDENT, "--delta", "1e-400"), 2, "--delta must be of a size from 1e-300 to 1e300"),
        (("sanitize", "votes.npy", *CONFIDENT, "--delta", "few"), 2, "--delta must be a number, got 'few'"),
        (("cost", "twice.csv", *CONFIDENT, *DELTA), 2, "write a line of names above it"),
        (("cost", "votes.npy", *CONFIDENT, *DELTA, "--mode", "joint", "--max-answers", 4), 2, "independent"),
        (("sanitize", "votes.npy", "--scale", 20, *DELTA), 1, ""),
    ],
    ids=lambda value: " ".join(map(str, value))[:60] if isinstance(value, tuple) else None,
)
def test_bad_use_is_one_line_that_says_what_would_do(run, arguments, status, said):
    got, out, err = run(*arguments)
    assert (got, out, err.count("\n")) == (status, "", 1)
    assert said in err


def test_labels_and_costs_are_drawn_and_a_private_cost_for_its_owner_alone(run):
    status, _, err = run("label", "votes.npy", *CONFIDENT, *DELTA, "-o", "labels.json", "--plot", "labels.png")
    assert (status, err) == (0, "wrote labels.json\nwrote labels.png\n")
    mask = os.umask(0o022)
    os.umask(mask)
    for mode, permissions in (("joint", 0o600), ("independent", 0o666)):
        assert run("cost", "votes.npy", *CONFIDENT, *DELTA, "--mode", mode, "--plot", "cost.svg")[0] == 0
        assert stat.S_IMODE(Path("cost.svg").stat().st_mode) == permissions & ~mask
        Path("cost.svg").unlink()
    assert Path("labels.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("command", ["label", "cost"])
def test_a_picture_that_cannot_be_drawn_is_refused_before_anything_is_spent(run, command):
    asked = (command, "votes.npy", *CONFIDENT, *DELTA)
    paid = ("--ledger", "b.db", "--limit-epsilon", 9, "--limit-delta", "1e-4") if command == "label" else ()
    for name, said in (("x.gif", ".png, .svg or .pdf"), ("votes.npy/x.png", ""), ("no/x.png", "")):
        status, out, err = run(*asked, *paid, "--plot", name)
        assert (status, out) == (2, "")
        assert said in err
        assert err.count("\n") == 1
    assert not Path("b.db").exists()


@pytest.mark.each_value
@pytest.mark.parametrize("command", ["label", "cost", "sanitize"])
@pytest.mark.parametrize(
    ("votes", "options", "said"),
    [
        ("votes.npy", ("--threshold", 251, *CONFIDENT[2:]), "the threshold is above the 250 teachers"),
        ("votes.npy", ("--threshold", 0, *CONFIDENT[2:]), "a threshold of 0 or less refuses hardly any query"),
        (
            "votes.npy",
            (*CONFIDENT, "--max-answers", 61),
            "--max-answers 61 is more than the queries that are asked, and counts as 60",
        ),
        ("alone.npy", ("--sigma", 40), "there is one teacher"),
    ],
    ids=["above", "zero", "answers", "alone"],
)
def test_what_is_allowed_and_rarely_meant_is_noted_in_one_line(run, command, votes, options, said):
    np.save("alone.npy", np.eye(4, dtype=int))
    mode = ("--mode", "independent") if command == "cost" else ()
    status, _, err = run(command, votes, *options, *DELTA, *mode)
    assert status == (2 if command == "sanitize" and votes == "alone.npy" else 0)  # which takes three teachers
    (line,) = [line for line in err.splitlines() if line.startswith("ogive: note: ")]
    assert said in line
    usual = tuple("60" if option == 61 else "250" if option in (251, 0) else option for option in options)
    if votes == "votes.npy":
        assert "note" not in run(command, votes, *usual, *DELTA, *mode)[2]


def test_more_kept_than_asked_is_noted_and_a_private_number_of_teachers_is_not_told(run):
    keep = ("label", "votes.npy", "--keep", 61, "--epsilon", 2, *DELTA)
    assert "--keep 61 is more than the queries that are asked, and counts as 60" in run(*keep)[2]
    high = ("label", "votes.npy", "--threshold", 251, *CONFIDENT[2:], *DELTA, "--adjacency", "add_or_remove")
    status, _, err = run(*high)
    assert (status, err) == (0, "")
