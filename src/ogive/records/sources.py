"""Where records may lie: columns held in memory, and digests of tables. Files are in `ogive.records.files`.

Every source hands out aligned batches of some columns as Arrow arrays, so that sums are written once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import numbers
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ogive.core.checks import is_of_loaded
from ogive.errors import DataError, plain, quoted
from ogive.records.missing_words import USUAL, MissingWords, names_shown, tell

if TYPE_CHECKING:
    import narwhals as nw

# --- Digests of tables
#
# A file has the digest of its bytes. A digest of columns in memory covers names, kinds and values, and nothing of how
# they are laid out: chunks, slices, dictionaries and the width of offsets do not matter. As secret as the data: whoever
# can guess the table can check the guess.

READ_BYTES = 1 << 20
BLOCK_ROWS = 1 << 18
"""Rows that are hashed at a time; another number gives other digests."""


def file_digest(path: Path) -> bytes:
    """SHA-256 of a file's bytes, streamed."""
    result = hashlib.sha256(b"ogive file 1\n")
    buffer = bytearray(READ_BYTES)
    try:
        with path.open("rb", buffering=0) as file:
            while count := file.readinto(buffer):
                result.update(memoryview(buffer)[:count])
    except OSError as problem:
        raise unreadable(path, problem) from None
    return result.digest()


def unreadable(path: Path, problem: OSError) -> DataError:
    """The refusal of a file that the operating system does not read."""
    return DataError(f"{plain(path)} cannot be read: {(problem.strerror or 'unknown reason').lower()}")


def columns_digest(columns: Iterable[tuple[str, Any]]) -> bytes:
    """SHA-256 of named columns in their order, each an Arrow array or chunked array."""
    result = hashlib.sha256(b"ogive columns 1\n")
    for name, array in columns:
        chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
        kind = chunked.type.value_type if pa.types.is_dictionary(chunked.type) else chunked.type
        header = json.dumps([name, "text" if is_text_type(kind) else str(kind), len(chunked)]).encode()
        result.update(len(header).to_bytes(8, "big") + header)
        for start in range(0, len(chunked), BLOCK_ROWS):
            pieces = chunked.slice(start, BLOCK_ROWS).chunks
            whole = [piece.dictionary_decode() if pa.types.is_dictionary(piece.type) else piece for piece in pieces]
            _add_block(result, pa.concat_arrays(whole), kind)
    return result.digest()


def is_text_type(kind: Any) -> bool:
    """Whether an Arrow type is one of those of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _add_block(result: Any, array: Any, kind: Any) -> None:
    """Which values are present, as bits; then the values."""
    result.update(np.packbits(array.is_valid().to_numpy(zero_copy_only=False)).tobytes())
    if is_text_type(kind):
        text = pc.fill_null(pc.cast(array, pa.large_string()), "")
        offsets = np.frombuffer(text.buffers()[1], dtype=np.int64)[text.offset : text.offset + len(text) + 1]
        result.update(np.diff(offsets).astype("<i8").tobytes())
        content = text.buffers()[2]
        if content is not None:
            result.update(memoryview(content)[offsets[0] : offsets[-1]])
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        filled = array if not array.null_count else pc.fill_null(array, 0)
        values = filled.to_numpy(zero_copy_only=False)
        if values.dtype.kind == "f":
            values = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
        result.update(np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"), copy=False)))
    else:
        text = json.dumps(array.to_pylist(), default=repr).encode()
        result.update(len(text).to_bytes(8, "big") + text)


# --- Sources

BATCH_ROWS = 1 << 18
KEPT_COLUMNS = 4

# What Arrow and the data frame libraries raise when a column cannot be converted.
CONVERSION_ERRORS = (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError)

TYPED_HINT = "convert the column to numbers first"
"""For columns that have a type of their own."""


class Table:
    """What is known of a table without its rows; as it stands, one whose columns have types of their own."""

    name: str
    """What error messages call the table."""

    columns: tuple[str, ...]
    """Names of the columns, without duplicates."""

    has_names: bool = True
    """Whether `columns` are names beyond doubt and no record, so that a message may show them."""

    numbers_hint: str = TYPED_HINT
    """What makes a column numbers that is text."""

    guesses_kinds: bool = False
    """Whether the kind of a column is guessed from its cells, since the table declares none."""

    def offset_line(self, column: str) -> int | None:
        """The line of the first time that is written with an offset from UTC, or with a zone.

        None where the table has no lines, or its types say the zone.
        """
        return None

    def number_remedy(self, column: str) -> str:
        """What makes numbers of a column of text that holds numbers in a notation that is not read; else nothing."""
        return ""

    def wrong_line(self, column: str, unit: str) -> int | None:
        """The line of the first cell of a column of text that is not a value of a grid of that unit.

        None where the table has no lines, or no cell is wrong by itself.
        """
        return None

    def rows(self) -> int:
        """Number of rows."""
        raise NotImplementedError

    def digest(self) -> bytes:
        """SHA-256 of all contents; as secret as the data."""
        raise NotImplementedError

    def is_empty(self) -> bool:
        """Whether there is no row at all, found without a pass over the table."""
        return self.rows() == 0

    def type(self, column: str) -> Any:
        """Arrow type of a column."""
        raise NotImplementedError


class Source(Table):
    """A table of which some columns can be read, several times."""

    told: set[str]
    """Where kinds are guessed: columns of labels or conditions whose words for missing values were logged already."""

    def batches(self, columns: Sequence[str], *, identifiers: Collection[str] = ()) -> Iterator[tuple[Any, ...]]:
        """Some rows at a time, as Arrow arrays in the order of `columns`; batches follow the rows' order."""
        raise NotImplementedError


