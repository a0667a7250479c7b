"""Survival, hazard and incidence against estimators written out record by record, and what noise makes uncertain."""

import dataclasses
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

import ogive
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.noise.laws import draw_public
from ogive.privacy import Adjacency, PrivacyUnit
from ogive.statistics.confidence import normal_quantile
from ogive.statistics.curve.estimate import Curve
from ogive.statistics.roc.designs import choose_for_classes
from ogive.statistics.survival import process
from ogive.statistics.survival.estimate import SurvivalEstimate, entry_grid
from ogive.statistics.survival.process import Process
from ogive.strategies.smoothing import smooth


def kaplan_meier(times, events, at):
    """Survival at a time by the product over the distinct times of events, events before censorings."""
    result = 1.0
    for time in sorted({t for t, event in zip(times, events, strict=True) if event and t <= at}):
        risk = sum(1 for t in times if t >= time)
        died = sum(1 for t, event in zip(times, events, strict=True) if t == time and event)
        result *= 1 - died / risk
    return result


def greenwood(times, events, at):
    """Variance of that product by Greenwood's formula."""
    total = 0.0
    for time in sorted({t for t, event in zip(times, events, strict=True) if event and t <= at}):
        risk = sum(1 for t in times if t >= time)
        died = sum(1 for t, event in zip(times, events, strict=True) if t == time and event)
        if risk > died:
            total += died / (risk * (risk - died))
    return kaplan_meier(times, events, at) ** 2 * total


def incidence(times, causes, cause, at):
    """Cumulative incidence of one cause by Aalen and Johansen, over the distinct times of events."""
    result = 0.0
    for time in sorted({t for t, kind in zip(times, causes, strict=True) if kind and t <= at}):
        risk = sum(1 for t in times if t >= time)
        died = sum(1 for t, kind in zip(times, causes, strict=True) if t == time and kind == cause)
        result += kaplan_meier(times, causes, time - 0.5) * died / risk
    return result


@pytest.fixture(scope="module")
def months():
    """Whole months until an event of two causes (1, 2) or censoring (0), of 300 records."""
    rng = np.random.default_rng(5)
    times = rng.integers(1, 40, size=300)
    causes = rng.choice([0, 1, 2], p=[0.4, 0.4, 0.2], size=300)
    return times, causes


def exact(times, events, **options):
    question = ogive.Survival("t", "e", bounds=(0, 30), grid="integers", **options)
    return ogive.release(question, trust=ogive.Clear({"t": times, "e": events}))


@pytest.mark.parametrize("month", [0, 1, 7, 18, 30])
def test_without_noise_it_is_the_product_of_kaplan_and_meier(months, month):
    times, causes = months
    events = (causes > 0).astype(int)
    estimate = exact(times, events)
    assert estimate(month) == pytest.approx(kaplan_meier(times, events, month), abs=1e-12)
    error = math.sqrt(greenwood(times, events, month))
    assert estimate.number(month).standard_error == pytest.approx(error, abs=1e-12)


@pytest.mark.parametrize("cause", [1, 2])
@pytest.mark.parametrize("month", [3, 18, 30])
def test_without_noise_incidence_is_that_of_aalen_and_johansen(months, cause, month):
    times, causes = months
    estimate = exact(times, causes, causes=(1, 2))
    assert estimate.cumulative_incidence(month, cause) == pytest.approx(
        incidence(times, causes, cause, month), abs=1e-12
    )
    both = estimate.cumulative_incidence(month, 1) + estimate.cumulative_incidence(month, 2)
    assert both == pytest.approx(1 - estimate(month), abs=1e-12)


def test_hazard_risk_and_restricted_mean_without_noise(months):
    times, causes = months
    events = (causes > 0).astype(int)
    estimate = exact(times, events)
    hazard = sum(sum((times == month) & (events == 1)) / sum(times >= month) for month in range(1, 13))
    assert estimate.cumulative_hazard(12) == pytest.approx(hazard, abs=1e-12)
    assert [estimate.at_risk(month) for month in (0, 1, 12.5, 30)] == [
        sum(times >= month) for month in (0, 1, 12.5, 30)
    ]
    area = sum(kaplan_meier(times, events, month) for month in range(30))
    assert estimate.restricted_mean(30).value == pytest.approx(area, abs=1e-9)


def test_times_beyond_the_upper_bound_are_at_risk_up_to_it():
    estimate = exact([5, 30, 31, 60], [1, 0, 1, 1])
    assert estimate(30) == 0.75
    assert math.isnan(estimate(31))


def test_median_is_the_first_time_at_which_half_have_had_the_event():
    estimate = exact([2, 4, 6, 8], [1, 1, 1, 1])
    assert estimate.median == 4
    assert estimate.quantile(0.9) == 8
    assert math.isnan(exact([2, 4, 6, 8], [1, 0, 0, 0]).median)
    low, high = estimate.quantile_interval(0.5)
    assert low <= 4 <= high


def test_there_is_no_estimate_where_nobody_is_at_risk():
    estimate = exact([2, 3], [1, 0])
    assert estimate([2, 3]).tolist() == [0.5, 0.5]
    assert math.isnan(estimate(4))
    low, high = estimate.interval([3, 4])
    assert (low[1], high[1]) == (0, high[0])
    assert "nobody is at risk" in str(estimate)


