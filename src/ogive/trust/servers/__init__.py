"""What is known of servers without any records: what they serve, what is uploaded, and what that takes.

The protocol is imported where it is asked, since the command line needs the options alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from ogive.core.checks import among, python_only, truth, whole
from ogive.errors import ParameterError
from ogive.provenance import trust_statement
from ogive.trust.base import Traffic, TrustOptions, check_classes_named
from ogive.trust.servers.uploads import AUTO, DEFAULT_TOLERATED, KEYS, SUMS, TABLES, Promise, Uploads, most_rejected

if TYPE_CHECKING:
    from ogive.privacy import Adjacency
    from ogive.queries import Kind, Query
    from ogive.queries.labels import ServedQuery

LABELING_SERVERS = 2
MOST_SERVERS = 16
MOST_VERIFICATIONS = 256
UPLOADS = (AUTO, KEYS, TABLES, SUMS)


@dataclass(frozen=True)
class ServersOptions(TrustOptions):
    """How many servers there are, and what is uploaded to them.

    Fields:
        servers: Number of servers.
        parties: Number of organizations to which one table is dealt; by default each record has its own owner.
        upload: What owners upload: "keys", "tables", "sums" of an organization, or "auto" for the cheapest.
        verified: Whether servers check uploads; None checks all that can be checked.
        verifications: How often uploads can be checked.
        tolerated: Share of the uploads that may fail the check, from 0 to 1.
        colluding: How many servers may share all that they know; by default all but one.

    Raises:
        ParameterError: an option is out of range, or options do not fit each other.
    """

    name: ClassVar[str] = "servers"
    summary: ClassVar[str] = "owners split their records into shares for several servers"
    serves: ClassVar[frozenset[Kind]] = frozenset({"linear"})
    limits: ClassVar[str] = "servers compute only sums of shares"

    servers: int = 2
    parties: int | None = None
    upload: str = AUTO
    verified: bool | None = python_only(None)
    verifications: int = python_only(16)
    tolerated: float = python_only(DEFAULT_TOLERATED)
    colluding: int | None = None

    def __post_init__(self) -> None:
        most_rejected(0, tolerated=self.tolerated)
        if self.parties is not None:
            whole(self.parties, "parties", 1)
        _ = self.uploads  # refuses what does not fit

    @cached_property
    def uploads(self) -> Uploads:
        """What is uploaded, as far as that is known before a question is asked."""
        organizations = self.parties is not None
        checked = _checked(self.servers, self.upload, self.verified, self.verifications, organizations=organizations)
        if self.colluding is not None:
            whole(self.colluding, "colluding", 1, self.servers - 1)
        return Uploads(
            self.servers,
            self.upload,
            checked,
            self.verifications,
            tolerated=float(self.tolerated),
            organizations=organizations,
            colluding=None if self.colluding == self.servers - 1 else self.colluding,
        )

    @property
    def terms(self) -> Promise:
        """To how many servers is uploaded, and whether they verify it; an answer is the same with keys and tables."""
        return Promise(self.servers, self.uploads.every, self.uploads.colluding)

    @property
    def assumption(self) -> str:
        return assumption(self.uploads, simulated=True)

    @property
    def adding(self) -> int:
        return self.servers

    @property
    def honest(self) -> int:
        """How many servers' shares make up the whole noise: as many as keep theirs to themselves."""
        return self.uploads.honest

    def refusal(self, query: Query) -> str | None:
        """Answers that are not sums over records, but for labels of votes, and those in too many cells."""
        from ogive.queries import LabelsQuery, Parted, Selected
        from ogive.trust.servers.settings import Layout

        # the other queries of a curator are not served, and labels from shares of votes are
        reason = self._no_labels() if isinstance(query, LabelsQuery) else super().refusal(query)
        if reason is not None:
            return reason
        if isinstance(query.aggregate, Selected | Parted) and self.parties is None:
            return (
                "clients of servers upload every record alike, so no subset or group of them can be added up; use "
                "trust central or secagg, or let organizations upload sums (`parties`)"
            )
        check_classes_named(query, "clients" if self.parties is None else "parties")
        return self.cell_limit(Layout(query.aggregate).cells)

    def _no_labels(self) -> str | None:
        """Why labels of votes that nobody sees cannot be computed, and what would work, or None if they can."""
        instead = "or use LargestMargins, whose noisy counts add up, or trust central"
        if self.servers != LABELING_SERVERS:
            return (
                f"two servers compute labels of votes that nobody sees, in garbled circuits, and not {self.servers}; "
                f"use `servers={LABELING_SERVERS}`, {instead}"
            )
        if self.upload == SUMS or not self.uploads.verified:
            return (
                "servers compute labels of votes that nobody sees, in garbled circuits, from verified votes, since one "
                "false vote could make a check tell of others; let teachers upload tables or keys that are verified, "
                f"{instead}"
            )
        return None

    def cell_limit(self, cells: int) -> str | None:
        from ogive.trust.servers.settings import MOST_CELLS

        if cells <= MOST_CELLS:
            return None
        return f"servers count records in at most {MOST_CELLS} cells, not in {cells}; use fewer bins"

    def traffic(self, queries: Sequence[ServedQuery], *, records: int, adjacency: Adjacency) -> tuple[Traffic, ...]:
        from ogive.trust.servers.settings import fitting, traffic

        kinds = {each.kind for query in queries for each in fitting(self.uploads, query.aggregate)}
        return traffic(self.uploads, queries, self.parties or 1 if kinds == {SUMS} else records)


