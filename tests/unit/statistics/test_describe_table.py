"""Described variables: exact values against pandas, prices, groups and all of them, and what is refused or left out."""

import dataclasses
import itertools
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from helpers.scope import is_everything, size

import ogive
from ogive import (
    Adjacency,
    ApproxDP,
    Central,
    Clear,
    Describe,
    PrivacyUnit,
    PureDP,
    SecAgg,
    ZeroConcentratedDP,
    release,
)
from ogive.accounting import covers
from ogive.columns import Schema
from ogive.core.checks import is_added
from ogive.core.digits import number
from ogive.errors import BudgetError, DataError, ParameterError, UnsupportedError
from ogive.noise import KeyedSource
from ogive.report import render_report
from ogive.statistics.base import Terms
from ogive.statistics.methods import base
from ogive.statistics.methods.together import rehearse

N = 3000
REPLACE, ADD = Adjacency.REPLACE, Adjacency.ADD_OR_REMOVE
WARDS = {"by": "ward", "groups": ("A", "B", "C")}
ASKED = {"bounds": {"age": (0, 120), "pressure": (40, 240)}, "values": {"smoker": "yes", "sex": ("F", "M")}}


def people(rows=N):
    rng = np.random.default_rng(5)
    return {
        "age": rng.integers(18, 95, rows),
        "pressure": np.round(rng.normal(140, 22, rows), 1),
        "smoker": rng.choice(["yes", "no", "never"], rows),
        "sex": rng.choice(["F", "M"], rows),
        "died": rng.random(rows) < 0.2,
        "ward": rng.choice(["A", "B", "C"], rows, p=[0.5, 0.3, 0.2]),
        "note": rng.choice(["x", "y"], rows),
    }


GRANTED = PureDP(4)
RUNS = size(40, part=20)
BRIEF = ASKED if is_everything() else {"values": {"smoker": "yes"}}


@pytest.fixture(autouse=True, scope="module")
def few_simulations():
    """What bands and intervals hold is tested with them; here a few hundred simulations of each do."""
    with pytest.MonkeyPatch.context() as patched:
        values = 300_000 if is_everything() else 60_000
        patched.setattr("ogive.statistics.curve.bands.SIMULATED_VALUES", values)
        yield


def described(privacy=GRANTED, adjacency=REPLACE, trust=Central, data=None, columns=(), **options):
    made = trust(people() if data is None else data)
    return release(Describe(columns, **{**ASKED, **options}), trust=made, privacy=privacy, adjacency=adjacency)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_exact_values_are_those_of_pandas(adjacency):
    found = described(None, adjacency, Clear, **WARDS)
    frame = pd.DataFrame(people())
    for group, part in [(None, frame), *frame.groupby("ward")]:
        for column in ("age", "pressure"):
            parts = found.of(column, group)
            mean, quantiles = parts["mean"], parts["quantiles"]
            assert mean.value == pytest.approx(part[column].mean(), abs=0.011)
            assert mean.standard_deviation == pytest.approx(part[column].std(ddof=0), rel=1e-3)
            assert round(mean.records) == len(part)
            ordered = np.sort(part[column])
            for share, value in zip(quantiles.probabilities, quantiles.numbers, strict=True):
                # the smallest threshold with that share at or below it
                wanted = ordered[int(np.ceil(share * len(ordered))) - 1]
                assert wanted <= value <= wanted + 0.5
        assert found.of("smoker", group)["proportion"].value == pytest.approx((part["smoker"] == "yes").mean())
        counts = part["sex"].value_counts()
        assert found.of("sex", group)["histogram"].counts == (counts["F"], counts["M"])
        assert found.of("died", group)["proportion"].value == pytest.approx(part["died"].mean())


@pytest.mark.each_value(groups=str)
@pytest.mark.parametrize("groups", [{}, WARDS], ids=["everyone", "groups"])
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("privacy", [PureDP(4), ZeroConcentratedDP("0.5"), ApproxDP(4, "1e-6")], ids=str)
def test_the_price_is_within_the_guarantee_and_uses_nearly_all_of_it(privacy, adjacency, groups):
    found = described(privacy, adjacency, **groups)
    price = found.provenance.price
    assert covers(privacy, price)
    match privacy, price:
        case PureDP(), _:
            assert float(price.epsilon) > 0.97 * float(privacy.epsilon)
        case ZeroConcentratedDP(), _:
            assert float(price.rho) > 0.97 * float(privacy.rho)
    truth = described(None, adjacency, Clear, **groups)
    errors = found.errors(truth)
    assert errors["mean of age"] < 20
    assert errors["proportion of smoker"] < 0.3
    assert type(found).from_dict(found.to_dict()) == found


def test_an_approximate_guarantee_is_divided_as_one():
    """With many variables Gaussian noise is less than Laplace noise, and its delta is used once."""
    data = {f"x{number}": people()["age"] for number in range(12)}
    bounds = dict.fromkeys(data, (0, 120))
    found = release(Describe(bounds=bounds), trust=Central(data), privacy=ApproxDP(1, "1e-6"))
    assert isinstance(found.provenance.price, ZeroConcentratedDP)
    alone = release(Describe(bounds=bounds), trust=Central(data), privacy=PureDP(1))
    noise = [each["x0"]["mean"].noise_error for each in (found, alone)]
    assert noise[0] < 0.8 * noise[1]
    few = release(
        Describe(("died",), values={"died": True}), trust=Central(people()), privacy=ApproxDP(1, "1e-6"), adjacency=ADD
    )
    assert isinstance(few.provenance.price, PureDP)


