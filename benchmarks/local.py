"""Local reports on one core: randomizing them, adding them up, and 10^8 of them in bounded memory.

    python benchmarks/local.py [--quick]

Peers in the same process: pure-ldp and multi-freq-ldpy, each with its own oracle of the same kind. Their clients and
servers take one report a call, which is how they are timed; ours take arrays, and one report a call is timed as well.
pure-ldp's server keeps reports in a list and reads them when it is asked to estimate, so that adding up is also timed
with one estimate at the end.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from harness import best_time, record, row

import ogive
from ogive.local import Collection, Oracle, OwnerSource, RandomizedResponse, TreeOracle, UnaryOracle
from ogive.local.aggregation import transform
from ogive.local.base import encode
from ogive.noise import SystemSource

MUST = 10.0
RUNS = 5
PURE, MULTI = "pure-ldp", "multi-freq-ldpy"
UNIT = "M reports/s"
MANY = 10**8

Peer = tuple[Callable[[list[int]], list[Any]], Callable[[list[Any]], object], Callable[[list[Any]], object]]


def speed(work: Callable[[], object], size: int, runs: int) -> float:
    """Million reports per second of processor time."""
    return size / best_time(work, runs=runs, clock=time.process_time) / 1e6


def pure(kind: str, size: int) -> Peer | None:
    """pure-ldp's client and server: how it randomizes, adds up, and adds up and estimates."""
    try:
        from pure_ldp.frequency_oracles import direct_encoding, hadamard_response, unary_encoding
    except ImportError:
        return None
    mapper = int
    if kind == "hadamard":
        server = hadamard_response.HadamardResponseServer(1, size, index_mapper=mapper)
        client = hadamard_response.HadamardResponseClient(1, size, server.get_hash_funcs(), index_mapper=mapper)
    elif kind == "krr":
        server = direct_encoding.DEServer(1, size, index_mapper=mapper)
        client = direct_encoding.DEClient(1, size, index_mapper=mapper)
    else:
        server = unary_encoding.UEServer(1, size, use_oue=True, index_mapper=mapper)
        client = unary_encoding.UEClient(1, size, use_oue=True, index_mapper=mapper)

    def randomize(symbols: list[int]) -> list[Any]:
        return [client.privatise(symbol) for symbol in symbols]

    def add(reports: list[Any]) -> None:
        server.reset()
        for report in reports:
            server.aggregate(report)

    def estimate(reports: list[Any]) -> object:
        add(reports)
        return server.estimate(0, suppress_warnings=True)

    return randomize, add, estimate


def multi(kind: str, size: int) -> Peer | None:
    """The same of multi-freq-ldpy, whose server estimates at once."""
    try:
        from multi_freq_ldpy.pure_frequency_oracles import GRR, UE
    except ImportError:
        return None
    if kind == "krr":
        return (
            lambda symbols: [GRR.GRR_Client(symbol, size, 1.0) for symbol in symbols],
            lambda reports: GRR.GRR_Aggregator_MI(reports, size, 1.0),
            lambda reports: GRR.GRR_Aggregator_MI(reports, size, 1.0),
        )
    return (
        lambda symbols: [UE.UE_Client(symbol, size, 1.0) for symbol in symbols],
        lambda reports: UE.UE_Aggregator_MI(reports, 1.0),
        lambda reports: UE.UE_Aggregator_MI(reports, 1.0),
    )


