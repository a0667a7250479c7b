"""The same customers divided among five banks that may not pool rows: a study, and a crash in the middle of it.

The whole study runs on this machine: its coordinator over TLS on loopback, and an agent process for each bank.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ogive.demo.story import CONFIDENCE_LEVEL, Banks, Busy, Part, Pooled, wishes
from ogive.errors import OgiveError, ParameterError, plain
from ogive.privacy import PureDP, number_text
from ogive.statistics.kinds import read_recorded
from ogive.study.agent import approve
from ogive.study.common import key_text
from ogive.study.document import Study
from ogive.study.enrolment import equip, make_key, write_new
from ogive.study.store import OfParties, Store, request

if TYPE_CHECKING:
    import pyarrow as pa

    from ogive.demo.data import Evaluation

# --- A study on this machine

DOCUMENT, COORDINATOR = "study.toml", "coordinator"
ADDRESS = "127.0.0.1"
STEP_SECONDS = 20.0
"""How long a step waits for a party that does not answer."""

_POLL_SECONDS = 0.02


class StudyFailed(OgiveError):  # noqa: N818 - the study failed, not the request
    """A study on this machine came to no end; states the last line of its logs."""


def prepare(folder: Path, *, records: Mapping[str, pa.Table], write: Callable[[str, Mapping[str, str]], str]) -> None:
    """Make what a study needs in a folder: keys, certificates, tokens, records, and the owners' approval."""
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    keys = {}
    for name, table in records.items():
        (folder / name).mkdir()
        pq.write_table(table, folder / name / "records.parquet")
        keys[name] = key_text(make_key(folder / name / "my.key").public_key().public_bytes_raw())
    (folder / COORDINATOR).mkdir()
    own = key_text(make_key(folder / COORDINATOR / "my.key").public_key().public_bytes_raw())
    write_new(folder / DOCUMENT, write(own, keys).encode())
    study = Study.read(folder / DOCUMENT)
    equip(folder / "service", study, hosts=(ADDRESS,))
    for name in records:
        store = Store(folder / name / "agent.db")
        approve(store, study)
        store.close()


