"""Secure aggregation in one process: parties that leave when they are told to, and messages that tests may change."""

import copy

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.crypto.aggregation import (
    AggregationParty,
    AggregationServer,
    AggregationSettings,
    Round,
    least_threshold,
)

STUDY = b"a study of many parties, 32 bytes"[:32]
RELEASE = b"one release of many sums, 32 bytes"[:32]


def enrolment(number: int) -> Ed25519PrivateKey:
    """A participant's fixed private key."""
    return Ed25519PrivateKey.from_private_bytes(number.to_bytes(32, "big"))


def public(number: int) -> bytes:
    return enrolment(number).public_key().public_bytes_raw()


def settings(parties: int, *, length: int = 3, threshold: int | None = None, **more) -> AggregationSettings:
    if threshold is None:
        chosen = {"colluding": more.get("colluding", 0), "confirmed": more.get("confirmed", True)}
        threshold = least_threshold(parties, **chosen)
    keys = tuple(public(number) for number in range(1, parties + 1))
    return AggregationSettings(STUDY, more.pop("release", RELEASE), keys, public(0), length, threshold, **more)


class Notes:
    """What a party noted for good; survives it and its sessions."""

    def __init__(self):
        self.values = {}

    def __call__(self, token: bytes, value: bytes) -> bytes | None:
        earlier = self.values.get(token)
        self.values.setdefault(token, value)
        return earlier


class Session:
    """One session: the parties, the server, and how far it got.

    Args:
        agreed: The settings.
        vectors: One a party, in order.
        leaving: Party -> the first round in which it does not answer.
        declared: One tuple of totals a party.
        notes: Of each party by number, from an earlier session; empty ones by default.
    """

    def __init__(self, agreed, vectors, *, leaving=None, declared=None, randoms=None, notes=None):
        self.settings = agreed
        self.vectors = [np.asarray(vector, np.uint64) for vector in vectors]
        self.leaving = dict(leaving or {})
        self.server = AggregationServer(agreed, key=enrolment(0))
        self.notes = notes or {number: Notes() for number in range(1, len(agreed.parties) + 1)}
        self.parties = {}
        for number in range(1, len(agreed.parties) + 1):
            self.parties[number] = AggregationParty(
                agreed,
                number=number,
                key=enrolment(number),
                note=self.notes[number],
                declared=() if declared is None else declared[number - 1],
                **({} if randoms is None else {"random": randoms[number - 1]}),
            )
        self.round = Round.KEYS
        self.inbox = dict.fromkeys(self.parties, b"")
        self.rounds = [each for each in Round if agreed.confirmed or each is not Round.CONFIRM]

    def answer(self, number: int, data: bytes) -> bytes:
        """What a party says to the server's message of this round."""
        party = self.parties[number]
        match self.round:
            case Round.KEYS:
                return party.advertise()
            case Round.SHARES:
                return party.share_keys(data)
            case Round.INPUT:
                return party.mask(data, self.vectors[number - 1])
            case Round.CONFIRM:
                return party.confirm(data)
            case Round.UNMASK:
                return party.unmask(data)

    def present(self) -> list[int]:
        return [number for number in self.inbox if self.leaving.get(number, 99) > self.round]

    def answers(self) -> dict[int, bytes]:
        return {number: self.answer(number, self.inbox[number]) for number in self.present()}

    def close(self) -> None:
        self.inbox = {number: self.server.message(number) for number in self.server.close_round()}
        after = self.rounds.index(self.round) + 1
        if after < len(self.rounds):
            self.round = self.rounds[after]

    def step(self) -> None:
        """Play one round."""
        for data in self.answers().values():
            self.server.receive(data)
        self.close()

    def run(self, until=None):
        """Play all rounds that are left, or all before one, and return the sum if there is one."""
        for each in self.rounds[self.rounds.index(self.round) :]:
            if each is until:
                return None
            self.step()
        return self.server.sum()

    def plain(self):
        """The sum of the vectors of those in the sum, added up in the open."""
        total = [0] * self.settings.length
        for number in self.server.included:
            total = [(a + int(b)) % 2**64 for a, b in zip(total, self.vectors[number - 1], strict=True)]
        return total


def stored(party: AggregationParty, *, forgetful: bool = False) -> AggregationParty:
    """A party as it would be stored at this moment, and started again later.

    What it noted for good is in the same outside memory, unless that forgets.
    """
    made = copy.copy(party)
    made._mailbox = _mailbox(party)
    if forgetful:
        made._note = lambda token, value: None
    return made


def stored_server(server: AggregationServer) -> AggregationServer:
    """A server that may be spoilt without harm to the one it is made of."""
    made = copy.copy(server)
    for name in ("_received", "_before", "_keys", "_totals", "_masked"):
        setattr(made, name, copy.copy(getattr(server, name)))
    made._mailbox = _mailbox(server)
    return made


def _mailbox(owner):
    made = copy.copy(owner._mailbox)
    made._inbox = copy.copy(made._inbox)
    made._inbox._seen = set(made._inbox._seen)
    return made
