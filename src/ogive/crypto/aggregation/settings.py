"""What all participants of a secure aggregation agree on beforehand, and what it has to satisfy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ogive.crypto.aggregation.graph import SAFE_BITS, counted_on, failure_bits
from ogive.crypto.channels import PUBLIC_KEY_BYTES
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.wire import STUDY_BYTES
from ogive.errors import ParameterError

MOST_PARTIES = 10_000
MOST_TOTALS = 1 << 20
LONGEST = 1 << 27
"""Numbers in a vector; a gigabyte."""


def least_threshold(parties: int, *, colluding: int, confirmed: bool) -> int:
    """The fewest holders of shares who may be able to reconstruct a secret, where all hold shares of all.

    Colluding parties alone must not be enough. Where the server may lie, it must not get both secrets of a party
    either: two sets of that many parties, who confirmed different lists, have an honest one in common.
    """
    return max(colluding + 1, (parties + colluding) // 2 + 1 if confirmed else 1)


def check_threshold(threshold: int, parties: int, dropouts: int, colluding: int, *, confirmed: bool) -> None:
    """Check that so many holders of shares are enough for nobody too many, and that so many will stay.

    Raises:
        ParameterError: they are not; says what would be right.
    """
    least, most = least_threshold(parties, colluding=colluding, confirmed=confirmed), parties - dropouts
    if least > most:
        raise ParameterError(
            f"{parties} parties cannot spare {dropouts} that leave where {colluding} may collude: {least} are needed "
            "to open the sum; count on fewer that leave or collude"
        )
    if not least <= threshold <= most:
        raise ParameterError(f"`threshold` must be from {least} to {most} here, got {threshold}")


@dataclass(frozen=True)
class AggregationSettings:
    """A study's secure aggregation: who takes part, what is added up, and how many may leave or collude.

    Fields:
        study: Digest of all that the sum is for, the release included; 32 bytes.
        release: Digest that all sums of one release have in common and no other release has, 32 bytes. A party's noise
            may be the same in several sums of a release, so it confirms one list of who is in them, and no other.
        parties: Ed25519 public keys of the parties, who are numbered from 1; at least two.
        server: The server's Ed25519 public key; it is number 0.
        length: Numbers in a party's vector, each modulo 2^64.
        threshold: Holders of shares of a secret who can reconstruct it.
        dropouts: How many parties may leave, at whatever round; if more leave, there is no sum.
        colluding: How many parties may tell the server, and each other, all that they know.
        totals: How many totals each party declares before keys are exchanged and opens with its vector; 0 if what it
            declares is never opened.
        confirmed: Whether parties confirm to each other who is in the sum before masks are opened, so that a server
            that tells them different things gets nothing. Without it the server has to follow the protocol.
        neighbours: With how many others each party shares masks and secrets, in a random regular graph; None for all.
            Then the threshold is of neighbours, `confirmed` has to be False, and the graph has to hold one party in
            twenty that colludes, even where `colluding` is less.

    Raises:
        ParameterError: the numbers do not fit together; says what would.
    """

    study: bytes
    release: bytes
    parties: tuple[bytes, ...]
    server: bytes
    length: int
    threshold: int
    dropouts: int = 0
    colluding: int = 0
    totals: int = 0
    confirmed: bool = True
    neighbours: int | None = None

    def __post_init__(self) -> None:
        count = len(self.parties)
        for what, found in (("study", self.study), ("release", self.release)):
            if len(found) != STUDY_BYTES:
                raise ParameterError(f"the digest of the {what} must have {STUDY_BYTES} bytes, got {len(found)}")
        if not 2 <= count <= MOST_PARTIES:
            raise ParameterError(f"secure aggregation needs 2 to {MOST_PARTIES} parties, got {count}")
        keys = (self.server, *self.parties)
        if any(len(key) != PUBLIC_KEY_BYTES for key in keys) or len(set(keys)) != len(keys):
            raise ParameterError("every party and the server needs an Ed25519 public key of its own, of 32 bytes")
        for name, value, least, most in (
            ("the length of the vectors", self.length, 1, LONGEST),
            ("the number of totals", self.totals, 0, MOST_TOTALS),
            ("dropouts", self.dropouts, 0, count - 1),
            ("colluding", self.colluding, 0, count - 1),
        ):
            if not least <= value <= most:
                raise ParameterError(f"`{name}` must be from {least} to {most}, got {value}")
        if self.least - self.colluding < 1:
            raise ParameterError(
                f"of {count} parties, {self.dropouts} that leave and {self.colluding} that collude leave nobody "
                "whose vector would be hidden; count on fewer"
            )
        if self.neighbours is None:
            check_threshold(self.threshold, count, self.dropouts, self.colluding, confirmed=self.confirmed)
        else:
            self._check_neighbours(count, self.neighbours)

    @property
    def least(self) -> int:
        """How many parties' vectors there must be for a sum."""
        return len(self.parties) - self.dropouts

    @cached_property
    def digest(self) -> bytes:
        """32 bytes that tell these settings from all others; every message carries them."""
        numbers = (
            self.length, self.threshold, self.dropouts, self.colluding, self.totals, self.confirmed,
            0 if self.neighbours is None else self.neighbours,
        )  # fmt: skip
        fields = (self.study, self.release, *(number(value) for value in numbers), self.server, *self.parties)
        return digest(HashDomain.AGGREGATION_SETTINGS, *fields)

    def _check_neighbours(self, count: int, neighbours: int) -> None:
        if self.confirmed:
            raise ParameterError("parties that only know their neighbours cannot confirm lists to each other")
        if not 2 <= neighbours < count or neighbours % 2:
            raise ParameterError(f"`neighbours` must be an even number below {count}, got {neighbours}")
        if not 1 <= self.threshold <= neighbours:
            raise ParameterError(f"`threshold` must be from 1 to {neighbours} neighbours, got {self.threshold}")
        colluding = counted_on(count, self.colluding)
        bits = failure_bits(count, neighbours, self.threshold, dropouts=self.dropouts, colluding=colluding)
        if bits < SAFE_BITS:
            raise ParameterError(
                f"with {neighbours} neighbours and a threshold of {self.threshold} the aggregation may fail or tell "
                f"too much with probability 2^-{bits:.0f}, and 2^-{SAFE_BITS} is allowed; take more neighbours, "
                "or another threshold"
            )
