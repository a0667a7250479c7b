"""--where, --by and --by-groups of commands: which records are asked, and one line about what is wrong."""

import json

import numpy as np
import pytest

from ogive.cli import main


@pytest.fixture
def run(capsys):
    def run_it(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run_it


@pytest.fixture
def patients(tmp_path):
    rng = np.random.default_rng(2)
    path = tmp_path / "patients.csv"
    rows = zip(rng.integers(18, 90, 2000), rng.choice(["A", "B"], 2000), rng.integers(0, 2, 2000), strict=True)
    path.write_text("age,ward,ill\n" + "".join(f"{age},{ward},{ill}\n" for age, ward, ill in rows), encoding="utf-8")
    return path


AGE = ("--column", "age", "--bounds", "0", "100", "--bins", "20")
BY = ("--by", "ward", "--by-groups", "A", "B")


def test_a_subset_is_released_and_says_what_it_is(run, patients, tmp_path):
    status, out, _ = run("ecdf", patients, *AGE, "--where", "ward == 'A' and age >= 40", "--epsilon", "1")
    assert status == 0
    assert "records where ward == 'A' and age >= 40" in out
    file = tmp_path / "out.json"
    run("ecdf", patients, *AGE, "--where", "ward=='A'", "--public", "ward", "--epsilon", "1", "-o", file)
    data = json.loads(file.read_text(encoding="utf-8"))
    assert data["provenance"]["where"] == "ward == 'A'"
    assert 800 < data["total"] < 1200


@pytest.mark.parametrize("command", ["ecdf", "quantiles", "mean"])
def test_groups_are_one_release_with_a_short_table(command, run, patients, tmp_path):
    more = ("--column", "age", "--bounds", "0", "100")
    status, out, _ = run(
        command, patients, *more, *BY, "--where", "ill == 1", "--epsilon", "2", "--plot", tmp_path / "p.png"
    )
    assert status == 0
    head, *lines = [line for line in out.splitlines() if line]
    assert "by ward" in head
    assert "records where ill == 1" in head
    assert max(map(len, lines)) <= 100
    assert (tmp_path / "p.png").stat().st_size > 1000


def test_a_roc_curve_of_groups_keeps_its_book(run, patients, tmp_path):
    asked = ("roc", patients, "--score", "age", "--label", "ill", "--bounds", "0", "100", "--bins", "16", *BY)
    books = ("--epsilon", "1", "--ledger", tmp_path / "b.db", "--limit-epsilon", "3")
    first, second = run(*asked, *books), run(*asked, *books[:4])
    assert (first[0], second[0]) == (0, 0)
    assert first[1] == second[1]
    assert "paid epsilon = 1" in first[2]
    assert "at no cost" in second[2]
    assert "by ward" in run("ledger", "show", tmp_path / "b.db")[1]


def test_numbers_of_groups_are_numbers(run, patients):
    status, out, _ = run(
        "mean", patients, "--column", "age", "--bounds", 0, 100, "--by", "ill", "--by-groups", 0, 1, "--epsilon", 1
    )
    assert status == 0
    assert out.splitlines()[-1].split()[0] == "1"


def test_groups_are_found_where_they_are_not_named(run, patients):
    status, out, _ = run(
        "mean", patients, "--column", "age", "--bounds", 0, 100, "--by", "ward", "--epsilon", 4, "--delta", "1e-6"
    )
    assert status == 0
    assert out.splitlines()[0].startswith("mean of age by ward (epsilon = 4, delta = 1e-06")
    assert out.splitlines()[-1].startswith("groups were found: values of ward with fewer than about ")


def test_categories_are_found_where_they_are_not_declared(run, patients, tmp_path):
    asked = ("histogram", patients, "--column", "ward")
    status, out, _ = run(*asked, "--epsilon", 1, "--delta", "1e-6", "--plot", tmp_path / "p.png")
    assert status == 0
    assert "values with fewer than about 28 records may exist and are not shown" in out
    assert (tmp_path / "p.png").stat().st_size > 1000
    status, out, err = run(*asked, "--epsilon", 1)
    assert (status, out) == (2, "")
    assert "needs a delta; name the values, which are public, for example --values a b, or use --epsilon with" in err
    status, out, _ = run("plan", "histogram", "--column", "ward", "--records", 2000, "--epsilon", 1, "--delta", "1e-6")
    assert status == 0
    assert "values with fewer than about so many will probably not be shown" in out


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("--where", "ward == A"), "--where needs a number"),
        (("--where", "wart == 'A'"), "no column 'wart'"),
        (("--where", "ward > 3"), "column 'ward' holds text"),
        (("--by", "ward"), "needs a delta; name the values, which are public, for example --by-groups a b"),
        (("--by-groups", "A"), "add --by"),
        (("--by", "ward", "--by-groups", "A"), "were not declared"),
        (("--by", "ward", "--by-groups", "A", "A"), "named twice"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(words, wanted, run, patients):
    status, out, err = run("ecdf", patients, *AGE, *words, "--epsilon", "1")
    assert (status, out) == (2, "")
    assert wanted in err
    assert len([line for line in err.splitlines() if "error" in line]) == 1


def test_a_plan_asks_for_the_number_of_records_that_satisfy_a_condition(run, patients):
    status, out, _ = run("plan", "ecdf", *AGE, *BY, "--where", "ill == 1", "--records", "1000", "--epsilon", "1")
    assert status == 0
    assert "by ward" in out.splitlines()[0]
    status, _, err = run("plan", "ecdf", patients, *AGE, "--where", "ill == 1", "--epsilon", "1")
    assert status == 2
    assert "--records" in err


@pytest.mark.parametrize("command", ["mean", "boxplot"])
def test_a_single_word_with_commas_is_a_list(run, patients, command):
    asked = (command, patients, "--column", "age", "--bounds", "0", "100", "--by", "ward", "--epsilon", "1", "--json")
    spaced, joined = (run(*asked, "--by-groups", *words)[1] for words in (("A", "B"), ("A,B",)))
    for out in (spaced, joined):
        assert out.count('"A"') == spaced.count('"A"') > 0
        assert '"A,B"' not in out
