"""Collision probability by clipped degrees: noise that follows the most frequent value, not the number of records.

A noisy bound of the largest count comes first, for a part of the guarantee; the equal pairs then need noise for that
bound alone (`queries.degrees`). The part is chosen from public numbers: with k values and n records a count is about
n / k, and more where it deviates. The larger the counts, the less the bound costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from ogive.accounting import gaussian_grant, gaussian_mu, pure_epsilon
from ogive.accounting.gaussian import LEAST_SIGMA
from ogive.arrays import Float64
from ogive.columns import Domain
from ogive.errors import ParameterError, ScaleError
from ogive.kernels import Equal
from ogive.kernels.base import Measure
from ogive.noise import DiscreteGaussian, DiscreteLaplace, round_up_root, round_up_scale, too_much_noise
from ogive.noise.rounding import MAX_SCALE
from ogive.privacy import Adjacency, ApproxDP, Privacy, PureDP, ZeroConcentratedDP
from ogive.queries import Answer, Cells, DegreesQuery
from ogive.queries.kernels import MOST_BITS, check_totals
from ogive.statistics.ustatistic.base import KernelMeans, MeanMethod, MeanTask, check_served, check_simple
from ogive.statistics.ustatistic.curator import cells as noisy_cells
from ogive.statistics.ustatistic.curator.cells import cumulants
from ogive.statistics.ustatistic.curator.method import Counts
from ogive.statistics.ustatistic.reference_shapes import ShapeMeans, shape_means

SHARES = tuple(Fraction(part, 32) for part in (1, 2, 3, 4, 6, 8, 10, 12, 14, 16))
"""Parts of the guarantee that the largest count may have."""

_LARGEST_NUMBER = 60  # bits
_ROOM = 1 - Fraction(1, 1 << 48)
_DEVIATIONS = 3
_GROUPS = 20
_ANY_BINS = 2


@dataclass(frozen=True)
class Degrees:
    """Noise on the largest count, and on the equal pairs with degrees that it bounds.

    Fields:
        task: The statistic and the terms.
        query: What is asked, with its noise.
    """

    name: ClassVar[str] = "degrees"
    rounded: ClassVar[bool] = False

    task: MeanTask
    query: DegreesQuery

    @property
    def domain(self) -> Domain:
        """The values that records have."""
        return self.task.domain(_ANY_BINS)

    @cached_property
    def predicted(self) -> float:
        """Mean over the reference shapes of the variance."""
        return float(np.mean([self._predicted(shape) for shape in self._shapes]))

    def unless_beaten(self, other: MeanMethod) -> MeanMethod:
        """The method itself where it errs less than another one on every reference shape, else the other."""
        wins = all(self._predicted(shape) < self._of_other(other, shape) for shape in self._shapes)
        return self if wins else other

    @property
    def _shapes(self) -> tuple[ShapeMeans, ...]:
        return shape_means(self.task.measure, self.domain, 0)

    def _predicted(self, shape: ShapeMeans) -> float:
        records = self.task.records
        largest = round(_expected_largest(records * float(self._shares(shape).max()))) << self.query.bits
        error = _deviation(self.query, self.query.degree(largest, records), records)
        return float(shape.gradient[0] ** 2) * error**2

    def _of_other(self, other: MeanMethod, shape: ShapeMeans) -> float:
        """The variance of another method of a curator on a shape."""
        if not isinstance(other, Counts):
            return other.predicted
        equal, shares = np.eye(self.domain.size), self._shares(shape)
        query = self.task.terms.noise_of(other.query)
        variance = noisy_cells.variance(query, equal, shares, self.task.records, total_known=True)
        return float(shape.gradient[0] ** 2) * variance

    def _shares(self, shape: ShapeMeans) -> Float64:
        """Shares of all values, the same within a few groups: there may be more values than imagined records."""
        size = self.domain.size
        groups = np.arange(size) * min(size, _GROUPS) // size
        held = np.bincount(groups[self.domain.symbols(shape.rows)], minlength=min(size, _GROUPS))
        found: Float64 = (held / held.sum() / np.bincount(groups))[groups]
        return found

    def means(self, answer: Answer) -> KernelMeans:
        """The collision probability."""
        (records,) = check_totals(answer.totals or ())
        largest, pairs = answer.values.tolist()
        degree = self.query.degree(largest, records)
        scale = Fraction(2 * degree, records * (records - 1) << self.query.bits)
        value = float(scale * pairs)
        error = _deviation(self.query, degree, records, spread=answer.adding / answer.honest) if answer.noisy else 0.0

        def sampling(gradient: Float64) -> float | None:
            return float(gradient[0] ** 2) * sampling_bound(value, degree, records)

        return KernelMeans(np.array([value]), np.array([[error**2]]), sampling, np.zeros(1), records)


def counts_equal_pairs(measure: Measure) -> bool:
    """Whether a measure is made of the number of equal pairs alone."""
    return measure.kernels == (Equal(),)


def degrees(task: MeanTask) -> Degrees:
    """The least noise on equal pairs with a noisy bound of their degrees.

    Raises:
        ParameterError, UnsupportedError, ScaleError: they cannot be asked for.
    """
    if not counts_equal_pairs(task.measure):
        raise ParameterError(
            "method degrees is for the collision entropy and its probability, whose pairs are equal or not; "
            "use `method='kernel'`"
        )
    check_simple(task, Degrees.name)
    terms = task.terms
    if terms.adjacency is Adjacency.ADD_OR_REMOVE:
        raise ParameterError(
            "a mean over pairs divides by the number of records, which is private here; use `method='cells'`, or "
            "`adjacency REPLACE`"
        )
    query = design_degrees(Cells(task.rows(_ANY_BINS).domain), terms.privacy, records=task.records)
    check_served(terms, query)
    return Degrees(task, query)


def design_degrees(cells: Cells, privacy: Privacy, *, records: int) -> DegreesQuery:
    """The least noise on equal pairs that meets a guarantee, if all values are equally frequent.

    Args:
        cells: The columns.
        privacy: What both numbers together may cost.
        records: How many there are, or a public guess.

    Raises:
        ScaleError: the noise is larger than can be drawn.
    """
    pure = privacy if isinstance(privacy, PureDP) else pure_epsilon(privacy)
    found: list[DegreesQuery] = []
    failed: list[tuple[PureDP | ZeroConcentratedDP, ScaleError]] = []
    for grant in dict.fromkeys((privacy, pure)):
        for share in SHARES:
            try:
                found.append(_designed(cells, grant, share, records))
            except ScaleError as problem:
                if not isinstance(grant, ApproxDP):
                    failed.append((grant, problem))
    if not found:
        raise too_much_noise(privacy, "a number of pairs", failed)
    usual = round(_expected_largest(records / cells.domain.size))
    return min(found, key=lambda query: _deviation(query, query.degree(usual << query.bits, records), records))


def _designed(cells: Cells, privacy: Privacy, share: Fraction, records: int) -> DegreesQuery:
    """Noise of which the largest count has a share of epsilon, or of the squared ratio of Gaussian noise."""
    parts = (share, 1 - share)
    if isinstance(privacy, PureDP):
        bits = _bits(1 / (min(parts) * privacy.epsilon), records)
        scales = [(1 << bits) / (part * privacy.epsilon) for part in parts]
        return DegreesQuery(cells, tuple(DiscreteLaplace(round_up_scale(each)) for each in scales), bits)
    if isinstance(privacy, ZeroConcentratedDP):
        mu_squared = 2 * privacy.rho
    else:
        mu_squared = Fraction(gaussian_mu(privacy.epsilon, privacy.delta)) ** 2
    bits = _bits(Fraction(math.sqrt(1 / (min(parts) * mu_squared))), records)
    if isinstance(privacy, ApproxDP):
        try:
            mu_squared = Fraction(gaussian_grant(privacy, integers=2, per_unit=2.0**bits)) ** 2 * _ROOM
        except ParameterError as problem:
            raise ScaleError(problem.marked) from None
    variances = [(1 << 2 * bits) / (part * mu_squared) for part in parts]
    round_up_root(max(variances))
    laws = tuple(DiscreteGaussian(max(round_up_root(each), Fraction(LEAST_SIGMA))) for each in variances)
    return DegreesQuery(cells, laws, bits)


def _bits(scale: Fraction, records: int) -> int:
    """As many fractional bits as leave room for noise of this scale, and for so many records."""
    room = math.floor(math.log2(MAX_SCALE / scale)) - 1 if scale > 0 else MOST_BITS
    return max(0, min(MOST_BITS, room, _LARGEST_NUMBER - records.bit_length()))


def _expected_largest(mean: float) -> float:
    """About the largest of many counts with this mean."""
    return mean + _DEVIATIONS * math.sqrt(mean)


def _deviation(query: DegreesQuery, degree: int, records: int, *, spread: float = 1.0) -> float:
    """Standard deviation that the noise gives to the collision probability."""
    noise = cumulants(query.laws[1], query.bits, spread=spread)
    return 2 * degree * math.sqrt(noise.variance) / (records * (records - 1))


def sampling_bound(value: float, degree: int, records: int) -> float:
    """Bound the variance of the exact collision probability U around the population's, to first order.

    With p the shares of the values and q the largest of them, the variance of the mean share of a record is
    sum p^3 - U^2, at most U (q - U), and that of a pair U (1 - U); the largest count is at most T + 1.
    """
    inside = min(max(value, 0.0), 1.0)
    largest = min(1.0, (degree + 1) / records)
    first = inside * max(largest - inside, 0.0)
    pairs = inside * (1 - inside)
    return (4 * (records - 2) * first + 2 * pairs) / (records * (records - 1))
