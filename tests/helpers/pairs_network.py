"""Studies of pairs for tests, and their relay and people as processes of their own, on this machine alone."""

import asyncio
import contextlib
import multiprocessing
import os
import signal
import socket
import sys
import time
from multiprocessing import forkserver

import uvicorn
from helpers.twoparty import Notes, enrolment, public
from helpers.waiting import PATIENCE
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute

from ogive.crypto.circuits import Builder
from ogive.crypto.circuits.arithmetic import absolute_difference
from ogive.errors import PeerError
from ogive.pairs import Design
from ogive.study.https.connections import WebSocket
from ogive.study.pairs import Collector, History, PairsStudy, Person, Relay, collect, take_part
from ogive.study.pairs.collector import Met, read_passes, write_pass
from ogive.study.pairs.joining import endpoint, largest_frame, open_channel

HOST = "127.0.0.1"
SECONDS = PATIENCE
"""No process lives much longer, whatever happens."""


def plain_circuit(width=6):
    """A difference without noise, so that tests know the outputs."""
    builder = Builder()
    return builder.finish(
        {"difference": absolute_difference(builder.garbler("x", width), builder.evaluator("x", width))}
    )


def study_of(pairs, users, *, circuits=None, between=False):
    """A study whose user u has the enrolment key of number u + 1."""
    design = Design(users, pairs, between)
    degrees = {*design.degrees.tolist()} - {0}
    people = tuple(public(user + 1) for user in range(users))
    return PairsStudy(design, circuits or dict.fromkeys(degrees, plain_circuit()), people, public(0))


def person_of(study, user, value, note=None):
    return Person(study, user, {"x": value}, key=enrolment(user + 1), note=note or Notes())


def collector_of(study, kind=Collector, **more):
    return kind(study, key=enrolment(0), **{"seconds": PATIENCE, **more})


class Watched(Collector):
    """A collector that begins when as many people are there as come, and looks at its deadline often.

    A test decides when the deadline is, by `close`: after what it waits for, and not after a time.
    """

    coming = 0

    @property
    def everybody(self):
        return len(self._been) >= self.coming

    @property
    def until(self):
        return min(time.monotonic() + 0.05, super().until)

    def close(self):
        """Let no pair begin any more."""
        self._deadline = time.monotonic()


# --- processes


def free_port():
    with socket.socket() as found:
        found.bind((HOST, 0))
        return found.getsockname()[1]


@contextlib.asynccontextmanager
async def served(relay, port):
    """A relay at a WebSocket of this machine."""
    config = uvicorn.Config(
        Starlette(routes=[WebSocketRoute("/pairs", endpoint(relay))]),
        host=HOST, port=port, loop="asyncio", ws=WebSocket, ws_max_size=largest_frame(relay.study),
        log_level="critical", lifespan="off", timeout_graceful_shutdown=1,
    )  # fmt: skip
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None
    serving = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        await serving


def connecting(study, port):
    """Connects a person to it."""
    return lambda: open_channel(f"ws://{HOST}:{port}/pairs", study)


class RecordingRelay(Relay):
    """A relay that remembers what it carried."""

    def __init__(self, study, **more):
        super().__init__(study, **more)
        self.carried = []

    def _forward(self, number, message):
        self.carried.append(message)
        super()._forward(number, message)


def run_person(study, user, value, port, dies_after, pipe):
    """A person; one that dies kills itself, as the power would, instead of sending another message."""
    person = person_of(study, user, value)
    if dies_after is not None:
        receive, left = person.receive, [dies_after]

        def dying(data):
            said = receive(data)
            if len(said) > left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= len(said)
            return said

        person.receive = dying
    asyncio.run(take_part(person, connecting(study, port), seconds=SECONDS))
    pipe.send(person.given)


