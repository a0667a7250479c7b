"""Options that name columns of DATA: a command that lacks one is told which columns there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.cli.converters import table_of

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.argument import ArgumentCollection

_OPTIONS = ("--column", "--columns", "--score", "--probability", "--label")
_DATA = "DATA"


def columns_named(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Refuse a command that lacks options which name columns; cyclopts calls this after `settings`.

    Args:
        app: The command.
        commands: Its name; several words for a command of a command.
        arguments: What it takes, with what was given.

    Raises:
        ParameterError: an option that names a column was left out; the message lists the columns of DATA.
        DataError: DATA cannot be read.
    """
    by_name = {name: argument for argument in arguments for name in argument.names}
    if _DATA not in by_name or not by_name[_DATA].required or not by_name[_DATA].tokens:
        return
    left_out = [name for name in _OPTIONS if name in by_name and not by_name[name].tokens]
    # cyclopts does not know that a list of no columns is refused
    left_out = [name for name in left_out if by_name[name].required or (name == "--columns" and _needed(commands))]
    if left_out:
        from ogive.records import Records

        Records.of(table_of(by_name[_DATA].tokens[0].value)).check_named({name[2:]: None for name in left_out})


def _needed(commands: tuple[str, ...]) -> bool:
    """Whether the statistic of a command needs columns, and does not take all of them where none is named."""
    import dataclasses

    from ogive.statistics.kinds import ALIASES, COMMANDED

    made: Any = COMMANDED[ALIASES.get(commands[-1], commands[-1])].statistic
    return any(field.name == "columns" and field.default is dataclasses.MISSING for field in dataclasses.fields(made))
