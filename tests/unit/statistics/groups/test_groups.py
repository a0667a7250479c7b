"""Subsets and groups of any statistic: they agree with exact values, cost what is granted, and are stored and shown."""

import json

import numpy as np
import pytest
from helpers.scope import is_everything

import ogive
from ogive import Adjacency, ApproxDP, Central, Clear, Ecdf, Grouped, HosmerLemeshow, PureDP, Quantiles, Roc, Subset
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.noise import KeyedSource
from ogive.releasing.accounts import statement
from ogive.report import render_report
from ogive.statistics.base import describe
from ogive.statistics.kinds import read_estimate

N = 6000
AGE = {"bounds": (0, 100), "bins": 50}
WARDS = ("A", "B", "C")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    ward = rng.choice(WARDS, N, p=[0.5, 0.3, 0.2])
    age = np.clip(rng.normal(np.select([ward == "A", ward == "B"], [40, 60], 50), 10), 0, 99)
    risk = rng.random(N)
    return {
        "ward": ward,
        "age": age,
        "year": rng.integers(2022, 2025, N),
        "risk": risk,
        "ill": (rng.random(N) < risk).astype(int),
    }


STATISTICS = [
    Ecdf("age", **AGE, method="tree_ls"),
    Quantiles("age", (0.5,), **AGE, method="tree_ls"),
    Roc("risk", "ill", bounds=(0, 1), bins=16, method="tree_ls"),
    HosmerLemeshow("risk", "ill", bins=64, groups=4, method="tree_ls"),
    ogive.Mean("age", (0, 100)),
    ogive.Proportion("ill"),
]


def named(statistic):
    return statistic.name


@pytest.mark.each_value
@pytest.mark.parametrize("public", [(), ("ward",)], ids=["hidden", "public"])
@pytest.mark.parametrize("statistic", STATISTICS, ids=named)
def test_groups_are_released_within_one_guarantee_and_stored(statistic, public, table):
    found = ogive.release(Grouped(statistic, "ward", WARDS), trust=Central(table), privacy=PureDP(1), public=public)
    assert found.groups == WARDS
    assert found.provenance.price.epsilon <= 1
    assert found.provenance.total == N
    assert found.public_groups is bool(public)
    for ward, estimate in found:
        assert estimate.provenance.where == f"ward == '{ward}'"
        known = int((table["ward"] == ward).sum()) if public else None
        assert estimate.provenance.total == known
    again = read_estimate(json.loads(found.to_json()))
    assert again.to_dict() == found.to_dict()
    assert "by ward" in str(found).splitlines()[0]
    assert len(str(found).splitlines()) == 5
    assert "by ward" in render_report([found], title="groups")


@pytest.mark.parametrize("statistic", STATISTICS[:2], ids=named)
def test_exact_groups_are_those_of_exact_subsets(statistic, table):
    groups = ogive.release(Grouped(statistic, "ward", WARDS), trust=Clear(table))
    for ward in WARDS:
        alone = ogive.release(
            statistic, trust=Clear({name: values[table["ward"] == ward] for name, values in table.items()})
        )
        subset = ogive.release(Subset(statistic, {"ward": ward}), trust=Clear(table))
        for each in (groups[ward], subset):
            curve, exact = (getattr(found, "curve", None) or found for found in (each, alone))
            assert np.array_equal(curve.cumulative, exact.cumulative)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_a_subset_of_groups_agrees_with_the_records(adjacency, table):
    asked = Subset(Grouped(Quantiles("age", (0.5,), **AGE), "ward", WARDS), "year >= 2023")
    found = ogive.release(asked, trust=Central(table), privacy=PureDP(4), adjacency=adjacency)
    assert found.provenance.where == "year >= 2023"
    assert found["A"].provenance.where == "ward == 'A' and year >= 2023"
    for ward, estimate in found:
        exact = np.median(table["age"][(table["ward"] == ward) & (table["year"] >= 2023)])
        assert abs(estimate.values[0] - exact) < 4


