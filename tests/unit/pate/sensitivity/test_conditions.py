"""Critical points, preconditions and condition C6."""

import dataclasses

import numpy as np
import pytest

from ogive.pate.costs.answers import GnmaxBound, log_neighbour_bounds
from ogive.pate.sensitivity.local_sensitivity import check_c6, landmarks

# sigma, order, classes, log q0, log q1, log B_U(q0), plateau
SPECIFIED = [
    (20, 25, 10, -3.0799678499, -3.2862739676, -2.8782311843, 0.002482048476),
    (30, 25, 10, -2.9560205242, -3.0911856820, -2.8228822459, 0.001544097779),
    (40, 14, 10, -3.4029724174, -3.5091198764, -3.2979727881, 0.0006699072431),
    (40, 7.5, 10, -3.9415731802, -4.0534462983, -3.8308558627, 0.0004190022749),
    (40, 15.5, 10, -3.3266187116, -3.4319325690, -3.2224514441, 0.0007146772754),
    (100, 20.5, 150, -3.8638961556, -3.9188011298, -3.8091803908, 9.070427959e-05),
    (100, 50, 150, -3.1672740543, -3.2197240955, -3.1150123771, 0.0001663711984),
    (200, 50, 150, -3.6889948386, -3.7161202389, -3.6619166904, 2.678785257e-05),
    (250, 10, 5, -5.5058677655, -5.5249053822, -5.4868599748, 2.73113624e-06),
]
HOLDS = [(30, 25, 10), (40, 7.5, 10), (40, 14, 10), (40, 15.5, 10), (40, 30, 10), (100, 20.5, 150), (100, 50, 150)]
HOLDS += [(200, 50, 150), (40, 15.5, 2)]
FAILS = [(20, 25, 10), (25, 25, 10), (40, 50, 10), (2, 4, 3), (4, 8, 3), (3, 10, 3), (6, 10, 3), (2, 3, 4)]


@pytest.mark.parametrize("variant", ["exact", "conservative"])
@pytest.mark.parametrize(("sigma", "order", "classes", "q0", "q1", "q2", "plateau"), SPECIFIED)
def test_critical_points_are_those_of_the_specification(sigma, order, classes, q0, q1, q2, plateau, variant):
    found = landmarks(GnmaxBound(sigma, order, variant), classes)
    assert (found.log_q0, found.log_q1, found.log_q2) == pytest.approx((q0, q1, q2), abs=2e-10)
    assert found.plateau == pytest.approx(plateau, rel=1e-9)


def test_the_two_variants_differ_at_little_noise():
    found = landmarks(GnmaxBound(0.5, 1.5, "conservative"), 3)
    assert (found.log_q0, found.log_q1, found.log_q2) == pytest.approx((-9, -24.3733842890, -1.1644305391), abs=1e-9)
    assert found.plateau == pytest.approx(5.999813079, rel=1e-9)
    assert landmarks(GnmaxBound(0.5, 1.5), 3).log_q0 == pytest.approx(-4.2911857536, abs=1e-9)


def test_the_plateau_of_two_classes_on_adult():
    found = landmarks(GnmaxBound(40.0, 15.5), 2)
    assert (found.log_q0, found.log_q1) == pytest.approx((-3.3266187116, -3.4048578518), abs=1e-9)
    assert found.plateau == pytest.approx(0.0005354154115, rel=1e-9)


@pytest.mark.parametrize("variant", ["exact", "conservative"])
def test_the_plateau_has_the_jump_of_the_cost(variant):
    """Without it, from B_U(B_L(q0)) as rounded, the plateau would lack what beta jumps by at q0."""
    bound = GnmaxBound(0.2, 1.2, variant)
    found = landmarks(bound, 3)
    just_below = bound.beta(found.log_q0 * (1 + 1e-12))
    jump = bound.independent - float(just_below)
    if variant == "conservative":
        assert jump > 20
    assert found.plateau >= jump


@pytest.mark.parametrize(("sigma", "order", "classes"), HOLDS)
def test_c6_holds_where_the_specification_says(sigma, order, classes):
    assert check_c6(GnmaxBound(sigma, order), classes)


@pytest.mark.parametrize(("sigma", "order", "classes"), FAILS)
def test_c6_fails_where_the_specification_says(sigma, order, classes):
    assert not check_c6(GnmaxBound(sigma, order), classes)
    assert "C6" in landmarks(GnmaxBound(sigma, order), classes).unmet(-1e4)


def test_c6_is_about_rises_that_grow_with_q():
    """A different oracle: rises at many random chances, sorted."""
    chances = -np.sort(-np.random.default_rng(5).uniform(-100, 0, 4000))
    for (sigma, order, classes), holds in (((40, 14, 10), True), ((20, 25, 10), False)):
        bound = GnmaxBound(sigma, order)
        logs = chances[chances < landmarks(bound, classes).log_q1]
        rise = bound.beta(log_neighbour_bounds(logs, sigma, classes)[1]) - bound.beta(logs)
        assert bool(np.all(np.diff(rise) <= 1e-13)) is holds


def test_reasons_name_what_is_not_met():
    good = landmarks(GnmaxBound(40.0, 14.0), 10)
    assert good.unmet(-10.0) is None
    assert "unanimous" in good.unmet(-3.3)
    assert not good.reached(good.log_q0)
    # exact and conservative critical chances differ here: the exact one has neighbours without a bound below 1
    assert "no bound below 1" in landmarks(GnmaxBound(0.5, 1.5), 3).unmet(-100.0)
    high = dataclasses.replace(good, log_q0=-0.5)
    assert "above 1/2" in high.unmet(-100.0)
