"""What the processes do that the ledger's tests start, race and kill. Run as a program it forks them on request.

One JSON line in: {"task": name, "out": file, "keys": folder of keys or null, ...}. One line out when the child is
over, {"status": wait status}; with "kill_after" it is killed after so many seconds, with "background" all are answered
at {"task": "wait"}.
Forking from a process that has imported everything costs milliseconds where starting Python costs a second.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHARGE = "1/10"
ACCOUNT = "trials"
VALUES = [float(value % 97) for value in range(300)]


def die() -> None:
    """End this process here and now, as `kill -9` does; nothing is cleaned up."""
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


class Notes:
    """What a child saw, written so that it outlives it."""

    def __init__(self, path: str) -> None:
        self._handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def add(self, kind: str, text: str) -> None:
        os.write(self._handle, f"{kind} {text}\n".encode())


WRITES = ("reserve", "bind", "record")
STEPS = (
    *(f"{when} {write}" for write in WRITES for when in ("before", "inside", "after")),
    "before noise",
    "after noise",
)
"""Where a release can die: around and inside every transaction, and around the noise."""


def _dying(name: str, plain: Callable[..., Any], step: str | None, current: list[str]) -> Callable[..., Any]:
    def dying(*arguments: Any, **named: Any) -> Any:
        if step == f"before {name}":
            die()
        current.append(name)
        result = plain(*arguments, **named)
        current.pop()
        if step == f"after {name}":
            die()
        return result

    return dying


def die_at_mark(step: str, nth: int) -> None:
    """Let this process die around or inside one of its lines of the ledger's mark."""
    from ogive.ledger.mark import Mark

    append, write = Mark._append, Mark._write
    lines = []

    def counted(self, *arguments, **named):
        lines.append(1)
        if len(lines) == nth and step == "before mark":
            die()
        append(self, *arguments, **named)
        if len(lines) == nth and step == "after mark":
            die()

    def half(self, *arguments, **named):
        if len(lines) == nth and step == "inside mark":
            with self.path.open("ab") as file:
                file.write(b'{"account":"tri')
            die()
        write(self, *arguments, **named)

    Mark._append, Mark._write = counted, half


def watch(step: str | None, notes: Notes, nth: int = 1) -> None:
    """Let this process die at a step, and note every noise that is drawn."""
    from ogive.ledger.database import Database
    from ogive.ledger.transactions import LedgerTables
    from ogive.trust.table import CentralOpening

    current: list[str] = []
    write = Database.write

    @contextlib.contextmanager
    def dying_write(self):
        with write(self) as connection:
            yield connection
            if current and step == f"inside {current[-1]}":
                die()

    Database.write = dying_write
    if step is not None and step.endswith("mark"):
        die_at_mark(step, nth)
    for name in WRITES:
        setattr(LedgerTables, name, _dying(name, getattr(LedgerTables, name), step, current))
    answer = CentralOpening.answer

    def noted_answer(self, query):
        if step == "before noise":
            die()
        result = answer(self, query)
        notes.add("noise", result.values.tobytes().hex())
        if step == "after noise":
            die()
        return result

    CentralOpening.answer = noted_answer


def spoil(how: str | None) -> None:
    """Break the ledger in a named way: controls that the tests must see."""
    from ogive.ledger.database import Database
    from ogive.ledger.transactions import Booked, LedgerTables

    if how == "forgets the secret":
        reserve = LedgerTables.reserve

        def forgetful(self, spot, question, *, secret, **named):
            found = reserve(self, spot, question, secret=secret, **named)
            return Booked(found.number, found.release_id, secret, found.resumed)

        LedgerTables.reserve, LedgerTables.bind = forgetful, lambda *_: None  # bind would notice
    if how == "charges every attempt":
        plain = LedgerTables.reserve

        def greedy(self, spot, question, **named):
            return plain(self, spot, {**question, "attempt": os.getpid()}, **named)

        LedgerTables.reserve = greedy
    if how == "commits late":
        # the spend is written when the estimate is: whoever dies between has drawn noise for nothing
        reserve, record = LedgerTables.reserve, LedgerTables.record
        kept: list = []

        def later(self, spot, question, *, secret, **named):
            kept.append((spot, question, {"secret": secret, **named}))
            return Booked(0, "0" * 32, secret, False)

        def now(self, spot, number, estimate):
            spot, question, named = kept.pop()
            return record(self, spot, reserve(self, spot, question, **named).number, estimate)

        LedgerTables.reserve, LedgerTables.record, LedgerTables.bind = later, now, lambda *_: None
    if how in ("has an old snapshot", "has an old snapshot and does not count"):
        from ogive.ledger import database

        database.WRITING = "REPEATABLE READ"
        # an old snapshot looks like an older copy of the ledger, which the mark would refuse before the counter does
        LedgerTables.lacks = LedgerTables._others_are_behind = lambda *_, **__: False
    if how == "has an old snapshot and does not count":
        LedgerTables.advance = lambda *_, **__: None
    if how == "marks first":
        from ogive.ledger.mark import Mark

        write, kept = Database.write, Mark.note

        @contextlib.contextmanager
        def writing(self, *, durable=True):
            with write(self.database) as connection:
                connection.info["ogive changes"] = changes = {}
                yield connection
                kept(self.mark, self.identity, self.lines(connection, changes), durable=durable)

        LedgerTables.writing = writing
    if how == "does not lock":
        data_set = LedgerTables.data_set

        def without_lock(self, connection, number, lock=False):
            row = data_set(self, connection, number)
            if lock:
                self.locked(connection, row)
            return row

        LedgerTables.data_set = without_lock
        connect = Database._connect

        @contextlib.contextmanager
        def unlocked(self, *, write, begin=True):
            if self.postgres:
                with connect(self, write=write, begin=begin) as connection:
                    yield connection
                return
            with connect(self, write=False, begin=False) as connection:
                yield connection

        Database._connect = unlocked


