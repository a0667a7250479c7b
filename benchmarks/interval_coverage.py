"""How often intervals at 95 % hold what they are of: the population, and the records themselves.

    python benchmarks/interval_coverage.py [--quick] [--tables 300]

Tables are drawn from known populations, one release is made of each, and its interval is compared with the number of
the population and with that of the table, which numpy computes. Epsilon falls with the number of records, so that noise
and sampling are of similar size everywhere. The control is an interval that leaves the noise out: that of a release
without noise, moved to the private number. It has to fail, so its row has reached its target where its coverage is
below.

A target is 95 % less 2.33 standard errors of a share of so many tables; a coverage of exactly 95 % is below it once
in 100 rows.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from harness import record, row
from numpy.typing import ArrayLike, NDArray
from scipy import stats

import ogive
from ogive import PureDP
from ogive.noise import KeyedSource

Float64 = NDArray[np.float64]
Table = Mapping[str, NDArray[Any]]
Ends = tuple[ArrayLike, ArrayLike, ArrayLike]
"""Some numbers and both ends of the interval of each, which hold all of them at once."""

TABLES, QUICK = 300, 30
LEVEL = 0.95
SIZES = {40: "1", 400: "0.3", 4000: "0.1"}
"""Epsilon by the number of records."""
TOP = 100
SHARES = (0.25, 0.5, 0.75)
PEOPLE, SAMPLE, CONTROL = "of the population", "of these records", "control: noise left out"


def gamma(scale: float) -> Any:
    """Whole numbers from 1 to 100: a gamma variable of shape 2, rounded up and cut off."""
    steps = np.arange(TOP + 1)
    below = np.append(stats.gamma.cdf(steps[:-1], 2, scale=scale), 1.0)
    return stats.rv_discrete(values=(steps[1:], np.diff(below)))


VALUES, OTHERS = gamma(10), gamma(13)
POSITIVE, DISTANCE, RARE = 0.3, 1.0, 0.05


def values(random: np.random.Generator, size: int) -> Table:
    """One column of values."""
    return {"x": VALUES.rvs(size=size, random_state=random).astype(float)}


def classes(random: np.random.Generator, size: int) -> Table:
    """A label, and a score that is normal and larger by 1 in one class."""
    label = (random.random(size) < POSITIVE).astype(int)
    label[:2] = 0, 1  # an area needs both classes
    return {"y": label, "s": np.clip(random.normal(size=size) + DISTANCE * label, -4, 5)}


def events(random: np.random.Generator, size: int) -> Table:
    """A rare event."""
    return {"y": (random.random(size) < RARE).astype(int)}


def wards(random: np.random.Generator, size: int) -> Table:
    """Values of two groups, of other distributions."""
    ward = np.where(random.random(size) < 0.5, "a", "b")
    one, other = (each.rvs(size=size, random_state=random) for each in (VALUES, OTHERS))
    return {"x": np.where(ward == "a", one, other).astype(float), "ward": ward}


def of_number(found: Any, target: str) -> Ends:
    """A mean, proportion, count or sum."""
    return found.value, *zip(found.interval() if target == PEOPLE else found.noise_interval(), strict=False)


def of_quantiles(found: Any, target: str) -> Ends:
    """Some quantiles, read off a curve."""
    ends = found.curve.quantile_interval(SHARES, target="population" if target == PEOPLE else "sample")
    return found.numbers, ends.low, ends.high


def of_curve(found: Any, target: str) -> Ends:
    """A whole distribution function."""
    band = found.band(LEVEL, target="population" if target == PEOPLE else "sample")
    return found.probabilities, band.low, band.high


def of_area(found: Any, target: str) -> Ends:
    """The area under an ROC curve."""
    return found.auc, *found.auc_interval(LEVEL, target="population" if target == PEOPLE else "sample")


def of_difference(found: Any, target: str) -> Ends:
    """The difference of the means of two groups."""
    contrast = found.difference("a", "b")
    return contrast.value, contrast.low, contrast.high


def area(table: Table) -> float:
    """The share of pairs in the right order."""
    positive, negative = (table["s"][table["y"] == each] for each in (1, 0))
    return float(np.mean(np.sign(positive[:, None] - negative) / 2 + 0.5))


@dataclass(frozen=True)
class Case:
    """A statistic whose intervals are tried.

    Fields:
        statistic: What is released.
        draw: Makes a table of some number of records.
        ends: Reads numbers and intervals off an estimate.
        people: Numbers of the population; None where there are none.
        sample: Numbers of a table; None where there is no interval for them.
    """

    statistic: Any
    draw: Callable[[np.random.Generator, int], Table]
    ends: Callable[[Any, str], Ends]
    people: ArrayLike | None
    sample: Callable[[Table], ArrayLike] | None


BOUNDS, GRID = (0, TOP), np.arange(TOP + 1)
CASES = {
    "mean": Case(ogive.Mean("x", BOUNDS), values, of_number, VALUES.mean(), lambda t: t["x"].mean()),
    "proportion": Case(ogive.Proportion("y"), events, of_number, RARE, lambda t: t["y"].mean()),
    "count": Case(ogive.Count("y", among=1), events, of_number, None, lambda t: t["y"].sum()),
    "sum": Case(ogive.Sum("x", BOUNDS), values, of_number, None, lambda t: t["x"].sum()),
    "quartiles": Case(
        ogive.Quantiles("x", SHARES, bounds=BOUNDS, grid="integers"),
        values,
        of_quantiles,
        VALUES.ppf(SHARES),
        lambda t: np.quantile(t["x"], SHARES, method="inverted_cdf"),
    ),
    "AUC": Case(
        ogive.Roc("s", "y", bounds=(-4, 5), bins=64), classes, of_area, stats.norm.cdf(DISTANCE / math.sqrt(2)), area
    ),
    "difference of two means": Case(
        ogive.Grouped(ogive.Mean("x", BOUNDS), "ward", ("a", "b")),
        wards,
        of_difference,
        VALUES.mean() - OTHERS.mean(),
        None,
    ),
    "ecdf": Case(
        ogive.Ecdf("x", BOUNDS, grid="integers"),
        values,
        of_curve,
        VALUES.cdf(GRID),
        lambda t: np.searchsorted(np.sort(t["x"]), GRID, side="right") / len(t["x"]),
    ),
}


def holds(ends: Ends, truth: ArrayLike) -> bool:
    """Whether all intervals hold their number."""
    _, low, high = (np.asarray(each, float) for each in ends)
    slack = 1e-9 * (1 + np.abs(truth))  # a share of a curve and its end may be the same number, computed otherwise
    return bool(np.all((low <= truth + slack) & (truth - slack <= high)))


def moved(exact: Ends, private: Ends) -> Ends:
    """The intervals of numbers without noise, around those with noise."""
    by = np.asarray(private[0], float) - np.asarray(exact[0], float)
    return private[0], np.asarray(exact[1], float) + by, np.asarray(exact[2], float) + by


def covered(name: str, size: int, tables: int) -> dict[str, float]:
    """The share of tables whose interval holds the number, for each thing that it is of, and for the control."""
    case, epsilon = CASES[name], SIZES[size]
    hits: dict[str, list[bool]] = {}
    for run in range(tables):
        drawn = case.draw(np.random.default_rng([size, run]), size)
        source = KeyedSource.from_seed(size * tables + run)
        found = ogive.release(case.statistic, trust=ogive.Central(drawn), privacy=PureDP(epsilon), source=source)
        target = SAMPLE if case.people is None else PEOPLE
        exact = case.ends(ogive.release(case.statistic, trust=ogive.Clear(drawn)), target)
        truths = {} if case.people is None else {PEOPLE: case.people}
        truths |= {} if case.sample is None else {SAMPLE: case.sample(drawn)}
        for each, truth in truths.items():
            hits.setdefault(each, []).append(holds(case.ends(found, each), truth))
        hits.setdefault(CONTROL, []).append(holds(moved(exact, case.ends(found, target)), truths[target]))
    return {each: float(np.mean(found)) for each, found in hits.items()}


def rows_of(work: tuple[str, int], tables: int) -> list[dict[str, Any]]:
    """A row for each thing that the interval is of."""
    name, size = work
    least = LEVEL - 2.33 * math.sqrt(LEVEL * (1 - LEVEL) / tables)
    label = f"coverage of 95 % intervals, {name}, n = {size}, epsilon = {SIZES[size]}"
    return [
        row(
            label,
            metric,
            "%",
            100 * share,
            runs=tables,
            target=round(100 * least, 1),
            larger_is_better=metric != CONTROL,
        )
        for metric, share in covered(name, size, tables).items()
    ]


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="few tables")
    parser.add_argument("--tables", type=int, default=TABLES)
    options = parser.parse_args()
    tables = QUICK if options.quick else options.tables
    with ProcessPoolExecutor(2) as pool:
        found = [each for some in pool.map(partial(rows_of, tables=tables), product(CASES, SIZES)) for each in some]
    record(found, quick=options.quick)


if __name__ == "__main__":
    main()
