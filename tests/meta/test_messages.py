"""Messages mark the Python that they quote, and values in them mark nothing.

A parameter that a message marks is an option of the command line, or one that only Python has.
"""

import ast
import re
from functools import cache
from pathlib import Path

from helpers.messages import checked, checked_names
from helpers.sources import nodes, parsed

import ogive
import ogive_papers
from ogive import errors
from ogive.cli import build
from ogive.cli.wording import in_options
from ogive.errors import ParameterError, parts

SOURCES = (Path(ogive.__file__).parent, Path(ogive_papers.__file__).parent)
ERRORS = {name for name, each in vars(errors).items() if isinstance(each, type) and issubclass(each, errors.OgiveError)}
REFUSES = re.compile(r"^refuse_sums$|\.check$")  # these are given the message
BEGINS = re.compile(r"[a-z_0-9{}]+ must ")
ASSIGNED = re.compile(r"(?<![\w.'\-{])[a-z_]+=(?!=)")
# commands write options, whose values may have a sign of equality
WRITE_OPTIONS = ("cli",)
# whose callers say what is marked
CHECKS = "core/checks.py"
# words that are no parameter, and Python that is shown whole
NO_PARAMETER = (
    "there must ",
    "magnitudes must ",
    "Ecdf('age', bounds=(0, 120))",
    "{} must be an exact number like",
    "{} must have the fields",
    "{} must be a number or",
    "{} must be finite",
)
# parameters that no command has as an option, by why
PYTHON_ALONE = {
    "objects that options cannot write": (
        *("ax", "ballots", "circuit", "domain", "function", "laws", "measured", "narrow", "oracle", "source"),
        *("statistic", "weight_bits"),
    ),
    "arrays": (
        *("centers", "choices", "counts", "costs", "edges", "histograms", "inputs", "labels", "payloads"),
        *("points", "reports", "scores", "spacings", "sums", "symbols", "thresholds", "wide", "candidates"),
    ),
    "written as several options": ("limit",),
    "arguments": ("every", "paper"),
    "fields of files": ("context", "id", "min_uploads", "release_id"),
    "questions of an estimate": (
        *("against", "alternative", "backend", "cause", "horizon", "p", "simulations", "target", "width"),
    ),
    "conditions of a joint selection": ("concentrated", "free_total"),
    "streams": ("adaptive", "low", "resolution", "steps"),
    "methods of a curve": ("accounting", "anchor", "gaussian", "radices", "total"),
    "noise": ("honest", "level", "mu_squared", "shape", "shift", "size", "variance"),
    "prices": ("distance", "epsilons", "level_epsilon", "lipschitz", "most", "orders"),
    "columns": ("fractions",),
    "oracles": ("assignment",),
    "kernels": ("corrected", "margin", "matrix_rows", "range", "surrogate"),
    "protocols": (
        *("early", "gates", "leaving", "neighbours", "pairs", "partners", "precision", "second"),
        *("secret", "threads", "tolerated", "users", "verifications", "verified"),
    ),
    "queries": ("point", "side", "square"),
    "learners": ("radius", "rate"),
}


def raised(below):
    """Every message of an error of ours that is raised among the nodes of a file, as the node that writes it."""
    for node in below:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "refusal":
            yield "DataError", node.value
        elif isinstance(node, ast.Call) and REFUSES.search(ast.unparse(node.func)):
            texts = [each for each in node.args if isinstance(each, ast.JoinedStr | ast.Constant)]
            yield from (("DataError", each) for each in texts if isinstance(getattr(each, "value", ""), str))
        if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call) or not node.exc.args:
            continue
        kind, message = getattr(node.exc.func, "id", ""), node.exc.args[0]
        if kind in ERRORS and isinstance(message, ast.Constant | ast.JoinedStr):
            yield kind, message


def written(message):
    """The text of a message, with {} for each value that is filled in."""
    found = message.values if isinstance(message, ast.JoinedStr) else [message]
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in found)


def unmarked_python(kind, text):
    """What a message quotes as Python and does not mark; nothing where it marks all of it."""
    plain = "".join(piece for piece, inside in parts(text) if not inside)
    if any(each in text for each in NO_PARAMETER):
        return []
    begins = [text] if kind == "ParameterError" and BEGINS.match(text) else []
    return [*begins, *ASSIGNED.findall(plain)]


def unsafe_values(message):
    """Values that are filled in by `repr`, whose text could mark something."""
    found = [node for node in nodes(message) if isinstance(node, ast.FormattedValue)]
    return [ast.unparse(each.value) for each in found if each.conversion == ord("r")]


class Source:
    """What messages of one file of a package say."""

    def __init__(self, path, package):
        below = nodes(parsed(path.read_text(encoding="utf-8")))
        self.path = path.relative_to(package)
        self.messages = [(kind, written(message), unsafe_values(message)) for kind, message in raised(below)]
        self.checked = [each.value for each in checked(below) if isinstance(each, ast.Constant)]
        self.names = checked_names(below)
        self.marked = set(marked_parameters(below))


