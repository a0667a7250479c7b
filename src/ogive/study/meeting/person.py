"""One person of a study: a state machine from bytes to bytes that takes part in its pairs, one after the other.

An invitation to another of its pairs ends the one at hand, whether or not it came to anything. A person takes part in
each pair once, in pairs that follow from the study and in no others, and gives at most as many halves as the design has
pairs of it: with each it spends epsilon divided by at least that number.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.core.arrays import Bool, Int64
from ogive.crypto.domains import number
from ogive.crypto.twoparty import Outgoing, PairParty, PairSettings, Step, drawn_bits
from ogive.crypto.wire import Note, read_header
from ogive.errors import PeerError
from ogive.study.meeting.collector import DeparturesReader
from ogive.study.meeting.study import PairsStudy


class Person:
    """A person, for one study.

    Args:
        study: Agreed on beforehand.
        user: The person's number in the design.
        values: Whole numbers by the names of inputs, for both roles.
        key: Its enrolment key.
        note: As for `PairParty`; how many pairs are spent is noted too, so that who was started again gives no more
            halves than it agreed to.
        noise: Names of the inputs that are noise.
        random: Gives so many random bytes.
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
        said = party.receive(data)
        self.given += party.spent
        return said

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
        said = party.receive(invitation)
        self.close()
        del self._pairs[settings.digest]
        self._at_hand = (settings.digest, party)
        return said

    @property
    def _agreed(self) -> int:
        return int(self.study.agreed[self.user])

    def _spent(self) -> PeerError:
        return PeerError(f"this person agreed to {self._agreed} pairs, and has taken part in as many")

    def _noted(self, token: bytes, value: bytes) -> bytes | None:
        """Notes that a half is given, and with it one of as many pairs as were agreed to."""
        earlier = self._note(token, value)
        if earlier is None:
            places = (b"pairs " + self.study.digest + number(place) for place in range(self._agreed))
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
