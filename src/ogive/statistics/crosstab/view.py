"""What people see of a cross table: counts with margins and shares of rows, and the test of independence."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from ogive.core.digits import percent
from ogive.errors import ParameterError
from ogive.showing import words
from ogive.showing.parts import Html, say, strong
from ogive.showing.pictures import Style, styled
from ogive.showing.view import Numbers, View, level, sentence
from ogive.statistics.crosstab.estimate import Association, CrosstabEstimate

_LONG = 40
_LEAST = 0.001

USELESS = 0.5
"""Intervals of these records that are wider than this part of all say little."""


class CrosstabEstimateView(View):
    """A table with a bar of each row's shares for each column."""

    found: CrosstabEstimate
    table_title = "Counts, and percent of the row"
    true_title = "True counts"

    @property
    def name(self) -> str:
        return f"{self.found.row} by {self.found.column}"

    @property
    def short(self) -> str:
        rows, columns = self.found.shape
        return f"of {self.found.row[:_LONG]} by {self.found.column[:_LONG]}: {rows} x {columns}"

    @property
    def subject(self) -> str:
        return f"{self.found.row} and {self.found.column}"

    @property
    def headings(self) -> tuple[str, ...]:
        return (f"{self.found.row} \\ {self.found.column}", *self.found.column_names, "all")

    @property
    def rows(self) -> list[tuple[str, ...]]:
        found, lines = self.found, []
        for name, counts, shares, total in zip(
            found.row_names, found.counts, found.row_shares, found.row_totals, strict=True
        ):
            lines.append((name, *map(_cell, counts, shares), f"{total:,.0f}"))
        margins = (f"{total:,.0f}" for total in found.column_totals)
        return [*lines, ("all", *margins, f"{max(0.0, found.records):,.0f}")]

    @property
    def notes(self) -> tuple[str, ...]:
        found, percents = self.found, "percent of the row"
        if found.private:
            percents += "; every count and total has noise of its own, so they need not add up"
        lines = [percents, f"independence: {_independence(found)}"]
        if found.compares_rows and found.defined:
            of, (one, other) = f"{found.column} = {found.column_names[1]}", found.row_names
            lines.append(f"share of {of}, {one} - {other}: {_points(found.risk_difference())}, {level(found)} interval")
            lines.append(f"share of {of}, {one} / {other}: {_ratio(found.relative_risk())}")
            lines.append(f"odds ratio: {_ratio(found.odds_ratio())}")
        if found.private:
            lines.append(f"noise of a count: +/- {max(map(max, found.noise_errors)):,.2g} (standard deviation)")
        return tuple(lines)

    @property
    def about(self) -> str:
        return f"cross table of {self.found.row} and {self.found.column}, with shares of the rows"

    @property
    def line(self) -> list[tuple[str, str]]:
        found = self.found
        names = itertools.product(found.row_names, found.column_names)
        pairs = zip(itertools.chain(*found.counts), itertools.chain(*found.row_shares), strict=True)
        cells = [
            (f"{found.row} = {row}, {found.column} = {column}", _cell(*pair))
            for (row, column), pair in zip(names, pairs, strict=True)
        ]
        return [*cells, ("independence", _independence(found))]

    @property
    def columns(self) -> Mapping[str, Any]:
        found = self.found
        names = list(itertools.product(found.row_names, found.column_names))
        counted, shares = (
            list(itertools.chain(*each)) for each in (found.count_intervals(), found.row_share_intervals())
        )
        return {
            "row": [row for row, _ in names],
            "column": [column for _, column in names],
            "count": list(itertools.chain(*found.counts)),
            "count_error": list(itertools.chain(*found.noise_errors)),
            "count_low": [low for low, _ in counted],
            "count_high": [high for _, high in counted],
            "row_share": list(itertools.chain(*found.row_shares)),
            "row_share_low": [low for low, _ in shares],
            "row_share_high": [high for _, high in shares],
            "column_share": list(itertools.chain(*found.column_shares)),
        }

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        from ogive.showing.pictures import bars

        found, look = self.found, styled(style, alpha=0.55)
        if not found.defined:
            raise ParameterError("noise leaves no records to draw")
        before = f"{look.pop('label')}, " if "label" in look else ""
        series = [
            (f"{before}{found.column} = {name}", shares, ends)
            for name, shares, ends in zip(
                found.column_names,
                zip(*found.row_shares, strict=True),
                zip(*found.row_share_intervals(), strict=True),
                strict=True,
            )
        ]
        axes = bars(ax, found.row_names, series, look, f"{level(found)} intervals")
        axes.set_xlabel(f"Share of the row (%); {_independence(found)}")
        axes.set_ylabel(found.row)
        return self.finish(axes)

    @property
    def numbers(self) -> Numbers | None:
        found = self.found
        if not found.defined:
            return None
        ends = found.row_share_intervals()
        return Numbers(
            label=f"Share of the records with the same {found.row}",
            rows=[
                (f"{found.column} {name} where {found.row} is {of}", found.row_shares[at][place], *ends[at][place])
                for at, of in enumerate(found.row_names)
                for place, name in enumerate(found.column_names)
            ],
            shares=True,
            truth="True share of these records",
            summary=f"The share of each value of {found.column} among the records with each value of {found.row}.",
        )

    def alike(self, truth: CrosstabEstimate) -> bool:
        return truth.listed == self.found.listed

    @property
    def truth_words(self) -> str:
        return "the exact table of the same values"

    @property
    def headline(self) -> str:
        found, test = self.found, self.found.independence
        if test is None:
            return f"{found.row} and {found.column} are undefined: with the noise, the number of records is below 1."
        rejected = "rejected" if test.p_value <= 1 - found.confidence_level else "not rejected"
        counted = ", noise included" if found.private else ""
        shown = f"chi-square {test.chi_square:.1f}, {_p_value(test.p_value)}{counted}"
        return f"{self.name}: independence is {rejected} ({shown})."

    @property
    def error(self) -> Sequence[Html | str]:
        found = self.found
        paragraphs: list[Html | str] = [sentence(line) for line in self.notes[1:]]
        if found.private and found.defined:
            pairs = zip(found.counts, found.count_intervals(), strict=True)
            reach = max(high - count for row, ends in pairs for count, (_, high) in zip(row, ends, strict=True))
            sure = words.percent(found.confidence_level)
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
        rows, columns = self.found.shape
        return (("Measured", f"{rows * columns} combinations"),)

    @property
    def useless(self) -> str | None:
        found, help_ = self.found, "Use a larger privacy budget, more records, or fewer values."
        if not found.private:
            return None
        if not found.defined:
            return f"With the noise, the number of records is below 1. {help_}"
        if max(high - low for row in found.count_intervals() for low, high in row) >= USELESS * found.records:
            return f"The noise leaves open more than half of the records. {help_}"
        return None


def _cell(count: float, share: float) -> str:
    return f"{count:,.0f} ({'-' if math.isnan(share) else percent(share)})"


def _independence(found: CrosstabEstimate) -> str:
    test = found.independence
    if test is None:
        return "undefined: the noise leaves no records"
    return f"chi-square {test.chi_square:.1f}, {_p_value(test.p_value)}{' (noise included)' * found.private}"


def _p_value(value: float) -> str:
    return f"p < {_LEAST}" if value < _LEAST else f"p = {value:.3f}"


def _points(found: Association) -> str:
    if math.isnan(found.value):
        return "undefined"
    return f"{100 * found.value:.1f} points ({100 * found.low:.1f} to {100 * found.high:.1f})"


def _ratio(found: Association) -> str:
    if math.isnan(found.value):
        return "undefined"
    high = f"{found.high:.2f}" if found.high < 1e4 else "no bound"
    return f"{found.value:.2f} ({found.low:.2f} to {high})"
