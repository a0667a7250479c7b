"""What clients do: turn their records into one message for every server, and leave.

message = header | for each part its length u64 and the part: keys or tables, then material for verifications
          | hashes of the other servers' parts, 32 bytes a client and server, with their length
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ogive.arrays import Int64
from ogive.crypto import comparison, tables
from ogive.crypto.wire import Header, Suite
from ogive.records.contributions import Contributions
from ogive.trust.servers.names import part_hashes
from ogive.trust.servers.settings import AggregateUploads
from ogive.trust.servers.uploads import SUMS

UPLOAD = 1
"""Kind of the message."""

CLIENTS = 0xFFFFFFFF
"""Sender of uploads: clients have no numbers, servers know them by their place in the set."""

Random = Callable[[int], bytes]
Piece = comparison.KeyBatch | tables.ShareBatch


def upload(
    collected: AggregateUploads, records: Contributions, *, batch: int, session: bytes, random: Random
) -> list[bytes]:
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
    layout = collected.layout
    symbols = layout.symbols(records.cells)
    parts: list[Sequence[Piece]] = []
    if collected.keys is not None:
        binding = collected.binding("keys", session)
        parts.append(comparison.generate(symbols, shape=collected.keys, study=binding, random=random))
    if collected.tables is not None:
        if records.amounts is None:
            columns: NDArray[Any] = tables.one_hot_columns(symbols, cells=layout.width)
        else:
            assert layout.amount_bits is not None
            columns = tables.amount_columns(symbols, records.amounts, groups=layout.groups, bits=layout.amount_bits)
        parts.append(_shared(columns, collected, collected.tables, "tables", session, random))
    if collected.material is not None:
        nothing = np.empty((0, symbols.size), np.int64)
        parts.append(_shared(nothing, collected, collected.material, "material", session, random))
    return upload_messages(collected, parts, batch=batch, session=session)


def upload_sums(collected: AggregateUploads, sums: Int64, *, batch: int, session: bytes, random: Random) -> list[bytes]:
    """Share the sums of all records of an organization, in the form of `Layout.columns`."""
    assert collected.uploads.kind == SUMS
    assert collected.tables is not None
    columns = sums.reshape(collected.layout.vectors, -1).T
    shared = _shared(columns, collected, collected.tables, "tables", session, random)
    return upload_messages(collected, [shared], batch=batch, session=session)


def upload_messages(
    collected: AggregateUploads, parts: Sequence[Sequence[Piece]], *, batch: int, session: bytes
) -> list[bytes]:
    """Messages of some clients to every server.

    Args:
        collected: What is uploaded.
        parts: What makes up an upload, and of each what every server is sent.
        batch: Number of the messages in the session.
        session: 16 bytes.
    """
    pieces = list(zip(*parts, strict=True))
    hashes = [part_hashes(collected, own, server=server, session=session) for server, own in enumerate(pieces)]
    made = []
    for server, own in enumerate(pieces):
        header = Header(Suite.SERVERS, UPLOAD, collected.study, session, CLIENTS, server, 0, batch)
        others = np.concatenate([each for number, each in enumerate(hashes) if number != server], axis=1)
        fields = [*(piece.to_bytes() for piece in own), others.tobytes()]
        made.append(header.message(*(part for field in fields for part in (len(field).to_bytes(8, "little"), field))))
    return made


def _shared(
    columns: NDArray[Any],
    collected: AggregateUploads,
    shape: tables.ShareShape,
    part: str,
    session: bytes,
    random: Random,
) -> tuple[tables.ShareBatch, ...]:
    servers, binding = collected.uploads.servers, collected.binding(part, session)
    return tables.share(columns, shape=shape, servers=servers, study=binding, random=random)
