"""One secure aggregation in one process: the messages are real, the network is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.crypto.aggregation import AggregationParty, AggregationServer, AggregationSettings, Round
from ogive.crypto.streams import UInt64


class Enrolment:
    """Signing keys of the server and of so many parties, who have to know each other's public ones."""

    def __init__(self, parties: int) -> None:
        self.server = Ed25519PrivateKey.generate()
        self.parties = tuple(Ed25519PrivateKey.generate() for _ in range(parties))

    def public(self) -> tuple[bytes, ...]:
        """The parties' public keys, in order."""
        return tuple(key.public_key().public_bytes_raw() for key in self.parties)


class Session:
    """The parties' vectors on their way to a sum, which is opened last.

    Args:
        settings: Of the aggregation.
        enrolment: The participants' keys.
        vectors: Of each party, numbered from 1, noise included; shape (length,) each.
        declared: Totals that each party commits to.
        leaving: Party -> the round that it does not answer any more.
    """

    def __init__(
        self,
        settings: AggregationSettings,
        enrolment: Enrolment,
        vectors: Mapping[int, UInt64],
        *,
        declared: Mapping[int, Sequence[int]],
        leaving: Mapping[int, Round],
    ) -> None:
        self._server = AggregationServer(settings, key=enrolment.server)
        self._parties = {
            number: AggregationParty(
                settings,
                number=number,
                key=enrolment.parties[number - 1],
                declared=declared[number],
                first=_once(),
            )
            for number in vectors
        }
        self._vectors = vectors
        self._leaving = leaving
        self._confirmed = settings.confirmed
        self._messages: dict[int, bytes] = {}

    def collect(self) -> tuple[int, ...]:
        """Play the rounds up to the masked vectors: from here on it is settled who is in the sum, and nothing is open.

        Raises:
            PeerError: too many have left.
        """
        self._messages = dict.fromkeys(self._parties, b"")
        self._play(Round.KEYS, lambda number, _: self._parties[number].advertise())
        self._play(Round.SHARES, lambda number, data: self._parties[number].share_keys(data))
        self._play(Round.INPUT, lambda number, data: self._parties[number].mask(data, self._vectors[number]))
        return self._server.included

    def open(self) -> tuple[UInt64, tuple[int, ...]]:
        """Play the other rounds.

        Returns:
            The sum of the vectors modulo 2^64, shape (length,), and the sums of the totals that were opened.

        Raises:
            PeerError: too many have left.
        """
        if self._confirmed:
            self._play(Round.CONFIRM, lambda number, data: self._parties[number].confirm(data))
        self._play(Round.UNMASK, lambda number, data: self._parties[number].unmask(data))
        return self._server.sum(), self._server.totals

    def _play(self, round: Round, answer: Callable[[int, bytes], bytes]) -> None:
        for number, data in self._messages.items():
            if self._leaving.get(number, round + 1) > round:
                self._server.receive(answer(number, data))
        self._messages = self._server.close_round()


def _once() -> Callable[[bytes], bool]:
    """A memory of what a party has answered; it lives as long as the session, as do its secrets."""
    known: set[bytes] = set()

    def first(token: bytes) -> bool:
        new = token not in known
        known.add(token)
        return new

    return first
