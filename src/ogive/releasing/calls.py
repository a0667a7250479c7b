"""Functions on arrays and verbs of sessions, made of the questions that they ask.

A field without a default is a column: a function takes an array for it, a verb its name. The other fields are options.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from ogive.core.checks import SECTION, array_of, entries
from ogive.errors import DataError, ParameterError, quoted
from ogive.privacy import Adjacency
from ogive.records import Records
from ogive.releasing.release import release
from ogive.statistics.base import Estimate, Statistic
from ogive.statistics.kinds import Kind, about, has_default
from ogive.trust import Central, Simulation

COLUMN, GROUP, LABEL = "value", "group", "label"
_NEEDED = inspect.Parameter.empty
_OF_TABLES = ("column", "by", "by_groups", "groups", "where", "person", "max_rows_per_person")
"""Parameters that a function on arrays is given in error by who has a table."""

Given = dict[str, Any]
Texts = Mapping[str, tuple[Any, str]]
"""Parameters with their defaults and what the documentation says of them."""

_SOURCE = "Source of the noise key; by default the operating system."
_OF_FUNCTIONS: Texts = {
    "privacy": (None, "The guarantee for the statistic and everything derived from it."),
    "adjacency": (Adjacency.REPLACE, "REPLACE (the number of records is public) or ADD_OR_REMOVE (it is private)."),
    "trust": (Central, 'Trust model: its type or name, such as `Local` or "local", or a `Simulation`.'),
    "source": (None, _SOURCE),
    "na_values": ((), "Texts and numbers that mark a missing value of a measured column, besides words such as NA."),
}
_OF_VERBS: Texts = {
    "privacy": (None, "The guarantee; may be omitted only under `Clear`."),
    "source": (None, _SOURCE),
    "where": (
        None,
        "Condition that selects records, for example \"ward == 'A'\"; see `Subset`. By default all records.",
    ),
    "by": (None, "Column of groups; the guarantee holds for all groups together; see `Grouped`."),
    "groups": (
        None,
        "The public values of that column; by default, values with enough records are found first, privately.",
    ),
}
_BATCH: Texts = {"batch": (None, "Public name of these records, for merging curves; in a session that of the part.")}
_LABELS: Texts = {"labels": (None, "For an AUC, the class of each record, shape (n,), beside the scores.")}


def own_parameters(kind: Kind, *, verb: bool) -> Texts:
    """What a function or verb takes besides columns and options."""
    own = dict(_OF_VERBS if verb else _OF_FUNCTIONS)
    if verb and "by" in kind.options:  # groups of its own
        del own["by"], own["groups"]
    elif verb and "groups" in kind.options:
        own["by_groups"] = own.pop("groups")
    return {
        **own,
        **(_BATCH if kind.name == "ecdf" else {}),
        **(_LABELS if kind.name == "ustatistic" and not verb else {}),
    }


def options_of(kind: Kind, *, verb: bool) -> tuple[str, ...]:
    """The fields that a function or verb takes by name; the arrays of a box plot's function name their groups."""
    left_out = ("by", "groups") if kind.name == "boxplot" and not verb else ()
    return tuple(name for name in kind.options if name not in left_out)


def columns_of(kind: Kind, *, verb: bool) -> dict[str, str]:
    """The parameters for columns, by which fields they are for."""
    fields = dataclasses.fields(cast(Any, kind.statistic))
    columns = [each.name for each in fields if not has_default(each)]
    if verb or (not kind.arrays and len(columns) > 1):
        return dict(zip(columns, columns, strict=True))
    usual = "data" if "values" in kind.options else "values"  # which is the name of an option there
    return dict(zip(kind.arrays or (usual,), columns or ["table"], strict=True))


