"""What a collection of reports asks, as plain JSON that every participant can read and refuse, and reports as bytes.

A description fixes all that a report depends on besides the owner's value and random bits. Its digest names it: the
first four bytes stand at the front of every report, so that reports to another description that come by mistake are
told apart. Somebody who searches for a description with the same four bytes finds one.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ogive.columns import Binning, Domain, Listed, may_drop
from ogive.core.arrays import Int64, UInt8
from ogive.core.checks import whole
from ogive.core.rooms import room
from ogive.errors import OgiveError, ParameterError, PeerError, plain, quoted
from ogive.local.base import Oracle
from ogive.local.classes import PublicClasses
from ogive.local.oracles import oracle_from_dict
from ogive.local.values import check_rounding
from ogive.privacy import ApproxDP, PureDP, privacy_from_dict

# --- Reports as bytes: a header that says what they belong to, and what the owner's oracle drew
#
#     version        1 byte, 1
#     tag            4 bytes, of the description that was answered
#     number         4 bytes, little-endian: the participant's, public
#     payload        as many bytes as the oracle needs, the same for every report of a description
#
# A file of reports is their plain concatenation, in any order.

VERSION = 1
TAG_BYTES = 4
HEADER_BYTES = 1 + TAG_BYTES + 4
MAX_PARTICIPANTS = 1 << 32


def encode(tag: bytes, numbers: Int64, payloads: UInt8) -> UInt8:
    """Reports, shape (n, HEADER_BYTES + payload bytes).

    Args:
        tag: Of the description.
        numbers: Of the participants, shape (n,), each below 2^32.
        payloads: What the oracle drew, shape (n, payload bytes).
    """
    assert len(tag) == TAG_BYTES
    found = np.empty((len(numbers), HEADER_BYTES + payloads.shape[1]), dtype=np.uint8)
    found[:, 0] = VERSION
    found[:, 1 : 1 + TAG_BYTES] = np.frombuffer(tag, np.uint8)
    found[:, 1 + TAG_BYTES : HEADER_BYTES] = numbers.astype("<u4")[:, np.newaxis].view(np.uint8)
    found[:, HEADER_BYTES:] = payloads
    return found


def read_numbers(reports: UInt8) -> Int64:
    """The participants of reports, shape (n,) from (n, report bytes)."""
    field = np.ascontiguousarray(reports[:, 1 + TAG_BYTES : HEADER_BYTES])
    return field.view("<u4")[:, 0].astype(np.int64)


# --- What a collection asks

SCHEMA = "ogive.local/1"
MAX_BYTES = 1 << 26
MAX_TITLE = 400

_ID = re.compile(r"[0-9a-f]{32}")
_EXACT = re.compile(r"[0-9]{1,300}(/[0-9]{1,300})?")
_FIELDS = ("id", "title", "participants", "privacy", "domain", "rounding", "oracle", "statistic")


@dataclass(frozen=True, kw_only=True)
class Description:
    """Description of a collection of reports: the columns, the randomization and its privacy guarantee.

    Fields:
        domain: The columns of the question and their possible values; public.
        oracle: The randomizer of the symbol of a participant's values.
        privacy: The guarantee for each participant, whatever everybody else does.
        participants: Largest number of participants; they have the numbers 0..participants-1.
        rounding: Rounding of numbers to symbols, "simple" or "randomized".
        statistic: The statistic, as plain data; owners ignore it. None if it is left open.
        title: A one-line title for readers, without effect.
        id: 32 random hexadecimal digits, so that no two collections have the same digest.

    Raises:
        ParameterError: a field is out of range, or fields are incompatible: the oracle and the domain differ in the
            number of symbols, the oracle would send another column than the last one unprotected, or it costs more
            than the guarantee.
    """

    schema: ClassVar[str] = SCHEMA

    domain: Domain
    oracle: Oracle
    privacy: PureDP | ApproxDP
    participants: int
    rounding: str = "simple"
    statistic: Mapping[str, Any] | None = None
    title: str = ""
    id: str = field(default_factory=lambda: os.urandom(16).hex())

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):
            raise ParameterError(f"`domain` must be a Domain, got {type(self.domain).__name__}")
        if not isinstance(self.oracle, Oracle):
            raise ParameterError(f"`oracle` must be one of ogive.local, got {type(self.oracle).__name__}")
        whole(self.participants, "participants", 1, MAX_PARTICIPANTS)
        if not isinstance(self.title, str) or len(self.title) > MAX_TITLE or not self.title.isprintable():
            raise ParameterError(f"`title` must be one line of at most {MAX_TITLE} printable characters")
        if not isinstance(self.id, str) or not _ID.fullmatch(self.id):
            raise ParameterError("`id` must be 32 lower-case hexadecimal digits")
        self._check_domain()
        check_rounding(self.rounding, self.domain)
        if not isinstance(self.privacy, PureDP | ApproxDP):
            raise ParameterError(
                "`privacy` must be `PureDP` or `ApproxDP`: a single report has no other kind of guarantee"
            )
        if not within(self.oracle.loss, self.privacy):
            raise ParameterError(f"the oracle costs {self.oracle.loss}, more than the stated guarantee {self.privacy}")
        if self.statistic is not None:
            _check_plain(self.statistic)

    def _check_domain(self) -> None:
        self.domain.check_size()
        if self.oracle.size != self.domain.size:
            raise ParameterError(
                f"the oracle has {self.oracle.size} symbols, but the columns have {self.domain.size} combinations"
            )
        *others, last = self.domain.columns
        if isinstance(self.oracle, PublicClasses) and (
            not others or isinstance(last, Binning) or last.size != self.oracle.classes
        ):
            raise ParameterError(
                f"the oracle sends {self.oracle.classes} classes as they are, so the last of several columns must be "
                "a label or categories, as many as there are classes"
            )
        for column in self.domain.columns:
            if may_drop(column):
                dropping, instead = "`missing='drop'`", "`missing='low'` or `'high'`"
                if isinstance(column, Listed):
                    what = "missing" if column.missing == "drop" else "other"
                    dropping, instead = f"`{what}='drop'`", f"`{what}='count'`"
                raise ParameterError(f"{dropping} is impossible for reports, whose number is public; use {instead}")

    @property
    def public_columns(self) -> tuple[str, ...]:
        """Names of the columns that a report contains unprotected."""
        return (self.domain.columns[-1].column,) if isinstance(self.oracle, PublicClasses) else ()

    @property
    def report_bytes(self) -> int:
        """Length of every report."""
        return HEADER_BYTES + self.oracle.payload_bytes

    @cached_property
    def canonical(self) -> bytes:
        """The one JSON text of this description that `digest` is of."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False).encode()

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the canonical JSON."""
        return hashlib.sha256(self.canonical).digest()

    @property
    def tag(self) -> bytes:
        """First 4 bytes of the digest, with which every report begins."""
        return self.digest[:TAG_BYTES]

    @property
    def words(self) -> str:
        """The question and what a report reveals, as text made from the fields only."""
        return str(room(Description, "text").explanation(self))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, exact."""
        return {
            "schema": SCHEMA,
            "id": self.id,
            "title": self.title,
            "participants": self.participants,
            "privacy": self.privacy.to_dict(),
            "domain": self.domain.to_dict(),
            "rounding": self.rounding,
            "oracle": self.oracle.to_dict(),
            "statistic": None if self.statistic is None else dict(self.statistic),
        }

    def to_json(self) -> str:
        """The description as text, for distribution."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    @staticmethod
    def from_dict(data: Any) -> Description:
        """Rebuild from `to_dict`; the data need not be trusted.

        Raises:
            PeerError: a field is missing or out of range, or fields are incompatible.
        """
        named = data.get("schema") if isinstance(data, Mapping) else None
        if named != SCHEMA:
            got = f", got schema {quoted(named[:40])}" if isinstance(named, str) else ""
            raise PeerError(f"this is no description of a collection: expected an object of schema {SCHEMA}{got}")
        for name in _FIELDS:
            if name not in data:
                raise PeerError(f"the description lacks the field {quoted(name)}")
        unknown = sorted(str(name)[:40] for name in data if name not in ("schema", *_FIELDS))
        if unknown:
            raise PeerError(f"the description has a field {quoted(unknown[0])} that this version does not know")
        try:
            return Description(
                domain=Domain.from_dict(data["domain"]),
                oracle=oracle_from_dict(data["oracle"]),
                privacy=_privacy(data["privacy"]),
                participants=data["participants"],
                rounding=data["rounding"],
                statistic=data["statistic"],
                title=data["title"],
                id=data["id"],
            )
        except OgiveError as problem:
            raise PeerError(f"the description cannot be used: {plain(problem)}") from None
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise PeerError("the description cannot be used: a field is of the wrong kind") from None

    @staticmethod
    def from_json(source: str | bytes | Path) -> Description:
        """Read a description from text or, at a Path, from a file; any bytes give a valid one or an error.

        Raises:
            PeerError: the text is not JSON, or not a valid description.
            ParameterError: the file cannot be read.
        """
        text = _read(source) if isinstance(source, Path) else source
        if len(text) > MAX_BYTES:
            raise PeerError(f"a description has at most {MAX_BYTES} bytes")
        try:
            data = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_object)
        except RecursionError:
            raise PeerError("this is no description of a collection: it is nested too deeply") from None
        except (ValueError, TypeError):  # of bytes that are no text, too
            raise PeerError("this is no description of a collection: it is not JSON") from None
        return Description.from_dict(data)

    @staticmethod
    def of(source: Any) -> Description:
        """A description given as itself, as plain data, as JSON text or as the Path of a file.

        Raises:
            PeerError, ParameterError: the value is none of these.
        """
        match source:
            case Description():
                return source
            case str() | bytes() | Path():
                return Description.from_json(source)
        return Description.from_dict(source)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as problem:
        raise ParameterError(f"cannot read {plain(path)}: {problem.strerror}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON in which nothing stands twice, so that all readers read the same."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise PeerError(f"the description names {quoted(name[:40])} twice in one object")
        found[name] = value
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")


def _check_plain(statistic: Any) -> None:
    try:
        if isinstance(statistic, Mapping) and json.loads(json.dumps(dict(statistic), allow_nan=False)) == statistic:
            return
    except (TypeError, ValueError, RecursionError):
        pass
    raise ParameterError("`statistic` must be an object of plain data, as JSON holds it")


def _privacy(data: Any) -> PureDP | ApproxDP:
    if not isinstance(data, dict) or not all(isinstance(value, str) for value in data.values()):
        raise PeerError("the privacy must be an object of texts")
    numbers = {name: value for name, value in data.items() if name != "type"}
    if not all(_EXACT.fullmatch(value) for value in numbers.values()):
        raise PeerError("the privacy must hold exact numbers such as '1/10'")
    found = privacy_from_dict(data)
    if not isinstance(found, PureDP | ApproxDP) or found.to_dict() != data:
        raise PeerError("the privacy must be PureDP or ApproxDP in lowest terms")
    return found


def within(loss: PureDP | ApproxDP, privacy: PureDP | ApproxDP) -> bool:
    """Whether a loss is at most what was promised."""
    slack = 0 if isinstance(loss, PureDP) else loss.delta
    most = 0 if isinstance(privacy, PureDP) else privacy.delta
    return loss.epsilon <= privacy.epsilon and slack <= most
