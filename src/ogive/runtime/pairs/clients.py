"""A person or the aggregator at their end of a connection to the relay."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.crypto.twoparty import AGGREGATOR, Outgoing
from ogive.errors import PeerError
from ogive.runtime.pairs.collector import Collected, Collector
from ogive.runtime.pairs.frames import CHALLENGE_BYTES, Frame, answer, pack, read_frame, read_user
from ogive.runtime.pairs.person import Person
from ogive.runtime.pairs.study import PairsStudy


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, longest: int) -> None:
        self._reader = reader
        self._writer = writer
        self._longest = longest
        self._reading: asyncio.Task[tuple[Frame, bytes] | None] | None = None

    @classmethod
    async def open(cls, study: PairsStudy, number: int, key: Ed25519PrivateKey, host: str, port: int) -> _Connection:
        """Connect, and say who one is.

        Raises:
            PeerError: what answers is no relay.
        """
        reader, writer = await asyncio.open_connection(host, port)
        match await read_frame(reader, longest=CHALLENGE_BYTES):
            case (Frame.CHALLENGE, challenge):
                writer.write(pack(Frame.ANSWER, answer(study, number, challenge, key)))
            case _:
                writer.close()
                raise PeerError("what answers at this address is not the relay")
        return cls(reader, writer, study.longest)

    async def read(self, seconds: float | None) -> tuple[Frame, bytes] | None:
        """The next frame, None once the relay has hung up.

        Raises:
            TimeoutError: there was none in time; what has come of one is kept.
            PeerError: the relay sent what is no frame.
        """
        if self._reading is None:
            self._reading = asyncio.create_task(read_frame(self._reader, longest=self._longest))
        done, _ = await asyncio.wait({self._reading}, timeout=seconds)
        if not done:
            raise TimeoutError
        found, self._reading = self._reading.result(), None
        return found

    async def send(self, said: Sequence[Outgoing]) -> None:
        """Send messages, in order; who has hung up gets none."""
        for _, message in said:
            self._writer.write(pack(Frame.MESSAGE, message))
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()


async def take_part(person: Person, *, host: str, port: int, seconds: float) -> None:
    """Take part in a study's pairs until the relay hangs up, or nothing has come for a time.

    Args:
        person: The person; `given` says afterwards how many pairs it has spent.
        host: Where the relay is.
        port: Where the relay is.
        seconds: Without a message after which the person leaves.

    Raises:
        PeerError: the relay is none.
    """
    connection = await _Connection.open(person.study, person.user + 1, person.key, host, port)
    try:
        while (frame := await connection.read(seconds)) is not None:
            # what does not belong here changes nothing, and is not answered
            with contextlib.suppress(PeerError):
                await connection.send(person.receive(frame[1]))
    except TimeoutError:
        pass
    finally:
        person.close()
        await connection.close()


async def collect(collector: Collector, *, host: str, port: int, patience: float) -> Collected:
    """Go through the pairs of a study.

    Args:
        collector: The aggregator.
        host: Where the relay is.
        port: Where the relay is.
        patience: Seconds to wait for people; who is not there then counts as gone.

    Returns:
        What became of all pairs; of those that were tried until then, if the relay hangs up.

    Raises:
        PeerError: the relay is none.
    """
    clock = time.monotonic
    connection = await _Connection.open(collector.study, AGGREGATOR, collector.key, host, port)
    try:
        end = clock() + patience
        begun = False
        while not collector.over:
            until = collector.until if begun else end
            try:
                frame = await connection.read(None if until is None else max(0.0, until - clock()))
            except TimeoutError:
                said = collector.expire(clock()) if begun else collector.begin(clock())
                begun = True
            else:
                if frame is None:
                    break
                said = _take(collector, *frame, now=clock())
                if not begun and collector.everybody:
                    begun = True
                    said = collector.begin(clock())
            await connection.send(said)
    finally:
        await connection.close()
    return collector.collected


def _take(collector: Collector, kind: Frame, content: bytes, *, now: float) -> list[Outgoing]:
    """What the aggregator says to a frame; to one that does not belong here, nothing."""
    with contextlib.suppress(PeerError):
        match kind:
            case Frame.ARRIVED:
                collector.arrived(read_user(collector.study, content))
            case Frame.LEFT:
                return collector.left(read_user(collector.study, content), now)
            case _:
                return collector.receive(content, now)
    return []
