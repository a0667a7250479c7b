"""What an account is charged for a measurement, as far as it depends on those before."""

from itertools import pairwise

import pytest

from ogive.accounting import at_least
from ogive.privacy import ApproxDP, PureDP, ZeroConcentratedDP
from ogive.queries import LinearQuery
from ogive.releasing.release import charge_for

GRANTED = ApproxDP(1, "1e-6")
LINEAR = object.__new__(LinearQuery)


@pytest.mark.parametrize("losses", [("0.01", "0.02", "0.025"), ("0.02", "0.001"), ("0.01", "0.01")])
def test_a_later_measurement_is_charged_as_long_as_those_before_do_not_cover_it(losses):
    charges, before = [], None
    for rho in losses:
        loss = ZeroConcentratedDP(rho)
        before = charge_for(GRANTED, loss, LINEAR, before=before)
        assert at_least(before, loss)
        charges.append(before)
    assert all(at_least(later, earlier) for earlier, later in pairwise(charges))
    assert charges[-1] == ZeroConcentratedDP(max(map(float, losses)))


def test_a_pure_measurement_is_charged_as_all_that_may_follow_it():
    first = charge_for(GRANTED, PureDP("0.1"), LINEAR)
    assert first == PureDP(1)
    assert charge_for(GRANTED, PureDP("0.9"), LINEAR, before=first) == first
