"""Hosmer-Lemeshow: the statistic against a plain oracle, the division of privacy, and what is refused or undefined."""

import dataclasses
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from helpers.scope import size as size_of
from scipy import stats

import ogive
from ogive.columns import Binning, Label
from ogive.columns.grids import Grid
from ogive.errors import DataError, ParameterError, ScaleError
from ogive.noise import DiscreteLaplace, KeyedSource
from ogive.privacy import Adjacency, ApproxDP, PrivacyUnit, PureDP, ZeroConcentratedDP
from ogive.queries import GroupSums
from ogive.releasing.release import release
from ogive.report import render_report
from ogive.statistics.calibration.statistic import (
    HosmerLemeshow,
    default_split,
    difference_variance,
    divide,
    group_bounds,
    paper_noise,
    sums_query,
)
from ogive.statistics.calibration.sums import Measured
from ogive.trust import Central, Clear

RNG = np.random.default_rng(11)
P = RNG.beta(1, 6, size=5000)
TABLE = {"p": P, "y": (RNG.random(5000) < P).astype(int)}


ONE = PureDP(1)


def oracle(p, y, ends):
    """The statistic, one group at a time."""
    total, low = 0.0, -1.0
    for high in ends:
        inside = (p > low) & (p <= high)
        for predicted, observed in ((p, y), (1 - p, 1 - y)):
            expected = predicted[inside].sum()
            total += (observed[inside].sum() - expected) ** 2 / expected
        low = high
    return total


def ask(table=TABLE, privacy=ONE, adjacency=Adjacency.REPLACE, seed=1, trust=Central, **fields):
    source = KeyedSource.from_seed(seed)
    return release(
        HosmerLemeshow("p", "y", **fields), trust=trust(table), privacy=privacy, adjacency=adjacency, source=source
    )


@pytest.mark.parametrize("form", ["counts", "difference"])
@pytest.mark.parametrize("groups", [2, 7, 10])
def test_without_noise_it_is_the_textbook_statistic(groups, form):
    found = ask(trust=Clear, groups=groups, form=form)
    assert len(found.groups) == groups
    assert found.statistic == pytest.approx(oracle(P, TABLE["y"], found.bounds.thresholds), rel=1e-4)
    assert found.debiased_statistic == found.statistic
    assert found.chi_square_p_value == pytest.approx(stats.chi2.sf(found.statistic, groups))
    assert found.p_value == pytest.approx(found.chi_square_p_value, abs=0.05)
    sizes = [sum(group.observed) for group in found.groups]
    assert np.ptp(sizes) < 0.1 * 5000 / groups
    assert sum(sizes) == pytest.approx(5000)


def test_groups_are_half_open_and_the_first_holds_zero():
    p = np.array([0.0, 0.25, 0.25, 0.5, 0.5, 0.75, 1.0, 1.0])
    found = ask({"p": p, "y": np.array([0, 1, 0, 1, 1, 0, 1, 1])}, trust=Clear, groups=4, bins=4)
    assert [group.high for group in found.groups] == [0.25, 0.5, 0.75, 1.0]
    assert [sum(group.observed) for group in found.groups] == [3, 2, 1, 2]


def test_equal_ends_merge_groups():
    p = np.full(100, 0.3)
    found = ask({"p": p, "y": np.arange(100) % 2}, trust=Clear, groups=10, bins=10)
    assert len(found.groups) <= 2
    assert found.bounds.high == 1
    assert found.degrees_of_freedom == len(found.groups)


def test_a_raw_curve_that_falls_gives_ordered_ends():
    curve = ask(trust=Clear, groups=4, bins=8).curve
    raw = np.array([0, 900, 100, 4900, 1000, 800, 4800, 5000])
    ends = group_bounds(curve, 10, raw=raw).thresholds
    assert np.all(np.diff(ends) > 0)
    assert ends[-1] == 1


