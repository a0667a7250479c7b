"""What people see of a number: some lines of text, a point with its interval, and a chapter of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from ogive.core.digits import number
from ogive.showing import words
from ogive.showing.parts import Html, Row, fine, say, strong, table
from ogive.showing.pictures import BLUE, Style, new_axes, styled
from ogive.showing.view import View, level
from ogive.statistics.confidence import Number
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

    estimate: NumberEstimate
    facts_width = 10
    compares = True

    @property
    def name(self) -> str:
        return f"{self.estimate.what} of {self.estimate.subject}"

    @property
    def title(self) -> str:
        return f"{self.estimate.what.capitalize()} of {self.estimate.subject}"

    @property
    def short(self) -> str:
        value = shown(self.estimate, self.estimate.value) if self.estimate.defined else "undefined"
        return f"of {self.estimate.subject[:80]}: {value}"

    @property
    def subject(self) -> str:
        return self.estimate.subject

    @property
    def facts(self) -> list[tuple[str, str]]:
        estimate = self.estimate
        if not estimate.defined:
            return [("value", _UNDEFINED)]
        rows = [("value", shown(estimate, estimate.value))]
        if isinstance(estimate, MeanEstimate) and (spread := deviation(estimate)) is not None:
            nothing = f"{NOTHING} (undefined: noise made the variance 0)"
            error = estimate.standard_deviation_error
            off = f" (noise: +/- {number(error, error)})" if error else ""
            rows.append(("SD", nothing if spread == NOTHING else spread + off))
        if estimate.private or estimate.sampling_error is not None:
            rows.append(("interval", f"{between(estimate)} ({level(estimate)}, {_counted(estimate)})"))
        if estimate.private:
            rows.append(("noise", f"+/- {number(estimate.noise_error, estimate.noise_error)} (standard deviation)"))
            rows += _of_lattice(estimate) if isinstance(estimate, MeanEstimate | SumEstimate) else _of_values(estimate)
        if isinstance(estimate, ProportionEstimate | MeanEstimate):
            about, public = size(estimate), "private" if estimate.measured.total is None else "public"
            about = f"{'about ' * (public == 'private')}{about} ({public})" if estimate.private else about
            rows.append(("records", about))
        return rows

    @property
    def line(self) -> list[tuple[str, str]]:
        estimate = self.estimate
        names = [estimate.what, "standard error", f"{level(estimate)} interval"]
        cells = [NOTHING] * 3
        if estimate.defined:
            error = number(estimate.standard_error, estimate.standard_error)
            cells = [shown(estimate, estimate.value), error, between(estimate)]
        if isinstance(estimate, MeanEstimate) and estimate.has_spread:
            names.insert(1, "SD")
            cells.insert(1, (deviation(estimate) or NOTHING) if estimate.defined else NOTHING)
        if isinstance(estimate, MeanEstimate | ProportionEstimate):
            names.insert(0, "n")
            cells.insert(0, size(estimate))
        return list(zip(names, cells, strict=True))

    def number(self, confidence_level: float, probability: float) -> Number:
        """The number with its interval; every number that there can be where noise leaves none."""
        low, high = self.estimate.interval(confidence_level)
        return Number(self.name, self.estimate.value, low, high, self.estimate.standard_error)

    @property
    def columns(self) -> dict[str, Any]:
        estimate = self.estimate
        low, high = estimate.interval()
        return {
            "statistic": [estimate.what],
            "of": [estimate.subject],
            "value": [estimate.value],
            "standard_error": [estimate.standard_error],
            "noise_error": [estimate.noise_error],
            "low": [low],
            "high": [high],
        }

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        """Draw the number as a point, and its interval as a line."""
        estimate = self.estimate
        look = styled(style, color=BLUE, linestyle="none", label="released" if estimate.private else "exact")
        axes = new_axes(ax, size=(7.2, 1.9))
        label = f"{level(estimate)} interval {_counted(estimate)}"
        axes.hlines(0.0, *estimate.interval(), color=look["color"], linewidth=6, alpha=0.35, label=label)
        axes.plot([estimate.value], [0.0], marker="o", markersize=7, **look)
        axes.set_ylim(-1.0, 1.0)
        axes.set_yticks([])
        axes.set_xlabel(self.name)
        return self.finish(axes, grid="both")

    def alike(self, truth: NumberEstimate) -> bool:
        return truth.subject == self.estimate.subject

    @property
    def truth_words(self) -> str:
        return f"the exact {self.estimate.what} of the same column"

    @property
    def headline(self) -> str:
        estimate = self.estimate
        if not estimate.defined:
            return f"The {self.name} is undefined: with the noise, the number of records is below 1."
        value = shown(estimate, estimate.value)
        match estimate:
            case CountEstimate():
                return f"{value} records have {estimate.subject}."
            case ProportionEstimate():
                return f"{words.percent(estimate.value, 1)} of the records have {estimate.subject}."
        sure = words.percent(estimate.confidence_level)
        tail = "" if estimate.standard_error == 0 else f" ({sure} confidence: {between(estimate)})"
        return f"The {self.name} is {value}{tail}."

    @property
    def error(self) -> Sequence[Html | str]:
        estimate = self.estimate
        if not estimate.defined:
            return ("Nothing can be said.",)
        paragraphs = []
        sure = words.percent(estimate.confidence_level)
        if estimate.sampling_error is not None:
            population = f"the {estimate.what} of the population that the records are from"
            paragraphs.append(say(strong(between(estimate)), f" holds {population}, with {sure} confidence."))
        if estimate.private:
            low, high = estimate.noise_interval()
            paragraphs.append(
                say(
                    strong(f"{shown(estimate, low)} to {shown(estimate, high)}"),
                    f" holds the {estimate.what} of {_those(estimate)}, with {sure} confidence. The noise has a "
                    f"standard deviation of {number(estimate.noise_error, estimate.noise_error)}.",
                )
            )
        return paragraphs or ("Not at all for these records.",)

    @property
    def released(self) -> Sequence[Html | str]:
        estimate = self.estimate
        if not isinstance(estimate, MeanEstimate | SumEstimate):
            return (f"How many records have {estimate.subject}, and nothing else.",)
        squares = isinstance(estimate, MeanEstimate) and estimate.standard_deviation is not None
        step, low, high = (
            f"{float(each):,g}" for each in (estimate.lattice.step, estimate.lattice.low, estimate.lattice.high)
        )
        return (
            f"The sum of the values{' and of their squares' * squares}, and nothing else.",
            fine(f"Values were rounded to steps of {step}, and those outside {low} to {high} to these."),
        )

    def tables(self, exact: View | None) -> Sequence[Html | None]:
        """The number, its spread and the records, beside the true ones."""
        estimate, truth = self.estimate, None if exact is None else exact.estimate
        if not estimate.defined:
            return (None,)
        rows: list[Row] = [
            _row(estimate.what.capitalize(), *(shown(estimate, each.value) for each in (estimate, truth) if each))
        ]
        if isinstance(estimate, MeanEstimate) and estimate.standard_deviation is not None:
            spreads = (deviation(each) for each in (estimate, truth) if each is not None)
            dashed = ("–" if each is None or each == NOTHING else each for each in spreads)
            rows.append(_row("Standard deviation", *dashed))
        if isinstance(estimate, MeanEstimate | ProportionEstimate):
            rows.append(_row("Records", *(f"{max(0.0, each.records):,.0f}" for each in (estimate, truth) if each)))
        head = ("Number", "Released", "True")
        return (table(estimate.what.capitalize(), head if truth else head[:2], rows),)

    @property
    def details(self) -> Sequence[tuple[str, str]]:
        measured = self.estimate.measured
        if measured.form == "reports":
            return (("Reports", f"{sum(measured.values):,}"),)
        return (("Measured", f"{len(measured.values)} sums"),)

    @property
    def useless(self) -> str | None:
        estimate, help_ = self.estimate, "Use a larger privacy budget or more records."
        if not estimate.private:
            return None
        if not estimate.defined:
            return f"With the noise, the number of records is below 1. {help_}"
        (low, high), reading = estimate.noise_interval(), estimate.reading
        if high - low >= USELESS * abs(reading.unit) * (reading.high - reading.low):
            return f"The noise leaves open more than half of all that the {estimate.what} can be. {help_}"
        return None


def _row(name: str, *cells: str) -> Row:
    return name, list(cells)


def _of_values(estimate: NumberEstimate) -> list[tuple[str, str]]:
    """That perhaps no record has the value that counts."""
    values = getattr(estimate, "values", None)
    if values is None or estimate.noise_interval()[0] > 0:
        return []
    return [("note", f"perhaps no record has the value {listed(values)}; check its spelling")]


def _of_lattice(estimate: MeanEstimate | SumEstimate) -> list[tuple[str, str]]:
    """How values were rounded, and what values outside the bounds are."""
    rows = []
    if estimate.rounding_of_each:
        step = f"values count in steps of {float(estimate.lattice.step):.6g}"
        if estimate.rounding is None:
            counted = f"at most {estimate.rounding_of_each:.2g} of each record, which the interval does not count"
        else:
            counted = f"at most +/- {estimate.rounding:.2g}, which the interval counts"
        rows.append(("rounding", f"{step}: {counted}"))
    low, high = float(estimate.lattice.low), float(estimate.lattice.high)
    outside = f"values outside {low:g} to {high:g} count as the nearer bound"
    if isinstance(estimate, MeanEstimate) and not low < estimate.value < high:
        outside += "; the mean is at a bound, so most values may lie outside"
    return [*rows, ("bounds", outside)]


def between(estimate: NumberEstimate, confidence_level: float | None = None) -> str:
    """The interval, as two numbers."""
    low, high = estimate.interval(confidence_level)
    return f"{shown(estimate, low)} to {shown(estimate, high)}"


def _counted(estimate: NumberEstimate) -> str:
    """What the interval is for, and which errors it includes."""
    if isinstance(estimate, CountEstimate | SumEstimate):
        return f"for {_those(estimate)}: noise alone"
    return f"for the population: sampling error{' and noise' if estimate.private else ''}"


def _those(estimate: NumberEstimate) -> str:
    """Which records a count or a sum is of: where a person may have several, of those that were kept."""
    source = estimate.provenance
    if source is None or source.person is None:
        return "these records"
    return f"the kept records, at most {source.max_rows_per_person} of each person"


def shown(estimate: NumberEstimate, value: float, beside: float | None = None) -> str:
    """A number with the digits that the width of the interval leaves; four or more where that has none."""
    low, high = estimate.interval()
    if isinstance(estimate, CountEstimate) and not high > low:
        return f"{value:,.0f}"
    return number(value, high - low if high > low else abs(value if beside is None else beside) / 1000)


def size(estimate: MeanEstimate | ProportionEstimate) -> str:
    """How many records there are, noise included."""
    return f"{max(0, round(estimate.records)):,}"


def deviation(estimate: MeanEstimate) -> str | None:
    """The standard deviation of the values; a dash where noise hides it, None where none was measured."""
    if estimate.standard_deviation is None:
        return None
    if estimate.standard_deviation == 0 and estimate.private:
        return NOTHING  # noise took the variance to 0 or below
    low, high = estimate.interval()
    width = max(high - low, _WIDTH * (estimate.standard_deviation_error or 0.0))
    return (
        number(estimate.standard_deviation, width)
        if width
        else shown(estimate, estimate.standard_deviation, estimate.value)
    )
