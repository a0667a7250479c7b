"""DATA of a command: the file or table that words name, its columns, and notes on them; and options of methods."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast

from cyclopts import Parameter, Token

from ogive.cli.help import OF_METHODS
from ogive.errors import DataError, OgiveError, plain

if TYPE_CHECKING:
    from cyclopts import App
    from cyclopts.argument import ArgumentCollection

# --- Words as values

SHIPPED = "dataset:"
"""Begins the name of a table that comes with the package, in place of a file."""


def data_file(_: Any, tokens: Sequence[Token]) -> Path:
    """A file of records, which may be one that comes with the package."""
    return file_of(tokens[0].value)


def data_table(_: Any, tokens: Sequence[Token]) -> Path | str:
    """A file of records, or the address of a table in an engine."""
    return table_of(tokens[0].value)


def table_of(written: str) -> Path | str:
    """The file that the command line names, or the address as it is written."""
    from ogive.records.engines.connections import is_address

    return written if is_address(written) else file_of(written)


def file_of(written: str) -> Path:
    """The file that the command line names."""
    if not written.startswith(SHIPPED):
        return Path(written)
    from ogive import datasets

    name = written.removeprefix(SHIPPED)
    if name not in datasets.SHIPPED:
        known = " or ".join(f"{SHIPPED}{each}" for each in datasets.SHIPPED)
        raise ValueError(f"must be a file, or {known}, which comes with ogive; got {written!r}")
    return datasets.shipped(name)


def as_written(text: str) -> str:
    """A text with the tables that come with the package named as on the command line, and not by their paths."""
    from ogive import datasets

    for name in datasets.SHIPPED:
        text = text.replace(str(datasets.shipped(name)), f"{SHIPPED}{name}")
    return text


def whole(_: Any, tokens: Sequence[Token]) -> int:
    """A whole number as it is written; the parser's own conversion would round fractions."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"must be a whole number, got {tokens[0].value!r}") from None


Whole = Annotated[int, Parameter(converter=whole)]
OptionalWhole = Annotated[int | None, Parameter(converter=whole)]
Flag = Annotated[bool, Parameter(show_default=False)]


@contextmanager
def in_file(path: Path) -> Iterator[None]:
    """Say in which file something was no good."""
    try:
        yield
    except OgiveError as problem:
        message = str(problem)
        raise DataError(plain(message if message.startswith("cannot read") else f"{path}: {message}")) from None


# --- Options of methods; here, since the parser reads their texts off the whole file


class Given:
    """A group of options of methods; None stands for one that is not given."""

    name: ClassVar[str] = "method_options"
    owners: ClassVar[Mapping[str, str]]
    """Which method each option is for."""

    def given(self) -> dict[str, Any]:
        """The options that are given."""
        return {name: value for name, value in vars(self).items() if value is not None}


@Parameter(name="*", group=OF_METHODS)
@dataclass(frozen=True, kw_only=True)
class OwnerMethodOptions(Given):
    """What owners' reports of a curve leave open."""

    owners: ClassVar[Mapping[str, str]] = {"groups": "histogram"}

    groups: OptionalWhole = None
    """Number of groups of a histogram; 30 by default."""


@Parameter(name="*", group=OF_METHODS)
@dataclass(frozen=True, kw_only=True)
class CurveMethodOptions(Given):
    """What methods of curves leave open."""

    owners: ClassVar[Mapping[str, str]] = {
        "degree": "projection",
        "basis": "projection",
        "groups": "histogram",
        "rounds": "adaptive",
        "share": "selected",
    }

    degree: OptionalWhole = None
    """Degree of a projection; chosen for the guarantee and the number of records by default."""

    basis: Literal["legendre", "sine", "cosine", "splines"] | None = None
    """Functions of a projection; legendre by default."""

    groups: OptionalWhole = None
    """Number of groups of a histogram; 30 by default."""

    rounds: OptionalWhole = None
    """Thresholds that adaptive asks for; chosen for the guarantee and the number of records by default."""

    share: str | None = None
    """Share of the budget that selected spends on choosing; 0.1 by default."""


# --- Missing options that name columns of DATA

_OPTIONS = ("--column", "--columns", "--score", "--probability", "--label")
_DATA = "DATA"


def columns_named(app: App, commands: tuple[str, ...], arguments: ArgumentCollection) -> None:
    """Refuse a command that lacks options which name columns; cyclopts calls this after `settings`."""
    by_name = {name: argument for argument in arguments for name in argument.names}
    if _DATA not in by_name or not by_name[_DATA].required or not by_name[_DATA].tokens:
        return
    left_out = [name for name in _OPTIONS if name in by_name and not by_name[name].tokens]
    left_out = [name for name in left_out if by_name[name].required or (name == "--columns" and _needed(commands))]
    if left_out:
        from ogive.records import Records

        Records.of(table_of(by_name[_DATA].tokens[0].value)).check_named({name[2:]: None for name in left_out})


def _needed(commands: tuple[str, ...]) -> bool:
    """Whether the statistic of a command needs columns; the parser does not know that a list of none is refused."""
    import dataclasses

    from ogive.statistics.kinds import ALIASES, COMMANDED

    statistic: Any = COMMANDED[ALIASES.get(commands[-1], commands[-1])].statistic
    return any(
        field.name == "columns" and field.default is dataclasses.MISSING for field in dataclasses.fields(statistic)
    )


# --- Notes on words for missing values: one line for each table


@contextmanager
def gathered_notes() -> Iterator[None]:
    """Hold notes back, and say at the end which columns of each table had which words."""
    notes: list[logging.LogRecord] = []

    class Gathering(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            notes.append(record)

    logger, handler = logging.getLogger("ogive.records.missing_words"), Gathering()
    propagated = logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagated
        columns: dict[tuple[str, str, str], list[str]] = {}
        for note in notes:
            words, column, table = cast("tuple[str, str, str]", note.args)
            columns.setdefault((str(note.msg), words, table), []).append(column)
        for (message, words, table), names in columns.items():
            if len(names) > 1:
                message = message.replace("in column", "in columns")
            logger.warning(message, words, ", ".join(dict.fromkeys(names)), table)
