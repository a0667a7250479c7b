"""What is asked for by name: functions of one or of a few means over pairs, with their derivatives.

A ratio of noisy means can be anything, and is not defined where its denominator is not above 0: its value is NaN
then, never an error, because noise did it and not the caller.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.checks import truth
from ogive.columns import Domain
from ogive.errors import ParameterError
from ogive.kernels.base import Kernel, Value
from ogive.kernels.cells import ends
from ogive.kernels.equality import Equal, Untied
from ogive.kernels.labeled import ScoreOrder
from ogive.kernels.numbers import AbsoluteDifference, PairMeanKernel
from ogive.kernels.ranks import SignProduct
from ogive.parameters import plain_fields


@dataclass(frozen=True)
class Mean:
    """The mean of one kernel, a U-statistic.

    Fields:
        kernel: Any kernel.
        title: Name of the measure; by default that of the kernel.
    """

    kernel: Kernel
    title: str = ""

    @property
    def name(self) -> str:
        """As it was asked for."""
        return self.title or self.kernel.name

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernel."""
        return (self.kernel,)

    def check(self, columns: Domain) -> None:
        """Refuse a domain on which the kernel is not defined."""
        self.kernel.check(columns)

    def of(self, means: Float64, *, columns: Domain, records: int | None) -> Value:
        """The mean itself."""
        return Value(float(means[0]), np.ones(1))

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """The U-statistic of exact rows."""
        return self.kernel.exact(rows, classes)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"measure": "mean", "name": self.name, "kernel": self.kernel.to_dict()}


class _Named(ABC):
    """A measure that its name and its fields fix."""

    name: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"measure": self.name, **plain_fields(self)}


class _Ratio(_Named):
    """A ratio of means, the same function of noisy means and of exact ones; NaN where it is not defined."""

    @property
    @abstractmethod
    def kernels(self) -> tuple[Kernel, ...]:
        """Whose means they are."""

    @abstractmethod
    def _of(self, means: Float64, records: int | None) -> Value:
        """The ratio, with its gradient."""

    def of(self, means: Float64, *, columns: Domain, records: int | None) -> Value:
        """The ratio of noisy means; NaN unless what it is divided by is above 0."""
        return self._of(means, records)

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """The ratio of exact means; NaN unless what it is divided by is above 0."""
        return self._of(np.array([kernel.exact(rows) for kernel in self.kernels]), len(rows)).value


@dataclass(frozen=True)
class GiniCoefficient(_Ratio):
    """Gini coefficient: Gini's mean difference G divided by twice the mean m.

    Fields:
        corrected: False gives the coefficient of the n records, (n - 1) G / (2 n m), the usual definition; True gives
            G / (2 m), which corrects the bias in small samples. They are equal if the number of records is unknown.
    """

    corrected: bool = False

    name: ClassVar[str] = "gini_coefficient"

    def __post_init__(self) -> None:
        truth(self.corrected, "corrected")

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Distance and mean of a pair."""
        return (AbsoluteDifference(), PairMeanKernel())

    def check(self, columns: Domain) -> None:
        """Refuse anything but one column of numbers from 0 on.

        Raises:
            ParameterError: the lower bound is negative, for which shares of a total are not defined.
        """
        AbsoluteDifference().check(columns)
        low, _ = ends(columns.columns[0])
        if low < 0:
            raise ParameterError(f"a Gini coefficient needs values from 0 on, but the lower bound is {low:g}")

    def _of(self, means: Float64, records: int | None) -> Value:
        factor = 0.5 if self.corrected or records is None else (records - 1) / records / 2
        return _ratio(float(means[0]) * factor, float(means[1]), np.array([factor, 0.0]), np.array([0.0, 1.0]))


@dataclass(frozen=True)
class CollisionEntropy(_Named):
    """Collision entropy (Renyi's of order 2): -ln of the probability that two records are the same, in nats.

    A noisy probability is first clipped to [1/k, 1], the range for k symbols, and the value records this.
    """

    name: ClassVar[str] = "collision"

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Equality."""
        return (Equal(),)

    def check(self, columns: Domain) -> None:
        """Refuse columns whose bins hold many values."""
        Equal().check(columns)

    def of(self, means: Float64, *, columns: Domain, records: int | None) -> Value:
        """The entropy, from 0 to ln k."""
        raw = float(means[0])
        if math.isnan(raw):
            return _undefined(1)
        probability = min(max(raw, 1 / columns.size), 1.0)
        return Value(_entropy(probability), np.array([-1 / probability]), probability != raw)

    def exact(self, rows: Float64, classes: Int64 | None = None) -> float:
        """Of exact rows, as their pairs say, not clipped; infinite where no two are the same."""
        probability = Equal().exact(rows)
        return _entropy(probability) if probability > 0 else math.inf


@dataclass(frozen=True)
class KendallB(_Ratio):
    """Kendall's tau-b: tau-a divided by the geometric mean of the shares of untied pairs of both columns."""

    name: ClassVar[str] = "kendall_b"

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Sign products, and both shares of untied pairs."""
        return (SignProduct(), Untied((0,)), Untied((1,)))

    def check(self, columns: Domain) -> None:
        """Refuse anything but two columns."""
        SignProduct().check(columns)

    def _of(self, means: Float64, records: int | None) -> Value:
        signs, first, second = (float(mean) for mean in means)
        if not (first > 0 and second > 0):
            return _undefined(3)
        root = math.sqrt(first) * math.sqrt(second)
        value = signs / root
        return Value(value, np.array([1 / root, -value / (2 * first), -value / (2 * second)]))


@dataclass(frozen=True)
class Gamma(_Ratio):
    """Goodman and Kruskal's gamma: concordant minus discordant pairs, divided by their sum."""

    name: ClassVar[str] = "gamma"

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Sign products, and the share of pairs that are untied in both columns."""
        return (SignProduct(), Untied((0, 1)))

    def check(self, columns: Domain) -> None:
        """Refuse anything but two columns."""
        SignProduct().check(columns)

    def _of(self, means: Float64, records: int | None) -> Value:
        return _ratio(float(means[0]), float(means[1]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))


@dataclass(frozen=True)
class PrivateLabelAuc(_Ratio):
    """AUC with private labels: correctly ordered pairs divided by pairs of different classes.

    Fields:
        ties: Value of equal scores of different classes: "half" or "strict" (nothing).
    """

    ties: str = "half"

    name: ClassVar[str] = "auc_private"

    def __post_init__(self) -> None:
        ScoreOrder(self.ties)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Right order, and different labels."""
        return (ScoreOrder(self.ties), Untied((1,)))

    def check(self, columns: Domain) -> None:
        """Refuse anything but a score and a label of two classes."""
        ScoreOrder(self.ties).check(columns)

    def _of(self, means: Float64, records: int | None) -> Value:
        return _ratio(float(means[0]), float(means[1]), np.array([1.0, 0.0]), np.array([0.0, 1.0]))


def _ratio(above: float, below: float, above_slope: Float64, below_slope: Float64) -> Value:
    """A ratio of two linear functions of the means, with its gradient; NaN unless the denominator is above 0."""
    if not below > 0:
        return _undefined(len(above_slope))
    value = above / below
    return Value(value, (above_slope - value * below_slope) / below)


def _entropy(probability: float) -> float:
    """Minus the logarithm, with 0 instead of -0 for a mean of 1."""
    return 0.0 - math.log(probability)


def _undefined(means: int) -> Value:
    return Value(math.nan, np.full(means, math.nan))
