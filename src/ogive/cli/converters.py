"""How words of the command line become values, where the parser's own way would not do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cyclopts import Token

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
    from ogive.records.engines.address import is_address

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
