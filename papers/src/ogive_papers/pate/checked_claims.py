"""What the real votes on MNIST and Adult say of claims of Figures 1 and 5: as for simulated votes, at as many answers.

They are votes on other data than the figures', so that they confirm or refute a claim beyond Glyph, not its numbers.
"""

from __future__ import annotations

from collections.abc import Callable

from ogive_papers.pate.checked import BINS, REAL, RIGHT_OF_ALL, RUNS
from ogive_papers.pate.consensus import ANSWERED, CHECKS, CONFIDENT, JOINT, LAPLACE, PAPER, RIGHT
from ogive_papers.pate.consensus_drawing import passing
from ogive_papers.pate.votes import VOTE_SETS, lack
from ogive_papers.summaries import Cell, Row, Summary, difference, scaled
from ogive_papers.verdicts import Check, Outcome, above, below, show

SEEN = "on real votes "


def cheaper(summary: Summary) -> tuple[Check, ...]:
    """Whether Confident-GNMax costs less for as many answers."""
    return _each(summary, "Confident-GNMax costs less than LNMax for as many answers", _cheaper)


def right_more_often(summary: Summary) -> tuple[Check, ...]:
    """Whether its answers are better than those of LNMax."""
    return _each(summary, "answers of Confident-GNMax are right more often than those of LNMax", _right)


def filtered(summary: Summary) -> tuple[Check, ...]:
    """Whether the check keeps out queries on which teachers disagree."""
    return _each(summary, "the least agreed queries pass the check less than half as often as the most", _filtered)


def pass_rates(row: Row) -> dict[int, Cell]:
    """The part of every bin's queries that passes the check, by number of the bin."""
    return passing(row.cells, BINS, CONFIDENT)


def _each(summary: Summary, claim: str, judge: Callable[[Row, Row], tuple[Outcome, str]]) -> tuple[Check, ...]:
    """A claim about every data set, of what was found for LNMax and for Confident-GNMax."""
    checks = []
    for title in RUNS:
        part = summary.where(panel=REAL, votes=title)
        rows = [row for name in (LAPLACE, CONFIDENT) for row in part.where(mechanism=name).rows if PAPER in row.cells]
        if len(rows) == 2:
            outcome, words = judge(*rows)
            words = SEEN + words
        else:
            outcome, words = Outcome.UNDECIDED, lack(VOTE_SETS[title], part.rows[0].setting)
        checks.append(Check(f"{title}: {claim}", outcome, words, essential=False))
    return tuple(checks)


def _cheaper(laplace: Row, confident: Row) -> tuple[Outcome, str]:
    costs, answers = ([row.cells[name] for row in (laplace, confident)] for name in (PAPER, ANSWERED))
    as_many = scaled(costs[0], min(1.0, answers[1].mean / answers[0].mean))
    checks = confident.cells[CHECKS].mean
    return below(difference(costs[1], as_many), 0.0), (
        f"epsilon {costs[1].mean:.3f} for {show(answers[1])} answers against {costs[0].mean:.3f} for "
        f"{answers[0].mean:.0f}, {costs[0].mean / costs[1].mean:.2f} times as much; jointly "
        f"{confident.cells[JOINT].mean:.3f}; checks are {checks:.2f} of the Renyi cost"
    )


def _right(laplace: Row, confident: Row) -> tuple[Outcome, str]:
    ours, others = confident.cells[RIGHT], laplace.cells[RIGHT]
    return above(difference(ours, others), 0.0), (
        f"{show(ours)} against {show(others)} on the first {laplace.setting['asked']} of the same queries; LNMax is "
        f"right on {show(laplace.cells[RIGHT_OF_ALL])} of all of them"
    )


def _filtered(laplace: Row, confident: Row) -> tuple[Outcome, str]:
    rates = list(pass_rates(confident).values())
    low, high = rates[0], rates[-1]
    return below(difference(low, scaled(high, 0.5)), 0.0), f"{low.mean:.3f} and {high.mean:.3f} of them pass"
