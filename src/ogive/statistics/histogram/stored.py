"""A histogram as JSON: exact, versioned, and safe to read from strangers."""

from __future__ import annotations

import math
from typing import Any

from ogive.columns import MAX_LISTED, OpenCategories
from ogive.errors import DataError, ParameterError, plain
from ogive.noise import DiscreteLaplace
from ogive.queries.discovery import LARGEST_THRESHOLD
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.plain_json import Fields
from ogive.statistics.sums import measured as sums
from ogive.statistics.sums.stored import check_cost, read_table, read_values

_NEEDED = ("column", "values", "measured", "other", "missing", "confidence_level", "provenance")


def to_dict(estimate: HistogramEstimate) -> dict[str, Any]:
    """Plain data of a histogram; the results follow from what was measured, and are there for other programs."""
    provenance, defined = estimate.provenance, estimate.defined
    undefined = [None] * len(estimate.categories)
    return {
        "schema": estimate.schema,
        "column": estimate.column,
        "values": list(estimate.values),
        "measured": sums.to_dict(estimate.measured),
        "other": estimate.other,
        "missing": estimate.missing,
        **({} if estimate.threshold is None else {"threshold": estimate.threshold}),
        "confidence_level": estimate.confidence_level,
        "results": {
            "categories": list(estimate.categories),
            "counts": list(estimate.counts),
            "noise_errors": list(estimate.noise_errors),
            "count_intervals": [ends(each) for each in estimate.count_intervals()],
            "shares": list(estimate.shares) if defined else undefined,
            "standard_errors": list(estimate.standard_errors) if defined else undefined,
            "intervals": [list(each) for each in estimate.intervals()] if defined else undefined,
        },
        "provenance": None if provenance is None else provenance.to_dict(),
    }


def from_dict(data: Any) -> HistogramEstimate:
    """Rebuild from plain data, which need not be trusted.

    Raises:
        ParameterError, DataError: this is no histogram that this version can read.
    """
    known = Fields.of(data, HistogramEstimate.schema, "a histogram", _NEEDED)
    values = read_values(data["values"], known)
    other, missing = known.text("other"), known.text("missing")
    size = len(values) + (other == "count") + (missing == "count")
    provenance = known.provenance()
    threshold = known.whole("threshold", 1, LARGEST_THRESHOLD) if "threshold" in data else None
    try:
        estimate = HistogramEstimate(
            known.text("column"),
            read_table(data["measured"], known, size),
            values=values,
            other=other,
            missing=missing,
            confidence_level=known.chance("confidence_level"),
            provenance=provenance,
            threshold=threshold,
        )
        if threshold is None:
            _ = estimate.listed
        else:
            _check_found(estimate, known)
        query = estimate.query
    except ParameterError as problem:
        raise DataError(f"{known.what} contradicts itself: {plain(problem)}") from None
    check_cost(provenance, query, estimate.measured, known)
    return estimate


def _check_found(estimate: HistogramEstimate, known: Fields) -> None:
    """Refuse categories that could not have been found.

    Raises:
        ParameterError, DataError: they could not.
    """
    measured, values = estimate.measured, estimate.values
    OpenCategories(estimate.column, estimate.missing)
    counted = measured.form == "cells" and measured.bits == 0 and estimate.other == "refuse"
    if not counted or (measured.law is not None and not isinstance(measured.law, DiscreteLaplace)):
        raise DataError(f"the categories of {known.what} were found, so they are whole counts with Laplace noise")
    if min(measured.values[: len(values)]) < (estimate.threshold or 0):
        raise DataError(f"{known.what} has a category that was found with fewer records than the threshold")
    if len(set(values)) < len(values) or len(values) > MAX_LISTED:
        raise DataError(f"the categories of {known.what} must be at most {MAX_LISTED}, each of them once")


def ends(interval: tuple[float, float]) -> list[float | None]:
    """Both ends of an interval; None where there is no bound."""
    return [each if math.isfinite(each) else None for each in interval]
