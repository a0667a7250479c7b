"""What users meet first when something is wrong: one line that names what they wrote."""

import re
import sqlite3

import pytest
from helpers.scope import is_everything

import ogive
from ogive.cli import main
from ogive.releasing.planning.text import counted
from ogive.statistics.sums.statistic import Mean

RELEASE = ("--bounds", "0", "120", "--epsilon", "1")


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Run a command in a folder with records: (status, standard error)."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{20 + i % 60},{'FM'[i % 2]},{i % 3 % 2}\n" for i in range(600))
    (tmp_path / "people.csv").write_text("age,sex,old\n" + rows)
    sqlite3.connect(tmp_path / "b.db").execute("create table t (x)").connection.close()
    (tmp_path / "e.json").write_text("{}")
    ogive.plan(Mean("age", bounds=(0, 120)), privacy=ogive.PureDP(1), records=600).to_json(tmp_path / "p.json")
    (tmp_path / "f.json").write_text('{"schema": "ogive.odd/1"}')

    def run(*words):
        status = main(list(words))
        return status, capsys.readouterr().err.strip()

    return run


def test_a_data_set_that_there_is_none_of_is_told_with_those_there_are(said):
    status, line = said("ecdf", "dataset:banks", "--column", "age", *RELEASE)
    assert status == 2
    assert re.search("a file, or dataset:bank,.* got 'dataset:banks'$", line)


@pytest.mark.parametrize("more", [("--column", "nope"), ("--column", "age", "--where", "nope == 1")])
def test_a_table_that_comes_with_the_package_is_called_as_it_was_written(said, more):
    status, line = said("ecdf", "dataset:bank", *more, *RELEASE)
    assert status == 2
    assert "dataset:bank has no column 'nope'" in line
    assert ".parquet" not in line


def test_a_release_is_compared_with_a_table_that_comes_with_the_package(said):
    assert said("ecdf", "dataset:bank", "--column", "age", *RELEASE, "-o", "c.json")[0] == 0
    status, line = said("compare", "c.json", "dataset:bank")
    assert status == 0
    assert "dataset:bank holds records" in line


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("show", "e.json", "f.json"), "f.json is too many: call it once for each"),
        (("report", "f.json"), "costs from ogive pate sanitize"),
        (("report", "p.json"), "pate sanitize; ogive show p.json prints it"),
        (("report", "b.db"), "a ledger is reported by ogive report --ledger b.db"),
        (("show", "b.db"), "a ledger is shown by ogive ledger show b.db"),
        (("show", "e.json"), "this is not a file that ogive wrote: it names no schema"),
        (("show", "f.json"), "its schema is 'ogive.odd/1', which this version does not know"),
        (("ecdf", "people.csv", "--column", "age", *RELEASE, "--where", "age is"), "\"ward == 'A' and age >= 65\""),
        (
            ("mean", "people.csv", "--column", "age", *RELEASE, "--missing", "500"),
            "--missing must lie within the bounds, 0 to 120, got '500'",
        ),
        (
            ("ecdf", "people.csv", "--column", "age", *RELEASE, "--by", "sex", "--by-groups", "F"),
            "others out with --where",
        ),
        (
            ("mean", "people.csv", "--column", "age", *RELEASE, "--by", "sex", "--by-groups", "F"),
            "others out with --where",
        ),
        (
            ("boxplot", "people.csv", "--column", "age", *RELEASE, "--by", "sex", "--by-groups", "F"),
            "others out with --where",
        ),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else "",
)
def test_one_line_says_what_was_wrong(said, words, wanted):
    status, line = said(*words)
    assert status == 2
    assert line.count("\n") == 0
    assert line.endswith(wanted)


@pytest.mark.parametrize("output", [("-o", "/proc/x"), ("--plot", "/proc/x.png")])
def test_an_output_that_nobody_can_write_is_refused_before_the_spend(said, tmp_path, output):
    paying = ("--ledger", "new.db", "--limit-epsilon", "2", "--data-set", "people")
    status, line = said("ecdf", "people.csv", "--column", "age", *RELEASE, *paying, *output)
    assert status == 2
    assert f"cannot write {output[1]}" in line
    assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize(
    ("number", "unit", "wanted"),
    [
        (1.0, "years", "1 year"),
        (2.0, "years", "2 years"),
        (1.0, "mmHg", "1 mmHg"),
        (1.0, "gauss", "1 gauss"),
        (1.04, "", "1"),
    ],
)
def test_one_of_a_unit_is_written_in_the_singular(number, unit, wanted):
    assert counted(number, unit) == wanted


def test_a_number_that_is_missing_may_be_any_within_the_bounds():
    assert Mean("age", bounds=(18, 100), missing=100).missing == 100


