"""Whether the columns that a question names hold what it declares of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from ogive.columns import Binning, Label, LabelValue, Membership, ReadColumn
from ogive.columns.values import trimmed
from ogive.errors import DataError, plain, quoted
from ogive.records.arrow import content_kind, is_named, kind_of, type_words
from ogive.records.labels import check_category_kind, check_label_kind, declared_values, where_missing
from ogive.records.missing_words import MissingWords
from ogive.records.names import check_column
from ogive.records.sources import Table
from ogive.records.text_columns import TextColumns, is_text

NO_OFFSET = (None, "UTC", "Etc/UTC", "GMT", "Z", "+00:00")
"""Zones whose days are those of UTC."""


def check_type(
    source: Table,
    measured: TextColumns | None,
    column: ReadColumn,
    plural: str,
    listable: bool,
    *,
    words: MissingWords,
    needs_values: bool = True,
) -> None:
    """Refuse a column that is not there or does not hold what is declared of it.

    Args:
        source: The table.
        measured: Its columns, of which some are text that holds numbers; None of a table whose text is text.
        column: What is declared.
        plural: What values of categories are called, "groups" say.
        listable: Whether text could be declared by a list of its values.
        words: What says that a value is missing.
        needs_values: Whether a column of numbers or dates that has no value at all is refused.

    Raises:
        DataError: naming the column and what it holds.
    """
    if isinstance(column, Binning):
        check_column(source, column.column)
        kind = (measured or source).type(column.column)
        if needs_values or not pa.types.is_null(kind):
            hint = "" if not is_text(kind) else _text_hint(source, measured, column, listable)
            _check_values(kind, column, hint)
            _check_offsets(source, measured, kind, column)
        return
    check_column(source, column.column)
    check_points(source, column.column, declared_values(column))
    if isinstance(column, Label | Membership):
        _check_unnamed(column, words)
    holds = content_kind(source.type(column.column))
    if isinstance(column, Label):
        check_label_kind(column, holds)
    else:
        check_category_kind(column, holds, plural)


def check_points(source: Table, column: str, values: Iterable[LabelValue]) -> None:
    """Refuse numbers that are declared of a column of text whose numbers have decimal commas, or other such signs.

    Such numbers are in no cell, since a file that mixes text with them is refused.

    Raises:
        DataError: with what makes numbers of the column.
    """
    number = next((value for value in values if not isinstance(value, bool) and _is_number(value)), None)
    if number is not None and is_text(source.type(column)) and (remedy := source.number_remedy(column)):
        raise DataError(f"column {quoted(column)} holds text, but {plain(number)} is a number; {plain(remedy)}")


def _is_number(value: LabelValue) -> bool:
    """Whether a value is a number, or a text that writes one."""
    return not isinstance(value, str) or re.fullmatch(r"[-+]?[0-9]*[.]?[0-9]+", trimmed(value)) is not None


def _check_unnamed(column: Label | Membership, words: MissingWords) -> None:
    """Refuse to count a value that was named as missing, as conditions do.

    Raises:
        DataError: a value of a class, or one that counts or does not, is among the named ones.
    """
    for value in declared_values(column):
        if is_named(value, words):
            raise DataError(
                f"{quoted(value)} means a missing value as was said with `na_values=`, so it is no value of column "
                f"{quoted(column.column)}; such records are those with {where_missing(column.column)}"
            )


def _text_hint(source: Table, measured: TextColumns | None, binning: Binning, listable: bool) -> str:
    """What is said of a column of text: where it goes wrong, and what would be right."""
    if measured is not None and measured.is_missing(binning.column):
        return (
            ": every cell is empty or says that a value is missing, such as NA; name another column, or another file "
            "that has values there"
        )
    line = source.wrong_line(binning.column, binning.grid.unit)
    remedy = plain(source.number_remedy(binning.column)) if binning.grid.unit == "number" else ""
    hint = f"{'' if line is None else f' (first on line {line})'}; {remedy or source.numbers_hint}"
    if listable:
        listed = f"`categories={{{quoted(binning.column)}: ('a', 'b')}}`"
        hint += f"; statistics of pairs take text whose values are listed, {listed}"
    return hint


def _check_values(arrow_type: Any, binning: Binning, hint: str) -> None:
    """Refuse a column that does not hold what the grid's bounds are, with a hint where it holds text."""
    column, unit = binning.column, binning.grid.unit
    kind = kind_of(arrow_type)
    holds = type_words(arrow_type)
    if kind is None:
        raise DataError(f"column {quoted(column)} holds {holds}, but numbers or dates are needed{hint}")
    if kind != unit and {kind, unit} != {"date", "datetime"}:
        wanted = {"number": "numbers", "date": "dates", "datetime": "times"}[unit]
        raise DataError(f"column {quoted(column)} holds {holds}, but the bounds are {wanted}")
    zone = getattr(arrow_type, "tz", None)
    if unit == "date" and zone not in NO_OFFSET:
        raise DataError(
            f"column {quoted(column)} holds times in the zone {plain(zone)}, whose days are not those of UTC; take the "
            "zone away to count its days, convert the column to UTC, or write the bounds as times"
        )


def _check_offsets(source: Table, measured: TextColumns | None, arrow_type: Any, binning: Binning) -> None:
    """Refuse days of times that are written with offsets, since these are days of UTC."""
    if binning.grid.unit != "date" or getattr(arrow_type, "tz", None) is None:
        return
    line = source.offset_line(binning.column)
    if line is not None or (measured is not None and measured.has_offsets(binning.column)):
        first = "" if line is None else f" (first on line {line})"
        raise DataError(
            f"column {quoted(binning.column)} holds times with an offset from UTC{first}, whose "
            "days are not those of UTC; take the offset away to count its days, convert the column to UTC, or write "
            "the bounds as times"
        )
