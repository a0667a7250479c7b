"""Compare what was measured with what a paper says.

Each claim of the paper becomes a check on numbers. A check holds or fails only when the runs
decide it: when they are many enough and the number lies at least `MARGIN` standard errors on
one side. The verdict follows from the checks by one rule, whatever they are about.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ogive_papers.summaries import Cell

MIN_RUNS = 5
"""Fewer runs decide nothing: their standard error cannot be trusted."""

MARGIN = 3.0
"""Standard errors between a mean and a threshold that decide."""


class Outcome(enum.Enum):
    """What the numbers say of a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Check:
    """A claim, and what came of it.

    Fields:
        claim: What the paper says, in numbers.
        outcome: Whether it holds here.
        evidence: The numbers that decided.
        essential: False for a detail, whose failure is worth a remark only.
    """

    claim: str
    outcome: Outcome
    evidence: str
    essential: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "claim": self.claim,
            "outcome": self.outcome.value,
            "evidence": self.evidence,
            "essential": self.essential,
        }


REPRODUCED = "reproduced"
WITH_REMARK = "reproduced with remark"
NOT_REPRODUCED = "not reproduced"
INCONCLUSIVE = "inconclusive"


def verdict(checks: Sequence[Check]) -> str:
    """Sum up checks.

    Returns:
        `NOT_REPRODUCED` if an essential claim fails; else `INCONCLUSIVE` if one is undecided or there
        is none; else `WITH_REMARK` if a detail does not hold; else `REPRODUCED`.
    """
    essential = [check.outcome for check in checks if check.essential]
    if Outcome.FAILS in essential:
        return NOT_REPRODUCED
    if Outcome.UNDECIDED in essential or not essential:
        return INCONCLUSIVE
    return REPRODUCED if all(check.outcome is Outcome.HOLDS for check in checks) else WITH_REMARK


def remark(checks: Sequence[Check], runs: int, wanted: int) -> str | None:
    """Why nothing was decided, where that is because there were too few runs.

    Args:
        checks: The paper's claims against the numbers.
        runs: How many runs there were at every setting.
        wanted: How many there are by default.
    """
    if verdict(checks) != INCONCLUSIVE or runs >= min(MIN_RUNS, wanted):
        return None
    few = "1 run is" if runs == 1 else f"{runs} runs are"
    return f"{few} too few to decide; {wanted} are the default, and fewer than {MIN_RUNS} decide nothing"


def below(cell: Cell, threshold: float) -> Outcome:
    """Whether a quantity's expectation is below a threshold."""
    if cell.runs < MIN_RUNS:
        return Outcome.UNDECIDED
    margin = MARGIN * cell.error
    if cell.mean + margin < threshold:
        return Outcome.HOLDS
    return Outcome.FAILS if cell.mean - margin > threshold else Outcome.UNDECIDED


def above(cell: Cell, threshold: float) -> Outcome:
    """Whether a quantity's expectation is above a threshold."""
    return opposite(below(cell, threshold))


def opposite(outcome: Outcome) -> Outcome:
    """The outcome of the contrary claim."""
    return {Outcome.HOLDS: Outcome.FAILS, Outcome.FAILS: Outcome.HOLDS}.get(outcome, outcome)


def every(outcomes: Sequence[Outcome]) -> Outcome:
    """Whether all of several claims hold; undecided if there are none."""
    if Outcome.FAILS in outcomes:
        return Outcome.FAILS
    return Outcome.HOLDS if outcomes and Outcome.UNDECIDED not in outcomes else Outcome.UNDECIDED


def some(outcomes: Sequence[Outcome]) -> Outcome:
    """Whether at least one of several claims holds; undecided if there are none."""
    return opposite(every([opposite(outcome) for outcome in outcomes]))


def show(cell: Cell) -> str:
    """A mean with its standard error, for evidence."""
    return f"{cell.mean:.3g}±{cell.error:.1g} ({cell.runs} runs)" if cell.runs > 1 else f"{cell.mean:.3g} (1 run)"
