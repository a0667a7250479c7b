"""Measures by name: functions of one or of a few means over pairs, with their derivatives.

A ratio of noisy means can be anything, and is not defined where its denominator is not above 0: its value is NaN
then, never an error, because noise did it and not the caller.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from ogive.columns import Domain
from ogive.core.arrays import Float64, Int64
from ogive.core.checks import plain_fields, truth
from ogive.errors import ParameterError, quoted
from ogive.kernels import numbers
from ogive.kernels.base import Kernel, Measure, Value, ends
from ogive.kernels.function import FunctionKernel
from ogive.kernels.ranks import Equal, Greater, ScoreOrder, SignProduct, Untied
from ogive.kernels.tuples import InOrder, TripleTable


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
        return {"measure": "mean", "name": self.name, "kernel": self.kernel.to_dict()}


class _Named(ABC):
    """A measure that its name and its fields fix."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def kernels(self) -> tuple[Kernel, ...]:
        """Whose means they are."""

    def check(self, columns: Domain) -> None:
        """Refuse a domain on which the first kernel is not defined."""
        self.kernels[0].check(columns)

    def to_dict(self) -> dict[str, Any]:
        return {"measure": self.name, **plain_fields(self)}


class _Ratio(_Named):
    """A ratio of means, the same function of noisy means and of exact ones; NaN where it is not defined."""

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
        return (numbers.AbsoluteDifference(), numbers.PairMeanKernel())

    def check(self, columns: Domain) -> None:
        """Refuse anything but one column of numbers from 0 on.

        Raises:
            ParameterError: the lower bound is negative, for which shares of a total are not defined.
        """
        super().check(columns)
        low, _ = ends(columns.columns[0])
        if low < 0:
            raise ParameterError(f"a Gini coefficient needs values from 0 on, but the lower bound is {low:g}")

    def _of(self, means: Float64, records: int | None) -> Value:
        factor = 0.5 if self.corrected or records is None else (records - 1) / records / 2
        return _ratio(means, factor)


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

    def _of(self, means: Float64, records: int | None) -> Value:
        return _ratio(means)


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

    def _of(self, means: Float64, records: int | None) -> Value:
        return _ratio(means)


def _ratio(means: Float64, factor: float = 1.0) -> Value:
    """The first of two means times a factor over the second, with its gradient; NaN unless the second is above 0."""
    above, below = float(means[0]) * factor, float(means[1])
    if not below > 0:
        return _undefined(2)
    value = above / below
    return Value(value, (np.array([factor, 0.0]) - value * np.array([0.0, 1.0])) / below)


def _entropy(probability: float) -> float:
    """Minus the logarithm, with 0 instead of -0 for a mean of 1."""
    return 0.0 - math.log(probability)


def _undefined(means: int) -> Value:
    return Value(math.nan, np.full(means, math.nan))


# --- Measures by name, from kernels and functions, and from plain data

MEASURES: dict[str, Callable[..., Measure]] = {
    "auc": lambda ties="half": Mean(Greater(ties), "auc"),
    "auc_private": PrivateLabelAuc,
    "collision": CollisionEntropy,
    "collision_probability": lambda: Mean(Equal(), "collision_probability"),
    "gamma": Gamma,
    "gini": lambda: Mean(numbers.AbsoluteDifference(), "gini"),
    "gini_coefficient": GiniCoefficient,
    "kendall": lambda: Mean(SignProduct(), "kendall"),
    "kendall_b": KendallB,
    "variance": lambda: Mean(numbers.HalfSquare(), "variance"),
    "vus": lambda classes=3: Mean(InOrder(classes), "vus"),
}
"""Makers of measures by name; "auc" and "auc_private" take `ties`, "gini_coefficient" `corrected`, "vus" `classes`."""

KERNELS: dict[str, Callable[..., Kernel]] = {
    kernel.name: kernel
    for kernel in (
        numbers.AbsoluteDifference,
        Equal,
        Greater,
        numbers.HalfSquare,
        InOrder,
        numbers.PairMeanKernel,
        ScoreOrder,
        SignProduct,
        TripleTable,
        Untied,
        numbers.ClusteringLoss,
        numbers.MetricLoss,
        numbers.RankingLoss,
    )
}
"""Makers of kernels by name; a function has none, since it is not plain data."""


