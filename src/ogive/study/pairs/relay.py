"""The relay: all people are connected to it, and it carries messages between them and the aggregator beside it.

It reads headers and nothing else: who sends, who receives and how long it is; all bodies are sealed but for openings,
which are public. It keeps the order of messages from one to another. It can withhold messages and see who is there; it
cannot read, change, repeat or make any. What does not fit in a receiver's queue is dropped, and costs the pair that it
belonged to; who sends what is not a message from them is hung up on. Who connects again is let back in, and an earlier
connection of theirs, which may be half dead, ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from enum import IntEnum
from typing import Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from ogive.crypto.domains import HashDomain, digest
from ogive.crypto.domains import number as field
from ogive.crypto.twoparty import AGGREGATOR, Outgoing
from ogive.crypto.wire import SIGNATURE_BYTES, Reader, read_header
from ogive.errors import PeerError
from ogive.study.pairs.collector import Collector, History, Person
from ogive.study.pairs.study import Collected, PairsStudy

# --- Frames between a person and the relay
#
#     frame = type u8 | content
#
# The relay begins with 32 random bytes; a person answers with its number and its signature of them, so that nobody is
# kept out by a stranger who says their number. What the relay says of who is there it says to the aggregator alone, and
# nothing depends on it but which pairs are tried.

CHALLENGE_BYTES = 32
NUMBER_BYTES = 4
ANSWER_BYTES = NUMBER_BYTES + SIGNATURE_BYTES
FRONT_BYTES = 1


class Channel(Protocol):
    """A connection that carries frames, such as a WebSocket."""

    async def receive(self) -> bytes | None:
        """The next frame, None once the other side has hung up."""

    async def send(self, frame: bytes) -> None:
        """Send a frame; waits while the other side takes none.

        Raises:
            ConnectionError: the connection is lost.
        """

    async def close(self) -> None:
        """Hang up."""


class Frame(IntEnum):
    """Types of frames."""

    CHALLENGE = 1
    ANSWER = 2
    MESSAGE = 3
    ARRIVED = 4
    LEFT = 5
    UNKNOWN = 6
    OVER = 7


def pack(kind: Frame, content: bytes = b"") -> bytes:
    return bytes([kind]) + content


def unpack(frame: bytes, *, longest: int) -> tuple[Frame, bytes]:
    if not frame or frame[0] not in list(Frame) or len(frame) > FRONT_BYTES + longest:
        raise PeerError(f"a frame must be of a known type, with at most {longest} bytes, got {len(frame)} bytes")
    return Frame(frame[0]), frame[FRONT_BYTES:]


def answer(study: PairsStudy, number: int, challenge: bytes, key: Ed25519PrivateKey) -> bytes:
    return number.to_bytes(NUMBER_BYTES, "little") + key.sign(_signed(study, number, challenge))


def check_answer(study: PairsStudy, challenge: bytes, content: bytes) -> int:
    reader = Reader(content, "answer to the relay")
    number, signature = reader.number(NUMBER_BYTES), reader.take(SIGNATURE_BYTES)
    reader.finish()
    if number > len(study.people):
        raise PeerError(f"there is no number {number} in this study")
    public = study.people[number - 1] if number else study.aggregator
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, _signed(study, number, challenge))
    except InvalidSignature:
        raise PeerError(f"somebody who is not number {number} says so") from None
    return number


def read_user(study: PairsStudy, content: bytes) -> int:
    reader = Reader(content, "word of the relay")
    number = reader.number(NUMBER_BYTES)
    reader.finish()
    if not 1 <= number <= len(study.people):
        raise PeerError(f"there is no person with number {number} in this study")
    return number - 1


def _signed(study: PairsStudy, number: int, challenge: bytes) -> bytes:
    return digest(HashDomain.PAIRS_CONNECTION, study.digest, field(number), challenge)


# --- The relay

MOST_FROM_ONE = 8
"""Messages of one sender that may wait for one receiver; a pair has fewer."""
MOST_FOR_PERSON = 64
"""Messages of other people that may wait for one person, who is in one pair at a time."""
MOST_FROM_AGGREGATOR = 256
"""Messages of the aggregator that may wait for one person: each pass, and invitations."""
MOST_STRANGERS = 64
"""Connections of people who have not said who they are, beyond one a participant."""

_CLOSING_SECONDS = 2.0


class _Line:
    """What waits for one participant."""

    def __init__(self, size: int = 0) -> None:
        self.queue: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue(size)
        self._waiting: Counter[int] = Counter()
        self.tasks: tuple[asyncio.Task[None], ...] = ()

    def put(self, sender: int, frame: bytes, *, most: int) -> bool:
        """Have something wait, unless too much does; whether it was put there."""
        if self._waiting[sender] >= most or self.queue.full():
            return False
        self._waiting[sender] += 1
        self.queue.put_nowait((sender, frame))
        return True

    async def next(self) -> bytes:
        sender, frame = await self.queue.get()
        self._waiting[sender] -= 1
        return frame

    async def send(self, channel: Channel, seconds: float) -> None:
        """Send what waits, in order, to a receiver that takes each within a time."""
        while True:
            frame = await self.next()
            async with asyncio.timeout(seconds):
                await channel.send(frame)

    def end(self) -> None:
        for task in self.tasks:
            task.cancel()


class Relay:
    """The relay of one study.

    Args:
        study: Whose people may connect.
        seconds: In which a person says who it is, and takes each message.
    """

    def __init__(self, study: PairsStudy, *, seconds: float = 30.0) -> None:
        self.study = study
        self._seconds = seconds
        self._aggregator = _Line()
        self._lines: dict[int, _Line] = {}
        self._strangers: dict[asyncio.Timeout, None] = {}
        self._over = False

    async def serve(self, channel: Channel, known: Callable[[], None] = lambda: None) -> None:
        """Carry what one person sends and gets, until either hangs up, or nothing is carried any more.

        Of those who have not said who they are there is one a participant and `MOST_STRANGERS`; where another one
        comes, the first one is hung up on.

        Args:
            channel: To the person.
            known: Called when it has said who it is.
        """
        try:
            async with asyncio.timeout(self._seconds) as limit:
                self._strangers[limit] = None
                try:
                    if len(self._strangers) > len(self.study.people) + MOST_STRANGERS:
                        first = next(iter(self._strangers))
                        del self._strangers[first]
                        if not first.expired():
                            first.reschedule(asyncio.get_running_loop().time())
                    number = await self._introduced(channel)
                finally:
                    self._strangers.pop(limit, None)
            known()
            await self._carry(number, channel)
        except (PeerError, TimeoutError, ConnectionError):
            pass  # whoever it was, it is hung up on
        finally:
            with contextlib.suppress(ConnectionError, TimeoutError):
                async with asyncio.timeout(_CLOSING_SECONDS):
                    await channel.close()

    async def next(self) -> tuple[Frame, bytes]:
        return unpack(await self._aggregator.next(), longest=self.study.longest)

    def send(self, message: bytes) -> None:
        self._forward(AGGREGATOR, message)

    async def finish(self) -> None:
        """Tell everybody who is there, and whoever comes later, that the study is over."""
        self._over = True
        for line in self._lines.values():
            line.put(AGGREGATOR, pack(Frame.OVER), most=MOST_FROM_AGGREGATOR)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING_SECONDS):
                while self._lines:
                    await asyncio.sleep(0.01)
        for line in list(self._lines.values()):
            line.end()

    async def _introduced(self, channel: Channel) -> int:
        challenge = os.urandom(CHALLENGE_BYTES)
        await channel.send(pack(Frame.CHALLENGE, challenge))
        kind, content = unpack(await channel.receive() or b"", longest=ANSWER_BYTES)
        if kind is not Frame.ANSWER:
            raise PeerError("a person begins by saying who it is")
        try:
            number = check_answer(self.study, challenge, content)
            if number == AGGREGATOR:
                raise PeerError("the aggregator does not connect")
        except PeerError:
            await channel.send(pack(Frame.UNKNOWN))
            raise
        return number

    async def _carry(self, number: int, channel: Channel) -> None:
        """Carry what one person sends, until it hangs up or connects again."""
        if self._over:
            await channel.send(pack(Frame.OVER))
            return
        before = self._lines.get(number)
        if before is not None:
            self._left(number, before)
            before.end()
        line = self._lines[number] = _Line(MOST_FOR_PERSON + MOST_FROM_AGGREGATOR)
        receiving = asyncio.create_task(self._receive(number, channel))
        line.tasks = receiving, asyncio.create_task(line.send(channel, self._seconds))
        self._tell(Frame.ARRIVED, number)
        try:
            await asyncio.wait(line.tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            line.end()
            await asyncio.gather(*line.tasks, return_exceptions=True)
            self._left(number, line)

    async def _receive(self, number: int, channel: Channel) -> None:
        while (frame := await channel.receive()) is not None:
            kind, message = unpack(frame, longest=self.study.longest)
            if kind is not Frame.MESSAGE:
                raise PeerError(f"number {number} sent what is not a message")
            self._forward(number, message)

    def _left(self, number: int, line: _Line) -> None:
        if self._lines.get(number) is line:
            del self._lines[number]
            self._tell(Frame.LEFT, number)

    def _forward(self, number: int, message: bytes) -> None:
        header = read_header(message)
        if header.sender != number:
            raise PeerError(f"number {number} sent what is not a message from it")
        line = self._aggregator if header.receiver == AGGREGATOR else self._lines.get(header.receiver)
        if line is not None:
            most = MOST_FROM_AGGREGATOR if number == AGGREGATOR else MOST_FROM_ONE
            line.put(number, pack(Frame.MESSAGE, message), most=most)

    def _tell(self, kind: Frame, number: int) -> None:
        """Tell the aggregator who is there; it takes notices as they come."""
        self._aggregator.queue.put_nowait((AGGREGATOR, pack(kind, number.to_bytes(NUMBER_BYTES, "little"))))


# --- A person at their end of a connection to the relay, and the aggregator beside it

Connect = Callable[[], Awaitable[Channel]]
"""Connects to the relay.

