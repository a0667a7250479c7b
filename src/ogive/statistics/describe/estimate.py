"""Variables described: an estimate for each part of each variable, of every group, released together."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self, cast

import numpy as np

from ogive.accounting import at_least, total_loss
from ogive.columns import LabelValue
from ogive.core.arrays import Float64
from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.privacy import Loss, PrivacyUnit
from ogive.provenance import Provenance
from ogive.queries.histograms import LARGEST_THRESHOLD
from ogive.statistics.base import OF_QUARTILES, OF_RECORDS, Estimate, Statistic, Terms
from ogive.statistics.bounds.estimate import BoundsEstimate
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.describe.differences import Difference, differences
from ogive.statistics.describe.variables import KNOWN, SHARE_OF_BOUNDS, Categories, Number, Share, Variable
from ogive.statistics.groups.estimate import of_group, read_groups
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.kinds import read_estimate
from ogive.statistics.plain_json import Fields, is_number, is_text, loss_of
from ogive.statistics.prediction import Errors, Prediction, Setting
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.sums.estimate import MeanEstimate, NumberEstimate
from ogive.statistics.sums.measured import LinearForm, Measured, two_places
from ogive.statistics.sums.plan import OF_SPREAD, SPREAD_SHARE
from ogive.statistics.sums.posterior import at_least_zero, at_least_zero_both, joined
from ogive.strategies import Strategy
from ogive.strategies.base import LOUD
from ogive.strategies.composed import SummedStrategies
from ogive.strategies.hats import LeastSquaresHats
from ogive.strategies.smoothing import smooth_sum

# --- All records together: sums over the groups
#
# Noisy integers of disjoint groups add up, and the noise of the sum is that many draws of one law. Curves of disjoint
# groups add up as those of batches do, and are smoothed once, together.


def added_up(each: Sequence[Any], provenance: Provenance | None) -> Estimate:
    """The estimate of all records from those of disjoint groups that together are all of them.

    Privacy:
        Post-processing.
    """
    first = each[0]
    if isinstance(first, NumberEstimate | HistogramEstimate):
        everyone = None if provenance is None else provenance.total
        measured = _sum([one.measured for one in each], everyone)
        return dataclasses.replace(first, measured=measured, provenance=provenance)
    assert isinstance(first, QuantileEstimates), "numbers, categories and quantiles are described"
    curve = _curve([one.curve for one in each])
    lowest = min(number for one in each for number in one.low)
    return _quantiles(first, dataclasses.replace(curve, provenance=provenance), provenance, lowest)


def _sum(each: Sequence[Measured], everyone: int | None) -> Measured:
    """The sums of all groups, whose records are `everyone` where that number is public."""
    return dataclasses.replace(
        each[0],
        values=tuple(map(sum, zip(*(one.values for one in each), strict=True))),
        total=everyone,
        draws=sum(one.draws for one in each),
    )


def _curve(each: Sequence[Curve]) -> Curve:
    first = each[0]
    if len(each) == 1:
        return first
    totals = [one.total for one in each]
    total = None if None in totals else sum(filter(None, totals))
    raw = np.sum([one.raw for one in each], axis=0)
    strategies = tuple(one.strategy for one in each if one.strategy is not None)
    if not strategies:
        return dataclasses.replace(first, cumulative=raw, raw=raw, total=total, provenance=None)
    strategy = SummedStrategies(strategies)
    cumulative, smoothing = smooth_sum(strategy, raw, total=total)
    return dataclasses.replace(
        first, cumulative=cumulative, raw=raw, strategy=strategy, total=total, smoothing=smoothing, provenance=None
    )


def _quantiles(
    first: QuantileEstimates, curve: Curve, provenance: Provenance | None, lowest: float
) -> QuantileEstimates:
    """Quartiles of a curve whose first bin ends at the lower bound; `lowest` is that of the groups' ends."""
    wanted = np.array(first.probabilities)
    number = curve.grid.number
    low, high = curve.quantile_interval(wanted, first.confidence_level)
    first_end, second_end = curve.grid.thresholds[:2]
    floor = lowest if lowest < second_end else first_end  # the lower bound, without rounding where a group has it
    return dataclasses.replace(
        first,
        numbers=tuple(number(value) for value in curve.quantile(wanted)),
        low=tuple(max(number(value), float(floor)) for value in low),
        high=tuple(number(value) for value in high),
        curve=curve,
        provenance=provenance,
    )


