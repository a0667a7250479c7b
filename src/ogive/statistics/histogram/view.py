"""What people see of a histogram: a table, bars with intervals, also of several groups, and a chapter of a report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np

from ogive.core.digits import number, percent
from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.parts import Html, Row, say, strong, table
from ogive.showing.pictures import BLUE, Style, bars, caption, legend, lighten, styled
from ogive.showing.view import Numbers, View, level, sentence
from ogive.statistics.histogram.estimate import HistogramEstimate

_SHOWN, _LONG = 4, 40

USELESS = 0.5
"""Intervals of these records that are wider than this part of all say little."""


def draw_groups(
    estimates: Sequence[HistogramEstimate],
    labels: Sequence[str],
    ax: Any,
    colors: Sequence[str],
    look: Mapping[str, Any],
    clause: str,
) -> Any:
    """Draw the bars of several groups below each other, within each category; a group without records has none."""
    known = [each for each in estimates if each.defined]
    if not known:
        raise ParameterError("noise leaves no records to draw")
    first = estimates[0]
    empty = [math.nan] * len(first.categories), [(math.nan, math.nan)] * len(first.categories)
    series = [
        (label, each.shares, each.intervals()) if each.defined else ("_", *empty)
        for label, each in zip(labels, estimates, strict=True)
    ]
    axes = bars(ax, first.categories, series, dict(look), f"{level(first)} intervals for the population", colors)
    axes.set_xlabel("Share of the records (%)")
    axes.set_ylabel(first.column)
    caption(axes, f"Histogram of {first.column}", clause, private=first.private)
    lighten(axes, grid="x")
    return axes


class HistogramEstimateView(View):
    """A table of the categories, and a bar for each."""

    estimate: HistogramEstimate
    draw_groups = staticmethod(draw_groups)

    @property
    def name(self) -> str:
        return f"histogram of {self.estimate.column}"

    @property
    def title(self) -> str:
        return f"Histogram of {self.estimate.column}"

    @property
    def short(self) -> str:
        names = self.estimate.categories
        listed = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        return f"of {self.estimate.column[:_LONG]}: {listed[:_LONG]}"

    @property
    def subject(self) -> str:
        return self.estimate.column

    @property
    def headings(self) -> tuple[str, ...]:
        return self.estimate.column, "count", "share", f"{level(self.estimate)} interval"

    @property
    def rows(self) -> list[tuple[str, ...]]:
        estimate, lines = self.estimate, []
        for name, count, share, (low, high) in zip(
            estimate.categories, estimate.counts, estimate.shares, estimate.intervals(), strict=True
        ):
            shown = (percent(share), f"{percent(low)} to {percent(high)}") if estimate.defined else ("-", "-")
            lines.append((name, f"{count:,.0f}", *shown))
        return [*lines, ("all", f"{max(0.0, estimate.records):,.0f}", "", "")]

    @property
    def notes(self) -> list[str]:
        estimate = self.estimate
        if not estimate.defined:
            note = "undefined: the noise leaves no records; use a larger budget"
        elif not estimate.private:
            note = "intervals are for shares of the population: sampling error"
        else:
            noise = number(max(estimate.noise_errors), max(estimate.noise_errors))
            note = (
                "intervals are for shares of the population: sampling error and noise; noise of a count: "
                f"+/- {noise} (standard deviation)"
            )
        return [note, *self.unseen]

    @property
    def unseen(self) -> list[str]:
        """What is not shown of a column whose categories were found."""
        estimate = self.estimate
        if estimate.threshold is None or not estimate.private:
            return []
        few = f"values with fewer than about {estimate.threshold:,} records may exist and are not shown"
        rare = f"categories were found: {few}"
        if estimate.unseen is None:
            return [f"{rare}; shares are of the records shown"]
        error = math.hypot(*estimate.noise_errors)
        return [f"{rare}; about {estimate.unseen:,.0f} records have such values (+/- {error:,.2g})"]

    @property
    def about(self) -> str:
        return f"{self.name} with {level(self.estimate)} intervals of the shares"

    @property
    def line(self) -> list[tuple[str, str]]:
        estimate = self.estimate
        rows = zip(estimate.categories, estimate.counts, estimate.shares, estimate.intervals(), strict=True)
        return [
            (name, f"{count:,.0f} ({percent(share)}, {100 * low:.1f} to {100 * high:.1f})" if estimate.defined else "-")
            for name, count, share, (low, high) in rows
        ]

    @property
    def columns(self) -> dict[str, Any]:
        estimate = self.estimate
        intervals, counted = estimate.intervals(), estimate.count_intervals()
        return {
            "category": list(estimate.categories),
            "count": list(estimate.counts),
            "count_error": list(estimate.noise_errors),
            "count_low": [low for low, _ in counted],
            "count_high": [high for _, high in counted],
            "share": list(estimate.shares),
            "share_error": list(estimate.standard_errors),
            "share_low": [low for low, _ in intervals],
            "share_high": [high for _, high in intervals],
        }

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        """Draw the share of each category as a bar, and its interval as a line, the first category on top."""
        look = styled(style, label="released" if self.estimate.private else "exact")
        axes = draw_groups((self.estimate,), (look.pop("label"),), ax, (BLUE,), look, self.estimate.caption)
        legend(axes)
        return axes

    @property
    def numbers(self) -> Numbers | None:
        estimate = self.estimate
        if not estimate.defined:
            return None
        return Numbers(
            label="Share of the records",
            rows=[
                (name, share, *ends)
                for name, share, ends in zip(estimate.categories, estimate.shares, estimate.intervals(), strict=True)
            ],
            shares=True,
            truth="True share of these records",
            summary="The share of each category with its interval.",
        )

    def check_truth(self, truth: Any) -> None:
        """Refuse what is not an exact histogram of the same categories; of those that were found it may have more."""
        super().check_truth(truth)
        self.estimate.exact_counts(truth)

    @property
    def truth_words(self) -> str:
        return "the exact histogram of the same categories"

    def true_numbers(self, exact: Any) -> list[float] | None:
        """Shares of the exact counts of the categories shown."""
        counts = self.estimate.exact_counts(exact.estimate)
        total = float(np.sum(counts))
        return [count / total for count in counts] if total else None

    @property
    def headline(self) -> str:
        estimate = self.estimate
        if not estimate.defined:
            return f"The shares of {estimate.column} are undefined: with the noise, the number of records is below 1."
        share, most = max(zip(estimate.shares, estimate.categories, strict=True), key=lambda each: each[0])
        return (
            f"The most frequent category of {estimate.column} is {most}, with {words.percent(share, 1)} of the records."
        )

    @property
    def error(self) -> Sequence[Html | str]:
        estimate = self.estimate
        if not estimate.defined:
            return ("Nothing can be said.",)
        sure = words.percent(estimate.confidence_level)
        first = f"Each interval holds the share in the population that the records are from, with {sure} confidence."
        if not estimate.private:
            return (first,)
        reach = max(high - count for count, (_, high) in zip(estimate.counts, estimate.count_intervals(), strict=True))
        return first, say(
            strong(f"{reach:,.0f} records"),
            f" more or less than said may be in a category of these records, with {sure} confidence for each. The "
            f"noise has a standard deviation of {max(estimate.noise_errors):,.2g} records.",
        )

    @property
    def released(self) -> Sequence[str]:
        return ("How many records there are of each category, and nothing else.", *map(sentence, self.unseen))

    def tables(self, exact: Any) -> Sequence[Html | None]:
        """Counts and shares, beside the exact counts."""
        estimate = self.estimate
        if not estimate.defined:
            return (None,)
        true = None if exact is None else estimate.exact_counts(exact.estimate)
        head = [estimate.column, "Count", "Share", "Low", "High", *(["True count"] if true is not None else [])]
        rows: list[Row] = []
        for place, (name, (low, high)) in enumerate(zip(estimate.categories, estimate.intervals(), strict=True)):
            cells = [f"{estimate.counts[place]:,.0f}", *map(percent, (estimate.shares[place], low, high))]
            rows.append((name, [*cells, *([] if true is None else [f"{true[place]:,.0f}"])]))
        return (table("Counts and shares", head, rows),)

    @property
    def details(self) -> Sequence[tuple[str, str]]:
        return (("Measured", f"{len(self.estimate.categories)} categories"),)

    @property
    def useless(self) -> str | None:
        estimate, help_ = self.estimate, "Use a larger privacy budget, more records, or fewer categories."
        if not estimate.private:
            return None
        if not estimate.defined:
            return f"With the noise, the number of records is below 1. {help_}"
        if max(high - low for low, high in estimate.count_intervals()) >= USELESS * max(1.0, estimate.records):
            return f"The noise leaves open more than half of the records. {help_}"
        return None
