"""The verbs of the functions on arrays, with columns in place of arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Unpack, overload

from ogive.columns import LabelValue
from ogive.noise.base import RandomSource
from ogive.privacy import Privacy
from ogive.statistics.base import PART_TEXTS, Estimate, EstimateT, Statistic, Where, takes_options_of
from ogive.statistics.bounds.estimate import BoundsEstimate
from ogive.statistics.bounds.statistic import Bounds, BoundsOptions
from ogive.statistics.boxplot.estimate import Boxplots
from ogive.statistics.boxplot.statistic import Boxplot, BoxplotOptions
from ogive.statistics.calibration.estimate import Calibration
from ogive.statistics.calibration.statistic import HosmerLemeshow, HosmerLemeshowOptions
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.statistic import Describe, DescribeOptions
from ogive.statistics.ecdf.statistic import Ecdf, EcdfOptions
from ogive.statistics.kinds import CALLED, Arguments, Kind, about, call_of, called_otherwise
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.quantiles.statistic import DECILES, Quantiles, QuantilesOptions
from ogive.statistics.roc.estimate import RocEstimate
from ogive.statistics.roc.statistic import Roc, RocOptions
from ogive.statistics.ustatistic.estimate import UstatisticEstimate
from ogive.statistics.ustatistic.statistic import Ustatistic, UstatisticOptions

if TYPE_CHECKING:
    from ogive.statistics.groups.estimate import GroupEstimates


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

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say what the method of a command is called that has another name."""
            raise AttributeError(f"a session has no attribute {name!r}{called_otherwise(name)}")

    @abstractmethod
    def _named(self, **named: Any) -> tuple[str, ...]:
        """The columns that parameters name; refuses those that were left out or are not names."""

    @overload
    def ecdf(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = None,
        batch: str | None = None,
        source: RandomSource | None = None,
        where: Where | None = None,
        by: None = None,
        groups: None = None,
        **options: Unpack[EcdfOptions],
    ) -> Curve: ...
    @overload
    def ecdf(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = None,
        batch: str | None = None,
        source: RandomSource | None = None,
        where: Where | None = None,
        by: str,
        groups: Sequence[LabelValue],
        **options: Unpack[EcdfOptions],
    ) -> GroupEstimates[Curve]: ...
    @takes_options_of(Ecdf, EcdfOptions)
    def ecdf(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = None,
        batch: str | None = None,
        source: RandomSource | None = None,
        where: Where | None = None,
        by: str | None = None,
        groups: Sequence[LabelValue] | None = None,
        **options: Unpack[EcdfOptions],
    ) -> Curve | GroupEstimates[Curve]:
        """Release the whole distribution function of a column.

        Args:
            column: Numeric or temporal column.
            privacy: The guarantee; may be omitted only under `Clear`.
            batch: Public name of these records, for merging curves; by default the name of the part.
            source: Source of the noise key; by default the operating system.
            where: Condition that selects records, for example "ward == 'A'"; see `Subset`. By default all records.
            by: Column of groups; the guarantee holds for all groups together; see `Grouped`.
            groups: The public values of that column; by default, values with enough records are found first,
                privately.

        Privacy:
            `privacy`, from the session's budget.
        """
        (column,) = self._named(column=column)
        wanted = about(Ecdf(column, **options), where=where, by=by, groups=groups)
        result: Curve | GroupEstimates[Curve] = self.release(wanted, privacy=privacy, batch=batch, source=source)
        return result

    @overload
    def quantiles(
        self,
        column: str | None = None,
        probabilities: Sequence[float] = DECILES,
        *,
        privacy: Privacy | None = None,
        source: RandomSource | None = None,
        where: Where | None = None,
        by: None = None,
        groups: None = None,
        **options: Unpack[QuantilesOptions],
    ) -> QuantileEstimates: ...
    @overload
    def quantiles(
        self,
        column: str | None = None,
        probabilities: Sequence[float] = DECILES,
        *,
        privacy: Privacy | None = None,
        source: RandomSource | None = None,
        where: Where | None = None,
        by: str,
        groups: Sequence[LabelValue],
        **options: Unpack[QuantilesOptions],
    ) -> GroupEstimates[QuantileEstimates]: ...
    @takes_options_of(Quantiles, QuantilesOptions)
    def quantiles(
        self,
        column: str | None = None,
        probabilities: Sequence[float] = DECILES,
        *,
        privacy: Privacy | None = None,
        source: RandomSource | None = None,
        where: Where | None = None,
        by: str | None = None,
        groups: Sequence[LabelValue] | None = None,
        **options: Unpack[QuantilesOptions],
    ) -> QuantileEstimates | GroupEstimates[QuantileEstimates]:
        """Release quantiles of a column with simultaneous intervals.

        Args:
            column: Numeric or temporal column.
            probabilities: Probabilities of the quantiles, each in [0, 1]; by default the nine deciles.
            privacy: The guarantee; may be omitted only under `Clear`.
            source: Source of the noise key; by default the operating system.
            where: Condition that selects records, for example "ward == 'A'"; see `Subset`. By default all records.
            by: Column of groups; the guarantee holds for all groups together; see `Grouped`.
            groups: The public values of that column; by default, values with enough records are found first,
                privately.

        Privacy:
            `privacy` for all of them together, from the session's budget.
        """
        (column,) = self._named(column=column)
        wanted = about(Quantiles(column, probabilities, **options), where=where, by=by, groups=groups)
        result: QuantileEstimates | GroupEstimates[QuantileEstimates] = self.release(
            wanted, privacy=privacy, source=source
        )
        return result

    @takes_options_of(Boxplot, BoxplotOptions)
    def boxplot(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = None,
        source: RandomSource | None = None,
        where: Where | None = None,
        **options: Unpack[BoxplotOptions],
    ) -> Boxplots:
        """Release the boxplot of a column, or of each group of another column.

        Args:
            column: Numeric or temporal column.
            privacy: The guarantee; may be omitted only under `Clear`.
            source: Source of the noise key; by default the operating system.
            where: Condition that selects records, for example "ward == 'A'"; see `Subset`. By default all records.

        Privacy:
            `privacy` for all boxes together, from the session's budget. The group is protected too, unless the session
            declares its column public.
        """
        (column,) = self._named(column=column)
        if options.get("groups") is not None:
            options["groups"] = tuple(options["groups"] or ())
        return self.release(about(Boxplot(column, **options), where=where), privacy=privacy, source=source)

    @overload
    def roc(
        self,
        score: str | None = None,
        label: str | None = None,
        *,
        privacy: Privacy | None = None,
        source: RandomSource | None = None,
        where: Where | None = None,
        by: None = None,
        groups: None = None,
        **options: Unpack[RocOptions],
    ) -> RocEstimate: ...
    @overload
    def roc(
        self,
        score: str | None = None,
        label: str | None = None,
        *,
        privacy: Privacy | None = None,
        source: RandomSource | None = None,
        where: Where | None = None,
        by: str,
        groups: Sequence[LabelValue],
        **options: Unpack[RocOptions],
    ) -> GroupEstimates[RocEstimate]: ...
    @takes_options_of(Roc, RocOptions)
    def roc(
        self,
        score: str | None = None,
        label: str | None = None,
        *,
        privacy: Privacy | None = None,
        source: RandomSource | None = None,
        where: Where | None = None,
        by: str | None = None,
        groups: Sequence[LabelValue] | None = None,
        **options: Unpack[RocOptions],
    ) -> RocEstimate | GroupEstimates[RocEstimate]:
        """Release the ROC curve of a score column, with its AUC.

        Args:
            score: Numeric or temporal column.
            label: Column with the class of each record.
            privacy: The guarantee; may be omitted only under `Clear`.
            source: Source of the noise key; by default the operating system.
            where: Condition that selects records, for example "ward == 'A'"; see `Subset`. By default all records.
            by: Column of groups; the guarantee holds for all groups together; see `Grouped`.
            groups: The public values of that column; by default, values with enough records are found first,
                privately.

        Privacy:
            `privacy` for both classes together, from the session's budget.
        """
        score, label = self._named(score=score, label=label)
        wanted = about(Roc(score, label, **options), where=where, by=by, groups=groups)
        result: RocEstimate | GroupEstimates[RocEstimate] = self.release(wanted, privacy=privacy, source=source)
        return result

    @overload
    def hosmer_lemeshow(
        self,
        probability: str | None = None,
        label: str | None = None,
        *,
        privacy: Privacy | None = None,
        source: RandomSource | None = None,
        where: Where | None = None,
        by: None = None,
        by_groups: None = None,
        **options: Unpack[HosmerLemeshowOptions],
    ) -> Calibration: ...
    @overload
    def hosmer_lemeshow(
        self,
        probability: str | None = None,
        label: str | None = None,
        *,
        privacy: Privacy | None = None,
        source: RandomSource | None = None,
        where: Where | None = None,
        by: str,
        by_groups: Sequence[LabelValue],
        **options: Unpack[HosmerLemeshowOptions],
    ) -> GroupEstimates[Calibration]: ...
    @takes_options_of(HosmerLemeshow, HosmerLemeshowOptions)
    def hosmer_lemeshow(
        self,
        probability: str | None = None,
        label: str | None = None,
        *,
        privacy: Privacy | None = None,
        source: RandomSource | None = None,
        where: Where | None = None,
        by: str | None = None,
        by_groups: Sequence[LabelValue] | None = None,
        **options: Unpack[HosmerLemeshowOptions],
    ) -> Calibration | GroupEstimates[Calibration]:
        """Test a column of predicted probabilities against labels.

        Args:
            probability: Column of predicted probabilities of the positive class, in [0, 1].
            label: Column with the class of each record.
            privacy: The guarantee; may be omitted only under `Clear`.
            source: Source of the noise key; by default the operating system.
            where: Condition that selects records, for example "ward == 'A'"; see `Subset`. By default all records.
            by: Column of groups; the guarantee holds for all groups together; see `Grouped`.
            by_groups: The public values of that column; by default, values with enough records are found first,
                privately.

        Privacy:
            `privacy` for groups and test together, from the session's budget.
        """
        probability, label = self._named(probability=probability, label=label)
        wanted = about(HosmerLemeshow(probability, label, **options), where=where, by=by, groups=by_groups)
        result: Calibration | GroupEstimates[Calibration] = self.release(wanted, privacy=privacy, source=source)
        return result

    @takes_options_of(Bounds, BoundsOptions)
    def find_bounds(
        self,
        column: str | None = None,
        *,
        privacy: Privacy | None = None,
        source: RandomSource | None = None,
        where: Where | None = None,
        **options: Unpack[BoundsOptions],
    ) -> BoundsEstimate:
        """Find bounds of a column with unknown range.

        Args:
            column: Numeric column.
            privacy: The guarantee; may be omitted only under `Clear`.
            source: Source of the noise key; by default the operating system.
            where: Condition that selects records, for example "ward == 'A'"; see `Subset`. By default all records.

        Privacy:
            `privacy` for the bounds, from the session's budget; later releases within the bounds cost extra.
        """
        (column,) = self._named(column=column)
        return self.release(about(Bounds(column, **options), where=where), privacy=privacy, source=source)

    @takes_options_of(Ustatistic, UstatisticOptions)
    def ustatistic(
        self,
        columns: str | tuple[str, ...] = (),
        kernel: Any = "gini",
        *,
        privacy: Privacy | None = None,
        source: RandomSource | None = None,
        where: Where | None = None,
        **options: Unpack[UstatisticOptions],
    ) -> UstatisticEstimate:
        """Release a statistic of pairs of records.

        Args:
            columns: Name of a column, or names in the order of the kernel; see `Ustatistic`.
            kernel: Measure, for example "gini" or "kendall"; see `Ustatistic`.
            privacy: The guarantee; may be omitted only under `Clear`.
            source: Source of the noise key; by default the operating system.
            where: Condition that selects records, for example "ward == 'A'"; see `Subset`. By default all records.

        Privacy:
            `privacy` for the statistic, from the session's budget.
        """
        self._named(columns=columns)
        return self.release(about(Ustatistic(columns, kernel, **options), where=where), privacy=privacy, source=source)

    @takes_options_of(Describe, DescribeOptions)
    def describe(
        self,
        columns: Sequence[str] | str = (),
        *,
        privacy: Privacy | None = None,
        source: RandomSource | None = None,
        where: Where | None = None,
        **options: Unpack[DescribeOptions],
    ) -> DescribeEstimate:
        """Release the first table of a report: every variable described, of all records or of each of several groups.

        Args:
            columns: The variables, in the order of the table; by default all columns but those of persons and groups.
            privacy: The guarantee of the whole table; left out only under `Clear`.
            source: Where the noise key comes from; the operating system by default.
            where: Which records are asked, for example "ward == 'A'"; see `Subset`. All by default.

        Privacy:
            `privacy` for the whole table, from the session's budget.
        """
        named = (columns,) if isinstance(columns, str) else tuple(columns)
        return self.release(about(Describe(named, **options), where=where), privacy=privacy, source=source)


