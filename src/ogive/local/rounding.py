"""How an owner's numbers become a symbol: by their bins, or at random by the nodes around them.

Simple rounding takes the bin that holds the number. Randomized rounding takes one of the two nodes around it, the
nearer one more often, so that the node is right on average; a kernel that is linear between nodes then has no bias.
Either way the symbol stays with the owner, who randomizes it, so the guarantee is the same.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from ogive.arrays import Float64, Int64
from ogive.checks import among
from ogive.columns import Binning, Domain
from ogive.grids import Grid
from ogive.local.base import RandomWords

Rounding = Literal["simple", "randomized"]
ROUNDINGS: tuple[Rounding, ...] = get_args(Rounding)


def check_rounding(rounding: str, domain: Domain) -> None:
    """Refuse a rounding that is none, or does not fit the columns.

    Raises:
        ParameterError: saying which would.
    """
    among(rounding, "rounding", ROUNDINGS)
    if rounding == "randomized":
        for column in domain.columns:
            if isinstance(column, Binning):
                _ = column.grid.nodes


def rounded(domain: Domain, rows: Float64, rounding: str, *, source: RandomWords) -> Int64:
    """The symbol of each row of numbers, shape (n,) from (n, columns), without NaN.

    Args:
        domain: What the columns may hold.
        rows: Numbers of the columns' grids, and places of categories.
        rounding: One of `ROUNDINGS`.
        source: The owners' random bits; simple rounding takes none.
    """
    if rounding == "simple":
        return domain.symbols(rows)
    found = np.zeros(len(rows), dtype=np.int64)
    for place, column in enumerate(domain.columns):
        values = rows[:, place]
        symbols = _nodes(column.grid, values, source) if isinstance(column, Binning) else column.symbols(values)
        found = found * column.size + symbols
    return found


def _nodes(grid: Grid, values: Float64, source: RandomWords) -> Int64:
    """One of the two nodes around each value: the upper one as often as the value is close to it."""
    nodes = grid.nodes
    clipped = np.clip(values, grid.low, grid.high)
    below = np.clip(np.searchsorted(nodes, clipped, side="right") - 1, 0, len(nodes) - 2)
    above = (clipped - nodes[below]) / (nodes[below + 1] - nodes[below])
    words = source.words(2 * len(values)).astype(np.uint64).reshape(-1, 2)
    uniform = ((words[:, 0] << np.uint64(21)) | (words[:, 1] >> np.uint64(11))).astype(np.float64) * 2.0**-53
    taken: Int64 = below + (uniform < above)
    return taken.astype(np.int64)
