"""What clients do: turn their records into one message for every server, and leave.

message = header | for each part its length u64 and the part: keys or tables, then material for verifications
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.crypto import comparison, tables
from ogive.crypto.wire import Header, Suite
from ogive.queries import Int64
from ogive.records.contributions import Contributions
from ogive.trust.servers.settings import SUMS, Collected

UPLOAD = 1
"""Kind of the message."""

CLIENTS = 0xFFFFFFFF
"""Sender of uploads: clients have no numbers, servers know them by their place in the set."""

Random = Callable[[int], bytes]


def upload(collected: Collected, records: Contributions, *, batch: int, session: bytes, random: Random) -> list[bytes]:
    """Share some records, each its own client's, between the servers.

    Args:
        collected: What is uploaded.
        records: What each record contributes, at least one.
        batch: Number of the message in the session.
        session: 16 bytes.
        random: Uniform bytes of a given number; secret.

    Returns:
        A message for each server.
    """
    layout, study, servers = collected.layout, collected.study, collected.uploads.servers
    symbols = layout.symbols(records.cells)
    parts: list[Sequence[bytes]] = []
    if collected.keys is not None:
        pair = comparison.generate(symbols, shape=collected.keys, study=study, random=random)
        parts.append([each.to_bytes() for each in pair])
    if collected.tables is not None:
        if records.amounts is None:
            columns: NDArray[Any] = tables.one_hot_columns(symbols, cells=layout.cells)
        else:
            assert layout.amount_bits is not None
            columns = tables.amount_columns(symbols, records.amounts, groups=layout.groups, bits=layout.amount_bits)
        parts.append(_shared(columns, collected.tables, servers, study, random))
    if collected.material is not None:
        parts.append(_shared(np.empty((0, symbols.size), np.int64), collected.material, servers, study, random))
    return _messages(collected, parts, batch, session)


def upload_sums(collected: Collected, sums: Int64, *, batch: int, session: bytes, random: Random) -> list[bytes]:
    """Share the sums of all records of an organization, in the form of `Layout.blocks`."""
    assert collected.uploads.kind == SUMS
    assert collected.tables is not None
    columns = sums[:, np.newaxis]
    parts = [_shared(columns, collected.tables, collected.uploads.servers, collected.study, random)]
    return _messages(collected, parts, batch, session)


def _shared(
    columns: NDArray[Any], shape: tables.ShareShape, servers: int, study: bytes, random: Random
) -> Sequence[bytes]:
    made = tables.share(columns, shape=shape, servers=servers, study=study, random=random)
    return [each.to_bytes() for each in made]


def _messages(collected: Collected, parts: Sequence[Sequence[bytes]], batch: int, session: bytes) -> list[bytes]:
    made = []
    for server, pieces in enumerate(zip(*parts, strict=True)):
        header = Header(Suite.SERVERS, UPLOAD, collected.study, session, CLIENTS, server, 0, batch)
        made.append(header.message(b"".join(len(piece).to_bytes(8, "little") + piece for piece in pieces)))
    return made
