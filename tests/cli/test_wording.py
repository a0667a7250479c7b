"""Advice in the library's errors is turned into options, all of it, and nothing else."""

import ast
import re
from pathlib import Path

import pytest

import ogive
from ogive.cli.wording import in_options

PYTHON = re.compile(r"\b[a-z_]+=['(A-Z]|ADD_OR_REMOVE|(?<!['\w])(Pure|Approx|ZeroConcentrated)DP\b")
# what a command reaches; strategies and noise get arguments that commands made
PACKAGES = ("queries", "statistics", "trust", "records", "accounting", "session", "ledger")
REACHED = ("releasing.py", "grids.py", "privacy.py", *(f"{package}/*.py" for package in PACKAGES))


def raised_texts():
    """Every raised message, with a number for each value that is filled in."""
    source = Path(ogive.__file__).parent
    for path in sorted(path for pattern in REACHED for path in source.glob(pattern)):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                message = node.exc.args[0]
                parts = message.values if isinstance(message, ast.JoinedStr) else [message]
                yield "".join(part.value if isinstance(part, ast.Constant) else "7" for part in parts)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("say how much may be spent in all, for example limit=PureDP(3)", "for example --limit-epsilon 3"),
        ("leave the limit out, or change it with Account.set_limit", "change it with ogive ledger limit"),
        ("say updated=True, which keeps the spends", "say --updated, which"),
        ("name all values of each class with positive= and negative=", "with --positive and --negative"),
        ("write them as text, for example positive='1', negative='0'", "for example --positive 1, --negative 0"),
        ("adjacency ADD_OR_REMOVE, or max_rows_per_person=1", "--adjacency add_or_remove, or --max-rows-per-person 1"),
    ],
)
def test_advice_names_options(message, words):
    assert words in in_options(message)


def test_no_message_that_a_command_reaches_speaks_python():
    texts = list(raised_texts())
    assert len(texts) > 50
    assert sum(bool(PYTHON.search(text)) for text in texts) >= 4
    assert [text for text in texts if PYTHON.search(in_options(text))] == []


@pytest.mark.parametrize(
    "message",
    [
        "t.csv has no column 'PureDP'; it has age",
        "t.csv has no column 'max_rows_per_person'; it has age",
        "epsilon must be above 0, got 0",
        "bounds must be of one kind",
    ],
)
def test_other_messages_stay_as_they_are(message):
    assert in_options(message) == message
