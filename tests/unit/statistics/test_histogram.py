"""Histograms of categories: what they say, what is refused, how owners report, and what is read of a stored one."""

import copy
import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size

import ogive
from ogive.columns import Domain, Listed
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.local import RandomizedResponse, UnaryOracle
from ogive.local.values import rows_of
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency
from ogive.statistics.sums.measured import Measured, records_at, reported_variance, reports_of
from ogive.statistics.sums.statistic import best_oracle

PURE = ogive.PureDP(1)
REPLACE, ADD = ogive.Adjacency.REPLACE, ogive.Adjacency.ADD_OR_REMOVE
WARDS = ["A"] * 50 + ["B"] * 30 + ["C"] * 15 + [None] * 5
DATA = {"ward": WARDS, "died": [0, 1] * 50, "flag": [True, False] * 50, "size": [1.0, 2.0] * 50, "by": ["x", "y"] * 50}


def released(statistic, *, trust=ogive.Central, privacy=PURE, adjacency=REPLACE, seed=4):
    source = KeyedSource.from_seed(seed)
    return ogive.release(statistic, trust=trust(DATA), privacy=privacy, adjacency=adjacency, source=source)


def exact(statistic, adjacency=REPLACE):
    return released(statistic, trust=ogive.Clear, privacy=None, adjacency=adjacency)


# --- what is counted


@pytest.mark.parametrize("other", ["refuse", "count", "drop"])
@pytest.mark.parametrize("missing", ["refuse", "count", "drop"])
@pytest.mark.parametrize("values", [("A", "B", "C"), ("A", "B")], ids=len)
def test_every_policy_does_what_it_says(values, missing, other):
    """A slow count beside it."""
    asked = ogive.Histogram("ward", values=values, other=other, missing=missing)
    known = {value: WARDS.count(value) for value in values}
    others = len(WARDS) - WARDS.count(None) - sum(known.values())
    if missing == "refuse" or (other == "refuse" and others):
        with pytest.raises(DataError):
            exact(asked, ADD)
        return
    wanted = [*known.values()]
    wanted += [others] if other == "count" else []
    wanted += [WARDS.count(None)] if missing == "count" else []
    found = exact(asked, ADD)
    assert found.counts == found.raw == tuple(wanted)
    assert found.categories == (*values, *(["other"] * (other == "count")), *(["missing"] * (missing == "count")))
    assert found.shares == pytest.approx(np.array(wanted) / sum(wanted))
    if "drop" in (other, missing):
        with pytest.raises(ParameterError, match=r"'drop' would publish how many values are"):
            exact(asked, REPLACE)


@pytest.mark.parametrize(
    ("column", "values"), [("died", (0, 1)), ("flag", (True, False)), ("size", (1, 2)), ("by", ("x", "y"))]
)
def test_categories_may_be_numbers_truth_values_and_texts(column, values):
    found = exact(ogive.Histogram(column, values=values))
    assert found.counts == (50, 50)
    assert found.count(values[0]) == 50
    assert found.share(values[1]) == 0.5


def test_a_declared_category_may_be_called_other():
    table = {"x": ["other", "other", "b", None]}
    asked = ogive.Histogram("x", values=("other", "a"), other="count", missing="count")
    found = ogive.release(asked, trust=ogive.Clear(table))
    assert found.categories == ("other", "a", "(other)", "missing")
    assert found.counts == (2, 0, 1, 1)
    assert found.count("other") == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"other": "count"}, "other is for values that are declared"),
        ({"values": "A"}, "must be a list of categories"),
        ({"values": ()}, "1 to 1000 values"),
        ({"values": ("A",)}, "cannot be compared"),
        ({"values": ("A", "A")}, "named once"),
        ({"values": (1, True)}, "named once"),
        ({"values": (math.nan, 1)}, "values to count must be"),
        ({"values": ("A", "B"), "other": "yes"}, "must be one of"),
        ({"values": ("A", "B"), "missing": "no"}, "must be one of"),
        ({"values": ("A", "B"), "confidence_level": 1}, "must be above 0"),
    ],
    ids=str,
)
def test_bad_questions_are_refused_in_one_line(options, words):
    with pytest.raises(ParameterError, match=words) as problem:
        ogive.Histogram("ward", **options)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("by", ("x", "z"), "other='count'"),
        ("ward", ("A", "B", "C"), "missing='count'"),
        ("died", ("no", "yes"), "write them as numbers"),
        ("ward", (1, 2), "write them as texts"),
        ("none", ("A", "B"), "no column"),
    ],
)
def test_bad_records_are_refused_in_one_line(column, values, words):
    with pytest.raises(DataError, match=words) as problem:
        exact(ogive.Histogram(column, values=values))
    assert "\n" not in str(problem.value)


def test_arrays_of_categories_are_lists_too():
    assert ogive.Histogram("x", values=np.array([1, 2])).canonical() == ogive.Histogram("x", values=(1, 2))
    found = ogive.histogram(np.array(["a", "b", "a"]), values=["a", "b"], privacy=ogive.PureDP(1000))
    assert [round(each) for each in found.counts] == [2, 1]


