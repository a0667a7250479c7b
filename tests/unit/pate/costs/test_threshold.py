"""The cost of a threshold check: the specification's values, and bits whose tails are summed by themselves."""

import math

import mpmath
import numpy as np
import pytest

from ogive.errors import ParameterError
from ogive.pate.costs.answers import ORDERS
from ogive.pate.costs.threshold import check_tails, joint, rdp_threshold, sup_threshold


@pytest.mark.parametrize(
    ("threshold", "sigma", "highest", "log_pass", "theorem", "exact"),
    [
        (
            200,
            150,
            200,
            -0.693147180560,
            [4.44444444444e-05, 0.000222222222222, 0.000311111111111],
            [2.8294193213e-05, 0.000141422961628, 0.000197913835567],
        ),
        (
            200,
            150,
            60,
            -1.741119902816,
            [4.44444444444e-05, 0.000222222222222, 0.000311111111111],
            [2.05045259215e-05, 0.000104647378704, 0.000148002287882],
        ),
        (
            3500,
            1500,
            4200,
            -0.386205556047,
            [4.44444444444e-07, 2.22222222222e-06, 3.11111111111e-06],
            [2.61318367223e-07, 1.30796027399e-06, 1.83209957514e-06],
        ),
        (
            16,
            2,
            20,
            -0.023012909329,
            [0.130518111346, 1.25, 1.75],
            [0.0433789349703, 0.87814463262, 1.00744988808],
        ),
        (
            16,
            2,
            10,
            -6.607726221510,
            [0.0139916929027, 1.25, 1.75],
            [0.00535290595831, 1.02415819245, 1.25005246104],
        ),
        (
            16,
            2,
            26,
            -0.000000286652,
            [8.41558365027e-06, 1.19565353472, 1.75],
            [3.77274714081e-06, 1.04049877241, 1.55553192846],
        ),
    ],
)
def test_values_of_the_specification(threshold, sigma, highest, log_pass, theorem, exact):
    orders = [2, 10, 14]
    assert check_tails(highest, threshold, sigma)[0] == pytest.approx(log_pass, abs=1e-12)
    for mode, expected in (("theorem3", theorem), ("exact", exact)):
        found = rdp_threshold([highest], threshold, sigma, orders, mode)[0]
        assert found == pytest.approx(expected, rel=2e-9 if mode == "exact" else 1e-10, abs=0)
    fixed = rdp_threshold([highest], threshold, sigma, orders, "independent")[0]
    assert fixed == pytest.approx(np.array(orders) / (2 * sigma**2))


def test_a_nearly_certain_bit_keeps_its_cost():
    # 1 - p is below the rounding of 1; computed from ln p alone the cost is 0
    found = rdp_threshold([175], 118.9, 0.597, [55.7], "theorem3")[0, 0]
    assert found == pytest.approx(78.08777340631143, rel=1e-12)


@pytest.mark.parametrize(
    ("threshold", "sigma", "highest", "order"),
    [
        (200, 150, 250, 14),
        (300, 200, 10, 1.1),
        (16, 2, 26, 500),
        (16, 2, 60, 3),
        (3500, 1500, 5000, 100),
        (5, 0.3, 9, 8),
    ],
)
def test_exact_cost_by_arbitrary_precision(threshold, sigma, highest, order):
    with mpmath.workdps(300):

        def bit(count):
            z = (mpmath.mpf(count) - threshold) / mpmath.mpf(sigma)
            return mpmath.ncdf(z), mpmath.ncdf(-z)

        true = max(
            mpmath.log(
                sum(one**order * other ** (1 - order) for one, other in zip(bit(highest), bit(near), strict=True))
            )
            / (order - 1)
            for near in (highest - 1, highest + 1)
        )
    assert rdp_threshold([highest], threshold, sigma, [order])[0, 0] == pytest.approx(float(true), rel=1e-8, abs=0)


@pytest.mark.parametrize(
    ("teachers", "highest", "threshold", "sigma", "noise"),
    [
        (5000, 4950, 4775, 5, "continuous"),
        pytest.param(5000, 4900, 4000, 20, "continuous", marks=pytest.mark.everything),
        (5000, 4100, 5000, 20, "continuous"),
        pytest.param(1000, 990, 700, 8, "continuous", marks=pytest.mark.everything),
        pytest.param(250, 245, 150, 2, "continuous", marks=pytest.mark.everything),
        (250, 245, 150.3, 2, "scaled"),
    ],
)
def test_no_order_loses_a_chance_too_small_for_a_double(teachers, highest, threshold, sigma, noise):
    """A refusal of chance e^-1500 whose ratio has the power e^1500 is all that a check costs."""
    unit = 2.0**-16 if noise == "scaled" else 0.0
    with mpmath.workdps(60):

        def bit(count):
            distance = mpmath.mpf(count) - mpmath.mpf(threshold)
            if unit:
                distance = mpmath.floor(distance / unit) * unit + unit / 2
            return mpmath.log(mpmath.ncdf(distance / sigma)), mpmath.log(mpmath.ncdf(-distance / sigma))

        here, beside = bit(highest), [bit(highest - 1), bit(highest + 1)]

        def cost(order):
            return max(
                mpmath.log(
                    mpmath.fsum(
                        mpmath.exp(order * one - (order - 1) * other) for one, other in zip(here, there, strict=True)
                    )
                )
                / (order - 1)
                for there in beside
            )

        true = np.array([float(cost(mpmath.mpf(float(order)))) for order in ORDERS])
    assert true.max() > 1e-3
    # logs of order 1e3, multiplied by the order
    found = rdp_threshold([highest], threshold, sigma, ORDERS, noise=noise)[0]
    assert found == pytest.approx(true, rel=1e-8, abs=1e-50)
    assert np.all(sup_threshold(threshold, sigma, ORDERS, teachers=teachers, noise=noise) >= true * (1 - 1e-8))
    together = joint([highest], threshold, sigma, np.zeros(ORDERS.size), ORDERS, noise=noise)[0]
    assert together == pytest.approx(true, rel=1e-8, abs=1e-50)


