"""What exact choices of several bins share: costs, tables of exponentials, and draws of as many bits as they need."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np

from ogive.arrays import Int64
from ogive.noise import Geometric, UniformBits
from ogive.noise.base import NodeNoise

BITS = 46
UNIFORM = UniformBits(BITS)
ONE = 400  # bits of T(0)
SPARE = 30  # bits that T falls by beyond the number of candidates
_ROUNDED = 128  # tables are off by less than one part in 2^130, and rounded up by one in 2^128
_KEPT = 120  # bits; kept whatever follows, unless the first so many bits are ones
PRECISE = Context(prec=140)
_DIGIT = 1 << 10


@dataclass(frozen=True)
class Costs:
    """What candidates cost in units of the law, and a bound of that.

    Fields:
        law: Accepts a difference of costs; its scale is that of the choice.
        slope: Least cost of a candidate that is off by one part of a record.
        per_length: A candidate costs at least this times the length of its walk with a fixed total.
        of: Costs of candidates, from bins of shape (rows, quantiles), not decreasing in a row.
    """

    law: Geometric
    slope: int
    per_length: Fraction
    of: Callable[[Int64], Int64]


class Exponentials:
    """Integers above 2^400 exp(-step k / scale) for k = 0 to reach, by less than one part in 2^126.

    Args:
        scale: Of the exponential.
        step: Of its argument.
        bits: About how many bits it falls by within reach, at most 220.
    """

    def __init__(self, scale: Fraction, step: int, bits: int) -> None:
        self.reach = int(Fraction(bits * 7, 10) * scale / step)
        self._rate = Fraction(step) / scale
        self._digits: list[list[int]] = []
        weight = 1
        while weight <= self.reach:
            base = int(self._power(weight, PRECISE).to_integral_value())
            row = [1 << ONE]
            for _ in range(min(_DIGIT - 1, self.reach // weight)):
                row.append(row[-1] * base >> ONE)
            self._digits.append(row)
            weight *= _DIGIT

    def of(self, number: int) -> int:
        """The integer of one k, at most `reach`."""
        found = 1 << ONE
        for row in self._digits:
            number, digit = divmod(number, _DIGIT)
            if digit:
                found = found * row[digit] >> ONE
        return found + (found >> _ROUNDED) + 1

    def holds(self, number: int, drawn: int, bits: int) -> tuple[int, int]:
        """Whether a draw in [drawn, drawn + 1) / 2^bits lies below the true number over its integer, least and most."""
        if ((1 << bits) - drawn - 1) >> max(0, bits - _KEPT):  # far below 1
            return 1, 1
        context = Context(prec=PRECISE.prec + bits)
        power, integer = self._power(number, context), Decimal(self.of(number))
        least = context.multiply(power, Decimal(1).scaleb(3 - context.prec))  # more than all roundings
        low, high = (context.divide(context.add(power, side), integer) for side in (-least, least))
        below, above = (context.divide(Decimal(end), Decimal(1 << bits)) for end in (drawn, drawn + 1))
        return int(above <= low), int(below < high)

    def _power(self, number: int, context: Context) -> Decimal:
        exponent = context.divide(Decimal(-self._rate.numerator * number), Decimal(self._rate.denominator))
        return context.multiply(context.exp(exponent), Decimal(1 << ONE))


class Draws:
    """Uniform draws of the proposals, each with as many bits as it needs."""

    def __init__(self, nodes: NodeNoise, slots: int) -> None:
        self._nodes, self._slots = nodes, slots

    def first(self, start: int, rows: int) -> Int64:
        """The first bits of all slots of some proposals, shape (rows, slots)."""
        numbers = np.arange(start * self._slots, (start + rows) * self._slots)
        return self._nodes.values(UNIFORM, 1, numbers).reshape(rows, self._slots)

    def decided(self, row: int, slot: int, cuts: Callable[[int, int], tuple[int, int]]) -> int:
        """What a draw says, with more bits until it says one thing.

        Args:
            row: Which proposal.
            slot: Which draw of it.
            cuts: From a number u of b bits what a draw in [u, u + 1) / 2^b may say, least and most.
        """
        number = np.array([row * self._slots + slot])
        bits = level = 0
        drawn = 0
        while True:
            level, bits = level + 1, bits + BITS
            drawn = drawn << BITS | int(self._nodes.values(UNIFORM, level, number)[0])
            least, most = cuts(drawn, bits)
            if least == most:
                return least


def place_of(count: int, drawn: int, bits: int) -> tuple[int, int]:
    """Between which of so many places a draw in [drawn, drawn + 1) / 2^bits lies."""
    return drawn * count >> bits, ((drawn + 1) * count - 1) >> bits


def level_of(upto: list[int], drawn: int, bits: int) -> tuple[int, int]:
    """Between which levels a draw in [drawn, drawn + 1) / 2^bits of the total lies."""
    total = upto[-1]
    # a level's draws end at upto / total: reached where upto * 2^bits <= drawn * total
    first = bisect_right(upto, drawn * total >> bits)
    last = bisect_left(upto, -(-(drawn + 1) * total >> bits))
    return first, last
