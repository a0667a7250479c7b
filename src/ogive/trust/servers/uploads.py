"""What is agreed on uploads before any question is known: plain data, which loads nothing of weight."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ogive.core.checks import added
from ogive.errors import ParameterError, quoted

AUTO, KEYS, TABLES, SUMS = "auto", "keys", "tables", "sums"

# --- What becomes of clients that fail a verification
#
# A client that fails is left out of every answer and its number is stored: honest clients never fail, so whoever fails
# made its upload otherwise than the study says. Damage on the way is noticed before, by hashes.
#
# Servers are trusted to follow the protocol. One that changed its own shares of a client could learn from the verdict
# whether it guessed that client's cell; such attempts show as rejections. So above a stated share of rejections the
# study stops, before anything is answered, and its operators are told.

DEFAULT_TOLERATED = 0.01
"""Share of clients that may fail before the study stops."""


def most_rejected(clients: int, *, tolerated: float = DEFAULT_TOLERATED) -> int:
    """How many of the clients may fail before nothing may be answered any more; one always may."""
    if not 0.0 <= tolerated <= 1.0:
        raise ParameterError(f"`tolerated` must be from 0 to 1, got {quoted(tolerated)}")
    # the share as it is written: the nearest float may be a little less, and one client with it
    return max(1, int(Fraction(str(float(tolerated))) * clients))


# --- What is uploaded


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
        """How many servers keep what they know to themselves; as many shares of the noise make up the whole."""
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
