"""Noisy sums: per group of predicted probabilities and labels, and over the places of a public lattice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Literal, get_args

import numpy as np

from ogive.accounting import group_loss, larger_loss
from ogive.columns.grids import Grid
from ogive.core.arrays import Int64
from ogive.core.checks import ROOM, among, plain_fields, refuse_sums, whole
from ogive.errors import ParameterError
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, Loss, Privacy, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import base
from ogive.queries.aggregates import Cells, GroupSums
from ogive.strategies.base import Level, measured_loss
from ogive.strategies.counts import BITS, check_counted, counted_loss, counted_noise

# --- Sums per group of predicted probabilities and labels, in fixed point
#
# Given the groups, a record adds (1 - p, p) to the expected sums and (1 - y, y) to the observed
# counts of one group: a sum of absolute values of 1 and of squares at most 1 in each. A replaced
# record leaves one group and joins one, perhaps the same: 2 and at most 2 in each. Noise of scale s_E on
# the expected and s_O on the observed sums, both in records, therefore costs under REPLACE
#
#     2 / s_E + 2 / s_O   (Laplace),      1 / sigma_E^2 + 1 / sigma_O^2   (Gaussian, rho),
#
# and half of that when a record is added or removed. The difference D = observed - expected positives
# moves by y - p in one group and obeys the same bounds with one exception: a record that stays in its group, of
# width w, and changes its label moves D by up to 1 + w in that one group, and the squares add up to
# (1 + w)^2, more than 2 where w > 0.41. Under REPLACE the Gaussian price of the difference is therefore
#
#     max(1 / sigma_E^2 + 1 / sigma_D^2,  w^2 / sigma_E^2 + (1 + w)^2 / (2 sigma_D^2)),  w the widest group.
#
# Source:
#     `docs/proofs/calibration.md`.

FormName = Literal["counts", "difference"]
FORMS: tuple[FormName, ...] = get_args(FormName)


def widest(groups: GroupSums) -> int:
    """Largest change of a probability within one group, in units of 2^-bits."""
    ends = np.concatenate(([0.0], groups.probability.grid.thresholds))
    return int(np.diff(np.rint(ends * (1 << groups.bits)).astype(np.int64)).max())


@dataclass(frozen=True)
class GroupSumsQuery(base.Described, base.LinearQuery):
    """Expected sums and observed counts (or their difference) of every group, each with noise of its own.

    Answers have shape (4, Q) for the form "counts": expected negatives and positives in units of
    2^-bits, observed negatives and positives in records; and (3, Q) for "difference": expected negatives
    and positives, and observed minus expected positives, all in units of 2^-bits.

    Fields:
        groups: Probabilities, thresholds and label.
        expected: Noise of the expected sums, in units of 2^-bits.
        observed: Noise of the observed counts, in records, or of the difference, in units of 2^-bits.
        form: One of `FORMS`.
    """

    digested: ClassVar[str] = "group sums"
    method: ClassVar[str] = "group_sums"

    groups: GroupSums
    expected: DiscreteLaplace | DiscreteGaussian
    observed: DiscreteLaplace | DiscreteGaussian
    form: str = "counts"

    def __post_init__(self) -> None:
        among(self.form, "form", FORMS)
        if type(self.expected) is not type(self.observed):
            raise ParameterError("expected and observed sums must have noise of one kind, Laplace or Gaussian")

    @property
    def aggregate(self) -> GroupSums:
        return self.groups

    @property
    def levels(self) -> tuple[Level, ...]:
        """Expected sums, then observed counts or differences."""
        size = self.groups.probability.grid.bins
        return Level(2 * size, self.expected), Level((2 if self.form == "counts" else 1) * size, self.observed)

    def price(self, unit: PrivacyUnit) -> PureDP | ZeroConcentratedDP:
        """Privacy loss of all sums together, given the groups."""
        one = 1 << self.groups.bits
        unit_size = 1 if self.form == "counts" else one
        moved = 2 if unit.adjacency is Adjacency.REPLACE else 1
        loss = measured_loss(
            (self.expected, self.observed),
            l1=(moved * one, moved * unit_size),
            l2_squared=(moved * one**2, moved * unit_size**2),
        )
        if moved == 2 and self.form == "difference":
            width = widest(self.groups)
            within = measured_loss(
                (self.expected, self.observed),
                l1=(2 * width, one + width),
                l2_squared=(2 * width**2, (one + width) ** 2),
            )
            loss = larger_loss(loss, within)
        return group_loss(loss, unit.max_rows_per_person)

    @property
    def of_one_group(self) -> GroupSumsQuery:
        """The same of a single group from 0 to 1, which costs at least what any groups cost."""
        probability = replace(self.groups.probability, grid=Grid.explicit((1.0,), low=0.0))
        return replace(self, groups=replace(self.groups, probability=probability))

    def measure(self, sums: Int64) -> Int64:
        """Exact sums, shape (4, Q) or (3, Q).

        Raises:
            DataError: there are too many records for these bits.
        """
        refusal = f"there are too many records for sums with {self.groups.bits} fractional bits"
        refuse_sums(sums[2:], 1 << self.groups.bits, ROOM, refusal)
        if self.form == "counts":
            return sums
        return np.stack([sums[0], sums[1], (sums[3] << self.groups.bits) - sums[1]])

    def noise(self, nodes: NodeNoise) -> Int64:
        """Independent noise, in the shape of `measure`."""
        size = self.groups.probability.grid.bins
        return np.concatenate([part.reshape(-1, size) for part in base.draw(nodes, self.levels)])


# --- Sums over the places of records on a public lattice
#
# A lattice has the places 0 to M. A record at place i adds up to three whole numbers to as many sums,
#
#     a,    b i + s,    d (M^2 - (2i - M)^2),
#
# and each of the sums gets noise of one law. What one record changes follows from these numbers alone. The third is 0
# at both ends of the lattice. Where s = -b M / 2, so that the second is largest there, squares are measured for nothing
# if b is large enough.
#
# Source:
#     `docs/proofs/sums.md`.

MOST_PLACES = 1 << 16
"""Places of a lattice at most; `Weights.check` refuses squares of them that leave 64 bits."""

_MOST_WEIGHT = 1 << 34

PUBLIC_NUMBER = "the number of records is public under `adjacency REPLACE`, so nothing has to be asked or paid for it"


@dataclass(frozen=True)
class Weights:
    """What a record at place i adds to the sums: `count`, `slope` i + `shift`, `square` (M^2 - (2i - M)^2).

    A sum whose weight is 0 is not measured; a shift goes with a slope.

    Raises:
        ParameterError: a weight is out of range, or neither records nor places are summed.
    """

    count: int = 0
    slope: int = 0
    shift: int = 0
    square: int = 0

    def __post_init__(self) -> None:
        for name in ("count", "slope", "square"):
            whole(getattr(self, name), name, 0, _MOST_WEIGHT)
        whole(self.shift, "shift", -_MOST_WEIGHT, _MOST_WEIGHT)
        if not self.count and not self.slope:
            raise ParameterError("measure the number of records, or the sum of their places")

    @property
    def sums(self) -> int:
        """How many sums are measured."""
        return bool(self.count) + bool(self.slope) + bool(self.square)

    def rows(self, last: int) -> Int64:
        """What a record at each place 0 to `last` adds to each sum that is measured, shape (sums, last + 1)."""
        places = np.arange(last + 1, dtype=np.int64)
        result = [np.full(last + 1, self.count)] if self.count else []
        result += [self.slope * places + self.shift] if self.slope else []
        result += [self.square * (last * last - (2 * places - last) ** 2)] if self.square else []
        return np.array(result, dtype=np.int64)

    def check(self, last: int) -> None:
        """Refuse squares beside places that are not centered, for which no price is known, or that leave 64 bits.

        Raises:
            ParameterError: they are, or do.
        """
        if self.square and 2 * self.shift != -self.slope * last:
            raise ParameterError("squares are measured beside centered places, whose shift is -slope M / 2")
        if self.square * last**2 > ROOM:
            raise ParameterError(f"`square` must be at most {ROOM // last**2} for {last + 1} places, got {self.square}")

    def to_dict(self) -> dict[str, int]:
        return plain_fields(self)


@lru_cache(maxsize=256)
def changes(weights: Weights, last: int, adjacency: Adjacency) -> tuple[int, int]:
    """The largest sum of absolute changes, and of squared changes, by one record on the places 0 to `last`."""
    weights.check(last)
    rows = weights.rows(last)
    if adjacency is Adjacency.ADD_OR_REMOVE:
        # convex in the place where there are no squares, and else in (2i - M)^2: largest at an end or in the middle
        outermost = rows[:, [0, last // 2, last]].T.tolist()
        return int(np.abs(rows).sum(axis=0).max()), max(sum(each**2 for each in column) for column in outermost)
    b, d = weights.slope, weights.square
    moving = rows[1:] if weights.count else rows  # how many records there are stays the same
    if not len(moving):
        return 0, 0
    sides = [moving[0] + moving[1], moving[0] - moving[1]] if len(moving) > 1 else [moving[0]]
    absolute = max(int(np.ptp(side)) for side in sides)
    # two records t places apart, m from the middle on average, differ by b t and by 8 d m t, and m <= (M - t) / 2
    squared = max(t * t * (b * b + 16 * d * d * (last - t) ** 2) for t in range(1, last + 1)) if d else (b * last) ** 2
    return absolute, squared


@dataclass(frozen=True)
class MomentsQuery(base.Described, base.LinearQuery):
    """Weighted sums over the records of the place of each, each sum with noise of its own; answers have shape (sums,).

    Fields:
        cells: One column, whose symbols are the places.
        weights: What a record adds to the sums.
        law: Noise of every sum, on the scale where sums are multiplied by 2^bits.
        bits: Fractional bits of the sums: 0 for Laplace noise.

    Raises:
        ParameterError: there is more than one column, or one with too many places, or law and bits do not go together.
    """

    digested: ClassVar[str] = "moments"
    method: ClassVar[str] = "moments"

    cells: Cells
    weights: Weights
    law: DiscreteLaplace | DiscreteGaussian
    bits: int = 0

    def __post_init__(self) -> None:
        check_counted(self.cells.domain.size, (self.law,), self.bits)
        if len(self.cells.domain.columns) != 1 or not 1 <= self.last <= MOST_PLACES:
            raise ParameterError(f"moments are of one column of 2 to {MOST_PLACES + 1} places")
        self.weights.check(self.last)

    @property
    def last(self) -> int:
        """The last place, M."""
        return self.cells.domain.size - 1

    @property
    def aggregate(self) -> Cells:
        return self.cells

    @property
    def levels(self) -> tuple[Level, ...]:
        return (Level(self.weights.sums, self.law),)

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of all sums together.

        Raises:
            ParameterError: missing values are dropped although the adjacency makes the number of records public, or
                nothing but that number is asked.
        """
        base.check_missing(self.cells.domain.columns[0], unit.adjacency)
        l1, l2_squared = changes(self.weights, self.last, unit.adjacency)
        if not l1:
            raise ParameterError(PUBLIC_NUMBER)
        loss = counted_loss(self.law, self.bits, l1=l1, l2_squared=l2_squared, integers=self.levels[0].nodes)
        return group_loss(loss, unit.max_rows_per_person)

    def measure(self, sums: Int64) -> Int64:
        """The exact sums times 2^bits.

        Raises:
            DataError: there are so many records that the sums would not fit.
        """
        rows = self.weights.rows(self.last)
        largest = int(np.abs(rows).max())
        refuse_sums(sums, largest << self.bits, ROOM, f"there are too many records for sums of numbers up to {largest}")
        return np.asarray((rows @ sums) << self.bits)

    def noise(self, nodes: NodeNoise) -> Int64:
        """Independent noise of every sum."""
        return np.asarray(base.draw(nodes, self.levels)[0])


