"""Garbled circuits of pairs: AND gates a second, bytes and seconds of a pair, and whole studies of 10^5 pairs.

    python benchmarks/pairs.py [--quick]

One core, processor time. The circuits are kernels with the noise of a study at epsilon 1, all probabilities of 64 bits.
Gates are garbled for a number of pairs at once, by `garble` and `evaluate` as two parties call them, and by the driver
that does both in one process. The figures of emp-sh2pc were measured elsewhere, on a machine like this one, and stand
here for scale.
"""

from __future__ import annotations

import argparse
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from harness import best_time, record, row

from ogive.crypto import garbling
from ogive.crypto.circuits import Builder, Circuit, LaplaceLaw, ResponseLaw, arrange, separate
from ogive.crypto.circuits import circuit as plain
from ogive.crypto.circuits.arithmetic import absolute_difference, equal, kendall, less
from ogive.crypto.circuits.sampling import add_laplace, index_of_sign, respond_binary, respond_ternary, uniform_bits
from ogive.crypto.domains import WordStream
from ogive.crypto.garbling import GateKeys, evaluate, fresh_deltas, fresh_zeros, garble, schedule_of
from ogive.crypto.transfer import LABEL_BITS, BaseTransfers
from ogive.crypto.twoparty import AGGREGATOR, PairAggregator, PairParty, PairSettings, Participant

EPSILON, DELTA = Fraction(1), 1e-9
BATCHES = (1, 16, 256, 1024, 4096)
STUDY = 100_000
TARGET = 10.0
EMP = "emp-sh2pc, measured elsewhere"
EMP_SPEED, EMP_COMPARISON = 36.0, 1.8
"""M AND gates a second, at most; microseconds of a comparison of 32 bits."""
GARBLER, EVALUATOR = 1, 2
SEED = bytes(range(16))


def gini_of_16_bits() -> Circuit:
    """Distances with discrete Laplace noise."""
    law = LaplaceLaw.within(EPSILON, delta=DELTA, sensitivity=(1 << 16) - 1)
    builder = Builder()
    x, y = builder.garbler("x", 16), builder.evaluator("x", 16)
    return builder.finish({"out": add_laplace(absolute_difference(x, y), law, uniform_bits(builder, law.uniform_bits))})


def binary(kernel: Callable[..., Any]) -> Circuit:
    """A kernel of two numbers of 64 bits, with randomized response."""
    law = ResponseLaw.of(EPSILON, values=2)
    builder = Builder()
    x, y = builder.garbler("x", 64), builder.evaluator("x", 64)
    return builder.finish({"out": respond_binary(kernel(x, y), law, uniform_bits(builder, law.uniform_bits))})


def kendall_of_64_bits() -> Circuit:
    """Sign products of two columns, with randomized response over three values."""
    law = ResponseLaw.of(EPSILON, values=3)
    builder = Builder()
    first, second = ((make("x", 64), make("z", 64)) for make in (builder.garbler, builder.evaluator))
    index = index_of_sign(kendall(first, second))
    return builder.finish({"out": respond_ternary(index, law, uniform_bits(builder, law.uniform_bits))})


def comparison_of_32_bits() -> Circuit:
    """Less, and nothing else."""
    builder = Builder()
    return builder.finish({"out": less(builder.garbler("x", 32), builder.evaluator("x", 32))})


CIRCUITS: Mapping[str, Callable[[], Circuit]] = {
    "Gini of 16 bits, discrete Laplace": gini_of_16_bits,
    "AUC of 64 bits, binary response": lambda: binary(less),
    "Kendall of 2 x 64 bits, ternary response": kendall_of_64_bits,
    "collision of 64 bits, binary response": lambda: binary(equal),
}


def seconds(work: Callable[[], object], runs: int) -> float:
    """Processor time of the fastest run."""
    return best_time(work, runs=runs, clock=time.process_time)