# --- What agrees: one number of records a group, groups that add up to all records, and shares that add up to 1
#
# Every block of noisy integers measures the number of records of its group, but those of variables that drop missing
# values measure fewer; where missing values are counted, that count says how many. A block has one law in all groups,
# so its sums over the groups say all that it says of all records.

_FINE = 1 << 10  # of weights that an estimator takes as whole numbers
Key = tuple[int | None, str, str]
"""The place of a group (None: all records), a variable, and one of its parts."""


def _agreed(result: DescribeEstimate) -> tuple[dict[Key, Estimate], dict[int | None, float]]:
    """The estimates that agree, but quantiles, and the numbers of records, by the place of the group."""
    keys = [(each, part) for each in result.variables for part in each.parts if part != "quantiles"]
    everyone = None if result.provenance is None else result.provenance.total
    places: list[int | None] = [None, *range(len(result.groups))]
    estimates: dict[Key, Any] = {
        (place, each.column, part): result._raw(place, each.column, part) for place in places for each, part in keys
    }
    joint: dict[Key, Measured] = {key: each.measured for key, each in estimates.items()}
    for each in result.variables:
        if isinstance(each, Number) and result.bounded(each.column):
            held: list[Any] = [result._raw(place, each.column, "quantiles") for place in places[1:] or [None]]
            sums = [estimates[place, each.column, "mean"] for place in places]
            with_curves = _with_curves(sums, [one.curve for one in held])
            joint |= {(place, each.column, "mean"): one for place, one in zip(places, with_curves, strict=True)}
    shared = [(each.column, part) for each, part in keys if each.missing != "drop" or part == KNOWN]
    dropping = [(each.column, part) for each, part in keys if each.count_missing and (each.column, part) not in shared]
    for some in filter(None, (places[:1], places[1:])):
        for column, part, place in ((*key, place) for key in dropping for place in some):
            known, own = joint[place, column, KNOWN], joint[place, column, part]
            joint[place, column, KNOWN] = known.given(two_places(known), own.known(own.size))
        blocks = joined([[joint[place, *key] for key in shared] for place in some], everyone)
        joint |= {
            (place, *key): each
            for place, row in zip(some, blocks, strict=True)
            for key, each in zip(shared, row, strict=True)
        }
        for column, part, place in ((*key, place) for key in dropping for place in some):
            known, own = joint[place, column, KNOWN], joint[place, column, part]
            alone = dataclasses.replace(known, beside=known.beside[1:])
            joint[place, column, part] = own.given(own.size, alone.known(two_places(known)))
    sizes = {
        key: _sizes([joint[place, *key] for place in places]) for key in ((each.column, part) for each, part in keys)
    }
    for key, of_key in sizes.items():
        tables = [joint[place, *key] for place in places]
        if tables[0].form == "cells" and tables[0].law is not None:
            for place, table, counts in zip(places, tables, _counts(tables, of_key), strict=True):
                joint[place, *key] = dataclasses.replace(table, shown=tuple(map(float, counts)))
    agreed = {key: dataclasses.replace(each, measured=joint[key]) for key, each in estimates.items()}
    return agreed, dict(zip(places, map(float, sizes[shared[0]]), strict=True)) if shared else {}


