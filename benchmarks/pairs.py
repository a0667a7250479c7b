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
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from harness import best_time, record, row, table

from ogive.crypto.circuits import Builder, Circuit, LaplaceLaw, ResponseLaw, arrange, plain, separate
from ogive.crypto.circuits.arithmetic import less
from ogive.crypto.circuits.kernels import auc_strict, collision, gini, kendall
from ogive.crypto.circuits.sampling import add_laplace, index_of_sign, respond_binary, respond_ternary, uniform_bits
from ogive.crypto.garbling import GateKeys, batch, evaluate, garble
from ogive.crypto.garbling.schedule import schedule_of
from ogive.crypto.garbling.wires import fresh_deltas, fresh_zeros, labels_of, permute_bits
from ogive.crypto.streams import WordStream
from ogive.crypto.transfer import BaseTransfers, correct_choices, correct_zeros, extend_choices, extend_zeros
from ogive.crypto.transfer.extension import LABEL_BITS, bits_of

EPSILON, DELTA = Fraction(1), 1e-9
BATCHES = (1, 16, 256, 1024, 4096)
STUDY = 100_000
TARGET = 10.0
EMP = "emp-sh2pc, measured elsewhere"
EMP_SPEED, EMP_COMPARISON = 36.0, 1.8
"""M AND gates a second, at most; microseconds of a comparison of 32 bits."""
BASE_BYTES = 96
SEED = bytes(range(16))


def gini_of_16_bits() -> Circuit:
    """Distances with discrete Laplace noise."""
    law = LaplaceLaw.within(EPSILON, delta=DELTA, sensitivity=(1 << 16) - 1)
    builder = Builder()
    x, y = builder.garbler("x", 16), builder.evaluator("x", 16)
    return builder.finish({"out": add_laplace(gini(x, y), law, uniform_bits(builder, law.uniform_bits))})


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
    "AUC of 64 bits, binary response": lambda: binary(auc_strict),
    "Kendall of 2 x 64 bits, ternary response": kendall_of_64_bits,
    "collision of 64 bits, binary response": lambda: binary(collision),
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
            "both, with labels": lambda inputs=inputs: batch.evaluate(circuit, *inputs),
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
    value = seconds(lambda: batch.evaluate(circuit, *inputs), runs) / pairs * 1e6
    work = "garbled circuits, comparison of 32 bits, many at once"
    yield row(work, "both, with labels", "us", value, runs=runs, larger_is_better=False,
              peer=EMP, peer_value=EMP_COMPARISON)  # fmt: skip


def bytes_of(circuit: Circuit) -> int:
    """What the two parties of one pair send each other, without headers."""
    inputs = circuit.evaluator_bits
    transfers = LABEL_BITS * BASE_BYTES + 16 * (-(-inputs // LABEL_BITS) * LABEL_BITS)
    if inputs < LABEL_BITS:
        transfers = inputs * (BASE_BYTES + 16)
    return 32 * circuit.ands + 16 * circuit.garbler_bits + transfers


def one_pair(circuit: Circuit) -> dict[str, float]:
    """Seconds of both parties of one pair, part by part, with real transfers; all that they send is counted."""
    plan, keys = schedule_of(circuit), GateKeys(SEED)
    ours, theirs = (bits[0] for bits in bits_for(circuit, 1))
    times, sent = dict.fromkeys(("garbler", "evaluator", "base sender", "base receiver"), 0.0), 0

    def timed(*names: str, work: Callable[[], Any]) -> Any:
        start = time.process_time()
        result = work()
        for name in names:
            times[name] += time.process_time() - start
        return result

    stream = WordStream(SEED)
    deltas = timed("garbler", work=lambda: fresh_deltas(1, stream))
    own = timed("garbler", work=lambda: fresh_zeros(circuit.garbler_bits, 1, stream))
    extended = circuit.evaluator_bits >= LABEL_BITS
    # in an extension the garbler receives the base transfers, and its choices are its secret
    roles = ("evaluator", "garbler") if extended else ("garbler", "evaluator")
    choices = bits_of(deltas[0]) if extended else theirs.tolist()
    sender = timed(roles[0], "base sender", work=lambda: BaseTransfers().sender(SEED, len(choices)))
    receiver = timed(roles[1], "base receiver", work=lambda: BaseTransfers().receiver(SEED, choices))
    both = timed(roles[0], "base sender", work=lambda: sender.keys(receiver.message))
    chosen = timed(roles[1], "base receiver", work=lambda: receiver.keys(sender.message))
    if extended:
        message, held = timed("evaluator", work=lambda: extend_choices(both, theirs))
        zeros = timed("garbler", work=lambda: extend_zeros(chosen, deltas[0], message, inputs=circuit.evaluator_bits))
    else:
        message, zeros = timed("garbler", work=lambda: correct_zeros(both, deltas[0]))
        held = timed("evaluator", work=lambda: correct_choices(chosen, theirs, message))
    every = np.concatenate([own, zeros[:, None]])
    given = timed("garbler", work=lambda: labels_of(ours[:, None], own, deltas))
    tables, ends = timed("garbler", work=lambda: garble(plan, every, deltas, keys))
    labels = np.concatenate([given, held[:, None]])
    outputs = timed("evaluator", work=lambda: evaluate(plan, labels, tables, keys))
    found = (permute_bits(ends) ^ permute_bits(outputs))[:, 0]
    assert np.array_equal(found, plain.evaluate(circuit, ours[None], theirs[None])[0]), "the outputs are right"
    sent = sum(map(len, (sender.message, receiver.message, message))) + given.nbytes + tables.nbytes
    assert sent == bytes_of(circuit), "the bytes are those of the formula"
    return times


def pairs_alone(quick: bool) -> Iterator[dict[str, Any]]:
    """What one pair takes and sends that meets nobody else's work."""
    runs, every = 1 if quick else 5, []
    for name, make in CIRCUITS.items():
        circuit = make()
        one_pair(circuit)
        found = [one_pair(circuit) for _ in range(runs)]
        every += found
        work = f"garbled circuits, one pair, {name}"
        yield row(work, "AND gates", "", circuit.ands, runs=1)
        yield row(work, "inputs of each party", "bits", circuit.evaluator_bits, runs=1)
        yield row(work, "sent by both", "kB", bytes_of(circuit) / 1000, runs=1)
        for party in ("garbler", "evaluator"):
            yield row(work, f"the {party}'s time", "ms", 1000 * min(times[party] for times in found), runs=runs)
    for side in ("sender", "receiver"):
        best = 1000 * min(times[f"base {side}"] for times in every)
        yield row("garbled circuits, one pair, 128 base transfers", f"the {side}'s time", "ms", best, runs=len(every))


def studies(quick: bool) -> Iterator[dict[str, Any]]:
    """Whole studies in one process, from numbers of people to noisy numbers of pairs."""
    pairs = STUDY // 20 if quick else STUDY
    for name, make in list(CIRCUITS.items())[:3]:
        circuit = make()
        work = f"garbled circuits, study of {pairs:_} pairs, {name}".replace("_", " ")
        for metric, run, runs in (("time, garbled", batch.evaluate, 2), ("time, in the clear", plain.evaluate, 3)):
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
    yield from studies(quick)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Time garbled circuits of pairs.")
    parser.add_argument("--quick", action="store_true", help="fewer pairs, fewer runs, nothing recorded")
    if parser.parse_args().quick:
        print(table(rows(True)))
    else:
        record(rows(False))
