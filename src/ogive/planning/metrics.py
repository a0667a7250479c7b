"""The errors that a plan can predict: how they are called in a table, and what each says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Span = tuple[float, float]
"""Smallest and largest error over the public shapes."""


@dataclass(frozen=True)
class Metric:
    """One kind of error.

    Fields:
        title: Heading of its column.
        words: What it is.
    """

    title: str
    words: str


class Errors(dict[str, float]):
    """Predicted errors by name.

    Args:
        errors: Their values; of an error that depends on the records, what one may rely on.
        spans: The smallest and the largest over the public shapes, of errors that depend on the records.
    """

    def __init__(self, errors: Mapping[str, float], spans: Mapping[str, Span] | None = None) -> None:
        super().__init__(errors)
        self.spans = dict(spans or {})

    @staticmethod
    def over_shapes(values: Mapping[str, Float64]) -> Errors:
        """The largest of the values of each error, one for each shape, with the span."""
        spans = {name: (float(each.min()), float(each.max())) for name, each in values.items()}
        return Errors({name: most for name, (_, most) in spans.items()}, spans)


METRICS: dict[str, Metric] = {
    "rmse": Metric("rmse", "root mean squared error over the thresholds, before smoothing, as a share of the records"),
    "ks": Metric("ks", "largest error at any threshold, on average, before smoothing, as a share of the records"),
    "ks_95": Metric("ks 95 %", "largest error that 95 of 100 releases stay within, before smoothing"),
    "band": Metric("band", "half width of the 95 % band for the population, which counts sampling error too"),
    "energy": Metric(
        "energy",
        "energy distance of the published curve from its population, with the bounds a distance of 1 apart, simulated",
    ),
    "rmse_smoothed": Metric("rmse smoothed", "root mean squared error of the published curve, simulated"),
    "ks_smoothed": Metric("ks smoothed", "largest error of the published curve, on average, simulated"),
    "rank": Metric("rank", "largest distance of a quantile from its wanted share, on average, simulated"),
    "low": Metric("low end", "error of a box's low end, as a share of the bounds' distance, on average, simulated"),
    "q1": Metric("Q1", "the same of its first quartile"),
    "median": Metric("median", "the same of its median"),
    "q3": Metric("Q3", "the same of its third quartile"),
    "high": Metric("high end", "the same of its high end"),
    "value": Metric(
        "error",
        "root mean squared difference from the exact value, of the same records and with rounding to bins counted",
    ),
    "auc": Metric("AUC", "root mean squared difference of private and exact AUC, simulated"),
    "difference": Metric(
        "D", "standard deviation of the noise on a group's observed minus expected labels, in records"
    ),
    "visible": Metric("visible", "miscalibration of one group that stands out of the noise at 95 %, as a share of it"),
    "observed": Metric("observed", "largest error of a group's observed share, simulated"),
    "statistic": Metric("statistic", "relative error of the debiased statistic, simulated"),
    "unseen": Metric("unseen", "an outermost magnitude with a larger share of the records is found at 95 %"),
    "outside": Metric("outside", "share of the records outside the bounds, on average, simulated"),
    "too_wide": Metric("too wide", "orders of magnitude without records that the bounds include, simulated"),
    "l1": Metric("area", "area between private and exact ROC curve, on average, simulated"),
    "undefined": Metric("undefined", "share of releases that say nothing, which the errors beside it leave out"),
}
"""What each error is, in the order of a table's columns."""

ROOT_MEAN_SQUARED = frozenset({"rmse", "auc", "statistic", "observed", "value"})
"""Errors of single estimates that are summed up as a root mean square; others as a mean."""

DECIDING = ("auc", "ks", "visible", "unseen", "value", "rmse")
"""What a picture shows, the first that a plan has."""


def title(name: str) -> str:
    """Heading of an error, also of one that no text is kept for."""
    return METRICS[name].title if name in METRICS else name.replace("_", " ")


def named(said: str) -> str:
    """The name of an error that was called by it, or as its column is headed."""
    return said if said in METRICS else next((name for name in METRICS if METRICS[name].title == said), said)


def listed(names: Iterable[str]) -> str:
    """Names for a message, each with the heading of its column where that is another."""
    return ", ".join(name if title(name) == name else f"{name} ({title(name)})" for name in names)


def in_order(names: set[str]) -> list[str]:
    """Names as a table shows them."""
    known = [name for name in METRICS if name in names]
    return known + sorted(names - set(known))
