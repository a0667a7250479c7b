"""Votes of teachers: counted, checked, and read from files; arrays of numbers in files.

Vote counts have the shape (queries, classes); every teacher votes once in every query, so that each row adds up to the
number of teachers.
"""

from __future__ import annotations

import io
import math
import os
import re
import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ogive.core.arrays import Bool, Int64, UInt8
from ogive.core.checks import any_whole, array_of, refuse_masked
from ogive.errors import DataError, ParameterError, plain, quoted

_LARGEST = 1 << 40
_TEXTS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")


def check_votes(votes: Any, *, teachers: int | None = None) -> Int64:
    """Check vote counts and return them as an array.

    There may be more classes than teachers.

    Args:
        votes: Numbers, shape (queries, classes).
        teachers: Required sum of every row; by default the sum of the first row.

    Returns:
        The counts, int64, shape (queries, classes).

    Raises:
        DataError: there are no queries or fewer than two classes, a count is not a whole number from 0, or a row adds
            up to another number of teachers. The message names the first such row.
    """
    refuse_masked(votes)
    try:
        result = np.asarray(votes)
    except ValueError:
        raise DataError(
            "votes must be counts of the shape (queries, classes); the rows have different lengths"
        ) from None
    if result.dtype.kind not in "iufb" or result.ndim != 2:
        got = (
            f"an array of shape {result.shape}"
            if result.dtype.kind in "iufb"
            else "an object that is not an array of numbers"
        )
        raise DataError(f"votes must be counts of the shape (queries, classes), got {got}")
    if result.dtype.kind == "f":
        result = result.astype(np.promote_types(result.dtype, np.float64), copy=False)  # half precision ends at 65504
    queries, classes = result.shape
    if not queries:
        raise DataError("there are no votes: at least one query is needed")
    if classes < 2:
        raise DataError(f"votes must be for two or more classes, got {classes}; one class leaves no choice")
    if result.dtype.kind == "f":
        _refuse_row(~np.isfinite(result), "counts that are missing or infinite")
        _refuse_row(result != np.floor(result), "counts that are not whole")
    _refuse_row(result < 0, "counts below 0")
    _refuse_row(result > _LARGEST, f"counts above {_LARGEST}, too large for votes")
    counts = result.astype(np.int64)
    sums = counts.sum(axis=1)
    wanted = int(sums[0]) if teachers is None else teachers
    if (sums != wanted).any():
        row = int(np.argmax(sums != wanted))
        raise DataError(
            f"the votes of query {row} add up to {sums[row]}, not to {wanted}: every teacher votes once in every "
            f"query, if need be for a class of its own; {_arranged(counts)}"
        )
    if wanted < 1:
        raise DataError("there are no teachers: the votes of every query add up to 0")
    return counts


def _arranged(counts: Int64) -> str:
    """What may be wrong with counts whose rows add up to different numbers."""
    queries = len(counts)
    if queries > 1 and len(set(counts.sum(axis=0).tolist())) == 1:
        return "here every column adds up to the same, so give the transpose: rows are queries, columns are classes"
    if any(np.array_equal(counts[:, 0], np.arange(queries) + start) for start in (0, 1)):
        return "here the first column numbers the rows; leave it out, since every column is a class"
    return "rows are queries and columns are classes"


def check_answered(answered: Any, shape: tuple[int, ...]) -> Bool:
    """Whether each query was answered, shape (queries,), from truth values, or labels with -1 where there was none."""
    queries, classes = shape
    given = array_of(answered)
    if given.shape != (queries,) or given.dtype.kind not in "biu":
        got = f"{len(given)} of them" if given.ndim == 1 and given.dtype.kind in "biu" else "something else"
        raise ParameterError(
            f"`answered` must be {queries} truth values, or labels with -1 where there was none; got {got}"
        )
    if given.dtype == np.bool_:
        return given
    wrong = (given < -1) | (given >= classes)
    if wrong.any():
        query = int(np.argmax(wrong))
        raise ParameterError(f"the label of query {query} is {given[query]}, none of -1 to {classes - 1}")
    return np.asarray(given >= 0)


