"""An account's limit holds for Gaussian charges too, however they are chosen after looking at answers."""

import itertools
import math
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers.scope import size
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from ogive.accounting import (
    covers,
    delta_of_gaussian,
    fits,
    gaussian_grant,
    gaussian_mu,
    gaussian_rho,
    mismatch,
    remaining,
)
from ogive.accounting.composition import as_gaussian, shares, sum_epsilon, sum_rho
from ogive.accounting.losses import distance_delta, gaussian_delta
from ogive.privacy import ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP

LIMITS = [ApproxDP(1, "1e-6"), ApproxDP(3, "1e-5"), ApproxDP("1/10", "1/20"), ApproxDP(1, "1/1000")]


def exact(limit, *, integers=7, per_unit=2.0**24):
    """The loss of integer Gaussian noise that uses a whole grant."""
    mu = Fraction(gaussian_grant(limit, integers=integers, per_unit=per_unit))
    sigma = Fraction(per_unit) / mu
    return GaussianDP(mu**2, integers * Fraction(202, 10_000) / sigma**2)


# --- the adversary

LINE = np.linspace(-9.5, 13.5, 6001)


def gain(p, q, mu):
    """Of one Gaussian more: the largest p N(mu, 1)(S) - q N(0, 1)(S)."""
    if mu <= 0:
        return np.maximum(0.0, p - q)
    ratio = np.log(p / q)
    return p * ndtr(mu / 2 + ratio / mu) - q * ndtr(-mu / 2 + ratio / mu)


def of_second(charge, p, q):
    """The worst release of one charge, after weights p and q."""
    match charge:
        case GaussianDP():
            # with a chance of its distance it tells all, else it is Gaussian
            told = float(charge.distance)
            return (1 - told) * gain(p, q, math.sqrt(charge.mu_squared)) + told * p
        case ZeroConcentratedDP():
            return gain(p, q, math.sqrt(2 * charge.rho))
        case PureDP():
            truth = 1 / (1 + math.exp(-float(charge.epsilon)))
            return np.maximum(0, truth * p - (1 - truth) * q) + np.maximum(0, (1 - truth) * p - truth * q)


def worst_of_two(first, seconds, epsilon):
    """The delta of the best adversary who sees one Gaussian answer and chooses the second charge by it."""
    mu, told = math.sqrt(first.mu_squared), float(first.distance)
    p = np.exp(-((LINE - mu) ** 2) / 2) / math.sqrt(2 * math.pi)
    q = math.exp(epsilon) * np.exp(-(LINE**2) / 2) / math.sqrt(2 * math.pi)
    best = np.max([np.maximum(0, p - q), *(of_second(second, p, q) for second in seconds)], axis=0)
    return told + (1 - told) * float(np.sum(best)) * (LINE[1] - LINE[0])


def test_the_adversary_knows_two_gaussians():
    found = worst_of_two(GaussianDP("0.36"), [GaussianDP("0.64")], 1.0)
    assert found == pytest.approx(gaussian_delta(1.0, 1.0), rel=1e-6)


def largest(accepts, high):
    low, high = 0.0, float(high)
    while high - low > max(1e-9 * high, 1e-15):
        middle = (low + high) / 2
        low, high = (middle, high) if accepts(Fraction(middle)) else (low, middle)
    return Fraction(low)


def admitted(limit, first):
    """The largest second charge of each kind, and of each share of the distances."""
    found = []
    divided = shares(limit, first)
    if divided.concentrated:
        # beyond its share a distance is admitted by zCDP, and then belongs to what is private without it
        distances = divided.distances / distance_delta(Fraction(1), limit.epsilon) - first.distance
    else:
        distances = largest(lambda far: fits(limit, [first, GaussianDP("1e-12", far)]), 0.9)
    for part in (0, Fraction(1, 3), Fraction(999, 1000)):
        far = max(Fraction(0), distances * part)
        squared = largest(lambda m, far=far: m > 0 and fits(limit, [first, GaussianDP(m, far)]), 16)
        found += [GaussianDP(squared, far)] if squared > 0 else []
    rho = largest(lambda r: r > 0 and fits(limit, [first, ZeroConcentratedDP(r)]), 8)
    found += [ZeroConcentratedDP(rho)] if rho > 0 else []
    epsilon = largest(lambda e: e > 0 and fits(limit, [first, PureDP(e)]), 8)
    return [*found, PureDP(epsilon)] if epsilon > 0 else found


