"""The noisy trees that reports of a hierarchical oracle make: from sums, or from the reports themselves.

A level of 2^20 nodes or fewer is added up as reports come in and transformed once. Of a larger one the reports are
kept, and only the nodes that are looked into are counted: n_l operations a node, or one transform of the level where
that is less and fits into memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ogive.arrays import Float64, Int64, UInt8
from ogive.compiling import njit
from ogive.errors import DataError, ParameterError
from ogive.local.classes import PublicClasses
from ogive.local.tree import TreeOracle
from ogive.local.walsh import transform
from ogive.statistics.ustatistic.reports.trees.counts import NodeNoise

LARGEST_TRANSFORM = 1 << 26
"""Longest level that is transformed: 512 MB."""

# what adding one report to one node costs, in steps of a transform
_LAZY_COST = 1.0


@dataclass(frozen=True, eq=False)
class KeptLevel:
    """Reports of one level of one class, and what their signs are multiplied with.

    Fields:
        indices: Of the Hadamard responses, shape (n_l,).
        signs: -1 or 1, shape (n_l,).
        scale: From sums of signs to counts of the whole class.
        nodes: Of the level.
    """

    indices: Int64
    signs: Int64
    scale: float
    nodes: int

    def counts(self, nodes: Int64) -> Float64:
        """Of some nodes, in the cheaper way."""
        exponent = (self.nodes - 1).bit_length()
        size = 1 << exponent
        if size <= LARGEST_TRANSFORM and len(nodes) * len(self.signs) * _LAZY_COST > len(self.signs) + size * exponent:
            return self.transformed()[nodes]
        return self.scale * correlations(self.indices, self.signs, nodes)

    def transformed(self) -> Float64:
        """Of all nodes, and of indices beyond them."""
        size = 1 << (self.nodes - 1).bit_length()
        tally = np.bincount(self.indices, self.signs, size).astype(np.int64)
        return np.asarray(transform(tally) * self.scale, dtype=np.float64)


@njit(nogil=True)
def correlations(indices: Int64, signs: Int64, nodes: Int64) -> Float64:
    """Sums of the reports' signs, each times the parity of its index AND the node; shape of the nodes."""
    found = np.empty(nodes.size, dtype=np.float64)
    for place in range(nodes.size):
        node, total = nodes[place], 0
        for report in range(indices.size):
            bits = indices[report] & node
            bits ^= bits >> 32
            bits ^= bits >> 16
            bits ^= bits >> 8
            bits ^= bits >> 4
            # the parity of each four bits, as a table of sixteen
            parity = (0x6996 >> (bits & 15)) & 1
            total += signs[report] * (1 - 2 * parity)
        found[place] = total
    return found


@dataclass(frozen=True, eq=False)
class ReportTree:
    """What reports say of one class.

    Fields:
        records: Number of reports of the class.
        branching: Children of a node.
        noise: Of each level.
        tallied: Counts of the first levels, shape (branching^l,).
        kept: Reports of the others, in their order.
    """

    records: int
    branching: int
    noise: tuple[NodeNoise, ...]
    tallied: list[Float64]
    kept: list[KeptLevel] = field(default_factory=list)

    def counts(self, level: int, nodes: Int64) -> Float64:
        """Of some nodes of a level."""
        if level <= len(self.tallied):
            return self.tallied[level - 1][nodes]
        return self.kept[level - len(self.tallied) - 1].counts(nodes)