def read_votes(path: str | Path, *, name: str | None = None) -> Int64:
    """Read vote counts from a file: .npy, .npz, or a table (CSV, Parquet, Arrow) with one column per class.

    Args:
        path: The file.
        name: Name of the array in a file of several (.npz).

    Returns:
        The counts, int64, shape (queries, classes).

    Raises:
        ParameterError: there are several arrays and no name was given, or no array has that name.
        DataError: the file cannot be read, or does not contain vote counts.
    """
    file = Path(path)
    if file.suffix.lower() in SUFFIXES:
        return check_votes(read_array(file, name))
    if name is not None:
        raise ParameterError(f"`name` is for a file of several arrays (.npz), not for {plain(file.name)}")
    return check_votes(_read_table(file))


def tally(labels: Any, classes: int) -> Int64:
    """Count the teachers' labels.

    Args:
        labels: Label of every teacher and query, whole numbers from 0, shape (teachers, queries).
        classes: Number of classes, at least 2.

    Returns:
        Vote counts, int64, shape (queries, classes).

    Raises:
        ParameterError: there are fewer than two classes.
        DataError: labels have another shape, or one is not a class.
    """
    any_whole(classes, "classes", 2)
    result = array_of(labels)
    if result.ndim != 2 or result.dtype.kind not in "iufb" or not result.size:
        raise DataError("labels must be whole numbers of the shape (teachers, queries), at least one of each")
    wrong = ~((result >= 0) & (result < classes) & (result == np.floor(result)))
    if wrong.any():
        teacher, query = np.argwhere(wrong)[0].tolist()
        raise DataError(f"the label of teacher {teacher} for query {query} is none of the classes 0 to {classes - 1}")
    queries = result.shape[1]
    cells = result.astype(np.int64) + classes * np.arange(queries)
    counted = np.bincount(cells.ravel(), minlength=queries * classes)
    return np.asarray(counted.reshape(queries, classes), dtype=np.int64)


def _refuse_row(wrong: Any, what: str) -> None:
    if wrong.any():
        raise DataError(f"the votes of query {int(np.argmax(wrong.any(axis=1)))} hold {what}")


def check_header(names: Sequence[str], file: Path, *, teachers: float | None = None) -> None:
    """Refuse a text file without a header, whose first row would be taken for the names of columns and lost.

    Columns that are numbered in order, from 0 or 1, have names, unless these add up to the number of teachers too.
    """
    text = file.name.lower().endswith(_TEXTS)
    if not text or not all(re.fullmatch(r"\s*[0-9]{1,15}(\.0*)?\s*", name) for name in names):
        return
    numbers = [int(float(name)) for name in names]
    numbered = any(numbers == list(range(start, start + len(numbers))) for start in (0, 1))
    if not numbered or sum(numbers) == teachers:
        raise DataError(
            f"the first line of {plain(file)} must name the columns and holds numbers, which would be lost; write a "
            "line such as class0,class1,class2 above it"
        )


def _read_table(file: Path) -> Any:
    from ogive.records.cells import float_values, kind_of  # the engine is slow to import, and arrays need none
    from ogive.records.files import SUFFIXES as TABLES
    from ogive.records.files import file_source

    tables = tuple(end for ends in TABLES.values() for end in ends)
    if file.is_file() and not file.name.lower().endswith(tables):
        raise DataError(f"{plain(file)} has an unknown suffix; use one of {', '.join((*SUFFIXES, *tables))}")
    source = file_source(file)
    if source.is_empty():
        raise DataError(f"{plain(file)} has no rows: at least one query is needed")
    for column in source.columns:
        if kind_of(source.type(column)) != "number":
            raise DataError(
                f"column {quoted(column)} of {plain(file)} holds no numbers; votes have a column of counts per class"
            )
    batches = source.batches(source.columns)
    counts = np.concatenate([np.stack([float_values(each, "number") for each in some], axis=1) for some in batches])
    check_header(source.columns, file, teachers=counts[0].sum())
    return counts


