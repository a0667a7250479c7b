"""Areas under ROC curves within groups and across them: the estimate that can be asked, drawn and stored."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from ogive.columns import Binning, Domain, Label, LabelValue, Listed
from ogive.core.arrays import Float64
from ogive.core.checks import among
from ogive.errors import DataError, ParameterError, quoted
from ogive.noise import DiscreteGaussian, DiscreteLaplace
from ogive.noise.laws import draw_public
from ogive.privacy import Adjacency
from ogive.provenance import Provenance
from ogive.queries import Cells, CellsQuery
from ogive.statistics.base import OF_RANGE, Estimate
from ogive.statistics.confidence import TARGETS, Number, Target, check_level, difference, simulations_needed
from ogive.statistics.histogram.estimate import names_of
from ogive.statistics.plain_json import Codec, Fields, Read, check_query, finite, stored
from ogive.statistics.prediction import Errors, Metric, Prediction
from ogive.statistics.roc.area import (
    FEWEST_SIMULATIONS,
    MOST_SIMULATIONS,
    SIMULATED_VALUES,
    auc_interval,
    pairs_at_ends,
)
from ogive.statistics.roc.points import ORIENTATIONS
from ogive.statistics.sums import measured as sums
from ogive.statistics.sums.lattice import check_number_of_values, read_measured
from ogive.statistics.sums.measured import Measured
from ogive.statistics.sums.plan import NOISE
from ogive.statistics.ustatistic.means import on_simplex

MOST_GROUPS = 30
MOST_CELLS = 1 << 16
_DEVIATIONS = 3


class Area(NamedTuple):
    """An area under a ROC curve, or a difference of two, and the ends between which the true one lies.

    Fields:
        value: As released; NaN where noise may account for a whole class.
        low, high: Ends of the interval.
    """

    value: float
    low: float
    high: float


def check_groups(listed: Listed) -> None:
    """Refuse more groups than there are tables of."""
    if listed.size > MOST_GROUPS:
        raise ParameterError(f"at most {MOST_GROUPS} groups can be compared, got {listed.size}; join some of them")


def _of_column(kind: Any, *parts: str) -> Codec:
    """Of a column, whose plain data have these parts and no others."""

    def read(known: Fields, name: str, _: Read) -> Any:
        data = known.data[name]
        if not isinstance(data, dict) or set(data) != set(parts):
            raise DataError(f"the {name} of {known.what} must have {', '.join(parts)}, and nothing else")
        return kind.from_dict(data)

    return Codec(lambda column: column.to_dict(), read)


def _read_measured(known: Fields, name: str, read: Read) -> Measured:
    size = Domain((read["score"], read["group"], read["label"])).check_size(MOST_CELLS)
    measured = read_measured(known.data[name], known, size=size, forms=("cells",))
    check_number_of_values(measured, known, size)
    return measured


@dataclass(frozen=True, repr=False)
class GroupAucEstimate(Estimate):
    """Chance that a score ranks a random positive of one group above a random negative of the same or another group.

    Each interval holds by itself, for the area of the scores themselves: it counts noise, the effect of bins and, for
    the population, sampling.

    Fields:
        score: Column of the score, with its bins.
        group: Column of the group, with the declared groups.
        label: Column of the class.
        measured: The noisy integers that came back, in the order of bin, group and class, which may be negative.
        positive_when: "high" or "low" scores.
        confidence_level: Of intervals where no other is asked for.
        provenance: What was released, at what price and under whose trust.

    Raises:
        ParameterError: a field is out of range.
    """

    schema: ClassVar[str] = "ogive.group_auc/1"
    article: ClassVar[str] = "areas between groups"
    indent: ClassVar[int | None] = 1
    file_order: ClassVar[tuple[str, ...]] = ("score", "group", "label", "positive_when")

    score: Binning = stored(_of_column(Binning, "column", "grid", "missing", "outside"))
    group: Listed = stored(_of_column(Listed, "column", "values", "other", "missing"))
    label: Label = stored(Codec(lambda label: label.to_dict(), lambda known, name, _: known.label()))
    measured: Measured = stored(Codec(sums.to_dict, _read_measured))
    _: KW_ONLY
    positive_when: str
    confidence_level: float
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        among(self.positive_when, "positive_when", ORIENTATIONS)
        check_groups(self.group)

    @property
    def adjacency(self) -> Adjacency:
        """Which data sets are adjacent."""
        return self.measured.adjacency

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the groups: the declared values, then "other" and "missing" where these are counted."""
        return names_of(self.group.values, self.group.other, self.group.missing)

    @cached_property
    def counts(self) -> Float64:
        """Noisy counts as they were measured, unbiased, perhaps negative: shape (bins, groups, 2), negatives first."""
        values = np.array(self.measured.values, dtype=np.float64) * 2.0**-self.measured.bits
        counts = values.reshape(self.score.grid.bins, self.group.size, 2)
        counts.flags.writeable = False
        return counts

    @property
    def sizes(self) -> tuple[tuple[float, float], ...]:
        """Numbers of negatives and positives of each group, noisy, at least 0."""
        return tuple((max(0.0, float(few)), max(0.0, float(many))) for few, many in self.counts.sum(axis=0))

    def results(self) -> dict[str, Any]:
        """Sizes of the groups, and all areas."""
        return {
            "groups": list(self.names),
            "sizes": [list(each) for each in self.sizes],
            "areas": [
                [{"value": finite(each.value), "low": each.low, "high": each.high} for each in row]
                for row in self.table()
            ],
        }

    def check_stored(self, known: Fields) -> None:
        """Refuse a price below that of the noise."""
        check_query(self.provenance, self.query, self.measured.adjacency)

    # Areas

    @cached_property
    def auc(self) -> Float64:
        """Areas of positives of a group (rows) against negatives of a group (columns), shape (groups, groups).

        The diagonal is the AUC within each group. NaN where noise may account for a whole class.
        """
        return np.array([[area.value for area in row] for row in self.table(confidence_level=None)])

    def table(
        self, *, confidence_level: float | None = None, target: Target = "population"
    ) -> tuple[tuple[Area, ...], ...]:
        """Compute the area of every pair of groups with its interval: positives are rows, negatives are columns.

        Args:
            confidence_level: Of each interval alone, above 0 and at most 0.9999; by default that of the statistic.
            target: "population" (from which the records were drawn) or "sample" (the records themselves).

        Raises:
            ParameterError: an argument is out of range.

        Privacy:
            Post-processing.
        """
        places = range(len(self.names))
        result = self._areas(confidence_level, target)
        return tuple(tuple(result((g,), (h,)) for h in places) for g in places)

    def between(
        self,
        positives: LabelValue,
        negatives: LabelValue,
        *,
        confidence_level: float | None = None,
        target: Target = "population",
    ) -> Area:
        """Compute the area of the positives of one group against the negatives of another, or of the same.

        Args:
            positives: A group, by its value or its name.
            negatives: A group.
            confidence_level: As of `table`.
            target: As of `table`.

        Raises:
            ParameterError: there is no such group, or an argument is out of range.
        """
        result = self._areas(confidence_level, target)
        return result((self._place(positives),), (self._place(negatives),))

    def bpsn(self, group: LabelValue, *, confidence_level: float | None = None, target: Target = "population") -> Area:
        """Compute the area of all other groups' positives against this group's negatives (BPSN AUC).

        A low area says that the score is too high for this group's negatives: they are called positive too often.

        Args:
            group: A group, by its value or its name.
            confidence_level: As of `table`.
            target: As of `table`.

        Raises:
            ParameterError: there is no such group, or an argument is out of range.

        Source:
            Borkan, Dixon, Sorensen, Thain and Vasserman 2019, Nuanced metrics for measuring unintended bias.
        """
        place = self._place(group)
        return self._areas(confidence_level, target)(self._others(place), (place,))

    def bnsp(self, group: LabelValue, *, confidence_level: float | None = None, target: Target = "population") -> Area:
        """Compute the area of this group's positives against all other groups' negatives (BNSP AUC).

        A low area says that the score is too low for this group's positives: they are missed too often.

        Args:
            group: A group, by its value or its name.
            confidence_level: As of `table`.
            target: As of `table`.

        Raises:
            ParameterError: there is no such group, or an argument is out of range.

        Source:
            Borkan, Dixon, Sorensen, Thain and Vasserman 2019.
        """
        place = self._place(group)
        return self._areas(confidence_level, target)((place,), self._others(place))

    # Differences

    def difference(
        self,
        group: LabelValue,
        other: LabelValue,
        *,
        confidence_level: float | None = None,
        target: Target = "population",
    ) -> Area:
        """Compute the AUC within one group minus that within another, which have no record in common.

        Args:
            group: A group, by its value or its name.
            other: Another group.
            confidence_level: As of `table`.
            target: As of `table`.

        Raises:
            ParameterError: there is no such group, they are one, or an argument is out of range.
        """
        g, h = self._two(group, other)
        return self._difference(((g,), (g,)), ((h,), (h,)), confidence_level, target)

    def cross_difference(
        self,
        group: LabelValue,
        other: LabelValue,
        *,
        confidence_level: float | None = None,
        target: Target = "population",
    ) -> Area:
        """Compute how much better positives of one group fare against negatives of another than the other way round.

        It is the area of the first group's positives against the second's negatives, minus that of the second's
        positives against the first's negatives, which have no record in common. Above 0 the score favors the first.

        Args:
            group: A group, by its value or its name.
            other: Another group.
            confidence_level: As of `table`.
            target: As of `table`.

        Raises:
            ParameterError: there is no such group, they are one, or an argument is out of range.

        Source:
            Kallus and Zhou 2019, The fairness of risk scores beyond classification: xAUC disparity.
        """
        g, h = self._two(group, other)
        return self._difference(((g,), (h,)), ((h,), (g,)), confidence_level, target)

    def _difference(
        self,
        one: tuple[tuple[int, ...], tuple[int, ...]],
        other: tuple[tuple[int, ...], tuple[int, ...]],
        confidence_level: float | None,
        target: Target,
    ) -> Area:
        level = self.confidence_level if confidence_level is None else confidence_level
        result = self._areas(confidence_level, target)
        first, second = (Number("AUC", *result(*places)) for places in (one, other))
        value, _, low, high = difference(first, second, level)
        if self.rows_of_one > 1 and target == "population":
            # a person may have records in both, so that errors by sampling may add up
            low, high = first.low - second.high, first.high - second.low
        return Area(value, max(-1.0, low), min(1.0, high))

    # What they are computed from

    def _place(self, group: LabelValue) -> int:
        """Which group is meant; a counted rest is called other or missing."""
        if group in self.group.values:
            return self.group.values.index(group)
        if group in self.names:
            return self.names.index(str(group))
        listed = ", ".join(self.names)
        raise ParameterError(f"column {quoted(self.group.column)} has no group {quoted(group)}; there are {listed}")

    def _two(self, group: LabelValue, other: LabelValue) -> tuple[int, int]:
        g, h = self._place(group), self._place(other)
        if g == h:
            raise ParameterError(f"name two groups to compare, got {quoted(group)} twice")
        return g, h

    def _others(self, place: int) -> tuple[int, ...]:
        return tuple(each for each in range(len(self.names)) if each != place)

    def classes_of(self, positives: Sequence[int], negatives: Sequence[int]) -> Classes:
        """The positives of some groups and the negatives of some groups, by their places."""
        sides = [self.counts[:, list(places), k].sum(axis=1) for k, places in enumerate((negatives, positives))]
        return Classes(
            np.stack(sides),
            (len(negatives), len(positives)),
            self.measured.law,
            2.0**-self.measured.bits,
            self.positive_when,
            self.rows_of_one,
        )

    @staticmethod
    def _seen(classes: Classes) -> bool:
        """Whether noise alone is unlikely to have made either class: its size is above 3 standard deviations."""
        return bool(np.all(classes.sizes > np.maximum(_DEVIATIONS * classes.size_errors, 0.5)))

    @cached_property
    def _area(self) -> Callable[[tuple[int, ...], tuple[int, ...], float, Target], Area]:
        @functools.cache
        def area(positives: tuple[int, ...], negatives: tuple[int, ...], level: float, target: Target) -> Area:
            classes = self.classes_of(positives, negatives)
            if not self._seen(classes):
                return Area(math.nan, 0.0, 1.0)
            return Area(classes.area, *classes.interval(1 - check_level(level), target))

        return area

    def _areas(
        self, confidence_level: float | None, target: Target
    ) -> Callable[[tuple[int, ...], tuple[int, ...]], Area]:
        level = self.confidence_level if confidence_level is None else float(check_level(confidence_level))
        among(target, "target", TARGETS)
        return lambda positives, negatives: self._area(positives, negatives, level, target)

    @property
    def defined(self) -> bool:
        """Whether any area is: both classes of it have records, as far as the noise lets one see."""
        return bool(np.isfinite(self.auc).any())

    @property
    def tie_bound(self) -> float:
        """Largest effect of the bins on an AUC within a group, as far as noisy counts tell; NaN where none is defined.

        Intervals include it.
        """
        results = []
        for place in range(len(self.names)):
            classes = self.classes_of((place,), (place,))
            if self._seen(classes):
                shares = np.diff(classes.plausible, axis=1, prepend=0.0) / classes.plausible[:, -1:]
                results.append(float(np.sum(shares[0] * shares[1]) / 2))
        return max(results, default=math.nan)

    @property
    def noise_beside(self) -> str:
        """What the area may be."""
        return OF_RANGE

    def noise_share(self) -> float:
        """Standard deviation of the noise of the AUC that has the least; infinite where noise hides all of them."""
        places = range(len(self.names))
        pairs = ([(one, one) for one in places], itertools.permutations(places, 2))
        for some in pairs:  # between groups where no group has both classes
            seen = [each for each in (self.classes_of((p,), (n,)) for p, n in some) if self._seen(each)]
            if seen:
                return min(each.noise_error() for each in seen)
        return math.inf

    def errors(self, truth: GroupAucEstimate) -> dict[str, float]:
        """The largest distance of an area from the exact one; of areas that are defined in both.

        Raises:
            ParameterError: the truth is of other columns or groups.
        """
        if truth.domain != self.domain:
            raise ParameterError(f"the truth for {self.score.column} must be of the same bins, groups and classes")
        far = np.abs(self.auc - truth.auc)
        return {"auc": float(np.nanmax(far)) if np.isfinite(far).any() else math.nan}

    @property
    def domain(self) -> Domain:
        """Every combination of bin, group and class."""
        return Domain((self.score, self.group, self.label))

    @property
    def query(self) -> CellsQuery | None:
        """The query with the noise of its answer; None where there was none."""
        if self.measured.law is None:
            return None
        return CellsQuery(Cells(self.domain), self.measured.law, self.measured.bits)


