"""The AUC from randomized reports about the nodes of a tree over scores, whose classes are public.

The noisy trees of the two classes are walked together, level by level, and pairs are counted where they part.
Source: Bell, Bellet, Gascon and Kulkarni 2020, section 5, corrected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from scipy.optimize import minimize_scalar

from ogive.core.arrays import Float64, Int64, UInt8
from ogive.core.checks import among
from ogive.core.compiling import njit
from ogive.errors import DataError, ParameterError, quoted
from ogive.local.aggregation import transform
from ogive.local.oracles import PublicClasses
from ogive.local.tree import TreeOracle

# --- How far off an AUC from two noisy trees may be, whatever the scores, and which nodes to look into, therefore
#
# Proofs, with the formulas: docs/proofs/hierarchy.md.
# Source: Bell, Bellet, Gascon and Kulkarni 2020, Theorem 3 and Corollaries 4 and 5, corrected.

Variant = Literal["half", "zero"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
TIES = ("half", "strict")


@dataclass(frozen=True)
class Sizes:
    """Public quantities on which a bound depends: n+, n-, at least v+ and v- of every node, L levels, b children.

    `variant` and `ties` say what pairs in nodes that are not looked into count, and pairs in one leaf.
    """

    positives: int
    negatives: int
    positive_variance: float
    negative_variance: float
    levels: int
    branching: int = 2
    variant: str = "half"
    ties: str = "half"

    def __post_init__(self) -> None:
        among(self.variant, "variant", VARIANTS)
        among(self.ties, "ties", TIES)
        if min(self.positives, self.negatives, self.levels) < 1 or not 2 <= self.branching <= 8:
            raise ParameterError("a bound needs a record of each class, a level, and 2 to 8 children of a node")
        for value in (self.positive_variance, self.negative_variance):
            if not 0 < value < math.inf:
                raise ParameterError(f"variances of nodes must be finite and above 0, got {quoted(value)}")

    @property
    def pairs(self) -> float:
        return float(self.positives) * self.negatives

    @property
    def squares(self) -> tuple[float, float]:
        return self.negative_variance * self.positives**2, self.positive_variance * self.negatives**2

    @property
    def product(self) -> float:
        return self.positive_variance * self.negative_variance


def least_a(branching: int) -> float:
    """Bounds are finite for a above this."""
    return 1.0 if branching == 2 else min(branching * branching / 4, 5 * branching / 8)


def looked_into(sizes: Sizes, a: float) -> float:
    """At least the expected number of nodes of any level that are looked into; infinite where nothing is proved."""
    signal = sizes.positives / math.sqrt(sizes.positive_variance) + sizes.negatives / math.sqrt(sizes.negative_variance)
    children, root = sizes.branching, math.sqrt(a)
    result = math.inf
    if 2 * root > children:
        result = signal / (2 * root - children)
    empty = 5 / (8 * a)
    if children > 2 and children * empty < 1:
        second = (1 - empty) * signal / ((2 * root - math.sqrt(5 / 2)) * (1 - children * empty))
        result = min(result, second)
    return max(1.0, result)


def lost_bound(sizes: Sizes, a: float) -> float:
    """At least the mean square of what is lost, on average over the noise below, in nodes that are not looked into."""
    factor = a + 0.25 if sizes.variant == "half" else 4 * a + 1
    return factor * sizes.levels * min(sizes.squares) / sizes.pairs**2


def mse_bound(sizes: Sizes, a: float) -> float:
    """At least the mean squared error of the AUC of a sample, whatever the scores, if all conditions hold."""
    nodes, b, levels = looked_into(sizes, a), sizes.branching, sizes.levels
    if not math.isfinite(nodes):
        return math.inf
    # what nodes that are looked into add
    added = levels * ((b - 1) * sum(sizes.squares) + b * (b - 1) / 2 * nodes * sizes.product)
    if sizes.ties == "half":
        added += sum(sizes.squares) / 4 + b / 4 * nodes * sizes.product
    added /= sizes.pairs**2
    if sizes.variant == "zero":
        return 2 * added + 2 * lost_bound(sizes, a)
    noise = levels * b * nodes * (b / 2 * (1 + 4 * a) + b * b / 4) * sizes.product / sizes.pairs**2
    return 2 * added + 4 * lost_bound(sizes, a) + 4 * noise


def all_nodes_variance(sizes: Sizes) -> float:
    """What looking into all nodes adds to the variance of the AUC beside what is linear in the noise."""
    b = sizes.branching
    parents = (float(b) ** sizes.levels - 1) / (b - 1)
    result = parents * b * (b - 1) / 2
    if sizes.ties == "half":
        result += float(b) ** sizes.levels / 4
    return result * sizes.product / sizes.pairs**2


def best_a(sizes: Sizes) -> float:
    """The threshold that minimizes `mse_bound`."""
    least = math.sqrt(least_a(sizes.branching))

    def bound(log_gap: float) -> float:
        return mse_bound(sizes, (least + math.exp(log_gap)) ** 2)

    start = min((step / 4 for step in range(-48, 48)), key=bound)
    best = minimize_scalar(bound, bounds=(start - 0.25, start + 0.25), method="bounded", options={"xatol": 1e-9})
    return float((least + math.exp(best.x)) ** 2)


def closed_form_a(positives: int, negatives: int, c: float, levels: int, *, variant: str = "half") -> float:
    """The paper's threshold: after Theorem 3 ("half", near the least of its own bound) and Corollary 5 ("zero")."""
    among(variant, "variant", VARIANTS)
    n, fewer = positives + negatives, min(positives, negatives)
    if variant == "zero":
        root = 1 + math.sqrt(math.sqrt(2 * c * levels * n) / (16 * fewer))
    else:
        root = 1 + math.sqrt(21 / 8) * math.sqrt(math.sqrt(2 * c * n * levels) / fewer)
    return root * root


