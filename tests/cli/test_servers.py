"""The commands of servers and of those who upload to them: what they refuse, each in one line."""

import contextlib
import io
import re
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from helpers.forked import program
from helpers.people_study import study_text as people_text
from helpers.refusing import refused
from helpers.scope import is_everything
from helpers.servers_study import key_of, text_of, token_of

from ogive.cli import main
from ogive.cli.study import own_record
from ogive.errors import ParameterError
from ogive.study.document import read_study
from ogive.study.store import OfServers, Store, begin

NEW = ["study", "new", "new.toml", "--name", "ages", "--records", "100", "--trust", "servers", "--server"]
SERVER = ["server", "study.toml", "--key", "own.key", "--store", "store", "--enrolled", "list", "--service", "tls"]
UPLOAD = ["upload", "study.toml", "--connect", "https://localhost:1"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A study with the key of its first server, another key, and tokens."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_bytes(text_of())
    for number, name in ((0, "own.key"), (7, "other.key")):
        written = key_of(number).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (tmp_path / name).write_bytes(written)
    (tmp_path / "people.csv").write_text("age\n1\n2\n")
    (tmp_path / "token").write_text(token_of(1))
    return tmp_path


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*NEW, "north=ed25519:AAAA"], "--server north needs both keys that ogive study keys --sealing"),
        ([*NEW, "north"], "--server takes NAME=KEY"),
        ([*NEW, "a=ed25519:AAAA,x25519:AAAA"], "at least 2 tables [[server]]"),
        (["study", "devices", "study.toml", "people", "--count", "0"], "--count must be at least 1"),
        (["study", "devices", "study.toml", "store2/people", "--count", "x"], "--count"),
        (["study", "check", "study.toml", "--records", "people.csv"], "leave out --records and --state"),
        (["study", "status", "study.toml", "--state", "absent.db"], "there is no state absent.db"),
        (["study", "release", "study.toml", "age", "--state", "absent.db"], "there is no state absent.db"),
        (SERVER, "the list of who may upload list cannot be read"),
        ([*SERVER[:3], "other.key", *SERVER[4:]], "no server of the study test has the key"),
        ([*SERVER, "--number", "1"], "the key is that of server 0, server-0, and --number is 1"),
        ([*SERVER, "--number", "-1"], "the key is that of server 0, server-0, and --number is -1"),
        ([*SERVER, "--number", "north"], "--number"),
        (["server", "study.toml", "--number", "0", "--store", "store"], "the key my.key cannot be read"),
        ([*SERVER[:4], "--number", "0", "--store", "store"], "who may upload server-0.enrolled cannot be read"),
        ([*UPLOAD, "--token", "token"], "name your record with --value or --value-from, or a table"),
        ([*UPLOAD, "--token", "token", "--value", "1", "--file", "people.csv"], "name your record with --value"),
        ([*UPLOAD, "--token", "people.csv", "--value", "1"], "holds no tokens"),
        ([*UPLOAD, "--token", "absent", "--value", "1"], "the file of tokens absent cannot be read"),
        ([*UPLOAD, "--token", "token", "--value", "nan"], "--value nan is not a value"),
        ([*UPLOAD, "--token", "token", "--file", "people.csv"], "records: 2, tokens: 1"),
        ([*UPLOAD, "--token", "token", "--value", "1", "2"], "--value takes 65, or COLUMN=VALUE"),
        ([*UPLOAD, "--token", "token", "--value", "weight=1"], "'age'"),
        ([*UPLOAD[:3], "http://localhost", "--token", "token", "--value", "1"], "must be such as https://"),
        ([*UPLOAD, "--authority", "absent.pem", "--token", "token", "--value", "1"], "absent.pem cannot be used"),
    ],
)
def test_what_cannot_be_done_is_one_line(folder, capsys, arguments, words):
    before = {path.name for path in folder.iterdir()}
    assert words in refused(capsys, arguments)
    assert {path.name for path in folder.iterdir()} == before


def test_a_server_that_does_not_answer_is_one_line(folder, capsys, monkeypatch):
    monkeypatch.setattr("ogive.study.https.TRIES", 1)
    assert "does not take the upload now: connection refused" in refused(
        capsys, [*UPLOAD, "--token", "token", "--value", "1"]
    )


def test_a_study_of_servers_is_made_by_commands_alone(folder, capsys):
    keys = []
    for name in ("north", "south"):
        assert main(["study", "keys", f"{name}.key", "--sealing"]) == 0
        keys.append(f"{name}={capsys.readouterr().out.strip()}")
    assert main([*NEW, *keys]) == 0
    assert main(["study", "check", "new.toml", "--key", "south.key"]) == 0
    said = capsys.readouterr().out
    assert "You run server 1, south." in said
    assert "comparison keys" in said
    assert main(["study", "devices", "new.toml", "people", "--count", "3"]) == 0
    assert sorted(path.name for path in (folder / "people").iterdir()) == ["north.enrolled", "south.enrolled", "tokens"]
    assert {path.stat().st_mode & 0o777 for path in (folder / "people").iterdir()} == {0o600}
    capsys.readouterr()
    again = ["study", "devices", "new.toml", "people", "--count", "3"]
    assert "is there already and is kept" in refused(capsys, again)
    assert main(["study", "keys", "--service", "tls", "--study", "new.toml", "--host", "localhost"]) == 0
    assert sorted(path.name for path in (folder / "tls").iterdir()) == [
        "ca.key", "ca.pem", "service.key", "service.pem",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["servers", "people"])
