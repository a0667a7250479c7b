"""The tutorial of studies, command by command, on three machines that are folders with processes of their own."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from helpers.machines import Machines

from ogive.statistics.kinds import read_recorded
from ogive.study.document import Study

PAGE = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^(north|south|harbor)\$ (.+)$", PAGE, re.MULTILINE)


@pytest.fixture
def machines(tmp_path):
    found = Machines(tmp_path, ("north", "south", "harbor"))
    for number, name in enumerate(found.ports):
        ages = np.random.default_rng(number).integers(18, 95, 1_000)
        (tmp_path / name / "patients.csv").write_text("age\n" + "\n".join(map(str, ages)) + "\n")
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
