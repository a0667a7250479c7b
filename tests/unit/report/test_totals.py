import math
from fractions import Fraction

import pytest

from ogive.accounting import epsilon_of, epsilon_of_gaussian, gaussian_mu
from ogive.privacy import Adjacency, ApproxDP, GaussianDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.provenance import Provenance
from ogive.report.budget import Total, as_replacement, totals
from ogive.report.page import _total_words
from ogive.showing.words import IMPLIED_DELTA


def origin(privacy, release_id="a1", adjacency=Adjacency.REPLACE, person=None, rows=1, price=PureDP(1)):  # noqa: B008
    return Provenance(
        release_id=release_id,
        statistic="ecdf",
        method="tree_ls",
        privacy=privacy,
        price=None if privacy is None else price,
        adjacency=adjacency,
        trust="clear" if privacy is None else "central",
        assumption="Someone is trusted.",
        person=person,
        max_rows_per_person=rows,
    )


def test_prices_of_distinct_releases_add_up_and_a_release_shown_twice_counts_once():
    shown = [origin(PureDP("0.4"), "a1"), origin(PureDP("0.6"), "b2"), origin(PureDP("0.4"), "a1"), origin(None, "c3")]
    assert totals(shown) == (Total((PureDP(1),), PrivacyUnit(Adjacency.REPLACE), 2),)
    assert totals([origin(None)]) == ()


def test_concentrated_releases_take_pure_ones_in():
    (total,) = totals([origin(PureDP(1), "a1"), origin(ZeroConcentratedDP("0.5"), "b2")])
    assert total.losses == (ZeroConcentratedDP(1),)


def test_approximate_and_concentrated_totals_stay_side_by_side():
    granted = (ApproxDP(1, "1e-6"), PureDP(1), ApproxDP("0.5", "1e-6"), ZeroConcentratedDP("0.1"))
    (total,) = totals([origin(loss, f"{i}") for i, loss in enumerate(granted)])
    assert total.losses == (ApproxDP("2.5", "2e-6"), ZeroConcentratedDP("0.1"))


@pytest.mark.parametrize(
    ("loss", "expected"),
    [(PureDP(1), PureDP(3)), (ZeroConcentratedDP(1), ZeroConcentratedDP("4.5"))],
    ids=["pure", "concentrated"],
)
def test_mixed_adjacencies_are_priced_for_a_record_replaced(loss, expected):
    # one record replaced is one removed and one added, so an add-or-remove guarantee counts twice (squared: four times)
    mixed = [origin(loss, "a1", Adjacency.ADD_OR_REMOVE), origin(PureDP(1), "b2")]
    assert totals(mixed) == (Total((expected,), PrivacyUnit(Adjacency.REPLACE), 2, mixed=True),)
    said = "hide whether a record is in the data count twice here"
    assert said in " ".join(map(str, _total_words(totals(mixed)[0], alone=True)))
    (alone,) = totals(mixed[:1])
    assert said not in " ".join(map(str, _total_words(alone, alone=True)))
    assert (alone.losses, alone.unit.adjacency) == ((loss,), Adjacency.ADD_OR_REMOVE)


def test_an_approximate_guarantee_for_two_steps_has_its_group_delta():
    doubled = as_replacement(ApproxDP(1, "1e-6"))
    assert doubled.epsilon == 2
    assert 1e-6 * (1 + math.e) <= float(doubled.delta) < 1e-6 * (1 + math.e) * 1.0001
    assert as_replacement(ApproxDP(900, "0.5")).delta < 1


def test_guarantees_for_records_and_for_persons_do_not_add_up():
    away = Adjacency.ADD_OR_REMOVE
    shown = [origin(PureDP(1), "a", away), origin(PureDP(2), "b", away, "id", 3), origin(PureDP(4), "c", away, "id", 5)]
    records, persons = totals(shown)
    assert records == Total((PureDP(1),), PrivacyUnit(away), 1)
    assert persons == Total((PureDP(6),), PrivacyUnit(away, "id", 5), 2)


