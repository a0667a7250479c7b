"""Where a published number comes from: what was released, at what price and under whose trust."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ogive.core.checks import whole
from ogive.errors import ParameterError, quoted
from ogive.privacy import (
    BY_CONTENTS,
    Adjacency,
    Charge,
    GaussianDP,
    Privacy,
    PrivacyUnit,
    charge_from_dict,
    is_one_line,
)

CLEAR = "clear"
"""Name of the one trust model that adds no noise."""

# Exact numbers are written by `str(Fraction)`. Exponents are refused: "1e999999999" is a short
# text and a number that fills the memory.
_EXACT = re.compile(r"[0-9]{1,4000}(/[0-9]{1,4000})?")

RELEASE_ID = re.compile(r"[0-9a-f]{1,128}")
_ACCOUNT = re.compile(r"[0-9a-f]{1,64}(/[0-9a-f]{1,64})?")

HOLDS, SEES, ASSUMED = "Who holds what", "What each of them sees", "What is assumed"
"""Labels of the three parts of the text on trust; a text of an earlier version has none of them."""

_LABELLED = re.compile(f"(?:^| )({HOLDS}|{SEES}|{ASSUMED}): ")

_LONGEST_TYPE = 40
_LONGEST_NAME = 400

LONGEST_WHERE = 16_000
"""Most characters of a condition as a release states it."""

_TEXTS = ("release_id", "statistic", "method", "trust", "assumption", "version")


def trust_statement(*, holds: str, sees: str, assumed: str) -> str:
    """One text on trust, of sentences on who holds what, what each of them sees, and what is assumed."""
    return f"{HOLDS}: {holds} {SEES}: {sees} {ASSUMED}: {assumed}"


def add_seen(statement: str, more: str) -> str:
    """A text on trust with one more sentence on what is seen."""
    if not more:
        return statement
    before, label, after = statement.partition(f" {ASSUMED}: ")
    return f"{before} {more}{label}{after}"


def trust_parts(statement: str) -> list[tuple[str, str]]:
    """The parts of a text on trust with their labels; one without labels is a single part with an empty label."""
    first, *rest = _LABELLED.split(statement)
    return [*([("", first)] if first else []), *zip(rest[::2], rest[1::2], strict=True)]


def trust_rows(statement: str) -> list[tuple[str, str]]:
    """The parts of a text on trust as rows of a summary, the first of which is named."""
    rows = [f"{label}: {text}" if label else text for label, text in trust_parts(statement)]
    return [("" if i else "trust", row) for i, row in enumerate(rows)]


@cache
def _library_version() -> str:
    return importlib.metadata.version("ogive")


@dataclass(frozen=True)
class Provenance:
    """Public facts about the origin of an estimate.

    Fields:
        release_id: Identifier of the release, hexadecimal.
        statistic: Name of the statistic, for example "ecdf".
        method: Name of the measured strategy, for example "least_squares_tree".
        privacy: The guarantee that was charged; None without privacy.
        price: Exact loss of the mechanism, at most `privacy`; None without privacy.
        adjacency: Which data sets are adjacent.
        trust: Name of the trust model; "clear" means without privacy.
        assumption: The parties, what each of them sees and what is assumed, as text.
        total: Number of records if public, else None.
        person: Column with the person's identifier, if the guarantee is for persons; else None.
        max_rows_per_person: Largest number of records kept of one person.
        version: Version of the library that made the release.
        batch: Public name of the batch of records, for example a month or a hospital; else None.
        public: Public columns, in which adjacent data sets agree record by record.
        account: Public mark of the ledger account that was charged, with the mark of a declared part after a slash;
            hexadecimal. It looks random without the ledger's key. None without a ledger.
        where: The condition that selects the records, as text; None for all records.
        row_choice: What the kept rows of a person were chosen by, "siphash" or "md5".
        all_rows: Whether all rows of a person count and share one weight. The plain data of the estimate say so, and
            `to_dict` leaves it out.

    Raises:
        ParameterError: the release id or the account is not hexadecimal; a private release has no price, or one
            without privacy has a price; the privacy unit is inconsistent; the name of the batch is not a short text;
            or the condition is not a text.
    """

    release_id: str
    statistic: str
    method: str
    privacy: Privacy | None
    price: Charge | None
    adjacency: Adjacency
    trust: str
    assumption: str
    total: int | None = None
    person: str | None = None
    max_rows_per_person: int = 1
    version: str = field(default_factory=_library_version)
    batch: str | None = None
    account: str | None = None
    public: tuple[str, ...] = ()
    where: str | None = None
    row_choice: str = BY_CONTENTS
    all_rows: bool = False

    def __post_init__(self) -> None:
        check_batch_name(self.batch)
        check_account(self.account)
        check_where(self.where)
        if not RELEASE_ID.fullmatch(self.release_id):
            got = self.release_id[:40]
            raise ParameterError(f"`release_id` must be 1 to 128 lower-case hexadecimal digits, got {quoted(got)}")
        object.__setattr__(self, "public", self.unit.public)
        if self.trust == CLEAR and (self.privacy is not None or self.price is not None):
            raise ParameterError("a release under the trust model clear is not private and has no privacy or price")
        if self.trust != CLEAR and (self.privacy is None or self.price is None):
            raise ParameterError(
                f"a release under trust model {quoted(self.trust[:40])} must state its privacy and price"
            )

    @property
    def unit(self) -> PrivacyUnit:
        """Privacy unit of the guarantee."""
        return PrivacyUnit(self.adjacency, self.person, self.max_rows_per_person, self.public, self.row_choice)

    @property
    def private(self) -> bool:
        """Whether the release carries noise."""
        return self.trust != CLEAR

    @property
    def hides(self) -> str:
        """What the guarantee hides, as an English clause."""
        return self.unit.all_rows_words if self.all_rows else self.unit.words

    def __str__(self) -> str:
        """One clause for captions: the guarantee and what it hides, or "not private"."""
        of = "" if self.where is None else f"records where {self.where}; "
        if self.privacy is None:
            return f"{of}not private: exact values"
        return f"{of}{self.privacy}, {self.hides}; trust model {self.trust}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data; exact numbers are strings."""
        data = {
            "release_id": self.release_id,
            "statistic": self.statistic,
            "method": self.method,
            "privacy": None if self.privacy is None else self.privacy.to_dict(),
            "price": None if self.price is None else self.price.to_dict(),
            "adjacency": self.adjacency.value,
            "trust": self.trust,
            "assumption": self.assumption,
            "total": self.total,
            "person": self.person,
            "max_rows_per_person": self.max_rows_per_person,
            "version": self.version,
        }
        named = {
            "public": list(self.public) or None,
            "batch": self.batch,
            "account": self.account,
            "where": self.where,
            "row_choice": None if self.row_choice == BY_CONTENTS else self.row_choice,
        }
        return data | {name: value for name, value in named.items() if value is not None}

    @staticmethod
    def from_dict(data: Any) -> Provenance:
        """Rebuild from `to_dict`. Any plain data give a valid provenance or an error.

        Raises:
            ParameterError: a field is missing or of the wrong kind.
        """
        if not isinstance(data, dict):
            raise ParameterError(f"a provenance must be an object, got {type(data).__name__}")
        lacking = {*_TEXTS, "privacy", "price", "adjacency", "total", "person", "max_rows_per_person"} - data.keys()
        if lacking:
            raise ParameterError(f"a provenance lacks the field {quoted(min(lacking))}")
        for name in (*_TEXTS, "adjacency"):
            if not isinstance(data[name], str):
                raise ParameterError(
                    f"the provenance field {quoted(name)} must be text, got {type(data[name]).__name__}"
                )
            if not is_one_line(data[name]):
                raise ParameterError(f"the provenance field {quoted(name)} must be one line without control characters")
        if data["total"] is not None:
            whole(data["total"], "the provenance field 'total'", 0, (1 << 62) - 1)
        if not (data["person"] is None or isinstance(data["person"], str)):
            raise ParameterError("the provenance field 'person' must be a column's name or null")
        whole(data["max_rows_per_person"], "the provenance field 'max_rows_per_person'", 1, (1 << 62) - 1)
        if data["adjacency"] not in {member.value for member in Adjacency}:
            raise ParameterError(f"unknown adjacency {quoted(data['adjacency'][:40])}")
        known: dict[str, Any] = {name: data[name] for name in (*_TEXTS, "total")}
        known |= {name: data.get(name) for name in ("batch", "account", "where")}
        return Provenance(
            **known,
            **vars(PrivacyUnit.from_dict(data)),
            privacy=_granted(data["privacy"]),
            price=_read(data["price"], "price"),
        )


