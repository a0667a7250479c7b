"""A noisy number of equal pairs, in which a record counts at most so many others as the most frequent value has, about.

With counts c_a of the values, a record that joins value a adds c_a pairs. So what one record can change follows the
largest count m, and not the number of records n. Measured are two numbers, one after the other:

    v = 2^bits m + Z,                              which one replaced record moves by at most 2^bits,
    w = floor(2^bits S_T / T + 1/2) + Z',          S_T = sum over a of  0 + 1 + ... , each term at most T, c_a terms,

where T is v / 2^bits and a margin, rounded up, from 1 to n - 1. A replaced record moves S_T by at most T, whatever the
counts, so w by at most 2^bits. S_T is the number of equal pairs, unless T < m - 1. The margin makes that as rare as
`MISSED`; S_T is then too small. For T = n - 1 this is the noisy mean of `queries.kernels`.

Source:
    `docs/proofs/central_pairs.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ogive.accounting.gaussian import LEAST_SIGMA
from ogive.arrays import Int64
from ogive.checks import whole
from ogive.errors import DataError, ParameterError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, Loss, PrivacyUnit
from ogive.queries import base
from ogive.queries.aggregates import Cells
from ogive.queries.kernels import MOST_BITS, check_totals, numbers_loss
from ogive.strategies.base import Level

MISSED = 0.001
"""Probability that a value is more frequent than the noisy bound of its degree, at most."""

_ROOM_BITS = 61
_BOTH = ((Fraction(1), Fraction(1)),)
"""What one replaced record does to both numbers, in units of 2^bits."""


@dataclass(frozen=True)
class DegreesQuery(base.CuratorQuery):
    """The noisy largest count of a value, and the noisy number of equal pairs with degrees that it bounds.

    Fields:
        cells: The columns in which records are equal or not.
        laws: Noise of the largest count and of the pairs, both Laplace, or both Gaussian of a sigma of at least 1000.
        bits: Fractional bits of both numbers, 0 to 45.

    Raises:
        ParameterError: there are other than two laws, or they do not fit together.
    """

    cells: Cells
    laws: tuple[DiscreteLaplace | DiscreteGaussian, ...]
    bits: int

    def __post_init__(self) -> None:
        whole(self.bits, "bits", 0, MOST_BITS)
        gaussian = all(isinstance(law, DiscreteGaussian) and law.sigma >= LEAST_SIGMA for law in self.laws)
        if len(self.laws) != 2 or not (gaussian or all(isinstance(law, DiscreteLaplace) for law in self.laws)):
            raise ParameterError(
                f"`laws` must be two DiscreteLaplace, or two DiscreteGaussian of a sigma of at least {LEAST_SIGMA}"
            )

    @property
    def method(self) -> str:
        """Name of this query."""
        return "degrees"

    @property
    def aggregate(self) -> Cells:
        """Records per value, or combination of values."""
        return self.cells

    @property
    def levels(self) -> tuple[Level, ...]:
        """One noise variable for each number."""
        return tuple(Level(1, law) for law in self.laws)

    @property
    def margin(self) -> int:
        """What is added to the noisy largest count, so that it is below the exact one as rarely as `MISSED`."""
        law, unit = self.laws[0], 1 << self.bits
        if isinstance(law, DiscreteLaplace):
            # P(Z <= -j) = e^(-j / b) / (1 + e^(-1 / b)) for whole j
            scale = float(law.scale)
            reach = scale * -math.log(MISSED * (1 + math.exp(-1 / scale)))
        else:
            reach = float(law.sigma) * math.sqrt(-2 * math.log(MISSED))  # the bound of Chernoff, which both laws have
        return max(0, math.ceil(reach / unit))

    def degree(self, largest: int, records: int) -> int:
        """The bound T of degrees that a noisy largest count gives, from 1 to records - 1."""
        found = -(-largest // (1 << self.bits)) + self.margin
        return min(max(found, 1), records - 1)

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of both numbers, the second of which is measured by what the first one says.

        Raises:
            ParameterError: the number of records would be private, or missing values are dropped.
        """
        if unit.adjacency is Adjacency.ADD_OR_REMOVE:
            raise ParameterError(
                "a mean over pairs divides by the number of records, which is private here; use `method='cells'`, or "
                "`adjacency REPLACE`"
            )
        for column in self.cells.domain.columns:
            base.check_missing(column, unit.adjacency)
        return numbers_loss(self.laws, _BOTH, self.bits)  # of the records of a person one alone is kept under REPLACE

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of the counts, noise and adjacency; as secret as the data."""
        return base.fields_digest("degrees", self, sums, adjacency)

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """Both numbers with noise, shape (2,).

        Raises:
            DataError: there are fewer than two records, or too many for these bits.
        """
        counts = sums.ravel()
        (records,) = check_totals((int(counts.sum()),))
        if records >> (_ROOM_BITS - self.bits):
            raise DataError(f"there are too many records for numbers with {self.bits} fractional bits; use fewer bits")
        noise = np.zeros(2, dtype=np.int64) if nodes is None else np.concatenate(base.draw(nodes, self.levels))
        largest = (int(counts.max()) << self.bits) + int(noise[0])
        degree = self.degree(largest, records)
        pairs = Fraction(clipped_pairs(counts, degree) << self.bits, degree)
        return np.array([largest, math.floor(pairs + Fraction(1, 2)) + int(noise[1])], dtype=np.int64)


def clipped_pairs(counts: Int64, degree: int) -> int:
    """The sum over all values of min(0, T) + ... + min(c - 1, T): equal pairs where no count is above T + 1."""
    total = 0
    # of equal counts as many as there are, in whole numbers of any size
    for count, times in zip(*(each.tolist() for each in np.unique(counts, return_counts=True)), strict=True):
        full = min(count, degree + 1)
        total += times * (full * (full - 1) // 2 + (count - full) * degree)
    return total
