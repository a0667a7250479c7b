# Written by tools/front_door.py.

from abc import ABC
from abc import abstractmethod
from collections.abc import Mapping
from collections.abc import Sequence
from ogive.columns import LabelValue
from ogive.columns import LabelValues
from ogive.columns import ListingPolicy
from ogive.columns import MembershipPolicy
from ogive.columns import Missing
from ogive.columns import OutsidePolicy
from ogive.columns.grids import Bound
from ogive.columns.grids import Grid
from ogive.columns.grids import GridName
from ogive.local.values import Rounding
from ogive.noise.base import RandomSource
from ogive.privacy import Privacy
from ogive.privacy import Rational
from ogive.queries.sums import FormName
from ogive.statistics.base import EstimateT
from ogive.statistics.base import Statistic
from ogive.statistics.base import Where
from ogive.statistics.bounds.estimate import BoundsEstimate
from ogive.statistics.boxplot.estimate import Boxplots
from ogive.statistics.boxplot.statistic import BoxMethod
from ogive.statistics.boxplot.statistic import CurveChoice
from ogive.statistics.boxplot.statistic import Quartiles
from ogive.statistics.calibration.estimate import Calibration
from ogive.statistics.calibration.statistic import Fitted
from ogive.statistics.calibration.sums import Constants
from ogive.statistics.concordance.estimate import ConcordanceEstimate
from ogive.statistics.crosstab.estimate import CrosstabEstimate
from ogive.statistics.crosstab.statistic import ListingPolicies
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.statistic import BoundsByColumn
from ogive.statistics.describe.statistic import Policies
from ogive.statistics.describe.statistic import ValuesByColumn
from ogive.statistics.describe.statistic import WeightsByColumn
from ogive.statistics.describe.variables import Search
from ogive.statistics.ecdf.statistic import Counted
from ogive.statistics.group_auc.estimate import GroupAucEstimate
from ogive.statistics.groups.estimate import GroupEstimates
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.methods.choose import Method
from ogive.statistics.methods.choose import UnbiasedName
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.quantiles.selection import Few
from ogive.statistics.quantiles.statistic import QuantileMethod
from ogive.statistics.roc.designs import BudgetName
from ogive.statistics.roc.estimate import RocEstimate
from ogive.statistics.roc.points import Orientation
from ogive.statistics.roc.statistic import UnbiasedChoice
from ogive.statistics.sums.estimate import CountEstimate
from ogive.statistics.sums.estimate import MeanEstimate
from ogive.statistics.sums.estimate import ProportionEstimate
from ogive.statistics.sums.estimate import SumEstimate
from ogive.statistics.sums.statistic import CountMissing
from ogive.statistics.survival.estimate import SurvivalEstimate
from ogive.statistics.survival.statistic import MethodName
from ogive.statistics.ustatistic.estimate import UstatisticEstimate
from ogive.statistics.ustatistic.statistic import BinsOfEach
from ogive.statistics.ustatistic.statistic import BoundsOfEach
from ogive.statistics.ustatistic.statistic import ByHand
from ogive.statistics.ustatistic.statistic import CategoriesOfEach
from ogive.statistics.ustatistic.statistic import GridOfEach
from ogive.statistics.ustatistic.statistic import Reading
from ogive.statistics.ustatistic.statistic import UstatisticMethod
from ogive.statistics.validation.estimate import ValidationEstimate
from ogive.strategies.smoothing import Smooth
from typing import Any
from typing import Literal
from typing import overload

