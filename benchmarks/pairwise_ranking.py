"""AUC of scores learnt privately from pairs, beside two learners without noise, for docs/pairwise.md.

    python benchmarks/pairwise_ranking.py [--quick]

The bank's customers and the adult census; two thirds of the records are learnt from, the AUC is that of the others.
Numbers are clipped to round public bounds, and every value of a category has a column of 0 and 1. The mean over
so many fits with noise, and in brackets their standard deviation.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import ogive
from ogive.datasets import data_directory
from ogive.noise import KeyedSource

BANK = {"age": (18, 95), "balance": (-2000, 10_000), "day": (1, 31), "duration": (0, 1500), "campaign": (1, 10),
        "pdays": (-1, 400), "previous": (0, 10)}  # fmt: skip
ADULT = {"age": (17, 90), "education_num": (1, 16), "gain": (0, 20_000), "loss": (0, 3000), "hours": (1, 80)}
ADULT_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital", "occupation", "relationship", "race", "sex",
    "gain", "loss", "hours", "country", "income",
)  # fmt: skip
EPSILONS = ("0.1", "1", "3")
REPORTED = ("1", "4", "16")
DELTA = "1e-6"


def table(columns: Mapping[str, Any], numbers: Mapping[str, tuple[float, float]], rest: Sequence[str]) -> np.ndarray:
    """Features in [-1, 1]: numbers between their bounds, and a column for every value of the rest."""
    found = []
    for name, (low, high) in numbers.items():
        found.append(np.clip((np.asarray(columns[name], float) - low) / (high - low) * 2 - 1, -1, 1))
    for name in rest:
        values = np.asarray(columns[name])
        found += [(values == value) * 1.0 for value in sorted(set(values.tolist()))]
    return np.column_stack(found)


def data() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, features and labels."""
    bank = ogive.datasets.bank().to_pydict()
    rest = [name for name in bank if name not in BANK and name != "y"]
    yield "bank, accepted", table(bank, BANK, rest), np.array(bank["y"]) == "yes"
    with gzip.open(data_directory() / "adult.data.gz", "rt") as lines:
        rows = [line.strip().split(", ") for line in lines if line.strip()]
    adult = dict(zip(ADULT_COLUMNS, zip(*rows, strict=True), strict=True))
    rest = ["workclass", "marital", "occupation", "relationship", "race", "sex"]
    yield "adult, above 50,000", table(adult, ADULT, rest), np.array(adult["income"]) == ">50K"


def made(records: int) -> tuple[str, np.ndarray, np.ndarray]:
    """Name, features and labels of records with eight even features and a logistic law of labels."""
    random = np.random.default_rng(1)
    features = random.uniform(-1, 1, (records, 8))
    return "made", features, features @ [3, -1.5, 0.75, 0, 0, 1.5, -3, 0.5] + random.logistic(size=records) > 0


def main() -> None:
    """Print a row for each table: of a curator, then of reports."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two fits instead of ten")
    runs = 2 if parser.parse_args().quick else 10
    print("| records | features | logistic regression | without noise |", *(f"epsilon {each} |" for each in EPSILONS))
    tables = list(data())
    for name, features, labels in tables:
        learn = np.arange(len(labels)) % 3 > 0
        first, last = (features[learn], labels[learn]), (features[~learn], labels[~learn])
        model = LogisticRegression(max_iter=1000).fit(*first)
        cells = [f"{roc_auc_score(last[1], model.decision_function(last[0])):.3f}"]
        options = {"bounds": (-1, 1), "classes": (False, True)}
        cells += [f"{ogive.PairwiseRanker(**options, trust=ogive.Clear).fit(*first).score(*last):.3f}"]
        for epsilon in EPSILONS:
            ranker = ogive.PairwiseRanker(**options, privacy=ogive.ApproxDP(epsilon, DELTA))
            found = [ranker.fit(*first, source=KeyedSource.from_seed(seed)).score(*last) for seed in range(runs)]
            cells += [f"{np.mean(found):.3f} ({np.std(found):.3f})"]
        print(f"| {name}, {learn.sum():,} of {len(labels):,} | {features.shape[1]} |", *(f"{cell} |" for cell in cells))
    print("| records | features | without noise, one step |", *(f"epsilon {each} |" for each in REPORTED))
    for name, features, labels in (*tables, made(150_000)):
        learn = np.arange(len(labels)) % 3 > 0
        first, last = (features[learn], labels[learn]), (features[~learn], labels[~learn])
        options = {"bounds": (-1, 1), "classes": (False, True)}
        cells = [f"{ogive.PairwiseRanker(**options, steps=1, trust=ogive.Clear).fit(*first).score(*last):.3f}"]
        for epsilon in REPORTED:
            ranker = ogive.PairwiseRanker(**options, privacy=ogive.ApproxDP(epsilon, DELTA), trust=ogive.Local)
            found = [ranker.fit(*first, source=KeyedSource.from_seed(seed)).score(*last) for seed in range(runs)]
            cells += [f"{np.mean(found):.3f} ({np.std(found):.3f})"]
        print(f"| {name}, {learn.sum():,} of {len(labels):,} | {features.shape[1]} |", *(f"{cell} |" for cell in cells))


if __name__ == "__main__":
    main()
