"""The machines of a tutorial: folders, in which its commands run, and processes that last."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time

from helpers.study_service import free_port

SERVING = ("ogive study serve", "ogive server", "ogive local serve")
LASTING = ("ogive agent", *SERVING)
SCP = """#!/bin/sh
# copies to the folder of a machine instead of the machine
for last; do :; done
to="$MACHINES/$(echo "$last" | sed 's/[.:].*//')/$(echo "$last" | sed 's/^[^:]*://')"
while [ $# -gt 1 ]; do cp "$1" "$to"; shift; done
"""


class Machines:
    """A folder for each machine, and the processes that run in them; each listens at a port of its own.

    Args:
        folder: In which the folders are made.
        names: Of the machines.
    """

    def __init__(self, folder, names):
        self.folder, self.lasting = folder, []
        self.ports = {name: free_port() for name in names}
        shims = folder / "bin"
        shims.mkdir()
        (shims / "scp").write_text(SCP)
        (shims / "scp").chmod(0o755)
        (shims / "ogive").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ogive "$@"\n')
        (shims / "ogive").chmod(0o755)
        self.environment = os.environ | {"MACHINES": str(folder), "PATH": f"{shims}:{os.environ['PATH']}"}
        for name in names:
            (folder / name).mkdir()

    def run(self, machine, command):
        command = command.replace("0.0.0.0 --port 8443", f"127.0.0.1 --port {self.ports[machine]}")
        for name, port in self.ports.items():
            command = command.replace(f"{name}.example.org:8443", f"127.0.0.1:{port}")
            command = command.replace(f"--host {name}.example.org", "--host 127.0.0.1")
        keep = {"cwd": self.folder / machine, "env": self.environment, "shell": True}
        if not command.startswith(LASTING):
            return subprocess.run(command, **keep, capture_output=True, text=True, timeout=120, check=False)
        with (self.folder / machine / "log.txt").open("ab") as log:
            self.lasting.append(subprocess.Popen(command, **keep, stdout=log, stderr=log, start_new_session=True))
        if command.startswith(SERVING):
            self.listens(machine, self.lasting[-1])
        return None

    def listens(self, machine, process, seconds=60):
        """Wait until the machine can be reached, as people do who read what the command says."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(ConnectionRefusedError):
                return socket.create_connection(("127.0.0.1", self.ports[machine]), 5).close()
            assert process.poll() is None, (self.folder / machine / "log.txt").read_text()
            time.sleep(0.05)
        raise AssertionError(f"{machine} cannot be reached: {(self.folder / machine / 'log.txt').read_text()}")

    def end(self):
        for process in self.lasting:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(20)