class Loopback:
    """The processes of a study that was prepared in a folder; they end with the block."""

    def __init__(self, folder: Path, *, step_seconds: float = STEP_SECONDS) -> None:
        self.folder = folder
        self.study = Study.read(folder / DOCUMENT)
        self._step_seconds = step_seconds
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._store = Store(folder / COORDINATOR / "coordinator.db")
        with socket.socket() as free:
            free.bind((ADDRESS, 0))
            self.port: int = free.getsockname()[1]

    def __enter__(self) -> Loopback:
        return self

    def __exit__(self, *problem: object) -> None:
        for name in list(self._running):
            self.kill(name)
        self._store.close()

    def coordinator(self) -> None:
        """Start the coordinator."""
        folder = self.folder / COORDINATOR
        self._start(
            COORDINATOR,
            *("study", "serve", self.folder / DOCUMENT, "--key", folder / "my.key"),
            *("--state", folder / "coordinator.db", "--service", self.folder / "service"),
            *("--host", ADDRESS, "--port", self.port, "--step-seconds", self._step_seconds),
        )

    def agent(self, name: str) -> None:
        """Start the agent of a party."""
        folder, service = self.folder / name, self.folder / "service"
        self._start(
            name,
            *("agent", self.folder / DOCUMENT, "--records", folder / "records.parquet", "--key", folder / "my.key"),
            *("--state", folder / "agent.db", "--ledger", folder / "ledger.db"),
            *("--connect", f"https://{ADDRESS}:{self.port}", "--token", service / f"{name}.token"),
            *("--authority", service / "ca.pem"),
        )

    def start(self) -> None:
        """Start the coordinator and all agents."""
        self.coordinator()
        for party in self.study.parties:
            self.agent(party.name)

    def kill(self, name: str) -> None:
        """End a process at once, as a power failure does."""
        process = self._running.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)

    def log_text(self, name: str) -> str:
        """All that a process wrote into its log, in all its lives."""
        path = self._log(name)
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def until(self, true: Callable[[], bool], seconds: float) -> None:
        """Wait until something is so."""
        end = time.monotonic() + seconds
        while not true():
            for name, process in self._running.items():
                if process.poll() is not None:
                    raise StudyFailed(f"the process of {name} ended: {plain(self._last(name))}")
            if time.monotonic() > end:
                raise StudyFailed(f"nothing came of the study in {seconds:g} s: {plain(self._last(COORDINATOR))}")
            time.sleep(_POLL_SECONDS)

    def request(self, name: str) -> None:
        """Request a release; an earlier request goes on."""
        request(self._store, self.study, name)

    def result(self, name: str) -> dict[str, object] | None:
        """What was released, as plain data; None before."""
        with self._store.read() as entries:
            return self._result(OfParties(self.study, entries), name)

    def is_complete(self, name: str) -> bool:
        """Whether every party has the result of a release in its ledger."""
        # both of one moment: before it is published, nobody has a result to read
        with self._store.read() as entries:
            releases = OfParties(self.study, entries)
            return self._result(releases, name) is not None and not releases.unread(self.study.place_of(name))

    def _result(self, releases: OfParties, name: str) -> dict[str, object] | None:
        number = self.study.place_of(name)
        over = releases.over(number)
        if over is not None:
            raise StudyFailed(f"the release {name} is over: {plain(over)}")
        return releases.result(number)

    def _start(self, name: str, *words: object) -> None:
        with self._log(name).open("ab") as log:
            self._running[name] = subprocess.Popen(
                [sys.executable, "-m", "ogive", *map(str, words)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _log(self, name: str) -> Path:
        return self.folder / name / "log.txt"

    def _last(self, name: str) -> str:
        return (self.log_text(name).strip().splitlines() or ["it said nothing"])[-1]


# --- Five banks

FOLDER = "banks"
BANKS = tuple(f"bank-{number}" for number in range(1, 6))
KILLED = BANKS[2]
JUDGED = ("roc", "calibration", "calls")
"""What the banks release together: the same of the same model and calls as the demonstration with one table."""

_SECONDS = 120.0

_TEXT = """\
ogive-study = 1
name = "five-banks"
title = "one model judged by five banks ({digest})"
records = {records}
colluding = 1
dropouts = 1
budget = {{ epsilon = {budget} }}

[unit]
adjacency = "replace"

[coordinator]
key = "{coordinator}"
{parties}
[[release]]
name = "roc"
statistic = "roc"
privacy = {{ epsilon = {roc} }}
score = "probability"
label = "label"
bounds = [0, 1]
confidence_level = {level}

[[release]]
name = "calibration"
statistic = "calibration"
privacy = {{ epsilon = {calibration} }}
probability = "probability"
label = "label"
confidence_level = {level}

[[release]]
name = "calls"
statistic = "survival"
privacy = {{ epsilon = {calls} }}
time = "minutes"
event = "label"
bounds = [0, 30]
bins = 120
confidence_level = {level}
"""


def can_serve() -> bool:
    """Whether the libraries of a study's service are installed."""
    return all(find_spec(name) is not None for name in ("starlette", "uvicorn", "httpx"))


def pool(folder: Path, evaluation: Evaluation, parts: tuple[Part, ...], busy: Busy) -> Banks:
    """Run the study, kill one bank's agent in the middle and start it again.

    Privacy:
        epsilon = 1.75 for each bank's customers, one record replaced, beside what the story with one table spends.
    """
    place = folder / FOLDER
    with busy("preparing a study of five banks: keys, certificates, records"):
        _prepare(place, evaluation)
    killed = None
    with Loopback(place) as loopback:
        if not all(map(loopback.is_complete, JUDGED)):
            killed = KILLED
            loopback.start()
            _release(loopback, busy)
        pooled = []
        for part in parts:
            if part.wish.name in JUDGED:
                released = loopback.result(part.wish.name)
                assert released is not None
                pooled.append(Pooled(part.wish.name, read_recorded(released), part.estimate, part.truth))
        records = tuple(table.num_rows for table in _divided(evaluation).values())
        return Banks(tuple(pooled), records, _budget(), killed)


def _release(loopback: Loopback, busy: Busy) -> None:
    for name in JUDGED:
        privacy = loopback.study.release_named(name).privacy
        loopback.request(name)
        if name == JUDGED[0]:
            with busy(f"five banks release {name} together ({privacy}), {KILLED} is killed in the middle"):
                loopback.until(partial(_has_sent, loopback, name), _SECONDS)
                loopback.kill(KILLED)
                loopback.agent(KILLED)
        with busy(f"five banks release {name} together ({privacy})"):
            loopback.until(partial(loopback.is_complete, name), _SECONDS)


def _has_sent(loopback: Loopback, name: str) -> bool:
    """Whether the bank that is killed has sent its masked counts, or the release is complete already."""
    return f"release {name}, query 1, attempt 1: answered the step input" in loopback.log_text(KILLED) or (
        loopback.result(name) is not None
    )


def _prepare(place: Path, evaluation: Evaluation) -> None:
    """Make the study's folder, whole or not at all, unless it is there."""
    columns = b"".join(np.ascontiguousarray(each).tobytes() for each in evaluation.columns.values())
    digest = hashlib.sha256(columns).hexdigest()[:16]
    if place.exists():
        if digest not in Study.read(place / DOCUMENT).title:
            raise ParameterError(f"{plain(place)} has a study of other customers; --fresh starts a new one")
        return
    making = place.with_name(f".{place.name}.new")
    shutil.rmtree(making, ignore_errors=True)
    try:
        prepare(making, records=_divided(evaluation), write=partial(_text, evaluation, digest))
        making.rename(place)
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _text(evaluation: Evaluation, digest: str, coordinator: str, keys: Mapping[str, str]) -> str:
    prices = {wish.name: number_text(wish.privacy.epsilon) for wish in wishes() if wish.name in JUDGED}
    parties = "".join(f'\n[[party]]\nname = "{name}"\nkey = "{key}"\n' for name, key in keys.items())
    return _TEXT.format(
        digest=digest,
        records=evaluation.records.size,
        budget=number_text(_budget().epsilon),
        coordinator=coordinator,
        parties=parties,
        level=CONFIDENCE_LEVEL,
        **prices,
    )


def _budget() -> PureDP:
    return PureDP(sum(wish.privacy.epsilon for wish in wishes() if wish.name in JUDGED))


def _divided(evaluation: Evaluation) -> dict[str, pa.Table]:
    """Each bank's customers: every fifth row."""
    import pyarrow as pa

    whole = pa.table({name: evaluation.columns[name] for name in ("probability", "label", "minutes")})
    rows = np.arange(whole.num_rows)
    return {name: whole.take(rows[number :: len(BANKS)]) for number, name in enumerate(BANKS)}
