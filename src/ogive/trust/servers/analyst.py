"""What an analyst does: add up what the servers answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ogive.crypto.wire import Inbox, Suite
from ogive.errors import PeerError
from ogive.queries import Int64, LinearQuery
from ogive.trust.servers.parts import added, signed
from ogive.trust.servers.server import ANALYST, ANSWER
from ogive.trust.servers.settings import Collected


def add_answers(messages: Sequence[bytes], collected: Collected, *, session: bytes, query: LinearQuery) -> Int64:
    """The noisy measurements.

    Args:
        messages: One of each server.
        collected: What was uploaded.
        session: 16 bytes.
        query: What was asked.

    Returns:
        In the shape of `query.measure`.

    Raises:
        PeerError: a message is missing, malformed, or belongs elsewhere.
    """
    shape = query.measure(np.zeros(query.aggregate.shape, np.int64)).shape
    count = int(np.prod(shape))
    servers = range(collected.uploads.servers)
    inbox = Inbox(suite=Suite.SERVERS, study=collected.study, receiver=ANALYST, senders=servers)
    total = np.zeros(count, np.uint64)
    heard = set()
    for message in messages:
        header, body = inbox.read(message, kind=ANSWER, session=session, round=0, longest=8 * count)
        shares = np.frombuffer(body, "<u8").astype(np.uint64) if len(body) == 8 * count else None
        if shares is None or (collected.modulus < 1 << 64 and count and shares.max() >= collected.modulus):
            raise PeerError(f"the answer of server {header.sender} is not {count} numbers below the modulus")
        if header.sender in heard:
            raise PeerError(f"server {header.sender} answered twice")
        heard.add(header.sender)
        total = added(total, shares, collected.modulus)
    missing = set(servers) - heard
    if missing:
        raise PeerError(f"server {min(missing)} has not answered")
    return signed(total, collected.modulus).reshape(shape)
