"""Figure 4, in pairs: what the paper says of pairs of parties, and what Theorem 5 predicts."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ogive_papers.summaries import Cell, Summary, average, difference, excess, scaled
from ogive_papers.ustatistics.kendall import PAPER
from ogive_papers.ustatistics.kendall_pairs import (
    ALL,
    ALL_EXACT,
    BEST,
    BEST_ROUNDS,
    FRESH,
    GIVEN,
    ONE,
    PRINTED,
    SAMPLED,
    SQUARE,
    THEOREM,
    of,
)
from ogive_papers.verdicts import Check, Outcome, above, below, every, show, some

Rows = Mapping[float, Mapping[str, Cell]]
"""Quantities by epsilon."""

HIGH_PRIVACY, LOW_PRIVACY = 2.0, 10.0
"""Up to the first epsilon the paper speaks of high privacy; of the second as of low."""

ORDER = 10**-0.5
"""An error is lower by roughly an order of magnitude below this part of another: nearer to a tenth than to all of it,
in logarithms. The paper prints no numbers of its figure, so that its words are all there is to compare with."""

ROOM = 0.1
"""How far a root mean squared error may be from its prediction, as a part of it."""

SINGLE = SAMPLED[1]
MORE = tuple(name for rounds, name in SAMPLED.items() if rounds > 1)


def judge_pairs(summary: Summary) -> tuple[Check, ...]:
    """Compare with Section 6 and Theorem 5."""
    rows = {float(row.setting["epsilon"]): row.cells for row in summary.rows}
    return (*_order(rows), *_rounds(rows), *_predictions(rows), *_beyond(rows))


def _order(rows: Rows) -> tuple[Check, ...]:
    """Which protocol errs least."""
    private = _private(rows)
    return (
        Check(
            "all pairs with advanced composition perform worst: they err more than sampled pairs at every epsilon, and "
            "than randomized response on average",
            every([
                *(below(difference(row[name], row[ALL]), 0.0) for row in rows.values() for name in SAMPLED.values()),
                below(excess((row[PAPER], row[ALL]) for row in rows.values()), 0.0),
            ]),
            _shown(rows, ALL),
        ),
        Check(
            f"pairs with P = 1 err less by roughly an order of magnitude up to epsilon {HIGH_PRIVACY:g}: less than "
            f"{ORDER:.2f} of the error of randomized response, and of all pairs, on average over epsilons",
            every([
                below(average(tuple(_beyond_part(row, SINGLE, other) for row in private.values())), 0.0)
                for other in (PAPER, ALL)
            ]),
            f"{_shown(private, SINGLE)}; {_parts(private, SINGLE, PAPER)} of randomized response's, "
            f"{_parts(private, SINGLE, ALL)} of all pairs'",
        ),
        Check(
            f"by as much at every epsilon up to {HIGH_PRIVACY:g}",
            every([below(_beyond_part(row, SINGLE, PAPER), 0.0) for row in private.values()]),
            f"{_parts(private, SINGLE, PAPER)} of randomized response's",
            essential=False,
        ),
    )  # fmt: skip


def _rounds(rows: Rows) -> tuple[Check, ...]:
    """In how many pairs everybody should be."""
    private = _private(rows)
    checks = [
        Check(
            f"P = 1 is best up to epsilon {HIGH_PRIVACY:g}",
            every([below(difference(row[SINGLE], row[name]), 0.0) for row in private.values() for name in MORE]),
            "; ".join(f"{_shown(private, name)} with P = {rounds}" for rounds, name in SAMPLED.items()),
        )
    ]
    if LOW_PRIVACY in rows:
        row = rows[LOW_PRIVACY]
        result = ", ".join(f"{show(row[name])} with P = {rounds}" for rounds, name in SAMPLED.items())
        predicted = ", ".join(f"{math.sqrt(row[of(name, GIVEN)].mean):.3g}" for name in SAMPLED.values())
        checks += [
            Check(
                f"P > 1 can reduce the error in low privacy, at epsilon {LOW_PRIVACY:g}",
                some([below(difference(row[name], row[SINGLE]), 0.0) for name in MORE]),
                f"{result}; predicted root mean squares {predicted}",
                essential=False,
            ),
            Check(
                f"an even larger P matches randomized response at epsilon {LOW_PRIVACY:g}: at most twice its error",
                some([below(difference(row[name], scaled(row[PAPER], 2.0)), 0.0) for name in SAMPLED.values()]),
                f"{result}; randomized response {show(row[PAPER])}; the noise of P pairs grows with the root of P",
                essential=False,
            ),
        ]
    return tuple(checks)


def _predictions(rows: Rows) -> tuple[Check, ...]:
    """Root mean squared errors beside their predictions: of these records, and of records that are drawn too."""
    given, theorem = ((SQUARE, GIVEN), (FRESH, THEOREM))
    private = {epsilon: row for epsilon, row in rows.items() if epsilon <= 1}
    lowest = max(rows)
    crossed = math.sqrt(_ratio(rows[lowest], SINGLE, SQUARE, THEOREM).mean)
    return (
        Check(
            f"the corrected Theorem 5 predicts the error within {ROOM:.0%}, of records that are drawn anew against "
            "the coefficient of what they are drawn from: P = 1 at every epsilon, larger P on average over epsilons",
            _predicted(rows, *theorem),
            _roots(rows, *theorem),
        ),
        Check(
            f"against the coefficient of these very records, as in the figure, the variance given the records predicts "
            f"it within {ROOM:.0%}, likewise",
            _predicted(rows, *given),
            f"{_roots(rows, *given)}; by Theorem 5, which counts the draw of records too, {crossed:.2f} at {lowest:g}",
        ),
        Check(
            "control: Theorem 5 as printed, with half the variance of the noise, does not: errors with P = 1 are more "
            f"than {ROOM:.0%} above it at every epsilon up to 1",
            every([above(_ratio(row, SINGLE, FRESH, PRINTED), (1 + ROOM) ** 2) for row in private.values()]),
            _roots(rows, FRESH, PRINTED),
        ),
        Check(
            f"the variance given the records predicts the error of tournaments with ternary responses within {ROOM:.0%}"
            ", on average over epsilons",
            _within(average(tuple(_ratio(row, name, *given) for row in rows.values() for name in (ONE, BEST)))),
            f"{_each(rows, ONE, *given)} with P = 1, {_each(rows, BEST, *given)} with the best P",
            essential=False,
        ),
    )  # fmt: skip


def _beyond(rows: Rows) -> tuple[Check, ...]:
    """What the library has beside the paper's protocols."""
    private = _private(rows)
    best = ", ".join(f"{row[BEST_ROUNDS].mean:g}" for row in rows.values())
    return (
        Check(
            "beyond the paper: tournaments with ternary responses and P = 1 err less by roughly an order of magnitude "
            f"than randomized response at every epsilon up to {HIGH_PRIVACY:g}",
            every([below(_beyond_part(row, ONE, PAPER), 0.0) for row in private.values()]),
            f"{_shown(private, ONE)}; {_parts(private, ONE, PAPER)} of randomized response's",
            essential=False,
        ),
        Check(
            "beyond the paper: with the best P they err less than Laplace noise with any, on average over epsilons",
            every([below(excess((row[BEST], row[name]) for row in rows.values()), 0.0) for name in SAMPLED.values()]),
            f"{_shown(rows, BEST)}; the best P is {best}",
            essential=False,
        ),
        Check(
            "beyond the paper: of all pairs, exact composition and ternary responses leave less than three quarters of "
            f"the error at every epsilon up to {HIGH_PRIVACY:g}",
            every([below(difference(row[ALL_EXACT], scaled(row[ALL], 0.75)), 0.0) for row in private.values()]),
            _shown(rows, ALL_EXACT),
            essential=False,
        ),
    )


