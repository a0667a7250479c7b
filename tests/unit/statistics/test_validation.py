"""Measures of predicted probabilities against record-by-record ones and other libraries, and what intervals hold."""

import dataclasses
import json
import math
import re

import numpy as np
import pytest
from matplotlib.text import Text
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, roc_auc_score

import ogive
from ogive.errors import DataError, ParameterError
from ogive.noise.laws import draw_public
from ogive.showing.view import with_ends
from ogive.statistics.functionals import ClassCounts, unknown
from ogive.statistics.validation import measures
from ogive.statistics.validation.estimate import Recalibration, ValidationEstimate, _uncertainty

BINS = 20


def binned(scores, bins=BINS):
    """Midpoints of the bins that scores are in."""
    return (np.maximum(np.ceil(scores * bins - 1e-9), 1) - 0.5) / bins


def made(records, seed=2, slope=0.8):
    """Scores whose true calibration slope is known, labels, and the scores of a second model."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(-0.5, 1.2, records)
    scores = 1 / (1 + np.exp(-odds))
    labels = (rng.random(records) < 1 / (1 + np.exp(-(0.2 + slope * odds)))).astype(int)
    return {"s": scores, "y": labels, "o": np.clip(scores + rng.normal(0, 0.1, records), 0, 1), "g": labels * 0}


@pytest.fixture(scope="module")
def table():
    return made(700)


@pytest.fixture(scope="module")
def exact(table):
    return ogive.release(ogive.Validation("s", "y", bins=BINS, other="o"), trust=ogive.Clear(table))


def test_without_noise_measures_are_those_of_other_libraries_on_binned_scores(table, exact):
    middle, labels = binned(table["s"]), table["y"]
    assert exact.measure("brier").value == pytest.approx(brier_score_loss(labels, middle), abs=1e-12)
    assert exact.measure("auc").value == pytest.approx(roc_auc_score(labels, middle), abs=1e-12)
    assert exact.measure("mean_difference").value == pytest.approx(labels.mean() - middle.mean(), abs=1e-12)
    api = pytest.importorskip("statsmodels.api")
    design = api.add_constant(np.log(middle / (1 - middle)))
    fitted = api.GLM(labels, design, family=api.families.Binomial()).fit(cov_type="HC0", tol=1e-13, maxiter=100)
    for name, place in (("intercept", 0), ("slope", 1)):
        value = exact.measure(name)
        assert value.value == pytest.approx(fitted.params[place], abs=1e-9)
        assert value.standard_error == pytest.approx(fitted.bse[place], rel=0.02)  # the sandwich
    offset = api.GLM(labels, np.ones(len(labels)), family=api.families.Binomial(), offset=design[:, 1]).fit(tol=1e-13)
    assert exact.measure("calibration_in_the_large").value == pytest.approx(offset.params[0], abs=1e-9)
    isotonic = IsotonicRegression().fit(middle, labels)
    assert exact.recalibration()(middle) == pytest.approx(isotonic.predict(middle), abs=1e-12)


@pytest.mark.parametrize("bins", [2, 9])
def test_few_bins_are_shown_and_written(table, bins):
    few = ogive.release(ogive.Validation("s", "y", bins=bins), trust=ogive.Clear(table))
    assert few.measure("ece") == few.measure("ece", groups=bins)
    assert "ECE" in str(few)
    assert ValidationEstimate.from_json(few.to_json()) == few
    data = json.loads(few.to_json())
    data["positives"]["raw"][0] = -1
    with pytest.raises(DataError, match="exact counts are at least 0"):
        ValidationEstimate.from_dict(data)
    with pytest.raises(DataError, match="add up to the number of records"):
        ValidationEstimate.from_dict({**json.loads(few.to_json()), "total": 701})


def test_decisions_are_those_of_a_count_of_records(table, exact):
    called, labels = table["s"] > 0.4, table["y"] == 1
    odds, n = 0.4 / 0.6, len(labels)
    wanted = {
        "sensitivity": (called & labels).sum() / labels.sum(),
        "specificity": (~called & ~labels).sum() / (~labels).sum(),
        "ppv": (called & labels).sum() / called.sum(),
        "npv": (~called & ~labels).sum() / (~called).sum(),
        "net_benefit": ((called & labels).sum() - odds * (called & ~labels).sum()) / n,
        "treat_all": (labels.sum() - odds * (~labels).sum()) / n,
    }
    for name, value in wanted.items():
        got = exact.measure(name, threshold=0.4)
        assert got.value == pytest.approx(value, abs=1e-12)
        assert got.low <= value <= got.high
    curve = exact.decision_curve([0.2, 0.4])
    assert curve.net_benefit[1] == pytest.approx(wanted["net_benefit"], abs=1e-12)
    assert curve.treat_all[1] == pytest.approx(wanted["treat_all"], abs=1e-12)
    everybody = exact.measure("ppv", threshold=0)  # a score of 0 as well
    assert everybody.value == pytest.approx(labels.mean(), abs=1e-12)
    for wrong in (0.42, None, "a", [0.1], math.nan, True):
        with pytest.raises(ParameterError, match="multiple of 1/20"):
            exact.measure("ppv", threshold=wrong)


def test_the_decision_curve_is_a_picture_of_its_own(table, exact):
    axes = exact.plot_decision_curve([0.1, 0.2, 0.4], color="black")
    drawn = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
    assert drawn["s"] == pytest.approx(exact.decision_curve([0.1, 0.2, 0.4]).net_benefit)
    assert drawn["o"] == pytest.approx(exact.second.decision_curve([0.1, 0.2, 0.4]).net_benefit)
    assert drawn["treat everybody"][0] == pytest.approx(exact.measure("treat_all", threshold=0.1).value)
    assert "Decision curve of s and o" in str([each.get_text() for each in axes.figure.findobj(Text)])
    question = ogive.Validation("s", "y", bins=BINS)
    estimate = ogive.release(question, trust=ogive.Central(table), privacy=ogive.PureDP(4))
    _, picture = estimate.view().chapter(ogive.release(question, trust=ogive.Clear(table))).pictures
    lines = {line.kind: line.y for line in picture.chart.lines}
    assert lines["curve"] == pytest.approx(estimate.decision_curve().net_benefit)
    assert lines["truth"] == pytest.approx(exact.decision_curve().net_benefit)
    nobody = dataclasses.replace(estimate.negatives, raw=np.zeros(BINS), cumulative=np.zeros(BINS))
    with pytest.raises(ParameterError, match="no decision curve to draw"):
        dataclasses.replace(estimate, negatives=nobody, positives=nobody, total=0).plot_decision_curve()


def test_bad_arguments_are_refused_in_one_line(exact):
    for ask, words in (
        (lambda: exact.conformal("0.9"), "^coverage must be above 0"),
        (lambda: exact.decision_curve([]), "^thresholds must hold at least one"),
        (lambda: exact.decision_curve([[0.1], [0.1, 0.2]]), "multiple of 1/20"),
        (lambda: exact.measure("ece", groups=2.5), "^groups must be a whole number from 2 to 20"),
        (lambda: exact.measure(["ece"]), "^name must be one of"),
        (lambda: exact.conformal(0.9, 0.9999999), "^confidence_level must be above 0"),
    ):
        with pytest.raises(ParameterError, match=words):
            ask()
    assert exact.measure("sensitivity", threshold=np.float64(0.4)) is exact.measure("sensitivity", threshold=0.4)


def test_where_nobody_is_positive_intervals_have_a_width():
    none = {"s": np.linspace(0.01, 0.2, 50), "y": np.zeros(50, int)}
    estimate = ogive.release(ogive.Validation("s", "y", bins=BINS, negative=0), trust=ogive.Clear(none))
    for name in ("ece", "reliability"):
        value = estimate.measure(name)
        assert value.high - value.low > 0.01
    curve = estimate.decision_curve([0.1])
    assert curve.high[0] - curve.low[0] > 0.01


def test_few_records_without_noise_have_a_slope():
    few = {"s": np.array([0.2, 0.3, 0.6, 0.7]), "y": np.array([0, 1, 0, 1])}
    estimate = ogive.release(ogive.Validation("s", "y", bins=BINS), trust=ogive.Clear(few))
    assert math.isfinite(estimate.measure("slope").value)
    alone = {"s": np.array([0.2, 0.3]), "y": np.array([0, 1])}
    apart = ogive.release(ogive.Validation("s", "y", bins=BINS), trust=ogive.Clear(alone))
    with pytest.raises(ParameterError, match="the records leave no recalibration"):
        apart.recalibration("logistic")
    assert apart.recalibration().kind == "isotonic"


def test_the_decomposition_adds_up_and_is_corrected_for_sampling(table, exact):
    groups = measures.grouped(exact.classes, 10, "ece")
    middle, labels = binned(table["s"]), table["y"]
    place = np.minimum((middle * 10).astype(int), 9)
    deviations = np.array([(middle - labels)[place == g].sum() for g in range(10)])
    assert groups.deviations == pytest.approx(deviations, abs=1e-9)
    assert exact.measure("ece", groups=10).value < np.abs(deviations).sum() / len(labels)
    # Murphy: without the corrections, and with bins as groups, the parts add up to the score
    plain = {}
    for name in ("reliability", "resolution"):
        of = measures.grouped(exact.classes, BINS, name)
        plain[name] = float(np.sum(of.deviations**2 / of.numbers)) / len(labels)
    total = plain["reliability"] - plain["resolution"] + exact.measure("uncertainty").value
    assert total == pytest.approx(exact.measure("brier").value, abs=1e-9)


def test_unfolding_takes_out_what_errors_add():
    rng = np.random.default_rng(0)
    for mu in (0.5, 2.0):
        mean = np.abs(mu + rng.normal(size=400_000)).mean()
        assert measures.unfolded(np.array([mean]), np.array([1.0]))[0] == pytest.approx(mu, abs=0.02)
    assert measures.unfolded(np.array([0.3]), np.array([1.0]))[0] < 1e-6
    with np.errstate(all="raise"):
        assert measures.unfolded(np.array([0.3, 0.2]), np.array([0.1, 0.0]))[1] == 0.2


def test_norms_are_known_to_first_order_in_the_numbers_of_the_groups(exact):
    """The change of u by one more record, by differences, against the error that the interval uses."""
    counts = exact.classes
    of = measures.grouped(counts, 4, "ece")

    def norms(histograms):
        number = np.add.reduceat(histograms.sum(axis=0), [0, 5, 10, 15])
        return (of.gradients * histograms).sum(axis=(1, 2)) / np.sqrt(number * histograms.sum())

    gradients = np.zeros((4, 2, BINS))
    for place in np.ndindex(2, BINS):
        step = np.zeros((2, BINS))
        step[place] = 1e-3
        gradients[(slice(None), *place)] = (norms(counts.histograms + step) - norms(counts.histograms - step)) / 2e-3
    error = np.sqrt((counts.change(gradients).deviations ** 2).sum())
    plain = (norms(counts.histograms) ** 2).sum()
    assert exact.measure("reliability", groups=4).value == pytest.approx(max(0.0, plain - error**2), rel=1e-5)


def test_two_models_are_measured_within_one_price(table):
    question = ogive.Validation("s", "y", bins=BINS, other="o")
    estimate = ogive.release(question, trust=ogive.Central(table), privacy=ogive.PureDP(4))
    assert estimate.provenance.price.epsilon <= 4
    assert estimate.second.score == "o"
    less = estimate.improvement("brier")
    assert less.value == pytest.approx(estimate.measure("brier").value - estimate.second.measure("brier").value)
    one, two = estimate.measure("brier"), estimate.second.measure("brier")
    assert less.high - less.low == pytest.approx(one.high - one.low + two.high - two.low)
    read = ValidationEstimate.from_json(estimate.to_json())
    assert read == estimate
    with pytest.raises(ParameterError, match="at the same level"):
        dataclasses.replace(estimate, other=dataclasses.replace(estimate.other, confidence_level=0.5))
    data = estimate.to_dict()
    for wrong in ({}, data["other"] | {"total": 3}, {name: data[name] for name in ("negatives", "positives")}):
        with pytest.raises(DataError, match="second score"):
            ValidationEstimate.from_dict(data | {"other": wrong})
    forged = json.loads(re.sub(r'"scale": "[^"]*"', '"scale": "1/100"', json.dumps(data["other"])))
    with pytest.raises(DataError, match="measured in the same way"):
        ValidationEstimate.from_dict(data | {"other": forged})
    data["other"] = None
    cheap = data["provenance"]
    cheap["price"] = json.loads(json.dumps(cheap["price"]).replace(str(estimate.provenance.price.epsilon), "1/100"))
    with pytest.raises(DataError):
        ValidationEstimate.from_dict(data)
    assert "difference" in str(estimate)
    with pytest.raises(ParameterError, match="no second score"):
        estimate.second.improvement("brier")


def test_groups_are_compared(table):
    halves = dict(table, g=np.arange(700) % 2)
    found = ogive.release(
        ogive.Grouped(ogive.Validation("s", "y", bins=BINS), "g", (0, 1)),
        trust=ogive.Central(halves),
        privacy=ogive.PureDP(8),
    )
    one, two = found.estimates
    less = one.difference(two, "sensitivity", threshold=0.4)
    direct = [each.measure("sensitivity", threshold=0.4).value for each in (one, two)]
    assert less.value == pytest.approx(direct[0] - direct[1])
    assert less.low < 0 < less.high
    line = str(found).splitlines()[-1]
    assert line.startswith("0 minus 1: Brier score ")
    slope = one.difference(two, "slope")
    assert f"calibration slope {with_ends(slope)}" in line


@pytest.mark.parametrize(("groups", "pairs"), [(3, ["0 1", "0 2", "1 2"]), (4, ["0 1", "0 2", "0 3"])])
def test_a_table_compares_pairs_of_few_groups_and_more_with_the_first(table, groups, pairs):
    parts = dict(table, g=np.arange(700) % groups)
    question = ogive.Grouped(ogive.Validation("s", "y", bins=BINS), "g", tuple(range(groups)))
    found = ogive.release(question, trust=ogive.Central(parts), privacy=ogive.PureDP(50))
    lines = [line for line in str(found).splitlines() if " minus " in line]
    assert [line.partition(":")[0].replace(" minus", "") for line in lines] == pairs


def test_a_recalibration_is_stored_and_is_monotone(exact, tmp_path):
    for kind in ("isotonic", "logistic"):
        found = exact.recalibration(kind)
        found.to_json(tmp_path / "map.json")
        read = Recalibration.from_json(tmp_path / "map.json")
        values = read(np.linspace(0, 1, 101))
        assert read == found
        assert np.all(np.diff(values) >= 0)
        assert values[0] >= 0
        assert values[-1] <= 1
        assert ogive.Recalibration.from_json(found.to_json()) == found
    sets = exact.conformal(0.9)
    assert ogive.Conformal.from_json(sets.to_json()) == sets
    for use in (exact.recalibration(), sets):
        for wrong in ([0.2, math.nan], 1.3, "much"):
            with pytest.raises(ParameterError, match="clip or fill them as in the release"):
                use(wrong)
    with pytest.raises(DataError, match="contradicts itself: threshold must be"):
        ogive.Conformal.from_json(sets.to_json().replace(f'"threshold": {sets.threshold}', '"threshold": 1.5'))
    with pytest.raises(DataError, match="do not decrease"):
        Recalibration.from_json('{"schema": "ogive.recalibration/1", "kind": "isotonic", "values": [0.4, 0.3]}')


def test_where_noise_leaves_nothing_there_are_no_numbers():
    few = {"s": np.linspace(0, 1, 30), "y": np.arange(30) % 2}
    estimate = ogive.release(ogive.Validation("s", "y"), trust=ogive.Central(few), privacy=ogive.PureDP("0.05"))
    value = estimate.measure("sensitivity", threshold=0.5)
    assert math.isnan(value.value)
    assert (value.low, value.high) == (0, 1)
    assert estimate.measure("slope").low == -math.inf
    assert _uncertainty(unknown())[1:] == (0, 0.25, math.inf)
    assert estimate.conformal(0.9).threshold == 1.0
    assert "noise may hide that there are records of both classes" in str(estimate)
    with pytest.raises(ParameterError, match="noise leaves no recalibration"):
        estimate.recalibration()


# --- What intervals hold


def places(scores):
    """The bin of each score."""
    return np.maximum(np.ceil(scores * BINS - 1e-9), 1).astype(int) - 1


def noisy(model, counts, random, factor=1):
    """An estimate of class histograms with noise of the model's strategy, `factor` as large as stated."""
    strategy, curves = model.negatives.strategy, []
    for each in counts:
        parts = tuple(draw_public(level.law, (1, level.nodes), random) for level in strategy.levels)
        raw = np.cumsum(each) + factor * strategy.estimate(strategy.spread(parts), None)[0]
        rising = np.maximum.accumulate(np.maximum(raw, 0))
        curves.append(dataclasses.replace(model.negatives, raw=raw, cumulative=rising))
    known = {"total": int(counts.sum()), "provenance": None}
    return dataclasses.replace(model, negatives=curves[0], positives=curves[1], **known)


