"""Means, quartiles and histograms against diffprivlib, at equal privacy and adjacency, most of the bank's table.

diffprivlib 0.6.6 does not import beside scikit-learn 1.8 or later, which ogive's other benchmarks may use, so it is no
part of the extra `bench`: install it with `scikit-learn<1.8` to measure its column. Its means and quantiles are for one
record replaced, its histograms for one added or removed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from harness import best_time, record, row
from numpy.typing import NDArray

import ogive
from ogive import Adjacency, PureDP

PEER = "diffprivlib"
RUNS = 400
QUARTILES = (0.25, 0.5, 0.75)
Float64 = NDArray[np.float64]
Release = Callable[[], Any]


def rmse(release: Release, truth: Float64, measure: Callable[[Any], Float64] = np.asarray, runs: int = RUNS) -> float:
    """Root mean squared error of a release over many runs."""
    errors = [measure(release()) - truth for _ in range(runs)]
    return float(np.sqrt(np.mean(np.square(errors))))


def compared(
    work: str, unit: str, ours: Release, peers: Release, truth: Float64, measure: Callable[[Any], Float64]
) -> list[dict[str, Any]]:
    """Two rows: errors, and processor time of a release."""
    error, peer_error = (rmse(each, truth, measure) for each in (ours, peers))
    return [row(work, "RMSE", unit, error, runs=RUNS, peer=PEER, peer_value=peer_error), timed(work, ours, peers)]


def timed(work: str, ours: Release, peers: Release) -> dict[str, Any]:
    """A row: processor time of a release."""
    duration, peer_duration = (1e3 * best_time(each, runs=20, clock=time.process_time) for each in (ours, peers))
    return row(work, "time", "ms", duration, runs=20, peer=PEER, peer_value=peer_duration)


def main() -> None:
    """Measure and record."""
    warnings.simplefilter("ignore")
    try:
        tools: Any = import_module("diffprivlib.tools")
    except ImportError as problem:
        print(f"{PEER} cannot be imported here ({problem}); nothing is measured")
        return
    bank = ogive.datasets.bank()
    rows = []
    age = bank["age"].to_numpy().astype(float)
    for epsilon in (0.01, 1.0):
        rows += compared(
            f"mean of age, 45,211 records, bounds 18 to 100, epsilon = {epsilon:g}, replace",
            "years",
            partial(ogive.mean, age, bounds=(18, 100), privacy=PureDP(epsilon)),
            partial(tools.mean, age, epsilon=epsilon, bounds=(18, 100)),
            np.asarray(age.mean()),
            _value,
        )
    for records in (100_000, 10_000_000):
        values = np.random.default_rng(0).uniform(0, 100, records)
        rows.append(
            timed(
                f"mean of uniform values, {records:,} records, bounds 0 to 100, epsilon = 1, replace",
                partial(ogive.mean, values, bounds=(0, 100), privacy=PureDP(1)),
                partial(tools.mean, values, epsilon=1.0, bounds=(0, 100)),
            )
        )
    balance = bank["balance"].to_numpy().astype(float)
    ordered, bounds = np.sort(balance), (-10_000.0, 110_000.0)

    def distance(found: Any) -> Float64:
        """How far a value's ranks, from the first to the last of its ties, are from the wanted one."""
        values = getattr(found, "values", found)
        low, high = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
        wanted = np.asarray(QUARTILES) * ordered.size
        return np.maximum(0, np.maximum(low - wanted, wanted - high))

    for epsilon in (0.1, 1.0):
        rows += compared(
            f"quartiles of balance, 45,211 records, bounds -10,000 to 110,000, epsilon = {epsilon:g}, replace",
            "records",
            partial(ogive.quantiles, balance, QUARTILES, bounds=bounds, grid="integers", privacy=PureDP(epsilon)),
            partial(tools.quantile, balance, list(QUARTILES), epsilon=epsilon, bounds=bounds),
            np.zeros(3),
            distance,
        )
    jobs, places = np.unique(bank["job"].to_numpy(zero_copy_only=False).astype(str), return_inverse=True)
    true = np.bincount(places).astype(float)
    names = tuple(jobs.tolist())
    job = jobs[places]
    private = Adjacency.ADD_OR_REMOVE
    for epsilon in (0.1, 1.0):
        rows += compared(
            f"histogram of 12 jobs, 45,211 records, epsilon = {epsilon:g}, add_or_remove",
            "records",
            partial(ogive.histogram, job, values=names, privacy=PureDP(epsilon), adjacency=private),
            partial(tools.histogram, places, epsilon=epsilon, bins=12, range=(-0.5, 11.5)),
            true,
            _counts,
        )
    record(rows)


def _value(found: Any) -> Float64:
    return np.asarray(getattr(found, "value", found))


def _counts(found: Any) -> Float64:
    return np.asarray(found[0] if isinstance(found, tuple) else found.counts, float)


if __name__ == "__main__":
    main()
