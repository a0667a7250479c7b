"""What two people compute together: the noisy values of some kernels, and nothing else comes out.

One circuit has the kernels of what both entered, and noise of bits that both drew; how the whole numbers that come out
are read follows from the exact laws of that noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from ogive.arrays import Bool, Float64, Int64
from ogive.crypto.circuits import Bit, Builder, Circuit, LaplaceLaw, ResponseLaw, Signed, Unsigned, separate
from ogive.crypto.circuits.arithmetic import Number, less
from ogive.crypto.circuits.builder import Value
from ogive.crypto.circuits.sampling import (
    add_laplace,
    index_of_sign,
    respond_binary,
    respond_ternary,
    uniform_bits,
)
from ogive.errors import ParameterError, UnsupportedError
from ogive.kernels import Kernel, Scale
from ogive.kernels.circuits import Entries, KernelCircuit, kernel_circuit
from ogive.local.base import RandomWords

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
        kernels: What is computed, at least one.
        entries: What each person enters.
        laws: Of the noise on each kernel.
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
        random = uniform_bits(builder, self.noise_bits)
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
            return add_laplace(Unsigned((value,)) if isinstance(value, Bit) else value, law, random)
        if digits:
            assert not isinstance(value, Bit)
            value = less(Unsigned(random[:digits]), value)
        if isinstance(value, Bit):
            return respond_binary(value, law, random[digits:])
        return respond_ternary(index_of_sign(value) if isinstance(value, Signed) else value, law, random)

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
        """What comes out for every pair.

        Args:
            first: What the first person of each pair entered, shape (pairs, bits).
            second: The second.
            source: Random bits of both.
            evaluate: How the circuit is evaluated.
            done: Called with how many pairs were evaluated since the last time.

        Returns:
            Whole numbers of shape (pairs, kernels): noisy ones, or the index of a response.
        """
        found = np.empty((len(first), len(self.kernels)), dtype=np.int64)
        for start in range(0, len(first), _CHUNK):
            part = slice(start, start + _CHUNK)
            sides = [np.hstack([each[part], self._noise(len(each[part]), source)]) for each in (first, second)]
            outputs = evaluate(self.circuit, *sides)
            found[part] = np.column_stack([*separate(self.circuit.outputs, outputs).values()])
            done(len(outputs))
        return found

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
        found = [
            min(law.variance(self.values(place), true) for true in range(law.values))
            if isinstance(law, ResponseLaw)
            else Fraction(0)
            for place, law in enumerate(self.laws)
        ]
        return np.array([float(each) for each in found])

    def values(self, place: int) -> tuple[Fraction, ...]:
        """What the responses on a kernel stand for before they are made unbiased, in their order."""
        digits = self._digits(place)
        wholes = (0, 1 << digits) if digits else self.kernel_circuit[place].wholes
        assert wholes is not None
        scale = self.scales[place]
        return tuple(scale.zero + scale.unit * whole for whole in wholes)


def program_of(
    kernels: Sequence[Kernel], entries: Entries, noise: str, epsilon: Fraction, delta: Fraction
) -> PairProgram:
    """The program whose release costs either person at most (epsilon, delta), shared equally by the kernels.

    Args:
        kernels: What is computed.
        entries: What each person enters.
        noise: "response" or "laplace".
        epsilon: Above 0.
        delta: Above 0 for "laplace".

    Raises:
        UnsupportedError: so little noise, or so much, cannot be drawn.
    """
    return _program(tuple(kernels), entries, noise, epsilon, delta)


@lru_cache(maxsize=256)
def _program(
    kernels: tuple[Kernel, ...], entries: Entries, noise: str, epsilon: Fraction, delta: Fraction
) -> PairProgram:
    shared, cut_off = epsilon / len(kernels), delta / len(kernels)
    laws: list[Law] = []
    for kernel in (kernel_circuit(each, entries.columns) for each in kernels):
        if noise == "laplace":
            laws.append(_laplace(shared, cut_off, kernel.scale(entries.bits).swing))
        else:
            laws.append(ResponseLaw.of(shared, values=2 if kernel.wholes is None else len(kernel.wholes)))
    return PairProgram(kernels, entries, tuple(laws), epsilon)


def _laplace(epsilon: Fraction, delta: Fraction, sensitivity: int) -> LaplaceLaw:
    """The law with the largest epsilon that costs no more than that once its probabilities are rounded.

    Raises:
        UnsupportedError: there is none.
    """
    for share in _SHARES:
        with suppress(ParameterError):  # its rarest bit cannot be drawn so precisely: a larger scale has none so rare
            law = LaplaceLaw.within(epsilon * share, delta=float(delta), sensitivity=sensitivity)
            if Fraction(law.epsilon) <= epsilon and Fraction(law.delta) <= delta:
                return law
    raise UnsupportedError(
        f"Laplace noise inside a circuit cannot be drawn precisely enough for epsilon = {float(epsilon):.3g} and "
        f"delta = {float(delta):.3g} a pair; use `noise='response'`"
    )
