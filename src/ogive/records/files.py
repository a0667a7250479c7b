"""Tables in files: CSV and Parquet through an embedded DuckDB, Arrow files directly.

Files are streamed, only the columns that are needed, and never loaded. Whatever an engine says about a
file is turned into one line that names the file and the defect, never a value of a record.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ogive.errors import DataError, plain
from ogive.records.csv_files import CsvSource
from ogive.records.digests import file_digest
from ogive.records.engine import one_line
from ogive.records.missing_words import USUAL, MissingWords
from ogive.records.parquet_files import ParquetSource, distinct, folder_source
from ogive.records.sources import BATCH_ROWS, Source, TypedSource, without_views

SUFFIXES = {
    "csv": (".csv", ".csv.gz"),
    "tsv": (".tsv", ".tsv.gz"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc", ".arrows"),
}
END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


def file_source(path: Path, words: MissingWords = USUAL) -> Source:
    """The source for a file, chosen by its suffix, or for a folder of Parquet files.

    Args:
        path: The file or folder.
        words: What says that a value is missing in a file of text.

    Raises:
        DataError: the file is missing, unreadable, of an unknown kind, or cut short.
    """
    name = path.name.lower()
    kind = next((kind for kind, ends in SUFFIXES.items() if name.endswith(ends)), None)
    if path.is_dir():
        return folder_source(path)
    if not path.exists():
        raise DataError(f"no such file: {plain(path)}")
    if kind is None:
        known = ", ".join(end for ends in SUFFIXES.values() for end in ends)
        raise DataError(f"{plain(path)} has an unknown suffix; use one of {known}")
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError as problem:
        raise DataError(f"{plain(path)} cannot be read: {(problem.strerror or 'unknown reason').lower()}") from None
    if path.stat().st_size == 0:
        raise DataError(f"{plain(path)} is empty")
    match kind:
        case "parquet":
            return ParquetSource(path, [path])
        case "arrow":
            return ArrowSource(path)
    return CsvSource(path, separator="\t" if kind == "tsv" else None, words=words)


class ArrowSource(TypedSource):
    """An Arrow IPC file (Feather version 2) or stream, mapped into memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = str(path)
        with one_line(path):
            with pa.memory_map(str(path)) as file:
                is_file = file.read(6) == b"ARROW1"
                file.seek(file.size() - min(len(END_OF_STREAM), file.size()))
                ends = file.read() == END_OF_STREAM
            self._open = pa.ipc.open_file if is_file else pa.ipc.open_stream
            with self._reader() as reader:
                self._schema = reader.schema
        if not is_file and not ends:
            raise DataError(f"{plain(path)} is cut short: the Arrow stream has no end mark")
        with one_line(path):  # names that are not UTF-8 show when they are asked for
            self.columns = distinct(self._schema.names, path)

    @contextlib.contextmanager
    def _reader(self) -> Iterator[Any]:
        with one_line(self._path), pa.memory_map(str(self._path)) as file, self._open(file) as reader:
            yield reader

    def _batches(self) -> Iterator[Any]:
        with self._reader() as reader:
            if hasattr(reader, "num_record_batches"):
                for i in range(reader.num_record_batches):
                    yield reader.get_batch(i)
            else:
                yield from reader

    def rows(self) -> int:
        """Number of rows, by one pass over the batches."""
        return sum(batch.num_rows for batch in self._batches())

    def digest(self) -> bytes:
        """SHA-256 of the file's bytes."""
        return file_digest(self._path)

    def is_empty(self) -> bool:
        """Whether no batch holds a row."""
        return not any(batch.num_rows for batch in self._batches())

    def type(self, column: str) -> Any:
        """Arrow type of a column, from the file's schema."""
        return self._schema.field(column).type

    def batches(self, columns: Sequence[str], *, identifiers: Collection[str] = ()) -> Iterator[tuple[Any, ...]]:
        """Slices of the columns, without a copy, once every offset in them is known to lie within the file."""
        for batch in self._batches():
            with one_line(self._path):
                arrays = [batch.column(column) for column in columns]
                for array in arrays:
                    array.validate(full=True)  # else a damaged file ends the process, or shows memory beyond it
                arrays = [without_views(array) for array in arrays]
            for start in range(0, batch.num_rows, BATCH_ROWS):
                yield tuple(array.slice(start, BATCH_ROWS) for array in arrays)
