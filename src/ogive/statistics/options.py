"""One declaration of what a statistic takes: its dataclass, and beside it a `TypedDict` of the fields that are options.

Functions and verbs take the options as keywords, `**options: Unpack[RocOptions]`, and pass them on. The decorator gives
them the whole signature and documentation, which are the dataclass's. The command line makes an option of every field;
what it cannot read off the fields is a `Command`, the `COMMAND` beside the statistic's question.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, ParamSpec, TypeVar, cast

Where = str | Mapping[str, Any]
"""A condition as users write it; see `ogive.columns.predicates`."""

PART_TEXTS = {
    "where": "Condition that selects records, for example \"ward == 'A'\"; see `Subset`. By default all records.",
    "by": "Column of groups; the guarantee holds for all groups together; see `Grouped`.",
    "groups": "The public values of that column; by default, values with enough records are found first, privately.",
}
"""What is said of the parameters that every verb has beside the options of its statistic."""

_OF_TABLES = ("column", "by", "by_groups", "groups", "where", "person", "max_rows_per_person")
"""Parameters that a function on arrays is given in error by who has a table."""

ParametersT = ParamSpec("ParametersT")
ResultT = TypeVar("ResultT")

_SECTION = re.compile(r"^(?:Args|Fields|Returns|Raises|Warns|Privacy|Source|Example):$")
_ENTRY = re.compile(r"^    (\w+(?:, \w+)*): ")


def nothing_wrong(given: Mapping[str, Any], trust: str) -> None:
    """Default check of commands: all options go together."""


@dataclass(frozen=True)
class Picture:
    """An option of the command that says how `--plot` draws.

    Fields:
        option: Its name.
        help: What it does.
        drawn: What the estimate's `plot` is given for it.
        check: Refuses it beside other options, by their fields' names, before anything is spent.
    """

    option: str
    help: str
    drawn: Mapping[str, Any]
    check: Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True)
class Command:
    """What the command line cannot read off the fields of a statistic.

    Fields:
        names: The options of fields that are called otherwise there.
        negative: Options that say no, by the names of fields that are None, True or False.
        help: Help where the field's documentation speaks of Python.
        owner_help: The same where owners are asked.
        groups: Headings under which fields stand.
        check: Refuses options that a plan takes and a release does not, by their fields' names, with the trust model's.
        table: The estimate as text.
        picture: An option that says how `--plot` draws.
        owners: The words of fields that are left where owners are asked by `ogive local describe`, none where a field
            means nothing there; the first is the default if the field's own is not among them. None where owners cannot
            be asked.
        compared: Whether two groups are compared by the number of their estimates, or by any quantile; None where
            estimates have no number.
        readings: Whether its estimate is a ROC curve, parts of which are read.
        example: Fields of a well-formed question, besides its columns, where these have no defaults; for tests.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    negative: Mapping[str, str] = field(default_factory=dict)
    help: Mapping[str, str] = field(default_factory=dict)
    owner_help: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[Mapping[str, Any], str], None] = nothing_wrong
    table: Callable[[Any], str] = str
    picture: Picture | None = None
    owners: Mapping[str, tuple[str, ...]] | None = None
    compared: Literal["number", "quantile"] | None = None
    readings: bool = False
    example: Mapping[str, Any] = field(default_factory=dict)


def takes_options_of(
    statistic: type, options: type, *, leave_out: tuple[str, ...] = ()
) -> Callable[[Callable[ParametersT, ResultT]], Callable[ParametersT, ResultT]]:
    """Give a function that passes `**options` on to a statistic its signature, and document its options."""
    names = tuple(name for name in options.__annotations__ if name not in leave_out)
    fields = {field.name: field for field in dataclasses.fields(statistic)}
    described = entries(inspect.cleandoc(statistic.__doc__ or ""), "Fields")

    def decorate(function: Callable[ParametersT, ResultT]) -> Callable[ParametersT, ResultT]:
        own = inspect.signature(function)
        kept = [each for each in own.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
        taken = {each.name for each in kept}
        more = [_parameter(fields[name]) for name in names if name not in taken]
        allowed = taken | set(names)
        arrays = [each.name for each in kept if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
        of_arrays = "self" not in own.parameters and bool(arrays)
        of_table = f"; columns of a table are released by name with Session(table, limit=...).{function.__name__}(...)"

        @functools.wraps(function)
        def checked(*arguments: ParametersT.args, **given: ParametersT.kwargs) -> ResultT:
            unknown = sorted(given.keys() - allowed)
            if unknown:
                advice = of_table if of_arrays and unknown[0] in _OF_TABLES else ""
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {unknown[0]!r}{advice}")
            if of_arrays and len(arguments) > len(arrays):
                takes = f"{len(arrays)} array{'s' * (len(arrays) > 1)}, {' and '.join(arrays)}"
                raise TypeError(f"{function.__name__}() takes {takes}, and got {len(arguments)}{of_table}")
            return function(*arguments, **given)

        wanted = [text for names_of, text in described if (set(names_of) - taken) & set(names)]
        checked.__doc__ = _with_arguments(inspect.cleandoc(function.__doc__ or ""), wanted)
        cast(Any, checked).__signature__ = own.replace(parameters=[*kept, *more])
        return checked

    return decorate


def entries(text: str, section: str) -> list[tuple[tuple[str, ...], str]]:
    """The entries of a section of a docstring: their names, and their lines."""
    results: list[tuple[tuple[str, ...], str]] = []
    within = False
    for line in text.split("\n"):
        if _SECTION.match(line) or (line and not line.startswith(" ")):
            within = line == f"{section}:"
            continue
        start = _ENTRY.match(line)
        if within and start:
            results.append((tuple(start[1].split(", ")), line))
        elif within and results and line.strip():
            results[-1] = (results[-1][0], f"{results[-1][1]}\n{line}")
    return results


def _parameter(field: dataclasses.Field[Any]) -> inspect.Parameter:
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)


def _with_arguments(text: str, more: list[str]) -> str:
    """A docstring with more entries in its section `Args`, which is made where there is none."""
    lines = text.split("\n")
    starts = [place for place, line in enumerate(lines) if _SECTION.match(line)]
    if "Args:" in lines:
        first = lines.index("Args:")
        end = next((place for place in starts if place > first), len(lines))
        while not lines[end - 1].strip():
            end -= 1
        return "\n".join([*lines[:end], *more, *lines[end:]])
    end = starts[0] if starts else len(lines)
    return "\n".join([*lines[:end], "Args:", *more, "", *lines[end:]]).rstrip()