def log_rank(times, events, groups, weights):
    """Observed less expected events of group 0 and their variance, over the distinct times of events."""
    value = variance = 0.0
    for time in sorted({t for t, event in zip(times, events, strict=True) if event}):
        at = times >= time
        y, y1 = at.sum(), (at & (groups == 0)).sum()
        now = (times == time) & (events == 1)
        d, d1 = now.sum(), (now & (groups == 0)).sum()
        w = {"log-rank": 1, "gehan": y, "tarone-ware": math.sqrt(y)}[weights]
        value += w * (d1 - y1 * d / y)
        if y > 1:
            variance += w**2 * d * (y1 / y) * (1 - y1 / y) * (y - d) / (y - 1)
    return value, variance


@pytest.mark.parametrize("weights", ["log-rank", "gehan", "tarone-ware"])
def test_log_rank_without_noise(months, weights):
    times, causes = months
    events = ((causes > 0) & (times <= 30)).astype(int)
    groups = np.arange(300) % 2
    pair = [exact(times[groups == group], events[groups == group]) for group in (0, 1)]
    test = pair[0].log_rank(pair[1], weights)
    value, variance = log_rank(times, events, groups, weights)
    assert test.statistic == pytest.approx(value, abs=1e-9)
    assert test.standard_error == pytest.approx(math.sqrt(variance), rel=1e-9)


def log_rank_of_several(times, events, groups, weights):
    """The chi-square of all groups, over the distinct times of events."""
    names = sorted(set(groups))
    value, variance = np.zeros(len(names)), np.zeros((len(names), len(names)))
    for time in sorted({t for t, event in zip(times, events, strict=True) if event}):
        at = np.array([((times >= time) & (groups == name)).sum() for name in names])
        now = np.array([((times == time) & (events == 1) & (groups == name)).sum() for name in names])
        y, d = at.sum(), now.sum()
        w = {"log-rank": 1, "gehan": y, "tarone-ware": math.sqrt(y)}[weights]
        for place, own in enumerate(at):
            value[place] += w * (now[place] - own * d / y)
            for other, others in enumerate(at):
                if y > 1:
                    same = own / y if place == other else 0
                    variance[place, other] += w**2 * d * (y - d) / (y - 1) * (same - own * others / y**2)
    return value[1:] @ np.linalg.solve(variance[1:, 1:], value[1:])


@pytest.mark.parametrize("weights", ["log-rank", "gehan", "tarone-ware"])
def test_log_rank_of_several_groups_without_noise(months, weights):
    times, causes = months
    events = ((causes > 0) & (times <= 30)).astype(int)
    groups = np.arange(300) % 4
    first, *others = (exact(times[groups == group], events[groups == group]) for group in range(4))
    test = first.log_rank(others, weights)
    assert test.statistic == pytest.approx(log_rank_of_several(times, events, groups, weights), rel=1e-9)
    assert test.p_value == pytest.approx(chi2.sf(test.statistic, 3))
    assert others[0].log_rank([first, *others[1:]], weights).p_value == pytest.approx(test.p_value)
    assert first.log_rank(others[:1], weights) == first.log_rank(others[0], weights)
    with pytest.raises(ParameterError, match="at least one other group"):
        first.log_rank([])


# --- With noise

UNIT = PrivacyUnit(Adjacency.ADD_OR_REMOVE)


def strategy_for(size, epsilon):
    return choose_for_classes(
        size,
        ogive.PureDP(Fraction(epsilon)),
        UNIT,
        public_labels=False,
        budget="joint",
        method="auto",
        refusal=lambda _: None,
    )


def noise(strategy, rng, shape=()):
    parts = tuple(draw_public(level.law, (*shape, level.nodes), rng) for level in strategy.levels)
    return strategy.spread(parts)


def noisy_curve(grid, counts, strategy, rng, factor=1):
    values = strategy.measure(counts) + factor * noise(strategy, rng)
    return Curve(
        grid=grid,
        cumulative=smooth(strategy, values, total=None, kind="shrinkage"),
        raw=strategy.estimate(values, None),
        strategy=strategy,
        adjacency=Adjacency.ADD_OR_REMOVE,
        total=None,
        smoothing="shrinkage",
        column="t",
    )


def released(question, strategy, histograms, rng):
    """An estimate of exact histograms of the classes, with noise of a seeded generator."""
    curves = [noisy_curve(question.classes.values.grid, counts, strategy, rng) for counts in histograms]
    return SurvivalEstimate(
        time="t",
        event="e",
        grid=question.axis,
        causes=question.causes,
        censored=0,
        curves=tuple(curves),
        total=None,
        confidence_level=0.95,
    )


