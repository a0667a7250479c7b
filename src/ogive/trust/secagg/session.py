"""One secure aggregation in one process: the messages are real, the network is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ogive.arrays import UInt64
from ogive.crypto.aggregation import AggregationParty, AggregationServer, AggregationSettings, Round


class Enrolment:
    """Signing keys of the server and of so many parties, who have to know each other's public ones."""

    def __init__(self, parties: int) -> None:
        self.server = Ed25519PrivateKey.generate()
        self.parties = tuple(Ed25519PrivateKey.generate() for _ in range(parties))

    def public(self) -> tuple[bytes, ...]:
        """The parties' public keys, in order."""
        return tuple(key.public_key().public_bytes_raw() for key in self.parties)


class Notes:
    """What one party notes for good: which step of which session it answered, and who is in the sums of a release.

    It lives as long as the release is open in this process. A party that runs by itself keeps it on disk.
    """

    def __init__(self) -> None:
        self._values: dict[bytes, bytes] = {}

    def __call__(self, token: bytes, value: bytes) -> bytes | None:
        """Note a value unless the token has one; what it had, or None."""
        earlier = self._values.get(token)
        self._values.setdefault(token, value)
        return earlier


class Session:
    """The parties' vectors on their way to a sum, which is opened last.

    Args:
        settings: Of the aggregation.
        enrolment: The participants' keys.
        vector: Makes the vector of a party, numbered from 1, noise included; shape (length,).
        declared: Totals that each party commits to, by number; only they take part.
        leaving: Party -> the round that it does not answer any more.
        notes: Of each party, numbered from 1, of all sessions of the release.
    """

    def __init__(
        self,
        settings: AggregationSettings,
        enrolment: Enrolment,
        vector: Callable[[int], UInt64],
        *,
        declared: Mapping[int, Sequence[int]],
        leaving: Mapping[int, Round],
        notes: Mapping[int, Notes],
    ) -> None:
        self._server = AggregationServer(settings, key=enrolment.server)
        self._parties = {
            number: AggregationParty(
                settings,
                number=number,
                key=enrolment.parties[number - 1],
                declared=totals,
                note=notes[number],
            )
            for number, totals in declared.items()
        }
        self._vector = vector
        self._leaving = leaving
        self._confirmed = settings.confirmed
        self._asked: tuple[int, ...] = tuple(self._parties)

    def collect(self) -> tuple[int, ...]:
        """Run the rounds up to the masked vectors: the parties in the sum are then fixed, and the sum is not open.

        Raises:
            PeerError: too many have left.
            DataError: a party's numbers are too large.
        """
        self._play(Round.KEYS, lambda number: self._parties[number].advertise())
        self._play(Round.SHARES, lambda number: self._parties[number].share_keys(self._server.message(number)))
        self._play(
            Round.INPUT,
            lambda number: self._parties[number].mask(self._server.message(number), self._vector(number)),
        )
        return self._server.included

    def open(self) -> tuple[UInt64, tuple[int, ...]]:
        """Run the other rounds.

        Returns:
            The sum of the vectors modulo 2^64, shape (length,), and the sums of the totals that were opened.

        Raises:
            PeerError: too many have left.
        """
        if self._confirmed:
            self._play(Round.CONFIRM, lambda number: self._parties[number].confirm(self._server.message(number)))
        self._play(Round.UNMASK, lambda number: self._parties[number].unmask(self._server.message(number)))
        return self._server.sum(), self._server.totals

    def _play(self, round: Round, answer: Callable[[int], bytes]) -> None:
        for number in self._asked:
            if self._leaving.get(number, round + 1) > round:
                self._server.receive(answer(number))
        self._asked = self._server.close_round()
