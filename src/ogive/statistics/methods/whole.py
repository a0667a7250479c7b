"""Recipes that design one strategy and measure it once: histograms and projections."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from ogive.accounting import pure_epsilon
from ogive.errors import ParameterError, ScaleError, UnsupportedError, quoted
from ogive.noise import too_much_noise
from ogive.privacy import Adjacency, Privacy, PureDP
from ogive.queries import Answer, CurveQuery, Query
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.base import Task
from ogive.statistics.methods.expected_error import strategy_errors
from ogive.statistics.methods.finish import curve_from
from ogive.statistics.methods.reference_shapes import Expected, Shapes
from ogive.statistics.methods.reported_histogram import expected_groups, reported_groups
from ogive.statistics.methods.reports import owners_answer
from ogive.strategies import Strategy, design_histogram, design_projection
from ogive.strategies.histogram import ACCOUNTINGS, DEFAULT_GROUPS, check_groups
from ogive.strategies.projection.form import check_degree
from ogive.strategies.smoothing import unsmoothable

NOISES = ("auto", "gaussian", "laplace")
BASES = ("legendre", "sine", "cosine", "splines")
SHAPES = ("shaped", "isotropic", "moments")
CONSTANTS = ("exact", "paper")


@dataclass(frozen=True)
class HistogramQueries:
    """Noisy counts of a few groups of neighboring bins, and straight lines in between.

    Under trust local every owner reports, noisily, which group is theirs; accounting and noise are then left out.

    Fields:
        groups: Number of groups; one for each bin where there are fewer bins.
        accounting: "joint", or "naive" for the paper's ordering of methods: every count charged on its own.
        noise: "gaussian", "laplace", or "auto" for the one that is smaller where the guarantee allows both.
    """

    name: ClassVar[str] = "histogram"

    groups: int = DEFAULT_GROUPS
    accounting: str = "joint"
    noise: str = "auto"

    def __post_init__(self) -> None:
        check_groups(self.groups)
        if self.accounting not in ACCOUNTINGS:
            raise ParameterError(f"accounting must be joint or naive, got {quoted(self.accounting)}")
        if self.noise not in NOISES:
            raise ParameterError(f"noise must be auto, gaussian or laplace, got {quoted(self.noise)}")

    def strategy(self, task: Task) -> Strategy:
        """What is measured."""
        return self.design(task.size, task.terms.privacy, task.terms.adjacency, task.rows, task.records)

    def design(self, size: int, privacy: Privacy, adjacency: Adjacency, rows: int, records: int | None) -> Strategy:
        """The same from what the terms say; the number of records makes no difference."""
        return _least_noise(self, size, privacy, adjacency, rows)

    def curve(self, task: Task) -> Generator[Query, Answer, Curve]:
        """Measure the groups once at the whole of the guarantee, or ask every owner for theirs."""
        if owners_answer(task.terms, task.binning):
            self._check_reported()
            return (yield from reported_groups(self.groups, task))
        return (yield from measured_once(self.strategy(task), task))

    def errors(self, task: Task, shapes: Shapes, records: int) -> Expected:
        """Sampling, noise and the error of straight lines within groups."""
        if owners_answer(task.terms, task.binning):
            return strategy_errors(expected_groups(self.groups, task), task, shapes, records)
        return strategy_errors(self.strategy(task), task, shapes, records)

    def _check_reported(self) -> None:
        if (self.accounting, self.noise) != ("joint", "auto"):
            raise ParameterError("accounting and noise of a histogram are for who sees records; leave them out")


@lru_cache(maxsize=256)
def _least_noise(recipe: HistogramQueries, size: int, privacy: Privacy, adjacency: Adjacency, rows: int) -> Strategy:
    """Of the noises that the guarantee allows the smaller one; the naive split is the paper's, Gaussian."""
    noise = recipe.noise
    if noise == "auto" and recipe.accounting == "naive" and not isinstance(privacy, PureDP):
        noise = "gaussian"

    def design(grant: Privacy) -> Strategy:
        return design_histogram(
            size, privacy=grant, adjacency=adjacency, rows=rows, groups=recipe.groups, accounting=recipe.accounting
        )

    made = designs(privacy, noise, design, what=f"{min(recipe.groups, size)} groups")
    return min(made, key=lambda each: float(each.variance(total_known=adjacency is Adjacency.REPLACE).mean()))


