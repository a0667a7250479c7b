"""What every query can do, and what comes back for it.

A query is plain data: which exact integers it needs of the records (`aggregate`), which of their
integer combinations are wanted (`measure`), which independent integer noise is added where
(`levels`, `noise`), and what that costs (`price`). A query that is not linear (the place of a noisy
maximum, say) has only its whole `answer`, for those who may see all records at once; a query for reports that every
owner randomizes (`ReportsQuery`) has no answer but what the reports add up to. Any party can rebuild and check it;
nothing executable is sent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeVar, cast, runtime_checkable

import numpy as np

from ogive.accounting import pure_epsilon
from ogive.columns import Binning, Listed, OpenCategories, ReadColumn, may_drop
from ogive.core.arrays import Int64
from ogive.core.checks import KeptByType
from ogive.core.parameters import plain_fields
from ogive.errors import ParameterError, plain, quoted
from ogive.noise.base import NodeNoise
from ogive.noise.laws import widened
from ogive.privacy import Adjacency, Loss, Privacy, PrivacyUnit, PureDP, named_columns
from ogive.queries.aggregates import Aggregate
from ogive.strategies.base import Level, Strategy, approximates

MeasuredT = TypeVar("MeasuredT")
CountedT = TypeVar("CountedT")

Kind = Literal["linear", "curator", "reports", "pairs"]
"""Who can answer a query: whoever adds up, who sees all records at once, the records' owners, or pairs of people."""


class Query(Protocol, metaclass=KeptByType):
    """What every query is: frozen plain data, of classes that have no subclass."""

    kind: ClassVar[Kind]
    """Who can answer it."""

    @property
    def method(self) -> str:
        """Name of what is measured, for the provenance."""

    @property
    def aggregate(self) -> Aggregate:
        """The exact integers that are needed of the records."""

    @property
    def measurement(self) -> Hashable:
        """What is priced once, at however many points it is opened: by default the query itself."""
        return cast(Hashable, self)  # as frozen dataclasses are

    @property
    def levels(self) -> tuple[Level, ...]:
        """The independent noise variables, level by level."""

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of opening the measurement whole.

        Raises:
            ParameterError: the query cannot be asked under this adjacency.
        """

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        """Exact numbers of records that the adjacency makes public, or None: of all of them under REPLACE."""
        return (self.aggregate.records(sums),) if adjacency is Adjacency.REPLACE else None

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of all that fixes the measurement: aggregated data and public description.

        As secret as the data: whoever can guess the sums can check the guess.
        """


@runtime_checkable
class CuratorQuery(Query, Protocol):
    """A query that can be answered by who sees all records at once."""

    kind: ClassVar[Kind] = "curator"

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """What is opened, from the aggregate and the noise of the release; None for no noise."""


@runtime_checkable
class LinearQuery(CuratorQuery, Protocol):
    """A query whose answer is a linear map of the aggregate plus one of the noise.

    Parties who each hold some of the records, and some of the noise, can add theirs up.
    """

    kind: ClassVar[Kind] = "linear"

    def answer(self, sums: Int64, nodes: NodeNoise | None) -> Int64:
        """The exact integers plus the noise."""
        exact = self.measure(sums)
        return exact if nodes is None else exact + self.noise(nodes)

    def measure(self, sums: Int64) -> Int64:
        """The exact integers that the query asks for, from the aggregate; linear."""

    def noise(self, nodes: NodeNoise) -> Int64:
        """What the node noise adds to `measure`, same shape."""