def _forking():
    """A server from which processes are forked that have imported and compiled everything once."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["helpers.pairs_network", "helpers.pairs_warm"])
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
    return context


class Processes:
    """People, each a process; ended at the latest when the block is left. Relay and aggregator are this one.

    Args:
        study: The study.
        values: Of each user; None for one who does not come.
        dies_after: User -> messages that it sends before it is killed.
    """

    def __init__(self, study, values, *, dies_after=None):
        self._context = _forking()
        self._processes = []
        self.port = free_port()
        self.relay = RecordingRelay(study, seconds=SECONDS)
        self._people = {
            user: self._start(run_person, study, user, value, self.port, (dies_after or {}).get(user))
            for user, value in enumerate(values)
            if value is not None
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self._processes:
            process.join(2.0)
            if process.is_alive():
                process.kill()
                process.join()

    def collect(self, collector, patience=PATIENCE):
        """Relay and aggregator."""

        async def run():
            async with served(self.relay, self.port):
                return await collect(collector, self.relay, patience=patience)

        return asyncio.run(asyncio.wait_for(run(), SECONDS))

    def carried(self):
        """All messages that the relay carried, joined."""
        return b"".join(self.relay.carried)

    def given(self):
        """How many halves each person gave, of those who lived to say so."""
        found = {}
        for user, pipe in self._people.items():
            with contextlib.suppress(EOFError):
                assert pipe.poll(SECONDS), "a person did not end"
                found[user] = pipe.recv()
        return found

    def _start(self, target, *args):
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=target, args=(*args, theirs), daemon=True)
        process.start()
        theirs.close()
        self._processes.append(process)
        return ours


# --- in one process


class Network:
    """A collector and people without sockets; messages are delivered in the order in which they were sent.

    Args:
        study: The study.
        values: Of each user; None for one who does not come.
        dies_after: User -> messages that it receives before it leaves.
        **more: Of the collector.
    """

    def __init__(self, study, values, *, dies_after=None, **more):
        self.study = study
        self.values = values
        self.now = 0.0
        self.left = dict(dies_after or {})
        self.more = more
        self.stored = History()
        self.collector = collector_of(study, **more)
        self.people = {user: person_of(study, user, value) for user, value in enumerate(values) if value is not None}
        self.here = set(self.people)
        self.queue = []
        self.carried = []
        self.most_at_once = 0
        self.refused = []
        for user in self.people:
            self.say(0, self.collector.arrived(user, self.now))

    def say(self, sender, said):
        self.queue += [(sender, *outgoing) for outgoing in said]

    def store(self):
        """What the aggregator stores before anything that it said leaves, as bytes."""
        changes = self.collector.changes()
        self.stored.passes += [write_pass(told) for told in changes.passes]
        self.stored.pairs |= {number: met.to_bytes() for number, met in changes.pairs.items()}

    def start_again(self):
        """Another aggregator, from what was stored; all connections were lost, and so was what was under way."""
        passes = read_passes(self.study, self.stored.passes)
        bits = self.study.settings(0, self.study.design.pairs[0]).outputs
        pairs = {number: Met.from_bytes(data, outputs=bits) for number, data in self.stored.pairs.items()}
        self.collector = collector_of(self.study, earlier=History(passes, pairs), **self.more)
        self.queue = []
        for user in self.here:
            self.people[user].close()
            self.say(0, self.collector.arrived(user, self.now))
        self.say(0, self.collector.begin(self.now))

    def leave(self, user):
        self.here.discard(user)
        self.say(0, self.collector.left(user, self.now))

    def come_back(self, user):
        self.here.add(user)
        self.say(0, self.collector.arrived(user, self.now))

    def step(self):
        sender, receiver, data = self.queue.pop(0)
        self.carried.append((sender, receiver, data))
        if receiver == 0:
            self.say(0, self.collector.receive(data, self.now))
        elif receiver - 1 in self.here:
            user = receiver - 1
            if self.left.get(user) == 0:
                self.leave(user)
                return
            self.left[user] = self.left.get(user, 1 << 30) - 1
            self.say(receiver, self.people[user].receive(data))
        at_hand = [pair.users for pair in self.collector._open.values()]
        self.most_at_once = max(self.most_at_once, len(at_hand))
        assert len({user for users in at_hand for user in users}) == 2 * len(at_hand), "one pair at a time"

    def settle(self):
        """Until nothing is said any more; what is refused changes nothing, as with sockets."""
        while self.queue:
            try:
                self.step()
            except PeerError as refused:
                self.refused.append(str(refused))

    def run(self):
        """Until nothing is said any more, and time is up where something is missing."""
        self.say(0, self.collector.begin(self.now))
        while self.queue or not self.collector.over:
            self.settle()
            if not self.collector.over:
                self.now = self.collector.until
                self.say(0, self.collector.expire(self.now))
        return self.collector.collected