def test_counts_agree_after_the_free_correction():
    measured = Measured("counts", 3, DiscreteLaplace(24), DiscreteLaplace(3))
    values = np.random.default_rng(1).integers(-200, 900, size=(4, 5))
    sums = measured.consistent(values, 1000)
    assert np.allclose(sums.expected.sum(axis=0), sums.observed.sum(axis=0), atol=1e-12)
    assert sums.expected.sum() == pytest.approx(1000, abs=1e-9)
    assert np.array_equal(sums.difference[0], -sums.difference[1])
    free = measured.consistent(values, None)
    raw = values / np.array([8, 8, 1, 1])[:, None]
    excess = raw[0] + raw[1] - raw[2] - raw[3]
    assert np.allclose(free.expected, raw[:2] - excess / 4)
    assert np.allclose(free.observed, raw[2:] + excess / 4)


def test_variances_after_the_correction_are_those_of_the_method():
    """Methods, section 17: with s = 3, Var D = 18 and Var E1 = 13.5 (of a continuous law)."""
    measured = Measured("counts", 20, DiscreteLaplace(3 << 20), DiscreteLaplace(3))
    assert measured.difference_variance == pytest.approx(18, rel=0.01)
    assert measured.expected_variance == pytest.approx(13.5, rel=0.01)
    noise = measured.consistent(measured.noise(40_000, 3, KeyedSource.from_seed(3)), None)
    assert noise.difference[:, 1].var() == pytest.approx(18, rel=0.03)
    assert noise.expected[:, 1].var() == pytest.approx(13.5, rel=0.03)
    public = measured.consistent(measured.noise(40_000, 3, KeyedSource.from_seed(3)), 0)
    assert public.expected[:, 1].var() < 0.95 * noise.expected[:, 1].var()
    assert np.allclose(public.difference, noise.difference)
    paper = dataclasses.replace(measured, constants="paper")
    assert paper.difference_variance == pytest.approx(36, rel=0.01)


def test_expected_counts_are_sharpened_by_the_curve_and_the_ends():
    """Group by group against the exact sums between the same ends, over 30 releases, or 10, at epsilon 1/2."""
    sharp, raw, runs = [], [], size_of(30, part=10)
    for seed in range(runs):
        found = ask(privacy=PureDP("0.5"), seed=seed)
        group = np.searchsorted(found.bounds.thresholds, P, side="left")
        exact = np.bincount(group, P, found.bounds.bins)
        sharp.append(found.sums.expected[1] - exact)
        raw.append(found.measured.consistent(found.values, found.total).expected[1] - exact)
        assert np.array_equal(found.sums.difference, found.measured.consistent(found.values, 5000).difference)
    assert np.sqrt(np.mean(np.square(sharp))) < 0.5 * np.sqrt(np.mean(np.square(raw)))
    assert abs(np.mean(sharp)) < 3 * math.sqrt(30 / runs)


def test_precise_sums_outweigh_a_coarse_curve():
    sharp, raw = [], []
    for seed in range(20):
        found = ask(privacy=PureDP(20), seed=seed, bins=16, groups=4)
        exact = np.bincount(np.searchsorted(found.bounds.thresholds, P, side="left"), P, found.bounds.bins)
        sharp.append(found.sums.expected[1] - exact)
        raw.append(found.measured.consistent(found.values, found.total).expected[1] - exact)
    assert np.sqrt(np.mean(np.square(sharp))) < 1.1 * np.sqrt(np.mean(np.square(raw)))


@pytest.mark.parametrize("fields", [{"trust": Clear}, {"constants": "paper"}])
def test_exact_sums_and_the_papers_stay_as_they_are(fields):
    found = ask(**fields)
    assert np.array_equal(found.sums.expected, found.measured.consistent(found.values, found.total).expected)


# The division of privacy

GROUPS = GroupSums(Binning("p", Grid.linear(0, 1, bins=10), outside="refuse"), Label("y"), 20)


