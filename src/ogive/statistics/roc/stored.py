"""ROC curves as JSON: exact, versioned, and safe to read from strangers.

The two class curves are stored as curves are, with what was measured; rates and areas follow from them.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from ogive.errors import DataError
from ogive.provenance import Provenance
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.plain_json import Fields
from ogive.statistics.roc.estimate import RocEstimate
from ogive.statistics.stated_price import check_price

SCHEMA = RocEstimate.schema

_NEEDED = (
    "label", "positive_when", "total", "budget", "confidence_level", "negatives", "positives", "provenance",
)  # fmt: skip


def to_dict(estimate: RocEstimate) -> dict[str, Any]:
    """Plain data of an estimate; its provenance is written once."""
    return {
        "schema": SCHEMA,
        "label": estimate.label.to_dict(),
        "positive_when": estimate.positive_when,
        "total": estimate.total,
        "budget": estimate.budget,
        "confidence_level": estimate.confidence_level,
        "negatives": {**estimate.negatives.to_dict(), "provenance": None},
        "positives": {**estimate.positives.to_dict(), "provenance": None},
        "provenance": None if estimate.provenance is None else estimate.provenance.to_dict(),
    }


def from_dict(data: Any) -> RocEstimate:
    """Rebuild from plain data, which need not be trusted.

    Raises:
        ParameterError, DataError: this is no ROC curve that this version can read.
    """
    known = Fields.of(data, SCHEMA, "a ROC curve", _NEEDED)
    label, curve = known.label(), data["negatives"]
    sizes = isinstance(curve, dict) and curve.get("total") is not None
    provenance = known.provenance(*((label.column,) if sizes else ()))
    return RocEstimate(
        label=label,
        positive_when=known.text("positive_when"),
        total=known.total(),
        budget=known.text("budget"),
        confidence_level=known.chance("confidence_level"),
        negatives=_class_curve(data["negatives"], provenance),
        positives=_class_curve(data["positives"], provenance),
        provenance=provenance,
    )


def _class_curve(data: Any, provenance: Provenance | None) -> Curve:
    if isinstance(data, dict) and data.get("provenance") is not None:
        raise DataError("the curves of the classes have no provenance of their own")
    curve = dataclasses.replace(Curve.from_dict(data), provenance=provenance)
    check_price(provenance, [(curve.strategy, curve.adjacency)])
    return curve
