"""Methods that measure less than every threshold: groups of bins, coefficients, thresholds one by one, and reports."""

from __future__ import annotations

import dataclasses
import math
from bisect import insort
from collections.abc import Generator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from ogive.accounting import loss_per_row, pure_epsilon
from ogive.columns import Binning, Domain
from ogive.columns.grids import Grid
from ogive.core.arrays import Int64
from ogive.core.checks import among, whole
from ogive.errors import ParameterError, UnsupportedError
from ogive.local.oracles import UnaryOracle
from ogive.local.tree import TreeOracle
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.privacy import Adjacency, Privacy, PureDP
from ogive.queries import Answer, Query, ReportsQuery, RowValues
from ogive.queries.base import check_missing
from ogive.queries.histograms import ThresholdQuery
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.base import (
    ANY_REPORT,
    NOISES,
    CurveMethod,
    CurveTask,
    Expected,
    Shapes,
    allowed_grants,
    curve_from,
    designs,
    guessed,
    mean_variance,
    measured_once,
    owners_answer,
    possible,
    public_noise,
    shares,
    strategy_errors,
)
from ogive.strategies import GroupedHistogram, OpenedThresholds, Strategy, design_histogram, design_projection
from ogive.strategies.counts import ACCOUNTINGS, DEFAULT_GROUPS, check_groups, counted_noise, equal_share
from ogive.strategies.projection.features import check_degree
from ogive.strategies.reported import (
    design_reports,
    expected_histogram,
    expected_tree,
    read_histogram,
    read_reports,
)
from ogive.strategies.smoothing import automatic_smoothing, unsmoothable


class Designed(CurveMethod):
    """A method of one strategy, which its options and public terms determine."""

    def design(self, size: int, privacy: Privacy, adjacency: Adjacency, rows: int, records: int | None) -> Strategy:
        """The strategy that is measured."""
        raise NotImplementedError

    def strategy(self, task: CurveTask) -> Strategy:
        """The same of a task."""
        return self.design(task.size, task.terms.privacy, task.terms.adjacency, task.rows, task.records)

    def curve(self, task: CurveTask) -> Generator[Query, Answer, Curve]:
        """Measure the strategy once at the whole guarantee."""
        return (yield from measured_once(self.strategy(task), task))

    def errors(self, task: CurveTask, shapes: Shapes, records: int) -> Expected:
        """Errors from sampling, noise and approximation."""
        return strategy_errors(self.strategy(task), task, shapes, records)


# --- Noisy counts of groups of neighboring bins
#
# In the local model owners report, noisily, in which group they lie. That is nearer than a hierarchy where there are
# few groups; above some sixteen of them its cumulative counts add up more noise.


@dataclass(frozen=True)
class HistogramQueries(Designed):
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

    def design(self, size: int, privacy: Privacy, adjacency: Adjacency, rows: int, records: int | None) -> Strategy:
        """It does not depend on the number of records."""
        return _least_noise(self, size, privacy, adjacency, rows)

    def curve(self, task: CurveTask) -> Generator[Query, Answer, Curve]:
        """Measure the groups, or collect one report of every owner."""
        if not owners_answer(task.terms, task.binning):
            return (yield from super().curve(task))
        if (self.accounting, self.noise) != ("joint", "auto"):
            raise ParameterError("accounting and noise of a histogram are for who sees records; leave them out")
        return (yield from _reported_groups(self.groups, task))

    def errors(self, task: CurveTask, shapes: Shapes, records: int) -> Expected:
        """Errors from sampling, noise and interpolation within groups."""
        if not owners_answer(task.terms, task.binning):
            return super().errors(task, shapes, records)
        expected = expected_histogram(task.size, _oracle(self.groups, task), guessed(task))
        return strategy_errors(expected, task, shapes, records)


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

    strategies = designs(privacy, noise, design, what=f"{min(method.groups, size)} groups")
    return min(strategies, key=lambda strategy: mean_variance(strategy, adjacency))


def _reported_groups(groups: int, task: CurveTask) -> Generator[Query, Answer, Curve]:
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
class Projection(Designed):
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

    def design(self, size: int, privacy: Privacy, adjacency: Adjacency, rows: int, records: int | None) -> Strategy:
        """The projection; its degree follows from the number of records where it is not given."""
        return _projected(self, size, privacy, adjacency, rows, records)


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


# --- Adaptive quantiles: thresholds chosen one after the other
#
# The axis is that of the bins' numbers, on which linear grids are to scale. Every round takes the two neighboring
# thresholds whose shares lie farthest apart and asks for the count halfway between them; shares and thresholds that
# noise put out of order are matched by rank. In the end the curve is drawn straight from threshold to threshold.

