"""--max-fpr, --at-specificity and --at-sensitivity: lines below a ROC curve, which change no question."""

import json

import numpy as np
import pytest

import ogive
from ogive.cli import main


@pytest.fixture
def run(capsys):
    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(3)
    path = tmp_path / "scores.csv"
    ill = rng.integers(0, 2, 3000)
    rows = zip(rng.normal(50 + 10 * ill, 10).clip(0, 100), ill, rng.choice(["A", "B"], 3000), strict=True)
    path.write_text("s,ill,ward\n" + "".join(f"{a:.2f},{b},{c}\n" for a, b, c in rows), encoding="utf-8")
    return path


ASKED = ("--score", "s", "--label", "ill", "--bounds", "0", "100", "--bins", "64", "--epsilon", "2")
READ = ("--max-fpr", "0.1", "--at-specificity", "0.9", "--at-sensitivity", "0.8")


def test_parts_of_a_curve_are_read_with_a_release_and_later_from_its_file(run, scores, tmp_path):
    books = ("--ledger", tmp_path / "b.db")
    status, plain, _ = run("roc", scores, *ASKED, *books, "--limit-epsilon", "2")
    assert status == 0
    status, out, told = run("roc", scores, *ASKED, *books, *READ, "-o", tmp_path / "roc.json")
    assert status == 0
    assert "at no cost" in told  # the question is the same one
    assert out.startswith(plain.rstrip("\n"))
    roc = ogive.RocEstimate.from_json((tmp_path / "roc.json").read_text(encoding="utf-8"))
    area, standardized, sensitivity, specificity, level = out[len(plain) :].splitlines()
    assert float(area.split(": ")[1].split()[0]) == pytest.approx(roc.partial_auc(0.1).value, abs=0.002)
    assert float(standardized.split(": ")[1].split()[0]) == pytest.approx(
        roc.partial_auc(0.1).standardized.value, abs=0.01
    )
    assert float(sensitivity.split(": ")[1].split()[0]) == pytest.approx(roc.sensitivity_at(0.9).value, abs=0.01)
    assert float(specificity.split(": ")[1].split()[0]) == pytest.approx(roc.specificity_at(0.8).value, abs=0.01)
    assert level.strip() == "intervals: 95 %, for the population, all at once"
    alone = run("show", tmp_path / "roc.json", *READ[2:4])[1]
    assert alone.splitlines()[-1].strip() == "intervals: 95 %, for the population"
    assert sensitivity not in alone, "the interval of one number is narrower"
    assert run("show", tmp_path / "roc.json", *READ)[1] == out
    assert run("show", tmp_path / "roc.json")[1] == plain


def test_curves_of_groups_are_read_one_by_one(run, scores):
    status, out, _ = run("roc", scores, *ASKED, "--by", "ward", "--by-groups", "A", "B", "--max-fpr", 0.2)
    assert status == 0
    assert [line.split(": ")[0] for line in out.splitlines()[-6:]] == ["A"] * 3 + ["B"] * 3
    assert "A: area, FPR 0 to 0.2: 0." in out


def test_a_curve_that_is_not_defined_is_not_read(run, scores):
    status, out, _ = run("roc", scores, *ASKED, "--where", "s > 99.9", *READ)
    assert status == 0
    assert out.count("not defined") == 4
    assert "intervals" not in out


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--max-fpr", "1.5"), "--max-fpr must be between 0 and 1, got 1.5"),
        (("--max-fpr", "0"), "--max-fpr must be above 0"),
        (("--max-fpr", "0.1", "--min-fpr", "0.2"), "--min-fpr must be below --max-fpr, got 0.2 and 0.1"),
        (("--min-fpr", "0.2"), "--min-fpr says where the range of --max-fpr begins; add --max-fpr"),
        (("--at-specificity", "90"), "--at-specificity must be between 0 and 1, got 90.0"),
        (("--at-sensitivity", "nan"), "--at-sensitivity must be between 0 and 1, got nan"),
        (("--max-fpr", "0.1", "--json"), "--max-fpr adds lines to the table; leave out --json, or"),
    ],
)
def test_what_no_curve_has_is_refused_before_anything_is_spent(run, scores, tmp_path, more, words):
    ledger = tmp_path / "b.db"
    status, out, told = run("roc", scores, *ASKED, "--ledger", ledger, "--limit-epsilon", "2", *more)
    assert (status, out) == (2, "")
    assert words in told
    assert told.count("\n") == 1
    assert not ledger.exists()


def test_what_is_no_roc_curve_is_not_read(run, scores, tmp_path):
    file = tmp_path / "f.json"
    assert run("ecdf", scores, "--column", "s", "--bounds", 0, 100, "--epsilon", 1, "-o", file)[0] == 0
    for path in (file, _statement(tmp_path)):
        status, out, told = run("show", path, "--at-specificity", 0.9)
        assert (status, out) == (2, "")
        assert "--at-specificity reads a ROC curve; leave it out here" in told


def _statement(folder):
    path = folder / "statement.json"
    path.write_text(json.dumps({"schema": "ogive.statement/1", "accounts": []}), encoding="utf-8")
    return path
