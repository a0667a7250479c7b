"""U-statistics from one randomized report of every record's owner: of pairs, triples, or public classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

import numpy as np

from ogive.accounting.losses import pure_epsilon
from ogive.core.arrays import Bool, Float64, Int64
from ogive.core.checks import among, one_of, whole
from ogive.errors import DataError, ParameterError, quoted
from ogive.kernels import AbsoluteDifference, Greater
from ogive.kernels.base import Kernel, column_nodes, widths
from ogive.kernels.numbers import corrected
from ogive.kernels.tuples import TripleTable, excess, multinomial, vus, vus_extremes
from ogive.local import HaarOracle, PublicClasses, RandomizedResponse, TreeOracle, UnaryOracle
from ogive.local.base import Oracle
from ogive.local.tree import COMPOSITIONS, NODES, SPLITS, Composition, NodeReport, Split, design_tree
from ogive.local.values import rounded
from ogive.noise import KeyedSource
from ogive.privacy import ApproxDP, Privacy, PureDP, check_privacy
from ogive.queries import Answer, ReportsQuery
from ogive.statistics.ustatistic import means, trees
from ogive.statistics.ustatistic.base import (
    ANY_BINS,
    BinnedMethod,
    MeanMethod,
    MeanTask,
    MethodOptions,
    ShapeMeans,
    best,
)
from ogive.statistics.ustatistic.laws import check_pairwise, law_of
from ogive.statistics.ustatistic.means import Means, on_simplex
from ogive.statistics.ustatistic.trees import VARIANTS, Sizes, Variant

ORACLES = (RandomizedResponse.name, UnaryOracle.name, HaarOracle.name)

LARGEST = 4096  # most classes times bins of a surface: chains of ten classes then take 130 MB
MOST_SYMBOLS = 1 << 10  # of a pair matrix to which bins that nobody named are refined
_SEED = 0x726F756E  # of the roundings of imagined records


def report_epsilon(privacy: Privacy, rows: int) -> Fraction:
    """Epsilon of one of a person's reports, which is pure whatever the guarantee."""
    whole = privacy if isinstance(privacy, PureDP) else pure_epsilon(privacy)
    return whole.epsilon / rows


@dataclass(frozen=True)
class OneReport(MeanMethod):
    """Every owner sends one report."""

    rounded: ClassVar[bool] = True

    query: ReportsQuery

    @property
    def oracle(self) -> Any:
        return self.query.oracle

    @property
    def inner(self) -> Any:
        return self.oracle.inner if isinstance(self.oracle, PublicClasses) else self.oracle

    @property
    def name(self) -> str:
        return str(self.inner.name)


