"""What every trust model can do.

A trust model answers queries over records it never shows, and knows nothing of what the
answers are for. It says in words whom one has to trust. `open` starts one release: from
then on the data, the adjacency and the noise key are fixed, so that an answer asked for
twice is the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from ogive.errors import ParameterError
from ogive.noise.base import RandomSource
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.queries import Answer, LinearQuery, PairsQuery, Query, ReportsQuery

_NEEDS_OWNERS = "these are reports that every record's owner randomizes; use trust local, or a method without reports"
NEEDS_PAIRS = "these are values that pairs of people compute between themselves; use trust pairs, or another method"

REPORTABLE = (
    "what owners can report: ecdf and quantiles with method='reports' or 'histogram', "
    "boxplot with method='resample', or ustatistic, whose kernel auc is the area under a ROC curve"
)
"""What would work where nobody sees records."""


def needs_owners(query: Query) -> str | None:
    """Why those who hold others' records do not answer what only records' owners do; None for any other query."""
    if isinstance(query, ReportsQuery):
        return _NEEDS_OWNERS
    return NEEDS_PAIRS if isinstance(query, PairsQuery) else None


class Opening(Protocol):
    """One release in progress."""

    @property
    def secret(self) -> bytes:
        """All that is needed to go on later with the same noise; as secret as the data."""
        ...

    def answer(self, query: Query) -> Answer:
        """Answer a supported query; the same query gets the same integers."""
        ...

    def context(self, query: Query) -> bytes:
        """Digest of all that fixes the noise of a measurement: data, binning, strategy, adjacency."""
        ...


@runtime_checkable
class TrustModel(Protocol):
    """Who holds the records, and who adds the noise."""

    name: ClassVar[str]
    """Short name, as on the command line."""

    private: ClassVar[bool]
    """Whether answers carry noise; only `clear` has none."""

    @property
    def assumption(self) -> str:
        """Whom one has to trust with what, in words, printed on every release."""
        ...

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """Whose data a release under this adjacency hides: a record, or a person with all their records.

        Raises:
            ParameterError: the adjacency does not fit how many records a person may have.
        """
        ...

    def count(self) -> int:
        """How many records there are, read without any noise; to be asked only where that number is public.

        Raises:
            DataError: the records cannot be read.
        """
        ...

    def refusal(self, query: Query) -> str | None:
        """Why this model cannot answer the query and what would work, or None if it can.

        Raises:
            ParameterError: the query leaves open what this model must be told.
        """
        ...

    def open(self, adjacency: Adjacency, *, source: RandomSource) -> Opening:
        """Start a release under the adjacency, with a fresh noise key from the source."""
        ...

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> Opening:
        """Go on with a release from its secret; the caller compares contexts before asking anything."""
        ...


@runtime_checkable
class Replayed(Protocol):
    """What an opening tells besides that goes on only by asking the same questions in the same order once more."""

    def takes(self, query: Query) -> bool:
        """Whether answering takes something that there is only once, so that the question must be on record first."""
        ...


@runtime_checkable
class Uploaded(Protocol):
    """What an opening tells besides that could be sent records in several ways."""

    @property
    def uploaded(self) -> str:
        """What was sent to whom to answer all that was asked, in a sentence that depends on public numbers alone."""
        ...


def check_held(trust: TrustModel, columns: Sequence[str]) -> None:
    """Refuse columns that the records of a trust model lack, where it holds records here.

    Raises:
        DataError: one is not there; says which are.
    """
    own = getattr(trust, "records", None)
    for records in getattr(trust, "parties", ()) if own is None else (own,):
        records.check_columns(columns)


def check_trust(trust: object, *, what: str) -> None:
    """Refuse what holds no records.

    Args:
        trust: What was given.
        what: Who needs it, for example "release".

    Raises:
        ParameterError: it is no trust model, or one yet without records.
    """
    if isinstance(trust, type) and isinstance(trust, TrustModel):
        raise ParameterError(f"{what} needs records: trust=ogive.{trust.__name__}(records)")
    if callable(getattr(trust, "over", None)):
        raise ParameterError(f"{what} needs records: trust=simulation.over(records)")
    if not isinstance(trust, TrustModel):
        raise ParameterError(f"trust must be a trust model such as Central(data), got {type(trust).__name__}")


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


@runtime_checkable
class Distributed(Protocol):
    """What a trust model tells besides, in which several add noise and send each other bytes."""

    @property
    def terms(self) -> Any:
        """What is agreed beforehand, frozen plain data; what was released under other terms is another answer."""
        ...

    @property
    def adding(self) -> int:
        """How many add noise, if nobody leaves."""
        ...

    @property
    def honest(self) -> int:
        """How many shares of the noise make up the whole; with fewer than are added there is more of it."""
        ...

    def traffic(self, queries: Sequence[LinearQuery], *, records: int, adjacency: Adjacency) -> tuple[Traffic, ...]:
        """What all these questions take together, in every way that fits; the one that would be taken comes first."""
        ...


@runtime_checkable
class Digested(Protocol):
    """What a trust model tells besides, of which the same question in the same words may be about other records."""

    def digest(self) -> bytes:
        """SHA-256 of the records; as secret as they are."""
        ...


@runtime_checkable
class Held(Protocol):
    """What a trust model tells besides that holds the records a question is about."""

    def data_digest(self) -> bytes:
        """SHA-256 of all that it holds; as secret as the records."""
        ...


@runtime_checkable
class Roomy(Protocol):
    """What a trust model tells besides that can only count records in so many cells."""

    def crowded(self, cells: int) -> str | None:
        """Why records cannot be counted in so many cells and what would work, or None if they can."""
        ...


def crowded(model: TrustModel, cells: int) -> str | None:
    """Why a trust model cannot count records in so many cells, or None if it can."""
    return model.crowded(cells) if isinstance(model, Roomy) else None


def shares_of(model: TrustModel) -> tuple[int, int]:
    """How many add noise, and how many shares of it make up the whole; one and one where a single party adds it."""
    return (model.adding, model.honest) if isinstance(model, Distributed) else (1, 1)
