"""A party of a secure aggregation: a state machine from bytes to bytes.

    advertise    -> its public keys and commitments
    share_keys   keys of all -> shares of its secrets for each neighbour, encrypted
    mask         shares of the others -> its vector, masked
    confirm      who is in the sum -> its signature of that list
    unmask       the others' signatures -> for each party in the sum a share of the secret of its own mask, for each
                 that left before its vector a share of its private key

Learns: who takes part and who is in the sum; nothing of any vector. Any bytes are accepted or raise PeerError, and what
raises leaves the party as it was. Whoever runs it stores `to_bytes` before an answer is sent, and goes on from it with
`from_bytes`. Secrets are dropped as soon as no step needs them; that memory is overwritten cannot be promised in
Python.

Source:
    Bonawitz et al. 2017, the protocol against active adversaries; `crypto.md`, section 5.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Self

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from ogive.core.arrays import UInt64
from ogive.crypto.aggregation import messages
from ogive.crypto.aggregation.messages import SERVER, Advertised, Mailbox, Roster, Round
from ogive.crypto.aggregation.settings import (
    AggregationSettings,
    as_secret,
    commitment,
    fresh_key,
    mask_vector,
    neighbours_of,
    pair_seed,
    self_seed,
    share,
    uniform,
)
from ogive.crypto.domains import HashDomain, Random
from ogive.crypto.domains import number as field
from ogive.crypto.wire import Header, Note, Reader, agree, cipher_of
from ogive.errors import ParameterError, PeerError

# A set of parties is stored as a whole number in which the bits of its members' numbers are 1.

_NONCE_BYTES = 12
_ROLE = "party"
_FIELDS = 12


def as_bits(members: Sequence[int]) -> int:
    """A set of parties as bits of a number."""
    flags = np.zeros(max(members, default=0) + 1, np.bool_)
    flags[np.asarray(members, np.int64)] = True
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def _pair(data: bytes) -> tuple[int, int]:
    """The shares of a party's two secrets."""
    own, mask = messages.read_shares(data, 2)
    return own, mask


