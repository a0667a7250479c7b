"""Error and time of ROC releases, against the paper's split budget and constants.

    python benchmarks/roc.py [--quick]

Records: bank-full, scored by a logistic regression that was trained on every other record. Errors are means over
releases: of the absolute error of the AUC, and of the area between the released and the exact curve (1-norm). The
paper's curves have half of the budget each, its constants, its p=2 smoothing solved exactly, and are not anchored.
Time is that of a whole release from arrays, with the design made before, on a grid of N thresholds. The area alone, as
a statistic of pairs, is measured against that of the curve.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas
from harness import best_time, record, row
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ogive.datasets import data_directory
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PureDP
from ogive.releasing.release import release
from ogive.statistics import Ustatistic
from ogive.statistics.roc.estimate import RocEstimate
from ogive.statistics.roc.statistic import Roc
from ogive.strategies import design_path
from ogive.trust import Central, Clear

PAPER, CURVE = "the paper's constants", "the curve's area"
EPSILONS = ("0.1", 1)
SIZES = (2**10, 2**15)
RATIO = 0.6
"""Target for the 1-norm error at epsilon 1, of the paper's."""


def bank() -> dict[str, np.ndarray]:
    """Scores and labels of bank-full."""
    people = pandas.read_csv(data_directory() / "bank-full.csv.gz", sep=";")
    features = pandas.get_dummies(people.drop(columns="y")).astype(float)
    bought = (people["y"] == "yes").to_numpy()
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
    model.fit(features[::2], bought[::2])
    return {"s": model.predict_proba(features)[:, 1], "y": bought}


def mean_errors(statistic: Roc, trust: Central, truth: RocEstimate, privacy: PureDP, runs: int) -> dict[str, float]:
    """Mean errors over releases with fixed keys, without those that are not defined."""
    found = [
        release(statistic, trust=trust, privacy=privacy, source=KeyedSource.from_seed(seed)).errors(truth)
        for seed in range(runs)
    ]
    return {name: float(np.nanmean([errors[name] for errors in found])) for name in found[0]}


def alone(table: dict[str, np.ndarray], size: int, privacy: PureDP, runs: int) -> float:
    """Mean absolute error of the AUC as a statistic of pairs, without the curve."""
    statistic = Ustatistic(("s", "y"), "auc", bounds=(0, 1), bins=size)
    exact = release(statistic, trust=Clear(table)).value
    trust = Central(table)
    found = [
        release(statistic, trust=trust, privacy=privacy, source=KeyedSource.from_seed(seed)).value
        for seed in range(runs)
    ]
    return float(np.abs(np.array(found) - exact).mean())


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="few runs, nothing recorded")
    quick = parser.parse_args().quick
    table = bank()
    trust, rows = Central(table), []
    for size in SIZES:
        statistic = Roc("s", "y", (0, 1), bins=size)
        truth = release(statistic, trust=Clear(table))
        runs = 3 if quick else 100 if size < 2**12 else 30
        for epsilon in EPSILONS:
            privacy = PureDP(epsilon)
            half = design_path(
                size, privacy=PureDP(privacy.epsilon / 2), adjacency=Adjacency.REPLACE, constants="paper"
            )
            split = Roc("s", "y", (0, 1), bins=size, method=half, budget="split", smooth="least_squares")
            ours = mean_errors(statistic, trust, truth, privacy, runs)
            theirs = mean_errors(split, trust, truth, privacy, runs)
            for name, words in (("l1", "1-norm error"), ("auc", "AUC error")):
                target = RATIO * theirs[name] if name == "l1" and epsilon == 1 else None
                rows.append(
                    row(
                        f"ROC, bank-full, N={size}, {privacy}",
                        words,
                        "",
                        ours[name],
                        runs=runs,
                        target=None if target is None else float(f"{target:.4g}"),
                        larger_is_better=False,
                        peer=PAPER,
                        peer_value=theirs[name],
                    )
                )
            rows.append(
                row(
                    f"ROC, bank-full, AUC alone, N={size}, {privacy}",
                    "AUC error",
                    "",
                    alone(table, size, privacy, runs),
                    runs=runs,
                    larger_is_better=False,
                    peer=CURVE,
                    peer_value=ours["auc"],
                )
            )
        seconds = best_time(lambda statistic=statistic: release(statistic, trust=trust, privacy=PureDP(1)))
        rows.append(row(f"ROC release, 45211 records, N={size}", "time", "ms", 1000 * seconds, runs=5))
        estimate = release(statistic, trust=trust, privacy=PureDP(1))
        again = type(estimate).from_dict
        data = estimate.to_dict()
        seconds = best_time(lambda data=data, again=again: again(data).auc_interval(), runs=3)
        rows.append(row(f"ROC interval of the area, N={size}", "time", "ms", 1000 * seconds, runs=3))
    record(rows, quick=quick)


if __name__ == "__main__":
    main()
