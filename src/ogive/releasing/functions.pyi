# Written by tools/front_door.py.

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
from ogive.privacy import Adjacency
from ogive.privacy import Privacy
from ogive.privacy import Rational
from ogive.queries.sums import FormName
from ogive.records.missing_words import NaValues
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
from ogive.trust import TrustOf
from typing import Any
from typing import Literal

def boxplot(
    data: Any,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
    bounds: tuple[Bound, Bound] | None = ...,
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
def concordance(
    score: Any,
    time: Any,
    event: Any,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
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
def count(
    values: Any,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
    among: LabelValue | tuple[LabelValue, ...] | None = ...,
    missing: CountMissing = ...,
    confidence_level: float = ...,
) -> CountEstimate: ...
def crosstab(
    row: Any,
    column: Any,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
    rows: LabelValues | None = ...,
    columns: LabelValues | None = ...,
    other: ListingPolicy = ...,
    missing: ListingPolicies = ...,
    confidence_level: float = ...,
) -> CrosstabEstimate: ...
def describe(
    table: Any,
    columns: tuple[str, ...] = ...,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
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
def ecdf(
    values: Any,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
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
def find_bounds(
    values: Any,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
    base: float = ...,
    smallest: float = ...,
    largest: float = ...,
    false_alarm: float = ...,
    confidence_level: float = ...,
    missing: Missing = ...,
    beside: float | None = ...,
) -> BoundsEstimate: ...
def group_auc(
    score: Any,
    label: Any,
    group: Any,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
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
def histogram(
    data: Any,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
    values: LabelValues | None = ...,
    other: ListingPolicy = ...,
    missing: ListingPolicy = ...,
    confidence_level: float = ...,
) -> HistogramEstimate: ...
def hosmer_lemeshow(
    probabilities: Any,
    labels: Any,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
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
def mean(
    values: Any,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
    bounds: tuple[Bound, Bound] | None = ...,
    step: Rational | None = ...,
    missing: Missing = ...,
    confidence_level: float = ...,
) -> MeanEstimate: ...
def proportion(
    values: Any,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
    positive: LabelValue | tuple[LabelValue, ...] = ...,
    missing: MembershipPolicy = ...,
    confidence_level: float = ...,
    negative: LabelValue | tuple[LabelValue, ...] | None = ...,
) -> ProportionEstimate: ...
def quantiles(
    values: Any,
    probabilities: Sequence[float] = ...,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
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
def roc(
    scores: Any,
    labels: Any,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
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
def sum(
    values: Any,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
    bounds: tuple[Bound, Bound] | None = ...,
    step: Rational | None = ...,
    missing: Missing = ...,
    confidence_level: float = ...,
) -> SumEstimate: ...
def survival(
    time: Any,
    event: Any,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
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
def ustatistic(
    data: Any,
    kernel: Any = ...,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
    labels: Any = ...,
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
def validation(
    score: Any,
    label: Any,
    *,
    privacy: Privacy | None = ...,
    adjacency: Adjacency = ...,
    trust: TrustOf = ...,
    source: RandomSource | None = ...,
    na_values: NaValues = ...,
    other: str | None = ...,
    bins: int = ...,
    positive: LabelValue | tuple[LabelValue, ...] = ...,
    negative: LabelValue | tuple[LabelValue, ...] | None = ...,
    method: UnbiasedName = ...,
    missing: Missing = ...,
    outside: OutsidePolicy = ...,
    confidence_level: float = ...,
) -> ValidationEstimate: ...
