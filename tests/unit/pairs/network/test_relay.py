"""The relay, over sockets of this machine: strangers, rubbish, and people who do not listen."""

import asyncio

import numpy as np
import pytest
from helpers.pairs_network import HOST, collector_of, person_of, study_of
from helpers.twoparty import enrolment

from ogive.crypto.wire import Header
from ogive.errors import PeerError
from ogive.runtime.pairs import Relay, collect, take_part
from ogive.runtime.pairs.frames import ANSWER_BYTES, Frame, answer, check_answer, pack, read_frame
from ogive.runtime.pairs.relay import MOST_FOR_PERSON, MOST_FROM_ONE

STUDY = study_of(np.array([[0, 1], [2, 3], [0, 2], [1, 3]]), 4)
VALUES = [5, 60, 17, 33]
SECONDS = 5.0


class Stranger:
    """A connection that says what it likes."""

    def __init__(self, port):
        self.port = port

    async def __aenter__(self):
        self.reader, self.writer = await asyncio.open_connection(HOST, self.port)
        return self

    async def __aexit__(self, *_):
        self.writer.transport.abort()

    async def join(self, number, key=None, study=STUDY):
        challenge = await self.next()
        self.say(Frame.ANSWER, answer(study, number, challenge[1], enrolment(key or number)))

    def say(self, kind, content):
        self.writer.write(pack(kind, content))

    async def next(self):
        async with asyncio.timeout(SECONDS):
            return await read_frame(self.reader, longest=1 << 20)

    async def is_hung_up_on(self):
        while (found := await self.next()) is not None:
            assert found[0] is Frame.CHALLENGE
        return True


def with_relay(work, study=STUDY, **more):
    """Run something beside a relay, which is ended with it."""

    async def main():
        port = asyncio.get_running_loop().create_future()
        relay = Relay(study, **more)
        serving = asyncio.create_task(relay.serve(HOST, seconds=SECONDS, ready=port.set_result))
        try:
            return await work(await port, relay)
        finally:
            relay._finished.set()
            await serving

    return asyncio.run(main())


def message(sender, receiver, body=b"", sequence=0):
    return Header(4, 9, bytes(32), bytes(16), sender, receiver, 0, sequence).message(body)


async def whole_study(port, users=range(4), seconds=SECONDS):
    """The study itself; others may be connected meanwhile."""
    people = {user: person_of(STUDY, user, VALUES[user]) for user in users}
    *_, found = await asyncio.gather(
        *(take_part(person, host=HOST, port=port, seconds=SECONDS) for person in people.values()),
        collect(collector_of(STUDY, seconds=seconds), host=HOST, port=port, patience=1.0),
    )
    return found


def differences(found):
    return {pair: found.values(pair)["difference"] for pair in found.outputs}


ALL = {0: 55, 1: 16, 2: 12, 3: 27}


def test_a_study_over_sockets_is_as_without():
    assert differences(with_relay(lambda port, _: whole_study(port))) == ALL


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
                stranger.say(Frame.ANSWER, content)
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
            stranger.say(Frame.MESSAGE, b"")
            assert await stranger.is_hung_up_on()
        assert not relay._been
        return await whole_study(port)

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


def test_who_says_nothing_is_hung_up_on_and_a_number_is_taken_once():
    async def work(port, relay):
        async with Stranger(port) as silent, Stranger(port) as first, Stranger(port) as second:
            await first.join(1)
            while 1 not in relay._lines:
                await asyncio.sleep(0.01)
            await second.join(1)
            assert await second.is_hung_up_on()
            assert await silent.is_hung_up_on()
            assert 1 in relay._lines
        async with Stranger(port) as again:
            await again.join(1)
            assert await again.is_hung_up_on()

    with_relay(work, seconds=0.3)


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
        bytes([Frame.MESSAGE]) + (STUDY.longest + 1).to_bytes(4, "little"),
        b"\xff" * 100,
    ],
    ids=["short", "another's", "cut off", "magic", "kind", "notice", "type", "long", "bytes"],
)
def test_who_sends_rubbish_is_hung_up_on_and_the_others_go_on(rubbish):
    async def work(port, _):
        async with Stranger(port) as stranger:
            await stranger.join(1)
            stranger.writer.write(rubbish)
            assert await stranger.is_hung_up_on()
        return await whole_study(port, users=(1, 2, 3))

    found = with_relay(work)
    assert found.gone.tolist() == [True, False, False, False]
    assert {pair: value for pair, value in differences(found).items() if pair < 4} == {1: 16, 3: 27}


