"""One person of a study of people: pays from a ledger of its own, and takes part until the study is over.

The whole price is in the ledger before anything leaves the person's machine, however many pairs come about. What the
person gave is noted beside the ledger (`LEDGER.pairs`), so that a person who is started again gives no half twice; a
person whose notes were lost, or are older ones, takes part in nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.core.arrays import Int64
from ogive.errors import DataError, PeerError, RefusalError, ReleaseMismatchError, plain
from ogive.ledger import Ledger, Reservation
from ogive.noise.source import KEY_BYTES
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Answer, PairsQuery
from ogive.records import Records
from ogive.study.document import PeopleStudy
from ogive.study.https import believing, read_address
from ogive.study.pairs import Channel, Person, take_part
from ogive.study.pairs.terms import Meeting
from ogive.study.pairs.websocket import connect as open_channel
from ogive.study.paying import check_budget, payment_of
from ogive.study.store import Kept, Store
from ogive.trust.base import Opening, TrustModel
from ogive.trust.models import PairsOptions

# --- Notes of what a person gave, which its ledger counts, so that older ones are found out
#
# Notes that were put back from a backup lack some, and would let a person give more halves than it paid for. Each note
# takes the next number in the ledger, with a random value, and no number is taken twice. Notes that are found to be
# older lose what the ledger knows them by, so that trying again changes nothing.

_IDENTITY, _COUNT = "identity", "count"
_VALUE_BYTES, _COUNT_BYTES = 16, 8
_IDENTITY_NUMBER = 1


class Notes:
    """The notes of one person in one study."""

    def __init__(self, store: Store, paid: Reservation) -> None:
        self._store = store
        self._paid = paid
        fresh = os.urandom(_VALUE_BYTES)
        with store.write() as kept:
            self._identity = kept.put_new(_IDENTITY, fresh) or fresh
            count = _counted(kept)
        self._bind(_IDENTITY_NUMBER, self._identity)
        self._bind(_IDENTITY_NUMBER + count, os.urandom(_VALUE_BYTES))  # before anybody is met

    def note(self, token: bytes, value: bytes) -> bytes | None:
        """Note a value for good unless the token has one, and say which it had; None for none."""
        with self._store.write() as kept:
            if kept.get(_IDENTITY) != self._identity:
                raise self._others()
            earlier = kept.put_new(f"note/{token.hex()}", value)
            count = 0 if earlier is not None else _counted(kept)
        if earlier is None:
            self._bind(_IDENTITY_NUMBER + count, os.urandom(_VALUE_BYTES))
        return earlier

    def _bind(self, number: int, value: bytes) -> None:
        try:
            self._paid.bind(number, value)
        except ReleaseMismatchError:
            with self._store.write() as kept:
                kept.drop_one(_IDENTITY)
            raise self._others() from None

    def _others(self) -> PeerError:
        return PeerError(
            f"the notes {plain(self._store.words)} are not those that belong to this ledger, or older ones, so what "
            "was given is not known; this person takes part no more"
        )


def _counted(kept: Kept) -> int:
    count = int.from_bytes(kept.get(_COUNT) or b"", "little") + 1
    kept.put(_COUNT, count.to_bytes(_COUNT_BYTES, "little"))
    return count


# --- One person, until the study is over

NOTES = ".pairs"
"""What the name of a ledger ends in as that of the notes beside it."""
PATH = "/v1/pairs"

_LATE_SECONDS = 120.0
"""How long after the deadline a person waits to be told that the study is over."""


class OwnRecord(TrustModel):
    """The record of one person, as what pays for its pairs."""

    options_type = PairsOptions

    def __init__(self, meeting: Meeting, record: Any) -> None:
        self.options: PairsOptions = PairsOptions()
        self._meeting = meeting
        self.row: Int64 = Records.of(record).aggregate(meeting.query.rows)
        if len(self.row) != 1:
            raise DataError(f"a person takes part with one record, got {len(self.row)}")

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        return self._meeting.study.unit

    def count(self) -> int:
        return len(self.row)

    def data_digest(self) -> bytes:
        return hashlib.sha256(b"ogive person\n" + self.row.astype("<i8").tobytes()).digest()

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> OwnPairs:
        return OwnPairs(self, adjacency, secret)

    @property
    def entered(self) -> int:
        """What the person enters in its circuits: the bits of its record as a whole number."""
        query = self._meeting.query
        bits = query.entries.of(query.rows.values(self.row)[:, : len(query.columns.columns)])
        return sum(1 << int(place) for place in np.flatnonzero(bits[0]))


class OwnPairs(Opening[PairsQuery]):
    """A person's part of one release; its noise is drawn in each pair, and nothing follows from the secret."""

    def __init__(self, record: OwnRecord, adjacency: Adjacency, secret: bytes) -> None:
        self._record = record
        self._adjacency = adjacency
        self.secret = secret

    def digest_of(self, query: PairsQuery) -> bytes:
        return query.digest(self._record.row, self._adjacency)

    def answer(self, query: PairsQuery) -> Answer:
        """A single person has no answer."""
        raise NotImplementedError("pairs answer, and no person alone")


def join(
    study: PeopleStudy,
    record: Any,
    *,
    key: Ed25519PrivateKey,
    ledger: str | Path,
    connect: str,
    authority: Path | None = None,
) -> tuple[int, bool]:
    """Take part in a study's pairs with one record, until it is over or its deadline has passed.

    The ledger is made if it is not there; nothing is sent where it or the notes cannot be used. In how many pairs the
    person gave its half in this process, and whether the service said that the study is over.

    Privacy: everybody else together learns noisy values of the person's pairs, at the price of the release, which is
        charged whatever comes of them.
    """
    number = study.number_of(key.public_key().public_bytes_raw())
    address, context = _address(connect), believing(authority)
    left = (study.deadline - datetime.now(UTC)).total_seconds()
    if left <= 0:
        raise RefusalError(f"no pair of this study begins after {study.deadline.isoformat()}; nothing was sent")
    meeting = Meeting.of(study)
    own = OwnRecord(meeting, record)
    notes = Store(f"{ledger}{NOTES}")
    notes.hold()
    try:
        noted = Notes(notes, _pay(meeting, own, ledger))
        person = Person(meeting.protocol, number - 1, {"values": own.entered}, key=key, note=noted.note)

        async def channel() -> Channel:
            return await open_channel(address, meeting.protocol, context)

        over = asyncio.run(take_part(person, channel, seconds=left + _LATE_SECONDS))
    finally:
        notes.close()
    return person.given, over


def _pay(meeting: Meeting, own: OwnRecord, ledger: str | Path) -> Reservation:
    """Make the charge durable, once; a person that is started again has paid."""
    study = meeting.study
    account = Ledger.open(ledger).account(study.name, unit=study.unit, limit=study.budget)
    payment = payment_of(study, 0, account, own)
    check_budget(study, 0, account, payment)
    payment.pay(meeting.price, meeting.query, own.resume(study.unit.adjacency, secret=os.urandom(KEY_BYTES)))
    reserved = account.reserved(payment.question)
    if reserved is None:
        raise PeerError("this release is complete in the ledger")
    return reserved


def _address(connect: str) -> str:
    read_address(connect, "the service")
    return "wss://" + connect.removeprefix("https://").rstrip("/") + PATH
