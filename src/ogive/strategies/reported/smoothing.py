"""Trees of reports smoothed as the trees of a curator are."""

from __future__ import annotations

from ogive.arrays import Float64, Int64
from ogive.strategies.reported.strategy import BITS, ReportedTree
from ogive.strategies.tree.smoothing import nearest_tree


def nearest_reports(strategy: ReportedTree, answer: Int64, total: int | None, kind: str) -> Float64:
    """The histogram of bins at least 0 that is nearest to an answer, by "least_squares" or "least_absolute"."""
    return nearest_tree(strategy.tree, answer, total, kind, bits=BITS)