def _with_curves(means: Sequence[MeanEstimate], curves: Sequence[Curve]) -> list[Measured]:
    """The sums behind means of all records and of the groups, given what the curves of these say of them.

    That is the number of records, the sum of the values and that of their squares. With P the covariance of counts of
    bins, P w is what the estimator makes of bins that were measured as v w and hats as 0, where v is the variance of a
    bin. A record may lie anywhere in its bin, which counts as an error that has one size in all groups.
    """
    first, strategy, lattice = means[0].measured, curves[0].strategy, means[0].lattice
    if not isinstance(strategy, LeastSquaresHats) or first.weights is None or not first.weights.square:
        return [each.measured for each in means]
    steps = lattice.steps
    ends = (np.array(curves[0].grid.thresholds, dtype=np.float64) - float(lattice.low)) / float(lattice.step)
    places = ends - np.diff(ends, prepend=ends[0]) / 2 - steps / 2
    wanted = np.stack([np.ones_like(places), places, steps * steps / 4 - places * places])
    values = np.array([wanted @ np.diff(each.raw, prepend=0.0) for each in curves])
    answer = np.zeros((3, sum(level.nodes for level in strategy.levels)), dtype=np.int64)
    answer[:, : strategy.size] = np.rint(wanted * _FINE)
    moved = np.diff(strategy.estimate(answer, None), prepend=0.0, axis=1)
    covariance = float(strategy.laws[0].variance) / _FINE * wanted @ moved.T
    records = max(1.0, values[:, 0].max(), values[:, 0].sum() / math.sqrt(len(curves)))
    within = records * float(np.diff(ends).max(initial=0.0)) / 2
    covariance = (covariance + covariance.T) / 2 + np.diag(np.square([0.0, within, within * steps]))
    zeros = (0.0,) * (len(first.values) - 2)
    sums = [(*zeros, 1 / first.weights.slope, 0.0), (*zeros, 0.0, 0.25 / first.weights.square)]
    forms = np.array([each.coefficients for each in (first.size, *(first.sum_of(*each) for each in sums))])
    if curves[0].total is not None:  # the number of records is nothing to be estimated
        covariance = (covariance - np.outer(covariance[0], covariance[0]) / covariance[0, 0])[1:, 1:]
        forms, values = forms[1:], values[:, 1:]
    results = []
    for place, mean in enumerate(means):
        own, times = (values[place - 1], 1) if place else (values.sum(axis=0), len(curves))
        measured, apart = mean.measured, np.linalg.inv(np.linalg.cholesky(covariance * times))
        for row, value in zip(apart @ forms, apart @ own, strict=True):
            measured = measured.given(LinearForm(tuple(map(float, row))), (value, 1.0, 0.0, 0.0))
        results.append(measured)
    return results


def _sizes(tables: Sequence[Measured]) -> Float64:
    """Numbers of records of at least 0: of all records, then of the groups, which add up to it."""
    first, *rest = np.array([each.at(each.records) for each in tables])
    everyone = np.maximum(first, 0.0)
    return np.array([everyone, *(at_least_zero(np.array(rest), everyone) if rest else ())])


def _counts(tables: Sequence[Measured], sizes: Float64) -> Sequence[Float64]:
    """Counts of at least 0: of all records, then of the groups, which add up to these and to the numbers of records."""
    first, *rest = (each.counts for each in tables)
    everyone = at_least_zero(first, sizes[0])
    return everyone, *(at_least_zero_both(np.array(rest), sizes[1:], everyone) if rest else ())


