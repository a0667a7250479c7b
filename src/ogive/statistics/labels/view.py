"""What people see of labels: how many queries got each class, or by how much noisy votes lead, and a chapter."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Unpack

import numpy as np

from ogive.core.arrays import Bool, Float64, Int64
from ogive.noise import DiscreteGaussian
from ogive.showing import words
from ogive.showing.parts import Html, Row, fine, say, strong, table
from ogive.showing.pictures import BLUE, GRAY, ORANGE, Style, caption, legend, lighten, new_axes, styled
from ogive.showing.view import Rows, View
from ogive.statistics.labels.estimate import LabelsEstimate

_SHOWN_CLASSES = 12

_MOST_NAMED = 20
"""Classes whose numbers all fit below an axis."""

_HIGHEST = 8
"""Of the bar of queries without a label, in units of the class that was given most often."""

_BARS = 40
_NUMBER = re.compile(r"[0-9]{1,40}(\.[0-9]{1,40}|/[1-9][0-9]{0,40})?")


class LabelsEstimateView(View):
    """Some lines, and a table of the classes."""

    estimate: LabelsEstimate
    chapter_title = "Labels from the votes of teachers"
    subject = "labels"
    headings = ("class", "queries")
    truth_words = "labels of the exact votes on the same queries"

    @property
    def name(self) -> str:
        queries = len(self.estimate.labels)
        return f"labels of {queries} {'query' if queries == 1 else 'queries'}"

    @property
    def title(self) -> str:
        queries = len(self.estimate.labels)
        return f"Labels of {queries:,} {'query' if queries == 1 else 'queries'}"

    @property
    def short(self) -> str:
        return f"of {len(self.estimate.labels)} queries: {self.estimate.answered} answered by teachers"

    @property
    def given(self) -> Int64:
        labels = self.estimate.labels
        return np.bincount(labels[labels >= 0], minlength=self.estimate.classes)

    @property
    def own(self) -> int:
        return int(self.given.sum()) - self.estimate.answered

    @property
    def rows(self) -> Rows:
        given = self.given
        most = np.argsort(-given, kind="stable")[:_SHOWN_CLASSES]
        rows = [(str(place), f"{given[place]:,}") for place in sorted(most.tolist())]
        if len(rows) < len(given):
            rows.append((f"{len(given) - len(rows)} more", f"{int(given.sum() - given[most].sum()):,}"))
        return [*rows, ("no label", f"{len(self.estimate.labels) - int(given.sum()):,}")]

    @property
    def notes(self) -> list[str]:
        estimate = self.estimate
        lines = [f"{estimate.answered} of {estimate.asked} asked queries answered by teachers"]
        if self.own:
            lines.append(f"{self.own} labelled by the student itself")
        if estimate.opened is not None and estimate.answered < len(estimate.labels):
            lines.append("the queries with the largest margins were labelled: easier than the others")
        return lines

    def text(self) -> str:
        return "\n".join([f"{self.name} ({self.guarantee})", *self.notes])

    @property
    def columns(self) -> dict[str, Any]:
        estimate = self.estimate
        columns = {"query": np.arange(len(estimate.labels)), "label": estimate.labels, "taught": estimate.taught}
        return columns if estimate.margins is None else {**columns, "margin": estimate.margins}

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        return plot_labels(self.estimate, ax, **style)

    # the chapter of a report

    def alike(self, truth: LabelsEstimate) -> bool:
        return truth.ballots == self.estimate.ballots

    @property
    def headline(self) -> str:
        estimate, queries = self.estimate, len(self.estimate.labels)
        asked = "" if estimate.asked == queries else f", of which {estimate.asked:,} were asked before the run ended"
        teachers = "Teachers" if estimate.total is None else f"{estimate.total:,} teachers"
        student = f" The student labelled {self.own:,} more by itself." if self.own else ""
        return f"{teachers} answered {estimate.answered:,} of {queries:,} queries{asked}.{student}"

    @property
    def error(self) -> list[Html | str]:
        estimate, parts = self.estimate, list[Html | str]()
        if self.truth is not None:
            wrong = estimate.errors(self.truth)["wrong"]
            parts.append(say(strong(words.percent(wrong, 1)), " of the labels differ from those of the exact votes."))
        if not estimate.private:
            return [*parts, "The labels follow the plurality of the teachers, without noise."]
        if estimate.margins is not None and estimate.answered:
            least = float(np.min(estimate.margins[estimate.taught]))
            parts.append(f"Every label leads the second class by at least {least:.1f} noisy votes.")
            if estimate.answered < len(estimate.labels):
                easy = "The queries with the largest margins were labelled; they are easier than the others."
                parts.append(fine(easy))
        parts.append("Noise can change the result of a close vote. Where most teachers are wrong, the label is wrong.")
        lead = _safe_lead(estimate)
        if lead is not None:
            often = "noise reverses their order with a probability of 1 %"
            parts.append(fine(f"If one class has {lead:,} votes more than another, {often}."))
        return parts

    @property
    def released(self) -> list[Html | str]:
        teacher = fine(
            "A record is the votes of one teacher, which stands for all data that only this teacher was trained on."
        )
        if self.estimate.opened is None:
            answered = "Which queries were answered, and a label for each of them. The votes were not published."
            return [answered, teacher]
        queries, classes = self.estimate.ballots.shape
        return [
            f"Noisy votes of {queries:,} queries for each of {classes:,} classes, and the labels computed from them.",
            fine(
                "Anything else, such as soft labels for a student, may be computed from the noisy votes at no further "
                "cost."
            ),
            teacher,
        ]

    @property
    def details(self) -> list[tuple[str, str]]:
        named = {"aggregator" if name == "name" else name: value for name, value in self.estimate.aggregator.items()}
        return [(name.replace("_", " ").capitalize(), str(value)) for name, value in named.items() if value is not None]

    def tables(self, exact: Any) -> Sequence[Html]:
        estimate = self.estimate
        columns = [self.given, *([] if self.truth is None else [self.truth.view().given])]
        head = ["Class", "Labels", *([] if self.truth is None else ["From exact votes"])]
        classes: list[Row] = [
            (str(number), [f"{each:,}" for each in cells]) for number, cells in enumerate(zip(*columns, strict=True))
        ]
        labelled = int(self.given.sum())
        counts = (
            ("Answered by teachers", estimate.answered),
            ("Answered by the student itself", self.own),
            ("Refused" if estimate.opened is None else "Left without a label", estimate.asked - labelled),
            ("Not asked", len(estimate.labels) - estimate.asked),
        )
        outcomes: list[Row] = [(name, [f"{count:,}"]) for name, count in counts if count]
        return (
            table("Number of labels of each class", head, classes),
            table("Outcome of the queries", ["Query", "How many"], outcomes),
        )


def _safe_lead(estimate: LabelsEstimate) -> int | None:
    """By how many votes one class must lead another for Gaussian noise to turn the two with a chance of 1 in 100."""
    if estimate.opened is not None:
        sigma = estimate.law.sigma / 2**estimate.bits if isinstance(estimate.law, DiscreteGaussian) else None
    else:
        written = estimate.aggregator.get("sigma_2", estimate.aggregator.get("sigma"))
        # a file may say anything
        sigma = Fraction(str(written)) if _NUMBER.fullmatch(str(written)) else None
    return None if sigma is None else math.ceil(NormalDist().inv_cdf(0.99) * math.sqrt(2) * float(sigma))


# --- The picture


def plot_labels(found: LabelsEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
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


def _counts(axes: Any, estimate: LabelsEstimate, look: dict[str, Any]) -> None:
    classes, labels = estimate.classes, estimate.labels
    given = LabelsEstimateView(estimate).given
    refused, unasked = estimate.asked - int(given.sum()), len(labels) - estimate.asked
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
