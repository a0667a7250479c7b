"""Histograms of categories that nobody declared: what is found, what is said of it, and intervals given that it is."""

import math

import numpy as np
import pytest
from helpers.scope import size as runs_of

import ogive
from ogive import Adjacency, ApproxDP, Central, Clear, Grouped, Histogram, PureDP, Subset
from ogive.accounting import covers
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.noise import DiscreteLaplace, KeyedSource
from ogive.report import render_report
from ogive.statistics.base import describe
from ogive.statistics.discovery import shown_interval
from ogive.statistics.kinds import read_estimate

N = 4000
GRANT = ApproxDP(1, "1e-6")
REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    found = rng.choice(["flu", "cold", "gout", None], N, p=[0.5, 0.3, 0.1, 0.1])
    found[:9] = "rare"
    return {
        "diagnosis": found.tolist(),
        "known": ["none" if each is None else each for each in found],
        "sex": rng.choice(["F", "M"], N).tolist(),
        "stage": rng.integers(0, 3, N),
        "smoker": rng.random(N) < 0.3,
        "who": np.arange(N) // 2,
    }


def released(statistic, table, adjacency=REPLACE, privacy=GRANT):
    return ogive.release(statistic, trust=Central(table), privacy=privacy, adjacency=adjacency)


@pytest.mark.parametrize("where", [None, "sex == 'F'"], ids=["all", "subset"])
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("missing", ["count", "drop"])
def test_categories_are_found_counted_and_stored(missing, adjacency, where, table):
    if missing == "drop" and adjacency is REPLACE:
        with pytest.raises(ParameterError, match="missing='count'"):
            released(Histogram("diagnosis", missing=missing), table, adjacency)
        return
    asked = Histogram("diagnosis", missing=missing)
    asked = asked if where is None else Subset(asked, where)
    found = released(asked, table, adjacency)
    assert found.values == ("cold", "flu", "gout")
    assert found.categories == ("cold", "flu", "gout", *(["missing"] if missing == "count" else []))
    assert covers(GRANT, found.provenance.price)
    truth = ogive.release(asked, trust=Clear(table), adjacency=adjacency)
    assert (truth.values, truth.threshold) == (("cold", "flu", "gout", "rare"), 1)
    assert found.errors(truth)["share"] < 0.02
    for place, (low, high) in enumerate(found.count_intervals(0.9999)):
        exact = truth.count(found.categories[place])
        assert low <= exact <= high
    assert read_estimate(found.to_dict()) == found
    assert read_estimate(truth.to_dict()) == truth
    assert len(found.to_frame("pandas")) == len(found.categories)
    note = f"values with fewer than about {found.threshold} records may exist and are not shown"
    assert note in str(found)
    assert note in found._repr_html_()
    page = render_report([found], truths=[truth], title="Diagnoses")
    assert note in page
    assert "rare" not in page
    assert "not shown" not in str(truth)


def test_the_threshold_is_that_of_the_guarantee(table):
    assert released(Histogram("known"), table).threshold == 28
    assert released(Histogram("known"), table, ADD).threshold == 15
    session = ogive.Session(table, person="who", max_rows_per_person=2, adjacency=ADD, limit=ApproxDP(2, "1e-5"))
    found = session.histogram("known", privacy=GRANT)
    assert found.threshold == 30
    assert session.histogram("known", privacy=GRANT) == found
    assert ogive.histogram(table["known"], privacy=GRANT).values == ("cold", "flu", "gout", "none")


@pytest.mark.parametrize(("column", "values"), [("stage", (0, 1, 2)), ("smoker", (False, True)), ("sex", ("F", "M"))])
def test_numbers_truth_values_and_texts_are_found(column, values, table):
    found = released(Histogram(column), table)
    assert found.values == values
    assert [type(each) for each in found.values] == [type(each) for each in values]
    assert found.count(values[-1]) == found.counts[-1]
    assert math.fsum(found.shares) == pytest.approx(1, abs=0.01)


