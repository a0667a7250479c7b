"""ROC curves as JSON: exact, versioned, and safe to read from strangers.

The two class curves are stored as curves are, with what was measured; rates and areas follow from them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogive.errors import DataError
from ogive.files import write_atomically
from ogive.provenance import Provenance
from ogive.queries import Label
from ogive.statistics import curve_json
from ogive.statistics.curve import Curve

if TYPE_CHECKING:
    from ogive.statistics.roc_estimate import RocEstimate

SCHEMA = "ogive.roc/1"

_NEEDED = (
    "label", "positive_when", "total", "budget", "confidence_level", "negatives", "positives", "provenance",
)  # fmt: skip
_LONGEST_TEXT = 4000
_MOST_VALUES = 10_000
_LARGEST_WHOLE = 1 << 62


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


def to_json(estimate: RocEstimate, path: str | Path | None) -> str:
    """JSON text of an estimate, also written to the path if one is given."""
    text = json.dumps(to_dict(estimate), allow_nan=False)
    if path is not None:
        write_atomically(Path(path), text.encode() + b"\n")
    return text


def parse(source: str | bytes | Path) -> Any:
    """Plain data of JSON text, or of the file at a Path.

    Raises:
        DataError: the file cannot be read or holds no JSON.
    """
    return curve_json.parse(source)


def fields(data: Any) -> dict[str, Any]:
    """Checked arguments of `RocEstimate` from plain data.

    Raises:
        ParameterError, DataError: this is no ROC curve that this version can read.
    """
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise DataError(f'not a ROC curve: expected a JSON object with "schema": "{SCHEMA}"')
    for name in _NEEDED:
        if name not in data:
            raise DataError(f"a ROC curve lacks the field {name!r}")
    for name in ("positive_when", "budget"):
        if not isinstance(data[name], str) or len(data[name]) > _LONGEST_TEXT:
            raise DataError(f"the field {name!r} of a ROC curve must be a short text")
    total = data["total"]
    if total is not None and not (_whole(total) and 0 <= total < _LARGEST_WHOLE):
        raise DataError("the field 'total' of a ROC curve must be a number of records or null")
    level = data["confidence_level"]
    if isinstance(level, bool) or not isinstance(level, float | int) or not 0 < level < 1:
        raise DataError("the confidence level of a ROC curve must be strictly between 0 and 1")
    provenance = None if data["provenance"] is None else Provenance.from_dict(data["provenance"])
    curves = {name: _class_curve(data[name], provenance) for name in ("negatives", "positives")}
    return {
        **curves,
        "label": _label(data["label"]),
        "positive_when": data["positive_when"],
        "total": total,
        "budget": data["budget"],
        "confidence_level": level,
        "provenance": provenance,
    }


def _class_curve(data: Any, provenance: Provenance | None) -> Curve:
    if isinstance(data, dict) and data.get("provenance") is not None:
        raise DataError("the curves of the classes have no provenance of their own")
    return Curve(**{**curve_json.fields(data), "provenance": provenance})


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _label(data: Any) -> Label:
    if not isinstance(data, dict) or set(data) != {"column", "positive", "negative"}:
        raise DataError("the label of a ROC curve must have the fields column, positive and negative")
    column, positive, negative = data["column"], data["positive"], data["negative"]
    if not isinstance(column, str) or len(column) > _LONGEST_TEXT:
        raise DataError("the label of a ROC curve must name a column")
    for values in (positive, negative):
        if values is not None and not (
            isinstance(values, list) and 0 < len(values) <= _MOST_VALUES and all(map(_is_value, values))
        ):
            raise DataError("the classes of a ROC curve must be lists of numbers, truth values or short texts")
    if positive is None:
        raise DataError("the label of a ROC curve lacks the values of the positive class")
    return Label(column, tuple(positive), None if negative is None else tuple(negative))


def _is_value(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_TEXT
    return isinstance(value, bool | int | float) and abs(value) < _LARGEST_WHOLE  # NaN is not below it
