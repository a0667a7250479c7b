"""`ogive boxplot`: a box for all records, or one for each group."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ogive.cli.box_options import BoxOptions
from ogive.cli.options import (
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

if TYPE_CHECKING:
    from ogive.statistics.boxplot_estimate import Boxplots

ONE_BOX = BoxOptions()


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
    """
    from ogive.statistics import Boxplot

    statistic = Boxplot(measure.column, **boxes.arguments(), **measure.arguments())
    release_and_publish(statistic, data, granted=granted, budget=budget, output=output, plot=plot, table=_told)


def _told(estimate: Boxplots) -> str:
    return in_options(str(estimate))
