"""Local reports to a service over TLS on this machine: speed, memory, and the estimate, with a service that is killed.

    python benchmarks/local_network.py [--people 1000000] [--quick]

The service is a process of its own, with its store on disk. Reports and tokens are made beforehand and are not counted.
A client of raw sockets sends them over many connections, one after the other on each; both share the cores of this
machine. Halfway the service is killed and started again. In the end the store is added up as `ogive local aggregate`
does, and sums, participants and estimate are compared with those of a file of the same reports.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
from harness import measure_in_folder, row
from uploads_network import ADDRESS, TARGET, Client, _free_port

import ogive
from ogive.local import Collection, Description, Randomizer
from ogive.study.enrolment import TOKENS
from ogive.study.local import equip


class Place:
    """A collection in a folder, with its service."""

    def __init__(self, folder: Path, people: int) -> None:
        self.folder = folder
        asked = ogive.Ecdf("age", bounds=(0, 120), bins=128)
        self.description: Description = ogive.describe_collection(asked, privacy=ogive.PureDP(1), participants=people)
        (folder / "study.json").write_text(self.description.to_json(), encoding="utf-8")
        equip(folder / "tls", self.description, count=people, hosts=(ADDRESS,))
        self.tokens = (folder / "tls" / TOKENS).read_text(encoding="ascii").split()
        self.ports = [_free_port()]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the service, and wait until it answers."""
        words = ["local", "serve", "study.json", "--service", "tls", "--store", "store", "--port", str(self.ports[0])]
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ogive", *words],
                cwd=self.folder, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        while self.status() is None:
            time.sleep(0.05)

    def kill(self) -> None:
        """End the service as a crash does."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def context(self, number: int) -> ssl.SSLContext:
        """Believes the certificate of the service, which is number 0."""
        return ssl.create_default_context(cafile=str(self.folder / "tls" / "ca.pem"))

    def status(self) -> dict[str, Any] | None:
        """What the service tells; None where it does not run."""
        url = f"https://{ADDRESS}:{self.ports[0]}/v1/status"
        try:
            with urllib.request.urlopen(url, context=self.context(0), timeout=60) as found:
                told: dict[str, Any] = json.load(found)
                return told
        except OSError:
            return None

    def memory(self) -> float:
        """Largest memory of the service so far, MB."""
        assert self.process is not None
        lines = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM"))


class Requests(list[bytes]):
    """An HTTP request for each report, made when it is sent."""

    def __init__(self, place: Place, reports: bytes) -> None:
        size = place.description.report_bytes
        super().__init__(reports[start : start + size] for start in range(0, len(reports), size))
        self._tokens = place.tokens
        path = f"/v1/tasks/{place.description.digest.hex()}/reports"
        self._head = f"POST {path} HTTP/1.1\r\nHost: {ADDRESS}\r\nContent-Length: {size}\r\nAuthorization: Bearer "

    def __getitem__(self, number: Any) -> Any:
        report: bytes = super().__getitem__(number)
        return f"{self._head}{self._tokens[number]}\r\n\r\n".encode() + report


def measure(folder: Path, people: int) -> list[dict[str, Any]]:
    """The rows of one collection."""
    place = Place(folder, people)
    reports = Randomizer(place.description).reports(np.random.default_rng(1).normal(45, 15, people))
    client = Client(place, Requests(place, reports))
    try:
        place.start()
        idle = place.memory()
        seconds = client.run(people // 2)
        before = client.acknowledged
        first = place.memory()
        place.kill()
        began = time.perf_counter()
        place.start()
        restarted = time.perf_counter() - began
        assert (place.status() or {})["uploads"] == before, "what was acknowledged is there, once"
        seconds += client.run(people)
        most = max(first, place.memory())
        told = place.status() or {}
        assert told["uploads"] == people
    finally:
        place.kill()
    began = time.perf_counter()
    by_service = Collection(place.description)
    assert by_service.add(folder / "store").refused == 0
    added = time.perf_counter() - began
    by_file = Collection(place.description)
    by_file.add(reports)
    assert by_service.digest() == by_file.digest(), "the same sums of the same participants"
    curve = ogive.estimate_collection(by_service)
    assert curve == ogive.estimate_collection(by_file).with_provenance(curve.provenance)
    work = f"reports over TLS, {people} reports"
    return [
        row(work, "acknowledged", "reports/s", people / seconds, runs=1, target=TARGET),
        row(work, "started again halfway", "s", restarted, runs=1, larger_is_better=False),
        row(work, "memory while the first half comes, beyond an idle service", "MB", first - idle, runs=1,
            larger_is_better=False),
        row(work, "largest memory of the service", "MB", most, runs=1, larger_is_better=False),
        row(work, "store", "MB", told["bytes"] / 1e6, runs=1, larger_is_better=False),
        row(work, "added up from the store", "s", added, runs=1, larger_is_better=False),
    ]  # fmt: skip


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--quick", action="store_true", help="few people, and nothing is recorded")
    options = parser.parse_args()
    measure_in_folder(lambda folder: measure(folder, 5_000 if options.quick else options.people), quick=options.quick)


if __name__ == "__main__":
    main()
