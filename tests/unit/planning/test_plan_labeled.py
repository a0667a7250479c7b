"""Plans of ROC curves, calibration tests and found bounds agree with releases."""

import math

import numpy as np
import pytest
from helpers.scope import size

import ogive
from ogive.columns import Binning
from ogive.errors import ParameterError
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import GroupSums
from ogive.records import Records
from ogive.records.imagined import BinormalShape
from ogive.releasing.planning.predict import Planner
from ogive.releasing.release import release
from ogive.statistics import Bounds, HosmerLemeshow, Roc
from ogive.statistics.base import Terms
from ogive.statistics.roc.area import pull_of_total, share_excess
from ogive.trust import Central, Clear

RECORDS = 6_000
WITHIN = 0.10  # the promise; simulated errors stray by some 4 % on either side
RUNS = 400


def within(runs, full=RUNS):
    """The promise, wider where fewer runs stray further."""
    return WITHIN * math.sqrt(full / runs)


def binormal(seed, *, share=0.3, auc=0.8):
    """Real records drawn from the model that plans assume."""
    shift = BinormalShape(RECORDS, share, auc).shift
    rng = np.random.default_rng(seed)
    sick = rng.uniform(size=RECORDS) < share
    hidden = rng.normal(size=RECORDS) + shift * sick
    odds = share / (1 - share) * np.exp(shift * hidden - shift**2 / 2)
    return {
        "score": np.clip((hidden + 3) / (shift + 6), 0, 1),
        "p": odds / (1 + odds),
        "sick": sick.astype(int),
    }


TABLE = binormal(1)
ROC = Roc("score", "sick", (0, 1), bins=64)
ROC_CASES = [
    ("hat_ls", PureDP("0.3"), Adjacency.REPLACE),
    ("path", PureDP("0.5"), Adjacency.ADD_OR_REMOVE),
    ("tree_ls, split", PureDP("0.5"), Adjacency.REPLACE),
    ("sqrt", ZeroConcentratedDP("0.01"), Adjacency.REPLACE),
]


def left(case):
    """A case of `make test-all` alone."""
    return pytest.param(*case, marks=pytest.mark.everything)


def releases(statistic, privacy, adjacency, runs=RUNS, seed=31):
    source = KeyedSource.from_seed(seed)
    trust = Central(TABLE)
    return [release(statistic, trust=trust, privacy=privacy, adjacency=adjacency, source=source) for _ in range(runs)]


def planned(method, privacy, adjacency=Adjacency.REPLACE, *, positive_share=0.3, runs=200):
    """One row of a plan, without the others."""
    planner = Planner.of(ROC, RECORDS, adjacency, None, 1, Central, None, positive_share, 0.8, runs)
    return planner.row(method, ROC.alternatives()[method], privacy)


# one case here, and one half of the cases for raw errors; `make test-all` takes all
@pytest.mark.parametrize(
    ("method", "privacy", "adjacency"),
    [left(ROC_CASES[0]), ROC_CASES[1], *map(left, ROC_CASES[2:])],
    ids=lambda value: str(value),
)
def test_the_auc_error_of_the_assumed_model_is_that_of_releases(method, privacy, adjacency):
    runs = size(RUNS, part=150)
    row = planned(method, privacy, adjacency, runs=runs)
    estimates = releases(ROC.alternatives()[method], privacy, adjacency, runs=runs)
    truth = release(ROC, trust=Clear(TABLE))
    errors = np.array([estimate.auc - truth.auc for estimate in estimates])
    assert row.auc == pytest.approx(np.sqrt(np.mean(errors**2)), rel=within(runs))
    areas = [estimate.distance(truth) for estimate in estimates]
    assert row.errors["l1"] == pytest.approx(np.mean(areas), rel=within(runs))
    assert row.price == estimates[0].provenance.price


def test_another_adjacency_or_another_share_of_positives_is_seen():
    room, runs = within(size(RUNS, part=150)), size(200, part=100)
    errors = np.array([estimate.auc for estimate in releases(ROC, PureDP("0.3"), Adjacency.REPLACE, runs=runs)])
    seen = np.sqrt(np.mean((errors - release(ROC, trust=Clear(TABLE)).auc) ** 2))
    for wrong in ({"adjacency": Adjacency.ADD_OR_REMOVE}, {"positive_share": 0.1}):
        row = planned("hat_ls", PureDP("0.3"), **wrong, runs=runs)
        assert abs(row.auc / seen - 1) > room


