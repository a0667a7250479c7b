"""`ogive boxplot`: a box for all records, or one for each group."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ogive.cli.options.boxplot import ONE_BOX, BoxOptions
from ogive.cli.options.common import (
    NO_BOOKS,
    NOTHING_GRANTED,
    TABLE,
    BudgetOptions,
    MeasureOptions,
    OutputOptions,
    Plot,
    PrivacyOptions,
)
from ogive.cli.paying import release_and_publish
from ogive.cli.wording import in_options
from ogive.errors import ParameterError

if TYPE_CHECKING:
    from ogive.statistics.boxplot.estimate import Boxplots


def boxplot(
    data: Path,
    /,
    *,
    boxes: BoxOptions = ONE_BOX,
    measure: MeasureOptions,
    granted: PrivacyOptions = NOTHING_GRANTED,
    budget: BudgetOptions = NO_BOOKS,
    output: OutputOptions = TABLE,
    plot: Plot = None,
    violins: bool = False,
) -> None:
    """Release a boxplot of one column, all records in one box or a box for each group.

    Args:
        data: A CSV, TSV (gzipped or not), Parquet or Arrow file.
        boxes: Groups and method.
        measure: Column, thresholds and missing values.
        granted: Privacy, adjacency and trust.
        budget: Whose records, and the account that pays.
        output: Where the result goes.
        plot: A picture of the boxes.
        violins: Let --plot draw violins: their width is the slope of the released curves.
    """
    from ogive.statistics import Boxplot

    if violins and plot is None:
        raise ParameterError("--violins says how --plot draws, so name a picture, for example --plot boxes.png")
    if violins and boxes.method == "five_numbers":
        raise ParameterError("--violins needs a whole curve, which --method resample releases")
    boxes.check()
    statistic = Boxplot(measure.column, **boxes.arguments(), **measure.arguments())
    release_and_publish(
        statistic,
        data,
        granted=granted,
        budget=budget,
        output=output,
        plot=plot,
        table=_told,
        picture=_violins if violins else None,
    )


def _violins(estimate: Boxplots, ax: Any) -> Any:
    return estimate.plot(ax, kind="violin")


def _told(estimate: Boxplots) -> str:
    return in_options(str(estimate))
