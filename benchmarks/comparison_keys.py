"""Comparison keys for two servers: generating pairs, evaluating them at points, and a million keys in bounded memory.

    python benchmarks/comparison_keys.py [--quick]

One core is processor time; both cores is elapsed time, which other work on the machine lengthens. The peer in the same
run is sycret, whose keys are over 2^32 only; figures of myl7/fss and libfss were measured elsewhere, on a machine like
this one, and stand here for scale.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness import best_time, record, row

from ogive.crypto.comparison import KeyShape, evaluate, evaluate_sums, generate

RUNS = 9
MILLION_RUNS = 3
STUDY = bytes(range(32))
SYCRET = "sycret"
ELSEWHERE = {
    "generating pairs": {"myl7/fss, measured elsewhere": 3.2, "libfss, measured elsewhere": 0.024},
    "shares of every key at one point": {"myl7/fss, measured elsewhere": 4.3, "libfss, measured elsewhere": 0.9},
}
TARGETS = {"generating pairs": 3.0, "shares of every key at one point": 10.0}
MANY = 1_000_000


def speed(work: Callable[[], object], size: int, runs: int, *, cores: int) -> float:
    """Millions a second: of processor time on one core, of elapsed time on more."""
    clock = time.process_time if cores == 1 else time.perf_counter
    return size / best_time(work, runs=runs, clock=clock) / 1e6


def jobs(shape: KeyShape, size: int, cores: int) -> dict[str, tuple[Callable[[], object], int, str]]:
    """What is timed: the work, how many times it does its metric, and the unit."""
    alphas = np.random.default_rng(1).integers(0, shape.domain, size)
    key, _ = generate(alphas, shape=shape, study=STUDY)
    point, hundred = [shape.domain // 3], hundred_of(shape)
    few = key[: size // 4]
    return {
        "generating pairs": (
            lambda: generate(alphas, shape=shape, study=STUDY, threads=cores), size, "M pairs/s",
        ),
        "shares of every key at one point": (
            lambda: evaluate(key, point, server=0, threads=cores), size, "M keys/s",
        ),
        "sum over keys at one point": (
            lambda: evaluate_sums(key, point, server=0, threads=cores), size, "M keys/s",
        ),
        "sums over keys at 100 points": (
            lambda: evaluate_sums(few, hundred, server=0, threads=cores), len(few) * 100, "M points/s",
        ),
    }  # fmt: skip


def hundred_of(shape: KeyShape) -> Any:
    """A hundred points, evenly spread."""
    return np.arange(1, 101) * shape.domain // 101


def ours(quick: bool) -> Iterator[dict[str, Any]]:
    """Rows of all groups at 2^16, and their keys' sizes."""
    size, runs = (1 << 15, 2) if quick else (1 << 17, RUNS)
    for group in ("ring32", "ring64", "field"):
        shape = KeyShape(group=group, bits=16)
        work = f"comparison keys over 2^16, {group}"
        for cores, words in ((1, "one core"), (2, "both cores")):
            for metric, (job, times, unit) in jobs(shape, size, cores).items():
                # both cores are rarely free at once: more runs, of which the fastest counts
                tried = runs if cores == 1 else 6 * runs
                value = speed(job, times, tried, cores=cores)
                first = group == "ring32" and cores == 1
                target = TARGETS.get(metric) if first else None
                name = f"{metric}, {words}"
                yield row(work, name, unit, value, runs=tried, target=target)
                for peer, theirs in (ELSEWHERE.get(metric, {}) if first else {}).items():
                    yield row(work, name, unit, value, runs=tried, target=target, peer=peer, peer_value=theirs)
        few = generate(np.arange(size // 8), shape=shape, study=STUDY)[0]
        whole = np.arange(shape.domain)
        value = speed(
            lambda few=few, whole=whole: evaluate_sums(few, whole, server=0, threads=1),
            len(few) * shape.domain, 1, cores=1,
        )  # fmt: skip
        yield row(work, "sums over keys at all points, one core", "M points/s", value, runs=1)
        yield row(work, "size of a key", "bytes", shape.key_bytes, runs=1)


def against_sycret(quick: bool) -> Iterator[dict[str, Any]]:
    """Rows at 2^32 against sycret, on one core."""
    runs, size, peer_size = (2, 1 << 15, 2000) if quick else (RUNS, 1 << 17, 20_000)
    shape = KeyShape(group="ring32", bits=32)
    theirs: dict[str, float] = {}
    try:
        import sycret
    except ImportError:
        pass
    else:
        factory = sycret.LeFactory(n_threads=1)
        keys, _ = factory.keygen(peer_size)
        points = np.full(peer_size, 12345, np.int64)
        theirs = {
            "generating pairs": speed(lambda: factory.keygen(peer_size), peer_size, runs, cores=1),
            "shares of every key at one point": speed(
                lambda: factory.eval(0, points, keys, n_threads=1), peer_size, runs, cores=1
            ),
            "size of a key": keys.shape[1],
        }
    work = "comparison keys over 2^32, ring32"
    for metric, (job, times, unit) in jobs(shape, size, 1).items():
        if metric in ELSEWHERE:
            value = speed(job, times, runs, cores=1)
            name = f"{metric}, one core"
            yield row(work, name, unit, value, runs=runs, peer=SYCRET, peer_value=theirs.get(metric))
    size_row = {"peer": SYCRET, "peer_value": theirs.get("size of a key")}
    yield row(work, "size of a key", "bytes", shape.key_bytes, runs=1, **size_row)


def million(keys: int) -> None:
    """Child process: sum many keys at a hundred points; print how long it took, and the memory besides the keys."""
    shape = KeyShape(group="ring32", bits=16)
    key, _ = generate(np.random.default_rng(1).integers(0, shape.domain, keys), shape=shape, study=STUDY)
    points = hundred_of(shape)
    evaluate_sums(key[:1000], points, server=0)
    held = [resident()]

    def work() -> None:
        evaluate_sums(key, points, server=0, progress=lambda done: held.append(resident()))

    seconds = best_time(work, runs=MILLION_RUNS)
    print(json.dumps({"seconds": seconds, "above": max(held) - held[0]}))


def resident() -> float:
    """Memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * resource.getpagesize() / 2**20


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    """Measure."""
    yield from ours(quick)
    yield from against_sycret(quick)
    many = MANY // 20 if quick else MANY
    child = [sys.executable, __file__, "--million", str(many)]
    found = json.loads(subprocess.run(child, capture_output=True, text=True, check=True).stdout)
    work = f"comparison keys over 2^16, ring32, {many:_} keys summed at 100 points".replace("_", " ")
    yield row(work, "time, both cores", "s", found["seconds"], runs=MILLION_RUNS)
    yield row(work, "memory besides the keys", "MB", found["above"], runs=MILLION_RUNS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Time comparison keys.")
    parser.add_argument("--quick", action="store_true", help="fewer keys, fewer runs, nothing recorded")
    parser.add_argument("--million", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.million:
        million(asked.million)
    else:
        record(rows(asked.quick), quick=asked.quick)