def measure_of(
    asked: str | Kernel | Measure | Callable[..., Any],
    *,
    range: tuple[float, float] | None = None,
    name: str | None = None,
    circuit: Callable[..., Any] | None = None,
    **options: Any,
) -> Measure:
    """The measure for a value of `kernel`.

    Args:
        asked: A name in `MEASURES`, a measure, a kernel (its mean), or a function of two records (its mean; see
            `FunctionKernel`).
        range: Smallest and largest value of a function; required for functions only.
        name: Name of a function; by default its own name.
        circuit: Circuit of a function, for pairs of people; see `FunctionKernel`.
        options: Options of a measure in `MEASURES`.

    Raises:
        ParameterError: there is no such name or option, or a function has no range.
    """
    if isinstance(asked, type):
        raise ParameterError(f"pass a kernel, not its class: {asked.__name__}(...)")
    function = callable(asked) and not isinstance(asked, Kernel)
    if not function and (range, name, circuit) != (None, None, None):
        raise ParameterError("only a function has its range, name and circuit stated; those of named kernels are known")
    if isinstance(asked, str):
        if asked not in MEASURES:
            raise ParameterError(
                f"unknown kernel {quoted(asked[:40])}; there are {', '.join(map(repr, sorted(MEASURES)))}"
            )
        try:
            return MEASURES[asked](**options)
        except TypeError:
            raise ParameterError(f"{asked} has no option {', '.join(sorted(options))}") from None
    if options:
        raise ParameterError(f"only measures asked for by name have options, got {', '.join(sorted(options))}")
    if isinstance(asked, Kernel):
        return Mean(asked)
    if isinstance(asked, Measure):
        return asked
    if not callable(asked):
        raise ParameterError(f"a measure must be a name, a kernel, a measure or a function, got {type(asked).__name__}")
    if range is None:
        raise ParameterError("state the range of a function of two records, for example `range=(0, 1)`")
    return Mean(FunctionKernel(asked, str(name or getattr(asked, "__name__", "function")), range, circuit=circuit))


def measure_from_dict(data: Any) -> Measure:
    """Rebuild a measure from `Measure.to_dict`.

    Raises:
        ParameterError: a field is missing or out of range, or the measure is of a function, which is not plain data.
    """
    kind, options = _parts(data, "measure")
    if kind == "mean":
        kernel, title = options.get("kernel"), options.get("name")
        if set(options) != {"kernel", "name"} or not isinstance(title, str):
            raise ParameterError("a mean must have a name and a kernel")
        return Mean(kernel_from_dict(kernel), title)
    return cast(Measure, _made(MEASURES, "measure", kind, options))


def kernel_from_dict(data: Any) -> Kernel:
    """Rebuild a kernel from `Kernel.to_dict`.

    Raises:
        ParameterError: a field is missing or out of range, or the kernel is a function, which is not plain data.
    """
    kind, options = _parts(data, "kernel")
    if kind == "function":
        raise ParameterError("a kernel that is a function cannot be rebuilt from a description; pass the function")
    return cast(Kernel, _made(KERNELS, "kernel", kind, {key: _tuples(value) for key, value in options.items()}))


def _made(makers: Mapping[str, Callable[..., Any]], what: str, kind: str, options: dict[str, Any]) -> Any:
    if kind not in makers:
        raise ParameterError(f"unknown {what} {quoted(kind[:40])}; there are {', '.join(sorted(makers))}")
    try:
        return makers[kind](**options)
    except TypeError:
        raise ParameterError(f"{what} {quoted(kind)} has wrong fields") from None


def _parts(data: Any, kind: str) -> tuple[str, dict[str, Any]]:
    if not isinstance(data, Mapping) or not isinstance(data.get(kind), str):
        raise ParameterError(f"a {kind} must be an object with the name of one")
    return data[kind], {str(key): value for key, value in data.items() if key != kind}


def _tuples(value: Any) -> Any:
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value
