"""Uploads that a server has opened, and workers that evaluate a part of them each, as the server would itself.

    forms, sums = merge_parts(parts, map(evaluate_part, parts))

A part is some row groups of a file that a server has opened, with what is asked of them. A worker reads its own bytes,
and returns one server's shares: a few numbers for each upload that is verified, and the sums. It needs no key and no
state, and belongs to the server's administration as the file does: who reads the files of all servers reads the
records.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from ogive.core.arrays import Bool, Int64, UInt8, UInt64
from ogive.core.files import Stamp, check_unchanged, one_each, stamp_of
from ogive.crypto.wire import HEADER_BYTES, Reader
from ogive.errors import ParameterError, PeerError, RefusalError, plain
from ogive.study.common import LOG
from ogive.study.document import ServersStudy
from ogive.study.sealing import unseal
from ogive.study.servers.uploads import CREDENTIAL_BYTES, Enrolled
from ogive.trust.modulus import added
from ogive.trust.servers.clients import Parts, Singles

# --- Opened uploads: parts decrypted and checked, in one Parquet file for each aggregate
#
# A row is one person's message to this server, in the form of `trust.servers.clients.Singles`. What cannot be
# decrypted, is not as long as it has to be, shows no credential or one that was shown before, is left out. The file is
# made once, when no more uploads are taken, and is there whole or not at all.

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
    forms = study.messages[server]
    paths = [opened_path(folder, number) for number in range(len(forms))]
    if all(path.exists() for path in paths):
        return
    halves = [path.with_suffix(".half") for path in paths]
    try:
        writers = [_writer(half, form) for half, form in zip(halves, forms, strict=True)]
        try:
            good = total = 0
            for rows, count in _opened(study, server, parts, forms, key, enrolled):
                good, total = good + len(rows[0]), total + count
                for writer, form, some in zip(writers, forms, rows, strict=True):
                    writer.write_table(_table(form, some))
                LOG.info("opened %d uploads, kept %d", total, good)
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
    """The messages of an aggregate, each of many people, and of how many."""
    form = study.messages[server][number]
    path = opened_path(folder, number)
    for group, _ in opened_groups(path):
        rows = opened_rows(path, form, group)
        yield form.message(rows), len(rows)


def opened_groups(path: Path) -> list[tuple[int, int]]:
    """The row groups of a file of opened uploads in which there are any, and how many."""
    with _read(path) as file:
        result = [(group, file.metadata.row_group(group).num_rows) for group in range(file.metadata.num_row_groups)]
    return [(group, rows) for group, rows in result if rows]


def opened_rows(path: Path, form: Singles, group: int) -> UInt8:
    """The messages of the people of one row group, each a row."""
    with _read(path) as file:
        column = file.read_row_group(group).column(_COLUMN).combine_chunks()
    data = np.frombuffer(column.buffers()[1], np.uint8)
    return data[column.offset * form.length :][: len(column) * form.length].reshape(-1, form.length)


def opened_path(folder: Path, number: int) -> Path:
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


# --- Parts of these uploads, and workers that evaluate them

_LONGEST_TEXT = 300
_PART_WORK, _PART_GROUPS = 1 << 26, 16
"""How many blocks of uploads a part has to evaluate, about a second of one core, and most row groups of it."""


@dataclass(frozen=True)
class Evaluation:
    """What a server asks of all parts.

    Fields:
        study: The file of the study.
        server: Number of the server.
        aggregate: Number of the aggregate that was uploaded.
        blocks: Last cells of the blocks in which records are counted, i64 each.
        forms: How many linear forms of each upload are wanted, for a verification.
        weights: Those of the forms, u64, form by form; drawn by all servers together.
    """

    study: bytes
    server: int
    aggregate: int
    blocks: bytes
    forms: int
    weights: bytes


@dataclass(frozen=True)
class UploadPart:
    """Some row groups of the uploads that a server has opened; it is sent to a worker.

    Fields:
        number: Its place among all parts, from 0.
        asked: What is asked of it, the same of all parts.
        path: Of the Parquet file, which the worker reads by this name.
        groups: Numbers of the row groups, and how many uploads each has.
        counted: Which of the uploads count, a bit each.
        stamp: Length and time of change of the file when the parts were made.
    """

    number: int
    asked: Evaluation
    path: str
    groups: tuple[tuple[int, int], ...]
    counted: bytes
    stamp: Stamp


Workers = Callable[[Callable[[UploadPart], tuple[int, bytes]], list[UploadPart]], Iterable[tuple[int, bytes]]]
"""Evaluates a function of each part, wherever it likes, and returns the results in any order, such as `Pool.map`."""


def evaluate_part(part: UploadPart) -> tuple[int, bytes]:
    """Evaluate the uploads of one part, on any machine that can read its file, by one core.

    Returns:
        The part's number, and shares of one server: the forms of each upload that counts, then the sums over these.

    Raises:
        ParameterError: the file is another one than when the parts were made.
        RefusalError: the file cannot be read.
    """
    form, path = _form(part.asked), Path(part.path)
    evaluation, ends = part.asked, np.frombuffer(part.asked.blocks, "<i8").astype(np.int64)
    weights = np.frombuffer(evaluation.weights, "<u8").astype(np.uint64)
    weights = weights.reshape(evaluation.forms, -1 if evaluation.forms else 0)
    layout, modulus = form.collected.layout, form.collected.modulus
    starts = np.cumsum([rows for _, rows in part.groups])[:-1]
    forms, total = [], np.zeros(ends.size + layout.groups, np.uint64)
    for (group, _), counted in zip(part.groups, np.split(_bits(part), starts), strict=True):
        if counted.any():
            rows = opened_rows(path, form, group)[counted]
            uploads = Parts.read(form.message(rows)[HEADER_BYTES:], form.collected, form.server, form.session)
            own, sums = uploads.evaluated(ends, weights, threads=1)
            forms.append(own)
            total = added(total, sums, modulus)
    check_unchanged(path, part.stamp)
    return part.number, np.concatenate(forms, axis=1).astype("<u8").tobytes() + total.astype("<u8").tobytes()


def merge_parts(parts: Sequence[UploadPart], results: Iterable[tuple[int, bytes]]) -> tuple[UInt64, UInt64]:
    """What all parts come to: the forms of all uploads that count, part after part, and the sums over them.

    Args:
        parts: All parts, at least one.
        results: What `evaluate_part` returned for each, in any order; the same result may come several times.

    Raises:
        PeerError: a result lacks, is of no part, contradicts another one of the same part, or cannot be one.
    """
    evaluation = parts[0].asked
    collected = _form(evaluation).collected
    layout, modulus = collected.layout, collected.modulus
    result = one_each([part.number for part in parts], results)
    total = np.zeros(len(evaluation.blocks) // 8 + layout.groups, np.uint64)
    forms = []
    for part in parts:
        vectors = int(_bits(part).sum()) * layout.vectors
        reader = Reader(result[part.number], f"result of part {part.number}")
        own = reader.array(evaluation.forms * vectors, "<u8").astype(np.uint64)
        sums = reader.array(total.size, "<u8").astype(np.uint64)
        reader.finish()
        if max(int(own.max(initial=0)), int(sums.max(initial=0))) >= modulus:
            raise PeerError(f"the result of part {part.number} has numbers that are not below the modulus")
        forms.append(own.reshape(evaluation.forms, vectors))
        total = added(total, sums, modulus)
    return np.concatenate(forms, axis=1), total


class Elsewhere:
    """Lets workers evaluate the uploads of one aggregate that a server has opened."""

    def __init__(self, study: ServersStudy, server: int, folder: Path, aggregate: int, workers: Workers) -> None:
        self._study = study
        self._server = server
        self._path = opened_path(folder.resolve(), aggregate)
        self._aggregate = aggregate
        self._workers = workers
        self._stamp = stamp_of(self._path)

    def __call__(self, ends: Int64, weights: UInt64, counted: Sequence[Bool]) -> tuple[UInt64, UInt64] | None:
        """What workers find; None where they fail, since a verification that is given up uses material up."""
        try:
            parts = self._parts(ends, weights, counted)
            if not parts:
                return None
            result = merge_parts(parts, self._workers(evaluate_part, parts))
        except Exception as problem:
            name, text = type(problem).__name__, plain(" ".join(str(problem).split()))[:_LONGEST_TEXT]
            LOG.warning("workers failed, so this server evaluates all uploads itself: %s: %s", name, text)
            return None
        LOG.info("workers evaluated all parts, %d in number", len(parts))
        return result

    def _parts(self, ends: Int64, weights: UInt64, counted: Sequence[Bool]) -> list[UploadPart]:
        """The row groups, divided among parts in each of which somebody counts."""
        blocks, values = ends.astype("<i8").tobytes(), weights.astype("<u8").tobytes()
        evaluation = Evaluation(self._study.text, self._server, self._aggregate, blocks, len(weights), values)
        groups = opened_groups(self._path)
        if [rows for _, rows in groups] != [each.size for each in counted]:
            raise ParameterError(f"the row groups of {self._path.name} are not those that were read")
        largest = max((rows for _, rows in groups), default=1)
        size = max(1, min(_PART_WORK // (largest * ends.size), _PART_GROUPS))
        result: list[UploadPart] = []
        for start in range(0, len(groups), size):
            mask = np.concatenate(counted[start : start + size])
            if mask.any():
                some, bits = tuple(groups[start : start + size]), np.packbits(mask).tobytes()
                result.append(UploadPart(len(result), evaluation, str(self._path), some, bits, self._stamp))
        return result


_read_study = lru_cache(maxsize=4)(ServersStudy.parse_unchecked)


def _form(evaluation: Evaluation) -> Singles:
    return _read_study(evaluation.study).messages[evaluation.server][evaluation.aggregate]


def _bits(part: UploadPart) -> Bool:
    rows = sum(rows for _, rows in part.groups)
    return np.unpackbits(np.frombuffer(part.counted, np.uint8), count=rows).view(np.bool_)
