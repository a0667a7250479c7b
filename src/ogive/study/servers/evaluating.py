"""Opened uploads in parts: workers evaluate a part each, and a server has the numbers that it would find itself.

    forms, sums = merge_parts(parts, map(evaluate_part, parts))

A part is some row groups of a file that a server has opened, with what is asked of them. A worker reads its own bytes,
and returns one server's shares: a few numbers for each upload that is verified, and the sums. It needs no key and no
state, and belongs to the server's administration as the file does: who reads the files of all servers reads the
records.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ogive.arrays import Bool, Int64, UInt64
from ogive.crypto.wire import HEADER_BYTES, Reader
from ogive.divided import Stamp, check_unchanged, one_each, stamp_of
from ogive.errors import ParameterError, PeerError, plain
from ogive.study.servers.document import ServersStudy
from ogive.study.servers.opened import opened_groups, opened_path, opened_rows
from ogive.trust.servers.parts import Parts, added
from ogive.trust.servers.singles import Singles

LOG = logging.getLogger("ogive.study")

_LONGEST_SAID = 300
_PART_WORK, _PART_GROUPS = 1 << 26, 16
"""A part has so many blocks of uploads to evaluate, about a second of one core, and at most so many row groups."""


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
    ends, weights = _question(part.asked)
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
    asked = parts[0].asked
    collected = _form(asked).collected
    layout, modulus = collected.layout, collected.modulus
    found = one_each([part.number for part in parts], results)
    total = np.zeros(len(asked.blocks) // 8 + layout.groups, np.uint64)
    forms = []
    for part in parts:
        vectors = int(_bits(part).sum()) * layout.vectors
        reader = Reader(found[part.number], f"result of part {part.number}")
        own = reader.array(asked.forms * vectors, "<u8").astype(np.uint64)
        sums = reader.array(total.size, "<u8").astype(np.uint64)
        reader.finish()
        if max(int(own.max(initial=0)), int(sums.max(initial=0))) >= modulus:
            raise PeerError(f"the result of part {part.number} has numbers that are not below the modulus")
        forms.append(own.reshape(asked.forms, vectors))
        total = added(total, sums, modulus)
    return np.concatenate(forms, axis=1), total


class Elsewhere:
    """Lets workers evaluate the uploads of one aggregate that a server has opened.

    Args:
        study: The study.
        server: Number of the server.
        folder: Of the server.
        aggregate: Number of the aggregate.
        workers: Who evaluates parts.
    """

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
            found = merge_parts(parts, self._workers(evaluate_part, parts))
        except Exception as problem:
            name, said = type(problem).__name__, plain(" ".join(str(problem).split()))[:_LONGEST_SAID]
            LOG.warning("workers failed, so this server evaluates all uploads itself: %s: %s", name, said)
            return None
        LOG.info("workers evaluated all parts, %d in number", len(parts))
        return found

    def _parts(self, ends: Int64, weights: UInt64, counted: Sequence[Bool]) -> list[UploadPart]:
        """The row groups, divided among parts in each of which somebody counts."""
        blocks, values = ends.astype("<i8").tobytes(), weights.astype("<u8").tobytes()
        asked = Evaluation(self._study.text, self._server, self._aggregate, blocks, len(weights), values)
        groups = opened_groups(self._path)
        if [rows for _, rows in groups] != [each.size for each in counted]:
            raise ParameterError(f"the row groups of {self._path.name} are not those that were read")
        largest = max((rows for _, rows in groups), default=1)
        size = max(1, min(_PART_WORK // (largest * ends.size), _PART_GROUPS))
        found: list[UploadPart] = []
        for start in range(0, len(groups), size):
            mask = np.concatenate(counted[start : start + size])
            if mask.any():
                some, bits = tuple(groups[start : start + size]), np.packbits(mask).tobytes()
                found.append(UploadPart(len(found), asked, str(self._path), some, bits, self._stamp))
        return found


@lru_cache(maxsize=4)
def _read(text: bytes) -> ServersStudy:
    return ServersStudy.parse_to_upload(text)


def _form(asked: Evaluation) -> Singles:
    return _read(asked.study).messages[asked.server][asked.aggregate]


def _question(asked: Evaluation) -> tuple[Int64, UInt64]:
    """Last cells of blocks, and weights."""
    weights = np.frombuffer(asked.weights, "<u8").astype(np.uint64)
    return np.frombuffer(asked.blocks, "<i8").astype(np.int64), weights.reshape(asked.forms, -1 if asked.forms else 0)


def _bits(part: UploadPart) -> Bool:
    rows = sum(rows for _, rows in part.groups)
    return np.unpackbits(np.frombuffer(part.counted, np.uint8), count=rows).view(np.bool_)
