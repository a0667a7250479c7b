"""What is known of pairs of people without any records: how they meet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ogive.checks import among
from ogive.errors import ParameterError, quoted
from ogive.provenance import trust_statement
from ogive.trust.base import TrustOptions

if TYPE_CHECKING:
    from ogive.queries import Kind

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