def test_intervals_are_simulated_of_what_was_released_and_not_of_imagined_records(monkeypatch):
    """Dividing the guarantee among groups tries the questions out, several times; that takes no interval."""
    usual, banded = base.quantile_interval, []
    monkeypatch.setattr(
        base, "quantile_interval", lambda *given, **named: (banded.append(1), usual(*given, **named))[1]
    )
    found = described(ZeroConcentratedDP("0.5"), REPLACE, **WARDS)
    assert len(banded) == len(found.groups) * 2  # of age and of pressure


def test_all_records_are_the_sum_of_the_groups():
    found = described(PureDP(6), ADD, **WARDS)
    each = [found.of("smoker", group)["proportion"] for group in found.groups]
    overall = found["smoker"]["proportion"]
    assert overall.measured.values == tuple(map(sum, zip(*(one.measured.values for one in each), strict=True)))
    assert overall.noise_error > min(one.noise_error for one in each) * 0.3
    raw = sum(found.of("age", group)["quantiles"].curve.raw for group in found.groups)
    assert found["age"]["quantiles"].curve.raw == pytest.approx(raw)
    known = described(PureDP(6), REPLACE, **WARDS)
    assert known["age"]["mean"].records == N, "the number of all records is public"


def test_noise_of_the_sum_of_groups_is_as_large_as_it_says():
    """The standard deviation of 400 errors of the sum is as stated within 15 %, that of 110 within 29 %."""
    data = {"died": people(400)["died"], "ward": people(400)["ward"]}
    truth = data["died"].sum()
    errors, stated, runs = [], 0.0, size(400, part=110)
    for _ in range(runs):
        found = release(Describe(values={"died": True}, **WARDS), trust=Central(data), privacy=PureDP(1), adjacency=ADD)
        share = found["died"]["proportion"]
        errors.append(share.measured.at(share.reading.numerator) - truth)
        stated = np.sqrt(float(share.measured.law.variance) * share.measured.draws)
    assert np.std(errors) == pytest.approx(stated, rel=0.15 * np.sqrt(400 / runs))
    assert np.std(errors) > 1.3 * stated / np.sqrt(3), "the control: one draw for the sum of three groups is too few"


def test_public_groups_have_exact_numbers_of_records():
    found = ogive.describe(people(), **ASKED, **WARDS, public_groups=True, privacy=PureDP(2))
    counts = pd.Series(people()["ward"]).value_counts()
    assert {group: found.of("age", group)["mean"].records for group in WARDS["groups"]} == counts.to_dict()
    assert "n" in str(found).split("\n")[3]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "The number n is public and exact; all others carry noise."),
        (WARDS, "The number of all records is public and exact; all other"),
        ({**WARDS, "public_groups": True}, "The numbers n are public and exact; all others carry noise."),
        ({"adjacency": Adjacency.ADD_OR_REMOVE}, "All numbers carry noise."),
    ],
    ids=["everyone", "private groups", "public groups", "private number"],
)
def test_numbers_that_are_public_are_not_said_to_carry_noise(options, said):
    found = ogive.describe(people(), **BRIEF, **options, privacy=PureDP(2))
    assert said in " ".join(str(found).split())
    assert "carry noise" not in str(ogive.describe(people(), **BRIEF, trust="clear"))


def test_columns_of_dates_times_and_nothing_are_left_out_for_what_they_are():
    days = np.datetime64("2024-01-01") + np.arange(N).astype("timedelta64[D]")
    data = {"age": people()["age"], "day": days, "time": days.astype("datetime64[us]"), "gone": pa.nulls(N)}
    found = ogive.describe(data, bounds={"age": (0, 120)}, privacy=PureDP(2))
    assert list(found.left_out) == ["day", "time", "gone"]
    for column in ("day", "time"):
        assert re.fullmatch("dates and times .*; release their median with quantiles", found.left_out[column])
    assert found.left_out["gone"].startswith("a column without values")


def test_bounds_are_found_at_a_price_that_no_answer_moves():
    small, large = ({"x": np.random.default_rng(1).normal(0, scale, N)} for scale in (0.01, 1000))
    prices = set()
    for data in (small, large):
        found = release(Describe(numbers=("x",)), trust=Central(data), privacy=ZeroConcentratedDP(1))
        assert found.bounds_of("x").defined
        prices.add(found.provenance.price)
        parts = found["x"]
        low, high = parts["mean"].interval(0.9999)
        assert low <= data["x"].mean() <= high
        assert high - low < 3 * found.bounds_of("x").high
    assert len(prices) == 1
    few = release(Describe(numbers=("x",)), trust=Central({"x": [1.0, 2.0]}), privacy=ZeroConcentratedDP("0.0001"))
    assert not few.bounds_of("x").defined
    assert "noise hides where its values are" in str(few)


SMOKED = np.repeat([0, 1, 3, 5, 10, 15, 20, 30, 40, 60], [2_140, 67, 120, 160, 280, 210, 850, 240, 110, 34])