@pytest.mark.parametrize("trust", ["secagg", "servers"])
def test_groups_add_up_among_parties(trust, table):
    simulation = ogive.Simulation(ogive.SecAgg if trust == "secagg" else ogive.Servers, parties=3)
    # groups of probabilities take two rounds, and most of the time of servers
    several = STATISTICS[3:] if is_everything() or trust == "secagg" else STATISTICS[4:]
    for statistic in (STATISTICS[0], *several):
        found = ogive.release(Grouped(statistic, "ward", WARDS), trust=simulation.over(table), privacy=PureDP(2))
        assert len(found) == 3
    owners = ogive.Simulation(ogive.Servers).over({name: values[:300] for name, values in table.items()})
    curves = ogive.release(Grouped(STATISTICS[0], "ward", WARDS), trust=owners, privacy=PureDP(8))
    assert abs(sum(curve.records for curve in curves.estimates) - 300) < 60
    with pytest.raises(UnsupportedError, match="secagg"):
        ogive.release(Subset(STATISTICS[0], {"ward": "A"}), trust=owners, privacy=PureDP(1))


def test_owners_report_their_group_where_it_is_public_and_no_condition(table):
    local = ogive.Local(table)
    asked = Grouped(Ecdf("age", bounds=(0, 100), bins=8), "ward", WARDS)
    found = ogive.release(asked, trust=local, privacy=PureDP(4), public=["ward"])
    assert found["A"].total == int((table["ward"] == "A").sum())
    with pytest.raises(UnsupportedError, match="public"):
        ogive.release(asked, trust=local, privacy=PureDP(4))
    with pytest.raises(UnsupportedError, match="nothing that its owner reports"):
        ogive.release(Subset(asked, "year == 2023"), trust=local, privacy=PureDP(4), public=["ward", "year"])


def test_a_question_is_asked_once_and_by_any_spelling(table):
    session = ogive.Session(table, limit=PureDP(3))
    one = session.ecdf("age", **AGE, where="ward == 'A'", privacy=PureDP(1))
    same = session.release(Subset(Ecdf("age", **AGE), {"ward": ["A"]}), privacy=PureDP(1))
    assert one == same
    groups = session.ecdf("age", **AGE, by="ward", groups=WARDS, privacy=PureDP(1))
    assert session.ecdf("age", **AGE, by="ward", groups=list(WARDS), privacy=PureDP(1)) == groups
    assert str(session.remaining) == "epsilon = 1"
    assert [entry.statistic for entry in session.history] == ["ecdf", "ecdf"]
    assert describe(Subset(Ecdf("age", **AGE), "year == 2023")) != describe(Ecdf("age", **AGE))
    told = statement(session.account)
    assert "where ward == 'A'" in told
    assert "by ward" in told


def test_medians_are_compared_with_an_interval(table):
    session = ogive.Session(table, limit=ApproxDP(20, "1e-6"))
    found = session.quantiles("age", [0.25, 0.5], **AGE, by="ward", groups=WARDS, privacy=PureDP(4))
    gap = found.difference("B", "A")
    assert 10 < gap.low < gap.high < 30
    assert gap.value == found["B"].values[1] - found["A"].values[1]
    assert found.difference("B", "A", probability=0.25).what == "25 % quantile of age"
    assert 1.2 < found.ratio("B", "A").low < found.ratio("B", "A").high < 1.9
    assert str(gap).startswith("difference of the median of age, ward B minus A: ")
    curves = session.ecdf("age", **AGE, by="ward", groups=WARDS, privacy=PureDP(4))
    assert 10 < curves.difference("B", "A").low < curves.difference("B", "A").high < 30
    areas = session.roc("risk", "ill", bounds=(0, 1), by="ward", groups=WARDS, privacy=PureDP(4))
    assert -0.2 < areas.difference("A", "B").low < areas.difference("A", "B").high < 0.2
    for wrong, words in (
        (lambda: found.difference("A", "D"), "no group 'D'"),
        (lambda: found.difference("A", "A"), "give two different groups to compare, got 'A' twice"),
        (lambda: found.ratio("B", "B"), "give two different groups to compare, got 'B' twice"),
        (lambda: found.difference("A", "B", probability=0.75), "one of those released"),
        (lambda: found.difference("A", "B", confidence_level=0.9), "one level alone"),
        (lambda: found.difference("A", "B", probability=2), "probability"),
    ):
        with pytest.raises(ParameterError, match=words):
            wrong()