def do_release(request: dict, notes: Notes) -> None:
    """One whole release of a question; the same number is the same question."""
    import ogive

    # of the lines of the mark it is the one of reserving, binding or recording
    watch(request.get("step"), notes, request["number"] % 3 + 1)
    spoil(request.get("spoiled"))
    with ogive.Ledger.open(request["place"]) as ledger:
        curve = ogive.release(
            # a named method, so that no time goes into simulating which one is best, where a kill can break nothing
            ogive.Ecdf("value", bounds=(0, 100 + request["number"]), bins=16, method="tree_ls"),
            trust=ogive.Central({"value": VALUES}),
            privacy=ogive.PureDP(CHARGE),
            ledger=ledger.account(ACCOUNT),
        )
    notes.add("answer", json.dumps(curve.to_dict(), sort_keys=True))


def wait_for_all(request: dict) -> None:
    """Be ready, and wait until all who race are; a process without a gate races against nobody."""
    if "gate" not in request:
        return
    folder, count = request["gate"]
    (Path(folder) / str(os.getpid())).touch()
    end = time.monotonic() + 300
    while len(list(Path(folder).iterdir())) < count and time.monotonic() < end:
        time.sleep(0.002)


def do_spend(request: dict, notes: Notes) -> None:
    """Reserve different questions until the account refuses; note how many were granted."""
    import ogive
    from ogive.ledger.transactions import LedgerTables

    spoil(request.get("spoiled"))
    charges = LedgerTables.charges

    def slow_charges(self, *arguments, **named):
        found = charges(self, *arguments, **named)
        time.sleep(0.02)  # the time in which a careless ledger would let another process in
        return found

    LedgerTables.charges = slow_charges
    granted = 0
    with ogive.Ledger.open(request["place"]) as ledger:
        account = ledger.account(ACCOUNT)
        wait_for_all(request)
        with contextlib.suppress(ogive.BudgetError):
            while True:
                question = {"who": request["number"], "what": granted}
                account.reserve(question, statistic="test", charge=ogive.PureDP(CHARGE), secret=b"0" * 32)
                granted += 1
                time.sleep(0.02)  # a database that lets the quickest in first would serve one process alone
    notes.add("granted", str(granted))


def do_open(request: dict, notes: Notes) -> None:
    """Open a ledger that may not exist yet, as others do at the same moment, and name its key."""
    import ogive

    wait_for_all(request)
    with ogive.Ledger.open(request["place"]) as ledger:
        unit = ogive.PrivacyUnit(ogive.Adjacency.REPLACE)
        ledger.account(ACCOUNT, unit=unit)
        notes.add("opened", ledger.fingerprint(b"same"))


TASKS = {"release": do_release, "spend": do_spend, "open": do_open}


def _child(request: dict) -> None:
    notes = Notes(request["out"])
    os.environ.pop("XDG_CONFIG_HOME", None)
    if request["keys"] is not None:
        os.environ["XDG_CONFIG_HOME"] = request["keys"]
    try:
        TASKS[request["task"]](request, notes)
    except BaseException as problem:
        notes.add("problem", f"{type(problem).__name__}: {problem} {traceback.format_exc()!r}")
        os._exit(1)
    os._exit(0)


def main() -> None:
    import ogive

    # everything that a release imports or compiles, once
    with ogive.Ledger.open() as ledger:
        account = ledger.account("warm", unit=ogive.PrivacyUnit(ogive.Adjacency.REPLACE), limit=ogive.PureDP(1))
        statistic = ogive.Ecdf("value", bounds=(0, 100), bins=16, method="tree_ls")
        trust = ogive.Central({"value": VALUES})
        ogive.release(statistic, trust=trust, privacy=ogive.PureDP(1), ledger=account)
    with contextlib.suppress(ImportError):
        importlib.import_module("psycopg")
        importlib.import_module("sqlalchemy.dialects.postgresql.psycopg")
    print("ready", flush=True)
    gc.freeze()  # so that children do not copy every page when they collect
    background: list[int] = []
    for line in sys.stdin:
        request = json.loads(line)
        if request["task"] == "wait":
            print(json.dumps({"statuses": [os.waitpid(pid, 0)[1] for pid in background]}), flush=True)
            background.clear()
            continue
        pid = os.fork()
        if pid == 0:
            _child(request)
        if request.get("background"):
            background.append(pid)
            print("{}", flush=True)
            continue
        if "kill_after" in request:
            # here, where the child is waited for: its number cannot have become another process's
            time.sleep(request["kill_after"])
            os.kill(pid, signal.SIGKILL)
        print(json.dumps({"status": os.waitpid(pid, 0)[1]}), flush=True)


if __name__ == "__main__":
    main()