def test_the_state_of_another_study_or_of_its_file_before_a_change_is_refused(folder, capsys, kind):
    """A release of it would be waited for without end."""
    texts = {"servers": text_of, "people": people_text}
    text = texts[kind]()
    (folder / "study.toml").write_bytes(text)
    study = read_study(folder / "study.toml")
    changed = type(study).parse(text + b"# changed\n")
    name = study.releases[0].name
    for place, of in (("own.db", study), ("changed.db", changed), ("none.db", None)):
        store = Store(place)
        with store.write() as kept:
            if of is not None:
                kept.put("study" if kind == "servers" else "pairs/study", of.digest)
        store.close()
    for command in (["release", "study.toml", name, "--no-wait"], ["status", "study.toml"]):
        said = refused(capsys, ["study", *command, "--state", "changed.db"])
        assert "changed.db is of another study, or of this one before" in said
        assert "the state none.db is not" in refused(capsys, ["study", *command, "--state", "none.db"])
        assert main(["study", *command, "--state", "own.db"]) == 0  # the control
        capsys.readouterr()


@pytest.mark.parametrize(
    ("answer", "goes_on"),
    [
        ("y", True),
        pytest.param("Yes", True, marks=pytest.mark.everything),
        ("", False),
        pytest.param("n", False, marks=pytest.mark.everything),
        pytest.param("why?", False, marks=pytest.mark.everything),
    ],
)
def test_a_release_asks_before_it_ends_the_uploads(folder, capsys, monkeypatch, answer, goes_on):
    study = read_study(folder / "study.toml")
    store = Store("own.db")
    with store.write() as kept:
        begin(kept, study, "own.db")
    terminal = io.StringIO(answer)
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stdin", terminal)
    command = ["study", "release", "study.toml", "age", "--state", "own.db", "--no-wait"]
    assert main(command) == (0 if goes_on else 1)
    out, err = capsys.readouterr()
    assert re.search(r"release age ends the uploads of study test .*\(min_uploads: 1\); go on\? \[y/N\] ", err)
    assert out == ""
    with store.read() as kept:
        assert OfServers(study, kept).is_requested(0) == goes_on
    assert ("nothing was asked for, and uploads go on" in err) != goes_on
    assert main([*command, "--yes"]) == 0
    with store.write() as kept:
        OfServers(study, kept).refuse(0, "uploads: 0")
    for without in (None, io.StringIO()):
        monkeypatch.setattr("sys.stdin", without)
        assert main(command) == 0
    assert "[y/N]" not in capsys.readouterr().err
    store.close()


@pytest.mark.parametrize("command", [["release", "study.toml", "age", "--no-wait"], ["status", "study.toml"]])
def test_an_estimate_is_computed_after_the_state_was_read(folder, capsys, monkeypatch, command):
    """A database may end a transaction in which nothing is asked for long."""
    study, within, seen = read_study(folder / "study.toml"), [], []
    store = Store("own.db")
    with store.write() as kept:
        begin(kept, study, "own.db")
    read = Store.read

    @contextlib.contextmanager
    def watched(store):
        with read(store) as entries:
            within.append(entries)
            yield entries
            within.pop()

    monkeypatch.setattr(Store, "read", watched)
    monkeypatch.setattr(OfServers, "answers", lambda releases, number: seen.append(len(within)) or ("sums",))
    monkeypatch.setattr(
        "ogive.study.course.estimate_of", lambda study, number, answers: seen.append((answers, *within))
    )
    assert main(["study", *command, "--state", "own.db"]) == 0
    assert seen[0] == 1, "answers are read within"
    assert (("sums",),) in seen
    store.close()


def test_a_release_that_was_refused_says_why(folder, capsys, monkeypatch):
    study = read_study(folder / "study.toml")
    store = Store("own.db")
    with store.write() as kept:
        begin(kept, study, "own.db")

    def look(_):
        with store.write() as kept:
            OfServers(study, kept).refuse(
                0, "uploads: 0, min_uploads of the study: 1; uploads go on, and nothing was spent"
            )

    monkeypatch.setattr("ogive.cli.study.time.sleep", look)
    assert main(["study", "release", "study.toml", "age", "--state", "own.db", "--yes"]) == 1
    assert "age is refused: uploads: 0, min_uploads of the study: 1" in capsys.readouterr().err
    store.close()


def test_a_value_is_read_from_a_file(tmp_path):
    """Others may see the words of a command."""
    place = tmp_path / "value"
    for said, found in (
        ("65\n", [65.0]),
        ("\n a=1 \nb=x\n", {"a": [1.0], "b": ["x"]}),
        ("north", ["north"]),
        ("\ufeffnorth", ["north"]),
    ):
        place.write_text(said, encoding="utf-8")
        assert own_record((), place, None) == found
    for said, words in (
        (b"", "no value in"),
        (b"1\n2\n", "COLUMN=VALUE"),
        (b"nan", "is not a value"),
        (b"\xff", "UTF-8"),
        (b"9" * 70_000, "more than"),
    ):
        place.write_bytes(said)
        with pytest.raises(ParameterError, match=words):
            own_record((), place, None)


@pytest.mark.parametrize("command", ["upload", "pair"])
def test_the_commands_take_a_value_from_standard_input(folder, capsys, command):
    more = ["--token", "token"] if command == "upload" else ["--key", "own.key", "--ledger", "l.db"]
    words = [command, "study.toml", "--connect", "https://localhost:1", *more]
    # one that has imported everything starts at once
    ogive = [sys.executable, "-m", "ogive"] if is_everything() or command == "upload" else [program(folder)]
    done = subprocess.run(
        [*ogive, *words, "--value-from", "/dev/stdin"], input=b"1\n2\n", capture_output=True, check=False
    )
    assert b"--value takes 65, or COLUMN=VALUE" in done.stderr
    assert "the value in absent cannot be read: No such file" in refused(capsys, [*words, "--value-from", "absent"])
