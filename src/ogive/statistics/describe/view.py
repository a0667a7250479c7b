"""What people see of described variables: the first table of a report, and a panel of each variable."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from ogive.columns import LabelValue
from ogive.core.arrays import Float64, Int64
from ogive.core.digits import number
from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.axis import shown as at_threshold
from ogive.showing.chapter import Chapter, Picture
from ogive.showing.chart import MOST_ROWS
from ogive.showing.pictures import BLUE, GRAY, Style, caption, legend, lighten, new_axes, styled
from ogive.showing.view import Numbers, View, sentence
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.describe.variables import KNOWN, Number, Share, Variable
from ogive.statistics.groups.view import WIDEST
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.sums.estimate import MeanEstimate, NumberEstimate, ProportionEstimate
from ogive.statistics.sums.posterior import whole_numbers
from ogive.statistics.sums.view import NOTHING, between, deviation, shown

_GAP = "  "
_INNER = "  "
_LONGEST = 40
_SHOWN = 4
_QUARTILES = ("q1", "median", "q3")

_MOST_PICTURES = 24
"""More variables than these are not drawn; the table has them all."""

_WIDTH = 7.2
_HEAD, _TITLE, _ROW, _TICKS = 0.9, 0.3, 0.24, 0.3
"""Heights in inches: of the picture's title, and of a panel's title, lines and numbers."""

_SMALL, _LARGE = 8, 9
_LEAST = 0.65


class DescribeEstimateView(View):
    """A table of all variables and groups."""

    estimate: DescribeEstimate
    table_title = "Characteristics"

    @property
    def name(self) -> str:
        result, number = self.estimate, len(self.estimate)
        variables = f"{number} variable{'s' if number > 1 else ''} described"
        return variables if result.by is None else f"{variables} by {result.by}"

    @property
    def title(self) -> str:
        return sentence(self.name)[:-1]

    @property
    def short(self) -> str:
        result, names = self.estimate, [each.column for each in self.estimate]
        listed = ", ".join(name[:_LONGEST] for name in names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        return listed if result.by is None else f"{listed} by {result.by[:_LONGEST]}"

    @property
    def subject(self) -> str:
        first, *others = [each.column for each in self.estimate]
        return f"{first} and {len(others)} more" if others else first

    @property
    def headings(self) -> tuple[str, ...]:
        return ("Variable", *titles(self.estimate))

    @property
    def rows(self) -> list[tuple[str, ...]]:
        return [(line.indented, *line.cells) for line in lines(self.estimate)]

    @property
    def notes(self) -> list[str]:
        return notes(self.estimate)

    def text(self) -> str:
        """A table of at most 100 columns; groups that do not fit beside each other follow below."""
        result = self.estimate
        shown = textwrap.wrap(f"{self.name} ({result.caption})", WIDEST, subsequent_indent=_INNER)
        body = lines(result)
        labels = [_cut(f"{_INNER * line.inner}{line.label}") for line in body]
        for place, block in enumerate(_blocks(result, body, labels)):
            shown += ([""] if place else []) + block
        for note in self.notes:
            shown += textwrap.wrap(note, WIDEST, break_long_words=False, break_on_hyphens=False)
        return "\n".join(shown)

    @property
    def columns(self) -> dict[str, Any]:
        """Variable, value that is counted, group, name of the number, the number, its error and its interval.

        The group of all records is None. The standard error of an SD is that of its noise alone.
        """
        result = self.estimate
        names = ("variable", "value", "group", "statistic", "estimate", "standard_error", "low", "high")
        rows = []
        for variable in result:
            counted = str(getattr(variable, "positive", "")) or None
            for group in columns_of(result):
                parts = result.of(variable.column, group)
                for part, estimate in parts.items():
                    shown = None if group is None else str(group)
                    if part == KNOWN:
                        rows.append((variable.column, None, shown, "missing", *_missing(estimate)))
                    elif isinstance(estimate, HistogramEstimate):
                        rows += [(variable.column, row[0], shown, *row[1:]) for row in _categories(estimate)]
                    elif not (result.bounded(variable.column) and _has_records(parts, estimate)):
                        rows += [(variable.column, counted, shown, row[0], *(None,) * 4) for row in _rows(estimate)]
                    else:
                        rows += [(variable.column, counted, shown, *row) for row in _rows(estimate)]
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        result = self.estimate
        look = styled(style, color=BLUE, linestyle="none", label="released" if result.private else "exact")
        label = look.pop("label")
        shown = columns_of(result)
        drawn = panels(result)
        panel_height = _TITLE + _ROW * len(shown) + _TICKS
        axes = new_axes(ax)
        figure = axes.get_figure(root=True)
        if len(figure.get_axes()) == 1:  # a picture of its own is as high as its panels
            figure.set_size_inches(_WIDTH, _HEAD + panel_height * len(drawn))
        axes.set_axis_off()
        inches = axes.get_window_extent().height / figure.dpi
        # letters of panels that share a picture with others are smaller, down to what can be read
        scale = min(1.0, max(_LEAST, inches / (panel_height * len(drawn))))
        names = titles(result)
        left = min(0.3, 0.03 + 0.012 * max(map(len, names)))
        for above, panel in enumerate(drawn):
            bottom = 1 - (above + (_TITLE + _ROW * len(shown)) / panel_height) / len(drawn)
            height = _ROW * len(shown) / panel_height / len(drawn)
            place = axes.inset_axes((left, bottom, 0.98 - left, height))
            for line, point in enumerate(panel.points):
                if point is not None:
                    value, low, high = (number * (100 if panel.share else 1) for number in point)
                    place.hlines(line, low, high, color=look["color"], linewidth=5, alpha=0.35)
                    place.plot([value], [line], marker="o", markersize=5, **look)
            place.set_yticks(range(len(shown)), names, parse_math=False, fontsize=scale * _SMALL)
            place.set_ylim(len(shown) - 0.5, -0.5)
            place.tick_params(labelsize=scale * _SMALL, pad=3 * scale)
            title = f"{panel.name}, {'%' if panel.share else 'mean'}"
            place.set_title(title, loc="left", fontsize=scale * _LARGE, pad=5 * scale, color=GRAY, parse_math=False)
            lighten(place, grid="x")
        (sure, *_) = (variable.confidence_level for variable in result)
        axes.plot([], [], marker="o", markersize=5, **look, label=f"{label}, with {100 * sure:.6g} % CI")
        legend(axes)
        caption(axes, self.title, result.caption, private=result.private)
        return axes

    def check_truth(self, truth: Any) -> None:
        if not isinstance(truth, DescribeEstimate) or truth.private:
            raise ParameterError("the truth of described variables must be exact values of the same variables")

    def chapter(self, truth: DescribeEstimate | None = None) -> Chapter:
        if truth is not None:
            self.check_truth(truth)
            truth = self.estimate.exact(truth)
        return dataclasses.replace(super().chapter(truth), alike=bool(self.estimate.groups))

    @property
    def headline(self) -> str:
        by = "" if self.estimate.by is None else f", by {self.estimate.by}"
        return f"{', '.join(each.column for each in self.estimate)}{by}."

    @property
    def error(self) -> Sequence[str]:
        return self.notes

    @property
    def released(self) -> list[str]:
        result = self.estimate
        of_groups = "" if result.by is None else f" of each of {len(result.groups)} groups of {result.by},"
        counting = [variable.column for variable in result if variable.count_missing]
        known = f"; of {', '.join(counting)} how many records have a value" if counting else ""
        return [
            f"The following{of_groups} within one guarantee: of numbers the sums of the values and of their squares, "
            f"and their distribution at public thresholds; of counted values how many records have them{known}."
        ]

    @property
    def details(self) -> list[tuple[str, str]]:
        result = self.estimate
        groups = [("Groups", "public" if result.public_groups else "private")] if result.groups else []
        return [("Variables", f"{len(result)}"), *groups]

    def pictures(self, exact: Any) -> Sequence[Picture]:
        """Of groups a chart for each mean and share; of all records together one chart of all shares."""
        result, drawn = self.estimate, panels(self.estimate)
        true = [None] * len(drawn) if exact is None else panels(exact.estimate)
        both = list(zip(drawn, true, strict=True))
        if result.groups:
            if len(titles(result)) > MOST_ROWS:
                return ()
            pictures = [Picture(self._of_groups(panel, other), panel.name) for panel, other in both[:_MOST_PICTURES]]
            return _noted(pictures, len(both) - _MOST_PICTURES, "means and shares")
        shares = [pair for pair in both if pair[0].share]
        rows = [(panel.name, panel.points[0], other.points[0] if other else None) for panel, other in shares]
        some = [Picture(self._chart("Shares", "Share of the records", rows[:MOST_ROWS], shares=True))] if rows else []
        return _noted(some, len(rows) - MOST_ROWS, "shares")

    def _of_groups(self, panel: Panel, exact: Panel | None) -> Any:
        others = [None] * len(panel.points) if exact is None else exact.points
        rows = list(zip(titles(self.estimate), panel.points, others, strict=True))
        title = f"{'Share of records with ' if panel.share else 'Mean of '}{panel.name} by {self.estimate.by}"
        return self._chart(title, "Share of the records" if panel.share else "Mean", rows, shares=panel.share)

    def _chart(self, title: str, label: str, rows: Sequence[tuple[str, Any, Any]], *, shares: bool) -> Any:
        level = words.percent(self.estimate.variables[0].confidence_level)
        interval = f"{level} interval for the population"
        numbers = [(name, *(point or (None, 0.0, 0.0))) for name, point, _ in rows]
        shown = Numbers(label, numbers, shares, interval=interval)
        true = [None if exact is None else exact[0] for *_, exact in rows]
        summary = f"{title}: each with its {level} interval. The table below has the numbers."
        return self.chart(shown, true, title, summary)


def _noted(pictures: list[Picture], left: int, what: str) -> tuple[Picture, ...]:
    """The pictures; the last says how many numbers are in the table alone."""
    if left > 0:
        pictures[-1] = dataclasses.replace(pictures[-1], note=f"{left:,} more {what} are in the table alone.")
    return tuple(pictures)


# --- Text and data frames


def _blocks(result: DescribeEstimate, body: list[Line], labels: list[str]) -> Iterator[list[str]]:
    """Parts of the table, each with as many columns as fit."""
    first = max(map(len, ("Variable", *labels)))
    columns = [[title, *(line.cells[place] for line in body)] for place, title in enumerate(map(_cut, titles(result)))]
    widths = [max(map(len, column)) for column in columns]
    start = 0
    while start < len(columns):
        end, width = start, first
        while end < len(columns) and (end == start or width + len(_GAP) + widths[end] <= WIDEST):
            width += len(_GAP) + widths[end]
            end += 1
        some = range(start, end)
        yield [
            _GAP.join([label.ljust(first), *(columns[place][row].rjust(widths[place]) for place in some)]).rstrip()
            for row, label in enumerate(["Variable", *labels])
        ]
        start = end


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _has_records(parts: Mapping[str, Any], estimate: Any) -> bool:
    """Whether noise leaves records; of none there is no median, whatever is read off the noise."""
    return not isinstance(estimate, QuantileEstimates) or parts["mean"].defined


def _rows(estimate: Any) -> Iterator[tuple[str, float | None, float | None, float | None, float | None]]:
    if isinstance(estimate, QuantileEstimates):
        for name, value, low, high in zip(_QUARTILES, estimate.numbers, estimate.low, estimate.high, strict=True):
            yield name, value, None, low, high
        return
    assert isinstance(estimate, NumberEstimate)
    if isinstance(estimate, MeanEstimate | ProportionEstimate):
        yield "n", max(0.0, estimate.records), None, None, None
    if not estimate.defined:
        yield estimate.what, None, None, None, None
        return
    yield estimate.what, estimate.value, estimate.standard_error, *estimate.interval()
    if isinstance(estimate, MeanEstimate):
        yield "sd", estimate.standard_deviation, estimate.standard_deviation_error, None, None


def _missing(known: Any) -> tuple[float | None, ...]:
    if not known.defined:
        return (None,) * 4
    low, high = known.interval()
    return 1 - known.value, known.standard_error, 1 - high, 1 - low


def _categories(result: HistogramEstimate) -> Iterator[tuple[str | None, str, float | None, Any, Any, Any]]:
    yield None, "n", max(0.0, result.records), None, None, None
    for category, share, error, (low, high) in zip(
        result.categories, result.shares, result.standard_errors, result.intervals(), strict=True
    ):
        shares = (share, error, low, high) if result.defined else (None, None, None, None)
        yield category, "proportion", *shares


# --- Points with intervals, for every column of the table

Point = tuple[float, float, float]
"""A number with the ends of its interval."""


@dataclass(frozen=True)
class Panel:
    """A mean or a share of every column of the table.

    Fields:
        name: What it is of: the variable, with the value or category that is counted.
        share: Whether the numbers are shares, between 0 and 1.
        points: One for each column of the table; None where noise leaves it undefined.
    """

    name: str
    column: str
    share: bool
    points: tuple[Point | None, ...]


def panels(result: DescribeEstimate) -> list[Panel]:
    """The panels of all variables, in the order of the table."""
    return [panel for variable in result for panel in _panels_of(result, variable)]


def _panels_of(result: DescribeEstimate, variable: Variable) -> Iterator[Panel]:
    name = variable.column
    each: list[Any] = [result.of(name, group) for group in columns_of(result)]
    if isinstance(variable, Number):
        bounded = result.bounded(name)
        yield Panel(name, name, False, tuple(_number(parts["mean"]) if bounded else None for parts in each))
    elif isinstance(variable, Share):
        yield Panel(label_of(variable), name, True, tuple(_number(parts["proportion"]) for parts in each))
    else:
        for place, category in enumerate(each[0]["histogram"].categories):
            points = tuple(_category(parts["histogram"], place) for parts in each)
            yield Panel(f"{name} = {category}", name, True, points)


def _number(estimate: Any) -> Point | None:
    return (estimate.value, *estimate.interval()) if estimate.defined else None


def _category(estimate: Any, place: int) -> Point | None:
    return (estimate.shares[place], *estimate.intervals()[place]) if estimate.defined else None


# --- The lines of the table: words and numbers for people on each variable in each column

OVERALL = "Overall"
Cells = tuple[str, ...]
_COUNTED = {"number": "mean", "share": "proportion", "categories": "histogram"}
"""The part of each kind of variable that knows the number of records."""


@dataclass(frozen=True)
class Line:
    """One line.

    Fields:
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
    sizes = _records(estimate)
    first = [Line("n", tuple(f"{each:,}" for each in sizes))] if sizes else []
    return [*first, *(line for variable in estimate for line in _of_variable(estimate, variable, sizes))]


