"""A study of a few parties with keys, files and agents of their own."""

import hashlib
from pathlib import Path

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive import Ledger
from ogive.errors import PeerError
from ogive.study.agent import Agent
from ogive.study.common import key_text
from ogive.study.coordinator import Coordinator
from ogive.study.document import Study
from ogive.study.store import Store

AGE = {
    "name": "age",
    "statistic": "ecdf",
    "privacy": "{ epsilon = 1 }",
    "column": "'age'",
    "bounds": "[0, 120]",
    "grid": "'integers'",
}


def key_of(number):
    """The enrolment key of a party, or of the coordinator, who is number 0; the same in all tests."""
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"study key %d" % number).digest())


def public(number):
    return key_text(key_of(number).public_key().public_bytes_raw())


def text_of(parties=4, releases=(AGE,), *, budget="{ epsilon = 4 }", unit="", **more):
    """The file of a study."""
    settings = {"records": 4000, "dropouts": 1, "colluding": 1} | more
    lines = ["ogive-study = 1", 'name = "test"', f"budget = {budget}"]
    lines += [f"{name} = {value}" for name, value in settings.items()]
    lines += ["[unit]", unit, "[coordinator]", f'key = "{public(0)}"']
    for number in range(1, parties + 1):
        lines += ["[[party]]", f'name = "site-{number}"', f'key = "{public(number)}"']
    for release in releases:
        lines += ["[[release]]", f'name = "{release["name"]}"', f'statistic = "{release["statistic"]}"']
        lines += [f"{name} = {value}" for name, value in release.items() if name not in ("name", "statistic")]
    return "\n".join(lines).encode()


def people(number, rows=1000):
    rng = np.random.default_rng(number)
    died = rng.random(rows) < 0.2
    return {
        "age": rng.integers(18, 95, rows),
        "score": np.round(rng.random(rows), 3),
        "died": np.where(died, "yes", "no"),
        "ward": rng.choice(["A", "B"], rows),
    }


def seeded(seed):
    """Random bytes that are the same in every run."""
    state = {"count": 0}

    def random(size):
        state["count"] += 1
        return hashlib.shake_256(f"{seed} {state['count']}".encode()).digest(size)

    return random


class Site:
    """A party with files of its own, whose agent may end and begin again."""

    def __init__(self, study, number, folder, records=None, random=None):
        self.study, self.number = study, number
        self.folder = Path(folder) / f"site-{number}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.records = people(number) if records is None else records
        self.random = {"random": random} if random else {}
        self.begin()

    def begin(self):
        self.ledger = Ledger.open(self.folder / "ledger.db")
        account = self.ledger.account(self.study.name, unit=self.study.unit, limit=self.study.budget)
        store = Store(self.folder / "agent.db")
        self.agent = Agent(
            self.study, self.records, key=key_of(self.number), store=store, account=account, **self.random
        )
        return self.agent

    @property
    def account(self):
        return self.agent._account


class Clock:
    """A clock that tests set forward."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Trial:
    """A coordinator and its parties in one folder."""

    def __init__(self, folder, text=None, *, study=None, seed=None, records=None, **options):
        self.study = study or Study.parse(text_of() if text is None else text)
        self.folder, self.options = Path(folder), options
        self.clock = Clock()
        parties = range(1, len(self.study.parties) + 1)
        records = records or {}
        self.sites = {
            n: Site(self.study, n, folder, records.get(n), seeded(f"{seed} {n}") if seed else None) for n in parties
        }
        self.begin()

    def begin(self):
        """Begin a coordinator on what is stored."""
        store = Store(self.folder / "coordinator.db")
        self.coordinator = Coordinator(self.study, key=key_of(0), store=store, clock=self.clock, **self.options)
        return self.coordinator

    @property
    def agents(self):
        return {number: site.agent for number, site in self.sites.items()}


def carry(coordinator, agents):
    """Move bytes between the coordinator and the agents until no agent has anything to answer."""
    moved = True
    while moved:
        moved = False
        for number, agent in agents.items():
            question = coordinator.question(number)
            if question is not None:
                reply = agent.answer(question)
                try:
                    coordinator.receive(number, reply)
                except PeerError:
                    continue  # it came too late
                moved = True
