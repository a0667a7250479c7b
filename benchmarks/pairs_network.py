"""Pairs of people at a relay over WebSockets of this machine: 1,000 pairs, of whose people 5 % leave.

    python benchmarks/pairs_network.py [--pairs 1000] [--leaving 0.05] [--processes 2]

People live in a few processes, each person with a connection of their own; relay and aggregator are this process. Of
those who leave, each cuts its connection after a random number of messages and does not come back. Printed: pairs that
were opened, lost after they had begun, and drawn anew in further passes; seconds on the clock and bytes that the relay
carried.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import multiprocessing
import random
import resource
import socket
import time

import numpy as np
import uvicorn
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pairs import CIRCUITS
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute

from ogive.crypto.circuits import Circuit
from ogive.crypto.twoparty import Outgoing, pair_bytes
from ogive.pairs import Design, round_robin
from ogive.study.pairs import Channel, Collected, Collector, PairsStudy, Person, Relay, collect, take_part
from ogive.study.pairs.joining import endpoint, largest_frame, open_channel

HOST, SECONDS = "127.0.0.1", 580.0
NAME = "Gini of 16 bits, discrete Laplace"


def key_of(number: int) -> Ed25519PrivateKey:
    """A key for a figure, and for nothing else."""
    return Ed25519PrivateKey.from_private_bytes((number + 1).to_bytes(32, "big"))


def study_of(circuit: Circuit, pairs: int) -> PairsStudy:
    """Everybody meets one other."""
    aggregator, *people = (key_of(number).public_key().public_bytes_raw() for number in range(2 * pairs + 1))
    design: Design = round_robin(2 * pairs, 1, seed=b"benchmark")
    return PairsStudy(design, {1: circuit}, tuple(people), aggregator)


class CountingRelay(Relay):
    """A relay that counts what it carries."""

    carried = 0

    def _forward(self, number: int, message: bytes) -> None:
        self.carried += len(message)
        super()._forward(number, message)


class Leaving(Exception):  # noqa: N818 - this person leaves
    """Ends a person."""


async def one(study: PairsStudy, user: int, port: int, messages: int | None) -> None:
    """A person, who leaves instead of sending another message."""
    (circuit,) = study.circuits.values()
    values = {each.name: (12345 + 7 * user) % 65536 for each in circuit.garbler if each.name != "noise"}
    person = Person(study, user, values, key=key_of(user + 1), note=lambda token, value: None)
    receive, sent = person.receive, 0

    def leaving(data: bytes) -> list[Outgoing]:
        nonlocal sent
        said = receive(data)
        sent += len(said)
        if messages is not None and sent > messages:
            raise Leaving
        return said

    person.receive = leaving  # type: ignore[method-assign]

    async def connected() -> Channel:
        return await open_channel(f"ws://{HOST}:{port}/pairs", study)

    with contextlib.suppress(Leaving):
        await take_part(person, connected, seconds=SECONDS)


def people(study: PairsStudy, users: list[int], port: int, leaving: dict[int, int]) -> None:
    """Many people in one process."""

    async def run() -> None:
        await asyncio.gather(*(one(study, user, port, leaving.get(user)) for user in users))

    asyncio.run(run())


async def measure(study: PairsStudy, relay: Relay, listening: socket.socket) -> tuple[Collected, float]:
    """All pairs, and seconds since everybody was there."""
    application = Starlette(routes=[WebSocketRoute("/pairs", endpoint(relay))])
    config = uvicorn.Config(
        application, ws="websockets-sansio", ws_max_size=largest_frame(study), lifespan="off", log_level="error"
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    begun: list[float] = []

    class Timed(Collector):
        def begin(self, now: float) -> list[Outgoing]:
            begun.append(now)
            return super().begin(now)

    found = await collect(Timed(study, key=key_of(0), seconds=60.0), relay, patience=SECONDS / 2)
    seconds = time.monotonic() - begun[0]
    server.should_exit = True
    await serving
    return found, seconds


def main() -> None:
    """Print what became of the pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--leaving", type=float, default=0.05, help="share of the people")
    parser.add_argument("--processes", type=int, default=2, help="in which the people live")
    chosen = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard > 0 else soft, hard))
    circuit = CIRCUITS[NAME]()
    study = study_of(circuit, chosen.pairs)
    users = list(range(2 * chosen.pairs))
    draws = random.Random(1)
    leaving = {user: draws.randrange(4) for user in draws.sample(users, round(chosen.leaving * len(users)))}
    listening = socket.create_server((HOST, 0), backlog=4096)
    port = listening.getsockname()[1]
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=people, args=(study, users[start :: chosen.processes], port, leaving), daemon=True)
        for start in range(chosen.processes)
    ]
    for process in processes:
        process.start()
    relay = CountingRelay(study, seconds=60.0)
    found, seconds = asyncio.run(measure(study, relay, listening))
    for process in processes:
        process.join(30)
    anew = len(found.pairs) - chosen.pairs
    predicted = sum(pair_bytes(circuit).values())
    print(
        f"{chosen.pairs:,} pairs of {len(users):,} people, of whom {len(leaving)} leave; "
        f"{circuit.ands:,} AND gates a pair"
    )
    print(
        f"opened {len(found.outputs):,}, lost {len(found.lost):,}, drawn anew {anew:,}, "
        f"gone {int(np.sum(found.gone)):,}"
    )
    print(f"{seconds:.1f} s, {relay.carried / 1e6:.1f} MB carried, {predicted / 1e3:.1f} kB a pair")
    assert not set(found.outputs) & set(found.lost)
    assert len(found.outputs) + len(found.lost) == len(found.pairs)


if __name__ == "__main__":
    main()