# --- Noisy counts of one class in the nodes of a tree
#
# Level l = 1..depth has branching^l nodes; children of node p are the nodes p * branching + (0..branching - 1) of the
# next level. Estimates of two nodes of a level are not correlated, and those of different levels are independent.


@dataclass(frozen=True)
class NodeNoise:
    """Variance of a level's estimate of a node of h records: variance + slope h + curve h^2, at most `bound`."""

    variance: float
    slope: float = 0.0
    curve: float = 0.0
    bound: float | None = None

    @property
    def most(self) -> float:
        return self.variance if self.bound is None else self.bound

    def at(self, counts: Any) -> Any:
        return self.variance + (self.slope + self.curve * counts) * counts

    def of(self, counts: Float64) -> Float64:
        """Unbiased estimates of the variances of unbiased estimates."""
        return np.asarray(self.at(counts) / (1 + self.curve))


# --- Noisy trees from reports
#
# A level of 2^20 nodes or fewer is added up as reports come in and transformed once. Of a larger one reports stay as
# they are, and the nodes that are looked into are counted, or the level is transformed where that is less work.

LARGEST_TRANSFORM = 1 << 26  # the longest level that is transformed: 512 MB


@dataclass(frozen=True, eq=False)
class KeptLevel:
    """Hadamard responses of one level of one class; `scale` leads from sums of signs to counts of the whole class."""

    indices: Int64
    signs: Int64
    scale: float
    nodes: int

    def counts(self, nodes: Int64) -> Float64:
        exponent = (self.nodes - 1).bit_length()
        size = 1 << exponent
        if size <= LARGEST_TRANSFORM and len(nodes) * len(self.signs) > len(self.signs) + size * exponent:
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
    result = np.empty(nodes.size, dtype=np.float64)
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
        result[place] = total
    return result


@dataclass(frozen=True, eq=False)
class ReportTree:
    """Reports of one class: unbiased counts of the first levels, shape (branching^l,), and the others as reports."""

    records: int
    branching: int
    noise: tuple[NodeNoise, ...]
    tallied: list[Float64]
    large: list[KeptLevel] = field(default_factory=list)

    def counts(self, level: int, nodes: Int64) -> Float64:
        if level <= len(self.tallied):
            return self.tallied[level - 1][nodes]
        return self.large[level - len(self.tallied) - 1].counts(nodes)


