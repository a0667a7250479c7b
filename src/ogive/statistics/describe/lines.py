"""The lines of the table: what is said of each variable in each column, in words and numbers for people."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ogive.columns import LabelValue
from ogive.core.digits import number
from ogive.showing.axis import shown as at_threshold
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.variables import KNOWN, Number, Share, Variable
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.sums.estimate import MeanEstimate, ProportionEstimate
from ogive.statistics.sums.view import NOTHING, between, deviation, shown

OVERALL = "Overall"
Cells = tuple[str, ...]
_COUNTED = {"number": "mean", "share": "proportion", "categories": "histogram"}
"""The part of each kind of variable that knows the number of records."""


@dataclass(frozen=True)
class Line:
    """One line.

    Fields:
        label: What it says of which variable.
        cells: One for each column of the table.
        inner: Whether it goes on with the variable of the line above.
    """

    label: str
    cells: Cells
    inner: bool = False

    @property
    def indented(self) -> str:
        """The label, set in by a wide space where it goes on with a variable."""
        return f"\u2003{self.label}" if self.inner else self.label


def columns_of(estimate: DescribeEstimate) -> tuple[LabelValue | None, ...]:
    """All records, and the groups where there are any."""
    return (None, *estimate.groups)


def titles(estimate: DescribeEstimate) -> Cells:
    """Headings of the columns."""
    return (OVERALL, *(group if isinstance(group, str) else f"{estimate.by} = {group}" for group in estimate.groups))


def lines(estimate: DescribeEstimate) -> list[Line]:
    """The lines of the table, variable by variable."""
    told = [_records(estimate, group) for group in columns_of(estimate)]
    first = [] if None in told else [Line("n", tuple(f"{each:,}" for each in told))]
    return [*first, *(line for variable in estimate for line in _of_variable(estimate, variable))]


def _records(estimate: DescribeEstimate, group: LabelValue | None) -> int | None:
    """The number of records of a column of the table, where it is public or some variable counts all of them.

    Several variables measure it with independent noise, so their mean is taken with weights of the inverse variance.
    """
    total = _public_total(estimate, group)
    if total is not None:
        return total
    parts = [(each.column, part) for each in estimate if (part := _counting_all(estimate, each)) is not None]
    if not parts:
        return None
    counted: list[Any] = [estimate.of(column, group)[part] for column, part in parts]
    measured = [each.measured for each in counted]
    errors = [each.records_variance for each in measured]
    weights = [1.0 if min(errors) == 0 else 1 / each for each in errors]
    mean = math.fsum(weight * each.at(each.records) for weight, each in zip(weights, measured, strict=True))
    return max(0, round(mean / math.fsum(weights)))


def _counting_all(estimate: DescribeEstimate, variable: Variable) -> str | None:
    """The part of a variable that knows the number of all records, if one does."""
    if variable.missing != "drop" and estimate.bounded(variable.column):
        return _COUNTED[variable.kind]
    return KNOWN if variable.count_missing else None


def _public_total(estimate: DescribeEstimate, group: LabelValue | None) -> int | None:
    if group is None:
        return None if estimate.provenance is None else estimate.provenance.total
    source = next(iter(estimate.of(estimate.variables[0].column, group).values())).provenance
    return None if source is None else source.total


def _of_variable(estimate: DescribeEstimate, variable: Variable) -> Iterator[Line]:
    each: list[Mapping[str, Any]] = [estimate.of(variable.column, group) for group in columns_of(estimate)]

    def line(label: str, cell: Callable[[Mapping[str, Any]], str], *, inner: bool = True) -> Line:
        if not estimate.bounded(variable.column):
            return Line(label, (NOTHING,) * len(each), inner)
        return Line(label, tuple(map(cell, each)), inner)

    def row(label: str, part: str, cell: Callable[[Any], str], *, inner: bool = True) -> Line:
        return line(label, lambda parts: cell(parts[part]), inner=inner)

    name = variable.column
    if isinstance(variable, Number):
        yield row(f"{name}, mean (SD)", "mean", mean_cell, inner=False)
        yield row(f"{100 * variable.confidence_level:g} % interval", "mean", interval_cell)
        # without a record there is no median, whatever is read off the noise
        yield line(
            "median [Q1, Q3]",
            lambda parts: median_cell(parts["quantiles"]) if parts["mean"].defined else NOTHING,
        )
    elif isinstance(variable, Share):
        yield row(f"{label_of(variable)}, n (%)", "proportion", share_cell, inner=False)
    else:
        yield row(f"{name}, n (%)", "histogram", lambda _: "", inner=False)
        histogram: Any = each[0]["histogram"]
        for place, category in enumerate(histogram.categories):
            yield row(category, "histogram", partial(category_cell, place=place))
    part = _COUNTED[variable.kind]
    counted: list[Any] = [parts[part] for parts in each]
    if variable.missing == "drop" and any(one.measured.total is None for one in counted):
        # without the missing values that are dropped
        yield row("n", part, records_cell)
    if variable.count_missing:
        # also of a variable whose bounds were not found
        known: list[Any] = [parts[KNOWN] for parts in each]
        yield Line("Missing, n (%)", tuple(map(missing_cell, known)), inner=True)


def label_of(variable: Variable) -> str:
    """What a variable's number is of: its name, with the value that is counted."""
    if not isinstance(variable, Share) or variable.positive is True:
        return variable.column
    return f"{variable.column} = {variable.positive}"


def mean_cell(estimate: MeanEstimate) -> str:
    """Mean and standard deviation."""
    if not estimate.defined:
        return NOTHING
    spread = deviation(estimate)
    return shown(estimate, estimate.value) if spread is None else f"{shown(estimate, estimate.value)} ({spread})"