# --- How areas between groups are planned: by the law of the noise, for records that are spread evenly


class GroupAucPrediction(Prediction):
    """Noise of a count, and of the AUC within a group of average size; with records given, the largest error too."""

    deciding = ("noise_auc",)
    metrics: ClassVar[Mapping[str, Metric]] = {
        "noise_auc": Metric(
            "noise of an AUC",
            "standard deviation by noise of the AUC within a group, where groups, classes and bins have equally many "
            "records; larger in groups that are smaller",
        ),
        NOISE: Metric("noise of a count", "standard deviation of the noise of a count, in records"),
        "auc": Metric("AUC", "largest difference of a private and the exact area of a pair of groups, simulated"),
    }

    decided = True

    def errors(self) -> Errors:
        """Of the noise alone, which does not depend on the records, and of an even spread of them."""
        estimate = cast(GroupAucEstimate, self.rehearsal.estimate)
        law, unit = estimate.measured.law, 2.0**-estimate.measured.bits
        assert law is not None, "plans are of releases with noise"
        even = self.setting.records / estimate.counts.size
        classes = Classes(np.full((2, estimate.score.grid.bins), even), (1, 1), law, unit, estimate.positive_when)
        return Errors({"noise_auc": classes.noise_error(), NOISE: unit * math.sqrt(float(law.variance))})


