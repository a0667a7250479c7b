"""A server whose shares of some uploads are false: these are left out of every sum, or nothing is answered any more.

It changes them after both servers agreed on the names and hashes of uploads, so that only the verification can tell.
"""

import itertools

import numpy as np
import pytest
from helpers.servers_study import AGE, Trial

from ogive.privacy import PureDP
from ogive.records import Records
from ogive.study.course import course
from ogive.trust.servers.server import Server, added, subtracted

FEW = AGE | {"bounds": "[0, 15]"}
VALUES = np.array([0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15])
MEDIAN = FEW | {"name": "median", "statistic": "quantiles", "probabilities": "[0.5]", "method": "'bisection'"}
"""Asks for coarser sums first; both releases are asked of the same uploads."""


class Corrupted:
    """Makes a server hold other shares of some clients than these sent: in what it verifies, and in its sums."""

    def __init__(self, monkeypatch):
        self.clients, self.server, self.more = (), 1, 1
        evaluated, sums = Server._evaluated, Server._sums

        def false_evaluated(server, ends, weights):
            forms, total = evaluated(server, ends, weights)
            for client in self.clients if server._number == self.server else ():
                forms[:, client] ^= np.uint64(1)
                total = added(total, np.full_like(total, self.more), server.collected.modulus)
            return forms, total

        def false_sums(server, state):
            total = sums(server, state)
            for client in state.left_out.tolist():  # what is taken out again is what it holds
                if server._number == self.server and client in self.clients:
                    total = subtracted(total, np.full_like(total, self.more), server.collected.modulus)
            return total

        monkeypatch.setattr(Server, "_evaluated", false_evaluated)
        monkeypatch.setattr(Server, "_sums", false_sums)


@pytest.fixture
def corrupted(monkeypatch):
    monkeypatch.setattr("ogive.trust.servers.server.residues", lambda noise, modulus: np.zeros(noise.size, np.uint64))
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


def lacking(trial, many):
    """Every choice of so many people without whom the opened sums, without noise, are what they are.

    Servers number clients in an order of their own.
    """
    opened = []
    for number, release in enumerate(trial.study.releases):
        one, other = (node.answers(number) for node in trial.nodes.values())
        assert [each.values.tolist() for each in one] == [each.values.tolist() for each in other]
        opened += [(course(trial.study, release, one[:place]).query, each.values) for place, each in enumerate(one)]
    assert opened
    return [left for left in itertools.combinations(range(12), many) if all(
        (query.measure(Records.of({"age": np.delete(VALUES, left)}).aggregate(query.aggregate)) == values).all()
        for query, values in opened
    )]  # fmt: skip


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
