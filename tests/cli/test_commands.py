"""Commands in this process: results, messages, exit statuses, and no file after a failure."""

import json
from importlib import import_module

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ogive.cli import main
from ogive.cli.settings import COMMANDS
from ogive.statistics.kinds import COMMANDED

AGES = np.random.default_rng(11).integers(18, 90, 3_000)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table with all that a bad request could stumble over."""
    path = tmp_path_factory.mktemp("records") / "people.parquet"
    days = np.datetime64("2024-01-01") + AGES.astype("timedelta64[D]")
    hole = [None, *AGES[1:].tolist()]
    pq.write_table(pa.table({"age": AGES, "job": ["x"] * len(AGES), "joined": days, "hole": hole}), path)
    return path


@pytest.fixture
def run(capsys):
    """Run a command: (status, standard output, standard error)."""

    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


AGE = ("--column", "age", "--bounds", "0", "120", "--bins", "120")
ONE = ("--epsilon", "1")


def test_ecdf_prints_a_table(run, table):
    status, out, err = run("ecdf", table, *AGE, *ONE)
    assert status == 0, err
    assert "age" in out
    assert "epsilon = 1" in out
    assert err == ""


def test_ecdf_prints_json_that_is_close_to_the_truth(run, table):
    status, out, err = run("ecdf", table, *AGE, *ONE, "--json")
    assert (status, err) == (0, "")
    from ogive import Curve

    curve = Curve.from_json(out)
    assert curve.provenance.privacy.epsilon == 1
    assert abs(curve(54) - np.mean(AGES <= 54)) < 0.05


def test_clear_prints_the_exact_curve_without_privacy(run, table):
    status, out, _ = run("ecdf", table, *AGE, "--trust", "clear", "--json")
    assert status == 0
    from ogive import Curve

    curve = Curve.from_json(out)
    np.testing.assert_allclose(curve(54), np.mean(AGES <= 54))
    assert json.loads(out)["provenance"]["privacy"] is None


def test_files_are_written_and_reported(run, table, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    status, out, err = run("ecdf", table, *AGE, *ONE, "-o", folder / "c.json", "--plot", folder / "c.svg")
    assert status == 0, err
    assert out.startswith("Distribution function of age")
    assert "wrote" in err
    assert sorted(path.name for path in folder.iterdir()) == ["c.json", "c.svg"]
    assert json.loads((folder / "c.json").read_text())["column"] == "age"
    assert "<svg" in (folder / "c.svg").read_text()
    assert run("ecdf", table, *AGE, *ONE, "--plot", folder / "c.PNG")[0] == 0
    assert (folder / "c.PNG").read_bytes().startswith(b"\x89PNG")


def test_quantiles_print_a_table_and_json(run, table):
    status, out, err = run("quantiles", table, *AGE, *ONE)
    assert (status, err) == (0, "")
    assert len([line for line in out.splitlines() if line.strip()[:2] == "0."]) == 9
    status, out, _ = run("quantiles", table, *AGE, *ONE, "--probabilities", "0.25", "0.5", "--json")
    rows = json.loads(out)["quantiles"]
    assert [row["probability"] for row in rows] == [0.25, 0.5]
    for row in rows:
        assert row["low"] <= row["value"] <= row["high"]
        assert abs(np.mean(row["value"] >= AGES) - row["probability"]) < 0.1


@pytest.mark.parametrize(
    ("options", "ends"),
    [
        (("--column", "age", "--bounds", "30", "40.5"), "30 to 40.5"),
        (
            ("--column", "joined", "--bounds", "2024-02-01", "2024-03-01", "--grid", "integers"),
            "2024-02-01 to 2024-03-01",
        ),
    ],
    ids=["numbers", "dates"],
)
def test_quantiles_say_what_becomes_of_values_outside_the_bounds(run, table, options, ends):
    status, out, _ = run("quantiles", table, *options, *ONE)
    assert status == 0
    assert out.splitlines()[-1].startswith(f"values outside {ends} are clipped to these bounds, ")
    assert "are clipped" not in run("quantiles", table, *options, *ONE, "--json")[1]


def test_bisection_answers_like_the_whole_curve(run, table):
    status, out, err = run("quantiles", table, *AGE, *ONE, "--method", "bisection", "--json", "--probabilities", "0.5")
    assert status == 0, err
    (row,) = json.loads(out)["quantiles"]
    assert abs(np.mean(row["value"] >= AGES) - 0.5) < 0.1


@pytest.mark.parametrize(
    "options",
    [
        ("--bounds", "2024-01-01", "2024-05-01", "--grid", "integers"),
        ("--bounds", "2024-01-01T00:00", "2024-05-01T00:00", "--bins", "50"),
        ("--grid", "2024-02-01", "2024-03-01", "2024-04-01"),
    ],
    ids=["days", "times", "thresholds"],
)
def test_dates_are_bounds_like_numbers(run, table, options):
    status, out, err = run("quantiles", table, "--column", "joined", *options, *ONE, "--json")
    assert status == 0, err
    assert json.loads(out)["quantiles"][4]["value"].startswith("2024-0")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "options",
    [
        ("--bounds", "-5", "120.5"),
        ("--bounds", "-1e1", "1.2e2"),
        ("--bounds", "1", "120", "--grid", "geometric", "--bins", "30"),
        ("--grid", "-10", "20", "40.5", "120"),
        ("--bounds", "0", "120", "--delta", "1e-6"),
        ("--bounds", "0", "120", "--adjacency", "add_or_remove"),
        ("--bounds", "0", "120", "--method", "path", "--smooth", "isotonic"),
    ],
    ids=["negative", "exponents", "geometric", "thresholds", "delta", "adjacency", "method"],
)
def test_options_reach_the_library(run, table, options):
    status, out, err = run("ecdf", table, "--column", "age", *options, *ONE, "--json")
    assert status == 0, err
    data = json.loads(out)
    if "--adjacency" in options:
        assert data["provenance"]["adjacency"] == "add_or_remove"
    if "--delta" in options:
        assert data["provenance"]["privacy"] == {"type": "ApproxDP", "epsilon": "1", "delta": "1/1000000"}
    if "--bounds" in options:
        assert data["grid"]["low"] == float(options[1])


def test_concentrated_privacy_is_granted_by_rho(run, table):
    status, out, err = run("ecdf", table, *AGE, "--rho", "0.5", "--json")
    assert status == 0, err
    assert json.loads(out)["provenance"]["privacy"] == {"type": "ZeroConcentratedDP", "rho": "1/2"}


@pytest.mark.parametrize("name", ["grid.txt", "3th.txt", "20-60"])
def test_thresholds_are_read_from_a_file(run, table, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("20\n40, 60\n 90\n")
    status, out, err = run("ecdf", table, "--column", "age", "--grid", name, *ONE, "--json")
    assert status == 0, err
    assert json.loads(out)["grid"]["thresholds"] == [20, 40, 60, 90]


@pytest.mark.parametrize("threshold", ["50", "-50"])
def test_one_threshold_is_a_grid_even_where_a_file_is_named_so(run, table, tmp_path, monkeypatch, threshold):
    monkeypatch.chdir(tmp_path)
    (tmp_path / threshold).write_text("20 40")
    status, out, err = run("ecdf", table, "--column", "age", "--grid", threshold, *ONE, "--json")
    assert status == 0, err
    assert json.loads(out)["grid"]["thresholds"] == [float(threshold)]


@pytest.mark.parametrize("policy", ["low", "high"])
def test_missing_values_are_counted_when_a_policy_is_named(run, table, policy):
    status, _, err = run("ecdf", table, "--column", "hole", "--bounds", "0", "120", *ONE, "--missing", policy)
    assert status == 0, err


@pytest.mark.each_value
@pytest.mark.parametrize("values", [[50], [50] * 40], ids=["one_row", "equal_rows"])
@pytest.mark.parametrize("command", ["ecdf", "quantiles"])
def test_the_smallest_tables_work(run, tmp_path, command, values):
    path = tmp_path / "t.csv"
    path.write_text("age\n" + "".join(f"{value}\n" for value in values))
    status, out, err = run(command, path, *AGE, *ONE, "--json")
    assert status == 0
    assert all(line.startswith("ogive: warning: noise will be") for line in err.splitlines())
    assert json.loads(out)["column"] == "age"


BAD = {
    "missing_column": (("--column", "aeg", "--bounds", "0", "9", *ONE), "did you mean 'age'?"),
    "text_column": (("--column", "job", "--bounds", "0", "9", *ONE), "column 'job' holds text"),
    "date_column": (("--column", "joined", "--bounds", "0", "9", *ONE), "holds dates, but the bounds are numbers"),
    "no_column": (("--bounds", "0", "9", *ONE), "--column"),
    "no_bounds": (("--column", "age", *ONE), "for example --bounds 0 120; bounds"),
    "one_bound": (("--column", "age", "--bounds", "0", *ONE), "--bounds"),
    "reversed_bounds": (("--column", "age", "--bounds", "9", "0", *ONE), "must be below the upper bound"),
    "equal_bounds": (("--column", "age", "--bounds", "9", "9", *ONE), "must be below the upper bound"),
    "infinite_bound": (("--column", "age", "--bounds", "0", "inf", *ONE), "the upper bound must be finite"),
    "nan_bound": (("--column", "age", "--bounds", "nan", "1", *ONE), "the lower bound must be finite"),
    "word_bound": (("--column", "age", "--bounds", "0", "old", *ONE), "must be a number or an ISO date"),
    "missing_values": (
        ("--column", "hole", "--bounds", "0", "9", *ONE),
        "choose their treatment with --missing low",
    ),
    "drop_with_public_n": (
        ("--column", "hole", "--bounds", "0", "9", *ONE, "--missing", "drop"),
        "use --missing low, high or a public value, or --adjacency add_or_remove",
    ),
    "gaussian_method": (
        (*AGE, *ONE, "--method", "sqrt"),
        "use --rho or --epsilon with --delta, or use --method auto",
    ),
    "threshold_not_a_date": (("--column", "age", "--grid", "2024-13-40", *ONE), "thresholds or a file of thresholds"),
    "unknown_policy": ((*AGE, *ONE, "--missing", "guess"), "refuse"),
    "no_privacy": (AGE, "for example --epsilon 1"),
    "epsilon_zero": ((*AGE, "--epsilon", "0"), "epsilon must be above 0"),
    "epsilon_negative": ((*AGE, "--epsilon", "-1"), "epsilon must be above 0"),
    "epsilon_word": ((*AGE, "--epsilon", "one"), "epsilon must be a number"),
    "epsilon_infinite": ((*AGE, "--epsilon", "inf"), "epsilon must be"),
    "delta_one": ((*AGE, *ONE, "--delta", "1"), "delta must be strictly between 0 and 1"),
    "delta_zero": ((*AGE, *ONE, "--delta", "0"), "delta must be strictly between 0 and 1"),
    "delta_alone": ((*AGE, "--delta", "0.1"), "--delta requires --epsilon"),
    "rho_and_epsilon": ((*AGE, *ONE, "--rho", "1"), "either --rho or --epsilon"),
    "rho_zero": ((*AGE, "--rho", "0"), "rho must be above 0"),
    "no_bins": (("--column", "age", "--bounds", "0", "9", "--bins", "0", *ONE), "bins must be a whole number from 1"),
    "half_bins": (
        ("--column", "age", "--bounds", "0", "9", "--bins", "1.5", *ONE),
        "must be a whole number, got '1.5'",
    ),
    "bins_of_integers": ((*AGE, "--grid", "integers", *ONE), "--bins is for linear and geometric grids"),
    "unsorted_grid": (("--column", "age", "--grid", "1", "3", "2", *ONE), "thresholds must increase"),
    "unknown_grid": ((*AGE[:5], "--grid", "round", *ONE), "--grid must be linear, geometric, integers"),
    "grid_and_bounds": ((*AGE[:5], "--grid", "1", "2", *ONE), "not both"),
    "geometric_from_zero": ((*AGE[:5], "--grid", "geometric", *ONE), "needs --bounds above 0"),
    "unknown_method": ((*AGE, *ONE, "--method", "magic"), "method must be"),
    "unknown_trust": ((*AGE, *ONE, "--trust", "nobody"), "--trust must be central, clear, local"),
    "unknown_adjacency": ((*AGE, *ONE, "--adjacency", "swap"), "replace"),
    "unknown_option": ((*AGE, *ONE, "--nosuch", "1"), "--nosuch"),
}
BAD_ECDF = {
    "unknown_smoothing": ((*AGE, *ONE, "--smooth", "magic"), "smooth must be"),
    "plot_suffix": ((*AGE, *ONE, "--plot", "p.gif"), "--plot must name a .png, .svg or .pdf file"),
}
BAD_QUANTILES = {
    "probability_above_one": ((*AGE, *ONE, "--probabilities", "0.5", "1.5"), "probabilities must be in [0, 1]"),
    "probability_word": ((*AGE, *ONE, "--probabilities", "half"), "--probabilities"),
}


@pytest.mark.each_value
@pytest.mark.parametrize(
    ("command", "case"),
    [("ecdf", case) for case in {**BAD, **BAD_ECDF}] + [("quantiles", case) for case in {**BAD, **BAD_QUANTILES}],
)
def test_bad_use_is_one_line_with_status_two_and_leaves_no_file(run, table, tmp_path, monkeypatch, command, case):
    folder = tmp_path / "out"
    folder.mkdir()
    monkeypatch.chdir(folder)
    options, words = {**BAD, **BAD_ECDF, **BAD_QUANTILES}[case]
    status, out, err = run(command, table, *options, "-o", "result.json")
    assert status == 2
    assert err.startswith("ogive: error: ")
    assert err.count("\n") == 1
    assert words in err
    assert out == ""
    assert list(folder.iterdir()) == []


def test_a_record_in_place_of_a_header_is_not_shown(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("alice,2020-01-05,HIV\nbob,2021-03-04,flu\n")
    status, out, err = run("ecdf", path, *AGE, *ONE)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "its first line does not look like column names" in err
    assert not [word for word in ("alice", "2020-01-05", "HIV") if word in err]


FILES = {
    "absent.csv": (None, "no such file"),
    "empty.csv": (b"", "is empty"),
    "header.csv": (b"age\n", "has no rows"),
    "garbage.csv": (bytes(range(256)), "is not UTF-8 text"),
    "ragged.csv": (b"age,b\n1,2\n3\n", "fields than in the header"),
    "garbage.parquet": (b"PAR1 but no more", "cannot be read"),
    "cut.csv.gz": (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03K", "cut short"),
    "table.docx": (b"PK", "unknown suffix"),
    "table.xlsx": (b"PK", "is damaged, encrypted or no workbook"),
}


@pytest.mark.each_value
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["ecdf", "quantiles"])
def test_unusable_files_are_one_line_with_status_two(run, tmp_path, command, name):
    content, words = FILES[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    output = tmp_path / "result.json"
    status, out, err = run(command, tmp_path / name, *AGE, *ONE, "-o", output)
    assert status == 2
    assert (out, err.count("\n")) == ("", 1)
    assert words in err
    assert not output.exists()


@pytest.mark.parametrize("option", ["-o", "--plot"])
def test_outputs_are_checked_before_privacy_is_spent(run, table, tmp_path, monkeypatch, option):
    def spend(*args, **kwargs):
        raise AssertionError("privacy was spent")

    monkeypatch.setattr(import_module("ogive.releasing.release"), "release", spend)
    (tmp_path / "c.svg").mkdir()
    for path, words in [("none/c.svg", "does not exist"), ("c.svg", "it is a folder")]:
        status, _, err = run("ecdf", table, *AGE, *ONE, option, tmp_path / path)
        assert status == 2
        assert words in err
        assert err.count("\n") == 1


def test_outputs_do_not_overwrite_the_records_or_each_other(run, table, tmp_path):
    before = table.read_bytes()
    status, _, err = run("ecdf", table, *AGE, *ONE, "-o", table)
    assert status == 2
    assert "would overwrite" in err
    assert table.read_bytes() == before
    same = tmp_path / "c.svg"
    assert run("ecdf", table, *AGE, *ONE, "-o", same, "--plot", same)[0] == 2
    assert not same.exists()


def test_an_old_result_survives_a_failed_run(run, table, tmp_path):
    output = tmp_path / "result.json"
    output.write_text("old")
    assert run("ecdf", table, "--column", "job", "--bounds", "0", "1", *ONE, "-o", output)[0] == 2
    assert output.read_text() == "old"


def test_a_refusal_has_status_one(run, table, monkeypatch):
    from ogive.errors import BudgetError

    def refuse(*args, **kwargs):
        raise BudgetError("this would cost too much")

    monkeypatch.setattr(import_module("ogive.releasing.release"), "release", refuse)
    assert run("ecdf", table, *AGE, *ONE) == (1, "", "ogive: error: this would cost too much\n")


def test_an_interrupt_is_one_line(run, table, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("ogive.releasing.release"), "release", interrupt)
    assert run("ecdf", table, *AGE, *ONE) == (130, "", "ogive: stopped\n")


def test_an_internal_fault_shows_no_record(run, table, monkeypatch):
    def stumble(*args, **kwargs):
        raise RuntimeError("a record: 424242")

    monkeypatch.setattr(import_module("ogive.releasing.release"), "release", stumble)
    status, out, err = run("ecdf", table, *AGE, *ONE)
    assert (status, out, err.count("\n")) == (70, "", 1)
    assert "RuntimeError in stumble" in err
    assert "424242" not in err


ELSEWHERE = pytest.mark.everything
"""Of a command of a statistic, whose help `test_help.py` reads."""


@pytest.mark.parametrize(
    "command",
    [(), *(pytest.param((name,), marks=ELSEWHERE if name in COMMANDED else ()) for name in COMMANDS)],
    ids=lambda command: "-".join(command) or "ogive",
)
def test_every_command_explains_itself(run, command):
    status, out, err = run(*command, "--help")
    assert (status, err) == (0, "")
    assert out.startswith("Usage: ogive")


def test_an_unknown_command_is_bad_use(run):
    status, out, err = run("edcf")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "ecdf" in err


def test_a_command_of_a_package_that_is_not_installed_says_what_installs_it(run, monkeypatch):
    monkeypatch.setattr("ogive.cli.installation.entry_points", lambda **_: ())
    for words in (["ecdf"], ["ecdf", "--quick", "-o", "x"], []):
        status, out, err = run("reproduce", *words)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert "run pip install ./papers" in err
    few = {name: COMMANDS[name] for name in ("mean", "completion", "reproduce")}
    monkeypatch.setattr("ogive.cli.COMMANDS", few)
    status, out, err = run("completion", "zsh")
    assert (status, err) == (0, "")
    assert "reproduce" in out
    assert run("reproduce", "--help")[0] == 0
