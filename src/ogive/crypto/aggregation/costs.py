"""What secure aggregation takes of a party and of the server: bytes exactly, and seconds as predicted.

Seconds are those of one core at the rates below, which are fitted to what `benchmarks/secagg.py` measures. Where nobody
leaves, each party makes one mask for every neighbour and one of its own, and the server takes away what did not cancel.
"""

from __future__ import annotations

from dataclasses import dataclass

from ogive.crypto.aggregation.messages import (
    ADVERTISED_BYTES,
    CONFIRMED_BYTES,
    SALT_BYTES,
    SEALED_BYTES,
    confirmations_bytes,
    list_bytes,
    roster_bytes,
)
from ogive.crypto.aggregation.sharing import SHARE_BYTES
from ogive.crypto.channels import SIGNED_BYTES

NUMBERS_PER_SECOND = 3e8
"""Of a mask's stream, made and added to a vector."""

RECEIVED_PER_SECOND = 4e7
"""Numbers of a vector that the server receives: checked, added up, and the sender's own mask taken away."""

PAIR_SECONDS = 4.5e-4
"""For agreeing on secrets with one neighbour, sharing them, and checking what it signed."""

PARTY_SECONDS = 1.3e-3
"""For all that the server does for one party but its vector."""


@dataclass(frozen=True)
class AggregationCost:
    """What one sum takes.

    Fields:
        bytes_per_party: What a party sends that stays to the end.
        bytes_to_party: What the server sends to it: lists of all parties among it, so that the server sends as much as
            the square of their number.
        bytes_per_server: What the server receives of all.
        seconds: That one core of whoever has most to do computes.
    """

    bytes_per_party: int
    bytes_to_party: int
    bytes_per_server: int
    seconds: float


def aggregation_cost(
    parties: int,
    length: int,
    *,
    totals: int = 0,
    dropouts: int = 0,
    neighbours: int | None = None,
    confirmed: bool = True,
) -> AggregationCost:
    """Predict one sum from public numbers.

    Args:
        parties: How many there are.
        length: Numbers in a vector.
        totals: How many totals each party opens.
        dropouts: How many may leave; the more, the more masks the server has to make itself.
        neighbours: With how many others each party shares masks; None for all.
        confirmed: Whether parties confirm who is in the sum.
    """
    others = parties - 1 if neighbours is None else neighbours
    sent = (
        (SIGNED_BYTES + ADVERTISED_BYTES)
        + (SIGNED_BYTES + others * SEALED_BYTES)
        + (SIGNED_BYTES + 8 * length + (SALT_BYTES + 8 * totals if totals else 0))
        + (CONFIRMED_BYTES if confirmed else 0)
        + (SIGNED_BYTES + (others + 1) * SHARE_BYTES)
    )
    received = (
        (SIGNED_BYTES + roster_bytes(parties, others + 1))
        + (SIGNED_BYTES + list_bytes(parties) + others * SEALED_BYTES)
        + (SIGNED_BYTES + list_bytes(parties) if confirmed else 0)
        + (SIGNED_BYTES + list_bytes(parties) + confirmations_bytes(parties if confirmed else 0))
    )
    party = others * PAIR_SECONDS + (others + 1) * length / NUMBERS_PER_SECOND
    server = parties * (PARTY_SECONDS + length / RECEIVED_PER_SECOND) + dropouts * others * length / NUMBERS_PER_SECOND
    return AggregationCost(sent, received, parties * sent, max(party, server))