def test_who_does_not_listen_costs_the_others_nothing():
    """User 0 takes no message and is flooded by user 1, who takes part in nothing: what waits does not grow."""

    async def work(port, relay):
        async with Stranger(port) as deaf, Stranger(port) as loud:
            await deaf.join(1)
            await loud.join(2)
            while not {1, 2} <= relay._lines.keys():
                await asyncio.sleep(0.01)
            deaf.writer.transport.pause_reading()
            line = relay._lines[1]
            for sequence in range(4000):
                loud.say(Frame.MESSAGE, message(2, 1, bytes(STUDY.longest - 100), sequence))
                await loud.writer.drain()
            found = await whole_study(port, users=(2, 3), seconds=1.0)
            return found, line.queue.qsize()

    found, waiting = with_relay(work)
    assert waiting <= MOST_FROM_ONE + 4
    assert differences(found) == {1: 16}
    assert "longer than 1 seconds" in found.lost[0]


def test_one_sender_cannot_fill_anothers_queue():
    async def work(port, relay):
        async with Stranger(port) as deaf, Stranger(port) as loud, Stranger(port) as other:
            await deaf.join(1)
            await loud.join(2)
            await other.join(3)
            while not {1, 2, 3} <= relay._lines.keys():
                await asyncio.sleep(0.01)
            line = relay._lines[1]
            for sequence in range(MOST_FOR_PERSON):
                line.put(2, pack(Frame.MESSAGE, message(2, 1, b"", sequence)), most=MOST_FROM_ONE)
            assert line.queue.qsize() == MOST_FROM_ONE
            assert line.put(3, pack(Frame.MESSAGE, message(3, 1)), most=MOST_FROM_ONE)
            received = [await deaf.next() for _ in range(MOST_FROM_ONE + 1)]
            senders = [int.from_bytes(data[56:60], "little") for _, data in received]
            assert senders == [2] * MOST_FROM_ONE + [3]
            # room again once it was sent
            assert line.put(2, pack(Frame.MESSAGE, message(2, 1)), most=MOST_FROM_ONE)

    with_relay(work)


def test_what_answers_and_is_no_relay_is_refused():
    async def work():
        async def nonsense(_, writer):
            writer.write(pack(Frame.MESSAGE, b"welcome"))
            writer.close()

        server = await asyncio.start_server(nonsense, HOST, 0)
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(PeerError, match="is not the relay"):
            await take_part(person_of(STUDY, 0, 1), host=HOST, port=port, seconds=SECONDS)
        with pytest.raises(PeerError, match="is not the relay"):
            await collect(collector_of(STUDY), host=HOST, port=port, patience=1.0)
        server.close()

    asyncio.run(work())


def test_a_relay_that_ends_leaves_what_was_opened():
    async def work(port, relay):
        collector = collector_of(STUDY)
        received = collector.receive

        def receive(data, now):
            said = received(data, now)
            if collector.collected.outputs:
                relay._finished.set()
            return said

        collector.receive = receive
        people = [person_of(STUDY, user, VALUES[user]) for user in range(4)]
        *_, found = await asyncio.gather(
            *(take_part(person, host=HOST, port=port, seconds=SECONDS) for person in people),
            collect(collector, host=HOST, port=port, patience=1.0),
        )
        return found, [person._at_hand for person in people]

    found, at_hand = with_relay(work)
    assert found.outputs
    assert all(ALL[pair] == value for pair, value in differences(found).items())
    assert at_hand == [None] * 4