def test_unequal_noise_is_that_of_the_method():
    """Methods, section 12.6: s_E = 10 / eps and s_D = 2.5 / eps; equal scales are 4 / eps."""
    unit = PrivacyUnit(Adjacency.REPLACE)
    query = sums_query(GROUPS, "difference", PureDP(1), unit)
    assert (query.expected.scale / 2**20, query.observed.scale / 2**20) == (10, Fraction(5, 2))
    equal = sums_query(GROUPS, "counts", PureDP(1), unit)
    assert (equal.expected.scale / 2**20, equal.observed.scale) == (4, 4)
    assert difference_variance(PureDP(1), form="counts", adjacency=Adjacency.REPLACE) == 32
    assert difference_variance(PureDP(1), form="difference", adjacency=Adjacency.REPLACE) == 12.5


@pytest.mark.each_value
@pytest.mark.parametrize("form", ["counts", "difference"])
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(
    "privacy", [PureDP(1), PureDP("0.01"), ZeroConcentratedDP("0.5"), ApproxDP(2, "1e-6")], ids=str
)
def test_the_whole_grant_is_spent_and_no_more(form, adjacency, privacy):
    found = ask(privacy=privacy, adjacency=adjacency, form=form)
    price = found.provenance.price
    assert found.provenance.privacy == privacy
    if isinstance(privacy, PureDP):
        assert float(privacy.epsilon) * (1 - 1e-6) < float(price.epsilon) <= float(privacy.epsilon)
    if isinstance(privacy, ZeroConcentratedDP):
        assert float(privacy.rho) * (1 - 1e-5) < float(price.rho) <= float(privacy.rho)


