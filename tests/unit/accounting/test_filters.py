"""An account's limit holds although every charge may be chosen after looking at all earlier answers."""

import math
import re
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from helpers.scope import size
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.accounting import compose, covers, fits, gaussian_mu, gaussian_rho, mismatch, remaining
from ogive.accounting.composition import most_repeats, shares
from ogive.accounting.losses import rounded_down, rounded_up
from ogive.errors import unmarked
from ogive.privacy import ApproxDP, GaussianDP, PureDP, ZeroConcentratedDP

EPSILONS = st.fractions(Fraction(1, 50), 2, max_denominator=50)


def worst_delta(menu, epsilon, allowed, *, depth):
    """The delta at epsilon of the best adversary who chooses every charge after seeing all answers.

    Each release is the worst one of its charge, a randomized response, and `allowed` says which lists of
    charges the account admits. The exact value by going through all answers; the first charge is chosen
    before any.
    """

    @cache
    def best(charges, log_p, log_q):
        # what it gains by stopping here
        gain = max(0.0, math.exp(log_p) - math.exp(epsilon + log_q))
        if len(charges) == depth:
            return gain
        for step in menu:
            longer = (*charges, step)
            if not allowed(longer):
                continue
            told = -math.log1p(math.exp(-float(step)))
            lied = -math.log1p(math.exp(float(step)))
            gain = max(gain, best(longer, log_p + told, log_q + lied) + best(longer, log_p + lied, log_q + told))
        return gain

    return best((), 0.0, 0.0)


ADAPTIVE = [
    (("1/4", "1/2", 1), ApproxDP(2, "1/20"), 8),
    (("1/2", "3/2"), ApproxDP("5/2", "1/10"), 8),
    (("1/3", "2/3", "4/3"), ApproxDP(2, "1/5"), 7),
]


@pytest.mark.parametrize(("menu", "limit", "depth"), ADAPTIVE, ids=["quarters", "halves", "thirds"])
def test_no_adaptive_adversary_beats_the_limit(menu, limit, depth):
    menu = tuple(Fraction(step) for step in menu)

    @cache
    def allowed(charges):
        return fits(limit, [PureDP(step) for step in charges])

    worst = worst_delta(menu, float(limit.epsilon), allowed, depth=depth)
    assert 0 < worst <= float(limit.delta)


def test_the_best_price_of_each_list_is_no_limit_for_adaptive_charges():
    # the control, and the reason for dividing delta: each list of charges keeps the limit, all together do not
    limit = ApproxDP("5/2", "1/10")
    menu = tuple(Fraction(n, 4) for n in (2, 3, 4, 6))

    @cache
    def allowed(charges):
        return compose([PureDP(step) for step in charges], delta=limit.delta).epsilon <= limit.epsilon

    assert worst_delta(menu, float(limit.epsilon), allowed, depth=6) > float(limit.delta)


@settings(max_examples=size(50, part=20), deadline=None)
@given(EPSILONS, st.sampled_from([ApproxDP(1, "1e-6"), ApproxDP(3, "1e-5"), ApproxDP(5, "1e-9")]))
def test_shares_never_exceed_the_delta(first, limit):
    for charge in (PureDP(first), ZeroConcentratedDP(first), ApproxDP(first, "1e-7"), ApproxDP(first, "1e-5")):
        divided = shares(limit, charge)
        assert divided.sums + divided.concentrated + divided.repeats <= limit.delta
        assert (divided.most > 0) == (divided.repeats > 0)


LIMITS = [PureDP(3), ZeroConcentratedDP("1/2"), ApproxDP(3, "1e-6")]


@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_a_fresh_account_grants_its_whole_limit(limit):
    assert fits(limit, [])
    assert remaining(limit, []) == limit
    assert fits(limit, [limit])
    if isinstance(limit, ApproxDP):
        assert fits(limit, [gaussian_rho(limit)])
        assert fits(limit, [PureDP(limit.epsilon)])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.booleans(), EPSILONS), min_size=1, max_size=6), st.sampled_from(LIMITS))