def trees(oracle: Any, sums: Int64, reports: tuple[Int64, UInt8] | None = None) -> tuple[ReportTree, ReportTree]:
    """The noisy trees of two public classes, the positive one (class 1) first; see `auc`."""
    if not isinstance(oracle, PublicClasses) or oracle.classes != 2 or not isinstance(oracle.inner, TreeOracle):
        raise ParameterError("a hierarchical AUC needs reports of two public classes over a tree")
    inner = oracle.inner
    if inner.tallied < inner.levels and reports is None:
        raise ParameterError(
            f"{inner.levels - inner.tallied} levels are too large to be added up; give the reports that were kept"
        )
    results = []
    for place, name in ((1, "positive"), (0, "negative")):
        if inner.reports(sums[place]) < 1:
            raise DataError(f"there is no report of the {name} class; an AUC needs one of each")
        chosen = None
        if reports is not None and inner.tallied < inner.levels:
            numbers, payloads = reports
            rows = payloads[:, 0] == place
            chosen = inner.read(numbers[rows], payloads[rows, 1:])
        results.append(_tree(inner, sums[place], chosen))
    return results[0], results[1]


def _tree(inner: TreeOracle, sums: Int64, read: tuple[Int64, Int64, Int64] | None) -> ReportTree:
    records, factors = inner.reports(sums), _factors(inner, sums)
    large = []
    for level in range(inner.tallied, inner.levels):
        assert read is not None
        rows = read[0] == level + 1
        each = inner.level_reports(sums)[level]
        if int(rows.sum()) != each:
            raise DataError(f"{each} reports of a level were counted and {int(rows.sum())} were given")
        scale = inner.scale * factors[level]
        large.append(KeptLevel(read[1][rows], read[2][rows], scale, inner.branching ** (level + 1)))
    return ReportTree(records, inner.branching, node_noise(inner, sums), inner.counts(sums), large)


def _factors(inner: TreeOracle, sums: Int64) -> list[float]:
    """Factors from counts of each level's reports to counts of the class."""
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
    """How noisy every level's counts of one class are, given its records; the choice of levels is counted."""
    return _noise(inner, inner.reports(sums), _factors(inner, sums))


def expected_noise(inner: TreeOracle, records: int) -> tuple[NodeNoise, ...]:
    """The same for a number of records of the class, with as many reports on each level as are expected."""
    shares = None if inner.levels_of is None else inner.levels_of.chances
    return _noise(inner, records, [1.0] * inner.levels if shares is None else [1 / share for share in shares])


def _noise(inner: TreeOracle, records: int, factors: list[float]) -> tuple[NodeNoise, ...]:
    """Of every level.

    With c = 1 / (1 - 2 flip) and f the factor of a level, n reports whose levels are hashed one by one give a node of h
    records the variance n f c^2 - h (Hadamard) or n f (c^2 - 1) + (2 f - 1) h (unary); where levels are dealt out in
    equal parts, (f - 1) h (h - 1) / (n - 1) less. With the budget split, f = 1.
    """
    square = inner.scale**2
    results = []
    for factor, unary in zip(factors, inner.layout.unary, strict=True):
        variance = records * factor * (square - 1 if unary else square)
        slope, bound = (2 * factor - 1, variance + (2 * factor - 1) * records) if unary else (-1.0, variance)
        dealt = inner.assignment == "even" and inner.levels_of is not None and factor < records / 2
        less = (factor - 1) / (records - 1) if dealt else 0.0
        results.append(NodeNoise(variance, slope + less, -less, bound))
    return tuple(results)


# --- Down two noisy trees, level by level
#
# Of a node whose children have counts x in the one tree and y in the other, x'My is added: one for every pair of
# children in the right order where its children are looked into (and one half for ties, in leaves), and a half for
# every pair where they are not. Whether a node is looked into depends on its own level's counts alone, and what it
# adds on its children's, so nothing is selected for being large. Variances: docs/proofs/hierarchy.md.

MOST_NODES = 1 << 23  # of one level, that are looked into


@dataclass(frozen=True)
class Walk:
    """Pairs in the right order, an unbiased estimate of their variance and its least part, of products of noise.

    `discarded_pairs` estimates all pairs in nodes that were not looked into; counts of nodes begin at the root.
    """

    pairs: float
    variance: float
    least: float
    discarded_pairs: float
    recursed: tuple[int, ...]
    discarded: tuple[int, ...]


