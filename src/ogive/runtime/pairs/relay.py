"""The relay: a server that all participants are connected to, and that carries messages between them.

It reads headers and nothing else: who sends, who receives and how long it is; all bodies are sealed but for openings,
which are public. It keeps the order of messages from one to another. It can withhold messages and see who is there; it
cannot read, change, repeat or make any. What does not fit in a receiver's queue is dropped, and costs the pair that it
belonged to; who sends what is no message from them is hung up on.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import Counter
from collections.abc import Callable

from ogive.crypto.twoparty import AGGREGATOR
from ogive.crypto.wire import read_header
from ogive.errors import PeerError
from ogive.runtime.pairs.frames import (
    ANSWER_BYTES,
    CHALLENGE_BYTES,
    NUMBER_BYTES,
    Frame,
    check_answer,
    pack,
    read_frame,
)
from ogive.runtime.pairs.study import PairsStudy

MOST_FROM_ONE = 8
"""Messages of one sender that may wait for one receiver; a pair has fewer."""
MOST_FOR_PERSON = 64
"""Messages that may wait for one person, who is in one pair at a time."""
MOST_STRANGERS = 64
"""Connections beyond one a participant."""


class _Line:
    """What waits for one participant.

    Args:
        writer: Its connection.
        size: Messages that may wait.
    """

    def __init__(self, writer: asyncio.StreamWriter, size: int) -> None:
        self.writer = writer
        self.queue: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue(size)
        self._waiting: Counter[int] = Counter()

    def put(self, sender: int, frame: bytes, *, most: int) -> bool:
        """Have something wait, unless too much does; whether it was put there."""
        if self._waiting[sender] >= most or self.queue.full():
            return False
        self._waiting[sender] += 1
        self.queue.put_nowait((sender, frame))
        return True

    async def send(self, seconds: float) -> None:
        """Send what waits, in order, to a receiver that takes each within a time."""
        while True:
            sender, frame = await self.queue.get()
            self._waiting[sender] -= 1
            self.writer.write(frame)
            async with asyncio.timeout(seconds):
                await self.writer.drain()


class Relay:
    """The relay of one study.

    Args:
        study: Whose participants may connect.
        seconds: In which a participant says who it is, and takes each message.
    """

    def __init__(self, study: PairsStudy, *, seconds: float = 30.0) -> None:
        self._study = study
        self._seconds = seconds
        self._lines: dict[int, _Line] = {}
        self._been: set[int] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._finished = asyncio.Event()

    async def serve(
        self, host: str = "127.0.0.1", port: int = 0, *, seconds: float, ready: Callable[[int], None]
    ) -> None:
        """Carry messages until the aggregator has hung up, or for a time; then everybody is hung up on.

        Args:
            host: Where to listen.
            port: Where to listen; 0 for any that is free.
            seconds: How long.
            ready: Called with the port once people can connect.
        """
        server = await asyncio.start_server(self._connected, host, port)
        ready(server.sockets[0].getsockname()[1])
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._finished.wait()
        finally:
            server.close()
            for writer in self._writers:
                writer.transport.abort()
            await asyncio.gather(*self._tasks)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            if len(self._writers) <= len(self._study.people) + 1 + MOST_STRANGERS:
                async with asyncio.timeout(self._seconds):
                    number = await self._introduced(reader, writer)
                await self._carry(number, reader, writer)
        except (PeerError, TimeoutError, ConnectionError):
            pass  # whoever it was, it is hung up on
        finally:
            # not close, which would wait for who does not listen
            writer.transport.abort()
            self._writers.discard(writer)
            self._tasks.discard(task)

    async def _introduced(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
        challenge = os.urandom(CHALLENGE_BYTES)
        writer.write(pack(Frame.CHALLENGE, challenge))
        match await read_frame(reader, longest=ANSWER_BYTES):
            case (Frame.ANSWER, content):
                number = check_answer(self._study, challenge, content)
            case _:
                raise PeerError("a participant begins by saying who it is")
        if number in self._been:
            raise PeerError(f"number {number} was here before: who has left does not come back")
        return number

    async def _carry(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry what one participant sends, until it hangs up."""
        participants = len(self._study.people) + 1
        self._been.add(number)
        line = self._lines[number] = _Line(writer, MOST_FOR_PERSON if number else 2 * MOST_FROM_ONE * participants)
        sending = asyncio.create_task(line.send(self._seconds))
        sending.add_done_callback(lambda _: writer.transport.abort())
        if number == AGGREGATOR:
            for other in sorted(self._been - {AGGREGATOR}):
                self._tell(Frame.ARRIVED if other in self._lines else Frame.LEFT, other)
        else:
            self._tell(Frame.ARRIVED, number)
        try:
            while (frame := await read_frame(reader, longest=self._study.longest)) is not None:
                self._forward(number, *frame)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            del self._lines[number]
            if number == AGGREGATOR:
                self._finished.set()
            else:
                self._tell(Frame.LEFT, number)

    def _forward(self, number: int, kind: Frame, data: bytes) -> None:
        if kind is not Frame.MESSAGE or (header := read_header(data)).sender != number:
            raise PeerError(f"number {number} sent what is no message from it")
        line = self._lines.get(header.receiver)
        if line is not None:
            line.put(number, pack(Frame.MESSAGE, data), most=MOST_FROM_ONE)

    def _tell(self, kind: Frame, number: int) -> None:
        """Tell the aggregator who is there."""
        line = self._lines.get(AGGREGATOR)
        if line is not None:
            line.put(AGGREGATOR, pack(kind, number.to_bytes(NUMBER_BYTES, "little")), most=line.queue.maxsize)
