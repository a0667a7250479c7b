"""Which elements a client shares: the columns of its vector, and the material of so many verifications.

A seed of 16 bytes expands to one block of two elements after another. The columns come first, two a block; then for
each verification a block (a, c) for every square and two blocks (x, y), (z, unused) for every product, where
c = a^2 and z = x y once the shares of all servers are added up. What may be anything (a, x, y) follows from the seeds
of all servers. What is determined (columns, c, z) follows from the seeds of all servers but the last, which is sent the
difference: 8 bytes an element.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ogive.checks import whole

MOST_COLUMNS = 1 << 21
"""Columns of one client: each is within 2^-61 of uniform, so all together are within 2^-40."""

MOST_VERIFICATIONS = 1 << 10


@dataclass(frozen=True)
class ShareShape:
    """How many elements every client of a study shares; public.

    Fields:
        columns: Numbers of a client's own vector; 0 where it uploads comparison keys.
        squares: Pairs (a, a^2) that one verification uses.
        products: Triples (x, y, x y) that one verification uses.
        verifications: How often the servers can check the upload.

    Raises:
        ParameterError: a number is negative or too large.
    """

    columns: int
    squares: int = 0
    products: int = 0
    verifications: int = 0

    def __post_init__(self) -> None:
        for name, most in (
            ("columns", MOST_COLUMNS), ("squares", 256), ("products", 256), ("verifications", MOST_VERIFICATIONS),
        ):  # fmt: skip
            whole(getattr(self, name), name, 0, most)

    @cached_property
    def column_blocks(self) -> int:
        """Blocks of a seed that the columns take."""
        return -(-self.columns // 2)

    def material_block(self, verification: int) -> int:
        """The first block of a verification's material."""
        return self.column_blocks + verification * (self.squares + 2 * self.products)

    def material_row(self, verification: int) -> int:
        """The row of a verification's first c among the explicit elements; those of z follow the squares."""
        return self.columns + verification * (self.squares + self.products)

    @property
    def explicit(self) -> int:
        """Elements that are sent to the last server as they are."""
        return self.material_row(self.verifications)
