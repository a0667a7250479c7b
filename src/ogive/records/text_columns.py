"""Columns of text that hold numbers, dates or times: their kinds, and the words that say that a value is missing.

One engine reads the text of every container, so that one column has one reading. A word such as NA means that a value
is missing only where all other values are of one kind; in a column of other text it is a text like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ogive.errors import DataError, plain, quoted
from ogive.grids import MAX_WHOLE
from ogive.records.arrow import type_words, without_named
from ogive.records.missing_words import MissingWords, tell
from ogive.records.sources import Source

SAMPLE_ROWS = 20_000


_ISO_DATE = "'%Y-%m-%d'"


class Kind(NamedTuple):
    """What the cells of a column of text may be: how they are written, and the type they are read as."""

    pattern: str
    engine: str
    arrow: Any

    def cast(self, cell: str) -> str:
        """A cell as a value of this kind in the engine's language; null where it is none."""
        if self is DATES:
            return f"TRY_STRPTIME({cell}, {_ISO_DATE})::DATE"  # a cast would cut a time to its day in silence
        return f"TRY_CAST({cell} AS {self.engine})"


DATES = Kind(r"^\d{4}-\d{2}-\d{2}$", "DATE", pa.date32())
NUMBERS = Kind("", "DOUBLE", pa.float64())
TRUTHS = Kind(r"(?i)^(true|false)$", "BOOLEAN", pa.bool_())
# in UTC where no offset is written; the type without a zone would ignore the offset
TIMES = Kind(r"^\d{4}-\d{2}-\d{2}", "TIMESTAMPTZ", pa.timestamp("us", "UTC"))
KINDS = (NUMBERS, TRUTHS, DATES, TIMES)
TEXT = Kind("", "VARCHAR", pa.string())
NOTHING = Kind("", "VARCHAR", pa.null())
Judged = tuple[Kind, int]
"""The kind of a column, and how many of its cells are words for missing values."""
NOT_OF_ITS_KIND = "Error when converting column"
"""What the engine says of a cell that is not of its column's kind."""


def judge(rows: Any, names: Sequence[str], words: MissingWords) -> dict[str, Judged]:
    """The first kind that fits all values of each column of some rows, and how many of its cells are words for missing.

    Args:
        rows: A table of the engine, whose columns are text or null.
        names: Of the columns.
        words: What says that a value is missing.

    Returns:
        `NOTHING` where all cells are null; `TEXT` where no kind fits, with 0, or where all cells that are not null say
        that a value is missing, with their number.
    """
    found: dict[str, Judged] = dict.fromkeys(names, (TEXT, 0))
    left = list(names)
    for kind in KINDS:
        if not left:
            break
        counts = iter(rows.aggregate(", ".join(_counts(name, kind, words) for name in left)).fetchone())
        for name in list(left):
            all_, fitting, marked = next(counts), next(counts), next(counts)
            if not all_:
                found[name] = (NOTHING, 0)
            elif fitting and fitting + marked == all_:
                found[name] = (kind, marked)
            elif marked == all_:
                found[name] = (TEXT, marked)
        left = [name for name in left if found[name][0] is TEXT]
    return found


def _counts(column: str, kind: Kind, words: MissingWords) -> str:
    """How many cells are not null, how many are of a kind, and how many others say that a value is missing."""
    from ogive.records import engine

    cell = engine.name(column)
    fits = _fits(cell, kind)
    return f"count({cell}), count(*) FILTER ({fits}), count(*) FILTER (NOT ({fits}) AND {is_word(cell, words)})"


def _fits(cell: str, kind: Kind) -> str:
    """Whether a cell is of a kind, in the engine's language."""
    from ogive.records import engine

    pattern = f" AND regexp_matches({cell}, {engine.text(kind.pattern)})" if kind.pattern else ""
    return f"{kind.cast(cell)} IS NOT NULL{pattern}"