_OWN = {
    "privacy": (None, "The guarantee; may be omitted only under `Clear`."),
    "source": (None, "Source of the noise key; by default the operating system."),
    **{name: (None, text) for name, text in PART_TEXTS.items()},
}


def verb_of(kind: Kind) -> Callable[..., Estimate]:
    """The method of a statistic that has none above, derived from its fields."""

    def release(columns: Arguments, options: Arguments, own: Arguments) -> Estimate:
        session: Verbs = own["self"]
        named = session._named(**columns)
        statistic: Statistic[Estimate] = kind.statistic(**dict(zip(columns, named, strict=True)), **options)
        wanted: Statistic[Estimate] = about(statistic, where=own["where"], by=own["by"], groups=own["groups"])
        return session.release(wanted, privacy=own["privacy"], source=own["source"])

    return call_of(kind, release, _OWN, first=("self",))


class _Derived:
    """A verb that is made when it is used, so that one statistic does not load all others."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def __get__(self, session: Verbs | None, owner: type[Verbs]) -> Callable[..., Estimate]:
        verb = verb_of(self.kind)
        return verb if session is None else MethodType(verb, session)


for _kind in CALLED.values():
    if not hasattr(Verbs, _kind.function):
        setattr(Verbs, _kind.function, _Derived(_kind))
