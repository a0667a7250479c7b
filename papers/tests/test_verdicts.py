"""Verdicts come out either way, and only when the numbers decide."""

import math

import pytest

from ogive_papers.summaries import Cell
from ogive_papers.verdicts import (
    INCONCLUSIVE,
    MIN_RUNS,
    NOT_REPRODUCED,
    REPRODUCED,
    WITH_REMARK,
    Check,
    Outcome,
    above,
    below,
    every,
    opposite,
    remark,
    some,
    verdict,
)

HOLDS, FAILS, UNDECIDED = Outcome.HOLDS, Outcome.FAILS, Outcome.UNDECIDED


def cell(mean, error=0.01, runs=100):
    return Cell(mean, error, mean, runs)


@pytest.mark.parametrize(
    ("mean", "error", "outcome"),
    [(0.9, 0.01, HOLDS), (1.1, 0.01, FAILS), (0.9, 0.04, UNDECIDED), (1.1, 0.04, UNDECIDED), (1.0, 0.0, UNDECIDED)],
)
def test_a_threshold_decides_only_beyond_the_margin(mean, error, outcome):
    assert below(cell(mean, error), 1.0) is outcome
    assert above(cell(mean, error), 1.0) is opposite(outcome)


def test_too_few_runs_decide_nothing_however_clear_they_look():
    assert below(cell(0.0, 0.0, runs=MIN_RUNS - 1), 1.0) is UNDECIDED
    assert above(cell(0.0, 0.0, runs=MIN_RUNS - 1), 1.0) is UNDECIDED
    assert below(cell(0.0, 0.0, runs=MIN_RUNS), 1.0) is HOLDS
    assert below(Cell.of([0.5]), 1.0) is UNDECIDED


@pytest.mark.parametrize(
    ("outcomes", "all_of_them", "one_of_them"),
    [
        ([HOLDS, HOLDS], HOLDS, HOLDS),
        ([HOLDS, FAILS], FAILS, HOLDS),
        ([HOLDS, UNDECIDED], UNDECIDED, HOLDS),
        ([FAILS, UNDECIDED], FAILS, UNDECIDED),
        ([FAILS, FAILS], FAILS, FAILS),
        ([], UNDECIDED, UNDECIDED),
    ],
)
def test_outcomes_combine_like_claims(outcomes, all_of_them, one_of_them):
    assert every(outcomes) is all_of_them
    assert some(outcomes) is one_of_them


def check(outcome, essential=True):
    return Check("claim", outcome, "evidence", essential)


@pytest.mark.parametrize(
    ("checks", "expected"),
    [
        ([check(HOLDS), check(HOLDS, False)], REPRODUCED),
        ([check(HOLDS), check(FAILS, False)], WITH_REMARK),
        ([check(HOLDS), check(UNDECIDED, False)], WITH_REMARK),
        ([check(FAILS), check(HOLDS)], NOT_REPRODUCED),
        ([check(FAILS), check(UNDECIDED)], NOT_REPRODUCED),
        ([check(UNDECIDED), check(HOLDS), check(FAILS, False)], INCONCLUSIVE),
        ([check(HOLDS, False)], INCONCLUSIVE),
        ([], INCONCLUSIVE),
    ],
)
def test_the_verdict_follows_from_the_checks(checks, expected):
    assert verdict(checks) == expected


def test_a_remark_names_too_few_runs_and_only_where_nothing_else_decided():
    undecided = [check(UNDECIDED)]
    said = remark(undecided, 3, 100)
    assert said.startswith("3 runs are too few to decide; 100 are ")
    assert "fewer than 5 " in said
    assert remark(undecided, 1, 100).startswith("1 run is too few")
    assert remark(undecided, MIN_RUNS, 100) is None
    assert remark(undecided, 1, 1) is None  # as many as there can be
    assert remark([check(FAILS)], 3, 100) is None


def test_a_cell_summarizes_runs():
    made = Cell.of([1.0, 2.0, 6.0])
    assert (made.mean, made.median, made.runs) == (3.0, 2.0, 3)
    assert made.error == pytest.approx(math.sqrt(7.0 / 3))
    assert Cell.of([2.0]).error == math.inf