class Reports(OneReport, BinnedMethod):
    """One report of every owner, whose sums give the kernels' means."""

    @cached_property
    def matrices(self) -> tuple[Float64, ...]:
        if self.task.rounding == "randomized":
            return tuple(self._at_nodes(kernel) for kernel in self.task.measure.kernels)
        return super().matrices

    def _at_nodes(self, kernel: Kernel) -> Float64:
        """A kernel at the nodes; for an average without the bias of pairs of evenly spread values within a cell."""
        matrix = kernel.matrix(self.domain, "nodes")
        column = self.domain.columns[0]
        if self.task.matrix == "average" and isinstance(kernel, AbsoluteDifference) and widths(column).any():
            return corrected(matrix, column_nodes(column))
        return matrix

    def _predicted(self, shape: ShapeMeans) -> float:
        symbols = rounded(self.domain, shape.rows, self.task.rounding, source=KeyedSource.from_seed(_SEED))
        bias, combined, shares = self._on_bins(shape, symbols)
        records = self.task.records
        if self.task.classes is None:
            errors = means.covariance(self.inner, [combined], shares[0], records)
        else:
            half = max(1, records // 2)
            errors = means.two_sample_covariance(self.inner, [combined], shares[0], shares[1], (half, half))
        return float(errors.randomization[0, 0] + bias)

    def means(self, answer: Answer) -> Means:
        means_of = means.means if self.task.classes is None else means.two_sample_means
        return self._within_reach(means_of(self.oracle, answer.values, self.matrices, self.reach))


# --- Means over triples


class TripleReports(OneReport):
    """One response of every owner, whose sums give the mean over triples."""

    @property
    def tensor(self) -> Float64:
        [kernel] = self.task.measure.kernels
        assert isinstance(kernel, TripleTable)
        return kernel.table

    def _predicted(self, shape: ShapeMeans) -> float:
        shares = np.bincount(self.domain.symbols(shape.rows), minlength=self.domain.size) / len(shape.rows)
        whole, sampling = means.variances(self.oracle, self.tensor, shares, max(3, self.task.records))
        return float(shape.gradient[0]) ** 2 * (whole - sampling)

    def means(self, answer: Answer) -> Means:
        value = means.mean(self.oracle, answer.values, self.tensor)
        records, size = int(answer.values.sum()), self.oracle.size
        keep = float(self.oracle.keep)
        shares = (answer.values / records - (1 - keep) / size) / keep
        whole, sampling = means.variances(self.oracle, self.tensor, on_simplex(shares, size), records)
        randomization = np.array([[max(whole - sampling, 0.0)]])
        return Means(np.array([value]), randomization, np.array([[sampling]]), np.zeros(1), records)


# --- The volume under a ROC surface


class Surface(OneReport):
    """One report of every owner, whose sums give a histogram of each class."""

    def _predicted(self, shape: ShapeMeans) -> float:
        classes, symbols = self.oracle.classes, self.domain.symbols(shape.rows)
        counts = [np.bincount(symbols[shape.classes == each], minlength=self.domain.size) for each in range(classes)]
        histograms = np.stack([each / each.sum() for each in counts])
        sizes = (max(1, self.task.records // classes),) * classes
        variance = predicted_volume(self.inner, histograms, sizes)
        bias = vus(histograms) - shape.means[0]
        return float(shape.gradient[0] ** 2 * (variance + bias**2))

    def means(self, answer: Answer) -> Means:
        return volume(self.oracle, answer.values, wide=widths(self.domain.columns[0]) > 0)


def by_oracle(task: MeanTask, name: str) -> MeanMethod:
    """Reports by the named oracle, with the best number of bins, for whatever tuples the measure looks at."""
    measure, classes = task.measure, task.number_of_classes
    kind: type[Reports | Surface] = Reports
    most = MOST_SYMBOLS
    if task.tuples == "classes":
        if not classes or len(measure.kernels) != 1:
            raise ParameterError(f"{measure.name} is not a volume under one ROC surface of public classes")
        if task.rounding != "simple":
            raise ParameterError(f"{measure.name} jumps from 0 to 1, so leave out `rounding='randomized'`")
        if task.matrix != "average":
            raise ParameterError(
                f"{measure.name} counts one of the orders of scores in one bin, so matrix must be average"
            )
        kind, most = Surface, min(MOST_SYMBOLS, LARGEST // classes)
    elif task.tuples == "triples":
        task.check(name)
        if name != RandomizedResponse.name:
            raise ParameterError(
                f"a mean over triples is read off responses of krr only; use `method='krr'`, not {name}"
            )
        if len(measure.kernels) != 1:
            raise ParameterError("a kernel of three records is measured alone")
        oracle = _oracle_of(task, name, task.domain(ANY_BINS).size)
        return TripleReports(task, task.reports(ANY_BINS, oracle), ANY_BINS)

    def make(bins: int) -> Reports | Surface:
        size = task.domain(bins).size
        if kind is Surface:
            check_surface(classes, size)
        else:
            check_pairwise(size)
        inner = _oracle_of(task, name, size)
        return kind(task, task.reports(bins, PublicClasses(inner, classes) if classes else inner), bins)

    return task.best_bins(make, most=most, powers=name == HaarOracle.name)


def _oracle_of(task: MeanTask, name: str, size: int) -> Oracle:
    epsilon = report_epsilon(task.terms.privacy, task.terms.unit.max_rows_per_person)
    if name == RandomizedResponse.name:
        return RandomizedResponse(size, epsilon)
    if name == UnaryOracle.name:
        return UnaryOracle(size, epsilon)
    # smooth kernels hardly depend on fine levels, so these are chosen less often
    domain = task.domain(ANY_BINS)
    smooth = all(kernel.lipschitz(domain) is not None for kernel in task.measure.kernels)
    return HaarOracle(size, epsilon, weights="geometric" if smooth else "uniform")


# --- The volume from reports: of unbiased histograms of the classes, with the covariances of these


def volume(oracle: Any, sums: Int64, *, wide: Bool | None = None) -> Means:
    """Estimate the volume under the ROC surface of two or more public classes.

    Its covariance is the unbiased estimate of it, or that at the nearest possible histograms where it is larger. `wide`
    says which bins hold more than one score, shape (k,).
    """
    if not isinstance(oracle, PublicClasses) or oracle.classes < 2:
        raise ParameterError("a volume under the ROC surface needs reports of two or more public classes")
    check_surface(oracle.classes, oracle.inner.size)
    law = law_of(oracle.inner)
    records = tuple(law.records(each) for each in sums)
    for place, count in enumerate(records):
        if count < 1:
            raise DataError(f"class {place} has no report; each class needs one")
    histograms = np.stack([shares(oracle.inner, each) for each in sums])
    plausible = np.stack([on_simplex(each, oracle.inner.size) for each in histograms])
    value = vus(histograms)
    unbiased = -excess(histograms, [-each for each in _noise(oracle.inner, histograms, records)])
    likely = excess(plausible, _noise(oracle.inner, plausible, records))
    drawn = excess(plausible, [multinomial(each, count) for each, count in zip(plausible, records, strict=True)])
    least, largest = (value, value) if wide is None else vus_extremes(histograms, wide)
    moved, variance = max(value - least, largest - value, 0.0), np.array([[max(unbiased, likely, 0.0)]])
    sampling = np.array([[max(drawn, 0.0)]])
    return Means(np.array([value]), variance, sampling, np.array([moved]), sum(records), records)


def predicted_volume(inner: Any, histograms: Float64, records: Sequence[int]) -> float:
    """Mean over records of the variance of the randomization, if they are drawn from known histograms, shape (K, k)."""
    drawn = [multinomial(each, count) for each, count in zip(histograms, records, strict=True)]
    whole = [one + other for one, other in zip(_noise(inner, histograms, records), drawn, strict=True)]
    return excess(histograms, whole) - excess(histograms, drawn)


def shares(inner: Any, sums: Int64) -> Float64:
    """Unbiased shares of one class in all bins, shape (k,), with sum 1; the last takes what fills the domain up."""
    law = law_of(inner)
    return np.add.reduceat(law.counts(sums) / law.records(sums), np.arange(inner.size))


def check_surface(classes: int, bins: int) -> None:
    """Refuse surfaces whose variance would take too much memory."""
    if classes * bins > LARGEST:
        raise ParameterError(
            f"a volume under the ROC surface of {classes} classes from reports takes at most {LARGEST // classes} "
            f"bins, got {bins}"
        )


def _noise(inner: Any, histograms: Float64, records: Sequence[int]) -> list[Float64]:
    """Covariance of the estimated shares of each class, linear in its true ones; shape (k, k) each."""
    law, places = law_of(inner), np.arange(inner.size)
    results = []
    for each, count in zip(histograms, records, strict=True):
        weights = np.pad(each, (0, law.size - len(each)))
        results.append(np.add.reduceat(np.add.reduceat(law.covariance(weights), places), places, axis=1) / count)
    return results


# --- An AUC with public labels, from reports about a tree over the scores

CHILDREN = (2, 4)


@dataclass(frozen=True)
class HierarchyAuc(MethodOptions):
    """AUC with public labels, from one report of every owner on a tree over the scores.

    `Ustatistic(method="hierarchy")` uses the default options.

    Fields:
        variant: Value of pairs within a pruned node: "half", or "zero", which is biased towards 0 and less noisy.
        a: A node is refined if the product of its counts is at least a times the product of their standard deviations:
            "auto" minimizes the proved bound, "paper" is its closed form, or a number above 1.
        prune: Whether nodes are pruned. "auto" refines all nodes if the additional variance is smaller than the
            possible bias of pruning.
        split: "users" (an owner reports on one level) or "budget" (on all, with a share of epsilon).
        composition: Composition of a split budget: "basic" (the default), "advanced" (as in the paper) or "exact". The
            last two require a guarantee with a delta.
        branching: Children of a node, 2 to 8; by default 2 or 4, whichever has the smaller predicted error.
        nodes: "hadamard" (an index and a bit) or "unary" (a bit for each node of levels of up to 1024: longer, less
            noise at a large epsilon).

    Raises:
        ParameterError: a field is out of range, or is incompatible with another.

    Source: Bell, Bellet, Gascon and Kulkarni 2020, section 5, corrected; `docs/proofs/hierarchy.md`.

    Example:
        >>> import ogive
        >>> tree = ogive.HierarchyAuc(split="budget", composition="exact", branching=4)
        >>> asked = ogive.Ustatistic(("score", "ill"), "auc", bounds=(0, 1), method=tree)
    """

    name: ClassVar[str] = "hierarchy"

    variant: Variant = one_of(*VARIANTS)
    a: Literal["auto", "paper"] | float = "auto"
    prune: Literal["auto"] | bool = "auto"
    split: Split = one_of(*SPLITS)
    composition: Composition | None = None
    branching: int | None = None
    nodes: NodeReport = one_of(*NODES)

    def __post_init__(self) -> None:
        among(self.variant, "variant", VARIANTS)
        among(self.split, "split", SPLITS)
        among(self.nodes, "nodes", NODES)
        trees.check_a(self.a)
        trees.check_prune(self.prune)
        if self.prune is False and (self.variant, self.a) != ("half", "auto"):
            raise ParameterError(
                "`variant` and `a` are for discarded nodes, and `prune=False` discards none; leave them out"
            )
        if self.composition is not None:
            among(self.composition, "composition", COMPOSITIONS)
        if self.split == "users" and self.composition is not None:
            raise ParameterError(
                f"`composition={quoted(self.composition)}` shares a budget out among levels, and no owner reports "
                "on two of them under `split='users'`; use `split='budget'`, or leave it out"
            )
        if self.split == "budget" and self.composition is None:
            object.__setattr__(self, "composition", "basic")
        if self.branching is not None:
            whole(self.branching, "branching", 2, 8)

    @property
    def branchings(self) -> tuple[int, ...]:
        """The numbers of children that are compared."""
        return CHILDREN if self.branching is None else (self.branching,)

    def oracle(self, leaves: int, privacy: Privacy, *, branching: int) -> TreeOracle:
        """The randomizer of every owner's leaf.

        Args:
            leaves: Number of leaves, or of bins that are padded to them.
            privacy: Of a report.
            branching: Children of a node.

        Raises:
            ParameterError: the composition requires a delta and the guarantee has none, or gives no guarantee at this
                delta.
        """
        form: dict[str, Any] = {"branching": branching, "split": self.split, "nodes": self.nodes}
        if self.composition in (None, "basic"):
            return design_tree(leaves, report_epsilon(privacy, 1), **form)
        if not isinstance(privacy, ApproxDP):
            raise ParameterError(
                f"`composition={quoted(self.composition)}` needs a guarantee with a delta, and there is none; "
                "without one use `composition='basic'`"
            )
        return design_tree(leaves, privacy.epsilon, privacy.delta, composition=self.composition, **form)

    def sizes(self, oracle: TreeOracle, positives: int, negatives: int, ties: str = "half") -> Sizes:
        """The quantities on which bounds depend, for the expected number of reports on each level."""
        v, w = (max(each.most for each in trees.expected_noise(oracle, size)) for size in (positives, negatives))
        return Sizes(positives, negatives, v, w, oracle.levels, oracle.branching, self.variant, ties)

    def threshold(self, sizes: Sizes) -> float | None:
        """The pruning threshold; None if all nodes are refined.

        Raises:
            ParameterError: there are too many nodes to refine all.
        """
        a = trees.threshold_of(sizes, self.a)
        return a if trees.prunes(sizes, a, self.prune) else None

    def bound(
        self,
        positives: int,
        negatives: int,
        *,
        bins: int,
        privacy: Privacy,
        ties: str = "half",
        against: str = "sample",
    ) -> float:
        """Upper bound of the mean squared error of the AUC of the rounded scores, from public numbers.

        Args:
            positives: Records of the positive class.
            negatives: Records of the negative class.
            bins: Of the scores.
            privacy: Of every report.
            ties: "half" or "strict": what pairs in one bin count.
            against: "sample" for the AUC of these records, "population" for the AUC of the population; see
                `ogive.statistics.ustatistic.trees.error_bound`.

        Returns:
            The bound; infinite where nothing is proved, as for a near 1.

        Raises:
            ParameterError: an argument is out of range, or the options leave branching open.

        Example:
            >>> import ogive
            >>> bound = ogive.HierarchyAuc(branching=2).bound(10**6, 10**6, bins=1024, privacy=ogive.PureDP(1))
            >>> 0.09 < bound**0.5 < 0.1
            True
        """
        if self.branching is None:
            raise ParameterError("a bound needs the number of children of a node; name it, for example `branching=2`")
        oracle = self.oracle(bins, check_privacy(privacy), branching=self.branching)
        sizes = self.sizes(oracle, positives, negatives, ties)
        return trees.error_bound(sizes, self.threshold(sizes), shared=self.split == "budget", against=against)


DEFAULTS = HierarchyAuc()


@dataclass(frozen=True)
class Hierarchical(OneReport):
    """One report of every owner about one level of a tree over the scores, whose leaves are bins or pad them."""

    name: ClassVar[str] = "hierarchy"

    options: HierarchyAuc

    @property
    def tree(self) -> Any:
        return self.oracle.inner

    @cached_property
    def predicted(self) -> float:
        """Mean over the reference shapes of variance plus squared bias of rounding to leaves.

        Of discarded nodes it has the most that they may lose instead of their variance.
        """
        half = max(1, self.task.records // 2)
        sizes = self.options.sizes(self.tree, half, half, self._ties)
        threshold = self.options.threshold(sizes)
        linear, products = np.mean([self._variances(shape, half) for shape in self.task.shapes], axis=0).tolist()
        bias = 0.0 if self._points else float(np.mean([self._bias(shape) ** 2 for shape in self.task.shapes]))
        return float(bias + linear + (products if threshold is None else trees.lost_bound(sizes, threshold)))

    def _bias(self, shape: ShapeMeans) -> float:
        """How far rounding to leaves moves the area, with pairs in one leaf counted half."""
        positives, negatives = self._leaves(shape)
        wins = positives @ (np.cumsum(negatives) - negatives / 2)
        return float(wins / (positives.sum() * negatives.sum()) - shape.means[0])

    def _leaves(self, shape: ShapeMeans) -> list[Int64]:
        symbols = self.domain.symbols(shape.rows)
        return [np.bincount(symbols[shape.classes == place], minlength=self.tree.padded) for place in (1, 0)]

    def _variances(self, shape: ShapeMeans, records: int) -> tuple[float, float]:
        """Sums over nodes of squared counts of one class times variances of the other, and of products of variances."""
        tree, held = self.tree, [counts * (records / counts.sum()) for counts in self._leaves(shape)]
        linear = products = 0.0
        for level, noise in enumerate(trees.expected_noise(tree, records)):
            size = tree.branching ** (tree.levels - level - 1)
            x, y = (each.reshape(-1, tree.branching, size).sum(axis=2) for each in held)
            v, w = noise.at(x), noise.at(y)
            tied = 0.5 if level == tree.levels - 1 and self._ties == "half" else 0.0
            linear += float((_above(x, tied) ** 2 * w + _above(y[:, ::-1], tied)[:, ::-1] ** 2 * v).sum())
            products += float((_above(v, tied**2) * w).sum())
        return linear / records**4, products / records**4

    @cached_property
    def _points(self) -> bool:
        """Whether a leaf holds one value, so that pairs in it are ties; else their order is not known."""
        return not widths(self.domain.columns[0]).any()

    @property
    def _ties(self) -> str:
        [kernel] = self.task.measure.kernels
        assert isinstance(kernel, Greater)
        return kernel.ties if self._points else "half"

    def means(self, answer: Answer) -> Means:
        form: dict[str, Any] = {name: getattr(self.options, name) for name in ("a", "prune", "variant")}
        result = trees.auc(self.oracle, answer.values, ties=self._ties, **form)
        moved = result.bias_estimate + (0.0 if self._points else self._one_leaf(answer) / 2)
        classes = (result.sizes.negatives, result.sizes.positives)
        variance, sampling = np.array([[result.variance]]), np.array([[result.sampling_variance]])
        return Means(np.array([result.value]), variance, sampling, np.array([moved]), sum(classes), classes)

    def _one_leaf(self, answer: Answer) -> float:
        """Share of pairs whose scores are in one leaf, from the finest level whose noise allows it."""
        tree, size = self.tree, [int(self.tree.reports(each)) for each in answer.values]
        noise = [np.array(tree.variances(each)) for each in answer.values]
        counts = [tree.counts(each) for each in answer.values]
        share = 1.0
        for level in range(tree.levels):
            nodes = tree.branching ** (level + 1)
            deviation = math.sqrt(nodes * noise[0][level] * noise[1][level]) / (size[0] * size[1])
            if deviation > 0.05 and level:
                share /= tree.branching
                continue
            result = float(counts[0][level] @ counts[1][level]) / (size[0] * size[1])
            share = min(share, max(0.0, result) + 2 * deviation)
        return share


def _above(values: Float64, own: float) -> Float64:
    """Sums over the later children of a node, and a share of a child's own."""
    return np.asarray(values[:, ::-1].cumsum(axis=1)[:, ::-1] - (1 - own) * values)


def hierarchical(task: MeanTask, options: HierarchyAuc = DEFAULTS) -> Hierarchical:
    """The tree with the best number of children of those allowed; 1024 leaves where their number is free."""
    kernels = task.measure.kernels
    if task.classes is None or len(kernels) != 1 or not isinstance(kernels[0], Greater) or task.classes.size != 2:
        raise ParameterError("method hierarchy is for an AUC with public labels; use method krr, unary or haar")
    return best(partial(_hierarchical, task, options, branching) for branching in options.branchings)


def _hierarchical(task: MeanTask, options: HierarchyAuc, branching: int) -> Hierarchical:
    assert task.classes is not None
    bins = 1 << 10 if task.free else 1
    tree = options.oracle(task.domain(bins).size, task.terms.privacy, branching=branching)
    if tree.tallied < tree.levels:
        raise ParameterError(
            f"reports about {tree.size} bins cannot be added up in memory; take at most {branching**tree.tallied}"
        )
    return Hierarchical(task, task.reports(bins, PublicClasses(tree, task.classes.size)), bins, options)