@dataclass(frozen=True, repr=False)
class DescribeEstimate(Estimate):
    """The first table of a report: a row for each variable, a column for each group and one for all of them.

    Fields:
        variables: The variables, in the order of the table.
        by: Column that says which group a record belongs to; None where all records are one column.
        groups: Its values, in the order asked; none where all records are one column.
        found: What was released: the bounds that were found, by variable, then every part of every variable, of one
            group after the other.
        public_groups: Whether everybody may know each record's group; numbers of records of the groups are then exact.
        guessed: Variables whose kind was guessed from the cells of a text file.
        left_out: Columns that are not described, and why.
        threshold: Of groups that were found the noisy number of records from which on they are, 1 of exact ones; None
            of named ones.
        provenance: What was released, at what price and under whose trust.

    Example:
        >>> import numpy as np, ogive
        >>> rng = np.random.default_rng(1)
        >>> people = {"age": rng.integers(18, 90, 10_000), "smoker": rng.random(10_000) < 0.3}
        >>> table = ogive.describe(people, bounds={"age": (0, 120)}, privacy=ogive.PureDP(1))
        >>> bool(abs(table["smoker"]["proportion"].value - 0.3) < 0.02)
        True
    """

    schema: ClassVar[str] = "ogive.describe/1"
    indent: ClassVar[int | None] = 1

    variables: tuple[Variable, ...]
    by: str | None
    groups: tuple[LabelValue, ...]
    found: tuple[Estimate, ...]
    public_groups: bool = False
    guessed: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    provenance: Provenance | None = None
    threshold: int | None = None

    @property
    def finding(self) -> tuple[Number, ...]:
        """The variables whose bounds were found."""
        return tuple(each for each in self.variables if isinstance(each, Number) and each.bounds is None)

    @property
    def columns(self) -> tuple[LabelValue | None, ...]:
        """The groups, or None alone for all records."""
        return self.groups or (None,)

    @cached_property
    def _places(self) -> dict[tuple[int, str, str], int]:
        """Where an estimate is, by the place of its group, its variable and its part."""
        start = len(self.finding)
        keys = [
            (group, each.column, part)
            for group in range(len(self.columns))
            for each in self.variables
            for part in each.parts
        ]
        return {key: start + number for number, key in enumerate(keys)}

    def _number(self, group: LabelValue | None) -> int:
        if group not in self.columns:
            listed = ", ".join(map(quoted, self.groups)) or "none"
            raise ParameterError(f"there is no group {quoted(group)}; the groups are: {listed}")
        return self.columns.index(group)

    def bounds_of(self, column: str) -> BoundsEstimate | None:
        """The bounds that were found for a variable of all records; None of one whose bounds were declared."""
        for variable, estimate in zip(self.finding, self.found, strict=False):
            if variable.column == column:
                assert isinstance(estimate, BoundsEstimate)
                return estimate
        return None

    def bounded(self, column: str) -> bool:
        """Whether a variable has bounds: they were declared, or found; without any nothing is known of it."""
        bounds = self.bounds_of(column)
        return bounds is None or bounds.defined

    def of(self, column: str, group: LabelValue | None = None) -> dict[str, Estimate]:
        """The estimates of a variable in one group, by the names of their parts.

        Args:
            column: The variable.
            group: One of the groups; None for all records.

        Raises:
            ParameterError: there is no such variable, or no such group.
        """
        variable = self._variable(column)
        number = None if group is None else self._number(group)
        return {part: self._part(number, column, part) for part in variable.parts}

    def __getitem__(self, column: str) -> dict[str, Estimate]:
        """The estimates of a variable for all records, by the names of their parts; see `of`."""
        return self.of(column)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def _variable(self, column: str) -> Variable:
        for variable in self.variables:
            if variable.column == column:
                return variable
        listed = ", ".join(quoted(each.column) for each in self.variables)
        raise ParameterError(f"there is no variable {quoted(column)}; there are {listed}")

    def differences(self) -> tuple[Difference, ...]:
        """How the groups differ in every variable: standardized differences, and p-values that know the noise.

        Raises:
            ParameterError: there are fewer than two groups.

        Privacy:
            Post-processing.
        """
        return differences(self)

    def alone(self) -> Iterator[tuple[LabelValue | None, Estimate]]:
        """Every part of every variable, of all records (None) and of each group, by what was measured of it alone."""
        for place, group in enumerate((None, *self.groups)):
            for variable in self.variables:
                for part in variable.parts:
                    yield group, self._raw(place - 1 if place else None, variable.column, part)

    def _raw(self, group: int | None, column: str, part: str) -> Estimate:
        """An estimate by what its own question measured, of one group or of all records."""
        if group is not None or not self.groups:
            return self.found[self._places[group or 0, column, part]]
        each = [self.found[self._places[number, column, part]] for number in range(len(self.groups))]
        return added_up(each, self.provenance)

    @cached_property
    def _agreed(self) -> tuple[dict[Key, Estimate], dict[int | None, float]]:
        return _agreed(self)

    def _part(self, group: int | None, column: str, part: str) -> Estimate:
        estimates, key = self._agreed[0], (group, column, part)
        if key not in estimates:  # quantiles, whose curves of all groups take a moment to add up
            estimates[key] = self._raw(*key)
        return estimates[key]

    def records(self, group: LabelValue | None = None) -> float | None:
        """The number of records, by all that was measured of it and what is public; those of the groups add up.

        Args:
            group: One of the groups; None for all records.

        Returns:
            At least 0; None where every variable drops missing values, and none of them counts these.

        Raises:
            ParameterError: there is no such group.
        """
        number = None if group is None else self._number(group)
        return self._agreed[1].get(number)

    def with_provenance(self, provenance: Provenance) -> Self:
        """The same estimates, each carrying the provenance, with its group's condition and number of records."""
        results = [each.with_provenance(provenance) for each in self.found]
        if self.by is not None:
            for (group, _, _), place in self._places.items():
                mine = of_group(provenance, self.by, self.groups[group], results[place])
                results[place] = results[place].with_provenance(mine)
        return dataclasses.replace(self, found=tuple(results), provenance=provenance)

    @property
    def noise_beside(self) -> str:
        """That of the part with the largest noise; of a curve, what is read from it."""
        _, beside = max(self._noise.values())
        return OF_QUARTILES if beside == OF_RECORDS else beside

    @property
    def noise_hides(self) -> str:
        """The variables that noise hides, where it does not hide all."""
        loud = [column for column, (share, _) in self._noise.items() if share >= LOUD]
        return f" of {', '.join(loud)}" if len(loud) < len(self._noise) else ""

    def noise_share(self) -> float:
        """The largest of all variables."""
        return max(self._noise.values())[0]

    @cached_property
    def _noise(self) -> dict[str, tuple[float, str]]:
        """By variable the largest noise of its parts, each of the group that it hides least, and what it is beside."""
        result = {}
        for each in self.variables:
            groups = [self.of(each.column, group) for group in self.columns]
            shares = {part: min(parts[part].noise_share() for parts in groups) for part in each.parts}
            loudest = max(shares, key=lambda part: shares[part])
            result[each.column] = shares[loudest], groups[0][loudest].noise_beside
        return result

    def to_dict(self) -> dict[str, Any]:
        """Plain data of described variables."""
        return {
            "schema": self.schema,
            "variables": [_written(variable) for variable in self.variables],
            "by": self.by,
            "groups": list(self.groups),
            "public_groups": self.public_groups,
            **({} if self.threshold is None else {"threshold": self.threshold}),
            "guessed": list(self.guessed),
            "left_out": dict(self.left_out),
            "found": [estimate.to_dict() for estimate in self.found],
            "provenance": None if self.provenance is None else self.provenance.to_dict(),
        }

    @classmethod
    def _read(cls, data: Any) -> Any:
        known = Fields.of(data, DescribeEstimate.schema, "described variables", _NEEDED)
        variables = _variables(known)
        by, groups = _groups(known)
        public = known.flag("public_groups")
        provenance = known.provenance(*((by,) if public and by is not None else ()))
        held = data["found"]
        if not isinstance(held, list):
            raise DataError("the field 'found' of described variables must be a list of estimates")
        result = DescribeEstimate(
            variables,
            by,
            groups,
            tuple(map(_estimate, held)),
            public,
            tuple(_texts(known, "guessed")),
            _reasons(known),
            threshold=_threshold(known),
        )
        _check_found(result)
        if provenance is None:
            return result
        stamped = result.with_provenance(provenance)
        if [each.provenance for each in stamped.found] != [each.provenance for each in result.found]:
            raise DataError("the provenance of each estimate must be that of the release, with its group's condition")
        _check_price(stamped, provenance)
        return stamped

    def errors(self, truth: Any) -> dict[str, float]:
        """The largest of the groups' errors of each variable: of its mean or share, and of its quantiles.

        Raises:
            ParameterError: the truth is of other variables or groups.
        """
        truth = self.exact(truth)
        errors: dict[str, float] = {}
        for group, column, part in self._places:
            exact = truth.found[truth._places[group, column, part]]
            for name, error in self._part(group if self.groups else None, column, part).errors(exact).items():
                key = f"{'missing' if part == KNOWN else name} of {column}"
                errors[key] = max(errors.get(key, 0.0), error)
        return errors

    def exact(self, truth: Any) -> DescribeEstimate:
        """The true values of these variables and groups; of groups that were found the truth may have more.

        Raises:
            ParameterError: the truth is of other variables or groups.
        """
        alike = isinstance(truth, DescribeEstimate) and (
            truth.by == self.by
            and (truth.groups == self.groups or (self.threshold is not None and set(self.groups) <= set(truth.groups)))
            and [(each.column, each.kind) for each in truth.variables]
            == [(each.column, each.kind) for each in self.variables]
        )
        if not alike:
            raise ParameterError("the truth must be of the same variables and groups, in the same order")
        if any(
            mine.count_missing > each.count_missing for mine, each in zip(self.variables, truth.variables, strict=True)
        ):
            raise ParameterError("the truth must count missing values too: `count_missing=True`")
        known: DescribeEstimate = truth
        parts = (list(known.of(each.column, group).values()) for group in self.columns for each in known.variables)
        each = [estimate for estimates in parts for estimate in estimates]
        return dataclasses.replace(known, groups=self.groups, found=(*known.found[: len(known.finding)], *each))


