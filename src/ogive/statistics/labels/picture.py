"""Labels as a picture, counts of classes or leads of noisy votes, and as a chapter of a report."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Unpack

import numpy as np

from ogive.core.arrays import Bool, Float64
from ogive.errors import ParameterError
from ogive.noise import DiscreteGaussian
from ogive.showing import words
from ogive.showing.chapter import Chapter
from ogive.showing.parts import Html, Row, fine, say, strong, table
from ogive.showing.pictures import BLUE, GRAY, ORANGE, Style, caption, legend, lighten, new_axes, styled
from ogive.statistics.labels.estimate import LabelsEstimate

_MOST_NAMED = 20
"""Classes whose numbers all fit below an axis."""

_HIGHEST = 8
"""Of the bar of queries without a label, in units of the class that was given most often."""

_BARS = 40


def draw(found: LabelsEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw how many queries got each class and how many got none; where votes were opened, how far they lead.

    Args:
        found: What to draw.
        ax: Axes to draw into; new ones by default.
        style: Of the bars; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, or the style is none.
    """
    look = styled(style, color=BLUE)
    axes = new_axes(ax)
    labelled = int((found.labels >= 0).sum())
    if found.margins is None:
        _counts(axes, found, look)
    else:
        _margins(axes, found.margins, found.labels >= 0, look, noisy=found.private)
    title = f"Labels of {labelled:,} of {len(found.labels):,} queries"
    caption(axes, title, found.caption, private=found.private)
    lighten(axes, grid="y")
    return axes