def model_of(epsilon):
    """A release whose strategy others are made of."""
    question = ogive.Validation("s", "y", bins=BINS)
    return ogive.release(question, trust=ogive.Central(made(50)), privacy=ogive.PureDP(epsilon))


@pytest.fixture(scope="module")
def releases():
    """Estimates of many samples, each with noise of its own, and the values of the population."""
    large = made(400_000, seed=9)
    population = ogive.release(ogive.Validation("s", "y", bins=BINS), trust=ogive.Clear(large))
    model, shares = model_of(1), np.maximum(population.classes.histograms, 0)
    random = np.random.default_rng(4)
    chances = (shares / shares.sum()).ravel()
    return population, [noisy(model, random.multinomial(3000, chances).reshape(2, BINS), random) for _ in range(60)]


def held(population, found, name, shrunk=1.0, **where):
    """How often the interval, shrunk around its value, holds the value of the population."""
    truth = population.measure(name, **where).value
    hits = 0
    for each in found:
        value = each.measure(name, 0.9, **where)
        low, high = (value.value + shrunk * (end - value.value) for end in (value.low, value.high))
        hits += low <= truth <= high
    return hits / len(found)


@pytest.mark.parametrize("name", ["brier", "slope", "intercept", "mean_difference", "ece", "reliability", "resolution"])
def test_intervals_hold_the_values_of_the_population(releases, name):
    assert held(*releases, name) >= 0.8