# --- Plain data, which need not be trusted

MOST_VARIABLES = 1000
_NEEDED = ("variables", "by", "groups", "public_groups", "guessed", "left_out", "found", "provenance")
_PARTS = {
    "mean": "ogive.mean/1",
    "quantiles": "ogive.quantiles/1",
    "proportion": "ogive.proportion/1",
    "histogram": "ogive.histogram/1",
    KNOWN: "ogive.proportion/1",
}


def _written(variable: Variable) -> dict[str, Any]:
    own: dict[str, Any]
    if isinstance(variable, Number):
        own = {"bounds": None if variable.bounds is None else list(variable.bounds)}
    elif isinstance(variable, Share):
        own = {"positive": variable.positive}
    else:
        own = {"values": list(variable.values)}
    return {
        "column": variable.column,
        "kind": variable.kind,
        **own,
        "missing": variable.missing,
        "confidence_level": variable.confidence_level,
        **({"count_missing": True} if variable.count_missing else {}),
    }


def _estimate(data: Any) -> Estimate:
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema not in (*_PARTS.values(), "ogive.bounds/1"):
        raise DataError("described variables hold bounds, means, quantiles, proportions and histograms alone")
    return read_estimate(data)


def _variables(known: Fields) -> tuple[Variable, ...]:
    results: list[Variable] = []
    rows = known.rows("variables", "a variable", ("column", "kind", "missing", "confidence_level"), nonempty=True)
    if len(rows) > MOST_VARIABLES:
        raise DataError(f"there are more than {MOST_VARIABLES} described variables")
    for row in rows:
        column, kind, missing = row.text("column"), row.text("kind"), row.data["missing"]
        if not (is_text(missing) or is_number(missing)):
            raise DataError("what missing values of a variable mean must be a short text or a number")
        level = row.chance("confidence_level")
        counts = row.flag("count_missing") if "count_missing" in row.data else False
        try:
            if kind == Number.kind:
                results.append(Number(column, _bounds(row.data.get("bounds")), missing, level, counts))
            elif kind == Share.kind:
                results.append(Share(column, row.data.get("positive", True), missing, level, counts))
            elif kind == Categories.kind and isinstance(row.data.get("values"), list):
                results.append(Categories(column, tuple(row.data["values"]), missing, level, counts))
            else:
                kinds = ", ".join(each.kind for each in (Number, Share, Categories))
                raise DataError(f"the kind of a variable must be one of {kinds}, with what belongs to it")
        except ParameterError as problem:
            raise DataError(f"a described variable contradicts itself: {plain(problem)}") from None
    if len({each.column for each in results}) < len(results):
        raise DataError("a variable is described twice")
    return tuple(results)


