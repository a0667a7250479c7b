"""The servers of a trial as processes on loopback, which may be killed and started again."""

import os
import signal
import ssl
import subprocess
import sys

import httpx
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from helpers.forked import Forked
from helpers.servers_study import key_of
from helpers.study_service import free_port
from helpers.waiting import PATIENCE, until

from ogive.study.enrolment import equip


class Processes:
    """The servers of a trial, each a process of its own."""

    def __init__(self, trial):
        self.trial, self.folder, self.running = trial, trial.folder, {}
        self.ports = {number: free_port() for number in trial.numbers}
        for number in trial.numbers:
            equip(self.folder / f"tls-{number}", trial.study, hosts=("127.0.0.1",))
            written = key_of(number).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
            (self.folder / f"{number}.key").write_bytes(written)
        (self.folder / "study.toml").write_bytes(trial.study.text)

    def start(self, number):
        """`ogive server` of a number."""
        others = [f"https://127.0.0.1:{port}" for other, port in self.ports.items() if other]
        connect = ["--connect-to", *others, "--authority", "tls-1/ca.pem"] if number == 0 else []
        words = [
            "server", "study.toml", "--key", f"{number}.key", "--store", f"server-{number}", "--enrolled",
            f"server-{number}/enrolled", "--service", f"tls-{number}", "--port", self.ports[number], *connect,
        ]  # fmt: skip
        self.running[number] = self.started(number, words)

    def started(self, number, words):
        """The process of a server; these words follow `ogive`."""
        return Forked(words, self.folder, self.folder / f"{number}.log")

    def run(self, number, *words):
        """Python with these arguments as a server."""
        with (self.folder / f"{number}.log").open("a") as log:
            self.running[number] = subprocess.Popen(
                [sys.executable, *words], cwd=self.folder, stdout=log, stderr=log, start_new_session=True
            )

    def kill(self, number):
        process = self.running.pop(number)
        if isinstance(process, Forked):
            process.kill(PATIENCE)
            return
        os.killpg(process.pid, signal.SIGKILL)  # with all its workers
        process.wait(PATIENCE)

    def status(self, number):
        context = ssl.create_default_context(cafile=str(self.folder / f"tls-{number}" / "ca.pem"))
        url = f"https://127.0.0.1:{self.ports[number]}/v1/status"
        try:
            return httpx.get(url, verify=context, timeout=PATIENCE, trust_env=False).json()
        except httpx.HTTPError:
            return None

    def until(self, number, true):
        """What a server tells, once that is as wanted."""
        found = None

        def wanted():
            nonlocal found
            found = self.status(number)
            return found is not None and true(found)

        until(wanted, told=lambda: f"server {number}: {found}: {self.log(number)}", every=0.05)
        return found

    def log(self, number):
        return (self.folder / f"{number}.log").read_text()[-1500:]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for number in list(self.running):
            self.kill(number)
