"""Reports of people to servers, and what one server was sent, in one order at all servers.

Server 0 takes reports, of each person one, and stores each before it is acknowledged, with the digest of its owner's
credential:

    record = digest 16 | report

It relays to every other server the parts for it, in the order in which it stored the reports. A server that is relayed
parts stores them as they are. So the place of a part in the store is the same at all servers, and a relay that was cut
off goes on where the other one's store ends.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np

from ogive.crypto.wire import Reader
from ogive.errors import ParameterError, PeerError, RefusalError
from ogive.records.contributions import columns_of, pieces
from ogive.records.plain import PlainRecords
from ogive.segments import BEGINNING, Place, Segments
from ogive.study.servers.document import ServersStudy
from ogive.study.servers.enrolment import CREDENTIAL_BYTES, DIGEST_BYTES, Enrolled, credential
from ogive.study.servers.sealing import SEALED_BYTES, seal
from ogive.study.submissions import ClosedError, NotEnrolledError, Stored, Submissions
from ogive.trust.servers.clients import upload, upload_sums

# --- Reports: for every server a part that only this server can read
#
#     report = "OGUR" | version u8 | number of servers u8 | digest of the study 32 | for each server length u32, sealed
#     part   = credential 32 | for each aggregate a message of `trust.servers.clients`, before it is sealed

_MAGIC, _VERSION = b"OGUR", 1
_CLIENTS = 1 << 10


def part_bytes(study: ServersStudy, server: int) -> int:
    """How long each honest part of a server is, sealed."""
    return SEALED_BYTES + CREDENTIAL_BYTES + study.message_bytes[server]


def report_bytes(study: ServersStudy) -> int:
    """How long each honest report is."""
    return len(front(study)) + sum(4 + part_bytes(study, server) for server in range(len(study.servers)))


def columns_of_study(study: ServersStudy) -> tuple[str, ...]:
    """The columns that each record has."""
    columns = [each.column for collected in study.collected for each in columns_of(collected.layout.aggregate)]
    return tuple(dict.fromkeys(columns))


def make_reports(
    study: ServersStudy, records: object, tokens: Sequence[str], *, random: Callable[[int], bytes] = os.urandom
) -> Iterator[bytes]:
    """One report for each record, in order, each with a token of its own; or one for all records of an organization.

    Records are columns as lists of values, which need no Arrow, or anything else that `Records.of` reads.
    """
    if study.organizations:
        if len(tokens) != 1:
            raise ParameterError(f"an organization uploads the sums of its records with one token, got {len(tokens)}")
        yield from _sealed(study, _summed(study, records, random), tokens)
        return
    read = _opened(records)
    if read.size != len(tokens):
        raise ParameterError(f"each record needs a token of its own; records: {read.size}, tokens: {len(tokens)}")
    if len(set(tokens)) < len(tokens):
        raise ParameterError("two records have the same token; each person uploads one")
    batches = [pieces(read.contributions(each.layout.aggregate), _CLIENTS) for each in study.collected]
    for start, added in zip(range(0, read.size, _CLIENTS), zip(*batches, strict=True), strict=True):
        made = [
            upload(collected, some, batch=0, session=study.session(collected), random=random)
            for collected, some in zip(study.collected, added, strict=True)
        ]
        yield from _sealed(study, made, tokens[start : start + _CLIENTS])


def _opened(records: object) -> Any:
    if isinstance(records, Mapping) and all(isinstance(values, list | tuple) for values in records.values()):
        return PlainRecords(records)
    from ogive.records import Records

    return Records.of(records)


def _summed(study: ServersStudy, records: object, random: Callable[[int], bytes]) -> list[list[bytes]]:
    """For each aggregate the messages of one organization to every server."""
    from ogive.records import Records

    held = Records.of_party(records).bounded(study.unit.person, study.unit.max_rows_per_person)
    made = []
    for collected in study.collected:
        sums = collected.layout.columns(held.aggregate(collected.layout.aggregate))
        made.append(upload_sums(collected, sums, batch=0, session=study.session(collected), random=random))
    return made


def _sealed(study: ServersStudy, made: Sequence[Sequence[bytes]], tokens: Sequence[str]) -> Iterator[bytes]:
    """One report for each token, of messages that are of as many clients."""
    servers = range(len(study.servers))
    parts = []
    for server in servers:
        rows = [
            singles.rows(messages[server], len(tokens))
            for singles, messages in zip(study.messages[server], made, strict=True)
        ]
        parts.append(np.concatenate(rows, axis=1))
    for client, token in enumerate(tokens):
        sealed = [
            seal(
                credential(token, study=study.digest, server=server) + parts[server][client].tobytes(),
                study=study.digest,
                server=server,
                sealing=study.servers[server].sealing,
            )
            for server in servers
        ]
        yield front(study) + b"".join(len(each).to_bytes(4, "little") + each for each in sealed)


def read_report(data: bytes, study: ServersStudy) -> tuple[bytes, ...]:
    """The sealed parts of a report, one for each server."""
    reader = Reader(data, "report")
    reader.expect(front(study), "beginning, or another study,")
    parts = []
    for server in range(len(study.servers)):
        length = reader.number(4)
        if length != part_bytes(study, server):
            raise PeerError(f"the part for server {server} has another length than expected")
        parts.append(reader.take(length))
    reader.finish()
    return tuple(parts)


def front(study: ServersStudy) -> bytes:
    """What every report of a study begins with."""
    return _MAGIC + bytes([_VERSION, len(study.servers)]) + study.digest


# --- What one server was sent

FOLDER = "uploads"


class Reports(Stored):
    """The reports that server 0 takes.

    Args:
        study: The study.
        folder: Of the server.
        enrolled: Who may upload.
        closed: Whether no more are taken.

    Raises:
        RefusalError: the store cannot be used.
    """

    def __init__(self, study: ServersStudy, folder: Path, enrolled: Enrolled, *, closed: bool = False) -> None:
        self._study = study
        self._enrolled = enrolled
        self._kept = Submissions(folder / FOLDER, len(enrolled), self._owner, closed=closed)

    def _owner(self, record: bytes) -> tuple[int, bytes]:
        number = self._enrolled.place(record[:DIGEST_BYTES])
        if number is None:
            raise RefusalError("people whose reports are stored are not in the list of who may upload; restore it")
        return number, record[DIGEST_BYTES:]

    def number(self, shown: bytes) -> int:
        """The number of the person who shows a credential.

        Raises:
            NotEnrolledError: nobody has it.
        """
        number = self._enrolled.number(shown)
        if number is None:
            raise NotEnrolledError("nobody who is enrolled in this study has this credential")
        return number

    def take(self, number: int, report: bytes) -> Future[None]:
        """Store the report of a person; the same one again is as good as the first time.

        Returns:
            Done when it is durable; with a `RefusalError` if it is not kept.

        Raises:
            PeerError: it is no report of this study.
            OtherReportError: this person uploaded another one.
            ClosedError: no more are taken.
            RefusalError: too much waits to be stored.
        """
        read_report(report, self._study)
        return self._kept.take(number, report, self._enrolled.digest(number) + report)

    def close_uploads(self) -> int:
        """Take no more reports; returns how many there are once all that wait are stored."""
        return self._kept.close_uploads()

    def parts(self, server: int, place: Place = BEGINNING) -> Iterator[tuple[Place, list[bytes]]]:
        """The sealed parts for a server after a place in the store, some at a time, each with the place after it."""
        for after, records in self._kept.after(place):
            yield after, [read_report(record[DIGEST_BYTES:], self._study)[server] for record in records]


class Relayed:
    """The parts that a server other than 0 is relayed."""

    def __init__(self, study: ServersStudy, server: int, folder: Path, *, closed: int | None = None) -> None:
        self._length = part_bytes(study, server)
        self._closed = closed
        self._one = threading.Lock()
        self._store = Segments(folder / FOLDER)
        self._stored = sum(1 for _ in self._store)

    def __len__(self) -> int:
        """How many parts are stored."""
        return self._stored

    @property
    def usable(self) -> bool:
        """Whether more can be stored before the process is started again."""
        return self._store.usable

    @property
    def size(self) -> int:
        """How many bytes they take."""
        return self._store.size

    def take(self, start: int, parts: Sequence[bytes]) -> int:
        """Store parts that follow those that are there; what is there already is passed over."""
        if any(len(part) != self._length for part in parts):
            raise PeerError("a relayed part has another length than expected")
        with self._one:
            if start > self._stored:
                raise PeerError(f"parts from number {start} on were relayed, and {self._stored} are stored")
            new = parts[self._stored - start :]
            if new:
                if self._closed is not None:
                    raise ClosedError("the study takes no more uploads")
                self._store.append(new)
                self._stored += len(new)
            return self._stored

    def close_uploads(self, count: int) -> None:
        """Take no more parts."""
        with self._one:
            if self._stored != count:
                raise PeerError(f"{self._stored} parts are stored, and {count} are to be counted")
            self._closed = count

    def parts(self) -> Iterator[list[bytes]]:
        """The sealed parts, some at a time."""
        for _, records in self._store.after(BEGINNING):
            yield records

    def close(self) -> None:
        """Let another process open the store."""
        self._store.close()
