"""What people see of the estimates of groups: a line of each, and pictures over each other or side by side.

The cells of a line are those of the view of the group's estimate.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeVar, Unpack

from ogive.columns import LabelValue
from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.chapter import Chapter, Picture
from ogive.showing.chart import MOST_ROWS, CurveChart
from ogive.showing.parts import Html, Row, say, table
from ogive.showing.pictures import (
    COLORS,
    Style,
    caption,
    heading_of,
    intervals,
    legend,
    lighten,
    new_axes,
    new_figure,
    retitle,
    styled,
)
from ogive.showing.view import Card, Numbers, View, aligned, sentence
from ogive.statistics.base import Estimate
from ogive.statistics.groups.estimate import Contrast, GroupEstimates
from ogive.statistics.quantiles.estimate import QuantileEstimates
from ogive.statistics.sums.estimate import NumberEstimate, ProportionEstimate

_SHOWN, _LONG = 4, 40

WIDEST = 100
"""Letters of a line that a terminal has room for."""

_MOST_PICTURES = 12
_MOST_CURVES = 4
_DASHES = ("-", "--", ":", "-.")
_Part = TypeVar("_Part")


class GroupEstimatesView(View):
    """A table with a line for each group, and one picture of all."""

    estimate: GroupEstimates[Any]

    @property
    def first(self) -> View:
        view: View = self.estimate.estimates[0].view()
        return view

    @property
    def name(self) -> str:
        return f"{self.first.about} by {self.estimate.by}"

    @property
    def title(self) -> str:
        return sentence(self.name)[:-1]

    @property
    def short(self) -> str:
        result = self.estimate
        listed = ", ".join(str(group) for group in result.groups[:_SHOWN]) + (", ..." if len(result) > _SHOWN else "")
        return f"{self.first.about[:_LONG]} by {result.by[:_LONG]}: {listed[:_LONG]}"

    @property
    def headings(self) -> tuple[str, ...]:
        return (self.estimate.by, *(heading for heading, _ in self.first.line))

    @property
    def rows(self) -> list[tuple[str, ...]]:
        rows = [(str(group), *(cell for _, cell in estimate.view().line)) for group, estimate in self.estimate]
        if self.estimate.sizes is None or "records" not in self.headings:
            return rows
        place = self.headings.index("records")
        sizes = (f"about {size:,.0f}" for size in self.estimate.sizes)
        return [(*row[:place], size, *row[place + 1 :]) for row, size in zip(rows, sizes, strict=True)]

    @property
    def notes(self) -> list[str]:
        lines = [
            f"{group}: {note}"
            for group, each in self.estimate
            if isinstance(each, QuantileEstimates) and each.told  # a dash says that there are none
            for note in each.view().notes
        ]
        lines += [str(each) for each in self.estimate.contrasts]
        lines += self._between
        if self.estimate.threshold is not None:
            lines.append(
                f"groups were found: values of {self.estimate.by} with fewer than about {self.estimate.threshold:,} "
                "records are in no group, nor are records without a value"
            )
        return lines

    @cached_property
    def _between(self) -> list[str]:
        return self.first.between(self.estimate.groups, self.estimate.estimates)

    def text(self) -> str:
        """A line for each group; turned round where lines would be too long."""
        rows = [self.headings, *self.rows]
        lines = aligned(rows)
        if max(map(len, lines)) > WIDEST:
            turned = aligned(list(zip(*rows, strict=True)))
            lines = min(lines, turned, key=lambda shown: max(map(len, shown)))
        return "\n".join([f"{self.name} ({self.estimate.caption})", *lines, *self.notes])

    @property
    def columns(self) -> dict[str, Any]:
        result = self.estimate
        each = [estimate.view().columns for estimate in result.estimates]
        sizes = [max(len(values) for values in part.values()) for part in each]
        name = "group" if result.by in each[0] else result.by
        groups = [group for group, size in zip(result.groups, sizes, strict=True) for _ in range(size)]
        return {name: groups, **{column: [value for part in each for value in part[column]] for column in each[0]}}

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        """Draw all groups into one picture with a legend; 5 to 60 groups side by side, in axes of their own."""
        styled(style)
        result = self.estimate
        look: dict[str, Any] = {name: value for name, value in style.items() if name != "label"}
        before = f"{style['label']}, " if "label" in style else ""
        labels = [f"{before}{_label(result.by, group, estimate)}" for group, estimate in result]
        draw_groups = self.first.draw_groups
        if isinstance(result.estimates[0], NumberEstimate):
            return self._draw_numbers(ax, {"color": COLORS[0], **style})
        if draw_groups is not None:
            axes = draw_groups(result.estimates, labels, ax, COLORS, look, result.caption)
        elif ax is None and MOST_TOGETHER < len(result.groups) <= MOST_PANELS:
            return draw_panels(result, labels, {"color": COLORS[0], **look})
        else:
            axes = self._draw_over(ax, labels, look)
            self.first.mark_groups(axes, result.groups, result.estimates)
        retitle(axes, f"by {result.by}")
        legend(axes)
        return axes

    def _draw_over(self, ax: Any, labels: Sequence[str], look: dict[str, Any]) -> Any:
        result, axes = self.estimate, ax
        drawn = [
            (each, label) for (_, each), label in zip(result, labels, strict=True) if getattr(each, "defined", True)
        ]
        left = [str(group) for group, each in result if not getattr(each, "defined", True)]
        if not drawn:
            raise ParameterError("noise leaves nothing of any group to draw")
        for number, (estimate, label) in enumerate(drawn):
            turn = number if "color" in look else number // len(COLORS)
            dashes = {"linestyle": _DASHES[turn % len(_DASHES)]} if turn else {}
            mine = {"color": COLORS[number % len(COLORS)], **dashes, **look, "label": label}
            # one guarantee for all, which stands above them once
            alike = estimate if result.provenance is None else estimate.with_provenance(result.provenance)
            axes = alike.view().draw(axes, **mine)
        if left:
            axes.plot([], [], linestyle="", label=f"not drawn, too noisy: {', '.join(left)}")
        seen = set()
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            if label in seen:  # what all groups have in common stands once
                handle.set_label("_")
            seen.add(label)
        return axes

    def _draw_numbers(self, ax: Any, style: Style) -> Any:
        result = self.estimate
        known = [(str(group), estimate) for group, estimate in result if estimate.defined]
        if not known:
            raise ParameterError("noise leaves no number of any group to draw")
        axes = new_axes(ax, size=(7.2, max(2.6, 1.6 + 0.32 * len(known))))
        names, each = zip(*known, strict=True)
        intervals(axes, names, [one.value for one in each], [one.interval() for one in each], style)
        axes.set_xlabel(f"{each[0].subject}, with {100 * each[0].confidence_level:.6g} % intervals")
        axes.set_ylabel(result.by)
        caption(axes, self.title, result.caption, private=result.private)
        lighten(axes, grid="x")
        return axes

    def chapter(self, truth: GroupEstimates[Any] | None = None) -> Chapter:
        """What estimates of groups say: what the chapters of all have in common, and a table."""
        result = self.estimate
        if truth is not None and (not isinstance(truth, GroupEstimates) or truth.private):
            raise ParameterError(f"the truth of groups of {result.by} must be exact values of the same groups")
        exact: tuple[Any, ...] = (None,) * len(result) if truth is None else result.exact(truth)
        assert result.provenance is not None, "released"
        each = [estimate.view().chapter(other) for estimate, other in zip(result.estimates, exact, strict=True)]
        names = [f"{result.by} = {group}" for group in result.groups]
        pictures = [
            dataclasses.replace(part.pictures[0], name=name)
            for name, part in zip(names, each, strict=True)
            if part.pictures
        ]
        pictures = _together(pictures, sentence(f"{self.first.about} by {result.by}")[:-1])
        left, shown = len(pictures) - _MOST_PICTURES, pictures[:_MOST_PICTURES]
        if left > 0:
            shown[-1] = dataclasses.replace(shown[-1], note=f"{left:,} more groups are not drawn.")
        known = "The group of each record is public, and so is the number of records in each group."
        shown_elsewhere = {*map(str, result.contrasts), *self._between}
        return Chapter(
            title=f"{each[0].title} by {result.by}",
            subject=each[0].subject,
            provenance=result.provenance,
            headline=" ".join(f"{name}: {part.headline}" for name, part in zip(names[:3], each, strict=False)),
            error=(
                say("The noise of different groups is independent. Smaller groups have larger errors."),
                *_common([part.error for part in each]),
            ),
            released=(
                say(f"The following of each of {len(result)} groups of {result.by}, all under one guarantee."),
                *_common([part.released for part in each]),
                *(say(sentence(note)) for note in self.notes if note not in shown_elsewhere),
                *((say(known),) if result.private and result.public_groups else ()),
            ),
            pictures=tuple(shown or self._number_chart(exact)),
            alike=True,
            tables=(
                self._table(sentence(self.first.about)[:-1]),
                self._contrasts(),
                None
                if truth is None
                else GroupEstimatesView(dataclasses.replace(result, estimates=exact))._table("True values"),
            ),
            details=(
                ("Groups", "public" if result.public_groups else "private"),
                *_common([part.details for part in each]),
            ),
            warning=each[0].warning if all(part.warning for part in each) else None,
            exact=truth is not None,
        )

    def _number_chart(self, exact: tuple[Any, ...]) -> list[Picture]:
        result = self.estimate
        numbers = [each for each in result.estimates if isinstance(each, NumberEstimate)]
        if len(numbers) < len(result) or not 0 < len(numbers) <= MOST_ROWS:
            return []
        first = numbers[0]
        title, summary = f"{first.what.capitalize()} of {first.subject}", f"The {first.what} of {first.subject}"
        shown = Numbers(
            label=title,
            rows=[
                (f"{result.by} {group}", *((each.value, *each.interval()) if each.defined else (None, 0.0, 0.0)))
                for group, each in zip(result.groups, numbers, strict=True)
            ],
            shares=isinstance(first, ProportionEstimate),
        )
        true = [each.value if first.private and each is not None and each.defined else None for each in exact]
        summary = f"{summary} of each group of {result.by} with its interval."
        return [Picture(first.view().chart(shown, true, f"{title} by {result.by}", summary))]

    def _contrasts(self) -> Html | None:
        rows: list[Row] = []
        for each in self.estimate.contrasts:
            value, low, high = map(words.minus, each.shown) if each.defined else ("-", "-", "-")
            ends = f"{low} to {high}" if each.defined else "-"
            rows.append((sentence(each.head)[:-1], [value, words.percent(each.confidence_level), ends]))
        about = "Intervals count the noise and the sampling of both groups. A dash stands where noise leaves no number."
        return table("Groups compared", ("Comparison", "Value", "Level", "Interval"), rows, about) if rows else None

    def _table(self, caption: str) -> Html:
        about = " ".join(map(sentence, self._between)) or None
        return table(caption, self.headings, [(row[0], row[1:]) for row in self.rows], about)


def _together(pictures: list[Picture], title: str) -> list[Picture]:
    """One picture of the curves of a few groups on the same thresholds; other pictures as they are."""
    curves = [each.chart for each in pictures if isinstance(each.chart, CurveChart)]
    alike = all(each.grid == curves[0].grid and each.truth is None for each in curves)
    if not 1 < len(curves) == len(pictures) <= _MOST_CURVES or not alike:
        return pictures
    return [Picture(CurveChart.together(curves, [str(each.name) for each in pictures], title))]


def _label(by: str, group: LabelValue, estimate: Estimate) -> str:
    """What the legend says of a group: its name, and a number where the picture has one for each curve."""
    name, key = group if isinstance(group, str) else f"{by} = {group}", estimate.view().key
    return f"{name}: {key}" if key else name


def _common(each: list[tuple[_Part, ...]]) -> list[_Part]:
    """What the chapters of all groups say alike; what they say of one group alone is in the table."""
    return [part for part in each[0] if all(part in other for other in each[1:])]


# --- Small multiples: each group in axes of its own

MOST_TOGETHER, MOST_PANELS = 4, 60
"""Groups whose curves and bands are still told apart in one picture, and most that a page of panels holds."""

_COLUMNS = 3
_WIDTH, _HEIGHT, _ABOVE = 3.3, 2.5, 0.8
"""Inches of one panel, and of what stands above all."""


def draw_panels(result: GroupEstimates[Any], names: Sequence[str], style: dict[str, Any]) -> Any:
    """Draw each group into axes of its own; the guarantee stands above them once."""
    number = len(result.groups)
    columns = _COLUMNS if number > _COLUMNS + 1 else 2
    rows = -(-number // columns)
    figure = new_figure((columns * _WIDTH, rows * _HEIGHT + _ABOVE))
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for place, (axes, name, estimate) in enumerate(zip(panels.flat, names, result.estimates, strict=False)):
        estimate.view().draw(axes, **style)
        shown = dict.fromkeys(axes.get_legend_handles_labels()[1])
        if axes.get_legend() is not None:
            axes.get_legend().remove()
        heading_of(axes).only(name)
        if place + columns < number:
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
        else:
            axes.tick_params(labelbottom=True)
        if place % columns:
            axes.set_ylabel("")
    for axes in panels.flat[number:]:
        axes.remove()
    heading = f"{result.view().title}: {'; '.join(shown)}\n{result.caption}"
    figure.suptitle(heading, fontsize=9.5, x=0.01, ha="left", parse_math=False, wrap=True)
    return panels.flat[0]


class ContrastView(View):
    """A contrast as a line, and as a point with its interval beside the value at which the groups are alike."""

    estimate: Contrast

    @property
    def title(self) -> str:
        return f"{self.estimate.head[0].upper()}{self.estimate.head[1:]}"

    def text(self) -> str:
        estimate = self.estimate
        if not estimate.defined:
            return f"{estimate.head}: noise leaves no number"
        value, low, high = estimate.shown
        return f"{estimate.head}: {value} ({100 * estimate.confidence_level:.6g} % CI {low} to {high})"

    def card(self) -> Card:
        estimate = self.estimate
        if not estimate.defined:
            return Card(self.title, [("privacy", estimate.caption)], notes=("Noise leaves no number.",))
        value, low, high = estimate.shown
        interval = f"{100 * estimate.confidence_level:.6g} % CI"
        facts, rows = [("privacy", estimate.caption)], ((estimate.what, value, f"{low} to {high}"),)
        return Card(self.title, facts, headings=("", estimate.kind, interval), rows=rows)

    @property
    def columns(self) -> dict[str, Any]:
        """All fields but the origin."""
        names = [
            each.name for each in dataclasses.fields(self.estimate) if each.name not in ("probability", "provenance")
        ]
        return {name: [getattr(self.estimate, name)] for name in names}

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        estimate = self.estimate
        if not all(map(math.isfinite, (estimate.value, estimate.low, estimate.high))):
            raise ParameterError(f"noise leaves no number to draw of the {estimate.head}")
        axes = new_axes(ax, size=(7.2, 2.6))
        sign = "\u2212" if estimate.kind == "difference" else "/"
        intervals(axes, [f"{estimate.group} {sign} {estimate.other}"], [estimate.value], [estimate.interval], style)
        axes.axvline(0 if estimate.kind == "difference" else 1, color="0.6", linewidth=1, linestyle="--", zorder=0)
        axes.set_xlabel(
            f"{estimate.kind} of the {estimate.what}, with {100 * estimate.confidence_level:.6g} % interval"
        )
        axes.set_ylabel(estimate.by)
        caption(axes, self.title, estimate.caption, private=estimate.private)
        lighten(axes, grid="x")
        return axes
