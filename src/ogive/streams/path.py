"""Running totals under path noise: every total gets the noise of the blocks above its step.

At 0-based step t the noise of a block of size B is renewed when t is a multiple of B. The
noise never depends on the stream, so under Laplace noise the bound on output probabilities
holds pointwise and covers streams that react to what was published. For discrete Gaussian
noise it is proved only for streams that do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.errors import ParameterError
from ogive.noise import DerivedNodes, DiscreteGaussian, DiscreteLaplace
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.path.constants import shift_cost
from ogive.strategies.path.design import best_tree, path_noise_law
from ogive.strategies.path.l2 import grid_squared_shift
from ogive.strategies.path.tree import candidate_trees
from ogive.streams.stored import Elements, fields
from ogive.streams.windows import NoiseWindow


class PathTotals:
    """Path noise on the running totals of a stream.

    Args:
        steps: Largest number of elements.
        privacy: What the whole stream may cost.
        change: Largest change of one element, in whole units.
        largest: Largest absolute value of one element, in whole units.

    Raises:
        ParameterError: totals could overflow.
    """

    name = "path"
    law: DiscreteLaplace | DiscreteGaussian

    def __init__(self, steps: int, privacy: PureDP | ZeroConcentratedDP, change: int, largest: int) -> None:
        self.change = change
        # a changed element changes all later totals: suffixes, as when a record is added
        self.tree = best_tree(candidate_trees(steps), privacy, Adjacency.ADD_OR_REMOVE, gaussian="fine")
        self.law, self.bits = path_noise_law(self.tree, privacy, Adjacency.ADD_OR_REMOVE, change=change)
        if steps * largest >> (61 - self.bits):
            raise ParameterError("totals could overflow 64 bits; use fewer steps or a coarser resolution")

    @property
    def loss(self) -> PureDP | ZeroConcentratedDP:
        """What the whole stream costs."""
        if isinstance(self.law, DiscreteLaplace):
            return PureDP(shift_cost(self.tree, Adjacency.ADD_OR_REMOVE) * self.change / self.law.scale)
        squared = grid_squared_shift(self.tree, Adjacency.ADD_OR_REMOVE, self.change << self.bits)
        return ZeroConcentratedDP(squared / (2 * self.law.sigma**2))

    def variance(self, taken: Int64) -> Float64:
        """Variance of the total after each number of elements, in squared units."""
        return np.full(np.shape(taken), self.tree.terms * self.law.variance / 4.0**self.bits)

    @property
    def mean_variance(self) -> float:
        """The variance, which is the same after every element."""
        return float(self.variance(np.array(1)))

    def start(self, nodes: DerivedNodes) -> None:
        """Begin a stream whose noise comes from `nodes`."""
        self.windows = [NoiseWindow(nodes, self.law, level, count) for level, count in enumerate(self.tree.nodes)]

    def advance(self, first: int, total: int, values: Int64) -> Float64:
        """Noisy totals after each of the values, which are elements `first`, `first` + 1, ... (0-based).

        Args:
            first: Number of elements before.
            total: Their sum.
            values: Whole units, shape (m,), m from 1 up.
        """
        steps = first + np.arange(len(values))
        noise = np.zeros(len(values), np.int64)
        for window, block in zip(self.windows, self.tree.sizes, strict=False):
            low = first // block
            noise += window.values(low, int(steps[-1]) // block + 1)[steps // block - low]
        # the sum of integers is rounded once, so what is published depends on it alone
        answer = ((total + np.cumsum(values)) << self.bits) + noise
        return np.ldexp(answer.astype(np.float64), -self.bits)

    def state(self) -> dict[str, Any]:
        """Nothing beyond the noise key is needed to go on."""
        return {}

    def restore(self, state: Any, elements: Elements) -> None:
        """Go on from a `state`, after these elements.

        Raises:
            ParameterError: it is no state of path noise.
        """
        fields(state, frozenset(), "the state of path noise")
