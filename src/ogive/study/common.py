"""What all studies have in common: a public file, and the releases that it asks for.

Everybody reads the same bytes. Their SHA-256 is the digest of the study, which every message carries, so that two
parties with different files have nothing to say to each other.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hashlib
import logging
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from ogive.core.checks import whole
from ogive.errors import OgiveError, ParameterError, plain, quoted
from ogive.privacy import ApproxDP, Privacy, PrivacyUnit, PureDP, ZeroConcentratedDP, check_adjacency, check_columns
from ogive.queries import Ballots
from ogive.statistics.base import Statistic
from ogive.statistics.kinds import ALIASES, COMMANDED, about
from ogive.statistics.labels.statistic import Labels
from ogive.trust.base import TrustOptions

# --- Files, and fields of a study's file, each read with a check


def read_bytes(path: str | Path, most: int, what: str, more: str = "") -> bytes:
    """The first bytes of a file, called `what` where it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            return file.read(most)
    except OSError as problem:
        raise ParameterError(f"{what} {plain(path)} cannot be read: {problem.strerror}{more}") from None


KEY_BYTES = 32
SIGNING, SEALING = "ed25519:", "x25519:"
"""How public keys begin: those that check signatures, and those that uploads are encrypted to."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_UNIT = {"adjacency", "person", "max_rows_per_person", "public"}


def check_fields(given: Mapping[str, Any], where: str, known: Collection[str]) -> None:
    for field in given:
        if field not in known:
            raise ParameterError(f"{where} has no field {quoted(field)}; its fields are {', '.join(sorted(known))}")


def read_table(data: Mapping[str, Any], field: str, default: dict[str, Any] | None = None) -> dict[str, Any]:
    result = data.get(field, default)
    if not isinstance(result, dict):
        raise ParameterError(f"the study needs a table [{field}]")
    return result


def read_tables(data: Mapping[str, Any], field: str, least: int) -> list[dict[str, Any]]:
    result = data.get(field)
    if not isinstance(result, list) or len(result) < least or not all(isinstance(each, dict) for each in result):
        number = "one table" if least == 1 else f"{least} tables"
        raise ParameterError(f"the study needs at least {number} [[{field}]]")
    return result


def read_text(data: Mapping[str, Any], field: str, default: str) -> str:
    value = data.get(field, default)
    if not isinstance(value, str):
        raise ParameterError(f"the field {field} must be a text, got {quoted(value)}")
    return value


def read_name(value: Any, whose: str) -> str:
    """A name, which is safe in a path and a URL."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise ParameterError(
            f"the name of {whose} must be 1 to 64 letters, digits, points, hyphens and underscores, got {quoted(value)}"
        )
    return value


def check_different(names: list[str], what: str) -> None:
    seen = set()
    for each in names:
        if each in seen:
            raise ParameterError(f"two {what} have the name {quoted(each)}")
        seen.add(each)


def read_unit(data: Mapping[str, Any]) -> PrivacyUnit:
    given = read_table(data, "unit", {})
    check_fields(given, "[unit]", _UNIT)
    return PrivacyUnit(
        check_adjacency(read_text(given, "adjacency", "replace")),
        given.get("person"),
        whole(given.get("max_rows_per_person", 1), "max_rows_per_person", 1),
        check_columns(given.get("public", [])),
    )


def read_privacy(value: Any, field: str) -> Privacy:
    """A guarantee: `{ epsilon = 1 }`, `{ epsilon = 1, delta = 1e-6 }` or `{ rho = 0.5 }`."""
    match value:
        case {"epsilon": epsilon, **rest} if not rest:
            return PureDP(epsilon)
        case {"epsilon": epsilon, "delta": delta, **rest} if not rest:
            return ApproxDP(epsilon, delta)
        case {"rho": rho, **rest} if not rest:
            return ZeroConcentratedDP(rho)
    raise ParameterError(
        f"the study's {field} must be a table of epsilon, of epsilon and delta, or of rho, got {quoted(value)}"
    )


def key_text(key: bytes, front: str = SIGNING) -> str:
    return front + base64.b64encode(key).decode()


def read_key(value: Any, whose: str, front: str = SIGNING) -> bytes:
    try:
        if not isinstance(value, str) or not value.startswith(front):
            raise ValueError
        key = base64.b64decode(value.removeprefix(front), validate=True)
        if len(key) != KEY_BYTES:
            raise ValueError
    except (binascii.Error, ValueError):
        raise ParameterError(
            f"the key of {whose} must be what ogive study keys prints, such as {front}AAAA..., got {quoted(value)}"
        ) from None
    return key


# --- A public file, and the releases that it asks for

T = TypeVar("T")
LOG = logging.getLogger("ogive.study")

FORMAT = 1
LARGEST_FILE = 1 << 20
"""Bytes; a study of 500 parties and 100 releases has some 80,000."""

MOST_RECORDS = 10**12

_DEEPEST = 16
"""Levels of tables and lists; a study has some five."""
_PART = rb"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rb"(?<![\w-])(?:%b[ \t]*+\.[ \t]*+){%d}" % (_PART, _DEEPEST))

_RELEASE = {"name", "statistic", "privacy", "where", "by", "groups"}
_LABELS = {"name", "statistic", "privacy", "queries", "classes", "keep", "sigma"}


