"""Running totals with the noise of overlapping hats: the accuracy of one release after the last element, at every step.

The offline strategy measures noisy elements y0 = x + z0 and noisy hat sums y1 = H x + z1, and adds to the elements a
correction c(y1 - H y0) by least squares, which depends on integers that contain no element: y1 - H y0 = z1 - H z0.
So the correction is known before the stream begins, and the total after step t,

    D (x_1 + ... + x_t) + D (z0_1 + ... + z0_t) + round(D c_1) + ... + round(D c_t),

is at once computable at step t and a function of y0 and y1. Probabilities of Laplace noise are bounded for each
transcript, so the price of the offline release holds for streams that react to what was published, too
(`docs/proofs/streams.md`).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.errors import ParameterError
from ogive.noise import DerivedNodes
from ogive.privacy import Adjacency, PureDP, ZeroConcentratedDP
from ogive.strategies.hats.strategy import LeastSquaresHats, design_hats
from ogive.streams.ahead import published, split
from ogive.streams.stored import Elements, fields

MAX_STEPS = 1 << 22
SAMPLES = 1024
_FINE, _MOST_BITS = 30, 40


class HatTotals:
    """Hats on the running totals of a stream whose number of elements is known.

    Everything that is random is drawn at the first element: time O(steps) there, then O(1) per step; 8 bytes per step.

    Args:
        steps: Largest number of elements, at most 2^22.
        privacy: What the whole stream may cost; pure.
        change: Largest change of one element, in whole units.
        strategy: Spacings and laws; None takes those of an offline release at this price.

    Raises:
        ParameterError: there are too many steps, or the privacy is not pure.
    """

    name = "hats"

    def __init__(
        self,
        steps: int,
        privacy: PureDP | ZeroConcentratedDP,
        change: int,
        *,
        strategy: LeastSquaresHats | None = None,
    ) -> None:
        epsilon = self.pure(privacy).epsilon
        if steps > MAX_STEPS:
            raise ParameterError(f"hats of a stream take at most {MAX_STEPS} steps, got {steps}")
        self.steps, self.change = steps, change
        # an element that changes by d moves every sum by d times what one record more moves it by
        price = PureDP(epsilon / change)
        self.strategy = strategy or design_hats(steps, privacy=price, adjacency=Adjacency.ADD_OR_REMOVE)
        # corrections are rounded to about a billionth of the noise of an element
        coarse = math.frexp(math.sqrt(self.strategy.laws[0].variance))[1]
        self.bits = min(max(_FINE - coarse, 0), _MOST_BITS)

    @staticmethod
    def pure(privacy: PureDP | ZeroConcentratedDP) -> PureDP:
        """The guarantee, which must be pure.

        Raises:
            ParameterError: it is not.
        """
        if not isinstance(privacy, PureDP):
            raise ParameterError("hats of a stream need `PureDP`; under zCDP use method 'sqrt' or 'sqrt_ahead'")
        return privacy

    @property
    def loss(self) -> PureDP | ZeroConcentratedDP:
        """What the whole stream costs: `change` times the price of one record in an offline release."""
        one = self.strategy.loss(Adjacency.ADD_OR_REMOVE)
        assert isinstance(one, PureDP)
        return PureDP(one.epsilon * self.change)

    def variance(self, taken: Int64) -> Float64:
        """Variance of the total after each number of elements, in squared units."""
        points, where = np.unique(np.asarray(taken), return_inverse=True)
        variance: Float64 = self.strategy.solver.variance_at(points - 1, total_known=False)[where]
        return variance.reshape(np.shape(taken))

    @cached_property
    def mean_variance(self) -> float:
        """Mean of `variance` over all steps, or over 1,024 evenly spaced ones of more."""
        return float(self.variance(np.unique(np.linspace(1, self.steps, SAMPLES).astype(np.int64))).mean())

    def start(self, nodes: DerivedNodes) -> None:
        """Begin a stream whose noise comes from `nodes`."""
        self._nodes = nodes
        self.__dict__.pop("noise", None)

    @cached_property
    def noise(self) -> Int64:
        """What is added to the total at every step, in units of 2^-bits, shape (steps,)."""
        levels = self.strategy.levels
        drawn = [self._nodes.values(law.law, level, np.arange(law.nodes)) for level, law in enumerate(levels)]
        correction = self.strategy.solver.correction(drawn[0], np.concatenate([np.empty(0, np.int64), *drawn[1:]]))
        each = np.rint(np.ldexp(correction, self.bits)).astype(np.int64)
        each += drawn[0] << self.bits
        noise: Int64 = np.cumsum(each, out=each)
        return noise

    def advance(self, first: int, total: int, values: Int64) -> Float64:
        """Noisy totals after each of the values, which are elements `first`, `first` + 1, ... (0-based).

        Args:
            first: Number of elements before.
            total: Their sum.
            values: Whole units, shape (m,), m from 1 up.
        """
        noise = self.noise[first : first + len(values)]
        return published(total, values, *split(noise, self.bits), self.bits)

    def state(self) -> dict[str, Any]:
        """Nothing beyond the noise key is needed to go on."""
        return {}

    def restore(self, state: Any, elements: Elements) -> None:
        """Go on from a `state`, after these elements.

        Raises:
            ParameterError: it is no state of hats.
        """
        fields(state, frozenset(), "the state of hats")
