"""Files of Parquet with many rows: a whole release of one column into 2^15 bins, against DuckDB's own group-by.

    python benchmarks/many_rows.py [--quick] [--folder DIR]

Rows lie in parts of 10^8, which are written one after the other and removed in the end: 10^9 rows take some 9 GB of
disk. Each measurement is a process of its own, which reads files that were read before, so that the disk's speed is not
measured. The release has no account, so no fingerprint is taken; `docs/engines.md` has what that takes.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import record, row

import ogive

BINS = 1 << 15
LOW, HIGH = 0, 100
PART, GROUP = 10**8, 1 << 20
SIZES = (10**7, 10**8, 10**9)
WORST_RATIO = 1.2
PEER = "duckdb"


def write_part(path: Path, rows: int, seed: int) -> None:
    """One column of numbers that are even over the bounds."""
    rng = np.random.default_rng(seed)
    with pq.ParquetWriter(path, pa.schema([("x", pa.float64())]), compression="zstd", use_dictionary=False) as writer:
        for start in range(0, rows, GROUP):
            writer.write_table(pa.table({"x": rng.uniform(LOW, HIGH, min(GROUP, rows - start))}))


def ours(folder: Path) -> int:
    """A release of the column; returns the number of rows."""
    curve = ogive.Ecdf("x", bounds=(LOW, HIGH), bins=BINS)
    return ogive.release(curve, trust=ogive.Central(folder), privacy=ogive.PureDP(1)).total


def peers(folder: Path) -> int:
    """DuckDB's group-by of the bins, without any guard."""
    cell = f"CAST(ceil((x - {LOW}) * {(BINS - 1) / (HIGH - LOW)!r}) AS BIGINT)"
    found = (
        duckdb.connect().sql(f"SELECT {cell} AS bin, count(*) AS n FROM '{folder}/*.parquet' GROUP BY bin").fetchnumpy()
    )
    return int(found["n"].sum())


WAYS = {"ours": ours, "peers": peers}


def timed(way: str, folder: Path) -> dict[str, float]:
    """Of this process, after a small release that compiles."""
    WAYS[way](folder / "small")
    elapsed, processor = time.perf_counter(), time.process_time()
    rows = WAYS[way](folder / "all")
    taken = {"elapsed": time.perf_counter() - elapsed, "processor": time.process_time() - processor, "rows": rows}
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"))
    assert found is not None, "Linux says it"
    return taken | {"MB": int(found[1]) / 1024}


def in_a_process(way: str, folder: Path) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--one", way, str(folder)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, float] = json.loads(said.splitlines()[-1])
    return found


def measured(folder: Path, sizes: tuple[int, ...], runs: int) -> list[dict[str, Any]]:
    """All rows of the table."""
    for name in ("small", "all"):
        (folder / name).mkdir()
    write_part(folder / "small" / "part.parquet", 1000, 0)
    found, written = [], 0
    for size in sizes:
        while written < size:
            more = min(PART, size - written)
            write_part(folder / "all" / f"part{written:011d}.parquet", more, written)
            written += more
        taken: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
        for way in list(WAYS) * runs:
            taken[way].append(in_a_process(way, folder))
        assert {each["rows"] for way in taken.values() for each in way} == {size}
        best = {
            metric: {way: min(each[metric] for each in several) for way, several in taken.items()}
            for metric in ("elapsed", "processor", "MB")
        }
        target = WORST_RATIO * best["elapsed"]["peers"] if size == PART else None
        for metric, name in (("elapsed", "elapsed time"), ("processor", "processor time"), ("MB", "largest memory")):
            found.append(
                row(
                    f"Parquet, {size:,} rows, whole release of a column",
                    name,
                    "MB" if metric == "MB" else "s",
                    best[metric]["ours"],
                    runs=runs,
                    target=target if metric == "elapsed" else None,
                    larger_is_better=False,
                    peer=PEER,
                    peer_value=best[metric]["peers"],
                )
            )
    return found


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="10^6 and 10^7 rows")
    parser.add_argument("--folder", type=Path, help="where the files are made; a temporary one by default")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(timed(asked.one[0], Path(asked.one[1]))))
        return
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        sizes = (10**6, 10**7) if asked.quick else SIZES
        record(measured(Path(folder), sizes, 2), quick=asked.quick)


if __name__ == "__main__":
    main()
