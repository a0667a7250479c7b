"""Statistics of all pairs on one core: exact values against scipy and scikit-learn, and releases by a curator.

    python benchmarks/pairwise.py [--quick]

Peers in the same process: scipy's `kendalltau` and scikit-learn's `roc_auc_score`, which also sort. A release reads the
columns, adds up all pairs in whole numbers and draws the noise; it has no peer.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from harness import best_time, record, row
from scipy.stats import kendalltau
from sklearn.metrics import roc_auc_score

import ogive
from ogive.kernels import measure_of

RUNS = 3
MUST = 5.0
UNIT = "s"
KENDALL = ("kendall_b", "scipy")
AREA = ("auc", "scikit-learn")


def seconds(work: Callable[[], object], runs: int) -> float:
    """Processor time of the fastest run."""
    return best_time(work, runs=runs, clock=time.process_time)


def rows_of(size: int, runs: int) -> list[dict[str, Any]]:
    """Rows for that many records."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 1000, size).astype(float)  # with ties
    y = np.round(x / 3 + rng.normal(0, 100, size))
    labels = (rng.random(size) < 0.3).astype(np.int64)
    both = np.column_stack([x, y])
    tau, area = measure_of(KENDALL[0]), measure_of(AREA[0])
    records = f"{size:,} records".replace(",", " ")
    values = {
        f"pairwise statistics, exact tau-b of {records}": (
            lambda: tau.exact(both),
            lambda: kendalltau(x, y).statistic,
            "scipy",
        ),
        f"pairwise statistics, exact AUC of {records}": (
            lambda: area.exact(x[:, None], labels),
            lambda: roc_auc_score(labels, x),
            "scikit-learn",
        ),
    }
    found = []
    for work, (ours, theirs, peer) in values.items():
        assert abs(float(ours()) - float(theirs())) < 1e-12, "the same number is computed"
        time_of = seconds(theirs, runs)
        spent = seconds(ours, runs)
        found.append(
            row(
                work,
                "time",
                UNIT,
                spent,
                runs=runs,
                target=MUST,
                larger_is_better=False,
                peer=peer,
                peer_value=time_of,
            )
        )
    columns = {"x": x, "y": y, "label": labels}
    bounds = {"x": (0, 1000), "y": (-1000, 2000)}
    statistics = {
        "tau-b": ogive.Ustatistic(("x", "y"), "kendall_b", bounds=bounds),
        "AUC": ogive.Ustatistic(("x", "label"), "auc", bounds={"x": (0, 1000)}),
        "Gini": ogive.Ustatistic("x", "gini", bounds=(0, 1000)),
    }
    for name, statistic in statistics.items():

        def release(statistic: ogive.Ustatistic = statistic) -> object:
            return ogive.release(statistic, trust=ogive.Central(columns), privacy=ogive.PureDP(1))

        work = f"pairwise statistics, {name} of {records} released by a curator"
        spent = seconds(release, runs)
        found.append(row(work, "time", UNIT, spent, runs=runs, target=MUST, larger_is_better=False))
    return found


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10 000 records, and nothing is recorded")
    quick = parser.parse_args().quick
    record(rows_of(10_000, 1) if quick else rows_of(1_000_000, RUNS), quick=quick)


if __name__ == "__main__":
    main()
