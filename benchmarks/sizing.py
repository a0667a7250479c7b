"""What releases need from 10^3 to 10^10 records under each trust model: seconds, memory, bytes and error.

    python benchmarks/sizing.py [--quick] [NAME ...]

For each model a release is measured at four numbers of records. A straight line through the first two, a fixed part
and one that grows with the records, gives the seconds of any number; the others check it. Each release has a process
of its own, after a small one that compiles, and its seconds are processor time of everybody together: simulated
parties, servers, owners and pairs run in that process. Errors are those of `ogive plan`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import record, row
from sizing_tables import ERROR, MEMORY, SENT, TIME

import ogive
from ogive.crypto.twoparty import pair_bytes
from ogive.local.base import HEADER_BYTES
from ogive.privacy import Adjacency
from ogive.queries import PairsQuery, ReportsQuery
from ogive.releasing.planning.predict import Planner

BOUNDS, BINS = (0, 100), 1024
PRIVACY = ogive.PureDP(1)
CURVE = ogive.Ecdf("x", bounds=BOUNDS, bins=BINS)
GINI = ogive.Ustatistic("x", "gini", bounds=BOUNDS)
PARTIES = 10
WARM = 500
CHUNK = 1 << 20
FITTED = 2
PLANNED = tuple(10**power for power in range(3, 11))


class Model(NamedTuple):
    """One way to keep records.

    Fields:
        title: Of its rows.
        sizes: Numbers of records that are measured; the first two give the line.
        release: Releases so many records, which lie in a folder where that is natural; returns its seconds.
        statistic: What is released.
        trust: What is planned with.
        error: Of the plan's errors.
    """

    title: str
    sizes: tuple[int, int, int, int]
    release: Callable[[int, Path], float]
    statistic: Any
    trust: Any
    error: str = "ks"


def timed(work: Callable[[], object]) -> float:
    """Seconds of processor time."""
    start = time.process_time()
    work()
    return time.process_time() - start


def write_parquet(path: Path, records: int) -> None:
    """A file of one column, written piece by piece."""
    rng = np.random.default_rng(1)
    with pq.ParquetWriter(path, pa.schema([("x", pa.float64())])) as writer:
        for start in range(0, records, CHUNK):
            writer.write_table(pa.table({"x": rng.uniform(*BOUNDS, min(CHUNK, records - start))}))


def central(records: int, folder: Path) -> float:
    """A file of Parquet."""
    path = folder / "x.parquet"
    write_parquet(path, records)
    return timed(lambda: ogive.Session(path, limit=PRIVACY).ecdf("x", bounds=BOUNDS, bins=BINS, privacy=PRIVACY))


def engine(records: int, folder: Path) -> float:
    """A table of DuckDB."""
    write_parquet(folder / "x.parquet", records)
    with duckdb.connect(str(folder / "x.duckdb")) as connection:
        connection.execute(f"CREATE TABLE people AS SELECT * FROM '{folder / 'x.parquet'}'")
    address = f"duckdb:///{folder / 'x.duckdb'}?table=people"
    return timed(lambda: ogive.Session(address, limit=PRIVACY).ecdf("x", bounds=BOUNDS, bins=BINS, privacy=PRIVACY))


def simulated(trust: Any) -> Callable[[int, Path], float]:
    """Everybody in one process, with records in memory."""

    def release(records: int, folder: Path) -> float:
        x = np.random.default_rng(1).uniform(*BOUNDS, records)
        return timed(lambda: ogive.ecdf(x, bounds=BOUNDS, bins=BINS, trust=trust, privacy=PRIVACY))

    return release


def pairs(records: int, folder: Path) -> float:
    """Everybody in one process."""
    x = np.random.default_rng(1).uniform(*BOUNDS, records)
    return timed(lambda: ogive.ustatistic(x, "gini", bounds=BOUNDS, trust=ogive.Pairs, privacy=PRIVACY))


SECAGG = ogive.Simulation(ogive.SecAgg, parties=PARTIES)
SERVERS = ogive.Simulation(ogive.Servers, upload="keys")
MODELS = {
    "central": Model("central, a file", (10**6, 10**7, 3 * 10**6, 10**8), central, CURVE, ogive.Central),
    "engine": Model("central, DuckDB", (10**6, 10**7, 3 * 10**6, 10**8), engine, CURVE, ogive.Central),
    "secagg": Model("secagg, 10 parties", (10**5, 10**6, 3 * 10**5, 10**7), simulated(SECAGG), CURVE, SECAGG),
    "servers": Model("servers, two", (10**3, 10**4, 3 * 10**3, 10**5), simulated(SERVERS), CURVE, SERVERS),
    "local": Model("local", (10**5, 10**6, 3 * 10**5, 10**7), simulated(ogive.Local), CURVE, ogive.Local),
    "pairs": Model("pairs", (10**4, 10**5, 3 * 10**4, 3 * 10**5), pairs, GINI, ogive.Pairs, "value"),
}


def measured(model: Model, records: int) -> dict[str, float]:
    """Seconds and memory of one release, in this process, beyond what a small one needs."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "small").mkdir()
        model.release(WARM, Path(folder) / "small")
        seconds = model.release(records, Path(folder))
    return {"seconds": seconds, "MB": largest_memory()}


