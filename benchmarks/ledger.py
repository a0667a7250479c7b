"""A release into a ledger of many entries, against one into a ledger of 30, in SQLite and PostgreSQL.

    python benchmarks/ledger.py [--quick] [--postgres URL] [--entries N]

A release is reserved, bound and recorded, as every release under a budget is. Time is processor time of this process,
from its second release on, since the first compares all spends with the mark. The peer is the same release into a
small ledger, the two in turn. Eight processes that spend from one account at the same time are timed by the clock, with
their start and their opening of the ledger. `--postgres` names an empty database; its tables stay.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from pathlib import Path

from harness import measure_in_folder, row
from sqlalchemy import insert, select

import ogive
from ogive.ledger.database import Database
from ogive.ledger.entries import plain_text, question_digest
from ogive.ledger.tables import SPENDS

UNIT = ogive.PrivacyUnit(ogive.Adjacency.REPLACE)
FEW, MANY, QUICK = 30, 1_000_000, 2_000
RUNS, WRITERS, EACH = 20, 8, 10
MILLISECONDS = 12.0
"""What a release shall take at most, whatever the ledger holds."""
CHUNK = 50_000


def question(what: object) -> dict[str, object]:
    """One of usual length."""
    return {"what": what, "more": "x" * 500}


def spend(account: ogive.ledger.Account, what: object) -> None:
    """One release, with an estimate of usual length."""
    paid = account.reserve(question(what), statistic="count", charge=ogive.PureDP("1/100"), secret=os.urandom(32))
    paid.bind(0, b"sums")
    paid.record({"what": what, "text": "y" * 300})


def filled(place: str, name: str, entries: int) -> None:
    """An account of so many released entries and a limit."""
    with ogive.Ledger.open(place) as ledger:
        spend(ledger.account(name, unit=UNIT), "first")
    database = Database(place)
    with database.read() as connection:
        first = dict(connection.execute(select(SPENDS).order_by(SPENDS.c.id.desc()).limit(1)).mappings().one())
    del first["id"]
    for start in range(1, entries, CHUNK):
        asked = [plain_text(question(number)) for number in range(start, min(start + CHUNK, entries))]
        rows = [
            {**first, "question": each, "digest": question_digest(each), "release_id": os.urandom(16).hex()}
            for each in asked
        ]
        with database.write() as connection:
            connection.execute(insert(SPENDS), rows)
    database.close()
    with ogive.Ledger.open(place) as ledger:
        ledger.account(name).set_limit(ogive.PureDP(10**6))


def write(place: str, name: str, writer: int) -> None:
    """What one of several processes does."""
    with ogive.Ledger.open(place) as ledger:
        account = ledger.account(name)
        for number in range(EACH):
            spend(account, [writer, number])


def several(place: str, name: str) -> float:
    """Seconds a release where several processes spend from one account, their opening of the ledger included."""
    processes = [multiprocessing.Process(target=write, args=(place, name, number)) for number in range(WRITERS)]
    start = time.perf_counter()
    for each in processes:
        each.start()
    for each in processes:
        each.join()
    if any(each.exitcode for each in processes):
        raise SystemExit("a process that spends has failed")
    return (time.perf_counter() - start) / (WRITERS * EACH)


def measure(place: str, engine: str, entries: int) -> list[dict[str, object]]:
    """Processor time of a release into a small and a large account of one ledger, which take turns."""
    for name, number in (("few", FEW), ("many", entries)):
        filled(place, name, number)
    times: dict[str, list[float]] = {"few": [], "many": []}
    start = time.process_time()
    with ogive.Ledger.open(place) as ledger:
        opening = time.process_time() - start
        accounts = {name: ledger.account(name) for name in times}
        for turn in range(RUNS + 1):
            for name, account in accounts.items():
                start = time.process_time()
                spend(account, turn)
                times[name].append(time.process_time() - start)
    few, many = (sorted(each[1:])[RUNS // 2] * 1000 for each in times.values())
    work = f"{engine} of {entries:,} entries"
    clock = several(place, "many")
    return [
        row(
            f"ledger: release into {work}",
            "processor time",
            "ms",
            many,
            runs=RUNS,
            target=MILLISECONDS,
            larger_is_better=False,
            peer=f"{FEW} entries",
            peer_value=few,
        ),
        row(f"ledger: opening of {work}", "processor time", "s", opening, runs=1),
        row(f"ledger: release into {work}, {WRITERS} processes", "time", "s", clock, runs=WRITERS * EACH),
    ]


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer entries")
    parser.add_argument("--postgres", metavar="URL", help="an empty PostgreSQL database")
    parser.add_argument("--entries", type=int, help=f"of the large account; {MANY:,} where it is left out")
    asked = parser.parse_args()
    entries = asked.entries or (QUICK if asked.quick else MANY)

    def places(folder: Path) -> list[dict[str, object]]:
        os.environ["OGIVE_LEDGER_MARK"] = str(folder / "mark")
        found = measure(str(folder / "budget.db"), "SQLite", entries)
        if asked.postgres:
            os.environ["OGIVE_LEDGER_KEY"] = str(folder / "postgres.key")
            os.environ["OGIVE_LEDGER_MARK"] = str(folder / "postgres.mark")
            found += measure(asked.postgres, "PostgreSQL", entries)
        return found

    measure_in_folder(places, quick=asked.quick)


if __name__ == "__main__":
    main()
