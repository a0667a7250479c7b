"""`ogive boxplot`: results, pictures, books and messages."""

import json

import numpy as np
import pytest
from helpers.scope import size

import ogive
from ogive.cli import main

RNG = np.random.default_rng(4)
GROUPS = RNG.choice(["red", "blue"], 2_000)
ROWS = zip(RNG.normal(size=2_000) + (GROUPS == "red"), GROUPS, RNG.integers(1, 3, 2_000), strict=True)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("boxes") / "people.csv"
    path.write_text("x,color,wave\n" + "".join(f"{x},{color},{wave}\n" for x, color, wave in ROWS))
    return path


@pytest.fixture
def run(capsys):
    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


X = ("--column", "x", "--bounds", "-5", "6")
ONE = ("--epsilon", "1")
COLORS = ("--by", "color", "--by-groups", "red", "blue")


def test_prints_a_row_for_each_group(run, table):
    status, out, err = run("boxplot", table, *X, *ONE, *COLORS)
    assert (status, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()[1:4]] == ["color", "red", "blue"]


def test_json_reads_back_and_groups_may_be_numbers(run, table):
    status, out, _ = run(
        "boxplot", table, *X, *ONE, "--by", "wave", "--by-groups", "1", "2", "--method", "five_numbers", "--json"
    )
    assert status == 0
    boxes = ogive.Boxplots.from_dict(json.loads(out))
    assert [box.group for box in boxes.boxes] == [1, 2]
    assert abs(boxes[2].median - 0.5) < 0.5


def test_a_ledger_pays_once_and_a_report_shows_the_boxes(run, table, tmp_path):
    books = ("--ledger", tmp_path / "b.db", "--limit-epsilon", "1")
    asked = ("boxplot", table, *X, *COLORS, "--epsilon", "1", "-o", tmp_path / "boxes.json")
    status, _, err = run(*asked, *books, "--plot", tmp_path / "boxes.png")
    assert status == 0, err
    assert "paid epsilon = 1" in err
    assert (tmp_path / "boxes.png").stat().st_size > 5_000
    status, _, err = run(*asked, *books)
    assert "no cost" in err
    status, _, err = run("boxplot", table, *X, *ONE, *books)
    assert status == 1
    assert "nothing is left" in err or "left" in err
    status, _, err = run("report", tmp_path / "boxes.json", "-o", tmp_path / "report.html")
    assert status == 0, err
    assert "Boxplot of x by color" in (tmp_path / "report.html").read_text()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--by", "color", *ONE), "--by-groups a b"),
        (("--by-groups", "red", *ONE), "--by-groups needs --by"),
        (
            ("--by", "color", "--by-groups", "red", *ONE),
            "groups with --by-groups, or leave the records of others out with --where",
        ),
        (("--by", "wave", "--by-groups", "red", *ONE), "its groups are texts"),
        ((*ONE, "--method", "smith"), "method"),
        ((*ONE, "--method", "five_numbers", "--shares", "1", "0", "0", "0", "0"), "shares must be five numbers"),
        ((*ONE, "--beyond", "1.5"), "must be a whole number"),
        ((*ONE, "--beyond", "3"), "--beyond belongs to --method five_numbers"),
        ((*ONE, "--shares", *["0.2"] * 5), "--shares belongs to --method five_numbers"),
        ((*ONE, "--method", "five_numbers", "--curve", "tree_ls"), "--curve belongs to --method resample"),
        ((*COLORS,), "give a privacy guarantee"),
    ],
)
def test_refuses_in_one_line_and_writes_nothing(run, table, tmp_path, arguments, message):
    status, out, err = run("boxplot", table, *X, *arguments, "-o", tmp_path / "out.json")
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "out.json").exists()


def test_a_plan_compares_ways_to_draw_the_boxes_and_reads_no_records(run):
    asked = ("--records", "3000", "--epsilon", "1", "--bounds", "0", "10", "--bins", "64", "--runs", size(4, part=2))
    status, out, err = run("plan", "boxplot", *asked, "--by", "g", "--by-groups", "a", "b", "--json")
    assert status == 0, err
    rows = {row["method"]: row for row in json.loads(out)["rows"]}
    assert set(rows) == {"tree_ls", "projection", "five_numbers", "resample", "joint"}
    for name, row in rows.items():
        assert 0 < row["errors"]["median"] < 0.1, name
        # the ends of five numbers are not those of whiskers
        assert ("low" in row["errors"]) == (name not in ("five_numbers", "joint"))
    assert rows["resample"]["chosen"]
    status, out, _ = run("plan", "boxplot", *asked, "--method", "five_numbers", "--all")
    assert status == 0
    assert "Laplace and one-sided on" in out
    # five numbers are one of the ways that are compared, whichever is taken
    status, out, err = run("plan", "boxplot", *asked, "--beyond", "30", "--curve", "tree_ls", "--all")
    assert (status, err) == (0, "")
    assert "five_numbers" in out


@pytest.mark.everything
def test_draws_violins_where_asked(run, table, tmp_path):
    asked = ("boxplot", table, *X, *ONE, *COLORS, "--curve", "tree_ls")
    sizes = []
    for extra in ((), ("--violins",)):
        picture = tmp_path / f"boxes{len(extra)}.svg"
        status, _, err = run(*asked, "--plot", picture, *extra)
        assert status == 0, err
        sizes.append(picture.read_text())
    assert "PolyCollection" in sizes[1] or "FillBetween" in sizes[1]
    assert "PolyCollection" not in sizes[0]
    assert "FillBetween" not in sizes[0]


@pytest.mark.parametrize(
    ("extra", "words"),
    [(("--violins",), "name a picture"), (("--violins", "--plot", "x.png", "--method", "five_numbers"), "whole curve")],
)
def test_violins_that_could_not_be_drawn_are_refused_before_anything_is_paid(run, table, tmp_path, extra, words):
    books = ("--ledger", tmp_path / "b.db", "--limit-epsilon", "1")
    status, out, err = run("boxplot", table, *X, *ONE, *books, *extra)
    assert (status, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert not (tmp_path / "b.db").exists()
