"""Rows of the ledger as values."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ogive.accounting import compose, fits, remaining
from ogive.accounting.filters import sum_rho
from ogive.errors import LedgerError, ParameterError
from ogive.privacy import ApproxDP, Privacy, PureDP, ZeroConcentratedDP, privacy_from_dict

RESERVED, RELEASED = "reserved", "released"
WHOLE = ""
"""The part that stands for the whole data set."""


@dataclass(frozen=True)
class Entry:
    """One spend.

    Fields:
        number: Grows with time; unique in the ledger.
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
    charge: Privacy
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


def read_entry(row: Any) -> Entry:
    """Rebuild a spend from its row."""
    return Entry(
        number=row.id,
        statistic=row.statistic,
        question=read_text(row.question),
        charge=read_privacy(row.charge),
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
    """A guarantee from its JSON."""
    try:
        return privacy_from_dict(read_text(text))
    except (ParameterError, TypeError):
        raise LedgerError("the ledger is damaged: a charge cannot be read; restore it from a backup") from None


def question_digest(text: str) -> str:
    """SHA-256 of a question's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def now() -> str:
    """The time in UTC, as it is stored."""
    return datetime.datetime.now(datetime.UTC).isoformat()


class Charges:
    """What was charged to a data set, in order: to all of it and to each declared part.

    A person belongs to one part for good, so what they lose is what the whole and their part were charged.
    """

    def __init__(self, charges: Iterable[tuple[str, Privacy]]) -> None:
        self._charges = list(charges)

    def of(self, part: str) -> list[Privacy]:
        """What a member of the part is charged for; for `WHOLE`, somebody who is in no part."""
        return [charge for where, charge in self._charges if where in (WHOLE, part)]

    def plus(self, part: str, charge: Privacy) -> Charges:
        """These and one more."""
        return Charges([*self._charges, (part, charge)])

    def sequences(self, part: str) -> list[list[Privacy]]:
        """What may be charged to one person each, where a spend on `part` counts: on the whole, everybody's."""
        if part != WHOLE:
            return [self.of(part)]
        parts = sorted({where for where, _ in self._charges} | {WHOLE})
        return [self.of(where) for where in parts]

    def keep(self, limit: Privacy | None, part: str) -> bool:
        """Whether everybody whom a spend on the part concerns stays within the limit."""
        return limit is None or all(fits(limit, sequence) for sequence in self.sequences(part))

    def remaining(self, limit: Privacy, part: str) -> Privacy | None:
        """The largest guarantee that a release on the part may still be granted, or None."""
        found = [remaining(limit, sequence) for sequence in self.sequences(part)]
        least = found[0]
        for other in found[1:]:
            least = _smaller(least, other)
        return least

    def spent(self, limit: Privacy | None, part: str) -> Privacy | None:
        """What somebody has lost at most, as a guarantee of the limit's type; None before any spend."""
        sequences = [sequence for sequence in self.sequences(part) if sequence]
        if not sequences:
            return None
        if isinstance(limit, ZeroConcentratedDP):
            return max((ZeroConcentratedDP(sum_rho(sequence)) for sequence in sequences), key=_size)
        delta = limit.delta if isinstance(limit, ApproxDP) else None
        totals = [compose(sequence, delta=delta) for sequence in sequences]
        deltas = [total.delta for total in totals if isinstance(total, ApproxDP)]
        if deltas:
            return max((compose(sequence, delta=max(deltas)) for sequence in sequences), key=_size)
        if any(isinstance(total, ZeroConcentratedDP) for total in totals):
            return max((ZeroConcentratedDP(sum_rho(sequence)) for sequence in sequences), key=_size)
        return max(totals, key=_size)


def _size(privacy: Privacy) -> Any:
    return privacy.rho if isinstance(privacy, ZeroConcentratedDP) else privacy.epsilon


def _smaller(one: Privacy | None, other: Privacy | None) -> Privacy | None:
    if one is None or other is None:
        return None
    if type(one) is type(other):
        return min(one, other, key=_size)
    # where one of them leaves room for pure releases only, so do both
    return PureDP(min(_size(one), _size(other)))
