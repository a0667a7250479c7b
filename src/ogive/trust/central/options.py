"""What is known of a trusted curator without any records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ogive.provenance import trust_statement
from ogive.trust.base import TrustOptions

if TYPE_CHECKING:
    from ogive.queries import Kind


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
