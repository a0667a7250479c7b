"""What the cells of columns hold, text too: numbers or codes of labels, and whether they are what is declared.

Numbers of more than 53 bits are read as their nearest float64, times as microseconds (exact for the years 1685 to
2255).
"""

from __future__ import annotations

import contextlib
import datetime
import math
import re
from collections.abc import Iterable, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ogive.columns import Binning, Label, LabelValue, Membership, ReadColumn, categories, grids
from ogive.core.arrays import Float64, Int64
from ogive.errors import DataError, plain, quoted
from ogive.records.labels import (
    MISSING,
    LabelCodes,
    check_category_kind,
    check_label_kind,
    declared_values,
    where_missing,
)
from ogive.records.missing_words import MissingWords, no_such_column, tell
from ogive.records.sources import Source, Table, is_text_type

TICKS_PER_DAY = {
    unit: 86_400 * per_second for unit, per_second in {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}.items()
}


def kind_of(arrow_type: Any) -> str | None:
    """The grid unit that fits an Arrow type: "number", "date" or "datetime"; None where nothing fits."""
    if pa.types.is_dictionary(arrow_type):
        return kind_of(arrow_type.value_type)
    if (
        pa.types.is_integer(arrow_type)
        or pa.types.is_floating(arrow_type)
        or pa.types.is_boolean(arrow_type)
        or pa.types.is_decimal(arrow_type)
    ):
        return "number"
    if pa.types.is_date(arrow_type):
        return "date"
    if pa.types.is_timestamp(arrow_type):
        return "datetime"
    return None


