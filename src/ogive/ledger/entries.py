"""Rows of the ledger as values."""

from __future__ import annotations

import datetime
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from ogive.errors import LedgerError, ParameterError
from ogive.privacy import Charge, Privacy, charge_from_dict, privacy_from_dict

RESERVED, RELEASED = "reserved", "released"
WHOLE = ""
"""The part that stands for the whole data set."""


@dataclass(frozen=True)
class Entry:
    """One spend.

    Fields:
        number: Within the account, from 1; grows with time.
        statistic: Name of what was asked, for example "ecdf".
        question: All that was asked, plain data.
        charge: The privacy loss that is paid for it.
        state: "reserved" while the release is in progress or was cut off, then "released".
        release_id: Names the release, hexadecimal.
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


def read_entry(number: int, row: Any) -> Entry:
    """Rebuild a spend from its row."""
    return Entry(
        number=number,
        statistic=row.statistic,
        question=read_text(row.question),
        charge=read_charge(row.charge),
        state=row.state,
        release_id=row.release_id,
        part=row.part or None,
        started=datetime.datetime.fromisoformat(row.started),
        finished=None if row.finished is None else datetime.datetime.fromisoformat(row.finished),
    )


def plain_text(value: Any) -> str:
    """JSON with sorted keys: equal plain data have equal texts.

    Raises:
        ParameterError: the value is not plain data.
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError):
        raise ParameterError("questions and estimates must be plain data that JSON can hold") from None


def read_text(text: str) -> Any:
    """Inverse of `plain_text`.

    Raises:
        LedgerError: the text is damaged.
    """
    try:
        return json.loads(text)
    except ValueError:
        raise LedgerError("the ledger is damaged: an entry is not JSON; restore it from a backup") from None


def read_privacy(text: str) -> Privacy:
    """A guarantee, the limit of an account, from its JSON."""
    try:
        return privacy_from_dict(read_text(text))
    except (ParameterError, TypeError):
        raise LedgerError("the ledger is damaged: a limit cannot be read; restore it from a backup") from None


def read_charge(text: str) -> Charge:
    """A guarantee, or a loss of Gaussian noise, from its JSON."""
    try:
        return charge_from_dict(read_text(text))
    except (ParameterError, TypeError, AttributeError):
        raise LedgerError("the ledger is damaged: a charge cannot be read; restore it from a backup") from None


def question_digest(text: str) -> str:
    """SHA-256 of a question's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def now() -> str:
    """The time in UTC, as it is stored."""
    return datetime.datetime.now(datetime.UTC).isoformat()