class AggregationParty:
    """One party, for one session.

    Args:
        settings: Agreed on beforehand; never taken from a peer.
        number: The party's, from 1.
        key: Its enrolment key, whose public half is in the settings.
        declared: Totals that it commits to, such as its number of records; as many as the settings say where they are
            opened, any number where they are not.
        note: Called as note(token, value) before an answer that must not be given twice, or not otherwise, is made:
            notes a value for good unless the token has one, and says which it had, None for none. It has to outlive the
            process, and be one for all of the party's sessions, or a party could be made to answer twice and to confirm
            two lists for one release.
        random: Gives random bytes, as many as it is called with.

    Raises:
        ParameterError: the number, the key or the totals do not fit the settings.
    """

    def __init__(
        self,
        settings: AggregationSettings,
        *,
        number: int,
        key: Ed25519PrivateKey,
        note: Note,
        declared: Sequence[int] = (),
        random: Random = os.urandom,
    ) -> None:
        if number == SERVER:
            raise ParameterError("parties are numbered from 1")
        if settings.totals and len(declared) != settings.totals:
            raise ParameterError(f"{settings.totals} totals must be declared, got {len(declared)}")
        self._settings = settings
        self._number = number
        self._mailbox = Mailbox(settings, number, key)
        self._note = note
        self._random = random
        self._next: Round | None = Round.KEYS
        self.declaration = random(messages.SALT_BYTES) + b"".join(map(field, declared))
        """Salt and totals, which open the commitment: for the server where totals are public, else for an auditor."""
        self._own: int | None = uniform(random)
        self._keys: tuple[X25519PrivateKey, X25519PrivateKey] | None = (fresh_key(random), fresh_key(random))
        self._session = messages.opening_session(settings)
        self._advertised = b""
        self._agreed: dict[int, bytes] = {}
        self._pairs: dict[int, bytes] = {}
        self._held: dict[int, tuple[int, int]] = {}
        self._members = as_bits(range(1, len(settings.parties) + 1))
        self._included: int | None = None

    def advertise(self) -> bytes:
        """Round 0: make public keys and commitments known."""
        self._expect(Round.KEYS)
        assert self._keys is not None, "keys are kept until they are shared"
        assert self._own is not None, "the secret of the mask is kept until the vector is masked"
        channel, mask = (key.public_key().public_bytes_raw() for key in self._keys)
        body = Advertised(
            self._random(messages.NONCE_BYTES),
            channel,
            mask,
            commitment(self._number, as_secret(self._own)),
            messages.totals_commitment(self._number, self.declaration),
        ).to_bytes()
        self._advertised = self._write(Round.KEYS, body)
        self._next = Round.SHARES
        return self._advertised

    def share_keys(self, data: bytes) -> bytes:
        """Round 1: from everybody's keys to shares for each neighbour.

        Raises:
            PeerError: the list lacks this party or too many others, or somebody's keys are not signed, or used twice.
        """
        header, body = self._read(data, Round.SHARES, Roster.most_bytes(self._settings))
        roster = Roster.from_bytes(body, self._settings)
        members = roster.members
        self._check(members, "the list of parties")
        session = roster.session(self._settings)
        neighbours = neighbours_of(self._number, members, self._settings.neighbours, session)
        peers = self._peers(roster, neighbours)
        assert self._keys is not None, "keys are kept until they are shared"
        assert self._own is not None, "the secret of the mask is kept until the vector is masked"
        channel, mask = self._keys
        agreed = {peer: agree(channel, keys.channel, peer) for peer, keys in peers.items()}
        pairs = {
            peer: pair_seed(session, self._number, peer, agree(mask, keys.mask, peer)) for peer, keys in peers.items()
        }
        secrets = self._own, int.from_bytes(mask.private_bytes_raw(), "little")
        holders = (*agreed, self._number)
        shares = [share(each, self._settings.threshold, holders, random=self._random) for each in secrets]
        *dealt, remaining = zip(*shares, strict=True)
        sealed = b"".join(
            self._sealed(session, receiver, key, pair)
            for (receiver, key), pair in zip(agreed.items(), dealt, strict=True)
        )
        self._session = session
        self._agreed = agreed
        self._pairs = pairs
        self._held = {self._number: remaining}
        self._members = as_bits(members)
        self._keys = None
        return self._answer(header, sealed, after=Round.INPUT)

    def mask(self, data: bytes, vector: UInt64) -> bytes:
        """Round 2: from the others' shares to this party's masked vector.

        Args:
            data: From the server.
            vector: Shape (length,), modulo 2^64; noise included. Nobody checks what is in it.

        Raises:
            ParameterError: the vector has another shape or type.
            PeerError: too many parties are missing, a share was not meant for this party, or it answered before.
        """
        if vector.shape != (self._settings.length,) or vector.dtype != np.uint64:
            raise ParameterError(f"the vector must be {self._settings.length} numbers of 64 bits without a sign")
        most = messages.list_bytes(len(self._settings.parties)) + len(self._agreed) * messages.SEALED_BYTES
        header, body = self._read(data, Round.INPUT, most)
        reader = Reader(body, "list of shares")
        members = messages.read_list(reader, self._settings)
        self._check(members, "the list of parties who shared their keys")
        present = set(members)
        held = {
            peer: self._unsealed(reader.take(messages.SEALED_BYTES), peer, agreed)
            for peer, agreed in self._agreed.items()
            if peer in present
        }
        reader.finish()
        self._once(Round.INPUT)
        assert self._own is not None, "the secret of the mask is kept until the vector is masked"
        own = self_seed(self._session, self._number, as_secret(self._own))
        pairs = {peer: self._pairs[peer] for peer in held}
        masked = mask_vector(vector, party=self._number, own=own, pairs=pairs)
        self._held |= held
        self._members = as_bits(members)
        self._agreed = {}
        self._pairs = {}
        self._own = None
        opened = self.declaration if self._settings.totals else b""
        after = Round.CONFIRM if self._settings.confirmed else Round.UNMASK
        return self._answer(header, opened + masked.astype("<u8", copy=False).tobytes(), after=after)

    def confirm(self, data: bytes) -> bytes:
        """Round 2b: sign who is in the sum.

        Raises:
            PeerError: the list lacks this party or too many others, or is not that of earlier sums of the release.
        """
        header, body = self._read(data, Round.CONFIRM, messages.list_bytes(len(self._settings.parties)))
        reader = Reader(body, "list of who is in the sum")
        included = self._read_included(reader)
        reader.finish()
        self._fix(included)
        self._once(Round.CONFIRM)
        self._included = as_bits(included)
        return self._answer(header, messages.included_digest(self._session, included), after=Round.UNMASK)

    def unmask(self, data: bytes) -> bytes:
        """Round 3: give away what opens the sum, and nothing that opens a vector.

        Raises:
            PeerError: the list is not the one that was confirmed, too few confirmed it, it is not that of earlier sums
                of the release, or this party answered before.
        """
        parties = len(self._settings.parties)
        most = messages.list_bytes(parties) + messages.confirmations_bytes(parties)
        header, body = self._read(data, Round.UNMASK, most)
        reader = Reader(body, "request for shares")
        included = self._read_included(reader)
        confirmations = messages.read_confirmations(reader, self._settings)
        reader.finish()
        if self._settings.confirmed:
            if as_bits(included) != self._included:
                raise PeerError("the list of who is in the sum is not the one that this party confirmed")
            self._check_confirmed(included, confirmations)
        self._fix(included)
        self._once(Round.UNMASK)
        inside = set(included)
        # of each party one of its two secrets, never both: that of its own mask, or the key of its masks with others
        shares = [self._held[peer][0 if peer in inside else 1] for peer in sorted(self._held)]
        self._held = {}
        return self._answer(header, messages.write_shares(shares), after=None)

    def to_bytes(self) -> bytes:
        """The whole state, secrets included."""
        keys = b"" if self._keys is None else b"".join(key.private_bytes_raw() for key in self._keys)
        width = len(self._settings.parties) // 8 + 1
        return messages.write_state(
            _ROLE,
            self._settings,
            (
                field(self._number),
                b"" if self._next is None else bytes([self._next]),
                self.declaration,
                b"" if self._own is None else as_secret(self._own),
                keys,
                self._session,
                self._advertised,
                messages.write_table(self._agreed),
                messages.write_table(self._pairs),
                messages.write_table({peer: messages.write_shares(pair) for peer, pair in self._held.items()}),
                self._members.to_bytes(width, "little"),
                b"" if self._included is None else self._included.to_bytes(width, "little"),
            ),
        )

    @classmethod
    def from_bytes(
        cls,
        data: bytes,
        settings: AggregationSettings,
        *,
        key: Ed25519PrivateKey,
        note: Note,
        random: Random = os.urandom,
    ) -> Self:
        """A party that goes on where one of `to_bytes` was.

        The notes are to be the same: a state that is older than an answer that was given is stopped by them alone.

        Raises:
            DataError: the state is damaged, or of another aggregation.
            ParameterError: the key is another party's.
        """
        numbered, following, declaration, own, keys, session, advertised, agreed, pairs, held, members, included = (
            messages.read_state(data, _ROLE, settings, _FIELDS)
        )
        party = cls.__new__(cls)
        party._settings = settings
        party._number = int.from_bytes(numbered, "little")
        party._mailbox = Mailbox(settings, party._number, key)
        party._note = note
        party._random = random
        party._next = Round(following[0]) if following else None
        party.declaration = declaration
        party._own = int.from_bytes(own, "little") if own else None
        read_key = X25519PrivateKey.from_private_bytes
        party._keys = (read_key(keys[: messages.KEY_BYTES]), read_key(keys[messages.KEY_BYTES :])) if keys else None
        party._session = session
        party._advertised = advertised
        party._agreed = messages.read_table(agreed)
        party._pairs = messages.read_table(pairs)
        party._held = {peer: _pair(pair) for peer, pair in messages.read_table(held).items()}
        party._members = int.from_bytes(members, "little")
        party._included = int.from_bytes(included, "little") if included else None
        return party

    def _expect(self, round: Round) -> None:
        if self._next is not round:
            waiting = "has finished" if self._next is None else f"is at the step {self._next.name.lower()}"
            raise PeerError(f"this party {waiting}, and was asked for the step {round.name.lower()}")

    def _read(self, data: bytes, round: Round, longest: int) -> tuple[Header, bytes]:
        self._expect(round)
        return self._mailbox.read(data, session=self._session, round=round, longest=longest)

    def _write(self, round: Round, body: bytes) -> bytes:
        return self._mailbox.write(body, receiver=SERVER, session=self._session, round=round)

    def _answer(self, header: Header, body: bytes, *, after: Round | None) -> bytes:
        self._mailbox.mark(header)
        self._next = after
        return self._write(Round(header.round), body)

    def _once(self, round: Round) -> None:
        if self._note(b"step " + self._session + bytes([round]), b"") is not None:
            raise PeerError(f"this party answered the step {round.name.lower()} of this session before")

    def _fix(self, included: tuple[int, ...]) -> None:
        """Settle who is in all sums of the release: in different ones the noise may be the same, and would cancel."""
        most = len(self._settings.parties)
        who = as_bits(included).to_bytes(most // 8 + 1, "little")
        if self._note(b"release " + self._settings.release, who) not in (None, who):
            raise PeerError("the list of who is in the sum is not that of an earlier sum of the same release")

    def _check(self, members: Sequence[int], what: str) -> None:
        if self._number not in members:
            raise PeerError(f"{what} lacks party {self._number}, who is asked")
        if len(members) < self._settings.least:
            raise PeerError(f"{what} has {len(members)} parties, and at least {self._settings.least} are needed")
        if as_bits(members) & ~self._members:
            raise PeerError(f"{what} names parties who were not in the one before")

    def _peers(self, roster: Roster, neighbours: Collection[int]) -> dict[int, Advertised]:
        """The keys of the neighbours, once they are known to be signed, and no two to be equal."""
        if roster.digest_of(self._number) != messages.keys_digest(self._advertised):
            raise PeerError(f"the list of parties has other keys of party {self._number} than it sent")
        results: dict[int, Advertised] = {}
        for signed in roster.signed:
            sender, body = self._mailbox.read_forwarded(
                signed,
                session=messages.opening_session(self._settings),
                round=Round.KEYS,
                longest=messages.ADVERTISED_BYTES,
            )
            if roster.digest_of(sender) != messages.keys_digest(signed):
                raise PeerError(f"the keys of party {sender} are not those in the list of parties")
            results[sender] = Advertised.from_bytes(body)
        if set(results) != {self._number, *neighbours}:
            raise PeerError(f"the list of parties has not the keys of party {self._number} and of each neighbour")
        keys = [key for each in results.values() for key in (each.channel, each.mask)]
        if len(set(keys)) != len(keys):
            raise PeerError("two parties sent the same public key, or one sent one for both uses")
        return {peer: results[peer] for peer in neighbours}

    def _check_confirmed(self, included: tuple[int, ...], confirmations: Sequence[bytes]) -> None:
        expected = messages.included_digest(self._session, included)
        who = set()
        for signed in confirmations:
            sender, body = self._mailbox.read_forwarded(
                signed, session=self._session, round=Round.CONFIRM, longest=messages.DIGEST_BYTES
            )
            if body != expected or sender not in included:
                raise PeerError(f"party {sender} confirmed another list of who is in the sum, or is not in it")
            who.add(sender)
        if len(who) < self._settings.threshold:
            raise PeerError(
                f"{len(who)} parties confirmed who is in the sum, and {self._settings.threshold} are needed"
            )

    def _sealed(self, session: bytes, receiver: int, key: bytes, pair: tuple[int, ...]) -> bytes:
        """Two shares on their way through the server, which must not read them: nonce, ciphertext and tag."""
        nonce = self._random(_NONCE_BYTES)
        cipher = cipher_of(HashDomain.AGGREGATION_CHANNEL, session, self._number, receiver, key)
        return nonce + cipher.encrypt(nonce, messages.write_shares(pair), _about(session, self._number, receiver))

    def _unsealed(self, sealed: bytes, sender: int, key: bytes) -> tuple[int, int]:
        cipher = cipher_of(HashDomain.AGGREGATION_CHANNEL, self._session, sender, self._number, key)
        about = _about(self._session, sender, self._number)
        try:
            return _pair(cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], about))
        except InvalidTag:
            raise PeerError(
                f"the shares from party {sender} were changed, or are not for party {self._number}"
            ) from None

    def _read_included(self, reader: Reader) -> tuple[int, ...]:
        included = messages.read_list(reader, self._settings)
        self._check(included, "the list of who is in the sum")
        return included


def _about(session: bytes, sender: int, receiver: int) -> bytes:
    """What a ciphertext is tied to."""
    return b"".join((session, field(Round.SHARES), field(sender), field(receiver)))
