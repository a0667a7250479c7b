"""Table 1: what the paper prints of answers and their price, beside its accounting of real votes and ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive.pate.aggregators import LNMax
from ogive_papers.items import TABLE, Item, Numbers, Places, Setting
from ogive_papers.pate import prices
from ogive_papers.pate.prices import (
    ANSWERED,
    AT_PRINTED,
    EXACT,
    EXPECTED,
    INDEPENDENT,
    JOINT,
    LABELS,
    MARGINS,
    ORDER,
    PAPER,
    PLURALITY,
    PRICE,
    RIGHT,
    SPREAD,
)
from ogive_papers.pate.printed import GLYPH, INTERACTIVE, PRICES, SANITIZED, PriceRow
from ogive_papers.pate.stand_in import seen, standing
from ogive_papers.pate.students import claims, runs
from ogive_papers.pate.tables import TextTable, draw_tables, outcome_of
from ogive_papers.pate.votes import VOTE_SETS, absence
from ogive_papers.summaries import Row, Summary, difference
from ogive_papers.verdicts import MARGIN, Check, Outcome, above, show

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCE = 0.05
"""By what part a printed epsilon may differ from the one that is found."""

SHARED = ("MNIST", "Adult")
"""Data sets whose votes are public: the table is judged by them."""


def inputs(places: Places) -> Setting:
    """What the table reads."""
    return {**prices.inputs(places), **runs.inputs(places)}


def settings(quick: bool) -> tuple[Setting, ...]:
    """Prices, labels and students."""
    return (*prices.settings(quick), *runs.settings(quick))


def measure(setting: Setting, seed: int, data: Places) -> Numbers:
    """One run of whatever the setting is of."""
    result = prices.measure if setting["of"] in (PRICE, LABELS) else runs.measure
    return result(setting, seed, data)


def judge(summary: Summary) -> tuple[Check, ...]:
    """Compare with Table 1 where votes are real."""
    priced = {str(row.setting["row"]): row for row in summary.where(of=PRICE).rows}
    checks: list[Check] = []
    for name, row in priced.items():
        printed = PRICES[name]
        if printed.data == GLYPH or PAPER not in row.cells:
            checks.append(_not_judged(printed, row))
        elif isinstance(printed.aggregator, LNMax):
            checks.append(_lnmax(printed, row))
        else:
            checks += _confident(printed, row)
    checks += [check for data in SHARED for check in _cheaper(data, priced)]
    checks += [_margins(row) for row in summary.where(of=LABELS).rows if RIGHT in row.cells and not _is_glyph(row)]
    return (
        *checks,
        Check(INTERACTIVE, Outcome.UNDECIDED, "not redone: it needs the votes and images of Glyph; the paper's "
              "text says 10,422 answers, which does not fit its table", essential=False),
        *claims.judge(summary),
    )  # fmt: skip


def _not_judged(printed: PriceRow, row: Row) -> Check:
    """A row without real votes: what can be said of it without them, or of simulated ones."""
    claim = f"{printed.name}: epsilon {printed.epsilon:g}, {printed.answered} answers"
    cells = row.cells
    fixed = (
        f"; whatever the votes, {printed.answered} answers cost {cells[AT_PRINTED].mean:.4g}" if _checked(row) else ""
    )
    if printed.data != GLYPH:
        absent = absence(VOTE_SETS[printed.data]) + fixed
        return Check(claim, Outcome.UNDECIDED, absent, essential=printed.data in SHARED)
    result = f"{seen(row.setting)} {cells[PAPER].mean:.3g} by the paper's accounting, {cells[JOINT].mean:.3g} jointly"
    return Check(claim, Outcome.UNDECIDED, f"the votes are not public; {result}{fixed}", essential=False)


def _lnmax(printed: PriceRow, row: Row) -> Check:
    result = row.cells[PAPER].mean
    return Check(
        f"{printed.name}: epsilon {printed.epsilon:g}, to {TOLERANCE:.0%}",
        outcome_of(abs(result / printed.epsilon - 1) <= TOLERANCE),
        f"{result:.4g} by the moments of 2017, {row.cells[JOINT].mean:.4g} by ours, at most "
        f"{row.cells[INDEPENDENT].mean:.4g} whatever the votes; the paper took it from its predecessor's run",
        essential=False,
    )


def _confident(printed: PriceRow, row: Row) -> tuple[Check, ...]:
    cells = row.cells
    result, answers, spread = (cells[name].mean for name in (PAPER, EXPECTED, SPREAD))
    words = f"{result:.4f} at order {cells[ORDER].mean:g}"
    return (
        Check(
            f"{printed.name}: {printed.answered} answers, to {MARGIN:g} standard deviations",
            outcome_of(abs(answers - printed.answered) <= MARGIN * spread),
            f"{answers:.1f} expected, standard deviation {spread:.1f}",
            essential=printed.data in SHARED,
        ),
        Check(
            f"{printed.name}: epsilon at most {printed.epsilon:g} by the paper's accounting, to {TOLERANCE:.0%}",
            outcome_of(result <= (1 + TOLERANCE) * printed.epsilon),
            words,
            essential=printed.data in SHARED,
        ),
        Check(
            f"{printed.name}: epsilon is {printed.epsilon:g}, to {TOLERANCE:.0%}",
            outcome_of(abs(result / printed.epsilon - 1) <= TOLERANCE),
            f"{words}; Table 2 prints {SANITIZED[printed.data].expected:.2f} for the same run",
            essential=False,
        ),
        Check(
            f"beyond the paper, whose expected cost is not a bound: {printed.name} costs less by exact bounds",
            outcome_of(cells[EXACT].mean < result),
            f"fully exact {cells[EXACT].mean:.4f}, joint {cells[JOINT].mean:.4f}; these hold at the votes held only",
            essential=False,
        ),
        Check(
            f"corrected: the printed epsilon of {printed.name} is one of differential privacy",
            outcome_of(cells[INDEPENDENT].mean < printed.epsilon),
            f"{cells[INDEPENDENT].mean:.4f} with at most {printed.cap} answers ({cells[AT_PRINTED].mean:.4f} with "
            f"{printed.answered}); a cost that depends on votes is a statement about them, and private itself",
            essential=False,
        ),
    )


def _cheaper(data: str, priced: dict[str, Row]) -> tuple[Check, ...]:
    """Whether Confident-GNMax answers more queries than LNMax for less."""
    rows = [(PRICES[name], row) for name, row in priced.items() if PRICES[name].data == data and PAPER in row.cells]
    laplace = [row for printed, row in rows if isinstance(printed.aggregator, LNMax)]
    confident = [row for printed, row in rows if not isinstance(printed.aggregator, LNMax)]
    if not laplace or not confident:
        return ()
    first, ours = PRICES[str(laplace[0].setting["row"])], confident[0].cells
    cost = laplace[0].cells[PAPER].mean
    return (
        Check(
            f"{data}: Confident-GNMax answers more queries than LNMax for a smaller epsilon",
            outcome_of(ours[EXPECTED].mean > first.answered and ours[PAPER].mean < cost),
            f"{ours[EXPECTED].mean:.1f} answers for {ours[PAPER].mean:.4f}, LNMax {first.answered} for {cost:.4f}",
        ),
    )


def _margins(row: Row) -> Check:
    cells = row.cells
    return Check(
        f"beyond the paper: {row.setting['row']}: for the same price whatever the votes, as many largest margins of "
        "opened histograms are right more often",
        above(difference(cells[MARGINS], cells[RIGHT]), 0.0),
        f"{show(cells[MARGINS])} against {show(cells[RIGHT])} of {show(cells[ANSWERED])} answers; the plurality is "
        f"right on {cells[PLURALITY].mean:.4f} of all queries",
        essential=False,
    )


def _is_glyph(row: Row) -> bool:
    return PRICES[str(row.setting["row"])].data == GLYPH


def _checked(row: Row) -> bool:
    return AT_PRINTED in row.cells


def draw(summary: Summary, figure: Figure) -> None:
    """The table: as printed, by the paper's accounting, and by ours."""
    lines = []
    for row in summary.where(of=PRICE).rows:
        printed, cells = PRICES[str(row.setting["row"])], row.cells
        labels = [each for each in summary.where(of=LABELS, row=printed.name).rows if RIGHT in each.cells]
        lines.append([
            printed.name + (f" ({standing(row.setting)})" if printed.data == GLYPH else ""),
            str(printed.answered), f"{printed.epsilon:g}", f"{printed.accuracy:.1f} %",
            *(f"{cells[name].mean:.{digits}f}" if name in cells else "" for name, digits in (
                (EXPECTED, 1), (PAPER, 3), (JOINT, 3), (EXACT, 3), (INDEPENDENT, 3),
            )),
            *(f"{100 * labels[0].cells[name].mean:.1f} %" if labels else "" for name in (RIGHT, MARGINS)),
        ])  # fmt: skip
    titles = ["row", "answers,\nprinted", "epsilon,\nprinted", "student,\nprinted", "answers,\nexpected",
              "epsilon,\npaper's\naccounting", "epsilon,\njoint", "epsilon,\nfully\nexact",
              "epsilon,\nwhatever\nthe votes", "answers\nthat are\nright", "margins\nthat are\nright"]  # fmt: skip
    draw_tables(
        figure,
        TextTable(titles, lines, first=0.29),
        TextTable(claims.TITLES, claims.lines(summary), first=0.29),
        TextTable(claims.ROUND_TITLES, claims.round_lines(summary), first=0.29),
    )


TABLE_1 = Item(
    "pate", TABLE, 1, "answers, their price and students, judged on MNIST and Adult",
    settings, measure, draw, judge, (*prices.CODE, *runs.CODE), inputs=inputs, usual_runs=100,
)  # fmt: skip
