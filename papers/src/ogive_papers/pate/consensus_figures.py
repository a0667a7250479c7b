"""Figures 1 and 5: what the paper says of answers, their price and the queries that a check keeps; and their panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ogive_papers.items import FIGURE, Item, Numbers, Places, Setting
from ogive_papers.pate import checked, checked_claims, consensus
from ogive_papers.pate.consensus import (
    AGGRESSIVE,
    ANSWERED,
    CHECKS,
    CODE,
    CONFIDENT,
    JOINT,
    LAPLACE,
    MODERATE,
    PAPER,
    PRICE,
    RIGHT,
    STUDENT,
    price_settings,
    share_setting,
)
from ogive_papers.pate.consensus_drawing import (
    BUDGET,
    draw_checks,
    draw_labels,
    draw_passing,
    draw_prices,
    draw_shares,
    draw_students,
    pass_rates,
)
from ogive_papers.pate.printed import GLYPH
from ogive_papers.pate.stand_in import is_simulated, seen
from ogive_papers.pate.tables import PRIVATE_VOTES
from ogive_papers.summaries import Cell, Row, Summary, difference, scaled
from ogive_papers.verdicts import Check, Outcome, above, below, every, show

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def first_settings(quick: bool) -> tuple[Setting, ...]:
    """LNMax and Confident-GNMax after more and more queries; consensus in five bins; the two on real votes."""
    asked = (500, 1000) if quick else (500, 1000, 2000, 4000, 6000)
    prices = [setting for name in (LAPLACE, CONFIDENT) for setting in price_settings(name, *asked)]
    return (*prices, share_setting(5, asked=1000) if quick else share_setting(5), *checked.real_settings())


def fifth_settings(quick: bool) -> tuple[Setting, ...]:
    """LNMax, a moderate and an aggressive check after more and more queries; consensus in ten bins; real votes."""
    thousand = {LAPLACE: 1000, MODERATE: 1750, AGGRESSIVE: 3750}  # queries for so many answers
    times = (0.5, 1) if quick else (1, 2, 4, 6)
    prices = [
        setting
        for name, asked in thousand.items()
        for setting in price_settings(name, *(round(asked * each) for each in times))
    ]
    return (*prices, share_setting(5, asked=1000) if quick else share_setting(10), *checked.real_settings())


def measure(setting: Setting, seed: int, data: Places) -> Numbers:
    """One run at one place of a panel, or on real votes."""
    where = checked.measure if setting["panel"] == checked.REAL else consensus.measure
    return where(setting, seed, data)


def judge_first(summary: Summary) -> tuple[Check, ...]:
    """Compare with Figure 1 as far as votes that stand in for Glyph allow."""
    rows = {name: _by_asked(summary, name) for name in (LAPLACE, CONFIDENT)}
    pairs = list(zip(rows[LAPLACE], rows[CONFIDENT], strict=True))
    where = seen(summary.rows[0].setting)
    return (
        Check(f"{GLYPH}: students of 65 to 76 % at epsilon 0.76 and 1.42 (GNMax), 2.89 and 5.76 (LNMax)",
              Outcome.UNDECIDED, PRIVATE_VOTES),
        Check("Confident-GNMax costs less than LNMax for as many queries, where they are most",
              every([below(difference(b.cells[PAPER], a.cells[PAPER]), 0.0) for a, b in pairs[-1:]]),
              f"{where} epsilon {_curve(rows[CONFIDENT], PAPER)} against {_curve(rows[LAPLACE], PAPER)}",
              essential=False),
        _quarter(summary, pairs),
        *_students(summary, pairs),
        Check("its answers are right more often than those of LNMax",
              every([above(difference(b.cells[RIGHT], a.cells[RIGHT]), 0.0) for a, b in pairs[-1:]]),
              f"{where} {show(pairs[-1][1].cells[RIGHT])} against {show(pairs[-1][0].cells[RIGHT])}, "
              f"{show(pairs[-1][1].cells[ANSWERED])} and {show(pairs[-1][0].cells[ANSWERED])} answers",
              essential=False),
        Check("beyond the paper, whose expected cost is not a bound: jointly, which is one, it costs less",
              every([below(difference(b.cells[JOINT], b.cells[PAPER]), 0.0) for _, b in pairs]),
              f"{where} {_curve(rows[CONFIDENT], JOINT)}", essential=False),
        _filtered(summary),
        *checked_claims.cheaper(summary),
        *checked_claims.right_more_often(summary),
        *checked_claims.filtered(summary),
    )  # fmt: skip


def judge_fifth(summary: Summary) -> tuple[Check, ...]:
    """Compare with Figure 5 as far as votes that stand in for Glyph allow."""
    rows = {name: _by_asked(summary, name) for name in (LAPLACE, MODERATE, AGGRESSIVE)}
    answered = {name: rows[name][-1].cells[ANSWERED] for name in rows}
    costs = {name: rows[name][-1].cells[PAPER] for name in rows}
    where = seen(summary.rows[0].setting)
    return (
        Check(f"{GLYPH}: epsilon of up to 6000 answers, at the paper's numbers", Outcome.UNDECIDED, PRIVATE_VOTES),
        _budget(summary, {name: rows[name] for name in (MODERATE, AGGRESSIVE)}),
        Check("a moderate check costs less than LNMax for as many answers",
              below(difference(costs[MODERATE], scaled(costs[LAPLACE], _at_most(answered))), 0.0),
              f"{where} "
              + ", ".join(f"{name} {show(costs[name])} for {answered[name].mean:.0f} answers" for name in rows),
              essential=False),
        Check("answers of a stricter check are right more often",
              every([above(difference(rows[AGGRESSIVE][-1].cells[RIGHT], rows[MODERATE][-1].cells[RIGHT]), 0.0),
                     above(difference(rows[MODERATE][-1].cells[RIGHT], rows[LAPLACE][-1].cells[RIGHT]), 0.0)]),
              f"{where} " + ", ".join(f"{name} {show(rows[name][-1].cells[RIGHT])}" for name in rows), essential=False),
        _filtered(summary),
        *checked_claims.cheaper(summary),
        *checked_claims.filtered(summary),
    )  # fmt: skip


def _quarter(summary: Summary, pairs: Sequence[tuple[Row, Row]]) -> Check:
    """Whether Confident-GNMax costs a quarter of what LNMax does; simulated votes cannot say."""
    claim = "it costs at most a quarter"
    setting = summary.rows[0].setting
    ratios = ", ".join(f"{a.cells[PAPER].mean / b.cells[PAPER].mean:.2f}" for a, b in pairs)
    words = f"{seen(setting)} LNMax costs {ratios} times as much"
    if is_simulated(setting):
        words += "; they agree more than Glyph's do, so that LNMax costs less"
        return Check(claim, Outcome.UNDECIDED, words, essential=False)
    result = every([below(difference(b.cells[PAPER], scaled(a.cells[PAPER], 0.25)), 0.0) for a, b in pairs[-1:]])
    return Check(claim, result, words, essential=False)


def _students(summary: Summary, pairs: Sequence[tuple[Row, Row]]) -> tuple[Check, ...]:
    """Whether a student of Confident-GNMax is as good as one of LNMax; there are students of characters only."""
    if not all(STUDENT in row.cells for pair in pairs for row in pair):
        return ()
    results = [difference(b.cells[STUDENT], a.cells[STUDENT]) for a, b in pairs]
    words = ", ".join(f"{show(b.cells[STUDENT])} against {show(a.cells[STUDENT])}" for a, b in pairs)
    return (
        Check("a student of Confident-GNMax errs at most one point more than one of LNMax after as many queries",
              every([above(each, -0.01) for each in results]),
              f"{seen(summary.rows[0].setting)} {words}; the paper's, of as many queries, differ by -3.7 to 0.8 points",
              essential=False),
    )  # fmt: skip


def _budget(summary: Summary, rows: Mapping[str, Sequence[Row]]) -> Check:
    """Whether checks take a third to a half of the cost; simulated votes cannot say."""
    setting = summary.rows[0].setting
    words = f"{seen(setting)} " + "; ".join(f"{name} {_parts(each)}" for name, each in rows.items())
    parts = [row.cells[CHECKS] for each in rows.values() for row in each]
    outcome = every([above(part, BUDGET[0]) for part in parts] + [below(part, BUDGET[1]) for part in parts])
    if is_simulated(setting):
        outcome, words = Outcome.UNDECIDED, words + ": with more agreement answers cost less, and checks the same"
    return Check("a third to a half of the budget goes to checks", outcome, words, essential=False)


def _filtered(summary: Summary) -> Check:
    """Whether checks keep out queries on which teachers disagree."""
    outcomes, words = [], []
    where = seen(summary.rows[0].setting)
    for name in (MODERATE, AGGRESSIVE):
        rates = pass_rates(summary, name)
        low, high = rates[0], rates[-1]
        outcomes.append(below(difference(low, scaled(high, 0.5)), 0.0))
        words.append(f"{name} {low.mean:.3f} and {high.mean:.3f}")
    return Check(
        "checks filter queries of weak consensus: the least agreed ones pass less than half as often as the most",
        every(outcomes), f"{where} {'; '.join(words)} of them pass", essential=False,
    )  # fmt: skip


def _by_asked(summary: Summary, mechanism: str) -> Sequence[Row]:
    rows = summary.where(panel=PRICE, mechanism=mechanism).rows
    return sorted(rows, key=lambda row: float(row.setting["asked"]))


def _curve(rows: Sequence[Row], quantity: str) -> str:
    return ", ".join(f"{row.cells[quantity].mean:.3g}" for row in rows)


def _parts(rows: Sequence[Row]) -> str:
    return ", ".join(f"{row.cells[CHECKS].mean:.2f}" for row in rows)


def _at_most(answered: dict[str, Cell]) -> float:
    """Part of LNMax's answers that the moderate check gives, 1 at most: as many answers may cost that part."""
    return min(1.0, answered[MODERATE].mean / answered[LAPLACE].mean)