def test_a_threshold_out_of_reach_has_a_largest_cost_above_0():
    worst = sup_threshold(6000, 20, [500.0], teachers=5000)[0]
    with mpmath.workdps(60):
        here, there = (mpmath.ncdf(mpmath.mpf(count - 6000) / 20) for count in (5000, 4999))
        true = mpmath.log(here**500 * there**-499 + (1 - here) ** 500 * (1 - there) ** -499) / 499
    assert worst == pytest.approx(float(true), rel=1e-8, abs=0)


def test_the_exact_cost_covers_every_count_in_between_and_is_below_the_others():
    orders = np.array([1.3, 4, 20, 150])
    counts = np.arange(0, 31)
    exact = rdp_threshold(counts, 16, 3, orders)
    for mode in ("theorem3", "independent"):
        assert np.all(exact <= rdp_threshold(counts, 16, 3, orders, mode) * (1 + 1e-12))
    here = check_tails(counts, 16, 3)
    for move in np.linspace(-1, 1, 9):
        there = check_tails(counts + move, 16, 3)
        between = np.logaddexp(
            *(orders * one[:, None] - (orders - 1) * other[:, None] for one, other in zip(here, there, strict=True))
        ) / (orders - 1)
        assert np.all(between <= exact + 1e-13)


def test_a_party_of_several_teachers_moves_the_count_by_as_many():
    found = rdp_threshold([20], 16, 9, [5.0], group=3)
    assert found == pytest.approx(rdp_threshold([20 / 3], 16 / 3, 3, [5.0]), rel=1e-12)
    assert rdp_threshold([20], 16, 9, [5.0], "independent", group=3)[0, 0] == pytest.approx(9 * 5 / 162)
    assert rdp_threshold([20], 16, 9, [5.0], "theorem3", group=3)[0, 0] == pytest.approx(
        rdp_threshold([20 / 3], 16 / 3, 3, [5.0], "theorem3")[0, 0]
    )


@pytest.mark.parametrize(
    ("threshold", "sigma", "teachers", "share"),
    [(200, 150, 250, 0.6367), (300, 200, 250, 0.6262), (16, 2, 30, 0.918)],
)
def test_the_largest_exact_cost_over_all_votes(threshold, sigma, teachers, share):
    worst = sup_threshold(threshold, sigma, [14], teachers=teachers)
    assert worst[0] / (7 / sigma**2) == pytest.approx(share, abs=5e-4)
    counts = np.arange(teachers + 1)
    assert np.all(rdp_threshold(counts, threshold, sigma, [14]) <= worst)


@pytest.mark.parametrize("order", [1.1, 14, 300])
def test_all_real_counts_cost_at_most_the_largest(order):
    worst = sup_threshold(16, 3, [order], teachers=None)[0]
    reached = rdp_threshold(16 + 3 * np.random.default_rng(3).uniform(-100, 100, 5000), 16, 3, [order])
    near = rdp_threshold(np.linspace(-50, 1500, 20_000), 16, 3, [order])
    assert max(reached.max(), near.max()) <= worst * (1 + 1e-9)
    assert near.max() >= worst * (1 - 1e-3)
    assert sup_threshold(200, 150, [14], teachers=None)[0] / (7 / 150**2) == pytest.approx(0.6367, abs=1e-4)


@pytest.mark.parametrize(("sigma", "threshold"), [(0.4, 3), (2, 16), (9, 16.4), (30, 500)])
def test_integer_noise_has_tails_of_its_own(sigma, threshold):
    reach = math.ceil(45 * sigma) + 600
    points = np.arange(-reach, reach + 1)
    with mpmath.workdps(40):
        law = [mpmath.exp(-(mpmath.mpf(int(k)) ** 2) / (2 * mpmath.mpf(sigma) ** 2)) for k in points]
        total = mpmath.fsum(law)
        for count in (0, 3, 15, 16, 17, 40):
            passes = mpmath.fsum(part for k, part in zip(points, law, strict=True) if count + k >= threshold) / total
            found = check_tails(np.array([count]), threshold, sigma, noise="discrete")
            assert found[0][0] == pytest.approx(float(mpmath.log(passes)), rel=1e-11)
            refuses = mpmath.fsum(part for k, part in zip(points, law, strict=True) if count + k < threshold) / total
            assert found[1][0] == pytest.approx(float(mpmath.log(refuses)), rel=1e-11)


def test_scaled_noise_has_nearly_the_tails_of_continuous_noise():
    counts = np.arange(0, 251)
    plain, scaled = (check_tails(counts, 200.3, 4, noise=noise) for noise in ("continuous", "scaled"))
    for one, other in zip(plain, scaled, strict=True):
        assert 0 < np.abs(one - other).max() < 2e-4


def test_refuses_what_it_cannot_price():
    with pytest.raises(ParameterError, match="sigma_1 must be"):
        rdp_threshold([3], 2, 0, [2])
    with pytest.raises(ParameterError, match="threshold must be a finite number"):
        rdp_threshold([3], math.nan, 1, [2])
    with pytest.raises(ParameterError, match="mode must be one of"):
        rdp_threshold([3], 2, 1, [2], "rough")
    with pytest.raises(ParameterError, match="all real counts"):
        sup_threshold(2, 1, [2], teachers=None, noise="discrete")
