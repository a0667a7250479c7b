"""Counting bins where the records lie: ogive's query to DuckDB against DuckDB's own group-by, for three kinds of grids.

    python benchmarks/engines.py [--quick]

The table has one column of numbers. The peer groups by the same number of bins with plain arithmetic, without any guard
for missing values, values outside and rounded thresholds. Runs of all ways alternate, and the best of each counts. The
fingerprint, which a session takes once, and what the ledger and the noise add are measured by the whole release.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
from harness import measure_in_folder, row

import ogive
from ogive.columns import Binning
from ogive.columns.grids import Grid
from ogive.records import Records

BINS = 1 << 15
ROWS = 10**8
RUNS = 3
WORST_RATIO = 1.2
PEER = "duckdb"
EVEN = "an even grid from 0 to 100"
WHOLE = "a first release with its fingerprint"


def write_table(path: Path, rows: int) -> None:
    """Numbers that are even from 0 to 100."""
    with duckdb.connect(str(path)) as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(f"CREATE TABLE people AS SELECT 100 * random() AS x FROM range({rows})")


def grouped(path: Path) -> Callable[[], object]:
    """The engine's own group-by."""
    cell = f"CAST(ceil(x * {(BINS - 1) / 100!r}) AS BIGINT)"

    def work() -> object:
        with duckdb.connect(str(path), read_only=True) as connection:
            return connection.sql(f"SELECT {cell} AS bin, count(*) AS n FROM people GROUP BY bin").fetchnumpy()

    return work


def counted(address: str, grid: Grid) -> Callable[[], object]:
    """The same by ogive: exact bins of a grid."""
    return lambda: Records.of(address).aggregate(Binning("x", grid, outside="clip"))


def released(address: str) -> Callable[[], object]:
    """A session's first release."""
    bounds, privacy = (0, 100), ogive.PureDP(1)
    return lambda: ogive.Session(address, limit=privacy).ecdf("x", bounds=bounds, bins=BINS, privacy=privacy)


def best(works: dict[str, Callable[[], object]], runs: int) -> dict[str, float]:
    """The best elapsed time of each, which take turns; a first turn is not counted."""
    found = dict.fromkeys(works, float("inf"))
    for turn in range(runs + 1):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            if turn:
                found[name] = min(found[name], time.perf_counter() - start)
    return found


def measured(folder: Path, *, rows: int, runs: int) -> list[dict[str, Any]]:
    """All rows of the table."""
    path = folder / "people.duckdb"
    write_table(path, rows)
    address = f"duckdb:///{path}?table=people"
    grids = {
        EVEN: Grid.linear(0, 100, bins=BINS),
        "an even grid from 0.1 to 97.3, whose thresholds are rounded": Grid.linear(0.1, 97.3, bins=BINS),
        "a geometric grid": Grid.geometric(0.01, 100, bins=BINS),
    }
    works = {name: counted(address, grid) for name, grid in grids.items()} | {WHOLE: released(address)}
    found = best({PEER: grouped(path), **works}, runs)
    seen = sum(Records.of(address).aggregate(Binning("x", grids[EVEN])).tolist())
    assert seen == rows
    return [
        row(
            f"DuckDB, {rows:,} rows, {name}",
            "elapsed time",
            "s",
            found[name],
            runs=runs,
            target=WORST_RATIO * found[PEER] if name == EVEN and rows == ROWS else None,
            larger_is_better=False,
            peer=PEER,
            peer_value=found[PEER],
        )
        for name in works
    ]


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="10^6 rows")
    quick = parser.parse_args().quick
    rows, runs = (10**6, 1) if quick else (ROWS, RUNS)
    measure_in_folder(lambda folder: measured(folder, rows=rows, runs=runs), quick=quick)


if __name__ == "__main__":
    main()
