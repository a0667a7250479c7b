"""Vote counts that a curator already has: a trust model that answers questions about ballots from them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, ClassVar

from ogive.arrays import Int64
from ogive.errors import DataError
from ogive.pate.votes import check_votes
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.provenance import trust_statement
from ogive.queries import Aggregate, Ballots, Kind, Query
from ogive.trust.base import TrustModel, TrustOptions
from ogive.trust.central.model import CentralOpening


@dataclass(frozen=True)
class TallyOptions(TrustOptions):
    """Which queries there are counts of.

    Fields:
        ballots: The numbered queries and the number of classes.
    """

    name: ClassVar[str] = "central"
    serves: ClassVar[frozenset[Kind]] = frozenset({"linear", "curator"})
    assumption: ClassVar[str] = trust_statement(
        holds="One curator holds the votes of all teachers and adds the noise.",
        sees="The curator sees every teacher's votes and the noise; everyone else learns only what is published.",
        assumed="The curator keeps the votes and the noise secret.",
    )

    ballots: Ballots

    def refusal(self, query: Query) -> str | None:
        """All but questions about these ballots."""
        if super().refusal(query) is None and query.aggregate == self.ballots:
            return None
        return f"vote counts answer only queries on these {len(self.ballots.queries)} queries alone; use trust central"


class Tallied(TrustModel):
    """A trusted curator who holds vote counts, not the votes of single teachers, and adds the noise.

    Queries are numbered, so other rounds use the same names; a digest of the votes distinguishes the rounds.

    Args:
        votes: Counts, shape (queries, classes); every row adds up to the number of teachers.
        person: Name for an owner of several teachers, for example "hospital"; None if every owner has one teacher.
        max_rows_per_person: Largest number of teachers of one owner.

    Raises:
        DataError: the votes are not vote counts.
        ParameterError: the number of teachers is out of range, or `person` is missing.
    """

    options_type = TallyOptions
    digest_in_question = True
    holds = "votes"

    def __init__(self, votes: Any, *, person: str | None = None, max_rows_per_person: int = 1) -> None:
        self._several = PrivacyUnit(Adjacency.ADD_OR_REMOVE, person, max_rows_per_person)
        self.votes: Int64 = check_votes(votes)
        queries, classes = self.votes.shape
        self.options: TallyOptions = TallyOptions(Ballots(tuple(map(str, range(queries))), classes))

    def data_digest(self) -> bytes:
        """SHA-256 of the votes; as secret as the votes."""
        return hashlib.sha256(b"ogive votes 1\n" + repr(self.votes.shape).encode() + self.votes.tobytes()).digest()

    @property
    def ballots(self) -> Ballots:
        """The numbered queries and the number of classes."""
        return self.options.ballots

    def unit(self, adjacency: Adjacency) -> PrivacyUnit:
        """One teacher, or all teachers of one owner.

        Raises:
            ParameterError: a person may have several teachers, and their number is public.
        """
        return PrivacyUnit(adjacency, self._several.person, self._several.max_rows_per_person)

    def count(self) -> int:
        """Teachers."""
        return int(self.votes[0].sum())

    def resume(self, adjacency: Adjacency, *, secret: bytes) -> CentralOpening:
        """Continue a release from its noise key."""
        return CentralOpening(self, adjacency, secret)

    def aggregate(self, aggregate: Aggregate) -> Int64:
        """The counts themselves.

        Raises:
            DataError: the query is not for these votes.
        """
        if aggregate != self.ballots:
            raise DataError("vote counts contain only the votes of their own queries")
        return self.votes
