"""The exact privacy of Gaussian noise, against the definition in many digits."""

import itertools
import math
from fractions import Fraction
from functools import cache

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.accounting import (
    covers,
    delta_of_gaussian,
    discrete_loss,
    epsilon_of_gaussian,
    gaussian_grant,
    gaussian_mu,
    gaussian_rho,
    group_loss,
    larger_loss,
    total_loss,
)
from ogive.accounting.losses import DISTANCE, LEAST_SIGMA, distance_delta, filled, gaussian_delta, pure_mu_squared
from ogive.errors import ParameterError
from ogive.privacy import ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP

TABLE = [
    # methods/projection.md, section 17: epsilon, delta, squared sensitivity, sigma
    ("0.01", "1e-6", 1, 306.350376154),
    ("0.05", "1e-6", 1, 69.2712170848),
    ("0.1", "1e-6", 1, 36.3046904262),
    ("0.5", "1e-6", 1, 8.05761848073),
    ("1", "1e-6", 1, 4.22467888933),
    ("2", "1e-6", 1, 2.23047627119),
    ("5", "1e-6", 1, 0.980049000309),
    ("10", "1e-6", 1, 0.541086831818),
    ("1", "1e-5", 1, 3.73063163482),
    ("0.5", "1e-5", 1, 7.03182667558),
    ("1", "1e-9", 1, 5.49526615724),
    ("0.01", "1e-3", 1, 93.9074198399),
    ("1", "0.3", 1, 0.690230580015),
    ("0.5", "0.5", 1, 0.590917599259),
    ("0.1", 25000**-1.5, 1, 39.3597061442),
    ("1", 25000**-1.5, 1, 4.49993596924),
    ("0.1", "1e-6", 2, 51.3425855785),
    ("1", "1e-6", 2, 5.97459818196),
    ("0.1", "1e-6", 16e-8, 0.0145218761705),
    ("0.1", "1e-6", 19e-8, 0.0158248476744),
    ("0.1", "1e-6", 2e-8, 0.00513425855785),
    ("1", "1e-6", 2e-8, 0.000597459818196),
    ("1/500", Fraction(1, 50_000_000), 1, 1809.63335298),
    # printed as 256.712892743, which is not sqrt(50) times the third row
    ("0.1", "1e-6", 50, 256.712927889),
    ("1/300", Fraction(1, 30_000_000), 1, 1085.82585895),
]


