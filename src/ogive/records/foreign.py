"""Tables in files of other programs: workbooks, SPSS, Stata and SAS, JSON lines, archives of one file, other encodings.

Workbooks and files of statistics packages are read whole, by `python-calamine` and `pyreadstat` (the extra `files`),
into columns in memory. Text of another encoding and the one file of an archive are written to a folder that only this
user can read, and that is removed with the table or at the end of the process; a process that is killed leaves it.
"""

from __future__ import annotations

import codecs
import datetime
import gzip
import os
import shutil
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.records.missing_words import MissingWords
from ogive.records.sources import ColumnsSource, Source, arrow_array, file_digest, memory_source

FOREIGN = {
    "workbook": (".xlsx", ".xlsb", ".xls", ".ods"),
    "SPSS": (".sav", ".zsav", ".por"),
    "Stata": (".dta",),
    "SAS": (".sas7bdat", ".xpt"),
    "JSON lines": (".jsonl", ".ndjson"),
    "archive": (".zip",),
}
_READERS = {".por": "read_por", ".dta": "read_dta", ".sas7bdat": "read_sas7bdat", ".xpt": "read_xport"}
_ENCODED = ("csv", "tsv", "SPSS", "Stata", "SAS", "archive")
_CHUNK = 1 << 20
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
"""First bytes of text of another encoding, which name it."""


@dataclass(frozen=True)
class Table:
    """A file of records, with what its name does not say of it. It is given wherever a path is.

    Fields:
        path: A file of any kind that `Records.of` reads.
        encoding: Of text and of files of statistics packages, such as "latin-1" or "utf-16"; by default UTF-8, or what
            the file itself names.
        sheet: Name of a workbook's sheet; by default the first.

    Example:
        >>> import ogive
        >>> ogive.Table("visits.csv", encoding="latin-1").encoding
        'latin-1'
    """

    path: str | os.PathLike[str]
    encoding: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except (LookupError, TypeError):
                raise ParameterError(
                    f"`encoding` must be the name of one, such as 'latin-1', got {quoted(self.encoding)}"
                ) from None

    def check(self, kind: str) -> None:
        """Refuse what means nothing for a kind of file."""
        if self.sheet is not None and kind not in ("workbook", "archive"):
            raise ParameterError(f"`sheet` names a sheet of a workbook, and {plain(self)} is none; leave it out")
        if self.encoding is not None and kind not in _ENCODED:
            raise ParameterError(f"{plain(self)} says its encoding itself; leave out `encoding`")

    def __fspath__(self) -> str:
        """The path."""
        return os.fspath(self.path)

    __str__ = __fspath__


class _Whole(ColumnsSource):
    """The columns of a file that was read whole."""

    def __init__(self, path: Path, columns: Mapping[str, Sequence[Any]], words: MissingWords) -> None:
        super().__init__({name: arrow_array(list(values), name, words) for name, values in columns.items()})
        self._path = path
        self.name = str(path)

    def digest(self) -> bytes:
        return file_digest(self._path)


def encoding_of(path: Path, encoding: str | None) -> str | None:
    """The encoding of text that is to be written anew; None of UTF-8."""
    if encoding is None:
        with path.open("rb") as file:
            encoding = _MARKS.get(file.read(2))
    return None if encoding is None or codecs.lookup(encoding).name in ("utf-8", "utf-8-sig", "ascii") else encoding


def decoded_source(path: Path, encoding: str, source: Callable[[Path], Source]) -> Source:
    """The source of text in another encoding, by a copy of it in UTF-8."""

    def copied(folder: Path) -> Path:
        packed = path.name.lower().endswith(".gz")
        copy = folder / (path.name[: -len(".gz")] if packed else path.name)
        try:
            with (
                gzip.open(path, "rt", encoding=encoding, newline="")
                if packed
                else path.open(encoding=encoding, newline="") as text,
                copy.open("w", encoding="utf-8", newline="") as out,
            ):
                shutil.copyfileobj(text, out, _CHUNK)
        except (gzip.BadGzipFile, zlib.error, EOFError):
            raise DataError(f"{plain(path)} is damaged: it does not decompress") from None
        except (UnicodeError, ValueError):
            raise DataError(f"{plain(path)} is not text of the encoding {encoding}") from None
        return copy

    return _of_copy(copied, path, source)


def _of_copy(copied: Callable[[Path], Path], path: Path, source: Callable[[Path], Source]) -> Source:
    """The source of a copy that is written into a folder; it speaks of the file itself, and the folder goes with it."""
    folder = Path(tempfile.mkdtemp(prefix="ogive-"))
    copy = folder / path.name
    try:
        copy = copied(folder)
        result = source(copy)
    except BaseException as problem:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(problem, DataError):
            raise DataError(problem.marked.replace(plain(copy), plain(path))) from None
        raise
    weakref.finalize(result, shutil.rmtree, folder, ignore_errors=True)
    result.name = str(path)
    return result


def foreign_source(path: Path, kind: str, table: Table, words: MissingWords, source: Callable[[Any], Source]) -> Source:
    """The source for a file of another program; `source` is that of the file of an archive."""
    match kind:
        case "workbook":
            return _Whole(path, _workbook(path, table.sheet), words)
        case "JSON lines":
            return _json_lines(path, words)
        case "archive":
            return _archive(path, source)
    return _Whole(path, _statistics(path, kind, table.encoding), words)


