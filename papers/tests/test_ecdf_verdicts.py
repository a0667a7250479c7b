"""Verdicts on the figures of the ECDF paper come from the numbers, in both directions."""

import math

import pytest

from ogive_papers.ecdf import inverse, inverse_figure, runtime, runtime_figure, smoothing, smoothing_figures
from ogive_papers.summaries import Cell, Row, Summary
from ogive_papers.verdicts import Outcome, verdict

HOLDS, FAILS, UNDECIDED = Outcome.HOLDS, Outcome.FAILS, Outcome.UNDECIDED


def summary(axis, runs=100, error=0.001, **quantities):
    """Quantities given as functions of the axis, with a small relative error."""
    places = quantities.pop("places")
    rows = [
        Row(
            {axis: place},
            {
                name.replace("_", " "): Cell(value(place), error * abs(value(place)), value(place), runs)
                for name, value in quantities.items()
            },
        )
        for place in places
    ]
    return Summary(tuple(rows))


def figure_2(squares, absolute, **options):
    return summary(
        "epsilon",
        places=smoothing.EPSILONS,
        **{"paper p=2": squares, "p=2 - p=1": lambda place: squares(place) - absolute(place)},
        **options,
    )


def rising(epsilon):
    return 1 - 0.4 * math.exp(-epsilon / 4)


def crossing(epsilon):
    return 1.3 if epsilon < 0.2 else rising(epsilon)


def worse(epsilon):
    return rising(epsilon) + 0.1 / (1 + epsilon)


@pytest.mark.parametrize(
    ("squares", "absolute", "options", "expected", "outcomes"),
    [
        (crossing, lambda e: crossing(e) + 0.1 / (1 + e), {}, "reproduced", [HOLDS] * 6),
        (rising, worse, {}, "reproduced with remark", [HOLDS] * 5 + [FAILS]),
        (worse, rising, {}, "not reproduced", [HOLDS, FAILS, HOLDS, HOLDS, FAILS, FAILS]),
        (lambda e: 1.2, lambda e: 1.3, {}, "not reproduced", [FAILS, HOLDS, UNDECIDED, FAILS, UNDECIDED, HOLDS]),
        (lambda e: 0.5 - e / 100, worse, {}, "not reproduced", [HOLDS, HOLDS, FAILS, FAILS, FAILS, FAILS]),
        (rising, worse, {"runs": 2}, "inconclusive", [UNDECIDED] * 6),
        (rising, worse, {"error": 1.0}, "inconclusive", None),
    ],
)
def test_figure_2_is_judged_by_its_ratios(squares, absolute, options, expected, outcomes):
    checks = smoothing_figures.judge_figure_2(figure_2(squares, absolute, **options))
    assert verdict(checks) == expected
    if outcomes is not None:
        assert [check.outcome for check in checks] == outcomes


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (lambda rate: 1 - 0.6 / (1 + rate / 10), "reproduced"),
        (lambda rate: 0.5, "not reproduced"),
        (lambda rate: 1.5 if rate == 1 else 0.9, "not reproduced"),
    ],
)
def test_figure_3_is_judged_by_its_ratios(ratio, expected):
    checks = smoothing_figures.judge_figure_3(summary("rate", places=smoothing.RATES, **{"paper p=2": ratio}))
    assert verdict(checks) == expected


def figure_4(forward, raw, smoothed, **options):
    names = dict(
        zip((inverse.FORWARD, inverse.INVERSE_RAW, inverse.INVERSE_SMOOTHED), (forward, raw, smoothed), strict=True)
    )
    harm = {"raw - harm x smoothed": lambda place: raw(place) - inverse.HARM * smoothed(place)}
    return summary("epsilon", places=inverse.EPSILONS, **names, **harm, **options)


def falling(factor):
    return lambda epsilon: factor * 1e-6 / epsilon**2


@pytest.mark.parametrize(
    ("factors", "outcomes", "expected"),
    [
        ((1, 0.9, 0.6), [HOLDS, HOLDS, HOLDS], "reproduced"),
        ((20, 1.0, 0.8), [FAILS, HOLDS, HOLDS], "not reproduced"),
        ((1, 2.0, 0.6), [HOLDS, FAILS, HOLDS], "reproduced with remark"),
    ],
)
def test_figure_4_is_judged_by_the_order_of_its_errors(factors, outcomes, expected):
    checks = inverse_figure.judge(figure_4(*map(falling, factors)))
    assert [check.outcome for check in checks] == outcomes
    assert verdict(checks) == expected


def test_figure_4_notices_errors_that_do_not_fall():
    checks = inverse_figure.judge(figure_4(lambda e: e, lambda e: e, lambda e: e))
    assert [check.outcome for check in checks] == [HOLDS, HOLDS, FAILS]


def figure_7(linear, quadratic, **options):
    names = {
        runtime.LINEAR: linear,
        runtime.QUADRATIC: quadratic,
        runtime.LOG_RATIO: lambda size: math.log(quadratic(size) / linear(size)),
        runtime.AGREEMENT: lambda size: 1e-7,
    }
    return summary("size", places=[2**exponent for exponent in runtime.EXPONENTS], runs=5, **names, **options)


def test_figure_7_is_judged_by_the_times_of_the_papers_programs():
    fast, slow = (lambda size: 1e-5 * size), (lambda size: 3e-5 * size)
    assert verdict(runtime_figure.judge(figure_7(slow, fast))) == "reproduced"
    assert verdict(runtime_figure.judge(figure_7(fast, slow))) == "not reproduced"
    assert verdict(runtime_figure.judge(figure_7(slow, fast, error=2.0))) == "inconclusive"


def test_figure_7_without_the_papers_solver_is_inconclusive():
    checks = runtime_figure.judge(summary("size", places=[32, 64], **{runtime.OUR_LINEAR: lambda size: 1e-5}))
    assert verdict(checks) == "inconclusive"
    assert "cvxopt is not installed" in checks[0].evidence