@pytest.mark.parametrize("name", ["sensitivity", "specificity", "ppv", "npv", "net_benefit"])
def test_intervals_of_decisions_hold_the_values_of_the_population(releases, name):
    assert held(*releases, name, threshold=0.4) >= 0.8


NARROW = [("slope", {}), ("sensitivity", {"threshold": 0.4}), ("net_benefit", {"threshold": 0.4})]
COMPARED = [*NARROW, ("brier", {}), ("ece", {})]


@pytest.fixture(scope="module")
def two_models():
    """Chances of class and bins of two scores, and the values of their population."""
    large = made(400_000, seed=9)
    cells = np.ravel_multi_index((large["y"], places(large["s"]), places(large["o"])), (2, BINS, BINS))
    population = ogive.release(ogive.Validation("s", "y", bins=BINS, other="o"), trust=ogive.Clear(large))
    return np.bincount(cells, minlength=2 * BINS**2) / len(cells), population


def improvements(two_models, measured, releases, factor=1):
    """Shares of releases whose interval of a difference of two models holds that of the population."""
    (chances, population), random, model, hits = two_models, np.random.default_rng(5), model_of("0.5"), []
    for _ in range(releases):
        counts = random.multinomial(4000, chances).reshape(2, BINS, BINS)
        one, two = (noisy(model, counts.sum(axis=axis), random, factor) for axis in (2, 1))
        curves = {name: dataclasses.replace(getattr(two, name), column="o") for name in two.own}
        estimate = dataclasses.replace(one, other=dataclasses.replace(two, **curves))
        less = [estimate.improvement(name, 0.9, **where) for name, where in measured]
        truths = [population.improvement(name, **where).value for name, where in measured]
        hits.append([each.low <= truth <= each.high for each, truth in zip(less, truths, strict=True)])
    return np.mean(hits, axis=0)


