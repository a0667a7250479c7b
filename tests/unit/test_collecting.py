"""From what a statistic asks to the estimate of what was sent, as release does it."""

import json

import numpy as np
import pytest
from helpers.scope import size
from hypothesis import given, settings
from hypothesis import strategies as st

import ogive
from ogive import ApproxDP, Collected, OgiveError, ParameterError, PeerError, PureDP, UnsupportedError
from ogive.accounting.shuffling import shuffled_epsilon
from ogive.local import (
    Collection,
    Description,
    HaarOracle,
    PublicClasses,
    RandomizedResponse,
    Randomizer,
    TreeOracle,
    UnaryOracle,
)
from ogive.local.collection import smallest_group
from ogive.noise import KeyedSource
from ogive.statistics import Bounds, Boxplot, Ecdf, HosmerLemeshow, Quantiles, Ustatistic

RNG = np.random.default_rng(12)
N = 6_000
SCORES = RNG.beta(2, 3, size=N)
TABLE = {
    "age": RNG.normal(50, 15, size=N),
    "income": RNG.gamma(2, 10_000, size=N).clip(0, 100_000),
    "score": SCORES,
    "sick": (RNG.random(N) < SCORES).astype(int),
    "grade": RNG.choice(["a", "b", "c"], size=N, p=[0.5, 0.3, 0.2]),
}
STATISTICS = {
    "ecdf": Ecdf("age", bounds=(0, 120), bins=32),
    "quantiles": Quantiles("age", (0.5,), bounds=(0, 120), bins=32),
    "boxplot": Boxplot("age", bounds=(0, 120), bins=32),
    "boxplots": Boxplot("age", by="grade", groups=("a", "b", "c"), public_groups=True, bounds=(0, 120), bins=16),
    "gini": Ustatistic("income", "gini", bounds=(0, 100_000), bins=16),
    "gini_rounded": Ustatistic("income", "gini", bounds=(0, 100_000), bins=8, method="krr", rounding="randomized"),
    "auc": Ustatistic(("score", "sick"), "auc", bounds=(0, 1), bins=16, public_labels=True),
    "collision": Ustatistic("grade", "collision", categories=("a", "b", "c")),
}


def described(name, **fields):
    return ogive.describe_collection(
        STATISTICS[name], **({"privacy": PureDP(2), "participants": N, "title": name} | fields)
    )


def collected(description, rows=N, seed=3):
    device = Randomizer(description.to_json(), source=KeyedSource(bytes([seed]) * 32))
    found = Collection(description.to_json())
    names = [column.column for column in description.domain.columns]
    found.add(device.reports({name: TABLE[name][:rows] for name in names}))
    return found


def value(estimate):
    for name in ("value", "median"):
        if hasattr(estimate, name):
            return float(getattr(estimate, name))
    return float(estimate(50)) if callable(estimate) else float(estimate.values[0])


@pytest.mark.parametrize("name", STATISTICS)
def test_the_estimate_is_that_of_release(name):
    description = described(name)
    found = collected(description, rows=N - 500)
    estimate = ogive.estimate_collection(found)
    public = description.public_columns
    by_hand = ogive.release(STATISTICS[name], trust=Collected(found), privacy=description.privacy, public=public)
    assert estimate.provenance.public == public
    assert bool(public) == (name in ("auc", "boxplots"))
    assert by_hand.with_provenance(estimate.provenance) == estimate
    provenance = estimate.provenance
    assert provenance.trust == "local"
    assert provenance.total == N - 500
    assert provenance.price == description.oracle.loss
    assert provenance.privacy == PureDP(2)
    assert provenance.method == description.oracle.name
    assert f"{N - 500} of {N} participants reported" in provenance.assumption
    assert "simulated" not in provenance.assumption
    assert json.loads(estimate.to_json())["provenance"]["trust"] == "local"


@pytest.mark.parametrize("name", ["gini", "gini_rounded", "auc", "collision"])
def test_the_estimate_is_within_its_error_of_the_truth(name):
    truth = ogive.release(STATISTICS[name], trust=ogive.Clear(TABLE)).value
    estimate = ogive.estimate_collection(collected(described(name)))
    room = 5 * estimate.randomization_error + estimate.quantization
    assert abs(estimate.value - truth) < room
    assert room < 2 * abs(truth)


def test_the_curve_is_close_to_the_truth():
    curve = ogive.estimate_collection(collected(described("ecdf")))
    assert abs(curve(50) - np.mean(TABLE["age"] <= 50)) < 0.1
    assert abs(curve(30) - np.mean(TABLE["age"] <= 50)) > 0.1, "a control that must fail"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (0, "at least 2 reports are needed .* but 0 were accepted and 1 refused"),
        (1, "but 1 were accepted and 1 refused"),
    ],
)
def test_too_few_reports_are_refused_with_their_counts(rows, message):
    description = described("gini")
    found = collected(description, rows=rows)
    found.add(b"x" * description.report_bytes)
    with pytest.raises(UnsupportedError, match=message):
        ogive.estimate_collection(found)


def test_an_empty_class_is_refused():
    description = described("auc")
    found = Collection(description)
    found.add(Randomizer(description).reports({"score": [0.1, 0.5, 0.9], "sick": [1, 1, 1]}))
    with pytest.raises(OgiveError, match="class"):
        ogive.estimate_collection(found)


