"""Questions that one sum of fixed-point numbers, or a few of them, answers: count, sum, proportion and mean."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self, cast, get_args

from ogive.accounting import loss_per_row, pure_epsilon
from ogive.columns import (
    MEMBERSHIP_POLICIES,
    Binning,
    Column,
    Domain,
    LabelValue,
    Listed,
    Membership,
    MembershipPolicy,
    Missing,
)
from ogive.columns.grids import Bound, Grid
from ogive.core.checks import added, one_of
from ogive.errors import ParameterError, UnsupportedError, quoted
from ogive.local.oracles import RandomizedResponse, UnaryOracle
from ogive.privacy import Adjacency, PureDP, Rational
from ogive.queries import (
    Answer,
    Cells,
    CellsQuery,
    MomentsQuery,
    Query,
    ReportsQuery,
    RowValues,
    Weights,
    design_cells,
    design_moments,
)
from ogive.statistics.base import Terms, canonical_class
from ogive.statistics.confidence import check_level
from ogive.statistics.ecdf.statistic import OWNER_HELP
from ogive.statistics.kinds import Command
from ogive.statistics.methods.base import owners_answer
from ogive.statistics.sums.estimate import CountEstimate, MeanEstimate, ProportionEstimate, SumEstimate
from ogive.statistics.sums.lattice import TOTAL, Lattice
from ogive.statistics.sums.measured import Measured, reported_variance, reports_of

# --- Count

CountMissing = Literal["no", "refuse"]
MISSING: tuple[CountMissing, ...] = get_args(CountMissing)


@dataclass(frozen=True)
class Count:
    """The number of records with a value, or with one of the values named.

    Fields:
        column: Column of numbers, truth values or text.
        among: The values that count, public; by default any value that is not missing.
        missing: What a missing value means: "no" (it does not count) or "refuse" (an error).
        confidence_level: Of the interval, above 0 and at most 0.9999.
    """

    name: ClassVar[str] = "count"

    column: str
    _: KW_ONLY
    among: LabelValue | tuple[LabelValue, ...] | None = None
    missing: CountMissing = one_of(*MISSING)
    confidence_level: float = 0.95

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))
        _ = self.membership

    @property
    def membership(self) -> Membership:
        """Whether a record counts."""
        return Membership(self.column, None if self.among is None else several(self.among), self.missing)

    def canonical(self) -> Count:
        """The canonical form of the statistic."""
        return dataclasses.replace(self, among=canonical_class(self.membership.values))

    def alternatives(self) -> dict[str, Count]:
        """None: the trust model and the adjacency determine the method."""
        return {"count": self}

    def questions(self, terms: Terms) -> Generator[Query, Answer, CountEstimate]:
        """Count once.

        Privacy: one measurement at the whole of `terms.privacy`, or one report of every owner.
        """
        column = self.membership
        measured = yield from ask_two_places(column, terms)
        return CountEstimate(
            self.column, measured, missing=self.missing, confidence_level=self.confidence_level, values=column.values
        )


COUNT_COMMAND = Command(
    help={"among": "Values that count, public; by default any value that is not missing."},
    groups=dict.fromkeys(("among", "missing"), "What is measured"),
    owners={},
    compared="number",
)


# --- Proportion


@dataclass(frozen=True)
class Proportion:
    """The share of the records that have one of the values named, all other records being the rest.

    Fields:
        column: Column of numbers, truth values or text.
        positive: Value or values that count as positive, public; every other value does not, see `negative`.
        missing: What a missing value means: "refuse" (an error), "no" (it is not positive), or "drop" (not counted;
            ADD_OR_REMOVE only).
        confidence_level: Of the interval, above 0 and at most 0.9999.
        negative: Value or values that do not count as positive, public; where they are named, a value that is neither
            is an error. None takes every other value.
    """

    name: ClassVar[str] = "proportion"

    column: str
    _: KW_ONLY
    positive: LabelValue | tuple[LabelValue, ...] = 1
    missing: MembershipPolicy = one_of(*MEMBERSHIP_POLICIES)
    confidence_level: float = 0.95
    negative: LabelValue | tuple[LabelValue, ...] | None = added(None)

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))
        _ = self.membership

    @property
    def membership(self) -> Membership:
        """Whether a record is positive."""
        others = None if self.negative is None else several(self.negative)
        return Membership(self.column, several(self.positive), self.missing, others)

    def canonical(self) -> Proportion:
        """The canonical form of the statistic."""
        positive: Any = canonical_class(self.membership.values)
        return dataclasses.replace(self, positive=positive, negative=canonical_class(self.membership.others))

    def alternatives(self) -> dict[str, Proportion]:
        """None: the trust model and the adjacency determine the method."""
        return {"proportion": self}

    def questions(self, terms: Terms) -> Generator[Query, Answer, ProportionEstimate]:
        """Count once.

        Privacy: one measurement at the whole of `terms.privacy`, or one report of every owner.
        """
        column = self.membership
        measured = yield from ask_two_places(column, terms)
        return ProportionEstimate(
            self.column,
            measured,
            missing=self.missing,
            confidence_level=self.confidence_level,
            values=column.values,
            negative=column.others,
        )


PROPORTION_COMMAND = Command(
    help={
        "positive": "Value or values that count as positive, public; every other value does not.",
        "negative": "Value or values that do not count as positive, public; with them, a value that is neither is an "
        "error.",
    },
    groups=dict.fromkeys(("positive", "negative", "missing"), "What is measured"),
    owners={"missing": ("refuse", "no")},
    compared="number",
)


# --- Sum and mean


@dataclass(frozen=True)
class _OnLattice:
    """A question about one column whose values are rounded to a public lattice."""

    column: str
    bounds: tuple[Bound, Bound] | None = None
    _: KW_ONLY
    step: Rational | None = None
    missing: Missing = one_of("refuse", "low", "high", "drop")
    confidence_level: float = 0.95

    def __post_init__(self) -> None:
        """Refuse what no release could use, before any data is touched."""
        if not isinstance(self.column, str):
            raise ParameterError(f"`column` must be a column's name, got {quoted(self.column)}")
        object.__setattr__(self, "confidence_level", float(check_level(self.confidence_level)))
        binning = self.lattice.binning(self.column, self.missing)
        object.__setattr__(self, "missing", binning.missing)

    @property
    def lattice(self) -> Lattice:
        """The public numbers to which values are rounded."""
        return Lattice.of(self.bounds, self.step)

    def canonical(self) -> Self:
        """The one spelling that stands for all of the same question: bounds and step as exact numbers."""
        lattice = self.lattice
        bounds: Any = (lattice.low, lattice.high)
        return dataclasses.replace(self, bounds=bounds, step=lattice.step)


@dataclass(frozen=True)
class Sum(_OnLattice):
    """The sum of one column over the records.

    Fields:
        column: Numeric column.
        bounds: Smallest and largest possible value, public; values outside count as the nearer one.
        step: Distance between the evenly spaced numbers to which values are rounded; by default the smallest of 1, 2,
            5, 10, ... or 0.5, 0.2, 0.1, ... with at most 10,000 steps between the bounds. One that does not divide
            their distance is made a little smaller. The estimate says the step, and intervals count half of it for each
            record.
        missing: What a missing value means: "refuse" (an error), "low" or "high" (the lower or the upper bound), a
            public value that it is counted as, or "drop" (not counted; ADD_OR_REMOVE only).
        confidence_level: Of the interval, above 0 and at most 0.9999.
    """

    name: ClassVar[str] = "sum"

    def alternatives(self) -> dict[str, Sum]:
        """There is one way, which the trust model and the adjacency decide."""
        return {"sum": self}

    def questions(self, terms: Terms) -> Generator[Query, Answer, SumEstimate]:
        """Add up the values once.

        Privacy: one measurement at the whole of `terms.privacy`, or one report of every owner.
        """
        weights, lattice = sum_weights(self.lattice, terms.adjacency)
        measured = yield from ask_lattice(self.column, lattice, self.missing, weights, terms)
        return SumEstimate(
            self.column,
            measured,
            missing=self.missing,
            confidence_level=self.confidence_level,
            lattice=lattice,
            counts_rounding=True,
        )


SUM_COMMAND = Command(
    help={
        "bounds": "Smallest and largest possible value, public: two numbers. Values outside count as the nearer one."
    },
    groups={"step": "What is measured"},
    owner_help={"missing": OWNER_HELP["missing"]},
    owners={"missing": ("refuse", "low", "high"), "step": ()},
    compared="number",
)


@dataclass(frozen=True)
class Mean(_OnLattice):
    """The mean of one column, and the standard deviation of its values, which costs nothing more.

    Fields:
        column: Numeric column.
        bounds: Smallest and largest possible value, public; values outside count as the nearer one.
        step: Distance between the evenly spaced numbers to which values are rounded; by default the smallest of 1, 2,
            5, 10, ... or 0.5, 0.2, 0.1, ... with at most 10,000 steps between the bounds. One that does not divide
            their distance is made a little smaller. The estimate says the step, and intervals count half of it.
        missing: What a missing value means: "refuse" (an error), "low" or "high" (the lower or the upper bound), a
            public value that it is counted as, or "drop" (not counted; ADD_OR_REMOVE only).
        confidence_level: Of the interval, above 0 and at most 0.9999.
    """

    name: ClassVar[str] = "mean"

    def alternatives(self) -> dict[str, Mean]:
        """There is one way, which the trust model and the adjacency decide."""
        return {"mean": self}

    def questions(self, terms: Terms) -> Generator[Query, Answer, MeanEstimate]:
        """Add up the values and their squares once, and count the records where their number is private.

        Privacy: one measurement at the whole of `terms.privacy`, or one report of every owner.
        """
        lattice = self.lattice
        weights = mean_weights(lattice, terms.adjacency)
        measured = yield from ask_lattice(self.column, lattice, self.missing, weights, terms)
        return MeanEstimate(
            self.column,
            measured,
            missing=self.missing,
            confidence_level=self.confidence_level,
            lattice=lattice,
            counts_rounding=True,
        )


MEAN_COMMAND = SUM_COMMAND


# --- How the sums behind a number are asked for, by what the trust model serves and what is public
#
# Of two places: under REPLACE the number of records is public and one sum does, which a record changes by 1 at most;
# under ADD_OR_REMOVE a record is in one of two cells, and counting both costs what counting one does. Of a
# lattice: the sum of the numbers, beside it the number of records where that is private, and the squares, for nothing.
# Owners report one of two places; a number in between becomes one of them at random, so that it is right on average. Of
# a table every cell is counted.

Asking = Generator[Query, Answer, Measured]


def several(values: LabelValue | Sequence[LabelValue]) -> tuple[LabelValue, ...]:
    """Some values, where a single one may stand for itself."""
    if isinstance(values, list | tuple | set | frozenset):
        return tuple(values)
    return (cast(LabelValue, values),)


def ask_two_places(column: Membership, terms: Terms) -> Asking:
    """How many records are in a list of values."""
    if owners_answer(terms):
        return (yield from _ask_owners(column, "simple", terms))
    cells = Cells(Domain((column,)))
    if terms.adjacency is Adjacency.REPLACE:
        return (yield from ask_moments(cells, {"laplace": TOTAL, "gaussian": TOTAL}, terms))
    query = design_cells(cells, terms.privacy, terms.unit)
    return (yield from _ask(query, terms))


def ask_table(columns: tuple[Listed, ...], terms: Terms) -> Asking:
    """How many records there are of every combination of values of some columns.

    Under REPLACE a record moves two counts by 1; two counts that add up to the public number are one, which it moves by
    1 alone.
    """
    domain = Domain(columns)
    if owners_answer(terms):
        return (yield from _ask_reports(domain, best_oracle(domain.size, _of_each_report(terms)), "simple", terms))
    if domain.size == 2 and terms.adjacency is Adjacency.REPLACE:
        terms.check_cells(domain.size)
        return (yield from ask_moments(Cells(domain), {"laplace": TOTAL, "gaussian": TOTAL}, terms))
    return (yield from ask_cells(domain, terms))


def ask_cells(domain: Domain, terms: Terms) -> Asking:
    """A noisy count of every combination, of whom records are counted by; owners are not asked."""
    terms.check_cells(domain.size)
    return (yield from _ask(design_cells(Cells(domain), terms.privacy, terms.unit), terms))


def best_oracle(size: int, epsilon: Fraction) -> RandomizedResponse | UnaryOracle:
    """The oracle whose unbiased counts of equally frequent values have the smallest variance.

    Randomized response is best for few values or a large epsilon, unary encoding for others.
    """
    results: list[tuple[float, RandomizedResponse | UnaryOracle]] = []
    for form, kind in (("reports", RandomizedResponse), ("unary", UnaryOracle)):
        values = (1,) * (size + (form == "unary"))
        one = Measured(form, values, None, Adjacency.REPLACE, None, epsilon=epsilon)
        results.append((reported_variance(one, [(1.0, 1, 1 / size)]) / reports_of(one), kind(size, epsilon)))
    return min(results, key=lambda each: each[0])[1]


def ask_lattice(column: str, lattice: Lattice, missing: Missing, weights: dict[str, Weights], terms: Terms) -> Asking:
    """Sums of the numbers of a lattice, and what else the weights say."""
    if owners_answer(terms):
        ends = Grid.linear(float(lattice.low), float(lattice.high), bins=2)
        return (yield from _ask_owners(Binning(column, ends, missing), "randomized", terms))
    terms.check_cells(lattice.steps + 1)
    return (yield from ask_moments(Cells(Domain((Binning(column, lattice.grid(), missing),))), weights, terms))


def ask_moments(cells: Cells, weights: dict[str, Weights], terms: Terms) -> Asking:
    """Sums of one column."""
    return (yield from _ask(design_moments(cells, weights, terms.privacy, terms.unit), terms))


def mean_weights(lattice: Lattice, adjacency: Adjacency) -> dict[str, Weights]:
    """What is measured for a mean: twice as much of the guarantee for the sum as for the number of records.

    The squares then cost nothing: all that a record adds is largest at the ends of the lattice, where the third sum is
    0, and two records differ most at both ends.
    """
    last = lattice.steps
    private = adjacency is Adjacency.ADD_OR_REMOVE
    squares = int(last > 1)  # of two places they say nothing
    return {
        "laplace": Weights(last * last * private, 4 * last, -2 * last * last, squares),
        "gaussian": Weights((math.isqrt(last**4 // 2) + 1) * private, 2 * last, -last * last, squares),
    }


def sum_weights(lattice: Lattice, adjacency: Adjacency) -> tuple[dict[str, Weights], Lattice]:
    """What is measured for a sum, and on which lattice.

    Where the number of records is public, the sum of the places says it all. Where it is not, the values themselves are
    added up as multiples of a step, so the lattice is moved out to the nearest ones.
    """
    if adjacency is Adjacency.REPLACE:
        return {"laplace": TOTAL, "gaussian": TOTAL}, lattice
    step = lattice.step
    low, high = math.floor(lattice.low / step), math.ceil(lattice.high / step)
    weights = Weights(slope=1, shift=low)
    return {"laplace": weights, "gaussian": weights}, Lattice(low * step, high * step, high - low)


def _ask(query: CellsQuery | MomentsQuery, terms: Terms) -> Asking:
    answer = yield query
    held = answer.noise_of(query)
    return Measured(
        "cells" if isinstance(query, CellsQuery) else "moments",
        tuple(int(value) for value in answer.values),
        held.law if answer.noisy else None,
        terms.adjacency,
        answer.total,
        bits=query.bits,
        weights=query.weights if isinstance(query, MomentsQuery) else None,
    )


def _ask_owners(column: Column, rounding: str, terms: Terms) -> Asking:
    return (yield from _ask_reports(Domain((column,)), RandomizedResponse(2, _of_each_report(terms)), rounding, terms))


def _of_each_report(terms: Terms) -> Fraction:
    """The epsilon of one report of an owner."""
    if terms.adjacency is not Adjacency.REPLACE:
        raise UnsupportedError(
            "whoever gets reports can count them, so the number of records cannot be private; use `adjacency REPLACE`"
        )
    privacy = terms.privacy
    pure = privacy if isinstance(privacy, PureDP) else pure_epsilon(privacy)
    return loss_per_row(pure, terms.unit.max_rows_per_person).epsilon


def _ask_reports(domain: Domain, oracle: RandomizedResponse | UnaryOracle, rounding: str, terms: Terms) -> Asking:
    answer = yield ReportsQuery(RowValues(domain), oracle, rounding)
    reports = tuple(int(value) for value in answer.values)
    form = "reports" if isinstance(oracle, RandomizedResponse) else "unary"
    result = Measured(form, reports, None, terms.adjacency, None, epsilon=oracle.epsilon)
    return replace(result, total=reports_of(result))