def test_records_that_are_not_shown_are_said_where_their_number_is_public(table):
    found = released(Histogram("known"), table)
    assert found.unseen == pytest.approx(9, abs=40)
    assert "records have such values" in str(found)
    private = released(Histogram("known"), table, ADD)
    assert private.unseen is None
    assert "shares are of the records shown" in str(private)
    assert released(Histogram("known", values=("flu",), other="count"), table).unseen is None


def test_one_category_is_enough():
    found = released(Histogram("x"), {"x": ["a"] * 200})
    assert (found.values, found.shares[0] > 0.9) == (("a",), True)
    assert read_estimate(found.to_dict()) == found


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("scale", [0.3, 1, 2, 20])
def test_intervals_hold_the_truth_given_that_a_value_is_shown(scale, level):
    """Exactly: over all noise with which a value is shown."""
    law, threshold = DiscreteLaplace(scale), 2 + math.ceil(12 * scale)
    noise = np.arange(-math.ceil(45 * scale) - 2, math.ceil(45 * scale) + 3)
    chance = np.exp(law.log_probability(noise))
    known = {}
    least = []
    for records in (
        1,
        threshold // 2,
        threshold - 1,
        threshold,
        threshold + 1,
        threshold + math.ceil(3 * scale),
        10**4,
    ):
        counts = records + noise
        shown = counts >= threshold
        held = 0.0
        for count, weight in zip(counts[shown].tolist(), chance[shown] / chance[shown].sum(), strict=True):
            if count not in known:
                known[count] = shown_interval(law, threshold, count, level)
            low, high = known[count]
            held += weight * (low <= records <= high)
        least.append(held)
    assert min(least) >= level - 1e-9
    if scale == 20:
        assert min(least) < level + 0.03, "where noise is wide no interval is much too long"


def test_control_intervals_that_forget_the_selection_hold_too_little():
    law, threshold = DiscreteLaplace(2), 26  # of a value with 20 records, which is shown where noise is 6 or more
    noise = np.arange(6, 120)
    chance = np.exp(law.log_probability(noise))
    reach = 2 * math.log(1 / 0.05)  # of 95 % of all noise
    held = chance[np.abs(noise) <= reach].sum() / chance.sum()
    assert held < 0.5
    assert shown_interval(law, threshold, threshold, 0.95)[0] == 1


SEEDS = runs_of(200, part=30)
RARE = {
    "wide noise": (2000, REPLACE, GRANT, [0.4, 0.3, *[0.014] * 12, *[0.011] * 12]),
    "private number": (1100, ADD, GRANT, [0.4, 0.3, *[0.014] * 12, *[0.011] * 12]),
    "hardly any noise": (1000, REPLACE, ApproxDP(8, "1e-6"), [0.5, 0.3, *[0.007] * 10, *[0.0026] * 50]),
}


@pytest.mark.parametrize("case", RARE)
def test_intervals_of_shares_hold_the_population_given_that_a_value_is_shown(case):
    """Of samples of a population with many values near the threshold, at 80 % of each kind; 4 deviations allowed."""
    records, adjacency, privacy, chances = RARE[case]
    shares = np.array(chances) / np.sum(chances)
    kinds = np.unique(shares, return_inverse=True)[1]
    held, seen, plain = np.zeros((3, kinds.max() + 1))
    rng = np.random.default_rng(11)
    for seed in range(SEEDS):
        sample = rng.choice(len(shares), records, p=shares)
        found = ogive.release(
            Histogram("x", confidence_level=0.8),
            trust=Central({"x": sample}),
            privacy=privacy,
            adjacency=adjacency,
            source=KeyedSource.from_seed(seed),
        )
        # where the number of records is private, shares are of the values that are shown
        whole = 1.0 if adjacency is REPLACE else shares[list(found.values)].sum()
        for place, (value, (low, high)) in enumerate(zip(found.values, found.intervals(), strict=True)):
            true = shares[value] / whole
            seen[kinds[value]] += 1
            held[kinds[value]] += low <= true <= high
            reach = 1.2816 * found.standard_errors[place]
            plain[kinds[value]] += abs(found.shares[place] - true) <= reach
    assert seen.min() > SEEDS / 4
    assert np.all(held / seen > 0.8 - 4 * np.sqrt(0.16 / seen))
    assert (plain / seen).min() < 0.65, "the control: intervals that forget the selection hold too little"


