"""--where, --by and --by-groups of commands: which records are asked, and one line about what is wrong."""

import json

import numpy as np
import pytest
from helpers.scope import is_everything

import ogive
from ogive.cli import main
from ogive.statistics.kinds import read_estimate


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
    drawn = is_everything() or command == "ecdf"
    plot = ("--plot", tmp_path / "p.png") if drawn else ()
    status, out, _ = run(command, patients, *more, *BY, "--where", "ill == 1", "--epsilon", "2", *plot)
    assert status == 0
    head, *lines = [line for line in out.splitlines() if line]
    assert "by ward" in head
    assert "records where ill == 1" in head
    assert max(map(len, lines)) <= 100
    assert not drawn or (tmp_path / "p.png").stat().st_size > 1000


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
    for words in ("needs a delta; name the values", "for example --values a b, or use --epsilon with"):
        assert words in err
    status, out, _ = run("plan", "histogram", "--column", "ward", "--records", 2000, "--epsilon", 1, "--delta", "1e-6")
    assert status == 0
    assert "values with fewer records will probably not be shown" in out


@pytest.mark.one_in(2)
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


@pytest.mark.usefixtures("fewer_imagined_releases")
def test_a_plan_asks_for_the_number_of_records_that_satisfy_a_condition(run, patients):
    status, out, _ = run("plan", "ecdf", *AGE, *BY, "--where", "ill == 1", "--records", "1000", "--epsilon", "1")
    assert status == 0
    assert "by ward" in out.splitlines()[0]
    status, _, err = run("plan", "ecdf", patients, *AGE, "--where", "ill == 1", "--epsilon", "1")
    assert status == 2
    assert "--records" in err


@pytest.mark.one_in(2)
@pytest.mark.parametrize("command", ["mean", "boxplot"])
def test_a_single_word_with_commas_is_a_list(run, patients, command):
    asked = (command, patients, "--column", "age", "--bounds", "0", "100", "--by", "ward", "--epsilon", "1", "--json")
    spaced, joined = (run(*asked, "--by-groups", *words)[1] for words in (("A", "B"), ("A,B",)))
    for out in (spaced, joined):
        assert out.count('"A"') == spaced.count('"A"') > 0
        assert '"A,B"' not in out


NUMBERS = {
    "mean": ("--column", "age", "--bounds", 0, 100),
    "sum": ("--column", "age", "--bounds", 0, 100),
    "count": ("--column", "age"),
    "proportion": ("--column", "ill", "--positive", 1),
    "quantiles": AGE,
    "ecdf": AGE,
    "roc": ("--score", "age", "--label", "ill", "--bounds", 0, 100, "--bins", 16),
}
"""Commands whose estimates have a number by which groups are compared."""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("command", NUMBERS)
def test_groups_are_compared_on_the_command_line_as_in_python(command, run, patients, tmp_path):
    file = tmp_path / "out.json"
    asked = (command, patients, *NUMBERS[command], *BY, "--epsilon", 2, "--difference", "A", "B", "--ratio", "B", "A")
    status, out, _ = run(*asked, "-o", file)
    assert status == 0
    found = read_estimate(json.loads(file.read_text(encoding="utf-8")))
    assert found.contrasts == (found.difference("A", "B"), found.ratio("B", "A"))
    for contrast in found.contrasts:
        assert str(contrast) in out.splitlines()
    stored = json.loads(file.read_text(encoding="utf-8"))["contrasts"]
    assert [each["kind"] for each in stored] == ["difference", "ratio"]
    assert stored[0]["value"] == found.contrasts[0].value
    if not is_everything() and command not in ("mean", "roc"):  # a page has one table for all of them
        return
    page = tmp_path / "page.html"
    assert run("report", file, "-o", page)[0] == 0
    text = page.read_text(encoding="utf-8")
    assert "Groups compared" in text
    assert f"{found.contrasts[0].head[1:]}<" in text
    for contrast in found.contrasts:
        value, low, high = (number.replace("-", "−") for number in contrast.shown)
        assert f">{value}<" in text
        assert f">{low} to {high}<" in text


def test_a_comparison_costs_nothing_and_makes_no_new_question(run, patients, tmp_path):
    asked = ("mean", patients, *NUMBERS["mean"], *BY, "--epsilon", 1, "--ledger", tmp_path / "b.db")
    _, first, _ = run(*asked, "--limit-epsilon", 1)
    status, second, err = run(*asked, "--difference", "B", "A")
    assert status == 0
    assert "at no cost" in err
    assert second.splitlines()[:-1] == first.splitlines()
    assert second.splitlines()[-1].startswith("difference of the mean of age, ward B minus A: ")


