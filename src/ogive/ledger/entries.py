"""Rows of the ledger as values, checked here and nowhere else, and the keys that seal its secrets."""

from __future__ import annotations

import base64
import datetime
import hashlib
import hmac
import json
import math
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ogive.errors import LedgerError, ParameterError
from ogive.privacy import Charge, Privacy, PrivacyUnit, charge_from_dict, is_one_line, privacy_from_dict
from ogive.provenance import RELEASE_ID

if TYPE_CHECKING:
    from sqlalchemy import Row

T = TypeVar("T")

RESERVED, RELEASED, LOST = "reserved", "released", "lost"
WHOLE = ""
"""The part that stands for the whole data set."""

PEOPLE_ROWS = "people "
"""How the names begin of the rows that say whom accounts are about."""

_LONGEST_STATISTIC = 400
_DEEPEST = 256
"""Levels of a text: a condition of 50 parentheses has some 210, since each may hold an `or` of an `and`."""

_LONGEST_KEPT = 200


@dataclass(frozen=True)
class Entry:
    """One spend.

    Fields:
        number: Within the account, from 1; grows with time.
        statistic: Name of what was asked, for example "ecdf".
        question: All that was asked, plain data.
        charge: The privacy loss that is paid for it.
        state: "reserved" while the release is in progress or was cut off, then "released"; "lost" if an older copy
            of the ledger was put back and this was spent after it, or was in progress.
        release_id: Identifier of the release, hexadecimal.
        part: The part of the data set that was asked; None for the whole.
        started: When it was reserved.
        finished: When its estimate was recorded; None before.
    """

    number: int
    statistic: str
    question: dict[str, Any]
    charge: Charge
    state: str
    release_id: str
    part: str | None
    started: datetime.datetime
    finished: datetime.datetime | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data; exact numbers and times are text."""
        return {
            "number": self.number,
            "statistic": self.statistic,
            "question": self.question,
            "charge": self.charge.to_dict(),
            "state": self.state,
            "release_id": self.release_id,
            "part": self.part,
            "started": self.started.isoformat(),
            "finished": None if self.finished is None else self.finished.isoformat(),
        }


@dataclass(frozen=True)
class DataSet:
    """A row of the data sets, checked.

    Fields:
        limit: What all releases together must keep; None for no limit.
    """

    id: int
    name: str
    unit: PrivacyUnit
    limit: Privacy | None
    fingerprints: dict[str, str]


@dataclass(frozen=True)
class Spend:
    """A row of the spends, checked; the stored estimate is not read yet, since it may be long.

    Fields:
        secret: Sealed; None once the estimate is recorded.
        bound: What each measurement depends on; empty once the estimate is recorded.
        estimate: Text of the recorded estimate; None before.
    """

    id: int
    part: str
    statistic: str
    question: dict[str, Any]
    charge: Charge
    state: str
    release_id: str
    secret: bytes | None
    bound: dict[str, str]
    estimate: str | None
    started: datetime.datetime
    finished: datetime.datetime | None

    def entry(self, number: int) -> Entry:
        """The spend as users see it."""
        return Entry(
            number=number,
            statistic=self.statistic,
            question=self.question,
            charge=self.charge,
            state=self.state,
            release_id=self.release_id,
            part=self.part or None,
            started=self.started,
            finished=self.finished,
        )

    def recorded(self) -> dict[str, Any] | None:
        """The estimate that was recorded, as plain data; None before."""
        return None if self.estimate is None else _object(self.estimate, "an estimate")


@dataclass(frozen=True)
class Shared:
    """An account, or a part of one, that holds the same people.

    Fields:
        part: The part's; None for the whole data set.
        declared: Whether the opener said that they are other people with the same ids, or that a second budget is
            meant; else an earlier version of the library, which did not compare people, let both accounts begin.
    """

    account: str
    part: str | None
    declared: bool

    def to_dict(self) -> dict[str, Any]:
        return {"account": self.account, "part": self.part, "declared": self.declared}


@dataclass(frozen=True)
class PeopleRow:
    """Whom an account or a part is about, checked but still sealed.

    Fields:
        part: Of it; `WHOLE` for all.
        fingerprint: Of the records whose people were kept last; None if it is not known.
    """

    name: str
    number: int
    part: str
    fingerprint: str | None
    shared: tuple[Shared, ...]
    sealed: bytes


# Rows are read here and nowhere else. Whoever can write to the ledger's file may have put anything into any column, of
# any type that the database knows; what comes out of these functions is of the right type and in its range.


def read_data_set(row: Row[Any]) -> DataSet:
    """Check a row of the data sets."""
    if not (isinstance(row.id, int) and row.id >= 1):
        raise damaged("an account has no number")
    if not (isinstance(row.name, str) and row.name):
        raise damaged("an account has no name")
    unit = _read(PrivacyUnit.from_dict, row.unit, "a privacy unit")
    limit = None if row.spend_limit is None else _read(privacy_from_dict, row.spend_limit, "a limit")
    return DataSet(row.id, row.name, unit, limit, read_fingerprints(row.fingerprints))


def read_fingerprints(text: object) -> dict[str, str]:
    """Fingerprints of a data set's parts."""
    return _texts(text, "the fingerprints of an account")


