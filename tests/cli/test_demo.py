"""The demonstration from the records to the report, on a part of the bank's customers."""

import csv
import io
import json
import math
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from helpers.forked import program
from helpers.scope import is_everything
from helpers.waiting import PATIENCE

from ogive.cli import main
from ogive.cli.demo import LEDGER_FILES
from ogive.datasets import bank
from ogive.demo.banks import Loopback
from ogive.demo.data import DIGITS, evaluate, find_table, halves
from ogive.demo.story import DECILES, LIMIT, MINUTES, Part, Refusal, age_grid, balance_grid, tell
from ogive.errors import ParameterError
from ogive.ledger import Ledger
from ogive.provenance import Provenance
from ogive.releasing.session import Session

pytest.importorskip("sklearn")

SIZE = 12_000
CURVES = ("age", "balance")
MODEL = ("roc", "calibration")
JUDGED = (*MODEL, "calls")
RELEASED = {f"{name}.json" for name in (*CURVES, "boxes", *JUDGED)} | {f"{name}-deciles.json" for name in CURVES}
CHARTS = {f"{name}.svg" for name in (*CURVES, "boxes", *JUDGED)}
LEDGER = {f"ledger.db{part}" for part in ("", ".key", ".key.mark")} | {".ledger.db.key.mark.lock"}
BANKS = {"banks", "banks.html"} | {f"banks-{name}.json" for name in JUDGED}
FILES = RELEASED | CHARTS | LEDGER | BANKS | {"report.html"}


def customers(rows):
    """Some of the bank's customers, always the same ones, with four of their columns and their answers."""
    chosen = np.random.default_rng(1).permutation(bank().num_rows)[:rows]
    return bank().take(chosen).select(["age", "balance", "duration", "housing", "y"])


def answers(rows):
    return np.array(customers(rows)["y"].to_pylist()) == "yes"


def write_table(path, rows):
    table = customers(rows)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(table.column_names)
        writer.writerows(zip(*table.to_pydict().values(), strict=True))
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A file of customers, a quarter of the bank's."""
    return write_table(tmp_path_factory.mktemp("data") / "customers.csv", SIZE)


def said(folder, *options):
    """What a demonstration says where its pages are."""
    pages = str(folder / "report.html")
    if "--no-banks" in options:
        return f"wrote {pages}: open it in a browser\n"
    return f"wrote {pages} and {folder / 'banks.html'}: open them in a browser\n"