@pytest.mark.parametrize("limit", LIMITS, ids=str)
@pytest.mark.parametrize("part", ["0.05", "0.3", "0.6", "0.9", "0.97"])
def test_no_adversary_beats_the_limit_with_gaussians(limit, part):
    mu = Fraction(gaussian_mu(limit.epsilon, limit.delta)) * Fraction(part)
    for first in (GaussianDP(mu**2), GaussianDP(mu**2, limit.delta / 1000)):
        seconds = admitted(limit, first)
        assert len(seconds) >= 2
        worst = worst_of_two(first, seconds, float(limit.epsilon))
        assert worst_of_two(first, [], float(limit.epsilon)) < worst <= float(limit.delta)


@pytest.mark.parametrize("limit", LIMITS[2:], ids=str)
def test_distances_that_take_what_gaussians_leave_are_no_limit(limit):
    # the control, and the reason for a share of their own: each list of charges keeps the limit, all together do not
    worst = 0.0
    for part in (Fraction(n, 20) for n in range(1, 20)):
        largest_mu = Fraction(gaussian_mu(limit.epsilon, limit.delta))
        first = GaussianDP(part * largest_mu**2)
        left = limit.delta - Fraction(delta_of_gaussian(first, limit.epsilon))
        seconds = [
            GaussianDP((1 - part) * largest_mu**2),
            GaussianDP("1e-12", left * Fraction(999, 1000) / distance_delta(Fraction(1), limit.epsilon)),
        ]
        for second in seconds:
            together = as_gaussian([first, second])
            assert delta_of_gaussian(together, limit.epsilon) <= limit.delta
        worst = max(worst, worst_of_two(first, seconds, float(limit.epsilon)))
    assert worst > float(limit.delta) * 1.03


@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_distances_keep_to_their_share(limit):
    mu = Fraction(gaussian_mu(limit.epsilon, limit.delta)) * Fraction(99, 100)
    first = GaussianDP(mu**2, "1e-12")
    share = shares(limit, first).distances / distance_delta(Fraction(1), limit.epsilon)
    assert fits(limit, [first, GaussianDP("1e-15", share - first.distance)])
    assert not fits(limit, [first, GaussianDP("1e-15", share)])


def quantized(mu, edges=(-1.2, -0.3, 0.3, 1.2)):
    """A Gaussian of which only the interval is told: chances of each under one law and the other."""
    cuts = [-math.inf, *(edge + mu / 2 for edge in edges), math.inf]
    return [(ndtr(high - mu) - ndtr(low - mu), ndtr(high) - ndtr(low)) for low, high in itertools.pairwise(cuts)]


def outcomes(charge):
    if isinstance(charge, PureDP):
        truth = 1 / (1 + math.exp(-float(charge.epsilon)))
        return [(truth, 1 - truth), (1 - truth, truth)]
    told = float(charge.distance)
    cells = quantized(math.sqrt(charge.mu_squared))
    return [*((p * (1 - told), q * (1 - told)) for p, q in cells), (told, 0.0), (0.0, told)]


@pytest.mark.parametrize(
    ("limit", "menu"),
    [
        (ApproxDP(1, "1/20"), [GaussianDP("0.09", "0.0002"), GaussianDP("0.2"), PureDP("1/4")]),
        (ApproxDP(1, "1/20"), [GaussianDP("0.4", "0.001"), GaussianDP("0.04", "0.004"), PureDP("1/5")]),
        (ApproxDP("1/2", "1/10"), [GaussianDP("0.02"), GaussianDP("0.1", "0.0004"), PureDP("1/2")]),
    ],
    ids=["split", "whole", "half"],
)
def test_no_adversary_of_four_steps_beats_the_limit(limit, menu):
    epsilon = float(limit.epsilon)
    told = {charge: outcomes(charge) for charge in menu}

    @cache
    def allowed(charges):
        return fits(limit, charges)

    @cache
    def best(charges, p, q):
        here = max(0.0, p - math.exp(epsilon) * q)
        if len(charges) == 4 or p == 0:
            return here
        for charge in menu:
            longer = (*charges, charge)
            if allowed(longer):
                here = max(here, sum(best(longer, p * a, q * b) for a, b in told[charge]))
        return here

    starts = [charge for charge in menu if allowed((charge,))]
    worst = max(sum(best((charge,), a, b) for a, b in told[charge]) for charge in starts)
    assert any(allowed((charge, charge, charge)) for charge in starts)
    assert 0 < worst <= float(limit.delta)


