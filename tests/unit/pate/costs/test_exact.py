"""Exact costs: the specification's values, another integration, and every bound above them on all small instances."""

import functools
import importlib.util
from pathlib import Path

import mpmath
import numpy as np
import pytest
from helpers.winning import log_winning

from ogive.errors import ParameterError, UnsupportedError
from ogive.pate.costs.answers import ORDERS, log_neighbour_bounds, logq_gnmax, rdp_gnmax
from ogive.pate.costs.exact import Check, is_feasible, rdp_exact
from ogive.pate.costs.threshold import joint, rdp_threshold

_spec = importlib.util.spec_from_file_location("laws", Path(__file__).with_name("laws.py"))
laws = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(laws)


@pytest.mark.parametrize(
    ("votes", "sigma", "chances", "bound"),
    [
        ([4, 1, 1], 1, [0.968795477962, 0.015602261019, 0.015602261019], 0.033894853525),
        ([6, 0, 0], 1, [0.999978025835, 0.000010987082, 0.000010987082], 0.000022090497),
        ([5, 1, 0], 1, [0.997486575835, 0.002327737212, 0.000185686954], 0.002542343499),
        ([3, 2, 1], 2, [0.548743716550, 0.300925700890, 0.150330582560], 0.601586866009),
    ],
)
def test_chances_of_the_specification(votes, sigma, chances, bound):
    assert np.exp(log_winning([votes], sigma)[0]) == pytest.approx(chances, abs=1e-12)
    assert np.exp(logq_gnmax([votes], sigma)[0]) == pytest.approx(bound, abs=1e-12)


@pytest.mark.parametrize(
    ("votes", "sigma", "orders", "forward", "reverse", "theorem"),
    [
        (
            [4, 1, 1],
            1,
            [1.5, 2, 5],
            [0.2588480491, 0.8571692532, 3.3910344498],
            [0.8936292638, 1.3633948156, 2.2908605347],
            [1.0456488100, 1.7039225123, 5.0],
        ),
        (
            [6, 0, 0],
            1,
            [1.5, 2, 5],
            [0.0024575114, 0.0024733395, 0.0024891201],
            [0.0608407769, 0.3996461355, 3.8402178616],
            [0.0075415743, 0.0464848943, 5.0],
        ),
        (
            [5, 1, 0],
            1,
            [1.5, 2],
            [0.0763724712, 0.3996461355],
            [0.5883626988, 1.2513413186],
            [0.2137032607, 0.7195659942],
        ),
        ([3, 2, 1], 2, [2, 5], [0.3071670909, 0.7036863606], [0.2745967297, 0.5380797695], [0.5, 1.25]),
    ],
)
def test_divergences_of_the_specification(votes, sigma, orders, forward, reverse, theorem):
    assert rdp_exact([votes], sigma, orders)[0] == pytest.approx(forward, abs=1e-10)
    both = rdp_exact([votes], sigma, orders, two_sided=True)[0]
    assert both == pytest.approx(np.maximum(forward, reverse), abs=1e-10)
    assert rdp_gnmax(logq_gnmax([votes], sigma), sigma, orders)[0] == pytest.approx(theorem, abs=1e-9)


def test_a_class_that_is_far_behind_keeps_its_chance():
    # the runner-up's mass is half a gap away from its own count
    found = log_winning([[4200, 500, 200, 100, 0, 0, 0, 0, 0, 0]], 100)[0]
    assert found[1] == pytest.approx(-346.4, abs=0.1)
    assert found == pytest.approx(laws.log_law([4200, 500, 200, 100, 0, 0, 0, 0, 0, 0], 100), rel=1e-9)


@pytest.mark.parametrize(
    ("votes", "sigma"), [pytest.param([9, 4, 0], 0.5, marks=pytest.mark.everything), ([250, 0], 40)]
)
def test_chances_by_arbitrary_precision(votes, sigma):
    found = log_winning([votes], sigma)[0]
    with mpmath.workdps(20):
        for own, log_chance in zip(votes, found, strict=True):

            def integrand(z, own=own):
                rest = list(votes)
                rest.remove(own)
                return mpmath.npdf(z) * mpmath.fprod(
                    mpmath.ncdf(z + (own - other) / mpmath.mpf(sigma)) for other in rest
                )

            top = 12 + (max(votes) - own) / sigma
            true = mpmath.quad(integrand, mpmath.linspace(-13, top, 60), method="gauss-legendre")
            assert log_chance == pytest.approx(float(mpmath.log(true)), rel=1e-11, abs=1e-13)


