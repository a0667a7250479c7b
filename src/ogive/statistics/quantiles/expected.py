"""By how many records selected quantiles are off, from public quantities, if values lie evenly on a fine grid.

The distances of a joint selection from the wanted ranks are then those of a continuous law that shrinks as 1 / epsilon,
the same for all numbers of records. Its means were simulated, for evenly spaced quantiles; a test does so again.
"""

from __future__ import annotations

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


def joint_ranks_off(query: JointQuantilesQuery) -> RanksOff:
    """What a joint selection is off by on average."""
    adjacency = Adjacency.ADD_OR_REMOVE if query.free_total else Adjacency.REPLACE
    mean, largest = (_FREE if query.free_total else _FIXED)[len(query.probabilities) - 1]
    epsilon = float(query.epsilon(adjacency))
    return RanksOff(mean / epsilon, largest / epsilon)
