"""What is known of exact answers without any records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ogive.trust.base import TrustOptions

if TYPE_CHECKING:
    from ogive.queries import Kind


@dataclass(frozen=True)
class ClearOptions(TrustOptions):
    """Exact answers have no options."""

    name: ClassVar[str] = "clear"
    summary: ClassVar[str] = "exact answers, no privacy"
    private: ClassVar[bool] = False
    serves: ClassVar[frozenset[Kind]] = frozenset({"linear", "curator"})
    assumption: ClassVar[str] = "Not private: the answers are exact; only people who may see the records may see them."
