"""Exact costs of integer noise: never below, and hardly above, what enumeration of the noise finds."""

import importlib.util
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

from ogive.pate.aggregators import ConfidentGNMax, GNMax, scaled_noise, threshold_check
from ogive.pate.costs.cost import drawn, privacy_cost
from ogive.pate.costs.exact import (
    Check,
    Tables,
    lift_of_complement,
    lifts_of_classes,
    log_moment,
    neighbours,
    rdp_exact,
    tails_of_check,
    weigh,
    widen,
)

_spec = importlib.util.spec_from_file_location("laws", Path(__file__).with_name("laws.py"))
laws = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(laws)

DEPLOYED = 2.0**-16


def largest(table, counts, order, *, two_sided):
    near = list(laws.neighbours(counts))
    pairs = [(counts, other) for other in near] + ([(other, counts) for other in near] if two_sided else [])
    return max(laws.divergence(table[here], table[there], order) for here, there in pairs)


def test_enumeration_by_arbitrary_precision():
    votes, unit = (3, 3, 1), 0.25
    with mpmath.workdps(40):
        masses = {k: mpmath.exp(-(mpmath.mpf(k * unit) ** 2) / 2) for k in range(-60, 61)}
        total = mpmath.fsum(masses.values())
        below, running = {}, mpmath.mpf(0)
        for k, mass in masses.items():
            running += mass
            below[k] = running / total

        def chance(own):
            """Later classes may have as many."""
            shifts = [(round((votes[own] - other) / unit), j < own) for j, other in enumerate(votes) if j != own]
            return mpmath.fsum(
                mass / total * mpmath.fprod(below[min(max(k + shift - ahead, -60), 60)] for shift, ahead in shifts)
                for k, mass in masses.items()
            )

        true = [float(mpmath.log(chance(own))) for own in range(3)]
    assert laws.integer_law(votes, 1, unit) == pytest.approx(true, rel=1e-12)
    assert true[0] > true[1] + 0.05


@pytest.mark.parametrize(("votes", "sigma", "unit"), [((4, 1, 1, 4), 1, 1 / 8), ((6, 0, 3), 0.5, 1 / 32)])
def test_chances_lie_between_a_unit_less_and_a_unit_more(votes, sigma, unit):
    found = laws.integer_law(votes, sigma, unit)
    outside = 0
    for own in range(len(votes)):
        moved = np.zeros(len(votes))
        moved[own] = unit
        less, same, more = (laws.log_law(votes + way * moved, sigma, step=0.1)[own] for way in (-1, 0, 1))
        assert less < found[own] < more
        # a tenth of a unit would not do for the first or the last of the classes
        outside += abs(found[own] - same) > (more - less) / 20
    assert outside > 0


@pytest.mark.parametrize(
    ("classes", "teachers", "sigma", "unit", "excess"),
    [(2, 7, 2, 1 / 64, 10), (3, 4, 1, 1 / 128, 20), (4, 3, 0.6, 1 / 64, 50), (3, 4, 0.3, 1 / 512, 160)],
)
def test_all_small_instances(classes, teachers, sigma, unit, excess):
    """Bounds are above the truth by a few units, relatively; costs of continuous noise are often below it."""
    orders = np.array([1.2, 2, 20])
    sigma_1, threshold = 1.7 * sigma, 0.7 * teachers + unit / 3
    every = list(laws.histograms(classes, teachers))
    below = 0
    for check in (None, Check(threshold, sigma_1)):
        if check is None:
            table = {counts: laws.integer_law(counts, sigma, unit) for counts in every}
        else:
            table = {counts: laws.integer_step_law(counts, sigma, threshold, sigma_1, unit) for counts in every}
        for two_sided in (False, True):
            true = np.array([[largest(table, c, order, two_sided=two_sided) for order in orders] for c in every])
            bound, continuous = (
                rdp_exact(every, sigma, orders, check=check, two_sided=two_sided, unit=grid) for grid in (unit, 0)
            )
            assert np.all(bound >= true * (1 - 1e-9) - 1e-12)
            assert np.all(bound <= true * (1 + excess * unit) + 1e-12)
            below += int((continuous < true * (1 - 1e-5)).sum())
    assert below > 10


