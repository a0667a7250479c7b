"""Arrays of numbers in .npy and .npz files, which may come from strangers.

The header is read and compared with the size of the file before anything is allocated, so a file never takes much more
memory than it has bytes. Nothing is unpickled.
"""

from __future__ import annotations

import io
import math
import os
import struct
import tokenize
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ogive.core.arrays import UInt8
from ogive.errors import DataError, ParameterError, plain, quoted

SUFFIXES = (".npy", ".npz")

_MEMBER = ".npy"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
# as numpy's own limit; v1 and v2 headers differ in how wide the length is
_LONGEST_HEADER = 10_000
_HEADERS = {(1, 0): ("<H", npy.read_array_header_1_0), (2, 0): ("<I", npy.read_array_header_2_0)}
_MOST_AXES = 32
_LARGEST = 1 << 62
_CHUNK_BYTES = 1 << 20
# what is compressed may unpack to so many bytes in any case, and beyond that to so many times its size
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
    """An array of truth values, whole numbers or floats, of an .npy or .npz file.

    Args:
        file: Which; what it is is told by its first bytes.
        name: Of the array, in a file of several.
    """
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
    if len(shape) > _MOST_AXES or any(isinstance(axis, bool) or not 0 <= axis < _LARGEST for axis in shape):
        raise _damaged(file)
    begin = npy.MAGIC_LEN + len(prefix) + len(header)
    needed = math.prod(shape) * kind.itemsize
    if math.prod(axis or 1 for axis in shape) * kind.itemsize >= _LARGEST or needed > size - begin:
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
