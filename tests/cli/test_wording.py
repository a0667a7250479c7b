"""Advice in the library's errors is turned into options, all of it, and nothing else."""

import ast
import re
from pathlib import Path

import pytest

import ogive
from ogive.cli.wording import in_options

PYTHON = re.compile(r"\b[a-z_]+=['(A-Z]|ADD_OR_REMOVE|(?<!['\w])(Pure|Approx|ZeroConcentrated)DP\b")
# what a command reaches; strategies and noise get arguments that commands made
REACHED = ("queries.py", "releasing.py", "grids.py", "statistics/*.py", "trust/*.py", "records/*.py", "accounting/*.py")


def raised_texts():
    """Every raised message, with a number for each value that is filled in."""
    source = Path(ogive.__file__).parent
    for path in sorted(path for pattern in REACHED for path in source.glob(pattern)):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                message = node.exc.args[0]
                parts = message.values if isinstance(message, ast.JoinedStr) else [message]
                yield "".join(part.value if isinstance(part, ast.Constant) else "7" for part in parts)


def test_no_message_that_a_command_reaches_speaks_python():
    texts = list(raised_texts())
    assert len(texts) > 50
    assert sum(bool(PYTHON.search(text)) for text in texts) >= 4
    assert [text for text in texts if PYTHON.search(in_options(text))] == []


@pytest.mark.parametrize(
    "message",
    ["t.csv has no column 'PureDP'; it has age", "epsilon must be above 0, got 0", "bounds must be of one kind"],
)
def test_other_messages_stay_as_they_are(message):
    assert in_options(message) == message
