"""Noise drawn inside a circuit, from private bits of both parties that neither of them can know or choose.

Every uniform bit is the XOR of one bit of each party: uniform, and unknown to the other, as soon as one of them draws
its own uniformly. A circuit cannot stop early, so a biased bit always reads all its uniform bits.

Source:
    `ustatistics.md`, section 8; `crypto.md`, section 9; Dwork et al. 2006; Champion, shelat, Ullman 2019.
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.crypto.circuits.arithmetic import Number, extended, sum_of_bits
from ogive.crypto.circuits.builder import Bit, Builder, Signed, Unsigned
from ogive.crypto.circuits.laws import LaplaceLaw, ResponseLaw
from ogive.errors import ParameterError


def uniform_bits(builder: Builder, count: int, name: str = "noise") -> tuple[Bit, ...]:
    """Bits that are uniform where one party's are; free, for one input bit of each party.

    Args:
        builder: Of the circuit.
        count: As many as a law says in `uniform_bits`.
        name: Of the inputs of both parties.
    """
    ours, theirs = builder.garbler(name, count), builder.evaluator(name, count)
    return tuple(a ^ b for a, b in zip(ours.bits, theirs.bits, strict=True))


def biased_bit(uniforms: Sequence[Bit], threshold: int) -> Bit:
    """Whether a uniform number is below a public threshold: probability T / 2^k; at most k - 1 ANDs.

    Args:
        uniforms: k uniform bits, the least significant first; to be used for nothing else.
        threshold: T, from 0 to 2^k.
    """
    if threshold == 1 << len(uniforms):
        return ~(uniforms[0] ^ uniforms[0])
    below = uniforms[0] ^ uniforms[0]
    for place, bit in enumerate(uniforms):
        below = ~bit | below if threshold >> place & 1 else ~bit & below
    return below


def respond_binary(value: Bit, law: ResponseLaw, uniforms: Sequence[Bit]) -> Bit:
    """The bit, or its complement with the law's probability; k - 1 ANDs.

    Args:
        value: Of the kernel.
        law: Of two values.
        uniforms: `law.uniform_bits` of them.
    """
    _check(law.values == 2 and len(uniforms) == law.uniform_bits)
    return value ^ biased_bit(uniforms, law.threshold)


def respond_ternary(value: Unsigned, law: ResponseLaw, uniforms: Sequence[Bit]) -> Unsigned:
    """The number 0, 1 or 2, or one of the other two with the law's probability; k + 4 ANDs.

    Args:
        value: Of the kernel, two bits that are never both set.
        law: Of three values.
        uniforms: `law.uniform_bits` of them.
    """
    _check(law.values == 3 and len(uniforms) == law.uniform_bits and value.width == 2)
    change = biased_bit(uniforms[:-1], law.threshold)
    by_two = change & uniforms[-1]
    by_one = change ^ by_two
    one, two = value.bits
    zero = ~(one ^ two)
    # at most one of by_one and by_two is set, and one of zero, one and two
    return Unsigned(
        (
            one ^ (by_one & (one ^ zero)) ^ (by_two & (one ^ two)),
            two ^ (by_one & (two ^ one)) ^ (by_two & (two ^ zero)),
        )
    )


def index_of_sign(sign: Signed) -> Unsigned:
    """A sign -1, 0 or 1 as the number 2, 0 or 1, which `respond_ternary` takes; free."""
    low, high = sign.bits
    return Unsigned((low ^ high, high))


def add_laplace(value: Number, law: LaplaceLaw, uniforms: Sequence[Bit]) -> Signed:
    """The number with discrete Laplace noise, in a width that never overflows.

    For m digits, precision k and an output of width w at most (m + 1)(k - 1) + 2m + w - 1 ANDs.

    Args:
        value: Of the kernel, on its whole grid.
        law: Of the noise.
        uniforms: `law.uniform_bits` of them.
    """
    _check(len(uniforms) == law.uniform_bits)
    sign, rest = uniforms[-1], uniforms[:-1]
    parts = [rest[start : start + law.precision] for start in range(0, len(rest), law.precision)]
    nonzero = ~biased_bit(parts[0], law.flag)
    digits = [biased_bit(part, threshold) for part, threshold in zip(parts[1:], law.digits, strict=True)]
    return add_signed_magnitude(value, digits, nonzero, sign)


def add_signed_magnitude(value: Number, digits: Sequence[Bit], nonzero: Bit, sign: Bit) -> Signed:
    """The number plus or minus one more than the digits' number, or plus nothing.

    For m digits and an output of width w = max(m, the number's) + 2: 2m + w - 1 ANDs.

    Args:
        value: The number.
        digits: Of the noise less one, the least significant first.
        nonzero: Whether there is noise.
        sign: Whether it is subtracted.
    """
    carry = ~(sign ^ sign)
    magnitude = []
    for digit in digits:
        magnitude.append((digit ^ carry) & nonzero)
        carry = digit & carry
    magnitude.append(carry & nonzero)
    width = max(value.width, len(digits)) + 2
    noise = [bit ^ sign for bit in extended(Unsigned(tuple(magnitude)), width)]
    return Signed(sum_of_bits(extended(value, width), noise, sign))


def _check(fits: bool) -> None:
    if not fits:
        raise ParameterError("the law is of another number of values or uniform bits than it is given here")
