"""Curves of people: price, meaning, error beside that of one row each, and bands for the population."""

import functools
import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size

import ogive
from ogive.accounting import covers
from ogive.columns.grids import Grid
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.noise import DiscreteGaussian, DiscreteLaplace, KeyedSource
from ogive.privacy import Adjacency, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.statistics import Ecdf
from ogive.statistics.curve import bands
from ogive.statistics.curve.approximating import simultaneous_band
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.methods.choose import PEOPLE_METHODS, candidates
from ogive.strategies import CountedPeople, SummedStrategies, design_histogram, design_path, strategy_from_dict
from ogive.strategies.composed import PERSON_UNITS

REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE
PURE, CONCENTRATED = PureDP(1), ZeroConcentratedDP("0.1")
AGES = Ecdf("age", grid=Grid.integers(0, 9), counted="people")


def visits(people, seed, *, alike=0.0):
    """Skewed numbers of visits, mean 2 and at most 16; a row is the person's own with probability `alike`."""
    rng = np.random.default_rng(seed)
    rows = np.minimum(rng.geometric(0.5, people), 16)
    who = np.repeat(np.arange(people), rows)
    own = np.repeat(rng.integers(0, 10, people), rows)
    age = np.where(rng.random(len(who)) < alike, own, rng.integers(0, 10, len(who)))
    return {"who": who, "age": age}


def released(table, *, statistic=AGES, privacy=PURE, adjacency=REPLACE, seed=1, most=1):
    trust = ogive.Central(table, person="who", max_rows_per_person=most)
    return ogive.release(
        statistic, trust=trust, privacy=privacy, adjacency=adjacency, source=KeyedSource.from_seed(seed)
    )


def exact(table, statistic=AGES):
    return ogive.release(statistic, trust=ogive.Clear(table, person="who"))


def strategy_of(method, adjacency, size=3):
    grant = CONCENTRATED if method in ("sqrt", "ring") else PURE
    (found, *_) = candidates(size, grant, adjacency, method, rows=PERSON_UNITS)
    return CountedPeople(found), grant


def largest_loss(strategy, changes):
    """The exact loss of the worst change of the histogram of units, per unit of privacy."""
    laws = [level.law for level in strategy.levels for _ in range(level.nodes)]
    worst = Fraction(0)
    for change in changes:
        moved = strategy.measure(np.array(change, dtype=np.int64))
        if isinstance(laws[0], DiscreteLaplace):
            worst = max(worst, sum(Fraction(abs(int(m))) / law.scale for m, law in zip(moved, laws, strict=True)))
        else:
            worst = max(
                worst, sum(Fraction(int(m)) ** 2 / (2 * law.sigma**2) for m, law in zip(moved, laws, strict=True))
            )
    return worst


