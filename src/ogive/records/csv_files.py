"""CSV files: what their first rows say of a column's kind, and some columns at a time.

The engine is told everything and guesses nothing, so that one table has one reading.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from ogive.errors import DataError
from ogive.records.csv_header import read_header
from ogive.records.digests import file_digest
from ogive.records.engine import CELLS_HINT, one_line, read_csv, stream

CHUNK_BYTES = 1 << 20
SAMPLE_ROWS = 20_000


class _Kind(NamedTuple):
    """What the cells of a CSV column may be: how they are written, and the type they are read as."""

    pattern: str
    ibis: str
    engine: str
    arrow: Any


KINDS = (
    _Kind("", "float64", "DOUBLE", pa.float64()),
    _Kind(r"(?i)^(true|false)$", "boolean", "BOOLEAN", pa.bool_()),
    _Kind(r"^\d{4}-\d{2}-\d{2}$", "date", "DATE", pa.date32()),
    # in UTC where no offset is written; the type without a zone would ignore the offset
    _Kind(r"^\d{4}-\d{2}-\d{2}", "timestamp('UTC')", "TIMESTAMPTZ", pa.timestamp("us", "UTC")),
)
TEXT = _Kind("", "string", "VARCHAR", pa.string())
NOTHING = _Kind("", "string", "VARCHAR", pa.null())


class CsvSource:
    """A CSV file with a header, comma, semicolon, tab or bar between fields, plain or gzipped."""

    numbers_hint = CELLS_HINT

    def __init__(self, path: Path, *, separator: str | None) -> None:
        self._path = path
        self.name = str(path)
        with one_line(path):
            if path.name.lower().endswith(".gz"):
                _check_gzip(path)
            self.columns, self._separator, self.has_names = read_header(path, separator)
        # names of our own: an engine would rename those that differ in case only
        self._names = [f"field{i}" for i in range(len(self.columns))]
        self._kinds: dict[str, _Kind] = {}

    def _table(self, columns: Sequence[str] = (), identifiers: Collection[str] = ()) -> Any:
        """The file with some columns typed and all others left as text, so that their contents do not matter."""
        types = dict.fromkeys(self._names, "VARCHAR")
        for column in columns:
            if column not in identifiers:
                types[self._name(column)] = self._kind(column).engine
        table = read_csv(
            self._path,
            auto_detect=False,
            columns=types,
            header=True,
            delim=self._separator,
            quote='"',
            escape='"',
            strict_mode=True,
            dateformat="%Y-%m-%d",  # else a time would be cut to its day in silence
        )
        return table.select(*(self._name(column) for column in columns)) if columns else table

    def _name(self, column: str) -> str:
        return self._names[self.columns.index(column)]

    def rows(self) -> int:
        """Number of rows, by one pass over the file."""
        with one_line(self._path):
            return int(self._table().count().to_pyarrow().as_py())

    def digest(self) -> bytes:
        """SHA-256 of the file's bytes."""
        return file_digest(self._path)

    def is_empty(self) -> bool:
        """Whether nothing follows the header."""
        with one_line(self._path):
            return int(self._table().limit(1).to_pyarrow().num_rows) == 0

    def type(self, column: str) -> Any:
        """Arrow type of a column, judged by the first rows, or by the first values if those have none.

        Every kind of number is read as float64; a column without any value is of the type null.
        """
        return self._kind(column).arrow

    def _kind(self, column: str) -> _Kind:
        """The first kind that fits all of the first rows, or all of the first values if those rows have none."""
        if column not in self._kinds:
            with one_line(self._path, [column]):
                cells = self._table().select(cell=self._name(column))
                found = _fitting(cells.limit(SAMPLE_ROWS).cell)
                if found is NOTHING:
                    found = _fitting(cells.filter(cells.cell.notnull()).limit(SAMPLE_ROWS).cell)
            self._kinds[column] = found
        return self._kinds[column]

    def batches(self, columns: Sequence[str], *, identifiers: Collection[str] = ()) -> Iterator[tuple[Any, ...]]:
        """The columns, streamed; identifiers as they are written, since floats would merge long numbers."""
        with one_line(self._path, columns):
            yield from stream(self._table(columns, identifiers))


def _fitting(cell: Any) -> _Kind:
    """The first kind that fits all values of some cells, which are text or missing."""
    written = cell.notnull()
    fits = [(cell.re_search(kind.pattern) & cell.try_cast(kind.ibis).notnull()).sum(where=written) for kind in KINDS]
    counts = cell.as_table().aggregate(
        [written.sum().name("written"), *(fit.name(f"fit{i}") for i, fit in enumerate(fits))]
    )
    total, *fitting = counts.to_pyarrow().to_pylist()[0].values()
    if not total:
        return NOTHING
    return next((kind for kind, count in zip(KINDS, fitting, strict=True) if count == total), TEXT)


def _check_gzip(path: Path) -> None:
    """Decompress to the end, since the engine takes a file that was cut short for a shorter table."""
    try:
        with gzip.open(path, "rb") as file:
            while file.read(CHUNK_BYTES):
                pass
    except EOFError:
        raise DataError(f"{path} is cut short: the compressed data end too early") from None
    except (gzip.BadGzipFile, zlib.error):
        raise DataError(f"{path} is damaged: it does not decompress") from None
