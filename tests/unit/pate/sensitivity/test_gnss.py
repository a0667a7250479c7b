"""What publishing with noise scaled to a smooth sensitivity costs."""

import math

import numpy as np
import pytest

from ogive.errors import ParameterError
from ogive.pate.sensitivity.sanitize import (
    gnss_rdp,
    gnss_rdp_printed,
    limit_rdp,
    rule_of_order,
    rule_of_scale,
    rule_of_smoothness,
)

# order, smoothness, scale, printed, true
SPECIFIED = [
    (14, 0.0329, 6.23, 0.5183929399, 1.6070558409),
    (14, 0.2 / 14, 6.23, 0.4061910626, 0.2932920154),
    (14, 0.1 / 14, 10, 0.1582891060, 0.0869276972),
    (7.5, 0.0533, 4.88, 0.5354731829, 0.6335278300),
    (50, 0.008, 38.7, 0.0585092991, 0.0875431626),
    (20.5, 0.2 / 20.5, 11.9, 0.1709706881, 0.1202223700),
]
TABLE_2 = [(14, 0.0329, 6.23), (7.5, 0.0533, 4.88), (15.5, 0.0310, 7.92), (20.5, 0.0205, 11.9), (50, 0.009, 26.4)]


def divergence(order, mean, one, other):
    """Renyi divergence of N(0, one^2) from N(mean, other^2), by the trapezoid rule in logs."""
    spread = order / one**2 - (order - 1) / other**2
    assert spread > 0
    peak = -(order - 1) * mean / other**2 / spread
    z = peak + np.linspace(-14, 14, 20_001) / math.sqrt(spread)
    logs = order * (-((z / one) ** 2) / 2 - math.log(one)) - (order - 1) * (
        -(((z - mean) / other) ** 2) / 2 - math.log(other)
    )
    highest = logs.max()
    total = np.exp(logs - highest).sum() * (z[1] - z[0]) / math.sqrt(2 * math.pi)
    return (highest + math.log(total)) / (order - 1)


@pytest.mark.parametrize(("order", "smoothness", "scale", "printed", "true"), SPECIFIED)
def test_costs_are_those_of_the_specification(order, smoothness, scale, printed, true):
    assert gnss_rdp(order, smoothness, scale) == pytest.approx(true, abs=1e-10)
    assert gnss_rdp_printed(order, smoothness, scale) == pytest.approx(printed, abs=1e-10)


@pytest.mark.parametrize(
    ("order", "smoothness", "scale"), [*TABLE_2, (50, 0.008, 38.7), (3, 0.01, 2), (2, 0.3, 5), (14, 1e-5, 3)]
)
def test_the_cost_is_the_divergence_of_the_worst_pair(order, smoothness, scale):
    ratio = math.exp(-smoothness)
    worst = divergence(order, ratio, scale, ratio * scale)
    assert gnss_rdp(order, smoothness, scale) == pytest.approx(worst, rel=1e-6)


@pytest.mark.parametrize(("order", "smoothness", "scale"), TABLE_2)
def test_the_printed_theorem_is_below_the_truth(order, smoothness, scale):
    """The control: the paper's own parameters, at which its formula promises less than some pair loses."""
    ratio = math.exp(-smoothness)
    assert gnss_rdp_printed(order, smoothness, scale) < 0.9 * divergence(order, ratio, scale, ratio * scale)


def test_no_other_pair_loses_more():
    rng = np.random.default_rng(11)
    for number in range(2000):
        order = 1 + rng.exponential(10)
        smoothness = rng.uniform(0.01, 0.49) / order
        scale = rng.uniform(1, 30)
        log_ratio = rng.uniform(-smoothness, smoothness)
        ratio = math.exp(log_ratio)
        mean = rng.uniform(-1, 1) * min(1, ratio)
        left = 1 - order + order * ratio**2
        pair = order * mean**2 / (2 * scale**2 * left) + (order * log_ratio - math.log(left) / 2) / (order - 1)
        assert pair <= gnss_rdp(order, smoothness, scale) * (1 + 1e-12)
        if number % 20 == 0:
            assert divergence(order, mean, scale, ratio * scale) == pytest.approx(pair, rel=1e-5, abs=1e-8)


def test_a_vanishing_smoothness_costs_what_plain_noise_does():
    assert gnss_rdp(14, 1e-9, 5) == pytest.approx(14 / 50, rel=1e-6)
    assert limit_rdp(14, 10) == pytest.approx(0.07)


def test_rules_of_thumb():
    kappa = {0.25: 0.885, 0.35: 1.40, 0.38: 1.70}
    for share, wanted in kappa.items():
        scale = rule_of_scale(14, share / 14, 2.0)
        assert scale**2 / 4 / 7.5 == pytest.approx(wanted, abs=6e-3)
    for share, wanted in {0.25: 0.966, 0.35: 1.59, 0.38: 1.96}.items():
        assert rule_of_scale(50, share / 50, 2.0) ** 2 / 4 / 25.5 == pytest.approx(wanted, abs=6e-3)
    assert rule_of_smoothness(14) == pytest.approx(0.025)
    rows = [(14, 2.0, 2, 6.4794, 0.5172), (14, 2.0, 4, 12.9587, 0.1422), (15.5, 1.7, 2, 7.4319, 0.4406)]
    for order, planned, factor, scale, cost in rows:
        found = rule_of_scale(order, 0.35 / order, planned, factor=factor)
        assert found == pytest.approx(scale, abs=6e-5)
        assert gnss_rdp(order, 0.35 / order, found) == pytest.approx(cost, abs=6e-5)


def test_the_rule_of_order_leaves_half_to_delta():
    order = rule_of_order(2.0, 1e-5)
    assert order == 12.5
    assert math.log(1e5) / (order - 1) == pytest.approx(1.0, abs=0.02)
    assert rule_of_order(1e6, 0.5) == 1.5


@pytest.mark.parametrize(
    ("order", "smoothness", "scale", "words"),
    [
        (1, 0.01, 1, "order must be above 1"),
        (60, 0.01, 1, "below 1 / .* = 50.5017"),
        (2, 0, 1, "smoothness must be above 0"),
        (2, math.nan, 1, "smoothness must be above 0"),
        (2, 0.01, 0, "scale must be above 0"),
        (2, 0.01, math.inf, "scale must be above 0"),
    ],
)
def test_refuses_what_has_no_finite_cost(order, smoothness, scale, words):
    with pytest.raises(ParameterError, match=words) as caught:
        gnss_rdp(order, smoothness, scale)
    assert "\n" not in str(caught.value)


def test_the_printed_formula_refuses_where_it_is_not_defined():
    with pytest.raises(ParameterError, match="printed formula"):
        gnss_rdp_printed(50, 0.01, 3)
