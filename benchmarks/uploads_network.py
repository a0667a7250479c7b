"""Uploads to two servers over TLS on this machine: speed, memory, and what a release takes, with a killed server.

    python benchmarks/uploads_network.py [--people 100000] [--false 0] [--cells 1024] [--crowd 0] [--quick]

Two servers are processes of their own, with stores on disk. Reports are made beforehand and are not counted. A client
of raw sockets sends them over many connections, one after the other on each; servers and client share the cores of this
machine. Halfway server 0 is killed and started again, and everything that was not acknowledged is sent again. False
uploads are garbage of the right length from people who are enrolled. In the end the sums that the servers opened are
compared with those of servers in one process that have the same uploads and secrets.

With `--crowd 10000` so many more connections are open at server 0 while the honest uploads come, and no server is
killed: of a hundred two stop in the head of a request, two send the body of a report byte by byte, and the others are
idle and ask for something once a minute. Each that the server ends is opened again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from harness import measure_in_folder, row

from ogive.crypto.domains import HashDomain
from ogive.study.common import SEALING, key_text
from ogive.study.course import Step, course
from ogive.study.document import ServersStudy
from ogive.study.enrolment import equip, make_key, make_token
from ogive.study.https.connections import allow_files
from ogive.study.sealing import sealing_key
from ogive.study.servers.evaluating import batch_rows, opened_messages
from ogive.study.servers.uploads import credential, enrolled, front, make_reports, part_bytes, report_bytes
from ogive.study.store import OfServers, Store
from ogive.trust.servers.model import add_answers, run
from ogive.trust.servers.server import Server, ServerState

ADDRESS = "127.0.0.1"
CONNECTIONS = 64
TARGET = 2_000.0
"""Uploads a second at a server."""

_CHUNK = 2_000
_FILES = 20_000
_AT_ONCE = 200
"""Connections of the crowd that are being opened at the same time."""


class Place:
    """A study of two servers in a folder, with its processes."""

    def __init__(self, folder: Path, *, people: int, cells: int) -> None:
        self.folder = folder
        keys = [make_key(folder / f"{number}.key") for number in range(2)]
        self.study = ServersStudy.parse(study_text(keys, people=people, cells=cells))
        (folder / "study.toml").write_bytes(self.study.text)
        self.tokens = [make_token() for _ in range(people)]
        self.ports = [_free_port() for _ in keys]
        self.running: dict[int, subprocess.Popen[bytes]] = {}
        for number in range(2):
            (folder / f"{number}.enrolled").write_bytes(enrolled(self.tokens, self.study, number))
            equip(folder / f"tls-{number}", self.study, hosts=(ADDRESS,))

    def start(self, number: int) -> None:
        """Start a server, and wait until it answers."""
        others = ["--connect-to", f"https://{ADDRESS}:{self.ports[1]}", "--authority", "tls-1/ca.pem"]
        words = [
            "server", "study.toml", "--key", f"{number}.key", "--store", f"store-{number}", "--enrolled",
            f"{number}.enrolled", "--service", f"tls-{number}", "--port", str(self.ports[number]),
            *(others if number == 0 else []),
        ]  # fmt: skip
        with (self.folder / f"{number}.log").open("a") as log:
            self.running[number] = subprocess.Popen(
                [sys.executable, "-m", "ogive", *words],
                cwd=self.folder, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        while self.status(number) is None:
            time.sleep(0.05)

    def kill(self, number: int) -> None:
        """End a server as a crash does."""
        process = self.running.pop(number)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def context(self, number: int) -> ssl.SSLContext:
        """Believes a server's certificate."""
        return ssl.create_default_context(cafile=str(self.folder / f"tls-{number}" / "ca.pem"))

    def status(self, number: int) -> dict[str, Any] | None:
        """What a server tells; None where it does not run."""
        url = f"https://{ADDRESS}:{self.ports[number]}/v1/status"
        try:
            with urllib.request.urlopen(url, context=self.context(number), timeout=60) as found:
                told: dict[str, Any] = json.load(found)
                return told
        except OSError:
            return None

    def until(self, number: int, wanted: int) -> None:
        """Wait until a server stores so many uploads."""
        while (self.status(number) or {"uploads": -1})["uploads"] < wanted:
            time.sleep(0.1)

    def memory(self, number: int) -> float:
        """Largest memory of a server's process so far, MB."""
        lines = Path(f"/proc/{self.running[number].pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM"))