# --- errors and intervals


def test_counts_are_never_negative_but_what_was_measured_is_kept():
    asked = ogive.Histogram("ward", values=("A", "B", "C", "D", "E"), missing="count")
    found = [released(asked, privacy=ogive.PureDP("0.1"), seed=seed) for seed in range(10)]
    assert min(min(each.raw) for each in found) < 0
    assert min(min(each.counts) for each in found) == 0
    assert all(set(each.raw) <= {float(value) for value in each.measured.values} for each in found)


def test_two_categories_of_a_public_number_are_one_count_with_half_the_noise():
    two = released(ogive.Histogram("died", values=(0, 1)))
    three = released(ogive.Histogram("died", values=(0, 1, 2)))
    assert sum(two.raw) == 100
    assert max(two.noise_errors) < 0.51 * max(three.alone().noise_errors)
    private = released(ogive.Histogram("died", values=(0, 1)), adjacency=ADD)
    assert len(private.measured.values) == 2


def test_the_interval_of_a_share_is_that_of_the_same_proportion():
    """Where the same is measured, with the same noise, a histogram says what `proportion` says."""
    for privacy, trust in ((PURE, ogive.Central), (None, ogive.Clear)):
        of_two = released(ogive.Histogram("died", values=(0, 1)), privacy=privacy, trust=trust)
        share = released(ogive.Proportion("died", positive=1), privacy=privacy, trust=trust)
        moved = share.measured.values[0] - of_two.measured.values[0]
        if not moved:
            assert of_two.intervals()[1] == share.interval()
            assert of_two.shares[1] == share.value


def test_simultaneous_intervals_are_those_of_a_higher_level():
    found = released(ogive.Histogram("ward", values=("A", "B", "C"), missing="count"))
    assert found.intervals(0.96, simultaneous=True) == found.intervals(0.99)
    assert found.count_intervals(0.96, simultaneous=True) == found.count_intervals(0.99)
    assert found.intervals(0.5)[0][1] < found.intervals()[0][1]


def test_noise_that_hides_all_records_leaves_shares_undefined():
    asked = ogive.Histogram("ward", values=("A", "B", "C"), missing="count")
    found = [released(asked, privacy=ogive.PureDP("1/10000"), adjacency=ADD, seed=seed) for seed in range(8)]
    hidden = [each for each in found if not each.defined]
    assert 0 < len(hidden) < len(found)
    for each in hidden:
        assert all(map(math.isnan, each.shares))
        assert each.intervals() == ((0.0, 1.0),) * 4
        assert "undefined" in str(each)
        assert ogive.HistogramEstimate.from_json(each.to_json()) == each


def test_groups_and_subsets_of_it_are_histograms_too():
    session = ogive.Session(DATA, limit=ogive.PureDP(1000))
    asked = {"values": ("A", "B", "C"), "missing": "count", "privacy": ogive.PureDP(400)}
    groups = session.histogram("ward", by="by", groups=("x", "y"), **asked)
    assert [round(each) for each in groups["x"].counts] == [25, 15, 8, 2]
    assert "25 (50.0 %, " in str(groups)
    assert len(groups.plot().containers) == 2
    some = session.histogram("ward", where="died == 1", **asked)
    assert [round(each) for each in some.counts] == [25, 15, 7, 3]


# --- owners


@pytest.mark.parametrize("form", ["reports", "unary"])
@pytest.mark.parametrize("epsilon", ["0.4", 2])
def test_the_variance_of_weighted_reports_is_that_of_an_enumeration(form, epsilon):
    """All reports that one owner of each place may send, with their exact chances; the control is another share."""
    size, places = 3, np.array([0, 0, 1, 2, 2, 2])
    oracle = (RandomizedResponse if form == "reports" else UnaryOracle)(size, Fraction(epsilon))
    weights = np.array([1.0, -0.3, 0.0])
    variance = 0.0
    for place in places:
        if form == "reports":
            keep = float(oracle.keep)
            chances = [(keep * (i == place) + (1 - keep) / size, np.eye(size)[i]) for i in range(size)]
            gain = keep
        else:
            rare = float(oracle.chance)
            ones = [0.5 if i == place else rare for i in range(size)]
            chances = [
                (math.prod(p if bit else 1 - p for p, bit in zip(ones, bits, strict=True)), np.array(bits))
                for bits in itertools.product((0, 1), repeat=size)
            ]
            gain = 0.5 - rare
        values = [(chance, float(weights @ sent) / gain) for chance, sent in chances]
        mean = sum(chance * value for chance, value in values)
        variance += sum(chance * value * value for chance, value in values) - mean * mean
    sums = (2, 3, 1) if form == "reports" else (2, 3, 1, 6)
    measured = Measured(form, sums, None, REPLACE, 6, epsilon=oracle.epsilon)
    assert reports_of(measured) == 6
    assert reported_variance(measured, [(1.0, 1, 2 / 6), (-0.3, 1, 1 / 6)]) == pytest.approx(variance)
    assert reported_variance(measured, [(1.0, 1, 1 / 6), (-0.3, 1, 2 / 6)]) != pytest.approx(variance, rel=1e-6)
    unbiased = [measured.at(records_at(measured, place)) for place in range(size)]
    assert unbiased == pytest.approx(list(oracle.counts(np.array(sums))))