def test_a_saved_release_is_compared_again(run, patients, tmp_path):
    file, again = tmp_path / "out.json", tmp_path / "again.json"
    run("ecdf", patients, *AGE, *BY, "--epsilon", 2, "--difference", "A", "B", "-o", file)
    more = ("--difference", "A", "B", "--difference", "B", "A", "--ratio", "A", "B", "--compared-quantile", 0.25)
    status, out, _ = run("show", file, *more)
    assert status == 0
    assert [line.split(",")[0] for line in out.splitlines()[-4:]] == [
        "difference of the median of age",
        "difference of the 25 % quantile of age",
        "difference of the 25 % quantile of age",
        "ratio of the 25 % quantile of age",
    ]
    again.write_text(run("show", file, *more, "--json")[1], encoding="utf-8")
    assert run("show", again)[1] == out
    # the same comparison is shown once, and a page shows a release once, with all comparisons of its files
    assert run("show", file, "--difference", "A", "B")[1] == run("show", file)[1]
    assert len(json.loads(run("report", file, again, "-o", tmp_path / "p.html", "--json")[1])["releases"]) == 1
    assert (tmp_path / "p.html").read_text(encoding="utf-8").count(
        "ratio of the 25 % quantile of age".capitalize()
    ) == 1


@pytest.mark.parametrize(
    ("command", "words", "wanted"),
    [
        ("mean", (*BY, "--difference", "A", "Z"), "there is no group 'Z'; the groups of 'ward' are 'A', 'B'"),
        ("mean", (*BY, "--ratio", "A", "A"), "give two different groups to compare, got 'A' twice"),
        ("mean", ("--difference", "A", "B"), "--difference compares two groups; name their column"),
        ("mean", ("--by", "ward", "--ratio", "A", "B"), "--ratio needs --by-groups, since a group that is not found"),
        ("mean", (*BY, "--ratio", "A"), "--ratio needs 2 values, got 1"),
        ("mean", (*BY, "--difference", "A", "B", "--compared-quantile", 0.2), "no option --compared-quantile"),
        ("ecdf", (*BY, "--compared-quantile", 0.2), "add one of them"),
        ("ecdf", (*BY, "--difference", "A", "B", "--compared-quantile", 2), "--compared-quantile must be in [0, 1]"),
        ("ecdf", (*BY, "--difference", "A", "B", "--compared-quantile", "nan"), "must be in [0, 1], got nan"),
        (
            "quantiles",
            ("--probabilities", 0.25, *BY, "--difference", "A", "B"),
            "--compared-quantile must be one of those released, 0.25; got 0.5",
        ),
    ],
)
def test_a_wrong_comparison_is_refused_before_anything_is_paid(command, words, wanted, run, patients, tmp_path):
    books = ("--epsilon", 1, "--delta", "1e-6", "--ledger", tmp_path / "b.db", "--limit-epsilon", 3)
    status, out, err = run(command, patients, *NUMBERS[command], *words, *books)
    assert (status, out) == (2, "")
    assert wanted in err
    assert list(tmp_path.iterdir()) == [patients]


def test_what_has_no_groups_or_no_number_is_not_compared(run, patients, tmp_path):
    status, _, err = run("histogram", patients, "--column", "ill", "--values", 0, 1, *BY, "--difference", "A", "B")
    assert (status, "ogive histogram has no option --difference" in err) == (2, True)
    file = tmp_path / "out.json"
    run("histogram", patients, "--column", "ill", "--values", 0, 1, *BY, "--epsilon", 1, "-o", file)
    status, out, err = run("show", file, "--difference", "A", "B")
    assert (status, out) == (2, "")
    assert "has no number to compare between groups" in err
    run("mean", patients, *NUMBERS["mean"], "--epsilon", 1, "-o", file)
    status, out, err = run("show", file, "--ratio", "A", "B")
    assert (status, out) == (2, "")
    assert "--ratio compares two groups of a release with --by; leave it out" in err


def test_a_table_of_described_groups_has_no_number_to_compare(run, patients, tmp_path):
    file = tmp_path / "out.json"
    json = () if is_everything() else ("--json",)  # no table of intervals, which this test does not read
    asked = ("describe", patients, "--columns", "age", "--bounds", "age=0:120", *BY, "--epsilon", 9, *json)
    assert run(*asked, "-o", file)[0] == 0
    status, out, err = run("show", file, "--difference", "A", "B")
    assert (status, out) == (2, "")
    assert "--difference compares one number of two groups, " in err
    assert "a release of describe has none" in err
    assert "release the number with --by, for example by ogive mean" in err


def test_words_stand_for_the_groups_that_a_file_has(run, tmp_path):
    people = {"age": [30, 40] * 200, "arm": ["1", "2"] * 200}
    texts = ogive.Session(people, limit=ogive.PureDP(9)).mean(
        "age", bounds=(0, 90), by="arm", groups=("1", "2"), privacy=ogive.PureDP(9)
    )
    texts.to_json(tmp_path / "texts.json")
    status, out, _ = run("show", tmp_path / "texts.json", "--difference", 2, 1)
    assert status == 0
    assert str(texts.difference("2", "1")) in out