def test_improvements_hold_those_of_the_population_and_not_with_more_noise_than_stated(two_models):
    assert (improvements(two_models, COMPARED, 40) >= 0.9).all()
    assert (improvements(two_models, NARROW, 20, factor=8) < 0.8).all()


def test_differences_of_groups_hold_those_of_their_populations(releases):
    """Of two samples of one population, whose measures differ by nothing; a fifth of an interval does not hold that."""
    _, found = releases
    for name, where in COMPARED:
        pairs = zip(found[::2], found[1::2], strict=True)
        values = [one.difference(two, name, 0.9, **where) for one, two in pairs]
        assert np.mean([each.low <= 0 <= each.high for each in values]) >= 0.8
        if (name, where) in NARROW:
            held = [(each.low - each.value) / 5 <= each.value <= (each.high - each.value) / 5 for each in values]
            assert np.mean(held) <= 0.6


def test_shrunken_intervals_do_not(releases):
    for name, where in (("slope", {}), ("sensitivity", {"threshold": 0.4}), ("net_benefit", {"threshold": 0.4})):
        assert held(*releases, name, 0.4, **where) < 0.75


def test_conformal_sets_cover(releases):
    population, found = releases
    counts = population.classes.histograms

    def coverage(place):
        return (counts[0][:place].sum() + counts[1][BINS - place :].sum()) / counts.sum()

    least = next(k for k in range(BINS + 1) if coverage(k) >= 0.85)
    wanted = coverage(least - 1) + 0.002  # so that one end less is just too little
    places = [measures.conformal_place(each.classes, wanted, 0.9) for each in found]
    assert np.mean([coverage(place) >= wanted for place in places]) >= 0.9
    assert max(places) < BINS  # and not because a set holds both labels
    plain = []  # the control: the shares of the noisy counts themselves
    for each in found:
        noisy = each.classes.histograms
        shares = [(noisy[0][:k].sum() + noisy[1][BINS - k :].sum()) / noisy.sum() for k in range(BINS + 1)]
        plain.append(next(k for k in range(BINS + 1) if shares[k] >= wanted))
    assert np.mean([coverage(place) >= wanted for place in plain]) < 0.8