def test_chances_add_up_and_do_not_depend_on_the_order_of_classes():
    rng = np.random.default_rng(5)
    for classes, sigma in ((2, 0.6), (5, 3), (20, 40), (60, 9)):
        votes = rng.multinomial(80, rng.dirichlet(np.full(classes, 0.4)), size=10)
        chances = np.exp(log_winning(votes, sigma))
        assert chances.sum(axis=1) == pytest.approx(np.ones(10), abs=1e-12)
        turned = rng.permutation(classes)
        assert np.exp(log_winning(votes[:, turned], sigma)) == pytest.approx(chances[:, turned], rel=1e-12)


@pytest.mark.parametrize(
    ("classes", "teachers", "sigma"),
    [
        (2, 9, 0.5),
        (3, 6, 0.25),
        pytest.param(3, 6, 1, marks=pytest.mark.everything),
        (3, 5, 4),
        pytest.param(4, 5, 2, marks=pytest.mark.everything),
        pytest.param(4, 4, 0.6, marks=pytest.mark.everything),
    ],
)
def test_all_small_instances(classes, teachers, sigma):
    """Exact costs equal the oracle's; theorem 3, joint and two-sided costs are never below them."""
    orders = np.array([1.1, 1.5, 2, 3.5, 8, 20])
    sigma_1, threshold = 1.7 * sigma, 0.7 * teachers
    every = list(laws.histograms(classes, teachers))
    plain = {counts: laws.log_law(counts, sigma) for counts in every}
    steps = {counts: laws.step_law(counts, sigma, threshold, sigma_1) for counts in every}
    votes = np.array(every)
    log_q = logq_gnmax(votes, sigma)
    answers = rdp_gnmax(log_q, sigma, orders)
    two_sided = rdp_gnmax(log_neighbour_bounds(log_q, sigma, classes)[1], sigma, orders)
    highest = votes.max(axis=1)
    check = Check(threshold, sigma_1)
    found = {
        "answer": rdp_exact(votes, sigma, orders),
        "answer, two-sided": rdp_exact(votes, sigma, orders, two_sided=True),
        "step": rdp_exact(votes, sigma, orders, check=check),
        "step, two-sided": rdp_exact(votes, sigma, orders, check=check, two_sided=True),
    }
    bounds = {
        "answer": answers,
        "answer, two-sided": two_sided,
        "step": joint(highest, threshold, sigma_1, answers, orders),
        "step, two-sided": joint(highest, threshold, sigma_1, two_sided, orders, two_sided=True),
    }
    tables = {"answer": plain, "step": steps}

    @functools.cache
    def divergence(name, here, there, order):
        return laws.divergence(tables[name][here], tables[name][there], order)

    close, dependent, reversed_above = 0.0, 0, 0
    for row, counts in enumerate(every):
        assert 1 - np.exp(plain[counts][np.argmax(counts)]) <= np.exp(log_q[row]) * (1 + 1e-9)
        for place, order in enumerate(orders):
            near = list(laws.neighbours(counts))
            for name in tables:
                forward = max(divergence(name, counts, other, order) for other in near)
                back = max(divergence(name, other, counts, order) for other in near)
                both = max(forward, back)
                assert found[name][row, place] == pytest.approx(forward, rel=1e-7, abs=1e-9)
                assert found[f"{name}, two-sided"][row, place] == pytest.approx(both, rel=1e-7, abs=1e-9)
                assert forward <= bounds[name][row, place] * (1 + 1e-9) + 1e-10
                assert both <= bounds[f"{name}, two-sided"][row, place] * (1 + 1e-9) + 1e-10
                close = max(close, forward / bounds[name][row, place] if forward > 1e-6 else 0)
                reversed_above += back > bounds[name][row, place] * (1 + 1e-6) + 1e-8
            dependent += answers[row, place] < order / sigma**2
            # no direction of any pair passes the fixed cost
            assert found["answer, two-sided"][row, place] <= order / sigma**2 * (1 + 1e-9)
    assert close > 0.2
    # where nothing depends on votes, one direction costs as much as the other
    assert dependent > 0 or sigma >= 2
    assert reversed_above > 0 or sigma >= 2


