"""Groups that nobody has named: they are found, asked within one guarantee, and said to be what they are."""

import numpy as np
import pytest

import ogive
from ogive import (
    Adjacency,
    ApproxDP,
    Central,
    Clear,
    Describe,
    Ecdf,
    Grouped,
    Histogram,
    Mean,
    Proportion,
    PureDP,
    Quantiles,
    Subset,
)
from ogive.accounting import covers
from ogive.core.checks import as_written
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.noise import KeyedSource
from ogive.report import render_report
from ogive.statistics.base import describe
from ogive.statistics.kinds import read_estimate

N = 6000
GRANT = ApproxDP(1, "1e-6")
STATISTICS = [
    Ecdf("age", bounds=(0, 100), bins=50, method="tree_ls"),
    Ecdf("age", bounds=(0, 100), bins=50),
    Quantiles("age", (0.5,), bounds=(0, 100), bins=50),
    Mean("age", (0, 100)),
    Proportion("ill"),
]


@pytest.fixture(scope="module")
def table():
    """Three large wards, one of 12 records, and some records without one."""
    rng = np.random.default_rng(5)
    ward = rng.choice(["A", "B", "C", None], N, p=[0.5, 0.3, 0.15, 0.05])
    ward[:12] = "rare"
    return {
        "ward": ward.tolist(),
        "age": np.clip(rng.normal(50, 10, N), 0, 99),
        "ill": (rng.random(N) < 0.3).astype(int),
        "who": np.arange(N) // 2,
    }


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda statistic: statistic.name)
def test_groups_are_found_and_asked_within_one_guarantee_and_stored(statistic, adjacency, table):
    # with other noise the ward of 12 records is among them once in a while
    source = KeyedSource.from_seed(1)
    found = ogive.release(
        Grouped(statistic, "ward"), trust=Central(table), privacy=GRANT, adjacency=adjacency, source=source
    )
    assert found.groups == ("A", "B", "C")
    assert covers(GRANT, found.provenance.price)
    assert found.provenance.price.epsilon > 0.99
    assert found.threshold == {Adjacency.REPLACE: 107, Adjacency.ADD_OR_REMOVE: 54}[adjacency]
    assert found.provenance.method.startswith("discovery+")
    for ward, estimate in found:
        assert estimate.provenance.where == f"ward == '{ward}'"
        assert estimate.provenance.total is None
    assert read_estimate(found.to_dict()) == found
    note = str(found).splitlines()[-1]
    assert note.startswith(f"groups were found: values of ward with fewer than about {found.threshold} records ")
    assert note in found._repr_html_()
    truth = ogive.release(Grouped(statistic, "ward"), trust=Clear(table), adjacency=adjacency)
    assert (truth.groups, truth.threshold) == (("A", "B", "C", "rare"), None)
    assert all(np.isfinite(error) for error in found.errors(truth).values())
    exact = None if statistic.name == "quantiles" else truth  # without noise quantiles have other thresholds
    page = render_report([found], truths=[exact], title="Wards")
    assert note[1:] in page
    assert "rare" not in page


def test_a_group_has_the_records_of_its_value_alone(table):
    """Beside noise: what is released of a group that was found is what is released of it where it is named."""
    much = ApproxDP(4000, "1e-6")
    found = ogive.release(Grouped(Mean("age", (0, 100)), "ward"), trust=Central(table), privacy=much)
    for ward, estimate in found:
        of_ward = np.array([value for value, each in zip(table["age"], table["ward"], strict=True) if each == ward])
        assert estimate.value == pytest.approx(of_ward.mean(), abs=0.05)


def test_a_quarter_of_epsilon_and_all_of_delta_find_the_groups(table):
    session = ogive.Session(table, limit=ApproxDP(2, "1e-5"))
    found = session.mean("age", bounds=(0, 100), by="ward", privacy=GRANT)
    wards = ogive.release(Mean("age", (0, 100)), trust=Central(table), privacy=PureDP("0.75"))
    assert found.provenance.price.delta <= GRANT.delta
    spent = session.spent
    assert 0.99 < spent.epsilon <= GRANT.epsilon
    again = session.mean("age", bounds=(0, 100), by="ward", privacy=GRANT)
    assert again == found
    assert session.spent == spent
    # two groups share what is left under REPLACE, and each has about half of the noise of all records at its epsilon
    assert min(each.standard_error for _, each in found) > wards.standard_error


def test_persons_with_several_records_raise_the_threshold(table):
    session = ogive.Session(
        table, person="who", max_rows_per_person=2, adjacency="add_or_remove", limit=ApproxDP(2, "1e-5")
    )
    found = session.mean("age", bounds=(0, 100), by="ward", privacy=GRANT)
    assert found.threshold > 2 * 54
    assert covers(GRANT, found.provenance.price)


@pytest.mark.parametrize("seed", range(20))
def test_a_group_of_one_record_is_not_found(seed, table):
    one = {**table, "ward": ["A"] * (N - 1) + ["alone"]}
    found = ogive.release(
        Grouped(Proportion("ill"), "ward"), trust=Central(one), privacy=GRANT, source=KeyedSource.from_seed(seed)
    )
    assert found.groups == ("A",)


