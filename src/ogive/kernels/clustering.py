"""The loss of clusters that are given by public centers: distances within them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ogive.arrays import Bool, Float64, Int64
from ogive.columns import Domain
from ogive.errors import ParameterError
from ogive.kernels.cells import are_points, boxes, check_count, check_numbers
from ogive.kernels.exact import blocked_mean, finite_rows
from ogive.kernels.models import ClippedLoss, positive, vector


@dataclass(frozen=True)
class ClusteringLoss(ClippedLoss):
    """Distance of two records of the same cluster; 0 for records of different clusters.

    A record belongs to the cluster with the nearest center, the first one in a tie.

    Fields:
        centers: One point for each cluster, a number for each column; public.
        largest: Value at which the distance is clipped, above 0.

    Raises:
        ParameterError: there are no centers, or of different lengths, or largest is not above 0.
    """

    centers: tuple[tuple[float, ...], ...]
    largest: float

    name: ClassVar[str] = "clustering"

    def __post_init__(self) -> None:
        centers = self.centers
        listed = isinstance(centers, tuple | list | np.ndarray) and len(centers) > 0
        centers = tuple(vector(center, "centers") for center in centers) if listed else ()
        if not centers or len({len(center) for center in centers}) > 1:
            raise ParameterError("`centers` must be at least one point, all with as many numbers")
        object.__setattr__(self, "centers", centers)
        object.__setattr__(self, "largest", positive(self.largest, "largest"))

    def check(self, columns: Domain) -> None:
        """Refuse anything but as many columns of numbers as centers have."""
        check_count(columns, len(self.centers[0]), "the clustering loss")
        check_numbers(columns, "the clustering loss")

    def clusters(self, rows: Float64) -> Int64:
        """Which center is nearest to each row, shape (...)."""
        distances = np.linalg.norm(rows[..., None, :] - np.array(self.centers), axis=-1)
        return np.asarray(distances.argmin(axis=-1))

    def __call__(self, left: Float64, right: Float64) -> Float64:
        """Clipped distances within clusters."""
        distance = np.minimum(np.linalg.norm(left - right, axis=-1), self.largest)
        return np.asarray(np.where(self.clusters(left) == self.clusters(right), distance, 0.0))

    def lipschitz(self, columns: Domain) -> float | None:
        """None, since the loss is discontinuous between clusters; 1 for a single cluster."""
        return None if len(self.centers) > 1 else 1.0

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Bounds: distances of two boxes, or 0 where their records may be of different clusters."""
        if are_points(columns):
            values = self.cell_means(columns)
            return values, values
        lows, highs = boxes(columns)
        least, most = np.zeros((len(lows), len(lows))), np.zeros((len(lows), len(lows)))
        for low, high in zip(lows.T, highs.T, strict=True):
            gaps = low[:, None] - high
            least += np.maximum(np.maximum(gaps, gaps.T), 0.0) ** 2
            most += np.maximum(high[:, None] - low, high - low[:, None]) ** 2
        possible = self._possible(lows, highs)
        alone = possible & (possible.sum(axis=1, keepdims=True) == 1)
        least = np.where(alone @ alone.T, np.minimum(np.sqrt(least), self.largest), 0.0)
        return least, np.where(possible @ possible.T, np.minimum(np.sqrt(most), self.largest), 0.0)

    def _possible(self, lows: Float64, highs: Float64) -> Bool:
        """Which clusters records of each box may be of: all but those whose center another is nearer than throughout.

        |x - c|^2 - |x - d|^2 is linear in x, so its least value over a box is known.
        """
        centers, reach = np.array(self.centers), (highs - lows) / 2
        middle = lows + reach
        possible = np.ones((len(lows), len(centers)), dtype=np.bool_)
        for number, center in enumerate(centers):
            for other in centers:
                slope = 2 * (other - center)
                farther = (middle - (center + other) / 2) @ slope - reach @ np.abs(slope)
                slack = 1e-12 * (np.abs(lows) + np.abs(highs) + np.abs(center) + np.abs(other)) @ np.abs(slope)
                possible[:, number] &= farther <= slack
        return possible

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Empirical risk, pair by pair in O(n^2)."""
        return blocked_mean(self, finite_rows(rows, len(self.centers[0])))