def _counts(axes: Any, found: LabelsEstimate, look: dict[str, Any]) -> None:
    """A bar for every class, and one for queries without a label."""
    classes, labels = found.classes, found.labels
    given = np.bincount(labels[labels >= 0], minlength=classes)
    refused, unasked = found.asked - int(given.sum()), len(labels) - found.asked
    axes.bar(np.arange(classes), given, width=0.8, **look)
    wide = max(0.8, classes / 12)
    rest = [(name, count) for name, count in (("refused", refused), ("not asked", unasked)) if count]
    places = [classes + wide * (0.75 + 2 * number) for number in range(len(rest))]
    axes.bar(places, [count for _, count in rest], color=GRAY, width=wide)
    top = max(given.max(), 1) * _HIGHEST
    step = 1 if classes <= _MOST_NAMED else -(-classes // 10)
    named = range(0, classes, step)
    axes.set_xticks([*named, *places], [*map(str, named), *(f"{name}\n{count:,}" for name, count in rest)])
    if max(refused, unasked) > top:  # else classes would not be seen; how many there are is written below
        axes.set_ylim(top=top)
        for place, (_, count) in zip(places, rest, strict=True):
            if count > top:
                arrow = {"ha": "center", "va": "top", "color": "white", "fontsize": 16}
                axes.annotate("\u2191", (place, top), (0, -4), textcoords="offset points", **arrow)
    if "label" in look:
        legend(axes)
    axes.set_xlabel("Class")
    axes.set_ylabel("Queries")


def _margins(axes: Any, margins: Float64, labelled: Bool, look: dict[str, Any], *, noisy: bool) -> None:
    """A histogram of margins: of the queries with a label, and of those without."""
    ends = np.histogram_bin_edges(margins, bins=min(_BARS, max(5, len(margins) // 5)))
    parts = [(labelled, look["color"], look.get("label", "labelled")), (~labelled, GRAY, "not labelled")]
    shown = [(margins[which], color, f"{name}: {which.sum():,}") for which, color, name in parts if which.any()]
    values, colors, names = zip(*shown, strict=True)
    line = {name: look[name] for name in ("linewidth", "linestyle") if name in look}
    axes.hist(values, bins=ends, stacked=True, color=colors, alpha=look.get("alpha", 0.8), label=names, **line)
    if labelled.any() and not labelled.all():
        least = float(margins[labelled].min())
        axes.axvline(least, color=ORANGE, linewidth=1.2, linestyle=(0, (5, 2)), label=f"smallest kept: {least:.1f}")
    axes.set_xlabel(f"Votes by which the first class leads the second{', with noise' if noisy else ''}")
    axes.set_ylabel("Queries")
    legend(axes)


# --- The chapter of the report

_NUMBER = re.compile(r"[0-9]{1,40}(\.[0-9]{1,40}|/[1-9][0-9]{0,40})?")


def chapter(estimate: LabelsEstimate, truth: LabelsEstimate | None) -> Chapter:
    """What labels say."""
    if truth is not None and not (
        isinstance(truth, LabelsEstimate)
        and truth.ballots == estimate.ballots
        and truth.provenance is not None
        and not truth.provenance.private
    ):
        raise ParameterError("the truth for labels must be labels of the exact votes on the same queries")
    assert estimate.provenance is not None
    return Chapter(
        title="Labels from the votes of teachers",
        subject="labels",
        provenance=estimate.provenance,
        headline=_headline(estimate),
        error=_error(estimate, truth),
        released=_released(estimate),
        tables=(_table(estimate, truth), _queries(estimate)),
        details=_details(estimate),
        exact=truth is not None,
    )


def _headline(estimate: LabelsEstimate) -> str:
    queries = len(estimate.labels)
    asked = "" if estimate.asked == queries else f", of which {estimate.asked:,} were asked before the run ended"
    teachers = "Teachers" if estimate.total is None else f"{estimate.total:,} teachers"
    own = int((estimate.labels >= 0).sum()) - estimate.answered
    student = "" if own == 0 else f" The student labelled {own:,} more by itself."
    return f"{teachers} answered {estimate.answered:,} of {queries:,} queries{asked}.{student}"


def _error(estimate: LabelsEstimate, truth: LabelsEstimate | None) -> tuple[Html, ...]:
    said = []
    if truth is not None:
        wrong = estimate.errors(truth)["wrong"]
        said.append(say(strong(words.percent(wrong, 1)), " of the labels differ from those of the exact votes."))
    if estimate.provenance is not None and not estimate.provenance.private:
        return (*said, say("The labels follow the plurality of the teachers, without noise."))
    margins = estimate.margins
    if margins is not None and estimate.answered:
        least = float(np.min(margins[estimate.taught]))
        said.append(say(f"Every label leads the second class by at least {least:.1f} noisy votes."))
        if estimate.answered < len(estimate.labels):
            said.append(fine("The queries with the largest margins were labelled; they are easier than the others."))
    said.append(say("Noise can change the result of a close vote. Where most teachers are wrong, the label is wrong."))
    lead = _safe_lead(estimate)
    if lead is not None:
        often = "noise reverses their order with a probability of 1 %"
        said.append(fine(f"If one class has {lead:,} votes more than another, {often}."))
    return tuple(said)


def _safe_lead(estimate: LabelsEstimate) -> int | None:
    """By how many votes one class must lead another for Gaussian noise to turn the two with a chance of 1 in 100."""
    if estimate.opened is not None:
        sigma = estimate.law.sigma / 2**estimate.bits if isinstance(estimate.law, DiscreteGaussian) else None
    else:
        written = estimate.aggregator.get("sigma_2", estimate.aggregator.get("sigma"))
        # a file may say anything
        sigma = Fraction(str(written)) if _NUMBER.fullmatch(str(written)) else None
    return None if sigma is None else math.ceil(NormalDist().inv_cdf(0.99) * math.sqrt(2) * float(sigma))


def _details(estimate: LabelsEstimate) -> tuple[tuple[str, str], ...]:
    named = {"aggregator" if name == "name" else name: value for name, value in estimate.aggregator.items()}
    words = {name.replace("_", " ").capitalize(): value for name, value in named.items()}
    return tuple((name, str(value)) for name, value in words.items() if value is not None)


def _released(estimate: LabelsEstimate) -> tuple[Html, ...]:
    teacher = fine(
        "A record is the votes of one teacher, which stands for all data that only this teacher was trained on."
    )
    if estimate.opened is None:
        return (
            say("Which queries were answered, and a label for each of them. The votes were not published."),
            teacher,
        )
    queries, classes = estimate.ballots.shape
    return (
        say(f"Noisy votes of {queries:,} queries for each of {classes:,} classes, and the labels computed from them."),
        fine(
            "Anything else, such as soft labels for a student, may be computed from the noisy votes at no further cost."
        ),
        teacher,
    )


def _queries(estimate: LabelsEstimate) -> Html:
    labelled, queries = int((estimate.labels >= 0).sum()), len(estimate.labels)
    own = labelled - estimate.answered
    counts = (
        ("Answered by teachers", estimate.answered),
        ("Answered by the student itself", own),
        ("Refused" if estimate.opened is None else "Left without a label", estimate.asked - labelled),
        ("Not asked", queries - estimate.asked),
    )
    rows: list[Row] = [(name, [f"{count:,}"]) for name, count in counts if count]
    return table("Outcome of the queries", ["Query", "How many"], rows)


def _table(estimate: LabelsEstimate, truth: LabelsEstimate | None) -> Html:
    classes = estimate.ballots.shape[1]

    def counts(released: LabelsEstimate) -> list[int]:
        return [int(count) for count in np.bincount(released.labels[released.labels >= 0], minlength=classes)]

    columns = [counts(estimate), *([] if truth is None else [counts(truth)])]
    head = ["Class", "Labels", *([] if truth is None else ["From exact votes"])]
    rows: list[Row] = [
        (str(number), [f"{each:,}" for each in cells]) for number, cells in enumerate(zip(*columns, strict=True))
    ]
    return table("Number of labels of each class", head, rows)
