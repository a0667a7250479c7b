"""Arithmetic of numbers in circuits; results are as wide as they must be, so that nothing overflows.

Only AND gates cost anything, and every function says how many it takes; with constants it takes fewer. Numbers may be
of different widths, and signed and unsigned ones may be mixed.

Source:
    `ustatistics.md`, section 8.
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.crypto.circuits.builder import Bit, Signed, Unsigned

Number = Unsigned | Signed


def add(left: Number, right: Number) -> Number:
    """The sum, one bit wider than its terms of width k; k ANDs for unsigned numbers and for signed ones."""
    if isinstance(left, Unsigned) and isinstance(right, Unsigned):
        width = max(left.width, right.width)
        return Unsigned(sum_of_bits(extended(left, width + 1), extended(right, width + 1), _zero(left)))
    wide = max(as_signed(left).width, as_signed(right).width) + 1
    return Signed(sum_of_bits(extended(left, wide), extended(right, wide), _zero(left)))


def subtract(left: Number, right: Number) -> Signed:
    """Take `right` from `left`; one bit wider than its terms of width k; k ANDs."""
    if isinstance(left, Unsigned) and isinstance(right, Unsigned):
        wide = max(left.width, right.width) + 1
    else:
        wide = max(as_signed(left).width, as_signed(right).width) + 1
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
    if isinstance(yes, Unsigned) and isinstance(no, Unsigned):
        wide = max(yes.width, no.width)
        return Unsigned(_chosen(choice, extended(yes, wide), extended(no, wide)))
    wide = max(as_signed(yes).width, as_signed(no).width)
    return Signed(_chosen(choice, extended(yes, wide), extended(no, wide)))


def multiply(left: Unsigned, right: Unsigned) -> Unsigned:
    """The product, as wide as both together; for widths k and l no more than (2k - 1)l ANDs."""
    total = Unsigned((*[left.bits[0] & bit for bit in right.bits], _zero(left)))
    found = [total.bits[0]]
    for factor in left.bits[1:]:
        row = Unsigned(tuple(factor & bit for bit in right.bits))
        # what is left of the sum is below 2^l, so the sum with the next row is below 2^(l + 1)
        rest = Unsigned(total.bits[1:])
        total = Unsigned(sum_of_bits(extended(rest, right.width + 1), extended(row, right.width + 1), _zero(left)))
        found.append(total.bits[0])
    return Unsigned(tuple(found) + total.bits[1:])


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
    found = []
    for a, b in zip(left, right, strict=True):
        found.append(a ^ b ^ carry)
        carry = majority(a, b, carry)  # nothing reads the last one, so it is never emitted
    return tuple(found)


def extended(value: Number, width: int) -> tuple[Bit, ...]:
    """The bits of a number in a width that is not less than its own; free."""
    above = value.bits[-1] if isinstance(value, Signed) else _zero(value)
    return value.bits + (above,) * (width - value.width)


def as_signed(value: Number) -> Signed:
    """The same number with a sign, one bit wider where it had none; free."""
    return value if isinstance(value, Signed) else Signed(extended(value, value.width + 1))


def _comparable(left: Number, right: Number) -> tuple[tuple[Bit, ...], tuple[Bit, ...]]:
    """Bits whose order as unsigned numbers is the order of the numbers."""
    if isinstance(left, Unsigned) and isinstance(right, Unsigned):
        width = max(left.width, right.width)
        return extended(left, width), extended(right, width)
    width = max(as_signed(left).width, as_signed(right).width)
    ours, theirs = (extended(as_signed(value), width) for value in (left, right))
    return (*ours[:-1], ~ours[-1]), (*theirs[:-1], ~theirs[-1])


def _chosen(choice: Bit, yes: tuple[Bit, ...], no: tuple[Bit, ...]) -> tuple[Bit, ...]:
    return tuple(b ^ (choice & (a ^ b)) for a, b in zip(yes, no, strict=True))


def _zero(value: Number) -> Bit:
    """The constant bit of the circuit that a number belongs to."""
    return value.bits[0] ^ value.bits[0]
