"""Advice in the library's errors is turned into options, all of it, and nothing else."""

import ast
from pathlib import Path

import pytest
from helpers.wording import speaks_python

import ogive
from ogive.cli.wording import in_options

# what a command reaches; strategies and noise get arguments that commands made
PACKAGES = (
    "queries",
    "statistics",
    "trust",
    "records",
    "accounting",
    "session",
    "ledger",
    "planning",
    "local",
)
REACHED = (
    *("releasing.py", "collecting.py", "grids.py", "privacy.py", "pictures.py", "axis.py"),
    *(f"{package}/**/*.py" for package in PACKAGES),
)
# arguments that no command passes on; parts of their messages
PYTHON_ALONE = (
    "confidence_level must be",
    "7 must be True or False",
    "statistic must be one such as",
    "trust must be a trust model such as",
    "source must be a random source such as",
    "grid must be linear, geometric, integers or a Grid",
    "privacy must be PureDP",
    "error must be one name and its largest value",
    'delta belongs to kind="approx"',
    "see left_out",
    "parties must be a list",
    "mu_squared must be above 0",
    "Collected takes a Collection",
    "secret must be",
    "the key of a partial state must be",
    "level_epsilon must be",
    "composition needs level_epsilon",
    "answers of this level_epsilon",
    "name at least one trust model",
    "a function needs the range of its values",
    "a pair for each column or None",
    "needs records: trust=",
    "verified must be True or False",
    "prune must be 'auto', True or False",
)


def raised_texts():
    """Every message that is raised, or made for raising, with a number for each value that is filled in."""
    source = Path(ogive.__file__).parent
    for path in sorted(path for pattern in REACHED for path in source.glob(pattern) if path.name != "chapter.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            message = None
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                message = node.exc.args[0]
            elif isinstance(node, ast.Assign | ast.AugAssign | ast.Return):
                message = node.value
            text = written(message)
            if isinstance(node, ast.Raise) or (len(text.split()) > 3 and not text.startswith("<")):  # a repr
                yield text


def written(message):
    """The text of a string, formatted or not; nothing for anything else."""
    parts = message.values if isinstance(message, ast.JoinedStr) else [message]
    if not isinstance(message, ast.JoinedStr | ast.Constant) or isinstance(getattr(message, "value", ""), bytes):
        return ""
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in parts)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("never keeps; grant PureDP instead", "grant --epsilon without --delta instead"),
        ("for example categories={'class': (0, 1, 2)}", "for example --categories class=0,1,2"),
        ("for example categories={'the word': ('a', 'b')}", "for example --categories 'the word'=a,b"),
        ("for example columns=('score', 'label'), got 1", "for example --columns score label, got 1"),
        ("say public_groups=True, or use", "say --public-groups, or use"),
        ("df must be None, 'fitted' or a whole number", "--degrees-of-freedom must be fitted or a whole number"),
        ("max_rows_per_person needs person, the column", "--max-rows-per-person needs --person, the column"),
        ("increase, got smallest=5.0, largest=2.0", "got --smallest 5.0, --largest 2.0"),
        ("say which text, for example positive='yes'", "for example --positive yes"),
        ("check positive=, or name", "check --positive, or name"),
        ("say which groups column 'g' has, for example groups=('a', 'b'); they", "for example --groups a b; they"),
        ("name all of them, which are public, with groups=", "which are public, with --groups"),
        ("groups need by, the column", "--groups needs --by, the column"),
        ("positive_share must be strictly between", "--positive-share must be"),
        ("like has no column 'score'", "--like has no column 'score'"),
        ("name must be what the data set is called", "--data-set must be what"),
        ("say how much may be spent in all, for example limit=PureDP(3)", "for example --limit-epsilon 3"),
        ("leave the limit out, or change it with Account.set_limit", "change it with ogive ledger limit"),
        ("use it: name='p-1.b'", "use it: --data-set p-1.b"),
        ("use it: name='all of us' and part='the north'", "use it: --data-set 'all of us' --part 'the north'"),
        ("use it: name='p' and part='north'", "use it: --data-set p --part north"),
        ("under split='users'; use split='budget', or", "under --split users; use --split budget, or"),
        ("and prune=False discards none", "and --prune no discards none"),
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
    assert len(texts) > 300
    assert sum(map(speaks_python, texts)) > 20
    reached = [text for text in texts if not any(part in text for part in PYTHON_ALONE)]
    assert [text for text in reached if speaks_python(in_options(text))] == []
    assert [part for part in PYTHON_ALONE if not any(part in text for text in texts)] == []


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
