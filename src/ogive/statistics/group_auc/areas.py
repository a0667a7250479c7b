"""The area between the positives of some groups and the negatives of some groups, with its interval.

Noisy counts of every bin are unbiased, and those of different cells are independent. A class of some groups is a sum of
cells, and the number of pairs that the score ranks rightly is bilinear in the cumulative counts of the two classes. So
the interval is that of `roc.interval`: the noise of both classes is simulated, scores in one bin may be ranked in any
way, and sampling is counted for the population.

Source: docs/proofs/central_pairs.md, "Areas between groups".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ogive.core.arrays import Float64
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.laws import draw_public
from ogive.statistics.confidence import simulations_needed
from ogive.statistics.roc.area import (
    FEWEST_SIMULATIONS,
    MOST_SIMULATIONS,
    SIMULATED_VALUES,
    auc_interval,
    pairs_at_ends,
)
from ogive.statistics.ustatistic.means import on_simplex

_SEED = 0x67726F7570  # public and fixed


@dataclass(frozen=True, eq=False)
class SimulatedPairs:
    """Errors of simulated releases, shape (simulations,) each where nothing else is said.

    Fields:
        last: The larger error of the two class sizes, without sign.
        pairs: Errors of the numbers of pairs in order with ties ranked wrongly and rightly, shape (2, simulations).
        products: Error of the product of the class sizes.
    """

    last: Float64
    pairs: Float64
    products: Float64


@dataclass(frozen=True, eq=False)
class Classes:
    """The counts of two classes with their noise.

    Fields:
        counts: Noisy counts of negatives and positives in every bin, shape (2, N).
        draws: How many draws of the law are in each count, of negatives and of positives.
        law: Of the noise; None where there is none.
        unit: What one of the law's integers stands for, in records.
        positive_when: "high" or "low".
        rows_of_one: Most records of one person, which may all be alike.
    """

    counts: Float64
    draws: tuple[int, int]
    law: DiscreteLaplace | DiscreteGaussian | None
    unit: float
    positive_when: str
    rows_of_one: int = 1

    @property
    def raw(self) -> Float64:
        """Cumulative counts, shape (2, N)."""
        curves: Float64 = np.cumsum(self.counts, axis=1)
        return curves

    @property
    def sizes(self) -> Float64:
        """Noisy numbers of negatives and positives."""
        sizes: Float64 = self.counts.sum(axis=1)
        return sizes

    @property
    def size_errors(self) -> Float64:
        """Standard deviation of the noise in both sizes."""
        if self.law is None:
            return np.zeros(2)
        one = self.unit * np.sqrt(float(self.law.variance) * self.counts.shape[1])
        errors: Float64 = one * np.sqrt(np.array(self.draws, dtype=np.float64))
        return errors

    @property
    def area(self) -> float:
        """Share of the pairs that the score ranks rightly, ties one half, moved into [0, 1]."""
        ranked = self._pairs_of(self.raw).mean()
        return float(np.clip(ranked / np.prod(self.sizes), 0.0, 1.0))

    @property
    def plausible(self) -> Float64:
        """Cumulative counts that stand in for the true ones, shape (2, N): none falls."""
        sizes = np.maximum(self.sizes, 1.0)
        shares = [on_simplex(counts / size, len(counts)) for counts, size in zip(self.counts, sizes, strict=True)]
        curves: Float64 = np.cumsum(shares, axis=1) * sizes[:, None]
        return curves

    def noise_error(self) -> float:
        """Standard deviation of the area by noise."""
        result = self._simulated(FEWEST_SIMULATIONS)
        if result is None:
            return 0.0
        errors = result.pairs.mean(axis=0) - self.area * result.products
        return float(np.sqrt(np.mean(errors**2)) / np.prod(self.sizes))

    def interval(self, tail: Fraction, target: str) -> tuple[float, float]:
        """Ends for the area of the exact scores."""
        nodes = self.counts.shape[1] * sum(self.draws)
        usual = min(MOST_SIMULATIONS, max(FEWEST_SIMULATIONS, SIMULATED_VALUES // nodes))
        simulations = simulations_needed(1 - tail, share=Fraction(1, 2), nodes=nodes, usual=usual)
        return auc_interval(
            self.area,
            self.raw,
            self.plausible,
            self._simulated(simulations),
            positive_when=self.positive_when,
            tail=tail,
            target=target,
            simulations=simulations,
            rows_of_one=self.rows_of_one,
        )

    def _pairs_of(self, curves: Float64) -> Float64:
        """Pairs ranked rightly with ties ranked wrongly and rightly, of cumulative counts of shape (2, ..., N)."""
        return pairs_at_ends(curves[0], curves[1], self.positive_when)

    def _simulated(self, simulations: int) -> SimulatedPairs | None:
        if self.law is None:
            return None
        random = np.random.Generator(np.random.PCG64(_SEED))
        curves, bins = self.plausible, self.counts.shape[1]
        errors = np.zeros((2, simulations, bins))
        for side, draws in enumerate(self.draws):
            for _ in range(draws):
                errors[side] += self.unit * draw_public(self.law, (simulations, bins), random)
        errors = np.cumsum(errors, axis=-1)
        last = np.abs(errors[:, :, -1]).max(axis=0)
        errors += curves[:, None, :]
        return SimulatedPairs(
            last,
            self._pairs_of(errors) - self._pairs_of(curves)[:, None],
            errors[0, :, -1] * errors[1, :, -1] - curves[0, -1] * curves[1, -1],
        )