def against(work: str, oracle: Any, peers: dict[str, Peer | None], size: int, peer_size: int, runs: int) -> Any:
    """Rows of one oracle against its peers."""
    generator, source = np.random.default_rng(1), OwnerSource()
    symbols, numbers = generator.integers(0, oracle.size, size), np.arange(size)
    payloads = oracle.randomize(symbols, numbers, source=source)
    order = generator.permutation(size)  # reports come in any order
    numbers_in, payloads_in = numbers[order], np.ascontiguousarray(payloads[order])
    sums = np.zeros(oracle.shape, dtype=np.int64)

    def estimate() -> object:
        fresh = np.zeros(oracle.shape, dtype=np.int64)
        oracle.add(fresh, numbers_in, payloads_in)
        return oracle.counts(fresh)

    few = min(size, 2000)
    one_by_one = [(symbols[place : place + 1], numbers[place : place + 1]) for place in range(few)]
    ours = {
        "client, many a call": speed(lambda: oracle.randomize(symbols, numbers, source=source), size, runs),
        "client, one a call": speed(lambda: [oracle.randomize(*each, source=source) for each in one_by_one], few, runs),
        "adding up": speed(lambda: oracle.add(sums, numbers_in, payloads_in), size, runs),
        "adding up, then estimating": speed(estimate, size, runs),
    }
    for name, peer in peers.items():
        theirs: dict[str, float] = {}
        if peer is not None:
            randomize, add, estimate_theirs = peer
            values = symbols[:peer_size].tolist()
            reports = randomize(values)
            client = speed(lambda each=randomize, values=values: each(values), len(values), runs)
            theirs = {"client, many a call": client, "client, one a call": client}
            # of many reports, as ours: an estimate costs the same whatever their number
            reports = reports * (size // len(reports))
            adding = speed(lambda each=add, reports=reports: each(reports), len(reports), 2)
            both = speed(lambda each=estimate_theirs, reports=reports: each(reports), len(reports), 2)
            theirs |= {"adding up": adding, "adding up, then estimating": both}
        for metric, value in ours.items():
            must = MUST if oracle.name == "tree" and metric == "adding up" else None
            yield row(work, metric, UNIT, value, runs=runs, target=must, peer=name, peer_value=theirs.get(metric))


def flood(reports: int) -> None:
    """Child process: collect so many reports, each checked and its number marked, and print the memory that it took."""
    asked = ogive.describe_collection(
        ogive.Ecdf("value", bounds=(0, 1), bins=1 << 16), privacy=ogive.PureDP(1), participants=MANY
    )
    collection, source, generator = Collection(asked), SystemSource(), np.random.default_rng(1)
    oracle: Oracle = asked.oracle
    chunk, adding, peaks = 1 << 20, 0.0, []
    for first in range(0, reports, chunk):
        numbers = np.arange(first, min(first + chunk, reports))
        symbols = generator.integers(0, oracle.size, numbers.size)
        sent = encode(asked.tag, numbers, oracle.randomize(symbols, numbers, source=source)).tobytes()
        start = time.process_time()
        collection.add(sent)
        adding += time.process_time() - start
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    assert collection.accepted == reports
    print(json.dumps({"early": peaks[len(peaks) // 10], "peak": peaks[-1], "speed": reports / adding / 1e6}))


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    """Measure."""
    runs = 2 if quick else RUNS
    size, peer_size = (1 << 18, 2000) if quick else (1 << 21, 20_000)
    work = "local reports of a hierarchy over 2^16 symbols"
    yield from against(work, TreeOracle(1 << 16, 1), {PURE: pure("hadamard", 1 << 16)}, size, peer_size, runs)
    for kind, oracle, words in (
        ("krr", RandomizedResponse(1000, 1), "randomized response over 1000 symbols"),
        ("unary", UnaryOracle(64, 1), "unary encoding of 64 symbols"),
    ):
        peers = {PURE: pure(kind, oracle.size), MULTI: multi(kind, oracle.size)}
        yield from against(f"local reports by {words}", oracle, peers, size // 16, peer_size // 4, runs)
    values = np.random.default_rng(1).integers(-9, 9, 1 << 20)
    seconds = best_time(lambda: transform(values), runs=runs, clock=time.process_time)
    work = "local reports of 2^20 indices, Walsh-Hadamard transform"
    yield row(work, "time", "ms", seconds * 1e3, runs=runs, larger_is_better=False)
    many = MANY // 20 if quick else MANY
    child = [sys.executable, __file__, "--flood", str(many)]
    found = json.loads(subprocess.run(child, capture_output=True, text=True, check=True).stdout)
    work = f"local reports in a collection, {many:.0e} simulated over 2^16 symbols".replace("e+0", "e")
    yield row(work, "peak memory", "MB", found["peak"], runs=1)
    yield row(work, "peak memory after a tenth of them", "MB", found["early"], runs=1)
    yield row(work, "checking, marking and adding up", UNIT, found["speed"], runs=1, target=MUST)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Time local reports.")
    parser.add_argument("--quick", action="store_true", help="fewer reports, fewer runs, nothing recorded")
    parser.add_argument("--flood", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.flood:
        flood(asked.flood)
    else:
        record(rows(asked.quick), quick=asked.quick)
