"""A study of people who meet in pairs: who they are, what pairs compute, and until when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ogive.errors import ParameterError, plain, quoted
from ogive.provenance import trust_statement
from ogive.study.common import (
    FORMAT,
    LARGEST_FILE,
    Document,
    check_fields,
    key_text,
    parse_toml,
    read_coordinator,
    read_key,
    read_name,
    read_privacy,
    read_releases,
    read_text,
    read_unit,
)
from ogive.trust.options import PairsOptions

PAIRS = "pairs"

_FIELDS = {
    "ogive-study", "name", "title", "trust", "people", "deadline", "budget", "unit", "coordinator", "release",
}  # fmt: skip
_FEWEST = 4

_ASSUMPTION = trust_statement(
    holds="Each person holds their own record, on a machine of their own. Pairs of people evaluate garbled circuits, "
    "which add noise from both.",
    sees="The partner and everyone else see at most values with noise. The service sees who meets whom, and when.",
    assumed="Nobody is trusted with another's record. People follow the protocol, and AES-128 and edwards25519 are "
    "secure. The guarantee holds even if all other people and the service share what they know.",
)


@dataclass(frozen=True)
class PeopleStudy(Document):
    """A study of people who meet in pairs, as its file says; it has one release.

    Fields:
        coordinator: Public key of the aggregator, 32 bytes.
        people: Public keys of the people, 32 bytes each; the first is number 1.
        deadline: When no pair begins any more.
    """

    coordinator: bytes
    people: tuple[bytes, ...]
    deadline: datetime

    @property
    def assumption(self) -> str:
        """Who holds the records, what each of them sees and what is assumed."""
        return _ASSUMPTION

    def number_of(self, key: bytes) -> int:
        """The number of the person with this public key, from 1."""
        if key not in self.people:
            raise ParameterError(f"nobody in the study {self.name} has the key {key_text(key)}")
        return self.people.index(key) + 1

    @staticmethod
    def parse(text: bytes) -> PeopleStudy:
        """Read a study from the bytes of its file, which need not be trusted."""
        data = parse_toml(text)
        check_fields(data, "a study of pairs", _FIELDS)
        trust = read_text(data, "trust", "")
        if trust != PAIRS:
            raise ParameterError(f"the study's trust must be {PAIRS} here, got {quoted(trust)}")
        people = _people(data.get("people"))
        key = read_coordinator(data)
        if key in people:
            raise ParameterError("the coordinator needs a key of its own, and this is that of a person")
        unit = read_unit(data)
        if unit.person is not None:
            raise ParameterError("each person of a study of pairs has one record; leave out person")
        releases = read_releases(data)
        if len(releases) > 1:
            raise ParameterError(
                "people meet for one release, all at a time and until one deadline; write a study for each, under one "
                "name, so that ledgers add up what all cost"
            )
        return PeopleStudy(
            text=text,
            name=read_name(data.get("name"), "the study"),
            title=read_text(data, "title", ""),
            records=len(people),
            unit=unit,
            budget=read_privacy(data.get("budget"), "budget"),
            options=PairsOptions(),
            releases=releases,
            coordinator=key,
            people=people,
            deadline=_deadline(data.get("deadline")),
        )


def _people(given: Any) -> tuple[bytes, ...]:
    if not isinstance(given, list) or len(given) < _FEWEST:
        raise ParameterError(f"the study needs people, a list of at least {_FEWEST} keys that ogive study keys prints")
    found = tuple(read_key(each, f"person {number}") for number, each in enumerate(given, 1))
    if len(set(found)) < len(found):
        raise ParameterError("two people have the same key; each makes one of its own with ogive study keys")
    return found


def _deadline(given: Any) -> datetime:
    if not isinstance(given, datetime) or given.tzinfo is None:
        raise ParameterError(
            f"the study needs a deadline with a time zone, such as 2030-12-31T18:00:00Z, got {quoted(str(given))}"
        )
    return given


# --- The file of a new study of people, with one release to be edited

_TEXT = """\
# What is computed, by whom, and at what price. Everybody reads the same bytes: compare `sha256sum` of the file.
ogive-study = {format}
name = "{name}"
title = ""
# people meet in pairs and show nobody their records; the service sees noisy values
trust = "{trust}"
# no pair begins after this
deadline = {deadline}
# what the release may cost the record of each person
budget = {{ epsilon = 1 }}
# the public key of each person, from ogive study keys
people = [
{people}
]

[coordinator]
key = "{coordinator}"

[[release]]
name = "income"
statistic = "ustat"
privacy = {{ epsilon = 1 }}
columns = "income"
kernel = "gini"
bounds = [0, 100000]
"""


def template(name: str, *, coordinator: str, people: Sequence[str], deadline: str) -> str:
    """The text of a study of people, which `PeopleStudy.parse` reads."""
    text = _TEXT.format(
        format=FORMAT,
        name=name,
        trust=PAIRS,
        deadline=deadline,
        people="\n".join(f'  "{each}",' for each in people),
        coordinator=coordinator,
    )
    PeopleStudy.parse(text.encode())
    return text


def read_people(path: Path) -> list[str]:
    """The keys in a file, one a line."""
    try:
        with path.open(encoding="ascii") as file:
            return file.read(LARGEST_FILE).split()
    except OSError as problem:
        raise ParameterError(f"the keys of the people {plain(path)} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise ParameterError(f"{plain(path)} holds no keys; ogive study keys prints them") from None