GROUPED = ("--by", "sex", "--by-groups", "F", "M", "--epsilon", "1")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (
            ("mean", "people.csv", "--colum", "age", *RELEASE),
            r"ogive mean has no option --colum; did you mean --column\?",
        ),
        (
            ("proportion", "people.csv", "--column", "sex", "--epsilon", "1"),
            "column 'sex' holds text, but .*numbers; .*--positive yes",
        ),
        (
            ("proportion", "people.csv", "--column", "old", "--positive", "yes", "--epsilon", "1"),
            "column 'old' holds numbers, but .*texts; .*--positive 1",
        ),
        (
            ("histogram", "people.csv", "--column", "old", *GROUPED, "--delta", "1e-6"),
            "not found out within groups; name the values,.*--values a b",
        ),
        (
            ("histogram", "people.csv", "--column", "old", "--by", "sex", "--epsilon", "1", "--delta", "1e-6"),
            "not found out within groups; name the values,.*--values a b",
        ),
    ],
)
def test_what_is_wrong_comes_with_what_would_be_right(said, words, wanted):
    status, line = said(*words)
    assert status == 2
    assert re.search(f"error: .*{wanted}$", line)


@pytest.fixture
def gaps(said, tmp_path):
    """A file of which some groups are missing, named as it is read."""
    rows = "".join(f"{20 + i % 60},{('F', 'M', '')[i % 3]}\n" for i in range(900))
    (tmp_path / "gaps.csv").write_text("age,sex\n" + rows)
    return "gaps.csv"


def test_records_without_a_group_are_left_out_as_the_message_says(said, gaps, capsys):
    words = ("mean", gaps, "--column", "age", "--bounds", "0", "120", *GROUPED)
    status, line = said(*words)
    assert status == 2
    assert re.search("column 'sex' has missing values; .*a group, .*--where 'sex is not missing'$", line)
    assert said(*words, "--where", "sex is not missing")[0] == 0


COMMA = "Creatinine, mg/dl"


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("--bounds", f"{COMMA}=0:5"), marks=pytest.mark.everything),
        ("--bounds", f"{COMMA}=0:5,age=0:120"),
        pytest.param(("--bounds", "age=0:120", f"{COMMA}=0:5"), marks=pytest.mark.everything),
        ("--numbers", COMMA, "age"),
        pytest.param(("--columns", f'"{COMMA}"'), marks=pytest.mark.everything),
        ("--columns", f'age,"{COMMA}"', "--weights", f"{COMMA}=2", "--missing", f"{COMMA}=0"),
        pytest.param(("--columns", "age, smoker", "--values", "smoker=yes"), marks=pytest.mark.everything),
    ],
)
def test_columns_are_declared_whose_names_have_commas(said, tmp_path, words):
    rows = "".join(f"{i % 5}.5,{20 + i % 60},{('yes', 'no')[i % 2]}\n" for i in range(200))
    (tmp_path / "lab.csv").write_text(f'"{COMMA}",age,smoker\n{rows}')
    json = () if is_everything() else ("--json",)  # no table of intervals, which this test does not read
    assert said("describe", "lab.csv", *words, "--epsilon", "9", "--no-ledger", *json)[0] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("--columns", COMMA),
            "'Creatinine'; did you mean 'Creatinine, mg/dl'? On the command line",
        ),
        (("--bounds", f"age=0:120,{COMMA}=0:5"), "whose name has a comma begins a word of its own"),
        (("--bounds", "age=0:120", "agee=0:3"), "the table has no column 'agee'; did you mean 'age'?"),
        (
            ("--columns", "age", "--bounds", "agee=0:3"),
            "'agee' is declared and not described; did you mean 'age'? else",
        ),
        (("--columns", "age", "--missing", "wxyz=0"), "'wxyz' is declared and not described; add it to --columns"),
    ],
)
def test_columns_that_are_not_there_are_told_with_those_that_may_be_meant(said, tmp_path, words, told):
    (tmp_path / "lab.csv").write_text(f'"{COMMA}",age\n' + "1.5,30\n2.5,40\n" * 100)
    status, line = said("describe", "lab.csv", *words, "--epsilon", "9", "--no-ledger")
    assert (status, told in line) == (2, True), line


def test_describe_says_what_decimal_commas_need(said, tmp_path):
    (tmp_path / "lab.csv").write_text("age;dose;note\n" + "30;2,5;good, 2\n40;3;bad\n" * 100)
    status, line = said("describe", "lab.csv", "--columns", "dose", "--epsilon", "9")
    assert status == 2
    assert "column 'dose' cannot be described as text: it holds numbers with decimal commas; " in line
    assert "write the file with decimal points" in line
    assert 'in Python release from \'pandas.read_csv(path, sep=";", decimal=",")' in line
    status, line = said("describe", "lab.csv", "--columns", "note", "--epsilon", "9")
    assert (status, "'note' cannot be described, since text has no mean" in line) == (2, True)