def type_words(arrow_type: Any) -> str:
    """What a column of this Arrow type holds, in words for an error message."""
    if pa.types.is_dictionary(arrow_type):
        return type_words(arrow_type.value_type)
    match kind_of(arrow_type):
        case "number":
            return "numbers"
        case "date":
            return "dates"
        case "datetime":
            return "times"
    if pa.types.is_null(arrow_type):
        return "no values at all"
    if is_text_type(arrow_type):
        return "text"
    return f"values of type {arrow_type}"


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is text, or a dictionary of texts."""
    return is_text_type(kind.value_type if pa.types.is_dictionary(kind) else kind)


def content_kind(arrow_type: Any) -> str:
    """What `type_words` says, but for truth values, which are not numbers here."""
    if pa.types.is_dictionary(arrow_type):
        return content_kind(arrow_type.value_type)
    return "truth values" if pa.types.is_boolean(arrow_type) else type_words(arrow_type)


def float_values(array: Any, unit: str) -> Float64:
    """A column's values as numbers of a grid.

    Args:
        array: Arrow array of a type whose `kind_of` is `unit`, or of the other where they are "date" and "datetime".
        unit: The grid's unit.
    """
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if pa.types.is_date(kind):
        days = _whole(array) if pa.types.is_date32(kind) else _whole(array) // 86_400_000
        return _with_missing(array, days.astype(np.float64) * (grids.MICROSECONDS_PER_DAY if unit == "datetime" else 1))
    if pa.types.is_timestamp(kind):
        ticks = _whole(array)
        if unit == "date":
            return _with_missing(array, (ticks // TICKS_PER_DAY[kind.unit]).astype(np.float64))
        if kind.unit == "ns":
            return _with_missing(array, (ticks // 1000).astype(np.float64))
        return _with_missing(array, ticks.astype(np.float64) * {"s": 1e6, "ms": 1e3, "us": 1.0}[kind.unit])
    if pa.types.is_decimal(kind):
        # by way of text, the only conversion that rounds to the nearest float
        array = pc.cast(array, pa.string())
    elif pa.types.is_boolean(kind):
        array = pc.cast(array, pa.uint8())
    return _floats(pc.cast(array, pa.float64(), safe=False))


def _floats(array: Any) -> Float64:
    """Arrow's floats as numpy's, NaN where one is missing; its own conversion would import pandas."""
    if array.null_count:
        array = array.fill_null(math.nan)
    if not isinstance(array, pa.Array) or not len(array):
        return np.asarray(array.to_numpy(), dtype=np.float64)
    return np.frombuffer(array.buffers()[1], dtype=np.float64, count=len(array), offset=8 * array.offset)


def _whole(array: Any) -> Int64:
    """Dates and times as the integers that Arrow stores; what is missing is 0."""
    width = pa.int32() if pa.types.is_date32(array.type) else pa.int64()
    whole: Int64 = array.view(width).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return whole


def _with_missing(array: Any, floats: Float64) -> Float64:
    if array.null_count:
        floats[array.is_null().to_numpy(zero_copy_only=False)] = np.nan
    return floats


def label_codes(array: Any, labels: LabelCodes) -> Int64:
    """The code of each label of an array, which indexes `labels.values`; null and NaN are `MISSING`."""
    encoded = array if pa.types.is_dictionary(array.type) else pc.dictionary_encode(array)
    indices = encoded.indices
    numbers = [labels.code(value) for value in encoded.dictionary.to_pylist()]
    if indices.null_count:
        indices = pc.fill_null(indices, len(numbers))
    places = indices.to_numpy(zero_copy_only=False)
    codes: Int64 = np.array([*numbers, MISSING], dtype=np.int64)[places]
    return codes


def as_truth(value: LabelValue, kind: Any) -> LabelValue:
    """A value that a column is compared with: of a column of truth values the texts TRUE and FALSE are these."""
    return categories.TRUTH.get(categories.trimmed(value), value) if content_kind(kind) == "truth values" else value


def compared_number(value: LabelValue, unit: str) -> float:
    """The number of a grid that a value is compared as: days or microseconds of dates and times."""
    if unit == "number":
        return float(value)
    text = categories.trimmed(str(value))
    if unit == "date":
        return float((datetime.date.fromisoformat(text) - grids.EPOCH).days)
    moment = datetime.datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
    since = moment - grids.EPOCH_TIME
    return float(since.days * grids.MICROSECONDS_PER_DAY + since.seconds * 1_000_000 + since.microseconds)


def without_named(array: Any, words: MissingWords) -> Any:
    """Cells that are null where a named word, number or date says that they are missing."""
    if not words.named or pa.types.is_null(array.type) or content_kind(array.type) == "truth values":
        return array
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    unit = kind_of(kind)
    if pa.types.is_integer(kind):  # exact, where floats would take numbers beyond 2^53 for their neighbors
        limits = np.iinfo(kind.to_pandas_dtype())
        held = [n for n in words.whole_numbers if int(limits.min) <= n <= int(limits.max)]
        marked = pc.is_in(array, value_set=pa.array(held, kind))
    elif unit is not None:
        marked = pa.array(np.isin(float_values(array, unit), named_numbers(words, unit)))
    elif is_text(kind):
        return without_words(array, words.texts)
    else:
        return array
    return pc.if_else(marked, pa.scalar(None, kind), array) if pc.any(marked).as_py() else array


def without_words(array: Any, words: Set[str]) -> Any:
    """Texts that are null where they are one of some words, which are in small letters and without blanks around."""
    array = (array.dictionary_decode() if pa.types.is_dictionary(array.type) else array).cast(pa.large_string())
    folded = pc.utf8_lower(pc.utf8_trim(array, categories.BLANKS))
    folded = pc.replace_substring_regex(folded, pattern=r"^(-?[0-9]+)\.0+$", replacement=r"\1")  # 9.0 is 9
    marked = pc.is_in(folded, value_set=pa.array(sorted(words), folded.type))
    return pc.if_else(marked, pa.scalar(None, array.type), array) if pc.any(marked).as_py() else array


def is_named(value: LabelValue, words: MissingWords) -> bool:
    """Whether a declared value is one of the named words and numbers."""
    if isinstance(value, bool | str):
        return words.names(value)
    return value in words.whole_numbers if value == value // 1 else value in named_numbers(words, "number")


def named_numbers(words: MissingWords, unit: str) -> list[float]:
    """The named words that write a number of a grid's unit."""
    results = []
    for word in words.named:
        with contextlib.suppress(ValueError, OverflowError):
            results.append(compared_number(word, unit))
    return results


