"""Servers find out together whether each client's shares are those of one record, and learn nothing else.

A vector d has at most one entry other than zero, and that entry is 1, if and only if z^2 = z* for all r, where
z = sum_j r_j d_j and z* = sum_j r_j^2 d_j: the polynomial z^2 - z* in r has the coefficients d_j^2 - d_j and 2 d_i d_j.
Over a field with p elements a polynomial of degree 2 other than zero is zero for at most a share 2/p of all r.

Source:
    Boneh, Boyle, Corrigan-Gibbs, Gilboa and Ishai 2021; `docs/proofs/verified_uploads.md`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

import numpy as np

from ogive.core.arrays import Bool, Int64, UInt64
from ogive.crypto.domains import SEED_BYTES, HashDomain, Random, WordStream, digest, number
from ogive.crypto.field import P, accept, differences, products, sums, total
from ogive.crypto.tables import Material, ShareShape
from ogive.crypto.wire import Header, Inbox, Suite
from ogive.errors import ParameterError, PeerError, UnsupportedError

# --- A quadratic identity in a client's columns, with public coefficients drawn at random
#
# For columns x it says
#
#     sum_s l_s(x)^2 + sum_k f_k(x) g_k(x) + m(x) = 0
#
# with linear forms l_s, f_k, g_k and m, each with a constant. A claim about x is an identity that holds for all
# coefficients if the claim is true, and is a polynomial in the coefficients that is not zero, of degree 2, if it is
# not. Servers apply the forms to their shares; only the products need help, one shared square or product each.


@dataclass(frozen=True)
class Identity:
    """The forms of an identity.

    Of weights, shape (forms, columns), the l_s come first, then the f_k, the g_k, and m; constants have shape (forms,).
    """

    squares: int
    products: int
    weights: UInt64
    constants: UInt64

    def forms(self, projected: UInt64, *, server: int) -> UInt64:
        """A server's shares of all forms, shape (forms, n), from their linear parts; server 0 adds constants."""
        return sums(projected, self.constants[:, np.newaxis]) if server == 0 else projected

    def masks(self, forms: UInt64, material: Material) -> UInt64:
        """A server's shares of what is opened: the factors less their masks, shape (squares + 2 products, n)."""
        masks = np.concatenate([material.a, material.x, material.y])
        return differences(forms[:-1], masks)

    def results(self, linear: UInt64, opened: UInt64, material: Material, *, server: int) -> UInt64:
        """A server's shares of the left side of the identity, shape (n,).

        From its shares of m(x), the last of the forms, the masks of all servers added up, and its material.
        """
        split = self.squares + self.products
        e, f, g = opened[: self.squares], opened[self.squares : split], opened[split:]
        twice = sums(e, e)
        terms = [products(twice, material.a), material.c, products(f, material.y), products(g, material.x), material.z]
        if server == 0:
            terms += [products(e, e), products(f, g)]
        result = linear
        for term in terms:
            result = sums(result, total(term, axis=0))
        return result


# --- Claims about a client's columns
#
# Each says how many shared columns it speaks of, how many shared squares and products one verification of it uses, how
# many random `coefficients` it needs, and what the `identity` for these is. A claim `covers` another one if whoever
# satisfies it satisfies the other. Servers compare its bytes, the claim in full, before they begin.


@dataclass(frozen=True, eq=False)
class StepClaim:
    """Values y_1, ..., y_B at increasing thresholds are those of a step: c up to some threshold, then 0; c is 0 or 1.

    The differences c - y_1, y_1 - y_2, ..., y_B are at most one 1 and add up to c identically. The columns are
    y_1, ..., y_B; if the step's height c is private and not 1, it is shared too, in one more column before them.

    Soundness error: at most 2/p for a client, however it chose its upload.
    """

    points: Int64
    private_height: bool = False

    def __post_init__(self) -> None:
        _check_increasing("points", self.points)

    @property
    def columns(self) -> int:
        return self.points.size + self.private_height

    squares, products = 1, 0

    @property
    def coefficients(self) -> int:
        return self.points.size + 1

    def identity(self, r: UInt64) -> Identity:
        powers = np.stack([r, _negated_squares(r)])
        steps = differences(powers[:, 1:], powers[:, :-1])
        height = powers[:, :1]
        if self.private_height:
            return Identity(1, 0, np.concatenate([height, steps], axis=1), np.zeros(2, np.uint64))
        return Identity(1, 0, steps, height[:, 0])

    def covers(self, other: Claim) -> bool:
        if not isinstance(other, StepClaim) or other.private_height != self.private_height:
            return False
        return bool(np.isin(other.points, self.points).all())

    def to_bytes(self) -> bytes:
        return b"steps" + number(self.private_height) + self.points.astype("<i8").tobytes()