class Described:
    """What queries share whose public description is plain data: by default all of their fields."""

    digested: ClassVar[str]
    """How the digests of its kind begin."""

    def description(self) -> dict[str, Any]:
        """All that fixes the measurement, but for the adjacency."""
        return plain_fields(self)

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of the aggregated data, `description` and the adjacency; as secret as the data."""
        return digest(self.digested, {**self.description(), "adjacency": adjacency.value}, sums)


@runtime_checkable
class Publishing(Protocol, metaclass=KeptByType):
    """What a query whose price or answer assumes public columns must also tell."""

    @property
    def public_columns(self) -> tuple[str, ...]:
        """Columns whose exact counts it publishes under REPLACE, and which no adjacent data set may change there."""


def undeclared(query: Query, unit: PrivacyUnit) -> str | None:
    """Why a query says more than a privacy unit hides, and what would be right, or None if it does not.

    Args:
        query: What is asked.
        unit: Whose data are hidden, and which columns are public.
    """
    if unit.adjacency is not Adjacency.REPLACE or not isinstance(query, Publishing):
        return None
    if unit.person is not None and query.public_columns:
        return (
            "this publishes how many persons there are of each value of "
            f"{plain(named_columns(query.public_columns))}, and "
            "which row of a person is kept depends on all of their values; ask without `public_labels` or "
            "`public_groups`"
        )
    lacking = [column for column in query.public_columns if column not in unit.public]
    if not lacking:
        return None
    return (
        f"this publishes how many records there are of each value of {plain(named_columns(lacking))}, which the "
        "guarantee hides; ask without `public_labels` or `public_groups`, or declare public columns (an account can "
        f"when it is created): `public=[{', '.join(map(quoted, (*unit.public, *lacking)))}]`"
    )


@dataclass(frozen=True)
class Answer:
    """Integers that came back for a query.

    Fields:
        values: Noisy measurements, int64, in the shape that the query's `measure` gives.
        totals: Exact numbers of records where the adjacency makes them public: of all records, or of
            each class where labels are public; else None.
        noisy: False only where the trust model has no privacy.
        adding: How many parties added noise of their own.
        honest: How many of their shares make up the query's noise; with fewer than are added there is more of it.
    """

    values: Int64
    totals: tuple[int, ...] | None
    noisy: bool = True
    adding: int = 1
    honest: int = 1

    @property
    def total(self) -> int | None:
        """The number of all records where it is public."""
        return None if self.totals is None else sum(self.totals)

    def noise_of(self, measured: MeasuredT) -> MeasuredT:
        """The strategy or query that was answered, with the noise that the answer really has."""
        return measured if self.adding == self.honest == 1 else widened(measured, self.adding, self.honest)


def check_missing(column: ReadColumn, adjacency: Adjacency) -> None:
    """Check that the number of records is private where missing values are dropped."""
    if adjacency is Adjacency.REPLACE and may_drop(column):
        what, published = "missing", "missing"
        match column:
            case Binning():
                instead = "`missing='low'`, `'high'` or a public value"
            case Listed() if column.missing != "drop":
                what, published, instead = "other", "not declared", "`other='count'`"
            case Listed() | OpenCategories():
                instead = "`missing='count'`"
            case _:
                instead = "`missing='no'`"
        raise ParameterError(
            f"`{what}='drop'` would publish how many values are {published}, since replacing a record may change it; "
            f"use {instead}, or `adjacency ADD_OR_REMOVE`"
        )


def digest(kind: str, public: dict[str, Any], sums: Int64) -> bytes:
    """SHA-256 of a measurement's public description and its aggregated data, unambiguously joined."""
    text = json.dumps(public, sort_keys=True).encode()
    result = hashlib.sha256(f"ogive {kind} measurement 1\n".encode() + len(text).to_bytes(8, "big") + text)
    result.update(sums.astype("<i8").tobytes())
    return result.digest()


def rows_digest(kind: str, public: dict[str, Any], sums: Int64) -> bytes:
    """SHA-256 of the public description of a query that sees rows, and of all rows."""
    result = hashlib.sha256(f"ogive {kind} 1\n".encode() + json.dumps(public, sort_keys=True).encode() + b"\n")
    result.update(np.ascontiguousarray(sums).astype("<i8").tobytes())
    return result.digest()


def described(strategy: Strategy) -> dict[str, Any]:
    """Plain data that fixes what a strategy measures, to the last bit.

    Features are computed from the fields; a version that computed them otherwise must not add the same noise, since
    the difference of the two answers would be exact.
    """
    public = strategy.to_dict()
    if approximates(strategy):
        public["features"] = hashlib.sha256(strategy.features.astype("<i8").tobytes()).hexdigest()
    return public


def with_least_noise(
    privacy: Privacy, design: Callable[[Privacy], CountedT], variance: Callable[[CountedT], float]
) -> CountedT:
    """The query with less variance of those designed for a guarantee and for the pure one that implies it.

    Raises:
        ScaleError: the noise of both is larger than can be drawn.
        ParameterError: neither can be designed.
    """
    pure = privacy if isinstance(privacy, PureDP) else pure_epsilon(privacy)
    results: list[CountedT] = []
    problem: ParameterError | None = None
    for grant in dict.fromkeys((privacy, pure)):
        try:
            results.append(design(grant))
        except ParameterError as refused:
            problem = refused
    if not results:
        assert problem is not None, "nothing was tried"
        raise problem
    return min(results, key=variance)


def draw(nodes: NodeNoise, levels: tuple[Level, ...], *, first: int = 0) -> tuple[Int64, ...]:
    """The noise of every node of some levels, which are numbered from `first`."""
    return tuple(nodes.values(level.law, first + number, np.arange(level.nodes)) for number, level in enumerate(levels))