def _bounds(data: Any) -> Any:
    if data is None:
        return None
    if not isinstance(data, list) or len(data) != 2 or not all(map(is_number, data)):
        raise DataError("the bounds of a variable must be two numbers or null")
    return tuple(data)


def _groups(known: Fields) -> tuple[str | None, tuple[Any, ...]]:
    by, listed = known.data["by"], known.data["groups"]
    if by is None and listed == []:
        return None, ()
    by = known.text("by")
    return by, read_groups(by, listed)


def _threshold(known: Fields) -> int | None:
    """From how many records on groups were found."""
    if "threshold" not in known.data:
        return None
    if known.data["by"] is None or known.data["public_groups"]:
        raise DataError("the field 'threshold' belongs to groups that were found, which are private")
    return known.whole("threshold", 1, LARGEST_THRESHOLD)


def _texts(known: Fields, name: str) -> list[str]:
    listed = known.data[name]
    if not isinstance(listed, list) or not all(map(is_text, listed)):
        raise DataError(f"the field '{name}' of described variables must be a list of texts")
    return listed


def _reasons(known: Fields) -> dict[str, str]:
    reasons = known.data["left_out"]
    if not isinstance(reasons, dict) or not all(is_text(each) for pair in reasons.items() for each in pair):
        raise DataError("the field 'left_out' of described variables must be texts by column")
    return reasons


