import math
from fractions import Fraction

import pytest

from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP
from ogive.provenance import Provenance
from ogive.report import words


def origin(privacy, release_id="a1", adjacency=Adjacency.REPLACE):
    return Provenance(
        release_id=release_id,
        statistic="ecdf",
        method="tree_ls",
        privacy=privacy,
        price=None if privacy is None else PureDP(1),
        adjacency=adjacency,
        trust="clear" if privacy is None else "central",
        assumption="Someone is trusted.",
    )


def test_prices_of_distinct_releases_add_up_and_a_release_shown_twice_counts_once():
    shown = [origin(PureDP("0.4"), "a1"), origin(PureDP("0.6"), "b2"), origin(PureDP("0.4"), "a1"), origin(None, "c3")]
    assert words.total_price(shown) == ((PureDP(1),), Adjacency.REPLACE)
    assert words.total_price([origin(None)]) == ((), Adjacency.REPLACE)


def test_concentrated_releases_take_pure_ones_in():
    losses, _ = words.total_price([origin(PureDP(1), "a1"), origin(ZeroConcentratedDP("0.5"), "b2")])
    assert losses == (ZeroConcentratedDP(1),)


def test_approximate_and_concentrated_totals_stay_side_by_side():
    granted = (ApproxDP(1, "1e-6"), PureDP(1), ApproxDP("0.5", "1e-6"), ZeroConcentratedDP("0.1"))
    losses, _ = words.total_price([origin(loss, f"{i}") for i, loss in enumerate(granted)])
    assert losses == (ApproxDP("2.5", "2e-6"), ZeroConcentratedDP("0.1"))


@pytest.mark.parametrize(
    ("loss", "expected"),
    [(PureDP(1), PureDP(3)), (ZeroConcentratedDP(1), ZeroConcentratedDP("4.5"))],
    ids=["pure", "concentrated"],
)
def test_mixed_adjacencies_are_priced_for_a_record_replaced(loss, expected):
    # one record replaced is one removed and one added, so an add-or-remove guarantee counts twice (squared: four times)
    mixed = [origin(loss, "a1", Adjacency.ADD_OR_REMOVE), origin(PureDP(1), "b2")]
    assert words.total_price(mixed) == ((expected,), Adjacency.REPLACE)
    alone = words.total_price(mixed[:1])
    assert alone == ((loss,), Adjacency.ADD_OR_REMOVE)


def test_an_approximate_guarantee_for_two_steps_has_its_group_delta():
    doubled = words.as_replacement(ApproxDP(1, "1e-6"))
    assert doubled.epsilon == 2
    assert 1e-6 * (1 + math.e) <= float(doubled.delta) < 1e-6 * (1 + math.e) * 1.0001
    assert words.as_replacement(ApproxDP(900, "0.5")).delta < 1


def test_the_factor_is_never_understated():
    for epsilon in (Fraction(1, 1000), Fraction(2, 5), Fraction(1), Fraction(5), Fraction(12)):
        shown = float(words.factor(epsilon).replace(",", ""))
        assert math.exp(epsilon) <= shown <= math.exp(epsilon) * 1.02


@pytest.mark.parametrize("adjacency", list(Adjacency), ids=lambda member: member.value)
def test_the_promise_names_its_unit_and_its_factor(adjacency):
    said = words.promise(PureDP("0.4"), adjacency)
    assert "1.50 times" in said
    assert ("different values" in said) == (adjacency is Adjacency.REPLACE)
    assert ("missing" in said) == (adjacency is Adjacency.ADD_OR_REMOVE)
    assert "added chance of at most 1 in 333." in words.promise(ApproxDP(1, "0.003"), adjacency)
    assert "1 in 1,000,000" in words.promise(ZeroConcentratedDP("0.1"), adjacency)


def test_differences_are_rounded_up():
    assert words.points(0.00187) == "0.19 percentage points"
    assert words.points(0.0181) == "1.9 percentage points"
    assert words.points(0.0) == "0 percentage points"
    assert words.points(0.5) == "50 percentage points"
    assert words.in_a_thousand(0.0011) == "2 in 1,000"
    assert words.in_a_thousand(0.00031) == "4 in 10,000"
    assert words.in_a_thousand(1e-12) == "1 in 1,000,000"


def test_places_of_a_percentage_follow_its_uncertainty():
    assert words.percent(0.1234, words.digits(0.011)) == "12.3 %"
    assert words.percent(0.1234, words.digits(0.0011)) == "12.34 %"
    assert words.percent(0.25) == "25 %"
    assert words.percent(0.3) == "30 %"


def test_amounts_that_do_not_end_are_rounded_up():
    assert words.amount(PureDP("0.1")) == "epsilon = 0.1"
    shown = words.amount(PureDP("1/3")).removeprefix("epsilon = ")
    assert Fraction(1, 3) < Fraction(shown) < Fraction(1, 3) * Fraction(100001, 100000)
    assert words.amount(ApproxDP(1, "1e-9")) == "epsilon = 1, delta = 1e-09"
    assert "rho = 0.5" in words.amount(ZeroConcentratedDP("0.5"))


def test_the_public_number_of_records_is_named_only_where_it_is_public():
    names = [name for name, _ in words.limits([Adjacency.ADD_OR_REMOVE])]
    assert "The number of records is public." not in names
    assert "The number of records is public." in [name for name, _ in words.limits([Adjacency.REPLACE])]
    for needed in ("Bounds and thresholds are public.", "One record per person.", "Releases add up."):
        assert needed in names


def test_every_strategy_and_smoothing_has_words():
    from ogive.smoothing import SMOOTHINGS
    from ogive.statistics.methods import METHODS

    assert set(METHODS) <= set(words.METHODS)
    assert set(SMOOTHINGS) <= set(words.SMOOTHINGS)
