"""What one person or organization sends: for every server a part that only this server can read.

report = "OGUR" | version u8 | number of servers u8 | digest of the study 32 | for each server length u32, sealed
part   = credential 32 | for each aggregate a message of `trust.servers.clients`, before it is sealed
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ogive.crypto.wire import Reader
from ogive.errors import ParameterError, PeerError
from ogive.records.contributions import Contributions, columns_of, pieces
from ogive.records.plain import PlainRecords
from ogive.study.servers.document import ServersStudy
from ogive.study.servers.enrolment import CREDENTIAL_BYTES, credential
from ogive.study.servers.sealing import SEALED_BYTES, seal
from ogive.trust.servers.clients import upload, upload_sums

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

    Args:
        study: What is asked.
        records: Columns as lists of values, which need no Arrow, or anything else that `Records.of` reads.
        tokens: Of those whose records these are, in the order of the records; or that of the organization.
        random: Uniform bytes of a given number; secret.

    Raises:
        DataError: the records cannot be read, or hold what the study refuses.
        ParameterError: there are not as many tokens as records, or one is none.
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
        yield from _reports(study, added, tokens[start : start + _CLIENTS], random)


def _opened(records: object) -> Any:
    if isinstance(records, Mapping) and all(isinstance(values, list | tuple) for values in records.values()):
        return PlainRecords(records)
    from ogive.records import Records

    return Records.of(records)


def _reports(
    study: ServersStudy, added: Sequence[Contributions], tokens: Sequence[str], random: Callable[[int], bytes]
) -> Iterator[bytes]:
    made = [
        upload(collected, some, batch=0, session=study.session(collected), random=random)
        for collected, some in zip(study.collected, added, strict=True)
    ]
    yield from _sealed(study, made, tokens)


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
    """The sealed parts of a report, one for each server.

    Raises:
        PeerError: it is no report of this study, or not as long as honest ones are.
    """
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
