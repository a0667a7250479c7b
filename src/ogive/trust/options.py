"""Options of the trust models that are made of one table: what is known of them without any records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ogive.core.checks import among
from ogive.errors import ParameterError, quoted
from ogive.provenance import trust_statement
from ogive.trust.base import TrustOptions

if TYPE_CHECKING:
    from ogive.queries import Kind

# --- A trusted curator


@dataclass(frozen=True)
class CentralOptions(TrustOptions):
    """A curator has no options."""

    name: ClassVar[str] = "central"
    summary: ClassVar[str] = "one trusted curator"
    serves: ClassVar[frozenset[Kind]] = frozenset({"linear", "curator"})
    assumption: ClassVar[str] = trust_statement(
        holds="One curator holds every record and adds the noise.",
        sees="The curator sees every record and the noise; everyone else learns only what is published.",
        assumed="The curator keeps the records and the noise secret.",
    )


# --- Exact answers


@dataclass(frozen=True)
class ClearOptions(TrustOptions):
    """Exact answers have no options."""

    name: ClassVar[str] = "clear"
    summary: ClassVar[str] = "exact answers, no privacy"
    private: ClassVar[bool] = False
    serves: ClassVar[frozenset[Kind]] = frozenset({"linear", "curator"})
    assumption: ClassVar[str] = "Not private: the answers are exact; only people who may see the records may see them."


# --- Owners who randomize their records


@dataclass(frozen=True)
class LocalOptions(TrustOptions):
    """Owners have no options."""

    name: ClassVar[str] = "local"
    summary: ClassVar[str] = "every owner randomizes their own record"
    serves: ClassVar[frozenset[Kind]] = frozenset({"reports"})
    limits: ClassVar[str] = "under local no party does"
    assumption: ClassVar[str] = trust_statement(
        holds="Each owner holds their own record, and their own device randomizes it.",
        sees="Everyone else sees only the randomized report that was sent. The owners were simulated in one process, "
        "which saw everything.",
        assumed="Nobody is trusted with another's record.",
    )


# --- Pairs of people

GARBLED, CLEAR = "garbled", "clear"
"""How the circuits of all pairs are evaluated: garbled, as people would, or faster, gate by gate in the clear."""


@dataclass(frozen=True)
class PairsOptions(TrustOptions):
    """How people meet.

    Fields:
        circuits: "garbled", as people would evaluate them, or "clear", which gives the same result faster.
        absent: Share of the people who do not take part, from 0 to less than 1.

    Raises:
        ParameterError: an option is out of range.
    """

    name: ClassVar[str] = "pairs"
    summary: ClassVar[str] = "pairs of people compute noisy values together"
    serves: ClassVar[frozenset[Kind]] = frozenset({"pairs"})
    assumption: ClassVar[str] = trust_statement(
        holds="Each person holds their own record. Pairs of people evaluate garbled circuits, which add noise from "
        "both.",
        sees="The partner and everyone else see at most values with noise. The people were simulated in one process, "
        "which saw everything.",
        assumed="Nobody is trusted with another's record. People follow the protocol, and AES-128 and edwards25519 are "
        "secure. The guarantee holds even if all other people share what they know.",
    )

    circuits: str = GARBLED
    absent: float = 0.0

    def __post_init__(self) -> None:
        among(self.circuits, "circuits", (GARBLED, CLEAR))
        absent = self.absent
        if isinstance(absent, bool) or not isinstance(absent, int | float) or not 0 <= absent < 1:
            raise ParameterError(f"`absent` must be a share from 0 to less than 1, got {quoted(absent)}")
