"""The study: a public file that says what is computed, by whom, and at what price.

Everybody reads the same bytes. Their SHA-256 is the digest of the study, which every message carries, so that two
parties with different files have nothing to say to each other.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hashlib
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from ogive.checks import whole
from ogive.errors import OgiveError, ParameterError, plain, quoted
from ogive.pate.aggregators import LargestMargins
from ogive.privacy import ApproxDP, Privacy, PrivacyUnit, PureDP, ZeroConcentratedDP, check_adjacency, check_columns
from ogive.queries import Ballots
from ogive.statistics.base import Statistic
from ogive.statistics.curve.merging.batches import MOST_BATCHES
from ogive.statistics.ecdf.statistic import Ecdf
from ogive.statistics.groups.asked import asked
from ogive.statistics.kinds import COMMANDED
from ogive.statistics.labels.statistic import Labels
from ogive.trust.secagg.options import COLLUDING, SecAggOptions
from ogive.trust.secagg.terms import ALL_PAIRS

FORMAT = 1
LARGEST_FILE = 1 << 20
"""Bytes; a study of 500 parties and 100 releases has some 80,000."""

KEY_BYTES = 32
_KEY = "ed25519:"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")

_TABLES = {
    "the study": {
        "ogive-study", "name", "title", "trust", "records", "colluding", "dropouts", "budget", "unit", "coordinator",
        "party", "release",
    },
    "[unit]": {"adjacency", "person", "max_rows_per_person", "public"},
    "[coordinator]": {"key"},
    "a [[party]]": {"name", "key"},
}  # fmt: skip
_RELEASE = {"name", "statistic", "privacy", "where", "by", "groups"}
_LABELS = {"name", "statistic", "privacy", "queries", "classes", "keep", "sigma"}

StudyTrust = Literal["secagg", "merge"]
SECAGG: StudyTrust = "secagg"
MERGE: StudyTrust = "merge"
"""How parties come together: by secure aggregation, or by merging curves that each of them releases by itself."""

MERGED_METHODS = ("path", "tree_ls", "hat_ls", "sqrt")
"""Methods whose curves add up without bias, whatever the sizes of the parties."""


@dataclass(frozen=True)
class StudyParty:
    """A party of a study.

    Fields:
        name: Public, for people.
        key: Its enrolment key, the public half, 32 bytes.
    """

    name: str
    key: bytes


@dataclass(frozen=True)
class StudyRelease:
    """What a study releases under one name.

    Fields:
        name: Public.
        statistic: What is asked.
        privacy: The guarantee, which each party's account is charged.
    """

    name: str
    statistic: Statistic[Any]
    privacy: Privacy


@dataclass(frozen=True)
class Study:
    """A study, as its file says.

    Fields:
        text: The file.
        name: Of the study; each party's account is called that, unless its owner says otherwise.
        title: For people.
        records: How many records all parties have together, about: methods are chosen by it.
        unit: Whose data the guarantee hides.
        trust: `SECAGG` or `MERGE`.
        dropouts: How many parties may be missing from a release.
        options: How many parties there are, and how many may collude or leave; None where curves are merged.
        budget: What all releases together may cost each party's records.
        coordinator: The coordinator's public key, 32 bytes.
        parties: In order; the first is number 1.
        releases: In the order of the file.
    """

    text: bytes
    name: str
    title: str
    records: int
    unit: PrivacyUnit
    trust: str
    dropouts: int
    options: SecAggOptions | None
    budget: Privacy
    coordinator: bytes
    parties: tuple[StudyParty, ...]
    releases: tuple[StudyRelease, ...]

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the file, as `sha256sum` prints it."""
        return hashlib.sha256(self.text).digest()

    @property
    def aggregation(self) -> SecAggOptions:
        """How the parties add up together, in a study by secure aggregation."""
        assert self.options is not None, "curves are merged without a protocol"
        return self.options

    def number_of(self, key: bytes) -> int:
        """The number of the party with this public key.

        Raises:
            ParameterError: no party has it.
        """
        for number, party in enumerate(self.parties, 1):
            if party.key == key:
                return number
        raise ParameterError(f"no party of the study {self.name} has the key {key_text(key)}")

    def release_named(self, name: str) -> StudyRelease:
        """The release of that name.

        Raises:
            ParameterError: there is none.
        """
        for release in self.releases:
            if release.name == name:
                return release
        names = ", ".join(release.name for release in self.releases)
        raise ParameterError(f"the study {self.name} has no release {quoted(name)}; it has {names}")

    @staticmethod
    def read(path: str | Path) -> Study:
        """Read a study from its file.

        Raises:
            ParameterError: the file cannot be read, or is no study; one line says what is wrong.
        """
        try:
            with Path(path).open("rb") as file:
                text = file.read(LARGEST_FILE + 1)
        except OSError as problem:
            raise ParameterError(f"the study {plain(path)} cannot be read: {problem.strerror}") from None
        try:
            return Study.parse(text)
        except ParameterError as problem:
            raise problem.prefixed(f"study {plain(path)}") from None

    @staticmethod
    def parse(text: bytes) -> Study:
        """Read a study from the bytes of its file, which need not be trusted.

        Raises:
            ParameterError: they are no study; one line says what is wrong.
        """
        if len(text) > LARGEST_FILE:
            raise ParameterError(f"a study has at most {LARGEST_FILE} bytes")
        try:
            data = tomllib.loads(text.decode())
        except UnicodeDecodeError:
            raise ParameterError("a study is a TOML file in UTF-8, and this is not UTF-8") from None
        except (tomllib.TOMLDecodeError, RecursionError, ValueError) as problem:
            raise ParameterError(f"this is no TOML: {plain(problem)}") from None
        if data.get("ogive-study") != FORMAT:
            raise ParameterError(f"a study begins with the line ogive-study = {FORMAT}")
        _check_fields(data, "the study")
        trust = _text(data, "trust", SECAGG)
        if trust not in (SECAGG, MERGE):
            raise ParameterError(f"the study's trust must be {SECAGG} or {MERGE}, got {quoted(trust)}")
        parties = _parties(data)
        dropouts = whole(data.get("dropouts", 0), "dropouts", 0)
        if trust == MERGE:
            _check_merging(data, len(parties), dropouts)
        options = _options(data, len(parties), dropouts) if trust == SECAGG else None
        coordinator = _table(data, "coordinator")
        _check_fields(coordinator, "[coordinator]")
        key = read_key(coordinator.get("key"), "the coordinator")
        if key in {party.key for party in parties}:
            raise ParameterError("the coordinator needs a key of its own, and this is that of a party")
        unit = _unit(_table(data, "unit", {}))
        return Study(
            text=text,
            name=_name(data.get("name"), "the study"),
            title=_text(data, "title", ""),
            records=whole(data.get("records"), "records", 1),
            unit=unit,
            trust=trust,
            dropouts=dropouts,
            options=options,
            budget=_privacy(data.get("budget"), "budget"),
            coordinator=key,
            parties=parties,
            releases=_releases(data, trust),
        )


