"""A statistic of pairs with its intervals: picture and chapter of a report."""

from __future__ import annotations

import math
from typing import Any, Unpack

from ogive.errors import ParameterError
from ogive.kernels.triples import TripleTable
from ogive.showing import words
from ogive.showing.axis import plain_number
from ogive.showing.chapter import Chapter
from ogive.showing.parts import Html, Row, fine, say, strong, table
from ogive.showing.pictures import GRAY, Style, caption, intervals, lighten, new_axes
from ogive.statistics.confidence import TARGETS
from ogive.statistics.significance import sentence
from ogive.statistics.ustatistic.estimate import UstatisticEstimate
from ogive.statistics.ustatistic.null import tests_alone
from ogive.statistics.ustatistic.text import impossible


def draw(found: UstatisticEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw a value as a point, with its intervals for the population and for these records.

    A value that noise moved out of what is possible is an empty point at the nearest possible one.

    Args:
        found: What to draw.
        ax: Axes to draw into; new ones by default.
        style: Of the intervals; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, the style is none, or the value is undefined.
    """
    if not math.isfinite(found.value):
        if found.private:
            raise ParameterError(
                "noise leaves this value undefined, so there is nothing to draw; use a larger privacy budget"
            )
        raise ParameterError("these records leave this value undefined, so there is nothing to draw")
    axes = new_axes(ax)
    least, most = found.limits
    place = min(max(found.value, least), most) if found.private else found.value
    moved = place != found.value
    level = f"{100 * found.confidence_level:.6g} % interval"
    ends = [found.interval(target=target) for target in TARGETS]
    intervals(axes, ["for the\npopulation", "for these\nrecords"], [place] * len(ends), ends, style, hollow=moved)
    axes.axvline(place, color=GRAY, linewidth=0.8, linestyle=(0, (5, 2)))
    low, high = found.interval()
    room = 0.6 * (high - low) or 0.05 * (abs(place) or 1.0)
    axes.set_xlim(min(low, place) - room, max(high, place) + room)
    for end in found.limits:
        if math.isfinite(end):
            axes.axvline(end, color=GRAY, linewidth=1.2)
    note = f"; noise moved it to {found.value:.4g}, drawn at the nearest possible value" if moved else ""
    axes.set_xlabel(f"{found.title} ({level}{note})")
    caption(axes, found.title, found.caption, private=found.private)
    lighten(axes, grid="x")
    return axes


# --- The chapter of the report

_READ = {
    "gini": "The mean distance of two records.",
    "gini_coefficient": "0 if all records are equal, close to 1 if few records have almost everything.",
    "variance": "The mean squared distance of records from their mean.",
    "collision": "How spread out the categories are: 0 if all records are alike, larger if they are more varied.",
    "collision_probability": "The probability that two records are alike.",
    "kendall": "The share of pairs of records that both columns put in the same order, minus the share in opposite "
    "orders.",
    "kendall_b": "Kendall's tau, corrected for ties in each column.",
    "gamma": "Kendall's tau over the pairs that are tied in neither column.",
    "auc": "The probability that a positive record has a larger score than a negative one: 0.5 is chance, 1 is "
    "perfect.",
    "auc_private": "The probability that a positive record has a larger score than a negative one: 0.5 is chance, 1 "
    "is perfect.",
    "vus": "The probability that the scores of one record of each class are in the order of the classes.",
}


def chapter(estimate: UstatisticEstimate, truth: UstatisticEstimate | None) -> Chapter:
    """What a U-statistic says."""
    if truth is not None:
        same = isinstance(truth, UstatisticEstimate) and not truth.private
        if not same or (truth.kernel, truth.columns) != (estimate.kernel, estimate.columns):
            raise ParameterError(f"the truth for {estimate.title} must be the exact value of the same columns")
    assert estimate.provenance is not None
    return Chapter(
        title=estimate.title,
        subject=" and ".join(estimate.columns),
        provenance=estimate.provenance,
        headline=_headline(estimate),
        error=_error(estimate),
        released=_released(estimate),
        tables=(_table(estimate, truth if estimate.private else None),),
        details=_details(estimate),
        warning=_useless(estimate),
        exact=truth is not None,
    )


def _headline(estimate: UstatisticEstimate) -> str:
    if not estimate.defined:
        cause = "Noise hides" if estimate.private else "These records do not determine"
        return f"{cause} {_within(estimate.title)}: it is not defined."
    if not estimate.private:
        return f"{_opening(estimate.title)} is {plain_number(estimate.value)}."
    low, high = estimate.interval()
    sure = words.percent(estimate.confidence_level)
    if not estimate.possible:
        return (
            f"{_opening(estimate.title)} is released as {plain_number(estimate.value)} ({sure} CI "
            f"{plain_number(low)} to "
            f"{plain_number(high)}), {impossible(estimate)}."
        )
    return (
        f"{_opening(estimate.title)} is about {plain_number(estimate.value)} ({sure} CI {plain_number(low)} to "
        f"{plain_number(high)})."
    )


def _within(title: str) -> str:
    """A title inside a sentence: with an article unless it begins with a person's name, which keeps its capital."""
    if title.startswith(("Kendall's", "Goodman")):
        return title
    common = title.startswith(("Variance", "Collision", "Volume", "Mean"))
    return f"the {title[0].lower() + title[1:] if common else title}"


def _opening(title: str) -> str:
    """A title that begins a sentence."""
    found = _within(title)
    return found[0].upper() + found[1:]


def _error(estimate: UstatisticEstimate) -> tuple[Html, ...]:
    if not estimate.defined:
        return (say("There is no error to state: there is no value."),)
    found = []
    if estimate.private:
        low, high = estimate.interval(target="sample")
        found.append(
            say(
                strong(f"{plain_number(low)} to {plain_number(high)}"),
                f" contains the exact value of these records, with {words.percent(estimate.confidence_level)} "
                "confidence.",
            )
        )
    else:
        found.append(say("The value is exact for these records."))
    if estimate.quantization > 0:
        found.append(
            say(
                f"Rounding values to {'bins' if estimate.bins else 'steps'} changes it by at most "
                f"{plain_number(estimate.quantization)}, included above."
            )
        )
    if tests_alone(estimate):
        found.append(say(sentence(estimate.test())))
    found.append(fine("Intervals rest on the normal approximation."))
    return tuple(found)


def _released(estimate: UstatisticEstimate) -> tuple[Html, ...]:
    tuples = "triples" if any(mean.kernel == TripleTable.name for mean in estimate.means) else "pairs"
    found = [say(f"One number about {tuples} of records, computed from {' and '.join(estimate.columns)}.")]
    if estimate.kernel in _READ:
        found.append(say(_READ[estimate.kernel]))
    if estimate.method == "degrees":
        found.append(
            fine(
                "Noise follows a noisy bound of the largest count. With a probability of at most 0.001 the bound was "
                "too small, and equal pairs are too few; the interval has room for that."
            )
        )
    if estimate.clipped:
        found.append(say("Noise moved a part of it out of its range; it was set to the nearest possible value."))
    if estimate.private and estimate.classes is not None:
        found.append(say("The class of each record is public, and so is the number of records in each class."))
    return tuple(found)


def _table(estimate: UstatisticEstimate, truth: UstatisticEstimate | None) -> Html | None:
    if not estimate.defined:
        return None
    rows: list[Row] = [("Value", [plain_number(estimate.value)])]
    if truth is not None:
        rows.append(("True value of these records", [plain_number(truth.value)]))
    rows.append(("Total error", [plain_number(estimate.total_error)]))
    if estimate.private:
        name = "from noise, choice of pairs and sampling" if estimate.sampling_is_included else "from randomization"
        rows.append((name, [plain_number(estimate.randomization_error)]))
    if estimate.sampling_error is not None:
        rows.append(
            (
                "from sampling, at most" if estimate.sampling_is_a_bound else "from sampling",
                [plain_number(estimate.sampling_error)],
            )
        )
    if estimate.quantization > 0:
        rows.append(("from rounding, at most", [plain_number(estimate.quantization)]))
    return table("Value and errors", ("Number", "Released" if estimate.private else "Exact"), rows)


def _details(estimate: UstatisticEstimate) -> tuple[tuple[str, str], ...]:
    entries = [("Kernel", estimate.kernel)]
    if estimate.bins:
        entries.append(("Bins", " x ".join(f"{size:,}" for size in estimate.bins)))
    low, high = estimate.limits
    if math.isfinite(low) and math.isfinite(high):
        entries.append(("Possible values", f"{plain_number(low)} to {plain_number(high)}"))
    if estimate.classes is not None:
        entries.append(("Classes", " and ".join(f"{size:,}" for size in estimate.classes)))
    return tuple(entries)


def _useless(estimate: UstatisticEstimate) -> str | None:
    if not estimate.private:
        return None if estimate.defined else "It is a ratio whose denominator is 0 for these records."
    low, high = estimate.limits
    if not estimate.defined:
        return "A denominator cannot be told from noise. Use a larger privacy budget or more records."
    if estimate.interval() == (low, high):
        return "Every possible value is consistent with this answer. Use a larger privacy budget or more records."
    return None
