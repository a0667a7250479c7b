"""Tables in Parquet: a file, or a folder whose files are the parts of one table."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from ogive.errors import DataError, plain, quoted
from ogive.records.digests import file_digest
from ogive.records.engine import one_line, read_parquet, stream
from ogive.records.sources import TypedSource

SUFFIXES = (".parquet", ".pq")
_HIDDEN = ("_", ".")
"""What the names of files begin with that writers of tables put beside the parts."""


def folder_source(folder: Path) -> ParquetSource:
    """The table whose parts are the files of a folder, in the order of their names.

    Raises:
        DataError: there is no part, something else is there, or a part has other columns than the first.
    """
    try:
        inside = sorted(each for each in folder.iterdir() if not each.name.startswith(_HIDDEN))
    except OSError as problem:
        raise DataError(f"{plain(folder)} cannot be read: {(problem.strerror or 'unknown reason').lower()}") from None
    for each in inside:
        if each.is_dir() or not each.name.lower().endswith(SUFFIXES):
            what = "folder" if each.is_dir() else "file"
            raise DataError(
                f"{plain(folder)} is a folder with the {what} {plain(each.name)}; name a file, or a folder that has "
                "Parquet files alone, which are then parts of one table"
            )
    if not inside:
        raise DataError(f"{plain(folder)} is a folder without Parquet files; name a file")
    return ParquetSource(folder, inside)


class ParquetSource(TypedSource):
    """One or more Parquet files, read in batches.

    Args:
        path: What the table is called by: the file, or the folder of the parts.
        parts: The files; at least one.

    Raises:
        DataError: a part cannot be read, or has other columns than the first.
    """

    def __init__(self, path: Path, parts: Sequence[Path]) -> None:
        # loaded only for a file of this kind
        import pyarrow.parquet as pq

        self._path, self._parts = path, tuple(parts)
        self.name = str(path)
        self._rows = 0
        for number, part in enumerate(parts):
            with one_line(part):
                about = pq.read_metadata(part)
                schema = about.schema.to_arrow_schema().remove_metadata()
                if number == 0:
                    self._schema = schema
                    self.columns = distinct(schema.names, part)
            if (schema.names, schema.types) != (self._schema.names, self._schema.types):
                first = plain(parts[0].name)
                raise DataError(f"{plain(part)} has other columns than {first}: {self._difference(schema)}")
            self._rows += about.num_rows

    def _difference(self, schema: Any) -> str:
        """The first column in which a part differs from the first one."""
        for name in self._schema.names:
            if name not in schema.names:
                return f"it lacks {quoted(name)}"
            if schema.field(name).type != self._schema.field(name).type:
                return f"{quoted(name)} holds {schema.field(name).type}, and {self._schema.field(name).type} there"
        more = [name for name in schema.names if name not in self._schema.names]
        return f"it has {quoted(more[0])} as well" if more else "their order is another"

    def rows(self) -> int:
        """Number of rows, from the index of each file."""
        return int(self._rows)

    def digest(self) -> bytes:
        """SHA-256 of the file's bytes; of several parts, of their digests in order, whatever the parts are called."""
        if self._parts == (self._path,):
            return file_digest(self._path)
        found = hashlib.sha256(b"ogive folder 1\n")
        for part in self._parts:
            found.update(file_digest(part))
        return found.digest()

    def is_empty(self) -> bool:
        """Whether no file's index counts a row."""
        return self.rows() == 0

    def type(self, column: str) -> Any:
        """Arrow type of a column, from the schema."""
        return self._schema.field(column).type

    def batches(self, columns: Sequence[str], *, identifiers: Collection[str] = ()) -> Iterator[tuple[Any, ...]]:
        """Read the columns batch by batch, part after part."""
        with one_line(self._path):
            yield from stream(read_parquet(self._parts), columns)


def distinct(names: list[str], path: Path) -> tuple[str, ...]:
    """Names of columns, none of which comes twice.

    Raises:
        DataError: one does.
    """
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{plain(path)} has two columns named {quoted(name)}; rename one")
    return tuple(names)