def key_text(key: bytes) -> str:
    """A public key as studies write it."""
    return _KEY + base64.b64encode(key).decode()


def read_key(text: Any, whose: str) -> bytes:
    """A public key from what a study says.

    Raises:
        ParameterError: it is none.
    """
    try:
        if not isinstance(text, str) or not text.startswith(_KEY):
            raise ValueError
        key = base64.b64decode(text.removeprefix(_KEY), validate=True)
        if len(key) != KEY_BYTES:
            raise ValueError
    except (binascii.Error, ValueError):
        raise ParameterError(
            f"the key of {whose} must be what ogive study keys prints, such as {_KEY}AAAA..., got {quoted(text)}"
        ) from None
    return key


def _check_fields(table: Mapping[str, Any], where: str, known: Collection[str] | None = None) -> None:
    known = _TABLES[where] if known is None else known
    for name in table:
        if name not in known:
            raise ParameterError(f"{where} has no field {quoted(name)}; its fields are {', '.join(sorted(known))}")


def _table(data: Mapping[str, Any], name: str, default: dict[str, Any] | None = None) -> dict[str, Any]:
    table = data.get(name, default)
    if not isinstance(table, dict):
        raise ParameterError(f"the study needs a table [{name}]")
    return table


def _list(data: Mapping[str, Any], name: str, least: int) -> list[dict[str, Any]]:
    tables = data.get(name)
    if not isinstance(tables, list) or len(tables) < least or not all(isinstance(each, dict) for each in tables):
        number = "one table" if least == 1 else f"{least} tables"
        raise ParameterError(f"the study needs at least {number} [[{name}]]")
    return tables


def _text(data: Mapping[str, Any], name: str, default: str) -> str:
    value = data.get(name, default)
    if not isinstance(value, str):
        raise ParameterError(f"the field {name} must be a text, got {quoted(value)}")
    return value


def _name(value: Any, whose: str) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ParameterError(
            f"the name of {whose} must be 1 to 64 letters, digits, points, hyphens and underscores, got {quoted(value)}"
        )
    return value


