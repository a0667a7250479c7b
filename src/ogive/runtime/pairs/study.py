"""What everybody in a study of pairs knows beforehand: who meets whom, what pairs evaluate, and everybody's key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ogive.arrays import Int64
from ogive.crypto.circuits import Circuit
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.twoparty import PairSettings, Participant
from ogive.crypto.twoparty.messages import SEALED_BYTES, Step, body_bytes
from ogive.errors import ParameterError
from ogive.pairs.design import Design


@dataclass(frozen=True, eq=False)
class PairsStudy:
    """A study of pairs; user u of the design has number u + 1, and the aggregator 0.

    Fields:
        design: Who meets whom, first; the first of each pair garbles.
        circuits: By divisor of epsilon (`ogive.pairs.divisors`), with noise for that part of it; one for every degree
            of a user.
        people: Ed25519 public keys of the users.
        aggregator: The aggregator's.

    Raises:
        ParameterError: there are more or fewer keys than users, or a circuit is missing.
    """

    design: Design
    circuits: Mapping[int, Circuit]
    people: tuple[bytes, ...]
    aggregator: bytes

    def __post_init__(self) -> None:
        if len(self.people) != self.design.users:
            raise ParameterError(f"there must be {self.design.users} keys, one a user, got {len(self.people)}")
        missing = {*self.agreed.tolist()} - {0, *self.circuits}
        if missing:
            raise ParameterError(f"there is no circuit for users in {min(missing)} pairs, at that part of epsilon")

    @cached_property
    def digest(self) -> bytes:
        """32 bytes that tell this study from all others."""
        design = self.design
        circuits = [number(parts) + circuit.digest() for parts, circuit in sorted(self.circuits.items())]
        return digest(
            HashDomain.PAIRS_STUDY,
            number(design.users),
            number(design.between),
            design.pairs.astype("<i8").tobytes(),
            b"".join(circuits),
            self.aggregator,
            *self.people,
        )

    @cached_property
    def agreed(self) -> Int64:
        """In how many pairs each user is at most, shape (users,); a pair divides epsilon by the larger of two."""
        return self.design.degrees

    @cached_property
    def longest(self) -> int:
        """Bytes of the longest message."""
        bodies = [body_bytes(circuit, step) for circuit in self.circuits.values() for step in Step]
        # each pair after the first pass needs a free place of two people, and MOST_PASSES bounds how often one is lost
        pairs = len(self.design) * (1 + MOST_PASSES)
        return SEALED_BYTES + max(*bodies, _LEAST + (self.design.users + pairs) // 8)

    def settings(self, pair: int, ends: Int64) -> PairSettings:
        """What a pair agrees on.

        Args:
            pair: Its number: first come those of the design, then those after dropouts.
            ends: Its two users.
        """
        garbler, evaluator = (Participant(user + 1, self.people[user]) for user in ends.tolist())
        parts = int(self.agreed[ends].max())
        return PairSettings(self.digest, pair, self.circuits[parts], garbler, evaluator, self.aggregator)


MOST_PASSES = 64
"""Passes after the first."""

_LEAST = 256
"""More than header, signature and rounding add to two lists of bits."""
