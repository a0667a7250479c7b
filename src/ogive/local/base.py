"""What every frequency oracle can do: one randomized report a person, and the sums that reports add up to.

Roles, in the order of the messages:

    owner       turns its own value into a symbol and the symbol into a report (`randomize`); nobody else sees the value
    aggregator  adds reports up, in any order and in any pieces (`add`); sums of disjoint reports add up too

A report says nothing alone: whatever two symbols an owner may have, no report is more than e^epsilon times as
likely under one as under the other. The number that every participant has is public. It may decide by a public rule
what the participant is asked (which level of a hierarchy, say), so that no report can choose that for itself.

Owners need nothing but numpy here; aggregators have compiled kernels, in modules that owners never import.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar, Protocol, runtime_checkable

from ogive.arrays import Bool, Int64, UInt8, UInt32
from ogive.interfaces import KeptByType
from ogive.privacy import ApproxDP, PureDP


class RandomWords(Protocol):
    """Where random bits come from; `ogive.noise.SystemSource` is one, and so is `local.OwnerSource`."""

    def words(self, count: int) -> UInt32:
        """The next `count` uniform 32-bit words."""
        ...


@runtime_checkable
class Oracle(Protocol, metaclass=KeptByType):
    """Interface; frozen plain data with no subclass."""

    name: ClassVar[str]
    """Short name, as in descriptions and on the command line."""

    @property
    def size(self) -> int:
        """Number of symbols, k; an owner has one of 0..k-1."""
        ...

    @property
    def epsilon(self) -> Fraction:
        """Epsilon of the oracle."""
        ...

    @property
    def loss(self) -> PureDP | ApproxDP:
        """Cost of one report: the exact loss of the drawn integers, at most `epsilon`."""
        ...

    @property
    def payload_bytes(self) -> int:
        """Length of a report, without its header."""
        ...

    @property
    def reach(self) -> float:
        """Largest number of people that one report counts for in an unbiased count, even if forged.

        It is the largest change of a count when a report is replaced by another well-formed one. Without noise, a
        person's value would change the count by 1. Honest owners send the most extreme report, too.
        """
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the integer sums of reports."""
        ...

    def randomize(self, symbols: Int64, numbers: Int64, *, source: RandomWords) -> UInt8:
        """The reports of participants.

        Args:
            symbols: Symbol of each participant, shape (n,), in 0..size-1.
            numbers: Public number of each participant, shape (n,).
            source: Source of secret random bits.

        Returns:
            Payloads, shape (n, payload_bytes).

        Privacy: `loss` for every participant, whatever the others do.
        """
        ...

    def add(self, sums: Int64, numbers: Int64, payloads: UInt8) -> Bool:
        """Add reports to sums of `shape`, in place.

        Returns:
            Whether each report was well-formed, shape (n,); the others are not added.
        """
        ...

    def reports(self, sums: Int64) -> int:
        """Number of reports added to the sums."""
        ...

    def possible(self, sums: Int64, reports: int) -> bool:
        """Whether this number of reports, even forged ones, can have these sums of `shape`."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain data; `ogive.local.oracle_from_dict` inverts it."""
        ...
