"""The loss of a linear score that should rank one class above the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.checks import among
from ogive.columns import Domain
from ogive.errors import ParameterError, quoted
from ogive.kernels.cells import boxes
from ogive.kernels.exact import blocked_mean, finite_rows
from ogive.kernels.matrices import symmetrized
from ogive.kernels.models import ClippedLoss, check_features, mean_of_components, positive, vector, within

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", vector(self.weights, "weights"))
        object.__setattr__(self, "largest", positive(self.largest, "largest"))
        among(self.surrogate, "surrogate", SURROGATES)

    def check(self, columns: Domain) -> None:
        """Refuse anything but a number for each weight, then a label of two classes."""
        check_features(columns, len(self.weights), "the ranking loss")
        label = columns.columns[-1]
        if label.size != 2 or label.cells()[0].tolist() != [0.0, 1.0]:
            raise ParameterError(f"column {quoted(label.column)} must have two classes, the positive one last")

    def __call__(self, left: Float64, right: Float64) -> Float64:
        """Clipped losses."""
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
        lows, highs = boxes(columns)
        middle, reach = lows + (highs - lows) / 2, (highs - lows)[:, :-1] @ np.abs(np.array(self.weights)) / 2
        sign, margin = self._margins(middle[:, None], middle[None])
        slack = reach[:, None] + reach
        least, most = (np.minimum(self._loss(margin + change), self.largest) for change in (slack, -slack))
        return np.where(sign == 0, 0.0, least), np.where(sign == 0, 0.0, most)

    def spread(self, columns: Domain) -> Float64:
        """Delta; see `Kernel.spread`. Products of matrices may round (i, j) and (j, i) differently."""
        return symmetrized(super().spread(columns))

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Empirical risk, pair by pair in O(n^2)."""
        return blocked_mean(self, finite_rows(rows, len(self.weights) + 1))
