"""`ogive merge` and `--batch`: what is written, what is refused, and that no records are needed."""

import json
import shutil

import numpy as np
import pytest

from ogive import cli
from ogive.statistics.curve.estimate import Curve

SITES = {"north": 3, "south": 4}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A folder with two released sites; their records are gone."""
    folder = tmp_path_factory.mktemp("released")
    for name, seed in SITES.items():
        ages = np.random.default_rng(seed).integers(18, 90, size=1000)
        table = folder / f"{name}.csv"
        table.write_text("age\n" + "\n".join(map(str, ages)))
        options = ["--column", "age", "--bounds", "0", "120", "--grid", "integers", "--method", "hat_ls"]
        words = ["ecdf", str(table), *options, "--epsilon", "1", "--batch", name, "-o", str(folder / f"{name}.json")]
        assert cli.main(words) == 0
        table.unlink()
    return folder


@pytest.fixture
def sites(released, tmp_path, monkeypatch):
    """The two sites in a folder of the test, which is the present one."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(released, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_two_sites_make_one_curve_with_a_picture_and_a_page(sites, capsys):
    assert cli.main(["merge", "north.json", "south.json", "-o", "all.json", "--plot", "all.png"]) == 0
    whole = Curve.from_json(sites / "all.json")
    assert [batch.name for batch in whole.batches] == list(SITES)
    assert whole.total == 2000
    assert (sites / "all.png").read_bytes().startswith(b"\x89PNG")
    assert cli.main(["report", "all.json", "-o", "all.html"]) == 0
    page = (sites / "all.html").read_text()
    assert "north (1000), south (1000)" in page
    assert "Each person is in one batch only" in page
    capsys.readouterr()
    assert cli.main(["merge", "all.json", "north.json"]) == 2
    assert "'north' was counted before: it is the same release" in capsys.readouterr().err


def test_a_table_names_the_batches_and_json_goes_to_standard_output(sites, capsys):
    capsys.readouterr()
    assert cli.main(["merge", "north.json", "south.json"]) == 0
    assert "batches:    north (1000), south (1000)" in capsys.readouterr().out
    assert cli.main(["merge", "north.json", "south.json", "--weights", "1/4", "3/4", "--json"]) == 0
    mixed = Curve.from_dict(json.loads(capsys.readouterr().out))
    assert [weight for weight, _ in mixed.strategy.samples] == [0.25, 0.75]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["north.json"], "give two or more released curves to merge, got 1"),
        ([], "give two or more released curves to merge, got 0"),
        (["north.json", "north.json"], "was counted before"),
        (["north.json", "none.json"], "cannot read none.json"),
        (["north.json", "notes.txt"], "notes.txt: not JSON"),
        (["north.json", "south.json", "--weights", "0.5", "0.6"], "weights must add up to 1, got 1.1"),
        (["north.json", "south.json", "-o", "north.json"], "would overwrite another file of this run"),
        (["north.json", "south.json", "--plot", "all.gif"], "--plot must name a .png, .svg or .pdf file"),
    ],
)
def test_what_cannot_be_merged_is_refused_in_one_line(sites, capsys, arguments, message):
    (sites / "notes.txt").write_text("notes")
    capsys.readouterr()
    assert cli.main(["merge", *arguments]) == 2
    shown = capsys.readouterr().err.strip().splitlines()
    assert len(shown) == 1
    assert message in shown[0]


def test_a_ledger_s_part_names_the_batch(sites, capsys):
    (sites / "east.csv").write_text("age\n" + "20\n30\n40\n50")
    options = ["--column", "age", "--bounds", "0", "120", "--epsilon", "1", "--ledger", "b.db", "--limit-epsilon", "2"]
    assert cli.main(["ecdf", "east.csv", *options, "--data-set", "all", "--part", "east", "-o", "east.json"]) == 0
    assert Curve.from_json(sites / "east.json").provenance.batch == "east"
    capsys.readouterr()
    assert cli.main(["ecdf", "east.csv", *options, "--data-set", "all", "--part", "east", "--batch", "west"]) == 2
    assert "the account is of the part 'east', so the batch cannot be called 'west'" in capsys.readouterr().err