def study_text(keys: list[Ed25519PrivateKey], *, people: int, cells: int) -> bytes:
    """The file of a study of two servers that release one curve, of keys."""
    """The file of a study of two servers that release one curve."""
    servers = "".join(
        f'[[server]]\nname = "server-{number}"\nkey = "{key_text(key.public_key().public_bytes_raw())}"\n'
        f'sealing = "{key_text(sealing_key(key).public_key().public_bytes_raw(), SEALING)}"\n'
        for number, key in enumerate(keys)
    )
    return f"""\
ogive-study = 1
name = "uploads"
trust = "servers"
upload = "keys"
records = {people}
budget = {{ epsilon = 1 }}
[unit]
adjacency = "replace"
{servers}
[[release]]
name = "x"
statistic = "ecdf"
privacy = {{ epsilon = 1 }}
column = "x"
bounds = [0, 1]
bins = {cells}
""".encode()


class Crowd:
    """Connections to server 0 of people who say nothing more, or something very slowly; each has a token.

    Args:
        place: The study, whose last people these are.
        size: How many connections.
    """

    def __init__(self, place: Place, size: int) -> None:
        self._place = place
        self._size = size
        self._opening = asyncio.Semaphore(_AT_ONCE)
        self._tasks: list[asyncio.Task[None]] = []
        self._ended = False
        self.open = self.reopened = 0

    def begin(self) -> None:
        """Open connections, and keep as many open."""
        context = self._place.context(0)
        self._tasks = [asyncio.create_task(self._keep(context, number)) for number in range(self._size)]

    async def end(self) -> None:
        """Close all."""
        self._ended = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _keep(self, context: ssl.SSLContext, number: int) -> None:
        while not self._ended:
            try:
                async with self._opening:
                    reader, writer = await asyncio.open_connection(ADDRESS, self._place.ports[0], ssl=context)
                    writer.write(self._said(number))
                    if number % 100 > 3:
                        await reader.readuntil(b"\r\n\r\n")
            except (OSError, asyncio.IncompleteReadError):
                await asyncio.sleep(1)
                continue
            self.open += 1
            quiet = 0
            try:
                while await self._quiet(reader):
                    quiet += 1
                    if number % 100 in (2, 3):
                        writer.write(b"x")
                    elif number % 100 > 3 and quiet % 12 == 0:
                        writer.write(self._said(number))
            finally:
                self.open -= 1
                writer.transport.abort()
            self.reopened += 1

    async def _quiet(self, reader: asyncio.StreamReader) -> bool:
        """Wait some seconds; False if the server ended the connection."""
        try:
            async with asyncio.timeout(5):
                while await reader.read(1 << 12):
                    pass
        except TimeoutError:
            return True
        except OSError:
            pass
        return False

    def _said(self, number: int) -> bytes:
        study = self._place.study
        if number % 100 > 3:
            return f"GET /v1/tasks/{study.digest.hex()} HTTP/1.1\r\nHost: {ADDRESS}\r\n\r\n".encode()
        length = report_bytes(study)
        head = (
            f"POST /v1/tasks/{study.digest.hex()}/reports HTTP/1.1\r\nHost: {ADDRESS}\r\nContent-Length: {length}\r\n"
        )
        if number % 100 < 2:
            return head.encode()
        shown = credential(self._place.tokens[-1 - number], study=study.digest, server=0).hex()
        return f"{head}Authorization: Bearer {shown}\r\n\r\n".encode()


