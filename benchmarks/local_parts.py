"""Reports added up in parts: one process, a pool of processes, and Spark on this machine.

    python benchmarks/local_parts.py [--quick]

All come to the same sums, which is checked. Spark has two workers in one machine; its start and its first, small task
are not counted.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from harness import measure_in_folder, row

import ogive
from ogive.local import Collection, Description, Part, Randomizer, add_part, divide, map_on_spark, merge_parts

REPORTS, CHUNK = 20_000_000, 1_000_000
ONE = "one process"


def write_reports(path: Path, reports: int) -> Description:
    """A file of reports of as many people."""
    curve = ogive.Ecdf("age", bounds=(0, 120), bins=64)
    asked = ogive.describe_collection(curve, privacy=ogive.PureDP(1), participants=reports, title="Ages")
    study, rng = Description.of(asked), np.random.default_rng(1)
    randomizer = Randomizer(study)
    with path.open("wb") as file:
        for start in range(0, reports, CHUNK):
            ages = rng.uniform(0, 120, min(CHUNK, reports - start))
            file.write(randomizer.reports(ages, first=start))
    return study


def on_a_pool(pool: ProcessPoolExecutor, parts: list[Part]) -> Collection:
    """By two processes."""
    return merge_parts(parts, pool.map(add_part, parts))


def measured(folder: Path, *, reports: int) -> list[dict[str, Any]]:
    """All rows of the table."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    path = folder / "ages.reports"
    study = write_reports(path, reports)
    parts = divide(study, [path], reports=reports // 10)
    small = divide(study, [path], reports=reports)[:1]
    session = SparkSession.builder.master("local[2,4]").config("spark.ui.enabled", "false").getOrCreate()

    def alone() -> Collection:
        found = Collection(study)
        found.add(path)
        return found

    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        ways: dict[str, Callable[[], Collection]] = {
            ONE: alone,
            "a pool of 2 processes": lambda: on_a_pool(pool, parts),
            "Spark, 2 workers": lambda: merge_parts(parts, map_on_spark(session, add_part, parts)),
        }
        on_a_pool(pool, small)
        seconds: dict[str, float] = {}
        digests = set()
        for _ in range(2):
            for name, work in ways.items():
                start = time.perf_counter()
                digests.add(work().digest())
                seconds[name] = min(seconds.get(name, float("inf")), time.perf_counter() - start)
        assert len(digests) == 1
    session.stop()
    return [
        row(
            f"parts of {reports:,} reports, {name}",
            "elapsed time",
            "s",
            seconds[name],
            runs=2,
            peer=None if name == ONE else ONE,
            peer_value=None if name == ONE else seconds[ONE],
        )
        for name in ways
    ]


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the reports")
    quick = parser.parse_args().quick
    reports = REPORTS // 10 if quick else REPORTS
    measure_in_folder(lambda folder: measured(folder, reports=reports), quick=quick)


if __name__ == "__main__":
    main()
