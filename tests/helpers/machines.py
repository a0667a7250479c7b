"""The machines of a tutorial: folders, in which its commands run, and processes that last."""

import os
import signal
import subprocess
import sys

from helpers.forked import program
from helpers.study_service import free_port
from helpers.waiting import PATIENCE, listens, until

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

    Commands that end are forked from one process, and those that last are started.

    Args:
        folder: In which the folders are made.
        names: Of the machines.
    """

    def __init__(self, folder, names):
        self.folder, self.lasting = folder, []
        self.ports = {name: free_port() for name in names}
        shims, own = folder / "bin", folder / "own"
        shims.mkdir()
        (shims / "scp").write_text(SCP)
        (shims / "scp").chmod(0o755)
        program(shims)
        own.mkdir()
        (own / "ogive").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ogive "$@"\n')
        (own / "ogive").chmod(0o755)
        self.environment = os.environ | {"MACHINES": str(folder), "PATH": f"{shims}:{os.environ['PATH']}"}
        self.starting = self.environment | {"PATH": f"{own}:{self.environment['PATH']}"}
        for name in names:
            (folder / name).mkdir()

    def run(self, machine, command):
        command = command.replace("0.0.0.0 --port 8443", f"127.0.0.1 --port {self.ports[machine]}")
        for name, port in self.ports.items():
            command = command.replace(f"{name}.example.org:8443", f"127.0.0.1:{port}")
            command = command.replace(f"--host {name}.example.org", "--host 127.0.0.1")
        keep = {"cwd": self.folder / machine, "shell": True}
        if not command.startswith(LASTING):
            environment = self.environment
            return subprocess.run(command, **keep, env=environment, capture_output=True, text=True, timeout=PATIENCE)
        keep["env"] = self.starting
        with (self.folder / machine / "log.txt").open("ab") as log:
            self.lasting.append(subprocess.Popen(command, **keep, stdout=log, stderr=log, start_new_session=True))
        if command.startswith(SERVING):
            self.listens(machine, self.lasting[-1])
        return None

    def listens(self, machine, process):
        """Wait until the machine can be reached, as people do who read what the command says."""
        until(lambda: listens(self.ports[machine]) or process.poll() is not None, every=0.05)
        assert process.poll() is None, (self.folder / machine / "log.txt").read_text()

    def end(self):
        for process in self.lasting:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(PATIENCE)
