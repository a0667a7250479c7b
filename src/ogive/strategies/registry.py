"""The list of strategies, and a strategy read from plain data by its name."""

from __future__ import annotations

from typing import Any

from ogive.errors import ParameterError, quoted
from ogive.strategies.base import Strategy
from ogive.strategies.hats.strategy import LeastSquaresHats
from ogive.strategies.histogram import GroupedHistogram
from ogive.strategies.path.strategy import PathNoise
from ogive.strategies.people import CountedPeople
from ogive.strategies.projection.strategy import OrthogonalProjection
from ogive.strategies.reported import ReportedHistogram, ReportedTree
from ogive.strategies.ring import RingRoot
from ogive.strategies.square_root import SquareRoot
from ogive.strategies.summed import SummedApproximations, SummedStrategies
from ogive.strategies.symmetric_root import SymmetricRoot
from ogive.strategies.thresholds import OpenedThresholds
from ogive.strategies.tree import LeastSquaresTree

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
