"""`ogive calibration`: whether predicted probabilities agree with what happened."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from ogive.cli.converters import whole
from ogive.cli.options.classes import ClassOptions
from ogive.cli.options.common import (
    NO_BOOKS,
    NOTHING_GRANTED,
    TABLE,
    BudgetOptions,
    OutputOptions,
    Plot,
    PrivacyOptions,
)
from ogive.cli.paying import release_and_publish
from ogive.errors import ParameterError, quoted

MEASURED = Group("What is measured", sort_key=1)


def calibration(
    data: Path,
    /,
    *,
    probability: Annotated[str, Parameter(group=MEASURED)],
    groups: Annotated[int, Parameter(group=MEASURED, converter=whole)] = 10,
    bins: Annotated[int, Parameter(group=MEASURED, converter=whole)] = 1024,
    missing: Annotated[Literal["refuse", "low", "high"], Parameter(group=MEASURED)] = "refuse",
    degrees_of_freedom: str | None = None,
    form: Literal["difference", "counts"] = "difference",
    split: str | None = None,
    method: str = "auto",
    classes: ClassOptions,
    granted: PrivacyOptions = NOTHING_GRANTED,
    budget: BudgetOptions = NO_BOOKS,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Test whether predicted probabilities agree with labels (Hosmer and Lemeshow), group by group.

    Args:
        data: A CSV, TSV (gzipped or not), Parquet or Arrow file.
        probability: Name of the column with the predicted probability of the positive class, from 0 to 1.
        groups: Number of groups of about equally many records.
        bins: Number of thresholds among which the groups' ends are chosen.
        missing: What a missing probability means: an error, 0 (low) or 1 (high).
        degrees_of_freedom: Of the chi-square reference: by default one for each group; fitted for two fewer, where
            the model was fitted on these records; or a number.
        form: difference: noise on observed minus expected counts. counts: the same noise on all four.
        split: Share of the privacy that finds the groups, between 0 and 1; by default the best one.
        method: How the groups are found: auto, path, tree_ls, hat_ls or sqrt.
        classes: Label and classes.
        granted: Privacy, adjacency and trust.
        budget: Whose records, and the account that pays.
        output: Where the result goes.
        plot: A picture of the groups: predicted against observed.
    """
    from ogive.statistics import HosmerLemeshow

    arguments: dict[str, Any] = {"split": split} if split is not None else {}
    statistic = HosmerLemeshow(
        probability,
        classes.label,
        groups=groups,
        bins=bins,
        missing=missing,
        df=_freedom(degrees_of_freedom),
        form=form,
        method=method,
        **classes.arguments(),
        **arguments,
    )
    release_and_publish(statistic, data, granted=granted, budget=budget, output=output, plot=plot)


def _freedom(word: str | None) -> int | str | None:
    if word is None or word == "fitted":
        return word
    try:
        return int(word)
    except ValueError:
        raise ParameterError(f"--degrees-of-freedom must be fitted or a whole number, got {quoted(word)}") from None
