"""By how many records selected quantiles are off, from public quantities, if values lie evenly on a fine grid.

The distances of a joint selection from the wanted ranks are then those of a continuous law that shrinks as 1 / epsilon,
the same for all numbers of records. Its means were simulated, for evenly spaced quantiles; a test does so again.

Of few records that is too little: where the parts between quantiles are no longer large beside these distances, a
quantile may also be lost among the many bins beyond them. By how much was simulated, too, on average over smooth and
lumpy records.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

from ogive.privacy import Adjacency
from ogive.queries import JointQuantilesQuery


class RanksOff(NamedTuple):
    """Expected distances of quantiles from their ranks, in records: of one of them on average, and of the farthest."""

    mean: float
    largest: float


# times epsilon, for 1 to 9 quantiles
_FIXED = ((2.0, 2.0), (2.6, 3.6), (3.1, 4.9), (3.5, 6.1), (3.9, 7.2), (4.3, 8.2), (4.6, 9.1), (4.8, 9.9), (5.1, 10.7))
_FREE = ((1.0, 1.0), (1.4, 1.9), (1.5, 2.5), (1.8, 3.3), (2.0, 3.9), (2.1, 4.4), (2.2, 4.9), (2.3, 5.3), (2.4, 5.7))


_LOST, _MOST_LOST = 0.25, 3.0


def joint_ranks_off(query: JointQuantilesQuery, records: int | None = None) -> RanksOff:
    """What a joint selection is off by on average.

    Args:
        query: The selection.
        records: How many records there are, by a public guess; many where it is None.
    """
    adjacency = Adjacency.ADD_OR_REMOVE if query.free_total else Adjacency.REPLACE
    quantiles = len(query.probabilities)
    mean, largest = (_FREE if query.free_total else _FIXED)[quantiles - 1]
    scale = 1.0 if records is None else _lost(query, records)
    if query.free_total:  # a smaller part than those of evenly spaced quantiles needs a larger scale
        scale *= (1 - min(_parts(query))) / (1 - 1 / (quantiles + 1))
    scale /= float(query.epsilon(adjacency))
    return RanksOff(mean * scale, largest * scale)


def smallest_part(query: JointQuantilesQuery, records: int) -> float:
    """How large the smallest part between quantiles is beside the distances of a selection from its ranks."""
    adjacency = Adjacency.ADD_OR_REMOVE if query.free_total else Adjacency.REPLACE
    smallest = min(part for part in _parts(query) if part > 0)
    return float(query.epsilon(adjacency)) * records * smallest / 2


def _lost(query: JointQuantilesQuery, records: int) -> float:
    """How many times farther off the quantiles of few records are than those of many."""
    return min(_MOST_LOST, 1 + _LOST * (math.log(query.binning.grid.bins) / smallest_part(query, records)) ** 2)


def _parts(query: JointQuantilesQuery) -> list[float]:
    """Shares of the records that the quantiles divide them into."""
    cuts = [0.0, *map(float, query.probabilities), 1.0]
    return [after - before for before, after in pairwise(cuts)]
