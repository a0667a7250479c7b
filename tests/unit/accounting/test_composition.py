import itertools
import math
from fractions import Fraction

import pytest
from helpers.scope import size
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.accounting import at_least, compose, epsilon_of, epsilon_of_gaussian
from ogive.accounting.composition import composed_epsilon, most_repeats
from ogive.accounting.losses import rounded_up
from ogive.errors import ParameterError
from ogive.privacy import ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP

EPSILONS = st.fractions(Fraction(1, 50), 3, max_denominator=50)


def exact_delta(losses, epsilon):
    """Largest difference P(S) - e^epsilon Q(S) of composed randomized responses, over all their outputs."""
    delta = 0.0
    for truths in itertools.product([True, False], repeat=len(losses)):
        p = q = 1.0
        for told, (loss, own) in zip(truths, losses, strict=True):
            right = (1 - own) / (1 + math.exp(-loss))
            p *= right if told else 1 - own - right
            q *= 1 - own - right if told else right
        delta += max(0.0, p - math.exp(epsilon) * q)
    # outputs in which some mechanism told everything: the other side never gives them
    return delta + 1 - math.prod(1 - own for _, own in losses)


def test_the_oracle_knows_randomized_response():
    assert exact_delta([(1.0, 0.0)], 1.0) == 0
    assert exact_delta([(1.0, 0.0)], 0.0) == pytest.approx((math.e - 1) / (math.e + 1))
    assert exact_delta([(1.0, 0.25)], 1.0) == pytest.approx(0.25)


@settings(max_examples=60, deadline=None)
@given(st.lists(EPSILONS, min_size=1, max_size=8), st.sampled_from(["1/10", "1/1000", "1/1000000"]))
def test_loss_distributions_are_safe_and_nearly_exact(epsilons, delta):
    found = composed_epsilon([PureDP(epsilon) for epsilon in epsilons], Fraction(delta))
    losses = [(float(epsilon), 0.0) for epsilon in epsilons]
    assert exact_delta(losses, float(found)) <= Fraction(delta)
    # every loss is rounded up by at most a 64th of the smallest
    slack = len(epsilons) * float(min(epsilons)) / 64 + 1e-6
    if found > slack:
        assert exact_delta(losses, float(found) - slack) >= float(Fraction(delta)) * (1 - 1e-6)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(EPSILONS, st.sampled_from(["1/1000", "1/100000"])), min_size=1, max_size=6))
def test_loss_distributions_count_deltas(pairs):
    charges = [ApproxDP(epsilon, delta) for epsilon, delta in pairs]
    delta = 2 * sum((charge.delta for charge in charges), Fraction(0))
    found = composed_epsilon(charges, delta)
    assert exact_delta([(float(c.epsilon), float(c.delta)) for c in charges], float(found)) <= delta


def test_no_epsilon_is_named_where_floating_point_cannot_tell():
    assert composed_epsilon([PureDP(1)], Fraction(1, 10**15)) is None


def exact_repeats_delta(step, count, epsilon):
    """The same for equal losses, by the binomial law, in rational arithmetic on e^step."""
    ratio = Fraction(math.exp(step))
    right = ratio / (1 + ratio)
    total = Fraction(0)
    for truths in range(count + 1):
        ways = math.comb(count, truths)
        p = right**truths * (1 - right) ** (count - truths)
        q = right ** (count - truths) * (1 - right) ** truths
        total += ways * max(Fraction(0), p - Fraction(math.exp(epsilon)) * q)
    return total


@pytest.mark.parametrize(
    ("step", "epsilon", "delta"), [("1/4", 5, "1e-6"), ("1/2", 3, "1e-5"), ("1/10", 2, "1e-6"), (1, 2, "1e-9")]
)
def test_the_number_of_repeats_is_the_largest(step, epsilon, delta):
    step, epsilon, delta = Fraction(step), Fraction(epsilon), Fraction(delta)
    most = most_repeats(step, epsilon, delta)
    assert exact_repeats_delta(step, most, epsilon) <= delta
    assert exact_repeats_delta(step, most + 1, epsilon) > delta * Fraction(999_999, 1_000_000)
    assert most >= epsilon // step


def test_many_small_repeats_are_added_up_plainly():
    assert most_repeats(Fraction(1, 10**6), Fraction(1), Fraction(1, 10**6)) == 10**6