def exact_delta(mu, epsilon):
    """The definition, with at least 60 digits left after what tiny arguments cancel."""
    with mp.workdps(60 + max(0, -2 * int(math.log10(mu)))):
        mu, epsilon = mp.mpf(mu), mp.mpf(epsilon)

        def normal(x):
            return mp.erfc(-x / mp.sqrt(2)) / 2

        return normal(mu / 2 - epsilon / mu) - mp.exp(epsilon) * normal(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize(("mu", "epsilon"), [(0.5, 1.0), (3.0, 2.0), (1.0, 0.0)])
def test_the_oracle_is_the_largest_difference_of_two_gaussians(mu, epsilon):
    def gain(x):
        return mp.npdf(x, mu, 1) - mp.exp(epsilon) * mp.npdf(x)

    from_here = epsilon / mu + mu / 2  # to the right of it the gain is positive
    with mp.workdps(30):
        area = mp.quad(gain, [from_here, from_here + 1, from_here + 4, from_here + 20])
        assert mp.almosteq(area, exact_delta(mu, epsilon), rel_eps=mp.mpf("1e-20"))
    assert gain(from_here + 0.01) > 0 > gain(from_here - 0.01)


@pytest.mark.parametrize(("epsilon", "delta", "squared", "sigma"), TABLE, ids=lambda value: str(value)[:9])
def test_the_printed_scales_and_no_smaller_ones(epsilon, delta, squared, sigma):
    epsilon, delta = Fraction(epsilon), Fraction(str(delta))
    mu = gaussian_mu(epsilon, delta)
    found = math.sqrt(squared) / mu
    assert found == pytest.approx(sigma, rel=1e-8)
    exact = mp.mpf(delta.numerator) / delta.denominator
    assert exact_delta(mu, float(epsilon)) <= exact < exact_delta(mu / 0.999, float(epsilon))


def test_the_textbook_scale_is_not_private_at_a_large_epsilon():
    # the control: sqrt(2 ln(1.25 / delta)) / epsilon is for small epsilon only, and wasteful there
    sigma = math.sqrt(2 * math.log(1.25e6)) / 10
    assert sigma == pytest.approx(0.5299, abs=1e-4)
    assert exact_delta(1 / sigma, 10) > 1e-6
    assert gaussian_delta(1 / sigma, 10) > 1e-6
    assert 1 / gaussian_mu(Fraction(10), Fraction("1e-6")) > sigma
    small = math.sqrt(2 * math.log(1.25e6)) / 0.1
    assert small * gaussian_mu(Fraction("0.1"), Fraction("1e-6")) == pytest.approx(1.46, abs=0.005)


@cache
def grid():
    epsilons = [0.0, 1e-9, 1e-5, *np.geomspace(1e-3, 50, 9), 1e4]
    deltas = ["1e-250", "1e-40", "1e-15", "1e-12", "1e-9", "1e-6", "1e-4", "1e-2", "0.5", "0.9"]
    return [(Fraction(repr(float(epsilon))), Fraction(delta)) for epsilon in epsilons for delta in deltas]


def test_every_scale_keeps_its_delta_and_a_hundred_millionth_less_noise_does_not():
    for epsilon, delta in grid():
        mu = gaussian_mu(epsilon, delta)
        exact = mp.mpf(delta.numerator) / delta.denominator
        assert exact_delta(mu, float(epsilon)) <= exact, (float(epsilon), float(delta))
        assert exact_delta(mu * (1 + 1e-8), float(epsilon)) > exact, (float(epsilon), float(delta))


def test_delta_is_rounded_up_and_by_little():
    for epsilon, delta in grid():
        for factor in (0.3, 0.9, 1.0, 1.1, 3.0):
            mu = gaussian_mu(epsilon, delta) * factor
            exact = exact_delta(mu, float(epsilon))
            found = gaussian_delta(mu, float(epsilon))
            assert exact <= found, (float(epsilon), mu)
            if exact > 1e-280 and epsilon < 1000:
                assert found <= min(1, exact * (1 + mp.mpf("2e-9"))), (float(epsilon), mu)


def test_extremes_are_safe():
    assert gaussian_delta(0.0, 1.0) == 0
    assert gaussian_delta(1e-200, 1.0) == pytest.approx(1e-300)
    assert gaussian_delta(1e200, 1.0) == 1
    assert gaussian_delta(60.0, 1.0) == 1
    assert gaussian_delta(math.sqrt(2e20), 1e20) > 0.5
    assert gaussian_delta(1e-150, 1e300) == pytest.approx(1e-300)
    for delta in (0, 1, Fraction(1, 10**300)):
        with pytest.raises(ParameterError, match="delta must be strictly between"):
            gaussian_mu(Fraction(1), Fraction(delta))


@settings(max_examples=60, deadline=None)
@given(st.fractions(Fraction(1, 100), 10, max_denominator=100), st.integers(2, 14), st.integers(0, 12))
def test_epsilon_is_safe_and_hardly_more_than_needed(mu, digits, further):
    delta = Fraction(1, 10**digits)
    loss = GaussianDP(mu**2, delta / 10**8 / 10**further)
    try:
        epsilon = epsilon_of_gaussian(loss, delta)
    except ParameterError:
        assert delta_of_gaussian(loss, Fraction(10**6)) > delta
        return
    assert delta_of_gaussian(loss, epsilon) <= delta
    if epsilon > Fraction(1, 1000):
        assert delta_of_gaussian(loss, epsilon * Fraction(999_999, 1_000_000)) > delta


def test_an_epsilon_is_found_where_the_distance_takes_all_of_delta_at_a_larger_one():
    loss, delta = GaussianDP(Fraction(27, 8), Fraction(24, 10**12)), Fraction(1, 10**5)
    epsilon = epsilon_of_gaussian(loss, delta)
    assert delta_of_gaussian(loss, epsilon) <= delta
    assert distance_delta(loss.distance, 2 * epsilon) > delta
    assert delta_of_gaussian(loss, 2 * epsilon) <= delta


@pytest.mark.parametrize(
    ("loss", "delta", "words"),
    [
        (GaussianDP(1, "1e-6"), "1e-6", "uses up delta"),
        (GaussianDP(400, "1e-9"), "1e-6", "use a larger delta"),
        (GaussianDP(1), "1e-300", "strictly between"),
    ],
)
def test_no_epsilon_is_named_where_there_is_none(loss, delta, words):
    with pytest.raises(ParameterError, match=words):
        epsilon_of_gaussian(loss, Fraction(delta))


def test_a_large_loss_has_an_epsilon():
    epsilon = epsilon_of_gaussian(GaussianDP(50**2), Fraction("1e-6"))
    assert 1250 < epsilon < 1250 + 50 * 5
    assert exact_delta(50, float(epsilon)) <= 1e-6


# --- integers


def distance(sigma):
    """Total variation distance of a discrete Gaussian of parameter sigma from a rounded Gaussian, to 1e-15.

    What is rounded to an integer is the integral over its cell: nothing cancels, as in differences of tails.
    """
    reach = int(13 * sigma) + 2
    k = np.arange(-reach, reach + 1)
    law = np.exp(-(k**2) / (2 * sigma**2))
    places, weights = np.polynomial.legendre.leggauss(20)
    inside = np.exp(-((k[:, None] + places / 2) ** 2) / (2 * sigma**2)) @ weights / 2
    return math.fsum(np.abs(law / math.fsum(law) - inside / (sigma * math.sqrt(2 * math.pi)))) / 2


@pytest.mark.parametrize(
    ("sigma", "printed"),
    [(2, 0.01923), (5, 0.02001), (100, 0.020164), (1000, 0.0201643)],
)
def test_a_discrete_gaussian_is_as_near_to_a_rounded_one_as_is_proved(sigma, printed):
    scaled = distance(sigma) * sigma**2
    assert float(scaled) == pytest.approx(printed, rel=3e-4)
    assert float(DISTANCE) >= scaled
    if sigma >= 1000:
        # the limit of the proof, 4 phi(1) / 48
        assert float(scaled) == pytest.approx(math.exp(-0.5) / math.sqrt(2 * math.pi) / 12, rel=1e-6)
        # a control: the constant is no more than needed
        assert float(scaled) > 0.0201


def discrete_delta(shift, sigma, epsilon):
    """Largest difference of a discrete Gaussian and the same one shifted, by summing over the integers."""
    k = np.arange(-int(14 * sigma), int(14 * sigma) + shift + 1)
    total = math.fsum(np.exp(-(k**2) / (2 * sigma**2)))
    here = np.exp(-((k - shift) ** 2) / (2 * sigma**2)) / total
    there = np.exp(-(k**2) / (2 * sigma**2)) / total
    return math.fsum(np.maximum(0.0, here - math.exp(epsilon) * there))


@pytest.mark.parametrize("epsilon", [0, 0.25, 1, 2.5])
@pytest.mark.parametrize("shift", [50, 240, 1000, 2500])
def test_the_loss_of_integers_covers_what_they_lose(shift, epsilon):
    loss = discrete_loss(Fraction(shift) ** 2, Fraction(LEAST_SIGMA), 1)
    bound = delta_of_gaussian(loss, Fraction(epsilon))
    assert discrete_delta(shift, LEAST_SIGMA, epsilon) <= bound
    assert bound <= discrete_delta(shift, LEAST_SIGMA, epsilon) + 2.1 * float(loss.distance) * (1 + math.exp(epsilon))


def test_integers_with_too_little_noise_do_not_stand_for_gaussians():
    with pytest.raises(ParameterError, match=r"sigma must be at least 1000 for continuous noise, got 999\.5"):
        discrete_loss(Fraction(1), Fraction(1999, 2), 1)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("integers", [1, 7, 40])
def test_what_is_granted_leaves_room_for_integers(epsilon, integers):
    target = ApproxDP(epsilon, "1e-9")
    per_unit = 2.0**26
    mu = gaussian_grant(target, integers=integers, per_unit=per_unit)
    loss = discrete_loss(Fraction(per_unit) ** 2, Fraction(per_unit) / Fraction(mu), integers)
    assert covers(target, loss)
    assert mu == pytest.approx(gaussian_mu(target.epsilon, target.delta), rel=1e-3)
    # a control: without the room it would not fit
    most = gaussian_mu(target.epsilon, target.delta)
    assert not covers(target, discrete_loss(Fraction(per_unit) ** 2, Fraction(per_unit) / Fraction(most), integers))


def test_integers_that_are_scaled_too_little_are_refused():
    with pytest.raises(ParameterError, match="use more fractional bits"):
        gaussian_grant(ApproxDP(1, "1e-9"), integers=30, per_unit=1000.0)


def test_a_distance_counts_on_both_sides():
    assert distance_delta(Fraction(0), Fraction(10**6)) == 0
    assert distance_delta(Fraction(1, 10**9), Fraction(701)) == 1
    found = distance_delta(Fraction(1, 10**9), Fraction(2))
    assert found >= Fraction(1, 10**9) * Fraction(1 + math.exp(2))
    assert float(found) == pytest.approx(1e-9 * (1 + math.exp(2)), rel=1e-8)


# --- several


def test_two_gaussians_are_exactly_one():
    one, other, epsilon = 0.8, 0.5, 1.0

    def after(x):
        # the best test of the second answer where the first was x
        ratio = epsilon - (one * x - one**2 / 2)
        weight = mp.npdf(x, one, 1)
        if ratio >= 0:
            return weight * exact_delta(other, ratio)
        # P - r Q = (P - Q r) with r < 1: 1 - r plus the other direction
        return weight * (1 - mp.exp(ratio) + mp.exp(ratio) * exact_delta(other, -ratio))

    both = mp.quad(after, [-8, -2, 0, 1, 1.65, 2, 3, 5, 9])
    total = total_loss([GaussianDP("0.64", "1e-12"), GaussianDP("0.25", "1e-13")])
    assert total == GaussianDP("0.89", "1.1e-12")
    assert float(both) == pytest.approx(float(exact_delta(math.sqrt(0.89), epsilon)), rel=1e-9)


def test_losses_of_groups_and_of_either_of_two():
    loss = GaussianDP("1/9", "1e-10")
    assert group_loss(loss, 3) == GaussianDP(1, "1e-10")
    assert larger_loss(loss, GaussianDP("1/4", "1e-12")) == GaussianDP("1/4", "1e-10")
    assert total_loss([loss, PureDP("1/2")]) == ZeroConcentratedDP(Fraction(1, 18) + Fraction(1, 8))


@settings(max_examples=80, deadline=None)
@given(st.fractions(Fraction(1, 1000), 60, max_denominator=1000))
def test_any_pure_release_is_made_from_one_gaussian(epsilon):
    squared = pure_mu_squared(epsilon)
    with mp.workdps(60):
        mu = mp.sqrt(mp.mpf(squared.numerator) / squared.denominator)
        truth = mp.erfc(-mu / 2 / mp.sqrt(2)) / 2
        needed = 1 / (1 + mp.exp(-mp.mpf(epsilon.numerator) / epsilon.denominator))
        # compared with mu / 2, the Gaussian tells the truth at least as often; a billionth less would not do
        assert truth >= needed
        assert mp.erfc(-mu * (1 - mp.mpf("2e-9")) / 2 / mp.sqrt(2)) / 2 < needed
    assert squared <= 8 * epsilon


def test_the_gaussian_of_a_sum_of_epsilons_is_no_less_than_of_its_parts():
    sizes = [Fraction(n, 100) for n in (1, 10, 50, 99, 100, 101, 200, 499, 500, 1000, 3000, 10**5, 10**8)]
    slopes = [pure_mu_squared(size) / size for size in sizes]
    assert slopes == sorted(slopes)


def test_of_tiny_and_huge_epsilons_the_gaussian_is_known():
    assert float(pure_mu_squared(Fraction(1, 10**6))) == pytest.approx(math.pi / 2 * 1e-12, rel=1e-8)
    assert pure_mu_squared(Fraction(10**200)) <= 8 * Fraction(10**200)


def test_exact_gaussians_need_less_noise_than_zcdp():
    for epsilon, gain in (("0.1", 1.087), ("1", 1.072)):
        target = ApproxDP(epsilon, "1e-6")
        rho = float(gaussian_rho(target).rho)
        assert gaussian_mu(target.epsilon, target.delta) / math.sqrt(2 * rho) == pytest.approx(gain, abs=0.001)


@pytest.mark.parametrize("rounds", [1, 2, 3, 7, 15, 50, 64, 999])
def test_a_measurement_is_filled_up_to_all_that_the_grant_allows(rounds):
    target = ApproxDP("1/2", "1e-7")
    per_unit = 2.0**22
    mu = gaussian_grant(target, integers=rounds, per_unit=per_unit * math.sqrt(rounds))
    each = discrete_loss(Fraction(per_unit) ** 2, Fraction(per_unit * math.sqrt(rounds)) / Fraction(mu), 1)
    whole = filled(target, each)
    together = total_loss([each] * rounds)
    assert covers(target, together)
    assert covers(target, whole)
    assert whole.mu_squared >= together.mu_squared
    assert whole.distance >= together.distance
    assert whole.mu_squared <= together.mu_squared * Fraction(10_001, 10_000)


def test_what_a_grant_does_not_cover_is_not_filled():
    loss = GaussianDP(1)
    assert not covers(ApproxDP("1/2", "1e-7"), loss)
    assert filled(ApproxDP("1/2", "1e-7"), loss) == loss


@pytest.mark.parametrize(
    ("mu_squared", "distance"), [(4, "1e-11"), (81, "1e-10"), ("0.25", "1e-9"), ("0.001", "1e-12")]
)
def test_a_larger_epsilon_never_takes_more_delta(mu_squared, distance):
    """The least over all epsilons up to the one that is granted, found here on a grid."""
    loss = GaussianDP(Fraction(mu_squared), Fraction(distance))
    before = 1.0
    for epsilon in (0, 0.1, 1, 2, 5, 12, 20, 60, 1000):
        found = delta_of_gaussian(loss, Fraction(epsilon))
        grid = np.linspace(0, min(epsilon, 80), 4001)
        least = min(
            gaussian_delta(float(loss.mu_squared) ** 0.5, each) + float(loss.distance) * (1 + np.exp(each))
            for each in grid
        )
        assert found <= before
        assert found <= least * (1 + 1e-8)
        assert found >= least * 0.98  # a grid misses the least by that much at most
        before = found


@pytest.mark.parametrize(("integers", "delta"), [(10, "1e-10"), (2, "1e-10"), (1000, "1e-8"), (1000, "1e-5")])
def test_a_larger_epsilon_is_never_granted_less(integers, delta):
    grants = [
        gaussian_grant(ApproxDP(epsilon, delta), integers=integers, per_unit=2**16 * 2**0.5)
        for epsilon in ("0.5", 1, 2, 5, 12, 60, 300, 1000)
    ]
    assert all(more >= less * (1 - 1e-6) for less, more in itertools.pairwise(grants))


def test_integers_may_be_granted_a_large_epsilon():
    """Where their distance would take all of delta at that epsilon, they are private at a smaller one."""
    per_unit = 2**16 * 1280**0.5
    granted = [gaussian_grant(ApproxDP(epsilon, "1e-5"), integers=6400, per_unit=per_unit) for epsilon in (8, 20, 60)]
    assert granted[0] < granted[1] == granted[2] < gaussian_mu(Fraction(20), Fraction("1e-5"))
    for mu, epsilon in zip(granted, (8, 20, 60), strict=True):
        covered = GaussianDP(Fraction(mu) ** 2, 6400 * DISTANCE / Fraction(per_unit / mu) ** 2)
        assert covers(ApproxDP(epsilon, "1e-5"), covered)
        louder = GaussianDP(covered.mu_squared * Fraction("1.01"), covered.distance * Fraction("1.01"))
        assert delta_of_gaussian(louder, Fraction(epsilon)) > Fraction("1e-5")
