"""The chapter of a pairwise statistic: one number, how far off it may be, and what that is made of."""

from __future__ import annotations

import math

from ogive.errors import ParameterError
from ogive.html import words
from ogive.html.axis import plain_number
from ogive.html.chapter import Chapter
from ogive.html.markup import Html
from ogive.html.parts import Row, fine, say, strong, table
from ogive.statistics.ustatistic.estimate import UstatisticEstimate
from ogive.statistics.ustatistic.text import impossible

_READ = {
    "gini": "The mean distance of two records.",
    "gini_coefficient": "0 where all records are equal, towards 1 where few records have almost everything.",
    "variance": "The mean squared distance of records from their mean.",
    "collision": "How spread out the categories are: 0 where all records are alike, the more the more varied.",
    "collision_probability": "How often two records are alike.",
    "kendall": "How often two columns put two records in the same order, less how often in opposite orders.",
    "kendall_b": "The same, over the pairs that are tied in neither column.",
    "gamma": "The same, over the pairs that are not tied.",
    "auc": "How often a record of the positive class has the larger score: 0.5 says nothing, 1 is perfect.",
    "auc_private": "How often a record of the positive class has the larger score: 0.5 says nothing, 1 is perfect.",
    "vus": "How often scores of one record of each class are in the order of the classes.",
}


def chapter(found: UstatisticEstimate, truth: UstatisticEstimate | None) -> Chapter:
    """What a pairwise statistic says.

    Args:
        found: As released.
        truth: The exact value of the same kernel and columns, or None.

    Raises:
        ParameterError: the truth is private, or of another kernel or other columns.
    """
    if truth is not None:
        same = isinstance(truth, UstatisticEstimate) and not truth.private
        if not same or (truth.kernel, truth.columns) != (found.kernel, found.columns):
            raise ParameterError(f"the truth for {found.title} must be the exact value of the same columns")
    assert found.provenance is not None
    return Chapter(
        title=found.title,
        subject=" and ".join(found.columns),
        provenance=found.provenance,
        headline=_headline(found),
        error=_error(found),
        released=_released(found),
        tables=(_table(found, truth if found.private else None),),
        details=_details(found),
        warning=_useless(found),
        exact=truth is not None,
    )


def _headline(found: UstatisticEstimate) -> str:
    if not found.defined:
        cause = "Noise hides" if found.private else "These records do not tell"
        return f"{cause} {_within(found.title)}: it is not defined."
    if not found.private:
        return f"{_opening(found.title)} is {plain_number(found.value)}."
    low, high = found.interval()
    sure = words.percent(found.confidence_level)
    if not found.possible:
        return (
            f"{_opening(found.title)} is released as {plain_number(found.value)}, {impossible(found)}: from "
            f"{plain_number(low)} to {plain_number(high)} with {sure} confidence."
        )
    return (
        f"{_opening(found.title)} is about {plain_number(found.value)}: from {plain_number(low)} to "
        f"{plain_number(high)} with {sure} confidence."
    )


def _within(title: str) -> str:
    """A title inside a sentence: with an article unless it begins with a person's name, which keeps its capital."""
    if title.startswith(("Kendall's", "Goodman")):
        return title
    common = title.startswith(("Variance", "Collision", "Volume", "Mean"))
    return f"the {title[0].lower() + title[1:] if common else title}"


def _opening(title: str) -> str:
    """A title that begins a sentence."""
    told = _within(title)
    return told[0].upper() + told[1:]


def _error(found: UstatisticEstimate) -> tuple[Html, ...]:
    if not found.defined:
        return (say("Nothing can be said: there is no value."),)
    told = []
    if found.private:
        low, high = found.interval(target="sample")
        told.append(
            say(
                strong(f"{plain_number(low)} to {plain_number(high)}"),
                f" holds the exact value of these records, with {words.percent(found.confidence_level)} confidence.",
            )
        )
    else:
        told.append(say("Not at all for these records: the value is exact."))
    if found.quantization > 0:
        told.append(
            say(
                f"Rounding values to {'bins' if found.bins else 'steps'} moves it by at most "
                f"{plain_number(found.quantization)}, counted above."
            )
        )
    told.append(fine("Intervals rest on the normal approximation."))
    return tuple(told)


def _released(found: UstatisticEstimate) -> tuple[Html, ...]:
    told = [say(f"One number about pairs of records, of {' and '.join(found.columns)}.")]
    if found.kernel in _READ:
        told.append(say(_READ[found.kernel]))
    if found.clipped:
        told.append(say("Noise took a part of it out of its range; it was moved to the nearest possible value."))
    if found.private and found.classes is not None:
        told.append(say("Everybody may know which class each record is in, and so how many each has."))
    return tuple(told)


def _table(found: UstatisticEstimate, truth: UstatisticEstimate | None) -> Html | None:
    if not found.defined:
        return None
    rows: list[Row] = [("Value", [plain_number(found.value)])]
    if truth is not None:
        rows.append(("True value of these records", [plain_number(truth.value)]))
    rows.append(("Total error", [plain_number(found.total_error)]))
    if found.private:
        name = "of noise, who met whom and sampling" if found.sampling_is_included else "of randomization"
        rows.append((name, [plain_number(found.randomization_error)]))
    if found.sampling_error is not None:
        rows.append(
            (
                "of sampling, at most" if found.sampling_is_a_bound else "of sampling",
                [plain_number(found.sampling_error)],
            )
        )
    if found.quantization > 0:
        rows.append(("of rounding, at most", [plain_number(found.quantization)]))
    return table("Value and errors", ("Number", "Released" if found.private else "Exact"), rows)


def _details(found: UstatisticEstimate) -> tuple[tuple[str, str], ...]:
    entries = [("Kernel", found.kernel)]
    if found.bins:
        entries.append(("Bins", " x ".join(f"{size:,}" for size in found.bins)))
    low, high = found.limits
    if math.isfinite(low) and math.isfinite(high):
        entries.append(("Possible values", f"{plain_number(low)} to {plain_number(high)}"))
    if found.classes is not None:
        entries.append(("Classes", " and ".join(f"{size:,}" for size in found.classes)))
    return tuple(entries)


def _useless(found: UstatisticEstimate) -> str | None:
    if not found.private:
        return None if found.defined else "It is a ratio, and what it divides by is 0 for these records."
    low, high = found.limits
    if not found.defined:
        return "A ratio has a denominator that noise may account for. Grant more privacy loss, or take more records."
    if found.interval() == (low, high):
        return "Every possible value fits this answer. Grant more privacy loss, or take more records."
    return None
