"""Flower on loopback: a SuperLink with TLS and node authentication, and SuperNodes, each in a process group."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from helpers.study_service import free_port
from helpers.waiting import PATIENCE, ended, listens, until

from ogive.study.agent import listen_at
from ogive.study.local_client import QUIET

NODE = Path(__file__).with_name("flower_node.py")
BIN = Path(sys.executable).parent


class Federation:
    """A SuperLink and a SuperNode for each party.

    Args:
        folder: For state, keys and logs.
        service: Folder with the certificate that the SuperLink shows.
        agents: Sockets of the agents, by party's number and name.
    """

    def __init__(self, folder, service, agents):
        self.folder, self.service, self.agents = folder, service, agents
        self.port, self.running = free_port(), {}
        home = folder / "home"
        home.mkdir()
        (home / "config.toml").write_text(
            f'[superlink]\ndefault = "net"\n[superlink.net]\naddress = "127.0.0.1:{self.port}"\n'
            f'root-certificates = "{service}/ca.pem"\n'
        )
        self.environment = (
            os.environ
            | QUIET
            | {
                "FLWR_HOME": str(home),
                "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.2",
                "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            }
        )
        for number, _ in agents:
            key = ec.generate_private_key(ec.SECP384R1())
            private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
            (folder / f"node{number}").write_bytes(private)
            public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
            (folder / f"node{number}.pub").write_bytes(public + b"\n")

    def start(self, name, *words):
        with self.log(name).open("ab") as log:
            self.running[name] = subprocess.Popen(
                list(map(str, words)),
                env=self.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return self.running[name]

    def log(self, name):
        return self.folder / f"{name}.log"

    def kill(self, name):
        process = self.running.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)

    def superlink(self):
        self.start(
            "superlink", "flower-superlink", "--ssl-ca-certfile", self.service / "ca.pem", "--ssl-certfile",
            self.service / "service.pem", "--ssl-keyfile", self.service / "service.key", "--enable-supernode-auth",
            "--database", self.folder / "flower.db", "--disable-runtime-dependency-installation",
            "--host", "127.0.0.1", "--port", self.port,
        )  # fmt: skip
        until(lambda: listens(self.port) or self.running["superlink"].poll() is not None, every=0.1)
        assert self.running["superlink"].poll() is None, self.log("superlink").read_text()[-2000:]

    def node(self, number):
        (path,) = [socket for (each, _), socket in self.agents.items() if each == number]
        (party,) = [name for each, name in self.agents if each == number]
        self.start(
            f"node{number}", sys.executable, NODE, "--root-certificates", self.service / "ca.pem", "--superlink",
            f"127.0.0.1:{self.port}", "--auth-supernode-private-key", self.folder / f"node{number}", "--port",
            free_port(), "--node-config", f'agent="{path}" party="{party}"',
        )  # fmt: skip

    def node_again(self, number, seconds=PATIENCE):
        """Start a node that was killed, until the SuperLink has noticed that the other is gone."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            before = self.log(f"node{number}").stat().st_size
            self.node(number)
            while time.monotonic() < end:
                said = self.log(f"node{number}").read_bytes()[before:]
                if b"SuperNode ID:" in said:
                    return
                if b"Exit Code:" in said or self.running[f"node{number}"].poll() is not None:
                    break  # it was refused; such a process does not always end by itself
                time.sleep(0.1)
            self.kill(f"node{number}")
        raise AssertionError(f"node {number} was never let in again")

    def begin(self):
        self.superlink()
        registering = [
            self.start(f"register{number}", "flwr", "supernode", "register", self.folder / f"node{number}.pub", "net")
            for number, _ in self.agents
        ]
        for process in registering:
            process.wait(PATIENCE)
        for number, _ in self.agents:
            del self.running[f"register{number}"]
            self.node(number)

    def run(self, name, app):
        return self.start(name, "flwr", "run", app, "net", "--stream")

    def ended(self, name, seconds):
        """Wait for a process to end well; where it does not, say what every process has told last."""
        try:
            code = self.running[name].wait(seconds)
        except subprocess.TimeoutExpired:
            code = f"still running after {seconds} s"
        told = "\n".join(f"{log.name}: {log.read_text(errors='replace')[-1500:]}" for log in self.folder.glob("*.log"))
        assert code == 0, f"{name}: {code}\n{told}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for name in list(self.running):
            self.kill(name)


@contextlib.contextmanager
def listening(trial, folder, only=None):
    """The agents of a trial at sockets, each in a thread; by number and name of the party."""
    stop, threads, sockets = threading.Event(), [], {}
    for number in only or trial.sites:
        path = folder / f"{number}.sock"
        sockets[number, trial.study.parties[number - 1].name] = path
        threads.append(
            threading.Thread(target=listen_at, args=(f"unix:{path}", trial.sites[number].agent, stop), daemon=True)
        )
    for thread in threads:
        thread.start()
    try:
        yield sockets
    finally:
        stop.set()
        ended(*threads)
