"""Methods that measure a few numbers once: counts of groups of bins, or coefficients of orthogonal functions."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from ogive.columns import Binning, Domain
from ogive.columns.grids import Grid
from ogive.core.checks import among
from ogive.errors import ParameterError, UnsupportedError
from ogive.local.oracles import UnaryOracle
from ogive.noise import DiscreteLaplace
from ogive.privacy import Adjacency, Privacy, PureDP
from ogive.queries import Answer, Query, ReportsQuery, RowValues
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.base import (
    NOISES,
    CurveTask,
    Expected,
    Shapes,
    curve_from,
    designs,
    guessed,
    measured_once,
    owners_answer,
    strategy_errors,
)
from ogive.statistics.methods.reports import check_public_number, report_epsilon
from ogive.strategies import GroupedHistogram, Strategy, design_histogram, design_projection
from ogive.strategies.counts import ACCOUNTINGS, DEFAULT_GROUPS, check_groups
from ogive.strategies.projection.features import check_degree
from ogive.strategies.reported import ReportedHistogram, expected_histogram, read_histogram
from ogive.strategies.smoothing import unsmoothable

# --- Noisy counts of groups of neighboring bins
#
# In the local model owners report, noisily, in which group they lie. That is nearer than a hierarchy where there are
# few groups; above some sixteen of them its cumulative counts add up more noise.


@dataclass(frozen=True)
class HistogramQueries:
    """Noisy counts of groups of neighboring bins, with linear interpolation within groups.

    Under trust local every owner sends a randomized report of the own group; `accounting` and `noise` then have no
    effect.

    Fields:
        groups: Number of groups; at most one per bin.
        accounting: "joint", or "naive" as in the paper: every count is charged separately.
        noise: "gaussian", "laplace", or "auto" for the smaller one that the guarantee allows.
    """

    name: ClassVar[str] = "histogram"

    groups: int = DEFAULT_GROUPS
    accounting: str = "joint"
    noise: str = "auto"

    def __post_init__(self) -> None:
        check_groups(self.groups)
        among(self.accounting, "accounting", ACCOUNTINGS)
        among(self.noise, "noise", NOISES)

    def strategy(self, task: CurveTask) -> Strategy:
        """The strategy that is measured."""
        return self.design(task.size, task.terms.privacy, task.terms.adjacency, task.rows, task.records)

    def design(self, size: int, privacy: Privacy, adjacency: Adjacency, rows: int, records: int | None) -> Strategy:
        """The same design from the terms; it does not depend on the number of records."""
        return _least_noise(self, size, privacy, adjacency, rows)

    def curve(self, task: CurveTask) -> Generator[Query, Answer, Curve]:
        """Measure the groups once at the whole guarantee, or collect one report of every owner."""
        if owners_answer(task.terms, task.binning):
            self._check_reported()
            return (yield from reported_groups(self.groups, task))
        return (yield from measured_once(self.strategy(task), task))

    def errors(self, task: CurveTask, shapes: Shapes, records: int) -> Expected:
        """Errors from sampling, noise and interpolation within groups."""
        if owners_answer(task.terms, task.binning):
            return strategy_errors(expected_groups(self.groups, task), task, shapes, records)
        return strategy_errors(self.strategy(task), task, shapes, records)

    def _check_reported(self) -> None:
        if (self.accounting, self.noise) != ("joint", "auto"):
            raise ParameterError("accounting and noise of a histogram are for who sees records; leave them out")


@lru_cache(maxsize=256)
def _least_noise(method: HistogramQueries, size: int, privacy: Privacy, adjacency: Adjacency, rows: int) -> Strategy:
    """Of the noises that the guarantee allows the smaller one; the naive split is the paper's, Gaussian."""
    noise = method.noise
    if noise == "auto" and method.accounting == "naive" and not isinstance(privacy, PureDP):
        noise = "gaussian"

    def design(grant: Privacy) -> Strategy:
        return design_histogram(
            size, privacy=grant, adjacency=adjacency, rows=rows, groups=method.groups, accounting=method.accounting
        )

    made = designs(privacy, noise, design, what=f"{min(method.groups, size)} groups")
    return min(made, key=lambda each: float(each.variance(total_known=adjacency is Adjacency.REPLACE).mean()))


def reported_groups(groups: int, task: CurveTask) -> Generator[Query, Answer, Curve]:
    """Collect one report of every owner, about their group alone."""
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


# --- Noisy coefficients of orthogonal functions

BASES = ("legendre", "sine", "cosine", "splines")
SHAPES = ("shaped", "isotropic", "moments")
CONSTANTS = ("exact", "paper")


@dataclass(frozen=True)
class Projection:
    """Noisy coefficients of a few orthogonal functions.

    Fields:
        basis: "legendre", "sine", "cosine" or "splines".
        degree: Degree K, from 0 (3 for splines) to 30 (15 for moments); None chooses it from the guarantee and the
            number of records.
        noise: "shaped" (covariance fitted to the change by one record), "isotropic", or "moments" (on raw moments, as
            in the paper).
        constants: "exact", or "paper" for the paper's sensitivity of the moments.
    """

    name: ClassVar[str] = "projection"

    basis: str = "legendre"
    degree: int | None = None
    noise: str = "shaped"
    constants: str = "exact"

    def __post_init__(self) -> None:
        among(self.basis, "basis", BASES)
        among(self.noise, "noise", SHAPES)
        among(self.constants, "constants", CONSTANTS)
        if self.degree is not None:
            check_degree(self.degree, self.basis, self.noise)

    def strategy(self, task: CurveTask) -> Strategy:
        """The strategy that is measured."""
        return self.design(task.size, task.terms.privacy, task.terms.adjacency, task.rows, task.records)

    def design(self, size: int, privacy: Privacy, adjacency: Adjacency, rows: int, records: int | None) -> Strategy:
        """The same design from the terms."""
        return _projected(self, size, privacy, adjacency, rows, records)

    def curve(self, task: CurveTask) -> Generator[Query, Answer, Curve]:
        """Measure the coefficients once at the whole guarantee."""
        return (yield from measured_once(self.strategy(task), task))

    def errors(self, task: CurveTask, shapes: Shapes, records: int) -> Expected:
        """Errors from sampling, noise and approximation."""
        return strategy_errors(self.strategy(task), task, shapes, records)


@lru_cache(maxsize=256)
def _projected(
    method: Projection, size: int, privacy: Privacy, adjacency: Adjacency, rows: int, records: int | None
) -> Strategy:
    return design_projection(
        size,
        privacy=privacy,
        adjacency=adjacency,
        rows=rows,
        records=None if records is None else max(1, records),
        basis=method.basis,
        degree=method.degree,
        noise=method.noise,
        constants=method.constants,
    )