FEWEST_ROUNDS, MOST_ROUNDS = 4, 100
_GUESSED_RECORDS = 10_000
_ADAPTIVE_SEED = 0x6164617074


@dataclass(frozen=True)
class AdaptiveQuantiles(CurveMethod):
    """Noisy counts at thresholds that are chosen adaptively.

    Fields:
        rounds: Number of thresholds; None chooses it from the guarantee and the number of records. With much noise it
            is far below the 50 of the paper.
        accounting: "joint", or "naive" as in the paper: every round is charged separately.
        noise: "gaussian", "laplace", or "auto" for the smaller one that the guarantee allows.
    """

    name: ClassVar[str] = "adaptive"

    rounds: int | None = None
    accounting: str = "joint"
    noise: str = "auto"

    def __post_init__(self) -> None:
        rounds = self.rounds
        if rounds is not None:
            whole(rounds, "rounds", 1)
        among(self.accounting, "accounting", ACCOUNTINGS)
        among(self.noise, "noise", NOISES)

    def curve(self, task: CurveTask) -> Generator[Query, Answer, Curve]:
        """Request one count after the other; all counts together cost the guarantee.

        If the number of records is private, the first count is that of all records.
        """
        plan = _planned(self, task.size, task.terms.privacy, task.terms.adjacency, task.rows, task.records)
        shape = OpenedThresholds(task.size, (0,), plan.law, plan.bits)
        reason = unsmoothable(shape, task.smooth)
        if reason is not None:
            raise UnsupportedError(reason)
        values: list[int] = []
        points: list[int] = []
        search = Search(task.size)
        replaced = task.terms.adjacency is Adjacency.REPLACE
        point: int | None = task.size // 2 - 1 if replaced else task.size - 1
        answer: Answer | None = None
        while point is not None and len(points) < plan.counts:
            query = ThresholdQuery(task.binning, point, plan.law, plan.bits)
            reason = task.terms.refusal(query) if answer is None else None
            if reason is not None:
                raise UnsupportedError(reason)
            answer = yield query
            points.append(point)
            values.append(int(answer.values[0]))
            point = search.after(point, values[-1] / 2**plan.bits, answer.total)
        assert answer is not None, "a grid of two bins has a threshold to ask for"
        strategy = OpenedThresholds(task.size, tuple(points), plan.law, plan.bits)
        whole = dataclasses.replace(answer, values=np.array(values, dtype=np.int64))
        return curve_from(whole, task.binning, strategy, task.terms, task.smooth)

    def errors(self, task: CurveTask, shapes: Shapes, records: int) -> Expected:
        """Errors by simulation, since the thresholds depend on the noise."""
        terms = task.terms
        plan = _planned(self, task.size, terms.privacy, terms.adjacency, task.rows, guessed(task))
        total = records if terms.adjacency is Adjacency.REPLACE else None
        return _adaptive_errors(terms.noise_of(plan), task.size, records, total, shapes)