def read_spend(row: Row[Any]) -> Spend:
    """Check a row of the spends."""
    if row.state not in (RESERVED, RELEASED, LOST):
        raise damaged("an entry is neither reserved nor released nor lost")
    if not all(isinstance(text, str) for text in (row.fingerprint, row.statistic, row.question)):
        raise damaged("an entry lacks its fingerprint, statistic or question")
    if len(row.statistic) > _LONGEST_STATISTIC or not is_one_line(row.statistic):
        raise damaged("an entry names no statistic")
    if not (isinstance(row.release_id, str) and RELEASE_ID.fullmatch(row.release_id)):
        raise damaged("an entry names no release")
    if row.digest != question_digest(row.question):
        raise damaged(f"the question of the entry {row.release_id} is not the one that was asked")
    given = row.state == RELEASED
    fields = (row.estimate is not None, row.finished is not None, row.secret is None, row.bound is None)
    if fields != (given, given, row.state != RESERVED, row.state != RESERVED):
        raise damaged(f"the entry {row.release_id} is half finished")
    if row.state == RESERVED and not isinstance(row.secret, bytes):
        raise damaged(f"the entry {row.release_id} has no sealed secret")
    read_charge(row.first_charge)
    return Spend(
        id=row.id,
        part=read_part(row.part),
        statistic=row.statistic,
        question=read_question(row.question),
        charge=read_charge(row.charge),
        state=row.state,
        release_id=row.release_id,
        secret=row.secret,
        bound={} if row.bound is None else _texts(row.bound, "what an entry depends on"),
        estimate=row.estimate,
        started=_read_time(row.started),
        finished=None if row.finished is None else _read_time(row.finished),
    )


def read_people(name: str, text: object) -> PeopleRow:
    """Check what is kept of the people of an account or part."""
    what = "whom an account is about"
    result = _object(text, what)
    try:
        part, fingerprint, shared = result["part"], result["fingerprint"], result["shared"]
        held = tuple(Shared(each["account"], each["part"], each["declared"]) for each in shared)
        sealed = base64.b64decode(result["sealed"], validate=True)
        number = int(name.removeprefix(PEOPLE_ROWS).split(" ")[0])
    except (KeyError, TypeError, ValueError):
        raise damaged(f"{what} cannot be read") from None
    texts = [part, *(each.account for each in held), *(each.part or "" for each in held), fingerprint or ""]
    if not all(isinstance(each, str) for each in texts) or not all(isinstance(each.declared, bool) for each in held):
        raise damaged(f"{what} cannot be read")
    if name != people_row(number, part):
        raise damaged(f"{what} is of another account")
    return PeopleRow(name, number, part, fingerprint, held, sealed)


def people_row(number: int, part: str) -> str:
    """The name of the row of a data set's, or of a part's, people; short, though a part's name may be long."""
    return f"{PEOPLE_ROWS}{number} {hashlib.sha256(part.encode()).hexdigest()[:32]}"


def read_question(text: object) -> dict[str, Any]:
    """All that was asked, plain data."""
    return _object(text, "a question")


def read_part(text: object) -> str:
    """The part of a spend; `WHOLE` for none."""
    if not isinstance(text, str):
        raise damaged("an entry lacks its part")
    return text


def read_charge(text: object) -> Charge:
    """A guarantee, or a loss of Gaussian noise, from its JSON."""
    short = isinstance(text, str) and len(text) <= _LONGEST_KEPT
    return _kept_charge(text) if short else _read_charge(text)


def _read_charge(text: object) -> Charge:
    return _read(charge_from_dict, text, "a charge")


# every reservation reads the totals of its account, whose charges are nearly always those of the last one
_kept_charge = lru_cache(maxsize=1024)(_read_charge)


def _read(read: Callable[[dict[str, Any]], T], text: object, what: str) -> T:
    """A value that a reader of plain data accepts."""
    try:
        return read(_object(text, what))
    except ParameterError:
        raise damaged(f"{what} cannot be read") from None


def _read_time(text: object) -> datetime.datetime:
    if not isinstance(text, str):
        raise damaged("a time is missing or no text")
    try:
        # in UTC, so that times so early or late that no zone can show them are refused
        return datetime.datetime.fromisoformat(text).astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        raise damaged("a time cannot be read") from None


def _texts(text: object, what: str) -> dict[str, str]:
    result = _object(text, what)
    if not all(isinstance(value, str) for value in result.values()):
        raise damaged(f"{what} cannot be read")
    return result