def _check_found(result: DescribeEstimate) -> None:
    """Refuse estimates that are not those of the variables and groups, in their order."""
    wanted = [(each.column, "ogive.bounds/1") for each in result.finding]
    wanted += [(each.column, _PARTS[part]) for _ in result.columns for each in result.variables for part in each.parts]
    held: list[Any] = list(result.found)
    if [(each.column, each.schema) for each in held] != wanted:
        raise DataError("the estimates of described variables must be those of the variables and groups, in order")


def _check_price(result: DescribeEstimate, source: Provenance) -> None:
    """Refuse a price below that of the noise of all estimates of one group together, with that of finding bounds."""
    if source.privacy is None or source.price is None:
        return
    first = len(result.finding)
    one = (len(result.found) - first) // len(result.columns)
    losses = [loss for each in result.found[: first + one] if (loss := _loss(each, source)) is not None]
    if losses and not at_least(source.price, total_loss(losses)):
        raise DataError(
            f"these described variables contradict themselves: their noise costs {total_loss(losses)}, and their "
            f"stated price is {source.price}"
        )


def _loss(estimate: Estimate, source: Provenance) -> Loss | None:
    if isinstance(estimate, NumberEstimate | HistogramEstimate):
        adjacency = estimate.measured.adjacency
        unit = source.unit if adjacency is source.adjacency else PrivacyUnit(adjacency, source.person)
        return None if estimate.query is None else estimate.query.price(unit)
    held: Any = estimate
    curve = getattr(held, "curve", held)
    if curve.strategy is None:
        return None
    return loss_of(curve.strategy, source.adjacency, source.max_rows_per_person)


# --- How descriptions are planned: the law of the noise says how far every number of every variable will be off

_BASIS = "errors: largest standard deviations of the noise, in the units of the column or in percent"
_OF_NUMBERS = f"; of the median if values are spread evenly over the bounds; of the SD {OF_SPREAD}"
_GROUP = 1000
"""Records of a group whose errors are shown, where groups are found by the release."""


