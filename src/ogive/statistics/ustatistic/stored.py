"""Pairwise statistics as JSON: exact, versioned, and safe to read from strangers."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from ogive.errors import DataError, quoted
from ogive.statistics.plain_json import Fields, is_number, is_text, is_whole
from ogive.statistics.ustatistic.estimate import KernelMean, UstatisticEstimate

SCHEMA = UstatisticEstimate.schema
METHODS = ("exact", "kernel", "cells", "degrees", "krr", "unary", "haar", "hierarchy", "paired")

_WHAT = "a U-statistic"
_MOST = 1000
_NEEDED = (
    "kernel", "columns", "method", "value", "means", "randomization_error", "sampling_error", "quantization", "limits",
    "bins", "records", "classes", "clipped", "confidence_level", "sampling_is_a_bound", "standard_error", "total_error",
    "interval", "provenance",
)  # fmt: skip


def to_dict(estimate: UstatisticEstimate) -> dict[str, Any]:
    """Plain data of an estimate; its errors of all parts together and its interval follow from the rest."""
    return {
        "schema": SCHEMA,
        "kernel": estimate.kernel,
        "columns": list(estimate.columns),
        "method": estimate.method,
        "value": estimate.value if estimate.defined else None,
        "means": [
            {"kernel": mean.kernel, "value": mean.value, "randomization_error": mean.randomization_error}
            for mean in estimate.means
        ],
        "randomization_error": estimate.randomization_error,
        "sampling_error": estimate.sampling_error,
        "quantization": estimate.quantization,
        "limits": [end if math.isfinite(end) else None for end in estimate.limits],
        "bins": list(estimate.bins),
        "records": estimate.records,
        "classes": None if estimate.classes is None else list(estimate.classes),
        "clipped": estimate.clipped,
        "confidence_level": estimate.confidence_level,
        **_derived(estimate),
        "provenance": None if estimate.provenance is None else estimate.provenance.to_dict(),
        **({} if estimate.null_variance is None else {"null_variance": estimate.null_variance}),
    }


def _derived(estimate: UstatisticEstimate) -> dict[str, Any]:
    interval = list(estimate.interval()) if estimate.defined else None
    return {
        "sampling_is_a_bound": estimate.sampling_is_a_bound,
        "standard_error": estimate.standard_error,
        "total_error": estimate.total_error,
        "interval": interval,
    }


def from_dict(data: Any) -> UstatisticEstimate:
    """Rebuild from plain data, which need not be trusted.

    Raises:
        ParameterError, DataError: this is no pairwise statistic that this version can read.
    """
    known = Fields.of(data, SCHEMA, _WHAT, _NEEDED)
    if data["method"] not in METHODS:
        raise DataError(f"the method of {_WHAT} must be one of {', '.join(METHODS)}")
    if not isinstance(data["clipped"], bool):
        raise DataError(f"the field 'clipped' of {_WHAT} must be true or false")
    columns, classes = _texts(data["columns"]), data["classes"]
    estimate = UstatisticEstimate(
        kernel=known.text("kernel"),
        columns=columns,
        method=data["method"],
        value=math.nan if data["value"] is None else _number(data, "value"),
        means=tuple(_mean(each) for each in _list(data, "means")),
        randomization_error=_error(data, "randomization_error"),
        sampling_error=None if data["sampling_error"] is None else _error(data, "sampling_error"),
        quantization=_error(data, "quantization"),
        limits=_limits(data["limits"]),
        bins=_sizes(data, "bins", least=1),
        records=_records(data["records"]),
        classes=None if classes is None else _sizes(data, "classes", least=0),
        clipped=data["clipped"],
        confidence_level=known.chance("confidence_level"),
        provenance=known.provenance(*(() if classes is None else columns[-1:])),
        null_variance=_error(data, "null_variance") if "null_variance" in data else None,
    )
    for found in (estimate, dataclasses.replace(estimate, taken_as_normal=True)):
        wrong = _contradiction(found, data)
        if wrong is None:
            return found
    raise DataError(f"the field {quoted(wrong)} of {_WHAT} contradicts the others")


def _contradiction(estimate: UstatisticEstimate, data: dict[str, Any]) -> str | None:
    """Which field does not follow from the rest: errors of all parts together or the interval, which people read."""
    for name, wanted in _derived(estimate).items():
        got = data[name]
        written, expected = ([each] if not isinstance(each, list) else each for each in (got, wanted))
        fits = len(written) == len(expected) and all(
            one is other or (is_number(one) and is_number(other) and math.isclose(one, other, rel_tol=1e-9))
            for one, other in zip(written, expected, strict=True)
        )
        if not fits:
            return name
    return None


def _list(data: dict[str, Any], name: str) -> list[Any]:
    values = data[name]
    if not isinstance(values, list) or len(values) > _MOST:
        raise DataError(f"the field {quoted(name)} of {_WHAT} must be a list of at most {_MOST}")
    return values


def _texts(values: Any) -> tuple[str, ...]:
    if not isinstance(values, list) or not 1 <= len(values) <= _MOST or not all(map(is_text, values)):
        raise DataError(f"the columns of {_WHAT} must be a list of short texts")
    return tuple(values)


def _number(data: dict[str, Any], name: str) -> float:
    value = data[name]
    if not is_number(value):
        raise DataError(f"the field {quoted(name)} of {_WHAT} must be a finite number, got {quoted(value)}")
    return float(value)


def _error(data: dict[str, Any], name: str) -> float:
    value = _number(data, name)
    if value < 0:
        raise DataError(f"the field {quoted(name)} of {_WHAT} must be at least 0")
    return value


def _mean(data: Any) -> KernelMean:
    if not isinstance(data, dict) or set(data) != {"kernel", "value", "randomization_error"}:
        raise DataError(f"the means of {_WHAT} must be objects with 'kernel', 'value' and 'randomization_error'")
    if not is_text(data["kernel"]):
        raise DataError(f"the kernel of a mean of {_WHAT} must be a short text")
    error = _error(data, "randomization_error")
    return KernelMean(data["kernel"], _number(data, "value"), error)


def _limits(values: Any) -> tuple[float, float]:
    if not isinstance(values, list) or len(values) != 2 or not all(end is None or is_number(end) for end in values):
        raise DataError(f"the limits of {_WHAT} must be two numbers, or null where there is none")
    low = -math.inf if values[0] is None else float(values[0])
    high = math.inf if values[1] is None else float(values[1])
    if not low <= high:
        raise DataError(f"the limits of {_WHAT} must not decrease")
    return low, high


def _sizes(data: dict[str, Any], name: str, *, least: int) -> tuple[int, ...]:
    values = _list(data, name)
    if not all(is_whole(value) and value >= least for value in values):
        raise DataError(f"the field {quoted(name)} of {_WHAT} must be a list of whole numbers from {least}")
    return tuple(values)


def _records(value: Any) -> int | None:
    if value is not None and not (is_whole(value) and value >= 0):
        raise DataError(f"the records of {_WHAT} must be a number of records or null")
    return value
