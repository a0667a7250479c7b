"""What grows with use, and what a small release costs besides its work: before, in this run, and what was wanted.

    python benchmarks/growth.py [--quick] [--postgres URL] [--only WORD ...]

Every figure is processor time of this process, but for the ratio to diffprivlib and the size of a table that is
refused. Figures of before are those of the version that reviewers measured, on another machine. The first call of each
loop, which compiles or loads it, is not counted. `--postgres` names an empty database; its tables stay. `--only` runs
the parts whose names begin with a word: ledger, mean, describe, band, groups, print.
"""

from __future__ import annotations

import argparse
import logging
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from harness import best_time
from ledger import filled, spend

import ogive
from ogive import PureDP
from ogive.provenance import _library_version
from ogive.records.contributions import bins_of
from ogive.statistics.curve import bands as curve_bands
from ogive.statistics.describe import statistic as describing

Row = tuple[str, str, str, str]
"""What was done; before; in this run; wanted."""


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def took(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of one call, and what it returned."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def ledgers(folder: Path, *, quick: bool, postgres: str | None) -> Iterator[Row]:
    """Releases into accounts of 30, of some 2,000 and of a million entries."""
    many = 20_000 if quick else 1_000_000
    for place, engine in ((str(folder / "budget.db"), "SQLite"), (postgres, "PostgreSQL")):
        os.environ["OGIVE_LEDGER_MARK"] = str(folder / f"{engine}.mark")
        os.environ["OGIVE_LEDGER_KEY"] = str(folder / f"{engine}.key")
        if place is None:
            yield f"release into a ledger on {engine}", "-", "not measured: no --postgres", "12 ms"
            continue
        sizes = {"few": 30, "more": 2_020, "many": many}
        for name, entries in sizes.items():
            filled(place, name, entries)
        times: dict[str, list[float]] = {name: [] for name in sizes}
        opening, ledger = took(lambda place=place: ogive.Ledger.open(place))
        with ledger:
            accounts = {name: ledger.account(name) for name in sizes}
            for turn in range(22):
                for name, account in accounts.items():
                    times[name].append(took(lambda account=account, turn=turn: spend(account, turn))[0])
        before = {"few": "13.5 ms", "more": "43.7 ms", "many": "15 us an entry"}
        for name, entries in sizes.items():
            middle = sorted(times[name][2:])[10]
            wanted = "12 ms" if name == "many" else "-"
            yield f"release, {entries:,} entries before it, {engine}", before[name], milliseconds(middle), wanted
        yield f"opening of a ledger, {engine}", "78 ms", milliseconds(opening), "-"


def sessions(folder: Path) -> Iterator[Row]:
    """What a session shows of an account of 2,020 entries."""
    place = folder / "session.db"
    os.environ["OGIVE_LEDGER_KEY"] = str(folder / "session.key")
    filled(str(place), "more", 2_020)
    with ogive.Session({"x": np.arange(100.0)}, ledger=place, name="more") as session:
        shown = best_time(lambda: str(session), clock=time.process_time)
    yield "str(session), 2,020 entries", "185 ms", milliseconds(shown), "-"


def means() -> Iterator[Row]:
    """A mean against diffprivlib's, and how long values take to be placed."""
    try:
        tools: Any = import_module("diffprivlib.tools")
    except ImportError:
        tools = None
    for size, before in ((100_000, "51 times"), (10_000_000, "20 times, 0.85 s")):
        values = np.random.default_rng(1).normal(50, 10, size).clip(0, 100)

        def ours(values: Any = values) -> Any:
            return ogive.mean(values, bounds=(0, 100), privacy=PureDP(1))

        seconds = best_time(ours, clock=time.process_time)
        now = milliseconds(seconds)
        if tools is not None:

            def peers(values: Any = values) -> Any:
                return tools.mean(values, epsilon=1.0, bounds=(0, 100))

            now = f"{seconds / best_time(peers, clock=time.process_time):.1f} times, {now}"
        yield f"mean of {size:,} values, against diffprivlib", before, now, "-"
    grid = ogive.Grid.linear(0, 100, bins=10_000)
    seconds = best_time(lambda: bins_of(values, grid, 0), runs=3, clock=time.process_time)
    yield "placing 10,000,000 values in equal bins", "0.97 s", milliseconds(seconds), "0.18 s"


def numbers(variables: int, rows: int, groups: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """A table of normal variables and a column of groups, and what is said of it."""
    rng = np.random.default_rng(1)
    names = [f"v{number}" for number in range(variables)]
    labels = [f"g{number}" for number in range(groups)]
    table: dict[str, Any] = {name: rng.normal(50, 10, rows) for name in names}
    options = {"bounds": dict.fromkeys(names, (0, 100)), "by": "h", "groups": tuple(labels)}
    return {**table, "h": rng.choice(labels, rows)}, options


def fixed_costs() -> Iterator[Row]:
    """What a small release costs besides its work."""
    values = np.random.default_rng(1).normal(50, 10, 100)
    small = best_time(lambda: ogive.mean(values, bounds=(0, 100), privacy=PureDP(1)), runs=20, clock=time.process_time)
    share = best_time(_library_version, runs=20, clock=time.process_time) / small
    yield "version of the package, share of a mean of 100 values", "23 %", f"{100 * share:.1f} %", "-"
    spent: list[float] = []
    checked = describing.check_served

    def timed(*arguments: Any) -> None:
        spent.append(took(lambda: checked(*arguments))[0])

    table, options = numbers(10, 1_000, 3)
    describing.check_served = timed
    try:
        whole = best_time(lambda: ogive.describe(table, privacy=PureDP(20), **options), runs=7, clock=time.process_time)
    finally:
        describing.check_served = checked
    yield "rehearsal before describe, 10 variables x 3 groups", "143 ms", milliseconds(min(spent)), "20 ms"
    yield "describe, 10 variables x 3 groups of 1,000 rows", "-", milliseconds(whole), "-"


def bands(*, quick: bool) -> Iterator[Row]:
    """The first simultaneous band under zCDP, without the file of an earlier process and with it."""
    for exponent, before in ((10, "2.3 s"), (15, "9.6 s"))[: 1 if quick else 2]:
        values = np.random.default_rng(1).normal(50, 10, 10_000)
        first = []
        for stored in (False, True):
            curve = ogive.ecdf(values, bounds=(0, 100), bins=1 << exponent, privacy=ogive.ZeroConcentratedDP("0.1"))
            curve_bands._simulated.clear()
            read = curve_bands._Stored.read
            if not stored:
                curve_bands._Stored.read = lambda self: None
            try:
                first.append(took(curve.band)[0])
            finally:
                curve_bands._Stored.read = read
        yield f"first simultaneous band under zCDP, 2^{exponent} bins, simulated", before, milliseconds(first[0]), "-"
        yield "the same in a later process", before, milliseconds(first[1]), "-"


def many_groups() -> Iterator[Row]:
    """A description of 300 groups."""
    table, options = numbers(1, 30_000, 300)
    seconds, estimate = took(lambda: ogive.describe(table, privacy=PureDP(20), **options))
    answered = f"{len(estimate.groups)} groups in {milliseconds(seconds)}"
    yield "describe by 300 groups", "refused", answered, "up to 10,000"


def printing(*, quick: bool) -> Iterator[Row]:
    """Tables of described groups as text and as JSON."""
    small = (10, 5, "2.4 to 3.9 s, each time", "-")
    for variables, groups, text, data in (small,) if quick else (small, (120, 20, "over 580 s", "70 s")):
        table, options = numbers(variables, 20_000, groups)
        released, estimate = took(partial(ogive.describe, table, privacy=PureDP(200 * variables), **options))
        shape = f"{variables} variables x {groups} groups"
        yield f"release of {shape}", "11 s" if groups == 20 else "-", milliseconds(released), "-"
        yield f"first text of {shape}", text, milliseconds(took(estimate.__str__)[0]), "seconds"
        yield f"second text of {shape}", text, milliseconds(took(estimate.__str__)[0]), "-"
        yield f"JSON of {shape}", data, milliseconds(took(estimate.to_json)[0]), "-"


def main() -> None:
    """Print the table, a row as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer entries, bins and cells")
    parser.add_argument("--postgres", metavar="URL", help="an empty PostgreSQL database")
    parser.add_argument("--only", nargs="*", default=(), help="names of parts")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        parts: dict[str, Callable[[], Iterator[Row]]] = {
            "ledger": lambda: ledgers(folder, quick=asked.quick, postgres=asked.postgres),
            "session": lambda: sessions(folder),
            "mean": means,
            "describe": fixed_costs,
            "band": lambda: bands(quick=asked.quick),
            "groups": many_groups,
            "print": lambda: printing(quick=asked.quick),
        }
        print("| what | before | now | wanted |\n| --- | ---: | ---: | ---: |")
        for part, rows in parts.items():
            if not asked.only or part.startswith(tuple(asked.only)):
                for row in rows():
                    print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
