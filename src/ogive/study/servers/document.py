"""A study whose servers add up what people upload: which servers, what is uploaded, and what is asked."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ogive.core.checks import whole
from ogive.crypto.domains import HashDomain, digest
from ogive.crypto.field import P
from ogive.crypto.wire import SESSION_BYTES
from ogive.errors import OgiveError, ParameterError, UnsupportedError, quoted
from ogive.privacy import ApproxDP, ZeroConcentratedDP
from ogive.queries import Aggregate, Answer, Ballots, LinearQuery
from ogive.queries.wrapped import asked_of, finest
from ogive.statistics.base import innermost, settled
from ogive.study.common import (
    FORMAT,
    MOST_RECORDS,
    SEALING,
    Document,
    StudyRelease,
    check_different,
    check_fields,
    key_text,
    parse_toml,
    read_file,
    read_key,
    read_name,
    read_privacy,
    read_releases,
    read_tables,
    read_text,
    read_unit,
)
from ogive.study.course import Step, course, terms_of
from ogive.study.servers.sealing import is_sealing_key
from ogive.trust.modulus import check_range
from ogive.trust.servers.clients import Singles
from ogive.trust.servers.costs import decided
from ogive.trust.servers.options import ServersOptions, assumption
from ogive.trust.servers.settings import AggregateUploads, Layout
from ogive.trust.servers.uploads import AUTO, DEFAULT_TOLERATED, SUMS

SERVERS = "servers"

_FIELDS = {
    "ogive-study", "name", "title", "trust", "records", "parties", "upload", "verified", "verifications", "tolerated",
    "colluding", "min_uploads", "budget", "unit", "server", "release",
}  # fmt: skip
_LOOKED_AHEAD = 64
"""Queries of a release that are followed to see what has to be uploaded for it."""


@dataclass(frozen=True)
class StudyServer:
    """A server of a study.

    Fields:
        name: Public, for people.
        key: The public half of its key, by which its messages are known, 32 bytes.
        sealing: The public key to which its part of each upload is encrypted, 32 bytes.
    """

    name: str
    key: bytes
    sealing: bytes


@dataclass(frozen=True)
class ServersStudy(Document):
    """A study of servers, as its file says; `options` is not None.

    Fields:
        servers: In order; the first is number 0, which takes the uploads and asks the others.
        min_uploads: How many uploads there are before a release ends them.
    """

    servers: tuple[StudyServer, ...]
    min_uploads: int = 1

    @property
    def terms(self) -> ServersOptions:
        """How many servers there are, and what is uploaded to them."""
        assert isinstance(self.options, ServersOptions), "servers have options"
        return self.options

    @property
    def assumption(self) -> str:
        """Who holds the records, what each of them sees and what is assumed."""
        return assumption(self.terms.uploads, simulated=False)

    @property
    def organizations(self) -> bool:
        """Whether organizations upload the sums of their records, instead of people one record each."""
        return self.terms.parties is not None

    @cached_property
    def collected(self) -> tuple[AggregateUploads, ...]:
        """What each client uploads: for every aggregate that a release asks for, in the order of the releases."""
        found = dict.fromkeys(each for release in self.releases for each in _uploaded(self, release))
        return tuple(AggregateUploads(Layout(each), decided(self.terms.uploads, each, self.records)) for each in found)

    def uploaded(self, query: LinearQuery) -> tuple[int, LinearQuery]:
        """Which of `collected` answers a query, and the query as one about that."""
        for number, collected in enumerate(self.collected):
            asked = asked_of(query, collected.layout.aggregate)
            if asked is not None:
                return number, asked
        raise UnsupportedError("the release asks for sums of what nobody uploaded")

    def session(self, collected: AggregateUploads) -> bytes:
        """Names the collection of an aggregate in this study; 16 bytes.

        The study names keys of its servers that are made for it, so it is a fresh value.
        """
        return digest(HashDomain.SERVERS_SESSION, collected.study, self.digest, length=SESSION_BYTES)

    @cached_property
    def messages(self) -> tuple[tuple[Singles, ...], ...]:
        """For each server the forms of the messages that its part of an upload is made of."""
        return tuple(
            tuple(Singles(each, server, self.session(each)) for each in self.collected)
            for server in range(len(self.servers))
        )

    @cached_property
    def message_bytes(self) -> tuple[int, ...]:
        """For each server how long the messages of an upload are together."""
        return tuple(sum(each.length for each in forms) for forms in self.messages)

    def number_of(self, key: bytes) -> int:
        """The number of the server with this public key."""
        for number, server in enumerate(self.servers):
            if server.key == key:
                return number
        raise ParameterError(f"no server of the study {self.name} has the key {key_text(key)}")

    @staticmethod
    def read(path: str | Path) -> ServersStudy:
        """Read a study from its file."""
        return read_file(path, ServersStudy.parse)

    @staticmethod
    def parse(text: bytes) -> ServersStudy:
        """Read a study from the bytes of its file, which need not be trusted."""
        study = ServersStudy.parse_to_upload(text)
        for release in study.releases:
            _check_course(study, release)
        return study

    @staticmethod
    def read_to_upload(path: str | Path) -> ServersStudy:
        """Read a study that its servers have checked, in order to upload to them.

        What is uploaded follows from the study alone; methods and prices, which `read` follows to the end, do not
        change it. So a device loads little and waits for nothing. Where the servers did not check the study, they take
        no upload.
        """
        return read_file(path, ServersStudy.parse_to_upload)

    @staticmethod
    def parse_to_upload(text: bytes) -> ServersStudy:
        """`read_to_upload` of the bytes of a file."""
        data = parse_toml(text)
        trust = read_text(data, "trust", "")
        if trust != SERVERS:
            raise ParameterError(f"the study's trust must be {SERVERS} here, got {quoted(trust)}")
        check_fields(data, "the study", _FIELDS)
        servers = _servers(data)
        unit = read_unit(data)
        options = _options(data, len(servers))
        if unit.person is not None and options.parties is None:
            raise ParameterError("each person uploads one record to servers; leave out person")
        return ServersStudy(
            text=text,
            name=read_name(data.get("name"), "the study"),
            title=read_text(data, "title", ""),
            records=whole(data.get("records"), "records", 1, MOST_RECORDS),
            unit=unit,
            options=options,
            budget=read_privacy(data.get("budget"), "budget"),
            servers=servers,
            releases=read_releases(data),
            min_uploads=whole(data.get("min_uploads", 1), "min_uploads", 0, MOST_RECORDS),
        )


def _servers(data: Mapping[str, Any]) -> tuple[StudyServer, ...]:
    found = []
    for number, given in enumerate(read_tables(data, "server", 2)):
        check_fields(given, "a [[server]]", {"name", "key", "sealing"})
        name = read_name(given.get("name"), f"server {number}")
        key = read_key(given.get("key"), f"server {name}")
        sealing = read_key(given.get("sealing"), f"server {name}", SEALING)
        if not is_sealing_key(sealing):
            raise ParameterError(
                f"the sealing key of server {name} is none that anything can be encrypted to; it must be what ogive "
                "study keys --sealing prints"
            )
        found.append(StudyServer(name, key, sealing))
    check_different([server.name for server in found], "servers")
    if len({server.key for server in found}) < len(found) or len({server.sealing for server in found}) < len(found):
        raise ParameterError("two servers have the same key; each makes one of its own with ogive study keys")
    return tuple(found)


def _options(data: Mapping[str, Any], servers: int) -> ServersOptions:
    parties, upload = data.get("parties"), read_text(data, "upload", AUTO)
    if parties is not None and upload == AUTO:
        upload = SUMS
    if parties is not None and upload != SUMS:
        raise ParameterError(
            f"parties upload the sums of their records, not {quoted(upload)}; leave out parties where each record is "
            "uploaded by itself"
        )
    return ServersOptions(
        servers,
        parties,
        upload=upload,
        verified=data.get("verified"),
        verifications=data.get("verifications", 16),
        tolerated=data.get("tolerated", DEFAULT_TOLERATED),
        colluding=data.get("colluding"),
    )


def _check_course(study: ServersStudy, release: StudyRelease) -> None:
    """Refuse a release that these servers cannot compute, or that asks for anything but what is uploaded."""
    try:
        step = course(study, release, ())
    except OgiveError as problem:
        raise problem.prefixed(f"release {release.name}") from None
    assert isinstance(step, Step), "every release asks something"
    votes = study.organizations and isinstance(step.query.aggregate, Ballots)
    if votes and parse_toml(study.text).get("upload", AUTO) != SUMS:
        raise ParameterError(
            f"release {release.name}: teachers upload their votes one by one; leave out parties and give each "
            'teacher a token, or add the votes of each party up with upload = "sums"'
        )
    asked = _whatever_sums(study, release, *(_asked(study, release, alike=alike) for alike in (True, False)))
    if asked != _uploaded(study, release):
        raise ParameterError(
            f"release {release.name}: which sums {innermost(release.statistic).name} asks for depends on its noise, "
            "and everybody uploads once; use trust secagg between organizations"
        )


def _uploaded(study: ServersStudy, release: StudyRelease) -> list[Aggregate]:
    """What has to be uploaded for a release, whatever the sums will be."""
    return _whatever_sums(study, release, *(_without_noise(study, release, alike=alike) for alike in (True, False)))


def _whatever_sums(
    study: ServersStudy, release: StudyRelease, found: list[Aggregate], others: list[Aggregate]
) -> list[Aggregate]:
    """The aggregates from which follow those that were asked for of some records and of others."""
    if found == others:
        return found
    narrow = finest([*found, *others])
    if narrow is None:
        raise ParameterError(
            f"release {release.name}: {innermost(release.statistic).name} asks for sums that follow from its "
            "first answer, and everybody uploads once; use trust secagg between organizations"
        )
    refusal = study.terms.cell_limit(Layout(narrow).cells)
    if refusal is not None:
        raise ParameterError(f"release {release.name}: {refusal}")
    return [narrow]


def _without_noise(study: ServersStudy, release: StudyRelease, *, alike: bool) -> list[Aggregate]:
    """What a release asks sums of where answers are exact: no method is chosen and nothing is priced.

    Noise for a guarantee with a delta takes long to design, so that for another guarantee stands in for it, which every
    method takes that takes those. `_check_course` compares what is found with what is asked under the guarantee itself.
    """
    privacy = ZeroConcentratedDP(1) if isinstance(release.privacy, ApproxDP) else release.privacy
    terms = dataclasses.replace(terms_of(study, release), privacy=privacy, private=False, simulations=0)
    found: dict[Aggregate, None] = {}
    try:
        procedure = settled(release.statistic, study.unit).questions(terms)
        query = next(procedure)
        for _ in range(_LOOKED_AHEAD):
            reason = terms.refusal(query)
            if reason is not None:
                raise UnsupportedError(reason)
            assert isinstance(query, LinearQuery), "servers serve no other"
            found[query.aggregate] = None
            # without noise nothing is smoothed, so an installation without solvers follows every method
            query = procedure.send(dataclasses.replace(_imagined(study, query, alike=alike), noisy=False))
    except StopIteration:
        pass
    except OgiveError as problem:
        if not found:
            raise problem.prefixed(f"release {release.name}") from None
    return list(found)


def _asked(study: ServersStudy, release: StudyRelease, *, alike: bool) -> list[Aggregate]:
    """What a release asks sums of, if its answers are those of imagined records, all alike or not."""
    found: dict[Aggregate, None] = {}
    answers: list[Answer] = []
    step = course(study, release, answers)
    while isinstance(step, Step) and len(answers) < _LOOKED_AHEAD:
        found[step.query.aggregate] = None
        if study.organizations:
            check_range(
                step.query, records=study.records, servers=len(study.servers), honest=study.terms.honest, modulus=P
            )
        answers.append(_imagined(study, step.query, alike=alike))
        try:
            step = course(study, release, answers)
        except OgiveError:  # there is nothing to say of these; what else it asks has the same aggregate
            break
    return list(found)


def _imagined(study: ServersStudy, query: LinearQuery, *, alike: bool) -> Answer:
    sums = np.zeros(query.aggregate.shape, np.int64)
    cells = sums.reshape(-1)
    some = np.arange(0, 1 if alike else cells.size, max(1, cells.size // 7))
    cells[some] = study.records // some.size
    cells[0] += study.records % some.size
    totals = query.totals(sums, study.unit.adjacency)
    return Answer(query.measure(sums), totals, adding=len(study.servers), honest=study.terms.honest)


# --- The file of a new study of servers, with one release to be edited

_TEXT = """\
# What is computed, by whom, and at what price. Everybody reads the same bytes: compare `sha256sum` of the file.
ogive-study = {format}
name = "{name}"
title = ""
# people split their record into shares for these servers, of which at least one must be honest
trust = "{trust}"
# about how many people will upload; what is uploaded and methods are chosen by it
records = {records}
# where organizations upload the sums of their records instead: how many there are, such as
# parties = 4
# how many uploads there are at the least before a release ends them; with fewer it is refused, and nothing is spent
min_uploads = 1
# what all releases together may cost the record of each person
budget = {{ epsilon = 1 }}

[unit]
# "replace" makes the number of records public; "add_or_remove" keeps it private, and the servers have to as well
adjacency = "replace"
{servers}
[[release]]
name = "age"
statistic = "ecdf"
privacy = {{ epsilon = 1 }}
column = "age"
bounds = [0, 120]
grid = "integers"
"""


def template(name: str, *, servers: Mapping[str, tuple[str, str]], records: int) -> str:
    """The text of a study of servers, which `ServersStudy.parse` reads."""
    written = "".join(
        f'\n[[server]]\nname = "{each}"\nkey = "{key}"\nsealing = "{sealing}"\n'
        for each, (key, sealing) in servers.items()
    )
    text = _TEXT.format(format=FORMAT, name=name, trust=SERVERS, records=records, servers=written)
    ServersStudy.parse(text.encode())
    return text