def test_means_and_shares_are_compared_with_an_interval(table):
    session = ogive.Session(table, limit=PureDP(20))
    ages = session.mean("age", bounds=(0, 100), by="ward", groups=WARDS, privacy=PureDP(2))
    gap = ages.difference("B", "A", confidence_level=0.999)
    exact = table["age"][table["ward"] == "B"].mean() - table["age"][table["ward"] == "A"].mean()
    assert gap.low < exact < gap.high
    # of what was measured of each group alone: sizes that add up to a public number have noise that is not independent
    alone, agreed = (np.hypot(*(each.standard_error for each in both)) for both in (
        [ages[ward].alone() for ward in "AB"], [ages[ward] for ward in "AB"]
    ))  # fmt: skip
    assert gap.standard_error == pytest.approx(alone)
    assert agreed < alone
    assert sum(each.records for _, each in ages) == pytest.approx(N)
    quotient = ages.ratio("B", "A")
    assert 1.4 < quotient.low < quotient.value < quotient.high < 1.6
    ill = session.proportion("ill", by="ward", groups=WARDS, where="year == 2023", privacy=PureDP(2))
    assert -0.15 < ill.difference("A", "C").low < ill.difference("A", "C").high < 0.15
    again = session.proportion("ill", by="ward", groups=WARDS, where="year == 2023", privacy=PureDP(2))
    assert again == ill, "the stored answer is read, although records may move between groups"
    plan = ogive.plan(Grouped(ogive.Mean("age", (0, 100)), "ward", WARDS), records=N, privacy=PureDP(1))
    assert plan.chosen.price.epsilon <= 1


def test_a_price_that_was_lowered_in_a_file_of_a_hidden_subset_is_noticed(table):
    found = ogive.release(Subset(ogive.Mean("age", (0, 100)), "year == 2023"), trust=Central(table), privacy=PureDP(1))
    data = json.loads(found.to_json())
    assert read_estimate(data) == found
    data["provenance"]["price"]["epsilon"] = "1/2"
    with pytest.raises(DataError, match="stated price"):
        read_estimate(data)
    data["provenance"]["price"]["epsilon"] = "1"
    del data["provenance"]["where"]
    with pytest.raises(DataError, match="hides"):
        read_estimate(data)