class ColumnsSource(Source):
    """Columns already in memory, as Arrow arrays of one length."""

    name = "the data"

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._arrays = {
            name: array if pa.types.is_primitive(array.type) else without_views(array)
            for name, array in columns.items()
        }
        self.columns = tuple(self._arrays)

    def rows(self) -> int:
        return len(next(iter(self._arrays.values()), ()))

    def digest(self) -> bytes:
        return columns_digest(self._arrays.items())

    def type(self, column: str) -> Any:
        return self._arrays[column].type

    def batches(self, columns: Sequence[str], *, identifiers: Collection[str] = ()) -> Iterator[tuple[Any, ...]]:
        """Slices of the columns, without a copy."""
        table = pa.Table.from_arrays([self._arrays[column] for column in columns], names=list(columns))
        for batch in table.to_batches(max_chunksize=BATCH_ROWS):
            yield tuple(batch.columns)


class FrameSource(Source):
    """A data frame of pandas, polars, pyarrow or another library that narwhals reads."""

    name = "the data frame"

    def __init__(self, frame: nw.DataFrame[Any], words: MissingWords) -> None:
        self._frame = frame
        self._names = {str(column): column for column in frame.columns}
        self.columns = tuple(self._names)
        self._words = words
        self._read: dict[str, Any] = {}

    def rows(self) -> int:
        return len(self._frame)

    def digest(self) -> bytes:
        return columns_digest((column, self._column(column)) for column in self.columns)

    def type(self, column: str) -> Any:
        return self._column(column).type

    def batches(self, columns: Sequence[str], *, identifiers: Collection[str] = ()) -> Iterator[tuple[Any, ...]]:
        arrays = {column: self._column(column) for column in columns}
        yield from ColumnsSource(arrays).batches(columns)

    def _column(self, column: str) -> Any:
        if column not in self._read:
            name = self._names[column]
            if name not in self._frame.columns:  # a frame of pandas can be changed in place
                raise DataError(f"the data frame no longer has the column {quoted(column)}")
            while len(self._read) >= KEPT_COLUMNS:  # a copy of a whole wide frame could fill the memory
                del self._read[next(iter(self._read))]
            self._read[column] = without_views(arrow_array(self._frame.get_column(name), column, self._words))
        return self._read[column]