def run(table, folder, *options):
    """Run the demonstration in this process; returns what it printed."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(["demo", "--data", str(table), "-o", str(folder), *options])
    assert (status, err.getvalue()) == (0, said(folder, *options))
    return out.getvalue()


@pytest.fixture(scope="module")
def told(table, tmp_path_factory):
    """The folder that one run leaves, whose banks are forked and not started anew, and its comparison."""
    folder = tmp_path_factory.mktemp("told") / "demo"
    forked, started = program(tmp_path_factory.mktemp("program")), subprocess.Popen

    def fork(command, **options):
        assert command[:3] == [sys.executable, "-m", "ogive"]
        return started([forked, *command[3:]], **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ogive.demo.banks.subprocess.Popen", fork)
        patch.setattr("ogive.demo.banks._SECONDS", PATIENCE)
        patch.setitem(Loopback.__init__.__kwdefaults__, "step_seconds", PATIENCE)
        return folder, json.loads(run(table, folder, "--json"))


@pytest.fixture(scope="module")
def second(told, table, tmp_path_factory):
    """A copy of this folder in which the demonstration ran again, and its comparison."""
    again = tmp_path_factory.mktemp("second") / "again"
    shutil.copytree(told[0], again)
    return again, json.loads(run(table, again, "--json"))


def releases(summary):
    return {release["name"]: release for release in summary["releases"]}


def test_the_whole_story_is_left_in_the_folder_and_nothing_else(told):
    folder, summary = told
    assert {entry.name for entry in folder.iterdir()} == FILES
    assert summary["schema"] == "ogive.demo/6"
    assert summary["records"] == {"training": SIZE // 2, "evaluation": SIZE // 2}
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "do not publish" in page
    for words in ("Hosmer-Lemeshow", "ROC", "Kaplan-Meier", "at risk", "0.25", "refused"):
        assert words in page
    for name in CHARTS:
        ET.parse(folder / name)


def test_the_remaining_budget_falls_by_every_price_and_the_last_wish_is_refused(told):
    _, summary = told
    left = float(summary["limit"])
    assert left == LIMIT.epsilon
    for release in summary["releases"]:
        left -= float(release["epsilon"])
        assert float(release["remaining"]) == left
        assert not release["free"]
    refused = summary["refused"]
    assert 0 < left == float(summary["remaining"]) < float(refused["epsilon"])
    assert "epsilon = 0.25 left" in refused["reason"]


def test_the_ledger_holds_what_was_spent_and_the_files_hold_no_truth(told):
    folder, _ = told
    prices = {}
    for name in RELEASED:
        text = (folder / name).read_text(encoding="utf-8")
        assert "true" not in re.sub(r'true_|"\w+": true', "", text).lower()
        origin = Provenance.from_dict(json.loads(text)["provenance"])
        prices[origin.release_id] = origin.privacy.epsilon
    with Ledger.open(folder / "ledger.db") as ledger:
        (account,) = ledger.accounts()
        assert account.name == "customers"
        assert {entry.release_id: entry.charge.epsilon for entry in account.history} == prices
        assert account.spent.epsilon == sum(prices.values()) == LIMIT.epsilon - account.remaining.epsilon


def test_errors_are_as_small_as_predicted_and_intervals_hold_the_truth(told):
    # the largest error exceeds the prediction in one of 20 runs, three times the prediction practically never
    found = releases(told[1])
    for name in CURVES:
        errors = found[name]["errors"]
        assert 0 < errors["actual_ks"] < 3 * errors["predicted_ks"]
        assert 0 < errors["actual_rms"] < 4 * errors["predicted_rms"]
        assert errors["predicted_ks"] < 0.03
        assert [row["probability"] for row in found[name]["deciles"]] == list(DECILES)
        assert sum(row["inside"] for row in found[name]["deciles"]) >= 6
    assert [box["group"] for box in found["boxes"]["boxes"]] == [0, 1]
    assert found["boxes"]["errors"]["median"] < 0.1
    auc = found["roc"]["auc"]
    assert auc["low"] < auc["private"] < auc["high"] < auc["low"] + 0.2
    assert auc["population"]["low"] < auc["low"]
    assert auc["high"] < auc["population"]["high"]
    assert abs(auc["private"] - auc["true"]) == pytest.approx(found["roc"]["errors"]["auc"])
    assert found["roc"]["errors"]["auc"] < 0.05
    assert 0 < found["roc"]["errors"]["l1"] < 0.1
    assert 8 <= len(found["calibration"]["groups"]) <= 10
    assert 0 < found["calibration"]["p_value"]["private"] <= 1
    calls = found["calls"]
    assert [row["minutes"] for row in calls["times"]] == list(MINUTES)
    assert sum(row["low"] <= row["true"] <= row["high"] for row in calls["times"]) >= len(MINUTES) - 1
    assert 0 < calls["errors"]["ks"] < 0.2
    assert 10 < calls["median"]["low"] <= calls["median"]["private"] <= (calls["median"]["high"] or math.inf)


def test_the_truth_beside_the_releases_is_numpys(told, table):
    found = releases(told[1])
    columns = {name: customers(SIZE)[name].to_numpy() for name in CURVES}
    _, evaluation = halves(SIZE)
    for name, grid in (("age", age_grid()), ("balance", balance_grid())):
        true = [row["true"] for row in found[name]["deciles"]]
        exact = np.quantile(columns[name][evaluation], DECILES, method="inverted_cdf")
        assert true == [float(grid.thresholds[grid.bin_of(np.array([value]))[0]]) for value in exact]


def test_the_true_survival_of_calls_is_that_of_kaplan_and_meier(told):
    _, evaluation = halves(SIZE)
    minutes, yes = customers(SIZE)["duration"].to_numpy()[evaluation] / 60, answers(SIZE)[evaluation]
    true = {row["minutes"]: row["true"] for row in releases(told[1])["calls"]["times"]}
    for last in MINUTES:
        share = 1.0
        for end in np.arange(0.25, last + 0.01, 0.25):
            at_risk = minutes > end - 0.25 if end > 0.25 else minutes >= 0
            share *= 1 - (yes & at_risk & (minutes <= end)).sum() / at_risk.sum()
        assert true[last] == pytest.approx(share, abs=1e-9)
    # a share of all calls is another number, since most end early without a yes
    assert abs(true[10] - np.mean(~(yes & (minutes <= 10)))) > 0.1


def test_the_true_area_is_that_of_all_pairs(told, table):
    from sklearn.metrics import roc_auc_score

    columns = evaluate(find_table(table)).columns
    assert (columns["label"] == answers(SIZE)[halves(SIZE)[1]]).all()
    assert (np.round(columns["probability"], DIGITS) == columns["probability"]).all()
    # ties of predictions within one of 1024 bins count one half
    true = releases(told[1])["roc"]["auc"]["true"]
    assert true == pytest.approx(roc_auc_score(columns["label"], columns["probability"]), abs=1e-3)


@pytest.mark.everything
def test_the_program_starts_its_banks_itself(table, tmp_path):
    folder = tmp_path / "demo"
    found = subprocess.run(
        [Path(sys.executable).with_name("ogive"), "demo", "--data", str(table), "-o", str(folder), "--json"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, said(folder))
    assert json.loads(found.stdout)["banks"]["killed"] == "bank-3"
    assert {entry.name for entry in folder.iterdir()} == FILES


def test_a_second_run_is_free_and_says_the_same(told, table, tmp_path, request):
    if is_everything():
        again, summary = request.getfixturevalue("second")
        assert all(release["free"] and release["remaining"] == "0.25" for release in summary["releases"])
        for before, after in zip(told[1]["releases"], summary["releases"], strict=True):
            assert {**before, "free": True, "remaining": "0.25"} == after
    else:
        again = tmp_path / "again"
        shutil.copytree(told[0], again)
    printed = run(table, again, "--no-banks")
    assert printed.count("free: answered from the ledger") == 6
    assert "--fresh" in printed


def test_five_banks_release_the_same_of_the_same_model_and_one_was_killed(told):
    folder, summary = told
    banks = summary["banks"]
    assert sum(banks["records"]) == SIZE // 2
    assert banks["killed"] == "bank-3"
    log = (folder / "banks" / "bank-3" / "log.txt").read_text()
    front, sent, rest = log.partition("release roc, query 1, attempt 1: answered the step input")
    assert sent
    assert (front.count("connected to the coordinator"), rest.count("connected to the coordinator")) == (1, 1)
    roc, calibration, calls = banks["releases"]
    assert roc["auc"]["true"] == releases(summary)["roc"]["auc"]["true"]
    assert calibration["statistic"]["true"] == releases(summary)["calibration"]["statistic"]["true"]
    assert calls["times"][1]["true"] == releases(summary)["calls"]["times"][1]["true"]
    assert calls["errors"]["ks"] < 0.2
    assert roc["errors"]["auc"] < 0.08
    assert roc["auc"]["low"] < roc["auc"]["private"] < roc["auc"]["high"]
    for number in range(1, 6):
        with Ledger.open(folder / "banks" / f"bank-{number}" / "ledger.db", read_only=True) as ledger:
            (account,) = ledger.accounts()
        assert account.spent.epsilon == Fraction(banks["spent"]) == Fraction(7, 4)
        assert [entry.state for entry in account.history] == ["released"] * 3
    page = (folder / "banks.html").read_text(encoding="utf-8")
    assert "No row leaves its bank" in page


@pytest.mark.everything
def test_a_study_of_other_customers_is_refused_and_one_that_stopped_goes_on(told, second, tmp_path, capsys):
    again = tmp_path / "again"
    shutil.copytree(second[0], again)
    assert second[1]["banks"] == told[1]["banks"] | {"killed": None}
    for name in LEDGER_FILES:
        (again / name).unlink(missing_ok=True)
    other = write_table(tmp_path / "customers.csv", 4_000)
    assert main(["demo", "--data", str(other), "-o", str(again)]) == 2
    assert "study of other customers; --fresh starts a new one" in capsys.readouterr().err


@pytest.mark.everything
def test_without_the_libraries_of_services_one_line_says_how_to_get_them(table, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("ogive.demo.banks.can_serve", lambda: False)
    assert main(["demo", "--data", str(table), "-o", str(tmp_path / "demo")]) == 0
    assert "pip install 'ogive[serve]'" in capsys.readouterr().out
    assert not (tmp_path / "demo" / "banks").exists()


@pytest.mark.everything
def test_fresh_begins_a_new_ledger(told, table, tmp_path):
    folder, first = told
    again = tmp_path / "again"
    shutil.copytree(folder, again)
    (again / "mine.txt").write_text("kept")
    second = json.loads(run(table, again, "--fresh", "--json", "--no-banks"))
    assert not any(release["free"] for release in second["releases"])
    assert releases(second)["roc"]["auc"]["private"] != releases(first)["roc"]["auc"]["private"]
    assert second["banks"] is None
    assert not (again / "banks").exists()
    assert (again / "mine.txt").read_text() == "kept"
    assert not any("report" in name or name.endswith(".json") for name in LEDGER_FILES)


def test_tables_show_the_account_and_every_decile(table, tmp_path, capsys):
    assert main(["demo", "--data", str(table), "-o", str(tmp_path / "a" / "b"), "--no-banks"]) == 0
    printed = capsys.readouterr().out
    for words in (
        "6,000 customers.csv",
        "trained on 6,000 other customers", "post-processing and free", "Nine deciles of balance", "90%",
        "Calls without a yes by then", "Refused, and nothing was spent", "Area under the ROC curve: 0.",
        "Hosmer-Lemeshow",
    ):  # fmt: skip
        assert words in printed
    lines = [line.split() for line in printed.splitlines()]
    assert [line[-1] for line in lines if line[:1] in (["age:"], ["balance:"])] == ["3", "2.25", "2"]
    assert [line[2] for line in lines if line[:2] in (["no", "private"], ["yes", "private"])] != []
    assert ["model:", "all", "its", "predictions", "0.5", "0.25", "refused"] in lines
    assert max(map(len, printed.splitlines())) <= 80
    assert "actual is one draw of the noise" in printed
    # the page and the terminal say the same of the same release
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", (tmp_path / "a" / "b" / "report.html").read_text()))
    errors = [line.split() for line in printed.splitlines() if re.match(r" *(age|balance) +0\.", line)]
    typical = re.findall(r"threshold is typically off by ([\d.]+) percentage points", page)
    largest = re.findall(r"± ([\d.]+) percentage points from the true curve", page)
    assert [(line[3], line[5]) for line in errors] == list(zip(typical, largest, strict=True))
    test = re.search(r"Statistic H (\S+) (\S+) H corrected for noise (\S+) \S+ p-value ((?:&lt; )?\S+) ", page).groups()
    statistic, exact, debiased, p_value = test
    shown = " ".join(printed.split())
    p_value = p_value.replace("&lt;", "<") if p_value.startswith("&lt;") else f"= {p_value}"
    assert f"statistic {statistic} ({debiased} corrected for noise), p {p_value}:" in shown
    assert f"true statistic {exact}" in shown
    page_ends = [float(end) for end in re.search(r"AUC is \S+ \(95 % CI (\S+) to (\S+)\)", page).groups()]
    here = [float(end) for end in re.search(r"AUC (\S+) to (\S+) for these records", page).groups()]
    intervals = {
        who: [float(end) for end in re.search(rf"95 % CI for {who}[^:]*: (\S+) to (\S+)", printed).groups()]
        for who in ("these records", "the population")
    }
    assert intervals["the population"] == pytest.approx(page_ends, abs=0.002)
    assert intervals["these records"] == pytest.approx(here, abs=0.002)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("absent.csv", None, "there is no file"),
        ("empty.csv", "age;balance;duration;y\n", "no rows"),
        ("other.csv", "age;wealth;y\n1;2;no\n", "balance and duration not found"),
        ("unlabelled.csv", "age;balance\n1;2\n", "y"),
        ("one.csv", "age;balance;duration;y\n" + "1;2;3;no\n" * 9, "both answers"),
        ("words.csv", "age;balance;duration;y\n" + "old;2;3;no\nold;2;3;yes\n" * 9, "column age"),
        ("gaps.csv", "age;balance;duration;y\n" + "1;;3;no\n1;2;3;yes\n" * 9, "column balance"),
        ("binary.csv", "\udcff\udcfe", "cannot read"),
    ],
)
def test_a_table_that_cannot_serve_gives_one_line_and_leaves_no_folder(name, content, words, tmp_path, capsys):
    if content is not None:
        (tmp_path / name).write_text(content, errors="surrogateescape")
    assert main(["demo", "--data", str(tmp_path / name), "-o", str(tmp_path / "demo")]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert words in captured.err
    assert not (tmp_path / "demo").exists()


def test_a_folder_that_is_a_file_is_refused_before_anything_is_spent(table, tmp_path, capsys):
    (tmp_path / "demo").write_text("mine")
    assert main(["demo", "--data", str(table), "-o", str(tmp_path / "demo")]) == 2
    assert "not a folder" in capsys.readouterr().err
    assert (tmp_path / "demo").read_text() == "mine"


def test_a_ledger_of_other_records_is_refused_with_the_way_out(table, told, tmp_path, capsys):
    again = tmp_path / "again"
    shutil.copytree(told[0], again)
    other = write_table(tmp_path / "customers.csv", 4_000)
    assert main(["demo", "--data", str(other), "-o", str(again)]) != 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert "--fresh starts the demonstration with a new ledger" in captured.err
    assert "--updated" not in captured.err
    (again / "ledger.db").write_text("junk")
    assert main(["demo", "--data", str(table), "-o", str(again)]) != 0
    assert "--fresh starts the demonstration with a new ledger" in capsys.readouterr().err


def test_without_scikit_learn_one_line_says_how_to_get_it(table, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("ogive.demo.data.importlib.util.find_spec", lambda name: None)
    assert main(["demo", "--data", str(table), "-o", str(tmp_path / "demo")]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "pip install 'ogive[learn]'" in captured.err
    assert not (tmp_path / "demo").exists()
    with pytest.raises(ParameterError):
        evaluate(find_table(table))


def test_by_default_the_table_is_the_banks_with_or_without_a_folder_of_data(tmp_path, monkeypatch):
    for folder in (tmp_path, tmp_path / "nowhere"):
        monkeypatch.setenv("OGIVE_DATA", str(folder))
        table = find_table(None)
        assert table.name == "bank-full"
        assert table.features.equals(bank().drop_columns(["y"]))
        assert (table.positive.sum(), table.positive.size) == (5_289, 45_211)


def test_the_packages_table_and_the_original_file_give_the_same_demonstration(shared_data):
    ours, original = find_table(None), find_table(shared_data("bank-full.csv.gz"))
    assert (ours.name, ours.positive.tolist()) == (original.name, original.positive.tolist())
    assert ours.features.equals(original.features)


def test_grids_have_round_increasing_thresholds():
    assert balance_grid().bins == 16 + 280 + 60 + 18
    assert (age_grid().low, age_grid().high, age_grid().bins) == (18, 110, 93)


def test_every_stage_is_announced_and_the_story_ends_with_a_refusal(table):
    told = []
    found = find_table(table)
    evaluation = evaluate(found)
    with Session(evaluation.records, limit=LIMIT) as session:
        steps = list(tell(found, evaluation, session, lambda message: told.append(message) or nullcontext()))
    assert [type(step) for step in steps] == [Part] * 6 + [Refusal]
    assert len([words for words in told if words.startswith("releasing") and "epsilon = 0." in words]) == 6
    assert len([words for words in told if "truth" in words]) == 6