def test_what_is_left_out_of_a_description_is_told_its_decimal_commas(said, tmp_path, caplog):
    (tmp_path / "lab.csv").write_text("age;dose;note\n" + "30;2,5;good\n40;3;bad\n" * 100)
    assert said("describe", "lab.csv", "--epsilon", "9", "--no-ledger")[0] == 0
    told = [message for message in caplog.messages if "not described" in message]
    assert re.match("ogive: dose: not described, .*numbers with decimal commas; write the file", told[0])
    assert told[1].startswith("ogive: note: not described, since text has no mean")


def test_steps_of_the_calendar_are_told_by_their_names(said, tmp_path, capsys):
    (tmp_path / "days.csv").write_text("day\n" + "".join(f"2023-01-{1 + i % 28:02}\n" for i in range(200)))
    for steps in ("days", "weeks"):
        asked = ("ecdf", "days.csv", "--column", "day", "--bounds", "2023-01-01", "2023-12-31", "--grid", steps)
        assert main([*asked, "--epsilon", "9", "--no-ledger"]) == 0
        assert f" thresholds, {steps}, 2023-01-01 to 2023-12-31" in capsys.readouterr().out


@pytest.mark.parametrize("more", [("--missing", "count"), ("--where", "sex is not missing"), "drop"])
def test_missing_values_of_one_column_of_a_cross_table_have_ways_out(said, gaps, more):
    words = ("crosstab", gaps, "--row", "sex", "--rows", "F", "M", "--column", "age", "--columns", "20", "21")
    words = (*words, "--other", "count", "--epsilon", "1")
    line = said(*words)[1]  # the whole of it is a case of `word_cases.py`
    assert "column 'sex' has missing values" in line
    for way in ("--missing count", "--where 'sex is not missing'", "--adjacency add_or_remove", "--missing drop"):
        assert way in line
    more = ("--missing", "drop", "--adjacency", "add_or_remove") if more == "drop" else more
    assert said(*words, *more)[0] == 0


def test_found_groups_say_that_records_without_one_are_left_out(said, gaps, capsys):
    assert main(["mean", gaps, "--column", "age", *RELEASE, "--by", "sex", "--delta", "1e-4"]) == 0
    assert "records are in no group, nor are records without a value" in capsys.readouterr().out


def test_means_of_groups_have_numbers_of_records_and_deviations(said, capsys):
    assert main(["mean", "people.csv", "--column", "age", "--bounds", "0", "120", *GROUPED]) == 0
    head, *rows = capsys.readouterr().out.splitlines()[1:]
    assert all(name in head for name in (" n ", "mean", "SD", "standard error", "95 % interval"))
    assert len(rows) == 2
    assert all(len(row.split()) == 8 for row in rows)


def test_histograms_of_groups_have_intervals(said, capsys):
    assert main(["histogram", "people.csv", "--column", "old", "--values", "0", "1", *GROUPED]) == 0
    shown = capsys.readouterr().out
    assert "histogram of old with 95 % intervals of the shares by sex" in shown
    assert shown.count(" to ") == 4


def test_cross_tables_of_groups_name_both_columns(said, capsys):
    more = ("--row", "old", "--column", "age", "--rows", "0", "1", "--columns", "20", "--other", "count")
    assert main(["crosstab", "people.csv", *more, *GROUPED]) == 0
    shown = capsys.readouterr().out
    assert "cross table of old and age, with shares of the rows by sex" in shown
    assert "old = 0, age = 20" in shown


@pytest.mark.parametrize("option", ["--difference", "--ratio"])
def test_a_third_group_to_compare_is_told_from_another_file(said, option):
    groups = ("--by", "sex", "--by-groups", "F", "M", "X")
    status, line = said("mean", "people.csv", "--column", "age", *RELEASE, *groups, option, "F", "M", "X")
    assert status == 2
    assert f"{option} takes two groups, and X is a third; " in line
    assert f"for example {option} F M {option} F X; DATA comes before" in line
    more = said("mean", "people.csv", "more.csv", "--column", "age", *RELEASE, *groups, option, "F", "M")[1]
    assert "reads one DATA file, and more.csv is another" in more


def test_missing_labels_are_left_out_by_the_condition_that_is_told(said, tmp_path):
    rows = "".join(f"{i % 90},{('0', '1', 'NA')[i % 3]}\n" for i in range(90))
    (tmp_path / "labels.csv").write_text("age,ill\n" + rows)
    command = ("roc", "labels.csv", "--score", "age", "--label", "ill", "--positive", "1", *RELEASE)
    status, line = said(*command)
    assert status == 2
    assert "--where 'not ill is missing'" in line
    assert said(*command, "--where", "not ill is missing")[0] == 0