# --- what is admitted


@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_one_release_at_the_whole_limit_fits(limit):
    loss = exact(limit)
    assert fits(limit, [loss])
    # in zCDP alone it would not
    assert not fits(limit, [ZeroConcentratedDP("1/1000000000"), loss])
    assert not fits(limit, [GaussianDP(loss.mu_squared * Fraction(10_001, 10_000), loss.distance)])
    assert not fits(limit, [loss, GaussianDP(loss.mu_squared / 1000, loss.distance)])


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(LIMITS),
    st.fractions(Fraction(1, 1000), 1, max_denominator=1000),
    st.sampled_from([Fraction(0), Fraction(1, 10**4), Fraction(1, 5), Fraction(2, 3)]),
)
def test_the_shares_of_a_gaussian_never_exceed_the_delta_and_hold_the_first(limit, part, far):
    mu = Fraction(gaussian_mu(limit.epsilon, limit.delta)) * part
    distance = limit.delta * far / distance_delta(Fraction(1), limit.epsilon)
    first = GaussianDP(mu**2, distance)
    divided = shares(limit, first)
    assert divided.sums == divided.repeats == divided.most == 0
    assert divided.concentrated + divided.gaussian + divided.distances == limit.delta
    assert min(divided.concentrated, divided.gaussian, divided.distances) >= 0
    assert fits(limit, [first]) >= (delta_of_gaussian(first, limit.epsilon) <= limit.delta)


def test_a_small_first_gaussian_leaves_half_of_delta_to_zcdp():
    limit = ApproxDP(1, "1e-6")
    small, large = GaussianDP("0.01"), GaussianDP("0.054")
    assert shares(limit, small).concentrated == limit.delta / 2
    assert shares(limit, large).concentrated == 0
    assert fits(limit, [small, ZeroConcentratedDP("0.01")])
    assert not fits(limit, [large, ZeroConcentratedDP("0.0001")])
    # pure charges go with Gaussian ones
    assert fits(limit, [large, PureDP("1/50")])
    assert not fits(limit, [large, PureDP("1/5")])
    # and so do those with a delta far below the share for distances, but not with any other
    assert fits(limit, [large, ApproxDP("1/50", "1e-12")])
    assert not fits(limit, [large, ApproxDP("1/5", "1e-12")])
    assert not fits(limit, [large, ApproxDP("1/50", "1e-8")])
    assert not fits(limit, [small, ApproxDP("1/50", "1e-12"), ZeroConcentratedDP("0.0001")])


def test_gaussian_charges_are_counted_in_zcdp_elsewhere():
    loss = GaussianDP("1/2", "1e-12")
    assert sum_rho([loss, PureDP(1)]) == Fraction(3, 4)
    assert sum_epsilon([loss, PureDP(1)]) == 1
    limit = ZeroConcentratedDP("1/2")
    assert fits(limit, [loss, loss])
    assert not fits(limit, [loss, loss, PureDP("1/100")])
    assert remaining(limit, [loss]) == ZeroConcentratedDP("1/4")
    assert mismatch(PureDP(1), loss) == mismatch(PureDP(1), ZeroConcentratedDP(1))
    assert not fits(PureDP(9), [loss])
    assert mismatch(limit, loss) is None
    assert mismatch(ApproxDP(1, "1e-6"), loss) is None
    # after a pure first charge they go by zCDP
    assert fits(ApproxDP(3, "1e-6"), [PureDP("1/2"), GaussianDP("0.1", "1e-12")])
    assert not fits(ApproxDP(3, "1e-6"), [PureDP("1/2"), GaussianDP(2, "1e-12")])
    assert as_gaussian([loss, ZeroConcentratedDP(1)]) is None
    assert as_gaussian([GaussianDP(1, "0.6"), GaussianDP(1, "0.6")]) is None


