"""The demonstration in numbers: what was found, how far off it is, and how far off it was said to be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ogive.demo.story import CONFIDENCE_LEVEL, DECILES, LIMIT, Part, Story, epsilon_text
from ogive.privacy import number_text
from ogive.statistics.boxplot.estimate import Boxplots
from ogive.statistics.calibration.estimate import Calibration
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.roc.estimate import RocEstimate

if TYPE_CHECKING:
    from ogive.demo.banks import Banks


def summary(story: Story, banks: Banks | None) -> dict[str, Any]:
    """The story as plain data, and that of the banks where it was told."""
    refusal = story.refusal
    return {
        "schema": "ogive.demo/5",
        "data": story.table.origin,
        "records": {"training": story.evaluation.trained, "evaluation": story.evaluation.records.size},
        "limit": number_text(LIMIT.epsilon),
        "remaining": epsilon_text(refusal.remaining),
        "releases": [
            {
                "name": part.wish.name,
                "epsilon": number_text(part.wish.privacy.epsilon),
                "free": part.free,
                "remaining": epsilon_text(part.remaining),
                **numbers(part),
            }
            for part in story.parts
        ],
        "refused": {
            "name": refusal.wish.name,
            "epsilon": number_text(refusal.wish.privacy.epsilon),
            "reason": refusal.reason,
        },
        "banks": None if banks is None else banks_numbers(banks),
    }


def numbers(part: Part) -> dict[str, Any]:
    """What was found, private and true."""
    if isinstance(part.estimate, QuantileEstimates):
        return {"errors": curve_errors(part), "deciles": deciles(part)}
    if isinstance(part.estimate, RocEstimate):
        return roc_numbers(part.estimate, part.truth)
    if isinstance(part.estimate, Boxplots):
        return box_numbers(part.estimate, part.truth)
    return calibration_numbers(part.estimate, part.truth)


def released_curve(part: Part) -> Curve:
    """The curve from which deciles were read."""
    curve: Curve | None = part.estimate.curve
    assert curve is not None
    return curve


def curve_errors(part: Part) -> dict[str, float]:
    """Predicted and actual distance of a curve from the truth, as shares."""
    curve = released_curve(part)
    private, true = curve.probabilities, part.truth.probabilities
    band = curve.band(CONFIDENCE_LEVEL, target="sample")
    assert curve.strategy is not None
    assert curve.total is not None
    variance = curve.strategy.variance(total_known=True)
    return {
        "predicted_rms": math.sqrt(float(variance.mean())) / curve.total,
        "actual_rms": float(np.sqrt(np.mean(np.square(private - true)))),
        "predicted_ks": float(max(np.max(band.high - private), np.max(private - band.low))),
        "actual_ks": float(np.abs(private - true).max()),
    }


def deciles(part: Part) -> list[dict[str, Any]]:
    """Each decile with its interval and the true one, as thresholds."""
    found = part.estimate
    places = np.searchsorted(part.truth.probabilities, np.array(DECILES) - 1e-12)
    true = part.truth.grid.thresholds[places].tolist()
    return [
        {"probability": p, "private": value, "low": low, "high": high, "true": exact, "inside": low <= exact <= high}
        for p, value, low, high, exact in zip(DECILES, found.numbers, found.low, found.high, true, strict=True)
    ]


def roc_numbers(found: RocEstimate, truth: RocEstimate) -> dict[str, Any]:
    """The area under the curve with the intervals for these records and for the population, and its errors."""
    low, high = found.auc_interval(CONFIDENCE_LEVEL, target="sample")
    of_all = found.auc_interval(CONFIDENCE_LEVEL, target="population")
    defined = found.defined and truth.defined
    return {
        "auc": {
            "private": number(found.auc),
            "low": low,
            "high": high,
            "population": {"low": of_all[0], "high": of_all[1]},
            "true": number(truth.auc),
            "inside": low <= truth.auc <= high,
        },
        "errors": {name: number(value) for name, value in found.errors(truth).items()} if defined else None,
    }


def box_numbers(found: Boxplots, truth: Boxplots) -> dict[str, Any]:
    """The five numbers of each box, private and true."""
    pairs = zip(found.boxes, truth.boxes, strict=True)
    boxes = [{"group": box.group, "private": list(box.numbers), "true": list(exact.numbers)} for box, exact in pairs]
    return {"boxes": boxes, "errors": found.errors(truth)}


def banks_numbers(banks: Banks) -> dict[str, Any]:
    """What five banks released together, beside the same from one table and the truth."""
    return {
        "records": list(banks.records),
        "spent": number_text(banks.spent.epsilon),
        "killed": banks.killed,
        "releases": [
            {
                "name": each.name,
                **(
                    roc_numbers(each.estimate, each.truth)
                    if isinstance(each.estimate, RocEstimate)
                    else calibration_numbers(each.estimate, each.truth)
                ),
            }
            for each in banks.pooled
        ],
    }


def calibration_numbers(found: Calibration, truth: Calibration) -> dict[str, Any]:
    """The statistic and its p-value, and the groups."""
    return {
        "statistic": {
            "private": number(found.statistic),
            "without_noise": number(found.debiased_statistic),
            "true": number(truth.statistic),
        },
        "p_value": {"private": number(found.p_value), "true": number(truth.p_value)},
        "groups": [
            {
                "low": group.low,
                "high": group.high,
                "mean_predicted": number(group.mean_predicted),
                "observed_share": number(group.observed_share),
                "interval": list(group.interval),
            }
            for group in found.groups
        ],
        "errors": {name: number(value) for name, value in found.errors(truth).items()},
    }


def number(value: float) -> float | None:
    """A number as JSON knows it: None where there is none."""
    return float(value) if math.isfinite(value) else None
