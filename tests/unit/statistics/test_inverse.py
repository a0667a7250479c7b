import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ogive.errors import ParameterError
from ogive.statistics.curve.readings import bisect_domain, bisect_points


def search(targets, values):
    """Run the bisection on a list of values and count its rounds."""
    procedure = bisect_points(np.array(targets, dtype=float), size=len(values))
    rounds = 0
    try:
        points = next(procedure)
        while True:
            rounds += 1
            assert np.all(np.diff(points) > 0)
            assert points.max() < len(values) - 1, "the last point is known and must not be asked for"
            points = procedure.send(np.array(values, dtype=float)[points])
    except StopIteration as stop:
        return stop.value, rounds


@given(st.lists(st.floats(0, 1), min_size=1, max_size=70), st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_finds_the_first_point_that_reaches_the_target(values, targets):
    values = np.sort(values)
    values[-1] = 1.0
    found, rounds = search(targets, values)
    expected = [next(i for i, value in enumerate(values) if value >= target) for target in targets]
    assert found.tolist() == expected
    assert rounds <= math.ceil(math.log2(len(values))) if len(values) > 1 else rounds == 0


@given(st.lists(st.floats(-1, 2), min_size=2, max_size=40), st.floats(0, 1))
def test_finds_a_crossing_of_values_that_are_not_monotone(values, target):
    values = np.array(values)
    values[-1] = 1.0
    (point,), _ = search([target], values)
    assert values[point] >= target
    assert point == 0 or values[point - 1] < target


def test_the_domain_rule_returns_a_midpoint_within_the_precision():
    found = bisect_domain(lambda t: t**2, 0.25, low=0.0, high=1.0, precision=1e-6)
    assert found == pytest.approx(0.5, abs=1e-6)


def test_the_domain_rule_ends_at_floating_point_resolution():
    assert bisect_domain(lambda t: float(t >= 0.3), 0.5, low=0.0, high=1.0, precision=1e-300) == pytest.approx(0.3)


def test_the_domain_rule_refuses_an_empty_domain_and_no_precision():
    with pytest.raises(ParameterError, match="precision above 0"):
        bisect_domain(lambda t: t, 0.5, low=0, high=1, precision=0)
    with pytest.raises(ParameterError, match="low < high"):
        bisect_domain(lambda t: t, 0.5, low=1, high=1, precision=0.1)
