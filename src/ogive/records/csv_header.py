"""The first line of a CSV file: names, separator, and whether a message may show it.

Messages list the names of columns. A file without a header has a record in their place, which must not
be shown. The names are shown only where nothing in the first line looks like a value, and the rows below
show that it is no row: some column holds nothing but values below a name that is none. A single letter that may
be short for a truth value, as y, is a name where no letter stands below it. What this cannot tell from a header is a
record with a remark of its own where all others have values.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

from ogive.errors import DataError, plain, quoted

HEADER_BYTES = 1 << 20
SAMPLE_ROWS = 1_000
SEPARATORS = ",;\t|"
# a number, date or time in whatever notation, a truth value, or a mark for what is missing
_VALUE = re.compile(
    r"[\s$€£(]*[-+.,]?\d|(true|false|yes|no|y|n|t|f|nan|[-+]?inf|infinity|null|none|na|n/a|missing|unknown|[-.?])\s*$",
    re.I,
)
_LETTER = re.compile(r"\s*[a-z]\s*$", re.I)
# what no column's name holds, but bytes of something else that happen to be UTF-8
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Header(NamedTuple):
    """What the first line says."""

    names: tuple[str, ...]
    separator: str
    certain: bool
    """Whether these are names beyond doubt, so that a message may show them."""


def read_header(path: Path, separator: str | None) -> Header:
    """Read the first line, and the rows below as far as they tell names from values.

    Args:
        path: A CSV file, gzipped where its suffix says so.
        separator: Between fields; None takes the one that is most frequent in the first line.

    Raises:
        DataError: the file is not UTF-8 text, or its first line is empty, malformed or names two columns alike.
    """
    with open_text(path) as file:
        text = _decoded(file.read(HEADER_BYTES), path)
    outside_quotes = re.sub(r'"[^"]*"', "", text).lstrip("\r\n").splitlines() or [""]
    if separator is None:
        separator = max(SEPARATORS, key=outside_quotes[0].count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        names = tuple(next(rows, []))
    except csv.Error:
        raise DataError(f"the first line of {plain(path)} does not name columns") from None
    if any(map(_CONTROL.search, names)):
        raise DataError(f"{plain(path)} is not a table: its first line holds control characters")
    if not names:
        raise DataError(f"the first line of {plain(path)} must name the columns, but it is empty")
    sample: list[Sequence[str]] = []
    with contextlib.suppress(csv.Error):  # a field that goes on beyond what was read, or a defect the engine will name
        sample.extend(itertools.islice(rows, SAMPLE_ROWS))
    certain = _are_names(names, sample)
    for position, name in enumerate(names):
        if name in names[:position]:
            if certain:
                raise DataError(f"{plain(path)} has two columns named {quoted(name)}; rename one")
            raise DataError(
                f"the first line of {plain(path)} must name the columns, but it holds one name twice; "
                "if it is a row, write a line of names above it"
            )
    return Header(names, separator, certain)


def open_text(path: Path) -> IO[bytes]:
    """Open a file for reading, decompressed where its suffix says so."""
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")  # type: ignore[return-value]


def _decoded(start: bytes, path: Path) -> str:
    if b"\0" in start:
        raise _not_text(path)
    try:
        return start.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        if problem.start < len(start) - 4 or len(start) < HEADER_BYTES:
            raise _not_text(path) from None
        return start[: problem.start].decode("utf-8-sig")


def _not_text(path: Path) -> DataError:
    return DataError(f"{path} is not UTF-8 text, so it cannot be read as a table; save it as UTF-8")


def _are_names(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether no name looks like a value or is one of its column, and some column holds nothing but values."""
    proven = False
    for position, name in enumerate(names):
        cells = {row[position].strip() for row in rows if len(row) > position} - {""}
        letter = bool(_LETTER.match(name)) and bool(cells) and not any(map(_LETTER.match, cells))
        if (_VALUE.match(name) and not letter) or name.strip() in cells:
            return False
        proven |= bool(name.strip() and cells) and not _VALUE.match(name) and all(map(_VALUE.match, cells))
    return proven