def measure_crowd(folder: Path, *, people: int, cells: int, crowd: int) -> list[dict[str, Any]]:
    """The rows of honest uploads while a crowd of connections is open that says nothing or little."""
    allow_files(_FILES)
    place = Place(folder, people=people + crowd, cells=cells)
    requests = requests_of(place, np.random.default_rng(1).random(people), 0)
    counts: list[int] = []

    async def run(client: Client) -> float:
        around = Crowd(place, crowd)
        around.begin()
        while around.open < 0.97 * crowd:
            await asyncio.sleep(0.5)
        began = time.perf_counter()
        sending = asyncio.create_task(client.send(people))
        while not sending.done():
            counts.append(around.open)
            await asyncio.wait([sending], timeout=0.2)
        seconds = time.perf_counter() - began
        await sending
        await around.end()
        print(f"{around.reopened} connections were ended by the server and opened again")
        return seconds

    try:
        for number in (1, 0):
            place.start(number)
        idle = place.memory(0)
        seconds = asyncio.run(run(Client(place, requests)))
        most = place.memory(0)
        assert (place.status(0) or {})["uploads"] == people, "each honest upload is stored once, and no other"
    finally:
        for number in list(place.running):
            place.kill(number)
    work = f"servers over TLS, {people} uploads, {cells} cells, {crowd} idle or slow connections"
    return [
        row(work, "acknowledged", "uploads/s", people / seconds, runs=1),
        row(work, "idle or slow connections open meanwhile, at least", "", min(counts), runs=1),
        row(work, "memory of server 0 beyond an idle one", "MB", most - idle, runs=1, larger_is_better=False),
    ]


def _free_port() -> int:
    with socket.socket() as found:
        found.bind((ADDRESS, 0))
        port: int = found.getsockname()[1]
        return port


class Client:
    """Sends reports over raw sockets until all are acknowledged.

    Args:
        place: The study.
        requests: Whole HTTP requests.
        first: How many were acknowledged before.
    """

    def __init__(self, place: Place, requests: list[bytes]) -> None:
        self._place = place
        self._waiting = list(range(len(requests)))[::-1]
        self._requests = requests
        self.acknowledged = 0
        self.stop_at = len(requests)

    def run(self, stop_at: int) -> float:
        """Send until so many are acknowledged; returns seconds."""
        began = time.perf_counter()
        asyncio.run(self.send(stop_at))
        return time.perf_counter() - began

    async def send(self, stop_at: int) -> None:
        """Send until so many are acknowledged."""
        self.stop_at = stop_at
        context = self._place.context(0)
        await asyncio.gather(*(self._work(context) for _ in range(CONNECTIONS)))

    async def _work(self, context: ssl.SSLContext) -> None:
        reader, writer = await asyncio.open_connection(ADDRESS, self._place.ports[0], ssl=context)
        while self._waiting and self.acknowledged < self.stop_at:
            number = self._waiting.pop()
            writer.write(self._requests[number])
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 201"):
                raise RuntimeError(head.decode())
            self.acknowledged += 1
        writer.close()


def requests_of(place: Place, values: np.ndarray[Any, Any], false: int) -> list[bytes]:
    """An HTTP request for each person; the last so many are garbage."""
    study, length = place.study, report_bytes(place.study)
    honest = len(values) - false
    found = []
    head = f"POST /v1/tasks/{study.digest.hex()}/reports HTTP/1.1\r\nHost: {ADDRESS}\r\nContent-Length: {length}\r\n"
    for start in range(0, len(values), _CHUNK):
        tokens = place.tokens[start : min(start + _CHUNK, len(values))]
        made = make_reports(study, {"x": values[start : start + _CHUNK]}, tokens)
        for person, (report, token) in enumerate(zip(made, tokens, strict=True), start):
            sent = report if person < honest else _garbage(study)
            shown = credential(token, study=study.digest, server=0).hex()
            found.append(f"{head}Authorization: Bearer {shown}\r\n\r\n".encode() + sent)
    return found


def _garbage(study: ServersStudy) -> bytes:
    """What has the form of a report, and nothing in it."""
    lengths = [part_bytes(study, server) for server in range(len(study.servers))]
    parts = [length.to_bytes(4, "little") + os.urandom(length) for length in lengths]
    return front(study) + b"".join(parts)