def _records(estimate: DescribeEstimate) -> list[int]:
    """The number of records of each column of the table; none where neither it is public nor a variable counts it."""
    first, *rest = (estimate.records(group) for group in columns_of(estimate))
    return [] if first is None else [round(first), *whole_numbers(np.array(rest), round(first)).tolist()]


def _public_total(estimate: DescribeEstimate, group: LabelValue | None) -> int | None:
    if group is None:
        return None if estimate.provenance is None else estimate.provenance.total
    source = next(iter(estimate.of(estimate.variables[0].column, group).values())).provenance
    return None if source is None else source.total


def _of_variable(estimate: DescribeEstimate, variable: Variable, sizes: Sequence[int]) -> Iterator[Line]:
    each: list[Mapping[str, Any]] = [estimate.of(variable.column, group) for group in columns_of(estimate)]
    part = _COUNTED[variable.kind]
    counted: list[Any] = [parts[part] for parts in each]
    dropped = variable.missing == "drop"
    mine = [max(0, round(one.records)) for one in counted] if dropped else sizes

    def line(label: str, cells: Iterable[str], *, inner: bool = True) -> Line:
        return Line(label, tuple(cells) if estimate.bounded(variable.column) else (NOTHING,) * len(each), inner)

    name = variable.column
    if isinstance(variable, Number):
        yield line(f"{name}, mean (SD)", map(mean_cell, counted), inner=False)
        yield line(f"{100 * variable.confidence_level:g} % interval", map(interval_cell, counted))
        # without a record there is no median, whatever is read off the noise
        medians = (median_cell(parts["quantiles"]) if parts["mean"].defined else NOTHING for parts in each)
        yield line("median [Q1, Q3]", medians)
    elif isinstance(variable, Share):
        yield line(f"{label_of(variable)}, n (%)", _cells(counted, _counts(counted, mine), 1), inner=False)
    else:
        yield line(f"{name}, n (%)", ("" for _ in each), inner=False)
        counts = _counts(counted, mine)
        for place, category in enumerate(counted[0].categories):
            yield line(category, _cells(counted, counts, place))
    if dropped and any(one.measured.total is None for one in counted):
        # without the missing values that are dropped
        yield line("n", (f"{size:,}" for size in mine))
    if variable.count_missing:
        # also of a variable whose bounds were not found
        known: list[Any] = [parts[KNOWN] for parts in each]
        yield Line("Missing, n (%)", _cells(known, _counts(known, sizes), 0), inner=True)


