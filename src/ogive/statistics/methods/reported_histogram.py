"""A histogram in the local model: every record's owner reports, noisily, in which group of bins it lies.

Nearer than a hierarchy where there are few groups; above some sixteen of them its cumulative counts add up more noise.
"""

from __future__ import annotations

from collections.abc import Generator

from ogive.columns import Binning, Domain
from ogive.errors import ParameterError, UnsupportedError
from ogive.grids import Grid
from ogive.local.unary import UnaryOracle
from ogive.noise import DiscreteLaplace
from ogive.queries import Answer, Query, ReportsQuery, RowValues
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.base import CurveTask
from ogive.statistics.methods.expected_error import guessed
from ogive.statistics.methods.finish import curve_from
from ogive.statistics.methods.reports import check_public_number, report_epsilon
from ogive.strategies import GroupedHistogram
from ogive.strategies.reported.histogram import ReportedHistogram, expected_histogram, read_histogram
from ogive.strategies.smoothing import unsmoothable


def reported_groups(groups: int, task: CurveTask) -> Generator[Query, Answer, Curve]:
    """Collect one report of every owner, about their group alone.

    Args:
        groups: Number of groups; one for each bin where there are fewer bins.
        task: Column, grid, terms and smoothing.

    Raises:
        ParameterError: there are fewer than two groups, or the terms keep the number of records private.
        UnsupportedError: the smoothing does not go with a histogram.
    """
    oracle = _oracle(groups, task)
    reason = unsmoothable(expected_histogram(task.size, oracle, 1), task.smooth)
    if reason is not None:
        raise UnsupportedError(reason)
    check_public_number(task)
    coarse = Binning(task.binning.column, _grid(task.binning.grid, oracle.size), task.binning.missing)
    answer = yield ReportsQuery(RowValues(Domain((coarse,))), oracle)
    strategy, values = read_histogram(task.size, oracle, answer.values)
    return curve_from(Answer(values, answer.totals), task.binning, strategy, task.terms, task.smooth)


def expected_groups(groups: int, task: CurveTask) -> ReportedHistogram:
    """The strategy that the owners' reports would make."""
    return expected_histogram(task.size, _oracle(groups, task), guessed(task))


def _oracle(groups: int, task: CurveTask) -> UnaryOracle:
    if min(groups, task.size) < 2:
        raise ParameterError("a histogram of reports needs at least two groups, and as many bins")
    return UnaryOracle(min(groups, task.size), report_epsilon(task))


def _grid(grid: Grid, groups: int) -> Grid:
    """The groups as bins: their ends are the thresholds."""
    ends = GroupedHistogram(grid.bins, groups, DiscreteLaplace(2)).edges[1:] - 1
    thresholds = tuple(grid.thresholds[ends].tolist())
    return Grid("explicit", grid.low, grid.high, groups, grid.unit, thresholds)
