"""Rows of benchmark results: measured, printed as a table, kept in results.json.

A row is {"work", "metric", "unit", "value", "peer", "peer_version", "peer_value", "ratio", "target", "reached",
"runs", "machine"}. `ratio` is ours over the peer's, measured in the same process; `target` is what ours must reach (a
speed, to be at or above it, or a time, to be at or below it). A new row replaces the old one of the same work, metric
and peer. Quick runs are printed alone. Where the variable OGIVE_BENCH_RESULTS names a file, rows of every run go there.
Benchmarks never assert. They measure a process that goes on, so loops are compiled at their first call.
"""

from __future__ import annotations

import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from ogive.core import compiling

RESULTS = Path(__file__).with_name("results.json")
NAMED_RESULTS = "OGIVE_BENCH_RESULTS"
KEYS = ("work", "metric", "peer")
USED = ("ogive", "numpy", "numba", "pyarrow", "duckdb")
"""Packages whose versions are named beside the machine's."""

compiling.PLAIN_STEPS = 0


def best_time(work: Callable[[], object], *, runs: int = 5, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of the fastest of several runs; one run before them, for compilation and caches, is not counted.

    `clock=time.process_time` counts processor time, for work on one core of a machine that others use too.
    """
    work()
    seconds = []
    for _ in range(runs):
        start = clock()
        work()
        seconds.append(clock() - start)
    return min(seconds)


def measure_in_folder(measure: Callable[[Path], list[dict[str, Any]]], *, quick: bool) -> None:
    """Measure with files in a folder that is removed afterwards, and record the rows."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        rows = measure(Path(folder))
    record(rows, quick=quick)


def version(package: str) -> str | None:
    """Installed version of a package, None if there is none."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def row(
    work: str,
    metric: str,
    unit: str,
    value: float,
    *,
    runs: int,
    target: float | None = None,
    larger_is_better: bool = True,
    peer: str | None = None,
    peer_value: float | None = None,
) -> dict[str, Any]:
    """Make one row; numbers keep four digits.

    Args:
        work: What was done, with its size.
        metric: What was measured, such as "speed".
        unit: Of the value, the peer's value and the target.
        value: Ours.
        runs: How many times it was measured.
        target: What ours should reach; None if nothing was promised.
        larger_is_better: Whether reaching means at or above the target.
        peer: Name of the peer's package.
        peer_value: The peer's, None if it is not installed.
    """
    reached = None
    if target is not None:
        reached = value >= target if larger_is_better else value <= target
    return {
        "work": work,
        "metric": metric,
        "unit": unit,
        "value": _digits(value),
        "peer": peer,
        "peer_version": version(peer) if peer else None,
        "peer_value": None if peer_value is None else _digits(peer_value),
        "ratio": None if peer_value is None else _digits(value / peer_value),
        "target": target,
        "reached": reached,
        "runs": runs,
        "machine": machine(),
    }


@cache
def machine() -> str:
    """The processor, how many of its cores may be used, the system, and the versions of what does the work."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    used = ", ".join(f"{name} {version(name)}" for name in USED)
    return (
        f"{_processor()}, {cores} cores, {platform.system()}, {platform.python_implementation()} "
        f"{platform.python_version()}, {used}"
    )


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    names = described.read_text(encoding="utf-8").splitlines() if described.exists() else []
    named = (line.partition(":")[2].strip() for line in names if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def record(rows: Iterable[dict[str, Any]], *, quick: bool = False) -> None:
    """Print rows as a table and put them into the file, each in the place of an older one or at the end.

    Args:
        rows: What was measured.
        quick: Whether it was measured with fewer runs or smaller sizes, so that it does not belong into `RESULTS`.
    """
    fresh = list(rows)
    print(table(fresh))
    named = os.environ.get(NAMED_RESULTS)
    if named or not quick:
        keep(fresh, Path(named) if named else RESULTS)


def keep(fresh: list[dict[str, Any]], path: Path) -> None:
    """Put rows into a file, each in the place of an older one or at the end."""
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    places = {tuple(old[key] for key in KEYS): place for place, old in enumerate(kept)}
    for new in fresh:
        place = places.setdefault(tuple(new[key] for key in KEYS), len(kept))
        kept[place : place + 1] = [new]
    text = "[\n" + ",\n".join("  " + json.dumps(entry) for entry in kept) + "\n]\n"
    # written beside the file and renamed, so that a reader or a crash never meets half of it
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_text(text)
    beside.replace(path)


def table(rows: Iterable[dict[str, Any]]) -> str:
    """Rows as text in columns."""
    heads = ["work", "metric", "unit", "value", "peer", "peer_value", "ratio", "target", "reached"]
    lines = [heads, *([_text(entry[head]) for head in heads] for entry in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)


def _text(value: object) -> str:
    return "-" if value is None else "yes" if value is True else "no" if value is False else str(value)


def _digits(value: float) -> float:
    return float(f"{value:.4g}")
