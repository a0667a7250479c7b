"""How ROC curves are planned: errors of each class's counts hold for all records, that of the area is simulated."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import ClassVar, cast

import numpy as np

from ogive.privacy import Adjacency
from ogive.queries import ClassCurvesQuery
from ogive.statistics import prediction
from ogive.statistics.curve.bands import upper_quantile
from ogive.statistics.ecdf.plan import CURVE_METRICS, simulations_for
from ogive.statistics.prediction import CONFIDENCE, Errors, Metric, Setting
from ogive.statistics.roc.area import KNOWN_SIZES, KNOWN_SUM, NOTHING_KNOWN, simulate_noise
from ogive.statistics.roc.designs import class_variance
from ogive.statistics.roc.statistic import Roc


class Prediction(prediction.Prediction):
    """Errors of the counts of each class before smoothing; of the area by simulation."""

    metrics: ClassVar[Mapping[str, Metric]] = {
        **{name: CURVE_METRICS[name] for name in ("rmse", "ks", "ks_95")},
        "auc": Metric("AUC", "root mean squared difference of private and exact AUC, simulated", squared=True),
        "l1": Metric("area", "area between private and exact ROC curve, on average, simulated"),
    }
    deciding = ("auc", "ks", "rmse")
    labeled = True

    @classmethod
    def closer(cls, trusted: Collection[str], adjacency: Adjacency) -> str | None:
        """The area alone, whose noise is added to two sums over pairs instead of all counts."""
        if "central" not in trusted or adjacency is not Adjacency.REPLACE:
            return None
        return (
            "for the AUC without the curve, ustatistic with `kernel='auc'` errs less, by a third from 100 thresholds on"
        )

    def errors(self) -> Errors:
        """Errors of the counts of each class."""
        return class_errors(cast(ClassCurvesQuery, self.queries[-1]), cast(Roc, self.statistic).budget, self.setting)


def class_errors(query: ClassCurvesQuery, budget: str, setting: Setting) -> Errors:
    """Errors of the raw cumulative counts of one class, as shares of all records; both classes have the same law."""
    unit, strategy = setting.unit, query.strategy
    known = NOTHING_KNOWN
    if unit.adjacency is Adjacency.REPLACE:
        known = KNOWN_SIZES if query.public_labels else KNOWN_SUM if budget == "joint" else NOTHING_KNOWN
    noise = simulate_noise(
        strategy,
        np.zeros((2, strategy.size)),
        known=known,
        positive_when="high",
        simulations=simulations_for(strategy),
    )
    return Errors(
        {
            "rmse": math.sqrt(class_variance(strategy, unit, query.public_labels, budget)) / setting.records,
            "ks": float(np.mean(noise.maxima.either)) / setting.records,
            "ks_95": upper_quantile(noise.maxima.either, 1 - CONFIDENCE) / setting.records,
        }
    )
