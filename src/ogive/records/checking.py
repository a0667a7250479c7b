"""Whether a table has the columns that are asked for, and whether they hold what is declared of them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ogive.columns import Binning, Column, Label
from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.records.binning import kind_of, type_words
from ogive.records.labels import check_category_type, check_label_type
from ogive.records.sources import Source, names_shown


def check_type(source: Source, column: Column, plural: str, listable: bool, *, needs_values: bool = True) -> None:
    """Refuse a column that is not there or does not hold what is declared of it.

    Args:
        source: The table.
        column: What is declared.
        plural: What values of categories are called, "groups" say.
        listable: Whether text could be declared by a list of its values.
        needs_values: Whether a column of numbers or dates that has no value at all is refused.

    Raises:
        DataError: naming the column and what it holds.
    """
    if isinstance(column, Binning):
        check_column(source, column.column)
        if needs_values or not pa.types.is_null(source.type(column.column)):
            _check_values(source, column, listable)
        return
    check_column(source, column.column)
    if isinstance(column, Label):
        check_label_type(column, source.type(column.column))
    else:
        check_category_type(column, source.type(column.column), plural)


def check_column(source: Source, column: str) -> None:
    """Refuse a column that is not there; says which names are near.

    Raises:
        DataError: there is none of that name.
    """
    if column not in source.columns:
        raise DataError(_no_such_column(source, column))


def check_columns_named(source: Source, named: Mapping[str, Any]) -> None:
    """Refuse parameters that name no column; says which names there are.

    Args:
        source: The table.
        named: What was given for each parameter: a name, or several where the parameter takes several; None or no
            name at all where it was left out.

    Raises:
        ParameterError: a parameter was left out, or is no name.
    """
    there = f"{plain(source.name)} has {names_shown(source.columns)}"
    if not source.has_names:
        there = f"the first line of {plain(source.name)} does not look like column names, and must name the columns"
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


def _check_values(source: Source, binning: Binning, listable: bool) -> None:
    """Refuse a column that does not hold what the grid's bounds are; say that text may be listed where it may."""
    column, unit = binning.column, binning.grid.unit
    kind = kind_of(source.type(column))
    holds = type_words(source.type(column))
    if kind is None:
        hint = f"; {source.numbers_hint}" if holds == "text" else ""
        if holds == "text" and listable:
            listed = f"`categories={{{quoted(column)}: ('a', 'b')}}`"
            hint += f"; statistics of pairs take text whose values are listed, {listed}"
        raise DataError(f"column {quoted(column)} holds {holds}, but numbers or dates are needed{hint}")
    if kind != unit and (kind, unit) != ("date", "datetime"):
        wanted = {"number": "numbers", "date": "dates", "datetime": "times"}[unit]
        hint = ""
        if (kind, unit) == ("datetime", "date"):
            hint = "; write the bounds as times, for example 2024-01-01T00:00"
        raise DataError(f"column {quoted(column)} holds {holds}, but the bounds are {wanted}{hint}")


def _no_such_column(source: Source, column: str) -> str:
    shown = plain(f"{column!r:.200}")
    if not source.has_names:
        if column.lower() in (name.lower() for name in source.columns):
            return f"{plain(source.name)} has no column {shown}, but one that differs in capitals alone"
        return (
            f"{plain(source.name)} has no column {shown}, and its first line does not look like column names; "
            "the first line must name the columns"
        )
    lower = {name.lower(): name for name in reversed(source.columns)}
    near = [lower[name] for name in difflib.get_close_matches(column.lower(), list(lower), n=3)]
    suggestion = f"; did you mean {plain(' or '.join(near))}?" if near else ";"
    return f"{plain(source.name)} has no column {shown}{suggestion} it has {names_shown(source.columns)}"
