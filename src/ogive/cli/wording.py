"""The library's messages in the words of the command line.

A message marks the Python that it quotes (see `ogive.errors`). What is marked is read as Python and written as options
of the command that runs. What is no Python, or names what the command has no option for, stays as it is.
"""

from __future__ import annotations

import ast
import difflib
import shlex
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, get_args, get_origin

from ogive.errors import OgiveError, ParameterError, parts, plain, quoted, unmarked
from ogive.statistics.kinds import ALIASES, COMMANDED, kind_called

if TYPE_CHECKING:
    from cyclopts import App, CycloptsError
    from cyclopts.argument import Argument

_OPTIONS = {
    "budget": "--division",
    "df": "--degrees-of-freedom",
    "na_values": "--na",
    "name": "--data-set",
    "privacy": "--epsilon",
    "probability": "--compared-quantile",
    "target_delta": "--delta",
    "sigma_1": "--sigma1",
    "sigma_2": "--sigma2",
}
"""Parameters that have another name as options."""

_NAMES: dict[Callable[..., Any], frozenset[str]] = {}
"""The options of the commands that have run, by command."""

_SPANS = {
    "PureDP": "--epsilon without --delta",
    "ApproxDP": "--epsilon with --delta",
    "ZeroConcentratedDP": "--rho",
    "ADD_OR_REMOVE": "--adjacency add_or_remove",
    "REPLACE": "--adjacency replace",
    "adjacency ADD_OR_REMOVE": "--adjacency add_or_remove",
    "adjacency REPLACE": "--adjacency replace",
    "unit=PrivacyUnit(Adjacency.REPLACE)": "--adjacency replace",
    "public_labels=False": "--private-labels",
    "prune=False": "--prune no",
    "None, 'fitted'": "fitted",
    "privacy=": "--epsilon and --delta",
    "Account.set_limit": "ogive ledger limit",
}
"""Marked texts that are replaced as a whole."""

_GUARANTEES = {"PureDP": ("epsilon",), "ApproxDP": ("epsilon", "delta"), "ZeroConcentratedDP": ("rho",)}

_BY_DESCRIPTION = ("bounds", "grid", "missing", "outside", "groups", "categories", "positive", "negative")
"""Parameters that a description of `ogive local` fixes for those who follow it."""

_FIXED = "the description fixes what is accepted, and who wrote it with ogive local describe can "


class _NotSaidError(Exception):
    """A marked text is nothing that the command line can say."""


def in_options(marked: str, options: Collection[str] | None = None) -> str:
    """A message in which options stand for the Python that it marks."""
    return "".join(_said(text, options) if inside else text for text, inside in parts(marked))


def options_of(app: App, arguments: Sequence[str]) -> frozenset[str]:
    """The options of the command of an application that some arguments call."""
    app = app.parse_commands(list(arguments))[1][-1]
    command = app.default_command
    if command is None:
        return frozenset()
    if command not in _NAMES:
        _NAMES[command] = frozenset(name for argument in app.assemble_argument_collection() for name in argument.names)
    return _NAMES[command]


def remedied(arguments: Sequence[str], added: Sequence[str]) -> str:
    """A whole command: the arguments of one that was refused, with the options that would make it right.

    An option that takes one value replaces what was given for it; one that takes a value for each column joins them.
    """
    words = list(arguments)
    for option in added:
        name = option.split()[0]
        while name in words and "'*'=" not in option:
            start = words.index(name)
            end = next((place for place in range(start + 1, len(words)) if words[place].startswith("--")), len(words))
            del words[start:end]
    return " ".join(["ogive", *map(shlex.quote, words), *added])


def to_owners(problem: OgiveError) -> str:
    """What is said to owners of records that a description does not accept: who asked can change that, they cannot."""
    fault, semicolon, advice = problem.marked.partition("; ")
    if not semicolon or problem.parameter not in _BY_DESCRIPTION:
        return problem.marked
    return f"{fault}; {_FIXED}{plain(in_options(advice))}"


def _said(text: str, options: Collection[str] | None) -> str:
    """A marked text as options; the text itself where the command has none for it."""
    if options is not None and "--by-groups" in options:
        # the values of a column, which the command line calls so, and not a number of groups
        name, given, value = text.partition("=")
        if name == "groups" and (not value.isdigit() if given else "--groups" not in options):
            text = f"by_{text}"
    try:
        words = _SPANS[text] if text in _SPANS else _option(text, options)
    except (SyntaxError, ValueError, _NotSaidError):
        return text
    named = words.split()[0]
    # advice may be on another command, which has the option: what has a value or an underscore is no English
    known = options is None or named in options or "='" in text or "_" in text
    return words if known or not named.startswith("--") else text


def _option(text: str, options: Collection[str] | None) -> str:
    """A parameter, with a value or alone, as an option; a value alone as a word."""
    name, _, value = text.partition("=")
    if not (name.isidentifier() and name.islower()):
        result = ast.parse(text, mode="eval").body
        return _guarantee(result) if isinstance(result, ast.Call) else _word(ast.literal_eval(result))
    option = _OPTIONS.get(name, f"--{name.replace('_', '-')}")
    if options is not None and f"--{name}" in options and not value:
        option = f"--{name}"
    if options is not None and value.startswith("(") and f"--by-{name}" in options:
        option = f"--by-{name}"  # values of the column --by; what is called so alone may be a number of groups
    if not value:
        return option
    result = ast.parse(value, mode="eval").body
    if isinstance(result, ast.List) and len(result.elts) == 1:
        result = result.elts[0]
    if isinstance(result, ast.Call):
        return _guarantee(result, "limit-" if name == "limit" else "")
    given = ast.literal_eval(result)
    return option if given is True else " ".join([option, *_words(given)])