def without_views(array: Any) -> Any:
    """Text as Arrow's `large_string` where it is a `string_view`, or a dictionary of those, which it cannot filter."""
    if pa.types.is_string_view(array.type):
        return array.cast(pa.large_string())
    if not pa.types.is_dictionary(array.type) or not pa.types.is_string_view(array.type.value_type):
        return array
    if isinstance(array, pa.ChunkedArray):
        kind = pa.dictionary(array.type.index_type, pa.large_string())
        return pa.chunked_array([without_views(chunk) for chunk in array.chunks], kind)
    return pa.DictionaryArray.from_arrays(array.indices, array.dictionary.cast(pa.large_string()))


def arrow_array(values: Any, column: str, words: MissingWords = USUAL) -> Any:
    """One column as an Arrow array, without a copy where the memory layout allows it."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if isinstance(values, list | tuple):
        values = _of_one_type(values)
    elif not isinstance(values, np.ndarray):
        _check_sequence(values, column)
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise DataError(
                f"column {quoted(column)} must be one-dimensional, got an array of shape {values.shape}; give one "
                "column"
            )
        if isinstance(values, np.ma.MaskedArray):  # what is masked is missing
            mask = np.ma.getmaskarray(values)
            try:
                return pa.array(_in_arrow_layout(values.data), mask=mask)
            except CONVERSION_ERRORS:
                cells = zip(values.data.tolist(), mask.tolist(), strict=True)
                return arrow_array([None if masked else cell for cell, masked in cells], column, words)
        values = _in_arrow_layout(values)
        if values.dtype.kind in "iuf":
            # pa.array would import pandas to ask whether this is one of its arrays, or of its series
            buffer = pa.py_buffer(np.ascontiguousarray(values))
            return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, buffer])
    try:
        if is_of_loaded(values, "narwhals", "Series"):
            return values.to_arrow()
        return pa.array(values, from_pandas=False if isinstance(values, np.ndarray) else None)
    except CONVERSION_ERRORS:
        if is_of_loaded(values, "narwhals", "Series"):
            values = _in_arrow_layout(values.to_numpy())
        if any(value is np.ma.masked for value in values):  # as in a list of a masked array
            return arrow_array([None if value is np.ma.masked else value for value in values], column, words)
        result = {value for value in values if value in words}
        if result:
            values = [None if value in words else value for value in values]
            tell(column, "the data", words, result)
            with contextlib.suppress(*CONVERSION_ERRORS):
                return pa.array(values, from_pandas=True)
        floats = _nearest_floats(values)
        if floats is not None and any(map(_rounds, values)):
            # rounding them for the sake of another record would make one value of two, for all records
            raise DataError(
                f"column {quoted(column)} mixes whole numbers beyond 2^53 with fractions or with numbers beyond 64 "
                "bits; give it one type"
            ) from None
        if floats is None:
            raise DataError(
                f"column {quoted(column)} must hold values of one kind, numbers or dates; it mixes kinds"
            ) from None
        return floats


def _check_sequence(values: Any, column: str) -> None:
    """Refuse what is not a column."""
    is_frame = is_of_loaded(values, "narwhals", "DataFrame")
    if isinstance(values, Mapping) or is_frame:
        names = names_shown([str(name) for name in (values.columns if is_frame else values)])
        raise DataError(
            f"column {quoted(column)} must be one sequence of values, got a table; give one of its columns {names}"
        )
    if isinstance(values, str | bytes) or not (hasattr(values, "__len__") and hasattr(values, "__getitem__")):
        raise DataError(
            f"column {quoted(column)} must be a sequence of values in the order of the rows, got "
            f"{type(values).__name__}"
        )


def _of_one_type(values: Any) -> Any:
    """A list of floats, or of whole numbers of 64 bits, as the array that Arrow makes of it; any other as it is."""
    kinds = set(map(type, values))
    if kinds == {float}:
        return np.array(values, np.float64)
    if kinds == {int}:
        with contextlib.suppress(OverflowError):
            return np.array(values, np.int64)
    return values


_ARROW_TIMES = {("D", 1), ("s", 1), ("ms", 1), ("us", 1), ("ns", 1)}


def _in_arrow_layout(values: Any) -> Any:
    """A numpy array in a type that Arrow has: bytes in this machine's order, 64-bit floats, times in its units."""
    kind = values.dtype.kind
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if kind == "f" and values.dtype.itemsize > 8:
        with np.errstate(over="ignore"):  # to infinity, which is clipped like every value outside
            return values.astype(np.float64)
    if kind == "M" and np.datetime_data(values.dtype) not in _ARROW_TIMES:
        return values.astype("datetime64[us]")
    return values


