"""Reports of people to servers, and what one server was sent, in one order at all servers.

Server 0 takes reports, of each person one, and stores each before it is acknowledged, with the digest of its owner's
credential:

    record = digest 16 | report

It relays to every other server the parts for it, in the order in which it stored the reports. A server that is relayed
parts stores them as they are. So the place of a part in the store is the same at all servers, and a relay that was cut
off goes on where the other one's store ends.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import os
import threading
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np

from ogive.core.checks import Progress
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.wire import Reader
from ogive.errors import ParameterError, PeerError, RefusalError, plain
from ogive.records.contributions import columns_of, pieces
from ogive.records.plain import PlainRecords
from ogive.segments import BEGINNING, Place, Segments
from ogive.study.common import read_bytes, read_file
from ogive.study.document import ServersStudy
from ogive.study.enrolment import TOKEN_BYTES, TOKENS, make_token, new_folder, write_private
from ogive.study.https import Sender
from ogive.study.sealing import SEALED_BYTES, seal
from ogive.study.submissions import DIGEST_BYTES, ClosedError, Listed, NotEnrolledError, Submissions, read_digests
from ogive.trust.servers.clients import upload as shared
from ogive.trust.servers.clients import upload_sums

# --- Reports: for every server a part that only this server can read
#
#     report = "OGUR" | version u8 | number of servers u8 | digest of the study 32 | for each server length u32, sealed
#     part   = credential 32 | for each aggregate a message of `trust.servers.clients`, before it is sealed

_MAGIC, _VERSION = b"OGUR", 1
_CLIENTS = 1 << 10


def part_bytes(study: ServersStudy, server: int) -> int:
    return SEALED_BYTES + CREDENTIAL_BYTES + study.message_bytes[server]


def report_bytes(study: ServersStudy) -> int:
    return len(front(study)) + sum(4 + part_bytes(study, server) for server in range(len(study.servers)))


def columns_of_study(study: ServersStudy) -> tuple[str, ...]:
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
        messages = [
            shared(collected, some, batch=0, session=study.session(collected), random=random)
            for collected, some in zip(study.collected, added, strict=True)
        ]
        yield from _sealed(study, messages, tokens[start : start + _CLIENTS])


def _opened(records: object) -> Any:
    if isinstance(records, Mapping) and all(isinstance(values, list | tuple) for values in records.values()):
        return PlainRecords(records)
    from ogive.records import Records

    return Records.of(records)


def _summed(study: ServersStudy, records: object, random: Callable[[int], bytes]) -> list[list[bytes]]:
    """For each aggregate the messages of one organization to every server."""
    from ogive.records import Records

    held = Records.of_party(records).bounded(study.unit.person, study.unit.max_rows_per_person)
    results = []
    for collected in study.collected:
        sums = collected.layout.columns(held.aggregate(collected.layout.aggregate))
        results.append(upload_sums(collected, sums, batch=0, session=study.session(collected), random=random))
    return results


def _sealed(study: ServersStudy, messages: Sequence[Sequence[bytes]], tokens: Sequence[str]) -> Iterator[bytes]:
    servers = range(len(study.servers))
    parts = []
    for server in servers:
        forms = zip(study.messages[server], messages, strict=True)
        parts.append(np.concatenate([form.rows(each[server], len(tokens)) for form, each in forms], axis=1))
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
    return _MAGIC + bytes([_VERSION, len(study.servers)]) + study.digest


# --- What one server was sent

FOLDER = "uploads"


class Reports(Submissions):
    """The reports that server 0 takes."""

    def __init__(self, study: ServersStudy, folder: Path, enrolled: Enrolled, *, closed: bool = False) -> None:
        self._study = study
        self._enrolled = enrolled
        super().__init__(folder / FOLDER, len(enrolled), closed=closed)

    def _owner(self, record: bytes) -> tuple[int, bytes]:
        number = self._enrolled.place(record[:DIGEST_BYTES])
        if number is None:
            raise RefusalError("people whose reports are stored are not in the list of who may upload; restore it")
        return number, record[DIGEST_BYTES:]

    def number(self, shown: bytes) -> int:
        """The number of the person who shows a credential."""
        number = self._enrolled.number(shown)
        if number is None:
            raise NotEnrolledError("nobody who is enrolled in this study has this credential")
        return number

    def take(self, number: int, report: bytes) -> Future[None]:
        """Store the report of a person; the same one again is as good as the first time."""
        read_report(report, self._study)
        return self._keep(number, report, self._enrolled.digest(number) + report)

    def parts(self, server: int, place: Place = BEGINNING) -> Iterator[tuple[Place, list[bytes]]]:
        """The sealed parts for a server after a place in the store, some at a time, each with the place after it."""
        for after, records in self.after(place):
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
        return self._stored

    @property
    def usable(self) -> bool:
        return self._store.usable

    @property
    def size(self) -> int:
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
        with self._one:
            if self._stored != count:
                raise PeerError(f"{self._stored} parts are stored, and {count} are to be counted")
            self._closed = count

    def parts(self, server: int, place: Place = BEGINNING) -> Iterator[tuple[Place, list[bytes]]]:
        return self._store.after(place)

    def close(self) -> None:
        self._store.close()


# --- One call that uploads: shares are made here, and sent until the server acknowledges them


def upload(
    study: ServersStudy | str | Path,
    records: Any,
    *,
    tokens: str | Sequence[str],
    connect: str,
    authority: str | Path | None = None,
    progress: Progress = lambda done, whole: None,
) -> int:
    """Split records into shares for the servers of a study, and send them.

    Nobody but this process sees a record. A person uploads once: with a token whose upload is stored already, nothing
    changes.

    Args:
        study: The study, or its file.
        records: One value, or a list or array of values, where the study asks for one column, else a table with a row
            for each token, in any form that `Records.of` reads.
        tokens: The person's token, or one for each record.
        connect: Address of the first server of the study, such as "https://north.example.org:8443".
        authority: File with the certificate that its certificate was issued with; None for those the system trusts.
        progress: Called with how many uploads were acknowledged, and how many there are.

    Returns:
        How many are new; the others were stored before.

    Raises:
        ParameterError: the study, a token or the address is none, tokens are not as many as records, or a table is to
            be read, or votes are asked, by an installation without what that takes.
        DataError: a record does not fit the study.
        PeerError: the server refuses an upload.
        RefusalError: the server does not answer, after several tries.

    Privacy: each server, and all but one of them together, sees random numbers. What all of them see together and
        what is published is said by `ogive study check`.

    Source:
        `methods/crypto.md`; `docs/servers.md`.
    """
    shown = [tokens] if isinstance(tokens, str) else list(tokens)
    try:
        # a device loads little and waits for nothing: what is uploaded follows from the study alone, which its servers
        # have followed to the end, or they take no upload
        read = study if isinstance(study, ServersStudy) else read_file(study, ServersStudy.parse_unchecked)
        reports = make_reports(read, _table(read, records), shown)
        new = 0
        with Sender(read.digest, connect, authority=None if authority is None else Path(authority)) as sender:
            for done, (report, token) in enumerate(zip(reports, shown, strict=True), 1):
                new += sender.send(report, credential(token, study=read.digest, server=0).hex())
                progress(done, len(shown))
        return new
    except ModuleNotFoundError as missing:
        raise ParameterError(
            f"this upload needs the whole installation, pip install ogive: {missing}; one value, or a list of values, "
            "of another study than one of votes needs numpy and cryptography alone"
        ) from None


def _table(study: ServersStudy, records: Any) -> Any:
    if isinstance(records, np.generic | np.ndarray) and records.ndim < 2 and records.dtype.kind in "biufU":
        records = records.tolist()
    if isinstance(records, int | float | datetime.date):
        records = [records]
    if not isinstance(records, list | tuple):
        return records
    columns = columns_of_study(study)
    if len(columns) > 1:
        raise ParameterError(f"the study asks for the columns {', '.join(columns)}; give a table with these")
    return {columns[0]: list(records)}


# --- Who may upload: each person has a token, and each server knows a digest of what follows from it
#
# A token is random and is sent to nobody. What a person shows to a server, the credential, is the HMAC of the token
# over study and server, so that no server, and nobody who relays an upload, can show it to another one. A server keeps
# the digests of all credentials, sorted:
#
#     list = "OGENROL1" | digest of the study 32 | number of the server u32 | digests, 16 bytes each

CREDENTIAL_BYTES = 32

_LIST = b"OGENROL1"
_MOST = 1 << 24
"""People in a list."""


def credential(token: str, *, study: bytes, server: int) -> bytes:
    try:
        key = bytes.fromhex(token)
    except ValueError:
        key = b""
    if len(key) != TOKEN_BYTES:
        raise ParameterError(f"a token has {2 * TOKEN_BYTES} hexadecimal digits, as ogive study devices makes them")
    shown = digest(HashDomain.UPLOAD_CREDENTIAL, study, number(server))
    return hmac.new(key, shown, hashlib.sha256).digest()


def enrolled(tokens: Iterable[str], study: ServersStudy, server: int) -> bytes:
    result = sorted({_digest(credential(token, study=study.digest, server=server)) for token in tokens})
    return _list_front(study, server) + b"".join(result)


def _list_front(study: ServersStudy, server: int) -> bytes:
    return _LIST + study.digest + number(server)[:4]


class Enrolled(Listed):
    """The list of one server, of digests of credentials in increasing order."""

    def number(self, shown: bytes) -> int | None:
        """The number of whose credential this is, from 0; None if there is nobody.

        A search takes time that depends on the digest of what was shown, from which nobody finds another credential.
        """
        return self.place(_digest(shown))

    def place(self, known: bytes) -> int | None:
        """The number of whose credential has this digest; None if there is nobody."""
        place = bisect_left(range(len(self)), known, key=self.digest)
        return place if self.digest(place) == known else None

    @staticmethod
    def read(paths: Sequence[Path], study: ServersStudy, server: int) -> Enrolled:
        front, which = _list_front(study, server), "list of who may upload"
        result = b"".join(
            read_digests(path, front, _MOST, what=which, maker="study", other="server or another study")
            for path in paths
        )
        each = {result[start : start + DIGEST_BYTES] for start in range(0, len(result), DIGEST_BYTES)}
        return Enrolled(b"".join(sorted(each)))


def list_name(server: str) -> str:
    return f"{server}.enrolled"


def enrol(folder: Path, study: ServersStudy, count: int) -> None:
    tokens = [make_token() for _ in range(count)]
    with new_folder(folder):
        for number_of, server in enumerate(study.servers):
            write_private(folder / list_name(server.name), enrolled(tokens, study, number_of))
        write_private(folder / TOKENS, "".join(f"{token}\n" for token in tokens).encode())


def read_tokens(path: Path) -> list[str]:
    try:
        tokens = read_bytes(path, 1 << 28, "the file of tokens").decode("ascii").split()
    except UnicodeDecodeError:
        tokens = []
    if not tokens or any(len(token) != 2 * TOKEN_BYTES for token in tokens):
        raise ParameterError(f"{plain(path)} holds no tokens; ogive study devices makes them")
    return tokens


def _digest(shown: bytes) -> bytes:
    return digest(HashDomain.UPLOAD_ENROLLED, shown, length=DIGEST_BYTES)
