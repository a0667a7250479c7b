"""Arithmetic of numbers in circuits, kernels of U-statistics, and comparisons of shared counts.

Results are as wide as they must be, so that nothing overflows. Only AND gates cost anything, and every function says
how many it takes; with constants it takes fewer. Numbers may be of different widths, and signed and unsigned ones may
be mixed.

Source:
    `ustatistics.md`, section 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ogive.core.arrays import Bool, UInt64
from ogive.crypto.circuits.circuit import Bit, Builder, Circuit, Signed, Unsigned
from ogive.errors import ParameterError

Number = Unsigned | Signed


def add(left: Number, right: Number) -> Number:
    """The sum, one bit wider than its terms of width k; k ANDs for unsigned numbers and for signed ones."""
    wide = _common_width(left, right) + 1
    bits = sum_of_bits(extended(left, wide), extended(right, wide), _zero(left))
    return Unsigned(bits) if _are_unsigned(left, right) else Signed(bits)


def subtract(left: Number, right: Number) -> Signed:
    """Take `right` from `left`; one bit wider than its terms of width k; k ANDs."""
    wide = _common_width(left, right) + 1
    complement = [~bit for bit in extended(right, wide)]
    return Signed(sum_of_bits(extended(left, wide), complement, ~_zero(left)))


def negate(value: Number) -> Signed:
    """-value, one bit wider."""
    return subtract(Unsigned((_zero(value),)), value)


def less(left: Number, right: Number) -> Bit:
    """Whether left < right; k ANDs for the wider of them, of width k."""
    ours, theirs = _comparable(left, right)
    carry = _zero(left)
    for a, b in zip(ours, theirs, strict=True):
        carry = majority(~a, b, carry)
    return carry


def equal(left: Number, right: Number) -> Bit:
    """Whether the numbers are the same; k - 1 ANDs."""
    ours, theirs = _comparable(left, right)
    return all_of([~(a ^ b) for a, b in zip(ours, theirs, strict=True)])


def absolute(value: Signed) -> Unsigned:
    """|value|, of the same width k, since the least number has no opposite of fewer bits; k - 1 ANDs."""
    sign = value.bits[-1]
    shifted = sum_of_bits(value.bits, [sign] * value.width, _zero(value))
    return Unsigned(tuple(bit ^ sign for bit in shifted))


def absolute_difference(left: Unsigned, right: Unsigned) -> Unsigned:
    """|left - right|, as wide as the wider of them, of width k; 2k - 1 ANDs."""
    return Unsigned(absolute(subtract(left, right)).bits[:-1])


def select(choice: Bit, yes: Number, no: Number) -> Number:
    """One of two numbers, `yes` where the bit is set; one AND a bit."""
    wide = _common_width(yes, no)
    bits = tuple(b ^ (choice & (a ^ b)) for a, b in zip(extended(yes, wide), extended(no, wide), strict=True))
    return Unsigned(bits) if _are_unsigned(yes, no) else Signed(bits)


def multiply(left: Unsigned, right: Unsigned) -> Unsigned:
    """The product, as wide as both together; for widths k and l no more than (2k - 1)l ANDs."""
    total = Unsigned((*[left.bits[0] & bit for bit in right.bits], _zero(left)))
    results = [total.bits[0]]
    for factor in left.bits[1:]:
        row = Unsigned(tuple(factor & bit for bit in right.bits))
        # what is left of the sum is below 2^l, so the sum with the next row is below 2^(l + 1)
        rest = Unsigned(total.bits[1:])
        total = Unsigned(sum_of_bits(extended(rest, right.width + 1), extended(row, right.width + 1), _zero(left)))
        results.append(total.bits[0])
    return Unsigned(tuple(results) + total.bits[1:])


def square(value: Unsigned) -> Unsigned:
    """The square, twice as wide; products of two different bits are taken once."""
    width, zero = value.width, _zero(value)
    # sum of b_i 4^i and of 2 b_i b_j 2^(i + j): row i has b_i in place 2i and its products from place 2i + 2
    total = [zero] * (2 * width)
    for place, bit in enumerate(value.bits):
        row = [bit, zero] + [bit & other for other in value.bits[place + 1 :]]
        row = (row + [zero] * 2 * width)[: 2 * width - 2 * place]
        total[2 * place :] = sum_of_bits(total[2 * place :], row, zero)
    return Unsigned(tuple(total))


def majority(a: Bit, b: Bit, c: Bit) -> Bit:
    """Whether two of three bits are set: the carry of a full adder; 1 AND."""
    return c ^ ((a ^ c) & (b ^ c))


def all_of(bits: Sequence[Bit]) -> Bit:
    """Whether all bits are set, in a tree, so that few AND gates follow each other; one AND less than bits."""
    row = list(bits)
    while len(row) > 1:
        pairs = [a & b for a, b in zip(row[::2], row[1::2], strict=False)]
        row = pairs + row[len(row) - len(row) % 2 :]
    return row[0]


def sum_of_bits(left: Sequence[Bit], right: Sequence[Bit], carry: Bit) -> tuple[Bit, ...]:
    """Two numbers of one width and a carry, added modulo 2^width; width - 1 ANDs."""
    results = []
    for a, b in zip(left, right, strict=True):
        results.append(a ^ b ^ carry)
        carry = majority(a, b, carry)  # nothing reads the last one, so it is never emitted
    return tuple(results)


def extended(value: Number, width: int) -> tuple[Bit, ...]:
    """The bits of a number in a width that is not less than its own; free."""
    above = value.bits[-1] if isinstance(value, Signed) else _zero(value)
    return value.bits + (above,) * (width - value.width)


def as_signed(value: Number) -> Signed:
    """The same number with a sign, one bit wider where it had none; free."""
    return value if isinstance(value, Signed) else Signed(extended(value, value.width + 1))


def _are_unsigned(left: Number, right: Number) -> bool:
    return isinstance(left, Unsigned) and isinstance(right, Unsigned)


def _common_width(left: Number, right: Number) -> int:
    """The width in which both numbers fit, with a sign if either has one."""
    if _are_unsigned(left, right):
        return max(left.width, right.width)
    return max(as_signed(left).width, as_signed(right).width)


def _comparable(left: Number, right: Number) -> tuple[tuple[Bit, ...], tuple[Bit, ...]]:
    """Bits whose order as unsigned numbers is the order of the numbers."""
    width = _common_width(left, right)
    ours, theirs = extended(left, width), extended(right, width)
    if _are_unsigned(left, right):
        return ours, theirs
    return (*ours[:-1], ~ours[-1]), (*theirs[:-1], ~theirs[-1])


def _zero(value: Number) -> Bit:
    """The constant bit of the circuit that a number belongs to."""
    return value.bits[0] ^ value.bits[0]


# --- Kernels of U-statistics of the numbers of two people that are no single operation
#
# Source:
#     `ustatistics.md`, sections 2 and 8. AUC with half ties and Kendall take fewer AND gates here than there: two
#     numbers differ where they are not equal, which costs one gate less than a second comparison.


def auc_half(negative: Unsigned, positive: Unsigned) -> Unsigned:
    """Twice the AUC kernel that counts a tie as a half: 0, 1 for a tie, or 2; 2k - 1 ANDs."""
    return Unsigned((equal(negative, positive), less(negative, positive)))


def kendall(first: tuple[Unsigned, Unsigned], second: tuple[Unsigned, Unsigned]) -> Signed:
    """Kendall's sign product of two people with two coordinates each: -1, 0 or 1; 4k ANDs for numbers of k bits."""
    (y1, z1), (y2, z2) = first, second
    differ = ~equal(y1, y2) & ~equal(z1, z2)
    return Signed((differ, differ & (less(y1, y2) ^ less(z1, z2))))


