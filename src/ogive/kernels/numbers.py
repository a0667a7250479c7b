"""Kernels of numbers: absolute difference (Gini), half its square (variance), mean of a pair; and losses of models."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ogive.columns import Domain
from ogive.core.arrays import Bool, Float64, Int64
from ogive.core.checks import among
from ogive.errors import ParameterError, quoted
from ogive.kernels import base

# --- Kernels of one column
#
# All closed forms hold on any grid. x is uniform on a cell of middle m and width w, y on the same or a disjoint one and
# s is the sum of both widths:
#
#     |x - y|        mean |m - m'|, or w/3 in one cell; from |m - m'| - s/2 to |m - m'| + s/2, or 0 to w
#     (x - y)^2 / 2  mean ((m - m')^2 + (w^2 + w'^2)/12) / 2, also in one cell; halves of the squares of those ends
#     (x + y) / 2    mean (m + m')/2, within s/4 of it


class _OfNumbers(base.Named):
    """A kernel of one column of numbers; `title` names it in messages."""

    title: ClassVar[str]

    def check(self, columns: Domain) -> None:
        """Refuse anything but one column of numbers."""
        base.check_count(columns, 1, self.title)
        base.check_numbers(columns, self.title)


@dataclass(frozen=True)
class AbsoluteDifference(_OfNumbers):
    """`|x - y|`; its mean over pairs is Gini's mean difference."""

    name: ClassVar[str] = "absolute_difference"
    title: ClassVar[str] = "the absolute difference"

    def __call__(self, left: Float64, right: Float64) -> Float64:
        return np.asarray(np.abs(left[..., 0] - right[..., 0]))

    def range(self, columns: Domain) -> tuple[float, float]:
        """From 0 to the distance of the bounds."""
        low, high = base.ends(columns.columns[0])
        return 0.0, high - low

    def lipschitz(self, columns: Domain) -> float | None:
        """1."""
        return 1.0

    def cell_means(self, columns: Domain) -> Float64:
        """Mean distance of two cells."""
        middle, width = base.middles(columns.columns[0]), base.widths(columns.columns[0])
        means = np.abs(middle[:, None] - middle)
        np.fill_diagonal(means, width / 3)
        return means

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Smallest and largest distance of two cells."""
        lows, highs = columns.columns[0].cells()
        least = np.maximum(np.maximum(lows[:, None] - highs, lows - highs[:, None]), 0.0)
        most = np.maximum(highs[:, None] - lows, highs - lows[:, None])
        return least, most

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Gini's mean difference, by sorting."""
        values = np.sort(base.paired_rows(rows, 1)[:, 0])
        return float((values - values[0]) @ _coefficients(len(values)) / base.pairs_of(len(values)))

    def scale(self, columns: Domain, bits: int = base.BITS) -> base.Scale:
        """Steps of 2^-bits of the bounds."""
        return base.Scale(base.step(columns, bits), Fraction(0), 1 << bits)

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = base.BITS, classes: Int64 | None = None) -> int:
        """Exact sum of distances of rounded values."""
        return base.exact_dot(_coefficients(len(rows)), np.sort(base.steps(rows, columns, bits)))


@dataclass(frozen=True)
class HalfSquare(_OfNumbers):
    """(x - y)^2 / 2; its mean over pairs is the sample variance, with denominator n - 1.

    The variance also follows from sums of x and x^2; this kernel serves as a comparison.
    """

    name: ClassVar[str] = "half_square"
    title: ClassVar[str] = "the variance"

    def __call__(self, left: Float64, right: Float64) -> Float64:
        return np.asarray((left[..., 0] - right[..., 0]) ** 2 / 2)

    def range(self, columns: Domain) -> tuple[float, float]:
        """From 0 to half the squared distance of the bounds."""
        low, high = base.ends(columns.columns[0])
        return 0.0, (high - low) ** 2 / 2

    def lipschitz(self, columns: Domain) -> float | None:
        """The distance of the bounds."""
        low, high = base.ends(columns.columns[0])
        return high - low

    def cell_means(self, columns: Domain) -> Float64:
        """Mean over two cells."""
        middle, square = base.middles(columns.columns[0]), base.widths(columns.columns[0]) ** 2 / 12
        return np.asarray(((middle[:, None] - middle) ** 2 + square[:, None] + square) / 2)

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Least and largest value over two cells."""
        least, most = AbsoluteDifference().cell_extremes(columns)
        return least**2 / 2, most**2 / 2

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Sample variance, with denominator n - 1."""
        return float(np.var(base.paired_rows(rows, 1)[:, 0], ddof=1))

    def scale(self, columns: Domain, bits: int = base.BITS) -> base.Scale:
        """Values are rounded to 2^-bits of the bounds, so squares are in steps of 4^-bits."""
        return base.Scale(base.step(columns, bits) ** 2 / 2, Fraction(0), 1 << (2 * bits))

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = base.BITS, classes: Int64 | None = None) -> int:
        """Exact sum of squared distances of rounded values: n times the sum of squares less the squared sum."""
        values = base.steps(rows, columns, bits)
        return len(rows) * base.exact_dot(values, values) - int(values.sum()) ** 2