def interval_cell(estimate: MeanEstimate) -> str:
    """The interval of a mean."""
    return between(estimate) if estimate.defined else NOTHING


def median_cell(estimate: QuantileEstimates) -> str:
    """Median and quartiles."""
    if estimate.curve is not None and not estimate.curve.defined:
        return NOTHING
    widest = max(high - low for low, high in zip(estimate.low, estimate.high, strict=True))
    low, middle, high = (at_threshold(estimate.grid, each, widest) for each in estimate.numbers)
    return f"{middle} [{low}, {high}]"


def share_cell(estimate: ProportionEstimate) -> str:
    """Number and share of the records that have the value."""
    return _count(counted(estimate), estimate.value, estimate.interval()) if estimate.defined else NOTHING


def missing_cell(known: ProportionEstimate) -> str:
    """Number and share of the records that have no value."""
    if not known.defined:
        return NOTHING
    return _count(max(0, round(known.records) - counted(known)), 1 - known.value, known.interval())


def category_cell(estimate: HistogramEstimate, place: int) -> str:
    """Number and share of the records of one category."""
    if not estimate.defined:
        return NOTHING
    return _count(round(estimate.counts[place]), estimate.shares[place], estimate.intervals()[place])


def _count(records: int, share: float, interval: tuple[float, float]) -> str:
    return f"{records:,} ({number(100 * share, max(100 * (interval[1] - interval[0]), 1.0))})"


def records_cell(estimate: MeanEstimate | ProportionEstimate | HistogramEstimate) -> str:
    """How many records there are, noise included."""
    return f"{max(0, round(estimate.records)):,}"


def counted(estimate: ProportionEstimate) -> int:
    """How many records have the value, noise included."""
    return max(0, round(estimate.measured.at(estimate.reading.numerator)))


def _moved(estimate: DescribeEstimate) -> Iterator[str]:
    """How far noise moves the standard deviation of each variable, in the column where that is most."""
    for variable in estimate:
        if isinstance(variable, Number) and estimate.bounded(variable.column):
            means: list[Any] = [estimate.of(variable.column, group)["mean"] for group in columns_of(estimate)]
            errors = [mean.standard_deviation_error or 0.0 for mean in means]
            if max(errors) > 0:
                yield f"{number(max(errors), max(errors))} for {variable.column}"


def notes(estimate: DescribeEstimate) -> list[str]:
    """What a reader has to know, in sentences."""
    said = []
    if estimate.private:
        said.append(
            f"{_what_is_noisy(estimate)}. Intervals are confidence intervals for the population, with sampling error "
            "and noise. Percentages are of the records of the column. A dash marks what the noise leaves undefined."
        )
    moved = list(_moved(estimate))
    if moved:
        said.append(
            f"Noise changes a standard deviation (SD) by about {', '.join(moved)}; that is its standard error, in the "
            "column where it is largest."
        )
    if estimate.groups:
        said.append("Overall adds up the groups, with the noise of all of them.")
    if estimate.threshold is not None:
        fewer = (
            f"values of {estimate.by} with fewer than about {estimate.threshold:,} records are in no group, nor are "
            "records without a value; "
        )
        said.append(f"Groups were found: {fewer * estimate.private}records of no group are not in Overall.")
    finding = [each.column for each in estimate.finding]
    if finding:
        bounds = ", ".join(map(_found_bounds(estimate), finding))
        said.append(
            f"Bounds were found privately: {bounds}. Values beyond them count as the bound; the intervals do not "
            f"include that error{_outside(estimate, finding)}, so declare bounds where they are known."
        )
    if estimate.guessed:
        listed = ", ".join(estimate.guessed)
        said.append(f"Read from the file and counted as public: of what kind the columns are ({listed}).")
    for reason in dict.fromkeys(estimate.left_out.values()):
        names = [name for name, each in estimate.left_out.items() if each == reason]
        said.append(f"Not described: {', '.join(names)}, since {reason}.")
    return said


def _outside(estimate: DescribeEstimate, finding: Sequence[str]) -> str:
    """How many records may lie beyond bounds that were found, where that is most; nothing where none were."""
    bounds = {column: estimate.bounds_of(column) for column in finding}
    outside = {column: each.records_outside or 0 for column, each in bounds.items() if each is not None}
    if not any(outside.values()):
        return ""
    worst = max(outside, key=lambda column: outside[column])
    records = _records(estimate, None)
    if records is not None and 2 * outside[worst] > records:
        return f", and the noise hides how many records lie beyond those of {worst}"
    return f", and the noise leaves room for {outside[worst]:,} records beyond those of {worst}, the most of any column"


def _what_is_noisy(estimate: DescribeEstimate) -> str:
    """Which numbers carry noise: not the numbers of records that are public."""
    public = [_public_total(estimate, group) is not None for group in columns_of(estimate)]
    if all(public):
        return (
            "The numbers n are public and exact; all others carry noise"
            if estimate.groups
            else "The number n is public and exact; all others carry noise"
        )
    if public[0]:
        return "The number of all records is public and exact; all other numbers carry noise"
    return "All numbers carry noise"


def _found_bounds(estimate: DescribeEstimate) -> Callable[[str], str]:
    numbers = {each.column: each for each in estimate.finding}

    def words(column: str) -> str:
        bounds = estimate.bounds_of(column)
        if bounds is None or not bounds.defined:
            needed = "" if bounds is None else f"; a magnitude needs about {bounds.threshold:,} records to be found"
            return f"{column} (none: noise hides where its values are{needed})"
        low, high = numbers[column].between(bounds)
        return f"{column} {low:g} to {high:g}"

    return words
