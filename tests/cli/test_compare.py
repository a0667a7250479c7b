"""`ogive compare`: distances between files; one line where they do not compare."""

import json
import re

import numpy as np
import pytest

import ogive
from ogive.cli import main
from ogive.noise import KeyedSource

VALUES = np.random.default_rng(3).random(1500)
GRANT = ogive.PureDP(1.0)


@pytest.fixture(scope="module")
def curves():
    """Two releases of the same values, and one on other bounds."""
    bounds = {"a": (0, 1), "b": (0, 1), "wide": (0, 2)}
    return {name: ogive.ecdf(VALUES, bounds=ends, bins=32, privacy=GRANT) for name, ends in bounds.items()}


@pytest.fixture
def files(curves, tmp_path):
    """These releases, a ROC curve's worth of nothing, and the records."""
    made = {}
    for name, curve in curves.items():
        made[name] = tmp_path / f"{name}.json"
        curve.to_json(made[name])
    made["records"] = tmp_path / "records.csv"
    made["records"].write_text("value,other\n" + "".join(f"{v:.6f},0.5\n" for v in VALUES))
    made["holes"] = tmp_path / "holes.csv"
    made["holes"].write_text("value,other\n0.25,1\n,1\n0.75,1\n,1\n")
    return made


def run(capsys, *arguments):
    status = main(["compare", *map(str, arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_prints_the_three_distances_of_each_other(files, capsys):
    status, out, err = run(capsys, files["a"], files["b"], files["records"])
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == f"{files['a']} compared with"
    curves = [ogive.Curve.from_json(files[name]) for name in ("a", "b")]
    shown = str(ogive.distances(*curves, confidence_level=0.95)).splitlines()
    assert [line.strip() for line in (lines[1].partition("  ")[2][len(str(files["b"])) :], lines[2])] == shown
    found = [float(number) for number in re.findall(r"(?:KS|Mover's|energy) ([\d.e-]+)", lines[3])]
    expected = ogive.distances(curves[0], VALUES)
    assert found == pytest.approx([expected.ks, expected.emd, expected.energy], rel=1e-3)
    assert err == f"{files['records']} holds records: distances to it are not private\n"


def test_writes_them_as_json_and_draws_quantiles(files, tmp_path, capsys):
    picture = tmp_path / "qq.svg"
    status, out, err = run(capsys, files["a"], files["b"], "--between", "steps", "--json", "--plot", picture)
    assert status == 0
    assert picture.exists()
    found = json.loads(out)
    assert found["schema"] == "ogive.comparison/1"
    curves = [ogive.Curve.from_json(files[name]) for name in ("a", "b")]
    expected = ogive.distances(*curves, between="steps", confidence_level=0.95).to_dict()
    assert found["compared"] == [{"with": str(files["b"]), **json.loads(json.dumps(expected))}]
    assert "not private" not in err


def test_reads_another_column(files, capsys):
    status, out, _ = run(capsys, files["a"], files["records"], "--column", "other", "--json")
    assert status == 0
    assert json.loads(out)["compared"][0]["ks"] > 0.4


def test_leaves_out_missing_values_where_asked(files, capsys):
    assert run(capsys, files["a"], files["holes"])[0] == 2
    status, out, _ = run(capsys, files["a"], files["holes"], "--missing", "drop", "--json")
    assert status == 0
    two = ogive.distances(ogive.Curve.from_json(files["a"]), [0.25, 0.75], between="steps")
    assert json.loads(out)["compared"][0]["ks"] == pytest.approx(two.ks, abs=0.05)


GRIDS = {
    "numbers": {"bounds": (-1, 3), "bins": 20},
    "ratios": {"bounds": (0.01, 100), "bins": 20, "grid": "geometric"},
    "whole": {"bounds": (0, 9), "grid": "integers"},
    "listed": {"grid": ogive.Grid.explicit([0, 0.1, 1.5, 2], low=-1)},
    "days": {"bounds": ("2024-01-01", "2024-12-31"), "bins": 7},
    "times": {"bounds": ("2024-01-01T00:00:00", "2024-12-31T00:00:00"), "bins": 7},
}


# each grid in one of three ways, in turn, and the last way is the default; `make test-all` takes all
@pytest.mark.parametrize(
    ("name", "between"),
    [
        pytest.param(name, between, marks=pytest.mark.everything if way != number % 3 else ())
        for number, name in enumerate(GRIDS)
        for way, between in enumerate(("steps", "lines", None))
    ],
)
def test_records_are_not_rounded_to_the_thresholds_of_the_curve(name, between, tmp_path, capsys):
    """Values are heaped, so that a curve on 20 thresholds is far from a staircase on the same."""
    rng = np.random.default_rng(1)
    values = np.round(rng.gamma(2, 0.4, 800), 1) + 0.03  # not on thresholds, which floating point rounds
    if name == "whole":
        values = np.floor(values * 4)
    if name in ("days", "times"):
        values = np.datetime64("2024-03-01", "D") + rng.integers(0, 90, 800)
        values = values if name == "days" else values.astype("datetime64[us]") + np.timedelta64(7, "h")
    records, released = tmp_path / "records.csv", tmp_path / "curve.json"
    records.write_text("value\n" + "".join(f"{value}\n" for value in values))
    curve = ogive.ecdf(values, privacy=GRANT, method="tree_ls", source=KeyedSource.from_seed(1), **GRIDS[name])
    curve.to_json(released)
    status, out, _ = run(capsys, released, records, "--json", *([] if between is None else ["--between", between]))
    assert status == 0
    expected = ogive.distances(curve, values, between=between).to_dict()
    found = json.loads(out)["compared"][0]
    for distance in ("ks", "emd", "energy"):
        assert found[distance] == pytest.approx(expected[distance], rel=1e-3)


def test_advice_on_missing_values_is_of_this_command(files, capsys):
    _, _, err = run(capsys, files["a"], files["holes"])
    assert "drop" in err
    assert "adjacency" not in err


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("others", "words"),
    [
        (["a"], "name a second curve"),
        (["a", "wide"], "different bounds"),
        (["records", "a"], "records.csv"),
        (["a", "b", "--between", "curves"], "steps or lines"),
        (["a", "b", "b", "--plot", "x.png"], "name one"),
        (["a", "nothing.json"], "cannot read nothing.json"),
        (["a", "records", "--column", "none"], "none"),
    ],
    ids=["nothing", "bounds", "records first", "between", "two pictures", "no file", "no column"],
)
def test_refuses_in_one_line(files, capsys, others, words):
    status, out, err = run(capsys, *(files.get(name, name) for name in others))
    assert (status, out) == (2, "")
    assert words in err
    assert err.startswith("ogive: error:")
    assert err.count("\n") == 1


def test_words_for_missing_values_are_named(files, tmp_path, capsys):
    coded = tmp_path / "coded.csv"
    coded.write_text("value\n" + "0.4\n" * 60 + "refused\n-9\n")
    status, _, _ = run(capsys, files["a"], coded, "--missing", "drop")
    assert status == 2
    status, out, _ = run(capsys, files["a"], coded, "--missing", "drop", "--na", "refused", "-9")
    assert status == 0
    plain = tmp_path / "plain.csv"
    plain.write_text("value\n" + "0.4\n" * 60)
    wanted = run(capsys, files["a"], plain)[1].replace("plain.csv", "coded.csv")
    assert out == wanted
