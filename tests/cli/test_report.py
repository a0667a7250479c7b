"""`ogive report`: a page from files, from a ledger or from both; one line where that cannot be."""

import json
import shutil

import numpy as np
import pytest

import ogive
from ogive.cli import main
from ogive.ledger import Ledger
from ogive.pate import simulated_votes
from ogive.privacy import Adjacency, PrivacyUnit, PureDP
from ogive.statistics.roc.statistic import Roc

RNG = np.random.default_rng(11)
RISK = RNG.random(2_000)
DATA = {"risk": RISK, "died": (RNG.random(2_000) < RISK).astype(int)}
CURVE = ogive.Ecdf("risk", (0, 1), bins=32)
ROC = Roc("risk", "died", (0, 1), bins=32)


@pytest.fixture
def run(capsys):
    """Run the command: (status, standard output, standard error)."""

    def run_it(*arguments):
        status = main(["report", *(str(argument) for argument in arguments)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


def released(statistic=CURVE, account=None):
    return ogive.release(statistic, trust=ogive.Central(DATA), privacy=PureDP("0.5"), ledger=account)


@pytest.fixture(scope="module")
def texts():
    """A curve and a ROC curve as JSON."""
    return {f"{statistic.name}.json": released(statistic).to_json() for statistic in (CURVE, ROC)}


@pytest.fixture
def files(texts, tmp_path):
    """Both in files."""
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in texts]


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    """A folder with a ledger of a data set that released twice, and of one that did not."""
    folder = tmp_path_factory.mktemp("books")
    unit = PrivacyUnit(Adjacency.REPLACE)
    with Ledger.open(folder / "budget.db") as books:
        account = books.account("patients", unit=unit, limit=PureDP(2))
        released(CURVE, account)
        released(ROC, account)
        books.account("empty", unit=unit, limit=PureDP(1))
    return folder


@pytest.fixture
def ledger(books, tmp_path):
    """A copy of this ledger."""
    shutil.copytree(books, tmp_path, dirs_exist_ok=True)
    return tmp_path / "budget.db"


def test_files_of_several_kinds_become_one_page(run, files, tmp_path):
    page = tmp_path / "page.html"
    status, out, err = run(*files, "-o", page, "--title", "Two <releases>")
    assert (status, out) == (0, "")
    assert err == f"wrote {page}\n"
    text = page.read_text()
    assert "<h1>Two &lt;releases&gt;</h1>" in text
    assert "Distribution of risk" in text
    assert "ROC curve of risk for died" in text
    assert "Total price" in text
    assert 'class="budget"' not in text


def test_all_that_a_ledger_released_becomes_a_page_with_its_budget(run, ledger, tmp_path):
    page = tmp_path / "page.html"
    status, _, err = run("--ledger", ledger, "--data-set", "patients", "-o", page)
    assert status == 0, err
    text = page.read_text()
    assert "<h1>Private releases of patients</h1>" in text
    assert text.count("<article") == 2
    assert "Budget of patients" in text
    assert "not paid from this budget" not in text


def test_files_and_a_ledger_go_together_and_a_release_is_shown_once(run, files, ledger, tmp_path):
    with Ledger.open(ledger) as books:
        twice = tmp_path / "again.json"
        twice.write_text(json.dumps(books.account("patients").answers()[0]))
    page = tmp_path / "page.html"
    status, out, err = run(files[0], twice, "--ledger", ledger, "--data-set", "patients", "-o", page, "--json")
    assert status == 0, err
    assert len(json.loads(out)["releases"]) == 3
    assert page.read_text().count("<article") == 3
    assert "One release on this page was not paid from this budget." in page.read_text()


def test_a_file_named_twice_is_one_release_and_files_tell_equal_titles_apart(run, files, tmp_path):
    page, other = tmp_path / "page.html", tmp_path / "other.json"
    other.write_text(released().to_json())
    status, out, err = run(files[0], files[0], "-o", page, "--json")
    assert status == 0, err
    assert [section["title"] for section in json.loads(out)["releases"]] == ["Distribution of risk"]
    assert page.read_text().count("<article") == 1
    status, out, err = run(files[0], other, files[0], "-o", page, "--json")
    assert status == 0, err
    found = [section["title"] for section in json.loads(out)["releases"]]
    assert found == ["Distribution of risk, ecdf.json", "Distribution of risk, other.json"]
    assert all(f'<h2 id="release-{i}">{title}</h2>' in page.read_text() for i, title in enumerate(found, 1))


def test_json_sums_the_page_up(run, files, ledger, tmp_path):
    page = tmp_path / "page.html"
    status, out, _ = run(*files, "-o", page, "--json")
    found = json.loads(out)
    assert status == 0
    assert found["schema"] == "ogive.report/1"
    assert found["output"] == str(page)
    assert [release["schema"] for release in found["releases"]] == ["ogive.curve/1", "ogive.roc/1"]
    assert found["releases"][1]["headline"].startswith("The AUC is 0.")
    assert found["budget"] is None
    found = json.loads(run("--ledger", ledger, "--data-set", "patients", "-o", page, "--json")[1])
    assert found["budget"] == {
        "data_set": "patients",
        "limit": {"type": "PureDP", "epsilon": "2"},
        "spent": {"type": "PureDP", "epsilon": "1"},
        "remaining": {"type": "PureDP", "epsilon": "1"},
    }


@pytest.fixture
def votes(tmp_path):
    """Labels and their costs in files: released, published, private and independent of votes."""
    np.save(tmp_path / "votes.npy", simulated_votes(60, 100, 3)[0])
    asked = (tmp_path / "votes.npy", "--threshold", 60, "--sigma1", 40, "--sigma2", 20, "--delta", "1e-5")
    made = {
        "labels.json": ("label", *asked, "--max-answers", 40),
        "cost.json": ("sanitize", *asked, "--max-answers", 40),
        "private.json": ("cost", *asked),
        "independent.json": ("cost", *asked, "--mode", "independent"),
    }
    for name, arguments in made.items():
        assert main(["pate", *map(str, arguments), "-o", str(tmp_path / name)]) == 0
    return {name: tmp_path / name for name in made}


def test_labels_and_their_published_cost_become_one_page_with_others(run, votes, files, capsys, tmp_path):
    capsys.readouterr()
    page = tmp_path / "page.html"
    labels, cost = votes["labels.json"], votes["cost.json"]
    status, out, err = run(labels, cost, files[0], cost, "-o", page, "--json")
    assert (status, err) == (0, f"wrote {page}\n")
    schemas = [section["schema"] for section in json.loads(out)["releases"]]
    assert schemas == ["ogive.labels/1", "ogive.curve/1", "ogive.sanitized_cost/1"]
    assert page.read_text().count("<article") == 3
    assert "must not be published" in page.read_text()
    for alone in (labels, cost):
        assert run(alone, "-o", page)[0] == 0
        assert page.read_text().count("<article") == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [("private.json", "as private as they are"), ("independent.json", "the price of the labels; report the labels")],
)
def test_costs_that_were_not_made_to_be_published_are_refused(run, votes, capsys, tmp_path, name, said):
    capsys.readouterr()
    status, out, err = run(votes["labels.json"], votes[name], "-o", tmp_path / "page.html")
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert not (tmp_path / "page.html").exists()


