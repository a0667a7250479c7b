"""A study as its file says: one document, with a role for each way in which those who take part come together.

secagg    organizations keep their rows, and add up masked vectors
merge     organizations release curves of their own, which are added up
servers   people, or organizations, upload shares of their records once
pairs     people meet in pairs
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from ogive.core.checks import whole
from ogive.crypto.domains import HashDomain, digest
from ogive.crypto.field import P
from ogive.crypto.wire import SESSION_BYTES
from ogive.errors import OgiveError, ParameterError, UnsupportedError, quoted
from ogive.privacy import ApproxDP, ZeroConcentratedDP
from ogive.provenance import trust_statement
from ogive.queries import Aggregate, Answer, Ballots, LinearQuery
from ogive.queries.wrapped import asked_of, finest
from ogive.statistics.base import innermost, settled
from ogive.study import common
from ogive.study.common import Document, StudyRelease
from ogive.study.course import Step, course, terms_of
from ogive.study.sealing import is_sealing_key
from ogive.trust.models import PairsOptions
from ogive.trust.secagg import COLLUDING, SecAggOptions
from ogive.trust.servers import ServersOptions, assumption
from ogive.trust.servers.clients import Singles
from ogive.trust.servers.comparing import decided
from ogive.trust.servers.modular import check_range
from ogive.trust.servers.settings import AggregateUploads, Layout
from ogive.trust.servers.uploads import AUTO, DEFAULT_TOLERATED, SUMS

SECAGG, MERGE, SERVERS, PAIRS = "secagg", "merge", "servers", "pairs"

_COMMON_FIELDS = {"ogive-study", "name", "title", "trust", "budget", "unit", "release"}
_MERGED_METHODS = ("path", "tree_ls", "hat_ls", "sqrt", "symmetric", "ring")
"""Methods whose curves add up without bias, whatever the sizes of the parties."""
_FEWEST_PEOPLE = 4
_LOOKED_AHEAD = 64
"""Queries of a release that are followed to see what has to be uploaded for it."""


@dataclass(frozen=True)
class Member:
    """A party or a server of a study; its messages are known by `key`, 32 bytes.

    To `sealing`, of a server, its part of each upload is encrypted.
    """

    name: str
    key: bytes
    sealing: bytes = b""


@dataclass(frozen=True)
class _Role(Document):
    """What all roles read alike; `_own` reads the rest of the file."""

    state: ClassVar[tuple[str, str]]
    """Under which name a state says of which study it is, and who runs on it."""
    _trusts: ClassVar[tuple[str, ...]]
    _default: ClassVar[str] = ""
    _fields: ClassVar[set[str]]

    @classmethod
    def read(cls, path: str | Path) -> Self:
        return common.read_file(path, cls.parse)

    @classmethod
    def parse(cls, text: bytes) -> Self:
        study = cls.parse_unchecked(text)
        for release in study.releases:
            study._check(release)
        return study

    @classmethod
    def parse_unchecked(cls, text: bytes) -> Self:
        """Read a study whose releases need not be followed, since others have done so."""
        data = common.parse_toml(text)
        trust = common.read_text(data, "trust", cls._default)
        if trust not in cls._trusts:
            here = "" if cls._default else " here"
            raise ParameterError(f"the study's trust must be {' or '.join(cls._trusts)}{here}, got {quoted(trust)}")
        common.check_fields(data, "a study of pairs" if trust == PAIRS else "the study", _COMMON_FIELDS | cls._fields)
        return cls(
            text=text,
            name=common.read_name(data.get("name"), "the study"),
            title=common.read_text(data, "title", ""),
            budget=common.read_privacy(data.get("budget"), "budget"),
            releases=common.read_releases(data),
            **cls._own(data, trust),
        )

    @classmethod
    def _own(cls, data: Mapping[str, Any], trust: str) -> dict[str, Any]:
        raise NotImplementedError

    def _check(self, release: StudyRelease) -> None:
        """Refuse a release that those who take part cannot compute."""


# --- Organizations that keep their rows


@dataclass(frozen=True)
class Study(_Role):
    """A study of parties, of whom the first is number 1; `options` is None where their curves are merged."""

    state: ClassVar = ("study", "a coordinator's; name the --state that ogive study serve")
    _trusts: ClassVar = (SECAGG, MERGE)
    _default: ClassVar = SECAGG
    _fields: ClassVar = {"records", "colluding", "dropouts", "coordinator", "party"}

    trust: str
    dropouts: int
    coordinator: bytes
    parties: tuple[Member, ...]

    @property
    def aggregation(self) -> SecAggOptions:
        assert isinstance(self.options, SecAggOptions), "curves are merged without a protocol"
        return self.options

    @property
    def assumption(self) -> str:
        return self.aggregation.terms.assumption(simulated=False)

    def number_of(self, key: bytes) -> int:
        return 1 + _place(self, key, [party.key for party in self.parties], "no party of")

    @classmethod
    def _own(cls, data: Mapping[str, Any], trust: str) -> dict[str, Any]:
        parties = _members(data, "party", "parties", first=1)
        dropouts = whole(data.get("dropouts", 0), "dropouts", 0)
        return {
            "trust": trust,
            "options": (_added if trust == SECAGG else _merged)(data, len(parties), dropouts),
            "dropouts": dropouts,
            "coordinator": _coordinator(data, [party.key for party in parties], "party"),
            "unit": common.read_unit(data),
            "records": whole(data.get("records"), "records", 1, common.MOST_RECORDS),
            "parties": parties,
        }

    def _check(self, release: StudyRelease) -> None:
        from ogive.statistics.ecdf.statistic import Ecdf  # not needed to upload

        asked = release.statistic
        if self.trust == SECAGG:
            return
        if not isinstance(asked, Ecdf):
            raise ParameterError(
                f"release {release.name}: where parties merge what they release, it must be an ecdf, of all records"
            )
        if asked.method not in _MERGED_METHODS:
            raise ParameterError(
                f"release {release.name}: curves of parties of any size add up by the methods "
                f"{', '.join(_MERGED_METHODS)}; name one, got {quoted(asked.method)}"
            )


def _members(data: Mapping[str, Any], what: str, several: str, *, first: int) -> tuple[Member, ...]:
    sealed = what == "server"
    results = []
    for number, given in enumerate(common.read_tables(data, what, 2), first):
        common.check_fields(given, f"a [[{what}]]", {"name", "key", "sealing"} if sealed else {"name", "key"})
        name = common.read_name(given.get("name"), f"{what} {number}")
        key = common.read_key(given.get("key"), f"{what} {name}")
        sealing = common.read_key(given.get("sealing"), f"{what} {name}", common.SEALING) if sealed else b""
        if sealed and not is_sealing_key(sealing):
            raise ParameterError(
                f"the sealing key of server {name} is none that anything can be encrypted to; it must be what ogive "
                "study keys --sealing prints"
            )
        results.append(Member(name, key, sealing))
    common.check_different([each.name for each in results], several)
    _check_keys([each.key for each in results], several)
    if sealed:
        _check_keys([each.sealing for each in results], several)
    return tuple(results)


def _check_keys(keys: list[bytes], several: str) -> None:
    if len(set(keys)) < len(keys):
        raise ParameterError(f"two {several} have the same key; each makes one of its own with ogive study keys")


def _place(study: Document, key: bytes, keys: list[bytes], none: str) -> int:
    if key not in keys:
        raise ParameterError(f"{none} the study {study.name} has the key {common.key_text(key)}")
    return keys.index(key)


def _coordinator(data: Mapping[str, Any], others: list[bytes], whose: str) -> bytes:
    given = common.read_table(data, "coordinator")
    common.check_fields(given, "[coordinator]", {"key"})
    key = common.read_key(given.get("key"), "the coordinator")
    if key in others:
        raise ParameterError(f"the coordinator needs a key of its own, and this is that of a {whose}")
    return key


def _merged(data: Mapping[str, Any], parties: int, dropouts: int) -> None:
    """Check what a study without a protocol says of its parties."""
    from ogive.statistics.curve.batches import MOST_BATCHES

    if "colluding" in data:
        raise ParameterError("where curves are merged nobody can collude; leave out colluding")
    if parties > MOST_BATCHES:
        raise ParameterError(f"at most {MOST_BATCHES} parties can merge their curves, got {parties}")
    if dropouts > parties - 2:
        raise ParameterError(f"a sum needs two curves, so {dropouts} of {parties} parties cannot be missing")


def _added(data: Mapping[str, Any], parties: int, dropouts: int) -> SecAggOptions:
    from ogive.trust.secagg.terms import ALL_PAIRS

    colluding = whole(data.get("colluding", COLLUDING), "colluding", 1)
    if parties > ALL_PAIRS:
        raise ParameterError(f"a study has at most {ALL_PAIRS} parties, got {parties}")
    options = SecAggOptions(parties, colluding, dropouts)
    if not options.terms.confirmed:
        raise ParameterError(
            f"{parties} parties of which {dropouts} may leave and {colluding} may collude cannot confirm to each other "
            "who is in a sum; count on fewer that leave or collude"
        )
    return options


# --- People who meet in pairs


@dataclass(frozen=True)
class PeopleStudy(_Role):
    """A study of people who meet in pairs for one release; of the people, known by keys, the first is number 1."""

    state: ClassVar = ("pairs/study", "that of a service of people; name the --state that ogive study serve")
    _trusts: ClassVar = (PAIRS,)
    _fields: ClassVar = {"people", "deadline", "coordinator"}

    coordinator: bytes
    people: tuple[bytes, ...]
    deadline: datetime

    @property
    def assumption(self) -> str:
        return trust_statement(
            holds="Each person holds their own record, on a machine of their own. Pairs of people evaluate garbled "
            "circuits, which add noise from both.",
            sees="The partner and everyone else see at most values with noise. The service sees who meets whom, and "
            "when.",
            assumed="Nobody is trusted with another's record. People follow the protocol, and AES-128 and edwards25519 "
            "are secure. The guarantee holds even if all other people and the service share what they know.",
        )

    def number_of(self, key: bytes) -> int:
        return 1 + _place(self, key, list(self.people), "nobody in")

    @classmethod
    def _own(cls, data: Mapping[str, Any], trust: str) -> dict[str, Any]:
        people, unit = _people(data.get("people")), common.read_unit(data)
        if unit.person is not None:
            raise ParameterError("each person of a study of pairs has one record; leave out person")
        deadline = data.get("deadline")
        if not isinstance(deadline, datetime) or deadline.tzinfo is None:
            raise ParameterError(
                "the study needs a deadline with a time zone, such as 2030-12-31T18:00:00Z, got "
                f"{quoted(str(deadline))}"
            )
        return {
            "records": len(people),
            "unit": unit,
            "options": PairsOptions(),
            "coordinator": _coordinator(data, list(people), "person"),
            "people": people,
            "deadline": deadline,
        }

    def _check(self, release: StudyRelease) -> None:
        if len(self.releases) > 1:
            raise ParameterError(
                "people meet for one release, all at a time and until one deadline; write a study for each, under one "
                "name, so that ledgers add up what all cost"
            )


def _people(given: Any) -> tuple[bytes, ...]:
    if not isinstance(given, list) or len(given) < _FEWEST_PEOPLE:
        raise ParameterError(
            f"the study needs people, a list of at least {_FEWEST_PEOPLE} keys that ogive study keys prints"
        )
    result = tuple(common.read_key(each, f"person {number}") for number, each in enumerate(given, 1))
    _check_keys(list(result), "people")
    return result


# --- Servers that add up what people upload


@dataclass(frozen=True)
class ServersStudy(_Role):
    """A study of servers; the first is number 0, which takes the uploads and asks the others.

    A release ends the uploads once there are `min_uploads`.
    """

    state: ClassVar = ("study", "a server's; name the --state that ogive study server")
    _trusts: ClassVar = (SERVERS,)
    _fields: ClassVar = {
        "records", "parties", "upload", "verified", "verifications", "tolerated", "colluding", "min_uploads", "server",
    }  # fmt: skip

    servers: tuple[Member, ...]
    min_uploads: int = 1

    @property
    def terms(self) -> ServersOptions:
        assert isinstance(self.options, ServersOptions), "servers have options"
        return self.options

    @property
    def assumption(self) -> str:
        return assumption(self.terms.uploads, simulated=False)

    @property
    def organizations(self) -> bool:
        """Whether organizations upload the sums of their records, instead of people one record each."""
        return self.terms.parties is not None

    @cached_property
    def collected(self) -> tuple[AggregateUploads, ...]:
        """What each client uploads: for every aggregate that a release asks for, in the order of the releases."""
        result = dict.fromkeys(each for release in self.releases for each in _uploaded(self, release))
        return tuple(AggregateUploads(Layout(each), decided(self.terms.uploads, each, self.records)) for each in result)

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
        return _place(self, key, [server.key for server in self.servers], "no server of")

    @classmethod
    def _own(cls, data: Mapping[str, Any], trust: str) -> dict[str, Any]:
        servers, unit = _members(data, "server", "servers", first=0), common.read_unit(data)
        options = _uploading(data, len(servers))
        if unit.person is not None and options.parties is None:
            raise ParameterError("each person uploads one record to servers; leave out person")
        return {
            "records": whole(data.get("records"), "records", 1, common.MOST_RECORDS),
            "unit": unit,
            "options": options,
            "servers": servers,
            "min_uploads": whole(data.get("min_uploads", 1), "min_uploads", 0, common.MOST_RECORDS),
        }

    def _check(self, release: StudyRelease) -> None:
        _check_course(self, release)


def _uploading(data: Mapping[str, Any], servers: int) -> ServersOptions:
    parties, upload = data.get("parties"), common.read_text(data, "upload", AUTO)
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
    if votes and common.parse_toml(study.text).get("upload", AUTO) != SUMS:
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
    study: ServersStudy, release: StudyRelease, result: list[Aggregate], others: list[Aggregate]
) -> list[Aggregate]:
    """The aggregates from which follow those that were asked for of some records and of others."""
    if result == others:
        return result
    narrow = finest([*result, *others])
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
    results: dict[Aggregate, None] = {}
    try:
        procedure = settled(release.statistic, study.unit).questions(terms)
        query = next(procedure)
        for _ in range(_LOOKED_AHEAD):
            reason = terms.refusal(query)
            if reason is not None:
                raise UnsupportedError(reason)
            assert isinstance(query, LinearQuery), "servers serve no other"
            results[query.aggregate] = None
            # without noise nothing is smoothed, so an installation without solvers follows every method
            query = procedure.send(dataclasses.replace(_imagined(study, query, alike=alike), noisy=False))
    except StopIteration:
        pass
    except OgiveError as problem:
        if not results:
            raise problem.prefixed(f"release {release.name}") from None
    return list(results)


def _asked(study: ServersStudy, release: StudyRelease, *, alike: bool) -> list[Aggregate]:
    """What a release asks sums of, if its answers are those of imagined records, all alike or not."""
    results: dict[Aggregate, None] = {}
    answers: list[Answer] = []
    step = course(study, release, answers)
    while isinstance(step, Step) and len(answers) < _LOOKED_AHEAD:
        results[step.query.aggregate] = None
        if study.organizations:
            check_range(
                step.query, records=study.records, servers=len(study.servers), honest=study.terms.honest, modulus=P
            )
        answers.append(_imagined(study, step.query, alike=alike))
        try:
            step = course(study, release, answers)
        except OgiveError:  # there is nothing to say of these; what else it asks has the same aggregate
            break
    return list(results)


def _imagined(study: ServersStudy, query: LinearQuery, *, alike: bool) -> Answer:
    sums = np.zeros(query.aggregate.shape, np.int64)
    cells = sums.reshape(-1)
    some = np.arange(0, 1 if alike else cells.size, max(1, cells.size // 7))
    cells[some] = study.records // some.size
    cells[0] += study.records % some.size
    totals = query.totals(sums, study.unit.adjacency)
    return Answer(query.measure(sums), totals, adding=len(study.servers), honest=study.terms.honest)


AnyStudy = Study | ServersStudy | PeopleStudy


def read_study(path: str | Path) -> AnyStudy:
    return common.read_file(path, parse_study)


def parse_study(text: bytes) -> AnyStudy:
    trust = common.parse_toml(text).get("trust")
    role: type[AnyStudy] = ServersStudy if trust == SERVERS else PeopleStudy if trust == PAIRS else Study
    return role.parse(text)