# --- Arrays of numbers in .npy and .npz files, which may come from strangers
#
# The header is read and compared with the size of the file before anything is allocated, so a file never takes much
# more memory than it has bytes. Nothing is unpickled.

SUFFIXES = (".npy", ".npz")

_MEMBER = ".npy"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# as numpy's own limit; v1 and v2 headers differ in how wide the length is
_LONGEST_HEADER = 10_000
_HEADERS = {(1, 0): ("<H", npy.read_array_header_1_0), (2, 0): ("<I", npy.read_array_header_2_0)}
_MOST_AXES = 32
_MOST_NUMBERS = 1 << 62
_CHUNK_BYTES = 1 << 20
# what is compressed may unpack to this many bytes in any case, and beyond that to this many times its size
_UNPACKED_FREELY = 1 << 25
_MOST_RATIO = 100
_ENCRYPTED = 0x1
# what zipfile raises for damaged directories and members, which may lie at impossible places
_ZIP_ERRORS = (
    OSError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    struct.error,
    UnicodeDecodeError,
    ValueError,
    OverflowError,
)
# what numpy raises for text of a header that no writer writes; the text has at most `_LONGEST_HEADER` characters
_HEADER_ERRORS = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    SyntaxError,
    tokenize.TokenError,
    RecursionError,
    MemoryError,
    OverflowError,
)


def read_array(file: Path, name: str | None) -> NDArray[Any]:
    """An array of truth values, whole numbers or floats, of an .npy or .npz file; of several, that of a name."""
    with _opened(file) as stream:
        size = os.fstat(stream.fileno()).st_size
        if not _is_zip(stream):
            if name is not None:
                raise ParameterError(f"`name` is for a file of several arrays (.npz), and {plain(file.name)} holds one")
            return _read(stream, size, file)
        with _directory(stream, file) as archive:
            member = _chosen(_members(archive), name, file)
            _check_member(member, size, file)
            try:
                with archive.open(member) as content:
                    result = _read(content, member.file_size, file)
                    content.read(1)  # at its end the checksum is compared
            except DataError:
                raise
            except _ZIP_ERRORS:
                raise _damaged(file) from None
            return result


def array_names(file: Path) -> tuple[str, ...]:
    """Names of the arrays in an .npz file."""
    with _opened(file) as stream:
        if not _is_zip(stream):
            raise _damaged(file)
        with _directory(stream, file) as archive:
            return tuple(member.filename.removesuffix(_MEMBER) for member in _members(archive))


def _opened(file: Path) -> IO[bytes]:
    if file.is_dir():
        raise DataError(f"{plain(file)} is a folder; name a file")
    if file.exists() and not file.is_file():
        raise DataError(f"{plain(file)} is a pipe or a device; name a file")
    try:
        return file.open("rb")
    except FileNotFoundError:
        raise DataError(f"no such file: {plain(file)}") from None
    except OSError as problem:
        raise DataError(f"{plain(file)} cannot be read: {(problem.strerror or 'unknown reason').lower()}") from None


def _is_zip(stream: IO[bytes]) -> bool:
    start = stream.read(4)
    stream.seek(0)
    return start in _ZIP


def _damaged(file: Path) -> DataError:
    if file.suffix.lower() not in SUFFIXES:
        return DataError(f"{file} must be an .npy file: a plain array, as numpy.save writes it")
    return DataError(f"{file} cannot be read: it is damaged, or holds no plain arrays")


