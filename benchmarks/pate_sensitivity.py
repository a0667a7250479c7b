"""Time of the smooth sensitivity of data-dependent PATE costs.

    python benchmarks/pate_sensitivity.py [--quick]

Votes: the first 1000 of the public MNIST votes (250 teachers, 10 classes), and made-up consensus votes of 5000 teachers
on 150 classes. Processor time of one core. The peer's times were measured elsewhere, on another machine, and stand
beside ours for scale only.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from harness import best_time, record, row

from ogive.datasets import data_directory
from ogive.pate.aggregators import ConfidentGNMax, GNMax
from ogive.pate.costs.answers import GnmaxBound
from ogive.pate.sensitivity.smooth import answer_profile, smooth_cost

PEER = "authors' public code, measured elsewhere"
ORDER = 14.0


def consensus_votes(queries: int, teachers: int, classes: int) -> np.ndarray:
    """Votes most of which agree: a winner's share from a beta law, the rest uneven."""
    rng = np.random.default_rng(1)
    shares = np.where(rng.random(queries) < 0.8, rng.beta(14, 1.2, queries), rng.beta(3, 3, queries))
    rest = rng.dirichlet(np.full(classes - 1, 0.4), queries) * (1 - shares)[:, None]
    return np.array([rng.multinomial(teachers, chances) for chances in np.column_stack([shares, rest])])


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="few runs, nothing recorded")
    quick = parser.parse_args().quick
    runs = 2 if quick else 7
    mnist = np.load(data_directory() / "pate_teacher_votes.npz")["mnist_250"][:1000].astype(np.int64)
    large = consensus_votes(40 if quick else 200, 5000, 150)
    sensitive = {"order": ORDER, "smoothness": 0.35 / ORDER}
    bound = GnmaxBound(40.0, ORDER)

    def milliseconds(work: Callable[[], object]) -> float:
        return 1000 * best_time(work, runs=runs, clock=time.process_time)

    rows = [
        row(
            "PATE smooth sensitivity, 1000 MNIST queries, 250 teachers, Algorithms 3-5",
            "time",
            "ms",
            milliseconds(lambda: smooth_cost(mnist, GNMax(40), **sensitive)),
            runs=runs,
            target=30,
            larger_is_better=False,
            peer=PEER,
            peer_value=1500,
        ),
        row(
            "PATE smooth sensitivity, 1000 MNIST queries, 250 teachers, range maximum",
            "time",
            "ms",
            milliseconds(lambda: answer_profile(mnist, bound, method="ranges")),
            runs=runs,
        ),
        row(
            "PATE smooth sensitivity, 640 MNIST queries, 250 teachers, joint boxes",
            "time",
            "ms",
            milliseconds(lambda: smooth_cost(mnist[:640], ConfidentGNMax(200, 150, 40), **sensitive)),
            runs=runs,
        ),
        row(
            "PATE smooth sensitivity, 5000 teachers, 150 classes, Algorithms 3-5",
            "time per query",
            "ms",
            milliseconds(lambda: answer_profile(large, GnmaxBound(100.0, 20.5))) / len(large),
            runs=runs,
            peer=PEER,
            peer_value=91,
        ),
        row(
            "PATE smooth sensitivity, 5000 teachers, 150 classes, joint boxes",
            "time per query",
            "ms",
            milliseconds(lambda: smooth_cost(large, ConfidentGNMax(1000, 500, 100), order=20.5, smoothness=0.35 / 20.5))
            / len(large),
            runs=runs,
        ),
    ]
    record(rows, quick=quick)


if __name__ == "__main__":
    main()
