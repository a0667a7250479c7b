"""Studies under faults that a seeded generator chooses; the numbers are those of a study without faults.

FAULT_RUNS says how many there are; by default one in `make test` and thirty in `make test-all`.
"""

import contextlib
import hashlib
import os
import random

import pytest
from helpers.scope import size
from helpers.study import AGE, Trial, carry, key_of, people, text_of

from ogive import PureDP
from ogive.errors import PeerError
from ogive.study.agent import Agent
from ogive.study.frames import Question, Reply
from ogive.study.store import Store

TEXT = text_of(releases=(AGE,), records=200)
RUNS = int(os.environ.get("FAULT_RUNS", size(30, part=1)))
CHUNK = max(1, min(RUNS, 5))
FAULTY_STEPS = 60
SECRETS = {number: hashlib.sha256(b"secret %d" % number).digest() for number in range(1, 5)}


@pytest.fixture(scope="module", autouse=True)
def same_noise():
    """Parties whose secrets are the same in every run; keys and shares differ."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Agent, "_part", part)
        yield


def part(self, release):
    if release not in self._parts:
        self._parts[release] = self._own.resume(self.study.unit.adjacency, secret=SECRETS[self.number])
    return self._parts[release]


class Power(Exception):  # noqa: N818 - what a process does not survive
    """The process ended in the middle of a transaction."""


class Faulty(Trial):
    """A trial whose participants have records of 50 people each, and end when told to."""

    def __init__(self, folder):
        super().__init__(folder, TEXT, records={number: people(number, 50) for number in range(1, 5)})


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What these parties release without faults, by who they are."""
    found = {}

    def of(members):
        if members not in found:
            trial = Faulty(tmp_path_factory.mktemp("expected"))
            trial.coordinator.request("age")
            chosen = {number: trial.agents[number] for number in members}
            carry(trial.coordinator, chosen)
            trial.clock.now += 61
            carry(trial.coordinator, chosen)
            found[members] = trial.coordinator.result("age")["raw"]
        return found[members]

    return of


class Run:
    """One study under faults.

    Args:
        trial: The study.
        seed: Of the generator of faults.
    """

    def __init__(self, trial, seed):
        self.trial, self.random = trial, random.Random(seed)
        self.kept = []  # replies that were lost or delayed, by party
        self.happened = set()
        self.acknowledged = set()

    def choose(self, chances):
        """One of the faults, or None."""
        name = self.random.choices([*chances, None], [*chances.values(), 1 - sum(chances.values())])[0]
        if name is not None:
            self.happened.add(name)
        return name

    def step(self):
        """Ask one party what it has to answer, and do something to it."""
        trial, number = self.trial, self.random.choice(list(self.trial.sites))
        match self.choose({"agent restarts": 0.05, "coordinator restarts": 0.05, "time passes": 0.03, "late": 0.1}):
            case "agent restarts":
                trial.sites[number].begin()
            case "coordinator restarts":
                self.restart()
            case "time passes":
                trial.clock.now += 61
            case "late" if self.kept:
                self.deliver(*self.random.choice(self.kept))
        question = trial.coordinator.question(number)
        if question is None:
            return
        question = self.carried(question, "question")
        if question is None:
            return
        reply = self.answer(number, question)
        if reply is None:
            return
        self.kept.append((number, reply))
        reply = self.carried(reply, "reply")
        if reply is not None:
            self.deliver(number, reply)
            if self.choose({"twice": 0.1}):
                self.deliver(number, reply)

    def carried(self, data, what):
        """Bytes after a bad network."""
        match self.choose(
            {f"{what} lost": 0.06, f"{what} cut": 0.04, f"{what} garbled": 0.04, f"{what} foreign": 0.02}
        ):
            case None:
                return data
            case fault if fault.endswith("lost"):
                return None
            case fault if fault.endswith("cut"):
                return data[: self.random.randrange(len(data))]
            case fault if fault.endswith("garbled"):
                at = self.random.randrange(len(data))
                return data[:at] + bytes([data[at] ^ (1 << self.random.randrange(8))]) + data[at + 1 :]
        other = hashlib.sha256(b"another study").digest()
        if what == "reply":
            return Reply(other, False, b"x").to_bytes(key_of(1))
        return Question(other, 1, 0, 0, 0, 0).to_bytes(key_of(0))

    def answer(self, number, question):
        """An agent's reply; None where it does not answer, or its power fails before or after it stored it."""
        site = self.trial.sites[number]
        fault = self.choose({"agent dies before it stores": 0.04, "agent dies after it stored": 0.04})
        try:
            with dying(fault, "agent"):
                return site.agent.answer(question)
        except PeerError:
            return None  # it was no question for it
        except Power:
            site.begin()
            return None

    def deliver(self, number, reply):
        """Hand a reply to the coordinator, whose power may fail."""
        fault = self.choose({"coordinator dies before it stores": 0.03, "coordinator dies after it stored": 0.03})
        place = self.place()
        try:
            with dying(fault, "coordinator"):
                self.trial.coordinator.receive(number, reply)
        except PeerError:
            return
        except Power:
            self.restart()
            return
        refused = Reply.from_bytes(reply, party=self.trial.study.parties[number - 1].key).refused
        if not refused and self.place() == place and number not in self.trial.coordinator.waiting_for:
            self.acknowledged.add((place, number))

    def place(self):
        """Attempt and step of the running release."""
        found = self.trial.coordinator.progress().get("age")
        return None if found is None or found.state != "running" else (found.attempt, found.stage)

    def restart(self):
        """Begin a new coordinator on what is stored; whoever was acknowledged is not asked again."""
        place = self.place()
        self.trial.begin()
        for number in self.trial.sites:
            self.trial.coordinator.question(number)
        if place is not None and self.place() == place:
            again = {number for number in self.trial.sites if number in self.trial.coordinator.waiting_for}
            assert not {number for where, number in self.acknowledged if where == place} & again, "it was lost"