def publishable(*provenances: Provenance | None) -> bool:
    """Whether what was computed from some estimates may be published: each was released, and under a privacy guarantee.

    This decides the permissions of every file that estimates are written to.
    """
    return all(each is not None and each.privacy is not None for each in provenances)


def declaring(source: Provenance | None, columns: Iterable[str]) -> Provenance | None:
    """A provenance that names columns whose exact counts the release published; earlier versions did not say so.

    Where records are added or removed there are no exact counts, and of exact values nothing is claimed.
    """
    if source is None or not source.private or source.adjacency is not Adjacency.REPLACE:
        return source
    more = {column for column in columns if column not in source.public and column != source.person}
    return dataclasses.replace(source, public=(*source.public, *more)) if more else source


def check_batch_name(name: object) -> str | None:
    """Return a batch's public name as it is."""
    if name is None:
        return None
    if isinstance(name, str) and name.strip() and len(name) <= _LONGEST_NAME:
        if is_one_line(name):
            return name
        raise ParameterError(f"a batch's name must be one line without control characters, got {name[:40]!a}")
    raise ParameterError(f"a batch's name must be a text of 1 to {_LONGEST_NAME} characters, got {quoted(name)}")


def check_account(mark: object) -> str | None:
    """Return what tells one account's releases from others as it is."""
    if mark is None or (isinstance(mark, str) and _ACCOUNT.fullmatch(mark)):
        return mark
    raise ParameterError("an account must be named in lower-case hexadecimal digits, or by null")


def check_where(condition: object) -> str | None:
    """Return the condition that records satisfy as it is."""
    if condition is None:
        return None
    if isinstance(condition, str) and 0 < len(condition) <= LONGEST_WHERE and is_one_line(condition):
        return condition
    raise ParameterError(f"a condition must be one line of 1 to {LONGEST_WHERE} characters, got {quoted(condition)}")


def _granted(data: Any) -> Privacy | None:
    result = _read(data, "privacy")
    if isinstance(result, GaussianDP):
        raise ParameterError("the provenance field 'privacy' must be a guarantee, and `GaussianDP` is none")
    return result


def _read(data: Any, name: str) -> Charge | None:
    if data is None:
        return None
    texts = isinstance(data, dict) and all(isinstance(text, str) for pair in data.items() for text in pair)
    if not texts or len(data.get("type", "")) > _LONGEST_TYPE:
        raise ParameterError(f"the provenance field {quoted(name)} must be a privacy guarantee or null")
    for key, value in data.items():
        if key != "type" and not _EXACT.fullmatch(value):
            place = f"{name}.{key}"[:40]
            raise ParameterError(f"{quoted(place)} must be an exact number like '1/10', got {quoted(value[:40])}")
    return charge_from_dict(data)
