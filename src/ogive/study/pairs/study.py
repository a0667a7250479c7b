"""What everybody in a study of pairs knows beforehand, and how the result is read of what pairs computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ogive.core.arrays import Bool, Int64
from ogive.crypto.circuits import Circuit, separate
from ogive.crypto.domains import HashDomain, digest
from ogive.crypto.domains import number as field
from ogive.crypto.twoparty import SEALED_BYTES, PairSettings, Participant, Step, body_bytes
from ogive.errors import DataError, OgiveError, ParameterError
from ogive.pairs.designs import Design
from ogive.privacy import Loss
from ogive.queries import Answer, PairsQuery, Query
from ogive.releasing.release import drive
from ogive.statistics.base import Estimate, settled
from ogive.study.course import first_query, release_digest, terms_of, with_provenance
from ogive.study.document import PeopleStudy

MOST_PASSES = 64
"""Passes after the first."""

_LEAST = 256
"""More than header, signature and rounding add to two lists of bits."""


@dataclass(frozen=True, eq=False)
class PairsStudy:
    """A study of pairs; user u of the design has number u + 1, and the aggregator 0.

    Fields:
        design: Who meets whom, first; the first of each pair garbles.
        circuits: By divisor of epsilon (`ogive.pairs.divisors`), with noise for that part of it; one for every degree
            of a user.
        people: Ed25519 public keys of the users.
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
        circuits = [field(parts) + circuit.digest() for parts, circuit in sorted(self.circuits.items())]
        return digest(
            HashDomain.PAIRS_STUDY,
            field(design.users),
            field(design.between),
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
        bodies = [body_bytes(circuit, step) for circuit in self.circuits.values() for step in Step]
        # each pair after the first pass needs a free place of two people, and MOST_PASSES bounds how often one is lost
        pairs = len(self.design) * (1 + MOST_PASSES)
        return SEALED_BYTES + max(*bodies, _LEAST + (self.design.users + pairs) // 8)

    def settings(self, pair: int, ends: Int64) -> PairSettings:
        """What a pair of two users agrees on; numbers of the design's pairs come first, then those after dropouts."""
        garbler, evaluator = (Participant(user + 1, self.people[user]) for user in ends.tolist())
        parts = int(self.agreed[ends].max())
        return PairSettings(self.digest, pair, self.circuits[parts], garbler, evaluator, self.aggregator)


@dataclass(frozen=True, eq=False)
class Collected:
    """What became of all pairs.

    Fields:
        pairs: Users of every pair that was to be, those of further passes last; shape (pairs, 2).
        gone: Whether each user is not there, shape (users,).
    """

    study: PairsStudy
    pairs: Int64
    outputs: dict[int, Bool]
    lost: dict[int, str]
    gone: Bool

    def values(self, pair: int) -> dict[str, int]:
        """Outputs of a pair as whole numbers, by name."""
        ports = self.study.settings(pair, self.pairs[pair]).circuit.outputs
        return {name: int(value[0]) for name, value in separate(ports, self.outputs[pair][None]).items()}


# --- What follows from a study of people alone: the query, who meets whom, and the result of what pairs computed


@dataclass(frozen=True, eq=False)
class Meeting:
    """What everybody in a study of people agrees on: the query, what all pairs cost a person, and who meets whom."""

    study: PeopleStudy
    query: PairsQuery
    price: Loss
    protocol: PairsStudy

    @staticmethod
    def of(study: PeopleStudy) -> Meeting:
        """Follow a study as far as its release's query; who meets whom is drawn from the digest of the study."""
        release = study.releases[0]
        try:
            query, price = first_query(study, release)
            assert isinstance(query, PairsQuery), "people in pairs serve nothing else"
            if query.classes:
                raise ParameterError("a study of pairs has no public classes; ask for a statistic without a label")
            columns = len(query.columns.columns)
            design = query.drawn(np.zeros((study.records, columns), np.int64), seed=release_digest(study, 0))
            query.check(design, design.degrees)
            degrees = sorted({*design.degrees.tolist()} - {0})
            circuits = {each: query.program(query.parts_of(each)).circuit for each in degrees}
        except OgiveError as problem:
            raise problem.prefixed(f"release {release.name}") from None
        return Meeting(study, query, price, PairsStudy(design, circuits, study.people, study.coordinator))

    def answer(self, collected: Collected) -> Answer:
        """What came out at all pairs that were opened, in the order of their numbers."""
        agreed = self.protocol.agreed
        opened = sorted(collected.outputs)
        if not opened:
            raise DataError("no pair was opened")
        self.query.check(Design(self.study.records, collected.pairs[opened]), agreed)
        rows = []
        for pair in opened:
            ends = collected.pairs[pair]
            values = collected.values(pair)
            outputs = [values[f"kernel {place}"] for place in range(len(self.query.measure.kernels))]
            rows.append([*ends.tolist(), self.query.parts_of(int(agreed[ends].max())), *outputs])
        return Answer(np.array(rows, np.int64), (self.study.records,))

    def estimate(self, answer: Answer) -> Estimate:
        release = self.study.releases[0]
        statistic = settled(release.statistic, self.study.unit)
        return with_provenance(self.study, 0, drive(statistic, terms_of(self.study, release), _Holder(answer)))


class _Holder:
    """Nobody pays here: each person does, before it meets anybody."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def pay(self, loss: Loss, query: Query) -> None:
        pass

    def answer(self, query: Query) -> Answer:
        return self._answer