# --- Shared counts: whether the largest reaches a bound, and which it is
#
# A count from 0 to B = 2^width - 1 is shared modulo the prime p = 2^61 - 1, which is more than 2 B. The two shares add
# up to the count, or to p more. In the first case neither exceeds B; in the second one does, since 2 B < p. Because p
# is -1 modulo 2^width,
#
#     count = own low bits + the other's low bits + (1 unless both shares are at most B)    modulo 2^width
#
# so that a count takes one AND gate more than an adder. `share_bits` makes a party's inputs.
#
# Source:
#     `docs/proofs/secret_votes.md`.

MOST_BITS = 60
"""The widest counts, of which twice the largest is still below the prime."""

_CIRCUITS = 16


@lru_cache(_CIRCUITS)
def reaches(classes: int, width: int, *, offset_width: int, shift: int) -> Circuit:
    """Whether 2^shift times the largest count plus both parties' offsets is 0 or more.

    Offsets are added modulo 2^offset_width; the sum must fit with its sign. With widths k and w and m counts:
    m k + 2 (m - 1) k + 2 w - shift ANDs at most.
    """
    _check(classes, width)
    if not shift < offset_width <= MOST_BITS + 2:
        raise ParameterError(
            f"an offset must have more than {shift} bits and at most {MOST_BITS + 2}, got {offset_width}"
        )
    builder = Builder()
    counts = _counts(builder, classes, width)
    sides = builder.garbler("offset", offset_width), builder.evaluator("offset", offset_width)
    zero = _zero(sides[0])
    offset = sum_of_bits(sides[0].bits, sides[1].bits, zero)
    highest, _ = _first_largest(builder, counts)
    wanted = offset_width - shift
    height = (*highest.bits, *[zero] * wanted)[:wanted]
    total = sum_of_bits(offset[shift:], height, zero)
    return builder.finish({"reaches": ~total[-1]})