def _directory(stream: IO[bytes], file: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(stream)
    except (*_ZIP_ERRORS, MemoryError):
        raise _damaged(file) from None


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [member for member in archive.infolist() if member.filename.endswith(_MEMBER)]


def _chosen(members: list[zipfile.ZipInfo], name: str | None, file: Path) -> zipfile.ZipInfo:
    if not members:
        raise DataError(f"{plain(file)} holds no arrays")
    names = [member.filename.removesuffix(_MEMBER) for member in members]
    if len(set(names)) < len(names):
        raise DataError(f"{plain(file)} is damaged: it holds two arrays of one name")
    wanted = names[0] if name is None and len(names) == 1 else name
    if wanted in names:
        return members[names.index(wanted)]
    listed = quoted(", ".join(names[:12]))[1:-1]
    if wanted is None:
        raise ParameterError(f"{plain(file.name)} holds several arrays; say which with `name`: {listed}")
    raise ParameterError(f"{plain(file.name)} holds no array {quoted(wanted)}; it holds {listed}")


def _check_member(member: zipfile.ZipInfo, size: int, file: Path) -> None:
    """Refuse a member that cannot be read, or that claims more than it can hold, before it is decompressed."""
    if member.flag_bits & _ENCRYPTED:
        raise DataError(f"{plain(file)} is encrypted; decrypt it first")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise DataError(
            f"{plain(file)} is compressed in a way that numpy does not write; save it with numpy.savez_compressed"
        )
    stored = member.compress_type == zipfile.ZIP_STORED
    if member.compress_size > size or (stored and member.file_size != member.compress_size):
        raise _damaged(file)
    if member.file_size > max(_UNPACKED_FREELY, _MOST_RATIO * member.compress_size):
        raise DataError(
            f"{plain(file)} would unpack to more than {_MOST_RATIO} times its size, which arrays of numbers do not; "
            "save it with numpy.savez, uncompressed"
        )


def _read(stream: IO[bytes], size: int, file: Path) -> NDArray[Any]:
    """The array of which a stream holds header and numbers."""
    try:
        version = npy.read_magic(stream)
        width, read_header = _HEADERS[version]
        prefix = stream.read(struct.calcsize(width))
        (length,) = struct.unpack(width, prefix)
        if length > _LONGEST_HEADER:
            raise _damaged(file)
        header = stream.read(length)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Reading `.npy` or `.npz` file required additional header parsing")
            shape, fortran, kind = read_header(io.BytesIO(prefix + header))
    except (*_HEADER_ERRORS, struct.error):
        raise _damaged(file) from None
    if kind.kind not in "biuf" or kind.shape:
        held = "objects" if kind.kind == "O" else f"values of type {quoted(kind.name)}"
        raise DataError(f"{plain(file)} holds {held}, not plain numbers; save whole numbers or floats")
    if len(shape) > _MOST_AXES or any(isinstance(axis, bool) or not 0 <= axis < _MOST_NUMBERS for axis in shape):
        raise _damaged(file)
    begin = npy.MAGIC_LEN + len(prefix) + len(header)
    needed = math.prod(shape) * kind.itemsize
    if math.prod(axis or 1 for axis in shape) * kind.itemsize >= _MOST_NUMBERS or needed > size - begin:
        raise DataError(
            f"{plain(file)} is cut short or damaged: it says that it holds more numbers than it has bytes for"
        )
    content = _bytes(stream, needed, file)
    if kind.kind == "b" and content.size and content.max() > 1:
        raise _damaged(file)
    flat = content.view(kind)
    result = flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)
    return result if kind.isnative else result.astype(kind.newbyteorder("="))


def _bytes(stream: IO[bytes], needed: int, file: Path) -> UInt8:
    try:
        content = np.empty(needed, dtype=np.uint8)
    except MemoryError:
        raise DataError(f"{plain(file)} does not fit into the memory of this machine") from None
    view = content.data
    for start in range(0, needed, _CHUNK_BYTES):
        part = view[start : start + _CHUNK_BYTES]
        filled = 0
        while filled < len(part):
            chunk = stream.read(len(part) - filled)
            if not chunk:
                raise DataError(f"{plain(file)} is cut short: its numbers end too early")
            part[filled : filled + len(chunk)] = chunk
            filled += len(chunk)
    return content
