"""What people see of a cross table: counts with margins and shares of rows, and the test of independence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from ogive.core.digits import p_value, percent
from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.parts import Html, say, strong
from ogive.showing.pictures import Style, styled
from ogive.showing.view import Numbers, View, level, sentence
from ogive.statistics.crosstab.estimate import Association, CrosstabEstimate, Independence

_LONG = 40
_LEAST = 0.001

USELESS = 0.5
"""Intervals of these records that are wider than this part of all say little."""


class CrosstabEstimateView(View):
    """A table with a bar of each row's shares for each column."""

    estimate: CrosstabEstimate
    table_title = "Counts, and percent of the row"
    true_title = "True counts"

    @property
    def name(self) -> str:
        return f"{self.estimate.row} by {self.estimate.column}"

    @property
    def short(self) -> str:
        rows, columns = self.estimate.shape
        return f"of {self.estimate.row[:_LONG]} by {self.estimate.column[:_LONG]}: {rows} x {columns}"

    @property
    def subject(self) -> str:
        return f"{self.estimate.row} and {self.estimate.column}"

    @property
    def headings(self) -> tuple[str, ...]:
        return (f"{self.estimate.row} \\ {self.estimate.column}", *self.estimate.column_names, "all")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        estimate, lines = self.estimate, []
        for name, counts, shares, total in zip(
            estimate.row_names, estimate.counts, estimate.row_shares, estimate.row_totals, strict=True
        ):
            lines.append((name, *map(_cell, counts, shares), f"{total:,.0f}"))
        margins = (f"{total:,.0f}" for total in estimate.column_totals)
        return [*lines, ("all", *margins, f"{max(0.0, estimate.records):,.0f}")]

    @property
    def notes(self) -> tuple[str, ...]:
        estimate, percents = self.estimate, "percent of the row"
        if estimate.private:
            percents += "; every count and total has noise of its own, so they need not add up"
        lines = [percents, f"independence: {_independence(estimate)}"]
        if estimate.compares_rows and estimate.defined:
            of, (one, other) = f"{estimate.column} = {estimate.column_names[1]}", estimate.row_names
            lines.append(
                f"share of {of}, {one} - {other}: {_points(estimate.risk_difference())}, {level(estimate)} interval"
            )
            lines.append(f"share of {of}, {one} / {other}: {_ratio(estimate.relative_risk())}")
            lines.append(f"odds ratio: {_ratio(estimate.odds_ratio())}")
        if estimate.private:
            lines.append(f"noise of a count: +/- {max(map(max, estimate.noise_errors)):,.2g} (standard deviation)")
        return tuple(lines)

    @property
    def about(self) -> str:
        return f"cross table of {self.estimate.row} and {self.estimate.column}, with shares of the rows"

    @property
    def line(self) -> list[tuple[str, str]]:
        estimate = self.estimate
        names = itertools.product(estimate.row_names, estimate.column_names)
        pairs = zip(itertools.chain(*estimate.counts), itertools.chain(*estimate.row_shares), strict=True)
        cells = [
            (f"{estimate.row} = {row}, {estimate.column} = {column}", _cell(*pair))
            for (row, column), pair in zip(names, pairs, strict=True)
        ]
        return [*cells, ("independence", _independence(estimate))]

    @property
    def columns(self) -> Mapping[str, Any]:
        estimate = self.estimate
        names = list(itertools.product(estimate.row_names, estimate.column_names))
        counted, shares = (
            list(itertools.chain(*each)) for each in (estimate.count_intervals(), estimate.row_share_intervals())
        )
        return {
            "row": [row for row, _ in names],
            "column": [column for _, column in names],
            "count": list(itertools.chain(*estimate.counts)),
            "count_error": list(itertools.chain(*estimate.noise_errors)),
            "count_low": [low for low, _ in counted],
            "count_high": [high for _, high in counted],
            "row_share": list(itertools.chain(*estimate.row_shares)),
            "row_share_low": [low for low, _ in shares],
            "row_share_high": [high for _, high in shares],
            "column_share": list(itertools.chain(*estimate.column_shares)),
        }

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        from ogive.showing.pictures import bars

        estimate, look = self.estimate, styled(style, alpha=0.55)
        if not estimate.defined:
            raise ParameterError("noise leaves no records to draw")
        before = f"{look.pop('label')}, " if "label" in look else ""
        series = [
            (f"{before}{estimate.column} = {name}", shares, ends)
            for name, shares, ends in zip(
                estimate.column_names,
                zip(*estimate.row_shares, strict=True),
                zip(*estimate.row_share_intervals(), strict=True),
                strict=True,
            )
        ]
        axes = bars(ax, estimate.row_names, series, look, f"{level(estimate)} intervals")
        axes.set_xlabel(f"Share of the row (%); {_independence(estimate)}")
        axes.set_ylabel(estimate.row)
        return self.finish(axes)

    @property
    def numbers(self) -> Numbers | None:
        estimate = self.estimate
        if not estimate.defined:
            return None
        ends = estimate.row_share_intervals()
        return Numbers(
            label=f"Share of the records with the same {estimate.row}",
            rows=[
                (
                    f"{estimate.column} {name} where {estimate.row} is {of}",
                    estimate.row_shares[at][place],
                    *ends[at][place],
                )
                for at, of in enumerate(estimate.row_names)
                for place, name in enumerate(estimate.column_names)
            ],
            shares=True,
            truth="True share of these records",
            summary=f"The share of each value of {estimate.column} among the records with each value of "
            f"{estimate.row}.",
        )

    def alike(self, truth: CrosstabEstimate) -> bool:
        return truth.listed == self.estimate.listed

    @property
    def truth_words(self) -> str:
        return "the exact table of the same values"

    @property
    def headline(self) -> str:
        estimate, test = self.estimate, self.estimate.independence
        if test is None:
            return (
                f"{estimate.row} and {estimate.column} are undefined: with the noise, the number of records is below 1."
            )
        rejected = "rejected" if test.p_value <= 1 - estimate.confidence_level else "not rejected"
        counted = ", noise included" if estimate.private else ""
        shown = f"chi-square {test.chi_square:.1f}, {_p_value(test)}{counted}"
        return f"{self.name}: independence is {rejected} ({shown})."

    @property
    def error(self) -> Sequence[Html | str]:
        estimate = self.estimate
        paragraphs: list[Html | str] = [sentence(line) for line in self.notes[1:]]
        if estimate.private and estimate.defined:
            pairs = zip(estimate.counts, estimate.count_intervals(), strict=True)
            reach = max(high - count for row, ends in pairs for count, (_, high) in zip(row, ends, strict=True))
            sure = words.percent(estimate.confidence_level)
            paragraphs.append(
                say(
                    strong(f"{reach:,.0f} records"),
                    f" more or less than said may have a combination, of these records, with {sure} confidence for "
                    "each.",
                )
            )
        return paragraphs

    @property
    def released(self) -> Sequence[str]:
        return ("How many records have each combination of values, and nothing else.",)

    @property
    def details(self) -> Sequence[tuple[str, str]]:
        rows, columns = self.estimate.shape
        return (("Measured", f"{rows * columns} combinations"),)

    @property
    def useless(self) -> str | None:
        estimate, help_ = self.estimate, "Use a larger privacy budget, more records, or fewer values."
        if not estimate.private:
            return None
        if not estimate.defined:
            return f"With the noise, the number of records is below 1. {help_}"
        if max(high - low for row in estimate.count_intervals() for low, high in row) >= USELESS * estimate.records:
            return f"The noise leaves open more than half of the records. {help_}"
        return None


def _cell(count: float, share: float) -> str:
    return f"{count:,.0f} ({'-' if math.isnan(share) else percent(share)})"


def _independence(estimate: CrosstabEstimate) -> str:
    test = estimate.independence
    if test is None:
        return "undefined: the noise leaves no records"
    return f"chi-square {test.chi_square:.1f}, {_p_value(test)}{' (noise included)' * estimate.private}"


def _p_value(test: Independence) -> str:
    if test.p_value_is_bound:
        return f"p {p_value(test.p_value, bound=True)}"
    return f"p < {_LEAST}" if test.p_value < _LEAST else f"p = {test.p_value:.3f}"


def _points(result: Association) -> str:
    if math.isnan(result.value):
        return "undefined"
    return f"{100 * result.value:.1f} points ({100 * result.low:.1f} to {100 * result.high:.1f})"


def _ratio(result: Association) -> str:
    if math.isnan(result.value):
        return "undefined"
    high = f"{result.high:.2f}" if result.high < 1e4 else "no bound"
    return f"{result.value:.2f} ({result.low:.2f} to {high})"
