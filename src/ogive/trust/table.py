"""Trust models of one table: a curator, exact answers, and owners who randomize their records, simulated or not."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from ogive.columns import Schema
from ogive.core.arrays import Int64
from ogive.core.checks import Progress
from ogive.crypto.domains import derived_key
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.noise import DerivedNodes, KeyedSource
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.provenance import trust_statement
from ogive.queries import Aggregate, Answer, CuratorQuery, Kind, ReportsQuery
from ogive.records import Records
from ogive.records.missing_words import NaValues
from ogive.trust.base import Opening, QueryT, TableModel, TrustModel, TrustOptions
from ogive.trust.models import CentralOptions, ClearOptions, LocalOptions

if TYPE_CHECKING:
    from ogive.local.collection import Collection


class SingleTable(TableModel):
    """A trust model of one table, whose rows are bounded per person.

    Rows are chosen by "siphash", their contents, or "md5", the cells that they count in: by default by the first, and
    by the second in tables of an engine.
    """

    def __init__(
        self,
        data: Any,
        *,
        person: str | None = None,
        max_rows_per_person: int = 1,
        row_choice: str | None = None,
        na_values: NaValues = (),
    ) -> None:
        self.options = self.options_type()
        self.records = Records.of(data, na_values=na_values).bounded(person, max_rows_per_person, row_choice)

    @classmethod
    def simulated(
        cls, options: Any, data: Any, *, person: str | None, max_rows_per_person: int, progress: Progress | None
    ) -> Self:
        return cls(data, person=person, max_rows_per_person=max_rows_per_person)

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        records = self.records
        return PrivacyUnit(adjacency, records.person, records.max_rows_per_person, row_choice=records.row_choice)

    def count(self) -> int:
        return self.records.count()

    def data_digest(self) -> bytes:
        return self.records.digest()

    def schema(self) -> Schema:
        return self.records.schema()

    def check_columns(self, columns: Sequence[str]) -> None:
        self.records.check_columns(columns)


class TableOpening(Opening[QueryT]):
    """One release of one table, fixed to its data, adjacency and secret."""

    def __init__(self, records: Any, adjacency: Adjacency, secret: bytes) -> None:
        self._records = records
        self._adjacency = adjacency
        self.secret = secret
        self._sums: dict[Aggregate, Int64] = {}

    def _aggregate(self, aggregate: Aggregate) -> Int64:
        # summed once: what a file holds may change while a release is open, the release may not
        if aggregate not in self._sums:
            self._sums[aggregate] = self._records.aggregate(aggregate)
        return self._sums[aggregate]


# --- A trusted curator, who sees all records and adds the noise
#
# Roles: the curator holds the records and the noise key; the analyst sees answers only. Noise is a deterministic
# function of the release's secret key, a digest of everything that fixes the release (data snapshot, binning, strategy,
# adjacency) and the node, so asking again returns the same integers and never averages the noise away.


class Central(SingleTable):
    """A trusted curator, who sees every record and adds the noise.

    Args:
        data: Anything `Records.of` reads: a file, a frame, a dictionary of arrays.
        person: Column with the person's identifier, if a person may have several records. The guarantee is then for
            persons, not for records.
        max_rows_per_person: How many of a person's records are kept, chosen at random.
        na_values: Texts and numbers that mark a missing value in any column, in addition to the usual ones such
            as NA.
    """

    options_type = CentralOptions

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> CentralOpening:
        """Begin a release with its noise key, or go on with one: the key alone fixes its noise."""
        return CentralOpening(self.records, adjacency, secret)


class CentralOpening(TableOpening[CuratorQuery]):
    """One release by a curator, whose secret is the noise key."""

    def answer(self, query: CuratorQuery) -> Answer:
        """Exact sums plus the release's own noise.

        Privacy: `query.price(unit)` once per measurement, however often it is opened.
        """
        sums = self._aggregate(query.aggregate)
        nodes = DerivedNodes(self.secret, self.context(query))
        return Answer(query.answer(sums, nodes), query.totals(sums, self._adjacency))

    def context(self, query: CuratorQuery) -> bytes:
        return query.digest(self._aggregate(query.aggregate), self._adjacency)


# --- Exact answers without privacy: the oracle of the tests, and a way to look at one's own data


class Clear(SingleTable):
    """Answers every query exactly. Nothing it returns may be published.

    Args:
        data: Anything `Records.of` reads: a file, a frame, a dictionary of arrays.
        person: Column with the person's identifier, if a person may have several records. The guarantee is then for
            persons, not for records.
        max_rows_per_person: How many of a person's records are kept, chosen at random.
        na_values: Texts and numbers that mark a missing value in any column, in addition to the usual ones such
            as NA.
    """

    options_type = ClearOptions

    def open(self, adjacency: Adjacency, *, source: RandomSource) -> _ClearOpening:
        """Start a release without noise; the source stays untouched."""
        return _ClearOpening(self.records, adjacency, b"")

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> _ClearOpening:
        """The same as `open`: there is no noise to continue."""
        return _ClearOpening(self.records, adjacency, b"")


class _ClearOpening(CentralOpening):
    def answer(self, query: CuratorQuery) -> Answer:
        sums = self._aggregate(query.aggregate)
        return Answer(query.answer(sums, None), query.totals(sums, self._adjacency), noisy=False)


# --- The local model: every record is randomized at its owner
#
# Roles: each owner sends one randomized report; the aggregator adds reports up; the analyst sees estimates. Whoever
# sees a report, the aggregator included, learns what the report's own epsilon allows and no more.
#
# What is simulated here: the owners of a table live in one process, which derives their random bits from one secret of
# the release, so that a release that was cut off goes on with the same reports. A real collection goes by
# `ogive.local`, through files or a network.


class Local(SingleTable):
    """Every record's owner sends one randomized report, and nobody sees a record.

    Args:
        data: Anything `Records.of` reads: a file, a frame, a dictionary of arrays; each row is one owner's.
        person: Column with the person's identifier, if a person may own several records. Each record is then a report
            of its own, and the guarantee for the person covers all of them.
        max_rows_per_person: How many of a person's records are reported, chosen at random.
        na_values: Texts and numbers that mark a missing value in any column, in addition to the usual ones such
            as NA.

    Example:
        >>> import numpy as np, ogive
        >>> incomes = {"income": np.random.default_rng(1).gamma(2, 10_000, size=20_000)}
        >>> gini = ogive.Ustatistic("income", "gini", bounds=(0, 200_000))
        >>> spread = ogive.release(gini, trust=ogive.Local(incomes), privacy=ogive.PureDP(1))
    """

    options_type = LocalOptions

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> _LocalOpening:
        """Continue a release from its secret."""
        return _LocalOpening(self.records, adjacency, secret)


class _LocalOpening(TableOpening[ReportsQuery]):
    """One collection of reports."""

    def answer(self, query: ReportsQuery) -> Answer:
        """What the reports of all owners add up to.

        Privacy: `query.price(unit)` for every person, against everybody.
        """
        rows = self._aggregate(query.rows)
        source = KeyedSource(derived_key(self.secret, b"ogive local\n" + self.context(query)))
        return Answer(query.collect(rows, source=source), query.totals(rows, self._adjacency))

    def context(self, query: ReportsQuery) -> bytes:
        return query.digest(self._aggregate(query.rows), self._adjacency)


# --- Reports that were really collected: owners randomized their own records, and this process saw none
#
# Roles: as for `Local`, but owners answered a description, and an aggregator added their reports up. A release from a
# collection is post-processing of what owners gave away: it costs them nothing more.

FEWEST = 2
"""Reports below which nothing can be said of their error."""


@dataclass(frozen=True)
class CollectedOptions(TrustOptions):
    """What is known of a collection before anything is estimated."""

    name: ClassVar[str] = "local"
    serves: ClassVar[frozenset[Kind]] = frozenset({"reports"})
    limits: ClassVar[str] = "only randomized reports were collected"
    instead: ClassVar[str] = "estimate what their description asked for"

    collection: Collection

    @property
    def assumption(self) -> str:
        """Who holds the records: the participants, who are trusted to report truthfully."""
        people = self.collection.description.participants
        return trust_statement(
            holds="Each participant holds their own record, and their own device randomized it.",
            sees="Everyone else sees only the randomized report that was sent. "
            f"{self.collection.accepted} of {people} participants reported.",
            assumed="Nobody is trusted with another's record. Participants are assumed to report truthfully.",
        )


class Collected(TrustModel):
    """The reports of people who answered one description.

    Args:
        collection: The collection that holds their reports.

    Raises:
        ParameterError: the argument is not a collection.
    """

    options_type = CollectedOptions
    made_of = "a collection of reports, as in `ogive.{name}(collection)`"

    def __init__(self, collection: Collection) -> None:
        from ogive.local.collection import Collection  # a curator needs no aggregator

        if not isinstance(collection, Collection):
            raise ParameterError(f"Collected takes a Collection of reports, got {type(collection).__name__}")
        self.options = CollectedOptions(collection)
        self.collection = collection

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """One participant, who sends one report."""
        return PrivacyUnit(adjacency)

    def data_digest(self) -> bytes:
        return self.collection.digest()

    def count(self) -> int:
        """Number of participants who were asked. The question is designed for this number, however many answer."""
        return self.collection.description.participants

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> _CollectedOpening:
        """Continue a release; nothing is drawn, since all noise is in the reports."""
        return _CollectedOpening(self.collection, secret)


class _CollectedOpening(Opening[ReportsQuery]):
    """One release of what reports add up to."""

    def __init__(self, collection: Collection, secret: bytes) -> None:
        self._collection = collection
        self.secret = secret

    def answer(self, query: ReportsQuery) -> Answer:
        """What the reports add up to.

        Privacy: none is lost but by the reports themselves, `query.price(unit)` for every participant.
        """
        self._check(query)
        counts = self._collection.counts
        if counts.accepted < FEWEST:
            raise UnsupportedError(
                f"at least {FEWEST} reports are needed to tell the error of an estimate, "
                f"but {counts.accepted} were accepted and {counts.refused} refused"
            )
        return Answer(self._collection.sums, (counts.accepted,))

    def context(self, query: ReportsQuery) -> bytes:
        self._check(query)
        return self._collection.digest()

    def _check(self, query: ReportsQuery) -> None:
        known = self._collection.description
        if (query.rows.domain, query.oracle, query.rounding) != (known.domain, known.oracle, known.rounding):
            raise UnsupportedError(
                "these reports answer another question than this statistic asks; estimate the statistic of the "
                "description"
            )


# --- Several parties with the records of different people: reading them, and saying at which one something is wrong

ReadT = TypeVar("ReadT")


@contextmanager
def naming(number: int, parties: int) -> Iterator[None]:
    """Say at which of several parties, counted from 1, something is wrong."""
    try:
        yield
    except (DataError, ParameterError) as problem:
        if parties == 1:
            raise
        raise problem.prefixed(f"party {number + 1}") from None


class SeveralTables(TableModel):
    """A trust model of parties who hold a table each; no person is in two of them."""

    parties: tuple[Records, ...]

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        first = self.parties[0]
        return PrivacyUnit(adjacency, first.person, first.max_rows_per_person, row_choice=first.row_choice)

    def count(self) -> int:
        """Records of all parties who take part, after bounding."""
        return sum(_at_each(self.parties, Records.count, without=self.absent))

    @property
    def absent(self) -> frozenset[int]:
        """Parties, counted from 1, whose records are not counted."""
        return frozenset()

    def data_digest(self) -> bytes:
        result = hashlib.sha256(b"ogive parties\n")
        for digest in _at_each(self.parties, Records.digest):
            result.update(digest)
        return result.digest()

    def schema(self) -> Schema:
        """What the columns hold at the first party who has any records; all parties have the same columns."""
        first = next((each for each in self.parties if not each.is_empty), self.parties[0]).schema()
        return dataclasses.replace(first, with_missing=self._with_missing)

    def _with_missing(self, columns: Sequence[str]) -> tuple[str, ...]:
        result = {name for each in self.parties for name in each.schema().with_missing(columns)}
        return tuple(name for name in columns if name in result)

    def check_columns(self, columns: Sequence[str]) -> None:
        for records in self.parties:
            records.check_columns(columns)


def _at_each(
    parties: Sequence[Records], read: Callable[[Records], ReadT], *, without: Container[int] = ()
) -> Iterator[ReadT]:
    """What is read of the records of every party but some, counted from 1."""
    for number, records in enumerate(parties):
        if number + 1 not in without:
            with naming(number, len(parties)):
                result = read(records)
            yield result


def read_parties(
    parties: Sequence[Any], *, person: str | None, max_rows_per_person: int, na_values: NaValues = ()
) -> tuple[Records, ...]:
    """The records of every party, bounded per person; a party may have none."""
    known: dict[object, int] = {}
    for number, data in enumerate(parties, 1):
        same = Path(data).resolve() if isinstance(data, str | os.PathLike) else id(data)
        if same in known:
            raise ParameterError(
                f"parties {known[same]} and {number} have the very same records, so everybody would count twice"
            )
        known[same] = number
    read = []
    for number, data in enumerate(parties):
        with naming(number, len(parties)):
            read.append(Records.of_party(data, na_values=na_values).bounded(person, max_rows_per_person))
    return tuple(read)


def party_sums(parties: Sequence[Records], aggregate: Aggregate) -> tuple[Int64, ...]:
    return tuple(_at_each(parties, lambda records: records.aggregate(aggregate)))