def design_moments(cells: Cells, weights: dict[str, Weights], privacy: Privacy, unit: PrivacyUnit) -> MomentsQuery:
    """The least noise that meets a guarantee: discrete Laplace or, where that is less and enough, discrete Gaussian.

    Args:
        cells: The column.
        weights: What a record adds where noise is Laplace, by "laplace", and where it is Gaussian, by "gaussian".
        privacy: What the sums together may cost.
        unit: Whose data is hidden.

    Raises:
        ScaleError: the noise is larger than can be drawn.
        ParameterError: nothing but a public number is asked.
    """

    def designed(grant: Privacy) -> MomentsQuery:
        chosen = weights["laplace" if isinstance(grant, PureDP) else "gaussian"]
        l1, l2_squared = changes(chosen, cells.domain.size - 1, unit.adjacency)
        if not l1:
            raise ParameterError(PUBLIC_NUMBER)
        # large sums need no fractional bits for discrete noise to be as good as continuous noise
        bits = max(0, BITS - (l2_squared.bit_length() - 1) // 2)
        integers, rows = chosen.sums, unit.max_rows_per_person
        law, used = counted_noise(grant, l1=l1, l2_squared=l2_squared, integers=integers, rows=rows, bits=bits)
        return MomentsQuery(cells, chosen, law, used)

    def variance(query: MomentsQuery) -> float:
        return query.law.variance / 4.0**query.bits / (query.weights.slope or 1) ** 2

    return base.with_least_noise(privacy, designed, variance)
