"""Measures of a risk score for censored times against definitions written out record by record, and their intervals."""

import dataclasses
import itertools
import json
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

import ogive
from ogive.columns import Binning, Domain, Membership
from ogive.columns.grids import Grid
from ogive.errors import DataError, ParameterError
from ogive.local.tree import TreeOracle
from ogive.noise.laws import DiscreteGaussian, draw_public
from ogive.privacy import Adjacency, PrivacyUnit, PureDP
from ogive.queries import Cells, ClassCurvesQuery
from ogive.statistics.concordance import indices
from ogive.statistics.concordance.estimate import ConcordanceEstimate
from ogive.statistics.concordance.indices import Table
from ogive.statistics.roc.designs import choose_for_classes
from ogive.strategies.reported import ReportedTree

# --- Definitions, record by record. Times are thresholds, and events come before censorings at equal times.


def censoring(times, events, before):
    """The chance of not being censored before a time, by the product over the distinct times of censorings."""
    result = 1.0
    for time in sorted({t for t, event in zip(times, events, strict=True) if not event and t < before}):
        risk = sum(1 for t, event in zip(times, events, strict=True) if t > time or (t == time and not event))
        left = sum(1 for t, event in zip(times, events, strict=True) if t == time and not event)
        result *= 1 - left / risk
    return result


def c_index(scores, times, events, horizon, power, *, ties=False):
    """Share of concordant pairs with weights by the chance of not being censored; equal events may be half."""
    concordant = pairs = 0.0
    for number, (s, t, event) in enumerate(zip(scores, times, events, strict=True)):
        if not event or t > horizon:
            continue
        weight = censoring(times, events, t) ** -power
        for place, (other, later, ended) in enumerate(zip(scores, times, events, strict=True)):
            if later > t or (later == t and not ended):
                pairs += weight
                concordant += weight * ((s > other) + (s == other) / 2)
            elif ties and later == t and place > number:
                pairs, concordant = pairs + weight, concordant + weight / 2
    return concordant / pairs


def dynamic_auc(scores, times, events, horizon):
    """Area below the cumulative and dynamic ROC curve."""
    concordant = pairs = 0.0
    for s, t, event in zip(scores, times, events, strict=True):
        if event and t <= horizon:
            weight = 1 / censoring(times, events, t)
            controls = [other for other, later in zip(scores, times, strict=True) if later > horizon]
            pairs += weight * len(controls)
            concordant += weight * sum((s > other) + (s == other) / 2 for other in controls)
    return concordant / pairs


def brier_score(predictions, times, events, horizon):
    """Weighted mean of squared errors of a predicted chance of an event up to the horizon."""
    total = 0.0
    for p, t, event in zip(predictions, times, events, strict=True):
        if t > horizon:
            total += p**2 / censoring(times, events, horizon + 0.5)
        elif event:
            total += (1 - p) ** 2 / censoring(times, events, t)
    return total / len(times)


def kaplan_meier(times, events, horizon):
    """Chance of an event up to a horizon."""
    survival = 1.0
    for time in sorted({t for t, event in zip(times, events, strict=True) if event and t <= horizon}):
        died = sum(1 for t, event in zip(times, events, strict=True) if event and t == time)
        survival *= 1 - died / sum(1 for t in times if t >= time)
    return 1 - survival


INTERVALS, BINS = 8, 10
MIDDLES = (np.arange(BINS) + 0.5) / BINS


@pytest.fixture(scope="module")
def cohort():
    """Whole times, events and scores that are middles of bins, of 240 records; higher scores have earlier events."""
    rng = np.random.default_rng(4)
    scores = rng.choice(MIDDLES, size=240)
    due = np.ceil(rng.exponential(9 * np.exp(-1.5 * (scores - 0.5))))
    left = np.ceil(rng.uniform(0, 14, size=240))
    return scores, np.minimum(due, left), (due <= left).astype(int)


