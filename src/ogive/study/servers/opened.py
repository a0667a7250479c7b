"""Uploads that a server has opened: its parts decrypted and checked, in one Parquet file for each aggregate.

A row is one person's message to this server, in the form of `trust.servers.singles`. What cannot be decrypted, is not
as long as it has to be, shows no credential or one that was shown before, is left out. The file is made once, when no
more uploads are taken, and is there whole or not at all.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from ogive.arrays import UInt8
from ogive.errors import RefusalError, plain
from ogive.study.servers.document import ServersStudy
from ogive.study.servers.enrolment import CREDENTIAL_BYTES, Enrolled
from ogive.study.servers.sealing import unseal
from ogive.trust.servers.singles import Singles

LOG = logging.getLogger("ogive.study")

_ROWS = 1 << 13
_MESSAGE_BYTES = 1 << 26
_COLUMN = "message"


def open_uploads(
    study: ServersStudy,
    server: int,
    folder: Path,
    parts: Iterable[list[bytes]],
    *,
    key: X25519PrivateKey,
    enrolled: Enrolled,
) -> None:
    """Decrypt and check all parts, unless that was done before.

    Args:
        study: The study.
        server: Number of this server.
        folder: Of the server.
        parts: Sealed, some at a time.
        key: To which they are sealed.
        enrolled: Who may upload.

    Raises:
        RefusalError: the files cannot be written.
    """
    forms = study.messages[server]
    paths = [opened_path(folder, number) for number in range(len(forms))]
    if all(path.exists() for path in paths):
        return
    halves = [path.with_suffix(".half") for path in paths]
    try:
        writers = [_writer(half, form) for half, form in zip(halves, forms, strict=True)]
        try:
            kept = total = 0
            for rows, count in _opened(study, server, parts, forms, key, enrolled):
                kept, total = kept + len(rows[0]), total + count
                for writer, form, some in zip(writers, forms, rows, strict=True):
                    writer.write_table(_table(form, some))
                LOG.info("opened %d uploads, kept %d", total, kept)
        finally:
            for writer in writers:
                writer.close()
        for half, path in zip(halves, paths, strict=True):
            with half.open("rb") as file:
                os.fsync(file.fileno())
            half.replace(path)
    except OSError as problem:
        for half in halves:
            half.unlink(missing_ok=True)
        raise RefusalError(
            f"opened uploads cannot be stored in {plain(folder)}: {problem.strerror or problem}"
        ) from None


def opened_messages(study: ServersStudy, server: int, folder: Path, number: int) -> Iterator[tuple[bytes, int]]:
    """The messages of an aggregate, each of many people, and of how many.

    Raises:
        RefusalError: the file cannot be read.
    """
    form = study.messages[server][number]
    path = opened_path(folder, number)
    for group, _ in opened_groups(path):
        rows = opened_rows(path, form, group)
        yield form.message(rows), len(rows)


def opened_groups(path: Path) -> list[tuple[int, int]]:
    """The row groups of a file of opened uploads in which there are any, and how many.

    Raises:
        RefusalError: the file cannot be read.
    """
    with _read(path) as file:
        found = [(group, file.metadata.row_group(group).num_rows) for group in range(file.metadata.num_row_groups)]
    return [(group, rows) for group, rows in found if rows]


def opened_rows(path: Path, form: Singles, group: int) -> UInt8:
    """The messages of the people of one row group, each a row.

    Raises:
        RefusalError: the file cannot be read.
    """
    with _read(path) as file:
        column = file.read_row_group(group).column(_COLUMN).combine_chunks()
    data = np.frombuffer(column.buffers()[1], np.uint8)
    return data[column.offset * form.length :][: len(column) * form.length].reshape(-1, form.length)


def opened_path(folder: Path, number: int) -> Path:
    """Where the opened uploads of an aggregate are."""
    return folder / f"opened-{number}.parquet"


def batch_rows(form: Singles) -> int:
    """How many people one message is of, at most."""
    return max(1, min(_ROWS, _MESSAGE_BYTES // form.length))


def _opened(
    study: ServersStudy,
    server: int,
    parts: Iterable[list[bytes]],
    forms: tuple[Singles, ...],
    key: X25519PrivateKey,
    enrolled: Enrolled,
) -> Iterator[tuple[list[UInt8], int]]:
    """Rows for every aggregate, of people whose parts are good, and of how many parts these are what is left."""
    seen = np.zeros(len(enrolled), np.bool_)
    length = sum(form.length for form in forms)
    most = min(batch_rows(form) for form in forms)
    held: list[bytes] = []
    count = 0

    def rows() -> list[UInt8]:
        matrix = np.frombuffer(b"".join(held), np.uint8).reshape(-1, length)
        ends = np.cumsum([form.length for form in forms])[:-1]
        return [form.good(each) for form, each in zip(forms, np.split(matrix, ends, axis=1), strict=True)]

    for some in parts:
        for sealed in some:
            count += 1
            part = unseal(sealed, study=study.digest, server=server, key=key)
            if part is None or len(part) != CREDENTIAL_BYTES + length:
                continue
            number = enrolled.number(part[:CREDENTIAL_BYTES])
            if number is None or seen[number]:
                continue
            seen[number] = True
            held.append(part[CREDENTIAL_BYTES:])
            if len(held) == most:
                yield rows(), count
                held, count = [], 0
    if held or count:
        yield rows(), count


@contextmanager
def _read(path: Path) -> Iterator[pq.ParquetFile]:
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (OSError, pa.ArrowException) as problem:
        raise RefusalError(f"the opened uploads {plain(path)} cannot be read: {plain(problem)}") from None


def _writer(path: Path, form: Singles) -> pq.ParquetWriter:
    path.unlink(missing_ok=True)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    # what is in it is random, so that compression would cost time and save nothing
    return pq.ParquetWriter(path, pa.schema([_field(form)]), compression="none", use_dictionary=False)


def _field(form: Singles) -> pa.Field:
    return pa.field(_COLUMN, pa.binary(form.length), nullable=False)


def _table(form: Singles, rows: UInt8) -> pa.Table:
    data = pa.py_buffer(np.ascontiguousarray(rows))
    column = pa.FixedSizeBinaryArray.from_buffers(pa.binary(form.length), len(rows), [None, data])
    return pa.Table.from_arrays([column], schema=pa.schema([_field(form)]))
