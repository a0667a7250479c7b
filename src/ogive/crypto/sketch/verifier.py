"""One server's part in all verifications of a frozen set of uploads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Protocol

import numpy as np

from ogive.core.arrays import Bool, UInt64
from ogive.crypto.aes import SEED_BYTES, WordStream
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.field import P, accept, sums
from ogive.crypto.sketch.claims import Claim
from ogive.crypto.tables import Material, ShareShape
from ogive.crypto.wire import Header, Inbox, Suite
from ogive.errors import ParameterError, PeerError, UnsupportedError

# --- A server's shares of all uploads, wherever they are stored


class Uploads(Protocol):
    """One server's shares of the material of all clients; a `ShareBatch` is one, and so may be many on a disk."""

    @property
    def shape(self) -> ShareShape:
        """How much material every client uploaded."""

    @property
    def study(self) -> bytes:
        """Digest of the study, 32 bytes."""

    @property
    def server(self) -> int:
        """Number of the server, from 0."""

    @property
    def servers(self) -> int:
        """How many there are."""

    def __len__(self) -> int:
        """How many clients."""

    def shared_digest(self) -> bytes:
        """Digest of what all servers know of the uploads."""

    def material(self, verification: int) -> Material:
        """Shares of the material of one verification, numbered from 0."""


# --- One verification: four rounds of messages, each to all other servers
#
#     commit    a hash of 32 random bytes (coins), and a digest of everything that servers must agree on
#     open      the coins; the random coefficients follow from those of all servers
#     masks     shares of each client's factors less their masks; 8 bytes a client and factor
#     results   shares of the identity's left side; 8 bytes a client
#
# A client is accepted if the results add up to 0. Coefficients depend on coins of all servers, which are drawn after
# the set of uploads is frozen: no client can know them. Messages of a round are read all or none, and no round is
# repeated.
#
# What servers learn of an honest client: masked factors, which are uniform, and results that add up to 0. Any m - 1
# servers could have made up all they see. Servers are assumed to follow the protocol.
#
# Source:
#     `crypto.md`, section 4; `docs/proofs/verified_uploads.md`.

COIN_BYTES = 32
DIGEST_BYTES = 32


class Round(IntEnum):
    """What a message holds; rounds follow in this order."""

    COMMIT = 1
    OPEN = 2
    MASKS = 3
    RESULTS = 4


class Check:
    """One verification of one claim about all uploads; made by `Verifier.check`.

    Call `commit`, `open`, `masks`, `results` and `accepted` once each, in this order, with the messages of all other
    servers in any order. The first four return messages by the number of the server that they are for.

    Raises, in every call:
        PeerError: a message is missing, malformed, or belongs elsewhere; nothing changed, so the call may be repeated.
        ParameterError: it is not this call's turn.
    """

    def __init__(
        self, claim: Claim, shares: Uploads, *, number: int, session: bytes, uploads: bytes, coins: bytes
    ) -> None:
        self._claim = claim
        self._shares = shares
        self._number = number
        self._session = session
        self._context = _context(claim, shares, verification=number, session=session, uploads=uploads)
        self._coins = coins
        self._others = [server for server in range(shares.servers) if server != shares.server]
        self._inbox = Inbox(suite=Suite.SKETCH, study=shares.study, receiver=shares.server, senders=self._others)
        self._done = 0

    def commit(self) -> dict[int, bytes]:
        """Begin with commitments to this server's coins."""
        self._expect_turn(Round.COMMIT)
        return self._send(Round.COMMIT, self._context + self._commitment(self._shares.server, self._coins))

    def open(self, messages: Iterable[bytes]) -> dict[int, bytes]:
        """Answer the commitments of all others with this server's coins."""
        self._expect_turn(Round.OPEN)
        bodies = self._receive(Round.COMMIT, messages, 2 * DIGEST_BYTES)
        for server, body in bodies.items():
            if body[:DIGEST_BYTES] != self._context:
                raise PeerError(f"server {server} verifies another claim, other uploads, or another number of clients")
        self._commitments = {server: body[DIGEST_BYTES:] for server, body in bodies.items()}
        return self._send(Round.OPEN, self._coins)

    def masks(self, messages: Iterable[bytes], project: Callable[[UInt64], UInt64]) -> dict[int, bytes]:
        """Answer the coins of all others with this server's shares of masked factors.

        Args:
            messages: The others' coins.
            project: Applies public weights, shape (forms, columns), to this server's shares of all clients'
                columns, and returns elements, shape (forms, n).
        """
        self._expect_turn(Round.MASKS)
        coins = self._receive(Round.OPEN, messages, COIN_BYTES)
        for server, found in coins.items():
            if self._commitment(server, found) != self._commitments[server]:
                raise PeerError(f"server {server} opened other coins than it committed to")
        coins[self._shares.server] = self._coins
        seed = digest(
            HashDomain.SKETCH_SEED, self._context, *(coins[server] for server in sorted(coins)), length=SEED_BYTES
        )
        self._identity = self._claim.identity(uniform_elements(seed, self._claim.coefficients))
        self._material = self._shares.material(self._number)
        forms = self._identity.forms(project(self._identity.weights), server=self._shares.server)
        self._masks = self._identity.masks(forms, self._material)
        self._linear = forms[-1].copy()  # of the other forms only the masks are used from here on
        return self._send(Round.MASKS, self._masks.astype("<u8").tobytes())

    def results(self, messages: Iterable[bytes]) -> dict[int, bytes]:
        """Answer the masks of all others with this server's shares of the results."""
        self._expect_turn(Round.RESULTS)
        opened = self._total(Round.MASKS, messages, self._masks)
        self._results = self._identity.results(self._linear, opened, self._material, server=self._shares.server)
        return self._send(Round.RESULTS, self._results.astype("<u8").tobytes())

    def accepted(self, messages: Iterable[bytes]) -> Bool:
        """Which clients are accepted, shape (n,), from the results of all others."""
        self._expect_turn(Round.RESULTS + 1)
        verdicts: Bool = self._total(Round.RESULTS, messages, self._results) == 0
        self._done = Round.RESULTS + 1
        return verdicts

    def _expect_turn(self, turn: int) -> None:
        if self._done != turn - 1:
            calls = ("commit", "open", "masks", "results", "accepted")
            last = f"{calls[self._done - 1]}() was called last" if self._done else "nothing was called yet"
            raise ParameterError(f"it is not the turn of {calls[turn - 1]}(): {last}")

    def _commitment(self, server: int, coins: bytes) -> bytes:
        return digest(HashDomain.SKETCH_COMMITMENT, self._context, number(server), coins)

    def _send(self, done: Round, body: bytes) -> dict[int, bytes]:
        """One message for every other server; the round is over."""
        self._done = done
        shares = self._shares
        return {
            receiver: Header(
                Suite.SKETCH, done, shares.study, self._session, shares.server, receiver,
                self._number, self._sequence(done),
            ).message(body)
            for receiver in self._others
        }  # fmt: skip

    def _sequence(self, kind: Round) -> int:
        """Number of a message among all that one server sends another in the verifications of a session."""
        return self._number * len(Round) + kind

    def _receive(self, kind: Round, messages: Iterable[bytes], length: int) -> dict[int, bytes]:
        """The bodies of one message from every other server, by sender."""
        bodies: dict[int, bytes] = {}
        for message in messages:
            header, body = self._inbox.read(
                message, kind=kind, session=self._session, round=self._number, sequence=self._sequence(kind),
                longest=length,
            )  # fmt: skip
            if header.sender in bodies:
                raise PeerError(f"server {header.sender} sent two messages of one round")
            if len(body) != length:
                raise PeerError(f"the message of server {header.sender} has {len(body)} bytes, not {length}")
            bodies[header.sender] = body
        missing = [server for server in self._others if server not in bodies]
        if missing:
            raise PeerError(f"there is no message of server {missing[0]}")
        return bodies

    def _total(self, kind: Round, messages: Iterable[bytes], own: UInt64) -> UInt64:
        """Add up this server's elements and those of all others."""
        total = own
        for server, body in self._receive(kind, messages, own.nbytes).items():
            elements = np.frombuffer(body, "<u8").astype(np.uint64).reshape(own.shape)
            if elements.size and elements.max() >= P:
                raise PeerError(f"server {server} sent a number that is not below 2^61 - 1")
            total = sums(total, elements)
        return total


