"""Noisy sums per group of predicted probabilities and labels, in fixed point.

Given the groups, a record adds (1 - p, p) to the expected sums and (1 - y, y) to the observed
counts of one group: a sum of absolute values of 1 and of squares at most 1 in each. A replaced
record leaves one group and joins one, perhaps the same: 2 and at most 2 in each. Noise of scale s_E on
the expected and s_O on the observed sums, both in records, therefore costs under REPLACE

    2 / s_E + 2 / s_O   (Laplace),      1 / sigma_E^2 + 1 / sigma_O^2   (Gaussian, rho),

and half of that when a record is added or removed. The difference D = observed - expected positives
moves by y - p in one group and obeys the same bounds with one exception: a record that stays in its group, of
width w, and changes its label moves D by up to 1 + w in that one group, and the squares add up to
(1 + w)^2, more than 2 where w > 0.41. Under REPLACE the Gaussian price of the difference is therefore

    max(1 / sigma_E^2 + 1 / sigma_D^2,  w^2 / sigma_E^2 + (1 + w)^2 / (2 sigma_D^2)),  w the widest group.

Source:
    `docs/proofs/calibration.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from ogive.accounting import group_loss, larger_loss
from ogive.arrays import Int64
from ogive.checks import among
from ogive.errors import DataError, ParameterError
from ogive.grids import Grid
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.base import NodeNoise
from ogive.privacy import Adjacency, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import base
from ogive.queries.aggregates import GroupSums
from ogive.strategies.base import Level, measured_loss

FormName = Literal["counts", "difference"]
FORMS: tuple[FormName, ...] = get_args(FormName)
_ROOM_BITS = 61


def widest(groups: GroupSums) -> int:
    """Largest change of a probability within one group, in units of 2^-bits."""
    ends = np.concatenate(([0.0], groups.probability.grid.thresholds))
    return int(np.diff(np.rint(ends * (1 << groups.bits)).astype(np.int64)).max())


@dataclass(frozen=True)
class GroupSumsQuery(base.LinearQuery):
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

    groups: GroupSums
    expected: DiscreteLaplace | DiscreteGaussian
    observed: DiscreteLaplace | DiscreteGaussian
    form: str = "counts"

    def __post_init__(self) -> None:
        among(self.form, "form", FORMS)
        if type(self.expected) is not type(self.observed):
            raise ParameterError("expected and observed sums must have noise of one kind, Laplace or Gaussian")

    @property
    def method(self) -> str:
        """Name of this query."""
        return "group_sums"

    @property
    def aggregate(self) -> GroupSums:
        """Sums of probabilities and labels in every group."""
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

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of the sums, groups, noise and adjacency; as secret as the data."""
        return base.fields_digest("group sums", self, sums, adjacency)

    def measure(self, sums: Int64) -> Int64:
        """Exact sums, shape (4, Q) or (3, Q).

        Raises:
            DataError: there are too many records for these bits.
        """
        if int(sums[2:].sum()) >= 1 << (_ROOM_BITS - self.groups.bits):
            raise DataError(f"there are too many records for sums with {self.groups.bits} fractional bits")
        if self.form == "counts":
            return sums
        return np.stack([sums[0], sums[1], (sums[3] << self.groups.bits) - sums[1]])

    def noise(self, nodes: NodeNoise) -> Int64:
        """Independent noise, in the shape of `measure`."""
        size = self.groups.probability.grid.bins
        return np.concatenate([part.reshape(-1, size) for part in base.draw(nodes, self.levels)])
