"""One person of a study of people: pays from a ledger of its own, and takes part until the study is over, by WebSocket.

The whole price is in the ledger before anything leaves the person's machine, however many pairs come about. What the
person gave is noted beside the ledger (`LEDGER.pairs`), so that a person who is started again gives no half twice; a
person whose notes were lost, or are older ones, takes part in nothing.

Needs the extra `serve`.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import ssl
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from starlette.types import Scope
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from ogive.core.arrays import Int64
from ogive.errors import DataError, ParameterError, PeerError, RefusalError, ReleaseMismatchError, plain
from ogive.ledger import Ledger, Reservation
from ogive.noise.source import KEY_BYTES
from ogive.privacy import Adjacency
from ogive.queries import PairsQuery
from ogive.records import Records
from ogive.study.course import Own, OwnOpening, check_budget, payment_of
from ogive.study.document import PeopleStudy
from ogive.study.https import believing, read_address
from ogive.study.pairs import Channel, Person, Relay, take_part
from ogive.study.pairs.relay import FRONT_BYTES
from ogive.study.pairs.study import Meeting, PairsStudy
from ogive.study.store import Store, next_number
from ogive.trust.models import PairsOptions

# --- WebSockets as channels: a person's end, and the relay's end at a Starlette service

_SERVER_ERROR = 500


def endpoint(relay: Relay, known: Callable[[Scope], None] = lambda _: None) -> Callable[[WebSocket], Awaitable[None]]:
    """Serves the people of a relay, each at a WebSocket."""

    async def serve(websocket: WebSocket) -> None:
        await websocket.accept()
        await relay.serve(_Served(websocket), lambda: known(websocket.scope))

    return serve


def largest_frame(study: PairsStudy) -> int:
    """Bytes of the longest frame, which a service has to take and no more."""
    return FRONT_BYTES + study.longest


async def open_channel(url: str, study: PairsStudy, context: ssl.SSLContext | None = None) -> Channel:
    try:
        return _Connected(
            await open_websocket(url, ssl=context, max_size=largest_frame(study), compression=None, proxy=None)
        )
    except InvalidURI:
        raise ParameterError(f"{plain(url)} is not an address of a service") from None
    except ssl.SSLCertVerificationError as problem:
        raise PeerError(f"the service's certificate is not valid ({plain(problem.verify_message)})") from None
    except InvalidHandshake as problem:
        status = getattr(getattr(problem, "response", None), "status_code", _SERVER_ERROR)
        if status < _SERVER_ERROR:
            raise PeerError(f"what answers at this address is not a service of pairs: it says {status}") from None
        raise ConnectionError(str(problem)) from None
    except (OSError, TimeoutError) as problem:
        raise ConnectionError(str(problem)) from None


class _Connected:
    """A person's end."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection

    async def receive(self) -> bytes | None:
        try:
            frame = await self._connection.recv(decode=False)
        except (ConnectionClosed, OSError):
            return None
        return bytes(frame)

    async def send(self, frame: bytes) -> None:
        try:
            await self._connection.send(frame)
        except ConnectionClosed as problem:
            raise ConnectionError(str(problem)) from None

    async def close(self) -> None:
        await self._connection.close()


class _Served:
    """The relay's end."""

    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket

    async def receive(self) -> bytes | None:
        result = await self._websocket.receive()
        if result["type"] != "websocket.receive":
            return None
        frame: bytes | None = result.get("bytes")
        return b"" if frame is None else frame  # a text is not a frame

    async def send(self, frame: bytes) -> None:
        try:
            await self._websocket.send_bytes(frame)
        except (WebSocketDisconnect, RuntimeError) as problem:
            raise ConnectionError(str(problem)) from None

    async def close(self) -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # it is closed
            await self._websocket.close()


# --- Notes of what a person gave, which its ledger counts, so that older ones are found out
#
# Notes that were put back from a backup lack some, and would let a person give more halves than it paid for. Each note
# takes the next number in the ledger, with a random value, and no number is taken twice. Notes that are found to be
# older lose what the ledger knows them by, so that trying again changes nothing.

_IDENTITY, _COUNT = "identity", "count"
_VALUE_BYTES = 16
_IDENTITY_NUMBER = 1


class Notes:
    """The notes of one person in one study."""

    def __init__(self, store: Store, paid: Reservation) -> None:
        self._store = store
        self._paid = paid
        fresh = os.urandom(_VALUE_BYTES)
        with store.write() as entries:
            self._identity = entries.put_new(_IDENTITY, fresh) or fresh
            count = next_number(entries, _COUNT)
        self._bind(_IDENTITY_NUMBER, self._identity)
        self._bind(_IDENTITY_NUMBER + count, os.urandom(_VALUE_BYTES))  # before anybody is met

    def note(self, token: bytes, value: bytes) -> bytes | None:
        """Note a value for good unless the token has one, and say which it had; None for none."""
        with self._store.write() as entries:
            if entries.get(_IDENTITY) != self._identity:
                raise self._others()
            earlier = entries.put_new(f"note/{token.hex()}", value)
            count = 0 if earlier is not None else next_number(entries, _COUNT)
        if earlier is None:
            self._bind(_IDENTITY_NUMBER + count, os.urandom(_VALUE_BYTES))
        return earlier

    def _bind(self, number: int, value: bytes) -> None:
        try:
            self._paid.bind(number, value)
        except ReleaseMismatchError:
            with self._store.write() as entries:
                entries.drop_one(_IDENTITY)
            raise self._others() from None

    def _others(self) -> PeerError:
        return PeerError(
            f"the notes {plain(self._store.words)} are not those that belong to this ledger, or older ones, so what "
            "was given is not known; this person takes part no more"
        )


# --- One person, until the study is over

NOTES = ".pairs"
"""What the name of a ledger ends in as that of the notes beside it."""
PATH = "/v1/pairs"

_LATE_SECONDS = 120.0
"""How long after the deadline a person waits to be told that the study is over."""


class OwnRecord(Own):
    """The record of one person, as what pays for its pairs."""

    options_type = PairsOptions

    def __init__(self, meeting: Meeting, record: Any) -> None:
        super().__init__(meeting.study)
        self._meeting = meeting
        self.row: Int64 = Records.of(record).aggregate(meeting.query.rows)
        if len(self.row) != 1:
            raise DataError(f"a person takes part with one record, got {len(self.row)}")

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


class OwnPairs(OwnOpening[PairsQuery]):
    """Pairs in each of which noise is drawn; nothing follows from the secret."""

    def __init__(self, record: OwnRecord, adjacency: Adjacency, secret: bytes) -> None:
        super().__init__(secret)
        self._record = record
        self._adjacency = adjacency

    def context(self, query: PairsQuery) -> bytes:
        return query.digest(self._record.row, self._adjacency)


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
    notes = Store.held(f"{ledger}{NOTES}")
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
