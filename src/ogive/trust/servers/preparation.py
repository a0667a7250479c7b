"""How servers come to count the same clients in the same blocks, as one of them sees it.

    states    every server says where it stands; if all have counted the same, that is enough, they are done
    check     else four rounds, in which they verify the uploads for all blocks so far and the new ones
    states    again, so that nobody answers before all found the same

The number of a check is the largest that any server remembers: material that one of them used is never used again, even
if the others were stopped before they knew. What a server remembers only grows, whatever it is told.

A verification reads the shares of the material of all clients of the set from the uploads when it needs them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from ogive.arrays import Int64, UInt64
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.sketch import Verifier
from ogive.crypto.tables import ShareShape
from ogive.crypto.tables.batch import Material
from ogive.errors import PeerError
from ogive.queries import Query
from ogive.queries.blocks import block_ends
from ogive.trust.servers.gathered import Gathered
from ogive.trust.servers.settings import AggregateUploads
from ogive.trust.servers.state import ServerState


class GatheredMaterial:
    """The material that a server was sent, as a verification needs it.

    Args:
        collected: What is uploaded, verified.
        server: Whose shares they are.
        gathered: Of the server; the set is known.
    """

    def __init__(self, collected: AggregateUploads, server: int, gathered: Gathered) -> None:
        shape = collected.material
        assert shape is not None, "only what is verified has material"
        self.shape: ShareShape = shape
        self.study = collected.study
        self.server = server
        self.servers = collected.uploads.servers
        self._layout = collected.layout
        self._gathered = gathered

    def __len__(self) -> int:
        return self._gathered.clients * self._layout.vectors

    def shared_digest(self) -> bytes:
        """Digest of what all servers know of the uploads besides their names: the number of vectors."""
        return digest(HashDomain.SHARE_BATCH, number(len(self)))

    def material(self, verification: int) -> Material:
        """Shares of the material of all vectors of all clients, in the order of the clients' numbers."""
        squares, products = (self.shape.squares, len(self)), (self.shape.products, len(self))
        shapes = (squares, squares, products, products, products)
        whole = Material(*(np.empty(each, np.uint64) for each in shapes))
        for parts, numbers in self._gathered:
            assert parts.material is not None
            for into, some in zip(whole, parts.material.material(verification), strict=True):
                into[:, self._layout.rows(numbers)] = some
        return whole


Messages = dict[int, bytes]


class Preparing(Protocol):
    """What a preparation needs of its server; `Server` has it."""

    collected: AggregateUploads
    session: bytes
    random: Callable[[int], bytes]
    state: ServerState | None

    def going(self) -> ServerState:
        """The state, of a server that can go on."""
        ...

    def say(self, state: ServerState) -> Messages:
        """A state, for the other servers."""
        ...

    def hear(self, messages: Sequence[bytes]) -> list[ServerState]:
        """The states of all other servers, each of them once."""
        ...

    def adopt(self, states: Sequence[ServerState]) -> None:
        """Merge the states of the other servers into this one's."""
        ...

    def confirm(self) -> None:
        """Remember that all servers count what this one does."""
        ...

    def leave_out(self, failed: Int64) -> None:
        """Remember who failed a verification."""
        ...

    def count(self, ends: Int64) -> None:
        """Count records in blocks."""
        ...

    def material(self) -> GatheredMaterial:
        """Shares of the material of all clients of the set."""
        ...

    def project(self, ends: Int64, weights: UInt64) -> UInt64:
        """Shares of linear forms of each vector of each client."""
        ...


class Preparation:
    """One server's part in getting ready for a question; made by `Server.prepare`.

    Call `begin` once, and `take` with what the other servers sent in the round before, until `done`. Both return
    messages by the number of the server that they are for. Before any of them is sent, the server's `state` must be
    stored. If one server begins anew, all do, and of the preparations of one server only the one begun last goes on.

    Raises, in `take`:
        PeerError: a message is missing, malformed, old, or belongs elsewhere; nothing changed, so the call may be
            repeated. Or another preparation was begun after this one.
        UnsupportedError: too many clients failed, or one did after something was answered, or uploads hold material
            for no more verifications. In the first two cases the server has stopped, and its `state` says so.
    """

    def __init__(self, server: Preparing, query: Query) -> None:
        self._server = server
        self._wanted = server.collected.layout.ends(block_ends(query))
        self._turn: Callable[[Sequence[bytes]], Messages] | None = None
        self._said = 0

    @property
    def done(self) -> bool:
        """Whether the question can be answered."""
        return self._turn is None

    def begin(self) -> Messages:
        """Say where this server stands."""
        return self._stand()

    def take(self, messages: Sequence[bytes]) -> Messages:
        """Go on with what all the others sent; returns nothing when done."""
        assert self._turn is not None, "begin, and take until done"
        if self._server.going().said != self._said:
            raise PeerError("another preparation was begun after this one; go on with that")
        return self._turn(messages)

    def _stand(self) -> Messages:
        server, state = self._server, self._server.going()
        self._said = state.said + 1
        server.state = dataclasses.replace(state, said=self._said)
        self._turn = self._compare
        return server.say(server.state)

    def _compare(self, messages: Sequence[bytes]) -> Messages:
        """Compare the servers' states, and decide what is left to do."""
        server = self._server
        heard = server.hear(messages)
        states = [*heard, server.going()]
        server.adopt(heard)
        counted = [each.ends for each in states]
        ends = np.unique(np.concatenate([self._wanted, *counted]))
        same = all(np.array_equal(each, ends) for each in counted)
        if same and len({each.left_out.tobytes() for each in states}) == 1:
            server.confirm()
            self._turn = None
            return {}
        if not same:
            if server.collected.checks(ends):
                return self._verify(ends)
            server.count(ends)
        return self._stand()

    def _verify(self, ends: Int64) -> Messages:
        server, state = self._server, self._server.going()
        shares = server.material()
        ends = server.collected.verified(ends, state.used)
        before = state.ends
        verifier = Verifier(
            shares,
            session=server.session,
            uploads=state.uploads,
            used=state.used,
            verified=server.collected.claim(before) if server.collected.checks(before) and before.size else None,
            random=server.random,
        )
        self._check = verifier.check(server.collected.claim(ends))
        self._ends = ends
        server.state = dataclasses.replace(state, used=verifier.used)
        self._turn = self._open
        return self._check.commit()

    def _open(self, messages: Sequence[bytes]) -> Messages:
        sent = self._check.open(messages)
        self._turn = self._mask
        return sent

    def _mask(self, messages: Sequence[bytes]) -> Messages:
        sent = self._check.masks(messages, lambda weights: self._server.project(self._ends, weights))
        self._turn = self._result
        return sent

    def _result(self, messages: Sequence[bytes]) -> Messages:
        sent = self._check.results(messages)
        self._turn = self._accept
        return sent

    def _accept(self, messages: Sequence[bytes]) -> Messages:
        vectors = self._server.collected.layout.vectors
        accepted = self._check.accepted(messages).reshape(-1, vectors).all(axis=1)  # one false vector is enough
        self._server.leave_out(np.flatnonzero(~accepted))
        self._server.count(self._ends)
        return self._stand()
