"""What people see of a number: some lines of text, a point with its interval, and a chapter of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from ogive.core.digits import number
from ogive.showing import words
from ogive.showing.parts import Html, Row, fine, say, strong, table
from ogive.showing.pictures import BLUE, Style, new_axes, styled
from ogive.showing.view import View, level
from ogive.statistics.contrast import Number
from ogive.statistics.sums.estimate import (
    CountEstimate,
    MeanEstimate,
    NumberEstimate,
    ProportionEstimate,
    SumEstimate,
    listed,
)

NOTHING = "-"
"""What is shown of a number that noise hides."""

USELESS = 0.5
"""An interval wider than this part of all that the number can be says little."""

_WIDTH = 4.0
"""Standard errors in the width of an interval of about 95 %."""

_UNDEFINED = "undefined: the noise leaves no records; use a larger budget, or check the condition if there is one"


class NumberEstimateView(View):
    """A number with its errors, in the digits that its interval leaves."""

    found: NumberEstimate
    facts_width = 10
    compares = True

    @property
    def name(self) -> str:
        return f"{self.found.what} of {self.found.subject}"

    @property
    def title(self) -> str:
        return f"{self.found.what.capitalize()} of {self.found.subject}"

    @property
    def short(self) -> str:
        value = shown(self.found, self.found.value) if self.found.defined else "undefined"
        return f"of {self.found.subject[:80]}: {value}"

    @property
    def subject(self) -> str:
        return self.found.subject

    @property
    def facts(self) -> list[tuple[str, str]]:
        found = self.found
        if not found.defined:
            return [("value", _UNDEFINED)]
        rows = [("value", shown(found, found.value))]
        if isinstance(found, MeanEstimate) and (spread := deviation(found)) is not None:
            nothing = f"{NOTHING} (undefined: noise made the variance 0)"
            error = found.standard_deviation_error
            off = f" (noise: +/- {number(error, error)})" if error else ""
            rows.append(("SD", nothing if spread == NOTHING else spread + off))
        if found.private or found.sampling_error is not None:
            rows.append(("interval", f"{between(found)} ({level(found)}, {_counted(found)})"))
        if found.private:
            rows.append(("noise", f"+/- {number(found.noise_error, found.noise_error)} (standard deviation)"))
            rows += _of_lattice(found) if isinstance(found, MeanEstimate | SumEstimate) else _of_values(found)
        if isinstance(found, ProportionEstimate | MeanEstimate):
            about, public = size(found), "private" if found.measured.total is None else "public"
            about = f"{'about ' * (public == 'private')}{about} ({public})" if found.private else about
            rows.append(("records", about))
        return rows

    @property
    def line(self) -> list[tuple[str, str]]:
        found = self.found
        names = [found.what, "standard error", f"{level(found)} interval"]
        cells = [NOTHING] * 3
        if found.defined:
            error = number(found.standard_error, found.standard_error)
            cells = [shown(found, found.value), error, between(found)]
        if isinstance(found, MeanEstimate) and found.has_spread:
            names.insert(1, "SD")
            cells.insert(1, (deviation(found) or NOTHING) if found.defined else NOTHING)
        if isinstance(found, MeanEstimate | ProportionEstimate):
            names.insert(0, "n")
            cells.insert(0, size(found))
        return list(zip(names, cells, strict=True))

    def number(self, confidence_level: float, probability: float) -> Number:
        """The number with its interval; every number that there can be where noise leaves none."""
        low, high = self.found.interval(confidence_level)
        return Number(self.name, self.found.value, low, high, self.found.standard_error)

    @property
    def columns(self) -> dict[str, Any]:
        found = self.found
        low, high = found.interval()
        return {
            "statistic": [found.what],
            "of": [found.subject],
            "value": [found.value],
            "standard_error": [found.standard_error],
            "noise_error": [found.noise_error],
            "low": [low],
            "high": [high],
        }

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        """Draw the number as a point, and its interval as a line."""
        found = self.found
        look = styled(style, color=BLUE, linestyle="none", label="released" if found.private else "exact")
        axes = new_axes(ax, size=(7.2, 1.9))
        label = f"{level(found)} interval {_counted(found)}"
        axes.hlines(0.0, *found.interval(), color=look["color"], linewidth=6, alpha=0.35, label=label)
        axes.plot([found.value], [0.0], marker="o", markersize=7, **look)
        axes.set_ylim(-1.0, 1.0)
        axes.set_yticks([])
        axes.set_xlabel(self.name)
        return self.finish(axes, grid="both")

    def alike(self, truth: NumberEstimate) -> bool:
        return truth.subject == self.found.subject

    @property
    def truth_words(self) -> str:
        return f"the exact {self.found.what} of the same column"

    @property
    def headline(self) -> str:
        found = self.found
        if not found.defined:
            return f"The {self.name} is undefined: with the noise, the number of records is below 1."
        value = shown(found, found.value)
        match found:
            case CountEstimate():
                return f"{value} records have {found.subject}."
            case ProportionEstimate():
                return f"{words.percent(found.value, 1)} of the records have {found.subject}."
        sure = words.percent(found.confidence_level)
        tail = "" if found.standard_error == 0 else f" ({sure} confidence: {between(found)})"
        return f"The {self.name} is {value}{tail}."

    @property
    def error(self) -> Sequence[Html | str]:
        found = self.found
        if not found.defined:
            return ("Nothing can be said.",)
        paragraphs = []
        sure = words.percent(found.confidence_level)
        if found.sampling_error is not None:
            population = f"the {found.what} of the population that the records are from"
            paragraphs.append(say(strong(between(found)), f" holds {population}, with {sure} confidence."))
        if found.private:
            low, high = found.noise_interval()
            paragraphs.append(
                say(
                    strong(f"{shown(found, low)} to {shown(found, high)}"),
                    f" holds the {found.what} of {_those(found)}, with {sure} confidence. The noise has a standard "
                    f"deviation of {number(found.noise_error, found.noise_error)}.",
                )
            )
        return paragraphs or ("Not at all for these records.",)

    @property
    def released(self) -> Sequence[Html | str]:
        found = self.found
        if not isinstance(found, MeanEstimate | SumEstimate):
            return (f"How many records have {found.subject}, and nothing else.",)
        squares = isinstance(found, MeanEstimate) and found.standard_deviation is not None
        step, low, high = (f"{float(each):,g}" for each in (found.lattice.step, found.lattice.low, found.lattice.high))
        return (
            f"The sum of the values{' and of their squares' * squares}, and nothing else.",
            fine(f"Values were rounded to steps of {step}, and those outside {low} to {high} to these."),
        )

    def tables(self, exact: View | None) -> Sequence[Html | None]:
        """The number, its spread and the records, beside the true ones."""
        found, truth = self.found, None if exact is None else exact.found
        if not found.defined:
            return (None,)
        rows: list[Row] = [
            _row(found.what.capitalize(), *(shown(found, each.value) for each in (found, truth) if each))
        ]
        if isinstance(found, MeanEstimate) and found.standard_deviation is not None:
            spreads = (deviation(each) for each in (found, truth) if each is not None)
            dashed = ("–" if each is None or each == NOTHING else each for each in spreads)
            rows.append(_row("Standard deviation", *dashed))
        if isinstance(found, MeanEstimate | ProportionEstimate):
            rows.append(_row("Records", *(f"{max(0.0, each.records):,.0f}" for each in (found, truth) if each)))
        head = ("Number", "Released", "True")
        return (table(found.what.capitalize(), head if truth else head[:2], rows),)

    @property
    def details(self) -> Sequence[tuple[str, str]]:
        measured = self.found.measured
        if measured.form == "reports":
            return (("Reports", f"{sum(measured.values):,}"),)
        return (("Measured", f"{len(measured.values)} sums"),)

    @property
    def useless(self) -> str | None:
        found, help_ = self.found, "Use a larger privacy budget or more records."
        if not found.private:
            return None
        if not found.defined:
            return f"With the noise, the number of records is below 1. {help_}"
        (low, high), reading = found.noise_interval(), found.reading
        if high - low >= USELESS * abs(reading.unit) * (reading.high - reading.low):
            return f"The noise leaves open more than half of all that the {found.what} can be. {help_}"
        return None


def _row(name: str, *cells: str) -> Row:
    return name, list(cells)


def _of_values(found: NumberEstimate) -> list[tuple[str, str]]:
    """That perhaps no record has the value that counts."""
    values = getattr(found, "values", None)
    if values is None or found.noise_interval()[0] > 0:
        return []
    return [("note", f"perhaps no record has the value {listed(values)}; check its spelling")]


def _of_lattice(found: MeanEstimate | SumEstimate) -> list[tuple[str, str]]:
    """How values were rounded, and what values outside the bounds are."""
    rows = []
    if found.rounding_of_each:
        step = f"values count in steps of {float(found.lattice.step):.6g}"
        if found.rounding is None:
            counted = f"at most {found.rounding_of_each:.2g} of each record, which the interval does not count"
        else:
            counted = f"at most +/- {found.rounding:.2g}, which the interval counts"
        rows.append(("rounding", f"{step}: {counted}"))
    low, high = float(found.lattice.low), float(found.lattice.high)
    outside = f"values outside {low:g} to {high:g} count as the nearer bound"
    if isinstance(found, MeanEstimate) and not low < found.value < high:
        outside += "; the mean is at a bound, so most values may lie outside"
    return [*rows, ("bounds", outside)]


def between(found: NumberEstimate, confidence_level: float | None = None) -> str:
    """The interval, as two numbers."""
    low, high = found.interval(confidence_level)
    return f"{shown(found, low)} to {shown(found, high)}"


def _counted(found: NumberEstimate) -> str:
    """What the interval is for, and which errors it includes."""
    if isinstance(found, CountEstimate | SumEstimate):
        return f"for {_those(found)}: noise alone"
    return f"for the population: sampling error{' and noise' if found.private else ''}"


def _those(found: NumberEstimate) -> str:
    """Which records a count or a sum is of: where a person may have several, of those that were kept."""
    source = found.provenance
    if source is None or source.person is None:
        return "these records"
    return f"the kept records, at most {source.max_rows_per_person} of each person"


def shown(found: NumberEstimate, value: float, beside: float | None = None) -> str:
    """A number with the digits that the width of the interval leaves; four or more where that has none."""
    low, high = found.interval()
    if isinstance(found, CountEstimate) and not high > low:
        return f"{value:,.0f}"
    return number(value, high - low if high > low else abs(value if beside is None else beside) / 1000)


def size(found: MeanEstimate | ProportionEstimate) -> str:
    """How many records there are, noise included."""
    return f"{max(0, round(found.records)):,}"


def deviation(found: MeanEstimate) -> str | None:
    """The standard deviation of the values; a dash where noise hides it, None where none was measured."""
    if found.standard_deviation is None:
        return None
    if found.standard_deviation == 0 and found.private:
        return NOTHING  # noise took the variance to 0 or below
    low, high = found.interval()
    width = max(high - low, _WIDTH * (found.standard_deviation_error or 0.0))
    return number(found.standard_deviation, width) if width else shown(found, found.standard_deviation, found.value)
