"""The options of an AUC from trees: what owners are asked, how trees are read, and what is refused."""

import dataclasses
import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

import ogive
from ogive import ApproxDP, HierarchyAuc, Local, ParameterError, PureDP, Ustatistic, ZeroConcentratedDP
from ogive.local import Collection, Randomizer, design_tree
from ogive.noise import KeyedSource
from ogive.statistics.base import describe
from ogive.statistics.ustatistic import trees as hierarchy
from ogive.statistics.ustatistic.reports import CHILDREN, Hierarchical

N, BINS = 4_000, 64
RNG = np.random.default_rng(3)
LABELS = RNG.integers(0, 2, N)
TABLE = {"score": np.clip(RNG.normal(LABELS, 1.0), -5, 6), "y": LABELS}
ASKED = Ustatistic(("score", "y"), "auc", bounds=(-5, 6), bins=BINS)
PURE, SLACK = PureDP(4), ApproxDP(4, "1e-6")

OPTIONS = [
    (HierarchyAuc(branching=2), PURE, {}),
    (HierarchyAuc(branching=2, variant="zero", prune=True), PURE, {}),
    (HierarchyAuc(branching=8, a="paper", prune=True), PURE, {"branching": 8}),
    (HierarchyAuc(branching=2, a=3, prune=True), PURE, {}),
    (HierarchyAuc(branching=5, prune=False), PURE, {"branching": 5}),
    (HierarchyAuc(branching=2, nodes="unary"), PURE, {"nodes": "unary"}),
    (HierarchyAuc(branching=4, split="budget"), PURE, {"branching": 4, "split": "budget"}),
    (HierarchyAuc(branching=4, split="budget"), SLACK, {"branching": 4, "split": "budget"}),
    *(
        (HierarchyAuc(branching=2, split="budget", composition=rule), SLACK, {"split": "budget", "composition": rule})
        for rule in ("advanced", "exact")
    ),
]
IDS = [f"{number}-{options.split}-{options.composition}" for number, (options, _, _) in enumerate(OPTIONS)]


def asking(options, **fields):
    return dataclasses.replace(ASKED, method=options, **fields)


@pytest.mark.parametrize(("options", "privacy", "fields"), OPTIONS, ids=IDS)
def test_options_reach_owners_and_who_reads_their_reports(options, privacy, fields):
    description = ogive.describe_collection(asking(options), privacy=privacy, participants=N)
    study = description.to_json()
    collection = Collection(study)
    collection.add(Randomizer(study).reports(TABLE))
    found = ogive.estimate_collection(collection)
    delta = privacy.delta if options.composition in ("advanced", "exact") else 0
    oracle = dataclasses.replace(description.oracle, inner=design_tree(BINS, 4, delta, **fields))
    assert description.oracle == oracle
    by_hand = hierarchy.auc(oracle, collection.sums, a=options.a, prune=options.prune, variant=options.variant)
    assert (found.value, found.randomization_error) == (by_hand.value, by_hand.standard_error)
    assert found.quantization >= by_hand.bias_estimate
    assert (by_hand.sizes.variant, by_hand.shared) == (options.variant, options.split == "budget")


def test_the_share_of_pairs_in_one_leaf_is_the_same_whichever_class_is_first():
    """Classes of 100 and 3900: a tenth of the noise would be missing if one size stood for both."""
    labels = np.arange(N) < 100
    table = {"score": TABLE["score"], "y": labels.astype(int)}
    description = ogive.describe_collection(asking(HierarchyAuc(branching=2)), privacy=PureDP(2), participants=N)
    collection = Collection(description.to_json())
    collection.add(Randomizer(description.to_json()).reports(table))
    method = Hierarchical(None, SimpleNamespace(oracle=description.oracle), BINS, HierarchyAuc(branching=2))
    shares = [method._one_leaf(SimpleNamespace(values=values)) for values in (collection.sums, collection.sums[::-1])]
    assert shares[0] == pytest.approx(shares[1], rel=1e-12)
    assert 0 < shares[0] < 1


