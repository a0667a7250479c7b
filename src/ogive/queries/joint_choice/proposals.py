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

from functools import partial

import numpy as np

from ogive.arrays import Int64
from ogive.noise.base import NodeNoise
from ogive.queries.joint_choice.exact import BITS, SPARE, Costs, Draws, Exponentials, level_of, place_of
from ogive.queries.joint_choice.walks import choose_by_walks
from ogive.queries.rank_paths import Ranks

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
        kept = np.flatnonzero((np.diff(bins, axis=1) >= 0).all(axis=1) & (costs.slope * (high + low) <= free))
        if kept.size:
            for row in kept[costs.of(bins[kept]) <= free[kept]].tolist():
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
        places[row, number] = draws.decided(
            start + row,
            number + 1,
            partial(place_of, int(counts[row, number])),
        )
    found: Int64 = proposals.order[np.arange(places.shape[1]), places]
    return found
