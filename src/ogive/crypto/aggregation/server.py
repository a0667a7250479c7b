"""The server of a secure aggregation: a state machine from bytes to bytes that adds up what it cannot read.

It collects one message a party and round (`receive`), and when enough have come, or time is up, goes on to the next
(`close_round`), which begins with a message to each party (`message`); who did not answer by then has left. Messages
are made one by one: all of a round together grow with the square of the number of parties. Learns: the sum of the
vectors of the parties `included`, who took part, and totals where the settings say that they are opened.

Source:
    Bonawitz et al. 2017; `crypto.md`, section 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from ogive.core.arrays import UInt64
from ogive.crypto.aggregation import messages
from ogive.crypto.aggregation.messages import SERVER, Advertised, Mailbox, Roster, Round
from ogive.crypto.aggregation.settings import (
    SHARE_BYTES,
    AggregationSettings,
    add_masks,
    as_secret,
    commitment,
    graph,
    pair_seed,
    reconstruct,
    self_seed,
)
from ogive.crypto.domains import number
from ogive.crypto.wire import HEADER_BYTES, SIGNATURE_BYTES, Reader, agree
from ogive.errors import PeerError

# --- Masks that did not cancel, which the server finds from shares and takes away


def remove_masks(
    masked: UInt64,
    shares: Mapping[int, Mapping[int, int]],
    *,
    threshold: int,
    included: Sequence[int],
    keys: Mapping[int, Advertised],
    neighbours: Mapping[int, Sequence[int]],
    session: bytes,
) -> UInt64:
    """The sum of vectors, shape (length,), from that of the masked ones of the included parties.

    `shares` gives, for each party that shared its secrets, holder -> share: of the secret of its own mask if it is
    included, else of its private key. A secret takes `threshold` of them.
    """
    inside = set(included)
    plus: list[bytes] = []
    minus: list[bytes] = []
    for party, held in shares.items():
        if len(held) < threshold:
            raise PeerError(f"{len(held)} shares of party {party}'s secret arrived, and {threshold} are needed")
        secret = as_secret(reconstruct({holder: held[holder] for holder in sorted(held)[:threshold]}))
        if party in inside:
            _check(commitment(party, secret) == keys[party].own, party)
            minus.append(self_seed(session, party, secret))
            continue
        private = X25519PrivateKey.from_private_bytes(secret)
        _check(private.public_key().public_bytes_raw() == keys[party].mask, party)
        for other in neighbours[party]:
            if other in inside:  # who added the mask for those after it, and took it away for those before it
                seed = pair_seed(session, party, other, agree(private, keys[other].mask, other))
                (minus if party > other else plus).append(seed)
    opened = masked.copy()
    add_masks(opened, plus=plus, minus=minus)
    return opened


def _check(agrees: bool, party: int) -> None:
    if not agrees:
        raise PeerError(
            f"the shares of party {party}'s secret do not make up what it made known: it, or somebody who holds one, "
            "sent a wrong share; there is no sum"
        )


# --- The state machine of the server

_TOTAL_BYTES = 8
_MOST_DECLARED = 1 << 40
"""Records that a party may have: the sum over all parties fits in a field."""
_ROLE = "server"
_FIELDS = 12


class AggregationServer:
    """The server, for one session; its key is the one whose public half is in the settings."""

    def __init__(self, settings: AggregationSettings, *, key: Ed25519PrivateKey) -> None:
        self._settings = settings
        self._mailbox = Mailbox(settings, SERVER, key)
        self._session = messages.opening_session(settings)
        self._round: Round | None = Round.KEYS
        self._expected: tuple[int, ...] = tuple(range(1, len(settings.parties) + 1))
        self._received: dict[int, bytes] = {}
        self._before: dict[int, bytes] = {}  # received in the round before, of which messages are made
        self._roster = Roster.of((), ())
        self._keys: dict[int, Advertised] = {}
        self._neighbours: dict[int, tuple[int, ...]] = {}
        self._shared: tuple[int, ...] = ()
        self._included: tuple[int, ...] | None = None
        self._totals = [0] * settings.totals
        self._masked = np.zeros(settings.length, np.uint64)
        self._sum: UInt64 | None = None

    @property
    def included(self) -> tuple[int, ...]:
        """Who is in the sum, ascending; PeerError as long as the vectors are not in."""
        if self._included is None:
            raise PeerError("who is in the sum is not known before the vectors are in")
        return self._included

    @property
    def asked(self) -> tuple[int, ...]:
        """Who may answer in this round, ascending; nobody once the sum is open."""
        return self._expected

    @property
    def totals(self) -> tuple[int, ...]:
        """Sums of what those in the sum declared, where the settings say that it is opened."""
        return tuple(self._totals)

    def sum(self) -> UInt64:
        """The sum of the included parties' vectors modulo 2^64, shape (length,); PeerError before it is open."""
        if self._sum is None:
            raise PeerError("the sum is not open before the last round is closed")
        return self._sum

    @property
    def longest(self) -> int:
        """Bytes of the longest message that a party may send in this round; 0 after the last."""
        return 0 if self._round is None else HEADER_BYTES + self._longest(self._round) + SIGNATURE_BYTES

    def receive(self, data: bytes) -> int:
        """Take in one party's message of this round, and say whose it is; what raises PeerError changes nothing."""
        if self._round is None:
            raise PeerError("the aggregation is over")
        header, body = self._mailbox.read(
            data, session=self._session, round=self._round, longest=self._longest(self._round)
        )
        sender = header.sender
        if sender not in self._expected:
            raise PeerError(f"party {sender} had left before this round")
        match self._round:
            case Round.KEYS:
                self._keys[sender] = Advertised.from_bytes(body)
            case Round.SHARES:
                if len(body) != len(self._neighbours[sender]) * messages.SEALED_BYTES:
                    raise PeerError(f"party {sender} sent shares for another number of parties than its neighbours")
            case Round.INPUT:
                self._add(sender, body)
            case Round.CONFIRM:
                if body != messages.included_digest(self._session, self.included):
                    raise PeerError(f"party {sender} confirmed another list of who is in the sum")
            case Round.UNMASK:
                messages.read_shares(body, len(self._dealers(sender)))
        # what others will be shown is kept signed; vectors are added up and not kept
        signed = self._round in (Round.KEYS, Round.CONFIRM)
        self._mailbox.mark(header)
        self._received[sender] = data if signed else b"" if self._round is Round.INPUT else body
        return sender

    def close_round(self) -> tuple[int, ...]:
        """Go on without those who have not answered: whom to send a `message` to; nobody after the last round.

        Raises:
            PeerError: too few have answered, so that there will not be a sum; nothing has changed, so one may wait.
        """
        if self._round is None:
            raise PeerError("the aggregation is over")
        who = tuple(sorted(self._received))
        last = self._round in (Round.CONFIRM, Round.UNMASK) and self._settings.neighbours is None
        least = self._settings.threshold if last else self._settings.least if self._round < Round.CONFIRM else 1
        if len(who) < least:
            raise PeerError(
                f"{len(who)} of {len(self._settings.parties)} parties answered the step {self._round.name.lower()}, "
                f"and at least {least} are needed; there is no sum"
            )
        match self._round:
            case Round.KEYS:
                self._introduce(who)
                after = Round.SHARES
            case Round.SHARES:
                self._shared = who
                after = Round.INPUT
            case Round.INPUT:
                self._included = who
                after = Round.CONFIRM if self._settings.confirmed else Round.UNMASK
            case Round.CONFIRM:
                after = Round.UNMASK
            case Round.UNMASK:
                self._sum = self._open(who)
                self._forget()
                return ()
        self._expected = who
        self._before, self._received = self._received, {}
        self._round = after
        return who

    def message(self, party: int) -> bytes:
        """What to send to a party in this round; the same if asked again."""
        if self._round is None or self._round is Round.KEYS or party not in self._expected:
            raise PeerError(f"there is no message for party {party} in this round")
        session = self._session
        match self._round:
            case Round.SHARES:
                known = sorted((party, *self._neighbours[party]))
                body = replace(self._roster, signed=tuple(self._before[each] for each in known)).to_bytes()
                session = messages.opening_session(self._settings)
            case Round.INPUT:
                body = messages.write_list(self._shared) + b"".join(self._sealed(party))
            case Round.CONFIRM:
                body = messages.write_list(self.included)
            case Round.UNMASK:
                confirmed = sorted(self._before) if self._settings.confirmed else []
                body = messages.write_list(self.included) + messages.write_confirmations(
                    [self._before[each] for each in confirmed]
                )
        return self._mailbox.write(body, receiver=party, session=session, round=self._round)

    def to_bytes(self) -> bytes:
        """The whole state: what the parties sent, and the sum as far as it is."""
        return messages.write_state(
            _ROLE,
            self._settings,
            (
                b"" if self._round is None else bytes([self._round]),
                messages.write_list(self._expected),
                self._session,
                messages.write_table(self._received),
                messages.write_table(self._before),
                self._roster.to_bytes(),
                messages.write_table({party: keys.to_bytes() for party, keys in self._keys.items()}),
                messages.write_list(self._shared),
                b"" if self._included is None else messages.write_list(self._included),
                b"".join(map(number, self._totals)),
                self._masked.astype("<u8", copy=False).tobytes(),
                b"" if self._sum is None else self._sum.astype("<u8", copy=False).tobytes(),
            ),
        )

    @classmethod
    def from_bytes(cls, data: bytes, settings: AggregationSettings, *, key: Ed25519PrivateKey) -> Self:
        """A server that goes on where one of `to_bytes` was."""
        fields = messages.read_state(data, _ROLE, settings, _FIELDS)
        round, expected, session, received, before, roster, keys, shared, included, totals, masked, opened = fields
        server = cls(settings, key=key)
        server._round = Round(round[0]) if round else None
        server._expected = _list(expected, settings)
        server._received = messages.read_table(received)
        server._before = messages.read_table(before)
        server._roster = Roster.from_bytes(roster, settings)
        server._keys = {party: Advertised.from_bytes(each) for party, each in messages.read_table(keys).items()}
        server._session = session
        members = server._roster.members
        server._neighbours = graph(members, settings.neighbours, session) if members else {}
        server._shared = _list(shared, settings)
        server._included = _list(included, settings) if included else None
        server._totals = [int(each) for each in np.frombuffer(totals, "<u8")]
        server._masked = np.frombuffer(masked, "<u8").astype(np.uint64)
        server._sum = np.frombuffer(opened, "<u8").astype(np.uint64) if opened else None
        if server._round is not None:
            for sender in server._received:
                server._mailbox.mark_from(sender, session=session, round=server._round)
        return server

    def _longest(self, round: Round) -> int:
        others = len(self._settings.parties)
        return {
            Round.KEYS: messages.ADVERTISED_BYTES,
            Round.SHARES: others * messages.SEALED_BYTES,
            Round.INPUT: self._declared_bytes + 8 * self._settings.length,
            Round.CONFIRM: messages.DIGEST_BYTES,
            Round.UNMASK: others * SHARE_BYTES,
        }[round]

    @property
    def _declared_bytes(self) -> int:
        return messages.SALT_BYTES + _TOTAL_BYTES * self._settings.totals if self._settings.totals else 0

    def _introduce(self, who: tuple[int, ...]) -> None:
        """Begin the session once the keys of all parties are known."""
        self._roster = Roster.of(who, [messages.keys_digest(self._received[party]) for party in who])
        self._session = self._roster.session(self._settings)
        self._neighbours = graph(who, self._settings.neighbours, self._session)

    def _sealed(self, receiver: int) -> Iterator[bytes]:
        """The shares for a party of those of its neighbours who sent any."""
        for sender in self._neighbours[receiver]:
            if sender in self._before:
                start = self._neighbours[sender].index(receiver) * messages.SEALED_BYTES
                yield self._before[sender][start : start + messages.SEALED_BYTES]

    def _add(self, sender: int, body: bytes) -> None:
        reader = Reader(body, f"vector of party {sender}")
        declaration = reader.take(self._declared_bytes)
        vector = reader.array(self._settings.length, "<u8")
        reader.finish()
        if declaration:
            if messages.totals_commitment(sender, declaration) != self._keys[sender].totals:
                raise PeerError(f"party {sender} opens other totals than it declared")
            opened = Reader(declaration[messages.SALT_BYTES :], "list of totals")
            declared = [opened.number(_TOTAL_BYTES) for _ in self._totals]
            if max(declared) > _MOST_DECLARED:
                raise PeerError(f"party {sender} declares more than {_MOST_DECLARED} records")
            self._totals = [total + more for total, more in zip(self._totals, declared, strict=True)]
        np.add(self._masked, vector, out=self._masked)

    def _dealers(self, holder: int) -> list[int]:
        shared = set(self._shared)
        return sorted(each for each in (holder, *self._neighbours[holder]) if each in shared)

    def _open(self, who: tuple[int, ...]) -> UInt64:
        shares: dict[int, dict[int, int]] = {party: {} for party in self._shared}
        for holder in who:
            dealers = self._dealers(holder)
            for dealer, value in zip(dealers, messages.read_shares(self._received[holder], len(dealers)), strict=True):
                shares[dealer][holder] = value
        return remove_masks(
            self._masked,
            shares,
            threshold=self._settings.threshold,
            included=self.included,
            keys=self._keys,
            neighbours=self._neighbours,
            session=self._session,
        )

    def _forget(self) -> None:
        """Drop what opens masks once the sum is open; that memory is overwritten cannot be promised in Python."""
        self._round = None
        self._expected = ()
        self._received = {}
        self._before = {}
        self._keys = {}
        self._masked = np.zeros(0, np.uint64)


def _list(data: bytes, settings: AggregationSettings) -> tuple[int, ...]:
    return messages.read_list(Reader(data, "stored list"), settings)