@pytest.mark.parametrize(
    ("method", "privacy", "adjacency"), [*map(left, ROC_CASES[:2]), *ROC_CASES[2:]], ids=lambda value: str(value)
)
def test_raw_errors_of_a_class_are_those_of_releases(method, privacy, adjacency):
    row = planned(method, privacy, adjacency, runs=2)
    truth = release(ROC, trust=Clear(TABLE), adjacency=adjacency)
    exact = np.stack([truth.negatives.raw, truth.positives.raw])
    errors, runs = [], size(200, part=100)
    for estimate in releases(ROC.alternatives()[method], privacy, adjacency, runs=runs):
        raw = np.stack([estimate.negatives.raw, estimate.positives.raw])
        if adjacency is Adjacency.REPLACE and estimate.budget == "joint":
            raw = share_excess(raw, pull_of_total(estimate.negatives.strategy), RECORDS)
        errors.append((raw - exact) / RECORDS)
    found = np.array(errors)
    assert row.rmse == pytest.approx(np.sqrt(np.mean(found**2)), rel=within(runs, 200))
    assert row.ks == pytest.approx(np.abs(found).max(axis=2).mean(), rel=within(runs, 200))


def test_the_largest_error_of_a_class_counts_what_the_known_sum_tells():
    terms = Terms(PureDP("0.3"), PrivacyUnit(Adjacency.REPLACE), lambda query: None)
    query = next(ROC.alternatives()["hat_ls"].questions(terms))
    strategy, source = query.strategy, KeyedSource.from_seed(77)

    def noise(runs=4000):
        drawn = [level.law.sample(runs * level.nodes, source=source) for level in strategy.levels]
        nodes = tuple(values.reshape(runs, level.nodes) for values, level in zip(drawn, strategy.levels, strict=True))
        return strategy.estimate(strategy.spread(nodes), None)

    one, other = noise(), noise()
    moved = (one[:, -1:] + other[:, -1:]) / 2 * pull_of_total(strategy)
    row = planned("hat_ls", PureDP("0.3"), runs=2)
    assert row.ks * RECORDS == pytest.approx(np.abs(one - moved).max(axis=1).mean(), rel=0.025)
    assert row.ks * RECORDS != pytest.approx(np.abs(one).max(axis=1).mean(), rel=0.025)
    assert row.rmse * RECORDS == pytest.approx(np.sqrt(np.mean((one - moved) ** 2)), rel=0.03)


@pytest.mark.everything
def test_a_table_of_ones_own_shape_takes_the_place_of_the_model():
    skewed = {"score": np.clip(TABLE["score"] ** 3, 0, 1), "sick": TABLE["sick"]}
    plan = ogive.plan(ROC, privacy=PureDP("0.3"), records=RECORDS, like=skewed, runs=200)
    truth = release(ROC, trust=Clear(skewed))
    source = KeyedSource.from_seed(5)
    found = [release(ROC, trust=Central(skewed), privacy=PureDP("0.3"), source=source).auc for _ in range(200)]
    seen = np.sqrt(np.mean((np.array(found) - truth.auc) ** 2))
    assert plan.chosen.auc == pytest.approx(seen, rel=1.5 * WITHIN)
    assert "given as like" in plan.basis
    assert "assumed" not in plan.basis


TEST = HosmerLemeshow("p", "sick", groups=5, bins=64)


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(
    ("method", "privacy"),
    [
        ("hat_ls, difference", PureDP(1)),
        ("tree_ls, counts", PureDP(1)),
        left(("path, difference", ZeroConcentratedDP("0.1"))),
    ],
)
def test_noise_on_observed_minus_expected_is_that_of_releases(method, privacy, adjacency):
    planner = Planner.of(TEST, RECORDS, adjacency, None, 1, Central, None, None, None, None)
    row = planner.row(method, TEST.alternatives()[method], privacy)
    records = Records.of(TABLE)
    errors, runs = [], size(60, part=20)
    for estimate in releases(TEST.alternatives()[method], privacy, adjacency, runs=runs):
        groups = GroupSums(Binning("p", estimate.bounds, "refuse", "refuse"), estimate.label, TEST.bits)
        sums = records.aggregate(groups)
        exact = sums[3] - sums[1] / 2**TEST.bits
        errors += (estimate.sums.difference[1] - exact).tolist()
    assert row.errors["difference"] == pytest.approx(np.std(errors), rel=1.5 * within(runs, 60))
    assert row.errors["visible"] == pytest.approx(1.96 * row.errors["difference"] * 5 / RECORDS)


