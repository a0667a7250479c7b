"""Values of kernels that pairs of people compute without showing each other theirs, each with noise of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar, Literal, get_args

import numpy as np

from ogive.columns import Domain
from ogive.core.arrays import Bool, Float64, Int64
from ogive.core.checks import Progress, plain_fields
from ogive.crypto.circuits import Bit, Builder, Circuit, LaplaceLaw, ResponseLaw, Signed, Unsigned, sampling, separate
from ogive.crypto.circuits.arithmetic import Number, less
from ogive.crypto.circuits.circuit import Value
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.kernels import Kernel, Scale
from ogive.kernels.base import Measure
from ogive.kernels.circuits import Entries, KernelCircuit, entries_of, kernel_circuit
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
from ogive.queries.aggregates import RowValues
from ogive.queries.base import Kind, Query, rows_digest
from ogive.strategies.base import Level

# --- What two people compute together
#
# The noisy values of some kernels come out, and nothing else. One circuit has the kernels of what both entered, and
# noise of bits that both drew; how the whole numbers that come out are read follows from the exact laws of that noise.

Law = ResponseLaw | LaplaceLaw
Evaluate = Callable[[Circuit, Bool, Bool], Bool]
"""Evaluates a circuit for many pairs: of the garblers' and the evaluators' bits the outputs."""

Done = Callable[[int], None]

_CHUNK = 1 << 13
_SHARES = (
    *(1 - Fraction(1, 1 << places) for places in range(50, 0, -10)),
    *(Fraction(3, 4) ** power for power in range(1, 12)),
)
"""Parts of epsilon that a law is tried for: rounding costs a little, and little noise is hard to draw exactly."""


@dataclass(frozen=True)
class PairProgram:
    """Kernels and the noise on them, as one circuit of two people.

    Fields:
        granted: No release costs a larger epsilon, as the laws were made for.
    """

    kernels: tuple[Kernel, ...]
    entries: Entries
    laws: tuple[Law, ...]
    granted: Fraction

    @cached_property
    def kernel_circuit(self) -> tuple[KernelCircuit, ...]:
        """The circuit that computes the kernels, before noise is added."""
        return tuple(kernel_circuit(kernel, self.entries.columns) for kernel in self.kernels)

    @cached_property
    def scales(self) -> tuple[Scale, ...]:
        """What the kernels' whole numbers stand for."""
        return tuple(each.scale(self.entries.bits) for each in self.kernel_circuit)

    @cached_property
    def circuit(self) -> Circuit:
        """The whole circuit; the first person garbles and the second evaluates."""
        builder = Builder()
        sides = builder.garbler, builder.evaluator
        first, second = (self.entries.read(side("values", self.entries.width)) for side in sides)
        random = sampling.uniform_bits(builder, self.noise_bits)
        outputs: dict[str, Value] = {}
        for place, kernel in enumerate(self.kernel_circuit):
            count = self._random(place)
            value = kernel.build(first, second, self.entries.bits)
            outputs[f"kernel {place}"] = self._noisy(place, value, random[:count])
            random = random[count:]
        return builder.finish(outputs)

    @property
    def noise_bits(self) -> int:
        """Random bits that each person draws."""
        return sum(self._random(place) for place in range(len(self.kernels)))

    def _random(self, place: int) -> int:
        return self._digits(place) + self.laws[place].uniform_bits

    def _digits(self, place: int) -> int:
        """Bits of the uniform number that a kernel with many values is rounded by; 0 where it is not."""
        kernel = self.kernel_circuit[place]
        rounded = isinstance(self.laws[place], ResponseLaw) and kernel.wholes is None
        return kernel.digits(self.entries.bits) if rounded else 0

    def _noisy(self, place: int, value: Number | Bit, random: tuple[Bit, ...]) -> Value:
        law, digits = self.laws[place], self._digits(place)
        if isinstance(law, LaplaceLaw):
            return sampling.add_laplace(Unsigned((value,)) if isinstance(value, Bit) else value, law, random)
        if digits:
            assert not isinstance(value, Bit)
            value = less(Unsigned(random[:digits]), value)
        if isinstance(value, Bit):
            return sampling.respond_binary(value, law, random[digits:])
        return sampling.respond_ternary(
            sampling.index_of_sign(value) if isinstance(value, Signed) else value, law, random
        )

    @property
    def epsilon(self) -> Fraction:
        """What a release of all kernels of a pair costs either of them, together with `delta`."""
        stated = sum((Fraction(law.epsilon) for law in self.laws), Fraction(0))  # each rounded up
        return min(self.granted, stated)

    @property
    def delta(self) -> Fraction:
        """Probability that noise is so large that it gives a value away, of all kernels together."""
        return sum((Fraction(law.delta) for law in self.laws if isinstance(law, LaplaceLaw)), Fraction(0))

    def run(self, first: Bool, second: Bool, *, source: RandomWords, evaluate: Evaluate, done: Done) -> Int64:
        """What comes out for every pair, shape (pairs, kernels): noisy whole numbers, or the index of a response.

        Takes what the persons of each pair entered, shape (pairs, bits); calls `done` with how many pairs were
        evaluated.
        """
        result = np.empty((len(first), len(self.kernels)), dtype=np.int64)
        for start in range(0, len(first), _CHUNK):
            part = slice(start, start + _CHUNK)
            sides = [np.hstack([each[part], self._noise(len(each[part]), source)]) for each in (first, second)]
            outputs = evaluate(self.circuit, *sides)
            result[part] = np.column_stack([*separate(self.circuit.outputs, outputs).values()])
            done(len(outputs))
        return result

    def _noise(self, pairs: int, source: RandomWords) -> Bool:
        bits = pairs * self.noise_bits
        words = np.ascontiguousarray(source.words(-(-bits // 32)), dtype="<u4")
        return np.unpackbits(words.view(np.uint8), count=bits).reshape(pairs, -1).astype(np.bool_)

    def read(self, outputs: Int64) -> Float64:
        """Unbiased values of the kernels, shape (pairs, kernels), of what came out."""
        columns = []
        for place, (scale, law) in enumerate(zip(self.scales, self.laws, strict=True)):
            column = outputs[:, place]
            if isinstance(law, ResponseLaw):
                columns.append(np.array([float(each) for each in law.unbiased(self.values(place))])[column])
            else:
                columns.append(float(scale.zero) + float(scale.unit) * column)
        return np.column_stack(columns)

    @property
    def least_noise(self) -> Float64:
        """Variance that every read value has at least, whatever the true one: of responses; 0 for Laplace noise.

        A few responses may well all be the same, Laplace noise shows in any two values.
        """
        results = [
            min(law.variance(self.values(place), true) for true in range(law.values))
            if isinstance(law, ResponseLaw)
            else Fraction(0)
            for place, law in enumerate(self.laws)
        ]
        return np.array([float(each) for each in results])

    def values(self, place: int) -> tuple[Fraction, ...]:
        """The values that the responses on a kernel stand for before the correction of bias, in their order."""
        digits = self._digits(place)
        wholes = (0, 1 << digits) if digits else self.kernel_circuit[place].wholes
        assert wholes is not None
        scale = self.scales[place]
        return tuple(scale.zero + scale.unit * whole for whole in wholes)


@lru_cache(maxsize=256)
def program_of(
    kernels: tuple[Kernel, ...], entries: Entries, noise: str, epsilon: Fraction, delta: Fraction
) -> PairProgram:
    """The program whose release costs either person at most (epsilon, delta), shared equally by the kernels."""
    shared, cut_off = epsilon / len(kernels), delta / len(kernels)
    laws: list[Law] = []
    for kernel in (kernel_circuit(each, entries.columns) for each in kernels):
        if noise == "laplace":
            laws.append(_laplace(shared, cut_off, kernel.scale(entries.bits).swing))
        else:
            laws.append(ResponseLaw.of(shared, values=2 if kernel.wholes is None else len(kernel.wholes)))
    return PairProgram(kernels, entries, tuple(laws), epsilon)


def _laplace(epsilon: Fraction, delta: Fraction, sensitivity: int) -> LaplaceLaw:
    """The law with the largest epsilon that costs no more than that once its probabilities are rounded."""
    for share in _SHARES:
        with suppress(ParameterError):  # its rarest bit cannot be drawn so precisely: a larger scale has none so rare
            law = LaplaceLaw.within(epsilon * share, delta=float(delta), sensitivity=sensitivity)
            if Fraction(law.epsilon) <= epsilon and Fraction(law.delta) <= delta:
                return law
    raise UnsupportedError(
        f"Laplace noise inside a circuit cannot be drawn precisely enough for epsilon = {float(epsilon):.3g} and "
        f"delta = {float(delta):.3g} a pair; use `noise='response'`"
    )


# --- The query

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

    method: ClassVar[str] = "paired"

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
    def aggregate(self) -> RowValues:
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
        # a function's circuit has no other description
        public = {**plain_fields(self), "circuit": self.program(self.rounds).circuit.digest().hex()}
        return rows_digest("pairs", public, sums)

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
        result = np.empty((len(design), PUBLIC_COLUMNS + len(self.measure.kernels)), dtype=np.int64)
        result[:, :2], result[:, 2] = design.pairs, parts
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
            result[chosen, PUBLIC_COLUMNS:] = program.run(first, second, source=source, evaluate=evaluate, done=advance)
        return result

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
