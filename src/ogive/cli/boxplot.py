"""`ogive boxplot`: a box for all records, or one for each group."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ogive.cli.options import (
    NO_BOOKS,
    NOTHING_GRANTED,
    TABLE,
    BudgetOptions,
    MeasureOptions,
    OutputOptions,
    Plot,
    PrivacyOptions,
    whole,
)
from ogive.cli.paying import release_and_publish
from ogive.cli.wording import in_options

if TYPE_CHECKING:
    from ogive.queries import LabelValue


def boxplot(
    data: Path,
    /,
    *,
    by: str | None = None,
    groups: Annotated[tuple[str, ...], Parameter(consume_multiple=True, show_default=False)] = (),
    method: Literal["resample", "five_numbers"] = "resample",
    curve: str = "auto",
    public_groups: bool = False,
    shares: Annotated[tuple[str, str, str, str, str] | None, Parameter(show_default=False)] = None,
    beyond: Annotated[int, Parameter(converter=whole)] = 0,
    expected_records: Annotated[int | None, Parameter(converter=whole)] = None,
    measure: MeasureOptions,
    granted: PrivacyOptions = NOTHING_GRANTED,
    budget: BudgetOptions = NO_BOOKS,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Release a boxplot of one column, all records in one box or a box for each group.

    Args:
        data: A CSV, TSV (gzipped or not), Parquet or Arrow file.
        by: Column that says which group a record belongs to.
        groups: All values of that column, public; also those that no record has.
        method: resample: box, whiskers and outliers of one private curve. five_numbers: both ends and the three
            quartiles, found one by one; no outliers.
        curve: How resample releases the curve; a method of ogive ecdf.
        public_groups: Everybody may know each record's group; only the value is hidden, with less noise.
        shares: Of the budget of five_numbers, for the lower end, the three quartiles and the upper end; a fifth
            each by default.
        beyond: How many records may lie beyond each end of five_numbers.
        expected_records: A public guess of the number of all records, where that number is private.
        measure: Column, thresholds and missing values.
        granted: Privacy, adjacency and trust.
        budget: Whose records, and the account that pays.
        output: Where the result goes.
        plot: A picture of the boxes.
    """
    from ogive.statistics import Boxplot

    more: dict[str, Any] = {} if shares is None else {"shares": shares}
    statistic = Boxplot(
        measure.column,
        by=by,
        groups=tuple(map(_group, groups)) if groups else None,
        method=method,
        curve=curve,
        public_groups=public_groups,
        beyond=beyond,
        expected_records=expected_records,
        **more,
        **measure.arguments(),
    )
    release_and_publish(statistic, data, granted=granted, budget=budget, output=output, plot=plot, table=_told)


def _group(word: str) -> LabelValue:
    """What a word stands for: the number or truth value that it writes, which is also the text, or a text."""
    if word in ("true", "false"):
        return word == "true"
    for kind in (int, float):
        try:
            number = kind(word)
        except ValueError:
            continue
        if str(number) == word and math.isfinite(number):
            return number
    return word


def _told(estimate: Any) -> str:
    return in_options(str(estimate))
