"""Values of kernels that pairs of people compute without showing each other theirs, each with noise of its own."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from ogive.arrays import Bool, Float64, Int64
from ogive.columns import Domain
from ogive.errors import DataError, ParameterError
from ogive.kernels.base import Measure
from ogive.kernels.circuits import Entries, entries_of
from ogive.local.base import RandomWords
from ogive.pairs import (
    Design,
    balanced_injections,
    divisors,
    injections,
    overlaps,
    permutations,
    round_robin,
    two_sample_overlaps,
    with_replacement,
)
from ogive.privacy import Adjacency, ApproxDP, Loss, PrivacyUnit, PureDP
from ogive.progress import Progress
from ogive.queries.aggregates import RowValues
from ogive.queries.base import Kind, Query
from ogive.queries.pair_program import Evaluate, PairProgram, program_of
from ogive.strategies.base import Level

DesignName = Literal["round_robin", "permutations", "independent"]
DESIGNS: tuple[DesignName, ...] = get_args(DesignName)
"""Who meets whom: nobody the same person twice; a random person in every round; independent random pairs."""

NoiseName = Literal["response", "laplace"]
NOISES: tuple[NoiseName, ...] = get_args(NoiseName)
"""What is added to each pair's value: randomized response, or discrete Laplace noise."""

PUBLIC_COLUMNS = 3
"""Of an answer's rows: number of the first person, of the second, and in how many parts epsilon was divided."""