def test_a_confidence_level_that_takes_too_many_simulations_is_refused(releases, monkeypatch):
    monkeypatch.setattr("ogive.statistics.confidence.MOST_VALUES", 1000)
    with pytest.raises(ParameterError, match=r"^confidence_level must be at most 0\.999 "):
        releases[1][0].conformal(0.9, 0.9999)


def test_the_threshold_for_a_sensitivity_has_an_interval(releases):
    population, found = releases
    truth = population.threshold_for(0.8)[0]
    got = [each.threshold_for(0.8, 0.9) for each in found]
    assert np.mean([low <= truth <= high for _, low, high in got]) >= 0.85
    assert np.mean([high - low for _, low, high in got]) < 0.2


def test_conformal_uses_the_binomial_law():
    stats = pytest.importorskip("scipy.stats")
    assert measures.binomial_at_most(3, 50, 1.0) == 0.0
    for count, trials, share in ((3, 50, 0.1), (90, 1000, 0.1), (0, 10, 0.3), (10**8, 2 * 10**8, 0.5)):
        assert measures.binomial_at_most(count, trials, share) == pytest.approx(stats.binom.cdf(count, trials, share))
    counts = np.zeros((2, 4))
    counts[0, 0], counts[1, 3], counts[0, 3] = 500, 480, 20
    cumulative = np.cumsum(counts, axis=1)
    held = ClassCounts(cumulative, cumulative, None, total=1000)
    assert measures.conformal_place(held, 0.95, 0.95) == 1
    assert measures.conformal_place(held, 0.979, 0.95) == 4
    assert measures.conformal_place(held, 1e-17, 0.95) == 1


def test_one_group_of_all_has_no_resolution():
    """Its interval was 0 to 0 where noise leaves one group."""
    rng = np.random.default_rng(3)
    scores = rng.random(500)
    weak = ogive.validation(scores, (rng.random(500) < scores).astype(int), privacy=ogive.PureDP("1/10"))
    found = weak.measure("resolution")
    assert math.isnan(found.value)
    assert (found.low, found.high) == (0, 1)


def test_a_picture_of_two_models_has_both(table):
    question = ogive.Validation("s", "y", bins=BINS, other="o")
    found = ogive.release(question, trust=ogive.Central(table), privacy=ogive.PureDP(20))
    labels = [text.get_text() for text in found.plot().get_legend().get_texts()]
    assert labels == ["perfect calibration", "s", "o"]