@settings(max_examples=size(100, part=30), deadline=None)
@given(st.lists(EPSILONS, min_size=1, max_size=12))
def test_pure_charges_add_up_exactly(epsilons):
    assert compose([PureDP(epsilon) for epsilon in epsilons]) == PureDP(sum(epsilons))


@settings(max_examples=size(100, part=30), deadline=None)
@given(st.lists(EPSILONS, min_size=1, max_size=6), st.lists(EPSILONS, min_size=1, max_size=6))
def test_pure_and_concentrated_charges_add_up_in_rho(epsilons, rhos):
    charges = [*map(PureDP, epsilons), *map(ZeroConcentratedDP, rhos)]
    assert compose(charges) == ZeroConcentratedDP(sum(rhos) + sum(epsilon**2 / 2 for epsilon in epsilons))


def as_charge(kind, size):
    return {"pure": PureDP, "zcdp": ZeroConcentratedDP}.get(kind, lambda e: ApproxDP(e, "1e-8"))(size)


CHARGES = st.lists(st.builds(as_charge, st.sampled_from(["pure", "zcdp", "approx"]), EPSILONS), min_size=1, max_size=5)


@settings(max_examples=size(25, part=15), deadline=None)
@given(CHARGES)
def test_mixed_charges_cost_no_more_than_each_converted_alone(charges):
    delta = Fraction(1, 10**6)
    naive = Fraction(0)
    share = (delta - Fraction(len(charges), 10**8)) / len(charges)
    for charge in charges:
        naive += epsilon_of(charge, share) if isinstance(charge, ZeroConcentratedDP) else charge.epsilon
    found = compose(charges, delta=delta)
    assert found.delta == delta
    assert found.epsilon <= naive * Fraction(100_001, 100_000)


@settings(max_examples=size(25, part=15), deadline=None)
@given(CHARGES)
def test_one_charge_more_never_costs_less(charges):
    delta = Fraction(1, 10**6)
    # the rounding of losses to a grid may change with the smallest of them
    room = Fraction(102, 100)
    fewer = compose(charges, delta=delta).epsilon
    assert fewer <= compose([*charges, PureDP("1/10")], delta=delta).epsilon * room


def test_composition_takes_the_best_of_all_ways():
    delta = Fraction(1, 10**6)
    assert compose([PureDP(1)] * 2, delta=delta).epsilon == 2  # sums
    rho = compose([ZeroConcentratedDP("1/10")] * 3, delta=delta)
    assert rho.epsilon == pytest.approx(float(epsilon_of(ZeroConcentratedDP("3/10"), delta)), rel=1e-5)
    many = compose([PureDP("1/4")] * 30, delta=delta).epsilon  # loss distributions
    assert many < 30 * Fraction(1, 4)
    assert many < epsilon_of(ZeroConcentratedDP(30 * Fraction(1, 32)), delta)
    beside = compose([PureDP("1/4")] * 30 + [ZeroConcentratedDP("1/1000000")], delta=delta).epsilon
    assert many < beside < many + Fraction(1, 10)


def test_gaussian_charges_are_composed_as_one_gaussian():
    delta = Fraction(1, 10**6)
    one = GaussianDP("0.02", "1e-13")
    found = compose([one] * 3, delta=delta).epsilon
    assert found == pytest.approx(float(epsilon_of_gaussian(GaussianDP("0.06", "3e-13"), delta)), rel=1e-5)
    assert found < epsilon_of(ZeroConcentratedDP("0.03"), delta) * Fraction(95, 100)
    assert compose([one] * 3) == ZeroConcentratedDP("0.03")
    # beside pure charges: with them as one Gaussian, or added to their epsilon
    small = compose([one, PureDP("1/100")], delta=delta).epsilon
    assert small < compose([one], delta=delta).epsilon + Fraction(1, 100)
    large = compose([one, PureDP(20)], delta=delta).epsilon
    assert large <= rounded_up(20 + epsilon_of_gaussian(one, delta))
    # beside zCDP, in zCDP
    mixed = compose([one, ZeroConcentratedDP("0.02")], delta=delta).epsilon
    assert mixed == pytest.approx(float(epsilon_of(ZeroConcentratedDP("0.03"), delta)), rel=1e-5)
    # beside charges with a delta, which come off it
    assert compose([one, ApproxDP("1/10", "5e-7")], delta=delta).delta == delta


