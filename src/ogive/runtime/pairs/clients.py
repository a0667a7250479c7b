"""A person at their end of a connection to the relay, and the aggregator beside it."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable

from ogive.crypto.twoparty import Outgoing
from ogive.errors import PeerError
from ogive.runtime.pairs.collector import Collected, Collector
from ogive.runtime.pairs.frames import CHALLENGE_BYTES, Channel, Frame, answer, pack, read_user, unpack
from ogive.runtime.pairs.history import History
from ogive.runtime.pairs.person import Person
from ogive.runtime.pairs.relay import Relay

Connect = Callable[[], Awaitable[Channel]]
"""Connects to the relay.

Raises:
    ConnectionError: nothing answers; it may later.
    PeerError: what answers is no relay.
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
        PeerError: what answers is no relay, or does not know the person's key.
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
        said: list[Outgoing] = []
        with contextlib.suppress(PeerError):
            kind, message = unpack(frame, longest=person.study.longest)
            if kind is Frame.OVER:
                return True
            said = [] if kind is Frame.UNKNOWN else person.receive(message)
        if kind is Frame.UNKNOWN:
            raise PeerError(f"the relay does not know this key as that of number {number} in its study")
        for _, each in said:
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
            said = collector.expire(clock()) if begun else collector.begin(clock())
            begun = True
        else:
            said = _take(collector, *frame, now=clock())
            if not begun and collector.everybody:
                begun = True
                said += collector.begin(clock())
        changes = collector.changes()
        if changes.pairs or changes.passes:
            await store(changes)
        for _, message in said:
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
