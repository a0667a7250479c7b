"""A pairwise statistic for people: some lines of text."""

from __future__ import annotations

from typing import Any

from ogive.core.digits import number
from ogive.provenance import trust_rows
from ogive.showing.view import Card
from ogive.statistics.significance import brief
from ogive.statistics.ustatistic.estimate import UstatisticEstimate
from ogive.statistics.ustatistic.null import tests_alone


def summary(estimate: UstatisticEstimate) -> str:
    """Some lines of plain text."""
    return "\n".join(
        [estimate.title, *(f"  {name + ':' if name else '':<16}{value}" for name, value in facts(estimate))]
    )


def short(estimate: UstatisticEstimate) -> str:
    """A few words."""
    return f"{estimate.title}: {estimate.value:.4g}"


def card(estimate: UstatisticEstimate) -> Card:
    """What notebooks show."""
    return Card(estimate.title, facts(estimate))


def facts(estimate: UstatisticEstimate) -> list[tuple[str, str]]:
    """What a reader should know, as pairs of a name and a value."""
    rows = [("privacy", estimate.caption)]
    if estimate.provenance is not None:
        rows += trust_rows(estimate.provenance.assumption)
    if not estimate.defined:
        return [*rows, ("warning", undefined(estimate))]
    ends = estimate.interval()
    rows.append(("value", number(estimate.value, ends[1] - ends[0])))
    if not estimate.possible:
        rows.append(("note", impossible(estimate)))
    if estimate.method == "degrees":
        rows.append(("note", "with probability 0.001 at most a frequent value was clipped, and pairs are too few"))
    if estimate.clipped:
        rows.append(("note", "a mean was set to the nearest possible value"))
    rows.append(("error", f"{estimate.total_error:.3g} ({parts(estimate)})"))
    if estimate.quantization > 0 and estimate.bins:
        rows.append(("rounding", f"to {bins(estimate)}"))
        if estimate.quantization > estimate.standard_error:
            rows.append(("", "a grid of integers does not round whole numbers, and keeps their ties"))
    level = f"{100 * estimate.confidence_level:.6g} %"
    rows.append((f"{level} CI", f"{_between(ends)} for {_target(estimate)}"))
    if estimate.private and estimate.sampling_error is not None:
        rows.append(("", f"{_between(estimate.interval(target='sample'))} for these records"))
    if tests_alone(estimate):
        rows.append(("test", brief(estimate.test())))
    return rows


def _between(ends: tuple[float, float]) -> str:
    low, high = (number(each, ends[1] - ends[0]) for each in ends)
    return f"{low} to {high}"


def undefined(estimate: UstatisticEstimate) -> str:
    """Why there is no value."""
    if estimate.private:
        return "noise leaves this statistic undefined; use a larger privacy budget or more records"
    return "these records leave this statistic undefined: it is a ratio whose denominator is 0"


def impossible(estimate: UstatisticEstimate) -> str:
    """That no records have this value."""
    low, high = estimate.limits
    return f"outside the possible values, {low:.6g} to {high:.6g}, because of noise"


def parts(estimate: UstatisticEstimate) -> str:
    """What the total error is made of."""
    errors = [f"randomization {estimate.randomization_error:.3g}"]
    if estimate.sampling_is_included:
        errors = [f"noise, choice of pairs and sampling {estimate.randomization_error:.3g}"]
    elif estimate.sampling_error is None:
        errors.append("sampling not known")
    else:
        errors.append(f"sampling {'at most ' * estimate.sampling_is_a_bound}{estimate.sampling_error:.3g}")
    if estimate.quantization > 0:
        errors.append(f"rounding at most {estimate.quantization:.3g}")
    return ", ".join(errors)


def bins(estimate: UstatisticEstimate) -> str:
    """How values were rounded."""
    sizes = " x ".join(f"{size:,}" for size in estimate.bins)
    return f"{sizes} bins"


def _target(estimate: UstatisticEstimate) -> str:
    known = estimate.sampling_is_included or estimate.sampling_error is not None
    return "the population" if known else "these records"


# --- Columns of a data frame


def columns(estimate: UstatisticEstimate) -> dict[str, Any]:
    """What was measured, its value, its error, and the ends of its interval."""
    low, high = estimate.interval()
    return {
        "statistic": [estimate.title],
        "value": [estimate.value],
        "total_error": [estimate.total_error],
        "low": [low],
        "high": [high],
    }
