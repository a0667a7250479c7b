"""`ogive reproduce` answers bad use in one line, and says what came of every figure."""

import json

import pytest
import small_paper
from helpers.scope import is_everything

from ogive.cli import main
from ogive_papers import papers


@pytest.fixture
def small(monkeypatch):
    """The ECDF paper with one quick figure in place of its own."""
    item = small_paper.item()
    monkeypatch.setattr(papers, "items_of", lambda paper: (item,))
    return item


def here():
    """In `make test` no processes of its own, which another test starts."""
    return () if is_everything() else ("--workers", "1")


def test_prints_a_verdict_for_every_figure(small, tmp_path, capsys):
    assert main(["reproduce", "ecdf", "--runs", "5", "-o", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("Figure 1: REPRODUCED\n")
    assert "+ all values are below 10" in shown.out
    assert "too few" not in shown.out
    assert f"pictures, numbers and verdicts are in {tmp_path}" in shown.err.replace("\n", "")
    assert (tmp_path / "figure-1.png").stat().st_size > 1000


def test_says_that_it_is_quick(small, tmp_path, capsys):
    assert main(["reproduce", "ecdf", "--quick", "--json", *here(), "-o", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert shown.err.startswith("quick: 8 runs")
    (finding,) = json.loads(shown.out)
    assert (finding["quick"], finding["runs"], finding["verdict"]) == (True, 8, "reproduced")


def test_figures_are_named_one_after_the_other_or_one_by_one(small, tmp_path, capsys):
    for arguments in (["--figure", "1", "1"], ["--figure", "1", "--figure", "1"]):
        assert main(["reproduce", "ecdf", *arguments, "--runs", "1", *here(), "-o", str(tmp_path)]) == 0
        shown = capsys.readouterr().out
        assert shown.startswith("Figure 1: INCONCLUSIVE\n")
        assert "\n  1 run is too few to decide; 100 are the default" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--figure", "99"], "figure 99 of ecdf cannot be redone here; there are figure 1"),
        (["--runs", "0"], "runs must be at least 1, got 0"),
        (["--figure", "two"], "two"),
        (["--figure", "1.5"], "1.5"),
        (["--runs", "1.5"], "--runs must be a whole number, got '1.5'"),
        (["--seed", "1.5"], "--seed must be a whole number, got '1.5'"),
        (["--workers", "1.5"], "--workers must be a whole number, got '1.5'"),
        (["--data", "nowhere"], "there is no file or folder nowhere with data sets"),
    ],
)
def test_bad_use_is_one_line_and_status_2(small, tmp_path, capsys, arguments, message):
    assert main(["reproduce", "ecdf", "-o", str(tmp_path), *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.everything
def test_a_table_is_redone_from_a_named_file_and_the_rest_is_simulated(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OGIVE_DATA", str(tmp_path / "empty"))
    (tmp_path / "empty").mkdir()
    heart = tmp_path / "copy.csv"
    heart.write_text("male,age,TenYearCHD\n1,39,0\n0,46,1\n")
    arguments = ["reproduce", "ecdf", "--table", "1", "--data", str(heart), "--json", "-o", str(tmp_path / "out")]
    assert main(arguments) == 0
    (finding,) = json.loads(capsys.readouterr().out)
    assert finding["item"] == "table-1"
    assert finding["inputs"]["bank data"] == finding["inputs"]["diabetes data"] == "simulated"
    assert finding["inputs"]["heart data"] != "simulated"
    outcomes = {check["claim"]: (check["outcome"], check["evidence"]) for check in finding["checks"]}
    assert outcomes["Heart disease: 15 features"] == ("fails", "found 2")
    assert [words for words, (outcome, _) in outcomes.items() if outcome == "undecided"] == [
        claim for claim in outcomes if claim.startswith(("Bank-full", "Diabetes"))
    ]
    assert json.loads((tmp_path / "out" / "table-1.json").read_text())["inputs"] == finding["inputs"]


def test_a_file_that_is_none_of_the_papers_tables_is_one_line(tmp_path, capsys):
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    assert main(["reproduce", "ecdf", "--figure", "1", "--data", str(other), "-o", str(tmp_path / "out")]) == 2
    shown = capsys.readouterr().err
    assert "TenYearCHD" in shown
    assert shown.count("\n") == 1


def test_a_folder_of_data_that_is_not_there_is_one_line(small, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OGIVE_DATA", str(tmp_path / "nowhere"))
    assert main(["reproduce", "ecdf", "-o", str(tmp_path / "out")]) == 2
    assert "OGIVE_DATA names" in capsys.readouterr().err


def test_an_output_folder_that_is_a_file_is_one_line(small, tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["reproduce", "ecdf", "-o", str(tmp_path / "file")]) == 2
    shown = capsys.readouterr().err
    assert "cannot write to the folder" in shown
    assert shown.count("\n") == 1


@pytest.mark.everything
def test_a_figure_of_an_appendix_is_redone_by_its_name(tmp_path, capsys):
    arguments = ["reproduce", "projection", "--figure", "d1", "--runs", "1", "--workers", "1", "--json"]
    assert main([*arguments, "-o", str(tmp_path)]) == 0
    (finding,) = json.loads(capsys.readouterr().out)
    assert (finding["item"], finding["runs"], finding["verdict"]) == ("figure-D1", 1, "inconclusive")
    assert finding["remark"].startswith("1 run is too few to decide; 50 are the default")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"figure-D1.{kind}" for kind in ("png", "svg", "csv", "json")} | {"runs.jsonl", "verdicts.json"}


@pytest.mark.parametrize("name", ["D9", "5", "one", "1.5", "D"])
def test_a_wrong_figure_is_one_line_that_names_those_there_are(tmp_path, capsys, name):
    assert main(["reproduce", "projection", "--figure", name, "-o", str(tmp_path / "out")]) == 2
    shown = capsys.readouterr()
    assert f"figure {name} of projection cannot be redone" in shown.err
    assert "there are figure 1, figure 2, figure 3, figure 4, figure D1" in shown.err
    assert shown.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_file_that_holds_no_weights_is_one_line(tmp_path, capsys):
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    arguments = ["reproduce", "projection", "--figure", "3", "--runs", "1", "--data", str(other)]
    assert main([*arguments, "-o", str(tmp_path / "out")]) == 2
    shown = capsys.readouterr().err
    assert "Weight(Pounds)" in shown
    assert shown.count("\n") == 1


def test_an_unknown_paper_is_refused(capsys):
    assert main(["reproduce", "nothing"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.everything
def test_tables_on_teachers_votes_say_what_is_absent_and_judge_the_rest(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OGIVE_DATA", str(tmp_path))
    arguments = ["reproduce", "pate", "--table", "2", "--quick", "--json", "-o", str(tmp_path / "out")]
    assert main([*arguments, "--workers", "1"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)
    assert (finding["item"], finding["verdict"]) == ("table-2", "not reproduced")
    absent = ("MNIST votes", "MNIST labels", "SVHN votes", "Adult votes", "Adult labels")
    assert finding["inputs"] == {"Glyph votes": "simulated", **dict.fromkeys(absent, "absent")}
    outcomes = [(check["outcome"], check["evidence"]) for check in finding["checks"]]
    assert [evidence[:26] for outcome, evidence in outcomes if outcome == "undecided"] == [
        "no array mnist_250 was fou", "no array svhn_250 was foun", "no array adult_250 was fou",
    ]  # fmt: skip


def test_a_file_without_votes_is_one_line(tmp_path, capsys):
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    assert main(["reproduce", "pate", "--table", "1", "--data", str(other), "-o", str(tmp_path / "out")]) == 2
    shown = capsys.readouterr().err
    assert "other.csv holds no votes of the paper's teachers" in shown
    assert shown.count("\n") == 1
