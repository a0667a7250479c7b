"""`ogive quantiles`: quantiles with simultaneous intervals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ogive.cli.options.common import (
    DECILES,
    NO_BOOKS,
    NOTHING_GRANTED,
    TABLE,
    BudgetOptions,
    MeasureOptions,
    OutputOptions,
    PrivacyOptions,
    Probabilities,
)
from ogive.cli.options.methods import ANY_METHOD, MethodOptions
from ogive.cli.paying import release_and_publish

if TYPE_CHECKING:
    from ogive.grids import Grid
    from ogive.statistics.quantiles.estimate import QuantileEstimates


def quantiles(
    data: Path,
    /,
    *,
    probabilities: Probabilities = DECILES,
    measure: MeasureOptions,
    method: MethodOptions = ANY_METHOD,
    granted: PrivacyOptions = NOTHING_GRANTED,
    budget: BudgetOptions = NO_BOOKS,
    output: OutputOptions = TABLE,
) -> None:
    """Release quantiles of one column, with intervals that hold for all of them at once.

    Args:
        data: A CSV, TSV (gzipped or not), Parquet or Arrow file.
        probabilities: Which quantiles, each between 0 and 1; the nine deciles by default. The price does not
            depend on how many.
        measure: Column, thresholds and missing values.
        method: How the curve is measured that quantiles are read off, or bisection (opens only the points it visits).
        granted: Privacy, adjacency and trust.
        budget: Whose records, and the account that pays.
        output: Where the result goes.
    """
    from ogive.statistics import Quantiles

    statistic = Quantiles(measure.column, probabilities, **measure.arguments(), **method.arguments())
    release_and_publish(statistic, data, granted=granted, budget=budget, output=output, table=_with_clipping)


def _with_clipping(estimates: QuantileEstimates) -> str:
    return f"{estimates}\n{_clipping(estimates.grid)}"


def _clipping(grid: Grid) -> str:
    low, high = (f"{end:.6g}" if isinstance(end, float) else str(end) for end in map(grid.label, (grid.low, grid.high)))
    return f"values outside {low} to {high} count as the nearer end, so no interval reaches beyond"
