"""The table of commands, and options from a file and from the environment for what was not written on the command line.

`ogive.toml` in the working folder, or the file that `OGIVE_CONFIG` names, holds shared options at its top and
one table for each command. `OGIVE_LEDGER` is a shared option, `OGIVE_ECDF_BINS` one of a single command. The
command line goes before the environment, and this before the file.

How much privacy is spent, whether there is any, and who is trusted is never taken from either: a default nobody sees
would spend a budget, publish exact values, or rely on somebody, without anyone having said so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogive.errors import ParameterError, plain, quoted
from ogive.statistics.kinds import ALIASES, COMMANDED

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.argument import Argument, ArgumentCollection

COMMANDS = {
    **{name: (f"ogive.cli.release:{name}", f"Release {kind.summary}.") for name, kind in COMMANDED.items()},
    "local": ("ogive.cli.local:app", "Collect randomized reports from their owners, by files or by a service."),
    "pate": (
        "ogive.cli.pate:app",
        "Label public inputs by a noisy vote of teachers: train, plan, label, cost, sanitize.",
    ),
    "merge": ("ogive.cli.curves:merge", "Merge released curves of different people, such as sites or months."),
    "combine": (
        "ogive.cli.curves:combine",
        "Combine several releases of the same records into one estimate of all that they measured.",
    ),
    "compare": (
        "ogive.cli.curves:compare",
        "Measure the distances between released curves, or from curves to records.",
    ),
    "study": (
        "ogive.cli.study:app",
        "Release statistics of several organizations that keep their rows: new, keys, check, serve, release, status.",
    ),
    "server": ("ogive.cli.study:server", "Run one of the servers to which people upload shares of their records."),
    "upload": ("ogive.cli.study:upload", "Send shares of a record to the servers of a study."),
    "pair": ("ogive.cli.study:pair", "Take part in a study in which people meet in pairs."),
    "agent": ("ogive.cli.study:agent", "Run the agent of one party of a study, where its records are."),
    "ledger": ("ogive.cli.ledger:app", "Show, limit and export the privacy spent on each data set."),
    "plan": ("ogive.cli.plan:app", "Predict price and error of every method before anything is spent."),
    "show": ("ogive.cli.show:show", "Print what a saved file holds: a release, a plan, a cost or a statement."),
    "report": ("ogive.cli.show:report", "Write releases, or everything that a ledger released, as one page of HTML."),
    "completion": (
        "ogive.cli.installation:completion",
        "Print the script that completes commands and options in a shell.",
    ),
    "demo": ("ogive.cli.demo:demo", "Run the complete workflow on example data and write a report."),
    "reproduce": (
        "ogive.cli.installation:reproduce",
        "Reproduce the figures and tables of the papers, with a verdict for each.",
    ),
    "bench": ("ogive.cli.installation:app", "Compare results of the benchmarks: compare."),
    "warmup": ("ogive.cli.installation:warmup", "Compile ahead of time, on this machine, the code that releases use."),
}
"""Each command's name, where its function (or App of commands) is, loaded when first used, and its summary."""

FILE = "ogive.toml"
PREFIX = "OGIVE_"

SHARED = ("ledger", "data-set", "part", "person", "max-rows-per-person", "adjacency")
"""Options that may be set for all commands that have them."""

_SPENT_OR_TRUSTED = (
    "epsilon",
    "delta",
    "rho",
    "limit-epsilon",
    "limit-delta",
    "limit-rho",
    "trust",
    "updated",
    "other-people",
    "public",
    "no-limit",
)

WITHOUT_SHARED = ("bench", "combine", "demo", "local", "merge", "reproduce", "report", "show", "completion", "warmup")
"""Commands that keep their own books, or none."""

NO_OPTIONS = ("OGIVE_CONFIG", "OGIVE_DATA", "OGIVE_LEDGER_KEY", "OGIVE_LEDGER_MARK")
"""Variables that stand for no option: where the settings, the public data sets a ledger's key and its mark are."""


@cache
def on_the_command_line() -> tuple[str, ...]:
    """Options that are taken from the command line only, those of all trust models among them."""
    from ogive.cli.options import NAMES  # which loads the options of all trust models

    return (*_SPENT_OR_TRUSTED, *NAMES)


