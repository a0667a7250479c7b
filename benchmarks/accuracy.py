"""How accurate is `auto` on real columns? RMSE against the best single method of each cell, KS against `hat_ls`.

    python benchmarks/accuracy.py [--runs 12]

Columns are those of `auto_columns` that have at least thirty values, within bounds that somebody who knows the subject
would state, on 1024 thresholds, under pure epsilon with one record replaced. There `auto` measures what `hat_ls` does,
so both are smoothed from the same noisy answers, and ratios of their errors stray little. The best single method is the
one of `hat_ls`, `projection` and `histogram` with the smallest RMSE in that cell, which is known only afterwards.
Columns whose file is not in the data folder are left out. The page `docs/accuracy.md` gets the table of all cells.
"""

from __future__ import annotations

import argparse
import re
import zlib
from fractions import Fraction
from pathlib import Path

import numpy as np
from auto_columns import BINS, FILES, Column, Int64, columns
from harness import record, row

import ogive
from ogive.datasets import data_directory
from ogive.privacy import Adjacency
from ogive.statistics.methods.base import public_noise
from ogive.statistics.methods.choose import candidates
from ogive.statistics.methods.curve_methods import HistogramQueries, Projection
from ogive.strategies import Strategy
from ogive.strategies.smoothing import automatic_smoothing, default_smoothing, smooth

PAGE = Path(__file__).parents[1] / "docs" / "accuracy.md"
BLOCK = re.compile(r"(<!-- cells -->\n).*?(<!-- end -->)", re.DOTALL)
PRODUCTS = (30, 100, 300, 1000, 3000, 30_000)
SINGLE = ("hat_ls", "projection", "histogram")
FEWEST_VALUES = 30
Cell = dict[str, tuple[float, float]]


def chosen() -> list[Column]:
    """The columns that there are, each once: the test set of `adult` has the columns of its training set."""
    present = [name for name in FILES if any(data_directory().glob(f"{name}*.gz")) and name != "adult.test"]
    return [column for column in columns(present) if len(np.unique(column.values)) >= FEWEST_VALUES]


def cell(column: Column, product: int, runs: int) -> Cell:
    """RMSE and KS of each method on one column."""
    counts = column.counts(BINS, 1)
    records = int(counts.sum())
    privacy = ogive.PureDP(Fraction(product, records))
    terms = (BINS, privacy, Adjacency.REPLACE)
    hats, best = candidates(*terms, "hat_ls")[0], candidates(*terms)[0]
    assert hats == best, "auto measures something else here"
    random = np.random.Generator(np.random.PCG64(zlib.crc32(f"{column.name} {product}".encode())))
    found = released(hats, counts, runs, random)
    found["projection"] = released(Projection().design(*terms, 1, records), counts, runs, random)["projection"]
    found["histogram"] = released(HistogramQueries().design(*terms, 1, records), counts, runs, random)["histogram"]
    return found


def released(strategy: Strategy, counts: Int64, runs: int, random: np.random.Generator) -> Cell:
    """RMSE and KS of some releases by a strategy, smoothed as it is when it is named, and as `auto` does."""
    records, exact = int(counts.sum()), strategy.measure(counts)
    truth = np.cumsum(counts)
    squared, largest = {strategy.name: 0.0, "auto": 0.0}, {strategy.name: 0.0, "auto": 0.0}
    for _ in range(runs):
        noise = tuple(public_noise(level.law, level.nodes, random) for level in strategy.levels)
        answer = exact + strategy.spread(noise)
        kinds = {strategy.name: default_smoothing(strategy), "auto": automatic_smoothing(strategy, answer, records)}
        for name, kind in kinds.items():
            gap = (smooth(strategy, answer, total=records, kind=kind) - truth) / records
            squared[name] += float(np.mean(gap**2)) / runs
            largest[name] += float(np.abs(gap).max()) / runs
    return {name: (float(np.sqrt(squared[name])), largest[name]) for name in squared}


def ratios(found: Cell) -> dict[str, float]:
    """The errors of `auto` and of `hat_ls` as ratios."""
    best = min(found[name][0] for name in SINGLE)
    return {
        "rmse": found["auto"][0] / best,
        "hat_ls rmse": found["hat_ls"][0] / best,
        "ks": found["auto"][1] / found["hat_ls"][1],
        "excess": found["auto"][1] - found["hat_ls"][1],
    }


def mean(values: list[float]) -> float:
    """Geometric mean."""
    return float(np.exp(np.mean(np.log(values))))


def written(page: str, cells: dict[str, dict[int, dict[str, float]]], runs: int) -> str:
    """The page with the table of all cells."""
    lines = [
        f"{len(cells)} columns, {runs} releases of each method in a cell: RMSE over that of the best single method / "
        "KS over that of `hat_ls`.",
        "",
        "| column | " + " | ".join(f"n epsilon = {product:,}" for product in PRODUCTS) + " |",
        "| --- |" + " --- |" * len(PRODUCTS),
    ]
    for name, of in sorted(cells.items()):
        lines.append(
            f"| {name} | " + " | ".join(f"{of[each]['rmse']:.2f} / {of[each]['ks']:.2f}" for each in PRODUCTS) + " |"
        )
    return BLOCK.sub(lambda found: f"{found[1]}\n" + "\n".join(lines) + f"\n\n{found[2]}", page)


def rows(cells: dict[str, dict[int, dict[str, float]]], runs: int) -> list[dict[str, object]]:
    """Summaries over the columns."""
    made = []
    for product in PRODUCTS:
        of = [cell[product] for cell in cells.values()]
        work = f"accuracy of auto on {len(of)} columns, n epsilon = {product}"
        rmse, plain = [each["rmse"] for each in of], [each["hat_ls rmse"] for each in of]
        ks = [each["ks"] for each in of]
        for metric, value, target, peer in (
            ("RMSE, times the best single method's, geometric mean", mean(rmse), 1.0, mean(plain)),
            ("RMSE, times the best single method's, worst column", max(rmse), 1.4, max(plain)),
            ("KS, times hat_ls's, geometric mean", mean(ks), None, None),
            ("KS, times hat_ls's, worst column", max(ks), 1.5, None),
            ("KS above hat_ls's, worst column", max(each["excess"] for each in of), 0.15, None),
        ):
            made.append(
                row(
                    work,
                    metric,
                    "",
                    value,
                    runs=runs,
                    target=target,
                    larger_is_better=False,
                    peer=None if peer is None else "hat_ls",
                    peer_value=peer,
                )
            )
    return made


def main() -> None:
    """Measure every column."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=12, help="releases of a method in a cell")
    runs = parser.parse_args().runs
    cells: dict[str, dict[int, dict[str, float]]] = {}
    for column in chosen():
        cells[column.name] = {product: ratios(cell(column, product, runs)) for product in PRODUCTS}
        told = ", ".join(
            f"{product}: {each['rmse']:.2f} / {each['ks']:.2f}" for product, each in cells[column.name].items()
        )
        print(column.name, told, flush=True)
    record(rows(cells, runs))
    PAGE.write_text(written(PAGE.read_text(), cells, runs))


if __name__ == "__main__":
    main()