def test_persons_with_several_rows_are_hidden_whole():
    table = {**TABLE, "who": np.arange(5000) // 2}
    trust = Central(table, person="who", max_rows_per_person=2)
    found = release(
        HosmerLemeshow("p", "y"),
        trust=trust,
        privacy=PureDP(1),
        adjacency=Adjacency.ADD_OR_REMOVE,
        source=KeyedSource.from_seed(1),
    )
    one = ask(adjacency=Adjacency.ADD_OR_REMOVE)
    assert float(found.provenance.price.epsilon) == pytest.approx(1, rel=1e-6)
    assert found.measured.difference_variance == pytest.approx(4 * one.measured.difference_variance, rel=0.1)


def test_the_default_split_gives_thresholds_little_and_less_at_small_epsilon():
    terms = {"bins": 1024, "method": "auto", "form": "difference", "adjacency": Adjacency.REPLACE}
    shares = [default_split(PureDP(epsilon), **terms) for epsilon in ("0.01", "0.1", 1)]
    assert shares == sorted(shares)
    assert shares[0] < Fraction(1, 16) < Fraction(1, 8) < shares[-1] < Fraction(1, 2)
    assert divide(PureDP(1), Fraction(1, 4)) == (PureDP("1/4"), PureDP("3/4"))


def test_a_split_can_be_chosen():
    half, tenth = ask(split=0.5), ask(split="1/10")
    assert half.measured.difference_variance == pytest.approx(
        (9 / 5) ** 2 * tenth.measured.difference_variance, rel=0.01
    )


def test_the_papers_constants_are_the_papers_and_cost_less_than_it_says():
    strategy, scale = paper_noise(1024, PureDP(1))
    assert scale == 19
    assert strategy.law.scale == 19
    found = ask(constants="paper")
    assert found.provenance.price == PureDP(Fraction(10 + 4, 19))
    assert found.measured.expected.scale == 19 << 20
    assert found.measured.observed.scale == 19
    assert found.statistic == pytest.approx(
        sum(
            (o - e) ** 2 / max(e, 1)
            for group in found.groups
            for o, e in zip(group.observed, group.expected, strict=True)
        )
    )
    with pytest.raises(ParameterError, match="leave them out"):
        HosmerLemeshow("p", "y", constants="paper", split=0.5)
    with pytest.raises(ParameterError, match="are for pure privacy"):
        paper_noise(64, ZeroConcentratedDP(1))


# Undefined cases are values


@pytest.mark.each_value
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("epsilon", ["0.00001", "0.01", "1", "50"])
@pytest.mark.parametrize("label", [0, 1])
def test_one_class_or_noise_above_everything_gives_values(label, epsilon, adjacency):
    for size in (1, 30):
        table = {"p": np.linspace(0, 1, size), "y": np.full(size, label)}
        for form in ("counts", "difference"):
            found = ask(table, PureDP(epsilon), adjacency, form=form)
            assert found.defined is not math.isnan(found.statistic)
            assert math.isnan(found.p_value) is not found.defined
            assert "Calibration of p" in str(found)
            for group in found.groups:
                low, high = group.interval
                assert 0 <= low <= high <= 1


def test_nothing_expected_is_not_defined():
    found = ask({"p": np.zeros(50), "y": np.zeros(50, dtype=int)}, trust=Clear)
    assert not found.defined
    assert math.isnan(found.statistic)
    assert math.isnan(found.p_value)
    assert math.isnan(found.chi_square_p_value)
    assert "not defined" in str(found)


def test_a_class_without_records_is_tested_as_any_other():
    found = ask({"p": np.full(1000, 0.5), "y": np.ones(1000, dtype=int)}, trust=Clear)
    assert found.statistic == pytest.approx(1000)
    assert found.p_value == 1e-12
    assert found.p_value_is_bound


# Bad input


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"groups": 1}, "groups must be a whole number from 2"),
        ({"groups": 2.5}, "groups must be a whole number from 2"),
        ({"groups": True}, "groups must be a whole number from 2"),
        ({"groups": 17, "bins": 16}, "groups must be a whole number from 2 to 16, got 17"),
        ({"bins": 0}, "bins must be"),
        ({"form": "sums"}, "form must be"),
        ({"method": "magic"}, "method must be"),
        ({"constants": "mine"}, "constants must be"),
        ({"split": 1}, "split must be"),
        ({"split": "x"}, "split must be"),
        ({"floor": 0}, "floor must be above 0"),
        ({"bits": 31}, "bits must be"),
        ({"df": 0}, "df must be"),
        ({"df": "Q-2"}, "df must be"),
        ({"missing": "drop"}, "cannot be dropped"),
        ({"positive": 0, "negative": 0}, "in both classes"),
        ({"confidence_level": 1}, "confidence_level"),
    ],
)
def test_bad_parameters_are_refused_in_one_line(fields, message):
    with pytest.raises(ParameterError, match=message) as problem:
        HosmerLemeshow("p", "y", **fields)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"p": np.array([0.1, 1.2]), "y": np.array([0, 1])}, "0 to 1, which"),
        ({"p": np.array([-0.1, 0.2]), "y": np.array([0, 1])}, "0 to 1, which"),
        ({"p": np.array([np.nan, 0.2]), "y": np.array([0, 1])}, "missing"),
        ({"p": np.array([0.1, 0.2, 0.3]), "y": np.array([0, 1, 2])}, "'y'"),
        ({"p": np.array([0.1, 0.2]), "z": np.array([0, 1])}, "no column 'y'"),
        ({"p": np.array(["a", "b"]), "y": np.array([0, 1])}, "'p' holds"),
    ],
)
def test_bad_records_are_refused_before_anything_is_spent(table, message):
    account = ogive.Ledger.open().account("x", unit=PrivacyUnit(Adjacency.REPLACE), limit=PureDP(1))
    with pytest.raises(DataError, match=message) as problem:
        release(HosmerLemeshow("p", "y"), trust=Central(table), privacy=PureDP(1), ledger=account)
    assert "\n" not in str(problem.value)
    assert account.history == ()


def test_too_little_privacy_to_draw_noise_for_is_refused():
    with pytest.raises(ScaleError):
        ask(privacy=PureDP("1e-15"))


@pytest.mark.each_value(fields=str)
@pytest.mark.parametrize("fields", [{}, {"form": "counts"}, {"constants": "paper"}, {"split": "1/100"}])
@pytest.mark.parametrize("privacy", [PureDP, ZeroConcentratedDP])
def test_what_is_said_to_be_enough_is_enough_for_the_whole_release_and_hardly_more(fields, privacy):
    with pytest.raises(ScaleError, match=r"for 10 groups needs noise above .* use at least") as problem:
        ask(privacy=privacy("1e-25"), **fields)
    enough = re.search(r"(?:epsilon|rho) = (\S+)", str(problem.value).split("use at least ")[1])[1]
    ask(privacy=privacy(enough), **fields)
    with pytest.raises(ScaleError, match=f"= {re.escape(enough)}"):
        ask(privacy=privacy(Fraction(enough) * Fraction(8, 10)), **fields)


