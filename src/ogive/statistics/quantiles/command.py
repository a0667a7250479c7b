"""What the command line cannot read off the fields of quantiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive.statistics.ecdf.command import HELP, OWNER_HELP, OWNERS
from ogive.statistics.options import Command

if TYPE_CHECKING:
    from ogive.grids import Grid
    from ogive.statistics.quantiles.estimate import QuantileEstimates


def _with_clipping(estimates: QuantileEstimates) -> str:
    return f"{estimates}\n{_clipping(estimates.grid)}"


def _clipping(grid: Grid) -> str:
    low, high = (f"{end:.6g}" if isinstance(end, float) else str(end) for end in map(grid.label, (grid.low, grid.high)))
    return f"values outside {low} to {high} are clipped to these bounds, so no interval extends beyond them"


COMMAND = Command(
    help=HELP
    | {
        "probabilities": "Which quantiles, each between 0 and 1; the nine deciles by default. The price does not "
        "depend on how many.",
        "method": (
            "A method of ogive ecdf, which releases a curve with all its quantiles, bisection, which opens only the "
            "points it visits, or a selection of up to nine quantiles: exponential each by itself, joint all together."
        ),
    },
    table=_with_clipping,
    owners=OWNERS,
    owner_help=OWNER_HELP,
    compared="quantile",
)