def settings(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Fill in options that the command line leaves open; cyclopts calls this before it converts them."""
    commands = tuple(ALIASES.get(command, command) for command in commands)
    options = {name[2:]: argument for argument in arguments for name in argument.names if name.startswith("--")}
    path = Path(os.environ.get("OGIVE_CONFIG") or FILE)
    for source, result in (("the environment", _from_environment(commands)), (str(path), _from_file(path, commands))):
        open_options = {name: argument for name, argument in options.items() if not argument.tokens}
        for place, name, values, shared in result:
            if name in on_the_command_line():
                raise ParameterError(
                    f"{plain(place)} is not taken from settings: give --{name} on the command line, where it is visible"
                )
            if name not in options and not shared:
                raise ParameterError(
                    f"{plain(place)} is not an option of ogive {' '.join(commands)}{_near(name, options)}"
                )
            if name in open_options:
                _give(open_options[name], place, source, values)


def _give(argument: Argument, place: str, source: str, values: Any) -> None:
    import shlex

    from cyclopts import Token

    count, takes_all = argument.token_count()
    if isinstance(values, Mapping):
        raise ParameterError(f"{plain(place)} must be a value or a list of values, not a table")
    if isinstance(values, str) and (count > 1 or takes_all):
        try:
            values = shlex.split(values)
        except ValueError:
            raise ParameterError(
                f"{plain(place)} must be values with spaces between them, got {quoted(values)}"
            ) from None
    if not isinstance(values, list):
        values = [values]
    if not takes_all and len(values) != max(count, 1):
        raise ParameterError(f"{plain(place)} must have {max(count, 1)} value{'s'[: count > 1]}, got {len(values)}")
    for index, value in enumerate(values):
        written = value.isoformat() if hasattr(value, "isoformat") else str(value)
        written = written.lower() if isinstance(value, bool) else written
        argument.append(Token(keyword=place, value=written, source=source, index=index))


Setting = tuple[str, str, Any, bool]
"""Where it stands, the option's name, its value or values, and whether it is for all commands."""


def _from_environment(commands: tuple[str, ...]) -> Iterator[Setting]:
    own = "".join(f"{command.replace('-', '_').upper()}_" for command in commands)
    others = tuple(f"{command.upper()}_" for command in COMMANDS if command not in ("ledger", commands[0]))
    for variable in sorted(os.environ):
        if not variable.startswith(PREFIX) or variable in NO_OPTIONS or not os.environ[variable]:
            continue
        rest = variable.removeprefix(PREFIX)
        name = rest.lower().replace("_", "-")
        if name in SHARED or name in on_the_command_line():
            if commands[0] not in WITHOUT_SHARED:
                yield variable, name, os.environ[variable], True
        elif commands[0] != "ledger" and rest.startswith(own):
            yield variable, rest.removeprefix(own).lower().replace("_", "-"), os.environ[variable], False
        elif not rest.startswith(others):
            known = (PREFIX + shared.upper().replace("-", "_") for shared in SHARED)
            raise ParameterError(f"the environment variable {plain(variable)} sets nothing{_near(variable, known)}")


def _from_file(path: Path, commands: tuple[str, ...]) -> Iterator[Setting]:
    data = _read(path)
    for key, value in data.items():
        name = key.replace("_", "-")
        if name in COMMANDS and name not in SHARED and isinstance(value, Mapping):
            continue
        if name not in SHARED and name not in on_the_command_line():
            raise ParameterError(f"{plain(key)} in {plain(path)} sets nothing{_near(name, (*SHARED, *COMMANDS))}")
        if commands[0] not in WITHOUT_SHARED:
            yield f"{key} in {path}", name, value, True
    table: Any = data
    for command in commands:
        table = table.get(command, {}) if isinstance(table, Mapping) else {}
    if isinstance(table, Mapping):
        for key, value in table.items():
            yield f"{key} of [{'.'.join(commands)}] in {path}", key.replace("_", "-"), value, False


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        if os.environ.get("OGIVE_CONFIG"):
            raise ParameterError(f"OGIVE_CONFIG names {plain(path)}, which is not a file")
        return {}
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise ParameterError(f"the settings in {plain(path)} cannot be read") from None
    except tomllib.TOMLDecodeError as problem:
        raise ParameterError(f"the settings in {plain(path)} are not valid TOML: {plain(problem)}") from None


def _near(name: str, known: Iterable[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""