def test_a_moment_is_bounded_wherever_the_true_laws_lie():
    """Laws near to each other, known up to e^lift; both ends of every interval, and places in between."""
    rng = np.random.default_rng(9)
    without_drift = 0
    for order in (1.1, 1.9, 3, 30):
        for size in (2, 3, 6):
            for _ in range(200):
                here = rng.dirichlet(np.full(size, 0.6))
                there = here * np.exp(rng.choice([0.001, 0.1]) * rng.normal(size=size))
                there /= there.sum()
                true = np.log(np.sum(here**order * there ** (1 - order)))
                lifts = rng.choice([1e-4, 0.01, 0.05]) * rng.random(size)
                moved = lifts * rng.choice([-1, 1, rng.uniform(-1, 1)], size=(2, size))
                logs, gains = np.zeros(2 * size), np.zeros(2 * size)
                logs[:size] = np.log(here) + moved[0]
                gains[:size] = logs[:size] - np.log(there) - moved[1]
                listed, masses = widen(logs, gains, lifts, size), np.empty(2 * size)
                drift = weigh(logs, gains, masses, listed)
                assert true <= log_moment(order, logs, masses, gains, drift, listed) + 1e-14
                without_drift += true > log_moment(order, logs, masses, gains, 0.0, listed) + 1e-14
    assert without_drift > 100


def test_what_others_leave_is_bounded_by_how_far_they_are_off():
    rng = np.random.default_rng(10)
    for _ in range(300):
        laws_ = rng.dirichlet([5, 0.5, 0.5], size=2)
        counts, lifts = np.array([1.0, 1.0, 3.0]), np.array([5.0, *rng.choice([1e-3, 0.1], size=2)])
        laws_[:, 2] /= 3  # three classes that are alike
        lift = lift_of_complement(*np.log(laws_), counts, lifts, 0, 3)
        for way in (-1, 1):
            moved = laws_ * np.exp(way * lifts)
            left = 1 - moved[:, 1] - 3 * moved[:, 2]
            assert np.all(np.abs(np.log(left[left > 0] / laws_[left > 0, 0])) <= lift * (1 + 1e-9))
            assert np.all(left > 0) or lift == 5
    # and not by what is known of the class itself, where that is less
    assert lift_of_complement(*np.log(laws_), counts, np.array([1e-9, 0.1, 0.1]), 0, 3) == 1e-9


@pytest.mark.parametrize(("classes", "sigma"), [(2, 1), (4, 0.5), (10, 40)])
def test_lifts_cover_a_unit_more_and_less_at_every_neighbour(classes, sigma):
    unit = 0.1
    votes = np.sort(np.random.default_rng(classes).integers(0, 4, size=classes))[::-1]
    values, times = np.unique(-votes, return_counts=True)
    values, kinds, tables = -values, values.size, Tables.make(int(votes.sum()), sigma, unit)
    plain, giver, taker = np.empty((kinds,) * 3), np.empty((kinds, kinds)), np.empty((kinds, kinds))
    here = neighbours(values, times, tables, plain, giver, taker)
    lifts, least = lifts_of_classes(here, giver, tables), np.inf
    # neighbours that differ by the order of classes have the same laws
    near = {tuple(sorted(zip(votes, each, strict=True))): each for each in laws.neighbours(tuple(votes))}
    for counts in (tuple(votes), *near.values()):
        same_law = laws.log_law(counts + np.zeros(classes), sigma, step=0.1)
        for own in dict(zip(zip(votes, counts, strict=True), range(classes), strict=True)).values():
            lift = lifts[values.tolist().index(votes[own])]
            moved = np.zeros(classes)
            moved[own] = unit
            same = same_law[own]
            less, more = (laws.log_law(counts + way * moved, sigma, step=0.1)[own] for way in (-1, 1))
            assert same - lift <= less < more <= same + lift
            least = min(least, lift / (same - less))
    assert least < 3