def test_what_is_enough_at_a_delta_is_said_to_be_so():
    with pytest.raises(ScaleError, match="at this delta") as problem:
        ask(privacy=ApproxDP("1e-25", "1e-6"), constants="paper")
    enough = re.search(r"use at least epsilon = (\S+)", str(problem.value))[1]
    ask(privacy=ApproxDP(enough, "1e-6"), constants="paper")


def test_missing_probabilities_can_be_counted_low_or_high_but_not_dropped():
    table = {"p": np.array([np.nan, 0.2]), "y": np.array([0, 1])}
    with pytest.raises(DataError, match="missing='low', 'high' or a public value") as problem:
        ask(table)
    assert "drop" not in str(problem.value)
    with pytest.raises(DataError, match="or 'drop' under ADD_OR_REMOVE alone"):
        ogive.find_bounds([1.0, np.nan], privacy=PureDP(1))


def test_degrees_of_freedom_follow_where_the_model_was_fitted():
    assert ask(trust=Clear).degrees_of_freedom == 10
    assert ask(trust=Clear, df="fitted").degrees_of_freedom == 8
    assert ask(trust=Clear, df=3).degrees_of_freedom == 3


def test_classes_may_be_named_by_one_value_or_several():
    assert HosmerLemeshow("p", "y").negative == (0,)
    assert HosmerLemeshow("p", "y", positive=True).negative == (0,)
    assert HosmerLemeshow("p", "y", positive="ill").negative is None
    several = HosmerLemeshow("p", "y", positive=np.array([2, 3]), negative=[np.int64(0), 1])
    assert (several.positive, several.negative) == ((2, 3), (0, 1))
    words = {"p": P, "y": np.where(TABLE["y"] == 1, "ill", "well")}
    assert ask(words, trust=Clear, positive="ill").statistic == ask(trust=Clear).statistic


def test_intervals_that_say_nothing_are_told_wherever_a_test_is_shown():
    few = {name: np.asarray(values)[:400] for name, values in TABLE.items()}
    wide, fine = ask(few, privacy=PureDP("0.3")), ask(privacy=PureDP(20))
    assert wide.defined
    assert (wide.too_wide, fine.too_wide, ask(privacy=None, trust=Clear).too_wide) == (True, False, False)
    said = "too noisy to use"
    for shown in (str(wide), wide._repr_html_(), wide.plot().get_title(loc="left") + wide.plot().get_title()):
        assert said in shown
    for shown in (str(fine), fine._repr_html_()):
        assert said not in shown


@pytest.mark.parametrize("rejected", [True, False])
def test_a_model_that_is_rejected_is_not_agreed_with(rejected):
    few = {name: np.asarray(values)[:400] for name, values in TABLE.items()}
    found = dataclasses.replace(ask(few, privacy=PureDP("0.3")), p_value=0.0005 if rejected else 0.4)
    title = found.plot().get_title(loc="left") + found.plot().get_title()
    chapter = render_report([found.with_provenance(found.provenance)], title="Calibration")
    for shown in (str(found), found._repr_html_(), title):
        assert ("too noisy to use" in shown) is not rejected
    assert ("almost any model would agree" in chapter) is not rejected
    assert (found.noise_share() == 0) is rejected


def test_labels_may_be_words_and_missing_probabilities_a_bound():
    words = {"p": np.where(np.arange(5000) < 5, np.nan, P), "y": np.where(TABLE["y"] == 1, "yes", "no")}
    found = ask(words, trust=Clear, positive="yes", negative="no", missing="low")
    plain = ask({"p": np.where(np.arange(5000) < 5, 0.0, P), "y": TABLE["y"]}, trust=Clear)
    assert found.statistic == plain.statistic


# Asking