def _workbook(path: Path, sheet: str | None) -> dict[str, list[Any]]:
    import python_calamine

    try:
        book = python_calamine.CalamineWorkbook.from_path(str(path))
    except python_calamine.CalamineError:
        raise DataError(f"{plain(path)} is damaged, encrypted or no workbook") from None
    if sheet is not None and sheet not in book.sheet_names:
        raise DataError(
            f"{plain(path)} has no sheet {quoted(sheet)}; it has {', '.join(map(quoted, book.sheet_names))}"
        )
    rows = (book.get_sheet_by_index(0) if sheet is None else book.get_sheet_by_name(sheet)).to_python()
    if not rows:
        raise DataError(f"{plain(path)} is empty")
    names = [str(name) if name != "" else "" for name in rows[0]]
    wide = [place for place, name in enumerate(names) if name.strip() or any(row[place] != "" for row in rows[1:])]
    lacking = next((place for place in wide if not names[place].strip()), None)
    if lacking is not None:
        raise DataError(f"column {lacking + 1} of {plain(path)} has no name in the first row; name it")
    if len({names[place] for place in wide}) < len(wide):
        raise DataError(f"two columns of {plain(path)} have the same name; rename one")
    body = [row for row in rows[1:] if any(cell != "" for cell in row)]
    return {names[place]: _cells([row[place] for row in body]) for place in wide}


def _cells(cells: list[Any]) -> list[Any]:
    """Cells without blanks, whole numbers as such where all are, and days as times where some are."""
    known = [None if isinstance(cell, str) and not cell.strip() else cell for cell in cells]
    if any(isinstance(cell, datetime.datetime) for cell in known):
        midnight = datetime.time()
        return [
            datetime.datetime.combine(cell, midnight)
            if isinstance(cell, datetime.date) and not isinstance(cell, datetime.datetime)
            else cell
            for cell in known
        ]
    numbers = [cell for cell in known if cell is not None]
    if numbers and all(isinstance(cell, float) and cell.is_integer() and abs(cell) < _EXACT for cell in numbers):
        return [None if cell is None else int(cell) for cell in known]
    return known


_EXACT = 2.0**53


def _statistics(path: Path, kind: str, encoding: str | None) -> dict[str, list[Any]]:
    import pyreadstat

    reader: Any = getattr(pyreadstat, _READERS.get(path.suffix.lower(), "read_sav"))
    missing: Mapping[str, Sequence[Any]] = {}
    end = path.suffix.lower()
    named = {} if encoding is None or end == ".por" else {"encoding": encoding}
    try:
        columns, about = reader(str(path), output_format="dict", **named)
        if end in (".sav", ".zsav"):
            missing = reader(str(path), metadataonly=True, user_missing=True, **named)[1].missing_ranges
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeError, ValueError):
        raise DataError(f"{plain(path)} is damaged or no file of {kind}, or its text has another encoding") from None
    labels = about.variable_value_labels
    return {
        name: _labelled(_cells(list(values)), labels.get(name, {}), missing.get(name, ()))
        for name, values in columns.items()
    }


def _labelled(cells: list[Any], labels: Mapping[Any, str], missing: Sequence[Any]) -> list[Any]:
    """Codes as their labels where these are of whole numbers in a row, as of a category; other codes as text.

    Labels of codes that mean a missing value, ranges in SPSS and letters in Stata, do not count.
    """
    codes = sorted(
        code
        for code in labels
        if isinstance(code, int | float)
        and float(code).is_integer()
        and not any(each["lo"] <= code <= each["hi"] for each in missing if isinstance(each["lo"], int | float))
    )
    if len(codes) < 2 or codes[-1] - codes[0] != len(codes) - 1:
        return cells
    texts = {code: labels[code] for code in codes}
    return [None if cell is None else texts.get(cell, str(cell)) for cell in cells]


def _json_lines(path: Path, words: MissingWords) -> Source:
    import pyarrow as pa
    from pyarrow import json

    try:
        table = json.read_json(path)
    except pa.ArrowException:
        raise DataError(f"{plain(path)} does not hold one JSON object of equal kinds of values a line") from None
    result = memory_source(table, "value", words)
    result.name = str(path)
    return result


def _archive(path: Path, source: Callable[[Any], Source]) -> Source:
    def copied(folder: Path) -> Path:
        try:
            with zipfile.ZipFile(path) as archive:
                files = [each for each in archive.infolist() if not each.is_dir() and "__MACOSX" not in each.filename]
                if len(files) != 1:
                    raise DataError(f"{plain(path)} must hold one file, and it holds {len(files)}; unpack it")
                copy = folder / Path(files[0].filename).name
                if copy.suffix.lower() in FOREIGN["archive"]:
                    raise DataError(f"{plain(path)} holds another archive; unpack it")
                with archive.open(files[0]) as file, copy.open("wb") as out:
                    shutil.copyfileobj(file, out, _CHUNK)
        except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError):
            raise DataError(f"{plain(path)} is damaged, encrypted or no archive") from None
        return copy

    return _of_copy(copied, path, source)