def counts_of(scores, times, events):
    """Counts of interval, status and bin."""
    counts = np.zeros((INTERVALS + 1, 2, BINS))
    places = np.minimum(times, INTERVALS + 1).astype(int) - 1
    np.add.at(counts, (places, events, np.floor(scores * BINS).astype(int)), 1)
    return counts


MEASURES = {
    "Harrell": lambda table: indices.concordance(table, power=0),
    "Uno": lambda table: indices.concordance(table, power=2),
    "Harrell with ties": lambda table: indices.concordance(table, power=0, tied_noise=0.0),
    "Uno with ties": lambda table: indices.concordance(table, power=2, tied_noise=0.0),
    "area": indices.area,
    "Brier": lambda table: indices.brier(table, MIDDLES),
    "observed": lambda table: indices.observed(table, slice(2, 6)),
    "predicted": lambda table: indices.mean_prediction(table, slice(2, 6), MIDDLES),
}
ORACLES = {
    "Harrell": lambda s, t, e, h: c_index(s, t, e, h, 0),
    "Uno": lambda s, t, e, h: c_index(s, t, e, h, 2),
    "Harrell with ties": lambda s, t, e, h: c_index(s, t, e, h, 0, ties=True),
    "Uno with ties": lambda s, t, e, h: c_index(s, t, e, h, 2, ties=True),
    "area": dynamic_auc,
    "Brier": brier_score,
    "observed": lambda s, t, e, h: kaplan_meier(t[(s > 0.2) & (s < 0.6)], e[(s > 0.2) & (s < 0.6)], h),
    "predicted": lambda s, t, e, h: s[(s > 0.2) & (s < 0.6)].mean(),
}


@pytest.mark.parametrize("horizon", [1, 5, 8])
@pytest.mark.parametrize("name", MEASURES)
def test_measures_of_counts_are_those_of_the_records(cohort, name, horizon):
    value = MEASURES[name](Table.until(counts_of(*cohort), horizon)).value
    assert value == pytest.approx(ORACLES[name](*cohort, horizon), abs=1e-12)