def test_reliability_holds_the_groups_and_takes_other_levels():
    found = ask()
    points = found.reliability()
    assert points.confidence_level == 0.95
    for q, group in enumerate(found.groups):
        assert group.low <= group.mean_predicted <= group.high
        assert group.interval == (points.low[q], points.high[q])
        assert points.low[q] <= group.observed_share <= points.high[q]
    wider = found.reliability(0.999)
    assert np.all(wider.high - wider.low >= points.high - points.low)
    with pytest.raises(ParameterError, match=r"at most 0\.9999"):
        found.reliability(1)


def test_errors_are_distances_from_the_exact_test():
    truth = ask(trust=Clear)
    assert truth.errors(truth) == {"statistic": 0, "observed": 0}
    far, near = ask(privacy=PureDP("0.1")).errors(truth), ask(privacy=PureDP(100)).errors(truth)
    assert near["statistic"] < 0.1 < far["statistic"]
    assert near["observed"] < 0.01 < far["observed"]


def test_the_verb_is_the_release():
    fit = ogive.hosmer_lemeshow(P, TABLE["y"], privacy=ONE, source=KeyedSource.from_seed(1))
    trust = Central({"probability": P, "label": TABLE["y"]})
    again = release(HosmerLemeshow("probability", "label"), trust=trust, privacy=ONE, source=KeyedSource.from_seed(1))
    assert np.array_equal(fit.values, again.values)
    assert fit.p_value == again.p_value
    assert fit.provenance.statistic == "calibration"


def test_alternatives_pin_method_and_form():
    kinds = HosmerLemeshow("p", "y").alternatives()
    assert len(kinds) == 12
    for name, kind in kinds.items():
        assert name == f"{kind.method}, {kind.form}"
    assert list(HosmerLemeshow("p", "y", constants="paper").alternatives()) == ["path"]


def test_it_is_drawn():
    pytest.importorskip("matplotlib")
    axes = ask().plot()
    assert axes.get_xlabel() == "Predicted (p)"
    assert [text.get_text() for text in axes.get_legend().get_texts()][-1] == "released"
    assert "not private" in ask(trust=Clear).plot(axes).texts[-1].get_text()


def test_the_statistic_of_bank_full_is_many_times_nearer_than_the_papers(shared_data):
    """Relative error at epsilon 1, logistic regression trained on the other half, in the same run."""
    linear = pytest.importorskip("sklearn.linear_model")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    pandas = pytest.importorskip("pandas")
    table = pandas.read_csv(shared_data("bank-full.csv.gz"), sep=";")
    y = (table.pop("y") == "yes").to_numpy().astype(int)
    x = pandas.get_dummies(table).to_numpy(float)
    rows = np.random.default_rng(0).permutation(len(y))
    train, test = rows[::2], rows[1::2]
    scaler = preprocessing.StandardScaler().fit(x[train])
    model = linear.LogisticRegression(max_iter=500).fit(scaler.transform(x[train]), y[train])
    data = {"p": model.predict_proba(scaler.transform(x[test]))[:, 1], "y": y[test]}
    truth = ask(data, trust=Clear).statistic
    ours, paper = (
        np.median([abs(ask(data, seed=seed, **fields).statistic / truth - 1) for seed in range(15)])
        for fields in ({}, {"constants": "paper"})
    )
    assert ours < 0.1
    assert ours < paper / 4


@pytest.mark.parametrize("probability", [0.05, 0.1, 0.3])
def test_one_record_changes_the_statistic_by_more_than_it_usually_is_however_many_there_are(probability):
    """The proposition for which noise is not added to the statistic itself."""
    for records in (22, 100, 1000):
        probabilities = np.concatenate([np.full(records, probability), np.full(records, 0.6)])
        labels = np.concatenate([np.ones(records, int), np.arange(records) % 2])
        changed = labels.copy()
        changed[0] = 0
        found = [ogive.hosmer_lemeshow(probabilities, y, groups=2, trust=Clear).statistic for y in (labels, changed)]
        # the groups' expected counts are exact in the fixed-point numbers of the curve up to rounding
        assert found[0] - found[1] == pytest.approx((2 - 1 / (records * (1 - probability))) / probability, rel=1e-4)
        assert found[0] - found[1] > 1.9 / probability
