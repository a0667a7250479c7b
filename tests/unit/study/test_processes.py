"""A study of real processes on loopback: any of them is killed at any step, and the release goes on with one charge."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers.forked import Forked
from helpers.study import people
from helpers.study_service import free_port
from helpers.waiting import PATIENCE, until

from ogive import Ledger, PureDP
from ogive.statistics.kinds import read_recorded
from ogive.study.agent import approve
from ogive.study.document import Study
from ogive.study.store import Store

PARTIES = 4
STEPS = ("keys", "shares", "input", "confirm", "unmask")


class Processes:
    """The commands of a study, each a process of its own."""

    def __init__(self, folder):
        self.folder, self.port, self.running = folder, free_port(), {}
        self.released = 0

    def run(self, *words, code=0):
        """What a command prints and what it complains of."""
        done = Forked(words, self.folder)
        printed, complaint = done.communicate(PATIENCE)
        assert done.returncode == code, complaint
        return printed, complaint

    def start(self, name, *words):
        self.running[name] = Forked(words, self.folder, self.folder / f"{name}.log")

    def kill(self, name):
        self.running.pop(name).kill(PATIENCE)

    def log(self, name):
        path = self.folder / f"{name}.log"
        return path.read_text() if path.exists() else ""

    def until(self, name, text):
        """Wait until a process has said something."""
        until(lambda: text in self.log(name), told=lambda: f"{name}: {text!r}: {self.log(name)[-2000:]}", every=0.005)

    def coordinator(self):
        self.start(
            "coordinator", "study", "serve", "study.toml", "--key", "coordinator.key", "--state", "coordinator.db",
            "--service", "service", "--port", self.port, "--step-seconds", "120",
        )  # fmt: skip

    def agent(self, number):
        self.start(
            f"agent{number}", "agent", "study.toml", "--records", f"records{number}.parquet", "--key",
            f"site{number}.key", "--state", f"agent{number}.db", "--connect", f"https://127.0.0.1:{self.port}",
            "--token", f"service/site{number}.token", "--authority", "service/ca.pem",
        )  # fmt: skip


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    found = Processes(tmp_path_factory.mktemp("study"))
    coordinator = found.run("study", "keys", "coordinator.key")[0].strip()
    parties = []
    for number in range(1, PARTIES + 1):
        key = found.run("study", "keys", f"site{number}.key")[0].strip()
        parties += ["--party", f"site{number}={key}"]
        pq.write_table(pa.table(people(number)), found.folder / f"records{number}.parquet")
    found.run(
        "study", "new", "study.toml", "--name", "trial", "--coordinator", coordinator, "--records", 4000, *parties
    )
    path = found.folder / "study.toml"
    text = path.read_text().replace("budget = { epsilon = 1 }", "budget = { epsilon = 20 }")
    front, _, release = text.partition("[[release]]")
    asked = [release.replace('"age"', f'"{step}"', 1) for step in STEPS]
    path.write_text(front + "".join(f"[[release]]{each}" for each in asked))
    found.run("study", "keys", "--service", "service", "--study", "study.toml", "--host", "127.0.0.1")
    found.run(
        "study", "check", "study.toml", "--records", "records1.parquet", "--key", "site1.key",
        "--state", "agent1.db", "--approve",
    )  # fmt: skip
    for number in range(2, PARTIES + 1):
        store = Store(found.folder / f"agent{number}.db")
        approve(store, Study.read(path))
        store.close()
    try:
        found.coordinator()
        found.until("coordinator", "serving study")  # its state is there from then on
        for number in range(1, PARTIES + 1):
            found.agent(number)
        for number in range(1, PARTIES + 1):  # whoever is late would not be asked for the first step
            found.until(f"agent{number}", "connected to the coordinator")
        yield found
    finally:
        for name in list(found.running):
            found.kill(name)


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_any_process_may_be_killed_at_any_step(processes, step):
    processes.run("study", "release", "study.toml", step, "--state", "coordinator.db", "--no-wait")
    processes.until("agent2", f"release {step}, query 1, attempt 1: answered the step {step}")
    processes.kill("agent2")  # its answer may be on the way: nobody may wait for it before it runs again
    if step != STEPS[0]:
        before = STEPS[STEPS.index(step) - 1]
        processes.until("coordinator", f"release {step}, query 1, attempt 1: 4 parties answered the step {before}")
    processes.kill("coordinator")
    processes.agent(2)
    processes.coordinator()
    processes.run("study", "release", "study.toml", step, "--state", "coordinator.db", "-o", f"{step}.json")
    processes.released += 1
    curve = read_recorded(json.loads((processes.folder / f"{step}.json").read_text()))
    ages = np.concatenate([people(number)["age"] for number in range(1, PARTIES + 1)])
    assert curve.total == 4 * 1000
    assert abs(curve(50) - np.mean(ages <= 50)) < 0.05
    for number in range(1, PARTIES + 1):
        processes.until(f"agent{number}", f"release {step}: its result is stored")
        with_ledger = Ledger.open(processes.folder / f"agent{number}.db.ledger", read_only=True)
        (account,) = with_ledger.accounts()
        assert account.spent == PureDP(processes.released)
        with_ledger.close()


def test_an_agent_runs_only_what_its_owner_approved(processes):
    other = processes.folder / "other.toml"
    other.write_text((processes.folder / "study.toml").read_text().replace("epsilon = 20", "epsilon = 200"))
    said = processes.run(
        "agent", "other.toml", "--records", "records1.parquet", "--key", "site1.key", "--state", "agent1.db",
        "--connect", "https://127.0.0.1:1", "--token", "service/site1.token", code=1,
    )[1]  # fmt: skip
    assert "not approved" in said
    assert said.count("\n") == 1


def test_two_processes_do_not_run_on_one_state(processes):
    said = processes.run(
        "agent", "study.toml", "--records", "records1.parquet", "--key", "site1.key", "--state", "agent1.db",
        "--connect", "https://127.0.0.1:1", "--token", "service/site1.token", code=1,
    )[1]  # fmt: skip
    assert "in use by another process" in said