@dataclass(frozen=True)
class StudyRelease:
    """What a study releases under one name; each account that pays is charged `privacy`."""

    name: str
    statistic: Statistic[Any]
    privacy: Privacy


@dataclass(frozen=True)
class Document:
    """What the file of a study says, whoever takes part.

    Accounts are called `name`, unless their owner says otherwise. There are about `records` in all, and methods are
    chosen by that. All releases together may cost the `budget`. The `options` say how records are added up, and what is
    assumed of those who do it; None where nothing is added up but what was released.
    """

    text: bytes
    name: str
    title: str
    records: int
    unit: PrivacyUnit
    budget: Privacy
    options: TrustOptions | None
    releases: tuple[StudyRelease, ...]

    @property
    def assumption(self) -> str:
        raise NotImplementedError

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the file, as `sha256sum` prints it."""
        return hashlib.sha256(self.text).digest()

    def place_of(self, name: str) -> int:
        return self.releases.index(self.release_named(name))

    def release_named(self, name: str) -> StudyRelease:
        for release in self.releases:
            if release.name == name:
                return release
        names = ", ".join(release.name for release in self.releases)
        raise ParameterError(f"the study {self.name} has no release {quoted(name)}; it has {names}")


def read_file(path: str | Path, parse: Callable[[bytes], T]) -> T:
    text = read_bytes(path, LARGEST_FILE + 1, "the study")
    try:
        return parse(text)
    except ParameterError as problem:
        raise problem.prefixed(f"study {plain(path)}") from None


def parse_toml(text: bytes) -> dict[str, Any]:
    """The tables of a study's file, which need not be trusted."""
    if len(text) > LARGEST_FILE:
        raise ParameterError(f"a study has at most {LARGEST_FILE} bytes")
    if _LONG_KEY.search(text):
        raise _deep()  # before it is read: the time that a key takes grows with the square of its parts
    try:
        data = tomllib.loads(text.decode())
    except UnicodeDecodeError:
        raise ParameterError("a study is a TOML file in UTF-8, and this is not UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as problem:
        raise ParameterError(f"this is not TOML: {plain(problem)}") from None
    _check_values(data)
    if data.get("ogive-study") != FORMAT:
        raise ParameterError(f"a study begins with the line ogive-study = {FORMAT}")
    return data


def _check_values(data: dict[str, Any]) -> None:
    """Refuse what nests too deeply, and texts that would move or hide what is shown to whoever approves a study."""
    level: list[Any] = [data]
    for _ in range(_DEEPEST + 1):
        for text in level:
            if isinstance(text, str) and not text.isprintable():
                raise ParameterError(
                    f"names and texts of a study have one line and no characters that are not shown, got {quoted(text)}"
                )
        level = [inner for each in level for inner in _within(each)]
    if level:
        raise _deep()


def _within(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else []


def _deep() -> ParameterError:
    return ParameterError(
        f"a study nests tables and lists at most {_DEEPEST} levels deep, and its keys have as few parts"
    )


def read_releases(data: Mapping[str, Any]) -> tuple[StudyRelease, ...]:
    results = []
    for number, given in enumerate(read_tables(data, "release", 1), 1):
        called = read_name(given.get("name"), f"release {number}")
        try:
            results.append(StudyRelease(called, _statistic(given), read_privacy(given.get("privacy"), "privacy")))
        except OgiveError as problem:
            raise problem.prefixed(f"release {called}") from None
    check_different([release.name for release in results], "releases")
    return tuple(results)


def _labels(given: Mapping[str, Any]) -> Labels:
    """Labels of public inputs by the votes of the parties' teachers, each a row of the party's table."""
    from ogive.pate.aggregators import LargestMargins  # slow to import

    check_fields(given, "a release of labels", _LABELS)
    queries = given.get("queries")
    if not isinstance(queries, list):
        raise ParameterError(f"the field queries must be names of the columns of votes, got {quoted(queries)}")
    votes = Ballots(tuple(queries), given.get("classes"))  # type: ignore[arg-type]  # it checks what it is given
    return Labels(LargestMargins(given.get("sigma"), given.get("keep", len(queries))), votes)


def _statistic(given: Mapping[str, Any]) -> Statistic[Any]:
    if given.get("statistic") == Labels.name:
        return _labels(given)
    named = given.get("statistic")
    kind = COMMANDED.get(ALIASES.get(named, named)) if isinstance(named, str) else None
    if kind is None:
        names = ", ".join(sorted((*COMMANDED, Labels.name)))
        raise ParameterError(f"the statistic must be one of {names}, got {quoted(named)}")
    question: Any = kind.statistic
    fields = {each.name for each in dataclasses.fields(question)}
    check_fields(given, f"a release of {kind.name}", fields | _RELEASE)
    options = {field: _frozen(value) for field, value in given.items() if field in fields and field != "name"}
    part = {
        field: _frozen(given[field]) for field in ("where", "by", "groups") if field in given and field not in fields
    }
    try:
        statistic = question(**options)
    except TypeError as problem:  # a field that has no default was left out
        raise ParameterError(f"{kind.name} {str(problem).rpartition('__init__() ')[2]}") from None
    return about(statistic, **part)


def _frozen(value: Any) -> Any:
    """A value of TOML as statistics take it: lists as tuples."""
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    return {key: _frozen(each) for key, each in value.items()} if isinstance(value, dict) else value