def many(limit, charge):
    count = 1
    while fits(limit, [charge] * (count + 1)):
        count += 1
    return count


@pytest.mark.parametrize(("part", "here", "by_zcdp"), [("1", 1, 0), ("1/2", 3, 3), ("1/5", 18, 17), ("1/10", 69, 64)])
def test_more_releases_fit_than_by_zcdp_as_the_manual_says(part, here, by_zcdp):
    limit = ApproxDP(1, "1e-6")
    loss = exact(ApproxDP(limit.epsilon * Fraction(part), limit.delta))
    assert many(limit, loss) == here
    assert int(gaussian_rho(limit).rho / loss.concentrated.rho) == by_zcdp
    page = (Path(__file__).parents[3] / "docs" / "ledger.md").read_text()
    assert f"| epsilon = {part} | {here} | {by_zcdp} |" in page


@settings(max_examples=size(25, part=12), deadline=None)
@given(st.lists(st.integers(0, 2), max_size=5), st.integers(1, 20))
def test_what_remains_can_be_granted_to_any_noise(kinds, size):
    limit = ApproxDP(2, "1e-6")
    mu = Fraction(gaussian_mu(limit.epsilon, limit.delta)) * size / 40
    makers = [lambda m: GaussianDP(m**2, "1e-16"), lambda m: PureDP(m), lambda m: ZeroConcentratedDP(m**2 / 2)]
    charges = [GaussianDP(mu**2, "1e-16"), *(makers[kind](mu / 2) for kind in kinds)]
    if not fits(limit, charges):
        return
    left = remaining(limit, charges)
    if isinstance(left, ApproxDP):
        assert left.delta == limit.delta
        assert fits(limit, [*charges, exact(left)])
        assert fits(limit, [*charges, gaussian_rho(left)])
        assert fits(limit, [*charges, PureDP(left.epsilon)])
        more = ApproxDP(left.epsilon * Fraction(10_001, 10_000), left.delta)
        each = [exact(more), gaussian_rho(more), PureDP(more.epsilon)]
        assert not all(fits(limit, [*charges, charge]) for charge in each)
    elif left is not None:
        assert fits(limit, [*charges, left])


def test_a_first_gaussian_that_was_raised_changes_no_shares():
    limit = ApproxDP(1, "1e-6")
    loss = exact(limit)
    early = GaussianDP(loss.mu_squared / 50, loss.distance / 50)
    assert fits(limit, [loss])
    assert not fits(limit, [loss], first=early)
    assert fits(limit, [early], first=loss)


def test_what_a_limit_covers_alone_fits_as_the_first_charge():
    """At any epsilon, however much more delta a distance takes at a large one."""
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(400):
        epsilon = Fraction(str(rng.choice(["0.1", "1", "5", "12", "20", "60"])))
        limit = ApproxDP(epsilon, Fraction(1, 10 ** int(rng.integers(3, 11))))
        mu_squared = Fraction(10) ** int(rng.integers(-4, 3)) * int(rng.integers(1, 10))
        loss = GaussianDP(mu_squared, Fraction(int(rng.integers(1, 10)), 10 ** int(rng.integers(5, 17))))
        if covers(limit, loss):
            covered += 1
            assert fits(limit, [loss])
    assert covered > 50


def test_a_limit_with_a_large_epsilon_holds_several_gaussians():
    limit, one = ApproxDP(60, "1e-4"), GaussianDP(Fraction(9, 2), Fraction(1, 10**11))
    charges = [one]
    while fits(limit, [*charges, one]):
        charges.append(one)
    assert len(charges) > 5
    assert covers(limit, ZeroConcentratedDP(len(charges) * one.mu_squared / 2))  # which integer noise keeps exactly
    left = remaining(limit, [one])
    assert left.epsilon < 20  # what integers with such a distance could use
    assert fits(limit, [one, gaussian_rho(left)])
