"""Exact integer noise on one core: ogive against OpenDP, in one process.

Run: python benchmarks/samplers.py [--quick]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from harness import best_time, record, row

from ogive.noise import DerivedNodes, DiscreteGaussian, DiscreteLaplace, Law, Polya, Skellam, SystemSource

MUST = 5.0
RUNS = 5


def speed(work: Callable[[], object], size: int, runs: int) -> float:
    """Million samples per second of processor time: everything here runs on one core."""
    return size / best_time(work, runs=runs, clock=time.process_time) / 1e6


def peer_sampler(law: Law, size: int) -> Callable[[], object] | None:
    """OpenDP's sampler of the same law, None if OpenDP is not installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=dp.i64))
    zeros = [0] * size
    if isinstance(law, DiscreteLaplace):
        mechanism = dp.m.make_laplace(space, dp.l1_distance(T=dp.i64), scale=float(law.scale))
    elif isinstance(law, DiscreteGaussian):
        mechanism = dp.m.make_gaussian(space, dp.l2_distance(T=dp.f64), scale=float(law.sigma))
    else:
        return None
    return lambda: mechanism(zeros)


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    """Measure; speeds in million samples a second."""
    size = 200_000 if quick else 1_000_000
    peer_size = 20_000 if quick else 100_000
    runs = 2 if quick else RUNS
    source = SystemSource()
    noise = DerivedNodes(source.key(), b"benchmark")
    nodes = np.arange(size)
    for kind in (DiscreteLaplace, DiscreteGaussian):
        for scale in (1, 32, 1000, 1_000_000):
            law: Law = kind(scale)
            name = f"{law.to_dict()['law']} noise, scale {scale}"
            bulk = speed(lambda law=law: law.sample(size, source=source), size, runs)
            by_node = speed(lambda law=law: noise.values(law, 0, nodes), size, runs)
            peer = peer_sampler(law, peer_size)
            theirs = None if peer is None else speed(peer, peer_size, runs)
            for work, value in ((name, bulk), (f"{name}, by node", by_node)):
                yield row(work, "speed", "M samples/s", value, runs=runs, target=MUST, peer="opendp", peer_value=theirs)
    for law in (Polya(32, "1/10"), Polya(1000, "1/1000"), Skellam(1), Skellam(100)):
        parameters = ", ".join(f"{key} {value}" for key, value in law.to_dict().items() if key != "law")
        value = speed(lambda law=law: law.sample(size // 10, source=source), size // 10, runs)
        yield row(f"{law.to_dict()['law']} noise, {parameters}", "speed", "M samples/s", value, runs=runs)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Time exact integer noise.")
    parser.add_argument("--quick", action="store_true", help="smaller samples, fewer runs")
    asked = parser.parse_args()
    record(rows(asked.quick), quick=asked.quick)