def _nearest_floats(values: Any) -> Any:
    """Numbers that Arrow has no common type for, such as whole numbers from 2^64, as floats; None for other values."""
    present = [value for value in values if value is not None]
    if not all(isinstance(value, numbers.Real) and not isinstance(value, bool) for value in present):
        return None
    return pa.array([None if value is None else _nearest_float(value) for value in values], pa.float64())


def _rounds(value: Any) -> bool:
    """Whether a value is a whole number of 64 bits that no float is."""
    return isinstance(value, numbers.Integral) and abs(int(value)) < 1 << 63 and int(float(value)) != value


def _nearest_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def memory_source(data: Any, column: str, words: MissingWords = USUAL) -> Source:
    """The source for a data frame, a dict of columns, or one column."""
    if isinstance(data, Mapping):
        if len(data) > 1:
            _check_indexes(data)
        arrays = {
            str(name): arrow_array(
                values if isinstance(values, np.ndarray | list | tuple) else _plain(values), str(name), words
            )
            for name, values in data.items()
        }
        if len({len(array) for array in arrays.values()}) > 1:
            first, *others = arrays
            other = next(name for name in others if len(arrays[name]) != len(arrays[first]))
            raise DataError(f"the columns must have one length; {quoted(first)} and {quoted(other)} differ")
        return ColumnsSource(arrays)
    if isinstance(data, np.ndarray | list | tuple):
        return ColumnsSource({column: arrow_array(data, column, words)})
    if is_of_loaded(data, "duckdb", "DuckDBPyRelation"):
        raise DataError(
            "a relation of DuckDB has no rows yet; give `relation.to_arrow_table()`, or the address of a table in a "
            "file, such as `duckdb:///file.duckdb?table=visits`"
        )
    if isinstance(data, pa.RecordBatchReader):
        raise DataError("a reader of batches gives its rows only once; give `reader.read_all()`, which is a table")
    import narwhals as nw  # slow to import

    try:
        native = nw.from_native(data, allow_series=True, pass_through=True)
    except (nw.exceptions.DuplicateError, ValueError):
        raise DataError("two columns of the data frame have the same name; rename one") from None
    if isinstance(native, nw.LazyFrame):
        raise DataError("the data frame is lazy; collect it first")
    if isinstance(native, nw.DataFrame):
        names = [str(name) for name in native.columns]
        if len(set(names)) < len(names):
            raise DataError("two columns of the data frame have the same name; rename one")
        return FrameSource(native, words)
    values = _plain(native)
    if isinstance(values, str | bytes) or not hasattr(values, "__len__") or not hasattr(values, "__getitem__"):
        raise DataError(
            "records must be a path, a data frame, a dict of columns or a sequence of numbers, "
            f"got {type(data).__name__}"
        )
    return ColumnsSource({column: arrow_array(values, column, words)})


def _check_indexes(columns: Mapping[Any, Any]) -> None:
    """Refuse series of pandas whose rows have other names, since they would be paired by their places."""
    first: tuple[str, Any] | None = None
    for name, values in columns.items():
        if not is_of_loaded(values, "pandas", "Series"):
            continue
        if first is None:
            first = str(name), values.index
        elif len(values.index) == len(first[1]) and not values.index.equals(first[1]):
            raise DataError(
                f"columns {quoted(first[0])} and {quoted(str(name))} are series of pandas with different indexes; "
                "make them columns of one data frame, or give arrays, which are paired by their places"
            )


def _plain(values: Any) -> Any:
    """A series as narwhals knows it; anything else as it is, ranges as arrays."""
    if isinstance(values, range):
        return np.arange(values.start, values.stop, values.step)
    import narwhals as nw

    return nw.from_native(values, allow_series=True, pass_through=True)
