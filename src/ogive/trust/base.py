"""What every trust model can do, and which queries it serves.

A trust model answers queries over records it never shows, and knows nothing of what the answers are for. It is made of
options and records. The options tell all that can be known without records: whom one has to trust, which queries are
served, how many add noise, what the protocol takes. So a plan needs options alone. `open` starts one release: from then
on the data, the adjacency and the noise key are fixed, so that an answer asked for twice is the same answer.

A query says of what kind it is, a trust model which kinds it serves. `unserved` alone knows the words for every
combination of the two, so that no trust model names queries of another.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from ogive.errors import ParameterError, quoted

if TYPE_CHECKING:
    from ogive.columns import Schema
    from ogive.core.checks import Progress
    from ogive.noise.base import RandomSource
    from ogive.privacy import Adjacency, PrivacyUnit
    from ogive.queries import Answer, Kind, Query
    from ogive.queries.labels import ServedQuery

QueryT = TypeVar("QueryT", bound="Query", contravariant=True)

_ELSEWHERE: dict[Kind, str] = {
    "reports": "these are reports that every record's owner randomizes; use trust local, or a method without reports",
    "pairs": "these are values that pairs of people compute between themselves; use trust pairs, or another method",
}
_INSTEAD = {
    "sparse_vector": ("five_numbers", "resample"),
    "kernel": ("kernel", "cells"),
    "degrees": ("degrees", "cells"),
}
"""For what is measured, the name by which it was asked for, and the method that adds up."""


@dataclass(frozen=True)
class Traffic:
    """What a release takes of machines where no single one sees the records, from public numbers alone.

    Fields:
        upload: What goes up: "vectors", or from clients of servers "keys", "tables" or "sums".
        bytes_per_party: What each party, or client, sends.
        bytes_per_server: What the busiest server receives, of parties and of other servers.
        seconds: That one core computes at whoever has most to do; a prediction.
        bytes_to_party: What each party receives; nothing at a client, who leaves.
    """

    upload: str
    bytes_per_party: int
    bytes_per_server: int
    seconds: float
    bytes_to_party: int = 0


class Opening(ABC, Generic[QueryT]):
    """One release in progress, which answers queries of the kinds that its trust model serves."""

    secret: bytes
    """All that is needed to continue later with the same noise; as secret as the data."""

    replayed: ClassVar[bool] = False
    """Whether a resumed release must ask the same questions again in the same order."""

    @property
    def uploaded(self) -> str:
        """What was sent to whom, in a sentence that depends on public numbers alone; empty if nothing was sent."""
        return ""

    @abstractmethod
    def answer(self, query: QueryT) -> Answer:
        """Answer a query that is served; the same query gets the same integers."""

    @abstractmethod
    def context(self, query: QueryT) -> bytes:
        """Digest of all that fixes the noise of a measurement, for which the records are read."""

    def takes(self, query: QueryT) -> bool:
        """Whether answering uses up something that exists only once, so that the question must be recorded first."""
        return False


class TrustOptions(ABC):
    """What is known of a trust model without any records.

    A subclass is a frozen dataclass, whose fields are the options of the model, in Python and on the command line. Its
    module imports nothing large, since every `--help` of a release needs it.
    """

    name: ClassVar[str]
    """Short name, as on the command line."""

    summary: ClassVar[str]
    """Who holds the records, in a few words for the help of the command line."""

    private: ClassVar[bool] = True
    """Whether answers carry noise; only `clear` has none."""

    serves: ClassVar[frozenset[Kind]]
    """The kinds of query that are answered."""

    limits: ClassVar[str] = ""
    """Why other kinds are refused, as a clause of the message."""

    instead: ClassVar[str | None] = None
    """What would work for other kinds, if that does not follow from the kinds that are served."""

    @property
    @abstractmethod
    def assumption(self) -> str:
        """Who holds the records, what each of them sees and what is assumed, printed on every release."""

    @property
    def adding(self) -> int:
        """Number of parties that add noise if none leaves."""
        return 1

    @property
    def honest(self) -> int:
        """Number of shares that make up the required noise; if more are added, there is more noise than required."""
        return 1

    @property
    def terms(self) -> Any:
        """What several parties agree on beforehand, as frozen plain data; other terms make another release.

        None if there is a single party.
        """
        return None

    def refusal(self, query: Query) -> str | None:
        """Why the query cannot be answered and what would work, or None if it can."""
        return unserved(query, self.serves, limits=self.limits, instead=self.instead)

    def cell_limit(self, cells: int) -> str | None:
        """Why records cannot be counted in this number of cells and what would work, or None if they can."""
        return None

    def traffic(self, queries: Sequence[ServedQuery], *, records: int, adjacency: Adjacency) -> tuple[Traffic, ...]:
        """Bytes and seconds of all these questions together, for every protocol that fits; the one used comes first.

        Empty if no machines exchange bytes.
        """
        return ()


def check_classes_named(query: Query, who: str) -> None:
    """Refuse a label whose other class nobody named: owners of single records, or of some, do not see what it is."""
    from ogive.columns import Label  # a help needs neither
    from ogive.records.contributions import columns_of

    for column in columns_of(query.aggregate):
        if isinstance(column, Label) and column.negative is None:
            other = "`negative='no'`" if isinstance(column.positive[0], str) else "`negative=0`"
            raise ParameterError(
                f"{who} cannot compare which other class they mean; say the negative class, for example {other}"
            )


class TrustModel(ABC):
    """Who holds the records, and who adds the noise."""

    options_type: ClassVar[type[TrustOptions]]
    """Type of the options."""

    name: ClassVar[str]
    """Short name, that of the options."""

    private: ClassVar[bool]
    """Whether answers carry noise, as the options say."""

    digest_in_question: ClassVar[bool] = False
    """Whether questions in the same words may be about other records, so that a digest of these is part of them."""

    holds: ClassVar[str] = "records"
    """What questions are asked of, in a word."""

    made_of: ClassVar[str] = (
        "records: a file, a data frame or a dict of columns, as in `ogive.{name}('patients.parquet')`; where the "
        "records are given elsewhere, as in a `Session`, name the type alone, `trust=ogive.{name}`"
    )
    """What the first argument is, in words after "needs" in which the class has its name."""

    options: TrustOptions

    def __init_subclass__(cls) -> None:
        """Take name and privacy from the options, and say what is needed where the first argument is left out."""
        super().__init_subclass__()
        if "options_type" in vars(cls):
            cls.name, cls.private = cls.options_type.name, cls.options_type.private
        if "__init__" in vars(cls):
            model: Any = cls
            model.__init__ = _naming_what_is_needed(vars(cls)["__init__"])

    @property
    def public_terms(self) -> TrustOptions | None:
        """What fixes `refusal` and `cell_limit`, and holds no records; None where nothing public does."""
        return None

    @property
    def assumption(self) -> str:
        """Who holds the records, what each of them sees and what is assumed, printed on every release."""
        return self.options.assumption

    @property
    def adding(self) -> int:
        """Number of parties that add noise if none leaves."""
        return self.options.adding

    @property
    def honest(self) -> int:
        """Number of shares that make up the required noise; if more are added, there is more noise than required."""
        return self.options.honest

    def refusal(self, query: Query) -> str | None:
        """Why this model cannot answer the query and what would work, or None if it can.

        Raises:
            ParameterError: the query leaves open what this model must be told.
        """
        return self.options.refusal(query)

    def cell_limit(self, cells: int) -> str | None:
        """Why records cannot be counted in this number of cells and what would work, or None if they can."""
        return self.options.cell_limit(cells)

    @abstractmethod
    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """Whose data a release under this adjacency hides: a record, or a person with all their records.

        Raises:
            ParameterError: the adjacency does not fit how many records a person may have.
        """

    @abstractmethod
    def count(self) -> int:
        """How many records there are, read without any noise; to be asked only where that number is public.

        Raises:
            DataError: the records cannot be read.
        """

    def data_digest(self) -> bytes | None:
        """SHA-256 of all records, as secret as they are; None where they are not told apart."""
        return None

    def check_columns(self, columns: Sequence[str]) -> None:
        """Refuse columns that the records lack, where this model holds records with columns.

        Raises:
            DataError: one is not there; says which are.
        """
        return

    def schema(self) -> Schema | None:
        """What the columns of the records hold, which is public; None where this model holds none with columns.

        Raises:
            DataError: the records cannot be read.
        """
        return None

    def open(self, adjacency: Adjacency, *, source: RandomSource) -> Opening[Any]:
        """Start a release under the adjacency, with a fresh secret from the source."""
        return self.resume(adjacency, secret=source.key())

    @abstractmethod
    def resume(self, adjacency: Adjacency, *, secret: bytes) -> Opening[Any]:
        """Begin a release with its secret, or go on with one; the caller compares contexts before asking anything."""


def _naming_what_is_needed(make: Callable[..., None]) -> Callable[..., None]:
    """The constructor of a trust model; where its first argument is left out, one line says what that is."""
    first = list(inspect.signature(make).parameters)[1]

    @functools.wraps(make)
    def checked(self: TrustModel, *arguments: Any, **options: Any) -> None:
        if not arguments and first not in options:
            name = type(self).__name__
            raise ParameterError(f"{name} needs {self.made_of.format(name=name)}", parameter=first)
        make(self, *arguments, **options)

    return checked


class TableModel(TrustModel):
    """A trust model that can be made of one table, dealt out as the options say."""

    @property
    def public_terms(self) -> TrustOptions | None:
        """Its options, which fix what it refuses, unless a subclass refuses more."""
        return self.options if type(self).refusal is TrustModel.refusal else None

    @classmethod
    @abstractmethod
    def simulated(
        cls, options: Any, data: Any, *, person: str | None, max_rows_per_person: int, progress: Progress | None
    ) -> Self:
        """The model of one table, with options of the type `options_type`; progress is that of many steps."""

    @classmethod
    def option_fields(cls) -> tuple[dataclasses.Field[Any], ...]:
        """What the model takes beside the records."""
        kind: Any = cls.options_type
        return dataclasses.fields(kind)

    @classmethod
    def arguments(cls, options: Any) -> dict[str, Any]:
        """Options as arguments of the model, but how many parties one table is dealt to."""
        return {each.name: getattr(options, each.name) for each in cls.option_fields() if each.name != "parties"}


def check_trust(trust: object, *, what: str) -> None:
    """Refuse what holds no records."""
    if isinstance(trust, type) and issubclass(trust, TrustModel):
        raise ParameterError(f"{what} needs records: `trust=`ogive.{trust.__name__}(records)")
    if callable(getattr(trust, "over", None)):
        raise ParameterError(f"{what} needs records: `trust=simulation.over(records)`")
    if not isinstance(trust, TrustModel):
        if isinstance(trust, str):
            raise ParameterError(
                f"`trust` must be a trust model such as Central(data), not the name of one; got {quoted(trust)}"
            )
        raise ParameterError(f"`trust` must be a trust model such as Central(data), got {type(trust).__name__}")


def unserved(query: Query, serves: Collection[Kind], *, limits: str = "", instead: str | None = None) -> str | None:
    """Why a query is of no kind that is served, and what would work, or None if it is of one."""
    if query.kind in serves:
        return None
    from ogive.queries import PeopleQuery  # most queries count rows

    if isinstance(getattr(query, "query", query), PeopleQuery):
        return (
            "the rows of a person share one weight, which only a curator who sees all of them divides; use trust "
            "central, or `counted='rows'`"
        )
    if query.method == "discovery":
        return (
            "which values occur is found out only by a curator who sees all records; name the values, or use "
            "trust central"
        )
    if instead is None and (elsewhere := _ELSEWHERE.get(query.kind)) is not None and "pairs" not in serves:
        return elsewhere
    if "linear" in serves:
        return _not_linear(query, limits)
    if "pairs" in serves:
        return f"{query.method} is nothing that two people compute between themselves; {_met()}; or use trust central"
    needs = f"{query.method} needs somebody who sees records" + (f", and {limits}" if limits else "")
    return f"{needs}; {instead or f'use trust central, or {reportable()}'}"


def reportable() -> str:
    """What would work where nobody sees records, from the list of statistics."""
    from ogive.statistics.kinds import COMMANDED  # imported here, since a plan for a curator needs none of it

    by_methods: dict[tuple[str, ...], list[str]] = {}
    for kind in COMMANDED.values():
        if kind.owners and (owners := kind.command_options.owners) is not None:
            methods = tuple(each for each in owners.get("method", ()) if each != "auto")
            by_methods.setdefault(methods, []).append(kind.name)
    results = []
    for methods, names in by_methods.items():
        written = [f"`{each!r}`" if number else f"`method={each!r}`" for number, each in enumerate(methods)]
        results.append(" with ".join(filter(None, [_either(names, "and"), _either(written, "or")])))
    return f"what owners can report: {_either(results, 'or')}"


def _met() -> str:
    """What pairs of people compute, from the list of statistics."""
    from ogive.statistics.kinds import COMMANDED  # as in `reportable`

    names = [kind.name for kind in COMMANDED.values() if kind.people]
    return f"pairs of people answer {_either(names, 'and')} alone"


def _either(words: Sequence[str], last: str) -> str:
    comma = "," if any(" " in word for word in words) else ""
    return f"{comma} {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def _not_linear(query: Query, limits: str) -> str:
    """Why those who only add up cannot answer a query that is not linear, and what would work."""
    from ogive.kernels.tuples import InOrder  # most queries are not about pairs of records
    from ogive.queries import KernelQuery, LabelsQuery

    if isinstance(query, LabelsQuery):
        return (
            "a label of whose votes nothing else is opened needs a comparison inside the computation, by garbled "
            "circuits, which this trust model does not have; use two servers (trust servers), LargestMargins, whose "
            "noisy counts add up, or trust central"
        )

    name, adding_up = _INSTEAD.get(query.method, (query.method, "path"))
    reason = f"{name} needs all records in one place, and {limits}; use trust central"
    if isinstance(query, KernelQuery) and any(isinstance(kernel, InOrder) for kernel in query.measure.kernels):
        return reason  # of a record of each class nothing adds up
    return f"{reason}, or a method whose answers add up, such as `method='{adding_up}'`"
