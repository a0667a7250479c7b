"""Running totals against one release after the last element: deviation, error measured, time and memory of a step.

Run: python benchmarks/streams.py [--quick]

The peer of an error is the offline release of as many thresholds at the same price. Deviations are roots of mean
variances, exact; errors are those of whole streams of coin flips, and of offline releases of the same elements.
"""

from __future__ import annotations

import argparse
import math
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
from harness import best_time, record, row

from ogive.core.arrays import Float64, Int64
from ogive.noise import DerivedNodes, SystemSource
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.base import Strategy
from ogive.strategies.hats import design_hats
from ogive.strategies.square_root import design_square_root
from ogive.streams import RunningTotal
from ogive.streams.ahead import factor

MUST = 1.05
"""Times the deviation of the offline release."""
DESIGNS = {"hats": design_hats, "sqrt_ahead": design_square_root}
CASES = (
    (PureDP(1), "hats", 1 << 15, 400),
    (PureDP(1), "hats", 1 << 20, 30),
    (ZeroConcentratedDP("0.5"), "sqrt_ahead", 1 << 15, 400),
    (ZeroConcentratedDP("0.5"), "sqrt_ahead", 1 << 20, 15),
)
OPEN = (
    (PureDP(1), "open_hats"),
    (ZeroConcentratedDP("0.5"), "open_powers"),
)
LENGTHS = (1 << 10, 1 << 15, 1 << 20)
OPEN_MUST = 1.25
"""Times the deviation of a stream of known length."""
SINGLE = 1000


def offline_counts(strategy: Strategy, values: Int64) -> Float64:
    """Totals that one release after the last element says."""
    nodes = DerivedNodes(SystemSource().key(), b"offline")
    noise = tuple(nodes.values(level.law, at, np.arange(level.nodes)) for at, level in enumerate(strategy.levels))
    return strategy.estimate(strategy.measure(values) + strategy.spread(noise), None)


def error(totals: list[Float64], values: Int64) -> float:
    """Root mean square over all steps of all streams."""
    truth = np.cumsum(values)
    return math.sqrt(np.mean([np.mean((total - truth) ** 2) for total in totals]))


def case_rows(
    privacy: PureDP | ZeroConcentratedDP, method: str, steps: int, runs: int, *, timed: int
) -> Iterator[dict[str, Any]]:
    """Rows of one method at one length."""
    work = f"running total, {method}, {privacy}, N=2^{steps.bit_length() - 1}"
    strategy = DESIGNS[method](steps, privacy=privacy, adjacency=Adjacency.ADD_OR_REMOVE)
    peer = f"{strategy.name} offline"

    def stream() -> RunningTotal:
        return RunningTotal(steps, privacy=privacy, method=method)

    ours = math.sqrt(np.mean(stream().variance(np.arange(1, steps + 1))))
    theirs = math.sqrt(strategy.variance(total_known=False).mean())
    aim = {"target": round(MUST * theirs, 2), "larger_is_better": False}
    yield row(work, "deviation", "records", ours, runs=1, peer=peer, peer_value=theirs, **aim)
    values = np.random.default_rng(1).integers(0, 2, steps)
    streams = error([stream().add_many(values) for _ in range(runs)], values)
    releases = error([offline_counts(strategy, values) for _ in range(runs)], values)
    yield row(work, "RMSE", "records", streams, runs=runs, peer=peer, peer_value=releases)
    seconds = best_time(lambda: stream().add_many(values), runs=timed, clock=time.process_time)
    yield row(work, "time of a step, all at once", "us", seconds / steps * 1e6, runs=timed)
    going = stream()
    going.add(1)

    def one_by_one() -> None:
        for _ in range(SINGLE):
            going.add(1)

    seconds = best_time(one_by_one, runs=timed, clock=time.process_time)
    yield row(work, "time of a step, one by one", "us", seconds / SINGLE * 1e6, runs=timed)
    seconds = best_time(lambda: stream().add_many(values[:1]), runs=timed, clock=time.process_time)
    yield row(work, "time of making it and the first step", "s", seconds, runs=timed)
    tracemalloc.start()
    begun = stream()
    for start in range(0, steps, 1 << 12):
        begun.add_many(values[start : start + (1 << 12)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    yield row(work, "memory at most", "MB", peak / 1e6, runs=1)
    yield row(work, "stored state", "bytes", len(begun.to_bytes()), runs=1)


def open_rows(privacy: PureDP | ZeroConcentratedDP, method: str) -> Iterator[dict[str, Any]]:
    """Deviations of a stream of unknown length against streams that were made for as many elements as came."""

    def begun() -> None:
        factor.cache_clear()
        RunningTotal(None, privacy=privacy).add(1)

    seconds = best_time(begun, runs=2, clock=time.process_time)
    work = f"running total, {method}, {privacy}"
    yield row(work, "time of making it and the first step", "s", seconds, runs=2)
    stream = RunningTotal(None, privacy=privacy, method=method)
    for length in LENGTHS:
        known = RunningTotal(length, privacy=privacy)
        steps = np.unique(np.linspace(1, length, 2000).astype(int))
        ours, theirs = (math.sqrt(each.variance(steps).mean()) for each in (stream, known))
        yield row(
            f"{work}, after 2^{length.bit_length() - 1} elements",
            "deviation",
            "records",
            ours,
            runs=1,
            peer=f"{known.method} of known length",
            peer_value=theirs,
            target=round(OPEN_MUST * theirs, 2),
            larger_is_better=False,
        )


def rows(*, quick: bool) -> Iterator[dict[str, Any]]:
    """All rows."""
    for privacy, method, steps, runs in CASES:
        if quick and steps > 1 << 15:
            continue
        yield from case_rows(privacy, method, steps, min(runs, 5) if quick else runs, timed=2 if quick else 3)
    for privacy, method in OPEN:
        yield from open_rows(privacy, method)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Running totals against one offline release.")
    parser.add_argument("--quick", action="store_true", help="shorter streams, fewer runs")
    asked = parser.parse_args()
    record(rows(quick=asked.quick), quick=asked.quick)
