"""Areas between groups as JSON: exact, versioned, and safe to read from strangers."""

from __future__ import annotations

import math
from typing import Any

from ogive.columns import Binning, Domain, Listed
from ogive.errors import DataError, ParameterError, plain
from ogive.statistics.group_auc.estimate import MOST_CELLS, Area, GroupAucEstimate
from ogive.statistics.plain_json import Fields
from ogive.statistics.stated_price import check_query
from ogive.statistics.sums import measured as sums
from ogive.statistics.sums.stored import check_number_of_values, read_measured

_NEEDED = ("score", "group", "label", "positive_when", "measured", "confidence_level", "provenance")


def to_dict(estimate: GroupAucEstimate) -> dict[str, Any]:
    """Plain data of areas; the results follow from what was measured, and are there for other programs."""
    provenance = estimate.provenance
    return {
        "schema": estimate.schema,
        "score": estimate.score.to_dict(),
        "group": estimate.group.to_dict(),
        "label": estimate.label.to_dict(),
        "positive_when": estimate.positive_when,
        "measured": sums.to_dict(estimate.measured),
        "confidence_level": estimate.confidence_level,
        "results": {
            "groups": list(estimate.names),
            "sizes": [list(each) for each in estimate.sizes],
            "areas": [[_area(each) for each in row] for row in estimate.table()],
        },
        "provenance": None if provenance is None else provenance.to_dict(),
    }


def from_dict(data: Any) -> GroupAucEstimate:
    """Rebuild from plain data, which need not be trusted.

    Raises:
        ParameterError, DataError: these are no areas that this version can read.
    """
    known = Fields.of(data, GroupAucEstimate.schema, "areas between groups", _NEEDED)
    provenance = known.provenance()
    try:
        score = Binning.from_dict(_column("score", ("column", "grid", "missing", "outside"), known))
        group = Listed.from_dict(_column("group", ("column", "values", "other", "missing"), known))
        label = known.label()
        size = Domain((score, group, label)).check_size(MOST_CELLS)
        measured = read_measured(data["measured"], known, size=size, forms=("cells",))
        check_number_of_values(measured, known, size)
        estimate = GroupAucEstimate(
            score,
            group,
            label,
            measured,
            positive_when=known.text("positive_when"),
            confidence_level=known.chance("confidence_level"),
            provenance=provenance,
        )
        query = estimate.query
    except ParameterError as problem:
        raise DataError(f"{known.what} contradict themselves: {plain(problem)}") from None
    check_query(provenance, query, measured.adjacency)
    return estimate


def _column(name: str, needed: tuple[str, ...], known: Fields) -> dict[str, Any]:
    data = known.data[name]
    if not isinstance(data, dict) or set(data) != set(needed):
        raise DataError(f"the {name} of {known.what} must have {', '.join(needed)}, and nothing else")
    return data


def _area(area: Area) -> dict[str, float | None]:
    return {"value": area.value if math.isfinite(area.value) else None, "low": area.low, "high": area.high}
