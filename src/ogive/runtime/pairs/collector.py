"""The aggregator of a study: a state machine from bytes to bytes that goes through all pairs.

It invites a pair when both people are there and in no other pair at hand. A pair that fails, because somebody left or
time is up or a message is malformed, is given up, and the others go on. When all were tried, those who lost a partner
before their pair had begun are paired again, and these pairs tried too.

Learns: the outputs of every pair, who was in it, and who left.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.arrays import Bool, Int64
from ogive.crypto.circuits import separate
from ogive.crypto.twoparty import Outgoing, PairAggregator
from ogive.crypto.wire import read_header
from ogive.errors import PeerError
from ogive.runtime.pairs.departures import SEED_BYTES, Departures
from ogive.runtime.pairs.study import PairsStudy


@dataclass(frozen=True, eq=False)
class Collected:
    """What became of all pairs.

    Fields:
        study: Which one.
        pairs: Users of every pair that was to be, those after dropouts last; shape (pairs, 2).
        outputs: Output bits by number of the pair.
        lost: Why there are none, by number of the pair.
        gone: Whether each user has left, shape (users,).
    """

    study: PairsStudy
    pairs: Int64
    outputs: dict[int, Bool]
    lost: dict[int, str]
    gone: Bool

    def values(self, pair: int) -> dict[str, int]:
        """Outputs of a pair as whole numbers, by name."""
        ports = self.study.settings(pair, self.pairs[pair]).circuit.outputs
        return {name: int(value[0]) for name, value in separate(ports, self.outputs[pair][None]).items()}


@dataclass(frozen=True)
class _Open:
    """The pair that is computing at present."""

    number: int
    users: tuple[int, int]
    aggregator: PairAggregator
    until: float


class Collector:
    """The aggregator, for one study.

    Args:
        study: Agreed on beforehand.
        key: The aggregator's enrolment key.
        at_once: Pairs that may be at hand at a time.
        seconds: How long a pair may take.
        random: Gives so many random bytes.
    """

    def __init__(
        self,
        study: PairsStudy,
        *,
        key: Ed25519PrivateKey,
        at_once: int = 64,
        seconds: float = 30.0,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self.study = study
        self.key = key
        self._at_once = at_once
        self._seconds = seconds
        self._random = random
        self._pairs = study.design.pairs
        self._waiting = list(range(len(self._pairs)))
        self._open: dict[bytes, _Open] = {}
        self._here: set[int] = set()
        self._gone = np.zeros(study.design.users, np.bool_)
        self._begun = np.zeros(len(self._pairs), np.bool_)
        self._departures: Departures | None = None
        self._outputs: dict[int, Bool] = {}
        self._lost: dict[int, str] = {}
        self._started = False
        self._over = False

    @property
    def everybody(self) -> bool:
        """Whether everybody is there, or was and has left."""
        return len(self._here) + int(self._gone.sum()) == self.study.design.users

    @property
    def over(self) -> bool:
        """Whether all pairs were tried."""
        return self._over

    @property
    def until(self) -> float | None:
        """When the next pair will have taken too long; None if none is at hand."""
        return min((each.until for each in self._open.values()), default=None)

    @property
    def collected(self) -> Collected:
        """What there is so far; all of it when it is over."""
        return Collected(self.study, self._pairs, dict(self._outputs), dict(self._lost), self._gone.copy())

    def arrived(self, user: int) -> None:
        """Somebody is there; who has left before is not taken back."""
        if not self._gone[user]:
            self._here.add(user)

    def begin(self, now: float) -> list[Outgoing]:
        """Begin with those who are there; all others count as gone."""
        self._gone[[user for user in range(self.study.design.users) if user not in self._here]] = True
        self._started = True
        return self._go_on(now)

    def left(self, user: int, now: float) -> list[Outgoing]:
        """Somebody has left: the pair at hand is lost, and later ones will not begin."""
        self._gone[user] = True
        self._here.discard(user)
        for digest, pair in list(self._open.items()):
            if user in pair.users:
                self._give_up(digest, f"user {user} left")
        return self._go_on(now)

    def receive(self, data: bytes, now: float) -> list[Outgoing]:
        """Take a party's message; invitations to pairs that may begin now.

        Raises:
            PeerError: it is not the next message of somebody in a pair at hand; nothing has changed.
        """
        header = read_header(data)
        pair = self._open.get(header.study)
        if pair is None:
            raise PeerError("the message is of no pair that is at hand")
        try:
            said = pair.aggregator.receive(data)
        except PeerError:
            if not pair.aggregator.over:
                raise
            self._give_up(header.study, "what one of them sent was malformed")
            return self._go_on(now)
        if pair.aggregator.outputs is None:
            return said
        self._outputs[pair.number] = pair.aggregator.outputs
        self._close(header.study)
        return self._go_on(now)

    def expire(self, now: float) -> list[Outgoing]:
        """Give up pairs that have taken too long."""
        for digest, pair in list(self._open.items()):
            if pair.until <= now:
                self._give_up(digest, f"it took longer than {self._seconds:g} seconds")
        return self._go_on(now)

    def _go_on(self, now: float) -> list[Outgoing]:
        if not self._started or self._over:
            return []
        said = list(self._invitations(now))
        if not self._open and not self._waiting:
            if self._departures is None:
                said += self._pair_again()
                said += self._go_on(now)
            else:
                self._over = True
        return said

    def _invitations(self, now: float) -> Iterator[Outgoing]:
        """Invite the pairs that can begin, in their order."""
        busy = {user for pair in self._open.values() for user in pair.users}
        later = []
        for place, number in enumerate(self._waiting):
            if len(self._open) >= self._at_once:
                later += self._waiting[place:]
                break
            first, second = self._pairs[number].tolist()
            missing = [user for user in (first, second) if self._gone[user]]
            if missing:
                self._lost[number] = f"user {missing[0]} had left"
            elif {first, second} & busy:
                later.append(number)
            else:
                busy |= {first, second}
                settings = self.study.settings(number, self._pairs[number])
                aggregator = PairAggregator(settings, key=self.key, random=self._random)
                self._open[settings.digest] = _Open(number, (first, second), aggregator, now + self._seconds)
                yield aggregator.invitation
        self._waiting = later

    def _pair_again(self) -> list[Outgoing]:
        """Draw who meets whom again, and tell everybody, if anybody does."""
        self._departures = Departures(self._random(SEED_BYTES), self._gone.copy(), self._begun.copy())
        again = self._departures.pairs(self.study.design)
        self._waiting = list(range(len(self._pairs), len(self._pairs) + len(again)))
        self._pairs = np.concatenate([self._pairs, again])
        there = [user + 1 for user in sorted(self._here)] if len(again) else []
        return [(to, self._departures.message(self.study, receiver=to, key=self.key)) for to in there]

    def _give_up(self, digest: bytes, why: str) -> None:
        pair = self._open[digest]
        self._lost[pair.number] = why
        self._close(digest)

    def _close(self, digest: bytes) -> None:
        """No half of the pair is taken from now on."""
        pair = self._open.pop(digest)
        if pair.number < len(self._begun):
            self._begun[pair.number] = pair.aggregator.begun
        pair.aggregator.close()
