"""The method of the local model: every record's owner reports, noisily, in which block of a hierarchy it lies.

Reports estimate the count of every block without bias, least squares over the hierarchy makes them cumulative counts,
and smoothing a valid curve. Which hierarchy is taken follows from public numbers alone.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from ogive.accounting import loss_per_row, pure_epsilon
from ogive.columns import Domain
from ogive.core.arrays import Int64
from ogive.core.checks import among, whole
from ogive.errors import ParameterError, UnsupportedError
from ogive.local.oracles import UnaryOracle
from ogive.local.tree import TreeOracle
from ogive.privacy import Adjacency, PureDP
from ogive.queries import Answer, Query, ReportsQuery, RowValues
from ogive.queries.base import check_missing
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.base import ANY_REPORT, CurveTask, Expected, Shapes, curve_from, strategy_errors
from ogive.strategies.reported import ReportedTree, design_reports, expected_tree, read_reports
from ogive.strategies.smoothing import automatic_smoothing

NODES = ("hadamard", "unary")
SPLITS = ("users", "budget")


@dataclass(frozen=True)
class Reports:
    """Randomized reports of the records' owners on the nodes of a hierarchy over the bins.

    Fields:
        branching: Children of a node, 2 to 8; None for the smallest predicted error.
        nodes: "hadamard" (an index and a bit) or "unary" (a bit for each node: longer, with less noise for epsilon of
            2 or more); None for the smaller predicted error.
        split: "users" (an owner reports on one level) or "budget" (on all, with a share of epsilon); None for the
            smaller predicted error.
        seed: Public seed; together with a participant's number it determines the level of the report.
    """

    name: ClassVar[str] = "reports"

    branching: int | None = None
    nodes: str | None = None
    split: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.branching is not None:
            whole(self.branching, "branching", 2, 8)
        if self.nodes is not None:
            among(self.nodes, "nodes", NODES)
        if self.split is not None:
            among(self.split, "split", SPLITS)
        whole(self.seed, "seed", 0, (1 << 63) - 1)

    def oracle(self, task: CurveTask) -> TreeOracle:
        """The randomizer of each owner's bin.

        Raises:
            ParameterError: there are too few or too many thresholds.
        """
        epsilon = report_epsilon(task)
        return design_reports(
            task.size, epsilon, branching=self.branching, nodes=self.nodes, split=self.split, seed=self.seed
        )

    def query(self, task: CurveTask) -> ReportsQuery:
        """The query for every owner.

        Raises:
            ParameterError: the number of records is private or too small.
        """
        check_public_number(task)
        return ReportsQuery(RowValues(Domain((task.binning,))), self.oracle(task))

    def curve(self, task: CurveTask) -> Generator[Query, Answer, Curve]:
        """Collect one report of every owner."""
        refusal = task.terms.refusal(ANY_REPORT)
        if refusal is not None:
            raise UnsupportedError(refusal)
        query = self.query(task)
        assert isinstance(query.oracle, TreeOracle)
        levels, records = query.oracle.levels, task.terms.records
        if records is not None and records < levels:
            each = " a group" if task.terms.one_loss_type else ""
            raise ParameterError(
                f"reports on {levels} levels need at least {levels} records{each}, got {records}; take fewer bins"
            )
        answer = yield query
        return reported_curve(query.oracle, answer, task)

    def errors(self, task: CurveTask, shapes: Shapes, records: int) -> Expected:
        """Errors from sampling and the noise of the reports."""
        return strategy_errors(self.expected(task, records), task, shapes, records)

    def expected(self, task: CurveTask, records: int) -> ReportedTree:
        """The strategy that the reports of this number of owners amount to."""
        return expected_tree(self.oracle(task), records)


def report_epsilon(task: CurveTask) -> Fraction:
    """What one report of a person may cost."""
    privacy = task.terms.privacy
    pure = privacy if isinstance(privacy, PureDP) else pure_epsilon(privacy)
    grant = loss_per_row(pure, task.rows)
    return grant.epsilon


def check_public_number(task: CurveTask) -> None:
    """Refuse terms under which the number of reports would say too much."""
    if task.terms.adjacency is not Adjacency.REPLACE:
        raise ParameterError(
            "reports can be counted by anyone who receives them, so the number of records cannot be private; use "
            "`adjacency REPLACE`"
        )
    check_missing(task.binning, task.terms.adjacency)


def reported_curve(oracle: TreeOracle, answer: Answer, task: CurveTask) -> Curve:
    """The curve of some reports; post-processing."""
    strategy, values = read_reports(oracle, answer.values)
    told = Answer(values, answer.totals)
    smoothing: str = task.smooth
    if smoothing == "auto":
        smoothing = automatic_smoothing(strategy, values, told.total)
    return curve_from(told, task.binning, strategy, task.terms, smoothing)


def class_sums(answer: Answer, number: int, oracle: TreeOracle | UnaryOracle) -> Answer:
    """One class's reports of an answer about public classes, with their number."""
    sums: Int64 = answer.values[number]
    return replace(answer, values=sums, totals=(oracle.reports(sums),))