def test_distances_that_use_up_delta_leave_zcdp():
    delta = Fraction(1, 10**6)
    far = GaussianDP("0.02", "1e-6")
    assert compose([far], delta=delta).epsilon == rounded_up(epsilon_of(ZeroConcentratedDP("0.01"), delta))


def test_deltas_that_use_up_the_delta_are_refused():
    with pytest.raises(ParameterError, match="use up"):
        compose([ApproxDP(1, "1e-6"), ApproxDP(1, "1e-6")], delta=Fraction(1, 10**6))


def test_deltas_add_up_where_none_is_asked_for():
    assert compose([ApproxDP(1, "1e-6"), PureDP(1)]) == ApproxDP(2, "1e-6")
    assert compose([ApproxDP(1, "1e-6"), ZeroConcentratedDP("1/2")]).delta == Fraction(2, 10**6)


@pytest.mark.parametrize(
    ("charge", "other", "expected"),
    [
        (PureDP(1), PureDP(1), True),
        (PureDP(1), PureDP("1.1"), False),
        (PureDP(9), ZeroConcentratedDP("0.01"), False),
        (ZeroConcentratedDP("0.5"), PureDP(1), True),
        (ZeroConcentratedDP("0.49"), PureDP(1), False),
        (ZeroConcentratedDP(1), ZeroConcentratedDP(2), False),
        (ZeroConcentratedDP(1), ApproxDP("0.1", "1e-9"), False),
        (ApproxDP(1, "1e-6"), PureDP(1), True),
        (ApproxDP(1, "1e-6"), ApproxDP(1, "1e-7"), True),
        (ApproxDP(1, "1e-6"), ApproxDP("0.5", "1e-5"), False),
        (ApproxDP(3, "1e-6"), ZeroConcentratedDP("0.1"), True),
        (ApproxDP(3, "1e-6"), ZeroConcentratedDP(1), False),
        (GaussianDP(1, "1e-9"), GaussianDP(1, "1e-9"), True),
        (GaussianDP(1, "1e-9"), GaussianDP("0.9", "1e-8"), False),
        (GaussianDP(1, "1e-9"), GaussianDP("1.1", "1e-9"), False),
        (GaussianDP("1.6"), PureDP(1), True),
        (GaussianDP("1.5"), PureDP(1), False),
        (GaussianDP(81), PureDP("9.1"), False),
        (GaussianDP(1), ZeroConcentratedDP("0.01"), False),
        (GaussianDP(1), ApproxDP("0.01", "1e-9"), False),
        (ZeroConcentratedDP("0.5"), GaussianDP(1, "1e-9"), True),
        (ZeroConcentratedDP("0.49"), GaussianDP(1, "1e-9"), False),
        (PureDP(9), GaussianDP("0.01"), False),
        (ApproxDP(1, "1e-6"), GaussianDP("0.05", "1e-12"), True),
        (ApproxDP(1, "1e-6"), GaussianDP("0.057"), False),
        (ApproxDP(1, "1e-6"), GaussianDP("0.05", "1e-6"), False),
    ],
)
def test_a_charge_stands_for_no_less(charge, other, expected):
    assert at_least(charge, other) is expected


@pytest.mark.parametrize(
    "charges",
    [
        [PureDP("1e9"), ZeroConcentratedDP(1)],
        [PureDP(710), PureDP("1e-100")],
        [ApproxDP("1e-6", "0.999999999999"), PureDP("1e-6")],
        [ApproxDP(1, "0." + "9" * 3000)],
        [PureDP("1e-6"), PureDP("1e-6")],
    ],
    ids=str,
)
@pytest.mark.parametrize("delta", [Fraction(1, 10**6), Fraction(1, 2), 1 - Fraction(1, 10**13)])
def test_losses_at_the_end_of_floating_point_add_up_or_are_refused_in_one_line(charges, delta):
    if sum(charge.delta for charge in charges if isinstance(charge, ApproxDP)) >= delta:
        with pytest.raises(ParameterError, match="use up delta"):
            compose(charges, delta=delta)
    else:
        total = compose(charges, delta=delta)
        assert total.delta == delta
        assert total.epsilon > 0
    assert most_repeats(Fraction(710), Fraction(1), Fraction(1, 2)) == 0
