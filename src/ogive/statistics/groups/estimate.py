"""One estimate of each of several groups, released together."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Generic, Self, TypeVar, get_args

from ogive.columns import MAX_GROUPS, LabelValue
from ogive.columns.predicates import Comparison, within_group
from ogive.core.digits import number
from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.provenance import Provenance
from ogive.queries.aggregates import check_groups
from ogive.queries.histograms import LARGEST_THRESHOLD
from ogive.statistics.base import Estimate, Shown
from ogive.statistics.confidence import Kind, check_level, check_probability, difference, ratio
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.kinds import read_estimate
from ogive.statistics.plain_json import Fields, agreeing
from ogive.statistics.sums.estimate import MeanEstimate, NumberEstimate, ProportionEstimate
from ogive.statistics.sums.posterior import joined, sizes_of

CONFIDENCE_LEVEL = 0.95
"""Of comparisons of estimates that have no level of their own."""


def condition(by: str, group: LabelValue, where: str | None) -> str:
    """The condition of a group, beside that of the release if there is one."""
    return within_group(Comparison(by, "==", group), where)


MemberT = TypeVar("MemberT", bound=Estimate, covariant=True)


@dataclass(frozen=True, repr=False)
class GroupEstimates(Estimate, Generic[MemberT]):
    """An estimate of each of several groups, under one guarantee and with independent noise.

    Fields:
        by: Column that says which group a record belongs to.
        groups: Its values, in the order asked.
        estimates: One for each group, each with the provenance of the release and the condition of its group. Where
            the number of all records is public, those that tell how many records a group has add up to it.
        public_groups: Whether each record's group is public; the group sizes are then exact.
        threshold: Where groups were found, the noisy number of records from which on they are; None where they were
            named, or are exact.
        provenance: Origin of the release: statistic, price and trust model.
        contrasts: Differences and ratios of groups that are shown, written and reported with the estimates; see
            `with_contrasts`.

    Example:
        >>> import numpy as np, ogive
        >>> rng = np.random.default_rng(1)
        >>> people = {"age": rng.integers(18, 90, 10_000), "sex": rng.choice(["F", "M"], 10_000)}
        >>> session = ogive.Session(people, limit=ogive.PureDP(2))
        >>> ages = session.ecdf("age", bounds=(0, 120), by="sex", groups=("F", "M"), privacy=ogive.PureDP(1))
        >>> ages.groups
        ('F', 'M')
        >>> bool(abs(ages["F"](50) - ages["M"](50)) < 0.05)
        True
    """

    schema: ClassVar[str] = "ogive.groups/1"
    indent: ClassVar[int | None] = 1

    by: str
    groups: tuple[LabelValue, ...]
    estimates: tuple[MemberT, ...]
    public_groups: bool = False
    provenance: Provenance | None = None
    threshold: int | None = None
    contrasts: tuple[Contrast, ...] = ()

    def __post_init__(self) -> None:
        each: Any = self.estimates
        total = None if self.provenance is None or self.threshold is not None else self.provenance.total
        if isinstance(each[0], MeanEstimate | ProportionEstimate | HistogramEstimate):
            blocks = joined([[one.measured.alone()] for one in each], total)
            agreed = (dataclasses.replace(one, measured=block) for one, (block,) in zip(each, blocks, strict=True))
            object.__setattr__(self, "estimates", tuple(agreed))

    @cached_property
    def sizes(self) -> list[int] | None:
        """Numbers of records of the groups that add up to the public number of all; None where that is not known."""
        if self.provenance is None or self.threshold is not None or self.public_groups or not self.private:
            return None
        return sizes_of([getattr(each, "records", None) for each in self.estimates], self.provenance.total)

    def __getitem__(self, group: LabelValue) -> MemberT:
        return self.estimates[place_of(group, self.by, self.groups)]

    def __iter__(self) -> Iterator[tuple[LabelValue, MemberT]]:
        """Groups with their estimates, in the order asked."""
        return iter(zip(self.groups, self.estimates, strict=True))

    def __len__(self) -> int:
        return len(self.groups)

    @property
    def noise_beside(self) -> str:
        """That of the estimates."""
        return self.estimates[0].noise_beside

    def noise_share(self) -> float:
        """The smallest of the groups: where it is large no estimate says anything."""
        return min(estimate.noise_share() for estimate in self.estimates)

    def with_provenance(self, provenance: Provenance) -> Self:
        """Return the same estimates, each with the provenance of its group."""
        estimates = tuple(
            estimate.with_provenance(of_group(provenance, self.by, group, estimate)) for group, estimate in self
        )
        return dataclasses.replace(self, estimates=estimates, provenance=provenance)

    def difference(
        self, group: LabelValue, other: LabelValue, *, probability: float = 0.5, confidence_level: float | None = None
    ) -> Contrast:
        """Difference of a number between two groups, with an interval.

        The number is the mean, proportion, count or sum of the estimate; for an ROC curve, the area under it; for a
        distribution or quantiles, one quantile, by default the median.

        Args:
            group: The first group.
            other: The group that is subtracted.
            probability: Probability of the quantile; only for distributions and quantiles.
            confidence_level: Confidence level of the interval; by default that of the estimates, or 0.95.

        Raises:
            ParameterError: there is no such group, or one is given twice, the estimates have no number to compare, or
                the level or probability does not apply.

        Privacy:
            Post-processing.

        Source:
            Zou and Donner 2008.
        """
        return self._contrast("difference", group, other, probability, confidence_level)

    def ratio(
        self, group: LabelValue, other: LabelValue, *, probability: float = 0.5, confidence_level: float | None = None
    ) -> Contrast:
        """Ratio of a number between two groups, with an interval.

        If the noise allows a denominator of 0, the interval is the whole line.

        Args:
            group: The group in the numerator.
            other: The group in the denominator.
            probability: Probability of the quantile; only for distributions and quantiles.
            confidence_level: Confidence level of the interval; by default that of the estimates, or 0.95.

        Raises:
            ParameterError: as `difference`.

        Privacy:
            Post-processing.

        Source:
            Donner and Zou 2012.
        """
        return self._contrast("ratio", group, other, probability, confidence_level)

    def with_contrasts(self, *contrasts: Contrast) -> Self:
        """The same estimates with differences and ratios, which are then shown, written as JSON and reported with them.

        Args:
            contrasts: As `difference` and `ratio` give them; they come after those that there are already.

        Raises:
            ParameterError: one is of other groups.

        Privacy:
            Post-processing.

        Example:
            >>> import ogive
            >>> people = {"age": [30, 40, 50, 60] * 100, "sex": ["F", "M"] * 200}
            >>> session = ogive.Session(people, limit=ogive.PureDP(9))
            >>> ages = session.mean("age", bounds=(0, 90), by="sex", groups=("F", "M"), privacy=ogive.PureDP(9))
            >>> print(ages.with_contrasts(ages.difference("M", "F")).contrasts[0].head)
            difference of the mean of age, sex M minus F
        """
        for each in contrasts:
            if not isinstance(each, Contrast) or each.by != self.by or not {each.group, each.other} <= set(self.groups):
                raise ParameterError("the contrasts of estimates must be those that their `difference` or `ratio` gave")
        return dataclasses.replace(self, contrasts=tuple(dict.fromkeys((*self.contrasts, *contrasts))))

    def _contrast(
        self, kind: Kind, group: LabelValue, other: LabelValue, probability: float, confidence_level: float | None
    ) -> Contrast:
        view = self.estimates[0].view()
        if not view.compares:
            raise ParameterError(f"{view.about} has no number to compare between groups")
        check_compared(group, other, self.by, self.groups)
        check_probability(probability)
        usual = getattr(self.estimates[0], "confidence_level", CONFIDENCE_LEVEL)
        level = usual if confidence_level is None else float(check_level(confidence_level))
        # the noise of groups that add up to a public number is not independent
        one, two = (_alone(self[each]).view().number(level, probability) for each in (group, other))
        compared = difference if kind == "difference" else ratio
        value, error, low, high = compared(one, two, level)
        numbers = value, error, low, high, level, one.probability
        return Contrast(kind, one.what, self.by, group, other, *numbers, self.provenance)

    def errors(self, truth: GroupEstimates[Any]) -> dict[str, float]:
        """The largest of the groups' errors, by name.

        Raises:
            ParameterError: the truth is of other groups.
        """
        each = [mine.errors(exact) for mine, exact in zip(self.estimates, self.exact(truth), strict=True)]
        return {name: max(errors[name] for errors in each) for name in each[0]}

    def to_dict(self) -> dict[str, Any]:
        """Plain data of estimates of groups."""
        return {
            "schema": self.schema,
            "by": self.by,
            "groups": list(self.groups),
            "public_groups": self.public_groups,
            **({} if self.threshold is None else {"threshold": self.threshold}),
            "estimates": [estimate.to_dict() for estimate in self.estimates],
            **({"contrasts": [_contrast(each) for each in self.contrasts]} if self.contrasts else {}),
            "provenance": None if self.provenance is None else self.provenance.to_dict(),
        }

    @classmethod
    def _read(cls, data: Any) -> Any:
        known = Fields.of(data, GroupEstimates.schema, "estimates of groups", _NEEDED)
        by, listed, held, public = known.text("by"), data["groups"], data["estimates"], data["public_groups"]
        groups = read_groups(by, listed)
        if not isinstance(held, list) or len(held) != len(listed):
            raise DataError("the field 'estimates' must hold an estimate for each group")
        if not isinstance(public, bool):
            raise DataError("the field 'public_groups' must be true or false")
        threshold = known.whole("threshold", 2, LARGEST_THRESHOLD) if "threshold" in data else None
        provenance = known.provenance(*((by,) if public else ()))
        if any(isinstance(each, dict) and each.get("schema") == GroupEstimates.schema for each in held):
            raise DataError("groups have no groups of their own")
        estimates = tuple(read_estimate(each) for each in held)
        if len({type(estimate) for estimate in estimates}) > 1:
            raise DataError("the estimates of all groups must be of one kind")
        for group, estimate in zip(listed, estimates, strict=True):
            mine = estimate.provenance
            wanted = None
            if provenance is not None:
                wanted = of_group(provenance, by, group, estimate)
            if mine != wanted:
                raise DataError("the provenance of each group must be that of the release, with the group's condition")
        estimate = GroupEstimates(by, groups, estimates, public, provenance, threshold)
        if "contrasts" not in data:
            return estimate
        rows = known.rows("contrasts", "a contrast of groups", _CONTRAST, nonempty=True)
        if len(rows) > MOST_CONTRASTS:
            raise DataError(f"the field 'contrasts' must hold at most {MOST_CONTRASTS} contrasts")
        return estimate.with_contrasts(*(_read_contrast(row, estimate) for row in rows))

    def exact(self, truth: GroupEstimates[Any]) -> tuple[Any, ...]:
        """The true values of these groups; of groups that were found the truth may have more.

        Raises:
            ParameterError: the truth is of other groups.
        """
        if not isinstance(truth, GroupEstimates) or truth.by != self.by:
            raise ParameterError("the truth must be of the same groups, in the same order")
        if self.threshold is not None and set(self.groups) <= set(truth.groups):
            return tuple(truth[group] for group in self.groups)
        if truth.groups != self.groups:
            raise ParameterError("the truth must be of the same groups, in the same order")
        return truth.estimates


def _alone(estimate: Any) -> Any:
    """An estimate by what was measured of its own group."""
    return estimate.alone() if isinstance(estimate, NumberEstimate) else estimate


def of_group(provenance: Provenance, by: str, group: LabelValue, estimate: Estimate) -> Provenance:
    """The provenance of one group's estimate: that of the release, with the group's condition and number of records."""
    where = condition(by, group, provenance.where)
    measured = (estimate, getattr(estimate, "curve", None), getattr(estimate, "measured", None))
    totals = (getattr(each, "total", None) for each in measured)
    return dataclasses.replace(provenance, where=where, total=next((each for each in totals if each is not None), None))


# --- Plain data, which need not be trusted

MOST_CONTRASTS = 1000
"""Of one file, which a stranger may have written: each takes a moment to compute."""

_CONTRAST = ("kind", "group", "other", "probability", "confidence_level")
_NEEDED = ("by", "groups", "estimates", "public_groups", "provenance")


def read_groups(by: str, listed: Any) -> tuple[Any, ...]:
    """The field 'groups' of plain data, checked."""
    if not isinstance(listed, list) or not 1 <= len(listed) <= MAX_GROUPS:
        raise DataError(f"the field 'groups' must be a list of 1 to {MAX_GROUPS} values")
    try:
        check_groups(by, tuple(listed))
    except (ParameterError, TypeError):
        raise DataError("the field 'groups' must list different numbers, texts or truth values") from None
    return tuple(listed)


def _contrast(result: Contrast) -> dict[str, Any]:
    """Plain data of a contrast; the results follow from the estimates, and are there for other programs."""
    ends = (result.standard_error, result.low, result.high)
    error, low, high = (each if math.isfinite(each) else None for each in ends)
    now = {
        "kind": result.kind,
        "group": result.group,
        "other": result.other,
        "what": result.what,
        "probability": result.probability,
        "confidence_level": result.confidence_level,
        "value": result.value if result.defined else None,
        "standard_error": error,
        "interval": [low, high],
    }
    return dict(agreeing(result, now))


def _read_contrast(row: Fields, result: GroupEstimates[Any]) -> Contrast:
    """A contrast, computed anew from the estimates."""
    kind, group, other = row.text("kind"), row.data["group"], row.data["other"]
    if kind not in get_args(Kind):
        raise DataError(f"the kind of {row.what} must be {' or '.join(get_args(Kind))}, got {quoted(kind)}")
    if not all(isinstance(each, LabelValue) for each in (group, other)):
        raise DataError(f"the groups of {row.what} must be numbers, texts or truth values")
    compared = result.difference if kind == "difference" else result.ratio
    probability = 0.5 if row.data["probability"] is None else row.number("probability", 1)
    try:
        contrast = compared(group, other, probability=probability, confidence_level=row.chance("confidence_level"))
        vars(contrast)["_results"] = row.data
        return contrast
    except ParameterError as problem:
        raise DataError(f"{row.what}: {plain(problem)}") from None


# --- The difference or ratio of a number of two groups, with an interval (see `ogive.statistics.confidence`)


@dataclass(frozen=True, repr=False)
class Contrast(Shown):
    """Difference or ratio of a number between two groups.

    Fields:
        kind: "difference" or "ratio".
        what: The number compared, for example "mean of age".
        by: Column of the groups.
        group, other: The two groups; `other` is subtracted, or is the divisor.
        value: The difference or ratio; NaN if the number of a group is not defined.
        standard_error: Standard error of the value, including noise and sampling; derived from the width of the
            intervals if nothing better is known.
        low, high: Ends of the interval; infinite if the divisor of a ratio may be 0. Where a group has no number they
            hold every value that the other group leaves possible.
        confidence_level: Of the interval.
        probability: Of the quantile that is compared; None for other numbers.
        provenance: Of the release of the groups; None where they were not released.
    """

    kind: Kind
    what: str
    by: str
    group: LabelValue
    other: LabelValue
    value: float
    standard_error: float
    low: float
    high: float
    confidence_level: float
    probability: float | None = None
    provenance: Provenance | None = field(default=None, compare=False)

    @property
    def interval(self) -> tuple[float, float]:
        """Both ends of the interval."""
        return self.low, self.high

    @property
    def defined(self) -> bool:
        """Whether the numbers of both groups are defined."""
        return not math.isnan(self.value)

    @property
    def head(self) -> str:
        """What is compared, in words."""
        return f"{self.kind} of the {self.subject}"

    @property
    def shown(self) -> tuple[str, str, str]:
        """The value and the ends of the interval, with the digits that the interval leaves."""
        value, low, high = (number(each, self.high - self.low) for each in (self.value, self.low, self.high))
        return value, low, high

    @property
    def subject(self) -> str:
        """What is compared of which groups, without the kind of number that came of it."""
        sign = "minus" if self.kind == "difference" else "divided by"
        return f"{self.what}, {self.by} {self.group} {sign} {self.other}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"


# --- Which groups can be compared


def place_of(group: LabelValue, by: str, groups: Sequence[LabelValue]) -> int:
    """The place of a group among all groups."""
    if group not in groups:
        listed = ", ".join(map(quoted, groups[:20])) + (", ..." if len(groups) > 20 else "")
        raise ParameterError(f"there is no group {quoted(group)}; the groups of {quoted(by)} are {listed}")
    return groups.index(group)


def check_compared(group: LabelValue, other: LabelValue, by: str, groups: Sequence[LabelValue]) -> None:
    """Refuse to compare what are not two groups."""
    if place_of(group, by, groups) == place_of(other, by, groups):
        raise ParameterError(f"give two different groups to compare, got {quoted(group)} twice")