def draw_first(summary: Summary, figure: Figure) -> None:
    """Right labels, students, price and consensus."""
    figure.set_size_inches(10.4, 8.4)
    ((labels, students), (prices, shares)) = figure.subplots(2, 2)
    draw_labels(labels, summary.where(panel=PRICE), (LAPLACE, CONFIDENT))
    draw_students(students, summary.where(panel=PRICE))
    draw_prices(prices, summary.where(panel=PRICE), (LAPLACE, CONFIDENT))
    draw_shares(shares, summary)


def draw_fifth(summary: Summary, figure: Figure) -> None:
    """Consensus, price and the part of checks in it; and who passes on real votes, where there are some."""
    figure.set_size_inches(10.4, 8.6)
    ((shares, prices), (checks, real)) = figure.subplots(2, 2)
    draw_shares(shares, summary)
    draw_prices(prices, summary.where(panel=PRICE), (LAPLACE, MODERATE, AGGRESSIVE))
    draw_checks(checks, summary.where(panel=PRICE), (MODERATE, AGGRESSIVE))
    known = summary.where(panel=checked.REAL, mechanism=CONFIDENT).rows
    rates = {str(row.setting["votes"]): checked_claims.pass_rates(row) for row in known if row.cells}
    if rates:
        draw_passing(real, rates, checked.BINS)
    else:
        real.set_axis_off()


FIGURE_1 = Item(
    "pate", FIGURE, 1, "right answers, their price, and the queries that are answered",
    first_settings, measure, draw_first, judge_first, CODE, inputs=checked.inputs, usual_runs=5,
)  # fmt: skip
FIGURE_5 = Item(
    "pate", FIGURE, 5, "the queries that checks keep, and what checks cost",
    fifth_settings, measure, draw_fifth, judge_fifth, CODE, inputs=checked.inputs, usual_runs=5,
)  # fmt: skip
