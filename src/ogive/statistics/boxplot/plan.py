"""How box plots are planned: by the curves that boxes are read off, otherwise by simulation."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import ClassVar

from ogive.queries import ClassCurvesQuery
from ogive.statistics.base import Statistic, Terms
from ogive.statistics.boxplot.estimate import Boxplots
from ogive.statistics.methods.plan import CURVE_METRICS, CurvePrediction, decided_by_noise, errors_of_one_curve
from ogive.statistics.prediction import Errors, Metric, Setting
from ogive.statistics.roc.plan import class_errors


class Prediction(CurvePrediction):
    """Errors of one curve where there is one; of a box's numbers by simulation."""

    metrics: ClassVar[Mapping[str, Metric]] = CURVE_METRICS | {
        "low": Metric("low end", "error of a box's low end, as a share of the bounds' distance, on average, simulated"),
        "q1": Metric("Q1", "the same of its first quartile"),
        "median": Metric("median", "the same of its median"),
        "q3": Metric("Q3", "the same of its third quartile"),
        "high": Metric("high end", "the same of its high end"),
    }

    def __init__(self, statistic: Statistic[Boxplots], terms: Terms, setting: Setting) -> None:
        # no error depends on the intervals
        super().__init__(statistic, dataclasses.replace(terms, simulations=0), setting)

    @property
    def decided(self) -> bool:
        """Whether the predicted errors decide: one noisy curve is measured."""
        return decided_by_noise(self.queries)

    def errors(self) -> Errors:
        """Errors of the curve, or of the curves of several groups, which are measured as classes are."""
        last = self.queries[-1]
        if isinstance(last, ClassCurvesQuery):
            return class_errors(last, "joint", self.setting)
        of_one = errors_of_one_curve(self.queries, self.setting.unit.adjacency, self.setting.records)
        return Errors(of_one or {})  # the largest over the public shapes alone