def test_options_change_what_they_are_for_and_nothing_else():
    base = HierarchyAuc(branching=2, prune=True)
    reading = [base, *(dataclasses.replace(base, **field) for field in ({"variant": "zero"}, {"a": 3}, {"a": "paper"}))]
    queries = [ogive.describe_collection(asking(each), privacy=PURE, participants=N).oracle for each in reading]
    assert len(set(queries)) == 1, "how trees are read is no matter of owners"
    found = [
        ogive.release(asking(each), trust=Local(TABLE), privacy=PURE, public="y", source=KeyedSource.from_seed(5)).value
        for each in reading
    ]
    assert len(set(found)) == len(found), "but the same reports are read otherwise"


def test_the_name_alone_is_the_method_with_its_defaults():
    named, made = asking("hierarchy"), asking(HierarchyAuc())
    assert named == made
    assert describe(named) == describe(made)
    assert made.alternatives().keys() == ASKED.alternatives().keys()
    assert HierarchyAuc(split="budget") == HierarchyAuc(split="budget", composition="basic")
    chosen = ogive.describe_collection(named, privacy=PURE, participants=N).oracle.inner.branching
    assert chosen in CHILDREN


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"variant": "most"}, "variant must be half or zero"),
        ({"a": 1}, "a must be 'auto', 'paper' or a number above 1"),
        ({"a": 0.5}, "a must be 'auto', 'paper' or a number above 1"),
        ({"a": math.nan}, "a must be 'auto', 'paper' or a number above 1"),
        ({"a": [2]}, "a must be 'auto', 'paper' or a number above 1"),
        ({"prune": "yes"}, "prune must be 'auto', True or False"),
        ({"prune": False, "a": 2}, "prune=False discards none"),
        ({"prune": False, "variant": "zero"}, "prune=False discards none"),
        ({"split": "levels"}, "split must be users or budget"),
        ({"composition": "advanced"}, "composition='advanced' shares a budget out .* use split='budget'"),
        ({"composition": "basic", "split": "users"}, "composition='basic' shares a budget out"),
        ({"composition": "best", "split": "budget"}, "composition must be one of basic, advanced, exact"),
        ({"branching": 9}, "branching must be a whole number from 2 to 8, got 9"),
        ({"branching": 1}, "branching must be a whole number from 2 to 8, got 1"),
        ({"branching": True}, "branching must be a whole number from 2 to 8"),
        ({"nodes": "haar"}, "nodes must be hadamard or unary"),
    ],
)
def test_options_out_of_range_or_without_meaning_are_refused(fields, message):
    with pytest.raises(ParameterError, match=message) as refusal:
        HierarchyAuc(**fields)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("rule", ["advanced", "exact"])
@pytest.mark.parametrize("privacy", [PureDP(1), ZeroConcentratedDP("1/2")], ids=["pure", "zcdp"])
def test_a_composition_with_slack_needs_a_delta(rule, privacy):
    asked = asking(HierarchyAuc(split="budget", composition=rule))
    with pytest.raises(ParameterError, match=f"composition='{rule}' needs a guarantee with a delta"):
        ogive.release(asked, trust=Local(TABLE), privacy=privacy)


def test_an_epsilon_for_which_the_papers_rule_proves_nothing_is_refused():
    asked = asking(HierarchyAuc(split="budget", composition="advanced"))
    with pytest.raises(ParameterError, match="advanced composition is proved for epsilon up to"):
        ogive.release(asked, trust=Local(TABLE), privacy=ApproxDP(12, "1e-6"))


def test_other_statistics_and_curators_have_no_tree():
    with pytest.raises(ParameterError, match="method hierarchy is for an AUC with public labels"):
        ogive.ustatistic(
            TABLE["score"], "gini", bounds=(-5, 6), trust=Local, privacy=PURE, method=HierarchyAuc(branching=3)
        )
    with pytest.raises(ogive.UnsupportedError):
        ogive.ustatistic(
            TABLE["score"],
            "auc",
            labels=LABELS,
            bounds=(-5, 6),
            privacy=PURE,
            method=HierarchyAuc(branching=3),
            public_labels=True,
        )


