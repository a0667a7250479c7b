"""The relay at a WebSocket of this machine: strangers, rubbish, people who do not listen, and who come back."""

import asyncio
import contextlib
import time

import numpy as np
import pytest
import websockets
from helpers.pairs_network import HOST, Watched, collector_of, connecting, free_port, person_of, served, study_of
from helpers.twoparty import enrolment
from helpers.waiting import PATIENCE

from ogive.crypto.wire import Header
from ogive.errors import ParameterError, PeerError
from ogive.study.pairs import Relay, collect, take_part
from ogive.study.pairs import relay as relays
from ogive.study.pairs.joining import open_channel
from ogive.study.pairs.relay import (
    ANSWER_BYTES,
    MOST_FOR_PERSON,
    MOST_FROM_AGGREGATOR,
    MOST_FROM_ONE,
    Frame,
    _Line,
    answer,
    check_answer,
    pack,
    unpack,
)

STUDY = study_of(np.array([[0, 1], [2, 3], [0, 2], [1, 3]]), 4)
VALUES = [5, 60, 17, 33]
SECONDS = PATIENCE


class Stranger:
    """A connection that says what it likes."""

    def __init__(self, port):
        self.port = port

    async def __aenter__(self):
        self.socket = await websockets.connect(f"ws://{HOST}:{self.port}/pairs", compression=None, max_queue=1)
        return self

    async def __aexit__(self, *_):
        self.socket.transport.abort()

    async def join(self, number, key=None, study=STUDY):
        challenge = await self.next()
        await self.say(Frame.ANSWER, answer(study, number, challenge[1], enrolment(key or number)))

    async def say(self, kind, content):
        await self.socket.send(pack(kind, content))

    async def next(self):
        async with asyncio.timeout(SECONDS):
            try:
                return unpack(await self.socket.recv(), longest=1 << 20)
            except websockets.ConnectionClosed:
                return None

    async def is_hung_up_on(self):
        while (found := await self.next()) is not None:
            assert found[0] in (Frame.CHALLENGE, Frame.UNKNOWN)
        return True


def with_relay(work, study=STUDY, **more):
    """Run something beside a relay."""

    async def main():
        port, relay = free_port(), Relay(study, **more)
        async with served(relay, port):
            return await work(port, relay)

    return asyncio.run(main())


def message(sender, receiver, body=b"", sequence=0):
    return Header(4, 9, bytes(32), bytes(16), sender, receiver, 0, sequence).message(body)


async def whole_study(port, relay, users=range(4), collector=None):
    """The relay's study, which begins when those who come are there; others may be connected meanwhile."""
    study = relay.study
    people = {user: person_of(study, user, VALUES[user]) for user in users}

    async def collected():
        await present(relay, *(user + 1 for user in users))
        return await collect(collector or collector_of(study), relay, patience=0.5)

    *over, found = await asyncio.gather(
        *(take_part(person, connecting(study, port), seconds=SECONDS) for person in people.values()), collected()
    )
    assert all(over), "all were told"
    return found


async def present(relay, *numbers):
    async with asyncio.timeout(SECONDS):
        while not set(numbers) <= relay._lines.keys():
            await asyncio.sleep(0.01)


def differences(found):
    return {pair: found.values(pair)["difference"] for pair in found.outputs}


ALL = {0: 55, 1: 16, 2: 12, 3: 27}


def test_a_study_over_sockets_is_as_without():
    assert differences(with_relay(whole_study)) == ALL


def test_nobody_gets_in_without_the_key_of_its_number():
    async def work(port, relay):
        answers = [
            answer(STUDY, 1, bytes(32), enrolment(1)),  # of another challenge
            b"",
            bytes(ANSWER_BYTES),
            bytes(ANSWER_BYTES + 1),
        ]
        for content in answers:
            async with Stranger(port) as stranger:
                await stranger.next()
                await stranger.say(Frame.ANSWER, content)
                assert await stranger.is_hung_up_on()
        for number, key, study in (
            (1, 2, STUDY),
            (0, 1, STUDY),
            (5, 5, STUDY),
            (1, 1, study_of(STUDY.design.pairs, 5)),
        ):
            async with Stranger(port) as stranger:
                await stranger.join(number, key, study)
                assert await stranger.is_hung_up_on()
        async with Stranger(port) as stranger:
            await stranger.next()
            await stranger.say(Frame.MESSAGE, b"")
            assert await stranger.is_hung_up_on()
        assert not relay._lines
        return await whole_study(port, relay)

    assert differences(with_relay(work)) == ALL