@dataclass(frozen=True)
class Projection:
    """Noisy coefficients of a few orthogonal functions.

    Fields:
        basis: "legendre", "sine", "cosine" or "splines".
        degree: Degree K, from 0 (3 for splines) to 30 (15 for moments); None takes one that suits the guarantee
            and the number of records.
        noise: "shaped" to what a record changes, "isotropic", or "moments" for the paper's noise on raw moments.
        constants: "exact", or "paper" for the paper's sensitivity of the moments.
    """

    name: ClassVar[str] = "projection"

    basis: str = "legendre"
    degree: int | None = None
    noise: str = "shaped"
    constants: str = "exact"

    def __post_init__(self) -> None:
        for name, allowed in (("basis", BASES), ("noise", SHAPES), ("constants", CONSTANTS)):
            if getattr(self, name) not in allowed:
                raise ParameterError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}")
        if self.degree is not None:
            check_degree(self.degree, self.basis, self.noise)

    def strategy(self, task: Task) -> Strategy:
        """What is measured."""
        return self.design(task.size, task.terms.privacy, task.terms.adjacency, task.rows, task.records)

    def design(self, size: int, privacy: Privacy, adjacency: Adjacency, rows: int, records: int | None) -> Strategy:
        """The same from what the terms say."""
        return _projected(self, size, privacy, adjacency, rows, records)

    def curve(self, task: Task) -> Generator[Query, Answer, Curve]:
        """Measure the coefficients once at the whole of the guarantee."""
        return (yield from measured_once(self.strategy(task), task))

    def errors(self, task: Task, shapes: Shapes, records: int) -> Expected:
        """Sampling, noise and the error of curves that the functions cannot follow."""
        return strategy_errors(self.strategy(task), task, shapes, records)


@lru_cache(maxsize=256)
def _projected(
    recipe: Projection, size: int, privacy: Privacy, adjacency: Adjacency, rows: int, records: int | None
) -> Strategy:
    return design_projection(
        size,
        privacy=privacy,
        adjacency=adjacency,
        rows=rows,
        records=None if records is None else max(1, records),
        basis=recipe.basis,
        degree=recipe.degree,
        noise=recipe.noise,
        constants=recipe.constants,
    )


def allowed_grants(privacy: Privacy, noise: str) -> list[Privacy]:
    """What noise is designed for: the guarantee itself, for Gaussian noise, and the pure one that implies it.

    Raises:
        ParameterError: Gaussian noise is wanted for a pure guarantee.
    """
    if isinstance(privacy, PureDP):
        if noise == "gaussian":
            raise ParameterError(f"Gaussian noise cannot give {privacy}; ask for ZeroConcentratedDP or ApproxDP")
        return [privacy]
    wanted: list[Privacy] = [] if noise == "laplace" else [privacy]
    return wanted if noise == "gaussian" else [*wanted, pure_epsilon(privacy)]


def designs(privacy: Privacy, noise: str, design: Callable[[Privacy], Strategy], *, what: str) -> list[Strategy]:
    """One design for each kind of noise that is wanted and that the guarantee allows.

    Raises:
        ParameterError: Gaussian noise is wanted for a pure guarantee.
        ParameterError: none can be drawn so finely.
        ScaleError: all of them need more noise than can be drawn.
    """
    made: list[Strategy] = []
    failed: list[tuple[PureDP, ScaleError]] = []
    problem: ParameterError | None = None
    for grant in allowed_grants(privacy, noise):
        try:
            made.append(design(grant))
        except ScaleError as error:
            failed.append((grant if isinstance(grant, PureDP) else pure_epsilon(grant), error))
        except ParameterError as error:
            problem = error
    if not made:
        raise too_much_noise(privacy, what, failed) if problem is None or failed else problem
    return made


def measured_once(strategy: Strategy, task: Task) -> Generator[Query, Answer, Curve]:
    """Ask one query for a whole strategy and turn the answer into a curve.

    Raises:
        UnsupportedError: the smoothing or the trust model does not go with the strategy.
    """
    query = CurveQuery(task.binning, strategy)
    reason = unsmoothable(strategy, task.smooth) or task.terms.refusal(query)
    if reason is not None:
        raise UnsupportedError(reason)
    answer = yield query
    return curve_from(answer, task.binning, strategy, task.terms, task.smooth)
