"""What a study takes, over parties and bins, by carrier: seconds from the request to the result, and bytes.

    python benchmarks/study.py [--quick]

Every agent and the coordinator are processes of their own on this machine, with state on disk, over TLS on loopback;
"in process" is the same study with all agents in one process and no network. Seconds are of the wall clock: much
of them is waiting. All processes share this machine's cores; apart, each would have its own.
The last rows have two crashes: an agent is killed after it sent its vector, the coordinator while it collects.
"""

from __future__ import annotations

import argparse
import shutil
import ssl
import tempfile
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from harness import record, row, table

from ogive.demo.banks import ADDRESS, COORDINATOR, DOCUMENT, Loopback, prepare
from ogive.ledger import Ledger
from ogive.study.agent import Agent
from ogive.study.coordinator import Coordinator
from ogive.study.document import Study
from ogive.study.enrolment import load_key
from ogive.study.store import Store

SEED = 3
ROWS = 500
SIZES = (
    *((3, 10), (3, 15), (3, 20)),
    *((10, 10), (10, 15), (10, 20)),
    *((30, 10), (30, 15), (30, 20)),  # the last takes 11 GB of memory
    *((100, 10), (100, 15)),
)
CRASHES = (10, 15)
CRASHES_TARGET = 60.0
SECONDS = 900.0
NAME = "curve"

TEXT = """\
ogive-study = 1
name = "sizes"
records = {records}
colluding = 1
dropouts = {dropouts}
budget = {{ epsilon = 1 }}
[coordinator]
key = "{coordinator}"
{parties}
[[release]]
name = "curve"
statistic = "ecdf"
privacy = {{ epsilon = 1 }}
column = "x"
bounds = [0, 1]
bins = {bins}
method = "hat_ls"
"""


def prepared(folder: Path, parties: int, bits: int) -> Path:
    """A study in a new folder."""
    rng = np.random.default_rng(SEED)
    records = {f"site-{number}": pa.table({"x": rng.random(ROWS)}) for number in range(1, parties + 1)}

    def write(coordinator: str, keys: Mapping[str, str]) -> str:
        tables = "".join(f'[[party]]\nname = "{name}"\nkey = "{key}"\n' for name, key in keys.items())
        return TEXT.format(
            records=parties * ROWS, coordinator=coordinator, parties=tables, bins=1 << bits, dropouts=int(parties > 3)
        )

    place = folder / f"{parties}-{bits}"
    prepare(place, records=records, write=write)
    return place


def in_process(place: Path) -> tuple[float, float]:
    """Seconds, and bytes that a party sends and receives on average."""
    study = Study.read(place / DOCUMENT)
    coordinator = Coordinator(
        study, key=load_key(place / COORDINATOR / "my.key"), store=Store(place / "alone.db"), step_seconds=SECONDS
    )
    agents = {}
    for number, party in enumerate(study.parties, 1):
        folder = place / party.name
        ledger = Ledger.open(folder / "alone.ledger")
        agents[number] = Agent(
            study,
            folder / "records.parquet",
            key=load_key(folder / "my.key"),
            store=Store(folder / "alone.db"),
            account=ledger.account(study.name, unit=study.unit, limit=study.budget),
        )
    moved = 0
    began = time.perf_counter()
    coordinator.request(NAME)
    while coordinator.result(NAME) is None:
        for number, agent in agents.items():
            question = coordinator.question(number)
            if question is not None and coordinator.result(NAME) is None:
                reply = agent.answer(question)
                coordinator.receive(number, reply)
                moved += len(question) + len(reply)
    return time.perf_counter() - began, moved / len(agents)


def over_https(place: Path, *, crashes: bool = False) -> tuple[float, float]:
    """The same, between processes."""
    with Loopback(place, step_seconds=SECONDS) as loopback:
        loopback.start()
        parties = len(loopback.study.parties)
        loopback.until(lambda: _metrics(loopback).get("parties_connected") == parties, SECONDS)
        began = time.perf_counter()
        loopback.request(NAME)
        if crashes:
            loopback.until(lambda: "answered the step input" in loopback.said("site-3"), SECONDS)
            loopback.kill("site-3")
            loopback.kill(COORDINATOR)
            loopback.agent("site-3")
            loopback.coordinator()
        loopback.until(lambda: loopback.result(NAME) is not None, SECONDS)
        seconds = time.perf_counter() - began
        counted = _metrics(loopback)
        return seconds, (counted["bytes_in"] + counted["bytes_out"]) / parties


def _metrics(loopback: Loopback) -> dict[str, float]:
    """What the service counts; nothing where it does not run."""
    context = ssl.create_default_context(cafile=str(loopback.folder / "service" / "ca.pem"))
    try:
        with urllib.request.urlopen(f"https://{ADDRESS}:{loopback.port}/metrics", context=context) as found:
            lines = found.read().decode().splitlines()
    except OSError:
        return {}
    return {name.removeprefix("ogive_study_"): float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def rows_of(name: str, found: tuple[float, float], target: float | None = None) -> list[dict[str, Any]]:
    """The rows of one run."""
    seconds, moved = found
    return [
        row(name, "request to result", "s", seconds, runs=1, target=target, larger_is_better=False),
        row(name, "sent and received by a party", "MB", moved / 1e6, runs=1, larger_is_better=False),
    ]


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few parties, and nothing is recorded")
    quick = parser.parse_args().quick
    rows: list[dict[str, Any]] = []
    folder = Path(tempfile.mkdtemp())
    try:
        for parties, bits in SIZES[:2] if quick else SIZES:
            name = f"study, {parties} parties, 2^{bits} bins"
            place = prepared(folder, parties, bits)
            rows += rows_of(f"{name}, in process", in_process(place))
            rows += rows_of(f"{name}, HTTPS", over_https(place))
            print(table(rows[-4:]), flush=True)
            shutil.rmtree(place)
        parties, bits = CRASHES
        found = over_https(prepared(folder, parties, bits), crashes=True)
        # the coordinator that was killed counted bytes that nobody asked for
        rows += rows_of(f"study, {parties} parties, 2^{bits} bins, HTTPS, two crashes", found, CRASHES_TARGET)[:1]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    record(rows, quick=quick)


if __name__ == "__main__":
    main()
