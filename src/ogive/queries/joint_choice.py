"""Exact choice of several bins at once, with probabilities proportional to exp(-cost / scale).

There are bins^quantiles candidates, so they are not listed. Bins are proposed with probabilities that depend on the
largest distance of any of them alone, for which a product of counts says how many candidates there are, and a proposal
is accepted with the ratio of what is wanted to what was proposed:

1. Let M be the largest distance of a candidate, in units that no cost is below. A level v is drawn with probability
   proportional to (T(v) - T(v')) times the candidates with M <= v, v' being the next level; then each bin is drawn
   uniformly from those of its quantile that are off by at most v. So a candidate is proposed in proportion to T(M).
   T is an integer table of 2^400 exp(-M / scale) up to a reach, and constant beyond it; the reach is so long that
   candidates beyond it are hardly ever proposed.
2. A proposal that is not in order is dropped; the others are accepted with probability
   exp(-(cost - min(M, reach)) / scale), by comparing a geometric draw with that difference.
3. What T was rounded up by is taken back: the proposal is kept with probability 2^400 exp(-M / scale) / T(M), which is
   above 1 - 2^-126.

So the probabilities are exactly those that are wanted. Uniform draws are compared with exact fractions, or with ever
narrower bounds of an exponential, and more bits are drawn where the first ones do not decide.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import partial

import numpy as np

from ogive.arrays import Int64
from ogive.noise import Geometric, UniformBits
from ogive.noise.base import NodeNoise
from ogive.queries.rank_paths import Ranks

BITS = 46
UNIFORM = UniformBits(BITS)
_ONE = 400  # bits of T(0)
_SPARE = 30  # bits that T falls by beyond the number of candidates
_ROUNDED = 128  # tables are off by less than one part in 2^130, and rounded up by one in 2^128
_KEPT = 120  # bits; kept whatever follows, unless the first so many bits are ones
_PRECISE = Context(prec=140)
_DIGIT = 1 << 10
_FIRST, _MOST = 64, 1 << 14  # proposals that are drawn at once


@dataclass(frozen=True)
class Costs:
    """What candidates cost in units of the law, and a bound of that.

    Fields:
        law: Accepts a difference of costs; its scale is that of the choice.
        slope: Least cost of a candidate that is off by one part of a record.
        of: Costs of candidates, from bins of shape (rows, quantiles), not decreasing in a row.
    """

    law: Geometric
    slope: int
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
            base = int(self._power(weight, _PRECISE).to_integral_value())
            row = [1 << _ONE]
            for _ in range(min(_DIGIT - 1, self.reach // weight)):
                row.append(row[-1] * base >> _ONE)
            self._digits.append(row)
            weight *= _DIGIT

    def of(self, number: int) -> int:
        """The integer of one k, at most `reach`."""
        found = 1 << _ONE
        for row in self._digits:
            number, digit = divmod(number, _DIGIT)
            if digit:
                found = found * row[digit] >> _ONE
        return found + (found >> _ROUNDED) + 1

    def holds(self, number: int, drawn: int, bits: int) -> tuple[int, int]:
        """Whether a draw in [drawn, drawn + 1) / 2^bits lies below the true number over its integer, least and most."""
        if ((1 << bits) - drawn - 1) >> max(0, bits - _KEPT):  # far below 1
            return 1, 1
        context = Context(prec=_PRECISE.prec + bits)
        power, integer = self._power(number, context), Decimal(self.of(number))
        least = context.multiply(power, Decimal(1).scaleb(3 - context.prec))  # more than all roundings
        low, high = (context.divide(context.add(power, side), integer) for side in (-least, least))
        below, above = (context.divide(Decimal(end), Decimal(1 << bits)) for end in (drawn, drawn + 1))
        return int(above <= low), int(below < high)

    def _power(self, number: int, context: Context) -> Decimal:
        exponent = context.divide(Decimal(-self._rate.numerator * number), Decimal(self._rate.denominator))
        return context.multiply(context.exp(exponent), Decimal(1 << _ONE))


class _Proposals:
    """Levels with their weights, and the bins of each quantile by how far they are off."""

    def __init__(self, ranks: Ranks, costs: Costs) -> None:
        quantiles, bins = range(len(ranks.wanted)), len(ranks.upto)
        self.high = np.stack([ranks.too_high(number) for number in quantiles])
        self.low = np.stack([ranks.too_low(number) for number in quantiles])
        off = np.maximum(self.high, self.low)
        self.order = np.argsort(off, axis=1, kind="stable")
        falling = np.take_along_axis(off, self.order, axis=1)
        self.table = table = Exponentials(costs.law.scale, costs.slope, len(quantiles) * bins.bit_length() + _SPARE)
        self.reach = table.reach
        levels = np.unique(off[off <= table.reach])
        within = [np.searchsorted(row, levels, side="right") for row in falling]
        self.counts = np.column_stack([np.stack(within), np.full(len(quantiles), bins)])
        heights = [table.of(level) for level in levels.tolist()] + [table.of(self.reach), 0]
        total = 0
        self.upto: list[int] = []
        for at, counts in enumerate(self.counts.T.tolist()):
            product = heights[at] - heights[at + 1]
            for count in counts:
                product *= count
            total += product
            self.upto.append(total)
        self.bounds = np.array([(each << BITS) // total for each in self.upto[:-1]], np.int64)


class _Draws:
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


def choose_bins(ranks: Ranks, costs: Costs, nodes: NodeNoise) -> Int64:
    """Bins that do not decrease, with probability proportional to exp(-cost / scale); shape (quantiles,)."""
    proposals = _Proposals(ranks, costs)
    quantiles = len(ranks.wanted)
    draws = _Draws(nodes, quantiles + 2)
    start, rows = 0, _FIRST
    while True:
        first = draws.first(start, rows)
        limit = nodes.values(costs.law, 0, np.arange(start, start + rows))
        bins = _propose(proposals, draws, first, start)
        column = np.arange(quantiles)
        high, low = proposals.high[column, bins].max(axis=1), proposals.low[column, bins].max(axis=1)
        free = limit + costs.slope * np.minimum(np.maximum(high, low), proposals.reach)
        kept = np.flatnonzero((np.diff(bins, axis=1) >= 0).all(axis=1) & (costs.slope * (high + low) <= free))
        if kept.size:
            for row in kept[costs.of(bins[kept]) <= free[kept]].tolist():
                level = int(min(max(high[row], low[row]), proposals.reach))
                holds = partial(proposals.table.holds, level)
                if draws.decided(start + row, quantiles + 1, holds):
                    return np.asarray(bins[row], dtype=np.int64)
        start, rows = start + rows, min(2 * rows, _MOST)


def _propose(proposals: _Proposals, draws: _Draws, first: Int64, start: int) -> Int64:
    """The bins of some proposals, shape (rows, quantiles)."""
    levels = np.searchsorted(proposals.bounds, first[:, 0], side="right")
    for row in np.flatnonzero(np.isin(first[:, 0], proposals.bounds)).tolist():
        levels[row] = draws.decided(start + row, 0, partial(_level, proposals.upto))
    counts = proposals.counts.T[levels]
    product = first[:, 1:-1] * counts
    places = product >> BITS
    unclear = product + counts > (places + 1) << BITS
    for row, number in np.argwhere(unclear).tolist():
        places[row, number] = draws.decided(
            start + row,
            number + 1,
            partial(_place, int(counts[row, number])),
        )
    found: Int64 = proposals.order[np.arange(places.shape[1]), places]
    return found


def _place(count: int, drawn: int, bits: int) -> tuple[int, int]:
    """Between which of so many places a draw in [drawn, drawn + 1) / 2^bits lies."""
    return drawn * count >> bits, ((drawn + 1) * count - 1) >> bits


def _level(upto: list[int], drawn: int, bits: int) -> tuple[int, int]:
    """Between which levels a draw in [drawn, drawn + 1) / 2^bits of the total lies."""
    total = upto[-1]
    # a level's draws end at upto / total: reached where upto * 2^bits <= drawn * total
    first = bisect_right(upto, drawn * total >> bits)
    last = bisect_left(upto, -(-(drawn + 1) * total >> bits))
    return first, last