class DescribePrediction(Prediction):
    """The noise of a mean, an SD and a median, or of a share, of each variable, for all records."""

    def __init__(self, statistic: Statistic[Any], terms: Terms, setting: Setting) -> None:
        if not cast(Any, statistic).variables:
            raise ParameterError(
                "say which variables there are, by `bounds`, `values` or `numbers`, or name the table, whose columns "
                "then say it"
            )
        super().__init__(statistic, terms, setting)

    decided = True

    def errors(self) -> Errors:
        """The noise of every number, in units of its column; of groups, that of one of a stated size."""
        result = cast(DescribeEstimate, self.rehearsal.estimate)
        size = self._size(result)
        errors: dict[str, float] = {}
        for variable in result:
            parts = result.of(variable.column, result.columns[0])
            for part, estimate in parts.items():
                unit, words = _unit(variable, part)
                errors[f"{variable.column}: {_NAMES[part]}{words}"] = unit * _noise(estimate, size)
                if isinstance(estimate, MeanEstimate) and part == "mean" and estimate.has_spread:
                    errors[f"{variable.column}: SD{words}"] = unit * _spread_noise(estimate, size)
        return Errors(errors, basis=tuple(self._basis(result, size)))

    @property
    def _open(self) -> bool:
        """Whether the release finds the groups."""
        query: Any = self.statistic
        return query.by is not None and query.groups is None

    def _size(self, result: DescribeEstimate) -> float:
        """How many records a group has, for which the errors hold."""
        return min(_GROUP, self.setting.records) if self._open else self.setting.records / len(result.columns)

    def _basis(self, result: DescribeEstimate, size: float) -> Iterator[str]:
        """What the errors rest on, and what cannot be known before the release."""
        query: Any = self.statistic
        basis = _BASIS + (_OF_NUMBERS if any(isinstance(each, Number) for each in result) else "")
        if self._open:
            yield f"{basis}; of a group of {size:,.0f} records"
            yield (
                f"not known beforehand: which groups of {plain(query.by)} are found, and how many records they have; "
                f"errors of a group of n records are {size:,.0f} / n times as large, and a value that fewer than about "
                f"{result.threshold} records have will probably not be found"
            )
        else:
            groups = "" if result.by is None else f"; of one of {len(result.groups)} groups of {size:,.0f} records"
            yield f"{basis}{groups}"
        if result.finding:
            needed = max(each.threshold for each in result.found if isinstance(each, BoundsEstimate))
            yield (
                f"not known beforehand: bounds that are not declared; the release finds them at "
                f"{SHARE_OF_BOUNDS[query.search]} of the variable's part, if about {needed:,} records or more are of "
                "one magnitude, and errors are then in % of the distance between them; `bounds=` declares them, for "
                "less noise"
            )
        if query.guessed:
            yield f"what they are is guessed from the cells of the file: {plain(', '.join(query.guessed))}"
        reasons: dict[str, list[str]] = {}
        for column, reason in (query.left_out or {}).items():
            reasons.setdefault(reason, []).append(column)
        for reason, columns in reasons.items():
            yield f"not described: {plain(', '.join(columns))}, since {plain(reason)}"


_NAMES = {"mean": "mean", "quantiles": "median", "proportion": "%", "histogram": "%", KNOWN: "missing %"}


def _unit(variable: Variable, part: str) -> tuple[float, str]:
    """What an error as a share of the range is multiplied by, and the words for it."""
    if not isinstance(variable, Number) or part == KNOWN:
        return 100.0, ""
    if variable.bounds is None:
        return 100.0, ", % of the bounds found"
    low, high = (float(bound) for bound in variable.bounds)  # type: ignore[arg-type]
    return high - low, ""


def _noise(estimate: object, size: float) -> float:
    """Standard deviation of the noise of a number, as a share of its range."""
    if isinstance(estimate, QuantileEstimates):
        assert estimate.curve is not None
        strategy: Strategy | None = estimate.curve.strategy
        known = estimate.curve.total is not None
        return 0.0 if strategy is None else math.sqrt(float(strategy.variance(total_known=known).mean())) / size
    if isinstance(estimate, HistogramEstimate):
        return max(estimate.noise_errors) / size
    assert isinstance(estimate, NumberEstimate)
    reading = estimate.reading
    ratios = (reading.low, (reading.low + reading.high) / 2, reading.high)
    most = max(reading.deviation(ratio, sampling=False).standard_error for ratio in ratios)
    return most / size / (reading.high - reading.low)


def _spread_noise(estimate: MeanEstimate, size: float) -> float:
    """Standard deviation of the noise of a standard deviation, as a share of the distance of the bounds."""
    reading = estimate.reading
    return estimate.expected_spread_error(size, SPREAD_SHARE) / reading.unit / (reading.high - reading.low)