@dataclass(frozen=True)
class PairsQuery(Query):
    """A noisy value of every kernel for pairs of people, from a circuit that each pair evaluates.

    Fields:
        rows: What a person has: the kernels' columns, and a public class where there is one.
        measure: Whose kernels are computed.
        classes: Whether the last column is a public class of two; pairs are then of one person of each.
        epsilon: Of all that a person takes part in, above 0.
        delta: The same; 0 with randomized response.
        design: One of `DESIGNS`.
        rounds: In how many pairs each person is, on average; of two classes each of the smaller one.
        noise: One of `NOISES`.
        bits: Steps that distances are computed in are 2^-bits of the bounds.
    """

    kind: ClassVar[Kind] = "pairs"

    rows: RowValues
    measure: Measure
    classes: bool
    epsilon: Fraction
    delta: Fraction
    design: str
    rounds: int
    noise: str
    bits: int

    @property
    def method(self) -> str:
        """The method's name in statistics."""
        return "paired"

    @property
    def aggregate(self) -> RowValues:
        """The rows, each of which is its owner's alone."""
        return self.rows

    @property
    def levels(self) -> tuple[Level, ...]:
        """No levels, since every pair draws its own noise."""
        return ()

    @cached_property
    def columns(self) -> Domain:
        """What the kernels look at."""
        columns = self.rows.domain.columns
        return Domain(columns[:-1] if self.classes else columns)

    @cached_property
    def entries(self) -> Entries:
        """What each person enters."""
        return entries_of(self.measure.kernels, self.columns, self.bits)

    def program(self, parts: int) -> PairProgram:
        """What a pair computes that may spend one of so many parts of what a person has.

        Raises:
            UnsupportedError: its noise cannot be drawn inside a circuit.
        """
        return program_of(self.measure.kernels, self.entries, self.noise, self.epsilon / parts, self.delta / parts)

    @property
    def regular(self) -> bool:
        """Whether all pairs may spend the same part, whatever random pairs are drawn."""
        return self.design == "round_robin" or (self.design == "permutations" and not self.classes)

    @property
    def public_columns(self) -> tuple[str, ...]:
        """The last column, where pairs are of one person of each class."""
        return (self.rows.domain.columns[-1].column,) if self.classes else ()

    def price(self, unit: PrivacyUnit) -> Loss:
        """Loss of all pairs that one person is in.

        Raises:
            ParameterError: the number of people would be private; whoever pairs them knows it.
        """
        if unit.adjacency is Adjacency.ADD_OR_REMOVE:
            raise ParameterError(
                "the number of people is known to the party that pairs them, so the number of records cannot be "
                "private; use `adjacency REPLACE`"
            )
        epsilon, delta = self.epsilon, self.delta
        program = self.program(self.rounds)
        if self.regular:
            epsilon, delta = self.rounds * program.epsilon, self.rounds * program.delta
        return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)

    def totals(self, sums: Int64, adjacency: Adjacency) -> tuple[int, ...] | None:
        """How many people there are, of each class where there are two."""
        if not self.classes:
            return (len(sums),)
        positives = int(self._positive(sums).sum())
        return len(sums) - positives, positives

    def digest(self, sums: Int64, adjacency: Adjacency) -> bytes:
        """SHA-256 of the description and of all rows; as secret as the data."""
        public: dict[str, Any] = {
            "rows": self.rows.to_dict(),
            "measure": self.measure.to_dict(),
            "classes": self.classes,
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "design": self.design,
            "rounds": self.rounds,
            "noise": self.noise,
            "bits": self.bits,
            "circuit": self.program(self.rounds).circuit.digest().hex(),  # a function's has no other description
        }
        found = hashlib.sha256(b"ogive pairs 1\n" + json.dumps(public, sort_keys=True).encode() + b"\n")
        found.update(np.ascontiguousarray(sums).astype("<i8").tobytes())
        return found.digest()

    def drawn(self, sums: Int64, *, seed: bytes) -> Design:
        """Who meets whom, from a public seed.

        Raises:
            DataError: there are too few people, or of one class none.
        """
        people = len(sums)
        if self.classes:
            positive = self._positive(sums)
            fewest = min(int(positive.sum()), people - int(positive.sum()))
            most = people - fewest
            if not fewest:
                raise DataError("an AUC needs people of both classes, but one class is empty")
            if self.design == "round_robin" and self.rounds > most:
                raise DataError(f"in {self.rounds} rounds people would meet twice: the larger class has {most}")
            draw = balanced_injections if self.design == "round_robin" else injections
            return draw(positive, self.rounds, seed=seed)
        if people < 2:
            raise DataError(f"a mean over pairs needs at least two records, got {people}")
        most = people - 1 + people % 2
        if self.design == "round_robin" and self.rounds > most:
            raise DataError(f"{people} people can meet in at most {most} rounds, got {self.rounds}")
        if self.design == "independent":
            return with_replacement(people, max(1, self.rounds * people // 2), seed=seed)
        return (round_robin if self.design == "round_robin" else permutations)(people, self.rounds, seed=seed)

    def check(self, design: Design, agreed: Int64) -> None:
        """Refuse pairs of which some could not draw their noise, or that would not tell how far their mean is off.

        Args:
            design: Who meets whom in the end.
            agreed: In how many pairs each person agreed to be, shape (people,).

        Raises:
            DataError: any two pairs share a person.
            UnsupportedError: noise cannot be drawn inside a circuit.
        """
        if _related(design) == len(design) ** 2:
            raise DataError(
                "nothing can be released: a standard error needs two pairs of four different people, and "
                f"{'only one pair' if len(design) == 1 else 'any two of those that'} came about"
                f"{'' if len(design) == 1 else ' have a person in common'}; let more people meet"
            )
        for part in np.unique(self._parts(design, agreed)):
            self.program(int(part))

    def parts_of(self, agreed: int) -> int:
        """In how many parts epsilon is divided at a pair, of whose two people one agreed to most pairs, so many."""
        return self.rounds if self.regular else agreed

    def _parts(self, design: Design, agreed: Int64) -> Int64:
        """In how many parts epsilon is divided at each pair, shape (pairs,)."""
        parts = divisors(design, agreed)
        return np.full_like(parts, self.rounds) if self.regular else parts

    def _positive(self, sums: Int64) -> Bool:
        return np.asarray(self.rows.values(sums)[:, -1] == 1)

    def compute(
        self,
        sums: Int64,
        design: Design,
        agreed: Int64,
        *,
        source: RandomWords,
        evaluate: Evaluate,
        progress: Progress | None = None,
    ) -> Int64:
        """What all pairs of a design compute, as they would between themselves.

        Args:
            sums: The rows, as their aggregate gives them.
            design: Who meets whom in the end.
            agreed: In how many pairs each person agreed to be, shape (people,).
            source: The people's random bits.
            evaluate: How circuits are evaluated.
            progress: Called with how many pairs were evaluated, and how many there are.

        Returns:
            Rows of two numbers of people, the parts of epsilon, and what came out for each kernel.
        """
        parts = self._parts(design, agreed)
        entered = self.entries.of(self.rows.values(sums)[:, : len(self.columns.columns)])
        found = np.empty((len(design), PUBLIC_COLUMNS + len(self.measure.kernels)), dtype=np.int64)
        found[:, :2], found[:, 2] = design.pairs, parts
        evaluated = 0

        def advance(pairs: int) -> None:
            nonlocal evaluated
            evaluated += pairs
            if progress is not None:
                progress(evaluated, len(design))

        for part in np.unique(parts):
            chosen = np.flatnonzero(parts == part)
            first, second = (entered[design.pairs[chosen, side]] for side in (0, 1))
            program = self.program(int(part))
            found[chosen, PUBLIC_COLUMNS:] = program.run(first, second, source=source, evaluate=evaluate, done=advance)
        return found

    def read(self, answer: Int64) -> Float64:
        """Unbiased values of the kernels, shape (pairs, kernels), of an answer's rows."""
        values = np.empty((len(answer), len(self.measure.kernels)))
        for part in np.unique(answer[:, 2]):
            chosen = answer[:, 2] == part
            values[chosen] = self.program(int(part)).read(answer[chosen, PUBLIC_COLUMNS:])
        return values

    def least_noise(self, answer: Int64) -> Float64:
        """Variance of the mean of each kernel that noise alone has at least, of an answer's rows."""
        parts, counts = np.unique(answer[:, 2], return_counts=True)
        sums = [count * self.program(int(part)).least_noise for part, count in zip(parts, counts.tolist(), strict=True)]
        return np.asarray(np.sum(sums, axis=0) / len(answer) ** 2)


def _related(design: Design) -> Fraction:
    """Ordered pairs of pairs that share a person, each with itself among them."""
    if design.between:
        between = two_sample_overlaps(design)
        return between.first + between.second + between.both
    shared = overlaps(design)
    return shared.one + shared.both