@dataclass(frozen=True)
class PairMeanKernel(_OfNumbers):
    """(x + y) / 2; its mean over pairs is the mean. It provides the covariance for ratios to the mean."""

    name: ClassVar[str] = "pair_mean"
    title: ClassVar[str] = "the mean"

    def __call__(self, left: Float64, right: Float64) -> Float64:
        return np.asarray((left[..., 0] + right[..., 0]) / 2)

    def range(self, columns: Domain) -> tuple[float, float]:
        """The bounds."""
        return base.ends(columns.columns[0])

    def lipschitz(self, columns: Domain) -> float | None:
        """Half."""
        return 0.5

    def cell_means(self, columns: Domain) -> Float64:
        """Mean of the two midpoints."""
        middle = base.middles(columns.columns[0])
        return np.asarray((middle[:, None] + middle) / 2)

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Means of both lower ends and of both upper ends."""
        lows, highs = columns.columns[0].cells()
        return (lows[:, None] + lows) / 2, (highs[:, None] + highs) / 2

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Mean of the values."""
        return float(np.mean(base.paired_rows(rows, 1)[:, 0]))

    def scale(self, columns: Domain, bits: int = base.BITS) -> base.Scale:
        """Half steps of 2^-bits of the bounds, from the lower bound; one record moves a pair half the range."""
        return base.Scale(base.step(columns, bits) / 2, Fraction(base.column_of(columns).grid.low), 1 << bits)

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = base.BITS, classes: Int64 | None = None) -> int:
        """Exact sum over pairs of both rounded values: every record is in n - 1 pairs."""
        return (len(rows) - 1) * int(base.steps(rows, columns, bits).sum())


def _coefficients(records: int) -> Int64:
    """How often the i-th smallest value is the larger of a pair, less how often it is the smaller."""
    return 2 * np.arange(records, dtype=np.int64) - (records - 1)


# --- Correction of the bias that randomized rounding leaves in Gini's mean difference
#
# The distance of two values of the same cell, g + u h and g + v h, becomes too large by 2 h min(u, v) (1 - max(u, v)),
# at most h / 2, and h / 6 on average where values are spread evenly within cells. Source: docs/proofs/pairwise.md.


def same_cell(nodes: Float64) -> Float64:
    """Symmetric matrix over nodes: its mean over pairs is the spacing times the chance that two records share a cell.

    The mass of a cell counts as the mean of the masses of its two nodes; those at the ends count twice.
    """
    cells, shares = np.diff(nodes), np.zeros((len(nodes) - 1, len(nodes)))
    places = np.arange(len(cells))
    shares[places, places] = shares[places, places + 1] = 0.5
    shares[0, 0] = shares[-1, -1] = 1.0
    return np.asarray(shares.T @ (cells[:, None] * shares))


def corrected(matrix: Float64, nodes: Float64) -> Float64:
    """Gini's matrix |g_i - g_j| at the nodes without the bias of rounding, for smooth data and not for a few values."""
    return matrix - same_cell(nodes) / 6


# --- Losses of pairs: how badly a public model ranks, separates or groups records; their mean is the empirical risk
#
# A loss is clipped to [0, largest], which is its range; the model (weights, matrix, centers) is public. Gradients are
# functions of pairs too, clipped to a ball, so a mean gradient is a U-statistic of vectors.
#
# Source:
#     Problems that Bell, Bellet, Gascón and Kulkarni (2020) name, in the forms of the methods file, section 2.

Gradient = Callable[[Float64, Float64], Float64]