def test_an_answer_is_of_its_study_number_and_challenge():
    challenge = bytes(range(32))
    good = answer(STUDY, 3, challenge, enrolment(3))
    assert check_answer(STUDY, challenge, good) == 3
    for place in range(len(good)):
        with pytest.raises(PeerError):
            check_answer(STUDY, challenge, good[:place])
        with pytest.raises(PeerError):
            check_answer(STUDY, challenge, good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
    with pytest.raises(PeerError):
        check_answer(STUDY, bytes(32), good)


def test_who_says_nothing_is_hung_up_on():
    async def work(port, relay):
        async with Stranger(port) as silent:
            assert await silent.is_hung_up_on()
        assert not relay._lines

    with_relay(work, seconds=0.3)


def test_many_who_say_nothing_keep_nobody_out(monkeypatch):
    monkeypatch.setattr(relays, "MOST_STRANGERS", 2)

    async def work(port, relay):
        async with contextlib.AsyncExitStack() as stack:
            silent = [await stack.enter_async_context(Stranger(port)) for _ in range(len(STUDY.people) + 2)]
            for each in silent:
                await each.next()
            assert len(relay._strangers) == len(silent)
            async with Stranger(port) as person:
                await person.join(1)
                await present(relay, 1)
            assert await silent[0].is_hung_up_on()
            assert silent[1].socket.state is websockets.State.OPEN

    with_relay(work, seconds=SECONDS)


def test_who_connects_again_is_let_back_in_and_the_earlier_connection_ends():
    async def work(port, relay):
        async with Stranger(port) as first, Stranger(port) as second:
            await first.join(1)
            await present(relay, 1)
            before = relay._lines[1]
            await second.join(1)
            assert await first.is_hung_up_on()
            assert relay._lines[1] is not before
            told = [await relay.next() for _ in range(3)]
            one = (1).to_bytes(4, "little")
            assert told == [(Frame.ARRIVED, one), (Frame.LEFT, one), (Frame.ARRIVED, one)]
        return await whole_study(port, relay)

    assert differences(with_relay(work)) == ALL


def test_a_person_whose_connection_is_lost_comes_back_and_takes_part():
    """The connection of user 0 is cut when it says hello in its first pair: that pair is over, the other is not."""

    async def work(port, relay):
        cut = []
        forward = relay._forward

        def cutting(number, data):
            if number == 1 and not cut:
                cut.append(relay._lines[1])
                cut[0].end()
            else:
                forward(number, data)

        relay._forward = cutting
        collector = collector_of(relay.study, Watched, deadline=time.monotonic() + SECONDS)
        collector.coming = 2
        closing = asyncio.create_task(closed(collector))
        found = await whole_study(port, relay, users=(0, 1), collector=collector)
        await closing
        return found

    async def closed(collector):
        while not collector.over and 1 not in collector.collected.outputs:
            await asyncio.sleep(0.01)
        collector.close()

    found = with_relay(work, study_of(np.array([[0, 1], [1, 0]]), 2))
    assert found.lost == {0: "user 0 left"}
    assert differences(found) == {1: 55}
    assert not found.gone.any(), "it is there again"


@pytest.mark.parametrize(
    "rubbish",
    [
        pack(Frame.MESSAGE, b"too short"),
        pack(Frame.MESSAGE, message(2, 3)),
        pack(Frame.MESSAGE, message(1, 2)[:-1]),
        pack(Frame.MESSAGE, b"x" + message(1, 2)[1:]),
        pack(Frame.ANSWER, message(1, 2)),
        pack(Frame.LEFT, bytes(4)),
        bytes([99, 0, 0, 0, 0]),
        b"",
        "a text",
        pack(Frame.MESSAGE, bytes(STUDY.longest + 1)),
        b"\xff" * 100,
    ],
    ids=["short", "another's", "cut off", "magic", "kind", "notice", "type", "empty", "text", "long", "bytes"],
)
def test_who_sends_rubbish_is_hung_up_on_and_the_others_go_on(rubbish):
    async def work(port, relay):
        async with Stranger(port) as stranger:
            await stranger.join(1)
            await stranger.socket.send(rubbish)
            assert await stranger.is_hung_up_on()
        return await whole_study(port, relay, users=(1, 2, 3))

    found = with_relay(work)
    assert found.gone.tolist() == [True, False, False, False]
    assert {pair: value for pair, value in differences(found).items() if pair < 4} == {1: 16, 3: 27}


def test_who_does_not_listen_costs_the_others_nothing():
    """User 0 takes no message and is flooded by user 1, who takes part in nothing: what waits does not grow."""

    async def work(port, relay):
        async with Stranger(port) as deaf, Stranger(port) as loud:
            await deaf.join(1, study=relay.study)
            await loud.join(2, study=relay.study)
            await present(relay, 1, 2)
            deaf.socket.transport.pause_reading()
            line = relay._lines[1]
            for sequence in range(4000):
                await loud.say(Frame.MESSAGE, message(2, 1, bytes(STUDY.longest - 100), sequence))
            found = await whole_study(port, relay, users=(2, 3), collector=collector_of(relay.study, seconds=5.0))
            return found, line.queue.qsize()

    found, waiting = with_relay(work, study_of(np.array([[0, 1], [2, 3]]), 4))
    assert waiting <= MOST_FROM_ONE + 4
    assert differences(found) == {1: 16}
    assert "longer than 5 seconds" in found.lost[0]


def test_one_sender_cannot_fill_anothers_queue():
    async def work():
        line = _Line(MOST_FOR_PERSON + MOST_FROM_AGGREGATOR)
        for _ in range(MOST_FOR_PERSON):
            line.put(2, b"two", most=MOST_FROM_ONE)
        assert line.queue.qsize() == MOST_FROM_ONE
        assert line.put(3, b"three", most=MOST_FROM_ONE)
        received = [await line.next() for _ in range(MOST_FROM_ONE + 1)]
        assert received == [b"two"] * MOST_FROM_ONE + [b"three"]
        # room again once it was sent
        assert line.put(2, b"two", most=MOST_FROM_ONE)

    asyncio.run(work())


def test_what_answers_and_is_no_relay_is_refused():
    async def work():
        async def nonsense(socket):
            await socket.send(pack(Frame.MESSAGE, b"welcome"))

        async with websockets.serve(nonsense, HOST, 0) as server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(PeerError, match="is not the relay"):
                await take_part(person_of(STUDY, 0, 1), connecting(STUDY, port), seconds=SECONDS)

    asyncio.run(work())


def test_an_address_that_is_none_or_of_something_else_is_refused():
    async def work(port, _):
        with pytest.raises(ParameterError, match="is not an address"):
            await open_channel("pairs", STUDY)
        with pytest.raises(PeerError, match="is not a service of pairs: it says 403"):
            await open_channel(f"ws://{HOST}:{port}/other", STUDY)
        other = study_of(STUDY.design.pairs[::-1], 4)
        with pytest.raises(PeerError, match="does not know this key as that of number 1"):
            await take_part(person_of(other, 0, 1), connecting(other, port), seconds=SECONDS)

    with_relay(work)


def test_who_comes_when_it_is_over_is_told_so():
    async def work(port, relay):
        await whole_study(port, relay)
        return await take_part(person_of(STUDY, 0, 1), connecting(STUDY, port), seconds=SECONDS)

    assert with_relay(work)


def test_a_person_waits_for_a_relay_that_is_not_there_yet_and_gives_up_in_the_end():
    person = person_of(STUDY, 0, 1)
    assert asyncio.run(take_part(person, connecting(STUDY, free_port()), seconds=0.5)) is False
    assert person.given == 0
