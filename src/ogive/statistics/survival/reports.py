"""Survival where nobody but the owners sees records: one report of each on its class and time together.

The classes are the first branches of one hierarchy and thresholds lie below, so that each node belongs to one class and
the noise of different classes is independent. Whoever is asked for the class alone, on the levels above, adds nothing.
"""

from __future__ import annotations

from collections.abc import Generator
from fractions import Fraction

import numpy as np

from ogive.columns import Binning, Domain, Listed
from ogive.columns.grids import Grid
from ogive.core.arrays import Int64
from ogive.errors import ParameterError, UnsupportedError
from ogive.local.tree import TreeOracle
from ogive.queries import Answer, GroupBinning, Query, ReportsQuery, RowValues
from ogive.statistics.base import Terms
from ogive.statistics.methods.base import ANY_REPORT, CurveTask
from ogive.statistics.methods.curve_methods import check_public_number, report_epsilon
from ogive.strategies.reported import ReportedTree, design_reports, read_reports

_FAR = 1e6
"""Lengths of the follow-up that no time exceeds."""

Measured = tuple[ReportedTree, list[Int64], Answer]


def ask_owners(classes: GroupBinning, terms: Terms) -> Generator[Query, Answer, Measured]:
    """Collect one report of every owner; returns the strategy of each class and the values of all.

    Privacy: one report of every owner at the whole of `terms.privacy`.
    """
    if (refusal := terms.refusal(ANY_REPORT)) is not None:
        raise UnsupportedError(refusal)
    task = CurveTask(classes.values, terms)
    check_public_number(task)
    oracle, own = _oracles(len(classes.groups), task.size, report_epsilon(task))
    if terms.records is not None and terms.records < oracle.levels:
        raise ParameterError(
            f"reports on {oracle.levels} levels need at least {oracle.levels} records, got {terms.records}; "
            "take fewer bins"
        )
    domain = Domain((Listed(classes.by, classes.groups), _padded(classes.values, own.padded)))
    answer = yield ReportsQuery(RowValues(domain), oracle)
    whole, values = read_reports(oracle, answer.values)
    first = oracle.levels - own.levels
    strategy = ReportedTree(own, whole.reports[first:], whole.laws[first:])
    # nodes that hold a bin of their class, lowest level first
    levels = np.split(values, np.cumsum([level.nodes for level in whole.levels])[:-1])
    tables = [each.reshape(len(classes.groups), -1) for each in levels[: own.levels]]
    counts = [
        np.concatenate([table[place, : level.nodes] for table, level in zip(tables, strategy.levels, strict=True)])
        for place in range(len(classes.groups))
    ]
    return strategy, counts, answer


def _oracles(classes: int, size: int, epsilon: Fraction) -> tuple[TreeOracle, TreeOracle]:
    """How owners report class and time together, and the hierarchy of the times of one class."""
    best = design_reports(size, epsilon, split="users")
    own = TreeOracle(size, epsilon, branching=best.branching, nodes=best.nodes)
    return TreeOracle(classes * own.padded, epsilon, branching=own.branching, nodes=own.nodes), own


def _padded(times: Binning, size: int) -> Binning:
    """As many bins as the hierarchy has places for; those past the last one are beyond all times."""
    grid = times.grid
    last = grid.thresholds[-1]
    far = last + _FAR * (last - grid.low) * np.arange(1.0, size - grid.bins + 2)
    missing = float(far[0]) if times.missing == "high" else times.missing
    return Binning(times.column, Grid.explicit((*grid.thresholds[:-1].tolist(), *far.tolist()), low=grid.low), missing)
