"""Speed of what teachers' votes cost: Theorem 3, exact costs, and a whole run, on one core.

The published votes of 9000 MNIST queries are used where OGIVE_DATA is set, and votes like them otherwise. The authors'
public code is not a package: its time for the first row was measured elsewhere, on another machine, and says so.

Run: python benchmarks/pate.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from harness import best_time, record, row

from ogive.pate import ConfidentGNMax, privacy_cost
from ogive.pate.costs.answers import logq_gnmax, rdp_gnmax
from ogive.pate.costs.exact import Check, rdp_exact

AUTHORS = "authors' public code, measured elsewhere"
AUTHORS_SECONDS = 0.34
MUST = {"answers": 0.070, "exact": 1.0, "run": 60.0}


def consensus_votes(queries: int, teachers: int, classes: int, rng: np.random.Generator) -> np.ndarray:
    """Votes of teachers who mostly agree: a winner's share of Beta(14, 1.2), the others by a Dirichlet law."""
    winner = rng.beta(14, 1.2, queries)
    rest = rng.dirichlet(np.full(classes - 1, 0.4), queries) * (1 - winner)[:, None]
    votes = rng.multinomial(teachers, np.column_stack([winner, rest]))
    return rng.permuted(votes, axis=1)


def mnist_votes(rng: np.random.Generator) -> np.ndarray:
    """The published votes, shape (9000, 10), or votes like them."""
    path = Path(os.environ.get("OGIVE_DATA", "")) / "pate_teacher_votes.npz"
    if "OGIVE_DATA" in os.environ and path.is_file():
        return np.load(path)["mnist_250"].astype(np.int64)
    return consensus_votes(9000, 250, 10, rng)


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    """Measure; processor times in seconds."""
    rng = np.random.default_rng(11)
    runs = 2 if quick else 5
    votes = mnist_votes(rng)
    orders = np.arange(4, 104) / 2
    timed = partial(best_time, runs=runs, clock=time.process_time)
    common = {"runs": runs, "larger_is_better": False}

    def answers() -> np.ndarray:
        return rdp_gnmax(logq_gnmax(votes, 40), 40, orders)

    yield row(
        "PATE, cost of 9000 MNIST queries at 100 orders",
        "time",
        "s",
        timed(answers),
        target=MUST["answers"],
        peer=AUTHORS,
        peer_value=AUTHORS_SECONDS,
        **common,
    )
    aggregator = ConfidentGNMax(200, 150, 40)
    for mode in ("joint", "joint_two_sided"):
        run = partial(privacy_cost, votes, aggregator, target_delta=1e-5, mode=mode)
        yield row(f"PATE, privacy_cost of 9000 MNIST queries, {mode}", "time", "s", timed(run), **common)
    halves = np.arange(4, 201) / 2
    for queries in (640,) if quick else (640, 9000):
        for two_sided in (False, True):
            run = partial(rdp_exact, votes[:queries], 40.0, halves, check=Check(200, 150), two_sided=two_sided)
            words = "two-sided exact" if two_sided else "exact"
            target = MUST["exact"] if queries == 640 and not two_sided else None
            yield row(
                f"PATE, {words} cost of {queries} MNIST queries at 197 orders", "time", "s", timed(run),
                target=target, **common,
            )  # fmt: skip
    if not quick:
        twenty = consensus_votes(1000, 1000, 20, rng)
        run = partial(rdp_exact, twenty, 60.0, halves, check=Check(700, 300))
        yield row("PATE, exact cost of 1000 queries, 1000 teachers, 20 classes", "time", "s", timed(run), **common)
    large = consensus_votes(10_000, 5000, 150, rng)
    run = partial(privacy_cost, large, ConfidentGNMax(3500, 1500, 100), target_delta=1e-8)
    yield row(
        "PATE, privacy_cost of 10 000 queries, 5000 teachers, 150 classes",
        "time",
        "s",
        timed(run),
        target=MUST["run"],
        **common,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer runs, fewer sizes")
    quick = parser.parse_args().quick
    record(rows(quick), quick=quick)


if __name__ == "__main__":
    main()
