import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.accounting import as_concentrated, covers, group_loss, larger_loss, total_loss
from ogive.errors import ParameterError, UnsupportedError
from ogive.privacy import ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP
from ogive.strategies.composed import largest_loss

PURE, CONCENTRATED, APPROXIMATE, GAUSSIAN = (
    PureDP("1/2"),
    ZeroConcentratedDP("1/10"),
    ApproxDP("1/4", "1/1000"),
    GaussianDP("1/5", "1/100000"),
)


def test_a_single_loss_with_a_delta_is_itself():
    assert total_loss([APPROXIMATE]) == APPROXIMATE
    assert larger_loss(APPROXIMATE, APPROXIMATE) == APPROXIMATE
    assert group_loss(APPROXIMATE, 1) == APPROXIMATE


def test_losses_with_deltas_add_up_by_basic_composition():
    assert total_loss([APPROXIMATE, PURE, APPROXIMATE]) == ApproxDP(1, "1/500")
    assert total_loss([PURE, APPROXIMATE]) == ApproxDP("3/4", "1/1000")


@pytest.mark.parametrize("other", [CONCENTRATED, GAUSSIAN])
def test_losses_with_deltas_and_noisy_ones_do_not_mix(other):
    for join in (total_loss, largest_loss, lambda both: larger_loss(*both)):
        for order in ([APPROXIMATE, other], [other, APPROXIMATE]):
            with pytest.raises(UnsupportedError, match=r"cannot be added to a (zCDP|Gaussian) one"):
                join(order)


def test_a_loss_with_a_delta_is_not_concentrated():
    with pytest.raises(UnsupportedError, match="implies no zCDP guarantee"):
        as_concentrated(APPROXIMATE)


def test_deltas_that_add_up_to_one_guarantee_nothing():
    with pytest.raises(ParameterError, match="add up to 1 or more"):
        total_loss([ApproxDP(1, "3/5"), ApproxDP(1, "2/5")])
    with pytest.raises(ParameterError, match="add up to 1 or more"):
        group_loss(ApproxDP(10, "1e-299"), 1000)


def test_the_larger_of_two_losses_has_the_larger_epsilon_and_delta():
    assert larger_loss(PURE, APPROXIMATE) == ApproxDP("1/2", "1/1000")
    assert larger_loss(ApproxDP(1, "1/9"), ApproxDP(2, "1/10")) == ApproxDP(2, "1/9")
    assert largest_loss([APPROXIMATE, PURE, ApproxDP("1/3", "1/100")]) == ApproxDP("1/2", "1/100")


def test_one_loss_with_a_delta_covers_another_iff_both_numbers_do():
    assert covers(ApproxDP("1/4", "1/1000"), APPROXIMATE)
    assert not covers(ApproxDP("1/5", "1/1000"), APPROXIMATE)
    assert not covers(ApproxDP("1/4", "1/1001"), APPROXIMATE)


@pytest.mark.parametrize("granted", [PureDP(100), ZeroConcentratedDP(100)])
def test_no_other_guarantee_covers_a_loss_with_a_delta(granted):
    assert not covers(granted, APPROXIMATE)


@settings(max_examples=80, deadline=None)
@given(st.floats(1e-6, 3), st.integers(2, 40), st.floats(1e-12, 1e-9))
def test_deltas_of_groups_are_geometric_sums_rounded_up(epsilon, size, delta):
    wanted = Fraction(delta) * sum(Fraction(math.exp(step * epsilon)) for step in range(size))
    if wanted >= 1:
        return
    found = group_loss(ApproxDP(Fraction(epsilon), Fraction(delta)), size)
    assert isinstance(found, ApproxDP)
    assert found.epsilon == size * Fraction(epsilon)
    assert wanted <= found.delta * (1 + Fraction(1, 10**12))
    assert float(found.delta) == pytest.approx(float(wanted), rel=2e-9)


def leaky(epsilon, delta):
    """Randomized response that tells everything with probability delta: a worst case for two inputs."""
    told = (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    return [[delta, told, 1 - delta - told, 0.0], [0.0, 1 - delta - told, told, delta]]


def test_groups_of_a_leaky_response_keep_what_is_promised():
    epsilon, delta, size = 0.5, 0.01, 3
    rows = leaky(epsilon, delta)
    for one, other in itertools.product(rows, rows):
        assert sum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(one, other, strict=True)) <= delta + 1e-12
    # three records of one person, each of which moves to the other value
    found = group_loss(ApproxDP(epsilon, delta), size)
    together = 0.0
    for outputs in itertools.product(range(4), repeat=size):
        p, q = math.prod(rows[0][o] for o in outputs), math.prod(rows[1][o] for o in outputs)
        together += max(0.0, p - math.exp(float(found.epsilon)) * q)
    assert together <= float(found.delta)
    # the deltas' plain sum is less than what the group is charged
    assert float(found.delta) > size * delta
