"""`ogive compare`: distances between files; one line where they do not compare."""

import json

import numpy as np
import pytest

import ogive
from ogive.cli import main

VALUES = np.random.default_rng(3).random(1500)
GRANT = ogive.PureDP(1.0)


@pytest.fixture
def files(tmp_path):
    """Two releases of the same values, one on other bounds, a ROC curve's worth of nothing, and the records."""
    made = {}
    for name, bounds in (("a", (0, 1)), ("b", (0, 1)), ("wide", (0, 2))):
        made[name] = tmp_path / f"{name}.json"
        ogive.ecdf(VALUES, bounds=bounds, bins=32, privacy=GRANT).to_json(made[name])
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
    assert str(ogive.distances(*curves)) in lines[1]
    exact = ogive.Ecdf("value", (0, 1), bins=32)
    truth = ogive.release(exact, trust=ogive.Clear(files["records"]), privacy=GRANT)
    assert str(ogive.distances(curves[0], truth)) in lines[2]
    assert err == f"{files['records']} holds records: distances to it are not private\n"


def test_writes_them_as_json_and_draws_quantiles(files, tmp_path, capsys):
    picture = tmp_path / "qq.svg"
    status, out, err = run(capsys, files["a"], files["b"], "--between", "steps", "--json", "--plot", picture)
    assert status == 0
    assert picture.exists()
    found = json.loads(out)
    assert found["schema"] == "ogive.comparison/1"
    curves = [ogive.Curve.from_json(files[name]) for name in ("a", "b")]
    expected = ogive.distances(*curves, between="steps").to_dict()
    assert found["compared"] == [{"with": str(files["b"]), **expected}]
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


@pytest.mark.parametrize(
    ("others", "words"),
    [
        (["a"], "name what to compare with"),
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