@pytest.mark.parametrize("name", MEASURES)
def test_gradients_are_those_of_finite_differences(cohort, name):
    counts = counts_of(*cohort) + 0.3
    gradient = MEASURES[name](Table.until(counts, 5)).gradient
    slopes = np.empty_like(counts)
    for place in np.ndindex(counts.shape):
        step = np.zeros_like(counts)
        step[place] = 1e-4
        up, down = (MEASURES[name](Table.until(counts + sign * step, 5)).value for sign in (1, -1))
        slopes[place] = (up - down) / 2e-4
    assert np.abs(gradient).max() > 0
    assert np.allclose(gradient, slopes, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("horizon", [3, 8])
def test_peers_say_the_same_of_times_on_the_grid(cohort, horizon):
    """Censorings come a little after events of the same time, which is what Kaplan and Meier take them to do."""
    peer = pytest.importorskip("sksurv.metrics")
    lifelines = pytest.importorskip("lifelines.utils")
    scores, times, events = cohort
    structured = np.array(
        list(zip(events == 1, times + (events == 0) / 4, strict=True)), dtype=[("event", bool), ("time", float)]
    )
    within = np.where(times > horizon, 0, events)
    cut = np.array(list(zip(within == 1, structured["time"], strict=True)), dtype=structured.dtype)
    table = Table.until(counts_of(*cohort), horizon)
    harrell = peer.concordance_index_censored(cut["event"], cut["time"], scores)[0]
    assert indices.concordance(table, power=0).value == pytest.approx(harrell, abs=1e-12)
    assert lifelines.concordance_index(cut["time"], -scores, within) == pytest.approx(harrell, abs=1e-12)
    uno = peer.concordance_index_ipcw(structured, structured, scores, tau=horizon + 0.5)[0]
    assert indices.concordance(table, power=2).value == pytest.approx(uno, abs=1e-12)
    [area], _ = peer.cumulative_dynamic_auc(structured, structured, scores, [horizon + 0.5])
    _, [brier] = peer.brier_score(structured, structured, 1 - scores[:, None], [horizon + 0.5])
    assert indices.brier(table, MIDDLES).value == pytest.approx(brier, abs=1e-12)
    assert indices.area(table).value == pytest.approx(area, abs=1e-12)


# --- Privacy: the price of curves whose classes are combinations of columns, by enumeration


def strategy_for(size, epsilon, adjacency=Adjacency.ADD_OR_REMOVE, method="auto"):
    unit, options = PrivacyUnit(adjacency), {"public_labels": False, "budget": "joint", "method": method}
    return choose_for_classes(size, PureDP(epsilon), unit, refusal=lambda _: None, **options)


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("method", ["tree_ls", "hat_ls"])
def test_the_price_is_the_largest_loss_of_any_change_of_one_record(method, adjacency):
    strategy = strategy_for(3, 2, adjacency, method)
    domain = Domain(
        (Binning("t", Grid.integers(0, 1)), Membership("e", (1,), others=(0,)), Binning("s", Grid.integers(0, 2)))
    )
    query = ClassCurvesQuery(Cells(domain), strategy)
    assert query.shape == (4, 3)
    scales = np.concatenate([np.repeat(float(level.law.scale), level.nodes) for level in strategy.levels])
    moved = np.stack([query.measure(one) for one in np.eye(12, dtype=np.int64)])
    changes = moved if adjacency is Adjacency.ADD_OR_REMOVE else [a - b for a, b in itertools.product(moved, moved)]
    worst = max(float((np.abs(change) / scales).sum()) for change in changes)
    assert worst == pytest.approx(float(query.price(PrivacyUnit(adjacency)).epsilon), rel=1e-9)


# --- Estimates


def exact(cohort, **options):
    question = ogive.Concordance("s", "t", "e", (1, 8), grid="integers", score_bins=BINS, **options)
    return ogive.release(question, trust=ogive.Clear(dict(zip("ste", cohort, strict=True))))


def test_without_noise_the_estimate_is_that_of_the_records(cohort):
    scores, times, events = cohort
    estimate = exact(cohort, predicts=5)
    assert estimate.harrell().value == pytest.approx(c_index(*cohort, 8, 0), abs=1e-12)
    assert estimate.uno(5).value == pytest.approx(c_index(*cohort, 5, 2), abs=1e-12)
    assert estimate.auc(3).value == pytest.approx(dynamic_auc(*cohort, 3), abs=1e-12)
    assert estimate.brier().value == pytest.approx(brier_score(*cohort, 5), abs=1e-12)
    gap = kaplan_meier(times, events, 5) - scores.mean()
    assert estimate.mean_calibration().value == pytest.approx(gap, abs=1e-12)
    for group in estimate.calibration():
        inside = (scores > group.low) & (scores < group.high)
        assert (group.records, group.predicted) == (inside.sum(), pytest.approx(scores[inside].mean()))
        assert group.observed.value == pytest.approx(kaplan_meier(times[inside], events[inside], 5), abs=1e-12)
    value, low, high = estimate.auc_band()
    assert value[2] == pytest.approx(dynamic_auc(*cohort, 3), abs=1e-12)
    assert (low < [estimate.auc(float(time)).low for time in range(1, 9)]).all()
    assert (high > value).all()


def test_ties_are_halves_where_times_may_lie_within_intervals(cohort):
    assert exact(cohort, ties="half").harrell().value == pytest.approx(c_index(*cohort, 8, 0, ties=True), abs=1e-12)
    question = ogive.Concordance("s", "t", "e", (0, 8), bins=8)
    estimate = ogive.release(question, trust=ogive.Clear(dict(zip("ste", cohort, strict=True))))
    assert (estimate.ties, exact(cohort).ties) == ("half", "omit")


def test_sampling_errors_are_those_of_repeated_samples(cohort):
    """Without noise, of samples of the records with replacement."""
    rng, p = np.random.default_rng(2), counts_of(*cohort).ravel() / 240
    estimate = exact(cohort)
    grids = {"grid": estimate.grid, "score_grid": estimate.score_grid}
    again = [of_counts(rng.multinomial(240, p).reshape(-1, BINS), **grids) for _ in range(400)]
    for measure in (lambda each: each.harrell(), lambda each: each.uno(), lambda each: each.auc(5)):
        spread = np.std([measure(each).value for each in again])
        assert measure(estimate).standard_error == pytest.approx(spread, rel=0.15)


def of_counts(counts, strategy=None, rng=None, *, factor=1, total=None, grid=None, score_grid=None):
    """An estimate of counts of classes, shape (classes, S), with noise of a seeded generator, `factor` as large."""
    cumulative = np.cumsum(counts, axis=1).astype(float)
    if strategy is not None:
        parts = tuple(draw_public(level.law, (len(counts), level.nodes), rng) for level in strategy.levels)
        cumulative += factor * strategy.estimate(strategy.spread(parts), None)
    return ConcordanceEstimate(
        "s",
        "t",
        "e",
        grid=grid or Grid.linear(0, 60, bins=len(counts) // 2 - 1),
        score_grid=score_grid or Grid.linear(0, 1, bins=counts.shape[1]),
        predicts=None,
        ties="omit",
        cumulative=cumulative.ravel(),
        strategy=strategy,
        adjacency=Adjacency.ADD_OR_REMOVE if total is None else Adjacency.REPLACE,
        total=total,
        confidence_level=0.95,
    )


# --- Coverage: records of a population whose cells have known chances, so that the true measures are known exactly


def population():
    """Chances of the cells, of many records drawn once: censored by 60 % up to 60 months."""
    rng = np.random.default_rng(0)
    scores = rng.beta(2, 3, size=300_000)
    due, left = rng.exponential(60 * np.exp(-3 * (scores - 0.4))), rng.uniform(6, 72, size=300_000)
    chances = np.zeros((7, 2, 10))
    places = np.minimum(np.ceil(np.minimum(due, left) / 10), 7).astype(int) - 1
    np.add.at(chances, (places, (due <= left).astype(int), np.minimum(10 * scores, 9).astype(int)), 1 / 300_000)
    return chances


ESTIMATED = {
    "Harrell": lambda each: each.harrell(),
    "Uno": lambda each: each.uno(60.0),
    "area": lambda each: each.auc(30.0),
    "Brier": lambda each: each.brier(30.0),
    "calibration": lambda each: each.mean_calibration(30.0),
    "group": lambda each: each.calibration(30.0, groups=1)[0].observed,
}


def coverage(records, epsilon, adjacency, factor=1, releases=150):
    """Shares of releases whose intervals, and whose band, hold what is true of the population."""
    rng, chances = np.random.default_rng(records), population()
    strategy = strategy_for(10, epsilon, adjacency)
    true = of_counts(chances.reshape(-1, 10) * 1e9)
    truths, areas = {name: measure(true).value for name, measure in ESTIMATED.items()}, true.auc_band()[0]
    held = {name: [] for name in (*ESTIMATED, "band")}
    for _ in range(releases):
        counts = rng.multinomial(records, chances.ravel() / chances.sum()).reshape(-1, 10)
        total = records if adjacency is Adjacency.REPLACE else None
        estimate = of_counts(counts, strategy, rng, factor=factor, total=total)
        for name, measure in ESTIMATED.items():
            value = measure(estimate)
            held[name].append(value.low <= truths[name] <= value.high)
        _, low, high = estimate.auc_band()
        held["band"].append(bool(((low <= areas) & (areas <= high)).all()))
    return {name: np.mean(each) for name, each in held.items()}


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize(("records", "epsilon"), [(1000, 1), (8000, "0.5")])
def test_intervals_and_bands_hold_what_is_true_of_the_population(records, epsilon, adjacency):
    shares = coverage(records, epsilon, adjacency)
    # 150 releases: four standard deviations below 95 % are 88 %
    assert all(share >= 0.88 for share in shares.values()), shares
    assert all(share <= 0.995 for name, share in shares.items() if name != "Uno"), shares


def test_intervals_do_not_hold_it_where_noise_is_larger_than_stated():
    shares = coverage(1000, 1, Adjacency.REPLACE, factor=4, releases=60)
    assert all(share < 0.85 for share in shares.values()), shares


def few_events():
    """Chances of the cells of a score that tells five events of 1,000 records from the others nearly perfectly."""
    rises, falls = np.exp(0.9 * np.arange(10)), np.exp(-0.35 * np.arange(10))
    chances = np.zeros((3, 2, 10))
    chances[:2, 1], chances[2, 0] = 0.0025 * rises / rises.sum(), 0.995 * falls / falls.sum()
    return chances


def test_intervals_hold_areas_near_1_of_few_events():
    rng, chances, held = np.random.default_rng(1), few_events(), []
    true = of_counts(chances.reshape(-1, 10) * 1e9)
    measures = (lambda each: each.auc(60.0), lambda each: each.harrell(), lambda each: each.uno(60.0))
    truths, areas = [measure(true).value for measure in measures], true.auc_band()[0]
    for _ in range(100):
        estimate = of_counts(rng.multinomial(1000, chances.ravel()).reshape(-1, 10))
        values, (_, low, high) = [measure(estimate) for measure in measures], estimate.auc_band()
        held.append([each.low <= truth <= each.high for each, truth in zip(values, truths, strict=True)])
        held[-1].append(bool(((low <= areas) & (areas <= high)).all()))
    assert (np.mean(held, axis=0) >= 0.9).all(), np.mean(held, axis=0)


def of_cells(cells, intervals, strategy=None, rng=None, bins=10):
    """An estimate of some numbers of records, by interval, status and bin."""
    counts = np.zeros((intervals + 1, 2, bins))
    for cell, number in cells.items():
        counts[cell] = number
    return of_counts(counts.reshape(-1, bins), strategy, rng)


def test_three_events_say_little_however_well_they_are_ranked():
    estimate = of_cells({(0, 1, 9): 3, (2, 0, 0): 997}, 2)
    _, low, high = estimate.auc_band()
    for value in (estimate.auc(60.0), estimate.harrell(), estimate.uno()):
        assert (value.value, value.high) == (1, 1)
        assert 0.6 < value.low < 0.9
    assert (low < 0.9).all()
    assert (high == 1).all()
    assert (low <= [estimate.auc(time).low for time in (30.0, 60.0)]).all()
    every = of_cells({(place, 1, 9 - place): 100 for place in range(10)}, 9)  # all have an event
    assert every.harrell().low > 0.98


def test_bands_are_wider_at_a_higher_level():
    estimate = of_counts(population().reshape(-1, 10) * 1000)
    lows = [estimate.auc_band(level)[1] for level in (0.95, 0.9998, 0.9999)]
    assert (lows[0] > lows[1]).all()
    assert (lows[1] > lows[2]).all()


def test_a_group_says_as_much_as_its_own_records():
    estimate = of_cells({(2, 0, 0): 10, (2, 0, 5): 990}, 2)
    few, many, *_ = (each.observed for each in estimate.calibration(60.0, groups=100))
    assert (few.value, many.value) == (0, 0)
    assert (few.high > 0.25, many.high < 0.01) == (True, True)


def test_indices_are_unknown_where_noise_may_hide_that_there_are_pairs():
    rng, strategy = np.random.default_rng(3), strategy_for(10, 1)
    for _ in range(10):
        last = of_cells({(9, 1, place): 20 for place in range(10)}, 9, strategy, rng)
        assert all(math.isnan(each.value) for each in (last.harrell(), last.uno()))
    first = of_cells({(0, 1, 7): 200, (9, 0, 2): 200}, 9, strategy, rng)
    assert first.harrell().value > 0.9
    table = Table.until(of_cells({(9, 1, 0): 20}, 9).counts, 9)
    assert math.isnan(indices.concordance(table, power=0).value)


def test_without_events_what_is_predicted_is_still_compared():
    estimate = of_cells({(2, 0, 0): 40, (2, 0, 5): 60}, 2)
    assert estimate.brier(60.0).value == pytest.approx(0.4 * 0.05**2 + 0.6 * 0.55**2)
    assert estimate.mean_calibration(60.0).value == pytest.approx(-0.4 * 0.05 - 0.6 * 0.55)
    assert [each.observed.value for each in estimate.calibration(60.0)[:2]] == [0, 0]
    assert math.isnan(estimate.auc(60.0).value)


def test_errors_are_told_where_indices_are_not_estimable():
    some, none = of_cells({(0, 1, 9): 30, (2, 0, 0): 70}, 2), of_cells({(2, 0, 0): 100}, 2)
    assert some.errors(some) == none.errors(none) == {"harrell": 0, "uno": 0}
    assert some.errors(none) == none.errors(some) == {"harrell": 0.5, "uno": 0.5}


def test_where_noise_leaves_nothing_everything_is_possible():
    rng, strategy = np.random.default_rng(2), strategy_for(10, "0.05")
    estimate = of_counts(rng.multinomial(200, np.full(140, 1 / 140)).reshape(14, 10), strategy, rng)
    for measure in ESTIMATED.values():
        value = measure(estimate)
        assert math.isnan(value.value)
        assert (value.high, value.standard_error) == (1, math.inf)
        assert value.low in (0, -1)
    assert "too few" in estimate.view().headline
    apart = estimate.difference(estimate, "uno", same_records=True)
    assert (math.isnan(apart.value), apart.low, apart.high) == (True, -1, 1)


def test_the_difference_of_two_scores_holds_whatever_their_errors_have_in_common(cohort):
    scores, times, events = cohort
    other = np.random.default_rng(1).permutation(scores)
    one, two = exact(cohort), exact((other, times, events))
    same, apart = (one.difference(two, "uno", same_records=each) for each in (True, False))
    assert same.value == apart.value == pytest.approx(one.uno().value - two.uno().value)
    assert same.standard_error == pytest.approx(one.uno().standard_error + two.uno().standard_error)
    assert apart.standard_error < same.standard_error
    area = one.difference(two, "auc", same_records=True, horizon=3)
    assert area.value == pytest.approx(one.auc(3).value - two.auc(3).value)


# --- Two scores of the same records, in one release


def test_two_scores_of_one_release_are_those_of_the_records(cohort):
    scores, times, events = cohort
    other = np.clip(scores + np.random.default_rng(1).normal(0, 0.2, len(scores)), 0.001, 0.999)
    table = {"s": scores, "t": times, "e": events, "o": other}
    question = ogive.Concordance("s", "t", "e", (1, 8), grid="integers", score_bins=BINS, other="o")
    estimate = ogive.release(question, trust=ogive.Clear(table))
    middles = (np.floor(other * BINS) + 0.5) / BINS
    assert estimate.uno().value == pytest.approx(c_index(scores, times, events, 8, 2), abs=1e-12)
    less = c_index(scores, times, events, 8, 2) - c_index(middles, times, events, 8, 2)
    assert estimate.improvement("uno").value == pytest.approx(less, abs=1e-12)
    area = dynamic_auc(scores, times, events, 5) - dynamic_auc(middles, times, events, 5)
    assert estimate.improvement("auc", horizon=5).value == pytest.approx(area, abs=1e-12)
    with pytest.raises(ParameterError, match="there is no second score"):
        estimate.second.improvement("uno")
    private = ogive.release(question, trust=ogive.Central(table), privacy=PureDP(4))
    assert private.provenance.price.epsilon <= 4
    assert ConcordanceEstimate.from_json(private.to_json()) == private
    data = json.loads(private.to_json())
    half = {**data["provenance"], "price": {**data["provenance"]["price"], "epsilon": "2"}}
    with pytest.raises(DataError, match="stated price"):
        ConcordanceEstimate.from_dict({**data, "provenance": half})
    assert ConcordanceEstimate.from_dict({**data, "provenance": half, "other": None}).uno() == private.uno()
    for wrong in ({"score": "o"}, {**data["other"], "grid": data["grid"]}, {**data["other"], "score": "s"}):
        with pytest.raises(DataError, match="second score"):
            ConcordanceEstimate.from_dict({**data, "other": wrong})
    assert all(words in str(private) for words in ("difference", "s and o", "wide"))


def pairs_of_scores():
    """Chances of interval, status and bins of two scores of the same records, of which the second is noisier."""
    rng = np.random.default_rng(0)
    one = rng.beta(2, 3, size=300_000)
    other = np.clip(one + rng.normal(0, 0.25, size=300_000), 0, 0.999)
    due, left = rng.exponential(60 * np.exp(-3 * (one - 0.4))), rng.uniform(6, 72, size=300_000)
    chances = np.zeros((7, 2, 10, 10))
    places = np.minimum(np.ceil(np.minimum(due, left) / 10), 7).astype(int) - 1
    bins = [np.minimum(10 * each, 9).astype(int) for each in (one, other)]
    np.add.at(chances, (places, (due <= left).astype(int), *bins), 1 / 300_000)
    return chances


def improvements(records, epsilon, releases, factor=1):
    """Shares of releases whose interval of a difference of two scores holds that of the population."""
    rng, chances, held = np.random.default_rng(records), pairs_of_scores(), []
    strategy = strategy_for(10, Fraction(epsilon) / 2, Adjacency.REPLACE)

    def of_pairs(counts, strategy=None, total=None):
        estimates = [
            of_counts(counts.sum(axis=place).reshape(-1, 10), strategy, rng, factor=factor, total=total)
            for place in (3, 2)
        ]
        return dataclasses.replace(estimates[0], other=dataclasses.replace(estimates[1], score="o"))

    measures = (("uno", 60.0), ("harrell", None), ("auc", 30.0))
    truths = [of_pairs(chances * 1e9).improvement(name, horizon=time).value for name, time in measures]
    for _ in range(releases):
        estimate = of_pairs(
            rng.multinomial(records, chances.ravel() / chances.sum()).reshape(7, 2, 10, 10), strategy, records
        )
        values = [estimate.improvement(name, horizon=time) for name, time in measures]
        held.append([each.low <= truth <= each.high for each, truth in zip(values, truths, strict=True)])
    return np.mean(held, axis=0)


def test_differences_of_two_scores_hold_those_of_the_population():
    assert (improvements(4000, 1, 100) >= 0.95).all()
    assert (improvements(4000, 1, 60, factor=6) < 0.85).all()  # noise that is larger than stated


# --- Releases, plain data and refusals


def test_a_release_reads_back_and_refuses_what_contradicts_itself(cohort):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimate = ogive.concordance(
            *cohort, bounds=(0, 8), bins=4, score_bins=5, predicts=4, privacy=PureDP(2), trust="central"
        )
    assert ConcordanceEstimate.from_json(estimate.to_json()) == estimate
    text = str(estimate)
    assert all(
        words in text for words in ("Harrell's index", "AUC at 8", "Brier score at 4", "observed less predicted")
    )
    data = json.loads(estimate.to_json())
    with pytest.raises(DataError, match="a count for every interval"):
        ConcordanceEstimate.from_dict({**data, "cumulative": data["cumulative"][1:]})
    laws = [{**law, "scale": "1/2"} for law in data["strategy"]["laws"]]
    with pytest.raises(DataError, match="stated price"):
        ConcordanceEstimate.from_dict({**data, "strategy": {**data["strategy"], "laws": laws}})
    reports = ReportedTree(TreeOracle(5, 2), (1,) * 3, (DiscreteGaussian(Fraction(1, 100)),) * 3)
    with pytest.raises(DataError, match="not estimated from reports"):
        ConcordanceEstimate.from_dict({**data, "strategy": reports.to_dict()})
    exactly = {"strategy": None, "provenance": None}
    for wrong in ({"total": data["total"] + 1}, {"cumulative": [-1.0, *data["cumulative"][1:]]}):
        with pytest.raises(DataError, match="exact counts"):
            ConcordanceEstimate.from_dict({**data, **exactly, **wrong})
    with pytest.raises(DataError, match="where a record is replaced"):
        ConcordanceEstimate.from_dict({**data, "strategy": None, "provenance": None, "adjacency": "add_or_remove"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bounds": (-1, 10)}, "must be at least 0"),
        ({"bins": 101}, "`?bins`? must be at most 100"),
        ({"score_bins": 251}, "score_bins"),
        ({"predicts": 3.5}, "upper end of an interval"),
        ({"predicts": 5, "score_bounds": (0, 2)}, "within 0 and 1"),
        ({"score_bounds": ("2020-01-01", "2021-01-01")}, "must be numbers"),
        ({"missing": "low"}, "missing"),
        ({"ties": "count"}, "ties"),
        ({"observed": (1,), "censored": (1,)}, "cannot both count"),
        ({"method": "projection"}, "method"),
    ],
)
def test_bad_questions_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        ogive.Concordance("s", "t", "e", **{"bounds": (0, 10), **options})


def test_bad_readings_are_refused(cohort):
    estimate = exact(cohort)
    with pytest.raises(ParameterError, match="upper end of an interval"):
        estimate.auc(2.5)
    for read in (estimate.brier, lambda: estimate.measure("auc")):
        with pytest.raises(ParameterError, match="up to which time"):
            read()
    with pytest.raises(ParameterError, match="name must be"):
        estimate.measure("records")
    with pytest.raises(ParameterError, match="at least 1"):
        estimate.calibration(5, groups=0)
    with pytest.raises(ParameterError, match="within 0 and 1"):
        dataclasses.replace(estimate, score_grid=Grid.linear(0, 2, bins=BINS)).brier(5)


def test_missing_scores_and_times_are_left_out_only_where_records_come_and_go(cohort):
    scores, times, events = (np.append(each, each[:2]).astype(float) for each in cohort)
    scores[-1], times[-2] = math.nan, math.nan
    question = ogive.Concordance("s", "t", "e", (0, 8), bins=4, score_bins=5, missing="drop")
    central = ogive.Central({"s": scores, "t": times, "e": events.astype(int)})
    dropped = ogive.release(question, trust=central, privacy=PureDP(8), adjacency=Adjacency.ADD_OR_REMOVE)
    assert dropped.records == pytest.approx(240, abs=20)
    with pytest.raises(ParameterError, match=r"would publish how many.*where="):
        ogive.release(question, trust=central, privacy=PureDP(8))
    with pytest.raises(DataError, match="missing"):
        ogive.release(dataclasses.replace(question, missing="refuse"), trust=central, privacy=PureDP(8))


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("t", [-1.0, 2.0, 3.0], "times below 0, where observation starts; .*where='t >= 0'"),
        ("t", [math.nan, 2.0, 3.0], "where='t is not missing' or, under ADD_OR_REMOVE, with missing='drop'"),
        ("s", [math.nan, 0.2, 0.3], "where='s is not missing' or, under ADD_OR_REMOVE, with missing='drop'"),
        ("e", [1, 0, 2], "no event and not one of censored records; .*observed=.*censored="),
        ("e", [1, 0, None], "every record needs a value that says what ended it.*where='e is not missing'"),
        ("e", ["yes", "no", "yes"], "holds text, but its events are numbers; .*observed='yes'"),
    ],
)
def test_records_that_cannot_count_are_refused_with_what_the_question_has(tmp_path, column, values, message):
    pandas, question = pytest.importorskip("pandas"), ogive.Concordance("s", "t", "e", (0, 8), bins=4, score_bins=5)
    frame = pandas.DataFrame({"s": [0.1, 0.2, 0.3], "t": [1.0, 2.0, 9.0], "e": [1, 0, 1], column: values})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for source in (frame, str(tmp_path / "rows.csv")):
        with pytest.raises(DataError, match=message) as refusal:
            ogive.release(question, trust=ogive.Clear(source))
        assert not any(word in str(refusal.value) for word in ("positive", "high'", "count'"))