def in_process(place: Place) -> np.ndarray[Any, Any]:
    """The sum that servers in one process open, from the same uploads and secrets."""
    study = place.study
    (collected,) = study.collected
    session = study.session(collected)
    step = course(study, study.releases[0], ())
    assert isinstance(step, Step)
    servers = []
    for number in range(2):
        store = Store(place.folder / f"store-{number}" / "state.db")
        with store.read() as kept:
            secret = kept.get("secret")
        store.close()
        assert secret is not None
        info = HashDomain.UPLOAD_NOISE.encode() + collected.study
        server = Server(
            collected,
            number,
            session=session,
            secret=HKDF(hashes.SHA256(), 32, salt=None, info=info).derive(secret),
            random=os.urandom,
            state=ServerState(collected.study, session, number),
            clients=batch_rows(study.messages[number][0]),
        )
        for message, _ in opened_messages(study, number, place.folder / f"store-{number}", 0):
            server.receive(message)
        servers.append(server)
    frozen = [server.freeze() for server in servers]
    for number, server in enumerate(servers):
        server.agree([messages[number] for messages in frozen if number in messages])
    run([server.prepare(step.query) for server in servers])
    found = [server.answer(step.query, study.unit.adjacency) for server in servers]
    return add_answers(found, collected, session=session, query=step.query, adjacency=study.unit.adjacency)


def measure(folder: Path, *, people: int, false: int, cells: int) -> list[dict[str, Any]]:
    """The rows of one study."""
    place = Place(folder, people=people, cells=cells)
    values = np.random.default_rng(1).random(people)
    requests = requests_of(place, values, false)
    work = f"servers over TLS, {people} uploads, {cells} cells" + (f", {false} of them false" if false else "")
    try:
        for number in (1, 0):
            place.start(number)
        idle = [place.memory(number) for number in range(2)]
        client = Client(place, requests)
        seconds = client.run(people // 2)
        before = client.acknowledged
        place.kill(0)
        began = time.perf_counter()
        place.start(0)
        restarted = time.perf_counter() - began
        assert (place.status(0) or {})["uploads"] == before, "what was acknowledged is there, once"
        seconds += client.run(people)
        relaying = time.perf_counter()
        place.until(1, people)
        relayed = time.perf_counter() - relaying
        taking = [place.memory(number) for number in range(2)]
        began = time.perf_counter()
        asked = ["study", "release", "study.toml", "x", "--state", "store-0/state.db", "-o", "x.json"]
        subprocess.run([sys.executable, "-m", "ogive", *asked], cwd=folder, check=True, capture_output=True)
        released = time.perf_counter() - began
        most = [place.memory(number) for number in range(2)]
        told = place.status(0) or {}
        size = told["bytes"] / 1e6
        assert told["clients"] == people - false, "the others were left out"
    finally:
        for number in list(place.running):
            place.kill(number)
    store = Store(folder / "store-0" / "state.db")
    with store.read() as kept:
        (opened,) = OfServers(place.study, kept).answers(0)
    store.close()
    same = bool((opened.values.ravel() == in_process(place).ravel()).all())
    assert same, "the sums are those of servers in one process"
    return [
        row(work, "acknowledged", "uploads/s", people / seconds, runs=1, target=TARGET),
        row(work, "relayed after the last one", "s", relayed, runs=1, larger_is_better=False),
        row(work, "server 0 started again halfway", "s", restarted, runs=1, larger_is_better=False),
        row(work, "memory of server 0 while uploads come, beyond an idle one", "MB", taking[0] - idle[0], runs=1,
            larger_is_better=False),
        row(work, "memory of server 1, likewise", "MB", taking[1] - idle[1], runs=1, larger_is_better=False),
        row(work, "from the question to the release", "s", released, runs=1, larger_is_better=False),
        row(work, "largest memory of a server", "MB", max(most), runs=1, larger_is_better=False),
        row(work, "store of server 0", "MB", size, runs=1, larger_is_better=False),
    ]  # fmt: skip


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--false", type=int, default=0)
    parser.add_argument("--cells", type=int, default=1024)
    parser.add_argument("--crowd", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="few people, and nothing is recorded")
    options = parser.parse_args()
    people = 2_000 if options.quick else options.people

    def rows(folder: Path) -> list[dict[str, Any]]:
        if options.crowd:
            return measure_crowd(folder, people=people, cells=options.cells, crowd=options.crowd)
        return measure(folder, people=people, false=options.false, cells=options.cells)

    measure_in_folder(rows, quick=options.quick)


if __name__ == "__main__":
    main()
