"""`ogive show` prints any file that ogive wrote, and refuses any other in one line."""

import json
import re

import pytest
from helpers.scope import is_everything
from vectors.make_stored import DOCUMENTS, FOLDER, read

from ogive.cli import main
from ogive.cli.show import printable

KEPT = {name: data for name, data in json.loads(DOCUMENTS.read_text(encoding="utf-8")).items() if name != "training"}
WITHOUT_PICTURE = {
    "sanitized": "has no picture; leave out --plot",
    "description": "has no picture; leave out --plot",
    "concordance": "noise leaves no areas to draw",
}
"""What is said instead. The kept concordance is of so few records that no area of it is known."""
ONE_OF_A_KIND = {data["schema"]: name for name, data in reversed(KEPT.items())} | {"ogive.plan/1": "plan boxes"}


def written(path, data):
    path.write_text(json.dumps(data), encoding="utf-8")
    return str(path)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", KEPT)
def test_what_is_shown_says_what_was_released(name, tmp_path, capsys):
    assert main(["show", written(tmp_path / "a.json", KEPT[name])]) == 0
    told, words = capsys.readouterr().out, str(read(KEPT[name]))
    if KEPT[name]["schema"].startswith(("ogive.curve", "ogive.roc", "ogive.bounds")):
        assert told.strip() == words.strip()
    else:
        assert len(told) > 50


@pytest.mark.parametrize("name", ONE_OF_A_KIND.values())
def test_json_is_what_the_file_says(name, tmp_path, capsys):
    assert main(["show", written(tmp_path / "a.json", KEPT[name]), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == KEPT[name]


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", ONE_OF_A_KIND.values())
def test_a_picture_is_drawn_of_what_has_one(name, tmp_path, capsys):
    picture = tmp_path / "a.pdf"
    status = main(["show", written(tmp_path / "a.json", KEPT[name]), "--plot", str(picture)])
    captured = capsys.readouterr()
    reason = next((WITHOUT_PICTURE[each] for each in WITHOUT_PICTURE if name.startswith(each)), None)
    if reason is not None:
        assert status == 2
        assert reason in captured.err
        assert not picture.exists()
    else:
        assert status == 0
        assert picture.read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("how", ["show", pytest.param("export", marks=pytest.mark.everything)])
def test_a_statement_says_what_the_ledger_says(how, tmp_path, capsys):
    for path in FOLDER.glob("second.db*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    ledger = str(tmp_path / "second.db")
    assert main(["ledger", how, ledger, "--json"]) == 0
    statement = tmp_path / "statement.json"
    statement.write_text(capsys.readouterr().out, encoding="utf-8")
    assert main(["ledger", "show", ledger]) == 0
    asked = capsys.readouterr().out
    assert main(["show", str(statement)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown == [line for line in asked.splitlines() if not re.match("  (people|but) ", line)]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"schema": "ogive.curve/1"}, "a.json: "),
        ({"schema": "ogive.unknown/9"}, "its schema is 'ogive.unknown/9', which this version does not know"),
        ({"schema": ["ogive.curve/1"]}, "it names no schema"),
        ([], "it names no schema"),
        ({"schema": "ogive.statement/1"}, "the accounts of a statement must be a list"),
        ({"schema": "ogive.statement/1", "accounts": [3]}, "an account of a statement must be an object with name"),
        ({"schema": "ogive.statement/1", "accounts": [{"name": "a"}]}, "an account of a statement must be an object"),
    ],
    ids=["empty", "unknown", "no text", "a list", "no accounts", "a number", "a name alone"],
)
def test_anything_else_is_refused_in_one_line(data, words, tmp_path, capsys):
    assert main(["show", written(tmp_path / "a.json", data)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err
    assert captured.err.count("\n") == 1


def test_a_damaged_statement_is_refused_and_never_a_fault(tmp_path, capsys):
    for path in FOLDER.glob("second.db*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert main(["ledger", "show", str(tmp_path / "second.db"), "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    account = whole["accounts"][0]
    refused = 0
    places = [(account, name) for name in account] + [(account["entries"][0], name) for name in account["entries"][0]]
    wrongs = (None, 3, "x", [], {}, [{}], {"type": "PureDP", "epsilon": "-1"})
    for number, (holder, name) in enumerate(places):
        kept = holder[name]
        for wrong in wrongs if is_everything() else wrongs[number % 2 :: 2]:
            holder[name] = wrong
            status = main(["show", written(tmp_path / "a.json", whole)])
            assert status in (0, 2), (name, wrong, capsys.readouterr().err)
            refused += status == 2
        holder[name] = kept
    assert refused > len(places)


def test_a_file_cannot_steer_the_terminal(tmp_path, capsys):
    assert printable("a\x1b[2Jb\rc\n") == "a\N{REPLACEMENT CHARACTER}[2Jb\N{REPLACEMENT CHARACTER}c\n"
    data = {**KEPT["curve path"], "column": "\x1b]0;owned\x07"}
    assert main(["show", written(tmp_path / "a.json", data)]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_a_missing_file_is_named_once(tmp_path, capsys):
    assert main(["show", str(tmp_path / "none.json")]) == 2
    assert capsys.readouterr().err.count("none.json") == 1
