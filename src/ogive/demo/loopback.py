"""A whole study on this machine: its coordinator over TLS on loopback, and an agent process for each party."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from ogive.errors import OgiveError, plain
from ogive.study.agent import approve
from ogive.study.common import key_text
from ogive.study.coordinator import Progress, progress, request, result, unread
from ogive.study.document import Study
from ogive.study.enrolment import equip, make_key, write_new
from ogive.study.store import Kept, Store

if TYPE_CHECKING:
    import pyarrow as pa

DOCUMENT, COORDINATOR = "study.toml", "coordinator"
ADDRESS = "127.0.0.1"
STEP_SECONDS = 20.0
"""How long a step waits for a party that does not answer."""

_POLL_SECONDS = 0.02


class StudyFailed(OgiveError):  # noqa: N818 - said of the study, not of what was asked
    """A study on this machine came to no end; says what its processes said last."""


def prepare(folder: Path, *, records: Mapping[str, pa.Table], write: Callable[[str, Mapping[str, str]], str]) -> None:
    """Make what a study needs in a folder: keys, certificates, tokens, records, and the owners' approval.

    Args:
        folder: To be made; nothing is left of it where anything fails.
        records: Of each party, by its name.
        write: Makes the text of the study from the public keys of the coordinator and of the parties.

    Raises:
        ParameterError: the text is no study, or a file cannot be written.
    """
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
    """The processes of a study that was prepared in a folder; they end with the block.

    Args:
        folder: Of `prepare`.
        step_seconds: How long a step waits for a party that does not answer.
    """

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

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in list(self._running):
            self.kill(name)
        self._store.close()

    def coordinator(self) -> None:
        """Start the coordinator."""
        folder = self.folder / COORDINATOR
        self._start(
            COORDINATOR,
            *(
                "study",
                "serve",
                self.folder / DOCUMENT,
                "--key",
                folder / "my.key",
                "--state",
                folder / "coordinator.db",
            ),
            *("--service", self.folder / "service", "--host", ADDRESS, "--port", self.port),
            *("--step-seconds", self._step_seconds),
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

    def said(self, name: str) -> str:
        """All that a process wrote into its log, in all its lives."""
        path = self._log(name)
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def until(self, true: Callable[[], bool], seconds: float) -> None:
        """Wait until something is so.

        Raises:
            StudyFailed: a process ended by itself, or it is not so in time.
        """
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

    def progress(self, name: str) -> Progress:
        """How far a requested release is."""
        with self._store.read() as kept:
            return progress(kept, self.study)[name]

    def result(self, name: str) -> dict[str, object] | None:
        """What was released, as plain data; None before.

        Raises:
            StudyFailed: the release is over.
        """
        with self._store.read() as kept:
            return self._result(kept, name)

    def is_complete(self, name: str) -> bool:
        """Whether every party has the result of a release in its ledger.

        Raises:
            StudyFailed: the release is over.
        """
        # both of one moment: before it is published, nobody has a result to read
        with self._store.read() as kept:
            return self._result(kept, name) is not None and not unread(kept, self.study, name)

    def _result(self, kept: Kept, name: str) -> dict[str, object] | None:
        found = progress(kept, self.study).get(name)
        if found is not None and found.state == "over":
            raise StudyFailed(f"the release {name} is over: {plain(found.reason)}")
        return result(kept, self.study, name)

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
        return (self.said(name).strip().splitlines() or ["it said nothing"])[-1]
