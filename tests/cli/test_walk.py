"""A new user's walk, from a table as it is downloaded to the report: every command works at the first attempt."""

import contextlib
import csv
import importlib.util
import io
import itertools
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from helpers.waiting import PATIENCE

import ogive
from ogive.cli import main
from ogive.ledger import Ledger

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tools" / "walk.py"


@pytest.fixture(scope="module")
def walk():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("walk", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def walked(shared_data, tmp_path_factory, walk):
    """The folder that a walk leaves whose commands run in this process, and what they printed."""
    folder = tmp_path_factory.mktemp("walk")
    walk.make_table(shared_data("framingham.csv.gz"), folder / walk.TABLE)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        for words in walk.COMMANDS:
            assert main(words) == 0, (words, err.getvalue())
    return folder, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def rows(walked):
    with (walked[0] / "patients.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_table_is_like_a_download(rows):
    several = {row["patient"] for row in rows}
    assert len(several) == 4_240 < len(rows)
    assert sum(row["totChol"] == "NA" for row in rows) > 50
    assert all(row["visit"][:2] == "20" and len(row["visit"]) == 10 for row in rows)


@pytest.mark.slow
def test_every_command_of_the_walk_works_and_leaves_its_files(walked, walk):
    folder, printed, told = walked
    assert "plan for ecdf" in printed
    assert "error" not in told
    assert "Traceback" not in told
    for words in walk.COMMANDS:
        for option, name in itertools.pairwise(words):
            if option in ("-o", "--plot"):
                assert (folder / name).stat().st_size > 500, name


@pytest.mark.everything
def test_the_script_walks_in_processes_of_its_own(shared_data, tmp_path, walk):
    """`make test-wheel` does it with the wheel."""
    done = subprocess.run(
        [sys.executable, SCRIPT, shared_data("framingham.csv.gz"), "--folder", tmp_path],
        capture_output=True, text=True, timeout=PATIENCE * len(walk.COMMANDS), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("$ ogive") == len(walk.COMMANDS)
    assert "Traceback" not in done.stderr
    assert (tmp_path / "report.html").stat().st_size > 500


@pytest.mark.slow
def test_the_ledger_was_charged_what_the_walk_granted(walked, walk):
    granted = [Fraction(words[words.index("--epsilon") + 1]) for words in walk.COMMANDS if "--ledger" in words]
    with Ledger.open(walked[0] / "budget.db") as ledger:
        (account,) = ledger.accounts()
        assert account.spent.epsilon == sum(granted)
        assert len(account.history) == len(granted)


@pytest.mark.slow
def test_results_are_near_the_exact_ones_of_one_row_a_person(walked, rows):
    # the noise moves a median by some months and the AUC by some hundredths
    patients = list({row["patient"]: row for row in rows}.values())
    ages = np.sort([int(row["age"]) for row in patients])
    curve = ogive.Curve.from_json((walked[0] / "age.json").read_text())
    assert curve.total == len(patients)
    assert abs(curve.quantile(0.5) - ages[len(ages) // 2]) <= 2
    risks = {label: np.array([float(row["risk"]) for row in patients if row["TenYearCHD"] == label]) for label in "01"}
    apart = np.sign(risks["1"][:, None] - risks["0"][None, :])
    roc = ogive.RocEstimate.from_json((walked[0] / "roc.json").read_text())
    assert roc.auc == pytest.approx((1 + apart.mean()) / 2, abs=0.1)
    assert "<h1>Heart</h1>" in (walked[0] / "report.html").read_text(encoding="utf-8")