def is_word(cell: str, words: MissingWords) -> str:
    """Whether a cell says that a value is missing, in the engine's language."""
    from ogive.records import engine

    listed = ", ".join(map(engine.text, sorted(words.folded)))
    # IN would be planned as a join, which folds the cells of all rows, numbers too
    return f"list_contains([{listed}], lower(trim({cell}, {_BLANKS})))"


_BLANKS = "' ' || chr(9)"


def said(cell: str, words: MissingWords) -> str:
    """Whether a cell holds anything but a word for a missing value, in the engine's language."""
    return f"{cell} IS NOT NULL AND NOT {is_word(cell, words)}"


def has_offset(cell: str, words: MissingWords) -> str:
    """Whether a cell is a time with an offset from UTC other than 0, or with a zone, in the engine's language."""
    offset = f"regexp_matches({cell}, '[T ][0-9].*[+-][0-9]{{2}}(:?[0-9]{{2}})*$')"
    none = f"regexp_matches({cell}, '[+-]00(:?00)*$')"
    zone = f"regexp_matches({cell}, '[A-Za-z]{{2}}')"
    utc = f"regexp_matches({cell}, 'UTC$')"
    return f"{said(cell, words)} AND ({offset} AND NOT {none} OR {zone} AND NOT {utc})"


def wrong(cell: str, kinds: Iterable[Kind], words: MissingWords) -> str:
    """Whether a cell is of none of some kinds and says not that a value is missing, in the engine's language."""
    fits = " OR ".join(f"({_fits(cell, kind)})" for kind in kinds)
    return f"{said(cell, words)} AND NOT ({fits})"


def value(cell: str, kind: Kind, words: MissingWords) -> str:
    """A cell of a column of this kind, null where a word says so, in the engine's language."""
    missing = f"CASE WHEN {is_word(cell, words)} THEN NULL ELSE error('{NOT_OF_ITS_KIND}') END"
    return f"CASE WHEN {cell} IS NULL THEN NULL ELSE COALESCE({kind.cast(cell)}, {missing}) END"


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text."""
    return type_words(kind) == "text"


class TextColumns:
    """The measured columns of a table, of which some may be text that holds numbers, dates or times.

    Args:
        source: The table.
        words: What says that a value is missing.
    """

    def __init__(self, source: Source, words: MissingWords) -> None:
        self._source = source
        self._words = words
        self._kinds: dict[str, Kind] = {}
        self._missing: set[str] = set()

    def is_missing(self, column: str) -> bool:
        """Whether a column of text has nothing but words for missing values, after its type was asked for."""
        return column in self._missing

    def type(self, column: str) -> Any:
        """Arrow type of a column's values, judged by the first ones where they are written as text."""
        declared = self._source.type(column)
        if not is_text(declared):
            return declared
        if column not in self._kinds:
            self._kinds[column] = self._judged(column)
        kind = self._kinds[column]
        return declared if kind is TEXT else kind.arrow

    def _judged(self, column: str) -> Kind:
        from ogive.records import engine

        if self._source.number_remedy(column):  # points of its numbers stand between thousands
            return TEXT
        known: list[str] = []
        found: set[str] = set()
        for (array,) in self._source.batches((column,)):
            for cell in _decoded(array).unique().drop_null().to_pylist():
                if cell in self._words:
                    found.add(cell)
                else:
                    known.append(cell)
            if len(known) >= SAMPLE_ROWS:
                break
        cells = pa.array(known[:SAMPLE_ROWS], pa.string())
        ((kind, _),) = judge(engine.of_arrow(cells), ("cell",), self._words).values()
        if kind is NOTHING:
            self._missing.add(column)
        if kind in (NOTHING, TEXT):
            return TEXT
        if found:
            tell(column, self._source.name, self._words, found)
        return kind

    def has_offsets(self, column: str) -> bool:
        """Whether a column of text holds times with an offset from UTC, or a zone, after its type was asked for."""
        if self._kinds.get(column) is not TIMES:
            return False
        from ogive.records import engine

        condition = has_offset(engine.name("cell"), self._words)
        batches = self._source.batches((column,))
        return any(pc.any(engine.read_text(_decoded(array), condition)).as_py() for (array,) in batches)

    def read(self, column: str, array: Any) -> Any:
        """The values of some cells, null where a word says so; arrays of other types as they are.

        Raises:
            DataError: a cell is not of the kind of the first ones.
        """
        kind = self._kinds.get(column)
        if kind is None or not is_text(array.type):
            return array
        from ogive.records import engine

        try:
            return engine.read_text(_decoded(array), value(engine.name("cell"), kind, self._words))
        except engine.ENGINE_ERRORS:
            raise DataError(
                f"column {quoted(column)} of {plain(self._source.name)} holds text that is neither a number nor an "
                f"ISO date; {engine.CELLS_HINT}"
            ) from None