@contextlib.contextmanager
def dying(fault, who):
    """A store whose next transaction of writing fails before or after it is durable."""
    if fault is None:
        yield
        return
    keep = Store.write

    @contextlib.contextmanager
    def write(store):
        if "before" in fault:
            with keep(store) as kept:
                yield kept
                raise Power  # undone, as after a power failure
        with keep(store) as kept:
            yield kept
        raise Power

    Store.write = write
    try:
        yield
    finally:
        Store.write = keep


@pytest.mark.parametrize("chunk", range(max(1, RUNS // CHUNK)))
def test_whatever_happens_the_numbers_are_the_same_and_are_paid_once(chunk, expected, tmp_path):
    happened, released = set(), 0
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        trial = Faulty(tmp_path / str(seed))
        trial.coordinator.request("age")
        run = Run(trial, seed)
        for _ in range(FAULTY_STEPS):
            run.step()
        for _ in range(20):  # the network is mended, and all come back
            carry(trial.coordinator, trial.agents)
            found = trial.coordinator.progress()["age"]
            if found.state in ("released", "over"):
                break
            trial.clock.now += 61
        assert found.state in ("released", "over"), (seed, found)
        for site in trial.sites.values():
            assert len(site.account.history) <= 1
            assert site.account.spent in (None, PureDP(1))
        if found.state == "released":
            released += 1
            assert trial.coordinator.result("age")["raw"] == expected(found.members), seed
            results = [site.agent.results() for site in trial.sites.values()]
            assert all(each in ({}, {"age": trial.coordinator.result("age")}) for each in results)
        else:
            assert "\n" not in found.reason
        happened |= run.happened
    assert released, "no numbers were compared"
    assert len(happened) >= (10 if CHUNK > 1 else 8)


def test_the_noise_is_part_of_what_is_compared(expected, monkeypatch, tmp_path):
    """The control: with another secret of one party the numbers differ."""
    before = expected((1, 2, 3, 4))
    monkeypatch.setitem(SECRETS, 2, bytes(32))
    other = Faulty(tmp_path)
    other.coordinator.request("age")
    carry(other.coordinator, other.agents)
    assert other.coordinator.result("age")["raw"] != before