def shares(parts=4):
    """Divisions of a person's units between three bins."""
    step = PERSON_UNITS // parts
    for first, second in itertools.product(range(parts + 1), repeat=2):
        if first + second <= parts:
            yield step * np.array([first, second, parts - first - second])


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("method", ["tree_ls", "hat_ls", "sqrt", "ring"])
def test_no_person_costs_more_than_the_price_and_some_person_costs_it(method, adjacency):
    strategy, grant = strategy_of(method, adjacency)
    people = list(shares())
    changes = people if adjacency is ADD else [one - other for one, other in itertools.product(people, repeat=2)]
    loss = strategy.loss(adjacency)
    price = loss.epsilon if isinstance(loss, PureDP) else loss.rho
    worst = largest_loss(strategy, changes)
    assert worst <= price
    assert worst >= price * Fraction(99, 100)
    assert covers(grant, loss)
    # a person with one unit more would cost more than is granted
    more = [change * (PERSON_UNITS + 8) // PERSON_UNITS for change in changes]
    assert largest_loss(strategy, more) > price * Fraction(99, 100)
    assert largest_loss(strategy, [2 * change for change in changes]) > price


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("method", PEOPLE_METHODS)
def test_noise_is_that_of_one_row_each(method, adjacency):
    people, grant = strategy_of(method, adjacency, 64)
    (one, *_) = candidates(64, grant, adjacency, method)
    known = adjacency is REPLACE
    ratio = np.sqrt(people.variance(total_known=known).mean() / one.variance(total_known=known).mean())
    assert 0.99 <= ratio <= 1.02
    assert isinstance(one.levels[0].law, DiscreteLaplace | DiscreteGaussian)


def test_the_curve_is_the_mean_of_the_people_s_own_curves():
    table = {"who": ["a", "a", "a", "b"], "age": [0, 0, 3, 9]}
    found = exact(table)
    np.testing.assert_allclose(found.probabilities, [1 / 3] * 3 + [1 / 2] * 6 + [1])
    assert (found.total, found.people, found.rows_of_one) == (2, True, 1)
    rows = exact(table, Ecdf("age", grid=Grid.integers(0, 9)))
    assert rows.probabilities[3] in (0.5, 1)  # one row of a person is kept


@pytest.mark.parametrize(
    ("privacy", "adjacency"), [(PURE, REPLACE), (PURE, ADD), (CONCENTRATED, REPLACE), (CONCENTRATED, ADD)]
)
def test_skewed_visits_cost_no_more_than_one_row_each(privacy, adjacency):
    people, rows = [], []
    statistic = Ecdf("age", grid=Grid.integers(0, 9), method="hat_ls", smooth="isotonic")
    for seed in range(size(60, part=20)):
        table = visits(500, seed)
        counted = Ecdf("age", grid=Grid.integers(0, 9), method="hat_ls", smooth="isotonic", counted="people")
        truth = np.arange(1, 11) / 10
        for found, asked in ((people, counted), (rows, statistic)):
            curve = released(table, statistic=asked, privacy=privacy, adjacency=adjacency, seed=seed)
            found.append(np.mean((curve.probabilities - truth) ** 2))
    assert np.sqrt(np.mean(people)) <= 1.2 * np.sqrt(np.mean(rows))
    # rows that all count alone are charged sixteen times
    table = visits(500, 1)
    many = released(table, statistic=statistic, adjacency=ADD, most=16)
    assert many.rmse() > 4 * released(table, statistic=statistic, adjacency=ADD).rmse()


def test_what_was_dropped_before_is_counted_now_and_the_limit_has_no_effect():
    table = visits(300, 3)
    one, many = (released(table, adjacency=ADD, most=most) for most in (1, 16))
    np.testing.assert_array_equal(one.raw, many.raw)
    assert str(one.provenance.price) == str(many.provenance.price) == "epsilon = 1"
    assert "with all rows added or removed" in one.caption
    assert str(one.provenance) == one.caption
    assert "all_rows" not in one.provenance.to_dict()
    read = Curve.from_json(released(table).to_json())
    assert "one person (column who) with all rows replaced" in str(read.provenance)
    rows = released(table, statistic=Ecdf("age", grid=Grid.integers(0, 9)))
    assert "replaced by any other, one row each" in str(rows.provenance)


@pytest.mark.slow
def test_bands_for_the_population_hold_where_rows_are_alike(monkeypatch):
    # the same for every release of as many people
    monkeypatch.setattr(bands, "one_sided_distances", functools.cache(bands.one_sided_distances))
    truth = np.arange(1, 11) / 10
    held = np.zeros(2)
    runs = size(200, part=80)
    asked = {"grid": Grid.integers(0, 9), "method": "hat_ls", "smooth": "isotonic"}
    counted = Ecdf("age", **asked, counted="people")
    for seed in range(runs):
        table = visits(200, seed, alike=1.0)
        curve = released(table, statistic=counted, privacy=PureDP(20), seed=seed)
        # the control takes every row for a person
        rows = ogive.ecdf(table["age"], **asked, privacy=PureDP(20), source=KeyedSource.from_seed(seed))
        for place, each in enumerate((curve, rows)):
            band = each.band()
            held[place] += np.all(band.low <= truth + 1e-9) and np.all(truth <= band.high + 1e-9)
    assert held[0] / runs >= 0.95
    assert held[1] / runs < 0.93


def test_a_band_for_the_sample_holds_counts_that_are_not_whole():
    table = {"who": np.repeat(np.arange(40), 3), "age": np.tile([0, 4, 9], 40)}
    missed, runs = 0, size(200, part=60)
    for seed in range(runs):
        band = released(table, seed=seed, privacy=PureDP(8)).band(target="sample")
        truth = exact(table).probabilities
        missed += not (np.all(band.low <= truth + 1e-9) and np.all(truth <= band.high + 1e-9))
    assert missed <= runs / 10


@pytest.mark.parametrize("target", ["sample", "population"])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_bands_hold_the_curve_that_rounding_moves_for_all_people_alike(target, adjacency):
    """Eleven equal rows each: rounding moves the curve by 1/2640, and little noise does not hide that."""
    people, rows = 20_000, 11
    table = {"who": np.repeat(np.arange(people), rows), "age": np.tile([0] + [9] * (rows - 1), people)}
    truth = np.append(np.full(9, 1 / rows), 1.0)
    statistic = Ecdf("age", grid=Grid.integers(0, 9), counted="people", method="hat_ls")
    curves = [
        released(table, statistic=statistic, privacy=PureDP(20), adjacency=adjacency, seed=seed) for seed in range(3)
    ]
    for curve in curves:
        rounded = curve.raw / curve.raw[-1]
        assert np.abs(rounded - truth).max() == pytest.approx(1 / 2640, abs=1e-4)
        band = curve.band(target=target)
        assert np.all((band.low <= truth) & (truth <= band.high))
        plain = simultaneous_band(
            curve.grid, curve.raw, strategy=curve.strategy, total=curve.total, confidence_level=0.95, target=target
        )
        for ends, others, sign in ((band.low, plain.low, -1), (band.high, plain.high, 1)):
            # counts that are taken for whole ones are rounded outwards, by less than one person
            assert ends[:-1] == pytest.approx(others[:-1] + sign / 1680, abs=1 / people)
            assert ends[-1] == 1
        if target == "sample":
            assert curve.quantile_interval(1 / rows - 1e-9, target=target).low == 0
            outside = (plain.low > truth) | (truth > plain.high)
            assert outside[:-1].any(), "control: without room for rounding the band misses the curve"


def test_exact_curves_of_people_have_room_for_rounding_and_no_narrowing_band():
    table = {"who": np.repeat(np.arange(40), 11), "age": np.tile([0] + [9] * 10, 40)}
    found = exact(table)
    band = found.band(target="sample")
    assert np.all((band.low[:-1] <= 1 / 11) & (band.high[:-1] >= 1 / 11))
    assert band.high[0] - band.low[0] == pytest.approx(1 / 840)
    with pytest.raises(UnsupportedError, match="where people are counted"):
        found.band(width="narrowing")
    with pytest.raises(UnsupportedError, match="where people are counted"):
        released(table).band(width="narrowing")
    rows = exact(table, Ecdf("age", grid=Grid.integers(0, 9)))
    assert rows.band(target="sample").half_width == 0


def test_curves_of_people_add_up_are_stored_and_do_not_add_up_with_rows():
    one, other = (
        released({**visits(100, seed), "who": visits(100, seed)["who"] + 1000 * seed}, seed=seed) for seed in (1, 2)
    )
    both = ogive.merge(one, other)
    assert isinstance(both.strategy, SummedStrategies)
    assert both.people
    assert both.total == 200
    many = released(visits(100, 4), adjacency=ADD, most=16)
    for curve in (one, both, many):
        assert Curve.from_json(curve.to_json()) == curve
    rows = released(visits(100, 3), statistic=Ecdf("age", grid=Grid.integers(0, 9)), seed=3)
    with pytest.raises(ParameterError, match="one counts people and the other rows"):
        ogive.merge(one, rows)
    stored = json.loads(one.to_json())
    del stored["counted"]
    with pytest.raises(DataError, match="people in some places only"):
        Curve.from_dict(stored)
    with pytest.raises(DataError, match="'people' or absent"):
        Curve.from_dict({**stored, "counted": "rows"})


def test_a_stated_price_below_that_of_the_noise_is_refused():
    stored = json.loads(released(visits(100, 1)).to_json())
    for name in ("price", "privacy"):
        stored["provenance"][name]["epsilon"] = "1/2"
    with pytest.raises(DataError, match="its noise costs"):
        Curve.from_dict(stored)


def test_a_strategy_is_read_back_and_damage_is_refused():
    strategy, _ = strategy_of("tree_ls", REPLACE)
    data = strategy.to_dict()
    assert strategy_from_dict(data) == strategy
    with pytest.raises(ParameterError, match="840 units"):
        strategy_from_dict({**data, "units": 1})
    with pytest.raises(ParameterError, match="cover the thresholds"):
        strategy_from_dict({**data, "strategy": {**data["strategy"], "size": 9}})
    for wrong in (strategy, design_histogram(4, privacy=PURE, adjacency=REPLACE, rows=1, groups=2, accounting="joint")):
        with pytest.raises(ParameterError, match="one unbiased strategy"):
            CountedPeople(wrong)


def test_what_cannot_be_counted_is_refused_by_name():
    table = visits(50, 1)
    with pytest.raises(ParameterError, match="needs person"):
        ogive.ecdf(table["age"], grid=Grid.integers(0, 9), counted="people", privacy=PURE)
    with pytest.raises(ParameterError, match="not by projection"):
        Ecdf("age", (0, 9), counted="people", method="projection")
    with pytest.raises(ParameterError, match="designed by hand"):
        Ecdf("age", (0, 9), bins=8, counted="people", method=design_path(8, privacy=PURE, adjacency=REPLACE))
    with pytest.raises(ParameterError, match="rows or people"):
        Ecdf("age", (0, 9), counted="persons")
    session = ogive.Session(table | {"ward": table["age"] % 2}, person="who", limit=PURE)
    with pytest.raises(UnsupportedError, match="rows in several groups"):
        session.ecdf("age", bounds=(0, 9), counted="people", by="ward", groups=(0, 1), privacy=PURE)
    parties = ogive.SecAgg(
        [{name: values[part::3] for name, values in table.items()} for part in range(3)], person="who"
    )
    for trust in (parties, ogive.Local(table, person="who"), ogive.Pairs(table, person="who", circuits="clear")):
        for asked in (AGES, ogive.Subset(AGES, "age >= 4")):
            with pytest.raises(UnsupportedError, match="use trust central"):
                ogive.release(asked, trust=trust, privacy=PURE)
    with pytest.raises(UnsupportedError, match="share one weight"):
        ogive.release(AGES, trust=ogive.Local(table, person="who"), privacy=PURE)
    assert PrivacyUnit(ADD, "who").max_rows_per_person == 1


def test_of_some_records_rows_that_satisfy_a_condition_share():
    table = {"who": [1, 1, 1, 2], "age": [0, 4, 9, 9]}
    found = exact(table, ogive.Subset(AGES, "age >= 4"))
    np.testing.assert_allclose(found.probabilities, [0] * 4 + [1 / 4] * 5 + [1])
    session = ogive.Session(visits(200, 2), person="who", limit=PureDP(4))
    some = session.ecdf("age", grid=Grid.integers(0, 9), counted="people", where="age >= 4", privacy=PureDP(2))
    assert some.people
    assert some.total is None


def test_plans_foresee_the_error():
    plan = ogive.plan(AGES, records=400, privacy=PURE, person="who", adjacency="add_or_remove")
    assert {row.method for row in plan.rows} == {"path", "tree_ls", "hat_ls"}
    (hats,) = (row for row in plan.rows if row.method == "hat_ls")
    raw = released(visits(400, 1), adjacency=ADD).rmse()
    assert float(hats.noise.split("+/- ")[1].split()[0]) / 400 == pytest.approx(raw, rel=0.1)
    assert raw / 4 < hats.errors["rmse"] < raw
