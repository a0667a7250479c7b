"""`ogive bounds`: bounds of a column whose range nobody knows, found privately."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from ogive.cli.options.common import NO_BOOKS, NOTHING_GRANTED, TABLE, BudgetOptions, OutputOptions, PrivacyOptions
from ogive.cli.paying import release_and_publish

MEASURED = Group("What is measured", sort_key=1)


def bounds(
    data: Path,
    /,
    *,
    column: Annotated[str, Parameter(group=MEASURED)],
    smallest: Annotated[str | None, Parameter(group=MEASURED)] = None,
    largest: Annotated[str | None, Parameter(group=MEASURED)] = None,
    base: Annotated[str, Parameter(group=MEASURED)] = "2",
    missing: Annotated[Literal["refuse", "low", "high", "drop"], Parameter(group=MEASURED)] = "refuse",
    granted: PrivacyOptions = NOTHING_GRANTED,
    budget: BudgetOptions = NO_BOOKS,
    output: OutputOptions = TABLE,
) -> None:
    """Find bounds of one column privately, to use as --bounds of other commands; it is paid for like them.

    Args:
        data: A CSV, TSV (gzipped or not), Parquet or Arrow file.
        column: Name of the column of numbers.
        smallest: Smallest magnitude that matters, public; 2^-20 by default.
        largest: Largest magnitude that matters, public; 2^63 by default.
        base: Bounds are found within this factor.
        missing: What a missing value means: an error, the lower bound, the upper bound, or not counted.
        granted: Privacy, adjacency and trust.
        budget: Whose records, and the account that pays.
        output: Where the result goes.
    """
    from ogive.statistics import Bounds

    magnitudes: dict[str, Any] = {"smallest": smallest, "largest": largest}
    said = {name: value for name, value in magnitudes.items() if value is not None}
    statistic = Bounds(column, base=_number(base), missing=missing, **{name: _number(v) for name, v in said.items()})
    release_and_publish(statistic, data, granted=granted, budget=budget, output=output)


def _number(text: str) -> Any:
    """A number as it is written; the library says what is wrong with a word."""
    try:
        return float(text)
    except ValueError:
        return text