@pytest.mark.parametrize("function", ["of_survival", "of_hazard", "incidence 0", "incidence 1"])
def test_the_variance_of_noise_is_that_of_simulated_noise(function):
    rng = np.random.default_rng(3)
    size, strategy = 20, strategy_for(21, 1)
    counts = np.cumsum(rng.integers(80, 120, size=(3, size + 1)), axis=1).astype(float)
    whole = Process(counts, strategy)

    def values(of):
        name, _, cause = function.partition(" ")
        if name == "of_survival":
            return of.survival
        return np.cumsum(of.hazard) if name == "of_hazard" else of.incidence(int(cause))

    name, _, cause = function.partition(" ")
    change = whole.of_incidence(int(cause)) if name == "incidence" else getattr(whole, name)()
    assert whole.estimable == size
    # noise is made a hundredth, so that the function is straight
    draws = strategy.estimate(noise(strategy, rng, (4000, 3)), None) / 100
    moved = np.array([values(Process(counts + each, strategy)) for each in draws])
    simulated = moved.std(axis=0) * 100
    assert np.allclose(np.sqrt(change.noise), simulated, rtol=0.06)


def coverage(records, epsilon, factor, releases=120):
    """Shares of thresholds inside the intervals, and of releases inside the band, where noise is `factor` as stated."""
    rng = np.random.default_rng(records)
    question = ogive.Survival("t", "e", bounds=(0, 10), bins=40)
    strategy = strategy_for(41, epsilon)
    thresholds = question.classes.values.grid.thresholds
    truth = np.exp(-question.axis.thresholds / 8)
    inside, whole = [], []
    for _ in range(releases):
        times, ends = rng.exponential(8, size=records), rng.exponential(15, size=records)
        # leaving is seen at thresholds, so that the bins do not matter
        ends = np.ceil(ends * 4) / 4
        place = np.searchsorted(thresholds, np.minimum(np.minimum(times, ends), thresholds[-1]))
        event = times <= ends
        counts = [np.bincount(place[kind], minlength=41).astype(np.int64) for kind in (~event, event)]
        estimate = released(question, strategy, counts, rng)
        if factor != 1:
            estimate = dataclasses.replace(
                estimate,
                curves=tuple(
                    dataclasses.replace(each, raw=each.raw + (factor - 1) * (each.raw - np.cumsum(exact_counts)))
                    for each, exact_counts in zip(estimate.curves, counts, strict=True)
                ),
            )
        low, high = estimate.intervals()
        estimable = estimate.estimable
        inside.append(((low <= truth) & (truth <= high))[:estimable].mean())
        band = estimate.band()
        whole.append(bool(((band.low <= truth) & (truth <= band.high)).all()))
    return np.mean(inside), np.mean(whole)


@pytest.mark.parametrize(("records", "epsilon"), [(800, 1), (3000, 0.5)])
def test_intervals_and_bands_hold_the_survival_of_the_population(records, epsilon):
    inside, whole = coverage(records, epsilon, 1)
    assert 0.92 <= inside <= 0.985
    assert whole >= 0.90


def test_intervals_do_not_hold_it_where_noise_is_larger_than_stated():
    inside, whole = coverage(800, 1, 4)
    assert inside < 0.85
    assert whole < 0.80


@pytest.mark.parametrize("groups", [2, 4])
def test_p_values_of_equal_groups_are_even(groups):
    """The control, which takes the noise for a quarter of what it is, is not."""
    rng = np.random.default_rng(8)
    question = ogive.Survival("t", "e", bounds=(0, 10), bins=40)
    strategy = strategy_for(41, Fraction(1, 4))
    p_values, control = [], []
    for _ in range(200):
        first, *others = (of_equal(question, strategy, rng) for _ in range(groups))
        p_values.append(first.log_rank(others).p_value)
        differences, sampling, noise = process.weighted_log_rank([each._raw for each in (first, *others)], "log-rank")
        spread = (sampling + noise / 16)[1:, 1:]
        control.append(chi2.sf(differences[1:] @ np.linalg.solve(spread, differences[1:]), groups - 1))
    # Kolmogorov-Smirnov, at a level of one in a thousand
    gaps, wrong = (np.abs(np.sort(each) - (np.arange(200) + 0.5) / 200).max() for each in (p_values, control))
    assert gaps < 1.95 / math.sqrt(200) < wrong


def of_equal(question, strategy, rng):
    times, ends = rng.exponential(8, size=600), rng.exponential(15, size=600)
    place = np.searchsorted(question.classes.values.grid.thresholds, np.minimum(np.minimum(times, ends), 10.2))
    counts = [np.bincount(place[kind], minlength=41).astype(np.int64) for kind in (times > ends, times <= ends)]
    return released(question, strategy, counts, rng)


def test_estimates_are_valid_however_large_the_noise_is():
    rng = np.random.default_rng(2)
    question = ogive.Survival("t", "e", bounds=(0, 10), bins=40)
    strategy = strategy_for(41, Fraction(1, 20))
    for _ in range(30):
        counts = [rng.integers(0, 12, size=41) for _ in range(2)]
        estimate = released(question, strategy, counts, rng)
        known = estimate.probabilities[: estimate.estimable]
        assert np.isnan(estimate.probabilities[estimate.estimable :]).all()
        assert ((known >= 0) & (known <= 1)).all()
        assert (np.diff(known) <= 0).all()
        for ends in (estimate.intervals(), estimate.band()):
            assert ((ends.low >= 0) & (ends.low <= ends.high) & (ends.high <= 1)).all()
        assert ("noise may hide" in str(estimate)) or ("undefined" in str(estimate)) or estimate.estimable == 40


