"""A server whose shares of some uploads are false: these are left out of every sum, or nothing is answered any more.

It changes them after both servers agreed on the names and hashes of uploads, so that only the verification can tell.
"""

import contextlib
import itertools
import re

import numpy as np
import pytest
from helpers.forked import Forked
from helpers.lying_server import Corrupted, lying
from helpers.server_processes import Processes
from helpers.servers_study import AGE, Trial, in_process
from helpers.waiting import PATIENCE

from ogive.privacy import PureDP
from ogive.records import Records
from ogive.study.course import course

FEW = AGE | {"bounds": "[0, 15]"}
VALUES = np.array([0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15])
MEDIAN = FEW | {"name": "median", "statistic": "quantiles", "probabilities": "[0.5]", "method": "'bisection'"}
"""Asks for coarser sums first; both releases are asked of the same uploads."""


def silence(monkeypatch):
    monkeypatch.setattr("ogive.trust.servers.server.residues", lambda noise, modulus: np.zeros(noise.size, np.uint64))


@pytest.fixture
def corrupted(monkeypatch):
    silence(monkeypatch)
    return Corrupted(monkeypatch)


def of_twelve(folder, upload, *, tolerated=None):
    more = {} if tolerated is None else {"tolerated": tolerated}
    trial = Trial(folder, people=12, releases=(FEW, MEDIAN), records=12, upload=f'"{upload}"', **more)
    trial.upload({"age": VALUES})
    return trial


def advance(trial):
    """Carry what was asked for as far as it goes."""
    trial.leader.relay()
    while trial.leader.advance():
        pass


def states(trial, number=0):
    return {each["name"]: each for each in trial.nodes[number].states()}


def without(many, opened):
    """Every choice of so many people without whom sums, without noise, are what they are, each with its query.

    Servers number clients in an order of their own.
    """
    return [left for left in itertools.combinations(range(12), many) if all(
        (query.measure(Records.of({"age": np.delete(VALUES, left)}).aggregate(query.aggregate)) == values).all()
        for query, values in opened
    )]  # fmt: skip


def lacking(trial, many):
    """Every choice of so many people without whom the opened sums, without noise, are what they are."""
    opened = []
    for number, release in enumerate(trial.study.releases):
        one, other = (node.answers(number) for node in trial.nodes.values())
        assert [each.values.tolist() for each in one] == [each.values.tolist() for each in other]
        opened += [(course(trial.study, release, one[:place]).query, each.values) for place, each in enumerate(one)]
    assert opened
    return without(many, opened)


@pytest.mark.each_value
@pytest.mark.parametrize(("upload", "ends"), [("keys", ()), ("keys", (1,)), ("tables", (0, 1))])
@pytest.mark.parametrize(("tolerated", "many"), [(None, 1), ("0.25", 3)])
@pytest.mark.parametrize("liar", [0, 1])
def test_false_shares_leave_the_same_clients_out_of_every_sum(tmp_path, corrupted, upload, ends, tolerated, many, liar):
    with of_twelve(tmp_path, upload, tolerated=tolerated) as trial:
        corrupted.clients, corrupted.server = (3, 5, 7)[:many], liar
        for release in ("age", "median"):
            trial.ask(release)
            advance(trial)
            assert states(trial)[release]["state"] == "released"
            for number in ends:
                trial.restart(number)
        assert len(lacking(trial, many)) == 1
        for node in trial.nodes.values():
            assert node._servers[0].state.left_out.tolist() == list(corrupted.clients)
        assert {node.spent() for node in trial.nodes.values()} == {PureDP(2)}


@pytest.mark.each_value
@pytest.mark.parametrize("ends", [(), (0, 1)])
@pytest.mark.parametrize(("tolerated", "many"), [(None, 2), ("0.25", 4)])
def test_more_of_them_than_are_tolerated_end_everything_and_nothing_is_paid(tmp_path, corrupted, tolerated, many, ends):
    with of_twelve(tmp_path, "keys", tolerated=tolerated) as trial:
        corrupted.clients = range(many)
        trial.ask()
        advance(trial)
        corrupted.clients = ()
        for number in ends:
            trial.restart(number)
        trial.ask("median")
        advance(trial)
        for each in (found for number in trial.numbers for found in states(trial, number).values()):
            assert (each["state"], each["opened"]) == ("over", 0)
            assert f"{many} of 12 clients failed the verification of their uploads" in each["reason"]
        assert {node.spent() for node in trial.nodes.values()} == {None}


@pytest.mark.parametrize("ends", [(), (0, 1)])
def test_one_of_them_after_a_sum_was_opened_ends_everything_else(tmp_path, corrupted, ends):
    """Without the client the second sum would show what it added to the first."""
    with of_twelve(tmp_path, "keys", tolerated="0.25") as trial:
        corrupted.clients, corrupted.more = (3,), 0  # the first question is about everybody, and not verified
        trial.ask("median")
        advance(trial)
        for number in ends:
            trial.restart(number)
        trial.ask("age")
        advance(trial)
        found = states(trial)
        assert {name: (each["state"], each["opened"]) for name, each in found.items()} == {
            "age": ("over", 0), "median": ("over", 1),
        }  # fmt: skip
        assert all("found false after a question had been answered" in each["reason"] for each in found.values())
        assert lacking(trial, 0)
        assert {node.spent() for node in trial.nodes.values()} == {PureDP(1)}


