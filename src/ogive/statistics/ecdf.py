"""The share of records at or below each public threshold."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Protocol, TypeVar

from ogive.errors import ParameterError, UnsupportedError
from ogive.grids import Bound, Grid
from ogive.queries import Answer, Binning, CurveQuery, Query
from ogive.smoothing import DEFAULT_SMOOTHING, SMOOTHINGS, smooth, unsmoothable
from ogive.statistics.base import Terms
from ogive.statistics.curve import Curve
from ogive.statistics.methods import METHODS, choose
from ogive.strategies import Strategy
from ogive.strategies.base import Approximating

DEFAULT_BINS = 1024


def make_grid(bounds: tuple[Bound, Bound] | None, bins: int, grid: Grid | str) -> Grid:
    """The grid that a user described by bounds and bins, or gave.

    Args:
        bounds: Smallest and largest possible value; needed unless `grid` is a Grid.
        bins: Number of thresholds, for linear and geometric grids.
        grid: "linear", "geometric", "integers", or a Grid to take as it is.

    Raises:
        ParameterError: the description is incomplete or contradicts itself.
    """
    if isinstance(grid, Grid):
        if bounds is not None:
            raise ParameterError("give either bounds or a grid with its own thresholds, not both")
        return grid
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ParameterError(
            "say which values are possible, for example bounds=(0, 120); bounds are public, never read from records"
        )
    match grid:
        case "linear":
            return Grid.linear(*bounds, bins=bins)
        case "geometric":
            return Grid.geometric(*bounds, bins=bins)
        case "integers":
            return Grid.integers(*bounds)
        case _:
            raise ParameterError(f"grid must be linear, geometric, integers or a Grid, got {grid!r}")


DesignedT = TypeVar("DesignedT", bound="Designed")


class Designed(Protocol):
    """A statistic that may carry a strategy designed by hand."""

    @property
    def method(self) -> str | Strategy:
        """Name of a method, or a strategy."""
        ...


def by_hand(statistic: DesignedT) -> dict[str, DesignedT]:
    """The statistic itself, named by hand, where its method is a strategy and not a name."""
    method = statistic.method
    return {} if isinstance(method, str) else {f"{method.name} by hand": statistic}


@dataclass(frozen=True)
class Ecdf:
    """Empirical distribution function of one column on a public grid.

    Fields:
        column: Numeric or temporal column.
        bounds: Smallest and largest possible value, public; values outside are clipped.
        bins: Number of thresholds.
        grid: "linear", "geometric", "integers", or a `Grid` instead of bounds and bins.
        method: "auto" (smallest predicted error), "path" (the paper's), "tree_ls", "hat_ls", "sqrt",
            or a strategy designed by hand, for example `design_path(1024, ..., constants="paper")`.
        smooth: "auto" ("shrinkage"), "shrinkage", "least_squares", "least_absolute" or "isotonic".
        missing: What a missing value means; see `Binning`.
    """

    name: ClassVar[str] = "ecdf"

    column: str
    bounds: tuple[Bound, Bound] | None = None
    _: KW_ONLY
    bins: int = DEFAULT_BINS
    grid: Grid | str = "linear"
    method: str | Strategy = "auto"
    smooth: str = "auto"
    missing: str = "refuse"

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        if not isinstance(self.column, str):
            raise ParameterError(f"column must be a column's name, got {self.column!r}")
        self.binning()
        if not isinstance(self.method, str | Strategy):
            raise ParameterError(f"method must be a name or a strategy, got {self.method!r}")
        if isinstance(self.method, str) and self.method not in ("auto", *METHODS):
            raise ParameterError(f"method must be auto or one of {', '.join(METHODS)}, got {self.method!r}")
        if self.smooth not in ("auto", *SMOOTHINGS):
            raise ParameterError(f"smooth must be auto or one of {', '.join(SMOOTHINGS)}, got {self.smooth!r}")
        if not isinstance(self.method, str):
            reason = unsmoothable(self.method, self.smooth)
            if reason is not None:
                raise ParameterError(reason)

    def binning(self) -> Binning:
        """How a record becomes the number of a bin."""
        return Binning(self.column, make_grid(self.bounds, self.bins, self.grid), self.missing)

    def canonical(self) -> Ecdf:
        """The one spelling that stands for all of the same question: the grid itself, and no "auto" smoothing."""
        grid = self.binning().grid
        smooth = DEFAULT_SMOOTHING if self.smooth == "auto" else self.smooth
        return dataclasses.replace(self, bounds=None, bins=grid.bins, grid=grid, smooth=smooth)

    def alternatives(self) -> dict[str, Ecdf]:
        """One for each method, and one for a strategy designed by hand."""
        return {name: dataclasses.replace(self, method=name) for name in METHODS} | by_hand(self)

    def questions(self, terms: Terms) -> Generator[Query, Answer, Curve]:
        """Ask once for the noisy measurements and turn them into a valid curve.

        Privacy: one measurement at the whole of `terms.privacy`; smoothing is post-processing.
        """
        binning = self.binning()
        strategy = choose(
            binning.grid.bins,
            terms.privacy,
            terms.adjacency,
            self.method,
            lambda candidate: unsmoothable(candidate, self.smooth) or terms.refusal(CurveQuery(binning, candidate)),
            rows=terms.unit.max_rows_per_person,
        )
        answer = yield CurveQuery(binning, strategy)
        return curve_from(answer, binning, strategy, terms, self.smooth)


def curve_from(answer: Answer, binning: Binning, strategy: Strategy, terms: Terms, smoothing: str) -> Curve:
    """Turn noisy measurements into a curve; post-processing.

    What was paid for is never lost: where a solver cannot certify its result, or a strategy has a shape that
    it refuses, the curve is made valid by isotonic regression, and says so.
    """
    kind = DEFAULT_SMOOTHING if smoothing == "auto" else smoothing
    strategy = answer.noise_of(strategy)
    raw = cumulative = strategy.estimate(answer.values, answer.total)
    if answer.noisy:
        try:
            cumulative = smooth(strategy, answer.values, total=answer.total, kind=kind)
        except (ArithmeticError, UnsupportedError):
            kind = "isotonic"
            cumulative = smooth(strategy, answer.values, total=answer.total, kind=kind)
    return Curve(
        grid=binning.grid,
        cumulative=cumulative,
        raw=raw,
        strategy=strategy if answer.noisy else None,
        adjacency=terms.adjacency,
        total=answer.total,
        smoothing=kind if answer.noisy else "none",
        column=binning.column,
        measured=answer.values if answer.noisy and isinstance(strategy, Approximating) else None,
    )