def test_a_difference_form_sees_smaller_miscalibration_than_counts():
    plan = ogive.plan(TEST, privacy=PureDP("0.5"), records=RECORDS)
    errors = {row.method: row.errors["visible"] for row in plan.rows}
    assert errors["hat_ls, difference"] < 0.8 * errors["hat_ls, counts"]
    assert plan.chosen.method.endswith(", difference")
    assert [each.method for each in plan.rows if each.chosen] == [plan.chosen.method]
    assert plan.runs == 0


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("privacy", [PureDP("0.5"), ZeroConcentratedDP("0.02")])
def test_a_magnitude_with_as_many_records_as_planned_is_found(privacy, adjacency):
    statistic = Bounds("x", smallest=1, largest=1024)
    [row] = ogive.plan(statistic, privacy=privacy, records=RECORDS, adjacency=adjacency).rows
    needed = round(row.errors["unseen"] * RECORDS)
    runs = size(300, part=150)
    room = 0.0325 * math.sqrt(300 / runs)

    def found(count):
        table = {"x": np.concatenate([np.full(RECORDS - count, 1.5), np.full(count, 900.0)])}
        source = KeyedSource.from_seed(3)
        trust = Central(table)
        results = [
            release(statistic, trust=trust, privacy=privacy, adjacency=adjacency, source=source).high
            for _ in range(runs)
        ]
        return np.mean(np.array(results) == 1024)

    assert 0.9525 - room < found(needed) < 0.9525 + room
    assert found(needed - needed // 3) < 0.85


def test_the_model_is_what_it_says():
    shape = BinormalShape(100_000, 0.3, 0.8)
    sums = shape.sums(ROC.classes())
    assert sums.sum() == 100_000
    assert sums[1].sum() / 100_000 == pytest.approx(0.3, abs=0.001)
    below = np.cumsum(sums[0]) - sums[0] / 2
    assert (sums[1] * below).sum() / (sums[0].sum() * sums[1].sum()) == pytest.approx(0.8, abs=0.002)
    groups = GroupSums(Binning("p", TEST._grid(), "refuse", "refuse"), ROC.classes().label)
    calibrated = shape.sums(groups)
    assert calibrated[1].sum() / 2**20 == pytest.approx(calibrated[3].sum(), rel=0.002)


def test_releases_that_say_nothing_are_counted_and_too_many_records_refused():
    row = ogive.plan(Roc("s", "y", (0, 1), bins=8), privacy=PureDP("0.5"), records=100, runs=60).chosen
    assert 0.1 < row.errors["undefined"] < 1
    assert "undefined" not in planned("hat_ls", PureDP(1), runs=2).errors
    with pytest.raises(ParameterError, match="do not fit with 30 fractional bits"):
        ogive.plan(HosmerLemeshow("p", "sick", bits=30), privacy=PureDP(1), records=1 << 40)


def test_a_plan_of_a_roc_curve_names_what_errs_less_where_the_area_is_all_that_is_needed():
    asked = Roc("s", "y", bounds=(0, 1), bins=100)
    told = "ustatistic with kernel='auc' errs less, by a third from 100 "
    plans = {
        adjacency: ogive.plan(asked, privacy=PureDP(1), records=2000, adjacency=adjacency, runs=20)
        for adjacency in Adjacency
    }
    assert told in " ".join(str(plans[Adjacency.REPLACE]).split())
    assert told not in " ".join(str(plans[Adjacency.ADD_OR_REMOVE]).split())
    curve = plans[Adjacency.REPLACE].chosen.errors["auc"]
    rng = np.random.default_rng(1)
    labels = rng.random(2000) < 0.3
    scores = rng.normal(0.45 + 0.12 * labels, 0.12).clip(0, 1)
    area = {"bounds": (0, 1), "bins": 100, "privacy": PureDP(1), "source": KeyedSource.from_seed(1)}
    found = ogive.ustatistic(scores, "auc", labels=labels, **area)
    assert found.randomization_error < 0.8 * curve
