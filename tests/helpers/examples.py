"""Well-formed examples of every statistic, and what their estimates say as one array."""

import dataclasses
from importlib.resources import files

import numpy as np

from ogive.pate import LargestMargins
from ogive.queries import Ballots
from ogive.statistics import (
    Bounds,
    Boxplot,
    Count,
    Crosstab,
    Describe,
    Ecdf,
    GroupAuc,
    Grouped,
    Histogram,
    HosmerLemeshow,
    Labels,
    Mean,
    Proportion,
    Quantiles,
    Roc,
    Sum,
    Ustatistic,
)
from ogive.statistics.bounds.estimate import BoundsEstimate
from ogive.statistics.boxplot.estimate import Boxplots
from ogive.statistics.calibration.estimate import Calibration
from ogive.statistics.crosstab.estimate import CrosstabEstimate
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.group_auc.estimate import GroupAucEstimate
from ogive.statistics.groups.estimate import GroupEstimates
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.kinds import KINDS
from ogive.statistics.labels.estimate import LabelsEstimate
from ogive.statistics.methods.curve_methods import AdaptiveQuantiles
from ogive.statistics.roc.estimate import RocEstimate
from ogive.statistics.sums.estimate import NumberEstimate
from ogive.statistics.ustatistic.estimate import UstatisticEstimate

KNOWN = {
    "bounds": [Bounds("x"), Bounds("x", base=10, smallest=0.1, largest=1000)],
    "boxplot": [
        Boxplot("x", (0, 100), bins=64),
        Boxplot("x", (0, 100), bins=64, by="y", groups=(0, 1), curve="tree_ls"),
        Boxplot("x", (0, 100), bins=64, method="five_numbers"),
    ],
    "ecdf": [
        Ecdf("x", (0, 100), bins=64),
        Ecdf("x", (0, 100), bins=50, method="path"),
        Ecdf("x", (0, 100), bins=50, method="projection"),
        Ecdf("x", (0, 100), bins=50, method="histogram"),
        Ecdf("x", (0, 100), bins=50, method=AdaptiveQuantiles(rounds=8)),
        Ecdf("x", (0, 100), bins=50, method="selected", expected_records=20_000),
    ],
    "calibration": [HosmerLemeshow("p", "y", bins=64), HosmerLemeshow("p", "y", bins=50, form="counts", groups=5)],
    "groups": [Grouped(Ecdf("x", (0, 100), bins=64, method="tree_ls"), "z", (0, 1, 2))],
    "labels": [
        Labels(LargestMargins(None, keep=1), Ballots(("y", "z"), classes=3)),
        Labels(LargestMargins(None, keep=3), Ballots(("z",), classes=4)),
    ],
    "count": [Count("y", among=1), Count("x")],
    "crosstab": [Crosstab("y", "z", rows=(0, 1), columns=(0, 1), other="count", missing="count")],
    "group_auc": [GroupAuc("x", "y", "z", (0, 100), bins=8, group_values=(0, 1), other="count", outside="clip")],
    "histogram": [Histogram("y", values=(0, 1)), Histogram("z", values=(0, 1), other="count", missing="count")],
    "describe": [Describe(("x", "y"), bounds={"x": (0, 200)}, values={"y": 1})],
    "proportion": [Proportion("y"), Proportion("z", positive=(1, 2))],
    "mean": [Mean("x", (0, 200), step=2), Mean("y", (0, 1))],
    "sum": [Sum("x", (0, 200), step=2), Sum("z", (-1, 2))],
    "quantiles": [
        Quantiles("x", (0.25, 0.5, 0.75), bounds=(0, 100), bins=64),
        Quantiles("x", (0.1, 0.9), bounds=(0, 100), bins=64, method="bisection"),
        Quantiles("x", (0.25, 0.5), bounds=(0, 100), bins=64, method="histogram"),
        Quantiles("x", (0.5,), bounds=(0, 100), bins=64, method="exponential"),
        Quantiles("x", (0.5, 0.25), bounds=(0, 100), bins=64, method="joint"),
    ],
    "roc": [
        Roc("x", "y", (0, 100), bins=64, outside="clip"),
        Roc("x", "y", (0, 100), bins=50, outside="clip", method="path", budget="split", positive_when="low"),
    ],
    "ustatistic": [
        Ustatistic("x", "gini", bounds=(0, 200)),
        Ustatistic("y", "collision", categories=(0, 1)),
        Ustatistic(("y", "z"), "kendall", categories={"y": (0, 1), "z": (0, 1, 2)}),
        Ustatistic(("x", "y"), "auc", bounds=(0, 200), bins=16),
    ],
}
"""Well-formed examples of statistics by name."""


def columns_and_options(kind):
    """Names of a question's columns, and the options without defaults, which its `COMMAND` has as an example."""
    example = dict(kind.command_options.example)
    fields = [each for each in dataclasses.fields(kind.statistic) if each.name not in example]
    return [each.name for each in fields if each.default is each.default_factory is dataclasses.MISSING], example


def example_of(kind):
    """A question of the columns x, y and z."""
    columns, options = columns_and_options(kind)
    return kind.statistic(**dict(zip(columns, ("x", "y", "z"), strict=False)), **options)


NEW = [kind for kind in KINDS if kind.name not in KNOWN]
"""Statistics that have no examples above."""
PUBLISHED = {place.name for place in (files("ogive") / "schemas").iterdir()}
UNKEPT = [kind for kind in NEW if f"{kind.name.replace('_', '-')}-1.schema.json" not in PUBLISHED]
"""Of these, those without a published schema, which have no question or document in `tests/vectors` yet."""
EXAMPLES = KNOWN | {kind.name: [example_of(kind)] for kind in NEW}


def numbers(estimate, records=20_000):
    """What an estimate of so many records says before it is smoothed, as one array to compare; counts are shares."""
    if isinstance(estimate, UstatisticEstimate):
        return np.array([estimate.value]) / (estimate.limits[1] - estimate.limits[0])
    if isinstance(estimate, NumberEstimate):
        whole = {"count": records, "sum": 200 * records, "mean": 200, "proportion": 1}
        return np.array([estimate.value / whole[estimate.what]])
    if isinstance(estimate, HistogramEstimate | CrosstabEstimate):
        return np.array(estimate.raw).ravel() / records
    if isinstance(estimate, GroupAucEstimate):
        return estimate.counts.ravel() / records
    if isinstance(estimate, DescribeEstimate):
        return np.concatenate([numbers(getattr(each, "curve", each), records) for each in estimate.found])
    if isinstance(estimate, GroupEstimates):
        return np.concatenate([numbers(each, records) for each in estimate.estimates])
    if isinstance(estimate, Boxplots):
        return np.array([box.numbers[1:4] for box in estimate.boxes]).ravel() / 1000
    if isinstance(estimate, LabelsEstimate):
        return estimate.votes.ravel() / records
    if isinstance(estimate, BoundsEstimate):
        return np.array(estimate.counts) / records
    if isinstance(estimate, Calibration):
        observed = estimate.measured.consistent(estimate.values, estimate.total).observed
        return observed.sum(axis=1) / observed.sum()
    if isinstance(estimate, RocEstimate):
        return np.concatenate([estimate.negatives.raw, estimate.positives.raw]) / records
    if hasattr(estimate, "numbers"):
        return np.array(estimate.numbers)
    return estimate.raw / estimate.raw[-1] if hasattr(estimate, "raw") else np.array([estimate.value])
