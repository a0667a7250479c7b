"""Errors of pairwise statistics at epsilon 1, by a curator, pairs of people and local reports, for docs/pairwise.md.

    python benchmarks/pairwise_errors.py [--quick]

Incomes have the distribution Beta(2, 5), ratings from 1 to 5 a Gaussian copula with correlation 1/2, scores are normal
with means one standard deviation apart. An error is the root mean squared difference of released and exact value over
so many releases of the same records; behind it, in brackets, the mean of the stated standard error of randomization,
which of pairs has that of sampling in it.

A third table is of collision probabilities by a curator: 20,000 records of so many categories, equally frequent, or
with frequencies of 1, 1/2, 1/3 and so on.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

import ogive
from ogive.noise import KeyedSource
from ogive_papers.ustatistics.auc import HAAR, PAPER, errors

ONE = ogive.PureDP(1)
SIZES = {10_000: 40, 1_000_000: 10}
OTHERS = {
    "Gini": ("krr", "unary", "haar"),
    "Kendall's tau-a": ("krr", "unary", "haar"),
    "AUC": ("krr", "unary", "haar", "hierarchy"),
}
SYNTHETIC_RUNS = 10
CATEGORIES = {
    "1000, equally frequent": (1000, 0),
    "1000, Zipf": (1000, 1),
    "200, equally frequent": (200, 0),
    "4": (4, 0),
}
COLLISION_RECORDS, COLLISION_RUNS = 20_000, 30

Table = dict[str, np.ndarray]


def records(name: str, size: int) -> tuple[ogive.Ustatistic, Table]:
    """What is asked, and of whom."""
    rng = np.random.default_rng(1)
    if name == "Gini":
        return ogive.Ustatistic("income", "gini", bounds=(0, 1)), {"income": rng.beta(2, 5, size)}
    if name == "AUC":
        sick = rng.random(size) < 0.5
        table = {"score": np.clip(rng.normal(sick, 1.0), -5, 6), "sick": sick.astype(np.int64)}
        return ogive.Ustatistic(("score", "sick"), "auc", bounds=(-5, 6)), table
    normal = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size)
    rated = np.digitize(normal, [-1, -0.3, 0.3, 1]) + 1
    return ogive.Ustatistic(("x", "y"), "kendall", categories=(1, 2, 3, 4, 5)), {"x": rated[:, 0], "y": rated[:, 1]}


def pairs(table: Table) -> ogive.Pairs:
    """People who meet; evaluated in the clear, which says what garbled circuits say."""
    return ogive.Pairs(table, circuits="clear")


def measured(statistic: ogive.Ustatistic, trust: Callable[[Table], Any], table: Table, runs: int) -> str:
    """The error of so many releases, with what was stated, and the bins."""
    truth = ogive.release(statistic, trust=ogive.Clear(table)).value
    found = []
    for run in range(runs):
        source = KeyedSource(run.to_bytes(32, "big"))
        found.append(ogive.release(statistic, trust=trust(table), privacy=ONE, source=source))
    error = math.sqrt(np.mean([(each.value - truth) ** 2 for each in found]))
    stated = float(np.mean([each.randomization_error for each in found]))
    bins = " x ".join(str(size) for size in found[0].bins)
    return f"{error:.2g} ({stated:.2g})" + f", {bins} bins" * bool(bins)


def collisions(runs: int) -> None:
    """Print errors of collision probabilities, by every method of a curator."""
    print("| categories | kernel | cells | degrees | auto |")
    print("| --- | --- | --- | --- | --- |")
    for name, (size, skew) in CATEGORIES.items():
        weights = np.arange(1.0, size + 1) ** -skew
        drawn = np.random.default_rng(5).choice(size, COLLISION_RECORDS, p=weights / weights.sum())
        asked = ogive.Ustatistic("x", "collision_probability", categories=tuple(range(size)))
        found = [
            measured(dataclasses.replace(asked, method=method), ogive.Central, {"x": drawn}, runs)
            for method in ("kernel", "cells", "degrees")
        ]
        taken = ogive.release(asked, trust=ogive.Central({"x": drawn}), privacy=ONE).method
        print(f"| {name} | {' | '.join(found)} | {taken} |", flush=True)


def main() -> None:
    """Print the tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="10 000 records and 5 releases")
    quick = parser.parse_args().quick
    print("| statistic | records | curator | pairs | krr | unary | haar | hierarchy |")
    print("| --- | ---: | --- | --- | --- | --- | --- | --- |")
    for name, methods in OTHERS.items():
        for size, runs in ({10_000: 5} if quick else SIZES).items():
            statistic, table = records(name, size)
            cells = [measured(statistic, trust, table, runs) for trust in (ogive.Central, pairs)]
            cells += [measured(dataclasses.replace(statistic, method=m), ogive.Local, table, runs) for m in methods]
            cells += ["-"] * (6 - len(cells))
            print(f"| {name} | {size:,} | {' | '.join(cells)} |", flush=True)
    print()
    collisions(5 if quick else COLLISION_RUNS)
    print()
    for exponent in (4,) if quick else (4, 10):
        setting = {"data": "auc_one", "exponent": exponent, "epsilon": 1.0}
        runs = [errors(setting, seed, {}) for seed in range(SYNTHETIC_RUNS)]
        for which in (PAPER, HAAR):
            print(f"auc_one, {1 << exponent} bins, {which}: {np.mean([run[which] for run in runs]):.2g} off on average")


if __name__ == "__main__":
    main()
