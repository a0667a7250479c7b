"""`ogive ustat`: a statistic of pairs of records, by a curator or from local reports."""

from __future__ import annotations

from pathlib import Path

from ogive.cli.options.common import (
    NO_BOOKS,
    NOTHING_GRANTED,
    TABLE,
    BudgetOptions,
    OutputOptions,
    Plot,
    PrivacyOptions,
)
from ogive.cli.options.pairing import ANY_PAIRS, PairingOptions
from ogive.cli.options.trees import ANY_TREE, TreeOptions
from ogive.cli.options.ustatistic import GINI, UstatOptions
from ogive.cli.paying import release_and_publish
from ogive.errors import ParameterError


def ustat(
    data: Path,
    /,
    *,
    measure: UstatOptions = GINI,
    tree: TreeOptions = ANY_TREE,
    pairing: PairingOptions = ANY_PAIRS,
    granted: PrivacyOptions = NOTHING_GRANTED,
    budget: BudgetOptions = NO_BOOKS,
    output: OutputOptions = TABLE,
    plot: Plot = None,
) -> None:
    """Release a statistic of pairs of records: Gini, Kendall's tau, an AUC, collision entropy.

    Args:
        data: A CSV, TSV (gzipped or not), Parquet or Arrow file.
        measure: Columns, kernel and what values may be.
        tree: What a tree of an AUC leaves open.
        pairing: What pairs of people leave open.
        granted: Privacy, adjacency and trust.
        budget: Whose records, and the account that pays.
        output: Where the result goes.
        plot: A picture of the value and its intervals.
    """
    from ogive.statistics import Ustatistic

    if granted.trust == "clear" and measure.method not in ("auto", "kernel"):
        raise ParameterError(f"--trust clear shows the exact value, so leave out --method {measure.method}")
    statistic = Ustatistic(**measure.arguments() | tree.arguments(measure.method, pairing))
    release_and_publish(statistic, data, granted=granted, budget=budget, output=output, plot=plot)