def test_the_oracle_follows_from_categories_and_epsilon():
    assert best_oracle(2, Fraction(1)) == RandomizedResponse(2, 1)
    assert best_oracle(4, Fraction(1)) == RandomizedResponse(4, 1)
    assert best_oracle(40, Fraction(1)) == UnaryOracle(40, 1)
    assert best_oracle(40, Fraction(4)) == RandomizedResponse(40, 4)


@pytest.mark.parametrize("values", [("A", "B", "C"), ("A", "B", "C", *map(str, range(30)))], ids=len)
def test_owners_report_and_collections_say_the_same(values):
    found = [
        released(ogive.Histogram("ward", values=values, missing="count"), trust=ogive.Local, privacy=PURE, seed=seed)
        for seed in range(size(150, part=75))
    ]
    assert {each.measured.form for each in found} == {"reports" if len(values) == 3 else "unary"}
    counts = np.array([each.raw for each in found])
    wanted = [50, 30, 15, *([0] * (len(values) - 3)), 5]
    errors = np.array([each.noise_errors for each in found]).mean(axis=0)
    assert np.abs(counts.mean(axis=0) - wanted).max() < 4.5 * errors.max() / math.sqrt(len(found))
    assert counts.std(axis=0)[0] == pytest.approx(errors[0], rel=0.25)


def test_owners_cannot_hide_how_many_they_are():
    for asked, adjacency in (({"missing": "count"}, ADD), ({"missing": "drop"}, REPLACE)):
        with pytest.raises((ParameterError, UnsupportedError), match=r"records|missing"):
            released(ogive.Histogram("ward", values=("A", "B", "C"), **asked), trust=ogive.Local, adjacency=adjacency)


def test_an_owner_has_the_symbol_that_a_table_has():
    column = Listed("ward", ("A", "B"), "count", "count")
    assert rows_of(Domain((column,)), {"ward": ["A", "C", None, "B"]})[:, 0].tolist() == [0, 2, 3, 1]
    with pytest.raises(DataError, match="none of the 2 declared"):
        rows_of(Domain((Listed("ward", ("A", "B"), "refuse", "count"),)), {"ward": ["C"]})
    with pytest.raises(DataError, match="missing value"):
        rows_of(Domain((Listed("ward", ("A", "B"), "count", "refuse"),)), {"ward": [None]})


# --- stored


def test_what_is_stored_is_read_again_and_damage_is_refused():
    asked = ogive.Histogram("ward", values=("A", "B", "C"), missing="count")
    for options in ({}, {"adjacency": ADD}, {"trust": ogive.Local}, {"privacy": ogive.ApproxDP(1, "1e-6")}):
        found = released(asked, **options)
        assert ogive.HistogramEstimate.from_json(found.to_json()) == found
        data = json.loads(found.to_json())
        for damage in (
            {"values": ["A", "B"]},
            {"values": ["A", "A", "B"]},
            {"values": "ABC"},
            {"other": "maybe"},
            {"missing": "drop"},
            {"column": 3},
            {"confidence_level": 2},
            {"measured": {**data["measured"], "values": data["measured"]["values"][:2]}},
            {"measured": {**data["measured"], "form": "moments"}},
            {"measured": {**data["measured"], "values": ["1", 2, 3, 4]}},
            {"measured": None},
        ):
            with pytest.raises(DataError):
                ogive.HistogramEstimate.from_dict({**copy.deepcopy(data), **damage})


def test_a_lower_price_than_that_of_the_noise_is_refused():
    data = released(ogive.Histogram("ward", values=("A", "B", "C"), missing="count")).to_dict()
    cheap = copy.deepcopy(data)
    cheap["provenance"]["price"]["epsilon"] = cheap["provenance"]["privacy"]["epsilon"] = "1/4"
    with pytest.raises(DataError, match="contradicts itself"):
        ogive.HistogramEstimate.from_dict(cheap)


def test_the_truth_has_the_same_categories():
    found = released(ogive.Histogram("died", values=(0, 1)))
    truth = exact(ogive.Histogram("died", values=(0, 1)))
    assert found.errors(truth) == {"share": max(map(abs, np.subtract(found.counts, (50, 50)))) / 100}
    with pytest.raises(ParameterError, match="same categories"):
        found.errors(exact(ogive.Histogram("died", values=(1, 0))))


def test_the_number_of_records_is_public_or_measured():
    assert released(ogive.Histogram("died", values=(0, 1))).records == 100
    private = released(ogive.Histogram("died", values=(0, 1)), adjacency=Adjacency.ADD_OR_REMOVE)
    assert private.records == sum(private.raw)
