"""How box plots are planned: by simulated boxes, and by the curves that boxes are read off."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

from ogive.queries import ClassCurvesQuery
from ogive.statistics.base import Statistic, Terms
from ogive.statistics.boxplot.estimate import Boxplots
from ogive.statistics.methods.plan import CURVE_METRICS, CurvePrediction, errors_of_one_curve
from ogive.statistics.prediction import UNITS, Errors, Metric, Setting
from ogive.statistics.roc.designs import class_errors


class Prediction(CurvePrediction):
    """Errors of a box's numbers by simulation, and of the curve where there is one."""

    metrics: ClassVar[Mapping[str, Metric]] = CURVE_METRICS | {
        name: Metric(
            heading, f"distance of the released {words} from the exact one, on average, {UNITS}", of_range=True
        )
        for name, heading, words in (
            ("low", "low end", "low end"),
            ("q1", "Q1", "first quartile"),
            ("median", "median", "median"),
            ("q3", "Q3", "third quartile"),
            ("high", "high end", "high end"),
        )
    }
    shown = ("q1", "median", "q3")

    def __init__(self, statistic: Statistic[Boxplots], terms: Terms, setting: Setting) -> None:
        # no error depends on the intervals
        super().__init__(statistic, dataclasses.replace(terms, simulations=0), setting)

    def errors(self) -> Errors:
        """Errors of the curve, or of the curves of several groups, which are measured as classes are."""
        last = self.queries[-1]
        if isinstance(last, ClassCurvesQuery):
            return class_errors(last, "joint", self.setting)
        of_one = errors_of_one_curve(self.queries, self.setting.unit.adjacency, self.setting.records)
        return Errors(of_one or {})  # the largest over the public shapes alone