def bits_for(circuit: Circuit, pairs: int) -> list[Any]:
    """Uniform inputs of both parties."""
    draw = np.random.default_rng(1)
    return [
        draw.integers(0, 2, (pairs, bits), np.uint8).astype(bool)
        for bits in (circuit.garbler_bits, circuit.evaluator_bits)
    ]


def gates(circuit: Circuit, name: str, quick: bool) -> Iterator[dict[str, Any]]:
    """AND gates a second, over the number of pairs at once."""
    plan = schedule_of(circuit)
    for pairs in BATCHES:
        runs = 2 if quick else 5 if pairs > 1000 else 15
        stream = WordStream(SEED)
        deltas, zeros = fresh_deltas(pairs, stream), fresh_zeros(plan.inputs, pairs, stream)
        tables, _ = garble(plan, zeros, deltas, GateKeys(SEED))
        inputs = bits_for(circuit, pairs)
        work = f"garbled circuits, {name}, {pairs} {'pair' if pairs == 1 else 'pairs'} at once"
        jobs: dict[str, Callable[[], object]] = {
            "garbling": lambda z=zeros, d=deltas: garble(plan, z, d, GateKeys(SEED)),
            "evaluating": lambda z=zeros, t=tables: evaluate(plan, z, t, GateKeys(SEED)),
            "both, with labels": lambda inputs=inputs: garbling.garbled_outputs(circuit, *inputs),
        }
        for metric, job in jobs.items():
            value = circuit.ands * pairs / seconds(job, runs) / 1e6
            last = metric.startswith("both") and pairs == BATCHES[-1]
            extra = {"target": TARGET, "peer": EMP, "peer_value": EMP_SPEED} if last else {}
            yield row(work, metric, "M ANDs/s", value, runs=runs, **extra)
    inputs = bits_for(circuit, STUDY)
    value = circuit.ands * STUDY / seconds(lambda: plain.evaluate(circuit, *inputs), 3) / 1e6
    yield row(f"garbled circuits, {name}, in the clear", "both, without labels", "M ANDs/s", value, runs=3)


def comparison(quick: bool) -> Iterator[dict[str, Any]]:
    """One comparison of many at once."""
    circuit, pairs, runs = comparison_of_32_bits(), 1 << 14, 2 if quick else 9
    inputs = bits_for(circuit, pairs)
    value = seconds(lambda: garbling.garbled_outputs(circuit, *inputs), runs) / pairs * 1e6
    work = "garbled circuits, comparison of 32 bits, many at once"
    yield row(work, "both, with labels", "us", value, runs=runs, larger_is_better=False,
              peer=EMP, peer_value=EMP_COMPARISON)  # fmt: skip


class Session:
    """One pair's session over bytes, whose work is timed participant by participant; the outputs are right.

    Args:
        circuit: What is evaluated.
    """

    def __init__(self, circuit: Circuit) -> None:
        keys = [Ed25519PrivateKey.generate() for _ in range(3)]
        public = [key.public_key().public_bytes_raw() for key in keys]
        parties = (Participant(number, public[number]) for number in (GARBLER, EVALUATOR))
        settings = PairSettings(bytes(32), 0, circuit, *parties, public[AGGREGATOR])
        bits = dict(zip((GARBLER, EVALUATOR), (side[0] for side in bits_for(circuit, 1)), strict=True))
        self.seconds = dict.fromkeys((AGGREGATOR, GARBLER, EVALUATOR), 0.0)
        aggregator = self._timed(AGGREGATOR, lambda: PairAggregator(settings, key=keys[AGGREGATOR]))
        members = {
            number: self._timed(
                number,
                lambda number=number: PairParty(
                    settings, number, bits[number], key=keys[number], note=lambda token, value: None
                ),
            )
            for number in bits
        }
        queue, self.sent = deque([aggregator.invitation]), 0
        while queue:
            receiver, data = queue.popleft()
            self.sent += len(data)
            take = aggregator.receive if receiver == AGGREGATOR else members[receiver].receive
            queue.extend(self._timed(receiver, lambda take=take, data=data: take(data)) or ())
        wanted = plain.evaluate(circuit, bits[GARBLER][None], bits[EVALUATOR][None])[0]
        assert np.array_equal(aggregator.outputs, wanted), "the outputs are right"

    def _timed(self, number: int, work: Callable[[], Any]) -> Any:
        start = time.process_time()
        result = work()
        self.seconds[number] += time.process_time() - start
        return result


