"""What clients are called: by a hash that binds them to all that they send, to every server.

The part of a server is the keys or tables and the material that it is sent, and its hash is as secret as the part is
random: every part begins with a seed of its own. A client tells every server the hashes of the others' parts. The hash
of all of them is its name, which every server computes for itself: who tells servers different things, or whose upload
was damaged on the way, has another name at each, and is in no set.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ogive.arrays import UInt8
from ogive.crypto.commitments import HASH_BYTES, hash_rows
from ogive.crypto.comparison import KeyBatch
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.tables import ShareBatch
from ogive.trust.servers.settings import AggregateUploads


def part_hashes(
    collected: AggregateUploads, pieces: Sequence[KeyBatch | ShareBatch], *, server: int, session: bytes
) -> UInt8:
    """Hashes of all that one server is sent of each client, shape (n, 32)."""
    key = digest(HashDomain.SERVERS_PART, collected.study, session, number(server))
    vectors = collected.layout.vectors
    rows = (each for piece in pieces for each in piece.pieces())
    return hash_rows(key, *(each.reshape(len(each) // vectors, vectors, *each.shape[1:]) for each in rows))


def client_names(collected: AggregateUploads, hashes: Sequence[UInt8], *, session: bytes) -> UInt8:
    """Names of clients from the hashes of the parts of all servers in their order, each of shape (n, 32)."""
    return hash_rows(digest(HashDomain.SERVERS_NAME, collected.study, session), *hashes)


def sortable(names: UInt8) -> NDArray[np.bytes_]:
    """Names as one sortable item each, shape (n,)."""
    return np.ascontiguousarray(names).reshape(-1).view(f"S{HASH_BYTES}")