def _guarantee(call: ast.Call, prefix: str = "") -> str:
    names = _GUARANTEES.get(ast.unparse(call.func))
    if names is None:
        raise _NotSaidError
    return " ".join(
        f"--{prefix}{name} {_word(ast.literal_eval(value))}" for name, value in zip(names, call.args, strict=True)
    )


def _words(value: object) -> list[str]:
    """A value as words of the command line; of several values for one column with commas between them."""
    if isinstance(value, dict):
        lists = {key: each if isinstance(each, tuple | list) else (each,) for key, each in value.items()}
        return [f"{_word(key)}={','.join(map(str, each))}" for key, each in lists.items()]
    return [_word(each) for each in value] if isinstance(value, tuple | list) else [_word(value)]


def _word(value: object) -> str:
    if value is None or isinstance(value, bool):
        raise _NotSaidError
    text = str(value)
    if "'" in text and not set(text) & set('"$`\\!'):
        return f'"{text}"'
    return shlex.quote(text)


# --- What the parser refuses

_WORDS = {"float": "a number", "int": "a whole number", "bool": "true or false", "Path": "a path"}
"""What the parser converts words to."""

_ALIKE = 0.65
"""Similarity, from 0 to 1, of two names one of which may be meant by the other."""


def in_words(problem: CycloptsError) -> str:
    """One line for what the parser refused."""
    return plain(_refused(problem, " ".join(["ogive", *(problem.command_chain or ())])))


def _refused(problem: Any, command: str) -> str:
    import cyclopts as parser

    match problem:
        case parser.UnknownCommandError():
            word = (problem.unused_tokens or ("",))[0]
            known = [name for name in problem.app or () if not name.startswith("-")]
            main = [name for name in known if name not in ALIASES]
            kind = kind_called(word) if COMMANDED.keys() <= set(known) else None
            if kind is not None:
                return f"{command} has no command {word}; {command} {kind.command} releases {kind.summary}"
            return f"{command} has no command {word}{_near(word, known) or f'; there are {_listed(main)}'}"
        case parser.UnknownOptionError():
            word = problem.token.keyword or problem.token.value
            known = [name for each in problem.argument_collection if each.parse for name in each.names]
            return f"{command} has no option {word}{_near(word, known)}"
        case parser.MissingArgumentError():
            return _missing(problem, command)
        case parser.UnusedCliTokensError():
            spare = " ".join(problem.unused_tokens or ())
            return f"{command} takes fewer values; {spare} is too many: call it once for each"
        case parser.RepeatArgumentError():
            return f"{_named(problem.argument, problem.token)} was given twice; give it once"
        case parser.CoercionError():
            return _wrong_value(problem)
    return str(problem)


def misspelt(app: App, arguments: Sequence[str]) -> ParameterError | None:
    """What is said of the first option that a command does not have, where it has one of nearly that name.

    The parser refuses such options too, but only after what lacks, as does a column whose option is misspelt.
    """
    options = options_of(app, arguments)
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    for word in before:
        name = word.partition("=")[0]
        if name.startswith("--") and name not in options and (near := _near(name, sorted(options))):
            command = " ".join(["ogive", *app.parse_commands(list(arguments))[0]])
            return ParameterError(plain(f"{command} has no option {name}{near}"))
    return None


def _named(argument: Argument | None, token: Any = None) -> str:
    """An option or a position as it is written, or where its value comes from."""
    if token is not None and token.keyword:
        return str(token.keyword)
    name = "the value" if argument is None else argument.name
    return name if name.startswith("-") else name.upper()


def _near(word: str, known: Sequence[str]) -> str:
    """A question whether a name was meant that begins with the word or is spelt nearly so; the dashes do not count."""
    names = {name.lstrip("-"): name for name in known}
    bare = word.lstrip("-")
    begun = [name for name in names if name.startswith(bare)] if len(bare) > 1 else []
    result = begun or difflib.get_close_matches(bare, names, n=1, cutoff=_ALIKE)
    return f"; did you mean {names[result[0]]}?" if result else ""


def _listed(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _missing(problem: Any, command: str) -> str:
    argument = problem.argument
    name = _named(argument)
    if argument is None or not name.startswith("-"):
        return f"say {name}: {command} {name} ..."
    given = {word.partition("=")[0] for word in problem.root_input_tokens or ()}
    if not argument.tokens and not problem.tokens_so_far and argument.required and name not in given:
        return f"say {name}"
    number, _ = argument.token_count()
    if number < 2:
        return f"{name} needs a value"
    values = list(problem.tokens_so_far)
    apart = values[0].split(",") if len(values) == 1 else []
    advice = f"; write {name} {' '.join(apart)}" if len(apart) == number and all(apart) else ""
    return f"{name} needs {number} values, got {len(values)}{advice}"


def _wrong_value(problem: Any) -> str:
    token, wanted = problem.token, problem.target_type
    name = _named(problem.argument, token)
    if problem.msg is not None:
        return f"{name} {problem.msg}"
    if get_origin(wanted) is not None and (choices := [str(each) for each in get_args(wanted)]):
        must = _listed(choices)
    else:
        must = _WORDS.get(getattr(wanted, "__name__", ""), "a value that it takes")
    return f"{name} must be {must}" + ("" if token is None else f", got {unmarked(quoted(token.value))}")
