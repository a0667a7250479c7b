"""Losses of pairs: how badly a public model ranks, separates or groups records; their mean is the empirical risk.

A loss is clipped to [0, largest], which is its range; the model (weights, matrix, centers) is public. Gradients are
functions of pairs too, clipped to a ball, so a mean gradient is a U-statistic of vectors.

Source:
    Problems that Bell, Bellet, Gascón and Kulkarni (2020) name, in the forms of the methods file, section 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ogive.columns import Domain
from ogive.errors import ParameterError
from ogive.kernels.cells import boxes, check_count, check_numbers
from ogive.kernels.exact import BITS, Scale, blocked_mean, rounded_scale, rounded_sum
from ogive.kernels.matrices import matrix_of, spread_of
from ogive.kernels.sampling import sampled_extremes, sampled_means

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
Gradient = Callable[[Float64, Float64], Float64]

SURROGATES = ("logistic", "hinge")
"""Losses of a margin m: ln(1 + e^-m), or max(0, 1 - m)."""


@dataclass(frozen=True)
class RankingLoss:
    """How badly a linear score orders a record of the positive class and one of the negative class; 0 within a class.

    Rows are the features, then a label of two classes, 1 for the positive one. The margin m is by how much the
    positive record's score `weights @ features` is greater.

    Fields:
        weights: One for each feature; public.
        largest: What the loss is clipped to, above 0.
        surrogate: "logistic" or "hinge".

    Raises:
        ParameterError: a number is not finite, or largest is not above 0, or there are no weights.
    """

    weights: tuple[float, ...]
    largest: float
    surrogate: str = "logistic"

    name: ClassVar[str] = "ranking"
    samples: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _vector(self.weights, "weights"))
        object.__setattr__(self, "largest", _positive(self.largest, "largest"))
        if self.surrogate not in SURROGATES:
            raise ParameterError(f"surrogate must be one of {', '.join(SURROGATES)}, got {self.surrogate!r}")

    def check(self, columns: Domain) -> None:
        """Refuse anything but a number for each weight, then a label of two classes."""
        _check_features(columns, len(self.weights), "the ranking loss")
        label = columns.columns[-1]
        if label.size != 2 or label.cells()[0].tolist() != [0.0, 1.0]:
            raise ParameterError(f"column {label.column!r} must have two classes, the positive one last")

    def __call__(self, left: Float64, right: Float64) -> Float64:
        """Clipped losses."""
        sign, margin = self._margins(left, right)
        return np.asarray(np.where(sign == 0, 0.0, np.minimum(self._loss(margin), self.largest)))

    def gradient(self, left: Float64, right: Float64, *, norm: float) -> Float64:
        """Gradients of the unclipped loss in the weights, each clipped to a length of `norm`, shape (..., features)."""
        sign, margin = self._margins(left, right)
        slope = -1.0 * (margin < 1) if self.surrogate == "hinge" else -np.exp(-np.logaddexp(0.0, margin))
        difference = left[..., :-1] - right[..., :-1]
        return _within((slope * sign)[..., None] * difference, norm, 1)

    def mean_gradient(self, rows: Float64, *, norm: float) -> Float64:
        """Mean of clipped gradients over all pairs, shape (features,), in O(n^2)."""
        return _mean_of_components(lambda x, y: self.gradient(x, y, norm=norm), rows, (len(self.weights),))

    def _margins(self, left: Float64, right: Float64) -> tuple[Float64, Float64]:
        sign = np.sign(left[..., -1] - right[..., -1])
        weights = np.array(self.weights)
        return sign, sign * (left[..., :-1] @ weights - right[..., :-1] @ weights)

    def _loss(self, margin: Float64) -> Float64:
        return np.asarray(np.maximum(0.0, 1 - margin) if self.surrogate == "hinge" else np.logaddexp(0.0, -margin))

    def range(self, columns: Domain) -> tuple[float, float]:
        """From 0 to largest."""
        return 0.0, self.largest

    def lipschitz(self, columns: Domain) -> float | None:
        """None: it jumps with the label."""
        return None

    def cell_means(self, columns: Domain) -> Float64:
        """Estimated means over cells; see `sampling.sampled_means`."""
        return sampled_means(self, columns)[0]

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Exact extremes: the loss falls with the margin, which is linear."""
        lows, highs = boxes(columns)
        middle, reach = lows + (highs - lows) / 2, (highs - lows)[:, :-1] @ np.abs(np.array(self.weights)) / 2
        sign, margin = self._margins(middle[:, None], middle[None])
        slack = reach[:, None] + reach
        least, most = (np.minimum(self._loss(margin + change), self.largest) for change in (slack, -slack))
        return np.where(sign == 0, 0.0, least), np.where(sign == 0, 0.0, most)

    def matrix(self, columns: Domain, kind: str = "average") -> Float64:
        """A; see `Kernel.matrix`."""
        return _symmetrized(matrix_of(self, columns, kind))

    def spread(self, columns: Domain) -> Float64:
        """Delta; see `Kernel.spread`."""
        return spread_of(self, columns)

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Empirical risk, pair by pair in O(n^2)."""
        return blocked_mean(self, rows)

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Steps of 2^-bits of the range."""
        return rounded_scale(0.0, self.largest, bits)

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Exact sum of rounded losses, in O(n^2)."""
        return rounded_sum(self, rows, 0.0, self.largest, bits)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "kernel": self.name,
            "weights": list(self.weights),
            "largest": self.largest,
            "surrogate": self.surrogate,
        }


@dataclass(frozen=True)
class MetricLoss:
    """How badly a metric separates classes: records of one class should be near, those of two classes far apart.

    Rows are the features, then a label or category. With D = (u - u')' matrix (u - u'), and r = 1 in one class and -1
    otherwise, the loss is max(0, 1 + r (D - margin)).

    Fields:
        matrix: Symmetric, without negative eigenvalues, as rows; public.
        margin: Distance D that divides near from far, above 1.
        largest: What the loss is clipped to, above 0.

    Raises:
        ParameterError: the matrix is not such a one, or the margin is not above 1, or largest is not above 0.
    """

    matrix_rows: tuple[tuple[float, ...], ...]
    margin: float
    largest: float

    name: ClassVar[str] = "metric"
    samples: ClassVar[int] = 1

    def __post_init__(self) -> None:
        rows = self.matrix_rows
        listed = isinstance(rows, tuple | list | np.ndarray) and len(rows) > 0
        rows = tuple(_vector(row, "matrix_rows") for row in rows) if listed else ()
        if not rows or any(len(row) != len(rows) for row in rows):
            raise ParameterError("matrix_rows must be the rows of a square matrix")
        matrix = np.array(rows)
        if not np.array_equal(matrix, matrix.T) or np.linalg.eigvalsh(matrix)[0] < -1e-12 * np.abs(matrix).max():
            raise ParameterError("matrix_rows must be of a symmetric matrix without negative eigenvalues")
        object.__setattr__(self, "matrix_rows", rows)
        object.__setattr__(self, "largest", _positive(self.largest, "largest"))
        if not _positive(self.margin, "margin") > 1:
            raise ParameterError(f"margin must be above 1, got {self.margin!r}")
        object.__setattr__(self, "margin", float(self.margin))

    def check(self, columns: Domain) -> None:
        """Refuse anything but a number for each row of the matrix, then a label or category."""
        _check_features(columns, len(self.matrix_rows), "the metric loss")

    def __call__(self, left: Float64, right: Float64) -> Float64:
        """Clipped losses."""
        return np.asarray(np.clip(self._raw(left, right)[0], 0.0, self.largest))

    def gradient(self, left: Float64, right: Float64, *, norm: float) -> Float64:
        """Gradients of the unclipped loss in the matrix, clipped to a Frobenius norm of `norm`, shape (..., d, d)."""
        raw, sign, difference = self._raw(left, right)
        active = sign * (raw > 0)
        return _within(active[..., None, None] * difference[..., :, None] * difference[..., None, :], norm, 2)

    def mean_gradient(self, rows: Float64, *, norm: float) -> Float64:
        """Mean of clipped gradients over all pairs, shape (d, d), in O(n^2)."""
        size = len(self.matrix_rows)
        return _mean_of_components(lambda x, y: self.gradient(x, y, norm=norm), rows, (size, size))

    def _raw(self, left: Float64, right: Float64) -> tuple[Float64, Float64, Float64]:
        difference = left[..., :-1] - right[..., :-1]
        distance = np.einsum("...i,ij,...j->...", difference, np.array(self.matrix_rows), difference)
        sign = np.where(left[..., -1] == right[..., -1], 1.0, -1.0)
        return 1 + sign * (distance - self.margin), sign, difference

    def range(self, columns: Domain) -> tuple[float, float]:
        """From 0 to largest."""
        return 0.0, self.largest

    def lipschitz(self, columns: Domain) -> float | None:
        """None: it jumps with the class."""
        return None

    def cell_means(self, columns: Domain) -> Float64:
        """Estimated means over cells; see `sampling.sampled_means`."""
        return sampled_means(self, columns)[0]

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Extremes over corners and points of cells: an inner estimate."""
        return sampled_extremes(self, columns)

    def matrix(self, columns: Domain, kind: str = "average") -> Float64:
        """A; see `Kernel.matrix`."""
        return _symmetrized(matrix_of(self, columns, kind))

    def spread(self, columns: Domain) -> Float64:
        """Delta, an estimate from below; see `Kernel.spread`."""
        return spread_of(self, columns)

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Empirical risk, pair by pair in O(n^2)."""
        return blocked_mean(self, rows)

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Steps of 2^-bits of the range."""
        return rounded_scale(0.0, self.largest, bits)

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Exact sum of rounded losses, in O(n^2)."""
        return rounded_sum(self, rows, 0.0, self.largest, bits)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        rows = [list(row) for row in self.matrix_rows]
        return {"kernel": self.name, "matrix_rows": rows, "margin": self.margin, "largest": self.largest}


@dataclass(frozen=True)
class ClusteringLoss:
    """How far apart two records of one cluster are, 0 for two of different clusters.

    Records are of the cluster whose center is nearest, the first of those that are equally near.

    Fields:
        centers: One point for each cluster, a number for each column; public.
        largest: What the distance is clipped to, above 0.

    Raises:
        ParameterError: there are no centers, or of different lengths, or largest is not above 0.
    """

    centers: tuple[tuple[float, ...], ...]
    largest: float

    name: ClassVar[str] = "clustering"
    samples: ClassVar[int] = 1

    def __post_init__(self) -> None:
        centers = self.centers
        listed = isinstance(centers, tuple | list | np.ndarray) and len(centers) > 0
        centers = tuple(_vector(center, "centers") for center in centers) if listed else ()
        if not centers or len({len(center) for center in centers}) > 1:
            raise ParameterError("centers must be at least one point, all with as many numbers")
        object.__setattr__(self, "centers", centers)
        object.__setattr__(self, "largest", _positive(self.largest, "largest"))

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

    def range(self, columns: Domain) -> tuple[float, float]:
        """From 0 to largest."""
        return 0.0, self.largest

    def lipschitz(self, columns: Domain) -> float | None:
        """None: it jumps between clusters; 1 where there is but one."""
        return None if len(self.centers) > 1 else 1.0

    def cell_means(self, columns: Domain) -> Float64:
        """Estimated means over cells; see `sampling.sampled_means`."""
        return sampled_means(self, columns)[0]

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Extremes over corners and points of cells: an inner estimate."""
        return sampled_extremes(self, columns)

    def matrix(self, columns: Domain, kind: str = "average") -> Float64:
        """A; see `Kernel.matrix`."""
        return _symmetrized(matrix_of(self, columns, kind))

    def spread(self, columns: Domain) -> Float64:
        """Delta, an estimate from below; see `Kernel.spread`."""
        return spread_of(self, columns)

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Empirical risk, pair by pair in O(n^2)."""
        return blocked_mean(self, rows)

    def scale(self, columns: Domain, bits: int = BITS) -> Scale:
        """Steps of 2^-bits of the range."""
        return rounded_scale(0.0, self.largest, bits)

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = BITS, classes: Int64 | None = None) -> int:
        """Exact sum of rounded distances, in O(n^2)."""
        return rounded_sum(self, rows, 0.0, self.largest, bits)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"kernel": self.name, "centers": [list(center) for center in self.centers], "largest": self.largest}


def _vector(values: Any, name: str) -> tuple[float, ...]:
    try:
        vector = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be numbers, got {type(values).__name__}") from None
    if not vector or not all(map(math.isfinite, vector)):
        raise ParameterError(f"{name} must be at least one finite number")
    return vector


def _positive(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ParameterError(f"{name} must be a finite number above 0, got {value!r}")
    return float(value)


def _check_features(columns: Domain, features: int, name: str) -> None:
    check_count(columns, features + 1, name)
    check_numbers(Domain(columns.columns[:-1]), name)


def _within(gradients: Float64, norm: float, axes: int) -> Float64:
    """Gradients shortened to a length of `norm` where they are longer; the last `axes` axes are the components."""
    bound = _positive(norm, "norm")
    lengths = np.sqrt((gradients**2).sum(axis=tuple(range(-axes, 0)), keepdims=True))
    return np.asarray(gradients * (bound / np.maximum(lengths, bound)))


def _mean_of_components(gradient: Gradient, rows: Float64, shape: tuple[int, ...]) -> Float64:
    means = np.empty(math.prod(shape))
    for number in range(len(means)):
        means[number] = blocked_mean(partial(_component, gradient, shape, number), rows)
    return means.reshape(shape)


def _component(gradient: Gradient, shape: tuple[int, ...], place: int, left: Float64, right: Float64) -> Float64:
    found = gradient(left, right)
    return found.reshape(*found.shape[: found.ndim - len(shape)], -1)[..., place]


def _symmetrized(matrix: Float64) -> Float64:
    return (matrix + matrix.T) / 2