def test_ends_hold_the_estimate(months):
    times, causes = months
    estimate = ogive.survival(times, causes, bounds=(0, 30), grid="integers", causes=(1, 2), privacy=ogive.PureDP(1))
    value = estimate.number(12)
    assert value.low <= value.value <= value.high
    low, high = estimate.cumulative_incidence_interval(12, 2)
    assert 0 <= low <= high <= 1
    low, high = estimate.cumulative_hazard_interval(12)
    assert 0 <= low <= high


# --- Plain data and refusals


def test_reads_back_what_it_wrote_and_refuses_what_contradicts_itself(months):
    times, causes = months
    estimate = ogive.survival(times, causes, bounds=(0, 30), grid="integers", causes=(1, 2), privacy=ogive.PureDP(1))
    assert SurvivalEstimate.from_json(estimate.to_json()) == estimate
    data = json.loads(estimate.to_json())
    with pytest.raises(DataError, match="a curve of the censored and one of each cause"):
        SurvivalEstimate.from_dict({**data, "curves": data["curves"][:2]})
    with pytest.raises(DataError, match="those of the estimate and one more"):
        SurvivalEstimate.from_dict({**data, "grid": {**data["grid"], "high": 29.0, "bins": 30}})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bounds": (-1, 10)}, "must be at least 0"),
        ({"bounds": (0, 10), "bins": 2000}, "at most 1024"),
        ({"bounds": ("2020-01-01", "2021-01-01")}, "a duration, not a date"),
        ({"bounds": (0, 10), "missing": "drop"}, "a record without a time"),
        ({"bounds": (0, 10), "missing": "low"}, "a record without a time"),
        ({"bounds": (0, 10), "method": "projection"}, "method"),
        ({"bounds": (0, 10), "causes": (0,)}, "twice|same"),
    ],
)
def test_bad_questions_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        ogive.Survival("t", "e", **options)


def test_groups_on_other_thresholds_are_not_compared(months):
    times, causes = months
    events = (causes > 0).astype(int)
    one, other = (
        exact(times, events),
        ogive.release(ogive.Survival("t", "e", bounds=(0, 30), bins=10), trust=ogive.Clear({"t": times, "e": events})),
    )
    with pytest.raises(ParameterError, match="same thresholds"):
        one.log_rank(other)
    with pytest.raises(ParameterError, match="must be a threshold"):
        one.restricted_mean(4.5)


def test_simulated_quantiles_are_above_the_normal_one():
    """A band holds more than one threshold, so its ends are further out."""
    rng = np.random.default_rng(1)
    question = ogive.Survival("t", "e", bounds=(0, 10), bins=40)
    estimate = released(question, strategy_for(41, 1), [rng.integers(5, 30, size=41) for _ in range(2)], rng)
    largest = estimate._change.largest(0.95)
    assert np.quantile(largest, 0.95) > normal_quantile(0.95) + 0.3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"causes": [1, 1]}, "twice|same|only once"),
        ({"censored": 1}, "twice|same|only once"),
        ({"total": 5}, "public where a record is replaced"),
    ],
)
def test_documents_that_no_question_has_are_refused(months, change, message):
    times, causes = months
    question = ogive.Survival("t", "e", bounds=(0, 30), grid="integers", causes=(1, 2))
    estimate = ogive.release(
        question,
        trust=ogive.Central({"t": times, "e": causes}),
        privacy=ogive.PureDP(1),
        adjacency=Adjacency.ADD_OR_REMOVE,
    )
    data = json.loads(estimate.to_json())
    assert SurvivalEstimate.from_dict(data) == estimate
    with pytest.raises(DataError, match=message):
        SurvivalEstimate.from_dict({**data, **change})


def test_a_stated_price_below_that_of_a_record_that_changes_its_class_is_refused(months):
    times, causes = months
    estimate = ogive.survival(times, (causes > 0).astype(int), bounds=(0, 30), grid="integers", privacy=ogive.PureDP(1))
    data = json.loads(estimate.to_json())
    assert data["provenance"]["price"]["epsilon"] == "1"
    data["provenance"]["price"]["epsilon"] = "9/10"
    with pytest.raises(DataError, match="its noise costs"):
        SurvivalEstimate.from_dict(data)


def test_more_causes_than_an_estimate_has_are_refused_before_a_charge():
    for causes in ((), tuple(range(1, 18))):
        with pytest.raises(ParameterError, match="1 to 16 values"):
            ogive.Survival("t", "e", bounds=(0, 10), causes=causes)


def test_a_horizon_that_is_no_number_is_refused(months):
    times, causes = months
    with pytest.raises(ParameterError, match="a threshold"):
        exact(times, (causes > 0).astype(int)).restricted_mean(math.nan)


def sources_of(folder, times, events):
    """The same records as arrays, and in files that engines read: CSV and Parquet."""
    import pandas

    frame = pandas.DataFrame({"t": times, "e": events})
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_parquet(folder / "rows.parquet")
    return {"t": times, "e": events}, frame, str(folder / "rows.csv"), str(folder / "rows.parquet")


