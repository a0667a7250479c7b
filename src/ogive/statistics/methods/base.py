"""Curve methods: methods that release a curve by more than one strategy measured once, and what they share.

A curve method is a generator of queries that returns the curve, and a prediction of its error. It is frozen plain data,
so a question in the ledger holds it as it is; `Ecdf(method=...)` takes it by its name, with the usual options, or as an
instance with others. From noisy measurements to a curve it is the same way for every method (`curve_from`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from ogive.accounting import pure_epsilon
from ogive.columns import Binning, Domain
from ogive.errors import ParameterError, ScaleError, UnsupportedError
from ogive.grids import Grid
from ogive.interfaces import KeptByType
from ogive.local.tree import TreeOracle
from ogive.noise import DiscreteLaplace, too_much_noise
from ogive.privacy import Privacy, PureDP
from ogive.queries import Answer, CurveQuery, PeopleQuery, Query, ReportsQuery, RowValues
from ogive.statistics.base import Terms
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.reference_shapes import Expected, Shapes
from ogive.strategies import CountedPeople, GroupedHistogram, Strategy
from ogive.strategies.base import approximates
from ogive.strategies.people import PERSON_UNITS
from ogive.strategies.smoothing import default_smoothing, smooth, unsmoothable

LARGEST_PREDICTED = 4096
NOISES = ("auto", "gaussian", "laplace")

# never asked; shows whether a trust model serves any query of its kind. No table has a column of that name
_BINNING = Binning("\0", Grid.linear(0, 1, bins=2))
ANY_REPORT = ReportsQuery(RowValues(Domain((_BINNING,))), TreeOracle(2, PureDP(1).epsilon))


@dataclass(frozen=True)
class CurveTask:
    """What a curve method is asked to do: the curve that is wanted, under which terms.

    Fields:
        binning: Column and grid.
        terms: Privacy, unit and what the trust model can serve.
        smooth: How the curve is made valid; "auto" for what suits the method.
        expected_records: A public guess of the number of records, for where that is private.
        people: Whether each person counts once, and not each row.
    """

    binning: Binning
    terms: Terms
    smooth: str = "auto"
    expected_records: int | None = None
    people: bool = False

    @property
    def size(self) -> int:
        """Number of thresholds."""
        return self.binning.grid.bins

    @property
    def coarse(self) -> CurveTask:
        """The same task on at most 4096 thresholds, on which predictions are nearly the same and quick."""
        return self.at_most(LARGEST_PREDICTED)

    def at_most(self, bins: int) -> CurveTask:
        """The same task on at most so many thresholds."""
        if self.size <= bins:
            return self
        grid = Grid.linear(0, 1, bins=bins)
        return dataclasses.replace(self, binning=self.binning.on(grid))

    @property
    def rows(self) -> int:
        """How many records of one person are hidden together, or how many units where people are counted."""
        return PERSON_UNITS if self.people else self.terms.unit.max_rows_per_person

    def query(self, strategy: Strategy) -> CurveQuery | PeopleQuery:
        """What asks for the measurements of a strategy that is designed for `rows`."""
        if self.people:
            return PeopleQuery(self.binning, CountedPeople(strategy))
        return CurveQuery(self.binning, strategy)

    @property
    def records(self) -> int | None:
        """The public number of records, or else the public guess of it."""
        known = self.terms.records
        return self.expected_records if known is None else known


@runtime_checkable
class CurveMethod(Protocol, metaclass=KeptByType):
    """Interface; frozen plain data with no subclass."""

    name: ClassVar[str]
    """As in `Ecdf(method=...)` and on the command line."""

    def curve(self, task: CurveTask) -> Generator[Query, Answer, Curve]:
        """Yield queries, receive answers, return the curve.

        Raises:
            ParameterError: the options do not fit the grid or the terms.
            ScaleError: more noise would be needed than can be drawn.
            UnsupportedError: the trust model cannot serve it.
        """
        ...

    def errors(self, task: CurveTask, shapes: Shapes, records: int) -> Expected:
        """Predicted errors of the published curve on public shapes; what the records look like has no say in it.

        Args:
            task: What is designed for, with the number of records that is public or guessed.
            shapes: What the records are imagined to look like.
            records: How many are imagined.

        Raises:
            ParameterError, ScaleError, UnsupportedError: as `curve`.
        """
        ...


def owners_answer(terms: Terms, binning: Binning = _BINNING) -> bool:
    """Whether the trust model asks the records' owners and nobody else, so that reports are all that it serves."""
    return terms.refusal(ANY_REPORT) is None and not counts_records(terms, binning)


def counts_records(terms: Terms, binning: Binning = _BINNING) -> bool:
    """Whether the trust model can count records, seen or in shares, and not only what their owners make of them."""
    counted = CurveQuery(binning, GroupedHistogram(binning.grid.bins, 1, DiscreteLaplace(2)))
    return terms.refusal(counted) is None


def curve_from(
    answer: Answer, binning: Binning, strategy: Strategy, terms: Terms, smoothing: str, *, people: bool = False
) -> Curve:
    """Turn noisy measurements into a curve; post-processing.

    What was paid for is never lost: where a solver cannot certify its result, or a strategy has a shape that
    it refuses, the curve is made valid by isotonic regression, and says so. Without noise (trust model clear) the
    curve of a strategy that approximates is made valid all the same.
    """
    kind = default_smoothing(strategy) if smoothing == "auto" else smoothing
    strategy = answer.noise_of(strategy)
    raw = cumulative = strategy.estimate(answer.values, answer.total)
    rough = answer.noisy or approximates(strategy)
    if rough:
        try:
            cumulative = smooth(strategy, answer.values, total=answer.total, kind=kind)
        except (ArithmeticError, UnsupportedError):
            kind = "isotonic"
            cumulative = smooth(strategy, answer.values, total=answer.total, kind=kind)
    return Curve(
        grid=binning.grid,
        cumulative=cumulative,
        raw=raw,
        strategy=strategy if answer.noisy else None,
        adjacency=terms.adjacency,
        total=answer.total,
        smoothing=kind if rough else "none",
        column=binning.column,
        measured=answer.values if answer.noisy and approximates(strategy) else None,
        people=people,
    )


def measured_once(strategy: Strategy, task: CurveTask) -> Generator[Query, Answer, Curve]:
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


def allowed_grants(privacy: Privacy, noise: str) -> list[Privacy]:
    """What noise is designed for: the guarantee itself, for Gaussian noise, and the pure one that implies it.

    Raises:
        ParameterError: Gaussian noise is wanted for a pure guarantee.
    """
    if isinstance(privacy, PureDP):
        if noise == "gaussian":
            raise ParameterError(f"Gaussian noise cannot give {privacy}; use `ZeroConcentratedDP` or `ApproxDP`")
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
