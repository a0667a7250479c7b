"""The bound beyond which hardly any record seems to lie, found without counting: a sparse vector with one answer.

Going through the thresholds from the other end, the number of records beyond each is compared, with fresh noise
for each, with a limit that got noise of its own once; the first that seems to be at most the limit is told. One
record moves all those numbers in the same direction by at most 1, so with discrete Laplace noise of scale a on
the limit and b on each number this costs, however many thresholds are passed,

    epsilon = 1 / a + 1 / b.

Source: Dwork and Roth 2014, section 3.6; Lyu, Su and Li 2017, Theorem 5 for numbers that move together. The proof for
integers is in the manual, under selection.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ogive.arrays import Int64
from ogive.checks import among, whole
from ogive.columns import Binning
from ogive.errors import DataError
from ogive.noise import DiscreteLaplace, round_up_scale
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, Loss, PrivacyUnit, PureDP
from ogive.queries import base
from ogive.queries.selection import stated
from ogive.strategies.base import Level

SIDES = ("low", "high")
MAX_BEYOND = 1 << 47
_ROOM_BITS = 62


@dataclass(frozen=True)
class SparseVectorQuery(base.CuratorQuery):
    """A bin at one end of the records; the answer has shape (1,) and holds its number.

    Side "high" tells a bin above which hardly any record seems to lie, searched from the lowest bin up, and the highest
    bin where none seems so; side "low" the mirror image. It is not linear: only who sees all records can answer it.

    Fields:
        binning: How a record is mapped to a bin.
        side: "low" or "high".
        limit_law: Noise of the limit, drawn once.
        count_law: Noise of each number of records.
        beyond: The limit: how many records may lie beyond the bound, public.
        concentrated: Whether the price is stated in zCDP, and not as a pure epsilon.
    """

    binning: Binning
    side: str
    limit_law: DiscreteLaplace
    count_law: DiscreteLaplace
    beyond: int = 0
    concentrated: bool = False

    def __post_init__(self) -> None:
        among(self.side, "side", SIDES)
        whole(self.beyond, "beyond", 0, MAX_BEYOND)

    @property
    def method(self) -> str:
        """Name of the mechanism."""
        return "sparse_vector"

    @property
    def aggregate(self) -> Binning:
        """Records per bin."""
        return self.binning

    @property
    def levels(self) -> tuple[Level, ...]:
        """One noise variable for the limit, and one for each bin but the last."""
        return Level(1, self.limit_law), Level(self.binning.grid.bins - 1, self.count_law)

    def price(self, unit: PrivacyUnit) -> Loss:
        """Exact privacy loss of telling the bin.

        Raises:
            ParameterError: missing values are dropped although the adjacency makes the number of records public.
        """
        base.check_missing(self.binning, unit.adjacency)
        loss = PureDP(1 / self.limit_law.scale + 1 / self.count_law.scale)
        return stated(loss, unit, concentrated=self.concentrated)

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of binned data, binning, side, noise and adjacency; as secret as the data."""
        public = {
            "binning": self.binning.to_dict(),
            "side": self.side,
            "laws": [self.limit_law.to_dict(), self.count_law.to_dict()],
            "beyond": self.beyond,
            "adjacency": adjacency.value,
        }
        return base.digest("sparse vector", public, sums)

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """Number of the first bin beyond which hardly any record seems to lie; shape (1,).

        Raises:
            DataError: there are too many records.
        """
        if int(sums.sum()) >> _ROOM_BITS:
            raise DataError("there are too many records to be counted with noise")
        counts = sums if self.side == "high" else sums[::-1]
        beyond = (counts.sum() - np.cumsum(counts))[:-1]
        limit = self.beyond
        if nodes is not None:
            raised, noise = base.draw(nodes, self.levels)
            beyond, limit = beyond + noise, limit - int(raised[0])
        found = np.flatnonzero(beyond <= limit)
        steps = int(found[0]) if found.size else counts.size - 1
        return np.array([steps if self.side == "high" else counts.size - 1 - steps], dtype=np.int64)


def design_sparse_vector(
    binning: Binning,
    side: str,
    *,
    privacy: PureDP,
    unit: PrivacyUnit,
    beyond: int = 0,
    concentrated: bool = False,
) -> SparseVectorQuery:
    """The query that costs at most a pure epsilon, half of it for the limit and half for the numbers.

    Args:
        binning: How a record is mapped to a bin.
        side: "low" or "high".
        privacy: What the answer may cost.
        unit: Privacy unit of the guarantee.
        beyond: How many records may lie beyond the bound.
        concentrated: Whether the price is stated in zCDP.

    Raises:
        ScaleError: more noise would be needed than can be drawn.
        ParameterError: a field is out of range.
    """
    law = DiscreteLaplace(round_up_scale(2 * unit.max_rows_per_person / privacy.epsilon))
    return SparseVectorQuery(binning, side, law, law, beyond, concentrated)