def test_the_only_data_set_of_a_ledger_needs_no_name(run, tmp_path):
    with Ledger.open(tmp_path / "one.db") as books:
        released(CURVE, books.account("patients", unit=PrivacyUnit(Adjacency.REPLACE), limit=PureDP(2)))
    status, _, err = run("--ledger", tmp_path / "one.db", "-o", tmp_path / "page.html")
    assert status == 0, err
    assert "Budget of patients" in (tmp_path / "page.html").read_text()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name releases to report"),
        (("--data-set", "patients"), "--data-set requires --ledger"),
        (("none.json",), "cannot read"),
        (("folder",), "cannot read"),
        (("broken.json",), "broken.json: not JSON"),
        (("binary.json",), "binary.json: not JSON"),
        (("plain.json",), "its schema must be one of ogive.bounds/1"),
        (("future.json",), "which is not a release; a report takes releases"),
        (("bare.json",), "was never released"),
        (("damaged.json",), "damaged.json: a curve lacks the field"),
        (("--ledger", "none.db"), "there is no ledger"),
        (("--ledger", "budget.db"), "name the data set with --data-set; the ledger has"),
        (("--ledger", "budget.db", "--data-set", "nobody"), "has no account 'nobody'"),
        (("--ledger", "budget.db", "--data-set", "empty"), "nothing has been released from 'empty'"),
        (("ecdf.json", "-o", "ecdf.json"), "would overwrite"),
        (("--ledger", "budget.db", "-o", "budget.db"), "would overwrite"),
        (("--ledger", "budget.db", "-o", "budget.db.key"), "would overwrite"),
        (("ecdf.json", "-o", "nowhere/page.html"), "does not exist"),
    ],
)
def test_what_cannot_be_reported_is_refused_in_one_line(run, files, ledger, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "binary.json").write_bytes(b"\xff\x00")
    (tmp_path / "plain.json").write_text("[1]")
    (tmp_path / "future.json").write_text('{"schema": "ogive.curve/9"}')
    curve = json.loads(files[0].read_text())
    (tmp_path / "bare.json").write_text(json.dumps({**curve, "provenance": None}))
    del curve["raw"]
    (tmp_path / "damaged.json").write_text(json.dumps(curve))
    before = {path.name: path.stat().st_size for path in tmp_path.iterdir() if path.is_file()}
    status, out, err = run(*arguments)
    assert status in (1, 2)
    assert out == ""
    assert err.startswith("ogive: error: ")
    assert err.count("\n") == 1
    assert said in err
    assert "report.html" not in [path.name for path in tmp_path.iterdir()]
    after = {path.name: path.stat().st_size for path in tmp_path.iterdir() if path.is_file()}
    assert {name: after.get(name) for name in before} == before


@pytest.mark.parametrize("name", ["r.pdf", "R.PDF", "r.docx", "r.json"])
def test_a_page_is_not_written_into_a_file_of_another_kind(run, files, tmp_path, name):
    status, out, err = run(files[0], "-o", tmp_path / name)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "a report is a page in HTML" in err
    assert not (tmp_path / name).exists()
    for other in ("r.html", "r.htm", "r"):
        assert run(files[0], "-o", tmp_path / other)[0] == 0
