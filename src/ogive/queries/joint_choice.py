"""Exact choices of several bins at once, with probabilities proportional to exp(-cost / scale)."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from ogive.core.arrays import Int64
from ogive.noise import Geometric, UniformBits
from ogive.noise.base import NodeNoise

# --- Costs: by how many records several bins together are off as quantiles
#
# Bins o_1 <= ... <= o_m divide the records into m + 1 parts. A bin's records may be divided between the parts on its
# two sides in any ratio. Were the bins exactly right, part k would hold the share of the records that lies between the
# wanted quantiles k and k + 1. The score is how far the parts are from that, with the best division of every bin:
#
#     fixed total:  sum over parts of |part - share * n| / 2, the records to be replaced until all bins are right,
#     free total:   the least over N of the sum of |part - share * N|, the records to be added or removed until then.
#
# With x_k the records below the cut in bin o_k less the wanted number, the sum is the length of the walk 0, x_1, ...,
# x_m, end on the line. Every x_k may lie anywhere in an interval of the ranks of its bin, and the shortest walk through
# intervals is the lazy one: keep the set of best places, and leave it only for an interval that it does not meet.
#
# Source: Gillenwater, Joseph and Kulesza 2021 for the sum with a fixed total and no shared values. Proofs:
# `docs/proofs/joint.md`.


@dataclass(frozen=True)
class Ranks:
    """Ranks of the bins of a histogram, and the wanted ones, as multiples of one part in `unit` of a record.

    Fields:
        below, upto: Records below each bin, and with its own, times `unit`; shape (bins,).
        wanted: Probabilities times `unit`, not decreasing.
    """

    below: Int64
    upto: Int64
    records: int
    unit: int
    wanted: tuple[int, ...]

    @classmethod
    def of(cls, sums: Int64, unit: int, wanted: Sequence[int]) -> Ranks:
        """The ranks of a histogram."""
        upto = np.cumsum(sums) * unit
        return cls(upto - sums * unit, upto, int(sums.sum()), unit, tuple(wanted))

    def too_high(self, number: int) -> Int64:
        """How far each bin lies above the wanted rank of a quantile, 0 if it does not; shape (bins,)."""
        return np.maximum(0, self.below - self.wanted[number] * self.records)

    def too_low(self, number: int) -> Int64:
        """How far each bin lies below that rank, 0 if it does not; shape (bins,)."""
        return np.maximum(0, self.wanted[number] * self.records - self.upto)

    def lengths(self, bins: Int64, totals: Int64) -> Int64:
        """Lengths of the shortest walks.

        `totals`: The number of records N that wanted ranks are shares of, shape (rows,).
        """
        low = high = length = np.zeros(len(bins), np.int64)
        ends = self.unit * (self.records - totals)
        for number in range(len(self.wanted) + 1):
            if number < len(self.wanted):
                aim = self.wanted[number] * totals
                first, last = self.below[bins[:, number]] - aim, self.upto[bins[:, number]] - aim
            else:
                first = last = ends
            length = length + np.maximum(0, first - high) + np.maximum(0, low - last)
            # the nearest end where the interval is not met, else what both have in common
            low, high = np.clip(low, first, last), np.clip(high, first, last)
        return length

    def free_lengths(self, bins: Int64) -> Int64:
        """The least lengths over all whole numbers of records, shape (rows,): they are convex in that number."""
        here = np.full(len(bins), self.records, np.int64)
        reach = self.lengths(bins, here) // self.unit + 1
        low, high = np.maximum(0, here - reach), here + reach
        while True:
            open_ = low < high
            if not open_.any():
                return self.lengths(bins, low)
            middle = (low + high) // 2
            falls = open_ & (self.lengths(bins, middle) > self.lengths(bins, middle + 1))
            low = np.where(falls, middle + 1, low)
            high = np.where(open_ & ~falls, middle, high)


# --- Tables of exponentials, and draws of as many bits as they need

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

    They fall by about so many bits, at most 220, within reach.
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
        result = 1 << ONE
        for row in self._digits:
            number, digit = divmod(number, _DIGIT)
            if digit:
                result = result * row[digit] >> ONE
        return result + (result >> _ROUNDED) + 1

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
        """What a draw says, with more bits until it says one thing."""
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


# --- A choice by a dynamic program, where proposals of single bins would seldom be accepted
#
# `choose_bins` proposes bins of every quantile independently, which is fast unless few values hold most records or
# noise is nearly as large as their number: then nearly all proposals are out of order, or cost much more than it counts
# for them. Here bins are proposed in order, with nearly the right probabilities:
#
# 1. Neighboring bins are put into blocks, whose ranks lie between those of their first and last bin. A walk through
#    blocks is at most as long as one through bins of theirs, and the shortest one is found step by step: the next place
#    is the nearest one of the next block. So what is left of a walk depends on its block and place alone.
# 2. Weights of all such states are summed from the last quantile to the first, in integers that are rounded up: of a
#    step of length d, 2^400 exp(-rate d), with d rounded down; of r quantiles in a block of g bins, the number of their
#    choices in order, binomial(g + r - 1, r).
# 3. A walk is drawn forward by these weights, and bins of each block uniformly among those in order. So the probability
#    q of each proposal is a fraction that is known exactly, and at least exp(-cost / scale) / z, z being the sum of
#    all weights. It is accepted with probability exp(-cost / scale) / (z q).
#
# So the probabilities are exactly those that are wanted, whatever the blocks and the rounding; both decide how many
# proposals it takes, which is seldom more than a few hundred. Proof: `docs/proofs/joint.md`.

MOST_BLOCKS = 512
_MOST_ROWS = 256
_PARTS = 64  # of the scale, to which lengths are rounded down
_FAR = 1 << 11  # widths of the narrowest block beyond which all are one


@dataclass(frozen=True)
class Blocks:
    """Runs of neighboring bins: first bin and size of each, and ranks between which its bins lie, shape (blocks,)."""

    first: Int64
    size: Int64
    low: Int64
    high: Int64

    @classmethod
    def of(cls, ranks: Ranks, width: int) -> Blocks:
        """Blocks of bins with the same ranks; of similar ranks, where those are too many.

        `width` is a difference of ranks that costs about half a unit of the exponent.
        """
        starts = _changes(ranks.below, ranks.upto, np.zeros(len(ranks.upto), bool))
        # two for each quantile are left in the end, and the bins between them
        while len(starts) > MOST_BLOCKS and width <= ranks.unit * ranks.records:
            below, upto = (_similar(ranks, each, width) for each in (ranks.below, ranks.upto))
            starts = _changes(below, upto, below != upto)
            width *= 2
        ends = np.append(starts[1:], len(ranks.upto)) - 1
        return cls(starts, ends - starts + 1, ranks.below[starts], ranks.upto[ends])


def _changes(below: Int64, upto: Int64, alone: Any) -> Int64:
    """Where a block begins: at a bin that differs from the one before, or one of both is alone."""
    same = (below[1:] == below[:-1]) & (upto[1:] == upto[:-1]) & ~alone[1:] & ~alone[:-1]
    return np.flatnonzero(np.concatenate(([True], ~same)))


def _similar(ranks: Ranks, places: Int64, width: int) -> Int64:
    """A number that is alike for places about as far from the nearest wanted rank, on the same side of it."""
    wanted = np.array(ranks.wanted, np.int64) * ranks.records
    after = np.searchsorted(wanted, places, side="right")
    left = places - np.append(-(1 << 62), wanted)[after]
    right = np.append(wanted, 1 << 62)[after] - places
    off = np.minimum(np.minimum(left, right) // width, _FAR)
    length = np.searchsorted(1 << np.arange(13), off, side="right")
    # three leading bits of the distance
    leading = 8 * length + (off >> np.maximum(length - 3, 0))
    return np.asarray((2 * after + (left < right)) * 256 + leading)


class Walks:
    """Weights of all walks through the blocks.

    A state after k quantiles is the block of the last one and its place. `blocks_of[k]` and `places[k]` list them;
    `moves[k]` and `stays[k]` say which states of k + 1 follow, and the lengths of the steps, in parts.
    """

    def __init__(self, ranks: Ranks, costs: Costs) -> None:
        self.ranks, self.quantiles = ranks, len(ranks.wanted)
        per_part = costs.law.scale / costs.per_length
        self.blocks = blocks = Blocks.of(ranks, max(1, int(per_part / 4)))
        self.step = max(1, int(per_part / _PARTS))
        bits = self.quantiles * len(ranks.upto).bit_length() + SPARE
        table = Exponentials(per_part, self.step, bits)
        self.reach = table.reach
        heights: list[int] = [table.of(number) for number in range(table.reach + 1)]
        self.heights = np.array([*heights, 0], dtype=object)  # the last one for steps that there are not
        self.sizes = blocks.size.astype(object)
        self.blocks_of, self.places = [np.array([-1])], [np.array([0])]
        self.moves: list[tuple[Int64, Int64]] = []
        self.stays: list[tuple[Int64, Int64]] = []
        self._kept: dict[tuple[int, int, int], tuple[list[int], list[int], list[int]]] = {}
        for number in range(self.quantiles):
            self._next(number)
        self._weigh()

    def _aims(self, number: int) -> Int64:
        """Where the next cut would be at no cost, of each state."""
        wanted = (0, *self.ranks.wanted, self.ranks.unit)
        return self.places[number] + (wanted[number + 1] - wanted[number]) * self.ranks.records

    def _parts(self, lengths: Int64) -> Int64:
        return np.minimum(lengths // self.step, self.reach)

    def _next(self, number: int) -> None:
        """The states after one more quantile."""
        blocks, aims = self.blocks, self._aims(number)
        places = np.clip(aims[:, np.newaxis], blocks.low, blocks.high)
        later = np.arange(len(blocks.size)) > self.blocks_of[number][:, np.newaxis]
        parts = np.where(later, self._parts(np.abs(places - aims[:, np.newaxis])), self.reach + 1)
        own = np.maximum(self.blocks_of[number], 0)
        stay = np.clip(aims, blocks.low[own], blocks.high[own])
        staying = np.full(len(aims), number > 0)
        rows, columns = np.nonzero(later)
        reached, which = np.unique(np.concatenate([places[rows, columns], stay[staying]]), return_inverse=True)
        pairs = np.concatenate([columns, own[staying]]) * len(reached) + which.ravel()
        states, which = np.unique(pairs, return_inverse=True)
        result = np.zeros(places.shape, np.int64)
        result[rows, columns] = which[: len(rows)]
        stays = np.zeros(len(aims), np.int64)
        stays[staying] = which[len(rows) :]
        self.moves.append((result, parts))
        self.stays.append((stays, self._parts(np.abs(stay - aims))))
        self.blocks_of.append(states // len(reached))
        self.places.append(reached[states % len(reached)])

    def _weigh(self) -> None:
        """Weights of what follows each state, by how many of the last quantiles are in its block, rounded up."""
        last = self.heights[self._parts(np.abs(self.ranks.unit * self.ranks.records - self._aims(self.quantiles)))]
        self.weights: list[list[Any]] = [[] for _ in range(self.quantiles)]
        self.weights.append([last] * (self.quantiles + 1))
        for number in range(self.quantiles - 1, -1, -1):
            result, parts = self.moves[number]
            entered = self.weights[number + 1][1] * self.sizes[self.blocks_of[number + 1]]
            moving = (self.heights[parts] * entered[result]).sum(axis=1)
            runs = range(number + 1) if number else (0,)
            for run in runs:
                sums = moving + self._staying(number, run, slice(None)) if run else moving
                self.weights[number].append(-(-sums >> ONE))

    def _staying(self, number: int, run: int, states: Any) -> Any:
        """Weights of one more quantile in the same block, rounded up."""
        result, parts = (each[states] for each in self.stays[number])
        sizes = self.sizes[self.blocks_of[number][states]]
        return -(-(self.heights[parts] * self.weights[number + 1][run + 1][result] * (sizes + run)) // (run + 1))

    @property
    def total(self) -> int:
        """Sum of the weights of all walks, times 2^400, rounded up."""
        return int(self.weights[0][0][0])

    def options(self, number: int, state: int, run: int) -> tuple[list[int], list[int], list[int]]:
        """Sums of the weights of the steps from a state, and the block and the state that each leads to."""
        if (number, state, run) not in self._kept:
            self._kept[number, state, run] = self._options(number, state, run)
        return self._kept[number, state, run]

    def _options(self, number: int, state: int, run: int) -> tuple[list[int], list[int], list[int]]:
        result, parts = (each[state] for each in self.moves[number])
        after = np.flatnonzero(parts <= self.reach)
        weights = self.heights[parts[after]] * (self.weights[number + 1][1][result[after]] * self.sizes[after])
        steps, blocks, states = weights.tolist(), after.tolist(), result[after].tolist()
        if run:
            steps.append(int(self._staying(number, run, state)))
            blocks.append(int(self.blocks_of[number][state]))
            states.append(int(self.stays[number][0][state]))
        return list(accumulate(steps)), blocks, states


def choose_by_walks(ranks: Ranks, costs: Costs, nodes: NodeNoise, start: int) -> Int64:
    """Bins that do not decrease, with probability proportional to exp(-cost / scale); shape (quantiles,)."""
    walks = Walks(ranks, costs)
    draws = Draws(nodes, 2 * walks.quantiles + 1)
    rows = 1
    while True:
        # costs are computed for many proposals at once, once the first few were dropped
        proposed = [_proposed(walks, draws, row) for row in range(start, start + rows)]
        result = costs.of(np.array([bins for bins, _, _ in proposed]))
        for row, (bins, chance, of) in enumerate(proposed, start):
            exponent = int(result[row - start]) / costs.law.scale
            accepted = partial(_kept, exponent, of << ONE, chance * walks.total)
            if draws.decided(row, 2 * walks.quantiles, accepted):
                return bins
        start, rows = start + rows, min(2 * rows, _MOST_ROWS)


def _proposed(walks: Walks, draws: Draws, row: int) -> tuple[Int64, int, int]:
    """Bins, and the probability of proposing them, as a numerator and a denominator."""
    state = run = 0
    chance = of = 1
    results: list[tuple[int, int]] = []  # blocks, and how many quantiles are in each
    for number in range(walks.quantiles):
        upto, blocks, states = walks.options(number, state, run)
        decided = draws.decided(row, number, partial(level_of, upto))
        chance *= upto[decided] - (upto[decided - 1] if decided else 0)
        of *= upto[-1]
        state = states[decided]
        run = run + 1 if results and results[-1][0] == blocks[decided] else 1
        results[len(results) - (run > 1) :] = [(blocks[decided], run)]
    bins: list[int] = []
    for slot, (block, run) in enumerate(results, walks.quantiles):
        size = int(walks.blocks.size[block])
        choices = math.comb(size + run - 1, run)
        of *= choices
        number = draws.decided(row, slot, partial(place_of, choices))
        bins += [int(walks.blocks.first[block]) + place for place in in_order(number, run, size)]
    return np.array(bins, np.int64), chance, of


def _ways(chosen: int, of: int) -> int:
    return math.comb(of, chosen)


def in_order(number: int, run: int, size: int) -> list[int]:
    """Places below `size` that do not decrease, one choice for each number below binomial(size + run - 1, run)."""
    places = []
    for left in range(run, 0, -1):
        # the largest p with binomial(p, left) at most the number
        at = bisect_right(range(size + left - 1), number, key=partial(_ways, left)) - 1
        number -= math.comb(at, left)
        places.append(at - left + 1)
    return places[::-1]


def _kept(exponent: Fraction, above: int, below: int, drawn: int, bits: int) -> tuple[int, int]:
    """Whether a draw in [drawn, drawn + 1) / 2^bits lies under exp(-exponent) above / below, least and most."""
    context = Context(prec=PRECISE.prec + bits + len(str(int(exponent))))
    power = context.exp(context.divide(Decimal(-exponent.numerator), Decimal(exponent.denominator)))
    value = context.multiply(power, context.divide(Decimal(above), Decimal(below)))
    slack = context.multiply(value, Decimal(1).scaleb(4 - context.prec))  # more than all roundings
    low, high = context.subtract(value, slack), context.add(value, slack)
    first, last = (context.divide(Decimal(end), Decimal(1 << bits)) for end in (drawn, drawn + 1))
    return int(last <= low), int(first < high)


# --- A choice by proposals of single bins
#
# There are bins^quantiles candidates, so they are not listed. Bins are proposed with probabilities that depend on the
# largest distance of any of them alone, for which a product of counts says how many candidates there are, and a
# proposal is accepted with the ratio of what is wanted to what was proposed:
#
# 1. Let M be the largest distance of a candidate, in units that no cost is below. A level v is drawn with probability
#    proportional to (T(v) - T(v')) times the candidates with M <= v, v' being the next level; then each bin is drawn
#    uniformly from those of its quantile that are off by at most v. So a candidate is proposed in proportion to T(M).
#    T is an integer table of 2^400 exp(-M / scale) up to a reach, and constant beyond it; the reach is so long that
#    candidates beyond it are hardly ever proposed.
# 2. A proposal that is not in order is dropped; the others are accepted with probability
#    exp(-(cost - min(M, reach)) / scale), by comparing a geometric draw with that difference.
# 3. What T was rounded up by is taken back: the proposal is kept with probability 2^400 exp(-M / scale) / T(M), which
#    is above 1 - 2^-126.
#
# So the probabilities are exactly those that are wanted. Uniform draws are compared with exact fractions, or with ever
# narrower bounds of an exponential, and more bits are drawn where the first ones do not decide.

_FIRST, _MOST = 64, 1 << 14  # proposals that are drawn at once
MOST_PROPOSALS = 1 << 18
"""Then proposals are made by walks, which takes longer for each and needs few of them."""


class _Proposals:
    """Levels with their weights, and the bins of each quantile by how far they are off."""

    def __init__(self, ranks: Ranks, costs: Costs) -> None:
        quantiles, bins = range(len(ranks.wanted)), len(ranks.upto)
        self.high = np.stack([ranks.too_high(number) for number in quantiles])
        self.low = np.stack([ranks.too_low(number) for number in quantiles])
        off = np.maximum(self.high, self.low)
        self.order = np.argsort(off, axis=1, kind="stable")
        falling = np.take_along_axis(off, self.order, axis=1)
        self.table = table = Exponentials(costs.law.scale, costs.slope, len(quantiles) * bins.bit_length() + SPARE)
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


def choose_bins(ranks: Ranks, costs: Costs, nodes: NodeNoise) -> Int64:
    """Bins that do not decrease, with probability proportional to exp(-cost / scale); shape (quantiles,)."""
    proposals = _Proposals(ranks, costs)
    quantiles = len(ranks.wanted)
    draws = Draws(nodes, quantiles + 2)
    start, rows = 0, _FIRST
    while start < MOST_PROPOSALS:
        first = draws.first(start, rows)
        limit = nodes.values(costs.law, 0, np.arange(start, start + rows))
        bins = _propose(proposals, draws, first, start)
        column = np.arange(quantiles)
        high, low = proposals.high[column, bins].max(axis=1), proposals.low[column, bins].max(axis=1)
        free = limit + costs.slope * np.minimum(np.maximum(high, low), proposals.reach)
        allowed = np.flatnonzero((np.diff(bins, axis=1) >= 0).all(axis=1) & (costs.slope * (high + low) <= free))
        if allowed.size:
            for row in allowed[costs.of(bins[allowed]) <= free[allowed]].tolist():
                level = int(min(max(high[row], low[row]), proposals.reach))
                holds = partial(proposals.table.holds, level)
                if draws.decided(start + row, quantiles + 1, holds):
                    return np.asarray(bins[row], dtype=np.int64)
        start, rows = start + rows, min(2 * rows, _MOST)
    # what is accepted does not depend on how many proposals were dropped before
    return choose_by_walks(ranks, costs, nodes, start)


def _propose(proposals: _Proposals, draws: Draws, first: Int64, start: int) -> Int64:
    """The bins of some proposals, shape (rows, quantiles)."""
    levels = np.searchsorted(proposals.bounds, first[:, 0], side="right")
    for row in np.flatnonzero(np.isin(first[:, 0], proposals.bounds)).tolist():
        levels[row] = draws.decided(start + row, 0, partial(level_of, proposals.upto))
    counts = proposals.counts.T[levels]
    product = first[:, 1:-1] * counts
    places = product >> BITS
    unclear = product + counts > (places + 1) << BITS
    for row, number in np.argwhere(unclear).tolist():
        cuts = partial(place_of, int(counts[row, number]))
        places[row, number] = draws.decided(start + row, number + 1, cuts)
    return np.asarray(proposals.order[np.arange(places.shape[1]), places])
