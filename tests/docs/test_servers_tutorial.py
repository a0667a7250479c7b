"""The tutorial of servers, command by command, on three machines that are folders with processes of their own."""

import json
import re
import time
import tomllib
from pathlib import Path

import pytest
from helpers.machines import Machines
from helpers.servers_study import text_of

from ogive.statistics.kinds import read_recorded
from ogive.study.document import ServersStudy

PAGE = (Path(__file__).parents[2] / "docs" / "servers_network.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^(north|south|ana)\$ (.+)$", PAGE, re.MULTILINE)


@pytest.fixture
def machines(tmp_path):
    found = Machines(tmp_path, ("north", "south", "ana"))
    yield found
    found.end()


@pytest.mark.slow
def test_the_tutorial_works_as_it_is_written(machines):
    assert len(COMMANDS) >= 20
    said = {}
    for machine, command in COMMANDS:
        for _ in range(600):  # a server that was started a moment ago may not answer yet
            done = machines.run(machine, command)
            if done is None or done.returncode == 0 or not command.startswith("ogive upload"):
                break
            time.sleep(0.5)
        if done is not None:
            assert done.returncode == 0, (machine, command, done.stderr)
            said[machine, command.split(" --")[0]] = done.stdout + done.stderr
    assert "the record is uploaded" in said["ana", "ogive upload study.toml"]
    assert "age: released" in said["north", "ogive study status study.toml"]
    assert "epsilon = 1" in said["south", "ogive ledger show store/ledger"]
    curve = read_recorded(json.loads((machines.folder / "north" / "age.json").read_text()))
    assert curve.total == 1
    assert "<svg" in (machines.folder / "north" / "age.html").read_text(encoding="utf-8")


def test_the_file_of_the_page_is_a_study():
    block, organizations = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    written = block.partition("[[server]]")[0]
    more = "[[server]]" + text_of().decode().partition("[[server]]")[2]
    study = ServersStudy.parse((written + more).encode())
    assert (study.terms.verifications, study.terms.tolerated, study.terms.uploads.verified) == (16, 0.01, True)
    assert tomllib.loads(organizations) == {"parties": 4}
    sums = "\n".join(line for line in written.splitlines() if not line.startswith(("upload", "verif", "tolerated")))
    assert (
        ServersStudy.parse(sums.replace("[unit]", f"{organizations}\n[unit]").encode() + more.encode()).terms.parties
        == 4
    )
