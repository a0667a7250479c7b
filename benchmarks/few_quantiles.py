"""What does "auto" take for 1 to 9 quantiles, and how far off is that beside the nearest method?

    python benchmarks/few_quantiles.py [--quick] [--adjacency replace] [--runs 10]

Distances are mean absolute ones of ranks, in records, over evenly spaced quantiles, releases and four shapes of
records; every method pays for its intervals. The nearest method is known only afterwards: the exponential mechanism (of
one quantile; of more it is never near), the joint selection, or the curve of "auto". Noise is the same wherever the
same is released, so a ratio of 1 says that the nearest method was taken. There are 1,024 thresholds up to 10,000
records and 65,536 beyond, where on fewer every method finds the right bins. The number of records is public, or is
guessed.

A method that is slow in some cell is released fewer times there. The page `docs/accuracy.md` gets the table of ratios.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from harness import RESULTS, record, row

import ogive
from ogive.core.arrays import Int64
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.statistics import Quantiles
from ogive.statistics.base import Terms
from ogive.trust.imagined import Imagined

PAGE = Path(__file__).parents[1] / "docs" / "accuracy.md"
BLOCK = re.compile(r"(<!-- few quantiles -->\n).*?(<!-- end -->)", re.DOTALL)
WORK = re.compile(r"few quantiles, (\d) of (\S+) records, epsilon (\S+), (\S+)")
METRIC, PEER = "mean distance of ranks", "nearest method"
QUANTILES = tuple(range(1, 10))
RECORDS = (1_000, 10_000, 100_000, 1_000_000)
EPSILONS = ("0.1", "1")
FINE = 100_000  # records from which on the grid is fine
AT_MOST = 1.1
LONGEST = 3.0  # seconds for one method of one shape


def shapes(random: np.random.Generator, records: int) -> dict[str, Any]:
    """Values in [0, 1]: evenly spread, normal, lognormal within bounds that are far away, and whole years of age."""
    return {
        "uniform": random.random(records),
        "normal": random.normal(0.5, 0.125, records),
        "lognormal": random.lognormal(-3, 1, records),
        "ages": np.floor(random.gamma(4, 10, records)) / 110,
    }


def counted(values: Any, bins: int) -> Int64:
    """Records per bin."""
    places = np.clip((values * bins).astype(np.int64), 0, bins - 1)
    return np.bincount(places, minlength=bins).astype(np.int64)


def off(statistic: Quantiles, terms: Terms, counts: Int64, run: int) -> float:
    """By how many records the quantiles of one imagined release are off, on average."""
    holder = Imagined(lambda aggregate: counts, terms.adjacency, adding=1, honest=1, run=run)
    procedure = statistic.questions(terms)
    try:
        query = next(procedure)
        while True:
            query = procedure.send(holder.answer(query))
    except StopIteration as stop:
        found = stop.value
    upto = np.concatenate(([0], np.cumsum(counts)))
    at = np.searchsorted(found.grid.thresholds, found.numbers)
    wanted = np.array(statistic.probabilities) * upto[-1]
    return float(np.maximum(0, np.maximum(upto[at] - wanted, wanted - upto[at + 1])).mean())


def asked(quantiles: int, records: int, epsilon: str, adjacency: Adjacency) -> tuple[Quantiles, Terms]:
    """What is wanted, and the terms of a release."""
    statistic = Quantiles(
        "x",
        tuple(k / (quantiles + 1) for k in range(1, quantiles + 1)),
        bounds=(0, 1),
        bins=65_536 if records >= FINE else 1_024,
        expected_records=records,
        few="selected",
    )
    unit = PrivacyUnit(adjacency)
    return statistic, Terms(ogive.PureDP(epsilon), unit, lambda query: None, simulations=0, count=lambda: records)


def taken(statistic: Quantiles, terms: Terms) -> str:
    """The method that "auto" takes."""
    method = statistic.resolved(terms).method
    return "curve" if method == "auto" else str(method)


def errors(statistic: Quantiles, terms: Terms, records: int, runs: int) -> dict[str, float]:
    """By how many records each method is off on average."""
    quantiles = len(statistic.probabilities)
    methods = {"exponential": {"method": "exponential"}, "joint": {"method": "joint"}, "curve": {"few": "curve"}}
    if quantiles > 1:
        del methods["exponential"]
    found: dict[str, list[float]] = {name: [] for name in methods}
    random = np.random.default_rng(zlib.crc32(f"{records}".encode()))
    for values in shapes(random, records).values():
        counts = counted(values, statistic.ecdf().binning().grid.bins)
        for name, options in methods.items():
            named = dataclasses.replace(statistic, **options)
            begun, each = time.process_time(), []
            while len(each) < runs and time.process_time() - begun < LONGEST:
                each.append(off(named, terms, counts, len(each) + 1))
            found[name].append(float(np.mean(each)))
    return {name: float(np.mean(each)) for name, each in found.items()}


def rows(adjacency: Adjacency, quantiles: tuple[int, ...], records: tuple[int, ...], runs: int) -> Iterator[Any]:
    """One row for each cell."""
    for epsilon in EPSILONS:
        for number in records:
            for wanted in quantiles:
                statistic, terms = asked(wanted, number, epsilon, adjacency)
                each = runs * (8 if wanted == 1 else 1)  # two methods are nearly as good
                found = errors(statistic, terms, number, each)
                best = min(found.values())
                yield row(
                    f"few quantiles, {wanted} of {number:,} records, epsilon {epsilon}, {adjacency.value}",
                    METRIC,
                    "records",
                    found[taken(statistic, terms)],
                    runs=4 * each,
                    target=float(f"{AT_MOST * best:.4g}"),
                    larger_is_better=False,
                    peer=PEER,
                    peer_value=best or None,  # there is no ratio to an error of nothing
                )


def written(page: str, results: list[dict[str, Any]]) -> str:
    """The page with the table of distances."""
    cells: dict[tuple[str, str, str], dict[int, str]] = {}
    for each in results:
        told = WORK.fullmatch(each["work"])
        if each["peer"] == PEER and told is not None:
            wanted, records, epsilon, adjacency = told.groups()
            method = taken(*asked(int(wanted), int(records.replace(",", "")), epsilon, Adjacency(adjacency)))
            ratio = 1.0 if each["ratio"] is None else each["ratio"]
            text = f"{each['value']:.3g} {method[0]}{f' ({ratio:.2f})' if ratio > 1.005 else ''}"
            cells.setdefault((adjacency, epsilon, records), {})[int(wanted)] = text
    lines = [
        "| adjacency | epsilon | records | " + " | ".join(str(number) for number in QUANTILES) + " |",
        "| --- | --- | --- |" + " --- |" * len(QUANTILES),
    ]
    for key, of in cells.items():
        lines.append(f"| {' | '.join(key)} | " + " | ".join(of.get(number, "") for number in QUANTILES) + " |")
    return BLOCK.sub(lambda found: f"{found[1]}\n" + "\n".join(lines) + f"\n\n{found[2]}", page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="some cells")
    parser.add_argument("--adjacency", choices=[each.value for each in Adjacency], help="one of them")
    parser.add_argument("--runs", type=int, default=10, help="releases of each shape")
    given = parser.parse_args()
    quick = given.quick
    for adjacency in Adjacency:
        if given.adjacency in (None, adjacency.value):
            cells = ((1, 3, 9), (1_000, 100_000), 4) if quick else (QUANTILES, RECORDS, given.runs)
            record(list(rows(adjacency, *cells)), quick=quick)
    if not quick:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), json.loads(RESULTS.read_text())), encoding="utf-8")


if __name__ == "__main__":
    main()