@pytest.mark.everything
def test_plans_are_those_of_one_part_at_the_joined_price(table):
    asked = Grouped(Ecdf("age", **AGE), "ward", WARDS)
    hidden, known = (
        ogive.plan(asked, records=N, privacy=PureDP(1), public=public).chosen for public in ((), ("ward",))
    )
    assert known.errors["rmse"] < hidden.errors["rmse"] < 2.2 * known.errors["rmse"]
    part = ogive.plan(Ecdf("age", **AGE), records=N // 3, privacy=PureDP(1)).chosen
    assert known.errors["rmse"] == pytest.approx(part.errors["rmse"])
    assert hidden.price.epsilon <= 1
    whole = ogive.plan(Subset(asked, "year == 2023"), records=N, privacy=PureDP(1))
    assert "by ward" in str(whole).splitlines()[0]
    assert "where year == 2023" in str(whole).splitlines()[0]
    with pytest.raises(ParameterError, match="how many records satisfy"):
        ogive.Session(table, limit=PureDP(1)).plan(Subset(asked, "year == 2023"))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: Grouped(Subset(STATISTICS[0], "age > 3"), "ward", WARDS), "put a condition around the groups"),
        (lambda: Subset(Subset(STATISTICS[0], "age > 3"), "age > 4"), "join both"),
        (lambda: Grouped(ogive.Boxplot("age", bounds=(0, 1)), "ward", WARDS), "groups of its own"),
        (lambda: Grouped(ogive.Ustatistic("age", bounds=(0, 1)), "ward", WARDS), "statistics of pairs"),
        (lambda: Grouped(STATISTICS[0], "ward", "AB"), "say which groups"),
        (lambda: Grouped(STATISTICS[0], "ward", ("A", "A")), "named twice"),
        (lambda: Grouped(STATISTICS[0], 3, ("A",)), "column's name"),
        (lambda: Subset(STATISTICS[0], "age >"), "where"),
        (lambda: Subset(Ecdf, "age > 3"), "statistic"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_in_one_line(made, words):
    with pytest.raises(ParameterError, match=words) as refused:
        made()
    assert "\n" not in str(refused.value)


def test_points_are_not_opened_of_groups(table):
    asked = Grouped(Quantiles("age", (0.5,), **AGE, method="bisection"), "ward", WARDS)
    with pytest.raises(UnsupportedError, match="a release for each group"):
        ogive.release(asked, trust=Central(table), privacy=PureDP(1))


def test_a_verb_says_what_is_missing(table):
    session = ogive.Session(table, limit=PureDP(3))
    for given, words in (({"by": "ward"}, "needs a delta"), ({"groups": WARDS}, "name it with by=")):
        with pytest.raises(ParameterError, match=words):
            session.ecdf("age", **AGE, privacy=PureDP(1), **given)
    with pytest.raises(DataError, match="not declared"):
        session.ecdf("age", **AGE, privacy=PureDP(1), by="ward", groups=("A", "B"))
    assert session.spent is None


@pytest.mark.parametrize(
    "change",
    [
        {"by": 3},
        {"groups": ["A", "A", "C"]},
        {"groups": ["A", "B"]},
        {"estimates": []},
        {"public_groups": "no"},
        {"estimates": [None, None, None]},
        {"provenance": None},
    ],
)
def test_what_contradicts_itself_is_not_read(change, table):
    data = ogive.release(Grouped(STATISTICS[0], "ward", WARDS), trust=Central(table), privacy=PureDP(1)).to_dict()
    with pytest.raises((DataError, ParameterError)):
        ogive.GroupEstimates.from_dict({**data, **change})
    swapped = {**data, "estimates": data["estimates"][::-1]}
    with pytest.raises(DataError, match="condition"):
        ogive.GroupEstimates.from_dict(swapped)


@pytest.mark.parametrize("statistic", STATISTICS, ids=named)
def test_a_chapter_says_nothing_of_one_group_as_if_it_were_of_all(statistic, table):
    found = ogive.release(Grouped(statistic, "ward", WARDS), trust=Central(table), privacy=PureDP(1))
    chapters = [estimate.view().chapter() for estimate in found.estimates]
    whole = found.view().chapter()
    said = {*whole.error, *whole.released, *whole.details}
    for number, each in enumerate(chapters):
        others = chapters[:number] + chapters[number + 1 :]
        alone = [
            part
            for part in (*each.error, *each.released, *each.details)
            if not any(part in (*other.error, *other.released, *other.details) for other in others)
        ]
        assert not said & set(alone)
    if statistic.name in ("mean", "roc"):
        assert any(part not in said for part in chapters[0].error), "the control: a group has numbers of its own"


@pytest.mark.parametrize("statistic", [ogive.Mean("age", (0, 100)), Ecdf("age", **AGE)], ids=named)
def test_a_column_of_groups_may_have_any_name(statistic, table):
    renamed = {**table, "x": table["ward"]}
    found = ogive.release(Grouped(statistic, "x", WARDS), trust=Central(renamed), privacy=PureDP(1))
    assert found.groups == WARDS


@pytest.fixture(scope="module")
def means(table):
    session = ogive.Session(table, limit=PureDP(20))
    return session.mean("age", bounds=(0, 100), by="ward", groups=WARDS, privacy=PureDP(2))


def test_contrasts_are_kept_with_the_estimates_and_computed_anew_by_readers(means):
    compared = means.with_contrasts(means.difference("A", "B"), means.ratio("B", "C", confidence_level=0.8))
    assert compared.with_contrasts(means.difference("A", "B")) == compared, "each is kept once"
    assert means.contrasts == ()
    data = json.loads(compared.to_json())
    assert read_estimate(data) == compared
    assert [str(each) in str(compared) for each in compared.contrasts] == [True, True]
    for row in data["contrasts"]:
        row.update(value=9.0, interval=[8.0, 10.0], what="mean of a lie")
    assert read_estimate(data) == compared, "results of a stranger's file are not believed"
    assert "contrasts" not in means.to_dict()


def test_contrasts_of_numbers_that_noise_leaves_undefined_are_kept(table):
    few = {name: values[:4] for name, values in table.items()}
    for seed in range(40):
        found = ogive.release(
            Grouped(ogive.Mean("age", (0, 100)), "ward", WARDS), trust=Central(few), privacy=PureDP("0.01"),
            adjacency="add_or_remove", source=KeyedSource.from_seed(seed),
        )  # fmt: skip
        gap, quotient = found.difference("A", "B"), found.ratio("A", "B")
        if not gap.defined:
            break
    assert not gap.defined
    compared = found.with_contrasts(gap, quotient)
    data = json.loads(compared.to_json())
    assert data["contrasts"][1]["interval"] == [None, None]
    assert data["contrasts"][0]["value"] is None
    assert read_estimate(data).to_json() == compared.to_json()
    assert "noise leaves no number" in str(compared)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("kind", "product", "must be difference or ratio"),
        ("kind", 3, "must be a short text"),
        ("group", None, "must be numbers, texts or truth values"),
        ("group", "Z", "there is no group 'Z'"),
        ("other", "A", "give two different groups"),
        ("probability", 2, "a number from 0 to 1"),
        ("confidence_level", 1, "strictly between 0 and 1"),
        ("confidence_level", 0.99999, "at most 0.9999"),
    ],
)
def test_damaged_contrasts_are_refused(means, field, value, words):
    data = means.with_contrasts(means.difference("A", "B")).to_dict()
    assert read_estimate(data).contrasts
    data["contrasts"] = [{**data["contrasts"][0], field: value}]
    with pytest.raises(DataError, match=words):
        read_estimate(data)


