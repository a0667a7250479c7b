"""Questions that one sum of fixed-point numbers, or a few of them, answers: count, sum, proportion and mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self, TypedDict, get_args

from ogive.columns import MEMBERSHIP_POLICIES, LabelValue, Membership, MembershipPolicy, Missing
from ogive.columns.grids import Bound
from ogive.core.parameters import added, one_of
from ogive.privacy import Rational
from ogive.queries import Answer, Query
from ogive.statistics.base import Terms, canonical_class
from ogive.statistics.confidence import check_level
from ogive.statistics.ecdf.statistic import OWNER_HELP
from ogive.statistics.options import Command
from ogive.statistics.sums.ask import ask_lattice, ask_two_places, mean_weights, several, sum_weights
from ogive.statistics.sums.estimate import CountEstimate, MeanEstimate, ProportionEstimate, SumEstimate
from ogive.statistics.sums.lattice import Lattice

# --- Count

CountMissing = Literal["no", "refuse"]
MISSING: tuple[CountMissing, ...] = get_args(CountMissing)


class CountOptions(TypedDict, total=False):
    """The fields of `Count` that are options."""

    among: LabelValue | tuple[LabelValue, ...] | None
    missing: CountMissing
    confidence_level: float


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


class ProportionOptions(TypedDict, total=False):
    """The fields of `Proportion` that are options."""

    positive: LabelValue | tuple[LabelValue, ...]
    missing: MembershipPolicy
    confidence_level: float
    negative: LabelValue | tuple[LabelValue, ...] | None


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


class SumOptions(TypedDict, total=False):
    """The fields of `Sum` that are options."""

    bounds: tuple[Bound, Bound] | None
    step: Rational | None
    missing: Missing
    confidence_level: float


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


class MeanOptions(SumOptions, total=False):
    """The fields of `Mean` that are options."""


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