def call_of(kind: Kind, run: Callable[[Given, Given, Given], Estimate], *, verb: bool) -> Callable[..., Estimate]:
    """A function or verb: it checks its arguments and hands on columns and positional fields, options, and the rest."""
    fields = {each.name: each for each in dataclasses.fields(cast(Any, kind.statistic))}
    columns, own, options = columns_of(kind, verb=verb), own_parameters(kind, verb=verb), options_of(kind, verb=verb)
    parameter, usual = inspect.Parameter, None if verb else _NEEDED
    places = [
        *(parameter(name, parameter.POSITIONAL_OR_KEYWORD, default=usual) for name in columns),
        *(parameter(name, parameter.POSITIONAL_OR_KEYWORD, default=fields[name].default) for name in kind.positional),
    ]
    names = [parameter(name, parameter.KEYWORD_ONLY, default=default) for name, (default, _) in own.items()]
    chosen = [
        parameter(name, parameter.KEYWORD_ONLY, default=fields[name].default, annotation=fields[name].type)
        for name in options
    ]
    first = [parameter("self", parameter.POSITIONAL_ONLY)] if verb else []
    taken = inspect.Signature([*first, *places, *names, parameter("options", parameter.VAR_KEYWORD)])
    allowed = {each.name for each in (*places, *names, *chosen)}
    name, of_table = kind.function, "; columns of a table are released by name with Session(table, limit=...)"

    def call(*arguments: Any, **given: Any) -> Estimate:
        unknown = sorted(given.keys() - allowed)
        if unknown:
            near = difflib.get_close_matches(unknown[0], allowed, n=1)
            advice = f"; did you mean {near[0]}?" if near else ""
            advice = f"{of_table}.{name}(...)" if not verb and unknown[0] in _OF_TABLES else advice
            raise TypeError(f"{name}() got an unexpected keyword argument {unknown[0]!r}{advice}")
        if not verb and len(arguments) > len(places):
            listed = " and ".join(each.name for each in places)
            takes = f"{len(places)} array{'s' * (len(places) > 1)}, {listed}"
            raise TypeError(f"{name}() takes {takes}, and got {len(arguments)}{of_table}.{name}(...)")
        try:
            bound = taken.bind(*arguments, **given)
        except TypeError as wrong:
            raise TypeError(f"{name}(): {wrong}") from None
        bound.apply_defaults()
        held = bound.arguments
        chosen = held.pop("options") | {each: held.pop(each) for each in kind.positional}
        return run({field: held.pop(called) for called, field in columns.items()}, chosen, held)

    known = dict(_fields(kind.statistic))
    shape = "" if verb else " An array, shape (n,); one row per person."
    lines = [f"    {called}: {known.get(field, '')}{shape}".replace(":  ", ": ") for called, field in columns.items()]
    lines += [f"    {each}: {known[each]}" for each in kind.positional]
    lines += [f"    {each}: {text}" for each, (_, text) in own.items()]
    lines += [f"    {each}: {known[each]}" for each in options]
    privacy = "from the session's budget" if verb else "for the stated adjacency, under the trust model's assumption"
    call.__doc__ = "\n".join(
        [
            f"Release {kind.summary}.",
            *("", "Args:", *lines, "", "Raises:", "    ParameterError, DataError: as `release`."),
            *("", "Privacy:", f"    `privacy` for everything that is released together, {privacy}."),
            *(() if verb else _example(kind.statistic)),
        ]
    )
    call.__name__ = name
    call.__qualname__ = f"Session.{name}" if verb else name
    call.__module__ = "ogive.releasing.session" if verb else "ogive.releasing.functions"
    cast(Any, call).__signature__ = taken.replace(parameters=[*first, *places, *names, *chosen])
    return call


def _fields(statistic: type) -> list[tuple[str, str]]:
    known = entries(inspect.cleandoc(statistic.__doc__ or ""), "Fields")
    return [(name, text.partition(": ")[2]) for names, text in known for name in names]


def _example(statistic: type) -> list[str]:
    """The example of a question's documentation, which is one of its function."""
    lines = inspect.cleandoc(statistic.__doc__ or "").split("\n")
    starts = [place for place, line in enumerate(lines) if SECTION.match(line)]
    if "Example:" not in lines:
        return []
    start = lines.index("Example:")
    return ["", *lines[start : next((place for place in starts if place > start), len(lines))]]


# --- Functions

_Read = tuple[Statistic[Any], Any]
"""A question, and the records that are asked."""


@functools.cache
def function_of(kind: Kind) -> Callable[..., Estimate]:
    """The function that releases a statistic of arrays."""
    question, read = kind.statistic, _READERS.get(kind.name, _plain)
    flags = [flag for flag in ("public_labels", "public_groups") if flag in kind.options]

    def run(columns: Given, options: Given, own: Given) -> Estimate:
        statistic, table = read(question, columns, options, own)
        known = [_public(statistic, flag) for flag in flags if getattr(statistic, flag)]
        replaced = Adjacency(own["adjacency"]) is Adjacency.REPLACE
        released: Estimate = release(
            statistic,
            trust=Simulation.of(own["trust"]).over(Records.of(table, na_values=own["na_values"])),
            privacy=own["privacy"],
            adjacency=own["adjacency"],
            batch=own.get("batch"),
            public=known if replaced and known else None,
            source=own["source"],
        )
        return released

    return call_of(kind, run, verb=False)


def _public(statistic: Any, flag: str) -> str:
    """The column that the caller says everybody knows."""
    own = "by" if flag == "public_groups" else "label"
    return str(getattr(statistic, own, None) or statistic.columns[-1])


