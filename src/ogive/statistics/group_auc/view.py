"""What people see of areas between groups: a table of all pairs, colored by their distance from chance in a picture."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from ogive.errors import ParameterError
from ogive.showing.parts import Html, table
from ogive.showing.pictures import GRAY, Style, caption, legend, new_axes, styled
from ogive.showing.view import Card, Numbers, Rows, View, aligned, level, with_ends
from ogive.statistics.group_auc.estimate import Area, GroupAucEstimate
from ogive.statistics.sums.posterior import sizes_of

_LONG = 40
_COARSE = 0.05
"""What ties may move an AUC by before a page says that the grid is too coarse."""
_MOST_DIFFERENCES = 6
_COLORS = "RdYlBu"
_OPACITY, _LEAST, _CELL, _FRAME = 0.8, 3.6, 1.3, 0.94
_MOST_SHOWN = 8
"""Groups of a table whose cells have room for intervals."""

USELESS = 0.25
"""A wider interval for the AUC of these records carries little information: half of the way from chance to perfect."""


class GroupAucEstimateView(View):
    """A table of all pairs, and a line for each group."""

    estimate: GroupAucEstimate
    truth_words = "exact, of the same bins, groups and classes"

    @property
    def name(self) -> str:
        estimate = self.estimate
        return f"AUC of {estimate.score.column} for {estimate.label.column} by {estimate.group.column}"

    @property
    def short(self) -> str:
        estimate = self.estimate
        return f"of {estimate.score.column[:_LONG]} by {estimate.group.column[:_LONG]}: {len(estimate.names)} groups"

    @property
    def subject(self) -> str:
        estimate = self.estimate
        return f"{estimate.score.column}, {estimate.label.column} and {estimate.group.column}"

    @property
    def headings(self) -> tuple[str, ...]:
        return ("positives \\ negatives", *self.estimate.names)

    @property
    def rows(self) -> Rows:
        return [(name, *map(_shown, row)) for name, row in zip(self.estimate.names, self.estimate.table(), strict=True)]

    @property
    def groups(self) -> Rows:
        """Headings, and a line for each group: its classes, and the areas within it and against all others."""
        estimate = self.estimate
        lines: list[tuple[str, ...]] = [
            (estimate.group.column, "positives", "negatives", "AUC within", "BPSN AUC", "BNSP AUC")
        ]
        flat = [size for both in estimate.sizes for size in both]
        dropping = "drop" in (estimate.group.other, estimate.group.missing, estimate.score.missing)
        agreed = iter(sizes_of(flat, None if dropping or estimate.measured.exact else estimate.measured.total) or flat)
        for name, negatives, positives in zip(estimate.names, agreed, agreed, strict=True):
            areas = map(_shown, (estimate.between(name, name), estimate.bpsn(name), estimate.bnsp(name)))
            lines.append((name, f"{positives:,.0f}", f"{negatives:,.0f}", *areas))
        return lines

    @property
    def notes(self) -> list[str]:
        estimate = self.estimate
        notes = [
            f"rows: group of the positives; columns: group of the negatives; {level(estimate)} intervals, each alone, "
            "for the population",
            "BPSN: positives of all other groups against negatives of this one; BNSP: positives of this one against "
            "negatives of all others",
        ]
        pairs = list(itertools.combinations(estimate.names, 2))
        for one, other in pairs if len(pairs) <= _MOST_DIFFERENCES else ():
            within, across = estimate.difference(one, other), estimate.cross_difference(one, other)
            if not (math.isnan(within.value) and math.isnan(across.value)):
                notes.append(
                    f"{one} and {other}: AUC within {_difference(within)}; {one} over {other} less {other} over {one} "
                    f"{_difference(across)}"
                )
        if not estimate.defined:
            notes.append("warning: noise may account for a whole class of every pair; no area is defined")
        elif math.isfinite(estimate.tie_bound):
            ties = f"ties within bins move an AUC within a group by at most {estimate.tie_bound:.2g}, which is included"
            if estimate.tie_bound > _COARSE:
                ties = (
                    f"warning: the grid of scores is too coarse: {ties}; narrower bounds or more bins separate scores"
                )
            notes.append(ties)
        return notes

    def text(self) -> str:
        lines = [*aligned([self.headings, *self.rows]), *aligned(self.groups), *self.notes]
        return "\n".join([f"{self.name} ({self.estimate.caption})", *(f"  {line}" for line in lines)])

    def card(self) -> Card:
        """The table of pairs; groups are lines below it."""
        head, *lines = self.groups
        below = [f"{row[0]}: " + ", ".join(map(" ".join, zip(head[1:], row[1:], strict=True))) for row in lines]
        facts = [("privacy", self.estimate.caption)]
        return Card(self.title, facts, self.headings, self.rows, [*below, *self.notes])

    @property
    def about(self) -> str:
        estimate = self.estimate
        return f"AUC of {estimate.score.column} for {estimate.label.column} within groups of {estimate.group.column}"

    @property
    def line(self) -> list[tuple[str, str]]:
        estimate = self.estimate
        return [(f"{estimate.group.column} = {name}", _shown(estimate.between(name, name))) for name in estimate.names]

    @property
    def columns(self) -> dict[str, Any]:
        areas = list(itertools.chain(*self.estimate.table()))
        pairs = list(itertools.product(self.estimate.names, self.estimate.names))
        return {
            "positives": [group for group, _ in pairs],
            "negatives": [group for _, group in pairs],
            "auc": [area.value for area in areas],
            "auc_low": [area.low for area in areas],
            "auc_high": [area.high for area in areas],
        }

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        """Draw the area of every pair of groups as a colored table: red below chance, blue above."""
        estimate, look = self.estimate, styled(style, color=GRAY, linewidth=1.6, label="within a group")
        if not estimate.defined:
            raise ParameterError("noise leaves no areas to draw")
        count = len(estimate.names)
        axes = new_axes(ax, size=(_LEAST + _CELL * count, _LEAST + 0.6 * count))
        shown = np.ma.masked_invalid(estimate.auc)
        axes.imshow(shown, cmap=_COLORS, vmin=0.0, vmax=1.0, alpha=_OPACITY, aspect="auto")
        for row, areas in enumerate(estimate.table()):
            for column, area in enumerate(areas):
                text = _shown(area).replace(" (", "\n(", 1) if count <= _MOST_SHOWN else _shown(area).split(" ")[0]
                axes.text(column, row, text, ha="center", va="center", fontsize=8, color="black", parse_math=False)
        from matplotlib.patches import Rectangle

        label, color = look.pop("label"), look.pop("color")
        for place in range(count):
            corner, named = place - _FRAME / 2, None if place else label
            frame = Rectangle((corner, corner), _FRAME, _FRAME, fill=False, edgecolor=color, label=named, **look)
            axes.add_patch(frame)
        for set_ticks in (axes.set_xticks, axes.set_yticks):
            set_ticks(range(count), labels=estimate.names, parse_math=False)
        axes.set_xlabel(f"Negatives of {estimate.group.column} ({level(estimate)} intervals)")
        axes.set_ylabel(f"Positives of {estimate.group.column}")
        title = f"AUC of {estimate.score.column} for {estimate.label.column} between groups"
        caption(axes, title, estimate.caption, private=estimate.private)
        legend(axes)
        return axes

    @property
    def numbers(self) -> Numbers | None:
        estimate = self.estimate
        if not estimate.defined:
            return None
        pairs = itertools.product(estimate.names, estimate.names)
        return Numbers(
            label="Chance that the positive record is ranked above the negative one",
            rows=[
                (f"within {one}" if one == other else f"positives {one}, negatives {other}", *area)
                for (one, other), area in zip(pairs, itertools.chain(*estimate.table()), strict=True)
            ],
            shares=True,
            truth="True area of these records",
            summary="The AUC of positives of each group against negatives of each group.",
        )

    def true_numbers(self, exact: Any) -> list[float | None]:
        return [None if math.isnan(area) else float(area) for area in exact.estimate.auc.ravel()]

    def alike(self, truth: GroupAucEstimate) -> bool:
        return truth.domain == self.estimate.domain

    @property
    def truth_for(self) -> str:
        return self.estimate.score.column

    def tables(self, exact: Any) -> Sequence[Html | None]:
        head, *lines = self.groups
        tables = [
            ("AUC of every pair of groups", self.headings, self.rows),
            ("Each group", head, lines),
            *([] if exact is None else [("True areas", exact.headings, exact.rows)]),
        ]
        return [table(title, heads, [(row[0], row[1:]) for row in rows]) for title, heads, rows in tables]

    @property
    def headline(self) -> str:
        estimate = self.estimate
        within = {name: estimate.between(name, name) for name in estimate.names}
        seen = {name: area for name, area in within.items() if not math.isnan(area.value)}
        if not seen:
            return "Noise may account for a whole class of every group, so no AUC within a group is defined."
        worst, best = min(seen, key=lambda name: seen[name].value), max(seen, key=lambda name: seen[name].value)
        if len(seen) == 1:
            return f"The AUC within {best} is {_shown(seen[best])}; of other groups noise leaves none."
        return (
            f"Within groups of {estimate.group.column} the AUC is lowest for {worst}, {_shown(seen[worst])}, and "
            f"highest for {best}, {_shown(seen[best])}."
        )

    @property
    def released(self) -> list[str]:
        score = self.estimate.score
        return [
            f"How many records of each group and class have a {score.column} in each of {score.grid.bins:,} public "
            "bins. All areas and differences are computed from these noisy counts at no further cost."
        ]

    @property
    def details(self) -> list[tuple[str, str]]:
        return [("Measured", f"{self.estimate.counts.size:,} combinations of bin, group and class")]

    @property
    def useless(self) -> str | None:
        estimate, help_ = self.estimate, "Use a larger privacy budget, more records, fewer bins or fewer groups."
        if not estimate.private:
            return None
        if not estimate.defined:
            return f"The noise is larger than the classes of every group. {help_}"
        within = {name: estimate.between(name, name, target="sample") for name in estimate.names}
        wide = [name for name, area in within.items() if area.high - area.low >= USELESS]
        return f"The AUC of these records is hardly known within {', '.join(wide)}. {help_}" if wide else None


def _shown(area: Area) -> str:
    return "-" if math.isnan(area.value) else with_ends(area)


def _difference(area: Area) -> str:
    return "undefined" if math.isnan(area.value) else f"{'+' if area.value > 0 else ''}{_shown(area)}"
