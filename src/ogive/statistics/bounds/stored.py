"""Bounds as JSON: exact, versioned, and safe to read from strangers."""

from __future__ import annotations

from typing import Any

from ogive.errors import DataError
from ogive.statistics.bounds.estimate import BoundsEstimate
from ogive.statistics.curve import stored as curve_json
from ogive.statistics.plain_json import Fields, is_whole
from ogive.statistics.stated_price import check_price
from ogive.strategies import LeastSquaresTree

SCHEMA = BoundsEstimate.schema

_NEEDED = (
    "column", "grid", "counts", "strategy", "adjacency", "total", "false_alarm", "confidence_level", "low", "high",
    "provenance",
)  # fmt: skip


def to_dict(estimate: BoundsEstimate) -> dict[str, Any]:
    """Plain data of bounds; the ends and what lies outside follow from the counts."""
    defined, provenance = estimate.defined, estimate.provenance
    return {
        "schema": SCHEMA,
        "column": estimate.column,
        "grid": estimate.grid.to_dict(),
        "counts": list(estimate.counts),
        "strategy": None if estimate.strategy is None else estimate.strategy.to_dict(),
        "adjacency": estimate.adjacency.value,
        "total": estimate.total,
        "false_alarm": estimate.false_alarm,
        "confidence_level": estimate.confidence_level,
        **({} if estimate.beside is None else {"beside": estimate.beside}),
        "low": estimate.low if defined else None,
        "high": estimate.high if defined else None,
        "records_outside": estimate.records_outside,
        "provenance": None if provenance is None else provenance.to_dict(),
    }


def from_dict(data: Any) -> BoundsEstimate:
    """Rebuild from plain data, which need not be trusted.

    Raises:
        ParameterError, DataError: these are no bounds that this version can read.
    """
    known = Fields.of(data, SCHEMA, "bounds", _NEEDED)
    counts = data["counts"]
    if not isinstance(counts, list) or not counts or not all(map(is_whole, counts)):
        raise DataError("the field 'counts' of bounds must be a list of whole numbers")
    grid = curve_json.read_grid(data["grid"], len(counts))
    if grid.unit != "number":
        raise DataError("the grid of bounds must hold numbers")
    strategy = None if data["strategy"] is None else curve_json.read_strategy(data["strategy"], grid.bins)
    if strategy is not None and not (isinstance(strategy, LeastSquaresTree) and strategy.blocks == (1,)):
        raise DataError("the strategy of bounds must count every bin once")
    adjacency, provenance = known.adjacency(), known.provenance()
    check_price(provenance, [(strategy, adjacency)])
    estimate = BoundsEstimate(
        column=known.text("column"),
        grid=grid,
        counts=tuple(counts),
        strategy=strategy,
        adjacency=adjacency,
        total=known.total(),
        false_alarm=known.chance("false_alarm"),
        confidence_level=known.chance("confidence_level"),
        provenance=provenance,
        beside=known.chance("beside") if "beside" in data else None,
    )
    if (data["low"], data["high"]) != ((estimate.low, estimate.high) if estimate.defined else (None, None)):
        raise DataError("the bounds contradict the counts they were read from")
    return estimate
