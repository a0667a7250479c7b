"""Pairs as processes over sockets of this machine: bytes by kind of message, and seconds a pair.

    python benchmarks/pairs_sockets.py [--pairs 12]

Two people and a relay are a process each, the aggregator is this one; the two meet many times, one pair after the
other. Bytes are counted where the relay carries them, and compared with what `pair_bytes` predicts. Seconds are on the
clock, from one pair's outputs to the next one's, the median: the first pairs, in which everything is loaded, do not
matter.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import statistics
import time
from collections import Counter
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pairs import CIRCUITS

from ogive.crypto.circuits import Circuit
from ogive.crypto.twoparty import Outgoing
from ogive.crypto.twoparty.messages import Step, pair_bytes
from ogive.pairs import Design
from ogive.runtime.pairs import Collector, PairsStudy, Person, Relay, collect, take_part
from ogive.runtime.pairs.frames import Frame

HOST, SECONDS = "127.0.0.1", 120.0
NAMES = [name for name in CIRCUITS if not name.startswith("collision")]


def key_of(number: int) -> Ed25519PrivateKey:
    """A key for a figure, and for nothing else."""
    return Ed25519PrivateKey.from_private_bytes((number + 1).to_bytes(32, "big"))


def study_of(circuit: Circuit, pairs: int) -> PairsStudy:
    """Two people who meet so often."""
    aggregator, *people = (key_of(number).public_key().public_bytes_raw() for number in range(3))
    design = Design(2, np.tile(np.array([[0, 1]]), (pairs, 1)))
    return PairsStudy(design, {pairs: circuit}, tuple(people), aggregator)


class CountingRelay(Relay):
    """A relay that counts bytes by kind of message."""

    def __init__(self, study: PairsStudy, **more: Any) -> None:
        super().__init__(study, **more)
        self.carried: Counter[int] = Counter()

    def _forward(self, number: int, kind: Frame, data: bytes) -> None:
        self.carried[data[5]] += len(data)
        super()._forward(number, kind, data)


class TimedCollector(Collector):
    """An aggregator that notes when there are outputs."""

    def __init__(self, study: PairsStudy, **more: Any) -> None:
        super().__init__(study, **more)
        self.times: list[float] = []

    def receive(self, data: bytes, now: float) -> list[Outgoing]:
        before = len(self.collected.outputs)
        said = super().receive(data, now)
        if len(self.collected.outputs) > before:
            self.times.append(time.perf_counter())
        return said


def relay(study: PairsStudy, pipe: Connection) -> None:
    """The relay's process."""
    serving = CountingRelay(study, seconds=SECONDS)
    asyncio.run(serving.serve(HOST, seconds=SECONDS, ready=pipe.send))
    pipe.send(serving.carried)


def person(study: PairsStudy, user: int, port: int, pipe: Connection) -> None:
    """A person's process."""
    (circuit,) = study.circuits.values()
    values = {each.name: 12345 + user for each in circuit.garbler if each.name != "noise"}
    taking = Person(study, user, values, key=key_of(user + 1), note=lambda token, value: None)
    asyncio.run(take_part(taking, host=HOST, port=port, seconds=SECONDS))
    pipe.send(taking.given)


def measure(circuit: Circuit, pairs: int) -> tuple[Counter[int], float]:
    """Bytes of all pairs by kind, and seconds of one."""
    study = study_of(circuit, pairs)
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(3)]
    processes = [context.Process(target=relay, args=(study, pipes[0][1]), daemon=True)]
    processes[0].start()
    port = pipes[0][0].recv()
    for user in range(2):
        process = context.Process(target=person, args=(study, user, port, pipes[1 + user][1]), daemon=True)
        process.start()
        processes.append(process)
    collector = TimedCollector(study, key=key_of(0), seconds=SECONDS)
    found = asyncio.run(collect(collector, host=HOST, port=port, patience=SECONDS))
    carried, *given = (ours.recv() for ours, _ in pipes)
    for process in processes:
        process.join()
    assert len(found.outputs) == pairs, found.lost
    assert given == [pairs, pairs], "each gave its half of each pair"
    gaps = np.diff(collector.times)[min(2, pairs - 2) :]
    return carried, statistics.median(gaps)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=12, help="how often the two meet, at least 3")
    pairs = parser.parse_args().pairs
    steps = [step.name.lower() for step in Step]
    print(
        "| pair | AND gates | inputs each | " + " | ".join(f"{step} (B)" for step in steps) + " | all (B) | seconds |"
    )
    print("| --- |" + " ---: |" * (len(steps) + 4))
    for name in NAMES:
        circuit = CIRCUITS[name]()
        carried, seconds = measure(circuit, pairs)
        predicted = pair_bytes(circuit)
        assert carried == {step: pairs * size for step, size in predicted.items()}, "bytes are those predicted"
        cells = [f"{predicted.get(step, 0):,}" for step in Step]
        inputs = f"{circuit.garbler_bits} + {circuit.evaluator_bits}"
        cells = [name, f"{circuit.ands:,}", inputs, *cells, f"{sum(predicted.values()):,}", f"{seconds:.3f}"]
        print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
