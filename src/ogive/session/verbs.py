"""The verbs of the one-call functions, with columns in place of arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.grids import Bound, Grid
from ogive.noise.base import RandomSource
from ogive.privacy import Privacy, Rational
from ogive.queries import LabelValue
from ogive.statistics import Bounds, Boxplot, Ecdf, HosmerLemeshow, Quantiles, Roc, Ustatistic
from ogive.statistics.base import EstimateT, Statistic
from ogive.statistics.bounds.statistic import FALSE_ALARM, LARGEST, SMALLEST
from ogive.statistics.boxplot.statistic import DEFAULT_CURVE, EQUAL_SHARES
from ogive.statistics.calibration.statistic import DEFAULT_GROUPS
from ogive.statistics.ecdf.statistic import DEFAULT_BINS
from ogive.statistics.quantiles.statistic import DECILES
from ogive.statistics.ustatistic.pairs.options import Paired
from ogive.statistics.ustatistic.reports.trees.options import HierarchyAuc

if TYPE_CHECKING:
    from ogive.statistics.bounds.estimate import BoundsEstimate
    from ogive.statistics.boxplot.estimate import Boxplots
    from ogive.statistics.calibration.estimate import Calibration
    from ogive.statistics.curve.estimate import Curve
    from ogive.statistics.methods.choose import Method
    from ogive.statistics.quantiles.estimate import QuantileEstimates
    from ogive.statistics.roc.estimate import RocEstimate
    from ogive.statistics.ustatistic.estimate import UstatisticEstimate
    from ogive.strategies import Strategy


class Verbs(ABC):
    """One method for each statistic; all of them release it by `release`."""

    @abstractmethod
    def release(
        self,
        statistic: Statistic[EstimateT],
        *,
        privacy: Privacy | None = None,
        batch: str | None = None,
        source: RandomSource | None = None,
    ) -> EstimateT:
        """Release a statistic."""

    @abstractmethod
    def _named(self, **named: Any) -> tuple[str, ...]:
        """The columns that parameters name; refuses those that were left out or are no names."""

    def ecdf(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = None,
        bounds: tuple[Bound, Bound] | None = None,
        bins: int = DEFAULT_BINS,
        grid: Grid | str = "linear",
        method: Method = "auto",
        smooth: str = "auto",
        missing: str = "refuse",
        expected_records: int | None = None,
        batch: str | None = None,
        source: RandomSource | None = None,
    ) -> Curve:
        """Release the whole distribution function of a column; arguments as for `ogive.ecdf`.

        Privacy:
            `privacy`, from the session's budget.
        """
        (column,) = self._named(column=column)
        statistic = Ecdf(
            column,
            bounds,
            bins=bins,
            grid=grid,
            method=method,
            smooth=smooth,
            missing=missing,
            expected_records=expected_records,
        )
        return self.release(statistic, privacy=privacy, batch=batch, source=source)

    def quantiles(
        self,
        column: str | None = None,
        probabilities: Sequence[float] = DECILES,
        *,
        privacy: Privacy | None = None,
        bounds: tuple[Bound, Bound] | None = None,
        bins: int = DEFAULT_BINS,
        grid: Grid | str = "linear",
        method: Method = "auto",
        missing: str = "refuse",
        expected_records: int | None = None,
        source: RandomSource | None = None,
    ) -> QuantileEstimates:
        """Release quantiles of a column with simultaneous intervals; arguments as for `ogive.quantiles`.

        Privacy:
            `privacy` for all of them together, from the session's budget.
        """
        (column,) = self._named(column=column)
        statistic = Quantiles(
            column,
            probabilities,
            bounds=bounds,
            bins=bins,
            grid=grid,
            method=method,
            missing=missing,
            expected_records=expected_records,
        )
        return self.release(statistic, privacy=privacy, source=source)

    def boxplot(
        self,
        column: str | None = None,
        *,
        by: str | None = None,
        groups: Sequence[LabelValue] | None = None,
        privacy: Privacy | None = None,
        bounds: tuple[Bound, Bound] | None = None,
        bins: int = DEFAULT_BINS,
        grid: Grid | str = "linear",
        method: str = "resample",
        curve: Any = DEFAULT_CURVE,
        public_groups: bool | None = None,
        shares: tuple[Rational, ...] = EQUAL_SHARES,
        beyond: int = 0,
        missing: str = "refuse",
        expected_records: int | None = None,
        source: RandomSource | None = None,
    ) -> Boxplots:
        """Release the boxplot of a column, or of each group of another column; arguments as for `ogive.Boxplot`.

        Privacy:
            `privacy` for all boxes together, from the session's budget; a changed group is hidden too unless the
            session declares its column public.
        """
        (column,) = self._named(column=column)
        statistic = Boxplot(
            column,
            bounds,
            by=by,
            groups=None if groups is None else tuple(groups),
            bins=bins,
            grid=grid,
            method=method,
            curve=curve,
            public_groups=public_groups,
            shares=shares,
            beyond=beyond,
            missing=missing,
            expected_records=expected_records,
        )
        return self.release(statistic, privacy=privacy, source=source)

    def roc(
        self,
        score: str | None = None,
        label: str | None = None,
        *,
        privacy: Privacy | None = None,
        bounds: tuple[Bound, Bound] | None = None,
        bins: int = DEFAULT_BINS,
        grid: Grid | str = "linear",
        positive: LabelValue | tuple[LabelValue, ...] = 1,
        negative: LabelValue | tuple[LabelValue, ...] | None = None,
        positive_when: str = "high",
        public_labels: bool | None = None,
        budget: str = "joint",
        method: str | Strategy = "auto",
        smooth: str = "auto",
        missing: str = "refuse",
        outside: str = "refuse",
        confidence_level: float = 0.95,
        source: RandomSource | None = None,
    ) -> RocEstimate:
        """Release the ROC curve of a score column, with its AUC; arguments as for `ogive.roc`.

        Privacy:
            `privacy` for both classes together, from the session's budget.
        """
        score, label = self._named(score=score, label=label)
        statistic = Roc(
            score,
            label,
            bounds,
            bins=bins,
            grid=grid,
            positive=positive,
            negative=negative,
            positive_when=positive_when,
            public_labels=public_labels,
            budget=budget,
            method=method,
            smooth=smooth,
            missing=missing,
            outside=outside,
            confidence_level=confidence_level,
        )
        return self.release(statistic, privacy=privacy, source=source)

    def hosmer_lemeshow(
        self,
        probability: str | None = None,
        label: str | None = None,
        *,
        groups: int = DEFAULT_GROUPS,
        privacy: Privacy | None = None,
        positive: Any = 1,
        negative: Any = None,
        bins: int = DEFAULT_BINS,
        method: str = "auto",
        split: Rational | None = None,
        form: str = "difference",
        constants: str = "exact",
        floor: float = 1.0,
        df: int | str | None = None,
        missing: str = "refuse",
        confidence_level: float = 0.95,
        source: RandomSource | None = None,
    ) -> Calibration:
        """Test a column of predicted probabilities against labels; arguments as for `ogive.hosmer_lemeshow`.

        Privacy:
            `privacy` for groups and test together, from the session's budget.
        """
        probability, label = self._named(probability=probability, label=label)
        statistic = HosmerLemeshow(
            probability,
            label,
            groups=groups,
            positive=positive,
            negative=negative,
            bins=bins,
            method=method,
            split=split,
            form=form,
            constants=constants,
            floor=floor,
            df=df,
            missing=missing,
            confidence_level=confidence_level,
        )
        return self.release(statistic, privacy=privacy, source=source)

    def find_bounds(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = None,
        base: float = 2.0,
        smallest: float = SMALLEST,
        largest: float = LARGEST,
        false_alarm: float = FALSE_ALARM,
        missing: str = "refuse",
        source: RandomSource | None = None,
    ) -> BoundsEstimate:
        """Find bounds of a column whose range nobody knows; arguments as for `ogive.find_bounds`.

        Privacy:
            `privacy` for the bounds, from the session's budget; what is released within them costs extra.
        """
        (column,) = self._named(column=column)
        statistic = Bounds(
            column, base=base, smallest=smallest, largest=largest, false_alarm=false_alarm, missing=missing
        )
        return self.release(statistic, privacy=privacy, source=source)

    def ustatistic(
        self,
        columns: str | tuple[str, ...] = (),
        kernel: Any = "gini",
        *,
        privacy: Privacy | None = None,
        bounds: Any = None,
        bins: Any = "auto",
        grid: Any = "linear",
        categories: Any = None,
        positive: Any = 1,
        negative: Any = None,
        public_labels: bool | None = None,
        method: str | HierarchyAuc | Paired = "auto",
        matrix: str = "average",
        rounding: str = "simple",
        missing: str = "refuse",
        outside: str = "refuse",
        confidence_level: float = 0.95,
        expected_records: int | None = None,
        source: RandomSource | None = None,
    ) -> UstatisticEstimate:
        """Release a statistic of pairs of records; arguments as for `ogive.Ustatistic`.

        Privacy:
            `privacy` for the statistic, from the session's budget.
        """
        self._named(columns=columns)
        statistic = Ustatistic(
            columns,
            kernel,
            bounds=bounds,
            bins=bins,
            grid=grid,
            categories=categories,
            positive=positive,
            negative=negative,
            public_labels=public_labels,
            method=method,
            matrix=matrix,
            rounding=rounding,
            missing=missing,
            outside=outside,
            confidence_level=confidence_level,
            expected_records=expected_records,
        )
        return self.release(statistic, privacy=privacy, source=source)