def _plain(question: Any, columns: Given, options: Given, _: Given) -> _Read:
    """A column for each array, also for those options that are columns besides."""
    besides = {name: options[name] for name in getattr(question, "besides", ()) if options.get(name) is not None}
    names = {name: COLUMN if columns.keys() == {"column"} else name for name in columns}
    table = {names[name]: array for name, array in columns.items()} | besides
    return question(**names, **{**options, **{name: name for name in besides}}), table


def _described(question: Any, columns: Given, options: Given, _: Given) -> _Read:
    return question(**options), columns["table"]


def _boxed(question: Any, columns: Given, options: Given, _: Given) -> _Read:
    """One array, or one for each of several groups where nobody is in two."""
    data = columns["column"]
    if not isinstance(data, dict):
        return question(COLUMN, **options), {COLUMN: data}
    arrays = {name: _array(values) for name, values in data.items()}
    for name, values in arrays.items():
        if values.ndim != 1:
            raise DataError(f"group {quoted(name)} must be an array of one dimension")
    labels = [name for name, values in arrays.items() for _ in range(len(values))]
    joined = np.ma.concatenate if any(map(np.ma.is_masked, arrays.values())) else np.concatenate
    table = {COLUMN: joined(list(arrays.values())) if arrays else np.zeros(0), GROUP: labels}
    return question(COLUMN, **options, by=GROUP, groups=tuple(data)), table


def _array(values: Any) -> Any:
    """A group as an array, masked where it is, or where a list has what shows in place of a masked value."""
    if isinstance(values, np.ma.MaskedArray):
        return values
    if isinstance(values, list | tuple) and any(each is np.ma.masked for each in values):
        mask = [each is np.ma.masked for each in values]
        plain = next((each for each in values if each is not np.ma.masked), 0.0)
        return np.ma.array([plain if hidden else each for each, hidden in zip(values, mask, strict=True)], mask=mask)
    return array_of(values)


def _paired(question: Any, columns: Given, options: Given, own: Given) -> _Read:
    """Arrays by the names that they are given where they have none."""
    data, labels = columns["columns"], own["labels"]
    if isinstance(data, dict):
        table = dict(data)
    elif isinstance(data, tuple) or _is_list_of_arrays(data):
        table = {f"{COLUMN}_{number + 1}": column for number, column in enumerate(data)}
    else:
        try:
            array = data if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
        except ValueError:
            raise DataError("every row of data must have the same number of values") from None
        if array.ndim > 2:
            raise DataError(f"data must be an array of one or two dimensions, got {array.ndim}")
        listed = [data] if array.ndim < 2 else list(array.T)
        names = [COLUMN] if len(listed) == 1 else [f"{COLUMN}_{number + 1}" for number in range(len(listed))]
        table = dict(zip(names, listed, strict=True))
    if not table:
        raise DataError("data has no columns; give at least one array")
    if labels is not None:
        if LABEL in table:
            raise ParameterError(f"data has a column {quoted(LABEL)} already; leave out `labels=`")
        table[LABEL] = labels
    statistic = question(tuple(table), **options)
    if statistic.classes is not None and not options.get("public_labels") and Simulation.of(own["trust"]).private:
        raise ParameterError(
            f"{statistic.measure.name} counts the records of every class exactly; use `public_labels=True` if each "
            "record's class is public"
        )
    return statistic, table


def _is_list_of_arrays(data: Any) -> bool:
    """Whether these are columns; a list of lists holds rows."""
    return isinstance(data, list) and bool(data) and all(getattr(each, "shape", ()) != () for each in data)


_READERS: Mapping[str, Callable[[Any, Given, Given, Given], _Read]] = {
    "boxplot": _boxed,
    "describe": _described,
    "ustatistic": _paired,
}
"""How functions read what is no array for each column."""


# --- Verbs


@functools.cache
def verb_of(kind: Kind) -> Callable[..., Estimate]:
    """The method of sessions that releases a statistic of columns by name."""
    groups, question = "by_groups" if "groups" in kind.options else "groups", kind.statistic

    def run(columns: Given, options: Given, own: Given) -> Estimate:
        session = own["self"]
        named = session._named(**columns)
        options = {name: tuple(each) if isinstance(each, list) else each for name, each in options.items()}
        statistic: Statistic[Estimate] = question(**dict(zip(columns, named, strict=True)), **options)
        wanted = about(statistic, where=own["where"], by=own.get("by"), groups=own.get(groups))
        released: Estimate = session.release(
            wanted, privacy=own["privacy"], batch=own.get("batch"), source=own["source"]
        )
        return released

    return call_of(kind, run, verb=True)
