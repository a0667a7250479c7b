"""What clients upload to servers, and what answering costs the servers: comparison keys, or shared tables.

Two servers can be given a pair of comparison keys: short, but every threshold costs a walk down a tree. Any number of
servers can be given additive shares of a table with one number a cell: long, but thresholds are then sums. Which is
cheaper follows from public numbers alone, so every party finds the same.

Bytes are those of the uploads and of what servers send each other of them, without headers. Seconds are predicted for
one core at the rates below, which `benchmarks/uploads.py` measures, beside whole servers.
"""

from __future__ import annotations

from dataclasses import dataclass

from ogive.core.checks import whole
from ogive.crypto.aes import SEED_BYTES
from ogive.crypto.comparison import KeyShape
from ogive.crypto.domains import HASH_BYTES
from ogive.crypto.tables import ShareShape

KEYS, TABLES = "keys", "tables"

ELEMENT_BYTES = 8
VERIFICATIONS = 16
"""How often the servers can check keys, where nothing else is said."""

BLOCKS_PER_SECOND = 2.6e8
"""AES blocks of keys, with all that is done with them."""

CELLS_PER_SECOND = 3.5e8
"""Cells of a table: expanded from a seed and added up."""

PRODUCTS_PER_SECOND = 1e9
"""Multiplications modulo 2^61 - 1, of tables, many added up before they are reduced."""

WEIGHED_PER_SECOND = 3.5e8
"""The same of values of keys, one at a time as they are walked to."""

HANDLED_BYTES_PER_SECOND = 4.3e8
"""Bytes that a server is sent: read, hashed and put on a disk, and read from there for a check and to be added up."""

NAMED_PER_SECOND = 1.4e6
"""Clients that are named, and found in the lists of all servers."""

BYTES_PER_SECOND = 125e6
"""What a line of 1 Gbit/s brings in."""


@dataclass(frozen=True)
class UploadCost:
    """What one way of uploading costs.

    Fields:
        kind: "keys" or "tables".
        bytes_per_client: What each client uploads, to all servers together.
        bytes_per_server: What the busiest server receives, from all clients and from the other servers.
        seconds: That one core of the busiest server computes for one answer.
        once: How many of these go by for the uploads as they are, and not again for another answer.
    """

    kind: str
    bytes_per_client: int
    bytes_per_server: int
    seconds: float
    once: float

    @property
    def elapsed(self) -> float:
        """Seconds until a server has received everything over a line of 1 Gbit/s, and computed."""
        return self.seconds + self.bytes_per_server / BYTES_PER_SECOND


def upload_costs(
    cells: int, points: int, clients: int, servers: int, verified: bool, *, verifications: int = VERIFICATIONS
) -> tuple[UploadCost, ...]:
    """Every way of uploading that so many servers can serve."""
    for name, value, least in (
        ("cells", cells, 2), ("points", points, 1), ("clients", clients, 1), ("servers", servers, 2),
        ("verifications", verifications, 1),
    ):  # fmt: skip
        whole(value, name, least)
    once = ShareShape(0, squares=1, verifications=1) if verified else None
    tables = upload_cost(tables=ShareShape(cells), material=once, clients=clients, servers=servers)
    if servers != 2:
        return (tables,)
    shape = KeyShape(group="field" if verified else "ring64", bits=(cells - 1).bit_length())
    points = min(points, cells - 1)
    material = ShareShape(0, squares=1, verifications=verifications) if verified else None
    return upload_cost(keys=shape, points=points, material=material, clients=clients, servers=servers), tables


def upload_cost(
    *,
    keys: KeyShape | None = None,
    points: int = 0,
    tables: ShareShape | None = None,
    material: ShareShape | None = None,
    vectors: int = 1,
    clients: int,
    servers: int,
) -> UploadCost:
    """What uploads of known shapes cost, and one answer from them."""
    # every server is told the hashes of the others' parts by the client, and by the others its name
    uploaded, received, seconds = servers * (servers - 1) * HASH_BYTES, 2 * (servers - 1) * HASH_BYTES, 0.0
    for shape in (tables, material):
        if shape is not None:
            uploaded += vectors * (servers * SEED_BYTES + ELEMENT_BYTES * shape.explicit)
            received += vectors * (SEED_BYTES + ELEMENT_BYTES * shape.explicit)
    if keys is not None:
        uploaded += servers * keys.key_bytes
        received += keys.key_bytes
        seconds += blocks_at(keys, points) / BLOCKS_PER_SECOND
    if tables is not None:
        seconds += vectors * tables.columns / CELLS_PER_SECOND
    if material is not None:
        received += vectors * exchanged_bytes(material, servers)
        if tables is None:
            seconds += 2 * (points + 1) / WEIGHED_PER_SECOND
        else:
            seconds += 2 * vectors * tables.columns / PRODUCTS_PER_SECOND
    once = received / HANDLED_BYTES_PER_SECOND + 1 / NAMED_PER_SECOND
    kind = TABLES if keys is None else KEYS
    return UploadCost(kind, uploaded, clients * received, clients * (once + seconds), clients * once)


def exchanged_bytes(material: ShareShape | None, servers: int) -> int:
    """What a server gets from the others to verify one upload once."""
    if material is None:
        return 0
    opened = material.squares + 2 * material.products
    return ELEMENT_BYTES * (opened + 1) * (servers - 1)


def blocks_at(shape: KeyShape, points: int) -> int:
    """AES blocks that evaluate one key at so many evenly spread points."""
    prefixes = [min(1 << level, points) for level in range(shape.levels + 1)]
    leaves = min(points, shape.domain // min(shape.per_block, shape.leaf_values))
    return sum(prefixes[1:]) + sum(prefixes[:-1]) + leaves