class ClippedLoss(base.Named):
    """A loss in [0, largest] whose means over cells are estimated and whose sums are computed pair by pair."""

    largest: float

    @property
    @abstractmethod
    def _width(self) -> int:
        """Number of columns."""

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Empirical risk, pair by pair in O(n^2)."""
        return base.blocked_mean(self, base.finite_rows(rows, self._width))

    def range(self, columns: Domain) -> tuple[float, float]:
        """From 0 to largest."""
        return 0.0, self.largest

    def cell_means(self, columns: Domain) -> Float64:
        """Estimated means over cells; see `sampled_means`."""
        return base.sampled_means(self, columns)[0]

    def matrix(self, columns: Domain, kind: str = "average") -> Float64:
        """A; see `Kernel.matrix`."""
        return base.symmetrized(super().matrix(columns, kind))

    def scale(self, columns: Domain, bits: int = base.BITS) -> base.Scale:
        """Steps of 2^-bits of the range."""
        return base.rounded_scale(0.0, self.largest, bits)

    def pair_sum(self, rows: Float64, columns: Domain, *, bits: int = base.BITS, classes: Int64 | None = None) -> int:
        """Exact sum of rounded losses, in O(n^2)."""
        return base.rounded_sum(self, rows, 0.0, self.largest, bits)


def vector(values: Any, name: str) -> tuple[float, ...]:
    """Finite numbers, at least one."""
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        raise ParameterError(f"`{name}` must be numbers, got {type(values).__name__}") from None
    if not numbers or not all(map(math.isfinite, numbers)):
        raise ParameterError(f"`{name}` must be at least one finite number")
    return numbers


def vectors(values: Any, name: str) -> tuple[tuple[float, ...], ...]:
    """Vectors of finite numbers; none where no list of them is given."""
    listed = isinstance(values, tuple | list | np.ndarray) and len(values) > 0
    return tuple(vector(each, name) for each in values) if listed else ()


def positive(value: Any, name: str) -> float:
    """A finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ParameterError(f"`{name}` must be a finite number above 0, got {quoted(value)}")
    return float(value)


def check_features(columns: Domain, width: int, name: str) -> None:
    """Refuse anything but `width` columns, all of numbers but the last."""
    base.check_count(columns, width, name)
    base.check_numbers(Domain(columns.columns[:-1]), name)


def within(gradients: Float64, norm: float, axes: int) -> Float64:
    """Gradients shortened to a length of `norm` where they are longer; the last `axes` axes are the components."""
    bound = positive(norm, "norm")
    lengths = np.sqrt((gradients**2).sum(axis=tuple(range(-axes, 0)), keepdims=True))
    return np.asarray(gradients * (bound / np.maximum(lengths, bound)))


def mean_of_components(gradient: Gradient, rows: Float64, shape: tuple[int, ...]) -> Float64:
    """Mean of a gradient of some shape over all pairs."""

    def mean(place: tuple[int, ...]) -> float:
        component: Any = (..., *place)
        return base.blocked_mean(lambda left, right: gradient(left, right)[component], rows)

    return np.array([mean(place) for place in np.ndindex(shape)]).reshape(shape)


# --- A linear score that should rank one class above the other

SURROGATES = ("logistic", "hinge")
"""Losses of a margin m: ln(1 + e^-m), or max(0, 1 - m)."""