@cache
def sources():
    return [Source(path, package) for package in SOURCES for path in sorted(package.rglob("*.py"))]


def test_messages_mark_the_python_that_they_quote():
    found = [(each.path, kind, text) for each in sources() for kind, text, _ in each.messages]
    assert len(found) > 1_000
    wrong = [
        f"{path}: {text}"
        for path, kind, text in found
        if path.parts[0] not in WRITE_OPTIONS and path.as_posix() != CHECKS and unmarked_python(kind, text)
    ]
    assert wrong == []
    assert sum("`" in text for _, _, text in found) + sum(len(each.names) for each in sources()) > 500


def test_marks_of_messages_are_closed():
    texts = [text for each in sources() for _, text, _ in each.messages]
    assert [text for text in texts if text.replace("``", "").count("`") % 2] == []


def test_values_in_messages_mark_nothing():
    wrong = [f"{each.path}: {value}" for each in sources() for _, _, values in each.messages for value in values]
    assert wrong == [], "write quoted(value) for {value!r}"


def test_checks_name_parameters_or_say_what_is_checked_in_words():
    named = [(each.path, name) for each in sources() for name in each.checked]
    assert len(named) > 150
    wrong = [(path, name) for path, name in named if unnamed(name)]
    assert wrong == [], "a name without marks, or words"


def unnamed(name):
    """Whether what a check names is neither a parameter nor words for something."""
    return not name.isidentifier() and (" " not in name or "`" in name)


def test_a_check_that_names_no_parameter_is_found():
    below = nodes(
        parsed(
            "from ogive.core.checks import among, whole\n"
            "whole(x, 'bins', 1)\n"
            "among(x, name='noise', choices=y)\n"
            "whole(x, '`bits`', 1)\n"
            "whole(x, 'b its' + z, 1)\n"
            "other(x, 'records', 1)\n"
        )
    )
    names = [each.value for each in checked(below) if isinstance(each, ast.Constant)]
    assert names == ["bins", "noise", "`bits`"]
    assert [unnamed(name) for name in names] == [False, False, True]
    assert checked_names(below) == ["bins", "noise"]
    assert not unnamed("the order of a moment")


def test_a_message_that_does_not_mark_is_found():
    below = nodes(
        parsed(
            "raise ParameterError('bins must be 1')\n"
            "raise DataError('choose their treatment with missing=3')\n"
            "raise ParameterError(f'{name} must be {value!r}')\n"
            "raise ParameterError('`bins` must be 1, for example `bins=1`')\n"
            "raise ValueError('bins must be 1')\n"
        )
    )
    messages = list(raised(below))
    assert [bool(unmarked_python(kind, written(message))) for kind, message in messages] == [True, True, True, False]
    assert [unsafe_values(message) for _, message in messages] == [[], [], ["value"], []]


def marked_parameters(below):
    """Names that messages of wrong arguments in a file speak of, where the file writes them in full."""
    yield from checked_names(below)
    for kind, message in raised(below):
        if kind in ("ParameterError", "ScaleError") and (name := ParameterError(written(message)).parameter):
            yield name


def all_marked():
    return {name for each in sources() for name in each.marked}


def options_below(app):
    """The options of an application and of every command below it."""
    found = set()
    if app.default_command is not None:
        found.update(name for argument in app.assemble_argument_collection() for name in argument.names)
    return found.union(*(options_below(app[name]) for name in app if not name.startswith("-")))


def without_option(names, options):
    return {name for name in names if not {f"--{name}", in_options(f"`{name}`")} & options}


def test_parameters_that_messages_mark_are_options_or_python_alone():
    options, marked = options_below(build()), all_marked()
    assert len(options) > 100
    assert len(marked) > 150
    alone = [name for names in PYTHON_ALONE.values() for name in names]
    assert len(alone) == len(set(alone))
    found = without_option(marked, options)
    assert sorted(found - set(alone)) == [], "name the option, or say in PYTHON_ALONE why there is none"
    assert sorted(set(alone) - found) == [], "stale: an option now, or marked no more"


def test_a_parameter_without_an_option_is_found():
    below = nodes(
        parsed(
            "raise ParameterError('`bins` must be 1')\n"
            "raise ParameterError(f'`bims=1` must be {value}')\n"
            "raise ParameterError(f'`{name}` must be 1')\n"
            "raise DataError('`other` must be 1')\n"
            "raise ParameterError('say `df`')\n"
        )
    )
    names = set(marked_parameters(below))
    assert names == {"bins", "bims", "df"}
    assert without_option(names, {"--bins", "--degrees-of-freedom"}) == {"bims"}