def pairs_alone(quick: bool) -> Iterator[dict[str, Any]]:
    """What one pair takes and sends, over bytes, that shares nothing with others."""
    runs = 1 if quick else 5
    for name, make in CIRCUITS.items():
        circuit = make()
        Session(circuit)
        found = [Session(circuit) for _ in range(runs)]
        work = f"garbled circuits, one pair, {name}"
        yield row(work, "AND gates", "", circuit.ands, runs=1)
        yield row(work, "inputs of each party", "bits", circuit.evaluator_bits, runs=1)
        yield row(work, "sent by all", "kB", found[0].sent / 1000, runs=1)
        for party, number in (("garbler", GARBLER), ("evaluator", EVALUATOR), ("aggregator", AGGREGATOR)):
            value = 1000 * min(session.seconds[number] for session in found)
            yield row(work, f"the {party}'s time", "ms", value, runs=runs)


def transfers(quick: bool) -> Iterator[dict[str, Any]]:
    """The base transfers of an extension, which are most of a pair's time."""
    runs = 2 if quick else 5
    choices = [place % 2 for place in range(LABEL_BITS)]
    sender, receiver = BaseTransfers().sender(SEED, LABEL_BITS), BaseTransfers().receiver(SEED, choices)
    jobs: dict[str, Callable[[], object]] = {
        "the sender's time": lambda: BaseTransfers().sender(SEED, LABEL_BITS).keys(receiver.message),
        "the receiver's time": lambda: BaseTransfers().receiver(SEED, choices).keys(sender.message),
    }
    for metric, job in jobs.items():
        yield row("garbled circuits, 128 base transfers", metric, "ms", 1000 * seconds(job, runs), runs=runs)


def studies(quick: bool) -> Iterator[dict[str, Any]]:
    """Whole studies in one process, from numbers of people to noisy numbers of pairs."""
    pairs = STUDY // 20 if quick else STUDY
    for name, make in list(CIRCUITS.items())[:3]:
        circuit = make()
        work = f"garbled circuits, study of {pairs:_} pairs, {name}".replace("_", " ")
        for metric, run, runs in (
            ("time, garbled", garbling.garbled_outputs, 2),
            ("time, in the clear", plain.evaluate, 3),
        ):
            value = seconds(lambda circuit=circuit, run=run: study(circuit, run, pairs), 1 if quick else runs)
            yield row(work, metric, "s", value, runs=runs, larger_is_better=False)


def study(circuit: Circuit, run: Callable[..., Any], pairs: int) -> dict[str, Any]:
    """One study of uniform numbers."""
    draw = np.random.default_rng(2)
    sides = []
    for ports in (circuit.garbler, circuit.evaluator):
        values: dict[str, Any] = {}
        for port in ports:
            # numbers of people have 16 bits or 64, and noise hundreds
            bits = np.unpackbits(np.frombuffer(draw.bytes(pairs * -(-port.width // 8)), np.uint8).reshape(pairs, -1), 1)
            values[port.name] = bits[:, : port.width].astype(bool)
        sides.append(arrange(ports, values))
    return separate(circuit.outputs, run(circuit, *sides))


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    """Measure."""
    name = next(iter(CIRCUITS))
    yield from gates(CIRCUITS[name](), name, quick)
    yield from comparison(quick)
    yield from pairs_alone(quick)
    yield from transfers(quick)
    yield from studies(quick)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Time garbled circuits of pairs.")
    parser.add_argument("--quick", action="store_true", help="fewer pairs, fewer runs, nothing recorded")
    asked = parser.parse_args()
    record(rows(asked.quick), quick=asked.quick)
