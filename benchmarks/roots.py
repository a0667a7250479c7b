"""The roots of prefix sums under zCDP: error and processor time of `symmetric` and `ring` against `sqrt`.

    python benchmarks/roots.py [--quick]

Root mean squared errors of the unsmoothed curves at rho = 1/2, in records, over all points: of `runs` releases, and as
predicted. A design includes its variances, as `auto` needs them; a release is measurement, noise and estimate.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from harness import best_time, record, row

from ogive.noise import SystemSource
from ogive.privacy import Adjacency, ZeroConcentratedDP
from ogive.strategies import (
    Strategy,
    balanced_roots,
    design_ring,
    design_square_root,
    design_symmetric_root,
    square_root,
)

HALF = ZeroConcentratedDP("0.5")
VALUES = 1 << 22
"""Noisy values by which an error is measured."""
DESIGNS = (
    ("symmetric", design_symmetric_root, Adjacency.ADD_OR_REMOVE),
    ("ring", design_ring, Adjacency.REPLACE),
)
KEPT = [
    value
    for module in (balanced_roots, square_root)
    for value in vars(module).values()
    if hasattr(value, "cache_clear") and value is not square_root._tables
]
"""What is kept of earlier designs."""


def forgetful_seconds(design: Any, size: int, adjacency: Adjacency) -> float:
    """Processor time of a design and its variances by a process that has made none of this size."""

    def work() -> None:
        for kept in KEPT:
            kept.cache_clear()
        design(size, privacy=HALF, adjacency=adjacency).variance(total_known=adjacency is Adjacency.REPLACE)

    return best_time(work, runs=3, clock=time.process_time)


def answer_of(strategy: Strategy, counts: np.ndarray) -> np.ndarray:
    """A noisy answer."""
    noise = tuple(level.law.sample(level.nodes, source=SystemSource()) for level in strategy.levels)
    return strategy.measure(counts) + strategy.spread(noise)


def measured_error(strategy: Strategy, total: int | None, counts: np.ndarray, runs: int) -> float:
    """Root mean squared error over all points of some releases."""
    truth, squares = np.cumsum(counts), 0.0
    for _ in range(runs):
        squares += float(np.square(strategy.estimate(answer_of(strategy, counts), total) - truth).mean()) / runs
    return math.sqrt(squares)


def rows(powers: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    """Three rows for each size and adjacency."""
    for power in powers:
        size = 1 << power
        counts = np.random.default_rng(power).integers(0, 20, size)
        runs = max(4, min(400, VALUES // size))
        for name, design, adjacency in DESIGNS:
            ours, peer = (make(size, privacy=HALF, adjacency=adjacency) for make in (design, design_square_root))
            total = int(counts.sum()) if adjacency is Adjacency.REPLACE else None
            work = f"root {name}, 2^{power} bins, {adjacency.value}"
            error, before = (measured_error(each, total, counts, runs) for each in (ours, peer))
            yield row(
                work, "RMSE of releases", "records", error, runs=runs, larger_is_better=False,
                peer="sqrt", peer_value=before,
            )  # fmt: skip
            exact, other = (
                math.sqrt(each.variance(total_known=total is not None).mean()) for each in (ours, peer)
            )  # fmt: skip
            yield row(
                work, "RMSE as predicted", "records", exact, runs=1, larger_is_better=False,
                peer="sqrt", peer_value=other,
            )  # fmt: skip
            designed = [forgetful_seconds(make, size, adjacency) for make in (design, design_square_root)]
            yield row(
                work, "design", "s", designed[0], runs=3, larger_is_better=False, peer="sqrt", peer_value=designed[1]
            )
            spent = [
                best_time(
                    lambda each=each, total=total, counts=counts: each.estimate(answer_of(each, counts), total),
                    runs=5, clock=time.process_time,
                )
                for each in (ours, peer)
            ]  # fmt: skip
            yield row(
                work, "release from counts", "s", spent[0], runs=5, larger_is_better=False, peer="sqrt",
                peer_value=spent[1],
            )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller sizes")
    quick = parser.parse_args().quick
    record(list(rows((8, 10) if quick else (8, 10, 15, 20))), quick=quick)


if __name__ == "__main__":
    main()