def _counts(each: Sequence[Any], sizes: Sequence[int]) -> Int64:
    """Records of each place in each column of the table, as whole numbers that add up to sizes and over the groups."""
    rows = [whole_numbers(_places(one), size) for one, size in zip(each, sizes, strict=True)]
    return np.array([np.sum(rows[1:], axis=0) if len(rows) > 1 else rows[0], *rows[1:]])


def _places(estimate: ProportionEstimate | HistogramEstimate) -> Float64:
    """Records of each place: of a proportion of those that do not count and those that do."""
    if isinstance(estimate, HistogramEstimate):
        return np.array(estimate.counts)
    records = max(0.0, estimate.records)
    return records * (np.array([1 - estimate.value, estimate.value]) if estimate.defined else np.zeros(2))


def _cells(each: Sequence[Any], counts: Int64, place: int) -> Cells:
    """Number and share of the records of one place, in each column of the table."""
    cells = []
    for one, records in zip(each, counts[:, place].tolist(), strict=True):
        if not one.defined:
            cells.append(NOTHING)
            continue
        many = isinstance(one, HistogramEstimate)
        low, high = one.intervals()[place] if many else one.interval()
        share = one.shares[place] if many else one.value if place else 1 - one.value
        cells.append(f"{records:,} ({number(100 * share, max(100 * (high - low), 1.0))})")
    return tuple(cells)