def walk(positive: ReportTree, negative: ReportTree, *, a: float | None, variant: str, ties: str) -> Walk:
    """Add up the pairs of two trees."""
    branching, depth = positive.branching, len(positive.noise)
    inner = np.tril(np.ones((branching, branching)), -1)
    leaves = inner + np.eye(branching) / 2 if ties == "half" else inner
    halves = np.full((branching, branching), 0.5)
    nodes = np.zeros(1, dtype=np.int64)
    counts = np.array([[float(positive.records)], [float(negative.records)]])
    result = np.zeros(4)
    recursed, discarded = [], []

    def opened(nodes: Int64) -> tuple[Int64, Float64]:
        """Children of some nodes, shape (n, b), and their counts in both trees, shape (2, n, b)."""
        if len(nodes) * branching > MOST_NODES:
            raise ParameterError(
                f"level {level + 1} has {len(nodes) * branching} nodes to look into, more than {MOST_NODES}; "
                "prune, or use fewer levels"
            )
        children = nodes[:, None] * branching + np.arange(branching)
        below = np.stack([tree.counts(level + 1, children.ravel()) for tree in (positive, negative)])
        return children, below.reshape(2, len(nodes), branching)

    def added(below: Float64, form: Float64) -> tuple[float, float, float]:
        """The sum of the bilinear forms of some nodes' children, its estimated variance, and the least of that."""
        x, y = below
        left, right = x @ form, y @ form.T
        v, w = positive.noise[level].of(x), negative.noise[level].of(y)
        squared = float(np.sum((v @ form**2) * w))
        return float(np.sum(left * y)), float(np.sum(w * left**2)) + float(np.sum(v * right**2)) - squared, squared

    for level in range(depth):
        chosen = np.ones(len(nodes), dtype=np.bool_)
        if a is not None:
            # the root is known; it is compared with the noise of the level below
            noise = np.array([[tree.noise[max(0, level - 1)].most] for tree in (positive, negative)])
            large = np.maximum(counts, np.sqrt(a * noise) / 2)
            chosen = large[0] * large[1] >= a * np.sqrt(noise[0] * noise[1])
        recursed.append(int(chosen.sum()))
        discarded.append(len(chosen) - recursed[-1])
        children, below = opened(nodes[chosen])
        result[:3] += added(below, leaves if level == depth - 1 else inner)
        if discarded[-1]:
            unseen = added(opened(nodes[~chosen])[1], halves)
            result[3] += 2 * unseen[0]
            if variant == "half":
                result[:3] += unseen
        nodes, counts = children.ravel(), below.reshape(2, -1)
    pairs, variance, least, lost = result.tolist()
    return Walk(pairs, variance, least, lost, tuple(recursed), tuple(discarded))


# --- The AUC from two noisy trees

_LARGEST_A = 1e6


@dataclass(frozen=True)
class HierarchicalAuc:
    """An AUC, the variance of its randomization, and what was not looked into.

    `bias_bound` is the root of a bound of the mean squared error of nodes that were not looked into, `discarded_share`
    an estimate of the share of pairs there; `shared` says whether levels count the same records.
    """

    value: float
    variance: float
    bias_bound: float
    discarded_share: float
    recursed: tuple[int, ...]
    discarded: tuple[int, ...]
    a: float | None
    sizes: Sizes
    shared: bool

    @property
    def standard_error(self) -> float:
        return math.sqrt(self.variance)

    @property
    def clipped(self) -> float:
        """The value within [0, 1], to be shown and nothing else: it is biased."""
        return min(1.0, max(0.0, self.value))

    @property
    def sampling_variance(self) -> float:
        """About the most that the AUC of a sample varies: van Dantzig 1951, Birnbaum and Klose 1957."""
        return self.clipped * (1 - self.clipped) / min(self.sizes.positives, self.sizes.negatives)

    @property
    def bias_estimate(self) -> float:
        """At most so large is the bias if the estimated share of the discarded pairs is right."""
        whole = max(0.0, self.discarded_share)
        return whole / 2 if self.sizes.variant == "half" else whole

    def bound(self, against: str = "sample") -> float:
        return error_bound(self.sizes, self.a, shared=self.shared, against=against)


def error_bound(sizes: Sizes, a: float | None, *, shared: bool, against: str = "sample") -> float:
    """At least the mean squared error of the AUC, whatever the scores (Theorem 3, corrected)."""
    among(against, "against", ("sample", "population"))
    result = all_bound(sizes) if a is None else mse_bound(sizes, a)
    if not shared:
        return result * sizes.levels if against == "sample" else result
    if against == "sample":
        return result
    # of any distribution, the AUC of a sample has at most this variance
    return (math.sqrt(result) + math.sqrt(0.25 / min(sizes.positives, sizes.negatives))) ** 2


