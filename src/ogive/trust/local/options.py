"""What is known of owners who randomize their records, without any of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ogive.provenance import trust_statement
from ogive.trust.base import TrustOptions

if TYPE_CHECKING:
    from ogive.queries import Kind


@dataclass(frozen=True)
class LocalOptions(TrustOptions):
    """Owners have no options."""

    name: ClassVar[str] = "local"
    summary: ClassVar[str] = "every owner randomizes their own record"
    serves: ClassVar[frozenset[Kind]] = frozenset({"reports"})
    limits: ClassVar[str] = "nobody does here"
    assumption: ClassVar[str] = trust_statement(
        holds="Each owner holds their own record, and their own device randomizes it.",
        sees="Everyone else sees only the randomized report that was sent. The owners were simulated in one process, "
        "which saw everything.",
        assumed="Nobody is trusted with another's record.",
    )