def _object(text: object, what: str) -> dict[str, Any]:
    """Plain data of JSON that is an object."""
    if not isinstance(text, str):
        raise damaged(f"{what} is missing or no text")
    try:
        result = _DECODER.decode(text)
    except (ValueError, RecursionError):
        raise damaged(f"{what} is not JSON") from None
    if not _is_finite(result):
        raise damaged(f"{what} is not JSON")
    if not isinstance(result, dict):
        raise damaged(f"{what} is not an object of JSON")
    if _deep(text, result):
        raise damaged(f"{what} nests too deeply")
    if "\\u" in text and not _writable(result):
        raise damaged(f"{what} holds characters that no text can hold")
    return result


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a number in JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)


def _is_finite(result: Any) -> bool:
    """Whether floating point holds all numbers of plain data."""
    waiting = [[result]]
    while waiting:
        for value in waiting.pop():
            if isinstance(value, float):
                if not math.isfinite(value):
                    return False
            elif isinstance(value, dict):
                waiting.append(list(value.values()))
            elif isinstance(value, list):
                waiting.append(value)
    return True


def _deep(text: str, result: Any) -> bool:
    """Whether plain data nest more deeply than is read; `text` is their JSON."""
    if text.count("[") + text.count("{") <= _DEEPEST:
        return False
    level = [result]
    for _ in range(_DEEPEST):
        within = [each.values() if isinstance(each, dict) else each for each in level]
        level = [value for values in within for value in values if isinstance(value, dict | list | tuple)]
        if not level:
            return False
    return True


def _writable(result: Any) -> bool:
    """Whether all texts are made of whole characters: JSON can hold halves of them, which cannot be printed."""
    try:
        json.dumps(result, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def damaged(what: str) -> LedgerError:
    """The error of a ledger whose contents cannot have been written by this library."""
    return LedgerError(f"the ledger is damaged: {what}; restore it from a backup")


def plain_text(value: Any) -> str:
    """JSON with sorted keys: equal plain data have equal texts."""
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ParameterError("questions and estimates must be plain data that JSON can hold") from None
    if _deep(text, value):
        raise ParameterError(f"questions and estimates may nest {_DEEPEST} levels deep; write a simpler condition")
    return text


def question_digest(text: str) -> str:
    """SHA-256 of a question's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def now() -> str:
    """The time in UTC, as it is stored."""
    return datetime.datetime.now(datetime.UTC).isoformat()


# --- What the key file does: it keys fingerprints and seals the noise of unfinished releases

KEY_BYTES = 32
_NONCE_BYTES = 12


class Keys:
    """What one key file is used for in one ledger; the uses share no key, and neither do ledgers with an identity.

    Args:
        master: Content of the key file, 32 bytes.
        ledger: Identity of the ledger; None for one that was made before ledgers had any.
    """

    def __init__(self, master: bytes, ledger: str | None = None) -> None:
        own = b"" if ledger is None else b"\n" + ledger.encode()
        self._fingerprints = _derive(master, b"fingerprints" + own)
        self._seal = AESGCM(_derive(master, b"seal" + own))
        self.people = _derive(master, b"people" + own)
        """Hashes persons, so that the ledger knows them again."""
        self.check = _derive(master, b"check" + own).hex()
        """Tells whether a ledger was made with this key; reveals nothing about it."""
        self.totals = None if ledger is None else _derive(master, b"totals" + own)
        """Authenticates the totals of a ledger; None for one that libraries change which do not count its changes."""
        self.mark = _derive(master, b"mark")
        """Authenticates the mark file, which all ledgers of the key file share."""

    def fingerprint(self, digest: bytes) -> str:
        """A keyed hash of a digest, as text; it tells nothing without the key file."""
        return hmac.new(self._fingerprints, digest, hashlib.sha256).hexdigest()

    def seal(self, secret: bytes, release_id: str) -> bytes:
        """Encrypt the secret of a release, or of a row of another name."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._seal.encrypt(nonce, secret, release_id.encode())

    def unseal(self, sealed: bytes, release_id: str) -> bytes:
        """Decrypt the secret of a release."""
        try:
            return self._seal.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], release_id.encode())
        except (InvalidTag, ValueError):
            raise LedgerError(f"the ledger's entry {release_id} is damaged: its sealed secret cannot be read") from None


def _derive(master: bytes, use: bytes) -> bytes:
    return HKDF(hashes.SHA256(), KEY_BYTES, salt=None, info=b"ogive ledger 1\n" + use).derive(master)


def context_mark(secret: bytes, number: int, context: bytes) -> str:
    """A keyed hash of a measurement's context; it tells nothing without the secret of the release."""
    text = b"ogive bound context 1\n" + number.to_bytes(8, "big") + context
    return hmac.new(secret, text, hashlib.sha256).hexdigest()
