"""A study of organizations that keep their rows: who takes part, and how they come together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ogive.core.checks import whole
from ogive.errors import ParameterError, quoted
from ogive.statistics.curve.batches import MOST_BATCHES
from ogive.statistics.ecdf.statistic import Ecdf
from ogive.study.common import (
    FORMAT,
    MOST_RECORDS,
    Document,
    StudyRelease,
    check_different,
    check_fields,
    key_text,
    parse_toml,
    read_coordinator,
    read_file,
    read_key,
    read_name,
    read_privacy,
    read_releases,
    read_tables,
    read_text,
    read_unit,
)
from ogive.trust.secagg.options import COLLUDING, SecAggOptions
from ogive.trust.secagg.terms import ALL_PAIRS

_FIELDS = {
    "ogive-study", "name", "title", "trust", "records", "colluding", "dropouts", "budget", "unit", "coordinator",
    "party", "release",
}  # fmt: skip

StudyTrust = Literal["secagg", "merge"]
SECAGG: StudyTrust = "secagg"
MERGE: StudyTrust = "merge"
"""How parties come together: by secure aggregation, or by merging curves that each of them releases by itself."""

MERGED_METHODS = ("path", "tree_ls", "hat_ls", "sqrt", "symmetric", "ring")
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
class Study(Document):
    """A study of parties, as its file says; `options` is None where their curves are merged.

    Fields:
        trust: `SECAGG` or `MERGE`.
        dropouts: How many parties may be missing from a release.
        coordinator: The coordinator's public key, 32 bytes.
        parties: In order; the first is number 1.
    """

    trust: str
    dropouts: int
    coordinator: bytes
    parties: tuple[StudyParty, ...]

    @property
    def aggregation(self) -> SecAggOptions:
        """How the parties add up together, in a study by secure aggregation."""
        assert isinstance(self.options, SecAggOptions), "curves are merged without a protocol"
        return self.options

    @property
    def assumption(self) -> str:
        """Who holds the records, what each of them sees and what is assumed."""
        return self.aggregation.terms.assumption(simulated=False)

    def number_of(self, key: bytes) -> int:
        """The number of the party with this public key."""
        for number, party in enumerate(self.parties, 1):
            if party.key == key:
                return number
        raise ParameterError(f"no party of the study {self.name} has the key {key_text(key)}")

    @staticmethod
    def read(path: str | Path) -> Study:
        """Read a study from its file."""
        return read_file(path, Study.parse)

    @staticmethod
    def parse(text: bytes) -> Study:
        """Read a study from the bytes of its file, which need not be trusted."""
        data = parse_toml(text)
        check_fields(data, "the study", _FIELDS)
        trust = read_text(data, "trust", SECAGG)
        if trust not in (SECAGG, MERGE):
            raise ParameterError(f"the study's trust must be {SECAGG} or {MERGE}, got {quoted(trust)}")
        parties = _parties(data)
        dropouts = whole(data.get("dropouts", 0), "dropouts", 0)
        if trust == MERGE:
            _check_merging(data, len(parties), dropouts)
        options = _options(data, len(parties), dropouts) if trust == SECAGG else None
        key = read_coordinator(data)
        if key in {party.key for party in parties}:
            raise ParameterError("the coordinator needs a key of its own, and this is that of a party")
        unit = read_unit(data)
        study = Study(
            text=text,
            name=read_name(data.get("name"), "the study"),
            title=read_text(data, "title", ""),
            records=whole(data.get("records"), "records", 1, MOST_RECORDS),
            unit=unit,
            trust=trust,
            dropouts=dropouts,
            options=options,
            budget=read_privacy(data.get("budget"), "budget"),
            coordinator=key,
            parties=parties,
            releases=read_releases(data),
        )
        if trust == MERGE:
            for release in study.releases:
                _check_merged(release)
        return study


def _parties(data: Mapping[str, Any]) -> tuple[StudyParty, ...]:
    found = []
    for number, given in enumerate(read_tables(data, "party", 2), 1):
        check_fields(given, "a [[party]]", {"name", "key"})
        name = read_name(given.get("name"), f"party {number}")
        found.append(StudyParty(name, read_key(given.get("key"), f"party {name}")))
    check_different([party.name for party in found], "parties")
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


def _check_merged(release: StudyRelease) -> None:
    """Refuse what cannot be merged without bias."""
    asked = release.statistic
    if not isinstance(asked, Ecdf):
        raise ParameterError(
            f"release {release.name}: where parties merge what they release, it must be an ecdf, of all records"
        )
    if asked.method not in MERGED_METHODS:
        raise ParameterError(
            f"release {release.name}: curves of parties of any size add up by the methods "
            f"{', '.join(MERGED_METHODS)}; name one, got {quoted(asked.method)}"
        )


# --- The file of a new study, with one release to be edited

_TEXT = """\
# What is computed, by whom, and at what price. Everybody reads the same bytes: compare `sha256sum` of the file.
ogive-study = {format}
name = "{name}"
title = ""
# about how many records all parties have together; methods are chosen by it
records = {records}
{terms}dropouts = {dropouts}
# what all releases together may cost the records of each party
budget = {{ epsilon = 1 }}

[unit]
# "replace" makes the number of records public; "add_or_remove" keeps it private
adjacency = "replace"
# person = "patient"

[coordinator]
key = "{coordinator}"
{parties}
[[release]]
name = "age"
statistic = "ecdf"
privacy = {{ epsilon = 1 }}
column = "age"
bounds = [0, 120]
grid = "integers"
{method}"""

_TERMS = {
    SECAGG: """\
# how many parties may collude with the coordinator, or read the release; how many may leave a release
colluding = 1
""",
    MERGE: """\
# each party releases its own curves, which are added up; how many parties may be missing from the sum
trust = "merge"
""",
}
_METHOD = {SECAGG: "", MERGE: 'method = "hat_ls"\n'}


def template(
    name: str, *, coordinator: str, parties: Mapping[str, str], records: int, trust: StudyTrust = "secagg"
) -> str:
    """The text of a study, which `Study.parse` reads."""
    written = "".join(f'\n[[party]]\nname = "{each}"\nkey = "{key}"\n' for each, key in parties.items())
    text = _TEXT.format(
        format=FORMAT,
        name=name,
        records=records,
        dropouts=1 if len(parties) > 3 else 0,
        coordinator=coordinator,
        parties=written,
        terms=_TERMS[trust],
        method=_METHOD[trust],
    )
    Study.parse(text.encode())
    return text
