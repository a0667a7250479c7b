"""The tutorial of studies, command by command, on three machines that are folders with processes of their own."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from helpers.study_service import free_port

from ogive.statistics.kinds import read_recorded
from ogive.study.document import Study

PAGE = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^(north|south|harbor)\$ (.+)$", PAGE, re.MULTILINE)
LASTING = ("ogive agent", "ogive study serve")
SCP = """#!/bin/sh
# copies to the folder of a machine instead of the machine
for last; do :; done
to="$MACHINES/$(echo "$last" | sed 's/[.:].*//')/$(echo "$last" | sed 's/^[^:]*://')"
while [ $# -gt 1 ]; do cp "$1" "$to"; shift; done
"""


class Machines:
    """Three folders, and the processes that run in them."""

    def __init__(self, folder):
        self.folder, self.port, self.lasting = folder, free_port(), []
        shims = folder / "bin"
        shims.mkdir()
        (shims / "scp").write_text(SCP)
        (shims / "scp").chmod(0o755)
        (shims / "ogive").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ogive "$@"\n')
        (shims / "ogive").chmod(0o755)
        self.environment = os.environ | {"MACHINES": str(folder), "PATH": f"{shims}:{os.environ['PATH']}"}
        for number, name in enumerate(("north", "south", "harbor")):
            (folder / name).mkdir()
            ages = np.random.default_rng(number).integers(18, 95, 1_000)
            (folder / name / "patients.csv").write_text("age\n" + "\n".join(map(str, ages)) + "\n")

    def run(self, machine, command):
        command = command.replace("harbor.example.org:8443", f"127.0.0.1:{self.port}")
        command = command.replace("0.0.0.0 --port 8443", f"127.0.0.1 --port {self.port}")
        command = command.replace("--host harbor.example.org", "--host 127.0.0.1")
        keep = {"cwd": self.folder / machine, "env": self.environment, "shell": True}
        if not command.startswith(LASTING):
            return subprocess.run(command, **keep, capture_output=True, text=True, timeout=120, check=False)
        with (self.folder / machine / "log.txt").open("ab") as log:
            self.lasting.append(subprocess.Popen(command, **keep, stdout=log, stderr=log, start_new_session=True))
        time.sleep(0.1)
        return None

    def end(self):
        for process in self.lasting:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(20)


@pytest.fixture
def machines(tmp_path):
    found = Machines(tmp_path)
    yield found
    found.end()


@pytest.mark.slow
def test_the_tutorial_works_as_it_is_written(machines):
    assert len(COMMANDS) >= 20
    said = {}
    for machine, command in COMMANDS:
        done = machines.run(machine, command)
        if done is not None:
            assert done.returncode == 0, (machine, command, done.stderr)
            said[machine, command.split(" --")[0]] = done.stdout
    digest = Study.read(machines.folder / "harbor" / "study.toml").digest.hex()
    assert f"SHA-256 {digest}" in said["north", "ogive study check study.toml"]
    assert "age: released" in said["harbor", "ogive study status study.toml"]
    assert "epsilon = 1" in said["north", "ogive ledger show agent.db.ledger"]
    curve = read_recorded(json.loads((machines.folder / "harbor" / "age.json").read_text()))
    assert curve.total == 3_000
    assert "<svg" in (machines.folder / "harbor" / "age.html").read_text(encoding="utf-8")


def test_the_file_of_the_page_is_a_study():
    from helpers.study import public

    blocks = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 2
    text = blocks[0]
    for number in (1, 2):  # of the coordinator and the party that are written with dots
        text = text.replace('"ed25519:..."', f'"{public(number - 1)}"', 1)
    more = "".join(f'[[party]]\nname = "p{number}"\nkey = "{public(number)}"\n' for number in (2, 3))
    study = Study.parse((text + more).encode())
    assert [release.statistic.name for release in study.releases] == ["ecdf"]
    text = text.partition("[[release]]")[0].replace("{ epsilon = 1 }", "{ epsilon = 8, delta = 1e-5 }")
    votes = Study.parse((text + more + blocks[1]).encode())
    assert [release.statistic.name for release in votes.releases] == ["labels"]
