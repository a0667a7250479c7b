"""`ogive quantiles`: quantiles with simultaneous intervals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ogive.cli.options import NOTHING_GRANTED, TABLE, MeasureOptions, OutputOptions, PrivacyOptions
from ogive.cli.output import busy, check_outputs, publish

if TYPE_CHECKING:
    from ogive.grids import Grid

DECILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def quantiles(
    data: Path,
    /,
    *,
    probabilities: Annotated[tuple[float, ...], Parameter(consume_multiple=True, show_default=False)] = DECILES,
    method: str = "auto",
    measure: MeasureOptions,
    granted: PrivacyOptions = NOTHING_GRANTED,
    output: OutputOptions = TABLE,
) -> None:
    """Release quantiles of one column, with intervals that hold for all of them at once.

    Args:
        data: A CSV, TSV (gzipped or not), Parquet or Arrow file.
        probabilities: Which quantiles, each between 0 and 1; the nine deciles by default. The price does not
            depend on how many.
        method: auto (read off a whole curve), bisection (opens only the points it visits), or a method
            of ogive ecdf.
        measure: Column, thresholds and missing values.
        granted: Privacy, adjacency and trust.
        output: Where the result goes.
    """
    from ogive.privacy import Adjacency
    from ogive.releasing import release
    from ogive.statistics import Quantiles

    statistic = Quantiles(measure.column, probabilities, method=method, **measure.arguments())
    privacy = granted.privacy()
    model = granted.model()
    check_outputs(data, output.output)
    with busy(f"reading {data}"):
        estimates = release(statistic, trust=model(data), privacy=privacy, adjacency=Adjacency(granted.adjacency))
    publish(estimates.to_json, lambda: f"{estimates}\n{_clipping(estimates.grid)}", output)


def _clipping(grid: Grid) -> str:
    low, high = (f"{end:.6g}" if isinstance(end, float) else str(end) for end in map(grid.label, (grid.low, grid.high)))
    return f"values outside {low} to {high} count as the nearer end, so no interval reaches beyond"