@pytest.mark.parametrize(
    ("times", "events", "message"),
    [
        ([1.0, 2.0, -0.5], [1, 0, 1], r"times below 0, where observation starts; .*where='t >= 0'"),
        ([1.0, 2.0, -math.inf], [1, 0, 1], "times below 0"),
        ([1.0, 2.0, math.nan], [1, 0, 1], r"missing='high'.* or a public value"),
        ([1.0, 2.0, 3.0], [1, 0, 2], r"causes=.*censored="),
    ],
)
def test_records_that_say_nothing_about_survival_are_refused_by_every_source(tmp_path, times, events, message):
    question = ogive.Survival("t", "e", bounds=(0, 30))
    for source in sources_of(tmp_path, times, events):
        with pytest.raises(DataError, match=message) as refusal:
            ogive.release(question, trust=ogive.Clear(source))
        assert not any(word in str(refusal.value) for word in ("low'", "drop", "groups"))


def test_times_at_the_lower_bound_and_beyond_the_upper_one_are_counted_by_every_source(tmp_path):
    question = ogive.Survival("t", "e", bounds=(0, 30))
    for source in sources_of(tmp_path, [0.0, -0.0, 29.0, 31.0, 1e9, math.inf], [0, 0, 1, 1, 0, 0]):
        estimate = ogive.release(question, trust=ogive.Clear(source))
        assert estimate.records == 6
        assert estimate(30) == 0.75


def test_times_below_a_lower_bound_above_0_are_told_that_it_can_be_lowered():
    with pytest.raises(DataError, match=r"below 5.*lower the first of the bounds"):
        ogive.release(ogive.Survival("t", "e", bounds=(5, 30)), trust=ogive.Clear({"t": [1.0, 7.0], "e": [1, 0]}))


def test_the_predicted_error_is_that_of_releases_with_censoring():
    question, privacy, rng = (
        ogive.Survival("t", "e", bounds=(0, 60), method="hat_ls"),
        ogive.PureDP(1),
        np.random.default_rng(7),
    )
    plan = ogive.plan(question, records=3000, privacy=privacy, runs=40)
    assert "20 % still at risk at the end" in " ".join(str(plan).split())
    squares = []
    for _ in range(16):
        event, left = 50 * rng.weibull(1.2, 3000), rng.exponential(70, 3000)
        table = {"t": np.minimum(event, left), "e": (event <= left).astype(int)}
        truth = ogive.release(question, trust=ogive.Clear(table))
        squares.append(ogive.release(question, trust=ogive.Central(table), privacy=privacy).errors(truth)["rmse"] ** 2)
    (predicted,) = (row.errors["rmse"] for row in plan.rows if row.method == "hat_ls")
    assert 0.7 < math.sqrt(np.mean(squares)) / predicted < 1.3


def test_a_plan_refuses_what_is_about_classes():
    with pytest.raises(ParameterError, match="leave out"):
        ogive.plan(ogive.Survival("t", "e", bounds=(0, 60)), records=500, privacy=ogive.PureDP(1), auc=0.9)