def smoked(search):
    """How often bounds leave more than a tenth of the records outside, and the largest error of the mean."""
    missed, off = 0, 0.0
    for key in range(RUNS):
        found = release(
            Describe(numbers=("cigs",), search=search),
            trust=Central({"cigs": SMOKED}),
            privacy=PureDP("0.125"),
            adjacency=Adjacency.ADD_OR_REMOVE,
            source=KeyedSource(bytes([key]) * 32),
        )
        low, high = found.finding[0].between(found.bounds_of("cigs"))
        missed += np.mean((low > SMOKED) | (high < SMOKED)) > 0.1
        off = max(off, abs(found["cigs"]["mean"].value - SMOKED.mean()))
    return missed, off


def test_found_bounds_hold_nearly_all_records_though_half_have_one_value():
    """A sixteenth of epsilon 2, as of a table of 16 columns; the control are the outermost magnitudes."""
    missed, off = smoked("outward")
    assert missed <= RUNS / 10
    assert off < 6
    control, far = smoked("outermost")
    assert control >= (15 if is_everything() else RUNS / 5)
    assert far > 7


def test_the_way_bounds_are_found_is_told_only_where_they_are_found():
    declared = Describe(("age",), bounds={"age": (0, 120)})
    assert declared.canonical() == dataclasses.replace(declared, search="outermost").canonical()
    assert Describe(numbers=("age",)).canonical().search == "outward"
    with pytest.raises(ParameterError, match="search must be outermost or outward, got 'far'"):
        Describe(numbers=("age",), search="far")


@pytest.mark.parametrize("missing", ["0", 0, "500"])
def test_a_value_for_missing_records_of_all_columns_is_moved_into_bounds_that_are_found(missing):
    weights = np.random.default_rng(4).normal(70, 9, 2_000)
    weights[::50] = np.nan
    found = release(
        Describe(("weight",), numbers=("weight",), missing=missing),
        trust=Central({"weight": weights}),
        privacy=PureDP(9),
        source=KeyedSource.from_seed(1),
    )
    low, high = found.finding[0].between(found.bounds_of("weight"))
    assert low <= found["weight"]["mean"].missing <= high


def test_what_is_declared_is_not_read_from_the_table():
    declared = Describe(("age", "smoker", "x"), bounds={"age": (0, 120)}, values={"smoker": "yes"}, numbers=("x",))
    kinds = {"age": "numbers", "smoker": "text", "x": "numbers"}
    changed = {"age": "text", "smoker": "truth values", "x": "dates"}
    one, other = (declared.completed_by(Schema(tuple(each), each.get, guessed=True)) for each in (kinds, changed))
    assert one == other
    assert one.guessed == ()
    control = Describe(("age", "died"), bounds={"age": (0, 120)})
    told = control.completed_by(Schema(("age", "died"), {"died": "truth values"}.__getitem__, guessed=True))
    assert told.guessed == ("died",)


def test_columns_that_cannot_be_described_are_left_out_and_named(caplog):
    with caplog.at_level("WARNING", logger="ogive.releasing.release"):
        found = described()
    told = [record.getMessage() for record in caplog.records if "not described" in record.getMessage()]
    assert [message.split(":")[1].strip() for message in told] == ["ward", "note"]
    assert found.left_out.keys() == {"ward", "note"}
    assert "Not described: ward, note, since text" in str(found)
    with pytest.raises(ParameterError, match=r"column 'note' cannot be described, since text has no mean"):
        described(columns=("age", "pressure", "smoker", "sex", "note"))


