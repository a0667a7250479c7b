"""Errors that hold for all labeled records: of the counts of each class, and of observed minus expected labels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ogive.planning.curves import CONFIDENCE, simulations_for
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import ClassCurvesQuery, GroupSumsQuery
from ogive.statistics.base import Statistic
from ogive.statistics.calibration.sums import Measured
from ogive.statistics.curve.bands.simultaneous import upper_quantile
from ogive.statistics.roc.designs import class_variance
from ogive.statistics.roc.noise import KNOWN_SIZES, KNOWN_SUM, NOTHING_KNOWN, simulate_noise


def class_errors(way: Statistic[Any], query: ClassCurvesQuery, unit: PrivacyUnit, records: int) -> dict[str, float]:
    """Errors of the raw cumulative counts of one class, as shares of all records; both classes have the same law."""
    strategy, budget = query.strategy, str(getattr(way, "budget", "joint"))
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
    return {
        "rmse": math.sqrt(class_variance(strategy, unit, query.public_labels, budget)) / records,
        "ks": float(np.mean(noise.maxima.either)) / records,
        "ks_95": upper_quantile(noise.maxima.either, 1 - CONFIDENCE) / records,
    }


def group_errors(way: Statistic[Any], query: GroupSumsQuery, records: int) -> dict[str, float]:
    """Noise on observed minus expected labels of a group, and the smallest miscalibration that stands out of it."""
    constants = str(getattr(way, "constants", "exact"))
    groups = int(getattr(way, "groups", query.groups.probability.grid.bins))
    spread = math.sqrt(Measured.of(query, noisy=True, constants=constants).difference_variance)
    return {"difference": spread, "visible": 1.96 * spread * groups / records}
