"""One person of a study of people: pays from a ledger of its own, and takes part until the study is over.

The whole price is in the ledger before anything leaves the person's machine, however many pairs come about. What the
person gave is noted beside the ledger (`LEDGER.pairs`), so that a person who is started again gives no half twice; a
person whose notes were lost, or are older ones, takes part in nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.arrays import Int64
from ogive.columns import Schema
from ogive.errors import DataError, ParameterError, PeerError, RefusalError, plain
from ogive.ledger import Ledger, Reservation
from ogive.noise.source import KEY_BYTES
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Answer, PairsQuery
from ogive.records import Records
from ogive.runtime.pairs import Channel, Person, take_part
from ogive.runtime.pairs.websocket import connect as open_channel
from ogive.study.https.addresses import read_address
from ogive.study.pairs.document import PeopleStudy
from ogive.study.pairs.meeting import Meeting
from ogive.study.pairs.notes import Notes
from ogive.study.paying import check_budget, payment_of
from ogive.study.store import Store
from ogive.trust.base import Opening, TrustModel
from ogive.trust.pairs.options import PairsOptions

NOTES = ".pairs"
"""What the name of a ledger ends in as that of the notes beside it."""
PATH = "/v1/pairs"

_LATE_SECONDS = 120.0
"""How long after the deadline a person waits to be told that the study is over."""


class OwnRecord(TrustModel):
    """The record of one person, as what pays for its pairs.

    Args:
        meeting: What is computed.
        record: Anything that `Records.of` reads, of one row.

    Raises:
        DataError, ParameterError: it is no record of the study.
    """

    options_type = PairsOptions

    def __init__(self, meeting: Meeting, record: Any) -> None:
        self.options: PairsOptions = PairsOptions()
        self._meeting = meeting
        self._records = Records.of(record)
        self.row: Int64 = self._records.aggregate(meeting.query.rows)
        if len(self.row) != 1:
            raise DataError(f"a person takes part with one record, got {len(self.row)}")

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """As the study says."""
        return self._meeting.study.unit

    def count(self) -> int:
        """One."""
        return len(self.row)

    def data_digest(self) -> bytes:
        """SHA-256 of the record."""
        return hashlib.sha256(b"ogive person\n" + self.row.astype("<i8").tobytes()).digest()

    def schema(self) -> Schema:
        """What the columns hold."""
        return self._records.schema()

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> OwnPairs:
        """Go on with a release."""
        return OwnPairs(self, adjacency, secret)

    @property
    def entered(self) -> int:
        """What the person enters in its circuits: the bits of its record as a whole number."""
        query = self._meeting.query
        bits = query.entries.of(query.rows.values(self.row)[:, : len(query.columns.columns)])
        return sum(1 << int(place) for place in np.flatnonzero(bits[0]))


class OwnPairs(Opening[PairsQuery]):
    """A person's part of one release; its noise is drawn in each pair.

    Args:
        record: The person's.
        adjacency: Of the study.
        secret: 32 bytes; nothing follows from it.
    """

    def __init__(self, record: OwnRecord, adjacency: Adjacency, secret: bytes) -> None:
        self._record = record
        self._adjacency = adjacency
        self.secret = secret

    def context(self, query: PairsQuery) -> bytes:
        """Digest of the record and of the question."""
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
    """Take part in a study's pairs, until it is over.

    Args:
        study: The study.
        record: Anything that `Records.of` reads, of one row.
        key: The person's.
        ledger: File of the person's ledger, which is made if it is not there.
        connect: Address of the service, such as "https://study.example.org:8443".
        authority: File with the certificate that its certificate was issued with; None for those the system trusts.

    Returns:
        In how many pairs the person gave its half in this process, and whether the service said that the study is over.

    Raises:
        ParameterError: the person is not in the study, or an address or a file cannot be used.
        DataError: the record does not fit the study.
        RefusalError: the deadline is over; nothing is spent.
        BudgetError: the ledger does not allow the price.
        PeerError: what answers is not the study's service.
        LedgerError: the ledger or the notes cannot be used; nothing is sent.

    Privacy: everybody else together learns noisy values of the person's pairs, at the price of the release, which is
        charged whatever comes of them.
    """
    number = study.number_of(key.public_key().public_bytes_raw())
    address, context = _address(connect), _context(authority)
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


def _context(authority: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if authority is None else str(authority))
    except OSError as problem:  # ssl.SSLError is one
        raise ParameterError(f"the certificate {plain(authority)} cannot be used: {problem.strerror}") from None
