"""What an analyst does: add up what the servers answer, if all counted the same clients for the same question.

answer = digest of the set and of who is left out, 32 bytes | digest of the question, 32 | shares, u64 each
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ogive.arrays import Int64
from ogive.crypto.wire import Inbox, Suite
from ogive.errors import PeerError
from ogive.privacy import Adjacency
from ogive.queries import LinearQuery
from ogive.trust.servers.parts import added, signed
from ogive.trust.servers.server import ANALYST, ANSWER
from ogive.trust.servers.settings import Collected, question_digest, question_number


def add_answers(
    messages: Sequence[bytes], collected: Collected, *, session: bytes, query: LinearQuery, adjacency: Adjacency
) -> Int64:
    """The noisy measurements.

    Args:
        messages: One of each server.
        collected: What was uploaded.
        session: 16 bytes.
        query: What was asked.
        adjacency: Under which it was.

    Returns:
        In the shape of `query.measure`.

    Raises:
        PeerError: a message is missing, malformed, or belongs elsewhere, or servers counted different clients.
    """
    shape = query.measure(np.zeros(query.aggregate.shape, np.int64)).shape
    count, modulus = int(np.prod(shape)), collected.modulus
    question = question_digest(query, adjacency)
    servers = range(collected.uploads.servers)
    inbox = Inbox(suite=Suite.SERVERS, study=collected.study, receiver=ANALYST, senders=servers)
    total = np.zeros(count, np.uint64)
    counted: dict[int, bytes] = {}
    for message in messages:
        header, body = inbox.read(message, kind=ANSWER, session=session, round=0, sequence=None, longest=64 + 8 * count)
        if body[32:64] != question or header.sequence != question_number(question):
            raise PeerError(f"the answer of server {header.sender} is to another question")
        shares = np.frombuffer(body[64:], "<u8").astype(np.uint64) if len(body) == 64 + 8 * count else None
        if shares is None or (modulus < 1 << 64 and count and shares.max() >= modulus):
            raise PeerError(f"the answer of server {header.sender} is not {count} numbers below the modulus")
        if header.sender in counted:
            raise PeerError(f"server {header.sender} answered twice")
        counted[header.sender] = body[:32]
        total = added(total, shares, modulus)
    missing = set(servers) - set(counted)
    if missing:
        raise PeerError(f"server {min(missing)} has not answered")
    if len(set(counted.values())) > 1:
        raise PeerError("the servers did not count the same clients; their answers do not add up to anything")
    return signed(total, modulus).reshape(shape)