def test_reports_answer_one_question_only():
    found = collected(described("gini"), rows=100)
    for other in (Ustatistic("income", "gini", bounds=(0, 100_000), bins=17), STATISTICS["gini_rounded"]):
        with pytest.raises(UnsupportedError, match="answer another question than this statistic asks"):
            ogive.release(other, trust=Collected(found), privacy=PureDP(2))
    with pytest.raises(UnsupportedError):
        ogive.release(HosmerLemeshow("score", "sick"), trust=Collected(found), privacy=PureDP(2))
    with pytest.raises(ParameterError, match="a Collection of reports, got dict"):
        Collected(TABLE)


def test_a_ledger_binds_a_collection_to_its_sums(tmp_path):
    description = described("gini")
    found = collected(description, rows=1000)
    with ogive.Ledger.open(tmp_path / "books.db") as ledger:
        unit = ogive.PrivacyUnit(ogive.Adjacency.REPLACE)
        account = ledger.account("incomes", limit=PureDP(5), unit=unit)
        arguments = {"privacy": description.privacy, "ledger": account}
        first = ogive.release(STATISTICS["gini"], trust=Collected(found), **arguments)
        assert ogive.release(STATISTICS["gini"], trust=Collected(found), **arguments) == first
        assert account.remaining == PureDP(3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"privacy": ogive.ZeroConcentratedDP(1)}, "reports need a guarantee PureDP or ApproxDP"),
        ({"participants": 0}, "participants must be a whole number of at least 1, got 0"),
        ({"participants": 1 << 33}, "participants must be a whole number from 1 to 2\\^32"),
        ({"participants": True}, "participants must be a whole number"),
        ({"title": "a\nb"}, "title must be one line"),
    ],
)
def test_descriptions_are_checked(arguments, message):
    with pytest.raises(ParameterError, match=message):
        described("gini", **arguments)


@pytest.mark.parametrize("statistic", [Bounds("age"), HosmerLemeshow("score", "sick")], ids=lambda each: each.name)
def test_what_needs_records_cannot_be_described(statistic):
    with pytest.raises(UnsupportedError):
        ogive.describe_collection(statistic, privacy=PureDP(1), participants=N)


def test_a_description_without_a_purpose_needs_a_statistic():
    plain = described("gini").to_dict()
    aimless = Description.from_dict(plain | {"statistic": None})
    with pytest.raises(ParameterError, match="names no statistic"):
        ogive.estimate_collection(collected(aimless, rows=10))
    wrong = Description.from_dict(plain | {"statistic": {"name": "mode"}})
    with pytest.raises(PeerError, match=r"what the description is for cannot be told: .*'mode'"):
        ogive.estimate_collection(collected(wrong, rows=10))


PURPOSES = ("ecdf", "quantiles", "boxplots", "gini", "auc")
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6) | st.just([])


def places(data, front=()):
    """Every place in plain data."""
    yield front
    if isinstance(data, dict | list):
        for key, item in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(item, (*front, key))


@settings(max_examples=size(150, part=50), deadline=None)
@given(data=st.data(), name=st.sampled_from(PURPOSES))
def test_hostile_purposes_give_an_estimate_or_an_error_of_ours(data, name):
    plain = json.loads(FEW[name])
    place = data.draw(st.sampled_from(list(places(plain["statistic"]))[1:]))
    inside = plain["statistic"]
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = data.draw(PLAIN)
    try:
        ogive.estimate_collection(collected(Description.from_dict(plain), rows=64))
    except OgiveError as problem:
        assert "\n" not in str(problem)  # noqa: PT017


FEW = {name: described(name, participants=64).to_json() for name in PURPOSES}


@pytest.mark.parametrize(
    ("oracle", "group"),
    [
        (RandomizedResponse(16, 1), 1000),
        (UnaryOracle(16, 1), 1000),
        (TreeOracle(16, 1, split="budget"), 1000),
        (TreeOracle(16, 1), 250),
        (TreeOracle(8, 1), 333),
    ],
)
def test_groups_that_are_shuffled_together(oracle, group):
    assert smallest_group(oracle, 1000) == group


@pytest.mark.parametrize("oracle", [HaarOracle(16, 1), TreeOracle(16, 1, assignment="independent")])
def test_groups_are_those_of_the_public_numbers(oracle):
    assignment = oracle.assignment if isinstance(oracle, HaarOracle) else oracle.levels_of
    levels = np.bincount(assignment.of(np.arange(1000)), minlength=oracle.levels)
    assert smallest_group(oracle, 1000) == levels.min()


def test_groups_of_public_classes_are_unknown():
    with pytest.raises(ParameterError, match="mix with those of their own class only"):
        smallest_group(PublicClasses(HaarOracle(16, 1), 2), 1000)


def test_small_groups_hide_less():
    groups = [smallest_group(oracle, 10_000) for oracle in (RandomizedResponse(16, 1), TreeOracle(16, 1))]
    whole, level = (shuffled_epsilon(group, 1, "1e-6") for group in groups)
    assert whole < level < 1


def test_budgets_over_all_levels_may_need_a_delta():
    statistic = Ecdf("age", bounds=(0, 120), bins=32)
    description = ogive.describe_collection(statistic, privacy=ApproxDP(1, "1e-6"), participants=N)
    assert description.privacy == ApproxDP(1, "1e-6")
    assert float(description.oracle.loss.epsilon) <= 1
