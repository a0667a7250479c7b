"""`ogive ecdf`: a whole distribution function."""

from __future__ import annotations

from pathlib import Path

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
from ogive.cli.options.methods import ANY_METHOD, MethodOptions
from ogive.cli.paying import release_and_publish


def ecdf(
    data: Path,
    /,
    *,
    smooth: str = "auto",
    measure: MeasureOptions,
    method: MethodOptions = ANY_METHOD,
    granted: PrivacyOptions = NOTHING_GRANTED,
    budget: BudgetOptions = NO_BOOKS,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Release the whole distribution function of one column.

    Args:
        data: A CSV, TSV (gzipped or not), Parquet or Arrow file.
        smooth: auto, shrinkage, least_squares, least_absolute or isotonic.
        measure: Column, thresholds and missing values.
        method: How it is measured.
        granted: Privacy, adjacency and trust.
        budget: Whose records, and the account that pays.
        output: Where the result goes.
        plot: A picture of the curve and its band.
    """
    from ogive.statistics import Ecdf

    statistic = Ecdf(measure.column, smooth=smooth, **measure.arguments(), **method.arguments())
    release_and_publish(statistic, data, granted=granted, budget=budget, output=output, plot=plot)
