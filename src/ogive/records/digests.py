"""Digests of tables: files by their bytes, columns in memory by their contents.

A digest of columns covers names, kinds and values, and nothing of how they are laid out: chunks,
slices, dictionaries and the width of offsets do not matter. As secret as the data: whoever can guess
the table can check the guess.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ogive.errors import DataError, plain

READ_BYTES = 1 << 20
BLOCK_ROWS = 1 << 18


def file_digest(path: Path) -> bytes:
    """SHA-256 of a file's bytes, streamed.

    Raises:
        DataError: the file cannot be read.
    """
    found = hashlib.sha256(b"ogive file 1\n")
    buffer = bytearray(READ_BYTES)
    try:
        with path.open("rb", buffering=0) as file:
            while count := file.readinto(buffer):
                found.update(memoryview(buffer)[:count])
    except OSError as problem:
        raise DataError(f"{plain(path)} cannot be read: {(problem.strerror or 'unknown reason').lower()}") from None
    return found.digest()


def columns_digest(columns: Iterable[tuple[str, Any]]) -> bytes:
    """SHA-256 of named columns in their order, each an Arrow array or chunked array."""
    found = hashlib.sha256(b"ogive columns 1\n")
    for name, array in columns:
        chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
        kind = chunked.type.value_type if pa.types.is_dictionary(chunked.type) else chunked.type
        header = json.dumps([name, _kind_name(kind), len(chunked)]).encode()
        found.update(len(header).to_bytes(8, "big") + header)
        for start in range(0, len(chunked), BLOCK_ROWS):
            pieces = chunked.slice(start, BLOCK_ROWS).chunks
            whole = [piece.dictionary_decode() if pa.types.is_dictionary(piece.type) else piece for piece in pieces]
            _add_block(found, pa.concat_arrays(whole), kind)
    return found.digest()


def _kind_name(kind: Any) -> str:
    return "text" if _is_text(kind) else str(kind)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _add_block(found: Any, array: Any, kind: Any) -> None:
    """Which values are present, as bits; then the values."""
    found.update(np.packbits(array.is_valid().to_numpy(zero_copy_only=False)).tobytes())
    if _is_text(kind):
        text = pc.fill_null(pc.cast(array, pa.large_string()), "")
        offsets = np.frombuffer(text.buffers()[1], dtype=np.int64)[text.offset : text.offset + len(text) + 1]
        found.update(np.diff(offsets).astype("<i8").tobytes())
        content = text.buffers()[2]
        if content is not None:
            found.update(memoryview(content)[offsets[0] : offsets[-1]])
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        filled = array if not array.null_count else pc.fill_null(array, 0)
        values = filled.to_numpy(zero_copy_only=False)
        if values.dtype.kind == "f":
            values = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
        found.update(np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<"), copy=False)))
    else:
        text = json.dumps(array.to_pylist(), default=repr).encode()
        found.update(len(text).to_bytes(8, "big") + text)
