"""The state of one participant of a secure aggregation as bytes, to go on after its process ended.

    magic          24 bytes, with the version
    role           "party" or "server"
    settings       digest of the settings, 32 bytes
    fields         each after its length (8 bytes, little-endian); what is not there any more is empty
    SHA-256        32 bytes, of all before

A state holds secrets: private keys, seeds of masks and shares. It is stored where only its owner can read it,
before the answer that led to it is sent. The digest finds damage; it is no proof of who wrote the state.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from ogive.crypto.aggregation.settings import AggregationSettings
from ogive.crypto.wire import Reader
from ogive.errors import DataError, PeerError

MAGIC = b"ogive aggregation state1"
_SIZE = 8
_NUMBER = 4
_DIGEST = 32


def write_state(role: str, settings: AggregationSettings, fields: Sequence[bytes]) -> bytes:
    """One participant's state, of these fields."""
    parts = [MAGIC, role.encode().ljust(_SIZE), settings.digest]
    for each in fields:
        parts += [len(each).to_bytes(_SIZE, "little"), each]
    body = b"".join(parts)
    return body + hashlib.sha256(body).digest()


def read_state(data: bytes, role: str, settings: AggregationSettings, count: int) -> list[bytes]:
    """The fields of a state.

    Raises:
        DataError: it is damaged, of another role or version, or of another aggregation.
    """
    whose = f"stored state of the {role}"
    if not isinstance(data, bytes) or not data.startswith(MAGIC):
        raise DataError(f"the {whose} is no state of this version")
    body, written = data[:-_DIGEST], data[-_DIGEST:]
    if hashlib.sha256(body).digest() != written:
        raise DataError(f"the {whose} is damaged: its digest is another")
    reader = Reader(body, whose)
    try:
        reader.take(len(MAGIC))
        if reader.take(_SIZE) != role.encode().ljust(_SIZE):
            raise DataError(f"the {whose} is that of another role")
        if reader.take(_DIGEST) != settings.digest:
            raise DataError(f"the {whose} is of another aggregation")
        fields = [reader.take(reader.number(_SIZE)) for _ in range(count)]
        reader.finish()
    except PeerError as problem:
        raise DataError(str(problem)) from None
    return fields


def write_table(table: Mapping[int, bytes]) -> bytes:
    """Numbers of participants with bytes for each, in the order of the table."""
    parts = [len(table).to_bytes(_NUMBER, "little")]
    for number, value in table.items():
        parts += [number.to_bytes(_NUMBER, "little"), len(value).to_bytes(_SIZE, "little"), value]
    return b"".join(parts)


def read_table(data: bytes) -> dict[int, bytes]:
    """The inverse of `write_table`."""
    reader = Reader(data, "stored table")
    table = {}
    for _ in range(reader.number(_NUMBER)):
        number = reader.number(_NUMBER)
        table[number] = reader.take(reader.number(_SIZE))
    reader.finish()
    return table
