"""How far off are Harrell's and Uno's index and the AUC at a time, and what would one index alone cost in accuracy?

    python benchmarks/concordance.py [--quick] [--runs 100]

Errors are root mean squared distances from the indices of the same records, without intervals and bins, over releases
of one made-up cohort of each size, of which about half are censored. The peer is `ustatistic` with the method `kernel`:
noise on the exact means over pairs of numerator and denominator of Harrell's index, each at half of the price. It
releases that index and nothing else, and only a curator can. Its error follows from the law of its noise; the means are
computed of at most 2,000 records.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from harness import record, row

import ogive
from ogive import kernels
from ogive.core.arrays import Float64
from ogive.statistics.concordance import indices
from ogive.statistics.concordance.indices import Table

RECORDS = (500, 2_000, 5_000, 20_000, 50_000)
EPSILONS = ("0.5", "1")
MONTHS, FINE, MOST_OF_PAIRS = 60, (1_200, 1_000), 2_000
Cohort = dict[str, Any]


def cohort(records: int) -> Cohort:
    """Scores, times and events."""
    rng = np.random.default_rng(records)
    score = rng.beta(2, 3, records)
    due, left = rng.exponential(60 * np.exp(-3 * (score - 0.4))), rng.uniform(6, 72, records)
    return {"s": score, "t": np.minimum(due, left), "e": (due <= left).astype(int)}


def exact(records: Cohort) -> Float64:
    """Harrell's and Uno's index, and the AUC at half of the time, on a grid that is as good as none."""
    intervals, bins = FINE
    counts = np.zeros((intervals + 1, 2, bins))
    places = np.minimum(np.ceil(records["t"] / MONTHS * intervals), intervals + 1).astype(int) - 1
    np.add.at(counts, (places, records["e"], np.minimum(records["s"] * bins, bins - 1).astype(int)), 1)
    whole, half = Table.until(counts, intervals), Table.until(counts, intervals // 2)
    return np.array(
        [
            indices.concordance(whole, power=0).value,
            indices.concordance(whole, power=2).value,
            indices.area(half).value,
        ]
    )


def released(records: Cohort, epsilon: str, bins: int, score_bins: int) -> Float64:
    """The same of one release."""
    question = ogive.Concordance("s", "t", "e", (0, MONTHS), bins=bins, score_bins=score_bins)
    estimate = ogive.release(question, trust=ogive.Central(records), privacy=ogive.PureDP(epsilon))
    return np.array([each.value for each in (estimate.harrell(), estimate.uno(MONTHS), estimate.auc(MONTHS / 2))])


def of_pairs(x: Any, y: Any, *, concordant: bool) -> Any:
    """Whether two records are a pair of Harrell's, or a concordant one."""
    (s, t, e), (other, later, ended) = x, y
    first = (e == 1) & (t < later) & (t <= MONTHS)
    second = (ended == 1) & (later < t) & (later <= MONTHS)
    return (first & (s > other)) | (second & (other > s)) if concordant else first | second


def single(records: Cohort, epsilon: str) -> float:
    """Standard deviation of the noise of Harrell's index from its numerator and denominator."""
    some = {name: values[:MOST_OF_PAIRS] for name, values in records.items()}
    values, errors = [], []
    for concordant in (True, False):
        question = ogive.Ustatistic(
            ("s", "t", "e"),
            kernels.measure_of(
                lambda x, y, which=concordant: of_pairs(x, y, concordant=which), range=(0, 1), name="pair"
            ),
            bounds={"s": (0, 1), "t": (0, 2 * MONTHS)},
            categories={"e": (0, 1)},
            method="kernel",
            outside="clip",
        )
        privacy = ogive.PureDP(epsilon)
        estimate = ogive.release(question, trust=ogive.Central(some), privacy=ogive.PureDP(privacy.epsilon / 2))
        values.append(ogive.release(question, trust=ogive.Clear(some)).value)
        errors.append(estimate.randomization_error * len(some["s"]) / len(records["s"]))
    return math.hypot(errors[0], errors[1] * values[0] / values[1]) / values[1]


def measured(runs: int) -> Iterator[dict[str, Any]]:
    """A row for each size, guarantee and measure."""
    for count in RECORDS:
        records = cohort(count)
        true = exact(records)
        bins, score_bins = (6, 10) if count < 2_000 else (10, 20) if count < 20_000 else (20, 50)
        for epsilon in EPSILONS:
            found = np.stack([released(records, epsilon, bins, score_bins) for _ in range(runs)])
            for place, name in enumerate(("Harrell's index", "Uno's index", "AUC at half of the time")):
                known = found[np.isfinite(found[:, place]), place]
                if not len(known):
                    continue
                yield row(
                    f"concordance, {count:,} records, epsilon {epsilon}, {bins} intervals, {score_bins} bins, "
                    f"{len(known) / runs:.0%} of releases",
                    f"{name}, root mean squared error",
                    "index",
                    float(np.sqrt(np.mean((known - true[place]) ** 2))),
                    runs=runs,
                    peer="pairs alone" if place == 0 else None,
                    peer_value=single(records, epsilon) if place == 0 else None,
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer releases")
    parser.add_argument("--runs", type=int, default=100, help="releases of each setting")
    asked = parser.parse_args()
    record(measured(20 if asked.quick else asked.runs), quick=asked.quick)
