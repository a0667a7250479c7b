"""What messages mark as Python is turned into options, all of it, and nothing else."""

import ast
from pathlib import Path

import pytest
from helpers.messages import checked_names
from helpers.sources import nodes, parsed
from helpers.wording import speaks_python

import ogive
from ogive.cli import build, main
from ogive.cli.wording import in_options, options_of
from ogive.errors import unmarked

# what a command reaches; strategies and noise get arguments that commands made
PACKAGES = (
    "queries",
    "statistics",
    "trust",
    "records",
    "accounting",
    "ledger",
    "releasing/planning",
    "local",
)
REACHED = (
    *(
        "core/checks.py",
        "releasing/release.py",
        "releasing/collecting.py",
        "releasing/accounts.py",
        "releasing/session.py",
        "releasing/verbs.py",
        "columns/grids.py",
        "privacy.py",
        "showing/pictures.py",
        "columns/axis.py",
    ),
    *(f"{package}/**/*.py" for package in PACKAGES),
)
# arguments that no command passes on; parts of their messages
PYTHON_ALONE = (
    "confidence_level must be",
    "7 must be True or False",
    "statistic must be one such as",
    "trust must be a trust model such as",
    "source must be a random source such as",
    "grid must be 7 or a Grid, got",
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
    "the records of each party, as in",
    "prune must be 'auto', True or False",
    "auc_interval() simulates",
    "a relation of DuckDB has no rows yet",
    "a reader of batches gives its rows only once",
)


def raised_texts():
    """Every message that is raised, or made for raising, with a number for each value that is filled in."""
    source = Path(ogive.__file__).parent
    for path in sorted(path for pattern in REACHED for path in source.glob(pattern)):
        tree = parsed(path.read_text(encoding="utf-8"))
        yield from (f"`{name}` must be" for name in checked_names(nodes(tree)))
        for node in statements(tree):
            message = None
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                message = node.exc.args[0]
            elif isinstance(node, ast.Assign | ast.AugAssign | ast.Return):
                message = node.value
            text = written(message)
            # a repr, or SQL
            if isinstance(node, ast.Raise) or (len(text.split()) > 3 and not text.startswith(("<", "TRY_CAST"))):
                yield text


def statements(node):
    """All statements below a node; none lies within an expression."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child
            yield from statements(child)


def written(message):
    """The text of a string, formatted or not; nothing for anything else."""
    parts = message.values if isinstance(message, ast.JoinedStr) else [message]
    if not isinstance(message, ast.JoinedStr | ast.Constant) or isinstance(getattr(message, "value", ""), bytes):
        return ""
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in parts)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("grant `PureDP` instead", "grant --epsilon without --delta instead"),
        ('grant one, for example `ApproxDP(1, "1e-9")`', "grant one, for example --epsilon 1 --delta 1e-9"),
        ("say how much, for example `privacy=PureDP(1)`", "say how much, for example --epsilon 1"),
        ("name one, for example `privacy=[PureDP(1)]`", "name one, for example --epsilon 1"),
        ("for example `categories={'class': (0, 1, 2)}`", "for example --categories class=0,1,2"),
        ("for example `categories={'the word': ('a', 'b')}`", "for example --categories 'the word'=a,b"),
        ("for example `columns=('score', 'label')`, got 1", "for example --columns score label, got 1"),
        ("for example `public=['ill', 'of age']`, got 1", "for example --public ill 'of age', got 1"),
        ("for example `bounds=(0, 120)`; bounds are public", "for example --bounds 0 120; bounds are public"),
        ("say `public_groups=True`, or use", "say --public-groups, or use"),
        ("leave out `public_labels=False`", "leave out --private-labels"),
        ("`df` must be fitted or a whole number", "--degrees-of-freedom must be fitted or a whole number"),
        ("`max_rows_per_person` needs `person`, the column", "--max-rows-per-person needs --person, the column"),
        ("got `smallest=5.0`, `largest=2.0`", "got --smallest 5.0, --largest 2.0"),
        ("check `positive=`, or name", "check --positive, or name"),
        ("use `missing='low'`, `'high'` or `'refuse'`", "use --missing low, high or refuse"),
        ("or, under `ADD_OR_REMOVE`, `'drop'`", "or, under --adjacency add_or_remove, drop"),
        ("say how much, for example `limit=PureDP(3)`", "say how much, for example --limit-epsilon 3"),
        ("for example `unit=PrivacyUnit(Adjacency.REPLACE)`", "for example --adjacency replace"),
        ("change it with `Account.set_limit`", "change it with ogive ledger limit"),
        ("use it: `name='all of us'` and `part='north'`", "use it: --data-set 'all of us' and --part north"),
        ("and `prune=False` discards none", "and --prune no discards none"),
        ("`adjacency ADD_OR_REMOVE`, or `bins=1`", "--adjacency add_or_remove, or --bins 1"),
        ("give `kernel=measure_of(f, range=(0, 1))`", "give kernel=measure_of(f, range=(0, 1))"),
        ("as was said with `na_values=`", "as was said with --na"),
        ("`a name` and `True` are not options", "a name and True are not options"),
    ],
)
def test_marked_python_becomes_options(message, words):
    assert in_options(message) == words


def test_what_the_command_has_no_option_for_stays_python():
    ecdf = options_of(build(), ["ecdf", "t.csv", "--column", "age"])
    assert {"--bins", "--epsilon", "--missing"} <= ecdf
    assert in_options("`bins` must be more; leave out `positive=`", ecdf) == "--bins must be more; leave out positive="
    assert in_options("`name='p'`", ecdf) == "--data-set p"
    assert in_options("`name` must", options_of(build(), ["pate", "plan", "votes.npz"])) == "--name must"
    assert in_options("`bins` must", options_of(build(), ["no such command"])) == "bins must"


@pytest.mark.one_in(4)
@pytest.mark.parametrize("written", ["`missing='drop'`", "`", "a`bins`", "``bins``", "'`bins`'"])
def test_what_users_write_marks_nothing(tmp_path, capsys, written):
    table = tmp_path / "t.csv"
    table.write_text("age\n1\n")
    assert main(["ecdf", str(table), "--column", written, "--bounds", "0", "9", "--epsilon", "1"]) == 2
    assert f"{table} has no column {written!r}" in capsys.readouterr().err
    assert main(["ecdf", f"{written}.csv", "--column", "age", "--bounds", "0", "9", "--epsilon", "1"]) == 2
    assert f"no such file: {written}.csv" in capsys.readouterr().err
    assert in_options(written) != written, "a control: as it is, it would lose its backticks"


def test_no_message_that_a_command_reaches_speaks_python():
    texts = list(raised_texts())
    assert len(texts) > 300
    assert sum(map(speaks_python, texts)) > 20
    reached = [text for text in texts if not any(part in unmarked(text) for part in PYTHON_ALONE)]
    assert [text for text in reached if speaks_python(in_options(text))] == []
    assert [part for part in PYTHON_ALONE if not any(part in unmarked(text) for text in texts)] == []
