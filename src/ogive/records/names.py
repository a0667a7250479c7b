"""Names of columns: what is said of one that a table does not have."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ogive.errors import DataError, ParameterError, plain, quoted

SHOWN_COLUMNS = 30


class Named(Protocol):
    """A table whose columns have names."""

    @property
    def name(self) -> str:
        """What error messages call the table."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, without duplicates."""
        ...

    @property
    def has_names(self) -> bool:
        """Whether `columns` are names beyond doubt and no record, so that a message may show them."""
        ...


def check_column(table: Named, column: str) -> None:
    """Refuse a column that is not there; says which names are near.

    Raises:
        DataError: there is none of that name.
    """
    if column not in table.columns:
        raise DataError(_no_such_column(table, column))


def check_columns_named(table: Named, named: Mapping[str, Any]) -> None:
    """Refuse parameters that name no column; says which names there are.

    Args:
        table: The table.
        named: What was given for each parameter: a name, or several where the parameter takes several; None or no
            name at all where it was left out.

    Raises:
        ParameterError: a parameter was left out, or is no name.
    """
    there = f"{plain(table.name)} has {names_shown(table.columns)}"
    if not table.has_names:
        there = f"the first line of {plain(table.name)} does not look like column names; add a header line"
    left_out = [
        parameter for parameter, name in named.items() if name is None or (isinstance(name, tuple | list) and not name)
    ]
    if left_out:
        many = "s" if len(left_out) > 1 else ""
        raise ParameterError(f"name the column{many} with {' and '.join(f'`{each}=`' for each in left_out)}; {there}")
    for parameter, name in named.items():
        names = name if isinstance(name, tuple | list) and parameter.endswith("s") else [name]
        wrong = next((each for each in names if not isinstance(each, str)), None)
        if wrong is not None:
            raise ParameterError(f"`{parameter}` must be a column's name, got {quoted(wrong)}; {there}")


def _no_such_column(table: Named, column: str) -> str:
    shown = plain(f"{column!r:.200}")
    if not table.has_names:
        if column.lower() in (name.lower() for name in table.columns):
            return f"{plain(table.name)} has no column {shown}, but one that differs only in capital letters"
        return (
            f"{plain(table.name)} has no column {shown}, and its first line does not look like column names; "
            "the first line must name the columns"
        )
    lower = {name.lower(): name for name in reversed(table.columns)}
    near = [lower[name] for name in difflib.get_close_matches(column.lower(), list(lower), n=3)]
    suggestion = f"; did you mean {' or '.join(map(quoted, near))}?" if near else ";"
    return f"{plain(table.name)} has no column {shown}{suggestion} it has {names_shown(table.columns)}"


def names_shown(columns: Sequence[str]) -> str:
    """The first names of a table's columns, in a row, for messages."""
    return ", ".join(map(quoted, columns[:SHOWN_COLUMNS])) + (", ..." if len(columns) > SHOWN_COLUMNS else "")
