"""What is known of owners who randomize their records, without any of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ogive.trust.base import TrustOptions

if TYPE_CHECKING:
    from ogive.queries import Kind


@dataclass(frozen=True)
class LocalOptions(TrustOptions):
    """Owners have no options."""

    name: ClassVar[str] = "local"
    summary: ClassVar[str] = "every record is randomized at its owner"
    serves: ClassVar[frozenset[Kind]] = frozenset({"reports"})
    limits: ClassVar[str] = "here nobody does"
    assumption: ClassVar[str] = (
        "Nobody had to be trusted with a record: each was randomized at its owner, and only the report was sent. "
        "The owners were simulated in one process, which saw everything."
    )