def test_of_more_groups_than_are_asked_the_largest_are():
    wards = [f"{number:04}" for number in range(266) for _ in range(8 if number < 10 else 30)]
    table = {"ward": wards, "ill": [0] * len(wards)}
    found = ogive.release(Grouped(Proportion("ill"), "ward"), trust=Central(table), privacy=ApproxDP(100, "1e-6"))
    assert len(found) == 256
    assert found.groups[0] == "0010"


NAMED = Grouped(Proportion("ill"), "ward", ("A", "B", "C", "rare"))


@pytest.mark.parametrize(
    ("statistic", "grant", "error", "words"),
    [
        (Grouped(Proportion("ill"), "ward"), PureDP(1), ParameterError, "needs a delta; name the values, .*groups="),
        (Grouped(Proportion("ill"), "ward"), ApproxDP("0.01", "1e-6"), DataError, "reaches the threshold"),
        (Grouped(Proportion("ill"), "wart"), GRANT, DataError, "no column 'wart'"),
        (Grouped(Proportion("sick"), "ward"), GRANT, DataError, "no column 'sick'"),
    ],
    ids=["pure", "little", "by", "column"],
)
def test_what_is_wrong_is_said_in_one_line(statistic, grant, error, words, table):
    with pytest.raises(error, match=words) as refused:
        ogive.release(statistic, trust=Central(table), privacy=grant)
    assert "\n" not in str(refused.value)


def test_what_is_wrong_with_the_statistic_is_found_before_groups_are_paid_for(table):
    session = ogive.Session(table, limit=ApproxDP(2, "1e-5"))
    for wrong in ({"column": "sick"}, {"column": "ward"}):
        with pytest.raises(DataError):
            session.mean(**wrong, bounds=(0, 100), by="ward", privacy=GRANT)
    assert session.spent is None


@pytest.mark.parametrize("trust", ["secagg", "servers", "local", "pairs"])
def test_only_a_curator_finds_groups(trust, table):
    options = {"parties": 3} if trust in ("secagg", "servers") else {}
    model = ogive.Simulation(trust, **options).over(table)
    with pytest.raises(UnsupportedError, match=r"only by a curator who sees all records; name the values, .*groups="):
        ogive.release(Grouped(Proportion("ill"), "ward"), trust=model, privacy=GRANT)


def test_groups_are_not_found_where_they_would_have_to_be_known():
    with pytest.raises(ParameterError, match="groups that everybody may know are named"):
        Grouped(Proportion("ill"), "ward", public=True)
    with pytest.raises(ParameterError, match="leave where out"):
        Subset(Grouped(Proportion("ill"), "ward"), "age > 3")
    with pytest.raises(ParameterError, match="must be a column's name"):
        Grouped(Proportion("ill"), 3)
    with pytest.raises(ParameterError, match="a plan needs groups"):
        ogive.plan(Grouped(Proportion("ill"), "ward"), records=1000, privacy=GRANT)


def test_named_groups_are_the_question_that_they_were(table):
    assert describe(NAMED)["groups"] == ["A", "B", "C", "rare"]
    assert describe(Grouped(Proportion("ill"), "ward"))["groups"] is None
    found = ogive.release(
        Grouped(Proportion("ill"), "ward", ("A", "B")),
        trust=Central({"ward": ["A", "B"] * 500, "ill": [0, 1] * 500}),
        privacy=GRANT,
    )
    assert found.threshold is None
    assert "threshold" not in found.to_dict()
    assert "were found" not in str(found)


@pytest.mark.parametrize("threshold", [None, 1, 0, "9", True, 2.5, 2**70])
def test_a_threshold_that_is_none_is_refused(threshold, table):
    found = ogive.release(Grouped(Proportion("ill"), "ward"), trust=Central(table), privacy=GRANT)
    with pytest.raises(DataError, match="threshold"):
        read_estimate({**found.to_dict(), "threshold": threshold})


@pytest.mark.parametrize(
    "statistic", [Grouped(Mean("x", (0, 10)), "g"), Describe(("x",), bounds={"x": (0, 10)}, by="g")]
)
def test_values_that_differ_in_blanks_alone_are_one_found_group(statistic):
    table = {"x": np.arange(900) % 10, "g": ["A", "A ", "B"] * 300}
    found = ogive.release(
        statistic, trust=Central(table), privacy=ApproxDP(8, "1e-6"), adjacency=Adjacency.ADD_OR_REMOVE
    )
    assert [group.strip() for group in found.groups] == ["A", "B"]
    means = found.estimates if isinstance(statistic, Grouped) else [found.of("x", g)["mean"] for g in found.groups]
    assert [round(mean.records, -2) for mean in means] == [600, 300]
    assert read_estimate(found.to_dict()) == found


@pytest.mark.parametrize(
    "ask",
    [
        lambda: Grouped(Mean("x", (0, 10)), "g", ("A", "B", "A ")),
        lambda: Describe(("x",), bounds={"x": (0, 10)}, by="g", groups=("A", "B", "A ")),
        lambda: Histogram("g", values=("A", "B", "A ")),
    ],
)
def test_a_stored_result_of_values_that_differ_in_blanks_is_read(ask):
    table = {"x": np.arange(900) % 10, "g": ["A", "B", "B"] * 300}
    with as_written():  # as an earlier version did
        kept = ogive.release(ask(), trust=Central(table), privacy=PureDP(8)).to_dict()
    assert read_estimate(kept).to_dict() == kept
    with pytest.raises(ParameterError, match="blanks around a text do not matter"):
        ask()