def test_restricted_means_and_survival_of_two_groups_are_compared(months):
    times, causes = months
    one, other = exact(times, (causes > 0).astype(int)), exact(times // 2 + 1, (causes == 1).astype(int))
    for compared, number in (
        ("restricted_mean_ratio", one.restricted_mean(20).value / other.restricted_mean(20).value),
        ("restricted_mean_difference", one.restricted_mean(20).value - other.restricted_mean(20).value),
        ("ratio", one(20) / other(20)),
        ("difference", one(20) - other(20)),
    ):
        result = getattr(one, compared)(other, 20)
        assert result.value == pytest.approx(number, abs=1e-12)
        assert result.low < result.value < result.high
        assert result.standard_error > 0


def test_a_restricted_mean_of_times_within_bins_has_no_bias_of_half_a_bin():
    times = np.random.default_rng(5).exponential(30, 100_000)
    estimate = ogive.survival(times, np.ones(len(times), dtype=int), bounds=(0, 60), bins=20, privacy=ogive.PureDP(50))
    truth = 30 * (1 - np.exp(-2))
    assert abs(estimate.restricted_mean().value - truth) < 0.25
    steps = 3.0 * (1 + sum(estimate.probabilities[:-1]))
    assert abs(steps - truth) > 1, "the control: survival as steps is off by half a bin"


@pytest.mark.parametrize("adjacency", ["replace", "add_or_remove"])
def test_nothing_is_estimated_where_noise_alone_is_measured(adjacency):
    data = ogive.Session(
        {"t": [1.0, 2.0, 3.0, 4.0, 5.0], "e": [1, 0, 1, 0, 1]}, adjacency=adjacency, limit=ogive.PureDP(1)
    )
    defined = [
        session_estimate.defined
        for session_estimate in (
            data.survival("t", "e", bounds=(0, 60), bins=20 + each, privacy=ogive.PureDP("0.001")) for each in range(20)
        )
    ]
    assert sum(defined) <= 2


def test_censoring_is_marked_where_it_is_and_noise_alone_marks_little(months):
    times, causes = months
    estimate = exact(times, (causes > 0).astype(int))
    censored = sorted(set(times[(causes == 0) & (times <= 30)].tolist()))
    assert estimate.censoring_times.tolist() == censored
    marks = estimate.plot().lines[1]
    assert marks.get_xdata().tolist() == censored
    assert marks.get_ydata() == pytest.approx(estimate(censored))
    rng, question, strategy = np.random.default_rng(6), ogive.Survival("t", "e", bounds=(0, 10)), strategy_for(121, 1)
    none, many = np.append(np.zeros(120, dtype=np.int64), 3000), np.append(np.repeat([0, 200], 60), 0)
    events = np.append(np.full(120, 5), 0)
    marked = [released(question, strategy, (each, events), rng).censoring_times for each in [none] * 10 + [many] * 10]
    assert sum(map(len, marked[:10])) <= 12
    assert all((each > 5).mean() > 0.9 and len(each) > 50 for each in marked[10:])


# --- Records that enter late


def late(records, rng, causes=(1, 2)):
    """Whole times of entry, until the end of observation, and what ended it; of those alone whose event is later."""
    entry = rng.choice([0, 1], size=records) * rng.integers(0, 10, size=records)
    time = np.ceil(rng.exponential(12, size=records)).astype(int)
    entry, time = entry[entry < time], time[entry < time]
    ends = entry + rng.integers(1, 40, size=len(time))
    return entry, np.minimum(time, ends), np.where(time <= ends, rng.choice(causes, size=len(time)), 0)


@pytest.mark.parametrize(
    ("low", "grid"), [(0, "integers"), (1, "integers"), (0, ogive.Grid.explicit([1, 2, 3, 4, 7, 11, 30], low=0))]
)
def test_entries_without_noise_are_those_of_estimates_record_by_record(low, grid):
    entry, times, causes = late(300, np.random.default_rng(low + 2))
    if not isinstance(grid, str):  # thresholds that all values are among; those that enter in the first bin count in it
        values = np.array([0, *grid.thresholds])
        entry, times = (values[np.searchsorted(values, np.minimum(each, 30))] for each in (entry, times))
        entry, times, causes = entry[entry < times], times[entry < times], causes[entry < times]
        entry[entry == 1] = 2
    bounds = None if not isinstance(grid, str) else (low, 30)
    estimate = ogive.release(
        ogive.Survival("t", "e", bounds=bounds, grid=grid, causes=(1, 2), entry="s"),
        trust=ogive.Clear({"t": times, "e": causes, "s": entry}),
    )
    survival, hazard, incidence_of = 1.0, 0.0, {1: 0.0, 2: 0.0}
    for time in [each for each in estimate.timeline.tolist() if each > 0]:
        risk = sum(1 for s, t in zip(entry, times, strict=True) if s < time <= t)
        assert estimate.at_risk(time) == risk
        for cause in (1, 2):
            died = sum(1 for t, kind in zip(times, causes, strict=True) if t == time and kind == cause)
            incidence_of[cause] += survival * died / risk
            hazard += died / risk
        survival = 1 - sum(incidence_of.values())
        assert estimate(time) == pytest.approx(survival, abs=1e-12)
        assert estimate.cumulative_hazard(time) == pytest.approx(hazard, abs=1e-12)
        assert estimate.cumulative_incidence(time, 2) == pytest.approx(incidence_of[2], abs=1e-12)


def test_log_rank_counts_entries():
    entry, times, events = late(400, np.random.default_rng(4), causes=(1,))
    groups = np.arange(len(times)) % 2
    one, other = (
        ogive.release(
            ogive.Survival("t", "e", bounds=(0, 20), grid="integers", entry="s"),
            trust=ogive.Clear({"t": times[groups == each], "e": events[groups == each], "s": entry[groups == each]}),
        )
        for each in (0, 1)
    )
    expected = 0.0
    for time in range(1, 21):
        at, now = (entry < time) & (times >= time), (times == time) & (events == 1)
        expected += sum(now & (groups == 0)) - sum(now) * sum(at & (groups == 0)) / sum(at)
    assert one.log_rank(other).statistic == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("function", ["of_survival", "of_hazard", "incidence", "log_rank"])
@pytest.mark.parametrize("longer", [0, 1])
def test_the_variance_of_noise_counts_that_of_entries(function, longer):
    """The entries have more noise than the times; a first threshold that is shared, and one before it."""
    rng = np.random.default_rng(3)
    size, strategy, own = 20, strategy_for(21, 1), strategy_for(21 + longer, Fraction(1, 2))
    counts = np.cumsum(rng.integers(80, 120, size=(2, size + 1)), axis=1).astype(float)
    entered = np.linspace(2500, 4500, size + 1 + longer)
    whole = Process(counts, strategy, None, 1, entered, own)
    still = Process(counts[:, ::-1].max() - counts[:, ::-1], None)

    def values(of):
        if function == "of_survival":
            return of.survival
        if function == "log_rank":
            return process.weighted_log_rank([of, still], "log-rank")[0][:1]
        return np.cumsum(of.hazard) if function == "of_hazard" else of.incidence(0)

    if function == "log_rank":
        variance = process.weighted_log_rank([whole, still], "log-rank")[2][0, 0]
    else:
        variance = (whole.of_incidence(0) if function == "incidence" else getattr(whole, function)()).noise
    assert whole.estimable == size
    moved = [
        values(Process(counts + each / 100, strategy, None, 1, entered + other / 100, own))
        for each, other in zip(
            strategy.estimate(noise(strategy, rng, (3000, 2)), None),
            own.estimate(noise(own, rng, (3000,)), None),
            strict=True,
        )
    ]
    assert np.allclose(np.sqrt(variance), np.std(moved, axis=0) * 100, rtol=0.07)
    risk = np.std(strategy.estimate(noise(strategy, rng, (3000, 2)), None)[..., 4].sum(axis=1))
    risk = math.hypot(risk, np.std(own.estimate(noise(own, rng, (3000,)), None)[:, 4 + longer]))
    assert whole.risk_noise[5] == pytest.approx(risk, rel=0.07)


def entry_coverage(factor, releases=60):
    """Shares of thresholds inside intervals and of bands that hold all, where entries have `factor` times the noise."""
    rng = np.random.default_rng(6)
    question = ogive.Survival("t", "e", bounds=(0, 20), grid="integers", entry="s")
    grid = entry_grid(question.axis)
    strategy, own = strategy_for(question.axis.bins + 1, Fraction(2, 3)), strategy_for(grid.bins, Fraction(1, 3))
    truth = np.exp(-question.axis.thresholds / 12)
    inside, whole = [], []
    for _ in range(releases):
        entry, times, events = late(1500, rng, causes=(1,))
        counts = [np.bincount(np.minimum(times[events == kind], 21), minlength=22) for kind in (0, 1)]
        estimate = dataclasses.replace(
            released(question, strategy, counts, rng),
            entries=noisy_curve(grid, np.bincount(np.minimum(entry, 21), minlength=22), own, rng, factor),
        )
        low, high = estimate.intervals()
        inside.append(((low <= truth) & (truth <= high))[1 : estimate.estimable].mean())
        band = estimate.band()
        whole.append(bool(((band.low <= truth) & (truth <= band.high))[1:].all()))
    return np.mean(inside), np.mean(whole)


def test_intervals_and_bands_hold_the_survival_of_those_that_enter_late():
    inside, whole = entry_coverage(1)
    assert 0.91 <= inside <= 0.99
    assert whole >= 0.88


def test_intervals_do_not_hold_it_where_entries_have_more_noise_than_stated():
    """The control."""
    inside, whole = entry_coverage(8)
    assert inside < 0.85
    assert whole < 0.80


@pytest.mark.parametrize(
    ("privacy", "rows", "adjacency"),
    [
        (ogive.PureDP(1), 1, Adjacency.REPLACE),
        (ogive.ZeroConcentratedDP(Fraction(1, 2)), 1, Adjacency.REPLACE),
        (ogive.ZeroConcentratedDP(Fraction(1, 2)), 1, Adjacency.ADD_OR_REMOVE),
        (ogive.ApproxDP(1, Fraction(1, 10**6)), 1, Adjacency.REPLACE),
        (ogive.PureDP(1), 2, Adjacency.ADD_OR_REMOVE),
    ],
)
def test_both_measurements_together_cost_what_is_granted(privacy, rows, adjacency):
    entry, times, causes = late(400, np.random.default_rng(5))
    table = {"t": times, "e": causes, "s": entry, "who": np.arange(len(times)) // rows}
    person = {} if rows == 1 else {"person": "who", "max_rows_per_person": rows}
    session = ogive.Session(table, limit=privacy, adjacency=adjacency, **person)
    estimate = session.survival("t", "e", bounds=(0, 20), grid="integers", causes=(1, 2), entry="s", privacy=privacy)
    price = estimate.provenance.price
    if isinstance(privacy, ogive.PureDP):
        assert price.epsilon == pytest.approx(1, rel=1e-6)
        assert price.epsilon <= 1
    elif isinstance(privacy, ogive.ZeroConcentratedDP):
        assert price.rho <= privacy.rho
        assert float(price.rho) == pytest.approx(0.5, rel=1e-6)
    else:
        assert isinstance(price, ogive.ZeroConcentratedDP)


def test_documents_have_entries_only_where_there_are_some():
    entry, times, causes = late(400, np.random.default_rng(5))
    given = {"bounds": (0, 20), "grid": "integers", "causes": (1, 2), "privacy": ogive.PureDP(1)}
    assert "entries" not in ogive.survival(times, causes, **given).to_dict()
    estimate = ogive.survival(times, causes, entry=entry, **given)
    data = json.loads(estimate.to_json())
    assert SurvivalEstimate.from_dict(data) == estimate
    assert estimate.at_risk(15) == pytest.approx(sum((entry < 15) & (times >= 15)), abs=120)
    dear = {**data["provenance"], "price": {**data["provenance"]["price"], "epsilon": "9/10"}}
    exactly = {**data["entries"], "strategy": None}
    for change, message in (
        ({"provenance": dear}, "its noise costs"),
        ({"entries": {**data["entries"], "grid": {**data["entries"]["grid"], "low": 1.0, "high": 22.0}}}, "of entries"),
        ({"entries": exactly}, "measured where the times are|exact"),
    ):
        with pytest.raises(DataError, match=message):
            SurvivalEstimate.from_dict({**data, **change})


def test_owners_are_not_asked_for_entries():
    with pytest.raises(UnsupportedError, match=r"owners' reports have no .?entry"):
        ogive.survival([1, 2], [0, 1], entry=[0, 0], bounds=(0, 3), privacy=ogive.PureDP(1), trust="local")
    with pytest.raises(ParameterError, match="another method"):
        ogive.Survival("t", "e", bounds=(0, 3), entry="s", method="reports")
    with pytest.raises(ParameterError, match="a column's name"):
        ogive.Survival("t", "e", bounds=(0, 3), entry=3)


def test_a_plan_imagines_that_half_of_the_records_enter_late():
    rng, privacy = np.random.default_rng(4), ogive.PureDP(1)
    question = ogive.Survival("t", "e", bounds=(0, 20), grid="integers", method="tree_ls", entry="s")
    plan = ogive.plan(question, records=3000, privacy=privacy, runs=40)
    assert "half of the records enter late, evenly over the follow-up" in " ".join(str(plan).split())
    (predicted,) = (row.errors["rmse"] for row in plan.rows if row.method == "tree_ls")
    for entry, near in ((np.maximum(rng.uniform(-20, 20, 3000), 0), True), (rng.uniform(0, 20, 3000), False)):
        stay, squares = rng.exponential(20 / np.log(5), 3000), []
        table = {"t": entry + stay, "e": rng.integers(0, 2, 3000), "s": np.floor(entry)}
        truth = ogive.release(question, trust=ogive.Clear(table))
        for _ in range(16):
            released = ogive.release(question, trust=ogive.Central(table), privacy=privacy)
            squares.append(released.errors(truth)["rmse"] ** 2)
        ratio = math.sqrt(np.mean(squares)) / predicted
        assert (0.75 < ratio < 1.33) is near, ratio


def test_a_table_of_groups_has_the_log_rank_test_and_the_difference_of_two_means():
    rng = np.random.default_rng(4)
    times, arms = rng.integers(1, 25, 900), rng.choice(["a", "b", "c"], 900)
    table = {"t": times, "e": (times < 20 + (arms == "b")).astype(int), "g": arms}
    for names in (("a", "b"), ("a", "b", "c")):
        kept = {name: column[np.isin(arms, names)] for name, column in table.items()}
        by = ogive.Session(kept, limit=ogive.PureDP(9)).survival(
            "t", "e", bounds=(0, 24), grid="integers", by="g", groups=names, privacy=ogive.PureDP(4)
        )
        first, *others = by.estimates
        text = str(by)
        test = first.log_rank(others)
        assert f"t is distributed alike in {', '.join(names)}: log-rank p {test.shown()} (noise included)" in text
        assert (", a minus b: " in text) == (len(names) == 2)
        axes = by.plot()
        shown = [label.get_text().split("\n") for label in axes.get_xticklabels()]
        assert all(len(lines) == 1 + len(names) for lines in shown)
        assert [lines[2] for lines in shown] == [f"{others[0].at_risk(float(lines[0])):,.0f}" for lines in shown]
        assert any(text.get_text() == "\n".join(["", *names]) for text in axes.texts)


def test_intervals_count_that_times_are_grouped():
    """The control, without what grouping adds, misses."""
    rng, held, control = np.random.default_rng(3), 0, 0
    for _ in range(20):
        ends, leaves = 60 * rng.weibull(1.2, 4000), rng.uniform(12, 72, 4000)
        times, died = np.minimum(ends, leaves), (ends <= leaves).astype(int)
        estimate = ogive.survival(times, died, bounds=(0, 60), bins=8, privacy=ogive.PureDP(1))
        truth = math.exp(-((45 / 60) ** 1.2))
        low, high = estimate.interval(45)
        held += low <= truth <= high
        control += low + estimate.grouping[5] <= truth
        assert estimate.quantile_interval(0.5)[0] <= 60 * math.log(2) ** (1 / 1.2)
    assert held >= 19
    assert control <= 10
    assert "survival is at most" in str(estimate)
    whole = ogive.survival(np.ceil(times), died, bounds=(0, 60), grid="integers", privacy=ogive.PureDP(1))
    assert not whole.grouping.any()
    assert "survival is at most" not in str(whole)


def test_a_curve_that_noise_ends_has_no_median_that_was_not_reached():
    times = np.random.default_rng(1).integers(1, 61, 300)
    weak = ogive.survival(times, np.ones(300, int), bounds=(0, 60), grid="integers", privacy=ogive.PureDP("1/10"))
    assert weak.estimable < 61
    assert "not reached" not in str(weak)
    cured = ogive.release(
        ogive.Survival("t", "e", bounds=(0, 60), grid="integers"), trust=ogive.Clear({"t": times + 40, "e": times < 10})
    )
    assert "median:     not reached" in str(cured)


def test_groups_that_cannot_be_drawn_are_named():
    rng = np.random.default_rng(6)
    groups = np.repeat(["a", "b", "c"], [450, 450, 3])
    table = {"t": rng.integers(1, 25, 903), "e": rng.integers(0, 2, 903), "g": groups}
    question = ogive.Grouped(ogive.Survival("t", "e", bounds=(0, 24), grid="integers"), "g", ("a", "b", "c"))
    by = ogive.release(question, trust=ogive.Central(table), privacy=ogive.PureDP(1))
    assert not by["c"].defined
    labels = [text.get_text() for text in by.plot().get_legend().get_texts()]
    assert labels == ["a", "b", "not drawn, too noisy: c"]