class LabelCells:
    """The cells of labels and conditions, where a table does not declare what kind a column is of.

    What a cell means must not depend on other records. So a word such as NA means a missing value there whatever the
    other cells are, and a column of text may hold no cell that is a number, a date, a time or a truth value: without
    its texts the column would be of another kind.

    Args:
        source: The table.
        words: What says that a value is missing.
    """

    def __init__(self, source: Source, words: MissingWords) -> None:
        self._source = source
        self._words = words
        self._seen: dict[str, set[str]] = {}

    def read(self, column: str, array: Any) -> Any:
        """The cells of a column of text, null where a word says so; arrays of declared or other types as they are.

        Raises:
            DataError: a cell is of a kind that is not text.
        """
        if not self._source.guesses_kinds or not is_text(array.type):
            return array
        cells = _decoded(array)
        seen = self._seen.setdefault(column, set())
        new = [cell for cell in cells.unique().drop_null().to_pylist() if cell not in seen]
        if any_other_kind([cell for cell in new if cell not in self._words]):
            raise DataError(
                f"column {quoted(column)} of {plain(self._source.name)} mixes text with numbers, dates or truth "
                "values, and a CSV file does not declare its type; write codes as words, or use Parquet or a data frame"
            )
        seen.update(new)
        missing = [cell for cell in seen if cell in self._words]
        if not missing:
            return cells
        if column not in self._source.told:
            self._source.told.add(column)
            tell(column, self._source.name, self._words, missing)
        return pc.if_else(pc.is_in(cells, value_set=pa.array(missing, pa.string())), None, cells)

    def labels(self, column: str, array: Any, *, keep: bool = False) -> Any:
        """The same of labels, which are told apart.

        Args:
            column: Their name.
            array: Some cells.
            keep: Whether named numbers are labels, since one of them was declared.

        Raises:
            DataError: a cell is of a kind that is not text, or a number that floats take for its neighbors.
        """
        if self._source.guesses_kinds and pa.types.is_floating(array.type):
            sizes = np.abs(array.to_numpy(zero_copy_only=False))
            if np.any(np.isfinite(sizes) & (sizes >= MAX_WHOLE)):
                raise DataError(
                    f"column {quoted(column)} of {plain(self._source.name)} has numbers from 2^53 on, which are read "
                    "as floats from a CSV file and not told apart; write codes as words, or use Parquet or a data frame"
                )
        found = self.read(column, array)
        return found if keep else without_named(found, self._words)


def any_other_kind(cells: Sequence[str]) -> bool:
    """Whether some texts are numbers, dates, times or truth values."""
    if not cells:
        return False
    from ogive.records import engine

    fits = " OR ".join(f"({_fits(engine.name('cell'), kind)})" for kind in KINDS)
    return engine.of_arrow(pa.array(cells, pa.string())).filter(fits).limit(1).fetchone() is not None


def _decoded(array: Any) -> Any:
    """Text of any Arrow type as plain strings."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return array.cast(pa.string())