class Search:
    """Which threshold is measured next; sees noisy counts alone."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._below: list[int] = [0, size]  # numbers of bins below the thresholds, with both ends of the axis
        self._shares = [0.0, 1.0]
        self._records = 1.0

    def after(self, point: int, count: float, total: int | None) -> int | None:
        """The next 0-based threshold after the noisy count of one; None where no gap can be halved."""
        if point == self._size - 1:
            self._records = max(1.0, count)
        else:
            records = self._records if total is None else max(1, total)
            insort(self._below, point + 1)
            insort(self._shares, min(1.0, max(0.0, count / records)))
        widest, middle = -1.0, None
        for low, high, left, right in zip(self._below, self._below[1:], self._shares, self._shares[1:], strict=False):
            if high - low >= 2 and right - left > widest:
                widest, middle = right - left, (low + high) // 2 - 1
        return middle


@dataclass(frozen=True)
class _Plan:
    """How many counts are measured at most, and the noise of each."""

    counts: int
    law: DiscreteLaplace | DiscreteGaussian
    bits: int


@lru_cache(maxsize=256)
def _planned(
    method: AdaptiveQuantiles, size: int, privacy: Privacy, adjacency: Adjacency, rows: int, records: int | None
) -> _Plan:
    """Rounds and noise."""
    if size < 2:
        raise ParameterError("adaptive quantiles need a grid of at least 2 bins")
    extra = 0 if adjacency is Adjacency.REPLACE else 1
    noise = method.noise
    if noise == "auto" and method.accounting == "naive" and not isinstance(privacy, PureDP):
        noise = "gaussian"

    def plan(grant: Privacy) -> _Plan:
        rounds = min(method.rounds or usual_rounds(grant, rows, records), size - 1)
        return _Plan(rounds + extra, *_noise(method.accounting, grant, rounds + extra, rows))

    plans = possible(plan, allowed_grants(privacy, noise), ParameterError)
    return min(plans, key=lambda plan: plan.law.variance / 4.0**plan.bits)


def _noise(accounting: str, grant: Privacy, counts: int, rows: int) -> tuple[DiscreteLaplace | DiscreteGaussian, int]:
    if accounting == "naive":
        return counted_noise(equal_share(grant, counts), l1=1, l2_squared=1, integers=1, rows=rows)
    return counted_noise(grant, l1=counts, l2_squared=counts, integers=counts, rows=rows)


def usual_rounds(grant: Privacy, rows: int, records: int | None) -> int:
    """More rounds the more records there are for each unit of noise."""
    law, bits = counted_noise(grant, l1=1, l2_squared=1, integers=1, rows=rows)
    ratio = max(1, _GUESSED_RECORDS if records is None else records) * 2**bits / math.sqrt(law.variance)
    # fitted to energy distances on the reference shapes; noise grows with the rounds, of Laplace noise faster
    wanted = 0.7 * ratio**0.6 if isinstance(law, DiscreteGaussian) else 0.65 * ratio**0.45
    return int(min(max(round(wanted), FEWEST_ROUNDS), MOST_ROUNDS))


@lru_cache(maxsize=256)
def _adaptive_errors(plan: _Plan, size: int, records: int, total: int | None, shapes: Shapes) -> Expected:
    counts = shapes.counts(size, records)
    cumulative = np.cumsum(counts, axis=-1)
    random = np.random.Generator(np.random.PCG64([_ADAPTIVE_SEED, records]))
    noise = public_noise(plan.law, counts.shape[0] * shapes.runs * plan.counts, random)
    noise = noise.reshape(-1, shapes.runs, plan.counts)
    result = np.empty(counts.shape)
    for shape, run in np.ndindex(counts.shape[:2]):
        answers = _rehearsed(cumulative[shape, run], plan, noise[shape, run], total)
        strategy = OpenedThresholds(size, tuple(answers), plan.law, plan.bits)
        measured = np.array(list(answers.values()), dtype=np.int64)
        result[shape, run] = shares(strategy.matched(measured, total))
    return shapes.errors(result, counts)


def _rehearsed(cumulative: Int64, plan: _Plan, noise: Int64, total: int | None) -> dict[int, int]:
    """Thresholds measured and their noisy counts, on imagined records."""
    size = len(cumulative)
    search, answers = Search(size), dict[int, int]()
    point: int | None = size - 1 if total is None else size // 2 - 1
    for drawn in noise:
        if point is None:
            break
        answers[point] = (int(cumulative[point]) << plan.bits) + int(drawn)
        point = search.after(point, answers[point] / 2**plan.bits, total)
    return answers


# --- Reports of the records' owners

NODES = ("hadamard", "unary")
SPLITS = ("users", "budget")


@dataclass(frozen=True)
class Reports(CurveMethod):
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
        """The randomizer of each owner's bin."""
        return design_reports(
            task.size,
            report_epsilon(task),
            branching=self.branching,
            nodes=self.nodes,
            split=self.split,
            seed=self.seed,
        )

    def curve(self, task: CurveTask) -> Generator[Query, Answer, Curve]:
        """Collect one report of every owner."""
        refusal = task.terms.refusal(ANY_REPORT)
        if refusal is not None:
            raise UnsupportedError(refusal)
        check_public_number(task)
        oracle, records = self.oracle(task), task.terms.records
        if records is not None and records < oracle.levels:
            each = " a group" if task.terms.one_loss_type else ""
            raise ParameterError(
                f"reports on {oracle.levels} levels need at least {oracle.levels} records{each}, got {records}; "
                "take fewer bins"
            )
        answer = yield ReportsQuery(RowValues(Domain((task.binning,))), oracle)
        strategy, values = read_reports(oracle, answer.values)
        result = Answer(values, answer.totals)
        smoothing: str = task.smooth
        if smoothing == "auto":
            smoothing = automatic_smoothing(strategy, values, result.total)
        return curve_from(result, task.binning, strategy, task.terms, smoothing)

    def errors(self, task: CurveTask, shapes: Shapes, records: int) -> Expected:
        """Errors from sampling and the noise of the reports."""
        return strategy_errors(expected_tree(self.oracle(task), records), task, shapes, records)


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


def class_sums(answer: Answer, number: int, oracle: TreeOracle | UnaryOracle) -> Answer:
    """One class's reports of an answer about public classes, with their number."""
    sums: Int64 = answer.values[number]
    return replace(answer, values=sums, totals=(oracle.reports(sums),))