@dataclass(frozen=True)
class RankingLoss(ClippedLoss):
    """Ranking loss of a linear score for a record of each class; 0 within a class.

    Rows are the features, then a label of two classes, 1 for the positive one. The margin m is the positive record's
    score `weights @ features` minus that of the negative one.

    Fields:
        weights: Public weights, one for each feature.
        largest: Value at which the loss is clipped, above 0.
        surrogate: "logistic" or "hinge".

    Raises:
        ParameterError: a number is not finite, or largest is not above 0, or there are no weights.
    """

    weights: tuple[float, ...]
    largest: float
    surrogate: str = "logistic"

    name: ClassVar[str] = "ranking"

    @property
    def _width(self) -> int:
        return len(self.weights) + 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", vector(self.weights, "weights"))
        object.__setattr__(self, "largest", positive(self.largest, "largest"))
        among(self.surrogate, "surrogate", SURROGATES)

    def check(self, columns: Domain) -> None:
        """Refuse anything but a number for each weight, then a label of two classes."""
        check_features(columns, self._width, "the ranking loss")
        base.check_label(columns.columns[-1])

    def __call__(self, left: Float64, right: Float64) -> Float64:
        sign, margin = self._margins(left, right)
        return np.asarray(np.where(sign == 0, 0.0, np.minimum(self._loss(margin), self.largest)))

    def gradient(self, left: Float64, right: Float64, *, norm: float) -> Float64:
        """Gradients of the unclipped loss in the weights, each clipped to a length of `norm`, shape (..., features)."""
        sign, margin = self._margins(left, right)
        slope = -1.0 * (margin < 1) if self.surrogate == "hinge" else -np.exp(-np.logaddexp(0.0, margin))
        difference = left[..., :-1] - right[..., :-1]
        return within((slope * sign)[..., None] * difference, norm, 1)

    def mean_gradient(self, rows: Float64, *, norm: float) -> Float64:
        """Mean of clipped gradients over all pairs, shape (features,), in O(n^2)."""
        return mean_of_components(lambda x, y: self.gradient(x, y, norm=norm), rows, (len(self.weights),))

    def _margins(self, left: Float64, right: Float64) -> tuple[Float64, Float64]:
        sign = np.sign(left[..., -1] - right[..., -1])
        weights = np.array(self.weights)
        return sign, sign * (left[..., :-1] @ weights - right[..., :-1] @ weights)

    def _loss(self, margin: Float64) -> Float64:
        return np.asarray(np.maximum(0.0, 1 - margin) if self.surrogate == "hinge" else np.logaddexp(0.0, -margin))

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Exact extremes: the loss falls with the margin, which is linear."""
        lows, highs = base.boxes(columns)
        middle, reach = lows + (highs - lows) / 2, (highs - lows)[:, :-1] @ np.abs(np.array(self.weights)) / 2
        sign, margin = self._margins(middle[:, None], middle[None])
        slack = reach[:, None] + reach
        least, most = (np.minimum(self._loss(margin + change), self.largest) for change in (slack, -slack))
        return np.where(sign == 0, 0.0, least), np.where(sign == 0, 0.0, most)

    def spread(self, columns: Domain) -> Float64:
        """Delta; see `Kernel.spread`. Products of matrices may round (i, j) and (j, i) differently."""
        return base.symmetrized(super().spread(columns))


# --- A metric that should bring records of one class together and keep classes apart


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

    @property
    def _width(self) -> int:
        return len(self.matrix_rows) + 1

    def __post_init__(self) -> None:
        rows = vectors(self.matrix_rows, "matrix_rows")
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
        check_features(columns, self._width, "the metric loss")
        base.check_points(Domain(columns.columns[-1:]), "the metric loss")

    def __call__(self, left: Float64, right: Float64) -> Float64:
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
        if base.are_points(columns):
            values = self.cell_means(columns)
            return values, values
        lows, highs = base.boxes(columns)
        weights, axes = np.linalg.eigh(np.array(self.matrix_rows))
        middle = (lows + (highs - lows) / 2)[:, :-1] @ axes
        reach = (highs - lows)[:, :-1] @ np.abs(axes) / 2
        near, far = np.zeros((2, len(lows), len(lows)))
        for weight, center, half in zip(np.maximum(weights, 0.0), middle.T, reach.T, strict=True):
            gap, slack = np.abs(center[:, None] - center), half[:, None] + half
            near += weight * np.maximum(gap - slack, 0.0) ** 2
            far += weight * (gap + slack) ** 2
        alike = lows[:, None, -1] == lows[:, -1]
        least = np.where(alike, 1 + near - self.margin, 1 - far + self.margin)
        most = np.where(alike, 1 + far - self.margin, 1 - near + self.margin)
        return np.clip(least, 0.0, self.largest), np.clip(most, 0.0, self.largest)


# --- Clusters that are given by public centers: distances within them


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

    @property
    def _width(self) -> int:
        return len(self.centers[0])

    def __post_init__(self) -> None:
        centers = vectors(self.centers, "centers")
        if not centers or len({len(center) for center in centers}) > 1:
            raise ParameterError("`centers` must be at least one point, all with as many numbers")
        object.__setattr__(self, "centers", centers)
        object.__setattr__(self, "largest", positive(self.largest, "largest"))

    def check(self, columns: Domain) -> None:
        """Refuse anything but as many columns of numbers as centers have."""
        base.check_count(columns, self._width, "the clustering loss")
        base.check_numbers(columns, "the clustering loss")

    def clusters(self, rows: Float64) -> Int64:
        """Which center is nearest to each row, shape (...)."""
        distances = np.linalg.norm(rows[..., None, :] - np.array(self.centers), axis=-1)
        return np.asarray(distances.argmin(axis=-1))

    def __call__(self, left: Float64, right: Float64) -> Float64:
        distance = np.minimum(np.linalg.norm(left - right, axis=-1), self.largest)
        return np.asarray(np.where(self.clusters(left) == self.clusters(right), distance, 0.0))

    def lipschitz(self, columns: Domain) -> float | None:
        """None, since the loss is discontinuous between clusters; 1 for a single cluster."""
        return None if len(self.centers) > 1 else 1.0

    def cell_extremes(self, columns: Domain) -> tuple[Float64, Float64]:
        """Bounds: distances of two boxes, or 0 where their records may be of different clusters."""
        if base.are_points(columns):
            values = self.cell_means(columns)
            return values, values
        lows, highs = base.boxes(columns)
        least, most = np.zeros((2, len(lows), len(lows)))
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
