"""The commands of a service for local reports: what they refuse, each in one line, and what they make."""

import os

import pytest
from helpers.local_service import LocalProcess, LocalTrial, described, reports_of
from helpers.refusing import refused
from helpers.waiting import PATIENCE

from ogive.cli import main
from ogive.study.local import LocalReports, equip

SERVE = ["local", "serve", "study.json", "--service", "tls", "--store", "store"]
SEND = ["local", "send", "study.json", "mine.reports", "--connect", "https://localhost:1"]
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
        kept.take(person, report).result(PATIENCE)
    kept.close()
    (tmp_path / "wrong").write_text("".join(f"{number}-{'é' * 64}\n" for number in range(4)))
    (tmp_path / "mine.reports").write_bytes(b"".join(reports_of(made, [10, 20, 30, 40])))
    return tmp_path


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
        ([*SEND, "--token", "absent"], "cannot read absent"),
        ([*SEND, "--token", "study.json"], "study.json has no token of participant 0; it begins with 0-"),
        ([*SEND[:3], "study.json", *SEND[4:], "--token", "tls/tokens"], "study.json holds no reports"),
        ([*SEND[:5], "http://localhost", "--token", "tls/tokens"], "must be such as https://"),
        ([*SEND[:5], "https://localhost:x", "--token", "tls/tokens"], "must be such as https://"),
        ([*SEND, "--token", "wrong"], "wrong has no token of participant 0; it begins with 0-"),
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


def test_reports_are_sent_once(folder, capsys):
    with LocalProcess(LocalTrial(folder / "running", people=5)) as process:
        trial = process.trial
        (folder / "running" / "mine").write_bytes(b"".join(trial.reports[1:]))
        (folder / "running" / "other").write_bytes(b"".join(reports_of(trial.description, trial.values, seed=9)))
        words = [f"running/{each}" for each in ("study.json", "mine", "tls/tokens", "tls/ca.pem")]
        send = ["local", "send", *words[:2], "--connect", process.base, "--token", words[2], "--authority", words[3]]
        for _ in range(2):
            assert main(send) == 0
            assert capsys.readouterr().err == "4 reports were sent\n"
        assert process.status()["uploads"] == 4
        assert main([*send[:3], "running/other", *send[4:]]) == 0
        assert "another report is stored, which stays" in capsys.readouterr().err
        assert process.status()["uploads"] == 5
        (folder / "running" / "tokens").write_text("".join(f"{number}-{'0' * 64}\n" for number in range(5)))
        (folder / "running" / "mine2").write_bytes(b"".join(reports_of(described(5), trial.values)))
        (folder / "running" / "other.json").write_text(described(5).to_json())
        unknown = ["local", "send", "running/other.json", "running/mine2", *send[4:]]
        assert "takes no uploads of this study" in refused(capsys, unknown)
        assert "the server refuses the upload (401)" in refused(capsys, [*send[:7], "running/tokens", *send[8:]])


def test_files_of_secrets_are_their_owner_s_alone(folder):
    modes = {path.name: path.stat().st_mode & 0o777 for path in (folder / "tls").iterdir()}
    mask = os.umask(0o077)
    os.umask(mask)
    assert modes.pop("ca.pem") == 0o644 & ~mask
    modes.pop("service.pem")
    assert set(modes.values()) == {0o600}
    assert set(modes) == {"ca.key", "service.key", "enrolled", "tokens"}
