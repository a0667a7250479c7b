"""What is agreed on uploads before any question is known: plain data, which loads nothing of weight."""

from __future__ import annotations

from dataclasses import dataclass

from ogive.core.parameters import added
from ogive.crypto.sketch.rejections import DEFAULT_TOLERATED

AUTO, KEYS, TABLES, SUMS = "auto", "keys", "tables", "sums"


@dataclass(frozen=True)
class Uploads:
    """What clients upload, and to how many servers.

    Fields:
        kind: "keys", "tables" or "sums"; "auto" until the aggregate is known.
        verified: Whether servers check that every upload is that of one record.
        verifications: How often they can, at more and more points, where keys are uploaded; tables at most three times.
        tolerated: Share of the clients that may fail before the study stops.
        organizations: Whether several tables were given; with "auto" those are added up before they are uploaded, and
            only votes are uploaded one teacher at a time.
        colluding: How many servers may share all that they know, at least 1; None for all but one.
    """

    servers: int
    kind: str
    verified: bool
    verifications: int
    tolerated: float = DEFAULT_TOLERATED
    organizations: bool = False
    colluding: int | None = None

    @property
    def honest(self) -> int:
        """How many servers keep what they know to themselves; so many shares of the noise make up the whole."""
        return 1 if self.colluding is None else self.servers - self.colluding

    @property
    def every(self) -> bool:
        """Whether uploads of all aggregates are verified, and not those of votes alone."""
        return self.verified and not (self.organizations and self.kind == AUTO)

    @property
    def digested(self) -> tuple[int | str | bool | float, ...]:
        """The fields that enter the digest of a release; their order must never change."""
        first = self.servers, self.kind, self.verified, self.verifications, self.tolerated, self.organizations
        return first if self.colluding is None else (*first, self.colluding)


@dataclass(frozen=True)
class Promise:
    """What an answer rests on, however it came about; whoever trusts it may take one answer for the other."""

    servers: int
    verified: bool
    colluding: int | None = added(None)
