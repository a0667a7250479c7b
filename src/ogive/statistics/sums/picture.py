"""A number with its interval: picture and chapter of a report."""

from __future__ import annotations

from typing import Any, Unpack

from ogive.core.digits import number
from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.chapter import Chapter
from ogive.showing.parts import Html, Row, fine, say, strong, table
from ogive.showing.pictures import BLUE, Style, caption, legend, lighten, new_axes, styled
from ogive.showing.view import level
from ogive.statistics.sums.estimate import CountEstimate, MeanEstimate, NumberEstimate, ProportionEstimate, SumEstimate
from ogive.statistics.sums.text import NOTHING, between, counted, deviation, shown, those


def draw(estimate: NumberEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw the number as a point, and its interval as a line."""
    look = styled(style, color=BLUE, linestyle="none", label="released" if estimate.private else "exact")
    axes = new_axes(ax, size=(7.2, 1.9))
    low, high = estimate.interval()
    label = f"{level(estimate)} interval {counted(estimate)}"
    axes.hlines(0.0, low, high, color=look["color"], linewidth=6, alpha=0.35, label=label)
    axes.plot([estimate.value], [0.0], marker="o", markersize=7, **look)
    axes.set_ylim(-1.0, 1.0)
    axes.set_yticks([])
    axes.set_xlabel(f"{estimate.what} of {estimate.subject}")
    caption(axes, f"{estimate.what.capitalize()} of {estimate.subject}", estimate.caption, private=estimate.private)
    lighten(axes)
    legend(axes)
    return axes


# --- The chapter of the report

USELESS = 0.5
"""An interval wider than this part of all that the number can be says little."""


def chapter(found: NumberEstimate, truth: NumberEstimate | None) -> Chapter:
    """What a number says."""
    if truth is not None and (type(truth) is not type(found) or truth.private or truth.subject != found.subject):
        raise ParameterError(f"the truth for {found.subject} must be the exact {found.what} of the same column")
    assert found.provenance is not None
    exact = truth if found.private else None
    return Chapter(
        title=f"{found.what.capitalize()} of {found.subject}",
        subject=found.subject,
        provenance=found.provenance,
        headline=_headline(found),
        error=_error(found),
        released=_released(found),
        tables=(_table(found, exact),),
        details=_details(found),
        warning=_useless(found),
        exact=truth is not None,
    )


def _headline(found: NumberEstimate) -> str:
    if not found.defined:
        return f"The {found.what} of {found.subject} is undefined: with the noise, the number of records is below 1."
    value = shown(found, found.value)
    match found:
        case CountEstimate():
            return f"{value} records have {found.subject}."
        case ProportionEstimate():
            return f"{words.percent(found.value, 1)} of the records have {found.subject}."
    sure = words.percent(found.confidence_level)
    tail = "" if found.standard_error == 0 else f" ({sure} confidence: {between(found)})"
    return f"The {found.what} of {found.subject} is {value}{tail}."


def _error(found: NumberEstimate) -> tuple[Html, ...]:
    if not found.defined:
        return (say("Nothing can be said."),)
    said = []
    sure = words.percent(found.confidence_level)
    if found.sampling_error is not None:
        said.append(
            say(
                strong(f"{between(found)}"),
                f" holds the {found.what} of the population that the records are from, with {sure} confidence.",
            )
        )
    if found.private:
        low, high = found.noise_interval()
        said.append(
            say(
                strong(f"{shown(found, low)} to {shown(found, high)}"),
                f" holds the {found.what} of {those(found)}, with {sure} confidence. The noise has a standard "
                f"deviation of {number(found.noise_error, found.noise_error)}.",
            )
        )
    return tuple(said) or (say("Not at all for these records."),)


def _released(found: NumberEstimate) -> tuple[Html, ...]:
    match found:
        case CountEstimate() | ProportionEstimate():
            return (say(f"How many records have {found.subject}, and nothing else."),)
        case MeanEstimate() if found.standard_deviation is not None:
            what = "The sum of the values and of their squares, and nothing else."
        case _:
            what = "The sum of the values, and nothing else."
    assert isinstance(found, MeanEstimate | SumEstimate), "counts and proportions have returned"
    step, low, high = (f"{float(each):,g}" for each in (found.lattice.step, found.lattice.low, found.lattice.high))
    return (say(what), fine(f"Values were rounded to steps of {step}, and those outside {low} to {high} to these."))


def _table(found: NumberEstimate, exact: NumberEstimate | None) -> Html | None:
    if not found.defined:
        return None
    head = ["Number", "Released", *(["True"] if exact is not None else [])]
    rows: list[Row] = [
        (
            found.what.capitalize(),
            [shown(found, found.value), *([] if exact is None else [shown(found, exact.value)])],
        )
    ]
    if isinstance(found, MeanEstimate) and found.standard_deviation is not None:
        others = [] if not isinstance(exact, MeanEstimate) else [_deviation(exact)]
        rows.append(("Standard deviation", [_deviation(found), *others]))
    if isinstance(found, MeanEstimate | ProportionEstimate):
        of_exact = [f"{exact.records:,.0f}"] if isinstance(exact, MeanEstimate | ProportionEstimate) else []
        rows.append(("Records", [f"{max(0.0, found.records):,.0f}", *of_exact]))
    return table(found.what.capitalize(), head, rows)


def _deviation(found: MeanEstimate) -> str:
    spread = deviation(found)
    return "–" if spread is None or spread == NOTHING else spread


def _details(found: NumberEstimate) -> tuple[tuple[str, str], ...]:
    measured = found.measured
    if measured.form == "reports":
        return (("Reports", f"{sum(measured.values):,}"),)
    return (("Measured", f"{len(measured.values)} sums"),)


def _useless(found: NumberEstimate) -> str | None:
    if not found.private:
        return None
    help_ = "Use a larger privacy budget or more records."
    if not found.defined:
        return f"With the noise, the number of records is below 1. {help_}"
    low, high = found.noise_interval()
    reading = found.reading
    whole = abs(reading.unit) * (reading.high - reading.low)
    if high - low >= USELESS * whole:
        return f"The noise leaves open more than half of all that the {found.what} can be. {help_}"
    return None
