"""What is known of a trusted curator without any records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ogive.trust.base import TrustOptions

if TYPE_CHECKING:
    from ogive.queries import Kind


@dataclass(frozen=True)
class CentralOptions(TrustOptions):
    """A curator has no options."""

    name: ClassVar[str] = "central"
    summary: ClassVar[str] = "a trusted curator"
    serves: ClassVar[frozenset[Kind]] = frozenset({"linear", "curator"})
    assumption: ClassVar[str] = (
        "The curator who made this release saw every record and knows the noise; "
        "everyone else learns only what is published."
    )
