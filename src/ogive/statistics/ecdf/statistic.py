"""The share of records at or below each public threshold."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, TypeVar, cast, get_args

from ogive.columns import Binning, Missing
from ogive.columns.grids import GRIDS, Bound, Grid, GridName
from ogive.core.checks import added, among, one_of
from ogive.errors import ParameterError, quoted
from ogive.queries import Answer, Query
from ogive.statistics.base import Terms
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.kinds import Command
from ogive.statistics.methods.base import CurveMethod, CurveTask, curve_from
from ogive.statistics.methods.choose import (
    CURVE_METHODS,
    METHODS,
    PEOPLE_METHODS,
    Method,
    as_method,
    check_expected,
    chosen,
    plain_smoothing,
    uncountable,
)
from ogive.strategies import Strategy
from ogive.strategies.smoothing import SMOOTHINGS, Smooth, automatic_smoothing, unsmoothable

DEFAULT_BINS = 1024

Counted = Literal["rows", "people"]
"""What a curve counts."""


def make_grid(bounds: tuple[Bound, Bound] | None, bins: int, grid: Grid | GridName) -> Grid:
    """The grid that a user described by bounds and bins, or gave."""
    if isinstance(grid, Grid):
        if bounds is not None:
            raise ParameterError("give either bounds or a grid with its own thresholds, not both")
        return grid
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ParameterError(
            "say which values are possible, for example `bounds=(0, 120)`; bounds are public, never read from records"
        )
    match grid:
        case "linear":
            return Grid.linear(*bounds, bins=bins)
        case "geometric":
            return Grid.geometric(*bounds, bins=bins)
        case "integers":
            return Grid.integers(*bounds)
        case "hours" | "days" | "weeks" | "months":
            return Grid.calendar(*bounds, every=grid)
        case _:
            raise ParameterError(f"`grid` must be {', '.join(GRIDS)} or a Grid, got {quoted(grid)}")


StatisticT = TypeVar("StatisticT")


def by_hand(statistic: StatisticT) -> dict[str, StatisticT]:
    """The statistic itself, named by hand, where its method is none of the named ones."""
    method = as_method(cast(Any, statistic).method)
    if isinstance(method, str) or method in CURVE_METHODS.values():
        return {}
    return {f"{method.name} by hand": statistic}


@dataclass(frozen=True)
class Ecdf:
    """Empirical distribution function of one column on a public grid.

    Fields:
        column: Numeric or temporal column.
        bounds: Smallest and largest possible value, public; values outside are clipped.
        bins: Number of thresholds, 1 to 2^24.
        grid: "linear", "geometric", "integers", for dates and times "hours", "days", "weeks" or "months", or a `Grid`
            instead of bounds and bins.
        method: "auto" (the smallest predicted error among the methods that fail on none of the public reference
            shapes); unbiased at every threshold: "path", "tree_ls", "hat_ls", "sqrt", "symmetric", "ring"; from a
            few measurements: "projection", "histogram", "adaptive", "selected"; from randomized reports, under trust
            local only: "reports" and "histogram"; one of these with options, for example `Projection(degree=20)`; or a
            strategy that you designed, for example `design_path(1024, ..., constants="paper")`.
        smooth: "auto" ("shrinkage", "isotonic" for a few measurements; with method "auto" also "density"), "shrinkage",
            "density", "least_squares", "least_absolute" or "isotonic".
        missing: What a missing value means: "refuse" (an error), "low" or "high" (the lower or the upper bound), a
            public value within the bounds, as which it counts, or "drop" (not counted; ADD_OR_REMOVE only).
        expected_records: A public guess of the number of records, for "auto" and the methods that need it, if that
            number is private. It is never taken from the records.
        counted: "rows", or "people": all rows of a person share one weight, so the noise is that of one row each, and
            the curve is that of a random row of a random person. It needs `person`; only who sees all rows of a person
            can count so, and `max_rows_per_person` has no effect.

    Example:
        >>> import numpy as np, ogive
        >>> ages = np.random.default_rng(1).integers(18, 90, size=20_000)
        >>> curve = ogive.ecdf(ages, bounds=(0, 120), bins=120, privacy=ogive.PureDP(1))
        >>> bool(abs(curve(65) - np.mean(ages <= 65)) < 0.02)
        True
    """

    name: ClassVar[str] = "ecdf"

    column: str
    bounds: tuple[Bound, Bound] | None = None
    _: KW_ONLY
    bins: int = DEFAULT_BINS
    grid: Grid | GridName = "linear"
    method: Method = "auto"
    smooth: Smooth = "auto"
    missing: Missing = one_of("refuse", "low", "high", "drop")
    expected_records: int | None = None
    counted: Counted = added("rows", words=get_args(Counted))

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        if not isinstance(self.column, str):
            raise ParameterError(f"`column` must be a column's name, got {quoted(self.column)}")
        object.__setattr__(self, "missing", self.binning().missing)
        as_method(self.method)
        among(self.smooth, "smooth", ("auto", *SMOOTHINGS))
        if isinstance(self.method, Strategy):
            reason = unsmoothable(self.method, self.smooth)
            if reason is not None:
                raise ParameterError(reason)
        check_expected(self.expected_records)
        among(self.counted, "counted", get_args(Counted))
        reason = uncountable(self.method) if self.counted == "people" else None
        if reason is not None:
            raise ParameterError(reason)

    def __getstate__(self) -> dict[str, Any]:
        """What copies and other processes get: the fields, without the thresholds of the grid."""
        return {name: value for name, value in vars(self).items() if name != "_binning"}

    def binning(self) -> Binning:
        """How a record is mapped to a bin."""
        binning: Binning | None = vars(self).get("_binning")
        if binning is None:
            binning = Binning(self.column, make_grid(self.bounds, self.bins, self.grid), self.missing)
            object.__setattr__(self, "_binning", binning)
        return binning

    def canonical(self) -> Ecdf:
        """The canonical form of the statistic: the grid itself, and methods with their options."""
        grid = self.binning().grid
        method = as_method(self.method)
        smooth = plain_smoothing(method, self.smooth)
        return dataclasses.replace(self, bounds=None, bins=grid.bins, grid=grid, smooth=smooth, method=method)

    def alternatives(self) -> dict[str, Ecdf]:
        """One statistic for each method, and one for a method or strategy that the user designed."""
        names = PEOPLE_METHODS if self.counted == "people" else METHODS
        return {name: dataclasses.replace(self, method=name) for name in names} | by_hand(self)

    def questions(self, terms: Terms) -> Generator[Query, Answer, Curve]:
        """Request noisy measurements (most methods do so once) and turn them into a valid curve.

        Privacy: all measurements together at most the whole of `terms.privacy`; smoothing is post-processing.
        """
        people = self.counted == "people"
        if people and terms.unit.person is None:
            raise ParameterError(
                "`counted='people'` needs `person`, the column with the person's identifier; without one, each record "
                "is a person, and `counted='rows'` says the same"
            )
        binning = self.binning()
        terms.check_cells(binning.grid.bins)
        task = CurveTask(binning, terms, self.smooth, self.expected_records, people)
        method = chosen(self.method, task)
        if isinstance(method, CurveMethod):
            return (yield from method.curve(task))
        query = task.query(method)
        answer = yield query
        strategy, smoothing = query.strategy, str(self.smooth)
        if self.method == smoothing == "auto":
            smoothing = automatic_smoothing(answer.noise_of(strategy), answer.values, answer.total)
        return curve_from(answer, binning, strategy, terms, smoothing, people=people)


# --- For the command line

OWNERS = {
    "missing": ("refuse", "low", "high"),
    "method": ("auto", "reports", "histogram"),
    "expected_records": (),
}
"""What is left of a curve's options where owners answer."""

OWNER_HELP = {
    "missing": "What a missing value means: an error, the lower bound, the upper bound, or the value that is named.",
    "method": "reports (the choice of auto): where in a hierarchy over all thresholds a value lies. histogram: in "
    "which of a few groups.",
}
"""Of a curve's options, in few words."""

HELP = {
    "missing": "What a missing value means: refuse (an error), low or high (the lower or the upper bound), a public "
    "value (within the bounds, as which it counts), or drop (not counted; --adjacency add_or_remove only).",
    "expected_records": "A public guess of the number of records; for auto and the methods that need it, if that "
    "number is private. It is never taken from the records.",
}

COUNTED = {
    "counted": "rows, or people: all rows of a person (--person) share one weight, so the noise is that of one row "
    "each and the curve that of a random row of a random person; --max-rows-per-person has no effect then.",
}
"""Of a curve alone."""

COMMAND = Command(
    help=HELP | COUNTED,
    groups={"counted": "Options of methods"},
    owners=OWNERS | {"counted": ()},
    owner_help=OWNER_HELP,
    compared="quantile",
)