class Verbs(ABC):
    @abstractmethod
    def release(
        self,
        statistic: Statistic[EstimateT],
        *,
        privacy: Privacy | None = None,
        batch: str | None = None,
        source: RandomSource | None = None,
    ) -> EstimateT: ...
    @abstractmethod
    def _named(self, **named: Any) -> tuple[str, ...]: ...
    def boxplot(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        bounds: tuple[Bound, Bound] | None = ...,
        by: str | None = ...,
        groups: tuple[LabelValue, ...] | None = ...,
        bins: int = ...,
        grid: Grid | GridName = ...,
        method: BoxMethod = ...,
        curve: CurveChoice = ...,
        public_groups: bool | None = ...,
        shares: tuple[Rational, ...] = ...,
        beyond: int = ...,
        missing: Missing = ...,
        expected_records: int | None = ...,
        quartiles: Quartiles = ...,
    ) -> Boxplots: ...
    @overload
    def concordance(
        self,
        score: str | None = None,
        time: str | None = None,
        event: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: None = None,
        groups: None = None,
        bounds: tuple[Bound, Bound] | None = ...,
        bins: int = ...,
        grid: Grid | GridName = ...,
        score_bounds: tuple[Bound, Bound] | None = ...,
        score_bins: int = ...,
        score_grid: Grid | GridName = ...,
        predicts: float | None = ...,
        ties: Literal['auto', 'half', 'omit'] = ...,
        observed: tuple[LabelValue, ...] = ...,
        censored: tuple[LabelValue, ...] = ...,
        method: UnbiasedName = ...,
        missing: Literal['refuse', 'drop'] = ...,
        confidence_level: float = ...,
        other: str | None = ...,
    ) -> ConcordanceEstimate: ...
    @overload
    def concordance(
        self,
        score: str | None = None,
        time: str | None = None,
        event: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: str,
        groups: Sequence[LabelValue] | None = None,
        bounds: tuple[Bound, Bound] | None = ...,
        bins: int = ...,
        grid: Grid | GridName = ...,
        score_bounds: tuple[Bound, Bound] | None = ...,
        score_bins: int = ...,
        score_grid: Grid | GridName = ...,
        predicts: float | None = ...,
        ties: Literal['auto', 'half', 'omit'] = ...,
        observed: tuple[LabelValue, ...] = ...,
        censored: tuple[LabelValue, ...] = ...,
        method: UnbiasedName = ...,
        missing: Literal['refuse', 'drop'] = ...,
        confidence_level: float = ...,
        other: str | None = ...,
    ) -> GroupEstimates[ConcordanceEstimate]: ...
    @overload
    def count(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: None = None,
        groups: None = None,
        among: LabelValue | tuple[LabelValue, ...] | None = ...,
        missing: CountMissing = ...,
        confidence_level: float = ...,
    ) -> CountEstimate: ...
    @overload
    def count(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: str,
        groups: Sequence[LabelValue] | None = None,
        among: LabelValue | tuple[LabelValue, ...] | None = ...,
        missing: CountMissing = ...,
        confidence_level: float = ...,
    ) -> GroupEstimates[CountEstimate]: ...
    @overload
    def crosstab(
        self,
        row: str | None = None,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: None = None,
        groups: None = None,
        rows: LabelValues | None = ...,
        columns: LabelValues | None = ...,
        other: ListingPolicy = ...,
        missing: ListingPolicies = ...,
        confidence_level: float = ...,
    ) -> CrosstabEstimate: ...
    @overload
    def crosstab(
        self,
        row: str | None = None,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: str,
        groups: Sequence[LabelValue] | None = None,
        rows: LabelValues | None = ...,
        columns: LabelValues | None = ...,
        other: ListingPolicy = ...,
        missing: ListingPolicies = ...,
        confidence_level: float = ...,
    ) -> GroupEstimates[CrosstabEstimate]: ...
    def describe(
        self,
        columns: tuple[str, ...] = ...,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        guessed: tuple[str, ...] = ...,
        left_out: Mapping[str, str] | None = ...,
        bounds: BoundsByColumn | None = ...,
        values: ValuesByColumn | None = ...,
        numbers: tuple[str, ...] = ...,
        by: str | None = ...,
        groups: tuple[LabelValue, ...] | None = ...,
        missing: Policies = ...,
        weights: WeightsByColumn | None = ...,
        public_groups: bool | None = ...,
        confidence_level: float = ...,
        count_missing: bool = ...,
        search: Search = ...,
    ) -> DescribeEstimate: ...
    @overload
    def ecdf(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: None = None,
        groups: None = None,
        batch: str | None = ...,
        bounds: tuple[Bound, Bound] | None = ...,
        bins: int = ...,
        grid: Grid | GridName = ...,
        method: Method = ...,
        smooth: Smooth = ...,
        missing: Missing = ...,
        expected_records: int | None = ...,
        counted: Counted = ...,
    ) -> Curve: ...
    @overload
    def ecdf(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: str,
        groups: Sequence[LabelValue] | None = None,
        batch: str | None = ...,
        bounds: tuple[Bound, Bound] | None = ...,
        bins: int = ...,
        grid: Grid | GridName = ...,
        method: Method = ...,
        smooth: Smooth = ...,
        missing: Missing = ...,
        expected_records: int | None = ...,
        counted: Counted = ...,
    ) -> GroupEstimates[Curve]: ...
    @overload
    def find_bounds(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: None = None,
        groups: None = None,
        base: float = ...,
        smallest: float = ...,
        largest: float = ...,
        false_alarm: float = ...,
        confidence_level: float = ...,
        missing: Missing = ...,
        beside: float | None = ...,
    ) -> BoundsEstimate: ...
    @overload
    def find_bounds(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: str,
        groups: Sequence[LabelValue] | None = None,
        base: float = ...,
        smallest: float = ...,
        largest: float = ...,
        false_alarm: float = ...,
        confidence_level: float = ...,
        missing: Missing = ...,
        beside: float | None = ...,
    ) -> GroupEstimates[BoundsEstimate]: ...
    @overload
    def group_auc(
        self,
        score: str | None = None,
        label: str | None = None,
        group: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: None = None,
        groups: None = None,
        bounds: tuple[Bound, Bound] | None = ...,
        bins: int = ...,
        grid: Grid | GridName = ...,
        group_values: LabelValues | None = ...,
        positive: LabelValue | tuple[LabelValue, ...] = ...,
        negative: LabelValue | tuple[LabelValue, ...] | None = ...,
        positive_when: Orientation = ...,
        other: ListingPolicy = ...,
        missing_group: ListingPolicy = ...,
        missing: Missing = ...,
        outside: OutsidePolicy = ...,
        confidence_level: float = ...,
    ) -> GroupAucEstimate: ...
    @overload
    def group_auc(
        self,
        score: str | None = None,
        label: str | None = None,
        group: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: str,
        groups: Sequence[LabelValue] | None = None,
        bounds: tuple[Bound, Bound] | None = ...,
        bins: int = ...,
        grid: Grid | GridName = ...,
        group_values: LabelValues | None = ...,
        positive: LabelValue | tuple[LabelValue, ...] = ...,
        negative: LabelValue | tuple[LabelValue, ...] | None = ...,
        positive_when: Orientation = ...,
        other: ListingPolicy = ...,
        missing_group: ListingPolicy = ...,
        missing: Missing = ...,
        outside: OutsidePolicy = ...,
        confidence_level: float = ...,
    ) -> GroupEstimates[GroupAucEstimate]: ...
    @overload
    def histogram(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: None = None,
        groups: None = None,
        values: LabelValues | None = ...,
        other: ListingPolicy = ...,
        missing: ListingPolicy = ...,
        confidence_level: float = ...,
    ) -> HistogramEstimate: ...
    @overload
    def histogram(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: str,
        groups: Sequence[LabelValue] | None = None,
        values: LabelValues | None = ...,
        other: ListingPolicy = ...,
        missing: ListingPolicy = ...,
        confidence_level: float = ...,
    ) -> GroupEstimates[HistogramEstimate]: ...
    @overload
    def hosmer_lemeshow(
        self,
        probability: str | None = None,
        label: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: None = None,
        by_groups: None = None,
        groups: int = ...,
        positive: LabelValue | tuple[LabelValue, ...] = ...,
        negative: LabelValue | tuple[LabelValue, ...] | None = ...,
        bins: int = ...,
        method: UnbiasedName = ...,
        split: Rational | None = ...,
        form: FormName = ...,
        constants: Constants = ...,
        bits: int = ...,
        floor: float = ...,
        df: int | Fitted | None = ...,
        missing: Missing = ...,
        confidence_level: float = ...,
    ) -> Calibration: ...
    @overload
    def hosmer_lemeshow(
        self,
        probability: str | None = None,
        label: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: str,
        by_groups: Sequence[LabelValue] | None = None,
        groups: int = ...,
        positive: LabelValue | tuple[LabelValue, ...] = ...,
        negative: LabelValue | tuple[LabelValue, ...] | None = ...,
        bins: int = ...,
        method: UnbiasedName = ...,
        split: Rational | None = ...,
        form: FormName = ...,
        constants: Constants = ...,
        bits: int = ...,
        floor: float = ...,
        df: int | Fitted | None = ...,
        missing: Missing = ...,
        confidence_level: float = ...,
    ) -> GroupEstimates[Calibration]: ...
    @overload
    def mean(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: None = None,
        groups: None = None,
        bounds: tuple[Bound, Bound] | None = ...,
        step: Rational | None = ...,
        missing: Missing = ...,
        confidence_level: float = ...,
    ) -> MeanEstimate: ...
    @overload
    def mean(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: str,
        groups: Sequence[LabelValue] | None = None,
        bounds: tuple[Bound, Bound] | None = ...,
        step: Rational | None = ...,
        missing: Missing = ...,
        confidence_level: float = ...,
    ) -> GroupEstimates[MeanEstimate]: ...
    @overload
    def proportion(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: None = None,
        groups: None = None,
        positive: LabelValue | tuple[LabelValue, ...] = ...,
        missing: MembershipPolicy = ...,
        confidence_level: float = ...,
        negative: LabelValue | tuple[LabelValue, ...] | None = ...,
    ) -> ProportionEstimate: ...
    @overload
    def proportion(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: str,
        groups: Sequence[LabelValue] | None = None,
        positive: LabelValue | tuple[LabelValue, ...] = ...,
        missing: MembershipPolicy = ...,
        confidence_level: float = ...,
        negative: LabelValue | tuple[LabelValue, ...] | None = ...,
    ) -> GroupEstimates[ProportionEstimate]: ...
    @overload
    def quantiles(
        self,
        column: str | None = None,
        probabilities: Sequence[float] = ...,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: None = None,
        groups: None = None,
        bounds: tuple[Bound, Bound] | None = ...,
        bins: int = ...,
        grid: Grid | GridName = ...,
        method: QuantileMethod = ...,
        missing: Missing = ...,
        confidence_level: float = ...,
        expected_records: int | None = ...,
        interval_share: Rational = ...,
        few: Few = ...,
    ) -> QuantileEstimates: ...
    @overload
    def quantiles(
        self,
        column: str | None = None,
        probabilities: Sequence[float] = ...,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: str,
        groups: Sequence[LabelValue] | None = None,
        bounds: tuple[Bound, Bound] | None = ...,
        bins: int = ...,
        grid: Grid | GridName = ...,
        method: QuantileMethod = ...,
        missing: Missing = ...,
        confidence_level: float = ...,
        expected_records: int | None = ...,
        interval_share: Rational = ...,
        few: Few = ...,
    ) -> GroupEstimates[QuantileEstimates]: ...
    @overload
    def roc(
        self,
        score: str | None = None,
        label: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: None = None,
        groups: None = None,
        bounds: tuple[Bound, Bound] | None = ...,
        bins: int = ...,
        grid: Grid | GridName = ...,
        positive: LabelValue | tuple[LabelValue, ...] = ...,
        negative: LabelValue | tuple[LabelValue, ...] | None = ...,
        positive_when: Orientation = ...,
        public_labels: bool | None = ...,
        budget: BudgetName = ...,
        method: UnbiasedChoice = ...,
        smooth: Smooth = ...,
        missing: Missing = ...,
        outside: OutsidePolicy = ...,
        confidence_level: float = ...,
    ) -> RocEstimate: ...
    @overload
    def roc(
        self,
        score: str | None = None,
        label: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: str,
        groups: Sequence[LabelValue] | None = None,
        bounds: tuple[Bound, Bound] | None = ...,
        bins: int = ...,
        grid: Grid | GridName = ...,
        positive: LabelValue | tuple[LabelValue, ...] = ...,
        negative: LabelValue | tuple[LabelValue, ...] | None = ...,
        positive_when: Orientation = ...,
        public_labels: bool | None = ...,
        budget: BudgetName = ...,
        method: UnbiasedChoice = ...,
        smooth: Smooth = ...,
        missing: Missing = ...,
        outside: OutsidePolicy = ...,
        confidence_level: float = ...,
    ) -> GroupEstimates[RocEstimate]: ...
    @overload
    def sum(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: None = None,
        groups: None = None,
        bounds: tuple[Bound, Bound] | None = ...,
        step: Rational | None = ...,
        missing: Missing = ...,
        confidence_level: float = ...,
    ) -> SumEstimate: ...
    @overload
    def sum(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: str,
        groups: Sequence[LabelValue] | None = None,
        bounds: tuple[Bound, Bound] | None = ...,
        step: Rational | None = ...,
        missing: Missing = ...,
        confidence_level: float = ...,
    ) -> GroupEstimates[SumEstimate]: ...
    @overload
    def survival(
        self,
        time: str | None = None,
        event: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: None = None,
        groups: None = None,
        bounds: tuple[Bound, Bound] | None = ...,
        bins: int = ...,
        grid: Grid | GridName = ...,
        causes: tuple[LabelValue, ...] = ...,
        censored: LabelValue = ...,
        method: MethodName = ...,
        missing: Missing = ...,
        confidence_level: float = ...,
        entry: str | None = ...,
    ) -> SurvivalEstimate: ...
    @overload
    def survival(
        self,
        time: str | None = None,
        event: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: str,
        groups: Sequence[LabelValue] | None = None,
        bounds: tuple[Bound, Bound] | None = ...,
        bins: int = ...,
        grid: Grid | GridName = ...,
        causes: tuple[LabelValue, ...] = ...,
        censored: LabelValue = ...,
        method: MethodName = ...,
        missing: Missing = ...,
        confidence_level: float = ...,
        entry: str | None = ...,
    ) -> GroupEstimates[SurvivalEstimate]: ...
    @overload
    def ustatistic(
        self,
        columns: str | tuple[str, ...] | None = None,
        kernel: Any = ...,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: None = None,
        groups: None = None,
        bounds: BoundsOfEach = ...,
        bins: BinsOfEach = ...,
        grid: GridOfEach = ...,
        categories: CategoriesOfEach = ...,
        positive: LabelValue | tuple[LabelValue, ...] = ...,
        negative: LabelValue | tuple[LabelValue, ...] | None = ...,
        public_labels: bool | None = ...,
        method: UstatisticMethod | ByHand = ...,
        matrix: Reading = ...,
        rounding: Rounding = ...,
        missing: Missing = ...,
        outside: OutsidePolicy = ...,
        confidence_level: float = ...,
        expected_records: int | None = ...,
    ) -> UstatisticEstimate: ...
    @overload
    def ustatistic(
        self,
        columns: str | tuple[str, ...] | None = None,
        kernel: Any = ...,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: str,
        groups: Sequence[LabelValue] | None = None,
        bounds: BoundsOfEach = ...,
        bins: BinsOfEach = ...,
        grid: GridOfEach = ...,
        categories: CategoriesOfEach = ...,
        positive: LabelValue | tuple[LabelValue, ...] = ...,
        negative: LabelValue | tuple[LabelValue, ...] | None = ...,
        public_labels: bool | None = ...,
        method: UstatisticMethod | ByHand = ...,
        matrix: Reading = ...,
        rounding: Rounding = ...,
        missing: Missing = ...,
        outside: OutsidePolicy = ...,
        confidence_level: float = ...,
        expected_records: int | None = ...,
    ) -> GroupEstimates[UstatisticEstimate]: ...
    @overload
    def validation(
        self,
        score: str | None = None,
        label: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: None = None,
        groups: None = None,
        other: str | None = ...,
        bins: int = ...,
        positive: LabelValue | tuple[LabelValue, ...] = ...,
        negative: LabelValue | tuple[LabelValue, ...] | None = ...,
        method: UnbiasedName = ...,
        missing: Missing = ...,
        outside: OutsidePolicy = ...,
        confidence_level: float = ...,
    ) -> ValidationEstimate: ...
    @overload
    def validation(
        self,
        score: str | None = None,
        label: str | None = None,
        *,
        privacy: Privacy | None = ...,
        source: RandomSource | None = ...,
        where: Where | None = ...,
        by: str,
        groups: Sequence[LabelValue] | None = None,
        other: str | None = ...,
        bins: int = ...,
        positive: LabelValue | tuple[LabelValue, ...] = ...,
        negative: LabelValue | tuple[LabelValue, ...] | None = ...,
        method: UnbiasedName = ...,
        missing: Missing = ...,
        outside: OutsidePolicy = ...,
        confidence_level: float = ...,
    ) -> GroupEstimates[ValidationEstimate]: ...