def test_a_person_with_several_rows_is_never_replaced():
    away, swap = Adjacency.ADD_OR_REMOVE, Adjacency.REPLACE
    shown = [
        origin(PureDP(1), "a", swap, "id"),
        origin(PureDP(2), "b", away, "id", 3),
        origin(PureDP(4), "c", away, "id"),
    ]
    assert totals(shown) == (
        Total((PureDP(1),), PrivacyUnit(swap, "id"), 1),
        Total((PureDP(6),), PrivacyUnit(away, "id", 3), 2),
    )
    single = [shown[0], shown[2]]
    assert totals(single) == (Total((PureDP(9),), PrivacyUnit(swap, "id"), 2, mixed=True),)


def test_two_types_side_by_side_imply_one_guarantee_for_everything():
    (total,) = totals([origin(ApproxDP(1, "1e-6"), "a"), origin(ZeroConcentratedDP("0.1"), "b")])
    implied = epsilon_of(ZeroConcentratedDP("0.1"), IMPLIED_DELTA)
    assert total.together == ApproxDP(1 + implied, "2e-6")
    (alone,) = totals([origin(PureDP(1), "a")])
    assert alone.together == PureDP(1)


HALF = ApproxDP("0.5", "1e-6")


def gaussian(granted, part=1):
    return GaussianDP(part * Fraction(gaussian_mu(granted.epsilon, granted.delta)) ** 2, "1e-16")


def test_approximate_guarantees_of_gaussian_noise_add_up_as_their_noise_does():
    loss = gaussian(HALF, Fraction(999, 1000))
    (total,) = totals([origin(HALF, name, price=loss) for name in "abc"])
    (together,) = total.losses
    assert together.delta == Fraction("3e-6")
    exact = epsilon_of_gaussian(GaussianDP(3 * loss.mu_squared, 3 * loss.distance), Fraction("3e-6"))
    assert exact <= together.epsilon <= exact * Fraction(100_001, 100_000)
    assert together.epsilon < Fraction("0.9")
    # beside others, whose epsilons and deltas add to theirs
    shown = [origin(HALF, name, price=loss) for name in "abc"]
    others = [origin(PureDP("0.1"), "d"), origin(ApproxDP("0.2", "1e-7"), "e", price=ZeroConcentratedDP("0.001"))]
    (total,) = totals([*shown, *others])
    assert total.losses == (ApproxDP(together.epsilon + Fraction("0.3"), "3.1e-6"),)


def test_one_gaussian_release_costs_what_was_granted():
    (total,) = totals([origin(HALF, price=gaussian(HALF, Fraction(1, 2)))])
    assert total.losses == (HALF,)


def test_gaussian_releases_of_another_adjacency_count_as_two_steps():
    loss = gaussian(HALF, Fraction(999, 1000))
    shown = [origin(HALF, "a", Adjacency.ADD_OR_REMOVE, price=loss), origin(HALF, "b", price=loss)]
    ((together,),) = [total.losses for total in totals(shown)]
    delta = as_replacement(HALF).delta + HALF.delta
    exact = epsilon_of_gaussian(GaussianDP(5 * loss.mu_squared, 2 * loss.distance), delta)
    assert together.delta == delta
    assert exact <= together.epsilon <= exact * Fraction(100_001, 100_000)


def test_where_gaussian_noise_says_nothing_guarantees_add_up():
    far = GaussianDP("0.01", "1e-3")
    (total,) = totals([origin(HALF, name, price=far) for name in "ab"])
    assert total.losses == (ApproxDP(1, "2e-6"),)
    wide = ApproxDP(1, "0.6")
    (total,) = totals([origin(wide, name, price=GaussianDP("0.01")) for name in "ab"])
    assert total.losses[0].epsilon == 2
