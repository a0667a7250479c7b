"""CSV files: counts of a column and whole releases, against DuckDB's own group-by over the same file.

    python benchmarks/files.py [--quick] [--rows N]

The peer is told what ogive is told: the names, the type of the measured column, and that all others are text. Both use
all cores. Runs of the two alternate, and the best of each is taken.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
from harness import measure_in_folder, row

import ogive
from ogive.columns import Binning, Label
from ogive.columns.grids import Grid
from ogive.queries import Aggregate, ClassBinning
from ogive.records import Records

BINS = 1 << 15
LOW, HIGH = -50, 150
GRID = Grid.linear(LOW, HIGH, bins=BINS)
RUNS = 10
WORST_RATIO = 1.2


class Seconds(NamedTuple):
    """Of one run."""

    elapsed: float
    processor: float


def alternating(works: dict[str, Callable[[], object]], runs: int) -> dict[str, Seconds]:
    """The best times of several works, which take turns; a first turn for caches is not counted."""
    best = dict.fromkeys(works, Seconds(float("inf"), float("inf")))
    for turn in range(runs + 1):
        for name, work in works.items():
            elapsed, processor = time.perf_counter(), time.process_time()
            work()
            taken = Seconds(time.perf_counter() - elapsed, time.process_time() - processor)
            if turn:
                best[name] = Seconds(*map(min, best[name], taken))
    return best


def write_people(path: Path, rows: int) -> None:
    """A table of five columns; a tenth of the waits are written as NA."""
    generator = np.random.default_rng(1)
    ages = np.round(generator.normal(50, 15, rows), 6)
    people = pa.table(
        {
            "id": np.arange(rows),
            "age": ages,
            "ward": generator.integers(0, 8, rows),
            "sick": pa.array(np.array(["no", "yes"])[generator.integers(0, 2, rows)]),
            "wait": pa.array(ages, mask=generator.random(rows) < 0.1),
        }
    )
    target = str(path).replace("'", "''")
    engine = duckdb.connect()
    engine.from_arrow(people).create("people")
    engine.sql("SELECT * REPLACE (coalesce(CAST(wait AS VARCHAR), 'NA') AS wait) FROM people").write_csv(target)


def grouped(path: Path, column: str, *, by: str = "", nullstr: str = "") -> Callable[[], object]:
    """DuckDB's own group-by of a column's bins, of those of each class where one is named."""
    types = dict.fromkeys(("id", "age", "ward", "sick", "wait"), "VARCHAR") | {column: "DOUBLE"}
    target = str(path).replace("'", "''")
    options = f"delim = ',', header = true, auto_detect = false, nullstr = '{nullstr}'"
    scan = f"read_csv('{target}', columns = {types}, {options})"
    place = f"ceil(({column} - {LOW}) * {(BINS - 1) / (HIGH - LOW)!r})"
    cell = f"CAST(coalesce(least(greatest({place}, 0), {BINS - 1}), 0) AS BIGINT)"
    classes = f", {by}" if by else ""
    query = f"SELECT {cell} AS bin{classes}, count(*) FROM {scan} GROUP BY bin{classes}"
    return lambda: duckdb.connect().sql(query).fetchnumpy()


def counted(path: Path, aggregate: Aggregate) -> Callable[[], object]:
    """The same by ogive."""
    return lambda: Records.of(path).aggregate(aggregate)


def measured(folder: Path, *, rows: int, runs: int) -> list[dict[str, Any]]:
    """All rows of the table."""
    path = folder / "people.csv"
    write_people(path, rows)
    age, wait = Binning("age", GRID), Binning("wait", GRID, missing="low")
    curve = ogive.Ecdf("age", bounds=(LOW, HIGH), bins=BINS)
    group_by = grouped(path, "age")
    cases = {
        "counts of a column": (counted(path, age), group_by),
        "whole release of a column": (
            lambda: ogive.release(curve, trust=ogive.Central(path), privacy=ogive.PureDP(1)),
            group_by,
        ),
        "counts of a column per class": (
            counted(path, ClassBinning(age, Label("sick", positive=("yes",), negative=("no",)))),
            grouped(path, "age", by="sick"),
        ),
        "counts of a column with words for missing": (counted(path, wait), grouped(path, "wait", nullstr="NA")),
    }
    found = []
    for name, (ours, peers) in cases.items():
        best = alternating({"ours": ours, "peers": peers}, runs)
        for metric in Seconds._fields:
            value, peer_value = (getattr(best[each], metric) for each in ("ours", "peers"))
            found.append(
                row(
                    f"CSV, {rows:,} rows of 5 columns, {name}",
                    f"{metric} time",
                    "s",
                    value,
                    runs=runs,
                    target=float(f"{WORST_RATIO * peer_value:.3g}"),
                    larger_is_better=False,
                    peer="duckdb",
                    peer_value=peer_value,
                )
            )
    return found


def main() -> None:
    """Measure and record; a quick run prints alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, printed and not recorded")
    parser.add_argument("--rows", type=int, default=5_000_000)
    asked = parser.parse_args()
    rows, runs = (asked.rows // 10, 3) if asked.quick else (asked.rows, RUNS)
    measure_in_folder(lambda folder: measured(folder, rows=rows, runs=runs), quick=asked.quick)


if __name__ == "__main__":
    main()