def test_a_sum_of_both_parts_is_above_and_the_expected_cost_is_sometimes_below():
    """The paper's expected cost is not a bound: some instance exceeds it."""
    orders, exceeded = np.array([2.0, 8, 20]), 0
    for sigma, sigma_1, threshold in ((1, 1.5, 5), (0.7, 2.5, 6), (2, 1, 4)):
        votes = np.array(list(laws.histograms(3, 6)))
        answers = rdp_gnmax(logq_gnmax(votes, sigma), sigma, orders)
        highest = votes.max(axis=1)
        checks = rdp_threshold(highest, threshold, sigma_1, orders)
        true = rdp_exact(votes, sigma, orders, check=Check(threshold, sigma_1))
        bound = joint(highest, threshold, sigma_1, answers, orders)
        assert np.all(true <= bound * (1 + 1e-9))
        assert np.all(bound <= (checks + answers) * (1 + 1e-9))
        from scipy.special import ndtr

        expected = checks + ndtr((highest - threshold) / sigma_1)[:, None] * answers
        exceeded += int((true > expected * (1 + 1e-9)).sum())
    assert exceeded > 0


@pytest.mark.parametrize("unit", [0, 2.0**-16])
def test_passing_over_pairs_changes_nothing(unit):
    """One order at a time visits every pair, since there is no chord."""
    rng = np.random.default_rng(6)
    votes = rng.multinomial(60, rng.dirichlet(np.full(6, 0.5)), size=12)
    orders = np.concatenate(([1.1, 1.7], np.arange(4, 120) / 2, [300, 1000]))
    check = Check(40, 12)
    together = rdp_exact(votes, 5, orders, check=check, two_sided=True, unit=unit)
    alone = np.column_stack(
        [rdp_exact(votes, 5, [order], check=check, two_sided=True, unit=unit)[:, 0] for order in orders]
    )
    assert together == pytest.approx(alone, rel=1e-11)


def test_survives_teachers_that_all_agree():
    votes = [[5000, 0, 0, 0, 0], [4999, 1, 0, 0, 0]]
    found = rdp_exact(votes, 60, np.array([1.1, 2, 14, 500]))
    bound = rdp_gnmax(logq_gnmax(votes, 60), 60, [1.1, 2, 14, 500])
    assert np.all(np.isfinite(found))
    assert np.all(found <= bound * (1 + 1e-9))


@pytest.mark.parametrize("votes", [(900, 0, 0), (899, 1, 0), (700, 150, 50)])
def test_a_cost_far_below_rounding_keeps_its_digits(votes):
    """About 1e-100: from the chances of the losing classes, the first one's being what they leave."""
    sigma, orders = 30, [2, 14]
    found = rdp_exact([votes], sigma, orders)[0]

    def law(counts):
        losing = [mpmath.exp(mpmath.mpf(float(part))) for part in laws.log_law(counts, sigma)[1:]]
        return [1 - mpmath.fsum(losing), *losing]

    with mpmath.workdps(250):
        for order, cost in zip(orders, found, strict=True):
            true = max(
                mpmath.log(mpmath.fsum(p**order * q ** (1 - order) for p, q in zip(law(votes), law(near), strict=True)))
                / (order - 1)
                for near in laws.neighbours(votes)
            )
            assert cost == pytest.approx(float(true), rel=1e-8, abs=0)
    assert np.all(found <= rdp_gnmax(logq_gnmax([votes], sigma), sigma, orders)[0])


@pytest.mark.parametrize("unit", [0, 2.0**-16])
def test_no_order_loses_a_refusal_too_small_for_a_double(unit):
    """Of chance e^-620 to e^-760, while the class is certain: the step costs what its check does."""
    for highest in (4951, 4965, 4970):
        check = Check(4775, 5)
        found = rdp_exact([[highest, 5000 - highest]], 60, ORDERS, check=check, unit=unit)[0]
        alone = rdp_threshold([highest], 4775, 5, ORDERS, noise="scaled" if unit else "continuous")[0]
        assert alone.max() > 1e-3
        assert alone.min() < 1e-90
        assert found == pytest.approx(alone, rel=3e-6 if unit else 1e-8, abs=1e-250)


def test_refuses_what_it_cannot_hold():
    with pytest.raises(UnsupportedError, match="at most 60 classes, got 70; use mode joint"):
        rdp_exact(np.eye(70, dtype=int), 3, [2])
    with pytest.raises(UnsupportedError, match=r"need sigma of at least 0\.25, got 0\.1"):
        rdp_exact([[3, 1]], 0.1, [2])
    with pytest.raises(UnsupportedError, match="exact costs of 5000 teachers need sigma"):
        rdp_exact([[5000, 0]], 2, [2])
    with pytest.raises(ParameterError, match="sigma must be"):
        rdp_exact([[3, 1]], 0, [2])
    assert is_feasible(250, 10, 40)
    assert not is_feasible(250, 10, 0.3)
    assert is_feasible(5000, 10, 3)
    assert not is_feasible(5000, 10, 2.85)
