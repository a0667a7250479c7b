"""What the parser refuses, in words that name the option and say what would be right."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, get_args, get_origin

from ogive.cli.wording import options_of
from ogive.errors import ParameterError, plain, quoted

if TYPE_CHECKING:
    from cyclopts import App, CycloptsError
    from cyclopts.argument import Argument

_WORDS = {"float": "a number", "int": "a whole number", "bool": "true or false", "Path": "a path"}
"""What the parser converts words to."""

_ALIKE = 0.65
"""Similarity, from 0 to 1, of two names one of which may be meant by the other."""


def in_words(problem: CycloptsError) -> str:
    """One line for what the parser refused."""
    from cyclopts import (
        CoercionError,
        MissingArgumentError,
        RepeatArgumentError,
        UnknownOptionError,
        UnusedCliTokensError,
    )
    from cyclopts.exceptions import UnknownCommandError

    command = " ".join(["ogive", *(problem.command_chain or ())])
    match problem:
        case UnknownCommandError():
            return plain(_unknown_command(problem, command))
        case UnknownOptionError():
            return plain(_unknown_option(problem, command))
        case MissingArgumentError():
            return plain(_missing(problem, command))
        case UnusedCliTokensError():
            spare = " ".join(problem.unused_tokens or ())
            return f"{command} takes fewer values; {plain(spare)} is too many: call it once for each"
        case RepeatArgumentError():
            return f"{plain(_named(problem.argument, problem.token))} was given twice; give it once"
        case CoercionError():
            return _wrong_value(problem)
    return plain(problem)


def misspelt(app: App, arguments: Sequence[str]) -> ParameterError | None:
    """What is said of the first option that a command does not have, where it has one of nearly that name.

    The parser refuses such options too, but only after what lacks, as does a column whose option is misspelt.
    """
    options = options_of(app, arguments)
    command = " ".join(["ogive", *app.parse_commands(list(arguments))[0]])
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    for word in before:
        name = word.partition("=")[0]
        if name.startswith("--") and name not in options and (near := _near(name, sorted(options))):
            return ParameterError(plain(_no_option(command, name, near)))
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
    found = begun or difflib.get_close_matches(bare, names, n=1, cutoff=_ALIKE)
    return f"; did you mean {names[found[0]]}?" if found else ""


def _listed(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _unknown_command(problem: Any, command: str) -> str:
    word = (problem.unused_tokens or ("",))[0]
    known = [name for name in problem.app or () if not name.startswith("-")]
    return f"{command} has no command {word}{_near(word, known) or f'; there are {_listed(known)}'}"


def _unknown_option(problem: Any, command: str) -> str:
    word = problem.token.keyword or problem.token.value
    known = list(chain.from_iterable(each.names for each in problem.argument_collection if each.parse))
    return _no_option(command, word, _near(word, known))


def _no_option(command: str, word: str, near: str) -> str:
    return f"{command} has no option {word}{near}"


def _missing(problem: Any, command: str) -> str:
    argument = problem.argument
    name = _named(argument)
    if argument is None or not name.startswith("-"):
        return f"say {name}: {command} {name} ..."
    if not argument.tokens and not problem.tokens_so_far and argument.required and name not in _given(problem):
        return f"say {name}"
    number, _ = argument.token_count()
    if number < 2:
        return f"{name} needs a value"
    given = list(problem.tokens_so_far)
    apart = given[0].split(",") if len(given) == 1 else []
    advice = f"; write {name} {' '.join(apart)}" if len(apart) == number and all(apart) else ""
    return f"{name} needs {number} values, got {len(given)}{advice}"


def _given(problem: Any) -> Sequence[str]:
    return [word.partition("=")[0] for word in problem.root_input_tokens or ()]


def _wrong_value(problem: Any) -> str:
    token, wanted = problem.token, problem.target_type
    name = plain(_named(problem.argument, token))
    if problem.msg is not None:
        return f"{name} {plain(problem.msg)}"
    if get_origin(wanted) is not None and (choices := [str(each) for each in get_args(wanted)]):
        must = _listed(choices)
    else:
        must = _WORDS.get(getattr(wanted, "__name__", ""), "a value that it takes")
    said = "" if token is None else f", got {quoted(token.value)}"
    return f"{name} must be {must}{said}"
