"""Strategies: what is measured, with which noise, and how it becomes a distribution function."""

from typing import Any

from ogive.errors import ParameterError, quoted
from ogive.strategies.balanced_roots import RingRoot, SymmetricRoot, design_ring, design_symmetric_root
from ogive.strategies.base import Approximating, Level, Pointwise, Strategy
from ogive.strategies.composed import CountedPeople, SummedApproximations, SummedStrategies
from ogive.strategies.counts import GroupedHistogram, OpenedThresholds, design_histogram
from ogive.strategies.hats import LeastSquaresHats, design_hats
from ogive.strategies.path import PathNoise, design_path
from ogive.strategies.projection.strategy import OrthogonalProjection, design_projection
from ogive.strategies.reported import ReportedHistogram, ReportedTree, design_reports
from ogive.strategies.square_root import SquareRoot, design_square_root
from ogive.strategies.tree import LeastSquaresTree, design_tree

__all__ = [
    "Approximating",
    "CountedPeople",
    "GroupedHistogram",
    "LeastSquaresHats",
    "LeastSquaresTree",
    "Level",
    "OpenedThresholds",
    "OrthogonalProjection",
    "PathNoise",
    "Pointwise",
    "ReportedHistogram",
    "ReportedTree",
    "RingRoot",
    "SquareRoot",
    "Strategy",
    "SummedApproximations",
    "SummedStrategies",
    "SymmetricRoot",
    "design_hats",
    "design_histogram",
    "design_path",
    "design_projection",
    "design_reports",
    "design_ring",
    "design_square_root",
    "design_symmetric_root",
    "design_tree",
    "strategy_from_dict",
]

COMPOSED: tuple[Any, ...] = (CountedPeople, SummedApproximations, SummedStrategies)
"""Strategies made of others: their `from_dict` is given `strategy_from_dict` to read its parts with."""

STRATEGIES: tuple[Any, ...] = (
    GroupedHistogram,
    LeastSquaresHats,
    LeastSquaresTree,
    OpenedThresholds,
    OrthogonalProjection,
    PathNoise,
    ReportedHistogram,
    ReportedTree,
    RingRoot,
    SquareRoot,
    SymmetricRoot,
    *COMPOSED,
)


def strategy_from_dict(data: dict[str, Any]) -> Strategy:
    """Rebuild a strategy from its `to_dict`."""
    kinds = {kind.name: kind for kind in STRATEGIES}
    try:
        kind = kinds[data["name"]]
    except (KeyError, TypeError):
        raise ParameterError(
            f"a strategy's name must be one of {', '.join(sorted(kinds))}, got {quoted(data)}"
        ) from None
    try:
        strategy: Strategy = kind.from_dict(data, strategy_from_dict) if kind in COMPOSED else kind.from_dict(data)
    except KeyError as missing:
        raise ParameterError(f"a {data['name']} strategy lacks the field {missing}") from None
    return strategy
