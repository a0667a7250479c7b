"""The commands of a service for local reports: what they refuse, each in one line, and what they make."""

import pytest
from helpers.local_service import described, reports_of

from ogive.cli import main
from ogive.study.local.enrolment import equip
from ogive.study.local.reports import LocalReports

SERVE = ["local", "serve", "study.json", "--service", "tls", "--store", "store"]
DEVICES = ["local", "devices", "study.json", "new", "--host", "localhost"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = described(4)
    (tmp_path / "study.json").write_text(made.to_json())
    (tmp_path / "other.json").write_text(described(4).to_json())
    equip(tmp_path / "tls", made, count=4, hosts=("localhost",))
    kept = LocalReports(made, tmp_path / "store", 4)
    for person, report in enumerate(reports_of(made, [10, 20, 30, 40])):
        kept.take(person, report).result(10)
    kept.close()
    return tmp_path


def refused(capsys, arguments):
    """The one line of a refusal."""
    assert main(arguments) in (1, 2)
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    return captured.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["local", "devices", "study.json", "new"], "--host"),
        ([*DEVICES, "--count", "5"], "--count must be 1 to 4, got 5"),
        ([*DEVICES[:3], "tls", *DEVICES[4:]], "is there already and is kept"),
        ([*DEVICES[:-1], "no host"], "no host"),
        (["local", "devices", "absent.json", "new", "--host", "localhost"], "absent.json"),
        ([*SERVE[:2], "other.json", *SERVE[3:]], "is the list of another collection"),
        ([*SERVE[:4], "absent", *SERVE[5:]], "ogive local devices makes it"),
        ([*SERVE, "--port", "70000"], "must be 0 to 65535, got 70000"),
        ([*SERVE, "--host", "nowhere.invalid"], "cannot listen at nowhere.invalid"),
        (["local", "aggregate", "study.json", "tls"], "it is a folder, and no store of a service"),
    ],
)
def test_what_cannot_be_done_is_one_line(folder, capsys, arguments, words):
    before = {path.name for path in folder.iterdir()}
    assert words in refused(capsys, arguments)
    assert {path.name for path in folder.iterdir()} == before


def test_another_store_is_not_gone_on_with(folder, capsys):
    made = described(4)
    (folder / "fresh.json").write_text(made.to_json())
    equip(folder / "fresh", made, count=4, hosts=("localhost",))
    words = ["local", "serve", "fresh.json", "--service", "fresh", "--store", "store", "--port", "0"]
    assert "the store holds reports to another description" in refused(capsys, words)


def test_a_store_is_aggregated_as_a_file_is(folder, capsys):
    assert main(["local", "aggregate", "study.json", "store", "--partial", "state", "--count-only"]) == 0
    assert "4 reports accepted" in capsys.readouterr().err
    assert main(["local", "aggregate", "study.json", "store", "--partial", "state", "--count-only"]) == 0
    assert "store: nothing new" in capsys.readouterr().err
    assert main(["local", "aggregate", "study.json", "store", "-o", "ages.json"]) == 0


def test_files_of_secrets_are_their_owner_s_alone(folder):
    modes = {path.name: path.stat().st_mode & 0o777 for path in (folder / "tls").iterdir()}
    assert modes.pop("ca.pem") == 0o644
    modes.pop("service.pem")
    assert set(modes.values()) == {0o600}
    assert set(modes) == {"ca.key", "service.key", "enrolled", "tokens"}
