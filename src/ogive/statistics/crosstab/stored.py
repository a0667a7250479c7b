"""A cross table as JSON: exact, versioned, and safe to read from strangers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ogive.errors import DataError, ParameterError, plain
from ogive.statistics.crosstab.estimate import CrosstabEstimate, of_both
from ogive.statistics.histogram.stored import ends
from ogive.statistics.plain_json import Fields, is_text
from ogive.statistics.sums import measured as sums
from ogive.statistics.sums.stored import check_cost, read_table, read_values

_NEEDED = ("row", "column", "rows", "columns", "measured", "other", "missing", "confidence_level", "provenance")


def to_dict(estimate: CrosstabEstimate) -> dict[str, Any]:
    """Plain data of a cross table; the results follow from what was measured, and are there for other programs."""
    provenance = estimate.provenance
    return {
        "schema": estimate.schema,
        "row": estimate.row,
        "column": estimate.column,
        "rows": list(estimate.rows),
        "columns": list(estimate.columns),
        "measured": sums.to_dict(estimate.measured),
        "other": estimate.other,
        "missing": estimate.missing if isinstance(estimate.missing, str) else dict(estimate.missing),
        "confidence_level": estimate.confidence_level,
        "results": {
            "row_names": list(estimate.row_names),
            "column_names": list(estimate.column_names),
            "counts": [_finite(row) for row in estimate.counts],
            "count_intervals": [[ends(each) for each in row] for row in estimate.count_intervals()],
            "row_totals": _finite(estimate.row_totals),
            "column_totals": _finite(estimate.column_totals),
            "row_shares": [_finite(row) for row in estimate.row_shares],
            "column_shares": [_finite(row) for row in estimate.column_shares],
        },
        "provenance": None if provenance is None else provenance.to_dict(),
    }


def from_dict(data: Any) -> CrosstabEstimate:
    """Rebuild from plain data, which need not be trusted.

    Raises:
        ParameterError, DataError: this is no cross table that this version can read.
    """
    known = Fields.of(data, CrosstabEstimate.schema, "a cross table", _NEEDED)
    rows, columns = (read_values(data[name], known) for name in ("rows", "columns"))
    other, missing = known.text("other"), _policies(known)
    provenance = known.provenance()
    try:
        policies = of_both(missing, known.text("row"), known.text("column"))
        sizes = [
            len(values) + (other == "count") + (policy == "count")
            for values, policy in zip((rows, columns), policies, strict=True)
        ]
        estimate = CrosstabEstimate(
            known.text("row"),
            known.text("column"),
            read_table(data["measured"], known, math.prod(sizes)),
            rows=rows,
            columns=columns,
            other=other,
            missing=missing,
            confidence_level=known.chance("confidence_level"),
            provenance=provenance,
        )
        _ = estimate.listed
        query = estimate.query
    except ParameterError as problem:
        raise DataError(f"{known.what} contradicts itself: {plain(problem)}") from None
    check_cost(provenance, query, estimate.measured, known)
    return estimate


def _policies(known: Fields) -> str | dict[str, str]:
    """What a missing value meant: a word, or one for each column."""
    given = known.data["missing"]
    if not isinstance(given, dict):
        return known.text("missing")
    if not all(is_text(each) for pair in given.items() for each in pair):
        raise DataError(f"the field 'missing' of {known.what} must be a short text, or one for each column")
    return given


def _finite(values: Iterable[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]
