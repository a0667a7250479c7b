"""From Renyi costs to epsilon: the specification's values, and that the tight rule is never above the other."""

import math

import numpy as np
import pytest

from ogive.accounting.losses import gaussian_delta
from ogive.errors import ParameterError
from ogive.pate.costs.answers import ORDERS, epsilon_of_rdp


def delta_of_rdp(costs, orders, *, epsilon, rule):
    """The least delta over orders that costs imply with an epsilon, by the rules as the papers state them."""
    logs = (orders - 1) * (costs - epsilon)
    if rule == "tight":
        logs = logs - np.log(orders - 1) + orders * np.log1p(-1 / orders)
    return math.exp(min(0.0, logs.min()))


@pytest.mark.parametrize(
    ("cost", "order", "delta", "paper", "tight"),
    [
        (1.18, 14, 1e-5, 2.0656096512, 1.7884972690),
        (2.5, 7.5, 1e-6, 4.6254631628, 4.1723772390),
        (0.4, 50, 1e-8, 0.7759322601, 0.6758923486),
        (1.1, 20.5, 1e-8, 2.0446502946, 1.8397462901),
    ],
)
def test_values_of_the_specification(cost, order, delta, paper, tight):
    for rule, expected in (("paper", paper), ("tight", tight)):
        found = epsilon_of_rdp([cost], [order], target_delta=delta, rule=rule)
        assert found.value == pytest.approx(expected, abs=1e-9)
        assert found.order == order


def test_delta_is_the_inverse_of_epsilon():
    costs = ORDERS * 0.01
    for rule in ("paper", "tight"):
        for delta in (1e-3, 1e-5, 1e-9):
            epsilon = epsilon_of_rdp(costs, ORDERS, target_delta=delta, rule=rule)
            back = delta_of_rdp(costs, ORDERS, epsilon=epsilon.value, rule=rule)
            assert back == pytest.approx(delta, rel=1e-9)
    assert delta_of_rdp(np.array([5.0]), np.array([2.0]), epsilon=0, rule="tight") == 1


def test_both_rules_bound_gaussian_noise():
    for mu in (0.1, 0.7, 3):
        costs = ORDERS * mu**2 / 2
        for epsilon in (0.1, 1, 4):
            true = gaussian_delta(mu, epsilon)
            tight, paper = (delta_of_rdp(costs, ORDERS, epsilon=epsilon, rule=rule) for rule in ("tight", "paper"))
            assert true <= tight + 1e-200
            assert tight <= paper


def test_epsilon_is_never_negative():
    assert epsilon_of_rdp(np.zeros(3), [2, 3, 4], target_delta=0.9) == (0.0, 2.0)


@pytest.mark.parametrize("delta", [0, 1, -1, math.nan, "small", True])
def test_refuses_a_delta_that_is_none(delta):
    with pytest.raises(ParameterError, match=r"target_delta must be (strictly between 0 and 1|finite|a number)"):
        epsilon_of_rdp([1.0], [2.0], target_delta=delta)


def test_a_delta_is_exact_text_or_a_number():
    asked = {"costs": [1.0], "orders": [2.0]}
    assert epsilon_of_rdp(**asked, target_delta="1e-5") == epsilon_of_rdp(**asked, target_delta=1e-5)
    assert epsilon_of_rdp(**asked, target_delta="1/4") == epsilon_of_rdp(**asked, target_delta=0.25)


def test_refuses_costs_that_are_none():
    for costs in ([1.0, 2.0], [-1.0], [math.nan]):
        with pytest.raises(ParameterError, match="costs must be numbers"):
            epsilon_of_rdp(costs, [2.0], target_delta=1e-5)
    with pytest.raises(ParameterError, match="rule must be"):
        epsilon_of_rdp([1.0], [2.0], target_delta=1e-5, rule="best")