# --- Columns of text that hold numbers, dates or times
#
# One engine reads the text of every container, so that one column has one reading. A word such as NA means that a value
# is missing only where all other values are of one kind; in a column of other text it is a text like any other.

SAMPLE_ROWS = 20_000
_ISO_DATE = "'%Y-%m-%d'"


class Kind(NamedTuple):
    """What the cells of a column of text may be: how they are written, and the type they are read as."""

    pattern: str
    engine: str
    arrow: Any

    def cast(self, cell: str) -> str:
        """A cell as a value of this kind in the engine's language; null where it is none."""
        cell = unpadded(cell)
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
    """The first kind that fits all values of each column, and how many of its cells are words for missing."""
    results: dict[str, Judged] = dict.fromkeys(names, (TEXT, 0))
    left = list(names)
    for kind in KINDS:
        if not left:
            break
        counts = iter(rows.aggregate(", ".join(_counts(name, kind, words) for name in left)).fetchone())
        for name in list(left):
            all_, fitting, marked = next(counts), next(counts), next(counts)
            if not all_:
                results[name] = (NOTHING, 0)
            elif fitting and fitting + marked == all_:
                results[name] = (kind, marked)
            elif marked == all_:
                results[name] = (TEXT, marked)
        left = [name for name in left if results[name][0] is TEXT]
    return results


def _counts(column: str, kind: Kind, words: MissingWords) -> str:
    """How many cells are not null, how many are of a kind, and how many others say that a value is missing."""
    from ogive.records import engine

    cell = engine.name(column)
    fits = _fits(cell, kind)
    return f"count({cell}), count(*) FILTER ({fits}), count(*) FILTER (NOT ({fits}) AND {is_word(cell, words)})"


def _fits(cell: str, kind: Kind) -> str:
    """Whether a cell is of a kind, in the engine's language."""
    from ogive.records import engine

    pattern = f" AND regexp_matches({unpadded(cell)}, {engine.text(kind.pattern)})" if kind.pattern else ""
    return f"{kind.cast(cell)} IS NOT NULL{pattern}"


def unpadded(cell: str) -> str:
    """A cell without the blanks around it, in the engine's language."""
    blanks = f"'^[{categories.BLANKS}]+|[{categories.BLANKS}]+$'"
    return f"regexp_replace({cell}, {blanks},'','g')"  # several times as fast as trim


def is_word(cell: str, words: MissingWords) -> str:
    """Whether a cell says that a value is missing, in the engine's language."""
    from ogive.records import engine

    listed = ", ".join(map(engine.text, sorted(words.folded)))
    # IN would be planned as a join, which folds the cells of all rows, numbers too
    return f"list_contains([{listed}], lower({unpadded(cell)}))"


def said(cell: str, words: MissingWords) -> str:
    """Whether a cell holds anything but a word for a missing value, in the engine's language."""
    return f"{cell} IS NOT NULL AND NOT {is_word(cell, words)}"


def has_offset(cell: str, words: MissingWords) -> str:
    """Whether a cell is a time with an offset from UTC other than 0, or with a zone, in the engine's language."""
    cell = unpadded(cell)
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


