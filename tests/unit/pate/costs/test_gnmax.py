"""The cost of one GNMax answer: the specification's values, and Theorem 3 minimized over its orders by force."""

import math

import numpy as np
import pytest

from ogive.errors import ParameterError
from ogive.pate.costs.answers import ORDERS, GnmaxBound, check_orders, logq_gnmax, rdp_gnmax

A = [200, 30, 10, 5, 5, 0, 0, 0, 0, 0]
B = [130, 90, 20, 10, 0, 0, 0, 0, 0, 0]
C = [250, *[0] * 9]
D = [60, 55, 45, 40, 30, 20, 0, 0, 0, 0]
E = [4200, 500, 200, 100, *[0] * 146]
F = [1000, 500, 300, 200, 0]
TABLED = [2, 8, 14, 20.5, 32]


@pytest.mark.parametrize(
    ("votes", "sigma", "expected"),
    [
        (A, 40, [0.000838273087075, 0.00103589520729, 0.00136296533176, 0.00197362503969, 0.00441163667379]),
        (B, 40, [0.00125, 0.005, 0.00875, 0.0128125, 0.02]),
        (C, 40, [1.52735726276e-05, 2.05891332994e-05, 3.12015789619e-05, 5.59049936342e-05, 0.000203454987624]),
        (D, 40, [0.00125, 0.005, 0.00875, 0.0128125, 0.02]),
        (E, 100, [3.166024869e-151, 7.87607326426e-151, 3.54801150979e-150, 2.57644293611e-149, 1.16697915967e-147]),
        (A, 20, [1.09014789488e-09, 3.74253929369e-09, 2.85728741937e-08, 3.69128386902e-07, 4.51040520221e-05]),
        (F, 100, [2.44772189402e-05, 2.69230691689e-05, 3.00362573207e-05, 3.44032568612e-05, 4.58129164626e-05]),
    ],
)
def test_values_of_the_specification(votes, sigma, expected):
    assert rdp_gnmax(logq_gnmax([votes], sigma), sigma, TABLED)[0] == pytest.approx(expected, rel=2e-9, abs=0)


@pytest.mark.parametrize(
    ("sigma", "order", "conservative", "exact"),
    [
        (20, 25, -3.0799678499, None),
        (30, 25, -2.9560205242, None),
        (40, 14, -3.4029724174, None),
        (40, 7.5, -3.9415731802, None),
        (40, 15.5, -3.3266187116, None),
        (100, 20.5, -3.8638961556, None),
        (100, 50, -3.1672740543, None),
        (200, 50, -3.6889948386, None),
        (250, 10, -5.5058677655, None),
        (0.5, 1.5, -9, -4.2911857536),
    ],
)
def test_critical_points_of_the_specification(sigma, order, conservative, exact):
    assert GnmaxBound(sigma, order, "conservative").log_q0 == pytest.approx(conservative, abs=1e-9)
    assert GnmaxBound(sigma, order).log_q0 == pytest.approx(conservative if exact is None else exact, abs=1e-9)


def test_the_closed_form_is_theorem_3_at_the_best_pair_of_orders():
    rng = np.random.default_rng(2)
    tried = 0
    for _ in range(60):
        sigma, order = math.exp(rng.uniform(0, 5)), 1 + math.exp(rng.uniform(-2, 3.5))
        log_q = -math.exp(rng.uniform(0.3, 5))
        bound = GnmaxBound(sigma, order)
        if log_q >= bound.log_q0:
            continue
        tried += 1
        forced = _forced(log_q, sigma, order)
        assert float(bound.beta(log_q)) == pytest.approx(forced, rel=2e-3, abs=0)
        assert float(bound.beta(log_q)) <= forced * (1 + 1e-9)
    assert tried >= 20


def _forced(log_q, sigma, order):
    """The least value of Theorem 3 over a grid of pairs of orders, each term by itself, from its printed form."""
    mu = 1 + np.geomspace(1e-3, 20 * sigma * math.sqrt(-log_q) + order, 200_001)
    top = mu[mu >= order]
    away = log_q + (order - 1) * (top / sigma**2 - log_q / (top - 1))
    moved = (mu - 1) / mu * (log_q + mu / sigma**2)
    kept = moved[moved < 0]
    stay = order * np.log1p(-math.exp(log_q)) - (order - 1) * np.log1p(-np.exp(kept))
    return max(0.0, float(np.logaddexp(stay.min(), away.min())) / (order - 1))


@pytest.mark.parametrize("variant", ["exact", "conservative"])
def test_cost_grows_with_q_and_stops_at_the_fixed_cost(variant):
    for sigma, order in [(0.5, 1.5), (2, 4), (2, 1.01), (40, 14), (40, 90), (100, 1000), (0.05, 3)]:
        bound = GnmaxBound(sigma, order, variant)
        logs = -np.geomspace(1e-3, 4e3, 3000)[::-1]
        cost = bound.beta(logs)
        assert np.all(np.diff(cost) >= -1e-15 * bound.independent)
        assert np.all((cost >= 0) & (cost <= bound.independent))
        assert np.all(cost[logs >= bound.log_q0] == bound.independent)
        assert np.all(cost[logs < bound.log_q0 * (1 + 1e-9)] < bound.independent)
        assert bound.independent == order / sigma**2


def test_validity_starts_where_the_specification_says():
    # far above order 41.25 the start is the order's, below it the noise's
    assert GnmaxBound(40, 41).beta(-(1.0063**2)) == 41 / 1600
    assert math.sqrt(-_start_of(40, 20)) == pytest.approx(1.006372413520, abs=1e-12)
    assert math.sqrt(-_start_of(40, 81)) == pytest.approx(2)


def _start_of(sigma, order):
    from ogive.pate.costs.answers import _start

    return float(_start(sigma, np.array([order]), "exact")[0])


def test_one_function_serves_one_order_and_many():
    logs = logq_gnmax([A, B, C, D], 40)
    table = rdp_gnmax(logs, 40, ORDERS)
    assert table.shape == (4, ORDERS.size)
    for place in (0, 9, 40, 150, 220):
        assert GnmaxBound(40, ORDERS[place]).beta(logs) == pytest.approx(table[:, place], rel=1e-14)
    assert GnmaxBound(40, 14).beta(np.zeros((2, 3)) - 5).shape == (2, 3)


def test_survives_teachers_that_all_agree():
    logs = logq_gnmax([[5000, *[0] * 149]], 60)
    cost = rdp_gnmax(logs, 60, ORDERS)
    assert np.all(np.isfinite(cost))
    assert np.all(cost >= 0)
    assert cost[0, 0] == 0  # below the smallest float
    assert rdp_gnmax(np.array([-np.inf]), 60, [2.0])[0, 0] == 0
    assert rdp_gnmax(np.array([]), 60, [2.0]).shape == (0, 1)


def test_orders_are_those_of_the_specification():
    assert ORDERS[:10].tolist() == [1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0]
    assert set(np.arange(2, 100.5, 0.5)) <= set(ORDERS)
    assert ORDERS[-1] == pytest.approx(1000)
    assert np.all(np.diff(ORDERS) > 0)


@pytest.mark.parametrize(
    "orders", [[], [1.0, 2.0], [2.0, math.nan], ["two"], [3.0, 2.0], [2.0, 2.0], [math.inf], [[2.0]]]
)
def test_refuses_orders_that_are_none(orders):
    with pytest.raises(ParameterError, match="orders must"):
        check_orders(orders)


def test_refuses_an_unknown_variant():
    with pytest.raises(ParameterError, match="exact or conservative"):
        GnmaxBound(40, 14, "bold")