def _beyond_part(row: Mapping[str, Cell], name: str, other: str) -> Cell:
    """By how much an error is above `ORDER` of another one, in parts of that."""
    return scaled(difference(row[name], scaled(row[other], ORDER)), 1 / row[other].mean)


def ratio_of_roots(row: Mapping[str, Cell], name: str, quantity: str, prediction: str) -> Cell:
    """A root mean squared error over its prediction."""
    square = _ratio(row, name, quantity, prediction)
    root = math.sqrt(square.mean)
    return Cell(root, square.error / (2 * root), math.sqrt(square.median), square.runs)


def _ratio(row: Mapping[str, Cell], name: str, quantity: str, prediction: str) -> Cell:
    return scaled(row[of(name, quantity)], 1 / row[of(name, prediction)].mean)


def _predicted(rows: Rows, quantity: str, prediction: str) -> Outcome:
    """Whether squared errors are what is predicted: of P = 1 each, of larger P on average over epsilons."""
    single = [_ratio(row, SINGLE, quantity, prediction) for row in rows.values()]
    larger = [average(tuple(_ratio(row, name, quantity, prediction) for row in rows.values())) for name in MORE]
    return every([_within(cell) for cell in (*single, *larger)])


def _within(square: Cell) -> Outcome:
    return every([above(square, (1 - ROOM) ** 2), below(square, (1 + ROOM) ** 2)])


def _roots(rows: Rows, quantity: str, prediction: str) -> str:
    larger = {
        rounds: average(tuple(_ratio(row, name, quantity, prediction) for row in rows.values()))
        for rounds, name in SAMPLED.items() if rounds > 1
    }  # fmt: skip
    return (
        f"root mean squared errors are {_each(rows, SINGLE, quantity, prediction)} of the predicted with P = 1, and "
        + ", ".join(f"{math.sqrt(cell.mean):.2f} with P = {rounds}" for rounds, cell in larger.items())
        + " on average"
    )


def _each(rows: Rows, name: str, quantity: str, prediction: str) -> str:
    return ", ".join(
        f"{ratio_of_roots(row, name, quantity, prediction).mean:.2f} at {epsilon:g}" for epsilon, row in rows.items()
    )


def _private(rows: Rows) -> Rows:
    return {epsilon: row for epsilon, row in rows.items() if epsilon <= HIGH_PRIVACY}


def _shown(rows: Rows, name: str) -> str:
    return ", ".join(f"{show(row[name])} at {epsilon:g}" for epsilon, row in rows.items())


def _parts(rows: Rows, name: str, other: str) -> str:
    return ", ".join(f"{row[name].mean / row[other].mean:.2f}" for row in rows.values())