class TextColumns:
    """The measured columns of a table, of which some may be text that holds numbers, dates or times."""

    def __init__(self, source: Source, words: MissingWords) -> None:
        self._source = source
        self._words = words
        self._kinds: dict[str, Kind] = {}
        self._missing: set[str] = set()

    def is_missing(self, column: str) -> bool:
        """Whether a column of text has nothing but words for missing values; known after a call of `type`."""
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
        results: set[str] = set()
        for (array,) in self._source.batches((column,)):
            for cell in _decoded(array).unique().drop_null().to_pylist():
                if cell in self._words:
                    results.add(cell)
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
        if results:
            tell(column, self._source.name, self._words, results)
        return kind

    def has_offsets(self, column: str) -> bool:
        """Whether a column of text holds times with an offset from UTC, or a zone; known after a call of `type`."""
        if self._kinds.get(column) is not TIMES:
            return False
        from ogive.records import engine

        condition = has_offset(engine.name("cell"), self._words)
        batches = self._source.batches((column,))
        return any(pc.any(engine.read_text(_decoded(array), condition)).as_py() for (array,) in batches)

    def read(self, column: str, array: Any) -> Any:
        """The values of some cells, null where a word says so; arrays of other types as they are."""
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
    """

    def __init__(self, source: Source, words: MissingWords) -> None:
        self._source = source
        self._words = words
        self._seen: dict[str, set[str]] = {}

    def read(self, column: str, array: Any) -> Any:
        """The cells of a column of text, null where a word says so; arrays of declared or other types as they are."""
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
        """The cells of labels, null where a named word says so too, unless declared labels are such words: `keep`."""
        if self._source.guesses_kinds and pa.types.is_floating(array.type):
            sizes = np.abs(array.to_numpy(zero_copy_only=False))
            if np.any(np.isfinite(sizes) & (sizes >= grids.MAX_WHOLE)):
                raise DataError(
                    f"column {quoted(column)} of {plain(self._source.name)} has numbers from 2^53 on, which are read "
                    "as floats from a CSV file and not told apart; write codes as words, or use Parquet or a data frame"
                )
        result = self.read(column, array)
        return result if keep else without_named(result, self._words)


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


# --- Checks that columns hold what a question declares of them

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
    """Refuse a column that is not there or does not hold what is declared of it."""
    if column.column not in source.columns:
        raise no_such_column(source, column.column)
    if isinstance(column, Binning):
        kind = (measured or source).type(column.column)
        if needs_values or not pa.types.is_null(kind):
            _check_values(source, measured, kind, column, listable)
        return
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
    """
    number = next((value for value in values if not isinstance(value, bool) and _is_number(value)), None)
    if number is not None and is_text(source.type(column)) and (remedy := source.number_remedy(column)):
        raise DataError(f"column {quoted(column)} holds text, but {plain(number)} is a number; {plain(remedy)}")


def _is_number(value: LabelValue) -> bool:
    """Whether a value is a number, or a text that writes one."""
    return not isinstance(value, str) or re.fullmatch(r"[-+]?[0-9]*[.]?[0-9]+", categories.trimmed(value)) is not None


def _check_unnamed(column: Label | Membership, words: MissingWords) -> None:
    """Refuse to count a value that was named as missing, as conditions do."""
    for value in declared_values(column):
        if is_named(value, words):
            raise DataError(
                f"{quoted(value)} means a missing value as was said with `na_values=`, so it is not a value of column "
                f"{quoted(column.column)}; such records are those with {where_missing(column.column)}"
            )


def _text_hint(source: Table, measured: TextColumns | None, binning: Binning, listable: bool) -> str:
    """The end of a message on a column of text: where it goes wrong, and what would be right."""
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


def _check_values(
    source: Table, measured: TextColumns | None, arrow_type: Any, binning: Binning, listable: bool
) -> None:
    """Refuse a column that does not hold what the grid's bounds are, or days of times that are not days of UTC."""
    column, unit = binning.column, binning.grid.unit
    kind = kind_of(arrow_type)
    if kind == unit == "number":
        return
    holds = type_words(arrow_type)
    if kind is None:
        hint = _text_hint(source, measured, binning, listable) if is_text(arrow_type) else ""
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
    if unit != "date" or zone is None:
        return
    line = source.offset_line(column)
    if line is not None or (measured is not None and measured.has_offsets(column)):
        first = "" if line is None else f" (first on line {line})"
        raise DataError(
            f"column {quoted(column)} holds times with an offset from UTC{first}, whose "
            "days are not those of UTC; take the offset away to count its days, convert the column to UTC, or write "
            "the bounds as times"
        )
