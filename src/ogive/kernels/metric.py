"""The loss of a metric that should bring records of one class together and keep classes apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.columns import Domain
from ogive.errors import ParameterError, quoted
from ogive.kernels.cells import are_points, boxes, check_points
from ogive.kernels.exact import blocked_mean, finite_rows
from ogive.kernels.models import ClippedLoss, check_features, mean_of_components, positive, vector, within


@dataclass(frozen=True)
class MetricLoss(ClippedLoss):
    """Metric learning loss: records of one class should be near each other, records of two classes far apart.

    Rows are the features, then a label or category. With D = (u - u')' M (u - u') of a public matrix M, and r = 1 in
    one class and -1 otherwise, the loss is max(0, 1 + r (D - margin)).

    Fields:
        matrix_rows: The matrix, symmetric and without negative eigenvalues, row by row.
        margin: Distance D that separates near from far, above 1.
        largest: Value at which the loss is clipped, above 0.

    Raises:
        ParameterError: the matrix is invalid, the margin is not above 1, or largest is not above 0.
    """

    matrix_rows: tuple[tuple[float, ...], ...]
    margin: float
    largest: float

    name: ClassVar[str] = "metric"

    def __post_init__(self) -> None:
        rows = self.matrix_rows
        listed = isinstance(rows, tuple | list | np.ndarray) and len(rows) > 0
        rows = tuple(vector(row, "matrix_rows") for row in rows) if listed else ()
        if not rows or any(len(row) != len(rows) for row in rows):
            raise ParameterError("`matrix_rows` must be the rows of a square matrix")
        matrix = np.array(rows)
        if not np.array_equal(matrix, matrix.T) or np.linalg.eigvalsh(matrix)[0] < -1e-12 * np.abs(matrix).max():
            raise ParameterError("`matrix_rows` must be of a symmetric matrix without negative eigenvalues")
        object.__setattr__(self, "matrix_rows", rows)
        object.__setattr__(self, "largest", positive(self.largest, "largest"))
        if not positive(self.margin, "margin") > 1:
            raise ParameterError(f"`margin` must be above 1, got {quoted(self.margin)}")
        object.__setattr__(self, "margin", float(self.margin))

    def check(self, columns: Domain) -> None:
        """Refuse anything but a number for each row of the matrix, then a label or category."""
        check_features(columns, len(self.matrix_rows), "the metric loss")
        check_points(Domain(columns.columns[-1:]), "the metric loss")

    def __call__(self, left: Float64, right: Float64) -> Float64:
        """Clipped losses."""
        return np.asarray(np.clip(self._raw(left, right)[0], 0.0, self.largest))

    def gradient(self, left: Float64, right: Float64, *, norm: float) -> Float64:
        """Gradients of the unclipped loss in the matrix, clipped to a Frobenius norm of `norm`, shape (..., d, d)."""
        raw, sign, difference = self._raw(left, right)
        active = sign * (raw > 0)
        return within(active[..., None, None] * difference[..., :, None] * difference[..., None, :], norm, 2)

    def mean_gradient(self, rows: Float64, *, norm: float) -> Float64:
        """Mean of clipped gradients over all pairs, shape (d, d), in O(n^2)."""
        size = len(self.matrix_rows)
        return mean_of_components(lambda x, y: self.gradient(x, y, norm=norm), rows, (size, size))

    def _raw(self, left: Float64, right: Float64) -> tuple[Float64, Float64, Float64]:
        difference = left[..., :-1] - right[..., :-1]
        distance = np.einsum("...i,ij,...j->...", difference, np.array(self.matrix_rows), difference)
        sign = np.where(left[..., -1] == right[..., -1], 1.0, -1.0)
        return 1 + sign * (distance - self.margin), sign, difference

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Bounds, from those of the difference along each axis of the matrix; extremes where the matrix is diagonal."""
        if are_points(columns):
            values = self.cell_means(columns)
            return values, values
        lows, highs = boxes(columns)
        weights, axes = np.linalg.eigh(np.array(self.matrix_rows))
        middle = (lows + (highs - lows) / 2)[:, :-1] @ axes
        reach = (highs - lows)[:, :-1] @ np.abs(axes) / 2
        near, far = np.zeros((len(lows), len(lows))), np.zeros((len(lows), len(lows)))
        for weight, center, half in zip(np.maximum(weights, 0.0), middle.T, reach.T, strict=True):
            gap, slack = np.abs(center[:, None] - center), half[:, None] + half
            near += weight * np.maximum(gap - slack, 0.0) ** 2
            far += weight * (gap + slack) ** 2
        alike = lows[:, None, -1] == lows[:, -1]
        least = np.where(alike, 1 + near - self.margin, 1 - far + self.margin)
        most = np.where(alike, 1 + far - self.margin, 1 - near + self.margin)
        return np.clip(least, 0.0, self.largest), np.clip(most, 0.0, self.largest)

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Empirical risk, pair by pair in O(n^2)."""
        return blocked_mean(self, finite_rows(rows, len(self.matrix_rows) + 1))
