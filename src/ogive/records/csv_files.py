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

from ogive.errors import DataError, plain
from ogive.records import engine
from ogive.records.csv_header import read_header
from ogive.records.digests import file_digest
from ogive.records.engine import CELLS_HINT, one_line, read_csv, stream

CHUNK_BYTES = 1 << 20
# what is compressed may unpack to so many bytes in any case, and beyond that to so many times its size
UNPACKED_FREELY = 1 << 28
MOST_RATIO = 200
SAMPLE_ROWS = 20_000
JUDGED_AT_ONCE = 100


class _Kind(NamedTuple):
    """What the cells of a CSV column may be: how they are written, and the type they are read as."""

    pattern: str
    engine: str
    arrow: Any


KINDS = (
    _Kind("", "DOUBLE", pa.float64()),
    _Kind(r"(?i)^(true|false)$", "BOOLEAN", pa.bool_()),
    _Kind(r"^\d{4}-\d{2}-\d{2}$", "DATE", pa.date32()),
    # in UTC where no offset is written; the type without a zone would ignore the offset
    _Kind(r"^\d{4}-\d{2}-\d{2}", "TIMESTAMPTZ", pa.timestamp("us", "UTC")),
)
TEXT = _Kind("", "VARCHAR", pa.string())
NOTHING = _Kind("", "VARCHAR", pa.null())


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

    def _table(self, typed: Sequence[str] = ()) -> Any:
        """The file with some columns typed and all others left as text, so that their contents do not matter."""
        types = dict.fromkeys(self._names, "VARCHAR")
        for column in typed:
            types[self._name(column)] = self._kinds[column].engine
        return read_csv(self._path, types=types, separator=self._separator)

    def _name(self, column: str) -> str:
        return self._names[self.columns.index(column)]

    def rows(self) -> int:
        """Number of rows, by one pass over the file."""
        with one_line(self._path):
            return int(self._table().aggregate("count(*)").fetchone()[0])

    def digest(self) -> bytes:
        """SHA-256 of the file's bytes."""
        return file_digest(self._path)

    def is_empty(self) -> bool:
        """Whether nothing follows the header."""
        with one_line(self._path):
            return self._table().limit(1).fetchone() is None

    def type(self, column: str) -> Any:
        """Arrow type of a column, judged by the first rows, or by the first values if those have none.

        Every kind of number is read as float64; a column without any value is of the type null.
        """
        self._judge([column])
        return self._kinds[column].arrow

    def _judge(self, columns: Sequence[str]) -> None:
        """Find each column's kind, that of all its first rows, or of its first values if those rows have none."""
        unknown = [column for column in columns if column not in self._kinds]
        for start in range(0, len(unknown), JUDGED_AT_ONCE):
            some = unknown[start : start + JUDGED_AT_ONCE]
            with one_line(self._path, some):
                table = self._table()
                found = _fitting(table.limit(SAMPLE_ROWS), [self._name(column) for column in some])
                for name in [name for name, kind in found.items() if kind is NOTHING]:
                    found |= _fitting(table.filter(f"{engine.name(name)} IS NOT NULL").limit(SAMPLE_ROWS), [name])
                self._kinds |= {column: found[self._name(column)] for column in some}

    def batches(self, columns: Sequence[str], *, identifiers: Collection[str] = ()) -> Iterator[tuple[Any, ...]]:
        """The columns, streamed; identifiers as they are written, since floats would merge long numbers."""
        with one_line(self._path, columns):
            typed = [column for column in columns if column not in identifiers]
            self._judge(typed)
            yield from stream(self._table(typed), [self._name(column) for column in columns])


def _fitting(rows: Any, names: Sequence[str]) -> dict[str, _Kind]:
    """The first kind that fits all values of each column of some rows, which are text or missing."""
    found, left = dict.fromkeys(names, TEXT), list(names)
    for kind in KINDS:
        if not left:
            break
        counts = iter(rows.aggregate(", ".join(_counts(name, kind) for name in left)).fetchone())
        written = {name: (next(counts), next(counts)) for name in left}
        found |= {name: kind for name, (all_, fitting) in written.items() if all_ == fitting}
        found |= {name: NOTHING for name, (all_, _) in written.items() if not all_}
        left = [name for name in left if found[name] is TEXT]
    return found


def _counts(column: str, kind: _Kind) -> str:
    """How many values there are, and how many are of a kind."""
    cell = engine.name(column)
    fits = f"TRY_CAST({cell} AS {kind.engine}) IS NOT NULL"
    if kind.pattern:
        fits += f" AND regexp_matches({cell}, {engine.text(kind.pattern)})"
    return f"count({cell}), count(*) FILTER ({fits})"


def _check_gzip(path: Path) -> None:
    """Decompress to the end, since the engine takes a file that was cut short for a shorter table."""
    most = max(UNPACKED_FREELY, MOST_RATIO * path.stat().st_size)
    try:
        with gzip.open(path, "rb") as file:
            while file.read(CHUNK_BYTES):
                if file.tell() > most:
                    raise DataError(
                        f"{plain(path)} unpacks to more than {MOST_RATIO} times its size, which tables do not; "
                        "unpack it first"
                    )
    except EOFError:
        raise DataError(f"{plain(path)} is cut short: the compressed data end too early") from None
    except (gzip.BadGzipFile, zlib.error):
        raise DataError(f"{plain(path)} is damaged: it does not decompress") from None