def test_what_remains_fits_and_much_more_does_not(choices, limit):
    charges = [ZeroConcentratedDP(part / 20) if concentrated else PureDP(part / 5) for concentrated, part in choices]
    if any(mismatch(limit, charge) for charge in charges):
        assert not fits(limit, charges)
        return
    if not fits(limit, charges):
        return
    left = remaining(limit, charges)
    more = Fraction(10_001, 10_000)
    match left:
        case None:
            assert not fits(limit, [*charges, PureDP("1/1000")])
        case PureDP():
            assert fits(limit, [*charges, left])
            assert not fits(limit, [*charges, PureDP(left.epsilon * more)])
        case ZeroConcentratedDP():
            assert fits(limit, [*charges, left])
            assert not fits(limit, [*charges, ZeroConcentratedDP(left.rho * more)])
        case ApproxDP():
            assert fits(limit, [*charges, PureDP(left.epsilon)])
            assert fits(limit, [*charges, gaussian_rho(left)])
            larger = ApproxDP(left.epsilon * more, left.delta)
            exact = GaussianDP(Fraction(gaussian_mu(larger.epsilon, larger.delta)) ** 2)
            each = [gaussian_rho(larger), PureDP(larger.epsilon), exact]
            assert not all(fits(limit, [*charges, charge]) for charge in each)


def test_counting_equal_charges_admits_more_than_their_sum_and_than_zcdp():
    limit = ApproxDP(5, "1e-6")
    charges = [PureDP("1/5")] * 28
    assert fits(limit, charges)
    assert not fits(limit, [ZeroConcentratedDP("1/1000000"), *charges])
    divided = shares(limit, PureDP("1/5"))
    assert fits(limit, charges[:1] * divided.most)
    assert not fits(limit, charges[:1] * (divided.most + 1))


def most(accepts):
    count = 1
    while accepts(count):
        count += 1
    return count - 1


@pytest.mark.parametrize(
    ("limit", "each", "printed"),
    [
        (ApproxDP(5, "1e-6"), "1/2", (10, 3, 10, 10)),
        (ApproxDP(5, "1e-6"), "1/5", (25, 23, 29, 29)),
        (ApproxDP(5, "1e-6"), "1/10", (50, 92, 108, 102)),
        (ApproxDP(3, "1e-6"), "1/20", (60, 148, 170, 160)),
    ],
)
def test_the_table_of_the_manual(limit, each, printed):
    page = (Path(__file__).parents[3] / "docs" / "ledger.md").read_text()
    row = f"| epsilon = {limit.epsilon}, delta = 1e-6 | {each} | {' | '.join(map(str, printed))} |"
    assert row in page
    charge = PureDP(each)
    assert printed == (
        int(limit.epsilon / charge.epsilon),
        most(lambda count: covers(limit, ZeroConcentratedDP(count * charge.epsilon**2 / 2))),
        most_repeats(charge.epsilon, limit.epsilon, limit.delta),
        most(lambda count: fits(limit, [charge] * count)),
    )


def test_a_first_charge_that_was_raised_changes_no_shares():
    limit = ApproxDP(5, "1e-6")
    raised = [PureDP("2/5"), *[PureDP("1/5")] * 27]
    assert not fits(limit, raised, first=PureDP("1/5"))
    assert not fits(limit, [PureDP("1/5")] * 28, first=PureDP("1/10"))
    assert fits(limit, [PureDP("1/5")] * 28, first=PureDP("1/5"))


def test_charges_with_a_delta_add_up():
    limit = ApproxDP(3, "3e-6")
    assert fits(limit, [ApproxDP(1, "1e-6")] * 3)
    assert not fits(limit, [ApproxDP(1, "1e-6")] * 4)
    assert not fits(limit, [ApproxDP("1/10", "1.6e-6")] * 2)
    # a tenth of the delta is kept for them where the first charge has none
    assert fits(limit, [PureDP(1), ApproxDP(1, "3e-7")])
    assert not fits(limit, [PureDP(1), ApproxDP(1, "4e-7")])
    assert fits(limit, [ApproxDP("1/10", "1e-7"), ZeroConcentratedDP("1/100"), PureDP("1/10")])


@pytest.mark.parametrize(
    ("limit", "charge", "words"),
    [
        (PureDP(1), ZeroConcentratedDP("1/100"), r"pure epsilon.*use PureDP"),
        (PureDP(1), ApproxDP("1/100", "1e-9"), r"pure epsilon.*use PureDP"),
        (ZeroConcentratedDP(1), ApproxDP("1/100", "1e-9"), r"zCDP.*use ZeroConcentratedDP"),
    ],
)
def test_charges_of_a_type_that_never_fits_are_named(limit, charge, words):
    reason = mismatch(limit, charge)
    assert reason is not None
    assert "\n" not in reason
    assert re.search(words, unmarked(reason))
    assert not fits(limit, [charge])


@given(st.fractions(Fraction(1, 10**9), 10**9))
def test_rounding_to_six_digits_goes_where_it_says(value):
    low, high = rounded_down(value), rounded_up(value)
    assert low <= value <= high
    assert high - low <= value * Fraction(11, 10**6)
    assert float(f"{float(low):.6g}") == float(low)