def label_of(variable: Variable) -> str:
    """What a variable's number is of: its name, with the value that is counted."""
    if not isinstance(variable, Share) or variable.positive is True:
        return variable.column
    return f"{variable.column} = {variable.positive}"


def mean_cell(estimate: MeanEstimate) -> str:
    """Mean and standard deviation; nothing where the noise alone was read off."""
    if _anywhere(estimate):
        return NOTHING
    spread = deviation(estimate)
    return shown(estimate, estimate.value) if spread is None else f"{shown(estimate, estimate.value)} ({spread})"


def interval_cell(estimate: MeanEstimate) -> str:
    """The interval of a mean."""
    return NOTHING if _anywhere(estimate) else between(estimate)


def _anywhere(estimate: MeanEstimate) -> bool:
    """Whether a mean is not known better than by its bounds."""
    if not estimate.defined:
        return True
    low, high = estimate.interval()
    return estimate.private and low <= float(estimate.lattice.low) and high >= float(estimate.lattice.high)


def median_cell(estimate: QuantileEstimates) -> str:
    """Median and quartiles."""
    curve, grid = estimate.curve, estimate.grid
    noisy = curve is not None and curve.strategy is not None
    # where the interval is all bins, the noise alone was read off; the first ends at the lower bound
    anywhere = estimate.low[1] < grid.thresholds[1] and estimate.high[1] >= grid.thresholds[-1]
    if (curve is not None and not curve.defined) or (noisy and anywhere):
        return NOTHING
    widest = max(high - low for low, high in zip(estimate.low, estimate.high, strict=True))
    low, middle, high = (at_threshold(estimate.grid, each, widest) for each in estimate.numbers)
    return f"{middle} [{low}, {high}]"


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
    sentences = []
    if estimate.private:
        sentences.append(
            f"{_what_is_noisy(estimate)}. Intervals are confidence intervals for the population, with sampling error "
            "and noise. Percentages are of the records of the column. A dash marks what the noise leaves undefined."
        )
    moved = list(_moved(estimate))
    if moved:
        sentences.append(
            f"Noise changes a standard deviation (SD) by about {', '.join(moved)}; that is its standard error, in the "
            "column where it is largest."
        )
    if estimate.groups:
        sentences.append("Overall adds up the groups, with the noise of all of them.")
    if estimate.threshold is not None:
        fewer = (
            f"values of {estimate.by} with fewer than about {estimate.threshold:,} records are in no group, nor are "
            "records without a value; "
        )
        sentences.append(f"Groups were found: {fewer * estimate.private}records of no group are not in Overall.")
    finding = [each.column for each in estimate.finding]
    if finding:
        bounds = ", ".join(map(_found_bounds(estimate), finding))
        sentences.append(
            f"Bounds were found privately: {bounds}. Values beyond them count as the bound; the intervals do not "
            f"include that error{_outside(estimate, finding)}, so declare bounds where they are known."
        )
    if estimate.guessed:
        listed = ", ".join(estimate.guessed)
        sentences.append(f"Read from the file and counted as public: of what kind the columns are ({listed}).")
    for reason in dict.fromkeys(estimate.left_out.values()):
        names = [name for name, each in estimate.left_out.items() if each == reason]
        sentences.append(f"Not described: {', '.join(names)}, since {reason}.")
    return sentences


def _outside(estimate: DescribeEstimate, finding: Sequence[str]) -> str:
    """How many records may lie beyond bounds that were found, where that is most; nothing where none were."""
    bounds = {column: estimate.bounds_of(column) for column in finding}
    outside = {column: each.records_outside or 0 for column, each in bounds.items() if each is not None}
    if not any(outside.values()):
        return ""
    worst = max(outside, key=lambda column: outside[column])
    records = estimate.records()
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
