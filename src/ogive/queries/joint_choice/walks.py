"""Exact choice of several bins at once by a dynamic program, where proposals of single bins would seldom be accepted.

`proposals` proposes bins of every quantile independently, which is fast unless few values hold most records or noise
is nearly as large as their number: then nearly all proposals are out of order, or cost much more than it counts for
them. Here bins are proposed in order, with nearly the right probabilities:

1. Neighboring bins are put into blocks, whose ranks lie between those of their first and last bin. A walk through
   blocks is at most as long as one through bins of theirs, and the shortest one is found step by step: the next place
   is the nearest one of the next block. So what is left of a walk depends on its block and place alone.
2. Weights of all such states are summed from the last quantile to the first, in integers that are rounded up: of a
   step of length d, 2^400 exp(-rate d), with d rounded down; of r quantiles in a block of g bins, the number of their
   choices in order, binomial(g + r - 1, r).
3. A walk is drawn forward by these weights, and bins of each block uniformly among those in order. So the probability q
   of each proposal is a fraction that is known exactly, and at least exp(-cost / scale) / z, z being the sum of all
   weights. It is accepted with probability exp(-cost / scale) / (z q).

So the probabilities are exactly those that are wanted, whatever the blocks and the rounding; both decide how many
proposals it takes, which is seldom more than a few hundred. Proof: `docs/proofs/joint.md`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from ogive.arrays import Int64
from ogive.noise.base import NodeNoise
from ogive.queries.joint_choice.exact import ONE, PRECISE, SPARE, Costs, Draws, Exponentials, level_of, place_of
from ogive.queries.rank_paths import Ranks

MOST_BLOCKS = 512
_MOST_ROWS = 256
_PARTS = 64  # of the scale, to which lengths are rounded down
_FAR = 1 << 11  # widths of the narrowest block beyond which all are one


@dataclass(frozen=True)
class Blocks:
    """Runs of neighboring bins.

    Fields:
        first, size: First bin of each and number of bins, shape (blocks,).
        low, high: Ranks between which all its bins lie, as in `Ranks`.
    """

    first: Int64
    size: Int64
    low: Int64
    high: Int64

    @classmethod
    def of(cls, ranks: Ranks, width: int) -> Blocks:
        """Blocks of bins with the same ranks; of similar ranks, where those are too many.

        Args:
            ranks: Of the bins.
            width: Difference of ranks that costs about half a unit of the exponent.
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
    alike: Int64 = (2 * after + (left < right)) * 256 + leading
    return alike


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
        found = np.zeros(places.shape, np.int64)
        found[rows, columns] = which[: len(rows)]
        stays = np.zeros(len(aims), np.int64)
        stays[staying] = which[len(rows) :]
        self.moves.append((found, parts))
        self.stays.append((stays, self._parts(np.abs(stay - aims))))
        self.blocks_of.append(states // len(reached))
        self.places.append(reached[states % len(reached)])

    def _weigh(self) -> None:
        """Weights of what follows each state, by how many of the last quantiles are in its block, rounded up."""
        last = self.heights[self._parts(np.abs(self.ranks.unit * self.ranks.records - self._aims(self.quantiles)))]
        self.weights: list[list[Any]] = [[] for _ in range(self.quantiles)]
        self.weights.append([last] * (self.quantiles + 1))
        for number in range(self.quantiles - 1, -1, -1):
            found, parts = self.moves[number]
            entered = self.weights[number + 1][1] * self.sizes[self.blocks_of[number + 1]]
            moving = (self.heights[parts] * entered[found]).sum(axis=1)
            runs = range(number + 1) if number else (0,)
            for run in runs:
                sums = moving + self._staying(number, run, slice(None)) if run else moving
                self.weights[number].append(-(-sums >> ONE))

    def _staying(self, number: int, run: int, states: Any) -> Any:
        """Weights of one more quantile in the same block, rounded up."""
        found, parts = (each[states] for each in self.stays[number])
        sizes = self.sizes[self.blocks_of[number][states]]
        return -(-(self.heights[parts] * self.weights[number + 1][run + 1][found] * (sizes + run)) // (run + 1))

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
        found, parts = (each[state] for each in self.moves[number])
        after = np.flatnonzero(parts <= self.reach)
        weights = self.heights[parts[after]] * (self.weights[number + 1][1][found[after]] * self.sizes[after])
        steps, blocks, states = weights.tolist(), after.tolist(), found[after].tolist()
        if run:
            steps.append(int(self._staying(number, run, state)))
            blocks.append(int(self.blocks_of[number][state]))
            states.append(int(self.stays[number][0][state]))
        return list(accumulate(steps)), blocks, states


def choose_by_walks(ranks: Ranks, costs: Costs, nodes: NodeNoise, start: int) -> Int64:
    """Bins that do not decrease, with probability proportional to exp(-cost / scale); shape (quantiles,).

    Args:
        ranks: Of the bins.
        costs: Of candidates.
        nodes: Noise of which draws from `start` times twice as many as there are quantiles on are not used elsewhere.
        start: Number of the first proposal.
    """
    walks = Walks(ranks, costs)
    draws = Draws(nodes, 2 * walks.quantiles + 1)
    rows = 1
    while True:
        # costs are computed for many proposals at once, once the first few were dropped
        proposed = [_proposed(walks, draws, row) for row in range(start, start + rows)]
        found = costs.of(np.array([bins for bins, _, _ in proposed]))
        for row, (bins, chance, of) in enumerate(proposed, start):
            exponent = int(found[row - start]) / costs.law.scale
            kept = partial(_kept, exponent, of << ONE, chance * walks.total)
            if draws.decided(row, 2 * walks.quantiles, kept):
                return bins
        start, rows = start + rows, min(2 * rows, _MOST_ROWS)


def _proposed(walks: Walks, draws: Draws, row: int) -> tuple[Int64, int, int]:
    """Bins, and the probability of proposing them, as a numerator and a denominator."""
    state = run = 0
    chance = of = 1
    found: list[tuple[int, int]] = []  # blocks, and how many quantiles are in each
    for number in range(walks.quantiles):
        upto, blocks, states = walks.options(number, state, run)
        taken = draws.decided(row, number, partial(level_of, upto))
        chance *= upto[taken] - (upto[taken - 1] if taken else 0)
        of *= upto[-1]
        state = states[taken]
        run = run + 1 if found and found[-1][0] == blocks[taken] else 1
        found[len(found) - (run > 1) :] = [(blocks[taken], run)]
    bins: list[int] = []
    for slot, (block, run) in enumerate(found, walks.quantiles):
        size = int(walks.blocks.size[block])
        choices = math.comb(size + run - 1, run)
        of *= choices
        number = draws.decided(row, slot, partial(place_of, choices))
        bins += [int(walks.blocks.first[block]) + place for place in in_order(number, run, size)]
    return np.array(bins, np.int64), chance, of


def in_order(number: int, run: int, size: int) -> list[int]:
    """Places below `size` that do not decrease, one choice for each number below binomial(size + run - 1, run)."""
    places = []
    for left in range(run, 0, -1):
        # the largest p with binomial(p, left) at most the number
        at = bisect_right(range(size + left - 1), number, key=partial(_choices, left)) - 1
        number -= math.comb(at, left)
        places.append(at - left + 1)
    return places[::-1]


def _choices(some: int, of: int) -> int:
    return math.comb(of, some)


def _kept(exponent: Fraction, above: int, below: int, drawn: int, bits: int) -> tuple[int, int]:
    """Whether a draw in [drawn, drawn + 1) / 2^bits lies under exp(-exponent) above / below, least and most."""
    context = Context(prec=PRECISE.prec + bits + len(str(int(exponent))))
    power = context.exp(context.divide(Decimal(-exponent.numerator), Decimal(exponent.denominator)))
    value = context.multiply(power, context.divide(Decimal(above), Decimal(below)))
    slack = context.multiply(value, Decimal(1).scaleb(4 - context.prec))  # more than all roundings
    low, high = context.subtract(value, slack), context.add(value, slack)
    first, last = (context.divide(Decimal(end), Decimal(1 << bits)) for end in (drawn, drawn + 1))
    return int(last <= low), int(first < high)