def largest_memory() -> float:
    """MB of this process; what the process before it had does not count, as it does for `getrusage`."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"))
    assert found is not None, "Linux says it"
    return int(found[1]) / 1024


def in_a_process(name: str, records: int) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--one", name, str(records)]
    found: dict[str, float] = json.loads(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    )
    return found


def rows_of(name: str, model: Model, *, quick: bool) -> list[dict[str, Any]]:
    """What was measured, what the line says of it, and the errors that are planned."""
    sizes = [size // 10 for size in model.sizes] if quick else model.sizes
    found = [in_a_process(name, size) for size in sizes]
    seconds = [each["seconds"] for each in found]
    unit = (seconds[1] - seconds[0]) / (sizes[1] - sizes[0])
    fixed = seconds[0] - unit * sizes[0]
    rows = [
        row(f"sizing, {model.title}", "fixed part", "s", fixed, runs=1),
        row(f"sizing, {model.title}", "of a million records", "s", unit * 1e6, runs=1),
    ]
    for place, (size, each) in enumerate(zip(sizes, found, strict=True)):
        predicted = fixed + unit * size
        checked = place >= FITTED
        rows.append(
            row(
                f"sizing, {model.title}, {size:,} records",
                TIME,
                "s",
                each["seconds"],
                runs=1,
                peer="the line of two sizes" if checked else None,
                peer_value=predicted if checked else None,
            )
        )
        rows.append(row(f"sizing, {model.title}, {size:,} records", MEMORY, "MB", each["MB"], runs=1))
    return [*rows, *planned(model)]


def planned(model: Model) -> list[dict[str, Any]]:
    """Errors and bytes that plans foresee."""
    rows = []
    for records in PLANNED:
        plan = ogive.plan(model.statistic, privacy=PRIVACY, records=records, trust=model.trust)
        work = f"sizing, {model.title}, {records:,} records"
        rows.append(row(work, ERROR, "", plan.chosen.errors[model.error], runs=1))
        rows.append(row(work, SENT, "MB", sent(model, records, plan.chosen.traffic) / 1e6, runs=1))
    return rows


def sent(model: Model, records: int, traffic: Any) -> int:
    """Bytes that everybody together sends."""
    planner = Planner.of(model.statistic, records, Adjacency.REPLACE, None, 1, model.trust, None, None, None, None)
    (query, *_) = planner.prediction(planner.statistic, PRIVACY).queries
    if isinstance(query, PairsQuery):
        return records * query.rounds // 2 * sum(pair_bytes(query.program(query.rounds).circuit).values())
    if isinstance(query, ReportsQuery):
        return records * (HEADER_BYTES + query.oracle.payload_bytes)
    if traffic is None:
        return 0
    each = PARTIES * traffic.bytes_per_party if model.trust is SECAGG else 2 * traffic.bytes_per_server
    return int(each)


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the records")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MODELS)}")
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(measured(MODELS[asked.one[0]], int(asked.one[1]))))
        return
    for name in asked.names or MODELS:
        record(rows_of(name, MODELS[name], quick=asked.quick), quick=asked.quick)


if __name__ == "__main__":
    main()
