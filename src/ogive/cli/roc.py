"""`ogive roc`: how well a score tells two classes apart."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ogive.cli.options.classes import ClassOptions
from ogive.cli.options.common import (
    NO_BOOKS,
    NOTHING_GRANTED,
    TABLE,
    BudgetOptions,
    OutputOptions,
    Plot,
    PrivacyOptions,
    ScoreOptions,
)
from ogive.cli.paying import release_and_publish
from ogive.cli.wording import in_options

if TYPE_CHECKING:
    from ogive.statistics.roc.estimate import RocEstimate


def roc(
    data: Path,
    /,
    *,
    positive_when: Literal["high", "low"] = "high",
    public_labels: bool | None = None,
    division: Literal["joint", "split"] = "joint",
    method: str = "auto",
    smooth: str = "auto",
    measure: ScoreOptions,
    classes: ClassOptions,
    granted: PrivacyOptions = NOTHING_GRANTED,
    budget: BudgetOptions = NO_BOOKS,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Release the ROC curve of a score, with its AUC.

    Args:
        data: A CSV, TSV (gzipped or not), Parquet or Arrow file.
        positive_when: Which scores speak for the positive class.
        public_labels: Everybody may know each record's class, which --public declares and then is the default; only
            the score is hidden, with less noise.
        division: joint: one price covers both classes. split: half of it for each, as in the paper.
        method: auto (smallest predicted error), path, tree_ls, hat_ls or sqrt.
        smooth: auto, shrinkage, least_squares, least_absolute or isotonic.
        measure: Score, thresholds and missing values.
        classes: Label and classes.
        granted: Privacy, adjacency and trust.
        budget: Whose records, and the account that pays.
        output: Where the result goes.
        plot: A picture of the curve and its band.
    """
    from ogive.statistics import Roc

    statistic = Roc(
        measure.score,
        classes.label,
        positive_when=positive_when,
        public_labels=public_labels,
        budget=division,
        method=method,
        smooth=smooth,
        **measure.arguments(),
        **classes.arguments(),
    )
    release_and_publish(statistic, data, granted=granted, budget=budget, output=output, plot=plot, table=_told)


def _told(estimate: RocEstimate) -> str:
    return in_options(str(estimate))
