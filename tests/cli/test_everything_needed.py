"""What a description of a table still needs is told at once, with a command that is right."""

import shlex

import pytest
from helpers.scope import is_everything

import ogive
from ogive.cli import main

TABLE = "sex,age,smokes,dose\n" + "".join(
    f"{'FM'[i % 2]},{'NA' if i % 50 == 0 else 20 + i % 60},{i % 3 % 2},{'NA' if i % 40 == 0 else i % 9}\n"
    for i in range(600)
)


def briefly(words):
    """Options with which `make test` writes no table of intervals that no test here reads."""
    return words if is_everything() or "--json" in words else [*words, "--json"]


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Run a command in a folder with records: (status, the error)."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(TABLE)

    def run(*words):
        status = main(list(words))
        lines = capsys.readouterr().err.splitlines()
        return status, next((line for line in lines if line.startswith("ogive: error")), "")

    return run


def test_one_message_names_groups_missing_values_and_the_guarantee(said):
    status, line = said("describe", "people.csv", "--by", "sex")
    assert status == 2
    for need in ("--epsilon 1;", "--by-groups a b", "columns 'age', 'dose' mean", "--missing drop", "--missing age=0"):
        assert need in line
    assert "smokes" not in line


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "given",
    [
        "--by sex",
        "--by sex --epsilon 1",
        "--by sex --epsilon 1 --by-groups F M",
        "--by sex --epsilon 1 --missing drop --ledger l.db --limit-epsilon 4 --limit-delta 1e-5",
        "--by sex --epsilon 1 --missing dose=0",
        "--by sex --epsilon 1 --delta 1e-6 --adjacency replace --missing drop",
        "--epsilon 1",
    ],
)
def test_the_command_that_is_told_is_right(said, given):
    status, line = said("describe", "people.csv", *given.split())
    assert status == 2
    _, told, command = line.partition("; for example: ogive ")
    assert told
    more = ["--no-ledger" * ("--ledger" not in given) or "--json"]
    assert said(*shlex.split(command), *briefly(more)) == (0, "")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("given", "example"),
    [
        ("--columns dose --bounds dose=2:8", "--missing dose=2"),
        ("--columns smoker --values smoker=yes", "--missing smoker=no"),
        ("--columns smoker --values smoker=yes,no", "--missing smoker=count"),
        (
            "--columns age smoker dose --bounds dose=-1:8 age=0:99 --values smoker=yes",
            "--missing age=0 smoker=no dose=-1",
        ),
        ("--columns smoker --values smoker=yes --missing smoker=drop", "--missing smoker=no"),
        ("--columns age --bounds age=18:99 --missing drop", "--missing age=18"),
    ],
)
def test_policies_that_are_told_are_accepted(said, tmp_path, given, example):
    lines = TABLE.replace("smokes", "smoker").splitlines()
    rows = [
        ",".join((*line.split(",")[:2], ("", "yes", "no")[i % 3], line.split(",")[3]))
        for i, line in enumerate(lines[1:])
    ]
    (tmp_path / "people.csv").write_text("\n".join([lines[0], *rows, ""]))
    given = given.split()
    status, line = said("describe", "people.csv", *given, "--epsilon", "1")
    assert (status, f"for example {example}, under either adjacency" in line) == (2, True), line
    kept = given[: given.index("--missing")] if "--missing" in given else given
    more = briefly(["--epsilon", "1", "--no-ledger"])
    assert said("describe", "people.csv", *kept, *example.split(), *more) == (0, "")


def test_columns_to_drop_are_not_said_to_have_missing_values(said):
    _, line = said("describe", "people.csv", "--epsilon", "1", "--missing", "drop", "--adjacency", "replace")
    assert "for each column that has missing values; which ones have is not read" in line


def test_an_only_thing_that_is_missing_is_told_as_before(said):
    status, line = said("describe", "people.csv", "--by", "sex", "--epsilon", "1", "--columns", "smokes")
    assert (status, "a delta; name the values" in line) == (2, True)
    assert said("ecdf", "people.csv", "--column", "age", "--bounds", "0", "99")[1].endswith(
        "guarantee, for example --epsilon 1"
    )


def test_parties_are_told_together_and_groups_are_to_be_named():
    records = {"age": [1.0, 2.0, 3.0, None], "dose": [1.0, None, 2.0, 3.0], "sex": ["a", "b", "a", "b"]}
    parts = [{name: values[i : i + 2] for name, values in records.items()} for i in (0, 2)]
    with pytest.raises(ogive.DataError, match="'age', 'dose'") as refused:
        ogive.release(
            ogive.Describe(("age", "dose"), numbers=("age", "dose"), by="sex"),
            trust=ogive.SecAgg(parts),
            privacy=ogive.PureDP(1),
        )
    assert refused.value.remedy == ("`groups=('a', 'b')`", "`missing='drop'`", "`adjacency ADD_OR_REMOVE`")
