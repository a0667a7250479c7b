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
from functools import lru_cache
from typing import Any, ClassVar, Literal, Protocol, TypeVar, cast, runtime_checkable

import numpy as np

from ogive.accounting import group_loss, pure_epsilon
from ogive.columns import Binning, Listed, OpenCategories, ReadColumn, may_drop
from ogive.core.arrays import Int64
from ogive.core.checks import KeptByType, plain_fields
from ogive.errors import ParameterError, plain, quoted
from ogive.local.base import Oracle, RandomWords
from ogive.local.oracles import PublicClasses
from ogive.local.values import check_rounding, rounded
from ogive.noise.base import NodeNoise
from ogive.noise.laws import widened
from ogive.privacy import Adjacency, Loss, Privacy, PrivacyUnit, PureDP, named_columns
from ogive.queries.aggregates import Aggregate, RowValues
from ogive.strategies.base import Level, Pointwise, Strategy, approximates
from ogive.strategies.composed import CountedPeople

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
            case Binning(outside="censor"):
                instead = "`where=` to leave these records out"
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


# --- One column


def check_size(strategy: Strategy | CountedPeople, bins: int) -> None:
    """Refuse a strategy that is for another number of thresholds."""
    if strategy.size != bins:
        raise ParameterError(f"the strategy covers {strategy.size} points but the grid has {bins}")


@dataclass(frozen=True)
class CurveQuery(Described, LinearQuery):
    """Noisy measurements of the histogram of one column.

    The pair (binning, strategy) is the *measurement*, priced once however often and at
    whatever points it is opened. `points` restricts the answer to some 0-based points,
    which only pointwise strategies (path noise) can do; None asks for the whole answer.
    """

    digested: ClassVar[str] = "curve"

    binning: Binning
    strategy: Strategy
    points: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_size(self.strategy, self.binning.grid.bins)
        if self.points is not None and not isinstance(self.strategy, Pointwise):
            raise ParameterError(
                f"method {quoted(self.strategy.name)} cannot be opened at single points; use method 'path'"
            )

    @property
    def method(self) -> str:
        return self.strategy.name

    @property
    def aggregate(self) -> Binning:
        return self.binning

    @property
    def measurement(self) -> tuple[Binning, Strategy]:
        """Binning and strategy, which are priced and to which the noise of a release is bound."""
        return self.binning, self.strategy

    @property
    def levels(self) -> tuple[Level, ...]:
        return self.strategy.levels

    def price(self, unit: PrivacyUnit) -> Loss:
        """Privacy loss of opening the measurement, all points included.

        Raises:
            ParameterError: missing values are dropped although the adjacency makes the number of
                records public.
        """
        check_missing(self.binning, unit.adjacency)
        return _loss(cast(Hashable, self.strategy), unit.adjacency, unit.max_rows_per_person)

    def description(self) -> dict[str, Any]:
        return {"binning": self.binning.to_dict(), "strategy": described(self.strategy)}

    def measure(self, sums: Int64) -> Int64:
        """The exact integers that the query asks for, from a histogram of shape (N,)."""
        if self.points is None:
            return self.strategy.measure(sums)
        assert isinstance(self.strategy, Pointwise)
        return self.strategy.measure_at(sums, np.array(self.points, dtype=np.int64))

    def noise(self, nodes: NodeNoise) -> Int64:
        strategy = self.strategy
        if self.points is None:
            return strategy.spread(draw(nodes, strategy.levels))
        assert isinstance(strategy, Pointwise)
        wanted = strategy.nodes_at(np.array(self.points, dtype=np.int64))
        levels = enumerate(strategy.levels)
        return strategy.spread_at(tuple(nodes.values(level.law, number, wanted[number]) for number, level in levels))


@lru_cache(maxsize=16)
def _loss(strategy: Any, adjacency: Adjacency, rows: int) -> Loss:
    alone: Loss = strategy.loss(adjacency)
    return group_loss(alone, rows)


# --- Reports that every owner randomizes, and the integers that they add up to

_CHUNK = 1 << 20


@dataclass(frozen=True)
class ReportsQuery(Query):
    """One report of every record's owner.

    Fields:
        rows: What a record is to its owner: a row of numbers, and their symbol.
        oracle: How the symbol is randomized.
        rounding: How numbers become symbols: "simple" (their bin) or "randomized" (one of the two nodes around
            them, drawn by the owner so that it is right on average).

    Raises:
        ParameterError: there is no rounding of this name, or it does not fit the columns.
    """

    kind: ClassVar[Kind] = "reports"

    rows: RowValues
    oracle: Oracle
    rounding: str = "simple"

    def __post_init__(self) -> None:
        check_rounding(self.rounding, self.rows.domain)

    @property
    def method(self) -> str:
        return self.oracle.name

    @property
    def aggregate(self) -> RowValues:
        return self.rows

    @property
    def levels(self) -> tuple[Level, ...]:
        """No levels, since every report has its own noise."""
        return ()

    @property
    def public_columns(self) -> tuple[str, ...]:
        """The last column, where owners send it as it is."""
        return (self.rows.domain.columns[-1].column,) if isinstance(self.oracle, PublicClasses) else ()

    def price(self, unit: PrivacyUnit) -> Loss:
        """Loss of all reports of one person.

        Raises:
            ParameterError: the number of records would be private, or missing values are dropped: whoever gets the
                reports can count them.
        """
        if unit.adjacency is Adjacency.ADD_OR_REMOVE:
            raise ParameterError(
                "reports can be counted by anyone who receives them, so the number of records cannot be private; "
                "use `adjacency REPLACE`"
            )
        for column in self.rows.domain.columns:
            check_missing(column, unit.adjacency)
        return group_loss(self.oracle.loss, unit.max_rows_per_person)

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        """How many reports there are."""
        return (len(sums),)

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of the description and of all rows; as secret as the data."""
        return rows_digest("reports", plain_fields(self), sums)

    def collect(self, sums: Int64, *, source: RandomWords) -> Int64:
        """What the reports of all owners add up to, each drawn as its owner would.

        Rows are numbered in a random order, so that what a participant is asked does not depend on the
        order of a table.

        Args:
            sums: The rows, as their aggregate gives them.
            source: The owners' random bits.

        Returns:
            Sums of the oracle's shape.
        """
        symbols = rounded(self.rows.domain, self.rows.values(sums), self.rounding, source=source)
        order = np.argsort(source.words(2 * len(symbols)).view(np.uint64), kind="stable")
        numbers = np.empty(len(symbols), dtype=np.int64)
        numbers[order] = np.arange(len(symbols))
        result = np.zeros(self.oracle.shape, dtype=np.int64)
        for start in range(0, len(symbols), _CHUNK):
            part = slice(start, start + _CHUNK)
            payloads = self.oracle.randomize(symbols[part], numbers[part], source=source)
            assert bool(self.oracle.add(result, numbers[part], payloads).all())
        return result
