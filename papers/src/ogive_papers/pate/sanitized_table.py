"""Table 2: costs, sensitivities and noise as printed and as found; and its last column, whose formula is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive_papers.items import TABLE, Item
from ogive_papers.pate.prices import inputs
from ogive_papers.pate.printed import GLYPH, ROUNDS_EXPECTED, ROUNDS_TOTAL, SANITIZED
from ogive_papers.pate.sanitized import (
    CODE,
    EXPECTED,
    INDEPENDENT,
    NOISE,
    OUR_NOISE,
    OUR_TOTAL,
    PRINTED_PRICE,
    PRINTED_TOTAL,
    RIGHT_PRICE,
    RIGHT_TOTAL,
    SENSITIVITY,
    SHIFTED,
    TWO_ROUNDS,
    measure,
    settings,
)
from ogive_papers.pate.stand_in import seen, standing
from ogive_papers.pate.tables import TextTable, draw_tables, outcome_of
from ogive_papers.pate.votes import VOTE_SETS, absence
from ogive_papers.summaries import Row, Summary
from ogive_papers.verdicts import Check, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LAST_DIGIT = {EXPECTED: 0.005, SENSITIVITY: 0.00015, NOISE: 0.001, PRINTED_TOTAL: 0.01}
"""How far a number may be from the printed one: half of its last digit, or what rounded parameters explain."""

LOSS = 0.015
"""How far the price of publishing may be from the difference of two printed numbers of two decimals."""


def judge(summary: Summary) -> tuple[Check, ...]:
    """Compare with Table 2 where votes are real, and the printed formula with the truth everywhere."""
    rows = {str(row.setting["row"]): row for row in summary.rows}
    return (
        *(check for name, row in rows.items() if name != TWO_ROUNDS for check in _row(name, row)),
        _formula(rows),
        *(_difference(name, row) for name, row in rows.items()),
        *(_worth(name, row) for name, row in rows.items() if OUR_TOTAL in row.cells),
    )


def _row(name: str, row: Row) -> tuple[Check, ...]:
    printed, cells = SANITIZED[name], row.cells
    wanted = {
        EXPECTED: printed.expected, SENSITIVITY: printed.sensitivity, NOISE: printed.noise,
        PRINTED_TOTAL: printed.total,
    }  # fmt: skip
    claim = f"{name}, order {printed.order:g}: " + ", ".join(f"{key} {value:g}" for key, value in wanted.items())
    if name != GLYPH and EXPECTED not in cells:
        return (Check(claim, Outcome.UNDECIDED, absence(VOTE_SETS[name]), essential=name != "SVHN"),)
    result = ", ".join(f"{key} {cells[key].mean:.4g}" for key in wanted)
    if name == GLYPH:
        return (
            Check(
                claim, Outcome.UNDECIDED, f"the votes are not public; {seen(row.setting)}: {result}", essential=False
            ),
        )
    near = all(abs(cells[key].mean - value) <= LAST_DIGIT[key] for key, value in wanted.items())
    return (Check(claim, outcome_of(near), result, essential=name != "SVHN"),)


def _formula(rows: dict[str, Row]) -> Check:
    """Theorem 6 against the truth, which an integral confirms."""
    covered = all(row.cells[PRINTED_PRICE].mean >= row.cells[SHIFTED].mean for row in rows.values())
    return Check(
        "Theorem 6 bounds what publishing costs, so that the sanitized epsilons may be published",
        outcome_of(covered),
        ("" if covered else "it is false at these parameters; ")
        + ", ".join(
            f"{name}: {row.cells[PRINTED_PRICE].mean:.3f} printed, {row.cells[RIGHT_PRICE].mean:.3f} in truth "
            f"({row.cells[SHIFTED].mean:.3f} by integration)"
            for name, row in rows.items()
        )
        + "; with the true price the printed epsilons come to "
        + ", ".join(f"{_expected(name) + row.cells[RIGHT_PRICE].mean:.2f} ({name})" for name, row in rows.items())
        + ", and rest on an expected cost, which is not a bound",
    )


def _difference(name: str, row: Row) -> Check:
    """Whether a printed total is the printed cost plus the printed formula."""
    total = ROUNDS_TOTAL if name == TWO_ROUNDS else SANITIZED[name].total
    gained, price = total - _expected(name), row.cells[PRINTED_PRICE].mean
    fits = abs(gained - price) <= LOSS
    return Check(
        f"{name}: the printed total is {gained:.3g} above the printed expected epsilon, by the printed formula",
        outcome_of(fits),
        f"the formula gives {price:.4f}" + ("" if fits else ", so that the row's numbers do not fit each other"),
        essential=False,
    )


def _expected(name: str) -> float:
    return ROUNDS_EXPECTED if name == TWO_ROUNDS else SANITIZED[name].expected


def _worth(name: str, row: Row) -> Check:
    cells = row.cells
    ours, noise, fixed = (cells[key].mean for key in (OUR_TOTAL, OUR_NOISE, INDEPENDENT))
    return Check(
        f"beyond the paper: {name}: published at its true price, our cost with two standard deviations is below that "
        "whatever the votes",
        outcome_of(ours + 2 * noise < fixed),
        f"at the paper's parameters, corrected {cells[RIGHT_TOTAL].mean:.3f} ± {cells[NOISE].mean:.3f}; "
        f"ours, of the joint cost, {ours:.3f} ± {noise:.3f}; whatever the votes {fixed:.3f}, with at most "
        f"{SANITIZED[name].price.cap} answers",
        essential=False,
    )


def draw(summary: Summary, figure: Figure) -> None:
    """The table: printed numbers, found ones, and the corrected ones."""
    lines = []
    for row in summary.rows:
        name, cells = str(row.setting["row"]), row.cells
        printed = SANITIZED.get(name)
        if printed is None:
            known = ["0.837", "", "1.00 ± 0.081"]
        else:
            known = [
                f"{printed.expected:.2f}",
                f"{printed.sensitivity:.4f}",
                f"{printed.total:.2f} ± {printed.noise:.3f}",
            ]
        results = [f"{cells[key].mean:.4f}" if key in cells else "" for key in (EXPECTED, SENSITIVITY)]
        totals = [
            f"{cells[key].mean:.3f} ± {cells[noise].mean:.3f}" if key in cells else ""
            for key, noise in ((PRINTED_TOTAL, NOISE), (RIGHT_TOTAL, NOISE), (OUR_TOTAL, OUR_NOISE))
        ]
        totals.append(f"{cells[INDEPENDENT].mean:.3f}" if INDEPENDENT in cells else "")
        prices = [f"{cells[key].mean:.3f}" for key in (PRINTED_PRICE, RIGHT_PRICE)]
        title = name + (f" ({standing(row.setting)})" if name == GLYPH else "")
        lines.append([title, known[0], results[0], known[1], results[1], *prices, known[2], *totals])
    titles = ["row", "expected\nepsilon,\nprinted", "found", "smooth\nsensitivity,\nprinted", "found",
              "publishing,\nprinted\nformula", "publishing,\ncorrected", "sanitized\nepsilon,\nprinted",
              "found by\nprinted\nformula", "found,\ncorrected", "ours, of the\njoint cost",
              "whatever\nthe votes"]  # fmt: skip
    draw_tables(figure, TextTable(titles, lines, first=0.11))


TABLE_2 = Item(
    "pate", TABLE, 2, "expected and sanitized epsilon, by the printed formula and by the corrected one",
    settings, measure, draw, judge, CODE, inputs=inputs, most_runs=1,
)  # fmt: skip