def test_lists_of_contrasts_that_are_empty_or_endless_are_refused(means):
    data = means.with_contrasts(means.difference("A", "B")).to_dict()
    for rows, words in (([], "at least one"), (data["contrasts"] * 1001, "at most 1000"), ({}, "must be a list")):
        with pytest.raises(DataError, match=words):
            read_estimate({**data, "contrasts": rows})


def test_contrasts_of_other_groups_are_not_attached(means, table):
    session = ogive.Session(table, limit=PureDP(20))
    years = session.mean("age", bounds=(0, 100), by="year", groups=(2022, 2023, 2024), privacy=PureDP(2))
    for wrong in (years.difference(2023, 2024), 3):
        with pytest.raises(ParameterError, match="must be those that their difference or ratio gave"):
            means.with_contrasts(wrong)


NOBODY = {
    "ecdf": Ecdf("age", **AGE, method="tree_ls"),
    "quantiles": Quantiles("age", (0.25, 0.5), **AGE, method="tree_ls"),
}


@pytest.mark.parametrize("name", NOBODY)
def test_a_group_that_noise_leaves_without_a_record_has_no_median(name, table):
    """As of means, from a number of records of less than 1 on: what is read off the noise is not shown."""
    seen = set()
    for seed in range(12):
        found = ogive.release(
            Grouped(NOBODY[name], "ward", (*WARDS, "zz")), trust=Central(table), privacy=PureDP(20),
            source=KeyedSource.from_seed(seed),
        )  # fmt: skip
        nobody = found["zz"]
        curve = nobody if name == "ecdf" else nobody.curve
        left = curve.records >= 1
        kind = "some" if left else "a part of one" if curve.defined else "none"
        if kind in seen:
            continue
        seen.add(kind)
        cells = str(found).splitlines()[5].split()[1:]
        expected = {"ecdf": ["-", "-", "-"], "quantiles": ["-", "-"]}[name]
        assert (cells[-len(expected) :] == expected) is not left
        assert ("no records" in str(nobody)) is not left
        assert ("no records" in nobody._repr_html_()) is not left
        assert found.difference("A", "zz").defined is left
        assert read_estimate(json.loads(found.to_json())).to_json() == found.to_json()
        assert found.plot() is not None
        report = render_report([nobody], title="Nobody")
        assert ("so the curve carries no information" in report) is not left
        assert (">Quantiles<" in report) is left
        if name == "quantiles":
            assert nobody.to_frame("pandas")["value"].isna().all() == (not left)
            assert nobody.plot() is not None
    assert seen == {"some", "a part of one", "none"}


def test_curves_of_dates_are_compared_in_days():
    day = np.datetime64("2024-01-01") + np.arange(200) % 100
    table = {"seen": np.concatenate([day, day + 30]), "ward": np.repeat(["A", "B"], 200)}
    statistic = ogive.Grouped(ogive.Ecdf("seen", ("2024-01-01", "2024-06-30")), "ward", ("A", "B"))
    released = ogive.release(statistic, trust=ogive.Clear(table))
    difference = released.difference("B", "A")
    assert difference.low <= difference.value == 30 <= difference.high