def all_bound(sizes: Sizes) -> float:
    """At least the variance of the AUC if all nodes are looked into, whatever the scores."""
    linear = (sizes.branching - 1) * sizes.levels + (0.25 if sizes.ties == "half" else 0.0)
    return linear * sum(sizes.squares) / sizes.pairs**2 + all_nodes_variance(sizes)


def auc(oracle: Any, sums: Int64, *, reports: tuple[Int64, UInt8] | None = None, **options: Any) -> HierarchicalAuc:
    """Estimate the AUC of two public classes from sums of reports of `PublicClasses` over a `TreeOracle`.

    Class 1 has the larger scores, and options are those of `HierarchyAuc`. `reports` are numbers and payloads, where
    the tree has levels of more than 2^20 nodes.
    """
    positive, negative = trees(oracle, sums, reports)
    return auc_of_trees(positive, negative, shared=oracle.inner.split == "budget", **options)


def auc_of_trees(
    positive: ReportTree,
    negative: ReportTree,
    *,
    a: str | float = "auto",
    prune: str | bool = "auto",
    variant: str = "half",
    ties: str = "half",
    shared: bool = False,
) -> HierarchicalAuc:
    """Estimate the AUC from two noisy trees of one form."""
    sizes = sizes_of(positive, negative, variant, ties)
    threshold = threshold_of(sizes, a)
    pruned = prunes(sizes, threshold, prune)
    result = walk(positive, negative, a=threshold if pruned else None, variant=variant, ties=ties)
    bias = lost_bound(sizes, threshold) if pruned else 0.0
    value, share = result.pairs / sizes.pairs, result.discarded_pairs / sizes.pairs
    variance = max(0.0, result.least, result.variance) / sizes.pairs**2
    nodes = result.recursed, result.discarded
    used = threshold if bias else None
    return HierarchicalAuc(value, variance, math.sqrt(bias), share, *nodes, used, sizes, shared)


def sizes_of(positive: ReportTree, negative: ReportTree, variant: str = "half", ties: str = "half") -> Sizes:
    """The sizes of two trees of one form."""
    if positive.branching != negative.branching or len(positive.noise) != len(negative.noise):
        raise ParameterError("the trees of both classes must have as many levels and children")
    v, w = (max(noise.most for noise in tree.noise) for tree in (positive, negative))
    return Sizes(positive.records, negative.records, v, w, len(positive.noise), positive.branching, variant, ties)


def check_a(a: Any) -> None:
    """Refuse what is no threshold."""
    if isinstance(a, str) and a in ("auto", "paper"):
        return
    if isinstance(a, bool) or not isinstance(a, int | float) or not 1 < a <= _LARGEST_A:
        raise ParameterError(
            f"`a` must be 'auto', 'paper' or a number above 1 and at most {_LARGEST_A:g}, got {quoted(a)}"
        )


def check_prune(prune: Any) -> None:
    """Refuse what does not say whether nodes are discarded."""
    if not isinstance(prune, bool) and prune != "auto":
        raise ParameterError(f"`prune` must be 'auto', True or False, got {quoted(prune)}")


def threshold_of(sizes: Sizes, a: str | float) -> float:
    """The threshold for an option `a`."""
    if a == "auto":
        return best_a(sizes)
    if a == "paper":
        # v = c n levels of each class; where they differ in more than size, the larger c
        c = max(sizes.positive_variance / sizes.positives, sizes.negative_variance / sizes.negatives) / sizes.levels
        return closed_form_a(sizes.positives, sizes.negatives, c, sizes.levels, variant=sizes.variant)
    check_a(a)
    return float(a)


def prunes(sizes: Sizes, a: float, prune: str | bool) -> bool:
    """Whether nodes are discarded."""
    large = sizes.branching**sizes.levels > MOST_NODES
    if prune is False and large:
        raise ParameterError(
            f"{sizes.levels} levels have more than {MOST_NODES} nodes to look into; prune, or use fewer levels"
        )
    check_prune(prune)
    if isinstance(prune, bool):
        return prune
    return large or all_nodes_variance(sizes) >= lost_bound(sizes, a)
