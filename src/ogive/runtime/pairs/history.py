"""What became of pairs so far, in a form that an aggregator goes on from when it is started again.

A pair that was at hand when the aggregator ended is over: either half may have left its owner, so it counts as begun.

    pair = begun u8 | 0 where it was at hand; 1, output bits; or 2, why it was lost as ASCII
    pass = seed 32 | who is gone, and which pairs had begun, as bits
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ogive.arrays import Bool
from ogive.crypto.twoparty.messages import read_bits, write_bits
from ogive.crypto.wire import Reader
from ogive.errors import PeerError
from ogive.runtime.pairs.departures import SEED_BYTES, Departures
from ogive.runtime.pairs.study import PairsStudy

_AT_HAND, _OPENED, _LOST = range(3)


@dataclass(frozen=True, eq=False)
class Met:
    """What became of a pair; without outputs and a reason it is at hand.

    Fields:
        begun: Whether it counts as taken part in.
        outputs: Output bits.
        lost: Why there are none.
    """

    begun: bool = True
    outputs: Bool | None = None
    lost: str | None = None

    def to_bytes(self) -> bytes:
        """The bytes of it."""
        if self.outputs is not None:
            rest = bytes([_OPENED]) + write_bits(self.outputs)
        elif self.lost is not None:
            rest = bytes([_LOST]) + self.lost.encode()
        else:
            rest = bytes([_AT_HAND])
        return bytes([self.begun]) + rest

    @staticmethod
    def from_bytes(data: bytes, *, outputs: int) -> Met:
        """The inverse of `to_bytes`, for a pair of so many output bits.

        Raises:
            PeerError: these are none of them.
        """
        reader = Reader(data, "kept pair")
        begun, kind = bool(reader.number(1)), reader.number(1)
        rest = reader.take(reader.left)
        if kind == _OPENED:
            return Met(begun, outputs=read_bits(rest, outputs))
        if kind == _LOST and rest.isascii():
            return Met(begun, lost=rest.decode())
        if kind == _AT_HAND and not rest:
            return Met(begun)
        raise PeerError("what is kept of a pair is damaged")


@dataclass(eq=False)
class History:
    """What became of pairs, or what has changed since it was last asked for.

    Fields:
        passes: What everybody was told before each further pass, in order.
        pairs: By number of the pair.
    """

    passes: list[Departures] = field(default_factory=list)
    pairs: dict[int, Met] = field(default_factory=dict)


def write_pass(told: Departures) -> bytes:
    """The bytes of what was told before a pass."""
    return told.seed + write_bits(np.concatenate([told.gone, told.begun]))


def read_passes(study: PairsStudy, written: list[bytes]) -> list[Departures]:
    """The inverse of `write_pass`, for all passes of a study in order.

    Raises:
        PeerError: these are none of them.
    """
    users, pairs = study.design.users, study.design.pairs
    found = []
    for number, data in enumerate(written):
        reader = Reader(data, "kept pass")
        seed = reader.take(SEED_BYTES)
        bits = read_bits(reader.take(reader.left), users + len(pairs))
        told = Departures(number, seed, bits[:users], bits[users:])
        pairs = np.concatenate([pairs, told.pairs(study, pairs)])
        found.append(told)
    return found