Raises:
    ConnectionError: nothing answers; it may later.
    PeerError: what answers is not a relay.
"""

LONGEST_PAUSE = 5.0
_PAUSE = 0.1


async def take_part(person: Person, connect: Connect, *, seconds: float) -> bool:
    """Take part in a study's pairs until the relay says that it is over, or for a time.

    A connection that is lost is tried again. The pair that was at hand is over then, and the next ones go on.

    Args:
        person: The person; `given` says afterwards how many pairs it has spent.
        connect: Connects to the relay.
        seconds: How long, at most.

    Returns:
        Whether the study is over.

    Raises:
        PeerError: what answers is not a relay, or does not know the person's key.
    """
    pause = _PAUSE
    try:
        async with asyncio.timeout(seconds):
            while True:
                with contextlib.suppress(ConnectionError):
                    channel = await connect()
                    pause = _PAUSE
                    try:
                        if await _listen(person, channel):
                            return True
                    finally:
                        person.close()
                        await channel.close()
                await asyncio.sleep(pause * (1 + random.random()))  # so that people do not return all at once
                pause = min(2 * pause, LONGEST_PAUSE)
    except TimeoutError:
        return False


async def _listen(person: Person, channel: Channel) -> bool:
    """Answer what comes; whether the study is over, or else the connection was lost."""
    first = await channel.receive()
    if first is None:
        return False
    kind, challenge = unpack(first, longest=CHALLENGE_BYTES)
    if kind is not Frame.CHALLENGE or len(challenge) != CHALLENGE_BYTES:
        raise PeerError("what answers at this address is not the relay")
    number = person.user + 1
    await channel.send(pack(Frame.ANSWER, answer(person.study, number, challenge, person.key)))
    while (frame := await channel.receive()) is not None:
        # what does not belong here changes nothing, and is not answered
        messages: list[Outgoing] = []
        with contextlib.suppress(PeerError):
            kind, message = unpack(frame, longest=person.study.longest)
            if kind is Frame.OVER:
                return True
            messages = [] if kind is Frame.UNKNOWN else person.receive(message)
        if kind is Frame.UNKNOWN:
            raise PeerError(f"the relay does not know this key as that of number {number} in its study")
        for _, each in messages:
            await channel.send(pack(Frame.MESSAGE, each))
    return False


async def _keep_nothing(_: History | Collected) -> None:
    pass


async def collect(
    collector: Collector,
    relay: Relay,
    *,
    patience: float,
    store: Callable[[History], Awaitable[None]] = _keep_nothing,
    keep: Callable[[Collected], Awaitable[None]] = _keep_nothing,
    clock: Callable[[], float] = time.monotonic,
) -> Collected:
    """Go through the pairs of a study.

    Args:
        collector: The aggregator.
        relay: Carries its messages.
        patience: Seconds to wait until everybody is there; the pairs begin then with those who are.
        store: Called with what has changed, before anything that follows from it is said.
        keep: Called with what became of all pairs, before people are told that it is over.
        clock: The clock of the collector's deadline.

    Returns:
        What became of all pairs.
    """
    end = clock() + patience
    begun = False
    while not collector.over:
        until = collector.until if begun else end
        try:
            async with asyncio.timeout(None if until is None else max(0.0, until - clock())):
                frame = await relay.next()
        except TimeoutError:
            messages = collector.expire(clock()) if begun else collector.begin(clock())
            begun = True
        else:
            messages = _take(collector, *frame, now=clock())
            if not begun and collector.everybody:
                begun = True
                messages += collector.begin(clock())
        changes = collector.changes()
        if changes.pairs or changes.passes:
            await store(changes)
        for _, message in messages:
            relay.send(message)
        await asyncio.sleep(0)  # whoever sends much keeps nobody else waiting
    collected = collector.collected
    await keep(collected)
    await relay.finish()
    return collected


def _take(collector: Collector, kind: Frame, content: bytes, *, now: float) -> list[Outgoing]:
    """What the aggregator says to a frame; to one that does not belong here, nothing."""
    with contextlib.suppress(PeerError):
        match kind:
            case Frame.ARRIVED:
                return collector.arrived(read_user(collector.study, content), now)
            case Frame.LEFT:
                return collector.left(read_user(collector.study, content), now)
            case _:
                return collector.receive(content, now)
    return []