def trees(oracle: Any, sums: Int64, reports: tuple[Int64, UInt8] | None = None) -> tuple[ReportTree, ReportTree]:
    """The noisy trees of two public classes, the positive one (class 1) first.

    Args:
        oracle: `PublicClasses` of two classes over a `TreeOracle`.
        sums: Of reports, of the oracle's shape.
        reports: Numbers, shape (n,), and payloads, shape (n, payload_bytes), of the reports that were added; needed
            where the tree has levels of more than 2^20 nodes.

    Raises:
        ParameterError: the oracle is another one, or large levels lack their reports.
        DataError: a class has no report, or none at some level.
    """
    if not isinstance(oracle, PublicClasses) or oracle.classes != 2 or not isinstance(oracle.inner, TreeOracle):
        raise ParameterError("a hierarchical AUC needs reports of two public classes over a tree")
    inner = oracle.inner
    if inner.tallied < inner.levels and reports is None:
        raise ParameterError(
            f"{inner.levels - inner.tallied} levels are too large to be added up; give the reports that were kept"
        )
    found = []
    for place, name in ((1, "positive"), (0, "negative")):
        if inner.reports(sums[place]) < 1:
            raise DataError(f"there is no report of the {name} class; an AUC needs one of each")
        chosen = None
        if reports is not None and inner.tallied < inner.levels:
            numbers, payloads = reports
            rows = payloads[:, 0] == place
            chosen = inner.read(numbers[rows], payloads[rows, 1:])
        found.append(_tree(inner, sums[place], chosen))
    return found[0], found[1]


def _tree(inner: TreeOracle, sums: Int64, read: tuple[Int64, Int64, Int64] | None) -> ReportTree:
    records, factors = inner.reports(sums), _factors(inner, sums)
    kept = []
    for level in range(inner.tallied, inner.levels):
        assert read is not None
        rows = read[0] == level + 1
        each = inner.level_reports(sums)[level]
        if int(rows.sum()) != each:
            raise DataError(f"{each} reports of a level were counted and {int(rows.sum())} were given")
        scale = inner.scale * factors[level]
        kept.append(KeptLevel(read[1][rows], read[2][rows], scale, inner.branching ** (level + 1)))
    return ReportTree(records, inner.branching, node_noise(inner, sums), inner.counts(sums), kept)


def _factors(inner: TreeOracle, sums: Int64) -> list[float]:
    """What counts of each level's reports are multiplied with to count the class."""
    if inner.levels_of is None:
        return [1.0] * inner.levels
    if inner.assignment == "independent":
        return [1 / chance for chance in inner.levels_of.chances]
    each = inner.level_reports(sums)
    if not each.all():
        raise DataError(
            f"{inner.reports(sums)} reports of a class are too few: some of the {inner.levels} levels have none"
        )
    return [inner.reports(sums) / int(reports) for reports in each]


def node_noise(inner: TreeOracle, sums: Int64) -> tuple[NodeNoise, ...]:
    """How noisy every level's counts of one class are, given its records; the choice of levels is counted.

    Raises:
        DataError: a level has no report.
    """
    return _noise(inner, inner.reports(sums), _factors(inner, sums))


def expected_noise(inner: TreeOracle, records: int) -> tuple[NodeNoise, ...]:
    """The same for so many records of the class, before any report is seen: as many on each level as are expected."""
    shares = None if inner.levels_of is None else inner.levels_of.chances
    return _noise(inner, records, [1.0] * inner.levels if shares is None else [1 / share for share in shares])


def _noise(inner: TreeOracle, records: int, factors: list[float]) -> tuple[NodeNoise, ...]:
    """Of every level.

    With c = 1 / (1 - 2 flip) and f the factor of a level, n reports whose levels are hashed one by one give a node of h
    records the variance n f c^2 - h (Hadamard) or n f (c^2 - 1) + (2 f - 1) h (unary); where levels are dealt out in
    equal parts, (f - 1) h (h - 1) / (n - 1) less. With the budget split, f = 1.
    """
    square = inner.scale**2
    found = []
    for factor, unary in zip(factors, inner.layout.unary, strict=True):
        variance = records * factor * (square - 1 if unary else square)
        slope, bound = (2 * factor - 1, variance + (2 * factor - 1) * records) if unary else (-1.0, variance)
        dealt = inner.assignment == "even" and inner.levels_of is not None and factor < records / 2
        less = (factor - 1) / (records - 1) if dealt else 0.0
        found.append(NodeNoise(variance, slope + less, -less, bound))
    return tuple(found)