def test_persons_are_described_without_their_column():
    data = {**people(), "who": np.arange(N) // 2}
    model = Central(data, person="who", max_rows_per_person=2)
    found = release(Describe(**ASKED), trust=model, privacy=PureDP(4), adjacency=ADD)
    assert "who" not in [each.column for each in found]
    assert "who" not in found.left_out


def test_missing_values_have_a_policy_each():
    data = people()
    data["age"] = np.where(np.arange(N) % 10 == 0, np.nan, data["age"])
    with pytest.raises(DataError, match="age"):
        described(data=data)
    dropped = described(None, ADD, Clear, data=data, missing="drop")
    assert dropped["age"]["mean"].records == N - N // 10
    assert dropped["pressure"]["mean"].records == N
    mixed = described(None, ADD, Clear, data=data, missing={"age": "low", "*": "drop"})
    assert mixed["age"]["mean"].records == N
    with pytest.raises(ParameterError, match="would publish how many values are missing"):
        described(data=data, missing="drop")


def with_holes():
    data, places = people(), np.arange(N)
    age = np.where(places % 10 == 0, np.nan, data["age"])
    smoker = np.where(places % 4 == 0, None, data["smoker"].astype(object))
    sex = np.where(places % 5 == 0, None, data["sex"].astype(object))
    return {"age": age, "smoker": smoker, "sex": sex, "ward": data["ward"]}


HOLES = {"bounds": {"age": (0, 120)}, "values": {"smoker": "yes", "sex": ("F", "M")}, "missing": "drop"}


@pytest.mark.parametrize("groups", [{}, WARDS], ids=["everyone", "groups"])
def test_missing_values_are_counted_where_asked_for(groups):
    exact = described(None, ADD, Clear, data=with_holes(), **HOLES, count_missing=True, **groups)
    frame = pd.DataFrame(with_holes())
    parts = [(None, frame), *(frame.groupby("ward") if groups else ())]
    for group, part in parts:
        for column in ("age", "smoker", "sex"):
            known = exact.of(column, group)["known"]
            assert known.value == pytest.approx(part[column].notna().mean())
            assert known.records == len(part)
    lines = [line.split() for line in str(exact).split("\n") if "Missing, n (%)" in line]
    assert [line[3:5] for line in lines] == [["300", "(10.0)"], ["750", "(25.0)"], ["600", "(20.0)"]]
    rows = exact.to_frame(backend="pandas").query("statistic == 'missing' and group.isna()")
    assert rows["estimate"].tolist() == pytest.approx([0.1, 0.25, 0.2])
    noisy = described(PureDP(20), ADD, data=with_holes(), **HOLES, count_missing=True, **groups)
    assert covers(PureDP(20), noisy.provenance.price)
    assert float(noisy.provenance.price.epsilon) > 0.97 * 20
    assert noisy.errors(exact)["missing of age"] < 0.05
    assert type(noisy).from_dict(noisy.to_dict()) == noisy
    assert "how many records have a value" in render_report([noisy], truths=[exact], title="Wards")
    without = described(None, ADD, Clear, data=with_holes(), **HOLES, **groups)
    with pytest.raises(ParameterError, match="the truth must count missing values too"):
        noisy.errors(without)
    assert "missing of age" not in without.errors(exact)
    assert "how many records have a value" not in render_report([without], title="Wards")


def test_no_more_is_asked_where_missing_values_are_not_counted():
    """Nor of variables that refuse them or have them as a category; stored questions stay what they were."""
    from ogive.statistics.base import describe as plain

    asked = Describe(
        values={"sex": ("F", "M"), "died": True, "smoker": "yes"}, missing={"sex": "count", "smoker": "no"}
    )
    counts = dataclasses.replace(asked, count_missing=True)
    assert "count_missing" not in plain(asked)
    assert plain(counts)["count_missing"] is True
    assert [each.parts[1:] for each in asked.variables] == [()] * 3
    assert [each.parts[1:] for each in counts.variables] == [(), (), ("known",)]
    plan = ogive.plan(counts, privacy=PureDP(2), records=N)
    assert "smoker: missing %" in plan.chosen.errors
    assert "sex: missing %" not in plan.chosen.errors
    assert "how many there are is published with noise" in str(plan)


def test_the_noise_of_counted_missing_values_is_as_large_as_it_says():
    asked = {"bounds": {}, "values": {"smoker": "yes"}, "columns": ("smoker",)}
    runs, data = size(300, part=100), with_holes()
    each = [
        described(PureDP(1), data=data, **asked, missing="no", count_missing=True)["smoker"]["known"]
        for _ in range(runs)
    ]
    errors = np.array([found.value - 0.75 for found in each]) / each[0].noise_error
    # the mean square of 300 draws of Laplace noise is within 0.5 of 1, but for a chance of 1 in 10,000; of 100 in 0.87
    assert abs(np.mean(errors**2) - 1) < 0.5 * np.sqrt(300 / runs)
    assert np.mean((errors * 2) ** 2) > 2  # control


def test_of_a_subset_and_under_secure_aggregation():
    asked = ogive.Subset(Describe(("age", "died"), bounds={"age": (0, 120)}), "ward == 'A'")
    found = release(asked, trust=Central(people()), privacy=PureDP(8))
    frame = pd.DataFrame(people()).query("ward == 'A'")
    assert found["died"]["proportion"].value == pytest.approx(frame["died"].mean(), abs=0.05)
    assert type(found).from_dict(found.to_dict()) == found
    parts = [{name: values[start::3] for name, values in people().items()} for start in range(3)]
    together = release(Describe(**ASKED, **WARDS), trust=SecAgg(parts), privacy=PureDP(8))
    assert together["died"]["proportion"].value == pytest.approx(people()["died"].mean(), abs=0.05)
    with pytest.raises(UnsupportedError, match="an owner sends one report"):
        described(trust=ogive.Local)


def test_a_session_pays_once_and_refuses_before_it_spends():
    session = ogive.Session(people(), limit=PureDP(3))
    first = session.describe(**ASKED, privacy=PureDP(2))
    assert session.describe(**ASKED, privacy=PureDP(2)) == first
    assert session.remaining == PureDP(1)
    with pytest.raises(DataError, match="ward"):
        session.describe(("age", "ward"), bounds={"age": (0, 120), "ward": (0, 1)}, privacy=PureDP(1))
    assert session.remaining == PureDP(1), "what a later query cannot read is noticed before the first is paid"
    with pytest.raises(BudgetError):
        session.describe(**ASKED, privacy=PureDP("1.5"))


def test_a_lowered_price_and_estimates_in_another_order_are_refused():
    data = described(PureDP(2), **WARDS).to_dict()
    lowered = {**data, "provenance": {**data["provenance"], "price": PureDP("0.9").to_dict()}}
    lowered["found"] = [
        {**each, "provenance": {**each["provenance"], "price": PureDP("0.9").to_dict()}} for each in data["found"]
    ]
    for each in lowered["found"]:
        if each["schema"] == "ogive.quantiles/1":
            each["curve"] = {**each["curve"], "provenance": each["provenance"]}
    with pytest.raises(DataError, match=r"their stated price is epsilon = 0\.9"):
        ogive.DescribeEstimate.from_dict(lowered)
    turned = {**data, "found": data["found"][::-1]}
    with pytest.raises(DataError, match="those of the variables and groups"):
        ogive.DescribeEstimate.from_dict(turned)


BAD = {
    "a column twice": ({"columns": ("age", "age")}, "named once"),
    "bounds without a column": ({"bounds": (0, 120)}, "must be given by column"),
    "reversed bounds": ({"bounds": {"age": (120, 0)}}, "column 'age': the lower bound must be below"),
    "no values": ({"values": {"smoker": ()}}, "name the values of column 'smoker'"),
    "a category twice": ({"values": {"sex": ("F", "F")}}, "named once"),
    "bounds and values": ({"bounds": {"smoker": (0, 1)}}, "has `bounds` and `values`"),
    "not described": ({"columns": ("age",)}, "is declared and not described"),
    "groups alone": ({"groups": ("A",)}, "are the values of a column"),
    "public groups without names": ({"by": "ward", "public_groups": True}, "groups that everybody may know are named"),
    "the groups' column": ({"by": "smoker", "groups": ("yes",)}, "is that of the groups"),
    "no weight": ({"weights": {"age": 0}}, "must be above 0"),
    "nothing to count": ({"count_missing": True}, "counts missing values, and every variable refuses them"),
    "no truth value": ({"missing": "drop", "count_missing": "yes"}, "must be True or False"),
    "a policy that is none": ({"missing": "ignore"}, "missing"),
    "a bound of none": ({"numbers": ("x",), "missing": {"x": "low"}}, "a bound that is not declared"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(name):
    options, words = BAD[name]
    with pytest.raises(ParameterError) as problem:
        Describe(**{**ASKED, **options})
    assert words in problem.value.marked
    assert "\n" not in str(problem.value)


def test_columns_that_are_not_there_are_one_line():
    with pytest.raises(DataError, match="no column 'agee'; did you mean 'age'"):
        described(columns=("agee",), bounds={"agee": (0, 1)}, values={})
    with pytest.raises(DataError, match="no column 'nobody'"):
        described(by="nobody", groups=(1,))
    with pytest.raises(ParameterError, match="no variable is left"):
        release(Describe(), trust=Central({"note": ["a", "b"]}), privacy=PureDP(1))


def test_text_fits_into_100_columns_and_frames_have_a_row_for_each_number():
    groups = tuple(f"ward number {number}" for number in range(9 if is_everything() else 5))
    data = {**people(), "ward": np.array(groups)[np.arange(N) % len(groups)]}
    found = described(PureDP(50), data=data, by="ward", groups=groups)
    text = str(found)
    assert max(map(len, text.split("\n"))) <= 100
    assert all(group in text for group in groups)
    frame = found.to_frame(backend="pandas")
    numbers = {"number": 6, "share": 2, "categories": 3}
    assert len(frame) == (len(groups) + 1) * sum(numbers[each.kind] for each in found)
    card = found._repr_html_()
    assert "median [Q1, Q3]" in card


@pytest.mark.parametrize("groups", [{}, WARDS], ids=["everyone", "groups"])
def test_a_plan_says_the_noise_that_releases_have(groups):
    asked = Describe(("age", "died"), bounds={"age": (0, 120)}, values={"died": True}, **groups)
    plan = ogive.plan(asked, privacy=PureDP(2), records=N)
    errors = plan.chosen.errors
    table, source = {**people(), "ward": np.resize(list("ABC"), N)}, KeyedSource.from_seed(1)
    found = release(asked, trust=Central(table), privacy=PureDP(2), source=source)  # other noise may leave no SD
    group = groups.get("groups", (None,))[0]
    # at most, over all means and shares that there can be
    assert 0.9 < errors["age: mean"] / found.of("age", group)["mean"].noise_error < 3
    assert 0.9 < errors["died: %"] / 100 / found.of("died", group)["proportion"].noise_error < 3
    assert "missing values: refused" in str(plan)
    assert "age: median" in str(plan)
    # told of an SD of 12, a tenth of the bounds: the noise is in inverse proportion to the SD
    mean = found.of("age", group)["mean"]
    there = mean.standard_deviation_error * mean.standard_deviation / 12
    assert 0.9 < errors["age: SD"] / there < 3


@pytest.mark.parametrize("adjacency", Adjacency)
def test_a_plan_of_groups_that_nobody_named_has_the_price_and_the_noise_of_the_release(adjacency):
    asked = Describe(("age", "died"), bounds={"age": (0, 120)}, values={"died": True}, by="ward")
    table = {**people(), "ward": np.resize(list("ABC"), N)}
    plan = ogive.plan(asked, privacy=ApproxDP(2, "1e-6"), records=N, adjacency=adjacency)
    found = release(asked, trust=Central(table), privacy=ApproxDP(2, "1e-6"), adjacency=adjacency)
    assert found.provenance.price == plan.chosen.price
    size = N / 3
    told = plan.chosen.errors["died: %"] / 100 * min(1000, N) / size
    assert 0.9 < told / found.of("died", "A")["proportion"].noise_error < 2  # at most, over all shares
    if adjacency is ADD:  # groups are measured at three quarters of epsilon, as named ones would be
        named = dataclasses.replace(asked, groups=("A", "B", "C"))
        three = ogive.plan(named, privacy=PureDP("1.5"), records=3000, adjacency=adjacency)
        assert three.chosen.errors == pytest.approx(plan.chosen.errors, rel=5e-3)
    text = " ".join(str(plan).split())
    assert "not known beforehand: which groups of ward are found" in text
    assert f"fewer than about {found.threshold} records have will probably not" in text
    with pytest.raises(ParameterError, match="delta"):
        ogive.plan(asked, privacy=PureDP(1), records=N)


def test_a_plan_on_a_table_is_that_of_all_its_columns():
    table = people()
    asked = Describe(bounds={"age": (0, 120)})
    plan = ogive.plan(asked, privacy=PureDP(2), records=N, trust=Central(table))
    found = release(asked, trust=Central(table), privacy=PureDP(2))
    assert found.provenance.price == plan.chosen.price
    assert {name.split(":")[0] for name in plan.chosen.errors} == {each.column for each in found}
    text = " ".join(str(plan).split())
    assert "not described: smoker, sex, ward, note, since text has no mean" in text
    session = ogive.Session(table, limit=PureDP(2))
    assert session.plan(asked, privacy=PureDP(2)).chosen.errors == plan.chosen.errors
    with pytest.raises(ParameterError, match="or name the table"):
        ogive.plan(Describe(), privacy=PureDP(1), records=N)


def test_a_plan_says_that_bounds_are_found_and_not_known_beforehand():
    table = people()
    asked = Describe(("age",))
    plan = ogive.plan(asked, privacy=PureDP(2), records=N, trust=Central(table))
    assert set(plan.chosen.errors) == {f"age: {part}, % of the bounds found" for part in ("mean", "SD", "median")}
    assert "not known beforehand: bounds that are not declared" in " ".join(str(plan).split())
    declared = ogive.plan(dataclasses.replace(asked, bounds={"age": (0, 120)}), privacy=PureDP(2), records=N)
    assert "not known beforehand" not in str(declared)


def test_alike_questions_are_one_question():
    words = {"bounds": {"age": ("0", "120")}, "values": {"smoker": ("yes",)}}
    numbers = {"bounds": {"age": (0, 120.0)}, "values": {"smoker": "yes"}}
    from ogive.statistics.base import describe as plain

    one, other = (plain(Describe(("age", "smoker"), **each)) for each in (words, numbers))
    assert one == other
    fields = [field.name for field in dataclasses.fields(Describe) if not is_added(field)]
    assert set(fields) <= one.keys() | {"name"}
    assert len(set(itertools.chain(one, other))) == len(one)


@pytest.mark.each_value
@pytest.mark.parametrize("groups", [{}, WARDS], ids=["everyone", "groups"])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_an_account_of_an_approximate_limit_is_charged_once_for_all(adjacency, groups):
    data = {**people(), **{f"x{number}": people()["age"] for number in range(6)}}
    session = ogive.Session(data, limit=ApproxDP(2, "1e-6"), adjacency=adjacency)
    bounds = {"age": (0, 120), **{f"x{number}": (0, 120) for number in range(6)}}
    session.describe(("age", "died", *bounds)[1:], bounds=bounds, **groups, privacy=ApproxDP(1, "1e-6"))
    (entry,) = session.history
    assert isinstance(entry.charge, ZeroConcentratedDP)
    session.describe(("died",), values={"died": True}, privacy=ApproxDP("0.1", "1e-6"))
    assert len(session.history) == 2


APPROXIMATE = ApproxDP(4, "1e-6")


def wards():
    """People of whom three, fewer than are found but once in 100,000 runs, have a ward of their own, and some none."""
    data = people()
    data["ward"] = ["rare"] * 3 + [None] * 39 + data["ward"].tolist()[42:]
    return data


@pytest.mark.parametrize("adjacency", Adjacency)
def test_groups_that_nobody_named_are_found_within_the_guarantee(adjacency):
    data = wards()
    found = described(APPROXIMATE, adjacency, data=data, by="ward", numbers=("age",), bounds={"pressure": (40, 240)})
    assert found.groups == ("A", "B", "C")
    assert found.provenance.method.startswith("discovery+")
    assert covers(APPROXIMATE, found.provenance.price)
    assert found.provenance.price.epsilon > 3.9
    assert found.provenance.total is None
    assert type(found).from_dict(found.to_dict()) == found
    assert found.of("age", "A")["mean"].provenance.where == "ward == 'A'"
    grouped = N - 42
    for part in (found["sex"]["histogram"], found["pressure"]["mean"]):
        assert part.measured.total is None
        assert part.records == pytest.approx(grouped, abs=300)
    few = f"values of ward with fewer than about {found.threshold} records are in no group"
    text = " ".join(str(found).split())
    assert f"Groups were found: {few}, nor are records without a value; " in text
    assert "not in Overall." in text
    page = render_report([found], title="Wards")
    assert few in page
    truth = described(None, adjacency, Clear, data=data, by="ward", numbers=("age",), bounds={"pressure": (40, 240)})
    assert (truth.groups, truth.threshold) == (("A", "B", "C", "rare"), 1)
    assert "Groups were found: records of no group are not in Overall." in str(truth)
    assert truth["sex"]["histogram"].records == N - 39
    errors = found.errors(truth)
    assert errors["mean of pressure"] < 15
    known = found.exact(truth)
    assert (known.groups, known["sex"]["histogram"].records) == (("A", "B", "C"), grouped)
    assert "rare" not in render_report([found], truths=[truth], title="Wards")
    frame = pd.DataFrame(data)
    mean = frame[frame["ward"] == "B"]["pressure"].mean()
    assert known.of("pressure", "B")["mean"].value == pytest.approx(mean, abs=0.05)


def test_an_account_is_charged_once_for_groups_that_are_found():
    session = ogive.Session(wards(), limit=ApproxDP(8, "1e-5"))
    with pytest.raises(DataError, match="no column 'weight'"):
        session.describe(("weight",), bounds={"weight": (0, 1)}, by="ward", privacy=APPROXIMATE)
    assert session.spent is None
    found = session.describe(("age",), bounds={"age": (0, 120)}, by="ward", privacy=APPROXIMATE)
    (entry,) = session.history
    assert entry.charge == APPROXIMATE
    assert session.describe(("age",), bounds={"age": (0, 120)}, by="ward", privacy=APPROXIMATE) == found
    assert len(session.history) == 1


def test_groups_are_not_found_without_a_delta_a_curator_or_many_records():
    asked = Describe(("age",), bounds={"age": (0, 120)}, by="ward")
    with pytest.raises(ParameterError, match=r"needs a delta; name the values, .*groups="):
        release(asked, trust=Central(wards()), privacy=PureDP(4))
    with pytest.raises(UnsupportedError, match="only by a curator who sees all records"):
        release(asked, trust=SecAgg([wards(), wards()]), privacy=APPROXIMATE)
    with pytest.raises(DataError, match="reaches the threshold"):
        release(asked, trust=Central(wards()), privacy=ApproxDP("0.01", "1e-9"))
    with pytest.raises(DataError, match="reaches the threshold"):
        ogive.plan(asked, privacy=ApproxDP("0.01", "1e-9"), records=N)
    with pytest.raises(ParameterError, match="leave where out"):
        ogive.Subset(asked, "age > 3")


@pytest.fixture(scope="module")
def found_wards():
    """A stored estimate whose groups were found; who changes it copies it first."""
    return described(APPROXIMATE, data=wards(), by="ward").to_dict()


@pytest.mark.parametrize("threshold", [None, 0, "9", True, 2.5, 2**70])
def test_a_threshold_that_is_none_is_refused(threshold, found_wards):
    found = found_wards
    with pytest.raises(DataError, match="threshold"):
        ogive.DescribeEstimate.from_dict({**found, "threshold": threshold})
    for other in ({"by": None, "groups": []}, {"public_groups": True}):
        with pytest.raises(DataError):
            ogive.DescribeEstimate.from_dict({**found, **other})


def test_how_far_noise_moves_standard_deviations_is_said_below_the_table_and_in_frames():
    rng = np.random.default_rng(5)
    table = {"age": rng.integers(20, 80, 600), "ward": rng.choice(["a", "b"], 600)}
    how = {"bounds": {"age": (0, 120)}, "by": "ward", "groups": ("a", "b")}
    found = ogive.describe(table, privacy=ogive.PureDP(1), **how)
    errors = [found.of("age", group)["mean"].standard_deviation_error for group in (None, "a", "b")]
    said = f"Noise changes a standard deviation (SD) by about {number(max(errors), max(errors))} for age;"
    assert said in " ".join(str(found).split())
    assert said in found._repr_html_()
    frame = found.to_frame()
    assert frame.loc[frame["statistic"] == "sd", "standard_error"].tolist() == pytest.approx(errors)
    exact = ogive.describe(table, trust=ogive.Clear, **how)
    assert "Noise changes" not in str(exact)


def test_room_that_noise_leaves_beyond_found_bounds_is_told():
    random = np.random.default_rng(3)
    people = {"cigs": np.where(random.random(4_000) < 0.5, 0, 20), "age": random.integers(30, 70, 4_000)}
    table = ogive.describe(people, privacy=ogive.PureDP(4))
    outside = {column: table.bounds_of(column).records_outside for column in ("cigs", "age")}
    worst = max(outside, key=outside.get)
    said = " ".join(str(table).split())
    assert f"leaves room for {outside[worst]:,} records beyond those of {worst}, " in said
    noisier = " ".join(str(ogive.describe(people, privacy=ogive.PureDP(0.5))).split())
    assert "and the noise hides how many records lie beyond those of " in noisier
    declared = ogive.describe(people, bounds={"cigs": (0, 80), "age": (0, 120)}, privacy=ogive.PureDP(1))
    assert "leaves room for" not in str(declared)


def test_more_groups_than_owners_can_report_of_are_described_by_a_curator():
    table = {"x": np.arange(771) % 100.0, "g": np.arange(771) % 257}
    mean, curve = ogive.Mean("x", bounds=(0, 100)), ogive.Ecdf("x", bounds=(0, 100), bins=16)
    grouped = [ogive.Grouped(each, "g", tuple(range(257)), public=True) for each in (mean, curve)]
    assert len(release(grouped[0], trust=Central(table), privacy=PureDP(9), public=["g"]).estimates) == 257
    for asked in grouped:
        with pytest.raises(UnsupportedError, match="owners answer for at most 256 groups at once, and there are 257"):
            release(asked, trust=ogive.Local(table), privacy=PureDP(9), public=["g"])


def test_a_mean_that_its_interval_does_not_tell_from_its_bounds_is_a_dash():
    few = {"x": np.linspace(0, 120, 40), "g": ["a"] * 40}
    asked = Describe(("x",), bounds={"x": (0, 120)}, by="g", groups=("a", "b"))
    shown = set()
    for seed in range(8):
        for privacy in (PureDP("1/4"), PureDP(20)):
            table = release(asked, trust=Central(few), privacy=privacy, source=KeyedSource.from_seed(seed))
            mean = table.of("x", "a")["mean"]
            [line] = [line for line in str(table).splitlines() if "95 % interval" in line]
            _, of_a, _ = re.split(r" {2,}", line.strip())[1:]
            hidden = not mean.defined or mean.interval() == (0.0, 120.0)
            assert (of_a == "-") == hidden
            shown.add((mean.defined, hidden))
    assert {(True, True), (False, True), (True, False)} <= shown


def test_a_group_without_records_has_no_median_and_no_interval_leaves_the_bounds():
    rng = np.random.default_rng(4)
    table = {"x": np.where(rng.random(600) < 0.7, 0.0, rng.random(600)), "g": ["a"] * 600}
    asked = Describe(("x",), bounds={"x": (0, 1)}, by="g", groups=("a", "b"))
    releases = (
        release(asked, trust=Central(table), privacy=PureDP(2), source=KeyedSource.from_seed(seed))
        for seed in itertools.count()
    )
    found = next(each for each in releases if not each.of("x", "b")["mean"].defined)
    frame = found.to_frame()
    quartiles = frame[frame["statistic"].isin(["q1", "median", "q3"])]
    of_a, of_b = (quartiles[quartiles["group"] == group][["estimate", "low", "high"]] for group in "ab")
    assert of_a.notna().all(axis=None)
    assert of_a["low"].min() == 0
    assert of_b.isna().all(axis=None)
    [line] = [line for line in str(found).splitlines() if "median [Q1, Q3]" in line]
    assert line.split()[-1] == "-"
    # the control: what is read off the noise lies between the bounds all the same
    assert all(0 <= each <= 1 for each in found.of("x", "b")["quantiles"].numbers)


def test_quartiles_that_are_noise_alone_are_not_shown():
    """Noise leaves some records to a group without any, and quartiles that lie anywhere."""
    table = {"x": np.arange(600) / 600, "g": ["a"] * 600}
    asked = Describe(("x",), bounds={"x": (0, 1)}, by="g", groups=("a", "b"))
    shown = 0
    for seed in range(40):
        found = release(asked, trust=Central(table), privacy=PureDP(2), source=KeyedSource.from_seed(seed))
        noisy = found.of("x", "b")
        [line] = [line for line in str(found).splitlines() if "median [Q1, Q3]" in line]
        assert "[" in line.split("]", 1)[1]
        if noisy["mean"].defined and noisy["quantiles"].curve.defined:
            shown += 1
            assert (noisy["quantiles"].low[1], noisy["quantiles"].high[1]) == (0, 1)
            assert line.split()[-1] == "-", line
    assert shown >= 5
    assert found.of("x")["quantiles"].low[0] >= 0
    small = release(asked, trust=Central({"x": np.arange(12) / 12, "g": ["a"] * 12}), privacy=PureDP(1))
    assert set(small.of("x")["quantiles"].low) == {0}  # the first bin lies below the bounds
    # the control: exact quartiles of few records are shown, whatever the interval for the population is
    few = {"x": [0.25, 0.5], "g": ["a", "b"]}
    [line] = [each for each in str(release(asked, trust=Clear(few))).splitlines() if "median [Q1, Q3]" in each]
    assert not line.endswith("-")


@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("adjacency", [REPLACE, ADD])
@pytest.mark.parametrize(
    "privacy", [PureDP(1), ZeroConcentratedDP("0.5"), ApproxDP(1, 1e-6)], ids=["pure", "zcdp", "approximate"]
)
def test_one_group_is_tried_for_all_and_the_division_is_found_once(privacy, adjacency, public):
    """The questions are those of a trial of every group with a division of its own."""
    statistic = Describe(
        ("x", "c"), bounds={"x": (0, 100)}, values={"c": ("p", "q")}, by="g", groups=tuple("abc"), public_groups=public
    )
    terms = Terms(privacy, PrivacyUnit(adjacency), lambda query: None, simulations=0)
    tried = dataclasses.replace(terms, imagined=True)
    divided = {}
    expected = rehearse(statistic._ask(terms, None), terms)
    assert rehearse(statistic._ask(tried, divided), tried) == expected
    assert bool(divided) is (adjacency is Adjacency.REPLACE and not public)
    before = dict(divided)
    assert rehearse(statistic._ask(terms, divided), terms) == expected
    assert divided == before
    assert len(expected) > 1


def test_whoever_asks_on_imagined_terms_gets_an_estimate():
    statistic = Describe(("x",), bounds={"x": (0, 100)}, by="g", groups=("a", "b"))
    terms = Terms(PureDP(1), PrivacyUnit(ADD), lambda query: None, simulations=0, imagined=True)
    results = []

    def kept():
        results.append((yield from statistic.questions(terms)))

    rehearse(kept(), terms)
    assert results[0].groups == ("a", "b")
    assert results[0].of("x", "b")["mean"].defined
