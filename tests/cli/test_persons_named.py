"""A release of a table whose columns seem to identify people is told of --person, by names alone."""

import pytest

from ogive.cli import main
from ogive.cli.paying import person_column


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("day,patient_id,age\n" + "".join(f"{row},{row // 2},{20 + row % 60}\n" for row in range(400)))
    return path


@pytest.mark.parametrize(
    "name",
    [
        "patient_id",
        "PatientID",
        "patient id",
        "user_id",
        "userid",
        "person",
        "Subject",
        "customer-no",
        "patient_nbr",
        "id_patient",
    ],
)
def test_a_name_of_people_is_known(name):
    assert person_column(("age", name, "other_id")) == name
    assert person_column((name,), used=(name,)) is None


@pytest.mark.parametrize("name", ["id", "age", "customer", "persona", "user_agent", "patient_age", "video", "order_id"])
def test_other_names_are_left_alone(name):
    assert person_column((name,)) is None


@pytest.mark.parametrize("books", [False, True], ids=["alone", "ledger"])
def test_a_release_is_told_once_of_the_option(table, tmp_path, capsys, books):
    ledger = ("--ledger", str(tmp_path / "b.db"), "--limit-epsilon", "9") if books else ("--no-ledger",)
    mean = ("mean", str(table), "--column", "age", "--bounds", "0", "90", "--epsilon", "1", *ledger)
    assert main(list(mean)) == 0
    (line,) = [each for each in capsys.readouterr().err.splitlines() if "add --person patient_id" in each]
    assert line.startswith("ogive: every record counts as a person of its own; ")
    assert main(["count", str(table), "--column", "patient_id", "--epsilon", "1", "--no-ledger"]) == 0
    assert "--person" not in capsys.readouterr().err


def test_whoever_names_the_person_or_asks_for_exact_values_is_told_nothing(table, capsys):
    mean = ("mean", str(table), "--column", "age", "--bounds", "0", "90")
    for more in (("--epsilon", "1", "--no-ledger", "--person", "patient_id"), ("--trust", "clear")):
        assert main([*mean, *more]) == 0
        assert "--person" not in capsys.readouterr().err
