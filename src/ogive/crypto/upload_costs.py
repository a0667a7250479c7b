"""What clients upload to servers, and what answering costs the servers: comparison keys, or shared tables.

Two servers can be given a pair of comparison keys: short, but every threshold costs a walk down a tree. Any number of
servers can be given additive shares of a table with one number a cell: long, but thresholds are then sums. Which is
cheaper follows from public numbers alone, so every party finds the same.

Bytes are those of the uploads, without the headers of batches. Seconds are predicted for one core at the rates below.

Source:
    Boyle et al. 2021 for the keys; Boneh et al. 2021 for the check.
"""

from __future__ import annotations

from dataclasses import dataclass

from ogive.errors import ParameterError

KEYS, TABLES = "keys", "tables"

SEED_BYTES, ELEMENT_BYTES = 16, 8
VERIFICATIONS = 16
"""How often the servers can check an upload, where nothing else is said."""

BLOCKS_PER_SECOND = 3e8
"""AES blocks of keys, with all that is done with them."""

CELLS_PER_SECOND = 4e8
"""Cells of a table: expanded from a seed, reduced and added up."""

PRODUCTS_PER_SECOND = 4e8
"""Multiplications modulo 2^61 - 1 in the check."""

BYTES_PER_SECOND = 125e6
"""What a line of 1 Gbit/s brings in."""

_EARLY = 2  # levels of the tree that one leaf of values of 64 bits replaces


@dataclass(frozen=True)
class UploadCost:
    """What one way of uploading costs.

    Fields:
        kind: "keys" or "tables".
        bytes_per_client: What each client uploads, to all servers together.
        bytes_per_server: What the busiest server receives, from all clients and from the other servers.
        seconds: That one core of the busiest server computes for one answer.
    """

    kind: str
    bytes_per_client: int
    bytes_per_server: int
    seconds: float

    @property
    def elapsed(self) -> float:
        """Seconds until a server has received everything over a line of 1 Gbit/s, and computed."""
        return self.seconds + self.bytes_per_server / BYTES_PER_SECOND


def cheapest_upload(
    cells: int, points: int, clients: int, servers: int, verified: bool, *, verifications: int = VERIFICATIONS
) -> UploadCost:
    """What takes the least time to receive and compute; arguments and errors as `upload_costs`."""
    return min(
        upload_costs(cells, points, clients, servers, verified, verifications=verifications),
        key=lambda cost: cost.elapsed,
    )


def upload_costs(
    cells: int, points: int, clients: int, servers: int, verified: bool, *, verifications: int = VERIFICATIONS
) -> tuple[UploadCost, ...]:
    """Every way of uploading that so many servers can serve.

    Args:
        cells: In how many cells a client's record may lie.
        points: At how many thresholds the servers count clients, evenly spread; 1 to cells - 1 are of use.
        clients: How many clients upload.
        servers: How many servers; keys need exactly two.
        verified: Whether the servers check that each client counts once.
        verifications: How often they can, where verified.

    Raises:
        ParameterError: a number is not positive, or there are fewer than two cells or servers.
    """
    for name, value, least in (
        ("cells", cells, 2), ("points", points, 1), ("clients", clients, 1), ("servers", servers, 2),
        ("verifications", verifications, 1),
    ):  # fmt: skip
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ParameterError(f"{name} must be a whole number of at least {least}, got {value!r}")
    proofs = _Proofs(servers, verifications) if verified else None
    tables = _cost(
        TABLES,
        clients,
        uploaded=SEED_BYTES * (servers - 1) + ELEMENT_BYTES * cells,
        received=ELEMENT_BYTES * cells,
        seconds=cells / CELLS_PER_SECOND,
        checked=cells,
        proofs=proofs,
    )
    if servers != 2:
        return (tables,)
    bits = max(1, (cells - 1).bit_length())
    keys = _cost(
        KEYS,
        clients,
        uploaded=2 * key_bytes(bits),
        received=key_bytes(bits),
        seconds=blocks_of_key(bits, min(points, cells - 1)) / BLOCKS_PER_SECOND,
        checked=min(points, cells - 1) + 1,
        proofs=proofs,
    )
    return keys, tables


@dataclass(frozen=True)
class _Proofs:
    """What a check adds for each client: a seed for every server but the last, which gets the elements themselves."""

    servers: int
    verifications: int

    @property
    def received(self) -> int:
        return 2 * ELEMENT_BYTES * self.verifications

    @property
    def uploaded(self) -> int:
        return SEED_BYTES * (self.servers - 1) + self.received

    @property
    def exchanged(self) -> int:
        """Bytes that a server gets from the others, two elements from each."""
        return 2 * ELEMENT_BYTES * (self.servers - 1)


def _cost(
    kind: str, clients: int, *, uploaded: int, received: int, seconds: float, checked: int, proofs: _Proofs | None
) -> UploadCost:
    if proofs is not None:
        uploaded += proofs.uploaded
        received += proofs.received + proofs.exchanged
        seconds += 2 * checked / PRODUCTS_PER_SECOND
    return UploadCost(kind, uploaded, clients * received, clients * seconds)


def key_bytes(bits: int) -> int:
    """Bytes of one server's key over 2^bits values, in a group of 64 bits."""
    early = min(_EARLY, bits - 1)
    return SEED_BYTES + (bits - early) * (SEED_BYTES + ELEMENT_BYTES + 1) + (ELEMENT_BYTES << early)


def blocks_of_key(bits: int, points: int) -> int:
    """AES blocks that evaluate one key at so many evenly spread points, each distinct prefix once."""
    early = min(_EARLY, bits - 1)
    prefixes = [min(1 << level, points) for level in range(bits - early + 1)]
    leaves = min(points, 1 << (bits - min(1, early)))  # a block holds two values
    return sum(prefixes[1:]) + sum(prefixes[:-1]) + leaves
