import math

import pytest

from ogive.accounting import epsilon_of
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.provenance import Provenance
from ogive.report.totals import Total, as_replacement, totals
from ogive.report.words import IMPLIED_DELTA


def origin(privacy, release_id="a1", adjacency=Adjacency.REPLACE, person=None, rows=1):
    return Provenance(
        release_id=release_id,
        statistic="ecdf",
        method="tree_ls",
        privacy=privacy,
        price=None if privacy is None else PureDP(1),
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
    assert totals(mixed) == (Total((expected,), PrivacyUnit(Adjacency.REPLACE), 2),)
    (alone,) = totals(mixed[:1])
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
    assert totals(single) == (Total((PureDP(9),), PrivacyUnit(swap, "id"), 2),)


def test_two_types_side_by_side_imply_one_guarantee_for_everything():
    (total,) = totals([origin(ApproxDP(1, "1e-6"), "a"), origin(ZeroConcentratedDP("0.1"), "b")])
    implied = epsilon_of(ZeroConcentratedDP("0.1"), IMPLIED_DELTA)
    assert total.together == ApproxDP(1 + implied, "2e-6")
    (alone,) = totals([origin(PureDP(1), "a")])
    assert alone.together == PureDP(1)
