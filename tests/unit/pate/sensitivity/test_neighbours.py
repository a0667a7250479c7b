"""Bounds on the chance of losing the plurality at a neighbour."""

import math

import mpmath
import numpy as np
import pytest
from helpers.small_votes import graph

from ogive.pate.costs.answers import log_neighbour_bounds, logq_gnmax

SPECIFIED = [
    (-1, 40, 10, -1.0764016625, -0.9246844689),
    (-10, 40, 10, -10.1640449703, -9.8371550183),
    (-600, 100, 150, -600.4906251240, -599.5095747103),
    (-1736, 60, 150, -1737.3895253133, -1734.6110300825),
    (-5000, 20, 10, -5007.0719220735, -4992.9330774265),
]


@pytest.mark.parametrize(("log_q", "sigma", "classes", "low", "high"), SPECIFIED)
def test_bounds_are_those_of_the_specification(log_q, sigma, classes, low, high):
    found = log_neighbour_bounds(log_q, sigma, classes)
    assert found == pytest.approx((low, high), rel=1e-12, abs=1e-10)


def test_bounds_agree_with_fifty_digits_in_erfc():
    with mpmath.workdps(50):
        for log_q, sigma, classes in ((-0.7, 3, 4), (-30, 2, 3), (-200, 10, 20)):
            share = 2 * mpmath.exp(log_q) / (classes - 1)
            inverse = mpmath.findroot(lambda z, share=share: mpmath.log(mpmath.erfc(z) / share), math.sqrt(-log_q))
            for sign, found in zip((1, -1), log_neighbour_bounds(log_q, sigma, classes), strict=True):
                wanted = mpmath.log(mpmath.mpf(classes - 1) / 2 * mpmath.erfc(inverse + sign / mpmath.mpf(sigma)))
                assert float(found) == pytest.approx(min(0.0, float(wanted)), rel=1e-13)


@pytest.mark.parametrize("noise", ["continuous", "discrete", "scaled"])
@pytest.mark.parametrize(("teachers", "classes", "sigma"), [(12, 2, 1.5), (12, 4, 0.5), (15, 3, 4), (10, 5, 20)])
def test_every_neighbour_lies_within(teachers, classes, sigma, noise):
    rows, beside = graph(teachers, classes)
    logs = logq_gnmax(rows, sigma, noise=noise)
    low, high = log_neighbour_bounds(logs, sigma, classes)
    for here, others in enumerate(beside):
        assert logs[others].max() <= high[here] + 1e-12 * abs(high[here])
        assert logs[others].min() >= low[here] - 1e-12 * abs(low[here])


def test_half_the_shift_is_too_little():
    """The control: gaps that moved by 1 alone would not cover the neighbours."""
    rows, beside = graph(12, 3)
    logs = logq_gnmax(rows, 1.5)
    _, high = log_neighbour_bounds(logs, 3.0, 3)
    shortest = min(high[here] - logs[others].max() for here, others in enumerate(beside))
    assert shortest < -0.1


def test_two_classes_have_exact_bounds():
    rows, beside = graph(40, 2)
    logs = logq_gnmax(rows, 5.0)
    low, high = log_neighbour_bounds(logs, 5.0, 2)
    middle = [here for here in range(1, 19) if len(beside[here]) == 2]
    assert len(middle) > 10
    for here in middle:
        np.testing.assert_allclose(sorted(logs[beside[here]]), [low[here], high[here]], rtol=1e-12)