class Lying(Processes):
    """The servers as processes, of which server 1 lies."""

    def __init__(self, trial, **lies):
        super().__init__(trial)
        self._lies = lies

    def started(self, number, words):
        log = self.folder / f"{number}.log"
        return lying(words, self.folder, log, **self._lies) if number == 1 else super().started(number, words)

    def asked(self, name, *, killed=()):
        """`ogive study release`, while servers are killed and begin again; its exit status, and its errors."""
        words = ["study", "release", "study.toml", name, "--state", "server-0/state.db", "-o", f"{name}.json"]
        release = Forked(words, self.folder)
        if killed:
            self.until(0, lambda found: not found["open"])
        for number in killed:
            self.kill(number)
            self.start(number)
        _, complaint = release.communicate(PATIENCE)
        return release.returncode, [line for line in complaint.splitlines() if not line.startswith("release ")]


@contextlib.contextmanager
def processes_of(folder, *, tolerated=None, **lies):
    """Servers as processes with the uploads of twelve people, of which the second lies."""
    trial = of_twelve(folder, "keys", tolerated=tolerated)
    trial.close()
    with Lying(trial, **lies) as processes:
        for number in trial.numbers:
            processes.start(number)
        for number in trial.numbers:
            processes.until(number, lambda found: True)
        yield processes
        assert "Traceback" not in (folder / "0.log").read_text()


def ends_of(processes, name, state):
    """What each server tells of a release once it has ended so."""
    number = [release.name for release in processes.trial.study.releases].index(name)
    found = [processes.until(each, lambda found: found["releases"][number]["state"] == state) for each in (0, 1)]
    return [(each["releases"][number], each["spent"]) for each in found]


@pytest.mark.each_value
@pytest.mark.parametrize(("tolerated", "clients"), [(None, (3,)), ("0.25", (3, 5, 7))])
@pytest.mark.parametrize("killed", [(), (0, 1)])
def test_sums_with_a_process_that_lies_are_those_of_the_others_uploads(
    tmp_path, monkeypatch, tolerated, clients, killed
):
    with processes_of(tmp_path, tolerated=tolerated, clients=clients) as processes:
        trial = processes.trial
        status, complaint = processes.asked("age", killed=killed)
        assert status == 0, complaint
        assert [spent for _, spent in ends_of(processes, "age", "released")] == ["epsilon = 1"] * 2
        lines = [line for line in processes.log(0).splitlines() if "false uploads" in line]
        assert lines
        assert all(line.endswith(f"server 0 found false uploads of clients {list(clients)}") for line in lines)
    for number in trial.numbers:
        trial.start(number)
    with trial:
        Corrupted(monkeypatch, clients=clients)
        reports = trial.reports({"age": VALUES})
        expected = in_process(trial, reports)
        for node in trial.nodes.values():
            assert (node.answers(0)[0].values.ravel() == expected.ravel()).all()
        silence(monkeypatch)
        query = course(trial.study, trial.study.releases[0], ()).query
        assert len(without(len(clients), [(query, in_process(trial, reports))])) == 1


@pytest.mark.each_value
@pytest.mark.parametrize(("tolerated", "many"), [(None, 2), ("0.25", 4)])
@pytest.mark.parametrize("killed", [(), (0, 1)])
def test_a_process_that_lies_about_too_many_ends_the_release_in_one_line(tmp_path, tolerated, many, killed):
    with processes_of(tmp_path, tolerated=tolerated, clients=range(many)) as processes:
        status, complaint = processes.asked("age", killed=killed)
        reason = f"{many} of 12 clients failed the verification of their uploads, more than the"
        assert status != 0
        (line,) = complaint
        assert re.fullmatch(f"ogive: error: release age is over: .*{reason}.*", line)
        assert not (tmp_path / "age.json").exists()
        for found, spent in ends_of(processes, "age", "over"):
            assert (found["opened"], spent) == (0, None)
            assert reason in found["reason"]


def test_a_process_that_lies_once_a_sum_was_opened_ends_the_others(tmp_path):
    """Its first answers are right; what it says later would show what a client added."""
    with processes_of(tmp_path, tolerated="0.25", clients=(3,), more=0) as processes:
        for name, opened in (("median", 1), ("age", 0)):
            status, complaint = processes.asked(name)
            assert status != 0
            (line,) = complaint
            assert re.fullmatch(f"ogive: error: release {name} is over: .*found false after a question .*", line)
            assert not (tmp_path / f"{name}.json").exists()
            for found, spent in ends_of(processes, name, "over"):
                assert (found["opened"], spent) == (opened, "epsilon = 1")