@lru_cache(_CIRCUITS)
def first_largest(classes: int, width: int) -> Circuit:
    """The number of the largest count, the lowest number of equal ones.

    With counts of width k and m of them: m k + 2 (m - 1) k ANDs, and at most log2(m) for each of m - 1 comparisons.
    """
    _check(classes, width)
    builder = Builder()
    _, place = _first_largest(builder, _counts(builder, classes, width))
    return builder.finish({"place": place})


def share_bits(shares: UInt64, width: int, *, offsets: UInt64 | None = None, offset_width: int = 0) -> Bool:
    """One party's inputs of either circuit, shape (instances, wires).

    From its shares modulo 2^61 - 1, shape (instances, classes), and its offsets modulo 2^offset_width, shape
    (instances,), where the circuit has any.
    """
    places = np.arange(width, dtype=np.uint64)
    low = (shares[:, :, None] >> places & np.uint64(1)).astype(np.bool_)
    small = shares <= np.uint64((1 << width) - 1)
    parts = [np.concatenate([low, small[:, :, None]], axis=2).reshape(len(shares), -1)]
    if offsets is not None:
        parts.append((offsets[:, None] >> np.arange(offset_width, dtype=np.uint64) & np.uint64(1)).astype(np.bool_))
    bits: Bool = np.hstack(parts)
    return bits


def _check(classes: int, width: int) -> None:
    if classes < 2 or not 1 <= width <= MOST_BITS:
        raise ParameterError(
            f"a count must have 1 to {MOST_BITS} bits, and there must be two or more; got {classes} of {width} bits"
        )


def _counts(builder: Builder, classes: int, width: int) -> list[Unsigned]:
    """The counts, of inputs that hold for each its low bits and whether the share is small."""
    results = []
    for number in range(classes):
        name = f"share {number}"
        *ours, small = builder.garbler(name, width + 1).bits
        *theirs, also_small = builder.evaluator(name, width + 1).bits
        results.append(Unsigned(sum_of_bits(ours, theirs, ~(small & also_small))))
    return results


def _first_largest(builder: Builder, counts: Sequence[Unsigned]) -> tuple[Unsigned, Unsigned]:
    """The largest count and its number, by a tournament of neighbours that a later count wins only if it is larger."""
    digits = (len(counts) - 1).bit_length()
    row = [(count, builder.constant(number, digits)) for number, count in enumerate(counts)]
    while len(row) > 1:
        left = len(row) % 2
        pairs = zip(row[: len(row) - left : 2], row[1::2], strict=True)
        row = [_winner(first, second) for first, second in pairs] + row[len(row) - left :]
    return row[0]


def _winner(first: tuple[Unsigned, Unsigned], second: tuple[Unsigned, Unsigned]) -> tuple[Unsigned, Unsigned]:
    later: Bit = less(first[0], second[0])
    chosen = [select(later, yes, no) for yes, no in zip(second, first, strict=True)]
    return Unsigned(chosen[0].bits), Unsigned(chosen[1].bits)
