"""How wide intervals are beside the narrowest valid ones, how often they hold, and what plans say beside what happens.

    python benchmarks/intervals.py [--quick] [--tables 60]

Columns are those of packages (statsmodels, scikit-learn, vega_datasets, lifelines), none of them in a test of this
repository; what is not installed is named and left out. A column is a population: tables are drawn from it, and one
release is made of each. The narrowest valid interval is that of an oracle, which knows the law of the error: the
estimates of all tables less the truth, with the shift and the width that hold 95 % of them, of all numbers of a
release at once where its intervals are simultaneous. A width is the geometric mean over columns of the mean
width over that of the oracle, without columns on which every release hits the value. Coverage is the mean over
columns, and its target is 94 %.

Rows of `describe` compare errors: of the numbers of records of a group with the best linear estimate from everything
that the release measured of them and the public total, and of a group's mean with the same sum over the exact number
of records. Rows of plans are geometric means of realised over predicted errors of `auto`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from harness import record, row
from numpy.typing import NDArray

import ogive
from ogive import PureDP
from ogive.noise import KeyedSource
from ogive.releasing.planning.predict import plan_taken

Float64 = NDArray[np.float64]
Table = Mapping[str, NDArray[Any]]
Released = tuple[Any, Any, Any, Any]
"""Numbers of one release, both ends of the interval of each, and the truth."""
Work = Callable[["Column", Table, int], Released]
"""Makes the release with a number of a table of a column."""

TABLES, QUICK = 60, 20
LEAST = 94.0
QUARTERS = (0.25, 0.5, 0.75)
PRODUCTS = (30, 100, 300, 1000, 3000, 10_000)
GROUPS = ("a", "b")


@dataclass(frozen=True, eq=False)
class Column:
    """A population, and bounds that somebody who knows the subject would state."""

    name: str
    values: Float64
    bounds: tuple[float, float]

    def drawn(self, random: np.random.Generator, size: int) -> Table:
        """A table of some size from it; its two groups are alike."""
        return {"x": random.choice(self.values, size), "g": random.choice(GROUPS, size)}

    def quantiles(self, shares: Iterable[float]) -> Float64:
        """Quantiles of the population."""
        return np.quantile(self.values, list(shares), method="inverted_cdf")


def statsmodels_data(name: str) -> Any:
    """One of the tables of statsmodels."""
    return import_module(f"statsmodels.datasets.{name}").load_pandas().data


def shipped(package: str, path: str) -> Any:
    """A table that a package ships as a file, which is read without an import of the package."""
    import pandas as pd

    found = find_spec(package)
    assert found is not None
    assert found.origin is not None
    return pd.read_csv(Path(found.origin).parent / path)


SOURCES: dict[str, tuple[str, Callable[[], Any], tuple[float, float]]] = {
    "visits": ("statsmodels", lambda: statsmodels_data("randhie")["mdvis"], (0, 100)),
    "schooling": ("statsmodels", lambda: statsmodels_data("fair")["educ"], (0, 30)),
    "sea": ("statsmodels", lambda: statsmodels_data("elnino").iloc[:, 1:], (0, 50)),
    "area": ("sklearn", lambda: import_module("sklearn.datasets").load_breast_cancer().data[:, 3], (0, 5000)),
    "latitude": ("vega_datasets", lambda: shipped("vega_datasets", "_data/airports.csv")["latitude"], (-90, 90)),
    "cells": ("lifelines", lambda: shipped("lifelines", "datasets/ACTG175.csv")["cd40"], (0, 3000)),
    "tenure": ("lifelines", lambda: shipped("lifelines", "datasets/dd.csv")["duration"], (0, 100)),
}


def columns() -> list[Column]:
    """The columns of the packages that are installed; the others are named."""
    found, missing = [], set()
    for name, (package, load, bounds) in SOURCES.items():
        if find_spec(package) is None:
            missing.add(package)
            continue
        values = np.asarray(load(), float).ravel()
        found.append(Column(name, values[np.isfinite(values)], bounds))
    for package in sorted(missing):
        print(f"{package} is not installed, so its columns are left out (pip install {package})")
    return found


def scored() -> Table | None:
    """Of fair: whether there was an affair, and its probability by a logistic regression; None without statsmodels."""
    if find_spec("statsmodels") is None:
        return None
    data = statsmodels_data("fair")
    label = (data["affairs"] > 0).to_numpy().astype(int)
    features = data.drop(columns="affairs").to_numpy(float)
    features = np.column_stack([np.ones(len(features)), (features - features.mean(0)) / features.std(0)])
    weights = np.zeros(features.shape[1])
    for _ in range(20):
        score = 1 / (1 + np.exp(-features @ weights))
        slope = features.T @ (label - score)
        weights += np.linalg.solve((features.T * (score * (1 - score))) @ features, slope)
    return {"s": score, "y": label}


def oracle(errors: Float64) -> Float64:
    """Widths of the narrowest intervals that hold all numbers of 95 % of the releases, shape (numbers,)."""
    centered = errors - errors.mean(axis=0)
    spread = centered.std(axis=0)
    spread = np.maximum(spread, 0.05 * spread.max(initial=1e-300))
    largest = np.abs(centered / spread).max(axis=1)
    return np.asarray(2 * np.quantile(largest, 0.95) * spread)


def compared(releases: Iterable[Released], step: float = 0.0) -> tuple[float, float]:
    """Mean width over that of the oracle, and the share of releases all of whose intervals hold.

    The first is undefined where the oracle's intervals are not wider than a step: those of a value that many records
    share, and that every release hits.
    """
    parts = zip(*releases, strict=True)
    found, low, high, truth = (np.array([np.atleast_1d(np.asarray(each, float)) for each in part]) for part in parts)
    slack = 1e-9 * (1 + np.abs(truth))
    held = ((low <= truth + slack) & (truth - slack <= high)).all(axis=1)
    narrowest = float(np.mean(oracle(found - truth)))
    return float(np.mean(high - low)) / narrowest if narrowest > step else math.nan, float(np.mean(held))


def released(statistic: Any, table: Table, run: int, epsilon: Any = 1) -> Any:
    """One release."""
    return ogive.release(
        statistic, trust=ogive.Central(table), privacy=PureDP(epsilon), source=KeyedSource.from_seed(run)
    )


# --- The rows: a number of records, and what one release says of a table


def quantiles(shares: tuple[float, ...], *, read: bool = False, **options: Any) -> Work:
    """Quantiles with the intervals that come with them, or with those of one quantile of their curve."""

    def work(column: Column, table: Table, run: int) -> Released:
        found = released(ogive.Quantiles("x", shares, bounds=column.bounds, **options), table, run)
        ends = found.curve.quantile_interval(shares) if read else found
        return found.numbers, ends.low, ends.high, column.quantiles(shares)

    return work


def of_boxes(column: Column, table: Table, run: int) -> Released:
    """The median of one of two groups of a boxplot."""
    box = released(ogive.Boxplot("x", column.bounds, by="g", groups=GROUPS), table, run).boxes[0]
    return box.median, box.intervals.median.low, box.intervals.median.high, column.quantiles([0.5])


def of_describe(column: Column, table: Table, run: int) -> Released:
    """The median of a description."""
    found = released(ogive.Describe(("x",), bounds={"x": column.bounds}), table, run).of("x")["quantiles"]
    return found.numbers[1], found.low[1], found.high[1], column.quantiles([0.5])


def of_band(column: Column, table: Table, run: int) -> Released:
    """A whole curve and the band of the population."""
    found = released(ogive.Ecdf("x", column.bounds, bins=256), table, run)
    band = found.band(target="population")
    truth = np.searchsorted(np.sort(column.values), found.grid.thresholds, side="right") / len(column.values)
    return found.probabilities, band.low, band.high, truth


ONE = quantiles((0.5,), read=True, few="curve")
ROWS: dict[str, tuple[int, Work, float]] = {
    **{f"one quantile of a curve, n = {n}": (n, ONE, 1.25) for n in (200, 2000, 20_000)},
    "quartiles": (8000, quantiles(QUARTERS), 1.25),
    'quartiles, few="curve"': (8000, quantiles(QUARTERS, few="curve"), 1.25),
    "default median, n = 200": (200, quantiles((0.5,)), 1.25),
    "median of a group's boxplot": (4000, of_boxes, 1.3),
    "median in describe": (2000, of_describe, 1.3),
    "population band": (2000, of_band, 1.3),
}


def widths(found: list[Column], tables: int) -> list[dict[str, Any]]:
    """Width and coverage of every row of the table."""
    rows = []
    for name, (size, work, most) in ROWS.items():
        each = []
        for column in found:
            drawn = (column.drawn(np.random.default_rng([run, size]), size) for run in range(tables))
            step = 0.0 if work is of_band else 3 * (column.bounds[1] - column.bounds[0]) / 1024
            each.append(compared((work(column, table, run) for run, table in enumerate(drawn)), step))
        ratios, covered = zip(*each, strict=True)
        rows += pair(name, math.exp(float(np.nanmean(np.log(ratios)))), float(np.mean(covered)), most, tables)
        beside = zip(found, ratios, covered, strict=True)
        print(
            f"{name}: " + ", ".join(f"{column.name} {ratio:.2f} ({held:.0%})" for column, ratio, held in beside),
            flush=True,
        )
    return rows


def pair(name: str, ratio: float, covered: float, most: float, runs: int) -> list[dict[str, Any]]:
    """The two rows of an interval."""
    name = f"interval: {name}"
    width = row(name, "width over the narrowest", "times", ratio, runs=runs, target=most, larger_is_better=False)
    return [width, row(name, "coverage", "%", 100 * covered, runs=runs, target=LEAST)]


def of_scores(population: Table, tables: int, size: int = 5000) -> list[dict[str, Any]]:
    """Groups of a calibration plot, and the area under an ROC curve."""
    score, label = population["s"], population["y"]
    ranks = np.argsort(np.argsort(score, kind="stable"), kind="stable")
    positive, negative = label.sum(), (1 - label).sum()
    area = (ranks[label == 1].sum() - positive * (positive - 1) / 2) / positive / negative
    groups: list[Released] = []
    areas: list[Released] = []
    for run in range(tables):
        chosen = np.random.default_rng([run, size]).integers(len(score), size=size)
        table = {"s": score[chosen], "y": label[chosen]}
        found = released(ogive.HosmerLemeshow("s", "y"), table, run).groups
        inside = [(each.low < score) & (score <= each.high) for each in found]
        truth = [label[each].mean() if each.any() else math.nan for each in inside]
        groups.append((*zip(*((each.observed_share, *each.interval) for each in found), strict=True), truth))
        curve = released(ogive.Roc("s", "y", bounds=(0, 1), bins=256), table, run)
        areas.append((curve.auc, *curve.auc_interval(), area))
    numbers = min(len(each[3]) for each in groups)
    shown = compared(tuple(part[:numbers] for part in each) for each in groups)
    return [
        *pair("groups of a calibration plot", *shown, 1.3, tables),
        *pair("AUC", *compared(areas), 1.15, tables),
    ]


def of_groups(column: Column, tables: int, size: int = 2000) -> list[dict[str, Any]]:
    """Errors of numbers of records, of means and of shares that one description publishes, over the best."""
    asked = ogive.Describe(("x", "y"), bounds={"x": column.bounds}, values={"y": ("yes", "no")}, by="g", groups=GROUPS)
    counts, means, sums, shares = [], [], [], []
    middle = sum(column.bounds) / 2  # from which the values of a mean are counted
    for run in range(tables):
        random = np.random.default_rng([run, size])
        table = {**column.drawn(random, size), "y": np.where(random.random(size) < 0.2, "yes", "no")}
        found, inside = released(asked, table, run), table["g"] == "a"
        of = {group: [found.of("x", group)["mean"], found.of("y", group)["histogram"]] for group in GROUPS}
        both = np.array([[each.records for each in of[group]] for group in GROUPS], float)
        counts.append(np.concatenate([both[0] - inside.sum(), size - both[1] - inside.sum()]))
        mean, exact = of["a"][0], table["x"][inside].mean()
        means.append(mean.value - exact)
        sums.append(middle + (mean.value - middle) * mean.records / inside.sum() - exact)
        shares.append(100 * abs(sum(found.of("y")["histogram"].shares) - 1))
    errors = np.array(counts)
    best = 1 / math.sqrt(np.linalg.pinv(errors.T @ errors / tables).sum())
    squares = np.sqrt(np.mean(errors**2, axis=0))
    over = math.sqrt(np.mean(np.square(means)) / np.mean(np.square(sums)))
    rows = [
        (f"group n in describe, block of {name}", metric, unit, value, most)
        for name, error in (("x", squares[0]), ("y", squares[1]))
        for metric, unit, value, most in (
            ("RMSE", "records", error, 6),
            ("RMSE over the best", "times", error / best, 1.1),
        )
    ]
    rows.append(("mean of a group in describe", "RMSE over that with the exact number", "times", over, 1.05))
    rows.append(("shares of two categories", "distance of their sum from 100", "points", float(np.mean(shares)), 0.001))
    return [
        row(work, metric, unit, float(value), runs=tables, target=most, larger_is_better=False)
        for work, metric, unit, value, most in rows
    ]


# --- Plans


def of_plans(found: list[Column], runs: int) -> list[dict[str, Any]]:
    """Realised over predicted errors of a curve by `auto`."""
    unit, rows = ogive.PrivacyUnit(ogive.Adjacency.REPLACE), []
    for product in PRODUCTS:
        ratios: dict[str, list[float]] = {"ks": [], "rmse": []}
        for column in found:
            epsilon, table = Fraction(product, len(column.values)).limit_denominator(10_000), {"x": column.values}
            if epsilon > 10:
                continue
            asked = ogive.Ecdf("x", column.bounds)
            truth = ogive.release(asked, trust=ogive.Clear(table))
            planned = plan_taken(
                asked, privacy=PureDP(epsilon), records=len(column.values), unit=unit, trust=ogive.Central
            ).chosen.errors
            errors = [released(asked, table, run, epsilon).errors(truth) for run in range(runs)]
            ratios["ks"].append(float(np.mean([each["ks"] for each in errors])) / planned["ks"])
            ratios["rmse"].append(math.sqrt(np.mean([each["rmse"] ** 2 for each in errors])) / planned["rmse"])
        for name, each in ratios.items():
            middle = math.exp(float(np.mean(np.log(each))))
            work = f"predictions of auto, n * epsilon = {product}"
            rows.append(row(work, f"realised over predicted {name}", "times", middle, runs=runs))
    return rows


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="few tables, and three columns")
    parser.add_argument("--tables", type=int, default=TABLES)
    options = parser.parse_args()
    found, population = columns(), scored()
    tables = QUICK if options.quick else options.tables
    chosen = found[::3] if options.quick else found
    rows = widths(chosen, tables)
    rows += of_scores(population, tables) if population is not None else []
    # numbers of records matter most to the mean of a column that lies far from the middle of its bounds
    aside = sorted(found, key=lambda column: abs(column.values.mean() - sum(column.bounds) / 2) / np.ptp(column.bounds))
    rows += of_groups(aside[-1], 2 * tables) if found else []
    record(rows + of_plans(chosen, max(2, tables // 10)), quick=options.quick)


if __name__ == "__main__":
    main()
