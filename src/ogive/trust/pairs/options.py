"""What is known of pairs of people without any records: how they meet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ogive.checks import among
from ogive.errors import ParameterError, quoted
from ogive.trust.base import TrustOptions

if TYPE_CHECKING:
    from ogive.queries import Kind

GARBLED, CLEAR = "garbled", "clear"
"""How the circuits of all pairs are evaluated: as they would be, or gate by gate in the clear, which is quicker."""


@dataclass(frozen=True)
class PairsOptions(TrustOptions):
    """How people meet.

    Fields:
        circuits: "garbled", as people would evaluate them, or "clear", which says the same sooner.
        absent: Share of the people who do not come, from 0 to less than 1.

    Raises:
        ParameterError: an option is out of range.
    """

    name: ClassVar[str] = "pairs"
    summary: ClassVar[str] = "people compute a statistic of pairs between themselves"
    serves: ClassVar[frozenset[Kind]] = frozenset({"pairs"})
    assumption: ClassVar[str] = (
        "Nobody had to be trusted with a record: pairs of people evaluated garbled circuits, which give out a value "
        "with noise of both. That they follow the protocol is assumed; the guarantee rests on the security of AES-128 "
        "and of edwards25519, and holds whoever else tells what they know. The people were simulated in one process, "
        "which saw everything."
    )

    circuits: str = GARBLED
    absent: float = 0.0

    def __post_init__(self) -> None:
        among(self.circuits, "circuits", (GARBLED, CLEAR))
        absent = self.absent
        if isinstance(absent, bool) or not isinstance(absent, int | float) or not 0 <= absent < 1:
            raise ParameterError(f"`absent` must be a share from 0 to less than 1, got {quoted(absent)}")