def _checked(servers: int, upload: str, verified: bool | None, verifications: int, *, organizations: bool) -> bool:
    whole(servers, "servers", 2, MOST_SERVERS)
    whole(verifications, "verifications", 1, MOST_VERIFICATIONS)
    if verified is not None:
        truth(verified, "verified")
    among(upload, "upload", UPLOADS)
    if upload == KEYS and servers != 2:
        raise ParameterError(f"comparison keys are for two servers, not {servers}; use `upload='tables'`")
    if upload == SUMS and not organizations:
        raise ParameterError(
            "sums are uploaded by organizations; say how many with `parties`, or use `upload='tables'`"
        )
    summed = upload == SUMS or (upload == AUTO and organizations)
    if summed and verified:
        raise ParameterError("sums of an organization cannot be verified; use `upload='tables'`, one for every record")
    return upload != SUMS if verified is None else verified


def assumption(uploads: Uploads, *, simulated: bool) -> str:
    """Who holds the records, what each of them sees and what is assumed, where one process does it all or not."""
    honest = uploads.honest
    others = uploads.servers - honest
    keeping = "At least one server keeps" if honest == 1 else f"Each of at least {honest} servers keeps"
    bounded = "changes no count by more than one record could, except with a probability below 2^-50, whoever made it."
    if uploads.every:
        cheating = f"An upload {bounded}"
    elif uploads.verified:
        cheating = (
            "Sums of organizations were not verified: anyone who uploads one can change the answers at will. An upload "
            f"of votes, which are verified, {bounded}"
        )
    else:
        cheating = "Uploads were not verified: anyone who makes one can change the answers at will."
    return trust_statement(
        holds=f"Owners split their records into shares for {uploads.servers} servers; no server holds a record.",
        sees=f"Anyone who sees the answers and the uploads to {others} of the {uploads.servers} servers learns only "
        "what is published. The servers also learn the number of uploads."
        + (" Clients and servers were simulated in one process, which saw everything." if simulated else ""),
        assumed=f"{keeping} secret what it received and the noise that it added. All servers follow "
        "the protocol. Nobody else reads or changes what is sent to and between servers. AES with public keys behaves "
        "like random permutations, and SHA-256 and SHAKE-256 like random functions. The servers do not pass on the "
        f"number of uploads, which adjacency REPLACE publishes anyway. {cheating} Each person's records are uploaded "
        "once.",
    )
