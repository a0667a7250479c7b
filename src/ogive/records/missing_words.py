"""What users name of a table: columns, and the words that say that a value is missing, such as NA."""

from __future__ import annotations

import contextlib
import decimal
import difflib
import functools
import hashlib
import json
import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ogive.columns.categories import BLANKS, TRUTH
from ogive.columns.grids import Grid
from ogive.errors import DataError, ParameterError, plain, quoted

USUAL_WORDS = ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "null", "None", "?", ".")
"""What says that a number or date is missing, in any case and with blanks around it."""

_LARGEST = 10**18
"""From here on whole numbers are compared with no text."""

Named = str | int | float
NaValues = Named | Iterable[Named]
_LOGGER = logging.getLogger(__name__)
_MOST_SHOWN = 5


@dataclass(frozen=True)
class MissingWords:
    """What says that a value of a measured column is missing.

    Fields:
        named: Words and numbers beside the usual ones, as the user wrote them.
    """

    named: tuple[Named, ...] = ()

    @staticmethod
    def of(named: NaValues) -> MissingWords:
        """The usual words, and these."""
        given = tuple(named) if isinstance(named, Iterable) and not isinstance(named, str) else (named,)
        for word in given:
            if isinstance(word, bool) or not isinstance(word, str | int | float):
                raise ParameterError(f"`na_values` must be texts or numbers, got {quoted(word)}")
            if isinstance(word, str) and word.strip(BLANKS).lower() in TRUTH:
                raise ParameterError(f"`na_values` names {quoted(word)}, which is a truth value; name another word")
        return MissingWords(given)

    @functools.cached_property
    def folded(self) -> frozenset[str]:
        """All words as they are compared."""
        return self.texts | {word.lower() for word in USUAL_WORDS}

    @functools.cached_property
    def texts(self) -> frozenset[str]:
        """The named words as they are compared with texts, whole numbers also without a fraction of zeros."""
        words = {str(word).strip(BLANKS).lower() for word in self.named}
        words |= {re.sub(r"^(-?[0-9]+)\.0+$", r"\1", word) for word in words}
        return frozenset(words | {str(number) for number in self.whole_numbers if abs(number) < _LARGEST})

    def numbers(self, grid: Grid) -> list[float]:
        """The named words that write a number of a grid, or a date or time where it holds those."""
        results = []
        for word in self.named:
            with contextlib.suppress(ParameterError):
                results.append(grid.number(word))
        return results

    @functools.cached_property
    def whole_numbers(self) -> frozenset[int]:
        """The named words that write whole numbers, of any size."""
        result = set()
        for word in self.named:
            with contextlib.suppress(ArithmeticError, ValueError):
                number = decimal.Decimal(word.strip(BLANKS) if isinstance(word, str) else word)
                if number == number.to_integral_value():
                    result.add(int(number))
        return frozenset(result)

    def marks(self, value: object) -> bool:
        """Whether a declared value is a text that means a missing value, or a named number."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value in self
        return value in self.whole_numbers or value in [word for word in self.named if not isinstance(word, str)]

    def digest(self, table: bytes) -> bytes:
        """The digest of a table with these words, of which there are some."""
        named = json.dumps(sorted(map(str, self.named))).encode()
        return hashlib.sha256(b"ogive missing words 1\n" + table + named).digest()

    def names(self, value: object) -> bool:
        return isinstance(value, str) and value.strip(BLANKS).lower() in self.texts

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and value.strip(BLANKS).lower() in self.folded


USUAL = MissingWords()


def tell(column: str, table: str, words: MissingWords, cells: Iterable[str]) -> None:
    """Say once which words of a column were taken for missing values."""
    shown = sorted({quoted(cell.strip()) if cell.strip() else "an empty text" for cell in cells})
    shown = [*shown[:_MOST_SHOWN], *["others"] * (len(shown) > _MOST_SHOWN)]
    verb = "counts" if len(shown) == 1 else "count"
    _LOGGER.warning(
        f"ogive: %s in column %s of %s {verb} as missing; other words are named by na_values=, on the command line "
        "--na",
        " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown),
        quoted(column),
        plain(table),
    )


def tell_padded(column: str, table: str) -> None:
    """Say once that leading zeros of a column of numbers do not count."""
    _LOGGER.warning(
        "ogive: numbers in column %s of %s are written with leading zeros, which do not count: 001 and 1 are one "
        "value; where they are codes, use Parquet or a data frame",
        quoted(column),
        plain(table),
    )


# --- Names of columns

SHOWN_COLUMNS = 30


class NamedTable(Protocol):
    """A table whose columns have names."""

    @property
    def name(self) -> str:
        """What error messages call the table."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, without duplicates."""

    @property
    def has_names(self) -> bool:
        """Whether `columns` are names beyond doubt and no record, so that a message may show them."""


def check_column(table: NamedTable, column: str) -> None:
    """Refuse a column that is not there; says which names are near."""
    if column not in table.columns:
        raise no_such_column(table, column)


def names_there(table: NamedTable) -> str:
    """Which names there are, as a clause."""
    if table.has_names:
        return f"{plain(table.name)} has {names_shown(table.columns)}"
    return f"the first line of {plain(table.name)} does not look like column names; add a header line"


def no_such_column(table: NamedTable, column: str) -> DataError:
    """The refusal of a column that a table does not have, with the names that are near."""
    shown = plain(f"{column!r:.200}")
    if not table.has_names:
        if column.lower() in (name.lower() for name in table.columns):
            return DataError(f"{plain(table.name)} has no column {shown}, but one that differs only in capital letters")
        return DataError(
            f"{plain(table.name)} has no column {shown}, and its first line does not look like column names; "
            "the first line must name the columns"
        )
    lower = {name.lower(): name for name in reversed(table.columns)}
    near = [lower[name] for name in difflib.get_close_matches(column.lower(), list(lower), n=3)]
    suggestion = f"; did you mean {' or '.join(map(quoted, near))}?" if near else ";"
    return DataError(f"{plain(table.name)} has no column {shown}{suggestion} it has {names_shown(table.columns)}")


def names_shown(columns: Sequence[str]) -> str:
    """The first names of a table's columns, in a row, for messages."""
    return ", ".join(map(quoted, columns[:SHOWN_COLUMNS])) + (", ..." if len(columns) > SHOWN_COLUMNS else "")
