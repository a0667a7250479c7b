"""The uploads of one server as what pays for its part of a release."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from ogive.crypto.domains import HashDomain, digest
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Answer, LinearQuery
from ogive.study.servers.document import ServersStudy
from ogive.trust.base import Opening, TrustModel
from ogive.trust.servers.options import ServersOptions
from ogive.trust.servers.server import Server
from ogive.trust.servers.settings import question_digest


class OwnUploads(TrustModel):
    """What a server was sent of every aggregate; it answers with its own noise, and only all answers say anything.

    Args:
        study: The study.
        servers: Makes the server of each aggregate known, in the order of `collected`.
        noise: Secret of this server from which its noise follows, 32 bytes.
    """

    options_type = ServersOptions

    def __init__(self, study: ServersStudy, servers: Callable[[], list[Server]], noise: bytes) -> None:
        self.options: ServersOptions = study.terms
        self._study = study
        self._servers = servers
        self._noise = noise

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """As the study says."""
        return self._study.unit

    def count(self) -> int:
        """How many clients are counted."""
        return self._servers()[0].clients

    def data_digest(self) -> bytes:
        """SHA-256 of the sets of clients."""
        found = hashlib.sha256(b"ogive uploads\n")
        for server in self._servers():
            found.update(_set_of(server))
        return found.digest()

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> OwnAnswers:
        """Go on with a release."""
        return OwnAnswers(self._study, self._servers(), secret, self._noise)


class OwnAnswers(Opening[LinearQuery]):
    """A server's part of one release; its noise is a function of the server's own secret, not of the release's.

    Args:
        study: The study.
        servers: Of each aggregate.
        secret: Of the release, 32 bytes.
        noise: Of the server, 32 bytes.
    """

    def __init__(self, study: ServersStudy, servers: list[Server], secret: bytes, noise: bytes) -> None:
        self._study = study
        self._noise = noise
        self._servers = servers
        self.secret = secret

    def context(self, query: LinearQuery) -> bytes:
        """Digest of all that an answer follows from: the noise, the clients that are counted, and the question.

        The ledger keeps it with the charge. A server that lost its state, or has an older one, would draw other noise
        or count other clients for a charge that was made before; the ledger refuses that.
        """
        number, asked = self._study.uploaded(query)
        server = self._servers[number]
        counted = _set_of(server), server.dropped.astype("<i8").tobytes()
        question = question_digest(asked, self._study.unit.adjacency)
        return digest(HashDomain.UPLOAD_CONTEXT, self._noise, *counted, question)

    def answer(self, query: LinearQuery) -> Answer:
        """A single server's answer is a random number."""
        raise NotImplementedError("the answers of all servers are added up")


def _set_of(server: Server) -> bytes:
    """Digest of the set of clients."""
    assert server.state is not None, "a server that answers has a state"
    return server.state.uploads