def uniform_elements(seed: bytes, count: int) -> UInt64:
    """Exactly uniform elements of the field, shape (count,), from a seed that has no other use."""
    stream = WordStream(seed)
    found = accept(stream.words(count))
    while found.size < count:
        found = np.concatenate([found, accept(stream.words(count - found.size))])
    return found


def _context(claim: Claim, shares: Uploads, *, verification: int, session: bytes, uploads: bytes) -> bytes:
    """Digest of everything that servers must agree on before they draw coins."""
    return digest(
        HashDomain.SKETCH_CONTEXT, shares.study, session, uploads, shares.shared_digest(), number(shares.servers),
        number(verification), claim.to_bytes(),
    )  # fmt: skip


# --- All verifications of a frozen set of uploads


class Verifier:
    """Begins verifications, each with material and coins that no other had.

    There can be none before the set of uploads is frozen, since its digest is needed. A verification that was begun is
    used up, whatever becomes of it: masks made twice from the same material, with other coins or for another claim,
    give shares away. A server that may be restarted stores `used` before it sends anything of a new check, and begins
    with it. Later claims cover earlier ones, so that one verification has seen all that answers use together.

    Args:
        shares: This server's shares of the material of all clients.
        session: 16 bytes, agreed by the servers.
        uploads: Digest of the frozen set of uploads: who is in it, and all of it that servers have in common.
        used: How many verifications were begun before, by any server.
        verified: What the last one claimed whose verdicts answers rely on; None where there was none.
        random: Where coins come from.
    """

    def __init__(
        self,
        shares: Uploads,
        *,
        session: bytes,
        uploads: bytes,
        used: int = 0,
        verified: Claim | None = None,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self._shares = shares
        self._session = session
        self._uploads = uploads
        self._random = random
        self._verified = verified
        self.used = used

    @property
    def left(self) -> int:
        """How many verifications can still be begun."""
        return self._shares.shape.verifications - self.used

    def check(self, claim: Claim) -> Check:
        """Begin the verification of a claim.

        Raises:
            UnsupportedError: the uploads hold no more material.
            ParameterError: the material is of another kind than the claim needs, or the claim does not cover an
                earlier one, such as all points that were asked for before.
        """
        shape = self._shares.shape
        if (claim.squares, claim.products) != (shape.squares, shape.products):
            raise ParameterError(
                f"the claim needs {claim.squares} squares and {claim.products} products a verification; "
                f"the uploads hold {shape.squares} and {shape.products}"
            )
        if self.left <= 0:
            raise UnsupportedError(
                f"the uploads hold material for {shape.verifications} verifications, and all were used; ask for all "
                "points at once, or have clients upload material for more"
            )
        if self._verified is not None and not claim.covers(self._verified):
            raise ParameterError("a later claim must cover all points or cells that were verified before")
        self._verified = claim
        number, self.used = self.used, self.used + 1
        return Check(
            claim, self._shares, number=number, session=self._session, uploads=self._uploads, coins=self._random(32)
        )