@pytest.mark.parametrize(
    ("asked", "grant", "error", "words"),
    [
        (Histogram("known"), PureDP(1), ParameterError, r"needs a delta; name the values, .*values=\('a', 'b'\)"),
        (Histogram("known"), ogive.ZeroConcentratedDP(1), ParameterError, "needs a delta"),
        (Histogram("known"), ApproxDP("0.001", "1e-6"), DataError, "reaches the threshold"),
        (Histogram("diagnosis"), GRANT, DataError, "missing='count'"),
        (Histogram("unknown"), GRANT, DataError, "no column 'unknown'"),
        (Grouped(Histogram("known"), "sex", ("F", "M")), GRANT, ParameterError, "name the values, which are public"),
    ],
    ids=["pure", "concentrated", "little", "missing", "column", "groups"],
)
def test_what_is_wrong_is_said_in_one_line(asked, grant, error, words, table):
    with pytest.raises(error, match=words) as refused:
        released(asked, table, privacy=grant)
    assert "\n" not in str(refused.value)


def test_an_option_of_declared_categories_is_refused():
    with pytest.raises(ParameterError, match="other is for values that are declared"):
        Histogram("x", other="count")
    with pytest.raises(ParameterError, match="other must be"):
        Histogram("x", other="keep")
    with pytest.raises(ParameterError, match="missing must be"):
        Histogram("x", missing="low")


@pytest.mark.parametrize("trust", ["secagg", "servers", "local", "pairs"])
def test_only_a_curator_finds_categories(trust, table):
    options = {"parties": 3} if trust in ("secagg", "servers") else {}
    model = ogive.Simulation(trust, **options).over(table)
    with pytest.raises(UnsupportedError, match=r"only by a curator who sees all records; name the values, .*values="):
        ogive.release(Histogram("known"), trust=model, privacy=GRANT)


def test_a_plan_says_the_threshold():
    row = ogive.plan(Histogram("x"), records=4000, privacy=GRANT)
    assert row.chosen.errors["threshold"] == 28
    assert "values with fewer records will probably not be shown" in str(row)
    declared = ogive.plan(Histogram("x", values=("a", "b")), records=4000, privacy=GRANT)
    assert "threshold" not in str(declared)


def test_declared_categories_are_the_question_that_they_were(table):
    assert describe(Histogram("x"))["values"] is None
    found = released(Histogram("sex", values=("F", "M")), table)
    assert found.threshold is None
    assert "threshold" not in found.to_dict()


def changed(found, **fields):
    return {**found.to_dict(), **fields}


def test_a_stored_histogram_that_contradicts_itself_is_refused(table):
    found = released(Histogram("known"), table)
    measured = found.to_dict()["measured"]
    wrong = [
        changed(found, threshold=None),
        changed(found, threshold=0),
        changed(found, threshold=27),  # with that the price would be more
        changed(found, threshold=10_000),
        changed(found, other="count"),
        changed(found, missing="low"),
        changed(found, values=["cold", "cold", "flu", "gout"]),
        changed(found, measured={**measured, "bits": 3}),
        changed(found, measured={**measured, "values": measured["values"][:-1]}),
    ]
    for data in wrong:
        with pytest.raises((DataError, ParameterError)):
            read_estimate(data)
    with pytest.raises(ParameterError, match="same categories"):
        found.errors(released(Histogram("known", values=(*found.values, "rare")), table))


def test_the_largest_of_too_many_are_shown():
    values = [f"{number:04}" for number in range(1003) for _ in range(4 if number < 3 else 9)]
    found = released(Histogram("x"), {"x": values}, privacy=ApproxDP(100, "1e-6"))
    assert len(found.values) == 1000
    assert found.values[0] == "0003"
