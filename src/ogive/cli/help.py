"""What `--help` prints: the options of a command in groups, each in a few words.

The texts are those that commands declare. `--help` takes the first clause of each and leaves out what stands in
parentheses. Of options that few need it prints the names: those of single methods, of trust models and of ledgers.
`--help-all` prints everything. It is plain text, since loading what draws boxes takes longer than all the rest.
"""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cyclopts import Group

from ogive.statistics.kinds import ALIASES, COMMANDED

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.argument import Argument

    from ogive.statistics.kinds import Kind

QUESTION = Group("Question", sort_key=1)
METHOD = Group("Method", sort_key=1.3)
PRIVACY = Group("Privacy", sort_key=2)
RECORDS = Group("Records", sort_key=2.4)
TRUST = Group("Trust", sort_key=2.6)
READINGS = Group("Readings of the curve", sort_key=3)
OUTPUT = Group("Output", sort_key=4)
"""Headings of options."""

FOLDED = 5.0
"""From here on headings are of options of which --help prints the names alone."""

OF_GROUPS = Group("Options of comparisons", sort_key=FOLDED)
OF_METHODS = Group("Options of methods", sort_key=FOLDED)
OF_TREES = Group("Options of --method hierarchy", sort_key=5.1)
OF_PAIRS = Group("Options of --method paired", sort_key=5.2)
OF_SIMULATIONS = Group("Options of simulations", sort_key=5.3)
OF_TRUST = Group("Options of trust models", sort_key=5.4)
OF_FILES = Group("Options of files", sort_key=5.45)
OF_LEDGERS = Group("Options of ledgers", sort_key=5.5)

_NARROWEST, _WIDEST = 60, 100


def help_of(app: App, arguments: Sequence[str], *, everything: bool, without: Callable[[Kind], frozenset[str]]) -> str:
    """The help of the command that some arguments call, without the options that mean nothing for its statistic."""
    names, apps, _ = app.parse_commands(list(arguments))
    kind = COMMANDED.get(ALIASES.get(names[-1], names[-1])) if names else None
    hidden = frozenset[str]() if kind is None else without(kind)
    with app.app_stack(apps):
        return _help(apps[-1], " ".join(["ogive", *names]), hidden, everything=everything)


def _help(called: App, chain: str, hidden: frozenset[str], *, everything: bool) -> str:
    width = min(max(shutil.get_terminal_size((80, 24)).columns, _NARROWEST), _WIDEST)
    commands = list(_commands(called))
    shown = [] if called.default_command is None else [each for each in _options(called) if each.name not in hidden]
    needed = (_named(each) for each in shown if each.required)
    usage = " ".join(["Usage:", chain, *needed, "COMMAND" if commands else "[OPTIONS]"])
    described = " ".join(inspect.cleandoc(called.help or "").partition("\nArgs:")[0].split())
    lines = [usage, "", *textwrap.wrap(described, width)]
    if commands:
        lines += ["", "Commands", *_columns(commands, width)]
    folded = []
    for title, order, options in _grouped(shown):
        if order >= FOLDED and not everything:
            named = ", ".join(option.name for option in options)
            folded += textwrap.wrap(f"{title}: {named}", width, **_HANGING)
            continue
        rows = [(_named(option), _explained(option, everything=everything)) for option in options]
        lines += ["", title, *_columns(rows, width)]
    if folded:
        lines += ["", *folded]
    if not everything and shown:
        lines += ["", f"{chain} --help-all describes every option in full."]
    elif commands:
        lines += ["", f"{chain} COMMAND --help lists the options of a command."]
    return "\n".join(lines)


_HANGING: dict[str, Any] = {"subsequent_indent": "  ", "break_on_hyphens": False, "break_long_words": False}


def _commands(app: App) -> Iterator[tuple[str, str]]:
    """The commands of a command with their summaries, without other names of them; none of them is loaded."""
    rows: dict[int, tuple[str, str]] = {}
    for name, result in app._commands.items():
        if not name.startswith("-"):
            rows.setdefault(id(result), (name, inspect.cleandoc(result.help or "").partition("\n\n")[0]))
    yield from ((name, " ".join(text.split())) for name, text in rows.values())


def _options(app: App) -> Iterator[Argument]:
    for argument in app.assemble_argument_collection(parse_docstring=True):
        if argument.show and (argument.index is not None or argument.names):
            yield argument


def _grouped(options: Iterable[Argument]) -> list[tuple[str, float, list[Argument]]]:
    """Headings with their places and options, in order; what has no heading comes first."""
    results: dict[str, tuple[float, list[Argument]]] = {}
    for option in options:
        groups: Any = option.parameter.group
        group = groups[0] if groups else None
        title = getattr(group, "name", "Options")
        order = float(getattr(group, "sort_key", None) or 0.0)
        results.setdefault(title, (order, []))[1].append(option)
    return sorted(((title, *each) for title, each in results.items()), key=lambda heading: heading[1])


def _named(option: Argument) -> str:
    """An option as it is written, with what follows it."""
    from cyclopts.help.help import _resolve_metavar

    if option.index is not None:
        return option.name.lstrip("-").upper()
    negative = set(option.negatives)
    left_out = negative | set(option.parameter.alias or ())  # an alias is the name of an earlier version
    names = sorted((name for name in option.names if name not in left_out), key=lambda name: not name.startswith("--"))
    names += sorted(negative)
    value = _resolve_metavar(option)
    return f"{', '.join(names)} {value}" if value else ", ".join(names)


def _explained(option: Argument, *, everything: bool) -> str:
    """What an option is, its choices and its default."""
    text = " ".join((option.parameter.help or "").split())
    choices, default = option.get_choices(), _default(option)
    text = text if everything else _shortly(text)
    listed = choices and not everything and all(re.search(rf"\b{re.escape(each)}\b", text) for each in choices)
    more = [f"choices: {', '.join(choices)}"] if choices and not listed else []
    more += [f"default: {default}"] if default else []
    more += ["required"] if option.required else []
    return " ".join([text, *(f"[{each}]" for each in more)])


def _shortly(text: str) -> str:
    """The first clause, without what stands in parentheses."""
    return re.split(r"(?<=\.) |; ", re.sub(r" \([^()]*\)", "", text), maxsplit=1)[0]


def _default(option: Argument) -> str | None:
    shown = option.show_default
    if isinstance(shown, str):
        return shown
    if not shown:
        return None
    default = option.field_info.default
    return str(shown(default)) if callable(shown) else str(default)


def _columns(rows: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    """Names on the left, texts on the right; a long name has a line of its own."""
    left = min(max(len(name) for name, _ in rows), 26)
    for name, text in rows:
        lines = textwrap.wrap(text, width - left - 4, break_on_hyphens=False) or [""]
        if len(name) > left:
            yield f"  {name}"
        else:
            yield f"  {name:<{left}}  {lines.pop(0)}".rstrip()
        yield from (f"  {'':<{left}}  {line}" for line in lines)