def _different(names: list[str], what: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(f"two {what} have the name {quoted(name)}")


def _parties(data: Mapping[str, Any]) -> tuple[StudyParty, ...]:
    found = []
    for number, table in enumerate(_list(data, "party", 2), 1):
        _check_fields(table, "a [[party]]")
        name = _name(table.get("name"), f"party {number}")
        found.append(StudyParty(name, read_key(table.get("key"), f"party {name}")))
    _different([party.name for party in found], "parties")
    if len({party.key for party in found}) < len(found):
        raise ParameterError("two parties have the same key; each makes one of its own with ogive study keys")
    return tuple(found)


def _check_merging(data: Mapping[str, Any], parties: int, dropouts: int) -> None:
    """Check what a study without a protocol says of its parties."""
    if "colluding" in data:
        raise ParameterError("where curves are merged nobody can collude; leave out colluding")
    if parties > MOST_BATCHES:
        raise ParameterError(f"at most {MOST_BATCHES} parties can merge their curves, got {parties}")
    if dropouts > parties - 2:
        raise ParameterError(f"a sum needs two curves, so {dropouts} of {parties} parties cannot be missing")


def _options(data: Mapping[str, Any], parties: int, dropouts: int) -> SecAggOptions:
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


def _unit(table: Mapping[str, Any]) -> PrivacyUnit:
    _check_fields(table, "[unit]")
    return PrivacyUnit(
        check_adjacency(_text(table, "adjacency", "replace")),
        table.get("person"),
        whole(table.get("max_rows_per_person", 1), "max_rows_per_person", 1),
        check_columns(table.get("public", [])),
    )


def _privacy(value: Any, name: str) -> Privacy:
    """A guarantee: `{ epsilon = 1 }`, `{ epsilon = 1, delta = 1e-6 }` or `{ rho = 0.5 }`."""
    match value:
        case {"epsilon": epsilon, **rest} if not rest:
            return PureDP(epsilon)
        case {"epsilon": epsilon, "delta": delta, **rest} if not rest:
            return ApproxDP(epsilon, delta)
        case {"rho": rho, **rest} if not rest:
            return ZeroConcentratedDP(rho)
    raise ParameterError(
        f"the study's {name} must be a table of epsilon, of epsilon and delta, or of rho, got {quoted(value)}"
    )


def _releases(data: Mapping[str, Any], trust: str) -> tuple[StudyRelease, ...]:
    found = []
    for number, table in enumerate(_list(data, "release", 1), 1):
        name = _name(table.get("name"), f"release {number}")
        try:
            release = StudyRelease(name, _statistic(table), _privacy(table.get("privacy"), "privacy"))
            if trust == MERGE:
                _check_merged(release)
            found.append(release)
        except OgiveError as problem:
            raise problem.prefixed(f"release {name}") from None
    _different([release.name for release in found], "releases")
    return tuple(found)


def _check_merged(release: StudyRelease) -> None:
    """Refuse what cannot be merged without bias.

    Raises:
        ParameterError: it cannot.
    """
    asked = release.statistic
    if not isinstance(asked, Ecdf):
        raise ParameterError("where parties merge what they release, it must be an ecdf, of all records")
    if asked.method not in MERGED_METHODS:
        raise ParameterError(
            f"curves of parties of any size add up by the methods {', '.join(MERGED_METHODS)}; name one, "
            f"got {quoted(asked.method)}"
        )


def _labels(table: Mapping[str, Any]) -> Labels:
    """Labels of public inputs by the votes of the parties' teachers, each a row of the party's table."""
    _check_fields(table, "a release of labels", _LABELS)
    queries = table.get("queries")
    if not isinstance(queries, list):
        raise ParameterError(f"the field queries must be names of the columns of votes, got {quoted(queries)}")
    votes = Ballots(tuple(queries), table.get("classes"))  # type: ignore[arg-type]  # it checks what it is given
    return Labels(LargestMargins(table.get("sigma"), table.get("keep", len(queries))), votes)


def _statistic(table: Mapping[str, Any]) -> Statistic[Any]:
    if table.get("statistic") == Labels.name:
        return _labels(table)
    kind = COMMANDED.get(table.get("statistic", ""))
    if kind is None:
        names = ", ".join(sorted((*COMMANDED, Labels.name)))
        raise ParameterError(f"the statistic must be one of {names}, got {quoted(table.get('statistic'))}")
    question: Any = kind.statistic
    fields = {field.name for field in dataclasses.fields(question)}
    _check_fields(table, f"a release of {kind.name}", fields | _RELEASE)
    given = {name: _frozen(value) for name, value in table.items() if name in fields and name not in ("name",)}
    part = {name: _frozen(table[name]) for name in ("where", "by", "groups") if name in table and name not in fields}
    try:
        statistic = question(**given)
    except TypeError as problem:  # a field that has no default was left out
        raise ParameterError(f"{kind.name} {str(problem).rpartition('__init__() ')[2]}") from None
    return asked(statistic, **part)


def _frozen(value: Any) -> Any:
    """A value of TOML as statistics take it: lists as tuples."""
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    return {key: _frozen(each) for key, each in value.items()} if isinstance(value, dict) else value