def test_more_bins_than_sums_can_hold_are_refused_before_anybody_is_asked():
    most = asking("hierarchy", bins=1 << 21)
    with pytest.raises(ParameterError, match=r"2097152 bins cannot be added up in memory; take at most 1048576$"):
        ogive.describe_collection(most, privacy=PURE, participants=N)


@pytest.mark.parametrize("options", [options for options, _, _ in OPTIONS], ids=IDS)
def test_plain_data_tells_it_all(options):
    data = json.loads(json.dumps(options.to_dict()))
    assert HierarchyAuc.from_dict(data) == options
    described = describe(asking(options))
    found = Ustatistic.from_dict(json.loads(json.dumps(described)))
    assert found.method == options
    assert describe(found) == described


@pytest.mark.parametrize(
    "data",
    [
        {"name": "hierarchy"},
        {**HierarchyAuc().to_dict(), "seed": 1},
        {**HierarchyAuc().to_dict(), "name": "reports"},
        {**HierarchyAuc().to_dict(), "branching": 2**40},
        {**HierarchyAuc().to_dict(), "a": "1e9"},
        {**HierarchyAuc().to_dict(), "variant": ["half"]},
        [],
    ],
)
def test_plain_data_of_strangers_is_refused(data):
    with pytest.raises(ParameterError):
        HierarchyAuc.from_dict(data)


def test_an_account_tells_options_apart():
    with ogive.Session(TABLE, name="scores", limit=PureDP(8), trust=Local, public="y") as session:
        asked = [asking(HierarchyAuc(branching=2, a=each)) for each in ("auto", "paper", "auto")]
        first, other, again = (session.release(each, privacy=PURE) for each in asked)
        assert session.remaining is None, "two were paid for"
    assert again == first
    assert other.value != first.value


@pytest.mark.parametrize(("options", "privacy", "fields"), OPTIONS, ids=IDS)
def test_a_plan_has_a_row_for_it_and_predicts_its_noise(options, privacy, fields):
    plan = ogive.plan(asking(options), records=N, privacy=privacy, trust=Local, public="y")
    rows = {row.method: row for row in plan.rows}
    assert [name for name, row in rows.items() if row.chosen] == ["hierarchy by hand"]
    predicted = rows["hierarchy by hand"].errors["value"]
    found = ogive.release(
        asking(options), trust=Local(TABLE), privacy=privacy, public="y", source=KeyedSource.from_seed(2)
    )
    assert found.randomization_error < 1.5 * predicted
    if not options.prune or options.prune == "auto":
        assert predicted < 1.5 * found.randomization_error, "where nodes are discarded it is a bound of the bias"


def test_the_bound_is_that_of_the_reports_before_there_are_any():
    # so many that each of six levels has as many reports
    positives, negatives = 1_200, 1_800
    labels = np.repeat([1, 0], [positives, negatives])
    for options in (HierarchyAuc(branching=2, a=4, prune=True), HierarchyAuc(branching=2, split="budget", prune=False)):
        asked = asking(options)
        description = ogive.describe_collection(asked, privacy=PURE, participants=3_000)
        collection = Collection(description)
        table = {"score": np.zeros(3_000), "y": labels}
        collection.add(Randomizer(description).reports(table))
        for against in ("sample", "population"):
            found = hierarchy.auc(
                description.oracle, collection.sums, a=options.a, prune=options.prune, variant=options.variant
            ).bound(against)
            bound = options.bound(positives, negatives, bins=BINS, privacy=PURE, against=against)
            assert bound == pytest.approx(found, rel=1e-6)
    assert options.bound(positives, negatives, bins=BINS, privacy=PureDP(1)) > bound
    with pytest.raises(ParameterError, match="name it, for example branching=2"):
        HierarchyAuc().bound(positives, negatives, bins=BINS, privacy=PURE)
    with pytest.raises(ParameterError, match="against must be"):
        options.bound(positives, negatives, bins=BINS, privacy=PURE, against="all")