@dataclass(frozen=True, eq=False)
class CellClaim:
    """Sums over blocks of cells are one 1 and zeros, or all zeros: the client counts once, or nowhere.

    `ends` are the last cells of the blocks, increasing, and the last one is the last cell. Soundness error: at most 2/p
    for a client, however it chose its upload. Of what happens within a block nothing is proved, so later answers may
    use no finer sums than these without another verification.
    """

    ends: Int64

    def __post_init__(self) -> None:
        _check_increasing("ends", self.ends)

    @property
    def columns(self) -> int:
        return int(self.ends[-1]) + 1

    squares, products = 1, 0

    @property
    def coefficients(self) -> int:
        return self.ends.size

    def identity(self, r: UInt64) -> Identity:
        each = np.repeat(r, np.diff(self.ends, prepend=-1))
        return Identity(1, 0, np.stack([each, _negated_squares(each)]), np.zeros(2, np.uint64))

    def covers(self, other: Claim) -> bool:
        if not isinstance(other, CellClaim) or other.columns != self.columns:
            return False
        return bool(np.isin(other.ends, self.ends).all())

    def to_bytes(self) -> bytes:
        return b"cells" + self.ends.astype("<i8").tobytes()


@dataclass(frozen=True)
class AmountClaim:
    """The client counts in one of 2 groups cells (label, group), and adds 0 to 2^bits to the sum of that group alone.

    The columns are those of `amount_columns`: cells d, amounts u and digits b. One identity says three things at once:

        d is one 1 and zeros, or all zeros    z^2 = z*, as for `CellClaim`
        every digit is 0 or 1                 (r b)^2 = r^2 b, for each with an r of its own
        u = A g                               A sum_q r_q g_q = sum_q r_q u_q

    with A the weighted sum of the digits and g the cells summed over labels. A client that counts nowhere adds nothing.

    Soundness error: at most 2/p for a client, however it chose its upload.
    """

    groups: int
    bits: int

    def __post_init__(self) -> None:
        if self.groups < 1 or not 1 <= self.bits <= 32:
            raise ParameterError(
                f"amounts need a group and 1 to 32 bits, got {self.groups} groups and {self.bits} bits"
            )

    @property
    def columns(self) -> int:
        return 3 * self.groups + self.bits + 1

    @property
    def squares(self) -> int:
        return self.bits + 2

    products = 1

    @property
    def coefficients(self) -> int:
        return self.columns

    def identity(self, r: UInt64) -> Identity:
        cells, amounts, digits = (
            slice(0, 2 * self.groups),
            slice(2 * self.groups, 3 * self.groups),
            slice(3 * self.groups, None),
        )
        weights = np.zeros((self.squares + 3, self.columns), dtype=np.uint64)
        weights[0, cells] = r[cells]
        weights[1 : self.squares, digits] = np.diag(r[digits])
        amount, group, linear = weights[-3:]
        amount[digits] = [*(1 << np.arange(self.bits)), 1]
        group[cells] = np.tile(r[amounts], 2)
        linear[:] = _negated_squares(r)
        linear[amounts] = differences(np.uint64(0), r[amounts])
        return Identity(self.squares, 1, weights, np.zeros(len(weights), np.uint64))

    def covers(self, other: Claim) -> bool:
        return other == self

    def to_bytes(self) -> bytes:
        return b"amounts" + number(self.groups) + number(self.bits)


def _negated_squares(r: UInt64) -> UInt64:
    return differences(np.uint64(0), products(r, r))


def _check_increasing(name: str, places: Int64) -> None:
    if places.ndim != 1 or not places.size or places[0] < 0 or np.any(np.diff(places) <= 0):
        raise ParameterError(f"`{name}` must be one or more increasing whole numbers from 0")


Claim = StepClaim | CellClaim | AmountClaim


# --- A server's shares of all uploads, wherever they are stored


class Uploads(Protocol):
    """One server's shares of the material of all clients, such as a `ShareBatch`, or many of them on a disk."""

    @property
    def shape(self) -> ShareShape: ...

    @property
    def study(self) -> bytes: ...

    @property
    def server(self) -> int: ...

    @property
    def servers(self) -> int: ...

    def __len__(self) -> int: ...

    def shared_digest(self) -> bytes: ...

    def material(self, verification: int) -> Material: ...


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
        self._expect_turn(Round.COMMIT)
        return self._send(Round.COMMIT, self._context + self._commitment(self._shares.server, self._coins))

    def open(self, messages: Iterable[bytes]) -> dict[int, bytes]:
        self._expect_turn(Round.OPEN)
        bodies = self._receive(Round.COMMIT, messages, 2 * DIGEST_BYTES)
        for server, body in bodies.items():
            if body[:DIGEST_BYTES] != self._context:
                raise PeerError(f"server {server} verifies another claim, other uploads, or another number of clients")
        self._commitments = {server: body[DIGEST_BYTES:] for server, body in bodies.items()}
        return self._send(Round.OPEN, self._coins)

    def masks(self, messages: Iterable[bytes], project: Callable[[UInt64], UInt64]) -> dict[int, bytes]:
        """Answer the coins of all others with this server's shares of masked factors.

        `project` applies public weights, shape (forms, columns), to this server's shares of all clients' columns.
        """
        self._expect_turn(Round.MASKS)
        coins = self._receive(Round.OPEN, messages, COIN_BYTES)
        for server, result in coins.items():
            if self._commitment(server, result) != self._commitments[server]:
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
    result = accept(stream.words(count))
    while result.size < count:
        result = np.concatenate([result, accept(stream.words(count - result.size))])
    return result


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
    """

    def __init__(
        self,
        shares: Uploads,
        *,
        session: bytes,
        uploads: bytes,
        used: int = 0,
        verified: Claim | None = None,
        random: Random = os.urandom,
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
