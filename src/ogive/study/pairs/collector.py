"""The aggregator of a study: a state machine from bytes to bytes that goes through all pairs.

It invites a pair when both people are there and in no other pair at hand. A pair that fails, because somebody left or
time is up or a message is malformed, is given up, and the others go on. When nothing is at hand and nothing can begin,
those who are there and were in fewer pairs than they agreed to are paired anew, in a further pass, and so on until the
deadline. Who left and comes back takes part in what begins from then on.

What `changes` returns is stored before anything that was said meanwhile leaves. An aggregator that is started again
goes on from all of it.

Learns: the outputs of every pair, who was in it, and who left when.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.core.arrays import Bool, Int64
from ogive.crypto.domains import number as written
from ogive.crypto.semi_honest import read_bits, write_bits
from ogive.crypto.twoparty import AGGREGATOR, Outgoing, PairAggregator, PairParty, PairSettings, Step, drawn_bits
from ogive.crypto.wire import SESSION_BYTES, Header, Inbox, Note, Reader, Suite, read_header, read_signed, sign
from ogive.errors import PeerError
from ogive.pairs.designs import Design, met_anew
from ogive.study.pairs.study import MOST_PASSES, Collected, PairsStudy

# --- What everybody is told before each further pass
#
# The aggregator tells who is not there, and which pairs had begun. From it everybody draws who meets whom anew: people
# who are there and were in fewer pairs than they agreed to. The seed is drawn once it is known who is gone, or people
# could choose whom they meet by leaving; a person that is told lies spends no more than it agreed to. The message is
# signed, and belongs to the study and to no pair.

SEED_BYTES = 32
_KIND = max(Step) + 1
_SESSION = bytes(SESSION_BYTES)


@dataclass(frozen=True, eq=False)
class Departures:
    """Who is not there when a further pass begins; the first further one is 0.

    The seed was drawn after that; `begun` says of each pair so far whether it had begun.
    """

    number: int
    seed: bytes
    gone: Bool
    begun: Bool

    @staticmethod
    def read(number: int, data: bytes, study: PairsStudy, earlier: int) -> Departures:
        """The inverse of `write_pass`, where there were so far a number of pairs."""
        users = study.design.users
        bits = read_bits(data[SEED_BYTES:], users + earlier)
        return Departures(number, data[:SEED_BYTES], bits[:users], bits[users:])

    def pairs(self, study: PairsStudy, earlier: Int64) -> Int64:
        """The pairs of the pass, shape (new pairs, 2), after all pairs so far."""
        free = free_pairs(study, earlier, self.begun)
        free[self.gone] = 0
        return met_anew(Design(study.design.users, earlier, study.design.between), free, seed=self.seed)

    def message(self, study: PairsStudy, *, receiver: int, key: Ed25519PrivateKey) -> bytes:
        place = _KIND + self.number
        header = Header(Suite.PAIRS, _KIND, study.digest, _SESSION, AGGREGATOR, receiver, round=place, sequence=place)
        return sign(header.message(write_pass(self)), key)


def write_pass(departures: Departures) -> bytes:
    """What is told before a pass as bytes: the seed, who is gone, and which pairs had begun."""
    return departures.seed + write_bits(np.concatenate([departures.gone, departures.begun]))


def free_pairs(study: PairsStudy, pairs: Int64, begun: Bool) -> Int64:
    """In how many more pairs each user may be, shape (users,): a pair that had begun counts as taken part in."""
    begun_pairs = np.bincount(pairs[begun].ravel(), minlength=study.design.users)
    return np.asarray(np.maximum(study.agreed - begun_pairs, 0))


class DeparturesReader:
    """Reads the messages in their order, each once, and knows all pairs so far."""

    def __init__(self, study: PairsStudy, receiver: int) -> None:
        self._study = study
        self._inbox = Inbox(suite=Suite.PAIRS, study=study.digest, receiver=receiver, senders=[AGGREGATOR])
        self._pairs = study.design.pairs
        self._next = 0

    def read(self, data: bytes) -> tuple[Int64, int]:
        """The pairs of the pass, shape (new pairs, 2), and the number of the first of them."""
        users, first = self._study.design.users, len(self._pairs)
        header, body = read_signed(
            self._inbox, data, public=lambda _: self._study.aggregator, kind=_KIND, session=_SESSION,
            round=_KIND + self._next, longest=SEED_BYTES - (-(users + first) // 8),
        )  # fmt: skip
        departures = Departures.read(self._next, body, self._study, first)
        self._inbox.mark(header)
        new = departures.pairs(self._study, self._pairs)
        self._pairs = np.concatenate([self._pairs, new])
        self._next += 1
        return new, first


# --- What became of pairs so far, from which an aggregator goes on when it is started again
#
# A pair that was at hand when the aggregator ended is over: either half may have left its owner, so it counts as begun.
#
#     pair = begun u8 | 0 where it was at hand; 1, output bits; or 2, why it was lost as ASCII
#     pass = seed 32 | who is gone, and which pairs had begun, as bits

_AT_HAND, _OPENED, _LOST = range(3)


@dataclass(frozen=True, eq=False)
class Met:
    """What became of a pair: output bits, or why it was lost; neither while it is at hand."""

    begun: bool = True
    outputs: Bool | None = None
    lost: str | None = None

    def to_bytes(self) -> bytes:
        if self.outputs is not None:
            rest = bytes([_OPENED]) + write_bits(self.outputs)
        elif self.lost is not None:
            rest = bytes([_LOST]) + self.lost.encode()
        else:
            rest = bytes([_AT_HAND])
        return bytes([self.begun]) + rest

    @staticmethod
    def from_bytes(data: bytes, *, outputs: int) -> Met:
        reader = Reader(data, "kept pair")
        begun, kind = bool(reader.number(1)), reader.number(1)
        rest = reader.take(reader.left)
        if kind == _OPENED:
            return Met(begun, outputs=read_bits(rest, outputs))
        if kind == _LOST and rest.isascii():
            return Met(begun, lost=rest.decode())
        if kind == _AT_HAND and not rest:
            return Met(begun)
        raise PeerError("what is kept of a pair is damaged")


@dataclass(eq=False)
class History:
    """What became of pairs, or what has changed since it was last asked for.

    Fields:
        passes: What everybody was told before each further pass, in order.
    """

    passes: list[Departures] = field(default_factory=list)
    pairs: dict[int, Met] = field(default_factory=dict)


def read_passes(study: PairsStudy, written: list[bytes]) -> list[Departures]:
    pairs = study.design.pairs
    results: list[Departures] = []
    for number, data in enumerate(written):
        results.append(Departures.read(number, data, study, len(pairs)))
        pairs = np.concatenate([pairs, results[-1].pairs(study, pairs)])
    return results


# --- The aggregator, which goes through all pairs


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
        at_once: Pairs that may be at hand at a time.
        seconds: How long a pair may take.
        deadline: Until when people who left are waited for, on the clock of `now`; no pair begins after it. None:
            nobody is waited for.
    """

    def __init__(
        self,
        study: PairsStudy,
        *,
        key: Ed25519PrivateKey,
        at_once: int = 64,
        seconds: float = 30.0,
        deadline: float | None = None,
        earlier: History | None = None,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self.study = study
        self.key = key
        self._at_once = at_once
        self._seconds = seconds
        self._deadline = deadline
        self._random = random
        self._pairs = study.design.pairs
        self._waiting = list(range(len(self._pairs)))
        self._open: dict[bytes, _Open] = {}
        self._here: set[int] = set()
        self._been: set[int] = set()
        self._begun = np.zeros(len(self._pairs), np.bool_)
        self._passes: list[Departures] = []
        self._outputs: dict[int, Bool] = {}
        self._lost: dict[int, str] = {}
        self._started = False
        self.over = False
        """Whether no pair begins any more, and none is at hand."""
        self._changes = History()
        if earlier is not None:
            self._resume(earlier)

    def _resume(self, earlier: History) -> None:
        first = 0
        for departures in earlier.passes:
            first = len(self._pairs)
            self._pairs = np.concatenate([self._pairs, departures.pairs(self.study, self._pairs)])
        self._passes = list(earlier.passes)
        self._waiting = [number for number in range(first, len(self._pairs)) if number not in earlier.pairs]
        self._begun = np.zeros(len(self._pairs), np.bool_)
        for number, met in earlier.pairs.items():
            self._begun[number] = met.begun
            if met.outputs is not None:
                self._outputs[number] = met.outputs
            elif met.lost is not None:
                self._lost[number] = met.lost
            else:
                self._lose(number, "the service ended while it computed", begun=True)

    def changes(self) -> History:
        """What has changed since this was last called, to be stored before what was said leaves."""
        result, self._changes = self._changes, History()
        return result

    @property
    def everybody(self) -> bool:
        """Whether everybody is there, or was."""
        return len(self._been) == self.study.design.users

    @property
    def until(self) -> float | None:
        """When `expire` has something to do; None if nothing depends on time."""
        return min((each.until for each in self._open.values()), default=self._deadline)

    @property
    def here(self) -> int:
        """How many people are there."""
        return len(self._here)

    @property
    def collected(self) -> Collected:
        """What there is so far; all of it when it is over."""
        return Collected(self.study, self._pairs, dict(self._outputs), dict(self._lost), self._gone)

    @property
    def _gone(self) -> Bool:
        gone = np.ones(self.study.design.users, np.bool_)
        gone[list(self._here)] = False
        return gone

    def arrived(self, user: int, now: float) -> list[Outgoing]:
        """Somebody is there, perhaps again, and is told of the passes so far."""
        self._here.add(user)
        self._been.add(user)
        passes = [(user + 1, each.message(self.study, receiver=user + 1, key=self.key)) for each in self._passes]
        return passes + self._go_on(now)

    def begin(self, now: float) -> list[Outgoing]:
        """Begin with those who are there."""
        self._started = True
        return self._go_on(now)

    def left(self, user: int, now: float) -> list[Outgoing]:
        """Somebody has left: the pair at hand is lost, and others wait."""
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
            messages = pair.aggregator.receive(data)
        except PeerError:
            if not pair.aggregator.over:
                raise
            self._give_up(header.study, "what one of them sent was malformed")
            return self._go_on(now)
        if pair.aggregator.outputs is None:
            return messages
        self._outputs[pair.number] = pair.aggregator.outputs
        self._changes.pairs[pair.number] = Met(outputs=pair.aggregator.outputs)
        self._close(header.study)
        return self._go_on(now)

    def expire(self, now: float) -> list[Outgoing]:
        """Give up pairs that have taken too long."""
        for digest, pair in list(self._open.items()):
            if pair.until <= now:
                self._give_up(digest, f"it took longer than {self._seconds:g} seconds")
        return self._go_on(now)

    def _go_on(self, now: float) -> list[Outgoing]:
        if not self._started or self.over:
            return []
        late = self._deadline is not None and now >= self._deadline
        messages = [] if late else list(self._invitations(now))
        if self._open:
            return messages
        again = [] if late else self._pair_anew()
        if again:
            return again + self._go_on(now)
        if late or self._deadline is None or self._complete:
            self.over = True
            self._lose_waiting()
        return messages

    @property
    def _complete(self) -> bool:
        """Whether no two people may meet any more."""
        return int(np.count_nonzero(free_pairs(self.study, self._pairs, self._begun))) <= 1

    def _invitations(self, now: float) -> Iterator[Outgoing]:
        """Invite the pairs that can begin, in their order."""
        busy = {user for pair in self._open.values() for user in pair.users}
        later = []
        for place, number in enumerate(self._waiting):
            if len(self._open) >= self._at_once:
                later += self._waiting[place:]
                break
            first, second = self._pairs[number].tolist()
            if not {first, second} <= self._here or {first, second} & busy:
                later.append(number)
            else:
                busy |= {first, second}
                settings = self.study.settings(number, self._pairs[number])
                aggregator = PairAggregator(settings, key=self.key, random=self._random)
                self._open[settings.digest] = _Open(number, (first, second), aggregator, now + self._seconds)
                self._changes.pairs[number] = Met()
                yield aggregator.invitation
        self._waiting = later

    def _pair_anew(self) -> list[Outgoing]:
        """Draw who meets whom in a further pass, and tell everybody who is there; nothing if nobody can meet."""
        if len(self._passes) == MOST_PASSES:
            return []
        departures = Departures(len(self._passes), self._random(SEED_BYTES), self._gone, self._begun.copy())
        new = departures.pairs(self.study, self._pairs)
        if not len(new):
            return []
        self._lose_waiting()
        self._passes.append(departures)
        self._changes.passes.append(departures)
        self._waiting = list(range(len(self._pairs), len(self._pairs) + len(new)))
        self._pairs = np.concatenate([self._pairs, new])
        self._begun = np.concatenate([self._begun, np.zeros(len(new), np.bool_)])
        there = [user + 1 for user in sorted(self._here)]
        return [(to, departures.message(self.study, receiver=to, key=self.key)) for to in there]

    def _lose_waiting(self) -> None:
        """Give up the pairs that wait: one of each is not there, or time is up."""
        for number in self._waiting:
            missing = [user for user in self._pairs[number].tolist() if user not in self._here]
            why = f"user {missing[0]} had left" if missing else "time was up before it began"
            self._lose(number, why, begun=False)
        self._waiting = []

    def _give_up(self, digest: bytes, why: str) -> None:
        pair = self._open[digest]
        self._lose(pair.number, why, begun=pair.aggregator.begun)
        self._close(digest)

    def _lose(self, number: int, why: str, *, begun: bool) -> None:
        self._lost[number] = why
        self._changes.pairs[number] = Met(begun, lost=why)

    def _close(self, digest: bytes) -> None:
        """No half of the pair is taken from now on."""
        pair = self._open.pop(digest)
        self._begun[pair.number] = pair.aggregator.begun
        pair.aggregator.close()


# --- One person of a study: a state machine from bytes to bytes that takes part in its pairs, one after the other
#
# An invitation to another of its pairs ends the one at hand, whether or not it came to anything. A person takes part in
# each pair once, in pairs that follow from the study and in no others, and gives at most as many halves as the design
# has pairs of it: with each it spends epsilon divided by at least that number.


class Person:
    """A person, for one study.

    Args:
        values: Whole numbers by the names of inputs, for both roles.
        note: As for `PairParty`; how many pairs are spent is noted too, so that who was started again gives no more
            halves than it agreed to.
    """

    def __init__(
        self,
        study: PairsStudy,
        user: int,
        values: Mapping[str, int],
        *,
        key: Ed25519PrivateKey,
        note: Note,
        noise: Collection[str] = ("noise",),
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self.study = study
        self.user = user
        self._values = values
        self.key = key
        self._note = note
        self._noise = noise
        self._random = random
        self._departures = DeparturesReader(study, user + 1)
        self._pairs: dict[bytes, PairSettings] = {}
        self._expect(study.design.pairs, first=0)
        self._at_hand: tuple[bytes, PairParty] | None = None
        self.given = 0
        """Halves that may have left it: the pairs that count as spent."""

    def receive(self, data: bytes) -> list[Outgoing]:
        """From a message to those that answer it.

        Raises:
            PeerError: it is malformed or does not belong here; no other pair is touched by it.
        """
        header = read_header(data)
        if header.study == self.study.digest:
            pairs, first = self._departures.read(data)
            self._expect(pairs, first=first)
            return []
        if header.kind == Step.INVITE and header.study in self._pairs:
            return self._begin(self._pairs[header.study], data)
        if self._at_hand is None or self._at_hand[0] != header.study:
            raise PeerError("the message is of no pair that is at hand")
        party = self._at_hand[1]
        messages = party.receive(data)
        self.given += party.spent
        return messages

    def close(self) -> None:
        """Give up the pair at hand."""
        if self._at_hand is not None:
            self._at_hand[1].close()
            self._at_hand = None

    def _begin(self, settings: PairSettings, invitation: bytes) -> list[Outgoing]:
        if self.given >= self._agreed:
            raise self._spent()
        garbles = settings.garbler.number == self.user + 1
        party = PairParty(
            settings, self.user + 1, self._bits(settings, garbles=garbles), key=self.key, note=self._noted,
            random=self._random,
        )  # fmt: skip
        messages = party.receive(invitation)
        self.close()
        del self._pairs[settings.digest]
        self._at_hand = (settings.digest, party)
        return messages

    @property
    def _agreed(self) -> int:
        return int(self.study.agreed[self.user])

    def _spent(self) -> PeerError:
        return PeerError(f"this person agreed to {self._agreed} pairs, and has taken part in as many")

    def _noted(self, token: bytes, value: bytes) -> bytes | None:
        """Notes that a half is given, and with it one of as many pairs as were agreed to."""
        earlier = self._note(token, value)
        if earlier is None:
            places = (b"pairs " + self.study.digest + written(place) for place in range(self._agreed))
            if all(self._note(place, token) is not None for place in places):
                raise self._spent()
        return earlier

    def _bits(self, settings: PairSettings, *, garbles: bool) -> Bool:
        ports = settings.circuit.garbler if garbles else settings.circuit.evaluator
        names = [port.name for port in ports if port.name not in self._noise]
        values = {name: self._values[name] for name in names if name in self._values}
        return drawn_bits(ports, values, noise=self._noise, random=self._random)

    def _expect(self, pairs: Int64, *, first: int) -> None:
        """Take part in those of some pairs that this person is in."""
        for place in np.flatnonzero((pairs == self.user).any(axis=1)).tolist():
            settings = self.study.settings(first + place, pairs[place])
            self._pairs[settings.digest] = settings
