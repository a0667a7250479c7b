"""What all keys of a study have in common: the group, the domain and how early the tree ends.

A key is for a comparison x < alpha of numbers of L bits. Its tree has L - early levels, and then a leaf of 2^early
values, which costs less than as many levels more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.checks import among, whole
from ogive.crypto.field import P

MAX_BITS = 40
MAX_EARLY = 12
SEED_BYTES = 16


@dataclass(frozen=True)
class Group:
    """Where shares of values live: whole numbers modulo a public one.

    Fields:
        name: "ring32", "ring64" or "field".
        number: In the header of a batch.
        modulus: 2^32, 2^64 or the prime 2^61 - 1.
        bits: That a value takes, in memory and in bytes.
        early: Levels that a leaf replaces, where nothing else is said.
    """

    name: str
    number: int
    modulus: int
    bits: int
    early: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of a value, little-endian."""
        return np.dtype("<u4" if self.bits == 32 else "<u8")

    @property
    def prime(self) -> np.uint64 | None:
        """The modulus of the field; None for a ring, whose numbers wrap by themselves."""
        return np.uint64(self.modulus) if self.name == "field" else None


GROUPS = {
    group.name: group
    for group in (
        Group("ring32", 1, 1 << 32, 32, 3),
        Group("ring64", 2, 1 << 64, 64, 2),
        Group("field", 3, P, 64, 2),
    )
}


@dataclass(frozen=True, kw_only=True)
class KeyShape:
    """Public shape of comparison keys.

    Args:
        group: "ring32" for counts of fewer than 2^31 records with their noise, "ring64", or "field" (modulo 2^61 - 1),
            the only one whose keys can be verified.
        bits: Numbers compared are in [0, 2^bits); from 1 to 40.
        early: Levels that the leaf replaces, from 0 to the smaller of bits and 12; None for the shortest
            keys (3 for ring32 and 2 otherwise, fewer for small domains).

    Raises:
        ParameterError: an argument is out of its range.
    """

    group: str
    bits: int
    early: int | None = None

    def __post_init__(self) -> None:
        among(self.group, "group", GROUPS)
        whole(self.bits, "bits", 1, MAX_BITS)
        if self.early is None:
            object.__setattr__(self, "early", min(self.arithmetic.early, self.bits - 1))
        most = min(self.bits, MAX_EARLY)
        whole(self.early, "early", 0, most)

    @property
    def arithmetic(self) -> Group:
        return GROUPS[self.group]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of values and of their shares."""
        return self.arithmetic.dtype

    @property
    def modulus(self) -> int:
        """Shares add up modulo this."""
        return self.arithmetic.modulus

    @property
    def domain(self) -> int:
        """Numbers that can be compared: 2^bits."""
        return 1 << self.bits

    @property
    def levels(self) -> int:
        """Levels of the tree above the leaf."""
        return self.bits - self.leaf_bits

    @property
    def leaf_bits(self) -> int:
        """Low bits of a point that choose a value of the leaf: `early`, once it is known."""
        assert self.early is not None
        return self.early

    @property
    def leaf_values(self) -> int:
        """Values of a leaf."""
        return 1 << self.leaf_bits

    @property
    def per_block(self) -> int:
        """Values that one block of a leaf holds."""
        return 128 // self.arithmetic.bits

    @property
    def places(self) -> list[tuple[int, np.uint64]]:
        """Where each value of a block is: in which of its two words, and how far that is to be shifted right."""
        within = 64 // self.arithmetic.bits
        return [(value // within, np.uint64(value % within * 32)) for value in range(self.per_block)]

    @property
    def leaf_blocks(self) -> int:
        """Blocks that a whole leaf takes."""
        return -(-self.leaf_values // self.per_block)

    @property
    def level_bytes(self) -> int:
        """What one level of a key takes: seed correction, value correction, control bits."""
        return SEED_BYTES + self.dtype.itemsize + 1

    @property
    def key_bytes(self) -> int:
        """What one key takes: the seed of the root, the levels and the leaf."""
        return SEED_BYTES + self.levels * self.level_bytes + self.leaf_values * self.dtype.itemsize