# --- The area between the positives of some groups and the negatives of some groups, with its interval
#
# Noisy counts of every bin are unbiased, and those of different cells are independent. A class of some groups is a sum
# of cells, and the number of pairs that the score ranks rightly is bilinear in the cumulative counts of the two
# classes. So the interval is that of `roc.interval`: the noise of both classes is simulated, scores in one bin may be
# ranked in any way, and sampling is counted for the population.
#
# Source: docs/proofs/central_pairs.md, "Areas between groups".

_SEED = 0x67726F7570  # public and fixed


@dataclass(frozen=True, eq=False)
class SimulatedPairs:
    """Errors of simulated releases, shape (simulations,) unless stated otherwise.

    Fields:
        last: The larger error of the two class sizes, without sign.
        pairs: Errors of the numbers of pairs in order with ties ranked wrongly and rightly, shape (2, simulations).
    """

    last: Float64
    pairs: Float64
    products: Float64


@dataclass(frozen=True, eq=False)
class Classes:
    """The counts of two classes with their noise.

    Fields:
        counts: Noisy counts of negatives and positives in every bin, shape (2, N).
        draws: How many draws of the law are in each count, of negatives and of positives.
        law: Of the noise; None where there is none.
        unit: What one of the law's integers stands for, in records.
        positive_when: "high" or "low".
        rows_of_one: Most records of one person, which may all be alike.
    """

    counts: Float64
    draws: tuple[int, int]
    law: DiscreteLaplace | DiscreteGaussian | None
    unit: float
    positive_when: str
    rows_of_one: int = 1

    @property
    def raw(self) -> Float64:
        """Cumulative counts, shape (2, N)."""
        curves: Float64 = np.cumsum(self.counts, axis=1)
        return curves

    @property
    def sizes(self) -> Float64:
        """Noisy numbers of negatives and positives."""
        sizes: Float64 = self.counts.sum(axis=1)
        return sizes

    @property
    def size_errors(self) -> Float64:
        """Standard deviation of the noise in both sizes."""
        if self.law is None:
            return np.zeros(2)
        one = self.unit * np.sqrt(float(self.law.variance) * self.counts.shape[1])
        errors: Float64 = one * np.sqrt(np.array(self.draws, dtype=np.float64))
        return errors

    @property
    def area(self) -> float:
        """Share of the pairs that the score ranks rightly, ties one half, moved into [0, 1]."""
        ranked = self._pairs_of(self.raw).mean()
        return float(np.clip(ranked / np.prod(self.sizes), 0.0, 1.0))

    @property
    def plausible(self) -> Float64:
        """Cumulative counts that stand in for the true ones, shape (2, N): none falls."""
        sizes = np.maximum(self.sizes, 1.0)
        shares = [on_simplex(counts / size, len(counts)) for counts, size in zip(self.counts, sizes, strict=True)]
        curves: Float64 = np.cumsum(shares, axis=1) * sizes[:, None]
        return curves

    def noise_error(self) -> float:
        """Standard deviation of the area by noise."""
        result = self._simulated(FEWEST_SIMULATIONS)
        if result is None:
            return 0.0
        errors = result.pairs.mean(axis=0) - self.area * result.products
        return float(np.sqrt(np.mean(errors**2)) / np.prod(self.sizes))

    def interval(self, tail: Fraction, target: str) -> tuple[float, float]:
        """Ends for the area of the exact scores."""
        nodes = self.counts.shape[1] * sum(self.draws)
        usual = min(MOST_SIMULATIONS, max(FEWEST_SIMULATIONS, SIMULATED_VALUES // nodes))
        simulations = simulations_needed(1 - tail, share=Fraction(1, 2), nodes=nodes, usual=usual)
        return auc_interval(
            self.area,
            self.raw,
            self.plausible,
            self._simulated(simulations),
            positive_when=self.positive_when,
            tail=tail,
            target=target,
            simulations=simulations,
            rows_of_one=self.rows_of_one,
        )

    def _pairs_of(self, curves: Float64) -> Float64:
        """Pairs ranked rightly with ties ranked wrongly and rightly, of cumulative counts of shape (2, ..., N)."""
        return pairs_at_ends(curves[0], curves[1], self.positive_when)

    def _simulated(self, simulations: int) -> SimulatedPairs | None:
        if self.law is None:
            return None
        random = np.random.Generator(np.random.PCG64(_SEED))
        curves, bins = self.plausible, self.counts.shape[1]
        errors = np.zeros((2, simulations, bins))
        for side, draws in enumerate(self.draws):
            for _ in range(draws):
                errors[side] += self.unit * draw_public(self.law, (simulations, bins), random)
        errors = np.cumsum(errors, axis=-1)
        last = np.abs(errors[:, :, -1]).max(axis=0)
        errors += curves[:, None, :]
        return SimulatedPairs(
            last,
            self._pairs_of(errors) - self._pairs_of(curves)[:, None],
            errors[0, :, -1] * errors[1, :, -1] - curves[0, -1] * curves[1, -1],
        )