@pytest.mark.parametrize(("votes", "sigma"), [pytest.param((9, 4, 0), 1, marks=pytest.mark.everything), ((3, 3), 0.7)])
def test_on_the_grid_that_is_deployed(votes, sigma):
    table = {counts: laws.integer_law(counts, sigma, DEPLOYED) for counts in (votes, *laws.neighbours(votes))}
    true = largest(table, votes, 8, two_sided=False)
    found = rdp_exact([votes], sigma, [8], unit=DEPLOYED)[0, 0]
    assert true * (1 + 1e-6) < found < true * (1 + 1e-4)


@pytest.mark.parametrize(("sigma_1", "threshold"), [(1, 3), (0.5, 4.0001), (3, -1.5)])
def test_tails_of_a_check_move_no_further(sigma_1, threshold):
    unit, heights = 1e-3, np.arange(9)
    found = tails_of_check(heights, threshold, sigma_1, unit=unit)
    reached = np.ceil(threshold / unit) - np.round(heights / unit).astype(int)
    refuse, passes = laws.integer_tails(reached.astype(int) - 1, sigma_1 / unit)
    moved = np.abs(found[:2] - [passes, refuse])
    assert np.all(moved <= found[2:] + 1e-12)
    # and it is not a loose bound
    assert (moved / found[2:]).max() > 0.2
    # nothing moves with continuous noise
    assert not tails_of_check(heights, threshold, sigma_1, unit=0.0)[2:].any()


@pytest.mark.parametrize("votes", [(900, 0, 0), (700, 150, 50), (452, 447, 1)])
def test_costs_far_below_rounding_keep_their_precision(votes):
    orders = [2, 14]
    for check in (None, Check(0, 20)):
        for two_sided in (False, True):
            continuous, scaled = (
                rdp_exact([votes], 30, orders, check=check, two_sided=two_sided, unit=unit)[0] for unit in (0, DEPLOYED)
            )
            assert np.all(continuous > 0)
            assert np.all((scaled > continuous) & (scaled < continuous * (1 + 5e-4)))


def test_scales_and_thresholds_are_those_that_are_drawn():
    aggregator = ConfidentGNMax(Fraction(601, 3), Fraction(1, 3), Fraction("14.2857142857142857"))
    stated = 14.2857142857142857
    assert drawn(aggregator, "continuous") == (stated, Check(601 / 3, 1 / 3))
    sigma, check = drawn(aggregator, "scaled")
    query = threshold_check(aggregator.threshold, aggregator.sigma_1)
    assert check == Check(query.threshold / 2**16, float(query.law.sigma) / 2**16)
    assert 0 < sigma - stated < 1e-7
    assert sigma == float(scaled_noise(aggregator.sigma_2, "sigma_2").sigma) / 2**16
    assert 0 < check.threshold - 601 / 3 < DEPLOYED
    assert drawn(GNMax(40), "scaled") == (40, None)


def test_privacy_cost_of_scaled_noise_is_hardly_above_that_of_continuous_noise():
    votes = np.random.default_rng(8).multinomial(250, [0.7, 0.2, 0.1], size=20)
    for aggregator in (GNMax(40), ConfidentGNMax(160.3, 60, 40)):
        for mode in ("exact", "exact_two_sided"):
            found = {
                noise: privacy_cost(votes, aggregator, target_delta=1e-5, mode=mode, noise=noise)
                for noise in ("continuous", "scaled")
            }
            assert 1 < found["scaled"].epsilon / found["continuous"].epsilon < 1.0001
            assert np.all(np.array(found["scaled"].rdp) > found["continuous"].rdp)
    assert "integer noise on the votes multiplied by 2^16" in found["scaled"].statement
